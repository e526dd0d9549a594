"""Poses of many nodes of a viser scene, sent at a tenth of the cost of setting them on their handles.

The setters of viser 1.1 compare each vector with NumPy, 35 us a node.  This file alone knows what they do inside; where
a viser differs, it sets the handles.
"""

from collections.abc import Sequence
from typing import Any, Final, final

import numpy as np

from poise.spatial import Array

_SAME: Final = 1e-6
"""Poses that differ by less are not sent [m; of a quaternion]."""


@final
class Nodes:
    """Nodes whose poses change together."""

    def __init__(self, server: Any, handles: Sequence[Any]) -> None:
        self._server, self._handles = server, list(handles)
        self._sent = np.full((len(self._handles), 7), np.nan)
        self._queue = _queue_of(self._handles)
        self._names = [handle.name for handle in self._handles]

    def place(self, poses: Array) -> int:
        """Send those of `poses` (n, 7) that have changed, as one change of the picture; how many nodes moved."""
        changed = np.flatnonzero(~(np.abs(poses - self._sent) <= _SAME).all(axis=1))
        if not len(changed):
            return 0
        self._sent[changed] = poses[changed]
        with self._server.atomic():
            for k, (x, y, z, *wxyz) in zip(changed.tolist(), poses[changed].tolist(), strict=True):
                if self._queue is None:
                    self._handles[k].position, self._handles[k].wxyz = (x, y, z), tuple(wxyz)
                else:
                    send, place, turn = self._queue
                    send(place(self._names[k], (x, y, z)))
                    send(turn(self._names[k], tuple(wxyz)))
        return len(changed)

    def remove(self) -> None:
        """Take the nodes out of the scene."""
        for handle in self._handles:
            handle.remove()


def _queue_of(handles: Sequence[Any]) -> tuple[Any, Any, Any] | None:
    """What sends a message of a scene, and the messages of a place and a turn; None where viser has others."""
    try:
        from viser import _messages

        send = handles[0]._impl.api._queue_scene_message
        return send, _messages.SetPositionMessage, _messages.SetOrientationMessage
    except (ImportError, AttributeError, IndexError):
        return None

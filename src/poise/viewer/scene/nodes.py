"""Poses of many nodes of a viser scene, sent at a fifth of the cost of setting them on their handles."""

from collections.abc import Sequence
from typing import Any, Final, final

import numpy as np

from poise.common.array import Array
from poise.viewer.server.viser_internals import pose_senders


def node(name: str) -> str:
    """A name as one step of a path in the scene, where a slash begins the next; different for different names."""
    return name.replace("%", "%25").replace("/", "%2F")


_SAME: Final = 1e-6
"""Poses that differ by less are not sent [m; of a quaternion]."""


@final
class Nodes:
    """Nodes whose poses change together."""

    def __init__(self, server: Any, handles: Sequence[Any]) -> None:
        self._server, self._handles = server, list(handles)
        self._sent = np.full((len(self._handles), 7), np.nan)
        self._senders = pose_senders(self._handles[0]) if self._handles else None
        self._names = [handle.name for handle in self._handles]

    def place(self, poses: Array) -> int:
        """Send those of `poses` (n, 7) that have changed, as one change of the picture; how many nodes moved."""
        changed = np.flatnonzero(~(np.abs(poses - self._sent) <= _SAME).all(axis=1))
        if not len(changed):
            return 0
        self._sent[changed] = poses[changed]
        with self._server.atomic():
            for k, (x, y, z, *wxyz) in zip(changed.tolist(), poses[changed].tolist(), strict=True):
                if self._senders is None:
                    self._handles[k].position, self._handles[k].wxyz = (x, y, z), tuple(wxyz)
                else:
                    place, turn = self._senders
                    place(self._names[k], (x, y, z))
                    turn(self._names[k], tuple(wxyz))
        return len(changed)

    def remove(self) -> None:
        """Take the nodes out of the scene."""
        for handle in self._handles:
            handle.remove()

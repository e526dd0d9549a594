"""Configurations of a robot, as they come, in a file of MCAP, which Foxglove and others play.

    with McapWriter("run.mcap", arm) as file:
        file.write(t, tracker.step(dt, target))

Each is two messages in JSON: `/joint_states`, the names and values of all coordinates, and `/tf`, where frames are in
the world (https://docs.foxglove.dev/docs/sdk/schemas/frame-transforms).
"""

import json
from collections.abc import Sequence
from os import PathLike
from typing import Final, final

from poise import SE3, Model
from poise.extending import Array, optional
from poise_bridges.recording import Recording

_NANOSECONDS: Final = 10**9
"""Of a second."""
_POINT: Final = {axis: {"type": "number"} for axis in "xyz"}
_TRANSFORM: Final = {
    "timestamp": {"type": "object", "properties": {"sec": {"type": "integer"}, "nsec": {"type": "integer"}}},
    "parent_frame_id": {"type": "string"},
    "child_frame_id": {"type": "string"},
    "translation": {"type": "object", "properties": _POINT},
    "rotation": {"type": "object", "properties": _POINT | {"w": {"type": "number"}}},
}
_TOPICS: Final = {
    "/joint_states": ("poise.JointStates", "name", {"type": "string"}, {"position": {"type": "number"}}),
    "/tf": ("foxglove.FrameTransforms", "transforms", {"type": "object", "properties": _TRANSFORM}, {}),
}
"""The name of the schema, and its lists with what they hold."""


@final
class McapWriter(Recording):
    """A file that configurations of a model are written to, one after the other; it is whole once it is closed, as at
    the end of a `with`."""

    def __init__(self, file: str | PathLike[str], model: Model, *, frames: Sequence[str] | None = None) -> None:
        """Of the frames that are named, or of all links; raises FrameNotFound, OSError, MissingExtra without mcap."""
        writer = optional("poise_bridges.mcap", "mcap", "mcap", "mcap.writer")
        super().__init__(model, frames)
        self._writer = writer.Writer(str(file))
        self._writer.start(library="poise")
        self._channels = {topic: self._channel(topic) for topic in _TOPICS}

    def _channel(self, topic: str) -> int:
        name, first, items, others = _TOPICS[topic]
        lists = {first: items} | others
        schema = {"title": name, "type": "object"} | {
            "properties": {key: {"type": "array", "items": each} for key, each in lists.items()}
        }
        number = self._writer.register_schema(name, "jsonschema", json.dumps(schema).encode())
        channel: int = self._writer.register_channel(topic, "json", number)
        return channel

    def _add(self, time: float, q: Array, poses: SE3) -> None:
        at = round(_NANOSECONDS * time)
        sec, nsec = divmod(at, _NANOSECONDS)
        transforms = [
            {
                "timestamp": {"sec": sec, "nsec": nsec},
                "parent_frame_id": "world",
                "child_frame_id": frame,
                "translation": dict(zip("xyz", xyz, strict=True)),
                "rotation": dict(zip("wxyz", wxyz, strict=True)),
            }
            for frame, xyz, wxyz in zip(self.frames, poses.xyz.tolist(), poses.wxyz.tolist(), strict=True)
        ]
        for topic, message in (
            ("/joint_states", {"name": self.model.coordinates, "position": q.tolist()}),
            ("/tf", {"transforms": transforms}),
        ):
            data = json.dumps(message).encode()
            self._writer.add_message(self._channels[topic], log_time=at, publish_time=at, data=data)

    def close(self) -> None:
        """Write what is left, and the index."""
        self._writer.finish()

"""Configurations of a robot, as they come, in a recording that Rerun plays (https://rerun.io), a file `.rrd`.

    with RerunWriter("run.rrd", arm) as file:
        file.write(t, tracker.step(dt, target))

Each is, at its time on the timeline `time`, a scalar `/joint_states/NAME` for each coordinate, and a transform
`/tf/FRAME` for each frame, where that is in the world.
"""

from collections.abc import Sequence
from os import PathLike
from typing import final

from poise import SE3, Model
from poise.extending import Array, optional
from poise_bridges.recording import Recording


@final
class RerunWriter(Recording):
    """A file `.rrd` that configurations of a model are written to, one after the other; it is whole once it is closed,
    as at the end of a `with`."""

    def __init__(self, file: str | PathLike[str], model: Model, *, frames: Sequence[str] | None = None) -> None:
        """Of the frames that are named, or of all links; raises FrameNotFound, OSError, MissingExtra without rerun."""
        self._rerun = optional("poise_bridges.rerun", "rerun-sdk", "rerun", "rerun")
        super().__init__(model, frames)
        self._stream = self._rerun.RecordingStream("poise")
        try:
            self._stream.save(str(file))
        except RuntimeError as error:
            raise OSError(f"{file} cannot be written: {error}") from None

    def _add(self, time: float, q: Array, poses: SE3) -> None:
        self._stream.set_time("time", duration=float(time))
        for name, position in zip(self.model.coordinates, q.tolist(), strict=True):
            self._stream.log(["joint_states", name], self._rerun.Scalars(position))
        for frame, xyz, xyzw in zip(self.frames, poses.xyz, poses.rotation.xyzw, strict=True):
            self._stream.log(["tf", frame], self._rerun.Transform3D(translation=xyz, quaternion=xyzw))

    def close(self) -> None:
        """Write what is left; nothing can be written after it."""
        self._stream.flush()
        self._stream.disconnect()

"""What an action of robosuite's whole-body controllers asks of sites: numbers to poses."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from poise import SE3, SO3
from poise.extending import ArrayLike, finite, one_of


@final
@dataclass(frozen=True)
class Actions:
    """How actions are read.  Raises ValueError for words that there are not."""

    input_type: str
    """"absolute" poses, a "delta" of place and turn along the axes of the frame, or a "delta_pose" of the site."""
    input_ref_frame: str
    """"world" or "base"; a "delta_pose" is seen from the site in any case."""
    input_rotation_repr: str
    """"quat_wxyz", of any length but 0, or "axis_angle" [rad]."""

    def __post_init__(self) -> None:
        one_of("input_type", self.input_type, ("absolute", "delta", "delta_pose"))
        one_of("input_ref_frame", self.input_ref_frame, ("world", "base"))
        one_of("input_rotation_repr", self.input_rotation_repr, ("quat_wxyz", "axis_angle"))

    @property
    def width(self) -> int:
        """Numbers of a site."""
        return 7 if self.input_rotation_repr == "quat_wxyz" else 6

    def poses(self, action: ArrayLike, sites: Sequence[SE3], base: SE3) -> list[SE3]:
        """Where to in the world, of (sites * width,) numbers, where the sites are, and where the base is.

        Raises ShapeError, and ValueError for numbers that are not finite.
        """
        rows = finite("input_action", action, len(sites) * self.width).reshape(len(sites), -1)
        turns = (SO3(wxyz=r[3:]) if self.width == 7 else SO3.from_rotvec(r[3:]) for r in rows)
        commanded = [SE3.from_parts(row[:3], turn) for row, turn in zip(rows, turns, strict=True)]
        frame = base if self.input_ref_frame == "base" else SE3.identity()
        if self.input_type == "absolute":
            return [frame @ pose for pose in commanded]
        if self.input_type == "delta_pose":
            return [site @ change for site, change in zip(sites, commanded, strict=True)]
        axes = frame.rotation
        return [
            SE3.from_parts(
                site.xyz + axes.act(change.xyz), axes @ change.rotation @ axes.inverse() @ site.rotation
            )
            for site, change in zip(sites, commanded, strict=True)
        ]  # fmt: skip

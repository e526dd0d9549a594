"""What a file of animation says: a skeleton at rest, and where its joints are in each frame."""

from dataclasses import dataclass
from typing import final

from poise.spatial import Array


@final
@dataclass(frozen=True, slots=True, eq=False)
class SkeletonFile:
    """A skeleton and its motion: metres, seconds, z up, parents before children.

    Of each joint there is its pose in its parent, at rest and in each frame; of a joint without a parent, the pose in
    the world.
    """

    names: tuple[str, ...]
    """The joints, each name once."""
    parents: tuple[int, ...]
    """Index of each joint's parent, -1 for none."""
    rest_xyz: Array
    """(joints, 3) [m]."""
    rest_wxyz: Array
    """(joints, 4) unit quaternions."""
    times: Array
    """(frames,) [s], ascending."""
    xyz: Array
    """(frames, joints, 3) [m]."""
    wxyz: Array
    """(frames, joints, 4) unit quaternions, of the sign that is nearer to the frame before."""
    name: str = ""
    """What the file calls the motion."""
    notes: tuple[str, ...] = ()
    """What was mended or chosen while reading, a sentence each."""

"""What a file of animation says: a tree of joints, and how each is turned in each frame; and the model that it makes.

A joint's frame carries those of its children.  At rest all frames are parallel to the world's, and a joint stands at
its offset from its parent, so a pose is a rotation of each joint relative to its parent, and a place of each root.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.common.checks import broken_rule
from poise.common.errors import InvalidValue, ModelError
from poise.model.builder import ModelBuilder
from poise.model.frame import WORLD
from poise.model.model import Model
from poise.quaternions import conjugate, quaternion_exp, quaternion_log, quaternion_product
from poise.spatial import LARGEST, SE3

Flags = npt.NDArray[np.bool_]
Up = Literal["y", "z"]


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SkeletonJoint:
    """A joint and the link of the same name that it carries."""

    name: str
    parent: int
    """Place of its parent among the joints, before its own; -1 for a root."""
    offset: Array
    """(3,) where it stands in its parent [m]; of a joint that is moved, at rest."""
    turns: bool = True
    """Whether it turns against its parent; a joint that neither turns nor is moved is fixed."""
    line: int | None = None
    """Where it stands in the file."""


@final
@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SkeletonFile:
    """A skeleton and its frames, in metres."""

    name: str
    joints: tuple[SkeletonJoint, ...]
    """Parents before children."""
    ends: tuple[tuple[str, int, Array], ...] = ()
    """Ends of bones that carry no joint: a name, the joint, and the place (3,) in it [m]."""
    times: Array
    """(frames,) growing [s]; a file may have no frame."""
    places: Mapping[int, Array]
    """Of each root, and of each other joint that is moved against its parent, (frames, 3) its place there [m]."""
    turns: Array
    """(frames, joints, 4) the rotation of each joint relative to its parent, unit quaternions w x y z."""
    up: Up = "z"
    """The axis that is up."""
    unit: float = 1.0
    """Metres that one unit of length in the file is."""
    notes: tuple[str, ...] = ()
    """What was assumed and mended while reading."""
    bones: Mapping[str, str] = field(default_factory=dict)
    """By bone of a humanoid, in the words of VRM such as `leftUpperLeg`, the joint that it is, where the file says."""
    file: str | None = None

    def model(self) -> Model:
        """A floating joint for each root and for each joint that is moved, spherical ones for those that only turn.

        Each end of a bone is a frame.  Raises ModelError, with file and line, for names that are used twice.
        """
        builder = ModelBuilder(self.name, file=self.file)
        for i, joint in enumerate(self.joints):
            builder.joint(
                joint.name,
                "floating" if i in self.places else "spherical" if joint.turns else "fixed",
                parent=WORLD if joint.parent < 0 else self.joints[joint.parent].name,
                child=joint.name,
                origin=None if i in self.places else SE3.from_parts(joint.offset),
                line=joint.line,
            )
        for name, i, place in self.ends:
            builder.frame(name, link=self.joints[i].name, origin=SE3.from_parts(place), line=self.joints[i].line)
        return builder.build()

    def configurations(self, model: Model) -> Array:
        """(frames, nq) those of `model`, which is the skeleton's own."""
        q = np.empty((len(self.times), model.nq))
        for i, joint in enumerate(self.joints):
            if model.joint(joint.name).nq == 0:
                continue
            at = model.index(joint.name)
            if i in self.places:
                q[:, at.start : at.start + 3] = self.places[i]
            q[:, at.stop - 4 : at.stop] = self.turns[:, i]
        return q


def check_arguments(unit: float | None, up: str | None, fps: float | None) -> None:
    """Raises ValueError for a unit or a rate that is no positive number, and for another axis."""
    if unit is not None and not 0.0 < unit < LARGEST:
        raise InvalidValue(
            broken_rule(unit, "out-of-range"),
            f"unit must be the metres that one unit of length is, such as 0.01, got {unit!r}",
        )
    if up not in (None, "y", "z"):
        raise InvalidValue("unknown-word", f"up must be 'y' or 'z', the axis that is up in the file, got {up!r}")
    if fps is not None and not 0.0 < fps < LARGEST:
        raise InvalidValue(broken_rule(fps, "out-of-range"), f"fps must be frames a second, more than 0, got {fps!r}")


def numbered(originals: Sequence[str], spare: Sequence[str]) -> tuple[str, ...]:
    """Names that are different: `originals`, of which a second one gets a number, and `spare` ones for empty ones."""
    taken = set(originals)
    names: dict[str, None] = {}
    used: dict[str, int] = {}
    for name, other in zip(originals, spare, strict=True):
        wanted = unique = name or other
        while unique in names or (unique != name and unique in taken):
            used[wanted] = used.get(wanted, 1) + 1
            unique = f"{wanted}_{used[wanted]}"
        names[unique] = None
    return tuple(names)


def reach(parents: Sequence[int], offsets: Sequence[Array], ends: Sequence[tuple[str, int, Array]]) -> Array:
    """(3,) how far a skeleton reaches along each axis at rest, in the unit of its offsets; a root's parent is -1."""
    places = np.zeros((len(parents) + 1, 3))  # the last is what roots stand in, themselves at 0
    for i, (parent, offset) in enumerate(zip(parents, offsets, strict=True)):
        places[i] = places[parent] + (offset if parent >= 0 else 0.0)
    tips = [places[i] + place for _, i, place in ends]
    reached = np.array([*places[:-1], *tips])
    return reached.max(axis=0) - reached.min(axis=0)


def bridged(values: Array, missing: Flags) -> Array:
    """(frames, k) numbers with those of the frames `missing` (frames,) on straight lines between their neighbours."""
    frames = np.arange(len(values))
    present = ~missing
    return np.column_stack([np.interp(frames, frames[present], column[present]) for column in values.T])


def bridged_turns(turns: Array, missing: Flags) -> Array:
    """(frames, 4) unit quaternions with those of the frames `missing` turned evenly from neighbour to neighbour."""
    frames = np.arange(len(turns))
    present = frames[~missing]
    after = np.searchsorted(present, frames)
    first, last = present[np.maximum(after - 1, 0)], present[np.minimum(after, len(present) - 1)]
    share = np.where(last > first, (frames - first) / np.maximum(last - first, 1), 0.0)
    way = quaternion_log(quaternion_product(turns[last], conjugate(turns[first])))
    between = quaternion_product(quaternion_exp(share[:, None] * way), turns[first])
    return np.where(missing[:, None], between, turns)


def continuous(turns: Array) -> Array:
    """(frames, ..., 4) the same rotations, each quaternion on the side of the one before: q and -q are one rotation."""
    if len(turns) < 2:
        return turns
    flips = np.where(np.einsum("...i,...i->...", turns[1:], turns[:-1]) < 0.0, -1.0, 1.0)
    signs = np.concatenate([np.ones((1, *flips.shape[1:])), np.cumprod(flips, axis=0)])
    out: Array = turns * signs[..., None]
    return out


def refuse_no_frames(skeleton: SkeletonFile) -> None:
    """Raises ModelError for a file that holds a skeleton and no motion."""
    if not len(skeleton.times):
        raise ModelError("it holds a skeleton and no frame; poise.load gives its model", file=skeleton.file)


def unusable(values: Array) -> Flags:
    """(frames,) whether any of the numbers (frames, k) is none, or too large to compute with."""
    return np.any(np.logical_not(np.abs(values) <= LARGEST), axis=1)

"""What may be free, by name, and what it moves: the placements of a model let loose, and what joints read.

A placement, the origin of a joint in its parent link or of a frame in its link, goes to `xyz + t` and `exp(w) R`, along
the axes of what carries it, as a file states it.  With all free placements let loose (`poise.model.loosening`) they are
floating joints among the others, so that one Jacobian tells what each of them moves.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, final

import numpy as np

from poise.common.array import Array
from poise.common.checks import number
from poise.common.errors import InvalidType, InvalidValue, NameNotFound, nearest_names
from poise.model.frame import WORLD
from poise.model.joint import JointKind
from poise.model.joint_function import JointFunction
from poise.model.loosening import Loose, loosened, stand_of
from poise.model.model import Model
from poise.quaternions import quaternion_exp, quaternion_product, unit_vectors
from poise.spatial import SE3, SO3

BASE: Final = "base"
"""Where the whole robot stands, unless a joint or a frame has this name."""
_AXES: Final = ("x", "y", "z", "rx", "ry", "rz")
_GROUPS: Final = {"xyz": _AXES[:3], "rotation": _AXES[3:], **{axis: (axis,) for axis in _AXES}}
_OWN: Final = ("offset", "length")
_STARTS: Final = 20
_SHORT: Final = 1e-6
"""A link that is shorter has no direction to grow in [m]."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Parameter:
    """One number that is free; it is 0 where the model has it."""

    owner: str
    """A joint, a frame, or `BASE`."""
    part: str
    """An axis, "length" or "offset"."""
    unit: str
    way: Array | None
    """(6,) the twist of the placement that it is; None: what the joint reads lacks so much."""

    @property
    def name(self) -> str:
        """As `free` names it."""
        return f"{self.owner}.{self.part}"


def parameters(model: Model, free: Sequence[str]) -> list[Parameter]:
    """Those that `free` names, in its order.

    Raises TypeError for one text, NameNotFound for a name that is not there, ValueError for what cannot be free, or is
    named twice.
    """
    if isinstance(free, str) or not all(isinstance(name, str) for name in free):
        raise InvalidType(
            "not-a-sequence", f"free must be a sequence of names, such as ['elbow.offset', 'base'], got {free!r}"
        )
    found = [one for name in free for one in _of(model, name)]
    if not found:
        raise InvalidValue(
            "empty", "free names nothing: name a joint or a frame, or a part of one, such as 'elbow.offset'"
        )
    names = [one.name for one in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InvalidValue("duplicate", f"free names {', '.join(map(repr, twice))} twice: leave one of the names out")
    return found


def deviations(model: Model, found: Sequence[Parameter], prior: Mapping[str, float]) -> Array:
    """(k,) how far each parameter may be expected from 0, inf where `prior` does not say.

    Raises NameNotFound for what is not free, ValueError for a number that is not above 0 and finite or has no one unit.
    """
    if not isinstance(prior, Mapping):
        raise InvalidType(
            "wrong-type", f"prior must be deviations by name, such as {{'base.xyz': 0.01}}, got {prior!r}"
        )
    out = np.full(len(found), np.inf)
    at = {one.name: i for i, one in enumerate(found)}
    for name, deviation in prior.items():
        named = _of(model, name)
        if len({one.unit for one in named}) > 1:
            raise InvalidValue(
                "wrong-length",
                f"the prior of {name!r} is one number for metres and radians: state {name + '.xyz'!r} and "
                f"{name + '.rotation'!r}",
            )
        if number(f"the prior of {name!r}", deviation) <= 0.0:
            raise InvalidValue(
                "not-positive", f"the prior of {name!r} is {deviation!r}; it is a standard deviation, above 0"
            )
        for one in named:
            if one.name not in at:
                raise NameNotFound(one.name, at, owner="free", noun="parameter")
            out[at[one.name]] = deviation
    return out


def _of(model: Model, name: str) -> list[Parameter]:
    """The parameters of one name."""
    owner, part = (name, "") if _can_be_placed(model, name) else _split_name(model, name)
    if part == "offset":
        return [_offset(model, owner)]
    if part == "length":
        return [_length(model, owner)]
    axes = _GROUPS[part] if part else _AXES
    return [Parameter(owner, axis, "m" if len(axis) == 1 else "rad", np.eye(6)[_AXES.index(axis)]) for axis in axes]


def _split_name(model: Model, name: str) -> tuple[str, str]:
    """An owner and its part."""
    owner, _, part = name.rpartition(".")
    if owner and _can_be_placed(model, owner):
        if part not in _GROUPS and part not in _OWN:
            near = nearest_names(part, [*_GROUPS, *_OWN])
            raise InvalidValue(
                "no-such-part",
                f"{owner!r} has no part {part!r} that could be free"
                + (f"; did you mean {' or '.join(map(repr, near))}?" if near else "")
                + f" There are {', '.join([*_GROUPS, *_OWN])}, and {owner!r} for all six of its placement",
            )
        return owner, part
    wrong = owner if part in _GROUPS or part in _OWN else name
    if wrong == WORLD:
        raise InvalidValue(
            "nothing-moves",
            f"{WORLD!r} does not move: free {BASE!r}, or a frame on it, with_frame('tracker', link={WORLD!r})",
        )
    loosened(model, wrong)  # which says what is wrong with any other
    raise AssertionError(wrong)


def _can_be_placed(model: Model, name: str) -> bool:
    return has_placement(model, name) or name == BASE


def has_placement(model: Model, name: str) -> bool:
    """Whether the model has a joint, or a frame that is no link, of this name."""
    return any(joint.name == name for joint in model.joints) or (
        name in model.frames and model.frame(name).link != name
    )


def _offset(model: Model, name: str) -> Parameter:
    if name not in {joint.name for joint in model.joints}:
        raise InvalidValue(
            "not-supported", f"{name!r} is no joint and reads nothing: free its placement, {name!r} or a part of it"
        )
    joint = model.joint(name)
    if joint.mimic is not None:
        raise InvalidValue(
            "not-supported", f"{name!r} follows {joint.mimic.joint!r}: free {joint.mimic.joint + '.offset'!r} instead"
        )
    if joint.size != 1:
        raise InvalidValue(
            "not-supported", f"{name!r} is {joint.kind.value} and has no offset: free its placement, {name!r}"
        )
    return Parameter(name, "offset", "m" if joint.kind is JointKind.PRISMATIC else "rad", None)


def _length(model: Model, name: str) -> Parameter:
    if not has_placement(model, name):
        raise InvalidValue(
            "not-supported", f"{name!r} has no length: free {name!r}, or a part of it such as {name + '.xyz'!r}"
        )
    xyz = loosened(model, name).pose[:3]
    length = float(np.linalg.norm(xyz))
    if length < _SHORT:
        raise InvalidValue(
            "not-supported", f"the link that ends at {name!r} has no length: free {name + '.xyz'!r} instead"
        )
    return Parameter(name, "length", "m", np.concatenate([xyz / length, np.zeros(3)]))


@final
class Freed:
    """A model whose free placements are joints: its q, and what it moves with, by the numbers that are free."""

    def __init__(self, model: Model, found: Sequence[Parameter]) -> None:
        self.parameters = found
        self._loose, wide = dict[str, Loose](), model
        for owner in dict.fromkeys(one.owner for one in found if one.way is not None):
            self._loose[owner] = loosened(wide, owner) if has_placement(model, owner) else stand_of(wide)
            wide = self._loose[owner].model
        self.model = wide
        names = [*model.joint_names]
        self._places = [i for name in names for i in range(*wide.index(name).indices(wide.nq))]
        self._from = [i for name in names for i in range(*model.index(name).indices(model.nq))]

    def twists(self, x: Array) -> dict[str, Array]:
        """(6,) of each placement, by its owner."""
        out = {owner: np.zeros(6) for owner in self._loose}
        for one, value in zip(self.parameters, x, strict=True):
            if one.way is not None:
                out[one.owner] += value * one.way
        return out

    def placements(self, x: Array) -> dict[str, Array]:
        """(7,) where each placement is, by its owner."""
        out = {}
        for owner, twist in self.twists(x).items():
            pose = self._loose[owner].pose
            turned = quaternion_product(quaternion_exp(twist[3:]), pose[3:])
            out[owner] = np.concatenate([pose[:3] + twist[:3], turned])
        return out

    def q(self, x: Array, readings: Array) -> Array:
        """(n, nq) of the model that is let loose, where the joints read `readings` (n, own nq)."""
        out = np.empty((len(readings), self.model.nq))
        out[:, self._places] = readings[:, self._from]
        for owner, pose in self.placements(x).items():
            out[:, self.model.index(self._loose[owner].joint)] = pose
        for one, value in zip(self.parameters, x, strict=True):
            if one.way is None:
                out[:, self.model.index(one.owner)] += value
        return out

    def turned_about(self, prior: Iterable[str]) -> Iterator[Array]:
        """Starts (k,) in which the placements that are wholly free, without a `prior`, have any rotation."""
        axes = {one.name: i for i, one in enumerate(self.parameters)}
        known = {name.rpartition(".")[0] for name in prior} | set(prior)
        whole = [
            [axes[f"{owner}.{axis}"] for axis in _GROUPS["rotation"]]
            for owner in self._loose
            if owner not in known and all(f"{owner}.{axis}" in axes for axis in _AXES)
        ]
        random = np.random.default_rng(0)
        for _ in range(_STARTS if whole else 0):
            x = np.zeros(len(self.parameters))
            for places in whole:
                x[places] = SO3(wxyz=unit_vectors(random.normal(size=4))).log()
            yield x

    def velocities(self, x: Array) -> Array:
        """(nv, k) how that q moves with x."""
        out = np.zeros((self.model.nv, len(x)))
        # The left Jacobian of a rotation is what SE3.exp does to the linear part, here of the three unit vectors.
        turns = {
            owner: SE3.exp(np.concatenate([np.eye(3), np.tile(twist[3:], (3, 1))], axis=1)).xyz
            for owner, twist in self.twists(x).items()
        }
        for k, one in enumerate(self.parameters):
            if one.way is None:
                out[self.model.velocity_index(one.owner), k] = 1.0
            else:
                at = self.model.velocity_index(self._loose[one.owner].joint)
                out[at, k] = np.concatenate([one.way[:3], one.way[3:] @ turns[one.owner]])
        return out


def calibrated(freed: Freed, model: Model, x: Array) -> Model:
    """The model with what is free at `x`: `q` are still what its joints read, and limits are of that."""
    poses = {owner: SE3(pose) for owner, pose in freed.placements(x).items()}
    offsets = {one.owner: float(value) for one, value in zip(freed.parameters, x, strict=True) if one.way is None}
    joints = []
    for joint in model.joints:
        origin = poses.pop(joint.name, joint.origin)
        if joint.name in offsets:
            origin = origin @ joint.motion(np.array([offsets[joint.name]]))
        if joint.mimic is not None and joint.mimic.joint in offsets:
            shift, function = offsets[joint.mimic.joint], joint.mimic.function
            if function is None:
                mimic = replace(joint.mimic, offset=joint.mimic.offset + joint.mimic.multiplier * shift)
            else:
                mimic = replace(joint.mimic, function=function.after(JointFunction.polynomial([shift, 1.0])))
            joint = replace(joint, mimic=mimic)
        joints.append(joint if origin is joint.origin else replace(joint, origin=origin))
    frames = [replace(f, origin=poses.pop(f.name)) if f.name in poses else f for f in model._own_frames()]
    made = model._with(joints=joints, frames=frames)
    return made.with_base(poses[BASE]) if BASE in poses else made

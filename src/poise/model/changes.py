"""What is changed of a loaded robot: its limits, where it stands, a tool or a load on it; parts of a new model."""

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.checks import broken_rule, finite, refuse_masked
from poise.common.errors import FrameNotFound, InvalidType, InvalidValue, ModelError
from poise.geometry.meshes import SHAPES, LinkShape
from poise.model.followers import range_left
from poise.model.frame import WORLD, Frame
from poise.model.joint import Joint, JointKind, like_degrees
from poise.model.swing import SwingTwist
from poise.spatial import BOUND, LARGEST, one_pose

if TYPE_CHECKING:
    from poise.model.model import Model

Span: TypeAlias = tuple[ArrayLike, ArrayLike] | SwingTwist
"""Lower and upper limit of a joint: a number each, or one for each of its coordinates [rad or m]."""
_SHORT = 1e-6
"""A bone that is shorter has no direction [m]."""
_ROUNDING = 1e-12
"""A limit that is taken through a joint that mimics comes back to within this part of itself."""


def another_frame(model: "Model", name: str, link: str, origin: Any) -> Frame:
    """The frame of `Model.with_frame`."""
    if not isinstance(name, str) or not name:
        raise ModelError(f"the name of a frame is a text that is not empty, got {name!r}")
    if name in model.frames:
        raise ModelError(f"{model.name} has a frame {name!r} already; give the new one another name")
    carrier = model.frame(link)
    return Frame(name=name, link=carrier.link, origin=carrier.origin @ one_pose("origin", origin))


def loaded(model: "Model", mass: float, link: str, centre: ArrayLike, inertia: ArrayLike | None) -> dict[str, Any]:
    """The masses and inertias of `Model.with_payload`."""
    carrier = model.frame(link)
    if carrier.link == WORLD:
        raise ModelError(f"{WORLD!r} has no mass; name a link that carries the payload")
    number = isinstance(mass, (int, float, np.floating, np.integer)) and not isinstance(mass, bool)
    if not number or not 0.0 < mass <= LARGEST:
        raise InvalidValue(
            broken_rule(mass, "out-of-range"), f"mass is {mass!r}; it must be a finite number of kg, above 0"
        )
    place = carrier.origin.act(finite("centre", centre, 3))
    if not (np.abs(place) <= LARGEST).all():
        raise InvalidValue("out-of-range", f"centre is {np.asarray(centre).tolist()}; {BOUND}")
    before, at = model.masses.get(carrier.link, (0.0, np.zeros(3)))
    whole = before + float(mass)
    middle = at + (place - at) * (float(mass) / whole)
    turn = carrier.origin.rotation.matrix()
    own = np.zeros((3, 3)) if inertia is None else turn @ finite("inertia", inertia, 3, 3) @ turn.T
    both = model.inertias.get(carrier.link, np.zeros((3, 3))) + own
    both = both + shifted(before, at - middle) + shifted(float(mass), place - middle)
    return {
        "masses": {**model.masses, carrier.link: (whole, middle)}, "inertias": {**model.inertias, carrier.link: both}
    }  # fmt: skip


def shifted(mass: float, way: Array) -> Array:
    """(3, 3) what a mass [kg] adds to an inertia about a point that is `way` (3,) [m] off (parallel axes)."""
    return mass * (way @ way * np.eye(3) - np.outer(way, way))


def shaped(
    model: "Model", shapes: Mapping[str, LinkShape | Sequence[LinkShape]], disabled: Iterable[tuple[str, str]] | None
) -> dict[str, Any]:
    """The shapes of `Model.with_shapes`, and the pairs that are disabled, where they are given."""
    links = dict.fromkeys([*model.links, WORLD])
    carried = {link: tuple(those) if isinstance(those, Iterable) else (those,) for link, those in shapes.items()}
    pairs = None if disabled is None else [frozenset(pair) for pair in disabled]
    for link in (*carried, *(link for pair in pairs or () for link in sorted(pair))):
        if link not in links:
            raise FrameNotFound(link, links, owner=model.name)
    for link, those in carried.items():
        for shape in those:
            if not isinstance(shape, LinkShape):
                raise InvalidType("not-a-shape", f"link {link!r} is given {shape!r} as a shape; {SHAPES}")
    if pairs is None:
        return {"shapes": carried}
    for pair in pairs:
        if len(pair) != 2:
            raise InvalidValue("wrong-length", f"disabled holds {tuple(sorted(pair))}; a pair is two links")
    return {"shapes": carried, "disabled": pairs}


def mounted(model: "Model", pose: Any) -> list[Joint]:
    """The joints of `Model.with_base`."""
    stand = one_pose("pose", pose)
    carried = {joint.child for joint in model.joints}
    loose = [link for link in model.links if link not in carried]
    taken = {joint.name for joint in model.joints}
    mounts = [
        Joint(name=unused(f"{link}_mount", taken), kind=JointKind.FIXED, parent=WORLD, child=link, origin=stand)
        for link in loose
    ]
    moved = [replace(j, origin=stand @ j.origin) if j.parent == WORLD else j for j in model.joints]
    return [*mounts, *moved]


def anchored(model: "Model", pose: Any) -> list[Frame]:
    """The frames of `Model.with_base`: those on the world to which loops tie the robot move with it."""
    stand = one_pose("pose", pose)
    tied = {name for loop in model.loops for name in (loop.first, loop.second)}
    if WORLD in tied:
        raise ModelError(
            f"a loop ties {model.name} to the world's own origin, which does not move with a base: tie it to a frame "
            f"on the world instead, builder.frame('anchor', link={WORLD!r})"
        )
    own = (model.frame(name) for name in model.frames if name not in model.links and name != WORLD)
    return [replace(f, origin=stand @ f.origin) if f.link == WORLD and f.name in tied else f for f in own]


def unused(name: str, taken: Iterable[str]) -> str:
    return unused(name + "_", taken) if name in taken else name


def limited(model: "Model", limits: Mapping[str, Span], velocity: Mapping[str, ArrayLike]) -> tuple[Joint, ...]:
    """The joints of `Model.with_limits`, before what joints that mimic say of one another is looked at."""
    for what, given in (("limits", limits), ("velocity", velocity)):
        if not isinstance(given, Mapping):
            raise InvalidType(
                "wrong-type", f"{what} must name joints, as in with_limits({what}={{joint: ...}}), got {given!r}"
            )
    if not limits and not velocity:
        raise InvalidValue(
            "empty", "with_limits names no joint: give it {joint: (lower, upper)}, velocity={joint: speed} or both"
        )
    joints = {joint.name: joint for joint in model.joints}
    for name in {**limits, **velocity}:
        if model.joint(name).kind is JointKind.FIXED:
            raise InvalidValue("no-limits", f"the joint {name!r} is fixed and has no limits: leave it out")
    for name, span in limits.items():
        joint = joints[name]
        if isinstance(span, SwingTwist):
            joints[name] = _swinging(joint, span)
            continue
        lower, upper = _ends(joint, span)
        kind = JointKind.REVOLUTE if joint.kind is JointKind.CONTINUOUS else joint.kind
        joints[name] = replace(joint, kind=kind, lower=lower, upper=upper)
    for name, speed in velocity.items():
        joints[name] = replace(joints[name], velocity=_speeds(joints[name], speed))
    return tuple(joints.values())


def stretched(model: "Model", bones: Sequence[str], most: float, least: float) -> tuple[list[Joint], list[str]]:
    """The joints and links of `Model.with_stretch`."""
    if isinstance(bones, str) or not all(isinstance(name, str) for name in bones):
        raise InvalidType(
            "not-a-sequence", f"bones must be a sequence of joints' names, such as ['LeftForeArm'], got {bones!r}"
        )
    if not bones:
        raise InvalidValue("empty", "bones is empty; name the joint at the end of each bone that may stretch")
    for what, share, end in (("most", most, math.inf), ("least", least, 1.0)):
        number = isinstance(share, (int, float, np.floating, np.integer)) and not isinstance(share, bool)
        if not number or not 0.0 <= share < end:
            below = "" if end == math.inf else " and less than 1, all of it"
            raise InvalidValue(
                broken_rule(share, "out-of-range"),
                f"{what} is {share!r}; it is a share of a bone's length, 0 or more{below}",
            )
    named = {model.joint(name).name for name in bones}
    names, bodies = {joint.name for joint in model.joints}, {*model.links, *model.frames}
    joints, links = list[Joint](), list(model.links)
    for joint in model.joints:
        if joint.name in named:
            way = joint.origin.xyz
            length = float(np.linalg.norm(way))
            if length < _SHORT:
                raise InvalidValue(
                    "zero-vector",
                    f"the bone that ends at {joint.name!r} has no length: {joint.name!r} stands at the origin of "
                    f"{joint.parent!r}; leave it out, or name the joint at the end of a longer bone",
                )
            name = unused(f"{joint.name}_stretch", names)
            link = unused(name, bodies)
            x, y, z = way / length
            joints.append(
                Joint(
                    name=name,
                    kind=JointKind.PRISMATIC,
                    parent=joint.parent,
                    child=link,
                    axis=(float(x), float(y), float(z)),
                    lower=(-least * length,),
                    upper=(most * length,),
                    velocity=(math.inf,),
                )
            )
            links.insert(links.index(joint.child), link)
            joint = replace(joint, parent=link)
        joints.append(joint)
    return joints, links


def _swinging(joint: Joint, limits: SwingTwist) -> Joint:
    if joint.kind is not JointKind.SPHERICAL:
        raise InvalidValue(
            "not-supported", f"{joint.name!r} is {joint.kind.value}; swing and twist limit spherical joints only"
        )
    if limits.swing is None and limits.twist is None:
        return replace(joint, ball=None)
    return replace(joint, ball=limits if limits.axis is not None else replace(limits, axis=joint.axis))


def _ends(joint: Joint, span: Span) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The limits of a joint, one a coordinate; raises ValueError for what no joint can keep."""
    if not isinstance(span, (tuple, list, np.ndarray)) or len(span) != 2:
        raise InvalidValue("wrong-length", f"the limits of {joint.name!r} must be (lower, upper), got {span!r}")
    count = joint.size if joint.quaternion_at is None else joint.quaternion_at
    if count == 0:
        raise InvalidValue(
            "no-limits", f"the joint {joint.name!r} is {joint.kind.value} and can have no limits: leave it out"
        )
    lower, upper = (_numbers(joint, "limits", end, count) for end in span)
    for low, high in zip(lower, upper, strict=True):
        if low > high:
            raise InvalidValue(
                "inconsistent", f"the limits of {joint.name!r} are the wrong way round: lower {low:g} > upper {high:g}"
            )
        if like_degrees(joint.kind, low, high):
            warnings.warn(
                f"the limits of {joint.name!r} are {low:g} to {high:g} rad, more than three turns: degrees? "
                "numpy.radians makes them radians",
                UserWarning,
                stacklevel=4,
            )
        if low == math.inf or high == -math.inf or any(LARGEST < abs(x) < math.inf for x in (low, high)):
            raise InvalidValue(
                "out-of-range", f"the limits of {joint.name!r} are {low:g} to {high:g}; {BOUND}, and math.inf is none"
            )
    free = (math.inf,) * (joint.size - count)  # a quaternion has no limits
    return (*lower, *(-x for x in free)), (*upper, *free)


def _speeds(joint: Joint, speed: ArrayLike) -> tuple[float, ...]:
    """The velocity limits of a joint; raises ValueError for one that is not above 0."""
    speeds = _numbers(joint, "velocity limit", speed, joint.speeds)
    for one in speeds:
        if not one >= 1e-100:
            raise InvalidValue(
                "not-positive",
                f"the velocity limit of {joint.name!r} is {one:g}; it must be above 0: model.lock({joint.name}=...) "
                "holds a joint still, and math.inf is no limit",
            )
    return speeds


def _numbers(joint: Joint, what: str, value: ArrayLike, size: int) -> tuple[float, ...]:
    refuse_masked(f"the {what} of {joint.name!r}", value)
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.array(np.nan)
    if numbers.ndim == 0:
        numbers = np.full(size, float(numbers))
    if numbers.shape != (size,):
        raise InvalidValue(
            "wrong-length", f"the {what} of {joint.name!r} must be a number or {size} of them, got {value!r}"
        )
    if np.isnan(numbers).any():
        raise InvalidValue("not-a-number", f"the {what} of {joint.name!r} holds {value!r}, which is no number")
    return tuple(map(float, numbers))


def refuse_narrower(model: "Model", limits: Iterable[str], velocity: Iterable[str]) -> None:
    """Raises ValueError for a joint that another one, which was not named, holds to less than was asked for it."""
    for names, what, word in ((set(limits), _range, "limits"), (set(velocity), _speed, "velocity limit")):
        for name in sorted(names):
            joint = model.joint(name)
            source, function = model.follows(joint)
            if joint.size != 1 or model.steepest(source, function) == 0.0:
                continue
            named = what(model, joint)
            for other in model.joints:
                if other.name in names or other.size != 1 or model.follows(other)[0] != source:
                    continue
                if _narrower(what(model, other), named):
                    raise InvalidValue(
                        "inconsistent",
                        f"the {word} of {name!r} would be held to less by {other.name!r}, which moves with it: name "
                        f"{other.name!r} too",
                    )


def _narrower(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """Whether one range leaves out some of the other, beyond rounding."""
    (low, high), (least, most) = one, other
    return low > least + _ROUNDING * max(1.0, abs(low)) or high < most - _ROUNDING * max(1.0, abs(high))


def _range(model: "Model", joint: Joint) -> tuple[float, float]:
    """What the limits of a joint alone leave of the position that it follows."""
    source, function = model.follows(joint)
    return range_left(joint, function, model.joint(source)) or (math.inf, -math.inf)


def _speed(model: "Model", joint: Joint) -> tuple[float, float]:
    """The same of its velocity."""
    slope = model.steepest(*model.follows(joint))
    return -math.inf, joint.velocity[0] / slope if slope else math.inf

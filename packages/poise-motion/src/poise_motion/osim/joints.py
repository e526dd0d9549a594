"""Joints of an `.osim` as axes: each slides or turns by a function of a coordinate.

A CustomJoint is p = t1 a4 + t2 a5 + t3 a6 in the frame of its parent, and the rotation R(a1) R(a2) R(a3): three slides,
then three turns.  Other joints are written as one.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from poise import SE3, SO3, JointFunction
from poise.extending import Element
from poise_motion.osim.document import is_true, listed, named, number, numbers, word, words
from poise_motion.osim.functions import IDENTITY, ZERO, function_in

_X, _Y, _Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
_R, _T = True, False
_PLAIN: Final = {
    "WeldJoint": (),
    "PinJoint": ((_R, _Z),),
    "SliderJoint": ((_T, _X),),
    "UniversalJoint": ((_R, _X), (_R, _Y)),
    "BallJoint": ((_R, _X), (_R, _Y), (_R, _Z)),
    "GimbalJoint": ((_R, _X), (_R, _Y), (_R, _Z)),
    "FreeJoint": ((_R, _X), (_R, _Y), (_R, _Z), (_T, _X), (_T, _Y), (_T, _Z)),
    "PlanarJoint": ((_R, _Z), (_T, _X), (_T, _Y)),
}
"""By the kind of a joint, whether its coordinates turn, and about or along which axes of its parent."""
KINDS: Final = (*_PLAIN, "CustomJoint")


@final
@dataclass(frozen=True, slots=True)
class Coordinate:
    """One coordinate of a joint [rad or m]."""

    name: str
    default: float
    limits: tuple[float, float] | None
    """Where it is clamped; None where it is not."""
    locked: bool
    line: int


@final
@dataclass(frozen=True, slots=True)
class Axis:
    """One axis of a joint."""

    name: str
    turns: bool
    direction: tuple[float, float, float]
    function: JointFunction
    coordinate: str
    """What it is a function of; empty for a constant."""


@final
@dataclass(frozen=True, slots=True)
class OsimJoint:
    """A joint between two frames, with the axes between these in their order from parent to child."""

    name: str
    parent: str
    """The path of a frame, as the file has it."""
    child: str
    coordinates: tuple[Coordinate, ...]
    axes: tuple[Axis, ...]
    element: Element

    def turned_round(self) -> "OsimJoint":
        """The same joint from its child to its parent."""
        axes = tuple(
            Axis(axis.name, axis.turns, _negative(axis.direction), axis.function, axis.coordinate)
            for axis in reversed(self.axes)
        )
        return OsimJoint(self.name, self.child, self.parent, self.coordinates, axes, self.element)


def joint_of(element: Element, parent: str, child: str) -> OsimJoint:
    """What an element says; raises ModelError, with the line, for a kind or a function that is not read."""
    name = named(element)
    if element.tag not in KINDS:
        raise element.error(f"{element.label} is of a kind that is not read; those are {', '.join(KINDS)}")
    coordinates = tuple(_coordinates(element))
    if element.tag == "CustomJoint":
        axes = _custom(element, {coordinate.name for coordinate in coordinates})
    else:
        plain = _PLAIN[element.tag]
        if coordinates and len(coordinates) != len(plain):
            raise element.error(f"{element.label} has {len(coordinates)} coordinates, and its kind {len(plain)}")
        if not coordinates:
            line = element.line
            coordinates = tuple(
                Coordinate(f"{name}_coord_{i}", 0.0, None, locked=False, line=line) for i in range(len(plain))
            )
        every = [
            Axis(coordinate.name, turns, direction, IDENTITY, coordinate.name)
            for coordinate, (turns, direction) in zip(coordinates, plain, strict=True)
        ]
        axes = tuple(sorted(every, key=lambda axis: axis.turns))
    if is_true(element, "reverse"):  # of versions before 4: what moves is the parent, in the child
        parent, child = child, parent
    return OsimJoint(name, parent, child, coordinates, axes, element)


def place_of(element: Element, translation: str, orientation: str) -> SE3:
    """The pose that two children say: three metres, and three turns about the body's own x, y and z [rad]."""
    x, y, z = numbers(element, orientation, 3, (0.0, 0.0, 0.0))
    turn = SO3.from_rotvec([x, 0.0, 0.0]) @ SO3.from_rotvec([0.0, y, 0.0]) @ SO3.from_rotvec([0.0, 0.0, z])
    return SE3.from_parts(numbers(element, translation, 3, (0.0, 0.0, 0.0)), turn)


def moved(axis: Axis, amount: float) -> SE3:
    """The pose to which an axis leads that stands still."""
    way = amount * np.array(axis.direction) / np.linalg.norm(axis.direction)
    return SE3.from_rotvec(np.zeros(3), way) if axis.turns else SE3.from_parts(way)


def _coordinates(element: Element) -> Iterator[Coordinate]:
    for each in listed(element.child("coordinates") or element.child("CoordinateSet")):
        if each.tag != "Coordinate":
            continue
        clamped = is_true(each, "clamped") and bool(word(each, "range"))
        low, high = numbers(each, "range", 2) if clamped else (-np.inf, np.inf)
        if low > high:
            raise each.required("range").error(f"{each.label} has its range the wrong way round; change the two over")
        yield Coordinate(
            named(each),
            number(each, "default_value", 0.0),
            (low, high) if clamped else None,
            locked=is_true(each, "locked"),
            line=each.line,
        )


def _custom(element: Element, known: set[str]) -> tuple[Axis, ...]:
    transform = element.child("SpatialTransform")
    found = [] if transform is None else [each for each in listed(transform) if each.tag == "TransformAxis"]
    if len(found) != 6:
        raise element.error(f"{element.label} has {len(found)} <TransformAxis>; three turn and three slide")
    axes = []
    for i, each in enumerate(found):
        names, function = words(each, "coordinates", "coordinate"), function_in(each)
        if function is None:
            function = IDENTITY if len(names) == 1 else ZERO
        varies = function.linear is None or function.linear[0] != 0.0
        if len(names) > 1 or (varies and not names):
            raise each.error(f"{each.label} is a function of {len(names)} coordinates; one is what is read")
        if names and names[0] not in known:
            raise each.error(f"{each.label} follows {names[0]!r}, which is no coordinate of {element.label}")
        direction = numbers(each, "axis", 3, (_X, _Y, _Z)[i % 3])
        if not np.linalg.norm(direction) > 1e-9:
            raise each.error(f"{each.label} has a zero axis; it must have a direction")
        x, y, z = direction
        own = each.attributes.get("name", f"axis{i + 1}")
        axes.append(Axis(own, i < 3, (x, y, z), function, names[0] if varies else ""))
    return (*axes[3:], *axes[:3])


def _negative(direction: tuple[float, float, float]) -> tuple[float, float, float]:
    x, y, z = direction
    return -x, -y, -z

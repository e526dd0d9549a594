"""A setup as JSON, in which every number comes back to the last bit.

The top has `schema` 1, `robot`, `joints`, `desired` [rad or m], `law`, `method`, `obstacles` [m], `min_distance` [m],
`self_collision` and `updates`.  What is of a class, such as the law, an obstacle or a damping rule, is an object with
its `kind` and its settings; an infinite number is the text "inf".
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any, Final, final

import numpy as np

from poise.common.errors import InvalidValue, PoiseError
from poise.geometry.shapes import Box, Capsule, Sphere
from poise.methods.base import ClampMag, Method
from poise.methods.criteria import JointCentring, LimitDistance, Manipulability, RestPosture
from poise.methods.damping import RULES
from poise.methods.registry import METHODS
from poise.model.model import Model
from poise.spatial import SE3, pose_of
from poise.viewer.operator.control_law import Law
from poise.viewer.operator.setup import Obstacle, Setup

SCHEMA: Final = 1
_PARTS: Final[dict[str, Any]] = {
    kind.__name__: kind
    for kind in (
        Law, Obstacle, Sphere, Capsule, Box, ClampMag, RestPosture, JointCentring, LimitDistance, Manipulability
    )
}  # fmt: skip
"""What there is by its kind, beside methods and damping rules."""
_UNIT: Final = 1e-9
"""How far a quaternion's length may be from 1."""


class Unreadable(PoiseError, ValueError):
    """A file that the program did not write, that is broken, or that is of another robot; it names file and place."""

    code = "wrong-format"


REFUSED: Final = (ValueError, TypeError, OverflowError, PoiseError)
"""What numbers and names raise that make no sense."""


# Write ----------------------------------------------------------------------------------------------------------------


def scene_text(setup: Setup, model: Model) -> str:
    """The setup as JSON.  Raises ValueError for a method with settings that are no numbers or names."""
    return json.dumps({"schema": SCHEMA, **robot_fields(model), **setup_fields(setup)}, indent=1, allow_nan=False)


def robot_fields(model: Model) -> dict[str, Any]:
    """Which robot it is of."""
    return {"robot": model.name, "joints": list(model.coordinates)}


def setup_fields(setup: Setup) -> dict[str, Any]:
    """The setup as objects of JSON."""
    return _settings(setup, "the setup")


def _settings(value: Any, place: str) -> dict[str, Any]:
    return {
        field.name: _plain(getattr(value, field.name), f"{field.name} of {place}")
        for field in fields(value)
        if field.init
    }


def _plain(value: Any, place: str) -> Any:
    if value is None or isinstance(value, bool | str | int):
        return value
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else repr(float(value))
    if isinstance(value, tuple | list):
        return [_plain(x, place) for x in value]
    if isinstance(value, SE3):
        return {"kind": "SE3", "numbers": value.array.tolist()}
    kind = value.name if isinstance(value, Method) else type(value).__name__
    if _kind(kind) is type(value):
        return {"kind": kind, **_settings(value, place)}
    raise InvalidValue(
        "not-supported",
        f"{place} is {value!r}, which cannot be written to a file: choose a setting of numbers and names",
    )


def _kind(name: str) -> Any:
    """The class of this kind, None for one that no file holds."""
    return METHODS.get(name) or RULES.get(name) or _PARTS.get(name)


# Read -----------------------------------------------------------------------------------------------------------------


def read_scene(text: str, model: Model, file: str) -> Setup:
    """The setup of a text that `scene_text` wrote, for the same robot; `file` is what messages call it.

    Raises Unreadable, which names the file, the place and the fix, for a text that is none and for another robot.
    """
    try:
        content = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"{file} is no scene: {error}; save it again from the program, or mend it there") from error
    top = Part(content, file)
    check_schema(top)
    check_robot(top, model)
    return read_setup(top, model)


@final
class Part:
    """An object of JSON, and where it stands; what is missing or of another type is refused by its name."""

    def __init__(self, content: Any, place: str) -> None:
        if not isinstance(content, Mapping):
            raise Unreadable(f"{place} must be an object of JSON, got {_short(content)}")
        self.content, self.place = content, place

    def entry(self, key: str, *kinds: type) -> Any:
        """The entry; raises Unreadable unless it is there and is of one of the kinds."""
        if key not in self.content:
            raise Unreadable(f"{self.place} has no {key!r}: add it, or save the file again from the program")
        value = self.content[key]
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            words = " or ".join("null" if kind is type(None) else kind.__name__ for kind in kinds)
            raise Unreadable(f"{self.place}: {key} must be {words}, got {_short(value)}")
        return value

    def numbers(self, key: str, count: int) -> list[float]:
        """A list of so many finite numbers."""
        values = self.entry(key, list)
        if len(values) != count or not all(type(x) in (int, float) and abs(x) < math.inf for x in values):
            raise Unreadable(f"{self.place}: {key} must be {count} finite numbers, got {_short(values)}")
        with Placed(f"{self.place}: {key}: "):
            return [float(x) for x in values]

    def part(self, key: str, name: str | None = None) -> "Part":
        """An object within."""
        return Part(self.entry(key, Mapping), f"{self.place}: {key if name is None else name}")


@final
class Placed:
    """Puts the place before what is refused within the block, unless it has one."""

    def __init__(self, place: str) -> None:
        self._place = place

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, REFUSED) and not isinstance(error, Unreadable):
            raise Unreadable(f"{self._place}{error}") from error


def check_schema(top: Part) -> None:
    """Raises Unreadable for a file of another version."""
    schema = top.entry("schema", int)
    if schema != SCHEMA:
        raise Unreadable(
            f"{top.place} has the schema {schema}, and this version of poise reads {SCHEMA}: open it with the version "
            "that wrote it"
        )


def check_robot(top: Part, model: Model) -> None:
    """Raises Unreadable for a file of another robot."""
    joints = top.entry("joints", list)
    if joints != list(model.coordinates):
        both = zip(joints, model.coordinates, strict=False)
        first = next((f"joint {i} is {a!r} there and {b!r} here" for i, (a, b) in enumerate(both) if a != b), None)
        why = first or f"it has {len(joints)} joints there and {model.nq} here"
        raise Unreadable(
            f"{top.place} is of the robot {_short(top.entry('robot', str))}, and this is {model.name!r}: {why}; open "
            "it with that robot"
        )


def read_setup(top: Part, model: Model) -> Setup:
    """The setup of an object of JSON; raises Unreadable, which names the place."""
    setup: Setup = _filled(Setup, top, ("schema", "robot", "joints"))
    if len(setup.desired) != model.nq:
        raise Unreadable(f"{top.place}: desired must be {model.nq} numbers, got {_short(setup.desired)}")
    return setup


def _filled(kind: Any, part: Part, beside: Sequence[str]) -> Any:
    """The class with the settings of an object; those that are left out have their defaults."""
    known = {field.name: field for field in fields(kind) if field.init}
    for key in part.content:
        if key not in known and key not in beside:
            raise Unreadable(f"{part.place}: there is no setting {key!r}; there are {', '.join(sorted(known))}")
    for name, field in known.items():
        if name not in part.content and field.default is MISSING and field.default_factory is MISSING:
            raise Unreadable(f"{part.place} has no {name!r}: add it, or save the file again from the program")
    settings = {k: _value(v, f"{part.place}: {k}") for k, v in part.content.items() if k in known}
    with Placed(f"{part.place}: "):
        return kind(**settings)


def _value(value: Any, place: str) -> Any:
    if value in ("inf", "-inf") and isinstance(value, str):
        return float(value)
    if isinstance(value, list):
        return tuple(_value(x, f"{place}[{i}]") for i, x in enumerate(value))
    if isinstance(value, Mapping):
        part = Part(value, place)
        name = part.entry("kind", str)
        if name == "SE3":
            with Placed(f"{place}: "):
                return _exact_pose(part.numbers("numbers", 7))
        kind = _kind(name)
        if kind is None:
            raise Unreadable(f"{place}: there is no {_short(name)}; there are {', '.join([*METHODS, *RULES, *_PARTS])}")
        return _filled(kind, part, ("kind",))
    return value


def _exact_pose(numbers: Sequence[float]) -> SE3:
    """The pose of seven numbers, to the last bit; raises ValueError where its quaternion is not of unit length."""
    array = np.array(numbers, dtype=np.float64)
    if abs(float(np.linalg.norm(array[3:])) - 1.0) > _UNIT:
        raise InvalidValue(
            "not-a-rotation", f"wxyz of the pose is {array[3:].tolist()}; it must be a quaternion of length 1"
        )
    return pose_of(array)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"it holds {name}, which is no number")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."

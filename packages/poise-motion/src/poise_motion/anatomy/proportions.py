"""How a robot's body compares with a skeleton's: lengths of bones, and how the frames of the same part lie in each.

A limb is scaled by the lengths of its bones, all of them and both sides together, so that a straight limb stays
straight and what is symmetric stays so.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Final, Self, final

import numpy as np

from poise import InvalidValue, Model, Motion
from poise.extending import Array, Value, aligned, cached, freeze, html
from poise.quaternions import matrix_quaternion
from poise_motion.anatomy.body import BodyMap
from poise_motion.anatomy.body_frames import NEAR, BodyFrames
from poise_motion.anatomy.fingers import Finger, hands_of, palm, points_of
from poise_motion.anatomy.parts import LIMBS, SIDES, TOES

_KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    "leg": ("hip", "knee"),
    "arm": ("shoulder", "elbow"),
    "trunk": (),
    "hips": (),
    "shoulders": (),
}
"""What has a scale, and the bones in it, by the parts where they begin."""
_RATIO: Final = (0.1, 10.0)
"""Least and largest scale that is believed."""
_NO_PALM: Final = (
    "how the palm lies is shown by two fingers beside the thumb, or by the arm: map one more, or shoulder and elbow"
)
_COLUMNS: Final = ("from", "skeleton [m]", "robot [m]", "scale")


@final
@dataclass(frozen=True, slots=True, eq=False)
class Proportions(Value):
    """How the bodies of a skeleton and a robot compare, part by part of a map."""

    scales: Mapping[str, float]
    """By `leg`, `arm`, `trunk`, `hips` and `shoulders` (their widths), the robot's length as a share of the
    skeleton's; of what one of them lacks, the mean of the others."""
    lengths: Mapping[str, tuple[float, float]]
    """Lengths in the skeleton and in the robot [m], by the part from which a bone reaches outwards, such as
    `left_knee`, and by `trunk`, `hips` and `shoulders`."""
    standing: tuple[float, float] | None
    """Heights of the hips above the soles on straight legs, in the skeleton and in the robot [m]; None without legs."""
    ankles: tuple[float, float] | None
    """Heights of the ankles above the soles, which are part of it [m]; None without feet."""
    source_points: Mapping[str, Array]
    """By part, where it stands (3,) in the joint of the skeleton [m]."""
    robot_points: Mapping[str, Array]
    """By part, where it stands (3,) in the frame of the robot [m]."""
    source_axes: Mapping[str, Array]
    """By part, (3, 3) its axes forward, left and up as columns, in the joint of the skeleton."""
    robot_axes: Mapping[str, Array]
    """By part, (3, 3) the same in the frame of the robot; a bone points along -z of its part."""
    offsets: Mapping[str, Array]
    """By part, (4,) the unit quaternion w x y z such that the skeleton's rotation times it is the robot's in the same
    pose: R_robot = R_skeleton offset."""
    assumed: tuple[str, ...] = ()
    """What could not be measured, and where it was taken from, in words."""
    fingers: Mapping[str, tuple[Finger, Finger]] = field(default_factory=dict)
    """By finger, that of the skeleton and that of the robot."""
    missing: Mapping[str, str] = field(default_factory=dict)
    """By finger of the map that cannot be compared, why, in words."""

    def __post_init__(self) -> None:
        freeze(self)

    @classmethod
    def of(cls, source: Motion | Model, robot: Model, body: BodyMap) -> Self:
        """Measure the parts that both have: the skeleton over its motion, or at rest, and the robot at `neutral`.

        Raises FrameNotFound for a map that does not fit, ValueError for a bone without length, and for a scale below
        0.1 or above 10.
        """
        body.check(source, robot)
        parts = body.parts
        toes = [toe for ankle, toe in TOES.items() if ankle in parts and toe in body.source and toe not in parts]
        human = BodyFrames.of_skeleton(source, {part: body.source[part] for part in (*parts, *toes)}, body.source)
        frames = {part: body.robot[part] for part in parts}
        machine = cached(robot, (BodyFrames, *frames.items()), partial(BodyFrames.of_robot, robot, frames))
        lengths = dict(_lengths(human, machine))
        scales, assumed = _scales(lengths)
        ankles = _ankles(human, machine, scales["leg"], assumed)
        axes, other = dict(human.axes), dict(machine.axes)
        ours, theirs = (
            cached(model, (hands_of, *names.items()), partial(hands_of, model, names))
            for model, names in ((human.model, body.source), (robot, body.robot))
        )
        both = {part: (ours[part], theirs[part]) for part in ours if part in theirs}
        missing = {part: "no bone of it can be seen" for part in body.fingers if part not in both}
        for side in SIDES if both else ():
            wrist = f"{side}_wrist"
            one, two = _palm(human, wrist, ours), _palm(machine, wrist, theirs)
            if one is not None and two is not None:
                axes[wrist], other[wrist] = one, two
            elif not all(part in parts for part in LIMBS[f"{side}_arm"]):
                missing |= {part: _NO_PALM for part in both if part.startswith(side)}
        turned = np.array([axes[part] @ other[part].T for part in parts]).reshape(-1, 3, 3)
        return cls(
            scales=scales,
            lengths=lengths,
            standing=_standing(lengths, ankles),
            ankles=ankles,
            source_points=human.points,
            robot_points=machine.points,
            source_axes=axes,
            robot_axes=other,
            offsets=dict(zip(parts, matrix_quaternion(turned), strict=True)),
            assumed=tuple(assumed),
            fingers={part: fingers for part, fingers in both.items() if part not in missing},
            missing=missing,
        )

    def _rows(self) -> list[tuple[str, ...]]:
        both = dict(self.lengths) | ({} if self.standing is None else {"standing": self.standing})
        rows: list[tuple[str, ...]] = [(name, f"{a:.3f}", f"{b:.3f}", f"{b / a:.3f}") for name, (a, b) in both.items()]
        return [*rows, *((f"scale of the {name}", "", "", f"{scale:.3f}") for name, scale in self.scales.items())]

    def __str__(self) -> str:
        """Lengths and scales as a table."""
        return "\n".join([aligned(_COLUMNS, self._rows(), numbers=_COLUMNS[1:]), *self.assumed])

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return html.together(html.table(_COLUMNS, self._rows(), "proportions"), *map(html.paragraph, self.assumed))


def _palm(body: BodyFrames, wrist: str, fingers: Mapping[str, Finger]) -> Array | None:
    """(3, 3) the axes of a hand as its knuckles show them, on average, seen from its wrist; None where they do not."""
    side = wrist.partition("_")[0]
    own = {part: one for part, one in fingers.items() if part.startswith(side)}
    if wrist not in body.frames or not own:
        return None
    back = body.poses[wrist].inverse()
    starts = {
        part.partition("_")[2]: back.act(points[:, 0]).mean(axis=0)
        for part, points in points_of(own, body.model, body.q).items()
    }
    return palm(body.points[wrist], starts)


def _lengths(human: BodyFrames, machine: BodyFrames) -> Iterator[tuple[str, tuple[float, float]]]:
    """What can be compared, by the part from which it reaches outwards, or by its own name."""
    for limb in LIMBS.values():
        for inner, outer in pairwise(limb):
            if inner in human.points and outer in human.points:
                both = human.length(inner, outer), machine.length(inner, outer)
                for body, length in zip((human, machine), both, strict=True):
                    if not length > NEAR * body.size:
                        raise InvalidValue(
                            "inconsistent",
                            f"{body.frames[inner]!r} and {body.frames[outer]!r} of {body.model.name} stand in "
                            f"one place, so the bone from {inner} to {outer} has no length; map one of them elsewhere",
                        )
                yield inner, both
    for name, part in (("hips", "hip"), ("shoulders", "shoulder")):
        left, right = (f"{side}_{part}" for side in SIDES)
        if left in human.points and right in human.points:
            yield from _if_any(name, human, machine, human.length(left, right), machine.length(left, right))
    yield from _if_any("trunk", human, machine, human.trunk(), machine.trunk())


def _if_any(
    name: str, human: BodyFrames, machine: BodyFrames, a: float | None, b: float | None
) -> Iterator[tuple[str, tuple[float, float]]]:
    """The lengths of both, where both are one."""
    if a is not None and b is not None and a > NEAR * human.size and b > NEAR * machine.size:
        yield name, (a, b)


def _scales(lengths: Mapping[str, tuple[float, float]]) -> tuple[dict[str, float], list[str]]:
    """The scale of each kind, and what was assumed."""
    scales: dict[str, float] = {}
    for kind, parts in _KINDS.items():
        bones = [both for name, both in lengths.items() if name == kind or name.partition("_")[2] in parts]
        if bones:
            a, b = (float(np.mean([both[i] for both in bones])) for i in range(2))
            scales[kind] = b / a
            if not _RATIO[0] <= scales[kind] <= _RATIO[1]:
                what = f"a bone of the {kind}" if parts else kind
                raise InvalidValue(
                    "out-of-range",
                    f"{what} has {a:.3g} m in the skeleton and {b:.3g} m in the robot, a scale of {scales[kind]:.3g}; "
                    "check the map, and the unit of the motion: load_motion(file, unit=...)",
                )
    known = [scales[kind] for kind in _KINDS if kind in scales]
    mean = float(np.mean(known)) if known else 1.0
    taken = f"the mean of the others, {mean:.3f}" if known else "1, for there is no other"
    assumed = [f"the scale of the {kind} is {taken}" for kind in _KINDS if kind not in scales]
    return {kind: scales.get(kind, mean) for kind in _KINDS}, assumed


def _ankles(human: BodyFrames, machine: BodyFrames, scale: float, assumed: list[str]) -> tuple[float, float] | None:
    """Mean heights of the ankles above the soles."""
    if not human.ankles:
        return None
    robot = float(np.mean([height or 0.0 for height in machine.ankles]))
    seen = [height for height in human.ankles if height is not None]
    if not seen:
        assumed.append("the skeleton has no toes; its ankles are as high above the soles as the robot's, by the legs")
    return float(np.mean(seen)) if seen else robot / scale, robot


def _standing(
    lengths: Mapping[str, tuple[float, float]], ankles: tuple[float, float] | None
) -> tuple[float, float] | None:
    """Mean heights of the hips above the soles on straight legs."""
    legs = [
        (a[0] + b[0], a[1] + b[1])
        for side in SIDES
        if (a := lengths.get(f"{side}_hip")) is not None and (b := lengths.get(f"{side}_knee")) is not None
    ]
    if not legs or ankles is None:
        return None
    human, robot = np.mean(legs, axis=0)
    return float(human + ankles[0]), float(robot + ankles[1])

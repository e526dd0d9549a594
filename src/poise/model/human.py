"""How far the joints of a human go: limits of swing and twist by the names of a skeleton's joints.

A plane of motion is one of the two directions of swing, or the twist: flexion is a swing of the bone forward, abduction
one outward, rotation a twist about the bone.  Ranges are averages of goniometry: those of the American Academy of
Orthopaedic Surgeons 1965, "Joint Motion: Method of Measuring and Recording"; of neck and knee those of the American
Medical Association 1993, "Guides to the Evaluation of Permanent Impairment"; of the collar Neumann 2010, "Kinesiology
of the Musculoskeletal System"; of the foot's dorsiflexion that of a lunge (Bennell et al. 1998), for it bears weight.

What tables do not say, and skeletons do differently, is wide.  The axes of knees and elbows are tilted against those of
the body by what thigh and upper arm are turned at rest, so they bend sideways too.  Pronation is with the elbow or with
the wrist.  Of spine and neck a joint may take twice its even share.  A foot that inverts turns inward.  An upper arm is
measured from where it hangs, and most skeletons rest with the arms out: there 180 degrees of abduction are 90 upward,
and the ellipse goes through 135 of horizontal flexion, these 90, 45 of adduction in front of the body, and the 60 of
extension of an arm that hangs.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.errors import InvalidValue
from poise.model.frame import WORLD
from poise.model.joint import JointKind
from poise.model.swing import SwingTwist

if TYPE_CHECKING:
    from poise.model.model import Model


class Span(NamedTuple):
    """Degrees of a joint of the left side, or in the middle of the body."""

    forward: tuple[float, float]
    """Swing of the bone backward (less than 0) and forward; of a foot down and up."""
    inward: tuple[float, float]
    """Swing outward (less than 0) and inward; of an arm that is stretched out, up and down."""
    turn: tuple[float, float]
    """Twist about the bone outward (less than 0) and inward; of a foot the sole inward and outward."""


SPANS: Final[Mapping[str, Span]] = {
    "hip": Span((-30, 120), (-45, 30), (-45, 45)),
    "knee": Span((-150, 10), (-30, 30), (-40, 30)),
    "ankle": Span((-50, 45), (-25, 35), (-35, 15)),
    "toe": Span((-45, 70), (-20, 20), (-10, 10)),
    "spine": Span((-25, 80), (-35, 35), (-45, 45)),
    "neck": Span((-60, 50), (-45, 45), (-80, 80)),
    "collar": Span((-30, 30), (-45, 10), (-35, 10)),
    "shoulder": Span((-60, 180), (-180, 45), (-90, 70)),
    "elbow": Span((-10, 150), (-110, 45), (-80, 80)),
    "wrist": Span((-30, 20), (-70, 80), (-80, 80)),
}
"""By part.  Those of spine and neck are of all joints together."""
_ARMS_OUT: Final = Span((-83, 135), (-90, 135), (-90, 70))
"""Of a shoulder, the arm being stretched out at rest."""
_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "hip": ("upleg", "upperleg", "thigh", "femur", "hip"),
    "knee": ("lowerleg", "lowleg", "shin", "calf", "tibia", "knee", "leg"),
    "ankle": ("ankle", "foot"),
    "toe": ("toebase", "toes", "toe", "ball", "foot"),
    "spine": ("spine", "lowerback", "upperback", "abdomen", "torso", "chest", "upperchest", "waist", "thorax"),
    "neck": ("neck", "head"),
    "collar": ("clavicle", "collar", "collarbone", "thorax", "shoulder"),
    "shoulder": ("upperarm", "uparm", "shldr", "humerus", "arm", "shoulder"),
    "elbow": ("forearm", "lowerarm", "lowarm", "radius", "elbow"),
    "wrist": ("wrist", "hand"),
}
"""By part, what its joint is called, the surest name first: a shoulder is a collar where there is an upper arm too."""
_MIDDLE: Final = ("spine", "neck")
_SIDES: Final = {"left": "left", "l": "left", "lft": "left", "right": "right", "r": "right", "rgt": "right"}
_NEXT: Final = {
    "hip": "knee", "knee": "ankle", "ankle": "toe", "collar": "shoulder", "shoulder": "elbow", "elbow": "wrist",
}  # fmt: skip
_OTHER: Final = {"toe": "ankle", "collar": "shoulder"}
"""Parts with names that another part may have to itself."""
_WORD: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
_FILLER: Final = ("bip", "j", "jnt", "joint")
_ASTRAY: Final = math.cos(math.radians(60.0))
"""A bone that points farther away from where it does in a standing body is one of another pose."""
_SHORT: Final = 1e-6
"""A bone that is shorter has no direction [m]."""


def human_limits(model: "Model", q: ArrayLike | None = None, *, up: Literal["y", "z"] = "z") -> dict[str, SwingTwist]:
    """Limits of the spherical joints of a human skeleton, by name, as `Model.with_limits` takes them.

    Joints are known by names such as those of CMU, Mixamo, Biped, SMPL and LAFAN, left and right: hips, knees, ankles,
    toes, collars, shoulders, elbows, wrists, and those of the spine and the neck; fingers have none.  Angles count from
    `q` (nq,), `neutral` unless it is given, at which the body stands upright along the axis `up`, arms out or hanging,
    palms down or inward.  The ranges are of goniometry, see `poise.model.human`; what is returned may be edited.
    Raises ValueError where no joint is known by its name, or the body does not stand so.
    """
    start = model.neutral if q is None else model.normalize(model.check_q(q))
    balls = [joint.name for joint in model.joints if joint.kind is JointKind.SPHERICAL]
    known = tuple(parts_of(balls))
    if not known:
        raise InvalidValue(
            "no-such-part",
            f"no spherical joint of {model.name} is called as one of a human, such as LeftUpLeg, L_Hip or thigh_l",
        )
    body = _Body(model, start, known, np.eye(3)[2 if up == "z" else 1])
    return {name: body.limits(part, side, name) for part, side, name in known}


def parts_of(names: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """(part, side, name) of the names that are known: the surest of a limb on each side, all of spine and neck."""
    words = [(*_words(name), name) for name in names]
    for part, called in _NAMES.items():
        if part in _MIDDLE:
            yield from ((part, "", name) for side, word, name in words if not side and word in called)
            continue
        for side in ("left", "right"):
            of_side = {word: name for s, word, name in reversed(words) if s == side}
            found = _surest(part, of_side)
            if found is not None and found != _surest(_OTHER.get(part, ""), of_side):
                yield part, side, found


def _surest(part: str, names: Mapping[str, str]) -> str | None:
    return next((names[word] for word in _NAMES.get(part, ()) if word in names), None)


def _words(name: str) -> tuple[str, str]:
    """The side that a name tells of, and what is left of it in small letters, without numbers."""
    found = [word.lower() for word in _WORD.findall(re.split(r"[:|]", name)[-1])]
    side = next((_SIDES[word] for word in found if word in _SIDES), "")
    return side, "".join(word for word in found if word not in _SIDES and word not in _FILLER)


class _Body:
    """Where the bones of a skeleton point at a configuration."""

    def __init__(self, model: "Model", q: Array, known: Sequence[tuple[str, str, str]], up: Array) -> None:
        self._model, self._q, self._up = model, q, up
        self._names = {(part, side): name for part, side, name in known if side}
        self._middle = {part: [name for p, _, name in known if p == part] for part in _MIDDLE}
        pair = next((p for p in _NAMES if {(p, "left"), (p, "right")} <= self._names.keys()), None)
        if pair is None:
            raise InvalidValue(
                "no-such-part",
                f"{model.name} has no joint of a limb on either side, so its left and right are not known",
            )
        across = self._place(self._names[pair, "left"]) - self._place(self._names[pair, "right"])
        across = across - (across @ up) * up
        if not np.linalg.norm(across) > _SHORT:
            raise self._astray(self._names[pair, "left"], "it stands above that of the right side")
        self._left = across / np.linalg.norm(across)
        self._forward = np.cross(self._left, up)

    def limits(self, part: str, side: str, name: str) -> SwingTwist:
        """Those of a joint."""
        bone, span = self._bone(part, side, name), SPANS[part]
        # A turn about it leads forward, or the foot up.
        across = -self._left if part in ("ankle", "toe") else np.cross(bone, self._forward)
        if part == "shoulder" and bone @ self._outward(side) > -(bone @ self._up):
            raised = math.degrees(math.asin(max(-1.0, min(1.0, float(bone @ self._up)))))
            up, down = _ARMS_OUT.inward
            span = _ARMS_OUT._replace(inward=(up + raised, down + raised))
        share = min(1.0, 2.0 / len(self._middle[part])) if part in _MIDDLE else 1.0
        forward, inward, turn = ((math.radians(a) * share, math.radians(b) * share) for a, b in span)
        if side == "right":
            inward, turn = (-inward[1], -inward[0]), (-turn[1], -turn[0])
        joint = self._model.joint(name)
        frame = self._model.pose(joint.parent, self._q).rotation.matrix() @ joint.origin.rotation.matrix()
        return SwingTwist(
            axis=tuple(bone @ frame), swing=(forward, inward), twist=turn, across=tuple(across @ frame),
            rest=tuple(self._q[self._model.index(name)]),
        )  # fmt: skip

    def _place(self, name: str) -> Array:
        return self._model.pose(self._model.joint(name).child, self._q).xyz

    def _outward(self, side: str) -> Array:
        return self._left if side == "left" else -self._left

    def _bone(self, part: str, side: str, name: str) -> Array:
        """(3,) the unit direction of the bone that a joint carries, in the world."""
        usual = self._usual(part, side)
        end = self._end(part, side, name)
        way = np.zeros(3) if end is None else end - self._place(name)
        length = float(np.linalg.norm(way))
        if length < _SHORT and part == "wrist" and ("elbow", side) in self._names:
            return self._bone("elbow", side, self._names["elbow", side])
        bone: Array = usual[0] if length < _SHORT else way / length
        if max(bone @ direction for direction in usual) < _ASTRAY:
            raise self._astray(name, "its bone points elsewhere")
        return bone

    def _usual(self, part: str, side: str) -> tuple[Array, ...]:
        """Where the bone may point in a body that stands."""
        if part in _MIDDLE:
            return (self._up,)
        if part in ("hip", "knee"):
            return (-self._up,)
        if part in ("ankle", "toe"):
            return (self._forward, -self._up) if part == "ankle" else (self._forward,)
        return (self._outward(side), -self._up)

    def _end(self, part: str, side: str, name: str) -> Array | None:
        """(3,) where the bone ends: at the next part, or amid what the link carries; None where it carries nothing."""
        after = self._names.get((_NEXT.get(part, ""), side))
        if after is not None:
            return self._place(after)
        model, link = self._model, self._model.joint(name).child
        joints = [joint for joint in model.joints if joint.parent == link]
        trunk = {name for names in self._middle.values() for name in names} if part in _MIDDLE else set()
        along = [joint for joint in joints if joint.name in trunk]
        ends = [self._place(joint.name) for joint in along or joints]
        if not ends:
            own = [f for f in model.frames if f not in model.links and f != WORLD and model.frame(f).link == link]
            ends = [model.pose(frame, self._q).xyz for frame in own]
        return np.mean(ends, axis=0) if ends else None

    def _astray(self, name: str, why: str) -> InvalidValue:
        return InvalidValue(
            "not-supported",
            f"the joint {name!r} of {self._model.name} is not as in a body that stands upright, with its arms out or "
            f"hanging: {why}; give the q at which it does, such as a frame of a motion in that pose, or the axis that "
            "is up",
        )

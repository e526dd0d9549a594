"""How a robot's body compares with a skeleton's: lengths of bones, and how the frames of the same part lie in each.

A part stands where the axes of its joints meet, as near as they do.  A limb is scaled by the lengths of its bones, all
of them and both sides together, so that a straight limb stays straight and what is symmetric stays so.

To compare rotations each part is given axes of its own, whichever way its frame lies and its model rests: those of a
body that stands with hanging arms, x forward, y to the left, z up.  Along an upper arm or a thigh z is the bone and y
the axis of the elbow or knee, which is the joint's own in a robot and in a skeleton what its motion shows.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, final

import numpy as np

from poise.errors import ModelError
from poise.model.frame import WORLD
from poise.model.joint import Joint, JointKind
from poise.model.model import Model
from poise.motion.clip import Motion
from poise.retargeting.body import BodyMap
from poise.retargeting.matching import label_of
from poise.retargeting.parts import LIMBS, PARENTS, SIDES
from poise.retargeting.soles import sole
from poise.spatial import SE3, Array, matrix_quaternion
from poise.tables import aligned
from poise.tasks.base import Value, settle

_FRAMES: Final = 240
"""Frames of a motion that are looked at, at most, evenly over it."""
_LEAST: Final = 1e-4
"""Bones shorter than this share of the body's size have no length."""
_RATIO: Final = (0.1, 10.0)
"""Least and largest scale that is believed."""
_OFF: Final = 0.15
"""An axis further from where the others meet than this share of the bone belongs to the trunk, as a collar bone's."""
_UPRIGHT: Final = 0.8
"""Least cosine between the bones of the legs and the vertical of a rest that is taken for standing."""
_BENT: Final = 0.05
"""Least mean sine of the bend that shows about which axis a joint of a skeleton bends."""
_ALIKE: Final = 0.7
"""How much of the axes that the frames show must agree."""
_FEW: Final = 10
"""Frames that a motion needs for its lowest ones to tell anything."""
_AGREED: Final = 0.985
"""Median cosine between what those frames show and their mean, about 10 degrees, for them to be believed."""
_BACK: Final = 0.5
"""Least cosine between the axis about which a knee is seen to bend and the body's left, for it to be believed."""
_LOW: Final = 0.15
"""The share of the frames in which a foot is lowest, where it is taken to stand flat."""
_FREE: Final = 1e-5
"""The weight of what only decides where nothing else does."""
_TURNING: Final = (JointKind.REVOLUTE, JointKind.CONTINUOUS)
_TWIST: Final = 0.98
"""Least cosine between two bones that are one, with a joint in the middle that twists it."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Proportions(Value):
    """How the bodies of a skeleton and a robot compare, part by part of a map."""

    scales: Mapping[str, float]
    """By `leg`, `arm`, `trunk`, `hips` and `shoulders` (their widths), the robot's length as a share of the
    skeleton's; what one of them lacks is the mean of the others."""
    lengths: Mapping[str, tuple[float, float]]
    """By what was compared, such as `left_knee`, for the bone from there outwards: lengths in the skeleton and in the
    robot [m]."""
    standing: tuple[float, float] | None
    """Heights of the hips above the soles of a body on straight legs, in the skeleton and in the robot [m]; None where
    one has no legs."""
    ankles: tuple[float, float] | None
    """Heights of the ankles above the soles, of which `standing` is part."""
    source_points: Mapping[str, Array]
    """By part, where it stands (3,) in the joint of the skeleton [m]."""
    robot_points: Mapping[str, Array]
    """By part, where it stands (3,) in the frame of the robot [m]."""
    source_axes: Mapping[str, Array]
    """By part, (3, 3) its axes forward, left and up as columns, in the joint of the skeleton."""
    robot_axes: Mapping[str, Array]
    """By part, (3, 3) the same in the frame of the robot."""
    offsets: Mapping[str, Array]
    """By part, (4,) the unit quaternion w x y z such that the skeleton's rotation times it is the robot's in the same
    pose: R_robot = R_skeleton offset."""
    assumed: tuple[str, ...] = ()
    """What could not be measured, and was taken from elsewhere, in words."""

    def __post_init__(self) -> None:
        settle(self)

    @classmethod
    def of(cls, source: Motion | Model, robot: Model, body: BodyMap) -> "Proportions":
        """Measure the parts that both have: the skeleton over its motion, or at rest, and the robot at `neutral`.

        Raises FrameNotFound for a map that does not fit, ValueError for bones without length, and for a scale below
        0.1 or above 10.
        """
        body.check(source, robot)
        parts = body.parts
        human = _Body.of_skeleton(source, {part: body.source[part] for part in parts})
        machine = _Body.of_robot(robot, {part: body.robot[part] for part in parts})
        lengths = dict(_lengths(human, machine))
        assumed: list[str] = []
        scales = _scales(lengths, assumed)
        ankles, standing = _standing(human, machine, lengths)
        axes, other = human.axes(), machine.axes()
        offsets = {part: matrix_quaternion(axes[part] @ other[part].T) for part in parts}
        return cls(
            scales, lengths, standing, ankles, human.points, machine.points, axes, other, offsets, tuple(assumed)
        )

    def __str__(self) -> str:
        """Lengths and scales as a table."""
        both = dict(self.lengths) | ({} if self.standing is None else {"standing": self.standing})
        rows = [(name, f"{a:.3f}", f"{b:.3f}", f"{b / a:.3f}") for name, (a, b) in both.items()]
        rows += [(f"{name}, all", "", "", f"{scale:.3f}") for name, scale in self.scales.items()]
        head = ("from", "skeleton [m]", "robot [m]", "scale")
        return "\n".join([aligned(head, rows, numbers=head[1:]), *self.assumed])


def _lengths(human: "_Body", machine: "_Body") -> Iterator[tuple[str, tuple[float, float]]]:
    """What can be compared, by the part from which it reaches outwards, or by its own name."""
    least = [_LEAST * body.size for body in (human, machine)]
    for limb in LIMBS.values():
        for inner, outer in pairwise(limb):
            if inner in human.points and outer in human.points:
                both = human.length(inner, outer), machine.length(inner, outer)
                for length, body, short in zip(both, (human, machine), least, strict=True):
                    if not length > short:
                        raise ValueError(
                            f"{body.frames[inner]!r} and {body.frames[outer]!r} of {body.model.name} stand in one "
                            f"place, so the bone from {inner} to {outer} has no length; map one of them elsewhere"
                        )
                yield inner, both
    for name, part in (("hips", "hip"), ("shoulders", "shoulder")):
        pair = [f"{side}_{part}" for side in SIDES]
        if all(one in human.points for one in pair):
            a, b = human.length(*pair), machine.length(*pair)
            if a > least[0] and b > least[1]:
                yield name, (a, b)
    ends = [human.trunk(), machine.trunk()]
    if all(length is not None for length in ends):
        a, b = (float(length or 0.0) for length in ends)
        if a > least[0] and b > least[1]:
            yield "trunk", (a, b)


def _scales(lengths: Mapping[str, tuple[float, float]], assumed: list[str]) -> dict[str, float]:
    kinds = {"leg": ("hip", "knee"), "arm": ("shoulder", "elbow"), "trunk": (), "hips": (), "shoulders": ()}
    scales: dict[str, float] = {}
    for kind, parts in kinds.items():
        bones = [both for name, both in lengths.items() if name == kind or name.partition("_")[2] in parts]
        if not bones:
            continue
        a, b = (sum(both[i] for both in bones) for i in range(2))
        scales[kind] = b / a
        if not _RATIO[0] <= b / a <= _RATIO[1]:
            raise ValueError(
                f"the {kind} of the robot is {b / len(bones):.3g} m to {a / len(bones):.3g} m of the skeleton, a scale "
                f"of {b / a:.3g}; check the map, and the unit of the motion: load_motion(file, unit=...)"
            )
    known = list(scales.values())
    for kind in kinds:
        if kind not in scales:
            scales[kind] = float(np.mean(known)) if known else 1.0
            assumed.append(f"the {kind} cannot be compared, and its scale is " + ("the others' mean" if known else "1"))
    return {kind: scales[kind] for kind in kinds}


def _standing(
    human: "_Body", machine: "_Body", lengths: Mapping[str, tuple[float, float]]
) -> tuple[tuple[float, float] | None, tuple[float, float] | None]:
    """Heights of the ankles, and of the hips on straight legs."""
    sides = [side for side in SIDES if f"{side}_ankle" in human.points]
    whole = [side for side in sides if f"{side}_hip" in lengths and f"{side}_knee" in lengths]
    if not sides:
        return None, None
    low = tuple(float(np.mean([body.ankle(side) for side in sides])) for body in (human, machine))
    ankles = low[0], low[1]
    if not whole:
        return ankles, None
    legs = [
        ankles[i] + float(np.mean([lengths[f"{side}_hip"][i] + lengths[f"{side}_knee"][i] for side in whole]))
        for i in range(2)
    ]
    return ankles, (legs[0], legs[1])


@final
class _Body:
    """A model with its parts, at the configurations that are looked at."""

    def __init__(self, model: Model, frames: dict[str, str], q: Array, reference: Array, *, skeleton: bool) -> None:
        self.model, self.frames, self.skeleton = model, frames, skeleton
        self.size = float(np.ptp(model.poses(reference, model.links).xyz, axis=0).max()) if model.links else 0.0
        names = list(frames.values())
        at = {part: i for i, part in enumerate(frames)}
        still = model.poses(model.neutral, names)
        self.rest = {part: still[i] for part, i in at.items()}
        self.groups = {part: self._group(part) for part in frames}
        self.points = {part: self._point(part) for part in frames}
        several = model.poses(q, names)
        self.poses = {part: several[:, i] for part, i in at.items()}
        one = model.poses(reference, names)
        self.reference = {part: one[i] for part, i in at.items()}
        self.places = {part: self.poses[part].act(point) for part, point in self.points.items()}
        self.stood = {part: self.reference[part].act(point) for part, point in self.points.items()}
        self.upright = bool(np.array_equal(reference, model.neutral))
        self.body = self._body_axes()
        self.hinges: dict[str, Array] = {}
        for limb in LIMBS.values():
            if all(part in frames for part in limb):
                self.hinges |= self._shown(*limb) if skeleton else self._built(*limb)

    @classmethod
    def of_skeleton(cls, source: Motion | Model, frames: dict[str, str]) -> "_Body":
        if isinstance(source, Model):
            return cls(source, frames, source.neutral[None], source.neutral, skeleton=True)
        chosen = np.unique(np.linspace(0, len(source) - 1, min(len(source), _FRAMES)).round().astype(int))
        q = source.q[chosen]
        return cls(source.model, frames, q, _reference(source.model, frames, q), skeleton=True)

    @classmethod
    def of_robot(cls, model: Model, frames: dict[str, str]) -> "_Body":
        return cls(model, frames, model.neutral[None], model.neutral, skeleton=False)

    # Where parts stand -------------------------------------------------------------------------------------------

    def _group(self, part: str) -> list[Joint]:
        """The joints that move between a part and the next one towards the trunk."""
        link = self.model.frame(self.frames[part]).link
        path = [joint for joint in self.model.root_path(link) if joint.size]
        above = PARENTS[part]
        while above is not None and above not in self.frames:
            above = PARENTS[above]
        if above is None:
            return []
        before = {joint.name for joint in self.model.root_path(self.model.frame(self.frames[above]).link)}
        return [joint for joint in path if joint.name not in before]

    def _point(self, part: str) -> Array:
        """(3,) where a part stands, in its frame."""
        group, pose = self.groups[part], self.rest[part]
        name = part.partition("_")[2]
        if not group or not name or name == "toe":
            return np.zeros(3)
        beyond = next((p for p in self.frames if PARENTS[p] == part), None)
        outer = None if beyond is None else self.rest[beyond].xyz
        place = self._twisting(group, outer) if self.skeleton else self._meeting(group, outer)
        return pose.inverse().act(pose.xyz if place is None else place)

    def _twisting(self, group: list[Joint], outer: Array | None) -> Array | None:
        """(3,) where a bone begins that joints of the same name in its middle twist."""
        called = label_of(group[-1].name)
        same = [joint.child for joint in group if called and label_of(joint.name) == called] or [group[-1].child]
        places = self.model.poses(self.model.neutral, same).xyz
        first: Array = places[-1]
        for place in places[-2::-1]:
            if outer is None:
                break
            bone, more = outer - first, first - place
            lengths = float(np.linalg.norm(bone) * np.linalg.norm(more))
            if lengths <= 0.0 or bone @ more < _TWIST * lengths:
                break
            first = place
        return first

    def _meeting(self, group: list[Joint], outer: Array | None) -> Array | None:
        """(3,) the point nearest to the axes of joints that turn, of the last three."""
        turning = [j for j in group if j.kind in _TURNING][-3:]
        if not turning:
            return None
        poses = self.model.poses(self.model.neutral, [joint.child for joint in turning])
        axes = poses.rotation.act(np.array([joint.axis for joint in turning]))
        while True:
            place = _nearest(poses.xyz, axes)
            away = float(np.linalg.norm(np.cross(place - poses.xyz[0], axes[0])))
            bone = np.inf if outer is None else float(np.linalg.norm(outer - place))
            if len(axes) < 3 or away <= _OFF * bone:
                return place
            poses, axes = poses[1:], axes[1:]

    def length(self, a: str, b: str) -> float:
        """Median distance of two parts [m]; of a limb whose middle joint is a hinge, square to its axis."""
        ways = self.places[b] - self.places[a]
        if PARENTS[b] == a and a in self.hinges:
            ways = _square(ways, self.poses[a].rotation.act(self.hinges[a]))
        return float(np.median(np.linalg.norm(ways, axis=-1)))

    def trunk(self) -> float | None:
        """From between the hips, or from the pelvis, to between the shoulders, or to the chest [m]."""
        ends = [self._middle("hip", "pelvis"), self._middle("shoulder", "chest")]
        if ends[0] is None or ends[1] is None:
            return None
        return float(np.median(np.linalg.norm(ends[1] - ends[0], axis=-1)))

    def _middle(self, name: str, other: str) -> Array | None:
        pair = [f"{side}_{name}" for side in SIDES]
        if all(part in self.places for part in pair):
            middle: Array = 0.5 * (self.places[pair[0]] + self.places[pair[1]])
            return middle
        return self.places.get(other)

    def ankle(self, side: str) -> float:
        """How high an ankle is above the sole when it stands [m]."""
        part = f"{side}_ankle"
        up = self.body[:, 2]
        if not self.skeleton:
            try:
                points = sole(self.model, self.frames[part], up=tuple(up))
            except (ValueError, ModelError, ImportError):
                return 0.0
            below = self.reference[part].act(points)
            return float(max(0.0, ((self.stood[part] - below) @ up).max()))
        link = self.model.frame(self.frames[part]).link
        foot = [name for name in self.model.frames if _beneath(self.model, name, link)]
        flat = self._flat(part)
        places = [self.model.pose(name, self.model.neutral).xyz for name in foot]
        seen = [self.rest[part].inverse().act(place) for place in places] or [np.zeros(3)]
        height = (self.points[part] - np.array(seen)) @ flat
        return float(max(0.0, height.max()))

    # Axes --------------------------------------------------------------------------------------------------------

    def _body_axes(self) -> Array:
        """(3, 3) forward, left and up of the body at the reference, as columns, in the world."""
        up = np.array([0.0, 0.0, 1.0])
        tops = [self.stood[p] for p in ("left_hip", "right_hip") if p in self.stood]
        feet = [self.stood[p] for p in ("left_ankle", "right_ankle") if p in self.stood]
        if tops and feet:
            way = np.mean(tops, axis=0) - np.mean(feet, axis=0)
            way = way / max(float(np.linalg.norm(way)), 1e-12)
            if way[2] < 0.5:
                # A model whose own axes lie otherwise: the nearest of them is up, if one is near.
                i = int(np.argmax(np.abs(way)))
                up = np.sign(way[i]) * np.eye(3)[i] if abs(way[i]) > _UPRIGHT else way
        left = np.zeros(3)
        for name in ("hip", "shoulder"):
            if f"left_{name}" in self.stood and f"right_{name}" in self.stood:
                across = self.stood[f"left_{name}"] - self.stood[f"right_{name}"]
                across = across - up * (across @ up)
                if np.linalg.norm(across) > _LEAST * self.size:
                    left = left + across / np.linalg.norm(across)
        if np.linalg.norm(left) < 1e-6:
            left = np.array([0.0, 1.0, 0.0])
        return _axes(up, left)

    def axes(self) -> dict[str, Array]:
        """By part, (3, 3) its axes forward, left and up as columns, in its frame."""
        out = {part: _seen(self.reference[part], self.body) for part in self.frames}
        for part, name in (("pelvis", "hip"), ("chest", "shoulder")):
            pair = [f"{side}_{name}" for side in SIDES]
            if part in self.frames and all(one in self.stood for one in pair):
                across = self.stood[pair[0]] - self.stood[pair[1]]
                if np.linalg.norm(np.cross(across, self.body[:, 2])) > _LEAST * self.size:
                    out[part] = _seen(self.reference[part], _axes(self.body[:, 2], across))
        for inner, middle, outer in LIMBS.values():
            if inner in self.frames and middle in self.frames and outer in self.frames:
                self._limb_axes(out, inner, middle, outer)
            if outer in self.frames:
                self._end_axes(out, middle, outer)
        return out

    def _limb_axes(self, out: dict[str, Array], inner: str, middle: str, outer: str) -> None:
        """Those of both bones of a limb: up against the bone, left the axis about which the middle joint bends."""
        arm = "shoulder" in inner
        for part, beyond in ((inner, middle), (middle, outer)):
            ways = self.poses[part].rotation.inverse().act(self.places[beyond] - self.places[part])
            bone = _unit(ways.mean(axis=0))
            hinge = self.hinges.get(part)
            if hinge is not None:
                bone = _unit(_square(bone, hinge))
            else:
                hinge = _seen(self.reference[part], self._level(part, beyond)[:, None])[:, 0]
            out[part] = _axes(-bone, -hinge if arm else hinge)

    def _level(self, part: str, beyond: str) -> Array:
        """(3,) about which axis of the world a joint would bend at the reference, if nothing else tells: level, and for
        an arm as if it was swung there from where it hangs."""
        if part.partition("_")[2] not in ("shoulder", "elbow"):
            return np.asarray(self.body[:, 1])
        bone = _unit(self.stood[beyond] - self.stood[part])
        return np.asarray(-_swing(-self.body[:, 2], bone) @ self.body[:, 1])

    def _shown(self, inner: str, middle: str, outer: str) -> dict[str, Array]:
        """(3,) by part the axis about which the middle joint of a skeleton bends, in its frame, if the motion shows it.

        Between the bones of a bent limb there is one; where it bends little, or now about this axis and now about that,
        there is none to be trusted.
        """
        first, second = self.places[middle] - self.places[inner], self.places[outer] - self.places[middle]
        long = np.linalg.norm(first, axis=-1) * np.linalg.norm(second, axis=-1)
        bends = np.cross(first, second) / np.maximum(long, 1e-12)[:, None]
        amount = float(np.linalg.norm(bends, axis=-1).mean())
        means = {part: self.poses[part].rotation.inverse().act(bends).mean(axis=0) for part in (inner, middle)}
        if amount <= _BENT or min(float(np.linalg.norm(mean)) for mean in means.values()) <= _ALIKE * amount:
            return {}
        shown = {part: _unit(mean) for part, mean in means.items()}
        if "hip" in inner and self.reference[inner].rotation.act(shown[inner]) @ self._level(inner, middle) < _BACK:
            return {}
        return shown

    def _built(self, inner: str, middle: str, outer: str) -> dict[str, Array]:
        """(3,) by part the axis of a robot's elbow or knee, in its frame, on the side to which it bends."""
        joints = [j for j in self.groups[middle] if j.kind in _TURNING and j.nq]
        if not joints:
            return {}
        bone = self.stood[middle] - self.stood[inner]
        poses = self.model.poses(self.model.neutral, [joint.child for joint in joints])
        axes = poses.rotation.act(np.array([joint.axis for joint in joints]))
        joint = joints[int(np.argmin(np.abs(axes @ bone)))]
        q = np.array(self.model.neutral)
        at = self.model.index(joint.name)
        if np.isfinite(self.model.lower[at]).all() and np.isfinite(self.model.upper[at]).all():
            q[at] = 0.5 * (self.model.lower[at] + self.model.upper[at])
        bent = self.model.poses(q, [*(self.frames[part] for part in (inner, middle, outer)), joint.child])
        places = [bent[k].act(self.points[part]) for k, part in enumerate((inner, middle, outer))]
        axis = bent[3].rotation.act(np.array(joint.axis))
        first, second = (_square(way, axis) for way in (places[1] - places[0], places[2] - places[1]))
        bend = float(np.cross(first, second) @ axis)
        if abs(bend) <= _BENT * float(np.linalg.norm(first) * np.linalg.norm(second)):
            axis = axis * (1.0 if axis @ self._level(inner, middle) >= 0.0 else -1.0)
        else:
            axis = axis * np.sign(bend)
        return {part: bent[k].rotation.inverse().act(axis) for k, part in enumerate((inner, middle))}

    def _end_axes(self, out: dict[str, Array], middle: str, outer: str) -> None:
        """Those of a foot, which stands flat and points where its toes do, and of a hand, straight before its arm."""
        side, _, name = outer.partition("_")
        if name == "wrist":
            if middle in self.frames:
                straight = _rotation(self.rest[outer]).T @ _rotation(self.rest[middle]) @ out[middle]
                out[outer] = straight
            return
        toe = f"{side}_toe"
        if self.skeleton:
            up = self._flat(outer)
            ahead = _seen(self.reference[outer], self.body)[:, 0]
            if toe in self.frames:
                ahead = self.rest[outer].inverse().act(self.rest[toe].xyz) - self.points[outer]
            left = np.cross(up, ahead)
            if np.linalg.norm(left) > 0.1 * np.linalg.norm(ahead):
                out[outer] = _axes(up, left)
        if toe in self.frames:
            out[toe] = _rotation(self.rest[toe]).T @ _rotation(self.rest[outer]) @ out[outer]

    def _flat(self, part: str) -> Array:
        """(3,) up in a foot of a skeleton that stands flat: as in the frames in which it is lowest, if they agree."""
        heights = self.places[part][:, 2]
        low = heights <= np.quantile(heights, _LOW)
        ups = self.poses[part].rotation.inverse().act(np.array([0.0, 0.0, 1.0]))[low]
        mean = np.median(ups, axis=0)
        mean = mean / max(float(np.linalg.norm(mean)), 1e-12)
        if len(heights) >= _FEW and float(np.median(ups @ mean)) > _AGREED:
            return np.asarray(mean)
        knee = part.replace("ankle", "knee")
        up = self.body[:, 2]
        if self.upright and knee in self.stood:  # at rest a foot is square to its leg, however legs are spread
            up = _swing(up, _unit(self.stood[knee] - self.stood[part])) @ up
        return _seen(self.reference[part], up[:, None])[:, 0]


def _reference(model: Model, frames: Mapping[str, str], q: Array) -> Array:
    """(nq,) the rest of a skeleton, if it stands there, or else that of `q` (n, nq) in which it stands straightest."""
    chains = [limb for name, limb in LIMBS.items() if name.endswith("leg") and all(part in frames for part in limb)]
    if not chains:
        return np.array(model.neutral)
    both = np.concatenate([model.neutral[None], q])
    scores = []
    for limb in chains:
        places = model.poses(both, [frames[part] for part in limb]).xyz
        for a, b in ((0, 1), (1, 2)):
            way = places[:, a] - places[:, b]
            scores.append(way[:, 2] / np.maximum(np.linalg.norm(way, axis=-1), 1e-12))
    upright = np.min(scores, axis=0)
    best = 0 if upright[0] > _UPRIGHT else int(np.argmax(upright))
    return np.array(both[best])


def _nearest(places: Array, axes: Array) -> Array:
    """(3,) the point nearest to lines through `places` (n, 3) along `axes` (n, 3), and near the last place where that
    leaves it free."""
    away = np.eye(3) - axes[:, :, None] * axes[:, None, :]
    matrix = away.sum(axis=0) + _FREE * np.eye(3)
    right = np.einsum("nij,nj->i", away, places) + _FREE * places[-1]
    return np.asarray(np.linalg.solve(matrix, right))


def _axes(up: Array, left: Array) -> Array:
    """(3, 3) forward, left and up as columns: up as it is, left as near as can be."""
    z = up / np.linalg.norm(up)
    y = left - z * (left @ z)
    y = y / np.linalg.norm(y)
    return np.column_stack([np.cross(y, z), y, z])


def _rotation(pose: SE3) -> Array:
    return np.asarray(pose.rotation.matrix())


def _seen(pose: SE3, columns: Array) -> Array:
    """(3, n) directions as columns, seen from a pose."""
    return np.asarray(_rotation(pose).T @ columns)


def _unit(way: Array) -> Array:
    return np.asarray(way / np.linalg.norm(way))


def _square(ways: Array, axis: Array) -> Array:
    """(..., 3) what of `ways` is square to unit axes (..., 3)."""
    return np.asarray(ways - axis * np.sum(ways * axis, axis=-1, keepdims=True))


def _swing(a: Array, b: Array) -> Array:
    """(3, 3) the least turn that takes the direction a to b."""
    axis = np.cross(a, b)
    cosine = float(a @ b)
    if cosine < -1.0 + 1e-9:
        return -np.eye(3)
    cross = np.array([[0.0, -axis[2], axis[1]], [axis[2], 0.0, -axis[0]], [-axis[1], axis[0], 0.0]])
    return np.asarray(np.eye(3) + cross + cross @ cross / (1.0 + cosine))


def _beneath(model: Model, name: str, link: str) -> bool:
    """Whether a frame is on a link, or is carried by it."""
    own = model.frame(name).link
    return own == link or (own != WORLD and any(joint.parent == link for joint in model.root_path(own)))

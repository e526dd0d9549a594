"""The parts of a body in one model: where they stand in their frames, and axes of their own.

A part of a robot stands where the axes of its joints meet, as near as they do; a part of a skeleton in its joint.

Each part has axes that are the same in every body, whichever way its frame lies and its model rests: those of a body
that stands with hanging arms, x forward, y to the left, z up.  Along an upper arm or a thigh z is against the bone, and
y the axis of the elbow or knee: the joint's own in a robot, and in a skeleton what the motion shows, as the bones of a
bent limb lie in a plane.  A foot has them where it stands flat, a hand as its arm has them when the wrist is straight.

What stands where is seen in the frames of reference: the rest, if legs stand in it; else, for a rest may be anything,
the frames of the motion in which they are straightest.
"""

from collections.abc import Mapping
from functools import partial
from typing import Final, Self, final

import numpy as np
import numpy.typing as npt

from poise import SE3, Joint, JointKind, MissingExtra, Model, ModelError, Motion
from poise.extending import Array, cached, cached_property
from poise.quaternions import quaternion_matrix, unit_vectors
from poise_motion.anatomy.foot_geometry import links_from, sole
from poise_motion.anatomy.median import median
from poise_motion.anatomy.naming import label_of
from poise_motion.anatomy.parts import LIMBS, PARENTS, SIDES, TOES

NEAR: Final = 1e-4
"""What is shorter than this share of a body's size has no length."""
_FRAMES: Final = 240
"""Frames of a motion that are looked at, at most, evenly over it."""
_OFF: Final = 0.15
"""An axis further from where the others meet than this share of the bone belongs to the trunk, as a collar bone's."""
_FREE: Final = 1e-5
"""The weight of what only decides where nothing else does."""
_TURNING: Final = (JointKind.REVOLUTE, JointKind.CONTINUOUS)
_TWIST: Final = 0.98
"""Least cosine between two bones that are one, with a joint in the middle that twists it."""
_UPRIGHT: Final = 0.8
"""Least cosine between the bones of the legs and the vertical of a rest that is taken for standing."""
_BEST: Final = 0.05
"""The share of the frames that are of reference where the rest is not."""
_BENT: Final = 0.05
"""Least mean sine of a bend that shows about which axis a joint of a skeleton bends."""
_ALIKE: Final = 0.7
"""How much of the axes that the frames show must agree."""
_BACK: Final = 0.5
"""Least cosine between the axis about which a knee is seen to bend and the body's left, for it to be believed."""
_LOW: Final = 0.15
"""The share of the frames in which a foot is lowest, where it is taken to stand flat."""
_FEW: Final = 10
"""Frames that a motion needs for its lowest ones to tell anything."""
_AGREED: Final = 0.985
"""Median cosine between what those frames show and their mean, about 10 degrees, for them to be believed."""
_STRANGE: Final = 2.0
"""Least trace of the turn between a wrist at rest and on average, 60 degrees, for the rest to be a straight one."""
_SPREAD: Final = 0.98
"""Least cosine between a leg at rest and the vertical, about 11 degrees, for its foot to be flat."""
_TRUNKS: Final = (("head", "chest", "pelvis"), ("head", "pelvis"), ("chest", "pelvis"), ("head", "chest"))
"""What stands above what in a trunk, whichever is there."""
_Z: Final = np.array([0.0, 0.0, 1.0])


@final
class BodyFrames:
    """A model with the frames of its parts, at the configurations that are looked at."""

    def __init__(self, model: Model, frames: Mapping[str, str], q: Array, reference: Array, *, skeleton: bool) -> None:
        """For `of_skeleton` and `of_robot`; `q` (n, nq) and `reference` (k, nq)."""
        self.model, self.frames, self.skeleton = model, dict(frames), skeleton
        self.size = float(np.ptp(model.poses(reference[0], model.links).xyz, axis=0).max()) if model.links else 0.0
        names = list(self.frames.values())
        still, several, chosen = (model.poses(rows, names) for rows in (model.neutral, q, reference))
        at = {part: i for i, part in enumerate(self.frames)}
        self.rest = {part: still[i] for part, i in at.items()}
        self.poses = {part: several[:, i] for part, i in at.items()}
        """By part, (n,) its frame at `q`."""
        self.reference = {part: chosen[:, i] for part, i in at.items()}
        """By part, (k,) its frame in the frames of reference."""
        self.groups = {part: self._group(part) for part in self.frames}
        self.points = {part: self._point(part) for part in self.frames}
        """By part, (3,) where it stands in its frame [m]."""
        own = np.array([*self.points.values()]).reshape(-1, 3)
        there, stood = several.act(own), chosen.act(own)
        self.places = {part: there[:, i] for part, i in at.items()}
        """By part, (n, 3) where it stands in the world."""
        self.stood = {part: stood[:, i] for part, i in at.items()}
        """By part, (k, 3) where it stands in the frames of reference."""
        self.q, self.rests = q, bool(np.array_equal(reference, model.neutral[None]))
        self.body = self._body_axes()
        """(k, 3, 3) forward, left and up of the whole body in the world, as columns."""
        self.hinges: dict[str, Array] = {}
        """By part of a limb, (3,) the axis about which its middle joint bends, seen from the part's frame."""
        for limb in LIMBS.values():
            if all(part in self.frames for part in limb):
                self.hinges |= self._shown(*limb) if skeleton else self._built(*limb)
                if not skeleton:
                    self._slide(*limb)

    @classmethod
    def of_skeleton(
        cls, source: Motion | Model, frames: Mapping[str, str], others: Mapping[str, str] | None = None
    ) -> Self:
        """A skeleton, over its motion or at rest; `others` are parts that tell how it stands and are not looked at."""
        if isinstance(source, Model):
            return cls(source, frames, source.neutral[None], source.neutral[None], skeleton=True)
        chosen = np.unique(np.linspace(0, len(source) - 1, min(len(source), _FRAMES)).round().astype(int))
        q = source.q[chosen]
        return cls(source.model, frames, q, _reference(source.model, others or frames, q), skeleton=True)

    @classmethod
    def of_robot(cls, model: Model, frames: Mapping[str, str]) -> Self:
        """A robot at `neutral`."""
        return cls(model, frames, model.neutral[None], model.neutral[None], skeleton=False)

    # Where parts stand -------------------------------------------------------------------------------------------

    def _group(self, part: str) -> list[Joint]:
        """The joints that move between a part and the next one towards the trunk."""
        above = PARENTS[part]
        while above is not None and above not in self.frames:
            above = PARENTS[above]
        if above is None:
            return []
        before = {joint.name for joint in self._path(above)}
        return [joint for joint in self._path(part) if joint.size and joint.name not in before]

    def _path(self, part: str) -> tuple[Joint, ...]:
        return self.model.root_path(self.model.frame(self.frames[part]).link)

    def _point(self, part: str) -> Array:
        group, pose, name = self.groups[part], self.rest[part], part.partition("_")[2]
        if not group or not name or name == "toe":
            return np.zeros(3)
        beyond = next((other for other in self.frames if PARENTS[other] == part), None)
        outer = None if beyond is None else self.rest[beyond].xyz
        place = self._twisting(group, outer) if self.skeleton else self._meeting(group, outer)
        return pose.inverse().act(pose.xyz if place is None else place)

    def _twisting(self, group: list[Joint], outer: Array | None) -> Array | None:
        """(3,) where a bone begins that joints of the same name in its middle twist."""
        called = label_of(group[-1].name)
        same = [joint.child for joint in group if called and label_of(joint.name) == called]
        if len(same) < 2 or outer is None or group[-1].child != same[-1]:
            return None
        places = self.model.poses(self.model.neutral, same).xyz
        first = places[-1]
        for place in places[-2::-1]:
            bone, more = outer - first, first - place
            lengths = float(np.linalg.norm(bone) * np.linalg.norm(more))
            if lengths <= 0.0 or bone @ more < _TWIST * lengths:
                break
            first = place
        return np.asarray(first)

    def _meeting(self, group: list[Joint], outer: Array | None) -> Array | None:
        """(3,) the point nearest to the axes of joints that turn, of the last three."""
        turning = [joint for joint in group if joint.kind in _TURNING][-3:]
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

    def _slide(self, inner: str, middle: str, outer: str) -> None:
        """Where a robot's limb steps aside along the axis of its elbow or knee, its parts stand where its end does."""
        for part in (inner, middle):
            if part in self.hinges:
                aside = self.rest[part].inverse().act(self.rest[outer].act(self.points[outer])) - self.points[part]
                self.points[part] = self.points[part] + self.hinges[part] * float(aside @ self.hinges[part])
                self.places[part] = self.poses[part].act(self.points[part])
                self.stood[part] = self.reference[part].act(self.points[part])

    # Lengths -----------------------------------------------------------------------------------------------------

    def length(self, a: str, b: str) -> float:
        """Median distance of two parts [m]."""
        return median(np.linalg.norm(self.places[b] - self.places[a], axis=-1))

    def trunk(self) -> float | None:
        """From between the hips to between the shoulders [m]; None without them."""
        ends = [[self.places.get(f"{side}_{name}") for side in SIDES] for name in ("hip", "shoulder")]
        low, high = (None if a is None or b is None else 0.5 * (a + b) for a, b in ends)
        return None if low is None or high is None else median(np.linalg.norm(high - low, axis=-1))

    @cached_property
    def ankles(self) -> list[float | None]:
        """How high each ankle that is there is above the sole when it stands [m]; None where nothing tells."""
        return [self._ankle(f"{side}_ankle") for side in SIDES if f"{side}_ankle" in self.frames]

    def _ankle(self, part: str) -> float | None:
        link = self.model.frame(self.frames[part]).link
        if not self.skeleton:
            up = self.body[0, :, 2]
            try:
                low = sole(self.model, self.frames[part], up=(float(up[0]), float(up[1]), float(up[2])))
            except (MissingExtra, ModelError, ValueError):  # meshes that cannot be read, or a foot that cannot move
                low = self._foot(part, link, self.model.neutral[None])[0]
            return max(0.0, float(((self.stood[part][0] - self.reference[part][0].act(low)) @ up).max()))
        rows = self._lowest.get(part)
        if rows is None:
            foot = self._foot(part, link, self.model.neutral[None])[0]
            height = (self.points[part] - foot) @ self._flat(part)
        else:
            foot = self.poses[part][rows][:, None].act(self._foot(part, link, self.q[rows]))
            height = np.median((self.places[part][rows][:, None] - foot)[..., 2], axis=0)
        return float(height.max()) if height.max() > NEAR * self.size else None

    def _foot(self, part: str, link: str, q: Array) -> Array:
        """(n, k, 3) the frames of a foot, seen from a part, at configurations (n, nq) [m]."""
        names = cached(self.model, (_beneath, link), partial(_beneath, self.model, link))
        home = self.model.poses(q, [self.frames[part]]).inverse()
        return home.act(self.model.poses(q, names).xyz)

    # Axes --------------------------------------------------------------------------------------------------------

    def _body_axes(self) -> Array:
        up = np.broadcast_to(_Z, (len(next(iter(self.reference.values())).xyz), 3)) if self.reference else _Z[None]
        tops, feet = (
            [self.stood[f"{side}_{name}"] for side in SIDES if f"{side}_{name}" in self.stood]
            for name in ("hip", "ankle")
        )
        if tops and feet:
            way = unit_vectors(np.mean([*tops], axis=0)[0] - np.mean([*feet], axis=0)[0])
            if way[2] < _BACK and (self.rests or not self.skeleton):
                # A model whose own axes lie otherwise: the nearest of them is up, if one is near.
                i = int(np.argmax(np.abs(way)))
                up = np.broadcast_to(np.sign(way[i]) * np.eye(3)[i] if abs(way[i]) > _UPRIGHT else way, up.shape)
        left = np.zeros_like(up)
        for name in ("hip", "shoulder"):
            if f"left_{name}" in self.stood and f"right_{name}" in self.stood:
                across = _square(self.stood[f"left_{name}"] - self.stood[f"right_{name}"], up)
                length = np.linalg.norm(across, axis=-1, keepdims=True)
                left = left + across / np.maximum(length, NEAR * self.size)
        vague = np.linalg.norm(left, axis=-1, keepdims=True) < _BACK
        return axes_of(up, np.where(vague, np.where(np.abs(up[..., 1:2]) > _UPRIGHT, _Z, (0.0, 1.0, 0.0)), left))

    @cached_property
    def axes(self) -> dict[str, Array]:
        """By part, (3, 3) forward, left and up as columns, seen from its frame."""
        turns = np.array([self.reference[part].wxyz for part in self.frames])
        seen = _mean_axes(turns, self.body)
        out = dict(zip(self.frames, seen, strict=True))
        for part, name in (("pelvis", "hip"), ("chest", "shoulder")):
            pair = [f"{side}_{name}" for side in SIDES]
            if part in self.frames and all(one in self.stood for one in pair):
                across = _square(self.stood[pair[0]] - self.stood[pair[1]], self.body[:, :, 2])
                if np.linalg.norm(across, axis=-1).min() > NEAR * self.size:
                    out[part] = self._seen(part, axes_of(self.body[:, :, 2], across))
        for inner, middle, outer in LIMBS.values():
            if inner in self.frames and middle in self.frames and outer in self.frames:
                out |= self._limb_axes(inner, middle, outer)
        for side in SIDES:
            ankle, toe, elbow, wrist = (f"{side}_{name}" for name in ("ankle", "toe", "elbow", "wrist"))
            if self.skeleton and ankle in self.frames:
                out[ankle] = self._foot_axes(ankle, toe)
            for inner, outer in ((ankle, toe), (elbow, wrist)):
                if inner in self.frames and outer in self.frames:
                    out[outer] = self._straight(inner, outer).T @ out[inner]
        return out

    def _seen(self, part: str, columns: Array) -> Array:
        """(3, 3) axes of the world (k, 3, 3) in the frames of reference, on average, as seen from a part."""
        return _mean_axes(self.reference[part].wxyz, columns)

    def _limb_axes(self, inner: str, middle: str, outer: str) -> dict[str, Array]:
        """Those of both bones of a limb."""
        out = {}
        for part, beyond in ((inner, middle), (middle, outer)):
            ways = self.poses[part].rotation.inverse().act(self.places[beyond] - self.places[part])
            bone, hinge = unit_vectors(ways.mean(axis=0)), self.hinges.get(part)
            if hinge is None:
                hinge = self._levelled(part, beyond)
            else:
                bone = unit_vectors(_square(bone, hinge))
            out[part] = axes_of(-bone, -hinge if _arm(part) else hinge)
        return out

    def _level(self, part: str, beyond: str) -> Array:
        """(k, 3) about which axis of the world a limb would bend in the frames of reference, if nothing else tells: the
        body's left, and for an arm as if it was swung there from where it hangs."""
        left = self.body[:, :, 1]
        if not _arm(part):
            return left
        bones = unit_vectors(self.stood[beyond] - self.stood[part])
        ups = self.body[:, :, 2]
        return np.stack([-_swing(-up, bone) @ y for up, bone, y in zip(ups, bones, left, strict=True)])

    def _levelled(self, part: str, beyond: str) -> Array:
        """(3,) the same on average, seen from a part."""
        return np.asarray(self.reference[part].rotation.inverse().act(self._level(part, beyond)).mean(axis=0))

    def _shown(self, inner: str, middle: str, outer: str) -> dict[str, Array]:
        """The hinge of a skeleton, if its motion shows one: where a limb bends little, or now about this axis and now
        about that, or a knee to the side, there is none to be trusted."""
        first, second = self.places[middle] - self.places[inner], self.places[outer] - self.places[middle]
        lengths = np.linalg.norm(first, axis=-1) * np.linalg.norm(second, axis=-1)
        bends = np.cross(first, second) / np.maximum(lengths, (NEAR * self.size) ** 2)[:, None]
        amount = float(np.linalg.norm(bends, axis=-1).mean())
        means = {part: self.poses[part].rotation.inverse().act(bends).mean(axis=0) for part in (inner, middle)}
        if amount <= _BENT or min(float(np.linalg.norm(mean)) for mean in means.values()) <= _ALIKE * amount:
            return {}
        shown = {part: unit_vectors(mean) for part, mean in means.items()}
        seen = self.reference[inner].rotation.act(shown[inner])
        left = float(np.sum(seen * self._level(inner, middle), axis=-1).mean())
        if _arm(inner):
            return shown
        return {part: axis * np.sign(left) for part, axis in shown.items()} if abs(left) >= _BACK else {}

    def _built(self, inner: str, middle: str, outer: str) -> dict[str, Array]:
        """The hinge of a robot: of a knee to the left, whichever way it bends, and of an elbow on the side to which it
        bends in the middle of its limits."""
        joints = [joint for joint in self.groups[middle] if joint.kind in _TURNING and joint.nq]
        if not joints:
            return {}
        bone = self.stood[middle][0] - self.stood[inner][0]
        poses = self.model.poses(self.model.neutral, [joint.child for joint in joints])
        axes = poses.rotation.act(np.array([joint.axis for joint in joints]))
        joint = joints[int(np.argmin(np.abs(axes @ bone)))]
        q = np.array(self.model.neutral)
        at = self.model.index(joint.name)
        if np.isfinite(self.model.lower[at]).all() and np.isfinite(self.model.upper[at]).all():
            q[at] = 0.5 * (self.model.lower[at] + self.model.upper[at])
        bent = self.model.poses(q, [*(self.frames[part] for part in (inner, middle, outer)), joint.child])
        a, b, c = (bent[k].act(self.points[part]) for k, part in enumerate((inner, middle, outer)))
        axis = bent[3].rotation.act(np.array(joint.axis))
        first, second = _square(b - a, axis), _square(c - b, axis)
        bend = float(np.cross(first, second) @ axis)
        if not _arm(inner) or abs(bend) <= _BENT * float(np.linalg.norm(first) * np.linalg.norm(second)):
            bend = float(bent[0].rotation.inverse().act(axis) @ self._levelled(inner, middle))
        axis = axis if bend >= 0.0 else -axis
        return {part: bent[k].rotation.inverse().act(axis) for k, part in enumerate((inner, middle))}

    def _straight(self, inner: str, outer: str) -> Array:
        """(3, 3) the turn of a hand or a toe against what carries it, when straight: at rest, if a motion comes near
        to that, else on average."""
        rest = _rotation(self.rest[inner]).T @ _rotation(self.rest[outer])
        turns = np.swapaxes(_rotation(self.poses[inner]), -1, -2) @ _rotation(self.poses[outer])
        u, _, v = np.linalg.svd(turns.mean(axis=0))
        mean = u @ np.diag([1.0, 1.0, np.linalg.det(u @ v)]) @ v
        believed = len(turns) < _FEW or float(np.trace(rest.T @ mean)) > _STRANGE
        return np.asarray(rest if believed else mean)

    def _foot_axes(self, ankle: str, toe: str) -> Array:
        """Those of a foot that stands flat, and points where its toes do."""
        up, ahead = self._flat(ankle), self._seen(ankle, self.body)[:, 0]
        if toe in self.frames:
            way = self.poses[ankle].inverse().act(self.poses[toe].xyz).mean(axis=0) - self.points[ankle]
            ahead = way if np.linalg.norm(np.cross(up, way)) > NEAR * self.size else ahead
        return axes_of(up, np.cross(up, ahead))

    def _flat(self, ankle: str) -> Array:
        """(3,) up in a foot that stands flat: as in the frames in which it is lowest, if they agree."""
        rows = self._lowest.get(ankle)
        if rows is not None:
            return unit_vectors(self.poses[ankle].rotation.inverse().act(_Z)[rows].mean(axis=0))
        ups, knee = self.body[:, :, 2], ankle.replace("ankle", "knee")
        if self.rests and knee in self.stood:
            shin = unit_vectors(self.stood[knee] - self.stood[ankle])
            if np.sum(shin * ups) < _SPREAD:  # legs are spread, and each foot is square to its own
                ups = shin
        return unit_vectors(self.reference[ankle].rotation.inverse().act(ups).mean(axis=0))

    @cached_property
    def _lowest(self) -> dict[str, npt.NDArray[np.intp]]:
        """By ankle, the frames in which a foot is lowest, if there are enough and it is turned alike in them."""
        found = {ankle: self._stands(ankle) for ankle in TOES if ankle in self.frames}
        return {ankle: rows for ankle, rows in found.items() if rows is not None}

    def _stands(self, ankle: str) -> npt.NDArray[np.intp] | None:
        heights, knee = self.places[ankle][:, 2], ankle.replace("ankle", "knee")
        if len(heights) < _FEW:
            return None
        rows = np.flatnonzero(heights <= np.quantile(heights, _LOW))
        if knee in self.places and _lies(self.places[knee][rows] - self.places[ankle][rows]):
            return None
        ups = self.poses[ankle].rotation.inverse().act(_Z)[rows]
        return rows if median(ups @ unit_vectors(np.median(ups, axis=0))) > _AGREED else None


def axes_of(up: Array, left: Array) -> Array:
    """(..., 3, 3) forward, left and up as columns: `up` (..., 3) as it is, `left` (..., 3) as near as can be."""
    z = unit_vectors(up)
    y = unit_vectors(_square(left, z))
    return np.stack([np.cross(y, z), y, z], axis=-1)


def _mean_axes(turns: Array, columns: Array) -> Array:
    """(..., 3, 3) axes of the world (k, 3, 3), on average, as seen from what has these turns (..., k, 4)."""
    mean = (np.swapaxes(quaternion_matrix(turns), -1, -2) @ columns).mean(axis=-3)
    return axes_of(mean[..., 2], mean[..., 1])


def _reference(model: Model, frames: Mapping[str, str], q: Array) -> Array:
    """(k, nq) the rest of a skeleton, if it stands there, or those of `q` (n, nq) in which it stands straightest.

    That its legs tell; of a skeleton without, its trunk.
    """
    legs: list[tuple[str, ...]] = [limb for name, limb in LIMBS.items() if name.endswith("leg")]
    chains = [limb for limb in legs if all(part in frames for part in limb)]
    if not chains:
        chains += [trunk for trunk in _TRUNKS if all(part in frames for part in trunk)][:1]
    if not chains:
        return np.array(model.neutral)[None]
    both = np.concatenate([model.neutral[None], q])
    cosines = []
    for limb in chains:
        places = model.poses(both, [frames[part] for part in limb]).xyz
        bones = places[:, :-1] - places[:, 1:]
        cosines.append(bones[..., 2] / np.maximum(np.linalg.norm(bones, axis=-1), 1e-12))
    upright = np.min(np.concatenate(cosines, axis=1), axis=1)
    if upright[0] > _UPRIGHT:
        return both[:1]
    best = np.argsort(-upright[1:], kind="stable")[: max(1, round(_BEST * len(q)))]
    return np.asarray(q[np.sort(best)])


def _nearest(places: Array, axes: Array) -> Array:
    """(3,) the point nearest to lines through `places` (n, 3) along `axes` (n, 3), and near the last place where that
    leaves it free."""
    away = np.eye(3) - axes[:, :, None] * axes[:, None, :]
    matrix = away.sum(axis=0) + _FREE * np.eye(3)
    right = np.einsum("nij,nj->i", away, places) + _FREE * places[-1]
    return np.asarray(np.linalg.solve(matrix, right))


def _lies(shins: Array) -> bool:
    """Whether most of them (n, 3) are about level, so that no foot beneath is flat."""
    return median(unit_vectors(shins)[:, 2]) < _BACK


def _arm(part: str) -> bool:
    return part.endswith(("shoulder", "elbow"))


def _rotation(pose: SE3) -> Array:
    return np.asarray(pose.rotation.matrix())


def _square(ways: Array, axis: Array) -> Array:
    """(..., 3) what of `ways` is square to unit axes (..., 3)."""
    return np.asarray(ways - axis * np.sum(ways * axis, axis=-1, keepdims=True))


def _swing(a: Array, b: Array) -> Array:
    """(3, 3) the least turn that takes the unit direction a to b."""
    axis, cosine = np.cross(a, b), float(a @ b)
    if cosine < -1.0 + 1e-9:  # any half turn will do
        other = unit_vectors(np.cross(a, np.eye(3)[int(np.argmin(np.abs(a)))]))
        return 2.0 * np.outer(other, other) - np.eye(3)
    cross = np.array([[0.0, -axis[2], axis[1]], [axis[2], 0.0, -axis[0]], [-axis[1], axis[0], 0.0]])
    return np.asarray(np.eye(3) + cross + cross @ cross / (1.0 + cosine))


def _beneath(model: Model, link: str) -> list[str]:
    """The frames that are on a link, or are carried by it."""
    carried = links_from(model, [link])
    return [name for name in model.frames if model.frame(name).link in carried]

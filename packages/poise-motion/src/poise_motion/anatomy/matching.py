"""Which joint is which part of a body, found from names, and from the structure where names fail.

A limb is a chain that leaves the trunk.  Its joints fall into three groups: those at the trunk, the middle one and
those at the end.  A part is the last joint of its group: its frame carries the whole bone that follows.

Where names do not tell the middle joint, it is the one that changes how far the ends of the limb are apart, as only an
elbow or a knee does; in a skeleton of balls it stands between the two longest bones.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, final

import numpy as np

from poise import Joint, JointKind, Model
from poise.extending import SENSOR, WORLD, Array, cached, finger_links, words_of
from poise_motion.anatomy.naming import groups_of, label_of, missing_part, side_of
from poise_motion.anatomy.parts import LIMBS, PARENTS, SIDES

_KIND: Final = (
    dict.fromkeys(("toe", "ankle", "foot", "knee", "hip", "leg"), "leg")
    | dict.fromkeys(("wrist", "elbow", "upperarm", "clavicle", "shoulder", "arm"), "arm")
    | dict.fromkeys(("head", "neck"), "head")
)
_ASIDE: Final = re.compile(r"wheel|caster|velodyne|stereo|eye|jaw|breast|pole|tongue|suspension|" + SENSOR.pattern)
_NEAR: Final = 1e-3
"""Joints nearer to each other than this share of the model's size stand in one place."""
_TWIG: Final = 0.15
"""What is shorter than this share of the longest way from the root is no limb, where names tell nothing."""
_RAISED: Final = 0.25
"""A limb that ends higher than the lowest by this share of the size is no leg, where names tell nothing."""
_SEED: Final = 0
_SAMPLES: Final = 32


@final
@dataclass(frozen=True, slots=True)
class Anatomy:
    """Where the parts of a body are in a model."""

    frames: Mapping[str, str]
    """By part, the frame that moves with the bone that follows it."""
    groups: Mapping[str, tuple[str, ...]]
    """By part, the joints at it, from the trunk outwards; none for an end that carries no joint."""
    missing: Mapping[str, str]
    """By part that was not found, why, in words."""
    four_legs: bool = False
    """Whether the arms are legs in front."""


@dataclass(slots=True)
class _Limb:
    """A chain that leaves the trunk."""

    trunk: list[str]
    """Links from the root to that which carries it."""
    joints: list[Joint]
    """Its joints that move, from the trunk outwards."""
    side: str = ""
    end: str = ""
    """Of one of four legs: `front` or `hind`."""
    kind: str = ""
    labels: list[str] = field(default_factory=list)
    """What each joint is called; empty: nothing known."""

    @property
    def tip(self) -> str:
        return self.joints[-1].child


def anatomy(model: Model) -> Anatomy:
    """The parts of a body in a skeleton or a robot, which keeps them; see the head of this file."""
    return cached(model, Anatomy, lambda: _Finder(model).anatomy())


def parts_of(model: Model) -> dict[str, str]:
    """By part of a body, the frame of a skeleton or a robot that moves with it; parts not found are left out."""
    return dict(anatomy(model).frames)


@final
class _Finder:
    """The search in one model."""

    def __init__(self, model: Model) -> None:
        self.model = model
        fingered = finger_links(model)
        self.palms = {
            joint.parent for joint in model.joints if joint.child in fingered and joint.parent not in fingered
        }
        for joint in model.joints:
            called = joint.size > 0 and any(
                _ASIDE.search("_".join(words_of(name))) for name in (joint.name, joint.child)
            )
            if joint.parent in fingered or called:
                fingered.add(joint.child)
        self.joints = [joint for joint in model.joints if joint.child not in fingered]
        self.balls = any(joint.kind is JointKind.SPHERICAL for joint in self.joints)
        poses = model.poses(model.neutral, model.links)
        self.place = dict(zip(model.links, poses.xyz, strict=True)) | {WORLD: np.zeros(3)}
        self.size = float(np.ptp(poses.xyz, axis=0).max()) if model.links else 0.0
        self.known = frozenset(tuple(words_of(name)) for joint in model.joints for name in (joint.name, joint.child))
        self.missing: dict[str, str] = {}

    # Limbs -------------------------------------------------------------------------------------------------------

    def limbs(self) -> list[_Limb]:
        """Every chain from the trunk to a last joint, with what its names tell."""
        moving = [joint for joint in self.joints if joint.size and not joint.mimic]
        carrying = {above.child for joint in moving for above in self.model.root_path(joint.parent)}
        found = [
            [above for above in self.model.root_path(joint.child) if above.size]
            for joint in moving
            if joint.child not in carrying
        ]
        return [limb for path in found if (limb := self._limb(path, found)) is not None]

    def _limb(self, path: list[Joint], paths: list[list[Joint]]) -> _Limb | None:
        sides = [side_of(joint, self.known) for joint in path]
        first = next((i for i, (side, _) in enumerate(sides) if side), None)
        if first is None:
            first = self._fork(path, paths)
        trunk = [joint.child for joint in path[:first]] or [path[0].parent if path[0].parent != WORLD else WORLD]
        limb = _Limb(trunk, path[first:])
        if not limb.joints or trunk[-1] in self.palms:
            return None  # a thumb
        limb.side, limb.end = sides[first]
        limb.labels = [label_of(joint.name) for joint in limb.joints]
        kinds = [_KIND[label] for label in self._called(limb.joints)]
        limb.kind = max(("arm", "leg", "head"), key=kinds.count) if kinds else ""
        return limb

    def _fork(self, path: list[Joint], paths: list[list[Joint]]) -> int:
        """Where a chain whose names tell no side leaves the others that are as long as limbs are."""
        first = int(path[0].kind in (JointKind.FLOATING, JointKind.PLANAR))
        for other in paths:
            if other is path:
                continue
            shared = sum(1 for a, b in zip(path, other, strict=False) if a is b)
            if self._called(other[shared:]):
                first = max(first, shared)
            beside = float(np.linalg.norm(self.place[other[-1].child] - self._start(other, shared)))
            if beside > _TWIG * self.size or len(other) - shared > 2:
                first = max(first, shared)
        return first

    @staticmethod
    def _called(joints: list[Joint]) -> list[str]:
        """What some joints are called, or else their links."""
        labels = [label_of(joint.name) for joint in joints]
        return [label for label in (labels if any(labels) else [label_of(joint.child) for joint in joints]) if label]

    def _start(self, path: list[Joint], i: int) -> Array:
        return self.place[path[min(i, len(path) - 1)].child]

    # Parts -------------------------------------------------------------------------------------------------------

    def anatomy(self) -> Anatomy:
        limbs = self.limbs()
        for limb in limbs:
            if not limb.kind:
                limb.kind = self._kind(limb, alone=len(limbs) == 1)
        lowest = min((self.place[limb.tip][2] for limb in limbs), default=0.0)
        for limb in limbs:  # arms that hang
            if limb.kind == "leg" and not any(limb.labels) and self.place[limb.tip][2] > lowest + _RAISED * self.size:
                limb.kind = "arm"
        self._take_spine(limbs)
        self._take_sides(limbs)
        legs, arms, four = self._chosen(limbs)
        frames: dict[str, str] = {}
        groups: dict[str, tuple[str, ...]] = {}
        for limb, names in [(limb, LIMBS[f"{side}_leg"]) for side, limb in legs.items()] + [
            (limb, LIMBS[f"{side}_arm"]) for side, limb in arms.items()
        ]:
            for part, joints, frame in self._split(limb, names):
                frames[part] = frame
                groups[part] = tuple(joint.name for joint in joints)
        self._trunk(frames, groups, list(legs.values()), list(arms.values()), limbs)
        frames = {part: frames[part] for part in PARENTS if part in frames}
        for part in PARENTS:
            if part not in frames and part not in self.missing:
                self.missing[part] = missing_part(part, legs, arms)
        return Anatomy(frames, groups, self.missing, four)

    def _kind(self, limb: _Limb, *, alone: bool) -> str:
        """Whether a limb that no name tells of is a leg: it reaches down from the root of a body."""
        way = self.place[limb.tip] - self.place[limb.joints[0].child]
        length = float(np.linalg.norm(way))
        if length < _TWIG * self.size and len(limb.joints) < 3:
            return "twig"
        fixed = not any(self.model.joint(j.name).kind is JointKind.FLOATING for j in self.model.root_path(limb.tip))
        return "leg" if not fixed and not alone and way[2] < -0.7 * length else "arm"

    def _take_spine(self, limbs: list[_Limb]) -> None:
        """The one limb that no name tells of, of a body with two legs and no arm, is its spine."""
        arms = [limb for limb in limbs if limb.kind == "arm"]
        legs = [limb for limb in limbs if limb.kind == "leg"]
        if len(legs) == 2 and len(arms) == 1 and not arms[0].side and not any(arms[0].labels):
            arms[0].kind = "spine"

    def _take_sides(self, limbs: list[_Limb]) -> None:
        """Sides, and front and hind, from where limbs stand, for those whose names do not tell."""
        near = _NEAR * self.size
        for kind in ("leg", "arm"):
            bare = [limb for limb in limbs if limb.kind == kind and not limb.side]
            if not bare or (kind == "arm" and len(bare) > 2):
                continue
            if len(bare) == 1:
                others = {other.side for other in limbs if other.kind == kind and other.side}
                bare[0].side = next((side for side in ("right", "left") if side not in others), "")
                continue
            ahead = self._ahead(limbs)
            left = np.array([-ahead[1], ahead[0], 0.0])
            starts = np.array([self.place[limb.joints[0].child] for limb in bare])
            tips = np.array([self.place[limb.tip] for limb in bare])
            across = np.where(np.abs(starts @ left) > near, starts @ left, tips @ left)
            along = starts @ ahead
            for limb, aside, x in zip(bare, across, along, strict=True):
                if abs(aside) > near:
                    limb.side = "left" if aside > 0.0 else "right"
                    if kind == "leg" and len(bare) == 4:
                        limb.end = "front" if x > along.mean() else "hind"

    def _ahead(self, limbs: list[_Limb]) -> Array:
        """(3,) where the toes of a skeleton point, level; a robot's x."""
        ways = []
        for limb in limbs:
            if self.balls and limb.kind == "leg" and len(limb.joints) > 2:
                end = self._frame_beyond(limb.tip)
                tip = self.place[limb.tip] if end is None else self.model.pose(end, self.model.neutral).xyz
                ways.append(tip - self.place[limb.joints[2].child])
        way = np.sum(ways, axis=0) * (1.0, 1.0, 0.0) if ways else np.zeros(3)
        length = float(np.linalg.norm(way))
        return np.asarray(way / length) if length > _NEAR * self.size else np.array([1.0, 0.0, 0.0])

    def _chosen(self, limbs: list[_Limb]) -> tuple[dict[str, _Limb], dict[str, _Limb], bool]:
        """The legs and the arms by side, and whether those are legs in front."""
        best: dict[tuple[str, str, str], _Limb] = {}
        for limb in limbs:
            key = (limb.kind, limb.side, limb.end)
            if (
                limb.side
                and limb.kind in ("leg", "arm")
                and (key not in best or self._rank(limb) > self._rank(best[key]))
            ):
                best[key] = limb
        legs = {key[1:]: limb for key, limb in best.items() if key[0] == "leg"}
        arms = {key[1]: limb for key, limb in best.items() if key[0] == "arm"}
        four = {end for _, end in legs} >= {"front", "hind"}
        if not four:
            return {side: limb for (side, _), limb in legs.items()}, arms, False
        front = {side: limb for (side, end), limb in legs.items() if end == "front"}
        hind = {side: limb for (side, end), limb in legs.items() if end == "hind"}
        if len(arms) == 2:
            for side in SIDES:
                for part in LIMBS[f"{side}_leg"]:
                    self.missing[part] = "it has four legs and two arms; say which legs are meant"
            return {}, arms, False
        return hind, front, True

    def _rank(self, limb: _Limb) -> tuple[int, float]:
        points = np.array([self.place[joint.child] for joint in limb.joints])
        return len({label for label in limb.labels if label}), float(
            np.linalg.norm(np.diff(points, axis=0), axis=1).sum()
        )

    def _split(self, limb: _Limb, names: Sequence[str]) -> Iterator[tuple[str, list[Joint], str]]:
        """The parts of a limb, each with its joints and its frame."""
        joints, places = limb.joints, self._places(limb)
        groups: list[list[Joint]] = [[j for j, at in zip(joints, places, strict=True) if at == i] for i in range(4)]
        if not self.balls and groups[1] and groups[2] and self._together(groups[1][-1], groups[2][-1]):
            groups[1:3] = [], groups[1] + groups[2]  # an arm that slides has no elbow
        for i, part in enumerate(names):
            if groups[i]:
                those = self._balls_at(groups[i], groups[i + 1] if i < 2 else []) if self.balls else groups[i]
                yield part, those, those[-1].child
                continue
            end = self._end(limb) if i == 2 and groups[1] else None
            if end is not None:
                yield part, [], end
            else:
                self.missing[part] = (
                    f"nothing was found beyond {joints[-1].name!r}" if i else "the limb has no joint there"
                )
        if "hip" in names[0] and groups[2]:
            ankle = self._balls_at(groups[2], []) if self.balls else groups[2]
            toes = groups[3] or groups[2][len(ankle) :]
            end = self._frame_beyond(ankle[-1].child) if self.balls else None
            if toes or end is not None:
                yield names[0].replace("hip", "toe"), toes, toes[0].child if toes else end or ""

    def _together(self, one: Joint, other: Joint) -> bool:
        return bool(np.linalg.norm(self.place[one.child] - self.place[other.child]) <= _NEAR * self.size)

    def _balls_at(self, joints: list[Joint], beyond: list[Joint]) -> list[Joint]:
        """The balls of a part: at the end of a limb those that stand where the first does, and before it those that do
        not stand where the next part is."""
        at = [self.place[joint.child] for joint in joints]
        near = _NEAR * self.size
        if beyond:
            those = self.place[beyond[0].child]
            far = [joint for joint, place in zip(joints, at, strict=True) if np.linalg.norm(place - those) > near]
            return far or joints
        return [joint for joint, place in zip(joints, at, strict=True) if np.linalg.norm(place - at[0]) <= near]

    def _places(self, limb: _Limb) -> list[int]:
        """Of each joint of a limb its group: 0 at the trunk, 1 the middle, 2 the end, 3 beyond it; -1 before it."""
        named = groups_of(limb.labels, limb.kind, self.balls)
        if 1 not in named and named.count(2) == 1 and named[-1] == 2 and self._end(limb):
            named[-1] = 1  # the ankle of a leg that ends there is its knee
        if 1 not in named:
            middle = self._between_bones(limb) if self.balls else self._middle(limb, named)
            if middle is None:
                return [2 if at == -2 else at for at in named]
            for i in range(len(named)):
                if named[i] == -2:
                    named[i] = (i > middle) + (i >= middle)
        if self.balls:
            self._gather(limb, named)
        out, last = [], -1 if -1 in named else 0
        for at in named:
            last = last if at == -2 else max(at, last)
            out.append(last)
        return out

    def _gather(self, limb: _Limb, named: list[int]) -> None:
        """A ball that stands where the trunk does is before the limb, as the first of two hips."""
        first = [i for i, at in enumerate(named) if at == 0]
        trunk = self.place[limb.trunk[-1]]
        for i in first[:-1]:
            if np.linalg.norm(self.place[limb.joints[i].child] - trunk) <= _NEAR * self.size:
                named[i] = -1

    def _middle(self, limb: _Limb, named: list[int]) -> int | None:
        """The joint that changes how far the ends of a limb are apart, on average over random postures."""
        joints = limb.joints
        free = [i for i, at in enumerate(named) if at == -2 or at == 0]
        free = [i for i in free if joints[i].kind is not JointKind.PRISMATIC]
        inner = [i for i in free if 0 < i < len(joints) - 1] if len(joints) > 2 else [i for i in free if i > 0]
        if not inner:
            return None
        poses = self.model.poses(self.model.sample(_SAMPLES, seed=_SEED), [joint.child for joint in joints])
        first = min(1, len(joints) - 2)
        tip = poses.xyz[:, -1] if len(joints) > 2 else poses.act(np.array([0.0, 0.0, 0.0]))[:, -1]
        end = self._end(limb)
        if end is not None:
            tip = self.model.pose(end, self.model.sample(_SAMPLES, seed=_SEED)).xyz
            if len(joints) > 5:
                tip = poses.xyz[:, -1]
        away = tip - poses.xyz[:, first]
        away = away / np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-9)
        moved = []
        for i in inner:
            joint = joints[i]
            axis = poses[:, i].rotation.act(np.array(joint.axis))
            speed = axis if joint.kind is JointKind.PRISMATIC else np.cross(axis, tip - poses.xyz[:, i])
            moved.append(float(np.abs(np.einsum("ij,ij->i", speed, away)).mean()) if i > first else 0.0)
        return inner[int(np.argmax(moved))] if max(moved) > 0.0 else inner[len(inner) // 2]

    def _between_bones(self, limb: _Limb) -> int | None:
        """The ball between the two longest bones that follow each other."""
        points = [self.place[joint.child] for joint in limb.joints]
        end = self._frame_beyond(limb.tip)
        if end is not None:
            points.append(self.model.pose(end, self.model.neutral).xyz)
        bones = np.linalg.norm(np.diff(points, axis=0), axis=1) if len(points) > 1 else np.zeros(0)
        long = [i for i in range(len(bones)) if bones[i] > _NEAR * self.size]
        if len(long) < 2:
            return None
        pairs = [(bones[a] + bones[b], b) for a, b in pairwise(long)]
        return max(pairs, key=lambda pair: pair[0])[1]

    def _end(self, limb: _Limb) -> str | None:
        """The frame at the end of a limb whose last joint is its middle one: what is called so, or the farthest."""
        link = limb.tip
        own = [name for name in self.model.frames if name != link and self._body(name) == self._body(link)]
        if not own:
            return None
        wanted = (
            {"foot", "toe", "sole", "ankle"} if limb.kind == "leg" else {"hand", "wrist", "palm", "ee", "tip", "tool"}
        )
        called = [name for name in own if wanted & set(words_of(name)) and not _ASIDE.search("_".join(words_of(name)))]
        at = self.model.poses(self.model.neutral, [link, *own]).xyz
        far = dict(zip(own, np.linalg.norm(at[1:] - at[0], axis=1), strict=True))
        best = max(called or own, key=lambda name: far[name])
        return best if far[best] > _NEAR * self.size else None

    def _frame_beyond(self, link: str) -> str | None:
        """The end of the bone of a skeleton that carries no joint."""
        own = [name for name in self.model.frames if name != link and self._body(name) == self._body(link)]
        return own[0] if own else None

    def _body(self, name: str) -> str:
        link = self.model.frame(name).link
        path = self.model.root_path(link)
        moving = [joint.child for joint in path if joint.size]
        return moving[-1] if moving else WORLD

    def _trunk(
        self,
        frames: dict[str, str],
        groups: dict[str, tuple[str, ...]],
        legs: list[_Limb],
        arms: list[_Limb],
        limbs: list[_Limb],
    ) -> None:
        """The pelvis, which carries the legs, the chest, which carries the arms, and the head."""
        root = next((link for link in self.model.links), WORLD)
        pelvis = _common([limb.trunk for limb in legs]) if legs else None
        chest = _common([limb.trunk for limb in arms]) if arms else None
        pelvis = root if pelvis == WORLD else pelvis
        chest = root if chest == WORLD else chest
        if pelvis is None and len(arms) == 2 and chest != root:
            pelvis = root
        taken = set(frames.values())
        if pelvis is not None and pelvis not in taken:
            frames["pelvis"] = pelvis
        if chest is not None and chest != pelvis and chest not in taken:
            frames["chest"] = chest
        spine = next((limb.tip for limb in limbs if limb.kind == "spine"), None)
        if spine is not None:
            frames["chest"] = spine
        elif chest is not None and chest == pelvis:
            self.missing["chest"] = f"the arms are carried by {chest!r}, which is the pelvis"
        heads = [limb for limb in limbs if limb.kind == "head"]
        named = [(limb, [i for i, label in enumerate(limb.labels) if label in ("head", "neck")]) for limb in heads]
        best = max(named, key=lambda pair: len(pair[1]), default=None)
        if best is not None:
            limb, at = best
            called = [i for i in at if limb.labels[i] == "head"]
            i = called[0] if called and self.balls else at[-1]
            frames["head"] = limb.joints[i].child
            groups["head"] = tuple(limb.joints[k].name for k in at if k <= i)


def _common(paths: Iterable[list[str]]) -> str:
    """The last link that all of some ways from the root pass."""
    ways = list(paths)
    shared = [links[0] for links in zip(*ways, strict=False) if len(set(links)) == 1]
    return shared[-1] if shared else WORLD

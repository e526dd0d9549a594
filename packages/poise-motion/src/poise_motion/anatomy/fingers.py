"""The fingers of a hand, in a skeleton or a robot: where each begins, where its joints are, and how the palm lies.

A finger begins at the first joint beneath the wrist that is called so.  Its points are where its joints stand, from the
knuckle outwards, and its tip.  A metacarpal, which begins near the wrist, is of the palm, but that of a thumb.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Self, final

import numpy as np

from poise import Joint, JointKind, MissingExtra, Model, ModelError
from poise.extending import SENSOR, Array, words_of
from poise_motion.anatomy.body_frames import axes_of
from poise_motion.anatomy.foot_geometry import around
from poise_motion.anatomy.naming import finger_called, fingers_counted
from poise_motion.anatomy.parts import FINGERS, SIDES

_NEAR: Final = 1e-3
"""Points that are nearer to each other stand in one place [m]."""
_BONES: Final = 3
"""Bones of a finger, at most."""
_LAST: Final = 0.8
"""How long a last bone is of which nothing is known, as a share of the one before."""
_AHEAD: Final = ("index", "middle", "ring")
"""A hand points to where the knuckles of these are, on average."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Finger:
    """A finger of a model."""

    links: tuple[str, ...]
    """The links that begin at its points, from the knuckle outwards."""
    tip: Array
    """(3,) its last point, seen from the last of them [m]."""
    joints: tuple[str, ...]
    """The joints that move it, one that turns a metacarpal among them."""

    @classmethod
    def of(cls, model: Model, part: str, first: str, wrist: str) -> Self | None:
        """The finger that is a `part` of a body and begins with the frame `first`, on the hand of the frame `wrist`;
        None where it has no bone that can be seen."""
        joints = _chain(model, model.frame(first).link)
        if not joints:
            return None
        rest = model.poses(model.neutral, [*(joint.child for joint in joints), wrist])
        bones = np.linalg.norm(np.diff(rest.xyz[:-1], axis=0), axis=1)
        at = [0, *(i + 1 for i in range(len(bones)) if bones[i] > _NEAR)]
        points = list(rest.xyz[at])
        tip = _tip(model, joints[-1].child)
        if tip is not None:
            points.append(rest[at[-1]].act(tip))
        elif len(points) > 1 and not (_skeleton(joints) and len(points) > _BONES):  # there the last joint is the tip
            points.append(points[-1] + _LAST * (points[-1] - points[-2]))
        near = len(points) > 2 and _length(points[0] - rest.xyz[-1]) < _length(points[1] - points[0])
        if near and not part.endswith("thumb"):
            at, points = at[1:], points[1:]
        bones_of = min(len(points) - 1, _BONES)
        if bones_of < 1:
            return None
        if _skeleton(joints):
            at, end = at[:bones_of], points[bones_of]
        else:
            at, end = [*at[: bones_of - 1], at[len(points) - 2]], points[-1]
        return cls(
            tuple(joints[i].child for i in at), rest[at[-1]].inverse().act(end), tuple(joint.name for joint in joints)
        )


def points_of(fingers: Mapping[str, Finger], model: Model, q: Array) -> dict[str, Array]:
    """By part, (..., points, 3) where the points of its finger are at `q` (..., nq) [m]."""
    links = [link for finger in fingers.values() for link in finger.links]
    poses, out, at = model.poses(q, links), dict[str, Array](), 0
    ends = poses.act(np.concatenate([np.broadcast_to(one.tip, (len(one.links), 3)) for one in fingers.values()]))
    for part, finger in fingers.items():
        stop = at + len(finger.links)
        out[part] = np.concatenate([poses.xyz[..., at:stop, :], ends[..., stop - 1 : stop, :]], axis=-2)
        at = stop
    return out


def fingers_of(model: Model, frames: Mapping[str, str]) -> dict[str, str]:
    """By part, such as `left_index`, the link with which it begins, in a model whose other parts have these frames."""
    out: dict[str, str] = {}
    for side in SIDES:
        if f"{side}_wrist" in frames:
            hand = model.frame(frames[f"{side}_wrist"]).link
            out |= {f"{side}_{name}": link for name, link in _called(model, hand).items()}
    return {part: out[part] for part in FINGERS if part in out}


def hands_of(model: Model, frames: Mapping[str, str]) -> dict[str, Finger]:
    """By part, the fingers of a model whose parts have these frames, as far as they have bones."""
    out = {}
    for part in FINGERS:
        wrist = f"{part.partition('_')[0]}_wrist"
        if part in frames and wrist in frames:
            made = Finger.of(model, part, frames[part], frames[wrist])
            if made is not None:
                out[part] = made
    return out


def on_hand(model: Model, first: str, wrist: str) -> bool:
    """Whether the body that a wrist is part of carries the frame with which a finger begins."""
    moving = [joint.child for joint in model.root_path(model.frame(wrist).link) if joint.size]
    return not moving or _carries(model, moving[-1], model.frame(first).link)


def carried(model: Model, frames: Iterable[str]) -> set[str]:
    """The joints that move what begins with these frames, but nothing before."""
    links = {model.frame(name).link for name in frames}
    return {joint.name for joint in model.joints if any(_carries(model, link, joint.child) for link in links)}


def palm(wrist: Array, knuckles: Mapping[str, Array]) -> Array | None:
    """(3, 3) forward, left and up as columns, of a hand that hangs with its palm to the body, fingers straight.

    `wrist` (3,) is where it begins, `knuckles` (3,) by finger, in their order, where these do.  None for a hand with a
    single one beside the thumb.
    """
    beside = {name: place for name, place in knuckles.items() if name != "thumb"}
    if len(beside) < 2:
        return None
    first, *_, last = beside.values()
    up = wrist - np.mean([place for name, place in beside.items() if name in _AHEAD], axis=0)
    return axes_of(up, np.cross(up, first - last))


def _called(model: Model, hand: str) -> dict[str, str]:
    """By finger, its first link beneath a hand."""
    beneath = [joint for joint in model.joints if joint.size and _carries(model, hand, joint.parent)]
    counted = fingers_counted([joint.name for joint in beneath])
    out: dict[str, str] = {}
    for joint in beneath:  # parents first
        name = counted.get(joint.name) or finger_called(joint.name) or finger_called(joint.child)
        if name:
            out.setdefault(name, joint.child)
    return out


def _carries(model: Model, link: str, other: str) -> bool:
    """Whether a link carries another, or is it."""
    return link == other or any(joint.child == link for joint in model.root_path(other))


def _chain(model: Model, first: str) -> list[Joint]:
    """The joints of the longest chain that begins with a link, but those that are fixed."""
    own = [joint for joint in model.joints if joint.size and _carries(model, first, joint.child)]
    paths = [[joint for joint in model.root_path(one.child) if joint in own] for one in own]
    return max(paths, key=len, default=[])


def _skeleton(joints: list[Joint]) -> bool:
    return any(joint.kind is JointKind.SPHERICAL for joint in joints)


def _tip(model: Model, last: str) -> Array | None:
    """(3,) the end of a last link [m]: of what is fixed to it the farthest frame, or else where its shapes end."""
    home = model.pose(last, model.neutral).inverse()
    fixed = [name for name in model.frames if name != last and _fixed_to(model, name, last)]
    fixed = [name for name in fixed if not SENSOR.search("_".join(words_of(name)))]
    if fixed:
        places = home.act(model.poses(model.neutral, fixed).xyz)
        far = places[int(np.argmax(np.linalg.norm(places, axis=1)))]
        if _length(far) > _NEAR:
            return np.asarray(far)
    try:
        corners = around(model, last)
    except (MissingExtra, ModelError):  # meshes that cannot be read
        return None
    if not len(corners):
        return None
    low, high = corners.min(axis=0), corners.max(axis=0)
    end, axis = 0.5 * (low + high), int(np.argmax(np.maximum(-low, high)))
    end[axis] = high[axis] if high[axis] > -low[axis] else low[axis]
    return np.asarray(end)


def _fixed_to(model: Model, name: str, link: str) -> bool:
    """Whether a frame is fixed to a link."""
    path = model.root_path(model.frame(name).link)
    moving = [joint.child for joint in path if joint.size]
    return bool(moving) and moving[-1] == link


def _length(way: Array) -> float:
    return float(np.linalg.norm(way))

"""Whether a body goes on four legs, and which joints of an animal's limbs are a robot's knees, elbows and paws."""

from collections.abc import Mapping
from typing import Final

import numpy as np

from poise import Model, Motion
from poise.extending import Array
from poise.quaternions import unit_vectors
from poise_motion.anatomy.parts import HIPS, LIMBS

_LOW: Final = 0.3
"""How much higher than its feet a body has its hands that goes on them too, at most, as a share of its arms."""
_BENT: Final = 0.05
"""Least mean sine of a bend that shows to which side a limb bends."""


def on_four(source: Motion | Model, frames: Mapping[str, str]) -> bool:
    """Whether a body whose parts have these frames goes on its hands as on its feet, in most of its frames."""
    if not all(part in frames for limb in LIMBS.values() for part in (limb[0], limb[2])):
        return False
    ends = places_of(source, [frames[limb[2]] for limb in LIMBS.values()])
    is_arm = np.array([name.endswith("arm") for name in LIMBS])
    above = ends[:, is_arm, 2].mean(axis=1) - ends[:, ~is_arm, 2].mean(axis=1)
    arms = [chain for name, chain in chains_of(source, frames).items() if name.endswith("arm")]
    return float(np.median(np.abs(above))) < _LOW * float(np.mean([length_of(source, chain) for chain in arms]))


def on_paws(source: Motion | Model, frames: Mapping[str, str], robot: Model, own: Mapping[str, str]) -> dict[str, str]:
    """The frames of an animal's parts, of which ankles and wrists are its paws, and each knee and elbow the joint that
    bends to the same side as the robot's, whose parts have the frames `own`."""
    out = dict(frames)
    for name, chain in chains_of(source, frames).items():
        inner, middle, outer = LIMBS[name]
        out[outer] = chain[-1]
        wanted = _bends(robot, own, [own[part] for part in (inner, middle, outer)])
        bends = [wanted * _bends(source, frames, [chain[0], joint, chain[-1]]) for joint in chain[1:-1]]
        if bends and (middle not in frames or (abs(wanted) > _BENT and max(bends) > _BENT * abs(wanted))):
            out[middle] = chain[1 + int(np.argmax(bends))]
    return {part: frame for part, frame in out.items() if not part.endswith("toe")}


def chains_of(source: Motion | Model, frames: Mapping[str, str]) -> dict[str, list[str]]:
    """By limb, the frames at its joints from the trunk to its end, the farthest from its ankle or wrist that hangs on
    it."""
    model = source.model if isinstance(source, Motion) else source
    out = {}
    for name, (inner, _, outer) in LIMBS.items():
        first, link = (model.frame(frames[part]).link for part in (inner, outer))
        beyond = [frame for frame in model.frames if _hangs(model, frame, link)]
        places = places_of(source, [frames[outer], *beyond])
        far = np.median(np.linalg.norm(places[:, 1:] - places[:, :1], axis=-1), axis=0)
        tip = beyond[int(np.argmax(far))] if far.max() > 0.0 else frames[outer]
        carried = [joint.child for joint in model.root_path(model.frame(tip).link)]
        links = carried[carried.index(first) + 1 :]
        out[name] = [frames[inner], *(link for link in links if link != tip), tip]
    return out


def _hangs(model: Model, frame: str, link: str) -> bool:
    """Whether a frame is on a link, or is carried by it."""
    own = model.frame(frame).link
    return own == link or any(joint.child == link for joint in model.root_path(own))


def length_of(source: Motion | Model, chain: list[str]) -> float:
    """From frame to frame along a chain [m]."""
    return float(np.median(np.linalg.norm(np.diff(places_of(source, chain), axis=1), axis=-1), axis=0).sum())


def _bends(source: Motion | Model, frames: Mapping[str, str], bones: list[str]) -> float:
    """The mean sine of the bend between two bones, given by three frames, about the left of the body; more than 0 where
    the middle one is in front."""
    sides = [frames[part] for part in HIPS]
    places = places_of(source, [*sides, *bones])
    left = unit_vectors(places[:, 0] - places[:, 1])
    first, second = unit_vectors(places[:, 3] - places[:, 2]), unit_vectors(places[:, 4] - places[:, 3])
    return float(np.mean(np.sum(np.cross(first, second) * left, axis=-1)))


def places_of(source: Motion | Model, names: list[str]) -> Array:
    """(frames, k, 3) where frames are: of a motion, or of a model at `home` [m]."""
    if isinstance(source, Motion):
        return source.positions(names)
    return source.poses(source.home[None], names).xyz

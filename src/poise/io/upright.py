"""Which axis of a file of animation is up, and a skeleton that stands along z.

A rest pose may lie in any direction, so the motion tells: up is where the head is, seen from the feet, in most frames.
A body that lies all the time is along another axis than the up of its file, and low over its ground; one that stands
along that axis has its feet on the ground there.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import numpy as np

from poise.common.array import Array
from poise.io.skeleton import SkeletonFile, Up
from poise.quaternions import quaternion_product, rotate, unit_vectors

Z_UP: Final = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
"""Turns what is y up a quarter about x, so that z is."""
_HEAD: Final = re.compile("head|skull|neck", re.IGNORECASE)
_FOOT: Final = re.compile("foot|feet|ankle|toe", re.IGNORECASE)
_FRAMES: Final = 240
"""Frames that are looked at, at most, evenly over the motion."""
_ALONG: Final = 0.8
"""Least cosine between the way from the feet to the head and the axis along which it is."""
_MOST, _FEW = 0.5, 0.05
"""Shares of the frames: of an axis that is up, at least; of the other, at most."""
_LOW, _FLAT = 0.1, 0.45
"""How far from the ground, at zero, the lowest joint of a body that lies may be, and how high its highest: shares of
its length from feet to head."""


def stood_up(skeleton: SkeletonFile, up: Up | None, *, by_format: bool) -> SkeletonFile:
    """A skeleton in the axes of its file, turned so that z is up, if y is; `up` says which is, or it is found.

    Of a format in which it is `by_format` that y is up, y it is unless `up` says otherwise, and what is found is said.
    """
    notes = list[str]()
    if up is None:
        up = _found(skeleton, notes, by_format=by_format)
    if up == "y":
        w, x, y, z = np.moveaxis(skeleton.turns, -1, 0)
        skeleton = replace(
            skeleton,
            joints=tuple(replace(joint, offset=Z_UP @ joint.offset) for joint in skeleton.joints),
            ends=tuple((name, joint, Z_UP @ place) for name, joint, place in skeleton.ends),
            places={i: place @ Z_UP.T for i, place in skeleton.places.items()},
            turns=np.stack([w, x, -z, y], axis=-1),
        )
    return replace(skeleton, up="z", notes=(*skeleton.notes, *notes))


def _found(skeleton: SkeletonFile, notes: list[str], *, by_format: bool) -> Up:
    """The axis that is up, and in `notes` what there is to say of it."""
    names = [*(joint.name for joint in skeleton.joints), *(name for name, _, _ in skeleton.ends)]
    heads, feet = ([i for i, name in enumerate(names) if word.search(name)] for word in (_HEAD, _FOOT))
    still = _places(skeleton, {}, np.broadcast_to([1.0, 0.0, 0.0, 0.0], (1, len(skeleton.joints), 4)))
    rest = unit_vectors(_way(still, heads, feet), np.zeros(3))[0]
    if not heads or not len(skeleton.times):
        x, y, z = np.ptp(still[0], axis=0)
        if not by_format and (rest[2] > _ALONG or z > max(3.0 * y, 0.5 * x)):
            notes.append("at rest it reaches along z, and no frame tells more; y is taken to be up, up='z' says z")
        return "y"
    some = np.unique(np.linspace(0, len(skeleton.times) - 1, _FRAMES).astype(int))
    places = _places(skeleton, {i: place[some] for i, place in skeleton.places.items()}, skeleton.turns[some])
    way = _way(places, heads, feet)
    _, y, z = (unit_vectors(way, np.zeros(3)) > _ALONG).mean(axis=0)
    if z <= y:
        return "y"
    seen = f"its head is over its feet along z in {100 * z:.0f} % of the frames, along y in {100 * y:.0f} %"
    length = float(np.median(np.linalg.norm(way, axis=1)))
    _, low, under = np.abs(np.median(places.min(axis=1), axis=0))  # from the ground, if y is up and if z is
    high = np.median(places[..., 1].max(axis=1))
    lies = rest[2] < _ALONG and low < _LOW * length and low <= under and high < _FLAT * length
    if by_format or z < _MOST or y > _FEW or lies:
        why = ", as the format has it" if by_format else ", for it seems to lie on the ground" if lies else ""
        notes.append(f"{seen}; y is taken to be up{why}, up='z' says z")
        return "y"
    notes.append(f"{seen}; z is taken to be up, up='y' says y")
    return "z"


def _way(places: Array, heads: list[int], feet: list[int]) -> Array:
    """(frames, 3) from the feet, or from the middle, to the head, of places (frames, n, 3); zeros without a head."""
    if not heads:
        return np.zeros((len(places), 3))
    # The root is no middle: a body may be far away from it.
    below = places[:, feet].mean(axis=1) if feet else np.median(places, axis=1)
    way: Array = places[:, heads].mean(axis=1) - below
    return way


def _places(skeleton: SkeletonFile, places: Mapping[int, Array], turns: Array) -> Array:
    """(frames, n, 3) where the joints and the ends of bones are, given places (frames, 3) and turns (frames, n, 4)."""
    world, out = list[Array](), list[Array]()
    for i, joint in enumerate(skeleton.joints):
        at = places.get(i, np.broadcast_to(joint.offset, (len(turns), 3)))
        if joint.parent < 0:
            world.append(turns[:, i])
            out.append(at)
        else:
            world.append(quaternion_product(world[joint.parent], turns[:, i]))
            out.append(out[joint.parent] + rotate(world[joint.parent], at))
    for _, i, place in skeleton.ends:
        out.append(out[i] + rotate(world[i], np.broadcast_to(place, (len(turns), 3))))
    return np.stack(out, axis=1)

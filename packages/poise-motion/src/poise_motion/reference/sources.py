"""A body that moves, as its skeleton has it: where its parts are, when they stand, what its hands touch."""

from collections.abc import Collection, Iterable, Mapping
from typing import Final

import numpy as np

from poise import Model, Motion
from poise.extending import Array
from poise.quaternions import quaternion_product, rotate
from poise_motion.anatomy.body import BodyMap
from poise_motion.anatomy.contact_schedule import Contacts
from poise_motion.anatomy.parts import TOES
from poise_motion.anatomy.proportions import Proportions
from poise_motion.contact.lying import off_feet, on_soles
from poise_motion.contact.surface import Surface, found_on
from poise_motion.contact.touches import pose_of, touches
from poise_motion.reference.bodies import Source

_HIPS: Final = 0.53
"""How high hips stand, as a share of a body's height (Winter 2009, fig. 4.1)."""
_HEIGHT: Final = 1.75
"""Of a body whose hips are not known [m]."""


def seen_body(
    motion: Motion,
    body: BodyMap,
    proportions: Proportions,
    given: Contacts | None,
    larger: float,
    robot: Model,
    objects: Mapping[str, Motion],
    *,
    ground: Surface | None,
    props: Collection[str],
) -> Source:
    """Where the parts of the skeleton are, and objects, which have its frames.

    Contacts that are not given are those of a body `larger` times as large, of which `props` are hands and knees.
    """
    toes = [tip for ankle, tip in TOES.items() if ankle in body.parts and tip not in body.parts and tip in body.source]
    poses = motion.model.poses(motion.q, [body.source[part] for part in (*body.parts, *toes)]).array
    numbers = np.ascontiguousarray(poses.T)  # (7, parts, frames)
    xyz, wxyz = (np.moveaxis(some, 0, -1) for some in (numbers[:3], numbers[3:, : len(body.parts)]))
    places = dict(zip((*body.parts, *toes), np.array(xyz, order="C"), strict=True))
    for part, turned in zip(body.parts, wxyz, strict=True):
        if (point := proportions.source_points[part]).any():
            places[part] += rotate(turned, point)
    offsets = np.array([proportions.offsets[part] for part in body.parts])[:, None]
    turns = dict(zip(body.parts, quaternion_product(wxyz, offsets), strict=True))
    paths = {
        part: np.stack([places[point] for point in (part, TOES.get(part)) if point in places], axis=1)
        for part in body.contacts
        if part in places
    }
    size = _HEIGHT if proportions.standing is None else proportions.standing[0] / _HIPS
    found = found_on(ground, paths, motion.times, size=larger * size, props=props)
    feet = [part for part in paths if part not in props]
    off, two_legs = np.zeros(len(motion), dtype=bool), TOES.keys() >= set(feet)
    if two_legs:
        found = on_soles(found, *_facing(places, turns, proportions, feet), motion.times)
    if given is not None:
        found = found.replaced(given)
    if two_legs:
        off = off_feet(places, found.only(feet), motion.times, _HIPS * size)
    things = {name: pose_of(thing) for name, thing in objects.items()}
    touched = touches(motion, objects, body, robot, turns, size)
    return Source(motion.times, places, turns, found, paths, off, things, touched)


def _facing(
    places: Mapping[str, Array], turns: Mapping[str, Array], proportions: Proportions, feet: Iterable[str]
) -> tuple[dict[str, Array], dict[str, Array]]:
    """By foot, (frames, 3) up in it and along its shin."""
    knees = {foot: foot.replace("ankle", "knee") for foot in feet}
    ups = {foot: rotate(turns[foot], proportions.robot_axes[foot][:, 2]) for foot in knees}
    return ups, {foot: places[knee] - places[foot] for foot, knee in knees.items() if knee in places}

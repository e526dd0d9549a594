"""The smallest sphere and capsule around points.

Centres are those of Badoiu and Clarkson 2003 (SODA, "Smaller core-sets for balls"): from anywhere, go 1/i of the way
to the farthest point, for i = 2, 3 and so on.  The radius is then what holds every point, so nothing is left outside
however few steps are taken.  The axis of a capsule is searched: all around, then ever closer about the best.
"""

import math
from typing import Final

import numpy as np

from poise.common.array import Array
from poise.geometry.shapes import Capsule, Sphere

_STEPS: Final = 300
"""To a centre that is kept; the radius is then less than 1 % too large."""
_TRIAL_STEPS: Final = 24
"""To one that is compared with others."""
_ROUNDS: Final = 5
_NARROWER: Final = 0.4
"""How much closer about the best axis each round looks than the one before."""


def directions(count: int) -> Array:
    """(count, 3) unit vectors spread evenly over a hemisphere, by golden angles (Swinbank and Purser 2006)."""
    i = np.arange(count)
    height, turn = (i + 0.5) / count, i * math.pi * (3.0 - math.sqrt(5.0))
    across = np.sqrt(1.0 - height**2)
    return np.column_stack([across * np.cos(turn), across * np.sin(turn), height])


_ALL_AROUND = directions(40)
_WAYS_OUT = np.concatenate([directions(100), -directions(100), np.eye(3), -np.eye(3)])


def outermost(points: Array) -> Array:
    """Those of the points (n, 3) that are farthest out in some of many directions."""
    # Not a product of matrices, for which a busy machine's threads wait for one another.
    return points[np.unique(np.argmax(np.einsum("wi,pi->wp", _WAYS_OUT, points), axis=1))]


def smallest_capsule(points: Array, *, thorough: bool = True) -> Capsule | Sphere:
    """A capsule around points (n, 3), or a sphere where that is smaller: hardly larger than the smallest, if
    `thorough`, and else near to it."""
    outer = outermost(points)
    steps, rounds, around = (_STEPS, _ROUNDS, _ALL_AROUND) if thorough else (_TRIAL_STEPS, 0, _ALL_AROUND[::4])
    axes = np.concatenate([around, principal_axes(outer), np.eye(3)])
    several = axes[np.argsort(_volumes(outer, axes), kind="stable")[: rounds + 1]]
    best, angle = several[0], 0.25
    for _ in range(rounds):
        near = best + angle * np.concatenate([[np.zeros(3)], _WAYS_OUT[::10]])
        near /= np.linalg.norm(near, axis=1, keepdims=True)
        best = near[np.argmin(_volumes(outer, near))]
        angle *= _NARROWER
    found: list[Capsule | Sphere] = [_along(points, outer, axis, steps) for axis in (best, *several)]
    return min([_sphere(points, outer, steps), *found], key=volume)


def volume(shape: Capsule | Sphere) -> float:
    """[m^3]"""
    length = shape.length if isinstance(shape, Capsule) else 0.0
    return math.pi * shape.radius**2 * (length + 4.0 / 3.0 * shape.radius)


def principal_axes(points: Array) -> Array:
    """(3, 3) the directions, as rows, in which points (n, 3) spread the most and the least, and the one between."""
    offsets = points - points.mean(axis=0)
    return np.linalg.eigh(offsets.T @ offsets)[1].T


def _centres(points: Array, steps: int) -> Array:
    """(m, d) near the centres of the smallest balls around m sets of points (m, n, d)."""
    centres = 0.5 * (points.min(axis=1) + points.max(axis=1))
    rows = np.arange(len(points))
    for i in range(2, steps + 2):
        offsets = points - centres[:, None]
        farthest = np.argmax(np.einsum("mnd,mnd->mn", offsets, offsets), axis=1)
        centres = centres + offsets[rows, farthest] / i
    return centres


def _frames(axes: Array) -> tuple[Array, Array]:
    """(m, 3) and (m, 3) unit vectors across unit vectors (m, 3), and across each other."""
    least = np.eye(3)[np.argmin(np.abs(axes), axis=1)]
    first = np.cross(axes, least)
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    return first, np.cross(axes, first)


def _volumes(points: Array, axes: Array) -> Array:
    """(m,) about the volumes of the smallest capsules around points (n, 3) along each of the axes (m, 3)."""
    first, second = _frames(axes)
    across = np.stack([first @ points.T, second @ points.T], axis=-1)
    offsets = across - _centres(across, _TRIAL_STEPS)[:, None]
    squares = np.einsum("mnd,mnd->mn", offsets, offsets)
    radii = np.sqrt(squares.max(axis=1, keepdims=True))
    heights, caps = axes @ points.T, np.sqrt(np.maximum(radii**2 - squares, 0.0))
    lengths = np.maximum((heights - caps).max(axis=1) - (heights + caps).min(axis=1), 0.0)
    return math.pi * radii[:, 0] ** 2 * (lengths + 4.0 / 3.0 * radii[:, 0])


def _sphere(points: Array, outer: Array, steps: int) -> Sphere:
    """A sphere around all points."""
    centre = _centres(outer[None], steps)[0]
    return Sphere(centre, float(np.linalg.norm(points - centre, axis=1).max()))


def _along(points: Array, outer: Array, axis: Array, steps: int) -> Capsule:
    """A capsule around all points along an axis."""
    first, second = _frames(axis[None])
    plane = np.column_stack([first[0], second[0]])
    centre = _centres((outer @ plane)[None], steps)[0]
    squares = ((points @ plane - centre) ** 2).sum(axis=1)
    radius = math.sqrt(squares.max())
    heights, caps = points @ axis, np.sqrt(np.maximum(radius**2 - squares, 0.0))
    top, bottom = float((heights - caps).max()), float((heights + caps).min())
    if top < bottom:
        top = bottom = 0.5 * (top + bottom)
    through = plane @ centre
    return Capsule(through + bottom * axis, through + top * axis, radius)

"""The shortest ways of a car: arcs of its least radius and straight lines, with cusps or without.

With cusps a shortest way is one of 48 words of at most five arcs and lines (Reeds and Shepp 1990, "Optimal paths for a
car that goes both forwards and backwards", doi:10.2140/pjm.1990.145.367, section 8, whose numbers stand at the
formulas); forwards alone one of six words of three (Dubins 1957, doi:10.2307/2372560).  Lengths are in radii here.

Each formula gives lengths that may lead to the end; those that do are kept, and the shortest of them is taken.  So a
formula is never trusted beyond its domain.
"""

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

import numpy as np

from poise.extending import Array
from poise_carts.arcs import moved

_MISS: Final = 1e-9
"""How far from the end a word may lead, in radii and radians."""
_RIGHT: Final = 0.5 * np.pi
_ROUNDING: Final = 1e-10
"""What is 0 but for so much is 0: such an arc does not go round the whole circle."""
_SIDES: Final = {"L": 1.0, "R": -1.0, "S": 0.0}
Words: TypeAlias = tuple[str, tuple[Array, ...]]
"""What to do, a letter each: L and R an arc to the left and to the right, S a straight line; and the lengths (n,),
negative backwards, which may lead elsewhere where the word does not lead to the end."""


def shortest(ends: Array, *, cusps: bool) -> tuple[Array, Array]:
    """(n, 5) lengths, in radii, and (n, 5) turns [rad] of the arcs and lines to poses (n, 3), as seen from the car;
    what is not needed of the five is 0."""
    best = np.full(len(ends), np.inf)
    lengths, turns = np.zeros((2, len(ends), 5))
    near = _MISS * (1.0 + np.abs(ends).max(axis=1, initial=0.0))
    for letters, parts in _with_cusps(ends) if cusps else _forwards(ends):
        some = np.stack([np.broadcast_to(part, len(ends)) for part in parts], axis=1)
        size = np.abs(some).sum(axis=1)
        shorter = np.flatnonzero(size < best - _MISS)
        if not len(shorter):
            continue
        some = some[shorter]
        turn = some * [_SIDES[letter] for letter in letters]
        off = moved(np.zeros(3), some, turn) - ends[shorter]
        off[:, 2] = wrapped(off[:, 2])
        leads = np.abs(off).max(axis=1, initial=0.0) <= near[shorter]
        better = shorter[leads]
        best[better] = size[better]
        lengths[better], turns[better] = 0.0, 0.0
        lengths[better, : len(letters)], turns[better, : len(letters)] = some[leads], turn[leads]
    return lengths, turns


def wrapped(angle: Array) -> Array:
    """The angle from -pi to pi."""
    return np.asarray(np.remainder(angle + np.pi, 2.0 * np.pi) - np.pi)


def _forwards(ends: Array) -> Iterator[Words]:
    """The words without cusps: what turns the wrong way goes round the rest of the circle."""
    for letters, parts in _mirrored(ends, lambda x, y, phi: [_lsl(x, y, phi), _lsr(x, y, phi), _lrl(x, y, phi)]):
        yield (
            letters,
            tuple(
                part if letter == "S" else np.maximum(np.remainder(part + _ROUNDING, 2.0 * np.pi) - _ROUNDING, 0.0)
                for letter, part in zip(letters, parts, strict=True)
            ),
        )


def _with_cusps(ends: Array) -> Iterator[Words]:
    """The words with cusps: each formula for what is seen, for its mirror image, and for both backwards; those that
    are not their own reverse also from the end to the beginning."""
    x, y, phi = ends.T
    ahead = np.stack([x, y, phi], axis=1)
    behind = np.stack([-x, y, -phi], axis=1)
    from_end = np.stack([x * np.cos(phi) + y * np.sin(phi), x * np.sin(phi) - y * np.cos(phi), phi], axis=1)
    for seen, sign in ((ahead, 1.0), (behind, -1.0)):
        for letters, parts in _mirrored(seen, _words):
            yield letters, tuple(sign * part for part in parts)
    for seen, sign in ((from_end, 1.0), (from_end * [-1.0, 1.0, -1.0], -1.0)):
        for letters, parts in _mirrored(seen, _one_way_words):
            yield letters[::-1], tuple(sign * part for part in parts[::-1])


def _mirrored(ends: Array, words: Callable[[Array, Array, Array], list[Words]]) -> Iterator[Words]:
    """The words to the ends, and those to their mirror images, in which left is right."""
    x, y, phi = ends.T
    yield from words(x, y, phi)
    for letters, parts in words(x, -y, -phi):
        yield letters.translate(str.maketrans("LR", "RL")), parts


def _words(x: Array, y: Array, phi: Array) -> list[Words]:
    return [
        _lsl(x, y, phi), _lsr(x, y, phi), _lrl(x, y, phi), _lrlr(x, y, phi), _lrlr_between(x, y, phi),
        *_one_way_words(x, y, phi)[1:], _lrslr(x, y, phi),
    ]  # fmt: skip


def _one_way_words(x: Array, y: Array, phi: Array) -> list[Words]:
    return [_lrl(x, y, phi), _lrsl(x, y, phi), _lrsr(x, y, phi)]


# The letters of a word name a formula, of x, y and phi of the end. ------------------------------------------------


def _tangent(x: Array, y: Array) -> Array:
    """The line between two circles whose middles are (x, y) apart, so that it crosses over."""
    return np.asarray(np.sqrt(np.maximum(x * x + y * y - 4.0, 0.0)))


def _lsl(x: Array, y: Array, phi: Array) -> Words:
    """8.1."""
    x, y = x - np.sin(phi), y - 1.0 + np.cos(phi)
    far = np.hypot(x, y)
    t = np.where(far < _ROUNDING, 0.0, np.arctan2(y, x))
    return "LSL", (t, far, wrapped(phi - t))


def _lsr(x: Array, y: Array, phi: Array) -> Words:
    """8.2."""
    x, y = x + np.sin(phi), y - 1.0 - np.cos(phi)
    u = _tangent(x, y)
    t = wrapped(np.arctan2(y, x) + np.arctan2(2.0, u))
    return "LSR", (t, u, wrapped(t - phi))


def _lrl(x: Array, y: Array, phi: Array) -> Words:
    """8.3 and 8.4."""
    x, y = x - np.sin(phi), y - 1.0 + np.cos(phi)
    u = -2.0 * np.arcsin(np.minimum(0.25 * np.hypot(x, y), 1.0))
    t = wrapped(np.arctan2(y, x) + 0.5 * u + np.pi)
    return "LRL", (t, u, wrapped(phi - t + u))


def _outer(u: Array, v: Array, x: Array, y: Array, phi: Array) -> tuple[Array, Array]:
    """The first and the last arc about two inner ones, u and v, to the end in `_lrlr` and `_lrlr_between`."""
    delta = wrapped(u - v)
    a, b = np.sin(u) - np.sin(delta), np.cos(u) - np.cos(delta) - 1.0
    t = np.arctan2(y * a - x * b, x * a + y * b)
    turned = 2.0 * (np.cos(delta) - np.cos(v) - np.cos(u)) + 3.0 < 0.0
    t = wrapped(np.where(turned, t + np.pi, t))
    return t, wrapped(t - u + v - phi)


def _lrlr(x: Array, y: Array, phi: Array) -> Words:
    """8.7, the inner arcs on one side of a cusp each."""
    x, y = x + np.sin(phi), y - 1.0 - np.cos(phi)
    u = np.arccos(np.minimum(0.25 * (2.0 + np.hypot(x, y)), 1.0))
    t, v = _outer(u, -u, x, y, phi)
    return "LRLR", (t, u, -u, v)


def _lrlr_between(x: Array, y: Array, phi: Array) -> Words:
    """8.8, the inner arcs between two cusps."""
    x, y = x + np.sin(phi), y - 1.0 - np.cos(phi)
    u = -np.arccos(np.clip((20.0 - x * x - y * y) / 16.0, -1.0, 1.0))
    t, v = _outer(u, u, x, y, phi)
    return "LRLR", (t, u, u, v)


def _lrsl(x: Array, y: Array, phi: Array) -> Words:
    """8.9."""
    x, y = x - np.sin(phi), y - 1.0 + np.cos(phi)
    far = _tangent(x, y)
    t = wrapped(np.arctan2(y, x) + np.arctan2(far, -2.0))
    return "LRSL", (t, np.full_like(t, -_RIGHT), 2.0 - far, wrapped(phi - _RIGHT - t))


def _lrsr(x: Array, y: Array, phi: Array) -> Words:
    """8.10."""
    x, y = x + np.sin(phi), y - 1.0 - np.cos(phi)
    t = np.arctan2(x, -y)
    return "LRSR", (t, np.full_like(t, -_RIGHT), 2.0 - np.hypot(x, y), wrapped(t + _RIGHT - phi))


def _lrslr(x: Array, y: Array, phi: Array) -> Words:
    """8.11."""
    x, y = x + np.sin(phi), y - 1.0 - np.cos(phi)
    u = 4.0 - _tangent(x, y)
    t = wrapped(np.arctan2((4.0 - u) * x - 2.0 * y, -2.0 * x + (u - 4.0) * y))
    right = np.full_like(t, -_RIGHT)
    return "LRSLR", (t, right, u, right, wrapped(t - phi))

"""Whether a certificate proves a pose out of reach: by NumPy and by where a model's axes lie.  Nothing here solves.

A chain and the target are a loop of bodies: 0 is the base, axis k carries body k, the target leads from the last, n,
back to the base, and body n + 1 + k is body k once more.  A feature is a point, a direction or a plane that keeps its
place in the bodies from `first` to `last`, for it lies on the axes between them.

What two features measure is a distance, a cosine or a height.  Each of these, of a distance its square, is a + b cos q
+ c sin q of a joint that turns between them, and a polynomial of second degree of one that slides.  Such a function is,
from one end of an arc or way to the other, between the values at both ends and where the tangents of the ends meet (its
Bernstein form); in a box of k joints, between the least and the largest of 3^k numbers.
"""

from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np

from poise.solving.problem.chain import Axis, Chain, chain_of

POINT, DIRECTION, PLANE = range(3)
WIDEST: Final = 0.8
"""Half of an arc in which tangents are let meet [rad]."""
MOST: Final = 6
"""Joints between two features."""
_ROUNDING, _SQUARED, _FAR = 1e-9, 1e-10, 1e6
"""What is let go of a size, of its square, and the largest number that is taken."""


class Loop(NamedTuple):
    """A chain and the target that it should reach."""

    chain: Chain
    closing: Any
    """(4, 4) the base in the last body where the frame is at its target."""
    place: float
    turn: float
    """By how much the frame may miss it [m, rad]."""
    size: float
    """No two places of the loop are farther apart [m]."""


def proves(model: Any, certificate: Any) -> bool:
    """Whether a `Certificate` holds: its boxes fill the ranges of all joints, and its reasons empty every box."""
    chain = chain_of(model, certificate.frame, certificate.base, certificate.offset, limits=certificate.limits)
    boxes = _boxes(chain, certificate.tree, len(certificate.reasons))
    if boxes is None or min(certificate.position_tolerance, certificate.rotation_tolerance) < 0.0:
        return False
    closed, parts = loop_of(chain, certificate), list(zip(certificate.reasons, boxes, strict=True))
    some = ((reason, part) for reason, all_of in parts for part in np.array_split(all_of, 1 + len(all_of) // 256))
    sound = all(_sound(reason, len(chain.axes)) for reason in certificate.reasons)
    return sound and all(empty(closed, reason, part).all() for reason, part in some)


def loop_of(chain: Chain, certificate: Any) -> Loop:
    """The loop that the target of a proof closes."""
    closing, place = chain.hang @ np.linalg.inv(certificate.target.matrix()), certificate.position_tolerance
    return Loop(
        chain,
        closing,
        place,
        certificate.rotation_tolerance,
        chain.size + np.linalg.norm(certificate.target.xyz) + place,
    )


def _boxes(chain: Chain, tree: Any, count: int) -> Any:
    """For each reason (m, 2, n), centres and half widths of its boxes; None where they do not fill the ranges.

    A number of the tree halves a box, in the joint that it names, or gives it to the reason ~number; and the next
    one does so with the lower half, or with the upper half of what was halved last and is left.
    """
    left: list[Any] = [np.array([(axis.centre, axis.half) for axis in chain.axes]).T]
    found: list[list[Any]] = [[] for _ in range(count)]
    for node in np.asarray(tree, dtype=int).tolist():
        if not left or not -count <= node < len(chain.axes):
            return None
        box = left.pop()
        if node < 0:
            found[~node].append(box)
        else:
            halves = np.array([box, box])
            halves[:, 1, node] *= 0.5
            halves[:, 0, node] += [halves[0, 1, node], -halves[0, 1, node]]
            left += list(halves)
    return None if left else [np.array(some).reshape(-1, 2, len(chain.axes)) for some in found]


def _sound(reason: Any, n: int) -> bool:
    """Whether it is features (k, 7), kind, first, last, then the four numbers of each in its first body, around the
    loop: points, or two directions, or a point and a plane."""
    if np.shape(reason) != (len(reason), 7) or not (np.abs(reason) < _FAR).all():
        return False
    kinds, bodies, (*way, last) = reason[:, 0], reason[:, 1:3].ravel(), reason[:, 3:].T
    known = sorted(kinds) in ([POINT] * len(kinds), [DIRECTION, DIRECTION], [POINT, PLANE]) and len(kinds) > 0
    real = np.where(kinds == POINT, last == 1.0, np.linalg.norm(way, axis=0) < 1.0 + _ROUNDING)
    real &= (kinds != DIRECTION) | (last == 0.0)
    return known and real.all() and all(a <= b for a, b in pairwise([0, *bodies, n])) and not (bodies % 1.0).any()


def empty(loop: Loop, reason: Any, boxes: Any) -> Any:
    """(m,) whether in a box (m, 2, n) the loop does not close: one side of the polygon of all features is longer than
    the others together, and of two features what they measure one way round is not what it is the other way."""
    again = reason[0] + [0, *[len(loop.chain.axes) + 1] * 2, 0, 0, 0, 0]
    with np.errstate(invalid="ignore", over="ignore"):
        low, high = np.swapaxes([_side(loop, one, two, boxes) for one, two in pairwise([*reason, again])], 0, 1)
        return (low + high).max(0) > high.sum(0)


def _side(loop: Loop, one: Any, two: Any, boxes: Any) -> Any:
    """(2, m) between which numbers that is which a feature and the next one around the loop measure."""
    axes, n, m = loop.chain.axes, len(loop.chain.axes), len(boxes)
    (kind, start, near), (other, far), x, y = one[:3].astype(int), two[:2].astype(int), one[3:], two[3:]
    size, place = loop.size + np.linalg.norm(x) + np.linalg.norm(y), POINT in (kind, other)
    slack: Any = 0.0  # by how much a feature that is not quite on its axes is moved by them
    for axis in axes[start:near]:
        x = in_frame(kind, np.linalg.inv(axis.matrix @ carried(axis, axis.slides and axis.centre))) @ x
        off = np.linalg.norm(x[: 3 if axis.ball else 2]) * axis.turns
        along = axis.slides and (1.0, 0.0, abs(x[2]))[kind]
        slid = along and abs(along * axis.slides) * axis.half
        slack = 3.0 * slack + 2.0 * off * (size if kind == PLANE else 1.0) + slid
    there, bends = np.broadcast_to(y, (m, 1, 4)), list[Any]()
    for k in (k % (n + 1) for k in range(far - 1, near - 1, -1)):
        if k == n:
            there = there @ in_frame(other, loop.closing).T
            way = [axis.matrix[:3, 3] for axis in axes[near:]] + [loop.chain.hang[:3, 3]]
            reach: Any = size if place else 1.0  # how far from the target it is that a turn there moves
            if kind == POINT:
                reach = slack + np.linalg.norm(x[:3] - way[0]) + sum(np.linalg.norm(step) for step in way[1:])
                reach += sum(abs(axis.slides) * (abs(axis.centre) + axis.half) for axis in axes[near:] if axis.slides)
            slack += loop.turn * reach + (loop.place if place else 0.0)  # any place will do: then it is infinite
            continue
        c, w = boxes[:, 0, k], boxes[:, 1, k] + _ROUNDING * (1.0 + np.abs(boxes[:, 0, k]))
        three = carried(axes[k], c[:, None] + w[:, None] * [-1.0, 0.0, 1.0])
        many = np.einsum("mrij,mvj->mrvi", in_frame(other, axes[k].matrix @ three), there)
        there = many.reshape(m, 3 * there.shape[1], 4)
        arc = np.where(w < WIDEST, np.cos(w), np.nan)  # NaN proves nothing
        bends.insert(0, arc if axes[k].hinge else np.full(m, 1.0 if axes[k].slide else np.nan))
        if len(bends) > MOST:
            return np.zeros(m), np.full(m, np.inf)
    f = ((there - x) ** 2).sum(-1) if kind == other == POINT else there @ x
    for i, bend in enumerate(bends):
        start, centre, end = np.moveaxis(f.reshape(m, 3**i, 3, 3 ** (len(bends) - i - 1)), 2, 0)
        f = np.stack([start, centre + (centre - 0.5 * (start + end)) / bend[:, None, None], end], axis=2)
    low, high = f.reshape(m, 3 ** len(bends)).min(1), f.reshape(m, 3 ** len(bends)).max(1)
    if kind == other == POINT:
        edge = _SQUARED * size**2
        low, high = np.sqrt(np.maximum(low - edge, 0.0)), np.sqrt(np.maximum(high, 0.0) + edge)
    slack += _ROUNDING * (size if place else 1.0)
    return low - slack, high + slack


def carried(axis: Axis, at: Any) -> Any:
    """(..., 4, 4) a body of an axis at positions (...,), in the frame in which it stands at 0."""
    out = np.zeros((*np.shape(at), 4, 4)) + np.eye(4)
    out[..., 2, 3] = axis.slides * at
    if axis.turns:
        out[..., 0, 0], out[..., 0, 1], out[..., 1, 0], out[..., 1, 1] = np.cos(at), -np.sin(at), np.sin(at), np.cos(at)
    return out


def in_frame(kind: int, pose: Any) -> Any:
    """(..., 4, 4) what the numbers of a feature in one frame become in another, in which the first has a pose."""
    return np.swapaxes(np.linalg.inv(pose), -1, -2) if kind == PLANE else pose

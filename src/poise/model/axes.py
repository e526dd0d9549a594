"""The axes of a chain as they lie where q is 0, which of them meet, and which are parallel."""

import math
from dataclasses import dataclass, replace
from typing import Final, final

import numpy as np

from poise.common.array import Array
from poise.kernels.machine.layout import HELICAL, PRISMATIC, REVOLUTE
from poise.model.tree import Tree

SPECIAL: Final = 1e-8
"""Axes meet, or are parallel, if they do to this share of the arm's size, or to this angle [rad]: files round a right
angle in the ninth digit."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Axes:
    """Axes of a chain in their order, as they lie where q is 0, along the axes of the base."""

    h: Array
    """(n, 3) unit vectors."""
    p: Array
    """(n, 3) a point of each [m]."""
    rates: Array
    """(n,) what each turns by [rad], or slides by [m], for each number of q."""
    joints: tuple[int, ...]
    """The place in q of each."""
    kinds: tuple[int, ...]

    def only(self, chosen: list[int]) -> "Axes":
        """Some of them, in this order."""
        joints, kinds = tuple(self.joints[i] for i in chosen), tuple(self.kinds[i] for i in chosen)
        return Axes(h=self.h[chosen], p=self.p[chosen], rates=self.rates[chosen], joints=joints, kinds=kinds)

    @property
    def from_tip(self) -> "Axes":
        """What undoes them: the same in the other order, each the other way round."""
        back = self.only(list(range(len(self.joints)))[::-1])
        return replace(back, h=-back.h)


def axes_between(tree: Tree, tip: int, base: int | None, base_hang: Array) -> tuple[Axes, Array] | None:
    """The axes that move a unit against another, or the world, and the (4, 4) pose of it where q is 0.

    They lie along the axes of what hangs on `base` at `base_hang` (4, 4).  None if a joint is none that turns or
    slides, or moves two of them, and where one stands still wherever it is.
    """
    forth, back = tree.path(tip), [] if base is None else tree.path(base)
    seen = np.linalg.inv(np.eye(4) if base is None else at_zero(tree, base) @ base_hang)
    chain = [(u, -1.0) for u in back[::-1] if u not in forth] + [(u, 1.0) for u in forth if u not in back]
    units = [tree.units[u] for u, _ in chain]
    joints = tuple(unit.iq for unit in units)
    if not units or len(set(joints)) < len(joints):
        return None
    if any(unit.kind not in (REVOLUTE, PRISMATIC) or unit.iv < 0 for unit in units):
        return None
    frames = np.array([seen @ at_zero(tree, u) for u, _ in chain])
    rates = np.array([sign * unit.multiplier for (_, sign), unit in zip(chain, units, strict=True)])
    axes = Axes(
        h=frames[:, :3, 2], p=frames[:, :3, 3], rates=rates, joints=joints, kinds=tuple(unit.kind for unit in units)
    )
    return axes, seen @ at_zero(tree, tip)


def at_zero(tree: Tree, unit: int) -> Array:
    """(4, 4) pose of a unit in the world where every joint is at 0, and every ball at the identity."""
    pose = np.eye(4)
    for u in tree.path(unit):
        found, motion = tree.units[u], np.eye(4)
        if found.kind in (REVOLUTE, HELICAL):
            c, s = math.cos(found.offset), math.sin(found.offset)
            motion[:2, :2] = (c, -s), (s, c)
        if found.kind in (PRISMATIC, HELICAL):
            motion[2, 3] = found.offset * (1.0 if found.kind == PRISMATIC else found.pitch)
        pose = pose @ found.matrix @ motion
    return pose


def leaning(h: Array, k: Array) -> float:
    """The sine of the angle between two directions (3,), either way round."""
    return float(np.linalg.norm(np.cross(h, k)))


def meeting(h: Array, p: Array) -> tuple[Array, float]:
    """The point (3,) that is nearest to some lines, directions and points (n, 3), not all parallel; how far the
    farthest of them is from it [m]."""
    off = np.eye(3) - h[:, :, None] * h[:, None, :]
    point = np.linalg.solve(off.sum(0), np.einsum("nij,nj->i", off, p))
    return point, float(np.linalg.norm(np.einsum("nij,nj->ni", off, p - point), axis=1).max())

"""Random arms whose pose has a closed form, from the lines that their axes lie on."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

import poise as pz

Array = npt.NDArray[np.float64]
FAMILIES = ("parallel 2 and 3", "parallel 1 and 2", "meeting 1 and 2", "meeting 2 and 3", "skew", "three parallel")


def unit(rng: np.random.Generator) -> Array:
    """A direction."""
    v = rng.normal(size=3)
    return v / np.linalg.norm(v)


def lines(family: str, rng: np.random.Generator) -> tuple[Array, Array]:
    """(6, 3) directions and points of six axes."""
    h, p = np.array([unit(rng) for _ in range(6)]), rng.normal(size=(6, 3))
    if family == "three parallel":
        h[2:4] = h[1] * rng.choice([-1.0, 1.0], size=(2, 1))
        p[5] = p[4] + rng.normal() * h[4] + rng.normal() * h[5]
        return h, p
    p[3:] = rng.normal(size=3) + rng.normal(size=(3, 1)) * h[3:]
    match family:
        case "parallel 2 and 3":
            h[2] = h[1] * rng.choice([-1.0, 1.0])
        case "parallel 1 and 2":
            h[1] = h[0]
        case "meeting 1 and 2":
            p[1] = p[0] + rng.normal() * h[0] + rng.normal() * h[1]
        case "meeting 2 and 3":
            p[2] = p[1] + rng.normal() * h[1] + rng.normal() * h[2]
    return h, p


def arm(
    h: Array,
    p: Array,
    *,
    kinds: Mapping[int, str] | None = None,
    limits: tuple[float, float] = (-3.1, 3.1),
    tool: pz.SE3 | None = None,
) -> pz.Model:
    """An arm whose axes lie on these lines at q = 0; `kinds` are those of joints that do not turn."""
    builder, parent, at = pz.ModelBuilder("arm"), "base", np.zeros(3)
    for i, (axis, place) in enumerate(zip(h, p, strict=True)):
        kind = (kinds or {}).get(i, "revolute")
        origin = pz.SE3.from_parts(place - at)
        builder.joint(f"j{i}", kind, parent=parent, child=f"l{i}", origin=origin, axis=axis, limits=limits)
        parent, at = f"l{i}", place
    builder.frame("tool", link=parent, origin=tool or pz.SE3.from_xyz_rpy([0.1, 0.2, -0.3], [0.4, -0.5, 0.6]))
    return builder.build()


def nearest(found: npt.ArrayLike, q: npt.ArrayLike) -> float:
    """How far the nearest of some configurations is from q, but for whole turns: the largest angle [rad]."""
    apart = np.atleast_2d(found) - np.asarray(q)
    if not apart.size:
        return np.inf
    return float(np.abs((apart + np.pi) % (2 * np.pi) - np.pi).max(axis=1).min())

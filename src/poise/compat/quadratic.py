"""Weighted least squares within inequalities and equations: the step of tasks and limits that poise has no name for.

The dual active set of Goldfarb and Idnani (1983): from the minimum without inequalities, take in the one that is broken
most, and let go those whose multiplier would turn its sign, until none is broken.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np

from poise.spatial import Array

_BROKEN: Final = 1e-11
"""An inequality of unit length that is broken by less, as part of 1 and its bound, is kept."""
_DEPENDENT: Final = 1e-10
"""What is left of a unit vector that depends on others."""
_LEAST: Final = 1e-12
_NONE: Final = "no step keeps all limits and constraints at once: loosen one, or start where they hold"
_NAN: Final = "a task or a limit has numbers that are none: look for NaN in the configuration and in the targets"


def stacked(n: int, parts: Iterable[Sequence[Any]]) -> tuple[Array, Array]:
    """(k, n) and (k,) of pairs of both, None where one has nothing to say."""
    some = [part for part in parts if part[0] is not None and len(part[0])]
    if not some:
        return np.zeros((0, n)), np.zeros(0)
    return np.concatenate([part[0] for part in some]), np.concatenate([part[1] for part in some])


def least_squares(
    rows: Array, wants: Array, mu: float, within: tuple[Array, Array], exact: tuple[Array, Array],
    held: list[int] | None = None, slope: Array | float = 0.0,
) -> Array:  # fmt: skip
    """x (n,), the minimum of |rows x - wants|^2 + mu |x|^2 + 2 slope x with G x <= h of `within`, A x = b of `exact`.

    mu is 1e-12 at least.  `held` is what held the last of a sequence, rows of A before those of G: it is tried first,
    and then what holds x.  Raises ValueError where there is no such x, or where a number is none.
    """
    n = rows.shape[1]
    total = sum(float(np.sum(part)) for part in (rows, wants, mu, slope, within[0], *exact))
    if not math.isfinite(total) or np.isnan(within[1]).any():
        raise ValueError(_NAN)
    # The factor of the stacked rows keeps what a sum of squares would round off.
    r: Array = np.linalg.qr(np.concatenate([rows, math.sqrt(max(mu, _LEAST)) * np.eye(n)]), mode="r")  # type: ignore[assignment]
    x = np.linalg.solve(r, np.linalg.solve(r.T, wants @ rows - slope))
    if not len(exact[1]) and (within[0] @ x <= within[1]).all():
        return np.asarray(x)
    each, most = np.concatenate([exact[0], within[0]]), np.concatenate([exact[1], within[1]])
    # With y = r (x - free) it is the least |y|^2 with N y <= d, of which the first are equations.
    normals, bounds = np.linalg.solve(r.T, each.T).T, most - each @ x
    sizes = np.sqrt((normals * normals).sum(axis=1))
    some = sizes > 0.0
    if (bounds[~some] < -_BROKEN).any():
        raise ValueError(_NONE)
    where, last = np.flatnonzero(some), [] if held is None else held
    guess = [int(k) for k in np.searchsorted(where, [i for i in last if i < len(most)]) if k < len(where)]
    y, now = nearest(
        normals[some] / sizes[some, None], bounds[some] / sizes[some], int(some[: len(exact[1])].sum()), guess
    )
    x, met = x + np.linalg.solve(r, y), where[now]
    last[:] = met.tolist()
    # What is held is met as closely as it can be written, whatever r rounds off.
    return np.asarray(x + np.linalg.lstsq(each[met], most[met] - each[met] @ x)[0])


def nearest(normals: Array, bounds: Array, equations: int, guess: list[int]) -> tuple[Array, list[int]]:
    """y (n,), the shortest with normals y <= bounds, unit vectors (p, n), the first `equations` met; what holds it.

    Raises ValueError where there is none.
    """
    p, n = normals.shape
    guess = [*range(equations), *(i for i in dict.fromkeys(guess) if i >= equations)]
    if guess and len(guess) <= n:
        q, upper = np.linalg.qr(normals[guess].T)
        if (np.abs(np.diagonal(upper)) > _DEPENDENT).all():
            part = np.linalg.solve(upper.T, bounds[guess])
            y, pulls = q @ part, np.linalg.solve(upper, part)
            kept = (normals @ y <= bounds + _BROKEN * (1.0 + np.abs(bounds)))[equations:].all()
            if kept and (pulls[equations:] <= 0.0).all():
                return y, guess
    held, forces, y = list[int](), np.zeros(0), np.zeros(n)
    sign, waiting = np.ones(p), list(range(equations))
    for _ in range(10 * (p + n)):
        beyond = sign * (normals @ y - bounds)
        beyond[held] = beyond[:equations] = -np.inf
        if waiting:
            worst = waiting.pop(0)
            sign[worst] = 1.0 if normals[worst] @ y > bounds[worst] else -1.0
        else:
            worst = int(np.argmax(beyond))
            if beyond[worst] <= _BROKEN * (1.0 + abs(bounds[worst])):
                return y, held
        towards, force = sign[worst] * normals[worst], 0.0
        while True:
            q, upper = np.linalg.qr((sign[held, None] * normals[held]).T)
            part = q.T @ towards
            way, change = towards - q @ part, np.linalg.solve(upper, part)
            length = float(way @ way)
            lacking = sign[worst] * (normals[worst] @ y - bounds[worst])
            full = lacking / length if length > _DEPENDENT**2 else np.inf
            falling = [(forces[k] / change[k], k) for k, i in enumerate(held) if i >= equations and change[k] > 0.0]
            first, leaving = min(falling, default=(np.inf, -1))
            if full == first == np.inf:
                if lacking > 1e3 * _BROKEN * (1.0 + abs(bounds[worst])):
                    raise ValueError(_NONE)
                break  # It says what others do.
            share = min(full, first)
            y = y - share * way if full < np.inf else y
            forces, force = forces - share * change, force + share
            if full <= first:
                held, forces = [*held, worst], np.append(forces, force)
                break
            held, forces = held[:leaving] + held[leaving + 1 :], np.delete(forces, leaving)
    raise ValueError(_NONE)

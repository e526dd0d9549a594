"""Least squares in levels within a box and inequalities, against multipliers and a sequence of dense programs."""

from typing import Any

import daqp
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from kept import kept
from scipy import optimize

from poise.common.array import Array
from poise.kernels.algebra.active_set import minimise
from poise.kernels.algebra.working_set import Levels, Limits, buffer_size
from poise.kernels.machine.lanes import WIDTH

Ints = np.ndarray
compiled = kept(_nrt=False, error_model="numpy")
seeds = st.integers(0, 2**32 - 1)


@compiled
def run(count, first, order, rows, e, squares, phi, pull, low, high, sides, most, x, side, room):
    levels, limits = Levels(count, first, order, rows, e, squares, phi, pull), Limits(low, high, sides, most)
    return minimise(levels, limits, x, side, room)


def in_packs(rows: Array) -> Array:
    """Rows one behind the other, each padded to whole packs."""
    out = np.zeros((len(rows), WIDTH * -(-rows.shape[1] // WIDTH)))
    out[:, : rows.shape[1]] = rows
    return out.ravel()


class Problem:
    """Levels (J, e, lambda) within a box and G x <= h, and perhaps a posture as the last of them."""

    def __init__(
        self,
        levels: list[tuple[Array, Array, float]],
        low: Array,
        high: Array,
        phi: Array | None = None,
        g: Array | None = None,
        h: Array | None = None,
    ):
        self.levels, self.low, self.high, self.phi = levels, low, high, phi
        self.g = np.zeros((0, len(low))) if g is None else g
        self.h = np.zeros(0) if h is None else h
        self.beyond = np.nan
        """What the kernel said of the last solve."""

    def solve(self, side: Array | None = None, order: Ints | None = None) -> Array:
        """x, with `side` as the start; the rows are handed over in `order`."""
        n, p = len(self.low), len(self.h)
        sizes = [len(e) for _, e, _ in self.levels]
        m = sum(sizes)
        order = np.arange(m) if order is None else order
        rows, e = np.zeros((m, n)), np.zeros(m)
        rows[order] = np.vstack([j for j, _, _ in self.levels])
        e[order] = np.concatenate([e for _, e, _ in self.levels])
        first = np.concatenate([[0], np.cumsum(sizes)])
        squares = np.array([damping**2 for *_, damping in self.levels])
        phi = np.zeros(n) if self.phi is None else self.phi
        x, room = np.full(n, np.nan), np.full(buffer_size(m, n, p), np.nan)
        side = np.zeros(n + p) if side is None else side
        low, high = self.low.copy(), self.high.copy()
        self.beyond = run(
            len(sizes), first, order, in_packs(rows), e, squares, phi, int(self.phi is not None),
            low, high, in_packs(self.g), self.h.copy(), x, side, room,
        )  # fmt: skip
        return x

    def first(self, count: int) -> "Problem":
        """The problem of the first levels alone."""
        return Problem(self.levels[:count], self.low, self.high, None, self.g, self.h)

    def value(self, k: int, x: Array) -> float:
        """What level k minimises."""
        if k == len(self.levels):
            assert self.phi is not None
            return float(np.sum((x - self.phi) ** 2))
        j, e, damping = self.levels[k]
        return float(np.sum((j @ x - e) ** 2) + damping**2 * np.sum(x**2))

    def over(self, x: Array) -> Array:
        """(p,) what x is beyond h."""
        return np.maximum(self.g @ x - self.h, 0.0)


def random_problem(rng: np.random.Generator) -> Problem:
    """Up to four levels of up to ten unknowns: rows that depend on one another, out of reach, a tight or open box."""
    n = int(rng.integers(2, 11))
    levels = []
    for _ in range(rng.integers(1, 5)):
        m = int(rng.integers(1, 5))
        rank = int(rng.integers(1, m + 1))
        j = rng.normal(size=(m, rank)) @ rng.normal(size=(rank, n))
        if levels and rng.random() < 0.3:
            j[0] = levels[-1][0][0]
        levels.append((j, rng.normal(size=m) * rng.choice([0.1, 1.0, 5.0]), float(rng.choice([1e-2, 0.1, 0.5]))))
    reach = rng.choice([0.05, 0.3, 2.0, np.inf], size=n)
    low, high = -reach * rng.uniform(0.0, 1.0, n), reach * rng.uniform(0.0, 1.0, n)
    low[rng.random(n) < 0.1] = 0.0
    phi = rng.normal(size=n) if rng.random() < 0.5 else None
    return Problem(levels, np.where(np.isnan(low), -np.inf, low), high, phi)


def with_rows(rng: np.random.Generator) -> Problem:
    """A random problem with up to twelve inequalities: doubled, empty, as pairs that make an equation, as bounds, all
    through one point, through 0, and such that 0 breaks them."""
    problem = random_problem(rng)
    n, p = len(problem.low), int(rng.integers(1, 13))
    g = rng.normal(size=(p, n)) * (rng.random((p, n)) < rng.choice([0.3, 1.0])) * rng.choice([1e-2, 1.0, 30.0])
    inside = np.clip(0.3 * rng.normal(size=n), problem.low, problem.high)
    h = g @ inside + rng.choice([0.0, 0.0, 0.02, 0.3]) * rng.random(p) * np.linalg.norm(g, axis=1)
    if rng.random() < 0.3:
        h = rng.choice([0.0, 0.1, -0.1, -1.0]) * rng.random(p)
    for i in range(1, p):
        kind = rng.random()
        if kind < 0.1:
            g[i], h[i] = g[i - 1], h[i - 1]
        elif kind < 0.2:
            g[i], h[i] = -g[i - 1], -h[i - 1]
        elif kind < 0.25:
            g[i] = 0.0
        elif kind < 0.3:
            g[i], h[i] = 2.0 * g[i - 1], 2.0 * h[i - 1] + rng.choice([0.0, 0.1, -0.1])
        elif kind < 0.4:
            a, high = rng.integers(n), rng.choice([-1.0, 1.0])
            g[i] = high * np.eye(n)[a]
            bound = problem.high[a] if high > 0.0 else -problem.low[a]
            h[i] = bound if np.isfinite(bound) else 0.1
        elif kind < 0.45 and i > 1:
            g[i], h[i] = g[i - 1] + g[i - 2], h[i - 1] + h[i - 2]
    problem.g, problem.h = g, h
    return problem


def of_integers(rng: np.random.Generator) -> Problem:
    """Small whole numbers all over, so that many bounds and rows meet in one point, exactly, and depend exactly."""
    n, p = int(rng.integers(1, 7)), int(rng.integers(0, 15))
    levels = []
    for _ in range(rng.integers(1, 4)):
        m = int(rng.integers(1, 4))
        damping = float(rng.choice([0.1, 1.0]))
        levels.append((rng.integers(-1, 2, (m, n)).astype(float), rng.integers(-3, 4, m).astype(float), damping))
    low, high = -rng.integers(0, 2, n).astype(float), rng.integers(0, 2, n).astype(float)
    phi = rng.integers(-2, 3, n).astype(float) if rng.random() < 0.5 else None
    return Problem(
        levels, low, high, phi, rng.integers(-1, 2, (p, n)).astype(float), rng.integers(-1, 2, p).astype(float)
    )


def kept(problem: Problem, k: int) -> Array:
    """The rows of the levels before k."""
    return np.vstack([np.zeros((0, len(problem.low))), *(j for j, _, _ in problem.levels[:k])])


def open_directions(problem: Problem, k: int) -> Array:
    """An orthonormal basis, in rows, of what the levels before k leave."""
    rows = kept(problem, k)
    _, lengths, across = np.linalg.svd(rows)
    return across[np.sum(lengths > 1e-9) :]


def dense(problem: Problem, k: int, reached: Array) -> Array:
    """Level k by daqp, the levels before it being kept at what `reached` makes of them."""
    n = len(problem.low)
    if k == len(problem.levels):
        assert problem.phi is not None
        hessian, slope = np.eye(n), -problem.phi
    else:
        j, e, damping = problem.levels[k]
        hessian, slope = j.T @ j + damping**2 * np.eye(n), -j.T @ e
    _, lengths, across = np.linalg.svd(kept(problem, k))
    equal = np.ascontiguousarray(across[: np.sum(lengths > 1e-9)])
    above = np.concatenate([np.minimum(problem.high, 1e30), equal @ reached, problem.h])
    below = np.concatenate([np.maximum(problem.low, -1e30), equal @ reached, np.full(len(problem.h), -1e30)])
    sense = np.concatenate([np.zeros(n), np.full(len(equal), 5), np.zeros(len(problem.h))]).astype(np.int32)
    rows = np.ascontiguousarray(np.vstack([equal, problem.g]))
    x, _, flag, _ = daqp.solve(hessian, slope, rows, above, below, sense, primal_tol=1e-9)
    assert flag > 0
    return np.asarray(x)


def check(problem: Problem, name: object) -> None:
    count = len(problem.levels)
    reached = [problem.first(k).solve() for k in range(1, count + 1)]
    if problem.phi is not None:
        reached.append(problem.solve())
    for k, x in enumerate(reached):
        assert (problem.low <= x).all()
        assert (x <= problem.high).all()
        for i in range(min(k, count)):
            j = problem.levels[i][0]
            np.testing.assert_allclose(j @ x, j @ reached[i], rtol=0, atol=1e-12 * (1.0 + np.abs(j).sum()))
        best = dense(problem, k, reached[k - 1])
        ours, theirs = problem.value(k, x), problem.value(k, best)
        assert ours <= theirs + 1e-8 * (1.0 + theirs), (name, k, ours, theirs)


@pytest.mark.parametrize("block", [*range(3), *(pytest.param(k, marks=pytest.mark.slow) for k in range(3, 20))])
def test_every_level_is_the_minimum_that_a_dense_solver_finds(block: int) -> None:
    for seed in range(100 * block, 100 * block + 100):
        check(random_problem(np.random.default_rng(seed)), seed)


def left_of_slope(problem: Problem, k: int, x: Array) -> tuple[float, float]:
    """What is left of the gradient of half of what level k minimises at x by the best multipliers, of the right signs
    for the bounds and rows that x is on, and by those of the levels that are kept; and lambda^2.

    No point that keeps the levels before is lower by more than its square over lambda^2.
    """
    n = len(x)
    if k == len(problem.levels):
        assert problem.phi is not None
        slope, convexity = x - problem.phi, 1.0
    else:
        j, e, damping = problem.levels[k]
        slope, convexity = j.T @ (j @ x - e) + damping**2 * x, damping**2
    free = open_directions(problem, k)
    held = [-free[:, a] for a in range(n) if x[a] >= problem.high[a] - 1e-13]
    held += [free[:, a] for a in range(n) if x[a] <= problem.low[a] + 1e-13]
    for row, most in zip(problem.g, problem.h, strict=True):
        length = float(np.linalg.norm(row))
        if length > 0.0 and row @ x >= most - 1e-12 * (abs(most) + length * (1.0 + np.abs(x).max())):
            held.append(-free @ row / length)
    wanted = free @ slope
    if not held or not len(wanted):
        return float(np.linalg.norm(wanted)), convexity
    return float(optimize.nnls(np.array(held).T, wanted)[1]), convexity


def excess(problem: Problem, k: int, x: Array) -> float:
    """A bound, by the conditions of Karush, Kuhn and Tucker alone, of what level k loses at x against its minimum."""
    left, convexity = left_of_slope(problem, k, x)
    return left**2 / convexity


def of_a_body(rng: np.random.Generator) -> Problem:
    """As many unknowns as a humanoid has, three levels, the last one a posture, and a box that holds several; rows that
    may depend on one another."""
    n = int(rng.integers(15, 40))
    levels = []
    for _ in range(2):
        m = int(rng.integers(6, 18))
        rank = m if rng.random() < 0.5 else int(rng.integers(3, m + 1))
        j = rng.normal(size=(m, rank)) @ rng.normal(size=(rank, n)) * (rng.random(n) < 0.6)
        levels.append((j, 0.1 * rng.normal(size=len(j)), float(rng.choice([1e-3, 0.03, 0.07]))))
    reach = rng.choice([0.003, 0.01, 0.03], size=n)
    return Problem(
        levels, -reach * rng.uniform(0.0, 1.0, n), reach * rng.uniform(0.0, 1.0, n), 0.1 * rng.normal(size=n)
    )


def prove_levels(problem: Problem, share: float) -> None:
    """x keeps the box and the levels before, and no level loses more than this share of its value."""
    count = len(problem.levels)
    reached = [problem.first(k).solve() for k in range(1, count + 1)]
    if problem.phi is not None:
        reached.append(problem.solve())
    for k, x in enumerate(reached):
        assert (problem.low <= x).all()
        assert (x <= problem.high).all()
        for (j, *_), before in zip(problem.levels[:k], reached, strict=False):
            np.testing.assert_allclose(j @ x, j @ before, rtol=0, atol=1e-12 * (1.0 + np.abs(j).sum()))
        assert excess(problem, k, x) <= share * (1.0 + problem.value(k, x))


# In the last ten, more bounds and rows meet in one point than there are unknowns; daqp with a tolerance of 1e-9 calls
# them infeasible, although that point itself is given.
@pytest.mark.parametrize("seed", [*range(2000, 2030), 2128, 3300, 4811, 5365, 6595, 11487, 12264, 12711, 13467, 13966])
def test_multipliers_prove_that_every_level_is_the_minimum(seed: int) -> None:
    prove_levels(random_problem(np.random.default_rng(seed)), 1e-16)


@pytest.mark.parametrize("seed", [*range(20), *(pytest.param(k, marks=pytest.mark.slow) for k in range(20, 100))])
def test_multipliers_prove_that_every_level_of_a_body_is_the_minimum(seed: int) -> None:
    prove_levels(of_a_body(np.random.default_rng(seed)), 1e-14)


def prove(problem: Problem) -> None:
    """x breaks the rows least, keeps the box, and every level is the minimum; by multipliers alone."""
    count = len(problem.levels)
    reached = [problem.first(k).solve() for k in range(1, count)]
    if problem.phi is not None:
        reached.append(problem.first(count).solve())
    reached.append(problem.solve())
    over = problem.over(reached[0])
    size = np.abs(problem.h) + np.abs(problem.g).sum(axis=1) * (1.0 + np.abs(reached[0]).max())
    # The sum of squares of what is beyond is convex: its slope may only point out of the box.
    slope = problem.g.T @ over
    scale = 1.0 + np.abs(problem.g).sum() * over.max(initial=0.0)
    inward = (
        np.where(reached[0] > problem.low + 1e-12, slope, 0.0),
        np.where(reached[0] < problem.high - 1e-12, -slope, 0.0),
    )
    assert max(inward[0].max(), inward[1].max()) <= 1e-10 * scale + 1e-12 * float(
        np.abs(problem.g).sum(0).max() * size.max(initial=0.0)
    )
    assert problem.beyond == pytest.approx(over.max(initial=0.0), abs=2e-12 * size.max(initial=0.0))
    raised = Problem(problem.levels, problem.low, problem.high, problem.phi, problem.g, problem.h + over)
    for k, x in enumerate(reached):
        assert (problem.low <= x).all()
        assert (x <= problem.high).all()
        assert (problem.over(x) <= over + 1e-12 * size).all()
        for (j, *_), before in zip(problem.levels[:k], reached, strict=False):
            np.testing.assert_allclose(j @ x, j @ before, rtol=0, atol=1e-12 * (1.0 + np.abs(j).sum()))
        left, _ = left_of_slope(raised, k, x)
        assert left <= 1e-9 * (1.0 + np.sqrt(problem.value(k, x)))


@pytest.mark.parametrize("block", [*range(4), *(pytest.param(k, marks=pytest.mark.slow) for k in range(4, 20))])
def test_multipliers_prove_that_inequalities_are_kept_and_every_level_is_the_minimum(block: int) -> None:
    for seed in range(100 * block, 100 * block + 100):
        prove(with_rows(np.random.default_rng(seed)))
        prove(of_integers(np.random.default_rng(seed)))


def is_within_reach(problem: Problem) -> bool:
    """Whether the rows leave a little room, so that daqp with its tolerance says so as well."""
    most = np.append(problem.h, np.inf)
    rows = np.column_stack([problem.g, np.linalg.norm(problem.g, axis=1)])
    bounds = [*zip(problem.low, problem.high, strict=True), (None, 1.0)]
    found = optimize.linprog(np.append(np.zeros(len(problem.low)), -1.0), rows, most[:-1], bounds=bounds)
    return bool(found.status == 0 and found.x[-1] > 1e-6)


@pytest.mark.parametrize("block", [*range(3), *(pytest.param(k, marks=pytest.mark.slow) for k in range(3, 10))])
def test_every_level_under_inequalities_is_the_minimum_that_a_dense_solver_finds(block: int) -> None:
    compared = 0
    for seed in range(50 * block, 50 * block + 50):
        problem = with_rows(np.random.default_rng(seed))
        if is_within_reach(problem):
            check(problem, seed)
            compared += 1
    assert compared > 5


@settings(max_examples=200)
@given(seeds, st.sampled_from([with_rows, of_integers]))
def test_what_is_held_at_the_start_changes_nothing(seed: int, kind: Any) -> None:
    rng = np.random.default_rng(seed)
    problem = kind(rng)
    n, m = len(problem.low), sum(len(e) for _, e, _ in problem.levels)
    cold = problem.solve()
    held = rng.integers(-1, 2, n + len(problem.h)).astype(float)
    warm = problem.solve(side=held, order=rng.permutation(m))
    np.testing.assert_allclose(problem.over(warm), problem.over(cold), rtol=0, atol=1e-9)
    for j, *_ in problem.levels:
        np.testing.assert_allclose(j @ warm, j @ cold, rtol=0, atol=1e-10 * (1.0 + np.abs(j @ cold).max()))


@settings(max_examples=200)
@given(seeds)
def test_rows_that_hold_the_first_level_are_told_and_are_a_good_start(seed: int) -> None:
    problem = with_rows(np.random.default_rng(seed))
    n, p = len(problem.low), len(problem.h)
    side = np.zeros(n + p)
    x = problem.first(1).solve(side)
    assert set(side[:n]) <= {-1.0, 0.0, 1.0}
    assert set(side[n:]) <= {0.0, 1.0}
    held = side[n:] > 0.0
    size = np.abs(problem.h) + np.abs(problem.g).sum(axis=1) * (1.0 + np.abs(x).max())
    assert (problem.g[held] @ x >= problem.h[held] - 1e-11 * size[held]).all()
    again = problem.first(1).solve(side.copy())
    np.testing.assert_allclose(again, x, rtol=0, atol=1e-8 * (1.0 + np.abs(x).max()))


def test_rows_that_cannot_be_kept_are_broken_least_and_the_levels_take_what_is_left() -> None:
    """x <= -1 and x >= 1, with y free; then x <= 0 once more, which the middle keeps."""
    g = np.array([[1.0, 0.0], [-1.0, 0.0], [1.0, 0.0]])
    level = (np.eye(2), np.array([0.7, 0.3]), 0.0)
    torn = Problem([level], -np.ones(2), np.ones(2), None, g[:2], np.array([-1.0, -1.0]))
    np.testing.assert_allclose(torn.solve(), [0.0, 0.3], atol=1e-12)
    assert torn.beyond == pytest.approx(1.0)
    more = Problem([level], -np.ones(2), np.ones(2), None, g, np.array([-1.0, -1.0, 0.0]))
    np.testing.assert_allclose(more.solve(), [0.0, 0.3], atol=1e-12)
    far = Problem([level], -np.ones(2), np.ones(2), None, g[:1], np.array([-3.0]))
    np.testing.assert_allclose(far.solve(), [-1.0, 0.3], atol=1e-12)
    assert far.beyond == pytest.approx(2.0)


def test_a_start_that_breaks_a_row_gets_out_at_once() -> None:
    level = (np.eye(3), np.zeros(3), 0.1)
    inside = Problem([level], -np.ones(3), np.ones(3), None, np.array([[1.0, 2.0, 2.0]]), np.array([-0.9]))
    np.testing.assert_allclose(inside.solve(), [-0.1, -0.2, -0.2], atol=1e-12)
    assert inside.beyond == 0.0


def test_bounds_that_cross_meet_in_their_middle() -> None:
    level = (np.eye(2), np.array([5.0, 0.5]), 0.0)
    crossed = Problem([level], np.array([0.4, -1.0]), np.array([0.2, 1.0]))
    np.testing.assert_allclose(crossed.solve(), [0.3, 0.5], atol=1e-12)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_shows_and_ends(bad: float) -> None:
    rng = np.random.default_rng(5)
    for seed in range(60):
        problem = with_rows(np.random.default_rng(seed))
        places = [problem.levels[0][0], problem.levels[-1][1], problem.g, problem.h]
        if problem.phi is not None:
            places.append(problem.phi)
        for place in places:
            kept, at = place.copy(), rng.integers(place.size)
            place.reshape(-1)[at] = bad
            if not (place is problem.h and bad == np.inf):  # which is no limit
                side = rng.choice([-1.0, 0.0, 1.0, np.nan], size=len(problem.low) + len(problem.h))
                with np.errstate(all="ignore"):
                    assert np.isnan(problem.solve(side)).all()
                assert np.isnan(problem.beyond)
                assert not side.any()
            place[...] = kept
        for bound in (problem.low, problem.high):
            kept, at = bound.copy(), rng.integers(len(bound))
            bound[at] = np.nan
            assert np.isnan(problem.solve()).all()
            bound[:] = kept


@settings(max_examples=200)
@given(seeds)
def test_garbage_ends_too(seed: int) -> None:
    """Numbers of any size: no error, and an answer that is in the box or shows that it is none."""
    rng = np.random.default_rng(seed)
    problem = with_rows(rng)
    places = [problem.g, problem.h, *(part for j, e, _ in problem.levels for part in (j, e))]
    for place in places:
        wild = rng.random(place.shape) < 0.2
        place[wild] = (rng.choice([1e-300, 1e-160, 1e-20, 1e20, 1e160, 1e300], size=place.shape) * place)[wild]
    side = rng.choice([-1.0, 0.0, 1.0, np.nan, np.inf, 1e-300, 7.0], size=len(problem.low) + len(problem.h))
    with np.errstate(all="ignore"):
        x = problem.solve(side)
    assert (np.isnan(x) | ((problem.low <= x) & (x <= problem.high))).all()


@settings(max_examples=200)
@given(seeds)
def test_neither_the_bounds_at_the_start_nor_the_order_of_the_rows_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = random_problem(rng)
    n, m = len(problem.low), sum(len(e) for _, e, _ in problem.levels)
    plain = problem.solve()
    other = problem.solve(side=rng.integers(-1, 2, n).astype(float), order=rng.permutation(m))
    for j, *_ in problem.levels:
        np.testing.assert_allclose(j @ other, j @ plain, rtol=0, atol=1e-6 * (1.0 + np.abs(j @ plain).max()))


@settings(max_examples=100)
@given(seeds)
def test_what_holds_the_first_level_is_told_and_is_a_good_start(seed: int) -> None:
    problem = random_problem(np.random.default_rng(seed))
    side = np.zeros(len(problem.low))
    x = problem.first(1).solve(side)
    assert set(side) <= {-1.0, 0.0, 1.0}
    np.testing.assert_array_equal(x[side < 0.0], problem.low[side < 0.0])
    np.testing.assert_array_equal(x[side > 0.0], problem.high[side > 0.0])
    np.testing.assert_allclose(problem.first(1).solve(side.copy()), x, rtol=0, atol=1e-9 * (1.0 + np.abs(x).max()))
    told = np.zeros(len(problem.low))
    problem.solve(told)
    np.testing.assert_array_equal(told, side, err_msg="what the later levels hold is no start for the first")


@settings(max_examples=100)
@given(seeds)
def test_without_damping_and_bounds_it_is_the_chain_of_pseudoinverses(seed: int) -> None:
    """x <- x + (J P)^+ (e - J x), P <- P - (J P)^+ (J P), whose J x are the only ones."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 11))
    levels = [(rng.normal(size=(m, n)), rng.normal(size=m), 0.0) for m in rng.integers(1, 5, rng.integers(1, 5))]
    x = Problem(levels, np.full(n, -np.inf), np.full(n, np.inf)).solve()
    expected, free = np.zeros(n), np.eye(n)
    for j, e, _ in levels:
        inverse = np.linalg.pinv(j @ free, rtol=1e-9) if np.abs(j @ free).max() > 1e-9 else np.zeros((n, len(e)))
        expected = expected + inverse @ (e - j @ expected)
        free = free - inverse @ (j @ free)
        scale = np.linalg.norm(inverse, 2) + 1.0
        np.testing.assert_allclose(j @ x, j @ expected, rtol=0, atol=1e-9 * scale**2)


def test_a_level_gives_up_no_more_than_it_must() -> None:
    """Two unknowns whose sum is wanted beyond the box; their difference is wanted too, and has no room left."""
    wide = Problem([(np.array([[1.0, 1.0]]), np.array([3.0]), 0.0)], -np.ones(2), np.ones(2))
    np.testing.assert_allclose(wide.solve(), [1.0, 1.0], atol=1e-12)
    difference = (np.array([[1.0, -1.0]]), np.array([0.7]), 0.0)
    both = Problem([*wide.levels, difference], -np.ones(2), np.ones(2))
    np.testing.assert_allclose(both.solve(), [1.0, 1.0], atol=1e-12)
    less = Problem([(np.array([[1.0, 1.0]]), np.array([1.5]), 0.0), difference], -np.ones(2), np.ones(2))
    np.testing.assert_allclose(less.solve(), [1.0, 0.5], atol=1e-12)


@settings(max_examples=200)
@given(seeds)
def test_where_nothing_is_met_it_is_the_chain_of_damped_least_squares(seed: int) -> None:
    """Also beside a row that is far away, to the bit, and with one that says the same twice."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 20))
    sizes = rng.integers(1, 4, size=rng.integers(1, 4))
    sizes = sizes[np.cumsum(sizes) <= n]
    levels = [(rng.normal(size=(m, n)), rng.normal(size=m), float(rng.choice([0.0, 0.1]))) for m in sizes]
    levels[0][0][0] = 0.0  # such as a weight of 0 leaves
    box = np.full(n, 1e6)
    problem = Problem(levels, -box, box, rng.normal(size=n) if rng.random() < 0.5 else None)
    x = problem.solve()
    rows = np.vstack([np.zeros((0, n)), *(j[j.any(axis=1)] for j, *_ in levels)])
    assume(np.linalg.svd(rows)[1].min(initial=1.0) > 0.1)
    assert np.isfinite(x).all()
    kept, wanted = np.zeros((0, n)), np.zeros(n)
    for j, e, damping in levels:
        free = np.eye(n) - np.linalg.pinv(kept) @ kept if len(kept) else np.eye(n)
        # min |J (wanted + P y) - e|^2 + lambda^2 |wanted + P y|^2; wanted is normal to P y.
        stacked = np.vstack([j @ free, damping * free])
        wanted = wanted + free @ np.linalg.lstsq(stacked, np.concatenate([e - j @ wanted, np.zeros(n)]), rcond=1e-12)[0]
        kept = np.vstack([kept, j])
    if problem.phi is not None:
        wanted = wanted + (np.eye(n) - np.linalg.pinv(kept) @ kept) @ problem.phi
    np.testing.assert_allclose(x, wanted, atol=1e-6 * (1.0 + np.abs(wanted).max()))
    far = Problem(levels, -box, box, problem.phi, np.ones((1, n)), np.array([1e6]))
    np.testing.assert_array_equal(far.solve(), x)
    j, e, damping = levels[0]
    if damping == 0.0:  # else the same error counts more
        twice = [(np.vstack([j, j[-1:]]), np.append(e, e[-1]), damping), *levels[1:]]
        np.testing.assert_allclose(
            Problem(twice, -box, box, problem.phi).solve(), x, atol=1e-9 * (1.0 + np.abs(x).max())
        )

"""Paths along borders cost least: beside SciPy, and by the conditions of Karush, Kuhn and Tucker."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize, nnls

import poise as pz
from poise.common.array import Array
from poise.solving.path.residual_rows import Sides

ARM, TIP, ELBOW, ROWS = pz.load("panda"), "panda_hand", "panda_link5", 10
REACH, SUM = pz.PositionTask(TIP), np.array([1.0, 0.5, -0.5, 1.0, 1.0, -1.0, 0.5])
SEEDS = {
    "plane": [13, 14, 29], "distance": [14, 17, 29], "cone": [4, 14, 21], "sum": [5, 9, 22], "joints": [14, 22, 23]
}  # fmt: skip
"""Of lines that can be followed along a border, in steps that are none of them near to a jump."""


def places(q: Array, frame: str) -> Array:
    """(n, 3) of a frame at q (n, nq)."""
    return ARM.poses(q, [frame]).xyz.reshape(-1, 3)


@dataclass(frozen=True)
class Case:
    """A line along which a free path would cross a border."""

    points: Array
    q0: Array
    costs: dict[str, float]
    within: Callable[[Array], Array]
    """(n, 1) how far configurations (n, nq) are from the border, inside."""
    model: pz.Model = ARM
    ranges: list[pz.Task] = field(default_factory=list)
    limits: Any = True

    @property
    def weights(self) -> Array:
        return np.array([self.costs[name] for name in self.model.joint_names])

    def path(self, **settings: Any) -> pz.JointPath:
        poses = [self.points, *[None] * len(self.ranges)]
        return pz.solve_path(self.model, [REACH, *self.ranges], poses, q0=self.q0, limits=self.limits, **settings)

    def pull(self, q: Array) -> Array:
        """(n, nq) less the gradient of the price."""
        way = 2.0 * self.weights**2 * np.diff(q, axis=0)
        return np.diff(way, axis=0, prepend=0.0 * way[:1], append=0.0 * way[:1])

    def price(self, q: Array) -> float:
        return float(((self.weights * np.diff(q, axis=0)) ** 2).sum())

    def missed(self, q: Array) -> Array:
        return places(q, TIP) - self.points


def case(kind: str, seed: int) -> Case:
    """A random line, and a border at a part of the way that a free path would go."""
    rng = np.random.default_rng(seed)
    middle = 0.5 * (ARM.lower + ARM.upper)
    q0 = middle + 0.4 * (rng.uniform(ARM.lower, ARM.upper) - middle)
    way, axis = rng.normal(size=(2, 3))
    axis /= np.linalg.norm(axis)
    points = ARM.pose(TIP, q0).xyz + np.linspace(0.0, 0.35, ROWS)[:, None] * way / np.linalg.norm(way)
    costs = {name: float(np.exp(rng.uniform(0.0, np.log(100.0)))) for name in ARM.joint_names}
    free = pz.solve_path(ARM, REACH, points, q0=q0, joint_costs=costs)
    centre, beam = ARM.pose(ELBOW, q0).xyz - 0.4 * axis, ARM.pose(TIP, q0).rotation.act([0.0, 0.0, 1.0]) + 0.3 * axis

    def measure(q: Array) -> Array:
        if kind == "plane":
            return places(q, ELBOW) @ axis
        if kind == "distance":
            return np.asarray(np.linalg.norm(places(q, ELBOW) - centre, axis=1))
        if kind == "cone":
            return ARM.poses(q, [TIP]).matrix()[..., :3, 2].reshape(-1, 3) @ beam / -np.linalg.norm(beam)
        return q @ SUM if kind == "sum" else q[:, 0]

    begin, most = measure(free.q)[0], measure(free.q).max()
    at = float(begin + 0.6 * (most - begin))
    one = Case(points, q0, costs, lambda q: at - measure(q)[:, None])
    if kind == "plane":
        return replace(one, ranges=[pz.RegionTask(ELBOW, pz.HalfSpace(at * axis, axis))])
    if kind == "distance":
        return replace(one, ranges=[pz.DistanceTask(ELBOW, (0.0, at), centre)])
    if kind == "cone":
        return replace(one, ranges=[pz.ConeTask(TIP, target=beam, angle=float(np.arccos(-at)))])
    if kind == "sum":
        return replace(one, limits=[pz.LinearLimit(dict(zip(ARM.joint_names, SUM.tolist(), strict=True)), at)])
    return replace(one, model=ARM.with_limits({"panda_joint1": (-2.8973, at)}))


def cases(kind: str) -> Iterator[tuple[Case, pz.JointPath]]:
    """Those of a kind, with paths that meet their borders."""
    for seed in SEEDS[kind]:
        one = case(kind, seed)
        path = one.path(joint_costs=one.costs)
        assert path.success
        assert one.within(path.q).min() < 1e-6
        yield one, path


def derivatives(measure: Callable[[Array], Array], q: Array) -> Array:
    """(n, k, nq) of (n, k) at q (n, nq)."""
    nudges = 1e-6 * np.eye(q.shape[1])
    return np.stack([(measure(q + d) - measure(q - d)) / 2e-6 for d in nudges], axis=-1)


def least_by_scipy(one: Case, begin: Array) -> float:
    """What a path without a jump costs that SciPy comes to from another; infinite where it comes to none."""
    n, nq = begin.shape
    low, high = np.tile(one.model.lower, (n, 1)), np.tile(one.model.upper, (n, 1))
    low[0] = high[0] = one.q0
    scale = one.price(begin)

    def spread(rows: Array) -> Array:
        out = np.zeros((n, rows.shape[1], n, nq))
        out[np.arange(n), :, np.arange(n)] = rows
        return out.reshape(-1, n * nq)

    found = minimize(
        lambda x: one.price(x.reshape(n, nq)) / scale, begin.ravel(), method="SLSQP",
        jac=lambda x: -one.pull(x.reshape(n, nq)).ravel() / scale,
        bounds=np.stack([low.ravel(), high.ravel()], axis=1), options={"maxiter": 300, "ftol": 1e-9},
        constraints=[
            {"type": "eq", "fun": lambda x: one.missed(x.reshape(n, nq))[1:].ravel(),
             "jac": lambda x: spread(derivatives(one.missed, x.reshape(n, nq)))[3:]},
            {"type": "ineq", "fun": lambda x: one.within(x.reshape(n, nq)).ravel(),
             "jac": lambda x: spread(derivatives(one.within, x.reshape(n, nq)))},
        ],
    )  # fmt: skip
    q = found.x.reshape(n, nq)
    kept = np.abs(one.missed(q)).max() < 1e-6 and one.within(q).min() > -1e-6
    return one.price(q) if kept and not pz.jumps(q, one.model) else np.inf


@pytest.mark.parametrize("kind", SEEDS)
def test_scipy_finds_nothing_cheaper_along_a_border(kind: str) -> None:
    for one, path in cases(kind):
        assert one.price(path.q) <= 1.01 * min(least_by_scipy(one, q) for q in (path.q, one.path().q))


@pytest.mark.slow
@pytest.mark.parametrize("kind", SEEDS)
def test_of_many_lines_hardly_any_costs_more_than_scipy_finds(kind: str) -> None:
    # The rest end in another minimum than SciPy's, or at steps that are kept from being jumps.
    shares = list[float]()
    for one in (case(kind, seed) for seed in range(30)):
        path, plain = one.path(joint_costs=one.costs), one.path()
        if plain.success:
            assert path.success
            shares.append(one.price(path.q) / min(least_by_scipy(one, q) for q in (path.q, plain.q)))
    assert np.mean(np.array(shares) <= 1.01) > 0.85


@pytest.mark.parametrize("kind", SEEDS)
def test_forces_of_tasks_and_borders_withstand_all_of_the_pull(kind: str) -> None:
    # Karush, Kuhn and Tucker: at each row the pull is a sum of rows of the tasks, and of those of borders that are met,
    # which push inward alone.
    for one, path in cases(kind):
        q, pull = path.q, one.pull(path.q)
        assert (q >= one.model.lower).all()
        assert (q <= one.model.upper).all()
        assert one.within(q).min() >= -1e-6
        rows, slopes = derivatives(one.missed, q), derivatives(one.within, q)
        scale = np.linalg.norm(one.weights**2 * np.diff(q, axis=0), axis=1).max()
        for t in range(1, ROWS):
            met = [-slope for slope, left in zip(slopes[t], one.within(q)[t], strict=True) if left < 1e-5]
            met += [np.eye(7)[i] for i in np.flatnonzero(q[t] > one.model.upper - 1e-5)]
            met += [-np.eye(7)[i] for i in np.flatnonzero(q[t] < one.model.lower + 1e-5)]
            assert nnls(np.column_stack([*rows[t], *-rows[t], *met]) / scale, pull[t] / scale)[1] < 1e-3


@pytest.mark.parametrize(("kind", "seed"), [("plane", 34), ("distance", 10), ("cone", 0), ("cone", 15), ("joints", 16)])
def test_costs_make_no_path_dearer_where_cheap_joints_would_leap(kind: str, seed: int) -> None:
    one = case(kind, seed)
    dear, plain = one.path(joint_costs=one.costs), one.path()
    assert dear.success
    assert plain.success
    assert one.price(dear.q) < one.price(plain.q)


def test_costs_far_apart_keep_a_path_whole() -> None:
    one = case("plane", 13)
    costs = one.costs | {"panda_joint2": 1e4, "panda_joint4": 1.0}
    path = replace(one, costs=costs).path(joint_costs=costs)
    assert path.success
    assert replace(one, costs=costs).price(path.q) < replace(one, costs=costs).price(one.path().q)


@pytest.mark.parametrize("kind", ["plane", "distance", "cone"])
def test_sides_of_ranges_and_their_slopes_are_those_of_the_border(kind: str) -> None:
    one, rng = case(kind, SEEDS[kind][0]), np.random.default_rng(0)
    tasks, q = [REACH, *one.ranges], rng.uniform(ARM.lower, ARM.upper, (20, 7))
    sides = Sides(ARM, tasks, np.arange(7))
    goals = np.tile(
        np.concatenate([task.goal_on(ARM, one.points[0] if task is REACH else None) for task in tasks]), (20, 1)
    )

    def beyond(x: Array) -> Array:
        return sides(goals, x)[0]

    inside = one.within(q)[:, 0] > 0.0
    assert np.array_equal(beyond(q)[:, 0] < 0.0, inside)
    assert inside.any()
    assert not inside.all()
    assert np.allclose(sides(goals, q)[1][:, 0], derivatives(beyond, q)[:, 0], atol=1e-6)
    assert sides.equations.tolist() == [True] * 3 + [False] * (len(sides.equations) - 3)

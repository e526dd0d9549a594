"""The vector between two frames is led to a target, and a loss of its length may take the place of its square."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from support.refusals import refused

import poise as pz
from poise.solving.problem.problem import pack
from poise.solving.problem.rows import rows_at
from poise.solving.problem.workspace import Bound

ARM = pz.load("panda")
KINDS: list[dict[str, Any]] = [
    {},
    {"base": "panda_link3"},
    {"scale": 2.0, "weight": [1.0, 0.5, 2.0]},
    {"huber": 0.05, "weight": 3.0},
    {"huber": 0.02, "base": "panda_hand"},
]


def task(**options: Any) -> pz.VectorTask:
    return pz.VectorTask("panda_link4", "panda_hand", **options)


def loss(x: Any, h: float) -> Any:
    return np.where(x <= h, 0.5 * x * x, h * (x - 0.5 * h))


@pytest.mark.parametrize("options", KINDS)
@settings(max_examples=25)
@given(seed=st.integers(0, 2**32), apart=st.sampled_from([1e-3, 0.03, 0.3]))
def test_rows_and_their_jacobian(options: dict[str, Any], seed: int, apart: float) -> None:
    rng = np.random.default_rng(seed)
    q = ARM.sample(seed=rng)
    some = task(**options)
    some = replace(some, target=some.target_at(ARM, q) + apart * rng.normal(size=3))
    bound, goal = Bound(pack(ARM, [some])), some.goal(some.target)
    e, jacobian = rows_at(ARM, [some], bound, q, goal)

    poses = ARM.poses(q, ["panda_link4", "panda_hand"])
    lacking = some.scale * np.asarray(some.target) - (
        (poses[1].xyz - poses[0].xyz)
        if some.base is None
        else ARM.pose(some.base, q).rotation.inverse().act(poses[1].xyz - poses[0].xyz)
    )
    weighed = lacking * some.weight
    if np.isfinite(some.huber):
        length = np.linalg.norm(lacking)
        assert 0.5 * e @ e == pytest.approx(np.square(some.weight) * loss(length, some.huber), rel=1e-9)
        np.testing.assert_allclose(np.cross(e, lacking), 0.0, atol=1e-12)
    else:
        np.testing.assert_allclose(e, weighed, atol=1e-12)

    def rows(v: np.ndarray) -> np.ndarray:
        return rows_at(ARM, [some], bound, ARM.integrate(q, v), goal)[0]

    found = [(rows(-d) - rows(d)) / 2e-6 for d in 1e-6 * np.eye(ARM.nv)]
    np.testing.assert_allclose(jacobian, np.transpose(found), atol=2e-6)


@pytest.mark.parametrize("options", KINDS)
def test_reached_by_solving_tracking_and_in_lanes(options: dict[str, Any]) -> None:
    goal = task(**options)
    there, starts = ARM.sample(12, seed=1), ARM.sample(12, seed=2)
    targets = np.array([goal.target_at(ARM, q) for q in there])
    batch = pz.solve_batch(ARM, goal, targets, q0=starts)
    assert batch.success.all()
    for q, target in zip(batch.q, targets, strict=True):
        np.testing.assert_allclose(goal.vector(ARM, q), goal.scale * target, atol=2e-6)
    one = pz.solve(ARM, replace(goal, target=targets[0]), q0=starts[0])
    assert one.success

    near = np.array([goal.target_at(ARM, q) for q in ARM.integrate(there[:3], np.full(ARM.nv, 0.02))])
    tracker = pz.Tracker(ARM, goal)
    way = np.zeros((3, 60, 1, 7))
    way[..., 3] = 1.0
    way[:, :, 0, :3] = goal.scale * near[:, None]
    alone = [tracker.rollout(q, targets) for q, targets in zip(there[:3], way, strict=True)]
    np.testing.assert_allclose(tracker.rollout(there[:3], way, threads=1), alone, atol=1e-9)
    tracker.reset()
    q = there[0]
    for _ in range(60):
        q = tracker.step(q, near[0])
    np.testing.assert_allclose(q, alone[0][-1], atol=1e-9)
    np.testing.assert_allclose(goal.vector(ARM, q), goal.scale * near[0], atol=1e-3)


def test_what_is_out_of_reach_is_lessened_by_its_loss() -> None:
    h = 0.05
    tasks = [
        task(target=[0.9, 0.0, 0.0], huber=h, required=False),
        pz.VectorTask("panda_link0", "panda_hand", target=[0.3, 0.2, 0.4], huber=h, required=False),
    ]
    found = pz.solve(ARM, tasks, seed=0)

    def cost(q: np.ndarray) -> float:
        ways = [np.linalg.norm(np.asarray(t.target) - t.vector(ARM, q)) for t in tasks]
        return float(sum(loss(way, h) for way in ways))

    bounds = list(zip(ARM.lower, ARM.upper, strict=True))
    least = min(minimize(cost, q, bounds=bounds, method="L-BFGS-B").fun for q in [found.q, *ARM.sample(6, seed=3)])
    assert cost(found.q) <= least + 1e-6
    for t, error in zip(tasks, found.errors, strict=True):
        assert error.position == pytest.approx(np.linalg.norm(np.asarray(t.target) - t.vector(ARM, found.q)), rel=1e-9)


def test_from_the_world_it_is_a_position() -> None:
    q = ARM.sample(seed=4)
    vector = pz.VectorTask("world", "panda_hand")
    np.testing.assert_allclose(vector.vector(ARM, q), ARM.pose("panda_hand", q).xyz)
    assert vector.label == "VectorTask('world', 'panda_hand')"


@pytest.mark.parametrize(
    ("make", "code", "words"),
    [
        (lambda: pz.VectorTask("panda_hand", "panda_hand"), "duplicate", "named twice"),
        (lambda: task(scale=0.0), "not-positive", "scale"),
        (lambda: task(huber=-1.0), "not-positive", "huber"),
        (lambda: task(huber=1e-8), "conflict", "less than the tolerance"),
        (lambda: task(huber=0.1, weight=[1, 1, 0]), "conflict", "one number"),
        (lambda: task(target=[1.0, 2.0]), "wrong-shape", "shape"),
        (
            lambda: pz.solve(ARM, pz.VectorTask("world", "panda_link0", target=[0, 0, 1])),
            "nothing-moves",
            "never moves",
        ),
        (lambda: pz.solve_batch(ARM, task(), np.zeros((3, 4))), "wrong-shape", "shape"),
    ],
)
def test_refused(make: Any, code: str, words: str) -> None:
    with refused(code, words):
        make()

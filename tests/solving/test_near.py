"""What `select` promises: of the solutions found the nearest to q0, by a stated distance."""

import numpy as np
import pytest
from support.refusals import refused

import poise as pz
from poise.solving.search.settings import Preference

ARMS = ("panda", "iiwa14", "ur5e")


def problems(model: pz.Model, reach: float, count: int, seed: int) -> list[tuple[pz.SE3, np.ndarray]]:
    """Targets up to `reach` of motion a joint away from their starts."""
    random = np.random.default_rng(seed)
    starts = model.sample(count, seed=seed)
    goals = np.clip(starts + random.uniform(-reach, reach, starts.shape), model.lower, model.upper)
    return [(model.pose(model.tip, goal), start) for goal, start in zip(goals, starts, strict=True)]


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("reach", [0.3, 0.6])
def test_never_far_where_careful_descent_stays_near(name: str, reach: float) -> None:
    model = pz.load(name)
    task = pz.PoseTask(model.tip)
    solver = pz.Solver(model, task)
    careful = pz.Solver(model, task, method="lm", max_restarts=0)
    judged = 0
    for target, start in problems(model, reach, 400, seed=1):
        found, near = solver(target, start), careful(target, start)
        way = np.abs(near.q - start).max()
        if near.success and way < 2.0 * reach:
            judged += 1
            assert found.success
            assert np.abs(found.q - start).max() < max(2.0 * reach, 1.5 * way)
    assert judged > 350


def test_first_is_the_race_that_nearest_is_not() -> None:
    model = pz.load("panda")
    nearest = pz.Solver(model, pz.PoseTask(model.tip))
    first = pz.Solver(model, pz.PoseTask(model.tip), select="first")
    assert (nearest.select, first.select) == ("nearest", "first")
    near, race = [], []
    for target, start in problems(model, 0.6, 300, seed=2):
        near.append(nearest(target, start).distance)
        race.append(first(target, start).distance)
    assert max(near) < max(race)
    assert np.mean(near) < 0.9 * np.mean(race)


@pytest.mark.parametrize("select", ["nearest", "first"])
def test_without_restarts_every_answer_is_from_q0(select: Preference) -> None:
    model = pz.load("panda")
    solver = pz.Solver(model, pz.PoseTask(model.tip), select=select, max_restarts=0)
    missed = 0
    for q0, goal in zip(model.sample(200, seed=3), model.sample(200, seed=4), strict=True):
        found = solver(model.pose(model.tip, goal), q0)
        other = pz.solve(
            model, pz.PoseTask(model.tip, model.pose(model.tip, goal)), q0=q0, select=select, max_restarts=0, seed=77
        )
        assert (found.start, found.restarts) == (0, 0)
        assert np.array_equal(found.q, other.q), "a seed decides nothing without random starts"
        missed += not found.success
    assert 0 < missed < 150


def test_the_start_that_won_is_told() -> None:
    model = pz.load("panda")
    solver = pz.Solver(model, pz.PoseTask(model.tip))
    told = set()
    for q0, goal in zip(model.sample(200, seed=5), model.sample(200, seed=6), strict=True):
        found = solver(model.pose(model.tip, goal), q0)
        assert 0 <= found.start <= found.restarts
        told.add(found.start)
        words = f"from random start {found.start} of {found.restarts}" if found.start else "from q0"
        assert words in repr(found)
    assert 0 in told
    assert len(told) > 3


@pytest.mark.parametrize("name", [*ARMS, "g1"])
@pytest.mark.parametrize("method", [None, "lm"])
def test_distance_is_that_of_difference(name: str, method: str | None) -> None:
    model = pz.load(name)
    for seed in range(10):
        goal, q0 = model.sample(2, seed=seed)
        found = pz.solve(model, pz.PoseTask(model.tip, model.pose(model.tip, goal)), q0=q0, method=method)
        # No joint of these has room for a whole turn that would bring it nearer.
        assert found.distance == pytest.approx(np.linalg.norm(model.difference(q0, found.q)), rel=1e-12, abs=1e-12)


def test_distance_takes_no_whole_turn_that_limits_allow() -> None:
    model = pz.load("ur5e")
    q0 = np.array([-6.0, -1.5, 1.5, -1.5, -1.5, 6.0])
    goal = q0 + np.array([2.0 * np.pi, 0.0, 0.0, 0.0, 0.0, -2.0 * np.pi])
    found = pz.solve(model, pz.PoseTask(model.tip, model.pose(model.tip, goal)), q0=q0)
    assert found.distance < 1e-6
    assert np.allclose(found.q, q0, atol=1e-6)


def test_a_joint_on_its_limit_is_turned_to_the_other_one() -> None:
    """Rounding must not keep a joint a whole turn away from q0 where the limits are that far apart."""
    model = pz.load("ur5e")
    solver = pz.Solver(model, pz.PoseTask(model.tip))
    for seed in range(100):
        q0 = model.sample(seed=seed)
        q0[5] = 6.2
        # The others are within theirs: where an arm is folded onto a limit, rounding decides whether it is beyond.
        inside = model.lower + 1e-3, model.upper - 1e-3
        goal = np.clip(q0 + np.random.default_rng(seed).uniform(-0.3, 0.3, 6), *inside)
        goal[5] = model.upper[5]
        assert solver(model.pose(model.tip, goal), q0).distance < 3.0


@pytest.mark.parametrize("name", ARMS)
def test_small_steps_of_a_target_make_no_jump_that_could_be_avoided(name: str) -> None:
    model = pz.load(name)
    task = pz.PoseTask(model.tip)
    solver, careful = pz.Solver(model, task), pz.Solver(model, task, method="lm", max_restarts=0)
    random = np.random.default_rng(7)
    for seed in range(12):
        q = model.sample(seed=seed)
        pose, radius = model.pose(model.tip, q), random.uniform(0.05, 0.2)
        u, v = np.linalg.qr(random.normal(size=(3, 2)))[0].T
        for angle in np.arange(0.003 / radius, 2.0 * np.pi, 0.003 / radius):
            place = pose.xyz + radius * ((np.cos(angle) - 1.0) * u + np.sin(angle) * v)
            target = pz.SE3.from_parts(place, pose.rotation)
            found = solver(target, q)
            if not found.success:
                break
            if np.abs(found.q - q).max() > 0.5:
                other = careful(target, q)
                assert not other.success or np.abs(other.q - q).max() > 0.45
            q = found.q


def test_preferences_that_are_none() -> None:
    model = pz.load("planar3")
    for wrong in ("fast", None, 1, ["nearest"]):
        with refused("unknown-word", "select"):
            pz.Solver(model, pz.PositionTask(model.tip), select=wrong)  # type: ignore[arg-type]
        with refused("unknown-word", "select"):
            pz.solve(model, pz.PositionTask(model.tip, [1.0, 0.0, 0.0]), select=wrong)  # type: ignore[arg-type]


def test_when_the_time_is_spent_the_nearest_so_far_comes_back() -> None:
    """A descent from q0 that is waited for does not cost the answer that is there."""
    model = pz.load("panda")
    short = pz.Solver(model, pz.PoseTask(model.tip), max_time=1e-9)
    long = pz.Solver(model, pz.PoseTask(model.tip))
    solved = 0
    for q0, goal in zip(model.sample(100, seed=8), model.sample(100, seed=9), strict=True):
        target = model.pose(model.tip, goal)
        hasty, patient = short(target, q0), long(target, q0)
        solved += hasty.success
        if hasty.success:
            assert patient.distance <= hasty.distance + 1e-9
    assert solved > 50

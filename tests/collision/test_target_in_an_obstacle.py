"""A pose at which the hand itself is in an obstacle is said to have no solution, and no other one is; coal measures."""

import numpy as np
import pytest
from by_coal import ByCoal

import poise as pz

LEAST = 0.01
WRIST = "wrist_3_link"
CERTAIN = "so there is no solution"


def arm() -> pz.Model:
    """A UR5e whose last link alone has shapes."""
    return pz.load("ur5e").with_shapes(
        {WRIST: [pz.Box(pz.SE3.from_parts([0.0, 0.02, 0.05]), (0.06, 0.1, 0.08)), pz.Sphere((0.0, 0.0, 0.15), 0.03)]}
    )


@pytest.mark.parametrize("seed", range(3))
def test_the_hand_is_in_an_obstacle_where_coal_says_so(seed: int) -> None:
    model, seen = arm(), set()
    rng = np.random.default_rng(seed)
    q = model.sample(20, seed=seed)
    for one in q:
        goal = model.pose(model.tip, one)
        beside = goal.xyz + rng.normal(scale=0.1, size=3)
        world = pz.World({"rock": pz.Sphere(beside, 0.05), "floor": pz.HalfSpace((0, 0, -0.4), (0, 0, 1))})
        limit = pz.CollisionLimit(world, min_distance=LEAST, self_collision=False)
        answer = pz.solve(model, pz.PoseTask(model.tip, goal), limits=[limit])
        least = ByCoal(model, world).least(one)
        if abs(least - LEAST) < 1e-4:
            continue
        blocked = least < LEAST
        assert answer.success != blocked
        assert (CERTAIN in answer.explain()) == blocked
        seen.add(blocked)
        if least < 0.0:
            deep = answer.explain().split(f"At the target {WRIST!r} itself is ")[1].split(" m deep in")[0]
            assert float(deep) == pytest.approx(-least, rel=0.01)
    assert seen == {False, True}


@pytest.mark.parametrize(("tolerance", "certain"), [(1e-6, True), (0.05, True), (0.1, False)])
def test_tolerances_that_lead_out_of_the_obstacle_leave_it_open(tolerance: float, certain: bool) -> None:
    model, tip = arm().with_shapes({WRIST: pz.Sphere((0.0, 0.0, 0.0), 0.03)}), WRIST
    goal = model.pose(tip, model.sample(seed=5))
    limit = pz.CollisionLimit(pz.World({"rock": pz.Sphere(goal.xyz, 0.05)}), min_distance=LEAST, self_collision=False)
    task = pz.PoseTask(tip, goal, position_tolerance=tolerance)  # out of the rock and 1 cm away are 9 cm
    answer = pz.solve(model, task, limits=[limit])
    assert not (answer.success and certain)
    assert (CERTAIN in answer.explain()) == certain


@pytest.mark.parametrize("method", ["dls", "lm"])
def test_what_is_certain_is_the_status_of_all_methods(method: str) -> None:
    model = arm()
    world = pz.World({"rock": pz.Sphere(model.pose(model.tip, model.sample(seed=5)).xyz, 0.05)})
    limit = pz.CollisionLimit(world, min_distance=LEAST, self_collision=False)
    goal = pz.PoseTask(model.tip, model.pose(model.tip, model.sample(seed=5)))
    for iterations in (2, 200):
        answer = pz.solve(model, goal, limits=[limit], method=method, max_iterations=iterations)
        assert CERTAIN in answer.explain()
        assert answer.status is pz.Status.COLLISION
        assert "more max_iterations" not in answer.explain()


def test_what_may_touch_and_what_asks_for_no_rotation_is_left_open() -> None:
    model = arm()
    goal = model.pose(model.tip, model.sample(seed=5))
    world = pz.World({"rock": pz.Sphere(goal.xyz, 0.05)})
    free = pz.CollisionLimit(world, min_distance=LEAST, self_collision=False, allowed=[(WRIST, "rock")])
    assert pz.solve(model, pz.PoseTask(model.tip, goal), limits=[free]).success
    limit = pz.CollisionLimit(world, min_distance=LEAST, self_collision=False)
    place = pz.solve(model, pz.PositionTask(model.tip, goal.xyz), limits=[limit], max_restarts=2)
    assert CERTAIN not in place.explain()

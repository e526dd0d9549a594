"""Free ways in kernels: what they call free is free wherever it is looked at, by other eyes too."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest

import poise as pz
from poise.solving.path.clock import Clock
from poise.solving.path.connect import connect
from poise.solving.path.feasibility import PathFeasibility
from poise.solving.path.walk import Walk
from poise.solving.requirements.clearance import Clearance
from poise.solving.requirements.path_constraint import RESERVE
from poise_experiments.motion_bench_maker.judge import Judge, installed
from poise_experiments.motion_bench_maker.problem import START, Problem, panda
from poise_experiments.motion_bench_maker.sets import problem_sets

LIMITS = {"panda_joint4": (-3.1416, 0.0873)}
"""Of the sets [rad]: some goals are beyond those of the robot's file."""


def first_of(name: str) -> tuple[pz.Model, Problem, Clearance]:
    """A set's first problem, and what is to be kept there."""
    arm, problem = panda().with_limits(LIMITS), problem_sets()[name][0]
    return arm, problem, Clearance(arm, pz.CollisionLimit(problem.world, min_distance=0.0))


def walk(model: pz.Model, clearance: Clearance, q0: np.ndarray, q1: np.ndarray) -> Walk:
    return Walk(model, PathFeasibility([clearance]), q0, q1, np.ones(model.nq, dtype=np.bool_))


def fine(model: pz.Model, way: np.ndarray, looks: int) -> np.ndarray:
    """(n, nq) so many configurations on each part of a way."""
    share = np.linspace(0.0, 1.0, looks)
    return np.concatenate([model.interpolate(a, b, share) for a, b in pairwise(way)])


@pytest.mark.parametrize("name", ["bookshelf_small", "box"])
def test_a_straight_way_is_free_where_all_of_it_is(name: str) -> None:
    arm, _, clearance = first_of(name)
    rng, told = np.random.default_rng(0), []
    for q0 in arm.sample(60, seed=rng):
        q1 = arm.clip(q0 + rng.normal(scale=0.3, size=arm.nq))
        least = clearance(fine(arm, np.stack([q0, q1]), 200)).min()
        free = walk(arm, clearance, q0, q1).straight() is not None
        told.append(free)
        assert not free or least >= 0.0
        assert free or least < 3.0 * RESERVE
    assert 10 < sum(told) < 50


@pytest.mark.skipif(not installed(), reason="needs Pinocchio and coal")
@pytest.mark.parametrize("name", ["bookshelf_tall", "table_pick"])
def test_a_plan_is_free_by_the_meshes_of_the_robots_file(name: str) -> None:
    arm, problem, clearance = first_of(name)
    keep = pz.CollisionLimit(problem.world, min_distance=0.0)
    path = pz.plan(arm, pz.PostureTask(tolerance=1e-6), [problem.goal], q0=np.array(START), limits=[keep])
    assert path.success, path.explain()
    assert clearance(fine(arm, path.q, 20)).min() >= 0.0
    judge = Judge(problem)
    for q in fine(arm, path.q, 3):
        judged = judge(q)
        assert judged.free
        assert judged.self_free


def test_a_seed_gives_one_way_on_any_thread() -> None:
    arm, problem, clearance = first_of("box")
    moved = np.ones(arm.nq, dtype=np.bool_)

    def found(seed: int) -> np.ndarray | None:
        own = PathFeasibility([Clearance(arm, pz.CollisionLimit(problem.world, min_distance=0.0))])
        return connect(arm, own, np.array(START), problem.goal, moved, seed=seed, clock=Clock(None))

    with ThreadPoolExecutor(3) as pool:
        one, other, third = pool.map(found, [1, 1, 2])
    assert one is not None
    assert other is not None
    assert third is not None
    assert np.array_equal(one, other)
    assert not np.array_equal(one, third)
    assert clearance(fine(arm, one, 100)).min() >= 0.0


def test_work_that_is_spent_ends_the_search() -> None:
    """Behind closed walls there is nothing to come to."""
    ball, wall = flyer(), pz.World({f"wall {k}": each for k, each in enumerate(closed_box())})
    own = PathFeasibility([Clearance(ball, pz.CollisionLimit(wall, min_distance=0.0))])
    inside, outside = ball.neutral.copy(), ball.neutral.copy()
    outside[0] = 2.0
    assert min(own(np.stack([inside, outside]))) > 0.0
    moved = np.ones(ball.nq, dtype=np.bool_)
    assert connect(ball, own, inside, outside, moved, seed=0, clock=Clock(None), most=20) is None


def flyer() -> pz.Model:
    """A long capsule that flies freely."""
    builder = pz.ModelBuilder("flyer")
    builder.joint("root", "floating", parent="world", child="body")
    return builder.build().with_shapes({"body": pz.Capsule([-0.3, 0.0, 0.0], [0.3, 0.0, 0.0], 0.05)})


def closed_box() -> list[pz.Box]:
    """Six walls around the origin, 0.9 m from it."""
    walls = []
    for axis in range(3):
        for side in (-1.0, 1.0):
            place, size = np.zeros(3), np.full(3, 2.0)
            place[axis], size[axis] = 0.9 * side, 0.1
            walls.append(pz.Box(pz.SE3.from_parts(place), size))
    return walls


def test_rotations_are_ways_as_well() -> None:
    """Through a slot that the capsule fits into only lengthwise: it has to turn."""
    body = flyer()
    slot = pz.World(
        {
            "below": pz.Box(pz.SE3.from_parts([0.0, 0.0, -1.15]), [0.1, 4.0, 2.0]),
            "above": pz.Box(pz.SE3.from_parts([0.0, 0.0, 1.15]), [0.1, 4.0, 2.0]),
        }
    )
    clearance = Clearance(body, pz.CollisionLimit(slot, min_distance=0.0))
    upright = pz.SO3.from_rotvec([0.0, 0.5 * np.pi, 0.0]).wxyz
    q0, q1 = np.array([-1.0, 0.0, 0.0, *upright]), np.array([1.0, 0.3, 0.0, *upright])
    q0, q1 = body.normalize(q0), body.normalize(q1)
    moved = np.ones(body.nq, dtype=np.bool_)
    way = connect(body, PathFeasibility([clearance]), q0, q1, moved, seed=0, clock=Clock(None))
    assert way is not None
    assert np.array_equal(way[[0, -1]], [q0, q1])
    assert clearance(fine(body, way, 200)).min() >= 0.0


@pytest.mark.parametrize("room", [0.0, 1e-9, 1e-4])
def test_what_stands_at_its_least_distance_gets_away(room: float) -> None:
    """As an answer of `solve` with the same limit does, beside a wall and a floor."""
    body = flyer()
    walls = pz.World({"wall": pz.Box(pz.SE3.from_parts([1.0, 0.0, 0.0]), [1.0, 8.0, 8.0])})
    walls.add("floor", pz.HalfSpace([0.0, 0.0, -0.5], [0.0, 0.0, 1.0]))
    keep = pz.CollisionLimit(walls, min_distance=0.02)
    clearance = Clearance(body, keep)
    q0, q1 = body.neutral.copy(), body.neutral.copy()
    q0[:3], q1[:3] = [0.13 - room, 0.0, -0.43 + room], [-0.5, 0.5, 0.2]
    assert walk(body, clearance, q0, q1).straight() is not None
    assert walk(body, clearance, q1, q0).straight() is not None
    path = pz.plan(body, pz.PostureTask(tolerance=1e-6), [q1], q0=q0, limits=[keep])
    assert path.success, path.explain()
    assert clearance(fine(body, path.q, 20)).min() > -1e-9

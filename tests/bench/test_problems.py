"""Sets of problems: seeded, within the limits, and what their names say."""

import numpy as np
import pytest
from support.refusals import refused

import poise as pz
from poise.bench.judge import judge
from poise.bench.problems import SETS, Problems, goals, near, reachable, singular, unreachable

ARM = pz.load("panda")
TASKS = [pz.PoseTask(ARM.tip)]


def numbers(problems: Problems) -> np.ndarray:
    return goals(ARM, TASKS, problems.targets)


@pytest.mark.parametrize("name", SETS)
def test_the_same_seed_makes_the_same_problems(name: str) -> None:
    one, same, other = (SETS[name](ARM, TASKS, 5, seed) for seed in (3, 3, 4))
    assert (numbers(one) == numbers(same)).all()
    assert (one.starts == same.starts).all()
    assert (numbers(one) != numbers(other)).any(axis=1).all()
    assert (one.starts != other.starts).all()


@pytest.mark.parametrize("name", SETS)
def test_starts_keep_the_limits(name: str) -> None:
    problems = SETS[name](ARM, TASKS, 50, 0)
    assert problems.starts.shape == (50, ARM.nq)
    assert ARM.within_limits(problems.starts)


def test_more_problems_begin_with_the_same_ones() -> None:
    few, many = reachable(ARM, TASKS, 5, 0), reachable(ARM, TASKS, 20, 0)
    assert (numbers(many)[:5] == numbers(few)).all()
    assert (many.starts[:5] == few.starts).all()


def test_targets_and_starts_are_independent() -> None:
    problems = reachable(ARM, TASKS, 50, 0)
    assert not judge(
        ARM, [pz.PoseTask(ARM.tip, position_tolerance=1e-3)], numbers(problems), problems.starts
    ).reached.any()


def test_reachable_targets_are_reached() -> None:
    problems = reachable(ARM, TASKS, 20, 0)
    assert all(pz.solve(ARM, pz.PoseTask(ARM.tip, target)).success for target in problems.targets)


def test_near_starts_are_near_an_answer() -> None:
    problems = near(ARM, TASKS, 50, 0)
    pairs = zip(problems.targets, problems.starts, strict=True)
    moves = [np.abs(pz.solve(ARM, pz.PoseTask(ARM.tip, target), q0=q).q - q).max() for target, q in pairs]
    assert np.median(moves) <= 0.1


def test_singular_targets_are_harder_than_random_ones() -> None:
    def worst(problems: Problems) -> float:
        found = [pz.solve(ARM, pz.PoseTask(ARM.tip, target)).q for target in problems.targets]
        values = np.linalg.svd(ARM.jacobian(ARM.tip, np.array(found)), compute_uv=False)
        return float(np.median(values[:, -1]))

    assert worst(singular(ARM, TASKS, 20, 0)) < 0.5 * worst(reachable(ARM, TASKS, 20, 0))


def test_targets_out_of_reach_are_not_reached() -> None:
    problems = unreachable(ARM, TASKS, 5, 0)
    for target in problems.targets:
        solution = pz.solve(ARM, pz.PoseTask(ARM.tip, target), max_restarts=8)
        assert solution.position_error > 0.1


def test_what_is_never_out_of_reach_is_refused() -> None:
    with refused("not-supported", "OrientationTask"):
        unreachable(ARM, [pz.OrientationTask(ARM.tip)], 5, 0)
    builder = pz.ModelBuilder("rail")
    builder.joint("slide", "prismatic", parent="base", child="cart")
    with refused("no-limits", "'slide'"):
        unreachable(builder.build(), [pz.PositionTask("cart")], 5, 0)

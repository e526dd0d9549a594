"""One seed, one answer, to the last bit: whenever, in whatever order, on whatever thread, in whatever process."""

import json
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest
from support.refusals import refused

import poise as pz
from poise.solving.problem.workspace import Scratch

Array = npt.NDArray[np.float64]


@cache
def jobs() -> list[tuple[pz.SE3, Array]]:
    """Targets for the Panda within reach and far out, near the start and far from it."""
    arm = pz.load("panda")
    out = []
    for i, (there, start) in enumerate(zip(arm.sample(24, seed=1), arm.sample(24, seed=2), strict=True)):
        pose = arm.pose("panda_hand", there)
        if i % 4 == 1:
            pose = pz.SE3.from_parts([2.0, 0.1 * i, 0.3]) @ pose
        elif i % 4 == 2:
            start = np.clip(there + 0.01, arm.lower, arm.upper)
        out.append((pose, start))
    return out


def one_by_one(arm: pz.Model) -> list[pz.Solution]:
    """Every job by a solver of its own."""
    return [pz.Solver(arm, pz.PoseTask("panda_hand"))(target, start) for target, start in jobs()]


def digits(solution: pz.Solution) -> tuple[bytes, int, int, float]:
    """All that the seed decides."""
    return solution.q.tobytes(), solution.iterations, solution.restarts, solution.cost


@cache
def wanted() -> list[tuple[bytes, int, int, float]]:
    return [digits(solution) for solution in one_by_one(pz.load("panda"))]


def reusing(arm: pz.Model) -> list[pz.Solution]:
    solver = pz.Solver(arm, pz.PoseTask("panda_hand"))
    return [solver(target, start) for target, start in jobs()]


def backwards(arm: pz.Model) -> list[pz.Solution]:
    solver = pz.Solver(arm, pz.PoseTask("panda_hand"))
    return [solver(target, start) for target, start in reversed(jobs())][::-1]


def twice(arm: pz.Model) -> list[pz.Solution]:
    reusing(arm)
    return reusing(arm)


def by_solve(arm: pz.Model) -> list[pz.Solution]:
    return [pz.solve(arm, pz.PoseTask("panda_hand", target), q0=start) for target, start in jobs()]


def in_slices_of_time(arm: pz.Model) -> list[pz.Solution]:
    """With an hour to spend, the search pauses to look at the clock and goes on where it was."""
    solver = pz.Solver(arm, pz.PoseTask("panda_hand"), max_time=3600.0)
    return [solver(target, start) for target, start in jobs()]


def between_other_calls(arm: pz.Model) -> list[pz.Solution]:
    """Other targets, starts, seeds and refused questions in between leave no trace."""
    solver = pz.Solver(arm, pz.PoseTask("panda_hand"))
    out = []
    for i, (target, start) in enumerate(jobs()):
        solver(jobs()[i - 7][0], jobs()[i - 3][1], seed=i)
        solver.linearise(jobs()[i - 5][1], jobs()[i - 2][0])
        with refused("not-finite", "q0"):
            solver(target, np.full(7, np.nan))
        out.append(solver(target, start))
        out[-1].explain()
    return out


def on_four_threads(arm: pz.Model) -> list[pz.Solution]:
    """Each with a solver of its own, all on one model."""
    with ThreadPoolExecutor(4) as pool:
        return [solution for found in pool.map(reusing, [arm] * 8) for solution in found]


def by_solve_on_four_threads(arm: pz.Model) -> list[pz.Solution]:
    with ThreadPoolExecutor(4) as pool:
        return [solution for found in pool.map(by_solve, [arm] * 8) for solution in found]


@pytest.mark.parametrize(
    "how",
    [
        one_by_one,
        reusing,
        backwards,
        twice,
        by_solve,
        in_slices_of_time,
        between_other_calls,
        on_four_threads,
        by_solve_on_four_threads,
    ],
)
def test_the_same_question_has_the_same_answer(how: Callable[[pz.Model], list[pz.Solution]]) -> None:
    got = [digits(solution) for solution in how(pz.load("panda"))]
    assert len(got) % len(wanted()) == 0
    for k in range(0, len(got), len(wanted())):
        assert got[k : k + len(wanted())] == wanted()


def test_half_of_the_jobs_need_random_starts_and_some_are_out_of_reach() -> None:
    """Or the above would say nothing about the seed."""
    solutions = one_by_one(pz.load("panda"))
    assert sum(not solution.success for solution in solutions) >= 6
    assert sum(solution.restarts > 0 for solution in solutions) >= 6


def test_another_process_gives_the_same_bits() -> None:
    code = """
import json
import numpy as np
import poise as pz
arm = pz.load("panda")
solver = pz.Solver(arm, pz.PoseTask("panda_hand"))
out = []
for there, start in zip(arm.sample(8, seed=3), arm.sample(8, seed=4)):
    out.append(solver(arm.pose("panda_hand", there), start).q.tobytes().hex())
    out.append(solver(pz.SE3.from_parts(there[:3] + 2.0), start, seed=5).q.tobytes().hex())
print(json.dumps(out))
"""
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=300)
    arm = pz.load("panda")
    solver = pz.Solver(arm, pz.PoseTask("panda_hand"))
    here = []
    for there, start in zip(arm.sample(8, seed=3), arm.sample(8, seed=4), strict=True):
        here.append(solver(arm.pose("panda_hand", there), start).q.tobytes().hex())
        here.append(solver(pz.SE3.from_parts(there[:3] + 2.0), start, seed=5).q.tobytes().hex())
    assert json.loads(run.stdout) == here


def test_the_seed_is_what_the_random_starts_depend_on() -> None:
    """From a start where the direct way fails, other seeds lead to other, equally sound answers."""
    arm = pz.load("panda")
    solver = pz.Solver(arm, pz.PoseTask("panda_hand"))
    answers = set()
    for target, start in [job for job, of_it in zip(jobs(), wanted(), strict=True) if of_it[2]][:6]:
        by_seed = [solver(target, start, seed=seed) for seed in range(5)]
        assert len({solution.success for solution in by_seed}) == 1
        answers |= {(i, solution.q.tobytes()) for i, solution in enumerate(by_seed)}
        given_once = pz.Solver(arm, pz.PoseTask("panda_hand"), seed=3)(target, start)
        assert digits(given_once) == digits(by_seed[3])
    assert len(answers) > 10


def test_a_start_that_leads_straight_there_does_not_ask_the_seed() -> None:
    arm = pz.load("panda")
    solver = pz.Solver(arm, pz.PoseTask("panda_hand"))
    near = np.clip(arm.home + 0.01, arm.lower, arm.upper)
    target = arm.pose("panda_hand", near)
    assert len({solver(target, arm.home, seed=seed).q.tobytes() for seed in range(10)}) == 1


# What a solver is told at one call is forgotten at the next ------------------------------------------------------


def tool_tasks(arm: pz.Model) -> list[pz.PoseTask | pz.PostureTask]:
    return [pz.PoseTask("panda_hand", jobs()[0][0]), pz.PostureTask(arm.sample(seed=11))]


def test_a_posture_given_at_one_call_is_not_kept_for_the_next() -> None:
    arm = pz.load("panda")
    solver = pz.Solver(arm, tool_tasks(arm))
    before = solver()
    other = solver([jobs()[0][0], arm.sample(seed=12)])
    assert (other.q != before.q).any()
    assert solver().q.tobytes() == before.q.tobytes()
    assert solver([jobs()[0][0], None]).q.tobytes() == before.q.tobytes()


def test_an_answer_does_not_change_when_its_solver_is_called_again() -> None:
    arm = pz.load("panda")
    solver = pz.Solver(arm, tool_tasks(arm))
    first = solver()
    q, errors, text, said = first.q.copy(), first.errors, repr(first), first.explain()
    solver([jobs()[4][0], arm.sample(seed=12)], jobs()[3][1])
    assert (first.q == q).all()
    assert first.errors == errors
    assert repr(first) == text
    assert first.explain() == said


@pytest.mark.parametrize("make", [pz.PoseTask, pz.PositionTask, pz.LookAtTask])
def test_solve_does_not_remember_the_target_of_another_call(make: Callable[..., pz.PoseTask]) -> None:
    """Tasks of one structure share a prepared solver; a task without a target is refused, first or second."""
    arm = pz.load("panda")
    target = [0.4, 0.1, 0.5, 0, 1, 0, 0] if make is pz.PoseTask else [0.4, 0.1, 0.5]
    for _ in range(2):
        with refused("no-target"):
            pz.solve(arm, make("panda_hand"))
        pz.solve(arm, make("panda_hand", target=target))


def test_no_call_remembers_the_posture_of_another_call() -> None:
    """A PostureTask without a target means home, whatever was asked before."""
    arm = pz.load("panda")
    assert (pz.solve(arm, pz.PostureTask(arm.sample(seed=1))).q != arm.home).any()
    np.testing.assert_array_equal(pz.solve(arm, pz.PostureTask()).q, arm.home)
    assert pz.solve_all(arm, pz.PostureTask(arm.sample(seed=1)), samples=1)[0].errors[0].posture < 1e-9
    np.testing.assert_array_equal(pz.solve_all(arm, pz.PostureTask(), samples=1)[0].q, arm.home)


def test_what_was_given_is_not_written_to() -> None:
    arm = pz.load("panda")
    start, target, posture = arm.sample(seed=1) * 3.0, np.array([0.4, 0.1, 0.5, 0.0, 1.0, 0.0, 0.0]), arm.sample(seed=2)
    copies = start.copy(), target.copy(), posture.copy()
    pz.Solver(arm, [pz.PoseTask("panda_hand"), pz.PostureTask()])([target, posture], start)
    for now, then in zip((start, target, posture), copies, strict=True):
        np.testing.assert_array_equal(now, then)


@pytest.mark.parametrize("method", ["dls", "sdls", "pinv"])
@pytest.mark.parametrize("limits", [[], [pz.AccelerationLimit(10.0)], [pz.JerkLimit(400.0)]], ids=["", "acc", "jerk"])
def test_a_character_goes_its_way_whoever_is_beside_it(method: str, limits: list[pz.AccelerationLimit]) -> None:
    arm, many = pz.load("panda"), 11
    starts, order = arm.sample(many, seed=1), np.random.default_rng(0).permutation(many)
    poses = arm.pose("panda_hand", arm.sample(3 * many, seed=2)).array.reshape(many, 3, 7)
    targets = np.repeat(poses, 40, axis=1)
    tracker = pz.Tracker(arm, pz.PoseTask("panda_hand"), method, dt=0.01, limits=limits)
    ways = tracker.rollout(starts, [targets])
    np.testing.assert_array_equal(tracker.rollout(starts[order], [targets[order]]), ways[order])
    for c in (0, 7, 10):
        np.testing.assert_array_equal(tracker.rollout(starts[c : c + 1], [targets[c : c + 1]])[0], ways[c])


BOXES = {"panda_hand": (0.05, 0.2, 0.1), "panda_link6": (0.1, 0.1, 0.1)}
TABLE = pz.World({"table": pz.Box(pz.SE3.from_parts((0.5, 0.0, 0.15)), (0.6, 1.0, 0.1))})
POINT, ELBOW = pz.PositionTask("panda_hand"), pz.RegionTask("panda_link5", pz.Sphere((0.2, 0.0, 0.5), 0.45))
WISH = pz.PositionTask("panda_link4", (0.2, 0.2, 0.7), required=False, priority=1)
USED: dict[str, tuple[list[pz.Task], str | None]] = {
    "pose": ([POINT], None),
    "range": ([POINT, ELBOW], None),
    "soft": ([POINT, WISH], None),
    "posture": ([POINT, pz.PostureTask()], None),
    "soft beside a posture": ([POINT, WISH, pz.PostureTask()], None),
    "shapes by levels": ([POINT, ELBOW], "priority"),
    "shapes by dls": ([POINT, ELBOW], "dls"),
}


def scribble(scratch: Scratch, rng: np.random.Generator) -> None:
    """Write any numbers into all workspaces."""
    for numbers in (scratch.narrow, scratch.wide):
        if numbers is not None:
            numbers[:] = rng.uniform(-2.0, 2.0, numbers.shape)
    for inner in (scratch.proposer, *scratch.inner.values()):
        if inner is not None:
            scribble(inner, rng)


@pytest.mark.parametrize("name", USED)
def test_an_answer_reads_nothing_of_the_one_before(name: str) -> None:
    tasks, method = USED[name]
    arm = pz.load("panda")
    if method:
        arm = arm.with_shapes({link: pz.Box(pz.SE3.identity(), sides) for link, sides in BOXES.items()})
    limits = [pz.CollisionLimit(TABLE, min_distance=0.02)] if method else True
    solver, rng = pz.Solver(arm, tasks, method=method, limits=limits, max_restarts=4), np.random.default_rng(0)
    for there, start in arm.sample(8, seed=1).reshape(4, 2, -1):
        target = [arm.pose("panda_hand", there).xyz, *(None for _ in tasks[1:])]
        first = solver(target, start)
        assert solver._search.bound.idle
        for scratch in solver._search.bound.idle:
            scribble(scratch, rng)
        assert digits(solver(target, start)) == digits(first)


def test_searches_that_one_leans_on_are_made_in_any_order() -> None:
    arm = pz.load("panda")
    turn = pz.OrientationTask("panda_hand", pz.SO3.from_rpy((3.0, 0.0, 0.0)), required=False)
    bent = pz.LinearLimit({"panda_joint2": 1.0}, 0.3)
    places = [(2.0, 0.0, 0.5), *arm.pose("panda_hand", arm.sample(3, seed=0)).xyz]

    def answers(order: list[int]) -> dict[int, tuple[bytes, int, int, float]]:
        solver = pz.Solver(arm, [POINT, turn, pz.PostureTask()], limits=[bent], max_restarts=20)
        return {k: digits(solver([places[k], None, None])) for k in order}

    assert answers([0, 1, 2, 3]) == answers([3, 2, 1, 0])

"""Batches among obstacles: what each row came to is told, and never NaN."""

import logging
import signal
import threading

import numpy as np
import pytest

import poise as pz
from poise.common import progress
from poise.solving.search import batching

HAND = pz.PoseTask("panda_hand")


@pytest.fixture(scope="module")
def arm() -> pz.Model:
    return pz.load("panda_collision")


@pytest.fixture(scope="module")
def world() -> pz.World:
    return pz.World({"ball": pz.Sphere((0.4, 0.0, 0.5), 0.2), "floor": pz.HalfSpace((0.0, 0.0, -0.1), (0.0, 0.0, 1.0))})


@pytest.fixture(scope="module")
def goals(arm: pz.Model) -> pz.SE3:
    poses = arm.pose("panda_hand", arm.sample(60, seed=3)).array.copy()
    poses[::10, :3] = (0.4, 0.0, 0.5)  # the middle of the ball
    poses[5::40, :3] = (3.0, 0.0, 0.5)
    return pz.SE3(poses)


@pytest.mark.parametrize("best_effort", [True, False])
def test_a_row_that_is_blocked_says_so_and_by_what(
    arm: pz.Model, world: pz.World, goals: pz.SE3, best_effort: bool
) -> None:
    solver = pz.Solver(arm, HAND, limits=[pz.CollisionLimit(world, min_distance=0.01)])
    found = solver.batch(goals, best_effort=best_effort)
    room = arm.distance(found.q, world).distance  # all at once: no row is NaN
    assert arm.within_limits(found.q)
    blocked = found.status == pz.Status.COLLISION
    assert blocked[::10].all()
    if best_effort:
        assert (room[blocked] >= 0.01 - 1e-9).all()
        assert (found.position_errors[blocked] > 1e-5).all()
    assert (room[found.success] >= 0.01 - 1e-9).all()
    for k in np.flatnonzero(blocked):
        near = found[int(k)].nearest
        assert near is not None
        assert near.distance == pytest.approx(room[k], abs=1e-9)
        words = found[int(k)].explain()
        assert ("'ball'" in words) or k % 10
        assert ("q keeps them apart" in words) == (near.distance >= 0.01)
    far = pz.Status.UNREACHABLE if best_effort else pz.Status.BUDGET
    assert (found.status[5::40] == far).all()
    assert np.isfinite(found.cost).all()
    np.testing.assert_array_equal(solver.batch(goals, best_effort=best_effort, threads=1).q, found.q)
    alone = solver.batch(goals[17:30], best_effort=best_effort)
    np.testing.assert_array_equal(alone.q, found.q[17:30])
    assert (alone.status == found.status[17:30]).all()


def test_what_is_searched_for_is_free_wherever_a_solve_finds_it(arm: pz.Model, world: pz.World, goals: pz.SE3) -> None:
    solver = pz.Solver(arm, HAND, limits=[pz.CollisionLimit(world, min_distance=0.01)])
    found = solver.batch(goals)
    np.testing.assert_array_equal(found.success, [solver(goal).success for goal in goals])
    few = pz.Solver(arm, HAND, limits=[pz.CollisionLimit(world, min_distance=0.01)], max_restarts=20_000)
    blocked = np.flatnonzero(found.status == pz.Status.COLLISION)
    for k in blocked[:4]:  # twenty times as many starts, asked for by name, find nothing either
        assert few(goals[int(k)]).status is pz.Status.COLLISION


def test_rows_that_are_no_question_hold_their_start(arm: pz.Model, goals: pz.SE3) -> None:
    rows, starts = goals.array[1:5].copy(), arm.sample(4, seed=1)
    rows[1, 3:] = 0.0
    starts[2] = np.nan
    starts[1, 0] = 100.0
    found = pz.solve_batch(arm, HAND, rows, q0=starts)
    assert list(found.status[1:3]) == [pz.Status.BAD_INPUT] * 2
    np.testing.assert_array_equal(found.q[1], arm.clip(starts[1]))
    np.testing.assert_array_equal(found.q[2], arm.home)
    assert np.isfinite(arm.jacobian("panda_hand", found.q)).all()


@pytest.mark.skipif(threading.current_thread() is not threading.main_thread(), reason="signals go to the main thread")
def test_what_ctrl_c_left_holds_the_best_or_the_start(
    arm: pz.Model, goals: pz.SE3, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, solve = signal.getsignal(signal.SIGINT), batching.Batch._solve_in_lanes
    pieces = iter(range(1000))

    def once(self, scratch, piece):
        if next(pieces) == 3:
            signal.raise_signal(signal.SIGINT)
        return solve(self, scratch, piece)

    monkeypatch.setattr(batching, "_CHUNK", 10)
    monkeypatch.setattr(batching.Batch, "_solve_in_lanes", once)
    starts = arm.sample(len(goals.array), seed=9)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.warns(RuntimeWarning, match="stopped by Ctrl-C"):
            found = pz.solve_batch(arm, HAND, goals, q0=starts, threads=1)
    finally:
        signal.signal(signal.SIGINT, before)
    late = found.status == pz.Status.INTERRUPTED
    assert late.any()
    assert not late.all()
    np.testing.assert_array_equal(found.q[late][-20:], starts[late][-20:])
    assert np.isfinite(arm.pose("panda_hand", found.q).array).all()


def test_long_batches_write_lines_where_there_is_no_terminal(
    arm: pz.Model, world: pz.World, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "EVERY", 0.0)
    limits = [pz.CollisionLimit(world, min_distance=0.01)]
    # As many as take so long that somebody is told, and one thread looks ten times a second: each of those in the
    # middle of the ball takes ten milliseconds or so.
    poses = np.repeat(arm.pose("panda_hand", arm.home).array[None], 400, axis=0)
    poses[:, :3] = (-0.4, 0.0, 0.5)
    poses[::6, :3] = (0.4, 0.0, 0.5)
    with caplog.at_level(logging.INFO, logger="poise"):
        pz.solve_batch(arm, HAND, poses, limits=limits, threads=1)
        lines = [record.getMessage() for record in caplog.records if record.name == "poise"]
        caplog.clear()
        pz.solve_batch(arm, HAND, poses[:210], limits=limits, threads=1, progress=False)
        assert not caplog.records
    assert lines
    assert all(line.startswith("solving: ") and " of 400 in " in line for line in lines)

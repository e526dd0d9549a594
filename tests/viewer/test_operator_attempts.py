"""Attempts: what is recorded, what is measured, and what comes out as joint commands."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.refusals import refused

import poise as pz
from poise.common.array import Array
from poise.viewer.operator.attempt import Attempt
from poise.viewer.operator.measures import measure
from poise.viewer.operator.program import Program
from poise.viewer.operator.robots import ten_links
from poise.viewer.operator.setup import Setup

DT = 1.0 / 50.0
CENTRE, RADIUS = np.array([4.5, -1.2]), 0.3


def recorded(ticks: int = 100) -> tuple[Program, Attempt]:
    robot = ten_links()
    ours = Program(robot.model, robot.frame, start=robot.start)
    ours.add("ball", pz.Sphere((*CENTRE, 0.0), RADIUS))
    ours.record()
    ours.drive((-1.5, -1.0, 0.0))
    for _ in range(ticks):
        ours.tick(DT)
    return ours, ours.stop()


def made(model: pz.Model, q: Any, *, time: Any = None, target: Any = None, frame: str = "tool", **more: Any) -> Attempt:
    path = np.asarray(q, dtype=np.float64)
    hands = model.pose(frame, path).array
    return Attempt(
        name="it", model=model, frame=frame, turns=False, q=path,
        time=np.arange(len(path)) * DT if time is None else time,
        target=hands if target is None else target,
        **{"setups": ((0, Setup.of(model)),), **more},
    )  # fmt: skip


def corners(path: Array) -> Array:
    """(n, 11, 2) the joints and the tool of the ten-link arm, by hand."""
    angles = np.cumsum(path, axis=1)
    places = np.zeros((len(path), 11, 2))
    places[:, 1:, 0], places[:, 1:, 1] = np.cumsum(np.cos(angles), 1), np.cumsum(np.sin(angles), 1)
    return places


# Recording ------------------------------------------------------------------------------------------------------------


def test_every_tick_is_a_row_with_what_was_set() -> None:
    robot = ten_links()
    ours = Program(robot.model, robot.frame, start=robot.start)
    ours.tick(DT)
    assert ours.record("mine") == "mine"
    assert ours.moment.recording == "mine"
    seen = [ours.moment]
    for i in range(10):
        if i == 4:
            ours.tune(alpha=0.5)
            ours.add("ball", pz.Sphere((0.0, 9.0, 0.0), 0.1))
        ours.aim((8.0, 0.1 * i, 0.0))
        seen.append(ours.tick(DT))
    ours.pause()
    ours.tick(DT)
    attempt = ours.stop()
    assert len(attempt) == 11
    np.testing.assert_array_equal(attempt.q, [s.q for s in seen])
    np.testing.assert_array_equal(attempt.target, [s.target.array for s in seen])
    np.testing.assert_allclose(attempt.time, DT * np.arange(11), atol=1e-14)
    assert [row for row, _ in attempt.setups] == [0, 5]
    assert attempt.setups[1][1] == ours.moment.setup
    assert not attempt.q.flags.writeable


def test_attempts_stand_side_by_side_and_one_is_committed() -> None:
    ours, first = recorded(10)
    ours.record()
    ours.tick(DT)
    second = ours.stop()
    assert [a.name for a in ours.moment.attempts] == ["attempt 1", "attempt 2"] == [first.name, second.name]
    assert ours.commit("attempt 2") is second
    assert ours.moment.committed == "attempt 2"
    ours.discard("attempt 2")
    assert ours.moment.committed is None
    assert ours.moment.attempts == (first,)
    assert ours.record() == "attempt 2"


def test_while_it_records_nothing_jumps() -> None:
    ours, _ = recorded(3)
    ours.record()
    for edit in (ours.record, ours.reset, lambda: ours.open_work(ours.work)):
        with refused("conflict", "'attempt 2'"):
            edit()
    assert len(ours.stop()) == 1
    with refused("duplicate", "'attempt 1'"):
        ours.record("attempt 1")


def test_a_recording_that_grows_too_long_ends_and_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, _ = recorded(3)
    monkeypatch.setattr("poise.viewer.operator.program._MOST_NUMBERS", 18 * 10)
    ours.record("long")
    shown = [ours.tick(DT) for _ in range(12)]
    assert [s.recording for s in shown] == ["long"] * 9 + [None] * 3
    assert shown[9].trouble == "the recording of 'long' has ended, for it is as long as one may be"
    assert len(ours.attempt_of("long")) == 11


# Measures -------------------------------------------------------------------------------------------------------------


def test_measures_are_those_of_brute_force() -> None:
    ours, attempt = recorded()
    found, model = attempt.measures, ours.model
    places = corners(attempt.q)
    length = hand = worst = error = 0.0
    for before, after, one, other in zip(attempt.q, attempt.q[1:], places, places[1:], strict=False):
        length += math.sqrt(sum((b - a) ** 2 for a, b in zip(before, after, strict=True)))
        hand += math.dist(one[10], other[10])
        worst = max(worst, *(abs(b - a) / DT for a, b in zip(before, after, strict=True)))
    for target, place in zip(attempt.target, places, strict=True):
        error = max(error, math.dist(target[:2], place[10]))
    share = np.linspace(0.0, 1.0, 2001)[:, None, None]
    gap = math.inf
    for row in places:
        along = row[:-1] + share * (row[1:] - row[:-1])
        gap = min(gap, float(np.linalg.norm(along - CENTRE, axis=-1).min()) - RADIUS - 0.04)
    least, largest = math.inf, 0.0
    for q in attempt.q:
        nudged = [
            (model.pose("tool", q + 1e-6 * e).xyz - model.pose("tool", q - 1e-6 * e).xyz) / 2e-6 for e in np.eye(10)
        ]
        sigma = np.linalg.svd(np.array(nudged), compute_uv=False)
        least, largest = min(least, sigma[1]), max(largest, sigma[0])
    assert found.duration == pytest.approx(2.0)
    assert found.joint_length == pytest.approx(length)
    assert found.hand_length == pytest.approx(hand)
    assert found.worst_speed == pytest.approx(worst, rel=1e-9)
    assert found.clearance == pytest.approx(gap, abs=1e-5)
    assert found.position_error == pytest.approx(error)
    assert 0.0 < found.position_error_rms <= found.position_error
    assert found.least_singular_value == pytest.approx(least, rel=1e-5)
    assert found.singular_below == pytest.approx(0.02 * largest, rel=1e-5)
    assert found.speed_share is None
    assert found.rotation_error is None


def test_clearance_is_from_obstacles_where_they_were() -> None:
    model = ten_links().model
    q = np.zeros((3, 10))
    ours = Program(model, "tool", start=np.zeros(10))
    ours.add("ball", pz.Sphere((5.0, 1.0, 0.0), 0.5), repels=False)
    near = ours.moment.setup
    ours.move("ball", (5.0, 3.0, 0.0))
    far = ours.moment.setup
    none = Setup.of(model)
    assert made(model, q, setups=((0, far),)).measures.clearance == pytest.approx(2.46)
    assert made(model, q, setups=((0, far), (1, near), (2, far))).measures.clearance == pytest.approx(0.46)
    assert made(model, q, setups=((0, none), (2, far))).measures.clearance == pytest.approx(2.46)
    assert made(model, q).measures.clearance is None


def test_singular_poses_are_counted_each_time_they_are_met() -> None:
    model = pz.load("planar2")
    bends = [0.0, 0.01, 0.5, 0.9, 0.01, 0.005, 0.7, 1.0, 0.0]
    attempt = made(model, [[0.3, bend] for bend in bends])
    assert attempt.measures.singular_poses == 3
    fields = (getattr(attempt, name) for name in ("model", "frame", "time", "q", "target", "setups"))
    assert measure(*fields, turns=attempt.turns, singular=1e-12).singular_poses == 2
    assert attempt.measures.least_singular_value == pytest.approx(0.0, abs=1e-12)


def test_limits_and_speeds_are_those_of_the_model() -> None:
    model = pz.load("panda")
    q = np.tile(model.home, (3, 1))
    q[1, 3] = model.upper[3]
    q[2, 3] = model.upper[3] - 0.01
    attempt = made(model, q, frame="panda_hand", time=[0.0, 0.1, 0.2])
    assert attempt.measures.limits_touched == (model.coordinates[3],)
    assert attempt.measures.worst_joint == model.joint_names[3]
    step = abs(model.upper[3] - model.home[3])
    assert attempt.measures.speed_share == pytest.approx(step / 0.1 / model.velocity[3])


def test_an_attempt_of_one_row_has_measures() -> None:
    found = made(pz.load("planar3"), np.full((1, 3), 0.4)).measures
    assert (found.duration, found.joint_length, found.worst_speed, found.worst_joint) == (0.0, 0.0, 0.0, "")


# Replay and export ----------------------------------------------------------------------------------------------------


def test_replay_meets_every_row_and_goes_straight_between() -> None:
    _, attempt = recorded(20)
    motion = attempt.motion
    np.testing.assert_array_equal(motion.at(attempt.time), attempt.q)
    between = motion.at(0.25 * attempt.time[3] + 0.75 * attempt.time[4])
    np.testing.assert_allclose(between, 0.25 * attempt.q[3] + 0.75 * attempt.q[4], atol=1e-12)
    np.testing.assert_array_equal(motion.at([-5.0, 1e9]), attempt.q[[0, -1]])


def test_quaternions_are_replayed_as_rotations() -> None:
    builder = pz.ModelBuilder("ball")
    builder.joint("ball", "spherical", parent="world", child="tool")
    model = builder.build()
    turns = pz.SO3.from_rotvec([[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]]).wxyz
    half = made(model, turns).motion.at(0.5 * DT)
    np.testing.assert_allclose(half, pz.SO3.from_rotvec([0.0, 0.0, 0.5]).wxyz, atol=1e-15)


@pytest.mark.parametrize("rate", [7.0, 50.0, 333.0])
def test_commands_come_at_a_constant_rate_and_end_where_it_ends(rate: float) -> None:
    _, attempt = recorded(20)
    commands = attempt.commands(rate)
    time, q = commands.times, commands.q
    np.testing.assert_allclose(time, np.arange(len(time)) / rate, rtol=0.0, atol=0.0)
    assert time[-1] >= attempt.duration - 1e-9 > time[-2] - 1e-9
    np.testing.assert_array_equal(q[-1], attempt.q[-1])
    np.testing.assert_array_equal(q[0], attempt.q[0])
    for row, t in zip(q, time, strict=True):
        expected = [np.interp(t, attempt.time, column) for column in attempt.q.T]
        np.testing.assert_allclose(row, expected, atol=1e-12)


@pytest.mark.parametrize("name", ["out.csv", "out.npz"])
def test_commands_read_back_to_the_bit(name: str, tmp_path: Path) -> None:
    _, attempt = recorded(20)
    commands = attempt.commands(100.0)
    commands.save(tmp_path / name)
    found = pz.load_motion(tmp_path / name, model=attempt.model)
    np.testing.assert_array_equal(found.times, commands.times)
    np.testing.assert_array_equal(found.q, commands.q)


@pytest.mark.parametrize(("rate", "code"), [(0.0, "not-positive"), (math.inf, "not-finite"), (1e12, "too-many")])
def test_a_rate_that_makes_no_table_is_refused(rate: float, code: str) -> None:
    _, attempt = recorded(3)
    with refused(code, "rate"):
        attempt.commands(rate)


@pytest.mark.parametrize(
    ("change", "code", "word"),
    [
        ({"time": [0.0, 0.1]}, "wrong-shape", "q"),
        ({"time": [0.1, 0.2, 0.3]}, "inconsistent", "time"),
        ({"time": [0.0, 0.2, 0.2]}, "inconsistent", "time"),
        ({"q": np.zeros((3, 2))}, "wrong-shape", "q"),
        ({"q": np.full((3, 3), np.nan)}, "not-finite", "q[0, 0]"),
        ({"target": np.zeros((3, 6))}, "wrong-shape", "target"),
        ({"name": ""}, "wrong-format", "an attempt"),
        ({"frame": "hand"}, "unknown-name", "'hand'"),
        ({"setups": ()}, "inconsistent", "setups"),
        ({"setups": ((1, Setup(desired=(0.0,) * 3)),)}, "inconsistent", "setups"),
    ],
)
def test_arrays_that_are_no_motion_are_refused(change: dict[str, Any], code: str, word: str) -> None:
    model = pz.load("planar3")
    right = {
        "name": "it", "model": model, "frame": "tool", "turns": False, "time": [0.0, 0.1, 0.2], "q": np.zeros((3, 3)),
        "target": np.zeros((3, 7)), "setups": ((0, Setup.of(model)),),
    }  # fmt: skip
    Attempt(**right)
    with refused(code, word):
        Attempt(**{**right, **change})

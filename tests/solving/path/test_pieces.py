"""Paths in pieces: as few as there can be, each followed as a whole path is, and ways between them that can be gone."""

import pickle
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from support.refusals import refused
from ways import elbow

import poise as pz
from poise.solving.path import reconfigurations as reconfiguring

STEP = 0.3
"""What a joint may change by from waypoint to waypoint [rad]."""


def ring(turns: float, radius: float = 1.3, begin: float = 0.0) -> np.ndarray:
    """(n, 3) places around the base, so many turns."""
    angle = begin + np.linspace(0.0, 2.0 * np.pi * turns, 1 + int(60 * turns))
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), 0.0 * angle], axis=1)


def fewest(candidates: list[np.ndarray], most: float) -> int:
    """The least number of steps of more than `most` through one of the candidates (k, nq) of each waypoint."""
    counts = np.zeros(len(candidates[0]), dtype=int)
    for one, other in pairwise(candidates):
        far = np.abs(other[:, None] - one).max(axis=2) > most
        counts = (counts + far).min(axis=1)
    return int(counts.min())


def inside(arm: pz.Model, q: np.ndarray) -> np.ndarray:
    """Configurations (k, nq), and what they are with whole turns of the first joint, that are within the limits."""
    turn = 2.0 * np.pi * np.eye(arm.nq)[0]
    turned = np.concatenate([q + k * turn for k in (-2, -1, 0, 1, 2)])
    return turned[((turned >= arm.lower) & (turned <= arm.upper)).all(axis=1)]


def both_elbows(xy: np.ndarray) -> np.ndarray:
    """(2, 2) shoulder and elbow of two links of 1 m."""
    bend = np.arccos(np.clip((xy**2).sum() / 2.0 - 1.0, -1.0, 1.0)) * np.array([-1.0, 1.0])
    shoulder = np.arctan2(xy[1], xy[0]) - np.arctan2(np.sin(bend), 1.0 + np.cos(bend))
    return np.stack([shoulder, bend], axis=1)


def pieces(path: pz.JointPath) -> list[np.ndarray]:
    """The configurations at the waypoints of each piece."""
    return np.split(path.q[path.stations], path.reconfigurations)


def assert_followed(path: pz.JointPath, frame: str, places: np.ndarray, most: float) -> None:
    """All waypoints are met within the limits, and within a piece no joint makes a longer step."""
    assert path.success, path.explain()
    assert path.model.within_limits(path.q)
    assert np.allclose(path.model.pose(frame, path.q[path.stations]).xyz, places, atol=1e-6)
    assert max(np.abs(np.diff(q, axis=0)).max(initial=0.0) for q in pieces(path)) <= most + 1e-9
    assert np.abs(path.steps).max() <= max(most, 0.05) + 1e-9


# How many ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("optimise", [True, False])
@pytest.mark.parametrize(("turns", "shoulder"), [(0.7, 2.6), (1.2, 2.6), (1.2, 3.1), (3.2, 2.9), (5.5, 4.0)])
def test_an_elbow_that_goes_around_is_reconfigured_as_seldom_as_can_be(
    turns: float, shoulder: float, optimise: bool
) -> None:
    """Beside all sequences of its two branches: nothing else meets the waypoints."""
    arm, places = elbow((-shoulder, shoulder)), ring(turns)
    least = fewest([inside(arm, both_elbows(xy)) for xy in places[:, :2]], STEP)
    path = pz.solve_path(
        arm, pz.PositionTask("tip"), places, max_jump=STEP, reconfigurations=len(places), optimise=optimise
    )
    assert_followed(path, "tip", places, STEP)
    assert len(path.reconfigurations) == least


def test_a_turn_and_a_bit_needs_exactly_one() -> None:
    arm, places = elbow((-2.6, 2.6)), ring(1.2)
    tip = pz.PositionTask("tip")
    assert pz.solve_path(arm, tip, places).status is pz.Status.JUMP
    path = pz.solve_path(arm, tip, places, reconfigurations=1)
    assert_followed(path, "tip", places, STEP)
    assert len(path.reconfigurations) == 1
    assert f"in 2 pieces, reconfigured before waypoint {path.reconfigurations[0]}." in path.explain()
    assert path.facts()["reconfigurations"] == path.reconfigurations.tolist()
    assert "reconfigurations" in path.report()
    assert "reconfigurations" not in pz.solve_path(arm, tip, ring(0.5)).report()


@pytest.mark.parametrize("turns", [1.3, 2.4])
def test_three_joints_need_no_more_than_the_best_of_a_grid(turns: float) -> None:
    """The direction of the last link is free: beside all sequences through a grid of it."""
    arm = pz.load("planar3").with_limits({"joint1": (-2.5, 2.5), "joint2": (-2.0, 2.0), "joint3": (-1.0, 1.0)})
    lengths = [arm.pose("tool", np.zeros(3)).xyz[0]]
    assert lengths == [pytest.approx(3.0)]
    places = ring(turns, 2.2)
    grid = []
    for xy in places[:, :2]:
        found = []
        for way in np.linspace(-np.pi, np.pi, 90, endpoint=False):
            wrist = xy - [np.cos(way), np.sin(way)]
            if np.hypot(*wrist) < 2.0:
                two = both_elbows(wrist)
                last = (way - two.sum(axis=1) + np.pi) % (2.0 * np.pi) - np.pi
                found.append(inside(arm, np.column_stack([two, last])))
        grid.append(np.concatenate(found))
    least = fewest(grid, STEP)
    path = pz.solve_path(arm, pz.PositionTask("tool"), places, max_jump=STEP, reconfigurations=len(places))
    assert_followed(path, "tool", places, STEP)
    assert 1 <= len(path.reconfigurations) <= least


def test_more_than_are_allowed_is_a_jump_in_words() -> None:
    arm, places = elbow((-2.9, 2.9)), ring(3.2)
    least = fewest([inside(arm, both_elbows(xy)) for xy in places[:, :2]], STEP)
    path = pz.solve_path(arm, pz.PositionTask("tip"), places, reconfigurations=1)
    assert path.status is pz.Status.JUMP
    assert not path.reconfigurations.size
    assert len(path) == len(places)
    assert f"As it was found it takes {least} reconfigurations, or more." in path.explain()


def test_a_waypoint_out_of_reach_is_not_cut_away() -> None:
    places = ring(1.2)
    places[10] *= 2.0
    path = pz.solve_path(elbow((-2.6, 2.6)), pz.PositionTask("tip"), places, reconfigurations=9)
    assert path.status is pz.Status.UNREACHABLE
    assert path.first_failure is not None
    assert path.first_failure.waypoint == 10


def test_where_a_waypoint_is_said_again_the_arm_stands_still() -> None:
    places = np.repeat(ring(1.2), 2, axis=0)
    path = pz.solve_path(elbow((-2.6, 2.6)), pz.PositionTask("tip"), places, reconfigurations=1)
    assert_followed(path, "tip", places, STEP)
    (cut,) = path.reconfigurations
    assert cut % 2 == 0
    assert all((q[::2] == q[1::2]).all() for q in pieces(path))


def test_what_cannot_be_cut_is_refused() -> None:
    arm, tip, places = elbow(), pz.PositionTask("tip"), ring(1.0)
    places[-1] = places[0]
    with refused("conflict"):
        pz.solve_path(arm, tip, places, closed=True, reconfigurations=1)
    with refused("needs"):
        pz.solve_path(arm, tip, places, dt=0.1, reconfigurations=1)
    for wrong in (-1, 1.5, True):
        with pytest.raises((TypeError, ValueError), match="reconfigurations"):
            pz.solve_path(arm, tip, places, reconfigurations=wrong)  # type: ignore[arg-type]


def test_what_gives_way_draws_each_piece() -> None:
    """A posture that is wished for is nearer to a path that knows of it, and takes no more pieces."""
    arm = pz.load("planar3").with_limits({"joint1": (-2.5, 2.5)})
    tasks = [pz.PositionTask("tool"), pz.PostureTask(np.zeros(3))]
    places = ring(1.3, 2.2)
    drawn = pz.solve_path(arm, tasks, [places, None], reconfigurations=3)
    plain = pz.solve_path(arm, tasks[0], places, reconfigurations=3)
    assert_followed(drawn, "tool", places, STEP)
    assert drawn.reconfigurations.size
    assert plain.reconfigurations.size == drawn.reconfigurations.size
    assert (drawn.q**2).sum(axis=1).mean() < (plain.q**2).sum(axis=1).mean()


# When --------------------------------------------------------------------------------------------------------------


def test_with_dt_pieces_keep_it_and_ways_take_the_least_time() -> None:
    places = ring(1.2)
    path = pz.solve_path(elbow((-2.6, 2.6)), pz.PositionTask("tip"), places, dt=0.1, velocity=2.0, reconfigurations=1)
    assert_followed(path, "tip", places, 0.2)
    (cut,) = path.reconfigurations
    gaps = np.diff(path.times[path.stations])
    assert np.allclose(np.delete(gaps, cut - 1), 0.1)
    way = np.abs(path.q[path.stations[cut]] - path.q[path.stations[cut - 1]]).max()
    assert gaps[cut - 1] == pytest.approx(way / 2.0)
    t = np.linspace(0.0, path.duration, 5000)
    assert np.abs(path.at(t).velocity).max() <= 2.0 * (1.0 + 1e-9)
    assert np.allclose(path.at(path.times).q, path.q, atol=1e-9)


def test_a_piece_of_one_waypoint_has_its_time_too() -> None:
    """Three places so far apart that the arm has to be reconfigured between each and the next."""
    places = ring(1.0)[[0, 20, 40]]
    path = pz.solve_path(elbow(), pz.PositionTask("tip"), places, dt=0.1, velocity=2.0, reconfigurations=2)
    assert path.success, path.explain()
    assert path.reconfigurations.tolist() == [1, 2]
    assert path.duration == pytest.approx(np.abs(np.diff(path.q[path.stations], axis=0)).max(axis=1).sum() / 2.0)
    assert np.allclose(path.at(path.times).q, path.q, atol=1e-9)


@pytest.mark.parametrize("dt", [None, 0.4])
def test_with_accelerations_the_arm_rests_at_both_ends_of_a_way(dt: float | None) -> None:
    places = ring(1.2)
    path = pz.solve_path(
        elbow((-2.6, 2.6)), pz.PositionTask("tip"), places, dt=dt, velocity=2.0, acceleration=8.0, reconfigurations=1,
    )  # fmt: skip
    assert_followed(path, "tip", places, 0.8)
    (cut,) = path.reconfigurations
    ends = path.times[path.stations[[cut - 1, cut]]]
    assert np.abs(path.at(ends).velocity).max() < 1e-6
    between = path.at(np.linspace(*ends, 200))
    assert np.abs(between.velocity).max() > 1.0
    everywhere = path.at(np.linspace(0.0, path.duration, 5000))
    assert np.abs(everywhere.velocity).max() <= 2.0 * (1.0 + 1e-9)
    assert np.abs(everywhere.acceleration).max() <= 8.0 * (1.0 + 1e-9)


# Among obstacles ----------------------------------------------------------------------------------------------------


def test_a_way_goes_around_what_is_in_it() -> None:
    """The straight way leads the stretched arm through a ball, beyond the ring."""
    arm = elbow((-2.6, 2.6)).with_shapes({"lower": pz.Capsule([0.0, 0.0, 0.0], [1.0, 0.0, 0.0], 0.02)})
    places, tip = ring(1.2), pz.PositionTask("tip")
    plain = pz.solve_path(arm, tip, places, reconfigurations=1)
    (cut,) = plain.reconfigurations
    one, other = plain.q[plain.stations[[cut - 1, cut]]]
    middle = arm.pose("tip", 0.5 * (one + other)).xyz
    world = pz.World({"ball": pz.Sphere(0.9 * middle, 0.1)})
    limits = [pz.CollisionLimit(world, min_distance=0.0)]
    path = pz.solve_path(arm, tip, places, reconfigurations=1, limits=limits)
    assert_followed(path, "tip", places, STEP)
    assert np.min(arm.distance(path.q, world).distance) >= 0.0
    (cut,) = path.reconfigurations
    straight = arm.interpolate(*path.q[path.stations[[cut - 1, cut]]], np.linspace(0.0, 1.0, 100))
    assert np.min(arm.distance(straight, world).distance) < 0.0
    assert path.clearances is not None
    assert len(path.clearances) == len(path)


def test_where_no_way_leads_to_the_next_piece_it_fails_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """The elbow would have to be stretched on the way, and cannot be; nothing else leads from side to side."""
    monkeypatch.setattr(reconfiguring, "WORK", 200)
    arm = elbow((-2.6, 2.6)).with_shapes({"lower": pz.Capsule([0.9, 0.0, 0.0], [1.0, 0.0, 0.0], 0.01)})
    around = np.arange(0.0, 2.0 * np.pi, np.pi / 8.0)
    parts = [pz.SE3.from_xyz_rpy([1.8 * np.cos(x), 1.8 * np.sin(x), 0.0], [0.0, 0.0, x]) for x in around]
    wall = pz.World({f"part {k}": pz.Box(part, [0.2, 0.8, 1.0]) for k, part in enumerate(parts)})
    limits = [pz.CollisionLimit(wall, min_distance=0.0)]
    path = pz.solve_path(arm, pz.PositionTask("tip"), ring(1.2), reconfigurations=1, limits=limits)
    assert path.status is pz.Status.COLLISION
    assert path.reached.all()
    assert "the arm has to be reconfigured, and no way to it was found" in path.explain()


# Files -------------------------------------------------------------------------------------------------------------


def test_files_and_copies_have_the_pieces(tmp_path: Path) -> None:
    path = pz.solve_path(elbow((-2.6, 2.6)), pz.PositionTask("tip"), ring(1.2), velocity=2.0, reconfigurations=1)
    again = pickle.loads(pickle.dumps(path))
    assert np.array_equal(again.reconfigurations, path.reconfigurations)
    columns = path.columns()
    assert all(columns["success"])
    met = np.flatnonzero(~np.ma.getmaskarray(columns["waypoint"]))
    assert np.array_equal(met, path.stations)
    back = pz.solve_path(elbow((-2.6, 2.6)), pz.PositionTask("tip"), ring(1.2)[::-1], start=path.q[-1],
                         velocity=2.0, reconfigurations=1)  # fmt: skip
    both = path.then(back)
    assert both.reconfigurations.tolist() == [path.reconfigurations[0], len(ring(1.2)) + back.reconfigurations[0]]
    rows = path.resample(0.01)
    assert np.array_equal(rows.reconfigurations, path.reconfigurations)
    pytest.importorskip("matplotlib")
    path.figure()

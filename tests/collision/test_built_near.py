"""Links that are built near to each other keep what they have at home, so a CollisionLimit fits every robot."""

import itertools
import logging
from typing import Any

import numpy as np
import pytest
from gripping import gripping

import poise as pz
from poise.io.installed import installed_robots
from poise.model.proximity import excluded_pairs, nearest_in
from poise.model.scene import Scene
from poise.solving.requirements.clearance import Clearance

FILES = {file: name for name, file in reversed(installed_robots().items())}
DEAR = {
    "alex_nub_hands", "alex_psyonic_hands", "alex_sake_hands", "anymal-kinova", "b1-z1", "bolt", "borinot", "centauro",
    "g1_29dof_with_hand_rev_1_0", "hextilt", "icub", "kinova", "romeo", "so100", "so101", "solo", "solo12", "talos",
    "tiago", "tiago_dual", "tiago_pro", "ur3", "xarm", "z1",
}  # fmt: skip
"""Whose meshes take seconds to fit where no fit of them is kept; among the others are arms, with hands and without, and
robots on wheels, two legs and four."""


def every_robot() -> list[Any]:
    return [pytest.param(name, marks=pytest.mark.slow if name in DEAR else ()) for name in sorted(FILES.values())]


def tip(robot: pz.Model) -> str | None:
    """The last link that a joint carries, of a robot with shapes that move."""
    carried = [link for link in robot.links if robot.tree.links[link][0] >= 0]
    return carried[-1] if carried and robot.shapes.keys() & set(carried) else None


def slack(limit: pz.CollisionLimit, robot: pz.Model, q: np.ndarray) -> float:
    """How much farther apart shapes are than asked [m]."""
    near = limit.nearest(robot, q)
    return near.distance - limit.least(robot, *near.pair)


@pytest.mark.filterwarnings("ignore::poise.ModelWarning")
@pytest.mark.parametrize("name", every_robot())
def test_every_robot_solves_and_tracks_from_its_home(name: str) -> None:
    robot, limit = pz.load(name), pz.CollisionLimit()
    frame = tip(robot)
    if frame is None:
        pytest.skip("nothing that moves has a shape")
    here = robot.pose(frame, robot.home)
    answer = pz.solve(robot, pz.PoseTask(frame, here), q0=robot.home, limits=[limit])
    assert answer.success
    assert np.abs(robot.difference(robot.home, answer.q)).max() < 1e-6
    tracker = pz.Tracker(robot, pz.PoseTask(frame), dt=0.01, limits=[limit])
    stays = tracker.rollout(robot.home, np.tile(here.array, (20, 1, 1)))
    assert np.abs(robot.difference(robot.home, stays)).max() < 1e-9
    way = np.random.default_rng(0).uniform(-0.3, 0.3, robot.nv)
    there = robot.pose(frame, robot.clip(robot.integrate(robot.home, way)))
    path = tracker.rollout(robot.home, np.tile(there.array, (40, 1, 1)))
    assert all(slack(limit, robot, q) >= -1e-9 for q in path[::8])


def test_the_feet_of_a_humanoid_stay_where_they_are_planted() -> None:
    robot = pz.load("g1", base="floating")
    limit = pz.CollisionLimit()
    feet = [f"{side}_ankle_roll_link" for side in ("left", "right")]
    places = [robot.pose(foot, robot.home) for foot in feet]
    hand = robot.pose("right_rubber_hand", robot.home).xyz + np.array((0.1, 0.05, 0.1))
    tasks = [*map(pz.PoseTask, feet), pz.PositionTask("right_rubber_hand", priority=1)]
    tracker, path = pz.Tracker(robot, tasks, dt=0.01, limits=[limit]), [robot.home]
    for _ in range(200):
        path.append(tracker.step(path[-1], [*places, hand]).copy())
    for foot, place in zip(feet, places, strict=True):
        assert np.linalg.norm(robot.pose(foot, np.array(path)).xyz - place.xyz, axis=-1).max() < 1e-3
    assert np.linalg.norm(robot.pose("right_rubber_hand", path[-1]).xyz - hand) < 1e-3
    assert all(slack(limit, robot, q) >= -1e-9 for q in path[::20])


def test_links_that_are_built_near_slide_along_each_other() -> None:
    robot = pz.load("g1", base="floating")
    limit = pz.CollisionLimit()
    feet = [pz.PoseTask(f"{side}_ankle_roll_link") for side in ("left", "right")]
    stand = [robot.pose(foot.frame, robot.home) for foot in feet]
    hand = robot.pose("right_wrist_yaw_link", robot.home).xyz + np.array((0.03, 0.02, 0.03))
    tracker, q = (
        pz.Tracker(robot, [*feet, pz.PositionTask("right_wrist_yaw_link")], dt=0.005, limits=[limit]),
        robot.home,
    )
    for _ in range(100):  # the shoulder is as near to the torso as it is built
        q = tracker.step(q, [*stand, hand])
        assert limit.is_kept(robot, q)
    assert np.linalg.norm(robot.pose("right_wrist_yaw_link", q).xyz - hand) < 1e-3


def test_what_is_eased_is_told_as_it_is_and_kept_as_asked() -> None:
    robot, limit = pz.fit_shapes(pz.load("ur10")).model, pz.CollisionLimit(min_distance=0.012)
    shapes, apart = robot.fitted_shapes, excluded_pairs(robot)
    pairs = [(a, b) for a, b in itertools.combinations(shapes, 2) if frozenset((a, b)) not in apart]
    scenes = {(a, b): Scene(robot, {a: shapes[a], b: shapes[b]}) for a, b in pairs}
    home = {pair: nearest_in(scene, robot.home).distance for pair, scene in scenes.items()}
    least = {pair: min(0.012, distance - 1e-4) for pair, distance in home.items()}
    assert min(least.values()) < 0.01
    for pair in pairs:
        assert limit.least(robot, *pair) == pytest.approx(least[pair], abs=2e-6)
    q = robot.sample(60, seed=0)
    rooms = np.array([[nearest_in(s, x).distance - least[pair] for pair, s in scenes.items()] for x in q])
    np.testing.assert_allclose(Clearance(robot, limit)(q), rooms.min(axis=1), atol=2e-6)
    for x, slack in zip(q, rooms, strict=True):
        near = limit.nearest(robot, x)
        assert near.distance - limit.least(robot, *near.pair) == pytest.approx(slack.min(), abs=2e-6)
        assert near.points[1] - near.points[0] == pytest.approx(near.distance * near.normal, abs=1e-7)
        assert limit.is_kept(robot, x) == (slack.min() >= 0.0)


def test_a_note_says_once_which_links_are_built_near(caplog: pytest.LogCaptureFixture) -> None:
    robot = pz.fit_shapes(pz.load("ur10")).model
    with caplog.at_level(logging.WARNING, logger="poise"):
        for _ in range(2):
            pz.CollisionLimit().nearest(robot, robot.home)
        assert len(caplog.messages) == 1
        assert "base_link and upper_arm_link (8.49 mm) are nearer to each other at home than the 10 mm" in caplog.text
        pz.CollisionLimit(min_distance=0.005).nearest(robot, robot.home)
        pz.CollisionLimit(allowed=[("base_link", "upper_arm_link")], min_distance=0.009).nearest(robot, robot.home)
        pz.CollisionLimit(self_collision=False, world=pz.World()).nearest(robot, robot.home)
        assert len(caplog.messages) == 1
        pz.CollisionLimit(min_distance=0.009).nearest(robot, robot.home)
        assert len(caplog.messages) == 2


def test_links_built_near_block_no_answer_beside_loops_that_no_task_moves() -> None:
    # The knuckles, about the hinges, are 3 mm apart.
    gripper = gripping().with_shapes(
        {"left_link": pz.Sphere((0.0, 0.0, 0.0), 0.0785), "right_link": pz.Sphere((0.0, 0.0, 0.0), 0.0785)}
    )
    limit = pz.CollisionLimit(min_distance=0.02)
    assert limit.least(gripper, "left_link", "right_link") < 0.003
    task, start = pz.JointCouplingTask({"wrist": 1.0}, target=0.5), gripper.q(left=-1.3, right=1.3)
    answers = [pz.solve(gripper, task, q0=start, limits=[limit])]
    answers += [*pz.solve_batch(gripper, task, [0.5], q0=start, limits=[limit])]
    for answer in answers:
        assert answer.status is pz.Status.CONVERGED
        assert limit.is_kept(gripper, answer.q)

"""The solver keeps limits of swing and twist: in every answer, found or not, from every start."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.mechanisms import puppet

import poise as pz

pytestmark = pytest.mark.filterwarnings("error")


def ball(swing: tuple[float, float], twist: tuple[float, float]) -> pz.Model:
    b = pz.ModelBuilder("ball")
    b.joint("neck", "spherical", parent="base", child="head", axis=(0, 0, 1), swing=swing, twist=twist)
    return b.build()


@pytest.mark.parametrize("kind", ["place", "pose", "posture"])
def test_what_can_be_reached_is_reached_within_the_limits(kind: str) -> None:
    model, solved = puppet(), 0
    answers, starts = (
        model.sample(40, seed=1),
        puppet().neutral + 0.5 * np.random.default_rng(2).normal(size=(40, model.nq)),
    )
    solver = pz.Solver(model, pz.PositionTask("palm"))
    if kind == "pose":
        solver = pz.Solver(model, pz.PoseTask("palm"))
    if kind == "posture":
        solver = pz.Solver(model, [pz.PositionTask("palm"), pz.PostureTask(model.home)])
    for q, q0 in zip(answers, starts, strict=True):
        pose = model.pose("palm", q)
        target = pose if kind == "pose" else pose.xyz
        found = solver(target if kind != "posture" else [target, model.home], q0=q0)
        assert model.within_limits(found.q)
        solved += found.success
    assert solved >= 39


def test_of_what_is_out_of_reach_the_nearest_is_found() -> None:
    swing, twist = (0.9, 0.3), (-0.4, 0.7)
    model = ball(swing, twist)
    angle, radius = np.meshgrid(np.linspace(0.0, 2.0 * math.pi, 181), np.linspace(0.0, 1.0, 21), indexing="ij")
    vectors = np.stack([swing[0] * radius * np.cos(angle), swing[1] * radius * np.sin(angle), 0.0 * angle], -1)
    swings = Rotation.from_rotvec(vectors.reshape(-1, 3))
    turns = [Rotation.from_rotvec([0.0, 0.0, t]) for t in np.linspace(*twist, 45)]
    within = np.vstack([(swings * turn).as_quat() for turn in turns])
    for seed in range(6):
        wanted = Rotation.random(random_state=seed)
        found = pz.solve(model, pz.OrientationTask("head", pz.SO3.from_matrix(wanted.as_matrix())))
        assert model.within_limits(found.q)
        reached = Rotation.from_quat(found.q[[1, 2, 3, 0]])
        least = 2.0 * math.acos(min(np.abs(within @ wanted.as_quat()).max(), 1.0))
        assert (wanted.inv() * reached).magnitude() <= least + 1e-4


def test_batches_keep_them_and_pull_starts_in() -> None:
    model = puppet()
    q = model.sample(200, seed=4)
    outside = model.normalize(model.neutral + np.random.default_rng(5).normal(size=q.shape))
    task = pz.PositionTask("palm")
    found = pz.solve_batch(model, task, model.poses(q, ["palm"]).array[..., 0, :3], q0=outside)
    assert model.within_limits(found.q)
    assert found.success.mean() > 0.99


def test_what_no_task_moves_is_pulled_in_too() -> None:
    model = puppet()
    q0 = model.neutral.copy()
    q0[5:9] = [0.0, 0.0, 1.0, 0.0]
    found = pz.solve(model, pz.PositionTask("fore", model.pose("fore", model.sample(seed=6)).xyz), q0=q0)
    assert found.success
    assert model.within_limits(found.q)


def test_without_limits_there_are_none() -> None:
    model = ball((0.1, 0.1), (0.0, 0.0))
    wanted = pz.SO3.from_matrix(Rotation.from_rotvec([0.0, 2.0, 0.0]).as_matrix())
    assert pz.solve(model, pz.OrientationTask("head", wanted), limits=False).success
    assert not pz.solve(model, pz.OrientationTask("head", wanted)).success


def test_poses_at_the_corners_of_the_limits_are_reached() -> None:
    model = puppet()
    shoulder, rng = model.ball_limits[0], np.random.default_rng(0)
    angle, q = rng.uniform(0.0, 2.0 * math.pi, 300), model.sample(300, seed=9)
    rim = (1.0 - 1e-8) * np.stack([1.0 * np.cos(angle), 0.5 * np.sin(angle)], axis=1)
    q[:, :4] = shoulder.rotation(rim, rng.choice([-1.0, 1.0], 300) * (shoulder.half - 1e-8))
    assert model.within_limits(q)
    found = pz.solve_batch(model, pz.PoseTask("palm"), model.poses(q, ["palm"])[:, 0])
    assert found.success.all()
    assert model.within_limits(found.q)
    assert (pz.solve_batch(model, pz.PoseTask("palm"), model.poses(q, ["palm"])[:, 0], threads=1).q == found.q).all()

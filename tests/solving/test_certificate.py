"""A proof that a target is out of reach is never given for one that is in reach, and no wrong one is taken."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

import poise as pz
from poise.solving.proof import by_lengths, by_turns, ruled_out

BEYOND = 0.2
"""How far the joints of other targets go beyond their limits, as a share of their range."""


def with_random_limits(model: pz.Model, seed: int) -> pz.Model:
    draw = np.random.default_rng(seed)
    ends = np.sort(draw.uniform(-3.0, 3.0, (model.nq, 2)), axis=1)
    return model.with_limits(dict(zip(model.joint_names, map(tuple, ends), strict=True)))


ARMS = {
    **{name: pz.load(name) for name in ("planar3", "puma560", "stanford", "ur5e", "panda")},
    "random limits": with_random_limits(pz.load("puma560"), 1),
    "others": with_random_limits(pz.load("ur5e"), 2),
}
CLOSED = [name for name in ARMS if name not in ("planar3", "panda")]


def reached(model: pz.Model, count: int, seed: int) -> np.ndarray:
    """(n, 7) poses of random configurations within the limits, some of whose joints stand at one."""
    q = np.array(model.sample(count, seed=seed))
    draw = np.random.default_rng(seed)
    ends = np.where(draw.random(q.shape) < 0.5, model.lower, model.upper)
    at_end = (draw.random(q.shape) < 0.15) & np.isfinite(ends)
    return model.pose(model.tip, np.where(at_end, ends, q)).array


def proofs(model: pz.Model, task: pz.Task, poses: np.ndarray, ways: Sequence[object] = (by_lengths, by_turns)) -> int:
    """How many of the poses are proved to be out of reach."""
    found = [[way(model, task, pose, limits=True) for way in ways] for pose in poses]  # type: ignore[operator]
    return sum(any(proof is not None for proof in some) for some in found)


@pytest.mark.parametrize("name", ARMS)
def test_no_pose_that_is_reached_is_proved_out_of_reach(name: str) -> None:
    model = ARMS[name]
    task = pz.PoseTask(model.tip)
    assert not ruled_out(model, task, reached(model, 100_000, 0), limits=True).any()
    if name in CLOSED:
        assert proofs(model, task, reached(model, 100, 1), (by_turns,)) == 0


@pytest.mark.parametrize("name", CLOSED)
@pytest.mark.parametrize("tolerance", [1e-6, 1e-2])
def test_nor_is_one_that_is_within_the_tolerances_of_it(name: str, tolerance: float) -> None:
    model = ARMS[name]
    draw = np.random.default_rng(3)
    task = pz.PoseTask(model.tip, position_tolerance=tolerance, rotation_tolerance=tolerance)
    way = draw.normal(size=(50, 2, 3))
    way *= 0.999 * tolerance / np.linalg.norm(way, axis=-1, keepdims=True)
    poses = pz.SE3(reached(model, 50, 2))
    moved = pz.SE3.from_parts(poses.xyz + way[:, 0], pz.SO3.from_rotvec(way[:, 1]) @ poses.rotation)
    assert proofs(model, task, moved.array) == 0


@pytest.mark.parametrize("name", CLOSED)
def test_an_arm_with_a_closed_form_is_proved_not_to_reach_what_it_does_not_reach(name: str) -> None:
    model = ARMS[name]
    draw = np.random.default_rng(4)
    places = np.column_stack([draw.uniform(-1.2, 1.2, (60, 3)), pz.SO3.from_rotvec(draw.normal(size=(60, 3))).wxyz])
    solver = pz.BranchSolver(model, pz.PoseTask(model.tip))
    beyond = np.array([pose for pose in places if not len(solver(pz.SE3(pose)))])
    assert len(beyond) > 5
    assert proofs(model, pz.PoseTask(model.tip), beyond) >= 0.95 * len(beyond)


@pytest.mark.parametrize("name", ARMS)
def test_lengths_rule_out_of_many_targets_what_they_prove_one_by_one(name: str) -> None:
    model = ARMS[name]
    draw = np.random.default_rng(6)
    poses = np.column_stack([draw.uniform(-2.0, 2.0, (300, 3)), draw.normal(size=(300, 4))])
    poses[0], poses[1, 3:], poses[2, 0], poses[3, 0], poses[4, 3:] = np.nan, 0.0, np.inf, 1e200, 1e200
    for task in (pz.PoseTask(model.tip), pz.PositionTask(model.tip)):
        goals = (
            poses if isinstance(task, pz.PoseTask) else np.column_stack([poses[:, :3], np.tile([1, 0, 0, 0], (300, 1))])
        )
        found = [by_lengths(model, task, pose, limits=True) for pose in goals]
        out = ruled_out(model, task, goals, limits=True)
        assert out.tolist() == [proof is not None for proof in found]
        assert 0 < out.sum() < 300
        assert all(proof.verify(model) for proof in found if proof is not None)


@pytest.mark.parametrize("name", ARMS)
def test_what_lengths_rule_out_is_unreachable_with_a_certificate(name: str) -> None:
    model = ARMS[name]
    answer = pz.solve(model, pz.PoseTask(model.tip, [9.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]))
    assert answer.status is pz.Status.UNREACHABLE
    proof = answer.certificate
    assert proof is not None
    assert proof.kind == "lengths"
    assert proof.verify(model)
    assert not model.frames or repr(proof) == f"Certificate('lengths', {model.tip!r})"


def puma_beyond() -> tuple[pz.Model, pz.Solution]:
    """A pose of a Puma that all its branches reach beyond their limits."""
    model = ARMS["puma560"]
    return model, pz.solve(model, pz.PoseTask(model.tip, model.pose(model.tip, [0.3, 0.5, -1.0, 0.4, 1.9, 0.2])))


def test_a_pose_whose_branches_are_all_beyond_the_limits_has_a_certificate() -> None:
    model, answer = puma_beyond()
    assert not answer.success
    proof = answer.certificate
    assert proof is not None
    assert proof.kind == "turns"
    assert proof.verify(model)


def test_an_answer_that_is_one_has_none() -> None:
    model = ARMS["puma560"]
    answer = pz.solve(model, pz.PoseTask(model.tip, model.pose(model.tip, model.home)))
    assert answer.success
    assert answer.certificate is None


def test_a_proof_does_not_hold_of_another_model_or_target() -> None:
    model, answer = puma_beyond()
    proof = answer.certificate
    assert proof is not None
    wide = model.with_limits(dict.fromkeys(model.joint_names, (-3.1, 3.1)))
    assert not proof.verify(wide)
    assert not replace(proof, limits=False).verify(model)
    assert not replace(proof, target=model.pose(model.tip, model.home)).verify(model)
    assert not replace(proof, rotation_tolerance=0.5, position_tolerance=0.3).verify(model)


@pytest.mark.parametrize("seed", range(20))
def test_no_numbers_prove_what_is_not_so(seed: int) -> None:
    model, answer = puma_beyond()
    proof = answer.certificate
    assert proof is not None
    draw = np.random.default_rng(seed)
    reach = model.pose(model.tip, model.sample(seed=seed))
    rows = np.array(proof.numbers)[draw.permutation(len(proof.numbers))]
    for numbers in (
        rows,
        np.column_stack([draw.integers(0, 9, (9, 3)), draw.normal(size=(9, 8))]),
        np.column_stack([rows[:, :3], draw.normal(size=(9, 3)), np.ones(9), draw.normal(size=(9, 3)), np.ones(9)]),
        np.where(draw.random(rows.shape) < 0.05, np.nan, rows),
        1e300 * rows,
    ):
        assert not replace(proof, target=reach, numbers=numbers).verify(model)
    for heights in (draw.normal(size=6), 1e5 * draw.normal(size=6), np.full(6, np.nan), np.zeros(5)):
        assert not replace(proof, target=reach, kind="lengths", numbers=heights).verify(model)


def test_a_place_in_the_inner_hole_is_proved_out_of_reach() -> None:
    b = pz.ModelBuilder("long and short")
    b.joint("shoulder", "continuous", parent="base", child="upper", axis=(0, 0, 1))
    b.joint("elbow", "continuous", parent="upper", child="lower", axis=(0, 0, 1), origin=pz.SE3.from_parts([1, 0, 0]))
    b.frame("tip", link="lower", origin=pz.SE3.from_parts([0.4, 0, 0]))
    arm = b.build()
    inside = pz.solve(arm, pz.PositionTask("tip", [0.5, 0.0, 0.0]))
    assert inside.status is pz.Status.UNREACHABLE
    assert inside.certificate is not None
    assert pz.solve(arm, pz.PositionTask("tip", [0.6 + 1e-9, 0.0, 0.0])).certificate is None


def test_a_free_direction_or_a_base_is_not_proved() -> None:
    arm = ARMS["puma560"]
    far = [9.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    assert pz.solve(arm, pz.PoseTask(arm.tip, far, position_weight=(1, 1, 0))).certificate is None
    assert pz.solve(arm, pz.PoseTask(arm.tip, far, base="link1")).certificate is None


def test_seven_joints_are_proved_by_parts_of_the_range_of_one() -> None:
    arm = ARMS["panda"]
    pose = arm.pose(arm.tip, [-1.59, 1.23, 3.08, 2.47, 1.85, -1.04, 0.52])
    proof = pz.solve(arm, pz.PoseTask(arm.tip, pose)).certificate
    assert proof is not None
    assert proof.kind == "turns"
    assert proof.split >= 0
    assert proof.verify(arm)

"""A proof that a target is out of reach is never given for one that is in reach, and no wrong one is taken."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest

import poise as pz
from poise.solving.problem.chain import chain_of
from poise.solving.unreachable.infeasibility import by_boxes, by_lengths, ruled_out
from poise.solving.unreachable.loop_features import plan
from poise.solving.unreachable.verify import empty, loop_of

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


class Target(NamedTuple):
    """What a loop wants to know of a proof."""

    target: pz.SE3
    position_tolerance: float = 0.0
    rotation_tolerance: float = 0.0


def around(q: np.ndarray, draw: np.random.Generator, count: int) -> np.ndarray:
    """(count, 2, nq) boxes of all sizes that hold a configuration, some of them at their border."""
    half = 10.0 ** draw.uniform(-6.0, 0.0, (count, len(q)))
    off = np.clip(draw.uniform(-1.2, 1.2, half.shape), -1.0, 1.0)
    return np.stack([q + off * half, half], axis=1)


def proofs(model: pz.Model, task: pz.Task, poses: np.ndarray, ways: Sequence[object] = (by_lengths, by_boxes)) -> int:
    """How many of the poses are proved to be out of reach."""
    found = [[way(model, task, pose, limits=True) for way in ways] for pose in poses]  # type: ignore[operator]
    return sum(any(proof is not None for proof in some) for some in found)


@pytest.mark.parametrize("name", ARMS)
def test_no_pose_that_is_reached_is_proved_out_of_reach(name: str) -> None:
    model = ARMS[name]
    task = pz.PoseTask(model.tip)
    assert not ruled_out(model, task, reached(model, 20_000, 0), limits=True).any()


@pytest.mark.parametrize("name", ARMS)
def test_no_box_that_holds_a_solution_is_emptied(name: str) -> None:
    model = ARMS[name]
    draw = np.random.default_rng(1)
    chain = chain_of(model, model.tip, None, pz.SE3.identity(), limits=True)
    asked = plan(chain, posed=True)
    for q in np.array(model.sample(6, seed=2)):
        stated = Target(model.pose(model.tip, q))
        closed = loop_of(chain, stated)
        boxes = around(q, draw, 50)
        for reason in [*asked.always, *(one for stage in asked.stages for one in stage)]:
            assert not empty(closed, reason.rows, boxes).any()


@pytest.mark.parametrize("name", CLOSED)
@pytest.mark.parametrize("tolerance", [1e-6, 1e-2])
def test_nor_is_one_that_is_within_the_tolerances_of_it(name: str, tolerance: float) -> None:
    model = ARMS[name]
    draw = np.random.default_rng(3)
    task = pz.PoseTask(model.tip, position_tolerance=tolerance, rotation_tolerance=tolerance)
    chain = chain_of(model, model.tip, None, pz.SE3.identity(), limits=True)
    asked = plan(chain, posed=True)
    way = draw.normal(size=(10, 2, 3))
    way *= 0.999 * tolerance / np.linalg.norm(way, axis=-1, keepdims=True)
    configurations = np.array(model.sample(10, seed=2))
    poses = model.pose(model.tip, configurations)
    moved = pz.SE3.from_parts(poses.xyz + way[:, 0], pz.SO3.from_rotvec(way[:, 1]) @ poses.rotation)
    assert proofs(model, task, moved.array, (by_lengths,)) == 0
    for q, pose in zip(configurations, map(pz.SE3, moved.array), strict=True):
        closed, boxes = loop_of(chain, Target(pose, tolerance, tolerance)), around(q, draw, 20)
        for reason in (one for stage in asked.stages for one in stage):
            assert not empty(closed, reason.rows, boxes).any()


@pytest.mark.parametrize("name", CLOSED)
def test_an_arm_with_a_closed_form_is_proved_not_to_reach_what_it_does_not_reach(name: str) -> None:
    model = ARMS[name]
    draw = np.random.default_rng(4)
    places = np.column_stack([draw.uniform(-1.2, 1.2, (25, 3)), pz.SO3.from_rotvec(draw.normal(size=(25, 3))).wxyz])
    solver = pz.BranchSolver(model, pz.PoseTask(model.tip))
    beyond = np.array([pose for pose in places if not len(solver(pz.SE3(pose)))])
    assert len(beyond) > 5
    assert proofs(model, pz.PoseTask(model.tip), beyond) >= 0.95 * len(beyond)


@pytest.mark.parametrize("name", ARMS)
def test_lengths_rule_out_of_many_targets_what_they_prove_one_by_one(name: str) -> None:
    model = ARMS[name]
    draw = np.random.default_rng(6)
    poses = np.column_stack([draw.uniform(-2.0, 2.0, (60, 3)), draw.normal(size=(60, 4))])
    poses[0], poses[1, 3:], poses[2, 0], poses[3, 0], poses[4, 3:] = np.nan, 0.0, np.inf, 1e200, 1e200
    for task in (pz.PoseTask(model.tip), pz.PositionTask(model.tip)):
        goals = (
            poses if isinstance(task, pz.PoseTask) else np.column_stack([poses[:, :3], np.tile([1, 0, 0, 0], (60, 1))])
        )
        found = [by_lengths(model, task, pose, limits=True) for pose in goals]
        out = ruled_out(model, task, goals, limits=True)
        assert out.tolist() == [proof is not None for proof in found]
        assert 0 < out.sum() < 60
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
    assert proof.kind == "boxes"
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
    turned, tree = draw.permutation(len(proof.reasons)), proof.tree
    noise = [np.array([[0, 0, k, *draw.normal(size=3), 1], [0, k, 6, *draw.normal(size=3), 1]]) for k in range(1, 6)]
    for reasons in (
        proof.reasons,
        [proof.reasons[k] for k in turned],
        [np.where(draw.random(rows.shape) < 0.1, np.nan, rows) for rows in proof.reasons],
        [np.where(np.arange(7) > 2, 1e3 * draw.normal(size=rows.shape), rows) for rows in proof.reasons],
        [np.where(np.arange(7) < 3, draw.integers(-1, 8, rows.shape), rows) for rows in proof.reasons],
        [rows[::-1] for rows in proof.reasons],
        [rows[:1] for rows in proof.reasons],
        (noise * len(proof.reasons))[: len(proof.reasons)],
    ):
        assert not replace(proof, target=reach, reasons=tuple(reasons)).verify(model)
    for some in (tree[:-1], tree[1:], np.append(tree, -1), draw.permutation(tree), np.full(3, -1), tree[:0], tree + 3):
        assert not replace(proof, target=reach, tree=some).verify(model)


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


def test_a_part_of_a_tree_proves_nothing() -> None:
    model, answer = puma_beyond()
    proof = answer.certificate
    assert proof is not None
    for cut in (proof.tree[:-1], proof.tree[1:], np.append(proof.tree, proof.tree), proof.tree[:0]):
        assert not replace(proof, tree=cut).verify(model)


def test_a_free_direction_or_a_base_that_flies_is_not_proved() -> None:
    arm = ARMS["puma560"]
    far = [9.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    assert pz.solve(arm, pz.PoseTask(arm.tip, far, position_weight=(1, 1, 0))).certificate is None
    b = pz.ModelBuilder("flying")
    b.joint("free", "floating", parent="world", child="base")
    b.joint("elbow", "revolute", parent="base", child="arm", limits=(-1.0, 1.0))
    b.frame("tip", link="arm", origin=pz.SE3.from_parts([1, 0, 0]))
    flying = b.build()
    assert pz.solve(flying, pz.PositionTask("tip", [9.0, 0.0, 0.0])).success
    beside = pz.solve(flying, pz.PositionTask("tip", [0.0, 1.0, 0.0], base="base"))
    assert beside.certificate is not None
    assert beside.certificate.verify(flying)


def two_arms() -> pz.Model:
    """Two arms of two hinges each on one shoulder."""
    b = pz.ModelBuilder("two arms")
    for name, side in (("left", 0.2), ("right", -0.2)):
        at = pz.SE3.from_parts([0, side, 0])
        b.joint(f"{name}_shoulder", "revolute", parent="base", child=f"{name}_upper", origin=at, limits=(-2.0, 2.0))
        b.joint(
            f"{name}_elbow", "revolute", parent=f"{name}_upper", child=f"{name}_lower",
            origin=pz.SE3.from_parts([0.5, 0, 0]), limits=(0.0, 2.5),
        )  # fmt: skip
        b.frame(f"{name}_tip", link=f"{name}_lower", origin=pz.SE3.from_parts([0.4, 0, 0]))
    return b.build()


def test_a_target_that_another_frame_sees_is_proved_with_the_joints_of_both() -> None:
    model = two_arms()
    task = pz.PositionTask("left_tip", base="right_tip")
    seen = task.frame_pose(model, model.sample(2000, seed=0)).array
    assert not ruled_out(model, task, seen, limits=True).any()
    for place, kind in (([3.0, 0.0, 0.0], "lengths"), ([0.1, 0.0, 0.3], "boxes")):
        answer = pz.solve(model, pz.PositionTask("left_tip", place, base="right_tip"))
        proof = answer.certificate
        assert (answer.status is pz.Status.UNREACHABLE) == (kind == "lengths")
        assert proof is not None
        assert (proof.kind, proof.base) == (kind, "right_tip")
        assert proof.verify(model)
        assert not replace(proof, base=None, target=model.pose("left_tip", model.home)).verify(model)


@pytest.mark.parametrize("name", ["ur5e", "puma560", "panda"])
def test_a_frame_seen_from_a_link_or_the_wrist_from_the_hand(name: str) -> None:
    model = ARMS[name]
    links = [joint.child for joint in model.joints if joint.nq]
    q = np.array(model.sample(200, seed=5))
    for frame, base in ((model.tip, links[0]), (links[0], model.tip)):
        task = pz.PoseTask(frame, base=base)
        assert not ruled_out(model, task, task.frame_pose(model, q).array, limits=True).any()
        far = pz.solve(model, pz.PoseTask(frame, [3.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], base=base))
        assert far.status is pz.Status.UNREACHABLE
        assert far.certificate is not None
        chain = chain_of(model, frame, base, pz.SE3.identity(), limits=True)
        asked, draw = plan(chain, posed=True), np.random.default_rng(0)
        signs = np.array([1.0 if frame == model.tip else -1.0])
        for one in q[:5]:
            turns = signs * (one[1:] if frame == model.tip else one[:0:-1])
            closed = loop_of(chain, Target(task.frame_pose(model, one)))
            boxes = around(turns, draw, 50)
            for reason in (some for stage in asked.stages for some in stage):
                assert not empty(closed, reason.rows, boxes).any()


def test_seven_joints_are_proved() -> None:
    arm = ARMS["panda"]
    pose = arm.pose(arm.tip, [-1.59, 1.23, 3.08, 2.47, 1.85, -1.04, 0.52])
    proof = pz.solve(arm, pz.PoseTask(arm.tip, pose)).certificate
    assert proof is not None
    assert proof.kind == "boxes"
    assert proof.verify(arm)


def slides(count: int, limit: float) -> pz.Model:
    """A gantry: so many slides, one after the other, and none that turns."""
    b, last = pz.ModelBuilder("gantry"), "world"
    for i, axis in enumerate(np.eye(3)[:count]):
        b.joint(f"slide{i}", "prismatic", parent=last, child=f"link{i}", axis=axis, limits=(-limit, limit))
        last = f"link{i}"
    return b.build()


@pytest.mark.parametrize("limit", [1.0, np.inf])
@pytest.mark.parametrize("turn", [(np.pi, 0.0, 0.0), (0.0, np.pi, 0.0), (0.0, 0.0, 1e-3), (1.0, 1.0, 1.0)])
def test_slides_that_are_asked_to_turn_are_proved_not_to(turn: tuple[float, ...], limit: float) -> None:
    gantry = slides(3, limit)
    pose = pz.SE3.from_xyz_rpy([0.1, -0.2, 0.3], turn)
    for task in (pz.PoseTask("link2", pose), pz.OrientationTask("link2", pose.rotation)):
        found = pz.solve(gantry, task, max_restarts=0)
        assert found.status is pz.Status.UNREACHABLE
        assert "No joint turns 'link2', and its target is turned." in found.explain()
        proof = found.certificate
        assert proof is not None
        assert (len(proof.reasons), len(proof.tree)) == (1, 1)
        assert proof.verify(gantry)
        assert not replace(proof, target=pz.SE3.from_parts(pose.xyz)).verify(gantry)
    assert pz.solve(gantry, pz.PoseTask("link2", pz.SE3.from_parts([0.1, -0.2, 0.3]))).certificate is None


def test_an_arm_in_a_plane_is_proved_not_to_turn_over() -> None:
    arm = ARMS["planar3"]
    over = pz.solve(arm, pz.PoseTask(arm.tip, pz.SE3.from_xyz_rpy([1.0, 1.0, 0.0], [np.pi, 0.0, 0.0])), max_restarts=2)
    assert over.certificate is not None
    assert over.certificate.verify(arm)


def test_a_rotation_alone_is_proved_out_of_reach_or_reached() -> None:
    """A pan and a tilt: most rotations are beyond them, and none of those that they have is proved to be."""
    b = pz.ModelBuilder("head")
    b.joint("pan", "revolute", parent="world", child="neck", axis=[0, 0, 1], limits=(-1.5, 1.5))
    b.joint("tilt", "revolute", parent="neck", child="eyes", axis=[0, 1, 0], limits=(-0.5, 0.5))
    head = b.build()
    there = reached(head, 10, seed=4)
    task = pz.OrientationTask("eyes")
    assert proofs(head, task, np.concatenate([np.zeros((10, 3)), there[:, 3:]], axis=1), ways=(by_boxes,)) == 0
    for turn in ([0.0, 0.7, 1.0], [0.0, 0.4, -1.7], [0.3, 0.1, 0.1], [np.pi, 0.0, 0.0]):
        answer = pz.solve(head, pz.OrientationTask("eyes", pz.SO3.from_rpy(turn)), max_restarts=2)
        proof = answer.certificate
        assert proof is not None
        assert proof.verify(head)
        if turn[0] == 0.0:
            assert not proof.verify(head.with_limits({"pan": (-3.0, 3.0), "tilt": (-3.0, 3.0)}))

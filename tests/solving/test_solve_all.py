"""Every solution: that none is lost, that each is one, in what order they come, and what is said of them."""

import gc
import os
import pickle
import signal
import threading
import time
import weakref
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from arms import FAMILIES, arm, lines, nearest, unit
from independent import fk, pose_error
from support.refusals import refused

import poise as pz
from poise.robots import TEXTBOOK
from poise.solving.solvers import branching

Array = npt.NDArray[np.float64]
SIX = ("ur5e", "puma560")
SEVEN = ("panda", "iiwa14")
FOUND = 1e-6
"""A configuration is found if one of the solutions differs by no more, but for whole turns [rad]."""
CERTIFIED = 1e-9
"""The largest error of a solution by closed form [m, rad]."""


def certify(model: pz.Model, frame: str, found: pz.results.Solutions, target: pz.SE3, *, limits: bool = True) -> None:
    """Each solution is where forward kinematics says, within the limits, and no nearer than the one before."""
    for branch in found:
        assert max(pose_error(fk(model, frame, branch.q), target.matrix())) < CERTIFIED
        assert max(branch.position_error, branch.rotation_error) < CERTIFIED
        assert not limits or (np.all(branch.q >= model.lower) and np.all(branch.q <= model.upper))
    assert np.all(np.diff(found.distances) >= 0.0)


# None is lost -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("from_tip", [False, True], ids=["forth", "back"])
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("count", [12, pytest.param(60, marks=pytest.mark.slow)])
def test_every_configuration_is_among_the_solutions_of_its_own_pose(count: int, family: str, from_tip: bool) -> None:
    rng = np.random.default_rng([FAMILIES.index(family), from_tip])
    for _ in range(3):
        h, p = lines(family, rng)
        model = arm(h[::-1], p[::-1]) if from_tip else arm(h, p)
        every = pz.BranchSolver(model, pz.PoseTask("tool"))
        assert every.closed_form is not None
        assert every.swept is None
        for q in model.sample(count, seed=rng):
            target = model.pose("tool", q)
            found = every(target, rng.uniform(-9.0, 9.0, 6))
            assert nearest(found.q, q) < FOUND
            assert found.complete
            certify(model, "tool", found, target)


@pytest.mark.parametrize("name", SIX)
def test_what_many_searches_find_is_among_them(name: str) -> None:
    model = TEXTBOOK[name]()
    task, one = pz.PoseTask(model.tip), pz.Solver(model, pz.PoseTask(model.tip), select="first", max_restarts=7)
    rng = np.random.default_rng(1)
    for q in model.sample(6, seed=rng):
        target = model.pose(model.tip, q)
        every = pz.solve_all(model, task, target)
        searched = [one(target, q0=start, seed=k) for k, start in enumerate(model.sample(60, seed=rng))]
        answers = np.array([solution.q for solution in searched if solution.success])
        assert max(nearest(every.q, answer) for answer in answers) < 1e-3  # as far as the tolerances let a search stop


@pytest.mark.parametrize("name", SIX)
def test_an_arm_without_limits_has_an_even_number_of_branches_and_those_within_are_the_same(name: str) -> None:
    model = TEXTBOOK[name]()
    task = pz.PoseTask(model.tip)
    for q in model.sample(25, seed=2):
        target = model.pose(model.tip, q)
        free, held = (pz.solve_all(model, task, target, q0=q, limits=limits) for limits in (False, True))
        assert len(free) % 2 == 0
        assert len(free) == free.total == held.total
        inside = [branch for branch in free if any(True for _ in _turned_within(model, branch.q))]
        assert len(held) == len(inside)
        assert set(held.numbers.tolist()) == {branch.number for branch in inside}
        certify(model, model.tip, free, target, limits=False)
        certify(model, model.tip, held, target)


def _turned_within(model: pz.Model, q: Array) -> list[Array]:
    """What whole turns make of q within the limits."""
    ways = [
        [x + 2 * np.pi * k for k in range(-3, 4) if low <= x + 2 * np.pi * k <= high]
        for x, low, high in zip(q, model.lower, model.upper, strict=True)
    ]
    return list(np.array(np.meshgrid(*ways)).reshape(len(q), -1).T) if all(ways) else []


def test_whole_turns_are_all_there_when_they_are_asked_for() -> None:
    model = TEXTBOOK["ur5e"]()
    q = model.sample(seed=5)
    target, task = model.pose(model.tip, q), pz.PoseTask(model.tip)
    every, turned = (pz.solve_all(model, task, target, q0=q, turns=turns) for turns in (False, True))
    expected = np.array([other for branch in every for other in _turned_within(model, branch.q)])
    assert len(turned) == len(expected) > len(every)
    assert np.allclose(np.unique(turned.q.round(6), axis=0), np.unique(expected.round(6), axis=0), atol=2e-6)
    assert np.array_equal(turned[0].q, every[0].q)
    assert turned.total == every.total
    certify(model, model.tip, turned, target)
    assert "whole turns" in turned.explain()


def test_each_joint_is_as_whole_turns_bring_it_nearest_to_the_start() -> None:
    model = TEXTBOOK["ur5e"]()
    q0 = np.array([6.0, -6.0, 3.0, 6.0, -5.0, 6.2])
    target = model.pose(model.tip, model.sample(seed=5))
    for branch in pz.solve_all(model, pz.PoseTask(model.tip), target, q0=q0):
        ways = np.array(_turned_within(model, branch.q))
        assert np.linalg.norm(branch.q - q0) <= np.linalg.norm(ways - q0, axis=1).min() + 1e-12
        assert branch.distance == pytest.approx(np.linalg.norm(model.difference(q0, branch.q)))


# Singular poses, borders ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("angle", [0.0, 1e-12, 1e-9, 1e-7, 1e-5, 1e-3])
@pytest.mark.parametrize("name", SIX)
def test_a_wrist_that_is_straight_loses_no_solution(name: str, angle: float) -> None:
    model = TEXTBOOK[name]()
    every = pz.BranchSolver(model, pz.PoseTask(model.tip), limits=False)
    for q in model.sample(12, seed=3):
        q[4] = angle
        target = model.pose(model.tip, q)
        found = every(target, q)
        certify(model, model.tip, found, target, limits=False)
        # Two axes fall together: their sum tells, and each of them the less the straighter the wrist.
        assert nearest(found.q, q) < max(FOUND, 1e-14 / angle if angle else 0.0)
        if angle == 0.0:
            assert found[0].line
            assert "line of solutions" in found[0].label
            assert not found.complete
        if angle >= 1e-7:
            assert found.complete


@pytest.mark.parametrize("bend", [0.0, 1e-12, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-3])
def test_a_stretched_arm_has_its_two_elbows_merged_or_both(bend: float) -> None:
    model = TEXTBOOK["ur5e"]()
    every = pz.BranchSolver(model, pz.PoseTask(model.tip), limits=False)
    for q in model.sample(15, seed=4):
        q[2] = bend
        target = model.pose(model.tip, q)
        found = every(target, q)
        certify(model, model.tip, found, target, limits=False)
        assert nearest(found.q, q) < max(FOUND, 1e-14 / bend if bend else 0.0, 3e-7)
        bent = np.abs(found.q[:, 2]) < 2.0 * max(bend, 1e-6)
        assert bent.any()
        assert bend < 1e-5 or bent.sum() % 2 == 0


def test_two_branches_that_meet_are_told_as_double() -> None:
    model = TEXTBOOK["ur5e"]()
    every = pz.BranchSolver(model, pz.PoseTask(model.tip), limits=False)
    for q in model.sample(8, seed=4):
        assert not any(branch.double for branch in every(model.pose(model.tip, q)))
        q[2] = 0.0
        found = every(model.pose(model.tip, q))
        assert all(branch.double == (abs(branch.q[2]) < 1e-6) for branch in found)
        assert any(branch.double for branch in found)


def test_a_hand_above_the_shoulder_keeps_the_pan_where_it_was() -> None:
    rng = np.random.default_rng(6)
    h, p = lines("meeting 1 and 2", rng)
    model = arm(h, p)
    every = pz.BranchSolver(model, pz.PoseTask("tool"))
    for q in model.sample(20, seed=7):
        # The wrist on the first axis: q2 and q3 such that its centre lies there is not known; a target that does is.
        centre = p[0] + 0.4 * h[0]
        wrist = np.linalg.solve(
            sum(np.eye(3) - np.outer(a, a) for a in h[3:]),
            sum((np.eye(3) - np.outer(a, a)) @ b for a, b in zip(h[3:], p[3:], strict=True)),
        )
        frame = model.pose("tool", np.zeros(6))
        turn = pz.SO3.from_rotvec(rng.normal(size=3))
        target = pz.SE3.from_parts(centre + turn.act(frame.xyz - wrist), turn @ frame.rotation)
        found = every(target, q)
        certify(model, "tool", found, target)
        assert all(branch.line for branch in found)
        assert all(branch.q[0] == pytest.approx(q[0], abs=1e-9) for branch in found)


def test_no_joint_leaves_its_limits_by_a_bit_where_a_solution_stands_at_one() -> None:
    model = TEXTBOOK["puma560"]()
    every = pz.BranchSolver(model, pz.PoseTask(model.tip))
    rng = np.random.default_rng(8)
    for q in model.sample(40, seed=rng):
        at = rng.random(6) < 0.5
        q = np.where(at, np.where(rng.random(6) < 0.5, model.lower, model.upper), q)
        target = model.pose(model.tip, q)
        found = every(target, q)
        assert nearest(found.q, q) < FOUND
        certify(model, model.tip, found, target)


def test_out_of_reach_is_said_and_proved() -> None:
    model = TEXTBOOK["ur5e"]()
    found = pz.solve_all(model, pz.PoseTask(model.tip), pz.SE3.from_parts([3.0, 0.0, 0.2]))
    assert len(found) == found.total == 0
    assert found.complete
    assert found.q.shape == (0, 6)
    assert "out of reach" in found.explain()
    assert found.certificate is not None
    assert found.certificate.kind == "lengths"
    assert found.certificate.verify(model)


def test_no_solution_within_the_limits_is_proved_too() -> None:
    model = TEXTBOOK["puma560"]()
    task = pz.PoseTask(model.tip)
    target = model.pose(model.tip, [0.3, 0.5, -1.0, 0.4, 1.9, 0.2])
    found = pz.solve_all(model, task, target)
    assert len(found) == 0 < found.total
    proof = found.certificate
    assert proof is not None
    assert proof.kind == "boxes"
    assert proof.verify(model)
    assert not proof.verify(model.with_limits({"joint5": (-2.0, 2.0)}))
    assert pz.solve_all(model, task, target, limits=False).certificate is None


def test_out_of_reach_is_said_only_where_a_certificate_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    model = TEXTBOOK["ur5e"]()
    found = pz.solve_all(model, pz.PoseTask(model.tip), pz.SE3.from_parts([0.0, 0.05, 0.4]))
    assert found.total == 0
    assert found.complete
    monkeypatch.setattr("poise.solving.answers.branches.certificate_of", lambda *_, **__: None)
    assert "out of reach" not in found.explain()


def test_solutions_beyond_the_limits_are_counted() -> None:
    model = TEXTBOOK["puma560"]()
    target = model.pose(model.tip, [0.0, 0.3, -0.2, 0.5, 1.9, 0.1])  # the fifth joint goes to 1.75
    found = pz.solve_all(model, pz.PoseTask(model.tip), target)
    assert found.total == 8
    assert len(found) < 8
    assert found.explain().startswith(f"8 branches by closed form (spherical wrist); {len(found)} within the limits")


# A joint that is swept ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SEVEN)
def test_a_seventh_joint_is_swept_from_where_it_rests(name: str) -> None:
    model = TEXTBOOK[name]()
    every = pz.BranchSolver(model, pz.PoseTask(model.tip), samples=16)
    assert every.swept == model.coordinates[6]
    for q in model.sample(10, seed=9):
        target = model.pose(model.tip, q)
        found = every(target, q)
        assert nearest(found.q, q) < FOUND
        assert np.linalg.norm(found[0].q - q) < 1e-9
        assert len(np.unique(found.q[:, 6].round(9))) <= 16
        assert not found.complete
        certify(model, model.tip, found, target)
    assert "16 values of" in found.explain()
    assert every.swept in found[0].label


def test_the_values_of_a_swept_joint_are_evenly_spread_over_its_range() -> None:
    model = TEXTBOOK["iiwa14"]()
    q = 0.1 * np.ones(7)
    found = pz.solve_all(model, pz.PoseTask(model.tip), model.pose(model.tip, q), q0=q, samples=8, limits=True)
    step = (model.upper[6] - model.lower[6]) / 8
    steps = (found.q[:, 6] - q[6]) / step
    assert np.allclose(steps, np.rint(steps))
    free = pz.solve_all(model, pz.PoseTask(model.tip), model.pose(model.tip, q), q0=q, samples=8, limits=False)
    steps = (free.q[:, 6] - q[6]) / (2 * np.pi / 8)
    assert np.allclose(steps, np.rint(steps))
    assert len(np.unique(np.rint(steps))) == 8


@pytest.mark.parametrize("kind", ["prismatic", "revolute"])
@pytest.mark.parametrize("end", [0, 6], ids=["first", "last"])
def test_a_seventh_joint_at_either_end_may_slide_or_turn(end: int, kind: str) -> None:
    rng = np.random.default_rng([end, len(kind)])
    h, p = lines("three parallel", rng)
    h, p = np.insert(h, end, unit(rng), axis=0), np.insert(p, end, rng.normal(size=3), axis=0)
    model = arm(h, p, kinds={end: kind}, limits=(-3.0, 2.5))
    every = pz.BranchSolver(model, pz.PoseTask("tool"), samples=4)
    assert every.swept == f"j{end}"
    for q in model.sample(15, seed=11):
        target = model.pose("tool", q)
        found = every(target, q)
        assert nearest(found.q, q) < FOUND
        certify(model, "tool", found, target)


# Where the arm stands ----------------------------------------------------------------------------------------------


def test_an_arm_may_stand_on_joints_that_do_not_move_the_task() -> None:
    """Seen from its own base, an arm on a cart has the closed form; the cart stays where it is."""
    rng = np.random.default_rng(12)
    h, p = lines("parallel 2 and 3", rng)
    h[5], p[5] = h[3], p[3]  # the same line while joint 5 is at 0
    b = pz.ModelBuilder("cart")
    b.joint("drive", "planar", parent="floor", child="cart")
    parent, at = "cart", np.zeros(3)
    for i in range(6):
        origin = pz.SE3.from_parts(p[i] - at)
        b.joint(f"j{i}", "revolute", parent=parent, child=f"l{i}", origin=origin, axis=h[i], limits=(-3, 3))
        parent, at = f"l{i}", p[i]
    b.frame("tool", link=parent, origin=pz.SE3.from_parts([0.1, 0.0, 0.2]))
    b.frame("deck", link="cart", origin=pz.SE3.from_xyz_rpy([0.3, -0.1, 0.2], [0.5, 0.2, -0.9]))
    model = b.build()
    for frame, base in (("tool", "deck"), ("deck", "tool")):
        every = pz.BranchSolver(model, pz.PoseTask(frame, base=base))
        assert every.closed_form == ("spherical wrist" if frame == "tool" else "spherical shoulder")
        for q in np.random.default_rng(13).uniform(-3.0, 3.0, (20, 9)):
            seen = model.pose(base, q).inverse() @ model.pose(frame, q)
            found = every(seen, q)
            assert nearest(found.q, q) < FOUND
            assert np.array_equal(found.q[:, :3], np.tile(q[:3], (len(found), 1)))
            for other in found.q:
                reached = np.linalg.inv(fk(model, base, other)) @ fk(model, frame, other)
                assert max(pose_error(reached, seen.matrix())) < CERTIFIED
            assert not any(branch.double for branch in found)
            q[7] = 0.0  # a straight wrist
            assert every(model.pose(base, q).inverse() @ model.pose(frame, q), q)[0].double


def test_geared_joints_and_fixed_joints_between_are_seen_through() -> None:
    rng = np.random.default_rng(14)
    h, p = lines("parallel 2 and 3", rng)
    gears = [(2.0, 0.3), (-0.5, -0.2), (1.0, 0.0), (-1.0, 0.7), (3.0, -1.0), (0.7, 0.1)]
    b = pz.ModelBuilder("geared")
    parent, at = "base", np.zeros(3)
    for i, (ratio, offset) in enumerate(gears):
        b.joint(f"m{i}", "revolute", parent="base", child=f"motor{i}", limits=(-2, 2))
        b.joint(
            f"j{i}", "revolute", parent=parent, child=f"l{i}", origin=pz.SE3.from_parts(p[i] - at), axis=h[i],
            mimic=pz.Mimic(joint=f"m{i}", multiplier=ratio, offset=offset),
        )  # fmt: skip
        turn = pz.SE3.from_xyz_rpy([0.0, 0.0, 0.0], rng.normal(size=3))
        b.joint(f"out{i}", "fixed", parent=f"l{i}", child=f"out{i}", origin=turn)
        b.joint(f"back{i}", "fixed", parent=f"out{i}", child=f"back{i}", origin=turn.inverse())
        parent, at = f"back{i}", p[i]
    b.frame("tool", link=parent, origin=pz.SE3.from_parts([0.1, 0.0, 0.2]))
    model = b.build()
    every = pz.BranchSolver(model, pz.PoseTask("tool"))
    assert every.closed_form == "spherical wrist"
    turns = 2 * np.pi / np.abs([ratio for ratio, _ in gears])
    for q in model.sample(40, seed=15):
        target = model.pose("tool", q)
        found = every(target, q)
        apart = found.q - q
        assert np.abs(apart - turns * np.rint(apart / turns)).max(axis=1).min() < FOUND
        certify(model, "tool", found, target)


# Searches ---------------------------------------------------------------------------------------------------------


def elbow() -> pz.Model:
    b = pz.ModelBuilder("elbow")
    b.joint("a", "revolute", parent="base", child="upper", limits=(-3, 3))
    b.joint("b", "revolute", parent="upper", child="lower", origin=pz.SE3.from_parts([1, 0, 0]), limits=(-3, 3))
    b.frame("tip", link="lower", origin=pz.SE3.from_parts([1, 0, 0]))
    return b.build()


def test_any_other_arm_is_searched_and_the_sentence_is_honest() -> None:
    model = elbow()
    task = pz.PositionTask("tip")
    found = pz.solve_all(model, task, [1.0, 1.0, 0.0], samples=8)
    assert np.allclose(np.sort(found.q[:, 1]), [-np.pi / 2, np.pi / 2], atol=1e-4)
    assert not found.complete
    assert "found 2 branches" in found.explain()
    assert "starts" in found.explain()
    assert found[0].label == "found by a search"
    assert max(b.position_error for b in found) < 1e-6
    empty = pz.solve_all(model, task, [2.5, 0.0, 0.0], samples=1)
    assert len(empty) == 0
    assert "proves nothing" in empty.explain()
    again = pz.solve_all(model, task, [1.0, 1.0, 0.0], samples=8)
    assert np.array_equal(again.q, found.q)


def test_weights_that_leave_a_direction_free_have_no_closed_form() -> None:
    model = TEXTBOOK["ur5e"]()
    assert pz.BranchSolver(model, pz.PoseTask(model.tip, rotation_weight=(1, 1, 0), axes="target")).closed_form is None
    heavy = pz.BranchSolver(model, pz.PoseTask(model.tip, rotation_weight=0.1, position_weight=(1, 2, 3)))
    assert heavy.closed_form == "three parallel axes"
    q = model.sample(seed=18)
    target = model.pose(model.tip, q)
    certify(model, model.tip, heavy(target, q), target)


def test_two_tasks_are_searched_together() -> None:
    model = TEXTBOOK["panda"]()
    tasks = [pz.PoseTask("panda_hand"), pz.PositionTask("panda_link4", tolerance=1e-3)]
    q = model.home
    targets = [model.pose("panda_hand", q), model.pose("panda_link4", q).xyz]
    found = pz.solve_all(model, tasks, targets, q0=q, samples=1)
    assert len(found) > 0
    assert np.linalg.norm(found[0].q - q) < 1e-6


# Which is which ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SIX)
def test_a_branch_keeps_its_number_as_the_target_moves(name: str) -> None:
    model = TEXTBOOK[name]()
    every = pz.BranchSolver(model, pz.PoseTask(model.tip), limits=False)
    start, end = model.sample(2, seed=19)
    before: dict[int, Array] = {}
    followed = 0
    for t in np.linspace(0.0, 1.0, 800):
        q = (1.0 - t) * start + t * end
        found = every(model.pose(model.tip, q), q)
        now = {branch.number: branch.q for branch in found}
        assert len(now) == len(found)
        for number in before.keys() & now.keys():
            # Not next to a singular pose, where two of them meet.
            if min(np.linalg.svd(model.jacobian(model.tip, x[number]))[1][-1] for x in (before, now)) > 0.05:
                others = [other for n, other in now.items() if n != number]
                assert nearest(now[number], before[number]) < nearest(others, before[number])
                followed += 1
        before = now
    assert followed > 500


@pytest.mark.parametrize("name", SIX)
def test_each_choice_is_one_side_of_a_singular_surface(name: str) -> None:
    """The product of the three signs is that of the Jacobian's determinant, but for one sign of the arm's own."""
    model = TEXTBOOK[name]()
    every = pz.BranchSolver(model, pz.PoseTask(model.tip), limits=False)
    sides = {
        int(np.sign(np.linalg.det(model.jacobian(model.tip, branch.q)))) * (-1) ** branch.number.bit_count()
        for q in model.sample(50, seed=24)
        for branch in every(model.pose(model.tip, q))
    }
    assert len(sides) == 1


def test_labels_say_the_three_choices() -> None:
    model = TEXTBOOK["ur5e"]()
    q = model.sample(seed=20)
    found = pz.solve_all(model, pz.PoseTask(model.tip), model.pose(model.tip, q), q0=q)
    labels = {branch.number: branch.label for branch in found}
    assert len(set(labels.values())) == len(found)
    assert all(
        label.startswith("shoulder ") and ", elbow " in label and ", wrist " in label for label in labels.values()
    )
    assert labels.get(0, "shoulder +, elbow +, wrist +") == "shoulder +, elbow +, wrist +"


# One or many, here or there ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*SIX, "panda"])
def test_a_batch_is_what_calls_are(name: str) -> None:
    model = TEXTBOOK[name]()
    every = pz.BranchSolver(model, pz.PoseTask(model.tip), samples=4)
    targets, q0 = model.pose(model.tip, model.sample(50, seed=21)), model.sample(seed=22)
    batch = every.batch(targets, q0)
    assert len(batch) == 50
    assert batch.offsets[0] == 0
    assert batch.offsets[-1] == len(batch.q) == len(batch.numbers) == len(batch.distances)
    assert np.allclose(every.batch(targets.array, q0).q, batch.q, atol=1e-9)
    assert np.allclose(every.batch(targets.matrix(), q0).q, batch.q, atol=1e-9)
    for i in range(50):
        single = every(targets[i], q0)
        assert np.allclose(batch[i], single.q, rtol=0.0, atol=1e-12)  # a pose is scaled to length 1 once more
        assert np.array_equal(batch.numbers[batch.offsets[i] : batch.offsets[i + 1]], single.numbers)
    assert len(every.batch(np.zeros((0, 7)))) == 0


@pytest.mark.parametrize(("name", "turns", "many"), [("ur5e", False, 2000), ("panda", False, 60), ("ur5e", True, 60)])
def test_a_batch_is_the_same_on_any_number_of_threads(name: str, turns: bool, many: int) -> None:
    model = TEXTBOOK[name]()
    every = pz.BranchSolver(model, pz.PoseTask(model.tip), turns=turns, samples=16)
    q0 = model.sample(many, seed=24)
    targets = model.pose(model.tip, model.sample(many, seed=25))
    one = every.batch(targets, q0, threads=1)
    for threads in (2, 5, None):
        batch = every.batch(targets, q0, threads=threads)
        assert np.array_equal(batch.q, one.q)
        assert np.array_equal(batch.distances, one.distances)
        assert np.array_equal(batch.offsets, one.offsets)
        assert np.array_equal(batch.totals, one.totals)
    last = every.batch(targets[many - 5 :], q0[many - 5 :])
    assert np.array_equal(last.q, one.q[one.offsets[many - 5] :])


@pytest.mark.parametrize("turns", [False, True])
def test_each_target_of_a_batch_may_have_a_q0_of_its_own(turns: bool) -> None:
    model = TEXTBOOK["ur5e"]()
    every = pz.BranchSolver(model, pz.PoseTask(model.tip), turns=turns)
    q0 = model.sample(20, seed=26)
    targets = model.pose(model.tip, q0)
    batch = every.batch(targets, q0)
    assert batch.valid.all()
    for i in range(20):
        single = every(targets[i], q0[i])
        assert np.allclose(batch[i], single.q, rtol=0.0, atol=1e-12)
        assert batch.totals[i] == single.total
        assert np.allclose(batch[i][0], q0[i], rtol=0.0, atol=1e-9)
    with pytest.raises(pz.ShapeError, match="q0 has 19 rows for 20 targets"):
        every.batch(targets, q0[:19])


def searched() -> tuple[pz.Model, pz.PoseTask]:
    """An arm and a task without a closed form: a direction of the position is free."""
    model = TEXTBOOK["ur5e"]()
    return model, pz.PoseTask(model.tip, position_weight=(1.0, 1.0, 0.0))


@pytest.mark.parametrize("way", ["closed form", "search"])
def test_rows_that_are_no_target_are_named_and_the_others_are_solved(way: str) -> None:
    model, task = searched()
    every = pz.BranchSolver(model, task if way == "search" else pz.PoseTask(model.tip), samples=1)
    assert (every.closed_form is None) == (way == "search")
    targets = model.pose(model.tip, model.sample(8, seed=27)).array.copy()
    sound, q0 = every.batch(targets), np.tile(model.home, (8, 1))
    targets[2, 1], targets[4, 3:], q0[6, 0] = np.nan, 0.0, np.inf
    batch = every.batch(targets, q0, threads=2)
    assert np.flatnonzero(~batch.valid).tolist() == [2, 4, 6]
    for i in range(8):
        assert np.array_equal(batch[i], sound[i] if batch.valid[i] else np.empty((0, 6)))
        assert batch.totals[i] == (sound.totals[i] if batch.valid[i] else 0)
    assert "3 of 8 have no target or no start (rows 2, 4, 6): target[1]" in batch.explain()
    assert "no target" not in sound.explain()
    with refused("not-finite", "q0"):
        every.batch(targets, q0[6])


def test_a_batch_says_how_many_targets_are_beyond_the_limits() -> None:
    model = TEXTBOOK["puma560"]()
    every = pz.BranchSolver(model, pz.PoseTask(model.tip))
    q = np.array([0.0, model.upper[1] + 0.2, model.lower[2] - 0.1, 0.0, 1.0, 0.0])
    far = np.array([9.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    batch = every.batch(np.array([model.pose(model.tip, model.home).array, far]))
    assert batch.totals[1] == 0
    assert f"{len(batch[0])} solutions of 1 targets of 2" in batch.explain()
    without = pz.BranchSolver(model, pz.PoseTask(model.tip), limits=False).batch(model.pose(model.tip, q).array[None])
    assert nearest(without.q, q) < FOUND


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("way", ["closed form", "search"])
@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_ends_a_batch_soon(way: str, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    model, task = searched()
    every = pz.BranchSolver(model, task if way == "search" else pz.PoseTask(model.tip), samples=4)
    done = []
    owner, name = (branching.Branching, "_searched") if way == "search" else (branching, "run_goals")
    whole = getattr(owner, name)

    def interrupted(*arguments: Any) -> Any:
        done.append(1)
        if len(done) == 3:
            os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.03)
        return whole(*arguments)

    monkeypatch.setattr(owner, name, interrupted)
    targets = model.pose(model.tip, model.sample(20_000, seed=28))
    with pytest.raises(KeyboardInterrupt):
        every.batch(targets, threads=threads)
    assert len(done) < 20


def test_threads_and_processes_get_the_same() -> None:
    model = TEXTBOOK["panda"]()
    every = pz.BranchSolver(model, pz.PoseTask("panda_hand"))
    target = model.pose("panda_hand", model.home)
    alone = every(target).q
    got: list[Array] = []
    threads = [threading.Thread(target=lambda: got.append(every(target).q)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == 4
    assert all(np.array_equal(q, alone) for q in got)
    assert np.array_equal(pickle.loads(pickle.dumps(every))(target).q, alone)
    assert np.array_equal(pz.solve_all(model, pz.PoseTask("panda_hand", target)).q, alone)


def test_calls_of_solve_all_do_not_mix_models_tasks_or_settings() -> None:
    models = [TEXTBOOK[name]() for name in SIX]
    tasks = [pz.PoseTask(model.tip, model.pose(model.tip, model.home)) for model in models]
    settings: list[dict[str, Any]] = [{}, {"limits": False}, {"turns": True}, {"samples": 2}]
    cases = [(model, task, setting) for model, task in zip(models, tasks, strict=True) for setting in settings]
    expected = [pz.BranchSolver(model, task, **setting)().q for model, task, setting in cases]
    for order in (range(8), [0, 4, 0, 4, 1, 5, 1, 0, 0], [3, 3, 2, 2, 7, 7, 6, 6]):
        for i in order:
            model, task, setting = cases[i]
            assert np.array_equal(pz.solve_all(model, task, **setting).q, expected[i])
    with refused("not-a-limit", "limits"):
        pz.solve_all(models[0], tasks[0], limits=1)
    listed: list[pz.LinearLimit] = []
    pz.solve_all(models[0], tasks[0], limits=listed)
    listed.append(pz.LinearLimit({models[0].joint_names[0]: 1.0}, -100.0))  # a list may change between calls
    assert not len(pz.solve_all(models[0], tasks[0], limits=listed))
    elsewhere = pz.PoseTask(tasks[0].frame, models[0].pose(models[0].tip, models[0].sample(seed=29)))
    assert not np.array_equal(pz.solve_all(models[0], elsewhere).q, expected[0])


def test_solve_all_keeps_no_model() -> None:
    model = TEXTBOOK["puma560"]()
    task = pz.PoseTask(model.tip, model.pose(model.tip, model.home))
    pz.solve_all(model, task)
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None


def test_solutions_are_a_sequence_that_stays_as_it_is() -> None:
    model = TEXTBOOK["ur5e"]()
    q = model.sample(seed=23)
    every = pz.BranchSolver(model, pz.PoseTask(model.tip))
    found = every(model.pose(model.tip, q), q)
    kept = found.q.copy()
    every(model.pose(model.tip, model.home))
    assert np.array_equal(found.q, kept)
    assert len(list(found)) == len(found)
    assert [branch.number for branch in found[:2]] == found.numbers[:2].tolist()
    assert np.array_equal(found[-1].q, found.q[-1])
    assert np.array_equal(np.asarray(found), found.q)
    assert np.array_equal(np.asarray(found[0]), found[0].q)
    assert found[0].named() == model.named(found[0].q)
    with pytest.raises(IndexError):
        found[len(found)]


# What is refused ---------------------------------------------------------------------------------------------------


def test_what_makes_no_sense_is_refused() -> None:
    model = TEXTBOOK["ur5e"]()
    task = pz.PoseTask(model.tip)
    target = model.pose(model.tip, model.home)
    with refused("no-target"):
        pz.solve_all(model, task)
    with refused("out-of-range", "samples"):
        pz.solve_all(model, task, target, samples=0)
    with refused("not-a-limit", "limits"):
        pz.solve_all(model, task, target, limits=1)
    with refused("not-a-bool", "turns"):
        pz.solve_all(model, task, target, turns=1)
    with refused("wrong-shape", "q0"):
        pz.solve_all(model, task, target, q0=[0.0])
    with refused("not-finite", "q0"):
        pz.solve_all(model, task, target, q0=[np.nan] * 6)
    with pytest.raises(pz.ShapeError):
        pz.BranchSolver(model, task).batch(target)
    with pytest.raises(pz.FrameNotFound):
        pz.solve_all(model, pz.PoseTask("nothing"), target)


def test_a_line_of_solutions_has_an_entry_where_q0_misses_it() -> None:
    arm = pz.load("ur5e")
    task = pz.PoseTask(arm.tip)
    stretched = np.array([0.3, -1.2, 0.05, 0.4, 0.0, 0.5])  # the sixth axis is parallel to the fourth
    target = arm.pose(arm.tip, stretched)
    there = pz.solve_all(arm, task, target, q0=stretched)
    assert any(branch.line and branch.distance < 1e-6 for branch in there)
    assert not there.complete
    # Turned one way or the other, the last joint puts the wrist out of reach of the stretched elbow.
    for shift in (-1.5, 1.5):
        found = pz.solve_all(arm, task, target, q0=stretched + shift * np.eye(6)[5])
        assert any(branch.line for branch in found)
        assert not found.complete
        assert "some are one of a line of solutions" in found.explain()
        assert all(arm.within_limits(branch.q) for branch in found)
        assert all(np.linalg.norm((target.inverse() @ arm.pose(arm.tip, branch.q)).log()) < 1e-6 for branch in found)
        assert np.all(np.diff([branch.distance for branch in found]) >= 0.0)


@pytest.mark.parametrize("name", ["ur3", "ur10"])
def test_every_pose_of_quarter_turns_has_a_solution(name: str) -> None:
    arm = pz.load(name)
    turns = np.array(list(product((0.0, 0.5 * np.pi, np.pi, -0.5 * np.pi), repeat=6)))
    every = pz.BranchSolver(arm, pz.PoseTask(arm.tip))
    batch = every.batch(arm.pose(arm.tip, turns))
    assert all(len(batch[i]) for i in range(len(turns)))


def test_a_line_of_solutions_that_no_place_shows_is_spoken_of() -> None:
    arm = pz.load("ur5e")
    stretched = np.array([0.3, -1.2, 0.0, 0.4, 0.0, 0.5])
    narrow = arm.with_limits({"wrist_3_joint": (0.49, 0.51)})
    found = pz.solve_all(narrow, pz.PoseTask(arm.tip), arm.pose(arm.tip, stretched), q0=0.3 * np.ones(6))
    assert not any(branch.line for branch in found)
    assert not found.complete
    assert "line of solutions may be missing" in found.explain()


def test_a_double_solution_at_a_limit_is_found_with_slides_too() -> None:
    arm = pz.load("stanford")
    q = np.array([0.0, 0.0, 0.5 * (arm.lower[2] + arm.upper[2]), 0.0, arm.upper[4], 0.0])
    found = pz.solve_all(arm, pz.PoseTask(arm.tip), arm.pose(arm.tip, q))
    assert any(np.abs(branch.q - q).max() < FOUND for branch in found)
    assert all(arm.within_limits(branch.q) for branch in found)

"""Every robot there is: a pose that some configuration takes is found, and what the answer claims is true."""

import warnings
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from independent import fk, mimics, pose_error
from support.refusals import refused

import poise as pz
from poise.io.installed import installed_robots
from poise.model.builder import Base
from poise.robots import TEXTBOOK

Array = npt.NDArray[np.float64]
Forward = Callable[[str, Array], Array]
"""(4, 4) pose of a frame at q."""

STILL = {"hector", "iris_simple"}
"""No joint of theirs moves."""
FILES = installed_robots()
ONCE = {file: name for name, file in reversed(FILES.items())}
"""One name for each file; the others are nicknames."""
INSTALLED = sorted(set(ONCE.values()) - STILL)
CLAIM = {"rtol": 1e-8, "atol": 1e-9}


def load(name: str) -> pz.Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pz.ModelWarning)  # what a reader passes over is not the matter here
        return pz.load(name)


def relevant(model: pz.Model, link: str) -> frozenset[str]:
    """The joints with a place in q that move `link`."""
    return frozenset(model.follows(joint)[0] for joint in model.root_path(link) if joint.kind is not pz.JointKind.FIXED)


def leaves(model: pz.Model) -> list[str]:
    """The tip and the ends of all other branches that move, one for each set of joints."""
    carrying = {joint.parent for joint in model.joints}
    ends = [model.tip, *(link for link in model.links if link not in carrying)]
    by_joints = {relevant(model, link): link for link in reversed(ends)}
    return [link for joints, link in by_joints.items() if joints]


def task_for(model: pz.Model, link: str) -> pz.PoseTask | pz.PositionTask:
    """A whole pose where there are joints enough to follow one."""
    joints = sum(model.joint(name).nv for name in relevant(model, link))
    return pz.PoseTask(link) if joints >= 6 else pz.PositionTask(link)


def target_for(task: pz.PoseTask | pz.PositionTask, pose: Array) -> object:
    return pose if isinstance(task, pz.PoseTask) else pose[:3, 3]


def check(solver: pz.Solver, solution: pz.Solution, pose: Array, forward: Forward) -> None:
    """The limits are kept with no slack, and the claimed errors are those of another forward kinematics."""
    model, (task,), (claim,) = solver.model, solver.tasks, solution.errors
    assert (solution.q >= model.lower).all()
    assert (solution.q <= model.upper).all()
    position, rotation = pose_error(forward(task.frame, solution.q), pose)
    np.testing.assert_allclose(claim.position, position, **CLAIM)
    within = position <= 1e-6
    if isinstance(task, pz.PoseTask):
        np.testing.assert_allclose(claim.rotation, rotation, **CLAIM)
        within &= rotation <= 1e-6
    else:
        assert claim.rotation is None
    # At the very edge of a tolerance the last digit may decide either way.
    if not 0.999e-6 < max(position, rotation if isinstance(task, pz.PoseTask) else 0.0) < 1.001e-6:
        assert solution.success == within


def everywhere(model: pz.Model, forward: Forward, count: int) -> None:
    """Solve for every branch, within reach and without."""
    wanted = model.sample(count, seed=7)
    for link in leaves(model):
        task = task_for(model, link)
        solver = pz.Solver(model, task)
        for i, q in enumerate(wanted):
            pose = forward(link, q)
            solution = solver(target_for(task, pose))
            check(solver, solution, pose, forward)
            assert solution.success, f"{link}, configuration {i}: {solution}"
        pose = forward(link, wanted[0])
        pose[:3, 3] += [300.0, -200.0, 100.0]
        solution = solver(target_for(task, pose))
        check(solver, solution, pose, forward)
        assert not solution.success


@pytest.mark.parametrize("name", INSTALLED)
def test_installed_robots_reach_what_they_can_reach(name: str) -> None:
    pin = pytest.importorskip("pinocchio")
    model = load("example-robot-data/" + name)
    theirs = pin.buildModelFromUrdf(str(FILES[name]))
    data = theirs.createData()

    def forward(link: str, q: Array) -> Array:
        whole = pin.neutral(theirs)
        for joint, x in model.named(q).items():
            at = theirs.joints[theirs.getJointId(joint)]
            # Pinocchio writes a turn without limits as its cosine and sine.
            whole[at.idx_q : at.idx_q + at.nq] = [np.cos(x), np.sin(x)] if at.nq == 2 else x
        pin.framesForwardKinematics(theirs, data, whole)
        return data.oMf[theirs.getFrameId(link, pin.BODY)].homogeneous.copy()

    everywhere(model, forward, 4)


@pytest.mark.skipif(not FILES, reason="example-robot-data is not installed")
@pytest.mark.parametrize("name", sorted(STILL))
def test_robots_that_cannot_move_are_told_so(name: str) -> None:
    model = load(name)
    assert model.nq == 0
    with refused("nothing-moves", model.tip):
        pz.Solver(model, pz.PositionTask(model.tip))


@pytest.mark.parametrize("name", TEXTBOOK)
def test_textbook_robots_reach_what_they_can_reach(name: str) -> None:
    model = TEXTBOOK[name]()
    everywhere(model, lambda link, q: fk(model, link, q), 5)


@pytest.mark.skipif(not FILES, reason="example-robot-data is not installed")
@pytest.mark.parametrize("name", ["g1", "romeo", "tiago_dual", "solo12"])
@pytest.mark.parametrize("base", ["planar", "floating"])
def test_on_a_base_that_moves_every_branch_reaches_further(name: str, base: Base) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pz.ModelWarning)
        model = pz.load(name, base=base)
    for link in leaves(model):
        solver = pz.Solver(model, task_for(model, link))
        for q in model.sample(3, seed=3):
            pose = fk(model, link, q)
            solution = solver(target_for(solver.tasks[0], pose))
            check(solver, solution, pose, lambda link, q: fk(model, link, q))
            assert solution.success, f"{link}: {solution}"


def test_joints_that_mimic_follow_in_the_answer() -> None:
    """A robot whose hand is full of them: each stands where its rule says, within its own limits."""
    if "romeo" not in FILES:
        pytest.skip("example-robot-data is not installed")
    model = load("romeo")
    link = "LFinger13Link"
    solver = pz.Solver(model, pz.PoseTask(link))
    followers = 0
    for q in model.sample(10, seed=5):
        solution = solver(fk(model, link, q))
        for joint, x in mimics(model, solution.q):
            followers += 1
            assert solution.named()[joint.name] == pytest.approx(x, abs=1e-14)
            assert joint.lower[0] - 1e-12 <= x <= joint.upper[0] + 1e-12
    assert followers

"""Every task's rows: their gradient by finite differences, and zero where the task says it is fulfilled."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.trees import trees

import poise as pz
from poise.common.array import Array
from poise.model.joint import JointKind
from poise.model.model import Model
from poise.solving.problem.rows import rows_at

few = settings(max_examples=40)
POSE = pz.SE3.from_xyz_rpy([0.3, -0.2, 0.4], [0.5, -0.3, 0.8])
POINT = [0.3, -0.2, 0.4]
AXIS = [0.3, 0.5, -0.4]

RELATIVE: dict[str, Callable[[str, str | None], pz.Task]] = {
    "pose": lambda frame, base: pz.PoseTask(frame, POSE, base=base),
    "position": lambda frame, base: pz.PositionTask(frame, POINT, weight=(1.0, 3.0, 0.0), base=base),
    "orientation": lambda frame, base: pz.OrientationTask(frame, POSE.rotation, base=base),
    "axis": lambda frame, base: pz.AxisTask(frame, AXIS, POINT, base=base),
    "look at": lambda frame, base: pz.LookAtTask(frame, AXIS, [3.0, 1.0, -2.0], base=base),
    "plane": lambda frame, base: pz.PlaneTask(frame, AXIS, POINT, weight=2.0, base=base),
    "line": lambda frame, base: pz.LineTask(frame, AXIS, POINT, base=base),
    "distance": lambda frame, base: pz.DistanceTask(frame, 0.7, POINT, base=base),
}


def gradient_holds(model: Model, task: pz.Task, q: Array) -> None:
    solver = pz.Solver(model, task)
    e, jacobian = solver.linearise(q)
    assume(np.linalg.norm(e) < 20.0)
    step, numeric = 1e-6, np.zeros(model.nv)
    for i in range(model.nv):
        v = np.zeros(model.nv)
        v[i] = step
        ahead, behind = (solver.linearise(model.integrate(q, sign * v))[0] for sign in (1.0, -1.0))
        numeric[i] = (ahead @ ahead - behind @ behind) / (4.0 * step)
    np.testing.assert_allclose(-jacobian.T @ e, numeric, atol=2e-6 * (1.0 + np.abs(numeric).max(initial=0.0)))


def moves(model: Model, task: pz.Task) -> bool:
    try:
        pz.Solver(model, task)
    except ValueError:
        return False
    return True


def fulfilled(model: Model, task: pz.Task, q: Array) -> None:
    goal = task.at(model, q)
    solver = pz.Solver(model, task)
    e, _ = rows_at(model, [task], solver._search.bound, q, goal)
    np.testing.assert_allclose(e, 0.0, atol=1e-9)


@few
@given(trees(least=2, limits=False), st.sampled_from(sorted(RELATIVE)), st.booleans(), st.integers(0, 10**6))
def test_of_a_frame_and_against_a_base(model: Model, name: str, based: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    frame, base = rng.choice(model.frames, 2, replace=False)
    task = RELATIVE[name](str(frame), str(base) if based else None)
    q = model.sample(seed=seed)
    assume(moves(model, task))
    fulfilled(model, task, q)
    if name == "look at":
        assume(np.linalg.norm(task.frame_pose(model, q).xyz - [3.0, 1.0, -2.0]) > 0.1)
    if name in ("axis", "look at", "orientation", "pose"):  # half turns have no gradient
        e, _ = pz.Solver(model, task).linearise(q)
        assume(np.linalg.norm(e[-3:]) < 3.1)
    gradient_holds(model, task, q)


@few
@given(trees(least=1, limits=False), st.integers(0, 10**6))
def test_of_the_centre_of_mass(model: Model, seed: int) -> None:
    q = model.sample(seed=seed)
    task = pz.CentreOfMassTask(POINT, weight=(1.0, 2.0, 0.0))
    assume(moves(model, task))
    fulfilled(model, task, q)
    gradient_holds(model, task, q)
    e, _ = pz.Solver(model, pz.CentreOfMassTask(POINT)).linearise(q)
    np.testing.assert_allclose(e, POINT - model.centre_of_mass(q), atol=1e-9)


ONE = (JointKind.REVOLUTE, JointKind.CONTINUOUS, JointKind.PRISMATIC, JointKind.HELICAL)


@few
@given(trees(kinds=ONE, least=2, limits=False), st.integers(0, 10**6))
def test_of_coupled_joints(model: Model, seed: int) -> None:
    rng = np.random.default_rng(seed)
    names = [joint.name for joint in model.joints]
    coefficients = {name: float(x) for name, x in zip(names, rng.normal(size=len(names)), strict=True)}
    task = pz.JointCouplingTask(coefficients, 0.3)
    q = model.sample(seed=seed)
    fulfilled(model, task, q)
    gradient_holds(model, task, q)
    total = 0.0
    for name in names:
        source, function = model.follows(model.joint(name))
        total += coefficients[name] * float(function(q[model.index(source)][0]))
    e, _ = pz.Solver(model, task).linearise(q)
    assert e[0] == pytest.approx(0.3 - total)


@few
@given(trees(least=2, limits=False), st.sampled_from(sorted(RELATIVE)), st.integers(0, 10**6))
def test_what_moves_both_frames_alike_has_no_part(model: Model, name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    frame, base = map(str, rng.choice(model.frames, 2, replace=False))
    task = RELATIVE[name](frame, base)
    paths = [set(model.tree.path(model.tree.links[model.frame(f).link][0])) for f in (frame, base)]
    assume(moves(model, task))
    solver = pz.Solver(model, task)
    between = {model.tree.units[u].iv for u in paths[0] ^ paths[1]}
    assert {v for v in solver.velocities if v not in between} <= {v + k for v in between for k in range(3)}

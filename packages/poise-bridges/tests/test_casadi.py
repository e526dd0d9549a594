"""Functions of CasADi beside poise's kinematics, CasADi's own derivatives and Ipopt."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.refusals import refused

import poise as pz

casadi: Any = pytest.importorskip("casadi")
import poise_bridges.casadi as pc  # noqa: E402

PAGE = Path(__file__).parents[3] / "docs" / "casadi.md"
TWIST = [0.1, 0.2, -0.3, 0.4, -0.5, 0.6]
SEEDS = st.integers(0, 10**6)


def every_kind() -> pz.Model:
    """A chain of all kinds of joints, each at a place that is turned, with two that follow others, and a tool."""
    spline = pz.JointFunction.natural_spline([-1.0, 0.0, 0.5, 1.0], [0.0, 0.3, 0.1, 0.4])
    joints: list[tuple[str, str, dict[str, Any]]] = [
        ("base", "floating", {}),
        ("hinge", "revolute", {"axis": [1, 2, 2]}),
        ("follower", "revolute", {"axis": [0, 1, 0], "mimic": pz.Mimic(joint="hinge", multiplier=-0.7, offset=0.2)}),
        ("slide", "prismatic", {"axis": [0, 3, 4], "limits": (-1.0, 1.0)}),
        ("bent", "revolute", {"axis": [1, 0, 0], "mimic": pz.Mimic(joint="slide", function=spline)}),
        ("screw", "helical", {"pitch": 0.1}),
        ("table", "planar", {"axis": [2, 1, 2]}),
        ("ball", "spherical", {}),
        ("wheel", "continuous", {"axis": [1, 0, 1]}),
    ]
    builder, parent = pz.ModelBuilder("every kind"), "world"
    for name, kind, more in joints:
        builder.joint(name, kind, parent=parent, child=f"{name}_link", origin=pz.SE3.exp(TWIST), **more)
        parent = f"{name}_link"
    builder.frame("tool", link=parent, origin=pz.SE3.exp(TWIST[::-1]))
    return builder.build()


BODY = every_kind()
KINEMATICS = {frame: (pc.pose(BODY, frame), pc.jacobian(BODY, frame)) for frame in ("tool", "slide_link", "world")}
STEP = pc.integrate(BODY)


def numbers(value: Any) -> npt.NDArray[np.float64]:
    """A matrix of CasADi, a single column flat."""
    array: npt.NDArray[np.float64] = value.full()
    return array[:, 0] if array.shape[1] == 1 else array


def pose_of(xyz: Any, wxyz: Any) -> npt.NDArray[np.float64]:
    return pz.SE3.from_xyz_wxyz(numbers(xyz), numbers(wxyz)).matrix()


@given(SEEDS)
def test_poses_and_jacobians_are_those_of_the_model(seed: int) -> None:
    q = BODY.sample(seed=seed)
    for frame, (pose, jacobian) in KINEMATICS.items():
        assert np.abs(BODY.pose(frame, q).matrix() - pose_of(*pose(q))).max() < 1e-12
        assert np.abs(jacobian(q).full() - BODY.jacobian(frame, q)).max() < 1e-12


@given(SEEDS)
def test_to_integrate_is_what_the_model_does(seed: int) -> None:
    q, v = BODY.sample(seed=seed), np.random.default_rng(seed).normal(size=BODY.nv)
    for step in (v, np.zeros(BODY.nv), 1e-9 * v):
        assert np.abs(numbers(STEP(q, step)) - BODY.integrate(q, step)).max() < 1e-12


def test_the_jacobian_is_what_casadi_makes_of_a_step() -> None:
    v = casadi.SX.sym("v", BODY.nv)
    q = BODY.sample(seed=3)
    moved = KINEMATICS["tool"][0](STEP(q, v))[0]
    slope = casadi.Function("slope", [v], [casadi.jacobian(moved, v)])(np.zeros(BODY.nv))
    assert np.abs(slope.full() - BODY.jacobian("tool", q)[:3]).max() < 1e-12


TASKS = [
    pz.PoseTask("tool", position_weight=2.0, rotation_weight=[1.0, 0.5, 0.0]),
    pz.PoseTask("tool", axes="target", offset=pz.SE3.exp(TWIST)),
    pz.PoseTask("tool", base="table_link"),
    pz.PositionTask("tool", weight=[1.0, 0.0, 3.0], base="slide_link"),
    pz.OrientationTask("tool", axes="target", weight=[1.0, 0.0, 3.0]),
]


@pytest.mark.parametrize("task", TASKS, ids=lambda task: type(task).__name__)
@pytest.mark.parametrize("seed", range(3))
def test_errors_are_what_is_left_to_the_target(task: Any, seed: int) -> None:
    q, aim = BODY.sample(seed=seed), BODY.sample(seed=seed + 100)
    there, here = task.frame_pose(BODY, aim), task.frame_pose(BODY, q)
    turn = (there.rotation @ here.rotation.inverse()).log()
    rows = {"PositionTask": [there.xyz - here.xyz], "OrientationTask": [turn]}.get(
        type(task).__name__, [there.xyz - here.xyz, turn]
    )
    if getattr(task, "axes", "world") == "target":
        rows = [there.rotation.inverse().act(each) for each in rows]
    expected = np.concatenate([np.array(b.weight) * each for b, each in zip(task.blocks, rows, strict=True)])
    numbers_of = {"PositionTask": there.xyz, "OrientationTask": there.wxyz}
    target = numbers_of.get(type(task).__name__, np.concatenate([there.xyz, there.wxyz]))
    e = pc.error(BODY, task)
    assert np.abs(numbers(e(q, target)) - expected).max() < 1e-12
    assert np.abs(numbers(e(aim, target))).max() < 1e-12


def test_an_error_has_a_slope_where_it_is_met() -> None:
    """Where the turn is 0, its vector falls by as much as the frame turns."""
    arm = pz.load("panda")
    q = casadi.SX.sym("q", arm.nq)
    target = arm.pose("panda_hand", arm.home)
    e = pc.error(arm, pz.PoseTask("panda_hand"))(q, np.concatenate([target.xyz, target.wxyz]))
    slope, bend = casadi.jacobian(e, q), casadi.hessian(casadi.sumsqr(e), q)[0]
    at = casadi.Function("at", [q], [slope, bend])
    J = arm.jacobian("panda_hand", arm.home)
    for near in (arm.home, arm.home + 1e-12, arm.home + 1e-9):
        found, hessian = (each.full() for each in at(near))
        assert np.abs(found + J).max() < 1e-7
        assert np.abs(hessian - 2.0 * J.T @ J).max() < 1e-6


def test_ipopt_comes_to_where_poise_does() -> None:
    arm = pz.load("panda")
    goal = arm.pose("panda_hand", arm.home + 0.2)
    q = casadi.SX.sym("q", arm.nq)
    e = pc.error(arm, pz.PoseTask("panda_hand"))(q, np.concatenate([goal.xyz, goal.wxyz]))
    program = {"x": q, "f": casadi.sumsqr(q - arm.home), "g": e}
    solver = casadi.nlpsol("ik", "ipopt", program, {"print_time": False, "ipopt.print_level": 0, "ipopt.sb": "yes"})
    found = numbers(solver(x0=arm.home, lbx=arm.lower, ubx=arm.upper, lbg=0.0, ubg=0.0)["x"])
    ours = pz.solve(arm, [pz.PoseTask("panda_hand", goal), pz.PostureTask(arm.home)], q0=arm.home)
    assert ours.success
    assert np.abs((arm.pose("panda_hand", found).inverse() @ goal).log()).max() < 1e-6
    assert np.abs(found - ours.q).max() < 1e-4


def test_what_is_not_taken_is_named() -> None:
    with refused("wrong-type", "got ConeTask('tool')"):
        pc.error(BODY, pz.ConeTask("tool", angle=0.1))  # type: ignore[arg-type]
    with pytest.raises(pz.FrameNotFound, match="tool"):
        pc.pose(BODY, "tol")


def test_the_program_of_the_page_runs() -> None:
    code = "\n".join(re.findall(r"^```py\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL))
    exec(compile(code, str(PAGE), "exec"), {})

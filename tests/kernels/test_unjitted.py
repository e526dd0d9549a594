"""The kernels are plain Python too: un-jitted, they give what they give compiled."""

import json
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import poise as pz
from poise.methods.registry import METHODS
from poise.robots import TEXTBOOK


def everything() -> dict[str, Any]:
    """Poses, rows and solves of two arms and a ball, as numbers."""
    panda, planar = TEXTBOOK["panda"](), TEXTBOOK["planar2"]()
    builder = pz.ModelBuilder("eye")
    builder.joint("base", "planar", parent="ground", child="cart")
    builder.joint("screw", "helical", parent="cart", child="mast", pitch=0.2, limits=(-3, 3))
    builder.joint("ball", "spherical", parent="mast", child="head", origin=pz.SE3.from_parts([0, 0.2, 1]))
    builder.joint("lid", "revolute", parent="head", child="lid", mimic=pz.Mimic(joint="screw", multiplier=-0.5))
    builder.frame("sight", link="lid", origin=pz.SE3.from_xyz_rpy([0.1, 0, 0], [0, 0.3, 0]))
    builder.mass("head", 1.5, centre=(0, 0.05, 0.1))
    builder.mass("cart", 4.0)
    eye = builder.build()

    values: dict[str, Any] = {}
    for name, model, frame in (("panda", panda, "panda_hand"), ("planar", planar, planar.tip), ("eye", eye, "sight")):
        q, there = model.sample(2, seed=1)
        pose = model.pose(frame, there)
        values[f"{name} pose"] = model.pose(frame, [q, there]).array.tolist()
        values[f"{name} jacobian"] = model.jacobian(frame, q).tolist()
        tasks = [
            (pz.PoseTask(frame), pose),
            (pz.PoseTask(frame, position_weight=(1, 0, 2), rotation_weight=0.5, axes="target"), pose),
            (pz.PositionTask(frame), pose.xyz),
            (pz.OrientationTask(frame, weight=(1, 2, 0)), pose.rotation),
            (pz.AxisTask(frame), pose.xyz),
            (pz.LookAtTask(frame), pose.xyz + 1.0),
        ]
        for i, (task, target) in enumerate(tasks):
            e, jacobian = pz.Solver(model, task).linearise(q, target)
            values[f"{name} rows {i}"] = [e.tolist(), jacobian.tolist()]
    values["eye mass"] = [eye.centre_of_mass([q, there]).tolist(), eye.centre_of_mass_jacobian(q).tolist()]

    hand, (q, there) = pz.PoseTask("panda_hand"), panda.sample(2, seed=3)
    pose = panda.pose("panda_hand", there)
    for name, method in {
        **{name: kind() for name, kind in METHODS.items()},
        "qr": pz.methods.DampedLeastSquares(damping=0.1, form="qr"),
        "columns": pz.methods.DampedLeastSquares(damping=0.1, form="columns"),
        "svd": pz.methods.DampedLeastSquares(damping=pz.damping.DeoWalker(0.1)),
        "criteria": pz.methods.Pseudoinverse(
            null_space=(
                pz.criteria.RestPosture(),
                pz.criteria.JointCentring(),
                pz.criteria.LimitDistance(),
                pz.criteria.Manipulability(),
                pz.criteria.Clearance(obstacles=[[0.3, 0.2, 0.6, 0.1]]),
            )
        ),
        "shapes": pz.methods.Pseudoinverse(
            null_space=pz.criteria.Clearance(
                obstacles=[
                    pz.Sphere([0.3, 0.2, 0.6], 0.1),
                    pz.Capsule([0.4, 0.2, 0.1], [0.4, 0.3, 0.3], 0.05),
                    pz.Box(pz.SE3.from_xyz_rpy([-0.2, 0.5, 0.3], [0.1, 0.2, 0.3]), [0.1, 0.2, 0.3]),
                ],
                frames=("panda_link4", "panda_link6"),
            )
        ),
        "own": pz.methods.Pseudoinverse(null_space=pz.criteria.Potential(height, slope)),
        "own extended": pz.methods.ExtendedJacobian(criterion=pz.criteria.Potential(height, slope, bend)),
        "widest": pz.methods.ExtendedJacobian(criterion=pz.criteria.Manipulability()),
        "das apart": pz.methods.DasSlotineSheridan(null_space=pz.criteria.RestPosture(), vehicle_limit=0.1),
        "estimated": pz.methods.DampedLeastSquares(damping=pz.damping.Chiaverini(epsilon=2.0)),
    }.items():
        can = method.capabilities
        task, target = (pz.PositionTask("panda_hand"), pose.xyz) if can.tasks == "positions" else (hand, pose.array)
        ik = pz.Tracker(panda, task, method, limits=can.limits)
        way = np.tile(target, (3, 1, 1))
        values[f"steps {name}"] = ik.rollout(q, way).tolist()
        if can.characters:
            values[f"lanes {name}"] = ik.rollout([q, panda.home], np.stack([way, way])).tolist()

    limb = pz.SwivelTask("panda_link2", "panda_link4", "panda_link7", [0.3, 1.0, 0.6], angle=0.2)
    posture = pz.PostureTask(panda.home, weight={"panda_joint1": 3.0, "panda_joint6": 0.0})
    for name in ("dls", "priority"):
        ik = pz.Tracker(panda, [pz.PositionTask("panda_hand", panda.pose("panda_hand", q).xyz), limb, posture], name)
        postures = panda.home + 0.1 * panda.sample(3, seed=9)
        values[f"steps posture {name}"] = ik.rollout(q, [None, None, postures]).tolist()
        if name == "dls":
            several = ik.rollout([q, panda.home], [None, None, postures])
            values["lanes posture"] = several.tolist()

    solves = {
        # The first width: a start beside the target.  The second: starts all over, until one arrives.
        "panda near": (panda, pz.PoseTask("panda_hand"), 0.02),
        "panda far": (panda, pz.PoseTask("panda_hand"), None),
        "planar near": (planar, pz.PositionTask(planar.tip), 0.05),
        "planar far": (planar, pz.PositionTask(planar.tip), None),
        "eye far": (eye, pz.PoseTask("sight"), None),
    }
    for name, (model, task, step) in solves.items():
        there = model.sample(seed=5)
        pose = model.pose(task.frame, there)
        q0 = model.sample(seed=6) if step is None else model.integrate(there, np.full(model.nv, step))
        target = pose if isinstance(task, pz.PoseTask) else pose.xyz
        solution = pz.Solver(model, task, max_restarts=8)(target, q0=q0)
        values[f"solve {name}"] = summary(solution)
    beyond = pz.Solver(planar, pz.PositionTask(planar.tip), max_restarts=0, max_iterations=8)
    values["solve out of reach"] = summary(beyond([9.0, 0.0, 0.0]))
    q, there, rest = panda.sample(3, seed=7)
    posture = pz.PostureTask(rest, weight=(1.0, 0.5, 0.0, 1.0, 0.0, 1.0, 2.0))
    drawn = pz.Solver(panda, [hand, posture], max_restarts=1)([panda.pose("panda_hand", there), rest], q0=q)
    values["solve posture"] = summary(drawn) | {"q": drawn.q.tolist()}
    return values


def height(q: Any) -> float:
    return float((0.25 * q**4).sum() + q[0] * q[3])


def slope(q: Any, out: Any) -> None:
    for i in range(q.shape[0]):
        out[i] = q[i] ** 3
    out[0] += q[3]
    out[3] += q[0]


def bend(q: Any, out: Any) -> None:
    for i in range(q.shape[0]):
        out[i, i] = 3.0 * q[i] ** 2
    out[0, 3] += 1.0
    out[3, 0] += 1.0


def summary(solution: pz.Solution) -> dict[str, Any]:
    """What must not depend on the last digits."""
    return {
        "status": solution.status.name,
        "position": solution.position_error,
        "rotation": solution.rotation_error,
        "inside": solution.model.within_limits(solution.q),
    }


@pytest.fixture(scope="module")
def plain() -> dict[str, Any]:
    """The same un-jitted, in a process of its own, for Numba decides on import."""
    run = subprocess.run(
        [sys.executable, __file__],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        check=True,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert "compiling" not in run.stderr
    values: dict[str, Any] = json.loads(run.stdout)
    return values


@pytest.fixture(scope="module")
def compiled() -> dict[str, Any]:
    return everything()


def test_poses_jacobians_and_rows_are_the_same(plain: dict[str, Any], compiled: dict[str, Any]) -> None:
    assert plain.keys() == compiled.keys()
    names = [name for name in plain if not name.startswith(("solve", "steps", "lanes"))]
    assert len(names) == 3 * 8 + 1
    for name in names:
        for ours, theirs in zip(plain[name], compiled[name], strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12, err_msg=name)


def test_every_method_takes_the_same_steps(plain: dict[str, Any], compiled: dict[str, Any]) -> None:
    names = [name for name in plain if name.startswith(("steps", "lanes"))]
    assert sum(name.startswith("steps") for name in names) == len(METHODS) + 12
    for name in names:
        np.testing.assert_allclose(plain[name], compiled[name], rtol=0, atol=1e-9, err_msg=name)


def test_solves_end_alike(plain: dict[str, Any], compiled: dict[str, Any]) -> None:
    names = [name for name in plain if name.startswith("solve")]
    assert len(names) == 7
    for name in names:
        ours, theirs = plain[name], compiled[name]
        assert ours["status"] == theirs["status"], name
        assert ours["inside"] is theirs["inside"] is True, name
        if ours["status"] == "CONVERGED":
            assert max(ours["position"], ours["rotation"], theirs["position"], theirs["rotation"]) <= 1e-6, name
        else:
            assert ours["position"] == pytest.approx(theirs["position"], rel=1e-6), name
    assert plain["solve out of reach"]["status"] != "CONVERGED"
    assert sum(plain[name]["status"] == "CONVERGED" for name in names) == 6
    np.testing.assert_allclose(*(values["solve posture"]["q"] for values in (plain, compiled)), atol=1e-4)


if __name__ == "__main__":
    print(json.dumps(everything()))

"""Rows of loops move what those of Pinocchio's and MuJoCo's constraints do, and where they are closed so are these."""

from pathlib import Path

import numpy as np
import pytest

import poise as pz
from poise.common.array import Array
from poise.model.closure import loop_closure
from poise.model.loop import LOOP_KINDS, LoopKind
from poise.quaternions import quaternion_matrix

pin = pytest.importorskip("pinocchio")
mujoco = pytest.importorskip("mujoco")

_AXES = ("0 0 1", "0 1 0", "1 0 0", "0 1 0", "0.6 0 0.8")
_RANK = 1e-8


def arms() -> str:
    """A URDF of two arms of five hinges each."""
    links, joints = ['<link name="base"/>'], []
    for side, x in (("left", -0.2), ("right", 0.2)):
        parent = "base"
        for k, axis in enumerate(_AXES):
            links.append(f'<link name="{side}{k}_link"/>')
            joints.append(
                f'<joint name="{side}{k}" type="revolute"><parent link="{parent}"/><child link="{side}{k}_link"/>'
                f'<origin xyz="{x if k == 0 else 0.05} 0.02 0.15" rpy="0.1 {0.3 * k} 0.2"/><axis xyz="{axis}"/>'
                '<limit lower="-3" upper="3" velocity="1" effort="1"/></joint>'
            )
            parent = f"{side}{k}_link"
        links.append(f'<link name="{side}_end"/>')
        joints.append(
            f'<joint name="{side}_fixed" type="fixed"><parent link="{parent}"/><child link="{side}_end"/>'
            '<origin xyz="0.1 0 0.05" rpy="0.4 -0.2 0.3"/></joint>'
        )
    return f'<robot name="arms">{"".join(links + joints)}</robot>'


def rank(rows: Array) -> int:
    return int(np.linalg.matrix_rank(rows, tol=_RANK))


def hold_the_same(one: Array, other: Array) -> bool:
    """Whether two Jacobians have the same null space."""
    return rank(one) == rank(other) == rank(np.concatenate([one, other]))


def closed(model: pz.Model, motor: str) -> Array:
    """(nq,) a closed configuration that is none of a special kind."""
    found = (model.close([0.3], actuated=[motor], q0=q) for q in model.sample(20, seed=1))
    return next(assembly.q for assembly in found if assembly.success)


@pytest.mark.parametrize("kind", LOOP_KINDS)
def test_a_loop_holds_what_rows_of_a_weld_of_pinocchio_hold(kind: LoopKind, tmp_path: Path) -> None:
    """Of its six rows those that the joint holds, along the axes of the second frame."""
    (tmp_path / "arms.urdf").write_text(arms())
    model = pz.load(tmp_path / "arms.urdf", loops=[("left_end", "right_end", kind)])
    q = closed(model, "left0")
    theirs = pin.buildModelFromXML(arms())
    data, velocities = theirs.createData(), [theirs.joints[theirs.getJointId(name)].idx_v for name in model.joint_names]
    their_q = np.zeros(theirs.nq)
    their_q[velocities] = q
    ends = [theirs.frames[theirs.getFrameId(name)] for name in ("right_end", "left_end")]
    weld = pin.RigidConstraintModel(
        pin.ContactType.CONTACT_6D, theirs, ends[0].parentJoint, ends[0].placement, ends[1].parentJoint,
        ends[1].placement, pin.LOCAL,
    )  # fmt: skip
    pin.forwardKinematics(theirs, data, their_q)
    pin.computeJointJacobians(theirs, data, their_q)
    held = weld.createData()
    weld.calc(theirs, data, held)
    six = pin.getConstraintJacobian(theirs, data, weld, held)[:, velocities]
    first, second = (data.oMi[end.parentJoint] * end.placement for end in reversed(ends))
    seen = second.actInv(first)
    place, turn = seen.translation, seen.rotation
    x, y = np.eye(3)[:2]
    rows, lacks = {
        "point": (six[:3], place),
        "pose": (six, np.concatenate([place, pin.log3(turn)])),
        "hinge": (six[:5], [*place, *turn[:2, 2]]),
        "universal": (np.concatenate([six[:3], np.cross(turn @ x, y)[None] @ six[3:]]), [*place, turn[1, 0]]),
        "cylinder": (six[[0, 1, 3, 4]], [*place[:2], *turn[:2, 2]]),
        "slide": (six[[0, 1, 3, 4, 5]], [*place[:2], *pin.log3(turn)]),
        "plane": (six[2:5], [place[2], *turn[:2, 2]]),
    }[kind]
    assert np.abs(lacks).max() < 1e-9
    assert hold_the_same(loop_closure(model).rows(q)[1], rows)


MECHANISM = """<mujoco><option gravity="0 0 0"/><worldbody>
  <body name="crank" pos="-0.2 0 0"><joint name="crank" axis="0 0.6 0.8"/><geom size="0.01"/>
    <body name="rod" pos="0.15 0 0.1"><joint name="ball" type="ball"/><geom size="0.01"/>
      <body name="sleeve" pos="0.2 0.05 0"><joint name="slide" type="slide" axis="1 0.2 0"/><geom size="0.01"/>
        <site name="end" pos="0.02 0.03 0" euler="10 20 30"/></body></body></body>
  <body name="rocker" pos="0.3 0 0"><joint name="rocker" axis="0 1 0"/><geom size="0.01"/>
    <body name="bar" pos="0 0.05 0.2"><joint name="bar" type="ball"/><geom size="0.01"/>
      <site name="pin" pos="-0.1 0 0" euler="-20 0 15"/></body></body>
</worldbody><equality>{equality}</equality></mujoco>"""


@pytest.mark.parametrize(
    "equality", ['<connect site1="end" site2="pin"/>', '<weld site1="end" site2="pin"/>'], ids=["connect", "weld"]
)
def test_a_loop_of_an_mjcf_holds_what_mujoco_holds(equality: str, tmp_path: Path) -> None:
    path = tmp_path / "mechanism.xml"
    path.write_text(MECHANISM.format(equality=equality))
    model, theirs = pz.load(path), mujoco.MjModel.from_xml_path(str(path))
    q, data = closed(model, "crank"), mujoco.MjData(theirs)
    columns = np.zeros((model.nv, theirs.nv))  # ours from MuJoCo's velocities: a ball's are along its own axes there
    for name in model.joint_names:
        joint = theirs.joint(name)
        at, v = model.index(name), model.velocity_index(name)
        data.qpos[joint.qposadr[0] : joint.qposadr[0] + at.stop - at.start] = q[at]
        turn = quaternion_matrix(q[at]) if at.stop - at.start == 4 else np.eye(1)
        columns[v, joint.dofadr[0] : joint.dofadr[0] + len(turn)] = turn
    mujoco.mj_forward(theirs, data)
    equalities = np.asarray(data.efc_type) == mujoco.mjtConstraint.mjCNSTR_EQUALITY
    rows = np.asarray(data.efc_J).reshape(-1, theirs.nv)[equalities]
    assert len(rows) == (3 if "connect" in equality else 6)
    assert np.abs(np.asarray(data.efc_pos)[equalities]).max() < 1e-9
    assert hold_the_same(loop_closure(model).rows(q)[1] @ columns, rows)

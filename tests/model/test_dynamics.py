"""Inverse dynamics: beside Pinocchio and MuJoCo, and by the work that the joints do on any tree."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.refusals import refused
from support.trees import configurations, trees

import poise as pz
from poise.common.array import Array

G = (0.3, -1.0, -9.0)
URDF = """
<robot name="arm">
  <link name="base"/>
  <link name="upper"><inertial><origin xyz="0.1 0 0.2" rpy="0.3 0.2 0.1"/><mass value="3"/>
    <inertia ixx="0.05" iyy="0.06" izz="0.03" ixy="0.01" ixz="-0.004" iyz="0.002"/></inertial></link>
  <link name="fore"><inertial><origin xyz="0 0.05 0.1"/><mass value="1.5"/>
    <inertia ixx="0.02" iyy="0.03" izz="0.015" ixy="0.001" ixz="0" iyz="0"/></inertial></link>
  <link name="hand"><inertial><origin rpy="0 1 0"/><mass value="0.5"/>
    <inertia ixx="0.001" iyy="0.002" izz="0.0015" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="slide"><inertial><origin xyz="0 0 0.1"/><mass value="0.7"/>
    <inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 1 1"/></joint>
  <joint name="elbow" type="continuous"><parent link="upper"/><child link="fore"/><origin xyz="0.1 0 0.4" rpy="1 0 0"/>
    <axis xyz="1 0 0"/></joint>
  <joint name="flange" type="fixed"><parent link="fore"/><child link="hand"/>
    <origin xyz="0 0 0.3" rpy="0 0.4 0"/></joint>
  <joint name="reach" type="prismatic"><parent link="fore"/><child link="slide"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" velocity="1" effort="10"/></joint>
</robot>
"""


def motions(model: pz.Model, n: int, seed: int = 0) -> tuple[Array, Array, Array]:
    """(n, nq) configurations, and (n, nv) velocities and accelerations."""
    rng = np.random.default_rng(seed)
    return model.sample(n, seed=seed), 2.0 * rng.normal(size=(n, model.nv)), 5.0 * rng.normal(size=(n, model.nv))


def test_a_urdf_gives_the_torques_of_pinocchio(tmp_path: Path) -> None:
    pin = pytest.importorskip("pinocchio")
    (tmp_path / "arm.urdf").write_text(URDF)
    model, other = pz.load(tmp_path / "arm.urdf"), pin.buildModelFromUrdf(str(tmp_path / "arm.urdf"))
    other.gravity.linear = np.array(G)
    q, v, a = motions(model, 20)
    found = model.inverse_dynamics(q, v, a, gravity=G)
    for row in range(20):
        angles = model.named(q[row])
        turns = [
            np.cos(angles["shoulder"]),
            np.sin(angles["shoulder"]),
            np.cos(angles["elbow"]),
            np.sin(angles["elbow"]),
        ]
        data = other.createData()
        expected = pin.rnea(other, data, np.array([*turns, angles["reach"]]), v[row], a[row])
        np.testing.assert_allclose(found[row], expected, rtol=1e-10, atol=1e-10)


MJCF = """
<mujoco><compiler angle="radian"/><worldbody>
  <body name="upper"><joint name="shoulder" axis="0 1 1"/>
    <inertial pos="0.1 0 0.2" quat="0.9 0.1 0.3 -0.2" mass="3" diaginertia="0.05 0.06 0.03"/>
    <body name="fore" pos="0.1 0 0.4" euler="1 0 0"><joint name="elbow" axis="1 0 0" pos="0 0.02 0"/>
      <geom type="capsule" size="0.05 0.2" pos="0 0.1 0.1" euler="0.2 0.3 0"/>
      <body name="slide" pos="0 0 0.2" euler="0 0.7 0"><joint name="reach" type="slide" axis="0 0.6 0.8"/>
        <geom type="box" size="0.05 0.02 0.1"/></body></body></body>
</worldbody></mujoco>
"""


def test_an_mjcf_gives_the_torques_of_mujoco() -> None:
    mujoco = pytest.importorskip("mujoco")
    model, other = pz.load(MJCF), mujoco.MjModel.from_xml_string(MJCF)
    other.opt.gravity = G
    q, v, a = motions(model, 20)
    found, data = model.inverse_dynamics(q, v, a, gravity=G), mujoco.MjData(other)
    for row in range(20):
        data.qpos, data.qvel, data.qacc = q[row], v[row], a[row]
        mujoco.mj_inverse(other, data)
        np.testing.assert_allclose(found[row], data.qfrc_inverse, rtol=1e-9, atol=1e-9)


@settings(max_examples=30)
@given(st.data())
def test_power_is_the_change_of_energy_on_any_tree(data: st.DataObject) -> None:
    """Balls, screws, free bases, joints that follow by a function: what joints give is what the motion takes up."""
    model = data.draw(trees(limits=False, most=6, functions=True))
    assume(model.mass > 0.0 and model.nv > 0)
    builder_links = [link for link in model.masses if data.draw(st.booleans())]
    for link in builder_links:
        model = model.with_payload(0.5, link=link, centre=(0.1, -0.2, 0.05), inertia=np.diag([0.02, 0.03, 0.04]))
    q = data.draw(configurations(model))
    _, (v,), (a,) = motions(model, 1, data.draw(st.integers(0, 99)))
    torques = model.inverse_dynamics(q, v, a, gravity=(0.0, 0.0, 0.0))

    def energy(t: float) -> float:
        """[J] of all links at a time, on the motion whose acceleration is even along the model's own axes."""
        there, rate = moved(model, q, v, a, t)
        total = 0.0
        for link, (mass, centre) in model.masses.items():
            twist, pose = model.jacobian(link, there) @ rate, model.pose(link, there)
            turn = pose.rotation.matrix()
            at, spin = twist[:3] + np.cross(twist[3:], turn @ centre), turn.T @ twist[3:]
            total += 0.5 * mass * at @ at + 0.5 * spin @ model.inertias.get(link, np.zeros((3, 3))) @ spin
        return float(total)

    ahead, behind = energy(1e-5), energy(-1e-5)
    scale = 1.0 + abs(energy(0.0)) + np.abs(torques * v).sum()
    assert float(torques @ v) == pytest.approx((ahead - behind) / 2e-5, abs=1e-5 * scale)


def moved(model: pz.Model, q: Array, v: Array, a: Array, t: float) -> tuple[Array, Array]:
    """Where it is after `t` [s] to second order, and its velocity there to first."""
    return model.integrate(q, v * t + 0.5 * a * t**2), v + a * t


def test_at_rest_it_is_what_gravity_takes() -> None:
    model = pz.load("g1")
    q, wrenches = model.sample(5, seed=1), {"left_wrist_yaw_link": (1.0, -2.0, 30.0, 0.1, 0.2, 0.3)}
    still = np.zeros(model.nv)
    np.testing.assert_allclose(
        model.inverse_dynamics(q, still, still, wrenches=wrenches, gravity=G),
        model.gravity_torques(q, wrenches=wrenches, gravity=G), rtol=0.0, atol=1e-9,
    )  # fmt: skip


def test_a_payload_is_the_same_as_a_link_that_is_fixed_there() -> None:
    """Its inertia is about its own centre, along the axes of the frame that carries it."""
    b, box = pz.ModelBuilder("arm"), np.array([[0.02, 0.004, 0.0], [0.004, 0.03, -0.001], [0.0, -0.001, 0.04]])
    at = pz.SE3.from_parts([0.2, 0.1, 0.3], pz.SO3.from_rpy([0.3, -0.2, 0.5]))
    b.joint("swing", "revolute", parent="base", child="rod", axis=(0, 1, 1), limits=(-3.0, 3.0))
    b.joint("twist", "revolute", parent="rod", child="hand", axis=(1, 0, 0), limits=(-3.0, 3.0))
    b.mass("hand", 1.5, centre=(0.1, 0.0, 0.05), inertia=np.diag([0.01, 0.02, 0.015]))
    b.frame("grip", link="hand", origin=at)
    b.joint("weld", "fixed", parent="hand", child="part", origin=at)
    alone = b.build()
    b.mass("part", 2.0, centre=(0.0, 0.05, 0.1), inertia=box)
    loaded = alone.with_payload(2.0, link="grip", centre=(0.0, 0.05, 0.1), inertia=box)
    motion = motions(alone, 10)
    np.testing.assert_allclose(loaded.inverse_dynamics(*motion), b.build().inverse_dynamics(*motion), atol=1e-10)
    point = alone.with_payload(2.0, link="grip")
    assert np.abs(point.inverse_dynamics(*motion) - loaded.inverse_dynamics(*motion)).max() > 0.1


def test_what_joints_bear_does_not_depend_on_which_may_move_and_a_chain_keeps_its_inertias() -> None:
    model = pz.load("g1")
    chain = model.chain("torso_link", "left_wrist_yaw_link")
    assert chain.inertias.keys() == chain.masses.keys() <= set(chain.links)
    q, v, a = motions(model, 3)
    held = pz.Solver(model, pz.PositionTask("left_wrist_yaw_link"), still=["left_elbow_joint"]).model
    np.testing.assert_array_equal(held.inverse_dynamics(q, v, a), model.inverse_dynamics(q, v, a))


@pytest.mark.parametrize(
    ("v", "code", "words"),
    [(np.zeros(2), "wrong-shape", "velocity must have 3"), (np.full(3, np.nan), "not-finite", "velocity")],
)
def test_what_is_no_motion_is_refused(v: Array, code: str, words: str) -> None:
    model = pz.load(URDF)
    with refused(code, words):
        model.inverse_dynamics(model.home, v, np.zeros(3))
    with refused("no-such-part", "no link of planar3 has a mass"):
        pz.load("planar3").inverse_dynamics(*np.zeros((3, 3)))

"""The mechanisms that ship as code: their frames, limits and names are the published ones."""

import json
import math
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import numpy as np
import pytest
from support.refusals import refused

import poise as pz
from poise.common.errors import ShapeError
from poise.model.frame import WORLD
from poise.model.model import Model
from poise.robots import TEXTBOOK, double_y, iiwa14, panda, planar, puma560, stanford, ur3e, ur5e, ur10e, ur16e, y

RIGHT = 0.5 * math.pi
UR_LINKS = ("shoulder_link", "upper_arm_link", "forearm_link", "wrist_1_link", "wrist_2_link", "wrist_3_link")
ARMS = ("panda", "iiwa14", "ur3e", "ur5e", "ur10e", "ur16e", "puma560", "stanford")


@pytest.mark.parametrize("name", TEXTBOOK)
def test_every_textbook_model_has_its_name_and_keeps_its_limits_at_home(name: str) -> None:
    model = TEXTBOOK[name]()
    assert model.name == name
    assert model.within_limits(model.home)
    assert model.nq == model.nv == len(model.joint_names)


def test_textbook_names() -> None:
    assert {*ARMS, "y", "double_y", "planar2", "planar10", "planar30"} <= TEXTBOOK.keys()


@pytest.mark.parametrize("name", ARMS)
def test_arms_start_ready_and_away_from_singularities(name: str) -> None:
    arm = TEXTBOOK[name]()
    np.testing.assert_array_equal(arm.home, arm.postures["ready"])
    assert (np.minimum(arm.home - arm.lower, arm.upper - arm.home) > 0.1).all()
    assert np.linalg.svd(arm.jacobian(arm.tip, arm.home), compute_uv=False).min() > 0.1


# Panda -----------------------------------------------------------------------------------------------------------


def test_panda_is_the_urdf() -> None:
    pin = pytest.importorskip("pinocchio")
    try:
        robots = distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")
    except PackageNotFoundError:
        pytest.skip("example-robot-data is not installed")
    theirs = pin.buildModelFromUrdf(f"{robots}/panda_description/urdf/panda.urdf")
    data, ours = theirs.createData(), panda()
    joints = [theirs.joints[theirs.getJointId(name)] for name in ours.joint_names]
    at = [joint.idx_q for joint in joints]
    np.testing.assert_array_equal(ours.lower, theirs.lowerPositionLimit[at])
    np.testing.assert_array_equal(ours.upper, theirs.upperPositionLimit[at])
    np.testing.assert_array_equal(ours.velocity, theirs.velocityLimit[at])
    for q in ours.sample(10, seed=1):
        whole = pin.neutral(theirs)
        whole[at] = q
        pin.framesForwardKinematics(theirs, data, whole)
        for link in ours.links:
            wanted = data.oMf[theirs.getFrameId(link)].homogeneous
            np.testing.assert_allclose(ours.pose(link, q).matrix(), wanted, rtol=0, atol=1e-12, err_msg=link)


def test_panda_stretched_up() -> None:
    arm = panda()
    pose = arm.pose("panda_link8", np.zeros(7))
    np.testing.assert_allclose(pose.xyz, [0.088, 0, 0.333 + 0.316 + 0.384 - 0.107], atol=1e-12)
    np.testing.assert_allclose(pose.rotation.matrix(), np.diag([1.0, -1.0, -1.0]), atol=1e-12)
    assert arm.tip == "panda_hand_tcp"


# Other arms ------------------------------------------------------------------------------------------------------


def test_ur5e_at_zero_is_where_universal_robots_has_it() -> None:
    pose = ur5e().pose("tool0", np.zeros(6))
    np.testing.assert_allclose(pose.xyz, [-0.8172, -0.2329, 0.0628], atol=1e-12)
    np.testing.assert_allclose(pose.rotation.matrix(), [[1, 0, 0], [0, 0, -1], [0, 1, 0]], atol=1e-12)


@pytest.mark.parametrize(
    ("make", "wrist", "reach"),
    [(ur3e, 0.22315, 0.45675), (ur5e, 0.2329, 0.8172), (ur10e, 0.2907, 1.18425), (ur16e, 0.2907, 0.8384)],
)
def test_the_e_series_at_zero(make: Callable[[], Model], wrist: float, reach: float) -> None:
    """By hand: a2 + a3 and -(d4 + d6)."""
    arm = make()
    at = arm.pose("tool0", np.zeros(6)).xyz
    assert -at[0] == pytest.approx(reach, abs=1e-12)
    assert -at[1] == pytest.approx(wrist, abs=1e-12)
    assert arm.upper[2] == math.pi
    assert arm.upper[5] == (math.inf if make is ur3e else 2.0 * math.pi)


@pytest.mark.parametrize("make", [ur3e, ur5e, ur10e, ur16e])
def test_the_e_series_has_a_shape_around_each_link(make: Callable[[], Model]) -> None:
    arm = make()
    assert list(arm.shapes) == ["base", *UR_LINKS]
    assert 0.005 < arm.distance(arm.home).distance < 0.1
    elbow, shoulder, wrist = (arm.pose(link, arm.home) for link in ("upper_arm_link", "shoulder_link", "forearm_link"))
    upper, fore = (0.5 * float(np.linalg.norm(a.xyz - b.xyz)) for a, b in ((elbow, shoulder), (wrist, elbow)))
    inside = {"upper_arm_link": elbow.act((upper, 0.0, 0.15)), "forearm_link": wrist.act((fore, 0.0, 0.03))}
    for link, place in inside.items():
        near = arm.distance(arm.home, pz.World({"probe": pz.Sphere(place, 0.0)}))
        assert near.distance < -0.02
        assert set(near.pair) == {link, "probe"}
    straight = np.array([0.0, -RIGHT, 0.0, -RIGHT, 0.0, 0.0])
    assert not arm.in_collision(straight)
    assert arm.in_collision(straight + np.array([0.0, 0.0, 2.9, 0.0, 0.0, 0.0]))  # the wrist folded onto the shoulder
    assert 0.3 < arm.in_collision(arm.sample(500, seed=0)).mean() < 0.7
    assert pz.solve(arm, pz.PoseTask("tool0", arm.pose("tool0", arm.home)), limits=[pz.CollisionLimit()]).success


def test_ur5e_pointing_down() -> None:
    pose = ur5e().pose("tool0", [0, -RIGHT, RIGHT, -RIGHT, -RIGHT, 0])
    np.testing.assert_allclose(pose.xyz, [-0.3922 - 0.0997, -0.1333, 0.1625 + 0.425 - 0.0996], atol=1e-12)
    np.testing.assert_allclose(pose.rotation.matrix()[:, 2], [0, 0, -1], atol=1e-12)


def test_iiwa14_dimensions_and_limits() -> None:
    arm = iiwa14()
    pose = arm.pose("iiwa_link_ee", np.zeros(7))
    np.testing.assert_allclose(pose.array, [0, 0, 1.306, 1, 0, 0, 0], atol=1e-12)
    np.testing.assert_allclose(arm.pose("iiwa_link_2", np.zeros(7)).xyz, [0, 0, 0.36], atol=1e-12)
    np.testing.assert_allclose(arm.pose("iiwa_link_4", np.zeros(7)).xyz, [0, 0, 0.78], atol=1e-12)
    np.testing.assert_allclose(np.degrees(arm.upper), [170, 120, 170, 120, 170, 120, 175])
    np.testing.assert_allclose(arm.lower, -arm.upper)


def test_iiwa14_joints_turn_as_in_its_urdf() -> None:
    """The flange of pybullet_data's kuka_iiwa/model.urdf (0.045 m beyond link 7), by Pinocchio."""
    wanted = [
        [0.3685984087, -0.9274026177, 0.0637149729],
        [-0.3629780227, -0.0804888440, 0.9283148717],
        [-0.8557932975, -0.3653025194, -0.3662948283],
    ]
    pose = iiwa14().pose("iiwa_link_ee", [0.3, -0.7, 1.1, -1.3, 0.5, 0.9, -0.2])
    np.testing.assert_allclose(pose.xyz, [-0.2900772898, 0.3843037373, 0.8295446509], atol=1e-9)
    np.testing.assert_allclose(pose.rotation.matrix(), wanted, atol=1e-9)


def test_puma560_at_its_classic_postures() -> None:
    """Positions that the Robotics Toolbox prints for qz, qr and qn, the last with its elbow turned the other way."""
    arm = puma560()
    base = 0.672
    np.testing.assert_allclose(arm.pose("link6", np.zeros(6)).xyz, [0.4521, -0.15005, base + 0.4318], atol=1e-12)
    up = arm.pose("link6", [0, RIGHT, -RIGHT, 0, 0, 0])
    np.testing.assert_allclose(up.xyz, [0.0203, -0.15005, base + 0.8636], atol=1e-12)
    nominal = arm.pose("link6", arm.home)
    np.testing.assert_allclose(nominal.xyz, [0.5963, -0.1501, base - 0.0144], atol=1e-4)
    np.testing.assert_allclose(nominal.rotation.matrix(), [[0, 0, 1], [0, 1, 0], [-1, 0, 0]], atol=1e-12)


def test_stanford_hand_by_the_closed_form() -> None:
    """Position of the hand as Paul 1981 multiplies it out: p = (c1 s2 d3 - s1 d2, s1 s2 d3 + c1 d2, c2 d3)."""
    arm = stanford()
    for q in arm.sample(10, seed=1):
        (c1, s1), (c2, s2), d2, d3 = (math.cos(q[0]), math.sin(q[0])), (math.cos(q[1]), math.sin(q[1])), 0.154, q[2]
        wanted = [c1 * s2 * d3 - s1 * d2, s1 * s2 * d3 + c1 * d2, 0.412 + c2 * d3]
        np.testing.assert_allclose(arm.pose("link6", q).xyz, wanted, atol=1e-12)


# Planar arms -----------------------------------------------------------------------------------------------------


def test_planar_arm_by_the_closed_form() -> None:
    lengths = [0.5, 0.4, 0.3, 0.2]
    arm = planar(4, lengths)
    assert arm.tip == "tool"
    for q in arm.sample(10, seed=1):
        angles = np.cumsum(q)
        pose = arm.pose("tool", q)
        np.testing.assert_allclose(pose.xyz, [lengths @ np.cos(angles), lengths @ np.sin(angles), 0], atol=1e-12)
        np.testing.assert_allclose(pose.rotation.matrix()[:2, 0], [np.cos(angles[-1]), np.sin(angles[-1])], atol=1e-12)


def test_planar_arms_have_links_of_one_metre() -> None:
    np.testing.assert_allclose(planar(3).pose("tool", np.zeros(3)).xyz, [3, 0, 0])
    np.testing.assert_allclose(planar(1).pose("tool", [RIGHT]).xyz, [0, 1, 0], atol=1e-15)


def test_planar_arms_are_checked() -> None:
    with refused("out-of-range", "n = 0"):
        planar(0)
    with pytest.raises(ShapeError, match=r"a number or 3 numbers, one for each link, got shape \(2,\)"):
        planar(3, [1, 2])
    with refused("not-finite", "length[1]"):
        planar(2, [1, math.nan])


# Buss's mechanisms -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [y, double_y])
def test_buss_shapes_are_those_of_his_program(make: Callable[[], Model]) -> None:
    model = make()
    file = Path(__file__).parents[1] / "data" / "buss_shapes.json"
    nodes = json.loads(file.read_text())["shapes"][model.name]
    links = {node["name"]: node["name"].replace("j", "link") for node in nodes} | {None: WORLD}
    assert model.joint_names == tuple(node["name"] for node in nodes if node["axis"])
    assert np.isinf(model.lower).all()
    assert not model.home.any()
    for node in nodes:
        joint = model.joint(node["name"])
        assert (joint.parent, joint.child) == (links[node["parent"]], links[node["name"]])
        pose = model.pose(joint.child, model.neutral)
        np.testing.assert_allclose(pose.array, [*node["position"], 1, 0, 0, 0], rtol=0, atol=1e-12)
        if node["axis"]:
            np.testing.assert_allclose(joint.axis, node["axis"], rtol=0, atol=1e-15)


def test_buss_sizes() -> None:
    assert (y().nq, double_y().nq) == (7, 25)
    assert [name for name in double_y().links if name.startswith("e")] == ["e0", "e1", "e2", "e3"]

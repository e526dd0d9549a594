"""Where an arm ends: at its hand, before the fingers; judged by eye for every robot that is known by name."""

import pickle

import pytest

import poise as pz
from poise.io import robot_names
from poise.model.tip import finger_links

TIPS = {
    "panda_hand_tcp": "panda panda_collision",
    "iiwa_link_ee": "iiwa14",
    "tool0": "ur5e",
    "link6": "puma560 stanford",
    "e0": "y double_y",
    "Tip": "TwoDofs asr_twodof",
    "FR_foot": "a1 b1 go1 laikago",
    "leftNub": "alex_nub_hands",
    "LeftSakePalmLink": "alex_sake_hands",
    "LEFT_FOOT": "alexander alexander_v1.lowerBodyOnly",
    "link_3.0_tip": "allegro allegro_right_hand",
    "link_11.0_tip": "allegro_left_hand",
    "LF_FOOT": "anymal anymal_b anymal_c anymal_c_simple",
    "j2s6s200_end_effector": "anymal-kinova anymal_kinova kinova",
    "gripperStator": "b1-z1 b1_z1 z1",
    "left_gripper": "baxter",
    "FL_FOOT": "bolt solo solo12 solo8",
    "flying_arm_2__ee": "borinot borinot_flying_arm_2",
    "ball1_tip": "centauro",
    "link2": "double_pendulum double_pendulum_continuous",
    "link3": "double_pendulum_simple",
    "finger_tip_link": "finger_edu",
    "left_rubber_hand": "g1 g1_29dof_rev_1_0",
    "left_hand_palm_link": "g1_29dof_with_hand_rev_1_0",
    "FL_foot": "go2",
    "base_link": "hector quadrotor_base",
    "flying_arm_5__gripper": "hextilt hextilt_flying_arm_5",
    "left_hand": "human",
    "lf_foot": "hyq hyq_no_sensors",
    "l_gripper": "icub icub_reduced romeo romeo_small",
    "iris__rotor_0": "iris iris_simple",
    "r_gripper_tool_frame": "pr2",
    "FL_contact": "quadruped",
    "LArm_effector": "romeo_laas_small",
    "r_wrist": "simple_humanoid simple_humanoid_classical",
    "gripper": "so100",
    "gripper_frame_link": "so101",
    "wrist_right_ft_tool_link": (
        "talos talos_box talos_full talos_full_box talos_full_v2 talos_full_v2_box talos_reduced "
        "talos_reduced_box talos_reduced_corrected"
    ),
    "wrist_left_ft_tool_link": "talos_arm talos_left_arm",
    "hand_grasping_frame": "tiago",
    "hand_left_grasping_frame": "tiago_dual",
    "wrist_ft_tool_link": "tiago_no_hand",
    "arm_left_tool_link": "tiago_pro",
    "ee_link": (
        "ur10 ur10_joint_limited_robot ur10_limited ur10_robot ur3 ur3_gripper ur3_joint_limited_robot "
        "ur3_limited ur3_robot ur5 ur5_gripper ur5_joint_limited_robot ur5_limited ur5_robot"
    ),
    "link_eef": "xarm xarm7",
    "tool": " ".join(f"planar{n}" for n in range(2, 31)),
}
"""The names of robots by the tip that they have."""
EXPECTED = [
    pytest.param(name, tip, marks=[pytest.mark.slow] if k else [])
    for tip, names in TIPS.items()
    for k, name in enumerate(names.split())
]


@pytest.mark.filterwarnings("ignore::poise.ModelWarning")
@pytest.mark.parametrize(("name", "tip"), EXPECTED)
def test_every_robot_ends_where_one_would_say(name: str, tip: str) -> None:
    if name not in robot_names():
        pytest.skip(f"{name} is not installed")
    model = pz.load(name)
    assert model.tip == tip
    assert model.links.count(tip) == 1


def arm(*more: tuple[str, str, str, str], lift: str = "lift") -> pz.ModelBuilder:
    """Three hinges up to a palm, and further joints: kind, name, parent, child."""
    builder = pz.ModelBuilder("arm")
    links = ("base", "column", "forearm", "palm")
    for i, name in enumerate((lift, "elbow", "wrist")):
        builder.joint(name, "revolute", parent=links[i], child=links[i + 1])
    for kind, name, parent, child in more:
        builder.joint(name, kind, parent=parent, child=child)
    return builder


@pytest.mark.parametrize(
    ("more", "tip"),
    [
        ((), "palm"),
        ((("fixed", "a", "palm", "flange"),), "flange"),
        # A jaw, whatever the joint is called; a gripper, whatever the link is called.
        ((("revolute", "6", "palm", "moving_jaw"),), "palm"),
        ((("revolute", "gripper", "palm", "part"),), "palm"),
        ((("revolute", "LeftGripperYaw", "palm", "hand"),), "hand"),
        ((("revolute", "Wrist_Roll", "palm", "Fixed_Jaw"), ("revolute", "Jaw", "Fixed_Jaw", "Moving")), "Fixed_Jaw"),
        # What stands beside a thumb is a finger, and so is what it carries.
        (
            (
                ("revolute", "thumb", "palm", "t0"),
                ("revolute", "b", "palm", "b0"),
                ("revolute", "c", "b0", "b1"),
                ("fixed", "d", "b1", "b2"),
            ),
            "palm",
        ),
        # Two that slide beside each other; one that slides alone is of the arm.
        ((("prismatic", "a", "palm", "x"), ("prismatic", "b", "palm", "y")), "palm"),
        ((("prismatic", "a", "palm", "x"),), "x"),
        ((("revolute", "a", "palm", "x"), ("revolute", "b", "palm", "y")), "x"),
        # Tools go before longer ways, sensors and fingers that stand still come last.
        ((("fixed", "a", "palm", "tool0"), ("fixed", "b", "palm", "m"), ("fixed", "c", "m", "n")), "tool0"),
        ((("fixed", "a", "palm", "gripper_camera_link"),), "palm"),
        ((("fixed", "a", "palm", "imu"), ("fixed", "b", "imu", "imu_tcp")), "palm"),
        ((("fixed", "a", "palm", "finger1"), ("fixed", "b", "palm", "finger2")), "palm"),
        ((("fixed", "a", "palm", "fingertip"),), "fingertip"),
    ],
)
def test_names_and_structure_tell_fingers_from_arms(more: tuple[tuple[str, str, str, str], ...], tip: str) -> None:
    assert arm(*more).build().tip == tip


def test_leaves_that_move_together_are_fingers() -> None:
    builder = arm(("revolute", "a", "palm", "x"))
    builder.joint("b", "revolute", parent="palm", child="y", mimic=pz.Mimic(joint="a", multiplier=-1.0))
    assert builder.build().tip == "palm"


def test_many_branches_at_the_end_of_an_arm_are_fingers() -> None:
    builder = arm()
    for i in range(2):
        builder.joint(f"more{i}", "revolute", parent=f"h{i - 1}" if i else "palm", child=f"h{i}")
    for i in range(4):
        builder.joint(f"f{i}", "revolute", parent="h1", child=f"f{i}")
        builder.joint(f"g{i}", "revolute", parent=f"f{i}", child=f"g{i}")
    assert builder.build().tip == "h1"


def test_a_hand_alone_ends_at_a_finger() -> None:
    builder = pz.ModelBuilder("hand")
    for name in ("thumb", "index"):
        builder.joint(f"{name}_0", "revolute", parent="palm", child=f"{name}_a")
        builder.joint(f"{name}_1", "revolute", parent=f"{name}_a", child=f"{name}_b")
        builder.joint(f"{name}_2", "fixed", parent=f"{name}_b", child=f"{name}_fingertip")
    assert builder.build().tip == "thumb_fingertip"


def test_a_gripper_on_a_trunk_leaves_its_limbs() -> None:
    builder = pz.ModelBuilder("trunk")
    builder.joint("gripper", "prismatic", parent="body", child="g")
    builder.joint("hip", "revolute", parent="body", child="thigh")
    builder.joint("knee", "revolute", parent="thigh", child="foot")
    assert builder.build().tip == "foot"


def test_an_end_effector_that_is_stated_decides() -> None:
    fingered = (("revolute", "a", "palm", "x"), ("revolute", "b", "x", "y"), ("fixed", "c", "palm", "tool0"))
    builder = arm(*fingered)
    assert builder.build().tip == "y"
    builder.end_effector("palm", ["a", "b"])
    assert builder.build().tip == "tool0"  # the gripper is mounted on the palm, and has a tool
    builder.end_effector("palm")
    assert builder.build().tip == "palm"  # all beyond are fingers, and this is the end
    other = arm(("revolute", "gripper", "palm", "jaw"))
    other.end_effector("jaw")
    assert other.build().tip == "jaw"


def test_a_chain_ends_where_it_was_asked_to() -> None:
    model = pz.load("panda").with_frame("eye", link="panda_link8")
    assert model.chain("panda_link0", "panda_link8").tip == "panda_link8"
    assert model.chain("panda_link0", "panda_link5").tip == "panda_link5"
    assert model.chain("panda_link0", "eye").tip == "eye"  # a frame that is no link
    assert model.chain("panda_link0", "eye").lock(panda_joint1=0.0).tip == "eye"
    hand = arm(("revolute", "gripper", "palm", "jaw"), ("fixed", "c", "jaw", "jaw_tip")).build()
    assert finger_links(hand) == {"jaw", "jaw_tip"}
    assert hand.chain("base", "jaw").tip == "jaw"
    assert hand.chain("base", "palm").tip == "palm"
    assert hand.lock(gripper=0.0).tip == "palm"


def test_end_effectors_come_along() -> None:
    builder = arm(("revolute", "a", "palm", "x"))
    builder.end_effector("palm", ["a"])
    model = builder.build()
    for one in (
        model,
        pickle.loads(pickle.dumps(model)),
        model.with_limits({"a": (-1.0, 1.0)}),
        model.with_base(pz.SE3.identity()),
        model.with_payload(1.0, link="palm"),
        model.with_frame("eye", link="palm"),
        model.lock(lift=0.3),
    ):
        assert dict(one.end_effectors) == {"palm": ("a",)}
        assert one.tip == "palm"


def test_an_end_effector_that_is_not_there_is_refused() -> None:
    builder = arm()
    builder.end_effector("plam")
    with pytest.raises(pz.ModelError, match="ends at the link 'plam', which does not exist"):
        builder.build()

"""The SRDF beside a URDF: which one is found, what its groups and postures become, what is warned of."""

from pathlib import Path

import numpy as np
import pytest
from support.refusals import refused

import poise as pz
from poise.common.errors import ModelError, ModelWarning
from poise.io.srdf_file import find_srdf
from poise.io.urdf import read_urdf
from poise.model.model import Model

LIMIT = '<limit lower="-1" upper="1" velocity="1"/>'
LINKS = "".join(f'<link name="{name}"/>' for name in ("base", "upper", "lower", "hand", "finger", "ball", "other"))
URDF = f"""<robot name="arm">{LINKS}
<joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>{LIMIT}</joint>
<joint name="elbow" type="revolute"><parent link="upper"/><child link="lower"/>{LIMIT}</joint>
<joint name="wrist" type="fixed"><parent link="lower"/><child link="hand"/></joint>
<joint name="grip" type="revolute"><parent link="hand"/><child link="finger"/>{LIMIT}<mimic joint="elbow"/></joint>
<joint name="swivel" type="spherical"><parent link="hand"/><child link="ball"/></joint>
<joint name="side" type="continuous"><parent link="base"/><child link="other"/></joint>
</robot>"""


def load(folder: Path, srdf: str, base: str = "fixed") -> Model:
    (folder / "arm.urdf").write_text(URDF)
    (folder / "arm.srdf").write_text(f'<robot name="arm">\n{srdf}\n</robot>')
    return read_urdf(folder / "arm.urdf", base=base)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("inside", "joints"),
    [
        ('<joint name="elbow"/><joint name="shoulder"/>', ("shoulder", "elbow")),
        ('<joint name="wrist"/><joint name="grip"/><joint name="root_joint"/>', ()),
        ('<link name="lower"/><link name="base"/>', ("elbow",)),
        ('<chain base_link="upper" tip_link="ball"/>', ("elbow", "swivel")),
        ('<chain base_link="world" tip_link="lower"/>', ("shoulder", "elbow")),
        ('<chain base_link="other" tip_link="upper"/>', ("shoulder", "side")),
        ('<chain base_link="base" tip_link="base"/>', ()),
        ('<group name="inner"/><joint name="side"/>', ("elbow", "side")),
        ('<group name="g"/><joint name="side"/>', ("side",)),
    ],
)
def test_groups_are_joints_in_the_order_of_q(tmp_path: Path, inside: str, joints: tuple[str, ...]) -> None:
    inner = '<group name="inner"><joint name="elbow"/><group name="g"/></group>' if "inner" in inside else ""
    assert load(tmp_path, f'{inner}<group name="g">{inside}</group>').groups["g"] == joints


def test_postures_place_joints_and_leave_the_others_at_neutral(tmp_path: Path) -> None:
    model = load(
        tmp_path,
        '<group_state name="bent"><joint name="elbow" value="0.5"/><joint name="grip" value="0.5"/></group_state>'
        '<group_state name="bent"><joint name="side" value="-2"/><joint name="wrist" value="0"/></group_state>',
    )
    np.testing.assert_array_equal(model.postures["bent"], [0.0, 0.5, 1.0, 0.0, 0.0, 0.0, -2.0])
    np.testing.assert_array_equal(model.home, model.neutral)  # no name says that one starts there


def test_quaternions_are_scalar_last_in_the_file(tmp_path: Path) -> None:
    model = load(tmp_path, '<group_state name="p"><joint name="swivel" value="0 0 2 0"/></group_state>')
    np.testing.assert_array_equal(model.postures["p"][model.index("swivel")], [0.0, 0.0, 0.0, 1.0])


def test_home_is_the_best_known_name_within_the_limits(tmp_path: Path) -> None:
    states = "".join(
        f'<group_state name="{name}"><joint name="shoulder" value="{value}"/></group_state>'
        for name, value in [("tucked", 0.1), ("standing", 0.2), ("home", 7.0)]
    )
    model = load(tmp_path, states)
    assert list(model.postures) == ["tucked", "standing", "home"]
    assert model.home[0] == 1.0
    assert model.postures["home"][0] == 7.0  # as it is written


@pytest.mark.parametrize("name", ["root_joint", "anchor"])
def test_the_base_is_placed_if_it_floats(tmp_path: Path, name: str) -> None:
    srdf = (
        '<virtual_joint name="anchor" type="floating" parent_frame="odom" child_link="base"/>'
        f'<group name="g"><joint name="{name}"/></group>'
        f'<group_state name="home"><joint name="{name}" value="1 2 3 0.6 0 0 0.8"/><joint name="side" value="4"/>'
        "</group_state>"
    )
    model = load(tmp_path, srdf, base="floating")
    np.testing.assert_allclose(model.home[model.index("root")], [1, 2, 3, 0.8, 0.6, 0, 0])
    assert model.groups["g"] == ("root",)
    for base in ("fixed", "planar"):
        model = load(tmp_path, srdf, base=base)
        assert model.home[model.index("side")] == 4.0
        assert base == "fixed" or (model.home[model.index("root")] == 0.0).all()


def test_a_planar_base_takes_three_numbers(tmp_path: Path) -> None:
    srdf = '<group_state name="home"><joint name="root_joint" value="1 2 3"/></group_state>'
    np.testing.assert_array_equal(load(tmp_path, srdf, base="planar").home[:3], [1.0, 2.0, 3.0])


def test_what_the_robot_does_not_have_is_warned_of_once(tmp_path: Path) -> None:
    with pytest.warns(ModelWarning) as caught:
        load(
            tmp_path,
            '<group name="g"><joint name="knee"/>\n<link name="shin"/>\n<group name="legs"/>\n<jiont/></group>\n'
            '<group name="h"><group name="g"/></group>\n'
            '<group_state name="s"><joint name="knee" value="1"/>\n<joint name="elbow" value="1 2"/></group_state>',
        )
    assert [str(w.message).removeprefix(str(tmp_path / "arm.srdf")) for w in caught] == [
        ":\n"
        "  the robot has no such joint (2 times, first at line 2: 'knee' of group 'g')\n"
        "  a <group> names a link that the robot does not have (line 3: shin)\n"
        "  a <group> names a group that is not there (line 4: legs)\n"
        "  unknown tag <jiont> in <group> (line 5)\n"
        "  a posture has the wrong count of numbers for a joint (line 8: elbow takes 1, not 2)"
    ]


def test_a_posture_of_a_fixed_joint_is_told_and_one_of_a_follower_not(tmp_path: Path) -> None:
    with pytest.warns(ModelWarning) as caught:
        load(
            tmp_path,
            '<group_state name="s"><joint name="wrist" value="1"/><joint name="elbow" value="1"/>'
            '<joint name="grip" value="1"/></group_state>',
        )
    assert [str(w.message).partition(":\n")[2] for w in caught] == [
        "  a posture moves a joint that is fixed (line 2: joint 'wrist' of group_state 's')"
    ]


def test_a_posture_in_degrees_is_asked_about(tmp_path: Path) -> None:
    words = r"a posture is far beyond the limits: degrees\? An SRDF is in radians \(line \d+: 50 for elbow of 's'\)"
    with pytest.warns(ModelWarning, match=words):
        load(tmp_path, '<group_state name="s"><joint name="elbow" value="50"/></group_state>')


@pytest.mark.parametrize(
    ("srdf", "message"),
    [
        ("<group/>", "arm.srdf:2: <group> has no 'name'"),
        ('<group_state name="s"><joint name="elbow"/></group_state>', "2: joint 'elbow' of .* has no 'value'"),
        ('<group_state name="s"><joint name="elbow" value="x"/></group_state>', "arm.srdf:2: .* 'x' is not a number"),
        (
            '<group_state name="s"><joint name="swivel" value="0 0 0 0"/></group_state>',
            "arm.srdf:2: .* zero quaternion",
        ),
        ("<group>", "arm.srdf:3: not XML: mismatched tag"),
    ],
)
def test_what_is_no_srdf_is_refused(tmp_path: Path, srdf: str, message: str) -> None:
    with pytest.raises(ModelError, match=message) as caught:
        load(tmp_path, srdf)
    assert str(caught.value).endswith("; to load the robot without its SRDF, give srdf=None, or rename the file")
    assert read_urdf(tmp_path / "arm.urdf", srdf=None).joint_names
    (tmp_path / "arm.srdf").rename(tmp_path / "broken.srdf")
    assert not read_urdf(tmp_path / "arm.urdf").groups


def test_an_srdf_may_be_named(tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text(URDF)
    named = tmp_path / "moveit" / "config.srdf"
    named.parent.mkdir()
    named.write_text('<robot name="arm"><group name="g"><joint name="elbow"/></group></robot>')
    for source in (tmp_path / "arm.urdf", URDF):
        assert not pz.load(source).groups
        assert pz.load(source, srdf=named).groups["g"] == ("elbow",)
        assert pz.load(source, srdf=str(named)).groups["g"] == ("elbow",)
    with pytest.raises(ModelError, match=r"none.srdf: no such file.*; to load the robot without its SRDF, give"):
        pz.load(URDF, srdf=tmp_path / "none.srdf")
    for other in ("planar2", "<mujoco/>"):
        with refused("conflict", "srdf"):
            pz.load(other, srdf=named)


def test_words_that_no_srdf_has_are_told(tmp_path: Path) -> None:
    with pytest.warns(ModelWarning) as caught:
        model = load(
            tmp_path,
            '<disable_colisions link1="base" link2="upper"/>\n<end_effector name="e" parent_lnk="hand" group="g"/>\n'
            '<group name="g"><chain base_link="base" tip_link="hand" root="x"/></group>\n'
            '<disable_collisions link1="base" link2="lower" reason="Never"/><passive_joint name="side"/>'
            '<gripper name="g"/><joint_property joint_name="side" property_name="p" value="1"/>',
        )
    (message,) = (str(w.message) for w in caught)
    assert "unknown tag <disable_colisions> in <robot>; did you mean <disable_collisions>? (line 2)" in message
    assert "unknown attribute 'parent_lnk' of <end_effector>; did you mean 'parent_link'? (line 3" in message
    assert "unknown attribute 'root' of <chain> (line 4: <chain> of group 'g')" in message
    assert message.count("unknown") == 3
    assert model.disabled == {frozenset(("base", "lower"))}


@pytest.mark.parametrize("base", ["floating", "planar"])
def test_the_base_is_placed_where_a_joint_of_the_robot_has_its_name(tmp_path: Path, base: str) -> None:
    (tmp_path / "arm.urdf").write_text(URDF.replace('"side"', '"root"'))
    value = "1 2 3" if base == "planar" else "1 2 3 0 0 0 1"
    (tmp_path / "arm.srdf").write_text(
        f'<robot><group_state name="home"><joint name="root_joint" value="{value}"/><joint name="root" value="0.5"/>'
        "</group_state></robot>"
    )
    model = read_urdf(tmp_path / "arm.urdf", base=base)  # type: ignore[arg-type]
    np.testing.assert_array_equal(model.home[model.index("root_")][:3], [1.0, 2.0, 3.0])
    assert model.home[model.index("root")] == 0.5


def test_the_root_of_an_srdf_is_a_robot(tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text(URDF)
    (tmp_path / "arm.srdf").write_text("<group/>")
    with pytest.raises(ModelError, match=r"arm.srdf:1: the root of an SRDF is <robot>, not <group>"):
        read_urdf(tmp_path / "arm.urdf")


def test_the_srdf_is_found_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    robots, srdf = tmp_path / "robots", tmp_path / "srdf"
    robots.mkdir()
    srdf.mkdir()
    for file in (srdf / "solo.srdf", srdf / "talos.srdf", robots / "talos_full.srdf"):
        file.touch()
    for urdf, found in [
        ("solo.urdf", srdf / "solo.srdf"),
        ("solo.urdf.xacro", srdf / "solo.srdf"),
        ("solo12.urdf", srdf / "solo.srdf"),
        ("talos_reduced.urdf", srdf / "talos.srdf"),
        ("talos_full.urdf", robots / "talos_full.srdf"),
        ("solos.urdf", None),
        ("tal.urdf", None),
    ]:
        assert find_srdf(robots / urdf) == found
    monkeypatch.chdir(robots)
    assert find_srdf(Path("solo.urdf")) == srdf / "solo.srdf"
    assert find_srdf(tmp_path / "nowhere" / "robots" / "solo.urdf") is None


@pytest.mark.parametrize("value", ["1e100", "2e15", "inf", "1e999"])
def test_a_position_that_no_joint_has_is_refused_with_its_line(tmp_path: Path, value: str) -> None:
    state = f'\n<group_state name="home"><joint name="side" value="{value}"/></group_state>'
    with pytest.raises(
        ModelError, match=r"arm.srdf:3: joint 'side' of group_state 'home' .* is (too large|not a finite)"
    ):
        load(tmp_path, state)


def test_a_position_that_a_follower_cannot_take_is_refused(tmp_path: Path) -> None:
    gear = '<joint name="gear" type="continuous"><parent link="other"/><child link="g"/>'
    mimic = '<mimic joint="side" multiplier="1e4"/></joint>'
    (tmp_path / "arm.urdf").write_text(URDF.replace("</robot>", f'<link name="g"/>{gear}{mimic}</robot>'))
    (tmp_path / "arm.srdf").write_text(
        '<robot name="arm">\n<group_state name="home"><joint name="side" value="1e12"/></group_state>\n</robot>'
    )
    with pytest.raises(ModelError, match=r"arm.srdf:2: joint 'side' .* beyond what joints that follow it can take"):
        read_urdf(tmp_path / "arm.urdf")


@pytest.mark.parametrize(
    ("inside", "ends", "tip"),
    [
        # The group is the arm: it ends at this link.
        (
            '<group name="g"><joint name="elbow"/></group><end_effector parent_link="lower" group="g"/>',
            {"lower": ()},
            "lower",
        ),
        # The group is the gripper: it is mounted on this link.
        (
            '<group name="g"><joint name="swivel"/></group><end_effector parent_link="hand" group="g"/>',
            {"hand": ("swivel",)},
            "hand",
        ),
        # A group without joints, a link or a group that is not there, a finger.
        ('<group name="g"/><end_effector parent_link="hand" group="g"/>', {}, "hand"),
        ('<end_effector parent_link="hand" group="none"/><end_effector/>', {}, "hand"),
        ('<group name="g"><joint name="elbow"/></group><end_effector parent_link="nowhere" group="g"/>', {}, "hand"),
        ('<group name="g"><joint name="grip"/></group><end_effector parent_link="finger" group="g"/>', {}, "hand"),
    ],
)
def test_end_effectors_say_where_an_arm_ends(
    tmp_path: Path, inside: str, ends: dict[str, tuple[str, ...]], tip: str
) -> None:
    model = load(tmp_path, inside)
    assert dict(model.end_effectors) == ends
    assert model.tip == tip

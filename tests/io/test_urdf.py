"""Reading URDF: what each joint type becomes, what is refused and where, what is warned of."""

import re
import sys
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from poise.common.errors import ModelError, ModelWarning
from poise.io import load
from poise.io.packages import Packages
from poise.io.urdf import parse_urdf, read_urdf
from poise.model.joint import JointKind
from poise.model.joint_function import JointFunction
from poise.model.model import Model
from poise.spatial import SE3

TWO_LINKS = '<robot name="r">\n<link name="a"/>\n<link name="b"/>\n{}\n</robot>'
JOINT = '<joint name="j" type="{type}"{attributes}>\n<parent link="a"/><child link="b"/>\n{inside}\n</joint>'


def one_joint(type: str, inside: str = "", attributes: str = "") -> Model:
    return parse_urdf(TWO_LINKS.format(JOINT.format(type=type, inside=inside, attributes=attributes)), file="r.urdf")


def refused(document: str | bytes, message: str, line: int | None) -> None:
    """The document is refused with this message, and with this line in the message and on the error."""
    with pytest.raises(ModelError, match=re.escape(message)) as caught:
        parse_urdf(document, file="r.urdf")
    assert caught.value.line == line
    assert str(caught.value).startswith("r.urdf: " if line is None else f"r.urdf:{line}: ")


def joint_refused(type: str, inside: str, message: str, line: int, attributes: str = "") -> None:
    refused(TWO_LINKS.format(JOINT.format(type=type, inside=inside, attributes=attributes)), message, line)


# Joint types -----------------------------------------------------------------------------------------------------

LIMIT = '<limit lower="-1" upper="2" velocity="3" effort="4"/>'


@pytest.mark.parametrize("type", ["revolute", "prismatic"])
def test_limited_joints_have_the_limits_of_the_file(type: str) -> None:
    joint = one_joint(type, LIMIT + '<axis xyz="0 3 4"/>').joint("j")
    assert joint.kind == type
    assert (joint.lower, joint.upper, joint.velocity) == ((-1.0,), (2.0,), (3.0,))
    assert joint.axis == pytest.approx((0.0, 0.6, 0.8))


def test_limits_of_a_continuous_joint_that_leave_two_turns_are_none() -> None:
    joint = one_joint("continuous", '<limit lower="-6.2832" upper="6.2832" velocity="3" effort="1"/>').joint("j")
    assert (joint.lower, joint.upper, joint.velocity) == ((-np.inf,), (np.inf,), (3.0,))


def test_a_continuous_joint_keeps_the_velocity_and_no_limits() -> None:
    with pytest.warns(ModelWarning, match="limits of a continuous joint do not hold; call it revolute .* from -1 to 2"):
        joint = one_joint("continuous", LIMIT).joint("j")
    assert (joint.kind, joint.lower, joint.upper, joint.velocity) == ("continuous", (-np.inf,), (np.inf,), (3.0,))


def test_a_helical_joint_has_a_pitch() -> None:
    joint = one_joint("helical", LIMIT, ' pitch="0.002"').joint("j")
    assert (joint.kind, joint.pitch, joint.upper) == (JointKind.HELICAL, 0.002, (2.0,))
    joint_refused("helical", LIMIT, "joint 'j' has no 'pitch'; write pitch=", 4)


@pytest.mark.parametrize(("type", "nq", "nv"), [("planar", 3, 3), ("floating", 7, 6), ("spherical", 4, 3)])
def test_joints_of_several_axes_are_unlimited(type: str, nq: int, nv: int) -> None:
    with pytest.warns(ModelWarning, match=rf"limits of a {type} joint do not hold \(line 6: joint 'j' from -1 to 2\)"):
        model = one_joint(type, LIMIT)
    assert (model.joint("j").kind, model.nq, model.nv) == (type, nq, nv)
    assert np.isinf(model.velocity).all()
    assert np.isinf(model.lower).all()


def test_ball_is_spherical() -> None:
    assert one_joint("ball").joint("j").kind is JointKind.SPHERICAL


def test_a_fixed_joint_takes_no_place_and_needs_no_axis_limit_or_mimic() -> None:
    model = one_joint("fixed", '<axis xyz="0 0 0"/><limit lower="1" upper="0"/><mimic joint="nowhere"/>')
    assert (model.nq, model.joint("j").mimic) == (0, None)


def test_the_axis_is_x_unless_it_is_given() -> None:
    assert one_joint("continuous").joint("j").axis == (1.0, 0.0, 0.0)


def test_the_origin_is_a_position_and_roll_pitch_yaw() -> None:
    origin = one_joint("fixed", '<origin xyz="1 2 3" rpy="0.1 0.2 0.3"/>').joint("j").origin
    np.testing.assert_allclose(origin.array, SE3.from_xyz_rpy([1, 2, 3], [0.1, 0.2, 0.3]).array, atol=1e-15)
    np.testing.assert_allclose(one_joint("fixed", '<origin rpy="0 0 1"/>').joint("j").origin.xyz, 0.0)


def test_a_mimic_follows_with_multiplier_and_offset() -> None:
    document = TWO_LINKS.format(
        '<link name="c"/><joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>'
        '<joint name="k" type="continuous"><parent link="b"/><child link="c"/>'
        '<mimic joint="j" multiplier="-2" offset="0.5"/></joint>'
    )
    model = parse_urdf(document)
    assert model.joint_names == ("j",)
    assert model.follows(model.joint("k")) == ("j", JointFunction.polynomial([0.5, -2.0]))


def test_a_limit_without_lower_and_upper_is_zero_and_warned_of() -> None:
    with pytest.warns(ModelWarning, match=r"holds its joint at 0 \(line 6: joint 'j'\)"):
        model = one_joint("revolute", '<limit velocity="1" effort="1"/>')
    assert (model.lower, model.upper) == (0.0, 0.0)
    with pytest.warns(ModelWarning, match=r"a <limit> without lower has 0 there \(line 6: joint 'j'\)"):
        assert one_joint("revolute", '<limit upper="1"/>').lower == 0.0  # as the format says


def test_a_missing_limit_is_none_and_warned_of() -> None:
    with pytest.warns(ModelWarning, match=r"without <limit> is taken as unlimited \(line 4: joint 'j'\)"):
        assert one_joint("prismatic").upper == np.inf


@pytest.mark.parametrize("none", ["0", "-1.0"])
def test_a_velocity_that_exporters_write_for_none_is_none_and_warned_of(none: str) -> None:
    with pytest.warns(ModelWarning, match=f"velocity limit of {float(none):g} is taken as none"):
        assert one_joint("revolute", f'<limit lower="-1" upper="1" velocity="{none}"/>').velocity == np.inf


def test_infinite_limits_are_unlimited() -> None:
    model = one_joint("revolute", '<limit lower="-inf" upper="1e999" velocity="INF"/>')
    assert (model.lower, model.upper, model.velocity) == (-np.inf, np.inf, np.inf)


def test_the_order_is_the_file_s_with_parents_first() -> None:
    document = (
        '<robot name="r"><joint name="late" type="continuous"><parent link="b"/><child link="c"/></joint>'
        '<joint name="early" type="continuous"><parent link="a"/><child link="b"/></joint>'
        '<joint name="side" type="continuous"><parent link="a"/><child link="d"/></joint>'
        '<link name="d"/><link name="c"/><link name="b"/><link name="a"/></robot>'
    )
    assert parse_urdf(document).joint_names == ("early", "late", "side")


def test_a_link_called_world_is_the_world() -> None:
    document = (
        '<robot name="r"><link name="world"/><link name="a"/>'
        '<joint name="j" type="continuous"><parent link="world"/><child link="a"/></joint></robot>'
    )
    model = parse_urdf(document)
    assert (model.links, model.joint("j").parent) == (("a",), "world")
    assert parse_urdf(document.replace('<link name="world"/>', "")).links == ("a",)
    with pytest.raises(ModelError, match="a joint of its own, so base='floating' frees nothing"):
        parse_urdf(document, base="floating")


def test_a_floating_base_is_a_joint_called_root() -> None:
    model = parse_urdf('<robot name="r"><link name="a"/></robot>', base="floating")
    assert (model.joint_names, model.nq, model.nv) == (("root",), 7, 6)


@pytest.mark.parametrize("base", ["floating", "planar"])
def test_a_base_finds_another_name_where_root_is_taken(base: Literal["floating", "planar"]) -> None:
    document = TWO_LINKS.format(JOINT.format(type="continuous", attributes="", inside="")).replace('"j"', '"root"')
    model = parse_urdf(document, base=base)
    assert model.joint_names == ("root_", "root")
    assert model.joint("root_").kind == base


def test_a_robot_without_a_name_has_its_file_s() -> None:
    assert parse_urdf('<robot><link name="a"/></robot>', file="some/arm.urdf").name == "arm"


# What is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("type", "inside", "message", "line"),
    [
        ("revolut", "", "joint 'j' has the unknown type 'revolut'", 4),
        ("fixed", '<origin xyz="1 2"/>', "<origin> of joint 'j' has xyz=\"1 2\": it needs 3 numbers, not 2", 6),
        ("fixed", '<origin xyz="1 2 x"/>', "'x' is not a number", 6),
        ("fixed", '<origin xyz="1,2,3"/>', "needs 3 numbers, not 1; put spaces between numbers, no commas", 6),
        ("fixed", '<origin xyz="1 2 1_0"/>', "'1_0' is not a number", 6),
        ("fixed", '<origin xyz="1 2 nan"/>', "'nan' is not a finite number", 6),
        ("fixed", '<origin rpy="1e999 0 0"/>', "'1e999' is not a finite number", 6),
        (
            "fixed",
            '<origin xyz=""/>',
            "<origin> of joint 'j' has an empty 'xyz'; write xyz=\"...\", or leave 'xyz' out",
            6,
        ),
        ("fixed", "<origin/>\n<origin/>", "joint 'j' has 2 <origin>; keep one of them", 7),
        ("continuous", '<axis xyz="0 0 0"/>', "joint 'j' has a zero axis", 4),
        ("continuous", "<axis/>", "<axis> of joint 'j' has no 'xyz'", 6),
        ("revolute", '<limit lower="2" upper="1"/>', "limits the wrong way round: lower 2 > upper 1", 4),
        ("revolute", '<limit lower="nan" upper="1"/>', "'nan' is not a finite number", 6),
        ("revolute", '<limit lower="1 2" upper="1"/>', "it needs 1 number, not 2", 6),
        ("revolute", LIMIT.replace("3", "-3"), "negative velocity limit, -3: write it without the sign", 6),
        ("revolute", LIMIT.replace("3", ""), "<limit> of joint 'j' has an empty 'velocity'; write velocity=", 6),
        ("continuous", '<mimic joint="j"/>', "joint 'j' mimics itself", 4),
        ("continuous", "<mimic/>", "<mimic> of joint 'j' has no 'joint'", 6),
        ("continuous", '<mimic joint="j" multiplier="two"/>', "'two' is not a number", 6),
        ("planar", '<mimic joint="j"/>', "planar and cannot mimic another", 4),
        ("fixed", '<origin xyz="1e30 0 0"/>', "'1e30' is too large; beyond 2^50", 6),
        ("continuous", '<axis xyz="1e200 1e200 0"/>', "'1e200' is too large", 6),
        ("revolute", '<limit lower="-1e30" upper="1e30"/>', "limit -1e+30; beyond 2^50 = 1.13e+15 [m or rad]", 4),
        ("prismatic", '<limit lower="0" upper="2e15"/>', "has the limit 2e+15; beyond 2^50", 4),
        (
            "revolute",
            '<limit lower="0" upper="1" velocity="1e-320"/>',
            "a velocity limit of 9.99989e-321; make it fixed",
            4,
        ),
        ("continuous", '<mimic joint="k" multiplier="1e100"/>', "'1e100' is too large", 6),
    ],
)
def test_bad_joints_are_refused(type: str, inside: str, message: str, line: int) -> None:
    joint_refused(type, inside, message, line)


@pytest.mark.parametrize(
    ("inside", "message", "line"),
    [
        ('<joint type="fixed"/>', "<joint> has no 'name'", 4),
        ('<joint name="j"/>', "joint 'j' has no 'type'", 4),
        ('<joint name="j" type="fixed"><child link="b"/></joint>', "joint 'j' has no <parent>", 4),
        ('<joint name="j" type="fixed"><parent link="a"/></joint>', "joint 'j' has no <child>", 4),
        ('<joint name="j" type="fixed"><parent/><child link="b"/></joint>', "<parent> of joint 'j' has no 'link'", 4),
        ('<link name="b"/>', "link 'b' is declared twice", 4),
        ('<link name=""/>', "link '' has an empty 'name'; write name=", 4),
        ("", "2 links have no parent, 'a' and 'b' among them; a URDF has one root", 3),
    ],
)
def test_bad_trees_are_refused(inside: str, message: str, line: int) -> None:
    refused(TWO_LINKS.format(inside), message, line)


def joints(*ends: str) -> str:
    return "\n".join(
        f'<joint name="j{i}" type="fixed"><parent link="{pair[0]}"/><child link="{pair[1:]}"/></joint>'
        for i, pair in enumerate(ends)
    )


def test_what_is_no_joint_to_urdf_is_named_where_a_link_has_no_parent() -> None:
    drake = TWO_LINKS.format('<drake:joint name="j" type="ball"><parent link="a"/><child link="b"/></drake:joint>')
    refused(drake, "or remove them; <drake:joint> 'j' in line 4 is not of URDF and was passed over", 3)
    refused(drake.replace("drake:joint", "Joint"), "<Joint> 'j' in line 4 is not of URDF", 3)
    refused(TWO_LINKS.format("<xacro:arm/>"), "<xacro:arm> in line 4 is not of URDF", 3)


def test_two_parents_cycles_and_strangers_are_refused() -> None:
    refused(TWO_LINKS.format(joints("ab", "ab")), "link 'b' has two parents: the joints 'j0' and 'j1'", 5)
    refused(TWO_LINKS.format(joints("ab", "ba")), "the links form a cycle through joint 'j0'", 4)
    refused(TWO_LINKS.format(joints("aa")), "joint 'j0' joins link 'a' to itself", 4)
    refused(TWO_LINKS.format(joints("ab", "bc")), "joint 'j1' needs the link 'c', which is not declared", 5)
    refused(TWO_LINKS.format(joints("ab", "bworld")), "joint 'j1' moves 'world', which stands still; turn", 5)
    refused(TWO_LINKS.format(joints("ab", "bworld")), "turn it round or rename that", 5)
    blank = TWO_LINKS.replace('"b"', '"b "').format(joints("ab"))
    refused(blank, "needs the link 'b', which is not declared; did you mean 'b '?", 4)
    double = joints("ab").replace("j0", "j") + "\n" + joints("ba").replace("j0", "j")
    refused(TWO_LINKS.format(double), "joint 'j' is declared twice", 5)
    refused('<robot>\n<link name="a"/>\n<link name="world"/></robot>', "2 links have no parent", 3)


def test_a_mimic_whose_limits_disagree_gives_way() -> None:
    document = (
        '<robot><link name="a"/><link name="b"/><link name="c"/>'
        '<joint name="j" type="revolute"><parent link="a"/><child link="b"/><limit lower="0" upper="1"/></joint>'
        '<joint name="k" type="revolute"><parent link="b"/><child link="c"/><limit lower="2" upper="3"/>'
        '<mimic joint="j"/></joint></robot>'
    )
    with pytest.warns(ModelWarning, match="correct multipliers and offsets: 'j' would keep nothing of 0 to 1 for 'k'"):
        model = parse_urdf(document)
    assert (model.lower, model.upper) == ([0.0], [1.0])


def test_what_is_not_a_urdf_is_refused() -> None:
    refused("<robot/>", "the robot has no <link>", 1)
    refused("<mujoco/>", "this is an MJCF, not a URDF", 1)
    refused("<sdf/>", "this is an SDF, which poise does not read; export the robot as URDF or MJCF", 1)
    refused("\n<html/>", "this is a web page, not the file that it shows", 2)
    refused("<robot>\n<link>\n</robot>", "not XML: mismatched tag", 3)
    refused("<robot/>\n<robot/>", "not XML: junk after document element; a file is one robot: remove what follows", 2)
    refused('<robot name="a&nbsp;b"/>', "not XML: undefined entity; write the letter itself", 1)
    refused(b"\x7fELF\x00\x01", "not XML: not well-formed (invalid token)", 1)
    refused("hello", "not XML: syntax error", 1)
    refused("", "not XML: no element found", 1)
    refused(b'<?xml version="1.0" encoding="klingon"?><robot/>', "cannot be decoded as text: unknown", None)
    refused("<robot>\ud800</robot>", "cannot be decoded as text", None)


@pytest.mark.parametrize(
    "declaration",
    [
        '<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">',
        '<!ENTITY file SYSTEM "file:///etc/passwd">',
        '<!ENTITY % remote SYSTEM "http://localhost/x.dtd"> %remote;',
    ],
)
def test_entities_are_refused(declaration: str) -> None:
    document = f'<?xml version="1.0"?>\n<!DOCTYPE robot [\n{declaration}]>\n<robot><link name="&a;"/></robot>'
    refused(document, "declares an entity or refers to another file", 3)


def test_external_documents_are_refused() -> None:
    refused('<!DOCTYPE robot SYSTEM "http://localhost/x.dtd"><robot/>', "declares an entity or refers to", 1)


def test_deep_nesting_is_no_danger() -> None:
    refused("<robot>" + "<a>" * 40_000, "not XML: no element found", 1)
    with pytest.warns(ModelWarning, match="unknown tag <a> in <robot>"):
        parse_urdf('<robot><link name="a"/>' + "<a>" * 40_000 + "</a>" * 40_000 + "</robot>")


def test_files_that_cannot_be_read_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    empty = tmp_path / "empty.urdf"
    empty.write_bytes(b"\n")
    for path, message in [
        (Path("missing.urdf"), f"missing.urdf: no such file in {tmp_path}"),
        (tmp_path / "missing.urdf", f"{tmp_path / 'missing.urdf'}: no such file"),
        (tmp_path, f"{tmp_path}: cannot be read: it is a directory; give a file in it"),
        (empty, f"{empty}: the file is empty"),
        (tmp_path / "a\0b.urdf", "cannot be read: embedded null"),
        (tmp_path / ("x" * 300 + ".urdf"), "cannot be read: "),
    ]:
        with pytest.raises(ModelError, match=re.escape(message)):
            read_urdf(path)


# Encodings and what is passed over -------------------------------------------------------------------------------


def test_encodings() -> None:
    document = '<?xml version="1.0" encoding="{}"?>\n<!-- é -->\n<robot name="é"><link name="a"/></robot>'
    assert parse_urdf(b"\xef\xbb\xbf" + document.format("utf-8").encode()).name == "é"
    assert parse_urdf(document.format("iso-8859-1").encode("iso-8859-1")).name == "é"
    assert parse_urdf(document.format("utf-16").encode("utf-16")).name == "é"
    assert parse_urdf(document.format("utf-16")).name == "é"  # a str is decoded already


def test_blanks_and_marks_before_the_declaration_are_no_matter() -> None:
    declared = '<?xml version="1.0"?>\n<robot name="r">\n<link name=""/></robot>'
    for before, line in (("\n  ", 4), ("\ufeff\n\r\n", 5), ("\n\ufeff", 4), ("\ufeff\ufeff", 3)):
        refused(before + declared, "an empty 'name'", line)
        refused((before + declared).encode(), "an empty 'name'", line)
        assert parse_urdf(before + declared.replace('name=""', 'name="é"')).links == ("é",)
    assert parse_urdf("\n\ufeff" + declared.partition("\n")[2].replace('name=""', 'name="a"')).links == ("a",)


def test_other_things_before_the_declaration_are_refused_with_the_mend() -> None:
    declaration = '<?xml version="1.0"?>\n'
    refused("<!-- licence -->\n" + declaration + "<robot/>", "move <?xml ...?> to the first line, before comments", 2)
    refused(declaration * 2 + "<robot/>", "and keep one of them", 2)


@pytest.mark.parametrize("declaration", ["", '<?xml version="1.0" encoding="utf-8"?>'])
def test_comments_may_be_in_any_encoding_and_names_may_not(declaration: str) -> None:
    degree = f'{declaration}<robot name="r"><!-- \xb1170\xb0 --><link name="a"/></robot>'
    assert parse_urdf(degree.encode("latin1")).links == ("a",)
    assert parse_urdf(degree.encode()).links == ("a",)
    named = degree.replace('"a"', '"\xe9"').encode("latin1")
    refused(named, 'save it as UTF-8, or state what it is written in, as in <?xml version="1.0" encoding="latin1"?>', 1)
    latin = named.removeprefix(declaration.encode())
    assert parse_urdf(b'<?xml version="1.0" encoding="latin1"?>' + latin).links == ("\xe9",)


def test_comments_that_do_not_end_take_no_time() -> None:
    refused(b"<robot>" + b"<!-- \xb0 " * 50_000, "not XML: ", 1)


# Attributes ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("inside", "attributes", "remark"),
    [
        (
            "",
            ' axis="0 0 1"',
            "unknown attribute 'axis' of <joint>, where it is an element: <axis .../> (line 4: joint",
        ),
        ('<origin xzy="1 0 0"/>', "", "unknown attribute 'xzy' of <origin>; did you mean 'xyz'? (line 6: <origin> of"),
        ('<axis xyz="0 0 1" frame="a"/>', "", "unknown attribute 'frame' of <axis> (line 6: <axis> of joint 'j')"),
        ("<axis><xyz/></axis>", "", "unknown tag <xyz> in <axis> (line 6)"),
        ("<origin>1 0 0</origin>", "", "text in <origin> is passed over; numbers are attributes (line 6: <origin> of"),
        ("<mass/>", "", "unknown tag <mass> in <joint> (line 6)"),  # which is another's: nothing else is meant
        ('<mimic joint="k" ratio="2"/>', "", "unknown attribute 'ratio' of <mimic> (line 6: <mimic> of joint 'j')"),
    ],
)
def test_attributes_that_no_urdf_has_are_told(inside: str, attributes: str, remark: str) -> None:
    inside = inside.replace("<axis>", '<axis xyz="1 0 0">')
    with pytest.warns(ModelWarning, match=re.escape(remark)):
        one_joint("fixed" if "mimic" in inside else "continuous", inside, attributes)


def test_the_end_of_a_limit_that_is_misspelt_is_told_twice_in_one_warning() -> None:
    with pytest.warns(ModelWarning) as caught:
        assert one_joint("revolute", '<limit lower="-1" uper="1" velocity="1"/>').upper == 0.0
    assert [str(w.message) for w in caught] == [
        "r.urdf:\n  a <limit> without upper has 0 there (line 6: joint 'j')\n"
        "  unknown attribute 'uper' of <limit>; did you mean 'upper'? (line 6: <limit> of joint 'j')"
    ]


def test_parts_of_links_are_looked_at_too() -> None:
    with pytest.warns(ModelWarning) as caught:
        parse_urdf(
            '<robot name="r">\n<link name="a"><collision><orign xyz="0 0 1"/><geometry><box size="1 1 1"/></geometry>'
            '</collision><inertial><mass value="1" unit="kg"/></inertial></link></robot>'
        )
    (message,) = (str(w.message) for w in caught)
    assert "unknown tag <orign> in <collision>; did you mean <origin>? (line 2)" in message
    assert "unknown attribute 'unit' of <mass> (line 2: <mass> of link 'a')" in message


def test_attributes_of_the_format_and_of_other_programs_are_no_matter() -> None:
    parse_urdf(
        '<robot name="r" version="1.0" xmlns="http://www.ros.org" xmlns:xacro="http://www.ros.org/wiki/xacro">'
        '<material name="m"><color rgba="1 1 1 1"/><texture filename="m.png"/></material><link name="a" type="laser">'
        '<inertial><origin xyz="0 0 0" rpy="0 0 0"/><mass value="1"/>'
        '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1" iyx="0"/></inertial>'
        '<visual name="v"><origin xyz="0 0 0"/><geometry name="g"><box size="1 1 1"/></geometry><material name="m"/>'
        '</visual><collision name="c" group="heel" drake:group="x"><verbose value="1"/><geometry>'
        '<sphere radius="1"/></geometry></collision></link><link name="b"/>'
        '<joint name="j" type="revolute" dont_collapse="true" ns:axis="1">'
        '<parent link="a"/><child link="b"/><origin xyz="0 0 0" rpy="0 0 0"/><axis xyz="0 0 1"/>'
        '<limit lower="0" upper="1" effort="1" velocity="1" current="3"/><dynamics damping="1" friction="1" K="2"/>'
        '<safety_controller soft_lower_limit="0" soft_upper_limit="1" k_position="1" k_velocity="1"/>'
        '<calibration rising="0"/></joint></robot>'
    )


def test_left_overs_of_xacro_are_passed_over_where_the_robot_stands_without_them() -> None:
    joint = JOINT.format(type="continuous", attributes="", inside="<axis xyz='0 0 1'/>")
    for left in (
        "<xacro:grey/>",
        '<xacro:property name="k" value="${1}"/>',
        '<xacro:macro name="m"><a b="${c}"/></xacro:macro>',
    ):
        tag = left[1:].split()[0].split("/")[0]
        with pytest.warns(ModelWarning, match=f"<{tag}> is left over from xacro and passed over"):
            assert parse_urdf(TWO_LINKS.format(joint + left)).joint_names == ("j",)
    for used in ('<xacro:m/><xacro:macro name="m"/>', '<xacro:if value="1"/>', '<xacro:include filename="a"/>'):
        refused(TWO_LINKS.format(joint + used), "this is a xacro file", 7)


def test_what_kinematics_does_not_need_is_passed_over_silently() -> None:
    parse_urdf(
        '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><link name="a"><visual/><collision/>'
        '<contact/></link><link name="b"/><material name="m"/><transmission name="t"/><gazebo/><ros2_control/><mujoco/>'
        '<sensor/><drake:collision_filter_group/><joint name="j" type="fixed"><parent link="a"/><child link="b"/>'
        "<dynamics/><calibration/><safety_controller/><drake:gear_ratio/></joint></robot>"
    )


def test_an_origin_of_a_link_is_passed_over_only_where_it_says_nothing() -> None:
    document = '<robot name="r"><link name="a"><origin xyz="0 0 {}" rpy="0 -0 0"/></link></robot>'
    parse_urdf(document.format(0))
    with pytest.warns(ModelWarning, match="unknown tag <origin> in <link>"):
        parse_urdf(document.format(0.1))


def test_unknown_tags_are_warned_of_once_with_count_and_line() -> None:
    document = TWO_LINKS.format(JOINT.format(type="fixed", attributes="", inside="<orgin/>\n<orgin/>"))
    with pytest.warns(ModelWarning) as caught:
        parse_urdf(document.replace("</robot>", "<lnik/></robot>"), file="r.urdf")
    assert [str(w.message) for w in caught] == [
        "r.urdf:\n  unknown tag <lnik> in <robot>; did you mean <link>? (line 9)\n"
        "  unknown tag <orgin> in <joint>; did you mean <origin>? (2 times, first at line 6)"
    ]


def test_a_mimic_of_a_joint_that_is_not_there_is_passed_over_with_the_nearest() -> None:
    hand = "".join(
        f"""<link name="{side}"/><joint name="{side}_q1" type="revolute"><parent link="palm"/><child link="{side}"/>
        <limit lower="0" upper="1"/>{mimic}</joint>"""
        for side, mimic in (("left", ""), ("right", '<mimic joint="let_q1" multiplier="2"/>'))
    )
    with pytest.warns(ModelWarning) as caught:
        model = parse_urdf(f'<robot name="r"><link name="palm"/>{hand}</robot>', file="r.urdf")
    assert model.joint_names == ("left_q1", "right_q1")
    words = "moves by itself (line 3: joint 'right_q1': the robot has no joint 'let_q1'; did you mean 'left_q1'?)"
    assert words in str(caught[0].message)


def test_limits_that_look_like_degrees_are_asked_about_once() -> None:
    def document(lower: float, upper: float, kind: str = "revolute") -> str:
        limit = f'<limit lower="{lower}" upper="{upper}" velocity="1" effort="1"/>'
        return TWO_LINKS.format(JOINT.format(type=kind, attributes="", inside=limit))

    with pytest.warns(ModelWarning) as caught:
        model = parse_urdf(document(-180, 172.5), file="r.urdf")
    assert len(caught) == 1
    words = r"r.urdf:\n  limits of more than three turns; .* by pi/180 \(line 4: joint 'j' from -180 to 172.5\)"
    assert re.fullmatch(words, str(caught[0].message))
    np.testing.assert_array_equal(model.upper, [172.5])
    for lower, upper in ((-6.3, 6.3), (-18.9, 18.9), (0, 1000), (-1e6, 1e6)):  # screws, and ways to say none
        parse_urdf(document(lower, upper))
    parse_urdf(document(-100, 100, "prismatic"))


# Masses ----------------------------------------------------------------------------------------------------------

LINK = '<robot name="r">\n<link name="a">\n{}\n</link>\n</robot>'


def test_masses_are_where_the_file_says() -> None:
    model = parse_urdf(
        '<robot name="r"><link name="a"><inertial><origin xyz="0.1 0 -2e-3" rpy="1 2 3"/><mass value="2.5"/>'
        '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>'
        '<link name="b"><inertial><mass value="0"/></inertial></link><link name="c"/>'
        '<joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint>'
        '<joint name="k" type="fixed"><parent link="a"/><child link="c"/></joint></robot>'
    )
    assert {link: mass for link, (mass, _) in model.masses.items()} == {"a": 2.5, "b": 0.0}
    np.testing.assert_array_equal(model.masses["a"][1], [0.1, 0.0, -2e-3])
    assert model.mass == 2.5


@pytest.mark.parametrize(
    ("inside", "message", "line"),
    [
        ('<inertial>\n<mass value="-1"/></inertial>', "link 'a' has the mass -1.0; it must be a finite number", 4),
        ('<inertial>\n<mass value="nan"/></inertial>', "<mass> of link 'a' has value=\"nan\": 'nan' is not a fin", 4),
        (
            '<inertial>\n<mass value="1kg"/></inertial>',
            "<mass> of link 'a' has value=\"1kg\": '1kg' is not a number",
            4,
        ),
        ('<inertial>\n<mass value="1 2"/></inertial>', "it needs 1 number, not 2", 4),
        ("<inertial>\n<mass/></inertial>", "<mass> of link 'a' has no 'value'; write value=", 4),
        (
            '<inertial>\n<mass value="1"/>\n<origin xyz="0 0"/></inertial>',
            "<origin> of link 'a' has xyz=\"0 0\": it needs 3 numbers, not 2",
            5,
        ),
        (
            '<inertial>\n<mass value="1"/>\n<mass value="2"/></inertial>',
            "<inertial> of link 'a' has 2 <mass>; keep one of them",
            5,
        ),
        ("<inertial/>\n<inertial/>", "link 'a' has 2 <inertial>; keep one of them", 4),
    ],
)
def test_bad_masses_are_refused(inside: str, message: str, line: int) -> None:
    refused(LINK.format(inside), message, line)


def test_masses_that_are_not_there_are_warned_of() -> None:
    with pytest.warns(ModelWarning, match=r"an <inertial> without <mass> is passed over \(line 3: link 'a'\)"):
        assert not parse_urdf(LINK.format("<inertial/>")).masses
    document = (
        '<robot name="r"><link name="world"><inertial><mass value="5"/></inertial></link><link name="a"/>'
        '<joint name="j" type="fixed"><parent link="world"/><child link="a"/></joint></robot>'
    )
    with pytest.warns(ModelWarning, match="the mass of 'world' is passed over"):
        assert not parse_urdf(document).masses


# Meshes ----------------------------------------------------------------------------------------------------------


def write_urdf(path: Path, *meshes: str) -> Path:
    shapes = "\n".join(f'<visual><geometry><mesh filename="{m}"/></geometry></visual>' for m in meshes)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'<robot name="r"><link name="a">\n{shapes}\n</link></robot>')
    return path


def test_meshes_that_exist_are_not_mentioned(tmp_path: Path) -> None:
    mesh = tmp_path / "my_robot" / "meshes" / "a b.stl"
    mesh.parent.mkdir(parents=True)
    mesh.touch()
    names = [
        "package://my_robot/meshes/a b.stl",
        "package:///my_robot/meshes/a b.stl",
        "model://my_robot/meshes/a b.stl",
        "package://called_otherwise/meshes/a b.stl",
        "../meshes/a b.stl",
        str(mesh),
        f"file://{mesh}".replace(" ", "%20"),
        "https://example.com/a.stl",
    ]
    read_urdf(write_urdf(tmp_path / "my_robot" / "urdf" / "r.urdf", *names))


def test_missing_meshes_are_counted_with_an_example(tmp_path: Path) -> None:
    path = write_urdf(tmp_path / "r.urdf", "package://my_robot/a.stl", "b.stl", "", "x" * 300)
    with pytest.warns(ModelWarning, match=r"mesh not found, .* \(2 times, first at line 3: 'b.stl', tried ") as w:
        read_urdf(path)
    assert len(w) == 1
    assert f"tried {tmp_path / 'b.stl'}, " in str(w[0].message)
    assert "give package_dirs= the folder that holds 'my_robot' (line 2: 'package://my_robot/a.stl'" in str(
        w[0].message
    )
    assert f"looked in {tmp_path}, " in str(w[0].message)


def test_packages_are_looked_for_where_ros_says_and_where_the_caller_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in ("ros", "ament/share", "given"):
        mesh = tmp_path / place / "pkg" / "a.stl"
        mesh.parent.mkdir(parents=True)
        mesh.touch()
    here, uri = tmp_path / "elsewhere", "package://pkg/a.stl"
    monkeypatch.delenv("ROS_PACKAGE_PATH", raising=False)
    monkeypatch.delenv("AMENT_PREFIX_PATH", raising=False)
    assert Packages(here).file(uri)[0] is None
    assert Packages(here, [tmp_path / "given"]).file(uri)[0] == tmp_path / "given" / "pkg" / "a.stl"
    assert Packages(here, [tmp_path / "given" / "pkg"]).file(uri)[0] == tmp_path / "given" / "pkg" / "a.stl"
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "ament"))
    assert Packages(here).file(uri)[0] == tmp_path / "ament" / "share" / "pkg" / "a.stl"
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path / "ros"))
    assert Packages(here).file(uri)[0] == tmp_path / "ros" / "pkg" / "a.stl"
    path = write_urdf(tmp_path / "elsewhere" / "r.urdf", "package://mine/a.stl")
    read_urdf(path, package_dirs=(folder for folder in [tmp_path / "given" / "pkg"]))


@pytest.mark.skipif(sys.platform == "win32", reason="drive letters are resolved there")
def test_file_uris_of_windows_lose_their_slash(tmp_path: Path) -> None:
    assert Packages(tmp_path).file("file:///C:/a.stl")[1] == (tmp_path / "C:/a.stl",)


def follower(limit: str, *multipliers: str) -> str:
    """A hinge between `limit`, and a chain of joints each of which follows the one before."""
    lines = [f'<joint name="j0" type="revolute"><parent link="a"/><child link="b0"/>{limit}</joint>']
    for i, multiplier in enumerate(multipliers):
        mimic = f'<mimic joint="j{i}" multiplier="{multiplier}"/>'
        lines.append(
            f'<joint name="j{i + 1}" type="continuous"><parent link="b{i}"/><child link="b{i + 1}"/>{mimic}</joint>'
        )
    links = "".join(f'<link name="b{i}"/>' for i in range(len(multipliers) + 1))
    return f'<robot><link name="a"/>{links}\n' + "\n".join(lines) + "</robot>"


def test_followers_that_go_out_of_all_digits_are_refused() -> None:
    refused(
        follower(LIMIT, "2e6"), "joint 'j1' mimics 'j0' with the multiplier 2e+06; no gear makes more than 1e+06", 3
    )
    refused(follower(LIMIT, "1e4", "-1e4"), "joint 'j2' mimics 'j0' with the multiplier -1e+08", 4)
    far = '<limit lower="-1e12" upper="1"/>'
    refused(follower(far, "1e4"), "joint 'j1' follows 'j0' too far, which may stand at -1e+12; beyond 2^50", 3)
    assert parse_urdf(follower(LIMIT, "1e3", "1e3")).farthest == 2.0**50 / 1e6
    assert parse_urdf(follower(LIMIT, *["1"] * 99)).nq == 1
    refused(follower(LIMIT, *["1"] * 100), "joint 'j100' follows through more than 100 others; let it follow", 102)


def test_a_follower_that_hardly_moves_narrows_nothing() -> None:
    document = follower("", "1e-300").replace('"continuous"', '"prismatic"').replace("</joint></", LIMIT + "</joint></")
    with pytest.warns(ModelWarning, match="without <limit>") as caught:
        model = parse_urdf(document)
    assert (model.lower, model.upper) == (-np.inf, np.inf)
    assert "narrow" not in str(caught[0].message)
    with pytest.warns(ModelWarning, match="'j0' would keep nothing of -inf to inf for 'j1'"):
        model = parse_urdf(document.replace('lower="-1"', 'lower="1"'))
    assert (model.lower, model.upper) == (-np.inf, np.inf)


@pytest.mark.parametrize("none", ["1e16", "3.4028235e38", "1.79769e308"])
def test_numbers_that_exporters_write_for_none_are_no_limits(none: str) -> None:
    with pytest.warns(ModelWarning, match=r"a limit of .* is taken as none"):
        model = one_joint("revolute", f'<limit lower="-{none}" upper="{none}"/>')
    assert (model.lower, model.upper) == (-np.inf, np.inf)
    assert np.isfinite(model.sample(seed=1)).all()


def test_a_joint_with_the_name_of_another_s_coordinate_is_refused() -> None:
    floating = '<joint name="f" type="floating"><parent link="a"/><child link="b"/></joint>'
    document = f'<robot><link name="a"/><link name="b"/><link name="c"/>{floating}\n{{}}</robot>'
    hinge = '<joint name="f.x" type="continuous"><parent link="b"/><child link="c"/></joint>'
    refused(document.format(hinge), "joint 'f.x' has the name of a coordinate of joint 'f'; give it another", 2)
    fixed = parse_urdf(document.format(hinge.replace("continuous", "fixed")))
    assert len(fixed.named(fixed.home)) == fixed.nq
    named = parse_urdf(document.format(hinge.replace("f.x", "f.v")))
    assert len(named.named(named.home)) == named.nq == 8
    rooted = TWO_LINKS.format(JOINT.format(type="continuous", inside="", attributes="")).replace('"j"', '"root.angle"')
    with pytest.raises(ModelError, match=r"'root\.angle' has the name of a coordinate of joint 'root'"):
        parse_urdf(rooted, base="planar")


# How large a file may be -----------------------------------------------------------------------------------------


def test_what_no_robot_needs_is_refused_before_it_takes_time_or_memory(tmp_path: Path) -> None:
    long = '<origin xyz="' + "0 " * 600_000 + '"/>'
    joint = JOINT.format(type="fixed", inside=long, attributes="")
    refused(TWO_LINKS.format(joint), "a tag or a text has more than 1 MiB, which no robot needs", 6)
    refused(TWO_LINKS.format("\n<!--" + "x" * 1_100_000 + "-->"), "a tag or a text has more than 1 MiB", 5)
    many = '<robot name="r">\n' + '<link name="a"/>' * 50_000 + "</robot>"
    refused(many, "has more than 50,000 elements, which no robot has; split it, or build it with ModelBuilder", 2)
    file = tmp_path / "r.urdf"
    with file.open("wb") as stream:
        stream.write(b"<robot>")
        stream.truncate(65 * 2**20)
    for read in (read_urdf, load):
        with pytest.raises(ModelError, match=r"r.urdf: the file has more than 64 MiB, which no robot needs"):
            read(file)


def test_a_robot_of_a_thousand_links_is_none_of_these() -> None:
    names = "".join(f'<link name="b{i}"/>' for i in range(1001))
    document = (
        "<robot>"
        + names
        + "".join(
            f'<joint name="j{i}" type="continuous"><parent link="b{i}"/><child link="b{i + 1}"/></joint>'
            for i in range(1000)
        )
    )
    assert parse_urdf(document + "<!--" + "x" * 1_000_000 + "--></robot>").nq == 1000

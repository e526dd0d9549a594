"""MJCF files: every frame stands where MuJoCo puts it and moves as MuJoCo moves it."""

import importlib.util
import math
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from support.refusals import refused

from poise.common.array import Array
from poise.common.errors import MissingExtra, ModelError, ModelWarning
from poise.io.from_mujoco import FromMuJoCo
from poise.io.mjcf import read_mjcf
from poise.model.joint import JointKind
from poise.model.model import Model
from poise.spatial import SO3

mujoco = pytest.importorskip("mujoco")

DATA = Path(__file__).parents[1] / "data"
OWN = [DATA / name for name in ("every_joint.xml", "arm.xml", "couplings.xml", "polynomials.xml", "nameless.xml")]
HELD = {"thumb": 0.05, "nail": 0.16}
"""Positions at which the constraints of couplings.xml hold joints: 0.02 + 0.03, and 0.1 + 2 * 0.03."""


def installed() -> Iterator[Path]:
    """Robots in the wheels of this environment."""
    for package, folder in (("mujoco", "testdata"), ("gymnasium", "envs/mujoco/assets")):
        spec = importlib.util.find_spec(package)
        if spec and spec.origin:
            files = sorted((Path(spec.origin).parent / folder).glob("*.xml"))
            yield from (file for file in files if "<worldbody>" in file.read_text())


FILES = [*OWN, *installed()]
every = pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.name}")
DRIVEN = ("couplings.xml", "polynomials.xml")
undriven = pytest.mark.parametrize(
    "file", [file for file in FILES if file.name not in DRIVEN], ids=lambda file: f"{file.parent.name}/{file.name}"
)
pytestmark = pytest.mark.filterwarnings("ignore::poise.common.errors.ModelWarning")


@pytest.fixture(autouse=True)
def logs_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """MuJoCo writes MUJOCO_LOG.TXT, with the compiler's warnings, where it runs."""
    monkeypatch.chdir(tmp_path)


class Twin:
    """MuJoCo's model of a file beside ours."""

    def __init__(self, file: Path) -> None:
        self.ours: Model = read_mjcf(file)
        self.m: Any = mujoco.MjModel.from_xml_path(str(file))
        self.d: Any = mujoco.MjData(self.m)
        self.joints = [self.m.joint(i).name or f"joint{i}" for i in range(self.m.njnt)]
        self.bodies = [self.m.body(i).name or f"body{i}" for i in range(self.m.nbody)]
        self.sites = [self.m.site(i).name or f"site{i}" for i in range(self.m.nsite)]

    def qpos(self, q: Array) -> Array:
        """MuJoCo's numbers: ours, with those of driven and held joints between them."""
        named = self.ours.named(q)
        parts: list[npt.ArrayLike] = []
        for name in self.joints:
            joint = self.ours.joint(name)
            if joint.kind is JointKind.FIXED:
                parts.append([HELD[name]])
            else:
                parts.append([named[name]] if joint.mimic else q[self.ours.index(name)])
        return np.concatenate(parts) if parts else np.zeros(0)

    def qvel(self, q: Array) -> Array:
        """(MuJoCo's nv, our nv) matrix that turns our velocity into MuJoCo's at q."""
        out = np.zeros((self.m.nv, self.ours.nv))
        for i, name in enumerate(self.joints):
            at, joint = self.m.jnt_dofadr[i], self.ours.joint(name)
            if joint.kind is JointKind.FIXED:
                continue
            source, function = self.ours.follows(joint)
            columns = self.ours.velocity_index(source)
            slope = function.derivative(q[self.ours.index(source)][0]) if joint.mimic else 1.0
            block = slope * np.eye(joint.speeds)
            if joint.quaternion_at is not None:  # MuJoCo's angular velocity is along the body's axes
                wxyz = q[self.ours.index(name)][joint.quaternion_at :][:4]
                block[-3:, -3:] = SO3(wxyz=wxyz).matrix().T
            out[at : at + joint.speeds, columns] = block
        return out

    def set(self, q: Array) -> None:
        self.d.qpos[:] = self.qpos(q)
        mujoco.mj_kinematics(self.m, self.d)
        mujoco.mj_comPos(self.m, self.d)

    def frames(self) -> Iterator[tuple[str, Array, Array, Array]]:
        """Name here, position, rotation and Jacobian of every body and site."""
        jacobian = np.zeros((6, self.m.nv))
        for i, name in enumerate(self.bodies):
            mujoco.mj_jacBody(self.m, self.d, jacobian[:3], jacobian[3:], i)
            yield name, self.d.xpos[i], self.d.xmat[i].reshape(3, 3), jacobian
        for i, name in enumerate(self.sites):
            mujoco.mj_jacSite(self.m, self.d, jacobian[:3], jacobian[3:], i)
            frame = f"{name}/site" if name in self.bodies else name
            yield frame, self.d.site_xpos[i], self.d.site_xmat[i].reshape(3, 3), jacobian


@every
def test_every_body_and_site_stands_and_moves_as_in_mujoco(file: Path) -> None:
    twin = Twin(file)
    for q in twin.ours.sample(3, seed=1):
        twin.set(q)
        to_qvel = twin.qvel(q)
        for name, xyz, rotation, jacobian in twin.frames():
            pose = twin.ours.pose(name, q)
            np.testing.assert_allclose(pose.xyz, xyz, rtol=0, atol=1e-12, err_msg=name)
            np.testing.assert_allclose(pose.rotation.matrix(), rotation, rtol=0, atol=1e-12, err_msg=name)
            ours = twin.ours.jacobian(name, q)
            np.testing.assert_allclose(ours, jacobian @ to_qvel, rtol=0, atol=1e-12, err_msg=name)


@every
def test_centres_of_mass_stand_and_move_as_in_mujoco(file: Path) -> None:
    twin = Twin(file)
    assert twin.ours.mass == pytest.approx(twin.m.body_subtreemass[0], rel=1e-12)
    if not twin.ours.mass:
        return
    jacobian = np.zeros((3, twin.m.nv))
    for q in twin.ours.sample(3, seed=1):
        twin.set(q)
        mujoco.mj_jacSubtreeCom(twin.m, twin.d, jacobian, 0)
        np.testing.assert_allclose(twin.ours.centre_of_mass(q), twin.d.subtree_com[0], rtol=0, atol=1e-12)
        ours = twin.ours.centre_of_mass_jacobian(q)
        np.testing.assert_allclose(ours, jacobian @ twin.qvel(q), rtol=0, atol=1e-12)


def test_masses_are_given_or_of_the_geoms_and_hang_on_the_last_link_of_a_body(tmp_path: Path) -> None:
    model = read_mjcf(
        write(
            tmp_path,
            """<mujoco><worldbody><geom type="plane" size="1 1 1"/>
            <body name="stand"><geom size="0.1" pos="0 0 0.3" density="300"/>
            <body name="arm"><joint name="a" pos="0 0 1"/><joint name="b"/>
            <inertial pos="1 2 3" mass="4" diaginertia="1 1 1"/><geom size="9"/>
            <body name="empty"><site name="tool"/></body></body></body></worldbody></mujoco>""",
        )
    )
    assert model.masses.keys() == {"stand", "arm"}
    assert model.masses["stand"][0] == pytest.approx(300 * 4 / 3 * math.pi * 0.1**3)
    np.testing.assert_allclose(model.masses["stand"][1], [0, 0, 0.3])
    assert model.masses["arm"][0] == 4.0
    np.testing.assert_array_equal(model.masses["arm"][1], [1, 2, 3])


@undriven
def test_q_is_qpos(file: Path) -> None:
    twin = Twin(file)
    moving = [joint for joint in twin.ours.joints if joint.nq]
    assert [joint.name for joint in moving] == twin.joints
    assert [twin.ours.index(name).start for name in twin.joints] == list(twin.m.jnt_qposadr)
    assert (twin.ours.nq, twin.ours.nv) == (twin.m.nq, twin.m.nv)
    np.testing.assert_array_equal(twin.ours.postures["qpos0"], twin.m.qpos0)


@undriven
def test_limits_are_the_ranges(file: Path) -> None:
    twin = Twin(file)
    for i, name in enumerate(twin.joints):
        joint = twin.ours.joint(name)
        if joint.size == 1:
            wanted = twin.m.jnt_range[i] if twin.m.jnt_limited[i] else (-np.inf, np.inf)
            assert (joint.lower[0], joint.upper[0]) == tuple(wanted)
            assert (joint.kind is JointKind.CONTINUOUS) == (
                twin.m.jnt_type[i] == mujoco.mjtJoint.mjJNT_HINGE and not twin.m.jnt_limited[i]
            )


def test_several_joints_on_a_body_are_a_chain_of_links() -> None:
    model = read_mjcf(DATA / "every_joint.xml")
    path = [(joint.name, joint.child) for joint in model.root_path("ankle")]
    assert path == [
        ("float", "base"),
        ("yaw", "waist/yaw"),
        ("lift", "waist/lift"),
        ("pitch", "waist/pitch"),
        ("waist/fixed", "waist"),
        ("ball", "ankle/ball"),
        ("ankle/fixed", "ankle"),
    ]
    assert [model.joint(name).kind.value for name in ("float", "yaw", "lift", "pitch", "ball")] == [
        "floating",
        "revolute",
        "prismatic",
        "continuous",
        "spherical",
    ]
    assert model.name == "every joint"


def test_a_site_with_the_name_of_a_body_is_told_apart() -> None:
    model = read_mjcf(DATA / "every_joint.xml")
    assert model.frame("base").link == model.frame("base/site").link == "base"
    np.testing.assert_allclose(model.frame("base/site").origin.xyz, [0, 0, 0.1])


def test_keyframes_are_postures_and_the_one_named_home_is_home() -> None:
    model = read_mjcf(DATA / "every_joint.xml")
    assert list(model.postures) == ["crouched", "home", "key2", "qpos0"]
    np.testing.assert_allclose(model.postures["key2"][:3], [1, 2, 3])
    np.testing.assert_array_equal(model.home, model.postures["home"])
    np.testing.assert_allclose(model.q()[model.index("yaw")], 0.1)


def test_without_keyframes_home_is_as_the_file_draws_it() -> None:
    model = read_mjcf(DATA / "arm.xml")
    np.testing.assert_array_equal(model.home, model.postures["qpos0"])
    assert model.home[model.index("elbow")] == -0.4


def test_nameless_things_are_numbered() -> None:
    model = read_mjcf(DATA / "nameless.xml")
    assert model.name == "nameless"
    assert model.joint_names == tuple(f"joint{i}" for i in range(6))
    assert {"body1", "body4", "site0", "site3"} <= set(model.frames)


def test_couplings_become_mimics_and_held_joints_are_fixed() -> None:
    with pytest.warns(ModelWarning):
        model = read_mjcf(DATA / "couplings.xml")
    assert model.joint_names == ("turn", "knuckle", "swivel")
    knuckle = 0.7
    middle = -0.2 - 0.1 + 1.5 * (knuckle - 0.3)
    distal = 0.05 + 0.5 * (middle + 0.2)
    named = model.named(model.q(knuckle=knuckle, turn=0.4))
    assert named["ring"] == pytest.approx(0.4 + 0.5 * 0.4**2, abs=1e-15)
    assert named["middle"] == pytest.approx(middle, abs=1e-15)
    assert named["distal"] == pytest.approx(distal, abs=1e-15)
    assert {joint.name for joint in model.joints if joint.kind is JointKind.FIXED} >= HELD.keys()
    # The middle joint's range, -0.5 to 2, is wider than what the knuckle's own lets it do.
    np.testing.assert_allclose([model.lower[1], model.upper[1]], [1 / 6, 1.2])
    np.testing.assert_allclose(model.home, model.postures["open"])
    assert list(model.postures) == ["open", "closed", "qpos0"]


def test_joints_keep_the_polynomials_that_couple_them() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ModelWarning)
        twin = Twin(DATA / "polynomials.xml")
    assert [str(one.message).split(": ", 1)[1] for one in caught] == [
        "limits of joints that follow others narrow these: 'knee' keeps -0.2 to 1.19295 of -0.2 to 2 for 'push'"
    ]
    assert twin.ours.joint_names == ("hip", "knee")
    for q in [*twin.ours.sample(4, seed=2), twin.ours.lower, twin.ours.upper]:
        twin.d.qpos[:] = twin.qpos(q)
        mujoco.mj_forward(twin.m, twin.d)
        coupled = twin.d.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY
        assert coupled.sum() == 4
        np.testing.assert_allclose(twin.d.efc_pos[coupled], 0.0, rtol=0, atol=1e-15)
        rows = twin.d.efc_J.reshape(-1, twin.m.nv)[coupled]
        np.testing.assert_allclose(rows @ twin.qvel(q), 0.0, rtol=0, atol=1e-14)
        assert twin.d.qpos[twin.m.joint("push").qposadr[0]] <= 0.3
        np.testing.assert_allclose(FromMuJoCo(twin.m).qpos(q, twin.m.qpos0), twin.d.qpos, rtol=0, atol=1e-15)


def test_what_a_tree_cannot_hold_is_warned_of_once() -> None:
    with pytest.warns(ModelWarning) as caught:
        read_mjcf(DATA / "couplings.xml")
    assert len(caught) == 1
    message = str(caught[0].message)
    assert "couplings.xml" in message
    for remark in ("second coupling of 'knuckle'", "swivel"):
        assert remark in message
    assert caught[0].filename == __file__


def write(folder: Path, text: str) -> Path:
    file = folder / "robot.xml"
    file.write_text(text)
    return file


FOLLOWING = """<mujoco model="hand"><compiler angle="radian"/><worldbody><body name="a"><geom size="0.01"/>
<joint name="a" range="0 0.8"/><body name="b"><geom size="0.01"/><joint name="b" range="{}"/></body></body></worldbody>
<equality><joint joint1="b" joint2="a" polycoef="0 -1 0 0 0"/></equality></mujoco>"""


@pytest.mark.parametrize(
    ("span", "upper", "said"),
    [
        (
            "0 0.9",
            0.8,
            "passed over; widen them, or correct multipliers and offsets: 'a' would keep 0 to 0 of 0 to 0.8",
        ),
        ("-0.5 0", 0.5, "limits of joints that follow others narrow these: 'a' keeps 0 to 0.5 of 0 to 0.8 for 'b'"),
    ],
)
def test_what_a_follower_leaves_of_its_leader_is_told(tmp_path: Path, span: str, upper: float, said: str) -> None:
    path = tmp_path / "hand.xml"
    path.write_text(FOLLOWING.format(span))
    with pytest.warns(ModelWarning, match=said):
        model = read_mjcf(path)
    assert (model.lower, model.upper) == (0.0, upper)


def test_blanks_before_the_declaration_are_no_matter(tmp_path: Path) -> None:
    path = tmp_path / "hand.xml"
    path.write_text('\n  <?xml version="1.0"?>\n' + FOLLOWING.format("-1 0"))
    assert read_mjcf(path).upper == 0.8


def test_an_attribute_that_no_mjcf_has_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "hand.xml"
    path.write_text(FOLLOWING.format("-1 0").replace('name="b" range', 'name="b" rnge'))
    with pytest.raises(ModelError, match="unrecognized attribute: 'rnge'") as caught:
        read_mjcf(path)
    assert caught.value.line == 2


def test_a_joint_held_outside_its_range_is_an_error(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        """<mujoco><compiler autolimits="true" angle="radian"/>
        <worldbody><body><joint name="a" range="0 1"/><geom size="1"/></body></worldbody>
        <equality><joint joint1="a" polycoef="2 0 0 0 0"/></equality></mujoco>""",
    )
    with pytest.raises(ModelError, match=r"robot\.xml: .*'a' at 2, outside its range 0 to 1"):
        read_mjcf(file)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("<mujoco>\n<worldbody>\n<body><joint foo='1'/></body></worldbody></mujoco>", 3, "unrecognized attribute"),
        ("<mujoco>\n<worldbody>\n<body></worldbody></mujoco>", 3, "XML_ERROR_MISMATCHED_ELEMENT"),
        ("<mujoco>\n<worldbody>\n<body>\n<joint/></body></worldbody></mujoco>", 3, "mass and inertia"),
        ("<mujoco>\n<include file='part.xml'/></mujoco>", 2, r"part\.xml"),
    ],
)
def test_what_mujoco_refuses_is_told_with_its_place(tmp_path: Path, text: str, line: int | None, words: str) -> None:
    with pytest.raises(ModelError, match=words) as caught:
        read_mjcf(write(tmp_path, text))
    assert caught.value.file == str(tmp_path / "robot.xml")
    assert caught.value.line == line


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"nowhere\.xml: no such file"):
        read_mjcf(tmp_path / "nowhere.xml")


def test_only_the_file_says_how_the_base_moves() -> None:
    with refused("conflict"):
        read_mjcf(DATA / "arm.xml", base="floating")


def test_without_mujoco_the_install_command_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(MissingExtra, match=r'pip install "poise\[mjcf\]"'):
        read_mjcf(DATA / "arm.xml")


def test_angles_in_degrees_are_radians_here() -> None:
    joint = read_mjcf(DATA / "every_joint.xml").joint("yaw")
    assert (joint.lower[0], joint.upper[0]) == pytest.approx((-math.pi / 2, 2 * math.pi / 3))


def test_radians_in_a_file_of_degrees_are_asked_about(tmp_path: Path) -> None:
    text = """<mujoco><compiler {}/><worldbody><body><joint name="a" range="-3.14 3.14"/><geom size="1"/>
        <body><joint name="b" range="0 2.9"/><geom size="1"/></body></body></worldbody></mujoco>"""
    with pytest.warns(ModelWarning, match=r'no hinge turns further than 6.3 degrees .* <compiler angle="radian"/>'):
        read_mjcf(write(tmp_path, text.format("")))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_mjcf(write(tmp_path, text.format('angle="radian"')))
        read_mjcf(write(tmp_path, text.format("").replace("3.14", "90")))


@pytest.mark.parametrize("file", list(installed()), ids=lambda file: file.name)
def test_no_robot_that_is_installed_is_asked_for_its_units(file: Path) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        read_mjcf(file)
    assert not any("degrees" in str(warning.message) for warning in caught)


BODY = """<mujoco><worldbody>
<body name="b" pos="{pos}" quat="{quat}"><joint name="h" axis="{axis}" pos="{anchor}" ref="{ref}" {range}/>
<geom size="0.1"/><site name="s" pos="{site}"/></body>
</worldbody><equality>{equality}</equality></mujoco>"""
SOUND = {"pos": "0 0 1", "quat": "1 0 0 0", "axis": "0 0 1", "anchor": "0 0 0", "ref": "0", "site": "0 0 0"}
HINGE = 'range="-1 1" limited="true"'


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"pos": "inf 0 0"}, r"body 'b' has the pos \[inf, 0.0, 0.0\]; every number must be finite"),
        ({"pos": "1e30 0 0"}, r"body 'b' has the pos \[1e\+30, 0.0, 0.0\]; .* beyond 2\^50"),
        ({"quat": "1 0 0 1e308"}, "body 'b' has (the|a zero) quaternion"),
        ({"axis": "inf 0 0"}, "joint 'h' has the axis"),
        ({"anchor": "0 inf 0"}, "joint 'h' has the pos"),
        ({"ref": "inf"}, "joint 'h' has the ref"),
        ({"site": "0 0 -inf"}, "site 's' has the pos"),
        ({"range": 'range="-1e30 1e30" limited="true"'}, r"joint 'h' has the limit -.*; beyond 2\^50"),
        ({"equality": '<joint joint1="h" polycoef="inf 0 0 0 0"/>'}, "the coupling of 'h' has the polycoef"),
    ],
)
def test_what_is_no_number_is_told_with_its_element(tmp_path: Path, changes: dict[str, str], words: str) -> None:
    file = tmp_path / "b.xml"
    file.write_text(BODY.format(**{**SOUND, "range": HINGE, "equality": "", **changes}))
    with pytest.raises(ModelError, match=words) as caught:
        read_mjcf(file)
    assert caught.value.file == str(file)


def test_a_name_that_is_no_text_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "b.xml"
    text = BODY.format(**SOUND, range=HINGE, equality="").encode()
    file.write_bytes(text.replace(b'"b"', b'"\xed\xa0"'))
    with pytest.raises(ModelError, match=r"b.xml: a name cannot be decoded as text: .*; save it as UTF-8"):
        read_mjcf(file)


def test_a_file_that_is_too_large_is_refused_before_mujoco_reads_it(tmp_path: Path) -> None:
    file = tmp_path / "b.xml"
    with file.open("wb") as stream:
        stream.write(b"<mujoco>")
        stream.truncate(65 * 2**20)
    with pytest.raises(ModelError, match=r"b.xml: the file has more than 64 MiB, which no robot needs"):
        read_mjcf(file)

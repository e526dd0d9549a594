"""Whatever is thrown at the readers, only ModelError comes out, and what they accept is a sound model.

Sound is a model whose frames stand somewhere, at home, at its limits and in every posture, and whose coordinates have
names of their own.
"""

import importlib.util
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from poise.common.errors import ModelError, ModelWarning
from poise.io import load
from poise.io.mjcf import read_mjcf
from poise.io.urdf import parse_urdf, read_urdf
from poise.model.dh import DH, from_dh
from poise.model.model import Model
from poise.spatial import LARGEST

Change = Callable[[str], str]
URDF = """<?xml version="1.0"?>
<robot name="r">
<link name="world"/>
<link name="a"><visual><geometry><mesh filename="package://p/m.stl"/></geometry></visual></link>
<link name="b">
<visual>
<origin xyz="0 0 0.1" rpy="0.1 0.2 0.3"/>
<geometry><capsule radius="0.1" length="0.2"/></geometry>
<material name="m"><color rgba="1 0 0 1"/></material>
</visual>
</link>
<link name="c"><inertial><origin xyz="0.1 0 0"/><mass value="2"/></inertial></link>
<link name="d"/>
<joint name="j" type="revolute">
<parent link="world"/>
<child link="a"/>
<origin xyz="0 0 1" rpy="0.1 0.2 0.3"/>
<axis xyz="0 0 1"/>
<limit lower="-1" upper="1" velocity="2" effort="3"/>
</joint>
<joint name="k" type="prismatic">
<parent link="a"/>
<child link="b"/>
<limit lower="-1" upper="1" velocity="2" effort="3"/>
<mimic joint="j" multiplier="2" offset="0.1"/>
</joint>
<joint name="l" type="planar">
<parent link="b"/>
<child link="c"/>
</joint>
<joint name="q" type="spherical">
<parent link="c"/>
<child link="d"/>
</joint>
</robot>
"""
MJCF = """<mujoco model="m">
<compiler angle="radian" autolimits="true"/>
<worldbody>
<body name="base" pos="0.1 -0.2 0.7" quat="1 0 0 0">
<freejoint name="f"/>
<geom size="0.1" mass="1"/>
<body name="a" pos="0 0 0.2">
<joint name="j" axis="0 0 1" pos="0.01 0.02 0.03" range="-1 1" ref="0.2"/>
<joint name="l" type="slide" axis="0 1 1" range="-0.2 0.4"/>
<geom size="0.1"/>
<geom type="cylinder" size="0.1 0.2" contype="0" conaffinity="0" rgba="1 0 0 1"/>
<site name="s" pos="0.1 0 0" quat="0 1 0 0"/>
<body name="b" pos="0.3 0 0">
<joint name="k" axis="0 1 0" range="-2 2"/>
<joint name="w" axis="1 0 0"/>
<joint name="o" type="ball"/>
<inertial pos="0 0 0.1" mass="2" diaginertia="1 1 1"/>
</body>
</body>
</body>
</worldbody>
<equality>
<joint joint1="k" joint2="j" polycoef="0.1 0.5 0 0 0"/>
<joint joint1="w" polycoef="0.1 0 0 0 0"/>
</equality>
<keyframe>
<key name="home" qpos="0 0 0.4 1 0 0 0 0.2 0.1 0.2 0.1 1 0 0 0"/>
</keyframe>
</mujoco>
"""
MESHES = """<mujoco>
<compiler meshdir="none"/>
<asset>
<mesh name="m" file="m.stl"/>
<mesh file="n.obj" scale="1 2 3"/>
<hfield name="h" file="h.png" size="1 1 1 1"/>
<texture name="t" type="2d" file="t.png"/>
<material name="p" texture="t"/>
</asset>
<worldbody>
<geom type="hfield" hfield="h"/>
<body name="a">
<joint name="j" range="0 90"/>
<geom type="mesh" mesh="m" material="p"/>
<body name="b">
<joint name="k" type="slide"/>
<geom name="g" type="capsule" mesh="n"/>
<geom size="0.1"/>
</body>
</body>
</worldbody>
<contact>
<exclude body1="a" body2="b"/>
</contact>
</mujoco>
"""
XACRO = """<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">
<xacro:arg name="length" default="1"/>
<xacro:property name="half" value="${0.5 * 3}"/>
<xacro:macro name="arm" params="name parent:=base">
<link name="${name}"/>
<joint name="${name}_joint" type="continuous">
<parent link="${parent}"/>
<child link="${name}"/>
<origin xyz="0 0 ${half}"/>
</joint>
</xacro:macro>
<link name="base"/>
<xacro:arm name="upper"/>
<xacro:if value="$(arg length)">
<xacro:arm name="lower" parent="upper"/>
</xacro:if>
</robot>
"""
SRDF = """<robot name="r">
<virtual_joint name="v" type="planar" parent_frame="odom" child_link="root"/>
<group name="g">
<joint name="j"/>
<link name="b"/>
<chain base_link="a" tip_link="c"/>
<group name="h"/>
</group>
<group name="h">
<joint name="l"/>
</group>
<group_state name="home" group="g">
<joint name="j" value="0.4"/>
<joint name="l" value="0.1 0.2 0.3"/>
<joint name="q" value="0 0 0.6 0.8"/>
</group_state>
<group_state name="other" group="g">
<joint name="v" value="1 2 0.3"/>
<joint name="j" value="-1"/>
</group_state>
</robot>
"""
VALUES = [
    *("", " ", "nan", "inf", "-inf", "1e999", "1e308", "-1e100", "1e-320", "0", "0 0 0", "1 2", "1 2 3 4", "1_0"),
    *("1e16", "-1e16", "1e15", "-1e15", "1e30", "1e9", "1e-9", "1e6", "inf 0 0", "1e200 1e200 0", "f.x", "0 0 0 0"),
    *("0x1p3", "1,5", "\u0661", "a", "b", "c", "j", "k", "l", "world", "&lt;", "&x;", "\0", "\ud800", "a" * 300, "//"),
    *("fixed", "revolute", "continuous", "prismatic", "helical", "spherical", "floating", "ball", "1e308 1 1e308"),
]
FRAGMENTS = [
    *("<", ">", "</robot>", "</joint>", "<a>" * 3000, "<!--", "-->", "<![CDATA[", "<?pi?>", "\ufeff", "<x:y/>"),
    *('<link name="a"/>', "<origin/>", '<axis xyz="0 0 0"/>', '<mimic joint="l"/>', "<limit/>", "<mesh/>"),
    '<!DOCTYPE a [<!ENTITY b "c">]>',
]


def mutations(seed: str) -> st.SearchStrategy[list[Change]]:
    """Up to four changes of a document like `seed`."""
    lines = seed.count("\n")
    attributes = st.builds(
        lambda which, value: lambda text: _replace(r'"[^"]*"', text, which, f'"{value}"'),
        st.integers(0, 2 * lines),
        st.sampled_from(VALUES) | st.text(max_size=8) | st.floats().map(str),
    )
    inserts = st.builds(
        lambda at, piece: lambda text: text[: at % (len(text) + 1)] + piece + text[at % (len(text) + 1) :],
        st.integers(0, 2000),
        st.sampled_from(FRAGMENTS),
    )
    drops = st.builds(
        lambda line: lambda text: _lines(text, lambda rows: rows[:line] + rows[line + 1 :]), st.integers(0, lines)
    )
    doubles = st.builds(
        lambda line: lambda text: _lines(text, lambda rows: rows[: line + 1] + rows[line:]), st.integers(0, lines)
    )
    cuts = st.builds(lambda at: lambda text: text[:at], st.integers(0, len(seed)))
    tags = st.builds(
        lambda which, tag: lambda text: _replace(r"(?<=<)\w+", text, which, tag),
        st.integers(0, lines),
        st.sampled_from(["link", "joint", "axis", "robot", "mujoco", "x:link", "1", "body", "site", "freejoint"]),
    )
    return st.lists(st.one_of(attributes, attributes, attributes, inserts, drops, doubles, cuts, tags), max_size=4)


def changed(text: str, changes: list[Change]) -> str:
    for change in changes:
        text = change(text)
    return text


def _replace(pattern: str, text: str, which: int, piece: str) -> str:
    found = list(re.finditer(pattern, text))
    if not found:
        return text
    start, end = found[which % len(found)].span()
    return text[:start] + piece + text[end:]


def _lines(text: str, change: Callable[[list[str]], list[str]]) -> str:
    return "".join(change(text.splitlines(keepends=True)))


@contextmanager
def only_model_errors(place: str) -> Iterator[None]:
    """Anything but a ModelError that opens with the place is a failure; warnings of what is passed over are none."""
    refused = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        try:
            yield
        except ModelError as error:
            refused = str(error)
    assert refused is None or refused.startswith(place), refused


def check_sound(model: Model) -> None:
    assert (model.lower <= model.upper).all()
    assert (model.velocity > 0.0).all()
    assert len({*model.coordinates, *(joint.name for joint in model.joints if joint.mimic)}) == len(
        model.named(model.home)
    )
    ends = [np.where(np.isfinite(end), end, model.home) for end in (model.lower, model.upper)]
    places = np.stack([model.home, *ends, *model.postures.values(), model.sample(seed=0)])
    for frame in model.frames:
        poses = model.pose(frame, places).array
        assert np.isfinite(poses).all()
        np.testing.assert_allclose(np.linalg.norm(poses[:, 3:], axis=1), 1.0, rtol=0, atol=1e-9)
        assert np.isfinite(model.jacobian(frame, places)).all()
    if model.mass:
        assert np.isfinite(model.centre_of_mass(places)).all()
    for joint in model.joints:
        assert np.isclose(np.linalg.norm(joint.axis), 1.0)


def read(document: str | bytes, base: str) -> None:
    with only_model_errors("fuzz.urdf:"):
        check_sound(parse_urdf(document, file="fuzz.urdf", base=base))  # type: ignore[arg-type]


often = settings(
    max_examples=150,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
seldom = settings(often, max_examples=60)


@often
@given(mutations(URDF), st.sampled_from(["fixed", "floating", "planar"]))
def test_mutated_urdfs(changes: list[Change], base: str) -> None:
    read(changed(URDF if base == "fixed" else URDF.replace('"world"', '"root"'), changes), base)


@seldom
@given(st.binary(max_size=200), st.integers(0, len(URDF)))
def test_bytes(noise: bytes, at: int) -> None:
    read(noise, "fixed")
    read(URDF[:at].encode() + noise + URDF[at:].encode(), "fixed")


@often
@given(mutations(MJCF))
@pytest.mark.skipif(not importlib.util.find_spec("mujoco"), reason="needs mujoco")
def test_mutated_mjcfs(tmp_path: Path, changes: list[Change]) -> None:
    file = tmp_path / "fuzz.xml"
    file.write_text(changed(MJCF, changes), "utf-8", errors="surrogatepass")
    with pytest.MonkeyPatch.context() as patch, only_model_errors(f"{file}:"):
        patch.chdir(tmp_path)  # where MuJoCo writes MUJOCO_LOG.TXT
        check_sound(read_mjcf(file))


@often
@given(mutations(MESHES))
@pytest.mark.skipif(not importlib.util.find_spec("mujoco"), reason="needs mujoco")
def test_mutated_mjcf_texts_without_their_files(tmp_path: Path, changes: list[Change]) -> None:
    text = changed(MESHES, changes)
    with pytest.MonkeyPatch.context() as patch, only_model_errors("the text:"):
        patch.chdir(tmp_path)  # where MuJoCo writes MUJOCO_LOG.TXT
        check_sound(load(f"<{text.lstrip('<')}"))


@seldom
@given(mutations(XACRO))
@pytest.mark.skipif(not importlib.util.find_spec("xacro"), reason="needs xacro")
def test_mutated_xacros(tmp_path: Path, changes: list[Change]) -> None:
    file = tmp_path / "fuzz.xacro"
    file.write_text(changed(XACRO, changes), "utf-8", errors="surrogatepass")
    with only_model_errors(f"{file}"):
        check_sound(load(file, xacro_args={"length": 2}))


@seldom
@given(mutations(SRDF), st.sampled_from(["fixed", "planar", "floating"]))
def test_mutated_srdfs(tmp_path: Path, changes: list[Change], base: str) -> None:
    urdf, srdf = tmp_path / "r.urdf", tmp_path / "r.srdf"
    urdf.write_text(URDF if base == "fixed" else URDF.replace('"world"', '"root"'))
    srdf.write_text(changed(SRDF, changes), "utf-8", errors="surrogatepass")
    with only_model_errors(f"{srdf}:"):
        check_sound(read_urdf(urdf, base=base))  # type: ignore[arg-type]


ODD: list[Any] = [
    *(None, "1", "", [1.0], (1.0, 2.0, 3.0), {}, True, np.nan, np.inf, -np.inf, 1e308, -1e100, 2 * LARGEST, 1e-320),
    *(
        (-np.inf, 1e30),
        (2, 1),
        ("a", "b"),
        (np.nan, 1),
        (-1, 1),
        np.float32(0.3),
        np.array([0.1]),
        "prismatic",
        "joint1",
    ),
]


@often
@given(
    st.lists(
        st.tuples(
            st.integers(0, 3),
            st.sampled_from(["a", "alpha", "d", "theta", "kind", "limits", "velocity", "name", "link"]),
            st.sampled_from(ODD) | st.floats(),
        ),
        max_size=3,
    ),
    st.sampled_from(["standard", "modified"]),
)
def test_odd_dh_rows(changes: list[tuple[int, str, Any]], convention: str) -> None:
    rows = [DH(0.3, 0.1, 0.2, limits=(-1, 2)), DH(0.0, 1.57, 0.1, kind="prismatic", velocity=2.0), DH(0.2, 0, 0)] * 2
    for number, field, value in changes:
        rows[number] = replace(rows[number], **{field: value})
    with only_model_errors("DH row "), warnings.catch_warnings():
        warnings.filterwarnings("ignore", r".*degrees\?", UserWarning)
        check_sound(from_dh(rows, convention=convention))  # type: ignore[arg-type]

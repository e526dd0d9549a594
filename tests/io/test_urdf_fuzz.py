"""Whatever is thrown at the URDF reader, only ModelError comes out, and what it accepts is a sound model."""

import re
import warnings
from collections.abc import Callable

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from poise.errors import ModelError, ModelWarning
from poise.io.urdf import parse_urdf

SEED = """<?xml version="1.0"?>
<robot name="r">
<link name="world"/>
<link name="a"><visual><geometry><mesh filename="package://p/m.stl"/></geometry></visual></link>
<link name="b"/>
<link name="c"/>
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
</robot>
"""
VALUES = [
    *("", " ", "nan", "inf", "-inf", "1e999", "1e308", "-1e100", "1e-320", "0", "0 0 0", "1 2", "1 2 3 4", "1_0"),
    *("0x1p3", "1,5", "\u0661", "a", "b", "c", "j", "k", "l", "world", "&lt;", "&x;", "\0", "\ud800", "a" * 300, "//"),
    *("fixed", "revolute", "continuous", "prismatic", "helical", "spherical", "floating", "ball", "1e308 1 1e308"),
]
FRAGMENTS = [
    *("<", ">", "</robot>", "</joint>", "<a>" * 3000, "<!--", "-->", "<![CDATA[", "<?pi?>", "\ufeff", "<x:y/>"),
    *('<link name="a"/>', "<origin/>", '<axis xyz="0 0 0"/>', '<mimic joint="l"/>', "<limit/>", "<mesh/>"),
    '<!DOCTYPE a [<!ENTITY b "c">]>',
]

attributes = st.builds(
    lambda which, value: lambda text: _replace(r'"[^"]*"', text, which, f'"{value}"'),
    st.integers(0, 60),
    st.sampled_from(VALUES) | st.text(max_size=8) | st.floats().map(str),
)
inserts = st.builds(
    lambda at, piece: lambda text: text[: at % (len(text) + 1)] + piece + text[at % (len(text) + 1) :],
    st.integers(0, 2000),
    st.sampled_from(FRAGMENTS),
)
drops = st.builds(
    lambda line: lambda text: _lines(text, lambda rows: rows[:line] + rows[line + 1 :]), st.integers(0, 26)
)
doubles = st.builds(
    lambda line: lambda text: _lines(text, lambda rows: rows[: line + 1] + rows[line:]), st.integers(0, 26)
)
cuts = st.builds(lambda at: lambda text: text[:at], st.integers(0, 1000))
tags = st.builds(
    lambda which, tag: lambda text: _replace(r"(?<=<)\w+", text, which, tag),
    st.integers(0, 30),
    st.sampled_from(["link", "joint", "axis", "robot", "mujoco", "x:link", "1"]),
)
mutations = st.lists(st.one_of(attributes, attributes, attributes, inserts, drops, doubles, cuts, tags), max_size=4)


def _replace(pattern: str, text: str, which: int, piece: str) -> str:
    found = list(re.finditer(pattern, text))
    if not found:
        return text
    start, end = found[which % len(found)].span()
    return text[:start] + piece + text[end:]


def _lines(text: str, change: Callable[[list[str]], list[str]]) -> str:
    return "".join(change(text.splitlines(keepends=True)))


def read(document: str | bytes, base: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        try:
            model = parse_urdf(document, file="fuzz.urdf", base=base)  # type: ignore[arg-type]
        except ModelError as error:
            model, place = None, error.file
    if model is None:
        assert place == "fuzz.urdf"
        return
    assert (model.lower <= model.upper).all()
    assert np.isfinite(model.home).all()
    for joint in model.joints:
        assert np.isfinite(joint.origin.array).all()
        assert np.isclose(np.linalg.norm(joint.axis), 1.0)


@settings(max_examples=300, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(mutations, st.sampled_from(["fixed", "floating", "planar"]))
def test_mutated_documents(changes: list[Callable[[str], str]], base: str) -> None:
    text = SEED if base == "fixed" else SEED.replace('"world"', '"root"')
    for change in changes:
        text = change(text)
    read(text, base)


@settings(max_examples=100, derandomize=True, deadline=None)
@given(st.binary(max_size=200), st.integers(0, len(SEED)))
def test_bytes(noise: bytes, at: int) -> None:
    read(noise, "fixed")
    read(SEED[:at].encode() + noise + SEED[at:].encode(), "fixed")

"""Denavit-Hartenberg tables: every link frame is the product of the convention's matrices."""

import math
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.refusals import refused

from poise.common.array import Array
from poise.common.errors import ModelError
from poise.model.dh import DH, Convention, from_dh
from poise.spatial import SE3


def rot(axis: Literal["x", "z"], angle: float) -> Array:
    c, s = math.cos(angle), math.sin(angle)
    if axis == "x":
        return np.array([[1, 0, 0, 0], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1.0]])
    return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])


def trans(x: float, z: float) -> Array:
    out = np.eye(4)
    out[0, 3], out[2, 3] = x, z
    return out


def matrix(row: DH, position: float, convention: Convention) -> Array:
    theta = row.theta + (position if row.kind == "revolute" else 0.0)
    d = row.d + (position if row.kind == "prismatic" else 0.0)
    if convention == "standard":
        return rot("z", theta) @ trans(0, d) @ trans(row.a, 0) @ rot("x", row.alpha)
    return rot("x", row.alpha) @ trans(row.a, 0) @ rot("z", theta) @ trans(0, d)


numbers = st.sampled_from([0.0, 0.5 * math.pi, -0.5 * math.pi]) | st.floats(-2, 2, allow_subnormal=False)
kinds = st.sampled_from(["revolute", "prismatic"])
tables = st.lists(st.builds(DH, numbers, numbers, numbers, numbers, kind=kinds), min_size=1, max_size=6)


@settings(max_examples=50)
@given(rows=tables, convention=st.sampled_from(["standard", "modified"]), data=st.data())
def test_links_are_the_products_of_the_matrices(rows: list[DH], convention: Convention, data: st.DataObject) -> None:
    base, tool = SE3.from_xyz_rpy([1, 2, 3], [0.1, 0.2, 0.3]), SE3.from_xyz_rpy([0.1, 0, 0.2], [1, 0, 0])
    arm = from_dh(rows, convention=convention, base=base, tool=tool)
    q = np.array(data.draw(st.lists(numbers, min_size=len(rows), max_size=len(rows))))
    wanted = base.matrix()
    np.testing.assert_allclose(arm.pose("link0", q).matrix(), wanted, rtol=0, atol=1e-12)
    for i, row in enumerate(rows):
        wanted = wanted @ matrix(row, q[i], convention)
        np.testing.assert_allclose(arm.pose(f"link{i + 1}", q).matrix(), wanted, rtol=0, atol=1e-12)
    np.testing.assert_allclose(arm.pose("tool", q).matrix(), wanted @ tool.matrix(), rtol=0, atol=1e-12)


def test_names_limits_and_speeds_are_the_rows() -> None:
    arm = from_dh(
        [
            DH(0.3, 0.0, 0.1, limits=(-1, 2), velocity=3),
            DH(0.0, 0.5, 0.0, kind="prismatic", limits=(0, 0.4), name="slide", link="ram"),
            DH(0.0, 0.0, 0.0),
        ],
        name="crane",
    )
    assert arm.name == "crane"
    assert arm.joint_names == ("joint1", "slide", "joint3")
    assert {"link0", "link1", "ram", "link3", "tool"} <= set(arm.links)
    assert arm.tip == "tool"
    np.testing.assert_array_equal(arm.lower, [-1, 0, -np.inf])
    np.testing.assert_array_equal(arm.upper, [2, 0.4, np.inf])
    np.testing.assert_array_equal(arm.velocity, [3, np.inf, np.inf])


def test_a_modified_table_needs_no_link_but_its_own() -> None:
    arm = from_dh([DH(0.0, 0.0, 0.3), DH(0.5, 1.0, 0.0)], convention="modified")
    assert arm.links == ("link0", "link1", "link2", "tool")


GOOD = DH(0.1, 0.2, 0.3)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"a": math.nan}, "DH row 2 of 'dh' has a = nan; it must be a finite"),
        ({"alpha": math.inf}, "DH row 2 of 'dh' has alpha = inf"),
        ({"d": -math.inf}, "DH row 2 of 'dh' has d = -inf"),
        ({"theta": math.nan}, "DH row 2 of 'dh' has theta = nan"),
        ({"kind": "screw"}, "DH row 2 of 'dh' has the kind 'screw'; it must be 'revolute' or 'prismatic'"),
        ({"a": 1e308}, r"DH row 2 of 'dh' has a = 1e\+308; beyond 2\^50 = 1.13e\+15"),
        ({"d": "0.3"}, "DH row 2 of 'dh' has d = '0.3'; it must be a finite number"),
        ({"theta": None}, "DH row 2 of 'dh' has theta = None; it must be a finite number"),
        ({"alpha": [0.1]}, r"DH row 2 of 'dh' has alpha = \[0.1\]; it must be a finite number"),
        ({"a": True}, "DH row 2 of 'dh' has a = True; it must be a finite number"),
        ({"limits": (1.0, -1.0)}, "DH row 2 of 'dh': joint 'joint2' has its limits the wrong way round"),
        ({"limits": (-1e30, 1e30)}, r"DH row 2 of 'dh': joint 'joint2' has the limit -1e\+30; beyond 2\^50"),
        ({"limits": (0.5,)}, r"DH row 2 of 'dh' has the limits \(0.5,\); write two numbers"),
        ({"limits": ("a", "b")}, r"DH row 2 of 'dh' has the limits \('a', 'b'\); write two numbers"),
        ({"limits": 1.0}, "DH row 2 of 'dh' has the limits 1.0; write two numbers"),
        ({"velocity": "fast"}, "DH row 2 of 'dh' has the velocity 'fast'; write a number, or None for none"),
        ({"velocity": 0.0}, "DH row 2 of 'dh': joint 'joint2' has a velocity limit of 0; make it fixed"),
        ({"name": 2}, "DH row 2 of 'dh' has the name 2; it must be text"),
        ({"link": 2}, "DH row 2 of 'dh' has the link 2; it must be text"),
        ({"name": "joint1"}, "DH row 2 of 'dh': joint 'joint1' is declared twice"),
    ],
)
def test_a_bad_row_is_named(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ModelError, match=words):
        from_dh([GOOD, replace(GOOD, **changes)])


def test_a_row_is_a_dh() -> None:
    with pytest.raises(ModelError, match=r"DH row 2 of 'dh' is \(0, 0, 1\); write DH\(a=..., alpha=..., d=..., theta="):
        from_dh([GOOD, (0, 0, 1)])  # type: ignore[list-item]


def test_a_table_has_rows_and_a_convention() -> None:
    with pytest.raises(ModelError, match="'dh' has no DH rows"):
        from_dh([])
    with refused("unknown-word", "'modified'"):
        from_dh([GOOD], convention="craig")  # type: ignore[arg-type]

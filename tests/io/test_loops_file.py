"""Loops beside a robot's file: which one is found, what it says, and what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.mechanisms import gap
from support.refusals import refused

import poise as pz
from poise.common.errors import ModelWarning
from poise.io.loops_file import find_loops

LINKS = "".join(f'<link name="{name}"/>' for name in ("base", "crank", "bar", "rocker", "bar_end", "rocker_end"))


def joint(name: str, parent: str, child: str, x: float, *, kind: str = "revolute", limit: str = "") -> str:
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{x} 0 0"/><axis xyz="0 0 1"/><limit effort="1" velocity="2" {limit}/></joint>'
    )


FOUR_BAR = f"""<robot name="four_bar">{LINKS}
{joint("motor", "base", "crank", 0.0, limit='lower="-7" upper="7"')}
{joint("ball", "crank", "bar", 0.4)}
{joint("rocker_pin", "base", "rocker", 1.0)}
{joint("bar_tip", "bar", "bar_end", 1.0, kind="fixed")}
{joint("closing", "rocker", "rocker_end", 0.8)}
</robot>"""
OURS = """
[[loops]]
first = "bar_end"
second = "rocker_end"
[joints]
"ba[l]*" = "spherical"
"""
OURS_AS_YAML = "loops:\n  - [bar_end, rocker_end, hinge]\nactuated: [motor]\n"
THEIRS = """closed_loop: [['bar_tip', 'closing']]
type: ['6D']
name_mot: ['motor']
joint_name: ["rocker_pin"]
joint_type: ["UJOINT_ZX"]  # one more hinge than is needed
"""


def load(folder: Path, text: str, name: str, **more: Any) -> pz.Model:
    (folder / "robot.urdf").write_text(FOUR_BAR)
    (folder / name).write_text(text)
    return pz.load(folder / "robot.urdf", **more)


@pytest.mark.parametrize(
    ("name", "text", "kind", "nq"),
    [
        ("robot.loops.toml", OURS, "point", 7),
        ("robot.loops.yaml", OURS_AS_YAML, "hinge", 4),
        ("robot.yaml", OURS_AS_YAML, "hinge", 4),
        ("robot.yaml", THEIRS, "pose", 5),
        ("robot.yml", THEIRS.replace("6D", "3d"), "point", 5),
    ],
)
def test_loops_beside_a_urdf_are_read_and_closed(tmp_path: Path, name: str, text: str, kind: str, nq: int) -> None:
    model = load(tmp_path, text, name)
    assert [(loop.first, loop.second, loop.kind) for loop in model.loops] == [("bar_end", "rocker_end", kind)]
    assert model.nq == nq
    found = pz.solve(model, pz.JointCouplingTask({"motor": 1.0}, target=1.0))
    assert found.success, found.explain()
    first, second = model.poses(found.q, ["bar_end", "rocker_end"]).xyz
    assert np.linalg.norm(first - second) < 1e-7
    if kind == "hinge":
        assert gap(model, found.q) < 1e-6
    assert model.groups.get("actuated", ("motor",)) == ("motor",)


def test_limits_without_ends_are_none_where_loops_are_stated(tmp_path: Path) -> None:
    model = load(tmp_path, OURS_AS_YAML, "robot.yaml")
    assert model.upper[model.index("rocker_pin")] == np.inf
    assert model.upper[model.index("motor")] == 7.0
    with pytest.warns(ModelWarning, match="holds its joint at 0"):
        held = pz.load(tmp_path / "robot.urdf", loops=None)
    assert held.upper[held.index("rocker_pin")] == 0.0
    assert held.loops == ()


def test_loops_are_given_in_python_too(tmp_path: Path) -> None:
    (tmp_path / "robot.urdf").write_text(FOUR_BAR)
    model = pz.load(tmp_path / "robot.urdf", loops=[("bar_tip", "closing")], joints={"ball": "universal"})
    assert model.loops == (pz.Loop("bar_end", "rocker_end"),)
    assert [name for name in model.joint_names if "ball" in name] == ["ball_x", "ball_y"]
    again = pz.load(FOUR_BAR, loops=[pz.Loop("bar_end", "rocker_end", "plane")], joints={"ball": "spherical"})
    assert again.joint("ball").kind == "spherical"
    assert again.loops[0].kind == "plane"
    (tmp_path / "elsewhere.toml").write_text(OURS)
    assert pz.load(FOUR_BAR, loops=tmp_path / "elsewhere.toml").loops == model.loops


def test_a_model_keeps_its_postures_where_joints_become_others() -> None:
    b = pz.ModelBuilder("arm")
    b.joint("a", "revolute", parent="base", child="one", limits=(-1, 1))
    b.joint("b", "revolute", parent="one", child="two", limits=(-1, 1))
    b.joint("c", "revolute", parent="two", child="three", limits=(0.5, 1))
    b.group("all", ["a", "b", "c"])
    b.posture("up", {"a": [0.3], "b": [0.2], "c": [0.7]})
    model = b.build().with_loops([], joints={"b": "universal_zx"}, actuated=["a"])
    assert model.groups["all"] == ("a", "b_z", "b_x", "c")
    assert model.groups["actuated"] == ("a",)
    np.testing.assert_allclose(model.postures["up"], [0.3, 0.0, 0.0, 0.7])
    turned = model.pose("two", model.q(b_z=0.3, b_x=0.4)).rotation
    np.testing.assert_allclose(
        turned.matrix(), (pz.SO3.from_rpy([0, 0, 0.3]) @ pz.SO3.from_rpy([0.4, 0, 0])).matrix(), atol=1e-12
    )


def test_a_plain_yaml_that_tells_of_no_loops_is_left_alone(tmp_path: Path) -> None:
    with pytest.warns(ModelWarning, match="holds its joint at 0"):
        assert load(tmp_path, "controllers: [loops, closed_loop]\n", "robot.yaml").loops == ()
    assert find_loops(tmp_path / "robot.urdf") is None
    assert find_loops(tmp_path / "robot.xml") is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("closed_loop: [[a, closing]]", "'a'"),
        ("closed_loop: [[bar_tip, closing]]\ntype: ['6d', '3d']", "side by side"),
        ("closed_loop: [[bar_tip, closing]]\ntype: 5d", "6d or 3d"),
        ("closed_loop: [[bar_tip]]", "two names"),
        ("closed_loop: bar_tip", "list of pairs"),
        ("closed_loop: [[bar_tip, closing]\n", "no YAML"),
        ("closed_loop: [[bar_tip, closing]]\njoint_name: [ball]\njoint_type: [HINGE]", "UJOINT_XY"),
        ("loops: [{first: bar_end}]", "first and second"),
        ("loops: [[bar_end, rocker_end, weld]]", "the kinds are"),
        ("loops: [[bar_end, bar]]", "closes nothing"),
        ("loops: [[bar_end, bar_end]]", "named twice"),
        ("loops: [[bar_end, rocker_end]]\njoints: {none*: spherical}", "none"),
        ("loops: [[bar_end, rocker_end]]\nactuated: [moter]", "motor"),
        ("loops: 3", "must be a list"),
    ],
)
def test_what_is_no_file_of_loops_is_refused_by_name(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(pz.ModelError) as found:
        load(tmp_path, text, "robot.yaml")
    assert words in str(found.value)
    assert "robot.yaml" in str(found.value)


def test_words_that_are_none_are_refused_and_keys_passed_over_are_told(tmp_path: Path) -> None:
    with refused("unknown-word", "'spherical'"):
        pz.load(FOUR_BAR, loops=[("bar_end", "rocker_end")], joints={"ball": "loose"})
    with refused("wrong-length"):
        pz.load(FOUR_BAR, loops=["bar_end"])
    with pytest.raises(pz.ModelError, match=r"ends in \.toml or \.yaml"):
        pz.load(FOUR_BAR, loops=tmp_path / "arm.json")
    with pytest.warns(ModelWarning, match="name_mots.*passed over.*name_mot"):
        load(tmp_path, THEIRS.replace("name_mot", "name_mots"), "robot.yaml")


@pytest.mark.parametrize("name", ["bar.loops.toml", "bar.loops.yaml"])
def test_lists_that_are_nested_too_deep_are_refused_by_name(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_text(("loops = " if name.endswith("toml") else "loops: ") + 3000 * "[")
    with pytest.raises(pz.ModelError, match=rf"{name}.*nested too deep"):
        pz.load("planar3", loops=file)


def test_a_list_of_joints_and_one_name_of_a_motor_are_refused() -> None:
    names: Any = ["joint1"]
    for call in (lambda: pz.load("planar3", joints=names), lambda: pz.load("planar3").with_loops([], joints=names)):
        with refused("wrong-type", "joints must map"):
            call()
    with refused("wrong-type", "actuated must be names"):
        pz.load("planar3").with_loops([], actuated="joint1")

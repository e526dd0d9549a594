"""The report on a motion that was carried to a robot."""

import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.figures import legible, named
from support.readable import assert_readable
from support.refusals import refused

import poise as pz
from poise.common.array import Array
from poise.common.errors import ShapeError
from poise.geometry.shapes import Box
from poise.model.builder import ModelBuilder
from poise.model.model import Model
from poise.motion.clip import Motion
from poise.spatial import SE3
from poise_motion.anatomy.body import BodyMap
from poise_motion.contact.contacts import contacts
from poise_motion.report.report import Report, report

PARTS = {
    "pelvis": "pelvis",
    "left_knee": "left_shin",
    "left_ankle": "left_foot",
    "right_knee": "right_shin",
    "right_ankle": "right_foot",
}
BODY = BodyMap(PARTS, PARTS, ("left_ankle", "right_ankle"))


def walker(feet: bool = True) -> Model:
    """A pelvis on two legs of 0.8 m, each with a hip, a knee and an ankle that bend."""
    builder = ModelBuilder("walker")
    for side, y in (("left", 0.1), ("right", -0.1)):
        chain = ("pelvis", f"{side}_thigh", f"{side}_shin", f"{side}_foot")
        for k, (name, high) in enumerate((("hip", 0.0), ("knee", -0.4), ("ankle", -0.35))):
            builder.joint(
                f"{side}_{name}", "revolute", parent=chain[k], child=chain[k + 1], axis=(0.0, 1.0, 0.0),
                origin=SE3.from_parts([0.0, y if k == 0 else 0.0, high]), limits=(-2.0, 2.0), velocity=20.0,
            )  # fmt: skip
        if feet:
            builder.shape(f"{side}_foot", Box(SE3.from_parts([0.05, 0.0, -0.03]), (0.2, 0.08, 0.04)))
    return builder.build(base="floating")


def standing(model: Model, frames: int = 61) -> Motion:
    """It bends its left knee, lifts that foot and puts it down again, 60 frames a second."""
    times = np.arange(frames) / 60.0
    lift = np.sin(np.pi * np.clip((times - 0.3) / 0.4, 0.0, 1.0)) ** 2
    q = np.tile(model.neutral, (frames, 1))
    q[:, 2] = 0.8
    for joint, angle in (("left_hip", -0.8), ("left_knee", 1.6), ("left_ankle", -0.8)):
        q[:, model.index(joint).start] = angle * lift
    return Motion(model, times, q, name="lift")


def paths(motion: Motion) -> Mapping[str, Array]:
    return {part: motion.positions([PARTS[part]]) for part in ("left_ankle", "right_ankle")}


def of(robot: Motion, source: Motion, **more: Any) -> Report:
    feet = paths(source)
    found = contacts(feet, source.times, size=1.4)
    return report(source, robot, BODY, found, feet, source.positions(list(PARTS.values())), **more)


def test_a_copy_is_without_fault() -> None:
    motion = standing(walker())
    found = of(motion, motion)
    assert not found.tracking.position.any()
    assert found.skate.share == found.source_skate.share == 0.0
    assert found.ground.kept == 1.0
    assert found.ground.depth < 1e-12
    assert np.allclose(found.ground.lowest, 0.0, atol=1e-12)  # on the other foot
    assert found.limits.broken == found.limits.too_fast == 0.0
    assert found.jerk.ratio == found.slow_jerk.ratio == 1.0
    assert (found.jerk.apart, found.slow_jerk.apart) == (1, 2)


@pytest.mark.parametrize("feet", [True, False])
def test_faults_are_found(feet: bool) -> None:
    """One that sinks, floats, slides or is past its limits; with shapes and without."""
    source, model = standing(walker(feet)), walker(feet)
    low = -0.05 if feet else 0.0
    base = np.array(source.q)
    base[:, 2] = 0.75 - low
    still = of(Motion(model, source.times, base), source)
    assert still.ground.kept == 1.0
    for up, deep, shallow, kept in ((-0.005, 0.0, 1.0, 1.0), (-0.03, 1.0, 1.0, 0.0), (0.03, 0.0, 0.0, 0.0)):
        q = base.copy()
        q[:, 2] += up
        found = of(Motion(model, source.times, q), source).ground
        assert (found.deeper(0.01), found.deeper(0.001), found.kept) == (deep, shallow, kept)
        assert found.depth == pytest.approx(max(0.0, -up), abs=1e-9)
    q = base.copy()
    q[:, 0] = 0.5 * source.times
    slid = of(Motion(model, source.times, q), source).skate
    assert np.allclose(slid.speed[:, 1], 0.5)
    assert slid.share == 1.0
    q = base.copy()
    q[10, model.index("right_knee").start] = 2.2
    broken = of(Motion(model, source.times, q), source)
    assert broken.limits.broken == pytest.approx(1.0 / 61.0)
    assert broken.limits.too_fast == pytest.approx(2.0 / 60.0)
    assert broken.limits.largest_jump[:2] == ("right_knee", 10)
    assert broken.jerk.ratio > 10.0


def test_steps_lie_as_high_as_they_are_said_to() -> None:
    """The right foot stands on a step of 20 cm all the time: with its knee bent in the robot."""
    source = standing(walker())
    q = np.array(source.q)
    model = source.model
    angle = np.arccos((0.75 - 0.2) / 0.75)
    q[:, model.index("right_hip").start] = angle
    q[:, model.index("right_ankle").start] = -angle
    robot = Motion(model, source.times, q)
    found = of(robot, source, ground=np.tile([0.0, 0.2], (61, 1))).ground
    assert np.allclose(found.heights[:, 1], 0.0, atol=1e-9)
    assert found.depth < 1e-9
    assert of(robot, source, ground=np.tile([0.0, 0.25], (61, 1))).ground.depth == pytest.approx(0.05)
    with refused("masked", "ground[3, 1]"):
        of(robot, source, ground=np.ma.array(np.zeros((61, 2)), mask=np.arange(122).reshape(61, 2) == 7))


def test_the_table_is_readable() -> None:
    motion = standing(walker())
    found = of(motion, motion, throughput=12_345.6, latency=80e-6, notes=("The source bends its waist further. " * 4,))
    text = str(found)
    assert max(map(len, text.splitlines())) <= 80
    assert text.splitlines()[0] == "lift on walker: 61 frames, 1 s"
    assert "12,346" in text
    assert "nan" not in text
    assert_readable(text, ("", "robot", "source", "unit"), found._rows(), 80)
    html = found._repr_html_()
    assert "left_knee" in html
    assert "nan" not in html


def test_numbers_go_into_json(tmp_path: Path) -> None:
    motion = standing(walker())
    found = of(motion, motion, throughput=100.0)
    plain = json.loads(found.json())
    assert plain["penetration"]["largest"] < 1e-12
    assert plain["jerk"]["ratio"] == 1.0
    assert plain["rotation_error"] == {"mean": None, "largest": None}
    assert set(plain["parts"]) == set(PARTS)
    found.save(tmp_path / "report.json")
    assert json.loads((tmp_path / "report.json").read_text()) == plain
    with refused("wrong-format", ".json"):
        found.save(tmp_path / "report.txt")


@pytest.mark.parametrize("frames", [1, 2, 5, 61])
def test_a_figure_of_any_length(frames: int, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    motion = standing(walker(), frames)
    found = of(motion, motion)
    assert "nan" not in str(found).lower()
    figure = found.figure()
    legible(figure)
    assert "left ankle" in named(figure)
    found.save(tmp_path / "report.png")
    assert (tmp_path / "report.png").read_bytes().startswith(b"\x89PNG")


def test_a_body_without_feet_has_no_contact() -> None:
    source = standing(walker())
    nobody = contacts({}, source.times)
    body = BodyMap({"pelvis": "pelvis"}, {"pelvis": "pelvis"})
    found = report(source, source, body, nobody, {}, source.positions(["pelvis"]))
    assert np.isnan(found.skate.share)
    assert json.loads(found.json())["contact"]["kept"] is None
    assert "skate" not in str(found)


def test_what_does_not_fit() -> None:
    source = standing(walker())
    feet = paths(source)
    found = contacts(feet, source.times)
    with pytest.raises(ShapeError, match="as many frames, got 61, 60 and 61"):
        report(source, source[:60], BODY, found, feet, source.positions(list(PARTS.values())))


def test_without_matplotlib_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    motion = standing(walker())
    found = replace(of(motion, motion), source="another")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(pz.MissingExtra, match="plots"):
        found.figure()

"""What the versions 1.1 and 1.2 of URDF brought: rotations as quaternions, limits of accelerations and jerks."""

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import poise as pz
from poise.calibration import Measurements
from poise.common.errors import ModelError
from poise.io.urdf import parse_urdf
from poise.model.model import Model
from poise.spatial import SE3

ROBOT = """<robot name="r"{robot}>
<link name="a"/><link name="b">{link}</link><link name="c"/>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/>
<origin xyz="1 2 3" {origin}/>
<axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="1" velocity="2" {limit}/></joint>
<joint name="k" type="revolute"><parent link="b"/><child link="c"/><axis xyz="0 0 1"/>
<limit lower="-3" upper="3" effort="1" velocity="9" {second}/>{mimic}</joint>
</robot>"""


def text(version: str | None = "1.2", **parts: str) -> str:
    parts = {"link": "", "origin": "", "limit": "", "second": "", "mimic": ""} | parts
    return ROBOT.format(robot="" if version is None else f' version="{version}"', **parts)


def told(document: str) -> tuple[Model, str]:
    """The robot, and all that is said of it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        return parse_urdf(document, file="r.urdf"), "\n".join(str(w.message) for w in caught)


def refused(document: str, message: str, line: int) -> None:
    with pytest.raises(ModelError, match=re.escape(message)) as caught:
        parse_urdf(document, file="r.urdf")
    assert caught.value.line == line
    assert str(caught.value).count("r.urdf") == 1


# Quaternions -----------------------------------------------------------------------------------------------------

QUATERNIONS = ("0 0 0.70710678118654757 0.70710678118654757", "0 0 1 1", "0.1 -0.2 0.3 0.4", "0 0 2 0", "1 0 0 -1e-3")


@pytest.mark.parametrize("quaternion", QUATERNIONS)
@pytest.mark.parametrize("version", [None, "1.0", "1.1", "1.2"])
def test_a_quaternion_turns_as_pinocchio_says(version: str | None, quaternion: str) -> None:
    pin: Any = pytest.importorskip("pinocchio")
    document = text(version, origin=f'quat_xyzw="{quaternion}"')
    model, said = told(document)
    theirs = pin.buildModelFromXML(document).jointPlacements[1].homogeneous
    np.testing.assert_allclose(model.joint("j").origin.matrix(), theirs, atol=1e-12)
    if version in ("1.1", "1.2"):
        assert not said
    else:
        mend = 'quat_xyzw is of URDF 1.1 and passed over; if it shall count, write <robot version="1.1"> (line 4: '
        assert mend in said


def test_shapes_and_visuals_are_turned_too() -> None:
    part = '<{0}><origin quat_xyzw="0 0 1 1"/><geometry><box size="1 2 3"/></geometry></{0}>'
    model = parse_urdf(text("1.1", link=part.format("visual") + part.format("collision")))
    turned = SE3.from_xyz_rpy([0, 0, 0], [0, 0, np.pi / 2])
    assert model.visuals["b"][0].shape.pose.isclose(turned)  # type: ignore[union-attr]
    assert model.shapes["b"][0].pose.isclose(turned)  # type: ignore[union-attr]


def test_a_quaternion_that_is_none_is_refused_where_it_counts() -> None:
    refused(text("1.1", origin='quat_xyzw="garbage"'), "<origin> of joint 'j' has quat_xyzw=\"garbage\": it needs 4", 4)
    refused(text("1.1", origin='quat_xyzw="0 0 0 0"'), "<origin> of joint 'j': quat_xyzw", 4)
    refused(text("1.1", origin='quat_xyzw=""'), "an empty 'quat_xyzw'", 4)
    both = 'rpy="0 0 1" quat_xyzw="0 0 0 1"'
    refused(text("1.1", origin=both), "states its rotation twice, as rpy and as quat_xyzw; keep one", 4)
    model, said = told(text("1.0", origin=both))
    assert model.joint("j").origin.isclose(SE3.from_xyz_rpy([1, 2, 3], [0, 0, 1]))
    assert "quat_xyzw is of URDF 1.1" in said


@pytest.mark.parametrize("version", ["1.3", "2.0", "1", "new", ""])
def test_a_version_that_is_not_known_is_read_as_the_newest_and_told(version: str) -> None:
    model, said = told(text(version, origin='quat_xyzw="0 0 1 1"', limit='jerk="5"'))
    assert f"version {version!r} of URDF is not one of 1.0, 1.1, 1.2: read as 1.2 (line 1)" in said
    assert model.joint("j").origin.isclose(SE3.from_xyz_rpy([1, 2, 3], [0, 0, np.pi / 2]))
    assert model.jerk[0] == 5.0


# Accelerations and jerks -----------------------------------------------------------------------------------------


def test_accelerations_and_jerks_are_those_of_the_file() -> None:
    model = parse_urdf(text(limit='acceleration="4" deceleration="3" jerk="50"', second='deceleration="7"'))
    assert (model.joint("j").acceleration, model.joint("j").jerk) == ((3.0,), (50.0,))  # the lower holds for both
    assert (model.joint("k").acceleration, model.joint("k").jerk) == ((7.0,), ())
    np.testing.assert_array_equal(model.acceleration, [3.0, 7.0])
    np.testing.assert_array_equal(model.jerk, [50.0, np.inf])


def test_those_of_a_follower_narrow_its_leader() -> None:
    mimic = '<mimic joint="j" multiplier="-2"/>'
    model = parse_urdf(text(limit='acceleration="4"', second='acceleration="6" jerk="10"', mimic=mimic))
    assert (model.acceleration, model.jerk) == ([3.0], [5.0])


@pytest.mark.parametrize("version", [None, "1.0", "1.1"])
def test_before_version_1_2_they_are_passed_over_and_told(version: str | None) -> None:
    model, said = told(text(version, limit='acceleration="x" jerk="50"'))
    assert np.isinf(model.acceleration).all()
    assert np.isinf(model.jerk).all()
    for word in ("acceleration", "jerk"):
        assert f'{word} is of URDF 1.2 and passed over; if it shall count, write <robot version="1.2"> (line 6' in said


def test_what_is_no_limit_of_accelerations_is_refused_or_none() -> None:
    refused(
        text(limit='acceleration="-2"'), "<limit> of joint 'j' has a negative acceleration, -2: write it without", 6
    )
    refused(text(limit='jerk="x"'), "'x' is not a number", 6)
    model, said = told(text(limit='acceleration="0" jerk="inf"'))
    assert "a limit of acceleration of 0 is taken as none (line 6: joint 'j')" in said
    assert np.isinf(model.acceleration).all()


@pytest.mark.parametrize(("limit", "what"), [(pz.AccelerationLimit, "acceleration"), (pz.JerkLimit, "jerk")])
def test_limits_without_numbers_take_those_of_the_file(limit: Any, what: str) -> None:
    model = parse_urdf(text(limit='acceleration="4" jerk="50"', second='acceleration="7"'))
    own, both = getattr(model, what), range(model.nv)
    kept = {"acceleration": "accelerations", "jerk": "jerks"}[what]
    np.testing.assert_array_equal(getattr(limit().inequalities(model, both, 0.01), kept), own)
    np.testing.assert_array_equal(getattr(limit(5.0).inequalities(model, both, 0.01), kept), np.minimum(own, 5.0))
    np.testing.assert_array_equal(getattr(limit({"k": 2.0}).inequalities(model, [1], 0.01), kept), [2.0])
    bare = parse_urdf(text("1.0"))
    with pytest.raises(ValueError, match=rf"{limit.__name__}\(\) takes what r states, and that states no {what}"):
        limit().inequalities(bare, both, 0.01)


def test_a_tracker_keeps_the_accelerations_of_the_file() -> None:
    model, dt = parse_urdf(text(limit='acceleration="4"', second='acceleration="7"')), 0.01
    ways = []
    for limits in ([pz.AccelerationLimit()], [pz.AccelerationLimit({"j": 4.0, "k": 7.0})], []):
        loop = pz.Tracker(model, pz.PostureTask([0.5, 0.5]), dt=dt, limits=limits)
        q = np.zeros(2)
        ways.append(np.array([q := loop.step(q) for _ in range(30)]))
    np.testing.assert_array_equal(ways[0], ways[1])
    most = [np.abs(np.diff(way, 2, axis=0, prepend=np.zeros((2, 2)))).max(axis=0) / dt**2 for way in ways]
    assert (most[0] <= np.array([4.0, 7.0]) * (1.0 + 1e-9)).all()
    assert (most[2] > np.array([4.0, 7.0])).all()


def test_models_that_are_made_of_it_keep_them() -> None:
    model = parse_urdf(text(limit='acceleration="4" jerk="50"', second='acceleration="7"'))
    wider = model.with_limits({"j": (-2.0, 2.0)}, velocity={"j": 3.0}).with_base(SE3.from_parts([0, 0, 1]))
    np.testing.assert_array_equal(wider.acceleration, [4.0, 7.0])
    np.testing.assert_array_equal(model.chain("b", "c").acceleration, [7.0])
    np.testing.assert_array_equal(model.lock(j=0.0).acceleration, [7.0])


def test_a_builder_takes_them_too() -> None:
    builder = pz.ModelBuilder("m")
    builder.joint("j", "planar", parent="a", child="b", acceleration=(1.0, 2.0, 3.0), jerk=4.0)
    model = builder.build()
    np.testing.assert_array_equal(model.acceleration, [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(model.jerk, [4.0, 4.0, 4.0])
    with pytest.raises(ModelError, match="joint 'k' has the jerk limit 0; it must be above 0, or left out"):
        builder.joint("k", "revolute", parent="b", child="c", jerk=0)


def test_a_file_that_is_written_anew_states_each_rotation_once(tmp_path: Path) -> None:
    file, out = tmp_path / "r.urdf", tmp_path / "out.urdf"
    file.write_text(
        '\n  <?xml version="1.0"?>\n' + text(origin="quat_xyzw = '0 0 1 1'", limit='acceleration="4" jerk="50"')
    )
    model = pz.load(file).with_frame("tool", link="c", origin=SE3.from_parts([0.3, 0, 0.1]))
    q = model.sample(20, seed=1)
    seen = model.pose("tool", q + np.array([0.1, 0.0]))
    found = pz.calibrate(model, Measurements("tool", q, seen), free=["j.offset"])
    found.save_urdf(out, source=file)
    again = pz.load(out)
    assert "quat_xyzw" not in out.read_text()
    assert 'acceleration="4" jerk="50"' in out.read_text()
    np.testing.assert_allclose(again.pose("c", q).array, found.model.pose("c", q).array, atol=1e-9)
    np.testing.assert_array_equal(again.jerk, [50.0, np.inf])

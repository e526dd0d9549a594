"""Sensors placed on a body, its motion from their orientations: what comes back, what is told, OpenSim's own."""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from osim_texts import OPENSIM, leg

import poise as pz
from poise.cli import main
from poise.imus import Orientations, fit_orientations, place_sensors
from poise_motion.osim.reader import read

LINKS = ("pelvis", "shank", "patella", "foot")
SENSORS = tuple(f"{link}_imu" for link in LINKS)
MARKERS = tuple(f"{link}.{i}" for link in ("pelvis", "shank") for i in range(3))


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> pz.Model:
    file = tmp_path_factory.mktemp("osim") / "leg.osim"
    file.write_text(leg())
    return read(file)


def way(model: pz.Model, count: int = 50) -> np.ndarray:
    """(count, nq) the body swings and turns where it stands."""
    t = np.linspace(0.0, 2.0, count)
    q = np.tile(model.home, (count, 1))
    for k, name in enumerate(("tilt", "list", "rotation", "ankle")):
        q[:, model.index(name).start] = 0.3 * np.sin(3.0 * t + k)
    q[:, model.index("knee").start] = -0.8 + 0.6 * np.sin(4.0 * t)
    return q


def mounted(seed: int = 0) -> pz.SO3:
    """How each sensor sits on its link; the z axis of the first is the link's x, tilted by 0.3 rad."""
    turns = pz.SO3.from_rotvec(np.random.default_rng(seed).uniform(-1.5, 1.5, (4, 3))).wxyz.copy()
    turns[0] = (pz.SO3.from_rotvec([0, 0, 0.3]) @ pz.SO3.from_rotvec([0, np.pi / 2, 0])).wxyz
    return pz.SO3(wxyz=turns)


def measured(model: pz.Model, q: np.ndarray, north: float = 0.0, noise: float = 0.0) -> Orientations:
    """What the sensors say in a world that is turned by `north` about the vertical."""
    rng = np.random.default_rng(0)
    turns = pz.SO3.from_rotvec([0, north, 0]) @ model.poses(q, LINKS).rotation @ mounted()
    turns = pz.SO3.from_rotvec(rng.normal(0.0, noise or 1e-300, (len(q), 4, 3))) @ turns
    return Orientations(SENSORS, np.arange(len(q)) / 50, turns.wxyz, "walk")


def turning(model: pz.Model) -> list[int]:
    return [model.index(name).start for name in ("tilt", "list", "rotation", "knee", "ankle")]


def standing(model: pz.Model, north: float = 0.0) -> Orientations:
    return measured(model, model.home[None], north)


def test_a_motion_comes_back_from_orientations(model: pz.Model) -> None:
    q = way(model)
    body = place_sensors(model, standing(model)).model
    assert np.allclose(body.poses(model.home, SENSORS).wxyz, standing(model).turned(pz.SO3.identity()).wxyz[0])
    fit = fit_orientations(body, measured(model, q))
    assert np.allclose(fit.motion.q, q, atol=1e-6)  # what slides stays where it stood
    assert fit.sensors == SENSORS
    assert fit.angles.max() < 1e-6
    assert (fit.names, fit.motion.name, fit.distances.shape) == ((), "walk", (50, 0))
    assert np.isnan(fit.rms).all()


def test_angles_and_costs_are_those_of_the_motion(model: pz.Model) -> None:
    trial = measured(model, way(model), noise=0.05)
    body = place_sensors(model, standing(model)).model
    fit = fit_orientations(body, trial, weights={"shank_imu": 3.0}, coordinates={"ankle": 0.1})
    away = (body.poses(fit.motion.q, SENSORS).rotation @ pz.SO3(wxyz=trial.wxyz).inverse()).log()
    angles, weights = np.linalg.norm(away, axis=2), np.array([1.0, 3.0, 1.0, 1.0])
    assert np.allclose(fit.angles, angles, atol=1e-8)
    pull = 0.05 * fit.motion.q[:, model.index("ankle").start] ** 2
    assert np.allclose(fit.costs, 0.5 * angles**2 @ weights / weights.sum() + pull, rtol=1e-6)
    assert np.allclose(fit.rms_angle, np.sqrt((angles**2).mean(axis=1)))
    assert fit.by_sensor["foot_imu"] == pytest.approx((np.sqrt((angles[:, 3] ** 2).mean()), angles[:, 3].max()))
    assert re.search(r"50 frames, 4 sensors: root mean square [\d.]+ degrees, in the worst frame, \d+, ", str(fit))
    assert json.loads(json.dumps(fit.to_dict()))["sensors"] == list(SENSORS)


@pytest.mark.parametrize("north", [0.0, 0.7, -2.5])
def test_the_heading_is_found_by_an_axis_or_by_a_trial(model: pz.Model, north: float) -> None:
    q = way(model)
    for heading in (("pelvis_imu", "z"), measured(model, q, north)):
        placed = place_sensors(model, standing(model, north), heading=heading)
        assert np.isclose(np.cos(placed.heading + north), 1.0, atol=1e-6)
        assert not placed.notes
        fit = fit_orientations(placed.model, measured(model, q, north))
        assert fit.angles.max() < 1e-3
        knee = model.index("knee").start
        assert np.allclose(fit.motion.q[:, knee], q[:, knee], atol=1e-3)


def test_without_a_heading_joints_turn_about_wrong_axes(model: pz.Model) -> None:
    body = place_sensors(model, standing(model, 0.7)).model
    assert fit_orientations(body, measured(model, way(model), 0.7)).angles.max() > 0.1


def test_a_heading_that_a_trial_cannot_tell_is_told(model: pz.Model) -> None:
    still = measured(model, np.tile(model.home, (5, 1)), 0.7)
    placed = place_sensors(model, standing(model, 0.7), heading=still)
    assert any("the heading is doubtful" in note for note in placed.notes)
    nothing = pz.imus.Orientations(still.names, still.times, np.full_like(still.wxyz, np.nan))
    with pytest.raises(ValueError, match="was measured in the trial of heading"):
        place_sensors(model, standing(model, 0.7), heading=nothing)


def test_gaps_and_sensors_that_nobody_has_are_told(model: pz.Model) -> None:
    trial = measured(model, way(model)).renamed({"foot_imu": "head_imu"})
    wxyz = trial.wxyz.copy()
    wxyz[10:14, 1] = np.nan
    wxyz[20:22] = np.nan
    body = place_sensors(model, standing(model)).model
    fit = fit_orientations(body, Orientations(trial.names, trial.times, wxyz))
    notes = "; ".join(fit.notes)
    assert "sensors that the model does not have: head_imu" in notes
    assert "shank_imu in 6 frames" in notes
    assert "no sensor was measured in 2 frames, in which the body stays as it was" in notes
    assert np.isnan(fit.angles[12, 1])
    assert np.array_equal(fit.motion.q[20:22], np.tile(fit.motion.q[19], (2, 1)))


def test_what_cannot_be_meant_is_told(model: pz.Model) -> None:
    body = place_sensors(model, standing(model)).model
    trial = measured(model, way(model))
    assert not any("exchanged" in note or "tilted" in note for note in fit_orientations(body, trial).notes)
    crossed = trial.renamed({"foot_imu": "shank_imu", "shank_imu": "foot_imu"})
    assert any("on average: two may be exchanged" in note for note in fit_orientations(body, crossed).notes)
    up = fit_orientations(body, trial.turned(pz.SO3.from_rpy([np.pi / 2, 0, 0])))
    assert up.angles.max() < 1e-3
    assert any("pelvis is tilted by" in note and "from z up to y up" in note for note in up.notes)


def test_markers_and_orientations_make_one_fit(model: pz.Model) -> None:
    q = way(model)
    q[:, model.index("px").start] = np.linspace(0, 1, len(q))
    body = place_sensors(model, standing(model)).model
    markers = pz.Markers(MARKERS, np.arange(len(q)) / 50, model.poses(q, MARKERS).xyz, "both")
    trial = measured(model, q)
    fit = pz.fit_markers(body, markers, orientations=trial)
    assert np.allclose(fit.motion.q, q, atol=1e-6)  # the ankle by its sensor, the place by markers
    assert (fit.names, fit.sensors) == (MARKERS, SENSORS)
    disturbed = measured(model, q, noise=0.05)
    fits = [pz.fit_markers(body, markers, orientations=disturbed, weights={"pelvis_imu": w}) for w in (1.0, 100.0)]
    assert np.nanmax(fits[1].angles[:, 0]) < np.nanmax(fits[0].angles[:, 0])
    assert fits[1].rms.max() > fits[0].rms.max()
    weights = np.array([1.0] * 6 + [0.01] * 4)
    off = np.column_stack([fits[0].distances, fits[0].angles])
    assert np.allclose(fits[0].costs, 0.5 * off**2 @ weights / weights.sum(), rtol=1e-6)


@pytest.mark.parametrize("north", [0.4, -2.8])
def test_orientations_are_turned_into_the_world_of_markers(model: pz.Model, north: float) -> None:
    q = way(model)
    body = place_sensors(model, standing(model, north), heading=measured(model, q, north)).model
    markers = pz.Markers(MARKERS, np.arange(len(q)) / 50, model.poses(q, MARKERS).xyz)
    trial = measured(model, q, north)
    apart = pz.fit_markers(body, markers, orientations=trial)
    assert north > 0.0 or any("Orientations.facing turns them" in note for note in apart.notes)
    facing = trial.facing(pz.fit_markers(body, markers).motion, by=SENSORS[:2])
    together = pz.fit_markers(body, markers, orientations=facing)
    assert together.rms.max() < 1e-4
    assert together.angles.max() < 1e-3
    with pytest.raises(ValueError, match=r"none of the sensors a is a frame of leg that was measured"):
        trial.of(SENSORS[:1]).renamed({SENSORS[0]: "a"}).facing(apart.motion)


def test_sensors_beside_markers_count_with_a_setup_of_markers(model: pz.Model, tmp_path: Path) -> None:
    q = way(model, 5)
    body = place_sensors(model, standing(model)).model
    markers = pz.Markers(MARKERS, np.arange(len(q)) / 50, model.poses(q, MARKERS).xyz)
    task = '<IKMarkerTask name="pelvis.0"><weight>2</weight></IKMarkerTask>'
    tasks = f"<IKTaskSet><objects>{task}</objects></IKTaskSet>"
    (tmp_path / "ik.xml").write_text(
        f'<OpenSimDocument Version="40000"><InverseKinematicsTool>{tasks}</InverseKinematicsTool></OpenSimDocument>'
    )
    fit = pz.fit_markers(body, markers, orientations=measured(model, q), setup=tmp_path / "ik.xml")
    assert (fit.names, fit.sensors) == (("pelvis.0",), SENSORS)


def test_orientations_beside_markers_are_taken_at_their_times(model: pz.Model) -> None:
    q = way(model, 101)
    body = place_sensors(model, standing(model)).model
    trial = measured(model, q)
    few = slice(3, 60, 3)
    markers = pz.Markers(MARKERS, trial.times[few] + 1e-3, model.poses(q[few], MARKERS).xyz)
    fit = pz.fit_markers(body, markers, orientations=trial)
    assert np.nanmax(fit.angles) < 0.01
    assert any("at the times of the markers, of which they have 19" in note for note in fit.notes)
    late = Orientations(trial.names, trial.times + 100.0, trial.wxyz)
    with pytest.raises(ValueError, match="bring both to the same clock"):
        pz.fit_markers(body, markers, orientations=late)
    with pytest.raises(ValueError, match="1 orientations for 2 markers"):
        pz.fit_markers(body, [markers, markers], orientations=[trial])
    with pytest.raises(TypeError, match="orientations must be Orientations"):
        fit_orientations(body, markers)  # type: ignore[call-overload]


def test_frame_by_frame_it_is_the_same(model: pz.Model) -> None:
    q = way(model, 20)
    body = place_sensors(model, standing(model)).model
    trial = measured(model, q, noise=0.02)
    live = pz.MarkerFitter(body, sensors=SENSORS)
    alone = fit_orientations(body, trial)
    assert np.allclose([live.step(orientations=wxyz) for wxyz in trial.wxyz], alone.motion.q, atol=1e-9)
    assert np.allclose(live.angles, alone.angles[-1], atol=1e-9)
    assert np.isnan(live.rms)
    markers = pz.Markers(MARKERS, trial.times, model.poses(q, MARKERS).xyz)
    both = pz.fit_markers(body, markers, orientations=trial)
    live = pz.MarkerFitter(body, MARKERS, sensors=SENSORS)
    pairs = zip(markers.positions, trial.wxyz, strict=True)
    steps = [live.step(points, pz.SO3(wxyz=wxyz)) for points, wxyz in pairs]
    assert np.allclose(steps, both.motion.q, atol=1e-9)
    with pytest.raises(ValueError, match=re.escape("orientations must have the shape (4, 4)")):
        live.step(orientations=np.zeros((2, 4)))


def test_recordings_side_by_side_are_those_alone(model: pz.Model) -> None:
    body = place_sensors(model, standing(model)).model
    some = [measured(model, way(model, n), noise=0.02) for n in (12, 20)]
    alone = [fit_orientations(body, one) for one in some]
    for threads in (1, 2):
        for one, other in zip(fit_orientations(body, some, threads=threads), alone, strict=True):
            assert np.array_equal(one.motion.q, other.motion.q)


def test_sensors_of_other_names_are_placed_by_on(model: pz.Model) -> None:
    trial = standing(model).renamed({"foot_imu": "IMU7"})
    assert place_sensors(model, trial, on={"IMU7": "foot"}).model.frame("IMU7").link == "foot"
    placed = place_sensors(model, trial)
    assert placed.notes == ("sensors without a link of leg: IMU7",)
    assert "IMU7" not in placed.model.frames
    assert str(placed) == "heading 0.0 degrees\nsensors without a link of leg: IMU7"


def test_of_several_frames_of_standing_the_mean_counts(model: pz.Model) -> None:
    still = measured(model, np.tile(model.home, (400, 1)), noise=0.02)
    one, mean = (place_sensors(model, some).model for some in (still[:1], still))
    true = place_sensors(model, standing(model)).model
    for body, most in ((one, 0.1), (mean, 0.004)):
        off = true.poses(model.home, SENSORS).rotation.inverse() @ body.poses(model.home, SENSORS).rotation
        assert np.linalg.norm(off.log(), axis=1).max() < most


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"heading": ("pelvis", "z")}, "heading names the sensor 'pelvis', which was not placed; did you mean"),
        ({"heading": ("pelvis_imu", "w")}, "the axis of heading is 'w'"),
        ({"heading": "z"}, "heading must be a sensor and its axis"),
        ({"heading": ("pelvis_imu", "y")}, "the axis y of pelvis_imu points up or down"),
        ({"on": {"foot_imu": "fot"}}, "on names 'fot', which is none of the links of leg; did you mean 'foot'"),
        ({"on": {"foot": "foot"}}, "which is none of the sensors; did you mean 'foot_imu'"),
        ({"up": "x"}, "up is 'x'"),
        ({"q": [0.0]}, "q must have"),
    ],
)
def test_what_makes_no_sense_is_refused(model: pz.Model, given: dict[str, Any], words: str) -> None:
    with pytest.raises((ValueError, TypeError), match=re.escape(words)):
        place_sensors(model, standing(model), **given)


def test_a_trial_of_other_sensors_says_no_heading(model: pz.Model) -> None:
    with pytest.raises(ValueError, match="none of the sensors that were placed"):
        place_sensors(
            model, standing(model), heading=measured(model, way(model)).renamed({s: s + "x" for s in SENSORS})
        )


def test_who_moves_and_what_has_no_link_is_refused(model: pz.Model) -> None:
    with pytest.raises(ValueError, match=r"_imu turns by \d+ degrees in 'walk' from its mean; give the frames"):
        place_sensors(model, measured(model, way(model)))
    with pytest.raises(ValueError, match="none of the sensors a, b, c, d has a link"):
        place_sensors(model, standing(model).renamed(dict(zip(SENSORS, "abcd", strict=True))))
    placed = place_sensors(model, standing(model)).model
    with pytest.raises(ValueError, match="has frames pelvis_imu, shank_imu, patella_imu, foot_imu already"):
        place_sensors(placed, standing(model))
    with pytest.raises(ValueError, match=r"none of the sensors pelvis_imu, .* so place them with imus\.place_sensors"):
        fit_orientations(model, measured(model, way(model)))
    with pytest.raises(ValueError, match="neither markers nor sensors to fit"):
        pz.MarkerFitter(model)
    with pytest.raises(TypeError, match="standing must be Orientations"):
        place_sensors(model, "standing.sto")  # type: ignore[arg-type]


# OpenSim's tools, and the command -----------------------------------------------------------------------------------

PLACER = """<?xml version="1.0"?>
<OpenSimDocument Version="40000"><IMUPlacer><model_file>leg.osim</model_file>
<base_imu_label>pelvis_imu</base_imu_label><base_heading_axis>z</base_heading_axis>
<sensor_to_opensim_rotations>-1.5707963267948966 0 0</sensor_to_opensim_rotations>
<orientation_file_for_calibration>standing.sto</orientation_file_for_calibration>
<output_model_file>placed.osim</output_model_file></IMUPlacer></OpenSimDocument>
"""
SETUP = """<?xml version="1.0"?>
<OpenSimDocument Version="40500"><IMUInverseKinematicsTool><model_file>placed.osim</model_file>
<results_directory>.</results_directory><output_motion_file>out.mot</output_motion_file>
<accuracy>1e-9</accuracy><time_range>0.1 0.4</time_range>
<sensor_to_opensim_rotations>-1.5707963267948966 0 0</sensor_to_opensim_rotations>
<orientations_file>walk.sto</orientations_file>
<OrientationWeightSet name="orientation_weights"><objects><OrientationWeight name="foot_imu"><weight>0.5</weight>
</OrientationWeight></objects></OrientationWeightSet></IMUInverseKinematicsTool></OpenSimDocument>
"""


@pytest.fixture
def trial(model: pz.Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with OpenSense's files, whose sensors' z is up; the axis that says the heading is level here."""
    monkeypatch.chdir(tmp_path)
    up = pz.SO3.from_rpy([np.pi / 2, 0, 0])
    Path("leg.osim").write_text(leg())
    Path("placer.xml").write_text(PLACER)
    Path("setup.xml").write_text(SETUP)
    measured(model, way(model), 0.7, noise=0.02).turned(up).save("walk.sto")
    standing(model, 0.7).turned(up).save("standing.sto")
    return tmp_path


def test_the_command_places_and_fits(model: pz.Model, trial: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["fit", "--setup", "setup.xml", "--placer", "placer.xml", "--out", "out.mot", "--errors", "off.csv"]
    assert main(arguments) == 0
    said = capsys.readouterr().out
    assert "heading -40.1 degrees" in said
    assert "16 frames, 4 sensors: root mean square" in said
    down = pz.SO3.from_rpy([-np.pi / 2, 0, 0])
    still = pz.imus.load_orientations("standing.sto").turned(down)
    body = place_sensors(model, still, heading=("pelvis_imu", "z")).model
    walk = pz.imus.load_orientations("walk.sto").between(0.1, 0.4)
    by_setup = fit_orientations(body, walk, setup="setup.xml")
    by_hand = fit_orientations(body, walk.turned(down), weights={"foot_imu": 0.5})
    assert np.array_equal(by_setup.motion.q, by_hand.motion.q)
    assert np.allclose(pz.load_motion("out.mot", model=model).q, by_hand.motion.q, atol=1e-12)
    names, row, *_ = (trial / "off.csv").read_text().splitlines()
    assert names == "time_s,rms,pelvis_imu,shank_imu,patella_imu,foot_imu"
    assert float(row.split(",")[3]) == pytest.approx(by_hand.angles[0, 1], rel=1e-6)


def test_the_command_fits_markers_and_sensors(model: pz.Model, trial: Path, capsys: pytest.CaptureFixture[str]) -> None:
    q = way(model)
    pz.Markers(MARKERS, np.arange(len(q)) / 50, model.poses(q, MARKERS).xyz).save("walk.trc")
    (trial / "flat.xml").write_text(PLACER.replace("-1.5707963267948966", "0"))
    for name in ("walk.sto", "standing.sto"):
        again = pz.imus.load_orientations(name).turned(pz.SO3.from_rpy([-np.pi / 2, 0, 0]))
        again.turned(pz.SO3.from_rotvec([0, -0.7, 0])).save(name)
    assert main(["fit", "walk.trc", "--orientations", "walk.sto", "--placer", "flat.xml", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["markers"], found["sensors"]) == (list(MARKERS), list(SENSORS))
    assert found["rms"] < 0.01
    assert main(["fit", "walk.sto", "--orientations", "walk.sto", "--model", "leg.osim"]) == 1
    assert "there are two files of orientations" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("<weight>0.5", "<weight>-1", "OrientationWeight 'foot_imu'"),
        ("0.1 0.4", "0.1", "needs 2 numbers, not 1"),
        ("0.1 0.4", "0.1 inf inf", "<time_range> is '0.1 inf inf'; it is two times"),
        ("-1.5707963267948966 0 0", "-90 x 0", "'x' is not a number"),
    ],
)
def test_what_is_wrong_with_a_setup_is_said(model: pz.Model, trial: Path, old: str, new: str, words: str) -> None:
    assert old in SETUP
    (trial / "setup.xml").write_text(SETUP.replace(old, new))
    with pytest.raises(pz.ModelError, match=re.escape(words)):
        fit_orientations(model, pz.imus.load_orientations("walk.sto"), setup="setup.xml")


_TOOLS = """
import opensim
opensim.Logger.setLevelString("off")
opensim.IMUPlacer("placer.xml").run(False)
opensim.IMUInverseKinematicsTool("setup.xml").run(False)
"""


@pytest.mark.skipif(not OPENSIM.exists(), reason="OpenSim is not installed: make .venv/opensim")
def test_opensims_tools_find_the_same(model: pz.Model, trial: Path) -> None:
    # OpenSim takes the angle in space between the axis and forward for the heading, so it is let be level here.
    still = pz.imus.load_orientations("standing.sto")
    level = pz.SO3(wxyz=still.wxyz[0, 0]) @ pz.SO3.from_rotvec([0.3, 0, 0])
    wxyz = still.wxyz.copy()
    wxyz[0, 0] = level.wxyz
    Orientations(still.names, still.times, wxyz).save("standing.sto")
    quiet: dict[str, Any] = {"env": {**os.environ, "PYTHONPATH": ""}, "check": True, "capture_output": True}
    subprocess.run([OPENSIM, "-c", _TOOLS], cwd=trial, timeout=120, **quiet)
    theirs = read(trial / "placed.osim")
    down = pz.SO3.from_rpy([-np.pi / 2, 0, 0])
    still = pz.imus.load_orientations("standing.sto").turned(down)
    ours = place_sensors(model, still, heading=("pelvis_imu", "z")).model
    for name in SENSORS:
        assert ours.frame(name).origin.rotation.isclose(theirs.frame(name).origin.rotation, atol=1e-9)
    walk = pz.imus.load_orientations("walk.sto").between(0.1, 0.4)
    fit = fit_orientations(theirs, walk, setup="setup.xml")
    said = pz.load_motion(next(trial.glob("*.mot")), model=theirs)
    off = (theirs.poses(said.q, SENSORS).rotation @ pz.SO3(wxyz=walk.turned(down).wxyz).inverse()).log()
    weights = np.array([1.0, 1.0, 1.0, 0.5])
    costs = 0.5 * (off**2).sum(axis=2) @ weights / weights.sum()
    assert (fit.costs <= costs * (1 + 1e-6) + 1e-14).all()
    assert np.abs(np.degrees(said.q - fit.motion.q))[:, turning(model)].max() < 0.5

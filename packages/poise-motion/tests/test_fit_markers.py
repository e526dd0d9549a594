"""A body fitted to its own markers, disturbed: what comes back, what is told, and what OpenSim makes of the same."""

import copy
import json
import os
import pickle
import re
import subprocess
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from osim_texts import OPENSIM, leg

import poise as pz
from poise.cli import main
from poise.extending import MarkerDescent
from poise_motion.markers.ik_setup import IkSetup
from poise_motion.osim.reader import read


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> pz.Model:
    file = tmp_path_factory.mktemp("osim") / "leg.osim"
    file.write_text(leg())
    return read(file)


NAMES = tuple(f"{link}.{i}" for link in ("pelvis", "shank", "patella", "foot") for i in range(3))


def way(model: pz.Model, count: int = 60) -> np.ndarray:
    """(count, nq) the body swings and walks on."""
    t = np.linspace(0.0, 2.0, count)
    q = np.tile(model.home, (count, 1))
    for k, name in enumerate(("tilt", "list", "rotation", "ankle")):
        q[:, model.index(name).start] = 0.3 * np.sin(3.0 * t + k)
    q[:, model.index("px").start] = t
    q[:, model.index("knee").start] = -0.8 + 0.6 * np.sin(4.0 * t)
    return q


def measured(model: pz.Model, q: np.ndarray, noise: float = 0.0) -> pz.Markers:
    places = model.poses(q, NAMES).xyz + np.random.default_rng(0).normal(0.0, noise or 1e-300, (len(q), 12, 3))
    return pz.Markers(NAMES, np.arange(len(q)) / 50, places, "walk")


def with_places(markers: pz.Markers, places: np.ndarray) -> pz.Markers:
    return pz.Markers(markers.names, markers.times, places, markers.name)


def test_a_motion_comes_back_from_its_markers(model: pz.Model) -> None:
    q = way(model)
    fit = pz.fit_markers(model, measured(model, q))
    assert np.allclose(fit.motion.q, q, atol=1e-7)
    assert fit.rms.max() < 1e-8
    assert fit.motion.times.tolist() == (np.arange(len(q)) / 50).tolist()
    assert (fit.motion.name, fit.names, fit.swaps, fit.ghosts) == ("walk", NAMES, (), ())
    assert np.allclose(fit.places, model.poses(fit.motion.q, NAMES).xyz, atol=1e-12)


def test_distances_are_those_of_the_motion_and_told_by_frame_and_marker(model: pz.Model) -> None:
    markers = measured(model, way(model), noise=0.005)
    fit = pz.fit_markers(model, markers, weights={"foot.0": 3.0})
    away = np.linalg.norm(model.poses(fit.motion.q, NAMES).xyz - markers.positions, axis=2)
    assert np.allclose(fit.distances, away, atol=1e-12)
    assert np.allclose(fit.rms, np.sqrt((away**2).mean(axis=1)))
    assert fit.worst[7] == (NAMES[int(away[7].argmax())], pytest.approx(away[7].max()))
    assert fit.by_marker["foot.1"] == pytest.approx((np.sqrt((away[:, 10] ** 2).mean()), away[:, 10].max()))
    weights = np.where(np.array(NAMES) == "foot.0", 3.0, 1.0)
    assert np.allclose(fit.costs, 0.5 * (away**2 @ weights) / weights.sum())
    text = str(fit)
    assert re.search(r"60 frames, 12 markers: root mean square [\d.]+ mm, in the worst frame, \d+, ", text)
    assert json.loads(json.dumps(fit.to_dict()))["frames"] == 60


def test_frames_whose_descent_did_not_come_to_rest_are_told(model: pz.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, markers = MarkerDescent.follow, measured(model, way(model), noise=0.005)
    assert not any("come to rest" in note for note in pz.fit_markers(model, markers).notes)

    def hurried(descent: MarkerDescent, *given: Any) -> None:
        whole(descent, *given[:6], most=2)

    monkeypatch.setattr(MarkerDescent, "follow", hurried)
    fit = pz.fit_markers(model, markers)
    (told,) = (note for note in fit.notes if "come to rest" in note)
    assert re.match(r"in \d+ frames, the first of which is 0, ", told)
    assert told in str(fit)
    live, rests = pz.MarkerFitter(model, markers.names), list[bool]()
    assert live.at_rest
    for points in markers.positions:
        live.step(points)
        rests.append(live.at_rest)
    assert live.notes == fit.notes
    assert told.startswith(f"in {rests.count(False)} frames")
    live.reset(model.home)
    assert live.at_rest
    monkeypatch.undo()
    again = pickle.loads(pickle.dumps(live))
    again.step(markers.positions[0])
    assert again.at_rest
    assert again.notes == live.notes
    assert not pz.MarkerFitter(model, markers.names).notes


def test_gaps_are_bridged_and_told(model: pz.Model) -> None:
    q, markers = way(model), measured(model, way(model))
    places = markers.positions.copy()
    places[10:20, 4] = np.nan
    places[30:33] = np.nan
    fit = pz.fit_markers(model, with_places(markers, places))
    seen = np.r_[0:30, 33:60]
    assert np.allclose(fit.motion.q[seen], q[seen], atol=1e-7)
    assert np.array_equal(fit.motion.q[30:33], np.tile(fit.motion.q[29], (3, 1)))
    notes = "; ".join(fit.notes)
    assert "shank.1 in 13 frames" in notes
    assert "no marker was seen in 3 frames" in notes
    assert np.isnan(fit.distances[12, 4])
    assert np.isnan(fit.rms[31])
    assert fit.rms[29] < 1e-8
    assert fit.worst[31][0] == ""


def test_markers_that_were_exchanged_are_told(model: pz.Model) -> None:
    markers = measured(model, way(model), noise=0.002)
    places = markers.positions.copy()
    places[20:26, [3, 5]] = places[20:26, [5, 3]]
    fit = pz.fit_markers(model, with_places(markers, places))
    assert [(swap.names, swap.first, swap.last) for swap in fit.swaps] == [(("shank.0", "shank.2"), 20, 25)]
    assert str(fit.swaps[0]) == "shank.0 and shank.2 are exchanged in frames 20 to 25"
    assert not {ghost.name for ghost in fit.ghosts} & {"shank.0", "shank.2"}


def test_a_marker_that_is_none_is_told(model: pz.Model) -> None:
    markers = measured(model, way(model), noise=0.002)
    places = markers.positions.copy()
    places[40, 7] += [0.3, 0.2, 0.1]
    fit = pz.fit_markers(model, with_places(markers, places))
    assert [(ghost.name, ghost.first, ghost.last) for ghost in fit.ghosts] == [("patella.1", 40, 40)]
    assert "patella.1 is" in str(fit)
    assert not fit.swaps


def test_noise_is_neither(model: pz.Model) -> None:
    for seed in range(3):
        rng, markers = np.random.default_rng(seed), measured(model, way(model))
        places = markers.positions + rng.normal(0.0, 0.01, markers.positions.shape)
        fit = pz.fit_markers(model, with_places(markers, places))
        assert fit.swaps == fit.ghosts == ()


@pytest.mark.parametrize("rotation", [[0, np.pi, 0], [0, -np.pi / 2, 0.1], [np.pi / 2, 0, 0], [2.0, 1.0, 0.5]])
def test_it_finds_the_body_however_it_stands(model: pz.Model, rotation: list[float]) -> None:
    markers = measured(model, way(model, 5))
    turned = markers.turned(pz.SO3.from_rotvec(rotation))
    fit = pz.fit_markers(model, with_places(turned, turned.positions + np.array([4.0, -2.0, 3.0])))
    assert fit.rms.max() < 1e-6


def test_a_body_that_comes_back_elsewhere_is_found_again(model: pz.Model) -> None:
    markers = measured(model, way(model))
    places = markers.positions.copy()
    places[30:] = pz.SO3.from_rotvec([0, np.pi, 0]).act(places[30:]) + np.array([5.0, 0.0, 1.0])
    assert pz.fit_markers(model, with_places(markers, places)).rms.max() < 1e-6


def test_coordinates_are_pulled_to_their_values(model: pz.Model) -> None:
    q, markers = way(model), measured(model, way(model))
    strong: dict[str, Any] = {"coordinates": {"ankle": 1e6, "knee": 1e-9}}
    ankle, knee = model.index("ankle").start, model.index("knee").start
    fit = pz.fit_markers(model, markers, **strong)
    assert np.allclose(fit.motion.q[:, ankle], 0.0, atol=1e-6)
    fit = pz.fit_markers(model, markers, **strong, values={"ankle": q[:, ankle]})
    assert np.allclose(fit.motion.q, q, atol=1e-6)
    assert np.abs(fit.motion.q[:, knee] - q[:, knee]).max() < 1e-5


def test_a_coordinate_that_is_locked_by_its_weight_leaves_the_others_free(model: pz.Model) -> None:
    markers = measured(model, way(model), noise=0.004)
    locked = [pz.fit_markers(model, markers, coordinates={"knee": c}, values={"knee": -0.5}) for c in (1e6, 1e10, 1e14)]
    assert np.allclose(locked[1].costs, locked[0].costs, rtol=1e-6)
    assert np.allclose(locked[2].costs, locked[0].costs, rtol=1e-6)
    assert np.allclose(locked[2].places, locked[0].places, atol=1e-5)


def test_weights_count_against_each_other_alone_to_the_largest_number(model: pz.Model) -> None:
    markers = measured(model, way(model), noise=0.004)
    fit = pz.fit_markers(model, markers)
    for most in (1e-300, 1e308):
        some = pz.fit_markers(model, markers, weights=dict.fromkeys(NAMES, most))
        assert np.allclose(some.motion.q, fit.motion.q, atol=1e-6)


def test_limits_hold(model: pz.Model) -> None:
    q = way(model)
    q[:, model.index("knee").start] = 0.6  # beyond its 0.2
    wide = model.with_limits({"knee": (-3.0, 3.0)})
    fit = pz.fit_markers(model, measured(wide, q))
    assert np.allclose(fit.motion.q[:, model.index("knee").start], 0.2)


def test_recordings_side_by_side_are_those_alone_on_any_number_of_threads(model: pz.Model) -> None:
    some = [measured(model, way(model, n), noise=0.004) for n in (20, 31, 12)]
    some.append(some[0].of(NAMES[::-1]))
    alone = [pz.fit_markers(model, one) for one in some]
    for threads in (1, 2, 3):
        for one, other in zip(pz.fit_markers(model, some, threads=threads), alone, strict=True):
            assert np.array_equal(one.motion.q, other.motion.q)
            assert one.names == other.names
    assert pz.fit_markers(model, []) == []


def test_frame_by_frame_it_is_the_same(model: pz.Model) -> None:
    markers = measured(model, way(model), noise=0.004)
    fit = pz.fit_markers(model, markers)
    live = pz.MarkerFitter(model, markers.names)
    q = np.array([live.step(points) for points in markers.positions])
    assert np.array_equal(q, fit.motion.q)
    assert live.rms == pytest.approx(fit.rms[-1])
    assert np.array_equal(live.distances, fit.distances[-1])
    live.reset(q[0])
    assert np.allclose(live.step(markers.positions[0]), q[0], atol=1e-6)
    live.reset()
    nothing = np.full((12, 3), np.nan)
    assert np.allclose(live.step(nothing), model.home)
    assert np.isnan(live.rms)
    assert np.allclose(live.step(markers.positions[-1]), q[-1], atol=1e-5)
    with pytest.raises(ValueError, match=re.escape("positions must have the shape (12, 3)")):
        live.step(nothing[:4])
    with pytest.raises(ValueError, match=re.escape("'pelvis.0' is too far away")):
        live.step(np.full((12, 3), np.inf))
    assert np.array_equal(live.step(np.zeros((12, 3))), live.step(nothing))


def test_a_fitter_that_travelled_goes_on_where_it_was(model: pz.Model) -> None:
    markers = measured(model, way(model), noise=0.004)
    live = pz.MarkerFitter(model, markers.names)
    for points in markers.positions[:7]:
        live.step(points)
    for other in (pickle.loads(pickle.dumps(live)), copy.deepcopy(live)):
        assert np.array_equal(other.step(np.full((12, 3), np.nan)), pz.fit_markers(model, markers[:7]).motion.q[-1])
    arrived = pickle.loads(pickle.dumps(live))
    for points in markers.positions[7:12]:
        assert np.array_equal(arrived.step(points), live.step(points))


def test_a_start_that_is_no_configuration_is_refused() -> None:
    b = pz.ModelBuilder("body")
    b.joint("root", "floating", parent="world", child="pelvis")
    free, zero = b.build(), np.zeros(7)
    with pytest.raises(ValueError, match="q0 holds a zero quaternion"):
        pz.fit_markers(free, pz.Markers(["pelvis"], [0.0], np.ones((1, 1, 3))), q0=zero)
    with pytest.raises(ValueError, match="q0 holds a zero quaternion"):
        pz.MarkerFitter(free, ["pelvis"], q0=zero)
    with pytest.raises(ValueError, match="there are neither markers nor sensors to fit"):
        pz.MarkerFitter(free)


def test_names_of_a_stream_are_each_there_once(model: pz.Model) -> None:
    with pytest.raises(ValueError, match=re.escape("'foot.0' is there twice")):
        pz.MarkerFitter(model, ["foot.0", "foot.0"])
    with pytest.raises(TypeError, match="names must be a list of names"):
        pz.MarkerFitter(model, "foot.0")


def test_the_motion_stands_up_for_those_who_want_z_up(model: pz.Model) -> None:
    fit = pz.fit_markers(model, measured(model, way(model)))
    assert fit.motion.up == "y"
    stood = fit.upright
    assert stood.up == "z"
    lying, upright = (m.positions(["foot"]) for m in (fit.motion, stood))
    assert np.allclose(upright[..., 2], lying[..., 1])
    again = pz.fit_markers(model, measured(model, way(model)), up="z")
    assert again.upright is again.motion


def test_markers_that_are_left_out_are_told(model: pz.Model) -> None:
    markers = measured(model, way(model)).renamed({"foot.2": "ball"})
    fit = pz.fit_markers(model, markers, weights={"foot.1": 0.0})
    notes = "; ".join(fit.notes)
    assert "markers that the model does not have: ball" in notes
    assert "foot.1" not in fit.names
    assert "markers of the model that were not measured: foot.2" in notes


def test_loops_stay_closed() -> None:
    b = pz.ModelBuilder("four bars")
    b.joint("crank", "revolute", parent="base", child="one", axis=[0, 0, 1])
    b.joint("pin", "revolute", parent="one", child="two", origin=pz.SE3.from_parts([0.3, 0, 0]), axis=[0, 0, 1])
    b.joint("rocker", "revolute", parent="base", child="three", origin=pz.SE3.from_parts([0.6, 0, 0]), axis=[0, 0, 1])
    b.frame("end", link="two", origin=pz.SE3.from_parts([0.7, 0, 0]))
    b.frame("top", link="three", origin=pz.SE3.from_parts([0, 0.5, 0]))
    for name, link, place in (("m1", "one", [0.2, 0.1, 0]), ("m2", "two", [0.3, 0.1, 0]), ("m3", "three", [0, 0.3, 0])):
        b.frame(name, link=link, origin=pz.SE3.from_parts(place))
    b.loop("end", "top")
    model = b.build()
    q = np.array([model.close({"crank": 1 + 0.4 * np.sin(x)}, actuated=["crank"]).q for x in np.linspace(0, 6, 40)])
    names = ("m1", "m2", "m3")
    places = model.poses(q, names).xyz + np.random.default_rng(0).normal(0.0, 0.01, (40, 3, 3))
    places[10:14] = np.nan
    fit = pz.fit_markers(model, pz.Markers(names, np.arange(40) / 50, places))
    ends = model.poses(fit.motion.q, ["end", "top"]).xyz
    assert np.abs(ends[:, 0] - ends[:, 1]).max() < 1e-8
    assert fit.rms[~np.isnan(fit.rms)].max() < 0.03
    assert np.abs(fit.motion.q - q)[np.r_[0:10, 14:40]].max() < 0.15
    live = pz.MarkerFitter(model, names)
    assert np.array_equal([live.step(points) for points in places], fit.motion.q)


def two_legs(far: float) -> pz.Model:
    """Legs of two bars each, so `far` apart, whose ends are held together."""
    b = pz.ModelBuilder("legs")
    for side, x in (("l", 0.0), ("r", far)):
        at, end = pz.SE3.from_parts([x, 0, 0]), pz.SE3.from_parts([0, 0, 0.3])
        b.joint(f"{side}1", "revolute", parent="base", child=f"{side}a", origin=at, axis=[0, 1, 0], limits=(-2, 2))
        b.joint(f"{side}2", "revolute", parent=f"{side}a", child=f"{side}b", origin=end, axis=[0, 1, 0], limits=(-2, 2))
        b.frame(f"{side}_end", link=f"{side}b", origin=pz.SE3.from_parts([0.2, 0, 0.05]))
    b.loop("l_end", "r_end")
    return b.build()


def test_loops_that_are_open_are_told_and_a_start_is_closed_as_at_home() -> None:
    model = two_legs(0.2)
    home = model.poses(model.home, ["la", "lb", "rb"]).xyz
    markers = pz.Markers(["la", "lb", "rb"], [0.0, 0.1], np.stack([home, home]) + 0.01)
    for q0 in (None, model.home + 5.0):
        fit = pz.fit_markers(model, markers, q0=q0)
        ends = model.poses(fit.motion.q, ["l_end", "r_end"]).xyz
        assert np.allclose(ends[:, 0], ends[:, 1], atol=1e-6)
        assert not any("loops are open" in note or "l_end" in note for note in fit.notes)
    told = pz.fit_markers(two_legs(3.0), markers).notes
    assert any(note.startswith("loops are open in 2 frames, by up to ") for note in told)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"weights": {"foot.0": -1.0}}, "weights['foot.0'] is -1.0"),
        ({"weights": [1.0]}, "weights must be numbers by names"),
        ({"coordinates": [1.0]}, "coordinates must be numbers by names"),
        ({"values": 1.0}, "values must be numbers by names"),
        ({"weights": dict.fromkeys(NAMES, 0.0)}, "all markers that leg has a frame for have the weight 0"),
        ({"weights": {"fot.0": 1.0}}, "did you mean 'foot.0'"),
        ({"coordinates": {"kne": 1.0}}, "did you mean 'knee'"),
        ({"coordinates": {"knee": float("inf")}}, "coordinates['knee'] is inf"),
        ({"coordinates": {"beta": 1.0}}, "'beta' has 0 coordinates"),
        ({"values": {"knee": 1.0}}, "'knee'] is of a coordinate without a weight"),
        ({"coordinates": {"knee": 1.0}, "values": {"knee": [1.0, 2.0]}}, "must be a number, or one a frame, (60,)"),
        ({"coordinates": {"knee": 1.0}, "values": {"knee": 1e200}}, "values['knee'] go to 1e+200"),
        ({"q0": [1.0]}, "q0"),
        ({"q0": [[0.0] * 8] * 2}, "q0 must be one configuration"),
        ({"q0": [1e200] * 8}, "q0[0], 'px', is 1e+200"),
        ({"up": "x"}, "up is 'x'"),
        ({"threads": 0}, "threads is 0"),
        ({"setup": "a.xml", "weights": {}}, "a setup says weights"),
    ],
)
def test_what_makes_no_sense_is_refused(model: pz.Model, given: dict[str, Any], words: str) -> None:
    with pytest.raises((pz.PoiseError, ValueError, TypeError), match=re.escape(words)):
        pz.fit_markers(model, measured(model, way(model)), **given)


def test_markers_of_another_body_are_refused(model: pz.Model) -> None:
    markers = measured(model, way(model))
    other = pz.Markers([f"x{i}" for i in range(12)], markers.times, markers.positions)
    with pytest.raises(ValueError, match=re.escape("none of the markers x0, x1, x2")):
        pz.fit_markers(model, other)
    with pytest.raises(TypeError, match="markers must be Markers"):
        pz.fit_markers(model, ["walk.trc"])  # type: ignore[list-item]
    for path in ("walk.trc", Path("walk.trc")):
        with pytest.raises(TypeError, match=r"markers must be Markers, .*walk\.trc"):
            pz.fit_markers(model, path)  # type: ignore[call-overload]


# OpenSim's tool, and the command ------------------------------------------------------------------------------------

SETUP = """<?xml version="1.0"?>
<OpenSimDocument Version="40000"><InverseKinematicsTool name="leg">
<model_file>leg.osim</model_file><constraint_weight>Infinity</constraint_weight><accuracy>1e-9</accuracy>
<IKTaskSet name="set"><objects>
{tasks}
<IKCoordinateTask name="ankle"><apply>true</apply><weight>0.01</weight><value_type>manual_value</value_type>
<value>0.1</value></IKCoordinateTask>
<IKCoordinateTask name="list"><apply>true</apply><weight>0.02</weight><value_type>default_value</value_type>
</IKCoordinateTask>
<IKCoordinateTask name="knee"><apply>false</apply><weight>5</weight></IKCoordinateTask>
</objects></IKTaskSet>
<marker_file>walk.trc</marker_file><coordinate_file>Unassigned</coordinate_file><time_range>0.1 0.4</time_range>
<output_motion_file>out.mot</output_motion_file>
</InverseKinematicsTool></OpenSimDocument>
"""
WEIGHTS = {name: 0.5 + 0.25 * k for k, name in enumerate(NAMES) if name != "shank.1"}


@pytest.fixture
def trial(model: pz.Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a model, a recording of 10 mm of noise with a gap, and a setup."""

    def points(*, group: str) -> list[metadata.EntryPoint]:
        found = {
            "poise.readers": ("osim", "poise_motion.osim.reader:read"),
            "poise.commands": ("fit", "poise_motion.markers.command:Fit"),
        }
        return [metadata.EntryPoint(*found[group], group)] if group in found else []

    monkeypatch.setattr(metadata, "entry_points", points)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "leg.osim").write_text(leg())
    markers = measured(model, way(model), noise=0.01)
    places = markers.positions.copy()
    places[8:12, 2] = np.nan
    with_places(markers, places).save("walk.trc")
    tasks = "\n".join(
        f'<IKMarkerTask name="{name}"><apply>true</apply><weight>{weight}</weight></IKMarkerTask>'
        for name, weight in WEIGHTS.items()
    )
    (tmp_path / "setup.xml").write_text(SETUP.format(tasks=tasks))
    return tmp_path


def test_a_setup_says_weights_coordinates_and_values(model: pz.Model, trial: Path) -> None:
    markers = pz.load_markers("walk.trc")
    by_setup = pz.fit_markers(model, markers, setup="setup.xml")
    weights, coordinates = {**WEIGHTS, "shank.1": 0.0}, {"ankle": 0.01, "list": 0.02}
    by_hand = pz.fit_markers(model, markers, weights=weights, coordinates=coordinates, values={"ankle": 0.1})
    assert np.array_equal(by_setup.motion.q, by_hand.motion.q)
    assert "shank.1" not in by_setup.names


def test_tasks_of_coordinates_that_do_not_move_are_told(model: pz.Model, trial: Path) -> None:
    other = trial / "locked.xml"
    more = [
        f'<IKCoordinateTask name="{name}"><apply>true</apply><weight>1</weight>{value}</IKCoordinateTask>'
        for name, value in (
            ("toes", "<value_type>manual_value</value_type><value>1</value>"),
            ("beta", "<value_type>from_file</value_type>"),
        )
    ]
    text = (trial / "setup.xml").read_text()
    other.write_text(text.replace("</objects></IKTaskSet>", f"{''.join(more)}</objects></IKTaskSet>"))
    markers = pz.load_markers("walk.trc")
    plain, fit = (pz.fit_markers(model, markers, setup=name) for name in ("setup.xml", other))
    assert np.array_equal(plain.motion.q, fit.motion.q)
    assert "coordinates of the setup that do not move, or follow others: toes, beta" in fit.notes


def test_tasks_may_stand_in_a_file_of_their_own(trial: Path) -> None:
    text = (trial / "setup.xml").read_text()
    first, last = text.index("<IKTaskSet"), text.index("</IKTaskSet>") + len("</IKTaskSet>")
    (trial / "tasks.xml").write_text(f'<OpenSimDocument Version="40000">{text[first:last]}</OpenSimDocument>')
    (trial / "other.xml").write_text(text[:first] + '<IKTaskSet file="tasks.xml"/>' + text[last:])
    assert IkSetup.load("other.xml") == IkSetup.load("setup.xml")


def test_the_command_does_what_the_setup_says(model: pz.Model, trial: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["fit", "walk.trc", "--model", "leg.osim", "--setup", "setup.xml", "--out", "out.mot"]
    assert main([*arguments, "--errors", "errors.csv"]) == 0
    said = capsys.readouterr().out
    assert "16 frames, 11 markers: root mean square" in said
    assert "written: out.mot" in said
    motion = pz.load_motion("out.mot", model=model)
    assert (motion.times[0], motion.times[-1]) == (pytest.approx(0.1), pytest.approx(0.4))
    fit = pz.fit_markers(model, pz.load_markers("walk.trc").between(0.1, 0.4), setup="setup.xml")
    assert np.allclose(motion.q, fit.motion.q, atol=1e-12)
    names, row, *_ = (trial / "errors.csv").read_text().splitlines()
    assert names.split(",")[:3] == ["time_s", "rms", "pelvis.0"]
    assert float(row.split(",")[1]) == pytest.approx(fit.rms[0], rel=1e-6)
    assert main(["fit", "--setup", "setup.xml", "--json", "--start", "0.2"]) == 0  # files are those of the setup
    found = json.loads(capsys.readouterr().out)
    assert found["frames"] == 11
    assert main(arguments) == 1
    assert "out.mot is there already" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "no markers or orientations to fit"),
        (["walk.trc"], "no body to fit: name --model"),
        (["walk.trc", "--model", "leg.osim", "-o", "it.bvh"], "ends in .mot, .sto, .npz or .csv"),
        (["none.trc", "--model", "leg.osim"], "none.trc: no such file"),
        (["walk.trc", "--model", "leg.osim", "--setup", "leg.osim"], "there is no <InverseKinematicsTool> or <IMU"),
        (["walk.trc", "--model", "leg.osim", "--start", "5"], "no frame is between"),
        (["walk.trc", "--model", "leg.osim", "--base", "floating"], "base is not for leg.osim"),
    ],
)
def test_what_the_command_lacks_is_said(
    trial: Path, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fit", *arguments]) == 1
    assert words in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("<weight>0.01<", "<weight>-1<", "IKCoordinateTask 'ankle' of"),
        ("manual_value<", "some_value<", "it is one of default_value"),
        ("manual_value<", "from_file<", "the setup names none"),
        ("0.1 0.4<", "0.1<", "needs 2 numbers, not 1"),
        ('Task name="pelvis.0"', "Task", "has no 'name'"),
    ],
)
def test_what_is_wrong_with_a_setup_is_said(model: pz.Model, trial: Path, old: str, new: str, words: str) -> None:
    text = (trial / "setup.xml").read_text()
    assert old in text
    (trial / "setup.xml").write_text(text.replace(old, new))
    with pytest.raises((pz.PoiseError, ValueError), match=re.escape(words)):
        pz.fit_markers(model, pz.load_markers("walk.trc"), setup="setup.xml")


def test_damaged_setups_end_in_sentences(trial: Path) -> None:
    text, rng = (trial / "setup.xml").read_text(), np.random.default_rng(0)
    for _ in range(100):
        at, length = int(rng.integers(len(text))), int(rng.integers(1, 40))
        (trial / "setup.xml").write_text(text[:at] + text[at + length :])
        with suppress(pz.ModelError):
            IkSetup.load("setup.xml")


def test_values_come_from_a_file(model: pz.Model, trial: Path) -> None:
    text = (trial / "setup.xml").read_text().replace("manual_value<", "from_file<").replace("Unassigned", "said.mot")
    (trial / "setup.xml").write_text(text.replace("<weight>0.01<", "<weight>1e6<"))
    q = way(model)
    pz.Motion(model, np.arange(60) / 50, q).save("said.mot")
    fit = pz.fit_markers(model, pz.load_markers("walk.trc"), setup="setup.xml")
    assert np.allclose(fit.motion.q[:, model.index("ankle").start], q[:, model.index("ankle").start], atol=1e-5)


_TOOL = """
import opensim
opensim.Logger.setLevelString("off")
opensim.InverseKinematicsTool("setup.xml").run()
"""


@pytest.mark.skipif(not OPENSIM.exists(), reason="OpenSim is not installed: make .venv/opensim")
def test_opensims_tool_finds_the_same(model: pz.Model, trial: Path) -> None:
    quiet: dict[str, Any] = {"env": {**os.environ, "PYTHONPATH": ""}, "check": True, "capture_output": True}
    subprocess.run([OPENSIM, "-c", _TOOL], cwd=trial, timeout=120, **quiet)
    theirs = pz.load_motion(trial / "out.mot", model=model)
    fit = pz.fit_markers(model, pz.load_markers("walk.trc").between(0.1, 0.4), setup="setup.xml")
    assert np.abs(np.degrees(theirs.q - fit.motion.q)).max() < 0.05
    assert len(theirs) == len(fit.motion)

"""Models of OpenSim: every joint as OpenSim has it, and sentences for files that are none."""

import os
import re
import subprocess
from contextlib import suppress
from importlib import metadata
from pathlib import Path

import numpy as np
import opensim_kept
import osim_texts
import pytest
from osim_texts import (
    COUPLER,
    INERTIA,
    LEG,
    OPENSIM,
    body,
    constant,
    coordinate,
    document,
    joint,
    leg,
    linear,
    markers,
    older_leg,
    plain_joints,
)

import poise as pz
from poise.extending import Array
from poise_motion.osim.reader import read

TEXTS = {"plain_joints": plain_joints, "leg": leg, "older_leg": older_leg}


def written(folder: Path, text: str) -> Path:
    file = folder / "some.osim"
    file.write_text(text)
    return file


@pytest.mark.parametrize("name", TEXTS)
def test_markers_are_where_opensim_has_them(name: str, tmp_path: Path) -> None:
    model = read(written(tmp_path, TEXTS[name]()))
    values, places = getattr(opensim_kept, name.upper())
    q = [values[coordinate] for coordinate in model.coordinates]
    names = [f"{body}.{i}" for body in (osim_texts.LEG if "leg" in name else model.links) for i in range(3)]
    names = [name for name in names if name in model.frames]
    assert np.allclose(model.poses(q, names).xyz, places, rtol=0.0, atol=1e-9)


_ORACLE = """
import sys
import numpy as np
import opensim
opensim.Logger.setLevelString("off")
model = opensim.Model(sys.argv[1])
state = model.initSystem()
coordinates = [model.getCoordinateSet().get(i) for i in range(model.getCoordinateSet().getSize())]
markers = [model.getMarkerSet().get(i) for i in range(model.getMarkerSet().getSize())]
free = [c for c in coordinates if not c.getLocked(state) and not c.isDependent(state)]
rng = np.random.default_rng(0)
q, places = [], []
for _ in range(100):
    for c in free:
        c.setValue(state, rng.uniform(c.getRangeMin(), c.getRangeMax()), False)
    model.assemble(state)
    model.realizePosition(state)
    q.append([c.getValue(state) for c in coordinates])
    places.append([[m.getLocationInGround(state).get(i) for i in range(3)] for m in markers])
names, labels = ([each.getName() for each in some] for some in (coordinates, markers))
np.savez(sys.argv[2], q=q, names=names, places=places, markers=labels)
"""


@pytest.mark.skipif(not OPENSIM.exists(), reason="OpenSim is not installed: make .venv/opensim")
@pytest.mark.parametrize("name", TEXTS)
def test_so_they_are_in_a_hundred_random_configurations(name: str, tmp_path: Path) -> None:
    file, out = written(tmp_path, TEXTS[name]()), tmp_path / "said.npz"
    quiet = {"env": {**os.environ, "PYTHONPATH": ""}, "check": True, "capture_output": True}
    subprocess.run([OPENSIM, "-c", _ORACLE, str(file), str(out)], timeout=120, **quiet)
    model, said = read(file), np.load(out)
    q = said["q"][:, [said["names"].tolist().index(name) for name in model.coordinates]]
    assert np.allclose(model.poses(q, said["markers"].tolist()).xyz, said["places"], rtol=0.0, atol=1e-9)


FULL = "<inertia>0.3 0.2 0.25 0.02 -0.03 0.04</inertia>"
_TORQUES = """
import sys
import numpy as np
import opensim
opensim.Logger.setLevelString("off")
model = opensim.Model(sys.argv[1])
state = model.initSystem()
given = np.load(sys.argv[2])
coordinates = [model.getCoordinateSet().get(i) for i in range(model.getCoordinateSet().getSize())]
places = [given["names"].tolist().index(c.getName()) for c in coordinates]
solver, torques = opensim.InverseDynamicsSolver(model), []
for q, v, a in zip(given["q"], given["v"], given["a"]):
    acceleration = opensim.Vector(len(places), 0.0)
    for i, (c, k) in enumerate(zip(coordinates, places)):
        c.setLocked(state, False)
        c.setValue(state, q[k], False)
        c.setSpeedValue(state, v[k])
        acceleration.set(i, a[k])
    model.realizeVelocity(state)
    found = solver.solve(state, acceleration)
    torques.append([found.get(places.index(k)) for k in range(len(places))])
np.save(sys.argv[3], torques)
"""


def led(rows: Array, knee: int, *, constant: bool) -> Array:
    """(n, 10) rows (n, 8) of the leg's coordinates with beta, which the knee leads, and subtalar, which is locked."""
    beta, subtalar = (0.06, 0.3) if constant else (0.0, 0.0)
    return np.column_stack([rows, 0.96 * rows[:, knee] + beta, np.full(len(rows), subtalar)])


@pytest.mark.skipif(not OPENSIM.exists(), reason="OpenSim is not installed: make .venv/opensim")
def test_motions_take_what_opensim_says(tmp_path: Path) -> None:
    file, given, out = written(tmp_path, leg().replace(INERTIA, FULL)), tmp_path / "given.npz", tmp_path / "said.npy"
    model, rng = read(file), np.random.default_rng(4)
    knee, names = model.index("knee").start, [*model.coordinates, "beta", "subtalar"]
    q, v, a = rng.uniform(-0.5, 0.2, (20, 8)), rng.normal(size=(20, 8)), rng.normal(size=(20, 8))
    each = {"q": led(q, knee, constant=True), "v": led(v, knee, constant=False), "a": led(a, knee, constant=False)}
    np.savez(given, names=names, **each)
    quiet = {"env": {**os.environ, "PYTHONPATH": ""}, "check": True, "capture_output": True}
    subprocess.run([OPENSIM, "-c", _TORQUES, str(file), str(given), str(out)], timeout=120, **quiet)
    said = np.load(out)
    wanted = said[:, :8] + 0.96 * said[:, [8]] * (np.arange(8) == knee)  # by virtual work, what beta takes
    assert np.allclose(model.inverse_dynamics(q, v, a, gravity=(0.0, -9.80665, 0.0)), wanted, rtol=0.0, atol=1e-9)


def test_so_it_was_in_a_state_that_is_kept(tmp_path: Path) -> None:
    model = read(written(tmp_path, leg().replace(INERTIA, FULL)))
    q, v, a, torques = opensim_kept.TORQUES
    assert np.allclose(model.inverse_dynamics(q, v, a, gravity=(0.0, -9.80665, 0.0)), torques, rtol=0.0, atol=1e-9)
    strong = dict.fromkeys(("ankle", "knee"), 1e3)
    limit = pz.TorqueLimit(strong, gravity=(0.0, -9.81, 0.0))
    way = pz.plan(model, pz.PostureTask(), [np.array(q)], q0=model.home, velocity=3.0, limits=[limit])
    assert way.success, way.explain()


def test_inertias_are_about_the_centres_of_masses_in_old_files_too(tmp_path: Path) -> None:
    kept = [[0.3, 0.02, -0.03], [0.02, 0.2, 0.04], [-0.03, 0.04, 0.25]]
    parts = zip(("xx", "yy", "zz", "xy", "xz", "yz"), FULL[9:-10].split(), strict=True)
    older = "".join(f"<inertia_{axes}>{value}</inertia_{axes}>" for axes, value in parts)
    before = older_leg().replace("<mass>2</mass>", f"<mass>2</mass>{older}")
    for text in (leg().replace(INERTIA, FULL), before):
        model = read(written(tmp_path, text))
        assert {body: inertia.tolist() for body, inertia in model.inertias.items()} == dict.fromkeys(LEG, kept)
    light = leg().replace("<mass>2</mass>", "<mass>0</mass>", 1)
    with pytest.warns(pz.ModelWarning, match="without a mass, whose inertia does not count: pelvis\n?$"):
        assert "pelvis" not in read(written(tmp_path, light)).inertias


def test_coordinates_are_joints_with_their_limits_and_defaults(tmp_path: Path) -> None:
    model = read(written(tmp_path, leg()))
    assert set(model.coordinates) == {
        "tilt",
        "list",
        "rotation",
        "px",
        "py",
        "pz",
        "knee",
        "ankle",
    }  # one locked, one led
    knee = model.joint("knee")
    assert (knee.lower[0], knee.upper[0]) == (-2.0, 0.2)
    assert np.isinf(model.joint("tilt").lower).all()  # not clamped
    assert model.home[model.index("py")][0] == 0.9
    assert model.joint("beta").mimic is not None
    assert model.mass == pytest.approx(8.0)
    assert model.frame("foot.0").link == "foot"


def test_a_coordinate_that_no_axis_is_moves_others_alone(tmp_path: Path) -> None:
    six = [("a", axis, linear(2.0) if i < 1 else constant(0)) for i, axis in enumerate(["0 0 1", "0 1 0", "1 0 0"] * 2)]
    text = document(
        f'<Model name="m"><BodySet><objects>{body("b")}</objects></BodySet><JointSet><objects>'
        + joint("CustomJoint", "j", "ground", "/bodyset/b", [coordinate("a")], osim_texts.transform(
            [(of if "2.0" in function else "", axis, function) for of, axis, function in six]),
            ("0 0 0", "0 0 0"), ("0 0 0", "0 0 0"))
        + f"</objects></JointSet>{markers(['b'])}</Model>"
    )  # fmt: skip
    model = read(written(tmp_path, text))
    assert model.coordinates == ("a",)
    assert np.allclose(model.pose("b", [0.3]).rotation.matrix(), pz.SO3.from_rotvec([0, 0, 0.6]).matrix())


def test_load_reads_them_by_their_suffix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def points(*, group: str) -> list[metadata.EntryPoint]:
        some = group == "poise.readers"
        return [metadata.EntryPoint("osim", "poise_motion.osim.reader:read", group)] if some else []

    monkeypatch.setattr(metadata, "entry_points", points)
    assert pz.load(written(tmp_path, leg())).name == "leg"


def test_what_moves_nothing_is_passed_over_with_one_note(tmp_path: Path) -> None:
    force = '<ForceSet><objects><Muscle name="a"/><Muscle name="b"/></objects></ForceSet>'
    with pytest.warns(pz.ModelWarning, match="some.osim:\n  passed over: 2 muscles and other forces"):
        read(written(tmp_path, leg(force)))


def test_other_constraints_are_told_and_not_held(tmp_path: Path) -> None:
    two = COUPLER.format(on="").replace(">knee<", ">knee tilt<")
    for constraint in ('<WeldConstraint name="w"/>', two):
        text = leg().replace("<ConstraintSet><objects>", f"<ConstraintSet><objects>{constraint}")
        text = text.replace(COUPLER.format(on="<isEnforced>true</isEnforced>"), "")
        with pytest.warns(pz.ModelWarning, match="constraints that are not held here: 1 "):
            assert "beta" in read(written(tmp_path, text)).coordinates


def test_a_marker_with_the_name_of_a_body_gets_another(tmp_path: Path) -> None:
    with pytest.warns(pz.ModelWarning, match="its frame is 'foot/marker'"):
        assert "foot/marker" in read(written(tmp_path, leg().replace('"foot.0"', '"foot"'))).frames


def test_letters_of_a_file_that_says_utf8_and_is_none_are_read(tmp_path: Path) -> None:
    file = tmp_path / "some.osim"
    file.write_bytes(leg().replace('name="leg"', 'name="l\xe9g"').encode("latin-1"))
    assert read(file).name == "l\xe9g"


WHOLE = {
    "no xml": ("hello", "not XML"),
    "another root": ("<robot name='r'/>", "<OpenSimDocument>, not <robot>"),
    "no model": (document("<Tool/>"), "there is no <Model> in it, but <Tool>"),
    "cut off": (leg()[:900], "not XML"),
    "entity": ('<!DOCTYPE a [<!ENTITY b "c">]>' + leg().split("\n", 1)[1], "declares an entity"),
}
EDITED = {
    "no number": ("<range>-2 0.2</range>", "<range>-2 x</range>", "'x' is not a number"),
    "no length": ("0.1 0.2 0.3</location>", "0.1 nan 0.3</location>", "nan is no length"),
    "two of three": ("0.1 0.2 0.3</location>", "0.1 0.3</location>", "needs 3 numbers, not 2"),
    "kind of joint": ("CustomJoint", "ScrewJoint", "of Model 'leg' is of a kind that is not read"),
    "kind of function": ("PolynomialFunction", "SineFunction", "a function of a kind that is not read"),
    "frame": ("/bodyset/pelvis</socket_parent>", "/bodyset/hip</socket_parent>", "frame '/bodyset/hip'"),
    "body of a marker": ("/bodyset/foot</socket_parent_frame>", "/x</socket_parent_frame>", "the body '/x'"),
    "coordinate": ("<coordinates>beta</coordinates>", "<coordinates>gamma</coordinates>", "follows 'gamma'"),
    "coupled": ("names>knee<", "names>kneee<", "'kneee', which is not there; did you mean 'knee'"),
    "twice": ('<Coordinate name="subtalar"', '<Coordinate name="knee"', "'knee' is there twice"),
    "range": ("-2 0.2", "0.2 -2", "range the wrong way round"),
    "spline": ("<x>-2 -1.4 -0.8", "<x>-2 -3 -0.8", "SimmSpline"),
    "true": ("<clamped>true", "<clamped>perhaps", "is 'perhaps'; it is true or false"),
    "loose body": ('<Body name="pelvis">', '<Body name="ball"/><Body name="pelvis">', "'leg' hangs on no joint"),
    "no axis": ("<axis>0.6 0.8 0</axis>", "<axis>0 0 0</axis>", "zero axis"),
}
"""What is put in place of what, and what is then said."""


@pytest.mark.parametrize("case", [*WHOLE, *EDITED])
def test_what_is_wrong_with_a_file_is_said_with_its_place(case: str, tmp_path: Path) -> None:
    if case in WHOLE:
        text, words = WHOLE[case]
    else:
        old, new, words = EDITED[case]
        text = leg().replace(old, new)
        if case == "twice":
            text = text.replace("<coordinates>subtalar<", "<coordinates>knee<")
        assert text != leg()
    with pytest.raises(pz.ModelError, match=re.escape(words)) as raised:
        read(written(tmp_path, text))
    assert "some.osim:" in str(raised.value)


def test_files_that_want_too_much_are_refused(tmp_path: Path) -> None:
    deep = "<MultiplierFunction><function>" * 5000 + constant(0.1) + "</function></MultiplierFunction>" * 5000
    assert read(written(tmp_path, leg().replace(osim_texts.scaled(constant(0.02), 0.5), deep))).nq == 8
    many = "".join(f'<WeldJoint name="w{i}"/>' for i in range(2001))
    with pytest.raises(pz.ModelError, match="no body has more than 2,000"):
        read(written(tmp_path, leg().replace("<JointSet><objects>", f"<JointSet><objects>{many}")))


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(pz.ModelError, match="no such file"):
        read(tmp_path / "none.osim")


def test_damaged_files_end_in_sentences(tmp_path: Path) -> None:
    text, rng = leg(), np.random.default_rng(1)
    for _ in range(60):
        at, length = int(rng.integers(len(text))), int(rng.integers(1, 40))
        with suppress(pz.ModelError):
            read(written(tmp_path, text[:at] + text[at + length :]))


def test_markers_may_stand_in_a_file_of_their_own(tmp_path: Path) -> None:
    text = leg()
    found = re.search(r"<MarkerSet.*?</MarkerSet>", text, flags=re.DOTALL)
    assert found is not None
    path = written(tmp_path, text.replace(found[0], '<MarkerSet file="markers.xml"/>'))
    with pytest.raises(pz.ModelError, match=re.escape("markers.xml: no such file")):
        read(path)
    (tmp_path / "markers.xml").write_text(f'<OpenSimDocument Version="30000">{found[0]}</OpenSimDocument>')
    assert read(path).frames == read(written(tmp_path, text)).frames
    (tmp_path / "markers.xml").write_text(found[0])  # without a document around it
    path = written(tmp_path, text.replace(found[0], '<MarkerSet file="markers.xml"/>'))
    assert read(path).frames == read(written(tmp_path, text)).frames


def test_sensors_that_a_placer_wrote_are_frames(tmp_path: Path) -> None:
    frame = (
        '<components><PhysicalOffsetFrame name="{}"><socket_parent>..</socket_parent>'
        "<translation>0 -0.1 0</translation><orientation>0.1 0.2 0.3</orientation></PhysicalOffsetFrame></components>"
    )
    text = leg().replace('<Body name="shank">', '<Body name="shank">' + frame.format("shank_imu"))
    text = text.replace('<Body name="foot">', '<Body name="foot">' + frame.format("other"))
    model = read(written(tmp_path, text))
    assert model.frame("shank_imu").link == "shank"
    turn = pz.SO3.from_rotvec([0.1, 0, 0]) @ pz.SO3.from_rotvec([0, 0.2, 0]) @ pz.SO3.from_rotvec([0, 0, 0.3])
    assert model.frame("shank_imu").origin.isclose(pz.SE3.from_parts([0, -0.1, 0], turn))
    assert "other" not in model.frames


def test_ranges_that_do_not_count_are_not_looked_at(tmp_path: Path) -> None:
    for limits in ("0.2 -2", "-Inf Inf", ""):
        text = leg().replace("<range>-2 0.2</range><clamped>true", f"<range>{limits}</range><clamped>false")
        assert text != leg()
        assert read(written(tmp_path, text)).joint("knee").lower == (-np.inf,)

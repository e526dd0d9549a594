"""The operator's work in files: what is read is what was written, to the last bit, and nothing else is."""

import json
import math
import zipfile
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from support.refusals import refused

import poise as pz
from poise.viewer.operator.attempt import Attempt
from poise.viewer.operator.control_law import Law
from poise.viewer.operator.program import Program
from poise.viewer.operator.robots import ten_links
from poise.viewer.operator.scene import Unreadable, read_scene, scene_text
from poise.viewer.operator.setup import Obstacle, Setup
from poise.viewer.operator.work import Work, load_scene, load_work, save_scene, save_work

ARM = pz.load("planar3")
few = settings(max_examples=25)
numbers = st.floats(-1e6, 1e6)
positive = st.floats(1e-300, 1e6)
points = st.tuples(numbers, numbers, numbers)
poses = st.builds(
    pz.SE3.from_rotvec, st.tuples(*[st.floats(-1e3, 1e3)] * 3), st.tuples(*[st.floats(-3.0, 3.0)] * 3)
)  # fmt: skip
shapes = st.one_of(
    st.builds(pz.Sphere, points, positive),
    st.builds(pz.Capsule, points, points, positive),
    st.builds(pz.Box, poses, st.tuples(positive, positive, positive)),
)
names = st.text(min_size=1, max_size=12).filter(lambda s: s.isprintable() and s == s.strip() and bool(s))
laws = st.builds(
    Law,
    position_stiffness=positive,
    alpha=st.floats(1e-3, 1.999),
    beta=st.none() | st.floats(0.0, 1e3),
    vehicle_limit=st.none() | positive,
    posture_gain=st.floats(0.0, 1e3),
    max_step=st.just(math.inf) | positive,
)
methods = st.sampled_from([
    None,
    pz.methods.DampedLeastSquares(damping=0.1 + 0.2),
    pz.methods.DampedLeastSquares(
        damping=pz.damping.NakamuraHanafusa(), max_error=pz.methods.ClampMag(position=1.0 / 3.0, mode="adaptive")
    ),
    pz.methods.Pseudoinverse(max_step=math.inf),
    pz.methods.ExtendedJacobian(criterion=pz.criteria.RestPosture(q=(0.1, 0.2, 0.3))),
    pz.methods.METHODS["ccd"](),
])  # fmt: skip


@st.composite
def setups(draw: Any) -> Setup:
    obstacles = draw(
        st.lists(
            st.builds(Obstacle, name=names, shape=shapes, repels=st.booleans(), stops=st.booleans()),
            max_size=3,
            unique_by=lambda o: o.name,
        )
    )
    return Setup(
        desired=draw(points), law=draw(laws), method=draw(methods), obstacles=tuple(obstacles),
        min_distance=draw(st.floats(0.0, 1.0)), self_collision=draw(st.booleans()), updates=draw(st.integers(1, 9)),
    )  # fmt: skip


@st.composite
def attempts(draw: Any, name: str) -> Attempt:
    n = draw(st.integers(1, 4))
    steps = draw(st.lists(st.floats(1e-3, 1e3), min_size=n - 1, max_size=n - 1))
    held = sorted(draw(st.sets(st.integers(1, n - 1)))) if n > 1 else []
    return Attempt(
        name=name, model=ARM, frame="tool", turns=draw(st.booleans()), time=np.cumsum([0.0, *steps]),
        q=draw(arrays.arrays(np.float64, (n, 3), elements=numbers)),
        target=draw(arrays.arrays(np.float64, (n, 7), elements=numbers)),
        setups=tuple((row, draw(setups())) for row in (0, *held)),
    )  # fmt: skip


def bits(work: Work) -> list[bytes | str]:
    """Every number of it, as bytes or as text that tells 0.0 from -0.0."""
    every = [work.setup, *(setup for attempt in work.attempts for _, setup in attempt.setups)]
    rows = [x.tobytes() for a in work.attempts for x in (a.time, a.q, a.target)]
    return [work.start.tobytes(), *rows, *map(repr, every)]


@few
@given(st.data())
def test_work_that_is_loaded_is_the_work_that_was_saved(data: Any) -> None:
    kept = tuple(data.draw(attempts(name)) for name in data.draw(st.lists(names, max_size=2, unique=True)))
    committed = data.draw(st.sampled_from([None, *(a.name for a in kept)]))
    work = Work(
        model=ARM, frame="tool", turns=False, start=np.array(data.draw(points)), setup=data.draw(setups()),
        attempts=kept, committed=committed,
    )  # fmt: skip
    with TemporaryDirectory() as folder:
        save_work(f"{folder}/work.npz", work)
        found = load_work(f"{folder}/work.npz", ARM)
        assert [path.name for path in Path(folder).iterdir()] == ["work.npz"]
    assert found == work
    assert bits(found) == bits(work)


@few
@given(setups())
def test_a_scene_that_is_read_is_the_scene_that_was_written(setup: Setup) -> None:
    text = scene_text(setup, ARM)
    found = read_scene(text, ARM, "scene.json")
    assert found == setup
    assert repr(found) == repr(setup)
    assert scene_text(found, ARM) == text


def test_the_program_goes_on_where_it_was_saved(tmp_path: Path) -> None:
    robot = ten_links()
    ours, other = (Program(robot.model, robot.frame, start=robot.start) for _ in range(2))
    ours.add("ball", pz.Sphere((4.5, -3.0, 0.0), 0.3), stops=True)
    ours.tune(alpha=0.7)
    ours.reset(np.linspace(0.1, 0.2, 10))
    ours.record()
    ours.drive((-1.0, 0.0, 0.0))
    for _ in range(20):
        ours.tick(0.02)
    ours.stop()
    ours.commit("attempt 1")
    save_work(tmp_path / "work.npz", ours.work)
    save_scene(tmp_path / "scene.json", ours.moment.setup, ours.model)
    other.open_work(load_work(tmp_path / "work.npz", robot.model))
    assert other.work == ours.work
    assert other.moment.attempts[0].measures == ours.moment.attempts[0].measures
    ours.reset()
    for each in (ours, other):
        each.aim((8.0, 2.0, 0.0))
    for _ in range(20):
        np.testing.assert_array_equal(ours.tick(0.02).q, other.tick(0.02).q)
    assert load_scene(tmp_path / "scene.json", robot.model) == ours.moment.setup


def test_work_of_another_robot_is_refused_by_its_joints(tmp_path: Path) -> None:
    work = Program(ARM, "tool").work
    save_work(tmp_path / "work.npz", work)
    save_scene(tmp_path / "scene.json", work.setup, ARM)
    for model, told in ((pz.load("planar4"), "it has 3 joints there and 4 here"), (pz.load("ur5e"), "joint 0 is")):
        with pytest.raises(ValueError, match=rf"work\.npz is of the robot 'planar3', and this is .*{told}"):
            load_work(tmp_path / "work.npz", model)
        with pytest.raises(ValueError, match=rf"scene\.json is of the robot 'planar3', and this is .*{told}"):
            load_scene(tmp_path / "scene.json", model)
        with refused("inconsistent", "joints"):
            Program(model).open_work(work)


def test_work_with_another_frame_or_target_is_refused() -> None:
    work = Program(ARM, "tool").work
    with refused("inconsistent", "pose of 'tool'"):
        Program(ARM, "tool", turns=True).open_work(work)
    with refused("inconsistent", "position of 'link2'"):
        Program(ARM, "link2").open_work(work)


def good(tmp_path: Path) -> tuple[Path, dict[str, Any]]:
    """An archive with one attempt, and its arrays."""
    ours = Program(ARM, "tool", start=[0.3, 0.2, 0.1])
    ours.record()
    ours.tick(0.1)
    ours.stop()
    save_work(tmp_path / "work.npz", ours.work)
    with np.load(tmp_path / "work.npz", allow_pickle=False) as found:
        return tmp_path / "work.npz", dict(found)


def about(found: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {**found, "about": np.array(json.dumps({**json.loads(found["about"].item()), **changes}))}


CHANGES: list[tuple[Any, str]] = [
    (lambda f: {}, "has no text 'about'"),
    (lambda f: {**f, "about": np.array(3.0)}, "has no text 'about'"),
    (lambda f: {**f, "about": np.array("{")}, "'about' is no JSON"),
    (lambda f: {**f, "about": np.array("[]")}, "must be an object of JSON"),
    (lambda f: about(f, schema=2), "has the schema 2, and this version of poise reads 1"),
    (lambda f: about(f, schema=True), "schema must be int, got True"),
    (lambda f: about(f, setups=[]), "there is no setup 0; the file has 0"),
    (lambda f: about(f, committed="best"), "committed is 'best'"),
    (lambda f: about(f, frame="hand"), "no frame 'hand'"),
    (lambda f: about(f, attempts=[{"name": "x"}]), r"attempts\[0\] has no 'setups'"),
    (lambda f: about(f, attempts=[7]), r"attempts\[0\] must be an object"),
    (lambda f: {k: v for k, v in f.items() if k != "attempt_0_q"}, "has no array 'attempt_0_q'"),
    (lambda f: {**f, "attempt_0_q": np.full((2, 3), np.nan)}, r"attempts\[0\]: q\[0, 0\] is nan"),
    (lambda f: {**f, "attempt_0_q": np.zeros((2, 2))}, r"attempts\[0\]: q must have shape"),
    (lambda f: {**f, "attempt_0_q": np.zeros((2, 3), dtype=np.float32)}, "must be numbers of 64 bits, got float32"),
    (lambda f: {**f, "start_q": np.zeros(4)}, "start_q must have 3 numbers"),
]


@pytest.mark.parametrize(("change", "message"), CHANGES)
def test_a_foreign_archive_is_refused_with_its_name_and_the_place(change: Any, message: str, tmp_path: Path) -> None:
    file, found = good(tmp_path)
    np.savez(file, **change(found))
    with pytest.raises(Unreadable, match=rf"work\.npz.*{message}"):
        load_work(file, ARM)


@pytest.mark.parametrize(
    "content", [b"", b"not at all", b"PK\x03\x04" + bytes(100), "cut", "flip", "pickle", "no array"]
)
def test_a_broken_archive_is_refused(content: Any, tmp_path: Path) -> None:
    file, found = good(tmp_path)
    whole = file.read_bytes()
    if content == "cut":
        file.write_bytes(whole[: len(whole) // 2])
    elif content == "flip":
        middle = len(whole) // 3
        file.write_bytes(whole[:middle] + bytes(b ^ 255 for b in whole[middle : middle + 40]) + whole[middle + 40 :])
    elif content == "no array":
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("about.npy", bytes(100))
    elif content == "pickle":
        np.savez(file, **{**found, "start_q": np.array([{"a": 1}], dtype=object)}, allow_pickle=True)
    else:
        file.write_bytes(content)
    with refused("wrong-format", "work.npz"):
        load_work(file, ARM)


def test_a_file_that_is_not_there_says_so(tmp_path: Path) -> None:
    for read in (load_work, load_scene):
        with pytest.raises(FileNotFoundError, match=r"none\.npz"):
            read(tmp_path / "none.npz", ARM)


SCENES: list[tuple[Any, str]] = [
    (lambda s: s.pop("desired"), "has no 'desired': add it"),
    (lambda s: s["law"].update(gamma=1), "law: there is no setting 'gamma'"),
    (lambda s: s["law"].update(alpha=3.0), "law: alpha is 3.0"),
    (lambda s: s["law"].update(alpha="much"), "law: alpha is 'much'"),
    (lambda s: s.update(desired=[0.0, 1.0]), "desired must be 3 numbers"),
    (lambda s: s.update(desired=[0.0, 1.0, "2"]), "desired must be numbers"),
    (lambda s: s.update(desired=[0.0, 1.0, 10**400]), "desired must be numbers"),
    (lambda s: s.update(method={"kind": "newton"}), "method: there is no 'newton'"),
    (lambda s: s.update(method={"kind": "dls", "damping": {"kind": "os"}}), "method: damping: there is no 'os'"),
    (lambda s: s.update(method={"kind": "dls", "form": "best"}), "method: form is 'best'"),
    (lambda s: s.update(updates=0), "updates"),
    (lambda s: s["obstacles"][0].update(name=3), r"obstacles\[0\]: the name of an obstacle must be a str"),
    (
        lambda s: s["obstacles"][0].update(repels=1),
        r"obstacles\[0\]: repels of the obstacle 'ball' must be True",
    ),
    (lambda s: s["obstacles"][0]["shape"].update(kind="cone"), r"obstacles\[0\]: shape: there is no 'cone'"),
    (lambda s: s["obstacles"][0]["shape"].update(radius=-1.0), r"obstacles\[0\]: shape: radius is -1.0"),
    (lambda s: s["obstacles"][0]["shape"].pop("centre"), r"obstacles\[0\]: shape has no 'centre'"),
    (lambda s: s["obstacles"][1]["shape"]["pose"].update(numbers=[0.0] * 7), "must be a quaternion of length 1"),
    (lambda s: s.update(law=s["obstacles"][0]), "a setup has a Law"),
    (lambda s: s.update(obstacles=[1]), "and obstacles; got 1"),
    (lambda s: s["obstacles"].append(s["obstacles"][0]), "there is an obstacle 'ball' already"),
    (lambda s: s.update(obstacles={}), "obstacles has no 'kind'"),
]


@pytest.mark.parametrize(("change", "message"), SCENES)
def test_a_scene_that_makes_no_sense_is_refused_with_the_place(change: Any, message: str, tmp_path: Path) -> None:
    obstacles = (
        Obstacle(name="ball", shape=pz.Sphere((0.0, 0.0, 0.0), 0.1)),
        Obstacle(name="box", shape=pz.Box(pz.SE3.identity(), (1.0, 1.0, 1.0))),
    )
    scene = json.loads(scene_text(replace(Setup.of(ARM), obstacles=obstacles), ARM))
    change(scene)
    (tmp_path / "scene.json").write_text(json.dumps(scene))
    with pytest.raises(Unreadable, match=rf"scene\.json.*{message}"):
        load_scene(tmp_path / "scene.json", ARM)


@pytest.mark.parametrize("text", [b"", b"{", b"[1]", b'{"schema": NaN}', b"\xff\xfe", b"[" * 100_000])
def test_what_is_no_scene_is_refused(text: bytes, tmp_path: Path) -> None:
    (tmp_path / "scene.json").write_bytes(text)
    with refused("wrong-format", "scene.json"):
        load_scene(tmp_path / "scene.json", ARM)


def test_a_write_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    file, _ = good(tmp_path)
    before = file.read_bytes()
    work = load_work(file, ARM)
    with refused("not-supported", "Clearance"):
        save_work(file, replace(work, setup=replace(work.setup, method=_unwritable())))
    assert file.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["work.npz"]
    with pytest.raises(OSError, match="nowhere"):
        save_work(tmp_path / "nowhere" / "work.npz", work)


def _unwritable() -> pz.methods.ExtendedJacobian:
    return pz.methods.ExtendedJacobian(criterion=pz.criteria.Clearance(obstacles=[pz.Sphere((0.0, 5.0, 0.0), 0.1)]))

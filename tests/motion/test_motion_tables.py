"""Motions in tables: what is written is read again, and what is no motion is refused in a sentence."""

import io
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.refusals import refused

import poise as pz
from poise.common.errors import PoiseError
from poise.model.builder import ModelBuilder
from poise.motion.clip import Motion, load_motion
from poise.motion.tables import FRAME
from poise.spatial import SE3
from poise.viewer.operator.program import Program
from poise.viewer.operator.robots import ten_links
from poise.viewer.operator.work import save_work

ARM = pz.load("planar3")
ROWS = np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6], [0.7, -0.8, 0.9]])
NAMES = np.array(ARM.coordinates)
HEADER = ",".join(ARM.coordinates)


def archive(**arrays: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.savez_compressed(out, **arrays)
    return out.getvalue()


def one_array() -> bytes:
    out = io.BytesIO()
    np.save(out, np.zeros(3))
    return out.getvalue()


def test_a_joint_path_comes_back_from_its_csv(tmp_path: Path) -> None:
    path = pz.solve_path(ARM, pz.PositionTask("tool"), [[2.0, 0.5, 0.0], [2.0, 0.6, 0.0], [1.9, 0.7, 0.0]])
    path.to_csv(tmp_path / "way.csv")
    found = load_motion(tmp_path / "way.csv", model=ARM)
    assert (found.q == path.q).all()
    assert found.times == pytest.approx(FRAME * np.arange(3))


@pytest.mark.parametrize("header", ["{}", "q_{}", "{} [rad]", " {} "])
@pytest.mark.parametrize("clock", ["time", "time_s", "time [s]"])
def test_columns_are_found_by_name_in_any_order(tmp_path: Path, header: str, clock: str) -> None:
    names = [*(header.format(name) for name in reversed(ARM.coordinates)), "note", clock]
    lines = [",".join([*map(str, row[::-1]), "word", str(5.0 + 2.0 * i)]) for i, row in enumerate(ROWS)]
    file = tmp_path / "m.csv"
    file.write_text("\ufeff" + "\n".join([",".join(names), *lines, "", ""]))
    found = load_motion(file, model=ARM)
    assert (found.q == ROWS).all()
    assert found.times.tolist() == [0.0, 2.0, 4.0]
    assert found.duration == 4.0


def test_names_that_look_like_prefixes_and_times_are_joints_where_the_model_has_them(tmp_path: Path) -> None:
    builder = ModelBuilder("odd")
    builder.joint("q_1", "revolute", parent="world", child="a", axis=(0, 0, 1))
    builder.joint("1", "revolute", parent="a", child="b", axis=(0, 0, 1), origin=SE3.from_parts((1.0, 0.0, 0.0)))
    model = builder.build()
    file = tmp_path / "m.csv"
    for header in ("q_1,1", "q_q_1,1"):
        file.write_text(f"{header}\n0.25,0.5\n")
        assert load_motion(file, model=model).q.tolist() == [[0.25, 0.5]]


def test_an_archive_comes_back(tmp_path: Path) -> None:
    file = tmp_path / "m.npz"
    file.write_bytes(archive(q=ROWS[:, ::-1], joints=NAMES[::-1], time_s=np.array([1.0, 1.5, 3.0])))
    found = load_motion(file, model=ARM)
    assert (found.q == ROWS).all()
    assert found.times.tolist() == [0.0, 0.5, 2.0]
    assert found.up == "z"


@pytest.mark.parametrize("up", ["y", "z"])
def test_what_is_up_comes_back_with_an_archive(tmp_path: Path, up: Literal["y", "z"]) -> None:
    pz.Motion(ARM, [0.0, 1.0], ROWS[:2], up=up).save(tmp_path / "m.npz")
    assert load_motion(tmp_path / "m.npz", model=ARM).up == up


GOOD = archive(q=np.zeros((50, 3)), joints=NAMES, time_s=np.arange(50.0))
BAD = {
    "empty.csv": (b"", "no column for joint1"),
    "header.csv": (HEADER.encode(), "no row"),
    "short.csv": (f"{HEADER}\n1,2,3\n1,2\n".encode(), "row 1 has 2 columns"),
    "word.csv": (f"{HEADER}\n1,2,3\n1,x,3\n".encode(), "'x'"),
    "nan.csv": (f"{HEADER}\n1,2,3\n1,nan,3\n".encode(), "row 1 holds a number that is not finite"),
    "huge.csv": (f"{HEADER}\n1,1e300,3\n".encode(), "joint2"),
    "other.csv": (b"joint1,joint2\n1,2\n", "no column for joint3 of planar3; its columns are joint1, joint2"),
    "back.csv": (f"time_s,{HEADER}\n0,1,2,3\n1,1,2,3\n1,1,2,3\n".encode(), "the time of row 2 does not grow"),
    "clock.csv": (f"time_s,{HEADER}\nnoon,1,2,3\n".encode(), "'noon'"),
    "bytes.csv": (bytes(range(256)), "cannot be read"),
    "wide.csv": (f"{HEADER}\n{'9' * 200_000},2,3\n".encode(), "cannot be read"),
    "empty.npz": (b"", "cannot be read"),
    "text.npz": (b"hello", "cannot be read"),
    "half.npz": (GOOD[: len(GOOD) // 2], "cannot be read"),
    "flipped.npz": (GOOD[:60] + bytes(40) + GOOD[100:], "cannot be read"),
    "array.npz": (one_array(), "no archive"),
    "no_q.npz": (archive(joints=NAMES), "cannot be read"),
    "flat.npz": (archive(q=np.zeros(3), joints=NAMES), "q has shape"),
    "one_name.npz": (archive(q=np.zeros((2, 3)), joints=np.array("joint1")), "q has shape"),
    "clock.npz": (archive(q=np.zeros((2, 3)), joints=NAMES, time_s=np.zeros((2, 2))), "cannot be read"),
    "objects.npz": (archive(q=np.zeros((2, 3)), joints=NAMES.astype(object)), "cannot be read"),
    "words.npz": (archive(q=np.array([["a", "b", "c"]]), joints=NAMES), "cannot be read"),
    "none.npz": (archive(q=np.zeros((0, 3)), joints=NAMES), "no row"),
    "motion.txt": (b"", "must end in .bvh, .glb, .gltf, .vrm, .csv, .npz, .mot"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_motion_is_refused_in_a_sentence(tmp_path: Path, name: str) -> None:
    content, says = BAD[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(pz.PoiseError) as said:
        load_motion(tmp_path / name, model=ARM)
    assert says in str(said.value)
    assert name in str(said.value)


def test_a_file_that_is_not_there_and_a_folder_are_refused(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    for name in ("none.csv", "none.npz", "folder.csv"):
        with pytest.raises(pz.PoiseError, match=rf"{name} cannot be read: [A-Z][^']*$"):
            load_motion(tmp_path / name, model=ARM)


# Rows alone ----------------------------------------------------------------------------------------------------------


def rover() -> pz.Model:
    builder = ModelBuilder("rover")
    builder.joint("base", "floating", parent="world", child="body")
    builder.joint("neck", "revolute", parent="body", child="head", axis=(0, 1, 0))
    builder.joint("tail", "revolute", parent="body", child="end", axis=(0, 1, 0))
    return builder.build()


def drive() -> Motion:
    model = rover()
    return Motion(model, np.arange(12) / 50.0, model.sample(12, seed=1))


def test_rows_without_a_header_are_the_root_its_quaternion_and_the_joints(tmp_path: Path) -> None:
    motion, file = drive(), tmp_path / "walk.csv"
    motion.save(file, header=False, quaternion="xyzw")
    q = motion.q
    assert (np.loadtxt(file, delimiter=",") == q[:, [0, 1, 2, 4, 5, 6, 3, 7, 8]]).all()
    found = load_motion(file, model=motion.model, fps=50, quaternion="xyzw")
    assert np.allclose(found.q, q, rtol=0, atol=1e-15)
    assert found.times == pytest.approx(motion.times)
    motion.save(file, header=False, joints=["tail", "neck"])
    assert (np.loadtxt(file, delimiter=",") == q[:, [0, 1, 2, 3, 4, 5, 6, 8, 7]]).all()
    found = load_motion(file, model=motion.model, fps=50, quaternion="wxyz", joints=["tail", "neck"])
    assert np.allclose(found.q, q, rtol=0, atol=1e-15)


def test_a_table_with_names_has_the_joints_that_are_asked_for(tmp_path: Path) -> None:
    drive().save(tmp_path / "m.csv", joints=["tail", "base"], quaternion="xyzw")
    header = (tmp_path / "m.csv").read_text().split("\n")[0]
    assert header == "time_s,tail,base.x,base.y,base.z,base.qx,base.qy,base.qz,base.qw"


def test_rows_of_a_robot_that_stands_need_no_quaternion(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("0.1,0.2,0.3\n0.4,0.5,0.6\n")
    found = load_motion(tmp_path / "m.csv", model=ARM, fps=10, joints=["joint2", "joint1", "joint3"])
    assert found.q.tolist() == [[0.2, 0.1, 0.3], [0.5, 0.4, 0.6]]
    assert found.times.tolist() == [0.0, 0.1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "say how many are a second with fps"),
        ({"fps": 50}, "say the order of quaternions"),
        ({"fps": 50, "quaternion": "xyzw", "joints": ["neck"]}, "9 numbers, and rover 8: base.x, base.y"),
        ({"fps": 50, "quaternion": "xyzw", "joints": ["base", "neck", "neck"]}, "names a joint twice"),
        ({"fps": 50, "quaternion": "xyzw", "joints": ["neck", "tail", "base"]}, "quaternion of base of length"),
        ({"fps": 50, "quaternion": "xyzw", "joints": ["neck", "tai"]}, "did you mean 'tail'"),
        ({"fps": 50, "quaternion": "wzyx"}, "must be 'wxyz' or 'xyzw'"),
        ({"fps": 50, "quaternion": "xyzw", "joints": "neck"}, "must be a list of names, got 'neck'"),
    ],
)
def test_what_rows_without_a_header_do_not_say_must_be_said(
    tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    drive().save(tmp_path / "m.csv", header=False, quaternion="xyzw")
    with pytest.raises((PoiseError, ValueError), match=message):
        load_motion(tmp_path / "m.csv", model=rover(), **options)


@pytest.mark.parametrize(("text", "columns"), [("", "none"), ("0 0 0\n", "0 0 0"), ("0;0;0\n", "0;0;0")])
def test_what_has_no_columns_of_the_model_is_told_what_it_has(tmp_path: Path, text: str, columns: str) -> None:
    (tmp_path / "m.csv").write_text(text)
    with pytest.raises(PoiseError, match=f"no column for base.x, .*; its columns are {columns}$"):
        load_motion(tmp_path / "m.csv", model=rover(), fps=50, quaternion="xyzw")


def test_a_motion_for_a_robots_file_is_called_what_it_is(tmp_path: Path) -> None:
    drive().save(tmp_path / "m.npz")
    with pytest.raises(pz.ModelError, match=r"m\.npz: this is a motion without its robot; .* load_motion reads it"):
        pz.load(tmp_path / "m.npz")


def test_frames_that_are_not_even_need_a_header(tmp_path: Path) -> None:
    motion = drive()
    uneven = Motion(motion.model, motion.times**2, motion.q)
    with pytest.raises(ValueError, match=r"0\.0004 to 0\.0084 s apart"):
        uneven.save(tmp_path / "m.csv", header=False)
    motion.save(tmp_path / "m.csv")
    with refused("conflict", "quaternion and joints"):
        load_motion(tmp_path / "m.csv", model=motion.model, quaternion="xyzw")
    with refused("conflict", "header"):
        motion.save(tmp_path / "m.npz", header=False)
    for name, options in (("m.bvh", {"joints": ["a"]}), ("m.csv", {"skin": 0}), ("m.bvh", {"animation": "walk"})):
        with refused("conflict"):
            load_motion(tmp_path / name, **options)  # type: ignore[arg-type]


@settings(max_examples=100)
@given(st.lists(st.lists(st.floats() | st.sampled_from([0, 1, "", "x"]), min_size=7, max_size=10), max_size=4))
def test_no_rows_do_anything_but_a_sentence(rows: list[list[Any]]) -> None:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        file = Path(folder) / "m.csv"
        file.write_text("\n".join(",".join(map(str, row)) for row in rows))
        try:
            found = load_motion(file, model=rover(), fps=30, quaternion="xyzw")
        except pz.PoiseError as error:
            assert file.name in str(error)  # noqa: PT017
        except ValueError as error:
            assert "names its columns" in str(error)  # noqa: PT017
        else:
            assert np.isfinite(found.q).all()


@settings(max_examples=60)
@given(st.binary(max_size=200), st.sampled_from([".csv", ".npz"]), st.integers(0, len(GOOD)))
def test_no_bytes_do_anything_but_a_sentence(noise: bytes, kind: str, cut: int) -> None:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        file = Path(folder) / f"m{kind}"
        file.write_bytes(noise if kind == ".csv" else GOOD[:cut] + noise + GOOD[cut + len(noise) :])
        try:
            found = load_motion(file, model=ARM)
        except pz.PoiseError as error:
            assert file.name in str(error)  # noqa: PT017
        else:
            assert np.isfinite(found.q).all()


def test_between_rows_it_goes_straight_and_before_and_after_it_stands() -> None:
    motion = Motion(ARM, np.array([0.0, 1.0, 3.0]), ROWS)
    for time, want in ((-1.0, ROWS[0]), (0.0, ROWS[0]), (1.0, ROWS[1]), (3.0, ROWS[2]), (9.0, ROWS[2])):
        assert motion.at(time) == pytest.approx(want)
    assert motion.at(0.5) == pytest.approx(0.5 * (ROWS[0] + ROWS[1]))
    assert motion.at(2.5) == pytest.approx(0.25 * ROWS[1] + 0.75 * ROWS[2])
    alone = Motion(ARM, np.zeros(1), ROWS[:1])
    for time in (-1.0, 0.0, 1.0):
        assert (alone.at(time) == ROWS[0]).all()


def test_a_ball_joint_turns_at_an_even_speed() -> None:
    builder = ModelBuilder("ball")
    builder.joint("ball", "spherical", parent="world", child="a")
    model = builder.build()
    half = np.array([np.cos(0.6), 0.0, 0.0, np.sin(0.6)])
    motion = Motion(model, np.array([0.0, 1.0]), np.array([[1.0, 0.0, 0.0, 0.0], half]))
    for share in (0.25, 0.5, 0.75):
        assert motion.at(share) == pytest.approx([np.cos(0.6 * share), 0.0, 0.0, np.sin(0.6 * share)])


def test_the_operators_work_is_called_what_it_is(tmp_path: Path) -> None:
    robot = ten_links()
    save_work(tmp_path / "work.npz", Program(robot.model, robot.frame, start=robot.start).work)
    with pytest.raises(PoiseError, match=r"open it with --operate --work"):
        load_motion(tmp_path / "work.npz", model=robot.model)

"""Motions in tables: what is written is read again, and what is no motion is refused in a sentence."""

import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import poise as pz
from poise.errors import PoiseError
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
    "motion.txt": (b"", "must end in .bvh, .glb, .gltf, .csv or .npz"),
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
        with pytest.raises(pz.PoiseError, match="cannot be read"):
            load_motion(tmp_path / name, model=ARM)


@settings(deadline=None, derandomize=True, max_examples=60)
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

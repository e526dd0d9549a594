"""Tables of OpenSim: what is written is read, degrees and paths of states are understood, and the rest is refused."""

import re
from pathlib import Path

import numpy as np
import pytest

import poise as pz


def leg() -> pz.Model:
    """A hinge, a slide and a hinge that follows the first by a function."""
    b = pz.ModelBuilder("leg")
    b.joint("knee", "revolute", parent="thigh", child="shank")
    b.joint("length", "prismatic", parent="shank", child="end")
    bend = pz.JointFunction.polynomial([0.1, 0.5, 0.2])
    b.joint("patella", "revolute", parent="thigh", child="cap", mimic=pz.Mimic(joint="knee", function=bend))
    b.joint("j/axis", "revolute", parent="thigh", child="other", mimic=pz.Mimic(joint="knee"))
    return b.build()


def table(folder: Path, text: str, name: str = "it.mot") -> Path:
    file = folder / name
    file.write_text(text)
    return file


TEXT = "Coordinates\nversion=1\nnRows=2\nnColumns=3\ninDegrees=yes\n\nendheader\ntime\tknee\tlength\n"


@pytest.mark.parametrize("suffix", [".mot", ".sto"])
def test_what_is_written_is_read(suffix: str, tmp_path: Path) -> None:
    model, rng = leg(), np.random.default_rng(0)
    motion = pz.Motion(model, [0.4, 0.5, 0.7], rng.uniform(-2, 2, (3, 2)), up="y")
    motion.save(tmp_path / f"it{suffix}")
    again = pz.load_motion(tmp_path / f"it{suffix}", model=model)
    assert np.allclose(again.q, motion.q, rtol=0, atol=1e-15)
    assert np.array_equal(again.times, motion.times)  # which are those of the trial
    assert (again.name, again.up) == ("it", "y")
    assert pz.load_motion(tmp_path / f"it{suffix}", model=model, up="z").up == "z"


def test_turns_are_written_in_degrees_and_followers_beside_them(tmp_path: Path) -> None:
    pz.Motion(leg(), [0.0], [[0.5, 0.3]]).save(tmp_path / "it.mot")
    *_, names, row = (tmp_path / "it.mot").read_text().splitlines()
    assert names.split("\t") == ["time", "knee", "length", "patella"]
    assert np.allclose([float(x) for x in row.split("\t")], [0, np.degrees(0.5), 0.3, np.degrees(0.1 + 0.25 + 0.05)])


def test_degrees_are_those_of_turns_alone(tmp_path: Path) -> None:
    motion = pz.load_motion(table(tmp_path, TEXT + "0.4\t90\t2\n0.5\t-90\t3\n\n"), model=leg())
    assert np.allclose(motion.q, [[np.pi / 2, 2], [-np.pi / 2, 3]])
    plain = TEXT.replace("yes", "no") + "0.4 1.5 2\n"
    assert np.allclose(pz.load_motion(table(tmp_path, plain), model=leg()).q, [[1.5, 2]])


def test_a_header_without_units_of_turns_is_told(tmp_path: Path) -> None:
    silent = pz.load_motion(table(tmp_path, TEXT.replace("inDegrees=yes\n", "") + "0.4 1.5 2\n"), model=leg())
    assert np.allclose(silent.q, [[1.5, 2]])
    assert silent.notes == ("the header says no inDegrees; turns are taken as radians, as OpenSim does",)
    assert pz.load_motion(table(tmp_path, TEXT + "0.4 1.5 2\n"), model=leg()).notes == ()


def test_states_have_the_names_of_their_coordinates(tmp_path: Path) -> None:
    text = "states\nendheader\n"
    text += "time\t/jointset/k/knee/value\t/jointset/k/knee/speed\t/jointset/l/length/value\n0\t1\t9\t2\n"
    assert pz.load_motion(table(tmp_path, text, "it.sto"), model=leg()).q.tolist() == [[1, 2]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no line of it is 'endheader'"),
        ("knee,length\n0,1\n", "no line of it is 'endheader'"),
        (TEXT.replace("time", "frame") + "0 1 2\n", "is not 'time'"),
        (TEXT, "has no row"),
        (TEXT + "0\t1\t2\n0.1\t1\n", "line 10 has 2 numbers, and there are 3 names"),
        (TEXT + "0\t1\tx\n", "line 9 holds what is no number"),
        (TEXT + "0\t1\tnan\n", "row 0 holds a number that is not finite"),
        (TEXT + "0\t1\t1\n0\t1\t1\n", "the time of row 1 does not grow"),
        (TEXT.replace("\tlength", "\tother") + "0 1 2\n", "no column for length"),
        ("x\nDataType=Quaternion\nendheader\ntime a\n0 1\n", "its DataType is 'quaternion'"),
    ],
)
def test_what_is_no_such_table_is_told(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(pz.PoiseError, match=re.escape(words)) as raised:
        pz.load_motion(table(tmp_path, text), model=leg())
    assert "it.mot" in str(raised.value)


def test_a_file_of_bytes_is_no_table(tmp_path: Path) -> None:
    (tmp_path / "it.mot").write_bytes(bytes(range(256)) * 40)
    with pytest.raises(pz.PoiseError, match=r"it.mot cannot be read"):
        pz.load_motion(tmp_path / "it.mot", model=leg())
    with pytest.raises(pz.PoiseError, match="No such file"):
        pz.load_motion(tmp_path / "none.mot", model=leg())

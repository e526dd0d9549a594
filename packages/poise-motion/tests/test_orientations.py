"""Files of orientations: OpenSense's tables, texts of Xsens, tables of APDM, and what is done with them in memory."""

import pickle
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import poise as pz
from poise.imus import Orientations, load_orientations

TABLE = (
    "DataRate=100.000000\nDataType=Quaternion\nversion=3\nOpenSimVersion=4.1\nendheader\n"
    "time\tpelvis_imu\ttibia_r_imu\n"
    "0\t1,0,0,0\t0,1,0,0\n0.01\t0.6,0.8,0,0\tnan,nan,nan,nan\n0.02\t0,0,0,1\t0,0,0,0\n"
)


def written(folder: Path, text: str, name: str = "walk.sto") -> Path:
    file = folder / name
    file.write_text(text)
    return file


def test_a_table_of_opensense_has_names_times_and_quaternions(tmp_path: Path) -> None:
    found = load_orientations(written(tmp_path, TABLE))
    assert found.names == ("pelvis_imu", "tibia_r_imu")
    assert found.times.tolist() == [0.0, 0.01, 0.02]
    assert np.allclose(found.wxyz[:, 0], [[1, 0, 0, 0], [0.6, 0.8, 0, 0], [0, 0, 0, 1]])
    assert found.gaps.tolist() == [[False, False], [False, True], [False, True]]
    assert "2 sensors, 3 frames at 100 Hz, 33 % are gaps" in repr(found)


def random(count: int = 7, seed: int = 0) -> Orientations:
    turns = pz.SO3.from_rotvec(np.random.default_rng(seed).uniform(-1.5, 1.5, (count, 3, 3)))
    wxyz = turns.wxyz.copy()
    wxyz[2, 1] = np.nan
    return Orientations(["a", "b", "c"], 0.25 * np.arange(count), wxyz, "trial")


def test_what_is_written_is_read(tmp_path: Path) -> None:
    one = random()
    one.save(tmp_path / "it.sto")
    again = load_orientations(tmp_path / "it.sto")
    assert again.names == one.names
    assert np.array_equal(again.times, one.times)
    assert np.allclose(again.wxyz, one.wxyz, rtol=0, atol=1e-15, equal_nan=True)
    with pytest.raises(ValueError, match=re.escape("must end in .sto")):
        one.save(tmp_path / "it.trc")
    for name in ("a\tb", "a\nb", "", " a"):
        with pytest.raises(ValueError, match=r"the sensor .* cannot be written"):
            one.renamed({"a": name}).save(tmp_path / "no.sto")
    assert not (tmp_path / "no.sto").exists()


def test_they_are_turned_cut_renamed_and_travel() -> None:
    one, turn = random(), pz.SO3.from_rpy([0.3, -0.2, 1.0])
    there = ~one.gaps
    turned = one.turned(turn)
    expected = turn.matrix() @ pz.SO3(wxyz=one.wxyz[there]).matrix()
    assert np.allclose(pz.SO3(wxyz=turned.wxyz[there]).matrix(), expected)
    assert np.array_equal(turned.gaps, one.gaps)
    assert one.between(0.5, 1.0).times.tolist() == [0.5, 0.75, 1.0]
    assert one[1:3].of(["c"]).renamed({"c": "x"}).names == ("x",)
    arrived = pickle.loads(pickle.dumps(one))
    assert np.array_equal(arrived.wxyz, one.wxyz, equal_nan=True)
    assert (arrived.name, len(arrived)) == ("trial", 7)
    with pytest.raises(ValueError, match="read-only"):
        one.wxyz[0] = 0.0
    for other in ([1.0, 0.0, 0.0, 0.0], pz.SO3(wxyz=one.wxyz[0])):
        with pytest.raises(TypeError, match="rotation must be one SO3"):
            one.turned(other)  # type: ignore[arg-type]


def test_between_frames_they_turn_evenly_the_shorter_way() -> None:
    turns = pz.SO3.from_rotvec([[[0, 0, 0.1]], [[0, 0, 0.5]], [[0, 0, 0.9]]]).wxyz.copy()
    turns[1] *= -1.0  # the same rotation
    turns[2] = np.nan
    one = Orientations(["a"], [0.0, 1.0, 2.0], turns)
    found = one.at([-0.5, 0.0, 0.25, 1.0, 1.5])
    assert found.gaps[:, 0].tolist() == [True, False, False, False, True]
    assert np.allclose(pz.SO3(wxyz=found.wxyz[1:4, 0]).log()[:, 2], [0.1, 0.2, 0.5])
    assert np.allclose(one[:1].at([0.0]).wxyz, one.wxyz[:1])


def test_lengths_of_quaternions_are_no_matter_and_told_in_files(tmp_path: Path) -> None:
    text = TABLE.replace("0.6,0.8,0,0", "6,8,0,0").replace("0,1,0,0", "nan,nan,nan,nan")
    found = load_orientations(written(tmp_path, text))
    assert np.allclose(found.wxyz[1, 0], [0.6, 0.8, 0, 0])
    assert found.notes == ("never measured: tibia_r_imu", "quaternions that are not of length 1: pelvis_imu")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("DataType=Quaternion", "DataType=double", "its DataType is 'double'"),
        ("DataType=Quaternion\n", "", "its DataType is 'not said'"),
        ("endheader\n", "", "no line of it is 'endheader'"),
        ("1,0,0,0", "1,0,0", "walk.sto:7: a cell is no quaternion"),
        ("1,0,0,0", "1,0,0,x", "walk.sto:7: a cell is no quaternion"),
        ("\t0,1,0,0", "", "line 7 has 2 numbers, and there are 3 names"),
        ("0.02\t", "0.01\t", "times must grow"),
        ("tibia_r_imu", "pelvis_imu", "the sensor 'pelvis_imu' is there twice"),
        (TABLE[TABLE.index("0\t1,") :], "", "sensors need one frame"),
    ],
)
def test_what_is_no_such_table_is_told(old: str, new: str, words: str, tmp_path: Path) -> None:
    assert old in TABLE
    file = written(tmp_path, TABLE.replace(old, new))
    with pytest.raises(pz.ModelError, match=re.escape(words)) as raised:
        load_orientations(file)
    assert "walk.sto" in str(raised.value)


def test_damaged_tables_end_in_sentences(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for _ in range(60):
        at, length = int(rng.integers(len(TABLE))), int(rng.integers(1, 30))
        with suppress(pz.ModelError):
            load_orientations(written(tmp_path, TABLE[:at] + TABLE[at + length :]))


# What sensors' own programs write ---------------------------------------------------------------------------------

XSENS = (
    "// Start Time: Unknown\n// Update Rate: 50.0Hz\n// Firmware Version: 4.0.2\n"
    "PacketCounter\tSampleTimeFine\tAcc_X\tMat[1][1]\tMat[2][1]\tMat[3][1]\tMat[1][2]\tMat[2][2]\tMat[3][2]\t"
    "Mat[1][3]\tMat[2][3]\tMat[3][3]\n"
)


def xsens(turns: pz.SO3, packets: list[int]) -> str:
    """As MT Manager writes matrices: column by column, six digits."""
    rows = [
        f"{p:05}\t\t9.8\t" + "\t".join(f"{x:.6f}" for x in m.T.ravel())
        for p, m in zip(packets, turns.matrix(), strict=True)
    ]
    return XSENS + "\n".join(rows) + "\n"


def test_texts_of_xsens_are_put_side_by_side_by_their_packets(tmp_path: Path) -> None:
    turns = pz.SO3.from_rotvec(np.random.default_rng(1).uniform(-1.5, 1.5, (4, 3)))
    some = pz.SO3(wxyz=turns.wxyz[[0, 1, 3]])
    one = written(tmp_path, xsens(turns, [65534, 65535, 0, 1]), "MT_00B42268.txt")
    header = XSENS[: XSENS.index("Mat")] + "Quat_q0\tQuat_q1\tQuat_q2\tQuat_q3\n"
    rows = [f"{p}\t\t9.8\t" + "\t".join(map(str, q)) for p, q in zip([65535, 0, 2], some.wxyz, strict=True)]
    other = written(tmp_path, header + "\n".join(rows), "MT_00B42279.txt")
    found = load_orientations({"pelvis_imu": one, "torso_imu": other})
    assert found.times.tolist() == [0.0, 0.02, 0.04, 0.06, 0.08]
    assert found.gaps.tolist() == [[False, True], [False, False], [False, False], [False, True], [True, False]]
    assert np.allclose(pz.SO3(wxyz=found.wxyz[:4, 0]).matrix(), turns.matrix(), atol=2e-6)
    assert np.allclose(pz.SO3(wxyz=found.wxyz[[1, 2, 4], 1]).matrix(), some.matrix())
    assert load_orientations({"a": one}, rate=100.0).rate == pytest.approx(100.0)


def test_settings_of_opensim_name_the_texts(tmp_path: Path) -> None:
    turns = pz.SO3.from_rotvec([[0.1, 0.2, 0.3], [0.2, 0.2, 0.3]])
    (tmp_path / "data").mkdir()
    written(tmp_path / "data", xsens(turns, [7, 8]), "MT_001_00B42268.txt")
    sensor = '<ExperimentalSensor name="_00B42268"><name_in_model>pelvis_imu</name_in_model></ExperimentalSensor>'
    text = (
        '<OpenSimDocument Version="40000"><XsensDataReaderSettings><data_folder>data</data_folder><trial_prefix>MT_001'
        f"</trial_prefix><ExperimentalSensors>{sensor}</ExperimentalSensors></XsensDataReaderSettings></OpenSimDocument>"
    )
    found = load_orientations(written(tmp_path, text, "mappings.xml"))
    assert found.names == ("pelvis_imu",)
    assert np.allclose(pz.SO3(wxyz=found.wxyz[:, 0]).log(), turns.log(), atol=1e-5)
    with pytest.raises(pz.ModelError, match="names no <ExperimentalSensor>"):
        load_orientations(written(tmp_path, text.replace(sensor, ""), "none.xml"))
    for said, rate in (("25", 25.0), ("0", 50.0), ("1e2", 100.0), ("Inf", 50.0)):
        rated = text.replace("<ExperimentalSensors>", f"<sampling_rate>{said}</sampling_rate><ExperimentalSensors>")
        assert load_orientations(written(tmp_path, rated, "rated.xml")).rate == pytest.approx(rate)


def test_matrices_that_are_no_rotations_are_gaps(tmp_path: Path) -> None:
    turns = pz.SO3.from_rotvec([[0.1, 0.2, 0.3], [0.2, 0.2, 0.3]])
    rows = xsens(turns, [7, 8]).splitlines()
    for wrong in (-np.eye(3), 2.0 * np.eye(3), np.zeros((3, 3)), np.full((3, 3), 1e200)):
        rows[-1] = "8\t\t9.8\t" + "\t".join(map(str, wrong.ravel()))
        found = load_orientations({"a": written(tmp_path, "\n".join(rows), "a.txt")})
        assert found.gaps[:, 0].tolist() == [False, True]


def test_numbers_without_an_end_are_gaps() -> None:
    found = Orientations(["a"], [0.0, 1.0], [[[1.0, 0.0, 0.0, 0.0]], [[1e200, 1e200, 0.0, 0.0]]])
    assert found.gaps[:, 0].tolist() == [False, True]


APDM = (
    "Test Name:,walk,,\nSample Rate:,128,Hz,\n"
    "Time,Lumbar/Acceleration/X,Lumbar/Orientation/Scalar,Lumbar/Orientation/X,Lumbar/Orientation/Y,"
    "Lumbar/Orientation/Z\ns,m/s^2,,,,\n0,9,1,0,0,0\n0.0078,9,0.6,0,0.8,0\n"
)


SEVENTH = (
    "Format=7,5718,,,Lumbar,,,,,,,,,,,5778,,,,,,,,,,,,,,\n"
    f"Time{',Accelerometer,,,Gyroscope,,,Magnetometer,,,Barometer,Orientation,,,' * 2}\n"
    f"{',X,Y,Z,X,Y,Z,X,Y,Z,,S,X,Y,Z' * 2}\n"
    f"1550879504438281{',9' * 10},1,0,0,0{',8' * 10},0.6,0,0.8,0\n"
    f"1550879504446281{',9' * 10},0,0,1,0{',8' * 10},0.8,0,0.6,0\n"
    f"1550879504462281{',9' * 10},0,1,0,0{',8' * 10},,,,\n"
)
"""As in the file of opensim-core's tests: a sensor with a name, and one that has its number alone."""


def test_a_table_of_apdm_with_format_7_has_its_own_clock(tmp_path: Path) -> None:
    found = load_orientations(written(tmp_path, SEVENTH, "walk.csv"))
    assert found.names == ("Lumbar", "5778")
    assert np.allclose(found.times, [0.0, 0.008, 0.024], atol=1e-12)
    assert np.allclose(found.wxyz[:, 0], [[1, 0, 0, 0], [0, 0, 1, 0], [0, 1, 0, 0]])
    assert np.allclose(found.wxyz[:2, 1], [[0.6, 0, 0.8, 0], [0.8, 0, 0.6, 0]])
    assert found.gaps[:, 1].tolist() == [False, False, True]
    even = load_orientations(written(tmp_path, SEVENTH, "walk.csv"), rate=100.0)
    assert np.allclose(even.times, [0.0, 0.01, 0.02])


def test_tables_of_apdm_have_a_column_for_each_number(tmp_path: Path) -> None:
    found = load_orientations(written(tmp_path, APDM, "walk.csv"))
    assert (found.names, found.times.tolist()) == (("Lumbar",), [0.0, 1 / 128])
    assert np.allclose(found.wxyz[:, 0], [[1, 0, 0, 0], [0.6, 0, 0.8, 0]])


@pytest.mark.parametrize(
    ("text", "name", "words"),
    [
        (XSENS, "a.txt", "there is no frame"),
        (XSENS.replace("PacketCounter", "Counter"), "a.txt", "no line begins with PacketCounter"),
        (
            XSENS.replace("Mat[3][3]", "Mat") + "1\t\t9",
            "a.txt",
            "neither the columns Mat[1][1] to Mat[3][3] nor Quat_q0",
        ),
        (XSENS + "1\t\t9\t1\n", "a.txt", "a row that ends early"),
        (XSENS.replace("50.0Hz", "") + "1\t\t9" + "\t1" * 9, "a.txt", "says no Update Rate"),
        (APDM.replace("/Orientation/", "/Turn/"), "a.csv", "no column is a sensor's"),
        (APDM.replace("Orientation/Z", "Orientation/W"), "a.csv", "there is no column 'Lumbar/Orientation/Z'"),
        (APDM.replace("128", ""), "a.csv", "says no Sample Rate"),
        (APDM[: APDM.index("0,9")], "a.csv", "there is no frame"),
        (APDM + "9" * 140_000, "a.csv", "it is no table"),
        (SEVENTH.replace("Format=7", "Format=5"), "a.csv", "it is APDM's Format=5, and of those Format=7 is read"),
        (SEVENTH.replace("S,X", "W,X"), "a.csv", "no column of the second line is an Orientation"),
        ("Format=7\n,Orientation\n,S,X,Y,Z\n", "a.csv", "no column of the second line is an Orientation"),
        (SEVENTH.replace("1550879504446281", "1550879504438281"), "a.csv", "its time does not grow"),
        (SEVENTH.replace("1550879504438281", "now"), "a.csv", "its time does not grow"),
        (SEVENTH[:-9] + "\n", "a.csv", "a row that ends early"),
        (SEVENTH[: SEVENTH.index("155")], "a.csv", "there is no frame"),
        ("x", "a.bvh", "the name must end in .sto, .csv or .xml"),
    ],
)
def test_what_is_no_file_of_sensors_is_told(text: str, name: str, words: str, tmp_path: Path) -> None:
    file = written(tmp_path, text, name)
    given: Any = {"a": file} if name.endswith(".txt") else file
    with pytest.raises(pz.ModelError, match=re.escape(words)):
        load_orientations(given)


def test_arguments_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    file = written(tmp_path, TABLE)
    with pytest.raises(ValueError, match="has times, so leave rate out"):
        load_orientations(file, rate=50.0)
    with pytest.raises(ValueError, match="needs a file at least"):
        load_orientations({})
    with pytest.raises(pz.ModelError, match="no such file"):
        load_orientations(tmp_path / "none.sto")
    with pytest.raises(pz.ModelError, match="no such file"):
        load_orientations({"a": tmp_path / "none.txt"})
    with pytest.raises(ValueError, match=re.escape("wxyz (frames, 2, 4)")):
        Orientations(["a", "b"], [0.0], np.zeros((1, 2, 3)))
    with pytest.raises(TypeError, match="sensors take a slice of frames"):
        random()[3]  # type: ignore[index]

"""Files of markers: `.trc` as they are found, `.c3d` as ezc3d writes them."""

import pickle
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import poise as pz

HEAD = (
    "PathFileType\t4\t(X/Y/Z)\twalk.trc\n"
    "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames\n"
    "100.00\t100.00\t3\t2\tmm\t100.00\t1\t3\n"
    "Frame#\tTime\tR.ASIS\t\t\tL.ASIS\t\t\n"
    "\t\tX1\tY1\tZ1\tX2\tY2\tZ2\n"
    "\n"
)
ROWS = "1\t0.00\t1\t2\t3\t4\t5\t6\n2\t0.01\t7\t8\t9\t10\t11\t12\n3\t0.02\t13\t14\t15\t16\t17\t18\n"


def file(folder: Path, text: str) -> Path:
    path = folder / "walk.trc"
    path.write_text(text)
    return path


def test_names_times_and_places_in_metres(tmp_path: Path) -> None:
    markers = pz.load_markers(file(tmp_path, HEAD + ROWS))
    assert markers.names == ("R.ASIS", "L.ASIS")
    assert markers.times.tolist() == [0.0, 0.01, 0.02]
    assert markers.rate == pytest.approx(100.0)
    assert np.allclose(markers.positions[1], np.array([[7, 8, 9], [10, 11, 12]]) / 1000)
    assert (markers.name, markers.notes) == ("walk", ())
    assert "2 markers, 3 frames at 100 Hz" in repr(markers)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("\tmm\t", "\t  mm\t"),
        ("L.ASIS\t\t\n", "L.ASIS\n"),  # nothing behind the last name
        ("\tX2\tY2\tZ2\n", "\tX2\tY2\n"),  # a Z without a name
        ("\n\n1\t", "\n1\t"),  # no blank line
        ("17\t18\n", "17\t18\n\n\n\t\n"),  # blank lines behind
        ("\t6\n", "\t6\t\t \n"),  # and tabs
        ("\n", "\r\n"),
        ("100.00\t100.00", "100\t\t100"),
        ("100.00\t100.00", "100.00\t"),  # a rate left out
    ],
)
def test_headers_as_they_are_found(old: str, new: str, tmp_path: Path) -> None:
    plain, path = pz.load_markers(file(tmp_path, HEAD + ROWS)), tmp_path / "other.trc"
    path.write_bytes((HEAD + ROWS).replace(old, new).encode())
    other = pz.load_markers(path)
    assert other.names == plain.names
    assert np.array_equal(other.positions, plain.positions)
    assert np.array_equal(other.times, plain.times)


@pytest.mark.parametrize(("word", "metres"), [("m", 1.0), ("cm", 0.01), ("Meters", 1.0), ("in", 0.0254)])
def test_units_of_the_header(word: str, metres: float, tmp_path: Path) -> None:
    path = file(tmp_path, HEAD.replace("\tmm\t", f"\t{word}\t") + ROWS)
    assert np.allclose(pz.load_markers(path).positions[0, 0], metres * np.array([1, 2, 3]))
    assert np.allclose(pz.load_markers(path, unit=0.5).positions[0, 0], [0.5, 1, 1.5])


@pytest.mark.parametrize(
    "gap",
    [
        "\t\t\t",
        "0\t0\t0",
        "0.0\t-0\t0.000",
        "NaN\tnan\t NAN",
        "4\t\t6",
        "NA\t-nan(ind)\t1.#QNAN",
        "9999999\t9999999.00\t9999999",
    ],
)
def test_gaps_are_nan(gap: str, tmp_path: Path) -> None:
    gap = gap if gap.strip("\t") else "\t\t"
    markers = pz.load_markers(file(tmp_path, HEAD + ROWS.replace("4\t5\t6", gap)))
    assert markers.gaps.tolist() == [[False, True], [False, False], [False, False]]
    assert np.isnan(markers.positions[0, 1]).all()


def test_in_memory_too_what_is_at_0_0_0_was_not_seen() -> None:
    markers = pz.Markers(["a", "b"], [0.0], [[[0.0, 0.0, 0.0], [0.0, 0.0, 1e-9]]])
    assert markers.gaps.tolist() == [[True, False]]


def test_what_is_assumed_and_mended_is_told(tmp_path: Path) -> None:
    def notes(text: str) -> str:
        return "; ".join(pz.load_markers(file(tmp_path, text)).notes)

    assert "7 frames, and there are 3" in notes(HEAD.replace("\t3\t2\t", "\t7\t2\t") + ROWS)
    assert "250 frames a second, and the times 100" in notes(HEAD.replace("100.00", "250.00") + ROWS)
    assert "the times do not grow; 100" in notes(HEAD + ROWS.replace("0.02", "0.01"))
    assert "1 rows end early" in notes(HEAD + ROWS.replace("\t17\t18", ""))
    assert "'R.ASIS' is there again, and is called 'R.ASIS.2'" in notes(HEAD.replace("L.ASIS", "R.ASIS") + ROWS)
    assert "the header says no unit; millimetres" in notes(HEAD.replace("\tmm\t", "\t\t") + ROWS)
    assert "never seen: L.ASIS" in notes(HEAD + re.sub(r"\t\d+\t\d+\t\d+\n", "\t\t\t\n", ROWS))


BROKEN = {
    "empty": (b"", "no line begins with Frame#"),
    "another file": (b"<robot/>", "no line begins with Frame#"),
    "bytes": (b"\0\1\2" * 100, "this is no text"),
    "no names": (HEAD.replace("R.ASIS\t\t\tL.ASIS", "").encode() + ROWS.encode(), "the line of names has none"),
    "no frame": (HEAD.encode(), "there is no frame"),
    "word": ((HEAD + ROWS.replace("11", "x1")).encode(), "walk.trc:8: 'x1' is not a number"),
    "wide": ((HEAD + ROWS.replace("12\n", "12\t13\n")).encode(), "walk.trc:8: a row of 7 numbers; 2 markers have 6"),
    "unit": ((HEAD.replace("\tmm\t", "\tfurlong\t") + ROWS).encode(), "the unit 'furlong' is not known"),
    "far": ((HEAD + ROWS.replace("11", "1e300")).encode(), "too far away in frame 1"),
    "no rate": ((HEAD.replace("100.00", "?") + ROWS.replace("0.02", "0.01")).encode(), "the header says no rate"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_what_is_wrong_with_a_file_is_said_with_its_place(case: str, tmp_path: Path) -> None:
    data, words = BROKEN[case]
    (tmp_path / "walk.trc").write_bytes(data)
    with pytest.raises(pz.ModelError, match=re.escape(words)) as raised:
        pz.load_markers(tmp_path / "walk.trc")
    assert "walk.trc" in str(raised.value)


def test_damaged_files_end_in_sentences(tmp_path: Path) -> None:
    text, rng = HEAD + ROWS, np.random.default_rng(0)
    for _ in range(200):
        at, length = int(rng.integers(len(text))), int(rng.integers(1, 30))
        with suppress(pz.ModelError):
            pz.load_markers(file(tmp_path, text[:at] + text[at + length :]))


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(pz.ModelError, match=r"must end in .trc or .c3d"):
        pz.load_markers("walk.csv")
    with pytest.raises(pz.ModelError, match="no such file"):
        pz.load_markers(tmp_path / "none.trc")
    (tmp_path / "folder.trc").mkdir()
    with pytest.raises(pz.ModelError, match="it is a directory"):
        pz.load_markers(tmp_path / "folder.trc")
    with pytest.raises(ValueError, match="unit is -1"):
        pz.load_markers(file(tmp_path, HEAD + ROWS), unit=-1)


@pytest.mark.parametrize("unit", ["mm", "cm", "m"])
def test_what_is_written_is_read(unit: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    positions = rng.normal(size=(20, 3, 3))
    positions[rng.random((20, 3)) < 0.2] = np.nan
    markers = pz.Markers(("a", "b b", "ü"), np.arange(20) / 60 + 0.3, positions)
    markers.save(tmp_path / "it.trc", unit=unit)
    again = pz.load_markers(tmp_path / "it.trc")
    assert again.names == markers.names
    assert np.allclose(again.positions, positions, rtol=1e-14, atol=0, equal_nan=True)
    assert np.allclose(again.times, markers.times, rtol=1e-14)
    with pytest.raises(ValueError, match=r"must end in .trc"):
        markers.save(tmp_path / "it.c3d")
    with pytest.raises(ValueError, match="unit must be one of"):
        markers.save(tmp_path / "it.trc", unit="parsec")


def test_parts_of_a_recording() -> None:
    rng = np.random.default_rng(1)
    positions = rng.normal(size=(10, 2, 3))
    markers = pz.Markers(("a", "b"), np.arange(10) / 100, positions)
    assert len(markers[2:5]) == 3
    assert markers.between(0.02, 0.05).times.tolist() == markers.times[2:6].tolist()
    assert np.array_equal(markers.of(["b"]).positions[:, 0], markers.positions[:, 1])
    assert markers.renamed({"b": "c"}).names == ("a", "c")
    turned = markers.turned(pz.SO3.from_rpy([-np.pi / 2, 0, 0]))
    assert np.allclose(turned.positions[..., 1], markers.positions[..., 2])
    positions[3, 1] = np.nan
    hidden = pz.Markers(("a", "b"), markers.times, positions).turned(pz.SO3.from_rpy([0.3, 0.2, 0.1]))
    assert hidden.gaps.sum() == 1
    again = pickle.loads(pickle.dumps(markers))
    assert np.array_equal(again.positions, markers.positions)
    assert not again.positions.flags.writeable
    with pytest.raises(ValueError, match=r"no frame is between 3 and 4 s; they go from 0 to 0.09 s"):
        markers.between(3, 4)
    with pytest.raises(pz.PoiseError, match=r"'bb'; did you mean 'b'"):
        markers.of(["bb"])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"names": ("a", "a")}, "the marker 'a' is there twice"),
        ({"names": "ab"}, "names must be a list"),
        ({"times": [0.0, 0.0]}, "times\\[1\\] does not"),
        ({"positions": np.zeros((2, 3, 3))}, "positions \\(frames, 2, 3\\)"),
        ({"positions": np.full((2, 2, 3), np.inf)}, "too far away"),
        ({"times": [], "positions": np.zeros((0, 2, 3))}, "one frame and one marker"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(given: dict[str, Any], words: str) -> None:
    whole = {"names": ("a", "b"), "times": [0.0, 1.0], "positions": np.zeros((2, 2, 3))}
    with pytest.raises((ValueError, TypeError), match=words):
        pz.Markers(**(whole | given))


@pytest.mark.parametrize("name", ["", " LASI", "L\tASI", "L\nASI"])
def test_names_that_no_file_can_have_are_refused(name: str, tmp_path: Path) -> None:
    markers = pz.Markers([name, "R"], [0.0], np.ones((1, 2, 3)))
    with pytest.raises(ValueError, match=re.escape(f"the marker {name!r} cannot be written")):
        markers.save(tmp_path / "walk.trc")
    assert not list(tmp_path.iterdir())


def test_labels_and_units_of_c3d_as_they_are_found(tmp_path: Path) -> None:
    ezc3d = pytest.importorskip("ezc3d")

    def found(labels: list[str], unit: str) -> pz.Markers:
        out = ezc3d.c3d()
        out["parameters"]["POINT"]["RATE"]["value"] = [50.0]
        out["parameters"]["POINT"]["LABELS"]["value"] = labels
        out["parameters"]["POINT"]["UNITS"]["value"] = [unit]
        out["data"]["points"] = np.full((4, 3, 2), 500.0)
        out.write(str(tmp_path / "it.c3d"))
        return pz.load_markers(tmp_path / "it.c3d")

    twice = found(["LASI", "LASI", ""], "Millimeters")
    assert twice.names == ("LASI", "LASI.2", "point2")
    assert twice.notes == ("1 points have no label", "the marker 'LASI' is there again, and is called 'LASI.2'")
    assert np.allclose(twice.positions, 0.5)
    assert found(["a", "b", "c"], "").notes == ("the header says no unit; millimetres are assumed",)
    with pytest.raises(pz.ModelError, match=re.escape("the unit 'furlong' is not known")):
        found(["a", "b", "c"], "furlong")


def test_c3d_is_read_in_metres_with_its_gaps(tmp_path: Path) -> None:
    ezc3d = pytest.importorskip("ezc3d")
    out = ezc3d.c3d()
    places = np.random.default_rng(2).uniform(-900, 900, (3, 2, 5))
    places[:, 1, 3] = np.nan
    out["parameters"]["POINT"]["RATE"]["value"] = [50.0]
    out["parameters"]["POINT"]["LABELS"]["value"] = ("LASI", "RASI")
    out["parameters"]["POINT"]["UNITS"]["value"] = ["mm"]
    out["data"]["points"] = np.concatenate([places, np.ones((1, 2, 5))])
    out.write(str(tmp_path / "it.c3d"))
    markers = pz.load_markers(tmp_path / "it.c3d")
    assert markers.names == ("LASI", "RASI")
    assert markers.rate == pytest.approx(50.0)
    assert np.allclose(markers.positions, places.transpose(2, 1, 0) / 1000, atol=1e-6, equal_nan=True)
    (tmp_path / "bad.c3d").write_bytes(b"P" * 4000)
    for name, words in (("bad.c3d", "is no C3D that can be read"), ("none.c3d", "no such file")):
        with pytest.raises(pz.ModelError, match=words):
            pz.load_markers(tmp_path / name)


def test_without_ezc3d_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ezc3d", None)
    with pytest.raises(pz.MissingExtra, match=re.escape('pip install "poise[markers]"')):
        pz.load_markers(tmp_path / "it.c3d")

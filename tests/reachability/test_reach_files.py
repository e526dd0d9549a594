"""A map as Parquet, PLY, a picture and a page: read back by other programs, or by a few lines."""

import base64
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.figures import legible

import poise as pz
from poise.cli import main
from poise.reachability.colours import VIRIDIS, coloured

pq = pytest.importorskip("pyarrow.parquet")


@pytest.fixture(scope="module")
def found() -> pz.ReachMap:
    return pz.reach(pz.load("panda"), "panda_hand", grid=0.25, orientations=8)


@pytest.fixture(scope="module")
def free() -> pz.ReachMap:
    return pz.reach(pz.load("planar2"), "tool", grid=0.5, orientations=0)


@pytest.fixture(scope="module")
def empty() -> pz.ReachMap:
    return pz.reach(pz.load("planar2"), "tool", grid=0.5, orientations=0, bounds=((0, 0, 0.5), (1, 1, 1)))


# Parquet ------------------------------------------------------------------------------------------------------------


def test_parquet_holds_every_voxel(found: pz.ReachMap, tmp_path: Path) -> None:
    found.to_parquet(tmp_path / "map.parquet")
    table = pq.read_table(tmp_path / "map.parquet")
    columns = table.to_pydict()
    assert np.array_equal(np.stack([columns[name] for name in "xyz"], axis=1), found.points)
    assert np.array_equal(columns["count"], found.counts)
    assert np.array_equal(columns["proved"], found.proved.sum(1))
    assert np.array_equal(columns["share"], found.share)
    assert np.array_equal(columns["manipulability"], found.manipulability, equal_nan=True)
    assert np.array_equal(columns["mean_manipulability"], found.mean_manipulability, equal_nan=True)
    q = np.stack([columns[f"q.{name}"] for name in found.model.coordinates], axis=1)
    assert np.array_equal(q, found.q, equal_nan=True)
    facts = json.loads(table.schema.metadata[b"poise"])
    assert facts["frame"] == "panda_hand"
    assert facts["voxels"] == len(found)
    assert found.orientations is not None
    assert np.array_equal(facts["orientations_wxyz"], found.orientations.wxyz)


def test_parquet_without_pyarrow_says_what_to_install(
    found: pz.ReachMap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(pz.MissingExtra, match=r'pip install "poise\[data\]"'):
        found.to_parquet(tmp_path / "map.parquet")


# PLY ----------------------------------------------------------------------------------------------------------------


def read_ply(path: Path) -> np.ndarray:
    head, body = path.read_bytes().split(b"end_header\n", 1)
    kinds = {b"float": "<f4", b"uchar": "u1"}
    fields = [(name.decode(), kinds[kind]) for kind, name in re.findall(rb"property (\w+) (\w+)", head)]
    count = int(re.search(rb"element vertex (\d+)", head)[1])  # type: ignore[index]
    assert head.startswith(b"ply\nformat binary_little_endian 1.0\n")
    rows = np.frombuffer(body, dtype=fields)
    assert len(rows) == count
    return rows


def test_ply_holds_the_reached_voxels(found: pz.ReachMap, tmp_path: Path) -> None:
    found.to_ply(tmp_path / "map.ply")
    rows, some = read_ply(tmp_path / "map.ply"), found.counts > 0
    assert np.allclose(np.stack([rows[name] for name in "xyz"], axis=1), found.points[some])
    assert np.allclose(rows["share"], found.share[some])
    assert np.allclose(rows["manipulability"], found.manipulability[some])
    bright = np.stack([rows[name] for name in ("red", "green", "blue")], axis=1)
    assert (bright[found.share[some] == 1.0] == VIRIDIS[-1]).all()


def test_a_free_orientation_is_coloured_by_manipulability(free: pz.ReachMap, tmp_path: Path) -> None:
    free.to_ply(tmp_path / "map.ply")
    rows = read_ply(tmp_path / "map.ply")
    best = rows[np.argmax(rows["manipulability"])]
    assert (best["red"], best["green"], best["blue"]) == VIRIDIS[-1]
    assert len(np.unique(rows["green"])) > 2


def test_trimesh_reads_the_ply(found: pz.ReachMap, tmp_path: Path) -> None:
    trimesh = pytest.importorskip("trimesh")
    found.to_ply(tmp_path / "map.ply")
    cloud = trimesh.load(tmp_path / "map.ply")
    assert np.allclose(cloud.vertices, found.points[found.counts > 0])


def test_colours_are_those_of_matplotlib() -> None:
    colormaps = pytest.importorskip("matplotlib").colormaps
    shares = np.linspace(0.0, 1.0, 101)
    assert np.abs(coloured(shares) / 255.0 - colormaps["viridis"](shares)[:, :3]).max() < 0.07


# The picture --------------------------------------------------------------------------------------------------------


def test_slices_show_what_is_in_their_plane(found: pz.ReachMap) -> None:
    pytest.importorskip("matplotlib")
    figure = found.figure(through=(0.25, 0.0, 0.5))
    legible(figure)
    slices = [axes for axes in figure.axes if axes.get_xlabel().endswith("[m]")]
    assert [axes.get_title(loc="left") for axes in slices] == 2 * ["y = 0 m", "x = 0.25 m", "z = 0.5 m"]
    image = slices[2].images[1]
    left, right, bottom, top = image.get_extent()
    shown = image.get_array().filled(np.nan)
    tall, wide = shown.shape
    level = np.abs(found.points[:, 2] - 0.5) < 1e-9
    assert np.isfinite(shown).sum() == (level & (found.counts > 0)).sum()
    for point, share in zip(found.points[level], found.share[level], strict=True):
        column = int((point[0] - left) / (right - left) * wide)
        row = int((point[1] - bottom) / (top - bottom) * tall)
        assert shown[row, column] == 100.0 * share or (share == 0.0 and np.isnan(shown[row, column]))


def test_pictures_are_drawn_of_any_map(free: pz.ReachMap, empty: pz.ReachMap, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    for i, one in enumerate((free, empty)):
        one.figure().savefig(tmp_path / f"{i}.png")
        assert (tmp_path / f"{i}.png").stat().st_size > 5000


def test_a_picture_without_matplotlib_says_what_to_install(found: pz.ReachMap, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(pz.MissingExtra, match=r'pip install "poise\[plots\]"'):
        found.figure()


# The page -----------------------------------------------------------------------------------------------------------


def payload(page: str) -> dict[str, object]:
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1])  # type: ignore[index]


def test_the_page_holds_the_reached_voxels_and_needs_no_network(found: pz.ReachMap, tmp_path: Path) -> None:
    found.to_html(tmp_path / "map.html")
    page = (tmp_path / "map.html").read_text(encoding="utf-8")
    assert not re.search(r"(?:src|href)\s*=|https?://|@import|fetch\(|XMLHttp", page)
    assert "{{" not in page
    data, some = payload(page), found.counts > 0
    cells = np.frombuffer(base64.b64decode(data["cells"]), dtype="<i4").reshape(-1, 3)
    assert np.allclose(cells * data["grid"], found.points[some])
    share, best = (np.frombuffer(base64.b64decode(layer["values"]), dtype="<f4") for layer in data["layers"])
    assert np.allclose(share, found.share[some])
    assert np.allclose(best, found.manipulability[some])
    assert data["summary"] == found.summary()


def test_a_name_cannot_break_the_page(tmp_path: Path) -> None:
    b = pz.ModelBuilder("</script><b>&")
    b.joint("turn", "revolute", parent="base", child="arm")
    b.frame("<tip>", link="arm", origin=pz.SE3.from_parts([0.5, 0, 0]))
    found = pz.reach(b.build(), "<tip>", grid=0.25, orientations=0)
    found.to_html(tmp_path / "map.html")
    found.to_ply(tmp_path / "map.ply")
    page = (tmp_path / "map.html").read_text(encoding="utf-8")
    assert "<title>Reach of &lt;tip&gt; of &lt;/script&gt;&lt;b&gt;&amp;</title>" in page
    assert page.count("</script>") == 2
    assert str(payload(page)["summary"]).startswith("<tip> of </script><b>&")


@pytest.mark.parametrize("which", ["found", "free", "empty"])
def test_a_browser_runs_the_page(
    which: str, request: pytest.FixtureRequest, page: Any, wait_for: Callable[..., None], tmp_path: Path
) -> None:
    one = request.getfixturevalue(which)
    one.to_html(tmp_path / "map.html")
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    page.goto((tmp_path / "map.html").as_uri())
    title = "share of orientations" if which == "found" else "best manipulability"
    wait_for(lambda: page.locator("#scale-title").inner_text() == title, page)
    wait_for(lambda: page.locator("span[style*='left: ']").count() > 0, page)  # a tick was placed, so it was drawn
    assert "offers no WebGL" not in page.inner_text("body")
    assert said == []


# The command --------------------------------------------------------------------------------------------------------

REACH = ["reach", "planar2", "--frame", "tool", "--grid", "0.5", "--orientations", "0"]


def test_the_command_prints_and_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*REACH, "-o", str(tmp_path / "new" / "folder")]) == 0
    out = capsys.readouterr().out
    assert re.search(r"voxels reached +\d+ +of \d+", out)
    assert re.search(r"volume reached +[\d.]+ +m\^3", out)
    assert "reach.html, reach.ply, reach.png, reach.parquet" in out
    assert {p.name for p in (tmp_path / "new" / "folder").iterdir()} == {
        "reach.html", "reach.png", "reach.ply", "reach.parquet"
    }  # fmt: skip


def test_json_is_one_line_of_the_facts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bounds = ["--bounds", "0", "-1", "0", "2", "1", "0"]
    assert main([*REACH, "--json", *bounds, "--out", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    facts = json.loads(out)
    expected = pz.reach(pz.load("planar2"), "tool", grid=0.5, orientations=0, bounds=((0, -1, 0), (2, 1, 0))).facts()
    assert {key: facts[key] for key in ("volume", "voxels", "targets", "solves")} == {
        key: expected[key] for key in ("volume", "voxels", "targets", "solves")
    }


def test_nothing_reached_is_exit_code_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*REACH, "--bounds", "0", "0", "0.5", "1", "1", "1", "--out", str(tmp_path)]) == 2
    assert re.search(r"voxels reached +0 ", capsys.readouterr().out)


def test_a_missing_package_leaves_out_its_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert main([*REACH, "--out", str(tmp_path)]) == 0
    streams = capsys.readouterr()
    assert 'pip install "poise[data]"' in streams.err
    assert "reach.html, reach.ply, reach.png\n" in streams.out
    assert not (tmp_path / "reach.parquet").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["reach", "panda", "--frame", "panda_hnad"], "did you mean 'panda_hand'"),
        (["reach", "panda", "--grid", "-1"], "grid is -1.0; it must be a positive length"),
        (["reach", "panda", "--grid", "0.0005"], "would do"),
        (["reach", "panda", "--orientations", "-3"], "orientations is -3"),
        (
            ["reach", "panda", "--out", "/proc/nowhere"],
            "/proc/nowhere cannot be made a folder to write to: No such file or directory; name another",
        ),
    ],
)
def test_mistakes_are_one_line(
    arguments: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = [] if "--out" in arguments else ["--out", str(tmp_path)]
    assert main([*arguments, *where]) == 1
    streams = capsys.readouterr()
    assert streams.out == ""
    assert streams.err.startswith("error: ")
    assert streams.err.count("\n") == 1
    assert words in streams.err


def test_a_file_in_the_way_of_the_folder_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "taken").write_text("")
    assert main([*REACH, "--out", str(tmp_path / "taken")]) == 1
    assert "taken cannot be made a folder to write to: a file is in the way" in capsys.readouterr().err

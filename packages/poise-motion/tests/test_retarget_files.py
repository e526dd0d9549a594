"""`poise retarget` writes nothing over what it reads, and says before it begins what it cannot write."""

from pathlib import Path

import pytest
from walker import walk

import poise as pz
from poise.cli import main


@pytest.fixture
def walked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    walk(30.0, 0.2).save("walk.bvh")
    walk(30.0, 0.2).save("other.bvh")
    (tmp_path / "folder.npz").mkdir()
    return tmp_path


def test_a_textbook_arm_stands_fixed_without_a_word_of_the_base(
    walked: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["retarget", "walk.bvh", "panda", "-o", "arm.npz"]) == 0
    assert (walked / "arm.npz").exists()
    assert "BVH states no unit: a body of" in " ".join(capsys.readouterr().out.split())
    assert main(["retarget", "walk.bvh", "panda", "--base", "floating"]) == 1
    assert "stands fixed" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("out", "words"),
    [
        ("walk.bvh", "walk.bvh is a file that is read"),
        ("other.bvh", "other.bvh is a file that is read"),
        ("folder.npz", "it is a folder"),
        ("none/out.npz", "there is no folder none"),
        ("out.xyz", "whose name ends in"),
    ],
)
def test_what_it_does_not_write(walked: Path, out: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = {file.name: file.read_bytes() for file in walked.glob("*.bvh")}
    assert main(["retarget", "walk.bvh", "other.bvh", "--out", out]) == 1
    assert words in " ".join(capsys.readouterr().err.split())
    assert {file.name: file.read_bytes() for file in walked.glob("*.bvh")} == before


def test_a_scene_is_ground_that_is_read_and_stands(walked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plate = '<collision><origin xyz="0 0 -0.05"/><geometry><box size="4 4 0.1"/></geometry></collision>'
    (walked / "plate.urdf").write_text(f'<robot name="scene"><link name="plate">{plate}</link></robot>')
    assert main(["retarget", "walk.bvh", "g1", "--ground", "plate.urdf", "--force", "-o", "plate.urdf"]) == 1
    capsys.readouterr()
    assert main(["retarget", "walk.bvh", "g1", "--ground", "plate.urdf", "-o", "out.npz"]) == 0
    assert "written: out.npz" in capsys.readouterr().out
    assert main(["retarget", "walk.bvh", "g1", "--ground", "other.bvh", "-o", "again.npz"]) == 1
    assert "ground" in capsys.readouterr().err


def test_a_table_of_numbers_is_no_body(walked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (walked / "rows.csv").write_text("time,a\n0,1\n")
    pz.Motion(pz.load("planar2"), [0.0], [[0.0, 0.0]]).save(walked / "rows.npz")
    for name in ("rows.csv", "rows.npz"):
        assert main(["retarget", name, "g1", "-o", "out.npz"]) == 1
        assert f"{name} holds numbers by name, and no skeleton: give a BVH or glTF file" in capsys.readouterr().err


def test_a_picture_of_the_page_needs_the_page(walked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["retarget", "walk.bvh", "other.bvh", "--screenshot", "page.png"]) == 1
    assert "add --view" in capsys.readouterr().err


def test_the_page_is_opened_and_its_picture_told_of(
    walked: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("viser", reason="the viewer needs viser")
    seen: list[Path] = []
    monkeypatch.setattr("poise.pages.screenshot", lambda server, url, file: seen.append(file))
    asked = ["retarget", "walk.bvh", "other.bvh", "--view", "--screenshot", "page.png", "--port", "0"]
    assert main(asked) == 0
    assert seen == [Path("page.png")]
    assert "written: page.png" in capsys.readouterr().out

"""What is there is kept: every command that writes refuses to write over it, unless it is told to."""

import dataclasses
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from poise.cli import commands, main

READ = {
    "batch.targets", "path.poses", "track.targets", "track.tasks", "solve.tasks", "retarget.motion", "retarget.map",
    "retarget.body_model", "retarget.ground", "fit.recording", "fit.orientations", "fit.setup", "fit.placer",
    "view.work", "view.replay", "view.ghost", "doctor.log", "doctor.targets", "doctor.package_dirs",
    "calibrate.measured",
}  # fmt: skip
"""Files that commands read; every other file or folder of theirs is written."""
FOLDERS = {
    "reach.out": ["reach.html", "reach.ply", "reach.png", "reach.parquet"],
    "reproduce.out": ["report.json", "jumps.png"],
    "sdk.folder": ["include/poise.h", "include/poise.hpp", "lib/libpoise.so", "lib/cmake/poise/poise-config.cmake"],
}
"""What an earlier run leaves in folders."""
SUFFIXES = {
    "export.file": ".poise",
    "view.record": ".html",
    "batch.out": ".parquet",
    "retarget.save_map": ".toml",
    "calibrate.out": ".urdf",
}
PICTURES = {"path.figure", "compare.plot", "retarget.report", "retarget.screenshot", "view.screenshot"}
BEGINNINGS = {
    "batch": ["planar2", "{targets}"], "path": ["planar2", "{targets}"], "track": ["planar2", "{targets}", "--dt", "1"],
    "retarget": ["{targets}", "planar2"], "fit": ["{targets}", "--model", "planar2"],
    "view": ["planar2"], "compare": ["planar2"], "reach": ["planar2"],
    "export": ["planar2"], "reproduce": ["buss"],
    "calibrate": ["planar2", "{targets}", "--free", "base"],
}  # fmt: skip


def places() -> list[str]:
    """Every file or folder that a command takes, as command.field."""
    found = []
    for name, kind in commands().items():
        hints = get_type_hints(kind)
        fields = [field.name for field in dataclasses.fields(kind)]
        found += [f"{name}.{field}" for field in fields if Path in (hints[field], *get_args(hints[field]))]
    return found


WRITTEN = [place for place in places() if place not in READ]


def test_what_is_read_is_what_commands_have() -> None:
    assert set(places()) >= READ
    assert len(WRITTEN) >= 14


def left_there(place: str) -> list[str]:
    """The names of files that an earlier run leaves."""
    return FOLDERS.get(place, [f"it{'.png' if place in PICTURES else SUFFIXES.get(place, '.csv')}"])


@pytest.mark.parametrize(("place", "name"), [(place, name) for place in WRITTEN for name in left_there(place)])
def test_what_is_there_is_kept(place: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command, _, field = place.partition(".")
    targets, there = tmp_path / "targets.csv", tmp_path / "out" / name
    targets.write_text("x,y,z\n1,0,0\n")
    there.parent.mkdir(parents=True)
    there.write_text("mine")
    option = [] if place in ("export.file", "sdk.folder") else [f"--{field.replace('_', '-')}"]
    beginning = [word.format(targets=targets) for word in BEGINNINGS.get(command, [])]
    assert main([command, *beginning, *option, str(tmp_path / "out" if place in FOLDERS else there)]) == 1
    said = capsys.readouterr().err
    assert f"{there} is there already" in said
    assert "--start-over" in said if command == "batch" else "--force" in said
    assert there.read_text() == "mine"
    assert [left for left in tmp_path.rglob("*") if left.is_file() and left not in (targets, there)] == []


def forces(kind: Any) -> bool:
    return any(field.name in ("force", "start_over") for field in dataclasses.fields(kind))


def test_every_command_that_writes_takes_force_and_no_other_does() -> None:
    writing = {place.partition(".")[0] for place in WRITTEN}
    assert {name for name, kind in commands().items() if forces(kind)} == writing


TARGETS = "x,y,z\n1,0.5,0\n"


@pytest.mark.parametrize(
    "words",
    [
        ["batch", "planar2", "targets.csv", "--force", "-o", "it.parquet"],
        ["batch", "planar2", "targets.csv", "--start-over", "-o", "it.parquet"],
        ["track", "planar2", "targets.csv", "--dt", "0.1", "--force", "-o", "it.csv"],
        ["path", "planar2", "targets.csv", "--force", "-o", "it.parquet"],
        ["path", "planar2", "targets.csv", "--force", "--figure", "it.png"],
        ["export", "planar2", "--force", "it.poise"],
    ],
)
def test_force_writes_over_it(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("targets.csv").write_text(TARGETS)
    Path(words[-1]).write_text("mine")
    assert main(words) == 0
    assert not Path(words[-1]).read_bytes().startswith(b"mine")


def test_each_file_of_a_map_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["reach", "planar2", "--frame", "tool", "--grid", "0.5", "--orientations", "0", "--out"]
    assert main([*command, str(tmp_path / "first")]) == 0
    for file in (tmp_path / "first").iterdir():
        (tmp_path / file.suffix).mkdir()
        file.rename(tmp_path / file.suffix / file.name)
        assert main([*command, str(tmp_path / file.suffix)]) == 1
        assert f"{file.name} is there already" in capsys.readouterr().err

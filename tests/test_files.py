"""Files that are there whole or not at all: every writer of the package, on full disks and in wrong places."""

import ast
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.arrows import FILES

import poise as pz
from poise.common.drawing import save_figure
from poise.common.files import atomic_write, make_folder, refuse_place, write_whole
from poise.motion.clip import Motion
from poise.viewer.operator.program import Program
from poise.viewer.operator.robots import ten_links
from poise.viewer.operator.work import save_scene, save_work

UNIX = pytest.mark.skipif(sys.platform == "win32", reason="limits of files and bits of rights are those of Unix")
WORDS = {
    "write_text", "write_bytes", "savefig", "savez", "savez_compressed", "savetxt", "tofile", "write_table",
    "ParquetWriter", "copyfile",
}  # fmt: skip
"""Calls that write a file, beside `open`."""
OWN = {
    "common/files.py": "the one place",
    "kernels/compiling/cache.py": "kernels stand on nothing else, and what is lost there is compiled again",
    "scale/parts.py": "makes the writers of files that are aside",
    "build/faces.py": "writes sources in a checkout",
    "build/linking.py": "writes into a folder of its caller that goes",
}


# Every writer --------------------------------------------------------------------------------------------------------


def writes(call: ast.Call) -> bool:
    """Whether a call writes a file, as far as its text tells."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    modes = [a.value for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
    if name == "open":
        return any(len(mode) < 4 and set(mode) & set("wx") for mode in modes)
    return name in WORDS


def aside(path: Path) -> Iterator[tuple[ast.Call, bool]]:
    """Every call of a file that writes, and whether it writes aside, into a folder that goes, or into memory."""
    text = path.read_text(encoding="utf-8")
    if not any(word in text for word in (*WORDS, "open(")):
        return
    tree = ast.parse(text)
    sheltered = {
        id(inner)
        for block in ast.walk(tree)
        if isinstance(block, ast.With)
        and any(word in ast.unparse(block.items[0]) for word in ("atomic_write(", "TemporaryDirectory("))
        for inner in ast.walk(block)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and writes(node):
            memory = "out = io.BytesIO()" in text and bool(node.args) and ast.unparse(node.args[0]) == "out"
            yield node, memory or id(node) in sheltered


def test_every_writer_goes_through_the_one_place() -> None:
    seen = 0
    for name, path in FILES.items():
        for call, sheltered in aside(path):
            seen += 1
            assert sheltered or name in OWN, f"{name}:{call.lineno}: {ast.unparse(call)}"
    assert seen > 12


ARM = pz.load("planar3")
PATH = pz.solve_path(ARM, pz.PositionTask("tool"), [[2.0, 0.5, 0.0], [2.0, 0.6, 0.0], [1.9, 0.7, 0.0]])
MOTION = Motion(ARM, np.arange(60) / 30.0, np.random.default_rng(0).normal(size=(60, 3)))
MAP = pz.reach(ARM, "tool", grid=0.5, orientations=0, budget=1)
TEN = ten_links()
WORK = Program(TEN.model, TEN.frame, start=TEN.start).work
BODY = pz.BodyMap({"head": "link1"}, {"head": "tool"})


@cache
def figure() -> Any:
    """Of nothing: how one is drawn is not asked here."""
    from matplotlib.figure import Figure

    return Figure()


WRITERS: dict[str, Callable[[Path], object]] = {
    **{f"m{kind}": MOTION.save for kind in (".npz", ".csv", ".bvh", ".glb", ".gltf")},
    "path.csv": PATH.to_csv,
    "path.parquet": PATH.to_parquet,
    **{f"path.{kind}": lambda file: save_figure(figure(), file) for kind in ("png", "svg", "pdf")},
    "reach.parquet": MAP.to_parquet,
    "reach.ply": MAP.to_ply,
    "reach.html": MAP.to_html,
    "map.toml": BODY.save,
    "arm.poise": pz.Solver(ARM, pz.PositionTask("tool")).export,
    "loop.poise": pz.Tracker(ARM, pz.PositionTask("tool"), dt=0.01).export,
    "work.npz": lambda file: save_work(file, WORK),
    "scene.json": lambda file: save_scene(file, WORK.setup, TEN.model),
}


@contextmanager
def full(size: int = 100) -> Iterator[None]:
    """No file grows beyond so many bytes."""
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@UNIX
@pytest.mark.parametrize("name", WRITERS)
def test_where_the_room_ends_the_old_file_stays_and_nothing_else(name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_text("good")
    with (
        pytest.raises(OSError, match=rf"{name} cannot be written: it grows larger than files may be there; name"),
        full(),
    ):
        WRITERS[name](file)
    assert file.read_text() == "good"
    assert [left.name for left in tmp_path.iterdir()] == [name]
    WRITERS[name](file)
    assert file.stat().st_size > 100
    assert [left.name for left in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", WRITERS)
def test_a_wrong_place_is_named_with_the_mend(name: str, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("kept")
    (tmp_path / f"folder_{name}").mkdir()
    for place, why in (
        (f"none/{name}", "there is no folder .*none; make it, or name another"),
        (f"taken/{name}", ".*taken is no folder; name another"),
        (f"folder_{name}", "it is a folder; name a file in it"),
    ):
        with pytest.raises(OSError, match=rf"{name} cannot be written: {why}"):
            WRITERS[name](tmp_path / place)
    assert sorted(left.name for left in tmp_path.iterdir()) == sorted(["taken", f"folder_{name}"])
    assert not list((tmp_path / f"folder_{name}").iterdir())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_a_full_device_is_told_what_it_is() -> None:
    with pytest.raises(
        OSError, match="/dev/full cannot be written: the disk is full; make room, or name another place"
    ):
        write_whole("/dev/full", bytes(10_000))


# The one place -------------------------------------------------------------------------------------------------------


@UNIX
def test_a_new_text_has_the_rights_and_the_links_of_the_old_one(tmp_path: Path) -> None:
    file, link = tmp_path / "it.txt", tmp_path / "link.txt"
    file.write_text("old")
    file.chmod(0o640)
    link.symlink_to(file)
    write_whole(link, "new\r\nline")
    assert link.is_symlink()
    assert file.read_bytes() == b"new\r\nline"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_what_is_written_to_stands_there_until_the_end(tmp_path: Path) -> None:
    file = tmp_path / "it.txt"
    file.write_text("old")
    with atomic_write(file) as draft:
        draft.write_text("new")
        assert file.read_text() == "old"
    assert file.read_text() == "new"


@UNIX
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write anywhere")
def test_without_the_right_nothing_is_touched(tmp_path: Path) -> None:
    kept = tmp_path / "kept.txt"
    kept.write_text("old")
    kept.chmod(0o400)
    for check in (refuse_place, lambda file: write_whole(file, "new")):
        with pytest.raises(PermissionError, match=r"kept\.txt cannot be written: you have no right to write there"):
            check(kept)
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(PermissionError, match=r"other\.txt cannot be written: you have no right to write there"):
            refuse_place(tmp_path / "other.txt")
    finally:
        tmp_path.chmod(0o700)
    assert kept.read_text() == "old"


def test_a_place_is_tried_without_a_trace(tmp_path: Path) -> None:
    refuse_place(tmp_path / "it.txt")
    make_folder(tmp_path / "new" / "folder")
    assert [left.name for left in tmp_path.rglob("*")] == ["new", "folder"]
    (tmp_path / "taken").write_text("")
    for folder in ("taken", "taken/below"):
        with pytest.raises(OSError, match=rf"{folder} cannot be made a folder to write to: a file is in the way"):
            make_folder(tmp_path / folder)

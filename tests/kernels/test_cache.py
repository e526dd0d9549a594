"""Compiled kernels are kept under a name that changes with their code alone, and nothing can lead the reader astray."""

import errno
import os
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import platformdirs
import pytest
from fresh import fresh

import poise
from poise.kernels.compiling import cache, identity
from poise.kernels.compiling.jit import dispatcher
from poise.kernels.machine import jit, kinds
from poise.solving.solvers.warmup import jobs

CODE = """
import numpy as np
from poise.model.builder import ModelBuilder
builder = ModelBuilder("hinge")
builder.joint("hinge", "revolute", parent="frame", child="door")
print(builder.build().pose("door", np.array([0.5])).array.tolist())
"""
SOURCE = Path(poise.__file__).parent


def start(code: str, home: Path, **environment: str) -> subprocess.Popen[str]:
    env = fresh(home, **environment)
    return subprocess.Popen(
        [sys.executable, "-c", code], env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def finish(process: subprocess.Popen[str]) -> tuple[str, str]:
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return out, err


def run(code: str, home: Path, **environment: str) -> tuple[str, str]:
    return finish(start(code, home, **environment))


def files(home: Path) -> dict[Path, tuple[int, bytes]]:
    return {file: (file.stat().st_mtime_ns, file.read_bytes()) for file in home.rglob("*") if file.is_file()}


# The name ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the package."""
    return Path(shutil.copytree(SOURCE, tmp_path / "poise"))


NAMES = """
from poise.kernels.compiling import cache, identity
from poise.kernels.kinematics.query import poses
from poise.kernels.solver.lm_solver import solve
from poise.methods.registry import METHODS
from poise.tasks.aim import look_at_rows
functions = poses, solve, METHODS["sdls"].routine.function, look_at_rows
print(cache.FOLDER.name, *(identity.identity(function).split()[-1] for function in functions))
"""


def names(package: Path, home: Path) -> list[str]:
    """The name of the folder, and what names a query, a solver, a method and the rows of a task in it."""
    return run(NAMES, home, PYTHONPATH=str(package.parent))[0].split()


def replace(old: str, new: str, file: str) -> Callable[[Path], None]:
    def edit(tree: Path) -> None:
        text = (tree / file).read_text()
        assert old in text
        (tree / file).write_text(text.replace(old, new, 1))

    return edit


FOLDER, POSES, SOLVE, METHOD, ROWS = range(5)
SINE, LANES, RECORD = "kernels/algebra/scalar.py", "kernels/machine/lanes.py", "kernels/machine/record.py"
SAYS_NOTHING: list[Callable[[Path], Any]] = [
    replace("    k = rint", "    # here\n    k = rint", SINE),
    replace('"""Sine and cosine', '"""Cosine and sine', SINE),
    replace('"""One kernel text', '"""One text', LANES),
    replace('"""Numbers with names', '"""Some numbers', RECORD),
    lambda tree: (tree / "tasks/wipe.py").touch(),
]
"""A comment, the docstrings of a function, a module and a class, and a task."""
EDITS: dict[str, tuple[Callable[[Path], Any], set[int]]] = {
    "a digit in a kernel that others call": (replace("0.6366197723675814", "0.64", SINE), {POSES, SOLVE, METHOD}),
    "how it is called": (replace("@kernel", "@(lambda f: kernel(f, inline=True))", SINE), {POSES, SOLVE, METHOD}),
    "a digit in the rows of a task": (replace("1e-24", "1e-20", "tasks/aim.py"), {ROWS}),
    "a number with a name": (replace("MU_LOW = 0.03", "MU_LOW = 0.04", "kernels/solver/descent.py"), {SOLVE}),
    "the settings of all methods": (
        replace("clamp at_target", "at_target clamp", "kernels/machine/layout.py"),
        {FOLDER},
    ),
    "the decorator": (replace("nogil=True", "nogil=False", "kernels/compiling/jit.py"), {FOLDER}),
    "comments, docstrings and a task": (
        lambda tree: [edit(tree) for edit in SAYS_NOTHING],
        set(),
    ),
}


@pytest.fixture(scope="module")
def unedited(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return names(SOURCE, tmp_path_factory.mktemp("unedited"))


@pytest.mark.parametrize(("edit", "renamed"), EDITS.values(), ids=EDITS.keys())
def test_an_edit_renames_what_it_changes_and_no_more(
    tree: Path, unedited: list[str], edit: Callable[[Path], Any], renamed: set[int]
) -> None:
    edit(tree)
    edited = names(tree, tree)
    assert {k for k, (one, other) in enumerate(zip(unedited, edited, strict=True)) if one != other} == renamed


def test_all_that_the_library_compiles_has_a_name_of_its_own() -> None:
    functions = {getattr(routine, "function", routine) for routine, *_ in jobs()}
    named = [identity.identity(function) for function in functions]
    assert None not in named
    assert len(set(named)) == len(named)


@pytest.mark.parametrize("compiler", ["numba", "llvmlite"])
def test_the_name_changes_with_the_compiler(compiler: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = cache.folder()
    monkeypatch.setattr(getattr(identity, compiler), "__version__", "0.0.1")
    assert cache.folder() != before


def test_the_folder_is_where_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POISE_CACHE_DIR", str(tmp_path))
    assert cache.folder().parent == tmp_path
    home = Path(platformdirs.user_cache_dir("poise", appauthor=False))
    monkeypatch.setenv("POISE_CACHE_DIR", "")
    assert cache.folder().parent == home
    monkeypatch.delenv("POISE_CACHE_DIR")
    assert cache.folder().parent == home


# Kept -------------------------------------------------------------------------------------------------------------


def test_what_is_compiled_once_is_found_again_and_only_the_first_is_told(tmp_path: Path) -> None:
    out, err = run(CODE, tmp_path)
    first, *more = err.splitlines()
    assert first == "poise: compiling kernels for this CPU, once: query.poses, 1 of 1"
    assert all(re.fullmatch(r"poise: 1 of 1 kernels compiled, \d+ s of processor time", line) for line in more)
    kept = files(tmp_path)
    assert {file.parent.name for file in kept} == {cache.FOLDER.name}
    assert any("poses" in file.name for file in kept)
    assert run(CODE, tmp_path) == (out, "")
    assert files(tmp_path) == kept


def test_another_installation_of_the_same_text_shares_them(tree: Path, tmp_path: Path) -> None:
    out, _ = run(CODE, tmp_path / "kept")
    where = "import poise, sys; sys.stderr.write(poise.__file__)\n"
    assert run(where + CODE, tmp_path / "kept", PYTHONPATH=str(tree.parent)) == (out, str(tree / "__init__.py"))


def test_nothing_is_compiled_by_importing(tmp_path: Path) -> None:
    run("import poise.solving.solvers.solver, poise.model.kinematics, poise.solving.methods.posture", tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where functions of this file are kept, too; the temporary files are beside it."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.setattr(cache, "FOLDER", tmp_path / "home" / cache.FOLDER.name)
    monkeypatch.setattr(identity, "is_own", lambda function: True)
    monkeypatch.setattr(jit.NOTICE, "quiet", True)  # these tests look for what else is said
    for once in (cache._say_once, cache._prune):
        once.cache_clear()
    yield tmp_path / "home"
    for once in (cache._say_once, cache._prune):
        once.cache_clear()


def scaled(factor: float) -> Any:
    """An entry point, made anew."""

    @jit.entry_point(kinds.REAL)
    def times(x: float) -> float:
        return factor * x

    return times


def is_loaded(factor: float = 2.0) -> bool:
    """Whether the function was on disk; it works in any case."""
    times = scaled(factor)
    jit.prepare(times)
    assert times(21.0) == factor * 21.0
    return bool(dispatcher(times).stats.cache_hits)


def test_functions_of_one_text_that_close_over_different_numbers_are_kept_apart(home: Path) -> None:
    assert not is_loaded(2.0)
    assert not is_loaded(3.0)
    assert is_loaded(2.0)
    assert is_loaded(3.0)
    assert not os.listdir(tempfile.gettempdir())


def test_a_function_whose_text_is_not_in_the_name_is_not_kept(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(cache, "FOLDER", home)
    assert not is_loaded()
    assert not is_loaded()
    assert not home.exists()


def test_a_setting_that_changes_the_code_is_told_apart(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not is_loaded()
    monkeypatch.setattr("numba.config.BOUNDSCHECK", 1)
    assert not is_loaded()


# Damage -----------------------------------------------------------------------------------------------------------


def cut(length: Callable[[int], int]) -> Callable[[Path], None]:
    return lambda file: os.truncate(file, length(file.stat().st_size))


def flip(place: Callable[[int], int]) -> Callable[[Path], None]:
    def damage(file: Path) -> None:
        text = bytearray(file.read_bytes())
        text[place(len(text))] ^= 0x10
        file.write_bytes(text)

    return damage


def write(text: Callable[[bytes], bytes]) -> Callable[[Path], Any]:
    return lambda file: file.write_bytes(text(file.read_bytes()))


def make_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


DAMAGES: dict[str, Callable[[Path], Any]] = {
    **{f"cut to {n} bytes": cut(lambda size, n=n: n) for n in (0, 1, 31, 32, 33, 100)},
    **{f"cut to {n} of eight parts": cut(lambda size, n=n: n * size // 8) for n in (1, 2, 4, 6, 7)},
    "the last byte gone": cut(lambda size: size - 1),
    **{f"a bit of byte {n}": flip(lambda size, n=n: n) for n in (0, 31, 32, 33, 60)},
    **{f"a bit after {n} of eight parts": flip(lambda size, n=n: n * size // 8) for n in (1, 3, 5, 7)},
    "a bit of the last byte": flip(lambda size: size - 1),
    "zeros": write(lambda text: bytes(len(text))),
    "noise": write(lambda text: bytes((i * i * 7919) % 251 for i in range(len(text)))),
    "more at the end": write(lambda text: text + b"\0"),
    "more at the beginning": write(lambda text: b"\0" + text),
    "its halves exchanged": write(lambda text: text[len(text) // 2 :] + text[: len(text) // 2]),
    "a text": write(lambda text: b"version https://git-lfs.github.com/spec/v1\n"),
    "another pickle": write(lambda text: pickle.dumps({"a": 1})),
    "no checksum": write(lambda text: text[32:]),
    "gone": Path.unlink,
    "its folder gone": lambda file: shutil.rmtree(file.parent),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_file_is_written_again(home: Path, damage: Callable[[Path], Any]) -> None:
    assert not is_loaded()
    (file,) = files(home)
    damage(file)
    assert not is_loaded()
    assert list(files(home)) == [file]
    assert is_loaded()


def test_the_file_of_another_function_is_not_taken(home: Path) -> None:
    is_loaded(2.0)
    (two,) = files(home)
    is_loaded(3.0)
    (three,) = set(files(home)) - {two}
    shutil.copyfile(three, two)
    assert not is_loaded(2.0)
    assert is_loaded(2.0)


def test_what_is_whole_but_not_compiled_code_is_compiled_again(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save = cache.save
    with monkeypatch.context() as patch:
        patch.setattr(cache, "save", lambda key, found: save(key, pickle.dumps(("not", "code"))))
        assert not is_loaded()
    assert not is_loaded()
    assert is_loaded()


# No room, no right to write ---------------------------------------------------------------------------------------


def test_a_folder_in_the_way_of_the_file_costs_a_line_and_no_more(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    is_loaded()
    (file,) = files(home)
    make_folder(file)
    capsys.readouterr()
    assert not is_loaded()
    assert is_loaded()
    assert capsys.readouterr().err.count("poise: ") == 1


def test_where_the_folder_cannot_be_written_a_temporary_one_is_used(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    is_loaded(1.0)
    shutil.rmtree(home)
    home.write_text("a file where the folder should be")
    capsys.readouterr()
    assert not is_loaded(2.0)
    assert not is_loaded(3.0)
    line = capsys.readouterr().err
    assert line.count("\n") == 1
    assert str(home) in line
    assert str(tempfile.gettempdir()) in line
    assert "POISE_CACHE_DIR" in line
    assert is_loaded(2.0)
    assert is_loaded(3.0)


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="others cannot write among the temporary files there")
def test_a_temporary_folder_that_others_can_write_is_not_used(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home.write_text("a file where the folder should be")
    theirs = Path(tempfile.gettempdir()) / f"poise-{os.getuid()}"
    theirs.mkdir()
    theirs.chmod(0o777)
    assert not is_loaded()
    assert not is_loaded()
    assert not files(theirs)
    assert "not kept" in capsys.readouterr().err
    theirs.chmod(0o700)
    mine = theirs.rename(theirs.with_name("mine"))
    theirs.symlink_to(mine)
    assert not is_loaded()
    assert not files(mine)


def test_a_user_without_a_home_gets_a_temporary_folder(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(home.parent)
    monkeypatch.delenv("POISE_CACHE_DIR", raising=False)
    monkeypatch.setattr(platformdirs, "user_cache_dir", lambda *args, **kwargs: "~/.cache/poise")
    monkeypatch.setattr(cache, "FOLDER", cache.folder())
    assert not is_loaded()
    assert is_loaded()
    assert "no home" in capsys.readouterr().err
    assert not (home.parent / "~").exists()


def test_a_folder_that_can_only_be_read_is_read(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not is_loaded()
    capsys.readouterr()
    os.utime(cache.FOLDER, (0, 0))

    def refuse(*args: Any, **kwargs: Any) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    for owner, name in ((Path, "write_bytes"), (Path, "mkdir"), (Path, "replace"), (os, "utime")):
        monkeypatch.setattr(owner, name, refuse)
    assert is_loaded()
    assert capsys.readouterr().err == ""


def test_a_full_disk_costs_one_line(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    is_loaded(1.0)
    before = files(home)
    capsys.readouterr()

    def half(path: Path, text: bytes) -> int:
        with path.open("wb") as file:
            file.write(text[: len(text) // 2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", half)
    assert not is_loaded(2.0)
    assert not is_loaded(3.0)
    line = capsys.readouterr().err
    assert line.count("\n") == 1
    assert os.strerror(errno.ENOSPC) in line
    assert files(home) == before
    assert not files(Path(tempfile.gettempdir()))


# Several processes ------------------------------------------------------------------------------------------------


def test_two_processes_may_compile_the_same_at_once(tmp_path: Path) -> None:
    first, second = start(CODE, tmp_path), start(CODE, tmp_path)
    assert finish(first)[0] == finish(second)[0]
    kept = files(tmp_path)
    assert len(kept) == 1
    assert run(CODE, tmp_path)[1] == ""
    assert files(tmp_path) == kept


@pytest.mark.skipif(sys.platform == "win32", reason="no such signal")
def test_a_process_killed_while_it_writes_harms_nobody(tmp_path: Path) -> None:
    kill = """
import os, pathlib, signal
pathlib.Path.replace = lambda *args: os.kill(os.getpid(), signal.SIGKILL)
"""
    dying = start(kill + CODE, tmp_path)
    dying.communicate(timeout=300)
    assert dying.returncode == -9
    assert len(files(tmp_path)) == 1
    assert "compiling" in run(CODE, tmp_path)[1]
    assert run(CODE, tmp_path)[1] == ""


# Old files --------------------------------------------------------------------------------------------------------

DAY = 86400


def old(home: Path, number: int, days: float) -> Path:
    """A folder of another compiler, with a file last used so many days ago."""
    folder = home / f"kernels-{number:016x}"
    folder.mkdir(parents=True)
    (folder / "poses-0123.compiled.draft").touch()
    os.utime(folder / "poses-0123.compiled.draft", (time.time() - days * DAY,) * 2)
    return folder


def test_what_is_long_unused_goes_when_more_is_kept(home: Path) -> None:
    gone, used = old(home, 1, 31), old(home, 2, 29)
    (used / "pose-4567.compiled").touch()
    os.utime(used / "pose-4567.compiled", (0, 0))
    is_loaded()
    assert not gone.exists()
    assert [file.name for file in files(used)] == ["poses-0123.compiled.draft"]


def test_of_many_the_latest_stay_and_those_of_today(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_FILES", 7)
    today = [old(home, k, 0.5) for k in range(5)]
    lately = [old(home, 5 + k, 2 + k) for k in range(6)]
    is_loaded()
    assert all(folder.exists() for folder in today)
    assert [folder.exists() for folder in lately] == [True, True, False, False, False, False]


def test_nothing_else_in_the_same_place_is_touched(home: Path) -> None:
    folder, other = old(home, 1, 31), old(home, 2, 31).rename(home / "kernels")
    (folder / "notes.txt").touch()
    os.utime(folder / "notes.txt", (0, 0))
    is_loaded()
    assert [file.name for file in files(folder)] == ["notes.txt"]
    assert len(files(other)) == 1


def test_what_cannot_be_removed_stays_silently(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    is_loaded()
    shutil.rmtree(home)
    folder = old(home, 1, 31)
    capsys.readouterr()

    def refuse(*args: Any, **kwargs: Any) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(Path, "unlink", refuse)
    assert not is_loaded()
    assert folder.exists()
    assert capsys.readouterr().err == ""


def test_a_file_that_is_read_counts_as_used(home: Path) -> None:
    is_loaded()
    (file,) = files(home)
    os.utime(file, (0, 0))
    assert is_loaded()
    assert time.time() - file.stat().st_mtime < DAY

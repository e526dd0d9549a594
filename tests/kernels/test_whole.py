"""Libraries that were cut short are refused before they are opened, which would end the process."""

import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from numpy._core import _multiarray_umath

from poise.kernels import fast_path
from poise.kernels.machine import library
from poise.kernels.machine.whole import CutShort, check_whole

SOME = Path(_multiarray_umath.__file__)
"""A library of this machine's."""


def elf(reach: int) -> bytes:
    """A header of ELF with two parts, of which the second ends at `reach`; its sections end before."""
    head = b"\x7fELF\x02\x01".ljust(16, b"\0") + struct.pack(
        "<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 200, 0, 64, 56, 2, 64, 1, 0
    )
    parts = [struct.pack("<IIQQQQQQ", 1, 5, at, 0, 0, size, size, 4096) for at, size in ((0, 150), (180, reach - 180))]
    return head + b"".join(parts)


def pe(reach: int) -> bytes:
    head = b"MZ".ljust(60, b"\0") + struct.pack("<I", 128)
    coff = b"PE\0\0" + struct.pack("<HHIIIHH", 0x8664, 2, 0, 0, 0, 112, 0)
    parts = [(b".text", 100, 512), (b".data", reach - 700, 700)]
    table = [struct.pack("<8sIIIIIIHHI", name, 0, 0, size, at, 0, 0, 0, 0, 0) for name, size, at in parts]
    return head.ljust(128, b"\0") + coff + bytes(112) + b"".join(table)


def macho(reach: int) -> bytes:
    head = struct.pack("<IIIIIIII", 0xFEEDFACF, 0x0100000C, 0, 6, 3, 2 * 72 + 24, 0, 0)
    parts = [(0, 400), (400, reach - 400)]
    segments = [struct.pack("<II16sQQQQIIII", 0x19, 72, b"__X", 0, 0, at, size, 0, 0, 0, 0) for at, size in parts]
    return head + segments[0] + struct.pack("<II16x", 0x1B, 24) + segments[1]


@pytest.mark.parametrize("header", [elf, pe, macho])
def test_a_file_is_as_long_as_its_farthest_part_reaches(header: object, tmp_path: Path) -> None:
    assert callable(header)
    file, head = tmp_path / "some", header(5000)
    file.write_bytes(head.ljust(5000, b"\0"))
    check_whole(file)
    file.write_bytes(head.ljust(6000, b"\0"))  # what stands behind is nobody's
    check_whole(file)
    for size in (4999, len(head), len(head) - 30):
        file.write_bytes(head.ljust(5000, b"\0")[:size])
        with pytest.raises(CutShort, match=rf"some was cut short, at {size} bytes of .*python -m poise\.build"):
            check_whole(file)


def test_what_is_no_library_is_left_to_the_loader(tmp_path: Path) -> None:
    file = tmp_path / "some"
    for data in (b"", b"<html>", b"\x7fELF\x01\x01" + bytes(60)):
        file.write_bytes(data)
        check_whole(file)
    with pytest.raises(FileNotFoundError):
        check_whole(tmp_path / "none")


def cut(file: Path, folder: Path, share: float) -> Path:
    """A copy of a library, of which the end is missing."""
    to = folder / file.name
    shutil.copy(file, to)
    with to.open("r+b") as stream:
        stream.truncate(int(file.stat().st_size * share))
    return to


def test_libraries_of_this_machine_are_whole_and_half_of_one_is_not(tmp_path: Path) -> None:
    check_whole(SOME)
    for share in (0.9, 0.5, 0.02):
        with pytest.raises(CutShort):
            check_whole(cut(SOME, tmp_path, share))


def test_python_outlives_a_library_that_was_cut_short(tmp_path: Path) -> None:
    code = "import pathlib, sys; from poise.kernels.machine.library import Library; Library(pathlib.Path(sys.argv[1]))"
    command = [sys.executable, "-c", code, str(cut(SOME, tmp_path, 0.5))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "was cut short" in done.stderr


def test_it_is_told_with_the_mend_and_numba_compiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    short = cut(SOME, tmp_path, 0.5)
    monkeypatch.setattr(library, "place", lambda: short)
    monkeypatch.delenv("POISE_CPU", raising=False)
    with pytest.warns(RuntimeWarning, match=r"was cut short.*--force-reinstall.*until then Numba compiles all kernels"):
        found, why = library.chosen.__wrapped__()
    assert found is None
    assert "was cut short" in why
    monkeypatch.setenv("POISE_CPU", "v2")
    with pytest.raises(ValueError, match="was cut short"):
        library.chosen.__wrapped__()


def test_without_the_whole_fast_path_calls_go_through_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    short = cut(SOME, tmp_path, 0.5)

    class Found:
        file = tmp_path / "poise.so"

    monkeypatch.setattr(fast_path, "library", Found)
    monkeypatch.setattr(fast_path, "fast_path_file", lambda file: short)
    monkeypatch.setattr(fast_path.sysconfig, "get_config_var", lambda name: 0)
    with pytest.warns(RuntimeWarning, match="was cut short.*until then calls go through Python"):
        assert fast_path.load_fast_path.__wrapped__() is None
    monkeypatch.setattr(fast_path, "fast_path_file", lambda file: tmp_path / "none")
    assert fast_path.load_fast_path.__wrapped__() is None

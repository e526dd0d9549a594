"""Archives of NumPy: what a header claims is there, and no damage makes anything but a sentence."""

import io
import random
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest

import poise as pz
from poise.common.archive import members
from poise.common.errors import PoiseError
from poise.motion.clip import load_motion
from poise.scale.source import source_of
from poise.viewer.operator.scene import Unreadable
from poise.viewer.operator.work import load_work

ARM = pz.load("planar3")
FRAMES = 40
ARRAYS = {
    "time_s": np.arange(float(FRAMES)),
    "q": np.linspace(-1.0, 1.0, 3 * FRAMES).reshape(FRAMES, 3),
    "joints": np.array(ARM.coordinates),
}


def npy(array: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def headed(header: str, data: bytes = bytes(64)) -> bytes:
    """An array whose header is this text."""
    text = header.encode("latin1") + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data


def packed(content: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        for name, data in content.items():
            archive.writestr(f"{name}.npy", data)
    return out.getvalue()


def with_q(header: str, data: bytes = bytes(64)) -> bytes:
    """An archive of a motion whose array `q` has this header."""
    return packed({name: headed(header, data) if name == "q" else npy(array) for name, array in ARRAYS.items()})


def oversized() -> bytes:
    """An archive whose directory says that each array unpacks to 2^31 bytes."""
    whole = bytearray(packed({name: npy(array) for name, array in ARRAYS.items()}, zipfile.ZIP_DEFLATED))
    at = whole.find(b"PK\x01\x02")
    while at >= 0:
        whole[at + 24 : at + 28] = struct.pack("<I", 2**31)
        at = whole.find(b"PK\x01\x02", at + 1)
    return bytes(whole)


F8 = "{'descr': '<f8', 'fortran_order': False, 'shape': %s}"
BAD = {
    "more": (with_q(F8 % "(1000000000000, 3)"), r"array 'q': its header claims \(1000000000000, 3\) of float64"),
    "a little more": (with_q(F8 % "(3, 3)"), r"72 bytes, and 64 are there"),
    "less": (with_q(F8 % "(2, 3)"), r"48 bytes, and 64 are there"),
    "negative": (with_q(F8 % "(-2, -4)"), r"array 'q': its header claims \(-2, -4\)"),
    "one negative": (with_q(F8 % "(-1, 8)"), r"array 'q': its header claims \(-1, 8\)"),
    "endless": (with_q(F8 % f"({10**40}, 0)", b""), "array 'q': "),
    "nothing, often": (with_q(F8.replace("<f8", "<V0") % "(1000000000000,)", b""), "array 'q': its header claims"),
    "objects": (with_q(F8.replace("<f8", "|O") % "(1, 3)"), "array 'q': it holds Python objects"),
    "records": (with_q("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (8,)}"), "array 'q' is of"),
    "words": (with_q(F8.replace("<f8", "<U4") % "(4,)"), "array 'q' is of <U4; it must be numbers"),
    "no tuple": (with_q(F8 % "3"), "array 'q': "),
    "no header": (with_q("("), "array 'q': "),
    "deep": (with_q("(" * 5000), "array 'q': "),
    "no magic": (packed({"q": b"hello", "joints": npy(ARRAYS["joints"])}), "array 'q': "),
    "oversized": (oversized(), r"array 'time_s': the archive says that it unpacks to 2,147,483,648 bytes"),
    "one array": (npy(ARRAYS["q"]), "it is one array, and no archive of arrays"),
    "one huge array": (headed(F8 % "(1000000000000, 3)"), "it is one array"),
    "other packing": (packed({"q": npy(ARRAYS["q"])}, zipfile.ZIP_BZIP2), "packed in a way that NumPy does not write"),
    "without q": (packed({"joints": npy(ARRAYS["joints"])}), "no array 'q'; its arrays are joints"),
    "empty": (packed({}), "its arrays are none"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_claims_more_than_there_is_is_refused_with_file_and_array(name: str, tmp_path: Path) -> None:
    content, message = BAD[name]
    file = tmp_path / "walk.npz"
    file.write_bytes(content)
    with pytest.raises(PoiseError, match=rf"walk\.npz cannot be read: .*{message}"):
        load_motion(file, model=ARM)


def test_the_same_holds_for_targets_and_for_the_operators_work(tmp_path: Path) -> None:
    file = tmp_path / "it.npz"
    file.write_bytes(packed({"targets": headed(F8 % "(1000000000000, 3)"), "about": npy(np.array("x"))}))
    with pytest.raises(OSError, match=r"it\.npz cannot be read: array 'targets': its header claims"):
        source_of(file)
    with pytest.raises(Unreadable, match=r"it\.npz .*array 'targets': its header claims"):
        load_work(file, ARM)


def test_arrays_come_back_as_numpy_wrote_them(tmp_path: Path) -> None:
    arrays = {
        "f": np.asfortranarray(np.random.default_rng(0).normal(size=(5, 4))), "none": np.zeros((0, 7)),
        "one": np.array(3.5), "word": np.array(""), "words": np.array(["a", "bcd"]), "many": np.zeros(100_000),
    }  # fmt: skip
    for save in (np.savez, np.savez_compressed):
        save(tmp_path / "a.npz", **arrays)  # type: ignore[operator]
        found = members(tmp_path / "a.npz")
        assert list(found) == list(arrays)
        for name, array in arrays.items():
            np.testing.assert_array_equal(found[name].whole, array, strict=True)
            if array.ndim:
                np.testing.assert_array_equal(found[name][1:3], array[1:3], strict=True)


def damaged(whole: bytes, chance: random.Random) -> bytes:
    """With bytes that are others, gone, doubled, or numbers that are the largest there are."""
    out = bytearray(whole)
    for _ in range(chance.choice((1, 1, 2, 5))):
        at = chance.randrange(len(out))
        kind = chance.randrange(5)
        if kind == 0:
            out[at] ^= 1 << chance.randrange(8)
        elif kind == 1:
            out[at : at + 4] = chance.choice((b"\xff\xff\xff\xff", bytes(4), b"9999", b"\xff\xff\xff\x7f"))
        elif kind == 2:
            del out[at : at + chance.randrange(1, 40)]
        elif kind == 3:
            out[at:at] = out[at : at + chance.randrange(1, 40)]
        else:
            out[at] = chance.choice(b"()'\"\\,-0123456789LfiOUV<>|{}#\n")
        if not out:
            break
    return bytes(out)


@pytest.mark.filterwarnings("ignore")  # of Python, for the texts of headers
@pytest.mark.parametrize("count", [200, pytest.param(2000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("way", ["stored", "packed", "sound zip"])
def test_no_damage_does_anything_but_a_sentence(way: str, count: int, tmp_path: Path) -> None:
    chance, file, read = random.Random(7), tmp_path / "walk.npz", 0
    good = {name: npy(array) for name, array in ARRAYS.items()}
    compression = zipfile.ZIP_DEFLATED if way == "packed" else zipfile.ZIP_STORED
    for _ in range(count):
        if way == "sound zip":  # so that no sum of the zip's is in the way of the arrays
            name = chance.choice(list(good))
            content = packed(good | {name: damaged(good[name][:128], chance) + good[name][128:]})
        else:
            content = damaged(packed(good, compression), chance)
        file.write_bytes(content)
        try:
            found = load_motion(file, model=ARM)
        except PoiseError as error:
            assert "walk.npz" in str(error)  # noqa: PT017
        else:
            assert np.isfinite(found.q).all()
            read += 1
    assert read < 0.7 * count  # most damage is seen

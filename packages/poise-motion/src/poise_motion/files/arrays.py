"""Arrays by name, of an .npz or a .pkl, no larger than memory is for, and without running anything."""

import zipfile
from collections.abc import Collection
from pathlib import Path
from typing import Any, Final

import numpy as np

from poise import ModelError
from poise.extending import Array, members
from poise_motion.files.pickled import read_pickle

_FILE: Final = 2**30
"""The largest file that is read, and the most that its arrays unpack to [bytes]: a body's model has 400 MB."""


def bytes_of(path: Path, most: int = _FILE) -> bytes:
    """What a file holds; raises ModelError if it cannot be read, is empty or has more than `most` bytes."""
    try:
        with path.open("rb") as stream:
            data = stream.read(most + 1)
    except FileNotFoundError:
        raise ModelError("no such file", file=str(path)) from None
    except (OSError, ValueError) as error:
        why = "it is a folder; give a file in it" if path.is_dir() else getattr(error, "strerror", None) or error
        raise ModelError(f"cannot be read: {why}", file=str(path)) from None
    if len(data) > most:
        raise ModelError(f"the file has more than {most // 2**20} MiB; cut it", file=str(path))
    if not data.strip():
        raise ModelError("the file is empty", file=str(path))
    return data


def named_arrays(path: Path, known: Collection[str]) -> tuple[dict[str, Any], list[str]]:
    """Of the names that are `known` what the file has, and all names in it.

    Raises ModelError for what cannot be read, is damaged, or asks for more memory than it is for.
    """
    if path.suffix.lower() == ".pkl":
        made = read_pickle(bytes_of(path), str(path))
        while isinstance(made, dict) and len(made) == 1 and isinstance(inner := next(iter(made.values())), dict):
            made = inner  # a collection of one motion
        if not isinstance(made, dict) or not all(isinstance(name, str) for name in made):
            raise ModelError(f"it holds a {type(made).__name__}, and no arrays by name", file=str(path))
        return {name: made[name] for name in made if name in known}, list(made)
    try:
        found = members(path, known)
        if (total := sum(one.nbytes for one in found.values())) > _FILE:
            raise ModelError(f"its arrays unpack to {total:,} bytes; cut the motion", file=str(path))
        with zipfile.ZipFile(path) as archive:
            names = [name.removesuffix(".npy") for name in archive.namelist()]
        return {name: one.whole for name, one in found.items()}, names
    except FileNotFoundError:
        raise ModelError("no such file", file=str(path)) from None
    except OSError as error:
        why = "it is a folder; give a file in it" if path.is_dir() else error.strerror
        raise ModelError(f"cannot be read: {why}", file=str(path)) from None
    except ModelError:
        raise
    except (ValueError, zipfile.BadZipFile) as error:
        raise ModelError(f"the archive cannot be read: {error}", file=str(path)) from None


def numbers_of(value: Any, name: str, file: Path) -> Array:
    """An array of numbers; raises ModelError, with the place, for what is none and for a number that is not finite."""
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "biuf":
            raise ValueError
        array = array.astype(np.float64)
    except (ValueError, TypeError):
        raise ModelError(f"{name!r} is no array of numbers", file=str(file)) from None
    wrong = ~np.isfinite(array)
    if wrong.any():
        at = [int(k) for k in np.argwhere(wrong)[0]]
        raise ModelError(
            f"{name}{at if at else ''} is {float(array[tuple(at)])}; a motion needs numbers", file=str(file)
        )
    return array

"""The one decorator of every kernel, and where compiled kernels are kept."""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
import platformdirs

_FLAGS = {"contract", "reassoc", "arcp", "nsz"}
"""Fast arithmetic that keeps NaN and infinity visible."""

_Function = TypeVar("_Function", bound=Callable[..., Any])


def _cache_folder() -> Path:
    """A folder named after every kernel's text.

    Numba's own cache looks at the file of the function alone, and would miss an edit in a kernel that it calls.
    """
    digest = hashlib.sha256(numba.__version__.encode())
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    home = os.environ.get("POISE_CACHE_DIR") or platformdirs.user_cache_dir("poise", appauthor=False)
    return Path(home) / digest.hexdigest()[:16]


CACHE_FOLDER = _cache_folder()


def kernel(function: _Function) -> _Function:
    """Compile `function` for this CPU: no interpreter lock, no exceptions from arithmetic, kept on disk."""
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(CACHE_FOLDER)
    try:
        compiled: _Function = numba.njit(nogil=True, error_model="numpy", fastmath=_FLAGS, cache=True, _nrt=False)(
            function
        )
    finally:
        numba.config.CACHE_DIR = before
    return compiled

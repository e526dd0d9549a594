"""The extension of Python that stands beside the library of kernels; see `build/fast_path.c`."""

import sysconfig
import warnings
from functools import cache
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from importlib.util import module_from_spec
from pathlib import Path
from typing import Any

from poise.kernels.machine.library import library
from poise.kernels.machine.whole import CutShort, check_whole


def fast_path_file(library: Path) -> Path:
    """Where the extension is that goes with a library."""
    return library.with_name(library.name.replace("poise", "fast_path", 1))


@cache
def load_fast_path() -> Any:
    """The extension; None where there is none that goes with this library and this Python."""
    found = library()
    if found is None or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return None
    file = str(fast_path_file(found.file))
    loader = ExtensionFileLoader("fast_path", file)
    try:
        check_whole(Path(file))
        module = module_from_spec(ModuleSpec("fast_path", loader, origin=file))
        loader.exec_module(module)
    except CutShort as error:
        warnings.warn(f"{error}; until then calls go through Python", RuntimeWarning, stacklevel=2)
        return None
    except (ImportError, OSError):
        return None
    return module

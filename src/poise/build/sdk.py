"""Folders for other languages: headers, the library and files for CMake and pkg-config; or a package of npm."""

from pathlib import Path
from typing import Final

from poise import __version__
from poise.common.errors import PoiseError
from poise.common.files import make_folder, write_whole
from poise.kernels.machine.library import chosen, machine, place

_HERE: Final = Path(__file__).parent
_NAMES: Final = {"linux": "libpoise.so", "darwin": "libpoise.dylib", "win": "poise.dll"}

_CONFIG: Final = """\
get_filename_component(_poise "${{CMAKE_CURRENT_LIST_DIR}}/../../.." ABSOLUTE)
if(NOT TARGET poise::poise)
  add_library(poise::poise SHARED IMPORTED)
  set_target_properties(poise::poise PROPERTIES
    IMPORTED_LOCATION "${{_poise}}/lib/{library}"{more}
    INTERFACE_INCLUDE_DIRECTORIES "${{_poise}}/include")
endif()
unset(_poise)
"""
_DLL: Final = '\n    IMPORTED_IMPLIB "${_poise}/lib/poise.dll"'
"""MinGW links with the DLL itself; for Visual Studio, which takes an import library, none is made."""
_VERSION: Final = """\
set(PACKAGE_VERSION {version})
if(PACKAGE_VERSION VERSION_LESS PACKAGE_FIND_VERSION OR NOT CMAKE_SIZEOF_VOID_P EQUAL 8)
  set(PACKAGE_VERSION_COMPATIBLE FALSE)
else()
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
  if(PACKAGE_VERSION VERSION_EQUAL PACKAGE_FIND_VERSION)
    set(PACKAGE_VERSION_EXACT TRUE)
  endif()
endif()
"""
_PKG_CONFIG: Final = """\
prefix=${{pcfiledir}}/../..
libdir=${{prefix}}/lib

Name: poise
Description: Inverse kinematics that keeps limits, of solvers and trackers that were prepared in Python
Version: {version}
Cflags: -I${{prefix}}/include
Libs: -L${{libdir}} -lpoise -Wl,-rpath,${{libdir}}
"""


def write_sdk(folder: Path) -> list[Path]:
    """Write the folder, with the library of this process; the files, relative to it.

    Raises PoiseError where there is no library, OSError for what cannot be written.
    """
    found, why = chosen()
    if found is None:
        raise PoiseError(f"there is no library to copy: {why}; `python -m poise.build` compiles one")
    library = _NAMES[machine().partition("-")[2]]
    more = {"libpoise.so": "\n    IMPORTED_NO_SONAME TRUE", "poise.dll": _DLL}.get(library, "")
    texts = {
        "lib/cmake/poise/poise-config.cmake": _CONFIG.format(library=library, more=more),
        "lib/cmake/poise/poise-config-version.cmake": _VERSION.format(version=__version__),
        "lib/pkgconfig/poise.pc": _PKG_CONFIG.format(version=__version__),
    }
    copies = {
        "include/poise.h": _HERE / "poise.h",
        "include/poise.hpp": _HERE / "poise.hpp",
        f"lib/{library}": found.file,
    }
    for name in (*texts, *copies):
        make_folder((folder / name).parent)
    for name, text in texts.items():
        write_whole(folder / name, text)
    for name, source in copies.items():
        write_whole(folder / name, source.read_bytes())  # a program that runs keeps the one that it has loaded
    return [Path(name) for name in (*copies, *texts)]


PACKAGE: Final = (
    "package.json",
    "README.md",
    "poise.js",
    "poise.d.ts",
    "three.js",
    "three.d.ts",
    "urdf.js",
    "urdf.d.ts",
)
"""What pages and node import, and npm reads, beside poise.wasm."""


def write_package(folder: Path) -> list[Path]:
    """Write the folder of which `npm pack` makes an archive; the files, relative to it.

    Raises PoiseError where there is no library for browsers, OSError for what cannot be written.
    """
    library = place("wasm32")
    if not library.is_file():
        raise PoiseError(f"there is no {library} to copy: `python -m poise.build --target wasm32` compiles it")
    sources = [*(_HERE.parent / "browser" / name for name in PACKAGE), library]
    make_folder(folder)
    for source in sources:
        write_whole(folder / source.name, source.read_bytes())
    return [Path(source.name) for source in sources]

"""One shared library of many objects, that needs no other; and beside it the fast path, which needs Python alone."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from poise.build.faces import generated
from poise.build.targets import PAGE, Target
from poise.kernels.machine import layout
from poise.kernels.machine.layout import CALL
from poise.kernels.machine.library import CONTENTS, machine

_RUNTIME = Path(__file__).with_name("runtime.c")
_FACE = Path(__file__).with_name("poise.c")
_HEADER = Path(__file__).with_name("poise.h")
_BROWSER = Path(__file__).with_name("browser.c")
_FAST_PATH = Path(__file__).with_name("fast_path.c")
_STABLE = Path(__file__).with_name("stable.h")
_COMPILED = ("-O3", "-ffreestanding", "-fno-builtin", "-fno-stack-protector", "-nostdlib", "-s")
_AS_PYTHON = ("-ffp-contract=off", "-fno-math-errno")  # what is in C rounds as Python does
_SHARED = ("-shared", "-fPIC")
_MODULE = ("-msimd128", "-Wl,--no-entry")
_WHOLE = {
    "linux": ("-Wl,--no-undefined", "-Wl,-Bsymbolic", "-Wl,-z,noexecstack"),  # what the others do of their own accord
    "darwin": ("-Wl,-install_name,@rpath/libpoise.dylib",),
}
"""For the library, not the fast path.  On Linux a program looks for the name of the file that it was linked with."""


def link(objects: Sequence[Path], contents: str, kinds: Mapping[str, str], target: Target, out: Path) -> None:
    """Write the library `out`, which says its `contents`, and finds functions of these kinds, one a level, for C.

    Raises RuntimeError where nothing links for the target, or a symbol is missing.
    """
    system = target.name.partition("-")[2]
    with tempfile.TemporaryDirectory() as folder:
        contents_file = Path(folder) / "contents.c"
        contents_file.write_text(f"const char {CONTENTS}[] = {json.dumps(contents)};\n")
        (Path(folder) / "generated.h").write_text(generated(kinds, [level.name for level in target.levels]))
        sources = [_RUNTIME, _FACE, contents_file]
        flags = [*_SHARED, *_WHOLE.get(system, ()), *_AS_PYTHON, f"-I{folder}"]
        _make(target, [*flags, *map(str, sources), *map(str, objects)], out)


def link_page(made: bytes, kinds: Mapping[str, str], out: Path) -> None:
    """Write the module of WebAssembly `out`, which has functions of these kinds; raises what `link` does.

    It shows what poise.h and browser.c do, its memory, and where that is free.
    """
    shown = re.findall(r"^PZ_API .*?\b(pz_\w+)\(", _HEADER.read_text() + _BROWSER.read_text(), re.M)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "generated.h").write_text(generated(kinds, [level.name for level in PAGE.levels]))
        (Path(folder) / "kernels.o").write_bytes(made)
        sources = [_RUNTIME, _FACE, _BROWSER, Path(folder) / "kernels.o"]
        exported = [f"-Wl,--export={name}" for name in (*shown, "__heap_base")]
        _make(PAGE, [*_MODULE, *_AS_PYTHON, *exported, f"-I{folder}", *map(str, sources)], out)


def link_fast_path(target: Target, out: Path) -> None:
    """Write the extension of Python, which finds Python's own symbols where it is loaded; raises what `link` does."""
    numbers = [f"-D{name}={CALL.fields[name.lower()].word}" for name in ("NARROW", "PHASE", "FOLLOWING_WORK")]
    codes = ("BEGIN", "GO_ON", "END", "RUNNING", "NEEDS", "SOLVED", "BAD_GOAL", "GOAL_NUMBERS")
    arguments = [
        *_SHARED,
        *_AS_PYTHON,
        *numbers,
        *(f"-D{name}={getattr(layout, name)}" for name in codes),
        str(_FAST_PATH),
    ]
    with tempfile.TemporaryDirectory() as folder:
        if target.name.endswith("-win"):
            arguments.append(str(_imports(target, Path(folder))))
        elif target.name.endswith("darwin"):
            arguments += ["-undefined", "dynamic_lookup", f"-Wl,-install_name,@rpath/{out.name}"]
        _make(target, arguments, out)


def _imports(target: Target, folder: Path) -> Path:
    """What tells the linker of Windows that Python has what the fast path calls."""
    names = re.findall(r"\b_?Py\w+(?=[(,;])", "".join(re.findall(r"^IMPORTED .*", _STABLE.read_text(), re.M)))
    definition, imports = folder / "python3.def", folder / "python3.lib"
    definition.write_text(
        "\n".join(["LIBRARY python3.dll", "EXPORTS", *(n + " DATA" * n.startswith(("_", "PyExc")) for n in names)])
    )
    kind = {"x86_64-win": "i386:x86-64", "aarch64-win": "arm64"}[target.name]
    command = [sys.executable, "-m", "ziglang", "dlltool", "-d", str(definition), "-l", str(imports), "-m", kind]
    subprocess.run(command, check=True)
    return imports


def _make(target: Target, arguments: Sequence[str], out: Path) -> None:
    """Let a compiler for the target make the library `out` of what is given."""
    if find_spec("ziglang") is not None:
        linker = [sys.executable, "-m", "ziglang", "cc", "-target", target.zig]
    elif target.name == machine():
        linker = ["cc", "-fno-tree-loop-distribute-patterns"]  # or GCC makes a call of memset of memset
    else:
        raise RuntimeError(f"nothing here links for {target.name}: pip install ziglang")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / out.name  # beside which the linker of Windows leaves more
        command = [*linker, *_COMPILED, "-o", str(made), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{' '.join(linker)} has not linked {out.name}: {done.stderr.strip()}")
        draft = out.with_name(f"{out.name}.{os.getpid()}")  # whoever loads half a library dies of it
        shutil.move(made, draft)
        draft.replace(out)

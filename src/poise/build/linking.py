"""One shared library of many objects, that needs no other."""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from poise.build.targets import Target
from poise.kernels.library import CONTENTS, machine

_RUNTIME = Path(__file__).with_name("runtime.c")
_COMPILED = ("-O3", "-fPIC", "-ffreestanding", "-fno-builtin", "-fno-stack-protector")
_LINKED = ("-shared", "-nostdlib", "-s")
_ELF = ("-Wl,--no-undefined", "-Wl,-z,noexecstack")  # what the others do of their own accord


def link(objects: Sequence[Path], contents: str, target: Target, out: Path) -> None:
    """Write the library `out`, which says its `contents`.

    Raises RuntimeError where nothing links for the target, or a symbol is missing.
    """
    if find_spec("ziglang") is not None:
        linker = [sys.executable, "-m", "ziglang", "cc", "-target", target.zig]
    elif target.name == machine():
        linker = ["cc", "-fno-tree-loop-distribute-patterns"]  # or GCC makes a call of memset of memset
    else:
        raise RuntimeError(f"nothing here links for {target.name}: pip install ziglang")
    elf = _ELF if target.name.endswith("linux") else ()
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        said = Path(folder) / "contents.c"
        said.write_text(f"const char {CONTENTS}[] = {json.dumps(contents)};\n")
        made = Path(folder) / out.name  # beside which the linker of Windows leaves more
        command = [*linker, *_COMPILED, *_LINKED, *elf, "-o", str(made), str(_RUNTIME), str(said), *map(str, objects)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{' '.join(linker)} has not linked {out.name}: {done.stderr.strip()}")
        shutil.move(made, out)

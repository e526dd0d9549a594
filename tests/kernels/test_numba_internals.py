"""What of Numba's private parts a version lacks costs time, and nothing else."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from fresh import fresh

PARTS = {  # and whether kernels are then lowered for their callers alone, and kept
    "no library to link alone": ("numba.core.codegen", "CPUCodeLibrary._finalize_dynamic_globals", "False True"),
    "another name of the library": ("numba.core.codegen", "JITCodeLibrary", "False True"),
    "other passes": ("numba.core.typed_passes", "NativeLowering", "False True"),
    "no way to register a pass": ("numba.core.compiler_machinery", "register_pass", "False True"),
    "no result that can be kept": ("numba.core.compiler", "CompileResult._reduce", "True False"),
    "no way to write a result": ("numba.core.serialize", "dumps", "True False"),
    "no private options": ("numba.core.cpu", "CPUTargetOptions", "True True"),
    "no lock": ("numba.core.compiler_lock", "global_compiler_lock", "True True"),
}

CODE = """
import importlib, operator, numba
owner = importlib.import_module({module!r})
*path, name = {name!r}.split(".")
owner = operator.attrgetter(path[0])(owner) if path else owner
hidden = vars(owner)[name]
delattr(owner, name)
from poise.kernels.compiling import numba_internals
setattr(owner, name, hidden)
from poise.kernels.machine import jit, kinds

@jit.kernel
def square(x):
    return x * x

@jit.entry_point(kinds.REAL)
def cubed(x):
    return x * square(x)

@jit.routine
def routine(x, out):
    out[0] = square(x[0])

jit.prepare(cubed)
jit.address(routine, kinds.FROZEN, kinds.REALS)
print(cubed(3.0), numba_internals.LINKS_ONLY, numba_internals.KEEPS)
"""


EACH = """
import os, sys
import numba, numba.core.typed_passes, numba.core.cpu
for place, code in {codes!r}:
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.environ["POISE_CACHE_DIR"] = place
        exec(code)
        sys.stdout.flush()
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        print("failed")
"""


def run(parts: Sequence[tuple[str, str]], home: Path) -> list[str]:
    """What is printed where a module lacks a name as long as poise is imported: a line each.

    Where a process can fork, one that has Numba alone does so for each.
    """
    codes = [(str(home / f"{k}"), CODE.format(module=module, name=name)) for k, (module, name) in enumerate(parts)]
    whole = [EACH.format(codes=codes)] if hasattr(os, "fork") else [code for _, code in codes]
    done = [
        subprocess.run(
            [sys.executable, "-c", code], env=fresh(home / f"alone{k}"), check=True, stdout=subprocess.PIPE, text=True,
            timeout=300,
        )
        for k, code in enumerate(whole)
    ]  # fmt: skip
    return "".join(each.stdout for each in done).splitlines()


def test_kernels_compile_without_it(tmp_path: Path) -> None:
    found = run([(module, name) for module, name, _ in PARTS.values()], tmp_path)
    assert dict(zip(PARTS, found, strict=True)) == {part: f"27.0 {left}" for part, (*_, left) in PARTS.items()}


def test_this_version_lacks_nothing(tmp_path: Path) -> None:
    assert run([("numba", "__doc__")], tmp_path) == ["27.0 True True"]


CHOICE = """
from poise.kernels.machine import jit, kinds

@jit.entry_point(kinds.WHOLE, kinds.REAL, kinds.REAL)
def halvings(count, a, b):
    first, second = 0, 0
    while count > 0:
        side, most = 0, a
        if b > most:
            side, most = 1, b
        if not most > 0.0 or first == 100:
            break
        if side == 0:
            a, first = 0.5 * a, first + 1
        else:
            b, second = 0.5 * b, second + 1
        count -= 1
    return 10 * first + second

jit.prepare(halvings)
print(halvings(5, 2.0, 8.0))
"""


def test_a_choice_by_a_literal_is_that_of_python(tmp_path: Path) -> None:
    # Numba compares two literals while it compiles, which is no answer for other numbers of the same type.
    done = subprocess.run(
        [sys.executable, "-c", CHOICE], env=fresh(tmp_path), check=True, capture_output=True, text=True, timeout=300
    )
    assert done.stdout == "23\n"

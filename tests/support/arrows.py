"""Which file of the packages stands on which: what each imports, within functions too, and which kernels it names.

A module of the core is called by what comes after `poise.`, one of another package by its whole name.

A file that cannot be parsed raises SyntaxError, which says its name and the line.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path, PurePath

import poise

SOURCE = Path(poise.__file__).parent
ROOT = Path(__file__).resolve().parents[2]
BESIDE = {folder.name: folder for folder in sorted(ROOT.glob("packages/*/src/poise_*"))}
"""The packages beside the core, by the names that they are imported by."""
_OURS = ("poise.", *(f"{name}." for name in BESIDE))
_PLACE = re.compile(r'"(\w+(?:\.\w+)*)\.\w+"')
_WHOLE = re.compile(r"^\s*import poise(?: as pz)?$", re.M)
_CHAIN = re.compile(r"\b(?:pz|poise)\.(\w+)(?:\.(\w+))?")


def called(file: PurePath) -> str:
    """The name of a module within its package, of its file below that."""
    parts = file.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name: path for path in SOURCE.rglob("*.py") if (name := called(path.relative_to(SOURCE)))} | {
    ".".join(filter(None, (name, called(path.relative_to(folder))))): path
    for name, folder in BESIDE.items()
    for path in folder.rglob("*.py")
}
"""The files of the packages."""
FILES = {path.relative_to(SOURCE).as_posix(): path for path in sorted(SOURCE.rglob("*.py"))} | {
    path.relative_to(folder.parent).as_posix(): path
    for folder in BESIDE.values()
    for path in sorted(folder.rglob("*.py"))
}
"""The same by their places, `solving/problem/problem.py` and `poise_motion/retarget.py`."""


@cache
def text(path: Path) -> str:
    """What a file says."""
    return path.read_text(encoding="utf-8", errors="replace")


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """The statements below a node, but for those that are for a type checker alone; expressions are not looked into."""
    typed = isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    for field in ("orelse",) if typed else ("body", "orelse", "finalbody", "handlers", "cases"):
        for below in getattr(node, field, ()):
            yield below
            yield from statements(below)


@cache
def imported(path: Path) -> tuple[tuple[str, str], ...]:
    """All that a file imports of poise: the module, without `poise.`, and the name that it takes from it, if any."""
    found = list[tuple[str, str]]()
    for node in statements(ast.parse(path.read_bytes(), str(path))):
        if isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith(_OURS):
            found += ((f"{node.module}.".removeprefix("poise.").rstrip("."), alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
            found += ((name.removeprefix("poise."), "") for name in names if name.startswith(_OURS) or name in BESIDE)
    return tuple(found)


def imports(path: Path) -> Iterator[str]:
    """The modules of poise that a file imports, within functions too."""
    for module, name in imported(path):
        inner = f"{module}.{name}" if module and name else name
        if inner in MODULES or module:
            yield inner if inner in MODULES else module


def kernels(path: Path) -> Iterator[str]:
    """The modules of kernels that a file names without importing them, as in `prepare("solver.lm_solver.solve")`."""
    for place in _PLACE.findall(text(path)):
        module = f"kernels.{place}"
        if module in MODULES:
            yield module


@cache
def homes() -> dict[str, str]:
    """The module that each name of a face comes from, as its stub says: of `solve`, and of `methods.Fabrik`."""
    found = {}
    for stub in SOURCE.rglob("*.pyi"):
        room = called(stub.relative_to(SOURCE))
        for node in ast.parse(stub.read_bytes(), str(stub)).body:
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    name = f"{room}.{alias.name}" if room else alias.name
                    found[name] = (node.module or name).removeprefix("poise.")
    return found


def faces(path: Path) -> Iterator[str]:
    """The modules whose names a file takes from a face, as in `pz.solve` or `from poise import solve`."""
    for module, alias in imported(path):
        name = f"{module}.{alias}" if module else alias
        if name in homes():
            yield homes()[name]
    for first, second in _CHAIN.findall(text(path)) if _WHOLE.search(text(path)) else ():
        for name in (first, f"{first}.{second}"):
            if name in homes():
                yield homes()[name]


@cache
def takes(path: Path) -> frozenset[str]:
    """All modules of poise that a file imports, or whose kernels or public names it takes."""
    return frozenset({*imports(path), *kernels(path), *faces(path)})


@cache
def arrows() -> dict[str, set[str]]:
    """Each module, and those that it imports."""
    return {name: set(imports(path)) - {name} for name, path in MODULES.items()}


@cache
def annotated() -> dict[str, set[str]]:
    """Each module, and those that it imports, for a type checker too."""
    found: dict[str, set[str]] = {}
    for name, path in MODULES.items():
        nodes = [n for n in ast.walk(ast.parse(path.read_bytes())) if isinstance(n, ast.ImportFrom)]
        taken = {
            inner if (inner := f"{node.module}.{alias.name}".removeprefix("poise.")) in MODULES
            else str(node.module).removeprefix("poise.")
            for node in nodes if f"{node.module}.".startswith(_OURS) for alias in node.names
        }  # fmt: skip
        found[name] = taken & MODULES.keys() - {name}
    return found


@cache
def uses() -> dict[str, frozenset[str]]:
    """Each module, and those that it imports or whose kernels or public names it takes."""
    return {name: takes(path) - {name} for name, path in MODULES.items()}

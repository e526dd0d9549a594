"""Which file of the package stands on which: what each imports, within functions too, and which kernels it names."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import poise

SOURCE = Path(poise.__file__).parent
_PLACE = re.compile(r'"(\w+(?:\.\w+)*)\.\w+"')


def modules() -> dict[str, Path]:
    """The files of the package, by what comes after `poise.`."""
    found = {}
    for path in SOURCE.rglob("*.py"):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if name:
            found[name] = path
    return found


MODULES = modules()


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """The statements below a node, but for those that are for a type checker alone; expressions are not looked into."""
    typed = isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    for field in ("orelse",) if typed else ("body", "orelse", "finalbody", "handlers", "cases"):
        for below in getattr(node, field, ()):
            yield below
            yield from statements(below)


def imports(text: str) -> Iterator[str]:
    """The modules of poise that a file imports, within functions too."""
    for node in statements(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("poise."):
            module = node.module.removeprefix("poise.")
            for alias in node.names:
                inner = f"{module}.{alias.name}"
                yield inner if inner in MODULES else module
        elif isinstance(node, ast.Import):
            yield from (a.name.removeprefix("poise.") for a in node.names if a.name.startswith("poise."))


def kernels(text: str) -> Iterator[str]:
    """The modules of kernels that a file names without importing them, as in `prepare("solver.lm_solver.solve")`."""
    for place in _PLACE.findall(text):
        module = f"kernels.{place}"
        if module in MODULES:
            yield module


@cache
def arrows() -> dict[str, set[str]]:
    """Each module, and those that it imports."""
    return {name: set(imports(path.read_text())) - {name} for name, path in MODULES.items()}


@cache
def uses() -> dict[str, set[str]]:
    """Each module, and those that it imports or whose kernels it names."""
    return {name: others | set(kernels(MODULES[name].read_text())) for name, others in arrows().items()}

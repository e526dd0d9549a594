"""What is imported when it is first used: optional dependencies, and the names of a package, of which a stub tells."""

import ast
import importlib
import sys
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, Final

_SHOWN: Final = 6
"""Names of an inner module that a message lists, at most."""
_BESIDE: Final = "poise_"
"""What the names of packages beside poise begin with; the rest of one is the extra that brings it."""


def optional(feature: str, package: str, extra: str, *modules: str) -> Any:
    """The first of `modules`, all imported; raises MissingExtra, which says what `feature` needs, without one."""
    try:
        found = [importlib.import_module(name) for name in modules]
    except ImportError:
        from poise.common.errors import MissingExtra

        raise MissingExtra(feature, package, extra) from None
    return found[0]


def attach(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a module from its stub, the `.pyi` beside the file.

    `from . import b as b` is a module of the package itself, `from a.b import C as C` a name of another module.  That
    may be of a package beside poise, `poise_something`: where it is not installed its names are not listed, and whoever
    takes one is told by a MissingExtra which extra brings it.
    """
    with open(file.removesuffix("c") + "i", encoding="utf-8") as stub:
        tree = ast.parse(stub.read())
    home = {a.name: line.module for line in tree.body if isinstance(line, ast.ImportFrom) for a in line.names}
    beside = {name: module.partition(".")[0] for name, module in home.items() if module and module.startswith(_BESIDE)}
    absent = {other for other in {*beside.values()} if find_spec(other) is None}
    listed = sorted(name for name in home if beside.get(name) not in absent)

    def get(name: str) -> Any:
        if name not in home:
            from poise.common.errors import nearest_names

            near = () if name.startswith("_") else nearest_names(name, home)
            inside = [other for other, module in home.items() if f"{module}.".startswith(f"{package}.{name}.")]
            inside = [f"{package}.{other}" for other in sorted(inside, key=lambda other: other not in near)]
            more = f" and {len(inside) - _SHOWN} more" if len(inside) > _SHOWN else ""
            hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
            if inside:
                hint = f"; what it has is {', '.join(inside[:_SHOWN])}{more}"
            raise AttributeError(f"module {package!r} has no attribute {name!r}{hint}", name=name)
        module = home[name]
        if module is None:
            return importlib.import_module(f"{package}.{name}")
        try:
            value = getattr(__import__(module, fromlist=[name]), name)  # which may be a module in that one
        except ModuleNotFoundError:
            other = beside.get(name, "")
            if other not in absent:
                raise
            from poise.common.errors import MissingExtra

            feature, extra = f"{package}.{name}", other.removeprefix(_BESIDE)
            raise MissingExtra(feature, other.replace("_", "-"), extra) from None
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: listed, listed

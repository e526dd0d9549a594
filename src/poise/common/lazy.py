"""What is imported when it is first used: optional dependencies, and the names of a package, of which a stub tells."""

import ast
import importlib
import sys
from collections.abc import Callable
from typing import Any, Final

_SHOWN: Final = 6
"""Names of an inner module that a message lists, at most."""


def optional(feature: str, package: str, extra: str, *modules: str) -> Any:
    """The first of `modules`, all imported; raises MissingExtra, which says what `feature` needs, without one."""
    try:
        found = [importlib.import_module(name) for name in modules]
    except ImportError:
        from poise.common.errors import MissingExtra

        raise MissingExtra(feature, package, extra) from None
    return found[0]


def attach(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of the package whose `__init__.py` is the file, from its `__init__.pyi`.

    `from . import b as b` is a module of the package itself, `from a.b import C as C` a name of another module.
    """
    with open(file.removesuffix("c") + "i", encoding="utf-8") as stub:
        tree = ast.parse(stub.read())
    home = {a.name: line.module for line in tree.body if isinstance(line, ast.ImportFrom) for a in line.names}

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
        value = getattr(importlib.import_module(module), name)
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: sorted(home), sorted(home)

"""Faces of whole packages beside the originals, where these are installed: modules, names, methods, arguments."""

import importlib
import pkgutil
from collections.abc import Iterator
from inspect import Parameter, isabstract, isclass, isfunction, signature
from typing import Any

import pytest

MISSING = {
    "mink": {"mink.limits.collision_avoidance_limit.compute_contact_normal_jacobian"},
    "pink": {"pink.tasks.manipulability_task.check_revolute_path"},
}
"""What is deliberately not there; the page "Coming from another library" names it."""


def modules(package: Any) -> Iterator[Any]:
    """The public ones of a package, and itself."""
    yield package
    for each in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if not each.name.rpartition(".")[2].startswith("_"):
            yield importlib.import_module(each.name)


def arguments(function: Any) -> list[str]:
    """Names in their order, but for those that take any."""
    some = signature(function).parameters.values()
    return [p.name for p in some if p.kind not in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)]


def lacking(name: str, theirs: Any, ours: Any) -> Iterator[str]:
    """What is missing of a class or a function."""
    if isfunction(theirs) and arguments(theirs) != arguments(ours):
        yield f"{name} takes {arguments(theirs)}, not {arguments(ours)}"
    if isclass(theirs) and not issubclass(theirs, Exception) and not isabstract(theirs):
        for method in [m for m in dir(theirs) if not m.startswith("_") or m == "__init__"]:
            if not hasattr(ours, method):
                yield f"{name}.{method}"
            elif isfunction(getattr(theirs, method)) and "matrix_dim" not in arguments(getattr(theirs, method)):
                yield from lacking(f"{name}.{method}", getattr(theirs, method), getattr(ours, method))


@pytest.mark.parametrize("package", ["mink", "pink"])
def test_all_that_the_original_publishes_is_there(package: str) -> None:
    missed = set[str]()
    for theirs in modules(pytest.importorskip(package)):
        ours = importlib.import_module(f"poise_compat.{theirs.__name__}")
        for name, thing in vars(theirs).items():
            if name.startswith("_") or not getattr(thing, "__module__", "").startswith(theirs.__name__):
                continue
            if hasattr(ours, name):
                missed.update(lacking(f"{theirs.__name__}.{name}", thing, getattr(ours, name)))
            else:
                missed.add(f"{theirs.__name__}.{name}")
    assert missed == MISSING[package]

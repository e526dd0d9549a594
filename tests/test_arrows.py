"""Which file stands on which: no circle, no arrow that points back, imports within functions counted."""

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import poise

SOURCE = Path(poise.__file__).parent
ROOMS = [
    {
        "archive",
        "cached",
        "checks",
        "drawing",
        "errors",
        "files",
        "html",
        "lazy",
        "plain",
        "progress",
        "rate",
        "tables",
    },
    {"kernels"},
    {"quaternions", "spatial"},
    {"geometry"},
    {"model"},
    {"io", "robots"},
    {"tasks"},
    {"methods"},
    {"solving"},
    {"motion"},
    {"retargeting"},
    {
        "bench",
        "build",
        "calibration",
        "compat",
        "doctor",
        "experiments",
        "jax",
        "reachability",
        "references",
        "scale",
        "teleop",
        "torch",
        "viewer",
    },
    {"clouds", "criteria", "damping", "hands", "results", "testing"},
    {"cli", "__main__"},
]
"""As docs/design.md has them; a room imports from its own row and those above."""


@cache
def modules() -> dict[str, Path]:
    found = {}
    for path in SOURCE.rglob("*.py"):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if name:
            found[name] = path
    return found


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """All below a node, but what is for a type checker alone."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            yield child
            if isinstance(child, ast.If) and isinstance(child.test, ast.Name) and child.test.id == "TYPE_CHECKING":
                child.body = []
            yield from statements(child)


def imports(path: Path) -> Iterator[str]:
    """The modules of poise that a file imports anywhere but for a type checker alone."""
    for node in statements(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("poise."):
            module = node.module.removeprefix("poise.")
            for alias in node.names:
                inner = f"{module}.{alias.name}"
                yield inner if inner in modules() else module
        elif isinstance(node, ast.Import):
            yield from (a.name.removeprefix("poise.") for a in node.names if a.name.startswith("poise."))


@cache
def arrows() -> dict[str, set[str]]:
    return {name: {other for other in imports(path) if other != name} for name, path in modules().items()}


def test_every_arrow_leads_to_a_file() -> None:
    assert not {other for others in arrows().values() for other in others} - modules().keys()
    assert sum(map(len, arrows().values())) > 300


def test_there_is_no_circle() -> None:
    try:
        tuple(TopologicalSorter(arrows()).static_order())
    except CycleError as error:
        pytest.fail(f"a circle: {' <- '.join(error.args[1])}")


def test_no_arrow_points_back() -> None:
    row = {room: i for i, rooms in enumerate(ROOMS) for room in rooms}

    def allowed(name: str, other: str) -> bool:
        room, there = name.partition(".")[0], other.partition(".")[0]
        return there == room or (row[there] <= row[room] and (room != "kernels" or other == "errors"))

    wrong = [(name, other) for name, others in arrows().items() for other in others if not allowed(name, other)]
    assert not wrong


def test_the_shop_fronts_can_be_taken_away() -> None:
    """Nothing that solves stands on what measures, repeats papers or prints."""
    front = {"bench", "calibration", "compat", "experiments", "reachability", "references", "scale", "viewer"}
    front |= {"results", "cli", "__main__"}
    for name, others in arrows().items():
        if name.partition(".")[0] not in front:
            assert not {o for o in others if o.partition(".")[0] in front}, name

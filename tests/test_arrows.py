"""Which file stands on which: no circle, no arrow that points back, imports within functions counted."""

import ast
from collections.abc import Iterator
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


def modules() -> dict[str, Path]:
    found = {}
    for path in SOURCE.rglob("*.py"):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if name:
            found[name] = path
    return found


MODULES = modules()


def imports(path: Path) -> Iterator[str]:
    """The modules of poise that a file imports anywhere but for a type checker alone."""
    tree = ast.parse(path.read_text())
    checking = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and isinstance(block.test, ast.Name) and block.test.id == "TYPE_CHECKING"
        for part in block.body
        for node in ast.walk(part)
    }
    for node in ast.walk(tree):
        if id(node) in checking:
            continue
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("poise."):
            module = node.module.removeprefix("poise.")
            for alias in node.names:
                inner = f"{module}.{alias.name}"
                yield inner if inner in MODULES else module
        elif isinstance(node, ast.Import):
            yield from (a.name.removeprefix("poise.") for a in node.names if a.name.startswith("poise."))


ARROWS = {name: {other for other in imports(path) if other != name} for name, path in MODULES.items()}


def test_every_arrow_leads_to_a_file() -> None:
    assert not {other for others in ARROWS.values() for other in others} - MODULES.keys()
    assert sum(map(len, ARROWS.values())) > 300


def test_there_is_no_circle() -> None:
    try:
        tuple(TopologicalSorter(ARROWS).static_order())
    except CycleError as error:
        pytest.fail(f"a circle: {' <- '.join(error.args[1])}")


@pytest.mark.parametrize("name", sorted(MODULES))
def test_no_arrow_points_back(name: str) -> None:
    row = {room: i for i, rooms in enumerate(ROOMS) for room in rooms}
    room = name.partition(".")[0]
    for other in ARROWS[name]:
        there = other.partition(".")[0]
        assert there == room or (row[there] <= row[room] and (room != "kernels" or other == "errors")), (
            f"{name} imports {other}"
        )


def test_the_shop_fronts_can_be_taken_away() -> None:
    """Nothing that solves stands on what measures, repeats papers or prints."""
    front = {"bench", "calibration", "compat", "experiments", "reachability", "references", "scale", "viewer"}
    front |= {"results", "cli", "__main__"}
    for name, others in ARROWS.items():
        if name.partition(".")[0] not in front:
            assert not {o for o in others if o.partition(".")[0] in front}, name

"""Which file stands on which: no circle, no arrow that points back, imports within functions counted."""

import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from support.arrows import BESIDE, MODULES, annotated, arrows

ROOMS = [
    {"common", "rate"},
    {"kernels"},
    {"quaternions", "spatial"},
    {"geometry"},
    {"model"},
    {"io", "robots"},
    {"tasks"},
    {"methods"},
    {"solving"},
    {"motion"},
    {
        "bench",
        "build",
        "calibration",
        "doctor",
        "jax",
        "reachability",
        "references",
        "scale",
        "teleop",
        "torch",
        "viewer",
    },
    {"clouds", "criteria", "damping", "extending", "hands", "imus", "own", "pages", "results", "testing"},
    {"cli", "__main__"},
    {*BESIDE},
]
"""As docs/design.md has them; a folder imports from its own row and those above."""
INNER = {
    "kernels": [
        "machine",
        "compiling",
        "algebra",
        "kinematics",
        "collision",
        "rows",
        "solver",
        "requirements",
        "hands",
        "markers",
        "closed_form",
        "path",
        "gradients",
        "methods",
        "stepping",
    ],
    "solving": [
        "arguments",
        "problem",
        "requirements",
        "unreachable",
        "gradients",
        "methods",
        "answers",
        "search",
        "solvers",
        "path",
        "tracking",
    ],
    "viewer": ["session", "server", "scene", "panel", "pages", "operator"],
    "poise_motion": [
        "files",
        "anatomy",
        "contact",
        "reference",
        "follow",
        "report",
        "hands",
        "osim",
        "markers",
        "carry",
    ],
}
"""The folders within these, each of which imports from those before it, annotations counted."""
_MODEL = (
    "changes closing closure dynamics fitting kinematics levers looped mechanism movers notebook parts pieces "
    "proximity scene tip tree"
)
_PINK = "configuration_limit floating_base_velocity_limit limit velocity_limit"
ANNOTATED_BACK = {
    # What a Model can do stands in files of one idea each, whose functions take the Model that calls them.
    ("model.units", "model.configurations"),
    *((f"model.{name}", "model.model") for name in _MODEL.split()),
    # A method is found by its short name from the base of all methods, which the list of names has to know.
    ("methods.registry", "methods.base"),
    # These modules and what they take are pink's: a Configuration hangs limits on its model, and they ask it back.
    *((f"poise_compat.pink.limits.{name}", "poise_compat.pink.configuration") for name in _PINK.split()),
}
"""The annotations that close a circle; no other does."""


def test_the_page_of_the_design_draws_them_so() -> None:
    page = (Path(__file__).parents[1] / "docs" / "design.md").read_text()
    rows, inner = (block.splitlines() for block in re.findall(r"^```text\n(.*?)^```", page, re.MULTILINE | re.DOTALL))
    assert [set(row.split()) for row in rows] == [rooms - {"__main__"} for rooms in ROOMS]
    assert {folder: order for folder, *order in map(str.split, inner)} == INNER


def test_every_arrow_leads_to_a_file() -> None:
    assert not {other for others in arrows().values() for other in others} - MODULES.keys()
    assert sum(map(len, arrows().values())) > 300


def test_there_is_no_circle() -> None:
    try:
        tuple(TopologicalSorter(arrows()).static_order())
    except CycleError as error:
        pytest.fail(f"a circle: {' <- '.join(error.args[1])}")


def test_annotations_make_no_circle_but_those_that_are_named() -> None:
    assert not [pair for pair in ANNOTATED_BACK if pair[1] not in annotated()[pair[0]] - arrows()[pair[0]]]
    graph = {name: {o for o in others if (name, o) not in ANNOTATED_BACK} for name, others in annotated().items()}
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(f"a circle: {' <- '.join(error.args[1])}; give the function plain arrays, or move the class")


def test_no_arrow_points_back() -> None:
    row = {room: i for i, rooms in enumerate(ROOMS) for room in rooms}

    def allowed(name: str, other: str) -> bool:
        room, there = name.partition(".")[0], other.partition(".")[0]
        return there == room or (row[there] <= row[room] and (room != "kernels" or other == "common.errors"))

    wrong = [(name, other) for name, others in arrows().items() for other in others if not allowed(name, other)]
    assert not wrong


@pytest.mark.parametrize("folder", INNER)
def test_no_inner_folder_imports_one_after_it(folder: str) -> None:
    inner = {name: name.split(".")[1] for name in MODULES if re.match(rf"{folder}\.\w+\.", name)}
    place = {room: i for i, room in enumerate(INNER[folder])}
    assert set(inner.values()) == place.keys()
    arrows = ((name, other) for name in inner for other in annotated()[name] if other in inner)
    assert not [(name, other) for name, other in arrows if place[inner[other]] > place[inner[name]]]


def test_the_shop_fronts_can_be_taken_away() -> None:
    """Nothing that solves stands on what measures, repeats papers or prints."""
    front = {"bench", "calibration", "reachability", "references", "scale", "viewer"}
    front |= {"extending", "pages", "results", "cli", "__main__", *BESIDE}
    for name, others in arrows().items():
        if name.partition(".")[0] not in front:
            assert not {o for o in others if o.partition(".")[0] in front}, name

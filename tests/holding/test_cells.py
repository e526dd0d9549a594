"""What must hold does so in every function, alone, with each other and beside what may be wanted; the table of holes
names what does not yet, and nothing else."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import cells
import numpy as np
import pytest
from functions import FUNCTIONS, METHODS, step
from requirements import FREE, REQUIREMENTS, Case, case, names

import poise as pz
from poise.common.array import Array
from poise.solving.arguments.capabilities import CANNOT

TIMELESS = {(function, name): why for some, (named, why) in cells.NEVER.items() for function in some for name in named}


def never(function: str, some: tuple[str, ...]) -> bool:
    return any((function, name) in TIMELESS for name in some)


def holds(answer: Callable[[Case], Array], some: tuple[str, ...]) -> bool:
    """Whether the function takes the case, and all of it holds in what comes of it."""
    asked = case(some)
    try:
        rows = answer(asked)
    except (TypeError, ValueError):
        return False
    return asked.holds(rows)


def judge(answer: Callable[[Case], Array], some: tuple[str, ...], holes: str) -> None:
    if "+".join(some) in holes.split():
        assert not holds(answer, some), "it holds now: take it out of the table"
    else:
        asked = case(some)
        assert asked.holds(answer(asked))


LONG = {("plan", ("shapes", FREE)), ("solve_all", ("shapes", "levels")), ("solve_batch", ("shapes", "levels"))}
"""What has to search for long, beside others of its kind."""


def cell(function: str, some: tuple[str, ...]) -> Any:
    marks = [pytest.mark.slow] if (function, some) in LONG else []
    return pytest.param(function, some, marks=marks, id=f"{function}-{'+'.join(some)}")


@pytest.mark.parametrize(("function", "some"), [cell(function, some) for function in FUNCTIONS for some in names()])
def test_what_must_hold_does(function: str, some: tuple[str, ...]) -> None:
    if never(function, some):
        asked = case(some)
        said = tuple(REQUIREMENTS[name] for name in some if name in REQUIREMENTS and not never(function, (name,)))
        alone = replace(asked, requirements=said)
        rows = FUNCTIONS[function](asked)
        assert alone.holds(rows)
        assert np.array_equal(rows, FUNCTIONS[function](alone)), "what says nothing changes nothing"
    else:
        judge(FUNCTIONS[function], some, cells.OPEN.get(function, ""))


@pytest.mark.parametrize("some", [some for some in names() if len(some) == 1], ids="+".join)
@pytest.mark.parametrize("method", METHODS)
def test_what_must_hold_does_so_behind_any_method(method: str, some: tuple[str, ...]) -> None:
    why = cells.METHODS.get((method, "+".join(some)))
    if why is None:
        judge(METHODS[method], some, "")
    else:
        with pytest.raises(ValueError, match=CANNOT[why][0]):
            METHODS[method](case(some))


def test_the_table_names_what_there_is() -> None:
    known = {"+".join(some) for some in names()}
    assert all(set(some.split()) <= known for some in cells.OPEN.values())
    assert set(cells.OPEN) <= set(FUNCTIONS)
    assert set(cells.METHODS) <= {(method, some) for method in METHODS for some in known}


@pytest.mark.parametrize("name", REQUIREMENTS)
def test_each_stands_in_the_way(name: str) -> None:
    asked = case([name])
    m, judge = asked.mechanism, REQUIREMENTS[name].judge
    rows = step(Case(m, (), ()))
    if name in ("positions", "balls"):
        rows = pz.solve(m.model, asked.tasks, q0=m.q0, limits=False).q[None]
    if name == "loops":
        rows = m.q0 + 0.01 * np.eye(m.model.nq)
    assert judge(m, m.q0[None])
    assert judge(m, m.end[None])
    assert not judge(m, rows)

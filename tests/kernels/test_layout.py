"""What the packer writes, a kernel reads under the same names, compiled and in plain Python."""

import ast
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from kept import kept

from poise.kernels.machine import layout, packing, views
from poise.kernels.machine.group import Group
from poise.kernels.machine.jit import UNJITTED
from poise.kernels.machine.layout import BALL, COORDINATE, EFFECTOR, PROBLEM, UNIT, WIDTH
from poise.kernels.machine.library import FOLDERS
from poise.kernels.machine.record import Record
from poise.kernels.machine.views import entry_at, narrow, problem_at, section, settings_of, table, wide
from poise.kernels.machine.work import SECTIONS, WORK

compiled = kept(_nrt=False, error_model="numpy")
MIXED = Record("Mixed", "count codes[2]", "gain limits[3]")


def example() -> Any:
    """A problem with two units, two balls, plain numbers and a little room to work in."""
    return packing.pack(
        {
            "units": packing.joined(UNIT, np.arange(12).reshape(2, 6), 0.5 + np.arange(32.0).reshape(2, 16)),
            "balls": packing.joined(BALL, [[3, 4, 0], [5, 6, 1]], np.zeros((2, 20))),
            "strides": [0.25, 0.5],
            "plan": [7, 8, 9, 10, 11, 12],
            "settings": packing.joined(MIXED, [[4, 5, 6]], [[0.1, 1.0, 2.0, 3.0]]).view(np.float64),
        },
        {"q": 3, "e": 2, "room": 4, **packing.in_group("braking", state=2)},
    )


@compiled
def read(words, out):
    p = problem_at(words)
    s = settings_of(p, MIXED)
    rows = table(p.plan, 0, 2, 3)
    out[0], out[1] = len(p.units), len(p.effectors)
    out[2], out[3], out[4] = p.units[1].parent, p.units[1].placement[11], p.units[1].slide
    out[5], out[6] = p.balls[1].q, p.balls[0].v
    out[7], out[8] = p.strides[1], p.plan[2]
    out[9], out[10] = rows[1, 0], rows[1, 2]
    out[11], out[12], out[13], out[14] = s.count, s.codes[1], s.gain, s.limits[2]


EXPECTED = [2.0, 0.0, 6.0, 27.5, 31.5, 5.0, 4.0, 0.5, 9.0, 10.0, 12.0, 4.0, 6.0, 0.1, 3.0]


def test_a_kernel_reads_what_was_packed_by_name() -> None:
    out = np.full(len(EXPECTED), np.nan)
    read(example(), out)
    assert out.tolist() == EXPECTED


SOURCE = Path(layout.__file__).parents[2]


def reads() -> dict[str, set[str]]:
    """By file the attributes that are read in it: of a name, and of such an attribute with that before a dot."""
    found: dict[str, set[str]] = {}
    for path in (path for folder in FOLDERS for path in (SOURCE / folder).rglob("*.py")):
        names = found.setdefault(path.relative_to(SOURCE).as_posix(), set())
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Attribute):
                names.add(f"{node.value.attr}.{node.attr}" if isinstance(node.value, ast.Attribute) else node.attr)
    return found


def test_every_section_is_read_by_a_kernel() -> None:
    assert {*PROBLEM, *SECTIONS} <= set().union(*reads().values())


def test_few_names_are_common_to_all_kernels() -> None:
    assert sum(isinstance(kind, str) for kind in WORK.values()) <= 60


GROUPS = {name: kind for name, kind in WORK.items() if isinstance(kind, Group)}


@pytest.mark.parametrize("name", GROUPS)
def test_a_group_is_read_where_it_says_and_nowhere_else(name: str) -> None:
    sections = {f"{name}.{each}" for each in GROUPS[name].sections}
    files = {file for file, names in reads().items() if names & sections}
    users = {user: {f for f in files if f == user or f.startswith(f"{user}/")} for user in GROUPS[name].users}
    assert set().union(*users.values()) == files
    assert all(users.values())


def test_plain_python_reads_the_same() -> None:
    if not UNJITTED:
        run = subprocess.run(
            [sys.executable, __file__], env={"NUMBA_DISABLE_JIT": "1"}, check=True, capture_output=True, text=True
        )
        assert run.stdout.strip() == "alike"


@compiled
def fill_narrow(words, work):
    w = narrow(problem_at(words), work, work)
    w.q[2], w.e[0], w.room[3], w.braking.state[1] = 1.0, 2.0, 3.0, 5.0
    part = section(w.room, 1, 2)
    part[1] = 4.0
    return len(w.q) + 10 * len(w.room) + 100 * len(part) + 1000 * len(w.braking.state)


@compiled
def fill_wide(words, work):
    w = wide(problem_at(words), work, work)
    w.q[2, 1], w.e[0, 2], w.room[3, 7], w.braking.state[0, 4] = 1.0, 2.0, 3.0, 4.0
    return len(w.q)


def test_rows_of_a_workspace_are_where_the_header_says() -> None:
    words = example()
    work = np.zeros(packing.total_rows(words))
    assert fill_narrow(words, work) == 3 + 40 + 200 + 2000
    assert work.tolist() == [0, 0, 1, 2, 0, 0, 0, 4, 3, 0, 5]
    lanes = np.zeros((len(work), WIDTH))
    assert fill_wide(words, lanes) == 3
    assert np.argwhere(lanes).tolist() == [[2, 1], [3, 2], [8, 7], [9, 4]]


def test_what_holds_packs_begins_where_one_does() -> None:
    words = packing.pack({}, {"goal": 7, "posture_goal": 9, "start": 9, "q": 3, "e": 5, "rows": 16, "room": 12})
    starts = {name: packing.rows_of(words, name).start for name in SECTIONS}
    assert [starts[name] % WIDTH for name in ("start", "rows", "room")] == [0, 0, 0]
    assert starts["posture_goal"] == 7, "a goal and a posture are written as one"
    assert packing.total_rows(words) == starts["room"] + 12


def test_what_was_packed_is_unpacked() -> None:
    words = example()
    assert packing.unpack(words, "balls")["v"].tolist() == [4, 6]
    assert packing.unpack(words, "units")["placement"].shape == (2, 12)
    assert packing.unpack(words, "plan").tolist() == [7, 8, 9, 10, 11, 12]
    again = packing.pack(
        {
            name: part.view(np.float64) if PROBLEM[name] == layout.REAL else part
            for name in PROBLEM
            for part in [packing.words_of(words, name)]
        },
        {name: (at := packing.rows_of(words, name)).stop - at.start for name in SECTIONS},
    )
    assert np.array_equal(again, words)


def test_a_record_is_as_long_as_its_fields_and_known_by_them() -> None:
    assert EFFECTOR.words == EFFECTOR.whole + 24
    assert COORDINATE.dtype.itemsize == 8 * COORDINATE.words
    assert BALL.dtype.names == ("q", "v", "limited", "frame", "rest", "a", "b", "cosine", "sine", "half")
    assert Record("Mixed", "count", "gain").key != MIXED.key


@pytest.mark.parametrize("name", ["p.effector", "p.unit", "p.no_such", "w.state.q", "w.braking.jacobian", "w.hinge.q"])
def test_a_name_that_is_none_does_not_compile(name: str) -> None:
    source = f"def wrong(words):\n    p = problem_at(words)\n    w = narrow(p, words, words)\n    return len({name})"
    scope: dict[str, Any] = {"problem_at": problem_at, "narrow": narrow}
    exec(source, scope)
    with pytest.raises((numba.TypingError, AttributeError)):
        compiled(scope["wrong"])(example())


def test_an_entry_is_read_at_its_address() -> None:
    call = np.arange(layout.CALL.words)

    @compiled
    def third(address):
        return entry_at(address, layout.CALL).wide

    assert third(call.ctypes.data) == layout.CALL.fields["wide"].word


if __name__ == "__main__":
    assert isinstance(problem_at(example()), views._Problem)
    test_a_kernel_reads_what_was_packed_by_name()
    test_rows_of_a_workspace_are_where_the_header_says()
    test_an_entry_is_read_at_its_address()
    print("alike")


def test_sections_of_problems_and_of_workspaces_have_different_names() -> None:
    assert not PROBLEM.keys() & {*WORK, *SECTIONS}

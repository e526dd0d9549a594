"""The experiment of Das, Slotine and Sheridan: numbers of an independent script, and verdicts that can fail."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from readable_tables import assert_tables_readable
from support.figures import legible, named

from poise.robots.das import FIELDS, START
from poise.robots.planar import planar
from poise_experiments.das.problem import (
    HYBRID,
    LITERAL,
    MEASURED,
    NEWTON,
    NONE,
    RULED,
    STRONG,
    TRANSPOSE,
    Results,
    cross,
    joints,
    methods,
    way,
)
from poise_experiments.das.report import claims, measure, tables
from poise_experiments.drawing import save


@pytest.fixture(scope="module")
def results() -> Results:
    return measure(quick=True)


def test_the_open_field_is_that_of_the_independent_script(results: Results) -> None:
    for name, clearance in MEASURED.items():
        passage = results.passages["open"][name]
        assert passage.least[0] == passage.clearances.min() == pytest.approx(clearance, abs=6e-4)
    strong = results.passages["open"][STRONG]
    assert strong.errors.max() == pytest.approx(0.21, abs=0.005)
    assert strong.errors.mean() == pytest.approx(0.0027, abs=5e-5)
    np.testing.assert_allclose(joints(np.array(START))[10], [9.62729, 0.60694], rtol=0, atol=1e-5)


def test_places_are_those_of_the_model() -> None:
    arm, q = planar(10), planar(10).sample(seed=1)
    expected = [arm.pose(j.child, q).xyz[:2] for j in arm.joints if j.nv] + [arm.pose("tool", q).xyz[:2]]
    np.testing.assert_allclose(joints(q), expected, rtol=0, atol=1e-12)


def numpy_passage(field: str, posture: float, repulsion: float) -> np.ndarray:
    """(waypoints, 10) the law with beta = 1 and S = I, with no code of poise."""
    obstacles, q, path = np.array(FIELDS[field].obstacles), np.array(START), []
    for target in way(FIELDS[field])[:10, :2]:
        for _ in range(20):
            places = joints(q)
            e = target - places[10]
            j = np.array([[-(places[10] - p)[1], (places[10] - p)[0]] for p in places[:10]]).T
            y = j @ j.T @ e
            h = posture * q
            for k in range(1, 10):
                x = places[k] - obstacles
                push = (x / (x**2).sum(axis=1)[:, None]).sum(axis=0)
                h[:k] -= repulsion * np.array([-(d := places[k] - p)[1] * push[0] + d[0] * push[1] for p in places[:k]])
            free = h - np.linalg.pinv(j) @ (j @ h)
            free *= min(1.0, 0.2 / np.linalg.norm(free))
            q = q + (e @ y) / (y @ y) * j.T @ e - free
        path.append(q)
    return np.array(path)


@pytest.mark.parametrize("field", FIELDS)
def test_the_law_agrees_with_an_independent_program(field: str) -> None:
    passage = cross(FIELDS[field], methods(FIELDS[field])[STRONG])
    np.testing.assert_allclose(passage.path[:10], numpy_passage(field, 0.02, 0.05), rtol=0, atol=1e-7)


def test_what_differs_from_the_paper(results: Results) -> None:
    differs = [claim.claim for claim in claims(results) if claim.verdict == "differs"]
    assert [claim.split()[0] for claim in differs] == ["the", "the", "the", "S", "any", "joints"]
    assert any("twice" in claim for claim in differs)


def test_no_verdict_hangs_on_the_last_digits_of_the_start(results: Results) -> None:
    starts = len(results.passages["open"][STRONG].least)
    assert starts > 2
    verdicts = [claim.verdict for claim in claims(results)]
    assert "undecided" not in verdicts
    for k in range(starts):
        passages = {
            field: {name: replace(passage, least=(passage.least[k],)) for name, passage in row.items()}
            for field, row in results.passages.items()
        }
        assert [claim.verdict for claim in claims(replace(results, passages=passages))] == verdicts


def test_with_the_printed_sign_the_arm_is_drawn_onto_an_obstacle(results: Results) -> None:
    for row in results.passages.values():
        assert max(row[LITERAL].least) < 0.3 * min(row[STRONG].least)
    assert max(results.passages["open"][LITERAL].least) < 0.01


def swap(a: str, b: str) -> Callable[[Results], Results]:
    return lambda r: replace(r, passages={f: {**row, a: row[b], b: row[a]} for f, row in r.passages.items()})


def counted(factor: float) -> Callable[[Results], Results]:
    """The transpose with so many times Newton's iterations, and the hybrid with three times."""

    def change(r: Results) -> Results:
        counts = {
            spread: {
                **row,
                TRANSPOSE: replace(row[NEWTON], iterations=factor * row[NEWTON].iterations),
                HYBRID: replace(row[NEWTON], iterations=3.0 * row[NEWTON].iterations),
            }
            for spread, row in r.counts.items()
        }
        return replace(r, counts=counts)

    return change


WRONG: list[Callable[[Results], Results]] = [
    swap(NONE, STRONG),
    swap(NONE, RULED),
    swap(LITERAL, STRONG),
    lambda r: replace(r, passages={f: dict.fromkeys(row, row[LITERAL]) for f, row in r.passages.items()}),
    lambda r: replace(r, passages={f: dict.fromkeys(row, row[NONE]) for f, row in r.passages.items()}),
    lambda r: replace(r, split=r.plain),
    lambda r: replace(r, split=replace(r.plain, path=np.where(np.arange(5) < 2, r.plain.path, r.plain.path[0]))),
    lambda r: replace(r, middle=(1.0, 0.5)),
    counted(2.0),
    counted(9.0),
]


def test_every_verdict_can_come_out_either_way(results: Results) -> None:
    seen = [{claim.verdict} for claim in claims(results)]
    for wrong in WRONG:
        for verdicts, claim in zip(seen, claims(wrong(results)), strict=True):
            verdicts.add(claim.verdict)
    assert [claim.claim for claim, verdicts in zip(claims(results), seen, strict=True) if len(verdicts) < 2] == []


def test_tables_are_rectangular(results: Results) -> None:
    for table in tables(results):
        assert table.rows
        assert all(len(row) == len(table.columns) for row in table.rows), table.title


def test_figures_are_pictures(results: Results, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from poise_experiments.das.figures import figures

    files = save(tmp_path, lambda: figures(results))
    assert [file.stem for file in files] == ["frames", "clearance", "vehicle", "iterations"]
    assert all(file.read_bytes().startswith(b"\x89PNG") for file in files)


def test_every_table_can_be_read_at_80_columns_and_in_a_pipe(results: Results) -> None:
    assert_tables_readable(tables(results))


def test_figures_can_be_read(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    from poise_experiments.das import figures

    found = figures.figures(results)
    for figure in found.values():
        legible(figure)
    assert named(found["frames"]) >= {"obstacle", "way of the target"}

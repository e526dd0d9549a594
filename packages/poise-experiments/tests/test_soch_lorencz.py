"""The ellipse of Soch and Lorencz 2005: the numbers against an independent script, and verdicts that can fail."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from readable_tables import assert_tables_readable
from support.figures import legible, named

import poise as pz
from poise.cli import main
from poise.common.array import Array
from poise_experiments.soch_lorencz import report
from poise_experiments.soch_lorencz.problem import (
    AXES,
    BASE,
    BENT,
    DLS,
    LENGTHS,
    PINV,
    ROWS,
    WEIGHTS,
    WORST,
    Results,
    arm,
    extended,
    jacobian,
    least_value,
    targets,
)
from poise_experiments.soch_lorencz.report import claims, tables


@pytest.fixture(scope="module")
def results() -> Results:
    return report.measure(quick=True)


def verdicts(results: Results) -> dict[str, str]:
    return {claim.claim: claim.verdict for claim in claims(results)}


def revolution(weight: float, steps: int) -> Array:
    """(steps,) the errors of the method as printed, in NumPy alone."""
    lengths, q, found = np.array(LENGTHS), np.zeros(6), []
    for k in range(1, steps + 1):
        angle = 2.0 * math.pi * k / steps
        goal = np.array([AXES[0] * math.cos(angle), AXES[1] * math.sin(angle)])
        matrix = np.zeros((12, 6))
        for i in range(5):
            one, two = q[i], q[i] + q[i + 1]
            matrix[i, i : i + 2] = [
                -lengths[i] * np.sin(one) - lengths[i + 1] * np.sin(two),
                -lengths[i + 1] * np.sin(two),
            ]
            matrix[5 + i, i : i + 2] = [
                lengths[i] * np.cos(one) + lengths[i + 1] * np.cos(two),
                lengths[i + 1] * np.cos(two),
            ]
        turned = np.cumsum(q)
        for j in range(6):
            matrix[10:, j] = [
                -(lengths[j:] * np.sin(turned[j:])).sum(),
                (lengths[j:] * np.cos(turned[j:])).sum(),
            ]
        matrix[:10] *= weight
        tip = BASE + np.array([(lengths * np.cos(turned)).sum(), (lengths * np.sin(turned)).sum()])
        q = q + np.linalg.solve(matrix.T @ matrix, matrix[10:].T @ (goal - tip))
        turned = np.cumsum(q)
        tip = BASE + np.array([(lengths * np.cos(turned)).sum(), (lengths * np.sin(turned)).sum()])
        found.append(np.linalg.norm(tip - goal))
    return np.array(found)


# The set-up -------------------------------------------------------------------------------------------------------


def test_the_start_is_on_the_ellipse_stretched_and_singular() -> None:
    model = arm()
    np.testing.assert_allclose(model.pose(model.tip, model.home).xyz, targets(100)[-1], rtol=0, atol=1e-10)
    assert np.linalg.matrix_rank(model.jacobian(model.tip, model.home)[:2]) == 1
    distances = np.linalg.norm(targets(10000), axis=1)
    assert distances.max() == pytest.approx(sum(LENGTHS))
    assert distances.min() == pytest.approx(41.0, abs=0.5)


def test_the_rows_of_the_main_link_are_the_models() -> None:
    q = np.array(BENT)
    np.testing.assert_allclose(jacobian(q, np.array(LENGTHS)), arm().jacobian(arm().tip, q)[:2], rtol=0, atol=1e-10)


# The numbers ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("steps", "name", "first", "leap", "largest"),
    [
        (100, PINV, (0.78, 787.7, 715.0), 4.47, 788.0),
        (100, extended(1.0), (0.57, 0.96, 1.79), 0.19, 69.0),
        (100, extended(0.1), (0.57, 9.3, 0.62), 0.56, 46.0),
        (100, extended(0.01), (0.57, 9.9, 0.68), 0.58, 102.0),
        (100, DLS, (0.78, 3.1, 7.0), 0.002, 12.0),
        (360, PINV, (0.06, 235.0, 55.0), 1.24, 235.0),
        (360, extended(1.0), (0.04, 0.16, 0.31), 0.027, 29.0),
        (360, DLS, (0.06, 0.24, 0.54), 0.0005, 5.1),
        (1000, PINV, (0.008, 33.0, 8.5), 0.45, 33.0),
        (1000, extended(1.0), (0.006, 0.02, 0.05), 0.009, 17.0),
        (1000, DLS, (0.008, 0.03, 0.07), 0.0002, 2.4),
    ],
)
def test_the_numbers_are_those_measured_before(
    results: Results, steps: int, name: str, first: tuple[float, ...], leap: float, largest: float
) -> None:
    run = results.runs[steps][name]
    np.testing.assert_allclose(run.errors[:3], first, rtol=0.13)
    assert run.leap == pytest.approx(leap, rel=0.16)
    assert run.errors.max() == pytest.approx(largest, rel=0.03)


@pytest.mark.parametrize("weight", [1.0, 0.1])
def test_a_whole_revolution_is_that_of_the_printed_equations(results: Results, weight: float) -> None:
    ours, theirs = results.runs[100][extended(weight)].errors, revolution(weight, 100)
    if weight == 1.0:
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)
    else:  # near singular poses rounding grows
        np.testing.assert_allclose(ours[:60], theirs[:60], rtol=1e-4)


def test_the_formula_of_the_paper_cannot_leave_the_start(results: Results) -> None:
    for runs in results.runs.values():
        assert np.isnan(runs[ROWS].errors).all()
        assert not runs[ROWS].path.any()


def test_the_least_singular_value_of_the_papers_arm() -> None:
    assert least_value(np.zeros(6), np.array(LENGTHS)) == pytest.approx(6.81, abs=0.01)
    assert least_value(np.array(WORST), np.array(LENGTHS)) == pytest.approx(1.77, abs=0.02)


def test_a_small_weight_tends_to_the_weighted_pseudoinverse(results: Results) -> None:
    near, far = zip(*(results.limits[w] for w in sorted(results.limits, reverse=True)), strict=True)
    assert near[1] < 0.05 * near[0]
    assert near[2] < 0.05 * near[1]
    assert near[-1] < 1e-8
    assert min(far) > 1e-3


# The verdicts -----------------------------------------------------------------------------------------------------


def test_each_claim_has_the_verdict_that_the_numbers_give(results: Results) -> None:
    found = verdicts(results)
    assert sorted(found.values()) == sorted(["reproduced"] * 5 + ["differs"] * 2 + ["not stated"] * 2)
    assert found["the rank of the extended Jacobian is always guaranteed to be n"] == "differs"
    assert found["Jacobian inversion makes a big jump when it leaves the start"] == "reproduced"


def test_verdicts_turn_with_the_numbers(results: Results) -> None:
    calm = {steps: {**runs, PINV: runs[DLS]} for steps, runs in results.runs.items()}
    assert verdicts(replace(results, runs=calm))["Jacobian inversion makes a big jump when it leaves the start"] == (
        "differs"
    )
    wild = {steps: {**runs, extended(1.0): runs[PINV]} for steps, runs in results.runs.items()}
    name = "the extended Jacobian makes no such jump: the structure recovers well from the singular start"
    assert verdicts(replace(results, runs=wild))[name] == "differs"
    full = {name: (value, n, n) for name, (value, _, n) in results.ranks.items()}
    name = "the rank of the extended Jacobian is always guaranteed to be n"
    assert verdicts(replace(results, ranks=full))[name] == "reproduced"
    name = "the rows of the pairs alone have a rank of n - 1 at most"
    assert verdicts(replace(results, rank_of_pairs=5))[name] == "reproduced"
    same = {weight: (plain, weighted) for weight, (weighted, plain) in results.limits.items()}
    name = "as w goes to 0, the behaviour does not become that of the plain Jacobian"
    assert verdicts(replace(results, limits=same))[name] == "differs"
    still = dict.fromkeys(results.sweep, results.sweep[1.0])
    name = "as w goes to 0, the ability to recover from singular poses disappears"
    assert verdicts(replace(results, sweep=still))[name] == "differs"


# The report -------------------------------------------------------------------------------------------------------


def test_the_command_prints_every_claim_and_writes_report_and_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    assert main(["reproduce", "soch-lorencz", "--quick", "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    facts = json.loads((tmp_path / "report.json").read_text())
    assert facts["reference"] == "soch2005"
    assert len(facts["tables"]) == 3
    for claim in facts["claims"]:
        assert f"{claim['verdict']}: {claim['claim']}"[:60] in printed
    pictures = ["errors.png", "extension.png", "inversion.png", "weights.png"]
    assert sorted(path.name for path in tmp_path.glob("*.png")) == pictures
    for name in pictures:
        assert (tmp_path / name).stat().st_size > 10_000
    assert set(WEIGHTS) <= {1.0, 0.1, 0.01}
    assert pz.methods.METHODS["pairwise"].references == ("soch2005",)


def test_every_table_can_be_read_at_80_columns_and_in_a_pipe(results: Results) -> None:
    assert_tables_readable(tables(results))


def test_figures_can_be_read_and_call_the_method_by_its_name(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    from poise_experiments.soch_lorencz import figures

    found = figures.figures(results)
    for figure in found.values():
        legible(figure)
    assert {label.split(",")[0] for label in named(found["errors"])} <= set(pz.methods.METHODS)
    assert named(found["extension"]) >= {"ellipse", "base", "effector"}

"""The comparison of the ways to keep joint limits: its numbers, and verdicts that can fail."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from readable_tables import assert_tables_readable
from support.figures import legible

from poise.cli import main
from poise_experiments.limits import Results, claims, measure, stiffness, tables


@pytest.fixture(scope="module")
def results() -> Results:
    return measure(quick=True)


def test_all_ways_but_the_penalty_keep_the_limits(results: Results) -> None:
    for runs in (results.within, results.outside):
        for name, run in runs.items():
            assert run.beyond.any() == ("penalty" in name), name


def test_the_exact_ways_agree_and_do_best(results: Results) -> None:
    assert results.difference < 1e-9
    for runs in (results.within, results.outside):
        assert runs["box (active set)"].solved == runs["Lagrange"].solved
        assert runs["box (active set)"].solved >= runs["clip"].solved
    medians = {name: float(np.median(run.errors)) for name, run in results.outside.items() if "penalty" not in name}
    assert medians["box (active set)"] <= medians["clip"]


def test_a_slack_holds_a_joint_at_its_limit(results: Results) -> None:
    assert results.leaving["slack"] < 0.2
    assert results.leaving["box (active set)"] > 0.6


def test_the_violation_of_a_penalty_is_inverse_to_it() -> None:
    (_, few, soft), (_, fewer, stiff) = stiffness(1e3), stiffness(1e4)
    assert few / fewer == pytest.approx(10.0, rel=0.02)
    assert stiff / soft == pytest.approx(10.0, rel=0.05)


def test_every_verdict_can_fail(results: Results) -> None:
    good = {claim.claim: claim.verdict for claim in claims(results)}
    assert sorted(good.values()) == ["differs", "reproduced", "reproduced", "reproduced"]
    silent = replace(results.outside["penalty 100"], beyond=np.zeros(1))
    broken = replace(
        results,
        difference=1.0,
        within=results.within | {"slack": replace(results.within["slack"], solved=0.0)},
        outside=results.outside | {"penalty 100": silent, "penalty 10000": silent},
        penalties=[(penalty, beyond, 1.0) for penalty, beyond, _ in results.penalties],
    )
    assert sorted(claim.verdict for claim in claims(broken)) == ["differs", "differs", "differs", "reproduced"]


def test_the_command_writes_a_report_and_a_figure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "limits", "--quick", "--json", "--out", str(tmp_path)]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["name"] == "limits"
    assert len(facts["claims"]) == 4
    assert json.loads((tmp_path / "report.json").read_text())["tables"] == facts["tables"]
    assert (tmp_path / "limits.png").read_bytes().startswith(b"\x89PNG")


def test_every_table_can_be_read_at_80_columns_and_in_a_pipe(results: Results) -> None:
    assert_tables_readable(tables(results))


def test_the_figure_can_be_read(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    from poise_experiments import limits

    legible(limits.figures(results)["limits"])

"""The field's tables of poses: what counts as reached, that all are, and verdicts that can fail."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from readable_tables import assert_tables_readable
from support.figures import legible

import poise as pz
from poise.cli import main
from poise_experiments import haviland_corke, quik, random_arms, rtb, trac_ik, xarm
from poise_experiments.base import Experiment
from poise_experiments.racing import Race, race

RACES = [trac_ik.TRAC_IK, quik.QUIK, haviland_corke.HAVILAND_CORKE, xarm.XARM, random_arms.RANDOM_ARMS, rtb.RTB]


@pytest.fixture(scope="module")
def measured() -> dict[str, Any]:
    return {experiment.name: experiment.measure(True) for experiment in RACES}


def races_of(results: Any) -> dict[str, Race]:
    if isinstance(results, xarm.Results):
        return {"xArm7": results.race}
    first, *rest = results if isinstance(results, tuple) else (results,)
    return first | {f"{name}, nearest": one for more in rest for name, one in more.items()}


def missing(results: Any) -> Any:
    """The same, with a pose that was not reached in each race."""

    def less(one: Race) -> Race:
        return replace(one, reached=np.zeros_like(one.reached))

    if isinstance(results, xarm.Results):
        return replace(results, race=less(results.race))
    if isinstance(results, tuple):
        return tuple({name: less(one) for name, one in races.items()} for races in results)
    return {name: less(one) for name, one in results.items()}


@pytest.mark.parametrize("experiment", RACES, ids=lambda e: e.name)
def test_every_pose_is_reached(experiment: Experiment[Any], measured: dict[str, Any]) -> None:
    for name, one in races_of(measured[experiment.name]).items():
        assert len(one.reached) in (100, 200)
        assert one.reached.all() != ("one start" in name), name


def test_no_link_of_an_xarm_is_in_another(measured: dict[str, Any]) -> None:
    assert measured["xarm"].touching == 0


def test_without_limits_most_answers_of_a_panda_are_beyond_them(measured: dict[str, Any]) -> None:
    results = measured["haviland-corke"]
    assert results["Panda, no limits"].outside.mean() > 0.4
    assert not results["Panda"].outside.any()


@pytest.mark.parametrize("experiment", RACES, ids=lambda e: e.name)
def test_every_verdict_can_fail(experiment: Experiment[Any], measured: dict[str, Any]) -> None:
    results = measured[experiment.name]
    good = [claim.verdict for claim in experiment.claims(results)]
    bad = [claim.verdict for claim in experiment.claims(missing(results))]
    assert all(one != other for one, other in zip(good, bad, strict=True) if one == "reproduced") or "differs" in good
    assert "differs" in bad


def test_what_is_not_the_pose_or_beyond_limits_is_not_reached() -> None:
    arm = pz.load("panda")
    narrow = arm.with_limits({name: (x - 0.3, x + 0.3) for name, x in zip(arm.joint_names, arm.home, strict=True)})
    made, near = arm.sample(20, seed=3), {"place": 1e-5, "turn": 1e-5}
    within = race(narrow, arm.tip, arm.home, made, **near, max_restarts=20)
    assert not within.reached.any()
    assert not within.outside.any()
    beyond = race(narrow, arm.tip, arm.home, made, **near, limits=False)
    assert beyond.reached.all()
    assert beyond.outside.any()


def test_the_command_writes_a_report_and_a_figure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "quik", "--quick", "--json", "--out", str(tmp_path)]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert len(facts["claims"]) == 3
    assert (tmp_path / "quik.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("experiment", RACES, ids=lambda e: e.name)
def test_tables_and_figures_can_be_read(experiment: Experiment[Any], measured: dict[str, Any]) -> None:
    results = measured[experiment.name]
    assert_tables_readable(experiment.tables(results))
    pytest.importorskip("matplotlib")
    for figure in experiment.figures(results).values():
        legible(figure)

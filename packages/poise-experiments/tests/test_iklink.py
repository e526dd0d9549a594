"""IKLink's trajectory: the fewest reconfigurations, judged by rows alone, and verdicts that can fail."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from readable_tables import assert_tables_readable
from support.figures import legible

from poise_experiments.iklink import report
from poise_experiments.iklink.problem import DT, Followed, judged, panda, trajectory
from poise_experiments.iklink.report import IKLINK, PUBLISHED


@pytest.fixture(scope="module")
def measured() -> dict[str, list[Followed]]:
    """The first path that is found: to make it as short as can be takes most of the time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report, "WAYS", {name: optimise for name, optimise in report.WAYS.items() if not optimise})
        return IKLINK.measure(True)


def test_the_trajectory_is_that_of_the_program() -> None:
    poses = trajectory()
    assert poses.xyz.shape == (767, 3)
    np.testing.assert_allclose(poses.xyz[0], [-0.6172493364867497, -0.31190284047848055, 0.5350599368830296], atol=1e-6)
    assert np.linalg.norm(np.diff(poses.xyz, axis=0), axis=1).max() < 0.03


def kept(measured: dict[str, list[Followed]]) -> None:
    for found in measured.values():
        for one in found:
            assert one.path.success, one.path.explain()
            assert one.met
            assert one.fast == len(one.path.reconfigurations) <= PUBLISHED


def test_no_more_reconfigurations_than_published(measured: dict[str, list[Followed]]) -> None:
    kept(measured)


@pytest.mark.slow
def test_made_short_it_has_no_more_reconfigurations_either() -> None:
    found = IKLINK.measure(True)
    kept(found)
    first, short = found.values()
    assert short[0].length <= first[0].length


def test_the_judge_sees_what_is_too_fast_and_what_is_missed(measured: dict[str, list[Followed]]) -> None:
    one = next(iter(measured.values()))[0]
    stations = one.path.stations
    q = np.array(one.path.q)
    q[stations[100], 6] += 2.0 * float(panda().velocity[6]) * DT
    assert not judged(one.path._with(q=q)).met
    assert judged(one.path._with(q=q)).fast > one.fast


def test_every_verdict_can_fail(measured: dict[str, list[Followed]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "follow_at_once", cache(report.follow_at_once))
    assert [claim.verdict for claim in IKLINK.claims(measured)] == ["reproduced", "reproduced"]
    worse: Any = {name: [replace(each, met=False) for each in found] for name, found in measured.items()}
    assert IKLINK.claims(worse)[0].verdict == "differs"
    more: Any = {name: [replace(each, fast=3) for each in found] for name, found in measured.items()}
    assert IKLINK.claims(more)[0].verdict == "differs"
    from poise.solving.requirements.status import Status

    monkeypatch.setattr(report, "follow_at_once", lambda: Status.CONVERGED)
    assert IKLINK.claims(measured)[1].verdict == "differs"


def test_table_and_figure_can_be_read(measured: dict[str, list[Followed]]) -> None:
    assert_tables_readable(IKLINK.tables(measured))
    pytest.importorskip("matplotlib")
    legible(IKLINK.figures(measured)["iklink"])

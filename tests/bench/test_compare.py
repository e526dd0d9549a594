"""compare: the same problems for all, judged from outside, nothing dropped in silence, a report that can be kept."""

import json
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from support.mechanisms import at, four_bar, gap
from support.refusals import refused
from support.registered import for_a_while

import poise as pz
from poise.bench.compare import convergence, labels, oscillation
from poise.common.array import Array
from poise.methods.base import Capabilities, method

ARM = pz.load("panda")
GOAL = pz.PoseTask(ARM.tip, position_tolerance=1e-5, rotation_tolerance=1e-5)
METHODS = {"lm": "lm", "jt": "jt", "dls(damping=0.1)": pz.methods.DampedLeastSquares(damping=0.1)}
"""Those of `report`, by label."""


@dataclass(frozen=True, kw_only=True)
class Loose(pz.methods.DampedLeastSquares):  # type: ignore[misc]
    """Damped least squares that leaves the limits."""

    name: ClassVar[str] = "loose"
    capabilities: ClassVar[Capabilities] = Capabilities(limits=False)


@dataclass(frozen=True, kw_only=True)
class Points(Loose):
    """It follows positions only."""

    name: ClassVar[str] = "points"
    capabilities: ClassVar[Capabilities] = Capabilities(tasks="positions")


@pytest.fixture
def odd_methods() -> Iterator[None]:
    with for_a_while():
        method(Loose), method(Points)
        yield


@pytest.fixture(scope="module")
def report() -> pz.results.Comparison:
    return pz.compare(ARM, GOAL, methods=list(METHODS.values()), count=30, seed=5)


# What is found ---------------------------------------------------------------------------------------------------


def test_solved_is_what_the_poses_say(report: pz.results.Comparison) -> None:
    assert [row.label for row in report.rows] == list(METHODS)
    for row in report.rows:
        solver = pz.Solver(ARM, GOAL, method=METHODS[row.label], max_restarts=0)
        for i, (target, start) in enumerate(zip(report.problems.targets, report.problems.starts, strict=True)):
            q = solver(target, start).q
            left = target.inverse() @ ARM.pose(ARM.tip, q)
            distance, angle = np.linalg.norm(left.xyz), np.linalg.norm(left.rotation.log())
            assert row.solved[i] == (distance <= 1e-5 and angle <= 1e-5 and ARM.within_limits(q))
            assert row.position_error[i] == pytest.approx(distance, abs=1e-12)
            assert row.rotation_error[i] == pytest.approx(angle, abs=1e-12)
    assert report["lm"].success > report["jt"].success
    assert report["lm"].median_iterations < report["jt"].median_iterations


def test_the_same_seed_is_the_same_comparison_but_for_the_time(report: pz.results.Comparison) -> None:
    again = pz.compare(ARM, GOAL, methods=["lm"], count=30, seed=5)
    assert (again["lm"].solved == report["lm"].solved).all()
    assert (again["lm"].iterations == report["lm"].iterations).all()
    assert again["lm"].oscillation == report["lm"].oscillation
    assert (again.problems.starts == report.problems.starts).all()
    other = pz.compare(ARM, GOAL, methods=["lm"], count=30, seed=6)
    assert (other.problems.starts != report.problems.starts).any()


def test_a_claim_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pz.Solution, "success", True)
    report = pz.compare(ARM, GOAL, methods=["jt"], count=10, max_iterations=3)
    assert report["jt"].claimed.all()
    assert not report["jt"].solved.any()
    assert "jt said 10 times that it had converged when it had not" in str(report)


def test_targets_and_starts_may_be_given() -> None:
    q = ARM.sample(4, seed=0)
    targets = ARM.pose(ARM.tip, q)
    batch = pz.compare(ARM, GOAL, targets, methods=["lm"], q0=q)
    assert batch["lm"].success == 1.0
    assert batch["lm"].iterations.max() == 0
    one_start = pz.compare(ARM, GOAL, [targets[i] for i in range(4)], methods=["lm"], q0=q[1])
    assert one_start["lm"].iterations[1] == 0
    assert one_start["lm"].iterations.max() > 0


def test_several_tasks_are_followed_together() -> None:
    tasks = [pz.PositionTask(ARM.tip), pz.AxisTask(ARM.tip)]
    report = pz.compare(ARM, tasks, methods=["lm"], count=20)
    assert report["lm"].success > 0.3
    assert report.tasks[1] == f"AxisTask({ARM.tip!r}) to 1e-06 rad"
    target = (np.array([0.4, 0.1, 0.5]), np.array([0, 0, -1.0]))
    assert len(pz.compare(ARM, tasks, [target], methods=["lm"])["lm"].times) == 1


def test_what_is_not_required_is_told_of_and_not_judged() -> None:
    place = np.array([0.3, 0.6, 0.5])
    away = pz.PositionTask("panda_link4", place, required=False)
    near = pz.PostureTask(ARM.home, tolerance=1.5)
    tasks = [pz.PositionTask(ARM.tip), away, near]
    report = pz.compare(ARM, tasks, methods=["default", "dls"], count=20, max_restarts=3)
    assert report.tasks[1:] == ("PositionTask('panda_link4'), not required", "PostureTask")
    for row in report.rows:
        solver = pz.Solver(ARM, tasks, method=None if row.label == "default" else "dls", max_restarts=3)
        answers = [solver(*pair).q for pair in zip(report.problems.targets, report.problems.starts, strict=True)]
        for i, (target, q) in enumerate(zip(report.problems.targets, answers, strict=True)):
            missed = np.linalg.norm(ARM.pose(ARM.tip, q).xyz - target[0])
            left = np.linalg.norm(ARM.pose("panda_link4", q).xyz - place)
            assert row.solved[i] == (missed <= 1e-6 and np.abs(q - ARM.home).max() <= 1.5)
            assert row.position_error[i] == pytest.approx(max(missed, left), abs=1e-9)
        assert 0.0 < row.success < 1.0
    alone = pz.compare(ARM, pz.PostureTask(), [None, ARM.home + 0.1], methods=["dls"])
    assert alone["dls"].solved.all()


def test_loops_are_closed_in_what_is_asked_and_judged_in_what_is_found() -> None:
    bar, task = four_bar(), pz.PositionTask("pen")
    report = pz.compare(bar, task, methods=["default", "jt"], count=15, max_restarts=2, max_iterations=30)
    for row in report.rows:
        method = None if row.label == "default" else "jt"
        solver = pz.Solver(bar, task, method=method, max_restarts=2, max_iterations=30)
        for i, (target, start) in enumerate(zip(report.problems.targets, report.problems.starts, strict=True)):
            q = solver(target, start).q
            met = np.linalg.norm(bar.pose("pen", q).xyz - target) <= 1e-6 and gap(bar, q) <= 1e-7
            assert row.solved[i] == met
    assert report["default"].success > report["jt"].success


def test_what_must_hold_does_where_targets_are_and_in_what_counts() -> None:
    arm = pz.load("ur5e")
    wall = pz.World({"wall": pz.Box(at(-0.55, -0.44, 0.6), (0.4, 0.4, 1.0))})
    apart = pz.CollisionLimit(wall, min_distance=0.01, self_collision=False)
    limits = [apart, pz.LinearLimit({"elbow_joint": 1.0, "wrist_1_joint": 1.0}, 1.0)]

    def keeps(q: Array) -> bool:
        near = arm.distance(q, wall, self_collision=False).distance
        return bool(near >= 0.01 - 1e-9 and q[2] + q[3] <= 1.0 + 1e-9)

    with for_a_while():
        method(Loose)
        report = pz.compare(arm, pz.PoseTask("tool0"), methods=["default", "loose"], count=20, limits=limits)
    default, loose = report["default"], report["loose"]
    solver = pz.Solver(arm, pz.PoseTask("tool0"), limits=limits, max_restarts=0)
    for i, (target, start) in enumerate(zip(report.problems.targets, report.problems.starts, strict=True)):
        answer = solver(target, start)
        assert default.outside[i] == (not keeps(answer.q))
        assert default.solved[i] == answer.success
        assert any(keeps(branch.q) for branch in pz.solve_all(arm, pz.PoseTask("tool0", target)))
    assert not loose.limits
    assert loose.broken > default.broken
    assert not (loose.solved & loose.outside).any()


def test_where_next_to_nothing_holds_targets_are_to_be_given() -> None:
    with refused("needs", "panda"):
        pz.compare(ARM, GOAL, count=2, limits=[pz.LinearLimit({"panda_joint1": 1.0}, -9.0)])


def test_restarts_help(report: pz.results.Comparison) -> None:
    more = pz.compare(ARM, GOAL, methods=["lm"], count=30, seed=5, max_restarts=20)
    assert more["lm"].success > report["lm"].success


# Methods ---------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("odd_methods")
def test_all_methods_take_part_and_those_that_cannot_are_listed_with_the_reason() -> None:
    report = pz.compare(ARM, GOAL, count=3)
    assert {row.label for row in report.rows} | report.refused.keys() == {"default", *pz.methods.METHODS}
    assert "positions only" in report.refused["points"]
    assert "points was left out: the method 'points' follows positions only" in str(report)


@pytest.mark.usefixtures("odd_methods")
def test_an_answer_beyond_a_limit_is_not_solved_and_the_method_is_marked() -> None:
    report = pz.compare(ARM, GOAL, methods=["loose", "dls"], count=60)
    loose, strict = report["loose"], report["dls"]
    assert not loose.limits
    assert strict.limits
    assert loose.broken > 0.0 == strict.broken
    assert (loose.claimed & loose.outside).any()
    assert not (loose.solved & loose.outside).any()
    assert "loose *" in str(report)
    assert "* cannot keep joint limits" in str(report)
    ignored = pz.compare(ARM, GOAL, methods=["loose"], count=60, limits=False)
    assert ignored["loose"].success > loose.success
    assert "*" not in str(ignored)


def test_the_solvers_own_way_takes_part_under_the_name_of_default(tmp_path: Path) -> None:
    report = pz.compare(ARM, GOAL, methods=["default", None, "lm"], count=10, seed=5)
    assert [row.label for row in report.rows] == ["default", "default #2", "lm"]
    solver = pz.Solver(ARM, GOAL, max_restarts=0, seed=5)
    for target, start, solved in zip(
        report.problems.targets, report.problems.starts, report["default"].solved, strict=True
    ):
        assert solver(target, start).success == solved
    assert math.isnan(report["default"].oscillation)
    assert len(report["default"].curve[0]) == 0
    report.plot(tmp_path / "default.png")
    pz.compare(ARM, GOAL, methods=["default"], count=2).plot(tmp_path / "alone.png")


def test_a_bar_is_shown_where_it_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    pz.compare(ARM, GOAL, methods=["lm"], count=3, progress=True)
    assert "4/4" in capsys.readouterr().err  # three problems, and the traces of one method
    pz.compare(ARM, GOAL, methods=["lm"], count=3)
    assert not capsys.readouterr().err


def test_labels_are_unique() -> None:
    dls = pz.methods.DampedLeastSquares
    assert labels([dls(), dls(), dls(damping=0.1), dls(damping=0.1), dls(damping=0.1), pz.methods.GaussNewton()]) == [
        "dls", "dls #2", "dls(damping=0.1)", "dls(damping=0.1) #2", "dls(damping=0.1) #3", "gn",
    ]  # fmt: skip


# Measures --------------------------------------------------------------------------------------------------------


def trace_of(q: list[list[float]], error: list[float]) -> pz.results.Trace:
    none = np.zeros(len(error))
    return pz.results.Trace(np.array(error), none, none, np.zeros((len(error), 0)), np.array(q))


def test_oscillation_is_the_mean_change_of_the_step() -> None:
    model = pz.load("planar2")
    even = trace_of([[0, 0], [0.1, 0.2], [0.2, 0.4], [0.3, 0.6]], [4, 3, 2, 1])
    to_and_fro = trace_of([[0, 0], [0.1, 0.2], [0, 0], [0.1, 0.2]], [4, 3, 2, 1])
    short = trace_of([[0, 0], [1, 1]], [1, 0])
    assert oscillation(model, [even]) == pytest.approx(0.0, abs=1e-15)
    assert oscillation(model, [to_and_fro]) == pytest.approx(0.6)
    assert oscillation(model, [to_and_fro, short]) == pytest.approx(0.6)
    assert math.isnan(oscillation(model, [short]))


def test_convergence_is_the_median_error_and_ends_with_the_last_change() -> None:
    def trace(*error: float) -> pz.results.Trace:
        return trace_of([[0.0]] * len(error), list(error))

    at, errors = convergence([trace(8, 1), trace(9, 4, 2), trace(7, 6, 5, 4)])
    assert at.tolist() == [0, 1, 2]
    assert errors.tolist() == [8, 4, 2]
    assert [part.tolist() for part in convergence([trace(3)])] == [[0], [3]]


def test_long_curves_are_kept_at_a_few_iterations(report: pz.results.Comparison) -> None:
    at, errors = report["jt"].curve
    assert at[-1] > 500
    assert len(at) == len(errors) < 100
    assert (np.diff(at) > 0).all()
    assert errors[-1] < errors[0]


# The report ------------------------------------------------------------------------------------------------------


def test_the_table_has_a_line_a_method_the_best_first(report: pz.results.Comparison) -> None:
    lines = str(report).splitlines()
    assert lines[0] == f"panda: PoseTask({ARM.tip!r}) to 1e-05 m and 1e-05 rad"
    assert "30 problems" in lines[1]
    assert [line.split("  ")[0] for line in lines[5:8]] == [row.label for row in report.ranking]
    assert [row.success for row in report.ranking] == sorted((row.success for row in report.rows), reverse=True)
    assert len({len(line) for line in lines[3:8]}) == 1


def test_json_has_every_number_and_nothing_that_json_has_not(report: pz.results.Comparison) -> None:
    failed = pz.compare(ARM, GOAL, methods=["jt"], count=3, max_iterations=1)
    for comparison in (report, failed):
        facts = json.loads(comparison.json(), parse_constant=pytest.fail)
        assert facts == comparison.to_dict()
        assert facts.keys() == {
            "model", "tasks", "unit", "joint_unit", "count", "seed", "max_restarts", "limits", "rows", "refused",
        }  # fmt: skip
        for found, row in zip(facts["rows"], comparison.rows, strict=True):
            assert found.keys() == {
                "label", "limits", "success", "median_time", "p95_time", "median_iterations", "oscillation", "broken",
                "curve", "solved", "claimed", "outside", "position_error", "rotation_error", "times", "iterations",
            }  # fmt: skip
            assert len(found["times"]) == facts["count"]
            assert found["success"] == row.success
    assert json.loads(failed.json())["rows"][0]["median_iterations"] is None


def test_times_are_those_of_all_calls(report: pz.results.Comparison) -> None:
    for row in report.rows:
        assert (row.times > 0.0).all()
        assert row.median_time == np.median(row.times) <= row.p95_time <= row.times.max()


def test_an_unknown_label_gets_a_suggestion(report: pz.results.Comparison) -> None:
    with pytest.raises(KeyError, match=r"did you mean 'dls\(damping=0.1\)'"):
        report["dls(damping=0.2)"]


# The picture -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("suffix", "begin"), [(".png", b"\x89PNG\r\n"), (".svg", b"<?xml"), (".pdf", b"%PDF")])
def test_a_picture_is_written_in_the_form_that_its_name_asks_for(
    suffix: str, begin: bytes, report: pz.results.Comparison, tmp_path: Path
) -> None:
    report.plot(tmp_path / f"picture{suffix}")
    assert (tmp_path / f"picture{suffix}").read_bytes().startswith(begin)


def test_the_picture_names_methods_axes_and_units(report: pz.results.Comparison, tmp_path: Path) -> None:
    report.plot(tmp_path / "picture.svg")
    text = (tmp_path / "picture.svg").read_text()
    for words in ("lm", "dls(damping=0.1)", "time of a call", "problems solved [%]", "iteration", "[m and rad]"):
        assert words in text


def test_a_picture_of_failures_can_be_drawn(tmp_path: Path) -> None:
    pz.compare(ARM, GOAL, methods=["jt"], count=2, max_iterations=1).plot(tmp_path / "none.png")


def test_without_matplotlib_the_error_says_what_to_install(
    report: pz.results.Comparison, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(pz.MissingExtra, match=r'drawing plots needs matplotlib: pip install "poise\[plots\]"'):
        report.plot(tmp_path / "picture.png")


def test_another_kind_of_file_or_a_missing_folder_is_said(report: pz.results.Comparison, tmp_path: Path) -> None:
    with refused("wrong-format", "picture.txt"):
        report.plot(tmp_path / "picture.txt")
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        report.plot(tmp_path / "nowhere" / "picture.png")


# Bad arguments ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ({"methods": ["lmm"]}, "unknown-word", "'lm'"),
        ({"methods": []}, "empty", "methods"),
        ({"methods": "lm"}, "not-a-sequence", "methods"),
        ({"methods": pz.methods.GaussNewton()}, "not-a-sequence", "methods"),
        ({"methods": [3]}, "not-a-method", "3"),
        ({"count": 0}, "out-of-range", "count"),
        ({"count": 1.5}, "not-whole", "count"),
        ({"seed": -1}, "out-of-range", "seed"),
        ({"max_iterations": 0}, "out-of-range", "max_iterations"),
        ({"max_restarts": -1}, "out-of-range", "max_restarts"),
        ({"max_time": 0.0}, "not-positive", "max_time"),
        ({"q0": [0.0, 0.0]}, "wrong-shape", "q0"),
        ({"q0": np.zeros((3, 7)), "count": 4}, "wrong-shape", "q0"),
        ({"targets": []}, "empty", "targets"),
        ({"targets": 3}, "wrong-shape", "targets"),
        ({"targets": pz.SE3.identity()}, "wrong-shape", "targets"),
        ({"targets": [pz.SE3.identity(), [1, 2, 3]]}, "wrong-shape", "targets[1]"),
    ],
)
def test_bad_arguments_are_named(arguments: dict[str, object], code: str, words: str) -> None:
    with refused(code, words):
        pz.compare(ARM, GOAL, **{"methods": ["lm"], "count": 4, **arguments})


def test_bad_tasks_are_named() -> None:
    with pytest.raises(pz.FrameNotFound, match="panda_hnd"):
        pz.compare(ARM, pz.PoseTask("panda_hnd"))
    with pytest.raises(pz.JointNotFound, match="panda_jnt1"):
        pz.compare(ARM, GOAL, count=1, limits=[pz.VelocityLimit({"panda_jnt1": 1.0})])
    with refused("wrong-shape", "targets[0]"):
        pz.compare(ARM, [GOAL, pz.PositionTask("panda_link4")], [ARM.pose(ARM.tip, ARM.home)])
    with refused("not-finite", "targets[0]"):
        pz.compare(ARM, pz.PositionTask("panda_link4"), [[0, np.nan, 0]])
    with refused("nothing-moves", "'world'"):
        pz.compare(ARM, pz.PositionTask("world"), methods=["lm", "dls"])


@pytest.mark.usefixtures("odd_methods")
def test_a_comparison_of_no_method_is_an_error() -> None:
    with refused("not-supported", "'points'"):
        pz.compare(ARM, GOAL, methods=["points"])


def test_an_oscillation_has_the_unit_of_the_joints() -> None:
    slide = pz.ModelBuilder("slide")
    for i, axis in enumerate(np.eye(3)):
        slide.joint(f"j{i}", "prismatic", parent=f"l{i}", child=f"l{i + 1}", axis=axis, limits=(-1, 1))
    mixed = pz.ModelBuilder("mixed")
    mixed.joint("j0", "prismatic", parent="l0", child="l1", limits=(-1, 1))
    mixed.joint("j1", "revolute", parent="l1", child="l2", axis=(1, 0, 0), limits=(-2, 2))
    mixed.frame("tip", link="l2", origin=pz.SE3.from_parts([0, 1, 0]))
    for model, unit in ((ARM, "rad"), (slide.build(), "m"), (mixed.build(), "m and rad")):
        report = pz.compare(model, pz.PositionTask(model.tip), methods=["jt"], count=3)
        assert report.joint_unit == report.to_dict()["joint_unit"] == unit
        assert f"{report['jt'].oscillation:.2g} {unit}   " in str(report)

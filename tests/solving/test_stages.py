"""What a Solver says of how it searches: a line a stage, of what it was asked and of nothing else."""

from typing import Any

import pytest

import poise as pz

PANDA, UR5E = pz.load("panda"), pz.load("ur5e")
POINT, POSTURE = pz.PositionTask(PANDA.tip), pz.PostureTask()
REGION = pz.RegionTask("panda_link6", pz.Sphere((0.0, 0.0, 0.0), 3.0))
SOFT = pz.PositionTask("panda_link4", required=False, priority=1)
SUM = pz.LinearLimit({"panda_joint1": 1.0}, 1.0)
CASES: list[tuple[pz.Model, list[pz.Task], dict[str, Any], list[str]]] = [
    (PANDA, [POINT], {}, ["Eight descents"]),
    (UR5E, [pz.PoseTask(UR5E.tip)], {}, ["The nearest branch of a closed form"]),
    (PANDA, [POINT], {"method": "dls"}, ["Steps of the method 'dls'"]),
    (PANDA, [POINT, POSTURE], {}, ["Eight descents", "From the answer"]),
    (PANDA, [POINT, REGION], {}, ["Without RegionTask('panda_link6')", "Eight descents", "Where none was found"]),
    (PANDA, [POINT], {"limits": [SUM]}, ["Eight descents", "The answer is looked at: it counts if it keeps LinearLimit",
                                         "Where none was found"]),
    (PANDA, [POINT, SOFT], {}, ["The least squares of PositionTask('panda_link4')", "Where no start fulfils"]),
    (PANDA, [POINT, SOFT, POSTURE], {}, ["The least squares", "Where no start fulfils", "The descents begin at"]),
    (PANDA, [POINT, REGION, SOFT], {"limits": [SUM]}, ["Without", "All tasks as if", "Steps of the method 'priority'",
                                                       "Every step keeps", "Where that comes to nothing"]),
]  # fmt: skip


@pytest.mark.parametrize(("model", "tasks", "given", "begins"), CASES, ids=lambda x: None)
def test_a_line_a_stage(model: pz.Model, tasks: list[pz.Task], given: dict[str, Any], begins: list[str]) -> None:
    lines = pz.Solver(model, tasks, **given).explain().split("\n")
    assert len(lines) == len(begins)
    for k, (line, begin) in enumerate(zip(lines, begins, strict=True), 1):
        assert line.startswith(f"{k}. {begin}")


@pytest.mark.parametrize("tasks", [[POINT], [POINT, POSTURE], [POINT, SOFT], [POINT, SOFT, POSTURE]], ids=len)
def test_without_restarts_no_line_speaks_of_random_starts(tasks: list[pz.Task]) -> None:
    for method in (None, "dls"):
        said = pz.Solver(PANDA, tasks, method=method, max_restarts=0).explain()
        assert "random" not in said
        assert "drawn" not in said
        assert "begin at" not in said


def test_a_tolerance_of_a_posture_is_a_stage() -> None:
    said = pz.Solver(PANDA, [POINT, pz.PostureTask(tolerance=1.0)]).explain()
    assert said.endswith("Where the posture's tolerance is missed: the same from there, within it.")

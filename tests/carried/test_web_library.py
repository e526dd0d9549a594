"""The library for browsers, in node: the answers are those of Python."""

import base64
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.mechanisms import four_bar

import poise as pz
from poise.kernels.machine.library import place
from poise.kernels.statuses import STATUSES

WASM = place("wasm32")
pytestmark = [
    pytest.mark.skipif(not WASM.is_file(), reason="there is no poise.wasm: run python -m poise.build --target wasm32"),
    pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed"),
]

PANDA, ARM, G1 = pz.load("panda"), pz.load("panda_collision"), pz.load("g1")
WRISTS = ["left_wrist_yaw_link", "right_wrist_yaw_link"]
WORLD = pz.World({"ball": pz.Sphere((0.45, 0.2, 0.5), 0.08)})


def asked(one: pz.Solver | pz.Tracker, folder: Path, **more: Any) -> dict[str, Any]:
    one.export(folder / "one.poise")
    file = base64.b64encode((folder / "one.poise").read_bytes()).decode()
    return {"file": file, "problems": [], "steps": []} | more


def answers(problems: list[dict[str, Any]], folder: Path) -> Any:
    given = folder / "problems.json"
    given.write_text(json.dumps(problems))
    script = Path(__file__).with_name("answers.mjs")
    done = subprocess.run(["node", script, WASM, given], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_solvers_answer_as_in_python(tmp_path: Path) -> None:
    solvers = [
        (pz.Solver(PANDA, pz.PoseTask(PANDA.tip)), [PANDA.tip]),
        (pz.Solver(pz.load("ur5e"), pz.PoseTask(pz.load("ur5e").tip)), [pz.load("ur5e").tip]),
        (pz.Solver(G1, [pz.PoseTask(frame) for frame in WRISTS]), WRISTS),
        (pz.Solver(ARM, pz.PoseTask(ARM.tip), limits=[pz.CollisionLimit(WORLD)]), [ARM.tip]),
        (pz.Solver(PANDA, pz.PoseTask(PANDA.tip), method="lm"), [PANDA.tip]),
    ]
    problems, here = [], []
    for solver, frames in solvers:
        model = solver.model
        q = model.sample(24, seed=3)
        some = [([model.pose(frame, a) for frame in frames], b) for a, b in zip(q[:12], q[12:], strict=True)]
        here.append([solver(targets, b) for targets, b in some])
        rows = [([x for pose in targets for x in pose.array.tolist()], b.tolist()) for targets, b in some]
        problems.append(asked(solver, tmp_path, problems=rows))
    said = answers(problems, tmp_path)
    for solutions, found, (solver, _) in zip(here, said["found"], solvers, strict=True):
        for one, other in zip(solutions, found["solved"], strict=True):
            assert other["success"] == one.success
            assert other["status"] in STATUSES
            if one.success:
                np.testing.assert_allclose(other["q"], one.q, rtol=0.0, atol=1e-9)
        model = solver.model
        frame = model.frames[-2]
        np.testing.assert_allclose(found["pose"], model.pose(frame, model.home).array, atol=1e-11)
        np.testing.assert_allclose(found["jacobian"], model.jacobian(frame, model.home).ravel(), atol=1e-11)
        assert found["names"] == [list(model.coordinates), list(model.frames), found["names"][2]]
    near = ARM.distance(ARM.home, WORLD)
    assert said["found"][3]["near"] == [pytest.approx(near.distance, abs=1e-11), list(near.pair)]
    assert said["found"][3]["names"][2] == ["ball"]
    assert [status for status, _ in said["refused"]] == ["NO_FILE", "NO_FILE", "DAMAGED"]
    assert all(message == STATUSES[status] for status, message in said["refused"])


def test_stages_of_a_search_answer_as_in_python(tmp_path: Path) -> None:
    elbow, point, near = "panda_link5", pz.PositionTask(PANDA.tip), pz.PostureTask()
    region = pz.RegionTask(elbow, pz.Sphere(PANDA.pose(elbow, PANDA.home).xyz, 0.4))
    wish = pz.PositionTask("panda_link4", (0.2, 0.2, 0.7), required=False, priority=1)
    bent = pz.LinearLimit({"panda_joint2": 1.0, "panda_joint4": 1.0}, 9.0)
    # Where what is left is least it is flat, so rounding in its last digits moves q by their root.
    given: list[tuple[list[pz.Task], dict[str, Any], float]] = [
        ([region], {}, 1e-9), ([], {"limits": [bent]}, 1e-9), ([wish], {}, 1e-6), ([near], {}, 1e-6),
        ([region, near], {}, 1e-6), ([region, wish], {}, 1e-6), ([near], {"method": "dls"}, 1e-6),
    ]  # fmt: skip
    q, problems, here = PANDA.sample(12, seed=3), [], []
    pairs = list(zip(PANDA.pose(PANDA.tip, q[:6]).xyz, q[6:], strict=True))
    for more, settings, _ in given:
        solver = pz.Solver(PANDA, [point, *more], **settings)
        here.append([solver([spot, *(None for _ in more)], start) for spot, start in pairs])
        rows = [(one.goal.tolist(), start.tolist()) for one, (_, start) in zip(here[-1], pairs, strict=True)]
        problems.append(asked(solver, tmp_path, problems=rows))
    assert all(any(one.success for one in solutions) for solutions in here)
    said = answers(problems, tmp_path)["found"]
    for solutions, found, (_, _, close) in zip(here, said, given, strict=True):
        for one, other in zip(solutions, found["solved"], strict=True):
            if one.success:
                assert other["success"]
                np.testing.assert_allclose(other["q"], one.q, rtol=0.0, atol=close)


def test_trackers_go_the_same_way(tmp_path: Path) -> None:
    tracker = pz.Tracker(
        ARM, pz.PoseTask(ARM.tip), dt=0.02, limits=[pz.CollisionLimit(WORLD), pz.AccelerationLimit(10)]
    )
    steps, way = [], []
    q = ARM.home
    for k in range(60):
        target = pz.SE3.from_parts((0.5, 0.3 * np.cos(k / 20), 0.45), pz.SO3.from_rpy([np.pi, 0, 0]))
        steps.append((q.tolist() if k == 0 else None, target.array.tolist()))
        q = tracker.step(q, target)
        way.append(q)
    found = answers([asked(tracker, tmp_path, steps=steps)], tmp_path)["found"][0]["way"]
    np.testing.assert_allclose(found, way, rtol=0.0, atol=1e-9)


def test_loops_stay_closed_and_commands_wait_as_in_python(tmp_path: Path) -> None:
    bar, reach = four_bar(), pz.FollowingErrorLimit(0.1, distance=0.05)
    closed = pz.solve(bar, pz.JointCouplingTask({"crank": 1.0}, 1.0)).q
    there = bar.pose("pen", pz.solve(bar, pz.JointCouplingTask({"crank": 1.0}, 2.0), q0=closed).q)
    pen = pz.Tracker(bar, pz.PositionTask("pen", weight=(1, 1, 0)), dt=0.01, following_error=reach)
    arm = pz.Tracker(ARM, pz.PoseTask(ARM.tip), dt=0.02, limits=[pz.CollisionLimit(WORLD)], following_error=reach)
    aside = pz.SE3.from_parts((0.5, -0.3, 0.45), pz.SO3.from_rpy([np.pi, 0, 0]))
    problems, ways = [], []
    for tracker, start, target in ((pen, closed, there.xyz), (arm, ARM.home, aside)):
        steps, way, measured = [], [], start
        for k in range(60):
            seen = None if k % 20 == 19 else measured
            way.append(tracker.step(None, target, measured=measured if k == 0 else seen))
            numbers = tracker.targets.ravel().tolist()
            steps.append((None, numbers, None if seen is None else seen.tolist()))
            measured = measured + (0.1 if k > 30 else 0.0) * (way[-1] - measured)
        problems.append(asked(tracker, tmp_path, steps=steps))
        ways.append(way)
    for found, way in zip(answers(problems, tmp_path)["found"], ways, strict=True):
        np.testing.assert_allclose(found["way"], way, rtol=0.0, atol=1e-9)


def test_a_start_whose_loops_are_open_is_an_error(tmp_path: Path) -> None:
    bar = four_bar()
    one = asked(pz.Tracker(bar, pz.PositionTask("pen"), dt=0.01), tmp_path, steps=[(bar.home.tolist(), None)])
    with pytest.raises(AssertionError, match=STATUSES["LOOPS_OPEN"]):
        answers([one], tmp_path)

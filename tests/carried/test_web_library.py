"""The library for browsers, in node: the answers are those of Python."""

import base64
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

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

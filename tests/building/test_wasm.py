"""The module for pages, in node: it asks for nothing but the time, and answers as Python does."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

import poise as pz
from poise.build.page import called, make_page, refuse_layouts
from poise.kernels.machine.jit import SIGNATURES, symbol
from poise.kernels.machine.library import PACKAGE, library
from poise.kernels.serialised import IMAGE
from poise.methods.registry import METHODS

PANDA, UR5E = pz.load("panda"), pz.load("ur5e")
HAND = PANDA.tip
COUNT = 20

SCRIPT = """
import fs from "fs";
import { Poise } from %s;
const [library, file, given] = process.argv.slice(2).map((name) => fs.readFileSync(name));
const poise = await Poise.load(library);
const arm = poise.solver(file);
const solved = JSON.parse(given).map(([target, q0]) => {
  const { q, success } = arm.solve(target, q0);
  return [success, [...q], [...arm.pose(%s, q)], [...arm.jacobian(%s, q)]];
});
const imports = WebAssembly.Module.imports(new WebAssembly.Module(library)).map(({ module, name }) => [module, name]);
console.log(JSON.stringify({ imports, solved }));
"""


def functions_of(file: Path) -> list[str]:
    """The functions that a file names."""
    words = np.fromfile(file, dtype="<i8")
    names, count = (int(words[IMAGE.fields[name].word]) for name in ("names", "functions"))
    return [name.decode() for name in words[names:].tobytes().split(b"\0")[:count]]


def symbols() -> dict[str, Any]:
    """What a page has, by name."""
    found = {}
    for job, *types in called():
        function = getattr(job, "function", job)
        found[symbol(function, tuple(types) or SIGNATURES[function])] = (job, *types)
    return found


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled here")
@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node here, which runs WebAssembly")
def test_a_page_answers_as_python_does(tmp_path: Path) -> None:
    pytest.importorskip("ziglang", reason="nothing else links WebAssembly")
    solver = pz.Solver(PANDA, pz.PoseTask(HAND))
    module, file, given, script = (tmp_path / name for name in ("poise.wasm", "arm.poise", "given.json", "run.mjs"))
    solver.export(file)
    have = symbols()
    assert make_page([have[name] for name in functions_of(file)], module) == len(functions_of(file))
    q = PANDA.sample(2 * COUNT, seed=5)
    goals = PANDA.pose(HAND, q[:COUNT]).array
    given.write_text(json.dumps(list(zip(goals.tolist(), q[COUNT:].tolist(), strict=True))))
    face = (PACKAGE / "browser" / "poise.js").as_uri()
    script.write_text(SCRIPT % tuple(json.dumps(text) for text in (face, HAND, HAND)))
    done = subprocess.run(
        ["node", *map(str, (script, module, file, given))], check=True, capture_output=True, text=True
    )
    told = json.loads(done.stdout)
    assert told["imports"] == [["poise", "late"]]
    assert len(told["solved"]) == COUNT
    for goal, q0, (success, there, pose, jacobian) in zip(goals, q[COUNT:], told["solved"], strict=True):
        here = solver(pz.SE3(goal), q0)
        assert success == here.success
        np.testing.assert_allclose(there, here.q, rtol=0.0, atol=1e-11)
        np.testing.assert_allclose(pose, PANDA.pose(HAND, here.q).array, atol=1e-11)
        np.testing.assert_allclose(jacobian, PANDA.jacobian(HAND, here.q).ravel(), atol=1e-11)


@pytest.mark.skipif(library() is None, reason="there is no library here: run python -m poise.build")
def test_a_page_has_all_that_files_name(tmp_path: Path) -> None:
    file, have = tmp_path / "one.poise", symbols()
    near = pz.CollisionLimit()
    made = [
        pz.Solver(UR5E, pz.PoseTask(UR5E.tip), limits=[near]),
        *(pz.Solver(PANDA, pz.PositionTask(HAND), method=name) for name in METHODS),
        *(pz.Tracker(PANDA, pz.PositionTask(HAND), method=name, dt=0.01) for name in METHODS),
        pz.Tracker(PANDA, [pz.PoseTask(HAND), pz.PostureTask()], dt=0.01),
        pz.Tracker(UR5E, pz.PoseTask(UR5E.tip), limits=[near], dt=0.01),
    ]
    for one in made:
        one.export(file)
        assert set(functions_of(file)) <= set(have)


def test_what_lies_otherwise_in_a_page_is_refused() -> None:
    shapes = "alloca { ptr, i64 }, align 8", "alloca [5 x { ptr, i64 }], align 8", "alloca ptr, align 8"
    refuse_layouts({"fine": "\n".join(f"  %{k} = {shape}" for k, shape in enumerate(shapes))})
    with pytest.raises(ValueError, match="wrong keeps alloca"):
        refuse_layouts({"fine": "", "wrong": "  %1 = alloca { ptr, ptr, ptr }, align 8\n"})

"""The package of npm, from a folder outside the tree: what node and chromium import of it answers as Python does."""

import functools
import http.server
import json
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import poise as pz
from poise.build.sdk import PACKAGE, write_package
from poise.cli import main
from poise.common.array import Array
from poise.common.errors import PoiseError
from poise.kernels.machine.library import place

ROOT = Path(__file__).resolve().parents[2]
SOURCE = Path(pz.__file__).parent / "browser"
THREE = Path(os.environ.get("THREE", ROOT / ".venv" / "three")) / "node_modules"
needs_wasm = pytest.mark.skipif(
    not place("wasm32").is_file(), reason="there is no poise.wasm: run python -m poise.build --target wasm32"
)
needs_npm = pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
URDF = """<robot name="arm">
  <link name="base"/><link name="upper"/><link name="fore"/><link name="hand"/><link name="pad"/>
  <joint name="turn" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 0 1"/>
    <origin xyz="0 0 0.3"/><limit lower="-2.9" upper="2.9" velocity="2" effort="9"/></joint>
  <joint name="lift" type="revolute"><parent link="upper"/><child link="fore"/><axis xyz="0 1 0"/>
    <origin xyz="0 0.05 0.1" rpy="0.1 0 0.2"/><limit lower="-1.5" upper="2.1" velocity="2" effort="9"/></joint>
  <joint name="slide" type="prismatic"><parent link="fore"/><child link="hand"/><axis xyz="1 0 0"/>
    <origin xyz="0.3 0 0"/><limit lower="0" upper="0.4" velocity="1" effort="9"/></joint>
  <joint name="squeeze" type="prismatic"><parent link="hand"/><child link="pad"/><axis xyz="0 1 0"/>
    <mimic joint="slide" multiplier="-0.5" offset="0.1"/>
    <limit lower="-1" upper="1" velocity="1" effort="9"/></joint>
</robot>"""


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A project into which the archive of `npm pack` was installed."""
    folder, project = tmp_path / "package", tmp_path / "project"
    assert main(["sdk", "--browser", str(folder)]) == 0
    project.mkdir()
    (project / "package.json").write_text('{"name": "project", "version": "1.0.0", "type": "module"}')
    packed = subprocess.run(
        ["npm", "pack", "--silent", "--pack-destination", project],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    archive = project / packed.stdout.strip().splitlines()[-1]
    subprocess.run(["npm", "install", "--silent", "--offline", archive], cwd=project, check=True, capture_output=True)
    shutil.rmtree(folder)
    return project


def asked(folder: Path) -> tuple[pz.Solver, Array, list[pz.Solution]]:
    """What is asked of a Panda, and Python's answers."""
    arm = pz.load("panda")
    solver = pz.Solver(arm, pz.PoseTask(arm.tip))
    solver.export(folder / "panda.poise")
    targets = arm.pose(arm.tip, arm.sample(5, seed=1)).array
    (folder / "targets.json").write_text(json.dumps(targets.tolist()))
    return solver, targets, [solver(target) for target in targets]


def motion(pose: Any) -> pz.SE3:
    return pz.SE3.from_xyz_wxyz(pose[:3], pose[3:])


def agree(found: list[Any], solutions: list[pz.Solution]) -> None:
    assert len(found) == len(solutions)
    for one, solution in zip(found, solutions, strict=True):
        assert one["success"] == solution.success
        np.testing.assert_allclose(one["q"], solution.q, rtol=0.0, atol=1e-9)


def test_every_file_that_the_package_names_is_written_and_no_other() -> None:
    package = json.loads((SOURCE / "package.json").read_text())
    named = {package["main"], package["types"]}
    for entry in package["exports"].values():
        named |= {entry} if isinstance(entry, str) else set(entry.values())
    written = {*PACKAGE, "poise.wasm"}
    assert {name.removeprefix("./") for name in named} | {"package.json", "README.md"} == written
    assert all((SOURCE / name).is_file() for name in PACKAGE)


def test_without_the_library_the_command_that_makes_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("poise.build.sdk.place", lambda target: tmp_path / "none.wasm")
    with pytest.raises(PoiseError, match=r"python -m poise\.build --target wasm32"):
        write_package(tmp_path / "package")


@needs_wasm
@needs_npm
def test_node_imports_it_by_its_name(installed: Path) -> None:
    _, _, solutions = asked(installed)
    (installed / "ask.js").write_text("""
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { Poise, PoiseError } from "poise-ik";
import { poseOf } from "poise-ik/three";
import { show } from "poise-ik/urdf-loader";
const poise = await Poise.load(await readFile(fileURLToPath(import.meta.resolve("poise-ik/poise.wasm"))));
const arm = poise.solver(await readFile("panda.poise"));
const found = JSON.parse(await readFile("targets.json")).map((target) => arm.solve(target));
console.log(JSON.stringify(found.map(({ q, success }) => ({ q: [...q], success }))));
if ([PoiseError, poseOf, show].some((one) => typeof one !== "function")) process.exitCode = 1;
""")
    done = subprocess.run(["node", "ask.js"], cwd=installed, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    agree(json.loads(done.stdout), solutions)


@pytest.fixture
def served(installed: Path) -> Iterator[tuple[Path, str]]:
    """The project, and where a page of it is found."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *words: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(installed)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield installed, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def page_of(script: str, **more: str) -> str:
    """A page whose modules are found by their names, and which leaves what it found as `window.found`."""
    names = {"poise-ik": "/node_modules/poise-ik/poise.js", "poise-ik/three": "/node_modules/poise-ik/three.js"}
    names |= {"poise-ik/urdf-loader": "/node_modules/poise-ik/urdf.js"} | more
    return f"""<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">
<script type="importmap">{json.dumps({"imports": names})}</script>
<script type="module">{script}</script>"""


@needs_wasm
@needs_npm
def test_a_page_imports_it_by_its_name(served: tuple[Path, str], page: Any) -> None:
    project, address = served
    _, _, solutions = asked(project)
    (project / "page.html").write_text(
        page_of("""
import { Poise } from "poise-ik";
const poise = await Poise.load(fetch("/node_modules/poise-ik/poise.wasm"));
const arm = poise.solver(await (await fetch("panda.poise")).arrayBuffer());
const targets = await (await fetch("targets.json")).json();
window.found = targets.map((target) => arm.solve(target)).map(({ q, success }) => ({ q: [...q], success }));
""")
    )
    page.goto(f"{address}/page.html")
    page.wait_for_function("window.found")
    agree(page.evaluate("window.found"), solutions)


@needs_wasm
@needs_npm
@pytest.mark.skipif(not (THREE / "three").is_dir(), reason="there is no three.js: make .venv/three")
def test_objects_of_three_lead_a_robot_of_urdf_loader(served: tuple[Path, str], page: Any) -> None:
    project, address = served
    arm = pz.load(URDF)
    solver = pz.Solver(arm, pz.PositionTask("hand"))
    solver.export(project / "arm.poise")
    for name in ("three", "urdf-loader"):
        shutil.copytree(THREE / name, project / "node_modules" / name)
    goals = arm.pose("hand", arm.sample(4, seed=2)).array
    modules = {"three": "/node_modules/three/build/three.module.js", "three/": "/node_modules/three/"}
    modules |= {"three/examples/jsm/": "/node_modules/three/examples/jsm/"}
    modules |= {"urdf-loader": "/node_modules/urdf-loader/src/URDFLoader.js"}
    (project / "page.html").write_text(
        page_of(
            f"const text = {json.dumps(URDF)}, goals = {json.dumps(goals.tolist())};"
            + """
import * as THREE from "three";
import URDFLoader from "urdf-loader";
import { Poise } from "poise-ik";
import { place, poseOf } from "poise-ik/three";
import { configurationOf, show } from "poise-ik/urdf-loader";

const poise = await Poise.load(fetch("/node_modules/poise-ik/poise.wasm"));
const arm = poise.solver(await (await fetch("arm.poise")).arrayBuffer());
const scene = new THREE.Scene();
const table = new THREE.Group();
table.position.set(0.3, 0.7, -0.2);
table.rotation.set(0.2, 0.5, -0.1);
scene.add(table);
const robot = new URDFLoader().parse(text);
robot.rotation.x = -Math.PI / 2; // y is up in a scene
table.add(robot);
const target = new THREE.Mesh();
target.scale.set(2, 2, 2);
const holder = new THREE.Group();
holder.position.set(-1, 0.2, 0.4);
holder.rotation.set(0.4, -0.3, 0.9);
scene.add(holder);
holder.add(target);

window.found = goals.map((goal) => {
  place(target, goal, robot);
  const seen = poseOf(target, robot);
  const before = configurationOf(robot, arm);
  const { q, success } = arm.solve(seen, before);
  show(robot, arm, q);
  return { success, seen: [...seen], q: [...q], shown: [...configurationOf(robot, arm)], size: target.scale.x,
    hand: [...poseOf(robot.frames.hand, robot)], pad: [...poseOf(robot.frames.pad, robot)] };
});
try {
  show({ joints: { turn: robot.joints.turn } }, arm, arm.home);
} catch (error) {
  window.refused = error.message;
}
""",
            **modules,
        )
    )
    page.goto(f"{address}/page.html")
    page.wait_for_function("window.refused")
    for goal, one in zip(goals, page.evaluate("window.found"), strict=True):
        assert one["success"]
        assert motion(one["seen"]).isclose(motion(goal), atol=1e-12)
        assert one["shown"] == one["q"]
        assert one["size"] == pytest.approx(2.0)
        for frame in ("hand", "pad"):
            expected = arm.pose(frame, np.array(one["q"]))
            assert motion(one[frame]).isclose(expected, atol=1e-12)
        np.testing.assert_allclose(one["hand"][:3], goal[:3], atol=1e-6)
    assert 'no joint "lift"' in page.evaluate("window.refused")

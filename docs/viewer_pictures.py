"""The pictures of `viewer.md` and of the README, taken of the viewer itself, and the animation.

`python docs/viewer_pictures.py [NAME ...]` writes them to `docs/_static/viewer`.  It needs playwright and a chromium of
the system, so the docs build does not run it.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import poise as pz
from poise.robots.das import FIELDS
from poise.viewer.operator.page import OperatorPage
from poise.viewer.operator.program import Program
from poise.viewer.operator.robots import ROBOTS
from poise.viewer.pages.recording import html_of_motion
from poise.viewer.scene.appearance import appearance
from poise.viewer.server.snapshot import screenshot

FOLDER = Path(__file__).parent / "_static" / "viewer"
WIDTH, HEIGHT = 1000, 600
DT = 1.0 / 60.0


def shot(shown: Any, file: Path, *press: str, height: int = HEIGHT) -> None:
    """Write the page of a viewer as a PNG of few colours, when tabs and buttons of its panel have been pressed."""

    def pressed(page: Any) -> None:
        for name in press:
            page.get_by_text(name, exact=True).first.click(timeout=180e3)

    screenshot(shown.server.viser, shown.url, file, width=WIDTH, height=height, wait=8.0, ready=pressed)
    with Image.open(file) as picture:
        few = picture.convert("RGB").quantize(256, dither=Image.Dither.NONE)
    few.save(file, optimize=True)


def look(shown: Any, middle: tuple[float, float, float], away: tuple[float, float, float]) -> None:
    """Put the camera of windows that open from now on; what is in the middle stands left of the panel."""
    right = np.array([-away[1], away[0], 0.0]) / np.hypot(away[0], away[1])
    at = middle + 0.25 * np.linalg.norm(away) * right
    camera = shown.server.viser.initial_camera
    camera.position, camera.look_at = tuple(at + away), tuple(at)


def until(shown: pz.results.Viewer, seconds: float = 20.0) -> None:
    """Wait until the robot rests."""
    for _ in range(int(50 * seconds)):
        if shown.session.moment.resting:
            return
        shown.wait(0.02)
    raise TimeoutError("the robot does not come to rest")


def panda(file: Path) -> None:
    """A Panda that is led among obstacles, and kept apart from them."""
    arm = pz.load("example-robot-data/panda")
    world = pz.World(
        {
            "ball": pz.Sphere((0.03, 0.12, 0.7), 0.1),
            "crate": pz.Box(pz.SE3.from_xyz_rpy([0.55, 0.32, 0.15], [0, 0, 0.3]), (0.25, 0.25, 0.3)),
            "post": pz.Capsule((0.3, 0.6, 0.05), (0.3, 0.6, 0.8), 0.05),
        }
    )
    with pz.view(arm, pz.PoseTask("panda_hand"), world=world, port=0, block=False) as shown:
        shown.session.keep_apart(0.03)
        shown.session.drag(0, [0.45, 0.25, 0.5, 0.0, 1.0, 0.0, 0.0])
        until(shown)
        shown.stage.obstacles.select("crate")
        look(shown, (0.2, 0.15, 0.42), (1.05, -0.5, 0.4))
        shot(shown, file)


def g1(file: Path) -> None:
    """A humanoid on its feet that reaches out, in dark colours."""
    body = pz.load("g1", base="floating")
    feet = [pz.PoseTask(f"{side}_ankle_roll_link") for side in ("left", "right")]
    hands = [pz.PositionTask(f"{side}_wrist_yaw_link", priority=1) for side in ("left", "right")]
    balance = pz.CentreOfMassTask(weight=(1, 1, 0))
    with pz.view(body, [*feet, balance, *hands], method="priority", dark=True, port=0, block=False) as shown:
        for k, way in ((3, [0.2, 0.1, 0.3]), (4, [0.2, -0.1, 0.1])):
            pose = shown.session.gizmo_pose(k)
            assert pose is not None
            shown.session.drag(k, [*(pose[:3] + way), *pose[3:]])
        until(shown)
        shot(shown, file)


def methods(file: Path) -> None:
    """Two methods on a planar arm, a skeleton, and how the errors of both fall."""
    arm = pz.load("planar5")
    with pz.view(arm, pz.PositionTask("tool"), q=[0.4] * 5, method="dls", port=0, block=False) as shown:
        shown.session.compare("ccd")
        until(shown)
        shown.session.drag(0, [-1.5, 1.5, 0.0, 1.0, 0.0, 0.0, 0.0])
        until(shown)
        look(shown, (0.6, 1.2, 0.0), (0.0, -1.3, 3.3))
        shot(shown, file, "Method", "settings of the method", "settings of the ghost", "convergence", height=640)


def solutions(file: Path) -> None:
    """All configurations of a UR5e in which its tool is where it is."""
    arm = pz.load("ur5e")
    with pz.view(
        arm, pz.PoseTask("tool0"), q=[2.6, -1.2, 1.5, 0.3, 0.8, 0.2], look="skeleton", port=0, block=False
    ) as shown:
        until(shown)
        look(shown, (0.35, 0.0, 0.15), (0.5, -0.8, 0.35))
        shot(shown, file, "All solutions")


def through(field: str) -> Program:
    """The ten-link arm among the obstacles of a field of `poise reproduce das`, and two attempts at its way."""
    robot = ROBOTS["ten-links"]()
    program = Program(robot.model, robot.frame, start=robot.start)
    program.desire(robot.start)
    for k, (x, y) in enumerate(FIELDS[field].obstacles):
        program.add(f"stone {k + 1}", pz.Sphere((x, y, 0.0), 0.2))
    for gain in (0.0, 0.05):
        program.reset()
        program.tune(obstacle_gain=gain)
        for _ in range(120):
            program.tick(DT)
        here, there = program.moment.target.xyz, np.array([*FIELDS[field].goal, 0.0])
        program.record()
        for share in np.linspace(0.0, 1.0, 600):
            program.aim(here + share * (there - here))
            program.tick(DT)
        program.stop()
    return program


def operator(file: Path) -> None:
    """The operator's program: the arm among obstacles, and what its attempts measure."""
    program = through("open")
    program.commit("attempt 2")
    program.reset()
    program.aim([8.0, -1.5, 0.0])
    assert all(attempt.measures for attempt in program.moment.attempts)  # or the first picture has dots
    with OperatorPage(program, port=0) as shown:
        look(shown, (5.5, -0.5, 0.0), (0.0, -3.0, 7.0))
        shot(shown, file, "Attempts", "show it")


def retargeted(file: Path) -> None:
    """A G1 that jumps as a person does, who stands beside it, and when their feet stand."""
    models = Path(os.environ.get("ASSIMP_TESTMODELS", "/usr/share/assimp/models"))
    clip = pz.load_motion(models / "BVH" / "01_01.bvh", up="y")[:1400]
    done = pz.retarget(clip, pz.load("g1", base="floating"))
    with pz.view(done, port=0, block=False) as shown:
        shown.carrying.choose("left_ankle")
        shown.timeline.stay(3.75)
        shot(shown, file, "Contacts")


def arm(file: Path) -> None:
    """The same arm on its way, as a page that plays without a server."""
    attempt = through("open").attempt_of("attempt 2")
    shapes = {obstacle.name: obstacle.shape for obstacle in attempt.setups[-1][1].obstacles}
    parts = appearance(attempt.model)
    file.write_text(html_of_motion(attempt.motion, parts, shapes), encoding="utf-8")


MADE: dict[str, Callable[[Path], None]] = {
    "panda.png": panda,
    "g1.png": g1,
    "methods.png": methods,
    "solutions.png": solutions,
    "operator.png": operator,
    "retargeted.png": retargeted,
    "arm.html": arm,
}

if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[1:] or MADE:
        MADE[name](FOLDER / name)
        print(f"{FOLDER / name}: {(FOLDER / name).stat().st_size:,} bytes")

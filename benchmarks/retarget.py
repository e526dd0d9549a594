"""Motion of a human on a G1, beside the loop of General Motion Retargeting on mink: the same targets, in turns.

The loop is that of GMR (Araujo et al. 2025, "Retargeting matters"): two passes over weighted poses of the parts, each
by damped quadratic programmes until the error falls by less than 1e-3; its weights are those of its humans on the G1.
Its ground and its scales, which its tables hold for each human and robot, are those that poise finds.

Times are CPU time of the one thread, those of several clips in one call, which share the cores, and of single steps
by the clock, the least of all rounds.  The files are those of Debian's assimp-testmodels, or where ASSIMP_TESTMODELS
says; the walk is made here.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import version
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, thread_time
from typing import Any

import numpy as np
from report import print_table
from robots import humanoid

import poise as pz
from poise.spatial import SE3, SO3
from poise_motion.follow.following import Followed

BVH = Path(os.environ.get("ASSIMP_TESTMODELS", "/usr/share/assimp/models")) / "BVH"
CLIPS = {"CMU 01_01, jumps": "01_01.bvh", "CMU 01_03, climbs": "01_03.bvh", "boxing": "Boxing_Toes.bvh"}
ROUNDS = 5
TOGETHER = 8
"""Clips of one call."""
SMOOTH = 0.1
"""[s]"""
PART = slice(600, 1400)
"""The frames that the peer follows, of the first clip, as they are and at PUBLISHED frames a second."""
PUBLISHED = 30.0
"""Frames a second at which GMR is used most."""
THEN = "0.0.11"
"""The mink of the time when GMR's rates were published; later ones are faster."""
TURN = 20
"""Frames of its turn."""
POSITION_FIRST = {"ankle": 50.0}
ROTATION_FIRST = {"ankle": 10.0, "chest": 100.0, "shoulder": 100.0}
POSITION_THEN = {"pelvis": 100.0, "ankle": 50.0, "shoulder": 5.0}
ROTATION_THEN = {"pelvis": 5.0, "ankle": 10.0, "shoulder": 100.0, "chest": 100.0}
REST_FIRST, REST_THEN = (0.0, 10.0), (10.0, 5.0)
"""Weights of places [1/m] and rotations [1/rad] in the two passes, by what the part's name ends with."""
DAMPING, LM_DAMPING, ITERATIONS, LESS = 0.5, 1.0, 10, 1e-3


@dataclass(frozen=True)
class Carried:
    """One clip by one library, or several."""

    clip: str
    by: str
    frames: int
    pace: float
    """Frames a second of the whole call, the best of the rounds."""
    median: float
    """The same, of the median round."""
    steps: float
    """Frames a second of the steps alone: each frame's least time of all rounds."""
    skate: float
    """Percent of the frames in contact."""
    source_skate: float
    depth: float
    """In the ground [mm]."""
    broken: float
    """Frames with a joint past its limit, percent."""
    fast: float
    """Steps with a joint faster than it may be, percent."""
    jerk: float
    """By the source's."""
    slow_jerk: float
    """The same of frames 1/30 s apart."""
    error: float
    """Of places, mean [cm]."""


def retarget() -> list[Carried]:
    """Every clip alone, smoothed and eight at a time; then a part of the first beside mink."""
    robot = pz.load(humanoid().urdf, base="floating")
    rows: list[Carried] = []
    for name, motion in clips():
        for by, settings in (("poise", {}), (f"poise, smooth={SMOOTH}", {"smooth": SMOOTH})):
            rows.append(alone(name, by, motion, robot, settings))
        rows.append(together(name, motion, robot))
    if find_spec("mink") is None:
        print("mink is missing: pip install mink daqp")
        return rows
    return [*rows, *both(), *apart()]


def both() -> list[Carried]:
    """A part of the first clip, as it is and at the published frames a second, beside the mink that is there."""
    robot, (name, motion) = pz.load(humanoid().urdf, base="floating"), next(iter(clips()))
    return [
        row
        for fps in (motion.fps, PUBLISHED)
        for row in beside(f"{name}, {fps:.0f} a second", motion[PART], robot, fps)
    ]


def apart() -> list[Carried]:
    """The same in a process of its own with the mink of the folder that MINK_OF_GMR names."""
    if "MINK_OF_GMR" not in os.environ:
        print(
            f"the mink of GMR's time is missing: pip install --no-deps --target FOLDER mink=={THEN}; MINK_OF_GMR=FOLDER"
        )
        return []
    folders = [os.environ["MINK_OF_GMR"], *filter(None, [os.environ.get("PYTHONPATH")])]
    with TemporaryDirectory() as folder:
        measured = Path(folder) / "retarget.json"
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(folders)}
        subprocess.run([sys.executable, __file__, "--beside", str(measured)], check=True, env=environment)
        return [Carried(**row) for row in json.loads(measured.read_text())]


def clips() -> Iterator[tuple[str, pz.Motion]]:
    """Those of the files that are there, and a walk."""
    for name, file in CLIPS.items():
        if (BVH / file).exists():
            yield name, pz.load_motion(BVH / file)
        else:
            print(f"{BVH / file} is missing: apt-get install assimp-testmodels")
    sys.path.append(str(Path(__file__).parents[1] / "packages" / "poise-motion" / "tests"))
    from walker import walk

    yield "a walk", walk(120.0, 20.0)


def alone(name: str, by: str, motion: pz.Motion, robot: pz.Model, settings: dict[str, Any]) -> Carried:
    """One clip."""
    taken, steps, done = rounds(lambda: [pz.retarget(motion, robot, **settings)])
    return row(name, by, done[0], len(motion), taken, float(steps.sum()))


def together(name: str, motion: pz.Motion, robot: pz.Model) -> Carried:
    """The clip eight times in one call, as if they were many."""
    taken, steps, done = rounds(lambda: pz.retarget([motion] * TOGETHER, robot), clock=perf_counter)
    return row(name, f"poise, {TOGETHER} in one call", done[-1], TOGETHER * len(motion), taken, float(steps.sum()))


def rounds(
    call: Callable[[], list[pz.results.Retargeted]], clock: Callable[[], float] = thread_time
) -> tuple[list[float], np.ndarray, list[pz.results.Retargeted]]:
    """Seconds of each round but the first, which may compile; the least of each frame's steps; what came of it."""
    done, taken, steps = call(), [], []
    for _ in range(ROUNDS):
        began = clock()
        done = call()
        taken.append(clock() - began)
        steps.append(np.concatenate([one._led.done.seconds for one in done]))
    return taken, np.min(steps, axis=0), done


def row(name: str, by: str, done: pz.results.Retargeted, frames: int, taken: list[float], steps: float) -> Carried:
    """The measures of the report."""
    of = done.report
    return Carried(
        name,
        by,
        frames,
        frames / min(taken),
        frames / float(np.median(taken)),
        frames / steps,
        100.0 * of.skate.share,
        100.0 * of.source_skate.share,
        1e3 * of.ground.depth,
        100.0 * of.limits.broken,
        100.0 * of.limits.too_fast,
        of.jerk.ratio,
        of.slow_jerk.ratio,
        100.0 * float(np.nanmean(of.tracking.position)),
    )


def beside(name: str, motion: pz.Motion, robot: pz.Model, fps: float) -> list[Carried]:
    """The same frames by poise and by mink, which take turns."""
    done = pz.retarget(motion, robot, fps=fps)
    count, loop = len(done.motion), Loop(done)
    path, seconds, taken, steps = np.empty((count, robot.nq)), np.zeros(count), [], []
    for start in range(0, count, TURN):
        began = thread_time()
        done = pz.retarget(motion, robot, fps=fps)
        taken.append(thread_time() - began)
        steps.append(done._led.done.seconds)
        for k in range(start, min(start + TURN, count)):
            began = thread_time()
            path[k] = loop.step(k)
            seconds[k] = thread_time() - began
    followed = Followed(path, done._led.done.targets, seconds)
    moved = pz.Motion(robot, done.motion.times, path, name=done.motion.name)
    total = float(seconds.sum())
    made = (moved, done.source, done.body, done._robot, done._seen, done._led._replace(done=followed), done._fingers)
    theirs = pz.results.Retargeted(*made, objects=done.objects, given=done.given, ground=done.ground, again=done.again)
    by = f"GMR's loop, mink {version('mink')}, {loop.solved / count:.1f} programmes a frame"
    ours = row(name, "poise", done, count, taken, float(np.min(steps, axis=0).sum()))
    return [ours, row(name, by, theirs, count, [total], total)]


class Loop:
    """Two passes a frame from the last configuration, joint limits on."""

    def __init__(self, done: pz.results.Retargeted) -> None:
        import mink
        from peers.mink import compiled, order

        self.mink, robot = mink, humanoid()
        model = compiled(robot, masses=True)
        to_mujoco = order(robot, model)
        columns = [done.motion.model.index(name).start for name in robot.judge.names]
        self.order = np.empty(model.nq, dtype=int)
        self.order[np.array([*range(7), *columns])] = to_mujoco
        self.dt = model.opt.timestep
        self.limits = [mink.ConfigurationLimit(model)]
        self.poses: dict[str, SE3] = {}
        self.passes: list[list[Any]] = [[], []]
        targets, machine = done._led.done.targets, done._robot
        for part in machine.frames:
            place = SE3.from_parts(targets.places[part], SO3(wxyz=targets.turns[part]))
            self.poses[part] = place @ SE3.from_parts(-np.array(machine.points[part]))
        self.parts = list(self.poses)
        tables = ((POSITION_FIRST, ROTATION_FIRST, REST_FIRST), (POSITION_THEN, ROTATION_THEN, REST_THEN))
        for tasks, (places, turns, rest) in zip(self.passes, tables, strict=True):
            for part in self.parts:
                kind = part.rpartition("_")[2]
                costs = places.get(kind, rest[0]), turns.get(kind, rest[1])
                tasks.append(mink.FrameTask(machine.frames[part], "body", *costs, lm_damping=LM_DAMPING))
        q = np.empty(model.nq)
        q[self.order] = done.motion.model.home
        q[to_mujoco[:7]] = self.poses["pelvis"].array[0]
        self.configuration = mink.Configuration(model, q)
        self.solved = 0
        """Programmes."""

    def step(self, k: int) -> np.ndarray:
        """(nq,) what follows the targets of frame k."""
        poses = [self.poses[part].array[k] for part in self.parts]
        targets = [self.mink.SE3(np.concatenate([pose[3:], pose[:3]])) for pose in poses]
        for tasks in self.passes:
            for task, target in zip(tasks, targets, strict=True):
                task.set_target(target)
            error = self.error(tasks)
            for _ in range(1 + ITERATIONS):
                velocity = self.mink.solve_ik(
                    self.configuration, tasks, self.dt, "daqp", damping=DAMPING, limits=self.limits
                )
                self.configuration.integrate_inplace(velocity, self.dt)
                self.solved += 1
                before, error = error, self.error(tasks)
                if before - error < LESS:
                    break
        return self.configuration.q[self.order]

    def error(self, tasks: list[Any]) -> float:
        """The norm of all that the tasks lack."""
        return float(np.linalg.norm(np.concatenate([task.compute_error(self.configuration) for task in tasks])))


def show(rows: list[Carried]) -> None:
    """Print them as Markdown."""
    print("\nHuman motion on a G1, on one core\n")
    heads = [
        "frames", "frames/s", "median", "steps alone", "skate %", "source's", "depth mm", "past limits %",
        "too fast %", "jerk ratio", "at 30 Hz", "error cm",
    ]  # fmt: skip
    cells = []
    for one in rows:
        paces = [f"{value:,.0f}" for value in (one.frames, one.pace, one.median, one.steps)]
        rest = [one.skate, one.source_skate, one.depth, one.broken, one.fast, one.jerk, one.slow_jerk, one.error]
        cells.append([one.clip, one.by, *paces, *(f"{value:.3g}" for value in rest)])
    print_table(["clip", "by"], heads, cells)
    for ours, theirs in pairwise(rows):
        if "mink" in theirs.by:
            whole, steps = ours.pace / theirs.pace, ours.steps / theirs.pace
            print(f"{ours.clip}: poise is {whole:.0f} times as fast, its steps alone {steps:.0f} times")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--beside"]:
        Path(sys.argv[2]).write_text(json.dumps([asdict(one) for one in both()]))
    else:
        show(retarget())

"""A library carried to where no Python is: calls that are made here, made again by a C program with it.

    python tests/building/carried.py LIBRARY [LEVEL]

The program is compiled by ziglang where it is installed and else by cc; with another machine's library it runs under
qemu-user, with that machine's C library below /usr/MACHINE-linux-gnu (Debian: libc6-arm64-cross), with that of Windows
under wine.  Here the calls are made with this machine's own library, which stands beside the other or where poise looks
for it.  Exits with 1 where an answer is another, by more than 1e-11 rad or m.
"""

import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import numpy as np
from tape import Tape

import poise as pz
import poise.kernels.machine.library
from poise.build.targets import TARGETS, Target
from poise.common.array import Array
from poise.kernels.machine.library import machine, place

NEAR: Final = 1e-11


def poses() -> None:
    """A redundant arm's, by searches."""
    arm = pz.load("panda")
    solver, q = pz.Solver(arm, pz.PoseTask("panda_hand")), arm.sample(400, seed=5)
    for goal, start in zip(arm.pose("panda_hand", q[:200]), q[200:], strict=True):
        solver(goal, start)


def lanes() -> None:
    """Others, eight side by side, from starts of an index too."""
    arm = pz.load("panda")
    q = arm.sample(128, seed=6)
    pz.Solver(arm, pz.PoseTask("panda_hand")).batch(arm.pose("panda_hand", q[:64]), q[64:], threads=1)


def closed_forms() -> None:
    """Of an arm of six joints the branch that is nearest, and all of them."""
    arm = pz.load("ur5e")
    task, q = pz.PoseTask("tool0"), arm.sample(60, seed=7)
    solver, branches = pz.Solver(arm, task), pz.BranchSolver(arm, task)
    for goal, start in zip(arm.pose("tool0", q[:30]), q[30:], strict=True):
        solver(goal, start)
        branches(goal)


def humanoid() -> None:
    """A G1 that stands, keeps its balance and reaches: a solve near a posture, then a loop with priorities."""
    body, hand = pz.load("g1", base="floating"), "left_wrist_yaw_link"
    bend = {"hip_pitch": -0.4, "knee": 0.8, "ankle_pitch": -0.4}
    q = body.q({f"{side}_{joint}_joint": angle for side in ("left", "right") for joint, angle in bend.items()})
    feet = [f"{side}_ankle_roll_link" for side in ("left", "right")]
    stand = [pz.PoseTask(foot, body.pose(foot, q)) for foot in feet]
    balance, begin = pz.CentreOfMassTask(body.centre_of_mass(q), weight=(1, 1, 0)), body.pose(hand, q).xyz
    pz.solve(
        body, [*stand, balance, pz.PositionTask(hand, begin + np.array([0.15, 0.05, 0.1])), pz.PostureTask(q)], q0=q
    )
    rest = pz.methods.TaskPriority(null_space=pz.criteria.RestPosture(q=q))
    tasks = [*stand, balance, pz.PositionTask(hand, priority=1)]
    loop = pz.Tracker(body, tasks, rest, dt=0.005, limits=[pz.AccelerationLimit(40.0)])
    for tick in range(60):
        q = loop.step(q, [None, None, None, begin + np.array([0.002 * tick, 0.0, 0.0])])


def among_shapes() -> None:
    """A hand that is led into a box, which it stays away from."""
    box, around = pz.Box(pz.SE3.from_parts([0.7, 0.0, 0.3]), [0.2, 0.4, 0.4]), pz.Sphere((0.0, 0.0, 0.0), 0.08)
    arm = pz.load("panda").with_shapes(dict.fromkeys(("panda_link4", "panda_link6", "panda_hand"), around))
    world = pz.World({"box": box})
    apart = pz.CollisionLimit(world, min_distance=0.02)
    loop = pz.Tracker(arm, pz.PositionTask("panda_hand"), dt=0.01, limits=[apart, pz.AccelerationLimit(20.0)])
    q = arm.home
    for _ in range(60):
        q = loop.step(q, [0.6, 0.0, 0.3])
    pz.solve(arm, pz.PoseTask("panda_hand", arm.pose("panda_hand", arm.home)), q0=q, limits=[apart])


CASES: Final[tuple[Callable[[], None], ...]] = (poses, lanes, closed_forms, humanoid, among_shapes)


def answers_there(library: Path, level: str, target: Target, tape: Tape) -> Array:
    """All numbers that the program writes."""
    zig = [sys.executable, "-m", "ziglang", "cc", "-target", target.zig]
    compiler = zig if find_spec("ziglang") else ["cc"]
    cpu, _, system = target.name.partition("-")
    emulator = [] if target.name == machine() else [f"qemu-{cpu}-static", "-L", f"/usr/{cpu}-linux-gnu"]
    if system == "win":
        emulator = ["wine"]
    with tempfile.TemporaryDirectory() as folder:
        program, written = Path(folder) / "carried.exe", Path(folder) / "tape"
        written.write_bytes(b"".join(tape.words))
        source = Path(__file__).with_suffix(".c")
        subprocess.run([*compiler, "-O2", "-o", str(program), str(source)], check=True)
        command = [*emulator, str(program), str(library.absolute()), level, str(written)]
        return np.frombuffer(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


def main(library: Path, *levels: str) -> int:
    """Compare, and print how far apart they are."""
    target, code = TARGETS[library.stem.removeprefix("poise-")], 0
    beside = library.absolute().with_name(place().name)
    if beside.is_file():
        poise.kernels.machine.library.place = lambda *_: beside
    tape, counts = Tape(), []
    for case in CASES:
        before = len(tape.answers)
        case()
        counts.append(len(tape.answers) - before)
    for level in levels or [level.name for level in target.levels]:
        there = np.split(answers_there(library, level, target, tape), np.cumsum([len(x) for x in tape.answers])[:-1])
        found = iter(zip(there, tape.answers, strict=True))
        for case, count in zip(CASES, counts, strict=True):
            apart = max(np.nanmax(np.abs(x - y), initial=0.0) for x, y in (next(found) for _ in range(count)))
            code = code or int(not apart <= NEAR)
            print(f"{library.name}, {level}, {case.__name__}: {count} calls, at most {apart:.2g} apart")
    return code


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *sys.argv[2:]))

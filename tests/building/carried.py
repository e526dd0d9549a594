"""A library carried to where no Python is: 200 poses of a Panda solved by a C program with it, beside this process.

    python tests/building/carried.py LIBRARY [LEVEL]

The program is compiled by ziglang where it is installed and else by cc; with another machine's library it runs under
qemu-user, with that machine's C library below /usr/MACHINE-linux-gnu (Debian: libc6-arm64-cross), with that of Windows
under wine.  Exits with 1 where an answer is another, by more than 1e-11 rad.
"""

import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import poise as pz
from poise.build.targets import TARGETS, Target
from poise.kernels.library import machine
from poise.kernels.machine import layout, packing
from poise.spatial import Array

COUNT, NEAR = 200, 1e-11


def answers_here(arm: pz.Model, goals: Array, starts: Array) -> tuple[bytes, Array]:
    """What the program reads, and (n, 1 + nq) what it should write."""
    solver = pz.Solver(arm, pz.PoseTask("panda_hand"))
    bound = solver._search.bound
    scratch = bound.new(arm)
    rows = {name: packing.rows_of(bound.problem.words, name) for name in ("goal", "start", "out")}
    fields = [layout.CALL.fields[name].word for name in ("problem", "narrow", "wide", "routines", "wide_routines")]
    head = [
        bound.rows,
        len(bound.problem.words),
        len(scratch.call),
        len(bound.routines),
        rows["goal"].start,
        len(goals[0]),
    ]
    head += [rows["start"].start, arm.nq, rows["out"].start + layout.ANSWER, len(goals), *fields]
    words = np.concatenate([head, bound.problem.words.view(np.int64), scratch.call])
    numbers = np.hstack([goals, starts])
    found = []
    for goal, start in zip(goals, starts, strict=True):
        solution = solver(pz.SE3(goal), start)
        found.append([0.0 if solution.success else 1.0, *solution.q])
    return words.astype(np.int64).tobytes() + numbers.tobytes(), np.array(found)


def answers_there(library: Path, level: str, target: Target, given: bytes, nq: int) -> Array:
    """(n, 1 + nq) what the program writes."""
    zig = [sys.executable, "-m", "ziglang", "cc", "-target", target.zig]
    compiler = zig if find_spec("ziglang") else ["cc"]
    cpu, _, system = target.name.partition("-")
    emulator = [] if target.name == machine() else [f"qemu-{cpu}-static", "-L", f"/usr/{cpu}-linux-gnu"]
    if system == "win":
        emulator = ["wine"]
    symbols = [f"poise_solver_lm_solver_{name}_{level}" for name in ("solve", "search_lanes")]
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "carried.exe"
        source = Path(__file__).with_suffix(".c")
        subprocess.run([*compiler, "-O2", "-o", str(program), str(source)], check=True)
        command = [*emulator, str(program), str(library.absolute()), *symbols, str(layout.SEARCH)]
        written = subprocess.run(command, input=given, capture_output=True, check=True).stdout
    return np.frombuffer(written).reshape(-1, 1 + nq)


def main(library: Path, *levels: str) -> int:
    """Compare, and print how far apart they are."""
    target = TARGETS[library.stem.removeprefix("poise-")]
    arm, code = pz.load("panda"), 0
    q = arm.sample(2 * COUNT, seed=5)
    goals = np.array(arm.pose("panda_hand", q[:COUNT]).array)
    given, here = answers_here(arm, goals, q[COUNT:])
    for level in levels or [level.name for level in target.levels]:
        there = answers_there(library, level, target, given, arm.nq)
        apart = np.abs(there - here).max()
        code = code or int(not apart <= NEAR)
        print(f"{library.name}, {level}: {int((there[:, 0] == 0.0).sum())} of {COUNT} solved, {apart:.2g} rad apart")
    return code


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *sys.argv[2:]))

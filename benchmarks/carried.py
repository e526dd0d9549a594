"""Solvers and trackers that left Python, in C: what pz_solve adds to its kernel, and the tail of many calls.

    python benchmarks/carried.py [STEPS] [SOLVES]

The ratio is of 1,000 poses of a Panda, each solved by both ways in turn, of the least time of 31 of each; it should be
at most 1.05. Then each of many calls is timed alone: with the cores as they are, and beside a process a core that is
busy, each also as a process of real time (SCHED_FIFO), where that is allowed. Microseconds. It needs a library, see
`python -m poise.build`, and cc.
"""

import multiprocessing
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import poise as pz
from poise.build.faces import HEADER, generated
from poise.build.targets import TARGETS
from poise.kernels.machine.library import library, machine

PROBLEMS = 1000


def busy() -> None:
    """A core's worth of other work."""
    while True:
        sum(range(100_000))


def program(folder: Path) -> Path:
    """The compiled C program."""
    found = library()
    if found is None:
        raise SystemExit("there is no library: run python -m poise.build")
    (folder / "generated.h").write_text(generated(found._kinds, [level.name for level in TARGETS[machine()].levels]))
    out = folder / "carried"
    source = Path(__file__).with_suffix(".c")
    command = ["cc", "-std=gnu11", "-O3", "-ffp-contract=off", "-fno-math-errno", f"-I{folder}", f"-I{HEADER.parent}"]
    subprocess.run([*command, str(source), "-o", str(out), str(found.file)], check=True)
    return out


def written(folder: Path) -> list[str]:
    """Files of a solver, of a tracker and of problems."""
    arm = pz.load("panda")
    frame = arm.tip
    pz.Solver(arm, pz.PoseTask(frame)).export(folder / "solver.poise")
    pz.Tracker(arm, pz.PoseTask(frame), dt=0.001).export(folder / "tracker.poise")
    q = arm.sample(2 * PROBLEMS, seed=1)
    rows = [np.concatenate([arm.pose(frame, a).array, b]) for a, b in zip(q[::2], q[1::2], strict=True)]
    (folder / "problems").write_bytes(np.array(rows).tobytes())
    return [str(folder / name) for name in ("solver.poise", "tracker.poise", "problems")]


def measured(title: str, command: list[str]) -> None:
    """Lines of one run."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{title}: not measured, {done.stderr.strip() or 'it is not allowed here'}")
        return
    for line in done.stdout.splitlines():
        what, *figures = line.split()
        if what == "ratio":
            print(f"{title}: {figures[0]} of the kernel's own time, {figures[1]} us a solve")
        else:
            print(f"  {int(figures[0]):>10,} {what}s " + "".join(f"{float(x):>10.2f}" for x in figures[1:]))


def main() -> None:
    """Measure and print."""
    steps, solves = [*map(int, sys.argv[1:]), *(10_000_000, 1_000_000)[len(sys.argv) - 1 :]]
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        command = [str(program(folder)), *written(folder), str(solves), str(steps), pz.load("panda").tip]
        print(
            f"{'':20}" + "".join(f"{name:>10}" for name in ("median", "99 %", "99.9 %", "99.99 %", "99.999 %", "worst"))
        )
        measured("as it is", [*command, "0"])
        measured("in real time", [*command, "1"])
        others = [multiprocessing.Process(target=busy, daemon=True) for _ in range(os.cpu_count() or 1)]
        for other in others:
            other.start()
        measured("beside load", [*command, "0"])
        measured("beside load, in real time", [*command, "1"])
        for other in others:
            other.terminate()


if __name__ == "__main__":
    main()

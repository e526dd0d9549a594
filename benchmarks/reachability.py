"""How long a map of where an arm can go takes: a million targets, each a voxel of 5 cm with an orientation."""

import sys
from dataclasses import dataclass

import poise as pz

ARM, FRAME, GRID = "panda", "panda_hand", 0.05
TURNS = 48
"""Orientations that make a million targets of the arm's voxels, with a count of 1000."""


@dataclass
class Mapped:
    """One map."""

    robot: str
    targets: int
    """Voxels times orientations."""
    ruled_out: int
    """Of these, proved to be out of reach."""
    reached: int
    seconds: float
    """With all cores."""


def reachability(count: int, seed: int = 0) -> list[Mapped]:
    """A map of `count` thousand targets, roughly; a small one before it loads the kernels."""
    arm = pz.load(ARM)
    pz.reach(arm, FRAME, grid=0.4, orientations=8, seed=seed, progress=False)
    turns = max(1, round(TURNS * count / 1000))
    found = pz.reach(arm, FRAME, grid=GRID, orientations=turns, seed=seed, progress=False)
    size = found.reached.size
    return [Mapped(ARM, size, int(found.proved.sum()), int(found.counts.sum()), found.time)]


def show(rows: list[Mapped]) -> None:
    """Print them as Markdown."""
    print("\n| robot | voxel-orientations | proved out of reach | reached | not found | s |\n|---|--:|--:|--:|--:|--:|")
    for row in rows:
        missed = row.targets - row.ruled_out - row.reached
        counts = " | ".join(f"{n:,}" for n in (row.targets, row.ruled_out, row.reached, missed))
        print(f"| {row.robot} | {counts} | {row.seconds:.2f} |")
    sys.stdout.flush()

"""Success over time: which share of the same poses each library has reached within how much time of one call.

    python benchmarks/success.py [--count 300] [--arm Panda] [--json FILE] [--draw FILE.svg] [--from FILE]

The problems are those of the scenario `arms`, one call each; libraries take turns, and a slow one has the first of them
only, as many as it begins in a minute.  Reached is what the judge finds at its target, 1e-6 m and 1e-6 rad, within
all limits.  `--from` draws again what `--json` wrote.
"""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import robots
from judge import Array
from peers import Peer, load, version
from problems import Problems, scattered
from race import BLOCK, Record, run_block
from report import machine

from poise.common.drawing import COLOURS

NAMES = ("poise", "cartan", "optik", "pytracik", "roboticstoolbox", "pin", "mink", "pink", "ikpy")
PATIENCE = 60.0
"""Seconds after which a library gets no further turn."""


def measured(problems: Problems, peers: dict[str, Peer]) -> dict[str, dict[str, Any]]:
    """By library, seconds of each call and whether it reached its pose, in the order of the problems."""
    names, count = list(peers), len(problems.targets)
    records = {name: Record() for name in names}
    answers = {name: np.full(problems.starts.shape, np.nan) for name in names}
    for block in range(0, count, BLOCK):
        names.append(names.pop(0))
        for name in names:
            if sum(records[name].seconds) < PATIENCE:
                run_block(problems, peers[name], block, answers[name], records[name])
    out = {}
    for name, record in records.items():
        some = len(record.seconds)
        verdict = problems.robot.judge.verdict(answers[name][:some], problems.targets[:some])
        reached = verdict.reached(problems.tolerance) & ~verdict.outside
        out[name] = {"version": version(name), "seconds": record.seconds, "reached": reached.tolist()}
    return out


def draw(told: dict[str, Any], file: Path) -> None:
    """The figure: the share that is reached over the time of a call, on a logarithmic scale."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "poise"
    from matplotlib import pyplot

    figure, axis = pyplot.subplots(figsize=(8.0, 4.6), layout="constrained")
    for k, (name, one) in enumerate(told["libraries"].items()):
        seconds, reached = np.array(one["seconds"]), np.array(one["reached"])
        time, share = curve(seconds, reached)
        some = f" of {len(seconds)}" * (len(seconds) < told["count"])
        axis.step(
            1e6 * time, share, where="post", color=COLOURS[k % len(COLOURS)],
            linestyle="-" if k < len(COLOURS) else "--", linewidth=2.2 if name == "poise" else 1.2,
            label=f"{name} {one['version']}: {100.0 * reached.mean():.1f} %{some}",
        )  # fmt: skip
    axis.set(
        xscale="log", ylim=(0.0, 101.0), xlabel="time of a call [us]", ylabel="reached [%]",
        title=f"{told['arm']}: random poses from random starts, 1e-6 m and rad, limits kept",
    )  # fmt: skip
    axis.grid(alpha=0.3)
    axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8, frameon=False)
    figure.savefig(file, metadata={"Date": None} if file.suffix == ".svg" else None)


def curve(seconds: Array, reached: Array) -> tuple[Array, Array]:
    """Times of calls that reached their pose, in order [s], and the share of all that is then reached [%]."""
    time = np.sort(seconds[reached.astype(bool)])
    return time, 100.0 * np.arange(1, len(time) + 1) / len(seconds)


def main() -> None:
    """Measure, print a table, and draw."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    if not threads.items() <= os.environ.items():  # libraries read them as they are loaded
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | threads)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--arm", default="Panda")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--draw", type=Path)
    parser.add_argument("--from", type=Path, dest="before")
    given = parser.parse_args()
    if given.before:
        told = json.loads(given.before.read_text())
    else:
        robot = next(one for one in robots.arms() if one.name == given.arm)
        problems, peers = scattered(robot, given.count), dict[str, Peer]()
        for name in NAMES:
            try:
                peers[name] = load(name)(robot, problems.tolerance)
            except ImportError as error:
                print(f"{name} is left out: {error}")
        told = {"machine": machine(), "arm": robot.name, "count": given.count, "libraries": measured(problems, peers)}
    print("| library | poses | reached | median [us] | 95 % [us] | 99 % within [us] |")
    print("|---|--:|--:|--:|--:|--:|")
    for name, one in told["libraries"].items():
        seconds, reached = np.array(one["seconds"]), np.array(one["reached"])
        time, share = curve(seconds, reached)
        late = f"{1e6 * time[np.argmax(share >= 99.0)]:,.0f}" if len(share) and share[-1] >= 99.0 else "never"
        half, most = 1e6 * np.quantile(seconds, [0.5, 0.95])
        print(
            f"| {name} {one['version']} | {len(seconds)} | {reached.mean():.1%} | {half:,.0f} | {most:,.0f} | {late} |"
        )
    if given.json:
        given.json.write_text(json.dumps(told))
    if given.draw:
        draw(told, given.draw)


if __name__ == "__main__":
    main()

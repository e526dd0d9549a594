"""`solve_batch` beside libraries that solve many problems in one call, all on all cores: the same problems, one judge.

Run as a file in a process of its own, for the others' threads and compilers are none of the other scenarios'; see
README.md in this folder.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter

import numpy as np
import robots
from peers import CROWDS, Crowd, load, version
from problems import Problems, scattered
from report import print_table

WARM_UP = 500
"""Problems that each solves before the clock runs, which compiles what it compiles."""
BUDGET = 5.0
"""Seconds that a call may take, roughly: slow libraries are given the first of the problems only."""
COARSE = 1e-3
"""[m] and [rad] at which answers are judged too, for libraries in single precision."""


@dataclass(frozen=True)
class Batched:
    """What one library did with one robot's problems."""

    robot: str
    name: str
    version: str
    count: int
    """Problems that it was given in one call."""
    solved: float
    """Percent that passed the judge at 1e-6 m and rad."""
    coarse: float
    """Percent that passed at COARSE."""
    wrong: int
    """Answers given as good that did not pass even then."""
    seconds: float
    """Of the best call."""
    ratio: float | None
    """Seconds a problem over poise's."""


def batches(count: int, rounds: int, names: Sequence[str]) -> list[Batched]:
    """Calls of up to ten times `count` problems by each library, in turns; the best of `rounds` calls counts."""
    rows = []
    for robot in robots.arms():
        problems = scattered(robot, 10 * count)
        crowds = {name: crowd for name in names if (crowd := prepared(name, problems))}
        sizes = {name: affordable(crowd, problems) for name, crowd in crowds.items()}
        calls = {name: crowd.pack(problems.targets[:n], problems.starts[:n])
                 for (name, crowd), n in zip(crowds.items(), sizes.values(), strict=True)}  # fmt: skip
        best, answers = dict.fromkeys(crowds, np.inf), {}
        for _ in range(rounds):
            for name, crowd in crowds.items():
                began = perf_counter()
                answers[name] = crowd.solve(*calls[name])
                best[name] = min(best[name], perf_counter() - began)
        for name, crowd in crowds.items():
            q, n = crowd.unpack(answers[name]), sizes[name]
            verdict = robot.judge.verdict(q, problems.targets[:n])
            fine, coarse = (verdict.reached(bound) & ~verdict.outside for bound in (problems.tolerance, COARSE))
            wrong = int((np.isfinite(q).all(axis=1) & ~coarse).sum())
            ratio = best[name] / n / (best["poise"] / sizes["poise"]) if "poise" in best else None
            rows.append(
                Batched(
                    robot.name, name, version(name, CROWDS), n, 100.0 * fine.mean(), 100.0 * coarse.mean(), wrong,
                    best[name], ratio,
                )
            )  # fmt: skip
    return rows


def prepared(name: str, problems: Problems) -> Crowd | None:
    """The library `name` for a robot; None, which is said, where it is missing or has no solution for such a robot."""
    try:
        crowd: Crowd = load(name, CROWDS)(problems.robot, problems.tolerance)
    except ImportError as error:
        print(f"{name} is missing: pip install {CROWDS[name][0]} ({error})")
    except RuntimeError as error:
        print(f"{name} is left out for {problems.robot.name}: {error}")
    else:
        return crowd
    return None


def affordable(crowd: Crowd, problems: Problems) -> int:
    """How many of the problems a library solves within the budget."""
    call = crowd.pack(problems.targets[:WARM_UP], problems.starts[:WARM_UP])
    crowd.solve(*call)
    began = perf_counter()
    crowd.solve(*call)
    rate = WARM_UP / (perf_counter() - began)
    return int(np.clip(BUDGET * rate, WARM_UP, len(problems.targets)))


def apart(python: Path, count: int, rounds: int, names: Sequence[str]) -> list[Batched]:
    """The same in a process of its own, whose libraries may have as many threads as they like."""
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    with tempfile.TemporaryDirectory() as folder:
        measured = Path(folder) / "batches.json"
        command = [str(python), __file__, "--count", str(count), "--rounds", str(rounds), "--json", str(measured)]
        subprocess.run([*command, "--peers", *names], check=True, env=environment)
        return [Batched(**row) for row in json.loads(measured.read_text())]


def show(rows: Sequence[Batched]) -> None:
    """Print the table."""
    print("\nrandom targets, random starts, in one call on all cores; solved at 1e-6, coarse at 1e-3 m and rad")
    print_table(
        ("robot", "library", "version"),
        ("problems", "solved %", "coarse %", "wrong", "us each", "x poise"),
        [
            (
                row.robot, row.name, row.version, f"{row.count:,}", f"{row.solved:.2f}", f"{row.coarse:.2f}",
                f"{row.wrong}", f"{1e6 * row.seconds / row.count:.1f}", "" if row.ratio is None else f"{row.ratio:.1f}",
            )
            for row in rows
        ],
    )  # fmt: skip
    sys.stdout.flush()


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="a tenth of the problems a robot (1000)")
    parser.add_argument("--rounds", type=int, default=3, help="calls of each library (3)")
    parser.add_argument("--peers", nargs="+", choices=CROWDS, help="only these libraries")
    parser.add_argument("--json", type=Path, help="write what was measured to this file")
    options = parser.parse_args()
    rows = batches(options.count, options.rounds, options.peers or list(CROWDS))
    show(rows)
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n")


if __name__ == "__main__":
    main()

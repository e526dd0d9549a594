"""Verdicts of the code at hand on the questions of `questions.py`, held against those that were kept.

    python benchmarks/verdicts.py [--cells CELL ...] [--every K] [--workers N] [--file FILE] [--keep]

By cell it prints how many questions there are; how many answers are equal to the bit, and to 1e-9; how many statuses
are others, and costs larger or smaller by more than 1e-9; and how many searches made another number of restarts.  The
exit status is 1 where a status is another or a cost is larger.  `--keep` writes the file anew.
"""

import argparse
import os
import platform
import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from hashlib import blake2b
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy as np
from questions import Group, Verdict, ask, groups

from poise.kernels.machine.library import NATIVE, library

KEPT = Path(__file__).with_suffix(".npz")
CLOSE = 1e-9
"""Answers [rad or m] and costs that differ by less are alike."""
GRAIN = 1e-11
"""What `place` is rounded to."""
COST_DECIMALS = 12
"""The square of the tolerance of a pose: below are the costs of what has converged, which say nothing."""
NAMED = 40
"""Questions that are named, at most."""


class Kept(NamedTuple):
    """What is kept of a verdict."""

    status: str
    restarts: int
    iterations: int
    cost: float
    digest: int
    """Of the bytes of its q, 64 bits."""
    place: int
    """The product of its q with fixed numbers between 1 and 2, in GRAINs: what says how far two answers are apart."""


Answers = dict[tuple[str, int], Kept]
"""By the name of a group and the number of the question in it."""


def kept(verdict: Verdict) -> Kept:
    """Of an answer what is held against later ones."""
    q = np.ascontiguousarray(verdict.q, dtype=float)
    digest = int.from_bytes(blake2b(q.tobytes(), digest_size=8).digest(), "little")
    factors = np.random.default_rng(0).uniform(1.0, 2.0, q.size)
    place = int(np.clip(np.nan_to_num(factors @ q), -1e7, 1e7) / GRAIN)
    cost = float(np.nan_to_num(np.round(verdict.cost, COST_DECIMALS), nan=np.inf, posinf=np.inf))
    return Kept(verdict.status, verdict.restarts, verdict.iterations, cost, digest, place)


def instructions() -> str:
    """What decides last bits: the machine, the widest instructions that it has, and what kernels were compiled for."""
    found = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    ahead = library()
    return f"{platform.machine()} {found[-1] if found else ''}, kernels {ahead.level if ahead else NATIVE}"


def chosen(cells: Sequence[str], every: int) -> Iterator[tuple[Group, list[int]]]:
    """The groups of these cells, or of all, with every so manieth question of all."""
    at = 0
    for group in groups():
        some = [k for k in range(group.count) if (at + k) % every == 0]
        at += group.count
        if some and (not cells or group.cell in cells):
            yield group, some


def answered(job: tuple[Group, list[int]]) -> list[Kept] | None:
    """None of a group whose robot is not installed."""
    group, some = job
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [kept(one) for one in ask(group, some)] if group.asked else None


def answers(jobs: Sequence[tuple[Group, list[int]]], workers: int) -> Answers:
    """Ask, in so many processes, or in this one."""
    found, missing = Answers(), set()
    with ProcessPoolExecutor(max(1, workers), mp_context=get_context("spawn")) as pool:
        told: Iterable[list[Kept] | None] = (
            pool.map(answered, jobs, chunksize=8) if workers > 1 else map(answered, jobs)
        )
        for (group, some), rows in zip(jobs, told, strict=True):
            if rows is None:
                missing.add(group.body)
            else:
                found.update({(group.name, k): row for k, row in zip(some, rows, strict=True)})
    if missing:
        print(f"Not installed, and not asked: {', '.join(sorted(missing))}.")
    return found


def write(file: Path, found: Answers) -> None:
    """One row a question in the order in which they are asked, and where each group begins."""
    words = sorted({one.status for one in found.values()})
    names, counts = zip(*Counter(name for name, _ in found).items(), strict=True)
    rows = list(found.values())
    np.savez_compressed(
        file,
        made=np.array(instructions()),
        words=np.array("\n".join(words).encode()),
        groups=np.array("\n".join(names).encode()),
        counts=np.array(counts, dtype=np.int32),
        numbers=np.array([k for _, k in found], dtype=np.int32),
        status=np.array([words.index(one.status) for one in rows], dtype=np.int16),
        restarts=np.array([one.restarts for one in rows], dtype=np.int32),
        iterations=np.array([one.iterations for one in rows], dtype=np.int32),
        cost=np.array([one.cost for one in rows]),
        digest=np.array([one.digest for one in rows], dtype=np.uint64),
        place=np.array([one.place for one in rows], dtype=np.int64),
    )


def read(file: Path) -> tuple[str, Answers]:
    """On which instructions it was made, and the answers."""
    with np.load(file) as held:
        words = bytes(held["words"]).decode().split("\n")
        names = bytes(held["groups"]).decode().split("\n")
        columns = [held[name].tolist() for name in Kept._fields]
        keys = zip(np.repeat(names, held["counts"]).tolist(), held["numbers"].tolist(), strict=True)
        rows = zip(*columns, strict=True)
        return str(held["made"]), {
            key: Kept(words[status], *rest) for key, (status, *rest) in zip(keys, rows, strict=True)
        }


class Row(NamedTuple):
    """A line of the table."""

    questions: int = 0
    bits: int = 0
    close: int = 0
    statuses: int = 0
    larger: int = 0
    smaller: int = 0
    restarts: int = 0


def held(before: Kept, now: Kept) -> Row:
    """One question."""
    same = now.digest == before.digest
    return Row(
        questions=1,
        bits=same,
        close=same or abs(now.place - before.place) * GRAIN <= CLOSE,
        statuses=now.status != before.status,
        larger=now.cost > before.cost + CLOSE,
        smaller=now.cost < before.cost - CLOSE,
        restarts=now.restarts != before.restarts,
    )


def compare(before: Answers, now: Answers) -> bool:
    """Print the tables; whether no status is another and no cost is larger."""
    table, changes, named = dict[str, Row](), Counter[tuple[str, str, str]](), list[str]()
    for (name, k), one in now.items():
        was = before.get((name, k))
        if was is None:
            continue
        cell = name.partition(",")[0]
        row = held(was, one)
        for key in (cell, "all"):
            table[key] = Row(*map(sum, zip(table.get(key, Row()), row, strict=True)))
        if row.statuses:
            changes[cell, was.status, one.status] += 1
        if row.statuses or row.larger:
            named.append(f"{name}, question {k}: {_words(was, one)}")
    print("| cell | questions | to the bit | to 1e-9 | statuses | costs larger | smaller | restarts |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    total = table.pop("all", Row())
    for key, row in (*table.items(), ("all", total)):
        print(f"| {key} | " + " | ".join(f"{number:,}" for number in row) + " |")
    for (cell, first, then), count in changes.most_common():
        print(f"{cell}: {count} from {first} to {then}")
    print("\n".join(named[:NAMED]))
    if len(named) > NAMED:
        print(f"and {len(named) - NAMED} more.")
    if unknown := len(now) - total.questions:
        print(f"{unknown:,} questions are not in the file.")
    return not total.statuses and not total.larger


def _words(was: Kept, now: Kept) -> str:
    return ", ".join(
        f"{name} {old:.6g} -> {new:.6g}" if isinstance(old, float) else f"{name} {old} -> {new}"
        for name, old, new in zip(("status", "restarts", "iterations", "cost"), was, now, strict=False)
        if old != new
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cells", nargs="+", default=[], metavar="CELL", help="these alone, such as linear+shapes")
    parser.add_argument("--every", type=int, default=1, metavar="K", help="every so manieth question")
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)), help="processes that ask")
    parser.add_argument("--file", type=Path, default=KEPT, help="of the verdicts that are kept")
    parser.add_argument("--keep", action="store_true", help="write the file anew")
    given = parser.parse_args(arguments)
    if given.keep and given.file == KEPT and (given.cells or given.every > 1):
        parser.error("a part of the questions is kept in a file of its own: name it by --file")
    jobs = list(chosen(given.cells, given.every))
    if not jobs:
        parser.error(f"no question is in {', '.join(given.cells) or 'them'}; there are {', '.join(_cells())}")
    now = answers(jobs, given.workers)
    if given.keep:
        write(given.file, now)
        print(f"{len(now):,} verdicts are in {given.file}, {given.file.stat().st_size / 1e6:.2f} MB.")
        return 0
    made, before = read(given.file)
    if made != instructions():
        print(f"Kept on {made}, and this is {instructions()}: last digits differ, and what hangs on them.")
    return 0 if compare(before, now) else 1


def _cells() -> Iterable[str]:
    return dict.fromkeys(group.cell for group in groups())


if __name__ == "__main__":
    sys.exit(main())

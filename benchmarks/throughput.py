"""How many problems a second `solve_batch` solves, how many of a million, and how near to the peak it runs."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter, process_time, thread_time
from unittest.mock import patch

import flops
import numpy as np
import robots
from peak import peak
from peers.poise import Batch
from problems import Problems, nearby, scattered
from report import print_table
from robots import Robot

from poise.kernels.machine.layout import WIDTH
from poise.kernels.solver import batch_lanes

SIZES = (1, 64, 1_000, 10_000, 100_000)
"""Problems of a call."""
LEAST = 2_000
"""Problems that are timed at least, in as many calls as it takes."""
PIECE = 100_000
"""Problems that the judge looks at together."""
AWAY = 0.1
"""Largest way of a joint from the start to the configuration behind a near target [rad]."""


@dataclass(frozen=True)
class Speed:
    """Problems of one kind, in calls of one size."""

    robot: str
    problems: str
    select: str
    size: int
    """Problems of a call."""
    threads: int
    solved: float
    """Share that passed the judge."""
    rate: float
    """Solved problems a second."""
    processor: float
    """Seconds of processors for each solved problem, which other programs take nothing from."""
    kernel: float
    """Share of them that went to the kernel, which alone runs on several threads."""


@dataclass(frozen=True)
class Share:
    """How many problems of very many are solved."""

    robot: str
    problems: str
    select: str
    count: int
    solved: int
    """Answers within the tolerance and the limits."""
    wrong: int
    """Answers given as good that are not."""
    seconds: float
    """With all cores."""


@dataclass(frozen=True)
class Iteration:
    """One iteration of one lane."""

    robot: str
    problems: str
    select: str
    a_solve: float
    """Lane-iterations for each solved problem, those of starts that failed and of lanes without a problem too."""
    nanoseconds: float
    """Of the kernel, with all that it does between the iterations."""
    flops: int | None
    """Additions, multiplications, divisions and roots; None where they are not counted."""


@dataclass(frozen=True)
class Throughput:
    """All that is measured."""

    cores: int
    load: float
    """Of the machine, in the minute before."""
    peak: float
    """Floating-point operations a second of a core."""
    operations: dict[str, dict[str, int]]
    """Those of one iteration of the Panda, by stage and kind."""
    speeds: list[Speed]
    shares: list[Share]
    iterations: list[Iteration]


def throughput(count: int, rounds: int) -> Throughput:
    """Measure with calls of up to `count` hundred problems; the share solved is of `count` thousand."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    load, sizes = os.getloadavg()[0], [size for size in SIZES if size <= 100 * count]
    most = max(sizes[-1], LEAST)
    measured = Throughput(cores, load, peak(), flops.counted("Panda"), [], [], [])
    for robot in robots.arms():
        work = flops.total(flops.counted(robot.name))
        for kind, problems in (("random", scattered(robot, most)), ("near", near(robot, most))):
            for select in ("first", "nearest"):
                measure(measured, kind, problems, select, sizes, rounds, work)
        for select in ("first", "nearest"):
            measured.shares.append(share(robot, select, 1000 * count))
    few = [size for size in sizes if size <= 10_000]
    for select in ("first", "nearest"):
        measure(measured, "four poses", nearby(robots.humanoid(), max(few[-1], LEAST)), select, few, rounds, None)
    return measured


def measure(
    into: Throughput, kind: str, problems: Problems, select: str, sizes: Sequence[int], rounds: int, work: int | None
) -> None:
    """Time calls of all sizes on one thread, then the largest size on more threads, up to all cores."""
    batch = Batch(problems.robot, problems.tolerance, select=select)
    tries = [(size, 1) for size in sizes] + [(sizes[-1], threads) for threads in crowds(into.cores)]
    for size, threads in tries:
        part = first(problems, max(size, LEAST))
        calls = [(*batch.pack(part.targets[at], part.starts[at]), threads) for at in pieces(len(part.targets), size)]
        batch.solve(*calls[0])
        best, busy, inside, answers, iterations = np.inf, np.inf, np.inf, [], 0
        for _ in range(rounds):
            with watched() as kernel:
                began, began_busy = perf_counter(), process_time()
                answers = [batch.solve(*call) for call in calls]
                best, busy = min(best, perf_counter() - began), min(busy, process_time() - began_busy)
            inside, iterations = min(inside, kernel.seconds), kernel.iterations
        verdict = part.robot.judge.verdict(np.vstack([batch.unpack(answer) for answer in answers]), part.targets)
        solved = int((verdict.reached(part.tolerance) & ~verdict.outside).sum())
        name, passed = part.robot.name, solved / len(part.targets)
        times = solved / best, busy / solved, inside / busy
        into.speeds.append(Speed(name, kind, select, size, threads, passed, *times))
        if (size, threads) == tries[len(sizes) - 1]:
            spent = WIDTH * iterations
            into.iterations.append(Iteration(name, kind, select, spent / solved, 1e9 * inside / spent, work))


def share(robot: Robot, select: str, count: int) -> Share:
    """Solve very many random problems on all cores and have all answers judged."""
    batch, solved, wrong, seconds = Batch(robot, 1e-6, select=select), 0, 0, 0.0
    for seed, at in enumerate(pieces(count, PIECE), start=1):
        problems = scattered(robot, at.stop - at.start, seed)
        call = batch.pack(problems.targets, problems.starts)
        began = perf_counter()
        answer = batch.solve(*call)
        seconds += perf_counter() - began
        q = batch.unpack(answer)
        verdict = robot.judge.verdict(q, problems.targets)
        good = verdict.reached(problems.tolerance) & ~verdict.outside
        solved += int(good.sum())
        wrong += int((np.isfinite(q).all(axis=1) & ~good).sum())
    return Share(robot.name, "random", select, count, solved, wrong, seconds)


def near(robot: Robot, count: int, seed: int = 0) -> Problems:
    """Targets from random configurations, starts within AWAY a joint of them; to 1e-6."""
    judge, random = robot.judge, np.random.default_rng(seed)
    goals = random.uniform(judge.lower, judge.upper, (count, len(judge.lower)))
    starts = np.clip(goals + random.uniform(-AWAY, AWAY, goals.shape), judge.lower, judge.upper)
    return Problems(robot, judge.poses(goals), starts, 1e-6)


def first(problems: Problems, count: int) -> Problems:
    """The first of some problems."""
    return Problems(problems.robot, problems.targets[:count], problems.starts[:count], problems.tolerance)


def pieces(count: int, size: int) -> list[slice]:
    """`count` in pieces of `size`."""
    return [slice(at, min(at + size, count)) for at in range(0, count, size)]


def crowds(cores: int) -> list[int]:
    """Numbers of threads from two on, doubling, up to all cores."""
    return sorted({min(2**k, cores) for k in range(1, cores.bit_length() + 1)} - {1})


class Watched:
    """What the kernel of a batch did: iterations of eight lanes and seconds of processors, added up."""

    def __init__(self) -> None:
        self.iterations, self.seconds = 0, 0.0


@contextmanager
def watched() -> Iterator[Watched]:
    """Watch the kernel that solves eight problems at a time; it returns the iterations, which the library drops."""
    seen, kernel = Watched(), batch_lanes.solve_many

    def timed(address: int) -> None:
        began = thread_time()
        seen.iterations += kernel(address)
        seen.seconds += thread_time() - began

    with patch.object(batch_lanes, "solve_many", timed):
        yield seen


def show(measured: Throughput) -> None:
    """Print the tables."""
    print(f"\n{measured.cores} cores, load {measured.load:.2f} before; solved problems a second, by the size of a call")
    sizes = sorted({speed.size for speed in measured.speeds})
    heads = [f"{size:,}" for size in sizes]
    crowd = sorted({speed.threads for speed in measured.speeds} - {1})
    more = [f"{threads} threads" for threads in crowd] + [f"a core of {threads} / of 1" for threads in crowd]
    rows: dict[tuple[str, ...], dict[tuple[int, int], Speed]] = {}
    for speed in measured.speeds:
        rows.setdefault((speed.robot, speed.problems, speed.select), {})[speed.size, speed.threads] = speed
    lines = []
    for name, found in rows.items():
        largest = max(size for size, _ in found)
        alone = found[largest, 1]
        cells = [f"{found[size, 1].rate:,.0f}" if (size, 1) in found else "" for size in sizes]
        cells += [f"{1e6 * alone.processor:.2f}", f"{100 * alone.kernel:.0f}"]
        rates = [found[largest, threads].rate for threads in crowd]
        cells += [f"{rate:,.0f}" for rate in rates]
        cells += [f"{rate / threads / alone.rate:.2f}" for rate, threads in zip(rates, crowd, strict=True)]
        lines.append((*name, f"{100 * alone.solved:.3f}", *cells))
    print_table(("robot", "problems", "select"), ("solved %", *heads, "us of a core", "kernel %", *more), lines)
    print("\nshare solved, all cores")
    print_table(
        ("robot", "problems", "select"),
        ("of", "not solved", "wrong", "s"),
        [
            (x.robot, x.problems, x.select, f"{x.count:,}", f"{x.count - x.solved:,}", f"{x.wrong}", f"{x.seconds:.1f}")
            for x in measured.shares
        ],
    )
    peak = measured.peak
    print(f"\none iteration of one lane, one thread; the peak is {1e-9 * peak:.1f} Gflop/s a core")
    print_table(
        ("robot", "problems", "select"),
        ("iterations a solve", "ns", "flops", "Gflop/s", "of the peak %"),
        [
            (x.robot, x.problems, x.select, f"{x.a_solve:.2f}", f"{x.nanoseconds:.0f}")
            + ((f"{x.flops:,}", f"{x.flops / x.nanoseconds:.1f}", f"{1e11 * x.flops / x.nanoseconds / peak:.0f}")
               if x.flops else ("", "", ""))
            for x in measured.iterations
        ],
    )  # fmt: skip
    print("\noperations of one iteration of one lane, Panda")
    operations = measured.operations
    print_table(
        ("stage",),
        flops.KINDS,
        [(stage, *(str(count[kind]) for kind in flops.KINDS)) for stage, count in operations.items()],
    )

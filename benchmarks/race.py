"""The race: the same problems in one process, block by block, so that drift of the machine hits every library."""

import gc
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import perf_counter_ns, process_time
from typing import Any

import numpy as np
from judge import Array
from peers import Peer
from problems import Problems

BLOCK = 50
"""Problems that one library solves before the next has its turn."""
WARM_UP = 5
"""Problems solved before the clock runs: imports, compilation, first touches."""


@dataclass
class Record:
    """What one library did; failures count in the times."""

    seconds: list[float] = field(default_factory=list)
    """One a call."""
    solved: int = 0
    """Answers within the tolerance and the limits."""
    outside: int = 0
    """Answers given as good with a joint beyond its limit."""
    missed: int = 0
    """Answers given as good with a frame beyond the tolerance."""

    def judged(self, problems: Problems, answers: Array) -> None:
        """Count (N, nq) answers, NaN where the library gave none."""
        verdict = problems.robot.judge.verdict(answers, problems.targets)
        reached = verdict.reached(problems.tolerance)
        self.solved += int((reached & ~verdict.outside).sum())
        self.outside += int(verdict.outside.sum())
        self.missed += int((~reached & np.isfinite(answers).all(axis=1)).sum())


def race(problems: Problems, peers: Mapping[str, Peer], rounds: int) -> dict[str, Record]:
    """All problems `rounds` times by each library; the order of the libraries turns with each block."""
    records = {name: Record() for name in peers}
    names = list(peers)
    for peer in peers.values():
        for targets, start in zip(problems.targets[:WARM_UP], problems.starts, strict=False):
            peer.solve(*peer.pack(targets, start))
    for _ in range(rounds):
        answers = {name: np.full(problems.starts.shape, np.nan) for name in names}
        for block in range(0, len(problems.targets), BLOCK):
            names.append(names.pop(0))
            for name in names:
                run_block(problems, peers[name], block, answers[name], records[name])
        for name, record in records.items():
            record.judged(problems, answers[name])
    return records


def run_block(problems: Problems, peer: Peer, first: int, answers: Array, record: Record) -> None:
    """One block by one library.  When tracking, the last good answer starts the next solve."""
    gc.collect()
    gc.disable()
    # The caches are still full of the library before.
    peer.solve(*peer.pack(problems.targets[first], problems.starts[first]))
    block = range(first, min(first + BLOCK, len(problems.targets)))
    packed = {} if problems.tracking else {i: peer.pack(problems.targets[i], problems.starts[i]) for i in block}
    found: list[Any] = []
    for i in block:
        if problems.tracking:
            packed[i] = peer.pack(problems.targets[i], latest(answers[:i], problems.starts[0]))
        arguments = packed[i]
        before = perf_counter_ns()
        answer = peer.solve(*arguments)
        record.seconds.append((perf_counter_ns() - before) * 1e-9)
        if problems.tracking:
            keep(answers, i, peer.unpack(answer))
        else:
            found.append(answer)
    for i, answer in zip(block, found, strict=False):
        keep(answers, i, peer.unpack(answer))
    gc.enable()


def keep(answers: Array, i: int, q: Array | None) -> None:
    """Write down an answer, if there is one."""
    if q is not None:
        answers[i] = q


def latest(answers: Array, first: Array) -> Array:
    """The last of (N, nq) answers that is none of NaN, else `first`."""
    return next((answer for answer in answers[::-1] if np.isfinite(answer).all()), first)


def best(call: Callable[[], object], rounds: int) -> float:
    """The processor time of a call [s], the least of some rounds."""
    spent = []
    for _ in range(rounds):
        begun = process_time()
        call()
        spent.append(process_time() - begun)
    return min(spent)

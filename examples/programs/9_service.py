"""A service: requests in, answers out, from several processes, with types and a log that says why a pose was refused.

python 9_service.py --requests 1000 --workers 4 < poses.jsonl; without poses it makes its own
"""

import argparse
import json
import logging
import multiprocessing
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass

import numpy as np

import poise as pz

LOG = logging.getLogger("cell")


@dataclass(frozen=True)
class Request:
    """Where the hand shall be: x y z [m], w x y z."""

    name: str
    pose: tuple[float, ...]


@dataclass(frozen=True)
class Answer:
    """The joints [rad] by name, or why there are none."""

    name: str
    status: str
    sentence: str
    joints: dict[str, float]


def answer(solver: pz.Solver, request: Request) -> Answer:
    """One request, from home, so that an answer does not depend on the one before it."""
    try:
        sol = solver(pz.SE3(np.array(request.pose)))
    except pz.PoiseError as error:  # a wrong question, as of a pose that is none
        return Answer(request.name, error.code, str(error), {})
    return Answer(request.name, sol.status.name, sol.explain(), sol.named() if sol.success else {})


def served(solver: pz.Solver, requests: Iterable[Request], workers: int) -> Iterator[Answer]:
    """The answers in the order of the requests; the solver goes to each process as it is."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        listed = list(requests)
        yield from pool.map(answer, [solver] * len(listed), listed, chunksize=64)


def made(arm: pz.Model, count: int) -> Iterator[Request]:
    """Requests of which the last two cannot be: a pose that is out of reach, and one that is none."""
    poses = arm.pose(arm.tip, arm.sample(count - 2, seed=0)).array
    far, none = (3.0, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0), (0.4, 0.0, 0.5, 0.0, 0.0, 0.0, 0.0)
    for k, pose in enumerate([*poses.tolist(), far, none]):
        yield Request(f"request {k}", tuple(pose))


def main() -> None:
    """Serve, log, count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=4)
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    logging.captureWarnings(True)
    arm = pz.load("panda")
    solver, counts = pz.Solver(arm, pz.PoseTask(arm.tip)), dict[str, int]()
    lines = [] if sys.stdin.isatty() else [json.loads(line) for line in sys.stdin if line.strip()]
    requests = [Request(**line) for line in lines] or made(arm, options.requests)
    for done in served(solver, requests, options.workers):
        counts[done.status] = counts.get(done.status, 0) + 1
        if not done.joints:
            LOG.warning("%s refused: %s (%s)", done.name, done.sentence, done.status)
        print(json.dumps(asdict(done)))
    LOG.info("served: %s", ", ".join(f"{count} {status}" for status, count in counts.items()))


if __name__ == "__main__":
    main()

"""Kinematics as functions of PyTorch's tensors, beside pytorch-kinematics on the same configurations.

    python benchmarks/tensors.py [COUNT ...]

The pose of a Panda's last link and its Jacobian, with the backward pass of both, in double and in single precision, of
tensors that lie ready.  Both are compared with each other, and take turns; the least of several rounds counts, on the
clock, with as many threads as each takes by itself.  Numbers are times of the other's over ours.
"""

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytorch_kinematics
import robots
import torch

import poise as pz
import poise.torch

ROUNDS = 7


def least(works: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Seconds that each takes, at least, in rounds of all of them."""
    found = dict.fromkeys(works, np.inf)
    for _ in range(ROUNDS):
        for name, work in works.items():
            began = time.perf_counter()
            work()
            found[name] = min(found[name], time.perf_counter() - began)
    return found


def main() -> None:
    robot = robots.panda()
    (tip,) = robot.tips
    with robot.bare_file() as file:
        arm = pz.load(str(file))
    for count in [int(word) for word in sys.argv[1:]] or [1, 10_000, 100_000]:
        for kind, close in ((torch.float64, 1e-6), (torch.float32, 1e-4)):
            chain = pytorch_kinematics.build_serial_chain_from_urdf(robot.bare().encode(), tip).to(dtype=kind)
            compare(arm, chain, tip, torch.tensor(arm.sample(count, seed=0)).to(kind), close)


def compare(arm: pz.Model, chain: Any, tip: str, q: Any, close: float) -> None:
    """Print how long all takes of configurations (n, nq); raises AssertionError where the two differ."""
    functions = {
        "pose": (poise.torch.pose(arm, tip), lambda x: chain.forward_kinematics(x).get_matrix()),
        "jacobian": (poise.torch.jacobian(arm, tip), chain.jacobian),
    }
    for name, both in functions.items():
        values, slopes = zip(*(differentiated(function, q) for function in both), strict=True)
        for ours, theirs in (values, slopes):
            assert float((ours - theirs).abs().max()) < close, name
        forward = least({"ours": lambda: both[0](q), "theirs": lambda: both[1](q)})  # noqa: B023
        through = least({"ours": lambda: differentiated(both[0], q), "theirs": lambda: differentiated(both[1], q)})  # noqa: B023
        for what, times in (("forward", forward), ("and backward", through)):
            print(
                f"{name}, {len(q):,} of {str(q.dtype).removeprefix('torch.')}, {what}: {1e3 * times['ours']:.2f} ms, "
                f"pytorch-kinematics {times['theirs'] / times['ours']:.1f} times that",
                flush=True,
            )


def differentiated(function: Callable[[Any], Any], q: Any) -> tuple[Any, Any]:
    """The values at q, and the derivative of half the sum of their squares."""
    given = q.clone().requires_grad_()
    value = function(given)
    (0.5 * value.square().sum()).backward()
    return value.detach(), given.grad


if __name__ == "__main__":
    main()

"""Carts in a room: a thousand random places for the hand, for each of two carts with an arm.

Each way begins at a random free pose and leads to where the hand of a random free configuration is.  What is measured
is told at the end: ways found, the least distance from things, how far straight steps leave their arcs, the largest
rate of a wheel as a share of its most, the length of the base's way beside the shortest without obstacles between the
same ends (Reeds and Shepp; for the differential drive the straight line), and the processor time.

    python benchmarks/carts.py --count 1000
"""

import argparse
import sys
from pathlib import Path
from time import process_time

import numpy as np

import poise as pz
from poise_carts import Cart, drive
from poise_carts.arcs import seen_from
from poise_carts.steering import Steering

sys.path.append(str(Path(__file__).parents[1] / "packages" / "poise-carts" / "tests"))

from rooms import CAR, DIFFERENTIAL, room, rover

KEPT, FREE = 0.02, 0.03


def configurations(
    model: pz.Model, world: pz.World, count: int, rng: np.random.Generator, *, folded: bool
) -> np.ndarray:
    """(count, nq) free ones, anywhere in the room, with the arm folded or not."""
    found = np.empty((0, model.nq))
    while len(found) < count:
        q = model.sample(4 * count, seed=rng)
        q[:, :3] = rng.uniform([0.0, 0.0, -np.pi], [10.0, 8.0, np.pi], (len(q), 3))
        q[:, 3:] = model.home[3:] if folded else q[:, 3:]
        found = np.concatenate([found, q[model.distance(q, world).distance > FREE]])
    return found[:count]


def measure(name: str, cart: Cart, count: int, seed: int) -> None:
    """Drive to `count` places, and print a line."""
    model, world, rng = cart.mounted(rover()), room(), np.random.default_rng(seed)
    limits, steering = [pz.CollisionLimit(world, min_distance=KEPT)], Steering(cart, cusps=True)
    starts, ends = (configurations(model, world, count, rng, folded=folded) for folded in (True, False))
    ratios, times, near, off, rates, missed = [], [], np.inf, 0.0, 0.0, []
    for start, end in zip(starts, ends, strict=True):
        began = process_time()
        path = drive(cart, model, pz.PositionTask("hand", model.pose("hand", end).xyz), q0=start, limits=limits)
        times.append(process_time() - began)
        if not path.success:
            missed.append(path.status.name)
            continue
        at = path.at(np.linspace(0.0, path.duration, 1000))
        near = min(near, float(model.distance(at.q, world).distance.min()))
        rates = max(rates, float(np.abs(cart.rates(cart.twist(model, at.q, at.velocity))).max()))
        forwards, left, turn = seen_from(path.q[:-1, :3], path.q[1:, :3]).T
        slip = np.abs(left * np.cos(0.5 * turn) - forwards * np.sin(0.5 * turn))
        off = max(off, float((np.hypot(forwards, left) * np.abs(turn) / 8.0 + slip).max()))
        least = float(np.abs(steering.between(path.q[:1, :3], path.q[-1:, :3])[0]).sum())
        gone = float(np.hypot(forwards, left).sum())
        if least > 0.1:
            ratios.append(gone / least)
    print(f"{name}: {len(times) - len(missed)} of {len(times)} reached {missed}")
    print(f"  {near:.4f} m from things at least, {off:.2g} m off an arc, wheels at {rates / 10.0:.4f} of their most")
    told(" times the shortest without obstacles", ratios)
    told(" s a way", times)


def told(unit: str, numbers: list[float]) -> None:
    """Print what is usual of some numbers."""
    median, most = np.median(numbers), np.quantile(numbers, 0.9)
    print(f"  {np.mean(numbers):.3f}{unit}, median {median:.3f}, nine in ten below {most:.3f}", flush=True)


def main() -> None:
    """Measure both carts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    for name, cart in (("differential drive", DIFFERENTIAL), ("car", CAR)):
        measure(name, cart, asked.count, asked.seed)


if __name__ == "__main__":
    main()

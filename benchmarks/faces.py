"""Faces of `poise.compat` beside their originals: what is missed, answers outside limits, time a call.

    python benchmarks/faces.py [--count 60]

Both get the same poses of random configurations, and start from the middle of the limits, in one process and in turn.
Originals that are not installed are named and left out.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from poise.io.installed import installed_robots

Face = tuple[Callable[[Any], Any], Callable[[Any, Any], Any], np.ndarray, np.ndarray]
"""Forward kinematics to (4, 4), an answer to a pose from a start, limits."""


def ikpy() -> dict[str, Face]:
    from ikpy.chain import Chain as Theirs

    from poise.compat.ikpy import Chain as Ours

    file = str(installed_robots()["panda"])
    there, here = (kind.from_urdf_file(file, base_elements=["panda_link0"]) for kind in (Theirs, Ours))
    low, high = np.array([link.bounds if link.joint_type != "fixed" else (0.0, 0.0) for link in there.links]).T

    def solver(chain: Any) -> Callable[[Any, Any], Any]:
        return lambda pose, q0: chain.inverse_kinematics_frame(pose, q0, orientation_mode="all")

    return {name: (there.forward_kinematics, solver(c), low, high) for name, c in (("ikpy", there), ("poise", here))}


def toolbox() -> dict[str, Face]:
    import roboticstoolbox

    from poise.compat.roboticstoolbox import ik_LM

    ets = roboticstoolbox.models.Panda().ets()
    low, high = ets.qlim
    solvers = {"roboticstoolbox": ets.ik_LM, "poise": lambda pose, q0: ik_LM(ets, pose, q0)}
    return {
        name: (lambda q: ets.fkine(q).A, lambda pose, q0, f=f: f(pose, q0=q0).q, low, high)
        for name, f in solvers.items()
    }


def measure(face: Face, count: int) -> str:
    forward, solve, low, high = face
    rng = np.random.default_rng(0)
    left, times, outside = [], [], 0
    for _ in range(count):
        pose = forward(rng.uniform(low, high))
        begun = time.perf_counter()
        q = np.asarray(solve(pose, 0.5 * (low + high)))
        times.append(time.perf_counter() - begun)
        left.append(np.linalg.norm(forward(q)[:3, 3] - pose[:3, 3]))
        outside += bool((q < low - 1e-9).any() or (q > high + 1e-9).any())
    return f"{np.median(left):9.1e} {max(left):9.1e} {outside:8d} {1e6 * np.median(times):10.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=60)
    count = parser.parse_args().count
    warnings.simplefilter("ignore")
    print(f"{'face':12s} {'by':16s} {'median m':>9s} {'worst m':>9s} {'outside':>8s} {'us a call':>10s}")
    for title, build in (("Chain", ikpy), ("ik_LM", toolbox)):
        try:
            faces = build()
        except ImportError as error:
            print(f"{title:12s} left out: {error}")
            continue
        for name, face in faces.items():
            face[1](face[0](0.5 * (face[2] + face[3])), 0.5 * (face[2] + face[3]))
            print(f"{title:12s} {name:16s} {measure(face, count)}")


if __name__ == "__main__":
    main()

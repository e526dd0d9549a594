"""Make tests/data/unreachable.json: poses out of reach, and the least error that SciPy finds from many starts.

Run it from the repository's root: python tests/solving/make_unreachable.py
The kinematics here are NumPy on the joints' origins and axes; poise's solver and kernels take no part.
"""

import json
import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy
from independent import fk, matrix, pose_error
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

import poise as pz

Array = npt.NDArray[np.float64]
FILE = Path(__file__).parents[1] / "data" / "unreachable.json"
STARTS = 50
SEED = 20240
OUT_OF_REACH = 1e-3
"""A target that SciPy brings nearer than this [m and rad] is reachable and not taken."""
COUNTS = {"far": 15, "edge": 15, "blocked": 20}
"""Targets of each kind for each robot."""


class Chain:
    """A chain of revolute joints: error of its tip against a pose, and the exact Jacobian of that error."""

    def __init__(self, model: pz.Model) -> None:
        self.model = model
        self.fixed, self.axes, gap = [], [], np.eye(4)
        for joint in model.root_path(model.tip):
            gap = gap @ matrix(joint.origin)
            if joint.nq:
                self.fixed.append(gap)
                self.axes.append(np.array(joint.axis))
                gap = np.eye(4)
        self.tool = gap

    def frames(self, q: Array) -> tuple[Array, Array, Array]:
        """Axes (n, 3) and places (n, 3) of the joints in the world, and the tip (4, 4)."""
        at, axes, places = np.eye(4), [], []
        for gap, axis, angle in zip(self.fixed, self.axes, q, strict=True):
            at = at @ gap
            axes.append(at[:3, :3] @ axis)
            places.append(at[:3, 3])
            k = _cross(axis)
            turn = np.eye(4)
            turn[:3, :3] += np.sin(angle) * k + (1.0 - np.cos(angle)) * (k @ k)
            at = at @ turn
        return np.array(axes), np.array(places), at @ self.tool

    def problem(self, target: Array) -> tuple[Callable[[Array], Array], Callable[[Array], Array]]:
        """Residual (6,), displacement [m] then rotation vector [rad], and its Jacobian (6, n)."""

        def residual(q: Array) -> Array:
            tip = self.frames(q)[2]
            turn = Rotation.from_matrix(target[:3, :3] @ tip[:3, :3].T).as_rotvec()
            return np.concatenate([target[:3, 3] - tip[:3, 3], turn])

        def jacobian(q: Array) -> Array:
            axes, places, tip = self.frames(q)
            turn = Rotation.from_matrix(target[:3, :3] @ tip[:3, :3].T).as_rotvec()
            linear = np.cross(axes, tip[:3, 3] - places).T
            return -np.vstack([linear, _right_inverse(turn) @ axes.T])

        return residual, jacobian


def _cross(v: Array) -> Array:
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def _right_inverse(turn: Array) -> Array:
    """Inverse of the right Jacobian of the rotation vector: log(exp(turn) exp(-w)) is turn minus this times w."""
    angle, k = float(np.linalg.norm(turn)), _cross(turn)
    if angle < 1e-6:
        return np.eye(3) + 0.5 * k
    return np.eye(3) + 0.5 * k + (1.0 / angle**2 - (1.0 + np.cos(angle)) / (2.0 * angle * np.sin(angle))) * (k @ k)


def best(chain: Chain, target: Array, rng: np.random.Generator) -> tuple[float, Array, int]:
    """Least error of all starts, where it is, and how many starts came within 1 % of it."""
    model = chain.model
    residual, jacobian = chain.problem(target)
    low, high = model.sampling_box
    found = []
    for _ in range(STARTS):
        start = rng.uniform(low, high)
        answer = least_squares(residual, start, jacobian, bounds=(model.lower, model.upper), x_scale=1.0, max_nfev=300)
        q = np.clip(answer.x, model.lower, model.upper)
        found.append((float(np.hypot(*pose_error(fk(model, model.tip, q), target))), q))
        if found[-1][0] < OUT_OF_REACH:
            break
    found.sort(key=lambda pair: pair[0])
    return *found[0], sum(error <= 1.01 * found[0][0] for error, _ in found)


def reach(chain: Chain) -> tuple[Array, float]:
    """Where the first axis stands, and the length of all that follows it."""
    lengths = [np.linalg.norm(gap[:3, 3]) for gap in [*chain.fixed[1:], chain.tool]]
    return chain.fixed[0][:3, 3], float(np.sum(lengths))


def candidate(chain: Chain, kind: str, rng: np.random.Generator) -> Array:
    """A pose that is likely out of reach; in the plane for the planar arms."""
    root, length = reach(chain)
    flat = chain.model.name.startswith("planar")
    way = rng.normal(size=3) * ([1.0, 1.0, 0.0] if flat else [1.0, 1.0, 1.0])
    way /= np.linalg.norm(way)
    turn = Rotation.from_rotvec([0.0, 0.0, rng.uniform(-np.pi, np.pi)]) if flat else Rotation.random(rng=rng)
    distance = {"far": rng.uniform(1.5, 3.0), "edge": rng.uniform(0.98, 1.1), "blocked": rng.uniform(0.1, 0.95)}[kind]
    out = np.eye(4)
    out[:3, :3], out[:3, 3] = turn.as_matrix(), root + distance * length * way
    return out


def robots() -> dict[str, pz.Model]:
    """Arms with and without limits that matter; one of the planar arms has its limits narrowed."""
    builder = pz.ModelBuilder("planar4_limited")
    for i in range(4):
        origin = pz.SE3.from_parts([1.0 if i else 0.0, 0.0, 0.0])
        limits = (-0.8, 1.2) if i else (-2.0, 2.0)
        builder.joint(f"j{i}", "revolute", parent=f"l{i}", child=f"l{i + 1}", origin=origin, limits=limits)
    builder.joint("tool", "fixed", parent="l4", child="tip", origin=pz.SE3.from_parts([1.0, 0.0, 0.0]))
    named = {name: pz.load(name) for name in ("panda", "ur5e", "iiwa14")}
    return named | {"planar4_limited": builder.build()}


def main() -> None:
    """Write the file."""
    rng = np.random.default_rng(SEED)
    targets: list[dict[str, Any]] = []
    for name, model in robots().items():
        chain = Chain(model)
        for kind, wanted in COUNTS.items():
            kept = 0
            while kept < wanted:
                target = candidate(chain, kind, rng)
                error, q, agree = best(chain, target, rng)
                if error < OUT_OF_REACH:
                    continue
                kept += 1
                quaternion = Rotation.from_matrix(target[:3, :3]).as_quat(scalar_first=True)
                pose = [*target[:3, 3].tolist(), *quaternion.tolist()]
                targets.append(
                    {"robot": name, "kind": kind, "target": pose, "error": error, "q": q.tolist(), "agree": agree}
                )
                print(name, kind, kept, f"{error:.6f}", agree, flush=True)
    comment = (
        "Made by tests/solving/make_unreachable.py. 'error' is the least sqrt(|dp|^2 + |rotation vector|^2) [m, rad] "
        f"that scipy.optimize.least_squares (trf, bounds, exact Jacobian) found from {STARTS} random starts, at 'q'; "
        "'agree' is how many of them came within 1 % of it. 'target' is x y z, w x y z. Targets that it reached are "
        "left out."
    )
    versions = {"scipy": scipy.__version__, "numpy": np.__version__, "python": platform.python_version()}
    head = json.dumps({"comment": comment, "versions": versions, "seed": SEED, "starts": STARTS}, indent=1)
    rows = ",\n  ".join(json.dumps(target) for target in targets)
    FILE.write_text(f'{head[:-2]},\n "targets": [\n  {rows}\n ]\n}}\n')


if __name__ == "__main__":
    main()

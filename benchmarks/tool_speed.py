"""Times of paths with bounds of joints and of a tool, beside those of toppra 0.6 on the same rows.

pip install toppra
python benchmarks/tool_speed.py
"""

import sys
import time

import numpy as np

import poise as pz

ROWS = 100
SPEED = 0.25
"""Of the tool [m/s]."""
HARDEST = 10.0
"""Acceleration of each joint [rad/s^2]."""
GRID = 1000
"""Points at which toppra keeps the bounds."""
LOOKS = 100_001
"""Times at which what it goes beyond an acceleration between them is looked at."""


def ways() -> dict[str, tuple[pz.Model, str, np.ndarray]]:
    """Poses (n, 7) of hands by name: straight across, around, and a long turn."""
    panda, ur = pz.load("panda"), pz.load("ur5e")
    t = np.linspace(0.0, 1.0, ROWS)
    down = np.tile([0.0, 1.0, 0.0, 0.0], (ROWS, 1))
    line = np.stack([0.5 + 0.0 * t, -0.35 + 0.7 * t, 0.3 + 0.0 * t], axis=1)
    round_ = np.stack([0.45 + 0.12 * np.cos(6.28 * t), 0.2 * np.sin(6.28 * t), 0.35 + 0.05 * np.sin(12.57 * t)], axis=1)
    wave = np.stack([0.45 + 0.1 * t, -0.3 + 0.6 * t, 0.3 + 0.08 * np.sin(25.0 * t)], axis=1)
    return {
        "panda line": (panda, "panda_hand", np.hstack([line, down])),
        "panda round": (panda, "panda_hand", np.hstack([round_, down])),
        "panda wave": (panda, "panda_hand", np.hstack([wave, down])),
        "ur5e line": (ur, "tool0", np.hstack([line * [-1.0, 1.0, 1.0], down])),
        "ur5e wave": (ur, "tool0", np.hstack([wave * [-1.0, 1.0, 1.0], down])),
    }


def by_toppra(
    model: pz.Model, frame: str, q: np.ndarray, s: np.ndarray, tool: float | None
) -> tuple[float, float, float]:
    """The duration that toppra finds for a cubic spline through rows q at s, and what it took, both in seconds; and the
    largest acceleration of it, as a share of what is allowed."""
    import toppra
    from toppra import algorithm, constraint

    class ToolSpeed(constraint.LinearConstraint):
        """|J q'| ds/dt <= tool, as a bound on the square of ds/dt."""

        def compute_constraint_params(self, path, gridpoints):
            slopes = path(gridpoints, 1)
            speeds = np.linalg.norm((model.jacobian(frame, path(gridpoints)) @ slopes[..., None])[:, :3, 0], axis=1)
            most = (tool / np.maximum(speeds, 1e-9)) ** 2
            return None, None, None, None, None, None, np.stack([np.zeros(len(most)), most], axis=1)

    toppra.setup_logging("ERROR")
    path = toppra.SplineInterpolator(s, q, bc_type="natural")
    bounds = [
        constraint.JointVelocityConstraint(np.stack([-model.velocity, model.velocity], axis=1)),
        constraint.JointAccelerationConstraint(
            HARDEST * np.array([[-1.0, 1.0]] * model.nv),
            discretization_scheme=constraint.DiscretizationType.Interpolation,
        ),
        *([] if tool is None else [ToolSpeed()]),
    ]
    began = time.process_time()
    instance = algorithm.TOPPRA(
        bounds, path, gridpoints=np.linspace(s[0], s[-1], GRID + 1), parametrizer="ParametrizeConstAccel"
    )
    trajectory = instance.compute_trajectory(0.0, 0.0)
    took = time.process_time() - began
    accelerations = trajectory(np.linspace(0.0, trajectory.duration, LOOKS), 2)
    return float(trajectory.duration), took, float(np.abs(accelerations).max() / HARDEST)


def run() -> list[tuple[str, str, float, float, float, float, float]]:
    """A row a path and bound: names, both durations, their ratio, what toppra takes, and by what share it keeps to the
    accelerations."""
    rows = []
    for name, (model, frame, poses) in ways().items():
        for bound, tool in (("joints", None), (f"tool {SPEED:g} m/s", SPEED), ("tool 0.05 m/s", 0.05)):
            limits = [pz.AccelerationLimit(HARDEST)]
            path = pz.solve_path(model, pz.PoseTask(frame), poses, limits=limits, tool_speed=tool)
            assert path.success, path.explain()
            theirs, seconds, hardest = by_toppra(model, frame, path.q, path.times, tool)
            rows.append((name, bound, path.duration, theirs, path.duration / theirs, seconds, hardest))
    return rows


if __name__ == "__main__":
    print(
        f"{'path':<14} {'bound':<14} {'poise [s]':>10} {'toppra [s]':>10} {'ratio':>8} {'toppra took [s]':>16} "
        f"{'its hardest':>12}"
    )
    for name, bound, ours, theirs, ratio, seconds, hardest in run():
        print(
            f"{name:<14} {bound:<14} {ours:10.4f} {theirs:10.4f} {ratio:8.4f} {seconds:16.3f} {hardest:12.4f}",
            flush=True,
        )
    sys.exit()

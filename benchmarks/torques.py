"""Times of paths within torques, beside those of toppra 0.6 on the same rows, and the torques by Pinocchio.

pip install toppra pin example-robot-data
python benchmarks/torques.py
"""

import sys
import time

import numpy as np

import poise as pz

ROWS = 200
GRID = 1000
"""Points at which toppra keeps the bounds."""
LOOKS = 100
"""Times between two rows at which Pinocchio is asked."""
Case = tuple[pz.Model, str, np.ndarray, dict[str, float]]


def cases() -> dict[str, Case]:
    """By name a robot, its hand, poses (n, 7), and the share of the file's efforts that it may give."""
    panda = pz.load("example-robot-data/panda")
    ur = pz.load("example-robot-data/ur5")
    t = np.linspace(0.0, 1.0, ROWS)
    line = np.stack([0.5 + 0.0 * t, -0.35 + 0.7 * t, 0.4 + 0.0 * t], axis=1)
    round_ = np.stack([0.45 + 0.12 * np.cos(6.28 * t), 0.2 * np.sin(6.28 * t), 0.4 + 0.05 * np.sin(12.57 * t)], axis=1)
    wave = np.stack([0.45 + 0.1 * t, -0.3 + 0.6 * t, 0.4 + 0.08 * np.sin(25.0 * t)], axis=1)
    ways, found = {"line": line, "round": round_, "wave": wave}, dict[str, Case]()
    sides = {"panda": np.ones(3), "ur5": np.array([-1.0, 1.0, 1.0])}
    for name, model, frame, load in (("panda", panda, "panda_link8", 3.0), ("ur5", ur, "tool0", 5.0)):
        side = sides[name]
        for share in (0.7, 1.0):
            loaded = model.with_payload(load, link=frame, centre=(0.0, 0.0, 0.1), inertia=0.02 * np.eye(3))
            efforts = {joint: share * most for joint, most in loaded.efforts.items() if "finger" not in joint}
            for way, places in ways.items():
                poses = np.hstack([side * places, np.tile([0.0, 1.0, 0.0, 0.0], (ROWS, 1))])
                found[f"{name} {way} {share:.0%}"] = loaded, frame, poses, efforts
    return found


def by_toppra(model: pz.Model, efforts: dict[str, float], q: np.ndarray, s: np.ndarray) -> tuple[float, float]:
    """The duration that toppra finds for a cubic spline through rows q at s, and what it took, both in seconds."""
    import toppra
    from toppra import algorithm, constraint

    toppra.setup_logging("ERROR")
    path = toppra.SplineInterpolator(s, q, bc_type="natural")
    most = np.array([efforts.get(joint, 1e6) for joint in model.joint_names])
    bounds = [
        constraint.JointVelocityConstraint(np.stack([-model.velocity, model.velocity], axis=1)),
        constraint.JointTorqueConstraint(
            model.inverse_dynamics, np.stack([-most, most], axis=1), np.zeros(model.nv),
            discretization_scheme=constraint.DiscretizationType.Interpolation,
        ),
    ]  # fmt: skip
    began = time.process_time()
    instance = algorithm.TOPPRA(
        bounds, path, gridpoints=np.linspace(s[0], s[-1], GRID + 1), parametrizer="ParametrizeConstAccel"
    )
    return float(instance.compute_trajectory(0.0, 0.0).duration), time.process_time() - began


def by_pinocchio(path: pz.JointPath, efforts: dict[str, float]) -> float:
    """The largest torque as a share of its limit, by Pinocchio's own recursion on the links of the model."""
    import pinocchio as pin

    model, other, at = path.model, pin.Model(), {"world": (0, pin.SE3.Identity())}
    for joint in model.joints:
        parent, placement = at.get(joint.parent, at["world"])
        placement = placement * pin.SE3(joint.origin.matrix())
        if joint.nv:
            kind = pin.JointModelPrismaticUnaligned if joint.kind is pz.JointKind.PRISMATIC else None
            made = (kind or pin.JointModelRevoluteUnaligned)(np.array(joint.axis))
            parent, placement = other.addJoint(parent, made, placement, joint.name), pin.SE3.Identity()
        at[joint.child] = parent, placement
    for link, (mass, centre) in model.masses.items():
        parent, placement = at.get(link, at["world"])
        inertia = pin.Inertia(mass, centre, model.inertias.get(link, np.zeros((3, 3))))
        other.appendBodyToJoint(parent, inertia, placement)
    data, state = other.createData(), path.at(np.linspace(0.0, path.duration, LOOKS * len(path.q)))
    torques = np.array([pin.rnea(other, data, *row) for row in zip(*state, strict=True)])
    return max(float(np.abs(torques[:, model.velocity_index(j).start]).max()) / most for j, most in efforts.items())


def run() -> list[tuple[str, float, float, float, float, float]]:
    """A row a case: name, both durations, the largest share by Pinocchio, and what both took."""
    rows = []
    for name, (model, frame, poses, efforts) in cases().items():
        path = pz.solve_path(model, pz.PoseTask(frame), poses)
        began = time.process_time()
        path = pz.solve_path(model, pz.PoseTask(frame), poses, limits=[pz.TorqueLimit(efforts)])
        took = time.process_time() - began
        assert path.success, path.explain()
        theirs, seconds = by_toppra(model, efforts, path.q, path.times)
        rows.append((name, path.duration, theirs, by_pinocchio(path, efforts), took, seconds))
    return rows


if __name__ == "__main__":
    print(f"{'path':<18} {'poise [s]':>10} {'toppra [s]':>10} {'ratio':>8} {'torque':>8} {'took [s]':>9} {'theirs':>9}")
    for name, ours, theirs, share, took, seconds in run():
        print(
            f"{name:<18} {ours:10.4f} {theirs:10.4f} {ours / theirs:8.4f} {share:8.5f} {took:9.3f} {seconds:9.3f}",
            flush=True,
        )
    sys.exit()

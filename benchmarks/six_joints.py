"""Every solution of random arms of six joints: whether any is lost, false or one too many.

    python benchmarks/six_joints.py [--arms 10000] [--poses 10] [--counted 1000]

Arms by Denavit and Hartenberg's numbers, with any angles, with right angles alone, and with right angles and lengths
that are 0 now and then; those that have a closed form are left out.  Of each kind it prints how many poses lost the q
that they were made of, how many claims of `complete` are false, how many solutions Pinocchio does not find at their
target, and how many counts are odd; and of `--counted` poses how many have another number of solutions than an
independent search finds, Newton's steps from random starts until each was met five times.
"""

import argparse
import time

import numpy as np
import pinocchio

import poise as pz

KINDS = ("any angles", "right angles", "right angles and zeros")
FOUND = 1e-6


def numbers(kind: str, rng: np.random.Generator) -> np.ndarray:
    """(3, 6) twists [rad], lengths and offsets [m] of an arm."""
    alpha = rng.uniform(-np.pi, np.pi, 6)
    if kind != KINDS[0]:
        zeros = kind == KINDS[2]
        alpha = rng.choice([0.0, np.pi / 2, -np.pi / 2], p=[0.2 * zeros, 0.5 - 0.1 * zeros, 0.5 - 0.1 * zeros], size=6)
    lengths = rng.uniform(-1.0, 1.0, (2, 6))
    if kind == KINDS[2]:
        lengths = lengths * rng.integers(0, 2, (2, 6))
    return np.vstack([alpha, lengths])


def placements(dh: np.ndarray) -> list[np.ndarray]:
    """(4, 4) of each joint in the one before, and of the tool in the last."""
    out = [np.eye(4)]
    for alpha, a, d in dh.T:
        c, s = np.cos(alpha), np.sin(alpha)
        out.append(np.array([[1, 0, 0, a], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1]]) @ shifted(d))
    return out


def shifted(d: float) -> np.ndarray:
    """A shift along z [m]."""
    out = np.eye(4)
    out[2, 3] = d
    return out


def ours(dh: np.ndarray) -> pz.Model:
    """The arm for poise."""
    b, parent = pz.ModelBuilder("arm"), "base"
    *joints, tool = placements(dh)
    for i, place in enumerate(joints):
        b.joint(
            f"j{i}", "revolute", parent=parent, child=f"l{i}", origin=pz.SE3.from_matrix(place), limits=(-np.pi, np.pi)
        )
        parent = f"l{i}"
    b.frame("tool", link=parent, origin=pz.SE3.from_matrix(tool))
    return b.build()


def theirs(dh: np.ndarray) -> tuple[pinocchio.Model, int]:
    """The arm for Pinocchio, and its frame."""
    model, joint = pinocchio.Model(), 0
    *joints, tool = placements(dh)
    for i, place in enumerate(joints):
        joint = model.addJoint(joint, pinocchio.JointModelRZ(), pinocchio.SE3(place), f"j{i}")
    frame = model.addFrame(pinocchio.Frame("tool", joint, 0, pinocchio.SE3(tool), pinocchio.FrameType.OP_FRAME))
    return model, frame


def apart(some: np.ndarray, q: np.ndarray) -> np.ndarray:
    """(n,) how far configurations (n, 6) are from q, but for whole turns [rad]."""
    return np.abs((some - q + np.pi) % (2 * np.pi) - np.pi).max(axis=-1)


def turns(angle: np.ndarray) -> np.ndarray:
    """(n, 4, 4) turns about z."""
    out = np.zeros((len(angle), 4, 4))
    out[:, 0, 0] = out[:, 1, 1] = np.cos(angle)
    out[:, 1, 0] = np.sin(angle)
    out[:, 0, 1] = -out[:, 1, 0]
    out[:, 2, 2] = out[:, 3, 3] = 1.0
    return out


def searched(dh: np.ndarray, target: np.ndarray, rng: np.random.Generator, most: int = 60) -> list[np.ndarray]:
    """The solutions that Newton's steps from random starts find, until each was met five times."""
    found: list[np.ndarray] = []
    met: list[int] = []
    *joints, tool = placements(dh)
    for _ in range(most):
        q = rng.uniform(-np.pi, np.pi, (1000, 6))
        for _ in range(40):
            pose, axes = np.broadcast_to(np.eye(4), (len(q), 4, 4)), []
            for i, place in enumerate(joints):
                pose = pose @ place @ turns(q[:, i])
                axes.append((pose[:, :3, 2], pose[:, :3, 3]))
            pose = pose @ tool
            jacobian = np.stack([np.concatenate([np.cross(z, pose[:, :3, 3] - p), z], 1) for z, p in axes], -1)
            off = target[:3, :3] @ np.swapaxes(pose[:, :3, :3], 1, 2)
            turn = 0.5 * np.stack(
                [off[:, 2, 1] - off[:, 1, 2], off[:, 0, 2] - off[:, 2, 0], off[:, 1, 0] - off[:, 0, 1]], 1
            )
            error = np.concatenate([target[:3, 3] - pose[:, :3, 3], turn], 1)
            left = np.abs(error).max(1) + (np.trace(off, axis1=1, axis2=2) < 1.0)
            normal = np.swapaxes(jacobian, 1, 2) @ jacobian + (1e-3 * np.minimum(left, 1.0) ** 2 + 1e-16)[
                :, None, None
            ] * np.eye(6)
            step = np.linalg.solve(normal, np.einsum("nij,ni->nj", jacobian, error)[..., None])[..., 0]
            q = q + step * np.minimum(1.0, 0.5 / np.maximum(np.abs(step).max(1, keepdims=True), 1e-300))
        for x in q[left < 1e-10]:
            near = [k for k, other in enumerate(found) if apart(other, x) < 1e-5]
            if near:
                met[near[0]] += 1
            else:
                found.append(x)
                met.append(1)
        if met and min(met) >= 5:
            break
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arms", type=int, default=10_000)
    parser.add_argument("--poses", type=int, default=10)
    parser.add_argument("--counted", type=int, default=1_000)
    options = parser.parse_args()
    for kind in KINDS:
        rng = np.random.default_rng(KINDS.index(kind))
        arms = poses = lost = false = wrong = odd = unsure = counted = other = 0
        seconds, counts = 0.0, np.zeros(33, dtype=int)
        while arms < options.arms:
            dh = numbers(kind, rng)
            model = ours(dh)
            every = pz.BranchSolver(model, pz.PoseTask("tool"))
            if every.closed_form != "axes that lie anyhow":
                if kind != KINDS[2]:
                    raise RuntimeError(f"an arm with {kind} has {every.closed_form}")
                arms += every.closed_form is None  # whose every pose is singular
                continue
            arms += 1
            there, frame = theirs(dh)
            data = there.createData()
            for q in rng.uniform(-np.pi, np.pi, (options.poses, 6)):
                target = model.pose("tool", q)
                begin = time.perf_counter()
                found = every(target)
                seconds += time.perf_counter() - begin
                poses += 1
                counts[len(found)] += 1
                missing = not len(found) or apart(found.q, q).min() > FOUND
                lost, unsure = lost + missing, unsure + (not found.complete)
                false, odd = false + (missing and found.complete), odd + len(found) % 2
                goal = pinocchio.SE3(target.matrix())
                for x in found.q:
                    pinocchio.framesForwardKinematics(there, data, x)
                    wrong += np.abs(pinocchio.log6(goal.actInv(data.oMf[frame])).vector).max() > 1e-9
                if counted < options.counted and arms % max(1, options.arms // options.counted) == 0:
                    counted += 1
                    search = searched(dh, target.matrix(), rng)
                    other += len(search) != len(found)
                    if len(search) != len(found):
                        print("  another count", len(found), len(search), found.complete, dh.tolist(), q.tolist())
        print(
            f"{kind}: {poses:,} poses, {lost} lost, {false} of them false claims, {wrong} wrong, {odd} odd counts, "
            f"{unsure} not complete, {other} other counts of {counted}; {1e6 * seconds / max(poses, 1):.0f} us on "
            f"average; poses by number of solutions {counts[:17].tolist()}",
            flush=True,
        )


if __name__ == "__main__":
    main()

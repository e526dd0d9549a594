"""Faces of `poise_compat` beside their originals: what is missed, answers outside limits, time a call.

    python benchmarks/faces.py [--count 60] [--only pybullet ...]

Both get the same poses of random configurations, and start from the middle of the limits, in one process and in turn.
Originals that are not installed are named and left out.  `none`: calls that say that they have no answer; `of it`: the
time of a call as a part of that of the original.
"""

import argparse
import importlib
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from poise.io.installed import installed_robots
from poise.spatial import SE3, SO3

JOINTS = [f"panda_joint{i}" for i in range(1, 8)]
AXES = ("0 0 1", "0 1 0", "0 0 1", "0 1 0", "1 0 0", "0 1 0", "0 0 1")
STAMPED = ("PoseStamped", "Quaternion", "Vector3")


Solve = Callable[[Any, Any], Any]


class Bench(NamedTuple):
    """Forward kinematics to (4, 4), answers to a pose from a start, the original's first, limits, what stands there."""

    forward: Callable[[Any], Any]
    solvers: dict[str, Solve]
    low: Any
    high: Any
    put: Callable[[Any], None] = lambda q: None


def ikpy() -> Bench:
    from ikpy.chain import Chain as Theirs

    from poise_compat.ikpy import Chain as Ours

    file = str(installed_robots()["panda"])
    there, here = (kind.from_urdf_file(file, base_elements=["panda_link0"]) for kind in (Theirs, Ours))
    low, high = np.array([link.bounds if link.joint_type != "fixed" else (0.0, 0.0) for link in there.links]).T

    def solver(chain: Any) -> Solve:
        return lambda pose, q0: chain.inverse_kinematics_frame(pose, q0, orientation_mode="all")

    return Bench(there.forward_kinematics, {"ikpy": solver(there), "poise": solver(here)}, low, high)


def toolbox() -> Bench:
    import roboticstoolbox

    from poise_compat.roboticstoolbox import ik_LM

    ets = roboticstoolbox.models.Panda().ets()
    solvers = {
        "roboticstoolbox": lambda pose, q0: ets.ik_LM(pose, q0=q0).q,
        "poise": lambda pose, q0: ik_LM(ets, pose, q0=q0).q,
    }
    return Bench(lambda q: ets.fkine(q).A, solvers, *ets.qlim)


def bullet(lists: bool) -> Bench:
    """One call of each, with four lists or without; the original keeps the limits of a body with lists alone."""
    import pybullet

    from poise_compat.pybullet import calculateInverseKinematics

    if not pybullet.isConnected():
        pybullet.connect(pybullet.DIRECT)
    body = pybullet.loadURDF(str(installed_robots()["panda"]), useFixedBase=True)
    joints = [pybullet.getJointInfo(body, i) for i in range(pybullet.getNumJoints(body))]
    moving = [joint[0] for joint in joints if joint[2] != 4]
    hand = next(joint[0] for joint in joints if joint[12] == b"panda_hand")
    low, high = np.array([joints[i][8:10] for i in moving]).T
    four = (low.tolist(), high.tolist(), (high - low).tolist(), (0.5 * (low + high)).tolist()) if lists else ()

    def put(q: Any) -> None:
        for joint, x in zip(moving, q, strict=True):
            pybullet.resetJointState(body, joint, x)

    def forward(q: Any) -> Any:
        put(q)
        state = pybullet.getLinkState(body, hand, computeForwardKinematics=True)
        return SE3.from_xyz_xyzw(state[4], state[5]).matrix()

    def solver(calculate: Callable[..., Any]) -> Solve:
        def solve(pose: Any, q0: Any) -> Any:
            turn = SO3.from_matrix(pose[:3, :3], orthonormalise=True).xyzw
            return calculate(body, hand, pose[:3, 3].tolist(), turn.tolist(), *four)

        return solve

    solvers = {"pybullet": solver(pybullet.calculateInverseKinematics), "poise": solver(calculateInverseKinematics)}
    return Bench(forward, solvers, low, high, put)


def dimos() -> Bench:
    """`solve` in a world that answers by Pinocchio, and in which nothing collides."""
    import pinocchio as pin

    planning = "dimos.manipulation.planning"
    config = importlib.import_module(f"{planning}.spec.config").RobotModelConfig
    group = importlib.import_module(f"{planning}.groups.models").PlanningGroupDefinition
    prepare = importlib.import_module(f"{planning}.spec.validation").prepare_robot_model
    asset = importlib.import_module("dimos.robot.assets.model").RobotModel
    state = importlib.import_module("dimos.msgs.sensor_msgs.JointState").JointState
    messages = [importlib.import_module(f"dimos.msgs.geometry_msgs.{name}") for name in STAMPED]
    stamped, turned, point = (getattr(m, name) for m, name in zip(messages, STAMPED, strict=True))
    from dimos.manipulation.planning.kinematics.jacobian_ik import JacobianIK
    from dimos.manipulation.planning.kinematics.pink_ik import PinkIK

    from poise_compat.dimos import PoiseIK

    def pose_of(pose: Any) -> Any:
        x, y, z, w = map(float, SO3.from_matrix(pose[:3, :3], orthonormalise=True).xyzw)
        return stamped(position=point(*map(float, pose[:3, 3])), orientation=turned(x, y, z, w))

    robot = asset.from_file(installed_robots()["panda"]).with_default_joint_acceleration_limit(10.0)
    arm = group(name="arm", joint_names=tuple(JOINTS), base_link="panda_link0", tip_link="panda_hand")
    prepared = prepare(
        config(
            model=robot,
            joint_names=JOINTS,
            base_link="panda_link0",
            base_pose=pose_of(np.eye(4)),
            planning_groups=[arm],
        )
    )
    model = pin.buildModelFromXML(prepared.description.xml)
    data, hand = model.createData(), model.getFrameId("panda_hand")

    def whole(q: Any) -> Any:
        return np.concatenate([q, np.zeros(model.nq - 7)])

    def forward(q: Any) -> Any:
        pin.framesForwardKinematics(model, data, whole(q))
        return data.oMf[hand].homogeneous

    class World:
        is_finalized, q = True, np.zeros(7)

        def get_prepared_model(self) -> Any:
            return prepared

        @contextmanager
        def scratch_context(self) -> Iterator[Any]:
            yield {"q": self.q.copy()}

        def get_joint_state(self, context: Any) -> Any:
            return state(name=JOINTS, position=context["q"].tolist())

        def set_joint_state(self, context: Any, there: Any) -> None:
            context["q"] = np.array(there.position)

        def get_ee_pose(self, context: Any) -> Any:
            return pose_of(forward(context["q"]))

        def get_jacobian(self, context: Any) -> Any:
            return pin.computeFrameJacobian(model, data, whole(context["q"]), hand, pin.LOCAL_WORLD_ALIGNED)[:, :7]

        def check_config_collision_free(self, there: Any) -> bool:
            return True

    world = World()

    def put(q: Any) -> None:
        world.q = q

    def solver(kinematics: Any) -> Solve:
        def solve(pose: Any, q0: Any) -> Any:
            found = kinematics.solve(world, pose_of(pose))
            return np.array(found.joint_state.position) if found.is_success() else None

        return solve

    solvers = {"PinkIK": PinkIK(solver="daqp"), "JacobianIK": JacobianIK(), "poise": PoiseIK()}
    return Bench(
        forward, {name: solver(each) for name, each in solvers.items()}, *prepared.joint_space.position_limits(), put
    )


def robosuite(calls: int) -> Bench:
    """So many calls, as at the rate of a controller, of a site that is led by seven joints."""
    import mujoco
    from robosuite.examples.third_party_controller.mink_controller import IKSolverMink as Theirs

    from poise_compat.robosuite import IKSolverMink as Ours

    text, names = '<site name="grip_right" pos="0.05 0 0"/>', [f"right_{i}" for i in range(7)]
    for name, axis in zip(reversed(names), reversed(AXES), strict=True):
        text = f'<body pos="0.12 0 0"><joint name="{name}" axis="{axis}"/><geom size="0.01"/>{text}</body>'
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><compiler angle="radian" autolimits="true"/><default><joint range="-2 2"/></default><worldbody>'
        f'<body name="robot0_base" pos="0 0 0.9"><geom size="0.01"/>{text}</body></worldbody></mujoco>'
    )
    data = mujoco.MjData(model)

    def put(q: Any) -> None:
        data.qpos = q
        mujoco.mj_kinematics(model, data)

    def forward(q: Any) -> Any:
        put(q)
        site = data.site("grip_right")
        return SE3.from_parts(site.xpos, SO3.from_matrix(site.xmat.reshape(3, 3), orthonormalise=True)).matrix()

    def solver(kind: Any) -> Solve:
        ik = kind(model, data, ["grip_right"], model, names, posture_weights={})

        def solve(pose: Any, q0: Any) -> Any:
            action = np.concatenate([pose[:3, 3], SO3.from_matrix(pose[:3, :3], orthonormalise=True).log()])
            for _ in range(calls):
                data.qpos = ik.solve(action.copy())
                mujoco.mj_kinematics(model, data)
            return data.qpos.copy()

        return solve

    most = np.full(7, 2.0)
    return Bench(forward, {"robosuite": solver(Theirs), "poise": solver(Ours)}, -most, most, put)


def measured(bench: Bench, count: int) -> Iterator[str]:
    """A row for each solver."""
    rng, start, low, high = np.random.default_rng(0), 0.5 * (bench.low + bench.high), bench.low, bench.high
    left, times, outside, none = ({name: list[Any]() for name in bench.solvers} for _ in range(4))
    for k in range(-1, count):
        pose = bench.forward(rng.uniform(low, high) if k >= 0 else start)
        for name, solve in bench.solvers.items():
            bench.put(start)
            begun = time.perf_counter()
            q = solve(pose, start)
            if k >= 0:
                times[name].append(time.perf_counter() - begun)
                none[name].append(q is None)
            if k >= 0 and q is not None:
                q = np.asarray(q)
                left[name].append(np.linalg.norm(bench.forward(q)[:3, 3] - pose[:3, 3]))
                outside[name].append(bool((q < low - 1e-9).any() or (q > high + 1e-9).any()))
    first = np.median(next(iter(times.values())))
    for name in bench.solvers:
        median = np.median(times[name])
        yield (
            f"{name:16s} {np.median(left[name]):9.1e} {max(left[name]):9.1e} {sum(none[name]):5d} "
            f"{sum(outside[name]):8d} {1e6 * median:10.0f} {median / first:6.2f}"
        )


BENCHES: dict[str, Callable[[], Bench]] = {
    "Chain": ikpy,
    "ik_LM": toolbox,
    "pybullet": lambda: bullet(lists=False),
    "pybullet, lists": lambda: bullet(lists=True),
    "dimos": dimos,
    "robosuite": lambda: robosuite(1),
    "robosuite, 20x": lambda: robosuite(20),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--only", nargs="*", default=list(BENCHES), choices=list(BENCHES))
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    columns = f"{'median m':>9s} {'worst m':>9s} {'none':>5s} {'outside':>8s} {'us a call':>10s} {'of it':>6s}"
    print(f"{'face':16s} {'by':16s} {columns}")
    for title in given.only:
        try:
            bench = BENCHES[title]()
        except ImportError as error:
            print(f"{title:16s} left out: {error}")
            continue
        for row in measured(bench, given.count):
            print(f"{title:16s} {row}", flush=True)


if __name__ == "__main__":
    main()

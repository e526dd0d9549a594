"""robosuite's face, judged by MuJoCo: sites come to what actions ask for, held joints stay, postures come second."""

import sys
from collections.abc import Callable
from inspect import signature
from types import ModuleType, SimpleNamespace
from typing import Any

import mujoco
import numpy as np
import pytest

import poise as pz
from poise_compat.robosuite import IKSolverMink

AXES = ("0 0 1", "0 1 0", "0 0 1", "0 1 0", "1 0 0", "0 1 0", "0 0 1")
SITES = ["grip_right", "grip_left"]
JOINTS = ["torso", *(f"{side}_{i}" for side in ("right", "left") for i in range(7))]

BENT = (0.3, 0.6, 0.4, -1.3, 0.2, 0.7, -0.3)


def robot(place: str) -> str:
    """A trunk that is lifted, a torso that turns, two arms of seven joints, a leg."""

    def arm(side: str, y: float) -> str:
        text = f'<site name="grip_{side}" pos="0.05 0 0" euler="0.2 0 0.1"/>'
        for i in reversed(range(7)):
            at = f"0 {y} 0.3" if i == 0 else "0.12 0 0"
            text = f'<body pos="{at}"><joint name="{side}_{i}" axis="{AXES[i]}"/><geom size="0.01"/>{text}</body>'
        return text

    leg = '<body pos="0 0.1 -0.2"><joint name="leg" axis="0 1 0"/><geom size="0.01"/></body>'
    arms = arm("right", -0.2) + arm("left", 0.2)
    return (
        f'<body name="robot0_base" {place}><geom size="0.01"/>{leg}<body name="trunk"><joint name="lift" type="slide" '
        'axis="0 0 1" range="-0.5 0.5"/><geom size="0.01"/><body name="chest" pos="0 0 0.2"><joint name="torso" '
        f'axis="0 0 1"/><geom size="0.01"/>{arms}</body></body></body>'
    )


def model(bodies: str) -> Any:
    return mujoco.MjModel.from_xml_string(
        '<mujoco><compiler angle="radian" autolimits="true"/><default><joint range="-2 2"/></default>'
        f"<worldbody>{bodies}</worldbody></mujoco>"
    )


class Scene:
    """A robot that stands elsewhere in a world with a cube, and its solver."""

    def __init__(self, **options: Any) -> None:
        cube = '<body pos="1 0 0"><freejoint/><geom size="0.02"/></body>'
        self.whole = model(cube + robot('pos="0.4 -0.3 0.9" euler="0 0 1.1"'))
        self.data = mujoco.MjData(self.whole)
        self.alone = model(robot('pos="0 0 0.2"'))
        self.put({"lift": 0.13, "leg": 0.7, "torso": 0.3} | {name: BENT[int(name[-1])] for name in JOINTS[1:]})
        self.solver = IKSolverMink(self.whole, self.data, SITES, self.alone, JOINTS, **options)

    def put(self, values: dict[str, float]) -> None:
        for name, value in values.items():
            self.data.joint(name).qpos[:] = value
        mujoco.mj_kinematics(self.whole, self.data)

    def pose(self, name: str) -> pz.SE3:
        site = self.data.site(name)
        return pz.SE3.from_parts(
            site.xpos.copy(), pz.SO3.from_matrix(site.xmat.reshape(3, 3).copy(), orthonormalise=True)
        )

    def goals(self, seed: int) -> list[pz.SE3]:
        """Where the sites are at other positions of the joints."""
        before = self.data.qpos.copy()
        drawn = before[-15:] + np.random.default_rng(seed).uniform(-0.4, 0.4, 15)
        self.put(dict(zip(JOINTS, np.clip(drawn, -2.0, 2.0), strict=True)))
        found = [self.pose(name) for name in SITES]
        self.data.qpos[:] = before
        self.put({})
        return found

    def go(self, action: Any) -> None:
        answer = self.solver.solve(action)
        assert answer.shape == (15,)
        assert (np.abs(answer) <= 2.0).all()
        self.put(dict(zip(JOINTS, answer, strict=True)))

    def missed(self, goals: list[pz.SE3]) -> float:
        """The most that is left [m, rad]."""
        away = [self.pose(name).inverse() @ goal for name, goal in zip(SITES, goals, strict=True)]
        return max(float(np.linalg.norm(part)) for each in away for part in (each.xyz, each.rotation.log()))


def absolute(goals: list[pz.SE3]) -> np.ndarray:
    return np.concatenate([[*goal.xyz, *goal.rotation.log()] for goal in goals])


def test_the_signature_is_as_published() -> None:
    given = signature(IKSolverMink).parameters
    assert list(given) == [
        "model", "data", "site_names", "robot_model", "robot_joint_names", "base_transform_joint", "verbose",
        "input_type", "input_ref_frame", "input_rotation_repr", "posture_weights", "solve_freq", "hand_pos_cost",
        "hand_ori_cost",
    ]  # fmt: skip
    assert given["solve_freq"].default == 20.0
    assert given["hand_ori_cost"].default == 0.5
    solver = Scene().solver
    assert solver.control_dim == 12
    assert solver.action_split_indexes() == {"right": (0, 6), "left": (6, 12)}
    assert [each.shape for each in solver.control_limits] == [(12,), (12,)]


def test_one_call_brings_both_sites_to_their_poses_in_the_world_or_from_the_base() -> None:
    world, base = Scene(), Scene(input_ref_frame="base", input_rotation_repr="quat_wxyz")
    for seed in range(3):
        goals = world.goals(seed)
        world.go(absolute(goals))
        assert world.missed(goals) < 1e-5
        assert world.solver.solution is not None
        assert world.solver.solution.success
        seen = [base.solver.transform_pose(goal.matrix(), "world", "base") for goal in goals]
        poses = [pz.SE3.from_matrix(each, orthonormalise=True) for each in seen]
        base.go(np.concatenate([[*pose.xyz, *(3.0 * pose.rotation.wxyz)] for pose in poses]))
        assert base.missed(goals) < 1e-5
    assert world.data.joint("leg").qpos[0] == 0.7
    world.put({"lift": -0.21, "leg": -0.5})  # what holds the arms may move between calls
    goals = world.goals(4)
    world.go(absolute(goals))
    assert world.missed(goals) < 1e-5


@pytest.mark.parametrize("frame", ["world", "base"])
def test_a_delta_is_along_the_axes_of_its_frame_and_a_delta_pose_along_those_of_the_site(frame: str) -> None:
    scene = Scene(input_type="delta", input_ref_frame=frame)
    way, turn = np.array([-0.03, 0.01, -0.02]), np.array([0.1, -0.2, 0.05])
    axes = np.eye(3) if frame == "world" else scene.data.body("robot0_base").xmat.reshape(3, 3)
    goals = [
        pz.SE3.from_parts(at.xyz + axes @ way, pz.SO3.from_rotvec(axes @ turn) @ at.rotation)
        for at in map(scene.pose, SITES)
    ]
    scene.go(np.tile([*way, *turn], 2))
    assert scene.missed(goals) < 1e-5
    scene = Scene(input_type="delta_pose", input_ref_frame=frame)
    change = pz.SE3.from_parts(way, pz.SO3.from_rotvec(turn))
    goals = [scene.pose(name) @ change for name in SITES]
    scene.go(np.tile([*way, *turn], 2))
    assert scene.missed(goals) < 1e-5


def test_the_posture_comes_nearer_call_by_call_and_takes_nothing_from_the_sites() -> None:
    away = []
    for weight in (1.0, 10.0):
        scene = Scene(posture_weights={"torso": weight})
        goals, left = scene.goals(0), []
        scene.solver.set_posture_target(np.full(scene.alone.nq, 0.3))
        for _ in range(30):
            scene.go(absolute(goals))
            assert scene.missed(goals) < 1e-5
            left.append(np.square(scene.data.qpos[-15:] - 0.3) @ [weight**2, *np.ones(14)])
        assert left[-1] < left[0]
        away.append(abs(scene.data.joint("torso").qpos[0] - 0.3))
    assert away[1] < 0.5 * away[0]


def test_out_of_reach_it_is_near_and_the_solution_says_so() -> None:
    scene = Scene()
    far = [pz.SE3.from_xyz_wxyz([4.0, y, 1.0], [1, 0, 0, 0]) for y in (-0.2, 0.2)]
    scene.go(absolute(far))
    assert scene.solver.solution is not None
    assert not scene.solver.solution.success
    assert "reach" in scene.solver.solution.explain()


def test_a_robot_that_floats_in_the_world_is_led_from_where_it_is() -> None:
    alone = model(robot(""))
    whole = model(robot("").replace("<geom", '<freejoint name="free"/><geom', 1))
    data = mujoco.MjData(whole)
    data.joint("free").qpos[:] = [0.5, 0.2, 0.7, 0.8, 0.0, 0.0, 0.6]
    mujoco.mj_kinematics(whole, data)
    goal = data.site("grip_left").xpos + np.array([-0.05, 0.02, -0.03])
    turn = pz.SO3.from_matrix(data.site("grip_left").xmat.reshape(3, 3), orthonormalise=True).log()
    solver = IKSolverMink(whole, data, SITES[1:], alone, JOINTS, base_transform_joint="free")
    for name, value in zip(JOINTS, solver.solve(np.array([*goal, *turn])), strict=True):
        data.joint(name).qpos[:] = value
    mujoco.mj_kinematics(whole, data)
    assert np.abs(data.site("grip_left").xpos - goal).max() < 1e-5


def test_what_makes_no_question_is_refused() -> None:
    scene = Scene()
    with pytest.raises(ValueError, match="input_action"):
        scene.solver.solve(np.full(12, np.nan))
    with pytest.raises(pz.ShapeError, match="input_action"):
        scene.solver.solve(np.zeros(7))
    with pytest.raises(ValueError, match="input_type"):
        Scene(input_type="relative")
    with pytest.raises(ValueError, match="input_ref_frame"):
        Scene(input_ref_frame="eef")
    with pytest.raises(pz.JointNotFound, match=r"robot_joint_names .* no joint 'tors'; did you mean 'torso'"):
        IKSolverMink(scene.whole, scene.data, SITES, scene.alone, ["tors"])
    with pytest.raises(pz.JointNotFound, match=r"the scene .* no joint 'leg'; available: 'wheel'"):
        IKSolverMink(model('<body><joint name="wheel"/><geom size="1"/></body>'), scene.data, SITES, scene.alone)


@pytest.mark.parametrize("kind", ["WholeBodyMinkIK", "HybridWholeBodyMinkIK"])
def test_the_controller_is_registered_under_its_name_and_reads_a_configuration(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    known: dict[str, Any] = {}

    def register(kind: Any) -> Any:
        known[kind.name] = kind
        return kind

    parts = ModuleType("robosuite.controllers.composite.composite_controller")
    vars(parts).update(WholeBodyIK=type("WholeBodyIK", (), {}), register_composite_controller=register)
    monkeypatch.setitem(sys.modules, parts.__name__, parts)
    from poise_compat import robosuite

    robosuite._controllers.cache_clear()
    made: Callable[[], Any] = getattr(robosuite, kind)
    assert known == {
        "WHOLE_BODY_MINK_IK": robosuite.WholeBodyMinkIK,
        "HYBRID_WHOLE_BODY_MINK_IK": robosuite.HybridWholeBodyMinkIK,
    }
    scene, controller = Scene(), made()
    controller.sim = SimpleNamespace(model=SimpleNamespace(_model=scene.whole), data=SimpleNamespace(_data=scene.data))
    controller.robot_model = SimpleNamespace(mujoco_model=scene.alone)
    controller.part_controllers = {
        "torso": SimpleNamespace(joint_names=JOINTS[:1]),
        "arms": SimpleNamespace(joint_names=JOINTS[1:]),
    }
    controller.composite_controller_specific_config = {
        "ref_name": SITES, "actuation_part_names": ["torso", "arms"], "ik_input_type": "delta", "ik_hand_pos_cost": 2.0,
        "ik_pseudo_inverse_damping": 0.05, "external_part_names": ["legs"],
    }  # fmt: skip
    controller._init_joint_action_policy()
    scene.solver = controller.joint_action_policy
    goals = [scene.pose(name) for name in SITES]
    scene.go(np.zeros(12))
    assert scene.missed(goals) < 1e-5
    with pytest.raises(AttributeError, match="WholeBody"):
        robosuite.WholeBody  # noqa: B018

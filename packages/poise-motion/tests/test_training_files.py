"""Files that policies are trained on, read as the loaders of these programs do, and against MuJoCo's kinematics."""

import pickle
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt
import pytest
from scipy.spatial.transform import Rotation
from support.refusals import refused

import poise as pz
from poise.cli import main
from poise_motion.files.pickled import read_pickle

Array = npt.NDArray[np.float64]

ROBOT = """
<mujoco><worldbody><body name="pelvis" pos="0 0 0.9"><freejoint name="root"/>
  <inertial pos="0.01 0 0.05" mass="5" diaginertia="0.1 0.1 0.1"/>
  <body name="thigh_r" pos="0 -0.1 -0.05"><joint name="hip_r" axis="0 1 0" range="-90 90"/>
    <inertial pos="0 0.02 -0.2" mass="2" diaginertia="0.1 0.1 0.1"/>
    <body name="shin_r" pos="0 0 -0.4" quat="0.96 0.28 0 0"><joint name="knee_r" axis="0 1 0" range="-10 120"/>
      <inertial pos="0 0 -0.15" mass="1" diaginertia="0.1 0.1 0.1"/>
      <body name="sole_r" pos="0 0 -0.4"><inertial pos="0.1 0 0" mass="0.5" diaginertia="0.1 0.1 0.1"/></body></body>
  </body>
  <body name="thigh_l" pos="0 0.1 -0.05"><joint name="hip_l" axis="0 1 0" range="-90 90"/>
    <inertial pos="0 -0.02 -0.2" mass="2" diaginertia="0.1 0.1 0.1"/>
    <body name="shin_l" pos="0 0 -0.4"><joint name="knee_l" axis="0 1 0" range="-10 120"/>
      <inertial pos="0 0 -0.15" mass="1" diaginertia="0.1 0.1 0.1"/></body>
  </body>
  <body name="torso" pos="0 0 0.15"><joint name="waist" axis="0 0 1" range="-90 90"/>
    <inertial pos="0 0 0.2" mass="6" diaginertia="0.1 0.1 0.1"/></body>
</body></worldbody></mujoco>
"""
DEEP = ["hip_r", "knee_r", "hip_l", "knee_l", "waist"]
BROAD = ["hip_l", "hip_r", "waist", "knee_l", "knee_r"]
BODY = {"hip_r": "thigh_r", "hip_l": "thigh_l", "knee_r": "shin_r", "knee_l": "shin_l", "waist": "torso"}
MUJOCO = mujoco.MjModel.from_xml_string(ROBOT)
FPS, SECONDS = 50.0, 0.8


@pytest.fixture(scope="module")
def robot() -> pz.Model:
    return pz.load(ROBOT)


@pytest.fixture(scope="module")
def motion(robot: pz.Model) -> pz.Motion:
    """It walks and turns, 120 frames a second."""
    times = np.linspace(0.0, SECONDS, int(120 * SECONDS) + 1)
    q = np.tile(robot.neutral, (len(times), 1))
    q[:, :3] = np.stack([0.8 * times, 0.1 * np.sin(4 * times), 0.9 + 0.05 * np.cos(6 * times)], axis=1)
    turn = Rotation.from_euler("zyx", np.stack([2.0 * times, 0.3 * np.sin(3 * times), 0.2 * times], axis=1))
    q[:, 3:7] = turn.as_quat(scalar_first=True)
    for k, name in enumerate(DEEP):
        q[:, robot.index(name)] = 0.4 + 0.3 * np.sin(3.0 * times + k)[:, None]
    return pz.Motion(robot, times, q, name="walk")


def loaded(file: str | Path) -> dict[str, Any]:
    with np.load(file) as archive:
        return dict(archive)


def bodies_of(qpos: Array, qvel: Array, *, at_centres: bool) -> dict[str, Array]:
    """By name of an array, (frames, bodies, ...) what MuJoCo has of all its bodies, the world first."""
    data, twist = mujoco.MjData(MUJOCO), np.zeros(6)
    out: dict[str, list[Any]] = {name: [] for name in ("pos", "quat", "lin_vel", "ang_vel")}
    kind = mujoco.mjtObj.mjOBJ_BODY if at_centres else mujoco.mjtObj.mjOBJ_XBODY
    for one, v in zip(qpos, qvel, strict=True):
        data.qpos[:], data.qvel[:] = one, v
        mujoco.mj_forward(MUJOCO, data)
        speeds = []
        for body in range(MUJOCO.nbody):
            mujoco.mj_objectVelocity(MUJOCO, data, kind, body, twist, 0)
            speeds.append(twist.copy())
        out["pos"].append(data.xpos.copy())
        out["quat"].append(data.xquat.copy())
        out["lin_vel"].append(np.array(speeds)[:, 3:])
        out["ang_vel"].append(np.array(speeds)[:, :3])
    return {name: np.array(rows) for name, rows in out.items()}


def same_turns(a: Array, b: Array) -> None:
    np.testing.assert_allclose(np.abs(np.sum(a * b, axis=-1)), 1.0, atol=1e-6)


def checked(data: dict[str, Array], qpos: Array, qvel: Array, names: list[str], *, at_centres: bool) -> None:
    """The bodies of a file against MuJoCo's at the file's own joints."""
    expected = bodies_of(qpos, qvel, at_centres=at_centres)
    at = [mujoco.mj_name2id(MUJOCO, mujoco.mjtObj.mjOBJ_BODY, name) for name in names]
    np.testing.assert_allclose(data["body_pos_w"], expected["pos"][:, at], atol=1e-5)
    same_turns(data["body_quat_w"], expected["quat"][:, at])
    np.testing.assert_allclose(data["body_ang_vel_w"], expected["ang_vel"][:, at], atol=1e-4)
    np.testing.assert_allclose(data["body_lin_vel_w"], expected["lin_vel"][:, at], atol=1e-4)


def by_places(file: Path, joints: list[str], indexes: list[int]) -> dict[str, Array]:
    """As the loaders of whole_body_tracking and mjlab have it: arrays by their names, bodies by their places."""
    data = loaded(file)
    assert data["joint_pos"].shape == data["joint_vel"].shape == (41, len(joints))
    out = {name: data[name].astype(np.float64) for name in ("joint_pos", "joint_vel")}
    for name in ("body_pos_w", "body_quat_w", "body_lin_vel_w", "body_ang_vel_w"):
        out[name] = data[name][:, indexes].astype(np.float64)
    assert data["fps"].shape == (1,)
    assert data["fps"][0] == FPS
    return out


def as_mujoco(data: dict[str, Array], joints: list[str]) -> tuple[Array, Array]:
    """qpos and qvel of a file whose first body is the root."""
    order = [joints.index(name) for name in DEEP]
    root, turn = data["body_pos_w"][:, 0], data["body_quat_w"][:, 0]
    turning = Rotation.from_quat(turn, scalar_first=True).inv().apply(data["body_ang_vel_w"][:, 0])
    return (
        np.concatenate([root, turn, data["joint_pos"][:, order]], axis=1),
        np.concatenate([data["root_speed"], turning, data["joint_vel"][:, order]], axis=1),
    )


@pytest.mark.parametrize(("format", "joints"), [("beyondmimic", BROAD), ("mjlab", DEEP)])
def test_arrays_by_places_are_in_the_order_of_the_program(
    tmp_path: Path, motion: pz.Motion, format: str, joints: list[str]
) -> None:
    motion.save(tmp_path / "walk.npz", format=format)
    names = ["pelvis", *(BODY[joint] for joint in joints)]
    data = by_places(tmp_path / "walk.npz", joints, list(range(len(names))))
    times = np.arange(41) / FPS
    expected = motion.at(times)[:, [motion.model.index(name).start for name in joints]]
    np.testing.assert_allclose(data["joint_pos"], expected, atol=1e-6)
    np.testing.assert_allclose(data["joint_vel"], np.gradient(expected, 1.0 / FPS, axis=0), atol=1e-5)
    data["root_speed"] = np.gradient(motion.at(times)[:, :3], 1.0 / FPS, axis=0)
    if format == "mjlab":
        checked(data, *as_mujoco(data, joints), names, at_centres=False)
    written = loaded(tmp_path / "walk.npz")
    assert written["joint_names"].tolist() == joints
    assert written["body_names"].tolist() == names
    assert all(written[name].dtype == np.float32 for name in data if name != "root_speed")


def test_bodies_of_beyondmimic_move_with_their_centres_of_mass(tmp_path: Path, motion: pz.Motion) -> None:
    motion.save(tmp_path / "walk.npz", format="beyondmimic")
    names = ["pelvis", *(BODY[joint] for joint in BROAD)]
    data = by_places(tmp_path / "walk.npz", BROAD, list(range(6)))
    data["root_speed"] = np.gradient(motion.at(np.arange(41) / FPS)[:, :3], 1.0 / FPS, axis=0)
    qpos, qvel = as_mujoco(data, BROAD)
    expected = bodies_of(qpos, qvel, at_centres=True)
    for k, name in enumerate(names):
        body = mujoco.mj_name2id(MUJOCO, mujoco.mjtObj.mjOBJ_BODY, name)
        if name != "shin_r":
            np.testing.assert_allclose(data["body_lin_vel_w"][:, k], expected["lin_vel"][:, body], atol=1e-4)
    # The sole is part of the shin there: its centre of mass is that of both, 1 kg and 0.5 kg.
    shin, sole = (mujoco.mj_name2id(MUJOCO, mujoco.mjtObj.mjOBJ_BODY, name) for name in ("shin_r", "sole_r"))
    both = (expected["lin_vel"][:, shin] + 0.5 * expected["lin_vel"][:, sole]) / 1.5
    np.testing.assert_allclose(data["body_lin_vel_w"][:, names.index("shin_r")], both, atol=1e-4)


def test_holosoma_finds_all_by_name_behind_the_root(tmp_path: Path, motion: pz.Motion) -> None:
    bodies = ["pelvis", "thigh_r", "shin_r", "sole_r", "thigh_l", "shin_l", "torso"]
    motion.save(tmp_path / "walk.npz", format="holosoma", bodies=bodies)
    data = loaded(tmp_path / "walk.npz")
    assert data["joint_names"].tolist() == DEEP
    assert data["body_names"].tolist() == ["world", *bodies]
    assert data["joint_pos"][:, 7:].shape[1] == data["joint_vel"][:, 6:].shape[1] == len(DEEP)
    qpos, qvel = data["joint_pos"].astype(np.float64), data["joint_vel"].astype(np.float64)
    np.testing.assert_allclose(qpos, motion.at(np.arange(41) / FPS), atol=1e-6)
    arrays = {name: data[name].astype(np.float64) for name in data if name.startswith("body_") and "_w" in name}
    checked(arrays, qpos, qvel, ["world", *bodies], at_centres=True)
    assert data["fps"] == [50]


def test_asap_has_rotation_vectors_that_lead_to_the_bodies(tmp_path: Path, motion: pz.Motion) -> None:
    motion.save(tmp_path / "walk.pkl", format="asap", fps=30.0)
    held = pickle.loads((tmp_path / "walk.pkl").read_bytes())
    assert list(held) == ["walk"]
    data = held["walk"]
    names = ["pelvis", *(BODY[joint] for joint in DEEP)]
    rows, trans = data["pose_aa"].astype(np.float64), data["root_trans_offset"].astype(np.float64)
    assert rows.shape == (25, len(names) + 3, 3)
    assert data["fps"] == 30
    assert isinstance(data["fps"], int)
    # Its loader takes the angle of a joint to be the sum of its three numbers.
    np.testing.assert_allclose(rows.sum(axis=-1)[:, 1 : len(names)], data["dof"], atol=1e-6)
    np.testing.assert_allclose(
        Rotation.from_quat(data["root_rot"]).as_rotvec(), rows[:, 0], atol=1e-6
    )  # x y z w  # fmt: skip
    world: dict[str, Rotation] = {}
    places: dict[str, Array] = {}
    for k, name in enumerate(names):
        body = MUJOCO.body(name)
        turn = Rotation.from_rotvec(rows[:, k])
        if name == "pelvis":
            world[name], places[name] = turn, trans
            continue
        above = MUJOCO.body(int(body.parentid[0])).name
        places[name] = places[above] + world[above].apply(body.pos)
        world[name] = world[above] * Rotation.from_quat(body.quat, scalar_first=True) * turn
    q = motion.at(np.arange(25) / 30.0)
    expected = bodies_of(q, np.zeros((25, MUJOCO.nv)), at_centres=False)
    for name in names:
        np.testing.assert_allclose(places[name], expected["pos"][:, MUJOCO.body(name).id], atol=1e-5)
    assert read_pickle((tmp_path / "walk.pkl").read_bytes(), "walk.pkl")["walk"]["dof"].shape == (25, 5)


def test_a_robot_of_fewer_joints_is_asked_for(tmp_path: Path, motion: pz.Motion) -> None:
    motion.save(tmp_path / "walk.pkl", format="asap", joints=DEEP[:4])
    data = pickle.loads((tmp_path / "walk.pkl").read_bytes())["walk"]
    assert data["dof"].shape == (41, 4)
    assert data["pose_aa"].shape == (41, 5 + 3, 3)
    motion.save(tmp_path / "walk.npz", format="mjlab", joints=DEEP[::-1], bodies=["torso", "pelvis"])
    held = loaded(tmp_path / "walk.npz")
    assert held["joint_names"].tolist() == DEEP[::-1]
    assert held["body_pos_w"].shape == (41, 2, 3)


@pytest.mark.parametrize("format", ["beyondmimic", "mjlab", "holosoma", "asap"])
def test_what_cannot_be_written_is_refused_and_leaves_nothing(tmp_path: Path, motion: pz.Motion, format: str) -> None:
    file = tmp_path / f"walk.{'pkl' if format == 'asap' else 'npz'}"
    file.write_text("before")
    with refused("wrong-format", "must end in", format):
        motion.save(tmp_path / "walk.txt", format=format)
    with refused("not-positive", "fps"):
        motion.save(file, format=format, fps=0.0)
    with refused("too-many", "frames"):
        motion.save(file, format=format, fps=1e9)
    with refused("unknown-name", "'torsoo'", "did you mean 'torso'"):
        motion.save(file, format=format, bodies=["pelvis", "torsoo"])
    with refused("unknown-name", "'hip'"):
        motion.save(file, format=format, joints=["hip"])
    with refused("out-of-range", "'root'"):
        motion.save(file, format=format, joints=["root"])
    with refused("not-a-sequence", "put it in a list"):
        motion.save(file, format=format, joints="hip_r")
    with refused("duplicate", "bodies"):
        motion.save(file, format=format, bodies=["torso", "torso"])
    with refused("empty", "joints"):
        motion.save(file, format=format, joints=[])
    with refused("not-supported", "load it with base='floating'"):
        arm = pz.load("panda")
        pz.Motion(arm, [0.0], [arm.home]).save(file, format=format)
    assert file.read_text() == "before"
    assert {path.name for path in tmp_path.iterdir()} == {file.name}


def test_joints_that_a_format_cannot_say_are_refused(tmp_path: Path) -> None:
    b = pz.ModelBuilder("body")
    b.joint("root", "floating", parent="world", child="pelvis")
    b.joint("neck", "spherical", parent="pelvis", child="head")
    body = b.build()
    with refused("not-supported", "'neck' of body has more than one number"):
        pz.Motion(body, [0.0], [body.neutral]).save(tmp_path / "a.npz", format="mjlab")
    b = pz.ModelBuilder("body")
    b.joint("root", "floating", parent="world", child="pelvis")
    b.joint("neck", "revolute", parent="pelvis", child="head", axis=[0, 0, -1], limits=(-1.0, 1.0))
    body = b.build()
    still = pz.Motion(body, [0.0], [body.neutral])
    with refused("not-supported", "'neck' is revolute about [0.0, 0.0, -1.0]"):
        still.save(tmp_path / "a.pkl", format="asap")
    with pytest.warns(pz.ModelWarning, match="body has no masses"):
        still.save(tmp_path / "a.npz", format="beyondmimic")
    data = loaded(tmp_path / "a.npz")
    assert data["joint_vel"].shape == (1, 1)
    assert not data["body_lin_vel_w"].any()


def test_the_command_line_writes_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from walker import walk

    monkeypatch.chdir(tmp_path)
    walk(30.0, 0.2).save("walk.bvh")
    (tmp_path / "robot.xml").write_text(ROBOT)
    assert main(["retarget", "walk.bvh", "robot.xml", "--base", "fixed", "-o", "walk.npz", "--format", "mjlab"]) == 0
    assert loaded("walk.npz")["joint_names"].tolist() == DEEP
    assert main(["retarget", "walk.bvh", "robot.xml", "--format", "mjlab"]) == 1
    assert "--format says how --out is written: add -o" in " ".join(capsys.readouterr().err.split())
    assert main(["retarget", "walk.bvh", "robot.xml", "-o", "walk.npz", "--force", "--format", "asap"]) == 1
    assert "--out must end in .pkl for --format asap" in " ".join(capsys.readouterr().err.split())
    assert main(["retarget", "walk.bvh", "robot.xml", "-o", "walk.pkl"]) == 1
    assert "a .pkl needs --format" in " ".join(capsys.readouterr().err.split())

"""dm_control's face, on a stand-in for its physics: sites, named joints, limits, what is written back."""

from inspect import signature
from types import SimpleNamespace
from typing import Any

import mujoco
import numpy as np
import pytest

import poise as pz
from poise_compat.dm_control import qpos_from_site_pose

XML = """
<mujoco><compiler angle="radian"/><worldbody>
  <body name="slab" pos="0 0 0.1"><joint name="lift" type="slide" axis="0 0 1" range="-0.2 0.2" limited="true"/>
  <geom size="0.01"/>
  <body><joint name="a" axis="0 0 1" range="-2 2" limited="true"/><geom size="0.01"/>
  <body pos="0 0 0.2"><joint name="b" axis="0 1 0" range="-1.5 1.5" limited="true"/><geom size="0.01"/>
  <body pos="0 0 0.3"><joint name="c" axis="0 1 0" range="-2 2" limited="true" ref="0.2"/><geom size="0.01"/>
  <body pos="0 0 0.2"><joint name="d" axis="1 0 0" range="-2 2" limited="true"/><geom size="0.01"/>
  <body pos="0 0 0.1"><joint name="e" axis="0 0 1" range="-3 3" limited="true"/><geom size="0.01"/>
  <site name="grip" pos="0.02 0 0.05" euler="0.1 0.2 0.3"/>
  <body pos="0 0 0.05"><joint name="finger" type="slide" axis="1 0 0" range="0 0.05" limited="true"/><geom size="0.01"/>
  </body></body></body></body></body></body></body>
  <body name="ball" pos="1 0 0"><freejoint name="free"/><geom size="0.02"/></body>
</worldbody></mujoco>"""
ARM = ["lift", "a", "b", "c", "d", "e"]


def physics() -> Any:
    model = mujoco.MjModel.from_xml_string(XML)
    data = mujoco.MjData(model)
    return SimpleNamespace(model=SimpleNamespace(ptr=model), data=SimpleNamespace(ptr=data, qpos=data.qpos))


def places(count: int) -> np.ndarray:
    """qpos of the arm within its limits, the finger at 0.01, the ball where it begins."""
    model = physics().model.ptr
    drawn = np.tile(model.qpos0, (count, 1))
    rng = np.random.default_rng(0)
    for k, name in enumerate(ARM):
        drawn[:, k] = rng.uniform(*model.joint(name).range, count)
    drawn[:, 6] = 0.01
    return drawn


def site(qpos: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    at = physics()
    at.data.qpos[:] = qpos
    mujoco.mj_fwdPosition(at.model.ptr, at.data.ptr)
    quat = np.empty(4)
    mujoco.mju_mat2Quat(quat, at.data.ptr.site("grip").xmat)
    return at.data.ptr.site("grip").xpos.copy(), quat


def test_the_signature_is_as_published() -> None:
    given = signature(qpos_from_site_pose).parameters
    assert list(given) == [
        "physics", "site_name", "target_pos", "target_quat", "joint_names", "tol", "rot_weight",
        "regularization_threshold", "regularization_strength", "max_update_norm", "progress_thresh", "max_steps",
        "inplace",
    ]  # fmt: skip
    assert [p.default for p in given.values()][2:] == [
        None, None, None, 1e-14, 1.0, 0.1, 3e-2, 2.0, 20.0, 100, False,
    ]  # fmt: skip


@pytest.mark.parametrize("asked", ["place", "turn", "both"])
def test_the_site_comes_there_within_the_limits(asked: str) -> None:
    ranges = physics().model.ptr.jnt_range[:7]
    for qpos in places(8):
        at = physics()
        before = at.data.qpos.copy()
        place, turn = site(qpos)
        found = qpos_from_site_pose(
            at, "grip", None if asked == "turn" else place, None if asked == "place" else 2.0 * turn, tol=1e-13
        )
        assert found.success
        assert found.err_norm < 1e-13
        assert np.array_equal(at.data.qpos, before)
        there = site(found.qpos)
        assert asked == "turn" or np.abs(there[0] - place).max() < 1e-12
        assert asked == "place" or abs(abs(there[1] @ turn) - 1.0) < 1e-12
        assert (found.qpos[:7] >= ranges[:, 0]).all()
        assert (found.qpos[:7] <= ranges[:, 1]).all()


@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_only_named_joints_move(kind: Any) -> None:
    at = physics()
    at.data.qpos[0], at.data.qpos[6] = 0.7, -0.1  # outside their ranges, and held there
    goal = at.data.qpos.copy()
    goal[1:4] = [0.4, -0.5, 0.8]
    found = qpos_from_site_pose(at, "grip", site(goal)[0], joint_names=kind(["a", "b", "c"]), tol=1e-12, inplace=True)
    assert found.success
    assert np.array_equal(at.data.qpos, found.qpos)
    assert np.array_equal(np.delete(found.qpos, [1, 2, 3]), np.delete(goal, [1, 2, 3]))
    assert np.abs(at.data.ptr.site("grip").xpos - site(goal)[0]).max() < 1e-11


def test_out_of_reach_is_the_nearest_and_no_success() -> None:
    found = qpos_from_site_pose(physics(), "grip", [5.0, 0.0, 0.0])
    assert not found.success
    assert found.err_norm > 3.0


def test_a_model_that_was_changed_is_read_again() -> None:
    at = physics()
    place = site(places(1)[0])[0]
    first = qpos_from_site_pose(at, "grip", place)
    at.model.ptr.body_pos[1, 2] += 0.05
    second = qpos_from_site_pose(at, "grip", place)
    assert second.success
    assert not np.allclose(first.qpos, second.qpos, atol=1e-4)


def test_bad_input_is_told_in_a_sentence() -> None:
    with pytest.raises(ValueError, match="neither a target_pos nor a target_quat"):
        qpos_from_site_pose(physics(), "grip")
    with pytest.raises(ValueError, match="joint_names must be a list"):
        qpos_from_site_pose(physics(), "grip", [0, 0, 0.5], joint_names={"a": 1})  # type: ignore[arg-type]
    with pytest.raises(pz.FrameNotFound):
        qpos_from_site_pose(physics(), "gripp", [0, 0, 0.5])
    with pytest.raises(pz.JointNotFound):
        qpos_from_site_pose(physics(), "grip", [0, 0, 0.5], joint_names=["z"])
    with pytest.raises(pz.ShapeError, match="target_pos must have shape"):
        qpos_from_site_pose(physics(), "grip", [0, 0.5])


def test_beside_the_original() -> None:
    """Targets that are reached within the limits: as near as the original comes, which leaves them."""
    suite = pytest.importorskip("dm_control.mujoco")
    theirs = pytest.importorskip("dm_control.utils.inverse_kinematics")
    there = suite.Physics.from_xml_string(XML)
    reached = 0
    for qpos in places(10):
        place, turn = site(qpos)
        here = qpos_from_site_pose(there, "grip", place, turn, ARM)
        assert here.success
        original = theirs.qpos_from_site_pose(there, "grip", place, turn, ARM)
        reached += original.success
    assert reached <= 10

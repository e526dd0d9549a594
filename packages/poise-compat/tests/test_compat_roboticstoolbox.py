"""The face of the Robotics Toolbox: residuals, masks, limits; its transforms by their attributes."""

import warnings
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
import pytest

import poise as pz
from poise_compat.roboticstoolbox import ik_LM


@dataclass(eq=False)
class Transform:
    """An elementary transform as the toolbox has it: a constant, or a joint about or along an axis."""

    kind: str
    constant: np.ndarray
    jindex: int | None = None
    isflip: bool = False
    qlim: np.ndarray | None = None

    @property
    def isjoint(self) -> bool:
        return self.jindex is not None

    def A(self, q: float) -> np.ndarray:
        return self.constant


def arm() -> tuple[list[Transform], pz.Model]:
    """Six joints, one flipped and one that slides, in an order of their own; and the same built by hand."""
    rows = [("Rz", 1), ("Ry", 0), ("ty", 2), ("Rx", 4), ("Ry", 3), ("Rz", 5)]
    ets, builder, parent = [], pz.ModelBuilder("arm"), "base"
    for i, (kind, index) in enumerate(rows):
        step = pz.SE3.from_xyz_rpy([0.1, 0.05 * i, 0.2], [0.1 * i, 0.2, -0.1])
        flip, limit = i == 1, (0.3 if kind[0] == "t" else 2.5)
        ets.append(Transform("SE3", step.matrix()))
        ets.append(Transform(kind, np.eye(4), index, flip, np.array([-limit, limit])))
        axis = np.eye(3)["xyz".index(kind[1])] * (-1.0 if flip else 1.0)
        builder.joint(
            f"j{index}", "prismatic" if kind[0] == "t" else "revolute", parent=parent, child=f"l{i}", origin=step,
            axis=axis, limits=(-limit, limit),
        )  # fmt: skip
        parent = f"l{i}"
    ets.append(Transform("SE3", pz.SE3.from_parts([0.0, 0.0, 0.1]).matrix()))
    builder.frame("end", link=parent, origin=pz.SE3.from_parts([0.0, 0.0, 0.1]))
    return ets, builder.build()


ETS, ARM = arm()
ORDER = [int(name[1:]) for name in ARM.joint_names]


def theirs_of(q: np.ndarray) -> np.ndarray:
    out = np.empty(6)
    out[ORDER] = q
    return out


def test_the_signature_is_as_published() -> None:
    given = signature(ik_LM).parameters
    assert list(given)[1:] == ["Tep", "q0", "ilimit", "slimit", "tol", "mask", "joint_limits", "k", "method"]
    defaults = [30, 100, 1e-6, None, True, 1.0, "chan"]
    assert [given[name].default for name in list(given)[3:]] == defaults


def test_the_end_comes_to_its_pose_within_the_limits() -> None:
    for q, q0 in ARM.sample(40, seed=1).reshape(20, 2, 6):
        pose = ARM.pose("end", q)
        found = ik_LM(ETS, pose.matrix(), q0=theirs_of(q0))
        assert found.success
        assert found
        assert found.residual < 1e-6
        assert len(found) == 1
        assert np.array_equal(found[0], found.q)
        assert next(iter(found)) is not None
        assert found.astuple()[1] is True
        mine = found.q[ORDER]
        assert ARM.within_limits(mine)
        assert np.abs(ARM.pose("end", mine).matrix() - pose.matrix()).max() < 1e-5


def test_a_mask_leaves_directions_free() -> None:
    q = ARM.sample(seed=3)
    pose = ARM.pose("end", q).matrix()
    turned = pose @ pz.SE3.from_rotvec([0, 0, 0], [0.3, 1.0, 0.2]).matrix()
    found = ik_LM(ETS, turned, q0=theirs_of(q), mask=[1, 1, 1, 0, 0, 0])
    assert found.success
    assert np.allclose(found.q, theirs_of(q), atol=1e-9)


def test_the_residual_is_half_the_weighted_square() -> None:
    far = np.eye(4)
    far[:3, 3] = [4.0, 0.0, 0.0]
    found = ik_LM(ETS, far, slimit=2, mask=[2, 1, 1, 0, 0, 0])
    left = far[:3, 3] - ARM.pose("end", found.q[ORDER]).xyz
    assert not found.success
    assert found.residual == pytest.approx(0.5 * (2 * left[0] ** 2 + left[1] ** 2 + left[2] ** 2))
    assert "reach" in found.reason


def test_what_changes_in_the_transforms_is_seen() -> None:
    ets, _ = arm()
    pose = ARM.pose("end", ARM.sample(seed=4)).matrix()
    assert ik_LM(ets, pose).success
    ets[-1].constant = pz.SE3.from_parts([0.0, 0.0, 0.4]).matrix()
    assert not np.allclose(ik_LM(ets, pose).q, ik_LM(ETS, pose).q, atol=1e-3)


def test_without_limits_they_are_left() -> None:
    wide = ARM.with_limits(dict.fromkeys(ARM.joint_names, (-3.0, 3.0)))
    q = np.full(6, 2.9)
    found = ik_LM(ETS, wide.pose("end", q).matrix(), q0=theirs_of(q), joint_limits=False)
    assert found.success
    assert np.allclose(found.q, theirs_of(q), atol=1e-6)


def test_bad_input_is_told_in_a_sentence() -> None:
    with pytest.raises(pz.ShapeError, match="Tep must have shape"):
        ik_LM(ETS, np.eye(3))
    with pytest.raises(ValueError, match="slimit is 0"):
        ik_LM(ETS, np.eye(4), slimit=0)
    with pytest.raises(pz.ShapeError, match="q0 must have shape"):
        ik_LM(ETS, np.eye(4), q0=np.zeros(3))


def test_beside_the_original() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rtb: Any = pytest.importorskip("roboticstoolbox")
        robot = rtb.models.Panda()
        low, high = robot.ets().qlim
        rng = np.random.default_rng(0)
        for q, q0 in rng.uniform(low, high, (10, 2, 7)):
            pose = robot.ets().fkine(q)
            there, here = robot.ets().ik_LM(pose, q0=q0), ik_LM(robot, pose, q0=q0)
            assert here.success
            assert (here.q >= low).all()
            assert (here.q <= high).all()
            assert np.abs(robot.ets().fkine(here.q).A - pose.A).max() < 1e-5
            assert here.residual <= max(there.residual, 1e-11)

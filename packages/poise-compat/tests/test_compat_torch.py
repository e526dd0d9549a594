"""Faces that take tensors: pytorch_kinematics' `PseudoInverseIK` and Isaac Lab's `DifferentialIKController`."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import poise as pz

torch: Any = pytest.importorskip("torch")
from poise_compat.isaaclab import DifferentialIKController, DifferentialIKControllerCfg  # noqa: E402
from poise_compat.pytorch_kinematics import PseudoInverseIK  # noqa: E402

AXES = ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.6, 0.8), (1.0, 0.0, 0.0))
LIMITS = torch.tensor([[-2.0, 2.0]] * 6)
URDF = (
    '<robot name="arm"><link name="l0"/>'
    + "".join(
        f'<link name="l{i + 1}"/><joint name="j{i}" type="revolute"><parent link="l{i}"/><child link="l{i + 1}"/>'
        f'<origin xyz="0.1 0 0.15" rpy="0.1 0 0.2"/><axis xyz="{" ".join(map(str, axis))}"/>'
        '<limit lower="-2" upper="2" effort="1" velocity="2"/></joint>'
        for i, axis in enumerate(AXES)
    )
    + '<link name="tip"/><joint name="end" type="fixed"><parent link="l6"/><child link="tip"/>'
    + '<origin xyz=".1 0 0"/></joint>'
)
URDF += "</robot>"


class Poses:
    """What is read of a `Transform3d`."""

    def __init__(self, matrices: Any) -> None:
        self._matrices = torch.as_tensor(matrices, dtype=torch.float32).reshape(-1, 4, 4)

    def get_matrix(self) -> Any:
        return self._matrices


class Chain:
    """What is read of a serial chain, of the arm above."""

    dtype, device, branches = torch.float32, "cpu", ("next",)

    def get_frame_names(self, exclude_fixed: bool = True) -> list[str]:
        return ["l0", *(f"l{i + 1}" for i in range(6)), "tip"]

    def find_frame(self, name: str) -> Any:
        link, fixed = SimpleNamespace(offset=None), {"joint_type": "fixed", "limits": None, "axis": torch.ones(3)}
        if name in ("l0", "tip"):
            offset = None if name == "l0" else Poses(pz.SE3.from_parts([0.1, 0.0, 0.0]).matrix())
            return SimpleNamespace(link=link, joint=SimpleNamespace(name="end", offset=offset, **fixed), children=[])
        i = int(name[1:]) - 1
        offset = Poses(pz.SE3.from_xyz_rpy([0.1, 0.0, 0.15], [0.1, 0.0, 0.2]).matrix())
        joint = {"name": f"j{i}", "joint_type": "revolute", "axis": torch.tensor(AXES[i]), "limits": (-2.0, 2.0)}
        return SimpleNamespace(link=link, joint=SimpleNamespace(offset=offset, **joint), children=self.branches)


@pytest.fixture(scope="module")
def arm() -> Any:
    return pz.load(URDF)


def test_every_retry_arrives_within_the_limits(arm: Any) -> None:
    goal = Poses(arm.pose("tip", arm.sample(20, seed=0)).matrix())
    torch.manual_seed(0)
    ik = PseudoInverseIK(Chain(), num_retries=4, joint_limits=LIMITS, max_iterations=30, lr=0.2)
    found = ik.solve(goal)
    assert (found.solutions.shape, found.solutions.dtype) == ((20, 4, 6), torch.float32)
    assert (found.converged & ~found.remaining[:, None]).all()
    assert (found.solutions.abs() <= 2.0 + 1e-6).all()
    there = arm.pose("tip", found.solutions.double().numpy()).xyz
    assert np.linalg.norm(there - goal.get_matrix()[:, None, :3, 3].numpy(), axis=-1).max() < 1e-5
    assert torch.equal(ik.solve(goal).solutions, found.solutions)


def test_what_is_out_of_reach_is_no_answer(arm: Any) -> None:
    far = Poses(pz.SE3.from_parts([3.0, 0.0, 0.0]).matrix())
    found = PseudoInverseIK(Chain(), retry_configs=torch.zeros(2, 6)).solve(far)
    assert (found.remaining & ~found.converged_any).all()
    assert (found.err_pos > 1.0).all()


def test_starts_that_are_none_are_told_in_a_sentence() -> None:
    with pytest.raises(ValueError, match="there is no start: give retry_configs"):
        PseudoInverseIK(Chain())
    with pytest.raises(ValueError, match="a uniform draw needs joint_limits"):
        PseudoInverseIK(Chain(), num_retries=2)
    with pytest.raises(ValueError, match=r"retry_configs has the shape \(2, 5\)"):
        PseudoInverseIK(Chain(), retry_configs=torch.zeros(2, 5))


def test_a_pose_that_is_none_is_missed_and_the_others_are_met(arm: Any) -> None:
    matrices = torch.tensor(arm.pose("tip", arm.sample(3, seed=0)).matrix())
    matrices[1, 0, 3] = torch.nan
    ik = PseudoInverseIK(Chain(), retry_configs=torch.zeros(2, 6))
    found = ik.solve(Poses(matrices))
    assert found.converged_any.tolist() == [True, False, True]
    assert found.solutions.isnan().any(dim=2).any(dim=1).tolist() == [False, True, False]
    assert ik.solve(Poses(matrices[1:2])).remaining.all()


def test_a_chain_that_branches_is_refused() -> None:
    chain = Chain()
    chain.branches = ("next", "finger")
    with pytest.raises(ValueError, match="the chain branches at 'l1': name its end"):
        PseudoInverseIK(chain, num_retries=2, joint_limits=LIMITS)


def test_it_misses_no_more_than_the_original() -> None:
    pk = pytest.importorskip("pytorch_kinematics")
    chain = pk.build_serial_chain_from_urdf(URDF.encode(), "tip")
    torch.manual_seed(0)
    goal = chain.forward_kinematics(4.0 * torch.rand(5, 6) - 2.0)
    shares = []
    for kind in (pk.PseudoInverseIK, PseudoInverseIK):
        torch.manual_seed(1)
        found = kind(chain, num_retries=2, joint_limits=LIMITS, max_iterations=10, lr=0.2).solve(goal)
        shares.append(float(found.converged.float().mean()))
    assert shares[1] == 1.0 >= shares[0]


def controller(arm: Any, method: str, **settings: Any) -> tuple[Any, Any, Any, Any]:
    """A controller of three arms, where they stand, and a step of it."""
    cfg = DifferentialIKControllerCfg(command_type="pose", ik_method=method, **settings)
    control, q = DifferentialIKController(cfg, num_envs=3, device="cpu"), torch.tensor(arm.sample(3, seed=1))

    def look(q: Any) -> tuple[Any, Any, Any]:
        at, rows = arm.pose("tip", q.double().numpy()), arm.jacobian("tip", q.double().numpy())
        return torch.tensor(at.xyz), torch.tensor(at.rotation.xyzw), torch.tensor(rows)

    return control, q, look, lambda q: control.compute(*look(q), q)


@pytest.mark.parametrize("method", ["pinv", "svd", "dls", "adaptive_dls"])
def test_steps_lead_to_the_pose(arm: Any, method: str) -> None:
    control, q, look, step = controller(arm, method)
    place, turn, _ = look(q + 0.1)
    control.set_command(torch.cat([place, turn], dim=1))
    for _ in range(60):
        q = step(q)
    there, turned, _ = look(q)
    assert (there - place).norm(dim=1).max() < 1e-4
    assert ((turned * turn).sum(dim=1).abs() > 1.0 - 1e-6).all()


def test_a_relative_command_and_a_transpose(arm: Any) -> None:
    control, q, look, step = controller(arm, "trans", use_relative_mode=True, ik_params={"k_val": 0.1})
    place, turn, _ = look(q)
    control.set_command(torch.tensor([[0.01, 0.0, 0.02, 0.0, 0.0, 0.0]] * 3), place, turn)
    assert torch.allclose(control.ee_pos_des.double(), place + torch.tensor([0.01, 0.0, 0.02]), atol=1e-6)
    before = (place - control.ee_pos_des).norm()
    assert (look(step(q))[0] - control.ee_pos_des).norm() < before


def test_joints_stay_within_limits_that_it_was_told(arm: Any) -> None:
    control, q, look, step = controller(arm, "dls")
    control.set_joint_pos_limits(torch.full((6,), -0.8), torch.full((6,), 0.8))
    place, turn, _ = look(torch.full((3, 6), 1.5))
    control.set_command(torch.cat([place, turn], dim=1))
    q = torch.zeros(3, 6, dtype=torch.float64)
    for _ in range(30):
        q = step(q)
        assert (q.abs() <= 0.8 + 1e-6).all()
    assert q.abs().max() > 0.8 - 1e-6


def test_bad_input_is_told_in_a_sentence(arm: Any) -> None:
    words: dict[str, Any] = {"command_type": "pose", "ik_method": "newton"}
    with pytest.raises(ValueError, match="ik_method"):
        DifferentialIKControllerCfg(**words)
    control, q, look, _ = controller(arm, "dls")
    with pytest.raises(ValueError, match=r"command has the shape \(3, 6\); it must be \(3, 7\)"):
        control.set_command(torch.zeros(3, 6))
    place, turn, rows = look(q)
    with pytest.raises(ValueError, match="jacobian has the shape"):
        control.compute(place, turn, rows[:, :3], q)
    for params, sentence in (
        ({"lamda_val": 0.1}, "a name in ik_params is 'lamda_val'; it must be one of 'lambda_val'"),
        ({"lambda_val": np.nan}, "lambda_val.* is nan; it must be a finite number, 0 or more"),
        ({"lambda_val": -1.0}, "lambda_val.* is -1.0; it must be a finite number, 0 or more"),
    ):
        with pytest.raises(ValueError, match=sentence):
            DifferentialIKControllerCfg(command_type="pose", ik_method="dls", ik_params=params)
    with pytest.raises(ValueError, match=r"joint_limit_avoidance_gain is 0\.5; it must be 0"):
        DifferentialIKControllerCfg(command_type="pose", ik_method="dls", joint_limit_avoidance_gain=0.5)


@pytest.mark.parametrize("method", ["dls", "adaptive_dls", "svd", "trans"])
def test_an_arm_without_numbers_stays_and_the_others_go_on(arm: Any, method: str) -> None:
    control, q, look, step = controller(arm, method)
    place, turn, rows = look(q + 0.1)
    control.set_command(torch.cat([place, turn], dim=1))
    expected, (place, turn, rows) = step(q), look(q)
    place[0, 1], turn[1] = torch.nan, 0.0
    found = control.compute(place, turn, rows, q)
    assert torch.equal(found[:2].float(), q[:2].float())
    assert torch.equal(found[2], expected[2])


def test_what_is_written_to_where_it_shall_go_counts(arm: Any) -> None:
    control, q, look, step = controller(arm, "dls")
    place, turn, _ = look(q + 0.1)
    control.ee_pos_des[:], control.ee_quat_des[:] = place, turn
    written = step(q)
    control.set_command(torch.cat([place, turn], dim=1))
    assert torch.equal(step(q), written)
    assert not torch.equal(written, q)

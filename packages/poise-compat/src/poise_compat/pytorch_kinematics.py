"""pytorch_kinematics' `PseudoInverseIK`, for its serial chains.

    from poise_compat.pytorch_kinematics import PseudoInverseIK
    solution = PseudoInverseIK(chain, num_retries=10, joint_limits=limits).solve(goal)

The original iterates pseudoinverses in the precision of the chain; here each retry is a search in double precision.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from poise import SE3, PoseTask, Solver
from poise.extending import optional, positive
from poise_compat.pytorch_chain import END, model_of, numbers_of, rows_of


@final
@dataclass(eq=False)
class IKSolution:
    """What was found for M problems by R retries each, as tensors."""

    solutions: Any
    """(M, R, n) positions of the joints."""
    err_pos: Any
    """(M, R) what is left [m]."""
    err_rot: Any
    """(M, R) [rad]."""
    converged_pos: Any
    """(M, R) whether that is less than the tolerance."""
    converged_rot: Any
    iterations: int
    """Iterations of the longest search."""
    pos_tolerance: float
    rot_tolerance: float

    def __post_init__(self) -> None:
        self.num_problems, self.num_retries, self.dof = self.solutions.shape
        self.converged = self.converged_pos & self.converged_rot
        each = (self.converged_pos, self.converged_rot, self.converged)
        self.converged_pos_any, self.converged_rot_any, self.converged_any = (x.any(dim=1) for x in each)
        self.remaining = ~self.converged_any


@final
class PseudoInverseIK:
    """Positions of the joints of a serial chain at which its end is at poses; what steers the original is ignored.

    The limits of the chain are kept unless `enforce_joint_limits` is False.  Starts are `retry_configs` (R, n),
    (M, R, n) or (n,), or `num_retries` that are drawn.  Raises ValueError without either, or without the limits that
    a uniform draw needs.
    """

    def __init__(
        self, serial_chain: Any, pos_tolerance: float = 1e-3, rot_tolerance: float = 1e-2, retry_configs: Any = None,
        num_retries: int | None = None, joint_limits: Any = None,
        config_sampling_method: str | Callable[[int], Any] = "uniform", max_iterations: int = 50, lr: float = 1.0,
        line_search: Any = None, regularlization: float = 1e-9, lm_damping: float = 0.1, position_weight: float = 1.0,
        orientation_weight: float = 1.0, debug: bool = False, early_stopping_any_converged: bool = False,
        early_stopping_no_improvement: Any = "any", early_stopping_no_improvement_patience: int = 2,
        enforce_joint_limits: bool = True, num_limit_refinement_iterations: int = 10, clamp_to_limits: bool = False,
        use_compile: bool = False,
    ) -> None:  # fmt: skip
        positive("pos_tolerance", pos_tolerance)
        positive("rot_tolerance", rot_tolerance)
        self.chain, self.dtype, self.device = serial_chain, serial_chain.dtype, serial_chain.device
        self.pos_tolerance, self.rot_tolerance, self.joint_limits = pos_tolerance, rot_tolerance, joint_limits
        self.config_sampling_method = config_sampling_method
        self._model = model_of(rows_of(serial_chain))
        self._task = PoseTask(END, position_weight=position_weight, rotation_weight=orientation_weight)
        self._solver = Solver(self._model, self._task, limits=enforce_joint_limits or clamp_to_limits)
        self.dof = self._model.nq
        if retry_configs is None and num_retries is None:
            raise ValueError("there is no start: give retry_configs, of shape (R, n), or num_retries")
        self.initial_config = self.sample_configs(num_retries or 1) if retry_configs is None else retry_configs
        if self.initial_config.shape[-1] != self.dof:
            raise ValueError(f"retry_configs has the shape {tuple(retry_configs.shape)}; it must be (R, {self.dof})")
        self.num_retries = self.initial_config.shape[-2] if self.initial_config.ndim > 1 else 1

    def sample_configs(self, num_configs: int) -> Any:
        """(num_configs, n) drawn by the random numbers of torch; raises ValueError."""
        torch = optional("poise_compat.pytorch_kinematics", "torch", "torch", "torch")
        if callable(self.config_sampling_method):
            return self.config_sampling_method(num_configs)
        kind = {"dtype": self.dtype, "device": self.device}
        if self.config_sampling_method == "gaussian":
            return torch.randn(num_configs, self.dof, **kind)
        if self.config_sampling_method != "uniform":
            raise ValueError(f"config_sampling_method is {self.config_sampling_method!r}; 'uniform' and 'gaussian' are")
        if self.joint_limits is None:
            raise ValueError("a uniform draw needs joint_limits, of shape (n, 2): give them, or retry_configs")
        low, high = torch.as_tensor(self.joint_limits, **kind).T
        return torch.rand(num_configs, self.dof, **kind) * (high - low) + low

    def solve(self, target_poses: Any) -> IKSolution:
        """For poses (M, 4, 4) of a `Transform3d` in the frame of the chain's root; to NaN the answer is NaN."""
        torch = optional("poise_compat.pytorch_kinematics", "torch", "torch", "torch")
        matrices, retries, n = numbers_of(target_poses.get_matrix()), self.num_retries, self.dof
        some = np.asarray(np.isfinite(matrices).all(axis=(1, 2)))
        targets = SE3(np.repeat(SE3.from_matrix(matrices[some], orthonormalise=True).array, retries, axis=0))
        starts = np.broadcast_to(numbers_of(self.initial_config), (len(some), retries, n))[some].reshape(-1, n)
        found = self._solver.batch(targets, starts, best_effort=False)
        kind = {"dtype": self.dtype, "device": self.device}
        left = self._task.left(targets.array, self._model.pose(END, numbers_of(torch.as_tensor(found.q, **kind))))
        answers = np.full((len(some), retries, n + 2), np.nan)
        each = np.column_stack([found.q, *(np.linalg.norm(x, axis=-1) for x in left)])
        answers[some] = each.reshape(-1, retries, n + 2)
        *_, err_pos, err_rot = torch.as_tensor(answers, **kind).unbind(dim=2)
        return IKSolution(
            torch.as_tensor(answers[..., :n], **kind), err_pos, err_rot, err_pos < self.pos_tolerance,
            err_rot < self.rot_tolerance, int(found.iterations.max(initial=0)), self.pos_tolerance, self.rot_tolerance,
        )  # fmt: skip


PseudoInverseIKWithSVD = PseudoInverseIK

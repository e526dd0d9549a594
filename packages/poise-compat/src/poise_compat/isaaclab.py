"""Isaac Lab's `DifferentialIKController` and its `DifferentialIKControllerCfg`, for tensors on the CPU.

The original steps beyond limits that it was told.  Here a step that would is the best of those that do not.
"""

from typing import Any, final

import numpy as np

from poise.extending import Array, least_squares, optional
from poise.quaternions import conjugate, quaternion_exp, quaternion_log, quaternion_product
from poise_compat.isaaclab_arrays import numbers, wxyz
from poise_compat.isaaclab_cfg import DifferentialIKControllerCfg as DifferentialIKControllerCfg


@final
class DifferentialIKController:
    """One step of N arms towards the poses of their ends; quaternions are x, y, z, w."""

    def __init__(self, cfg: Any, num_envs: int, device: str = "cpu") -> None:
        self._torch = optional("poise_compat.isaaclab", "torch", "torch", "torch")
        self.cfg, self.num_envs, self._device = cfg, num_envs, device
        self.ee_pos_des = self._tensor(np.zeros((num_envs, 3)))
        """(N, 3) where to [m]."""
        self.ee_quat_des = self._tensor(np.tile([0.0, 0.0, 0.0, 1.0], (num_envs, 1)))
        """(N, 4) turned how."""
        self._limits: tuple[Array, Array] | None = None

    @property
    def action_dim(self) -> int:
        """Numbers of a command: 3 of a position, 6 of a change of pose, 7 of a pose."""
        return 3 if self.cfg.command_type == "position" else 6 if self.cfg.use_relative_mode else 7

    def reset(self, env_ids: Any = None) -> None:
        """Nothing is kept of a step."""

    def set_command(self, command: Any, ee_pos: Any = None, ee_quat: Any = None) -> None:
        """(N, `action_dim`) of where the ends shall be, or of how far from `ee_pos` (N, 3) and `ee_quat` (N, 4).

        A quaternion that is none is that of `ee_quat`, or no turn.  Raises ValueError where a place or a turn is needed
        and left out.
        """
        given = numbers("command", command, self.num_envs, self.action_dim)
        relative, position = self.cfg.use_relative_mode, self.cfg.command_type == "position"
        if (ee_quat is None and (relative or position)) or (ee_pos is None and relative):
            raise ValueError(f"ee_pos and ee_quat: {self.cfg.command_type} commands start from them; give both")
        turn = np.array([1.0, 0.0, 0.0, 0.0]) if ee_quat is None else wxyz("ee_quat", ee_quat, self.num_envs)
        place = numbers("ee_pos", ee_pos, self.num_envs, 3) if relative else 0.0
        self.ee_pos_des[:] = self._tensor(place + given[:, :3])
        if not position:
            if relative:
                turn = quaternion_product(quaternion_exp(given[:, 3:]), turn)
            else:
                size = np.linalg.norm(given[:, 3:], axis=1, keepdims=True)
                good = np.isfinite(size) & (size > 0.0)
                turn = np.where(good, given[:, [6, 3, 4, 5]] / np.where(good, size, 1.0), turn)
        self.ee_quat_des[:] = self._tensor(np.broadcast_to(turn, (self.num_envs, 4))[:, [1, 2, 3, 0]])

    def set_joint_pos_limits(self, lower: Any, upper: Any) -> None:
        """(n,) each [rad or m]; from then on no answer is beyond them."""
        low, high = (np.asarray(x.detach().cpu().numpy(), dtype=np.float64) for x in (lower, upper))
        if low.ndim != 1 or low.shape != high.shape or not (low <= high).all():
            raise ValueError(
                f"lower and upper have the shapes {low.shape} and {high.shape}; they must be (n,), in order"
            )
        self._limits = low, high

    def compute(self, ee_pos: Any, ee_quat: Any, jacobian: Any, joint_pos: Any, out: Any = None) -> Any:
        """(N, n) positions of the joints, from a place (N, 3), a turn (N, 4), a Jacobian (N, 6, n) and positions.

        An arm of which a number is none, or a quaternion 0, stays where it is.
        """
        count = self.num_envs
        place, turn = numbers("ee_pos", ee_pos, count, 3), wxyz("ee_quat", ee_quat, count)
        rows = np.asarray(jacobian.detach().cpu().numpy(), dtype=np.float64)
        q = np.asarray(joint_pos.detach().cpu().numpy(), dtype=np.float64)
        if rows.shape != (count, 6, q.shape[1]):
            raise ValueError(f"jacobian has the shape {rows.shape}; it must be {(count, 6, q.shape[1])}")
        goal = numbers("ee_pos_des", self.ee_pos_des, count, 3), wxyz("ee_quat_des", self.ee_quat_des, count)
        away = quaternion_log(quaternion_product(goal[1], conjugate(turn)))
        error = np.concatenate([goal[0] - place, away], axis=1)
        weights = np.ones(6) if self.cfg.orientation_weight is None else self._weights()
        size = 3 if self.cfg.command_type == "position" else 6
        answers = self._tensor([self._step(*each) for each in zip(
            (weights[:, None] * rows)[:, :size], (weights * error)[:, :size], q, strict=True
        )]).to(joint_pos.dtype)  # fmt: skip
        return answers if out is None else out.copy_(answers)

    def _step(self, rows: Array, error: Array, q: Array) -> Array:
        if not np.isfinite(np.concatenate([error, q, rows.ravel()])).all():
            return q
        how, (left, sizes, right) = self.cfg.ik_params, np.linalg.svd(rows, full_matrices=False)
        damping = how.get("lambda_val", 0.0) ** 2
        if self.cfg.ik_method == "adaptive_dls":
            near = np.clip(1.0 - (sizes[-1] / how["sigma_thresh"]) ** 2, 0.0, 1.0)
            damping = how["lambda_min"] ** 2 + near * (how["lambda_max"] ** 2 - how["lambda_min"] ** 2)
        gains = sizes / np.maximum(sizes**2 + damping, 1e-300)
        if self.cfg.ik_method == "trans":
            gains = sizes
        elif damping == 0.0:
            gains = np.where(sizes > how.get("min_singular_value", 1e-15 * sizes[0]), gains, 0.0)
        gain = how.get("k_val", 1.0)
        step = gain * (right.T @ (gains * (left.T @ error)))
        low, high = self._limits or (-np.inf, np.inf)
        if ((q + step >= low) & (q + step <= high)).all():
            return np.asarray(q + step)
        start = np.clip(q, low, high)
        inequalities = np.concatenate([np.eye(len(q)), -np.eye(len(q))]), np.concatenate([high - start, start - low])
        wants = gain * error if self.cfg.ik_method != "trans" else rows @ step
        best = least_squares(rows, wants, max(damping, 1e-6), inequalities, (rows[:0], error[:0]))[: len(q)]
        return np.asarray(np.clip(start + best, low, high))

    def _weights(self) -> Array:
        return np.concatenate([np.ones(3), np.broadcast_to(self.cfg.orientation_weight, 3)])

    def _tensor(self, given: Any) -> Any:
        return self._torch.as_tensor(np.asarray(given), dtype=self._torch.float32, device=self._device)

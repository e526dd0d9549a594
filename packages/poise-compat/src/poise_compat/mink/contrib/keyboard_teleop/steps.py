"""Steps of a mocap body along its own axes, and turns about them, of sizes that change."""

from typing import Any, Final

import mujoco
import numpy as np

from poise.extending import Array

_FASTER: Final = 1.1
_SLOWER: Final = 0.9


class Steps:
    """Of the body `mocap_idx` of `data`: by hand, or those that a key makes that moves on; moves or turns."""

    data: Any
    mocap_idx: int = 0
    manual: bool = True
    rotation: bool = False

    def rot_or_trans(self, key: int, axis: int, direction: int) -> None:
        """A turn or a move, forth for 1 or back for -1; which `key` it is decides nothing."""
        (self.adjust_rotation if self.rotation else self.adjust_position)(key, axis, direction)

    def adjust_position(self, key: int, axis: int, direction: int) -> None:
        """Along an axis of the body [m]."""
        step = self.m_step_size if self.manual else self.nm_step_size
        way = self.unit_vec_from_quat(self.data.mocap_quat[self.mocap_idx], axis)
        self.data.mocap_pos[self.mocap_idx] += direction * step * way

    def adjust_rotation(self, key: int, axis: int, direction: int) -> None:
        """About an axis of the body [deg]."""
        step, turn, turned = self.m_rotation_step if self.manual else self.nm_rotation_step, np.empty(4), np.empty(4)
        mujoco.mju_axisAngle2Quat(turn, np.eye(3)[axis], np.deg2rad(direction * step))
        mujoco.mju_mulQuat(turned, self.data.mocap_quat[self.mocap_idx], turn)
        self.data.mocap_quat[self.mocap_idx] = turned

    def unit_vec_from_quat(self, q: Array, axis: int) -> Array:
        """(3,) an axis of a quaternion wxyz."""
        rows = np.empty(9)
        mujoco.mju_quat2Mat(rows, q)
        return rows.reshape(3, 3)[:, axis]

    def toggle_speed(self, direction: int) -> None:
        """Longer for 1, shorter for -1, of the kind of step that is made now."""
        name = f"{'m' if self.manual else 'nm'}_{'rotation_step' if self.rotation else 'step_size'}"
        setattr(self, name, getattr(self, name) * (_FASTER if direction == 1 else _SLOWER))
        print(f"a step of {getattr(self, name):.3g} {'deg' if self.rotation else 'm'}")

    def reset_step_size(self) -> None:
        """As they were at first [m, deg]: those by hand, and those of keys that move on."""
        self.m_step_size, self.m_rotation_step = 0.01, 10.0
        self.nm_step_size, self.nm_rotation_step = 1e-4, 0.05

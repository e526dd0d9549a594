"""The largest torque or force of each joint of an MJCF: of its own range, and of the actuators that drive it."""

from typing import Any, Final

import numpy as np

from poise.common.array import Array

_OF_JOINTS: Final = (0, 1)
"""An actuator's `mjTRN_JOINT` and `mjTRN_JOINTINPARENT`."""


def efforts(m: Any) -> Array:
    """(joints,) [N m or N], whichever way is less; inf where nothing limits a joint, or nothing drives it both ways."""
    driven = np.zeros((m.njnt, 2))
    for i in range(m.nu):
        gear = m.actuator_gear[i, 0]
        if m.actuator_trntype[i] in _OF_JOINTS and gear:  # 0 drives nothing: others are along the axes of a ball
            driven[m.actuator_trnid[i, 0]] += np.sort(_range(m, i) * gear)
    own = np.where(m.jnt_actfrclimited[:, None], m.jnt_actfrcrange, np.inf)
    least: Array = np.array([np.minimum(-ways[:, 0], ways[:, 1]) for ways in (driven, own)])
    return np.where(least > 0.0, least, np.inf).min(axis=0)


def _range(m: Any, i: int) -> Array:
    """(2,) the forces of an actuator: as limited, and those of a motor by its controls."""
    found = np.array([-np.inf, np.inf])
    motor = not (m.actuator_gaintype[i] or m.actuator_biastype[i] or m.actuator_dyntype[i])
    if motor and m.actuator_ctrllimited[i]:
        found = np.sort(m.actuator_ctrlrange[i] * m.actuator_gainprm[i, 0])
    if m.actuator_forcelimited[i]:
        found = np.clip(found, *m.actuator_forcerange[i])
    return np.asarray(found, dtype=np.float64)

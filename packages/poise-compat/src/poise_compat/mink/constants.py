"""mink's tables of MuJoCo's kinds of frames, joints and equalities."""

from typing import Any, Final

import mujoco

SUPPORTED_FRAMES: Final = ("body", "geom", "site")
FRAME_TO_ENUM: Final = {
    "body": mujoco.mjtObj.mjOBJ_BODY,
    "geom": mujoco.mjtObj.mjOBJ_GEOM,
    "site": mujoco.mjtObj.mjOBJ_SITE,
}
FRAME_TO_JAC_FUNC: Final[dict[str, Any]] = {
    "body": mujoco.mj_jacBody,
    "geom": mujoco.mj_jacGeom,
    "site": mujoco.mj_jacSite,
}
FRAME_TO_POS_ATTR: Final = {"body": "xpos", "geom": "geom_xpos", "site": "site_xpos"}
FRAME_TO_XMAT_ATTR: Final = {"body": "xmat", "geom": "geom_xmat", "site": "site_xmat"}
FRAME_TO_COUNT_ATTR: Final = {"body": "nbody", "geom": "ngeom", "site": "nsite"}

_FREE, _BALL = int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_BALL)
_ROWS: Final = {
    int(mujoco.mjtEq.mjEQ_CONNECT): 3,
    int(mujoco.mjtEq.mjEQ_WELD): 6,
    int(mujoco.mjtEq.mjEQ_JOINT): 1,
    int(mujoco.mjtEq.mjEQ_TENDON): 1,
}


def dof_width(joint_type: int) -> int:
    """Velocities of a joint."""
    return {_FREE: 6, _BALL: 3}.get(int(joint_type), 1)


def qpos_width(joint_type: int) -> int:
    """Numbers of a joint in qpos."""
    return {_FREE: 7, _BALL: 4}.get(int(joint_type), 1)


def constraint_width(constraint: int) -> int:
    """Rows of an equality."""
    return _ROWS[int(constraint)]

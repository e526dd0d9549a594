"""A model of Pinocchio's as poise has it: link "i" behind joint i, and configurations there and back."""

from typing import Any, Final, final

import numpy as np

from poise.errors import ModelError
from poise.model.builder import ModelBuilder
from poise.model.joint import JointKind
from poise.model.model import Model
from poise.spatial import SE3, Array

_BOUNDLESS: Final = 1e20
"""From which on a limit of Pinocchio is none."""
_LEAST: Final = 1e-10


def pose(placement: Any) -> SE3:
    """A pose of Pinocchio's."""
    return SE3.from_matrix(placement.homogeneous, orthonormalise=True)


@final
class FromPinocchio:
    """Joints about or along one axis, unbounded ones too, and floating ones; raises ModelError for others."""

    def __init__(self, theirs: Any) -> None:
        builder = ModelBuilder(theirs.name or "robot")
        builder.link("0")
        for i in range(1, theirs.njoints):
            joint, inertia = theirs.joints[i], theirs.inertias[i]
            builder.joint(
                theirs.names[i], parent=str(theirs.parents[i]), child=str(i), origin=pose(theirs.jointPlacements[i]),
                **_motion(theirs, joint, theirs.names[i]),
            )  # fmt: skip
            if inertia.mass > 0.0:
                builder.mass(str(i), inertia.mass, centre=inertia.lever)
        self.model: Model = builder.build()
        self._joints = [(theirs.joints[i], theirs.names[i]) for i in range(1, theirs.njoints)]

    def q(self, theirs: Array) -> Array:
        """(model.nq,) of a configuration of Pinocchio's."""
        out = np.empty(self.model.nq)
        for joint, name in self._joints:
            x = theirs[joint.idx_q : joint.idx_q + joint.nq]
            if joint.nq == 7:
                x = x[[0, 1, 2, 6, 3, 4, 5]]
            out[self.model.index(name)] = np.arctan2(x[1], x[0]) if joint.nq == 2 else x
        return out

    def theirs(self, q: Array, count: int) -> Array:
        """(count,) Pinocchio's configuration of a q (model.nq,)."""
        out = np.empty(count)
        for joint, name in self._joints:
            x = q[self.model.index(name)]
            if joint.nq == 7:
                x = x[[0, 1, 2, 4, 5, 6, 3]]
            out[joint.idx_q : joint.idx_q + joint.nq] = (np.cos(x[0]), np.sin(x[0])) if joint.nq == 2 else x
        return out

    def v(self, theirs: Array, *, bases: bool) -> Array:
        """(model.nv,) numbers, one a velocity of Pinocchio's; those of floating joints are 0 unless `bases` count."""
        out = np.zeros(self.model.nv)
        for joint, name in self._joints:
            if bases or joint.nv == 1:
                out[self.model.velocity_index(name)] = theirs[joint.idx_v : joint.idx_v + joint.nv]
        return out


def _motion(theirs: Any, joint: Any, name: str) -> dict[str, Any]:
    """What a joint does, and within which limits."""
    if joint.nq == 7 and joint.nv == 6:
        return {"kind": JointKind.FLOATING}
    if joint.nv != 1 or "Helical" in joint.shortname() or "HX" in joint.shortname():
        raise ModelError(
            f"joint {name!r} is a {joint.shortname()}; those about or along one axis, and floating ones, are read here"
        )
    data = joint.createData()
    start = np.array([1.0, 0.0]) if joint.nq == 2 else np.zeros(1)
    at = np.zeros(theirs.nq)
    at[joint.idx_q : joint.idx_q + joint.nq] = start
    joint.calc(data, at)
    along, about = np.array(data.S).reshape(2, 3)
    slides = not about.any()
    low, high = theirs.lowerPositionLimit[joint.idx_q], theirs.upperPositionLimit[joint.idx_q]
    bounded = joint.nq == 1 and high - low > _LEAST and high < _BOUNDLESS
    speed = theirs.velocityLimit[joint.idx_v]
    kind = JointKind.PRISMATIC if slides else JointKind.REVOLUTE if bounded else JointKind.CONTINUOUS
    return {
        "kind": kind,
        "axis": along if slides else about,
        "limits": (low, high) if bounded else None,
        "velocity": speed if _LEAST < speed < _BOUNDLESS else None,
    }

"""A model that MuJoCo has loaded already, and configurations of it on the way here and back."""

from typing import Any, Final, final

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.checks import finite
from poise.io.mjcf import model_of
from poise.model.joint_function import JointFunction

_READ: Final = (
    "names", "body_parentid", "body_pos", "body_quat", "body_mass", "body_ipos", "body_inertia", "body_iquat",
    "jnt_type", "jnt_bodyid", "jnt_pos",
    "jnt_axis", "jnt_limited", "jnt_range", "qpos0", "site_bodyid", "site_pos", "site_quat", "geom_pos", "geom_quat",
    "geom_size", "geom_contype", "geom_conaffinity", "eq_type", "eq_obj1id", "eq_obj2id", "eq_data", "eq_active0",
)  # fmt: skip
"""What of an MjModel a `Model` is made of: programs write into it."""
_MODELS: Final = 16
_cached: Final[dict[tuple[Any, ...], "FromMuJoCo"]] = {}


@final
class FromMuJoCo:
    """An `mujoco.MjModel` as a `Model`; see `poise.io.mjcf.read_mjcf` for what is what.

    Joints that an equality constraint drives take no place in q, and follow in qpos.
    """

    def __init__(self, mjmodel: Any) -> None:
        self.model = model_of(mjmodel)
        """The model."""
        self._nq = int(mjmodel.nq)
        starts = {mjmodel.joint(j).name or f"joint{j}": int(mjmodel.jnt_qposadr[j]) for j in range(mjmodel.njnt)}
        self._places = np.zeros(self.model.nq, dtype=np.int64)
        self._followers: list[tuple[int, int, JointFunction]] = []
        for name, start in starts.items():
            joint = self.model.joint(name)
            if joint.mimic is not None:
                self._followers.append((start, starts[joint.mimic.joint], joint.mimic.rule))
            elif joint.nq:
                self._places[self.model.index(name)] = np.arange(start, start + joint.nq)

    @classmethod
    def of(cls, mjmodel: Any) -> "FromMuJoCo":
        """That of a model with these numbers, made anew where they have changed."""
        read = (getattr(mjmodel, name) for name in _READ)
        numbers = tuple(value if type(value) is bytes else value.tobytes() for value in read)
        if numbers not in _cached:
            while len(_cached) >= _MODELS:
                del _cached[next(iter(_cached))]
            _cached[numbers] = cls(mjmodel)
        return _cached[numbers]

    def q(self, qpos: ArrayLike) -> Array:
        """(nq,) of a qpos; raises ShapeError and ValueError."""
        return finite("qpos", qpos, self._nq)[self._places]

    def qpos(self, q: Array, before: Array) -> Array:
        """A qpos of `q` (nq,); what has no place in q is as `before`, or follows."""
        out = np.array(before, dtype=np.float64)
        out[self._places] = q
        for place, of, rule in self._followers:
            out[place] = rule(out[of])
        return out

    def site(self, name: str) -> str:
        """The frame of a site."""
        return f"{name}/site" if f"{name}/site" in self.model.frames else name

"""A model of which some joints alone may move."""

import math
from collections.abc import Collection
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from poise import Model
from poise.extending import Array

_MODELS = 32


def all_locked_but(model: Model, q: Array, joints: Collection[str]) -> tuple[Model, npt.NDArray[np.int64]]:
    """The model with all but these joints fixed where `q` (nq,) has them, be it outside their limits, and its places.

    Its q is that of the model at those places.  Raises JointNotFound for a name that the model does not have.
    """
    for name in joints:
        model.joint(name)
    locked = tuple((name, tuple(q[model.index(name)])) for name in model.joint_names if name not in joints)
    return _locked(model, locked) if locked else (model, np.arange(model.nq))


@lru_cache(_MODELS)
def _locked(model: Model, locked: tuple[tuple[str, tuple[float, ...]], ...]) -> tuple[Model, npt.NDArray[np.int64]]:
    values = dict(locked)
    one_axis = {name: (-math.inf, math.inf) for name, x in locked if len(x) == 1}
    followers = [joint.name for joint in model.joints if joint.mimic is not None and joint.mimic.joint in one_axis]
    one_axis.update(dict.fromkeys(followers, (-math.inf, math.inf)))
    left = [np.arange(model.nq)[model.index(name)] for name in model.joint_names if name not in values]
    return model.with_limits(one_axis).lock(values), np.concatenate([np.zeros(0, dtype=np.int64), *left])

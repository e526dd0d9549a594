"""Planar arms: the mechanism on which textbooks explain inverse kinematics."""

from collections.abc import Sequence

import numpy as np

from poise.common.checks import finite
from poise.common.errors import InvalidValue, ShapeError
from poise.model.dh import DH, from_dh
from poise.model.model import Model
from poise.spatial import SE3


def planar(n: int, length: float | Sequence[float] = 1.0) -> Model:
    """`n` revolute joints about z, without limits; at zero the arm lies along x.

    `length` [m] is one for all links, or `n` numbers; the frame at the end is `tool`.  Raises ValueError for no
    joints, ShapeError for another count of lengths.
    """
    if n < 1:
        raise InvalidValue("out-of-range", f"a planar arm has at least one joint, got n = {n}")
    lengths = finite("length", length)
    if lengths.shape not in ((), (n,)):
        raise ShapeError(f"length must be a number or {n} numbers, one for each link, got shape {lengths.shape}")
    *inner, last = np.broadcast_to(lengths, n).tolist()
    rows = [DH(a=a, alpha=0.0, d=0.0) for a in (0.0, *inner)]
    return from_dh(rows, convention="modified", name=f"planar{n}", tool=SE3.from_parts([last, 0.0, 0.0]))

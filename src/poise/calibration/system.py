"""All that was measured as one system of residuals over their deviations, and how it moves with what is free."""

from collections.abc import Sequence
from typing import Final, final

import numpy as np

from poise.calibration.measurements import Measurements
from poise.calibration.parameters import Freed
from poise.common.array import Array
from poise.quaternions import quaternion_matrix
from poise.spatial import SE3

_FAR_TURN: Final = 0.3
"""Of a frame's rotation [rad]."""
_FAR: Final = 0.2
"""Of how far apart places are that were measured."""


def lacking(each: Measurements, seen: SE3) -> Array:
    """(n, 3 or 6) how far frames that are `seen` from their base are from where they were measured [m, rad]."""
    out = seen.xyz - each.measured.xyz
    if each.rows == 3:
        return out
    return np.concatenate([out, (seen.rotation @ each.measured.rotation.inverse()).log()], axis=1)


def spread(places: Array) -> float:
    """How far apart places (n, 3) are: their root mean square from their middle [m]."""
    return float(np.sqrt(np.square(places - places.mean(axis=0)).sum(axis=1).mean()))


def far(each: Measurements, lacks: Array) -> bool:
    """Whether what is lacking of some axis is a turn, or a share of how far apart the places are, that no robot is
    wrong by."""
    most = np.full(each.rows, _FAR_TURN)
    most[:3] = _FAR * spread(each.measured.xyz)
    off = np.sqrt(np.square(lacks).mean(axis=0))
    seen = np.ones(each.rows, dtype=np.bool_) if each.std is None else np.isfinite(each.std)
    return bool(((off > most) & seen & (most > 0.0)).any())


@final
class System:
    """r(x) (rows,) and dr/dx: what measurements lack, then what x is from 0, each over its standard deviation."""

    def __init__(self, freed: Freed, measurements: Sequence[Measurements], prior: Array) -> None:
        self.freed, self.measurements = freed, measurements
        self._weights = [1.0 / (np.ones(each.rows) if each.std is None else each.std) for each in measurements]
        self._has_prior = np.isfinite(prior)
        self._prior = np.diag(1.0 / prior)[self._has_prior]

    @property
    def rows(self) -> int:
        """Numbers that were measured, with those of the prior."""
        measured = (len(m) * np.count_nonzero(w) for m, w in zip(self.measurements, self._weights, strict=True))
        return int(sum(measured)) + len(self._prior)

    def lacking(self, x: Array) -> list[Array]:
        """(n, 3 or 6) of each measurement, how far its frame is from where it was measured [m, rad]."""
        return [lacking(each, self._seen(each, x)) for each in self.measurements]

    def weighted(self, x: Array) -> list[Array]:
        """The same over the deviations, without what was not measured."""
        pairs = zip(self.lacking(x), self._weights, strict=True)
        return [(lacks * weight)[:, weight > 0.0] for lacks, weight in pairs]

    def far(self, x: Array) -> bool:
        """Whether some of it is `far`."""
        return any(far(each, lacks) for each, lacks in zip(self.measurements, self.lacking(x), strict=True))

    def residuals(self, x: Array) -> Array:
        """(rows,) r."""
        return np.concatenate([*(each.ravel() for each in self.weighted(x)), self._prior @ x])

    def jacobian(self, x: Array) -> Array:
        """(rows, k) dr/dx."""
        moves = self.freed.velocities(x)
        rows = []
        for each, weight in zip(self.measurements, self._weights, strict=True):
            slopes = (self._slopes(each, x) @ moves) * weight[:, None]
            rows.append(slopes[:, weight > 0.0].reshape(-1, len(x)))
        return np.concatenate([*rows, self._prior])

    def _seen(self, each: Measurements, x: Array) -> SE3:
        model, q = self.freed.model, self.freed.q(x, each.q)
        return model.pose(each.base, q).inverse() @ model.pose(each.frame, q)

    def _slopes(self, each: Measurements, x: Array) -> Array:
        """(n, 3 or 6, nv) how what a frame lacks moves with the velocities of the joints."""
        model, q = self.freed.model, self.freed.q(x, each.q)
        base, frame = model.pose(each.base, q), model.pose(each.frame, q)
        of_base, of_frame = model.jacobian(each.base, q), model.jacobian(each.frame, q)
        back = np.swapaxes(quaternion_matrix(base.wxyz), -1, -2)
        arm = (frame.xyz - base.xyz)[:, :, None]
        turn = of_frame[:, 3:] - of_base[:, 3:]
        slide = of_frame[:, :3] - of_base[:, :3] - np.cross(of_base[:, 3:], arm, axis=1)
        if each.rows == 3:
            return back @ slide
        # A rotation vector w moves with what SE3.log does to the linear part, the inverse of its left Jacobian.
        lacks = lacking(each, base.inverse() @ frame)[:, None, 3:]
        unit = np.broadcast_to(np.eye(3), (len(q), 3, 3))
        inverse = np.swapaxes(SE3.from_rotvec(unit, np.broadcast_to(lacks, unit.shape)).log()[..., :3], -1, -2)
        return np.concatenate([back @ slide, inverse @ back @ turn], axis=1)

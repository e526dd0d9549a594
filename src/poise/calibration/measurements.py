"""What was measured: where a frame was, seen from another, while the joints read what they read."""

from typing import final

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.checks import numbers, refuse_masked
from poise.common.errors import InvalidValue, ShapeError
from poise.model.frame import WORLD
from poise.spatial import SE3, frozen

_PLACE, _POSE = 3, 6


@final
class Measurements:
    """Measured poses or positions of a frame, each with the q that the joints read.

    `measured` are n poses (SE3, (n, 7) or (n, 4, 4)), or positions (n, 3) [m], of `frame` seen from `base`: the world,
    a camera, a tracker's own frame.  The position of a probe that touches a point is 0, seen from that point.

    `std` is the standard deviation of what was measured, along the axes of `base`: (metres, radians) of poses, a number
    [m] of positions, or one for each axis, six or three; math.inf leaves an axis out.  None: metres and radians count
    alike, and the deviation is estimated from what is left.

    Raises ShapeError for shapes that do not fit one another, ValueError for numbers that are not finite and for
    deviations that are not above 0.
    """

    __slots__ = ("base", "frame", "measured", "q", "rows", "std")
    frame: str
    base: str
    q: Array
    """(n, nq) what the joints read [rad or m]."""
    measured: SE3
    """n poses; of positions alone with no rotation."""
    rows: int
    """Numbers that one measurement has: 3 of a position, 6 of a pose."""
    std: Array | None
    """(6,) or (3,) [m, rad]."""

    def __init__(
        self, frame: str, q: ArrayLike, measured: SE3 | ArrayLike, *, base: str = WORLD, std: ArrayLike | None = None
    ) -> None:
        self.frame, self.base = frame, base
        if isinstance(measured, SE3) or np.shape(measured)[-1:] != (_PLACE,):
            poses, self.rows = SE3.parse(measured, "measured"), _POSE
        else:
            poses, self.rows = SE3.from_parts(measured), _PLACE
        readings = np.asarray(q)
        if readings.ndim != 2 or poses.array.ndim != 2 or len(readings) != len(poses.array):
            raise ShapeError(
                f"q must be (n, nq) and measured n poses or positions (n, 3), a row each for one measurement; got q "
                f"{readings.shape} and measured {poses.array.shape[:-1]}"
            )
        self.q, self.measured = frozen(numbers("q", q, "numbers of shape (n, nq)")), poses
        self.std = None if std is None else frozen(_deviations(std, self.rows))

    def without(self, rows: ArrayLike) -> "Measurements":
        """All of them but these, by index or as a mask (n,) of truth values: those that a `Calibration` calls outliers.

        Raises ValueError for what is neither, or none of the rows.
        """
        refuse_masked("rows", rows)
        given = np.asarray(rows)
        given = given if given.size else given.astype(np.intp)
        whole = given.ndim == 1 and given.dtype.kind in "iu" and (np.abs(given + 0.5) < len(self) + 0.5).all()
        if not whole and not (given.shape == (len(self),) and given.dtype == np.bool_):
            raise InvalidValue(
                "out-of-range", f"rows is {rows!r}; it must be indices below {len(self)}, or as many truth values"
            )
        remaining = np.delete(np.arange(len(self)), given)
        measured = self.measured.array[remaining]
        return Measurements(
            self.frame,
            self.q[remaining],
            SE3(measured) if self.rows == _POSE else measured[:, :3],
            base=self.base,
            std=self.std,
        )

    def __len__(self) -> int:
        return len(self.q)

    def __repr__(self) -> str:
        what = "positions" if self.rows == _PLACE else "poses"
        return f"Measurements({len(self)} {what} of {self.frame!r} from {self.base!r})"


def _deviations(std: ArrayLike, rows: int) -> Array:
    """(rows,) standard deviations."""
    given = numbers("std", std, "numbers")
    short = () if rows == _PLACE else (2,)
    if given.shape not in (short, (rows,)):
        raise ShapeError(
            f"std of {'positions is a number [m] or three' if rows == _PLACE else 'poses is (metres, radians) or six'}"
            f", got shape {given.shape}"
        )
    if not (given > 0.0).all() or np.isinf(given).all():
        raise InvalidValue(
            "not-positive",
            f"std is {np.asarray(std).tolist()}; each must be above 0, and math.inf leaves out an axis that was not "
            "measured, but not all of them",
        )
    return np.broadcast_to(given, rows) if rows == _PLACE or given.shape == (rows,) else np.repeat(given, 3)

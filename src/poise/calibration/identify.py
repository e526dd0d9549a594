"""Placements, offsets and lengths of a robot from measured poses: least squares, and what they cannot tell.

With r(x) what measurements lack over their deviations, x is that with the least sum of squares (Hollerbach and Wampler
1996, doi:10.1177/027836499601500604).  Directions in which no measurement moves, the null space of dr/dx, stay as they
are, and are named: V spans the others, from the singular value decomposition, and y of x = x0 + V y is what is solved
for, by Levenberg's and Marquardt's method as MINPACK has it.

Where a tool or a base is not known at all, the least squares may end in a valley beside the lowest one.  What is then
left is turns of a radian and more, which no robot is wrong by, so it begins again with whole placements turned about.
"""

import importlib
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, final

import numpy as np

from poise.calibration.calibration import Calibration
from poise.calibration.measurements import Measurements
from poise.calibration.parameters import Freed, calibrated, deviations, parameters
from poise.calibration.statistics import covariance, outliers, singular_values, undetermined
from poise.calibration.system import System, spread
from poise.common.array import Array
from poise.common.errors import InvalidType, InvalidValue, ShapeError
from poise.common.lazy import optional
from poise.model.model import Model, a_model
from poise.model.units import ask_for_degrees_in

_RANK: Final = 1e-9
"""Against the largest singular value, one that counts as 0."""
_ROUNDS: Final = 4
"""Times that the directions are looked for anew, where others are told apart at the answer than at the start."""
_EXACT: Final = 1e-15
_ROUGH: Final = 1e-3
"""Of steps and of what is left, where it is only asked which valley it is."""
_THOUSANDS: Final = (300.0, 3000.0)


def calibrate(
    model: Model,
    measurements: Measurements | Sequence[Measurements],
    *,
    free: Sequence[str],
    prior: Mapping[str, float] | None = None,
) -> Calibration:
    """What of a model is otherwise than stated, from where its frames were measured; see `Measurements`.

    `free` names what may be otherwise:

    - a joint, or a frame that is no link: all six of its placement, along the axes of the link that carries it;
    - "base": where the whole robot stands in the world;
    - a part of these, "elbow.x", "y", "z", "rx", "ry", "rz", "elbow.xyz", "elbow.rotation", or "elbow.length", how far
      its origin is from that of the link;
    - "elbow.offset": what has to be added to what the joint reads.

    `prior` says of names how far they may be from where the model has them, a standard deviation [m or rad] that counts
    like a measurement, so these must state theirs, `std`.  What cannot be told apart stays as it is and is named in
    `Calibration.undetermined`.

    Raises NameNotFound, ShapeError, ValueError for names and numbers that do not fit and where there are fewer numbers
    than are free, MissingExtra without SciPy.
    """
    optimize = optional("calibration", "scipy", "calibration", "scipy.optimize")
    found = parameters(a_model(model), free)
    measured = _checked(model, measurements)
    prior_deviations = deviations(model, found, prior or {})
    if prior and any(each.std is None for each in measured):
        raise InvalidValue(
            "needs",
            "prior is weighed against what was measured, and that has no standard deviation: state it, as in "
            "Measurements(frame, q, poses, std=(1e-4, 1e-3))",
        )
    system = System(Freed(model, found), measured, prior_deviations)
    if system.rows < len(found):
        raise InvalidValue(
            "too-many",
            f"{system.rows} numbers were measured and {len(found)} are free: measure at more configurations, or free "
            "less",
        )
    answer = _least_squares(optimize, system, np.zeros(len(found)))
    if system.far(answer.x) and answer.identifiable.shape[1] == len(found):
        roughly = (_least_squares(optimize, system, x, _ROUGH) for x in system.freed.turned_about(prior or {}))
        near = next((one for one in roughly if not system.far(one.x)), None)
        answer = answer if near is None else _least_squares(optimize, system, near.x)
    return _judged(system, calibrated(system.freed, model, answer.x), answer)


@final
class _Answer(NamedTuple):
    """Where the least squares came to."""

    x: Array
    identifiable: Array
    """(k, rank) the directions that measurements tell of, orthonormal."""
    converged: bool


def _least_squares(optimize: Any, system: System, x: Array, tolerance: float = _EXACT) -> _Answer:
    """The least squares from a start, among what can be told apart."""
    identifiable = _identifiable_directions(system.jacobian(x))
    if not identifiable.size:
        raise InvalidValue(
            "nothing-moves", "nothing that is free moves what was measured: free what carries the frame, or its base"
        )
    for _ in range(_ROUNDS):
        answer = _least(optimize, system, x, identifiable, tolerance)
        x = x + identifiable @ answer.x
        before, identifiable = identifiable, _identifiable_directions(system.jacobian(x))
        if identifiable.shape == before.shape:
            break
    return _Answer(x, identifiable, bool(answer.success))


def _judged(system: System, made: Model, answer: _Answer) -> Calibration:
    """The answer, and how well it is known."""
    linalg, special = (importlib.import_module(f"scipy.{name}") for name in ("linalg", "special"))
    x, identifiable, found = answer.x, answer.identifiable, system.freed.parameters
    jacobian, weighted = system.jacobian(x), system.weighted(x)
    spare = system.rows - identifiable.shape[1]
    noise = float(np.sqrt(np.square(system.residuals(x)).sum() / spare)) if spare else np.nan
    has_std = system.measurements[0].std is not None
    return Calibration(
        model=made,
        names=(names := tuple(one.name for one in found)),
        units=tuple(one.unit for one in found),
        values=x,
        covariance=covariance(jacobian, identifiable) * (1.0 if has_std else noise**2),
        undetermined=undetermined(identifiable, names, linalg),
        measurements=tuple(system.measurements),
        before=tuple(system.lacking(np.zeros_like(x))),
        after=tuple(system.lacking(x)),
        noise=noise,
        singular_values=singular_values(jacobian, identifiable),
        outliers=tuple(outliers(each, special, has_std=has_std) for each in weighted),
        converged=answer.converged,
    )


def _least(optimize: Any, system: System, start: Array, identifiable: Array, tolerance: float) -> Any:
    """The least squares among start + told y."""
    return optimize.least_squares(
        lambda y: system.residuals(start + identifiable @ y),
        np.zeros(identifiable.shape[1]),
        lambda y: system.jacobian(start + identifiable @ y) @ identifiable,
        method="lm",
        ftol=tolerance,
        xtol=tolerance,
        gtol=tolerance,
    )


def _identifiable_directions(jacobian: Array) -> Array:
    """(k, rank) the directions that measurements tell of, orthonormal."""
    _, sizes, ways = np.linalg.svd(jacobian, full_matrices=False)
    return ways[sizes > _RANK * sizes.max(initial=0.0)].T


def _checked(model: Model, measurements: Measurements | Sequence[Measurements]) -> list[Measurements]:
    """As a list, each with frames and a q that the model has."""
    given = [measurements] if isinstance(measurements, Measurements) else list(measurements)
    for each in given:
        if not isinstance(each, Measurements):
            raise InvalidType(
                "wrong-type",
                f"measurements must be Measurements, as poise.calibration has them, or a list of them, got {each!r}",
            )
        model.frame(each.frame), model.frame(each.base)
        if model.check_q(each.q).ndim != 2:
            raise ShapeError(f"q must be (n, {model.nq}), a row a measurement, got {each.q.shape}")
        ask_for_degrees_in(model, each.q, f"q of {each!r}")
        _ask_for_millimetres(model, each)
    if not given:
        raise InvalidValue("empty", "measurements is empty: state where a frame was at some configurations")
    if len({each.std is None for each in given}) > 1:
        raise InvalidValue(
            "inconsistent", "some measurements have a std and others none: state it for all, or for none"
        )
    return given


def _ask_for_millimetres(model: Model, each: Measurements) -> None:
    """Warn of places that are farther apart than the model has them by some thousands."""
    seen = model.pose(each.base, each.q).inverse() @ model.pose(each.frame, each.q)
    there, here = spread(each.measured.xyz), spread(seen.xyz)
    if _THOUSANDS[0] * here < there < _THOUSANDS[1] * here:
        warnings.warn(
            f"{each!r} lie {there / here:.0f} times as far apart as in the model: millimetres? Lengths are in metres",
            UserWarning,
            stacklevel=4,
        )

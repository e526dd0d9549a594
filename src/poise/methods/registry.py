"""Methods by their short names."""

from difflib import get_close_matches
from typing import Final, TypeAlias

from poise.methods.bounded import BoundedLeastSquares
from poise.methods.ccd import CyclicCoordinateDescent
from poise.methods.damped import DampedLeastSquares
from poise.methods.das import DasSlotineSheridan
from poise.methods.extended import ExtendedJacobian
from poise.methods.fabrik import Fabrik
from poise.methods.filtered import FilteredInverse
from poise.methods.halley import Halley
from poise.methods.hybrid import Hybrid
from poise.methods.newton import GaussNewton, LevenbergMarquardt
from poise.methods.pairwise import PairwiseJacobian
from poise.methods.priority import TaskPriority
from poise.methods.pseudoinverse import Pseudoinverse
from poise.methods.quasi_newton import BFGS, LBFGS
from poise.methods.selective import SelectivelyDamped
from poise.methods.transpose import JacobianTranspose

AnyMethod: TypeAlias = (
    JacobianTranspose
    | Pseudoinverse
    | DampedLeastSquares
    | SelectivelyDamped
    | FilteredInverse
    | GaussNewton
    | LevenbergMarquardt
    | Halley
    | Hybrid
    | CyclicCoordinateDescent
    | Fabrik
    | BoundedLeastSquares
    | BFGS
    | LBFGS
    | TaskPriority
    | DasSlotineSheridan
    | ExtendedJacobian
    | PairwiseJacobian
)
METHODS: Final[dict[str, type[AnyMethod]]] = {kind.name: kind for kind in AnyMethod.__args__}
"""The class of each short name."""


def method_of(method: str | AnyMethod) -> AnyMethod:
    """A method, or the one of this short name with its defaults.

    Raises ValueError for a name that is none, with the nearest one; TypeError for what is no method.
    """
    if isinstance(method, str):
        if method not in METHODS:
            near = get_close_matches(method, METHODS, n=1)
            hint = f"did you mean {near[0]!r}?" if near else "there are"
            raise ValueError(
                f"no method {method!r}; {hint} ({', '.join(METHODS)})".replace("there are (", "there are: (")
            )
        return METHODS[method]()
    if not isinstance(method, tuple(METHODS.values())):
        raise TypeError(
            f"method must be a short name such as 'dls', or a method such as DampedLeastSquares(), got {method!r}"
        )
    return method

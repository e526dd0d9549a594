"""Arms and ways that several files of tests lead along each other."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

import numpy as np
import pytest

import poise as pz
from poise.solving.path.feasibility import PathFeasibility
from poise.solving.requirements.clearance import Clearance
from poise.solving.requirements.path_constraint import PathConstraint

DOWN = [0.0, 1.0, 0.0, 0.0]


def across(n: int) -> np.ndarray:
    """(n, 7) poses of a Panda's hand that looks down, on a straight line across."""
    place = np.stack([np.full(n, 0.5), np.linspace(-0.35, 0.35, n), np.full(n, 0.3)], axis=1)
    return np.hstack([place, np.tile(DOWN, (n, 1))])


def armed() -> pz.Model:
    """A Panda with a capsule for its upper arm, one for its forearm and one for its hand."""
    return pz.load("panda").with_shapes(
        {
            "panda_link3": pz.Capsule([0.0, 0.0, -0.2], [0.0, 0.0, 0.0], 0.06),
            "panda_link5": pz.Capsule([0.0, 0.05, -0.2], [0.0, 0.0, 0.0], 0.06),
            "panda_hand": pz.Capsule([0.0, -0.08, 0.04], [0.0, 0.08, 0.04], 0.03),
        }
    )


def elbow(shoulder: tuple[float, float] = (-3.0, 3.0), bend: tuple[float, float] = (-3.0, 3.0)) -> pz.Model:
    """Two links of 1 m in the plane."""
    builder = pz.ModelBuilder("elbow")
    builder.joint("shoulder", "revolute", parent="base", child="upper", limits=shoulder)
    out = pz.SE3.from_parts([1.0, 0.0, 0.0])
    builder.joint("elbow", "revolute", parent="upper", child="lower", origin=out, limits=bend)
    builder.frame("tip", link="lower", origin=out)
    return builder.build()


class KeptOff(Clearance):
    """What keeps some distances (n,) of q (n, nq) above `least` [m]; how they change is seen by differences."""

    def __init__(self, model: pz.Model, distances: Callable[[np.ndarray], np.ndarray], least: float = 0.0) -> None:
        self._model, self.distances, self.least = model, distances, least

    def later(self, q: np.ndarray) -> Callable[[], np.ndarray]:
        return lambda: self.distances(q)

    def slopes(self, q: np.ndarray) -> np.ndarray:
        moved = self._model.integrate(q[:, None], 1e-6 * np.eye(self._model.nv))
        return (
            self.distances(moved.reshape(-1, self._model.nq)).reshape(len(q), -1) - self.distances(q)[:, None]
        ) / 1e-6

    def words(self, q: np.ndarray) -> str:
        return f"shapes are {self.distances(q[None])[0]:.3g} m from each other, and {self.least:.3g} m is asked for."


@contextmanager
def kept(*constraints: PathConstraint) -> Iterator[None]:
    """All paths within the block keep these, and no others."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PathFeasibility, "borrowed", lambda model, limits: nullcontext(PathFeasibility(constraints)))
        yield

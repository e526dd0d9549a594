"""Free ways between two configurations, whatever it is that must hold on them: kernels look, or ask."""

from itertools import pairwise

import numpy as np
import pytest
from support.mechanisms import delta, gap
from ways import KeptOff, armed, elbow

import poise as pz
from poise.common.array import Array
from poise.solving.path.clock import Clock
from poise.solving.path.connect import connect
from poise.solving.path.feasibility import PathFeasibility
from poise.solving.path.loops import Loops
from poise.solving.requirements.clearance import Clearance
from poise.solving.requirements.loops import loop_tasks
from poise.solving.requirements.path_constraint import RESERVE, PathConstraint
from poise.solving.requirements.ranges import Ranges
from poise.solving.requirements.sums import LinearLimits

ARM = armed()
POST = pz.World({"post": pz.Box(pz.SE3.from_parts([0.45, 0.0, 0.4]), [0.12, 0.12, 0.8])})
SIDES = np.array([[0.7, 0.4, 0.0, -2.0, 0.0, 2.4, 0.8], [-0.7, 0.4, 0.0, -2.0, 0.0, 2.4, 0.8]])
"""Left and right of the post (2, 7): the straight way leads through it."""


def found(model: pz.Model, feasibility: PathFeasibility, ends: Array, *, seed: int = 0, ways: int = 1) -> Array | None:
    moved = np.ones(model.nq, dtype=np.bool_)
    return connect(model, feasibility, ends[0], ends[1], moved, seed=seed, clock=Clock(None), ways=ways)


def between(model: pz.Model, way: Array, looks: int = 60) -> Array:
    """(n, nq) so many configurations on each part of a way."""
    share = np.linspace(0.0, 1.0, looks)
    return np.concatenate([model.interpolate(a, b, share) for a, b in pairwise(way)])


def post() -> Clearance:
    return Clearance(ARM, pz.CollisionLimit(POST, min_distance=0.01))


def bent() -> LinearLimits:
    """The shoulder less the elbow is at least 1.9 rad; at both ends it is 2.4."""
    return LinearLimits(ARM, np.array([[0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0]]), np.array([-1.9]))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("more", [[], [bent()]], ids=["shapes", "sum"])
def test_all_that_must_hold_does_so_on_all_of_a_way(more: list[PathConstraint], seed: int) -> None:
    both = PathFeasibility([post(), *more])
    assert both.on_way(*SIDES) < 0.0
    way = found(ARM, both, SIDES, seed=seed)
    assert way is not None
    assert np.array_equal(way[[0, -1]], SIDES)
    assert both(between(ARM, way)).min() >= 0.0


def hall() -> tuple[pz.Model, PathFeasibility, Array]:
    """A planar arm whose tip stays under a ceiling, with a ball on the way of its lower link from left to right."""
    arm = elbow().with_shapes({"lower": [pz.Capsule([0.0, 0.0, 0.0], [1.0, 0.0, 0.0], 0.02)]})
    ball = pz.CollisionLimit(pz.World({"ball": pz.Sphere([0.0, 1.2, 0.0], 0.1)}), min_distance=0.0)
    task = pz.RegionTask("tip", pz.HalfSpace([0.0, 1.3, 0.0], [0.0, 1.0, 0.0]))
    both = PathFeasibility([Clearance(arm, ball), Ranges(arm, [task], [task.goal(None)])])
    return arm, both, np.array([[0.2, 1.2], [np.pi - 0.2, -1.2]])


@pytest.mark.parametrize("seed", range(3))
def test_a_range_is_kept_on_all_of_a_way_beside_shapes(seed: int) -> None:
    arm, both, ends = hall()
    assert both(ends).min() > 0.0
    for constraint in both.constraints:
        assert constraint.on_steps(ends)[0] < 0.0
    way = found(arm, both, ends, seed=seed)
    assert way is not None
    apart, kept = (constraint(between(arm, way)).min() for constraint in both.constraints)
    assert apart >= 0.0
    assert kept >= -RESERVE


def test_what_kernels_know_nothing_of_they_ask() -> None:
    """Two numbers go round a disc: of a constraint in Python alone."""
    arm, ends = elbow(), np.array([[1.0, 0.2], [-1.0, -0.2]])
    disc = KeptOff(arm, lambda q: np.linalg.norm(q, axis=1), 0.6)
    way = found(arm, PathFeasibility([disc]), ends, ways=6)
    assert way is not None
    assert disc(between(arm, way)).min() >= -RESERVE
    size = np.linalg.norm(np.diff(way, axis=0), axis=1).sum()
    tangents, radius = np.linalg.norm(ends, axis=1), disc.least
    turn = np.pi - np.arccos(radius / tangents).sum()
    assert size < 1.02 * (np.sqrt(tangents**2 - radius**2).sum() + radius * turn)


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_what_an_answer_raises_ends_the_search(error: type[BaseException]) -> None:
    arm, ends, asked = elbow(), np.array([[1.0, 0.2], [-1.0, -0.2]]), list[int]()

    def distances(q: Array) -> Array:
        asked.append(len(q))
        if len(asked) == 20:
            raise error("enough")
        return np.linalg.norm(q, axis=1)

    with pytest.raises(error, match="enough"):
        found(arm, PathFeasibility([KeptOff(arm, distances, 0.6)]), ends)
    assert len(asked) == 20


def test_spent_time_ends_a_search_that_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that goes on by a millisecond at each look."""
    now = [0.0]

    def tick() -> float:
        now[0] += 1e-3
        return now[0]

    monkeypatch.setattr("poise.solving.path.clock.perf_counter", tick)
    arm, ends = elbow(), np.array([[1.0, 0.2], [-1.0, -0.2]])
    ring = KeptOff(arm, lambda q: np.abs(np.linalg.norm(q, axis=1) - 0.6), 0.1)  # one end is within it
    ends[1] = 0.0
    moved = np.ones(2, dtype=np.bool_)
    assert connect(arm, PathFeasibility([ring]), ends[0], ends[1], moved, seed=0, clock=Clock(0.5)) is None
    assert 0.5 <= now[0] < 0.6


def test_loops_stay_closed_on_a_way_around() -> None:
    """The plate of a parallel robot goes round a ball."""
    robot = delta().with_shapes({"plate": [pz.Sphere([0.0, 0.0, 0.0], 0.02)]})
    places = np.array([[0.12, 0.0, -0.6], [-0.12, 0.0, -0.6]])
    ends = np.stack([pz.solve(robot, pz.PositionTask("plate", place)).q for place in places])
    ball = pz.World({"ball": pz.Sphere([0.0, 0.0, -0.6], 0.03)})
    keep = Clearance(robot, pz.CollisionLimit(ball, min_distance=0.0, self_collision=False))
    loops = Loops(robot, loop_tasks(robot, [pz.PositionTask("plate")]), limits=True, sums=None)
    way = found(robot, PathFeasibility([keep], loops), ends)
    assert way is not None
    assert np.array_equal(way[[0, -1]], ends)
    assert max(gap(robot, q) for q in way) <= 1e-7
    steps = np.abs(robot.difference(way[:-1], way[1:])).max(axis=1)
    assert steps.max() < 0.15
    rows, closed = loops.all_closed(between(robot, way, 6))
    assert closed.all()
    assert keep(rows).min() >= -RESERVE


def test_a_way_is_the_same_again() -> None:
    arm, both, ends = hall()
    one, other, third = (found(arm, both, ends, seed=seed) for seed in (5, 5, 6))
    assert one is not None
    assert other is not None
    assert third is not None
    assert np.array_equal(one, other)
    assert not np.array_equal(one, third)

"""What an answer fulfils, as rows: the tasks', the sides of ranges, sums of joints and distances of shapes.

A row is what it lacks, e, and J = -de/dq, so that a step dq takes it to e - J dq.  Of what must not be crossed e is the
room that is left.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Final, NamedTuple, final

import numpy as np

from poise.geometry.world import World
from poise.kernels.machine.jit import prepare
from poise.model.loosening import Loose
from poise.model.model import Model
from poise.model.proximity import nearest_in, slopes_of_many
from poise.model.scene import Scene
from poise.model.swing import BallLimits
from poise.quaternions import quaternion_exp, quaternion_product
from poise.solving.borders import border_rows, borders, ranges
from poise.solving.collision import CollisionLimit
from poise.solving.kept import kept
from poise.solving.outcome import Asked
from poise.solving.problem import pack
from poise.solving.rows import active_rows
from poise.solving.scratch import Bound
from poise.spatial import Array
from poise.tasks.base import Task

_TURN: Final = 1e-2
"""Of differences of the fourth order of what is left of swing and twist [rad]."""
_TURNS: Final = _TURN * np.concatenate([way * np.eye(3) for way in (1.0, -1.0, 2.0, -2.0)])
_CONTACTS: Final = 8
"""Pairs of shapes that are looked for, at most."""


@final
class Contact(NamedTuple):
    """Two shapes that are as near as they may be."""

    pair: tuple[str, str]
    least: float
    """How near they may come [m]."""
    scene: Scene
    """These two alone."""

    def row(self, q: Array) -> tuple[float, Array]:
        """The room that is left [m], and its row (nv,), at q (nq,)."""
        return nearest_in(self.scene, q).distance - self.least, -slopes_of_many(self.scene, q[None])[0]


@final
class Ball(NamedTuple):
    """A spherical joint with limits of swing and twist."""

    name: str
    limits: BallLimits
    v: int
    """Its first velocity."""

    def rows(self, q: Array, nv: int) -> tuple[Array, Array]:
        """The rooms that are left of swing and twist (2,) [rad], and their rows (2, nv), at q (nq,)."""
        wxyz = q[self.limits.place : self.limits.place + 4]
        turns = quaternion_product(quaternion_exp(_TURNS), wxyz)
        rooms = self.limits.rooms(turns).reshape(2, 2, 3, 2)  # near and far, one way and the other, about x, y and z
        near, far = (ends[0] - ends[1] for ends in rooms)
        out = np.zeros((2, nv))
        out[:, self.v : self.v + 3] = -((8.0 * near - far) / (12.0 * _TURN)).T
        return self.limits.rooms(wxyz), out


@final
class Conditions:
    """All rows of a problem on a model, without the limits of joints: those of its tasks first, then the others."""

    def __init__(
        self,
        model: Model,
        tasks: Sequence[Task],
        sums: tuple[Array, Array],
        contacts: Sequence[Contact],
        balls: Sequence[str],
    ) -> None:
        """`sums` are rows (p, nv) and the most of each; `balls` are joints whose limits of swing and twist count."""
        self.model, self.contacts, self._sums = model, contacts, sums
        named = zip((joint.name for joint in model.joints if joint.ball is not None), model.ball_limits, strict=True)
        self._balls = [Ball(name, limits, model.velocity_index(name).start) for name, limits in named if name in balls]
        self._kept = ranges(tasks)
        problem, sides = pack(model, tasks, limits=False), sum(task.sides for task in self._kept)
        if sides:
            sections = border_rows(sides, len(problem.velocities))
            problem = problem.extended({"borders": borders(tasks, None)}, sections)
        self._bound = Bound(problem, ("ranges",) if sides else ())
        self._velocities = list(problem.velocities)
        self.tasks = 3 * problem.blocks
        """Rows of the tasks."""
        self.labels = [
            *(task.label for task in self._kept for _ in range(task.sides)),
            *("a sum of joints" for _ in sums[1]),
            *(" and ".join(map(repr, contact.pair)) for contact in contacts),
            *(f"{ball.name}.{what}" for ball in self._balls for what in ("swing", "twist")),
        ]
        """What the rows behind are of."""
        self.slack = np.array(
            [*(_SIDE,) * sides, *(_SUM,) * len(sums[1]), *(_SHAPES,) * len(contacts), *(_SUM,) * 2 * len(self._balls)]
        )
        """How much room these may have and still be what a search came to rest at."""

    def __call__(self, q: Array, goal: Array) -> tuple[Array, Array]:
        """e (m,) and J (m, nv) at q (nq,), for the goal numbers of the tasks; e is NaN where these are none."""
        problem = self._bound.problem
        with self._bound.scratch() as scratch:
            scratch.goal[:], scratch.start[:] = goal, q
            code, e, active = active_rows(problem, scratch)
            if code < 0:
                e[:] = np.nan
            if self._kept:
                prepare("requirements.gaps.gaps")(scratch.address)
                gaps = -scratch.narrow[problem.rows("gap")]
                sides = scratch.narrow[problem.rows("border_rows")].reshape(len(gaps), -1)[:, : active.shape[1]]
                e, active = np.concatenate([e, gaps]), np.vstack([active, sides])
        moved = np.zeros((len(e), self.model.nv))
        moved[:, self._velocities] = active
        rows, most = self._sums
        if not (self.contacts or len(most) or self._balls):
            return e, moved
        found = [contact.row(q) for contact in self.contacts] + [ball.rows(q, self.model.nv) for ball in self._balls]
        rooms = [np.atleast_1d(room) for room, _ in found]
        return np.concatenate([e, most - rows @ self._plain(q), *rooms]), np.vstack(
            [moved, rows, *(r for _, r in found)]
        )

    def _plain(self, q: Array) -> Array:
        """(nv,) the coordinates that add like numbers, where their velocities are."""
        at_q, at_v = self.model._plain
        out = np.zeros(self.model.nv)
        out[at_v] = q[at_q]
        return out

    def on(self, loose: Loose, tasks: Sequence[Task]) -> "Conditions":
        """The same on the model with a placement let loose, for the same tasks there."""
        rows, most = self._sums
        spread = np.zeros((len(most), loose.model.nv))
        spread[:, loose.velocities] = rows
        contacts = [c._replace(scene=c.scene.of(loose.model)) for c in self.contacts]
        return Conditions(loose.model, tasks, (spread, most), contacts, [ball.name for ball in self._balls])


_NARROW: Final = 2.0 * _TURN
"""A limit of swing or twist that is this narrow has no sides to tell from each other [rad]."""
_SIDE: Final = 2e-5
_SUM: Final = 1e-6
_SHAPES: Final = 1e-3
"""The reserves that steps keep of a side of a range [m or rad], a sum [rad or m] and a distance [m], and as much."""


def conditions_of(model: Model, asked: Asked, q: Array) -> Conditions:
    """Those of what was asked, with the shapes that are near at q (nq,)."""
    apart = asked.limits.apart
    if apart is None:
        return kept(model, (Conditions, asked), lambda: _made(model, asked, ()))
    return _made(model, asked, _contacts(model, apart, q))


def _made(model: Model, asked: Asked, contacts: Sequence[Contact]) -> Conditions:
    problem = asked.problem
    stated = problem.section("inequalities").reshape(-1, len(problem.velocities) + 1)
    rows = np.zeros((len(stated), model.nv))
    rows[:, list(problem.velocities)] = stated[:, :-1]
    limited = {int(ball["q"]) for ball in problem.section("balls") if ball["limited"]}
    balls = [j.name for j in model.joints if j.ball is not None and model.index(j.name).start in limited]
    for name, ball in ((n, b) for n in balls for b in model.ball_limits if b.place == model.index(n).start):
        if min(ball.half, *np.ravel(ball.semi_axes)) <= _NARROW:
            raise ValueError(
                f"the swing or twist of {name!r} has no width, and its gradient is not at hand: make it a hinge, or "
                "take differences of two solves"
            )
    return Conditions(model, asked.frame_tasks, (rows, np.array(stated[:, -1])), contacts, balls)


def _contacts(model: Model, limit: CollisionLimit, q: Array) -> list[Contact]:
    """The pairs of shapes that a search may have come to rest at."""
    found: list[Contact] = []
    names = frozenset((*model.fitted_shapes, *(() if limit.world is None else limit.world.names)))
    scene = limit.scene(model)
    while len(found) < _CONTACTS:
        near = nearest_in(scene, q)
        least = limit.least(model, *near.pair) if near.pair[0] else 0.0
        if not near.distance - least <= _SHAPES:
            break
        found.append(Contact(near.pair, least, _of_two(model, limit.world, names, near.pair)))
        scene = scene.without(near.pair)
    return found


def _of_two(model: Model, world: World | None, names: frozenset[str], pair: tuple[str, str]) -> Scene:
    """The scene of two shapes alone."""
    links = {name: model.fitted_shapes[name] for name in pair if name in model.fitted_shapes}
    others = frozenset(frozenset(two) for two in combinations(sorted(names), 2)) - {frozenset(pair)}
    return Scene(model, links, None if len(links) == 2 else world, allowed=others)

"""Shapes that must not come near each other: the limit, and how a method and a search are told of it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np

from poise.common.array import Array
from poise.common.checks import not_negative, positive, yes_or_no
from poise.common.errors import InvalidType, InvalidValue, ShapeNotFound
from poise.geometry.world import World
from poise.kernels.machine.layout import COLLISION, MAX_COLLISION_ROWS, WIDTH
from poise.kernels.requirements.collision import BUILT_NEAR_RESERVE
from poise.model.frame import WORLD
from poise.model.model import Model
from poise.model.proximity import Proximity, at_home, excluded_pairs, nearest_in, nearest_of_many, slopes_of_many
from poise.model.scene import Scene
from poise.solving.problem.workspace import Shapes
from poise.solving.requirements.active_limit import ActiveLimit
from poise.solving.requirements.inequalities import Constraint
from poise.spatial import SE3
from poise.tasks.frame import OfFrame
from poise.tasks.value import freeze

RESERVE: Final = 5e-4
"""What a tracker aims to keep beyond the least distance [m]: more than the curvature of a step takes back."""
AT_DISTANCE: Final = 2.0 * RESERVE
"""Two shapes that are no farther apart than this beyond the least distance [m] are at it."""
_SHARE: Final = 0.5
_RETREAT: Final = 0.01
_LOOKAHEAD_LENGTH: Final = 0.05
"""Of an update without a time step: the share of what is left that a pair may get nearer by, how much one that is too
near gets apart at most [m], and how far ahead of any point pairs are looked for [m]."""

_HOME_SLACK: Final = 1e-6
"""How much nearer than at home links may be led that are near there [m]: so the home itself asks for no retreat."""
SAID: Final = "least distances of which a note has told"
"""Under this a model keeps them among its `queries`."""
_SHOWN: Final = 4
"""Pairs that a note names."""
_STILL: Final = 1e-9
"""A change of a distance that is none [m per rad or m]."""
_POSTURES: Final = 64
"""Postures that tell whether any parts two shapes."""

_AHEAD: Final = 2.0
"""How far ahead of any point pairs are looked for where a speed has no limit, as that of a floating base [m/s]; a step
that goes farther is looked at once more."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class CollisionLimit(Constraint):
    """No two shapes, of links and of a world, come nearer to each other than `min_distance`.

    In a `Tracker` each pair that both could reach within a step gets an inequality: its distance d may shrink by no
    more than 1 - exp(-rate dt) of what is left of it (a velocity damper, Faverjon and Tournassoud 1987).  The step is
    then taken as far as distances at its end, and along it if `continuous`, say that nothing is too near.  Pairs that
    are too near already are pushed apart at `retreat`.  In `solve` a solution counts where all pairs are that far
    apart.

    Links of the robot that are nearer to each other at the model's home are built so.  What they have there is what is
    asked of them, see `least`; a note to the logger `poise` names them, once for a model and a `min_distance`.
    """

    world: World | None = None
    """What stands in the way, and what links carry; None: links against links alone.  It may change at any time."""
    min_distance: float = 0.01
    """[m]; 0 lets shapes touch."""
    self_collision: bool = True
    """Whether links are kept from one another too."""
    allowed: Sequence[tuple[str, str]] = ()
    """Pairs that may touch, links or shapes of the world, such as feet and the floor."""
    rate: float = 50.0
    """[1/s] how quickly a pair may close in on `min_distance`."""
    retreat: float = 0.1
    """[m/s] how fast a pair that is too near is pushed apart at most; the tasks may part it faster."""
    continuous: bool = True
    """Whether steps are looked at on their way too (continuous collision detection); False: where they end alone, which
    takes less time, and suffices where only that is judged, as the frames of a motion are."""

    def __post_init__(self) -> None:
        if self.world is not None and not isinstance(self.world, World):
            raise InvalidType(
                "wrong-type", f"world must be a World, as in CollisionLimit(World([Box(...)])), got {self.world!r}"
            )
        not_negative("min_distance", self.min_distance)
        yes_or_no("self_collision", self.self_collision)
        yes_or_no("continuous", self.continuous)
        if not isinstance(self.allowed, (list, tuple, set, frozenset)) or not all(map(_is_pair, self.allowed)):
            raise InvalidValue(
                "not-a-sequence",
                f"allowed must hold pairs of names, as in [('left_foot', 'floor')], got {self.allowed!r}",
            )
        positive("rate", self.rate)
        positive("retreat", self.retreat)
        freeze(self)

    def scene(self, model: Model, *, ahead: float = 0.0) -> Scene:
        """The shapes as they are now, and will be in `ahead` seconds.

        Raises ValueError for a model without shapes.
        """
        self._log_near_links(model)
        shapes = model.fitted_shapes
        carried = () if self.world is None else [x for x in self.world.snapshot().entries if x.link is not None]
        if not shapes and not carried:
            raise InvalidValue(
                "no-shapes",
                f"{model.name} has no collision shapes, so nothing can be kept apart: give it some with "
                "model.with_shapes, or leave the CollisionLimit out",
            )
        return Scene(
            model,
            shapes,
            self.world,
            excluded=excluded_pairs(model) if self.self_collision else None,
            allowed=self._pairs(model),
            eases={pair: self.min_distance - least for pair, least in self._built_near(model).items()},
            ahead=ahead,
        )

    def nearest(self, model: Model, q: Array) -> Proximity:
        """The two shapes at q (nq,) that are nearest to each other, or to the least distance that is their own."""
        scene = self.scene(model)
        return nearest_in(scene, q)

    def at_target(self, model: Model, task: OfFrame, target: SE3) -> tuple[Proximity, float] | None:
        """What of the world is nearest to the links that the task's frame is fixed to, where it is at `target`, and how
        far tolerances let any point of them be from there [m]; None if nothing may meet.

        No joint has a say in it: the world is looked at as it lies to these links, from where they are at home.
        """
        body, home = model.tree.links[model.frame(task.frame).link][0], task.frame_pose(model, model.home)
        shapes = {link: some for link, some in model.fitted_shapes.items() if model.tree.links[link][0] == body}
        if self.world is None or not shapes:
            return None
        seen, still = home @ target.inverse(), [x for x in self.world.snapshot().entries if x.link is None]
        moved = World({entry.name: entry.shape.placed(seen) for entry in still})
        near = nearest_in(Scene(model, shapes, moved, excluded=None, allowed=self._pairs(model)), model.home)
        if near.distance == math.inf:
            return None
        places = [(model.pose(link, model.home).act(x.core.pose.xyz), x.core) for link in shapes for x in shapes[link]]
        lever = max(float(np.linalg.norm(place - home.xyz)) + core.bound for place, core in places)
        return near, task.blocks[0].tolerance + task.blocks[1].tolerance * lever

    def is_kept(self, model: Model, q: Array) -> bool:
        """Whether all shapes are as far apart as asked at q (nq,)."""
        return self.holds_in(model, self.scene(model), q)

    def holds_in(self, model: Model, scene: Scene, q: Array) -> bool:
        """Whether those of its scene are at q (nq,)."""
        return self.allows(model, nearest_in(scene, q))

    def allows(self, model: Model, near: Proximity) -> bool:
        """Whether two shapes are as far apart as asked of them."""
        return near.distance >= self.least(model, *near.pair)

    def least(self, model: Model, one: str, other: str) -> float:
        """How near two links, or shapes of the world, may come [m]: `min_distance`, or what links have at home."""
        return self._built_near(model).get(frozenset((one, other)), self.min_distance)

    def unparted(self, model: Model, pair: tuple[str, str]) -> str:
        """What to do about a link and a shape of the world that no posture parts, as a base and the table under it.

        Empty for other pairs.
        """
        shapes = model.fitted_shapes
        links = [name for name in pair if name in shapes]
        if self.world is None or len(links) != 1:
            return ""
        others = frozenset(frozenset((links[0], name)) for name in self.world.names if name not in pair)
        scene = Scene(model, {links[0]: shapes[links[0]]}, self.world, excluded=None, allowed=others)
        near = nearest_of_many(scene, model.sample(_POSTURES, seed=0))
        if not ((near.distance < self.min_distance) & (near.pair == pair).all(axis=1)).all():
            return ""
        return (
            f" No posture of {_POSTURES} at random parts these two: where they are to touch, as a base and its table, "
            f"give the CollisionLimit allowed=[{pair!r}]."
        )

    def can_part(self, model: Model, q: Array, velocities: Sequence[int]) -> bool:
        """Whether some of the velocities change the distance of the two shapes that are nearest at q (nq,)."""
        slopes = slopes_of_many(self.scene(model), q[None])[0]
        return bool(np.abs(slopes[list(velocities)]).max(initial=0.0) > _STILL)

    def holds_back(self, model: Model, q: Array, push: Array) -> bool:
        """Whether the two shapes that are nearest at q (nq,) stand at their least distance, and velocities `push` (nv,)
        would bring them nearer."""
        scene = self.scene(model)
        if not at_distance(self, model, nearest_in(scene, q)):
            return False
        return bool(slopes_of_many(scene, q[None])[0] @ push < 0.0)

    def _built_near(self, model: Model) -> dict[frozenset[str], float]:
        """The least distances of links that are nearer at home than a tracker keeps them."""
        if not self.self_collision:
            return {}
        near = at_home(model, self.min_distance + RESERVE)
        reserve = BUILT_NEAR_RESERVE
        return {pair: min(distance - reserve, self.min_distance) - _HOME_SLACK for pair, distance in near.items()}

    def _log_near_links(self, model: Model) -> None:
        """Say once which links are nearer at home than `min_distance`."""
        said: set[float] = model.queries.setdefault(SAID, set())
        near = at_home(model, self.min_distance) if self.self_collision and self.min_distance not in said else {}
        pairs = sorted((d, " and ".join(sorted(pair))) for pair, d in near.items() if pair not in self._pairs(model))
        if pairs:
            import logging

            said.add(self.min_distance)
            words = [f"{names} ({1e3 * d:.3g} mm)" for d, names in pairs[:_SHOWN]]
            more = f" and {len(pairs) - _SHOWN} pairs more" if len(pairs) > _SHOWN else ""
            logging.getLogger("poise").warning(
                "%s: %s%s are nearer to each other at home than the %g mm that its CollisionLimit asks for; they are "
                "kept as far apart as they are there",
                model.name, ", ".join(words), more, 1e3 * self.min_distance,
            )  # fmt: skip

    def _pairs(self, model: Model) -> frozenset[frozenset[str]]:
        """What may touch; raises ShapeNotFound for a name that is neither a link's nor a shape's."""
        known = {*model.links, WORLD, *(() if self.world is None else self.world.names)}
        for name in (name for pair in self.allowed for name in pair):
            if name not in known:
                raise ShapeNotFound(name, known, owner="a pair in allowed")
        return frozenset(map(frozenset, self.allowed))

    def guard(self, dt: float | None, *, bounded: bool = True) -> Any:
        """The record that kernels read, for updates of `dt` [s], or without a time step.

        `bounded`: whether all speeds have limits, so that pairs can be looked for as far ahead as they lead.
        """
        made = np.zeros(1, dtype=COLLISION.dtype)
        made["continuous"], made["distance"], made["reserve"] = self.continuous, self.min_distance, RESERVE
        made["share"] = _SHARE if dt is None else -math.expm1(-self.rate * dt)
        made["retreat"] = _RETREAT if dt is None else self.retreat * dt
        made["lookahead"] = _LOOKAHEAD_LENGTH if dt is None else math.inf if bounded else _AHEAD * dt
        return made.view(np.int64)


def at_distance(limit: Shapes, model: Model, near: Proximity) -> tuple[ActiveLimit, ...]:
    """The limit of two shapes, where they stand at it."""
    least = limit.least(model, *near.pair)
    if near.distance > least + AT_DISTANCE:
        return ()
    return (ActiveLimit("distance", " and ".join(near.pair), near.distance, least),)


def _is_pair(pair: Any) -> bool:
    """Whether these are two names."""
    two = isinstance(pair, (tuple, list)) and len(pair) == 2 and all(isinstance(name, str) for name in pair)
    return two and pair[0] != pair[1]


def guard_rows(columns: int) -> dict[str, int]:
    """Rows of a workspace for the inequalities of pairs, with so many active velocities."""
    return {
        "constraints.collision_rows": MAX_COLLISION_ROWS * WIDTH * -(-columns // WIDTH),
        "constraints.collision_bounds": MAX_COLLISION_ROWS,
        "constraints.collision_before": MAX_COLLISION_ROWS,
        "clearance": 2,
    }


def one_collision_limit(limits: Sequence[Any]) -> CollisionLimit | None:
    """The collision limit among these; raises ValueError where there are two."""
    found = [limit for limit in limits if isinstance(limit, CollisionLimit)]
    if len(found) > 1:
        raise InvalidValue(
            "too-many", "limits holds two CollisionLimits: put all shapes into one World and keep one limit"
        )
    return found[0] if found else None

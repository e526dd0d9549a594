"""What the operator has set: the law or another method, the desired joints, the obstacles and who heeds them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final, final

from poise.common.checks import finite, not_negative, whole, yes_or_no
from poise.common.errors import InvalidType, InvalidValue, ShapeNotFound
from poise.geometry.shapes import Rounded, checked_point
from poise.geometry.world import World
from poise.methods.base import Method, NullSpaceMethod
from poise.model.model import Model
from poise.spatial import SE3, SO3
from poise.viewer.operator.control_law import Law

_MOST_UPDATES: Final = 1000
_LONGEST_NAME: Final = 80


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Obstacle:
    """Something in the way; raises TypeError or ValueError for what is none."""

    name: str
    shape: Rounded
    """In the world."""
    repels: bool = True
    """Whether the law heeds it, by K_obs."""
    stops: bool = False
    """Whether no link may come nearer to it than the setup's `min_distance`."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", named("an obstacle", self.name))
        if not isinstance(self.shape, Rounded):
            raise InvalidType(
                "not-a-shape", f"the obstacle {self.name!r} must be a Sphere, a Capsule or a Box, got {self.shape!r}"
            )
        for field in ("repels", "stops"):
            yes_or_no(f"{field} of the obstacle {self.name!r}", getattr(self, field))


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """All that the operator sets, and that a motion was made with; it never changes, an edit makes another.

    Raises TypeError or ValueError for what makes no sense.
    """

    desired: tuple[float, ...]
    """(nq,) q_d, the posture that K pulls to [rad or m]."""
    law: Law = Law()
    method: Method | None = None
    """None: the law.  Another method takes the law's null-space terms where it can have such."""
    obstacles: tuple[Obstacle, ...] = ()
    min_distance: float = 0.01
    """What is kept from an obstacle that stops [m]."""
    self_collision: bool = False
    """Whether links are kept from one another too."""
    updates: int = 1
    """Updates of the method in each tick."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "desired", tuple(finite("desired", self.desired).ravel().tolist()))
        for what, kind in ((self.law, Law), (self.method, Method | None), *((one, Obstacle) for one in self.obstacles)):
            if not isinstance(what, kind):
                raise InvalidType("wrong-type", f"a setup has a Law, a method or None, and obstacles; got {what!r}")
        names = [obstacle.name for obstacle in self.obstacles]
        for name in names:
            if names.count(name) > 1:
                raise InvalidValue(
                    "duplicate", f"there is an obstacle {name!r} already; choose another name, or move that one"
                )
        not_negative("min_distance", self.min_distance)
        yes_or_no("self_collision", self.self_collision)
        whole("updates", self.updates, 1)
        if self.updates > _MOST_UPDATES:
            raise InvalidValue("out-of-range", f"updates is {self.updates}; the most in a tick is {_MOST_UPDATES}")
        if isinstance(self.method, NullSpaceMethod) and self.method.terms:
            raise InvalidValue(
                "conflict",
                "the program gives a method its null-space terms itself, from K, K_obs, the desired joints and the "
                "obstacles: leave null_space out",
            )

    @classmethod
    def of(cls, model: Model) -> "Setup":
        """The law as it is by default, with the model's home as the desired joints, in empty space."""
        return cls(desired=tuple(model.home.tolist()))

    @property
    def full_method(self) -> Method:
        """The method with the terms of the null space that are set."""
        method = self.law.method() if self.method is None else self.method
        if not isinstance(method, NullSpaceMethod):
            return method
        repelling = [obstacle.shape for obstacle in self.obstacles if obstacle.repels]
        return replace(method, null_space=self.law.terms(self.desired, repelling) or None)

    @property
    def stopping(self) -> tuple[Obstacle, ...]:
        """The obstacles that stop."""
        return tuple(obstacle for obstacle in self.obstacles if obstacle.stops)

    @property
    def stops(self) -> bool:
        """Whether shapes are kept apart."""
        return self.self_collision or len(self.stopping) > 0

    def world(self) -> World:
        """All obstacles, whoever heeds them."""
        return World({obstacle.name: obstacle.shape for obstacle in self.obstacles})

    def obstacle(self, name: str) -> Obstacle:
        """The obstacle of this name; raises ShapeNotFound."""
        found = {obstacle.name: obstacle for obstacle in self.obstacles}
        if name not in found:
            raise ShapeNotFound(name, found, owner="the scene")
        return found[name]

    def edited(self, name: str, edit: Callable[[Obstacle], Obstacle | None]) -> "Setup":
        """The setup with another obstacle in place of one, or with none; raises ShapeNotFound."""
        chosen = self.obstacle(name)
        edits = [edit(obstacle) if obstacle is chosen else obstacle for obstacle in self.obstacles]
        return replace(self, obstacles=tuple(obstacle for obstacle in edits if obstacle is not None))


def surround(world: World, obstacles: Iterable[Obstacle]) -> None:
    """Let a world hold these obstacles and nothing else; what is there already stays as it is."""
    there = {obstacle.name: obstacle.shape for obstacle in obstacles}
    for name in world.names:
        if name not in there:
            world.remove(name)
    for name, shape in there.items():
        if name not in world:
            world.add(name, shape)
        elif world[name] is not shape:
            world.replace(name, shape)


def aimed(goal: object, rotation: SO3) -> SE3:
    """A target from a pose, as `SE3.parse` takes it, or from a point (3,), which keeps `rotation`.

    Raises ShapeError or ValueError for what is neither.
    """
    if isinstance(goal, SE3):
        pose = goal
    else:
        numbers = finite("target", goal)  # type: ignore[arg-type]
        pose = SE3.from_parts(numbers, rotation) if numbers.shape == (3,) else SE3.parse(numbers, "target")
    if pose.array.ndim != 1:
        raise InvalidValue("too-many", f"target must be one pose or point, got a batch of {pose.array.shape[:-1]}")
    checked_point("target", pose.xyz)
    return pose


def named(what: str, name: object) -> str:
    """The name; raises TypeError or ValueError for one that a list and a file cannot show."""
    if not isinstance(name, str):
        raise InvalidType("wrong-type", f"the name of {what} must be a str, got {name!r}")
    if not name or len(name) > _LONGEST_NAME or not name.isprintable() or name != name.strip():
        raise InvalidValue(
            "wrong-format",
            f"{name!r} is no name for {what}: it must be 1 to {_LONGEST_NAME} printable characters, without spaces "
            "around them",
        )
    return name

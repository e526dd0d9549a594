"""What the caller of a search says beside tasks and limits."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, final, get_args

from poise.common.checks import one_of, positive, whole, yes_or_no

if TYPE_CHECKING:
    from poise.methods.base import Method

Preference: TypeAlias = Literal["nearest", "first"]
"""Which solution a solve returns: the nearest to q0 of those found, or the first."""
PREFERENCES: Final = get_args(Preference)
BY_STEPS: Final = "priority"
"""The method that searches where some tasks give way to others: steps of levels, a posture the last of them."""
_EVER: Final = 1e9
"""Seconds that are no limit: thirty years."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """As `solve` takes them; None where the caller does not say."""

    method: "str | Method | None" = None
    select: Preference = "nearest"
    seed: int = 0
    max_iterations: int | None = None
    max_restarts: int | None = None
    max_time: float | None = None
    trace: bool = False

    def __post_init__(self) -> None:
        yes_or_no("trace", self.trace, ", whether every iteration is recorded")
        one_of("select", self.select, PREFERENCES)
        for name, least in (("max_iterations", 1), ("max_restarts", 0)):
            if getattr(self, name) is not None:
                whole(name, getattr(self, name), least)
        whole("seed", self.seed, 0)
        if self.max_time is not None:
            positive("max_time", self.max_time)
            if self.max_time > _EVER:
                object.__setattr__(self, "max_time", None)

"""What a model keeps of what was prepared for it, so that the next call does not pay for it again."""

from collections.abc import Sequence
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from poise.common.checks import one_of
from poise.model.model import Model, a_model
from poise.solving.arguments.arguments import chosen
from poise.solving.arguments.lru_cache import cached
from poise.solving.requirements.limits import LimitsLike, key_of
from poise.solving.search.search import Search
from poise.solving.search.settings import PREFERENCES, Preference, SearchSettings
from poise.tasks.base import Task

if TYPE_CHECKING:
    from poise.methods.base import Method

STRUCTURE: Final = attrgetter("structure")
"""By which a task is found again, whatever its target."""


def prepared_search(
    model: Model,
    tasks: Sequence[Task],
    *,
    method: "str | Method | None" = None,
    limits: LimitsLike = True,
    select: Preference = "nearest",
    max_iterations: int | None = None,
    max_restarts: int | None = None,
    max_time: float | None = None,
    trace: bool = False,
    also: Sequence[int] = (),
) -> Search:
    """The search that the model keeps for tasks of this structure and these settings."""
    a_model(model)
    if (
        method is None and limits is True and select == "nearest" and max_iterations is None and max_restarts is None
        and max_time is None and trace is False and not also
    ):  # fmt: skip
        return cached(model, (Search, *map(STRUCTURE, tasks)), partial(Search, model, tasks))
    one_of("select", select, PREFERENCES)
    named = chosen(method)
    reads = named and named.reads
    settings = max_iterations, max_restarts, max_time, trace
    kinds = map(type, settings)  # 1, 1.0 and True are the same to a dict, and not as settings

    def make() -> Search:
        said = SearchSettings(
            method=named, select=select, max_iterations=max_iterations, max_restarts=max_restarts, max_time=max_time,
            trace=trace,
        )  # fmt: skip
        return Search(model, tasks, limits=limits, settings=said, also=also)

    key = Search, named, reads, key_of(limits), select, *settings, *kinds, *also, *map(STRUCTURE, tasks)
    return cached(model, key, make)

"""The search that a model keeps for tasks of a structure and some settings, which the next call need not prepare."""

from collections.abc import Sequence
from typing import get_args

from poise.checks import one_of
from poise.kernels.machine.reads import Reads
from poise.methods.base import Method, method_of
from poise.model.model import Model, a_model
from poise.solving.limits import Limits, Stated
from poise.solving.prepared import keep, recall
from poise.solving.search import Preference, Search
from poise.tasks.base import Task


def prepared_search(
    model: Model,
    tasks: Sequence[Task],
    *,
    method: str | Method | None,
    limits: Stated,
    prefer: Preference,
    max_iterations: int | None,
    max_restarts: int | None,
    max_time: float | None,
    trace: bool,
    also: Sequence[int] = (),
) -> Search:
    """The search that the model keeps for tasks of this structure and these settings."""
    a_model(model)
    stated = Limits.of(limits)
    one_of("prefer", prefer, get_args(Preference))
    named = _as_it_reads(method_of(method)) if method is not None else None
    key = (
        named,
        stated.key,
        prefer,
        max_iterations,
        max_restarts,
        max_time,
        trace,
        tuple(also),
        *(task.structure for task in tasks),
    )
    search: Search | None = recall(model, key)
    if search is None:
        search = Search(
            model, tasks, method=named and named[0], limits=limits, prefer=prefer, max_iterations=max_iterations,
            max_restarts=max_restarts, max_time=max_time, trace=trace, also=also,
        )  # fmt: skip
        keep(model, key, search)
    return search


def _as_it_reads(method: Method) -> tuple[Method, Reads]:
    """A method, and what functions of a user's in it read, by which what is prepared for it is found again."""
    return method, method.reads

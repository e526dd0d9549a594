"""compare: methods side by side, on the same problems, from the same starts, under the same tolerances and judge."""

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Sequence
from time import perf_counter_ns
from typing import Any, Final, final

import numpy as np
import numpy.typing as npt

from poise.bench.judge import feasibility_of, judge
from poise.bench.problems import Problems, given_starts, goals, reachable, starts
from poise.bench.report import DEFAULT, Comparison
from poise.bench.row import Row
from poise.common.array import Array, ArrayLike
from poise.common.checks import whole
from poise.common.errors import InvalidType, InvalidValue, ShapeError
from poise.common.progress import LONG, bar, on_terminal
from poise.methods.base import Method, method_of
from poise.methods.registry import METHODS
from poise.model.model import Model, a_model
from poise.model.units import units
from poise.solving.answers.solution import Solution
from poise.solving.arguments.arguments import Tasks, several
from poise.solving.requirements.limits import Limits, LimitsLike
from poise.solving.requirements.outcome import Trace
from poise.solving.solvers.solver import Solver
from poise.spatial import SE3
from poise.tasks.base import Task

_TRACED: Final = 25
"""Problems that are solved once more with a trace, for oscillation and convergence."""
_POINTS: Final = 80
"""Iterations at which a convergence curve is kept, about."""


@final
@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class _Entrant:
    """A method that takes part."""

    label: str
    limits: bool
    solver: Solver
    tracer: Solver | None
    """The same with a trace and without restarts; None for the solver's own way, which is no one method's."""


def compare(
    model: Model,
    tasks: Tasks,
    targets: Any = None,
    *,
    methods: Sequence[str | Method | None] | None = None,
    q0: ArrayLike | None = None,
    count: int = 100,
    seed: int = 0,
    limits: LimitsLike = True,
    max_iterations: int | None = None,
    max_restarts: int = 0,
    max_time: float | None = None,
    progress: bool | None = None,
) -> Comparison:
    """Solve the same problems with each of `methods` and judge the answers alike.

    A method is a short name, an object, or None or "default" for the solver's own way, what `solve` does without a
    method: eight descents side by side, without a trace.  `methods` None: that and all methods.

    `targets` are N targets, as a Solver takes them, or one SE3 of N poses; None: `count` random ones, which are within
    reach and drawn with `seed`; what is not required keeps a target of its own, and so does a posture.  `q0` is one
    start for all (nq,) or one a problem (N, nq); None: random ones within the limits of joints, independent of the
    targets.  An answer is right if the poses of the model say so, to the tolerances of the tasks that are required,
    with loops closed and every joint within its limits, unless `limits` is False; a list of `limits` says what must
    hold beside them.  A method that cannot keep limits runs without them and is marked; one that cannot do the tasks is
    listed in `refused` with the reason.

    Each call is timed by itself, after one that warms up, and the methods take turns problem by problem, so that a
    machine that slows down slows all.  `max_iterations`, `max_restarts` and `max_time` are those of `solve`.  With
    `progress` a bar goes on on stderr; None: on a terminal, where it takes longer than two seconds.

    Raises FrameNotFound, ShapeError, and ValueError for arguments that make no sense or if no method can do the tasks.
    """
    a_model(model)
    given, positions = several(tasks), Limits.of(limits).positions
    problems = _problems(model, given, targets, q0, count, seed, limits)
    entrants, refused = _entrants(
        model, given, methods, limits=limits, seed=seed, max_iterations=max_iterations, max_restarts=max_restarts,
        max_time=max_time,
    )  # fmt: skip
    traced = sum(entrant.tracer is not None for entrant in entrants)
    rounds = len(problems.targets) + traced
    shown = progress or (progress is None and on_terminal())
    with bar("comparing", rounds, shown=shown, after=0.0 if progress else LONG, thread=False) as advance:
        answers, times = _race([entrant.solver for entrant in entrants], problems, advance)
        done, paths = itertools.count(len(problems.targets) + 1), []
        for entrant in entrants:
            paths.append([] if entrant.tracer is None else _traces(entrant.tracer, problems))
            if entrant.tracer is not None:
                advance(next(done))
    numbers = goals(model, given, problems.targets)
    with feasibility_of(model, given, limits) as feasibility:
        verdicts = [judge(model, given, numbers, np.array([a.q for a in some]), feasibility) for some in answers]
    rows = []
    for entrant, verdict, found, seconds, traces in zip(entrants, verdicts, answers, times, paths, strict=True):
        rows.append(
            Row(
                label=entrant.label,
                limits=entrant.limits,
                solved=verdict.reached & ~verdict.outside if positions else verdict.reached,
                claimed=np.array([answer.success for answer in found]),
                outside=verdict.outside,
                position_error=verdict.position.max(axis=1, initial=0.0),
                rotation_error=verdict.rotation.max(axis=1, initial=0.0),
                times=seconds,
                iterations=np.array([answer.iterations for answer in found]),
                oscillation=oscillation(model, traces),
                curve=convergence(traces),
            )
        )
    return Comparison(
        model=model.name,
        tasks=tuple(_described(task) for task in given),
        unit=" and ".join(unit for _, unit in _allowed(*given) if unit),
        joint_unit=" and ".join(sorted({unit for unit in units(model).values() if unit})),
        problems=problems,
        seed=seed,
        max_restarts=max_restarts,
        limits=positions,
        rows=tuple(rows),
        refused=refused,
    )


def oscillation(model: Model, traces: Sequence[Trace]) -> float:
    """See `Row.oscillation`."""
    means = []
    for trace in traces:
        if len(trace.q) > 2:
            steps = model.difference(trace.q[:-1], trace.q[1:])
            means.append(float(np.abs(np.diff(steps, axis=0)).sum(axis=1).mean()))
    return float(np.median(means)) if means else np.nan


def convergence(traces: Sequence[Trace]) -> tuple[npt.NDArray[np.int64], Array]:
    """See `Row.curve`; it ends where nothing changes any more, and has no points without traces."""
    if not traces:
        return np.zeros(0, dtype=np.int64), np.zeros(0)
    last = max(len(trace.error) for trace in traces) - 1
    at = np.unique(np.concatenate([[0], np.geomspace(1, last, _POINTS).round() if last else []])).astype(np.int64)
    errors: Array = np.median([trace.error[np.minimum(at, len(trace.error) - 1)] for trace in traces], axis=0)
    changing = np.flatnonzero(errors != errors[-1])
    stop = changing[-1] + 2 if len(changing) else 1
    return at[:stop], errors[:stop]


def _problems(
    model: Model, tasks: Sequence[Task], targets: Any, q0: ArrayLike | None, count: int, seed: int, limits: LimitsLike
) -> Problems:
    whole("count", count, 1)
    whole("seed", seed, 0)
    if targets is None:
        problems = reachable(model, tasks, count, seed, limits)
    else:
        if isinstance(targets, SE3):
            if targets.array.ndim != 2:
                raise ShapeError(f"targets must be N poses, got an SE3 of shape {targets.array.shape[:-1]}")
            targets = [targets[i] for i in range(len(targets.array))]
        elif not isinstance(targets, (Sequence, np.ndarray)) or isinstance(targets, str):
            raise ShapeError(f"targets must be a sequence of targets, one a problem, got {targets!r}")
        if not len(targets):
            raise InvalidValue("empty", "targets is empty; give at least one, or None for random ones")
        problems = Problems(tuple(targets), starts(model, len(targets), seed))
        goals(model, tasks, problems.targets)
    if q0 is None:
        return problems
    return Problems(problems.targets, given_starts(model, q0, len(problems.targets)))


def _entrants(
    model: Model,
    tasks: Sequence[Task],
    methods: Sequence[str | Method | None] | None,
    *,
    limits: LimitsLike,
    seed: int,
    max_iterations: int | None,
    max_restarts: int,
    max_time: float | None,
) -> tuple[list[_Entrant], dict[str, str]]:
    """Those that can do the tasks, and why the others cannot."""
    if isinstance(methods, str) or not isinstance(methods, Iterable | None):
        raise InvalidType(
            "not-a-sequence", f"methods must be a sequence, such as [{methods!r}], or None for all; got {methods!r}"
        )
    requested = [None, *METHODS] if methods is None else methods
    chosen = [None if method in (None, DEFAULT) else method_of(method) for method in requested]
    if not chosen:
        raise InvalidValue("empty", "methods is empty; name at least one, or None for all")
    entrants: list[_Entrant] = []
    refused: dict[str, str] = {}
    codes: set[str] = set()
    for label, method in zip(labels(chosen), chosen, strict=True):
        imposed = limits if method is None or method.capabilities.limits else False
        try:
            solver = Solver(
                model, tasks, method=method, limits=imposed, seed=seed, max_iterations=max_iterations,
                max_restarts=max_restarts, max_time=max_time,
            )  # fmt: skip
            tracer = None if method is None else Solver(
                model, tasks, method=method, limits=imposed, seed=seed, max_iterations=max_iterations, max_restarts=0,
                trace=True,
            )  # fmt: skip
        except ValueError as error:
            refused[label] = str(error)
            codes.add(getattr(error, "code", "not-supported"))
        else:
            entrants.append(_Entrant(label, solver.limits, solver, tracer))
    if not entrants:
        reasons = set(refused.values())
        several_reasons = "; ".join(f"{label}: {reason}" for label, reason in refused.items())
        raise InvalidValue(
            codes.pop() if len(codes) == 1 else "not-supported",
            reasons.pop() if len(reasons) == 1 else f"none of the methods can do this: {several_reasons}",
        )
    return entrants, refused


def labels(methods: Sequence[Method | None]) -> list[str]:
    """A label for each method: its short name, the settings that are not its defaults, and a number if it is not alone.

    None is the solver's own way.

    >>> from poise.methods import DampedLeastSquares
    >>> labels([DampedLeastSquares(), DampedLeastSquares(damping=0.1), DampedLeastSquares()])
    ['dls', 'dls(damping=0.1)', 'dls #2']
    """
    out: list[str] = []
    for method in methods:
        label = DEFAULT if method is None else _label(method)
        again = sum(other.partition(" #")[0] == label for other in out)
        out.append(f"{label} #{again + 1}" if again else label)
    return out


def _label(method: Method) -> str:
    usual = type(method)()
    settings = [(field.name, getattr(method, field.name)) for field in dataclasses.fields(method)]
    own = [f"{name}={value!r}" for name, value in settings if value != getattr(usual, name)]
    return f"{method.name}({', '.join(own)})" if own else method.name


def _race(
    solvers: Sequence[Solver], problems: Problems, advance: Callable[[int], None]
) -> tuple[list[list[Solution]], Array]:
    """Each solver's answers, and (solvers, N) seconds."""
    for solver in solvers:
        solver(problems.targets[0], problems.starts[0])
    answers: list[list[Solution]] = [[] for _ in solvers]
    times = np.zeros((len(solvers), len(problems.targets)))
    for i, (target, start) in enumerate(zip(problems.targets, problems.starts, strict=True)):
        for k, solver in enumerate(solvers):
            begin = perf_counter_ns()
            answer = solver(target, start)
            times[k, i] = (perf_counter_ns() - begin) * 1e-9
            answers[k].append(answer)
        advance(i + 1)
    return answers, times


def _traces(tracer: Solver, problems: Problems) -> list[Trace]:
    pairs = zip(problems.targets[:_TRACED], problems.starts[:_TRACED], strict=True)
    solved = [tracer(target, start) for target, start in pairs]
    return [solution.trace for solution in solved if solution.trace is not None]


def _allowed(*tasks: Task) -> list[tuple[float, str]]:
    """The least tolerance in each unit that the tasks have."""
    blocks = [block for task in tasks for block in task.blocks]
    units = [unit for unit in ("m", "rad", "") if any(block.unit == unit for block in blocks)]
    return [(min(block.tolerance for block in blocks if block.unit == unit), unit) for unit in units]


def _described(task: Task) -> str:
    """Type, frame and tolerances of a task."""
    if not task.required:
        return f"{task.label}, not required"
    allowed = " and ".join(f"{limit:g} {unit}".strip() for limit, unit in _allowed(task))
    return f"{task.label} to {allowed}" if allowed else task.label

"""The solutions of a target, and of many: joints, how good they are, and which of the branches each is."""

from collections.abc import Iterator, Sequence
from typing import Final, Protocol, final, overload

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.kernels.closed_form.branches import BRANCH, CERTIFIED, DISTANCE, LINE, NUMBER, ROWS_OF, SWEPT
from poise.model.model import Model
from poise.solving.answers.explain import task_errors
from poise.solving.problem.answer import Answer, Configurations
from poise.solving.problem.closed_form import ClosedForm, DirectForm
from poise.solving.unreachable.certificate import Certificate
from poise.solving.unreachable.infeasibility import certificate_of
from poise.tasks.base import Task
from poise.tasks.error import TaskError
from poise.tasks.frame import OfFrame

_MEET: Final = 3e-6
"""The least singular value over the largest where branches meet: those that differ by less than 1e-6 rad are one."""
_STILL: Final = 1e-9
"""A joint moves nothing whose column of the Jacobian is no more than this share of the largest."""


class Found(Protocol):
    """How all solutions are found: by which closed form, for which tasks, within which limits."""

    form: ClosedForm | None
    """None where they are searched for."""
    direct: DirectForm | None
    """What gives the starts of searches, so that these find all."""
    judged: tuple[Task, ...]
    """Whose errors are told."""
    limits: bool
    """Whether joints keep theirs."""
    samples: int
    """Values of a joint that is swept."""


@final
class Branch(Answer):
    """One solution of a target: joints, how good they are, and which of the branches it is.

    Attributes are read from the solver's output when they are asked for, so that making one costs next to nothing.
    """

    __slots__ = ("_raw", "_way", "model")

    def __init__(self, model: Model, way: Found, raw: Array) -> None:
        self.model, self._way, self._raw = model, way, raw

    @property
    def q(self) -> Array:
        """(nq,) configuration; every joint within its limits, unless they were not asked for."""
        return self._raw[BRANCH : BRANCH + self.model.nq]

    @property
    def distance(self) -> float:
        """How far q is from `q0`: the norm of `model.difference(q0, q)` over the joints that move the task [rad, m]."""
        return float(self._raw[DISTANCE])

    @property
    def number(self) -> int:
        """Which of the eight branches of the closed form it is; -1 for one that was found by a search.

        Of axes that lie anyhow it is a count, for as a target moves these go over into one another.  Else bit i is 1
        where choice i of the `label` is "-", and it stays the same as a target moves, as far as the branch goes on: up
        to a pose at which two of them meet.
        """
        return int(self._raw[NUMBER])

    @property
    def label(self) -> str:
        """Which branch it is, in words: the signs of the three choices, and the value of a joint that was swept."""
        form, number = self._way.form, self.number
        if form is None or number < 0:
            return "found by a search" if self._way.direct is None else f"by {self._way.direct.words}"
        if form.general:
            words = [f"solution {number + 1}"]
        elif form.choices[0] == form.choices[1]:
            words = [f"{form.choices[0]} {number % 4 + 1}", f"{form.choices[2]} {'+-'[number >> 2 & 1]}"]
        else:
            words = [f"{word} {'+-'[number >> i & 1]}" for i, word in enumerate(form.choices)]
        if form.swept is not None:
            words.append(f"{self.model.coordinates[form.swept]} at {self._raw[SWEPT]:.4g}")
        if self.line:
            words.append("one of a line of solutions")
        return ", ".join(words)

    @property
    def line(self) -> bool:
        """Whether it is one of a line of solutions, as where two axes fall together.

        A joint that then moves nothing, or whose part another can play, stays where `q0` has it.
        """
        return bool(self._raw[LINE] > 0.5)

    @property
    def double(self) -> bool:
        """Whether two branches or more meet in it, and are given as one; or it is one of a line of solutions.

        There the joints, without one that is swept, can move in a way that leaves the frame at rest to first order.  Of
        a frame that more than six joints lead, beside one that is swept, that is no news, and False.
        """
        task, form, model = self._way.judged[0], self._way.form, self.model
        if not isinstance(task, OfFrame):
            return False
        jacobian = model.jacobian(task.frame, self.q)
        if task.base is not None:
            base = model.jacobian(task.base, self.q)
            way = model.pose(task.frame, self.q).xyz - model.pose(task.base, self.q).xyz
            jacobian = jacobian - base - np.vstack([np.cross(base[3:].T, way).T, np.zeros_like(base[3:])])
        largest = np.abs(jacobian).max(axis=0)
        moving = largest > _STILL * largest.max()
        if form is not None and form.swept is not None:
            coordinates = form.problem.section("coordinates")
            moving[coordinates["v"][coordinates["q"] == form.swept]] = False
        columns = jacobian[:, moving] / np.repeat([max(np.abs(jacobian[:3]).max(), 1e-300), 1.0], 3)[:, None]
        values = np.linalg.svd(columns, compute_uv=False)
        return columns.shape[1] <= len(columns) and bool(values[-1] < _MEET * values[0])

    @property
    def errors(self) -> tuple[TaskError, ...]:
        """What is left of each task, measured by forward kinematics at q."""
        return task_errors(self._way.judged, self._raw[BRANCH + self.model.nq :])

    def __repr__(self) -> str:
        return f"Branch({self.label}; {self.position_error:.1e} m, {self.rotation_error:.1e} rad)"


@final
class Solutions(Configurations, Sequence[Branch]):
    """All solutions of a target that were found, the nearest to `q0` first; each within its tasks' tolerances.

    None within the limits is an empty sequence, and `explain` says what that proves.
    """

    __slots__ = ("_doubt", "_goal", "_missed", "_start", "_starts", "_total", "_way", "model", "raw")
    model: Model
    """Whose joints these are."""
    raw: Array
    """(k, .) numbers of each, as the kernels write them."""

    def __init__(
        self,
        model: Model,
        way: Found,
        raw: Array,
        total: int,
        goal: Array,
        start: Array,
        *,
        starts: int = 0,
        missed: bool = False,
        doubt: bool = False,
    ) -> None:
        self.model, self._way, self.raw, self._total, self._starts = model, way, raw, total, starts
        self._goal, self._start, self._missed, self._doubt = goal, start, missed, doubt

    def __len__(self) -> int:
        return len(self.raw)

    @overload
    def __getitem__(self, index: int) -> Branch: ...
    @overload
    def __getitem__(self, index: slice) -> "list[Branch]": ...
    def __getitem__(self, index: int | slice) -> "Branch | list[Branch]":
        if isinstance(index, slice):
            return [Branch(self.model, self._way, raw) for raw in self.raw[index]]
        return Branch(self.model, self._way, self.raw[index])

    def __iter__(self) -> Iterator[Branch]:
        return (Branch(self.model, self._way, raw) for raw in self.raw)

    @property
    def q(self) -> Array:
        """(k, nq) all configurations, the nearest to `q0` first."""
        return self.raw[:, BRANCH : BRANCH + self.model.nq]

    @property
    def distances(self) -> Array:
        """(k,) how far each is from `q0` [rad and m]."""
        return self.raw[:, DISTANCE]

    @property
    def numbers(self) -> npt.NDArray[np.int64]:
        """(k,) which branch each is, see `Branch.number`."""
        return self.raw[:, NUMBER].astype(np.int64)

    @property
    def total(self) -> int:
        """How many branches there are, within the limits or not; whole turns are no others."""
        return self._total

    @property
    def complete(self) -> bool:
        """Whether there are no others: of six axes that turn, of six with a wrist on slides, or of up to four of which
        those that turn are parallel; and not at a pose with a line of solutions.

        Of axes that lie anyhow it is False too where zeros of the polynomial in one angle are told apart by none of
        six eliminations, or more solutions are found than one of these has.
        """
        form = self._way.form
        lines = self._missed or bool(np.any(self.raw[:, LINE]))
        known = self._way.direct is not None or (form is not None and form.swept is None)
        return known and not lines and not self._doubt

    def explain(self) -> str:
        """What was found and how, and what it proves, as a sentence."""
        way = self._way
        many = f"{self._total} branch{'' if self._total == 1 else 'es'}"
        if way.direct is not None:
            kept = f"; {len(self)} within the limits" if way.limits and self._total else ""
            line = "; there is a line of solutions, of which one is given" if self._missed else ""
            return f"{many} by closed form ({way.direct.words}){kept}{line}" + self._why_none()
        if way.form is None:
            end = "there may be others" if self._total else "that proves nothing"
            return f"a search from {self._starts} starts found {many}; {end}"
        parts = [f"{many} by {'elimination' if way.form.general else 'closed form'} ({way.form.words})"]
        if way.form.swept is not None:
            swept = self.model.coordinates[way.form.swept]
            parts[0] += (
                f" at one value of {swept}, by a search" if self._starts else f" at {way.samples} values of {swept}"
            )
        inside = len(np.unique(self.raw[:, [NUMBER, SWEPT]], axis=0)) if len(self.raw) else 0
        if way.limits and self._total:
            parts.append(f"{inside} within the limits")
        if len(self.raw) > inside:
            parts.append(f"{len(self.raw)} with their whole turns")
        if np.any(self.raw[:, LINE]):
            parts.append("some are one of a line of solutions")
        if self._missed:
            parts.append(
                "a line of solutions may be missing, for where the joint that is free there was put it has none"
            )
        if self._doubt and way.form.swept is None:
            parts.append("some are so close to each other, or on a line, that others may be missing")
        return "; ".join(parts) + self._why_none()

    @property
    def certificate(self) -> Certificate | None:
        """The proof that the target is out of reach, whose checker asks no solver; None where nothing is proved, and
        where there is a solution.

        It is looked for when it is asked for: see `Solution.certificate`.
        """
        if len(self):
            return None
        start = self.model.clip(self._start) if self._way.limits else self._start
        return certificate_of(self.model, self._way.judged, self._goal, start, limits=self._way.limits)

    def _why_none(self) -> str:
        """Whether a certificate says so too, where there are certainly no branches."""
        if self._total or not self.complete:
            return ""
        if self.certificate is None:
            return "; no certificate says why"
        return "; a certificate says: the target is out of reach"

    def __repr__(self) -> str:
        return f"Solutions({self.explain()})"


@final
class BranchBatch(Sequence[Array]):
    """The solutions of many targets in one array; an entry are those of one target, the nearest to `q0` first."""

    __slots__ = ("_nq", "_raw", "_why", "offsets", "totals", "valid")
    offsets: npt.NDArray[np.int64]
    """(targets + 1,) the solutions of target i are `q[offsets[i] : offsets[i + 1]]`."""
    totals: npt.NDArray[np.int64]
    """(targets,) how many branches each has, within the limits or not; whole turns are no others."""
    valid: npt.NDArray[np.bool_]
    """(targets,) whether a row is a target, and its `q0` a start; one that is not has no solutions."""

    def __init__(self, raw: Array, answers: Array, nq: int, why: str) -> None:
        self._raw, self._nq, self._why = raw, nq, why
        self.offsets = np.zeros(len(answers) + 1, dtype=np.int64)
        np.cumsum(answers[:, ROWS_OF], out=self.offsets[1:], dtype=np.int64)
        totals = answers[:, CERTIFIED].astype(np.int64)
        self.valid, self.totals = totals >= 0, np.maximum(totals, 0)

    def __len__(self) -> int:
        return len(self.totals)

    @overload
    def __getitem__(self, index: int) -> Array: ...
    @overload
    def __getitem__(self, index: slice) -> list[Array]: ...
    def __getitem__(self, index: int | slice) -> Array | list[Array]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        i = range(len(self))[index]
        return self.q[self.offsets[i] : self.offsets[i + 1]]

    @property
    def q(self) -> Array:
        """(total, nq) all configurations, one target's behind the other's."""
        return self._raw[:, BRANCH : BRANCH + self._nq]

    @property
    def numbers(self) -> npt.NDArray[np.int64]:
        """(total,) which branch each is, see `Branch.number`."""
        return self._raw[:, NUMBER].astype(np.int64)

    @property
    def distances(self) -> Array:
        """(total,) how far each is from `q0` [rad and m]."""
        return self._raw[:, DISTANCE]

    def explain(self) -> str:
        """How many targets have solutions, and which rows are none and why."""
        n, counts = len(self), np.diff(self.offsets)
        lines = [f"{len(self._raw):,} solutions of {np.count_nonzero(counts):,} targets of {n:,}."]
        beyond = np.count_nonzero((counts == 0) & (self.totals > 0))
        if beyond:
            lines.append(f"{beyond:,} of {n:,}: all branches are beyond the limits.")
        return "\n".join(lines + ([self._why] if self._why else []))

    def __repr__(self) -> str:
        return f"BranchBatch({len(self._raw)} solutions of {len(self)} targets)"

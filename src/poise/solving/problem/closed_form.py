"""Which closed form an arm has, found from where its axes lie."""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final, Protocol, final

import numpy as np

from poise.common.array import Array
from poise.kernels.closed_form.families import (
    GENERAL,
    MEETING_12,
    PARALLEL_12,
    PARALLEL_23,
    SKEW,
    SPHERICAL,
    THREE_PARALLEL,
)
from poise.kernels.machine.layout import ARM, BRANCHES, PRISMATIC, REVOLUTE
from poise.kernels.machine.packing import joined
from poise.model.axes import SPECIAL, Axes, axes_between, leaning, meeting
from poise.model.model import Model
from poise.solving.problem.parallel_axes import parallel_axes
from poise.solving.problem.problem import Problem
from poise.solving.problem.wrist_on_slides import wrist_on_slides
from poise.spatial import SE3, SO3
from poise.tasks.base import Task
from poise.tasks.pose import PoseTask

_AXES: Final = 6
_NEAR: Final = 1e-6
"""The sum of squares of errors [m^2, rad^2] up to which a candidate of a closed form is worth a Newton step."""
_ANYWHERE: Final = 1e3
"""The same of a start by elimination: near other solutions it has few digits."""
_TRIALS: Final = 24
"""Poses by which it is chosen what elimination begins with."""
_RANK: Final = 1e-9
"""Six axes whose least singular value is below this share of the largest at all of these poses lead nowhere alone."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedForm:
    """The closed form of an arm: for the kernels, and in words."""

    problem: Problem
    words: str
    choices: tuple[str, str, str]
    """What its three choices between two angles are about; the first two of a quartic's are alike."""
    swept: int | None
    """The place in q of the joint that is swept."""
    trials: Array
    """(k, 7) poses, as goals, by which it is chosen what elimination begins with; none of a special arm."""

    @property
    def general(self) -> bool:
        """Whether its axes lie anyhow, and branches come by elimination."""
        return bool(len(self.trials))

    def beginning_with(self, choice: int) -> "ClosedForm":
        """The same, whose elimination begins with this choice."""
        arms = self.problem.section("arms").copy()
        arms["position"] = choice
        words = arms.view(np.int64).reshape(1, -1)
        return replace(self, problem=self.problem.extended({"arms": words}, {}))


class DirectForm(Protocol):
    """What gives all solutions of a pose, without a kernel: starts of searches, which make sure of them."""

    @property
    def axes(self) -> Axes:
        """Of the joints that it is about."""

    @property
    def words(self) -> str:
        """What it is."""

    def candidates(self, pose: Array, tolerances: tuple[float, float]) -> tuple[Array, bool]:
        """(k, n) all that solve a pose (4, 4) to within tolerances [m, rad]; and whether there is a line of them."""


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class _Family:
    """A family, and the points that it reads."""

    axes: Axes
    family: int
    position: int
    points: Array
    """(5, 3) of the first four axes, and where the last ones meet."""
    normal: Array


def closed_form(model: Model, task: PoseTask, problem: Problem) -> ClosedForm | None:
    """The closed form of a pose, if the axes have one: of six joints, or of six and one more that is swept."""
    found = _axes(model, task)
    if found is None:
        return None
    axes, home = found
    count = len(axes.joints)
    sixes = [
        (swept, axes.only([i for i in range(count) if i != swept]))
        for swept in ((None,) if count == _AXES else (count - 1, 0))
    ]
    sixes = [(swept, six) for swept, six in sixes if all(kind == REVOLUTE for kind in six.kinds)]
    for swept, six in sixes:
        for reverse in (False, True):
            family = _family(six.from_tip if reverse else six, SPECIAL)
            if family is not None:
                return _made(problem, axes, home, family, reverse=reverse, swept=swept)
    for swept, six in sixes:
        poses = _poses(six, np.random.default_rng(0).uniform(-np.pi, np.pi, (_TRIALS, _AXES)))
        if max(_rank(*pose) for pose in poses) > _RANK:
            family = _Family(axes=six, family=GENERAL, position=0, points=six.p[:5], normal=six.p[5])
            trials = np.array([SE3.from_matrix(pose @ home).array for pose, _ in poses])
            return _made(problem, axes, home, family, reverse=False, swept=swept, trials=trials)
    return None


def with_closed_form(model: Model, task: Task, problem: Problem) -> Problem:
    """The problem with the closed form of an arm of six joints, where there is one."""
    if not isinstance(task, PoseTask) or task.weighing:
        return problem
    found = closed_form(model, task, problem)
    return found.problem if found is not None and not found.general and found.swept is None else problem


def direct_form(model: Model, task: PoseTask) -> DirectForm | None:
    """What gives all solutions of a pose by itself: of few joints, or of a wrist on slides; None if there is none."""
    at = task.place(model)
    found = axes_between(model.tree, at.tip, at.base, np.eye(4) if at.base_hang is None else at.base_hang.matrix())
    if found is None:
        return None
    axes, home = found[0], found[1] @ at.hang.matrix()
    return parallel_axes(axes, home) or wrist_on_slides(axes, home)


def turning(problem: Problem) -> list[tuple[int, float]]:
    """The places in q of the joints that turn the task, and what makes a whole turn of each."""
    coordinates = problem.section("coordinates")
    turns = {i: 2.0 * np.pi for i, c in enumerate(coordinates) if c["turns"]}
    for arm in problem.section("arms"):
        turns = {int(i): 2.0 * np.pi / abs(rate) for i, rate in zip(arm["joints"], arm["rates"], strict=True)}
        if arm["swept"] and not arm["slides"]:
            turns[abs(int(arm["swept"])) - 1] = 2.0 * np.pi / abs(arm["swept_rate"])
    return [(int(coordinates["q"][i]), turn) for i, turn in turns.items()]


def _axes(model: Model, task: PoseTask) -> tuple[Axes, Array] | None:
    """The axes that move the task's frame against its base, and the (4, 4) pose of the frame where q is 0.

    None if they are not six or seven, if a joint is none that turns or slides, or moves two of them.
    """
    at = task.place(model)
    found = axes_between(model.tree, at.tip, at.base, np.eye(4) if at.base_hang is None else at.base_hang.matrix())
    if found is None or len(found[0].joints) not in (_AXES, _AXES + 1):
        return None
    return found[0], found[1] @ at.hang.matrix()


def _poses(axes: Axes, angles: Array) -> list[tuple[Array, Array]]:
    """Of turns by angles (k, 6): the (4, 4) displacements, and the (6, 6) screws of the axes as they then lie."""
    out = []
    for row in angles:
        pose, screws = np.eye(4), []
        for h, p, angle in zip(axes.h, axes.p, row, strict=True):
            k, o = pose[:3, :3] @ h, pose[:3, :3] @ p + pose[:3, 3]
            screws.append([*k, *np.cross(o - axes.p[0], k)])
            turn = SO3.from_rotvec(angle * h).matrix()
            pose = pose @ np.block([[turn, (p - turn @ p)[:, None]], [np.zeros((1, 3)), np.ones((1, 1))]])
        out.append((pose, np.array(screws)))
    return out


def _rank(_: Array, screws: Array) -> float:
    """The least singular value of six screws over the largest, lengths counted in their own mean."""
    screws = screws / np.array([1.0, 1.0, 1.0, *[max(float(np.abs(screws[:, 3:]).mean()), 1e-300)] * 3])
    values = np.linalg.svd(screws, compute_uv=False)
    return float(values[-1] / values[0])


def _family(axes: Axes, tolerance: float) -> _Family | None:
    """The family of six axes that turn, taken in this order."""
    h, p = axes.h, axes.p
    size = float(np.ptp(p, axis=0).max())
    parallel = [[leaning(a, b) <= tolerance for b in h] for a in h]

    def meet(*some: int) -> Array | None:
        """The point in which some of the axes meet, no two neighbours of them parallel."""
        if any(parallel[i][j] for i, j in pairwise(some)):
            return None
        point, far = meeting(h[list(some)], p[list(some)])
        return point if far <= tolerance * size else None

    def lever(i: int, point: Array) -> float:
        """How far a point is from an axis."""
        return float(np.linalg.norm(np.cross(h[i], point - p[i])))

    least = 1e-3 * size
    centre = meet(3, 4, 5)
    if centre is not None and lever(2, centre) > least:
        points = np.array([*p[:4], centre])
        start = meet(0, 1)
        if parallel[1][2] and not parallel[0][1] and lever(2, p[1]) > least:
            position = PARALLEL_23
        elif start is not None and lever(2, start) > least:
            position, points[:2] = MEETING_12, start
        elif parallel[0][1] and not parallel[1][2] and lever(0, p[1]) > least:
            position = PARALLEL_12
        elif start is None and not parallel[0][1] and not parallel[1][2]:
            position, points[:2] = SKEW, _feet(h[0], p[0], h[1], p[1])
        else:
            return None
        return _Family(axes=axes, family=SPHERICAL, position=position, points=points, normal=_across(h[5]))
    centre = meet(4, 5)
    if centre is not None and parallel[1][2] and parallel[2][3] and not parallel[0][1] and not parallel[3][4]:
        if min(lever(2, p[1]), lever(3, p[2])) <= least:
            return None
        points, along = np.array([*p[:4], centre]), h[1]
        points[1:4] -= np.outer(points[1:4] @ along, along)
        signs = np.ones(_AXES)
        signs[2:4] = np.sign(h[2:4] @ along)
        same = replace(axes, h=signs[:, None] * h, rates=signs * axes.rates)
        return _Family(axes=same, family=THREE_PARALLEL, position=0, points=points, normal=_across(along))
    return None


def _feet(h: Array, p: Array, k: Array, q: Array) -> tuple[Array, Array]:
    """The points of two lines that are nearest to each other."""
    s, t = np.linalg.lstsq(np.column_stack([h, -k]), q - p, rcond=None)[0]
    return p + s * h, q + t * k


def _across(h: Array) -> Array:
    """A unit vector at right angles to another."""
    out = np.cross(h, np.eye(3)[np.argmin(np.abs(h))])
    return np.asarray(out / np.linalg.norm(out))


def _made(
    problem: Problem,
    axes: Axes,
    home: Array,
    family: _Family,
    *,
    reverse: bool,
    swept: int | None,
    trials: Array | None = None,
) -> ClosedForm:
    """The problem with the closed form, and its words."""
    place = {int(q): i for i, q in enumerate(problem.section("coordinates")["q"])}
    tool = problem.section("effectors")["tool"][0, :9].reshape(3, 3)
    mark, slides, line, rate = 0, 0, np.zeros(6), 0.0
    if swept is not None:
        mark = (place[axes.joints[swept]] + 1) * (-1 if swept == 0 else 1)
        slides = int(axes.kinds[swept] == PRISMATIC)
        line, rate = np.concatenate([axes.h[swept], axes.p[swept]]), float(axes.rates[swept])
    whole = [family.family, family.position, int(reverse), mark, slides, *(place[q] for q in family.axes.joints)]
    real = [
        *family.axes.h.ravel(), *family.points.ravel(), *family.normal, *family.axes.rates,
        *(home[:3, :3] @ tool.T).ravel(), *home[:3, 3], _NEAR if trials is None else _ANYWHERE, *line, rate,
    ]  # fmt: skip
    spherical = family.family == SPHERICAL
    near, far = ("wrist", "shoulder") if reverse else ("shoulder", "wrist")
    choices = (near, "elbow", far)
    if spherical and family.position == SKEW:
        choices = ("root", "root", far)
    words = f"spherical {far}" if spherical else "three parallel axes" if trials is None else "axes that lie anyhow"
    return ClosedForm(
        problem=problem.extended({"arms": joined(ARM, [whole], [real])}, {"search.branches": BRANCHES}),
        words=words,
        choices=choices,
        swept=None if swept is None else axes.joints[swept],
        trials=np.empty((0, 7)) if trials is None else trials,
    )

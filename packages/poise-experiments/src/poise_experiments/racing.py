"""Tables of the field: many poses that an arm can reach, one call each, how many are reached and in what time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import cycle
from time import perf_counter
from typing import TYPE_CHECKING, Any, final

import numpy as np
import numpy.typing as npt

from poise import Model, PoseTask, Solver
from poise.extending import Array, drawing
from poise.quaternions import angles_between
from poise_experiments.base import Table, columns
from poise_experiments.drawing import over_decades, with_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLUMNS = (
    "chain | joints:d | reached:.2% | mean [us]:.1f | median [us]:.1f | 99 % [us]:.1f | published: reached:.2% | "
    "published: mean [us]:.0f"
)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Race:
    """How one solver did on N poses of one chain."""

    q: Array
    """(N, nq) the answers."""
    reached: npt.NDArray[np.bool_]
    """(N,) Whether the pose of the answer is the target within the tolerances, by forward kinematics, and its joints
    within their limits where these are to be kept."""
    outside: npt.NDArray[np.bool_]
    """(N,) Whether a joint of the answer is beyond its limits."""
    seconds: Array
    """(N,) wall time of each call."""
    iterations: npt.NDArray[np.int64]
    """(N,) of the start that led to the answer."""
    searches: npt.NDArray[np.int64]
    """(N,) starts."""

    @classmethod
    def joined(cls, races: "Sequence[Race]") -> "Race":
        """One of all their poses."""
        return cls(*(np.concatenate([getattr(one, name.name) for one in races]) for name in fields(cls)))

    def within(self, budget: float) -> float:
        """The share that was reached within so many seconds."""
        return float((self.reached & (self.seconds <= budget)).mean())


def middle(model: Model) -> Array:
    """(nq,) the middle of the limits, 0 where there are none."""
    found, bounded = np.zeros(model.nq), np.isfinite(model.lower) & np.isfinite(model.upper)
    found[bounded] = 0.5 * (model.lower[bounded] + model.upper[bounded])
    return found


def race(model: Model, frame: str, start: Array, made: Array, *, place: float, turn: float, **options: Any) -> Race:
    """Solve for the poses of `frame` at configurations (N, nq), each from `start` (nq,); `place` [m] and `turn` [rad]
    are the tolerances, `options` those of a Solver."""
    task = PoseTask(frame, position_tolerance=place, rotation_tolerance=turn)
    solver = Solver(model, task, **options)
    targets, count = model.pose(frame, made), len(made)
    solver(targets[0], start)  # what is loaded or compiled is no part of a call
    seconds, answers = np.empty(count), []
    for k in range(count):
        target = targets[k]
        before = perf_counter()
        answers.append(solver(target, start))
        seconds[k] = perf_counter() - before
    q = np.array([answer.q for answer in answers])
    poses = model.pose(frame, q)
    there = (np.linalg.norm(poses.xyz - targets.xyz, axis=-1) <= place) & (
        angles_between(poses.array[:, 3:], targets.array[:, 3:]) <= turn
    )
    outside = ~np.array([model.within_limits(each) for each in q])
    return Race(
        q,
        there & ~(outside & bool(options.get("limits", True))),
        outside,
        seconds,
        np.array([answer.iterations for answer in answers]),
        np.array([1 + answer.restarts for answer in answers]),
    )


def racing_table(
    title: str, races: Mapping[str, Race], published: Mapping[str, tuple[float, float]], notes: Sequence[str]
) -> Table:
    """What came of each chain, beside what was published of it: the share that was reached, and the mean [us]."""
    return Table(
        title,
        columns(_COLUMNS),
        [
            [
                name,
                one.q.shape[1],
                float(one.reached.mean()),
                *(1e6 * float(x) for x in (one.seconds.mean(), np.median(one.seconds), np.quantile(one.seconds, 0.99))),
                *published[name],
            ]
            for name, one in races.items()
        ],
        tuple(notes),
    )


def racing_figure(title: str, races: Mapping[str, Race], published: Mapping[str, tuple[float, float]]) -> "Figure":
    """Success over time: which share was reached within how much time; crosses are what was published, of the chains
    or of other solvers."""
    figure, (axis,) = with_axes(title, 1, 1, (8.0, 4.6))
    others = [name for name in published if name not in races]
    colours = dict(zip([*races, *others], cycle(drawing.COLOURS), strict=False))
    for k, (name, one) in enumerate(races.items()):
        look = "-" if k < len(drawing.COLOURS) else "--"
        time = np.sort(np.where(one.reached, one.seconds, np.inf))
        share = 100.0 * np.arange(1, len(time) + 1) / len(time)
        there = np.isfinite(time)
        axis.step(
            1e6 * time[there],
            share[there],
            where="post",
            linestyle=look,
            color=colours[name],
            label=name,
            clip_on=False,
        )
    for name, (reached, mean) in published.items():
        label = name if name in others else None
        axis.plot(mean, 100.0 * reached, "x", color=colours[name], clip_on=False, label=label)
    axis.set(
        xlabel="time of a call [us]" + "; crosses: means of others" * bool(published), ylabel="reached [%]",
        ylim=(0.0, 100.0),
    )  # fmt: skip
    over_decades(axis)
    axis.legend(loc="lower right", fontsize=8)
    return figure

"""Joint limits in the ways that Soch and Lorencz 2005, section 1.4, list, on the same problems.

The paper names the ways and tries none; the problems are ours: a Panda, targets within its limits and targets that it
could only take beyond them.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Final, final

import numpy as np

from poise import SE3, Model, ModelBuilder, PoseTask, PositionTask, Solver, Tracker, load
from poise.damping import ChanLawrence
from poise.extending import Array
from poise.methods import BoundedLeastSquares
from poise.own import Method
from poise_experiments.base import Claim, Experiment, Table, columns, judge
from poise_experiments.drawing import with_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROBOT, FRAME = "panda", "panda_hand"
UPDATES: Final = 300
REACHED: Final = 1e-5
"""Error that counts as none [m and rad]; the angle is known to 1e-8."""
LAMBDA: Final = 0.05
BEYOND: Final = 0.6
"""How far beyond a limit a joint of the targets out of limits is, at most [rad]."""
PENALTIES: Final = (1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6)
_SOURCE = "Soch and Lorencz 2005, section {}"


def ways() -> dict[str, Method]:
    """The methods by the names of the report."""
    make = partial(BoundedLeastSquares, damping=ChanLawrence(), max_error=None)
    return {
        "box (active set)": make(way="box"),
        "Lagrange": make(way="lagrange"),
        "clamping loop": make(way="clamping"),
        "clip": make(way="clip"),
        "slack": make(way="slack"),
        "penalty 100": make(way="penalty", penalty=100.0),
        "penalty 10000": make(way="penalty", penalty=1e4),
    }


@final
@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """How one way did on N problems."""

    solved: float
    """Share of the targets that were reached within the limits."""
    beyond: Array
    """(N,) how far the worst joint is beyond its limit in the end [rad]."""
    errors: Array
    """(N,) error that is left [m and rad]."""
    microseconds: float
    """Median time of an update."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Results:
    """All that was measured."""

    within: dict[str, Runs]
    outside: dict[str, Runs]
    leaving: dict[str, float]
    """Share of the joints that start at a limit, away from the target, and leave it."""
    difference: float
    """Largest difference of a step of Lagrange's way and of the box."""
    penalties: list[tuple[float, float, float]]
    """Penalty, how far beyond a limit, condition of the system."""


def measure(quick: bool) -> Results:
    """Run everything; `quick` takes fewer problems."""
    model, count = load(ROBOT), 40 if quick else 300
    starts = model.sample(count, seed=1)
    within = model.sample(count, seed=2)
    rng = np.random.default_rng(3)
    outside = np.clip(model.sample(count, seed=4), model.lower, model.upper)
    joint, side = rng.integers(model.nq, size=count), rng.random(count) < 0.5
    excess = rng.uniform(0.2, 1.0, count) * BEYOND
    rows = np.arange(count)
    outside[rows, joint] = np.where(side, model.lower[joint] - excess, model.upper[joint] + excess)
    return Results(
        within={name: run(model, method, within, starts) for name, method in ways().items()},
        outside={name: run(model, method, outside, starts) for name, method in ways().items()},
        leaving={name: leave(model, method, within) for name, method in ways().items() if "penalty" not in name},
        difference=differ(model, within, starts),
        penalties=[stiffness(penalty) for penalty in PENALTIES],
    )


def run(model: Model, method: Method, answers: Array, starts: Array) -> Runs:
    """Go `UPDATES` updates from `starts` (N, nq) towards the poses of `answers` (N, nq), and judge where that ends."""
    tracker = Tracker(model, PoseTask(FRAME), method, limits=not _penalises(method), settle=False)
    goals = model.pose(FRAME, answers)
    ends, seconds = [], []
    for goal, start in zip(goals.array, starts, strict=True):
        way = np.tile(goal, (UPDATES, 1, 1))
        begin = perf_counter()
        ends.append(tracker.rollout(start, way)[-1])
        seconds.append(perf_counter() - begin)
    q = np.array(ends)
    poses = model.pose(FRAME, q)
    turns = 2.0 * np.arccos(np.minimum(np.abs((goals.wxyz * poses.wxyz).sum(axis=-1)), 1.0))
    errors = np.hypot(np.linalg.norm(goals.xyz - poses.xyz, axis=-1), turns)
    beyond = np.maximum(np.maximum(model.lower - q, q - model.upper).max(axis=1), 0.0)
    return Runs(
        solved=float(((errors < REACHED) & (beyond <= 0.0)).mean()),
        beyond=beyond,
        errors=errors,
        microseconds=1e6 * float(np.median(seconds)) / UPDATES,
    )


def _penalises(method: Method) -> bool:
    return isinstance(method, BoundedLeastSquares) and method.way == "penalty"


def leave(model: Model, method: Method, answers: Array) -> float:
    """Share of joints put at a limit, in a pose from which the target asks them back, that leave it in 50 updates."""
    tracker = Tracker(model, PoseTask(FRAME), method, settle=False)
    left, all_of_them = 0, 0
    for k, answer in enumerate(answers[:100]):
        joint = k % model.nq
        q = answer.copy()
        q[joint] = model.upper[joint]
        target = model.pose(FRAME, answer)
        for _ in range(50):
            q = tracker.step(q, target)
        left += q[joint] < model.upper[joint] - 1e-6
        all_of_them += 1
    return left / all_of_them


def differ(model: Model, answers: Array, starts: Array) -> float:
    """Largest difference of an entry of the two exact steps."""
    damping = ChanLawrence()
    box, lagrange = (
        Tracker(model, PoseTask(FRAME), BoundedLeastSquares(way=way, damping=damping, max_error=None))
        for way in ("box", "lagrange")
    )
    return max(
        float(np.abs(box.step(q, target) - lagrange.step(q, target)).max())
        for q, target in ((q, model.pose(FRAME, answer)) for q, answer in zip(starts, answers, strict=True))
    )


def stiffness(penalty: float) -> tuple[float, float, float]:
    """How far beyond its limit an elbow comes to rest, and the condition of J^T J + lambda^2 + penalty there.

    Two links of 1 m; each joint goes 1 rad either way, and the target asks 1.8 of the elbow.
    """
    builder, out = ModelBuilder("elbow"), SE3.from_parts([1.0, 0.0, 0.0])
    builder.joint("shoulder", "revolute", parent="base", child="upper", limits=(-1.0, 1.0))
    builder.joint("elbow", "revolute", parent="upper", child="lower", origin=out, limits=(-1.0, 1.0))
    builder.frame("tip", link="lower", origin=out)
    arm, task = builder.build(), PositionTask("tip")
    target = arm.pose("tip", [0.2, 1.8]).xyz
    method = BoundedLeastSquares(way="penalty", penalty=penalty, damping=LAMBDA, max_error=None)
    q = Tracker(arm, task, method, limits=False, settle=False).rollout(np.zeros(2), np.tile(target, (3000, 1, 1)))[-1]
    beyond = np.abs(q) - 1.0
    _, jacobian = Solver(arm, task, limits=False).linearise(q, target)
    system = jacobian.T @ jacobian + np.diag(LAMBDA**2 + penalty * (beyond > 0.0))
    return penalty, float(beyond.max()), float(np.linalg.cond(system))


def _table(title: str, runs: dict[str, Runs]) -> Table:
    best = np.min([r.errors for r in runs.values() if not r.beyond.any()], axis=0)
    return Table(
        title,
        columns(
            "way | solved:.1% | limits broken:.1% | by at most [rad]:.2e | median excess error:.2e | us/update:.2f"
        ),
        [
            [
                name,
                r.solved,
                float((r.beyond > 0.0).mean()),
                float(r.beyond.max()),
                float(np.median(np.maximum(r.errors - best, 0.0))),
                r.microseconds,
            ]
            for name, r in runs.items()
        ],
        ("excess error: above the least that any way found within the limits [m and rad]",),
    )


def claims(results: Results) -> tuple[Claim, ...]:
    """What the paper says of each way."""
    hard = [name for name in results.within if "penalty" not in name]
    worst = max(float(r[name].beyond.max()) for r in (results.within, results.outside) for name in hard)
    broken = {n: r for n, r in results.outside.items() if "penalty" in n}
    products = [penalty * beyond for penalty, beyond, _ in results.penalties[2:]]
    growth = results.penalties[-1][2] / results.penalties[2][2]
    raised = PENALTIES[-1] / PENALTIES[2]
    return (
        Claim(
            "Lagrange's way, with inactive limits discarded, ends at the constrained minimum",
            _SOURCE.format("1.4.1"),
            f"its steps and those of the active set differ by at most {results.difference:.1e} rad",
            judge(results.difference < 1e-7),
        ),
        Claim(
            "slack variables turn the inequalities into equalities, and the original problem can be solved",
            _SOURCE.format("1.4.2"),
            f"solved {results.within['slack'].solved:.0%}, box {results.within['box (active set)'].solved:.0%}; of the "
            f"joints that start at a limit {results.leaving['slack']:.0%} leave it, with the box "
            f"{results.leaving['box (active set)']:.0%}: the slope of a slack vanishes there",
            judge(results.within["slack"].solved >= 0.9 * results.within["box (active set)"].solved),
        ),
        Claim(
            "the penalty prohibits violations of the limits",
            _SOURCE.format("1.4.3"),
            "; ".join(
                f"{name} breaks them in {(r.beyond > 0.0).mean():.0%}, by up to {r.beyond.max():.1e} rad"
                for name, r in broken.items()
            )
            + f" where targets pull; the others by {worst:.0e}",
            judge(all(not (r.beyond > 0.0).any() for r in broken.values())),
        ),
        Claim(
            "penalty functions are not numerically stable",
            _SOURCE.format("1.4.3"),
            f"at rest, penalty times violation stays at {min(products):.2g} to {max(products):.2g}, so little of the "
            f"latter needs much of the former, and the condition of the system grows {growth:.1e} times for "
            f"{raised:.0e}; and as it is felt beyond the limit only, whole steps go to and fro across it",
            judge(growth > 0.1 * raised),
        ),
    )


def figures(results: Results) -> dict[str, "Figure"]:
    """The figure."""
    title = "Joint limits: how often they are kept, and what a penalty costs"
    figure, (bars, line) = with_axes(title, 1, 2, (11.0, 4.2))
    names = list(results.within)
    _bars(bars, names, [results.within[n].solved for n in names], [_share(results.outside[n]) for n in names])
    penalty, beyond, condition = zip(*results.penalties, strict=True)
    line.loglog(penalty, beyond, "o-", color="#0072B2", label="violation [rad]")
    line.loglog(penalty, condition, "s-", color="#D55E00", label="condition of the system")
    line.set(xlabel="penalty [m^2/rad^2]", ylabel="violation [rad], condition [no unit]")
    line.legend()
    return {"limits": figure}


def _share(runs: Runs) -> float:
    return float((runs.beyond > 0.0).mean())


def _bars(axis: "Axes", names: list[str], solved: Iterable[float], broken: Iterable[float]) -> None:
    at = np.arange(len(names))
    for shift, share, colour, label in (
        (-0.2, solved, "#009E73", "solved, targets within limits"),
        (0.2, broken, "#D55E00", "limits broken, targets beyond them"),
    ):
        bars = axis.barh(at + shift, [100.0 * x for x in share], 0.38, color=colour, label=label)
        axis.bar_label(bars, fmt="%.0f", padding=2, fontsize=7)
    axis.set_yticks(at, names)
    axis.invert_yaxis()
    axis.set(xlabel="share of the problems [%]", ylabel="way to keep limits", xlim=(0.0, 100.0))
    axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1.02), ncols=3, fontsize=8)


def tables(results: Results) -> tuple[Table, ...]:
    """Every table."""
    return (
        _table("targets within the limits, one start each", results.within),
        _table("targets that one joint could take only beyond its limit", results.outside),
        Table(
            "joints that start at a limit",
            columns("way | leave it:.0%"),
            [[name, share] for name, share in results.leaving.items()],
        ),
        Table(
            "penalty",
            columns("penalty:.0e | beyond the limit [rad]:.2e | condition:.2e"),
            [list(row) for row in results.penalties],
        ),
    )


LIMITS: Final = Experiment(
    name="limits",
    title="Joint limits by Lagrange multipliers, slack variables and penalties, beside a box-constrained step",
    reference="soch2005",
    measure=measure,
    tables=tables,
    claims=claims,
    figures=figures,
)

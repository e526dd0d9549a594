"""The ellipse of Soch and Lorencz 2005: the pairwise extended Jacobian and the pseudoinverse from a singular start."""

import math
from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np

from poise_experiments.base import Cell, Claim, Experiment, Table, columns, judge
from poise_experiments.soch_lorencz.figures import figures
from poise_experiments.soch_lorencz.problem import (
    DLS,
    PINV,
    ROWS,
    STEPS,
    Results,
    Run,
    by_rows,
    condition,
    extended,
    follow,
    limit,
    methods,
    pairwise,
    rank_of_pairs,
    ranks,
)

_EXPERIMENT, _PAIRS = "Soch and Lorencz 2005, section 3", "Soch and Lorencz 2005, section 2.3"
_EARLY: Final = 10
"""Updates that count as leaving the start."""


SWEEP: Final = (1.0, 0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4)
_LENGTH: Final = 100.0
"""Of the turns, in the form with twists [points]."""


def measure(quick: bool) -> Results:
    """Run everything; `quick` takes the ends and the middle of the sweep."""
    sweep = (1.0, 0.1, 0.01, 1e-4) if quick else SWEEP
    return Results(
        runs={
            steps: {ROWS: by_rows(steps)} | {name: follow(method, steps) for name, method in methods().items()}
            for steps in STEPS
        },
        sweep={weight: follow(pairwise(weight), 100) for weight in sweep},
        limits={weight: limit(weight) for weight in sweep},
        conditions={weight: condition(weight) for weight in sweep},
        ranks=ranks(),
        rank_of_pairs=rank_of_pairs(),
        twists={weight: follow(pairwise(weight, _LENGTH), 100) for weight in sweep},
    )


def tables(results: Results) -> tuple[Table, ...]:
    """Every table."""
    forms = (("printed", results.sweep), ("twists", results.twists))
    nowhere: tuple[Cell, ...] = (None, None, None)
    numbers = "error 1:.3g | error 2:.4g | error 3:.4g | leap [rad]:.2g | mean error:.3g | largest:.3g"
    return (
        Table(
            "One revolution on the ellipse from q = 0, counter-clockwise, one update a place of the target",
            columns(f"steps:d | method | {numbers}"),
            [[steps, name, *_numbers(run)] for steps, runs in results.runs.items() for name, run in runs.items()],
            (
                "error: distance of the effector from its target after the update [points]",
                "leap: largest change of a joint in the second update",
                "empty: no finite number",
            ),
        ),
        Table(
            "The weight of the pairs, 100 steps",
            columns(
                f"form | w:g | {numbers} | cond(A^T A) at q = 0:.1e | from the weighted inverse:.1e | "
                "from the plain:.3f"
            ),
            [
                [form, w, *_numbers(run), *((results.conditions[w], *results.limits[w]) if i == 0 else nowhere)]
                for i, (form, runs) in enumerate(forms)
                for w, run in runs.items()
            ],
            (
                "the last two: distance of one step at a bent pose from those of the pseudoinverse weighted by P^T P "
                "and of the plain one [rad]",
                "twists: the library's form, with the turns of the pairs times 100 points",
            ),
        ),
        Table(
            "The rank of the extended Jacobian as printed, w = 1",
            columns("pose | n:d | rank:d | n-th singular value:.3g"),
            [[name, n, rank, value] for name, (value, rank, n) in results.ranks.items()],
        ),
    )


def _numbers(run: Run) -> list[Cell]:
    values = [*run.errors[:3].tolist(), run.leap, float(run.errors.mean()), float(run.errors.max())]
    return [value if math.isfinite(value) else None for value in values]


def claims(results: Results) -> tuple[Claim, ...]:
    """Every claim with its verdict."""
    return (*_start(results), *_weights(results), *_rank(results))


def _start(results: Results) -> Iterator[Claim]:
    runs = results.runs[100]
    plain, ours = runs[PINV], runs[extended(1.0)]
    jumps = {steps: float(at[PINV].errors[1]) for steps, at in results.runs.items()}
    calm = {steps: float(at[extended(1.0)].errors[:_EARLY].max()) for steps, at in results.runs.items()}
    yield Claim(
        "Jacobian inversion makes a big jump when it leaves the start",
        _EXPERIMENT,
        f"error {_list(jumps)} after the second of {_steps(jumps)} steps a revolution; a joint turns by "
        f"{plain.leap:.2f} rad",
        judge(all(jump > 10.0 * calm[steps] for steps, jump in jumps.items())),
    )
    yield Claim(
        "the formula J^T (J J^T)^-1 of section 1.1 can take the first step",
        "not in the paper, which starts from it",
        "it cannot: J J^T is singular at q = 0, and the step is no number"
        if np.isnan(runs[ROWS].errors).all()
        else "it can",
        "not stated",
    )
    yield Claim(
        "the extended Jacobian makes no such jump: the structure recovers well from the singular start",
        _EXPERIMENT,
        f"w = 1: error at most {_list(calm)} in the first {_EARLY} steps; in the second no joint turns by more than "
        f"{ours.leap:.2f} rad",
        judge(all(calm[steps] < 0.1 * jump for steps, jump in jumps.items())),
    )
    damped, far = runs[DLS], float(np.abs(ours.path[-1] - plain.path[-1]).max())
    yield Claim(
        "its behaviour differs from that of the pseudoinverse",
        _EXPERIMENT,
        f"after a revolution a joint is {far:.2f} rad away; the error lags by {ours.errors.mean():.1f} on average, "
        f"{ours.errors.max():.0f} at most, though the whole ellipse is within reach",
        judge(far > 0.1),
    )
    yield Claim(
        "damped least squares, which needs no added rows, leaves the start without a jump too",
        "not in the paper",
        f"lambda = 30: error at most {damped.errors[:_EARLY].max():.1f} in the first {_EARLY} of 100 steps, "
        f"{damped.errors.max():.0f} in the revolution",
        "not stated",
    )


def _weights(results: Results) -> Iterator[Claim]:
    small = min(results.limits)
    weighted, plain = results.limits[small]
    yield Claim(
        "as w goes to 0, the behaviour does not become that of the plain Jacobian",
        _EXPERIMENT,
        f"at w = {small:g} a step is {plain:.3g} rad from the pseudoinverse's, and {weighted:.1g} rad from that of the "
        "pseudoinverse weighted by P^T P, to which it tends",
        judge(plain > 1e-3 > 1e3 * weighted),
    )
    lags = {weight: run.errors for weight, run in results.sweep.items()}
    worst = {weight: float(lags[weight].max()) for weight in lags}
    first = {weight: results.sweep[weight].leap for weight in lags}
    least = min(lags)
    yield Claim(
        "as w goes to 0, the ability to recover from singular poses disappears",
        _EXPERIMENT,
        "largest error "
        + ", ".join(f"{worst[w]:.0f} at w = {w:g}" for w in worst)
        + f"; the second step turns a joint by {first[1.0]:.2f} rad at w = 1 and {first[least]:.2f} at {least:g}; the "
        f"condition number of A^T A at the start grows from {results.conditions[1.0]:.0e} to "
        f"{results.conditions[min(results.conditions)]:.0e}",
        judge(worst[least] > worst[1.0] and first[least] > first[1.0]),
    )


def _rank(results: Results) -> Iterator[Claim]:
    lost = [f"{rank} of {n} for {name}" for name, (_, rank, n) in results.ranks.items() if rank < n]
    full_rank = [f"{value:.2f} for {name}" for name, (value, rank, n) in results.ranks.items() if rank == n]
    yield Claim(
        "the rank of the extended Jacobian is always guaranteed to be n",
        _EXPERIMENT,
        f"rank {' and '.join(lost) or 'n everywhere'}; the least singular value is {', '.join(full_rank)}",
        judge(not lost),
    )
    yield Claim(
        "the rows of the pairs alone have a rank of n - 1 at most",
        _PAIRS,
        f"rank {results.rank_of_pairs} for n = 6 at a bent pose: each pair has two rows",
        judge(results.rank_of_pairs <= 5),
    )


def _list(numbers: Mapping[int, float]) -> str:
    return ", ".join(f"{number:.3g}" for number in numbers.values())


def _steps(numbers: Mapping[int, float]) -> str:
    return ", ".join(map(str, numbers))


SOCH_LORENCZ: Final = Experiment(
    name="soch-lorencz",
    title="The pairwise extended Jacobian against the pseudoinverse on an ellipse, from a singular start",
    reference="soch2005",
    measure=measure,
    tables=tables,
    claims=claims,
    figures=figures,
)

"""What the paper claims, each held against our numbers."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from poise.experiments.base import Claim, judge
from poise.experiments.soch_lorencz.ellipse import DLS, PINV, ROWS, Run, extended

_EXPERIMENT, _PAIRS = "Soch and Lorencz 2005, section 3", "Soch and Lorencz 2005, section 2.3"
_EARLY: Final = 10
"""Updates that count as leaving the start."""


@final
@dataclass(frozen=True, slots=True)
class Results:
    """Everything that was measured."""

    runs: Mapping[int, Mapping[str, Run]]
    """By places of the target in one revolution, then by method."""
    sweep: Mapping[float, Run]
    """By w, 100 places."""
    limits: Mapping[float, tuple[float, float]]
    """By w, distances of a step from the weighted and from the plain pseudoinverse's."""
    conditions: Mapping[float, float]
    """By w, of A^T A at the start."""
    ranks: Mapping[str, tuple[float, int, int]]
    rank_of_pairs: int
    twists: Mapping[float, Run]
    """By w, 100 places, the library's form with twists."""


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
    damped, apart = runs[DLS], float(np.abs(ours.path[-1] - plain.path[-1]).max())
    yield Claim(
        "its behaviour differs from that of the pseudoinverse",
        _EXPERIMENT,
        f"after a revolution a joint is {apart:.2f} rad away; the error lags by {ours.errors.mean():.1f} on average, "
        f"{ours.errors.max():.0f} at most, though the whole ellipse is within reach",
        judge(apart > 0.1),
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
    kept = [f"{value:.2f} for {name}" for name, (value, rank, n) in results.ranks.items() if rank == n]
    yield Claim(
        "the rank of the extended Jacobian is always guaranteed to be n",
        _EXPERIMENT,
        f"rank {' and '.join(lost) or 'n everywhere'}; the least singular value is {', '.join(kept)}",
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

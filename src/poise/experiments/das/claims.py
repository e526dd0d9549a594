"""What the paper claims, each held against our numbers."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import final

import numpy as np

from poise.experiments.base import Claim, judge, judge_spread
from poise.experiments.das.fields import APART, FIELDS, LITERAL, MEASURED, NONE, RULED, STRONG, WEAK, Passage
from poise.experiments.das.pairs import HYBRID, NEWTON, SPREADS, TRANSPOSE, Count
from poise.experiments.das.vehicle import Drive

_LAW, _NEWTON, _RESULTS = "Das et al. 1988, eq. 2.2", "Das et al. 1988, section 2.3", "Das et al. 1988, section 2.4"
_A, _B = "Das et al. 1988, appendix A", "Das et al. 1988, appendix B"


@final
@dataclass(frozen=True, slots=True)
class Results:
    """Everything that was measured."""

    passages: Mapping[str, Mapping[str, Passage]]
    """By field and by terms."""
    plain: Drive
    """The vehicle with S = 1."""
    split: Drive
    """With S of appendix B."""
    middle: tuple[float, float]
    """How far the arm turns in an update whose Q is between Q_lim and 1: with S = 1, and with S [rad]."""
    counts: Mapping[str, Mapping[str, Count]]
    """By the spread of the poses and by method."""


def claims(results: Results) -> tuple[Claim, ...]:
    """Every claim with its verdict."""
    return tuple(claim for part in (_clearances, _fields, _vehicle, _iterations) for claim in part(results))


def _clearances(results: Results) -> Iterator[Claim]:
    for name, clearance in MEASURED.items():
        least = results.passages["open"][name].least
        yield Claim(
            f"open field, {name}: least clearance {clearance:.3f} links",
            "independent script; the paper has no number",
            _range(least),
            judge_spread(least, clearance - 0.0006, clearance + 0.0006),
        )


def _fields(results: Results) -> Iterator[Claim]:
    rows = results.passages
    yield Claim(
        "the ten-link arm follows its path and keeps its joints off the obstacles",
        _RESULTS,
        "clearance without and with the terms: "
        + ", ".join(f"{name} {_range(rows[name][NONE].least)} and {_range(_best(rows[name]))}" for name in FIELDS),
        judge(all(min(_best(row)) > max(row[NONE].least) for row in rows.values())),
    )
    signs = [(row[STRONG].least, row[LITERAL].least) for row in rows.values()]
    yield Claim(
        "the term with +K_obs and x from the obstacle to the joint repels",
        _LAW,
        "clearance with the other sign and as printed: "
        + ", ".join(f"{_range(other)} and {_range(printed)}" for other, printed in signs)
        + f", from starts {APART:.0e} rad apart",
        judge(all(min(printed) >= max(other) for other, printed in signs)),
    )
    worst = {name: row[STRONG].errors.max() for name, row in rows.items()}
    yield Claim(
        "the terms do not affect the motion of the end of the manipulator",
        _LAW,
        "true to first order; largest error "
        + ", ".join(f"{name} {error:.3f}" for name, error in worst.items())
        + f" links, without the terms at most {max(row[NONE].errors.max() for row in rows.values()):.1g}",
        judge(max(worst.values()) < 0.01),
    )
    ruled = [(row[STRONG].least, row[RULED].least) for row in rows.values()]
    yield Claim(
        "the rule for beta leaves the obstacles their effect (beta begins at 1 with each target)",
        _A,
        "clearance with beta = 1 and by the rule: "
        + ", ".join(f"{_range(fixed)} and {_range(rule)}" for fixed, rule in ruled),
        judge(all(min(rule) > 0.9 * max(fixed) for fixed, rule in ruled)),
    )


def _best(row: Mapping[str, Passage]) -> tuple[float, ...]:
    return max((row[name].least for name in (WEAK, STRONG, RULED)), key=min)


def _range(least: tuple[float, ...]) -> str:
    """One figure where all starts agree on it."""
    low, high = f"{min(least):.3f}", f"{max(least):.3f}"
    return low if low == high else f"{low} to {high}"


def _vehicle(results: Results) -> Iterator[Claim]:
    plain, split = results.plain, results.split
    yield Claim(
        "with S the joints that slide respond to a distant target",
        _B,
        f"far target, first update: the vehicle goes {split.vehicle:.0%} of its way, {plain.vehicle:.0%} with S = 1; "
        f"the arm turns by {split.arm:.2f} rad, {plain.arm:.2f} with S = 1",
        judge(split.vehicle > 2.0 * plain.vehicle and split.arm < plain.arm),
    )
    yield Claim(
        "the vehicle approaches the target before the hand tries to move",
        _B,
        f"in the update in which the vehicle goes {split.vehicle:.0%} of its way the arm turns by {split.arm:.2f} rad",
        judge(split.arm < 0.1 * plain.arm),
    )
    before, after = results.middle
    yield Claim(
        "S keeps the velocities of the joints that turn small wherever Q exceeds its limit",
        _B,
        f"1 / Q is more than 1 where Q is below 1 rad: there the arm turns by {before:.3f} rad with S = 1 and by "
        f"{after:.3f} with S; and where no joint slides, alpha cancels S",
        judge(after < before),
    )


def _iterations(results: Results) -> Iterator[Claim]:
    for spread in SPREADS:
        counts = results.counts[spread]
        jt, newton = (float(np.median(counts[name].iterations)) for name in (TRANSPOSE, NEWTON))
        yield Claim(
            f"{spread}: Newton's method converges about twice as fast as the transpose",
            _NEWTON,
            f"median {newton:.0f} iterations to {jt:.0f}, {jt / newton:.0f} times as fast; "
            f"{counts[NEWTON].failed} and {counts[TRANSPOSE].failed} starts did not arrive",
            judge(1.5 <= jt / newton <= 3.0),
        )
    hybrid = [(counts[HYBRID], counts[NEWTON], counts[TRANSPOSE]) for counts in results.counts.values()]
    yield Claim(
        "a hybrid of both is the algorithm to use",
        _NEWTON,
        "median iterations of hybrid, Newton and transpose: "
        + ", ".join("/".join(f"{np.median(c.iterations):.0f}" for c in row) for row in hybrid),
        judge(all(np.median(h.iterations) <= 1.1 * np.median(n.iterations) for h, n, _ in hybrid)),
    )

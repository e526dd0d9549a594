"""What the paper and its program claim, each held against our numbers."""

import math
import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, final

from poise.experiments.base import Claim, judge, judge_spread
from poise.experiments.buss import released
from poise.experiments.buss.jumps import Jumps
from poise.experiments.buss.sweep import Sweep
from poise.experiments.buss.tracking import CLAMPED, DLS, JT, PINV, SDLS, Run

TITLES: Final = {"y": "Y", "double_y": "double Y"}
SWEEPS: Final = tuple(released.THRESHOLDS)
_CLAMPS, _RESULTS, _PROGRAM = "Buss 2004, section 2", "Buss 2004, section 8", "released program"
_DIGITS: Final = 1e-6
"""A unit in the last digit of the program's totals."""
_CHAOTIC: Final = {JT: 0.01, PINV: 0.08}
"""By how much the totals of the program and of an independent script differ where the run is chaotic."""


@final
@dataclass(frozen=True, slots=True)
class Results:
    """Everything that was measured, by shape and then by method."""

    runs: Mapping[str, Mapping[str, Run]]
    at_target: Mapping[str, Mapping[str, Run]]
    """The same with the target Jacobian."""
    unlimited: Mapping[str, Mapping[str, Run]]
    """Without the clamp of the joint angles."""
    hard: Mapping[str, Run]
    """SDLS with hard clamps, and the D_max of the released program."""
    alone: Mapping[str, Run]
    """One effector of the Y whose target stays within reach."""
    short: Sweep
    sweeps: Mapping[str, Sweep]
    """By the names in `SWEEPS`."""
    wins: Mapping[str, float]
    """Share of the steps in which SDLS has the smaller error than DLS."""
    jumps: Mapping[str, Mapping[str, Jumps]]
    sizes: Mapping[str, tuple[int, int, int]]
    """Links, and rows and columns of the Jacobian."""


def claims(results: Results) -> tuple[Claim, ...]:
    """Every claim with its verdict."""
    parts = (_totals, _methods, _damping, _clamping, _target_jacobian, _jumps, _cost, _sizes)
    return tuple(claim for part in parts for claim in part(results))


def _totals(results: Results) -> Iterator[Claim]:
    for shape, totals in released.TOTALS.items():
        for name, total in totals.items():
            run = results.runs[shape][name]
            if name in _CHAOTIC:
                middle = statistics.median(run.totals)
                holds = abs(middle / total - 1.0) <= _CHAOTIC[name]
                said = f"about {total:.0f}; it is chaotic, to {_CHAOTIC[name]:.0%}"
                ours = f"median {middle:.0f}; {_range(run)} from starts 1e-9 rad apart"
            else:
                holds = abs(run.total - total) <= _DIGITS
                said, ours = f"{total:.6f}", f"{run.total:.6f}"
            yield Claim(f"{TITLES[shape]}: the total error of {name} is {said}", _PROGRAM, ours, judge(holds))


def _methods(results: Results) -> Iterator[Claim]:
    excess = {}
    for shape, runs in results.runs.items():
        title = TITLES[shape]
        dls, clamped, sdls = runs[DLS], runs[CLAMPED], runs[SDLS]
        excess[shape] = min(runs[JT].totals) / dls.total - 1.0
        worst = max(max(runs[name].totals) for name in (PINV, DLS, CLAMPED, SDLS))
        yield Claim(
            f"{title}: JT follows worse than pinv, DLS, DLS' and SDLS",
            _PROGRAM,
            f"total {_range(runs[JT])}; the others at most {worst:.0f}",
            judge(min(runs[JT].totals) > worst),
        )
        yield Claim(
            f"{title}: pinv follows no better than DLS",
            _PROGRAM,
            f"pinv {_range(runs[PINV])} from starts 1e-9 rad apart, DLS {dls.total:.0f}",
            judge_spread(runs[PINV].totals, dls.total, math.inf),
        )
        yield Claim(
            f"{title}: DLS' and SDLS follow better than DLS, and about equally well",
            _PROGRAM,
            f"DLS {dls.total:.0f}, DLS' {clamped.total:.0f}, SDLS {sdls.total:.0f}",
            judge(max(clamped.total, sdls.total) < dls.total and abs(clamped.total / sdls.total - 1.0) < 0.05),
        )
        gain = released.SELECTIVE_GAIN[shape]
        yield Claim(
            f"{title}: the total of SDLS is about {gain:.0%} below that of DLS",
            _PROGRAM,
            f"{1.0 - sdls.total / dls.total:.1%}",
            judge(abs(1.0 - sdls.total / dls.total - gain) <= 0.01),
        )
        yield Claim(
            f"{title}: JT and pinv shake, by at least ten times the jitter of DLS",
            _PROGRAM,
            f"{runs[JT].jitter / dls.jitter:.0f} and {runs[PINV].jitter / dls.jitter:.0f} times",
            judge(min(runs[JT].jitter, runs[PINV].jitter) >= 10.0 * dls.jitter),
        )
    yield Claim(
        "JT is poor for the Y and extremely poor for the double Y",
        _RESULTS,
        f"its total is {excess['y']:.0%} and {excess['double_y']:.0%} above that of DLS",
        judge(0.0 < excess["y"] < excess["double_y"]),
    )
    mean = results.alone[JT].mean
    yield Claim(
        "JT works well with a single effector",
        _RESULTS,
        f"e1 of the Y alone, within reach: mean error {mean:.4f}, jitter {results.alone[JT].jitter:.4f}; "
        f"DLS {results.alone[DLS].mean:.4f} and {results.alone[DLS].jitter:.4f}",
        judge(mean < 0.05 * results.runs["y"][JT].mean and results.alone[JT].jitter < results.runs["y"][DLS].jitter),
    )


def _damping(results: Results) -> Iterator[Claim]:
    for name, sweep in results.sweeps.items():
        low, high = released.THRESHOLDS[name]
        yield Claim(
            f"{name}: below lambda {low:.2f} to {high:.2f} the jitter is more than ten times higher",
            _PROGRAM,
            f"calm from {sweep.threshold[1]:.2f} on, and 0.15 below that {sweep.fall:.0f} times higher",
            judge(sweep.threshold == (low, high) and sweep.fall > 10.0),
        )
    plain, clamped = results.sweeps[SWEEPS[1]], results.sweeps[SWEEPS[2]]
    damping, error, jitter = released.SHAKING
    ours = plain.at(damping)
    yield Claim(
        f"double Y, DLS: mean error {error:.3f} and jitter {jitter:.1f} at lambda {damping:.2f}",
        _PROGRAM,
        f"{ours[0]:.3f} and {ours[1]:.1f}",
        judge(abs(ours[0] / error - 1.0) < 0.02 and abs(ours[1] / jitter - 1.0) < 0.1),
    )
    error, jitter = plain.at(plain.best)
    usual_error, usual_jitter = plain.at(plain.chosen)
    yield Claim(
        "the damping with the least error shakes, and raising it until it is calm costs accuracy",
        _RESULTS,
        f"double Y, DLS: mean error {error:.3f}, jitter {jitter:.1f} at lambda {plain.best:.2f}; "
        f"{usual_error:.3f}, {usual_jitter:.3f} at {plain.chosen:.2f}",
        judge(plain.best < plain.threshold[1] and jitter > 10.0 * usual_jitter and error < usual_error),
    )
    yield Claim(
        "clamping the error (DLS') allows a lower damping",
        _RESULTS,
        f"double Y: calm from lambda {clamped.threshold[1]:.2f} on, without the clamp from {plain.threshold[1]:.2f}",
        judge(clamped.threshold[1] < plain.threshold[1]),
    )


def _clamping(results: Results) -> Iterator[Claim]:
    for shape, runs in results.unlimited.items():
        free, clamped = runs[PINV], results.runs[shape][PINV]
        yield Claim(
            f"{TITLES[shape]}: pinv is of use only with severely clamped angles",
            _RESULTS,
            f"total {free.total:.0f} without the clamp, {clamped.total:.0f} with 5 degrees",
            judge(free.total > 2.0 * max(clamped.totals)),
        )
    yield Claim(
        "double Y: SDLS is nearer to the targets than DLS in most steps",
        "not in the paper; test B of the released program",
        f"in {results.wins['double_y']:.0%} of the steps",
        "not stated",
    )


def _target_jacobian(results: Results) -> Iterator[Claim]:
    totals, jitters = {}, {}
    for shape, runs in results.at_target.items():
        for name, run in runs.items():
            totals[TITLES[shape], name] = run.total / results.runs[shape][name].total - 1.0
            jitters[TITLES[shape], name] = run.jitter / results.runs[shape][name].jitter - 1.0
    steady = [change for (_, name), change in totals.items() if name != PINV]
    yield Claim(
        "the target Jacobian changes the totals by a few percent, either way",
        _PROGRAM,
        _changes(totals, ".1%"),
        judge(max(map(abs, steady)) < 0.1 and min(steady) < 0.0 < max(steady)),
    )
    yield Claim(
        "the target Jacobian can reduce oscillation when targets are out of reach",
        _CLAMPS,
        f"jitter: {_changes(jitters, '.0%')}",
        judge(all(jitters[title, JT] < 0.0 for title in TITLES.values())),
    )


def _jumps(results: Results) -> Iterator[Claim]:
    for shape, jumps in results.jumps.items():
        free, fixed, adaptive = jumps["none"], jumps["constant"], jumps["adaptive"]
        yield Claim(
            f"{TITLES[shape]}: after a jump, the adaptive D_max approaches as fast as no clamp",
            _CLAMPS,
            f"mean error of the first updates: none {free.early:.3f}, constant {fixed.early:.3f}, "
            f"adaptive {adaptive.early:.3f}",
            judge(adaptive.early <= 1.05 * free.early and adaptive.early < fixed.early),
        )
    free, fixed, adaptive = (results.jumps["double_y"][name] for name in ("none", "constant", "adaptive"))
    yield Claim(
        "double Y: and it stays as calm as a constant clamp",
        _CLAMPS,
        f"joints move by {free.travel:.0f}, {fixed.travel:.0f} and {adaptive.travel:.0f} rad, "
        f"overshoot {free.overshoot:.3f}, {fixed.overshoot:.3f} and {adaptive.overshoot:.3f}",
        judge(adaptive.travel <= 1.1 * fixed.travel < free.travel and adaptive.overshoot < 0.1 * free.overshoot),
    )


def _cost(results: Results) -> Iterator[Claim]:
    for shape, times in released.PAPER_TIMES.items():
        runs = results.runs[shape]
        ratio = runs[DLS].microseconds / runs[JT].microseconds
        most = 2.0 * times[DLS] / times[JT]
        yield Claim(
            f"{TITLES[shape]}: DLS takes longer than JT; in the paper {times[DLS] / times[JT]:.1f} times as long",
            _RESULTS,
            f"{ratio:.1f} times: {runs[JT].microseconds:.2f} and {runs[DLS].microseconds:.2f} us an update; "
            f"counted as the same up to {most:.1f}",
            judge(1.0 < ratio < most),
        )


def _sizes(results: Results) -> Iterator[Claim]:
    for shape, (links, rows, columns) in released.PAPER_SIZES.items():
        ours = results.sizes[shape]
        yield Claim(
            f"{TITLES[shape]}: {links} links, and a Jacobian of {rows} x {columns}",
            _RESULTS,
            f"{ours[0]} links, {ours[1]} x {ours[2]}",
            judge(ours == (links, rows, columns)),
        )


def _range(run: Run) -> str:
    return f"{min(run.totals):.0f} to {max(run.totals):.0f}"


def _changes(changes: Mapping[tuple[str, str], float], form: str) -> str:
    return ", ".join(f"{title} {name} {change:+{form}}" for (title, name), change in changes.items())

"""The ten-link arm of Das, Slotine and Sheridan 1988, section 2.4, and what the paper says of its law.

The paper shows the arm in a field of obstacles and gives no number, so the fields, the path and the gains are fixed
here; an independent script measured the first of them.
"""

from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np

from poise.extending import das
from poise_experiments.base import Claim, Experiment, Table, columns, judge, judge_spread
from poise_experiments.das.figures import figures
from poise_experiments.das.problem import (
    BETWEEN,
    CLEARANCE,
    FAR,
    HYBRID,
    LIMIT,
    LITERAL,
    MEASURED,
    NEWTON,
    NONE,
    RULED,
    SPREADS,
    STRONG,
    TRANSPOSE,
    UPDATES,
    WAYPOINTS,
    WEAK,
    Passage,
    Results,
    count,
    cross,
    drive,
    methods,
)

_EQUATION, _NEWTON, _RESULTS = (
    "Das et al. 1988, eq. 2.2",
    "Das et al. 1988, section 2.3",
    "Das et al. 1988, section 2.4",
)
_A, _B = "Das et al. 1988, appendix A", "Das et al. 1988, appendix B"


def measure(quick: bool) -> Results:
    """Run everything; `quick` takes fewer starts, fewer pairs and less care over times."""
    starts, repeats, pairs = (4, 1, 60) if quick else (16, 7, 300)
    return Results(
        passages={
            name: {
                terms: cross(field, method, repeats=repeats, starts=starts) for terms, method in methods(field).items()
            }
            for name, field in das.FIELDS.items()
        },
        plain=drive(FAR, None),
        split=drive(FAR, LIMIT),
        middle=(drive(BETWEEN, None).arm, drive(BETWEEN, LIMIT).arm),
        counts={name: count(pairs, spread) for name, spread in SPREADS.items()},
    )


def tables(results: Results) -> tuple[Table, ...]:
    """Every table."""
    form = "field | terms | clearance:.4f | least:.4f | most:.4f | independent:.3f | largest error:.4f | "
    return (
        Table(
            f"Ten links through a field: {WAYPOINTS} waypoints of {UPDATES} updates",
            columns(form + "mean error:.5f | us/update:.2f"),
            [
                [
                    field, name, float(passage.clearances.min()), min(passage.least), max(passage.least),
                    MEASURED.get(name) if field == "open" else None, float(passage.errors.max()),
                    float(passage.errors.mean()), passage.microseconds,
                ]
                for field, row in results.passages.items()
                for name, passage in row.items()
            ],
            (
                "clearance: from the nearest joint to the nearest obstacle over all waypoints [links]",
                "joints at waypoints count, links do not: on the way to the first waypoint of the open field the "
                "repelled arm sweeps over an obstacle",
                f"least and most: of starts at most {CLEARANCE:.0e} rad from the first; the printed sign draws the arm "
                "towards the obstacles, and rounding decides how near it comes",
                "beta is 1 but where the rule is named; every start, path and number is ours, for the paper has none",
            ),
        ),
        Table(
            "An arm on a vehicle, the first update towards a far target",
            columns("S | vehicle [% of its way]:.1f | arm [rad]:.3f | error in the end:.1e"),
            [
                [name, 100.0 * drive.vehicle, drive.arm, drive.error]
                for name, drive in (("1", results.plain), ("appendix B", results.split))
            ],
        ),
        Table(
            "Iterations from random starts to random goals, ten links, to 1e-3",
            columns("poses | method | median:.0f | mean:.1f | worst:.0f | failed:d"),
            [
                [spread, name, float(np.median(count.iterations)), float(count.iterations.mean()),
                 float(count.iterations.max()), count.failed]
                for spread, counts in results.counts.items()
                for name, count in counts.items()
            ],
        ),
    )  # fmt: skip


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
        + ", ".join(f"{name} {_range(rows[name][NONE].least)} and {_range(_best(rows[name]))}" for name in das.FIELDS),
        judge(all(min(_best(row)) > max(row[NONE].least) for row in rows.values())),
    )
    signs = [(row[STRONG].least, row[LITERAL].least) for row in rows.values()]
    yield Claim(
        "the term with +K_obs and x from the obstacle to the joint repels",
        _EQUATION,
        "clearance with the other sign and as printed: "
        + ", ".join(f"{_range(other)} and {_range(printed)}" for other, printed in signs)
        + f", from starts {CLEARANCE:.0e} rad apart",
        judge(all(min(printed) >= max(other) for other, printed in signs)),
    )
    worst = {name: row[STRONG].errors.max() for name, row in rows.items()}
    yield Claim(
        "the terms do not affect the motion of the end of the manipulator",
        _EQUATION,
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


DAS: Final = Experiment(
    name="das",
    title="The Jacobian transpose law on ten links among obstacles, and on a vehicle with an arm",
    reference="das1988",
    measure=measure,
    tables=tables,
    claims=claims,
    figures=figures,
)

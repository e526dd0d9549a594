"""The Y and the double Y of Buss 2004, section 8, with the numbers of the program released with Buss and Kim 2005.

Two bodies with two and four effectors chase targets on sinusoidal curves, in and out of reach, by one update a time
step.  The paper tells in words how the methods do; the program holds the curves, the clamps and the dampings.
"""

import math
import statistics
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from poise_experiments.base import Cell, Claim, Experiment, Table, columns, judge, judge_spread
from poise_experiments.buss import released
from poise_experiments.buss.figures import figures
from poise_experiments.buss.problem import (
    CLAMPED,
    CLAMPED_TEXT,
    CLAMPS,
    DAMPING,
    DAMPING_CLAMPED,
    DLS,
    EARLY,
    JT,
    LONG,
    PINV,
    RELEASED_CLAMP,
    SDLS,
    SDLS_TEXT,
    SHAPES,
    SHORT,
    SWEEPS,
    TITLES,
    Results,
    Run,
    Sweep,
    jump,
    links,
    mechanism,
    others,
    sweep,
    track,
    tuned,
)

_CLAMPS, _RESULTS, _PROGRAM = "Buss 2004, section 2", "Buss 2004, section 8", "released program"
_DIGITS: Final = 1e-6
"""A unit in the last digit of the program's totals."""
_CHAOTIC: Final = {JT: 0.01, PINV: 0.08}
"""By how much the totals of the program and of an independent script differ where the run is chaotic."""


def measure(quick: bool) -> Results:
    """Run everything; `quick` takes fewer starts, fewer jumps and less care over times."""
    # Of a chaotic run, few starts could all end on one side of another's total by chance.
    starts, repeats, leaps = (6, 1, 6) if quick else (8, 7, 20)
    methods = {shape: tuned(shape) for shape in SHAPES}
    runs = {
        shape: {
            name: track(shape, method, starts=starts, repeats=repeats)
            for name, method in (methods[shape] | others(shape)).items()
        }
        for shape in SHAPES
    }
    double = partial(sweep, "double_y", LONG)
    return Results(
        runs=runs,
        at_target={
            shape: {name: track(shape, replace(method, jacobian="target")) for name, method in methods[shape].items()}
            for shape in SHAPES
        },
        unlimited={
            shape: {name: track(shape, replace(methods[shape][name], max_step=math.inf)) for name in (JT, PINV, DLS)}
            for shape in SHAPES
        },
        hard={shape: track(shape, replace(methods[shape][SDLS_TEXT], max_error=RELEASED_CLAMP)) for shape in SHAPES},
        alone={name: track("y", methods["y"][name], effectors=[1]) for name in (JT, DLS)},
        short=sweep("y", SHORT, SHORT[-1], warm_up=20, measured=200),
        sweeps=dict(
            zip(
                SWEEPS,
                (
                    sweep("y", LONG, DAMPING["y"]),
                    double(DAMPING["double_y"]),
                    double(DAMPING_CLAMPED["double_y"], clamped=True),
                ),
                strict=True,
            )
        ),
        wins={shape: float((runs[shape][SDLS].errors < runs[shape][DLS].errors).mean()) for shape in SHAPES},
        jumps={shape: {name: jump(shape, clamp, leaps) for name, clamp in CLAMPS.items()} for shape in SHAPES},
        sizes={shape: (links(shape), 3 * count, mechanism(shape).nv) for shape, count in SHAPES.items()},
    )


def tables(results: Results) -> tuple[Table, ...]:
    """Every table."""
    runs, swept = results.runs, columns("lambda:.2f | mean error:.4f | jitter [rad]:.4f")
    totals = "method | total error:.6f | median:.2f | spread:.2f | released:.6f | mean error:.4f | jitter [rad]:.4f | "
    notes = (
        "total error: sum over steps and effectors of the distance after the update, of the run from q = 0",
        "median and spread: of starts 1e-9 rad apart, where the run is chaotic; the figure shows the median",
        "short names below the papers' own methods run with poise's defaults",
    )
    return (
        *(
            Table(
                f"{TITLES[shape]}: 400 steps to warm up, 2000 measured",
                columns(totals + "jitter released:.4f | us/update:.2f"),
                [_total(shape, name, run) for name, run in of.items()],
                notes,
            )
            for shape, of in runs.items()
        ),
        Table(
            "Target Jacobian: columns v x (t - p) instead of v x (s - p)",
            columns("shape | method | effector:.3f | target:.3f | change [%]:+.1f"),
            [
                [TITLES[s], name, runs[s][name].total, run.total, 100.0 * (run.total / runs[s][name].total - 1.0)]
                for s, of in results.at_target.items()
                for name, run in of.items()
            ],
        ),
        Table("Test A: DLS on the Y, 20 steps to warm up, 200 measured", swept, _rows(results.short)),
        *(Table(f"Damping, {name}", swept, _rows(sweep), _calm(sweep)) for name, sweep in results.sweeps.items()),
        Table(
            "Test B: SDLS against DLS, step by step",
            columns("shape | DLS:.3f | SDLS:.3f | SDLS nearer [% of steps]:.1f"),
            [[TITLES[s], runs[s][DLS].total, runs[s][SDLS].total, 100.0 * share] for s, share in results.wins.items()],
        ),
        Table(
            "Test C: targets that jump by 3 (1 + sqrt 5) in time, then stand still",
            columns(
                f"shape | D_max | updates to settle:.1f | mean error, first {EARLY}:.3f | overshoot:.4f | "
                "travel [rad]:.1f"
            ),
            [
                [TITLES[shape], name, row.settled, row.early, row.overshoot, row.travel]
                for shape, jumps in results.jumps.items()
                for name, row in jumps.items()
            ],
            ("DLS with the lambda of DLS'; overshoot: largest rise of the error above its least value so far",),
        ),
        Table(
            "Cost of an update [us]",
            columns("shape | method | poise:.2f | paper:.1f | program: step:.2f | whole update:.2f"),
            [_times(shape, name, of[name]) for shape, of in runs.items() for name in (JT, PINV, DLS, CLAMPED, SDLS)],
            (
                "poise: the whole update, with forward kinematics and Jacobian, on this machine; paper: 2.8 GHz "
                "Pentium",
                "program: the released C++, g++ -O3, on a 2.5 GHz Xeon",
            ),
        ),
        _disagreements(results),
    )


def _total(shape: str, name: str, run: Run) -> list[Cell]:
    spread = max(run.totals) - min(run.totals)
    chaotic: tuple[Cell, Cell] = (statistics.median(run.totals), spread) if spread > 1e-3 else (None, None)
    return [
        name, run.total, *chaotic, released.TOTALS[shape].get(name), run.mean, run.jitter,
        released.JITTERS[shape].get(name), run.microseconds,
    ]  # fmt: skip


def _rows(sweep: Sweep) -> list[tuple[float, float, float]]:
    return list(zip(sweep.dampings, sweep.means, sweep.jitters, strict=True))


def _calm(sweep: Sweep) -> tuple[str]:
    low, high = sweep.threshold
    return (f"calm from lambda {high:.2f} on, not at {low:.2f}; the released program has {sweep.chosen:.1f}",)


def _times(shape: str, name: str, run: Run) -> list[Cell]:
    step = released.STEP_TIMES[shape].get(name)
    whole = None if step is None else step + released.KINEMATICS_TIMES[shape]
    return [TITLES[shape], name, run.microseconds, released.PAPER_TIMES[shape].get(name), step, whole]


def _disagreements(results: Results) -> Table:
    double, runs, free = "double_y", results.runs["double_y"], results.unlimited["double_y"]
    shapes = ("{1} x {2}".format(*size[double]) for size in (released.PAPER_SIZES, results.sizes))
    rows: list[list[Cell]] = [
        ["size of the Jacobian", "one column a link", "one column a joint", *shapes],
        [
            "D_max of DLS'", "plus what the step came closer", "plus what it went farther, of the wrong effector",
            runs[CLAMPED_TEXT].total, runs[CLAMPED].total,
        ],
        ["clamps of SDLS", "hard", "soft", results.hard[double].total, runs[SDLS].total],
        ["clamps and D_max of SDLS", "as above", "as above", runs[SDLS_TEXT].total, runs[SDLS].total],
    ]  # fmt: skip
    for name, degrees in ((JT, 30), (PINV, 5), (DLS, 45)):
        rows.append([f"angle clamp of {name}", "no number", f"{degrees} degrees", free[name].total, runs[name].total])
    for name, of in zip((DLS, CLAMPED), list(results.sweeps.values())[1:], strict=True):
        texts = f"no number; least error at {of.best:.2f}", f"{of.chosen:.1f}, in a comment"
        rows.append([f"lambda of {name} (mean error)", *texts, of.at(of.best)[0], of.at(of.chosen)[0]])
    return Table(
        "Where the text and the program differ, both run on the double Y (total error)",
        columns("what | text | program | with the text:.3f | with the program:.3f"),
        rows,
        ("the hard clamps of SDLS are those of Buss and Kim 2005; angle clamps 'no number' run without one",),
    )


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
    for name, swept in results.sweeps.items():
        low, high = released.THRESHOLDS[name]
        yield Claim(
            f"{name}: below lambda {low:.2f} to {high:.2f} the jitter is more than ten times higher",
            _PROGRAM,
            f"calm from {swept.threshold[1]:.2f} on, and 0.15 below that {swept.fall:.0f} times higher",
            judge(swept.threshold == (low, high) and swept.fall > 10.0),
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
    for shape, sizes in released.PAPER_SIZES.items():
        ours = results.sizes[shape]
        yield Claim(
            f"{TITLES[shape]}: {sizes[0]} links, and a Jacobian of {sizes[1]} x {sizes[2]}",
            _RESULTS,
            f"{ours[0]} links, {ours[1]} x {ours[2]}",
            judge(ours == sizes),
        )


def _range(run: Run) -> str:
    return f"{min(run.totals):.0f} to {max(run.totals):.0f}"


def _changes(changes: Mapping[tuple[str, str], float], form: str) -> str:
    return ", ".join(f"{title} {name} {change:+{form}}" for (title, name), change in changes.items())


BUSS: Final = Experiment(
    name="buss",
    title="Jacobian transpose, pseudoinverse and damped least squares on the Y and the double Y",
    reference="buss2004",
    measure=measure,
    tables=tables,
    claims=claims,
    figures=figures,
)

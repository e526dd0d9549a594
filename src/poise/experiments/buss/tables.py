"""The numbers behind the verdicts, as tables."""

import statistics
from collections.abc import Iterator

from poise.experiments.base import Cell, Table
from poise.experiments.buss import released
from poise.experiments.buss.claims import TITLES, Results
from poise.experiments.buss.jumps import EARLY
from poise.experiments.buss.sweep import Sweep
from poise.experiments.buss.tracking import CLAMPED, CLAMPED_TEXT, DLS, JT, PINV, SDLS, SDLS_TEXT


def tables(results: Results) -> tuple[Table, ...]:
    """Every table."""
    return (
        *(_totals(shape, results) for shape in results.runs),
        _at_target(results),
        *_sweeps(results),
        _wins(results),
        _jumps(results),
        _cost(results),
        _disagreements(results),
    )


def _totals(shape: str, results: Results) -> Table:
    rows: list[list[Cell]] = []
    for name, run in results.runs[shape].items():
        spread = max(run.totals) - min(run.totals)
        rows.append(
            [
                name,
                run.total,
                statistics.median(run.totals) if spread > 1e-3 else None,
                spread if spread > 1e-3 else None,
                released.TOTALS[shape].get(name),
                run.mean,
                run.jitter,
                released.JITTERS[shape].get(name),
                run.microseconds,
            ]
        )
    return Table(
        f"{TITLES[shape]}: 400 steps to warm up, 2000 measured",
        {
            "method": "",
            "total error": ".6f",
            "median": ".2f",
            "spread": ".2f",
            "released": ".6f",
            "mean error": ".4f",
            "jitter [rad]": ".4f",
            "jitter released": ".4f",
            "us/update": ".2f",
        },
        rows,
        (
            "total error: sum over steps and effectors of the distance after the update, of the run from q = 0",
            "median and spread: of starts 1e-9 rad apart, where the run is chaotic; the figure shows the median",
            "short names below the papers' own methods run with poise's defaults",
        ),
    )


def _at_target(results: Results) -> Table:
    rows: list[list[Cell]] = [
        [TITLES[shape], name, results.runs[shape][name].total, run.total, _percent(run.total, results, shape, name)]
        for shape, runs in results.at_target.items()
        for name, run in runs.items()
    ]
    return Table(
        "Target Jacobian: columns v x (t - p) instead of v x (s - p)",
        {"shape": "", "method": "", "effector": ".3f", "target": ".3f", "change [%]": "+.1f"},
        rows,
    )


def _percent(total: float, results: Results, shape: str, name: str) -> float:
    return 100.0 * (total / results.runs[shape][name].total - 1.0)


def _sweeps(results: Results) -> Iterator[Table]:
    columns = {"lambda": ".2f", "mean error": ".4f", "jitter [rad]": ".4f"}
    yield Table("Test A: DLS on the Y, 20 steps to warm up, 200 measured", columns, _rows(results.short))
    for name, sweep in results.sweeps.items():
        low, high = sweep.threshold
        note = f"calm from lambda {high:.2f} on, not at {low:.2f}; the released program has {sweep.chosen:.1f}"
        yield Table(f"Damping, {name}", columns, _rows(sweep), (note,))


def _rows(sweep: Sweep) -> list[tuple[float, float, float]]:
    return list(zip(sweep.dampings, sweep.means, sweep.jitters, strict=True))


def _wins(results: Results) -> Table:
    return Table(
        "Test B: SDLS against DLS, step by step",
        {"shape": "", "DLS": ".3f", "SDLS": ".3f", "SDLS nearer [% of steps]": ".1f"},
        [
            [TITLES[shape], results.runs[shape][DLS].total, results.runs[shape][SDLS].total, 100.0 * share]
            for shape, share in results.wins.items()
        ],
    )


def _jumps(results: Results) -> Table:
    return Table(
        "Test C: targets that jump by 3 (1 + sqrt 5) in time, then stand still",
        {
            "shape": "",
            "D_max": "",
            "updates to settle": ".1f",
            f"mean error, first {EARLY}": ".3f",
            "overshoot": ".4f",
            "travel [rad]": ".1f",
        },
        [
            [TITLES[shape], name, row.settled, row.early, row.overshoot, row.travel]
            for shape, jumps in results.jumps.items()
            for name, row in jumps.items()
        ],
        ("DLS with the lambda of DLS'; overshoot: largest rise of the error above its least value so far",),
    )


def _cost(results: Results) -> Table:
    rows: list[list[Cell]] = []
    for shape, runs in results.runs.items():
        for name in (JT, PINV, DLS, CLAMPED, SDLS):
            step = released.STEP_TIMES[shape].get(name)
            rows.append(
                [
                    TITLES[shape],
                    name,
                    runs[name].microseconds,
                    released.PAPER_TIMES[shape].get(name),
                    step,
                    None if step is None else step + released.KINEMATICS_TIMES[shape],
                ]
            )
    return Table(
        "Cost of an update [us]",
        {"shape": "", "method": "", "poise": ".2f", "paper": ".1f", "program: step": ".2f", "whole update": ".2f"},
        rows,
        (
            "poise: the whole update, with forward kinematics and Jacobian, on this machine; paper: 2.8 GHz Pentium",
            "program: the released C++, g++ -O3, on a 2.5 GHz Xeon",
        ),
    )


def _disagreements(results: Results) -> Table:
    double, runs, free = "double_y", results.runs["double_y"], results.unlimited["double_y"]
    sweeps = list(results.sweeps.values())
    return Table(
        "Where the text and the program differ, both run on the double Y (total error)",
        {"what": "", "text": "", "program": "", "with the text": ".3f", "with the program": ".3f"},
        [
            [
                "size of the Jacobian",
                "one column a link",
                "one column a joint",
                "{1} x {2}".format(*released.PAPER_SIZES[double]),
                "{1} x {2}".format(*results.sizes[double]),
            ],
            [
                "D_max of DLS'",
                "plus what the step came closer",
                "plus what it went farther, of the wrong effector",
                runs[CLAMPED_TEXT].total,
                runs[CLAMPED].total,
            ],
            ["clamps of SDLS", "hard", "soft", results.hard[double].total, runs[SDLS].total],
            ["clamps and D_max of SDLS", "as above", "as above", runs[SDLS_TEXT].total, runs[SDLS].total],
            ["angle clamp of JT", "no number", "30 degrees", free[JT].total, runs[JT].total],
            ["angle clamp of pinv", "no number", "5 degrees", free[PINV].total, runs[PINV].total],
            ["angle clamp of DLS", "no number", "45 degrees", free[DLS].total, runs[DLS].total],
            [
                "lambda of DLS (mean error)",
                f"no number; least error at {sweeps[1].best:.2f}",
                f"{sweeps[1].chosen:.1f}, in a comment",
                sweeps[1].at(sweeps[1].best)[0],
                sweeps[1].at(sweeps[1].chosen)[0],
            ],
            [
                "lambda of DLS' (mean error)",
                f"no number; least error at {sweeps[2].best:.2f}",
                f"{sweeps[2].chosen:.1f}, in a comment",
                sweeps[2].at(sweeps[2].best)[0],
                sweeps[2].at(sweeps[2].chosen)[0],
            ],
        ],
        ("the hard clamps of SDLS are those of Buss and Kim 2005; angle clamps 'no number' run without one",),
    )

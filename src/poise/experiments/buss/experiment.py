"""The Y and the double Y of Buss 2004, section 8, with the numbers of the program released with Buss and Kim 2005.

Two bodies with two and four effectors chase targets on sinusoidal curves, in and out of reach, by one update a time
step.  The paper tells in words how the methods do; the program holds the curves, the clamps and the dampings.
"""

import math
from dataclasses import replace
from functools import partial
from typing import Final

from poise.experiments.base import Experiment
from poise.experiments.buss.claims import SWEEPS, Results, claims
from poise.experiments.buss.figures import draw
from poise.experiments.buss.jumps import CLAMPS, jump
from poise.experiments.buss.shapes import SHAPES, links, mechanism
from poise.experiments.buss.sweep import LONG, SHORT, sweep
from poise.experiments.buss.tables import tables
from poise.experiments.buss.tracking import (
    DAMPING,
    DAMPING_CLAMPED,
    DLS,
    JT,
    PINV,
    RELEASED_CLAMP,
    SDLS,
    SDLS_TEXT,
    others,
    track,
    tuned,
)


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


BUSS: Final = Experiment(
    name="buss",
    title="Jacobian transpose, pseudoinverse and damped least squares on the Y and the double Y",
    reference="buss2004",
    measure=measure,
    tables=tables,
    claims=claims,
    draw=draw,
)

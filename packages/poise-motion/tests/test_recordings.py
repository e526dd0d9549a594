"""Recordings of people on robots: no limit is broken, feet do not slide, nothing is in the ground."""

import warnings
from functools import cache

import numpy as np
import pytest
from bodies import robot
from support.captures import ASSIMP, climber, climbs, needs_assimp, needs_holosoma

import poise as pz


@cache
def recording(name: str, start: int, stop: int) -> pz.Motion:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pz.ModelWarning)  # a row more than the header says
        return pz.load_motion(ASSIMP / "BVH" / f"{name}.bvh")[start:stop]


def check(done: pz.results.Retargeted, *, off: float, skating: float = 0.01) -> None:
    """What must hold of every motion; `off` is how far hands and trunk may be away in the median frame [m]."""
    report = done.report
    assert report.limits.broken == report.limits.too_fast == 0.0
    slides = report.source_skate.share
    assert report.skate.share <= (0.0 if np.isnan(slides) else slides) + skating
    parts = report.tracking.parts
    some = [parts.index(part) for part in ("pelvis", "left_wrist", "right_wrist")]
    assert np.median(report.tracking.position[:, some]) < off


@needs_assimp
@pytest.mark.parametrize(
    ("name", "start", "stop"), [("01_01", 120, 1000), ("01_03", 200, 900), ("Boxing_Toes", 0, 900)]
)
def test_people_on_a_humanoid(name: str, start: int, stop: int) -> None:
    """The bars: skating at most the source's and 1 %, 1 mm in the ground, 1.2 times the source's jerk."""
    done = pz.retarget(recording(name, start, stop), robot("g1"))
    check(done, off=0.02)
    assert done.report.ground.deeper(1e-3) == 0.0
    assert done.report.jerk.ratio < 1.2
    assert done.report.slow_jerk.ratio < 1.2


@needs_assimp
@pytest.mark.parametrize(("name", "off"), [("talos", 0.12), ("human", 0.08)])
def test_a_jump_on_other_bodies(name: str, off: float) -> None:
    check(pz.retarget(recording("01_01", 120, 700), robot(name)), off=off)


@needs_holosoma
@pytest.mark.parametrize("which", [1, *(pytest.param(which, marks=pytest.mark.slow) for which in (0, 2, 3, 4))])
def test_climbs(which: int) -> None:
    """Of a person whose joints are known by their places alone, up boxes and down again."""
    names, parents = climber()
    places = np.load(climbs()[which])[::2]
    done = pz.retarget(pz.motion_from_positions(places, names, parents, fps=15.0), robot("g1"), smooth=0.2)
    check(done, off=0.1)
    steps = [contact.ground for contact in done.contacts.intervals]
    assert max(steps) > 0.15

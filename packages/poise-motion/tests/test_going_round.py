"""Arms that go fully round: a robot whose joints cannot comes back to the body's arm, within its limits."""

from functools import cache

import numpy as np
import pytest
from bodies import robot
from walker import NAMES, parents, positions

import poise as pz
from poise.common.array import Array
from poise_motion.follow import following
from poise_motion.follow.detours import limbs

FPS = 60.0


@cache
def carried(kind: str) -> pz.results.Retargeted:
    return pz.retarget(circle(kind), robot("g1"))


def circle(kind: str) -> pz.Motion:
    """A body that stands, moves its left arm once round, and stands still: a step for each kind of circle."""
    turn = np.concatenate([np.zeros(30), np.linspace(0.0, 2.0 * np.pi, 120), np.full(60, 2.0 * np.pi)])
    places = positions(np.zeros(len(turn)), stride=0.9)[0]
    shoulder = places[:, NAMES.index("LeftArm")]
    upper, lower = (_way(kind, angle) for angle in (turn, turn + (-0.4 if kind == "backwards" else 0.4)))
    elbow = shoulder + 0.28 * upper
    places[:, NAMES.index("LeftForeArm")] = elbow
    places[:, NAMES.index("LeftHand")] = elbow + 0.26 * lower
    return pz.motion_from_positions(places, NAMES, parents(), fps=FPS)


def _way(kind: str, angle: Array) -> Array:
    """(frames, 3) where the arm points."""
    s, c, same = np.sin(angle), np.cos(angle), np.ones(len(angle))
    way = np.stack(
        {
            "forwards": (s, 0.15 * same, -c),
            "backwards": (-s, 0.15 * same, -c),
            "overhead": (0.2 * same, s, -c),
            "behind the back": (c, s, -0.2 * same),
        }[kind],
        axis=1,
    )
    unit: Array = way / np.linalg.norm(way, axis=1, keepdims=True)
    return unit


@pytest.mark.parametrize("kind", ["forwards", "backwards", "overhead", "behind the back"])
def test_an_arm_comes_back_that_goes_where_the_robots_cannot(kind: str) -> None:
    model = robot("g1")
    done = carried(kind)
    tracking, q = done.report.tracking, done.motion.q
    for part in ("left_wrist", "pelvis"):
        assert tracking.position[-20:, tracking.parts.index(part)].max() < 0.01
    if kind != "overhead":  # the trunk helps it over
        assert any("the left arm goes round" in note for note in done.notes)
    assert not any("right arm" in note for note in done.notes)
    assert (q >= model.lower).all()
    assert (q <= model.upper).all()
    assert (np.abs(model.difference(q[:-1], q[1:])) * FPS <= model.velocity + 1e-9).all()
    assert done.report.skate.share == 0.0


@pytest.mark.parametrize("kind", ["backwards"])
def test_by_a_way_round_an_arm_is_off_in_fewer_frames(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    led = carried(kind)
    monkeypatch.setattr(following, "detour", lambda *_: (None, []))
    held = pz.retarget(circle(kind), robot("g1"))
    frames = []
    for done in (led, held):
        arm = next(limb for limb in limbs(done._robot) if limb.name == "left arm")
        frames.append((arm.off(done._robot, done._led.done.targets, done.motion.q) > arm.away).sum())
    assert frames[0] < frames[1]


def test_it_goes_round_within_accelerations_too() -> None:
    model, most = robot("g1"), 100.0
    limit = pz.AccelerationLimit({joint.name: most for joint in model.joints if joint.nq == 1})
    q = pz.retarget(circle("backwards"), model, limits=[limit], smooth=0.05).motion.q
    steps = q[1:, 7:] - q[:-1, 7:]
    assert np.abs(np.diff(steps, axis=0)).max() * FPS**2 < most * (1.0 + 1e-6)
    assert (q >= model.lower).all()
    assert (q <= model.upper).all()

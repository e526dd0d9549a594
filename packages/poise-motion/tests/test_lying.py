"""Bodies that lie, crawl and get down: feet that cannot stand are not held, nothing is in the ground, limbs point."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from bodies import robot
from walker import NAMES, parents, walk

import poise as pz
from poise.common.array import Array
from poise.solving.requirements.limits import Limits
from poise_motion.anatomy.foot_geometry import lowest
from poise_motion.contact.contacts import contacts
from poise_motion.contact.lying import off_feet, on_soles
from poise_motion.follow.following import Follower
from poise_motion.follow.ground_clearance import gently
from poise_motion.reference.targets import targets
from poise_motion.report.notes import shaking

FPS = 30.0


def g1() -> pz.Model:
    return robot("g1")


def crawling(times: Array) -> Array:
    """(frames, joints, 3) of a body on hands and knees, which go forward in turns, the insteps on the ground."""
    out = {}
    along = 0.25 * times
    hips = np.stack([along, 0.0 * times, 0.47 + 0.0 * times], axis=1)
    out["Hips"], out["Spine"] = hips, hips + np.array([0.28, 0.0, 0.06])
    out["Head"] = hips + np.array([0.62, 0.0, 0.08])
    for i, side in enumerate(("Left", "Right")):
        y, phase = 0.1 * (1 - 2 * i), np.pi * i
        knee_turn = 0.25 * np.sin(2.0 * np.pi * 0.5 * times + phase)
        hip = hips + np.array([0.0, y, -0.02])
        knee = hip + 0.40 * np.stack([np.sin(knee_turn), 0.0 * times, -np.cos(knee_turn)], axis=1)
        foot = knee + 0.40 * np.array([-0.995, 0.0, 0.0999])
        arm_turn = -0.3 * np.sin(2.0 * np.pi * 0.5 * times + phase)
        shoulder = out["Spine"] + [0.18, 1.9 * y, 0.0]
        way = np.stack([np.sin(arm_turn), 0.0 * times, -np.cos(arm_turn)], axis=1)
        out |= {
            f"{side}UpLeg": hip, f"{side}Leg": knee, f"{side}Foot": foot, f"{side}Toe": foot
            + np.array([-0.13, 0.0, -0.06]),
            f"{side}Arm": shoulder, f"{side}ForeArm": shoulder + 0.26 * way, f"{side}Hand": shoulder + 0.5 * way,
        }  # fmt: skip
    return np.stack([out[name] for name in NAMES], axis=1)


@cache
def crawled() -> pz.results.Retargeted:
    times = np.arange(61) / FPS
    return pz.retarget(pz.motion_from_positions(crawling(times), NAMES, parents(), fps=FPS), g1())


@cache
def fallen() -> pz.results.Retargeted:
    """A body that stands, and falls stiffly onto its back."""
    times = np.arange(91) / FPS
    stands = walk(FPS, 3.0, stride=0.0).positions(list(NAMES))[0]
    angle = -0.5 * np.pi * np.clip((times - 1.0) / 1.0, 0.0, 1.0) ** 2
    heel = np.array([stands[NAMES.index("LeftFoot"), 0] - 0.04, 0.0, 0.0])
    turned = pz.SO3.from_rotvec(np.outer(angle, [0.0, 1.0, 0.0]))
    places = np.stack([heel + (turned @ (place - heel)) for place in stands], axis=1)
    lift = 0.1 * (angle / angle[-1])[:, None]
    places[..., 2] += lift
    return pz.retarget(pz.motion_from_positions(places, NAMES, parents(), fps=FPS), g1())


@pytest.mark.parametrize("made", [crawled, fallen])
def test_limbs_point_as_the_body_s_and_nothing_is_in_the_ground(made: Callable[[], pz.results.Retargeted]) -> None:
    done = made()
    assert np.degrees(done.report.tracking.direction.mean()) < 8.0
    assert lowest(g1(), done.motion.q).min() > -0.01
    assert done.report.limits.broken == done.report.limits.too_fast == 0.0
    assert any("off its feet" in note for note in done.notes)


def test_feet_land_on_the_ground_and_not_in_it() -> None:
    """Of a body that turns over in the air and comes down fast."""
    times = np.arange(40) / FPS
    stands = walk(FPS, 3.0, stride=0.0).positions(list(NAMES))[0]
    share = np.clip((times - 0.4) / 0.3, 0.0, 1.0)
    turned = pz.SO3.from_rotvec(np.outer(-2.0 * np.pi * share, [0.0, 1.0, 0.0]))
    middle = stands.mean(axis=0)
    places = np.stack([middle + (turned @ (place - middle)) for place in stands], axis=1)
    places[..., 2] += (1.2 * share * (1.0 - share))[:, None]
    done = pz.retarget(pz.motion_from_positions(places, NAMES, parents(), fps=FPS), g1())
    assert any("off its feet" in note for note in done.notes)
    assert lowest(g1(), done.motion.q).min() > -0.005


def test_a_motion_is_followed_again_from_where_it_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("poise_motion.follow.following._CHECKPOINT_SPACING", 5)
    done = pz.retarget(walk(FPS, 3.0), g1())
    robot, follower = done._robot, Follower(done._robot, 1.0 / FPS, Limits.of(True), 1.0)
    source = replace(done._seen, off_feet=np.arange(len(done.motion)) > 80)
    aims = targets(source, robot)
    raised = aims.places["left_wrist"] + np.clip(done.motion.times - 2.0, 0.0, 0.3)[:, None] * (0.0, 0.0, 1.0)
    higher = replace(aims, places={**aims.places, "left_wrist": raised})
    before, whole = follower.go(source, aims), follower.go(source, higher)
    again = follower.go(source, higher, like=before)
    assert np.array_equal(again.q, whole.q)
    (same,) = np.nonzero(again.seconds == before.seconds)  # what was not followed again took no other time
    assert 30 < len(same) <= 61


def test_a_floor_that_is_kept_lets_a_body_that_crawls_be_raised_all_the_same() -> None:
    floor = pz.World({"floor": pz.HalfSpace((0.0, 0.0, 0.0), (0.0, 0.0, 1.0))})
    limit = pz.CollisionLimit(floor, min_distance=0.0, self_collision=False)
    motion = pz.motion_from_positions(crawling(np.arange(20) / FPS), NAMES, parents(), fps=FPS)
    bare, kept = pz.retarget(motion, g1()), pz.retarget(motion, g1(), limits=[limit])
    off = [np.degrees(done.report.tracking.direction.mean()) for done in (bare, kept)]
    assert off[1] < off[0] + 5.0
    assert lowest(g1(), kept.motion.q).min() > -1e-4


def test_insteps_on_the_ground_are_not_feet_that_stand() -> None:
    assert not crawled().contacts.on.any()
    assert any("never stand" in note for note in crawled().notes)


def test_what_touches_is_on_the_ground() -> None:
    done = crawled()
    assert np.quantile(lowest(g1(), done.motion.q).min(axis=1), 0.9) < 0.03


def test_feet_stand_until_the_body_falls() -> None:
    on = fallen().contacts.on
    assert on[:30].all()
    assert not on[60:].any()
    assert fallen().report.skate.share == 0.0


def test_who_walks_is_on_its_feet() -> None:
    done = pz.retarget(walk(FPS, 2.0), g1())
    assert not any("off its feet" in note for note in done.notes)


def test_a_foot_stands_only_while_its_sole_can_face_the_ground() -> None:
    times = np.arange(60) / FPS
    foot = np.full((60, 1, 3), (0.0, 0.0, 0.08))
    tilt = np.radians(np.where(times < 1.0, 10.0, 80.0))
    up = np.stack([np.sin(tilt), 0.0 * tilt, np.cos(tilt)], axis=1)
    found = contacts({"left_ankle": foot}, times)
    assert found.on.all()
    straight, along = np.tile([0.0, 0.0, 1.0], (60, 1)), np.tile([1.0, 0.0, 0.1], (60, 1))
    for ups, shins, stands in ((up, straight, 30), (straight, along, 0), (straight, straight, 60)):
        kept = on_soles(found, {"left_ankle": ups}, {"left_ankle": shins}, times)
        assert kept["left_ankle"].sum() == kept.points["left_ankle"].sum() == stands
        assert [(one.start, one.stop) for one in kept.intervals] == ([(0, stands)] if stands else [])


@pytest.mark.parametrize(("angle", "off"), [(0.0, False), (60.0, False), (90.0, True), (180.0, True)])
def test_a_trunk_that_lies_in_the_air_is_off_its_feet(angle: float, off: bool) -> None:
    times, turn = np.arange(10) / FPS, pz.SO3.from_rpy([0.0, np.radians(angle), 0.0])
    body = {"hip": (0.0, 0.1, 0.0), "shoulder": (0.0, 0.15, 0.5), "ankle": (0.0, 0.1, -0.8)}
    places = {
        f"{side}_{part}": np.tile(turn @ np.array(place) * (1.0, 1.0 - 2.0 * i, 1.0) + [0.0, 0.0, 3.0], (10, 1))
        for i, side in enumerate(("left", "right"))
        for part, place in body.items()
    }
    found = contacts({"left_ankle": np.linspace([[0.0, 0.0, 3.0]], [[3.0, 0.0, 3.0]], 10)}, times)
    assert not found.on.any()
    assert (off_feet(places, found, times, 0.9) == off).all()


def test_a_body_is_raised_enough_and_gently() -> None:
    times = np.arange(200) / 100.0
    needs = np.where(np.abs(times - 1.0) < 0.03, 0.1, 0.0)
    rise = gently(needs, times)
    assert (rise >= needs - 1e-12).all()
    assert rise[0] == rise[-1] == 0.0
    assert np.abs(np.diff(rise, 2)).max() * 100.0**2 < 0.1 * np.pi**2 / 0.2**2


def test_a_joint_that_shakes_is_told_of() -> None:
    model, times = g1(), np.arange(20) / FPS
    q = np.tile(model.home, (20, 1))
    q[:, model.index("left_elbow_joint")] += 0.05 * (-1.0) ** np.arange(20)[:, None]
    (note,) = shaking(pz.Motion(model, times, q))
    assert "left_elbow_joint reverses at each frame from 0.00" in note
    assert not shaking(crawled().motion)

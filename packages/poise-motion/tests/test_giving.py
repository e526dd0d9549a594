"""Stances that give: nailed, giving a little before the body is bent for them, or as soft as any other part."""

from functools import cache

import numpy as np
import pytest
from bodies import robot
from support.refusals import refused
from walker import NAMES, parents, walk

import poise as pz
from poise.common.array import Array
from poise.quaternions import rotate
from poise_motion.anatomy.contact_schedule import GIVING, Contacts, Hold, StanceLike
from poise_motion.follow.self_collision import meeting
from poise_motion.report.measures import tracking

FPS = 30.0
FEET = ("left_ankle", "right_ankle")


@cache
def straddling() -> pz.Motion:
    """A body that stands with its legs spread wider than a G1's ankles tilt, and sways."""
    places = np.repeat(walk(FPS, 0.0, stride=0.0).positions(list(NAMES)), 20, axis=0)
    for i, side in enumerate(("Left", "Right")):
        hip, out = places[:, NAMES.index(f"{side}UpLeg")], 1 - 2 * i
        for name, far in (("Leg", 0.43), ("Foot", 0.85)):
            places[:, NAMES.index(side + name)] = hip + far * np.array([0.0, 0.4 * out, -((1.0 - 0.4**2) ** 0.5)])
        places[:, NAMES.index(f"{side}Toe")] = places[:, NAMES.index(f"{side}Foot")] + [0.15, 0.0, -0.07]
    feet = [k for k, name in enumerate(NAMES) if name.endswith(("Foot", "Toe"))]
    places[..., 2] -= places[:, feet, 2].min() - 0.02
    others = [k for k in range(len(NAMES)) if k not in feet and not NAMES[k].endswith("Leg")]
    places[:, others, 1] += 0.01 * np.sin(np.arange(20) / 6.0)[:, None]
    return pz.motion_from_positions(places, NAMES, parents(), fps=FPS)


@cache
def straddled(stance: StanceLike, smooth: float = 0.0) -> pz.results.Retargeted:
    return pz.retarget(straddling(), robot("g1"), stance=stance, smooth=smooth)


def tilt(done: pz.results.Retargeted, part: str) -> Array:
    """(frames,) between a sole and the ground [rad]."""
    turns = done.motion.model.poses(done.motion.q, [done.body.robot[part]])[:, 0].wxyz
    return np.arccos(np.minimum(rotate(turns, np.array([0.0, 0.0, 1.0]))[:, 2], 1.0))


def slid(done: pz.results.Retargeted, part: str) -> float:
    """How far a sole is from where it should stand, at most [m]."""
    return float(done.report.tracking.position[:, done.body.parts.index(part)].max())


def off(done: pz.results.Retargeted) -> float:
    """How far its limbs point another way than the body's, on average [deg]."""
    return float(np.degrees(done.report.tracking.direction.mean()))


def test_a_sole_gives_before_the_body_is_bent() -> None:
    nailed, done = straddled("hard"), straddled(GIVING)
    assert off(done) < 0.5 * off(nailed)
    for part in FEET:
        assert 0.1 < tilt(done, part).max() <= GIVING.tilt
        assert slid(done, part) < GIVING.place
    assert done.report.ground.kept == 1.0
    assert done.report.skate.share == done.report.limits.broken == 0.0


@pytest.mark.parametrize("smooth", [0.0, 0.1])
def test_a_sole_is_tilted_no_further_than_is_said(smooth: float) -> None:
    done = straddled((0.01, 0.1), smooth)
    for part in FEET:
        assert 0.09 < tilt(done, part).max() < 0.1 + 1e-4
        assert slid(done, part) < 0.01
    assert done.report.ground.kept == 1.0
    assert off(straddled("soft", smooth)) < 0.6 * off(done)


def test_one_stance_is_held_otherwise_and_again() -> None:
    done = straddled(GIVING)
    firmer = done.again(contacts=done.contacts.with_hold(FEET[0], 0, 1, (0.01, 0.1)))
    assert tilt(firmer, FEET[0]).max() < 0.1 + 1e-4 < tilt(firmer, FEET[1]).max()
    assert np.array_equal(done.again().motion.q, done.motion.q)
    assert straddled("soft").again()._seen.hold == Hold.of("soft")


def test_a_stance_is_said_by_a_word_or_by_how_far_and_how_tilted() -> None:
    assert str(Hold.of("hard")) == "hard"
    assert str(Hold.of((0.005, np.radians(5.0)))) == "within 5 mm and 5 degrees"
    assert Hold.of((0.0, 0.2)).hard
    assert Hold.of((0.01, 0.0)).hard
    with refused("unknown-word", "'nailed'"):
        Hold.of("nailed")  # type: ignore[arg-type]
    with refused("negative", "stance[0]"):
        Hold.of((-0.01, 0.1))
    with refused("out-of-range", "degrees?"):
        Hold.of((0.01, 15.0))
    with refused("wrong-type", "(metres, radians)"):
        Hold.of(0.01)  # type: ignore[arg-type]


def test_a_hold_is_that_of_the_stances_that_are_met() -> None:
    flags = np.array([1, 1, 0, 1, 1, 1], dtype=bool)
    known = Contacts.of({FEET[0]: flags}).with_hold(FEET[0], 4, 6, "hard")
    assert [one.hold for one in known.intervals] == [None, Hold.of("hard")]
    longer = known.with_stance(FEET[0], 3, 6)
    assert [one.hold for one in longer.intervals] == [None, Hold.of("hard")]
    assert [one.hold for one in known.with_hold(FEET[0], 0, 6, None).intervals] == [None, None]
    with refused("no-such-part", "does not stand in the frames 2 up to 3"):
        known.with_hold(FEET[0], 2, 3, "soft")


@pytest.mark.parametrize("stance", [GIVING, "hard"])
def test_a_place_is_given_up_at_the_end_of_a_stance_and_not_at_that_of_a_motion(stance: StanceLike) -> None:
    done = pz.retarget(walk(FPS, 2.0), robot("g1"), stance=stance, self_collision=False)
    sole, place = done._robot, done._led.done.targets.places
    roughness = []
    for one in done.contacts.intervals:
        path = sole.places(one.part, sole.points[one.part], done.motion.q)
        stood = path[one.start : one.stop] - path[(one.start + one.stop) // 2]
        assert np.linalg.norm(stood[:, :2], axis=1).max() <= GIVING.place
        assert np.ptp(place[one.part][one.stop - 4 : one.stop, 2]) < 1e-3  # it is not lifted
        if one.stop == len(done.motion):
            assert np.linalg.norm(stood[-3:, :2], axis=1).max() < 1e-3
        elif one.start > 3:
            third = np.diff(path[one.stop - 3 : one.stop + 5], n=3, axis=0)
            roughness.append(float(np.linalg.norm(third, axis=1).max()) * FPS**3)
    assert max(roughness) < 700.0 if stance == GIVING else max(roughness) > 1000.0  # m/s^3


def test_wider_hips_and_other_bones_bend_no_straight_leg() -> None:
    """A G1's hips are wider, and its shins longer for its size, than the body's."""
    done = pz.retarget(walk(FPS, 1.5), robot("g1"))
    assert off(done) < 2.5
    assert done.report.ground.kept == 1.0


def test_a_bone_ends_at_the_joint_and_not_on_the_sole() -> None:
    parts = ("left_knee", "left_ankle")
    bone = np.array([[[0.0, 0.0, 0.4], [0.0, 0.0, 0.0]]])
    toe = bone + np.array([[0.0, 0.0, 0.0], [0.1, 0.0, -0.04]])
    assert np.degrees(tracking(parts, toe, toe, bone).direction[0, -1]) > 10.0
    assert tracking(parts, toe, toe, bone, joints=bone).direction[0, -1] == 0.0


def test_links_that_are_in_one_another_are_told_of() -> None:
    builder = pz.ModelBuilder("arm")
    for parent, child in (("base", "upper"), ("upper", "lower"), ("lower", "hand")):
        origin = pz.SE3.from_parts([0.0 if parent == "base" else 0.3, 0.0, 0.0])
        builder.joint(child, "revolute", parent=parent, child=child, origin=origin, axis=(0.0, 0.0, 1.0))
        builder.shape(child, pz.Sphere((0.25 if child == "hand" else 0.1, 0.0, 0.0), 0.05))
    model = builder.build()
    path = np.array([[0.0, 0.0, 0.0], [0.0, 2.1, 2.1]])
    assert meeting(model, path).tolist() == [False, True]
    assert straddled(GIVING).report.to_dict()["self_penetration"] == {"share": 0.0}
    assert "links in one another" in str(straddled(GIVING))

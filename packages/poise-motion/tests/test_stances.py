"""Contacts that are known or edited, and a motion that is carried with them."""

from functools import cache

import numpy as np
import pytest
from bodies import robot
from hypothesis import given, settings
from hypothesis import strategies as st
from support.refusals import refused
from walker import walk

import poise as pz
from poise_motion.anatomy.contact_schedule import Contacts, runs

FRAMES = 24
FEET = ("left_ankle", "right_ankle")


def frames(most: int) -> st.SearchStrategy[tuple[int, int]]:
    return st.tuples(st.integers(0, most), st.integers(0, most)).map(sorted).filter(lambda ends: ends[0] < ends[1])


@settings(max_examples=80)
@given(
    st.lists(st.booleans(), min_size=FRAMES, max_size=FRAMES),
    st.lists(st.tuples(st.booleans(), frames(FRAMES)), max_size=6),
)
def test_a_part_stands_where_it_was_said_last_and_elsewhere_as_before(
    known: list[bool], edits: list[tuple[bool, tuple[int, int]]]
) -> None:
    heel = np.array(known)
    found = Contacts.of({"left_ankle": np.ones(FRAMES), "right_ankle": np.stack([heel, heel], axis=1)})
    wanted = heel.copy()
    for on, (start, stop) in edits:
        wanted[start:stop] = on
        found = (found.with_stance if on else found.without_stance)("right_ankle", start, stop)
        stances = [one for one in found.intervals if one.part == "right_ankle"]
        assert np.array_equal(found["right_ankle"], wanted)
        assert np.array_equal(found.points["right_ankle"].any(axis=1), wanted)
        assert [(one.start, one.stop) for one in stances] == runs(wanted)
    assert found["left_ankle"].all()
    assert (found.intervals[0].part, found.intervals[0].stop) == ("left_ankle", FRAMES)


def test_a_stance_goes_on_with_the_points_and_the_ground_that_it_had() -> None:
    toe = np.zeros((10, 2), dtype=bool)
    toe[:4, 1] = True
    found = Contacts.of({"left_ankle": toe}).with_stance("left_ankle", 0, 4, ground=0.2)
    longer = found.with_stance("left_ankle", 4, 6)
    assert longer.points["left_ankle"].tolist() == [[False, True]] * 6 + [[False, False]] * 4
    assert [(one.start, one.stop, one.points, one.ground) for one in longer.intervals] == [(0, 6, (False, True), 0.2)]
    alone = found.with_stance("left_ankle", 7, 10).intervals[1]
    assert (alone.start, alone.points, alone.ground) == (7, (True, True), 0.0)
    parted = longer.without_stance("left_ankle", 2, 3).intervals
    assert [(one.start, one.stop, one.ground) for one in parted] == [(0, 2, 0.2), (3, 6, 0.2)]


def test_what_cannot_be_said_of_contacts() -> None:
    found = Contacts.of({"left_ankle": [0, 1, 1]})
    with refused("no-such-part", "'tail'", "left_ankle"):
        found.with_stance("tail", 0, 1)
    for start, stop in ((-1, 2), (2, 2), (1, 4)):
        with refused("out-of-range", "of the 3"):
            found.without_stance("left_ankle", start, stop)
    with refused("not-whole", "start"):
        found.with_stance("left_ankle", 1.5, 3)  # type: ignore[arg-type]
    with refused("negative", "ground"):
        found.with_stance("left_ankle", 0, 3, ground=-0.2)
    with refused("not-a-bool", "flags of left_ankle"):
        Contacts.of({"left_ankle": [0.0, 0.7]})
    with refused("masked", "left_ankle[1]"):
        Contacts.of({"left_ankle": np.ma.array([0, 1], mask=[False, True])})
    with pytest.raises(pz.ShapeError, match=r"as many frames, at least of one part; got \[1, 2\]"):
        Contacts.of({"left_ankle": [0, 1], "right_ankle": [0]})
    with pytest.raises(pz.ShapeError, match="left_ankle must be of its 1 points, got 2"):
        found.replaced(Contacts.of({"left_ankle": np.ones((3, 2))}))


@cache
def walked() -> pz.results.Retargeted:
    return pz.retarget(walk(24.0, seconds=1.5), robot("g1"))


def slid(done: pz.results.Retargeted, part: str, start: int, stop: int) -> float:
    """How far the sole of a foot gets from its mean place [m]."""
    soles = done.motion.model.poses(done.motion.q[start:stop], [done.body.robot[part]])[:, 0].act([0.12, 0.0, -0.035])
    return float(np.abs(soles - soles.mean(axis=0)).max())


def test_a_motion_is_carried_with_contacts_that_are_given() -> None:
    done = walked()
    part = FEET[0]
    stance = next(one for one in done.contacts.intervals if one.part == part and one.stop < len(done.contacts) - 6)
    stretch = (stance.stop, stance.stop + 5)
    assert slid(done, part, *stretch) > 0.05
    longer = done.again(contacts=done.contacts.with_stance(part, *stretch))
    assert longer.contacts[part][slice(*stretch)].all()
    assert slid(longer, part, stance.start, stretch[1]) < 0.005
    assert longer.report.limits.broken == 0.0
    never = done.again(contacts=Contacts.of({part: np.zeros(len(done.contacts))}))
    assert not never.contacts[part].any()
    assert np.array_equal(never.contacts[FEET[1]], done.contacts[FEET[1]])
    assert slid(never, part, stance.start, stance.stop) > slid(done, part, stance.start, stance.stop)


def test_contacts_that_were_found_change_nothing_when_they_are_given() -> None:
    done = walked()
    assert np.array_equal(done.again(contacts=done.contacts).motion.q, done.motion.q)


def test_contacts_must_be_those_of_the_motion() -> None:
    motion, robot = walk(24.0, seconds=0.2), walked().motion.model
    with pytest.raises(pz.ShapeError, match="as many frames as the motion"):
        pz.retarget(motion, robot, contacts=walked().contacts)
    with refused("no-such-part", "left_wrist"):
        pz.retarget(motion, robot, contacts=Contacts.of({"left_wrist": np.ones(len(motion))}))
    with refused("wrong-length", "contacts"):
        pz.retarget([motion, motion], robot, contacts=[None])
    with refused("wrong-type", "contacts"):
        pz.retarget(motion, robot, contacts={"left_ankle": [True]})  # type: ignore[call-overload]

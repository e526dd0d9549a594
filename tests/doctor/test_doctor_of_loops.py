"""What doctor says of loops: that nothing closes them, dead points, and what motors do not hold."""

import numpy as np
from support.mechanisms import four_bar, platform

import poise as pz
from poise.doctor.mechanism import findings_of_loops


def told(model: pz.Model) -> set[str]:
    return {finding.code for finding in findings_of_loops(model)}


def test_nothing_is_wrong_with_a_mechanism_whose_motors_hold_it() -> None:
    assert told(four_bar().with_loops([], actuated=["crank"])) == set()
    assert told(platform().with_loops([], actuated=[f"motor{i}" for i in range(6)])) == set()


def test_what_has_no_loops_is_not_looked_at_and_unknown_motors_are_told() -> None:
    assert told(pz.load("planar3")) == set()
    assert told(four_bar()) == {"motors-unknown"}


def test_loops_that_nothing_closes_are_told() -> None:
    b = pz.ModelBuilder("far")
    b.joint("a", "revolute", parent="base", child="arm", limits=(-1, 1))
    b.frame("tip", link="arm", origin=pz.SE3.from_parts([1, 0, 0]))
    b.frame("hook", link="base", origin=pz.SE3.from_parts([3, 0, 0]))
    b.loop("tip", "hook")
    (found,) = findings_of_loops(b.build())
    assert (found.code, found.severity) == ("loops-open", "error")


def test_too_few_and_too_many_motors_and_dead_points_are_told() -> None:
    assert told(platform().with_loops([], actuated=[f"motor{i}" for i in range(5)])) == {"not-held"}
    assert told(four_bar().with_loops([], actuated=["crank", "rocker"])) == {"dead-point"}
    crank = float(np.arccos((1.4**2 + 1.0 - 0.8**2) / (2.0 * 1.4)))
    bar = four_bar().with_loops([], actuated=["rocker"])
    dead = bar.close([crank], actuated=["crank"]).q
    there = pz.Model(bar.name, bar.joints, bar.links, bar._own_frames(), **(bar._carried() | {"home": dead}))
    assert told(there) == {"dead-point", "not-held"}

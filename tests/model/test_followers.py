"""What the limits of followers leave of those of their leader, and which give way."""

import math

import numpy as np
import pytest

from poise.model.builder import ModelBuilder
from poise.model.followers import Followers, followers
from poise.model.joint import Joint, JointKind, Mimic

STILL = "would hold these still, and are passed over; widen them, or correct multipliers and offsets: "
NARROW = "limits of joints that follow others narrow these: "
SLOW = "velocity limits of joints that follow others slow these: "


def turning(name: str, lower: float, upper: float, velocity: float, mimic: Mimic | None = None) -> Joint:
    return Joint(
        name=name,
        kind=JointKind.REVOLUTE,
        parent="l",
        child=f"l{name}",
        lower=(lower,),
        upper=(upper,),
        velocity=(velocity,),
        mimic=mimic,
    )


def leader(lower: float, upper: float, velocity: float = math.inf, name: str = "a") -> Joint:
    return turning(name, lower, upper, velocity)


def follower(
    lower: float,
    upper: float,
    multiplier: float = 1.0,
    offset: float = 0.0,
    *,
    name: str = "b",
    of: str = "a",
    velocity: float = math.inf,
) -> Joint:
    return turning(name, lower, upper, velocity, Mimic(joint=of, multiplier=multiplier, offset=offset))


def found(*joints: Joint) -> Followers:
    return followers({joint.name: joint for joint in joints})


@pytest.mark.parametrize(
    ("one", "remark"),
    [
        (follower(0.0, 0.8), None),
        (follower(-1.6, 0.0, -2.0), None),
        (follower(0.5, 1.3, 1.0, 0.5), None),
        (follower(-9.0, 9.0), None),
        (follower(0.0, 0.7999), None),  # rounded
        (follower(0.0, 0.0, 0.0, 5.0), None),  # stands still, whatever the leader does
        (follower(-math.inf, math.inf), None),
        (follower(0.0, 0.7), NARROW + "'a' keeps 0 to 0.7 of 0 to 0.8 for 'b'"),
        (follower(-0.4, 0.4, -1.0), NARROW + "'a' keeps 0 to 0.4 of 0 to 0.8 for 'b'"),
        (follower(0.7, 1.3, 1.0, 0.5), NARROW + "'a' keeps 0.2 to 0.8 of 0 to 0.8 for 'b'"),
        (follower(0.0, 0.8757, -1.0), STILL + "'a' would keep 0 to 0 of 0 to 0.8 for 'b'"),
        (follower(1.0, 2.0), STILL + "'a' would keep nothing of 0 to 0.8 for 'b'"),
        (follower(0.3, 0.3), STILL + "'a' would keep 0.3 to 0.3 of 0 to 0.8 for 'b'"),
    ],
)
def test_both_ranges_are_told_where_a_follower_leaves_less(one: Joint, remark: str | None) -> None:
    told = found(leader(0.0, 0.8), one)
    assert told.giving_way == (("b",) if remark is not None and STILL in remark else ())
    if remark is None:
        assert not told.remarks
    else:
        ((text, name),) = told.remarks
        assert text.endswith(remark)
        assert name == "b"


def test_a_leader_that_stands_still_by_itself_is_no_matter() -> None:
    assert not found(leader(0.3, 0.3), follower(0.0, 1.0)).remarks
    assert found(leader(0.3, 0.3), follower(1.0, 2.0)).giving_way == ("b",)


def test_followers_give_way_where_together_they_leave_nothing() -> None:
    joints = (leader(0.0, 1.0), follower(0.0, 0.5), follower(0.5, 1.0, name="c"), follower(0.4, 1.0, name="d"))
    told = found(*joints)
    assert told.giving_way == ("c",)
    assert told.remarks[0][0].endswith(STILL + "'a' would keep 0.5 to 0.5 of 0 to 1 for 'c'")
    assert told.remarks[1] == (NARROW + "'a' keeps 0.4 to 0.5 of 0 to 1 for 'b', 'd'", "b")


def test_a_follower_of_a_follower_counts_for_the_one_that_leads() -> None:
    told = found(leader(-1.0, 1.0), follower(-9.0, 9.0, 2.0), follower(0.0, 9.0, -3.0, 1.0, name="c", of="b"))
    assert told.remarks == ((NARROW + "'a' keeps -1 to 0.166667 of -1 to 1 for 'c'", "c"),)


def test_speeds_are_narrowed_too() -> None:
    told = found(leader(-1.0, 1.0, 2.0), follower(-9.0, 9.0, -4.0, velocity=3.0))
    assert told.remarks == ((SLOW + "'a' keeps 0.75 of 2 for 'b'", "b"),)
    assert not found(leader(-1.0, 1.0, 2.0), follower(-9.0, 9.0, 1.5, velocity=3.0)).remarks


def test_many_are_one_sentence_a_kind() -> None:
    pairs = [
        joint
        for i in range(5)
        for joint in (leader(0.0, 1.0, name=f"a{i}"), follower(0.0, 0.5, name=f"b{i}", of=f"a{i}"))
    ]
    ((text, first),) = found(*pairs).remarks
    assert first == "b0"
    assert text.endswith("'a2' keeps 0 to 0.5 of 0 to 1 for 'b2', and 2 more")


def test_an_unlimited_leader_is_narrowed_by_what_follows_it() -> None:
    ((text, _),) = found(leader(-math.inf, math.inf), follower(-1.0, 1.0)).remarks
    assert text == NARROW + "'a' keeps -1 to 1 of -inf to inf for 'b'"


def test_a_builder_takes_off_the_limits_that_give_way_when_a_reader_asks() -> None:
    builder = ModelBuilder("hand")
    builder.joint("a", "revolute", parent="palm", child="knuckle", limits=(0.0, 0.8), line=3)
    builder.joint(
        "b",
        "revolute",
        parent="knuckle",
        child="pad",
        limits=(0.0, 0.9),
        mimic=Mimic(joint="a", multiplier=-1.0),
        line=5,
    )
    model = builder.build()
    assert (model.lower, model.upper) == (0.0, 0.0)
    told: list[tuple[str, int | None]] = []
    builder.give_way(lambda remark, line: told.append((remark, line)))
    assert [line for _, line in told] == [5]
    model = builder.build()
    assert (model.lower, model.upper) == (0.0, 0.8)
    assert np.isinf(model.joint("b").upper)

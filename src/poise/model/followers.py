"""What joints that mimic another leave of its limits: a narrower range, or nothing, and then theirs give way."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, final

from poise.model.joint import Joint
from poise.model.joint_function import JointFunction, Range
from poise.spatial import LARGEST

_NOTHING: Final = 1e-6
"""Of a range, what is none."""
_ROUNDED: Final = 1e-3
"""Of a range, what two lines of a file that mean the same may differ by; less is not worth a word."""
_SHOWN: Final = 3
"""How many of a kind are named."""
_ITSELF: Final = JointFunction.polynomial([0.0, 1.0])


@final
@dataclass(slots=True)
class _Followed:
    """One leader with those that follow it."""

    leader: Joint
    left: Range
    """What is left of its range by all that do not give way."""
    speed: float
    """The same of its speed."""
    frozen: Range | None = None
    """What the first that gives way would leave."""
    giving_way: list[str] = field(default_factory=list)
    narrowing: list[str] = field(default_factory=list)
    slowing: list[str] = field(default_factory=list)


@final
@dataclass(slots=True)
class Followers:
    """What is found with the followers of a robot: whose limits give way, and sentences on these and on others."""

    giving_way: tuple[str, ...]
    remarks: tuple[tuple[str, str], ...]
    """A sentence a kind, and the first joint that it is about."""


def followers(joints: Mapping[str, Joint]) -> Followers:
    """What is found with joints by name, whose mimics must have been checked."""
    found = _followed(joints)
    kinds = (
        (
            "limits of joints that follow others would hold these still, and are passed over; widen them, or correct "
            "multipliers and offsets",
            [(one.giving_way, "would keep", one.leader, one.frozen, _range(one.leader)) for one in found],
        ),
        (
            "limits of joints that follow others narrow these",
            [(one.narrowing, "keeps", one.leader, one.left, _range(one.leader)) for one in found],
        ),
        (
            "velocity limits of joints that follow others slow these",
            [(one.slowing, "keeps", one.leader, one.speed, one.leader.velocity[0]) for one in found],
        ),
    )
    remarks = []
    for kind, cases in kinds:
        said = [
            (those[0], f"{leader.name!r} {keeps} {_written(left)} of {_written(own)} for {_names(those)}")
            for those, keeps, leader, left, own in cases
            if those
        ]
        if said:
            more = f", and {len(said) - _SHOWN} more" if len(said) > _SHOWN else ""
            remarks.append((f"{kind}: {', '.join(text for _, text in said[:_SHOWN])}{more}", said[0][0]))
    return Followers(tuple(name for one in found for name in one.giving_way), tuple(remarks))


def _followed(joints: Mapping[str, Joint]) -> list[_Followed]:
    """All leaders."""
    found: dict[str, _Followed] = {}
    for joint in joints.values():
        if joint.mimic is None:
            continue
        name, function = followed(joint, joints.__getitem__)
        if function.linear is None or function.linear[0] != 0.0:
            leader = joints[name]
            one = found.setdefault(name, _Followed(leader, _range(leader), leader.velocity[0]))
            _narrow(one, joint, function)
    return list(found.values())


def _narrow(one: _Followed, joint: Joint, function: JointFunction) -> None:
    (low, high), (lower, upper) = one.left, _range(one.leader)
    least, most = range_left(joint, function, one.leader) or (math.inf, -math.inf)
    left = max(low, least), min(high, most)
    scale = upper - lower if math.isfinite(upper - lower) else 1.0
    if left[0] > left[1] or left[1] - left[0] <= _NOTHING * scale < high - low:
        if one.frozen is None:
            one.frozen = left
        one.giving_way.append(joint.name)
    else:
        if left[0] - low > _ROUNDED * scale or high - left[1] > _ROUNDED * scale:
            one.narrowing.append(joint.name)
        one.left = left
    steepest = abs(function.linear[0]) if function.linear else function.steepest(*one.left)
    speed = joint.velocity[0] / steepest if steepest else math.inf
    if speed < (1.0 - _ROUNDED) * one.speed:
        one.slowing.append(joint.name)
    one.speed = min(one.speed, speed)


def followed(joint: Joint, by_name: Callable[[str], Joint]) -> tuple[str, JointFunction]:
    """The joint that does not follow any other and sets this one's position, and by which function of its own."""
    function = _ITSELF
    while joint.mimic is not None:
        function = function.after(joint.mimic.rule)
        joint = by_name(joint.mimic.joint)
    return joint.name, function


def range_left(joint: Joint, function: JointFunction, leader: Joint) -> Range | None:
    """Where a joint that follows `leader` by `function` keeps its own limits, infinite where these end nothing; None
    if it does nowhere.

    Of a function that is not linear it is within the leader's limits, and one interval: of several that which is
    nearest to 0.
    """
    (lower, upper), linear = _range(joint), function.linear
    if linear is None:
        return function.preimage(lower, upper, *_range(leader))
    multiplier, offset = linear
    if multiplier == 0.0:
        return -math.inf, math.inf
    low, high = sorted((end - offset) / multiplier + 0.0 for end in (lower, upper))
    if low > LARGEST or high < -LARGEST:
        return None
    # Beyond what a configuration can hold, a limit is none.
    return (low if low >= -LARGEST else -math.inf), (high if high <= LARGEST else math.inf)


def freed(joint: Joint) -> Joint:
    """The joint without limits of its own."""
    return replace(joint, lower=(-math.inf,), upper=(math.inf,))


def _range(joint: Joint) -> Range:
    return joint.lower[0], joint.upper[0]


def _written(what: Range | float | None) -> str:
    if not isinstance(what, tuple):
        return f"{what:g}"
    low, high = what
    return f"{low:g} to {high:g}" if low <= high else "nothing"


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(map(repr, names[:_SHOWN])) + more

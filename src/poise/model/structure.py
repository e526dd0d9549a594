"""Whether joints make a tree, in which order, and which of them follow which."""

import heapq
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from poise.common.errors import ModelError
from poise.model.followers import followed
from poise.model.frame import WORLD
from poise.model.joint import Joint

Refusal: TypeAlias = Callable[[str, str], ModelError]
"""An error of a message about the joint of a name."""

_LONGEST = 100
"""The most joints of which each follows the one before."""
_STEEPEST = 1e6
"""The largest multiplier of a joint that follows another."""


def parents_first(joints: Mapping[str, Joint], links: Sequence[str], refusal: Refusal) -> list[Joint]:
    """The joints, parents before children, otherwise in the order given.

    Raises for a link with two parents, and for a cycle.
    """
    carrier: dict[str, Joint] = {}
    carried: dict[str, list[Joint]] = {}
    for joint in joints.values():
        if joint.child in carrier:
            raise refusal(
                f"link {joint.child!r} has two parents: the joints {carrier[joint.child].name!r} and "
                f"{joint.name!r}; a closed loop needs one of them cut",
                joint.name,
            )
        carrier[joint.child] = joint
        carried.setdefault(joint.parent, []).append(joint)
    placed = {link for link in links if link not in carrier} | {WORLD}
    rank = {name: i for i, name in enumerate(joints)}
    ready = [rank[joint.name] for link in placed for joint in carried.get(link, ())]
    heapq.heapify(ready)
    unordered = list(joints.values())
    ordered: list[Joint] = []
    while ready:
        joint = unordered[heapq.heappop(ready)]
        ordered.append(joint)
        for child in carried.get(joint.child, ()):
            heapq.heappush(ready, rank[child.name])
    if len(ordered) < len(unordered):
        names = {joint.name for joint in ordered}
        stuck = next(joint for joint in unordered if joint.name not in names)
        raise refusal(f"the links form a cycle through joint {stuck.name!r}: no link of it is a root", stuck.name)
    return ordered


def check_mimics(joints: Mapping[str, Joint], refusal: Refusal) -> None:
    """Raises for joints that mimic what they cannot, themselves, or another one too steeply, through all between."""
    for joint in joints.values():
        seen, multiplier, at = {joint.name}, 1.0, joint
        while at.mimic:
            source = joints.get(at.mimic.joint)
            if source is None:
                raise refusal(f"joint {at.name!r} mimics {at.mimic.joint!r}, which does not exist", at.name)
            if source.size != 1:
                raise refusal(
                    f"joint {at.name!r} mimics {source.name!r}, which is {source.kind.value}; "
                    "only one-axis joints can be mimicked",
                    at.name,
                )
            if source.name in seen:
                raise refusal(f"joint {joint.name!r} mimics itself, through {at.name!r}", joint.name)
            seen.add(source.name)
            if len(seen) > _LONGEST:
                raise refusal(
                    f"joint {joint.name!r} follows through more than {_LONGEST} others; let it follow the first of "
                    "them itself",
                    joint.name,
                )
            multiplier *= (at.mimic.rule.linear or (1.0, 0.0))[0]
            at = source
            if not abs(multiplier) <= _STEEPEST:
                raise refusal(
                    f"joint {joint.name!r} mimics {at.name!r} with the multiplier {multiplier:g}; no gear makes more "
                    f"than {_STEEPEST:g} of a motion",
                    joint.name,
                )
        if joint.mimic:
            _check_slope(joint, joints, refusal)


def _check_slope(joint: Joint, joints: Mapping[str, Joint], refusal: Refusal) -> None:
    """Raises for a function that is too steep within the limits of its leader, or whose slope nothing bounds."""
    name, function = followed(joint, joints.__getitem__)
    if function.linear is not None:
        return
    ends = joints[name].lower[0], joints[name].upper[0]
    bounded = function.straight or all(map(math.isfinite, ends))
    if not bounded and math.isfinite(joint.velocity[0]):
        raise refusal(
            f"joint {joint.name!r} has a velocity limit, and follows {name!r}, which has no limits, as steeply as one "
            f"likes; give {name!r} limits, or leave that one out",
            joint.name,
        )
    steepest = function.steepest(*ends) if bounded else abs(float(function.derivative(0.0)))
    if not steepest <= _STEEPEST:
        raise refusal(
            f"joint {joint.name!r} follows {name!r} by a function with slopes up to {steepest:g}; no gear makes more "
            f"than {_STEEPEST:g} of a motion",
            joint.name,
        )

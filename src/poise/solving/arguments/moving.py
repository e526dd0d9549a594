"""What `use=`, `still=` and `joint_costs=` say, in every function: which joints a call may move, and what it costs."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from poise.common.checks import finite_positive
from poise.common.errors import InvalidType, InvalidValue, JointNotFound
from poise.model.model import Model, a_model
from poise.solving.arguments.lru_cache import cached

JointsLike: TypeAlias = str | Sequence[str]
"""Joints by their names, by those of groups, or by a frame, whose joints are all that carry it."""
_DEAREST: Final = 1e4
"""Times what the cheapest joint costs: a step reckons with the squares of costs."""


def moving(
    model: Model, use: JointsLike | None, still: JointsLike | None, joint_costs: Mapping[str, float] | None = None
) -> Model:
    """The model of which a call moves the joints `use`, None is all, less those that are `still`, at these costs.

    Raises JointNotFound for an unknown name, TypeError for what is no name, ValueError where no joint is left, and for
    a cost that is not positive or is too large.
    """
    if use is None and still is None and joint_costs is None:
        return model
    a_model(model)
    if joint_costs is not None:
        return _moving(model, use, still, joint_costs)
    named = (tuple(names) if isinstance(names, list) else names for names in (use, still))
    return cached(model, (moving, *named), lambda: _moving(model, use, still, None))


def _moving(
    model: Model, use: JointsLike | None, still: JointsLike | None, joint_costs: Mapping[str, float] | None
) -> Model:
    """The same, for names that were not looked up before."""
    used = {*model.joint_names} if use is None else _joints(model, "use", use)
    held = {*model.joint_names} - used | (set() if still is None else _joints(model, "still", still))
    if len(held) == len(model.joint_names):
        raise InvalidValue("nothing-moves", f"with use={use!r} and still={still!r} no joint of {model.name} may move")
    still_now = frozenset(held | model.still)
    costs = dict(model.joint_costs) if joint_costs is None else _costs(model, joint_costs, still_now)
    if still_now == model.still and costs == model.joint_costs:
        return model
    key = _moving, still_now, *costs.items()
    return cached(model, key, lambda: model._moving(still_now, costs))


def _joints(model: Model, argument: str, given: Any) -> set[str]:
    """The joints with a place in q that names stand for: a joint's own, a group's, or all that carry a frame."""
    names = (given,) if isinstance(given, str) else given
    if not isinstance(names, (list, tuple, set, frozenset)) or not all(isinstance(name, str) for name in names):
        raise InvalidType(
            "not-a-sequence",
            f"{argument} must name joints, groups or frames, such as {argument}=['shoulder', 'elbow'], got {given!r}",
        )
    found = set[str]()
    for name in names:
        if any(joint.name == name for joint in model.joints):
            joints = [name]
        elif name in model.groups:
            joints = list(model.groups[name])
        elif name in model.frames:
            joints = [joint.name for joint in model.root_path(model.frame(name).link)]
        else:
            raise JointNotFound(name, [*model.joint_names, *model.groups, *model.frames], owner=model.name)
        leaders = {model.follows(model.joint(one))[0] for one in joints}
        some = leaders.intersection(model.joint_names)
        if not some:
            raise InvalidValue("nothing-moves", f"{argument} names {name!r}, which stands for no joint that moves")
        found |= some
    return found


def _costs(model: Model, given: Mapping[str, float], still: frozenset[str]) -> dict[str, float]:
    """What each joint that may move costs beside the cheapest of them, where that is more than 1."""
    if not isinstance(given, Mapping):
        raise InvalidType(
            "wrong-type", f"joint_costs must name joints, such as joint_costs={{'base': 10.0}}, got {given!r}"
        )
    costs = dict.fromkeys(model.joint_names, 1.0)
    for name, cost in given.items():
        finite_positive(f"joint_costs[{name!r}]", cost)
        costs |= dict.fromkeys(_joints(model, "joint_costs", name), float(cost))
    moved = {name: cost for name, cost in costs.items() if name not in still}
    least, most = min(moved.values()), max(moved.values())
    if most > _DEAREST * least:
        raise InvalidValue(
            "out-of-range",
            f"joint_costs are from {least:g} to {most:g}, and the largest may be {_DEAREST:g} times the least: what is "
            "dearer does not move if still= names it",
        )
    return {name: cost / least for name, cost in moved.items() if cost != least}

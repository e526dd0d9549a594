"""What `use=` and `still=` say, in every function: which joints a call may move."""

from collections.abc import Sequence
from typing import TypeAlias

from poise.common.errors import InvalidType, InvalidValue, JointNotFound
from poise.model.model import Model, a_model
from poise.solving.arguments.lru_cache import cached

JointsLike: TypeAlias = str | Sequence[str]
"""Joints by their names, by those of groups, or by a frame, whose joints are all that carry it."""


def moving(model: Model, use: JointsLike | None, still: JointsLike | None) -> Model:
    """The model of which a call moves the joints `use`, None is all, less those that are `still`.

    Raises JointNotFound for an unknown name, TypeError for what is no name, ValueError where no joint is left.
    """
    if use is None and still is None:
        return model
    used = _joints(a_model(model), "use", use) if use is not None else {*model.joint_names}
    held = {*model.joint_names} - used | (set() if still is None else _joints(model, "still", still))
    if len(held) == len(model.joint_names):
        raise InvalidValue("nothing-moves", f"with use={use!r} and still={still!r} no joint of {model.name} may move")
    key = frozenset(held | model.still)
    return model if key == model.still else cached(model, (moving, key), lambda: model._holding(key))


def _joints(model: Model, argument: str, given: JointsLike) -> set[str]:
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

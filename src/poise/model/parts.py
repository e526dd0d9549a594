"""Models that are less than another: a chain of it, or all of it with joints held; as their constructor takes them."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from poise.common.array import ArrayLike
from poise.common.checks import finite, refuse_masked
from poise.common.errors import InvalidValue, ModelError, ModelWarning
from poise.model.configurations import written
from poise.model.frame import WORLD, Frame
from poise.model.joint import Joint, JointKind
from poise.model.loop import Loop, named
from poise.model.units import in_degrees

if TYPE_CHECKING:
    from poise.model.model import Model


def between(model: "Model", frames: Iterable[Frame], base: str, tip: str) -> dict[str, Any]:
    """What `Model.chain` is made of; `frames` are those that are no link's."""
    root, end = model.frame(base), model.frame(tip)
    path = list(model.root_path(end.link))
    links = [path[0].parent if path else end.link, *(joint.child for joint in path)]
    if root.link != WORLD and root.link not in links:
        raise ModelError(f"{base!r} does not carry {tip!r} in {model.name}; the way to {tip!r} is {' > '.join(links)}")
    first = links.index(root.link) if root.link in links else 0
    joints = path[first:]
    names = {joint.name for joint in joints}
    inside = [link for link in (links[first], *(joint.child for joint in joints)) if link != WORLD]
    for joint in joints:
        if joint.mimic and joint.mimic.joint not in names:
            raise ModelError(
                f"joint {joint.name!r} mimics {joint.mimic.joint!r}, which is not between {base!r} and {tip!r}; "
                f"lock it first: model.lock({joint.name}=...)"
            )
    # What stands in the world stays where it was only if `base` does.
    world = set() if model.root_path(root.link) else {WORLD}
    return {
        "name": f"{model.name}[{base}..{tip}]",
        "end_effectors": {end.name: ()},
        **_part(model, joints, inside, [frame for frame in frames if frame.link in inside], {*inside} | world),
    }


def locked(
    model: "Model", frames: Iterable[Frame], positions: Mapping[str, ArrayLike], *, limits: bool = True
) -> dict[str, Any]:
    """What `Model.lock` is made of; `frames` are those that are no link's, and with `limits` positions are within
    theirs."""
    locked_at = {}
    for name, value in positions.items():
        joint = model.joint(name)
        refuse_masked(name, value)
        position = finite(name, np.atleast_1d(np.asarray(value)), joint.size)
        if limits and ((position < joint.lower) | (position > joint.upper)).any():
            ends, question = f"{written(joint.lower)} to {written(joint.upper)}", ""
            if name in model.joint_names:
                q, at = np.array(model.home), model.index(name)
                q[at] = position
                question = "; degrees? numpy.radians makes them radians" if in_degrees(model, q, at) else ""
            raise InvalidValue(
                "outside-limits", f"cannot lock {name!r} at {written(position)}: its limits are {ends}{question}"
            )
        if limits and joint.ball is not None and not joint.ball.at(0).inside(position / np.linalg.norm(position)).all():
            raise InvalidValue(
                "outside-limits", f"cannot lock {name!r} at {position}: its limits are {joint.ball} [rad]"
            )
        locked_at[name] = position
    joints = []
    for joint in model.joints:
        source, function = model.follows(joint)
        if joint.name not in locked_at and joint.mimic and source in locked_at:
            locked_at[joint.name] = function(locked_at[source])
        if joint.name in locked_at:
            origin = joint.origin @ joint.motion(locked_at[joint.name])
            joint = Joint(name=joint.name, kind=JointKind.FIXED, parent=joint.parent, child=joint.child, origin=origin)
        joints.append(joint)
    return {
        "name": model.name,
        "end_effectors": model.end_effectors,
        **_part(model, joints, model.links, list(frames), {*model.links, WORLD}),
    }


def _part(
    model: "Model", joints: Sequence[Joint], links: Sequence[str], frames: Sequence[Frame], bodies: set[str]
) -> dict[str, Any]:
    """These joints, links and frames, and what a model has for them; what collides and is drawn is left on `bodies`."""
    moving = [joint.name for joint in joints if joint.nq]
    places = [i for joint in moving for i in range(*model.index(joint).indices(model.nq))]
    return {
        "joints": joints,
        "links": links,
        "frames": frames,
        "loops": _loops(model, {*links, *(frame.name for frame in frames), WORLD}, moving),
        "home": model.home[places],
        "groups": {key: tuple(name for name in names if name in moving) for key, names in model.groups.items()},
        "postures": {key: q[places] for key, q in model.postures.items()},
        "masses": {link: mass for link, mass in model.masses.items() if link in links},
        "inertias": {link: inertia for link, inertia in model.inertias.items() if link in links},
        "shapes": {link: shapes for link, shapes in model.shapes.items() if link in bodies},
        "visuals": {link: visuals for link, visuals in model.visuals.items() if link in bodies},
        "still": model.still.intersection(moving),
        "joint_costs": {name: cost for name, cost in model.joint_costs.items() if name in moving},
        "disabled": [pair for pair in model.disabled if pair <= bodies],
    }


def _loops(model: "Model", frames: set[str], moving: Sequence[str]) -> list[Loop]:
    """The loops that the `moving` joints close, both frames being there.

    Warns (ModelWarning) of those that lose a frame, though joints that are left move them.
    """
    left: list[Loop] = []
    lost: list[Loop] = []
    for loop in model.loops:
        one, other = (set(model.root_path(model.frame(name).link)) for name in (loop.first, loop.second))
        if {model.follows(joint)[0] for joint in one ^ other}.intersection(moving):
            (left if {loop.first, loop.second} <= frames else lost).append(loop)
    if lost:
        warnings.warn(
            f"{named(lost)} of {model.name} is lost, for the frames are not all kept: the chain that is left is "
            "open, and its joints move by themselves",
            ModelWarning,
            stacklevel=5,
        )
    return left

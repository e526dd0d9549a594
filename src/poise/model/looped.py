"""A model whose loops are stated beside its file: pairs of frames, and joints that are of another kind than it says."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from poise.common.array import Array
from poise.common.errors import InvalidType, InvalidValue, JointNotFound, ModelError, NameNotFound
from poise.model.changes import unused
from poise.model.joint import Joint, JointKind
from poise.model.loop import LOOP_KINDS, Loop

if TYPE_CHECKING:
    from poise.model.model import Model

LoopLike: TypeAlias = Loop | Sequence[str]
"""A `Loop`, or two names and perhaps its kind; a name is of a frame, or of a joint for the link that it moves."""
ACTUATED: Final = "actuated"
"""The group of the joints that have motors, where a mechanism says which."""
_SPHERICAL, _UNIVERSAL = "spherical", "universal"
_AXES: Final = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
_KINDS: Final = f"{_SPHERICAL!r}, or {_UNIVERSAL!r} with two axes, such as 'universal_xy'"


def looped(
    model: "Model", loops: Iterable[LoopLike], joints: Mapping[str, str] | None, actuated: Sequence[str]
) -> "Model":
    """What `Model.with_loops` gives."""
    kinds, build = _kinds(model, joints or {}), type(model)
    parts, links, became = _changed(model, kinds)
    plain = build(model.name, parts, links)
    carried = _carried(model, plain, became)
    made = build(model.name, parts, links, model._own_frames(), **carried)
    found = dict.fromkeys([*model.loops, *(_loop(made, loop) for loop in loops)])
    for loop in found:
        first, second = ({j.name for j in made.root_path(made.frame(f).link)} for f in (loop.first, loop.second))
        if not any(made.joint(name).size for name in first ^ second):
            raise ModelError(f"{loop.label} closes nothing: no joint moves one of its frames against the other")
    if isinstance(actuated, str):
        raise InvalidType("wrong-type", f"actuated must be names of joints, got {actuated!r}: write [{actuated!r}]")
    if actuated:
        for name in actuated:
            if name not in made.joint_names:
                raise JointNotFound(name, made.joint_names, owner=made.name)
        carried["groups"] = {**carried["groups"], ACTUATED: tuple(actuated)}
    return build(model.name, parts, links, model._own_frames(), **(carried | {"loops": tuple(found)}))


def _loop(model: "Model", given: LoopLike) -> Loop:
    """The loop that is meant; raises ModelError for what is none, FrameNotFound for a name that is none."""
    if isinstance(given, Loop):
        first, second, kind = given.first, given.second, given.kind
    else:
        if isinstance(given, str) or not 2 <= len(given) <= 3 or not all(isinstance(word, str) for word in given):
            raise InvalidValue(
                "wrong-length", f"a loop is a Loop, or two names of frames and perhaps a kind, got {given!r}"
            )
        first, second, kind = given[0], given[1], given[2] if len(given) == 3 else "point"  # type: ignore[assignment]
    if kind not in LOOP_KINDS:
        raise ModelError(
            f"the loop of {first!r} and {second!r} has the kind {kind!r}; the kinds are {', '.join(LOOP_KINDS)}"
        )
    frames = [_frame(model, name) for name in (first, second)]
    if frames[0] == frames[1]:
        raise ModelError(f"a loop is of two frames, and {frames[0]!r} is named twice; name the other one")
    return Loop(frames[0], frames[1], kind)


def _frame(model: "Model", name: str) -> str:
    """The frame of a name, which may be a joint's."""
    if name not in model.frames:
        for joint in model.joints:
            if joint.name == name:
                return joint.child
    return model.frame(name).name


def _kinds(model: "Model", given: Mapping[str, str]) -> dict[str, str]:
    """Which joints become of which kind; raises for a pattern of none, and for a kind that is none."""
    if not isinstance(given, Mapping):
        raise InvalidType("wrong-type", f"joints must map names or patterns to kinds, got {given!r}")
    names, found = [joint.name for joint in model.joints], dict[str, str]()
    for pattern, word in given.items():
        kind = f"{_UNIVERSAL}_xy" if word == _UNIVERSAL else word
        axes = kind.removeprefix(f"{_UNIVERSAL}_") if isinstance(kind, str) else ""
        if kind != _SPHERICAL and not (kind != axes and len(set(axes)) == len(axes) == 2 and set(axes) <= set(_AXES)):
            raise InvalidValue("unknown-word", f"joints[{pattern!r}] is {word!r}; it must be {_KINDS}")
        matching = [name for name in names if fnmatchcase(name, pattern)]
        if not matching:
            raise NameNotFound(pattern, names, owner=model.name, noun="joint")
        found |= dict.fromkeys(matching, kind)
    followed = {joint.mimic.joint for joint in model.joints if joint.mimic}
    for name in found:
        if name in followed or model.joint(name).mimic:
            raise InvalidValue("conflict", f"joint {name!r} follows another, or is followed: it stays what it is")
    return found


def _changed(model: "Model", kinds: Mapping[str, str]) -> tuple[list[Joint], list[str], dict[str, tuple[str, ...]]]:
    """Joints and links with these joints of other kinds, and what became of each by name."""
    joints, links, became = list[Joint](), list(model.links), dict[str, tuple[str, ...]]()
    names, bodies = {joint.name for joint in model.joints}, {*model.links, *model.frames}
    for joint in model.joints:
        kind = kinds.get(joint.name)
        if kind is None:
            joints.append(joint)
        elif kind == _SPHERICAL:
            joints.append(_free(replace(joint, kind=JointKind.SPHERICAL)))
            became[joint.name] = (joint.name,)
        else:
            one, other = kind[-2], kind[-1]
            first, second = (unused(f"{joint.name}_{axis}", names) for axis in (one, other))
            cross = unused(f"{joint.name}_cross", bodies)
            links.insert(links.index(joint.child), cross)
            turning = _free(replace(joint, kind=JointKind.REVOLUTE, name=first, child=cross, axis=_AXES[one]))
            blank = Joint(name=second, kind=JointKind.REVOLUTE, parent=cross, child=joint.child, axis=_AXES[other])
            joints += [turning, _free(blank)]
            became[joint.name] = (first, second)
    return joints, links, became


def _free(joint: Joint) -> Joint:
    """It without limits."""
    none = (math.inf,) * joint.size
    return replace(
        joint, lower=tuple(-x for x in none), upper=none, velocity=(math.inf,) * joint.speeds, acceleration=(), jerk=(),
        effort=math.inf, ball=None, mimic=None,
    )  # fmt: skip


def _carried(model: "Model", new: "Model", became: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    """What the model has besides joints, links and frames, for the new joints."""
    same = [name for name in model.joint_names if name not in became]
    old, places = ([i for name in same for i in range(*m.index(name).indices(m.nq))] for m in (model, new))

    def moved(q: Array) -> Array:
        out = np.array(new.clip(new.neutral))
        out[places] = q[old]
        return out

    groups = {
        key: tuple(new_name for name in names for new_name in became.get(name, (name,)))
        for key, names in model.groups.items()
    }
    postures = {name: moved(q) for name, q in model.postures.items()}
    return model._carried() | {"home": moved(model.home), "postures": postures, "groups": groups}

"""A placement of a model let loose: a floating joint stands in its place, so that Jacobians tell what it moves.

The origin of a joint or a frame, seen from what carries it, becomes the position of the joint: its six velocities are
those of the placement's own place and axes, linear, then angular, along the axes of the carrier.
"""

from dataclasses import replace
from typing import Final, NamedTuple, final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.common.errors import InvalidValue, NameNotFound
from poise.model.changes import unused
from poise.model.frame import WORLD, Frame
from poise.model.joint import Joint, JointKind
from poise.model.model import Model
from poise.spatial import SE3

_FREE: Final = (np.inf,) * 7


@final
class Loose(NamedTuple):
    """A model with one placement let loose."""

    model: Model
    frame: str
    """The frame that moves as the placement does."""
    joint: str
    pose: Array
    """(7,) the placement."""
    places: npt.NDArray[np.intp]
    """(nq,) where the numbers of the model's own q stand."""
    velocities: npt.NDArray[np.intp]
    """(nv,) where those of its own v stand."""

    @property
    def loose(self) -> slice:
        """The six velocities of the placement."""
        return self.model.velocity_index(self.joint)

    def widened(self, q: Array) -> Array:
        """The q (nq,) of the model with the placement beside it."""
        out = np.empty(self.model.nq)
        out[self.places], out[self.model.index(self.joint)] = q, self.pose
        return out


def loosened(model: Model, name: str) -> Loose:
    """The origin of the joint `name` in its parent link, or of the frame `name` in its link, let loose.

    Raises NameNotFound for a name that is neither, ValueError for a link, whose place is that of its joint.
    """
    for joint in model.joints:
        if joint.name == name:
            return _before(model, joint)
    if name in model.links:
        over = next((joint.name for joint in model.joints if joint.child == name), None)
        there = "stands in the world" if over is None else f"is placed by its joint: name {over!r}"
        raise InvalidValue("no-such-part", f"{name!r} is a link of {model.name} and {there}, or name a frame on it")
    if name not in model.frames:
        raise NameNotFound(
            name, [*(j.name for j in model.joints), *model.frames], owner=model.name, noun="joint or frame"
        )
    frame = model.frame(name)
    return _hung(model, frame.link, SE3.identity(), frame.origin, name)


def tool_of(model: Model, frame: str, offset: SE3 | None) -> Loose:
    """A tool at the pose `offset` on a frame, let loose; None: at the frame itself."""
    on = model.frame(frame)
    return _hung(model, on.link, on.origin, SE3.identity() if offset is None else offset, None)


def stand_of(model: Model) -> Loose:
    """The place of the whole robot in the world let loose: what `Model.with_base` states."""
    mounted = model.with_base(SE3.identity())
    name, link = _names(mounted, "base")
    carried = [replace(joint, parent=link) if joint.parent == WORLD else joint for joint in mounted.joints]
    joints = [_floating(name, WORLD, link, SE3.identity()), *carried]
    return _made(mounted, joints, [link, *mounted.links], mounted._own_frames(), link, name, SE3.identity().array)


def _before(model: Model, joint: Joint) -> Loose:
    """The origin of a joint let loose."""
    name, link = _names(model, joint.name)
    new = _floating(name, joint.parent, link, SE3.identity())
    joints = [some for each in model.joints for some in ((new, _moved(joint, link)) if each is joint else (each,))]
    links = list(model.links)
    links.insert(links.index(joint.child), link)
    return _made(model, joints, links, model._own_frames(), link, name, joint.origin.array)


def _hung(model: Model, link: str, on: SE3, pose: SE3, frame: str | None) -> Loose:
    """What hangs on a link let loose: a frame of the model, or one that is not there yet."""
    name, place = _names(model, frame or "tool")
    joints = [*model.joints, _floating(name, link, place, on)]
    frames = [f if f.name != frame else Frame(name=f.name, link=place) for f in model._own_frames()]
    return _made(model, joints, [*model.links, place], frames, frame or place, name, pose.array)


def _names(model: Model, name: str) -> tuple[str, str]:
    """Of a joint and a link that the model does not have."""
    joint = unused(f"{name}_loose", {joint.name for joint in model.joints})
    return joint, unused(joint, {*model.links, *model.frames})


def _floating(name: str, parent: str, child: str, origin: SE3) -> Joint:
    return Joint(
        name=name, kind=JointKind.FLOATING, parent=parent, child=child, origin=origin,
        lower=tuple(-x for x in _FREE), upper=_FREE, velocity=_FREE[:6],
    )  # fmt: skip


def _moved(joint: Joint, parent: str) -> Joint:
    return replace(joint, parent=parent, origin=SE3.identity())


def _made(
    model: Model, joints: list[Joint], links: list[str], frames: list[Frame], frame: str, joint: str, pose: Array
) -> Loose:
    bare = Model(model.name, joints, links)
    q = [i for name in model.joint_names for i in range(*bare.index(name).indices(bare.nq))]
    v = [i for name in model.joint_names for i in range(*bare.velocity_index(name).indices(bare.nv))]
    own = [i for name in model.joint_names for i in range(*model.index(name).indices(model.nq))]
    own_v = [i for name in model.joint_names for i in range(*model.velocity_index(name).indices(model.nv))]
    places, velocities = np.empty(model.nq, dtype=np.intp), np.empty(model.nv, dtype=np.intp)
    places[own], velocities[own_v] = q, v
    made = Loose(bare, frame, joint, pose, places, velocities)
    carried = model._carried() | {"home": made.widened(model.home), "postures": {}, "visuals": {}}
    return made._replace(model=Model(model.name, joints, links, frames, **carried))

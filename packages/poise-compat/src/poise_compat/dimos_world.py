"""What a world of dimos says of its robot, as poise has it, and what it is answered."""

import importlib
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from poise import SE3, Model, load
from poise.extending import Array, finite
from poise_compat.locked import all_locked_but

_MODELS: Final = 16


def model_of(prepared: Any) -> tuple[Model, Mapping[str, int]]:
    """The model of a PreparedRobotModel, within the limits of its joint space, and where its joints are in q.

    Joints that it does not name stay where the file has them at zero.  Raises ModelError and JointNotFound.
    """
    space = prepared.joint_space
    low, high = (tuple(side.tolist()) for side in space.position_limits())
    return _model_of(prepared.description.xml, tuple(space.names), low, high)


@lru_cache(_MODELS)
def _model_of(
    text: str, names: tuple[str, ...], low: tuple[float, ...], high: tuple[float, ...]
) -> tuple[Model, Mapping[str, int]]:
    model = load(text).with_limits(dict(zip(names, zip(low, high, strict=True), strict=True)))
    model, _ = all_locked_but(model, model.neutral, names)
    return model, {name: model.index(name).start for name in names}


def positions(world: Any, names: Sequence[str], seed: Any) -> Array:
    """(n,) of a JointState, in the order of names; where the robot is of what it does not name.

    Raises ShapeError, and ValueError for other names and numbers that are not finite.
    """
    if seed is not None and not seed.name:
        return finite("seed", seed.position, len(names))
    known = {} if seed is None else dict(zip(seed.name, finite("seed", seed.position, len(seed.name)), strict=True))
    strange = [name for name in known if name not in names]
    if strange:
        raise ValueError(f"seed names the joints {strange}, which are none of the model; it has {[*names]}")
    if len(known) < len(names):
        with world.scratch_context() as context:
            now = world.get_joint_state(context)
        known = {**dict(zip(now.name, now.position, strict=True)), **known}
    return finite("seed", [known[name] for name in names])


def pose_of(stamped: Any) -> SE3:
    """The pose of a PoseStamped; raises ValueError for what is none."""
    at, turn = stamped.position, stamped.orientation
    xyz, xyzw = finite("position", [at.x, at.y, at.z]), finite("orientation", [turn.x, turn.y, turn.z, turn.w])
    return SE3.from_xyz_xyzw(xyz, xyzw)


def joint_state(places: Mapping[str, int], q: Array, joints: Iterable[str]) -> Any:
    """A JointState of these joints."""
    return _dimos("msgs.sensor_msgs.JointState").JointState(
        name=[*joints], position=[float(q[places[name]]) for name in joints]
    )


def result(status: str, message: str, **more: Any) -> Any:
    """An IKResult."""
    models = _dimos("manipulation.planning.spec.models")
    return models.IKResult(status=models.IKStatus[status], message=message, **more)


def _dimos(module: str) -> Any:
    return importlib.import_module(f"dimos.{module}")

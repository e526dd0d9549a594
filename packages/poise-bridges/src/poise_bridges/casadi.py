"""Forward kinematics, Jacobians and errors of tasks as functions of CasADi, for those who write a controller with it.

    T = poise_bridges.casadi.pose(arm, "panda_hand")
    q = casadi.SX.sym("q", arm.nq)
    xyz, wxyz = T(q)

They are expressions, so CasADi differentiates them as often as is asked, and generates C of them.  All take columns of
the model's coordinates, in its units and its order; a quaternion in q has the length 1.
"""

from typing import Any, Final

import numpy as np

from poise import SE3, Joint, JointKind, Model, OrientationTask, PoseTask, PositionTask
from poise.extending import optional
from poise.quaternions import aligning

_FLAT: Final = 1e-32
"""The square of the sine of half an angle below which the angle is not told from 0 [-]: a root of 0 has no slope."""
_TURNING: Final = (JointKind.REVOLUTE, JointKind.CONTINUOUS, JointKind.HELICAL)
_SLIDING: Final = (JointKind.PRISMATIC, JointKind.HELICAL)


def pose(model: Model, frame: str) -> Any:
    """The function of q (nq,) that gives where a frame is in the world: `xyz` (3,) [m] and `wxyz` (4,).

    Raises FrameNotFound; MissingExtra without CasADi.
    """
    q = _casadi().SX.sym("q", model.nq)
    return _function("pose", {"q": q}, dict(zip(("xyz", "wxyz"), _pose(model, frame, q), strict=True)))


def jacobian(model: Model, frame: str) -> Any:
    """The function of q (nq,) that gives `J` (6, nv): with the velocity v the frame's origin moves with `J @ v`, linear
    rows [m] before angular ones [rad], along the world's axes, as of `Model.jacobian`.

    It is the derivative of `pose`: of a unit quaternion h the angular velocity is 2 dh/dt h*.  Raises as `pose`.
    """
    casadi = _casadi()
    q = casadi.SX.sym("q", model.nq)
    xyz, wxyz = _pose(model, frame, q)
    moved = _velocities(model, q)
    turned = 2.0 * casadi.jacobian(wxyz, q) @ moved
    back = _conjugate(wxyz)
    angular = [_product(turned[:, k], back)[1:] for k in range(model.nv)]
    rows = casadi.vertcat(casadi.jacobian(xyz, q) @ moved, casadi.horzcat(casadi.SX(3, 0), *angular))
    return _function("jacobian", {"q": q}, {"J": rows})


def error(model: Model, task: PoseTask | PositionTask | OrientationTask) -> Any:
    """The function of q (nq,) and of a target that gives the rows of a task, `e` (6,) or (3,), times their weights.

    They are the displacement to the target [m], then the rotation vector that turns the frame to it [rad], seen from
    the task's `base`, along its axes or with `axes="target"` along the target's, of the frame or of the tool at its
    `offset`.  The target is `xyz` (3,), `wxyz` (4,), or the seven numbers of both, as the task has it; what target the
    task itself states is not looked at.  Raises TypeError for other tasks; else as `pose`.
    """
    casadi = _casadi()
    if not isinstance(task, (PoseTask, PositionTask, OrientationTask)):
        raise _not_taken(task)
    q = casadi.SX.sym("q", model.nq)
    places, turns = not isinstance(task, OrientationTask), not isinstance(task, PositionTask)
    target = casadi.SX.sym("target", 3 * places + 4 * turns)
    at = _pose(model, task.frame, q)
    if task.offset is not None:
        at = _then(at, _fixed(task.offset))
    if task.base is not None:
        at = _then(_inverse(_pose(model, task.base, q)), at)
    left = []
    if places:
        left.append(target[:3] - at[0])
    if turns:
        left.append(_rotation_vector(_product(target[-4:], _conjugate(at[1]))))
    if not isinstance(task, PositionTask) and task.axes == "target":
        left = [_turned(_conjugate(target[-4:]), rows) for rows in left]
    weighted = [casadi.DM(block.weight) * rows for block, rows in zip(task.blocks, left, strict=True)]
    return _function("error", {"q": q, "target": target}, {"e": casadi.vertcat(*weighted)})


def integrate(model: Model) -> Any:
    """The function of q (nq,) and v (nv,) that gives where v leads in unit time (nq,), as `Model.integrate` does: of
    what has no quaternion it is q + v, in the order of the joints.  Raises MissingExtra without CasADi."""
    casadi = _casadi()
    q, v = casadi.SX.sym("q", model.nq), casadi.SX.sym("v", model.nv)
    parts = []
    for joint in _with_coordinates(model):
        at, moved = q[model.index(joint.name)], v[model.velocity_index(joint.name)]
        if joint.quaternion_at is None:
            parts.append(at + moved)
            continue
        angle = casadi.sqrt(casadi.sumsqr(moved[-3:]) + _FLAT)
        turn = casadi.vertcat(casadi.cos(0.5 * angle), casadi.sin(0.5 * angle) / angle * moved[-3:])
        parts += [at[:-4] + moved[:-3], _product(turn, at[-4:])]
    return _function("integrate", {"q": q, "v": v}, {"q_next": casadi.vertcat(*parts)})


# The tree ----------------------------------------------------------------------------------------------------------


def _pose(model: Model, frame: str, q: Any) -> tuple[Any, Any]:
    """Place and unit quaternion of a frame, from joint to joint."""
    found = model.frame(frame)
    at = _fixed(SE3.identity())
    for joint in model.root_path(found.link):
        at = _then(at, _fixed(joint.origin))
        if joint.kind is not JointKind.FIXED:
            at = _then(at, _motion(joint, _position(model, joint, q)))
    return _then(at, _fixed(found.origin))


def _position(model: Model, joint: Joint, q: Any) -> Any:
    """The numbers of a joint, those that follow another's by the function of them: piece by piece a polynomial."""
    casadi = _casadi()
    source, function = model.follows(joint)
    x = q[model.index(source)]
    if joint.mimic is None:
        return x
    for stage in function.stages:
        values = [sum(c * (x - origin) ** k for k, c in enumerate(row)) for _, origin, *row in stage.rows.tolist()]
        y = values[0]
        for start, value in zip(stage.rows[1:, 0].tolist(), values[1:], strict=True):
            y = casadi.if_else(x >= start, value, y)
        x = y
    return x


def _motion(joint: Joint, x: Any) -> tuple[Any, Any]:
    """How a joint's child stands in the joint's frame."""
    casadi = _casadi()
    axis, place, turn = casadi.DM(joint.axis), casadi.SX(3, 1), casadi.SX([1.0, 0.0, 0.0, 0.0])
    if joint.quaternion_at is not None:
        return (x[:3] if joint.kind is JointKind.FLOATING else place), x[-4:]
    if joint.kind is JointKind.PLANAR:
        place = _turned(casadi.DM(aligning(joint.axis)), casadi.vertcat(x[:2], 0.0))
    if joint.kind in _SLIDING:
        place = axis * x * (joint.pitch if joint.kind is JointKind.HELICAL else 1.0)
    if joint.kind in _TURNING or joint.kind is JointKind.PLANAR:
        turn = casadi.vertcat(casadi.cos(0.5 * x[-1]), casadi.sin(0.5 * x[-1]) * axis)
    return place, turn


def _velocities(model: Model, q: Any) -> Any:
    """(nq, nv) how q changes with v: as much, and of a quaternion h by half of w h, with w the angular velocity."""
    casadi = _casadi()
    out = casadi.SX(model.nq, model.nv)
    for joint in _with_coordinates(model):
        at, moved = model.index(joint.name), model.velocity_index(joint.name)
        plain = joint.nv if joint.quaternion_at is None else joint.quaternion_at
        for k in range(plain):
            out[at.start + k, moved.start + k] = 1.0
        for k, axis in enumerate(np.eye(4)[1:] if plain < joint.nv else ()):
            out[at.start + plain : at.stop, moved.start + plain + k] = 0.5 * _product(axis, q[at][-4:])
    return out


def _with_coordinates(model: Model) -> list[Joint]:
    """The joints that have numbers in q, in its order."""
    return sorted((joint for joint in model.joints if joint.nq), key=lambda joint: model.index(joint.name).start)


# Poses -------------------------------------------------------------------------------------------------------------


def _fixed(pose: SE3) -> tuple[Any, Any]:
    casadi = _casadi()
    return casadi.SX(pose.xyz), casadi.SX(pose.wxyz)


def _then(one: tuple[Any, Any], other: tuple[Any, Any]) -> tuple[Any, Any]:
    """`other`, seen from where `one` is seen from."""
    return one[0] + _turned(one[1], other[0]), _product(one[1], other[1])


def _inverse(pose: tuple[Any, Any]) -> tuple[Any, Any]:
    back = _conjugate(pose[1])
    return -_turned(back, pose[0]), back


def _conjugate(h: Any) -> Any:
    return _casadi().vertcat(h[0], -h[1:])


def _product(a: Any, b: Any) -> Any:
    """(4,) of quaternions (4,)."""
    casadi = _casadi()
    (v, w), (a0, b0) = (a[1:], b[1:]), (a[0], b[0])
    return casadi.vertcat(a0 * b0 - casadi.dot(v, w), a0 * w + b0 * v + casadi.cross(v, w))


def _turned(h: Any, point: Any) -> Any:
    """(3,) a point turned by a unit quaternion."""
    casadi = _casadi()
    twice = 2.0 * casadi.cross(h[1:], point)
    return point + h[0] * twice + casadi.cross(h[1:], twice)


def _rotation_vector(h: Any) -> Any:
    """(3,) of a unit quaternion, of the turn that is at most half of one."""
    casadi = _casadi()
    h = casadi.if_else(h[0] < 0.0, -h, h)
    sine = casadi.sqrt(casadi.sumsqr(h[1:]) + _FLAT)
    return 2.0 * casadi.atan2(sine, h[0]) / sine * h[1:]


def _not_taken(task: Any) -> Exception:
    from poise import InvalidType

    name = getattr(task, "label", repr(task))
    return InvalidType(
        "wrong-type",
        f"error takes a PoseTask, PositionTask or OrientationTask, got {name}: write what it asks for with pose and "
        "jacobian",
    )


def _function(name: str, given: dict[str, Any], results: dict[str, Any]) -> Any:
    return _casadi().Function(name, [*given.values()], [*results.values()], [*given], [*results])


def _casadi() -> Any:
    return optional("poise_bridges.casadi", "casadi", "casadi", "casadi")

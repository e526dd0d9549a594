"""A task is a value: what a caller does with the arrays that it was made of does not reach it."""

from dataclasses import FrozenInstanceError, fields
from typing import Any

import numpy as np
import pytest
from support.contents import contents

import poise as pz

POSE = pz.SE3.from_xyz_rpy([0.1, 0.2, 0.3], [0.4, 0.5, 0.6])


def three() -> Any:
    return np.array([0.3, -0.2, 0.7])


def one() -> Any:
    """A number that a caller can still change."""
    return np.array(0.5)


GIVEN: list[tuple[Any, dict[str, Any]]] = [
    (pz.PoseTask, {"target": np.array(POSE.array), "position_weight": np.ones(3), "rotation_weight": [1, 1, 0]}),
    (pz.PoseTask, {"target": POSE.matrix(), "position_tolerance": one(), "rotation_tolerance": one()}),
    (pz.PositionTask, {"target": three(), "weight": np.ones(3), "tolerance": one()}),
    (pz.OrientationTask, {"target": POSE.rotation, "weight": np.ones(3), "tolerance": one()}),
    (pz.AxisTask, {"axis": three(), "target": three(), "weight": one(), "tolerance": one()}),
    (pz.LookAtTask, {"axis": three(), "target": three(), "weight": one(), "tolerance": one()}),
    (pz.ConeTask, {"axis": three(), "target": three(), "angle": one(), "weight": one()}),
    (pz.PlaneTask, {"normal": three(), "target": three(), "weight": one(), "tolerance": one()}),
    (pz.LineTask, {"direction": three(), "target": three(), "weight": one(), "tolerance": one()}),
    (pz.DistanceTask, {"distance": one(), "target": three(), "weight": one(), "tolerance": one()}),
    (pz.DistanceTask, {"distance": np.array([0.1, 0.5]), "target": three()}),
    (pz.RegionTask, {"region": pz.Box(POSE, three() + 1.0), "weight": one(), "tolerance": one()}),
    (pz.SupportTask, {"polygon": np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]]), "margin": one(), "weight": one()}),
    (pz.EquilibriumTask, {"contacts": {"foot": 9.0 * np.eye(3)}, "friction": {"foot": one()}, "margin": one()}),
    (pz.TorqueTask, {"limits": {"a": 9.0, "b": one()}, "wrenches": {"hand": np.ones(6)}, "gravity": three()}),
    (pz.LoopTask, {"base": "palm", "weight": one(), "tolerance": one()}),
    (pz.CentreOfMassTask, {"target": three(), "weight": np.ones(3), "tolerance": one()}),
    (pz.JointCouplingTask, {"coefficients": {"a": 1.0, "b": one()}, "target": one(), "weight": one()}),
    (pz.VectorTask, {"origin": "palm", "tip": "tip", "target": three(), "scale": one(), "weight": one()}),
    (
        pz.SwivelTask,
        {"root": "arm", "middle": "palm", "end": "tip", "target": three(), "angle": one(), "weight": one()},
    ),
    (pz.PostureTask, {"target": three(), "weight": np.ones(3), "tolerance": one()}),
    (pz.DampingTask, {"joints": ["a", "b"], "weight": np.ones(2)}),
    (pz.JointVelocityTask, {"joints": ["a", "b", "c"], "target": three(), "weight": one()}),
    (pz.RollingTask, {"radius": one(), "axis": three(), "weight": np.ones(3)}),
]


def overwrite(value: Any) -> None:
    match value:
        case np.ndarray():
            value[...] = 0.25
        case list():
            value[:] = [0.25, 0.25, 0.25]
        case dict():
            for held in value.values():
                overwrite(held)
            value.clear()


@pytest.mark.parametrize(("kind", "given"), GIVEN, ids=lambda value: getattr(value, "__name__", ""))
def test_a_task_keeps_what_it_was_given_and_lets_nobody_change_it(kind: Any, given: dict[str, Any]) -> None:
    of_frame = "frame" in {field.name for field in fields(kind)}
    task = kind(**({"frame": "hand"} if of_frame else {}), **given)
    before = contents(task)
    for value in given.values():
        overwrite(value)
    assert contents(task) == before
    for field in fields(task):
        value = getattr(task, field.name)
        assert not (isinstance(value, np.ndarray) and value.flags.writeable), field.name
        assert not isinstance(value, list | dict), field.name
        with pytest.raises(FrozenInstanceError):
            setattr(task, field.name, value)


def test_every_task_is_among_these() -> None:
    named = {getattr(pz, name) for name in pz.__all__ if name.endswith("Task")}
    assert {kind for kind, _ in GIVEN} == named - {pz.Task}


def test_a_target_is_where_it_was_when_the_task_was_made() -> None:
    arm, point = pz.load("planar2"), np.array([1.2, 0.5, 0.0])
    task = pz.PositionTask("tool", point)
    point[:] = 0.0
    np.testing.assert_array_equal(task.goal(task.target)[:3], [1.2, 0.5, 0.0])
    assert np.linalg.norm(arm.pose("tool", pz.solve(arm, task).q).xyz - [1.2, 0.5, 0.0]) < 1e-6

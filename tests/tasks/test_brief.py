"""A task that is stated by a frame and a target is the same as one whose fields are all stated."""

import copy
import pickle
from dataclasses import FrozenInstanceError, fields, replace
from typing import Any

import numpy as np
import pytest

import poise as pz

POSE = pz.SE3.from_xyz_rpy([0.4, 0.1, 0.5], [0.1, 0.2, 0.3])
KINDS: list[tuple[Any, Any]] = [
    (pz.PoseTask, POSE),
    (pz.PoseTask, POSE.matrix()),
    (pz.PoseTask, POSE.array.tolist()),
    (pz.PositionTask, [0.4, 0.1, 0.5]),
    (pz.OrientationTask, POSE.rotation),
]
each_kind = pytest.mark.parametrize(("kind", "target"), KINDS)


def seen(task: Any) -> list[tuple[str, type, str]]:
    held = ((field.name, getattr(task, field.name)) for field in fields(task))
    return [(name, type(value), repr(value)) for name, value in held]


@each_kind
def test_it_is_the_same_in_all_that_can_be_seen(kind: Any, target: Any) -> None:
    brief, full = kind("hand", target), kind("hand", target, base=None, priority=0, gain=1.0)
    for task in (brief, kind("hand", target=target), kind(frame="hand", target=target), copy.copy(brief)):
        assert seen(task) == seen(full)
        assert repr(task) == repr(full)
        assert pickle.dumps(task) == pickle.dumps(full)
        assert task.structure == full.structure
        assert task.blocks == full.blocks


def test_a_solve_of_new_tasks_is_that_of_a_solver() -> None:
    model = pz.load("panda")
    solver = pz.Solver(model, pz.PoseTask(model.tip))
    for q in model.sample(4, seed=1):
        pose = model.pose(model.tip, q)
        wanted = solver(pose).q
        assert np.array_equal(pz.solve(model, pz.PoseTask(model.tip, pose)).q, wanted)
        assert np.array_equal(pz.solve(model, pz.PoseTask(model.tip, pose, gain=0.5), select="nearest").q, wanted)


@each_kind
def test_it_is_frozen_and_changed_by_replace(kind: Any, target: Any) -> None:
    task = kind("hand", target)
    with pytest.raises(FrozenInstanceError):
        task.frame = "foot"
    other = replace(task, frame="foot", gain=0.5)
    assert (other.frame, other.gain, task.frame, task.gain) == ("foot", 0.5, "hand", 1.0)
    assert repr(other.target) == repr(task.target)
    assert other.structure != task.structure == kind("hand").structure


def test_its_target_is_its_own() -> None:
    point = np.array([0.4, 0.1, 0.5])
    task, other = pz.PositionTask("hand", point), pz.PositionTask("hand", [0.0, 0.0, 1.0])
    point[0] = 9.0
    assert np.asarray(task.target).tolist() == [0.4, 0.1, 0.5]
    assert np.asarray(other.target).tolist() == [0.0, 0.0, 1.0]
    assert pz.PositionTask("hand").target is None


def words(make: Any) -> tuple[type[BaseException], str]:
    with pytest.raises((TypeError, ValueError)) as found:
        make()
    return found.type, str(found.value)


@pytest.mark.parametrize(
    ("kind", "target"),
    [
        (pz.PoseTask, [1.0, 2.0, 3.0]),
        (pz.PoseTask, np.full(7, np.nan)),
        (pz.PoseTask, pz.SE3(np.tile(POSE.array, (2, 1)))),
        (pz.PoseTask, "home"),
        (pz.PositionTask, POSE),
        (pz.PositionTask, [1.0, 2.0]),
        (pz.OrientationTask, POSE),
    ],
)
def test_a_wrong_target_is_refused_in_the_same_words(kind: Any, target: Any) -> None:
    assert words(lambda: kind("hand", target)) == words(lambda: kind("hand", target, gain=1.0))


@pytest.mark.parametrize(
    ("given", "named", "said"),
    [
        ((), {}, r"PoseTask.__init__\(\) missing 1 required positional argument: 'frame'"),
        ((), {"target": POSE}, r"PoseTask.__init__\(\) missing 1 required positional argument: 'frame'"),
        (("hand", POSE, "world"), {}, r"PoseTask.__init__\(\) takes from 2 to 3 positional arguments but 4 were given"),
        (("hand", POSE), {"frame": "foot"}, r"PoseTask.__init__\(\) got multiple values for argument 'frame'"),
        (("hand", POSE), {"bse": "foot"}, r"PoseTask.__init__\(\) got an unexpected keyword argument 'bse'"),
    ],
)
def test_wrong_arguments_are_refused_as_those_of_any_dataclass(given: Any, named: Any, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        pz.PoseTask(*given, **named)

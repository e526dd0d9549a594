"""A tool of the moment: `offset` on tasks of frames does what a frame of the model's would do."""

import pickle
from typing import Any

import numpy as np
import pytest
from support.refusals import refused

import poise as pz
from poise.bench.problems import reachable, singular, unreachable
from poise.tasks.base import Task
from poise.tasks.frame import OfFrame

TOOL = pz.SE3.from_xyz_rpy([0.05, -0.1, 0.2], [0.4, -0.6, 1.1])


def arm() -> pz.Model:
    """A panda with the tool as a frame."""
    return pz.load("panda").with_frame("tool", link="panda_hand_tcp", origin=TOOL)


def tasks(model: pz.Model, frame: str, **rest: Any) -> dict[str, Task]:
    """One of each kind, with a target that the arm fulfils somewhere."""
    seen = model.pose("tool", model.sample(seed=1))
    point = seen.act([0.1, 0.0, 0.3])
    return {
        "pose": pz.PoseTask(frame, seen, **rest),
        "position": pz.PositionTask(frame, seen.xyz, **rest),
        "orientation": pz.OrientationTask(frame, seen.rotation, **rest),
        "axis": pz.AxisTask(frame, (1.0, 0.0, 0.0), [0.0, 1.0, -1.0], **rest),
        "look": pz.LookAtTask(frame, (0.0, 0.0, 1.0), point, **rest),
        "cone": pz.ConeTask(frame, (0.0, 0.0, 1.0), [0.0, 0.0, -1.0], angle=0.1, **rest),
        "distance": pz.DistanceTask(frame, 0.3, point, **rest),
        "plane": pz.PlaneTask(frame, (0.0, 1.0, 1.0), point, **rest),
        "line": pz.LineTask(frame, (0.0, 1.0, 1.0), point, **rest),
    }


KINDS = list(tasks(arm(), "tool"))


@pytest.mark.parametrize("kind", KINDS)
def test_an_offset_is_a_frame_to_every_task(kind: str) -> None:
    model = arm()
    ours, theirs = tasks(model, "panda_hand_tcp", offset=TOOL)[kind], tasks(model, "tool")[kind]
    mine, yours = (pz.solve(model, task, q0=model.home) for task in (ours, theirs))
    assert mine.success, mine.explain()
    np.testing.assert_allclose(mine.q, yours.q, atol=1e-9)
    q = model.sample(4, seed=3)
    goal = np.tile(theirs.goal(theirs.target), (4, 1))
    np.testing.assert_allclose(ours.judged(model, goal, q), theirs.judged(model, goal, q), atol=1e-12)
    np.testing.assert_allclose(ours.at(model, q[0]), theirs.at(model, q[0]), atol=1e-12)
    tracked = [pz.Tracker(model, task).step(model.home).copy() for task in (ours, theirs)]
    np.testing.assert_allclose(*tracked, atol=1e-12)


def test_offsets_share_no_solver_and_equal_ones_do() -> None:
    task = pz.PoseTask("tool0", offset=TOOL)
    assert task.structure == pz.PoseTask("tool0", offset=TOOL.array).structure
    assert task.structure != pz.PoseTask("tool0").structure
    assert task.structure != pz.PoseTask("tool0", offset=TOOL.inverse()).structure
    ur5e = pz.load("ur5e")
    for length in (0.1, 0.2, 0.3):
        stick = pz.SE3.from_parts([0.0, 0.0, length])
        target = ur5e.pose("tool0", ur5e.sample(seed=2)) @ stick
        answer = pz.solve(ur5e, pz.PoseTask("tool0", target, offset=stick))
        assert answer.success
        np.testing.assert_allclose((ur5e.pose("tool0", answer.q) @ stick).matrix(), target.matrix(), atol=1e-6)


def test_all_branches_and_batches_and_paths_lead_the_tool() -> None:
    model = pz.load("ur5e")
    q = model.sample(6, seed=4)
    wanted = model.pose("tool0", q) @ TOOL
    task = pz.PoseTask("tool0", offset=TOOL)
    found = pz.solve_all(model, task, wanted[0])
    flange = pz.solve_all(model, pz.PoseTask("tool0", model.pose("tool0", q[0])))
    assert len(found) == len(flange) > 1
    apart = np.abs(found.q[:, None] - flange.q[None]).max(axis=-1)
    assert apart.min(axis=1).max() < 1e-6
    many = pz.solve_batch(model, task, wanted, seed=0)
    assert many.success.all()
    np.testing.assert_allclose((model.pose("tool0", many.q) @ TOOL).matrix(), wanted.matrix(), atol=1e-5)
    start = model.q(shoulder_lift_joint=-1.0, elbow_joint=1.2, wrist_1_joint=-0.6, wrist_2_joint=-1.0)
    way = np.linspace(start, start + 0.2, 20)
    path = pz.solve_path(model, task, model.pose("tool0", way) @ TOOL, q0=start)
    assert path.success
    np.testing.assert_allclose(
        (model.pose("tool0", path.q) @ TOOL).xyz, (model.pose("tool0", way) @ TOOL).xyz, atol=1e-5
    )


def test_a_tool_is_seen_from_a_base_too() -> None:
    model = arm()
    task = pz.PositionTask("panda_hand_tcp", [0.2, 0.1, 0.3], base="panda_link1", offset=TOOL)
    answer = pz.solve(model, task)
    assert answer.success
    seen = model.pose("panda_link1", answer.q).inverse() @ model.pose("tool", answer.q)
    np.testing.assert_allclose(seen.xyz, [0.2, 0.1, 0.3], atol=2e-6)


def test_a_point_on_the_axis_of_the_last_joint_is_moved_by_its_offset() -> None:
    one = pz.ModelBuilder("one")
    one.joint("turn", "revolute", parent="base", child="hand", limits=(-3.0, 3.0))
    model = one.build()
    answer = pz.solve(model, pz.PositionTask("hand", [0.0, 0.5, 0.0], offset=pz.SE3.from_parts([0.5, 0.0, 0.0])))
    assert answer.success
    assert answer.q[0] == pytest.approx(np.pi / 2, abs=1e-5)


def test_a_long_tool_reaches_further_and_the_explanation_knows() -> None:
    model = pz.load("ur5e")
    stick = pz.SE3.from_parts([0.0, 0.0, 1.0])
    far = [1.6, 0.0, 0.2]
    assert pz.solve(model, pz.PositionTask("tool0", far)).status is pz.Status.UNREACHABLE
    assert pz.solve(model, pz.PositionTask("tool0", far, offset=stick)).success
    answer = pz.solve(model, pz.PositionTask("tool0", [9.0, 0.0, 0.0], offset=stick))
    assert answer.status is pz.Status.UNREACHABLE
    plain = pz.solve(model, pz.PositionTask("tool0", [8.0, 0.0, 0.0]))
    reach = [float(x.explain().split("longest reach of ")[1].split()[0]) for x in (answer, plain)]
    assert reach[0] - reach[1] == pytest.approx(np.hypot(1.0, 0.0), abs=0.2)


def test_problems_to_compare_with_are_the_tools() -> None:
    model = arm()
    ours, theirs = (pz.PoseTask("panda_hand_tcp", offset=TOOL),), (pz.PoseTask("tool"),)
    for make in (reachable, singular, unreachable):
        mine, yours = make(model, ours, 5, 0), make(model, theirs, 5, 0)
        for one, other in zip(mine.targets, yours.targets, strict=True):
            np.testing.assert_allclose(one.matrix(), other.matrix(), atol=1e-12)


def test_methods_are_compared_with_a_tool_as_with_a_frame() -> None:
    model = arm()
    tables = [
        pz.compare(model, task, methods=["dls"], count=20, seed=3)
        for task in (pz.PoseTask("panda_hand_tcp", offset=TOOL), pz.PoseTask("tool"))
    ]
    solved = [table["dls"].solved for table in tables]
    np.testing.assert_array_equal(*solved)
    assert solved[0].any()


@pytest.mark.parametrize("kind", KINDS)
def test_tasks_with_a_tool_travel(kind: str) -> None:
    task = tasks(arm(), "panda_hand_tcp", offset=TOOL)[kind]
    again = pickle.loads(pickle.dumps(task))
    assert isinstance(again, OfFrame)
    assert again.structure == task.structure
    assert "offset=SE3(" in repr(task)


@pytest.mark.parametrize(
    ("offset", "code", "words"),
    [
        ([0.0, 0.0, 0.1], "wrong-shape", "offset"),
        (pz.SE3(np.tile(TOOL.array, (2, 1))), "wrong-shape", "offset"),
        (pz.SE3.from_parts([1e30, 0.0, 0.0]), "out-of-range", "offset stands at"),
        ([np.nan, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0], "not-finite", "offset"),
    ],
)
def test_an_offset_that_is_no_pose_is_refused(offset: Any, code: str, words: str) -> None:
    with refused(code, words):
        pz.PoseTask("tool0", offset=offset)

"""A question that makes no sense is refused, and the message names the argument, the entry and the mend."""

import math
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from independent import fk
from support.refusals import refused

import poise as pz

NAN, INF = math.nan, math.inf
POINT = [0.4, 0.1, 0.5]
POSE = [0.4, 0.1, 0.5, 0.0, 1.0, 0.0, 0.0]
HAND = "panda_hand"


def arm() -> pz.Model:
    return pz.load("panda")


def brick() -> pz.Model:
    b = pz.ModelBuilder("brick")
    b.link("body")
    return b.build(base="floating")


def wagon() -> pz.Model:
    """A body that no task needs to move, and an arm beside it."""
    b = pz.ModelBuilder("wagon")
    b.joint("free", "floating", parent="base", child="body")
    b.joint("turn", "revolute", parent="base", child="arm", limits=(-2, 2))
    b.frame("tip", link="arm", origin=pz.SE3.from_parts([1, 0, 0]))
    return b.build()


def solver(*tasks: Any, **settings: Any) -> pz.Solver:
    return pz.Solver(arm(), list(tasks), **settings)


def ask(task: Any, **settings: Any) -> pz.Solution:
    return pz.solve(arm(), task, **settings)


Case = tuple[str, Callable[[], Any], str, str]
BAD_NUMBER = (ValueError, TypeError)
"""For an argument that is no number at all either will do; its name must be in the message."""

TARGETS: list[Case] = [
    ("nan in a pose", lambda: solver(pz.PoseTask(HAND))([0, 0, NAN, 1, 0, 0, 0]), "not-finite", "target[2]"),
    ("inf in a pose", lambda: solver(pz.PoseTask(HAND))([INF, 0, 0, 1, 0, 0, 0]), "not-finite", "target[0]"),
    ("nan in the task's pose", lambda: pz.PoseTask(HAND, [0, NAN, 0, 1, 0, 0, 0]), "not-finite", "target[1]"),
    ("nan in a matrix", lambda: pz.PoseTask(HAND, np.full((4, 4), NAN)), "not-finite", "target[0, 0]"),
    ("nan in a point", lambda: solver(pz.PositionTask(HAND))([0, 0, NAN]), "not-finite", "target[2]"),
    ("-inf in a point", lambda: solver(pz.PositionTask(HAND))([0, -INF, 0]), "not-finite", "target[1]"),
    ("nan in the task's point", lambda: ask(pz.PositionTask(HAND, [NAN, 0, 0])), "not-finite", "target[0]"),
    ("nan in a direction", lambda: solver(pz.AxisTask(HAND))([0, NAN, 0]), "not-finite", "target[1]"),
    ("nan in a sight", lambda: solver(pz.LookAtTask(HAND))([0, NAN, 0]), "not-finite", "target[1]"),
    (
        "nan in the second of two",
        lambda: solver(pz.PositionTask(HAND), pz.AxisTask(HAND))([POINT, [0, 0, NAN]]),
        "not-finite",
        "target[1][2]",
    ),
    (
        "nan in a posture beside another task",
        lambda: solver(pz.PositionTask(HAND), pz.PostureTask())([POINT, [0, 0, 0, NAN, 0, 0, 0]]),
        "not-finite",
        "target[1][3]",
    ),
    ("nan in the task's posture", lambda: pz.PostureTask([0, NAN, 0]), "not-finite", "target[1]"),
    ("zero direction", lambda: solver(pz.AxisTask(HAND))([0, 0, 0]), "zero-vector", "target"),
    ("hardly a direction", lambda: solver(pz.AxisTask(HAND))([0, 0, 1e-200]), "zero-vector", "target"),
    (
        "zero direction, second of two",
        lambda: solver(pz.PositionTask(HAND), pz.AxisTask(HAND))([POINT, [0, 0, 0]]),
        "zero-vector",
        "target[1]",
    ),
    (
        "zero direction behind a posture",
        lambda: solver(pz.PostureTask(), pz.PositionTask(HAND), pz.AxisTask(HAND))([None, POINT, [0, 0, 0]]),
        "zero-vector",
        "target[2]",
    ),
    (
        "nan behind a posture in linearise",
        lambda: solver(pz.PostureTask(), pz.PositionTask(HAND)).linearise(arm().home, [None, [0, NAN, 0]]),
        "not-finite",
        "target[1][1]",
    ),
    ("zero axis", lambda: pz.AxisTask(HAND, axis=(0, 0, 0)), "zero-vector", "axis"),
    ("nan in an axis", lambda: pz.LookAtTask(HAND, axis=(0, NAN, 0)), "not-finite", "axis[1]"),
    ("short axis", lambda: pz.AxisTask(HAND, axis=(0, 1)), "wrong-shape", "axis"),
    (
        "zero quaternion",
        lambda: solver(pz.PoseTask(HAND))([*POINT, 0, 0, 0, 0]),
        "not-a-rotation",
        "target",
    ),
    ("task's zero quaternion", lambda: pz.PoseTask(HAND, [*POINT, 0, 0, 0, 0]), "not-a-rotation", "target"),
    ("short pose", lambda: solver(pz.PoseTask(HAND))(POINT), "wrong-shape", "target"),
    ("3x3 for a pose", lambda: pz.PoseTask(HAND, np.eye(3)), "wrong-shape", "target"),
    ("a rotation for a pose", lambda: pz.PoseTask(HAND, pz.SO3.identity()), "wrong-shape", "target"),
    (
        "many poses",
        lambda: solver(pz.PoseTask(HAND))(np.tile(POSE, (4, 1))),
        "wrong-shape",
        "target",
    ),
    ("no rotation matrix", lambda: pz.PoseTask(HAND, 2.0 * np.eye(4)), "not-a-pose", "target"),
    ("long point", lambda: solver(pz.PositionTask(HAND))([1, 2, 3, 4]), "wrong-shape", "target"),
    ("matrix for a rotation", lambda: pz.OrientationTask(HAND, np.eye(3)), "wrong-shape", "target"),
    (
        "many rotations",
        lambda: pz.OrientationTask(HAND, pz.SO3(wxyz=np.tile([1, 0, 0, 0], (2, 1)))),
        "wrong-shape",
        "target",
    ),
    ("short posture", lambda: ask(pz.PostureTask([0, 0])), "wrong-shape", "target"),
    ("many postures", lambda: ask(pz.PostureTask(np.zeros((2, 7)))), "wrong-shape", "target"),
    (
        "too few targets",
        lambda: solver(pz.PositionTask(HAND), pz.AxisTask(HAND))([POINT]),
        "wrong-shape",
        "target",
    ),
    (
        "one pose for two tasks",
        lambda: solver(pz.PoseTask(HAND), pz.PoseTask(HAND))(pz.SE3.identity()),
        "wrong-shape",
        "target",
    ),
    (
        "a number for two tasks",
        lambda: solver(pz.PoseTask(HAND), pz.PoseTask(HAND))(3.0),
        "wrong-shape",
        "target",
    ),
    (
        "wrong shape, second of two",
        lambda: solver(pz.PositionTask(HAND), pz.PositionTask("panda_link4"))([POINT, [1, 2]]),
        "wrong-shape",
        "target[1]",
    ),
    ("no target at all", lambda: solver(pz.PoseTask(HAND))(), "no-target", "no target"),
    ("solve without a target", lambda: ask(pz.PositionTask(HAND)), "no-target", "no target"),
    (
        "solve with one target of two",
        lambda: ask([pz.PositionTask(HAND, POINT), pz.AxisTask(HAND)]),
        "no-target",
        "AxisTask",
    ),
    ("words for a target", lambda: solver(pz.PositionTask(HAND))("here"), "wrong-shape", "target"),
]

FAR: dict[str, tuple[pz.Task, Any]] = {
    "pose": (pz.PoseTask(HAND), [1e200, 0, 0, 1, 0, 0, 0]),
    "position": (pz.PositionTask(HAND), [1e200, 0, 0]),
    "a little": (pz.PositionTask(HAND), [2e15, 0, 0]),
    "centre of mass": (pz.CentreOfMassTask(), [1e200, 0, 0]),
    "axis": (pz.AxisTask(HAND), [1e200, 0, 0]),
    "sight": (pz.LookAtTask(HAND), [1e200, 0, 0]),
    "distance": (pz.DistanceTask(HAND, 0.5), [1e200, 0, 0]),
    "sum of joints": (pz.JointCouplingTask({"panda_joint1": 1.0}), 1e200),
    "posture": (pz.PostureTask(), [1e200, 0, 0, 0, 0, 0, 0]),
}
"""Targets that are too far away to compute with."""


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", FAR)
def test_a_target_too_far_to_compute_with_is_refused_alike_everywhere(name: str) -> None:
    (task, target), model = FAR[name], arm().with_payload(1.0, link=HAND)
    way = np.tile(target if name == "posture" else np.pad(np.ravel(target), (0, 7))[:7], (2, 1))
    way = way if name == "posture" else way[:, None]
    for ask in (
        lambda: pz.Solver(model, task)(target),
        lambda: pz.Tracker(model, task).step(model.home, target),
        lambda: pz.Tracker(model, task).rollout(model.home, way),
        lambda: pz.Tracker(model, task).rollout(np.tile(model.home, (2, 1)), np.stack([way, way])),
    ):
        with pytest.raises(ValueError, match=r"^(step 0( of character 0)?: )?targets?\[0[],].* is .*no digits left"):
            ask()
    found = pz.solve_batch(model, task, np.array([target, target]))
    assert set(found.status) == {pz.Status.BAD_INPUT}
    assert "no digits left" in found[1].explain()


STARTS: list[Case] = [
    ("nan", lambda: ask(pz.PositionTask(HAND, POINT), q0=[0, 0, NAN, -1, 0, 1, 0]), "not-finite", "q0[2]"),
    ("array with nan", lambda: ask(pz.PositionTask(HAND, POINT), q0=np.full(7, NAN)), "not-finite", "q0[0]"),
    ("inf", lambda: ask(pz.PositionTask(HAND, POINT), q0=[0, 0, 0, 0, 0, 0, INF]), "not-finite", "q0[6]"),
    ("short", lambda: ask(pz.PositionTask(HAND, POINT), q0=[0, 0]), "wrong-shape", "q0"),
    ("long array", lambda: ask(pz.PositionTask(HAND, POINT), q0=np.zeros(8)), "wrong-shape", "q0"),
    ("a number", lambda: ask(pz.PositionTask(HAND, POINT), q0=0.0), "wrong-shape", "q0"),
    ("many", lambda: ask(pz.PositionTask(HAND, POINT), q0=np.zeros((3, 7))), "wrong-shape", "q0"),
    ("words", lambda: ask(pz.PositionTask(HAND, POINT), q0=["a"] * 7), "wrong-shape", "q0"),
    ("array of words", lambda: ask(pz.PositionTask(HAND, POINT), q0=np.array(["a"] * 7)), "wrong-shape", "q0"),
    (
        "zero quaternion",
        lambda: pz.solve(brick(), pz.PositionTask("body", POINT), q0=np.zeros(7)),
        "not-a-rotation",
        "q0",
    ),
    (
        "zero quaternion that no task moves",
        lambda: pz.solve(wagon(), pz.PositionTask("tip", [1, 0, 0]), q0=np.zeros(8)),
        "not-a-rotation",
        "q0",
    ),
    (
        "nan that no task moves",
        lambda: pz.solve(wagon(), pz.PositionTask("tip", [1, 0, 0]), q0=[0, NAN, 0, 1, 0, 0, 0, 0]),
        "not-finite",
        "q0[1]",
    ),
    (
        "too large",
        lambda: pz.solve(brick(), pz.PositionTask("body", POINT), q0=[0, 1e305, 0, 1, 0, 0, 0]),
        "out-of-range",
        "q0[1]",
    ),
    (
        "nan in linearise",
        lambda: solver(pz.PositionTask(HAND)).linearise([0, NAN, 0, -1, 0, 1, 0], POINT),
        "not-finite",
        "[1] is nan",
    ),
]

NUMBERS: list[Case] = [
    ("negative weight", lambda: pz.PositionTask(HAND, weight=-1.0), "out-of-range", "weight"),
    ("negative weight of a row", lambda: pz.PositionTask(HAND, weight=(1, -2, 1)), "out-of-range", "weight[1]"),
    ("nan weight", lambda: pz.PoseTask(HAND, position_weight=(1, 1, NAN)), "not-finite", "position_weight[2]"),
    ("inf weight", lambda: pz.PoseTask(HAND, rotation_weight=(INF, 1, 1)), "not-finite", "rotation_weight[0]"),
    ("two weights", lambda: pz.PoseTask(HAND, rotation_weight=(1, 1)), "wrong-shape", "rotation_weight"),
    ("negative aim weight", lambda: pz.AxisTask(HAND, weight=-1.0), "out-of-range", "weight"),
    ("three aim weights", lambda: pz.AxisTask(HAND, weight=(1, 1, 1)), "wrong-shape", "weight"),
    ("word for a weight", lambda: pz.PositionTask(HAND, weight="heavy"), "wrong-shape", "weight"),
    ("nan posture weight", lambda: pz.PostureTask(weight=[1, NAN]), "not-finite", "weight[1]"),
    (
        "negative posture weight of one",
        lambda: pz.PostureTask(weight=[1, -1]),
        "negative",
        "weight[1]",
    ),
    (
        "negative posture weight",
        lambda: pz.PostureTask(weight=-1.0),
        "negative",
        "weight",
    ),
    ("two posture weights", lambda: ask(pz.PostureTask(weight=[1, 1])), "wrong-shape", "weight"),
    ("zero tolerance", lambda: pz.PositionTask(HAND, tolerance=0.0), "not-positive", "tolerance"),
    (
        "negative tolerance",
        lambda: pz.PoseTask(HAND, position_tolerance=-1e-3),
        "not-positive",
        "position_tolerance",
    ),
    (
        "nan tolerance",
        lambda: pz.PoseTask(HAND, rotation_tolerance=NAN),
        "not-finite",
        "rotation_tolerance",
    ),
    ("negative posture tolerance", lambda: pz.PostureTask(tolerance=-1.0), "not-positive", "tolerance"),
    ("word for a tolerance", lambda: pz.AxisTask(HAND, tolerance="small"), "wrong-shape", "tolerance"),
    ("unknown axes", lambda: pz.PoseTask(HAND, axes="body"), "unknown-word", "axes"),
    ("unknown axes", lambda: pz.OrientationTask(HAND, axes="z"), "unknown-word", "axes"),
]

SETTINGS: list[Case] = [
    (
        f"{name}={value!r}",
        lambda name=name, value=value: ask(pz.PositionTask(HAND, POINT), **{name: value}),
        code,
        words,
    )
    for name, value, code, words in [
        ("max_iterations", 0, "out-of-range", "max_iterations"),
        ("max_iterations", -5, "out-of-range", "max_iterations"),
        ("max_iterations", 1.5, "not-whole", "max_iterations"),
        ("max_iterations", NAN, "not-whole", "max_iterations"),
        ("max_iterations", "3", "not-whole", "max_iterations"),
        ("max_restarts", -1, "out-of-range", "max_restarts"),
        ("max_restarts", 2**70, "out-of-range", "max_restarts"),
        ("max_restarts", "3", "not-whole", "max_restarts"),
        ("max_time", 0.0, "not-positive", "max_time"),
        ("max_time", -1.0, "not-positive", "max_time"),
        ("max_time", NAN, "not-finite", "max_time"),
        ("max_time", "1 s", "not-a-number", "max_time"),
        ("seed", -1, "out-of-range", "seed"),
        ("seed", 2**70, "out-of-range", "seed"),
        ("seed", 1.5, "not-whole", "seed"),
        ("seed", "one", "not-whole", "seed"),
    ]
]

NAMES: list[Case] = [
    (
        "misspelt frame",
        lambda: solver(pz.PoseTask("panda_hnad")),
        "unknown-name",
        "'panda_hnad'; did you mean 'panda_h",
    ),
    ("misspelt in solve", lambda: ask(pz.PositionTask("hand", POINT)), "unknown-name", "panda has no frame 'hand'"),
    ("unlike any frame", lambda: solver(pz.PoseTask("xyz")), "unknown-name", "available:"),
    ("second of two", lambda: solver(pz.PoseTask(HAND), pz.AxisTask("xyz")), "unknown-name", "no frame 'xyz'"),
    ("the base", lambda: solver(pz.PoseTask("panda_link0")), "nothing-moves", "'panda_link0' does not move"),
    ("the world", lambda: solver(pz.PositionTask("world")), "nothing-moves", "'world' does not move"),
    ("no tasks", lambda: solver(), "empty", "tasks"),
    ("no tasks to solve", lambda: ask([]), "empty", "tasks"),
    ("a name for a task", lambda: ask(HAND), "not-a-task", "tasks"),
    ("a name among tasks", lambda: solver(HAND), "not-a-task", "tasks"),
    ("a pose for a task", lambda: ask(pz.SE3(POSE)), "not-a-task", "tasks"),
    ("two postures", lambda: solver(pz.PostureTask(), pz.PostureTask()), "too-many", "tasks"),
]


@pytest.mark.parametrize(
    ("question", "code", "words"),
    [
        pytest.param(case, code, words, id=f"{group}: {name}")
        for group, cases in {
            "target": TARGETS,
            "q0": STARTS,
            "task": NUMBERS,
            "settings": SETTINGS,
            "names": NAMES,
        }.items()
        for name, case, code, words in cases
    ],
)
def test_it_is_refused_by_name(question: Callable[[], Any], code: str, words: str) -> None:
    with refused(code, words):
        question()


# Numbers of every setting ----------------------------------------------------------------------------------------

JOINT = "panda_joint1"
FINITE: dict[str, Callable[[Any], Any]] = {
    "gain": lambda x: pz.PositionTask(HAND, gain=x),
    "priority": lambda x: pz.PoseTask(HAND, priority=x),
    "weight of three rows": lambda x: pz.PositionTask(HAND, weight=x),
    "position_weight": lambda x: pz.PoseTask(HAND, position_weight=x),
    "rotation_weight": lambda x: pz.PoseTask(HAND, rotation_weight=x),
    "weight of an angle": lambda x: pz.AxisTask(HAND, weight=x),
    "weight of a damping": lambda x: pz.Tracker(arm(), [pz.PoseTask(HAND), pz.DampingTask([JOINT], weight=x)], dt=0.1),
    "weight of a posture": lambda x: pz.Solver(arm(), pz.PostureTask(weight=x)),
    "weight of a joint": lambda x: pz.PostureTask(weight={JOINT: x}),
    "angle of a cone": lambda x: pz.ConeTask(HAND, angle=x),
    "angle of a swivel": lambda x: pz.SwivelTask("panda_link1", "panda_link4", HAND, angle=x),
    "distance": lambda x: pz.DistanceTask(HAND, distance=x),
    "coefficients": lambda x: pz.JointCouplingTask({JOINT: x}),
    "target of a coupling": lambda x: pz.JointCouplingTask({JOINT: 1.0}, target=0.0 if x is None else x),
    "target of a velocity": lambda x: pz.JointVelocityTask([JOINT], 0.0 if x is None else x),
    "scale": lambda x: pz.VectorTask("panda_link4", HAND, scale=x),
    "radius": lambda x: pz.RollingTask(HAND, radius=x),
    "margin": lambda x: pz.SupportTask([[0, 0], [4, 0], [0, 4]], margin=x),
    "TwistLimit, linear": lambda x: pz.TwistLimit(linear=x),
    "TwistLimit, angular": lambda x: pz.TwistLimit(angular=x),
    "LinearLimit": lambda x: pz.LinearLimit({JOINT: 1.0}, x),
    "min_distance": lambda x: pz.CollisionLimit(min_distance=x),
    "min_distance of a question": lambda x: arm().in_collision(arm().home, min_distance=x),
    "dt": lambda x: solver_loop(dt=x),
    "updates": lambda x: solver_loop(updates=x),
    "speed": lambda x: solver_loop(dt=0.1, speed=x),
    "seed": lambda x: solver(pz.PoseTask(HAND), seed=x),
    "max_iterations": lambda x: solver(pz.PoseTask(HAND), max_iterations=x),
    "max_restarts": lambda x: solver(pz.PoseTask(HAND), max_restarts=x),
    "grid": lambda x: pz.reach(arm(), grid=x),
    "Rate, dt": lambda x: pz.Rate(x),
}
ENDLESS: dict[str, Callable[[Any], Any]] = {
    "tolerance": lambda x: pz.PositionTask(HAND, tolerance=x),
    "position_tolerance": lambda x: pz.PoseTask(HAND, position_tolerance=x),
    "tolerance of a posture": lambda x: pz.PostureTask(tolerance=x),
    "huber": lambda x: pz.VectorTask("panda_link4", HAND, huber=x),
    "VelocityLimit": lambda x: pz.VelocityLimit(x),
    "AccelerationLimit": lambda x: pz.AccelerationLimit(x),
    "AccelerationLimit of a joint": lambda x: pz.AccelerationLimit({JOINT: x}),
    "JerkLimit": lambda x: pz.JerkLimit(x),
    "rate": lambda x: pz.CollisionLimit(rate=x),
    "retreat": lambda x: pz.CollisionLimit(retreat=x),
    "FollowingErrorLimit": lambda x: pz.FollowingErrorLimit(joints=x),
    "distance of a limit of the following error": lambda x: pz.FollowingErrorLimit(distance=x),
    "angle of a limit of the following error": lambda x: pz.FollowingErrorLimit(angle=x),
    "max_target_lead": lambda x: solver_loop(max_target_lead=x),
    "max_target_lead, angle": lambda x: solver_loop(max_target_lead=(0.1, 0.1 if x == INF else x)),
    "max_time": lambda x: solver(pz.PoseTask(HAND), max_time=x),
}
"""Those for which an infinite number is none."""
WITHOUT = ("TwistLimit", "VelocityLimit", "AccelerationLimit", "JerkLimit", "dt", "max_", "target")
"""Settings that may be None."""
OF_THE_FILE = ("AccelerationLimit", "JerkLimit")
"""Those for which None is what the robot's file says."""


def solver_loop(**settings: Any) -> pz.Tracker:
    return pz.Tracker(arm(), pz.PoseTask(HAND), **settings)


@pytest.mark.parametrize(
    "value", [True, np.True_, "0.5", b"1", NAN, INF, 1j, None, [True], ["0.5"], [NAN], set()], ids=repr
)
@pytest.mark.parametrize("setting", [*FINITE, *ENDLESS])
def test_what_is_no_number_is_refused_by_name(setting: str, value: Any) -> None:
    """A truth value and a text are none, though NumPy takes them for such."""
    whole = "of a joint" not in setting
    if (value is None and whole and setting.startswith(WITHOUT)) or (value == INF and setting in ENDLESS):
        return
    if value is None and setting in OF_THE_FILE:
        return
    name = setting.split(",")[-1].split()[0]
    with pytest.raises((ValueError, TypeError), match=rf"{name}.*(must|needs|part of|no finite)"):
        {**FINITE, **ENDLESS}[setting](value)


@pytest.mark.parametrize("setting", [*FINITE, *ENDLESS])
def test_a_number_alone_in_a_list_is_that_number_or_refused_by_name(setting: str) -> None:
    make = {**FINITE, **ENDLESS}[setting]
    try:
        one = make([0.5])
    except (ValueError, TypeError) as error:
        assert setting.split(",")[-1].split()[0] in str(error)  # noqa: PT017
        return
    name = setting.split()[0]
    if name in ("gain", "tolerance", "angle", "distance", "scale", "radius", "margin", "huber"):
        assert getattr(one, name) == getattr(make(0.5), name) == 0.5
        assert isinstance(getattr(one, name), float)


ONE = {"priority": 2, "updates": 2, "seed": 2, "max_iterations": 2, "max_restarts": 2, "grid": 4}
"""Settings that are whole numbers, and one that each may be; others may be a half."""


@pytest.mark.parametrize("setting", [*FINITE, *ENDLESS])
def test_a_number_in_an_array_without_axes_is_that_number_or_refused_by_name(setting: str) -> None:
    given = np.array(ONE.get(setting, 0.5))
    name = setting.split(",")[-1].split()[0]
    said = None
    try:
        {**FINITE, **ENDLESS}[setting](given)
    except (ValueError, TypeError) as error:
        said = str(error)
    assert said is None or re.search(rf"{name}.*(must|part of|no finite)", said)


SETTINGS_OF_A_CALL = [
    ("max_time", 0.5), ("max_iterations", 9), ("max_restarts", 2), ("seed", 1), ("trace", True), ("limits", True),
    ("select", "first"),
]  # fmt: skip


@pytest.mark.parametrize("wrap", [np.array, lambda x: [x], lambda x: {0: x}], ids=["array", "list", "dict"])
@pytest.mark.parametrize(("name", "value"), SETTINGS_OF_A_CALL)
def test_a_setting_of_a_call_that_has_no_hash_is_refused_by_name(name: str, value: Any, wrap: Any) -> None:
    calls: list[Callable[..., Any]] = [lambda **s: ask(pz.PositionTask(HAND, POINT), method="lm", **s)]
    if name not in ("trace", "seed"):
        calls.append(lambda **s: pz.solve_batch(arm(), pz.PositionTask(HAND), [POINT], **s))
    for call in calls:
        with pytest.raises(BAD_NUMBER, match=rf"^{name} (is|must|=)"):
            call(**{name: wrap(value)})


@pytest.mark.parametrize(
    ("name", "first", "value"),
    [("max_restarts", 1, True), ("max_restarts", 1, 1.0), ("max_iterations", 50, 50.0), ("max_time", 1.0, True)],
)
def test_what_was_prepared_for_a_number_is_not_for_another_kind(name: str, first: Any, value: Any) -> None:
    task = pz.PositionTask(HAND, POINT)
    ask(task, **{name: first})
    with pytest.raises(ValueError, match=f"{name} is {value}"):
        ask(task, **{name: value})


def build(**settings: Any) -> None:
    pz.ModelBuilder("one").joint("turn", "revolute", parent="base", child="arm", **settings)


def masked(values: Any, *at: int) -> Any:
    """A masked array that hides one entry."""
    found = np.ma.array(np.array(values, dtype=float))
    found[at] = np.ma.masked
    return found


HIDDEN_POSE, HIDDEN_POINT, HIDDEN_Q = masked(POSE, 1), masked(POINT, 1), masked(pz.load("panda").home, 1)
HIDDEN_POSES, HIDDEN_QS = masked([POSE] * 3, 2, 1), masked([pz.load("panda").home] * 3, 2, 1)
MASKED: dict[str, tuple[Callable[[], Any], str]] = {
    "a pose": (lambda: solver(pz.PoseTask(HAND))(HIDDEN_POSE), r"target\[1\] is masked"),
    "a task's pose": (lambda: pz.PoseTask(HAND, HIDDEN_POSE), r"target\[1\] is masked"),
    "a matrix": (lambda: pz.SE3.from_matrix(masked(np.eye(4), 0, 1)), r"matrix\[0, 1\] is masked"),
    "a point": (lambda: solver(pz.PositionTask(HAND))(HIDDEN_POINT), r"target\[1\] is masked"),
    "a point in a list": (lambda: solver(pz.PositionTask(HAND))([HIDDEN_POINT]), r"target\[1\] is masked"),
    "two points": (
        lambda: solver(pz.PositionTask(HAND), pz.PositionTask("panda_link4"))(masked([POINT, POINT], 1, 2)),
        r"target\[1\]\[2\] is masked",
    ),
    "a start": (lambda: solver(pz.PoseTask(HAND))(POSE, HIDDEN_Q), r"q0\[1\] is masked"),
    "a start of all solutions": (
        lambda: pz.solve_all(arm(), pz.PoseTask(HAND), POSE, q0=HIDDEN_Q),
        r"q0\[1\] is masked",
    ),
    "a step": (lambda: solver_loop().step(HIDDEN_Q, POSE), r"q\[1\] is masked"),
    "a step's target": (lambda: solver_loop().step(arm().home, HIDDEN_POSE), r"target\[1\] is masked"),
    "measured": (lambda: solver_loop().step(None, POSE, measured=HIDDEN_Q), r"measured\[1\] is masked"),
    "aim": (lambda: solver_loop().aim(HIDDEN_POSE), r"target\[1\] is masked"),
    "a rollout": (lambda: solver_loop().rollout(arm().home, HIDDEN_POSES[:, None]), r"step 2.*\[1\].* nan"),
    "a rollout's start": (lambda: solver_loop().rollout(HIDDEN_Q, np.array([[POSE]])), r"q\[1\] is masked"),
    "a path": (lambda: pz.solve_path(arm(), pz.PoseTask(HAND), HIDDEN_POSES), r"poses\[2\]\[1\].* nan"),
    "a path's start": (
        lambda: pz.solve_path(arm(), pz.PoseTask(HAND), [POSE], start=HIDDEN_Q),
        r"start\[1\] is masked",
    ),
    "jumps": (lambda: pz.jumps(HIDDEN_QS), r"q\[2, 1\] is masked"),
    "forward kinematics": (lambda: arm().pose(HAND, HIDDEN_QS), r"q\[2, 1\] is masked"),
    "a distance": (lambda: arm().distance(HIDDEN_Q), r"q\[1\] is masked"),
    "a joint": (lambda: arm().q(panda_joint2=np.ma.masked), r"panda_joint2 is masked"),
    "limits": (lambda: arm().with_limits({JOINT: (np.ma.masked, 1.0)}), r"lower limit.*\[?.*masked|is masked"),
    "a share of the way": (
        lambda: arm().interpolate(arm().home, arm().home, masked([0.1, 0.2], 1)),
        r"t\[1\] is masked",
    ),
    "a joint that is locked": (lambda: arm().lock(panda_joint2=np.ma.masked), r"panda_joint2 is masked"),
    "rows of a list": (lambda: arm().pose(HAND, [arm().home, HIDDEN_Q]), r"q\[1, 1\] is masked"),
    "accelerations": (lambda: solver_loop(dt=0.1, limits=[pz.AccelerationLimit(HIDDEN_Q)]), r"\[1\] is masked"),
    "an axis": (lambda: build(axis=masked([0, 0, 1], 1)), r"(?s)the axis masked_array.*three finite numbers"),
    "limits of a new joint": (lambda: build(limits=(np.ma.masked, 1.0)), r"a lower limit that is not a number"),
    "a swing": (lambda: pz.SwingTwist(swing=masked([1.0, 1.0], 1)), r"swing is masked_array"),
    "weights": (lambda: pz.PositionTask(HAND, weight=HIDDEN_POINT), r"weight\[1\] is masked"),
}


@pytest.mark.parametrize("case", MASKED)
def test_what_is_masked_is_refused_and_what_is_under_the_mask_not_taken(case: str) -> None:
    call, words = MASKED[case]
    with pytest.raises(ValueError, match=words):
        call()


def test_a_mask_that_hides_nothing_is_none_and_a_masked_row_of_a_batch_is_bad() -> None:
    model, task = arm(), pz.PoseTask(HAND)
    open_q, open_pose = np.ma.array(model.home), np.ma.array(POSE)
    answers = [pz.solve(model, pz.PoseTask(HAND, pose)).q for pose in (open_pose, POSE)]
    np.testing.assert_array_equal(*answers)
    np.testing.assert_array_equal(model.pose(HAND, open_q).array, model.pose(HAND, model.home).array)
    for targets, q0 in ((HIDDEN_POSES, None), ([POSE] * 3, HIDDEN_QS)):
        found = pz.solve_batch(model, task, targets, q0=q0)
        assert [status.name for status in found.status] == ["CONVERGED", "CONVERGED", "BAD_INPUT"]


def test_one_weight_in_a_list_is_for_one_row() -> None:
    assert pz.AxisTask(HAND, weight=[0.5]).weight == 0.5
    loop = pz.Tracker(arm(), [pz.PoseTask(HAND), pz.DampingTask([JOINT], weight=[0.5])], dt=0.1)
    other = pz.Tracker(arm(), [pz.PoseTask(HAND), pz.DampingTask([JOINT], weight=0.5)], dt=0.1)
    target = [arm().pose(HAND, arm().home + 0.1), None]
    np.testing.assert_array_equal(loop.step(arm().home, target), other.step(arm().home, target))
    two = pz.DampingTask([JOINT, "panda_joint2"], weight=[0.5])
    with refused("wrong-shape", "weight"):
        pz.Tracker(arm(), [pz.PoseTask(HAND), two], dt=0.1)


def test_what_was_refused_leaves_the_solver_as_it_was() -> None:
    model = arm()
    used = pz.Solver(model, [pz.PoseTask(HAND), pz.PostureTask()])
    wanted = pz.Solver(model, [pz.PoseTask(HAND), pz.PostureTask()])([POSE, model.home])
    for target, q0 in [([[NAN] * 7, None], None), ([POSE, [NAN] * 7], None), ([POSE, [1.0] * 7], [NAN] * 7)]:
        with refused("not-finite"):
            used(target, q0)
    assert used([POSE, None]).q.tobytes() == wanted.q.tobytes()


# What is accepted ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [-1.0, 1.01, 0.95])
def test_the_sign_and_the_rounding_of_a_target_quaternion_mean_nothing(scale: float) -> None:
    model = arm()
    quaternion = np.array([0.1, 0.9, -0.2, 0.3])
    q = [
        pz.solve(model, pz.PoseTask(HAND, [*POINT, *(k * quaternion / np.linalg.norm(quaternion))])).q
        for k in (1.0, scale)
    ]
    np.testing.assert_allclose(q[1], q[0], atol=1e-9)


@pytest.mark.parametrize("scale", [2.0, 0.5, 1e-11])
def test_seven_numbers_without_a_unit_quaternion_are_no_pose(scale: float) -> None:
    numbers = [*POINT, 0.0, scale, 0.0, 0.0]
    for ask in (lambda: pz.PoseTask(HAND, numbers), lambda: solver(pz.PoseTask(HAND))(numbers)):
        with pytest.raises(
            ValueError, match=r"target is no pose: .* w x y z, and have length .*model\.pose\(frame, q\)"
        ):
            ask()
    assert solver(pz.PoseTask(HAND))(pz.SE3.from_xyz_wxyz(POINT, numbers[3:])).q.shape == (arm().nq,)


@pytest.mark.parametrize("scale", [2.0, 1e-3, 1e6, 1e160, 1e-11])
def test_the_length_of_a_start_quaternion_means_nothing(scale: float) -> None:
    model = brick()
    start = model.sample(seed=1)
    longer = start.copy()
    longer[3:] *= scale
    target = fk(model, "body", model.sample(seed=2))
    one, other = (pz.solve(model, pz.PoseTask("body", target), q0=q0) for q0 in (start, longer))
    assert other.success
    np.testing.assert_allclose(other.q, one.q, atol=1e-9)


def test_the_length_of_a_start_quaternion_that_no_task_moves_is_mended_too() -> None:
    start = np.array([1.0, 2.0, 3.0, 0.0, 5.0, 0.0, 0.0, 0.1])
    solution = pz.solve(wagon(), pz.PositionTask("tip", [0.0, 1.0, 0.0]), q0=start)
    assert solution.success
    np.testing.assert_allclose(solution.q[:7], [1, 2, 3, 0, 1, 0, 0], atol=1e-15)


@pytest.mark.parametrize("make", [list, tuple, lambda q: q.astype(np.float32), lambda q: q.astype(int), np.flip])
def test_any_array_of_numbers_is_a_start(make: Callable[[Any], Any]) -> None:
    """Lists, other kinds of numbers, views that do not lie in one piece."""
    model = arm()
    q0 = make(model.home)
    plain = pz.solve(model, pz.PoseTask(HAND, POSE), q0=[float(x) for x in q0])
    assert pz.solve(model, pz.PoseTask(HAND, POSE), q0=q0).q.tobytes() == plain.q.tobytes()


@pytest.mark.parametrize("given", [[True] * 7, ["0"] * 7, np.zeros(7, dtype=complex), [None] * 7, [10**400] * 7])
def test_what_is_no_number_is_no_start(given: Any) -> None:
    task = pz.PositionTask(HAND, POINT)
    with pytest.raises(pz.ShapeError, match=r"^q0 must be numbers of shape \(7,\), got"):
        pz.solve(arm(), task, q0=given)
    with pytest.raises(pz.ShapeError, match=r"^q must be numbers of shape \(7,\), got"):
        pz.Tracker(arm(), task).step(given)


@pytest.mark.parametrize("task", [pz.PositionTask, pz.PoseTask])
@pytest.mark.parametrize("extreme", [1e-320, 1e-160, 1e-30, 1e30, 1e160, 1e300])
def test_weights_and_tolerances_too_large_or_small_to_compute_with_are_refused_or_do_no_harm(
    task: type[pz.PositionTask] | type[pz.PoseTask], extreme: float
) -> None:
    """A certificate holds whatever the settings: solved means that the true errors are within the tolerances."""
    weight = "weight" if task is pz.PositionTask else "position_weight"
    tolerance = "tolerance" if task is pz.PositionTask else "position_tolerance"
    target = POINT if task is pz.PositionTask else POSE
    model = arm()
    for name in (weight, tolerance):
        refused = ""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                solution = pz.solve(model, task(HAND, target, **{name: extreme}), max_restarts=5)
        except ValueError as error:
            refused = str(error)
        if refused:  # either is right: to refuse it by name, or to answer truly
            assert name in refused
            continue
        assert model.within_limits(solution.q)
        left = float(np.linalg.norm(fk(model, HAND, solution.q)[:3, 3] - POINT))
        limit = extreme if name == tolerance else 1e-6
        assert solution.success <= (left <= 1.001 * limit)
        assert solution.position_error == pytest.approx(left, abs=1e-9)


def test_time_without_end_is_no_limit() -> None:
    assert pz.solve(arm(), pz.PoseTask(HAND, POSE), max_time=INF).success

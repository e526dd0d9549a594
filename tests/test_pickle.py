"""Values travel: to another process by pickle, or as copies, and arrive as they were."""

import copy
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.contents import contents
from support.trees import trees

import poise as pz
from poise.cli.codes import UsageError
from poise.common.array import Array
from poise.common.errors import (
    InvalidType,
    InvalidValue,
    NameNotFound,
    ReferenceNotFound,
    ShapeNotFound,
)
from poise.geometry.shapes import Shape
from poise.methods.criteria import Criterion
from poise.methods.damping import RULES as KINDS_OF_RULES
from poise.viewer.operator.scene import Unreadable

WAYS: dict[str, Callable[[Any], Any]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    **{
        f"protocol {n}": lambda value, n=n: pickle.loads(pickle.dumps(value, n))
        for n in range(pickle.HIGHEST_PROTOCOL + 1)
    },
}
POSE = pz.SE3.from_xyz_rpy([0.1, 0.2, 0.3], [0.4, 0.5, 0.6])
THREE = np.array([0.3, -0.2, 0.7])


def height(q: Array) -> float:
    return float(q[0])


def slope(q: Array, out: Array) -> None:
    out[0] = 1.0


CRITERIA = (
    pz.criteria.RestPosture(q=[0.1, 0.2]),
    pz.criteria.JointCentring(gain=0.3),
    pz.criteria.LimitDistance(),
    pz.criteria.Manipulability(),
    pz.criteria.Clearance(obstacles=[pz.Sphere(THREE, 0.1), pz.Box(POSE, (1, 2, 3))], frames=["hand"]),
    pz.criteria.Potential(height, slope),
)
POSES = [POSE, POSE.rotation, pz.SE3(np.tile(POSE.array, (2, 3, 1))), pz.SO3.from_rpy(np.eye(3))]
TREE = [
    pz.Mimic(joint="elbow", multiplier=-2.0),
    pz.Joint(name="j", kind=pz.JointKind.HELICAL, parent="a", child="b", origin=POSE, pitch=0.1, lower=(-1.0,)),
    pz.Frame(name="tip", link="b", origin=POSE),
    pz.Loop("tip", "hook", "pose"),
    pz.DH(a=1.0, alpha=0.1, d=0.2, limits=(-1.0, 2.0)),
]
SHAPES = [
    pz.Sphere(THREE, 0.5),
    pz.Capsule(THREE, -THREE, 0.1),
    pz.Cylinder(POSE, 0.1, 0.4),
    pz.Box(POSE, THREE + 1.0),
    pz.HalfSpace(THREE, THREE),
    pz.ConvexHull(np.eye(3), 0.1, pose=POSE),
]
TASKS = [
    pz.VectorTask("wrist", "tip", [0.1, 0.0, 0.0], huber=0.02),
    pz.PoseTask("hand", POSE, position_weight=np.array([1.0, 0.0, 2.0]), axes="target", base="base", priority=2),
    pz.PositionTask("hand", THREE, weight=[1, 1, 0]),
    pz.OrientationTask("hand", POSE.rotation),
    pz.AxisTask("hand", THREE, -THREE, weight=0.5),
    pz.LookAtTask("hand", THREE, -THREE),
    pz.LoopTask("hand", "hook", "pose", weight=2.0),
    pz.PlaneTask("hand", THREE, THREE),
    pz.LineTask("hand", THREE, THREE, tolerance=1e-3),
    pz.DistanceTask("hand", 0.3, THREE),
    pz.CentreOfMassTask(THREE, weight=(1, 1, 0), required=False),
    pz.DistanceTask("hand", (0.3, np.inf)),
    pz.RegionTask("hand", pz.Box(POSE, THREE + 1.0), base="base"),
    pz.SupportTask(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), margin=0.1),
    pz.EquilibriumTask({"foot": np.diag([1.0, 1.0, 0.0])}, normals={"foot": (0, 0.1, 1)}, margin=0.01),
    pz.TorqueTask({"left": 20.0}, wrenches={"hand": np.arange(6.0)}, gravity=THREE),
    pz.JointCouplingTask({"left": 1.0, "right": -1.0}, 0.1),
    pz.PostureTask(np.arange(7.0), weight=np.ones(7), tolerance=0.1),
    pz.ConeTask("hand", THREE, -THREE, angle=0.2),
    pz.PoseTask("hand", gain=0.5),
    pz.DampingTask(["left"], weight=3.0),
    pz.JointVelocityTask(["left"], np.ones(1)),
    pz.RollingTask("hand", radius=0.1),
    pz.SwivelTask("arm", "elbow", "hand", THREE, base="base", angle=0.3),
]
RULES = [kind(0.1) if kind is pz.damping.Constant else kind() for kind in KINDS_OF_RULES.values()]
METHODS: list[Any] = [
    *(kind() for kind in pz.methods.METHODS.values()),
    *(
        pz.methods.DampedLeastSquares(null_space=term, max_error=pz.methods.ClampMag(position=0.1, mode="adaptive"))
        for term in CRITERIA
    ),
]
ERRORS = [
    pz.PoiseError("something"),
    pz.ModelError("a link has two parents", file="arm.urdf", line=12),
    pz.ModelError("a link has two parents", file="arm.urdf"),
    pz.ModelError("a link has two parents"),
    NameNotFound("hnad", ["hand", "foot"]),
    pz.FrameNotFound("hnad", ["hand", "foot"], owner="arm"),
    pz.JointNotFound("q", map(str, range(40))),
    ShapeNotFound("bal", ["ball"]),
    ReferenceNotFound("bus", ["buss2004"]),
    pz.ShapeError("q must have shape (7,), got (6,)"),
    pz.MissingExtra("reading xacro", "xacro", "xacro"),
    InvalidValue("not-positive", "dt is 0; it must be a positive number"),
    InvalidType("not-a-model", "model must be a Model, got 3"),
    pz.ModelWarning("arm.urdf: unknown tags"),
    Unreadable("work.npz is no work"),
    UsageError("Unrecognized options: --nope"),
]


def every(kind: type) -> set[type]:
    """A class of poise and all that descend from it, but for those of other libraries' faces, which are theirs."""
    below = [each for each in kind.__subclasses__() if not each.__module__.startswith("poise_compat.")]
    return {kind}.union(*map(every, below))


def named(end: str) -> set[type]:
    return {getattr(pz, name) for name in pz.__all__ if name.endswith(end)}


def test_nothing_that_should_travel_is_left_out() -> None:
    assert {type(task) for task in TASKS} == named("Task") - {pz.Task}
    assert {type(error) for error in ERRORS} == every(pz.PoiseError) | {pz.ModelWarning}
    assert {type(method) for method in METHODS} == set(pz.methods.METHODS.values())
    assert {type(shape) for shape in SHAPES} == set(Shape.__args__)
    assert {type(term) for term in CRITERIA} == set(Criterion.__args__)


ALL = [*POSES, *TREE, *SHAPES, *TASKS, *RULES, *METHODS, *CRITERIA, *ERRORS]


def kind(value: Any) -> str:
    return type(value).__name__


@pytest.mark.parametrize("value", ALL, ids=kind)
def test_a_value_arrives_as_it_was(value: Any) -> None:
    before = contents(value)
    for way, travelled in WAYS.items():
        assert contents(travelled(value)) == before, way


@pytest.mark.parametrize("value", [*POSES, *TASKS], ids=kind)
def test_what_could_not_be_written_to_cannot_be_written_to_where_it_arrives(value: Any) -> None:
    slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
    for way, travelled in WAYS.items():
        arrived = travelled(value)
        arrays = [getattr(arrived, name) for name in slots if isinstance(getattr(arrived, name), np.ndarray)]
        assert not any(array.flags.writeable for array in arrays), way


def test_tasks_that_were_of_one_structure_still_are() -> None:
    for task in TASKS:
        assert pickle.loads(pickle.dumps(task)).structure == task.structure


def test_an_error_keeps_what_was_noted_on_it() -> None:
    error = pz.FrameNotFound("hnad", ["hand"])
    error.add_note("while reading the second arm")
    assert pickle.loads(pickle.dumps(error)).__notes__ == ["while reading the second arm"]


# Models ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["panda", "double_y", "talos_full"])
def test_a_model_arrives_as_it_was(name: str) -> None:
    model = pz.load(name, base="floating" if name == "talos_full" else "fixed")
    before = contents(model)
    for way, travelled in WAYS.items():
        assert contents(travelled(model)) == before, way


@settings(max_examples=40)
@given(st.data())
def test_a_model_that_arrived_moves_as_the_first_does(data: st.DataObject) -> None:
    model = data.draw(trees())
    arrived = WAYS[data.draw(st.sampled_from(list(WAYS)))](model)
    assert contents(arrived) == contents(model)
    q = model.sample(3, seed=data.draw(st.integers(0, 99)))
    for frame in model.frames:
        np.testing.assert_array_equal(arrived.pose(frame, q).array, model.pose(frame, q).array)


def test_a_pickled_model_holds_nothing_that_was_prepared() -> None:
    model = pz.load("panda")
    fresh = pickle.dumps(model)
    pz.solve(model, pz.PoseTask("panda_hand", model.pose("panda_hand", model.home)))
    model.jacobian("panda_hand", model.home)
    assert pickle.dumps(model) == fresh
    arrived = pickle.loads(fresh)
    assert not arrived.queries
    assert vars(arrived).keys() <= vars(model).keys()


def test_a_pickled_model_is_small() -> None:
    """A few numbers and names for each joint."""
    model = pz.load("panda")
    assert len(pickle.dumps(model)) < 600 * len(model.joints)


# Other processes -------------------------------------------------------------------------------------------------

SCRIPT = """
import multiprocessing
import pickle
import sys

import poise as pz


def throw(error):
    raise error


def home(model):
    return model, model.home, [model.frame(name) for name in model.frames]


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        errors, model = pickle.load(file)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        for error in errors:
            try:
                pool.map(throw, [error])
            except type(error) as arrived:
                assert str(arrived) == str(error) and arrived.args == error.args
                assert {**vars(error), **vars(arrived)} == vars(arrived)
                print(type(arrived).__name__)
        (back, start, _), = pool.map(home, [model])
        assert (start == model.home).all() and back.links == model.links
"""


def test_errors_and_models_pass_between_processes(tmp_path: Path) -> None:
    script, values = tmp_path / "pool.py", tmp_path / "values.pickle"
    script.write_text(SCRIPT)
    values.write_bytes(pickle.dumps((ERRORS, pz.load("panda"))))
    run = subprocess.run([sys.executable, script, values], timeout=120, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == [type(error).__name__ for error in ERRORS]

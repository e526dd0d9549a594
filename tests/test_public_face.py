"""The names that poise promises, and the conventions of CONVENTIONS.md that a user could trip over."""

import dataclasses
import inspect
import math
import pydoc
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from support.public import named, public

import poise as pz
from poise import own
from poise.kernels.machine.library import SEAL, place

PUBLIC = list(public())


# Names -----------------------------------------------------------------------------------------------------------


def test_every_name_is_there() -> None:
    assert [name for name in PUBLIC if named(name) is None] == []


def test_the_top_is_short_and_completes() -> None:
    assert pz.__all__ == dir(pz)
    assert len(pz.__all__) <= 105
    assert not set(pz.__all__) & {name.split(".")[1] for name in PUBLIC if "." in name}


@pytest.mark.parametrize("first", ["Solver", "solve", "Solution"])
def test_solve_is_the_function_whatever_was_touched_first(first: str) -> None:
    code = f"import poise as pz; pz.{first}; import poise.io; assert callable(pz.solve) and callable(pz.load)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_what_kernels_of_ones_own_are_written_with_is_on_their_page() -> None:
    page = (Path(__file__).parents[1] / "docs" / "methods" / "own.md").read_text()
    names = {name for name in dir(own) if not name.startswith("_")} - {"Any", "lanes"}
    assert {name for name in names if not re.search(rf"`{name}\b", page)} == set()


def test_pages_send_nobody_to_what_is_no_promise() -> None:
    pages = (Path(__file__).parents[1] / "docs").rglob("*.md")
    inner = re.compile(r"^(?:from|import|\.\. auto\w+::) poise\.(?:kernels|solving|common)\b", re.MULTILINE)
    assert {page.name for page in pages if inner.search(page.read_text())} == set()


def told() -> Iterator[tuple[str, object]]:
    """All that is public, and what classes have, by name."""
    for name in PUBLIC:
        thing = named(name)
        yield name, thing
        own = vars(thing) if inspect.isclass(thing) else {}
        for key, value in own.items():
            if not key.startswith("_") and (
                callable(value) or isinstance(value, property | classmethod | staticmethod)
            ):
                yield f"{name}.{key}", getattr(thing, key)


def test_everything_public_says_what_it_is() -> None:
    assert [name for name, thing in told() if not inspect.getdoc(thing)] == []


@pytest.mark.parametrize(
    ("name", "near"),
    [("solev", "solve"), ("posetask", "PoseTask"), ("Postion_Task", "PositionTask"), ("scal", "scale")],
)
def test_a_name_that_is_not_there_gets_the_nearest_that_is(name: str, near: str) -> None:
    with pytest.raises(AttributeError, match=f"module 'poise' has no attribute '{name}'; did you mean .*'{near}'"):
        getattr(pz, name)


@pytest.mark.parametrize("name", ["xyzzy", "__wrapped__", "_solve"])
def test_a_name_like_no_other_gets_none(name: str) -> None:
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'$"):
        getattr(pz, name)


@pytest.mark.parametrize(
    ("name", "has"),
    [
        ("io", "poise.load"),
        ("solving", r"poise.Solver, poise.solve\b"),
        ("geometry", "poise.Box"),
        ("bench", "poise.compare"),
        ("model", "poise.Model,"),
    ],
)
def test_of_an_inner_module_it_is_said_where_what_it_has_is(name: str, has: str) -> None:
    get = pz.__getattr__  # what is imported as a part of the package is an attribute of it by then
    with pytest.raises(AttributeError, match=f"no attribute '{name}'; what it has is .*{has}"):
        get(name)


@pytest.mark.parametrize("name", ["robot", "Robot", "urdf", "urdfs"])
def test_nothing_far_fetched_is_suggested(name: str) -> None:
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'$"):
        pz.__getattr__(name)


def signatures() -> Iterator[tuple[str, str]]:
    for name in PUBLIC:
        thing = named(name)
        inner = [k for k in vars(thing) if k == "__call__" or not k.startswith("_")] if inspect.isclass(thing) else []
        for each, what in [(name, thing), *((f"{name}.{key}", getattr(thing, key)) for key in inner)]:
            with suppress(TypeError, ValueError):  # no function
                yield each, str(inspect.signature(what))


@pytest.mark.parametrize("name", [name for name in pz.__all__ if name == "Task" or name.endswith("Task")])
def test_help_of_a_task_has_what_one_states_and_nothing_inner(name: str) -> None:
    kind = getattr(pz, name)
    fields = {field.name for field in dataclasses.fields(kind) if field.init}
    own = {"rows", "unit", "lanes", "inequality", "vector"}
    assert {each for each in dir(kind) if not each.startswith("_")} <= fields | own
    shown = pydoc.render_doc(kind, renderer=pydoc.plaintext)
    for inner in ("routine", "goals_on", "judged", "effector", "blocks", "structure"):
        assert f"|  {inner}" not in shown


def test_help_of_a_task_of_ones_own_has_what_is_written_there() -> None:
    @dataclasses.dataclass(frozen=True, eq=False, repr=False)
    class Mine(pz.Task):
        frame: str = "hand"
        rows = 2

        def handy(self) -> str:
            """Stays."""
            return self.frame

    assert {"handy", "frame", "rows", "weight"} <= set(dir(Mine))


def test_what_pages_say_of_a_task_is_in_its_help() -> None:
    pages = "\n".join(page.read_text() for page in (Path(__file__).parents[1] / "docs").rglob("*.md"))
    told = re.findall(r"^\.\. autoclass:: poise\.(\w+Task)\n   :members: (\w.*)", pages, re.MULTILINE)
    assert told
    for name, members in told:
        kind = getattr(pz, name)
        assert set(members.split(", ")) <= {*dir(kind), *(field.name for field in dataclasses.fields(kind))}


def test_what_help_shows_of_arrays_is_short() -> None:
    found = dict(signatures())
    assert "q0: Optional[ArrayLike]" in found["solve"] or "q0: ArrayLike | None" in found["solve"]
    assert found["Model.pose"].startswith("(self, frame: str, q: ArrayLike)")
    for name, signature in found.items():
        assert "numpy._typing" not in signature, name
        assert "float64" not in signature, name


def test_a_task_completes_to_its_fields() -> None:
    shared = ["base", "frame", "gain", "offset", "priority", "required", "target"]
    assert dir(pz.PositionTask("hand")) == [*shared, "tolerance", "weight"]
    assert dir(pz.PostureTask()) == ["target", "tolerance", "weight"]


def test_importing_costs_nothing() -> None:
    heavy = ["numpy", "numba", "mujoco", "xacro", "tyro", "rich", "defusedxml", "matplotlib", "pyarrow"]
    code = f"import sys, poise; print(*sorted(sys.modules.keys() & set({heavy})))"
    run = subprocess.run([sys.executable, "-c", code], check=True, timeout=60, capture_output=True, text=True)
    assert run.stdout.strip() == ""


FIRST_ANSWER = """
import sys, numpy
before = set(sys.modules)
import poise as pz
from poise.kernels.machine import jit

class Everything:  # a library that has all that it is asked for, which finds every start solved
    address = 0
    get = lambda self, symbol: self
    function = lambda self: lambda *given: 0

jit.library = Everything
arm = pz.load({robot!r})
goal = pz.PoseTask(arm.tip, target=pz.SE3.from_xyz_rpy([0.4, 0.1, 0.5], [3.14159, 0.0, 0.0]))
assert pz.solve(arm, goal).success
print(*sorted(set(sys.modules) - before))
"""
ONE_JOINT = (
    '<robot name="one"><link name="base"/><link name="tip"/><joint name="turn" type="continuous">'
    '<parent link="base"/><child link="tip"/></joint></robot>'
)
UNUSED = {
    "numba", "logging", "html", "json", "csv", "difflib", "hashlib", "subprocess", "concurrent", "http", "ssl", "email",
    "urllib.request", "xml.sax", "numpy.random",
    "poise.methods", "poise.solving.methods.bound_method", "poise.solving.requirements.inequalities",
    "poise.solving.requirements.collision", "poise.model.scene",
    "poise.kernels.solver", "poise.kernels.closed_form", "poise.kernels.collision",
    "poise.kernels.requirements", "poise.kernels.compiling",
}  # fmt: skip


@pytest.mark.parametrize("robot", ["panda", ONE_JOINT], ids=["by name", "URDF"])
def test_a_first_answer_imports_what_it_uses_alone(robot: str) -> None:
    code = FIRST_ANSWER.format(robot=robot)
    run = subprocess.run([sys.executable, "-c", code], check=True, timeout=120, capture_output=True, text=True)
    loaded = set(run.stdout.split())
    assert "poise.solving.search.search" in loaded
    # Of a clone's library it is looked at whether it fits the text.
    known = {"hashlib"} if place().is_file() and not SEAL.is_file() else set()
    assert not (loaded & UNUSED) - known


def test_every_error_is_a_poise_error() -> None:
    classes = [named(name) for name in PUBLIC if isinstance(named(name), type)]
    errors = [c for c in classes if issubclass(c, Exception) and not issubclass(c, Warning)]
    assert len(errors) == 9
    assert all(issubclass(error, pz.PoiseError) for error in errors)


# Conventions -----------------------------------------------------------------------------------------------------


def test_poses_are_position_then_quaternion_scalar_first() -> None:
    quarter = [math.sqrt(0.5), 0, 0, math.sqrt(0.5)]
    pose = pz.SE3.from_xyz_rpy([1, 2, 3], [0, 0, math.pi / 2])
    assert np.allclose(pose.array, [1, 2, 3, *quarter])
    assert np.allclose(pz.SO3.from_xyzw([0, 0, quarter[3], quarter[0]]).wxyz, quarter)


def test_roll_pitch_yaw_turn_about_fixed_axes() -> None:
    roll, pitch, yaw = 0.3, -0.5, 0.7
    x, y, z = (pz.SO3.from_rotvec(v) for v in np.diag([roll, pitch, yaw]))
    assert np.allclose(pz.SO3.from_rpy([roll, pitch, yaw]).matrix(), (z @ y @ x).matrix())


def test_poses_compose_from_left_to_right() -> None:
    a_b = pz.SE3.from_xyz_rpy([1, 0, 0], [0, 0, math.pi / 2])
    b_c = pz.SE3.from_parts([1, 0, 0])
    assert np.allclose((a_b @ b_c).xyz, [1, 1, 0])
    assert np.allclose(a_b.act([1, 0, 0]), [1, 1, 0])


def test_twists_are_linear_then_angular() -> None:
    assert np.allclose(pz.SE3.from_parts([0.1, 0, 0]).log(), [0.1, 0, 0, 0, 0, 0])
    assert np.allclose(pz.SE3.from_rotvec([0, 0, 0], [0, 0, 0.2]).log(), [0, 0, 0, 0, 0, 0.2])


def floating() -> pz.Model:
    builder = pz.ModelBuilder("brick")
    builder.link("brick")
    return builder.build(base="floating")


def test_a_floating_base_moves_along_the_axes_of_the_world() -> None:
    brick = floating()
    turned = pz.SE3.from_xyz_rpy([0, 0, 0], [0, 0, math.pi / 2])
    moved = pz.SE3(brick.integrate(turned.array, [0.5, 0, 0, 0.1, 0, 0]))
    assert np.allclose(moved.xyz, [0.5, 0, 0])
    assert np.allclose((moved.rotation @ turned.rotation.inverse()).log(), [0.1, 0, 0])


def test_q_has_the_order_of_the_file_and_no_fixed_joint_or_mimic() -> None:
    b = pz.ModelBuilder("order")
    b.joint("z", "revolute", parent="base", child="one")
    b.joint("weld", "fixed", parent="one", child="two")
    b.joint("a", "prismatic", parent="two", child="three")
    b.joint("shadow", "revolute", parent="two", child="four", mimic=pz.Mimic(joint="z", multiplier=2.0))
    model = b.build()
    assert model.joint_names == ("z", "a")
    assert model.named([0.1, 0.2]) == {"z": 0.1, "a": 0.2, "shadow": 0.2}


def test_jacobian_rows_are_linear_then_angular_along_the_world() -> None:
    b = pz.ModelBuilder("turn")
    b.joint("turn", "revolute", parent="base", child="arm")
    b.frame("tip", link="arm", origin=pz.SE3.from_parts([1, 0, 0]))
    model = b.build()
    quarter = [math.pi / 2]
    assert np.allclose(model.jacobian("tip", quarter)[:, 0], [-1, 0, 0, 0, 0, 1])
    assert np.allclose(model.jacobian("tip", quarter, reference="local")[:, 0], [0, 1, 0, 0, 0, 1])
    assert np.allclose(model.jacobian("tip", quarter, reference="world")[:, 0], [0, 0, 0, 0, 0, 1])

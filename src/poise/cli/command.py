"""What the settings of every command have in common."""

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, Union, dataclass_transform

from tyro.conf import Positional, arg
from tyro.constructors import PrimitiveConstructorSpec

if TYPE_CHECKING:
    from poise.cli.task_file import TaskFile
    from poise.model.model import Model
    from poise.tasks.pose import PoseTask, PositionTask

Base = Literal["fixed", "planar", "floating"]
"""As `poise.model.builder.Base`, whose module would import NumPy before the help is printed."""
_Settings = TypeVar("_Settings")


@dataclass_transform(kw_only_default=True, frozen_default=True)
def command(kind: type[_Settings]) -> type[_Settings]:
    """Make a class the settings of a command: a frozen dataclass, of whose fields tyro makes options.

    Its help names the defaults that tell something: not None, nothing, yes and no, of which the text of the field says
    what they mean.
    """
    for name, hint in kind.__annotations__.items():
        default, metadata = getattr(kind, name, 0), getattr(hint, "__metadata__", ())
        annotation = hint.__origin__ if metadata else hint
        if default is None or default == "" or default == () or isinstance(default, bool):
            metadata = (*metadata, arg(help_behavior_hint=""))
        if default is None:
            # With None first tyro sees that the default is right, without what it imports to look into tuples.
            annotation = Union[None, annotation]  # noqa: UP007
        kind.__annotations__[name] = Annotated[(annotation, *metadata)] if metadata else annotation
    return dataclasses.dataclass(frozen=True, kw_only=True)(kind)


def numbers(metavar: str) -> PrimitiveConstructorSpec[Any]:
    """For an option that takes as many numbers as `metavar` has words, where tyro by itself would take all words."""
    return PrimitiveConstructorSpec(
        nargs=len(metavar.split()),
        metavar=metavar,
        instance_from_str=lambda words: tuple(map(float, words)),
        is_instance=lambda value: isinstance(value, tuple),
        str_from_instance=lambda value: [str(number) for number in value or ()],
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class Answer:
    """What a command found, when all is done; how it is told is the same for all of them."""

    facts: dict[str, Any]
    """For programs, a line of JSON: metres, radians and seconds."""
    show: Callable[[], None]
    """Prints the same for people."""
    explanation: str
    """What was done, why not if it was not, and how the answer is read."""
    code: int = 0
    """The exit code: 2 for what was not solved."""


@command
class Answers:
    """What all commands have in common: how they tell their answer."""

    json: bool = False
    """Print one line of JSON, also of an error."""
    explain: bool = False
    """Add what was done, or why it failed, and how to read the answer."""

    def run(self) -> Answer:
        """Do all of it, and say what was found."""
        raise NotImplementedError


@command
class Writes(Answers):
    """What commands that write files have in common."""

    force: bool = False
    """Write over files that are there."""


@command
class OfRobot(Answers):
    """What commands that lead a frame of a robot have in common."""

    robot: Positional[str]
    """A known name (panda, ur5e ...) or a file."""
    frame: str | None = None
    """The frame to lead; left out, the end of the longest chain."""
    limits: bool = True
    """Ignore the joint limits, which are kept otherwise."""
    base: Base = "fixed"
    """How the robot stands in the world."""


@command
class MovesSome(OfRobot):
    """Those of commands that may move some joints alone, or some rather than others."""

    use: Annotated[tuple[str, ...] | None, arg(metavar="NAME ...")] = None
    """Joints that may move, by their names, by groups, or by frames, whose joints are all that carry them; left out,
    all."""
    still: Annotated[tuple[str, ...] | None, arg(metavar="NAME ...")] = None
    """Joints that stand still, likewise."""
    joint_costs: Annotated[tuple[str, ...] | None, arg(metavar="NAME=COST ...")] = None
    """What motion of joints costs beside that of the others, which cost 1."""

    def model(self, file: "TaskFile | None" = None) -> "Model":
        """The robot, of which the joints move that may, by what is said here and in a file of tasks.

        Raises as `poise.load` and `poise.solve`, and ValueError for an option without names, a cost that is no number,
        and what is said here and in the file.
        """
        from poise.io import load
        from poise.solving.arguments.moving import moving

        robot, said = load(self.robot, base=self.base), self._said()
        if file is not None:
            said |= file.moving(robot, said)
        return moving(robot, said.get("use"), said.get("still"), said.get("joint_costs"))

    def _said(self) -> dict[str, Any]:
        """What the options say, by the words of the library."""
        from poise.cli.start import named, number, pairs

        said: dict[str, Any] = {}
        for word, example in (("use", "panda_joint1"), ("still", "panda_joint1"), ("joint_costs", "panda_joint1=10")):
            given = getattr(self, word)
            if given is not None:
                said[word] = named(given, f"--{word.replace('_', '-')}", example)
        if "joint_costs" in said:
            stated = pairs(said["joint_costs"], "--joint-costs")
            said["joint_costs"] = {name: number(cost, f"--joint-costs {name}") for name, cost in stated.items()}
        return said


@command
class ToTargets(OfRobot):
    """Those of commands that solve for poses or places of a frame."""

    seed: int = 0
    """Seed of all that is random."""
    position_tolerance: float = 1e-6
    """Largest distance from a target position [m]."""
    rotation_tolerance: float = 1e-6
    """Largest angle from a target rotation [rad]."""

    def task(self, model: "Model", *, turns: bool) -> "PoseTask | PositionTask":
        """The task of the frame, and whether it has a rotation."""
        from poise.tasks.pose import PoseTask, PositionTask

        frame = self.frame or model.tip
        if not turns:
            return PositionTask(frame, tolerance=self.position_tolerance)
        return PoseTask(frame, position_tolerance=self.position_tolerance, rotation_tolerance=self.rotation_tolerance)

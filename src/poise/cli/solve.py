"""`poise solve`: one goal for one frame, or the tasks of a file."""

import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import arg

import poise as pz
from poise.cli.command import Answer, MovesSome, ToTargets, command, numbers
from poise.common.errors import InvalidValue

if TYPE_CHECKING:
    from poise.cli.task_file import TaskFile
    from poise.model.model import Model
    from poise.solving.answers.solution import Solution
    from poise.tasks.error import TaskError


@command
class Solve(MovesSome, ToTargets):
    """Find a configuration that brings a frame to a position, a rotation or both, or fulfils tasks, and certify it.

    Exit code 0 when solved, 2 when not, 1 for an error.
    """

    xyz: Annotated[tuple[float, float, float] | None, numbers("X Y Z")] = None
    """Target position in the world [m]."""
    rpy: Annotated[tuple[float, float, float] | None, numbers("R P Y")] = None
    """Target roll, pitch, yaw about the world's fixed axes [rad]."""
    wxyz: Annotated[tuple[float, float, float, float] | None, numbers("W X Y Z")] = None
    """Target quaternion, scalar first."""
    tasks: Annotated[Path | None, arg(metavar="FILE")] = None
    """More tasks, from a file: .toml or .json, as the documents show it."""
    posture: Annotated[tuple[str, ...] | None, arg(metavar="NAME|Q ...")] = None
    """A posture to stay near, as far as the tasks leave the choice: its name, or nq numbers [rad or m]."""
    position_weight: Annotated[tuple[float, ...] | None, arg(metavar="W ...")] = None
    """Weight of the position [1/m]: one number, or one for each of x, y, z; 0 leaves that direction free."""
    rotation_weight: Annotated[tuple[float, ...] | None, arg(metavar="W ...")] = None
    """Weight of the rotation [1/rad], likewise."""
    q0: Annotated[tuple[str, ...] | None, arg(metavar="NAME|Q ...")] = None
    """Where to start: the name of a posture, or nq numbers [rad or m]; left out, the robot's home."""
    method: str | None = None
    """Short name of a method, such as lm; left out, the solver's own way."""
    max_restarts: int | None = None
    """Random starts after the first, at most; left out, as many as a solve takes."""

    def run(self) -> Answer:
        """Load and solve."""
        from poise.cli.start import start
        from poise.cli.task_file import read_tasks

        file = None if self.tasks is None else read_tasks(self.tasks)
        model = self.model(file)
        tasks = self._tasks(model, file)
        q0 = start(model, self.q0, limits=self.limits)
        # The first solve loads the kernels, or compiles them; the same solve again tells what a solve takes.
        begin = time.perf_counter()
        solver = pz.Solver(
            model, tasks, method=self.method, limits=self.limits, seed=self.seed, max_restarts=self.max_restarts
        )
        solver(q0=q0)
        first_time = time.perf_counter() - begin
        solution = solver(q0=q0)
        return Answer(
            facts=_facts(model, tasks, solution, first_time),
            show=lambda: _print(model, solution, first_time),
            explanation=f"{solution.explain()} What q holds are the joints in the file's order [rad or m]; errors are "
            "measured by forward kinematics at that q [m and rad], and each task has its own.",
            code=0 if solution.success else 2,
        )

    def _tasks(self, model: "Model", file: "TaskFile | None") -> "list[pz.Task]":
        """What to solve for: the tasks of the file, that of the options, the posture."""
        from poise.cli.start import configuration

        tasks: list[pz.Task] = [] if file is None else file.tasks(model)
        for i, task in enumerate(tasks):
            if not task.aimed:
                raise InvalidValue(
                    "no-target", f"{self.tasks}: tasks[{i}] ({type(task).__name__}) has no target, which solve needs"
                )
        own = self._own(model)
        if own is not None:
            tasks.append(own)
        if self.posture is not None:
            tasks.append(pz.PostureTask(configuration(model, self.posture, "--posture")))
        if not tasks:
            frame = self.frame or model.tip
            raise InvalidValue(
                "no-target",
                f"where should {frame!r} go? give --xyz X Y Z, --rpy R P Y or --wxyz W X Y Z, or --tasks FILE",
            )
        return tasks

    def _own(self, model: "Model") -> "pz.Task | None":
        """The task of the options, if they state one."""
        if self.rpy is not None and self.wxyz is not None:
            raise InvalidValue("conflict", "give the rotation once: --rpy or --wxyz")
        rotation = None
        if self.rpy is not None:
            rotation = self._rotation(self.rpy)
        elif self.wxyz is not None:
            rotation = pz.SO3(wxyz=self.wxyz)
        frame = self.frame or model.tip
        place_weight, turn_weight = _weight(self.position_weight), _weight(self.rotation_weight)
        if self.xyz is not None and rotation is not None:
            return pz.PoseTask(
                frame,
                pz.SE3.from_parts(self.xyz, rotation),
                position_weight=place_weight,
                rotation_weight=turn_weight,
                position_tolerance=self.position_tolerance,
                rotation_tolerance=self.rotation_tolerance,
            )
        if self.xyz is not None:
            self._refuse("rotation_weight", "--rpy or --wxyz")
            return pz.PositionTask(frame, self.xyz, weight=place_weight, tolerance=self.position_tolerance)
        self._refuse("position_weight", "--xyz")
        if rotation is not None:
            return pz.OrientationTask(frame, rotation, weight=turn_weight, tolerance=self.rotation_tolerance)
        self._refuse("rotation_weight", "--rpy or --wxyz")
        if self.frame is not None and (self.tasks is not None or self.posture is not None):
            raise InvalidValue(
                "no-target", f"--frame {self.frame} has no target: add --xyz, --rpy or --wxyz, or leave it out"
            )
        return None

    def _rotation(self, rpy: tuple[float, float, float]) -> "pz.SO3":
        """The rotation of --rpy; warns of what can hardly be radians, with what they would be."""
        import numpy as np

        from poise.quaternions import rpy_quaternion
        from poise.spatial import ask_for_degrees

        ask_for_degrees("--rpy", rpy, mend=f"write {' '.join(f'{math.radians(angle):.6g}' for angle in rpy)}")
        return pz.SO3(wxyz=rpy_quaternion(np.array(rpy)))

    def _refuse(self, name: str, wanted: str) -> None:
        """Raises ValueError if an option weighs what there is none of."""
        if getattr(self, name) is not None:
            raise InvalidValue("needs", f"--{name.replace('_', '-')} weighs the target of {wanted}, which is not given")


def _weight(numbers: tuple[float, ...] | None) -> "float | tuple[float, ...]":
    return 1.0 if not numbers else numbers[0] if len(numbers) == 1 else numbers


def _facts(model: "Model", tasks: "list[pz.Task]", solution: "Solution", first_time: float) -> dict[str, Any]:
    """The answer as JSON has it."""
    errors = solution.errors
    return {
        "robot": model.name,
        "frame": next((frame for task in tasks if isinstance(frame := getattr(task, "frame", None), str)), None),
        "success": solution.success,
        "status": solution.status.name,
        "explanation": solution.explain(),
        "q": solution.q,
        "joints": solution.named(),
        "position_error": max((e.position for e in errors if e.position is not None), default=None),
        "rotation_error": max((e.rotation for e in errors if e.rotation is not None), default=None),
        "tasks": [
            {
                "task": error.task,
                "position_error": error.position,
                "rotation_error": error.rotation,
                "residual": error.residual,
                "posture_error": error.posture,
            }
            for error in errors
        ],
        "method": getattr(solution.method, "name", None),
        "iterations": solution.iterations,
        "restarts": solution.restarts,
        "start": solution.start,
        "distance": solution.distance,
        "time": solution.time,
        "first_time": first_time,
    }


def _print(model: "Model", solution: "Solution", first_time: float) -> None:
    from poise.cli.output import say
    from poise.solving.requirements.outcome import duration

    _print_joints(model, solution)
    say("")
    say("\n".join(_verdict(solution)), style="green" if solution.success else "red")
    if not solution.success:
        say(solution.explain())
    usual, first = duration(solution.time), duration(first_time)
    say(f"{usual} a solve; the first, which loads or compiles the kernels, took {first}")


def _print_joints(model: "Model", solution: "Solution") -> None:
    from poise.cli.output import print_table
    from poise.model.units import units

    unit, rows = units(model), []
    for i, (name, position) in enumerate(solution.named().items()):
        lower, upper = (model.lower[i], model.upper[i]) if i < model.nq else _own_limits(model, name)
        rows.append([name, f"{position:z.6f}", f"{lower:.4f}", f"{upper:.4f}", unit[name]])
    print_table(["joint", "position", "lower", "upper", "unit"], rows, numbers=("position", "lower", "upper"))


def _own_limits(model: "Model", name: str) -> tuple[float, float]:
    joint = model.joint(name)
    return joint.lower[0], joint.upper[0]


def _verdict(solution: "Solution") -> list[str]:
    """How it ended, and what is left of each task."""
    steps = f"{solution.iterations} iterations from {solution.origin}"
    if len(solution.errors) == 1:
        return [f"{solution.status.name}: {_left(solution.errors[0])}, by forward kinematics; {steps}"]
    lines = [f"  {_left(error)}" for error in solution.errors]
    return [f"{solution.status.name}, by forward kinematics; {steps}:", *lines]


def _left(error: "TaskError") -> str:
    """How far a task is from its target, in words."""
    pairs = ((error.position, " m"), (error.rotation, " rad"), (error.residual, ""), (error.posture, " rad or m"))
    errors = [f"{size:.3g}{unit}" for size, unit in pairs if size is not None]
    return f"{error.task} is {' and '.join(errors)} from its target"

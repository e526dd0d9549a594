"""`poise solve`: one goal for one frame."""

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from tyro.conf import Positional, arg

import poise as pz

if TYPE_CHECKING:
    from rich.table import Table

    from poise.model.model import Model
    from poise.solving.solution import Solution
    from poise.tasks.error import TaskError

Base = Literal["fixed", "planar", "floating"]
"""As `poise.model.builder.Base`, whose module would import NumPy before the help is printed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Solve:
    """Find a configuration that brings a frame to a position, a rotation or both, and certify it."""

    robot: Positional[str]
    """A known name (panda, ur5e ...) or a file."""
    frame: str | None = None
    """The frame to bring there; left out, the end of the longest chain."""
    xyz: Annotated[tuple[float, float, float] | None, arg(metavar="X Y Z")] = None
    """Target position in the world [m]."""
    rpy: Annotated[tuple[float, float, float] | None, arg(metavar="R P Y")] = None
    """Target roll, pitch, yaw about the world's fixed axes [rad]."""
    wxyz: Annotated[tuple[float, float, float, float] | None, arg(metavar="W X Y Z")] = None
    """Target quaternion, scalar first."""
    q0: Annotated[tuple[float, ...] | None, arg(metavar="Q ...")] = None
    """Configuration to start from, nq numbers [rad or m]; left out, the robot's home."""
    seed: int = 0
    """Seed of the restarts."""
    base: Base = "fixed"
    """How the robot stands in the world."""
    position_tolerance: float = 1e-6
    """Largest distance from the target position [m]."""
    rotation_tolerance: float = 1e-6
    """Largest angle from the target rotation [rad]."""
    json: bool = False
    """Print one line of JSON."""

    def run(self) -> int:
        """Load, solve and print."""
        from poise.cli.output import console, print_json

        model = pz.load(self.robot, base=self.base)
        frame = self.frame or model.tip
        task = self._task(frame)
        # The first solve loads the kernels, or compiles them; the same solve again tells what a solve takes.
        begin = time.perf_counter()
        solver = pz.Solver(model, task, seed=self.seed)
        solver(q0=self.q0)
        first_time = time.perf_counter() - begin
        solution = solver(q0=self.q0)
        error = solution.errors[0]  # those of loops come after
        if self.json:
            print_json(
                {
                    "robot": model.name,
                    "frame": frame,
                    "success": solution.success,
                    "status": solution.status.name,
                    "explanation": solution.explain(),
                    "q": solution.q,
                    "joints": solution.named(),
                    "position_error": error.position,
                    "rotation_error": error.rotation,
                    "iterations": solution.iterations,
                    "restarts": solution.restarts,
                    "start": solution.start,
                    "distance": solution.distance,
                    "time": solution.time,
                    "first_time": first_time,
                }
            )
        else:
            out = console()
            out.print(_joints(model, solution))
            out.print()
            out.print(_verdict(frame, solution, error), style="green" if solution.success else "red")
            if not solution.success:
                out.print(solution.explain())
            from poise.solving.outcome import duration

            usual, first = duration(solution.time), duration(first_time)
            out.print(f"{usual} a solve; the first, which loads or compiles the kernels, took {first}")
        return 0 if solution.success else 2

    def _task(self, frame: str) -> "pz.PoseTask | pz.PositionTask | pz.OrientationTask":
        if self.rpy is not None and self.wxyz is not None:
            raise ValueError("give the rotation once: --rpy or --wxyz")
        rotation = None
        if self.rpy is not None:
            rotation = pz.SO3.from_rpy(self.rpy)
        elif self.wxyz is not None:
            rotation = pz.SO3(wxyz=self.wxyz)
        if self.xyz is not None and rotation is not None:
            return pz.PoseTask(
                frame,
                pz.SE3.from_parts(self.xyz, rotation),
                position_tolerance=self.position_tolerance,
                rotation_tolerance=self.rotation_tolerance,
            )
        if self.xyz is not None:
            return pz.PositionTask(frame, self.xyz, tolerance=self.position_tolerance)
        if rotation is not None:
            return pz.OrientationTask(frame, rotation, tolerance=self.rotation_tolerance)
        raise ValueError(f"where should {frame!r} go? give --xyz X Y Z, --rpy R P Y or --wxyz W X Y Z")


def _joints(model: "Model", solution: "Solution") -> "Table":
    from poise.cli.output import table
    from poise.model.units import units

    out = table("joint", "position", "lower", "upper", "unit", numbers=("position", "lower", "upper"))
    unit = units(model)
    for i, (name, position) in enumerate(solution.named().items()):
        lower, upper = (model.lower[i], model.upper[i]) if i < model.nq else _own_limits(model, name)
        out.add_row(name, f"{position:.6f}", f"{lower:.4f}", f"{upper:.4f}", unit[name])
    return out


def _own_limits(model: "Model", name: str) -> tuple[float, float]:
    joint = model.joint(name)
    return joint.lower[0], joint.upper[0]


def _verdict(frame: str, solution: "Solution", error: "TaskError") -> str:
    pairs = ((error.position, "m"), (error.rotation, "rad"))
    errors = [f"{size:.2g} {unit}" for size, unit in pairs if size is not None]
    return (
        f"{solution.status.name}: {frame} is {' and '.join(errors)} from its target, by forward kinematics; "
        f"{solution.iterations} iterations from {solution.origin}"
    )

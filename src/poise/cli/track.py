"""`poise track`: one step of a robot for every row of a file of targets."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tyro.conf import Positional, arg

import poise as pz
from poise.cli.command import Answer, MovesSome, Writes, command
from poise.common.errors import InvalidValue

if TYPE_CHECKING:
    from poise.cli.task_file import TaskFile
    from poise.common.array import Array
    from poise.model.model import Model
    from poise.tasks.base import Task


@command
class Track(Writes, MovesSome):
    """Follow a file of targets in time: a step every --dt seconds, within the limits of joints and of their speeds.

    Columns of targets: x y z [m], with qw qx qy qz or roll pitch yaw [rad] for a pose; each row is a step.  With a file
    of tasks, the columns lead the one task that has no target there, and the others keep theirs.  Exit code 0 when
    every step was taken, however far the targets were, 2 when the numbers of one came to be none, so that the robot
    stayed, and 1 for an error, such as a target that is no finite number.
    """

    targets: Positional[Path]
    """File of targets: .csv or .parquet."""
    dt: float
    """Seconds from each target to the next."""
    out: Annotated[Path | None, arg(aliases=["-o"])] = None
    """File for the joints, .csv or .parquet: a row a target, with the time at which the robot is there."""
    tasks: Annotated[Path | None, arg(metavar="FILE")] = None
    """Tasks from a file, .toml or .json, in place of one for --frame."""
    method: str | None = None
    """Short name of a method; left out, dls, or what the tasks ask for."""
    updates: int = 1
    """Updates of the method in a step."""
    q0: Annotated[tuple[str, ...] | None, arg(metavar="NAME|Q ...")] = None
    """Where the robot stands at first: the name of a posture, or nq numbers [rad or m]; left out, its home."""

    def run(self) -> Answer:
        """Load, follow and write."""
        import numpy as np

        from poise.cli.output import JOINTS, refuse_file, say
        from poise.cli.start import start
        from poise.cli.task_file import read_tasks
        from poise.common.progress import LONG, bar, on_terminal
        from poise.scale.waypoints import read_waypoints

        refuse_file(self.out, JOINTS, "joints go", force=self.force, read=[self.targets])
        if self.dt == np.inf:
            raise InvalidValue("not-finite", "--dt is inf; it must be a number of seconds")
        rows = read_waypoints(self.targets)
        file = None if self.tasks is None else read_tasks(self.tasks)
        model = self.model(file)
        in_file, targeted = self._tasks(model, file, rows)
        tracker = pz.Tracker(model, in_file, self.method, dt=self.dt, updates=self.updates, limits=self.limits)
        tasks = [task for task in in_file if task.blocks]
        goals = np.repeat(tracker.targets[None], len(rows), axis=0)
        goals[:, targeted] = _goals(tasks[targeted], rows, self.targets)
        begin = start(model, self.q0, limits=self.limits)
        q = model.home if begin is None else begin
        path, failed = np.empty((len(rows), model.nq)), 0
        with bar("steps", len(rows), shown=on_terminal(), after=LONG) as update:
            for k, goal in enumerate(goals):
                tracker.targets = goal
                path[k] = q = tracker.step(q)
                failed += tracker.failed
                update(k + 1)
        errors = _errors(model, tasks, goals, path)
        if self.out is not None:
            self._write(model, path, errors)
        facts = _facts(model, tracker, path, errors, failed, self.dt)
        words = _words(facts, self.out)
        return Answer(
            facts=facts,
            show=lambda: say(words),
            explanation=f"{'; '.join(words.splitlines())}. Errors are after each step, against the target of that "
            "step: where they are large the robot was still on its way, or its limits held it. q is where it ends.",
            code=2 if failed else 0,
        )

    def _tasks(self, model: "Model", file: "TaskFile | None", rows: "Array") -> "tuple[list[Task], int]":
        """The tasks, and the place of the one that the columns lead among those that are no posture."""
        if file is None:
            frame = self.frame or model.tip
            return [pz.PoseTask(frame) if rows.shape[1] == 7 else pz.PositionTask(frame)], 0
        if self.frame is not None:
            raise InvalidValue(
                "conflict", "--frame is for one task without a file; the tasks of --tasks name their own frames"
            )
        in_file = file.tasks(model)
        targeted = [i for i, task in enumerate(task for task in in_file if task.blocks) if not task.aimed]
        if len(targeted) != 1:
            found = "all have one" if not targeted else f"tasks {' and '.join(map(str, targeted))} have none"
            raise InvalidValue(
                "conflict",
                f"{file.path}: leave the target of one task to {self.targets}, and give the others theirs; {found}",
            )
        return in_file, targeted[0]

    def _write(self, model: "Model", path: "Array", errors: "dict[str, Array]") -> None:
        import numpy as np

        from poise.solving.path.table import write_csv, write_parquet

        assert self.out is not None
        columns: dict[str, Any] = {"time_s": self.dt * np.arange(1, len(path) + 1)}
        columns |= {f"q_{name}": column for name, column in zip(model.coordinates, path.T, strict=True)}
        write = write_csv if self.out.suffix.lower() == ".csv" else write_parquet
        write(self.out, columns | errors)


def _goals(task: "Task", rows: "Array", file: Path) -> "Array":
    """(n, 7) what the columns say to a task."""
    from poise.common.errors import ShapeError

    try:
        return task.goals(rows)
    except ShapeError as error:
        columns = "x y z and a rotation" if rows.shape[1] == 7 else "x y z"
        raise InvalidValue(
            error.code, f"{file} has columns {columns}, which are no targets of {task.label}: {error}"
        ) from None


def _errors(model: "Model", tasks: "list[Task]", goals: "Array", path: "Array") -> "dict[str, Array]":
    """(n,) the largest error of all tasks after each step, by column; NaN where no task has such an error."""
    import numpy as np

    out = {name: np.full(len(path), np.nan) for name in ("position_error_m", "rotation_error_rad")}
    for k, task in enumerate(tasks):
        for i, sizes in enumerate(task.judged(model, goals[:, k], path)):
            error = task.error(sizes.tolist())
            for name, size in (("position_error_m", error.position), ("rotation_error_rad", error.rotation)):
                if size is not None:
                    out[name][i] = np.fmax(out[name][i], size)
    return out


def _facts(
    model: "Model", tracker: "pz.Tracker", path: "Array", errors: "dict[str, Array]", failed: int, dt: float
) -> dict[str, Any]:
    """What was followed, as JSON has it."""
    found: dict[str, Any] = {
        "robot": model.name,
        "tasks": [task.label for task in tracker.tasks],
        "method": tracker.method.name,
        "steps": len(path),
        "time": dt * len(path),
        "failed": failed,
    }
    for name, sizes in errors.items():
        known = sizes[sizes == sizes]
        found |= {f"largest_{name}": max(known, default=None), f"last_{name}": known[-1] if known.size else None}
    return found | {"q": path[-1]}


def _words(facts: dict[str, Any], out: Path | None) -> str:
    """The same in sentences."""
    lines = [
        f"{facts['robot']}: {facts['steps']:,} steps of {', '.join(facts['tasks'])} in {facts['time']:.6g} s, by "
        f"{facts['method']}"
    ]
    for kind, unit in (("position", "m"), ("rotation", "rad")):
        largest = facts[f"largest_{kind}_error_{unit}"]
        if largest is not None:
            lines.append(
                f"{kind} error: {largest:.3g} {unit} at most, {facts[f'last_{kind}_error_{unit}']:.3g} at the end"
            )
    if facts["failed"]:
        lines.append(f"{facts['failed']:,} steps were no finite number, and the robot stayed: damp the method")
    return "\n".join([*lines, *([f"written: {out}"] if out else [])])

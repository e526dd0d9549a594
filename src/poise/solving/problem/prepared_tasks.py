"""The tasks of a problem: those that were stated, what limits ask at rest, and the loops that are closed with them."""

from collections.abc import Sequence
from typing import Any, final

import numpy as np

from poise.common.array import Array
from poise.common.errors import InvalidValue
from poise.kernels.machine.layout import GOAL_NUMBERS
from poise.model.model import Model
from poise.quaternions import pose_numbers
from poise.solving.arguments.arguments import each_goal, joined, one_a_task
from poise.solving.arguments.weights import relative
from poise.spatial import SE3
from poise.tasks.base import POSITION, ROTATION, Task, levels
from poise.tasks.loop import LoopTask


@final
class PreparedTasks:
    """Tasks and loops in the order of goal numbers and errors, with the weights that they are solved with."""

    __slots__ = ("_pose_alone", "all", "beside", "given", "loops", "of_frames", "own_goal", "scales", "stated")

    def __init__(
        self, model: Model, tasks: Sequence[Task], loops: Sequence[Task], *, at_rest: Sequence[Task] = ()
    ) -> None:
        """`loops` are those of the model that the tasks move and do not state, `at_rest` what limits ask."""
        self.given = tuple(tasks)
        """Those that targets are given to."""
        self.stated = (*self.given, *at_rest)
        """The same, and what limits ask."""
        self.loops = tuple(loops)
        self.beside = (*at_rest, *loops)
        """Those that no targets are given to, which come after the others."""
        own, scales = relative(self.stated)
        self.all: tuple[Task, ...] = (*own, *loops)
        self.of_frames = tuple(task for task in self.all if task.blocks)
        """Those with rows of their own: all but a posture."""
        self.scales = np.repeat([*scales, *(1.0 for _ in loops)], [3 * len(task.blocks) for task in self.all])
        """(m,) by what the stated weights of each row are larger than those that are solved with."""
        nothing = np.full(GOAL_NUMBERS, np.nan)
        self.own_goal = joined(self.all, [task.goal_on(model) if task.aimed else nothing for task in self.all])
        """The numbers of the tasks' own targets, NaN for a task that has none."""
        self._pose_alone = len(self.all) == 1 and [task.frame_parts for task in self.of_frames] == [
            (POSITION, ROTATION)
        ]

    def goal_numbers(self, target: Any, model: Model) -> Array:
        """(7 frame tasks and nq of a posture,) read-only numbers of the targets, or of the tasks' own."""
        if self._pose_alone:
            if type(target) is SE3 and target.array.ndim == 1:
                return target.array
            pose = pose_numbers(target)
            if pose is not None:
                return pose
        if target is None:
            if not all(task.aimed for task in self.all):
                raise InvalidValue("no-target", "the tasks have no target; give one to the tasks or to the call")
            return self.own_goal
        given = zip(self.given, one_a_task(self.given, target), strict=True)
        goals = [task.goal_on(model, value, name) for task, (name, value) in given]
        return joined(self.all, [*goals, *(task.goal(None) for task in self.beside)])

    def places_of(self, other: "PreparedTasks", which: Sequence[int], nq: int) -> Array:
        """Where among the goal numbers of these are those of others, whose stated tasks are `which` of all of these."""
        count = GOAL_NUMBERS * len(self.of_frames) + (nq if len(self.of_frames) < len(self.all) else 0)
        (places,) = zip(*each_goal(self.all, np.arange(float(count))[None]), strict=True)
        loops = {_pair(task): at for task, at in zip(self.all, places, strict=True) if isinstance(task, LoopTask)}
        return joined(other.all, [*(places[k] for k in which), *(loops[_pair(loop)] for loop in other.loops)])

    @property
    def stated_as_solved(self) -> tuple[Task, ...]:
        """Those that were stated, with the weights that they are solved with."""
        return self.all[: len(self.stated)]

    @property
    def have_levels(self) -> bool:
        """Whether some give way to others."""
        return len(levels(self.of_frames)) > 1 or not all(task.required for task in self.of_frames)

    @property
    def have_constraints(self) -> bool:
        """Whether some must hold as limits do: ranges and loops that are required."""
        return any(task.required and (task.inequality_rows or isinstance(task, LoopTask)) for task in self.of_frames)


def _pair(loop: Task) -> tuple[str, ...]:
    """What loop it is, whatever its weight."""
    assert isinstance(loop, LoopTask)
    return loop.frame, loop.base, loop.kind

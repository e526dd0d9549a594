"""What a search does, stage by stage, in sentences: what the kernel walks, and what goes on where that fails."""

from collections.abc import Sequence

from poise.solving.requirements.ranges import is_range
from poise.solving.search.kernel_search import KernelSearch
from poise.solving.search.search import Search
from poise.solving.search.settings import BY_STEPS
from poise.tasks.base import Task


def stages_of(search: Search) -> list[str]:
    """A sentence for each stage, in the order in which they are walked."""
    kernel = search.kernel
    found = [*_without_ranges(kernel), _own(kernel), *_beside_soft(kernel), *_near_posture(kernel)]
    if kernel.limits.has_constraints:
        limits = [*kernel.limits.others, *([kernel.limits.collision] if kernel.limits.collision else [])]
        names = _listed([type(limit).__name__ for limit in limits])
        kept = "Every step keeps" if kernel.method is not None else "The answer is looked at: it counts if it keeps"
        found.append(f"{kept} {names}.")
    if search.keeps_by_steps:
        found.append(
            f"Where none was found that keeps all that must hold: steps of the method {BY_STEPS!r}, which keep it, "
            "from the best that was found, from q0 and from random starts."
        )
    if search.solves_required_alone:
        found.append(
            "Where that comes to nothing: what is required alone, and from there such steps towards what gives way."
        )
    if search.has_passive_loops:
        found.append("Loops of the model that no task moves are closed by their own joints.")
    return found


def _without_ranges(kernel: KernelSearch) -> list[str]:
    """The stage without ranges, where there is one."""
    if kernel.without_ranges is None:
        return []
    ranges = _labels([task for task in kernel.tasks.stated if is_range(task)])
    found = [f"Without {ranges}, as if that were all; an answer there within them is the answer."]
    if kernel.all_required is not None and not kernel.soft:
        found.append("All tasks as if they were required, from few starts; an answer fulfils the soft ones too.")
    return found


def _own(kernel: KernelSearch) -> str:
    """The stage of all tasks."""
    most = kernel.max_restarts
    tasks, starts = _labels(kernel.tasks.of_frames), f"from q0{f' and up to {most:,} random starts' if most else ''}"
    if kernel.method is not None:
        order = ", one after the other" if most else ""
        return f"Steps of the method {kernel.method.name!r} for {tasks}, {starts}{order}."
    if kernel.soft:
        soft = _labels([task for task in kernel.tasks.of_frames if not task.required])
        required = [task for task in kernel.tasks.of_frames if task.required]
        among = f" among what fulfils {_labels(required)}" if required else ""
        few = " and a few random starts" if most else ""
        return f"The least squares of {soft}{among}: eight descents at once, from q0{few}."
    if "closed form" in kernel.bound.parts:
        return f"The nearest branch of a closed form for {tasks}; eight descents at once, {starts}, where none is."
    return f"Eight descents at once for {tasks}, {starts}; the best descend further where none converges."


def _beside_soft(kernel: KernelSearch) -> list[str]:
    """The stages that only soft tasks have."""
    found = []
    if kernel.soft and any(task.required for task in kernel.tasks.of_frames):
        required = _labels([task for task in kernel.tasks.of_frames if task.required])
        found.append(f"Where no start fulfils {required}: these alone, and from their answer the soft tasks again.")
    if kernel.all_required is not None and kernel.soft:
        begin = "The descents begin at the posture.  " if kernel.max_restarts else ""
        found.append(
            f"{begin}Where soft tasks are fulfilled: all tasks as if they were required, "
            "near to the posture.  Where not: to the posture among what misses them as little."
        )
    return found


def _near_posture(kernel: KernelSearch) -> list[str]:
    """The stages that only a posture has."""
    found = []
    if kernel.bound.numbers["approach"]:
        starts = ", and from starts drawn towards it," if kernel.max_restarts else ""
        found.append(f"From the answer{starts} to the posture, as far as the tasks allow.")
    elif kernel.posture is not None and not kernel.soft:
        found.append("The posture is the last level of the steps.")
    if kernel.posture is not None and kernel.posture.required:
        found.append("Where the posture's tolerance is missed: the same from there, within it.")
    return found


def _labels(tasks: Sequence[Task]) -> str:
    return _listed([task.label for task in tasks]) if tasks else "no task"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"

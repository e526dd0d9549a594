"""What a search does, stage by stage, in sentences: what the kernel walks, also where that fails."""

from collections.abc import Sequence

from poise.solving.requirements.ranges import is_range
from poise.solving.search.search import Search
from poise.solving.search.settings import BY_STEPS
from poise.tasks.base import Task


def stages_of(search: Search) -> list[str]:
    """A sentence for each stage, in the order in which they are walked."""
    found = [*_without_ranges(search), _own(search), *_beside_soft(search), *_near_posture(search)]
    if search.limits.has_constraints:
        limits = [*search.limits.others, *([search.limits.collision] if search.limits.collision else [])]
        names = _listed([type(limit).__name__ for limit in limits])
        kept = "Every step keeps" if search.method is not None else "The answer is looked at: it counts if it keeps"
        found.append(f"{kept} {names}.")
    if search.bound.numbers["keeps_by_steps"]:
        found.append(
            f"Where none was found that keeps all that must hold: steps of the method {BY_STEPS!r}, which keep it, "
            "from the best that was found, from q0 and from random starts."
        )
    if search.bound.numbers["solves_alone"]:
        found.append(
            "Where that comes to nothing: what is required alone, and from there such steps towards what gives way."
        )
    if search.has_passive_loops:
        found.append("Loops of the model that no task moves are closed by their own joints.")
    return found


def _without_ranges(search: Search) -> list[str]:
    """The stage without ranges, where there is one."""
    if search.without_ranges is None:
        return []
    ranges = _labels([task for task in search.tasks.stated if is_range(task)])
    found = [f"Without {ranges}, as if that were all; an answer there within them is the answer."]
    if "all_required" in search.others and not search.soft:
        found.append("All tasks as if they were required, from few starts; an answer fulfils the soft ones too.")
    return found


def _own(search: Search) -> str:
    """The stage of all tasks."""
    most = search.max_restarts
    tasks, starts = _labels(search.tasks.of_frames), f"from q0{f' and up to {most:,} random starts' if most else ''}"
    if search.method is not None:
        order = ", one after the other" if most else ""
        return f"Steps of the method {search.method.name!r} for {tasks}, {starts}{order}."
    if search.soft:
        soft = _labels([task for task in search.tasks.of_frames if not task.required])
        required = [task for task in search.tasks.of_frames if task.required]
        among = f" among what fulfils {_labels(required)}" if required else ""
        few = " and a few random starts" if most else ""
        return f"The least squares of {soft}{among}: eight descents at once, from q0{few}."
    if "closed form" in search.bound.parts:
        return f"The nearest branch of a closed form for {tasks}; eight descents at once, {starts}, where none is."
    return f"Eight descents at once for {tasks}, {starts}; the best descend further where none converges."


def _beside_soft(search: Search) -> list[str]:
    """The stages that only soft tasks have."""
    found = []
    if search.soft and any(task.required for task in search.tasks.of_frames):
        required = _labels([task for task in search.tasks.of_frames if task.required])
        found.append(f"Where no start fulfils {required}: these alone, and from their answer the soft tasks again.")
    if "all_required" in search.others and search.soft:
        begin = "The descents begin at the posture.  " if search.max_restarts else ""
        found.append(
            f"{begin}Where soft tasks are fulfilled: all tasks as if they were required, "
            "near to the posture.  Where not: to the posture among what misses them as little."
        )
    return found


def _near_posture(search: Search) -> list[str]:
    """The stages that only a posture has."""
    found = []
    if search.bound.numbers["approach"]:
        starts = ", and from starts drawn towards it," if search.max_restarts else ""
        found.append(f"From the answer{starts} to the posture, as far as the tasks allow.")
    elif search.posture is not None and not search.soft:
        found.append("The posture is the last level of the steps.")
    if "near posture" in search.bound.parts:
        found.append("Where the posture's tolerance is missed: the same from there, within it.")
    return found


def _labels(tasks: Sequence[Task]) -> str:
    return _listed([task.label for task in tasks]) if tasks else "no task"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"

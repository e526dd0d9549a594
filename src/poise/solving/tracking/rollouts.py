"""A whole motion of a Tracker in one compiled loop, or those of many characters, eight side by side."""

from concurrent.futures import ThreadPoolExecutor
from typing import Final

import numpy as np

from poise.common.array import Array
from poise.kernels.machine.jit import prepare, watched
from poise.kernels.machine.layout import BAD_GOAL, BAD_START, NOT_FINITE, WIDTH
from poise.kernels.stepping import method_loop
from poise.solving.arguments.arguments import each_goal, refuse_goal, refuse_start
from poise.solving.tracking.stepper import Stepper

_AT_ONCE: Final = 8192
"""Steps of characters that a call of a kernel takes at most, or those of eight, so that Python hears of signals."""


def follow(stepper: Stepper, starts: Array, goals: Array, path: Array, threads: int, *, single: bool) -> bool:
    """Fill `path` (characters, steps, nq) from `starts` (characters, nq); whether a step was no finite number.

    `goals` (characters, steps, .) are those of all tasks, joined.  A `single` character goes as it does in steps;
    others as in lanes, where each goes its way to the bit, whoever is beside it.  Each call of a kernel has a workspace
    of its own.
    """
    characters = len(path)
    if not path.size:
        return False
    alone = single or not stepper.bound.lanes
    prepare(method_loop.rollout if alone else method_loop.rollout_lanes)
    lanes = min(-(-characters // (WIDTH * threads)), max(1, _AT_ONCE // (WIDTH * path.shape[1])))
    many = 1 if alone else WIDTH * lanes
    groups = [slice(c, c + many) for c in range(0, characters, many)]

    def roll(some: slice) -> int:
        return _lead_some(stepper, starts[some], goals[some], path[some], alone, some.start)

    if min(threads, len(groups)) == 1:
        return NOT_FINITE in list(map(roll, groups))
    with ThreadPoolExecutor(min(threads, len(groups))) as pool:
        return NOT_FINITE in list(pool.map(roll, groups))


def _lead_some(stepper: Stepper, starts: Array, goals: Array, path: Array, alone: bool, first: int) -> int:
    """Lead one character, or several, eight side by side, the first of them of this number; a code."""
    bound = stepper.bound
    with bound.scratch(stepper.model) as scratch:
        scratch.set_fields(steps=path.shape[1], characters=len(path))
        frame_goals, postures = np.split(goals, [len(scratch.goal)], axis=-1)
        scratch.set_arrays(goals=np.ascontiguousarray(frame_goals), path=path, postures=np.ascontiguousarray(postures))
        if alone:
            scratch.start[:] = starts[0]
            if scratch.scene is not None:  # as if seen for the first time
                scratch.scene.forget()
            code: int = watched(prepare(method_loop.rollout), bound.reads)(scratch.address)
        else:
            scratch.widen(bound)
            path[:, 0] = starts
            code = watched(prepare(method_loop.rollout_lanes), bound.reads)(scratch.address)
    _check(stepper, code, goals, first)
    return code


def _check(stepper: Stepper, code: int, goals: Array, first: int) -> None:
    """Raises ValueError for numbers that a kernel refused, which names the step, and of many the character."""
    if code == BAD_GOAL:
        model, followed = stepper.model, stepper.targets.followed
        rows = goals.reshape(-1, goals.shape[-1])
        pairs = zip(followed, each_goal(followed, rows), strict=True)
        wrong = int(np.argmin(np.all([task.sound(model, some) for task, some in pairs], axis=0)))
        c, k = divmod(wrong, goals.shape[1])
        whose = f" of character {first + c}" if first or len(goals) > 1 else ""
        refuse_goal(model, followed, rows[wrong], f"step {k}{whose}: ")
    if code == BAD_START:
        refuse_start("q")


def go_on(stepper: Stepper, q: Array, goals: Array, postures: Array, path: Array) -> int:
    """Fill `path` (steps, nq) by steps from `q` (nq,) with what the stepper remembers; a code."""
    scratch = stepper.scratch
    scratch.start[:] = q
    scratch.set_fields(steps=len(path))
    scratch.set_arrays(goals=goals, path=path, postures=postures)
    code: int = watched(prepare(method_loop.steps), stepper.bound.reads)(scratch.address)
    return code

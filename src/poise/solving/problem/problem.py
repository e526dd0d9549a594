"""A problem: a model and tasks as one array of numbers.  Names are resolved to indices here, once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.common.errors import InvalidValue
from poise.kernels.machine import layout, packing
from poise.kernels.machine.layout import (
    ANSWER,
    BALL_AXES,
    BALL_TURN,
    BLOCK,
    BODY,
    COLUMN,
    COORDINATE,
    EFFECTOR,
    FEATURES,
    FRAME,
    GOAL,
    GOAL_NUMBERS,
    IDLE,
    REVOLUTE,
    STATE,
    STILL,
    TASK_FRAME,
    WIDTH,
)
from poise.kernels.machine.packing import joined
from poise.kernels.machine.work import SECTIONS
from poise.kernels.rows.own import own_buffer_size
from poise.model.model import Model
from poise.model.tree import Unit, ball_records, bodies, carrying, unit_arrays
from poise.solving.problem.residual import try_residual
from poise.tasks.base import Task
from poise.tasks.effector import Effector, Units, no_joint

_POSITION_ROWS: Final = 3
_TURN: Final = 6.2831853
"""A little less than a whole turn [rad]."""


@final
@dataclass(frozen=True, eq=False)
class Problem:
    """A problem without its targets, as the kernels read it; see `poise.kernels.machine.layout`.

    It holds numbers alone, no addresses and no workspace, and never changes: threads share it, processes are sent it.
    """

    words: npt.NDArray[np.int64]
    velocities: tuple[int, ...]
    """The velocities that move the tasks, in the order in which the kernels number them."""
    kinds: tuple[type[Task], ...] = ()
    """The kinds of tasks whose rows are routines, in the order of the effectors' `rows`."""
    limits: bool = True
    """Whether joint limits hold."""
    blocks: int = field(init=False)
    """Blocks of three residual rows."""

    def __post_init__(self) -> None:
        self.words.flags.writeable = False
        object.__setattr__(self, "blocks", len(self.section("blocks")))

    def section(self, name: str) -> Any:
        """A section as a structured array or plain numbers, read-only."""
        return packing.unpack(self.words, name)

    @property
    def sampled_coordinates(self) -> Any:
        """The coordinates that random starts draw; all others are as in the start that a caller gives."""
        coordinates = self.section("coordinates")
        return coordinates[coordinates["sample_lower"] < coordinates["sample_upper"]]

    def started(self, start: Array, q: Array) -> Array:
        """(n, nq) copies of `start` (nq,) whose coordinates that are drawn at random are those of `q` (n, nq)."""
        places = [*self.sampled_coordinates["q"], *(i + k for i in self.section("balls")["q"] for k in range(4))]
        out = np.tile(start, (len(q), 1))
        out[:, places] = q[:, places]
        return out

    def rows(self, name: str) -> slice:
        """Where the rows of a section of its workspace are."""
        return packing.rows_of(self.words, name)

    def extended(self, parts: Mapping[str, Any], rows: Mapping[str, int]) -> "Problem":
        """A copy with these sections, and numbers of rows of its workspace, added or in place of its own."""
        old = {name: packing.words_of(self.words, name) for name in layout.PROBLEM}
        sizes = {name: (at := self.rows(name)).stop - at.start for name in SECTIONS}
        reals = {name: words.view(np.float64) for name, words in old.items() if layout.PROBLEM[name] == layout.REAL}
        words = packing.pack({**old, **reals, **parts}, {**sizes, **rows})
        return Problem(words, self.velocities, self.kinds, self.limits)

    def keeping(self, units: Sequence[int]) -> "Problem":
        """A copy of which forward kinematics keeps all axes of the frames at these units."""
        words = self.words.copy()
        packing.unpack(words, "units")["whole_frame"][list(units)] = 1
        return Problem(words, self.velocities, self.kinds, self.limits)

    def between(self, lower: Array, upper: Array) -> "Problem":
        """A copy with the tighter of its own limits of coordinates and `lower` and `upper` (nq,).

        A bound outside its own limits becomes the nearest number within them.
        """
        words = self.words.copy()
        found = packing.unpack(words, "coordinates")
        low, high = (np.clip(bound[found["q"]], found["lower"], found["upper"]) for bound in (lower, upper))
        found["lower"], found["upper"] = low, high
        return Problem(words, self.velocities, self.kinds, self.limits)

    def without_limits(self) -> "Problem":
        """A copy without limits of joints: all are infinite."""
        words = self.words.copy()
        for name in ("coordinates", "idle"):
            found = packing.unpack(words, name)
            found["lower"], found["upper"] = -np.inf, np.inf
        for name in ("balls", "idle_balls"):
            packing.unpack(words, name)["limited"] = 0
        return Problem(words, self.velocities, self.kinds, limits=False)


def pack(model: Model, tasks: Sequence[Task], *, limits: bool = True, also: Sequence[int] = ()) -> Problem:
    """The problem of `tasks` on `model`; `also` are velocities that move even where they move no task, from where they
    are at the start.

    Raises FrameNotFound for a frame that the model does not have, ValueError for a task that does not work there.
    """
    for task in tasks:
        if task.own:
            try_residual(model, task)
    if tasks and not any(task.weighted_rows for task in tasks):
        raise InvalidValue(
            "empty",
            f"every weight of {', '.join(task.label for task in tasks)} is 0, so nothing is asked of {model.name}: "
            "give a weight above 0, or leave out what is not wanted",
        )
    wanted = [task.needed(model) for task in tasks]
    units, number = carrying(model.tree, sorted(set().union(*wanted)))
    arrays = unit_arrays(units, {number[u] for some in wanted for u in some})
    made = [task.effector(Units(model, units, arrays, number)) for task in tasks]
    for task, e in zip(tasks, made, strict=True):
        if not e.columns.velocities:
            raise InvalidValue("nothing-moves", f"{task.label} never moves: {no_joint(model)} moves it")
    velocities = sorted({*also, *(v for e in made for v in e.columns.velocities)})
    active = {v: a for a, v in enumerate(velocities)}
    kinds = tuple(dict.fromkeys(type(task) for task in tasks if task.routine is not None))

    effectors: list[tuple[int, ...]] = []
    blocks: list[tuple[int, int, int]] = []
    weights: list[list[float]] = []
    slots: list[int] = []
    numbers: list[float] = []
    task_frames: list[tuple[int, int, int]] = []
    row = column = 0
    for task, e in zip(tasks, made, strict=True):
        width, first = len(e.columns.velocities), len(blocks)
        places, starts = {"m": -1, "rad": -1}, {"m": -1, "rad": -1}
        for block in task.blocks:
            if e.tip >= 0:
                starts[block.unit] = row
            if block.whole:
                places[block.unit] = len(blocks)
            blocks.append((row, int(block.unit == "m"), int(not task.required)))
            inverse = [0.0 if w == 0.0 else 1.0 / w for w in block.weight]
            closeness = block.tolerance**-2
            weights.append(
                [*block.weight, *inverse, *((closeness, 0.0) if task.required else (0.0, closeness)), task.gain]
            )
            row += _POSITION_ROWS * width
        effectors.append(
            (
                -1 if task.routine is None else layout.FIRST_ROWS + layout.ENTRIES * kinds.index(type(task)),
                task.goal_read,
                places["m"],
                places["rad"],
                e.tip,
                e.base,
                first,
                len(blocks),
                width,
                column,
                column + len(e.columns.raw),
                len(slots),
                starts["m"],
                starts["rad"],
                task.weighing,
                len(numbers),
                len(numbers) + len(e.numbers),
                len(task_frames),
                len(task_frames) + len(e.frames),
                task.rows if task.own else 0,
                int(task.own and task.function("jacobian") is not None),
                int(task.lanes),
            )
        )
        at = column
        for frame in e.frames:
            task_frames.append((frame.unit, at, at + len(frame.columns.raw)))
            at += len(frame.columns.raw)
        column += len(e.columns.raw)
        slots += [active[v] for v in e.columns.velocities]
        numbers += e.numbers

    tiles, pairs = _gram_tiles(effectors, made, blocks, active)
    coupled = {i for task in tasks for i in task.coupled(model)}
    moving = [*units, *(unit for u, unit in enumerate(model.tree.units) if u not in number and unit.iv in also)]
    coordinates, ranges, balls = _coordinates(model, moving, active, coupled, set(slots), limits=limits)
    idle, idle_limits, idle_balls = _idle(model, {c[0] for c in coordinates}, {b[0] for b in balls})
    heavy = any(e.heavy for e in made)
    parts = {
        **arrays.sections,
        "effectors": joined(EFFECTOR, effectors, [np.concatenate([e.tool, e.base_tool]) for e in made]),
        "blocks": joined(BLOCK, blocks, weights),
        "columns": joined(
            COLUMN,
            np.concatenate([e.columns.raw for e in made]) if made else (),
            np.concatenate([e.columns.scales for e in made]) if made else (),
        ),
        "slots": slots,
        "coordinates": joined(COORDINATE, coordinates, ranges),
        "balls": ball_records(model, balls),
        "tiles": tiles,
        "pairs": pairs,
        "strides": _strides(ranges, len(balls)),
        "idle": joined(IDLE, np.reshape(idle, (-1, 1)), idle_limits),
        "idle_balls": ball_records(model, [[i, -1] for i in idle_balls]),
        "bodies": joined(BODY, (), bodies(model, arrays, number)) if heavy else (),
        "numbers": numbers,
        "farthest": model.farthest,
        "task_frames": joined(TASK_FRAME, task_frames, [frame.tool for e in made for frame in e.frames]),
    }
    n, m, nq = len(active), 3 * len(blocks), model.nq
    scratch_rows = [_scratch_rows(task, e) for task, e in zip(tasks, made, strict=True)]
    rows = {
        "goal": GOAL_NUMBERS * len(made),
        "start": nq,
        "out": ANSWER + nq + len(blocks) + 1,
        "q": nq,
        "frames": FRAME * len(units),
        "e": m,
        "jacobian": row,
        "scratch": max([0, *scratch_rows, *(3 * len(units) + 3 + e.scratch for e in made if e.heavy)]),
        "free": n,
        "matrix": m * m,
        "y": m,
        "step": n,
        "before": nq,
        "target": GOAL * len(made),
        "state": STATE,
        "pool": nq,
        "offsets": len(coordinates) + 3 * len(balls),
        "search.query": FEATURES * len(made) + 1 + 2 * WIDTH,
    }
    problem = Problem(packing.pack(parts, rows), tuple(velocities), kinds)
    return problem if limits else problem.without_limits()


def _scratch_rows(task: Task, e: Effector) -> int:
    """Rows of scratch that the rows of a task need."""
    width = len(e.columns.velocities)
    if not task.own:
        return (6 if e.frames else 3) * width
    numbers = len(e.numbers) + (GOAL_NUMBERS if task.takes_target else 0)
    return own_buffer_size(len(e.frames), numbers, task.rows, width)


def _gram_tiles(
    effectors: Sequence[tuple[int, ...]],
    made: Sequence[Effector],
    blocks: Sequence[tuple[int, int, int]],
    active: dict[int, int],
) -> tuple[list[list[int]], list[list[int]]]:
    """The lower tiles of J J^T, and for each pair of effectors the columns that belong to one velocity."""
    tiles: list[list[int]] = []
    pairs: list[list[int]] = []
    spans = [(e[6], e[7]) for e in effectors]
    places = [{v: i for i, v in enumerate(e.columns.velocities)} for e in made]
    for a, one in enumerate(spans):
        for b, other in enumerate(spans[: a + 1]):
            start = len(pairs)
            pairs += [[i, places[b][v], active[v]] for v, i in places[a].items() if v in places[b]]
            for i in range(*one):
                tiles += [[i, j, blocks[i][0], blocks[j][0], start, len(pairs)] for j in range(*other) if j <= i]
    return tiles, pairs


def _coordinates(
    model: Model, units: list[Unit], active: dict[int, int], coupled: set[int], moving: set[int], *, limits: bool
) -> tuple[list[list[int]], list[list[float]], list[list[int]]]:
    """The coordinates that move, their limits with the ranges of random starts, and the quaternions.

    Those that are not among the `moving`, the active velocities that move tasks, start where the caller's do.
    """
    coords: dict[int, list[int]] = {}
    balls: dict[int, list[int]] = {}
    for unit in units:
        if unit.kind in (BALL_TURN, STILL) or unit.iv not in active:
            continue
        if unit.kind == BALL_AXES:
            balls[unit.iq] = [unit.iq, active[unit.iv]]
        else:
            linear = unit.function is None and float(unit.multiplier).is_integer()
            whole = unit.kind == REVOLUTE and linear and unit.iq not in coupled
            entry = coords.setdefault(unit.iq, [unit.iq, active[unit.iv], 1])
            entry[2] &= int(whole)  # a full turn must leave every joint that follows where it is
    low, high = model.sampling_box
    order = list(coords.values())
    ranges = []
    for entry in order:
        i = entry[0]
        centred = entry[1] not in moving or low[i] != model.lower[i] or high[i] != model.upper[i]
        reach = float(high[i] - low[i]) / 2.0 if entry[1] in moving else 0.0
        sampled = (-reach, reach) if centred else (float(low[i]), float(high[i]))
        farthest = float(model.farthest[i])  # no answer is where a double has no digits left
        ranges.append([max(float(model.lower[i]), -farthest), min(float(model.upper[i]), farthest), *sampled])
        if limits and model.upper[i] - model.lower[i] < _TURN:
            entry[2] = 0  # there is no room for one
        entry.append(int(centred))
    return order, ranges, list(balls.values())


def _idle(model: Model, coords: set[int], balls: set[int]) -> tuple[list[int], list[list[float]], list[int]]:
    """The coordinates and quaternions that no task moves: they keep the caller's start, within the limits of those that
    are not still."""
    quaternions = {
        model.index(joint.name).start + joint.quaternion_at
        for joint in model.joints
        if joint.nq and joint.quaternion_at is not None
    }
    packed = {i + k for i in quaternions for k in range(4)} | coords
    idle = [i for i in range(model.nq) if i not in packed]
    limits = [[-np.inf, np.inf] if model._standing[i] else [float(model.lower[i]), float(model.upper[i])] for i in idle]
    return idle, limits, sorted(quaternions - balls)


def _strides(ranges: Sequence[Sequence[float]], balls: int) -> Array:
    """Those of coordinates with these ranges and of balls; 0 for what is not drawn, so that it changes no other."""
    sampled = np.array([*(low < high for *_, low, high in ranges), *(True,) * (3 * balls)], dtype=np.bool_)
    found = np.zeros(len(sampled))
    found[sampled] = strides(int(sampled.sum()))
    return found


def strides(count: int) -> Array:
    """(count,) steps of an additive low-discrepancy sequence: powers of the inverse of the root of x^(n+1) = x + 1.

    The golden ratio's sequence in one dimension, generalised (M. Roberts 2018, "The unreasonable effectiveness of
    quasirandom sequences").
    """
    root = 1.5
    for _ in range(60):
        root = (1.0 + root) ** (1.0 / (count + 1))
    return root ** -np.arange(1.0, count + 1.0)


def velocity_names(model: Model) -> list[str]:
    """(nv,) the joint of each velocity."""
    return [joint.name for joint in model.joints for _ in range(joint.nv)]


def distance(model: Model, problem: Problem, start: Array, q: Array) -> float:
    """How far q (nq,) is from a start (nq,), as that is within the limits, by what moves: see `Solution.distance`."""
    q0 = model.clip(start) if problem.limits else start
    return float(np.linalg.norm(model.difference(q0, q)[list(problem.velocities)]))

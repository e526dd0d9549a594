"""A model and tasks as flat arrays: names are resolved to indices here, once."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np
import numpy.typing as npt

from poise.model.model import Model
from poise.model.tree import BALL, FRAME, REVOLUTE, TURN, bodies, carrying, unit_arrays
from poise.solving.task_arrays import KINDS, TOOL, columns, needed, place, spans, tool
from poise.spatial import Array
from poise.tasks.base import FrameTask
from poise.tasks.coupling import JointCouplingTask
from poise.tasks.mass import CentreOfMassTask

HEADER: Final = 19
GOAL: Final = 30
STATE: Final = 9
BODY: Final = 5


@final
@dataclass(frozen=True, slots=True)
class Packed:
    """A problem without its targets, as the kernels read it (see `poise.kernels.solver.lm_solver`)."""

    ints: npt.NDArray[np.int64]
    floats: Array
    rows: int
    """Rows of a workspace."""
    blocks: int
    """Blocks of three residual rows."""
    entries: int
    """Numbers of the Jacobian."""
    velocities: tuple[int, ...]
    """The velocities that move the tasks, in the order in which the kernels number them."""

    @property
    def limits(self) -> Array:
        """(2 coordinates,) lower and upper limit of each, in turns."""
        first, last = self._limits_at()
        return self.floats[first:last]

    def _limits_at(self) -> tuple[int, int]:
        units, effectors, blocks, raw, _, coords = map(int, self.ints[:6])
        first = 16 * units + 2 * raw + TOOL * effectors + 8 * blocks
        return first, first + 2 * coords

    def without_limits(self) -> Array:
        """`floats` with every limit at infinity."""
        floats = self.floats.copy()
        end = len(floats) - BODY * int(self.ints[HEADER - 1])
        for start, stop in (self._limits_at(), (end - 2 * int(self.ints[13]), end)):
            floats[start:stop:2], floats[start + 1 : stop : 2] = -np.inf, np.inf
        return floats


def pack(model: Model, tasks: Sequence[FrameTask]) -> Packed:
    """The arrays of `tasks` on `model`; raises FrameNotFound for a frame that the model does not have."""
    units, number = carrying(model.tree, sorted({u for task in tasks for u in needed(model, task)}))
    heavy = any(isinstance(task, CentreOfMassTask) for task in tasks)
    arrays = unit_arrays(units, {number[u] for task in tasks for u in needed(model, task)})
    moved = [columns(model, task, units, number) for task in tasks]
    velocities = sorted({v for c in moved for v in c.velocities})
    active = {v: a for a, v in enumerate(velocities)}

    effectors: list[list[int]] = []
    blocks: list[int] = []
    slots: list[int] = []
    shapes = []
    row = raw_at = 0
    for task, column in zip(tasks, moved, strict=True):
        found = place(model, task)
        rows_of, code = spans(task)
        width = len(column.velocities)
        first = len(blocks)
        for weight, limit in rows_of:
            blocks.append(row)
            row += 3 * width
            inverse = [0.0 if w == 0.0 else 1.0 / w for w in weight]
            shapes.append([*weight, *inverse, limit**-2, 0.0])
        raw_stop = raw_at + len(column.raw)
        tip = -1 if found is None else number[found.tip]
        base = 0 if found is None or found.base is None else number[found.base] + 2
        effectors.append([tip, KINDS[type(task)], raw_at, raw_stop, first, len(blocks), width, code, len(slots), base])
        raw_at = raw_stop
        slots += [active[v] for v in column.velocities]

    jobs, pairs = _gram_jobs(effectors, moved, blocks, active)
    coupled = {i for task in tasks if isinstance(task, JointCouplingTask) for i in task.terms(model)[0]}
    coords, limits, boxes, balls = _coordinates(model, units, active, coupled)
    na, widest = len(active), 3 * max((len(c.velocities) for c in moved), default=0)
    if heavy:
        widest = max(widest, 3 * len(units) + 3)
    idle, idle_limits, idle_balls = _idle(model, {c[0] for c in coords}, {b[0] for b in balls})
    header = [len(units), len(tasks), len(blocks), raw_at, len(slots), len(coords), len(balls), len(jobs), len(pairs)]
    m = 3 * len(blocks)
    rows = 3 * model.nq + FRAME * len(units) + 2 * m + row + widest + 2 * na + m * m + GOAL * len(tasks) + STATE
    rows += len(coords) + 3 * len(balls)
    header += [model.nq, na, row, widest, len(idle), len(idle_balls), rows, 0, 0, len(units) + 1 if heavy else 0]
    ints = [header, arrays.numbers, effectors, blocks, *(c.raw for c in moved), slots, coords, balls, jobs, pairs]
    ints += [idle, idle_balls]
    tools = [tool(model, task, arrays, number) for task in tasks]
    floats = [arrays.places, *(c.scales for c in moved), tools, shapes, limits, boxes]
    floats += [strides(len(coords) + 3 * len(balls)), idle_limits]
    if heavy:
        floats.append(bodies(model, arrays, number))
    whole = np.concatenate([np.asarray(part, dtype=np.int64).ravel() for part in ints])
    reals = np.concatenate([np.asarray(part, dtype=np.float64).ravel() for part in floats])
    whole[16:18] = len(whole), len(reals)  # what a method adds comes behind
    return Packed(
        whole,
        reals,
        rows,
        len(blocks),
        row,
        tuple(velocities),
    )


def _gram_jobs(
    effectors: list[list[int]], columns: list[Any], blocks: list[int], active: dict[int, int]
) -> tuple[list[list[int]], list[list[int]]]:
    """The lower tiles of J J^T, and for each pair of frames the columns that belong to one velocity."""
    jobs: list[list[int]] = []
    pairs: list[list[int]] = []
    for a, one in enumerate(effectors):
        for b, other in enumerate(effectors[: a + 1]):
            start = len(pairs)
            at = {v: i for i, v in enumerate(columns[b].velocities)}
            pairs += [[i, at[v], active[v]] for i, v in enumerate(columns[a].velocities) if v in at]
            for i in range(one[4], one[5]):
                jobs += [[i, j, blocks[i], blocks[j], start, len(pairs)] for j in range(other[4], other[5]) if j <= i]
    return jobs, pairs


def _coordinates(
    model: Model, units: list[Any], active: dict[int, int], coupled: set[int]
) -> tuple[list[list[int]], list[list[float]], list[list[float]], list[list[int]]]:
    """The coordinates that the tasks move, their limits, the boxes of random starts, and the quaternions.

    A coordinate is its place in q, its place among the active velocities, whether whole turns change nothing, and
    whether its box is centred on the caller's start.
    """
    coords: dict[int, list[int]] = {}
    balls: dict[int, list[int]] = {}
    for unit in units:
        if unit.kind == TURN or unit.iv not in active:
            continue
        if unit.kind == BALL:
            balls[unit.iq] = [unit.iq, active[unit.iv]]
        else:
            whole = unit.kind == REVOLUTE and float(unit.multiplier).is_integer() and unit.iq not in coupled
            entry = coords.setdefault(unit.iq, [unit.iq, active[unit.iv], 1])
            entry[2] &= int(whole)  # a full turn must leave every joint that follows where it is
    low, high = model.sampling_box
    order = list(coords.values())
    limits = [[float(model.lower[i]), float(model.upper[i])] for i, *_ in order]
    boxes = []
    for entry in order:
        i = entry[0]
        around = low[i] != model.lower[i] or high[i] != model.upper[i]
        reach = float(high[i] - low[i]) / 2.0
        boxes.append([-reach, reach] if around else [float(low[i]), float(high[i])])
        entry.append(int(around))
    return order, limits, boxes, list(balls.values())


def _idle(model: Model, coords: set[int], balls: set[int]) -> tuple[list[int], list[list[float]], list[int]]:
    """The coordinates and quaternions that no task moves: they keep the caller's start, within its limits."""
    quaternions = {
        model.index(joint.name).start + joint.quaternion_at
        for joint in model.joints
        if joint.nq and joint.quaternion_at is not None
    }
    held = {i + k for i in quaternions for k in range(4)} | coords
    idle = [i for i in range(model.nq) if i not in held]
    limits = [[float(model.lower[i]), float(model.upper[i])] for i in idle]
    return idle, limits, sorted(quaternions - balls)


def strides(count: int) -> Array:
    """(count,) steps of an additive low-discrepancy sequence: powers of the inverse of the root of x^(n+1) = x + 1.

    The golden ratio's sequence in one dimension, generalised (M. Roberts 2018, "The unreasonable effectiveness of
    quasirandom sequences").
    """
    root = 1.5
    for _ in range(60):
        root = (1.0 + root) ** (1.0 / (count + 1))
    return root ** -np.arange(1.0, count + 1.0)

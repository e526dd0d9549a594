"""A model and tasks as flat arrays: names are resolved to indices here, once."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, final

import numpy as np
import numpy.typing as npt

from poise.model import Model
from poise.spatial import Array, quaternion_matrix
from poise.tasks.aim import AxisTask, LookAtTask
from poise.tasks.base import FrameTask
from poise.tasks.pose import OrientationTask, PoseTask, PositionTask
from poise.tree import BALL, FRAME, REVOLUTE, TURN, carrying, frame_columns, unit_arrays

HEADER: Final = 18
GOAL: Final = 30
STATE: Final = 9
_KINDS: Final[dict[type, int]] = {PoseTask: 0, PositionTask: 1, OrientationTask: 2, AxisTask: 3, LookAtTask: 4}


@final
@dataclass(frozen=True, slots=True)
class Packed:
    """A problem without its targets, as the kernels read it (see `poise.kernels.drive`)."""

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
        first = 16 * units + 2 * raw + 16 * effectors + 8 * blocks
        return first, first + 2 * coords

    def without_limits(self) -> Array:
        """`floats` with every limit at infinity."""
        floats = self.floats.copy()
        idle = len(floats) - 2 * int(self.ints[13])
        for start, stop in (self._limits_at(), (idle, len(floats))):
            floats[start:stop:2], floats[start + 1 : stop : 2] = -np.inf, np.inf
        return floats


def pack(model: Model, tasks: Sequence[FrameTask]) -> Packed:
    """The arrays of `tasks` on `model`; raises FrameNotFound for a frame that the model does not have."""
    tree = model.tree
    hangs = []
    for task in tasks:
        frame = model.frame(task.frame)
        unit, place = tree.links[frame.link]
        if unit < 0:
            raise ValueError(f"the frame {task.frame!r} does not move: no joint of {model.name} carries it")
        hangs.append((unit, place @ frame.origin))
    units, number = carrying(tree, [unit for unit, _ in hangs])
    tips = [number[unit] for unit, _ in hangs]
    arrays = unit_arrays(units, set(tips))
    columns = [frame_columns(units, tip) for tip in tips]
    velocities = sorted({v for c in columns for v in c.velocities})
    active = {v: a for a, v in enumerate(velocities)}

    effectors: list[list[int]] = []
    blocks: list[int] = []
    slots: list[int] = []
    shapes, tools = [], []
    row = raw_at = 0
    for task, tip, column, (_, hang) in zip(tasks, tips, columns, hangs, strict=True):
        tool = arrays.seen_from(tip, hang)
        spans, axes_code, axis = _spans(task)
        width = len(column.velocities)
        first = len(blocks)
        for weight, limit in spans:
            blocks.append(row)
            row += 3 * width
            inverse = [0.0 if w == 0.0 else 1.0 / w for w in weight]
            shapes.append([*weight, *inverse, limit**-2, 0.0])
        raw_stop = raw_at + len(column.raw)
        effectors.append(
            [tip, _KINDS[type(task)], raw_at, raw_stop, first, len(blocks), width, axes_code, len(slots), 0]
        )
        raw_at = raw_stop
        slots += [active[v] for v in column.velocities]
        direction = tool.rotation.act(axis)
        tools.append([*quaternion_matrix(tool.wxyz).ravel(), *tool.xyz, *direction, 0.0])

    jobs, pairs = _gram_jobs(effectors, columns, blocks, active)
    coords, limits, boxes, balls = _coordinates(model, units, active)
    na, widest = len(active), max((3 * len(c.velocities) for c in columns), default=0)
    idle, idle_limits, idle_balls = _idle(model, {c[0] for c in coords}, {b[0] for b in balls})
    header = [len(units), len(tasks), len(blocks), raw_at, len(slots), len(coords), len(balls), len(jobs), len(pairs)]
    m = 3 * len(blocks)
    rows = 3 * model.nq + FRAME * len(units) + 2 * m + row + widest + 2 * na + m * m + GOAL * len(tasks) + STATE
    rows += len(coords) + 3 * len(balls)
    header += [model.nq, na, row, widest, len(idle), len(idle_balls), rows, 0, 0]
    ints = [header, arrays.numbers, effectors, blocks, *(c.raw for c in columns), slots, coords, balls, jobs, pairs]
    ints += [idle, idle_balls]
    floats = [arrays.places, *(c.scales for c in columns), tools, shapes, limits, boxes]
    floats += [strides(len(coords) + 3 * len(balls)), idle_limits]
    whole = np.concatenate([np.asarray(part, dtype=np.int64).ravel() for part in ints])
    reals = np.concatenate([np.asarray(part, dtype=np.float64).ravel() for part in floats])
    whole[HEADER - 2 : HEADER] = len(whole), len(reals)  # what a method adds comes behind
    return Packed(
        whole,
        reals,
        rows,
        len(blocks),
        row,
        tuple(velocities),
    )


def _spans(task: Any) -> tuple[list[tuple[tuple[float, float, float], float]], int, Array]:
    """Each block's row weights and tolerance, a code for the weights, and the axis of an aim.

    The code is 0 without weights, 1 with, 2 with weights along the target's own axes.
    """
    ones = (1.0, 1.0, 1.0)
    z = np.array([0.0, 0.0, 1.0])
    if isinstance(task, PoseTask):
        _, _, position, rotation, position_tolerance, rotation_tolerance, axes, _ = task.structure
        spans = [(position, position_tolerance), (rotation, rotation_tolerance)]
    elif isinstance(task, OrientationTask):
        _, _, weight, limit, axes, _ = task.structure
        spans = [(weight, limit)]
    elif isinstance(task, PositionTask):
        _, _, weight, limit, _ = task.structure
        spans, axes = [(weight, limit)], "world"
    else:
        _, _, axis, weight, limit, _ = task.structure
        spans, axes, z = [(weight, limit)], "world", np.array(axis)
    if all(weight == ones for weight, _ in spans):
        return spans, 0, z
    return spans, 2 if axes == "target" else 1, z


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
    model: Model, units: list[Any], active: dict[int, int]
) -> tuple[list[list[int]], list[list[float]], list[list[float]], list[list[int]]]:
    """The coordinates that the tasks move, their limits, the boxes of random starts, and the quaternions.

    A coordinate is its place in q, its place among the active velocities, whether whole turns change nothing, and
    whether its box is centred on the caller's start.
    """
    coords: dict[int, list[int]] = {}
    balls: dict[int, list[int]] = {}
    for unit in units:
        if unit.kind == TURN:
            continue
        if unit.kind == BALL:
            balls[unit.iq] = [unit.iq, active[unit.iv]]
        else:
            whole = unit.kind == REVOLUTE and float(unit.multiplier).is_integer()
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

"""What the methods that go from joint to joint read beside a problem: which joint moves what, in which order."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, final

import numpy as np
import numpy.typing as npt

from poise.kernels.algebra.working_set import room_for
from poise.kernels.machine.layout import BALL_AXES, BALL_TURN, FRAME, GOAL_NUMBERS, REVOLUTE, WIDTH
from poise.methods.base import Clearance
from poise.model.joint import JointKind
from poise.model.model import Model
from poise.model.tree import carrying, unit_arrays
from poise.solving.problem import Problem
from poise.solving.rows import active_rows
from poise.solving.scratch import bind
from poise.spatial import Array
from poise.tasks.base import POSITION, Task, levels

_HELD: Final = 12
"""Rows in which a kernel holds an effector's pose, or a link's motion."""
_ONE_PLACE: Final = 1e-9
"""Origins this near [m] are one node."""


@final
@dataclass(frozen=True, slots=True)
class Plan:
    """Numbers for a method's kernel, and the rows of a workspace that it needs for itself."""

    numbers: npt.NDArray[np.int64]
    rows: int
    reals: Array = field(default_factory=lambda: np.zeros(0))
    """Numbers that come behind the method's settings."""


NO_PLAN: Final = Plan(np.zeros(0, dtype=np.int64), 0)


@final
class _Joints:
    """What a plan is made of: the units and effectors of a problem."""

    def __init__(self, problem: Problem) -> None:
        units, coordinates = problem.section("units"), problem.section("coordinates")
        self.parents, self.kinds = units["parent"].tolist(), units["kind"].tolist()
        self.places, self.multipliers = units["q_index"].tolist(), units["multiplier"].tolist()
        self.tips = problem.section("effectors")["tip"].tolist()
        self.coordinate = {int(q): c for c, q in enumerate(coordinates["q"])}
        moved = (*coordinates, *problem.section("balls"))
        self.velocity = {int(row["q"]): int(row["v"]) for row in moved}

    def acting(self, unit: int) -> int:
        """The unit that moves what hangs on `unit`: itself, or the nearest before it that is not idle; or -1."""
        while unit >= 0 and self.idle(unit):
            unit = self.parents[unit]
        return unit

    def idle(self, unit: int) -> bool:
        """Whether a unit stands still, moves no task, or only ends a ball."""
        return self.kinds[unit] == BALL_TURN or self.multipliers[unit] == 0.0 or self.places[unit] not in self.velocity

    def carries(self, unit: int, link: int) -> bool:
        """Whether `unit` moves what hangs on the unit `link`."""
        while link > unit:
            link = self.parents[link]
        return link == unit


def repelled(model: Model, tasks: Sequence[Task], problem: Problem, term: Clearance | None) -> tuple[Problem, Plan]:
    """The points that obstacles push, and the obstacles, as `poise.kernels.methods.criteria` reads them.

    In the problem that is returned all axes of these points' units are kept.  Raises FrameNotFound for a frame that the
    model does not have, ValueError for one that the tasks' joints do not carry.
    """
    joints, tree = _Joints(problem), model.tree
    _, number = carrying(tree, sorted({u for task in tasks for u in task.needed(model)}))
    if term is None or term.frames is None:
        frames = [j.child for j in model.joints if j.kind is not JointKind.FIXED and tree.links[j.child][0] in number]
    else:
        frames = list(term.frames)
    units = [_carried(model, frame, number) for frame in frames]
    if term is not None and term.frames is not None:
        problem = problem.keeping(units)
    at_home, _ = _at_home(model, problem, len(joints.kinds))
    points = []
    for frame, unit in zip(frames, units, strict=True):
        place, z, x, y = at_home[unit].reshape(4, 3)
        points.append(np.array([x, y, z]) @ (model.pose(frame, model.home).xyz - place))
    moved = [-1 if joints.idle(u) else joints.velocity[place] for u, place in enumerate(joints.places)]
    spheres, boxes = (np.zeros(0), np.zeros(0)) if term is None else (term.spheres, term.boxes)
    numbers = np.array([len(units), *moved, *units, len(spheres)], dtype=np.int64)
    return problem, Plan(numbers, 0, np.concatenate([np.ravel(x) for x in (points, spheres, boxes)]))


def _carried(model: Model, frame: str, number: dict[int, int]) -> int:
    """The unit that carries a frame that obstacles push, by its number in a problem."""
    unit, tree = model.tree.links[model.frame(frame).link][0], model.tree
    if unit >= 0 and unit in number:
        return number[unit]
    others = [j.name for j in model.root_path(model.frame(frame).link) if tree.links[j.child][0] not in number]
    if not others:
        raise ValueError(f"Clearance pushes the frame {frame!r}, which does not move: leave it out of frames")
    raise ValueError(
        f"Clearance pushes the frame {frame!r}, which hangs on the joint {others[0]!r}, and that moves none of the "
        "tasks' frames: leave it out of frames, or name one that only the tasks' joints carry"
    )


def sweep(problem: Problem) -> Plan:
    """The motions of a problem from the tips to the bases, as `poise.kernels.methods.ccd` reads them."""
    joints = _Joints(problem)
    motions: list[list[int]] = []
    moved: list[int] = []
    for u in reversed(range(len(joints.kinds))):
        if joints.idle(u):
            continue
        first, kind, place = len(moved), joints.kinds[u], joints.places[u]
        moved += [k for k, tip in enumerate(joints.tips) if joints.carries(u, tip)]
        coordinate, velocity = joints.coordinate.get(place, -1), joints.velocity[place]
        # Rows of z, y and x within a frame.
        axes = ((3, 2), (9, 1), (6, 0)) if kind == BALL_AXES else ((3, 0),)
        motions += [[u, FRAME * u + row, kind, velocity + k, coordinate, first, len(moved)] for row, k in axes]
    numbers = [len(motions), *(x for motion in motions for x in motion), *moved]
    return Plan(np.array(numbers, dtype=np.int64), _HELD * len(joints.tips))


def pairs(model: Model, tasks: Sequence[Task], problem: Problem, *, printed: bool) -> Plan:
    """The pairs of consecutive axes of a problem, as `poise.kernels.methods.pairwise` reads them.

    Raises ValueError if `printed` and the problem is no chain of parallel hinges that takes a position.
    """
    joints = _Joints(problem)
    if printed:
        _refuse_all_but_planar(model, tasks, problem, joints)
    tree = model.tree
    units, _ = carrying(tree, sorted({u for task in tasks for u in task.needed(model)}))
    lifts = unit_arrays(units, set(joints.tips)).lifts
    # The point of a link at which its motion is taken: its effector, else the origin of the joint after it.
    points: dict[int, tuple[int, float]] = {}
    for u in reversed(range(len(units))):
        if joints.kinds[u] != BALL_TURN:
            points[joints.acting(joints.parents[u])] = (u, float(lifts[u]))
    for k in reversed(range(len(tasks))):
        points[joints.acting(joints.tips[k])] = (-1 - k, 0.0)
    found: list[list[int]] = []
    entries: list[list[int]] = []
    heights = []
    for child, parent in enumerate(joints.parents):
        before = joints.acting(parent)
        if joints.idle(child) or before < 0:
            continue
        source, height = points[child]
        first = len(entries)
        for u in (before, child):
            kind, velocity = joints.kinds[u], joints.velocity[joints.places[u]]
            axes = ((6, 0), (9, 1), (3, 2)) if kind == BALL_AXES else ((3, 0),)
            turning = REVOLUTE if kind == BALL_AXES else kind
            entries += [[u, FRAME * u + row, turning, velocity + k] for row, k in axes]
        found.append([source, first, len(entries)])
        heights.append(height)
    m, n, rows = 3 * problem.blocks, len(problem.velocities), 3 if printed else 6
    lists = [[len(found), rows], *found, *entries]
    numbers = np.concatenate([np.asarray(part, dtype=np.int64) for part in lists])
    stacked = m + rows * len(found)
    return Plan(numbers, stacked * (n + 1) + n * n, np.array(heights))


def _refuse_all_but_planar(model: Model, tasks: Sequence[Task], problem: Problem, joints: _Joints) -> None:
    way = "take form='twists', which serves any tree"
    if len(tasks) != 1 or tasks[0].leads != (POSITION,):
        given = ", ".join(task.label for task in tasks)
        raise ValueError(f"form='printed' of the method 'pairwise' leads one PositionTask, not {given}: {way}")
    active = [u for u in range(len(joints.kinds)) if not joints.idle(u)]
    if any(joints.kinds[u] != REVOLUTE for u in active):
        raise ValueError(
            f"form='printed' of the method 'pairwise' moves hinges only, and {model.name} has others: {way}"
        )
    _, axes, _ = _places(model, problem, len(joints.kinds))
    if np.linalg.matrix_rank(axes[active], rtol=1e-9) > 1:
        raise ValueError(
            f"form='printed' of the method 'pairwise' is for planar chains, and the axes of {model.name} are not "
            f"parallel: {way}"
        )


def extension(problem: Problem) -> int:
    """The room that `methods.extended` needs: a Jacobian's, behind it three square matrices and two vectors."""
    m, n = 3 * problem.blocks, len(problem.velocities)
    row = -(-n // WIDTH) * WIDTH
    return m * row + 3 * n * n + n + m


def skeleton(model: Model, problem: Problem) -> Plan:
    """The nodes of a problem, its joints' origins and its effectors, as `poise.kernels.methods.fabrik` reads them.

    Origins that are always at one place are one node.  Where the joints can follow the nodes exactly, each aims at the
    next one that it moves; otherwise at all that it moves, so that the later ones make up for what the first cannot.
    """
    joints = _Joints(problem)
    origins, axes, tips = _places(model, problem, len(joints.kinds))
    nodes: list[list[int]] = []
    places: list[Array] = []
    links: list[int] = []
    of_unit = {-1: -1}

    def node(link: int, place: Array, source: int) -> int:
        """The node at `place`, which is fixed on the link that unit `link` moves."""
        before = of_unit[link]
        for i, other in enumerate(links):
            if (i == before or other == link) and np.linalg.norm(places[i] - place) < _ONE_PLACE:
                return i
        nodes.append([before, source, 0, 0])
        places.append(place)
        links.append(link)
        if before >= 0:
            nodes[before][2] += 1
        return len(nodes) - 1

    for u, parent in enumerate(joints.parents):
        of_unit[u] = node(parent, origins[u], FRAME * u)
    of_effector = [node(tip, tips[k], -1 - k) for k, tip in enumerate(joints.tips)]
    for i in of_effector:
        nodes[i][3] += 1
    carried = [
        [] if joints.idle(u) else [i for i, link in enumerate(links) if joints.carries(u, link)]
        for u in range(len(origins))
    ]
    onward = [[i for i in row if nodes[i][0] == of_unit[u]] for u, row in enumerate(carried)]
    aims = onward if _follows(joints, nodes, onward, axes) else carried
    rules, first = [], 0
    for place, row in zip(joints.places, aims, strict=True):
        rules.append([joints.velocity[place], first, first + len(row)])
        first += len(row)
    chain = all(before == i - 1 for i, (before, *_) in enumerate(nodes)) and len(of_effector) == 1
    lists = [[len(nodes), first, chain], nodes, rules, of_effector, *aims]
    numbers = np.concatenate([np.asarray(part, dtype=np.int64).ravel() for part in lists])
    return Plan(numbers, 13 * len(nodes) + _HELD * (1 + len(joints.kinds)))


def ranking(tasks: Sequence[Task], problem: Problem, stated: int) -> Plan:
    """The rows of a problem by levels, as `poise.kernels.methods.priority` reads them; under `stated` inequalities."""
    m, n = 3 * problem.blocks, len(problem.velocities)
    steps = levels(tasks)
    counts = np.array([3 * len(task.blocks) for task in tasks])
    ranks = np.repeat([steps.index(task.priority) for task in tasks], counts)
    first = np.searchsorted(np.sort(ranks), range(len(steps) + 1))
    numbers = np.concatenate([[len(steps)], first, np.argsort(ranks, kind="stable")])
    room = stated * (WIDTH * -(-n // WIDTH) + 2) + 3 * n + len(steps) + room_for(m, n, stated)
    return Plan(numbers.astype(np.int64), room)


def _follows(joints: _Joints, nodes: list[list[int]], onward: list[list[int]], axes: Array) -> bool:
    """Whether every node can be brought wherever the one before lets it: by a ball, by hinges of two directions at
    one place, or by one hinge if all the mechanism is flat; and none of them moves two nodes at once."""
    flat = BALL_AXES not in joints.kinds and np.linalg.matrix_rank(axes, rtol=1e-9) == 1
    for i, (before, *_) in enumerate(nodes):
        movers = [u for u, row in enumerate(onward) if i in row]
        ball = any(joints.kinds[u] == BALL_AXES for u in movers)
        if before >= 0 and not (ball or (movers and (flat or np.linalg.matrix_rank(axes[movers], rtol=1e-3) > 1))):
            return False
    return all(len(row) <= 1 for row in onward)


def _places(model: Model, problem: Problem, units: int) -> tuple[Array, Array, Array]:
    """(units, 3) the origins of the units' frames, their z axes and (effectors, 3) of the effectors, at home."""
    frames, e = _at_home(model, problem, units)
    return frames[:, :3], frames[:, 3:6], -e.reshape(-1, 3)


def _at_home(model: Model, problem: Problem, units: int) -> tuple[Array, Array]:
    """(units, 12) origin, z, x and y axis of the units' frames, and (rows,) the errors of goals at 0, at home."""
    with bind(problem).scratch() as scratch:
        scratch.goal[:] = np.tile([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], len(scratch.goal) // GOAL_NUMBERS)
        scratch.start[:] = model.home
        _, e, _ = active_rows(problem, scratch)
        return scratch.narrow[problem.rows("frames")].reshape(units, FRAME).copy(), e

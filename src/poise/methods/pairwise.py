"""The pairwise extended Jacobian.

Idea.     Beside the effector, lead every pair of neighbouring links: each should keep its shape.  The rows that say so
          make the system over-determined, and it is solved by least squares.
Step.     dq = (J^T J + w^2 P^T P)^-1 J^T e, P the rows of the pairs, whose displacements are 0.  That is least squares
          damped in the metric P^T P: with P = I it is damped least squares with lambda = w.
          "printed": P of eq. 9, the velocity of the far end of each pair as the pair's first link sees it; for planar
          chains and positions.  "twists": the relative twist of the pair, angular rows times a length; for any tree.
Use when  bending should be spread evenly over a long chain, or to repeat the paper.
Not for   exact tracking: the error lags in proportion to w^2.  As w goes to 0 the step becomes the pseudoinverse
          weighted by P^T P, never the plain one, and a singular pose is left as badly as by that.
Cost      n^2 products for each row of the pairs, and a factorisation of n x n.
Source.   Soch and Lorencz 2005; the twists are the library's own generalisation.

The paper has the rank of [J; w P] to be n always.  As printed it is not: a stretched chain of two links has one pair,
whose rows are those of J, and four equal links folded onto one another lose a direction too.  With twists the rank is n
wherever each joint has a neighbour whose screw axis is another one; two hinges on one line, or two parallel slides,
with no other neighbours, are what is left.
"""

import functools
import math
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal, final

import numpy as np

from poise.common.checks import one_of, positive
from poise.common.errors import InvalidValue
from poise.kernels.algebra.blocks import spread
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import load, select, splat, sqrt, store
from poise.kernels.machine.layout import BALL_AXES, BALL_TURN, FRAME, HELICAL, PRISMATIC, REVOLUTE
from poise.kernels.machine.views import section, table
from poise.kernels.methods.update import linearise, move, restrain
from poise.methods.base import Capabilities, Case, ClampMag, JacobianMethod, Plan, method
from poise.methods.joints import Joints
from poise.model.tree import unit_arrays
from poise.tasks.base import POSITION

_LU: Final = 1


@method
@final
@dataclass(frozen=True, kw_only=True)
class PairwiseJacobian(JacobianMethod):
    """dq = (J^T J + w^2 P^T P)^-1 J^T e; see the module."""

    name: ClassVar[str] = "pairwise"
    title: ClassVar[str] = "Pairwise extended Jacobian"
    references: ClassVar[tuple[str, ...]] = ("soch2005",)
    capabilities: ClassVar[Capabilities] = Capabilities(tasks="poses")
    iterations: ClassVar[int] = 500
    max_step: float = math.radians(45.0)
    max_error: float | ClampMag | None = 0.2
    weight: float = 0.05
    """w, of the pairs against the task; the paper's own is 1."""
    form: Literal["twists", "printed"] = "twists"
    """"twists" serves any tree; "printed" is the paper's, for planar chains of hinges and one PositionTask."""
    solver: Literal["orthogonal", "lu"] = "orthogonal"
    """"lu" solves the normal equations as the paper does, whose condition is squared; "orthogonal" forms none."""
    length: float = 0.2
    """What a turn of a pair by 1 rad counts as [m]; about a link's length serves well.  For "twists"."""

    def __post_init__(self) -> None:
        super().__post_init__()
        positive("weight", self.weight)
        positive("length", self.length)
        one_of("form", self.form, ("twists", "printed"))
        one_of("solver", self.solver, ("orthogonal", "lu"))

    def refuse(self, case: Case) -> None:
        """Raises ValueError if the form is "printed" and this is no planar chain that takes one position."""
        if self.form != "printed":
            return
        joints, model, tasks = Joints(case), case.model, case.tasks
        way = "take form='twists', which serves any tree"
        if len(tasks) != 1 or tasks[0].frame_parts != (POSITION,):
            given = ", ".join(task.label for task in tasks)
            raise InvalidValue(
                "not-supported", f"form='printed' of the method 'pairwise' leads one PositionTask, not {given}: {way}"
            )
        active = [u for u in range(len(joints.kinds)) if not joints.idle(u)]
        if any(joints.kinds[u] != REVOLUTE for u in active):
            raise InvalidValue(
                "not-supported",
                f"form='printed' of the method 'pairwise' moves hinges only, and {model.name} has others: {way}",
            )
        axes = case.at_home()[0][:, 3:6]
        if np.linalg.matrix_rank(axes[active], rtol=1e-9) > 1:
            raise InvalidValue(
                "not-supported",
                f"form='printed' of the method 'pairwise' is for planar chains, and the axes of {model.name} are not "
                f"parallel: {way}",
            )

    def plan(self, case: Case) -> Plan:
        """The pairs of consecutive axes.

        `p.plan` is the number of pairs and the rows of each, then of each pair `source, first, last`, then the entries,
        `unit, axis row, kind, velocity`, of which a pair has first to last.  Source k says that the point r of a pair
        is the origin of joint k, which lies by a number of `p.plan_reals` below that of unit k's frame; -1 - k, that it
        is effector k.
        """
        joints, units = Joints(case), case.units
        lifts = unit_arrays(units, set(joints.tips)).lifts
        # The point of a link at which its motion is taken: its effector, else the origin of the joint after it.
        points: dict[int, tuple[int, float]] = {}
        for u in reversed(range(len(units))):
            if joints.kinds[u] != BALL_TURN:
                points[joints.acting(joints.parents[u])] = (u, float(lifts[u]))
        for k in reversed(range(len(case.tasks))):
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
        m, n, rows = case.rows, case.columns, 3 if self.form == "printed" else 6
        lists = [[len(found), rows], *found, *entries]
        numbers = np.concatenate([np.asarray(part, dtype=np.int64) for part in lists])
        stacked = m + rows * len(found)
        return Plan(numbers, np.array(heights), stacked * (n + 1) + n * n)

    @staticmethod
    def update(p: Any, s: Any, w: Any) -> tuple[Any, Any]:
        """Move w.q by the least-squares solution of [J; w P] dq = [e; 0]."""
        cost, score = linearise(p, w)
        m, n = len(w.e), len(w.step)
        count = m + p.plan[0] * p.plan[1]
        rows = section(w.room, 0, count * n)
        for i in range(count * n):
            store(rows, i, splat(w.e, 0.0))
        spread(p, w.jacobian, w.free, n, rows)
        _pair_rows(p, s, w, n, section(w.room, m * n, p.plan[0] * p.plan[1] * n))
        rest, matrix = section(w.room, count * n, count), section(w.room, count * (n + 1), n * n)
        if s.solver == _LU:
            _by_normal_equations(count, n, rows, w, matrix)
        else:
            for i in range(count):
                store(rest, i, load(w.clamped, i) if i < m else splat(w.e, 0.0))
            _by_columns(count, n, rows, rest, matrix, w.step)
        restrain(p, w)
        move(p, w)
        return cost, score


@functools.partial(kernel, inline=True)
def _pair_rows(p: Any, s: Any, w: Any, n: Any, rows: Any) -> Any:
    """Add w P to the zeros in `rows`: of each pair the velocity of its point r, then its turn times the length."""
    pairs, size = p.plan[0], p.plan[1]
    heads = table(p.plan, 2, pairs, 3)
    first = 2 + 3 * pairs
    entries = table(p.plan, first, (len(p.plan) - first) // 4, 4)
    heights = p.plan_reals
    weight, length = s.weight, s.weight * s.length
    for i in range(pairs):
        source = heads[i, 0]
        if source >= 0:
            at, lift = FRAME * source, heights[i]
            x = load(w.frames, at) - lift * load(w.frames, at + 3)
            y = load(w.frames, at + 1) - lift * load(w.frames, at + 4)
            z = load(w.frames, at + 2) - lift * load(w.frames, at + 5)
        else:
            k = -1 - source
            at = FRAME * p.effectors[k].tip
            t0, t1, t2 = p.effectors[k].tool[9], p.effectors[k].tool[10], p.effectors[k].tool[11]
            x = load(w.frames, at) + load(w.frames, at + 6) * t0 + load(w.frames, at + 9) * t1
            y = load(w.frames, at + 1) + load(w.frames, at + 7) * t0 + load(w.frames, at + 10) * t1
            z = load(w.frames, at + 2) + load(w.frames, at + 8) * t0 + load(w.frames, at + 11) * t1
            x = x + load(w.frames, at + 3) * t2
            y = y + load(w.frames, at + 4) * t2
            z = z + load(w.frames, at + 5) * t2
        for j in range(heads[i, 1], heads[i, 2]):
            unit, axis, kind, a = entries[j, 0], entries[j, 1], entries[j, 2], entries[j, 3]
            scale, to, place = load(w.free, a) * p.units[unit].multiplier, size * i * n + a, FRAME * unit
            z0, z1, z2 = (
                load(w.frames, axis) * scale,
                load(w.frames, axis + 1) * scale,
                load(w.frames, axis + 2) * scale,
            )
            if kind == PRISMATIC:
                l0, l1, l2 = z0, z1, z2
            else:
                r0, r1, r2 = x - load(w.frames, place), y - load(w.frames, place + 1), z - load(w.frames, place + 2)
                l0, l1, l2 = z1 * r2 - z2 * r1, z2 * r0 - z0 * r2, z0 * r1 - z1 * r0
                if kind == HELICAL:
                    pitch = p.units[unit].pitch
                    l0, l1, l2 = l0 + pitch * z0, l1 + pitch * z1, l2 + pitch * z2
            # Joints that follow one another have one column.
            store(rows, to, load(rows, to) + weight * l0)
            store(rows, to + n, load(rows, to + n) + weight * l1)
            store(rows, to + 2 * n, load(rows, to + 2 * n) + weight * l2)
            if size == 6 and kind != PRISMATIC:
                store(rows, to + 3 * n, load(rows, to + 3 * n) + length * z0)
                store(rows, to + 4 * n, load(rows, to + 4 * n) + length * z1)
                store(rows, to + 5 * n, load(rows, to + 5 * n) + length * z2)


@functools.partial(kernel, inline=True)
def _by_normal_equations(count: Any, n: Any, rows: Any, w: Any, matrix: Any) -> Any:
    """w.step = (A^T A)^-1 J^T e by LU, A the `rows` (count x n); joints that are held have the identity's rows.

    A^T A is definite or singular, so the pivots stay on the diagonal.
    """
    for a in range(n):
        for b in range(n):
            total = splat(w.e, 0.0)
            for i in range(count):
                total = total + load(rows, i * n + a) * load(rows, i * n + b)
            store(matrix, a * n + b, total)
        store(matrix, a * n + a, load(matrix, a * n + a) + (1.0 - load(w.free, a)))
        store(w.step, a, load(w.gradient, a) * load(w.free, a))
    for k in range(n):
        for i in range(k + 1, n):
            factor = load(matrix, i * n + k) / load(matrix, k * n + k)
            for j in range(k + 1, n):
                store(matrix, i * n + j, load(matrix, i * n + j) - factor * load(matrix, k * n + j))
            store(w.step, i, load(w.step, i) - factor * load(w.step, k))
    _back_substitute_upper(n, matrix, w.step)


@functools.partial(kernel, inline=True)
def _by_columns(count: Any, n: Any, rows: Any, rest: Any, matrix: Any, x: Any) -> Any:
    """x (n) of least |A x - b| by orthonormal columns, A the `rows` (count x n), b `rest`: A^T A is never formed.

    The modified Gram-Schmidt process takes b along as one more column (Bjorck 1967); zero columns leave x at 0.
    """
    for k in range(n):
        square = splat(rows, 0.0)
        for i in range(count):
            value = load(rows, i * n + k)
            square = square + value * value
        empty = square <= 0.0
        size = sqrt(select(empty, 1.0, square))
        inverse = select(empty, 0.0, 1.0 / size)
        store(matrix, k * n + k, size)
        for i in range(count):
            store(rows, i * n + k, load(rows, i * n + k) * inverse)
        for j in range(k + 1, n + 1):
            along = splat(rows, 0.0)
            for i in range(count):
                other = load(rows, i * n + j) if j < n else load(rest, i)
                along = along + load(rows, i * n + k) * other
            for i in range(count):
                part = along * load(rows, i * n + k)
                if j < n:
                    store(rows, i * n + j, load(rows, i * n + j) - part)
                else:
                    store(rest, i, load(rest, i) - part)
            if j < n:
                store(matrix, k * n + j, along)
            else:
                store(x, k, along)
    _back_substitute_upper(n, matrix, x)


@kernel
def _back_substitute_upper(n: Any, matrix: Any, x: Any) -> Any:
    """Replace x (n) by U^-1 x, U the upper triangle of `matrix` (n x n)."""
    for i in range(n - 1, -1, -1):
        value = load(x, i)
        for k in range(i + 1, n):
            value = value - load(matrix, i * n + k) * load(x, k)
        store(x, i, value / load(matrix, i * n + i))

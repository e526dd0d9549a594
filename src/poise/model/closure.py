"""Loops of a model as kernels read them: by how much they are open, and which configuration near by closes them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.kernels.algebra.working_set import buffer_size
from poise.kernels.machine import packing
from poise.kernels.machine.jit import prepare
from poise.kernels.machine.lanes import workspace
from poise.kernels.machine.layout import (
    BALL_AXES,
    BALL_TURN,
    CLOSED,
    COORDINATE,
    FRAME,
    GOAL,
    IS_SQUARE,
    IS_SQUARE_TO,
    LOOP,
    STILL,
    WIDTH,
)
from poise.kernels.machine.memory import MEMORY, UPDATES
from poise.kernels.machine.packing import in_group, joined
from poise.model.kinematics import Query, effectors_of, tool
from poise.model.loop import LOCKS, Loop
from poise.model.tree import ball_records, carrying, frame_columns, unit_arrays
from poise.spatial import SE3

if TYPE_CHECKING:
    from poise.model.model import Model

_NONE: Final = np.zeros(0, dtype=np.intp)


class Seen(NamedTuple):
    """The frame of a loop at which kernels look, the one that sees it, and how it may turn; units are the tree's."""

    tip: int
    hang: SE3
    base: int
    base_hang: SE3
    turn: int

    @staticmethod
    def of(model: "Model", loop: Loop) -> "Seen":
        """That of a loop: the first frame, or the second where no joint carries the first."""
        frames = [model.frame(name) for name in (loop.first, loop.second)]
        (tip, hang), (base, base_hang) = (model.tree.links[frame.link] for frame in frames)
        first, second = (tip, hang @ frames[0].origin), (base, base_hang @ frames[1].origin)
        turn = LOCKS[loop.kind].turn
        if tip >= 0:
            return Seen(*first, *second, turn)
        return Seen(*second, *first, IS_SQUARE_TO if turn == IS_SQUARE else turn)


@final
class LoopClosure:
    """Loops of a model, which any number of threads may close at once."""

    def __init__(
        self, model: "Model", loops: Sequence[Loop], *, limits: bool, sums: tuple[Array, Array] | None = None
    ) -> None:
        """With `limits`, joints stay within theirs; with `sums`, (p, nq) rows A and (p,) b, so do sums A q <= b."""
        n, nq, row = model.nv, model.nq, WIDTH * -(-model.nv // WIDTH)
        seen, locks = [Seen.of(model, loop) for loop in loops], [LOCKS[loop.kind] for loop in loops]
        units, number = carrying(model.tree, [unit for at in seen for unit in (at.tip, at.base)])
        arrays = unit_arrays(units, {number[unit] for at in seen for unit in (at.tip, at.base) if unit >= 0})
        columns = [frame_columns(units, number[at.tip], number[at.base]) for at in seen]
        moved = {v for each in columns for v in each.velocities}
        moving = [unit for unit in units if unit.iv in moved and unit.kind not in (BALL_TURN, STILL)]
        balls = {unit.iq: unit.iv for unit in moving if unit.kind == BALL_AXES}
        single = {unit.iq: unit.iv for unit in moving if unit.kind != BALL_AXES}
        self.places = [*single, *(i + k for i in balls for k in range(4))]
        """The places in q of the joints that move the loops."""
        factors, most = (np.zeros((0, nq)), np.zeros(0)) if sums is None else sums
        p = len(most)
        others = {i: v for i, v in np.transpose(model._plain).tolist() if i not in single and factors[:, i].any()}
        self._free = np.ones(n)
        self._free[[*others.values()]] = 0.0  # other joints in sums do not move
        single |= others
        endless = np.full(nq, np.inf)
        self._limits: tuple[Array, Array] = (model.lower, model.upper) if limits else (-endless, endless)
        lower, upper = self._limits
        effectors = effectors_of(arrays, [(number[at.tip], at.hang) for at in seen], columns)
        for effector, at in zip(effectors, seen, strict=True):
            effector["base"] = number[at.base] + 2
            effector["base_tool"] = tool(arrays, number[at.base], at.base_hang)
        width = effectors["columns"].max(initial=0)
        effectors["angular"] = 3 * width
        ends = np.cumsum([0, *(sum(lock.rows) for lock in locks)])
        m = int(ends[-1])
        records = [
            (k, first, last, lock.bits, at.turn)
            for k, (first, last, lock, at) in enumerate(zip(ends[:-1], ends[1:], locks, seen, strict=True))
        ]
        rows = {
            **dict.fromkeys(("q", "start", "before", "begun", "prior"), nq),
            **dict.fromkeys(("free", "step", "last_step"), n),
            "frames": FRAME * len(units),
            "e": 6,
            "jacobian": 6 * width,
            "target": GOAL * len(loops),
            "memory": MEMORY,
            **in_group("closure", residual=m, rows=m * row, target=m, damping=m),
            **in_group("closure", unclosed=n, change=n, least=n, most=n),
            **in_group("constraints", rows=p * row, bounds=p, sides=n + p, buffer=buffer_size(m, n, p)),
        }
        query = Query(
            arrays,
            columns,
            rows,
            effectors=effectors.view(np.int64),
            coordinates=joined(
                COORDINATE,
                [(i, v, 0, 0) for i, v in single.items()],
                [(lower[i], upper[i], 0.0, 0.0) for i in single],
            ),
            balls=ball_records(model, list(balls.items()), limits=limits),
            speeds=np.full(n, np.inf),
            inequalities=np.column_stack([factors, most]).ravel(),
            loops=joined(LOOP, records, ()),
            loop_plan=[0, m, *range(m)],
        )
        self._words = query.words  # which a copy has elsewhere, so no address is kept
        self._size, self._shape = packing.total_rows(query.words), (m, row)
        names = ("q", "start", "free", "memory", "target", "closure.residual", "closure.rows")
        self._at = {name: packing.rows_of(query.words, name) for name in names}
        # Both frames are to be one: the target's rotation is that of the tool turned back, at no distance.
        self._target = np.zeros((len(loops), GOAL))
        self._target[:, :9] = effectors["tool"][:, [0, 3, 6, 1, 4, 7, 2, 5, 8]]

    def rows(self, q: Array) -> tuple[Array, Array]:
        """(m,) what the loops lack at q (nq,) [m, rad or a sine], as far as they hold it, and (m, nv) the Jacobian by
        which a step lessens it."""
        work, at = self._begun(q), self._at
        prepare("requirements.closing.open_by")(self._words.ctypes.data, work.ctypes.data)
        jacobian = work[at["closure.rows"]].reshape(self._shape)
        return work[at["closure.residual"]], jacobian[:, : len(work[at["free"]])]

    def gap(self, q: Array) -> float:
        """How far the worst loop is open at q (nq,) [m or rad]."""
        work = self._begun(q)
        return float(prepare("requirements.closing.open_by")(self._words.ctypes.data, work.ctypes.data))

    def closed(self, q: Array, within: float = CLOSED, *, driven: npt.NDArray[np.intp] = _NONE) -> Array | None:
        """(nq,) the configuration near to q (nq,) whose loops are open by no more than `within` [m or rad]; None if
        Newton's steps lead to none.

        The `driven` velocities do not move; others come back from beyond their limits.
        """
        found, gaps = self._close(q[None], driven, whole=False)
        return found[0] if gaps[0] <= within else None

    def all_closed(self, q: Array, *, whole: bool = False) -> tuple[Array, npt.NDArray[np.bool_]]:
        """(n, nq) the closed configurations near to q (n, nq), and which there are; where there is none, q.

        What is of use as a `whole` alone is given up at the first that there is none for.
        """
        found, gaps = self._close(q, _NONE, whole=whole)
        closed = gaps <= CLOSED
        return np.where(closed[:, None], found, q), closed

    def _close(self, q: Array, driven: npt.NDArray[np.intp], *, whole: bool) -> tuple[Array, Array]:
        """(n, nq) where Newton's steps from q (n, nq) lead, and (n,) by how much loops are open there."""
        table = np.empty((len(q), q.shape[1] + 1))
        np.clip(q, *self._limits, out=table[:, :-1])
        table[:, -1] = np.inf
        work = self._begun(0.0, driven)
        prepare("requirements.closing.close")(self._words.ctypes.data, work.ctypes.data, table.reshape(-1), int(whole))
        return table[:, :-1], table[:, -1]

    def led(self, q: Array, goal: Array, within: float, *, driven: npt.NDArray[np.intp]) -> Array | None:
        """(nq,) where the `driven` velocities that go straight from q (nq,) to where they are in `goal` (nq,) lead the
        others; None past a dead point."""
        work = self._begun(q, driven)
        work[self._at["start"]] = goal
        gap = prepare("requirements.closing.lead")(self._words.ctypes.data, work.ctypes.data)
        return work[self._at["q"]] if gap <= within else None

    def _begun(self, q: Array | float, driven: npt.NDArray[np.intp] = _NONE) -> Array:
        """Room to work in, with q (nq,) and what does not move."""
        work, at = workspace(self._size), self._at
        work[at["q"]], work[at["free"]], work[at["target"]] = q, self._free, self._target.ravel()
        work[at["free"]][driven] = 0.0
        work[at["memory"]][UPDATES] = 1.0
        return work


def loop_closure(model: "Model", *, limits: bool = False) -> LoopClosure:
    """That of all loops of a model."""
    key = LoopClosure, limits
    found: LoopClosure | None = model.queries.get(key)
    return model.queries.setdefault(key, LoopClosure(model, model.loops, limits=limits)) if found is None else found

"""Halley's method.

Idea.     Newton's method takes the Jacobian for constant; Halley's corrects it for how it changes along Newton's own
          step, which triples the number of right digits an iteration instead of doubling it.
Step.     d = J^T (J J^T + lambda^2 I)^-1 e, A = J + (dJ/dt along d) / 2, dq = A^T (A A^T + lambda^2 I)^-1 e.
Use when  one target is to be met to many digits in the fewest iterations.
Not for   far starts without clamped errors; the correction serves positions, orientations and poses without weights,
          and aims are followed as Newton would.
Cost      two Cholesky factorisations an update, and a walk along each chain.
Source.   Lloyd, Irani and Ahmadi 2022 (QuIK).
"""

import functools
from dataclasses import dataclass
from typing import Any, ClassVar, final

from poise.common.checks import not_negative
from poise.kernels.algebra.tiles import factor, gram
from poise.kernels.kinematics.forward import column_change, is_curved, tool_point
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import load, splat, store
from poise.kernels.machine.layout import PRISMATIC
from poise.kernels.machine.memory import DAMPING
from poise.kernels.methods.damped import through_rows
from poise.methods.base import Capabilities, ClampMag, JacobianMethod, method


@method
@final
@dataclass(frozen=True, kw_only=True)
class Halley(JacobianMethod):
    """dq = A^T (A A^T + lambda^2 I)^-1 e with the Jacobian A halfway; see the module."""

    name: ClassVar[str] = "halley"
    title: ClassVar[str] = "Halley's method"
    references: ClassVar[tuple[str, ...]] = ("lloyd2022",)
    capabilities: ClassVar[Capabilities] = Capabilities()
    iterations: ClassVar[int] = 100
    damping: float = 1e-5**0.5
    """lambda; the paper's lambda^2 are 0, 1e-7 and 1e-5."""
    max_error: float | ClampMag | None = ClampMag(position=0.34, rotation=1.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        not_negative("damping", self.damping)

    @staticmethod
    def step(p: Any, s: Any, w: Any) -> None:
        """A damped step d, then the damped step of A = J + (dJ/dt along d) / 2."""
        size, damping = len(w.e), splat(w.e, s.damping * s.damping)
        store(w.memory, DAMPING, damping)
        gram(p, size, w.jacobian, w.free, w.matrix)
        factor(size, damping, w.matrix)
        through_rows(p, w)
        _add_second_order(p, w)
        gram(p, size, w.jacobian, w.free, w.matrix)
        factor(size, damping, w.matrix)
        through_rows(p, w)


@functools.partial(kernel, inline=True)
def _add_second_order(p: Any, w: Any) -> Any:
    """J += (dJ/dt) / 2 along the velocities w.step, for places and rotations whose rows have no weights.

    A joint's axis turns, and its origin moves, with what the joints before it do; the effector moves with all.
    """
    for k in range(len(p.effectors)):
        effector = p.effectors[k]
        slot0 = effector.first_slot
        if (effector.position < 0 and effector.rotation < 0) or effector.weighing or effector.base:
            continue
        block = effector.first_block
        o = splat(w.e, 0.0)
        px, py, pz = tool_point(effector, w.frames)
        linear, angular = p.blocks[block].start, p.blocks[p.effectors[k].last_block - 1].start
        s0, s1, s2 = o, o, o
        if effector.position >= 0:
            for c in range(p.effectors[k].columns):
                x = load(w.step, p.slots[slot0 + c])
                s0 = s0 + load(w.jacobian, linear + 3 * c) * x
                s1 = s1 + load(w.jacobian, linear + 3 * c + 1) * x
                s2 = s2 + load(w.jacobian, linear + 3 * c + 2) * x
        # The twist of what carries a joint: turn w and the velocity v of the point at the world's origin.
        w0, w1, w2, v0, v1, v2 = o, o, o, o, o, o
        n0, n1, n2, u0, u1, u2 = o, o, o, o, o, o
        for r in range(p.effectors[k].first_column, p.effectors[k].last_column):
            axis, place, joint, column = p.columns[r].axis, p.columns[r].place, p.columns[r].kind, p.columns[r].column
            if column < 0:
                column = -1 - column
            z0, z1, z2 = load(w.frames, axis), load(w.frames, axis + 1), load(w.frames, axis + 2)
            x0, x1, x2 = load(w.frames, place), load(w.frames, place + 1), load(w.frames, place + 2)
            scale, pitch = p.columns[r].scale, 1.0 if joint == PRISMATIC else p.columns[r].pitch
            z0, z1, z2 = z0 * scale, z1 * scale, z2 * scale
            speed = load(w.step, p.slots[slot0 + column])
            d0, d1, d2 = w1 * z2 - w2 * z1, w2 * z0 - w0 * z2, w0 * z1 - w1 * z0
            l0, l1, l2 = d0 * pitch, d1 * pitch, d2 * pitch
            u0, u1, u2 = u0 + z0 * (pitch * speed), u1 + z1 * (pitch * speed), u2 + z2 * (pitch * speed)
            if joint != PRISMATIC:
                r0, r1, r2 = px - x0, py - x1, pz - x2
                m0 = s0 - v0 - (w1 * x2 - w2 * x1)
                m1 = s1 - v1 - (w2 * x0 - w0 * x2)
                m2 = s2 - v2 - (w0 * x1 - w1 * x0)
                l0 = l0 + d1 * r2 - d2 * r1 + z1 * m2 - z2 * m1
                l1 = l1 + d2 * r0 - d0 * r2 + z2 * m0 - z0 * m2
                l2 = l2 + d0 * r1 - d1 * r0 + z0 * m1 - z1 * m0
                n0, n1, n2 = n0 + z0 * speed, n1 + z1 * speed, n2 + z2 * speed
                u0 = u0 + (x1 * z2 - x2 * z1) * speed
                u1 = u1 + (x2 * z0 - x0 * z2) * speed
                u2 = u2 + (x0 * z1 - x1 * z0) * speed
            if effector.position >= 0:
                _add(w.jacobian, linear + 3 * column, 0.5 * l0, 0.5 * l1, 0.5 * l2)
            if effector.rotation >= 0 and joint != PRISMATIC:
                _add(w.jacobian, angular + 3 * column, 0.5 * d0, 0.5 * d1, 0.5 * d2)
            if is_curved(p, p.columns[r]):
                l0, l1, l2, d0, d1, d2 = column_change(p.columns[r], w.frames, px, py, pz)
                if effector.position >= 0:
                    x = 0.5 * speed
                    _add(w.jacobian, linear + 3 * column, x * l0, x * l1, x * l2)
                if effector.rotation >= 0 and joint != PRISMATIC:
                    x = 0.5 * speed
                    _add(w.jacobian, angular + 3 * column, x * d0, x * d1, x * d2)
            if axis - place == 3:  # the first two axes of a ball wait for the third: all three turn as one
                w0, w1, w2, v0, v1, v2 = w0 + n0, w1 + n1, w2 + n2, v0 + u0, v1 + u1, v2 + u2
                n0, n1, n2, u0, u1, u2 = o, o, o, o, o, o


@kernel
def _add(jacobian: Any, at: Any, x: Any, y: Any, z: Any) -> Any:
    store(jacobian, at, load(jacobian, at) + x)
    store(jacobian, at + 1, load(jacobian, at + 1) + y)
    store(jacobian, at + 2, load(jacobian, at + 2) + z)

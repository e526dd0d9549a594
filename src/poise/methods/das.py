"""The Jacobian transpose law of Das, Slotine and Sheridan.

Idea.     A spring of stiffness K_p pulls the effector to its target; the joints follow the torques J^T K_p e that it
          makes.  What moves no effector is left to other springs: to a posture, and off obstacles.
Step.     dq = alpha S J^T K_p e + beta (I - J^+ J) phi, with the projector by singular values.  alpha = N / 2D makes
          the next e^T K_p e least, to first order; the setting `alpha` takes a share of it.  S is 1, or 1 / Q for the
          joints that turn where the step with S = 1 is longer than Q_lim, Q being its length; alpha is then found anew,
          so that beside the slides they turn 1 / Q times what they would: more, if Q is below 1.
          beta = r / |q - q_d|^2 where that is below 1, r = beta^2 |q - q_d|^2 of the last update, else 1; so the second
          half of V = e^T K_p e / 2 + beta^2 |q - q_d|^2 / 2 never grows.
Use when  comparing; a vehicle carries the arm and is to move first; a redundant arm passes obstacles, slowly.
Not for   accuracy, for it converges as the transpose does; a start at the posture q_d itself, whose r is 0: no growth
          is allowed, and beta stays 0 until a target moves.
Cost      two products with J an update; with a null-space term a singular value decomposition.
Source.   Das, Slotine and Sheridan 1988.  A new target begins with beta = 1 and the null-space step is shortened to
          `max_null_step`: both are ours.
"""

import functools
import math
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np

from poise.common.checks import finite_positive, positive
from poise.common.errors import InvalidValue
from poise.kernels.algebra.blocks import times
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import load, select, splat, sqrt, store
from poise.kernels.machine.layout import BY_FUNCTION, PRISMATIC
from poise.kernels.machine.memory import FRESH, PREDICTED, SWAY
from poise.kernels.methods.criteria import null_space_velocity
from poise.kernels.methods.filters import add_null_term, split
from poise.kernels.methods.update import hold_joints_at_limits, measure, move, restrain
from poise.methods.base import Capabilities, Case, NullSpaceMethod, Plan, method
from poise.methods.criteria import Clearance
from poise.methods.joints import Joints


@method
@final
@dataclass(frozen=True, kw_only=True)
class DasSlotineSheridan(NullSpaceMethod):
    """dq = alpha S J^T K_p e + beta (I - J^+ J) phi; see the module.

    The paper's K and q_d are `RestPosture(q=q_d, gain=K)`, its obstacles and K_obs `Clearance(obstacles, gain=K_obs)`.
    """

    name: ClassVar[str] = "das"
    title: ClassVar[str] = "Das, Slotine and Sheridan"
    references: ClassVar[tuple[str, ...]] = ("das1988",)
    capabilities: ClassVar[Capabilities] = Capabilities(whole=False)
    iterations: ClassVar[int] = 2000
    max_step: float = math.radians(30.0)
    position_stiffness: float = 1.0
    """K_p of positions."""
    rotation_stiffness: float = 1.0
    """K_p of rotations; only its ratio to that of positions matters."""
    alpha: float = 1.0
    """alpha as a share of N / 2D; e^T K_p e falls, to first order, with any between 0 and 2."""
    vehicle_limit: float | None = None
    """Q_lim [rad and m]: above this Euclidean length Q of the step, S weighs the joints that turn by 1 / Q.  With 1 or
    more the joints that slide go first; with less it may be those that turn.  None: S = 1."""
    beta_rule: bool = True
    """Whether beta follows its rule; if not, it is 1.  q_d is that of the RestPosture, or the model's home."""
    max_null_step: float = 0.2
    """Euclidean length of the largest null-space step [rad and m]; near an obstacle it would grow like 1 / distance."""
    literal_sign: bool = False
    """Obstacles with the sign that the paper prints, which attracts: to repeat the paper, not to use."""

    def __post_init__(self) -> None:
        super().__post_init__()
        finite_positive("position_stiffness", self.position_stiffness)
        finite_positive("rotation_stiffness", self.rotation_stiffness)
        positive("alpha", self.alpha)
        if self.alpha >= 2.0:
            raise InvalidValue(
                "out-of-range", f"alpha is {self.alpha!r}; from 2 on the error grows: it must be between 0 and 2"
            )
        positive("max_null_step", self.max_null_step)
        if self.vehicle_limit is not None:
            positive("vehicle_limit", self.vehicle_limit)
        if self.literal_sign and not any(isinstance(term, Clearance) for term in self.terms):
            raise InvalidValue("needs", "literal_sign is of obstacles, and null_space holds no Clearance")

    def common(self) -> dict[str, float]:
        """See `Method.common`."""
        found = super().common()
        return found | {"clearance_gain": -found["clearance_gain"]} if self.literal_sign else found

    def plan(self, case: Case) -> Plan:
        """The velocity of each unit that turns or slides, -1 where it has none."""
        return Plan(np.array(Joints(case).velocities(), dtype=np.int64))

    @staticmethod
    def update(p: Any, s: Any, w: Any) -> tuple[Any, Any]:
        """As for the other Jacobian methods, with K_p e for e."""
        cost, score = measure(p, w, s.beta_rule)
        _stiffen(p, s, w)
        hold_joints_at_limits(p, w)
        if p.common[0].null:
            null_space_velocity(p, w)
        _step(p, s, w)
        restrain(p, w)
        move(p, w)
        return cost, score


@functools.partial(kernel, inline=True)
def _stiffen(p: Any, s: Any, w: Any) -> Any:
    """w.clamped becomes K_p e."""
    for k in range(len(p.effectors)):
        for b in range(p.effectors[k].first_block, p.effectors[k].last_block):
            x = _stiffness(p, s, b)
            for i in range(3 * b, 3 * b + 3):
                store(w.clamped, i, x * load(w.clamped, i))


@functools.partial(kernel, inline=True)
def _stiffness(p: Any, s: Any, b: Any) -> Any:
    return s.position_stiffness if p.blocks[b].metres else s.rotation_stiffness


@functools.partial(kernel, inline=True)
def _step(p: Any, s: Any, w: Any) -> Any:
    """step = alpha S J^T K_p e + beta (I - J^+ J) phi, from w.clamped = K_p e and w.gradient = J^T K_p e (eq. 2.8)."""
    n = len(w.step)
    square = splat(w.e, 0.0)
    for a in range(n):
        g = load(w.gradient, a)
        store(w.other, a, g)
        square = square + g * g
    alpha = _alpha(p, s, w)
    # S weighs turning joints by 1 / Q where the step is longer than Q_lim; alpha is then that of the weighted step.
    if s.vehicle_limit < 1e300:
        far = alpha * sqrt(square)
        over = far > s.vehicle_limit
        slower = select(over, 1.0 / select(over, far, 1.0), 1.0)
        for a in range(n):
            store(w.other, a, slower * load(w.gradient, a))
        for u in range(len(p.units)):
            a = p.plan[u]
            if a >= 0 and (p.units[u].kind == PRISMATIC or p.units[u].kind == BY_FUNCTION + PRISMATIC):
                store(w.other, a, load(w.gradient, a))
        alpha = _alpha(p, s, w)
    for a in range(n):
        store(w.other, a, alpha * load(w.other, a))
        store(w.step, a, splat(w.e, 0.0))
    if p.common[0].null:
        add_null_term(p, w, split(p, w))
    beta = splat(w.e, 1.0)
    if s.beta_rule:
        beta = _posture_gain(p, w)
    square = splat(w.e, 0.0)
    for a in range(n):
        x = load(w.step, a)
        square = square + x * x
    size = beta * sqrt(square)
    over = size > s.max_null_step
    beta = beta * select(over, s.max_null_step / select(over, size, 1.0), 1.0)
    for a in range(n):
        store(w.step, a, load(w.other, a) + beta * load(w.step, a))


@functools.partial(kernel, inline=True)
def _alpha(p: Any, s: Any, w: Any) -> Any:
    """The share of N / 2D along w.other = S J^T K_p e, at which the linear model of the error is least (appendix A)."""
    times(p, w.jacobian, w.other, w.y)
    along, square = splat(w.e, 0.0), splat(w.e, 0.0)
    for k in range(len(p.effectors)):
        for b in range(p.effectors[k].first_block, p.effectors[k].last_block):
            x = _stiffness(p, s, b)
            for i in range(3 * b, 3 * b + 3):
                y = load(w.y, i)
                along = along + load(w.clamped, i) * y
                square = square + x * y * y
    moving = square > 1e-280
    return select(moving, s.alpha * along / select(moving, square, 1.0), 0.0)


@functools.partial(kernel, inline=True)
def _posture_gain(p: Any, w: Any) -> Any:
    """beta, by which beta^2 |q - q_d|^2 never grows while the targets stand still (appendix A)."""
    posture = p.posture
    away = splat(w.e, 0.0)
    for c in range(len(p.coordinates)):
        i = p.coordinates[c].q
        x = load(w.q, i) - posture[i]
        away = away + x * x
    first = (load(w.memory, FRESH) < 0.5) | (load(w.memory, PREDICTED) < 0.0)
    last = select(first, away, load(w.memory, SWAY))
    grown = away > last
    beta = select(grown, last / select(grown, away, 1.0), 1.0)
    store(w.memory, SWAY, beta * beta * away)
    store(w.memory, PREDICTED, 0.0)
    return beta

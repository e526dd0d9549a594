"""The extended Jacobian.

Idea.     Give the joints' freedom a purpose and follow it exactly: keep a criterion g at its least among all
          configurations that meet the task.  The task's rows and those of the optimality condition form a square
          system, so that a path of the effector that closes closes in the joints too.
Step.     [J; E] dq = [e; -Z^T grad g], Z an orthonormal basis of the null space of J, E the derivative of Z^T grad g:
          E = Z^T (Hess g - sum_k mu_k Hess f_k), mu = (J^T)^+ grad g.  At the optimum the right side is Baillieul's
          [e; 0]; off it, the step is Newton's for Chang's system [f(q) - x; Z^T grad g] = 0.
Use when  motions repeat and the joints must come back, or a posture is to be the best and not only pulled at.
Not for   algorithmic singularities, where E Z is singular although J is not: there the minimum ends, and the joints
          must travel to another.  Nor for aims.
Cost      a singular value decomposition, n^2 second derivatives, a factorisation of as many unknowns as J leaves free.
Source.   Baillieul 1985; Chang 1987; Klein, Chu and Ahmed 1995.

E Z is the Hessian of g within the task, and is kept positive definite: where it is not, or hardly, a multiple of the
identity is added, so that the step still lowers g.  Singular values sigma of J below `cutoff` times the largest count
as sigma / (that edge)^2 in place of 1 / sigma.  The second derivative of a rotation is that of the rotation vector from
where the frame is, half of a_i x a_j for axis i before axis j; the geometric Jacobian's own differs from it by what
J Z = 0 cancels, as long as no row of the rotation is left out.  The Hessian of the manipulability is a difference
quotient of its exact gradient.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Final, final, get_args

import numpy as np

from poise.common.checks import positive
from poise.common.errors import InvalidType, InvalidValue
from poise.kernels.algebra.cholesky import factor, substitute
from poise.kernels.kinematics.forward import column_change, is_curved, tool_point
from poise.kernels.machine.jit import call, entry_point, kernel
from poise.kernels.machine.kinds import REALS, WHOLE
from poise.kernels.machine.lanes import pitch
from poise.kernels.machine.layout import BAD_GOAL, BAD_START, CALL, HESSIAN, PRISMATIC, WIDTH
from poise.kernels.machine.memory import SPLIT
from poise.kernels.machine.views import as_array, as_matrix, entry_at, narrow, problem_at, section, settings_of
from poise.kernels.methods.criteria import RANK, add_manipulability, null_space_velocity
from poise.kernels.methods.filters import split
from poise.kernels.methods.update import linearise, move, restrain, take_columns_at_targets
from poise.kernels.rows.residuals import weights_at
from poise.kernels.solver.ends import aim_at, clip_start, evaluate
from poise.methods.base import Capabilities, Case, ClampMag, JacobianMethod, method
from poise.methods.criteria import Clearance, Criterion, Manipulability, Potential, RestPosture

_FLAT = 1e-8
"""Share of the largest diagonal entry of E Z below which a pivot counts as none."""
_FIRST = 1e-3
"""The first shift, as such a share."""
_SHIFTS = 40
_NEAR = 1e-4
"""Half the way between the two gradients of a difference quotient [rad or m]."""


@method
@final
@dataclass(frozen=True, kw_only=True)
class ExtendedJacobian(JacobianMethod):
    """[J; E] dq = [e; -Z^T grad g]; see the module."""

    name: ClassVar[str] = "extended"
    title: ClassVar[str] = "Extended Jacobian"
    references: ClassVar[tuple[str, ...]] = ("baillieul1985", "chang1987", "klein1995")
    capabilities: ClassVar[Capabilities] = Capabilities(tasks="poses", characters=False)
    curved: ClassVar[bool] = True
    iterations: ClassVar[int] = 300
    max_step: float = math.radians(45.0)
    max_error: float | ClampMag | None = 0.2
    criterion: Criterion = RestPosture()
    """g: half the squared distance to a posture, the distance to the middles of the joints' limits, or a function of
    your own with its Hessian; or the distance from limits, from obstacles, or the manipulability turned round, whose
    Hessians are differences of their exact gradients and cost two of these a joint.  Its gain is without effect.
    Balls count for nothing in what is of limits or a posture, and are refused with obstacles and manipulability."""
    cutoff: float = 1e-3
    """Share of the largest singular value of J below which its inverse is damped."""

    def __post_init__(self) -> None:
        super().__post_init__()
        positive("cutoff", self.cutoff)
        if not isinstance(self.criterion, Criterion):
            able = ", ".join(kind.__name__ for kind in get_args(Criterion))
            raise InvalidType("wrong-type", f"criterion must be one of {able}, got {self.criterion!r}")
        if isinstance(self.criterion, Potential) and self.criterion.hessian is None:
            raise InvalidValue(
                "needs",
                "the Potential has no hessian, which the method 'extended' needs: give it hessian=f, where f(q, out) "
                "writes the second derivatives into out (nv, nv)",
            )

    @property
    def terms(self) -> tuple[Criterion, ...]:
        """The criterion."""
        return (self.criterion,)

    def common(self) -> dict[str, float]:
        """See `Method.common`; a longest pull would bend the criterion's gradient."""
        return super().common() | {self.criterion.entry: 1.0, "limit_longest": math.inf}

    def refuse(self, case: Case) -> None:
        """Raises ValueError for balls with a criterion whose gradient is differenced."""
        if not isinstance(self.criterion, Manipulability | Clearance):
            return
        model, balls = case.model, case.section("balls")["q"]
        for joint in model.joints:
            if (
                joint.nq
                and joint.quaternion_at is not None
                and model.index(joint.name).start + joint.quaternion_at in balls
            ):
                raise InvalidValue(
                    "not-supported",
                    f"the method 'extended' has no Hessian of the {type(self.criterion).__name__} for balls, and "
                    f"{joint.name!r} turns as one: choose another criterion",
                )

    def room(self, m: int, n: int) -> int:
        """A Jacobian's, behind it three square matrices and two vectors."""
        return m * WIDTH * -(-n // WIDTH) + 3 * n * n + n + m

    @staticmethod
    def update(p: Any, s: Any, w: Any) -> tuple[Any, Any]:
        """Move w.q by one step of the extended Jacobian; the sum of squares and the score before it.

        A joint at a limit that the step would push out is held, and the step is found anew.
        """
        cost, score = linearise(p, w)
        again = True
        while again:
            _extended_step(p, s, w)
            again = _hold_what_leaves(p, w)
        restrain(p, w)
        move(p, w)
        return cost, score


_RECORD: Final = ExtendedJacobian.routine.record


@kernel
def _hold_what_leaves(p: Any, w: Any) -> Any:
    """Hold the joints at their limits that w.step would push out; whether there were any."""
    found = False
    for c in range(len(p.coordinates)):
        x, a = w.q[p.coordinates[c].q], p.coordinates[c].v
        out = (x <= p.coordinates[c].lower and w.step[a] < 0.0) or (x >= p.coordinates[c].upper and w.step[a] > 0.0)
        if out and w.free[a] > 0.0:
            w.free[a] = 0.0
            found = True
    return found


@kernel
def _divide_workspace(m: Any, n: Any, w: Any) -> Any:
    """Sections of w.room behind a Jacobian's: the rows of Z (n x n at most), K, Z^T K Z = E Z, y (n), mu (m)."""
    at = m * pitch(w.rows, n)
    square = n * n
    return (
        section(w.room, at, square),
        section(w.room, at + square, square),
        section(w.room, at + 2 * square, square),
        section(w.room, at + 3 * square, n),
        section(w.room, at + 3 * square + n, m),
    )


@kernel
def _extended_step(p: Any, s: Any, w: Any) -> Any:
    """w.step = J^+ e + Z y, from the errors w.clamped and the Jacobian of the joints that are free."""
    m, n = len(w.e), len(w.step)
    basis, curvature_basis, reduced, y, _mu = _divide_workspace(m, n, w)
    left = _reduce(p, s, w)
    for i in range(left):
        total = 0.0
        for a in range(n):
            pulled = w.phi[a]
            for b in range(n):
                pulled -= curvature_basis[a * n + b] * w.step[b]
            total += basis[i * n + a] * pulled
        y[i] = total
    _solve_definite(left, n, reduced, curvature_basis, y)
    for i in range(left):
        for a in range(n):
            w.step[a] += basis[i * n + a] * y[i]


@kernel
def _reduce(p: Any, s: Any, w: Any) -> Any:
    """Fill Z, K and E Z of `_divide_workspace`, w.step with J^+ e, w.phi with -grad g; the number of rows of Z."""
    m, n = len(w.e), len(w.step)
    row, side = pitch(w.rows, n), pitch(w.turn, m)
    basis, curvature_basis, reduced, slope, mu = _divide_workspace(m, n, w)
    differing = (
        p.common[0].manipulability_gain != 0.0 or p.common[0].limit_gain != 0.0 or p.common[0].clearance_gain != 0.0
    )
    if differing:
        _hessian_by_differences(p, s, w, reduced, slope)
        for a in range(n):
            w.phi[a] = slope[a] * w.free[a]
    else:
        null_space_velocity(p, w)
    top = split(p, w)
    edge = s.cutoff * top
    for a in range(n):
        w.step[a] = 0.0
    for i in range(m):
        mu[i] = 0.0
    for i in range(m):
        sigma = w.sigma[i]
        if not sigma > RANK * top:
            continue
        inverse = 1.0 / max(sigma, edge) ** 2
        along = 0.0
        for a in range(n):
            along -= w.rows[i * row + a] * w.phi[a]
            w.step[a] += w.rows[i * row + a] * w.along[i] * inverse
        for k in range(m):
            mu[k] += w.turn[i * side + k] * along * inverse  # mu = J^+T grad g, the multipliers
    _hessian(p, s, w, mu, curvature_basis)
    if differing:
        for i in range(n * n):
            curvature_basis[i] += reduced[i]
    left = _complete(m, n, w, RANK * top, basis)
    for i in range(left):
        for j in range(i + 1):
            total = 0.0
            for a in range(n):
                inner = 0.0
                for b in range(n):
                    inner += curvature_basis[a * n + b] * basis[j * n + b]
                total += basis[i * n + a] * inner
            reduced[i * n + j] = total
            reduced[j * n + i] = total
    return left


@kernel
def _hessian_by_differences(p: Any, s: Any, w: Any, curvature_basis: Any, slope: Any) -> Any:
    """curvature_basis (n x n) = Hess g by central differences, slope (n) = -grad g at w.q, held joints as if free.

    w.jacobian is afterwards what it was; what `split` leaves is not.
    """
    n = len(w.step)
    for a in range(n):
        w.other[a], w.free[a] = w.free[a], 1.0
    for i in range(n * n):
        curvature_basis[i] = 0.0
    for c in range(len(p.coordinates)):
        i, a = p.coordinates[c].q, p.coordinates[c].v
        x = w.q[i]
        for side in (-1.0, 1.0):
            w.q[i] = x + side * _NEAR
            _fall(p, s, w)
            for b in range(n):
                curvature_basis[a * n + b] -= side * w.phi[b] / (2.0 * _NEAR)
        w.q[i] = x
    _fall(p, s, w)
    for a in range(n):
        slope[a], w.free[a] = w.phi[a], w.other[a]
    if p.common[0].at_target:
        take_columns_at_targets(p, w)


@kernel
def _fall(p: Any, s: Any, w: Any) -> Any:
    """w.phi = -grad g at w.q."""
    evaluate(p, w)
    if p.common[0].manipulability_gain != 0.0:
        top = split(p, w)
        for a in range(len(w.step)):
            w.phi[a] = 0.0
        add_manipulability(p, w, top)
    else:
        null_space_velocity(p, w)


@kernel
def _complete(m: Any, n: Any, w: Any, least: Any, basis: Any) -> Any:
    """Rows of `basis` become orthonormal to one another and to the v_i of sigma_i > `least`, joints held left out.

    Each is the unit vector of the joint of which most is left, made orthogonal twice; the number of rows.
    """
    row, left = pitch(w.rows, n), 0
    for a in range(n):
        left += w.free[a] > 0.0
    for i in range(m):
        left -= w.sigma[i] > least
    left = max(left, 0)
    for r in range(left):
        best, most = 0, -1.0
        for a in range(n):
            if w.free[a] > 0.0:
                rest = 1.0
                for i in range(m):
                    if w.sigma[i] > least:
                        rest -= (w.rows[i * row + a] / w.sigma[i]) ** 2
                for j in range(r):
                    rest -= basis[j * n + a] ** 2
                if rest > most:
                    best, most = a, rest
        for a in range(n):
            basis[r * n + a] = 1.0 if a == best else 0.0
        for _ in range(2):
            for i in range(m):
                if w.sigma[i] > least:
                    along = 0.0
                    for a in range(n):
                        along += w.rows[i * row + a] * basis[r * n + a]
                    along /= w.sigma[i] ** 2
                    for a in range(n):
                        basis[r * n + a] -= along * w.rows[i * row + a]
            for j in range(r):
                along = 0.0
                for a in range(n):
                    along += basis[j * n + a] * basis[r * n + a]
                for a in range(n):
                    basis[r * n + a] -= along * basis[j * n + a]
            square = 0.0
            for a in range(n):
                square += basis[r * n + a] ** 2
            for a in range(n):
                basis[r * n + a] /= np.sqrt(square)
    return left


@kernel
def _hessian(p: Any, s: Any, w: Any, mu: Any, curvature_basis: Any) -> Any:
    """K = curvature_basis (n x n) = Hess g - sum mu_k Hess f_k, at w.q.

    What turns about z_i turns all that follows: the second derivative of a place by joints i and j, i not after j, is
    z_i x J_j.  Of a rotation it is the symmetric half of z_i x z_j.  The three axes of a ball stand still.
    """
    n = len(w.step)
    for i in range(n * n):
        curvature_basis[i] = 0.0
    for c in range(len(p.coordinates)):
        a = p.coordinates[c].v
        curvature_basis[a * n + a] = p.common[0].rest_gain
        half = 0.5 * (p.coordinates[c].upper - p.coordinates[c].lower)
        if 0.0 < half < 1e300:
            curvature_basis[a * n + a] += 2.0 * p.common[0].centre_gain / (len(p.coordinates) * half * half)
    if p.common[0].potential_gain != 0.0:
        nv = p.velocities[n]
        entries = section(w.room, len(w.room) - nv - nv * nv, nv * nv)
        call(w.routines[HESSIAN], as_array(w.q), as_matrix(entries, nv, nv))
        for a in range(n):
            for b in range(n):
                curvature_basis[a * n + b] += entries[nv * p.velocities[a] + p.velocities[b]]
    for k in range(len(p.effectors)):
        effector = p.effectors[k]
        slot0 = effector.first_slot
        px, py, pz = tool_point(effector, w.frames)
        f0, f1, f2, n0, n1, n2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        if effector.position >= 0:
            f0, f1, f2 = _unweighted(p, w, k, p.effectors[k].first_block, mu)
        if effector.rotation >= 0:
            n0, n1, n2 = _unweighted(p, w, k, p.effectors[k].last_block - 1, mu)
        for j in range(p.effectors[k].first_column, p.effectors[k].last_column):
            b = p.slots[slot0 + _column_of(p, j)]
            l0, l1, l2 = _velocity_by(p, w, j, px, py, pz)
            if (effector.position >= 0 or effector.rotation >= 0) and is_curved(p, p.columns[j]):
                x0, x1, x2, y0, y1, y2 = column_change(p.columns[j], w.frames, px, py, pz)
                curvature_basis[b * n + b] -= f0 * x0 + f1 * x1 + f2 * x2 + n0 * y0 + n1 * y1 + n2 * y2
            for i in range(p.effectors[k].first_column, j + 1):
                if p.columns[i].kind == PRISMATIC:
                    continue
                a, axis, scale = p.slots[slot0 + _column_of(p, i)], p.columns[i].axis, p.columns[i].scale
                z0, z1, z2 = w.frames[axis] * scale, w.frames[axis + 1] * scale, w.frames[axis + 2] * scale
                value = f0 * (z1 * l2 - z2 * l1) + f1 * (z2 * l0 - z0 * l2) + f2 * (z0 * l1 - z1 * l0)
                other, scale = p.columns[j].axis, p.columns[j].scale
                y0, y1, y2 = w.frames[other] * scale, w.frames[other + 1] * scale, w.frames[other + 2] * scale
                if i != j and p.columns[i].place == p.columns[j].place:
                    k0, k1, k2 = _velocity_by(p, w, i, px, py, pz)
                    value += f0 * (y1 * k2 - y2 * k1) + f1 * (y2 * k0 - y0 * k2) + f2 * (y0 * k1 - y1 * k0)
                    value *= 0.5
                elif p.columns[j].kind != PRISMATIC:
                    turn = n0 * (z1 * y2 - z2 * y1) + n1 * (z2 * y0 - z0 * y2) + n2 * (z0 * y1 - z1 * y0)
                    value += 0.5 * turn
                curvature_basis[a * n + b] -= value
                if i != j:
                    curvature_basis[b * n + a] -= value


@kernel
def _unweighted(p: Any, w: Any, k: Any, block: Any, mu: Any) -> Any:
    """W^T mu of one block of effector k, W its weights."""
    x, y, z = mu[3 * block], mu[3 * block + 1], mu[3 * block + 2]
    at = weights_at(p.effectors[k], k, block)
    if at < 0 and p.effectors[k].weighing:
        weight = p.blocks[block].weight
        x, y, z = weight[0] * x, weight[1] * y, weight[2] * z
    elif at >= 0:
        x, y, z = (
            w.target[at] * x + w.target[at + 3] * y + w.target[at + 6] * z,
            w.target[at + 1] * x + w.target[at + 4] * y + w.target[at + 7] * z,
            w.target[at + 2] * x + w.target[at + 5] * y + w.target[at + 8] * z,
        )
    return x, y, z


@kernel
def _column_of(p: Any, r: Any) -> Any:
    """The column of an effector's Jacobian that axis r adds to."""
    return p.columns[r].column if p.columns[r].column >= 0 else -1 - p.columns[r].column


@kernel
def _velocity_by(p: Any, w: Any, r: Any, px: Any, py: Any, pz: Any) -> Any:
    """What axis r alone makes of the velocity of the point (px, py, pz)."""
    axis, place, kind, scale = p.columns[r].axis, p.columns[r].place, p.columns[r].kind, p.columns[r].scale
    z0, z1, z2 = w.frames[axis] * scale, w.frames[axis + 1] * scale, w.frames[axis + 2] * scale
    if kind == PRISMATIC:
        return z0, z1, z2
    x, y, z = px - w.frames[place], py - w.frames[place + 1], pz - w.frames[place + 2]
    h = p.columns[r].pitch
    return z1 * z - z2 * y + h * z0, z2 * x - z0 * z + h * z1, z0 * y - z1 * x + h * z2


@kernel
def _solve_definite(left: Any, n: Any, reduced: Any, scratch: Any, x: Any) -> Any:
    """Replace x (left) by (E Z + shift I)^-1 x, with the least shift tried that makes the matrix positive definite.

    `reduced` holds E Z (left x left) in rows n apart.
    """
    if left == 0:
        return
    top = 0.0
    for i in range(left):
        top = max(top, abs(reduced[i * n + i]))
    shift = 0.0
    for _ in range(_SHIFTS):
        for i in range(left):
            for j in range(i + 1):
                scratch[i * left + j] = reduced[i * n + j] + (shift if i == j else 0.0)
        if factor(left, scratch) > _FLAT * top:
            break
        shift = max(_FIRST * top, 4.0 * shift, 1e-300)
    substitute(left, scratch, x)


@entry_point(WHOLE, REALS)
def reduced_hessian(address: int, out: Any) -> int:
    """E Z at `start`, row by row into `out`, with all joints free; its rows, or a negative code for bad input."""
    entry = entry_at(address, CALL)
    p = problem_at(entry.problem)
    w = narrow(p, entry.narrow, entry.routines)
    if not aim_at(p, w.goal, w.target):
        return BAD_GOAL
    if not clip_start(p, w.start, w.q):
        return BAD_START
    evaluate(p, w)
    m, n = len(w.e), len(w.step)
    for i in range(m):
        w.clamped[i] = 0.0
    for a in range(n):
        w.free[a] = 1.0
    w.memory[SPLIT] = 0.0
    left = _reduce(p, settings_of(p, _RECORD), w)
    _basis, _curvature_basis, reduced, _y, _mu = _divide_workspace(m, n, w)
    for i in range(left):
        for j in range(left):
            out[i * left + j] = reduced[i * n + j]
    return left

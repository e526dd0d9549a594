"""Cyclic coordinate descent.

Idea.     One joint after the other, from the tips to the base, takes the best place that it can have while the others
          stand still; each such problem has one unknown and a closed solution.
Step.     For a joint that turns about a through p, with d = s - p and c = t - p, summed over the effectors that it
          moves: k1 = (c . a)(d . a), k2 = c . d, k3 = a . (d x c), and the turn is atan2(k3, k2 - k1); a rotation adds
          the same of its frame's axes, times half of `orientation_weight`.  A slide goes by the mean of (t - s) . a,
          a screw by Newton's step with a curvature that bounds the true one, a ball by a turn about each of three
          axes.  A joint that would leave its limits takes the better end of them, a ball the nearest place inside.
Use when  there are limits everywhere and no derivative is wanted; the error falls with every joint.
Not for   the last digits, for it converges slowly; targets on the line of a stretched arm, where no turn helps and
          only a new start does; even use of the joints: those at the tips do most.
Cost      one pass over the joints an update, no matrix.
Source.   Wang and Chen 1991; Welman 1993, for several effectors their sum.
"""

import functools
from dataclasses import dataclass
from typing import Any, ClassVar, Final, final

import numpy as np

from poise.common.checks import positive
from poise.kernels.algebra.rotations import half_angle_ratio, quaternion_step
from poise.kernels.algebra.scalar import sincos
from poise.kernels.algebra.vectors import turned
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import load, select, splat, sqrt, store
from poise.kernels.machine.layout import BALL_AXES, FRAME, GOAL, PRISMATIC, REVOLUTE
from poise.kernels.machine.views import section, table
from poise.kernels.methods.clamp import clamp_errors
from poise.kernels.methods.update import move, remember, restrain
from poise.kernels.requirements.balls import turned_within
from poise.kernels.requirements.turns import best_turn, best_turn_within
from poise.kernels.solver.ends import evaluate
from poise.methods.base import Capabilities, Case, Method, Plan, method
from poise.methods.joints import Joints

_POSE_ROWS: Final = 12
"""Rows of an effector while the sweep runs: G R^T, which takes its rotation R to the target G, then its place."""
_MOTION: Final = 7


@method
@final
@dataclass(frozen=True, kw_only=True)
class CyclicCoordinateDescent(Method):
    """The best change of one joint after the other, from the tips to the base; see the module."""

    name: ClassVar[str] = "ccd"
    title: ClassVar[str] = "Cyclic coordinate descent"
    references: ClassVar[tuple[str, ...]] = ("wang1991", "welman1993")
    capabilities: ClassVar[Capabilities] = Capabilities(tasks="poses", weights="blocks", mimic=False, gain=False)
    iterations: ClassVar[int] = 1000
    orientation_weight: float = 0.05
    """What a squared rotation counts against a squared displacement [m^2 / rad^2]: a sweep lowers |t - s|^2 plus this
    times 4 sin^2(angle / 2).  The square of about a fifth of the arm's length serves well; the default suits arms of
    about a metre.  Tasks' own weights come on top."""

    def __post_init__(self) -> None:
        positive("orientation_weight", self.orientation_weight)

    def plan(self, case: Case) -> Plan:
        """The motions from the tips to the bases.

        `p.plan` is the number of motions, then a row `unit, axis row, kind, velocity, coordinate, first, last` of each,
        then the effectors that each moves: entries first to last.  A coordinate of -1 is an axis of a ball.
        """
        joints = Joints(case)
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
        return Plan(np.array(numbers, dtype=np.int64), rows=_POSE_ROWS * len(joints.tips))

    @staticmethod
    def update(p: Any, s: Any, w: Any) -> tuple[Any, Any]:
        """Move w.q by one sweep from the tips to the base, in either width; the sum of squares before it."""
        cost, score = evaluate(p, w)
        remember(w, cost)
        clamp_errors(p, w)
        _read_poses(p, w, w.room)
        _sweep(p, s, w, w.room)
        _join_turns(p, w)
        restrain(p, w)
        move(p, w)
        return cost, score


@functools.partial(kernel, inline=True)
def _read_poses(p: Any, w: Any, poses: Any) -> Any:
    """Fill `poses` with what the effectors' frames at w.q say."""
    for k in range(len(p.effectors)):
        effector = p.effectors[k]
        at, goal, to = FRAME * effector.tip, GOAL * k, _POSE_ROWS * k
        for i in range(3):
            # Row i of the unit's rotation: its x, y and z axes are three rows of the frame each.
            x, y, z = load(w.frames, at + 6 + i), load(w.frames, at + 9 + i), load(w.frames, at + 3 + i)
            place = load(w.frames, at + i) + x * effector.tool[9] + y * effector.tool[10] + z * effector.tool[11]
            store(poses, to + 9 + i, place)
            if effector.rotation >= 0:
                for j in range(3):
                    row = goal + 3 * j
                    turn = load(w.target, row) * x + load(w.target, row + 1) * y + load(w.target, row + 2) * z
                    store(poses, to + 3 * j + i, turn)


@functools.partial(kernel, inline=True)
def _sweep(p: Any, s: Any, w: Any, poses: Any) -> Any:
    """w.step becomes the best change of one coordinate after the other, `poses` what they make of the effectors.

    No frame of a joint changes while those beyond it move, so the frames at w.q serve the whole sweep.
    """
    motions = table(p.plan, 1, p.plan[0], _MOTION)
    moved = section(p.plan, 1 + _MOTION * p.plan[0], len(p.plan) - 1 - _MOTION * p.plan[0])
    zero = splat(w.e, 0.0)
    for r in range(p.plan[0]):
        unit, axis, kind, a, c = motions[r, 0], motions[r, 1], motions[r, 2], motions[r, 3], motions[r, 4]
        first, last = motions[r, 5], motions[r, 6]
        at = FRAME * unit
        a0, a1, a2 = load(w.frames, axis), load(w.frames, axis + 1), load(w.frames, axis + 2)
        p0, p1, p2 = load(w.frames, at), load(w.frames, at + 1), load(w.frames, at + 2)
        weight, cosine, sine, size, along = zero, zero, zero, zero, zero
        for j in range(first, last):
            k = moved[j]
            to, goal = _POSE_ROWS * k, GOAL * k + 9
            position, rotation = _weights(p, s, k)
            # d and c: from the joint to the effector and to its target.  Sums k and l of `best_turn`, and of a slide
            # the way that is left along the axis.
            if position > 0.0:
                d0, d1, d2 = load(poses, to + 9) - p0, load(poses, to + 10) - p1, load(poses, to + 11) - p2
                c0, c1, c2 = load(w.target, goal) - p0, load(w.target, goal + 1) - p1, load(w.target, goal + 2) - p2
                da, ca = d0 * a0 + d1 * a1 + d2 * a2, c0 * a0 + c1 * a1 + c2 * a2
                weight = weight + position
                along = along + position * (ca - da)
                cosine = cosine + position * (c0 * d0 + c1 * d1 + c2 * d2 - ca * da)
                spin = a0 * (d1 * c2 - d2 * c1) + a1 * (d2 * c0 - d0 * c2) + a2 * (d0 * c1 - d1 * c0)
                sine = sine + position * spin
                size = size + position * (c0 * c0 + c1 * c1 + c2 * c2 + d0 * d0 + d1 * d1 + d2 * d2)
            if rotation > 0.0:  # of E = G R^T the same sums are tr E - a . E a and a . the axial vector of E
                e0, e1, e2 = load(poses, to), load(poses, to + 1), load(poses, to + 2)
                e3, e4, e5 = load(poses, to + 3), load(poses, to + 4), load(poses, to + 5)
                e6, e7, e8 = load(poses, to + 6), load(poses, to + 7), load(poses, to + 8)
                axial = a0 * (e0 * a0 + e1 * a1 + e2 * a2) + a1 * (e3 * a0 + e4 * a1 + e5 * a2)
                axial = axial + a2 * (e6 * a0 + e7 * a1 + e8 * a2)
                cosine = cosine + rotation * (e0 + e4 + e8 - axial)
                sine = sine + rotation * (a0 * (e7 - e5) + a1 * (e2 - e6) + a2 * (e3 - e1))
                size = size + rotation
        if c < 0:
            turn, slide = best_turn(cosine, sine, size), zero
            store(w.step, a, turn)
        else:
            multiplier, pitch = p.units[unit].multiplier, p.units[unit].pitch
            x = load(w.q, p.coordinates[c].q)
            low, high = multiplier * (p.coordinates[c].lower - x), multiplier * (p.coordinates[c].upper - x)
            if multiplier < 0.0:
                low, high = high, low
            if kind == REVOLUTE:
                turn = best_turn_within(cosine, sine, size, low, high)
                store(w.step, a, turn / multiplier)
                slide = zero
            else:
                if kind == PRISMATIC:
                    slope, curve = along, weight
                else:
                    # The curvature of the error along the screw is nowhere more than `curve`, so that this step,
                    # Newton's but for that, cannot raise it.
                    slope = sine + pitch * along
                    curve = sqrt(cosine * cosine + sine * sine) + pitch * pitch * weight
                flat = curve <= 1e-12 * size
                turn = select(flat, 0.0, slope / select(flat, 1.0, curve))
                turn = select(turn < low, low, select(turn > high, high, turn))
                store(w.step, a, turn / multiplier)
                slide = pitch * turn  # a slide's pitch is 1
        turning, sliding = kind != PRISMATIC, c >= 0 and kind != REVOLUTE
        sn, cs = sincos(turn if turning else zero)
        for j in range(first, last):
            to = _POSE_ROWS * moved[j]
            if turning:
                _turn_effector(p, w, poses, moved[j], at, (a0, a1, a2), cs, sn)
            if sliding:
                store(poses, to + 9, load(poses, to + 9) + slide * a0)
                store(poses, to + 10, load(poses, to + 10) + slide * a1)
                store(poses, to + 11, load(poses, to + 11) + slide * a2)
        if c < 0:
            for b in range(len(p.balls)):
                if p.balls[b].limited and p.balls[b].v == a:  # the last of its axes
                    _pull_in(p, w, p.balls[b], unit, moved, first, last, poses)


@functools.partial(kernel, inline=True)
def _weights(p: Any, s: Any, k: Any) -> Any:
    """What an effector's place and its axes count: |t - s|^2 holds 2 c . d, 4 sin^2(angle / 2) holds tr(G R^T) once."""
    effector = p.effectors[k]
    position, rotation = 0.0, 0.0
    if effector.position >= 0:
        position = p.blocks[effector.position].weight[0] * p.blocks[effector.position].weight[0]
    if effector.rotation >= 0:
        weight = p.blocks[effector.rotation].weight[0]
        rotation = 0.5 * s.orientation_weight * weight * weight
    return position, rotation


@kernel
def _joined(w: Any, a: Any) -> Any:
    """The unit quaternion, w above 0, of a ball's turns about its z, y and x axes, one after the other."""
    s0, c0 = sincos(0.5 * load(w.step, a))
    s1, c1 = sincos(0.5 * load(w.step, a + 1))
    s2, c2 = sincos(0.5 * load(w.step, a + 2))
    qw, qx, qy, qz = c1 * c2, s1 * s2, s1 * c2, c1 * s2
    qw, qx, qy, qz = c0 * qw - s0 * qx, c0 * qx + s0 * qw, c0 * qy - s0 * qz, c0 * qz + s0 * qy
    sign = select(qw < 0.0, -1.0, 1.0)
    return sign * qw, sign * qx, sign * qy, sign * qz


@kernel
def _join_turns(p: Any, w: Any) -> Any:
    """Replace a ball's turns about its axes in w.step by their rotation vector; with limits it is so already."""
    for c in range(len(p.balls)):
        if not p.balls[c].limited:
            a = p.balls[c].v
            qw, qx, qy, qz = _joined(w, a)
            scale = 2.0 * half_angle_ratio(qw)
            store(w.step, a, scale * qx), store(w.step, a + 1, scale * qy), store(w.step, a + 2, scale * qz)


@kernel
def _pull_in(p: Any, w: Any, ball: Any, unit: Any, moved: Any, first: Any, last: Any, poses: Any) -> Any:
    """w.step = the rotation vector of a ball's turns within its limits; `poses` are turned back to that."""
    i, a, at = ball.q, ball.v, FRAME * unit
    qw, qx, qy, qz = _joined(w, a)
    scale = 2.0 * half_angle_ratio(qw)
    _, _, _, _, t0, t1, t2 = turned_within(
        ball, load(w.q, i), load(w.q, i + 1), load(w.q, i + 2), load(w.q, i + 3),
        scale * qx, scale * qy, scale * qz, p.speeds[a], p.speeds[a + 1], p.speeds[a + 2],
    )  # fmt: skip
    store(w.step, a, t0), store(w.step, a + 1, t1), store(w.step, a + 2, t2)
    # The turn that is left to be taken back, along the axes of the ball's frame.
    qw, qx, qy, qz = quaternion_step(qw, -qx, -qy, -qz, t0, t1, t2)
    size = sqrt(qx * qx + qy * qy + qz * qz)
    some = 1.0 / select(size > 1e-150, size, 1.0)
    x, y, z = qx * some, qy * some, qz * some
    cs, sn = 1.0 - 2.0 * size * size, 2.0 * size * qw
    a0 = x * load(w.frames, at + 6) + y * load(w.frames, at + 9) + z * load(w.frames, at + 3)
    a1 = x * load(w.frames, at + 7) + y * load(w.frames, at + 10) + z * load(w.frames, at + 4)
    a2 = x * load(w.frames, at + 8) + y * load(w.frames, at + 11) + z * load(w.frames, at + 5)
    for j in range(first, last):
        _turn_effector(p, w, poses, moved[j], at, (a0, a1, a2), cs, sn)


@kernel
def _turn_effector(p: Any, w: Any, poses: Any, k: Any, at: Any, axis: Any, cs: Any, sn: Any) -> Any:
    """Turn what is held of effector k about an axis through the frame whose rows begin at `at`."""
    to = _POSE_ROWS * k
    p0, p1, p2 = load(w.frames, at), load(w.frames, at + 1), load(w.frames, at + 2)
    d0, d1, d2 = load(poses, to + 9) - p0, load(poses, to + 10) - p1, load(poses, to + 11) - p2
    d0, d1, d2 = turned(axis, (sn, cs), (d0, d1, d2))
    store(poses, to + 9, d0 + p0), store(poses, to + 10, d1 + p1), store(poses, to + 11, d2 + p2)
    if p.effectors[k].rotation >= 0:
        for i in range(to, to + 9, 3):
            e0, e1, e2 = turned(axis, (sn, cs), (load(poses, i), load(poses, i + 1), load(poses, i + 2)))
            store(poses, i, e0), store(poses, i + 1, e1), store(poses, i + 2, e2)

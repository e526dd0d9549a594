"""Forward and backward reaching: FABRIK.

Idea.     Forget angles: move the joints' origins along the lines between them, first from the targets inwards, then
          from the base outwards, and keep each link's length; then let the joints follow.
Step.     Inwards p_i = p_{i+1} + d_i (p_i - p_{i+1}) / |p_i - p_{i+1}| from p_n = t; outwards the same from p_0, the
          base; a sub-base, where branches meet, goes to the centroid of where they want it.  A chain whose target is
          out of reach lies straight towards it.  Then each joint, from the bases to the tips, takes the turn that
          brings the nodes at which it aims nearest to their new places: the next one, if all joints can follow
          exactly, else all that it moves.  A chain on one line with its target is bent first.
Use when  chains are long, of balls, or of hinges that all have one direction or meet in pairs: there the joints
          follow exactly, and a few passes serve.
Not for   rotations and slides; limits and several effectors or other hinges, whose joints cannot follow the points, so
          that it is slow, and may come to rest away from the target.
Cost      a few operations a joint and pass, no matrix; a turn for each joint that follows.
Source.   Aristidou and Lasenby 2011.
"""

import functools
from dataclasses import dataclass
from typing import Any, ClassVar, Final, final

import numpy as np

from poise.common.array import Array
from poise.common.checks import whole
from poise.kernels.algebra.rotations import rotation_error
from poise.kernels.algebra.scalar import sincos
from poise.kernels.algebra.vectors import times, turned
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import load, select, splat, sqrt, store
from poise.kernels.machine.layout import BALL_AXES, FRAME, GOAL
from poise.kernels.machine.views import section, table
from poise.kernels.methods.clamp import clamp_errors
from poise.kernels.methods.update import move, remember, restrain
from poise.kernels.requirements.turns import best_turn, best_turn_within
from poise.kernels.solver.ends import evaluate
from poise.methods.base import Capabilities, Case, Method, Plan, method
from poise.methods.joints import Joints

_ROUNDS: Final = 4
"""Turns in which a ball that aims at several nodes comes near its best rotation; for a single node, one is exact."""
_LINE: Final = 1e-6
"""Nodes this near to a line, against the length of all links, lie on it."""
_NODE: Final = 4
_RULE: Final = 4
_MOTION: Final = 12
"""Rows of a rigid motion: rotation 9, place 3."""
_ONE_PLACE: Final = 1e-9
"""Origins this near [m] are one node."""


@method
@final
@dataclass(frozen=True, kw_only=True)
class Fabrik(Method):
    """Points to the targets and back to the bases, and the joints after them; see the module."""

    name: ClassVar[str] = "fabrik"
    title: ClassVar[str] = "FABRIK"
    references: ClassVar[tuple[str, ...]] = ("aristidou2011",)
    capabilities: ClassVar[Capabilities] = Capabilities(
        tasks="positions", weights="none", mimic=False, slides=False, gain=False
    )
    iterations: ClassVar[int] = 500
    passes: int = 1
    """Passes inwards and outwards before the joints follow."""

    def __post_init__(self) -> None:
        whole("passes", self.passes, 1)

    def plan(self, case: Case) -> Plan:
        """The nodes: the joints' origins and the effectors.

        Origins that are always at one place are one node.  Where the joints can follow the nodes exactly, each aims at
        the next one that it moves; otherwise at all that it moves, so that the later ones make up for what the first
        cannot.

        `p.plan` is the number of nodes and of entries in the last part, whether the nodes are one chain; of each node
        `node before, where it is, children, effectors there`, where it is being rows of the frames, or -1 - k for
        effector k; of each unit `velocity, first, last, coordinate`; of each effector its node; then the nodes at which
        the units aim: entries first to last.
        """
        joints = Joints(case)
        frames, errors = case.at_home()
        origins, axes, tips = frames[:, :3], frames[:, 3:6], -errors.reshape(-1, 3)
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
            moves = joints.places[u] in joints.velocity
            of_unit[u] = node(parent, origins[u], FRAME * u) if moves else of_unit[parent]
        of_effector = [node(tip, tips[k], -1 - k) for k, tip in enumerate(joints.tips)]
        for i in of_effector:
            nodes[i][3] += 1
        carried = [
            [] if joints.idle(u) else [i for i, link in enumerate(links) if joints.carries(u, link)]
            for u in range(len(origins))
        ]
        onward = [[i for i in row if nodes[i][0] == of_unit[u]] for u, row in enumerate(carried)]
        aims = onward if not _limited(case) and _follows(joints, nodes, onward, axes) else carried
        rules, first = [], 0
        for place, row in zip(joints.places, aims, strict=True):
            rules.append([joints.velocity.get(place, 0), first, first + len(row), joints.coordinate.get(place, -1)])
            first += len(row)
        chain = all(before == i - 1 for i, (before, *_) in enumerate(nodes)) and len(of_effector) == 1
        lists = [[len(nodes), first, chain], nodes, rules, of_effector, *aims]
        numbers = np.concatenate([np.asarray(part, dtype=np.int64).ravel() for part in lists])
        return Plan(numbers, rows=13 * len(nodes) + _MOTION * (1 + len(joints.kinds)))

    @staticmethod
    def update(p: Any, s: Any, w: Any) -> tuple[Any, Any]:
        """Move w.q by `passes` over the nodes and one turn of each joint after them; the sum of squares before it."""
        cost, score = evaluate(p, w)
        remember(w, cost)
        clamp_errors(p, w)
        n = p.plan[0]
        nodes = table(p.plan, 3, n, _NODE)
        places, lengths = section(w.room, 0, 3 * n), section(w.room, 3 * n, n)
        wanted, goals = section(w.room, 4 * n, 3 * n), section(w.room, 7 * n, 3 * n)
        sums, motions = section(w.room, 10 * n, 3 * n), section(w.room, 13 * n, _MOTION * (1 + len(p.units)))
        _place_nodes(p, nodes, w, places, lengths, goals)
        for i in range(3 * n):
            store(wanted, i, load(places, i))
        if p.plan[2]:
            _push_off_the_line(p, w, lengths, goals, wanted)
        fabrik_positions(nodes, p.plan[2], lengths, goals, wanted, sums, s.passes)
        _follow(p, w, places, wanted, motions)
        restrain(p, w)
        move(p, w)
        return cost, score


def _limited(case: Case) -> bool:
    """Whether a joint that moves has limits, which it may not follow beyond."""
    places = case.section("coordinates")["q"]
    ends = [case.model.lower[places], case.model.upper[places]]
    return case.limits and bool(np.isfinite(ends).any() or case.section("balls")["limited"].any())


def _follows(joints: Joints, nodes: list[list[int]], onward: list[list[int]], axes: Array) -> bool:
    """Whether every node can be brought wherever the one before lets it: by a ball, by hinges of two directions at
    one place, or by one hinge if all the mechanism is flat; and none of them moves two nodes at once."""
    flat = BALL_AXES not in joints.kinds and np.linalg.matrix_rank(axes, rtol=1e-9) == 1
    for i, (before, *_) in enumerate(nodes):
        movers = [u for u, row in enumerate(onward) if i in row]
        ball = any(joints.kinds[u] == BALL_AXES for u in movers)
        if before >= 0 and not (ball or (movers and (flat or np.linalg.matrix_rank(axes[movers], rtol=1e-3) > 1))):
            return False
    return all(len(row) <= 1 for row in onward)


@functools.partial(kernel, inline=True)
def _place_nodes(p: Any, nodes: Any, w: Any, places: Any, lengths: Any, goals: Any) -> Any:
    """`places` (3 n) of the nodes at w.q, `lengths` (n) to the node before each, `goals` (3 n), sums of targets [m]."""
    n = len(nodes)
    for i in range(n):
        j, at = nodes[i, 0], nodes[i, 1]
        for c in range(3):
            store(goals, 3 * i + c, splat(w.e, 0.0))
            if at >= 0:
                store(places, 3 * i + c, load(w.frames, at + c))
            else:
                k = -1 - at
                store(
                    places, 3 * i + c, load(w.target, GOAL * k + 9 + c) - load(w.e, 3 * p.effectors[k].first_block + c)
                )
        square = splat(w.e, 0.0)
        if j >= 0:
            for c in range(3):
                x = load(places, 3 * i + c) - load(places, 3 * j + c)
                square = square + x * x
        store(lengths, i, sqrt(square))
    of = section(p.plan, 3 + _NODE * n + _RULE * len(p.units), len(p.effectors))
    for k in range(len(p.effectors)):
        for c in range(3):
            row = 3 * of[k] + c
            store(goals, row, load(goals, row) + load(w.target, GOAL * k + 9 + c))


@functools.partial(kernel, inline=True)
def _push_off_the_line(p: Any, w: Any, lengths: Any, goals: Any, wanted: Any) -> Any:
    """Push the inner nodes of a chain off the line on which they and a target within their reach all lie.

    On it, every pass leads back to it.  They are pushed the way in which the first joint that can would move them, and
    as far as makes room for what is left of the error.
    """
    n = len(lengths)
    tip = 3 * (n - 1)
    b0, b1, b2 = load(wanted, 0), load(wanted, 1), load(wanted, 2)
    v0, v1, v2 = load(goals, tip) - b0, load(goals, tip + 1) - b1, load(goals, tip + 2) - b2
    distance = sqrt(v0 * v0 + v1 * v1 + v2 * v2)
    scale = 1.0 / select(distance > 0.0, distance, 1.0)
    v0, v1, v2 = v0 * scale, v1 * scale, v2 * scale
    reach, away = splat(w.e, 0.0), splat(w.e, 0.0)
    for i in range(1, n):
        reach = reach + load(lengths, i)
        x0, x1, x2 = load(wanted, 3 * i) - b0, load(wanted, 3 * i + 1) - b1, load(wanted, 3 * i + 2) - b2
        y0, y1, y2 = v1 * x2 - v2 * x1, v2 * x0 - v0 * x2, v0 * x1 - v1 * x0
        square = y0 * y0 + y1 * y1 + y2 * y2
        away = select(square > away, square, away)
    e0, e1, e2 = load(w.e, 0), load(w.e, 1), load(w.e, 2)
    error = sqrt(e0 * e0 + e1 * e1 + e2 * e2)
    small = _LINE * reach
    stuck = (away < small * small) & (error > small) & (distance < reach)
    side0, side1, side2 = splat(w.e, 0.0), splat(w.e, 0.0), splat(w.e, 0.0)
    best = splat(w.e, 0.0)
    for u in range(len(p.units)):
        for row in range(FRAME * u + 3, FRAME * u + (12 if p.units[u].kind == BALL_AXES else 6), 3):
            a0, a1, a2 = load(w.frames, row), load(w.frames, row + 1), load(w.frames, row + 2)
            y0, y1, y2 = a1 * v2 - a2 * v1, a2 * v0 - a0 * v2, a0 * v1 - a1 * v0
            square = y0 * y0 + y1 * y1 + y2 * y2
            better = (best < 0.25) & (square > best)
            size = 1.0 / sqrt(select(better, square, 1.0))
            side0, side1, side2 = (
                select(better, y0 * size, side0), select(better, y1 * size, side1), select(better, y2 * size, side2),
            )  # fmt: skip
            best = select(better, square, best)
    for i in range(1, n - 1):
        link = load(lengths, i)
        push = sqrt(error * link)
        push = select(stuck, select(push > link, link, push) * 0.5, 0.0)
        store(wanted, 3 * i, load(wanted, 3 * i) + push * side0)
        store(wanted, 3 * i + 1, load(wanted, 3 * i + 1) + push * side1)
        store(wanted, 3 * i + 2, load(wanted, 3 * i + 2) + push * side2)


@functools.partial(kernel, inline=True)
def fabrik_positions(nodes: Any, chain: Any, lengths: Any, goals: Any, places: Any, sums: Any, passes: Any) -> Any:
    """Passes from the effectors to the bases and back: `places` (3 n) become those of the nodes.

    `nodes` (n, 4) is of the plan, `lengths` (n,) how far each is from the one before, `goals` (3 n) the sums of the
    targets at each; `sums` (3 n) is room to work in.  A node with several branches, a sub-base, goes to the centroid of
    where they want it.  A single chain whose target is out of reach lies straight towards it.
    Source: Aristidou and Lasenby 2011, algorithm 1 and section 4.3.
    """
    n = len(nodes)
    # Nodes are numbered from the bases on: backwards every node comes before the one that it hangs on.
    for _ in range(passes):
        for i in range(3 * n):
            store(sums, i, load(goals, i))
        for i in range(n - 1, -1, -1):
            j = nodes[i, 0]
            if j >= 0:
                share = 1.0 / (nodes[i, 2] + nodes[i, 3])
                x0, x1, x2 = load(sums, 3 * i) * share, load(sums, 3 * i + 1) * share, load(sums, 3 * i + 2) * share
                store(places, 3 * i, x0), store(places, 3 * i + 1, x1), store(places, 3 * i + 2, x2)
                y0, y1, y2 = _towards(
                    x0, x1, x2, load(places, 3 * j), load(places, 3 * j + 1), load(places, 3 * j + 2), load(lengths, i)
                )
                store(sums, 3 * j, load(sums, 3 * j) + y0)
                store(sums, 3 * j + 1, load(sums, 3 * j + 1) + y1)
                store(sums, 3 * j + 2, load(sums, 3 * j + 2) + y2)
        for i in range(n):
            j = nodes[i, 0]
            if j >= 0:
                x0, x1, x2 = _towards(
                    load(places, 3 * j), load(places, 3 * j + 1), load(places, 3 * j + 2),
                    load(places, 3 * i), load(places, 3 * i + 1), load(places, 3 * i + 2), load(lengths, i),
                )  # fmt: skip
                store(places, 3 * i, x0), store(places, 3 * i + 1, x1), store(places, 3 * i + 2, x2)
    if chain:  # out of reach passes come to the straight line slowly: it is put down at once
        tip = 3 * (n - 1)
        b0, b1, b2 = load(places, 0), load(places, 1), load(places, 2)
        t0, t1, t2 = load(goals, tip), load(goals, tip + 1), load(goals, tip + 2)
        reach = load(lengths, 0)
        for i in range(1, n):
            reach = reach + load(lengths, i)
        far = (t0 - b0) * (t0 - b0) + (t1 - b1) * (t1 - b1) + (t2 - b2) * (t2 - b2) >= reach * reach
        reach = load(lengths, 0)
        for i in range(1, n):
            reach = reach + load(lengths, i)
            x0, x1, x2 = _towards(b0, b1, b2, t0, t1, t2, reach)
            store(places, 3 * i, select(far, x0, load(places, 3 * i)))
            store(places, 3 * i + 1, select(far, x1, load(places, 3 * i + 1)))
            store(places, 3 * i + 2, select(far, x2, load(places, 3 * i + 2)))


@kernel
def _towards(a0: Any, a1: Any, a2: Any, b0: Any, b1: Any, b2: Any, length: Any) -> Any:
    """The point at `length` from a on the way to b; where the two are one, along x."""
    d0, d1, d2 = b0 - a0, b1 - a1, b2 - a2
    square = d0 * d0 + d1 * d1 + d2 * d2
    one = square < 1e-280
    scale = length / sqrt(select(one, 1.0, square))
    return a0 + select(one, length, d0 * scale), a1 + d1 * scale, a2 + d2 * scale


@functools.partial(kernel, inline=True)
def _follow(p: Any, w: Any, places: Any, wanted: Any, motions: Any) -> Any:
    """w.step becomes the joints' turns, from the bases to the tips, that bring the nodes to where they are wanted.

    Each joint turns the nodes that it aims as near as it can.  `motions` are the rigid motions that take the links from
    where they are at w.q to where they then are; the first is the world's.
    """
    n, nu = p.plan[0], len(p.units)
    rules = table(p.plan, 3 + _NODE * n, nu, _RULE)
    aims = section(p.plan, 3 + _NODE * n + _RULE * nu + len(p.effectors), p.plan[1])
    one, zero = splat(w.e, 1.0), splat(w.e, 0.0)
    for i in range(_MOTION):
        store(motions, i, one if i < 9 and i % 4 == 0 else zero)
    for a in range(len(w.step)):
        store(w.step, a, zero)
    for u in range(nu):
        before, to = _MOTION * (1 + p.units[u].parent), _MOTION * (1 + u)
        for i in range(_MOTION):
            store(motions, to + i, load(motions, before + i))
        a, first, last = rules[u, 0], rules[u, 1], rules[u, 2]
        if a >= 0 and last > first:
            at = FRAME * u
            ball = p.units[u].kind == BALL_AXES
            p0, p1, p2 = _moved(motions, before, load(w.frames, at), load(w.frames, at + 1), load(w.frames, at + 2))
            a0, a1, a2 = _carried(
                motions, before, load(w.frames, at + 3), load(w.frames, at + 4), load(w.frames, at + 5)
            )
            x = zero
            for _ in range(_ROUNDS if ball and last > first + 1 else 1):
                if ball:
                    a0, a1, a2 = _best_axis(places, wanted, motions, to, aims, first, last, (p0, p1, p2))
                cosine, sine, size = zero, zero, zero
                for j in range(first, last):
                    k = 3 * aims[j]
                    d0, d1, d2 = _moved(motions, to, load(places, k), load(places, k + 1), load(places, k + 2))
                    d0, d1, d2 = d0 - p0, d1 - p1, d2 - p2
                    c0, c1, c2 = load(wanted, k) - p0, load(wanted, k + 1) - p1, load(wanted, k + 2) - p2
                    da, ca = d0 * a0 + d1 * a1 + d2 * a2, c0 * a0 + c1 * a1 + c2 * a2
                    cosine = cosine + (c0 * d0 + c1 * d1 + c2 * d2 - ca * da)
                    spin = a0 * (d1 * c2 - d2 * c1) + a1 * (d2 * c0 - d0 * c2) + a2 * (d0 * c1 - d1 * c0)
                    sine = sine + spin
                    size = size + (c0 * c0 + c1 * c1 + c2 * c2 + d0 * d0 + d1 * d1 + d2 * d2)
                if ball:
                    x = best_turn(cosine, sine, size)
                else:
                    low, high = _turn_range(p, w, u, rules[u, 3])
                    x = best_turn_within(cosine, sine, size, low, high)
                _turn_about(motions, to, (a0, a1, a2), (p0, p1, p2), x)
            if not ball:
                store(w.step, a, x / p.units[u].multiplier)
            else:
                _ball_step(w, motions, before, to, at, a)


@kernel
def _turn_range(p: Any, w: Any, u: Any, c: Any) -> Any:
    """How far the hinge of unit u, which has the coordinate c, may turn back and on."""
    multiplier, x = p.units[u].multiplier, load(w.q, p.coordinates[c].q)
    low, high = multiplier * (p.coordinates[c].lower - x), multiplier * (p.coordinates[c].upper - x)
    return (low, high) if multiplier > 0.0 else (high, low)


@functools.partial(kernel, inline=True)
def _best_axis(places: Any, wanted: Any, motions: Any, to: Any, aims: Any, first: Any, last: Any, centre: Any) -> Any:
    """The unit axis through a centre about which the nodes most want to turn; across one of them where none does."""
    p0, p1, p2 = centre
    y0, y1, y2 = splat(motions, 0.0), splat(motions, 0.0), splat(motions, 0.0)
    size = splat(motions, 1e-280)
    d0, d1, d2 = y0, y1, y2
    for j in range(first, last):
        k = 3 * aims[j]
        d0, d1, d2 = _moved(motions, to, load(places, k), load(places, k + 1), load(places, k + 2))
        d0, d1, d2 = d0 - p0, d1 - p1, d2 - p2
        c0, c1, c2 = load(wanted, k) - p0, load(wanted, k + 1) - p1, load(wanted, k + 2) - p2
        y0, y1, y2 = y0 + d1 * c2 - d2 * c1, y1 + d2 * c0 - d0 * c2, y2 + d0 * c1 - d1 * c0
        size = size + (c0 * c0 + c1 * c1 + c2 * c2 + d0 * d0 + d1 * d1 + d2 * d2)
    none = y0 * y0 + y1 * y1 + y2 * y2 <= 1e-24 * size * size
    flat = (d0 * d0 <= d1 * d1) & (d0 * d0 <= d2 * d2)
    y0 = select(none, select(flat, 0.0, d2), y0)
    y1 = select(none, select(flat, d2, 0.0), y1)
    y2 = select(none, select(flat, -d1, -d0), y2)
    scale = 1.0 / sqrt(y0 * y0 + y1 * y1 + y2 * y2 + 1e-280)
    return y0 * scale, y1 * scale, y2 * scale


@kernel
def _turn_about(motions: Any, to: Any, axis: Any, centre: Any, x: Any) -> Any:
    """Let a turn by x about the unit axis through a centre come after a motion."""
    (p0, p1, p2), turn = centre, sincos(x)
    for i in range(3):
        r0, r1, r2 = turned(axis, turn, (load(motions, to + i), load(motions, to + 3 + i), load(motions, to + 6 + i)))
        store(motions, to + i, r0), store(motions, to + 3 + i, r1), store(motions, to + 6 + i, r2)
    out = load(motions, to + 9) - p0, load(motions, to + 10) - p1, load(motions, to + 11) - p2
    t0, t1, t2 = turned(axis, turn, out)
    store(motions, to + 9, t0 + p0), store(motions, to + 10, t1 + p1), store(motions, to + 11, t2 + p2)


@functools.partial(kernel, inline=True)
def _ball_step(w: Any, motions: Any, before: Any, to: Any, at: Any, a: Any) -> Any:
    """The turn that a motion has more than the one before, about the axes of the ball."""
    t0, t1, t2 = rotation_error(_rotation(motions, to), _rotation(motions, before))
    for c in range(3):
        row = at + (6, 9, 3)[c]
        a0, a1, a2 = _carried(motions, before, load(w.frames, row), load(w.frames, row + 1), load(w.frames, row + 2))
        store(w.step, a + c, a0 * t0 + a1 * t1 + a2 * t2)


@kernel
def _rotation(motions: Any, at: Any) -> Any:
    """The rotation of a motion, row by row."""
    return (
        load(motions, at), load(motions, at + 1), load(motions, at + 2),
        load(motions, at + 3), load(motions, at + 4), load(motions, at + 5),
        load(motions, at + 6), load(motions, at + 7), load(motions, at + 8),
    )  # fmt: skip


@kernel
def _carried(motions: Any, at: Any, x0: Any, x1: Any, x2: Any) -> Any:
    """A vector after a motion."""
    return times(_rotation(motions, at), (x0, x1, x2))


@kernel
def _moved(motions: Any, at: Any, x0: Any, x1: Any, x2: Any) -> Any:
    """A point after a motion."""
    y0, y1, y2 = _carried(motions, at, x0, x1, x2)
    return y0 + load(motions, at + 9), y1 + load(motions, at + 10), y2 + load(motions, at + 11)

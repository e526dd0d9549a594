"""Two trees of configurations that grow towards each other along free ways (RRT-Connect).

Kuffner and LaValle 2000, "RRT-Connect: An Efficient Approach to Single-Query Path Planning",
doi:10.1109/ROBOT.2000.844730.  `trees` are two times NODES configurations (nq), then from which of its tree each was
reached.
"""

import numpy as np

from poise.kernels.algebra.scalar import uniform
from poise.kernels.collision.free_way import COUNT, DRAWN, LOOKS, SEED, step_size
from poise.kernels.collision.near import place_movers
from poise.kernels.collision.tip_shift import shift_size, shift_tip
from poise.kernels.kinematics.joint_rows import difference, draw, keep_within, move, put, square_between
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.lanes import sqrt
from poise.kernels.machine.views import section
from poise.kernels.path.holding import holds

NODES = 4000
"""Configurations of a tree, at most."""
_REACH = 1.0
"""Length of a branch [rad and m]."""
_SHIFTED = 8
"""Each such aim is one where the tip is shifted from where a node has it."""


def trees_size(nq: int) -> int:
    """How many numbers `trees` has."""
    return 2 * NODES * (nq + 1)


def scratch_size(nq: int, nv: int) -> int:
    """How many numbers the scratch of trees has."""
    return 2 * nq + shift_size(nv)


@kernel
def grow(s, x, joints, buffer, trees, scratch, way):
    """Write into `way` the configurations from the root of the first tree to that of the second; how many, 0 where the
    looks are spent, or a tree is full, before they meet."""
    nq = len(x.q)
    buffer[COUNT], buffer[COUNT + 1], one = 1.0, 1.0, 0
    aim, q, aims = section(scratch, 0, nq), section(scratch, nq, nq), 0
    put(section(trees, 0, nq), aim), put(aim, q)
    while buffer[LOOKS] > 0.0 and buffer[COUNT] < NODES and buffer[COUNT + 1] < NODES:
        near = _aim(s, x, joints, buffer, trees, scratch, one, aims)
        aims += 1
        node = _branch(s, x, joints, buffer, trees, scratch, one, near)
        if node >= 0:
            put(_node(trees, nq, one, node), aim)
            met = _reach(s, x, joints, buffer, trees, scratch, 1 - one)
            if met >= 0:
                return _join(trees, nq, node if one == 0 else met, met if one == 0 else node, way)
        if buffer[COUNT + one] > buffer[COUNT + 1 - one]:
            one = 1 - one
    return 0


@kernel
def _node(trees, nq, tree, k):
    return section(trees, (tree * NODES + k) * nq, nq)


@kernel
def _parent_at(nq, tree, k):
    return 2 * NODES * nq + tree * NODES + k


@kernel
def _aim(s, x, joints, buffer, trees, scratch, tree, aims):
    """Write where a tree is to grow to, and return from which of its nodes."""
    nq, seed = len(x.q), np.int64(buffer[SEED])
    aim = section(scratch, 0, nq)
    if aims % _SHIFTED != _SHIFTED - 1:
        buffer[DRAWN] = float(draw(joints, seed, np.int64(buffer[DRAWN]), aim))
        if aims % 2 == 0:
            _pull(joints, buffer, trees, section(scratch, nq, nq), section(scratch, 2 * nq, step_size(x)), aim)
        return _nearest(joints, trees, nq, tree, int(buffer[COUNT + tree]), aim)
    near = min(int(buffer[COUNT + tree] * uniform(seed, np.int64(buffer[DRAWN]))), int(buffer[COUNT + tree]) - 1)
    put(_node(trees, nq, tree, near), x.q)
    place_movers(s, x)
    shift_tip(s, x, buffer, section(scratch, 2 * nq, len(scratch) - 2 * nq))
    move(joints, _node(trees, nq, tree, near), section(scratch, 2 * nq, step_size(x)), 1.0, aim)
    keep_within(joints, aim)
    return near


@kernel
def _pull(joints, buffer, trees, q, step, aim):
    """Move an aim by a random share nearer to a random point q (nq) of the straight way from root to root.

    Most ways around something pass near that, and the shortest do.
    """
    nq, seed, drawn = len(q), np.int64(buffer[SEED]), np.int64(buffer[DRAWN])
    root = _node(trees, nq, 0, 0)
    difference(joints, root, _node(trees, nq, 1, 0), step)
    move(joints, root, step, uniform(seed, drawn), q)
    difference(joints, q, aim, step)
    move(joints, q, step, uniform(seed, drawn + 1), aim)
    buffer[DRAWN] += 2.0


@kernel
def _nearest(joints, trees, nq, tree, count, aim):
    """The node of a tree that is nearest to an aim."""
    least, near = np.inf, 0
    for k in range(count):
        square = square_between(joints, _node(trees, nq, tree, k), aim)
        if square < least:
            least, near = square, k
    return near


@kernel
def _add(buffer, trees, tree, parent, q):
    """Add a node to a tree; which it is."""
    k = int(buffer[COUNT + tree])
    put(q, _node(trees, len(q), tree, k))
    trees[_parent_at(len(q), tree, k)] = float(parent)
    buffer[COUNT + tree] += 1.0
    return k


@kernel
def _branch(s, x, joints, buffer, trees, scratch, tree, near):
    """Add a branch from a node towards the aim where it is free; its node, -1: none."""
    nq, nv = len(x.q), step_size(x)
    aim, q, step = section(scratch, 0, nq), section(scratch, nq, nq), section(scratch, 2 * nq, nv)
    root = _node(trees, nq, tree, near)
    length = sqrt(square_between(joints, root, aim))
    if not length > 0.0:
        return -1
    difference(joints, root, aim, step)
    move(joints, root, step, min(1.0, _REACH / length), q)
    return _add(buffer, trees, tree, near, q) if holds(s, x, joints, buffer, scratch, root, q) else -1


@kernel
def _reach(s, x, joints, buffer, trees, scratch, tree):
    """Grow a tree towards the aim until it is there; its node, -1 where something is in the way or the tree is full."""
    nq, nv = len(x.q), step_size(x)
    aim, q, step = section(scratch, 0, nq), section(scratch, nq, nq), section(scratch, 2 * nq, nv)
    near = _nearest(joints, trees, nq, tree, int(buffer[COUNT + tree]), aim)
    while buffer[COUNT + tree] < NODES:
        root = _node(trees, nq, tree, near)
        length = sqrt(square_between(joints, root, aim))
        if not length > 0.0:
            return near
        if length > _REACH:
            difference(joints, root, aim, step)
            move(joints, root, step, _REACH / length, q)
        else:
            put(aim, q)
        if not holds(s, x, joints, buffer, scratch, root, q):
            return -1
        if not square_between(joints, q, aim) < length * length:  # where closing loops has led it back
            return -1
        near = _add(buffer, trees, tree, near, q)
        if length <= _REACH:
            return near
    return -1


@kernel
def _join(trees, nq, first, second, way):
    """Write the configurations from one root over a node of each tree, which are the same, to the other; how many."""
    count, k = 1, first
    while k > 0:
        count, k = count + 1, int(trees[_parent_at(nq, 0, k)])
    k = first
    for i in range(count - 1, -1, -1):
        put(_node(trees, nq, 0, k), section(way, i * nq, nq))
        k = int(trees[_parent_at(nq, 0, k)])
    k = second
    while k > 0:
        k = int(trees[_parent_at(nq, 1, k)])
        put(_node(trees, nq, 1, k), section(way, count * nq, nq))
        count += 1
    return count

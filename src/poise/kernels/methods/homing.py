"""How an arm whose joints stand at their limits comes to targets that it can reach: a scout runs ahead.

Beyond its reach an arm is stretched, and a stretched elbow bends either way when the target comes back: on one of the
two a joint meets its limit, and there the arm stays, as near as it gets.  Where that is so, and the error falls no
more, a scout takes the same method's steps towards the same targets from somewhere else, a few at each step of the arm,
which stays as it is.  Where the scout arrives the arm follows it straight, from joint to joint, within all that must
hold; where it does not, from none of its starts, nothing moves.  A method that proposes steps beside a posture scouts
alone, in a problem of its own.
"""

from poise.kernels.machine.jit import call, kernel, routine
from poise.kernels.machine.layout import AT_LIMIT, CALL, GOAL, METHOD, RANGE_ROWS, WAY
from poise.kernels.machine.memory import (
    COST,
    DONE,
    FOLLOWING,
    FREE,
    INVERSE_RADIUS,
    LOWEST,
    SCORE,
    SCOUT,
    SCOUT_COUNT,
    SEEN,
    TURNED,
    WAITED,
    forget,
)
from poise.kernels.machine.views import entry_at, narrow, problem_at
from poise.kernels.methods.delegated import put_targets
from poise.kernels.methods.update import go_straight, size_of
from poise.kernels.requirements.limits import difference
from poise.kernels.requirements.trust_radius import first_seen

_PATIENCE, _FALL = 50.0, 0.99
"""A squared error that has not fallen by the second factor in so many steps has stalled."""
_STAY, _COME = 200.0, 0.999
"""The same of the way that is left while following: in 200 steps of 1 ms an arm with 1 rad/s^2 comes 20 mrad from rest,
so fewer would take an arm that sets out for one that is held back."""
_EACH = 4
"""Steps of the scout for each of the arm's: few enough for a loop of a kilohertz."""
_MOST = 1500.0
"""Steps of the scout from one start: at 1 ms, a way of 3 rad at 2 rad/s."""
_STARTS = 3
"""Starts: joints at their limits in the middle of their ranges, all joints as at home, all in the middle."""
_NEAR = 1e-6
"""The scout has arrived where its squared error is less than this share of the arm's."""
_MOVED = 0.02
"""How far a number of the targets may be from what the scout was sent to [m or 1]."""
_THERE = 1e-2
"""How near to where the scout arrived the arm leaves off following it [rad or m]."""
_WAYS = 2.0
"""Ways that are gone for one target, so that an arm which something holds back on both rests."""


@routine
def scout(p, w, address):
    """After a step of the arm: where its error has stalled with a joint at a limit, take _EACH steps of the scout.

    Where the scout arrives, its q becomes w.stall.scout_goal and SCOUT is FOLLOWING.  Else SCOUT is the number of its
    start, 0 before one, FREE where no joint is at a limit, DONE where there is nothing more to try.
    """
    request = entry_at(address, CALL)
    own = entry_at(request.proposer, CALL) if request.proposer != 0 else request
    p1 = problem_at(own.problem)
    v = narrow(p1, request.scout, own.routines)
    if w.memory[SCORE] <= 1.0 or _moved(p, w, v):
        w.memory[SCOUT], w.memory[SCOUT_COUNT], w.memory[LOWEST], w.memory[WAITED] = 0.0, 0.0, 0.0, 0.0
    if w.memory[SCORE] <= 1.0 or w.memory[SCOUT] in (FOLLOWING, DONE, FREE):
        return
    if w.memory[SCOUT] == 0.0:  # no scout is out: is one needed?
        if not _falls_no_more(w, w.memory[COST], _PATIENCE, _FALL):
            return
        w.memory[LOWEST], w.memory[WAITED] = 0.0, 0.0
        _send_scout(p, w, v)
        if w.memory[SCOUT_COUNT] >= _WAYS or not _stands_at_limits(p, w):
            w.memory[SCOUT] = DONE if w.memory[SCOUT_COUNT] >= _WAYS else FREE
            return
        _set_out(p, w, v)
    for _ in range(_EACH):
        for i in range(len(v.begun)):
            v.begun[i] = v.q[i]
        if len(p1.ranges) > 0:
            call(v.routines[RANGE_ROWS], p1, v)
        call(v.routines[METHOD], p1, v)
        for a in range(len(v.motion.displacement)):
            v.motion.displacement_change[a], v.motion.displacement[a] = v.step[a] - v.motion.displacement[a], v.step[a]
        v.memory[SCOUT_COUNT] += 1.0
        if v.memory[SCORE] <= 1.0 or v.memory[COST] <= _NEAR * w.memory[COST]:
            for i in range(len(w.stall.scout_goal)):
                w.stall.scout_goal[i] = v.before[i]
            w.memory[SCOUT], w.memory[LOWEST], w.memory[WAITED] = FOLLOWING, 0.0, 0.0
            w.memory[SCOUT_COUNT] += 1.0
            w.memory[INVERSE_RADIUS], w.memory[TURNED] = 0.0, 0.0
            return
        if _falls_no_more(v, v.memory[COST], _PATIENCE, _FALL) or v.memory[SCOUT_COUNT] > _MOST:
            if w.memory[SCOUT] == float(_STARTS):
                w.memory[SCOUT] = DONE
                return
            _set_out(p, w, v)


@routine
def follow(p, w):
    """One step along the straight way in joints to w.stall.scout_goal, in place of a method's step.

    It ends when the arm is there, or is held back.
    """
    difference(p, w.q, w.stall.scout_goal, w.step)
    farthest, _ = size_of(p, w.step)
    if farthest < _THERE or _falls_no_more(w, farthest, _STAY, _COME):
        w.memory[SCOUT], w.memory[LOWEST], w.memory[WAITED] = 0.0, 0.0, 0.0
    go_straight(p, w, w.step)


@kernel
def _falls_no_more(w, left, patience, fall):
    """Whether `left` has not fallen by the factor `fall` in `patience` steps; LOWEST and WAITED keep count."""
    if left < fall * w.memory[LOWEST] or w.memory[LOWEST] == 0.0:
        w.memory[LOWEST], w.memory[WAITED] = left, 0.0
    else:
        w.memory[WAITED] += 1.0
    return w.memory[WAITED] > patience


@kernel
def _moved(p, w, v):
    """Whether targets are not where the scout was sent to, or lead on for ever."""
    moved = False
    for k in range(len(p.effectors)):
        moved = moved or p.effectors[k].goal & WAY != 0
        for i in range(first_seen(p.effectors[k]), SEEN):
            moved = moved or (w.memory[SCOUT] != 0.0 and abs(w.target[GOAL * k + i] - v.target[GOAL * k + i]) > _MOVED)
    return moved


@kernel
def _stands_at_limits(p, w):
    """Whether any joint is within AT_LIMIT of a limit."""
    stands = False
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        stands = stands or w.q[c.q] <= c.lower + AT_LIMIT or w.q[c.q] >= c.upper - AT_LIMIT
    return stands


@kernel
def _send_scout(p, w, v):
    """Give the scout the arm's targets and posture."""
    if len(p.delegated) > 0:
        put_targets(p, w, v)
    else:
        for i in range(len(w.target)):
            v.target[i] = w.target[i]
    for i in range(len(v.guide)):
        v.guide[i] = w.guide[i]


@kernel
def _set_out(p, w, v):
    """Let the scout begin at its next start, see _STARTS."""
    w.memory[SCOUT] += 1.0
    number = w.memory[SCOUT]
    forget(v)
    for i in range(len(w.q)):
        v.q[i] = w.q[i]
    for r in range(len(p.coordinates)):
        c = p.coordinates[r]
        x, limited = w.q[c.q], abs(c.lower) < 1e300 and abs(c.upper) < 1e300
        stands = x <= c.lower + AT_LIMIT or x >= c.upper - AT_LIMIT
        if limited and number == 2.0:
            v.q[c.q] = min(max(p.posture[c.q], c.lower), c.upper)
        elif limited and (stands or number == 3.0):
            v.q[c.q] = 0.5 * (c.lower + c.upper)

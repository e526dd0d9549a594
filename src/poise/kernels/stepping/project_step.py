"""Projection of a proposed step onto what must hold: loops, shapes, ranges, sums, speeds, accelerations, jerks.

A proposal that keeps everything, and takes back what is beyond, is taken as it is, to the last bit.  Else the nearest
step that keeps the rows of all requirements is tried, with a cutting plane for each that is broken where it leads; then
shares of it towards the base, the next step of braking, or where no accelerations are limited the least step that the
rows ask for.  Where nothing keeps all, ranges give way first, then accelerations and jerks.
"""

from poise.kernels.algebra.working_set import NONE
from poise.kernels.machine.jit import call, kernel, routine
from poise.kernels.machine.layout import CALL, CLOSED, COLLISION_ROWS, RANGE_ROWS, STAYS_CLEAR, STOPPABLE
from poise.kernels.machine.memory import (
    ABREAST,
    BRAKING_STEP,
    CERTIFIED,
    CLEAR_STEPS,
    CUTTING,
    ELSEWHERE,
    FAILED,
    IS_CLEAR,
    LOOP_RESIDUAL,
    PREDICTED,
    STAGE,
    UPDATES,
)
from poise.kernels.machine.views import entry_at, section
from poise.kernels.methods.update import length_of
from poise.kernels.requirements.collision import retreats
from poise.kernels.requirements.integrate import integrate
from poise.kernels.requirements.limits import since_begun
from poise.kernels.requirements.loops import evaluate_loops, project_to_loops
from poise.kernels.requirements.nearest_step import (
    SEEN_MORE,
    add_plane,
    along_slope,
    base_of,
    cut,
    nearest_step,
    state_box,
    state_rows,
)
from poise.kernels.requirements.ranges import ranges_hold, ranges_hold_for
from poise.kernels.requirements.stages import ALL, LOOPS_OPEN, NO_ACCELERATION, NO_RANGES
from poise.kernels.requirements.stopping import (
    ROUNDED,
    STOPS,
    UNKNOWN,
    bound_braking,
    brake_on,
    brakes_each,
    follow_braking,
    rests,
    steer,
)
from poise.kernels.requirements.tool_speed import (
    keep_tools,
    tools_hold,
    tools_hold_braking,
    tools_hold_to_rest,
)
from poise.kernels.rows.rounding import ROUNDING
from poise.kernels.rows.sums import put_sum, slack_of_sum, sum_count, sums_hold
from poise.kernels.solver.limits import limited_balls

_TRIALS = 8
"""Nearest steps that are tried, each with more cutting planes than the one before."""
_HALVINGS, _HALVINGS_RATED = 12, 4
"""Halvings towards the base that are tried; with accelerations fewer, for braking leaves a step little room anyway."""
_CLOSINGS = 4
"""Loops are closed so often again where closing them has made a tool too fast."""
_STRETCHES = 3
"""Doublings of the base, where that does not get away fast enough from something that comes near."""


@routine
def project_step(p, w, address):
    """Replace the proposed step, w.step from w.begun to w.q, by the one that is taken.

    CERTIFIED is 1 more than the stage in which braking from the end of this step was checked, so that the next step can
    always fall back on it.
    """
    updates, n = entry_at(address, CALL).updates, len(w.step)
    has_rates, desired = len(p.rates) > 0, section(w.constraints.candidate_steps, 0, n)
    w.memory[UPDATES] = float(updates)
    w.memory[STAGE], w.memory[CUTTING] = float(ALL), 0.0
    _forget_tools(p, w)
    unlimited = p.common[0].unlimited > 0
    if updates > 1 or unlimited:
        since_begun(p, w, w.q)
        for a in range(n):
            w.step[a] = w.motion.step_so_far[a]
    if updates > 1:
        _look_from_begun(p, w, address)
    certified, w.memory[CERTIFIED] = w.memory[CERTIFIED], float(ALL + 1)
    abreast = w.memory[ABREAST]
    finite = _finite(w)
    slow = finite and len(p.tools) > 0 and has_rates and not unlimited and _slow_to_rest(p, w)
    shortened = finite and len(p.tools) > 0 and not slow and keep_tools(p, w)
    if shortened:
        w.memory[PREDICTED] = ELSEWHERE  # what the method predicted of its own step says nothing now
        _forget_tools(p, w)
    for a in range(n):
        desired[a] = w.step[a] if finite else 0.0
    # The proposal itself first; it is integrated where w.q may not be what w.step leads to within box and loops.
    if not finite:
        w.memory[FAILED] = 1.0
    elif shortened or unlimited or len(p.loops) > 0 or (has_rates and limited_balls(p) > 0):
        if len(p.loops) > 0:
            w.memory[LOOP_RESIDUAL] = evaluate_loops(p, w, w.begun)
        state_box(p, w, has_rates)
        kept = _lead(p, w, not has_rates) if shortened and not unlimited else _go(p, w)
        if kept and _retreats(p, w) and _holds(p, w, address, ALL):
            return
    elif _retreats(p, w) and _holds(p, w, address, ALL):
        return
    w.memory[PREDICTED] = ELSEWHERE
    _forget_tools(p, w)
    for stage in range(ALL, NO_ACCELERATION + 1):
        w.memory[STAGE] = float(stage)
        for a in range(n if stage == NO_ACCELERATION else 0):
            desired[a] = base_of(w)[a]  # braking, as far as that goes
        # A stage that gives nothing up beside the one before would fail in the same way.
        needed = stage == ALL or (stage == NO_RANGES and len(p.ranges) > 0) or (stage == NO_ACCELERATION and has_rates)
        w.memory[ABREAST] = abreast  # as was seen to a step before
        if needed and _found(p, w, address, stage, 0.0 < certified <= stage + 1):
            w.memory[CERTIFIED] = stage + 1.0 if stage < NO_ACCELERATION else 0.0
            return
    w.memory[CERTIFIED] = 0.0
    _give_way(p, w, address)


@kernel
def _slow_to_rest(p, w):
    """Whether it is plain that no tool is too fast in the proposal and on the way to rest after it; `_can_stop` is told
    by w.tool_motion.to_rest."""
    n = len(w.step)
    v, s, x = section(w.braking.state, 0, n), section(w.braking.state, n, n), section(w.braking.state, 2 * n, len(w.q))
    w.memory[ABREAST] = 0.0
    if not brakes_each(p, w):
        return False
    follow_braking(p, w, v, s, x)
    slow = tools_hold_to_rest(p, w, v, s, x, True)
    w.tool_motion.to_rest[0] = 1.0 if slow else -1.0
    return slow


@kernel
def _forget_tools(p, w):
    """What `_slow_to_rest` has seen is of another step."""
    if len(p.tools) > 0:
        w.tool_motion.to_rest[0] = 0.0


@kernel
def _retreats(p, w):
    """Whether the proposal takes back what is beyond a sum, and apart what is too near: at best where the method knows
    of it."""
    for i in range(0 if p.common[0].retreats > 0 else sum_count(p, len(w.q))):
        (slack, slight), (after, rounding) = slack_of_sum(p, i, w.begun), slack_of_sum(p, i, w.q)
        if slack < -slight and not after >= -rounding:
            return False
    return p.common[0].retreats > 0 or retreats(w)


@kernel
def _finite(w):
    """Whether w.step is finite."""
    total = 0.0
    for a in range(len(w.step)):
        total += abs(w.step[a])
    return total < 1e300


@kernel
def _look_from_begun(p, w, address):
    """Evaluate the rows of shapes and ranges at w.begun: after several updates they are those of the last one."""
    aside = section(w.braking.state, 2 * len(w.step), len(w.q))
    for i in range(len(w.q)):
        aside[i], w.q[i] = w.q[i], w.begun[i]
    if len(p.collision) > 0:
        call(w.routines[COLLISION_ROWS], p, w, address)
    if len(p.ranges) > 0:
        call(w.routines[RANGE_ROWS], p, w)
    for i in range(len(w.q)):
        w.q[i] = aside[i]


@kernel
def _go(p, w):
    """`_lead` of w.step, with its twists shortened to their limits, if it keeps its box.  A tool that is too fast
    shortens it too, but where accelerations hold, which ask for much of it: there it fails."""
    for k in range(len(p.twists)):
        _shorten(w, p.twists[k])
    if not _keeps_box(w):
        return False
    if len(p.tools) == 0:
        return _lead(p, w, False)
    if len(p.rates) > 0 and w.memory[STAGE] < NO_ACCELERATION:
        return tools_hold(p, w) and _lead(p, w, False)
    return _lead(p, w, keep_tools(p, w))


@kernel
def _lead(p, w, shortened):
    """Integrate w.step from w.begun into w.q, loops closed, which changes w.step.

    Whether it keeps its box and all loops are closed.  One that was `shortened` from one that kept it may come back
    from beyond a limit more slowly than the box says.
    """
    if len(p.loops) > 0:
        lowest, highest = w.constraints.lowest, w.constraints.highest
        closed = project_to_loops(p, w, w.begun, w.step, lowest, highest, w.q)
        # What closing takes a tool beyond its speed is little, and taken back.
        for _ in range(_CLOSINGS if len(p.tools) > 0 else 0):
            if not (closed and keep_tools(p, w)):
                break
            closed = project_to_loops(p, w, w.begun, w.step, lowest, highest, w.q)
        return closed and (shortened or _keeps_box(w))
    integrate(p, w, w.begun, w.step, w.q)
    return shortened or _keeps_box(w)


@kernel
def _keeps_box(w):
    """Whether w.constraints.lowest <= w.step <= w.constraints.highest; an entry beyond adds a cutting plane.  False
    where w.step is not finite.

    Closing loops can take a step out of its box; the plane takes off twice what is beyond.
    """
    keeps = _finite(w)
    for a in range(len(w.step) if keeps else 0):
        over = max(w.step[a] - w.constraints.highest[a], w.constraints.lowest[a] - w.step[a])
        if over > ROUNDED:
            keeps = False
            if w.memory[CUTTING] > 0.5:
                for c in range(len(w.constraints.slope)):
                    w.constraints.slope[c] = 0.0
                w.constraints.slope[a] = 1.0 if w.step[a] > w.constraints.highest[a] else -1.0
                cut(w, 2.0 * over)
    return keeps


@kernel
def _shorten(w, twist):
    """Shorten w.step's entries of a twist to its limit; with CUTTING that adds the plane across them, too."""
    length, most = length_of(twist, w.step), w.memory[UPDATES] * twist.most
    if length <= most:
        return
    if w.memory[CUTTING] > 0.5:
        for c in range(len(w.constraints.slope)):
            w.constraints.slope[c] = w.step[c] / length if twist.first <= c < twist.first + twist.count else 0.0
        cut(w, length - most)
    for a in range(twist.first, twist.first + twist.count):
        w.step[a] = w.step[a] * most / length


@kernel
def _holds(p, w, address, stage):
    """Whether all that must hold in this stage does at w.q, where w.step led, and on a way to rest from there.

    With CUTTING, what is broken adds cutting planes.  Two ways to rest are tried, each joint by itself, then all
    abreast (ABREAST); planes are of the last one alone, for to fail the first is no reason to cut.
    """
    satisfied = _holds_here(p, w, address, stage)
    if satisfied and len(p.rates) > 0 and stage < NO_ACCELERATION:
        cutting, guarded = w.memory[CUTTING] > 0.5, len(p.collision) > 0 or (stage == ALL and len(p.ranges) > 0)
        w.memory[ABREAST], w.memory[CUTTING] = 0.0, 1.0 if cutting and not guarded else 0.0
        satisfied = _can_stop(p, w, address, stage)
        if guarded and not satisfied:
            w.memory[ABREAST], w.memory[CUTTING] = 1.0, 1.0 if cutting else 0.0
            satisfied = _can_stop(p, w, address, stage)
    return satisfied


@kernel
def _holds_here(p, w, address, stage):
    """`_holds` at w.q alone, without a way to rest."""
    cutting = w.memory[CUTTING] > 0.5
    if not sums_hold(p, w, w.q):
        if cutting and len(p.loops) > 0:
            _cut_sums(p, w)
        return False
    if _whirls(p, w, w.step) or (len(p.tools) > 0 and len(p.loops) > 0 and not tools_hold(p, w)):
        return False
    satisfied = stage != ALL or len(p.ranges) == 0 or ranges_hold(p, w, w.q, cutting, False)
    if len(p.collision) > 0:
        call(w.routines[STAYS_CLEAR], p, w, address)
        satisfied = satisfied and w.memory[IS_CLEAR] > 0.5
    return satisfied


@kernel
def _cut_sums(p, w):
    """Add a cutting plane for each sum that is broken at w.q, where closing loops has led beyond it; it takes off three
    times what is beyond, also of the step to fall back on: at the border of a sum every way along it is bent."""
    for i in range(sum_count(p, len(w.q))):
        slack, rounding = slack_of_sum(p, i, w.q)
        if slack < -rounding:
            put_sum(p, w, i, w.constraints.slope, 0)
            add_plane(w, along_slope(w, w.step) + 3.0 * slack)


@kernel
def _whirls(p, w, step):
    """Whether a step (n) is faster than the limit of a twist."""
    for k in range(len(p.twists)):
        if length_of(p.twists[k], step) > (1.0 + ROUNDING) * w.memory[UPDATES] * p.twists[k].most:
            return True
    return False


@kernel
def _can_stop(p, w, address, stage):
    """Whether all holds on the way to rest from w.q, braking step by braking step.

    `sure` and `clear_for` are the steps up to which ranges and pairs of shapes surely hold: they are measured again
    only there.  `fast`: a tool may still become too fast, which is `asked` again after twice as many steps.  v, s (n
    each), x (nq): the step of braking, its change, where it led.
    """
    n, each, ranged = len(w.step), brakes_each(p, w), stage == ALL and len(p.ranges) > 0
    told = w.tool_motion.to_rest[0] if each and len(p.tools) > 0 else 0.0
    fast = len(p.tools) > 0 and told <= 0.0
    if each and not ranged and len(p.collision) == 0 and not fast:
        return True
    v, s, x = section(w.braking.state, 0, n), section(w.braking.state, n, n), section(w.braking.state, 2 * n, len(w.q))
    steps = follow_braking(p, w, v, s, x)
    if steps <= 0:
        return steps == 0
    sure = ranges_hold_for(w) if ranged else NONE
    clear_for = _clear_for(p, w, address, 0)
    fast = fast and (told < 0.0 or not tools_hold_to_rest(p, w, v, s, x, each))
    asked = 2 if fast else STOPS
    for k in range(1, STOPS + 1):
        if k > steps or (sure > steps and clear_for > steps and not fast) or rests(v, s):
            return True
        if not brake_on(p, w, v, s, x):
            return False
        bent = k >= sure and w.memory[ABREAST] > 0.5 and len(p.loops) == 0 and steer(p, w, v, s, x)
        # A bent step may be faster than the one before: tools were sure of the straight way alone.
        fast = fast or (len(p.tools) > 0 and w.braking.speeds[0] == UNKNOWN)
        if _whirls(p, w, v) or (fast and not tools_hold_braking(p, w, v, x)):
            return False
        # What is left of the way: subtracted where it was summed up, else bounded anew when it is asked for.
        for a in range(0 if each else n):
            w.braking.distances[a] = max(w.braking.distances[a] - abs(v[a]), 0.0)
        if each and k >= min(sure, asked, clear_for):
            bound_braking(p, w, v, s)
        if k >= asked:
            fast = not tools_hold_to_rest(p, w, v, s, x, each)
            asked = 2 * k if fast else STOPS
        if k >= sure:
            if not bent and not ranges_hold(p, w, x, w.memory[CUTTING] > 0.5, True):
                return False
            if w.braking.speeds[0] == UNKNOWN:
                steps = STOPS
            sure = k + ranges_hold_for(w)
        if k >= clear_for or w.braking.speeds[0] == UNKNOWN:
            clear_for = _clear_for(p, w, address, k)
            if clear_for < 0.0:
                return False
    return True


@kernel
def _clear_for(p, w, address, k):
    """Up to which step of braking pairs of shapes surely stay apart, seen from step k; NONE: to the end, negative: one
    is too near."""
    if len(p.collision) == 0:
        return NONE
    w.memory[BRAKING_STEP] = float(k)
    call(w.routines[STOPPABLE], p, w, address)
    return w.memory[CLEAR_STEPS]


@kernel
def _found(p, w, address, stage, certified):
    """Whether a step keeps what must hold in this stage; w.q and w.step are then those of it.

    `certified`: braking was checked a step before, so as a last resort it is taken without that check of its way to
    rest, which rounding alone could fail now.
    """
    n = len(w.step)
    steps = w.constraints.candidate_steps
    desired, base, tried = section(steps, 0, n), base_of(w), section(steps, 2 * n, n)
    has_rates = len(p.rates) > 0 and stage < NO_ACCELERATION
    state_rows(p, w, stage == ALL)
    state_box(p, w, has_rates)
    _put_base(p, w, base, has_rates)
    abreast = w.memory[ABREAST]
    for _ in range(_TRIALS):
        w.memory[CUTTING] = 1.0
        nearest_step(p, w, desired, True, w.step)
        for a in range(n):
            tried[a] = w.step[a]
        if _go(p, w) and _holds(p, w, address, stage):
            return True
        if w.memory[CUTTING] != SEEN_MORE:  # no plane was added: the nearest step would be the same
            break
    w.memory[CUTTING] = 0.0
    for k in range(1, _HALVINGS_RATED if has_rates else _HALVINGS):
        if _fits(p, w, address, stage, 0.5**k, base, tried):
            return True
    if not (has_rates and certified):
        return _fits(p, w, address, stage, 0.0, base, tried)
    for a in range(n):
        w.step[a] = base[a]
    w.memory[ABREAST] = abreast
    return _go(p, w) and _holds_here(p, w, address, stage)


@kernel
def _fits(p, w, address, stage, share, base, tried):
    """Whether all holds at the step base + share (tried - base); w.q and w.step are then those of it."""
    for a in range(len(w.step)):
        w.step[a] = base[a] + share * (tried[a] - base[a])
    return _go(p, w) and _holds(p, w, address, stage)


@kernel
def _put_base(p, w, base, has_rates):
    """base (n) is the next step of braking, or without accelerations the least step that the rows ask for."""
    n = len(base)
    if has_rates:
        s, x = section(w.braking.state, n, n), section(w.braking.state, 2 * n, len(w.q))
        for a in range(n):
            base[a], s[a] = w.motion.displacement[a], w.motion.displacement_change[a]
        for i in range(len(x)):
            x[i] = w.begun[i]
        brake_on(p, w, base, s, x)
        if w.memory[ABREAST] > 0.5 and len(p.ranges) > 0 and len(p.loops) == 0:
            steer(p, w, base, s, x)
        return
    for a in range(n):
        w.constraints.slope[a] = 0.0  # the desired step 0
    nearest_step(p, w, w.constraints.slope, False, base)


@kernel
def _give_way(p, w, address):
    """The last resort, where no step keeps all: stay; else multiples of the base, away from what comes near; else base.

    The base breaks rows by the least sum of squares.  Loops stay closed; where even that fails, q stays.
    """
    n = len(w.step)
    base, tried = base_of(w), section(w.constraints.candidate_steps, 2 * n, n)
    for a in range(n):
        tried[a] = 0.0
    if _fits(p, w, address, NO_ACCELERATION, 1.0, tried, tried):
        return
    for k in range(1, _STRETCHES + 1):
        for a in range(n):
            tried[a] = min(max(2.0**k * base[a], w.constraints.lowest[a]), w.constraints.highest[a])
        if _fits(p, w, address, NO_ACCELERATION, 1.0, tried, tried):
            return
    for a in range(n):
        w.step[a] = base[a]
    if not _go(p, w):
        if not _finite(w):  # what must hold has no number here
            w.memory[FAILED] = 1.0
        if w.memory[LOOP_RESIDUAL] > CLOSED:
            w.memory[STAGE] = float(LOOPS_OPEN)
        for a in range(n):
            w.step[a] = 0.0
        for i in range(len(w.q)):
            w.q[i] = w.begun[i]

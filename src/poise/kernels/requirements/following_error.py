"""How far a step may lead ahead of the measured q: whether it is taken again, and between which limits then.

A problem of its own has the frames that are led and how far each may be ahead; its workspace has the measured q as
`start`.  What leads too far is taken again from what was remembered before it, with a copy of the Tracker's problem
that leaves less to each coordinate.
"""

import numpy as np

from poise.kernels.kinematics.forward import forward
from poise.kernels.machine.jit import kernel
from poise.kernels.machine.layout import CALL
from poise.kernels.machine.memory import DONE, SCOUT
from poise.kernels.machine.views import entry_at, rows_at
from poise.kernels.requirements.integrate import move
from poise.kernels.requirements.limits import difference, put_unclipped
from poise.kernels.rows.frame import hung, seen_along
from poise.kernels.solver.ends import clip_start

POSE = 12
"""Rows of where a frame is: its rotation, row by row, and its place."""
_PARTS, _ROUNDS = 32, 3
"""The share of a step that frames let go is found to one of 32^3 parts: of 3 cm to less than 1 um."""
_TINY = 2.2250738585072014e-308
"""The least braking [rad or m a step], for what stands still."""


@kernel
def is_measured(v):
    """Whether there is a measured q."""
    return v.start[0] == v.start[0]


@kernel
def read_measured(p, f, v):
    """Bring the measured q, v.start, to unit quaternions, and see in v.target where its frames are; False if a number
    is too large."""
    if not clip_start(p, v.start, v.q):
        return False
    put_unclipped(p, v.start, v.start)
    _see_frames(f, v, v.start, v.target)
    return True


@kernel
def remember(request, w):
    """Keep what the next step reads of this one."""
    _carry(request, w, False)


@kernel
def return_to_past(request, w):
    """Change it back to what `remember` kept."""
    _carry(request, w, True)


@kernel
def _carry(request, w, back):
    """Copy the workspaces of a call to the room at `past`, behind that for a problem; or `back` from there."""
    at = request.past + 8 * request.words
    at = _copy(request.narrow, at, request.rows, back)
    at = _copy(request.scene_work, at, request.scene_rows, back)
    proposer = entry_at(request.proposer, CALL) if request.proposer != 0 else request
    if 0.0 < w.memory[SCOUT] < DONE:  # one is out; else it begins anew
        at = _copy(request.scout, at, proposer.rows, back)
    if request.proposer != 0:
        _copy(proposer.narrow, at, proposer.rows, back)


@kernel
def _copy(work, room, count, back):
    """Copy so many numbers from a workspace into a room, or `back`; where the room ends."""
    source, target = rows_at(room if back else work, count), rows_at(work if back else room, count)
    for i in range(count):
        target[i] = source[i]
    return room + 8 * count


@kernel
def tightens(request, p, w, f, v):
    """Whether w.q, where a step led, is too far ahead of the measured q; the problem at `past` is then p with the
    limits that the following error leaves to coordinates.

    It is judged where a joint with accelerations could come to rest.  A coordinate that comes to its end goes no
    farther; where a frame does, all go no farther than the share of their way that keeps it.  What is beyond comes
    back towards the measured q.
    """
    _come_to_rest(p, w, v)
    frames, joints = _frames_beyond(f, v, v.q), False
    for r in range(len(p.coordinates)):
        i, reach = p.coordinates[r].q, f.following[2 + r]
        if f.following_words[r] > 0:
            joints = joints or v.q[i] < v.start[i] - reach or v.q[i] > v.start[i] + reach
    if not (joints or frames):
        return False
    put_unclipped(p, w.start, v.before)
    within, share = True, 0.0
    if frames:
        within = not _frames_beyond(f, v, v.before)
        if within:
            difference(p, v.before, v.q, v.step)
        else:
            difference(p, v.before, v.start, v.step)
        share = _share_up_to_border(p, f, v, within)
    words, tighter = rows_at(request.problem, request.words), rows_at(request.past, request.words)
    for i in range(request.words):
        tighter[i] = words[i]
    for r in range(len(p.coordinates)):
        c, at, reach = p.coordinates[r], f.following_words[r], f.following[2 + r]
        if at > 0:
            low, high = v.start[c.q] - reach, v.start[c.q] + reach
            if frames:
                there = v.before[c.q] + share * v.step[c.v]
                here = v.before[c.q] if within else there
                least, most = min(here, there), max(here, there)
                low, high = min(max(least, low), high), min(max(most, low), high)
            tighter[at], tighter[at + 1] = min(max(low, c.lower), c.upper), min(max(high, c.lower), c.upper)
    return True


@kernel
def _come_to_rest(p, w, v):
    """v.q is where every joint is at rest for sure that brakes after the step that led to w.q."""
    for a in range(len(p.rates)):
        rate, x, change = p.rates[a], w.motion.displacement[a], w.motion.displacement_change[a]
        rise, speed = max(0.0, -change if x < 0.0 else change), abs(x)
        steps = rise / rate.jerk
        fastest = speed + 0.5 * rise * steps
        brake = max(min(rate.change, np.sqrt(fastest * rate.jerk)), _TINY)
        way = steps * (speed + rise * steps / 3.0) + 0.5 * fastest * (fastest / brake + 1.0 + brake / rate.jerk)
        v.step[a] = -way if x < 0.0 else way
    if len(p.rates) > 0:
        move(p, w.q, v.step, 1.0, v.q)
    else:
        for i in range(len(w.q)):
            v.q[i] = w.q[i]


@kernel
def _share_up_to_border(p, f, v, within):
    """The largest share of v.step from v.before up to which frames stay `within`, or beyond, as if it changed once."""
    share, width = 0.0, 1.0
    for _ in range(_ROUNDS):
        k = 1
        while k < _PARTS:
            move(p, v.before, v.step, share + width * k / _PARTS, v.q)
            if _frames_beyond(f, v, v.q) == within:
                break
            k += 1
        share += width * (k - 1) / _PARTS
        width /= _PARTS
    return share


@kernel
def _frames_beyond(f, v, q):
    """Whether a frame at q (nq) is farther from where it was measured, or turned more, than it may be."""
    _see_frames(f, v, q, v.scratch)
    beyond = False
    for k in range(len(f.effectors)):
        turn, way = 0.0, 0.0
        for i in range(POSE * k, POSE * k + 9):
            turn += (v.scratch[i] - v.target[i]) ** 2
        for i in range(POSE * k + 9, POSE * k + 12):
            way += (v.scratch[i] - v.target[i]) ** 2
        beyond = beyond or way > f.following[0] or turn > f.following[1]
    return beyond


@kernel
def _see_frames(f, v, q, out):
    """Rotation and place of each frame at q (nq), seen from its base: POSE rows each."""
    forward(f.units, f.pieces, q, v.frames)
    for k in range(len(f.effectors)):
        effector, at = f.effectors[k], POSE * k
        r0, r1, r2, r3, r4, r5, r6, r7, r8, px, py, pz = hung(effector.tip, effector.tool, v.frames)
        if effector.base > 0:
            b0, b1, b2, b3, b4, b5, b6, b7, b8, o0, o1, o2 = hung(effector.base - 2, effector.base_tool, v.frames)
            base = b0, b1, b2, b3, b4, b5, b6, b7, b8
            px, py, pz = seen_along(base, px - o0, py - o1, pz - o2)
            r0, r3, r6 = seen_along(base, r0, r3, r6)
            r1, r4, r7 = seen_along(base, r1, r4, r7)
            r2, r5, r8 = seen_along(base, r2, r5, r8)
        out[at], out[at + 1], out[at + 2], out[at + 3] = r0, r1, r2, r3
        out[at + 4], out[at + 5], out[at + 6], out[at + 7] = r4, r5, r6, r7
        out[at + 8], out[at + 9], out[at + 10], out[at + 11] = r8, px, py, pz

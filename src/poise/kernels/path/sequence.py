"""The best sequence through candidates: dynamic programming (Viterbi 1967)."""

import numpy as np

from poise.kernels.machine.jit import entry_point, kernel
from poise.kernels.machine.kinds import BATCH, REALS, TABLE, WHOLE, WHOLE_TABLE, WHOLES
from poise.kernels.machine.views import problem_at
from poise.kernels.solver.nearness import angle_between


@kernel
def dear_square(p, costs, q, q0):
    """The squared distance between two configurations, in which each velocity counts `costs` (n) times."""
    square = 0.0
    for r in range(len(p.coordinates)):
        i = p.coordinates[r].q
        square += (costs[p.coordinates[r].v] * (q[i] - q0[i])) ** 2
    for r in range(len(p.balls)):
        square += (costs[p.balls[r].v] * angle_between(q, q0, p.balls[r].q)) ** 2
    return square


@kernel
def longest_between(p, q, q0):
    """The largest change of one coordinate, or angle of a ball, between two configurations [rad or m]."""
    longest = 0.0
    for r in range(len(p.coordinates)):
        i = p.coordinates[r].q
        longest = max(longest, abs(q[i] - q0[i]))
    for r in range(len(p.balls)):
        longest = max(longest, angle_between(q, q0, p.balls[r].q))
    return longest


@entry_point(WHOLE, REALS, BATCH, TABLE, REALS, TABLE, WHOLE_TABLE, WHOLES)
def best_sequence(problem, costs, q, price, settings, totals, before, chosen):
    """Choose one candidate of each waypoint, so that the sum of all prices is least; into `chosen` (n,).

    `q` (n, m, nq) are the candidates, `price` (n, m) what each costs, infinite where there is none.  A step costs the
    square of its length, in which each velocity counts `costs` (n) times, and a jump, in which a coordinate changes by
    more than settings[0], settings[1] as well, at the beginning a hundredth more than at the end: of sequences with as
    many jumps the one with the latest is best.
    With settings[2] >= 0 the sequence begins at this candidate, and the step from the last back to it counts too.
    `totals` (2, m) and `before` (n, m) hold the state between calls: one call goes from waypoint settings[3] to
    settings[4].  Returns the sum; infinity before the last stretch.
    """
    p = problem_at(problem)
    n, m = price.shape
    jump, fine, first = settings[0], settings[1], int(settings[2])
    begin, end = int(settings[3]), int(settings[4])
    if begin == 0:
        for j in range(m):
            totals[0, j] = price[0, j] if first < 0 or j == first else np.inf
    for t in range(max(begin, 1), end):
        now, last = t % 2, 1 - t % 2
        for j in range(m):
            least, found = np.inf, 0
            if price[t, j] < np.inf:
                for i in range(m):
                    if totals[last, i] < least:
                        # Dear terms last: a candidate that has lost already is not looked at for jumps.
                        total = totals[last, i] + dear_square(p, costs, q[t, j], q[t - 1, i])
                        if total < least:
                            if longest_between(p, q[t, j], q[t - 1, i]) > jump:
                                total += fine * (1.01 - 0.01 * t / n)
                            if total < least:
                                least, found = total, i
            totals[now, j], before[t, j] = least + price[t, j], found
    if end < n:
        return np.inf
    last, least, found = (n - 1) % 2, np.inf, 0
    for j in range(m):
        total = totals[last, j]
        if first >= 0 and total < np.inf:
            total += dear_square(p, costs, q[n - 1, j], q[0, first])
            if longest_between(p, q[n - 1, j], q[0, first]) > jump:
                total += fine
        if total < least:
            least, found = total, j
    for t in range(n - 1, -1, -1):
        chosen[t] = found
        if t > 0:
            found = before[t, found]
    return least

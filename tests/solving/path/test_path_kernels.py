"""The kernels of paths beside brute force: block elimination, the folded ring, the best sequence, least times."""

import json
import os
import subprocess
import sys
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import poise as pz
from poise.kernels.machine.jit import prepare
from poise.kernels.path.sequence import best_sequence
from poise.solving.path.clock import Clock
from poise.solving.path.feasibility import PathFeasibility
from poise.solving.path.limits import Rates
from poise.solving.path.program import Inequalities, Program, System
from poise.solving.path.timing import timed
from poise.solving.problem.problem import pack


def system(n: int, size: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    some = rng.normal(size=(n, size, size))
    blocks = some @ some.swapaxes(1, 2) + 3.0 * np.eye(size)
    return blocks, -rng.uniform(0.1, 1.0, (n - 1, size)), rng.normal(size=(n, size))


def dense(blocks: np.ndarray, ties: np.ndarray) -> np.ndarray:
    n, size, _ = blocks.shape
    out = np.zeros((n * size, n * size))
    for t in range(n):
        out[t * size : (t + 1) * size, t * size : (t + 1) * size] = blocks[t]
        if t + 1 < n:
            out[t * size : (t + 1) * size, (t + 1) * size : (t + 2) * size] = np.diag(ties[t])
            out[(t + 1) * size : (t + 2) * size, t * size : (t + 1) * size] = np.diag(ties[t])
    return out


@settings(max_examples=25)
@given(n=st.integers(2, 9), size=st.integers(1, 7), seed=st.integers(0, 10**6))
def test_block_elimination_solves_the_whole_system(n: int, size: int, seed: int) -> None:
    blocks, ties, right = system(n, size, seed)
    made = System(blocks.copy(), ties, closed=False)
    for side in (right, np.cos(right)):
        found = made.solve(side)
        assert found is not None
        assert np.allclose(found.ravel(), np.linalg.solve(dense(blocks, ties), side.ravel()), atol=1e-10)


@settings(max_examples=25)
@given(n=st.integers(2, 9), size=st.integers(1, 5), seed=st.integers(0, 10**6))
def test_a_closed_system_is_that_with_its_ends_made_one(n: int, size: int, seed: int) -> None:
    blocks, ties, right = system(n, size, seed)
    one = np.eye(n * size)[:, : (n - 1) * size]
    one[(n - 1) * size :, :size] = np.eye(size)  # the last is the first
    made = System(blocks.copy(), ties, closed=True)
    for side in (right, np.cos(right)):
        wanted = one @ np.linalg.solve(one.T @ dense(blocks, ties) @ one, one.T @ side.ravel())
        found = made.solve(side)
        assert found is not None
        assert np.allclose(found.ravel(), wanted, atol=1e-6)


def test_what_is_not_positive_definite_is_said() -> None:
    blocks, ties, right = system(4, 3, 0)
    blocks[2] -= 50.0 * np.eye(3)
    made = System(blocks, ties, closed=False)
    assert made.solve(right) is None
    assert made.solve(right) is None


@settings(max_examples=15)
@given(seed=st.integers(0, 10**6))
def test_a_program_meets_its_optimality_conditions(seed: int) -> None:
    n, size = 6, 3
    blocks, ties, right = system(n, size, seed)
    low, high = np.full((n, size), -0.05), np.full((n, size), 0.08)
    found = Program(
        blocks=blocks, ties=ties, right=right, low=low, high=high, inequalities=[], sides=[], widest=None,
        closed=False, clock=Clock(None),
    ).solve()  # fmt: skip
    assert found is not None
    changes, forces = found.changes, found.bound_forces
    assert (changes >= low).all()
    assert (changes <= high).all()
    pull = (right.ravel() - dense(blocks, ties) @ changes.ravel()).reshape(n, size)
    # Of an interior point, force times distance from the bound is small, not the force of what is hardly inside.
    assert (np.abs(pull) * np.minimum(changes - low, high - changes)).max() < 2e-6
    assert (pull[changes > high - 1e-6] > -1e-3).all()
    assert (pull[changes < low + 1e-6] < 1e-3).all()
    assert (np.sign(forces[np.abs(forces) > 1e-2]) == np.sign(pull[np.abs(forces) > 1e-2])).all()


@settings(max_examples=15)
@given(seed=st.integers(0, 10**6))
def test_sides_are_inequalities_that_count_once_they_are_crossed(seed: int) -> None:
    n, size, rng = 6, 3, np.random.default_rng(seed)
    blocks, ties, right = system(n, size, seed)
    rows = [(rng.normal(size=(n, size)), np.full(n, -least)) for least in (0.01, 0.03, 10.0)]

    def program(inequalities: Inequalities, sides: Inequalities) -> Program:
        return Program(
            blocks=blocks, ties=ties, right=right, low=np.full((n, size), -0.5), high=np.full((n, size), 0.5),
            inequalities=inequalities, sides=sides, widest=None, closed=False, clock=Clock(None),
        )  # fmt: skip

    made, free = program([], rows), program([], [])
    found, known, plain = made.solve(), program(rows, []).solve(), free.solve()
    assert found is not None
    assert known is not None
    assert plain is not None
    assert np.allclose(found.changes, known.changes, atol=1e-3)
    for side, force in zip(rows, found.forces.T, strict=True):
        excess = (side[0] * found.changes).sum(axis=1) - side[1]
        assert excess.min() > -2e-6
        assert (np.abs(force * excess) < 1e-5).all()
    assert 2 not in made.met
    if not made.met:
        assert np.array_equal(found.changes, plain.changes)
    # What is met pushes, and that is all that holds a program off its free minimum.
    left = (
        right.ravel() - dense(blocks, ties) @ found.changes.ravel() + found.pushes.ravel() - found.bound_forces.ravel()
    )
    assert np.abs(left).max() < 1e-2


def brute(q: np.ndarray, price: np.ndarray, costs: np.ndarray, jump: float, fine: float) -> float:
    n, m = price.shape

    def cost(chosen: tuple[int, ...]) -> float:
        total = sum(price[t, j] for t, j in enumerate(chosen))
        for t in range(1, n):
            move = q[t, chosen[t]] - q[t - 1, chosen[t - 1]]
            total += float(((costs * move) ** 2).sum()) + fine * (1.01 - 0.01 * t / n) * (np.abs(move).max() > jump)
        return total

    return min(cost(chosen) for chosen in product(range(m), repeat=n))


@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), stop=st.integers(1, 4))
def test_the_best_sequence_is_that_of_all(seed: int, stop: int) -> None:
    prepare(best_sequence)
    arm = pz.load("planar3")
    problem = pack(arm, [pz.PositionTask("tool")])
    rng = np.random.default_rng(seed)
    costs = rng.choice([1.0, 3.0], 3)
    q, price = rng.normal(size=(5, 4, 3)), rng.choice([0.0, 0.5, np.inf], (5, 4), p=[0.6, 0.3, 0.1])
    price[:, 0] = 0.0
    chosen = np.zeros(5, dtype=np.int64)
    totals, before, total = np.empty((2, 4)), np.zeros((5, 4), dtype=np.int64), 0.0
    for begin, end in ((0, stop), (stop, 5)):
        stretch = np.array([1.0, 100.0, -1.0, begin, end])
        total = best_sequence(problem.words.ctypes.data, costs, q, price, stretch, totals, before, chosen)
    assert total == pytest.approx(brute(q, price, costs, 1.0, 100.0))
    own = price[np.arange(5), chosen].sum()
    moves = np.diff(q[np.arange(5), chosen], axis=0)
    fines = 100.0 * (1.01 - 0.01 * np.arange(1, 5) / 5.0)
    assert total == pytest.approx(own + ((costs * moves) ** 2).sum() + fines @ (np.abs(moves).max(axis=1) > 1.0))


# Times --------------------------------------------------------------------------------------------------------------


def least_schedule(arm: pz.Model, q: np.ndarray, velocity: np.ndarray, acceleration: np.ndarray) -> np.ndarray:
    limits = Rates(velocity, acceleration, np.full(arm.nv, np.inf))
    return timed(arm, q, limits, np.zeros(len(q), dtype=bool), Clock(None), PathFeasibility(()), within_limits=True)[0]


def kept(arm: pz.Model, q: np.ndarray, times: np.ndarray, velocity: np.ndarray, acceleration: np.ndarray) -> None:
    """The mean speeds, and their changes from the middle of a step to that of the next, keep the limits."""
    gaps = np.diff(times)
    moving = gaps > 0.0
    speeds = arm.difference(q[:-1], q[1:])[moving] / gaps[moving, None]
    assert (np.abs(speeds) <= velocity * (1.0 + 1e-9)).all()
    gaps = gaps[moving]
    rest = np.zeros((1, arm.nv))
    change = np.diff(np.concatenate([rest, speeds, rest]), axis=0)
    middles = 0.5 * (np.append(0.0, gaps) + np.append(gaps, 0.0))
    assert (np.abs(change) / middles[:, None] <= acceleration * (1.0 + 1e-9)).all()


@pytest.mark.parametrize("rows", [2, 5, 60])
@pytest.mark.parametrize(("way", "wanted"), [(2.0, 2.0 / 1.0 + 1.0 / 4.0), (0.1, 2.0 * np.sqrt(0.1 / 4.0))])
def test_one_joint_speeds_up_and_brakes_as_the_textbook_has_it(way: float, wanted: float, rows: int) -> None:
    """With a speed of 1 and an acceleration of 4: way / v + v / a, or 2 sqrt(way / a) if it never gets so fast."""
    arm = pz.load("planar2")
    q = np.linspace(0.0, 1.0, rows)[:, None] * np.array([way, 0.0])
    velocity, acceleration = np.ones(2), np.full(2, 4.0)
    times = least_schedule(arm, q, velocity, acceleration)
    kept(arm, q, times, velocity, acceleration)
    # The differences of few rows cannot be told from a larger acceleration, so these take longer, never shorter.
    assert wanted * (1.0 - 1e-6) <= times[-1] <= wanted * (1.05 if rows == 60 else 3.0)


@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), rows=st.integers(2, 40), infinite=st.booleans())
def test_times_keep_every_limit(seed: int, rows: int, infinite: bool) -> None:
    arm = pz.load("planar3")
    rng = np.random.default_rng(seed)
    along = np.linspace(0.0, 2.0 * np.pi, rows)[:, None]
    q = np.sin(along * rng.uniform(0.2, 2.0, 3) + rng.uniform(0.0, 6.0, 3)) * rng.uniform(0.0, 2.0, 3)
    q = np.repeat(q, rng.integers(1, 3, rows), axis=0)  # some stand still
    velocity = np.array([np.inf, 1.0, 2.0]) if infinite else np.array([0.5, 1.0, 2.0])
    acceleration = np.array([3.0, np.inf, 1.0]) if infinite else np.array([3.0, 2.0, 1.0])
    times = least_schedule(arm, q, velocity, acceleration)
    assert times[0] == 0.0
    assert (np.diff(times) >= 0.0).all()
    assert np.isfinite(times).all()
    kept(arm, q, times, velocity, acceleration)


def test_without_accelerations_every_step_is_as_fast_as_can_be() -> None:
    arm = pz.load("planar2")
    q = np.array([[0.0, 0.0], [1.0, 0.5], [1.0, 0.5], [0.0, 2.5]])
    times = least_schedule(arm, q, np.array([2.0, 1.0]), np.full(2, np.inf))
    assert np.allclose(times, [0.0, 0.5, 0.5, 2.5])


@pytest.mark.parametrize("noise", [0.0, 1e-15, 1e-12, 1e-11, 1e-9, 1e-8])
def test_rows_that_stand_still_cost_no_time(noise: float) -> None:
    """Whatever rounding is left between them, and in whatever direction."""
    arm = pz.load("planar3")
    along = np.linspace(0.0, 1.0, 30)[:, None]
    q = np.sin(along * [2.0, 1.0, 3.0])
    velocity, acceleration = np.ones(3), np.full(3, 5.0)
    wanted = least_schedule(arm, q, velocity, acceleration)
    many = np.repeat(q, 3, axis=0)
    many += noise * np.random.default_rng(0).uniform(-1.0, 1.0, many.shape)
    times = least_schedule(arm, many, velocity, acceleration)
    assert np.allclose(times[::3], wanted, rtol=1e-4)
    assert np.array_equal(times[::3], times[1::3])
    assert np.array_equal(times[::3], times[2::3])


@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), size=st.floats(-14.0, -3.0))
def test_small_turns_take_a_small_time(seed: int, size: float) -> None:
    """What a corner of length d costs is near sqrt(d / a): to stand still there and to start again."""
    arm = pz.load("planar3")
    rng = np.random.default_rng(seed)
    d = 10.0**size
    q = np.linspace(0.0, 1.0, 12)[:, None] * [1.0, -1.0, 0.5]
    q = np.insert(q, 6, q[5] + d * rng.uniform(-1.0, 1.0, 3), axis=0)
    velocity, acceleration = np.ones(3), np.full(3, 5.0)
    free = least_schedule(arm, np.delete(q, 6, axis=0), velocity, acceleration)
    times = least_schedule(arm, q, velocity, acceleration)
    assert (np.diff(times) >= 0.0).all()
    kept(arm, q[np.append(True, np.diff(times) > 0.0)], np.unique(times), velocity, acceleration * (1.0 + 1e-6))
    assert times[-1] <= 5.0 * free[-1]


# Un-jitted ----------------------------------------------------------------------------------------------------------

_CODE = """
import json
import numpy as np
import poise as pz
angle = np.linspace(0.0, 1.0, 5)
points = np.stack([1.3 + 0.4 * np.cos(angle), 0.4 * np.sin(angle), 0.0 * angle], axis=1)
path = pz.solve_path(pz.load("planar2"), pz.PositionTask("tool"), points, velocity=1.0, acceleration=2.0)
print(json.dumps([path.q.tolist(), path.times.tolist(), path.status.name]))
"""


def test_un_jitted_they_give_what_they_give_compiled() -> None:
    compiled, plain = (
        json.loads(
            subprocess.run(
                [sys.executable, "-c", _CODE],
                env={**os.environ, "NUMBA_DISABLE_JIT": off},
                capture_output=True,
                text=True,
                check=True,
                timeout=300,
            ).stdout
        )
        for off in ("0", "1")
    )
    assert plain[2] == compiled[2] == "CONVERGED"
    assert np.allclose(plain[0], compiled[0], atol=1e-5)
    assert np.allclose(plain[1], compiled[1], rtol=1e-3)

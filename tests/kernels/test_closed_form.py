"""What closed forms are made of: arcs, turns that face or level, quartics on the circle, candidates for a solver."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kept import kept

import poise as pz
from poise.common.array import Array
from poise.kernels.algebra.scalar import angle_of
from poise.kernels.closed_form.candidates import candidates, give_choices
from poise.kernels.closed_form.quartic import unit_roots
from poise.kernels.closed_form.subproblems import facing, level
from poise.kernels.machine.jit import UNJITTED
from poise.kernels.machine.lanes import WIDTH, load, store, workspace
from poise.kernels.machine.views import narrow, problem_at, wide
from poise.kernels.solver.ends import aim_at
from poise.robots import TEXTBOOK
from poise.solving.problem.closed_form import closed_form
from poise.solving.problem.problem import pack

compiled = kept(_nrt=False)


@compiled
def arcs(x, out):
    store(out, 0, angle_of(load(x, 0), load(x, 1)))


@compiled
def turn_to_face(rows, k, p, q, rest, out):
    (s, c), loose = facing(rows, (k[0], k[1], k[2]), (p[0], p[1], p[2]), (q[0], q[1], q[2]), rest)
    store(out, 0, s), store(out, 1, c), store(out, 2, loose)


@compiled
def turn_to_level(rows, k, p, h, height, rest, out):
    sign = load(rows, 0)
    (s, c), loose = level(rows, (k[0], k[1], k[2]), (p[0], p[1], p[2]), (h[0], h[1], h[2]), height, sign, rest)
    store(out, 0, s), store(out, 1, c), store(out, 2, loose)


@compiled
def roots(a0, a1, b1, a2, b2):
    return unit_roots(a0, a1, b1, a2, b2)


@compiled
def candidates_of(words, work, lanes, start, value):
    p = problem_at(words)
    w, v = narrow(p, work, work), wide(p, lanes, lanes)
    aim_at(p, w.goal, w.target)
    give_choices(v)
    candidates(p, v, w.target, start, value, 0.0)


def unit(rng: np.random.Generator) -> Array:
    v = rng.normal(size=3)
    return v / np.linalg.norm(v)


def turned(k: Array, angle: float, v: Array) -> Array:
    return np.asarray(pz.SO3.from_rotvec(angle * k).act(v))


# Arcs --------------------------------------------------------------------------------------------------------------


def test_the_angle_of_a_sine_and_a_cosine_is_right_to_an_ulp_or_two_in_either_width() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(2, 4000)) * 10.0 ** rng.uniform(-8, 8, (2, 4000))
    x[:, :9] = np.array([[s, c] for s in (-1.0, 0.0, 1.0) for c in (-1.0, 0.0, 1.0)]).T
    exact = np.arctan2(x[0], x[1])
    for work, out in ((np.zeros(2), np.zeros(1)), (np.zeros((2, WIDTH)), np.zeros((1, WIDTH)))):
        for i in range(0, 4000, WIDTH):
            for j in range(i, i + WIDTH) if work.ndim == 1 else (slice(i, i + WIDTH),):
                work[:] = x[:, j]
                arcs(work, out)
                assert np.abs(out[0] - exact[j]).max() < 5e-16


# Turns -------------------------------------------------------------------------------------------------------------


@settings(max_examples=200)
@given(seed=st.integers(0, 2**32 - 1), angle=st.floats(-3.1, 3.1), near=st.sampled_from([0.0, 1.0, 1e4, 1e7]))
def test_facing_finds_the_turn_and_keeps_its_digits_next_to_the_axis(seed: int, angle: float, near: float) -> None:
    rng = np.random.default_rng(seed)
    k, p = unit(rng), rng.normal(size=3)
    p = p + near * np.linalg.norm(np.cross(k, p)) * k
    q, out = turned(k, angle, p), np.zeros(3)
    turn_to_face(np.zeros(1), k, p, q, 0.0, out)
    assert abs(np.hypot(*out[:2]) - 1.0) < 1e-15
    assert out[2] == 0.0
    assert abs((np.arctan2(out[0], out[1]) - angle + np.pi) % (2 * np.pi) - np.pi) < 1e-13 * (1.0 + near)


@settings(max_examples=200)
@given(seed=st.integers(0, 2**32 - 1), angle=st.floats(-3.1, 3.1))
def test_level_finds_both_turns_by_their_sign(seed: int, angle: float) -> None:
    rng = np.random.default_rng(seed)
    k, h, p = unit(rng), unit(rng), rng.normal(size=3)
    height, rows, out = float(h @ turned(k, angle, p)), np.zeros(WIDTH).reshape(1, WIDTH), np.zeros((3, WIDTH))
    rows[0] = np.tile([1.0, -1.0], WIDTH // 2)
    turn_to_level(rows, k, p, h, height, 0.0, out)
    angles = np.arctan2(out[0], out[1])
    for found, sign in zip(angles[:2], (1.0, -1.0), strict=True):
        assert abs(h @ turned(k, found, p) - height) < 1e-12
        slope = h @ np.cross(k, turned(k, found, p))
        assert slope * sign > -1e-7
    assert min(abs((angles[:2] - angle + np.pi) % (2 * np.pi) - np.pi)) < 1e-6


def test_a_height_out_of_reach_is_come_near_to() -> None:
    rng = np.random.default_rng(2)
    for _ in range(50):
        k, h, p = unit(rng), unit(rng), rng.normal(size=3)
        turns = pz.SO3.from_rotvec(np.linspace(-np.pi, np.pi, 20001)[:, None] * k)
        heights = turns.act(p) @ h
        for sign, best in ((1.0, max(heights)), (-1.0, min(heights))):
            out = np.zeros(3)
            turn_to_level(np.ones(1), k, p, h, 10.0 * sign, 0.0, out)
            assert abs(h @ turned(k, np.arctan2(out[0], out[1]), p) - best) < 1e-6


def test_what_moves_nothing_stays_at_rest() -> None:
    k, out = np.array([0.0, 0.6, 0.8]), np.zeros(3)
    turn_to_face(np.zeros(1), k, 2.0 * k, 2.0 * k, 0.7, out)
    assert out.tolist() == pytest.approx([np.sin(0.7), np.cos(0.7), 1.0])
    turn_to_level(np.ones(1), k, 2.0 * k, np.array([1.0, 0.0, 0.0]), 0.1, -0.7, out)
    assert out.tolist() == pytest.approx([np.sin(-0.7), np.cos(-0.7), 1.0])


# Quartics ----------------------------------------------------------------------------------------------------------


@settings(max_examples=200)
@given(seed=st.integers(0, 2**32 - 1))
def test_zeros_on_the_circle_are_all_found(seed: int) -> None:
    """A polynomial that is 0 at four given angles, or at two and nowhere else."""
    rng = np.random.default_rng(seed)
    angles = np.sort(rng.uniform(-np.pi, np.pi, 4))
    if np.diff(np.append(angles, angles[0] + 2 * np.pi)).min() < 0.05:
        return
    # sin((x - a) / 2) sin((x - b) / 2) is half of cos((a - b) / 2) - cos(x - (a + b) / 2).
    first, second = ((np.cos(0.5 * (a - b)), 0.5 * (a + b)) for a, b in (angles[:2], angles[2:]))
    for factor in (second, (1.5, second[1])):
        zeros = angles if factor is second else angles[:2]
        t = 2.0 * np.pi * np.arange(8) / 8
        values = (first[0] - np.cos(t - first[1])) * (factor[0] - np.cos(t - factor[1]))
        f = np.fft.rfft(values) / 8
        found = roots(f[0].real, 2 * f[1].real, -2 * f[1].imag, 2 * f[2].real, -2 * f[2].imag)
        at = np.array([np.arctan2(s, c) for s, c in found])
        for zero in zeros:
            assert np.abs((at - zero + np.pi) % (2 * np.pi) - np.pi).min() < 1e-9


def test_a_double_zero_is_found_to_half_the_digits_and_a_quadratic_too() -> None:
    found = roots(1.5, -2.0, 0.0, 0.5, 0.0)  # (1 - cos)^2
    assert np.abs([np.arctan2(s, c) for s, c in found]).min() < 1e-3
    found = roots(0.5, -1.0, 0.0, 0.0, 0.0)  # cos = 1/2
    at = np.array([np.arctan2(s, c) for s, c in found])
    for zero in (np.pi / 3, -np.pi / 3):
        assert np.abs(at - zero).min() < 1e-9


# Candidates --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ur5e", "puma560", "panda"])
def test_the_eight_lanes_hold_the_candidates_of_a_target(name: str) -> None:
    """What a solver may start from: each lane a configuration, those of branches that exist at the target."""
    model = TEXTBOOK[name]()
    task = pz.PoseTask(model.tip)
    form = closed_form(model, task, pack(model, (task,), limits=False))
    assert form is not None
    words, rows = form.problem.words.copy(), form.problem.rows
    for q in model.sample(10, seed=3):
        target = model.pose(model.tip, q)
        work, lanes = workspace(2000), workspace(2000, WIDTH)
        work[rows("goal")] = target.array
        candidates_of(words, work, lanes, np.array(q), q[6] if form.swept else 0.0)
        found = lanes[rows("q")].T
        errors = [np.abs((model.pose(model.tip, other).inverse() @ target).log()).max() for other in found]
        assert np.isfinite(found).all()
        assert sum(error < 1e-12 for error in errors) in (2, 4, 6, 8)
        assert np.abs(found - q).max(axis=1).min() < 1e-6


def everything() -> list[float]:
    """Solutions of arms of each family, as numbers."""
    out = []
    for name in ("ur5e", "puma560", "panda"):
        model = TEXTBOOK[name]()
        for q in model.sample(3, seed=4):
            found = pz.solve_all(model, pz.PoseTask(model.tip), model.pose(model.tip, q), q0=0.9 * q, samples=2)
            out += [*found.q.ravel().tolist(), *found.numbers.tolist(), found.total]
    return out


@pytest.mark.skipif(UNJITTED, reason="there is nothing to compare with")
def test_plain_python_gives_the_same() -> None:
    run = subprocess.run(
        [sys.executable, __file__],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    plain = np.array([float(x) for x in run.stdout.split()])
    assert np.allclose(plain, everything(), rtol=0.0, atol=1e-9)


if __name__ == "__main__":
    print(*everything())

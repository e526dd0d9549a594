"""Limits of a ball in the kernels, against those in plain NumPy and finite differences."""

import math
from typing import Any

import numpy as np
import pytest
from kept import kept

from poise.kernels.algebra.swing_twist import MARGIN, blocked, clipped, random_rotation, semi_axes
from poise.kernels.machine import packing
from poise.kernels.machine.layout import BALL
from poise.kernels.machine.views import problem_at
from poise.model.swing import BallLimits, SwingTwist
from poise.quaternions import quaternion_exp, quaternion_product

compiled = kept(_nrt=False, error_model="numpy")
LIMITS = [
    SwingTwist(axis=(0, 0, 1), swing=(0.8, 0.3), twist=(-0.4, 0.9)),
    SwingTwist(axis=(1, 0, 0), swing=2.5, twist=(2.0, 3.9)),
    SwingTwist(axis=(0.36, 0.48, 0.8), swing=(1.0, 0.0), twist=(0.0, 0.0)),
    SwingTwist(axis=(0, -1, 0), swing=(0.5, 1.5), rest=(0.5, -0.5, 0.5, 0.5)),
    SwingTwist(axis=(0, 0, -1), twist=(-1.0, 0.5), rest=(0.8, 0.0, -0.6, 0.0)),
    SwingTwist(axis=(0, 0.6, 0.8), swing=((-0.2, 1.9), (-1.0, 0.4)), twist=(-0.3, 0.5), across=(1, 0, 0)),
    SwingTwist(swing=((0.0, 0.0), (0.0, 2.4)), twist=(0.0, 0.0), rest=(0.8, 0.0, 0.0, 0.6)),
]


@compiled
def pull_all(words, wxyz, out):
    p = problem_at(words)
    for i in range(len(wxyz)):
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = clipped(p.balls[0], wxyz[i, 0], wxyz[i, 1], wxyz[i, 2], wxyz[i, 3])


@compiled
def block_all(words, wxyz, turns, out):
    p = problem_at(words)
    for i in range(len(wxyz)):
        w, x, y, z = wxyz[i, 0], wxyz[i, 1], wxyz[i, 2], wxyz[i, 3]
        held = blocked(p.balls[0], (w, x, y, z), (turns[i, 0], turns[i, 1], turns[i, 2]), 0.0)
        for k in range(9):
            out[i, k] = held[k]


@compiled
def draw_all(words, u, out):
    p = problem_at(words)
    for i in range(len(u)):
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = random_rotation(p.balls[0], u[i, 0], u[i, 1], u[i, 2])


def words_of(ball: BallLimits) -> Any:
    return packing.pack({"balls": packing.joined(BALL, [[0, 0, 1]], [np.hstack(ball.record[:-1])])}, {"q": 4})


def turns(count: int, seed: int) -> np.ndarray:
    wxyz = np.random.default_rng(seed).normal(size=(count, 4))
    return wxyz / np.linalg.norm(wxyz, axis=1, keepdims=True)


@pytest.mark.parametrize("limits", LIMITS)
def test_what_is_outside_comes_inside(limits: SwingTwist) -> None:
    ball = limits.at(0)
    wxyz = turns(1000, 0)
    wxyz = np.concatenate([wxyz, ball.pulled_in(wxyz), quaternion_product(turns(1, 1)[0], wxyz)])
    out, again = np.empty_like(wxyz), np.empty_like(wxyz)
    pull_all(words_of(ball), wxyz, out)
    assert ball.inside(out).all()
    expected = ball.pulled_in(wxyz)
    assert np.abs(out - expected).max() < 1e-5 * (np.min(ball.semi_axes) < 1e-3) + 1e-8
    assert (out[1000:2000] == wxyz[1000:2000]).all()
    pull_all(words_of(ball), out, again)
    assert (again == out).all()


@pytest.mark.parametrize("limits", LIMITS)
def test_starts_are_inside_and_spread_evenly(limits: SwingTwist) -> None:
    ball = limits.at(0)
    u = np.random.default_rng(3).uniform(size=(500, 3))
    out = np.empty((500, 4))
    draw_all(words_of(ball), u, out)
    assert ball.inside(out).all()
    assert np.abs(out - np.stack(random_rotation(ball.record, *u.T), axis=1)).max() < 1e-8


@pytest.mark.parametrize("limits", LIMITS)
def test_at_a_border_what_would_leave_is_held(limits: SwingTwist) -> None:
    ball = limits.at(0)
    wxyz = ball.pulled_in(turns(300, 4))
    wish = np.random.default_rng(5).normal(size=(300, 3))
    out = np.zeros((300, 9))
    block_all(words_of(ball), wxyz, wish, out)
    held = out.reshape(-1, 3, 3)
    n = held[:, 0]
    products = np.einsum("iaj,ibj->iab", held, held)
    assert np.abs(products - products * np.eye(3)).max() < 1e-12  # orthogonal
    left = wish - np.einsum("iaj,iak,ik->ij", held, held, wish)
    step = 1e-5
    ends = [ball.parts(quaternion_product(quaternion_exp(s * left), wxyz)) for s in (step, -step)]
    wide = np.min(ball.semi_axes) > 1e-3
    swing, twist = ball.parts(wxyz)
    inner = np.stack(semi_axes(ball.record, *swing.T), axis=1) - 2.0 * MARGIN
    level = ((swing / inner) ** 2).sum(1)
    grown = [((end[0] / inner) ** 2).sum(1) for end in ends]
    rim = (level >= 1.0) & (np.hypot(*swing.T) < math.pi - 0.1)
    if wide:  # no step that is left grows along the border of the ellipse, but by the curvature
        assert ((grown[0] - grown[1]) / (2.0 * step))[rim].max(initial=-1.0) < 1e-3
        at_end = np.abs(twist) >= ball.half - 2.0 * MARGIN
        rate = (ends[0][1] - ends[1][1]) / (2.0 * step) * np.sign(twist)
        assert rate[at_end].max(initial=-1.0) < 1e-5
    free = (level < 1.0) & (np.abs(twist) < ball.half - 2.0 * MARGIN)
    assert (out[free] == 0.0).all()
    assert np.linalg.norm(n[n.any(1)], axis=1) == pytest.approx(1.0)

"""Damped least squares through orthogonal rows, in either width, against NumPy's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kept import kept

from poise.common.array import Array
from poise.kernels.algebra.qr import least_norm
from poise.kernels.machine.lanes import WIDTH, load

compiled = kept(_nrt=False, error_model="numpy")


@compiled
def run_least_norm(m, n, damping, rows, e, rest, x):
    least_norm(m, n, load(damping, 0), rows, e, rest, x)


def ours(matrices: Array, dampings: Array, errors: Array) -> Array:
    """(WIDTH, n) the steps of `matrices` (WIDTH, m, n), `dampings` lambda^2 (WIDTH,), `errors` (WIDTH, m), in lanes."""
    _, m, n = matrices.shape
    rows = np.full((m * (n + m), WIDTH), np.nan)
    rows[: m * n] = matrices.reshape(WIDTH, -1).T
    x = np.full((n, WIDTH), np.nan)
    e = np.ascontiguousarray(errors.T)
    run_least_norm(m, n, dampings[None].copy(), rows, e, np.full((m, WIDTH), np.nan), x)
    return x.T


def single(matrix: Array, damping: float, e: Array) -> Array:
    """(n,) the step of one problem, one number wide."""
    m, n = matrix.shape
    rows, x = np.full(m * (n + m), np.nan), np.full(n, np.nan)
    rows[: m * n] = matrix.ravel()
    run_least_norm(m, n, np.array([damping]), rows, e.copy(), np.full(m, np.nan), x)
    return x


def augmented(matrix: Array, damping: float, e: Array) -> Array:
    """The x of least |J x - e|^2 + lambda^2 |x|^2, by NumPy's least squares."""
    n = matrix.shape[1]
    stacked = np.concatenate([matrix, np.sqrt(damping) * np.eye(n)])
    return np.linalg.lstsq(stacked, np.concatenate([e, np.zeros(n)]))[0]


def by_values(matrix: Array, damping: float, e: Array) -> Array:
    """sum sigma_i / (sigma_i^2 + lambda^2) v_i u_i^T e."""
    u, sigma, v = np.linalg.svd(matrix, full_matrices=False)
    return v.T @ (sigma / (sigma**2 + damping) * (u.T @ e))


def of_condition(rng: np.random.Generator, m: int, n: int, condition: float) -> Array:
    left, _ = np.linalg.qr(rng.normal(size=(m, m)))
    right, _ = np.linalg.qr(rng.normal(size=(n, n)))
    r = min(m, n)
    return left[:, :r] * np.geomspace(1.0, 1.0 / condition, r) @ right[:, :r].T


few = settings(max_examples=60)


@few
@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 25))
def test_it_is_the_damped_step_for_every_damping(seed: int, m: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    matrices, errors = rng.normal(size=(WIDTH, m, n)), rng.normal(size=(WIDTH, m))
    dampings = np.geomspace(1e-8, 10.0, WIDTH) ** 2
    for matrix, damping, e, x in zip(matrices, dampings, errors, ours(matrices, dampings, errors), strict=True):
        least = np.linalg.svd(matrix, compute_uv=False)[-1] if m <= n else 0.0
        condition = (1.0 + np.linalg.norm(matrix)) / np.hypot(least, np.sqrt(damping))
        if condition > 1e4:
            continue  # the error is out of reach, or all but, and rounding grows with the condition's square
        tolerance = 1e-13 * condition**2 * np.linalg.norm(e)
        if m >= n or np.linalg.norm(matrix) < 1e4 * np.sqrt(damping):  # else NumPy's is the one that rounds
            np.testing.assert_allclose(x, augmented(matrix, damping, e), rtol=0, atol=tolerance)
        np.testing.assert_allclose(x, by_values(matrix, damping, e), rtol=0, atol=tolerance)
        np.testing.assert_allclose(single(matrix, damping, e), x, rtol=0, atol=tolerance)


@pytest.mark.parametrize("damping", [1e-8, 1e-4, 1.0])
def test_rows_that_are_zero_or_alike_are_no_trouble(damping: float) -> None:
    rng = np.random.default_rng(3)
    matrices, errors = rng.normal(size=(WIDTH, 6, 7)), rng.normal(size=(WIDTH, 6))
    matrices[0, 2] = 0.0
    matrices[1, :] = 0.0
    matrices[2, 5] = matrices[2, 0]
    steps = ours(matrices, np.full(WIDTH, damping), errors)
    for matrix, e, x in zip(matrices, errors, steps, strict=True):
        expected = by_values(matrix, damping, e)
        np.testing.assert_allclose(x, expected, rtol=0, atol=1e-11 * np.linalg.norm(e) / np.sqrt(damping))
    np.testing.assert_array_equal(steps[1], 0.0)


@pytest.mark.parametrize(("m", "n"), [(3, 4), (6, 7), (12, 25)])
def test_it_beats_the_normal_equations_where_they_square_the_condition_number(m: int, n: int) -> None:
    condition, damping = 1e7, 1e-20
    worst = np.zeros(2)
    rng = np.random.default_rng(m)
    matrices = np.stack([of_condition(rng, m, n, condition) for _ in range(WIDTH)])
    wanted = rng.normal(size=(WIDTH, n))
    errors = np.einsum("kmn,kn->km", matrices, wanted)
    steps = ours(matrices, np.full(WIDTH, damping), errors)
    for matrix, e, x in zip(matrices, errors, steps, strict=True):
        expected = by_values(matrix, damping, e)
        normal = matrix.T @ np.linalg.solve(matrix @ matrix.T + damping * np.eye(m), e)
        worst = np.maximum(worst, [np.abs(x - expected).max(), np.abs(normal - expected).max()])
    assert worst[0] < 1e-7
    assert worst[0] < 1e-3 * worst[1]

"""Symmetric systems of any size, in either width, against NumPy's."""

import numba
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from poise.kernels.algebra.cholesky import solve_symmetric
from poise.kernels.machine.lanes import WIDTH
from poise.spatial import Array

compiled = numba.njit(_nrt=False, error_model="numpy")


@compiled
def run_solve(n, matrix, x):
    solve_symmetric(n, matrix, x)


def spd(rng: np.random.Generator, size: int, condition: float) -> Array:
    turned, _ = np.linalg.qr(rng.normal(size=(size, size)))
    return turned * np.geomspace(1.0, 1.0 / condition, size) @ turned.T


@settings(deadline=None, derandomize=True, max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(1, 25), st.sampled_from([1.0, 1e3, 1e6, 1e9]))
def test_every_lane_solves_its_own_system(seed: int, n: int, condition: float) -> None:
    rng = np.random.default_rng(seed)
    matrices = np.stack([spd(rng, n, condition) for _ in range(WIDTH)])
    right = rng.normal(size=(WIDTH, n))
    # The upper triangle holds nothing that may be read.
    upper = np.triu(np.ones((n, n), dtype=bool), 1)
    wide = np.ascontiguousarray(np.where(upper, np.nan, matrices).reshape(WIDTH, -1).T)
    x = np.ascontiguousarray(right.T)
    narrow = [np.ascontiguousarray(wide[:, lane]) for lane in range(WIDTH)]
    run_solve(n, wide, x)
    for lane, matrix in enumerate(matrices):
        expected = np.linalg.solve(matrix, right[lane])
        tolerance = 1e-14 * condition * np.abs(expected).max()
        np.testing.assert_allclose(x[:, lane], expected, rtol=0, atol=tolerance)
        one = right[lane].copy()
        run_solve(n, narrow[lane], one)
        np.testing.assert_allclose(one, expected, rtol=0, atol=tolerance)
        root = np.linalg.cholesky(matrix)
        for factor in (narrow[lane].reshape(n, n), wide[:, lane].reshape(n, n)):
            np.testing.assert_allclose(factor[~upper], root[~upper], rtol=0, atol=1e-15 * n * np.sqrt(condition))
            assert np.isnan(factor[upper]).all(), "only the lower triangle is written"


def test_what_is_not_positive_shows_in_its_lane_alone() -> None:
    matrix = np.repeat(np.eye(4).ravel()[:, None], WIDTH, axis=1)
    matrix[5, 3] = -1.0
    x = np.ones((4, WIDTH))
    run_solve(4, matrix, x)
    assert np.isnan(x[:, 3]).any()
    np.testing.assert_array_equal(np.delete(x, 3, axis=1), 1.0)

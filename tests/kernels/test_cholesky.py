"""Symmetric systems of any size, in either width, against NumPy's."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from kept import kept

from poise.common.array import Array
from poise.kernels.algebra.cholesky import factor, solve_symmetric
from poise.kernels.machine.lanes import WIDTH, store

compiled = kept(_nrt=False, error_model="numpy")


@compiled
def run_solve(n, matrix, x):
    solve_symmetric(n, matrix, x)


@compiled
def run_factor(n, matrix, least):
    store(least, 0, factor(n, matrix))


def spd(rng: np.random.Generator, size: int, condition: float) -> Array:
    turned, _ = np.linalg.qr(rng.normal(size=(size, size)))
    return turned * np.geomspace(1.0, 1.0 / condition, size) @ turned.T


@settings(max_examples=60)
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
        for lower in (narrow[lane].reshape(n, n), wide[:, lane].reshape(n, n)):
            np.testing.assert_allclose(lower[~upper], root[~upper], rtol=0, atol=1e-15 * n * np.sqrt(condition))
            assert np.isnan(lower[upper]).all(), "only the lower triangle is written"


def test_what_is_not_positive_shows_in_its_lane_alone() -> None:
    matrix = np.repeat(np.eye(4).ravel()[:, None], WIDTH, axis=1)
    matrix[5, 3] = -1.0
    x = np.ones((4, WIDTH))
    run_solve(4, matrix, x)
    assert np.isnan(x[:, 3]).any()
    np.testing.assert_array_equal(np.delete(x, 3, axis=1), 1.0)


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12))
def test_the_least_pivot_tells_whether_a_matrix_is_positive_definite(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    matrices = []
    for _ in range(WIDTH):
        turned, _ = np.linalg.qr(rng.normal(size=(n, n)))
        matrices.append(turned * rng.choice([-0.5, 0.1, 1.0, 2.0], p=[0.1, 0.3, 0.3, 0.3], size=n) @ turned.T)
    wide, least = np.ascontiguousarray(np.reshape(matrices, (WIDTH, -1)).T), np.full((1, WIDTH), np.nan)
    run_factor(n, wide, least)
    for lane, matrix in enumerate(matrices):
        one, alone = matrix.ravel().copy(), np.full(1, np.nan)
        run_factor(n, one, alone)
        for told in (least[0, lane], alone[0]):
            if np.linalg.eigvalsh(matrix)[0] > 0.0:
                np.testing.assert_allclose(told, np.diag(np.linalg.cholesky(matrix)).min() ** 2, rtol=1e-11)
            else:
                assert not told > 0.0

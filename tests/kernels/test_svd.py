"""Singular values by one-sided Jacobi rotations, in either width, against NumPy's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kept import kept

from poise.common.array import Array
from poise.kernels.algebra.svd import decompose, identity
from poise.kernels.machine.layout import WIDTH

compiled = kept(_nrt=False, error_model="numpy")


@compiled
def run_decompose(m, n, b, w, sigma):
    identity(m, w)
    decompose(m, n, b, w, sigma)


@compiled
def run_again(m, n, b, w, sigma):
    decompose(m, n, b, w, sigma)


def ours(matrices: Array) -> tuple[Array, Array, Array]:
    """U (k, m, m) of columns u_i, sigma (k, m) falling, rows sigma_i v_i (k, m, n) of `matrices`, in lanes."""
    k, m, n = matrices.shape
    b = np.zeros((m * n, WIDTH))
    b[:, :k] = matrices.reshape(k, -1).T
    w, sigma = np.full((m * m, WIDTH), np.nan), np.full((m, WIDTH), np.nan)
    run_decompose(m, n, b, w, sigma)
    rows, turn = b.T[:k].reshape(k, m, n), w.T[:k].reshape(k, m, m)
    order = np.argsort(-sigma.T[:k], axis=1)
    at = np.arange(k)[:, None]
    return turn[at, order].transpose(0, 2, 1), np.sort(sigma.T[:k], axis=1)[:, ::-1], rows[at, order]


def single(matrix: Array) -> tuple[Array, Array, Array]:
    """The same of one matrix, one number wide."""
    m, n = matrix.shape
    b, w, sigma = packed(matrix), packed(np.full((m, m), np.nan)), np.full(m, np.nan)
    run_decompose(m, n, b, w, sigma)
    order = np.argsort(-sigma)
    return w.reshape(m, -1)[order, :m].T, sigma[order], b.reshape(m, -1)[order, :n]


def packed(matrix: Array) -> Array:
    """The rows of a matrix in packs, one number wide."""
    wide = np.zeros((len(matrix), -(-matrix.shape[1] // WIDTH) * WIDTH))
    wide[:, : matrix.shape[1]] = matrix
    return wide.ravel()


def check(matrix: Array, turn: Array, sigma: Array, rows: Array) -> None:
    """J = U B with U orthogonal, the rows of B orthogonal and as long as the singular values say."""
    m, scale = len(matrix), max(1e-300, np.linalg.norm(matrix))
    np.testing.assert_allclose(turn @ turn.T, np.eye(m), rtol=0, atol=1e-13)
    np.testing.assert_allclose(turn @ rows, matrix, rtol=0, atol=1e-14 * scale)
    expected = np.zeros(m)
    expected[: min(matrix.shape)] = np.linalg.svd(matrix, compute_uv=False)
    np.testing.assert_allclose(sigma, expected, rtol=0, atol=2e-15 * m * scale)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), sigma, rtol=1e-14, atol=0)
    real = rows[sigma > 1e-12 * scale] / sigma[sigma > 1e-12 * scale, None]
    np.testing.assert_allclose(real @ real.T, np.eye(len(real)), rtol=0, atol=1e-10)


def of_values(rng: np.random.Generator, m: int, n: int, values: Array) -> Array:
    """A random (m, n) matrix with these singular values."""
    left, _ = np.linalg.qr(rng.normal(size=(m, m)))
    right, _ = np.linalg.qr(rng.normal(size=(n, n)))
    r = len(values)
    return left[:, :r] * values @ right[:, :r].T


def spoilt(rng: np.random.Generator, m: int, n: int, kind: str) -> Array:
    """A random matrix of a kind that tries the rotations."""
    matrix = rng.normal(size=(m, n))
    match kind:
        case "rank lost":
            matrix[-1] = matrix[: m - 1].sum(axis=0)
        case "rank 1":
            matrix = np.outer(rng.normal(size=m), rng.normal(size=n))
        case "zero rows":
            matrix[rng.random(m) < 0.5] = 0.0
        case "zero columns":
            matrix[:, rng.random(n) < 0.5] = 0.0
        case "equal values":
            matrix = of_values(rng, m, n, np.repeat([3.0, 3.0, 0.5], m)[: min(m, n)])
        case "equal rows":
            matrix[:] = matrix[0]
        case "graded":
            matrix = of_values(rng, m, n, np.geomspace(1.0, 1e-10, min(m, n)))
        case "tiny":
            matrix *= 1e-60
        case "huge":
            matrix *= 1e60
        case "zero":
            matrix[:] = 0.0
    return matrix


KINDS = (
    "plain",
    "rank lost",
    "rank 1",
    "zero rows",
    "zero columns",
    "equal values",
    "equal rows",
    "graded",
    "tiny",
    "huge",
    "zero",
)
few = settings(max_examples=100)


@few
@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 25), st.lists(st.sampled_from(KINDS), max_size=8))
def test_every_lane_has_its_own_decomposition(seed: int, blocks: int, n: int, kinds: list[str]) -> None:
    rng, m = np.random.default_rng(seed), 3 * blocks
    matrices = np.stack([spoilt(rng, m, n, kind) for kind in (*kinds, *KINDS)[:WIDTH]])
    for matrix, turn, sigma, rows in zip(matrices, *ours(matrices), strict=True):
        check(matrix, turn, sigma, rows)
        check(matrix, *single(matrix))
        np.testing.assert_allclose(sigma, single(matrix)[1], rtol=0, atol=1e-14 * np.linalg.norm(matrix))


@pytest.mark.parametrize(("m", "n"), [(3, 3), (6, 7), (12, 25)])
def test_small_singular_values_are_right_to_their_own_last_places(m: int, n: int) -> None:
    # D A with a well-conditioned A: rows of falling length determine even the least singular value to its last places.
    rng = np.random.default_rng(m * n)
    falling = np.geomspace(1.0, 1e-10, m)
    shaped = [of_values(rng, m, n, np.linspace(2.0, 1.0, m)) for _ in range(WIDTH)]
    _, sigma, _ = ours(np.stack([a * falling[:, None] for a in shaped]))
    for a, found in zip(shaped, sigma, strict=True):
        low = np.linalg.qr(a.T)[1].T
        least = 1.0 / np.linalg.norm(np.linalg.inv(low) / falling, 2)
        every = abs(np.linalg.det(low)) * np.prod(falling)
        np.testing.assert_allclose(found[0], np.linalg.norm(a * falling[:, None], 2), rtol=1e-13)
        np.testing.assert_allclose(found[-1], least, rtol=1e-12)
        np.testing.assert_allclose(np.prod(found), every, rtol=1e-12)


def test_of_a_zero_matrix_all_is_zero() -> None:
    turn, sigma, rows = single(np.zeros((6, 7)))
    np.testing.assert_array_equal(sigma, 0.0)
    np.testing.assert_array_equal(rows, 0.0)
    np.testing.assert_array_equal(turn, np.eye(6))


@few
@given(st.integers(0, 2**32 - 1), st.integers(3, 12), st.integers(1, 25))
def test_signs_of_rows_and_columns_change_no_singular_value(seed: int, m: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(m, n))
    rows, columns = rng.choice([-1.0, 1.0], m), rng.choice([-1.0, 1.0], n)
    np.testing.assert_allclose(
        single(rows[:, None] * matrix * columns)[1], single(matrix)[1], rtol=0, atol=1e-14 * np.linalg.norm(matrix)
    )


@pytest.mark.parametrize("change", [0.0, 1e-6, 0.1, 10.0])
def test_the_rotation_of_a_matrix_nearby_is_as_good_a_start(change: float) -> None:
    rng = np.random.default_rng(4)
    before = rng.normal(size=(12, 25))
    w, sigma = np.zeros((12, 16)).ravel(), np.zeros(12)
    run_decompose(12, 25, packed(before), w, sigma)
    after = before + change * rng.normal(size=(12, 25))
    b = packed(w.reshape(12, 16)[:, :12] @ after)
    run_again(12, 25, b, w, sigma)
    order = np.argsort(-sigma)
    check(after, w.reshape(12, 16)[order, :12].T, sigma[order], b.reshape(12, 32)[order, :25])


@pytest.mark.parametrize(("m", "n"), [(3, 5), (12, 25), (6, 7), (9, 8)])
def test_what_fills_up_the_packs_stays_zero(m: int, n: int) -> None:
    b, w, sigma = packed(np.random.default_rng(5).normal(size=(m, n))), packed(np.zeros((m, m))), np.zeros(m)
    run_decompose(m, n, b, w, sigma)
    assert not b.reshape(m, -1)[:, n:].any()
    assert not w.reshape(m, -1)[:, m:].any()

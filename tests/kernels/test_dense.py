"""Small symmetric systems in either width, against NumPy's."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kept import kept

from poise.common.array import Array
from poise.kernels.algebra.tiles import back_substitute, factor, gram
from poise.kernels.machine import packing
from poise.kernels.machine.lanes import load
from poise.kernels.machine.layout import WIDTH
from poise.kernels.machine.views import problem_at

compiled = kept(_nrt=False, error_model="numpy")


@compiled
def run_gram(words, size, jacobian, free, matrix):
    gram(problem_at(words), size, jacobian, free, matrix)


@compiled
def run_factor(size, damping, matrix):
    factor(size, load(damping, 0), matrix)


@compiled
def run_back_substitute(size, matrix, e, y):
    back_substitute(size, matrix, e, y)


@dataclass
class System:
    """Random blocks of three rows, each about some of the velocities, laid out as `poise.solving.problem` does."""

    words: npt.NDArray[np.int64]
    """A problem with its tiles and pairs."""
    packed: Array
    """(rows, WIDTH) the blocks, each by its columns."""
    dense: Array
    """(WIDTH, 3 blocks, velocities) the same, with zeros."""


def system(seed: int, blocks: int, velocities: int) -> System:
    rng = np.random.default_rng(seed)
    about = [np.flatnonzero(rng.random(velocities) < 0.7) for _ in range(blocks)]
    dense = np.zeros((WIDTH, 3 * blocks, velocities))
    starts, packed = [], []
    for b, columns in enumerate(about):
        starts.append(3 * sum(map(len, about[:b])))
        values = rng.normal(size=(WIDTH, 3, len(columns)))
        dense[:, 3 * b : 3 * b + 3, columns] = values
        packed.append(values.transpose(2, 1, 0).reshape(-1, WIDTH))
    jobs, pairs = [], []
    for i in range(blocks):
        for j in range(i + 1):
            first = len(pairs)
            at = [list(about[k]) for k in (i, j)]
            pairs += [[at[0].index(v), at[1].index(v), v] for v in at[0] if v in at[1]]
            jobs.append([i, j, starts[i], starts[j], first, len(pairs)])
    order = rng.permutation(len(jobs))
    return System(
        packing.pack({"tiles": np.array(jobs)[order], "pairs": np.array(pairs, dtype=np.int64)}, {}),
        np.ascontiguousarray(np.concatenate(packed)),
        dense,
    )


def lower_tiles(matrix: Array) -> npt.NDArray[np.bool_]:
    """Where the lower triangle of tiles of 3 x 3 is."""
    tile = np.arange(matrix.shape[-1]) // 3
    return tile[:, None] >= tile[None, :]


def column(values: Array, lane: int) -> Array:
    return np.ascontiguousarray(values[:, lane])


sizes = st.integers(1, 6)
few = settings(max_examples=60)


@few
@given(st.integers(0, 2**32 - 1), sizes, st.integers(1, 12))
def test_gram_is_the_product_over_the_free_columns(seed: int, blocks: int, velocities: int) -> None:
    one = system(seed, blocks, velocities)
    free = (np.random.default_rng(seed).random((velocities, WIDTH)) < 0.7).astype(np.float64)
    size = 3 * blocks
    wide = np.full((size * size, WIDTH), np.nan)
    run_gram(one.words, size, one.packed, free, wide)
    for lane in range(WIDTH):
        expected = one.dense[lane] * free[:, lane] @ one.dense[lane].T
        narrow = np.full(size * size, np.nan)
        run_gram(one.words, size, column(one.packed, lane), column(free, lane), narrow)
        low = lower_tiles(expected)
        for matrix in (wide[:, lane].reshape(size, size), narrow.reshape(size, size)):
            np.testing.assert_allclose(matrix[low], expected[low], rtol=0, atol=1e-13)
            assert np.isnan(matrix[~low]).all(), "only the lower tiles are written"


def spd(rng: np.random.Generator, size: int, condition: float) -> Array:
    turned, _ = np.linalg.qr(rng.normal(size=(size, size)))
    return turned * np.geomspace(1.0, 1.0 / condition, size) @ turned.T


@few
@given(st.integers(0, 2**32 - 1), sizes, st.sampled_from([1.0, 1e3, 1e6]), st.sampled_from([0.0, 1e-3, 10.0]))
def test_systems_are_solved(seed: int, blocks: int, condition: float, damping: float) -> None:
    rng, size = np.random.default_rng(seed), 3 * blocks
    matrices = np.stack([spd(rng, size, condition) for _ in range(WIDTH)])
    right = rng.normal(size=(size, WIDTH))
    # The upper triangle holds nothing that may be read.
    upper = np.triu(np.ones((size, size), dtype=bool), 1)
    wide = np.ascontiguousarray(np.where(upper, np.nan, matrices).reshape(WIDTH, -1).T)
    solved = np.zeros((size, WIDTH))
    dampings = damping * np.arange(1.0, WIDTH + 1.0)[None]
    narrow = [column(wide, lane) for lane in range(WIDTH)]
    run_factor(size, dampings, wide)
    run_back_substitute(size, wide, right, solved)
    in_place = right.copy()
    run_back_substitute(size, wide, in_place, in_place)
    np.testing.assert_array_equal(in_place, solved)
    for lane in range(WIDTH):
        whole = matrices[lane] + dampings[0, lane] * np.eye(size)
        expected = np.linalg.solve(whole, right[:, lane])
        tolerance = 1e-14 * np.linalg.cond(whole) * np.abs(expected).max()
        np.testing.assert_allclose(solved[:, lane], expected, rtol=0, atol=tolerance)
        single = np.zeros(size)
        run_factor(size, column(dampings, lane), narrow[lane])
        run_back_substitute(size, narrow[lane], column(right, lane), single)
        np.testing.assert_allclose(single, expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("blocks", [1, 2, 5])
def test_the_factor_is_choleskys_with_its_diagonal_tiles_inverted(blocks: int) -> None:
    rng, size = np.random.default_rng(blocks), 3 * blocks
    matrix = spd(rng, size, 50.0)
    expected = np.linalg.cholesky(matrix + 0.1 * np.eye(size))
    work = matrix.ravel().copy()
    run_factor(size, np.array([0.1]), work)
    ours = work.reshape(size, size)
    for i in range(blocks):
        for j in range(i + 1):
            tile, true = (m[3 * i : 3 * i + 3, 3 * j : 3 * j + 3] for m in (ours, expected))
            if i == j:
                tile, true = np.tril(tile), np.linalg.inv(true)
            np.testing.assert_allclose(tile, true, rtol=0, atol=1e-12)


def test_what_is_not_positive_shows() -> None:
    work = np.repeat(np.eye(3).ravel()[:, None], WIDTH, axis=1)
    work[4, 2] = -1.0
    out = np.zeros((3, WIDTH))
    run_factor(3, np.zeros((1, WIDTH)), work)
    run_back_substitute(3, work, np.ones((3, WIDTH)), out)
    assert np.isnan(out[:, 2]).any(), "a lane that fails says so"
    np.testing.assert_array_equal(np.delete(out, 2, axis=1), 1.0, err_msg="and leaves the others alone")

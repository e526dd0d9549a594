"""Linear programs of few rows, beside SciPy's."""

import numpy as np
import pytest
from scipy.optimize import linprog

from poise.geometry.linear_program import LinearProgram


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A matrix, some of it in steps of 1 so that vertices fall together and rows follow from others; a right side."""
    rng = np.random.default_rng(seed)
    rows, columns = int(rng.integers(1, 5)), int(rng.integers(3, 40))
    matrix = rng.normal(size=(rows, columns)) if seed % 2 else rng.integers(-2, 3, (rows, columns)).astype(float)
    if seed % 3 == 0 and rows > 1:
        matrix[-1] = matrix[0]
    right = matrix @ (rng.random(columns) * (rng.random(columns) < 0.3)) if seed % 5 else rng.normal(size=rows)
    sign = np.where(right < 0.0, -1.0, 1.0)
    matrix, right = matrix * sign[:, None], right * sign
    # All together are at most 50, so that nothing is better without end.
    matrix = np.column_stack([np.vstack([matrix, np.ones(columns)]), np.append(np.zeros(rows), 1.0)])
    return matrix, np.append(right, 50.0), rng.normal(size=(3, columns + 1))


@pytest.mark.parametrize("first", range(0, 120, 20))
def test_it_finds_what_scipy_finds(first: int) -> None:
    for seed in range(first, first + 20):
        matrix, right, gains = drawn(seed)
        ours = LinearProgram(matrix, right)
        for gain in gains:
            theirs = linprog(-gain, A_eq=matrix, b_eq=right)
            assert ours.feasible == (theirs.status == 0), seed
            if not ours.feasible:
                break
            x, losses = ours.best(gain)
            np.testing.assert_allclose(matrix @ x, right, atol=1e-9)
            assert x.min() >= 0.0
            assert gain @ x == pytest.approx(-theirs.fun, abs=1e-8), seed
            assert losses.max() <= 1e-10
            assert np.abs(losses * x).max() < 1e-8  # what is used would add nothing

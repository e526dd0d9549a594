"""The least squares of a step, against a dense quadratic program."""

from typing import Any

import daqp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poise.common.array import Array
from poise.extending import least_squares

NOTHING = np.zeros((0, 3)), np.zeros(0)


def by_daqp(
    rows: Array,
    wants: Array,
    mu: float,
    inequalities: tuple[Array, Array],
    equalities: tuple[Array, Array],
    slope: Array,
) -> Array:
    k, most = len(equalities[1]), np.concatenate([equalities[1], inequalities[1]])
    sense = np.where(np.arange(len(most)) < k, 5, 0).astype(np.int32)
    least = np.where(sense == 5, most, -1e30)
    hessian = rows.T @ rows + mu * np.eye(rows.shape[1])
    x, _, flag, _ = daqp.solve(
        hessian,
        slope - wants @ rows,
        np.concatenate([equalities[0], inequalities[0]]),
        most,
        least,
        sense,
        primal_tol=1e-10,
    )
    assert flag == 1
    return np.asarray(x)


@settings(max_examples=50)
@given(seed=st.integers(0, 2**32 - 1))
def test_a_minimum_within_sides_and_equations(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(1, 9)), int(rng.integers(0, 9))
    m, k = int(rng.integers(0, 2 * n + 1)), int(rng.integers(0, min(n, 3)))
    rows, wants, mu, slope = rng.normal(size=(m, n)), rng.normal(size=m), float(rng.uniform(0.01, 1.0)), np.zeros(n)
    if rng.random() < 0.3:
        slope = rng.normal(size=n)
    inside, sides = rng.uniform(-0.1, 0.1, n), rng.normal(size=(p, n))
    inequalities = np.concatenate([sides, 2.0 * np.eye(n), -np.eye(n)]), np.full(p + 2 * n, 0.5)
    inequalities[1][:p] = sides @ inside + rng.uniform(0.01, 0.3, p)
    a = rng.normal(size=(k, n))
    given = rows, wants, mu, inequalities, (a, a @ inside)
    found = least_squares(*given, slope=slope)
    assert found[:n] == pytest.approx(by_daqp(*given, slope), abs=1e-7)
    assert least_squares(*given, found, slope)[:n] == pytest.approx(found[:n], abs=1e-9)  # from what holds it
    assert least_squares(*given, np.ones(2 * n), slope)[:n] == pytest.approx(found[:n], abs=1e-9)  # from elsewhere


def test_of_many_minima_the_shortest() -> None:
    rows = np.array([[1.0, 1.0, 0.0]])
    inequalities = np.array([[1.0, 0.0, 0.0]]), np.array([0.25])
    assert least_squares(rows, np.ones(1), 0.0, inequalities, NOTHING)[:3] == pytest.approx([0.25, 0.75, 0.0])
    assert least_squares(NOTHING[0], NOTHING[1], 0.0, NOTHING, NOTHING) == pytest.approx(0.0)


def test_sides_and_equations_that_contradict() -> None:
    one = np.array([[1.0, 1.0, 0.0]])
    for inequalities, equalities in (
        ((np.concatenate([one, -one]), np.array([0.0, -1e-3])), NOTHING),
        ((np.eye(3)[[0, 0]] * [[1.0], [-1.0]], np.array([0.0, -1e-3])), NOTHING),
        ((np.zeros((1, 3)), np.array([-1.0])), NOTHING),
        ((one, np.array([0.5])), (one, np.array([1.0]))),
        (NOTHING, (one[[0, 0]], np.array([0.0, 1.0]))),
    ):
        with pytest.raises(ValueError, match="no step keeps all"):
            least_squares(np.eye(3), np.ones(3), 1e-6, inequalities, equalities)


@pytest.mark.parametrize("place", ["rows", "wants", "mu", "inequalities", "equalities", "slope"])
def test_what_is_no_number(place: str) -> None:
    bad = np.full((1, 3), np.nan)
    numbers: dict[str, Any] = {
        "rows": bad,
        "wants": bad[0, :1],
        "mu": np.nan,
        "inequalities": (bad, np.ones(1)),
        "equalities": (bad, np.ones(1)),
    }
    given: dict[str, Any] = {"rows": np.ones((1, 3)), "wants": np.ones(1), "mu": 1e-6}
    given |= {"inequalities": NOTHING, "equalities": NOTHING, place: numbers.get(place, bad[0])}
    with pytest.raises(ValueError, match="NaN"):
        least_squares(**given)

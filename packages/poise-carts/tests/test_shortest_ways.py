"""The shortest ways of a car: they lead there, none is shorter, and beside a search over words without formulas."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.optimize import least_squares

from poise.extending import Array
from poise_carts.arcs import moved, seen_from
from poise_carts.words import shortest, wrapped

COUNT = 100


def random_ways(seed: int, *, cusps: bool) -> tuple[Array, Array]:
    """Where ways of one to five random parts lead, and how long they are."""
    rng = np.random.default_rng(seed)
    ends, size, many = np.zeros((COUNT, 3)), np.zeros(COUNT), rng.integers(1, 6, COUNT)
    for part in range(5):
        length = rng.normal(size=COUNT) * rng.choice([0.3, 1.0, 2.0], COUNT) * (part < many)
        length = length if cusps else np.abs(length)
        turn = rng.integers(-1, 2, COUNT) * length
        ends, size = moved(ends, length[:, None], turn[:, None]), size + np.abs(length)
    return ends, size


def led(lengths: Array, turns: Array) -> Array:
    at = np.zeros((len(lengths), 3))
    for length, turn in zip(lengths.T, turns.T, strict=True):
        at = moved(at, length[:, None], turn[:, None])
    return at


@pytest.mark.parametrize("cusps", [True, False])
@settings(max_examples=25)
@given(seed=st.integers(0, 2**32))
def test_a_way_leads_there_and_no_random_one_is_shorter(cusps: bool, seed: int) -> None:
    ends, size = random_ways(seed, cusps=cusps)
    lengths, turns = shortest(ends, cusps=cusps)
    off = led(lengths, turns) - ends
    off[:, 2] = wrapped(off[:, 2])
    assert np.abs(off).max() < 1e-7
    assert (np.abs(lengths).sum(axis=1) <= size + 1e-6).all()
    assert (np.isclose(np.abs(turns), np.abs(lengths)) | (turns == 0.0)).all()
    assert cusps or (lengths >= 0.0).all()


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32))
def test_the_way_back_is_as_long(seed: int) -> None:
    ends, _ = random_ways(seed, cusps=True)
    there, back = (np.abs(shortest(poses, cusps=True)[0]).sum(axis=1) for poses in (ends, seen_from(ends, 0.0 * ends)))
    assert back == pytest.approx(there, abs=1e-7)


def by_search(end: Array, letters: int, rng: np.random.Generator) -> float:
    """The shortest of the words with so many letters that lead to an end, from random starts, without formulas."""
    best = np.inf
    for sides in product([1.0, -1.0, 0.0], repeat=letters):
        if any(a == b for a, b in pairwise(sides)):
            continue

        def off(parts: Array, sides: tuple[float, ...] = sides) -> Array:
            found = led(parts[None], parts[None] * sides)[0] - end
            return np.array([found[0], found[1], 2.0 * np.sin(0.5 * found[2])])

        for _ in range(8):
            found = least_squares(off, rng.uniform(-3.0, 3.0, letters), xtol=1e-14, ftol=1e-14, gtol=1e-14)
            if found.cost < 1e-20:
                best = min(best, float(np.abs(found.x).sum()))
    return best


@pytest.mark.parametrize("end", [[0.4, 0.9, 0.3], [-1.0, 0.2, 2.5], [3.0, -2.0, -1.0]])
def test_beside_a_search_over_all_words_of_three_letters(end: list[float]) -> None:
    there = np.array(end)
    size = np.abs(shortest(there[None], cusps=True)[0]).sum()
    found = by_search(there, 3, np.random.default_rng(0))
    assert size <= found + 1e-7
    assert found <= 1.3 * size  # words of four and five letters are seldom much shorter


def test_an_arc_is_what_the_constraint_of_rolling_integrates_to() -> None:
    rng = np.random.default_rng(0)
    for length, turn in rng.uniform(-3.0, 3.0, (20, 2)):
        start = rng.uniform(-1.0, 1.0, 3)

        def rolling(_: float, x: Array, length: float = length, turn: float = turn) -> list[float]:
            return [length * np.cos(x[2]), length * np.sin(x[2]), turn]

        found = solve_ivp(rolling, (0.0, 1.0), start, rtol=1e-11, atol=1e-12).y[:, -1]
        assert moved(start, [length], [turn]) == pytest.approx(found, abs=1e-8)

"""Sine and cosine against forty digits, the exponential, and the random numbers of the starts."""

import math
from decimal import Decimal, localcontext

import numba
import numpy as np
import pytest
from scipy import stats

from poise.common.array import Array
from poise.kernels.algebra.scalar import exp, sincos, uniform
from poise.kernels.machine.lanes import WIDTH, load, store

compiled = numba.njit(_nrt=False)
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459")
BOUND = 2.4e-16
"""Largest absolute error of a sine for |x| <= LARGEST: half a unit in the last place of 1, for the rounding of the
result, and as much again for that of the reduced argument and the polynomial."""
LARGEST = 1e10


@compiled
def both(x, out):
    s, c = sincos(load(x, 0))
    store(out, 0, s)
    store(out, 1, c)


@compiled
def run_exp(x, out):
    store(out, 0, exp(load(x, 0)))


@compiled
def draw(seed, place):
    return uniform(seed, place)


def our_sincos(x: Array) -> Array:
    """(n, 2) in eight lanes."""
    padded = np.zeros(-(-len(x) // WIDTH) * WIDTH)
    padded[: len(x)] = x
    out = np.zeros((2, WIDTH))
    values = []
    for lanes in padded.reshape(-1, 1, WIDTH):
        both(np.ascontiguousarray(lanes), out)
        values.append(out.T.copy())
    return np.concatenate(values)[: len(x)]


def exact_sincos(x: float) -> tuple[Decimal, Decimal]:
    """To some forty digits: exact reduction by whole turns, then Taylor's series."""
    with localcontext() as context:
        context.prec = 60
        angle = Decimal(x).remainder_near(2 * PI)
        sine, cosine, term = Decimal(0), Decimal(0), Decimal(1)
        k = 0
        while abs(term) > Decimal("1e-45") or k < 8:
            if k % 2:
                sine += term if k % 4 == 1 else -term
            else:
                cosine += term if k % 4 == 0 else -term
            k += 1
            term = term * angle / k
        return sine, cosine


def errors(x: Array, values: Array) -> Array:
    """(n, 2) |value - exact|."""
    out = []
    for angle, pair in zip(x.tolist(), values.tolist(), strict=True):
        exact = exact_sincos(angle)
        out.append([float(abs(Decimal(value) - true)) for value, true in zip(pair, exact, strict=True)])
    return np.array(out)


def angles(kind: str) -> Array:
    rng = np.random.default_rng(5)
    turns = rng.integers(-6_366_000_000, 6_366_000_001, 250)
    match kind:
        case "any":
            return rng.uniform(-LARGEST, LARGEST, 1500)
        case "one turn":
            return rng.uniform(-math.pi, math.pi, 1500)
        case "every size":
            return rng.choice([-1.0, 1.0], 800) * 10.0 ** rng.uniform(-20.0, 10.0, 800)
        case "next to quarter turns":
            near = turns * (0.5 * math.pi)
            return np.concatenate([near, np.nextafter(near, np.inf), near + rng.normal(size=250) * 1e-8])
        case _:  # where the reduction changes over to the next quarter turn
            return (turns + 0.5) * (0.5 * math.pi) + rng.normal(size=250) * 1e-12


def test_the_oracle_agrees_with_the_c_library() -> None:
    x = angles("any")[:200]
    library = np.stack([np.sin(x), np.cos(x)], axis=-1)
    assert errors(x, library).max() < 1.2e-16


@pytest.mark.parametrize("kind", ["any", "one turn", "every size", "next to quarter turns", "between quarter turns"])
def test_sines_and_cosines_are_right_to_the_last_place_of_one(kind: str) -> None:
    x = angles(kind)
    assert errors(x, our_sincos(x)).max() < BOUND


def test_beyond_that_an_angle_is_read_as_well_as_a_double_holds_it() -> None:
    rng = np.random.default_rng(9)
    x = rng.choice([-1.0, 1.0], 1000) * 2.0 ** rng.uniform(33.0, 50.0, 1000)
    found = errors(x, our_sincos(x)) / np.spacing(np.abs(x))[:, None]
    assert found.max() < 2.1e-11 + BOUND / np.spacing(2.0**33)


def test_sines_of_small_angles_are_right_to_their_own_last_place() -> None:
    x = np.concatenate([angles("every size"), [5e-324, -1e-300, 0.0]])
    x = x[np.abs(x) < 0.7]
    np.testing.assert_allclose(our_sincos(x)[:, 0], np.sin(x), rtol=4.5e-16, atol=0)


def test_either_width_gives_the_same_numbers() -> None:
    x = np.concatenate([angles("any")[:400], angles("next to quarter turns")])
    wide, out = our_sincos(x), np.zeros(2)
    for value, pair in zip(x, wide, strict=True):
        both(np.array([value]), out)
        np.testing.assert_allclose(out, pair, rtol=0, atol=1.2e-16)


def test_sine_and_cosine_lie_on_the_circle() -> None:
    s, c = our_sincos(angles("any")).T
    np.testing.assert_allclose(s * s + c * c, 1.0, rtol=0, atol=6e-16)


@pytest.mark.parametrize("x", [np.nan, np.inf, -np.inf])
def test_what_is_no_angle_has_no_sine(x: float) -> None:
    assert np.isnan(our_sincos(np.array([x, 1.0]))[0]).all()


# The exponential -------------------------------------------------------------------------------------------------


def our_exp(x: Array) -> Array:
    """(n,) in eight lanes, n a multiple of eight."""
    out, values = np.zeros((1, WIDTH)), []
    for lanes in x.reshape(-1, 1, WIDTH):
        run_exp(np.ascontiguousarray(lanes), out)
        values.append(out[0].copy())
    return np.concatenate(values)


def test_the_exponential_is_right_to_twelve_places_in_either_width() -> None:
    rng = np.random.default_rng(8)
    x = np.concatenate(
        [-rng.uniform(0.0, 200.0, 400), -(10.0 ** rng.uniform(-20.0, 2.3, 396)), [0.0, -1.0, -0.5, -200]]
    )
    wide, out = our_exp(x), np.zeros(1)
    np.testing.assert_allclose(wide, np.exp(x), rtol=0, atol=1e-12)
    for value, lane in zip(x, wide, strict=True):
        run_exp(np.array([value]), out)
        np.testing.assert_allclose(out[0], lane, rtol=1e-12, atol=0)


def test_the_exponential_falls_and_ends_at_zero() -> None:
    x = np.array([0.0, -0.0, -1.0, -200.1, -745.0, -1e10, -1e300, -np.inf])
    np.testing.assert_allclose(our_exp(x), np.exp(x), rtol=1e-12, atol=1e-80)
    np.testing.assert_array_equal(our_exp(x)[3:], 0.0)
    assert (np.diff(our_exp(-np.linspace(0.0, 199.0, 4000))) < 0.0).all()


# Random numbers --------------------------------------------------------------------------------------------------


def splitmix(seed: int, place: int) -> float:
    """The finaliser of Steele, Lea and Flood's splitmix64, on Python's whole numbers."""
    mask = 2**64 - 1
    h = (seed * 0x9E3779B97F4A7C15 + place * 0xD1B54A32D192ED03) & mask
    h = ((h ^ (h >> 30)) * 0xBF58476D1CE4E5B9) & mask
    h = ((h ^ (h >> 27)) * 0x94D049BB133111EB) & mask
    h ^= h >> 31
    return (h >> 11) / 2**53


@pytest.mark.parametrize("seed", [0, 1, 2, 12345, 2**31, 2**63 - 1])
def test_random_numbers_are_those_of_splitmix(seed: int) -> None:
    for place in (0, 1, 2, 63, 1000, 2**40):
        value = draw(seed, place)
        assert value == splitmix(seed, place)
        assert 0.0 <= value < 1.0


@pytest.mark.parametrize("along", ["seed", "place"])
def test_random_numbers_are_uniform_and_do_not_follow_from_one_another(along: str) -> None:
    count = 20000
    values = np.array([draw(i, 3) if along == "seed" else draw(3, i) for i in range(1, count + 1)])
    assert stats.kstest(values, "uniform").pvalue > 1e-3
    for lag in (1, 2, 7):
        assert abs(np.corrcoef(values[:-lag], values[lag:])[0, 1]) < 4.0 / math.sqrt(count)
    pairs = np.histogram2d(values[::2], values[1::2], bins=20, range=[[0, 1], [0, 1]])[0]
    assert stats.chisquare(pairs.ravel()).pvalue > 1e-3


def test_seeds_next_to_one_another_draw_different_numbers() -> None:
    grid = np.array([[draw(seed, place) for place in range(40)] for seed in range(200)])
    assert len(np.unique(grid[1:, 1:])) == 199 * 39
    assert np.abs(np.corrcoef(grid.T) - np.eye(40)).max() < 0.35

"""Paths that stand still for a while, and what they are made of."""

import numpy as np
import pytest

from poise.quaternions import part_of_turn, quaternion_exp, quaternion_log
from poise_motion.anatomy.median import median
from poise_motion.contact.pinning import fading, pinned, pinned_turns, released, shares

TIMES = np.arange(200) / 100.0
SPANS = [(0, 20), (30, 60), (61, 70), (150, 180)]
EASE = 0.12


def test_a_frame_belongs_to_the_span_that_is_nearest() -> None:
    share, which = shares(SPANS, TIMES, EASE)
    for k, (start, stop) in enumerate(SPANS):
        assert (share[start:stop] == 1.0).all()
        assert (which[start:stop] == k).all()
    assert (share[70 + 12 : 150 - 12] == 0.0).all()
    assert (np.diff(share[180:195]) <= 1e-12).all()
    assert share[180] > 0.99
    assert (share[195:] == 0.0).all()
    assert np.array_equal(share[179:], fading(TIMES[179:], EASE))


def test_without_spans_no_frame_belongs_to_one() -> None:
    assert not shares([], TIMES, EASE)[0].any()


def test_between_two_spans_near_each_other_a_path_is_its_own_halfway() -> None:
    path = np.stack([np.sin(TIMES), np.cos(TIMES), TIMES], axis=1)
    times = TIMES[:31]
    spans = [(0, 11), (20, 31)]  # from 0.10 s to 0.20 s, so they meet at 0.15 s
    places = np.array([[5.0, 0.0, 0.0], [0.0, 7.0, 0.0]])
    moved = pinned(path[:31], spans, places, times, EASE)
    assert np.array_equal(moved[:11], np.broadcast_to(places[0], (11, 3)))
    assert np.array_equal(moved[20:], np.broadcast_to(places[1], (11, 3)))
    assert np.allclose(moved[15], path[15], atol=1e-9)
    going = pinned(path[:31], spans, places[:, None] + np.arange(31.0)[:, None], times, EASE)
    assert np.array_equal(going[5], places[0] + 5.0)
    assert np.array_equal(going[25], places[1] + 25.0)


def test_turns_are_held_as_places_are() -> None:
    turns = quaternion_exp(np.random.default_rng(0).normal(size=(len(TIMES), 3)))
    stances = quaternion_exp(np.random.default_rng(1).normal(size=(len(SPANS), 3)))
    held_ones = pinned_turns(turns, SPANS, stances, TIMES, EASE)
    share, which = shares(SPANS, TIMES, EASE)
    same = np.abs(np.sum(held_ones * stances[which], axis=1))
    assert np.allclose(same[share == 1.0], 1.0, atol=1e-12)
    assert np.array_equal(held_ones[share == 0.0], turns[share == 0.0])


@pytest.mark.parametrize("far", [0.0, 0.005, 0.03, 1.0])
@pytest.mark.parametrize("most", [0.0, 0.01, np.inf])
def test_what_is_released_early_gets_no_farther_and_no_faster_than_it_may(far: float, most: float) -> None:
    path = far * np.stack([TIMES, np.sin(9.0 * TIMES)], axis=1)
    places = np.array([path[start:stop].mean(axis=0) for start, stop in SPANS])
    gaps = [path[start:stop] - place for (start, stop), place in zip(SPANS, places, strict=True)]
    early = released(SPANS, gaps, TIMES, EASE, [most] * len(SPANS))
    moved = pinned(path, SPANS, places, TIMES, EASE, early)
    lasts = np.array([TIMES[stop - 1] - TIMES[start] for start, stop in SPANS])
    assert (early <= np.minimum(EASE, 0.5 * lasts) + 1e-12).all()
    for (start, stop), place, lead in zip(SPANS, places, early, strict=True):
        off = moved[start:stop] - place
        assert np.linalg.norm(off, axis=1).max() <= most + 1e-12
        assert np.linalg.norm(np.diff(off, axis=0), axis=1).max() <= most / 0.08 * 0.01 + 1e-12
        assert np.abs(off[TIMES[start:stop] <= TIMES[stop - 1] - lead]).max() < 1e-12
    if most == np.inf:
        assert (early > np.minimum(EASE, 0.5 * lasts) - 0.011).all()


def test_what_is_held_to_the_end_is_not_released() -> None:
    gap = np.full((20, 1), 1e-3)
    assert released([(0, 20)], [gap], TIMES[:20], EASE, [1.0]).tolist() == [0.0]
    assert released([(0, 20)], [gap], TIMES[:21], EASE, [1.0])[0] > 0.0


@pytest.mark.parametrize("size", [0.0, 1e-200, 1e-9, 1e-3, 1.0, 3.14])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_part_of_a_turn_is_that_part_of_its_vector(size: float, sign: float) -> None:
    way = size * np.array([[0.6, 0.0, 0.8], [-1.0, 0.0, 0.0], [0.0, -0.8, 0.6]])
    share = np.array([0.0, 0.3, 1.0])
    part = part_of_turn(sign * quaternion_exp(way), share)
    wanted = quaternion_exp(share[:, None] * quaternion_log(quaternion_exp(way)))
    assert np.allclose(part, wanted, rtol=0.0, atol=1e-15)


@pytest.mark.parametrize("count", [1, 2, 5, 8])
def test_the_median_is_that_of_numpy(count: int) -> None:
    values = np.random.default_rng(count).normal(size=count)
    assert median(values) == np.median(values)

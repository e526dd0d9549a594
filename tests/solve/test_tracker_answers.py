"""What a step returns, and what a Tracker tells of it."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import poise as pz

Array = npt.NDArray[np.float64]
PANDA = pz.load("panda")
HAND = pz.PoseTask("panda_hand")
HOME = np.array(PANDA.home)


def poses(count: int) -> list[pz.SE3]:
    return [PANDA.pose("panda_hand", PANDA.sample(seed=seed)) for seed in range(count)]


def test_each_step_has_an_array_of_its_own() -> None:
    tracker, q, path = pz.Tracker(PANDA, HAND), HOME, []
    for target in poses(5):
        q = tracker.step(q, target)
        path.append(q)
    kept = np.array(path)
    tracker.step(q, poses(1)[0])
    np.testing.assert_array_equal(path, kept)
    assert len({tuple(x) for x in path}) == 5
    path[0][:] = 0.0
    np.testing.assert_array_equal(path[1], kept[1])


def test_a_step_fills_an_array_of_the_callers() -> None:
    steps = poses(6)
    plain, filling, in_place = (pz.Tracker(PANDA, HAND) for _ in range(3))
    q, log, own = HOME, np.empty((len(steps), 7)), HOME.copy()
    columns = np.empty((7, len(steps)))
    for k, target in enumerate(steps):
        given = HOME if k == 0 else log[k - 1]
        assert filling.step(given, target, out=log[k]) is not None
        assert in_place.step(own, target, out=own) is own, "the array itself, and q may be the same"
        q = plain.step(q, target, out=columns[:, k])
        np.testing.assert_array_equal(log[k], q)
        np.testing.assert_array_equal(own, q)


@pytest.mark.parametrize(
    ("out", "error", "words"),
    [
        (np.empty(7, dtype=np.float32), TypeError, "float64.* got float32"),
        ([0.0] * 7, TypeError, "got list"),
        (np.empty(6), pz.ShapeError, r"shape \(7,\).*got shape \(6,\)"),
        (np.empty((1, 7)), pz.ShapeError, r"got shape \(1, 7\)"),
        (np.broadcast_to(0.0, 7), ValueError, "read-only"),
    ],
)
def test_what_cannot_take_an_answer_is_refused_before_the_step(out: Any, error: type[Exception], words: str) -> None:
    tracker, other = pz.Tracker(PANDA, HAND), pz.Tracker(PANDA, HAND)
    with pytest.raises(error, match=words):
        tracker.step(HOME, poses(1)[0], out=out)
    np.testing.assert_array_equal(tracker.step(HOME), other.step(HOME))

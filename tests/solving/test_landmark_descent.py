"""A robot's hand that follows landmarks, without what says which is which."""

import pickle
from typing import Any

import numpy as np
import pytest

import poise as pz
from poise.solving.tracking.landmark_descent import LandmarkDescent, Pinch


def finger() -> pz.Model:
    """Two bones of 10 and 5 cm that bend about y."""
    b = pz.ModelBuilder("finger")
    b.joint("bend", "revolute", parent="palm", child="bone", axis=[0, 1, 0], limits=(-0.1, 1.5))
    at = pz.SE3.from_parts([0.1, 0, 0])
    b.joint("curl", "revolute", parent="bone", child="end", axis=[0, 1, 0], origin=at, limits=(0.0, 1.5))
    b.frame("tip", link="end", origin=pz.SE3.from_parts([0.05, 0, 0]))
    return b.build()


def descent(**other: Any) -> LandmarkDescent:
    given: dict[str, Any] = {
        "landmarks": 2, "scale": 1.0, "huber": 0.02, "regularization": 1e-6, "alpha": 1.0, "pinch": Pinch(),
        "limits": True,
    }  # fmt: skip
    return LandmarkDescent(finger(), [pz.VectorTask("palm", "tip")], [(0, 1)], **given | other)


@pytest.fixture
def within() -> np.ndarray:
    return np.array([[0.1, 0.3], [0.2, 0.4], [0.3, 0.6]])


def places(model: pz.Model, path: np.ndarray) -> np.ndarray:
    """(frames, 2, 3) the palm's and the tip's, which a hand of the same bones would have."""
    return np.stack([model.poses(path, ["palm"]).xyz[:, 0], model.poses(path, ["tip"]).xyz[:, 0]], axis=1)


def test_a_hand_of_the_same_bones_is_followed(within: np.ndarray) -> None:
    follows, path = descent(), np.empty_like(within)
    points = places(follows.model, within)
    assert follows.follow(points, path, within[0])
    assert np.allclose(places(follows.model, path), points, atol=1e-3)
    assert follows.broken == 0
    assert follows.iterations > 0
    assert follows.objective(points[-1], path[-1], path[-2]) == pytest.approx(follows.cost, abs=1e-15)


def test_landmarks_that_are_no_numbers_are_no_hand(within: np.ndarray) -> None:
    follows, path = descent(), np.empty((1, 2))
    assert not follows.follow(np.full((1, 2, 3), np.nan), path, within[0])
    assert follows.objective(np.full((2, 3), np.nan), within[0], within[0]) is None


def test_a_copy_begins_without_a_past(within: np.ndarray) -> None:
    follows = descent()
    again = pickle.loads(pickle.dumps(follows))
    paths = np.empty((2, *within.shape))
    points = places(follows.model, within)
    for one, path in zip((follows, again), paths, strict=True):
        assert one.follow(points, path, within[0])
    assert np.array_equal(*paths)


def test_the_same_arrays_are_told_once_and_others_are_heard_of(within: np.ndarray) -> None:
    follows, path, points = descent(), np.empty((1, 2)), np.empty((1, 2, 3))
    ends = []
    for q in within:
        points[:] = places(follows.model, q[None])
        assert follows.follow(points, path, within[0] if not ends else None)
        ends.append(path[0].copy())
    other, there = np.empty((1, 2)), places(follows.model, within[:1])
    assert follows.follow(there, other)
    assert np.allclose(ends, within, atol=2e-2)
    assert np.allclose(other[0], within[0], atol=2e-2)
    assert np.array_equal(path[0], ends[-1])

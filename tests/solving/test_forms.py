"""The forms of a target and of a start: every one of a pose or configuration is the same pose or configuration."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

import poise as pz

Array = npt.NDArray[np.float64]
PANDA = pz.load("panda")
HAND = pz.PoseTask("panda_hand")
HOME = np.array(PANDA.home)


def strided(values: Array) -> Array:
    return np.repeat(values, 2, axis=-1)[..., ::2]


def read_only(values: Array) -> Array:
    copy = values.copy()
    copy.flags.writeable = False
    return copy


EXACT: dict[str, Callable[[Array], Any]] = {
    "array": np.array,
    "list": lambda values: values.tolist(),
    "tuple": lambda values: tuple(values.tolist()),
    "strided": strided,
    "read-only": read_only,
    "big-endian": lambda values: values.astype(">f8"),
    "Fortran": np.asfortranarray,
}
ROUNDED: dict[str, Callable[[Array], Any]] = {
    "float32": lambda values: values.astype(np.float32),
    "big-endian float32": lambda values: values.astype(">f4"),
}


def answers(target: Any, q: Any) -> list[Array]:
    """What a solve and a step make of them."""
    solver, tracker = pz.Solver(PANDA, HAND), pz.Tracker(PANDA, HAND)
    return [solver(target, q).q, tracker.step(q, target), tracker.targets.copy()]


@pytest.mark.parametrize("form", [*EXACT, *ROUNDED])
def test_a_pose_and_a_start_may_have_any_form(form: str) -> None:
    pose = PANDA.pose("panda_hand", PANDA.sample(seed=3))
    made = {**EXACT, **ROUNDED}[form]
    near = 1e-6 if form in ROUNDED else 1e-12
    want = answers(pose, HOME)
    for target in (pose, made(pose.array), made(pose.matrix())):
        for q in (HOME, made(HOME)):
            for got, wanted in zip(answers(target, q), want, strict=True):
                np.testing.assert_allclose(got, wanted, rtol=0.0, atol=100.0 * near)


def test_whole_numbers_are_numbers() -> None:
    tracker = pz.Tracker(PANDA, HAND)
    want = tracker.step(np.zeros(7), pz.SE3([1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0]))
    for target in ([1, 0, 1, 0, 1, 0, 0], np.array([1, 0, 1, 0, -1, 0, 0])):
        np.testing.assert_array_equal(pz.Tracker(PANDA, HAND).step([0] * 7, target), want)


@given(
    turn=st.lists(st.floats(-1.0, 1.0), min_size=3, max_size=3),
    angle=st.sampled_from([0.0, 1e-9, 1.0, 0.5 * math.pi, math.pi - 1e-9, math.pi]),
)
def test_one_matrix_is_read_as_a_batch_is(turn: list[float], angle: float) -> None:
    """One is read in Python's arithmetic, many in NumPy's; half turns are where either might lose digits."""
    axis = np.array(turn)
    length = float(np.linalg.norm(axis))
    axis = np.array([0.0, 0.0, 1.0]) if length < 1e-3 else axis / length
    matrix = pz.SE3.from_rotvec([0.1, 0.2, 0.3], angle * axis).matrix()
    one, many = pz.SE3.parse(matrix), pz.SE3.parse(matrix[None])
    np.testing.assert_allclose(one.matrix(), matrix, rtol=0.0, atol=1e-14)
    np.testing.assert_allclose(one.matrix(), many.matrix()[0], rtol=0.0, atol=1e-14)
    assert one.wxyz[0] >= 0.0
    assert not one.array.flags.writeable
    np.testing.assert_allclose(pz.SE3.parse(1.05 * one.array).xyz, 1.05 * one.xyz)
    np.testing.assert_allclose(pz.SE3.parse(1.05 * one.array).wxyz, one.wxyz, rtol=0.0, atol=1e-15)


MIRRORED = np.diag([1.0, 1.0, -1.0, 1.0])
SCALED = np.diag([1.001, 1.001, 1.001, 1.0])
SKEWED = np.array([[1.0, 0.01, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
TRANSPOSED = pz.SE3.from_parts([0.1, 0.2, 0.3]).matrix().T


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ([0.1, 0.2, 0.3, 0.0, 0.0, 0.0, 0.0], "zero quaternion"),
        ([0.1, 0.2, math.nan, 1.0, 0.0, 0.0, 0.0], r"target\[2\] is nan"),
        ([0.1, 0.2, 0.3, 1.0, 0.0, math.inf, 0.0], r"target\[5\] is inf"),
        (np.full(7, np.nan, dtype=np.float32), r"target\[0\] is nan"),
        ([0.1, 0.2, 0.3], r"target must be an SE3, 7 numbers .* got shape \(3,\)"),
        ([0.1, "x", 0.3, 1.0, 0.0, 0.0, 0.0], "target must be"),
        ([[1.0, 0.0], [1.0]], "target must be"),
        (np.eye(3), r"got shape \(3, 3\)"),
        (MIRRORED, "right-handed"),
        (SCALED, "orthonormal"),
        (SKEWED, "orthonormal"),
        (SKEWED.T, "orthonormal"),
        (TRANSPOSED, "last row"),
        (np.full((4, 4), np.nan), "nan"),
        (np.tile([0.4, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0], (2, 1)), "one pose"),
    ],
)
def test_what_is_no_pose_is_refused_in_words(target: Any, words: str) -> None:
    for call in (pz.Solver(PANDA, HAND), lambda t: pz.Tracker(PANDA, HAND).step(HOME, t)):
        with pytest.raises((ValueError, pz.ShapeError), match=words):
            call(target)


@pytest.mark.parametrize(
    ("q", "words"),
    [
        (np.zeros(6, dtype=np.float32), "7 numbers"),
        ([0.0] * 8, "7 numbers"),
        (np.zeros((1, 7), dtype=np.float32), "one configuration"),
        ([0.0, math.nan, 0.0, 0.0, 0.0, 0.0, 0.0], r"\[1\] is nan"),
        (np.array([0, 0, np.inf, 0, 0, 0, 0], dtype=np.float32), r"\[2\] is inf"),
        (["a"] * 7, "numbers"),
        (None, "no step has led anywhere yet"),
    ],
)
def test_what_is_no_configuration_is_refused_in_words(q: Any, words: str) -> None:
    tracker = pz.Tracker(PANDA, HAND)
    with pytest.raises((ValueError, pz.ShapeError), match=words):
        tracker.step(q)
    if q is not None:
        with pytest.raises((ValueError, pz.ShapeError), match=words):
            pz.Solver(PANDA, HAND)(PANDA.pose("panda_hand", HOME), q)


def test_other_precisions_are_numbers_too() -> None:
    target = np.array([1.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0])
    want = pz.Tracker(PANDA, HAND).step(HOME, target)
    for kind in (np.longdouble, np.float16, np.int8):
        np.testing.assert_allclose(pz.Tracker(PANDA, HAND).step(HOME, target.astype(kind)), want, atol=1e-12)

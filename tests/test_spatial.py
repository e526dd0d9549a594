"""Rotations and rigid motions: they form groups, and agree with SciPy's in every representation."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.linalg import expm, polar
from scipy.spatial.transform import Rotation
from support.refusals import refused

from poise.common.array import Array
from poise.common.errors import PoiseError, ShapeError
from poise.spatial import SE3, SO3, pose_of

often = settings(max_examples=60)
ROUND = 1e-14
"""A few roundings of numbers about 1."""
ANGLES = st.sampled_from(
    [0.0, 1e-300, 1e-12, 0.99e-8, 1.01e-8, 1e-6, 0.99e-4, 1.01e-4, 1e-3, 1.0, 3.0, math.pi - 1e-3, math.pi - 1e-7]
) | st.floats(0.0, 3.14)
components = st.floats(-1.0, 1.0)
seeds = st.integers(0, 2**32 - 1)


@st.composite
def directions(draw: st.DrawFn) -> Array:
    """Unit vectors, along the axes more often than not."""
    vector = np.array(draw(st.tuples(*[st.sampled_from([0.0, 1.0, -1.0]) | components] * 3)))
    length = np.linalg.norm(vector)
    assume(length > 0.01)
    return vector / length


rotvecs = st.builds(lambda axis, angle: axis * angle, directions(), ANGLES)
rotations = st.builds(lambda rotvec: SO3.from_rotvec(rotvec), rotvecs)
points = st.builds(np.array, st.tuples(*[st.floats(-10.0, 10.0)] * 3))
poses = st.builds(lambda xyz, rotation: SE3.from_parts(xyz, rotation), points, rotations)


def scipy_of(rotation: SO3) -> Rotation:
    return Rotation.from_quat(rotation.wxyz, scalar_first=True)


def close(a: SO3 | SE3, b: SO3 | SE3, tolerance: float = ROUND) -> bool:
    """Whether two motions are the same, whatever the sign of their quaternions."""
    return bool(np.abs(a.matrix() - b.matrix()).max() <= tolerance)


# Groups ----------------------------------------------------------------------------------------------------------


@often
@given(rotations, rotations, rotations)
def test_rotations_form_a_group(a: SO3, b: SO3, c: SO3) -> None:
    assert close((a @ b) @ c, a @ (b @ c))
    assert close(a @ SO3.identity(), a)
    assert close(SO3.identity() @ a, a)
    assert close(a @ a.inverse(), SO3.identity())
    assert close(a.inverse() @ a, SO3.identity())
    assert close((a @ b).inverse(), b.inverse() @ a.inverse())


@often
@given(poses, poses, poses)
def test_poses_form_a_group(a: SE3, b: SE3, c: SE3) -> None:
    assert close((a @ b) @ c, a @ (b @ c), 1e-13)
    assert close(a @ SE3.identity(), a)
    assert close(SE3.identity() @ a, a)
    assert close(a @ a.inverse(), SE3.identity(), 1e-13)
    assert close(a.inverse() @ a, SE3.identity(), 1e-13)
    assert close((a @ b).inverse(), b.inverse() @ a.inverse(), 1e-13)


@often
@given(poses, poses, points)
def test_motions_act_as_their_matrices_do(a: SE3, b: SE3, p: Array) -> None:
    whole = np.append(p, 1.0)
    np.testing.assert_allclose(a.act(p), (a.matrix() @ whole)[:3], rtol=0, atol=1e-13)
    np.testing.assert_allclose((a @ b).matrix(), a.matrix() @ b.matrix(), rtol=0, atol=1e-13)
    np.testing.assert_allclose((a @ b).act(p), a.act(b.act(p)), rtol=0, atol=1e-13)
    np.testing.assert_allclose(a.inverse().act(a.act(p)), p, rtol=0, atol=1e-13)
    np.testing.assert_allclose(a.rotation.act(p), scipy_of(a.rotation).apply(p), rtol=0, atol=1e-13)
    np.testing.assert_allclose(
        (a.rotation @ b.rotation).matrix(), a.rotation.matrix() @ b.rotation.matrix(), atol=ROUND
    )


@often
@given(rotations)
def test_products_stay_at_unit_length(a: SO3) -> None:
    whole = a
    for _ in range(20):
        whole = whole @ whole
    assert abs(np.linalg.norm(whole.wxyz) - 1.0) < 1e-15


# Exponential and logarithm ---------------------------------------------------------------------------------------


@often
@given(rotvecs)
def test_rotation_vectors_go_round(rotvec: Array) -> None:
    there = SO3.from_rotvec(rotvec)
    np.testing.assert_allclose(there.matrix(), Rotation.from_rotvec(rotvec).as_matrix(), rtol=0, atol=1e-15)
    # Next to nothing is lost of a small one.
    np.testing.assert_allclose(there.log(), rotvec, rtol=1e-14, atol=2e-15 * np.linalg.norm(rotvec) + 1e-300)


@often
@given(directions(), st.floats(-20.0, 20.0))
def test_a_logarithm_is_the_shorter_way_round(axis: Array, angle: float) -> None:
    log = SO3.from_rotvec(angle * axis).log()
    assert np.linalg.norm(log) <= math.pi
    assert close(SO3.from_rotvec(log), SO3.from_rotvec(angle * axis))


@often
@given(directions())
def test_half_turns(axis: Array) -> None:
    for sign in (1.0, -1.0):
        half = SO3(wxyz=[0.0, *(sign * axis)])
        log = half.log()
        assert np.linalg.norm(log) == pytest.approx(math.pi, abs=1e-15)
        np.testing.assert_allclose(np.cross(log, axis), 0.0, rtol=0, atol=1e-15)
        assert close(SO3.from_rotvec(log), half)
        assert close(SO3.from_matrix(half.matrix()), half, 1e-15)


@often
@given(points, rotvecs)
def test_twists_go_round(v: Array, w: Array) -> None:
    twist = np.concatenate([v, w])
    there = SE3.exp(twist)
    generator = np.zeros((4, 4))
    generator[:3, :3] = np.cross(w, np.eye(3)).T
    generator[:3, 3] = v
    np.testing.assert_allclose(there.matrix(), expm(generator), rtol=0, atol=1e-13)
    np.testing.assert_allclose(there.log(), twist, rtol=0, atol=1e-13 * (1.0 + np.linalg.norm(v)))


@often
@given(poses)
def test_poses_come_back_from_their_logarithm(pose: SE3) -> None:
    assert close(SE3.exp(pose.log()), pose, 1e-13)


@often
@given(poses, points, rotvecs)
def test_the_adjoint_takes_twists_from_one_frame_to_another(pose: SE3, v: Array, w: Array) -> None:
    assume(np.linalg.norm(w) < 3.0)
    twist = np.concatenate([v, w])
    moved = pose @ SE3.exp(twist) @ pose.inverse()
    assert close(moved, SE3.exp(pose.adjoint() @ twist), 1e-11)


@often
@given(poses, poses)
def test_the_adjoint_is_a_representation(a: SE3, b: SE3) -> None:
    np.testing.assert_allclose((a @ b).adjoint(), a.adjoint() @ b.adjoint(), rtol=0, atol=1e-12)
    np.testing.assert_allclose(a.inverse().adjoint() @ a.adjoint(), np.eye(6), rtol=0, atol=1e-12)


# Representations -------------------------------------------------------------------------------------------------


@often
@given(rotations)
def test_every_representation_is_scipys(rotation: SO3) -> None:
    theirs = scipy_of(rotation)
    np.testing.assert_allclose(rotation.matrix(), theirs.as_matrix(), rtol=0, atol=1e-15)
    np.testing.assert_array_equal(rotation.xyzw[..., [3, 0, 1, 2]], rotation.wxyz)
    assert close(SO3.from_xyzw(theirs.as_quat()), rotation, 1e-15)
    assert close(SO3.from_matrix(theirs.as_matrix()), rotation, 1e-15)
    assert close(SO3.from_rotvec(theirs.as_rotvec()), rotation, 2e-15)


@often
@given(st.tuples(*[st.floats(-6.28, 6.28) | st.sampled_from([0.0, math.pi / 2, -math.pi / 2, math.pi])] * 3))
def test_roll_pitch_yaw_turn_about_fixed_axes(rpy: tuple[float, float, float]) -> None:
    rotation = SO3.from_rpy(rpy)
    np.testing.assert_allclose(rotation.matrix(), Rotation.from_euler("xyz", rpy).as_matrix(), rtol=0, atol=1e-15)
    back = rotation.rpy()
    assert abs(back[1]) <= math.pi / 2
    # Next to a pitch of a right angle a rounding turns roll and yaw by as much more as the cosine is small.
    assert close(SO3.from_rpy(back), rotation, min(1e-14 + 1e-15 / abs(math.cos(rpy[1])), 1e-8))


@pytest.mark.parametrize("pitch", [math.pi / 2, -math.pi / 2])
def test_at_a_pitch_of_a_right_angle_there_is_no_yaw(pitch: float) -> None:
    rotation = SO3.from_rpy([0.3, pitch, 0.5])
    roll, back, yaw = rotation.rpy()
    assert yaw == 0.0
    assert back == pytest.approx(pitch, abs=1e-7)
    assert close(SO3.from_rpy([roll, back, yaw]), rotation, 1e-8)


@often
@given(poses)
def test_poses_are_made_from_parts(pose: SE3) -> None:
    xyz, rotation = pose.xyz, pose.rotation
    for again in (
        SE3(pose.array),
        SE3.from_parts(xyz, rotation),
        SE3.from_xyz_wxyz(xyz, rotation.wxyz),
        SE3.from_xyz_xyzw(xyz, rotation.xyzw),
        SE3.from_rotvec(xyz, rotation.log()),
        SE3.from_matrix(pose.matrix()),
    ):
        assert close(again, pose, 2e-15)
    assert close(SE3.from_xyz_rpy(xyz, rotation.rpy()), pose, 1e-8)
    np.testing.assert_array_equal(pose.array, [*xyz, *pose.wxyz])
    np.testing.assert_array_equal(SE3.from_parts(xyz).matrix()[:3, :3], np.eye(3))


def test_quaternions_are_normalised() -> None:
    np.testing.assert_allclose(SO3(wxyz=[0, 3, 0, 4]).wxyz, [0, 0.6, 0, 0.8], rtol=0, atol=1e-16)
    np.testing.assert_allclose(SE3([1, 2, 3, 2, 0, 0, 0]).array, [1, 2, 3, 1, 0, 0, 0], rtol=0, atol=0)


@often
@given(seeds)
def test_matrices_are_read_whichever_component_is_largest(seed: int) -> None:
    wxyz = np.random.default_rng(seed).normal(size=4) * [1.0, 1e-9, 1e-9, 1e-9]
    for roll in range(4):
        rotation = SO3(wxyz=np.roll(wxyz, roll))
        back = SO3.from_matrix(rotation.matrix())
        assert back.wxyz[0] >= 0.0
        assert close(back, rotation, 2e-15)


# Batches ---------------------------------------------------------------------------------------------------------


def batches(seed: int) -> tuple[SE3, SE3]:
    rng = np.random.default_rng(seed)
    return (
        SE3.from_rotvec(rng.normal(size=(2, 1, 3)), rng.normal(size=(2, 1, 3))),
        SE3.from_rotvec(rng.normal(size=(3, 3)), rng.normal(size=(3, 3)) * [[1.0], [1e-9], [1e-5]]),
    )


@often
@given(seeds)
def test_batches_equal_singles_and_broadcast(seed: int) -> None:
    a, b = batches(seed)
    product = a @ b
    assert product.array.shape == (2, 3, 7)
    values = {
        "act": product.act([1.0, 2.0, 3.0]),
        "adjoint": product.adjoint(),
        "inverse": product.inverse().array,
        "log": product.log(),
        "matrix": product.matrix(),
        "rpy": product.rotation.rpy(),
        "rotation": product.rotation.log(),
        "exp": SE3.exp(product.log()).array,
    }
    for i, j in np.ndindex(2, 3):
        one = a[i, 0] @ b[j]
        assert isinstance(one, SE3)
        assert close(one, product[i, j], ROUND)
        singles = {
            "act": one.act([1.0, 2.0, 3.0]),
            "adjoint": one.adjoint(),
            "inverse": one.inverse().array,
            "log": one.log(),
            "matrix": one.matrix(),
            "rpy": one.rotation.rpy(),
            "rotation": one.rotation.log(),
            "exp": SE3.exp(one.log()).array,
        }
        for name, value in singles.items():
            np.testing.assert_allclose(values[name][i, j], value, rtol=0, atol=1e-14, err_msg=name)


def test_rotations_broadcast_too() -> None:
    a, b = (pose.rotation for pose in batches(0))
    product = a @ b
    assert product.wxyz.shape == (2, 3, 4)
    np.testing.assert_allclose(product.matrix(), a.matrix() @ b.matrix(), rtol=0, atol=ROUND)
    assert a.act(np.ones((3, 3))).shape == (2, 3, 3)
    assert SE3.from_parts([0.0, 0.0, 1.0], a).array.shape == (2, 1, 7)
    assert SE3.from_parts(np.zeros((5, 2, 3)), SO3.identity()).array.shape == (5, 2, 7)


def test_slices_of_a_batch_are_batches() -> None:
    _, b = batches(1)
    np.testing.assert_array_equal(b[1:].array, b.array[1:])
    np.testing.assert_array_equal(b[-1].array, b.array[2])
    np.testing.assert_array_equal(b[b.xyz[:, 0] > 0].array, b.array[b.xyz[:, 0] > 0])
    with pytest.raises(TypeError, match=r"single pose cannot be indexed; use .xyz, .wxyz or .array"):
        b[0][0]


@pytest.mark.parametrize(
    "make",
    [
        lambda: SE3(np.zeros((0, 7))),
        lambda: SE3.from_parts(np.zeros((0, 3))),
        lambda: SE3.from_xyz_rpy(np.zeros((0, 3)), np.zeros((0, 3))),
        lambda: SE3.from_rotvec(np.zeros((0, 3)), np.zeros((0, 3))),
        lambda: SE3.from_matrix(np.zeros((0, 4, 4))),
        lambda: SE3.exp(np.zeros((0, 6))),
        lambda: SE3(np.zeros((0, 7))) @ SE3.identity(),
        lambda: SE3(np.zeros((0, 7))).inverse(),
        lambda: SE3.parse(np.zeros((0, 4, 4))),
    ],
)
def test_an_empty_batch_is_a_batch(make: Any) -> None:
    pose = make()
    assert pose.array.shape == (0, 7)
    assert pose.matrix().shape == (0, 4, 4)
    assert pose.log().shape == (0, 6)
    assert pose.adjoint().shape == (0, 6, 6)


# What is refused -------------------------------------------------------------------------------------------------


def with_nan(shape: tuple[int, ...], *index: int) -> Array:
    array = np.ones(shape)
    array[index] = np.nan
    return array


REFUSED: list[tuple[Any, str, str]] = [
    (lambda: SO3(wxyz=[0, 0, 0, 0]), "not-a-rotation", "wxyz"),
    (lambda: SO3(wxyz=[[1, 0, 0, 0], [0, 0, 0, 0]]), "not-a-rotation", "wxyz"),
    (lambda: SO3.from_xyzw([0, 0, 0, 0]), "not-a-rotation", "xyzw"),
    (lambda: SE3([1, 2, 3, 0, 0, 0, 0]), "not-a-rotation", "pose wxyz is a zero quaternion"),
    (lambda: SO3(wxyz=[1, 0, 0]), "wrong-shape", "wxyz"),
    (lambda: SO3(wxyz=1.0), "wrong-shape", "wxyz"),
    (lambda: SO3.from_xyzw(np.zeros((4, 3))), "wrong-shape", "xyzw"),
    (lambda: SO3.from_rpy([1, 2]), "wrong-shape", "rpy"),
    (lambda: SO3.from_rotvec([1, 2, 3, 4]), "wrong-shape", "rotvec"),
    (lambda: SO3.from_matrix(np.eye(4)), "wrong-shape", "matrix"),
    (lambda: SO3.identity().act([1, 2]), "wrong-shape", "point"),
    (lambda: SE3(np.zeros(6)), "wrong-shape", "pose"),
    (lambda: SE3.from_parts([1, 2]), "wrong-shape", "xyz"),
    (lambda: SE3.from_xyz_rpy([1, 2, 3], [1, 2]), "wrong-shape", "rpy"),
    (lambda: SE3.from_matrix(np.eye(3)), "wrong-shape", "matrix"),
    (lambda: SE3.exp(np.zeros(3)), "wrong-shape", "twist"),
    (lambda: SE3.identity().act(np.zeros((3, 2))), "wrong-shape", "point"),
    (lambda: SE3.from_parts("abc"), "wrong-shape", "xyz"),
    (lambda: SE3.from_parts([[1, 2, 3], [1]]), "wrong-shape", "xyz"),
    (lambda: SO3(wxyz=with_nan((4,), 2)), "not-finite", "wxyz[2]"),
    (lambda: SO3.from_rpy(with_nan((2, 3), 1, 0)), "not-finite", "rpy[1, 0]"),
    (lambda: SO3.from_matrix(with_nan((5, 3, 3), 4, 1, 2)), "not-finite", "matrix[4, 1, 2]"),
    (lambda: SE3(with_nan((7,), 5)), "not-finite", "pose[5]"),
    (lambda: SE3([np.inf, 0, 0, 1, 0, 0, 0]), "not-finite", "pose[0]"),
    (lambda: SE3.exp(with_nan((6,), 0)), "not-finite", "twist[0]"),
    (lambda: SE3.identity().act([0, -np.inf, 0]), "not-finite", "point[1]"),
    (lambda: SO3.from_matrix(np.diag([1.0, 1.0, -1.0])), "not-a-rotation", "not a rotation"),
    (lambda: SO3.from_matrix(1.001 * np.eye(3)), "not-a-rotation", "not a rotation"),
    (lambda: SO3.from_matrix([np.eye(3), np.ones((3, 3))]), "not-a-rotation", "not a rotation"),
    (lambda: SE3.from_matrix(np.diag([1.0, 1.0, -1.0, 1.0])), "not-a-rotation", "not a rotation"),
    (lambda: SE3.from_matrix(2.0 * np.eye(4)), "not-a-pose", "last row must be 0 0 0 1"),
    (lambda: SE3.from_matrix(np.eye(4) + np.eye(4, k=-3)), "not-a-pose", "last row must be 0 0 0 1"),
]


@pytest.mark.parametrize(("make", "code", "words"), REFUSED)
def test_what_is_no_motion_is_refused(make: Any, code: str, words: str) -> None:
    with refused(code, words):
        make()


def test_a_wrong_shape_is_an_error_of_ours_and_a_value_error() -> None:
    with pytest.raises(PoiseError):
        SE3([1, 2])
    assert issubclass(ShapeError, ValueError)


@pytest.mark.parametrize("left", [SO3.identity(), SE3.identity()])
@pytest.mark.parametrize("right", [SO3.identity(), SE3.identity(), np.eye(4), 2.0])
def test_a_motion_multiplies_its_own_kind_only(left: Any, right: Any) -> None:
    if type(left) is type(right):
        assert isinstance(left @ right, type(left))
    else:
        with pytest.raises(TypeError):
            left @ right


# Points ----------------------------------------------------------------------------------------------------------


@often
@given(poses, st.lists(points, min_size=1, max_size=4))
def test_a_motion_times_points_acts_on_each(motion: SE3, several: list[Array]) -> None:
    cloud, turn = np.array(several), motion.rotation
    whole = np.hstack([cloud, np.ones((len(cloud), 1))])
    np.testing.assert_allclose(motion @ cloud, (whole @ motion.matrix().T)[:, :3], rtol=0, atol=1e-13)
    np.testing.assert_allclose(turn @ cloud, cloud @ turn.matrix().T, rtol=0, atol=1e-13)
    for row, moved in zip(cloud, motion @ cloud, strict=True):
        np.testing.assert_array_equal(motion @ row, moved)
        np.testing.assert_array_equal(motion @ row.tolist(), moved)
    np.testing.assert_array_equal((motion @ motion) @ cloud[0], (motion @ motion).act(cloud[0]))


def test_a_batch_of_motions_takes_a_point_each_or_one_for_all_or_all_under_each() -> None:
    batch = SE3.from_xyz_rpy([[1, 0, 0], [0, 1, 0]], [[0, 0, 0.5], [0.1, 0, 0]])
    cloud = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(batch @ cloud, [batch[0] @ cloud[0], batch[1] @ cloud[1]])
    np.testing.assert_array_equal(batch @ cloud[0], [batch[0] @ cloud[0], batch[1] @ cloud[0]])
    three = np.arange(9.0).reshape(3, 3)
    np.testing.assert_array_equal((batch @ three[:, None])[2], [batch[0] @ three[2], batch[1] @ three[2]])
    words = r"point has shape \(3, 3\) and the motions are a batch of \(2,\): a point a motion is \(2, 3\)"
    for motions in (batch, batch.rotation):
        with pytest.raises(ShapeError, match=words):
            motions @ three


T, R = SE3.from_xyz_rpy([1, 2, 3], [0.1, 0.2, 0.3]), SO3.from_rpy([0.1, 0.2, 0.3])


@pytest.mark.parametrize(
    ("multiply", "error", "words"),
    [
        (lambda: T @ [1, 2], ShapeError, r"point must have shape \(3,\), got \(2,\)"),
        (lambda: R @ np.zeros((3, 2)), ShapeError, r"point must have shape \(3,\), got \(3, 2\)"),
        (lambda: T @ ["a", "b", "c"], ShapeError, "point must be numbers"),
        (lambda: T @ [1, 2, math.nan], ValueError, r"point\[2\] is nan"),
        (lambda: T @ T.array, TypeError, r"T @ x takes an SE3 or \(..., 3\) points, got shape \(7,\): .*SE3.parse"),
        (lambda: T @ T.matrix(), TypeError, r"got shape \(4, 4\): make it a pose, SE3.parse\(x\)"),
        (lambda: T @ R, TypeError, r"T @ SE3.from_parts\(\[0, 0, 0\], R\)"),
        (lambda: R @ R.wxyz, TypeError, r"got shape \(4,\): say SO3\(wxyz=x\)"),
        (lambda: R @ R.matrix(), TypeError, r"say SO3.from_matrix\(matrix\), or act\(points\)"),
        (lambda: T @ "xyz", TypeError, "unsupported operand"),
    ],
)
def test_what_is_neither_a_motion_nor_points_is_refused(multiply: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        multiply()


def test_three_points_that_are_no_rotation_are_points() -> None:
    cloud = np.arange(9.0).reshape(3, 3)
    np.testing.assert_array_equal(R @ cloud, R.act(cloud))
    np.testing.assert_array_equal(T @ np.eye(3), T.act(np.eye(3)))


# The same --------------------------------------------------------------------------------------------------------


@often
@given(poses, poses)
def test_equal_is_by_value_and_of_either_sign(a: SE3, b: SE3) -> None:
    negative = pose_of(np.concatenate([a.xyz, -a.wxyz]))
    for one, same, other in ((a, negative, b), (a.rotation, negative.rotation, b.rotation)):
        assert type(one == same) is bool
        assert one == same
        assert (one != same) is False
        assert hash(one) == hash(same)
        assert same in [one]
        assert len({one, same}) == 1
        assert (one == other) == (hash(one) == hash(other))
    assert a != a.rotation
    assert a != a.array.tolist()
    assert a.isclose(b) or a != b


def test_zero_has_no_sign_in_what_is_equal() -> None:
    assert SE3([0.0, 0, 0, 1, 0, 0, 0]) == SE3([-0.0, 0, 0, -1, -0.0, 0, 0])
    assert hash(SE3([0.0, 0, 0, 1, 0, 0, 0])) == hash(SE3([-0.0, 0, 0, -1, -0.0, 0, 0]))


def test_batches_are_equal_as_a_whole_and_close_one_by_one() -> None:
    batch = SE3.from_xyz_rpy(np.eye(3), np.zeros((3, 3)))
    moved = batch.array.copy()
    moved[1, 0] += 1e-3
    assert batch == SE3(batch.array)
    assert batch != SE3(moved)
    assert batch != batch[0]
    np.testing.assert_array_equal(batch.isclose(SE3(moved)), [True, False, True])
    np.testing.assert_array_equal(batch.isclose(batch[0]), [True, False, False])
    np.testing.assert_array_equal(batch.rotation.isclose(SO3.identity()), [True] * 3)
    with pytest.raises(ShapeError, match=r"batches of \(3,\) and \(2,\) do not go together"):
        batch.isclose(batch[:2])


@often
@given(poses, directions(), directions(), st.floats(1e-6, 1.0), st.floats(1e-6, 1.0))
def test_close_counts_metres_and_radians_each_by_itself(
    pose: SE3, way: Array, axis: Array, metres: float, radians: float
) -> None:
    there = SE3.from_parts(pose.xyz + metres * way, SO3.from_rotvec(radians * axis) @ pose.rotation)
    largest = max(metres, radians)
    assert pose.isclose(there, atol=1.001 * largest)
    assert not pose.isclose(there, atol=0.999 * largest)
    assert pose.rotation.isclose(there.rotation, atol=1.001 * radians)
    assert not pose.rotation.isclose(there.rotation, atol=0.999 * radians)
    assert type(pose.isclose(there)) is bool


def test_close_to_what_is_no_motion_is_refused() -> None:
    with pytest.raises(TypeError, match=r"another SE3, got .*SE3.parse"):
        T.isclose(T.matrix())  # type: ignore[arg-type]
    with refused("not-a-rotation", "SO3"):
        R.isclose(T)  # type: ignore[arg-type]


# Rounded rotations -----------------------------------------------------------------------------------------------


@often
@given(rotations, st.integers(2, 5))
def test_rounded_decimals_are_refused_and_made_the_nearest_rotation_on_request(rotation: SO3, digits: int) -> None:
    rounded = rotation.matrix().round(digits)
    off = np.abs(rounded @ rounded.T - np.eye(3)).max()
    assume(off > 1.1e-6)
    with pytest.raises(ValueError, match=r"matrix is not a rotation to 1e-06: it is off by .*orthonormalise=True"):
        SO3.from_matrix(rounded)
    nearest = SO3.from_matrix(rounded, orthonormalise=True)
    # The rotation of the polar decomposition is the nearest one.
    np.testing.assert_allclose(nearest.matrix(), polar(rounded)[0], rtol=0, atol=1e-12)
    assert nearest.isclose(rotation, atol=4.0 * 10.0**-digits)
    whole = SE3.from_parts([1, 2, 3], rotation).matrix().round(digits)
    assert SE3.from_matrix(whole, orthonormalise=True).rotation.isclose(nearest, atol=1e-12)


@pytest.mark.parametrize("orthonormalise", [False, True])
def test_what_stretches_or_mirrors_is_no_rotation_even_on_request(orthonormalise: bool) -> None:
    for bad, words in (
        (1.2 * np.eye(3), r"matrix is not a rotation: it stretches by 1\.2, 1\.2, 1\.2"),
        (np.zeros((3, 3)), "it stretches by 0, 0, 0"),
        (np.diag([1.0, 1.0, -1.0]), "it is a mirror image, of determinant -1"),
        ([np.eye(3), np.eye(3), np.diag([1.0, 2.0, 1.0])], r"matrix\[2\] is not a rotation: it stretches by 2, 1, 1"),
    ):
        with pytest.raises(ValueError, match=words):
            SO3.from_matrix(bad, orthonormalise=orthonormalise)


def test_a_rotation_that_is_one_is_left_alone() -> None:
    batch = Rotation.random(20, rng=1).as_matrix()
    exact = SO3.from_matrix(batch)
    assert SO3.from_matrix(batch, orthonormalise=True).isclose(exact, atol=1e-14).all()
    assert SO3.from_matrix(np.zeros((0, 3, 3)), orthonormalise=True).wxyz.shape == (0, 4)


def test_a_target_of_rounded_decimals_is_refused_by_its_own_name() -> None:
    with refused("not-a-rotation", "goal"):
        SE3.parse(T.matrix().round(5), "goal")


# Degrees ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make", [lambda: SO3.from_rpy([180, 0, 0]), lambda: SE3.from_xyz_rpy([0, 0, 0], [[0, 0, 0], [0, -180, 90]])]
)
def test_angles_of_more_than_a_turn_are_asked_about_where_they_are_stated(make: Any) -> None:
    with pytest.warns(UserWarning, match=r"rpy holds more than a whole turn in radians: degrees\?") as caught:
        make()
    assert [Path(one.filename) for one in caught] == [Path(__file__)]


def test_a_turn_is_not_asked_about() -> None:
    SO3.from_rpy([2 * math.pi, -2 * math.pi, 6.2832])
    SO3.from_rpy(np.zeros((0, 3)))


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        ([1, 2, 3], "a place alone is SE3.from_parts"),
        ([1, 2, 3, 0, 0, 0], "SE3.from_xyz_rpy"),
        (np.eye(3), "SE3.from_parts.xyz, SO3.from_matrix"),
    ],
)
def test_numbers_that_are_half_a_pose_are_told_how_to_be_one(value: Any, hint: str) -> None:
    with pytest.raises(ShapeError, match=hint):
        SE3.parse(value)


# Frozen arrays, print, parse -------------------------------------------------------------------------------------


def test_what_a_motion_holds_cannot_be_written() -> None:
    given = np.array([1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0])
    pose = SE3(given)
    for array in (pose.array, pose.xyz, pose.wxyz, pose.rotation.wxyz, (pose @ pose).array, pose.inverse().array):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 5.0
    given[0] = 9.0
    assert pose.xyz[0] == 1.0
    assert pose.matrix().flags.writeable
    assert pose.array.flags.c_contiguous


@pytest.mark.parametrize(
    "value",
    [
        SE3.from_xyz_rpy([1, 2, 3], [0.1, 0.2, 0.3]),
        SE3.from_xyz_rpy([1, 2, 3], [0.1, 0.2, 0.3]).array,
        SE3.from_xyz_rpy([1, 2, 3], [0.1, 0.2, 0.3]).array.tolist(),
        SE3.from_xyz_rpy([1, 2, 3], [0.1, 0.2, 0.3]).matrix(),
        SE3.from_xyz_rpy([1, 2, 3], [0.1, 0.2, 0.3]).matrix().tolist(),
    ],
)
def test_parse_takes_every_form_of_a_pose(value: Any) -> None:
    assert close(SE3.parse(value), SE3.from_xyz_rpy([1, 2, 3], [0.1, 0.2, 0.3]), 1e-15)


def test_parse_takes_batches() -> None:
    a, _ = batches(2)
    assert SE3.parse(a) is a
    assert SE3.parse(a.array).array.shape == SE3.parse(a.matrix()).array.shape == (2, 1, 7)
    # A stack of four poses of seven numbers is no matrix, and a stack of four matrices none of poses.
    assert SE3.parse(np.tile(SE3.identity().array, (4, 1))).array.shape == (4, 7)
    assert SE3.parse(np.tile(np.eye(4), (7, 1, 1))).array.shape == (7, 7)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.zeros(6), r"goal must be an SE3, 7 numbers \[x y z, w x y z\] or a 4x4 matrix, got shape \(6,\)"),
        (np.zeros((4, 3)), r"goal must be .*, got shape \(4, 3\)"),
        (3.0, r"goal must be .*, got shape \(\)"),
        (None, "goal must be"),
        ("here", "goal must be"),
        (SO3.identity(), "goal must be"),
        ([[1, 2, 3], [1]], "goal"),
        (["a"] * 7, "goal must be numbers"),
    ],
)
def test_parse_says_what_is_no_pose(value: Any, message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        SE3.parse(value, "goal")


@pytest.mark.parametrize(
    ("value", "code", "words"),
    [
        (with_nan((7,), 3), "not-finite", "goal[3]"),
        (with_nan((4, 4), 1, 2), "not-finite", "goal[1, 2]"),
        (np.zeros(7), "not-a-rotation", "zero quaternion"),
        ([0.0, -0.8, 0.0, -2.4, 0.0, 1.6, 0.8], "not-a-pose", "model.pose(frame, q)"),
        ([[0.4, 0, 0.5, 1, 0, 0, 0], [0.4, 0, 0.5, 0.5, 0, 0, 0]], "not-a-pose", "length 0.5 in place of 1"),
        (np.zeros((4, 4)), "not-a-pose", "last row"),
    ],
)
def test_parse_says_which_number_is_none(value: Any, code: str, words: str) -> None:
    with refused(code, words):
        SE3.parse(value, "goal")


def test_a_quaternion_that_was_rounded_is_one() -> None:
    rounded = [0.4, 0.0, 0.5, 0.0, 0.71, 0.71, 0.0]
    for value in (rounded, [rounded, rounded]):
        assert np.allclose(np.linalg.norm(SE3.parse(value).wxyz, axis=-1), 1.0)
    assert SE3.from_xyz_wxyz([0, 0, 0], [0, 3, 0, 0]).isclose(SE3.parse([0, 0, 0, 0, 1, 0, 0]))


def test_motions_print_their_numbers() -> None:
    assert repr(SE3([1, 2.5, -3, 0, 1, 0, 0])) == "SE3(xyz=[1 2.5 -3], wxyz=[0 1 0 0])"
    assert repr(SO3.identity()) == "SO3(wxyz=[1 0 0 0])"
    a, b = batches(0)
    assert repr(a @ b) == "SE3(batch of (2, 3))"
    assert repr(b.rotation) == "SO3(batch of (3,))"


def test_points_of_different_lengths_are_refused_in_words() -> None:
    for motion in (SE3.identity(), SO3.identity()):
        with refused("wrong-shape", "point"):
            motion @ [[1.0, 2.0, 3.0], [1.0, 2.0]]


def test_the_nearest_rotation_is_that_however_near_the_matrix_is() -> None:
    matrix = SE3.from_xyz_rpy((0.1, 0.2, 0.3), (0.4, -0.5, 0.6)).matrix()
    matrix[0, 1] += 8e-7
    u, _, vt = np.linalg.svd(matrix[:3, :3])
    found = SE3.from_matrix(matrix, orthonormalise=True).matrix()[:3, :3]
    np.testing.assert_allclose(found, u @ vt, rtol=0.0, atol=1e-12)

"""Hands in the order and along the axes of WebXR."""

import numpy as np
import pytest

import poise as pz
from poise.common.array import Array
from poise.io.gltf_joints import WEBXR
from poise.teleop import webxr_hand


def poses(seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    return pz.SE3.exp(rng.normal(size=(len(WEBXR), 6))).matrix()


def test_what_is_before_above_and_to_the_right_is_so_for_a_robot() -> None:
    given = np.tile(np.eye(4), (25, 1, 1))
    given[0, :3, 3] = [0.1, 1.2, -0.3]  # to the right, up, forwards
    found = webxr_hand(given)
    assert found is not None
    wrist, places = found
    assert np.allclose(wrist.xyz, [0.3, -0.1, 1.2])
    assert np.allclose(places[0], wrist.xyz)
    # A hand that is held as the axes of WebXR are: its fingers forwards, its back up.
    assert np.allclose(wrist.rotation.act([0, 0, -1.0]), [1, 0, 0])
    assert np.allclose(wrist.rotation.act([0, 1.0, 0]), [0, 0, 1])


def test_what_fill_poses_writes_is_the_same_hand() -> None:
    given = poses()
    one, other = webxr_hand(given), webxr_hand(given.transpose(0, 2, 1).ravel().astype(np.float32))
    assert one is not None
    assert other is not None
    assert one[0].isclose(other[0], atol=1e-6)
    assert np.allclose(one[1], other[1], atol=1e-6)


def test_what_is_between_joints_is_as_it_was_and_no_mirror_image() -> None:
    given = poses()
    found = webxr_hand(given)
    assert found is not None
    wrist, places = found
    seen = pz.SE3.from_matrix(given[0])
    assert np.allclose(wrist.inverse().act(places), seen.inverse().act(given[:, :3, 3]), atol=1e-9)


def test_a_hand_that_was_not_seen_is_none() -> None:
    given = poses()
    given[7] = np.nan
    assert webxr_hand(given) is None


@pytest.mark.parametrize("shape", [(25, 3), (24, 4, 4), (399,), (1, 25, 4, 4)])
def test_another_shape_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(pz.ShapeError, match=r"\(25, 4, 4\) or \(400,\)"):
        webxr_hand(np.zeros(shape))


def test_the_landmarks_drive_a_hand() -> None:
    # The order is that of `poise.hands`: a fingertip of WebXR is the landmark of that name.
    given = np.tile(np.eye(4), (25, 1, 1))
    tip = WEBXR.index("index-finger-tip")
    given[tip, :3, 3] = [0.0, 0.0, -0.18]
    found = webxr_hand(given)
    assert found is not None
    assert np.allclose(found[1][tip], [0.18, 0, 0])


def test_what_is_masked_was_not_seen() -> None:
    given = np.ma.array(poses())
    given[3, 1, 2] = np.ma.masked
    assert webxr_hand(given) is None
    device = np.ma.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    stream = pz.teleop.Stream()
    assert stream.step(pz.teleop.Sample(device), pz.SE3.identity(), 0.01).state == "engaged"
    device[0] = np.ma.masked
    for _ in range(20):
        command = stream.step(pz.teleop.Sample(device), pz.SE3.identity(), 0.01)
    assert command.state == "easing"

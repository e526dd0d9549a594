"""Limits of spherical joints: swing within an ellipse, twist within an interval."""

import math
import pickle

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.refusals import refused

import poise as pz
from poise.kernels.algebra.swing_twist import nearest_on_ellipse, semi_axes

pytestmark = pytest.mark.filterwarnings("error")

AXES = [(0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, -1.0), (0.36, 0.48, 0.8)]
LIMITS = [
    (((-0.8, 0.8), (-0.3, 0.3)), (-0.4, 0.9)),
    (((-2.5, 2.5), (-2.5, 2.5)), (2.0, 3.9)),
    (((-1.0, 1.0), (0.0, 0.0)), (0.0, 0.0)),
    (((-math.pi, math.pi), (-0.01, 0.01)), None),
    (((-0.2, 2.0), (-1.0, 0.0)), (-0.4, 0.9)),
    (((0.0, 2.4), (0.0, 0.0)), (0.0, 0.0)),
]


def turns(count: int, seed: int = 0) -> np.ndarray:
    wxyz = np.random.default_rng(seed).normal(size=(count, 4))
    return wxyz / np.linalg.norm(wxyz, axis=1, keepdims=True)


def rotation(wxyz: np.ndarray) -> Rotation:
    return Rotation.from_quat(wxyz[..., [1, 2, 3, 0]])


def arm(**limits: object) -> pz.Model:
    b = pz.ModelBuilder("arm")
    b.joint("shoulder", "spherical", parent="base", child="upper", axis=(1, 0, 0), **limits)
    b.joint("elbow", "revolute", parent="upper", child="fore", axis=(0, 1, 0), limits=(0.0, 2.5), origin=at(0.3))
    b.joint("wrist", "spherical", parent="fore", child="hand", axis=(1, 0, 0), swing=(1.2, 0.5), origin=at(0.3))
    b.frame("palm", link="hand", origin=at(0.1))
    return b.build()


def at(x: float) -> pz.SE3:
    return pz.SE3.from_parts([x, 0.0, 0.0])


@pytest.mark.parametrize("axis", AXES)
def test_a_rotation_is_a_swing_after_a_twist(axis: tuple[float, float, float]) -> None:
    ball = pz.SwingTwist(axis=axis, twist=(0.5, 1.5)).at(0)
    wxyz = turns(200)
    swing, twist = ball.parts(wxyz)
    vector = swing @ ball.frame[:, :2].T
    made = Rotation.from_rotvec(vector) * Rotation.from_rotvec(np.outer(twist + 1.0, axis))
    assert (made.inv() * rotation(wxyz)).magnitude().max() < 1e-14
    assert np.abs(vector @ np.array(axis)).max() < 1e-15  # no share of the swing is about the axis
    assert np.hypot(*swing.T).max() <= math.pi
    assert np.abs(twist).max() <= math.pi
    # The swing is the shortest turn of the bone to where it points.
    bone = rotation(wxyz).apply(axis)
    assert np.allclose(np.hypot(*swing.T), np.arccos(np.clip(bone @ np.array(axis), -1, 1)), atol=1e-7)
    assert (rotation(ball.rotation(swing, twist)).inv() * rotation(wxyz)).magnitude().max() < 1e-14
    assert ball.parts(-wxyz)[1] == pytest.approx(twist, abs=1e-14)


@pytest.mark.parametrize("axes", [(1.0, 0.5), (2.0, 2.0), (3.0, 1e-3), (1e-8, 1.0), (0.4, 3.1)])
def test_the_point_of_an_ellipse_is_the_nearest(axes: tuple[float, float]) -> None:
    rng = np.random.default_rng(1)
    points = rng.normal(size=(60, 2)) * 2.0
    points = np.concatenate([points, [[3.5, 0.0], [0.0, -3.5], [3.2, 1e-12]]])
    points = points[(points**2 / np.square(axes)).sum(1) > 1.0]
    found = np.stack(nearest_on_ellipse(*points.T, *axes), axis=1)
    assert np.abs((found**2 / np.square(axes)).sum(1) - 1.0).max() < 1e-12
    around = np.linspace(0.0, 2.0 * math.pi, 200001)
    border = np.stack([axes[0] * np.cos(around), axes[1] * np.sin(around)], axis=1)
    for point, there in zip(points, found, strict=True):
        assert np.hypot(*(there - point)) <= np.hypot(*(border - point).T).min() + 1e-12


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("limits", LIMITS)
def test_what_is_outside_is_brought_inside_and_the_rest_stays(axis: tuple[float, float, float], limits: tuple) -> None:
    ball = pz.SwingTwist(axis=axis, swing=limits[0], twist=limits[1]).at(0)
    wxyz = turns(2000, seed=2)
    pulled = ball.pulled_in(wxyz)
    assert ball.inside(pulled).all()
    inside = ball.inside(wxyz)
    assert (pulled[inside] == wxyz[inside]).all()
    assert (ball.pulled_in(pulled) == pulled).all()
    assert np.linalg.norm(pulled, axis=1) == pytest.approx(1.0, abs=1e-15)
    # Each of the two is changed by itself, and no more than it has to be.
    (swing, twist), (least, turn) = ball.parts(wxyz), ball.parts(pulled)
    assert np.abs(turn - np.clip(twist, -ball.half, ball.half)).max() < 5e-9
    axes = np.stack(semi_axes(ball.record, *swing.T), axis=1)
    outside = (swing**2 / np.square(axes)).sum(1) > 1.0
    assert (np.abs(least - swing)[~outside] < 1e-9).all()
    nearest = np.stack(nearest_on_ellipse(*swing[outside].T, *axes[outside].T), axis=1)
    assert np.abs(least[outside] - nearest).max(initial=0.0) < 1e-4


@pytest.mark.parametrize("limits", LIMITS)
def test_margins_are_ways_to_the_border(limits: tuple) -> None:
    """That of a swing along its ray, that of a twist about the bone; a rotation is inside where both are left."""
    ball = pz.SwingTwist(axis=(0.36, 0.48, 0.8), swing=limits[0], twist=limits[1]).at(0)
    wxyz = turns(500, seed=5)
    (swing, twist), (far, left) = ball.parts(wxyz), ball.margins(wxyz).T
    angle = np.hypot(*swing.T)
    border = swing * (1.0 + far / angle)[:, None]
    axes = np.where(swing < 0.0, *np.transpose(ball.semi_axes))
    assert np.square(border / axes).sum(axis=1) == pytest.approx(1.0, abs=1e-6)
    assert np.abs(twist) + left == pytest.approx(ball.half)
    assert ((np.minimum(far, left) >= 0.0) == ball.inside(wxyz)).all()


def test_limits_are_told_of_carried_and_kept_by_what_is_drawn() -> None:
    model = arm(swing=(1.0, 0.4), twist=(-0.5, 0.2))
    assert "swing 1 x 0.4" in str(model)
    assert "twist -0.5 to 0.2" in str(model)
    q = model.sample(500, seed=3)
    assert model.within_limits(q)
    swing, twist = model.ball_limits[0].parts(q[:, :4])
    assert np.hypot(*(swing / [1.0, 0.4]).T).max() > 0.98
    assert twist.max() > 0.33
    assert twist.min() < -0.33
    free = arm().sample(500, seed=3)
    assert not model.within_limits(free)
    assert model.within_limits(model.clip(free))
    assert (model.clip(q) == q).all()
    for other in (pickle.loads(pickle.dumps(model)), model.with_base(at(1.0)), model.lock(elbow=1.0)):
        assert [b.semi_axes for b in other.ball_limits] == [b.semi_axes for b in model.ball_limits]
    assert len(model.chain("fore", "hand").ball_limits) == 1
    assert model.within_limits(model.home)


def test_home_is_inside_though_no_turn_is_not() -> None:
    assert arm(twist=(0.3, 0.6)).within_limits(arm(twist=(0.3, 0.6)).home)


def test_what_no_joint_can_keep_is_refused() -> None:
    with pytest.raises(pz.ModelError, match="0 to pi"):
        arm(swing=4.0)
    with pytest.raises(pz.ModelError, match="0 to pi"):
        arm(swing=(-0.1, 1.0))
    with pytest.raises(pz.ModelError, match="lower, upper"):
        arm(twist=(1.0, -1.0))
    with pytest.raises(pz.ModelError, match="swing"):
        arm(swing=(1.0, 2.0, 3.0))
    with pytest.raises(pz.ModelError, match="swing= and twist="):
        arm(limits=(-1.0, 1.0))
    with pytest.raises(pz.ModelError, match="spherical joints only"):
        pz.ModelBuilder("x").joint("hinge", "revolute", parent="a", child="b", swing=1.0)
    with refused("outside-limits"):
        arm(swing=0.5).lock(shoulder=[0.0, 0.0, 1.0, 0.0])


def test_swings_have_intervals_about_directions_of_their_own() -> None:
    """A knee that bends backward only: (lower, upper) about `across`."""
    model = arm(swing=((0.0, 2.0), (-0.1, 0.3)), across=(0, 1, 0.2))
    ball = model.ball_limits[0]
    assert ball.frame[:, 0] == pytest.approx(np.array([0.0, 1.0, 0.2]) / math.hypot(1.0, 0.2))
    assert ball.frame[:, 1] == pytest.approx(np.cross([1.0, 0.0, 0.0], ball.frame[:, 0]))
    first, second = (Rotation.from_rotvec(0.25 * ball.frame[:, k]).as_quat()[[3, 0, 1, 2]] for k in (0, 1))
    back = [1.0, -1.0, -1.0, -1.0]
    assert list(ball.inside(np.array([first, first * back, second, second * back]))) == [True, False, True, False]
    assert "swing 0 to 2 x -0.1 to 0.3" in str(model)
    # Evenly over the ellipse: the share of the quarters is that of their areas.
    swing, _ = ball.parts(model.sample(20000, seed=0)[:, :4])
    assert (swing[:, 1] > 0.0).mean() == pytest.approx(0.75, abs=0.01)


def test_a_rotation_may_count_from_another_than_none() -> None:
    rest = Rotation.from_rotvec([0.3, -0.8, 0.5])
    limits = pz.SwingTwist(axis=(0, 0, 2), swing=(0.6, 0.3), twist=(-0.2, 0.4), rest=rest.as_quat()[[3, 0, 1, 2]])
    plain = pz.SwingTwist(axis=(0, 0, 1), swing=(0.6, 0.3), twist=(-0.2, 0.4))
    wxyz = turns(500)
    turned = (rotation(wxyz) * rest).as_quat()[:, [3, 0, 1, 2]]
    assert (limits.at(0).inside(turned) == plain.at(0).inside(wxyz)).all()
    pulled = rotation(limits.at(0).pulled_in(turned)) * rest.inv()
    assert (pulled.inv() * rotation(plain.at(0).pulled_in(wxyz))).magnitude().max() < 1e-7


def test_a_model_takes_limits_of_swing_and_twist() -> None:
    model = arm().with_limits({"shoulder": pz.SwingTwist(swing=0.5, twist=(-0.1, 0.1))})
    assert model.joint("shoulder").ball.axis == (1.0, 0.0, 0.0)  # the joint's own
    assert model.within_limits(model.sample(50, seed=0))
    assert not model.within_limits(arm(swing=2.0).sample(50, seed=0))
    assert model.with_limits({"shoulder": pz.SwingTwist()}).joint("shoulder").ball is None
    with refused("not-supported"):
        arm().with_limits({"elbow": pz.SwingTwist(swing=1.0)})
    for wrong, code, word in (
        ({"swing": ((0.1, 1.0), (0.0, 1.0))}, "out-of-range", "swing"),
        ({"axis": (0, 0, 0)}, "zero-vector", "axis"),
        ({"axis": (1, 0, 0), "across": (-2, 0, 0)}, "conflict", "across"),
        ({"rest": (1, 0, 0)}, "wrong-length", "rest"),
        ({"twist": "wide"}, "wrong-length", "twist"),
    ):
        with refused(code, word):
            pz.SwingTwist(**wrong)
    with pytest.raises(pz.ModelError, match=r"'shoulder': across is .* along the axis"):
        arm(swing=1.0, across=(2, 0, 0))

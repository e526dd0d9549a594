"""What must hold of a hand beside limits of joints: sums, distances of shapes, loops and balls, frame by frame."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from support.hand_models import Array, clip, robot_hand
from support.mechanisms import at, linkage
from support.refusals import refused

import poise as pz

LINKS: dict[str, Any] = {"tip0": "thumb-tip", "tip1": "index-finger-tip", "tip2": "middle-finger-tip"}
ROBOT = robot_hand()
RADIUS, APART, MOST = 0.008, 0.02, 0.9
ROUND = ROBOT.with_shapes({f"bone{f}2": [pz.Sphere([0.0, 0.0, 0.03], RADIUS)] for f in range(3)})
COUPLED = pz.LinearLimit({"bend10": 1.0, "bend20": 1.0}, MOST)
TIPS_APART = pz.CollisionLimit(min_distance=APART)
HANDS = clip(24)


def hand(model: pz.Model = ROBOT, **options: Any) -> pz.hands.HandRetargeter:
    return pz.hands.HandRetargeter(model, LINKS, "vector", wrist="palm", **{"scale": 1.3, **options})


def sums(model: pz.Model, q: Array, *names: str) -> Array:
    return sum((q[..., model.index(name).start] for name in names), np.zeros(q.shape[:-1]))


def gaps(q: Array) -> Array:
    """(..., 3) between the spheres at the tips [m]."""
    tips = ROUND.poses(q, list(LINKS)).xyz
    ways = [tips[..., i, :] - tips[..., j, :] for i, j in ((0, 1), (0, 2), (1, 2))]
    return np.stack([np.linalg.norm(way, axis=-1) for way in ways], axis=-1) - 2.0 * RADIUS


def least(model: pz.Model, points: Array, q: Array, last: Array, kept: Callable[[Array], Array], kind: str) -> float:
    """The least objective near q where `kept` is 0 ("eq") or not negative ("ineq"), by SLSQP."""
    free = hand(model, limits=False)

    def value(v: Array) -> float:
        return free.objective(points, model.integrate(q, v), last)

    at_q, at_v = model._plain
    low, high = np.full(model.nv, -1.0), np.full(model.nv, 1.0)
    low[at_v], high[at_v] = model.lower[at_q] - q[at_q], model.upper[at_q] - q[at_q]
    conditions = [{"type": kind, "fun": lambda v: kept(model.integrate(q, v))}]
    found = minimize(
        value,
        np.zeros(model.nv),
        method="SLSQP",
        bounds=list(zip(low, high, strict=True)),
        constraints=conditions,
        options={"ftol": 1e-14},
    )
    return float(found.fun)


def test_a_coupling_of_fingers_is_held_over_a_whole_motion() -> None:
    ours = hand(limits=[COUPLED])
    path = ours.retarget(HANDS).q
    total = sums(ROBOT, path, "bend10", "bend20")
    assert sums(ROBOT, hand().retarget(HANDS).q, "bend10", "bend20").max() > MOST + 0.3
    assert total.max() == pytest.approx(MOST, abs=1e-12)
    assert ours.frames_beyond == 0
    for f in (8, 11, 14):
        best = least(ROBOT, HANDS[f], path[f], path[f - 1], lambda q: MOST - sums(ROBOT, q, "bend10", "bend20"), "ineq")
        assert ours.objective(HANDS[f], path[f], path[f - 1]) <= best * (1.0 + 3e-6)


@pytest.mark.parametrize("alpha", [1.0, 0.4])
def test_fingertips_come_no_nearer_than_asked(alpha: float) -> None:
    assert gaps(hand(ROUND).retarget(HANDS).q).min() < APART - 0.01
    ours = hand(ROUND, limits=[TIPS_APART], alpha=alpha)
    path = ours.retarget(HANDS).q
    assert gaps(path).min() >= APART
    assert ours.frames_beyond == 0
    if alpha == 1.0:
        tight = np.flatnonzero(gaps(path).min(axis=1) < APART + 1e-3)
        assert len(tight) > 3
        for f in tight[::4]:  # steps keep half a millimetre in reserve
            best = least(ROUND, HANDS[f], path[f], path[f - 1], lambda q: gaps(q) - APART - 5e-4, "ineq")
            assert ours.objective(HANDS[f], path[f], path[f - 1]) <= best * (1.0 + 1e-5)


@pytest.mark.parametrize("kind", ["vector", "dexpilot"])
def test_what_binds_nowhere_changes_nothing(kind: str) -> None:
    loose = [pz.LinearLimit({"bend10": 1.0, "bend20": 1.0}, 9.0), pz.CollisionLimit(min_distance=0.0)]
    thin = ROBOT.with_shapes({f"bone{f}2": [pz.Sphere([0.0, 0.0, 0.03], 1e-4)] for f in range(3)})
    free, held = (
        pz.hands.HandRetargeter(thin, LINKS, kind, wrist="palm", limits=limits)  # type: ignore[arg-type]
        for limits in (True, loose)
    )
    np.testing.assert_array_equal(held.retarget(HANDS).q, free.retarget(HANDS).q)


def openings(model: pz.Model, q: Array) -> Array:
    """(2 a loop,) how far pins are from their eyes, in the plane of their finger [m]."""
    seen = [model.pose(loop.first, q).inverse() @ model.pose(loop.second, q) for loop in model.loops]
    return np.concatenate([pose.xyz[[0, 2]] for pose in seen])


def test_loops_stay_closed_and_go_with_sums() -> None:
    model, most = linkage(), 0.6
    for limits in (True, [pz.LinearLimit({"drive1": 1.0, "drive2": 1.0}, most)]):
        ours = hand(model, limits=limits)
        path = ours.retarget(HANDS).q
        assert np.abs([openings(model, q) for q in path]).max() < 1e-7
        assert (path >= model.lower).all()
        assert (path <= model.upper).all()
        total = sums(model, path, "drive1", "drive2")
        assert (total.max() <= most + 1e-12) == (limits is not True)
        assert ours.iterations < 12 * len(HANDS)
        for f in (6, 12, 18):
            if limits is True or total[f] < most - 0.01:
                best = least(model, HANDS[f], path[f], path[f - 1], lambda q: 100.0 * openings(model, q), "eq")
                assert ours.objective(HANDS[f], path[f], path[f - 1]) <= best * (1.0 + 1e-5)


def test_a_ball_rests_at_its_limits() -> None:
    b = pz.ModelBuilder("balls")
    for f, (y, z) in enumerate(((0.05, 0.05), (0.0, 0.1), (-0.045, 0.1))):
        b.joint(
            f"knuckle{f}",
            "spherical",
            parent="palm",
            child=f"inner{f}",
            axis=(0, 0, 1),
            origin=at(0, y, z),
            swing=(0.6, 0.4),
            twist=(-0.2, 0.2),
        )
        b.joint(
            f"curl{f}",
            "revolute",
            parent=f"inner{f}",
            child=f"outer{f}",
            axis=(0, 1, 0),
            origin=at(0, 0, 0.05),
            limits=(-0.1, 1.7),
        )
        b.frame(f"tip{f}", link=f"outer{f}", origin=at(0, 0, 0.05))
    model = b.build()

    def room(q: Array) -> Array:
        found = []
        for ball in model.ball_limits:
            swing, twist = ball.parts(q[ball.place : ball.place + 4])
            quarter = np.where(swing < 0.0, *np.transpose(ball.semi_axes))
            found += [1.0 - np.sum((swing / quarter) ** 2), ball.half - abs(float(twist))]
        return np.array(found)

    ours = hand(model)
    path = ours.retarget(HANDS).q
    assert np.min([room(q) for q in path]) > -1e-9
    for f in (4, 9, 14):
        best = least(model, HANDS[f], path[f], path[f - 1], room, "ineq")
        assert ours.objective(HANDS[f], path[f], path[f - 1]) <= best * (1.0 + 1e-3)


def test_a_hand_comes_back_from_where_something_does_not_hold() -> None:
    path = hand(ROUND).retarget(HANDS).q
    near = path[np.argmin(gaps(path).min(axis=1))]
    for f, limits in enumerate(([TIPS_APART], [COUPLED], [TIPS_APART, COUPLED])):
        ours = hand(ROUND, limits=limits, q0=near)
        q = ours.step(HANDS[11])
        back = ours.step(HANDS[12], last=near)
        assert ours.frames_beyond == 0
        for found in (q, back):
            assert f == 1 or gaps(found).min() >= APART
            assert f == 0 or sums(ROUND, found, "bend10", "bend20") <= MOST + 1e-12


@pytest.mark.parametrize("kind", ["vector", "dexpilot"])
def test_nothing_is_broken_in_silence_whatever_the_hand(kind: Any) -> None:
    for seed in range(12):
        rng = np.random.default_rng(seed)
        points = 10.0 ** rng.uniform(-2.0, 1.0) * rng.normal(size=(5, 21, 3))
        ours = pz.hands.HandRetargeter(
            ROUND, LINKS, kind, wrist="palm", alpha=0.5 + 0.5 * (seed % 2), limits=[TIPS_APART, COUPLED],
            q0=ROUND.sample(seed=seed),
        )  # fmt: skip
        path = ours.retarget(points).q
        kept = (gaps(path).min(axis=1) >= APART) & (sums(ROUND, path, "bend10", "bend20") <= MOST + 1e-12)
        assert (~kept).sum() == ours.frames_beyond <= 1
        assert ROUND.within_limits(path)


def test_what_moves_in_the_way_is_left() -> None:
    world = pz.World({"ball": pz.Sphere([0.3, 0.0, 0.1], 0.02)})
    ours = hand(ROUND, limits=[pz.CollisionLimit(world, min_distance=0.005, self_collision=False)])
    q = ours.step(HANDS[0])
    place = ROUND.pose("tip1", q).xyz + np.array([0.015, 0.0, 0.0])
    world.move("ball", at(*place))
    for _ in range(3):
        q = ours.step(HANDS[0])
    assert np.linalg.norm(ROUND.pose("tip1", q).xyz - place) >= 0.02 + RADIUS + 0.005
    assert ours.frames_beyond == 0


def test_what_nothing_keeps_is_told() -> None:
    ours = hand(limits=[pz.LinearLimit({"bend10": 1.0}, -1.0)])
    motion = ours.retarget(HANDS[:4])
    assert motion.notes == ("in 4 of 4 frames not all limits hold, for no step led back",)
    assert ours.frames_beyond == 4
    assert (motion.q >= ROBOT.lower).all()
    assert hand().retarget(HANDS[:4]).notes == ()


def test_a_retargeter_that_was_sent_keeps_the_same() -> None:
    ours = hand(ROUND, limits=[TIPS_APART, COUPLED])
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(ours)).retarget(HANDS[8:14]).q, ours.retarget(HANDS[8:14]).q
    )


@pytest.mark.parametrize(
    ("limits", "code"),
    [
        ([pz.VelocityLimit(1.0)], "no-dt"),
        ([pz.AccelerationLimit(1.0)], "no-dt"),
        ([pz.CollisionLimit()], "no-shapes"),
        ([TIPS_APART, TIPS_APART], "too-many"),
        ([pz.LinearLimit({"bend99": 1.0}, 1.0)], "unknown-name"),
    ],
)
def test_limits_that_cannot_be_kept_are_refused(limits: Any, code: str) -> None:
    with refused(code):
        hand(limits=limits)

"""Descents of a body by its markers and sensors: the least of what is asked, beside SciPy, on every kind of joint."""

import pickle

import numpy as np
import pytest
from scipy.optimize import least_squares, minimize_scalar

import poise as pz
from poise.common.errors import ShapeError
from poise.solving.tracking.marker_descent import MarkerDescent


def body(root: str = "floating") -> pz.Model:
    """A trunk with two arms, of joints that turn, slide, screw, turn as a ball and follow another by a function."""
    b = pz.ModelBuilder("body")
    at = pz.SE3.from_xyz_rpy
    if root == "floating":
        b.joint("root", "floating", parent="world", child="trunk")
    else:
        b.joint("root", "planar", parent="world", child="trunk", axis=[0, 0, 1])
    b.joint("neck", "spherical", parent="trunk", child="head", origin=at([0, 0, 0.5], [0.1, 0, 0]), axis=[0, 0, 1])
    b.joint("shoulder", "revolute", parent="trunk", child="arm", origin=at([0.2, 0, 0.4], [0, 0.3, 0]), axis=[0, 1, 0],
            limits=(-1.0, 1.0))  # fmt: skip
    bend = pz.JointFunction.natural_spline([-2, -1, 0, 1, 2], [0.0, 0.05, 0.02, -0.04, 0.1])
    b.joint("glide", "prismatic", parent="arm", child="sleeve", axis=[1, 0, 0],
            mimic=pz.Mimic(joint="shoulder", function=bend))  # fmt: skip
    b.joint("twist", "helical", parent="sleeve", child="fore", origin=at([0.1, 0, -0.2], [0, 0, 0.4]), axis=[0, 0, 1],
            pitch=0.05)  # fmt: skip
    b.joint("wrist", "revolute", parent="fore", child="hand", origin=at([0, 0, -0.2], [0, 0, 0]), axis=[1, 0, 0],
            mimic=pz.Mimic(joint="shoulder", multiplier=-0.5, offset=0.2))  # fmt: skip
    rng = np.random.default_rng(0)
    for link in ("trunk", "head", "arm", "fore", "hand"):
        for i in range(3):
            turn = pz.SO3.from_rotvec(rng.uniform(-1.0, 1.0, 3))
            b.frame(f"{link}.{i}", link=link, origin=pz.SE3.from_parts(rng.uniform(-0.2, 0.2, 3), turn))
    return b.build()


NAMES = [f"{link}.{i}" for link in ("trunk", "head", "arm", "fore", "hand") for i in range(3)]


def follow(
    descent: MarkerDescent, points: np.ndarray, start: np.ndarray, aims: np.ndarray | None = None, most: int = 200
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    count = len(points)
    every = len(descent.frames) + len(descent.sensors)
    path, places, answers = np.empty((count, descent.model.nq)), np.empty((count, every, 3)), np.empty((count, 2))
    aims = np.zeros((count, len(descent.velocities))) if aims is None else aims
    descent.follow(points, aims, path, places, answers, start, most)
    return path, places, answers[:, 0]


def moved(model: pz.Model, seed: int, far: float) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return model.clip(model.integrate(model.home, rng.uniform(-far, far, model.nv)))


@pytest.mark.parametrize("root", ["floating", "planar"])
def test_it_comes_to_where_markers_are_that_a_body_can_have(root: str) -> None:
    model = body(root)
    descent = MarkerDescent(model, NAMES, np.ones(len(NAMES)), {})
    for seed in range(5):
        points = model.poses(moved(model, seed, 0.5), NAMES).xyz[None]
        path, places, costs = follow(descent, points, model.home)
        assert np.abs(places - points).max() < 1e-7
        assert np.allclose(model.poses(path[0], NAMES).xyz, places[0], atol=1e-12)
        assert costs[0] < 1e-14


def test_of_markers_that_no_body_can_have_it_comes_to_the_least_that_scipy_finds() -> None:
    model = body()
    rng, weights = np.random.default_rng(1), np.linspace(0.2, 3.0, len(NAMES))
    descent = MarkerDescent(model, NAMES, weights, {"shoulder": 0.01, "twist": 0.02})
    velocities = list(descent.velocities)
    aims = np.zeros((1, len(velocities)))
    aims[0, velocities.index(model.velocity_index("twist").start)] = 0.3
    for seed in range(4):
        q = moved(model, seed, 0.4)
        points = (model.poses(q, NAMES).xyz + rng.normal(0.0, 0.02, (len(NAMES), 3)))[None]
        points[0, seed] = np.nan
        seen = ~np.isnan(points[0, :, 0])
        share = np.sqrt(weights[seen] / weights[seen].sum())[:, None]

        def residuals(v: np.ndarray, q=q, points=points, seen=seen, share=share) -> np.ndarray:
            at = model.integrate(q, v)
            pulls = [0.1 * at[model.index("shoulder")][0], np.sqrt(0.02) * (at[model.index("twist")][0] - 0.3)]
            away = share * (model.poses(at, NAMES).xyz[seen] - points[0, seen])
            return np.concatenate([away.ravel(), pulls])

        bounds = np.full((2, model.nv), [[-np.inf], [np.inf]])
        turn = model.velocity_index("shoulder").start
        bounds[:, turn] = np.array([-1.0, 1.0]) - q[model.index("shoulder")][0]
        peer = least_squares(residuals, np.zeros(model.nv), bounds=bounds, xtol=1e-14, ftol=1e-14, gtol=1e-12)
        _, _, costs = follow(descent, points, q, aims)
        assert costs[0] == pytest.approx(peer.cost, rel=1e-9)


def test_limits_hold_and_the_answer_is_the_least_within_them() -> None:
    model = body()
    q = moved(model, 3, 0.3)
    free = model.with_limits({"shoulder": (-3.0, 3.0)})
    q[model.index("shoulder")] = 1.4
    points = free.poses(q, NAMES).xyz[None]
    descent = MarkerDescent(model, NAMES, np.ones(len(NAMES)), {})
    path, _, costs = follow(descent, points, model.home)
    assert path[0, model.index("shoulder")][0] == 1.0
    again, _, other = follow(descent, points, path[0])
    assert other[0] == pytest.approx(costs[0], rel=1e-9)
    assert np.allclose(again, path, atol=1e-6)


def test_a_ball_keeps_its_limits() -> None:
    b = pz.ModelBuilder("bone")
    b.joint("hip", "spherical", parent="base", child="leg", axis=[0, 0, 1], swing=0.5, twist=(-0.2, 0.2))
    for i, place in enumerate([[0, 0, 1], [0.2, 0, 0.5], [0, 0.3, 0.2]]):
        b.frame(f"m{i}", link="leg", origin=pz.SE3.from_parts(place))
    model = b.build()
    wide = pz.SO3.from_rotvec([1.0, 0.0, 0.0])
    points = np.array([[wide.act(model.frame(f"m{i}").origin.xyz) for i in range(3)]])
    descent = MarkerDescent(model, ["m0", "m1", "m2"], np.ones(3), {})
    path, places, _ = follow(descent, points, model.home)
    assert np.allclose(model.clip(path[0]), path[0], atol=1e-9)
    bone = places[0, 0]
    assert np.arccos(bone[2]) == pytest.approx(0.5, abs=1e-6)
    assert bone[1] < -0.4  # towards where it should be


def test_where_nothing_is_seen_it_stays() -> None:
    model = body()
    descent, q = MarkerDescent(model, NAMES, np.ones(len(NAMES)), {}), moved(model, 2, 0.3)
    points = np.full((2, len(NAMES), 3), np.nan)
    path, _, costs = follow(descent, points, q)
    assert np.array_equal(path, [q, q])
    assert np.array_equal(costs, [0, 0])


def test_places_far_from_the_origin_lose_nothing() -> None:
    model = body()
    q = moved(model, 4, 0.3)
    q[:3] += [3e4, -2e4, 1e4]
    points = model.poses(q, NAMES).xyz[None]
    start = q.copy()
    start[model.index("shoulder")] += 0.3
    start[:3] += 0.4
    _, places, _ = follow(MarkerDescent(model, NAMES, np.ones(len(NAMES)), {}), points, start)
    assert np.abs(places - points).max() < 1e-7


def test_frames_in_one_call_are_those_of_a_call_each() -> None:
    model = body()
    ways = np.stack([moved(model, 5, 0.02 * k) for k in range(8)])
    points = model.poses(ways, NAMES).xyz
    one, other = (MarkerDescent(model, NAMES, np.ones(len(NAMES)), {}) for _ in range(2))
    path, places, costs = follow(one, points, model.home)
    nq, aims = model.nq, np.zeros((1, len(one.velocities)))
    for k, some in enumerate(points):
        there = np.empty((1, nq)), np.empty((1, len(NAMES), 3)), np.empty((1, 2))
        other.follow(np.ascontiguousarray(some[None]), aims, *there, model.home if k == 0 else None)
        for mine, theirs in zip((*there[:2], there[2][:, 0]), (path, places, costs), strict=True):
            assert np.array_equal(mine[0], theirs[k])
    assert one.iterations < 8 * 8


def test_a_copy_and_a_fresh_one_begin_without_a_past() -> None:
    model = body()
    descent = MarkerDescent(model, NAMES, np.ones(len(NAMES)), {"shoulder": 1e-3})
    points = model.poses(moved(model, 6, 0.3), NAMES).xyz[None]
    first = follow(descent, points, model.home)
    for other in (pickle.loads(pickle.dumps(descent)), descent.fresh()):
        for mine, theirs in zip(follow(other, points, model.home), first, strict=True):
            assert np.array_equal(mine, theirs)


def test_with_a_loop_it_comes_to_the_least_of_closed_configurations() -> None:
    b = pz.ModelBuilder("four bars")
    b.joint("crank", "revolute", parent="base", child="one", axis=[0, 0, 1])
    b.joint("pin", "revolute", parent="one", child="two", origin=pz.SE3.from_parts([0.3, 0, 0]), axis=[0, 0, 1])
    b.joint("rocker", "revolute", parent="base", child="three", origin=pz.SE3.from_parts([0.6, 0, 0]), axis=[0, 0, 1])
    b.frame("end", link="two", origin=pz.SE3.from_parts([0.7, 0, 0]))
    b.frame("top", link="three", origin=pz.SE3.from_parts([0, 0.5, 0]))
    for name, link, place in (("m1", "one", [0.2, 0.1, 0]), ("m2", "two", [0.3, 0.1, 0]), ("m3", "three", [0, 0.3, 0])):
        b.frame(name, link=link, origin=pz.SE3.from_parts(place))
    b.loop("end", "top")
    model, names = b.build(), ("m1", "m2", "m3")
    q = model.close({"crank": 1.0}, actuated=["crank"]).q
    descent = MarkerDescent(model, names, np.ones(3), {})
    for seed in range(4):
        points = model.poses(q, names).xyz + np.random.default_rng(seed).normal(0.0, 0.05, (3, 3))

        def cost(at: float, points=points) -> float:
            closed = model.close({"crank": at}, actuated=["crank"], q0=q).q
            return float(0.5 * ((model.poses(closed, names).xyz - points) ** 2).sum() / 3)

        path, _, costs = follow(descent, points[None], q + 0.05)
        end, top = model.poses(path[0], ["end", "top"]).xyz
        assert np.abs(end - top).max() < 1e-9
        peer = minimize_scalar(cost, bounds=(0.5, 1.5), method="bounded", options={"xatol": 1e-9})
        assert costs[0] == pytest.approx(peer.fun, rel=1e-7)
    assert pickle.loads(pickle.dumps(descent)).iterations == descent.iterations


# Sensors of orientation ---------------------------------------------------------------------------------------------

SENSORS = ("trunk.1", "head.0", "fore.2", "hand.1")


def turned(model: pz.Model, q: np.ndarray, off: np.ndarray) -> pz.SO3:
    """The rotations of the sensors at q, each turned by a rotation vector of `off` (4, 3)."""
    return pz.SO3.from_rotvec(off) @ model.poses(q, SENSORS).rotation


def numbers(points: np.ndarray, rotations: pz.SO3) -> np.ndarray:
    """(1, width) goals of a descent."""
    return np.concatenate([points.ravel(), rotations.matrix().ravel()])[None]


@pytest.mark.parametrize("far", [0.0, 0.3, 1.5])
def test_of_sensors_and_markers_it_comes_to_the_least_that_scipy_finds(far: float) -> None:
    model, some = body(), NAMES[:2]
    rng, weights = np.random.default_rng(2), np.array([2.0, 0.5, 0.01, 0.03, 0.02, 0.05])
    descent = MarkerDescent(model, some, weights, {"shoulder": 1e-3}, SENSORS)
    for seed in range(3):
        q = moved(model, seed, 0.4)
        points = model.poses(q, some).xyz + rng.normal(0.0, 0.02, (2, 3))
        rotations = turned(model, q, rng.uniform(-far, far, (4, 3)))
        share = np.sqrt(weights / weights.sum())[:, None]

        def residuals(v: np.ndarray, q=q, points=points, rotations=rotations, share=share) -> np.ndarray:
            at = model.integrate(q, v)
            off = (model.poses(at, SENSORS).rotation @ rotations.inverse()).log()
            away = share * np.concatenate([model.poses(at, some).xyz - points, off])
            return np.append(away.ravel(), np.sqrt(1e-3) * at[model.index("shoulder")][0])

        bounds = np.full((2, model.nv), [[-np.inf], [np.inf]])
        turn = model.velocity_index("shoulder").start
        bounds[:, turn] = np.array([-1.0, 1.0]) - q[model.index("shoulder")][0]
        path, found, costs = follow(descent, numbers(points, rotations), q)
        assert costs[0] == pytest.approx(
            0.5 * (residuals(np.zeros(model.nv), q=path[0]) ** 2).sum(), rel=1e-9, abs=1e-16
        )
        off = (model.poses(path[0], SENSORS).rotation @ rotations.inverse()).log()
        assert np.allclose(found[0, 2:], off, atol=1e-8)
        peer = least_squares(residuals, np.zeros(model.nv), bounds=bounds, xtol=1e-14, ftol=1e-14, gtol=1e-12)
        assert costs[0] <= peer.cost * (1 + 1e-7) + 1e-14


def test_orientations_alone_leave_what_slides_where_it_is() -> None:
    model = body()
    q = moved(model, 7, 0.4)
    descent = MarkerDescent(model, (), np.ones(4), {}, SENSORS)
    path, found, costs = follow(descent, numbers(np.empty(0), turned(model, q, np.zeros((4, 3)))), model.home)
    assert costs[0] < 1e-14
    assert np.abs(found).max() < 1e-6
    assert np.array_equal(path[0, :3], model.home[:3])
    assert descent.iterations < 12


def test_newtons_steps_are_few_where_sensors_contradict() -> None:
    model, rng = body(), np.random.default_rng(3)
    descent = MarkerDescent(model, (), np.ones(4), {}, SENSORS)
    steps = []
    for seed in range(5):
        q = moved(model, seed, 0.3)
        goals = numbers(np.empty(0), turned(model, q, rng.uniform(-0.5, 0.5, (4, 3))))
        follow(descent, goals, q)
        steps.append(descent.iterations)
    assert max(steps) <= 8


def test_a_sensor_that_was_not_measured_says_nothing() -> None:
    model = body()
    q = moved(model, 8, 0.3)
    rotations = turned(model, q, np.zeros((4, 3))).matrix()
    gone = rotations.copy()
    gone[2] = np.nan
    whole, less = (
        MarkerDescent(model, (), np.ones(4), {}, SENSORS),
        MarkerDescent(model, (), np.ones(3), {}, [name for k, name in enumerate(SENSORS) if k != 2]),
    )
    _, found, costs = follow(whole, gone.reshape(1, -1), model.home)
    _, _, others = follow(less, rotations[[0, 1, 3]].reshape(1, -1), model.home)
    assert costs[0] == pytest.approx(others[0], abs=1e-15)
    assert not found[0, 2].any()


def test_room_of_another_shape_is_refused() -> None:
    model = body()
    descent, path = MarkerDescent(model, NAMES, np.ones(len(NAMES)), {}), np.empty((2, model.nq))
    points, aims = np.zeros((2, 3 * len(NAMES))), np.zeros((2, len(descent.velocities)))
    with pytest.raises(ShapeError, match=r"the shape \(2, 2\) is needed"):
        descent.follow(points, aims, path, np.empty((2, len(NAMES), 3)), np.empty(2), model.home)

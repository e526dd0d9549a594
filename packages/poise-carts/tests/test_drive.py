"""Ways of base and arm: reached, free, without slip, within the wheels, and as short as they can be."""

from itertools import product

import numpy as np
import pytest
from rooms import CAR, DIFFERENTIAL, MECANUM, OMNI, TRICYCLE, room, rover
from scipy.integrate import cumulative_trapezoid

import poise as pz
from poise.extending import Array
from poise_carts import Cart, drive
from poise_carts.arcs import moved, seen_from
from poise_carts.words import shortest

KEPT = 0.02


def begin(x: float, y: float, turn: float) -> Array:
    q = rover().home.copy()
    q[:3] = x, y, turn
    return q


def check(cart: Cart, path: pz.JointPath, world: pz.World | None) -> None:
    """That it is followed, free, on arcs, and no wheel is too fast."""
    assert path.success, path.explain()
    at = path.at(np.linspace(0.0, path.duration, 4000))
    if world is not None:
        assert path.model.distance(at.q, world).distance.min() >= KEPT - 1e-5
    assert np.abs(cart.rates(cart.twist(path.model, at.q, at.velocity))).max() <= 10.0 * (1.0 + 1e-3)
    if not cart.sideways:
        # A row is seen from the one before it where an arc through both leads.
        forwards, left, turn = seen_from(path.q[:-1, :3], path.q[1:, :3]).T
        assert np.abs(left * np.cos(0.5 * turn) - forwards * np.sin(0.5 * turn)).max() < 1e-9
        assert (np.abs(turn) / cart.curvature <= np.hypot(forwards, left) * (1.0 + 1e-4) + 1e-9).all()
        # And the chord leaves the arc by its length times its turn over 8.
        assert (np.hypot(forwards, left) * np.abs(turn) / 8.0).max() <= 1e-6 * (1.0 + 1e-6)


@pytest.mark.parametrize("cart", [CAR, DIFFERENTIAL, TRICYCLE, OMNI, MECANUM])
def test_a_hand_reaches_over_a_table(cart: Cart) -> None:
    world = room()
    limits = [pz.CollisionLimit(world, min_distance=KEPT)]
    path = drive(cart, rover(), pz.PositionTask("hand", [7.6, 5.0, 0.9]), q0=begin(1.0, 2.0, 0.3), limits=limits)
    check(cart, path, world)
    assert path.model.pose("hand", path.q[-1]).xyz == pytest.approx([7.6, 5.0, 0.9], abs=1e-5)
    assert np.array_equal(path.q[0], begin(1.0, 2.0, 0.3))


def test_what_joints_give_is_kept_on_the_way_and_where_it_ends() -> None:
    """One list of limits serves the search for its end, at rest, and its times."""
    loaded, most = rover().with_payload(3.0, link="hand"), {"lift": 30.0, "shoulder": 2.0, "elbow": 1.5}
    given = {"q0": begin(1.0, 2.0, 0.3), "acceleration": 2.0}
    there = pz.PositionTask("hand", [3.0, 1.0, 0.9])
    path = drive(CAR, loaded, there, limits=[pz.TorqueLimit(most)], **given)
    check(CAR, path, None)
    torques = loaded.inverse_dynamics(*path.at(np.linspace(0.0, path.duration, 3000)))
    for name, limit in most.items():
        assert np.abs(torques[:, loaded.velocity_index(name)]).max() <= limit
    assert path.duration > 1.05 * drive(CAR, loaded, there, **given).duration
    weak = drive(CAR, loaded, there, limits=[pz.TorqueLimit({"lift": 29.0})], **given)
    assert not weak.success  # the load alone weighs 29.43 N
    assert "lift gives 29.43 of 29 N" in weak.explain()


@pytest.mark.parametrize("cusps", [True, False])
def test_where_nothing_is_in_the_way_it_is_the_shortest(cusps: bool) -> None:
    for turn in (-2.0, 0.5, 3.0):
        end = np.array([0.6, 1.1, turn])
        target = pz.SE3.from_xyz_rpy([*end[:2], 0.0], [0.0, 0.0, turn])
        path = drive(CAR, rover(), pz.PoseTask("body", target), cusps=cusps)
        check(CAR, path, None)
        lengths, _ = shortest(end[None] * [CAR.curvature, CAR.curvature, 1.0], cusps=cusps)
        gone = np.linalg.norm(np.diff(path.q[:, :2], axis=0), axis=1).sum()
        assert gone == pytest.approx(np.abs(lengths).sum() / CAR.curvature, abs=1e-4)
        forwards = seen_from(path.q[:-1, :3], path.q[1:, :3])[:, 0]
        assert cusps or (forwards >= 0.0).all()


@pytest.mark.parametrize("cart", [CAR, DIFFERENTIAL])
def test_with_accelerations_what_is_integrated_is_where_it_is(cart: Cart) -> None:
    target = pz.SE3.from_xyz_rpy([0.5, 1.5, 0.0], [0.0, 0.0, 2.0])
    path = drive(cart, rover(), pz.PoseTask("body", target), acceleration=2.0)
    t = np.linspace(0.0, path.duration, 40_001)
    at = path.at(t)
    forwards, sideways, turning = cart.twist(path.model, at.q, at.velocity).T
    assert np.abs(sideways).max() < 1e-6
    turn = at.q[0, 2] + cumulative_trapezoid(turning, t, initial=0.0)
    x, y = (
        at.q[0, k] + cumulative_trapezoid(forwards * part, t, initial=0.0)
        for k, part in enumerate((np.cos(turn), np.sin(turn)))
    )
    assert np.abs(np.stack([x, y, turn], axis=1) - at.q[:, :3]).max() < 2e-6
    assert np.abs(at.acceleration).max() <= 2.0 * (1.0 + 1e-6)


def test_no_wheel_slips_on_arcs_of_millimetres() -> None:
    for length in (1e-4, 1e-3, 3e-3, 1e-2):
        x, y, turn = moved(np.zeros(3), [length], [1.5 * length])
        path = drive(
            CAR, rover(), pz.PoseTask("body", pz.SE3.from_xyz_rpy([x, y, 0.0], [0.0, 0.0, turn])), acceleration=2.0
        )
        at = path.at(np.linspace(0.0, path.duration, 1000))
        assert path.success
        assert np.abs(CAR.twist(path.model, at.q, at.velocity)[:, 1]).max() < 1e-6


def test_a_car_gets_out_of_a_corner_where_no_arc_of_40_mm_is_free() -> None:
    world, start = room(), begin(0.6250647557933742, 7.719200495348469, -2.6720762082509166)
    on = np.tile(start, (20, 1))
    for length, turn in product((-0.04, 0.04), (-CAR.curvature, 0.0, CAR.curvature)):
        lengths = np.linspace(0.0, length, 20)[:, None]
        on[:, :3] = moved(start[:3], lengths, turn * lengths)
        assert rover().distance(on, world).distance.min() < KEPT
    limits = [pz.CollisionLimit(world, min_distance=KEPT)]
    path = drive(CAR, rover(), pz.PositionTask("hand", [2.0, 6.5, 0.7]), q0=start, limits=limits)
    check(CAR, path, world)


def test_a_car_turns_into_an_aisle_that_is_as_narrow_as_the_one_it_is_in() -> None:
    def shelf(x: float, y: float, size_x: float, size_y: float) -> pz.Box:
        return pz.Box(pz.SE3.from_parts([x, y, 0.5]), (size_x, size_y, 1.0))

    b = pz.ModelBuilder("lorry")
    b.joint("base", "planar", parent="world", child="body")
    b.shape("body", pz.Box(pz.SE3.from_parts([0.25, 0.0, 0.2]), (0.9, 0.62, 0.3)))
    car = Cart.ackermann(wheelbase=0.6, track=0.5, radius=0.1, speed=10.0, steer=np.arctan(0.6 / 0.5))
    aisles = pz.World({
        "far": shelf(2.0, 0.65, 8.0, 0.2), "near": shelf(-0.55, -2.05, 3.0, 3.0), "next": shelf(4.55, -2.05, 5.0, 3.0),
        "end": shelf(6.2, 0.0, 0.2, 1.5),
    })  # fmt: skip
    place = pz.SE3.from_xyz_rpy([1.5, -2.5, 0.0], [0.0, 0.0, -0.5 * np.pi])
    limits = [pz.CollisionLimit(aisles, min_distance=KEPT)]
    path = drive(car, b.build(), pz.PoseTask("body", place), q0=[-1.0, 0.0, 0.0], limits=limits, seed=3)
    check(car, path, aisles)
    assert np.linalg.norm(np.diff(path.q[:, :2], axis=0), axis=1).sum() < 5.0  # of three ways one is as short as 4.6 m


def test_without_cusps_a_car_goes_forwards_alone_among_things_too() -> None:
    limits = [pz.CollisionLimit(room(), min_distance=KEPT)]
    task = pz.PositionTask("hand", [8.6, 2.2, 0.9])
    path = drive(CAR, rover(), task, q0=begin(1.0, 2.0, 0.3), limits=limits, cusps=False)
    check(CAR, path, room())
    assert (seen_from(path.q[:-1, :3], path.q[1:, :3])[:, 0] >= 0.0).all()


def test_the_same_seed_gives_the_same_way() -> None:
    limits = [pz.CollisionLimit(room(), min_distance=KEPT)]
    task = pz.PositionTask("hand", [8.6, 2.2, 0.9])
    one, other = (drive(DIFFERENTIAL, rover(), task, q0=begin(6.2, 2.2, 0.0), limits=limits) for _ in range(2))
    assert one.success
    assert np.array_equal(one.q, other.q)


def test_what_cannot_be_driven_is_told() -> None:
    limits = [pz.CollisionLimit(room(), min_distance=KEPT)]
    high = drive(CAR, rover(), pz.PositionTask("hand", [7.0, 6.5, 3.0]), q0=begin(8.5, 1.0, 1.5), limits=limits)
    assert high.status is not pz.Status.CONVERGED
    assert len(high.q) == 2
    inside = drive(CAR, rover(), pz.PositionTask("hand", [7.0, 6.5, 0.8]), q0=begin(3.0, 0.4, 0.0), limits=limits)
    assert inside.status is pz.Status.COLLISION
    assert "cannot begin at q0" in inside.explain()
    shut = pz.World({
        name: pz.Box(pz.SE3.from_parts([x, y, 0.5]), (0.2, 3.0, 1.0) if x else (3.0, 0.2, 1.0))
        for name, x, y in (("east", 1.4, 0.0), ("west", -1.4, 0.0), ("north", 0.0, 1.4), ("south", 0.0, -1.4))
    })  # fmt: skip
    kept = [pz.CollisionLimit(shut, min_distance=KEPT)]
    away = pz.SE3.from_parts([5.0, 0.0, 0.0])
    caught = drive(DIFFERENTIAL, rover(), pz.PoseTask("body", away), limits=kept, max_time=2.0)
    assert caught.status in (pz.Status.COLLISION, pz.Status.BUDGET)
    assert "no way of the cart" in caught.explain()
    with pytest.raises(pz.InvalidValue, match="q0"):
        drive(CAR, rover(), pz.PositionTask("hand", [1.0, 0.0, 0.5]), q0=begin(0.0, 0.0, 0.0) + np.eye(7)[3])
    with pytest.raises(pz.InvalidValue, match="limits=False"):
        drive(CAR, rover(), pz.PositionTask("hand", [1.0, 0.0, 0.5]), limits=False)


def test_targets_of_several_tasks_may_be_rotations() -> None:
    tasks = [pz.PositionTask("hand", [2.0, 0.0, 0.8]), pz.OrientationTask("body", pz.SO3(wxyz=[1.0, 0.0, 0.0, 0.0]))]
    path = drive(CAR, rover(), tasks)
    check(CAR, path, None)
    assert path.q[-1, 2] == pytest.approx(0.0, abs=1e-6)


def test_a_base_keeps_its_own_limits_on_arcs() -> None:
    b = pz.ModelBuilder("fenced")
    b.joint("base", "planar", parent="world", child="body", limits=([-1.0, -1.0, -10.0], [0.3, 1.0, 10.0]))
    path = drive(
        CAR, b.build(), pz.PoseTask("body", pz.SE3.from_xyz_rpy([0.0, 0.9, 0.0], [0.0, 0.0, 3.1])), max_time=9.0
    )
    check(CAR, path, None)  # the shortest way leads out of the fence
    assert path.q[:, 0].max() <= 0.3


def test_what_is_no_drive_is_refused_in_words() -> None:
    with pytest.raises(TypeError, match="cart must be a Cart"):
        drive(rover(), CAR, pz.PositionTask("hand", [1.0, 0.0, 0.5]))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="load it first"):
        drive(CAR, "panda", pz.PositionTask("hand", [1.0, 0.0, 0.5]))  # type: ignore[arg-type]
    with pytest.raises(pz.InvalidValue, match="has no target"):
        drive(CAR, rover(), pz.PositionTask("hand"))
    with pytest.raises(pz.InvalidValue, match="tasks is empty"):
        drive(CAR, rover(), [])
    with pytest.raises(TypeError, match="wheels must be Wheel"):
        Cart(("left", "right"))  # type: ignore[arg-type]
    with pytest.raises(pz.ShapeError, match="twist"):
        CAR.rates([1.0, 0.0])
    millimetres = drive(CAR, rover(), pz.PositionTask("hand", [40_000.0, 0.0, 0.8]))
    assert millimetres.status is pz.Status.LIMIT
    assert "in metres" in millimetres.explain()

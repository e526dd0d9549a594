"""Tasks of how joints move in a step: a cost on their motion, velocities that are asked for, the gain of a task."""

import pickle
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from support.refusals import refused

import poise as pz

Array = npt.NDArray[np.float64]
PANDA = pz.load("panda")
HOME = np.array(PANDA.home)
HERE = PANDA.pose("panda_hand", HOME)
HAND = pz.PoseTask("panda_hand")
PLACE = pz.PositionTask("panda_hand")
DT = 0.01
HEEDING = [name for name, kind in pz.methods.METHODS.items() if kind.capabilities.gain]
SLOW: Any = {"dt": DT, "limits": [pz.VelocityLimit(50.0)]}


def beside(*xyz: float) -> pz.SE3:
    return pz.SE3.from_parts(HERE.xyz + np.array(xyz), HERE.rotation)


# Gain -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", HEEDING)
def test_a_gain_asks_for_that_share_of_the_way_under_every_method(method: str) -> None:
    limits = pz.methods.METHODS[method].capabilities.limits
    for seed in range(3):
        q = PANDA.sample(seed=seed)
        here = PANDA.pose("panda_hand", q).xyz
        way = np.array([0.02, -0.01, 0.015])
        some = pz.Tracker(PANDA, pz.PositionTask("panda_hand", gain=0.3), method, limits=limits).step(q, here + way)
        near = pz.Tracker(PANDA, PLACE, method, limits=limits).step(q, here + 0.3 * way)
        assert some == pytest.approx(near, abs=1e-12)
        assert np.abs(near - q).max() > 1e-4


def test_what_is_left_falls_by_the_gain_in_each_step() -> None:
    loop = pz.Tracker(PANDA, pz.PoseTask("panda_hand", gain=0.2), "pinv")
    goal = pz.SE3.from_parts(
        HERE.xyz + np.array([0.002, 0.001, -0.001]), HERE.rotation @ pz.SO3.from_rpy([0.002, 0, 0.001])
    )
    q = loop.step(HOME, goal)
    for _ in range(20):
        before = loop.errors[0]
        q = loop.step(q)
        assert loop.errors[0].position == pytest.approx(0.8 * before.position, rel=1e-2)  # type: ignore[operator]
        assert loop.errors[0].rotation == pytest.approx(0.8 * before.rotation, rel=1e-2)  # type: ignore[operator]


def test_each_task_has_its_own_gain_and_0_holds_what_there_is() -> None:
    held = pz.OrientationTask("panda_hand", gain=0.0)
    loop = pz.Tracker(PANDA, [PLACE, held], "pinv")
    away = HERE.rotation @ pz.SO3.from_rpy([0.5, 0.0, 0.0])
    q = HOME
    for _ in range(50):
        q = loop.step(q, [HERE.xyz + np.array([0.02, 0.02, 0.0]), away])
    assert loop.errors[0].position < 1e-6  # type: ignore[operator]
    assert loop.errors[1].rotation == pytest.approx(0.5, abs=5e-3)


def test_a_gain_of_1_changes_no_bit_and_no_solve_heeds_one() -> None:
    plain, one = pz.Tracker(PANDA, HAND, dt=DT), pz.Tracker(PANDA, pz.PoseTask("panda_hand", gain=1), dt=DT)
    q = HOME
    for tick in range(50):
        after = plain.step(q, beside(0.0, 0.004 * tick, 0.0))
        assert np.array_equal(one.step(q, beside(0.0, 0.004 * tick, 0.0)), after)
        q = after
    for method in (None, "dls"):
        whole = pz.solve(PANDA, pz.PoseTask("panda_hand", beside(0.1, 0.1, 0.0)), method=method)
        assert np.array_equal(
            pz.solve(PANDA, pz.PoseTask("panda_hand", beside(0.1, 0.1, 0.0), gain=0.1), method=method).q, whole.q
        )


def test_eight_characters_have_the_gain_of_one() -> None:
    loop = pz.Tracker(PANDA, pz.PositionTask("panda_hand", gain=0.3))
    starts = PANDA.sample(9, seed=1)
    goals = np.repeat(PANDA.pose("panda_hand", PANDA.sample(9, seed=2)).xyz[:, None, None], 20, axis=1)
    many = loop.rollout(starts, goals)
    for start, goal, path in zip(starts, goals, many, strict=True):
        assert path == pytest.approx(loop.rollout(start, goal), abs=1e-9)


def test_a_method_that_goes_all_the_way_refuses_a_gain() -> None:
    with pytest.raises(
        ValueError, match=r"the method 'ccd' goes all the way to a target, and .* has gain=0.5: leave it"
    ):
        pz.Tracker(PANDA, pz.PoseTask("panda_hand", gain=0.5), "ccd")
    for gain in (-0.1, 1.1, np.nan):
        with pytest.raises(ValueError, match="gain is"):
            pz.PoseTask("panda_hand", gain=gain)


# A cost on motion -----------------------------------------------------------------------------------------------------


def test_damped_joints_cost_their_motion() -> None:
    """The step is least squares of the error and of what each joint moves, by its weight."""
    weights = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7])
    method = pz.methods.DampedLeastSquares(damping=0.05, max_error=None, max_step=np.inf)
    loop = pz.Tracker(PANDA, [HAND, pz.DampingTask(weight=weights)], method, **SLOW)
    solver = pz.Solver(PANDA, HAND)
    for seed in range(5):
        q = 0.5 * (HOME + PANDA.sample(seed=seed))
        goal = pz.SE3.from_parts(
            PANDA.pose("panda_hand", q).xyz + np.array([0.01, 0.01, 0.0]), PANDA.pose("panda_hand", q).rotation
        )
        e, jacobian = solver.linearise(q, goal)
        matrix = jacobian.T @ jacobian + np.diag(weights**2)
        # In the dual, whose rows are those of both tasks, as the method has it: lambda^2 for each row.
        rows = np.vstack([jacobian, np.diag(weights)])
        step = rows.T @ np.linalg.solve(rows @ rows.T + 0.05**2 * np.eye(13), np.concatenate([e, np.zeros(7)]))
        assert loop.step(q, [goal, None]) - q == pytest.approx(step, abs=1e-9)
        assert step == pytest.approx(np.linalg.solve(matrix, jacobian.T @ e), abs=2e-3)


def test_costs_are_weighed_against_the_tasks_of_their_level() -> None:
    def way(factor: float) -> list[Any]:
        tasks = [
            pz.PoseTask("panda_hand", position_weight=factor, rotation_weight=0.3 * factor),
            pz.DampingTask(weight=np.linspace(0.1, 2.0, 7) * factor),
            pz.JointVelocityTask(["panda_joint1"], weight=0.2 * factor),
        ]
        loop, path = pz.Tracker(PANDA, tasks, dt=DT), [HOME]
        for _ in range(50):
            path.append(loop.step(path[-1], [beside(0.1, 0.0, 0.1), None, 0.3]))
        return path

    expected = way(1.0)
    for factor in (200.0, 1e-3):
        np.testing.assert_allclose(way(factor), expected, atol=1e-12)


@pytest.mark.parametrize("method", ["dls", "qp", "priority"])
def test_a_heavy_base_stays_where_the_arm_can_reach(method: str) -> None:
    mobile = pz.load("example-robot-data/panda", base="planar")
    base = mobile.joints[0].name
    hand = mobile.pose("panda_hand", mobile.home)
    goal = pz.SE3.from_parts(hand.xyz + np.array([0.1, 0.15, -0.1]), hand.rotation)
    way = {}
    for heavy in (False, True):
        tasks = [HAND, *([pz.DampingTask([base], weight=30.0)] if heavy else [])]
        loop = pz.Tracker(mobile, tasks, method, dt=DT)
        q = mobile.home
        for _ in range(300):
            q = loop.step(q, [goal, None] if heavy else goal)
        assert loop.errors[0].position < 1e-3  # type: ignore[operator]
        way[heavy] = np.linalg.norm(q[mobile.index(base)][:2])
    assert way[True] < 0.02 * way[False]


def test_a_cost_of_a_later_level_takes_nothing_from_the_task() -> None:
    bare = pz.Tracker(PANDA, PLACE, "priority", dt=DT)
    later = pz.Tracker(PANDA, [PLACE, pz.DampingTask(weight=5.0, priority=1)], "priority", dt=DT)
    goal = HERE.xyz + np.array([0.002, 0.003, 0.001])
    bare.step(HOME, goal)
    later.step(HOME, [goal, None])
    assert later.errors[0].position == pytest.approx(bare.errors[0].position, abs=1e-6)


# Velocities -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("updates", [1, 3])
def test_joints_move_as_fast_as_they_are_asked_to(updates: int) -> None:
    wanted = np.array([0.1, -0.2, 0.3, 0.2, -0.1, 0.05, 0.4])
    loop = pz.Tracker(PANDA, pz.JointVelocityTask(), "pinv", dt=DT, updates=updates)
    q = HOME
    for _ in range(20):
        q = loop.step(q, wanted)
        assert loop.velocity == pytest.approx(wanted, abs=1e-9)
    assert np.array_equal(loop.step(q, np.zeros(7)), q)
    assert loop.step(q, [2.0 * wanted]) - q == pytest.approx(2.0 * wanted * DT, abs=1e-9)


def test_velocities_begin_at_rest_and_keep_the_limits() -> None:
    loop = pz.Tracker(PANDA, pz.JointVelocityTask(), "qp", dt=DT, limits=[pz.AccelerationLimit(5.0)])
    assert np.array_equal(loop.step(HOME), HOME)
    last, q = np.zeros(7), HOME
    for _ in range(200):
        q = loop.step(q, np.full(7, 10.0))
        assert (np.abs(loop.velocity) <= PANDA.velocity + 1e-9).all()
        assert np.abs(loop.velocity - last).max() <= 5.0 * DT * (1 + 1e-9)
        assert PANDA.within_limits(q)
        last = loop.velocity
    assert q == pytest.approx(PANDA.upper, abs=1e-9)


@pytest.mark.parametrize("jerk", [[], [pz.JerkLimit(300.0)]])
@pytest.mark.parametrize("method", ["dls", "priority"])
def test_a_velocity_that_stays_is_reached_within_accelerations_and_jerks(method: str, jerk: list[Any]) -> None:
    limits = [pz.AccelerationLimit(5.0), *jerk]
    alone = pz.Tracker(PANDA, pz.JointVelocityTask(["panda_joint1"]), method, dt=0.002, limits=limits)
    swing = pz.Tracker(
        PANDA, [HAND, pz.JointVelocityTask(["panda_joint1"], priority=1)], "priority", dt=0.002, limits=limits
    )
    for loop, target in ((alone, [[0.5]]), (swing, [HERE, [0.5]])):
        q = HOME
        for _ in range(300):
            q = loop.step(q, target)
        assert loop.velocity[0] == pytest.approx(0.5, rel=0.01)
        rest = [*target[:-1], [0.0]]
        for _ in range(300):
            q = loop.step(q, rest)
        assert np.abs(loop.velocity).max() < 1e-6


def test_an_elbow_swings_while_the_hand_stays() -> None:
    loop = pz.Tracker(PANDA, [HAND, pz.JointVelocityTask(["panda_joint1"], priority=1)], dt=DT)
    q = HOME
    for _ in range(50):
        q = loop.step(q, [HERE, 0.3])
        assert loop.errors[0].position < 1e-5  # type: ignore[operator]
        assert loop.velocity[0] == pytest.approx(0.3, rel=0.05)
    assert "JointVelocityTask('panda_joint1') is of motions" in loop.explain()


def test_balls_and_free_bases_have_velocities_too() -> None:
    b = pz.ModelBuilder("buoy")
    b.joint("base", "floating", parent="world", child="hull")
    b.joint("neck", "spherical", parent="hull", child="mast")
    b.frame("light", link="mast", origin=pz.SE3.from_parts([0, 0, 1.0]))
    buoy = b.build()
    for joint, wanted in (("base", [0.1, 0.2, -0.1, 0.3, 0.1, -0.2]), ("neck", [0.2, -0.1, 0.3])):
        loop = pz.Tracker(buoy, pz.JointVelocityTask([joint]), "pinv", dt=DT)
        q = buoy.home
        for _ in range(10):
            q = loop.step(q, wanted)
            expected = np.zeros(9)
            expected[buoy.velocity_index(joint)] = wanted
            assert loop.velocity == pytest.approx(expected, abs=1e-9)


def test_a_tracker_of_velocities_is_pickled_and_rolled_out() -> None:
    loop = pz.Tracker(PANDA, [PLACE, pz.DampingTask(weight=0.5)], dt=DT)
    twin = pickle.loads(pickle.dumps(loop))
    goal = HERE.xyz + np.array([0.02, 0.0, 0.0])
    assert np.array_equal(loop.step(HOME, [goal, None]), twin.step(HOME, [goal, None]))
    numbers = np.zeros((5, 2, 7))
    numbers[:, 0, :3], numbers[:, :, 3] = goal, 1.0
    path = loop.rollout(HOME, numbers)
    eight = loop.rollout(np.tile(HOME, (8, 1)), np.tile(numbers, (8, 1, 1, 1)))
    assert np.abs(eight - path).max() < 1e-12


@pytest.mark.parametrize(
    "task", [pz.DampingTask(), pz.JointVelocityTask(target=np.zeros(7)), pz.RollingTask("panda_hand", radius=0.1)]
)
def test_a_solve_refuses_what_is_of_motions(task: pz.Task) -> None:
    goal = pz.PoseTask("panda_hand", HERE)
    for call in (
        lambda: pz.solve(PANDA, [goal, task]),
        lambda: pz.Solver(PANDA, [goal, task]),
        lambda: pz.Solver(PANDA, [goal, task], method="dls"),
        lambda: pz.solve_batch(PANDA, [pz.PoseTask("panda_hand"), task], [HERE.array[None], None]),
    ):
        with pytest.raises(
            ValueError, match="is of how joints move in a step, and here are none: give it to a Tracker"
        ):
            call()  # type: ignore[no-untyped-call]


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(ValueError, match=r"DampingTask\(\) is about velocities, .* give the Tracker dt"):
        pz.Tracker(PANDA, [HAND, pz.DampingTask()])
    with pytest.raises(pz.JointNotFound, match="elbow"):
        pz.Tracker(PANDA, [HAND, pz.DampingTask(["elbow"])], dt=DT)
    with refused("nothing-moves", "'panda_joint8'"):
        pz.Tracker(PANDA, [HAND, pz.DampingTask(["panda_joint8"])], dt=DT)
    with pytest.raises(pz.ShapeError, match="must be one number or 7, one a velocity, got 3"):
        pz.Tracker(PANDA, [HAND, pz.DampingTask(weight=(1, 2, 3))], dt=DT)
    with pytest.raises(pz.ShapeError, match=r"must have shape \(7,\), one a velocity, got \(6,\)"):
        pz.Tracker(PANDA, pz.JointVelocityTask(), dt=DT).step(HOME, np.zeros(6))
    with refused("wrong-shape", "target"):
        pz.Tracker(PANDA, pz.JointVelocityTask(), dt=DT).step(HOME, "fast")
    with pytest.raises(ValueError, match="is of 29 velocities, and takes 7 at most"):
        pz.Tracker(pz.load("g1"), pz.JointVelocityTask(), dt=DT)
    with refused("not-a-sequence", "joints"):
        pz.DampingTask("panda_joint1")
    with refused("out-of-range", "weight[1]"):
        pz.DampingTask(weight=(1, -1))
    with pytest.raises(TypeError, match="gain"):
        pz.DampingTask(gain=0.5)  # type: ignore[call-arg]


# Wheels ---------------------------------------------------------------------------------------------------------------

RADIUS, TRACK = 0.1, 0.4


def cart() -> pz.Model:
    """Two wheels on one axle, and a hitch in front of them."""
    b = pz.ModelBuilder("cart")
    b.joint("base", "floating", parent="world", child="body")
    for side, y in (("left", TRACK / 2), ("right", -TRACK / 2)):
        b.joint(
            f"{side}_axle", "continuous", parent="body", child=f"{side}_wheel", axis=(0, 1, 0),
            origin=pz.SE3.from_parts([0, y, 0]),
        )  # fmt: skip
    b.frame("hitch", link="body", origin=pz.SE3.from_parts([0.3, 0, 0]))
    return b.build()


@pytest.mark.parametrize("method", ["dls", "qp", "priority"])
def test_a_cart_goes_where_its_wheels_roll(method: str) -> None:
    model = cart()
    wheels = [pz.RollingTask(f"{side}_wheel", radius=RADIUS) for side in ("left", "right")]
    lead = pz.PositionTask("hitch", priority=1 if method == "priority" else 0)
    loop = pz.Tracker(model, [*wheels, lead], method, dt=DT)
    q = model.home.copy()
    q[2] = RADIUS
    for tick in range(400):
        target = [0.3 + 0.2 * DT * tick, 0.1 * np.sin(0.01 * tick), RADIUS]
        before, q = q, loop.step(q, [None, None, target])
        v = model.difference(before, q)
        middle = model.integrate(before, 0.5 * v)
        for side in ("left", "right"):
            hub, spin = model.pose(f"{side}_wheel", middle), model.jacobian(f"{side}_wheel", middle) @ v
            slip = spin[:3] + np.cross(spin[3:], [0.0, 0.0, -RADIUS])
            # In one level with the target it is weighed against that; before it, wheels do not slip.
            assert np.linalg.norm(slip) < (2e-4 if method == "priority" else 1e-3)
            assert abs(hub.xyz[2] - RADIUS) < 1e-3
    assert np.linalg.norm(model.pose("hitch", q).xyz - target) < 0.01
    assert q[model.index("left_axle")][0] == pytest.approx(0.8 / RADIUS, rel=0.1)


def test_an_omniwheel_slides_along_its_axle() -> None:
    model = cart()
    q = model.home.copy()
    q[2] = RADIUS
    aside = model.pose("body", q).xyz + np.array([0.0, 0.1, 0.0])
    gone = {}
    for weight in ((1, 1, 1), (1, 0, 1)):
        wheels = [pz.RollingTask(f"{side}_wheel", radius=RADIUS, weight=weight) for side in ("left", "right")]
        loop = pz.Tracker(model, [*wheels, pz.PoseTask("body", priority=1)], dt=DT)
        at = q
        for _ in range(100):
            at = loop.step(at, [None, None, pz.SE3.from_parts(aside, pz.SO3.identity())])
        gone[weight] = at[1]
    assert abs(gone[1, 1, 1]) < 1e-3
    assert gone[1, 0, 1] == pytest.approx(0.1, abs=1e-3)


def test_a_wheel_needs_a_radius_and_an_axle() -> None:
    with refused("not-positive", "radius"):
        pz.RollingTask("left_wheel", radius=0)
    with refused("zero-vector", "axis"):
        pz.RollingTask("left_wheel", radius=0.1, axis=(0, 0, 0))


@pytest.mark.parametrize("method", ["lm", "jt", "das", "hybrid"])
def test_a_method_that_goes_a_part_of_the_way_refuses_velocities(method: str) -> None:
    with pytest.raises(ValueError, match=f"{method}' goes a part of the way, and JointVelocityTask"):
        pz.Tracker(PANDA, pz.JointVelocityTask(), method, dt=DT)


@pytest.mark.parametrize("kind", [pz.JointVelocityTask, pz.DampingTask])
def test_a_joint_that_is_named_twice_is_refused(kind: Any) -> None:
    with pytest.raises(ValueError, match="names 'panda_joint1' twice: give each joint once"):
        kind(["panda_joint1", "panda_joint2", "panda_joint1"])

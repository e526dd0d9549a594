"""Mechanisms by their motors: forward kinematics, transmissions and forces, dead points, beside textbooks."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.mechanisms import at, delta, four_bar, gap, motor_angles, platform, rocker_angles
from support.refusals import refused

import poise as pz
from poise.common.array import Array
from poise.kernels.machine.layout import IS_SQUARE, TURNS_NOT
from poise.model.closure import loop_closure
from poise.model.loop import LOCKS, LOOP_KINDS, LoopKind


def around(x: float) -> float:
    return float((x + np.pi) % (2 * np.pi) - np.pi)


@pytest.fixture(scope="module")
def bar() -> pz.Model:
    return four_bar().with_loops([], actuated=["crank"])


@pytest.fixture(scope="module")
def head() -> pz.Model:
    return platform().with_loops([], actuated=[f"motor{i}" for i in range(6)])


@pytest.fixture(scope="module")
def stand(head: pz.Model) -> Array:
    return head.close(np.zeros(6)).q


@given(crank=st.floats(-3.0, 3.0))
def test_a_four_bar_is_closed_as_freudenstein_says_in_the_assembly_of_its_start(bar: pz.Model, crank: float) -> None:
    begun = bar.close({"crank": 0.5})
    assert begun.success
    found = bar.close([crank], q0=begun.q)
    assert found.success
    assert found.kept
    assert found.q[0] == crank
    assert gap(bar, found.q) < 1e-10
    which = int(np.argmin([abs(around(begun.q[2] - x)) for x in rocker_angles(0.5)]))
    assert around(found.q[2] - rocker_angles(crank)[which]) == pytest.approx(0.0, abs=1e-9)


def test_a_four_bar_has_two_assemblies(bar: pz.Model) -> None:
    found = bar.assemblies([1.0], starts=30)
    angles = {round(around(q[2]), 9) for q in found}
    assert angles == {round(around(x), 9) for x in rocker_angles(1.0)}
    assert all(gap(bar, q) < 1e-10 for q in found)


def test_a_rocker_that_is_led_past_its_dead_point_says_so(bar: pz.Model) -> None:
    start = bar.close([1.0]).q
    extremes = [rocker_angles(a)[k] for a in np.linspace(-np.pi, np.pi, 2000) for k in (0, 1)]
    beyond = bar.close([min(x for x in extremes if x > 0.0) - 0.2], actuated=["rocker"], q0=start)
    assert not beyond.success
    assert not beyond.kept
    assert "Nothing closes" in beyond.message


def test_at_its_dead_point_a_rocker_does_not_hold_the_crank(bar: pz.Model) -> None:
    """Coupler and crank in line: the side of the triangle from pin to pin is 0.4 + 1.0 long."""
    crank = np.arccos((1.4**2 + 1.0 - 0.8**2) / (2.0 * 1.4 * 1.0))
    q = bar.close([crank]).q
    there = bar.mechanism(q, actuated=["rocker"])
    assert there.dead == 1
    assert len(there.gives_way("pen")) == 1
    assert "dead point" in there.explain("pen")
    beside = bar.mechanism(bar.close([crank + 0.3], q0=q).q, actuated=["rocker"])
    assert beside.dead == 0
    assert len(beside.gives_way("pen")) == 0
    assert "hold 'pen'" in beside.explain("pen")
    assert (beside.rows, beside.rank, beside.mobility) == (3, 2, 1)


def test_the_transmission_is_the_derivative_of_forward_kinematics(head: pz.Model, stand: Array) -> None:
    step = 1e-5
    q = head.close([0.1, -0.05, 0.2, 0.0, -0.1, 0.05], q0=stand).q
    jacobian = head.jacobian("head", q, actuated=head.groups["actuated"])
    np.testing.assert_allclose(jacobian, head.mechanism(q).jacobian("head"), atol=1e-12)
    for k in range(6):
        ends = []
        for way in (step, -step):
            moved = [q[head.index(f"motor{i}")][0] + way * (i == k) for i in range(6)]
            ends.append(head.pose("head", head.close(moved, q0=q).q))
        turned = (ends[1].rotation.inverse() @ ends[0].rotation).log()
        twist = np.concatenate([ends[0].xyz - ends[1].xyz, ends[1].rotation.matrix() @ turned]) / (2.0 * step)
        np.testing.assert_allclose(jacobian[:, k], twist, atol=1e-6)
    state = head.mechanism(q)
    np.testing.assert_allclose(state.inverse("head") @ jacobian, np.eye(6), atol=1e-9)
    assert state.manipulability("head") == pytest.approx(abs(np.linalg.det(jacobian)), rel=1e-9)
    wrench = np.array([1.0, 2.0, -3.0, 0.1, 0.2, 0.3])
    velocity = np.array([0.3, -0.1, 0.2, 0.5, 0.1, -0.4])
    assert state.forces("head", wrench) @ velocity == pytest.approx(wrench @ jacobian @ velocity, rel=1e-9)
    assert len(state.gives_way("head")) == 0


def test_a_platform_is_closed_from_motors_that_its_inverse_gives(head: pz.Model, stand: Array) -> None:
    rng = np.random.default_rng(0)
    for _ in range(10):
        shift = pz.SE3.from_xyz_rpy(rng.uniform(-0.01, 0.01, 3), rng.uniform(-0.15, 0.15, 3))
        there = head.pose("head", stand) @ shift
        inverse = pz.solve(head, pz.PoseTask("head", there), q0=stand)
        assert inverse.success
        forward = head.close([inverse.q[head.index(f"motor{i}")][0] for i in range(6)], q0=stand)
        assert forward.success
        assert forward.kept
        assert np.abs((there.inverse() @ head.pose("head", forward.q)).log()).max() < 1e-5


def test_a_delta_is_closed_where_its_inverse_says() -> None:
    robot = delta()
    place = np.array([0.05, 0.02, -0.6])
    start = pz.solve(robot, pz.PoseTask("plate", pz.SE3.from_parts([0, 0, -0.6]))).q
    motors = [
        min(pair, key=lambda x: abs(x - start[robot.index(f"motor{i}")][0]))
        for i, pair in enumerate(motor_angles(place))
    ]
    found = robot.close(motors, actuated=[f"motor{i}" for i in range(3)], q0=start)
    assert found.success
    np.testing.assert_allclose(robot.pose("plate", found.q).xyz, place, atol=1e-9)


@pytest.mark.parametrize("kind", LOOP_KINDS)
@pytest.mark.parametrize("ends", [("one", "other"), ("one", "still"), ("still", "one")])
def test_rows_of_loops_are_what_poses_lack_and_its_derivative(kind: LoopKind, ends: tuple[str, str]) -> None:
    """Whichever of the frames joints carry."""
    b = pz.ModelBuilder("body")
    b.joint("float", "floating", parent="base", child="body")
    b.joint("turn", "revolute", parent="base", child="plate", axis=(1, 0, 1), limits=(-2, 2))
    b.frame("one", link="body", origin=pz.SE3.from_xyz_rpy([0.1, 0.2, 0.0], [0.3, -0.5, 1.0]))
    b.frame("other", link="plate", origin=pz.SE3.from_xyz_rpy([0.0, 0.1, 0.2], [-0.4, 0.2, 0.5]))
    b.frame("still", link="base", origin=pz.SE3.from_xyz_rpy([0.1, -0.1, 0.2], [0.7, 0.2, -0.5]))
    b.loop(*ends, kind)
    model, lock = b.build(), LOCKS[kind]
    first, second = ends if ends[0] != "still" else ends[::-1]  # seen from a frame that stands still
    square_to = lock.turn == IS_SQUARE and first != ends[0]

    def lacks(q: Array) -> Array:
        seen = model.pose(second, q).inverse() @ model.pose(first, q)
        found = lock.lacks(seen.xyz, seen.wxyz)
        if square_to:  # x of the second is square to y of the first
            found[5] = seen.rotation.matrix()[0, 1]
        return found[np.array(lock.rows)]

    step = 1e-6
    for q in model.sample(4, seed=0):
        e, jacobian = loop_closure(model).rows(q)
        np.testing.assert_allclose(e, lacks(q), atol=1e-12)
        for v, way in enumerate(step * np.eye(model.nv)):
            slope = (lacks(model.integrate(q, way)) - lacks(model.integrate(q, -way))) / (2.0 * step)
            if lock.turn == TURNS_NOT:  # the geometric Jacobian: that of a rotation near no turn, see `kernels.rows`
                held = sum(axis in lock.place for axis in "xyz")
                slope, column = slope[:held], jacobian[:held, v]
            else:
                column = jacobian[:, v]
            np.testing.assert_allclose(column, -slope, atol=1e-7)


def test_motors_beyond_their_limits_are_led_there_and_named(bar: pz.Model) -> None:
    start = bar.close([1.0]).q
    led, far = bar.close([8.0], q0=start), bar.close([1e9], q0=start)
    assert gap(bar, led.q) < 1e-10
    assert led.kept
    assert "crank" in led.beyond
    assert far.beyond == ("crank",)
    assert not led.success
    assert not far.success
    assert "beyond the limits of crank" in far.message


def test_a_ball_that_would_leave_its_limits_is_named() -> None:
    """A rod of 0.5 m that reaches a pin 0.45 m above its ball only with a swing of acos(0.9), 0.45 rad."""
    for swing, within in ((0.3, False), (0.6, True)):
        b = pz.ModelBuilder("rod")
        b.joint("motor", "revolute", parent="base", child="horn", axis=(0, 1, 0), limits=(-1, 1))
        b.joint("ball", "spherical", parent="horn", child="rod", swing=swing, twist=(-1, 1))
        b.joint("slide", "prismatic", parent="base", child="slider", axis=(1, 0, 0), limits=(-2, 2))
        b.frame("end", link="rod", origin=at(0, 0, 0.5))
        b.frame("pin", link="slider", origin=at(0, 0, 0.45))
        b.loop("end", "pin")
        robot = b.build()
        found = robot.close([0.0], actuated=["motor"], q0=robot.q(ball=[np.cos(0.05), 0.0, np.sin(0.05), 0.0]))
        assert found.success == within
        assert gap(robot, found.q) < 1e-10
        assert found.beyond == (() if within else ("ball",))


def dietmaier() -> pz.Model:
    """Six legs between a base and a platform, whose forward kinematics has 40 real solutions (Dietmaier 1998)."""
    base = [
        (0, 0, 0), (1.107915, 0, 0), (0.549094, 0.756063, 0), (0.735077, -0.223935, 0.525991),
        (0.514188, -0.526063, -0.368418), (0.590473, 0.094733, -0.205018),
    ]  # fmt: skip
    plate = [
        (0, 0, 0), (0.542805, 0, 0), (0.956919, -0.528915, 0), (0.665885, -0.353482, 1.402538),
        (0.478359, 1.158742, 0.107672), (-0.137087, -0.235121, 0.353913),
    ]  # fmt: skip
    b = pz.ModelBuilder("dietmaier")
    b.joint("free", "floating", parent="base", child="plate")
    for i in range(6):
        b.joint(f"ball{i}", "spherical", parent="base", child=f"tube{i}", origin=at(*base[i]))
        b.joint(f"leg{i}", "prismatic", parent=f"tube{i}", child=f"rod{i}", axis=(0, 0, 1), limits=(0.1, 3.0))
        b.frame(f"end{i}", link=f"rod{i}")
        b.frame(f"pin{i}", link="plate", origin=at(*plate[i]))
        b.loop(f"end{i}", f"pin{i}")
    return b.build()


def test_all_forty_assemblies_of_a_platform_are_found() -> None:
    """Six of the lengths make 40 postures, as many as a platform can have; each is one by poses alone."""
    lengths = [1.0, 0.645275, 1.086284, 1.503439, 1.281933, 0.771071]
    robot = dietmaier()
    found = robot.assemblies(lengths, actuated=[f"leg{i}" for i in range(6)], starts=2000)
    assert len(found) == 40
    assert max(gap(robot, q) for q in found) < 1e-10
    assert np.array_equal(found[:, [robot.index(f"leg{i}").start for i in range(6)]], np.tile(lengths, (40, 1)))


def test_a_loop_may_hang_on_a_joint_that_follows_the_motor() -> None:
    """A slider whose rod turns back twice the angle of its crank: it stands at 2 cos(angle), on a line."""
    b = pz.ModelBuilder("cardan")
    b.joint("crank", "revolute", parent="base", child="arm")
    b.joint(
        "rod", "revolute", parent="arm", child="bar", origin=at(1, 0, 0), mimic=pz.Mimic(joint="crank", multiplier=-2.0)
    )
    b.joint("slide", "prismatic", parent="base", child="slider", axis=(1, 0, 0))
    b.frame("end", link="bar", origin=at(1, 0, 0))
    b.loop("end", "slider")
    robot = b.build()
    found = robot.close([0.4], actuated=["crank"], q0=robot.q(crank=0.1, slide=1.0))
    assert found.success
    assert found.q[1] == pytest.approx(2.0 * np.cos(0.4), abs=1e-10)
    assert robot.mechanism(found.q, actuated=["crank"]).transmission[1, 0] == pytest.approx(-2.0 * np.sin(0.4))


def test_threads_and_copies_close_to_the_same_bits(head: pz.Model, stand: Array) -> None:
    goals = np.random.default_rng(0).uniform(-0.2, 0.2, (12, 6))
    wanted = [head.close(goal, q0=stand).q for goal in goals]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda goal: head.close(goal, q0=stand).q, goals))
    assert np.array_equal(found, wanted)
    other = pickle.loads(pickle.dumps(head))
    assert np.array_equal(other.close(goals[0], q0=stand).q, wanted[0])
    closure = loop_closure(other)
    copied, moved = pickle.loads(pickle.dumps(closure)), stand + 1e-3
    assert copied._words.ctypes.data != closure._words.ctypes.data
    assert np.array_equal(copied.closed(moved), closure.closed(moved))


def test_what_makes_no_mechanism_is_refused(bar: pz.Model) -> None:
    with refused("needs", "motors"):
        four_bar().close([1.0])
    with refused("needs", "motors"):
        bar.lock({"crank": 1.0}).close([1.0])
    with refused("needs", "no loops"):  # before anything is asked of motors
        pz.load("planar3").close([1.0])
    with refused("inconsistent", "'rocker' has no motor"):
        bar.close({"crank": 1.0, "rocker": 1.0})
    with refused("wrong-shape"):
        bar.close([1.0, 2.0])
    with refused("empty"):
        bar.mechanism(bar.home, actuated=[])
    for several in (lambda q: bar.mechanism(q), lambda q: bar.close([1.0], q0=q)):
        with refused("wrong-shape", "one configuration"):
            several(np.zeros((2, 3)))

"""`plan`: stations met, near each other, free ways between them."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from support.refusals import refused
from ways import KeptOff, kept

import poise as pz
from poise.common.array import Array
from poise.solving.path import via_points
from poise.solving.path.clock import Clock
from poise.solving.path.feasibility import PathFeasibility
from poise.solving.path.residual_rows import Rows
from poise.solving.path.soft_objectives import SoftObjectives

PICK = [[0.4, 0.3, 0.5], [0.4, 0.3, 0.3], [0.4, 0.3, 0.5], [0.4, -0.3, 0.5], [0.4, -0.3, 0.3]]
DOWN = (0.0, 1.0, 0.0, 0.0)


def poses() -> pz.SE3:
    return pz.SE3(np.hstack([PICK, np.tile([0.0, 1.0, 0.0, 0.0], (len(PICK), 1))]))


def test_pick_and_place() -> None:
    arm = pz.load("panda")
    path = pz.plan(arm, pz.PoseTask("panda_hand"), poses(), q0=arm.home, acceleration=10.0)
    assert path.success, path.explain()
    assert np.array_equal(path.q[0], arm.home)
    assert len(path.stations) == len(PICK)
    at = arm.pose("panda_hand", path.q[path.stations])
    assert np.abs(at.xyz - PICK).max() < 1e-6
    assert path.reached.all()
    assert arm.within_limits(path.q)
    assert path.largest_step <= 0.05 + 1e-9
    assert pz.jumps(path.q, arm) == []
    # Near each other: no farther than what the solver finds from each to the next.
    q, ways = arm.home, 0.0
    for pose in poses():
        nearest = pz.solve(arm, pz.PoseTask("panda_hand", pose), q0=q).q
        ways, q = ways + float(((nearest - q) ** 2).sum()), nearest
    found = np.diff(np.concatenate([arm.home[None], path.q[path.stations]]), axis=0)
    assert (found**2).sum() <= ways + 1e-9


def test_it_rests_at_the_stations() -> None:
    arm = pz.load("panda")
    path = pz.plan(arm, pz.PoseTask("panda_hand"), poses(), velocity=2.0, acceleration=10.0)
    assert path.stations[0] == 0
    assert path.times is not None
    gaps = np.diff(path.times)
    speeds = np.abs(path.steps).max(axis=1) / gaps
    assert speeds.max() <= 2.0 + 1e-9
    for station in path.stations[1:-1]:
        # On each side the middle of a step is as fast as the acceleration makes it from rest.
        assert speeds[station - 1] <= 10.0 * 0.5 * gaps[station - 1] + 1e-9
        assert speeds[station] <= 10.0 * 0.5 * gaps[station] + 1e-9


def test_an_approach_and_a_retreat_are_straight() -> None:
    """Down to the second pose and up again, and from where the arm stands to the first."""
    arm, straight = pz.load("panda"), [1, 2, 4]
    path = pz.plan(arm, pz.PoseTask("panda_hand"), poses(), q0=arm.home, straight=straight, acceleration=10.0)
    assert path.success, path.explain()
    assert np.abs(arm.pose("panda_hand", path.q[path.stations]).xyz - PICK).max() < 1e-6
    assert path.times is not None
    for k in straight:
        t = np.linspace(*path.times[path.stations[[k - 1, k]]], 200)
        at = arm.pose("panda_hand", path.at(t).q)
        ends = np.array(PICK)[[k - 1, k]]
        assert np.abs(at.xyz[:, :2] - ends[0, :2]).max() < 1e-4
        assert np.abs(np.abs(at.wxyz @ DOWN) - 1.0).max() < 1e-6
    with refused("out-of-range", "straight"):
        pz.plan(arm, pz.PoseTask("panda_hand"), poses(), straight=[0])
    with refused("out-of-range", "straight"):
        pz.plan(arm, pz.PoseTask("panda_hand"), poses(), straight=[5])


def test_a_straight_line_that_is_blocked_is_not_gone_round() -> None:
    world = pz.World({"plate": pz.Box(pz.SE3.from_parts([0.4, 0.3, 0.5]), [0.3, 0.3, 0.01])})
    high = pz.SE3(np.array([[0.4, 0.3, 0.7, *DOWN], [0.4, 0.3, 0.3, *DOWN]]))
    path = pz.plan(
        armed(), pz.PoseTask("panda_hand"), high, straight=[1], limits=[pz.CollisionLimit(world)], max_time=20.0
    )
    assert [failure.waypoint for failure in path.failures] == [1]
    assert path.status is pz.Status.COLLISION
    assert "straight line" in path.failures[0].reason


def test_a_way_around_what_is_between() -> None:
    """A ball stands on the straight way of the hand from one side to the other."""
    arm = pz.load("panda")

    def distances(q: np.ndarray) -> np.ndarray:
        return np.linalg.norm(arm.pose("panda_hand", q).xyz - [0.5, 0.0, 0.5], axis=-1) - 0.15

    straight = pz.plan(arm, pz.PoseTask("panda_hand"), poses())
    assert distances(straight.q).min() < 0.0
    with kept(KeptOff(arm, distances, 0.02)):
        one, two = (pz.plan(arm, pz.PoseTask("panda_hand"), poses(), threads=n) for n in (1, 2))
    assert one.success, one.explain()
    assert distances(one.q).min() >= 0.02 - 1e-9
    assert np.array_equal(one.q, two.q)
    assert one.reached.all()


def test_a_wall_without_a_door_is_said() -> None:
    """Below and above a height there are stations, and nothing may be between: no way exists."""
    arm = pz.load("planar2")

    def distances(q: np.ndarray) -> np.ndarray:
        return np.abs(np.sin(q[..., 0])) - 0.1  # the upper arm may not cross the x axis

    ends = [[0.2, 1.3, 0.0], [0.2, -1.3, 0.0]]
    with kept(KeptOff(arm, distances)):
        path = pz.plan(arm, pz.PositionTask("tool"), ends, max_time=0.4, threads=1)
    assert path.status is pz.Status.COLLISION
    assert path.first_failure is not None
    assert path.first_failure.waypoint == 1
    assert path.reached.all()


def test_a_station_out_of_reach_or_inside_is_named() -> None:
    arm = pz.load("planar2")
    path = pz.plan(arm, pz.PositionTask("tool"), [[1.0, 1.0, 0.0], [3.0, 0.0, 0.0], [1.0, -1.0, 0.0]])
    assert [failure.waypoint for failure in path.failures] == [1]
    assert path.status is pz.Status.UNREACHABLE
    assert "1 m beyond" in path.failures[0].reason

    def distances(q: np.ndarray) -> np.ndarray:
        return np.linalg.norm(arm.pose("tool", q).xyz - [1.0, -1.0, 0.0], axis=-1) - 0.2

    with kept(KeptOff(arm, distances)):
        path = pz.plan(arm, pz.PositionTask("tool"), [[1, 1, 0], [1, -1, 0]], max_time=1.0, threads=1)
    assert path.first_failure is not None
    assert path.first_failure.status is pz.Status.COLLISION
    assert path.first_failure.waypoint == 1


@pytest.mark.parametrize("seed", range(3))
def test_a_pose_is_searched_for_before_it_is_blamed(seed: int) -> None:
    """Free where the last of three links points along one direction, which chance hardly ever finds."""
    arm = pz.load("planar3")

    def distances(q: np.ndarray) -> np.ndarray:
        return 0.006 - np.abs(np.remainder(q.sum(axis=-1) - 0.3 + np.pi, 2.0 * np.pi) - np.pi)

    with kept(KeptOff(arm, distances)):
        path = pz.plan(arm, pz.PositionTask("tool"), [[1.0, 1.0, 0.0]], seed=seed, threads=1)
    assert path.success, path.explain()
    assert distances(path.q).min() >= 0.0


def test_one_station_and_bad_questions() -> None:
    arm, task = pz.load("planar2"), pz.PositionTask("tool")
    alone = pz.plan(arm, task, [[1.0, 1.0, 0.0]])
    assert alone.success
    assert len(alone) == 1
    there = pz.plan(arm, task, [[1.0, 1.0, 0.0]], q0=alone.q[0])
    assert there.success
    assert there.length < 1e-6
    with refused("wrong-shape"):
        pz.plan(arm, task, np.zeros((0, 3)))
    with refused("not-positive"):
        pz.plan(arm, task, [[1.0, 1.0, 0.0]], step=0.0)
    with refused("not-positive", "max_time"):
        pz.plan(arm, task, [[1.0, 1.0, 0.0]], max_time=-1.0)


def test_a_collision_limit_holds_between_stations_too() -> None:
    arm = pz.load("panda").with_shapes({"panda_hand": pz.Capsule([0.0, -0.08, 0.04], [0.0, 0.08, 0.04], 0.03)})
    world = pz.World({"wall": pz.Box(pz.SE3.from_parts([0.4, 0.0, 0.25]), [0.3, 0.04, 0.5])})
    path = pz.plan(arm, pz.PoseTask("panda_hand"), poses(), limits=[pz.CollisionLimit(world, min_distance=0.02)])
    assert path.success, path.explain()
    assert arm.distance(path.q, world).distance.min() >= 0.02 - 1e-9
    assert pz.plan(arm, pz.PoseTask("panda_hand"), poses()).length < path.length


def test_what_rounding_alone_breaks_holds() -> None:
    arm = armed()
    world = pz.World({"ball": pz.Sphere(np.add(arm.pose("panda_hand", arm.home).xyz, [0.0, 0.0, 0.3]), 0.1)})
    there = float(arm.distance(arm.home, world, self_collision=False).distance)
    for asked, kept_there in ((np.nextafter(there, 1.0), True), (there + 1e-9, False)):
        limits = [pz.CollisionLimit(world, min_distance=float(asked), self_collision=False)]
        path = pz.plan(arm, pz.PoseTask("panda_hand"), poses()[:1], q0=arm.home, limits=limits)
        assert path.success is kept_there, path.explain()
        assert np.array_equal(path.q[0], arm.home)


def test_clearances_are_those_of_the_world_as_it_was() -> None:
    arm = armed()
    world = pz.World({"wall": pz.Box(pz.SE3.from_parts([0.4, 0.0, 0.25]), [0.3, 0.04, 0.5])})
    path = pz.plan(arm, pz.PoseTask("panda_hand"), poses(), limits=[pz.CollisionLimit(world, min_distance=0.02)])
    far = arm.distance(path.q, world).distance
    world.move("wall", pz.SE3.from_parts([5.0, 0.0, 0.25]))
    assert path.clearances is not None
    assert np.array_equal(path.clearances, far)
    assert path.clearances is path.clearances
    assert not path.clearances.flags.writeable


# What is said at once -----------------------------------------------------------------------------------------------


def searches(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The searches for a way that are begun."""
    begun: list[object] = []

    def counted(*given: object, **settings: object) -> None:
        begun.append(given)

    monkeypatch.setattr("poise.solving.path.via_points.connect", counted)
    return begun


def armed() -> pz.Model:
    """A hand with a shape."""
    return pz.load("panda").with_shapes({"panda_hand": pz.Capsule([0.0, -0.08, 0.04], [0.0, 0.08, 0.04], 0.03)})


def test_a_q0_that_is_too_near_is_said_without_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, arm = searches(monkeypatch), armed()
    world = pz.World({"ball": pz.Sphere(arm.pose("panda_hand", arm.home).xyz, 0.1)})
    limits = [pz.CollisionLimit(world)]
    path = pz.plan(arm, pz.PoseTask("panda_hand"), poses()[:2], q0=arm.home, limits=limits)
    assert path.status is pz.Status.COLLISION
    assert path.first_failure is not None
    said = path.first_failure.reason
    near = limits[0].nearest(arm, arm.home)
    assert "q0" in said
    assert all(repr(name) in said for name in near.pair)
    assert f"{near.distance:.3g} m" in said
    assert not begun


def test_a_pose_in_an_obstacle_is_said_without_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, arm = searches(monkeypatch), armed()
    world = pz.World({"ball": pz.Sphere([0.4, 0.3, 0.27], 0.1)})
    path = pz.plan(arm, pz.PoseTask("panda_hand"), poses(), limits=[pz.CollisionLimit(world)])
    assert path.first_failure is not None
    assert path.first_failure.waypoint == 1
    assert path.status is pz.Status.COLLISION
    assert "'panda_hand'" in path.first_failure.reason
    assert "'ball'" in path.first_failure.reason
    assert not begun


def test_rows_that_no_search_has_freed_do_not_succeed() -> None:
    """The last pose is out of reach, so no way is searched for, and the straight one to the second is not free."""
    world = pz.World({"wall": pz.Box(pz.SE3.from_parts([0.4, 0.0, 0.25]), [0.3, 0.04, 0.7])})
    far = pz.SE3(np.array([[0.4, 0.3, 0.3, *DOWN], [0.4, -0.3, 0.3, *DOWN], [2.0, 0.0, 0.3, *DOWN]]))
    path = pz.plan(armed(), pz.PoseTask("panda_hand"), far, limits=[pz.CollisionLimit(world)])
    assert [failure.waypoint for failure in path.failures] == [1, 2]
    assert path.columns()["success"].tolist() == [True] + [False] * (len(path) - 1)


def test_a_search_is_bounded_unless_asked_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that each search sets forward to the end of its time."""
    now = [0.0]

    def endless(*given: object, clock: Clock, **settings: object) -> None:
        now[0] = clock.end + 1e-6

    monkeypatch.setattr("poise.solving.path.via_points.connect", endless)
    monkeypatch.setattr("poise.solving.path.clock.perf_counter", lambda: now[0])
    for max_time, least, most in ((None, 10.0, 20.1), (60.0, 30.0, 60.1)):
        now[0] = 0.0
        path = pz.plan(armed(), pz.PoseTask("panda_hand"), poses()[:2], limits=[pz.CollisionLimit()], max_time=max_time)
        assert path.status is pz.Status.COLLISION
        assert "max_time was spent" in path.explain()
        assert least <= now[0] <= most


def test_a_q0_outside_the_limits_is_refused() -> None:
    arm = pz.load("panda")
    q0 = np.array(arm.home)
    q0[3] = 0.5
    with refused("outside-limits", "'panda_joint4'"):
        pz.plan(arm, pz.PoseTask("panda_hand"), poses(), q0=q0)
    assert pz.plan(arm, pz.PoseTask("panda_hand"), poses()[:1], q0=q0, limits=False).success


@pytest.mark.parametrize("speeds", [{}, {"velocity": 1.0, "acceleration": 1.0}], ids=["without times", "timed"])
def test_a_turn_without_end_is_refused(speeds: dict[str, float]) -> None:
    builder = pz.ModelBuilder("wheel")
    builder.joint("turn", "revolute", parent="base", child="rim", limits=(-1e13, 1e13))  # where turns count
    wheel = builder.build().with_shapes({"rim": pz.Capsule([0.2, 0.0, 0.0], [1.0, 0.0, 0.0], 0.05)})
    world = pz.World({"ball": pz.Sphere([0.0, 1.0, 0.0], 0.1)})
    for limits in (True, [pz.CollisionLimit(world)]):
        with refused("too-many", "1e+12 rad or m apart in turn", "20,000,000,000,000 rows"):
            pz.plan(wheel, pz.PostureTask(), [[1e12]], q0=[0.0], limits=limits, **speeds)
    path = pz.plan(wheel, pz.PostureTask(), [[2e3]], q0=[0.0], **speeds)
    assert path.success, path.explain()
    assert path.q[-1, 0] == 2e3


# Between the rows ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_nothing_is_cut_between_the_rows(seed: int) -> None:
    """A thin post, which steps could miss, and distances at many configurations of every step."""
    arm = armed()
    world = pz.World({"post": pz.Capsule([0.4, 0.0, -1.0], [0.4, 0.0, 0.7], 0.003)})
    path = pz.plan(
        arm, pz.PoseTask("panda_hand"), poses()[2:4], limits=[pz.CollisionLimit(world, min_distance=0.0)], seed=seed
    )
    assert path.success, path.explain()
    share = np.linspace(0.0, 1.0, 100)[:, None]
    dense = np.concatenate([a + share * (b - a) for a, b in zip(path.q[:-1], path.q[1:], strict=True)])
    assert arm.distance(dense, world).distance.min() >= 0.0


def test_a_dip_between_two_looks_is_seen() -> None:
    """A spike in the joints, narrower than the spacing of what is looked at first."""
    arm = pz.load("planar2")

    def distances(q: np.ndarray) -> np.ndarray:
        return np.abs(q[..., 0] - 0.5093) - 0.002

    feasibility = PathFeasibility([KeptOff(arm, distances)])
    assert feasibility.on_way(np.array([0.0, 0.0]), np.array([1.0, 0.0])) < 0.0
    assert feasibility.on_way(np.array([0.0, 0.0]), np.array([0.5, 0.0])) > 0.0


def test_a_gantry_goes_round_a_wall() -> None:
    """4 m wide, with slides whose limits are as good as none."""
    builder = pz.ModelBuilder("gantry")
    builder.joint("x", "prismatic", parent="base", child="bridge", axis=[1.0, 0.0, 0.0], limits=(-1e6, 1e6))
    builder.joint("y", "prismatic", parent="bridge", child="tool", axis=[0.0, 1.0, 0.0], limits=(-1e6, 1e6))
    arm = builder.build().with_shapes({"tool": pz.Sphere([0.0, 0.0, 0.0], 0.1)})
    world = pz.World({"wall": pz.Box(pz.SE3.identity(), [4.0, 0.1, 1.0])})
    path = pz.plan(
        arm, pz.PositionTask("tool"), [[0.0, -1.0, 0.0], [0.0, 1.0, 0.0]],
        limits=[pz.CollisionLimit(world, self_collision=False)],
    )  # fmt: skip
    assert path.success, path.explain()
    assert np.abs(path.q[:, 0]).max() > 2.0
    assert np.abs(path.q).max() < 10.0


@pytest.mark.parametrize("follow", [pz.solve_path, pz.plan])
def test_an_interval_may_have_no_end(follow: object) -> None:
    tasks = [pz.PoseTask("panda_hand"), pz.DistanceTask("panda_link4", (0.3, np.inf), [0.5, 0.3, 0.6])]
    path = follow(pz.load("panda"), tasks, [poses(), None])  # type: ignore[operator]
    assert path.success, path.explain()
    apart = np.linalg.norm(path.model.pose("panda_link4", path.q).xyz - tasks[1].target, axis=1)
    assert apart.min() >= 0.3 - 1e-6
    with refused("out-of-range", "poses[0][0]"):
        follow(path.model, pz.DistanceTask("panda_link4", (0.3, np.inf)), [[1e20, 0.0, 0.0]])  # type: ignore[operator]


@dataclass(frozen=True, kw_only=True)
class Above(pz.Task):
    """Above a floor that is no place to be."""

    frame: str
    unit = "m"
    inequality = True

    def residual(frames, numbers, out):  # type: ignore[no-untyped-def]
        if abs(frames[0, 2] - 0.25) < 0.1:
            raise ValueError("no place")
        out[0] = -frames[0, 2]


def test_what_a_residual_raises_is_said_of_its_task() -> None:
    """It has no number there, as in a solve, so no way leads through."""
    arm, tasks = pz.load("panda"), [pz.PositionTask("panda_hand"), Above(frame="panda_hand")]
    high, low = [0.4, 0.1, 0.45], [0.4, 0.1, 0.05]
    assert pz.plan(arm, tasks, [[high, [0.4, 0.1, 0.46]], None]).success  # what is compiled takes no time of the next
    path = pz.plan(arm, tasks, [[high, low], None], max_time=2.0)
    assert path.status is pz.Status.LIMIT
    assert "the residual of Above('panda_hand') raises or leaves no number" in path.explain()


@pytest.mark.parametrize("follow", [pz.solve_path, pz.plan])
@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        (slice(3, 7), 0.0, "zero quaternion"),
        (0, np.inf, "inf"),
        (1, 1e200, "too large"),
        (slice(3, 7), [0.3, -2.0, 0.0, 1.6], "have length 2.58 in place of 1; of joint angles"),
    ],
)
def test_a_pose_that_is_none_names_its_waypoint(follow: object, column: object, value: object, said: str) -> None:
    given = poses().array.copy()
    given[3, column] = value
    with pytest.raises(ValueError, match=rf"poses\[3\].*{said}"):
        follow(pz.load("panda"), pz.PoseTask("panda_hand"), given)  # type: ignore[operator]


# Short, and no longer with more time --------------------------------------------------------------------------------


def cart() -> pz.Model:
    """A ball that slides in a plane."""
    b = pz.ModelBuilder("cart")
    b.joint("x", "prismatic", parent="base", child="slide", axis=(1, 0, 0), limits=(-3.0, 3.0))
    b.joint("y", "prismatic", parent="slide", child="ball", axis=(0, 1, 0), limits=(-3.0, 3.0))
    b.shape("ball", pz.Sphere((0.0, 0.0, 0.0), 0.01))
    return b.build()


def behind(**settings: object) -> pz.JointPath:
    """From one side of a wall, open at both ends, to the other: from (-1, 0) around (0, 0.8) to (1, 0)."""
    wall = pz.World({"wall": pz.Box(pz.SE3.from_parts([0.0, -0.6, 0.0]), [0.02, 2.8, 0.2])})
    keep: list[object] = [pz.CollisionLimit(wall, min_distance=0.0)]
    return pz.plan(cart(), pz.PositionTask("ball"), [[1.0, 0.0, 0.0]], q0=[-1.0, 0.0], limits=keep, **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(3))
def test_a_way_is_short(seed: int) -> None:
    path = behind(seed=seed)
    assert path.success, path.explain()
    assert path.length < 1.02 * 2.0 * np.hypot(1.0, 0.82)
    assert not path.notes
    assert np.array_equal(behind(seed=seed, max_time=1e6).q, path.q)


@pytest.mark.parametrize("timed", [False, True])
def test_more_time_is_never_worse_and_spent_time_is_told_of(monkeypatch: pytest.MonkeyPatch, timed: bool) -> None:
    """By a clock that goes on by a millisecond at each look."""
    now = [0.0]

    def tick() -> float:
        now[0] += 1e-3
        return now[0]

    monkeypatch.setattr("poise.solving.path.clock.perf_counter", tick)
    rates = {"velocity": 1.0, "acceleration": 2.0} if timed else {}
    found, told = [], 0
    for max_time in (1e-5, 1e-4, 1e-3, 0.01, 0.1, 1e6):
        path = behind(max_time=max_time, **rates)
        found.append((path.duration if timed else path.length) if path.success else np.inf)
        told += "max_time was spent" in path.explain()
        assert path.success or "max_time was spent" in path.explain()
    assert all(b <= a * (1.0 + 1e-9) for a, b in pairwise(found))
    assert np.isfinite(found[-1])
    assert told > 1
    assert not path.notes


def test_a_posture_alone_is_gone_to_without_a_search_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where joints are all that is asked for, each pose has one configuration, which is known."""
    arm, tried = pz.load("panda"), list[int]()
    postures = arm.sample(3, seed=5)
    projected = SoftObjectives.projected

    def counted(soft: SoftObjectives, q: Array, seed: int, clock: Clock) -> Array:
        tried.append(len(q))
        return projected(soft, q, seed, clock)

    monkeypatch.setattr(SoftObjectives, "projected", counted)
    path = pz.plan(arm, pz.PostureTask(tolerance=1e-6), postures, q0=arm.home)
    assert path.success, path.explain()
    assert np.abs(path.q[path.stations] - postures).max() <= 1e-6
    assert not tried


def endless(**limits: Any) -> pz.Model:
    """A joint that turns without end unless it has `limits`, then one that bends."""
    b = pz.ModelBuilder("endless")
    b.joint("turn", "revolute" if limits else "continuous", parent="world", child="mast", velocity=1.0, **limits)
    raised = pz.SE3.from_parts([0.0, 0.0, 0.3])
    b.joint("bend", "revolute", parent="mast", child="arm", axis=(0, 1, 0), origin=raised, limits=(-2, 2), velocity=1.0)
    b.frame("tip", link="arm", origin=pz.SE3.from_parts([0.5, 0.0, 0.0]))
    return b.build()


@pytest.mark.parametrize("start", [3.0, 100.0, -31.0])
def test_a_posture_is_gone_to_by_the_nearest_turn_of_an_endless_joint(start: float) -> None:
    arm, exact = endless(), pz.PostureTask(tolerance=1e-6)
    q0, postures = arm.q(turn=start), np.array([[-3.0, 0.5], [2.9, 0.0], [-300.0, 0.2], [0.1, 0.0]])
    path = pz.plan(arm, exact, postures, q0=q0)
    assert path.success, path.explain()
    met = path.q[path.stations]
    away = (met - postures)[:, 0] / (2.0 * np.pi)
    assert np.allclose(away, np.rint(away), atol=1e-9)
    assert np.allclose(met[:, 1], postures[:, 1], atol=1e-6)
    assert (np.abs(np.diff(met[:, 0], prepend=start)) <= np.pi + 1e-9).all()
    free = pz.plan(arm, exact, postures[:2])  # which begins at the first, as it is stated
    assert np.allclose(free.q[0], postures[0], atol=1e-6)
    assert np.allclose(free.q[-1], [2.9 - 2.0 * np.pi, 0.0], atol=1e-6)
    beside = [pz.PositionTask("tip"), pz.PostureTask()]
    poses = [arm.pose("tip", postures[0]).xyz[None], postures[:1]]
    assert np.allclose(pz.plan(arm, beside, poses, q0=q0).q[-1], met[0], atol=1e-5)
    either = pz.plan(arm, exact, [[2.0, 0.0], [4.0, 0.0], [-3.0, 0.0]], q0=arm.q(turn=3.1), alternatives=[3])
    assert either.chosen == (2,)
    assert np.allclose(either.q[-1, 0], 2.0 * np.pi - 3.0)


def test_a_turn_that_is_a_number_to_something_stays_as_it_is_stated() -> None:
    exact, back = pz.PostureTask(tolerance=1e-6), np.array([[-3.0, 0.5]])
    limited = endless(limits=(-9.0, 9.0))
    assert pz.plan(limited, exact, back, q0=limited.q(turn=3.0)).q[-1, 0] == pytest.approx(-3.0)
    arm = endless()
    sums = [pz.LinearLimit({"turn": 1.0, "bend": 1.0}, 3.2)]
    assert pz.plan(arm, exact, back, q0=arm.q(turn=3.0), limits=sums).q[-1, 0] == pytest.approx(-3.0)
    alike = pz.JointCouplingTask({"turn": 1.0, "bend": 6.0}, 0.0)
    assert pz.plan(arm, [alike, exact], [None, back], q0=arm.q(turn=3.0, bend=-0.5)).q[-1, 0] == pytest.approx(-3.0)
    b = pz.ModelBuilder("geared")
    b.joint("turn", "continuous", parent="world", child="mast")
    b.joint("slow", "continuous", parent="mast", child="arm", mimic=pz.Mimic(joint="turn", multiplier=0.5))
    geared = b.build()
    assert pz.plan(geared, exact, [[-3.0]], q0=[3.0]).q[-1, 0] == pytest.approx(-3.0)


class TestAlternatives:
    """A stop that is any of several poses."""

    ARM, HAND = pz.load("panda"), pz.PoseTask("panda_hand")
    GRASPS = pz.SE3(
        np.array(
            [[0.5, 0.2, 0.3, *(pz.SO3.from_rotvec([0, 0, turn]) @ pz.SO3(wxyz=DOWN)).wxyz] for turn in (2.5, -2.0, 0.3)]
        )
    )
    FAR = np.array([[3.0, 0.0, 0.0, *DOWN]])

    def plan(self, poses: Array, stops: list[int], **more: Any) -> pz.JointPath:
        return pz.plan(self.ARM, self.HAND, poses, q0=self.ARM.home, alternatives=stops, **more)

    def test_the_nearest_of_them_is_met(self) -> None:
        path = self.plan(self.GRASPS.array, [3])
        assert path.success
        alone = [pz.plan(self.ARM, self.HAND, each.array[None], q0=self.ARM.home).length for each in self.GRASPS]
        assert path.chosen.tolist() == [int(np.argmin(alone))]
        assert path.length == pytest.approx(min(alone), rel=1e-6)

    def test_each_stop_meets_one_of_its_own(self) -> None:
        place = np.array([[0.5, -0.3, 0.3, *DOWN]])
        poses = np.concatenate([self.GRASPS.array, place, self.GRASPS.array[::-1]])
        path = self.plan(poses, [3, 1, 3], acceleration=10.0)
        assert path.success
        assert len(path.stations) == len(path.reached) == len(path.chosen) == 3
        assert [k in some for k, some in zip(path.chosen, (range(3), [3], range(4, 7)), strict=True)] == [True] * 3
        met = self.ARM.pose("panda_hand", path.q[path.stations])
        assert np.abs((met.inverse() @ pz.SE3(poses[path.chosen])).log()).max() < 2e-6
        back = pz.plan(self.ARM, self.HAND, poses[:3], q0=path.q[-1], alternatives=[3], acceleration=10.0)
        assert path.then(back).chosen.tolist() == [*path.chosen, *back.chosen]

    def test_what_cannot_be_had_is_passed_over(self) -> None:
        path = self.plan(np.concatenate([self.FAR, self.GRASPS.array[:1]]), [2])
        assert path.success
        assert path.chosen.tolist() == [1]

    def test_where_none_can_be_had_the_stop_fails(self) -> None:
        path = self.plan(np.concatenate([self.GRASPS.array[:1], self.FAR, self.FAR]), [1, 2])
        assert [failure.waypoint for failure in path.failures] == [1]
        assert path.failures[0].reason.startswith("it has 2 poses, and none of them can be had; of the first: ")
        assert path.status is pz.Status.UNREACHABLE

    def test_what_stands_in_the_way_of_one_leaves_the_others(self) -> None:
        arm = self.ARM.with_shapes({"panda_hand": [pz.Sphere((0.0, 0.0, 0.0), 0.05)]})
        keep = [pz.CollisionLimit(pz.World({"ball": pz.Sphere((0.5, 0.2, 0.3), 0.05)}), min_distance=0.01)]
        poses = np.concatenate([self.GRASPS.array[:1], [[0.5, -0.2, 0.3, *DOWN]]])
        path = pz.plan(arm, self.HAND, poses, q0=arm.home, limits=keep, alternatives=[2])
        assert path.success
        assert path.chosen.tolist() == [1]

    def test_one_that_is_shut_in_leaves_the_others(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Two slides along x and one along y: the first point has many configurations, and no way to any of them."""
        builder, parent = pz.ModelBuilder("gantry"), "world"
        for name, axis in (("x", [1, 0, 0]), ("y", [0, 1, 0]), ("more", [1, 0, 0])):
            builder.joint(name, "prismatic", parent=parent, child=name, axis=axis, limits=(-1.0, 1.0))
            parent = name
        gantry = builder.build().with_shapes({"more": [pz.Sphere((0.0, 0.0, 0.0), 0.05)]})
        sides = {(1, 0): (0.02, 0.5, 1.0), (0, 1): (0.5, 0.02, 1.0)}
        walls = {
            f"{sign}{at}": pz.Box(pz.SE3.from_parts([0.6 + 0.25 * sign * at[0], 0.25 * sign * at[1], 0.0]), size)
            for at, size in sides.items() for sign in (-1, 1)
        }  # fmt: skip
        keep = [pz.CollisionLimit(pz.World(walls), min_distance=0.0)]
        points = [[0.6, 0.0, 0.0], [-1.5, 0.0, 0.0]]
        monkeypatch.setattr(via_points, "_WORK", (200, 1000))
        path = pz.plan(gantry, pz.PositionTask("more"), points, q0=np.zeros(3), limits=keep, alternatives=[2])
        assert path.success, path.explain()
        assert path.chosen.tolist() == [1]

    def test_what_makes_no_stops_is_refused(self) -> None:
        for stops, words in (([2], "adds up to 2, and there are 3 poses"), ([0, 3], "must be at least 1")):
            with refused("wrong-length" if stops[0] else "out-of-range", words):
                self.plan(self.GRASPS.array, stops)
        with refused("not-a-sequence", "alternatives is 3"):
            self.plan(self.GRASPS.array, 3)  # type: ignore[arg-type]


def test_wishes_of_one_structure_are_prepared_once_and_keep_their_own_goals(monkeypatch: pytest.MonkeyPatch) -> None:
    arm, made, prepared = pz.load("panda"), list[object](), Rows.__init__

    def counted(rows: Rows, *given: Any) -> None:
        made.append(rows)
        prepared(rows, *given)

    monkeypatch.setattr(Rows, "__init__", counted)
    for one in (poses()[:1], poses()[3:4]):
        wished = pz.PositionTask("panda_link4", arm.pose("panda_link4", arm.home).xyz + one.xyz[0], required=False)
        tasks = [pz.PoseTask("panda_hand"), wished]
        path = pz.plan(arm, tasks, [one, np.asarray(wished.target)[None]], q0=arm.home)
        assert path.reached.all()
        far = np.linalg.norm(arm.pose("panda_link4", path.q[-1]).xyz - np.asarray(wished.target))
        assert path.position_errors[-1, 1] == pytest.approx(far, abs=1e-9)
    assert len(made) == 1


def test_a_posture_outside_the_limits_is_said_to_be() -> None:
    arm = pz.load("panda")
    beyond = arm.home.copy()
    beyond[3] = 0.2
    path = pz.plan(arm, pz.PostureTask(tolerance=1e-6), beyond[None], q0=arm.home)
    assert path.status is pz.Status.UNREACHABLE
    assert (
        path.failures[0].reason == "the posture has panda_joint4 0.27 rad or m beyond its limits, so nothing is there."
    )
    assert pz.plan(arm, pz.PostureTask(tolerance=0.3), beyond[None], q0=arm.home).success

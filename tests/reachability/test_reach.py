"""Where a frame can go, beside what is known in closed form."""

import _thread
import itertools
import math
import pickle
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.mechanisms import COUPLER, CRANK, GROUND, ROCKER, at, four_bar, gap, rocker_angles
from support.refusals import refused
from support.trees import trees

import poise as pz
from poise.common.array import Array
from poise.model.kinematics import frame_manipulability
from poise.reachability import search
from poise.reachability.mobility import manipulability_of
from poise.reachability.rotations import spread
from poise.robots.planar import planar
from poise.solving.problem.reach_bound import reach_bound

UPPER, FORE = 0.5, 0.3
GRID = 0.043
"""No centre of a voxel is within 1e-4 m of where a planar arm's reach ends."""
SLAB = ((-0.9, -0.9, -GRID), (0.9, 0.9, GRID))
"""The plane of a planar arm, and a layer of voxels above and below."""


def elbow(first: tuple[float, float], second: tuple[float, float]) -> pz.Model:
    """A planar arm of two links with limits."""
    b = pz.ModelBuilder("elbow")
    b.joint("shoulder", "revolute", parent="base", child="upper", limits=first)
    turned = pz.SE3.from_parts([UPPER, 0, 0])
    b.joint("elbow", "revolute", parent="upper", child="fore", origin=turned, limits=second)
    b.frame("tool", link="fore", origin=pz.SE3.from_parts([FORE, 0, 0]))
    return b.build()


def slider(lower: float, upper: float) -> pz.Model:
    """A turn about z, then a slide along x from 0.2 m to 0.6 m."""
    b = pz.ModelBuilder("slider")
    b.joint("turn", "revolute", parent="base", child="rail", limits=(lower, upper))
    b.joint("slide", "prismatic", parent="rail", child="tool", axis=(1, 0, 0), limits=(0.2, 0.6))
    return b.build()


def flat(radius: float, grid: float = GRID) -> np.ndarray:
    """The centres of voxels in the plane z = 0 within a radius."""
    steps = np.arange(-math.ceil(radius / grid), math.ceil(radius / grid) + 1) * grid
    points = np.array([(x, y, 0.0) for x, y in itertools.product(steps, steps)])
    return points[np.hypot(*points.T[:2]) <= radius]


def found_at(result: pz.ReachMap) -> dict[tuple[float, ...], bool]:
    """Whether something was reached, by centre."""
    return {tuple(p): bool(c) for p, c in zip(result.points.round(9).tolist(), result.counts, strict=True)}


def keeps(points: np.ndarray, first: tuple[float, float], second: tuple[float, float]) -> np.ndarray:
    """Whether one of the two configurations that the law of cosines gives is within the limits."""
    x, y, _ = points.T
    cosine = (x * x + y * y - UPPER**2 - FORE**2) / (2 * UPPER * FORE)
    out = np.zeros(len(points), dtype=bool)
    for sign in (1.0, -1.0):
        bend = sign * np.arccos(np.clip(cosine, -1.0, 1.0))
        turn = np.arctan2(y, x) - np.arctan2(FORE * np.sin(bend), UPPER + FORE * np.cos(bend))
        turn = (turn + math.pi) % (2 * math.pi) - math.pi
        inside = (first[0] <= turn) & (turn <= first[1]) & (second[0] <= bend) & (bend <= second[1])
        out |= inside & (np.abs(cosine) <= 1.0)
    return out


# Closed forms -------------------------------------------------------------------------------------------------------


def test_two_links_reach_their_annulus() -> None:
    result = pz.reach(planar(2, [UPPER, FORE]), "tool", grid=GRID, orientations=0)
    radius = np.linalg.norm(result.points, axis=1)
    expected = (radius >= UPPER - FORE) & (radius <= UPPER + FORE) & (result.points[:, 2] == 0.0)
    assert np.array_equal(result.counts > 0, expected)
    assert {tuple(p) for p in flat(UPPER + FORE).round(9).tolist()} <= found_at(result).keys()
    assert np.array_equal(result.proved[:, 0], radius < UPPER - FORE)
    assert result.volume == pytest.approx(expected.sum() * GRID**3)
    area = math.pi * ((UPPER + FORE) ** 2 - (UPPER - FORE) ** 2)
    assert result.volume == pytest.approx(area * GRID, rel=0.03)
    assert result.farthest is not None
    assert np.linalg.norm(result.farthest) == pytest.approx(radius[expected].max())


def test_three_links_reach_their_disc() -> None:
    result = pz.reach(planar(3, [0.4, 0.3, 0.2]), "tool", grid=GRID, orientations=0)
    assert np.array_equal(result.counts > 0, result.points[:, 2] == 0.0)
    assert np.linalg.norm(result.points, axis=1).max() <= 0.9 + 1e-6


@pytest.mark.parametrize(
    ("first", "second"), [((0.0, 3.1), (-3.0, 3.0)), ((-1.0, 0.7), (0.2, 2.5)), ((-3.0, 3.0), (-0.5, 1.5))]
)
def test_limits_are_kept(first: tuple[float, float], second: tuple[float, float]) -> None:
    arm = elbow(first, second)
    result = pz.reach(arm, "tool", grid=GRID, orientations=0, bounds=SLAB)
    level = result.points[:, 2] == 0.0
    assert 0 < level.sum() < len(level)
    assert np.array_equal(result.counts[level] > 0, keeps(result.points[level], first, second))
    assert not result.counts[~level].any()
    assert arm.within_limits(result.q[result.counts > 0])
    free = pz.reach(arm, "tool", grid=GRID, orientations=0, limits=False, bounds=SLAB)
    assert (free.counts[level] > 0).sum() > (result.counts[level] > 0).sum()


def test_a_list_of_limits_keeps_those_of_joints_too() -> None:
    arm = elbow((-1.0, 0.7), (0.2, 2.5))
    plain, empty = (
        pz.reach(arm, "tool", grid=GRID, orientations=0, limits=limits, bounds=SLAB) for limits in (True, [])
    )
    assert np.array_equal(plain.counts, empty.counts)
    assert empty.limits
    most = pz.LinearLimit({"shoulder": 1, "elbow": 1}, 1)
    together = pz.reach(arm, "tool", grid=GRID, orientations=0, limits=[most], bounds=SLAB)
    found = together.q[together.counts > 0]
    assert (found.sum(axis=1) <= 1.0 + 1e-9).all()
    assert 0 < len(found) < (plain.counts > 0).sum()
    with refused("not-a-limit", "limits"):
        pz.reach(arm, "tool", grid=GRID, limits="no")  # type: ignore[arg-type]


def test_half_a_turn_reaches_half_the_ring() -> None:
    whole = pz.reach(slider(-3.2, 3.2), "tool", grid=GRID, orientations=0)
    half = pz.reach(slider(0.0, math.pi), "tool", grid=GRID, orientations=0)
    radius = np.linalg.norm(whole.points, axis=1)
    ring = (radius >= 0.2) & (radius <= 0.6) & (whole.points[:, 2] == 0.0)
    assert np.array_equal(whole.counts > 0, ring)
    assert np.array_equal(half.counts > 0, ring & (half.points[:, 1] >= 0.0))


def test_a_planar_arm_reaches_the_orientations_of_its_plane() -> None:
    arm = planar(3, [0.4, 0.3, 0.2])
    turns = np.linspace(-3.0, 3.0, 7)
    about_z = pz.SO3.from_rotvec(np.pad(turns[:, None], ((0, 0), (2, 0))))
    tilted = pz.SO3.from_rpy([0.3, 0.0, 0.0])
    asked = pz.SO3(wxyz=[*about_z.wxyz, tilted.wxyz])
    result = pz.reach(arm, "tool", grid=GRID, orientations=asked, bounds=SLAB)
    wrist = result.points[:, None] - 0.2 * about_z.act([1.0, 0.0, 0.0])
    away = np.linalg.norm(wrist, axis=-1)
    expected = (away >= 0.1) & (away <= 0.7) & (result.points[:, 2:] == 0.0)
    assert np.array_equal(result.reached[:, :7], expected)
    assert not result.reached[:, 7].any()
    assert result.share.max() == 7 / 8
    assert result.dexterous_volume == 0.0


# Any arm ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def panda() -> pz.ReachMap:
    return pz.reach(pz.load("panda"), "panda_hand", grid=0.2, orientations=12)


def test_every_solution_is_where_it_says(panda: pz.ReachMap) -> None:
    arm, some = panda.model, panda.counts > 0
    assert some.sum() > 200
    assert arm.within_limits(panda.q[some])
    assert np.isnan(panda.q[~some]).all()
    pose = arm.pose("panda_hand", panda.q[some])
    assert np.abs(pose.xyz - panda.points[some]).max() <= 1e-6
    assert panda.orientations is not None
    left = panda.orientations.wxyz @ pose.wxyz[..., None]
    angles = 2.0 * np.arccos(np.minimum(np.abs(left[..., 0]), 1.0))
    assert (np.where(panda.reached[some], angles, np.inf).min(1) <= 1e-6 + 3e-8).all()  # arccos near 1 is that coarse
    sizes = np.linalg.svd(arm.jacobian("panda_hand", panda.q[some]), compute_uv=False)
    assert np.allclose(panda.manipulability[some], sizes.prod(-1))
    assert (panda.mean_manipulability[some] <= panda.manipulability[some] * (1.0 + 1e-12)).all()


def test_it_reaches_what_random_configurations_surround() -> None:
    """A voxel is reached if random configurations come into it and all 26 around it; and these come nowhere else."""
    arm = pz.load("panda")
    result = pz.reach(arm, "panda_hand", grid=0.1, orientations=0)
    places = arm.pose("panda_hand", arm.sample(300_000, seed=3)).xyz
    seen = {tuple(cell) for cell in np.rint(places / 0.1).astype(int).tolist()}
    around = list(itertools.product((-1, 0, 1), repeat=3))
    inner = {cell for cell in seen if all(tuple(np.add(cell, step)) in seen for step in around)}
    cells = [tuple(cell) for cell in np.rint(result.points / 0.1).astype(int).tolist()]
    reached = {cell for cell, count in zip(cells, result.counts, strict=True) if count}
    assert len(inner) > 1000
    hole = (0, 0, 3)  # the hand cannot come within 6 cm of the shoulder
    assert np.linalg.norm(places - result.centre, axis=1).min() > 0.06
    assert inner - {hole} <= reached
    assert seen >= {cell for cell in reached if all(tuple(np.add(cell, step)) in reached for step in around)}


def test_the_same_seed_gives_the_same_map(panda: pz.ReachMap, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "_TARGETS", 700)
    for threads in (1, 3):
        again = pz.reach(panda.model, "panda_hand", grid=0.2, orientations=12, threads=threads)
        assert np.array_equal(again.reached, panda.reached)
        assert np.array_equal(again.q, panda.q, equal_nan=True)
        assert np.allclose(again.mean_manipulability, panda.mean_manipulability, equal_nan=True)


def test_bounds_choose_among_the_same_voxels(panda: pz.ReachMap) -> None:
    box = np.array([[0.0, -0.4, 0.2], [0.8, 0.2, 0.7]])
    part = pz.reach(panda.model, "panda_hand", grid=0.2, orientations=12, bounds=box)
    inside = ((panda.points >= box[0] - 1e-9) & (panda.points <= box[1] + 1e-9)).all(1)
    assert np.array_equal(part.points, panda.points[inside])
    assert np.array_equal(part.reached, panda.reached[inside])


def test_more_effort_finds_no_less(panda: pz.ReachMap) -> None:
    more = pz.reach(panda.model, "panda_hand", grid=0.2, orientations=12, budget=100)
    assert not (panda.reached & ~more.reached).any()
    assert panda.counts.sum() >= 0.995 * more.counts.sum()


def test_the_summary_says_what_the_arrays_say(panda: pz.ReachMap) -> None:
    facts, text = panda.facts(), panda.summary()
    some = panda.counts > 0
    assert facts["voxels_reached"] == some.sum()
    assert facts["volume"] == pytest.approx(some.sum() * 0.008)
    assert facts["dexterous_volume"] == pytest.approx((panda.share == 1.0).sum() * 0.008)
    assert facts["share"] == pytest.approx(panda.share[some].mean())
    assert facts["targets"] == panda.reached.size > facts["solves"] > facts["targets_reached"] == panda.reached.sum()
    assert f"{some.sum():,} of {len(panda):,} voxels" in text
    assert facts["targets_proved"] == panda.proved.sum() == facts["targets"] - facts["solves"]
    assert facts["targets_not_found"] == (~panda.proved & ~panda.reached).sum()
    assert f"{facts['targets_not_found']:,} not found by 65 starts" in text
    assert f"{facts['targets_proved']:,} proved to be out of reach" in text
    assert str(panda) == text


def test_a_map_does_not_change(panda: pz.ReachMap) -> None:
    with pytest.raises(ValueError, match="read-only"):
        panda.reached[0] = False
    with pytest.raises(AttributeError):
        panda.grid = 1.0  # type: ignore[misc]
    again = pickle.loads(pickle.dumps(panda))
    assert np.array_equal(again.reached, panda.reached)
    assert not again.q.flags.writeable


def test_nothing_reached_is_a_map_too() -> None:
    arm = elbow((0.0, 1.0), (0.0, 1.0))
    result = pz.reach(arm, "tool", grid=0.1, orientations=0, bounds=((-0.5, -0.5, 0.0), (-0.3, -0.3, 0.0)))
    assert not result.counts.any()
    assert result.farthest is None
    assert result.volume == 0.0
    assert "Reached: 0 m^3" in result.summary()
    assert np.isnan(result.manipulability).all()


@pytest.mark.usefixtures("ctrl_c")
def test_half_a_map_is_none() -> None:
    timer = threading.Timer(0.5, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        pz.reach(pz.load("panda"), grid=0.02, budget=100)
    timer.join()


# What a length rules out --------------------------------------------------------------------------------------------


@given(model=trees(), seed=st.integers(0, 2**32 - 1))
def test_no_configuration_takes_a_frame_beyond_its_span(model: pz.Model, seed: int) -> None:
    q = model.sample(50, seed=seed)
    for frame in model.frames:
        if not model.tree.path(model.tree.links[model.frame(frame).link][0]):
            continue
        for of_pose in (False, True):
            ball = reach_bound(model, frame, limits=True, of_pose=of_pose)
            away = np.linalg.norm(model.pose(frame, q).act(np.tile(ball.point, (50, 1))) - ball.centre, axis=-1)
            assert (away <= ball.radius * (1.0 + 1e-12) + 1e-9).all()


@pytest.mark.parametrize("name", ["panda", "ur5e", "iiwa14"])
@pytest.mark.parametrize("of_pose", [False, True])
def test_the_span_of_an_arm_is_hardly_more_than_it_needs(name: str, of_pose: bool) -> None:
    arm = pz.load(name)
    ball = reach_bound(arm, arm.tip, limits=True, of_pose=of_pose)
    poses = arm.pose(arm.tip, arm.sample(100_000, seed=0))
    away = np.linalg.norm(poses.act(np.tile(ball.point, (100_000, 1))) - ball.centre, axis=-1)
    assert 0.99 * ball.radius <= away.max() <= ball.radius


def test_a_slide_adds_what_it_travels() -> None:
    ball = reach_bound(slider(-1.0, 1.0), "tool", limits=True, of_pose=False)
    assert ball.radius == pytest.approx(0.6)
    assert reach_bound(slider(-1.0, 1.0), "tool", limits=False, of_pose=False).radius == np.inf


# Orientations -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 32, 1000])
def test_orientations_are_unit_quaternions(count: int) -> None:
    turns = spread(count)
    assert turns.wxyz.shape == (count, 4)
    assert np.allclose(np.linalg.norm(turns.wxyz, axis=1), 1.0)


def test_orientations_leave_no_gap() -> None:
    """Of 1000 rotations the best known cover all to 18 degrees or so; random ones leave gaps of 35."""
    turns, rng = spread(1000).wxyz, np.random.default_rng(0)
    asked = rng.normal(size=(20_000, 4))
    asked /= np.linalg.norm(asked, axis=1, keepdims=True)
    gaps = 2.0 * np.degrees(np.arccos(np.minimum(np.abs(asked @ turns.T).max(1), 1.0)))
    assert gaps.max() < 28.0
    between = 2.0 * np.degrees(np.arccos(np.minimum(np.abs(turns @ turns.T) * (1.0 - np.eye(1000)), 1.0)))
    assert between.min() > 8.0


# Manipulability -----------------------------------------------------------------------------------------------------


@given(model=trees(), seed=st.integers(0, 2**32 - 1), linear=st.booleans())
def test_manipulability_is_the_product_of_the_singular_values(model: pz.Model, seed: int, linear: bool) -> None:
    q = model.sample(5, seed=seed)
    for name in model.frames:
        rows = model.jacobian(name, q)[:, : 3 if linear else 6]
        moving = rows.any(axis=(0, 1))
        if not moving.any() or not rows.any():
            continue
        frame = model.frame(name)
        path = [model.velocity_index(model.follows(j)[0]) for j in model.root_path(frame.link) if j.size]
        if len(np.unique(np.concatenate([np.arange(model.nv)[some] for some in path]))) != moving.sum():
            continue  # one of them does not move the frame, as where its axis goes through it
        basis = np.eye(6)[: 3 if linear else 6]
        sizes = np.linalg.svd(rows[:, :, moving], compute_uv=False)
        found = frame_manipulability(model, frame, q, basis)
        assert np.allclose(found, sizes.prod(-1), rtol=1e-6, atol=1e-7 * (1.0 + sizes.max()) ** sizes.shape[-1])


def test_manipulability_of_two_links_is_that_of_the_textbook() -> None:
    """Yoshikawa 1985: l1 l2 |sin q2|."""
    arm = planar(2, [UPPER, FORE])
    result = pz.reach(arm, "tool", grid=GRID, orientations=0)
    some = result.counts > 0
    assert np.allclose(result.manipulability[some], UPPER * FORE * np.abs(np.sin(result.q[some, 1])), atol=1e-9)
    assert np.array_equal(result.manipulability, result.mean_manipulability, equal_nan=True)


def test_an_arm_with_few_joints_is_told_before_that_it_reaches_no_orientation() -> None:
    words = r"2 joints move 'tool', .* asks for six: .* orientations=0, --orientations 0 in a shell, asks for places"
    with pytest.warns(UserWarning, match=words):
        assert not pz.reach(planar(2, [UPPER, FORE]), "tool", grid=0.5, orientations=4, budget=0).counts.any()


def test_a_redundant_planar_arm_is_not_always_singular() -> None:
    arm = planar(4, [0.3, 0.3, 0.2, 0.1])
    result = pz.reach(arm, "tool", grid=0.1, orientations=0, bounds=((-0.5, -0.5, 0.0), (0.5, 0.5, 0.0)))
    some = result.counts > 0
    sizes = np.linalg.svd(arm.jacobian("tool", result.q[some])[:, :2], compute_uv=False)
    assert np.allclose(result.manipulability[some], sizes.prod(-1))
    assert result.manipulability[some].min() > 1e-4


# What is refused ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ({"frame": "hand"}, "unknown-name", "did you mean"),
        ({"frame": "panda_link0"}, "nothing-moves", "'panda_link0'"),
        ({"grid": 0.0}, "not-positive", "grid"),
        ({"grid": -0.1}, "not-positive", "grid"),
        ({"grid": math.nan}, "not-finite", "grid"),
        ({"grid": "0.1"}, "not-a-number", "grid"),
        ({"grid": 1e-3}, "too-many", "grid=0.00"),
        ({"orientations": -1}, "out-of-range", "orientations"),
        ({"orientations": 2.5}, "not-whole", "orientations"),
        ({"orientations": pz.SO3(wxyz=np.ones((2, 2, 4)))}, "wrong-shape", "rotations"),
        ({"bounds": (0, 1)}, "wrong-shape", "corners"),
        ({"bounds": ((0, 0, 0), (1, -1, 1))}, "inconsistent", "bounds"),
        ({"bounds": ((0, 0, 0), (1, math.inf, 1))}, "not-finite", "bounds"),
        ({"bounds": ((4, 4, 4), (5, 5, 5))}, "empty", "voxel"),
        ({"budget": -1}, "out-of-range", "budget"),
        ({"threads": 0}, "out-of-range", "threads"),
        ({"seed": -1}, "out-of-range", "seed"),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused(arguments: dict[str, object], code: str, words: str) -> None:
    with refused(code, words):
        pz.reach(pz.load("panda"), **({"grid": 0.5} | arguments))


def test_a_slide_without_limits_needs_bounds() -> None:
    b = pz.ModelBuilder("rail")
    b.joint("slide", "prismatic", parent="base", child="cart", axis=(1, 0, 0))
    b.joint("turn", "revolute", parent="cart", child="arm")
    b.frame("tool", link="arm", origin=pz.SE3.from_parts([0.3, 0.0, 0.0]))
    with refused("no-limits", "bounds"):
        pz.reach(b.build(), "tool", orientations=0)
    result = pz.reach(b.build(), "tool", grid=0.1, orientations=0, bounds=((-2, -0.5, 0), (2, 0.5, 0)))
    assert np.array_equal(result.counts > 0, np.abs(result.points[:, 1]) <= 0.3 + 1e-9)


# Loops ----------------------------------------------------------------------------------------------------------------


def crank_and_rocker() -> tuple[pz.Model, Array]:
    """A four-bar with two hinges on its coupler, and (n, 2) where the first of them can be."""
    b = pz.ModelBuilder("bar")
    for name, parent, x in (
        ("crank", "base", 0.0), ("coupler", "crank_link", CRANK), ("rocker", "base", GROUND),
        ("fore", "coupler_link", 0.5), ("hand", "fore_link", 0.3),
    ):  # fmt: skip
        b.joint(name, "revolute", parent=parent, child=f"{name}_link", origin=at(x, 0, 0), limits=(-7.0, 7.0))
    b.frame("coupler_end", link="coupler_link", origin=at(COUPLER, 0, 0))
    b.frame("rocker_end", link="rocker_link", origin=at(ROCKER, 0, 0))
    b.frame("pen", link="hand_link", origin=at(0.2, 0, 0))
    b.loop("coupler_end", "rocker_end")
    places = []
    for crank in np.linspace(0.0, 2.0 * np.pi, 1000):
        pin = CRANK * np.array([np.cos(crank), np.sin(crank)])
        for rocker in rocker_angles(crank):
            along = [GROUND + ROCKER * np.cos(rocker), ROCKER * np.sin(rocker)] - pin
            places.append(pin + 0.5 * along / np.linalg.norm(along))
    return b.build(), np.array(places)


def test_a_frame_with_loops_reaches_what_closed_configurations_do() -> None:
    bar, places = crank_and_rocker()
    found = pz.reach(bar, "pen", grid=0.1, orientations=0, bounds=[(-1, -1.2, 0), (1.6, 1.6, 0)], progress=False)
    away = np.linalg.norm(found.points[:, None, :2] - places, axis=2)
    can = ((away >= 0.3 - 0.2) & (away <= 0.3 + 0.2)).any(axis=1)
    assert 100 < can.sum() < len(found)
    np.testing.assert_array_equal(found.counts > 0, can)
    for q, point in zip(found.q[can], found.points[can], strict=True):
        assert gap(bar, q) <= 1e-6
        assert bar.pose("pen", q).xyz == pytest.approx(point, abs=1e-6)


def test_how_well_it_moves_is_by_motions_that_keep_loops_closed() -> None:
    """Of a four-bar the way of the pen beside that of the joints, by differences."""
    bar = four_bar()
    rows = []
    for crank in np.linspace(0.0, 6.0, 4001):
        rocker = rocker_angles(crank)[0]
        along = [GROUND + ROCKER * np.cos(rocker) - CRANK * np.cos(crank)]
        along += [ROCKER * np.sin(rocker) - CRANK * np.sin(crank)]
        rows.append([crank, np.arctan2(along[1], along[0]) - crank, rocker])
    q = np.unwrap(np.array(rows), axis=0)
    ways = np.linalg.norm(np.diff(bar.pose("pen", q).xyz, axis=0), axis=1) / np.linalg.norm(np.diff(q, axis=0), axis=1)
    middles = manipulability_of(bar, pz.PositionTask("pen"), "position")(q)
    np.testing.assert_allclose(0.5 * (middles[1:] + middles[:-1]), ways, rtol=1e-5)

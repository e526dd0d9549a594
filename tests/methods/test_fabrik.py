"""FABRIK: its points against a version in NumPy, the joints that follow them, and what it refuses."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.refusals import refused

import poise as pz
from poise.common.array import Array
from poise.methods.fabrik import fabrik_positions
from poise.robots import TEXTBOOK

numba = pytest.importorskip("numba")

seeds = st.integers(0, 2**32 - 1)
few = settings(max_examples=60)


@numba.njit(_nrt=False, error_model="numpy")
def _run(nodes, chain, lengths, goals, places, sums, passes):  # type: ignore[no-untyped-def]
    fabrik_positions(nodes, chain, lengths, goals, places, sums, passes)


def positions(parents: Sequence[int], places: Array, targets: dict[int, Array], passes: int = 1) -> Array:
    """(n, 3) what the kernel makes of nodes at `places` (n, 3), each with the one before it."""
    n = len(parents)
    nodes = np.zeros((n, 4), dtype=np.int64)
    nodes[:, 0] = parents
    lengths, goals = np.zeros(n), np.zeros((n, 3))
    for i, parent in enumerate(parents):
        if parent >= 0:
            nodes[parent, 2] += 1
            lengths[i] = np.linalg.norm(places[i] - places[parent])
    for i, target in targets.items():
        nodes[i, 3], goals[i] = 1, target
    out = places.ravel().copy()
    chain = int(list(parents) == list(range(-1, n - 1)))
    _run(nodes, chain, lengths, goals.ravel(), out, np.zeros(3 * n), passes)
    return out.reshape(-1, 3)


def reference(parents: Sequence[int], places: Array, targets: dict[int, Array], passes: int = 1) -> Array:
    """The same by the paper: inwards to the sub-bases, their centroids, outwards."""
    x = places.copy()
    lengths = [np.linalg.norm(x[i] - x[p]) for i, p in enumerate(parents)]

    def along(a: Array, b: Array, length: Any) -> Array:
        return a + length * (b - a) / np.linalg.norm(b - a)

    for _ in range(passes):
        wishes: list[list[Array]] = [[targets[i]] if i in targets else [] for i in range(len(parents))]
        for i in reversed(range(len(parents))):
            if parents[i] >= 0:
                x[i] = np.mean(wishes[i], axis=0)
                wishes[parents[i]].append(along(x[i], x[parents[i]], lengths[i]))
        for i, parent in enumerate(parents):
            if parent >= 0:
                x[i] = along(x[parent], x[i], lengths[i])
    return x


def chain(rng: np.random.Generator, n: int) -> tuple[list[int], Array]:
    """A random chain of n nodes."""
    return list(range(-1, n - 1)), np.cumsum(rng.normal(size=(n, 3)), axis=0)


@few
@given(seeds, st.integers(3, 12), st.integers(1, 4))
def test_points_of_a_chain_keep_its_links_and_come_nearer(seed: int, n: int, passes: int) -> None:
    rng = np.random.default_rng(seed)
    parents, places = chain(rng, n)
    lengths = np.linalg.norm(np.diff(places, axis=0), axis=1)
    bent = places[0] + np.cumsum(np.vstack([np.zeros(3), _directions(rng, n - 1) * lengths[:, None]]), axis=0)
    targets = {n - 1: bent[-1]}
    np.testing.assert_allclose(
        positions(parents, places, targets, passes), reference(parents, places, targets, passes), rtol=0, atol=1e-9
    )
    errors = []
    for _ in range(10):
        errors.append(np.linalg.norm(places[-1] - bent[-1]))
        places = positions(parents, places, targets)
        np.testing.assert_allclose(np.linalg.norm(np.diff(places, axis=0), axis=1), lengths, rtol=1e-12)
    assert (np.diff(errors) <= 1e-9).all()


def _directions(rng: np.random.Generator, n: int) -> Array:
    x = rng.normal(size=(n, 3))
    return x / np.linalg.norm(x, axis=1, keepdims=True)


@few
@given(seeds, st.integers(1, 3))
def test_sub_bases_go_to_the_centroid_of_their_branches(seed: int, passes: int) -> None:
    rng = np.random.default_rng(seed)
    parents = [-1, 0, 1, 1, 2, 2, 3]
    places = rng.normal(size=(7, 3))
    targets = {4: rng.normal(size=3), 5: rng.normal(size=3), 6: rng.normal(size=3), 2: rng.normal(size=3)}
    found = positions(parents, places, targets, passes)
    np.testing.assert_allclose(found, reference(parents, places, targets, passes), rtol=0, atol=1e-9)
    lengths = [np.linalg.norm(places[i] - places[p]) for i, p in enumerate(parents) if p >= 0]
    after = [np.linalg.norm(found[i] - found[p]) for i, p in enumerate(parents) if p >= 0]
    np.testing.assert_allclose(after, lengths, rtol=1e-12)


def test_a_chain_lies_straight_towards_a_target_out_of_reach() -> None:
    parents, places = chain(np.random.default_rng(1), 6)
    lengths = np.linalg.norm(np.diff(places, axis=0), axis=1)
    way = _directions(np.random.default_rng(2), 1)[0]
    found = positions(parents, places, {5: places[0] + 2.0 * lengths.sum() * way})
    np.testing.assert_allclose(found, places[0] + np.r_[0.0, np.cumsum(lengths)][:, None] * way, rtol=0, atol=1e-12)


def balls(n: int) -> pz.Model:
    """A chain of n balls, a metre from one to the next, with joints' links l0, l1 ... and the frame tip."""
    builder = pz.ModelBuilder("balls")
    for i in range(n):
        builder.joint(
            f"b{i}", "spherical", parent=f"l{i - 1}" if i else "world", child=f"l{i}",
            origin=pz.SE3.from_parts([1.0 if i else 0.0, 0.0, 0.0]),
        )  # fmt: skip
    builder.frame("tip", link=f"l{n - 1}", origin=pz.SE3.from_parts([1.0, 0.0, 0.0]))
    return builder.build()


@pytest.mark.parametrize("passes", [1, 3])
@pytest.mark.parametrize("kind", ["balls", "planar"])
def test_balls_and_flat_arms_follow_the_points_exactly(kind: str, passes: int) -> None:
    model = balls(5) if kind == "balls" else TEXTBOOK["planar5"]()
    tip = "tip" if kind == "balls" else "tool"
    links = [joint.child for joint in model.joints if joint.nq]

    def points(q: Array) -> Array:
        return np.array([model.pose(frame, q).xyz for frame in [*links, tip]])

    rng = np.random.default_rng(3)
    for _ in range(10):
        q, there = model.sample(2, seed=rng)
        target = model.pose(tip, there).xyz
        after = pz.Tracker(model, pz.PositionTask(tip), pz.methods.Fabrik(passes=passes)).step(q, target[None])
        wanted = reference(range(-1, 5), points(q), {5: target}, passes)
        np.testing.assert_allclose(points(after), wanted, rtol=0, atol=1e-8)


def solved(model: pz.Model, frames: Sequence[str], count: int, **how: Any) -> list[int]:
    """The updates of each of `count` solves that converge, from random starts to targets that are within reach."""
    rng = np.random.default_rng(2)
    updates = []
    for _ in range(count):
        there, q0 = model.sample(2, seed=rng)
        tasks = [pz.PositionTask(f, model.pose(f, there).xyz, tolerance=how.get("tolerance", 1e-6)) for f in frames]
        solution = pz.solve(model, tasks, q0=q0, method=how.get("method", "fabrik"), limits=False, max_restarts=0)
        if solution.success:
            updates.append(solution.iterations)
    return updates


def test_ten_links_take_a_few_passes_and_fewer_than_descent_by_coordinates() -> None:
    model = TEXTBOOK["planar10"]()
    ours = solved(model, ["tool"], 100, tolerance=1e-3)
    theirs = solved(model, ["tool"], 100, tolerance=1e-3, method="ccd")
    assert len(ours) == len(theirs) == 100
    assert np.mean(ours) <= 5.0
    assert np.mean(ours) < 0.3 * np.mean(theirs)


def test_it_reaches_what_balls_reach_and_hinges_that_meet_in_pairs() -> None:
    assert len(solved(balls(3), ["tip"], 50)) == 50
    assert len(solved(TEXTBOOK["iiwa14"](), ["iiwa_link_ee"], 50)) == 50


def test_other_hinges_and_branches_follow_as_well_as_they_can() -> None:
    assert len(solved(TEXTBOOK["panda"](), ["panda_hand"], 40)) >= 34
    assert len(solved(TEXTBOOK["y"](), ["e0", "e1"], 40)) >= 26
    assert len(solved(TEXTBOOK["double_y"](), ["e0", "e1", "e2", "e3"], 40)) >= 36


def test_a_ball_that_carries_two_effectors_turns_to_both() -> None:
    builder = pz.ModelBuilder("head")
    builder.joint("neck", "spherical", parent="world", child="skull")
    builder.frame("left", link="skull", origin=pz.SE3.from_parts([1.0, 0.5, 0.0]))
    builder.frame("right", link="skull", origin=pz.SE3.from_parts([1.0, -0.5, 0.2]))
    model = builder.build()
    assert len(solved(model, ["left", "right"], 20)) == 20


@pytest.mark.parametrize("kind", ["balls", "planar"])
def test_a_chain_on_one_line_with_its_target_is_bent(kind: str) -> None:
    model, tip = (balls(4), "tip") if kind == "balls" else (TEXTBOOK["planar4"](), "tool")
    for x in (2.5, 0.7, -1.0):
        solution = pz.solve(model, pz.PositionTask(tip, [x, 0.0, 0.0]), method="fabrik", max_restarts=0)
        assert solution.success, x
        again = pz.solve(model, pz.PositionTask(tip, [x, 0.0, 0.0]), method="fabrik", max_restarts=0)
        np.testing.assert_array_equal(solution.q, again.q)


def test_an_arm_points_at_a_target_out_of_reach_and_rests() -> None:
    model = TEXTBOOK["planar4"]()
    tracker = pz.Tracker(model, pz.PositionTask("tool"), "fabrik")
    q = tracker.step(np.array([0.3, -0.5, 0.9, 0.2]), [3.0, 4.0, 0.0]).copy()
    np.testing.assert_allclose(model.pose("tool", q).xyz, [2.4, 3.2, 0.0], rtol=0, atol=1e-9)
    np.testing.assert_allclose(tracker.step(q), q, rtol=0, atol=1e-9)


def test_eight_characters_go_as_one_does() -> None:
    model = balls(4)
    tracker = pz.Tracker(model, pz.PositionTask("tip"), pz.methods.Fabrik(passes=2))
    starts = np.concatenate([model.home[None], model.sample(2, seed=4)])
    targets = model.pose("tip", model.sample(15, seed=5)).xyz.reshape(3, 5, 1, 3).copy()
    targets[0, 0] = [2.0, 0.0, 0.0]
    together = tracker.rollout(starts, targets)
    for start, target, path in zip(starts, targets, together, strict=True):
        np.testing.assert_allclose(tracker.rollout(start, target), path, rtol=0, atol=1e-8)


def test_what_it_cannot_do_is_refused_by_name() -> None:
    arm = TEXTBOOK["planar3"]()
    with refused("not-supported", "'fabrik'"):
        pz.solve(arm, pz.PoseTask("tool", pz.SE3.identity()), method="fabrik")
    with refused("not-supported", "PositionTask('tool')"):
        pz.solve(arm, pz.PositionTask("tool", [1, 0, 0], weight=(2.0, 1.0, 1.0)), method="fabrik")
    builder = pz.ModelBuilder("lift")
    builder.joint("rail", "prismatic", parent="world", child="cart", axis=(0, 0, 1))
    builder.joint("elbow", "revolute", parent="cart", child="arm")
    builder.frame("tip", link="arm", origin=pz.SE3.from_parts([1.0, 0.0, 0.0]))
    with refused("not-supported", "'rail'"):
        pz.solve(builder.build(), pz.PositionTask("tip", [1, 0, 0]), method="fabrik")
    builder = pz.ModelBuilder("finger")
    builder.joint("knuckle", "revolute", parent="world", child="bone")
    builder.joint("tip", "revolute", parent="bone", child="nail", mimic=pz.Mimic(joint="knuckle"))
    with refused("not-supported", "'knuckle'"):
        pz.solve(builder.build(), pz.PositionTask("nail", [1, 0, 0]), method="fabrik")
    with refused("out-of-range", "passes"):
        pz.methods.Fabrik(passes=0)

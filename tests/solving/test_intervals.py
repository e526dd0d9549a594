"""Intervals of a swept joint: that they hold all solutions and no others, and where they end."""

import numpy as np
import numpy.typing as npt
import pytest
from arms import arm, lines, nearest, unit
from independent import fk, pose_error
from support.refusals import refused

import poise as pz
from poise.robots import TEXTBOOK

Array = npt.NDArray[np.float64]
KINDS = ("panda", "iiwa14", "turning first", "turning last", "sliding first", "sliding last", "lying anyhow")


def seven(kind: str) -> tuple[pz.Model, str]:
    """An arm of seven joints, and its frame."""
    if kind in TEXTBOOK:
        model = TEXTBOOK[kind]()
        return model, model.tip
    rng = np.random.default_rng(KINDS.index(kind))
    h, p = lines("three parallel", rng)
    if kind == "lying anyhow":
        h, p = np.array([unit(rng) for _ in range(6)]), rng.normal(size=(6, 3))
    end = 0 if kind.endswith("first") else 6
    h, p = np.insert(h, end, unit(rng), axis=0), np.insert(p, end, rng.normal(size=3), axis=0)
    kinds = {end: "prismatic"} if kind.startswith("sliding") else {}
    return arm(h, p, kinds=kinds, limits=(-2.8, 2.5)), "tool"


@pytest.mark.parametrize("kind", KINDS)
def test_each_value_has_as_many_solutions_as_intervals_hold_it(kind: str) -> None:
    model, frame = seven(kind)
    every, at_one = (pz.BranchSolver(model, pz.PoseTask(frame), samples=samples) for samples in (64, 1))
    assert every.swept is not None
    swept = model.coordinates.index(every.swept)
    rng = np.random.default_rng(0)
    for q in model.sample(1, seed=1):
        target = model.pose(frame, q)
        found = every.intervals(target, q)
        values = np.append(rng.uniform(model.lower[swept], model.upper[swept], 30), q[swept])
        for value in values:
            start = q.copy()
            start[swept] = value
            assert sum(one.low <= value <= one.high for one in found) == len(at_one(target, start))
        for one in found:
            assert one.swept == every.swept
            assert one.low == one.q[0, swept] < one.high == one.q[-1, swept]
            assert np.all(np.diff(one.q[:, swept]) > 0.0)
            assert model.within_limits(one.q)
            assert max(max(pose_error(fk(model, frame, x), target.matrix())) for x in one.q[:: len(one.q) // 3]) < 1e-10


@pytest.mark.parametrize("kind", ["panda", "lying anyhow"])
def test_an_interval_ends_where_branches_meet_or_a_joint_is_at_its_limit(kind: str) -> None:
    model, frame = seven(kind)
    every = pz.BranchSolver(model, pz.PoseTask(frame))
    others = [i for i, name in enumerate(model.coordinates) if name != every.swept]
    ends = dict[str, int]()
    for q in model.sample(2, seed=2):
        for one in every.intervals(model.pose(frame, q)):
            for x, what in zip(one.q[[0, -1]], one.ends, strict=True):
                ends[what.split(" ")[-1]] = ends.get(what.split(" ")[-1], 0) + 1
                if what == "two branches meet":
                    # An interval ends where the square of this is 0.
                    values = np.linalg.svd(model.jacobian(frame, x)[:, others], compute_uv=False)
                    assert values[-1] < 1e-5 * values[0]
                else:
                    name, side = what.split(" at its ")
                    at = model.lower if side == "lower limit" else model.upper
                    i = model.coordinates.index(name)
                    assert abs(x[i] - at[i]) < 1e-9
    assert min(ends.get("meet", 0), ends.get("limit", 0)) > 0


def test_a_joint_that_goes_round_has_an_interval_without_an_end() -> None:
    model, frame = seven("panda")
    every = pz.BranchSolver(model, pz.PoseTask(frame), limits=False)
    found = every.intervals(model.pose(frame, model.sample(seed=4)))
    round_about = [one for one in found if one.ends[0] == "a whole turn"]
    for one in round_about:
        assert one.ends == ("a whole turn", "a whole turn")
        assert one.high - one.low == pytest.approx(2.0 * np.pi)
        assert nearest(one.q[:1], one.q[-1]) < 1e-9
    assert round_about


def near_the_border(count: int) -> tuple[pz.Model, pz.BranchSolver, Array]:
    """An iiwa, its solver, and configurations whose elbow is nearly straight, so that few values have a solution."""
    model = TEXTBOOK["iiwa14"]()
    q = np.array(model.sample(count, seed=4))
    q[:, 3] = np.random.default_rng(5).choice([-3e-3, 3e-3, 2e-2, -2e-2], count)
    return model, pz.BranchSolver(model, pz.PoseTask(model.tip)), q


def test_a_pose_that_no_sample_reaches_is_found_between_them() -> None:
    model, every, some = near_the_border(20)
    targets = model.pose(model.tip, some)
    batch, between = every.batch(targets, threads=2), 0
    for k in range(len(some)):
        target = targets[k]
        found = every(target)
        assert len(found) > 0
        assert np.array_equal(found.q, batch[k])
        assert found.total == batch.totals[k]
        assert model.within_limits(found.q)
        assert max(found[0].position_error, found[0].rotation_error) < 1e-5
        assert not found.complete
        if "by a search" in found.explain():
            between += 1
            assert len(np.unique(found.q[:, 6])) == 1
            # The search stops within the tolerances, a little beside the curve.
            near = [one for one in every.intervals(target) if one.low - 2e-3 < found.q[0, 6] < one.high + 2e-3]
            assert near
            assert max(one.high - one.low for one in near) < 0.1
    assert between > 3
    assert "at 64 values of" in every(model.pose(model.tip, model.sample(seed=6))).explain()


def test_out_of_reach_there_are_none() -> None:
    model, frame = seven("panda")
    every = pz.BranchSolver(model, pz.PoseTask(frame))
    far = pz.SE3.from_parts([3.0, 0.0, 0.2])
    assert every.intervals(far) == ()
    assert len(every(far)) == 0


def test_what_has_no_intervals_is_refused() -> None:
    panda, model = TEXTBOOK["panda"](), TEXTBOOK["ur5e"]()
    with refused("not-finite"):
        pz.BranchSolver(panda, pz.PoseTask(panda.tip)).intervals([np.nan, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    with refused("not-supported", "swept"):
        pz.BranchSolver(model, pz.PoseTask(model.tip)).intervals(model.pose(model.tip, model.home))

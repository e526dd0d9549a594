"""A posture beside tasks that are not required: it goes as near as what these miss as little allows."""

from typing import Any

import numpy as np
import pytest
from support.mechanisms import four_bar
from test_soft import least, soft_cost

import poise as pz

PANDA = pz.load("panda")
UR5E = pz.load("ur5e")
_SEEDS = range(6)


def asked(model: pz.Model, link: str, seed: int) -> tuple[list[Any], list[Any], np.ndarray]:
    """A place for the tip, one for another link half a metre above it, which is out of reach; and a posture."""
    place = model.pose(model.tip, model.sample(seed=seed)).xyz
    above = pz.PositionTask(link, place + np.array([0.0, 0.0, 0.5]), required=False)
    return [pz.PositionTask(model.tip, place)], [above], model.sample(seed=10**6 + seed)


def turned(model: pz.Model, seed: int) -> tuple[list[Any], list[Any], np.ndarray]:
    """A place for the tip, a turn of it that may be out of reach there, and a posture."""
    place = model.pose(model.tip, model.sample(seed=seed)).xyz
    turn = model.pose(model.tip, model.sample(seed=seed + 7777)).rotation
    soft = pz.OrientationTask(model.tip, turn, weight=0.3, required=False)
    return [pz.PositionTask(model.tip, place)], [soft], model.sample(seed=10**6 + seed)


@pytest.mark.parametrize("seed", _SEEDS)
def test_a_joint_that_moves_nothing_of_what_is_asked_is_at_the_posture(seed: int) -> None:
    """The last joint of a Panda turns about the line through its tip and the link before it."""
    required, soft, rest = asked(PANDA, "panda_link7", seed)
    q = pz.solve(PANDA, [*required, *soft, pz.PostureTask(rest)]).q
    assert q[6] == pytest.approx(rest[6], abs=1e-12)


@pytest.mark.parametrize("seed", _SEEDS)
def test_what_is_missed_is_the_least_and_along_that_nothing_near_is_nearer(seed: int) -> None:
    required, soft, rest = asked(PANDA, "panda_link7", seed)
    solution = pz.solve(PANDA, [*required, *soft, pz.PostureTask(rest)])
    assert solution.success
    assert "had not come to rest" not in solution.explain()
    cost = soft_cost(PANDA, soft, solution.q)
    assert cost <= least(PANDA, required, soft, solution.q)[0] + 1e-7
    away = float(np.linalg.norm(solution.q - rest))
    rng = np.random.default_rng(seed)
    for _ in range(4):
        aside = PANDA.clip(solution.q + 0.05 * (rest - solution.q) + 0.02 * rng.normal(size=7))
        other = pz.solve(PANDA, [*required, *soft], q0=aside, max_restarts=0)
        if other.success and soft_cost(PANDA, soft, other.q) <= cost + 1e-9:
            assert np.linalg.norm(other.q - rest) > away - 1e-3


@pytest.mark.parametrize("model", [PANDA, UR5E], ids=lambda model: model.name)
def test_a_posture_takes_nothing_from_what_is_not_required(model: pz.Model) -> None:
    """The same is missed, or fulfilled, as without it; which of many minima a search finds may be another."""
    missed = []
    for seed in range(20):
        required, soft, rest = turned(model, seed)
        alone, beside = (
            soft_cost(model, soft, pz.solve(model, [*required, *soft, *more]).q)
            for more in ([], [pz.PostureTask(rest)])
        )
        missed.append((alone, beside))
    costs = np.array(missed)
    assert np.count_nonzero(costs[:, 1] > costs[:, 0] + 1e-4) <= 2
    assert costs[:, 1].sum() <= 1.1 * costs[:, 0].sum()


def test_what_is_fulfilled_is_as_near_to_the_posture_as_if_it_were_required() -> None:
    away = []
    for seed in range(12):
        required, soft, rest = turned(PANDA, seed)
        hard = [pz.OrientationTask(PANDA.tip, soft[0].target, weight=0.3)]
        one, other = (pz.solve(PANDA, [*required, *asked, pz.PostureTask(rest)]) for asked in (soft, hard))
        if other.success:
            assert one.errors[1].rotation <= 1e-6
            away.append([np.linalg.norm(x.q - rest) for x in (one, other)])
    assert len(away) >= 4
    mine, theirs = np.mean(away, axis=0)
    assert mine <= 1.05 * theirs


def test_the_derivative_by_the_posture_is_that_of_the_joints_it_has_to_itself() -> None:
    """Where it draws several together, there is none."""
    words = set()
    for seed in _SEEDS:
        required, soft, rest = asked(PANDA, "panda_link7", seed)
        gradient = pz.solve(PANDA, [*required, *soft, pz.PostureTask(rest)]).gradient()
        words.add(gradient.status)
        if gradient.status == "undefined":
            assert "the posture draws several joints together" in gradient.reason
        else:
            assert gradient.by_posture[6] == pytest.approx(np.eye(7)[6], abs=1e-9)
    assert words >= {"smooth", "undefined"}


def test_more_starts_do_not_make_it_worse() -> None:
    """Where a descent is slow it may be the best one all the same."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        place = PANDA.pose(PANDA.tip, PANDA.sample(seed=seed)).xyz
        soft = [pz.AxisTask(PANDA.tip, target=rng.normal(size=3), weight=0.3, required=False)]
        tasks = [pz.PositionTask(PANDA.tip, place), *soft]
        one = pz.solve(PANDA, tasks, max_restarts=0)
        many = pz.solve(PANDA, tasks, q0=one.q)
        assert soft_cost(PANDA, soft, many.q) <= soft_cost(PANDA, soft, one.q) + 1e-9


# Beside what must hold

_FAR = pz.PositionTask("panda_hand", [2.0, 0.3, 0.4], required=False)
_WITHOUT_AND_WITH = pytest.mark.parametrize("more", [[], [pz.PostureTask(PANDA.home)]], ids=["alone", "posture"])


@_WITHOUT_AND_WITH
def test_what_is_not_required_is_missed_least_within_a_region(more: list[Any]) -> None:
    """The nearest point of the half-space x <= 0.5 is 1.5 m away, and an arm has it there."""
    region = pz.RegionTask("panda_hand", pz.HalfSpace((0.5, 0.0, 0.0), (1.0, 0.0, 0.0)))
    answer = pz.solve(PANDA, [_FAR, region, *more])
    assert answer.success
    assert answer.errors[0].position == pytest.approx(1.5, abs=1e-3)
    assert PANDA.pose("panda_hand", answer.q).xyz[0] <= 0.5 + 1e-9


@_WITHOUT_AND_WITH
def test_what_is_not_required_is_missed_least_within_a_sum_of_joints(more: list[Any]) -> None:
    """SLSQP finds nothing below 1.1655 m from eight starts."""
    bent = pz.LinearLimit({"panda_joint2": 1.0, "panda_joint4": 1.0}, -2.2)
    answer = pz.solve(PANDA, [_FAR, *more], limits=[bent])
    assert answer.success
    assert answer.errors[0].position < 1.167
    assert answer.q[1] + answer.q[3] <= -2.2 + 1e-9


def test_what_is_not_required_is_missed_least_within_the_tolerance_of_a_posture() -> None:
    """As within limits of the joints that are as tight."""
    for seed in range(8):
        rest = PANDA.sample(seed=seed)
        place = 1.5 * PANDA.pose("panda_hand", PANDA.sample(seed=70 + seed)).xyz
        far = [pz.PositionTask("panda_hand", place, required=False)]
        low, high = np.maximum(rest - 0.05, PANDA.lower), np.minimum(rest + 0.05, PANDA.upper)
        box = dict(zip(PANDA.joint_names, np.stack([low, high], axis=1).tolist(), strict=False))
        narrow = pz.solve(PANDA.with_limits(box), far)
        answer = pz.solve(PANDA, [*far, pz.PostureTask(rest, tolerance=0.05)])
        assert answer.success
        assert np.abs(answer.q - rest).max() <= 0.05 + 1e-9
        assert answer.errors[0].position <= narrow.errors[0].position + 1e-4


@pytest.mark.parametrize(("seed", "k"), [(39, 3), (70, 2), (73, 0), (131, 0)])
def test_no_more_is_missed_than_at_a_start_that_fulfils_what_is_required(seed: int, k: int) -> None:
    """Though what the posture draws begins at the posture."""
    elbow, place = "panda_link4", np.random.default_rng(seed).uniform([-0.3, -0.3, 0.3], [0.3, 0.3, 0.8])
    rest, *starts = PANDA.sample(5, seed=seed)
    soft = pz.PositionTask(elbow, place, required=False)
    tasks = [pz.PositionTask("panda_hand"), soft, pz.PostureTask(rest)]
    found = pz.Solver(PANDA, tasks)([PANDA.pose("panda_hand", starts[k]).xyz, None, None], starts[k])
    assert found.success
    missed, before = (np.linalg.norm(PANDA.pose(elbow, q).xyz - place) for q in (found.q, starts[k]))
    assert missed <= before + 1e-9


def test_only_the_ratios_of_weights_count() -> None:
    far = pz.PositionTask("panda_hand", [2.0, 0.2, 0.5], required=False)
    rest = PANDA.sample(seed=4)
    one, other = (pz.solve(PANDA, [far, pz.PostureTask(rest, weight=w)]).q for w in (1.0, 1e4))
    assert other == pytest.approx(one, abs=1e-6)
    assert one[6] == pytest.approx(rest[6], abs=1e-9)


def test_a_loop_takes_nothing_from_what_is_not_required_beside_a_posture() -> None:
    model = four_bar()
    for seed in range(6):
        rng = np.random.default_rng(seed)
        wish = pz.PositionTask("coupler_end", np.array([*rng.uniform(-2.0, 2.0, 2), 0.0]), required=False)
        alone, beside = (pz.solve(model, [wish, *more]) for more in ([], [pz.PostureTask(model.sample(seed=seed))]))
        assert beside.errors[0].position <= alone.errors[0].position + 1e-5


def test_a_soft_task_that_what_is_required_leaves_nothing_is_no_error() -> None:
    """All rows of a pose take up what six joints move, so a place of the elbow is had only where it is as it comes."""
    q = UR5E.sample(seed=3)
    elbow = UR5E.frames[len(UR5E.frames) // 2]
    pose, place = pz.PoseTask(UR5E.tip, UR5E.pose(UR5E.tip, q)), UR5E.pose(elbow, q).xyz
    for target, least_missed in ((place, 0.0), (place + 0.3, 1e-3)):
        soft = pz.PositionTask(elbow, target, required=False, priority=1)
        found = pz.solve(UR5E, [pose, soft, pz.PostureTask(q)], q0=q)
        assert found.success
        assert found.errors[1].position >= least_missed
        if not least_missed:
            np.testing.assert_allclose(found.q, q, atol=1e-6)


def test_of_what_is_fulfilled_none_says_that_it_could_be_missed_less() -> None:
    q = PANDA.sample(seed=3)
    turn = pz.OrientationTask(PANDA.tip, PANDA.pose(PANDA.tip, q).rotation, required=False)
    found = pz.solve(PANDA, [pz.PositionTask(PANDA.tip, PANDA.pose(PANDA.tip, q).xyz), turn, pz.PostureTask()])
    assert found.errors[1].rotation < 1e-6
    assert "missed less" not in found.explain()


def test_joints_that_nothing_moves_are_at_the_posture_beside_a_limit_in_the_way_too() -> None:
    """The steps that keep the sum lead nowhere here, so the pose is solved for alone."""
    g1, hand = pz.load("g1"), "left_rubber_hand"
    total = pz.LinearLimit({"left_elbow_joint": 1.0, "left_shoulder_pitch_joint": 1.0}, 1.0)
    pose, q0 = g1.pose(hand, g1.sample(40, seed=7))[1], g1.sample(40, seed=6)[1]
    found = pz.solve(g1, [pz.PoseTask(hand, pose), pz.PostureTask(g1.home)], limits=[total], q0=q0)
    assert found.success
    moving = pz.Solver(g1, pz.PoseTask(hand)).velocities
    idle = [i for i in range(g1.nq) if i not in moving]
    np.testing.assert_allclose(found.q[idle], g1.home[idle], atol=1e-9)

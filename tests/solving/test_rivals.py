"""What `explain` says of tasks that keep another one short: only where they do, and with a mend that works."""

import numpy as np
import pytest

import poise as pz
from poise.geometry.shapes import Sphere

HOME = [0.0, 0.3, 0.5]
FAR = [1.2, 0.1, 0.0]
"""Out of the arm's reach, unless the torso goes along."""


def humanoid() -> pz.Model:
    """A torso that slides, and an arm of two links in the plane."""
    b = pz.ModelBuilder("humanoid")
    b.joint("torso", "prismatic", parent="base", child="trunk", axis=(1, 0, 0), limits=(-2, 2), velocity=1.0)
    b.joint("shoulder", "revolute", parent="trunk", child="upper", axis=(0, 0, 1), limits=(-3, 3), velocity=2.0)
    b.joint(
        "elbow", "revolute", parent="upper", child="lower", axis=(0, 0, 1), origin=pz.SE3.from_parts([0.4, 0, 0]),
        limits=(-3, 3), velocity=2.0,
    )  # fmt: skip
    b.frame("hand", link="lower", origin=pz.SE3.from_parts([0.4, 0, 0]))
    return b.build()


ARM = humanoid()


def hand(x: float, **more: object) -> pz.PositionTask:
    return pz.PositionTask("hand", [x, 0.3, 0.0], **more)  # type: ignore[arg-type]


def trunk(x: float, **more: object) -> pz.PositionTask:
    return pz.PositionTask("trunk", [x, 0.0, 0.0], **more)  # type: ignore[arg-type]


def followed(*tasks: pz.Task, steps: int = 300, method: str | None = None) -> pz.Tracker:
    loop = pz.Tracker(ARM, tasks, method, dt=0.01)
    q = np.array(HOME)
    for _ in range(steps):
        q = loop.step(q)
    return loop


OUTWEIGHED = (
    "PositionTask('hand') is short because PositionTask('trunk') with weight=100 outweighs it: lower that weight, or "
    "put that task behind with priority=1."
)


def test_the_heavier_of_two_that_contradict_is_named_and_the_mend_mends() -> None:
    answer = pz.solve(ARM, [hand(1.5), trunk(0.0, weight=100.0)])
    assert OUTWEIGHED in answer.explain()
    assert answer.errors[0].position == pytest.approx(np.hypot(1.5, 0.3) - 0.8, abs=1e-3)
    lower = pz.solve(ARM, [hand(1.5), trunk(0.0, weight=0.01)])
    assert lower.errors[0].position < 1e-3
    behind = pz.solve(ARM, [hand(1.5), trunk(0.0, weight=100.0, priority=1)])
    assert behind.errors[0].position < 1e-5


@pytest.mark.parametrize("method", [None, "qp", "priority"])
def test_a_tracker_names_it_too(method: str | None) -> None:
    loop = followed(hand(1.5), trunk(0.0, weight=100.0), method=method)
    assert loop.errors[0].position > 0.5  # type: ignore[operator]
    assert loop.explain().endswith(OUTWEIGHED)


def test_two_alike_are_named_once() -> None:
    answer = pz.solve(ARM, [hand(0.2), pz.PositionTask("hand", [0.6, 0.3, 0.0])])
    said = answer.explain()
    assert said.count("pull against each other") == 1
    assert (
        "with weight=1 pull against each other: give the one that matters less a lower weight, or priority=1." in said
    )


def test_what_comes_before_is_named() -> None:
    words = "holds PositionTask('hand') back: give both the same priority to share what is missed."
    asked = [trunk(0.0), hand(1.5, priority=1)]
    assert f"PositionTask('trunk') has priority=0, and {words}" in pz.solve(ARM, asked).explain()
    assert f"PositionTask('trunk') has priority=0, and {words}" in followed(*asked).explain()
    shared = pz.solve(ARM, [trunk(0.0), hand(1.5)])
    assert shared.errors[1].position < 0.5  # type: ignore[operator]


def test_what_is_required_is_named() -> None:
    answer = pz.solve(ARM, [trunk(0.0), hand(1.5, required=False)])
    assert answer.success
    assert answer.explain().endswith(
        "PositionTask('trunk') is required, and holds PositionTask('hand') back: give both the same required= to share "
        "what is missed."
    )


def test_a_range_that_is_not_left_is_named() -> None:
    room = pz.RegionTask("hand", Sphere([0.7, 0.3, 0.0], 0.2))
    wall = "RegionTask('hand') is a range that is not left, and holds PositionTask('hand') back: widen it, or move the"
    assert wall in followed(room, hand(1.5)).explain()
    inside = followed(room, hand(0.8))
    assert inside.explain().startswith("What is left: RegionTask('hand') 0 m; PositionTask('hand') ")
    assert "range" not in inside.explain()


def test_a_dear_joint_of_a_posture_is_named() -> None:
    task, words = pz.PositionTask("hand", FAR), "PositionTask('hand') needs 'torso', whose weight in the PostureTask, "
    loop = followed(task, pz.PostureTask(HOME, weight={"torso": 1e4}))
    assert loop.errors[0].position > 1e-2  # type: ignore[operator]
    assert loop.explain().endswith(f"{words}10000, makes it creep: lower that weight.")
    lower = followed(task, pz.PostureTask(HOME, weight={"torso": 10.0}))
    assert lower.errors[0].position < 1e-9  # type: ignore[operator]
    assert "creep" not in lower.explain()


def test_a_dear_motion_is_named() -> None:
    task = pz.PositionTask("hand", FAR)
    loop = followed(task, pz.DampingTask(["torso"], weight=100.0))
    assert loop.errors[0].position > 0.3  # type: ignore[operator]
    assert loop.explain().endswith(
        "DampingTask('torso') with weight=100 makes PositionTask('hand') creep: lower that weight."
    )
    lower = followed(task, pz.DampingTask(["torso"]))
    assert lower.errors[0].position < 1e-9  # type: ignore[operator]
    assert "creep" not in lower.explain()


RIVALS = ("outweighs", "pull against", "holds", "creep")


@pytest.mark.parametrize("seed", range(5))
def test_nothing_is_said_of_tasks_that_agree(seed: int) -> None:
    """Targets that one configuration fulfils, on the way there and at its end, and out of reach alone."""
    at = ARM.sample(seed=seed)
    tasks = [pz.PositionTask(name, ARM.pose(name, at).xyz, weight=w) for name, w in (("hand", 1.0), ("trunk", 50.0))]
    said = [followed(*tasks, steps=steps).explain() for steps in (1, 5, 20, 300)]
    alone = pz.solve(ARM, pz.PositionTask("hand", [5.0, 0.0, 0.0]))
    said += [pz.solve(ARM, tasks).explain(), alone.explain(), followed(hand(5.0)).explain()]
    assert not any(word in text for word in RIVALS for text in said)


def test_a_limit_is_not_laid_to_another_task() -> None:
    """The trunk stands where it is asked to; what holds the hand is the end of the torso's way."""
    answer = pz.solve(ARM, [hand(4.0), trunk(2.0, weight=100.0)])
    said = answer.explain()
    assert "outweighs" not in said
    assert "torso (upper, 2)" in said


def test_a_loop_is_never_named() -> None:
    ends = pz.LoopTask("trunk", base="world", kind="point")
    answer = pz.solve(ARM, [hand(1.5), ends])
    assert not any(word in answer.explain() for word in RIVALS)


def test_weights_are_not_blamed_for_what_they_do_not_do() -> None:
    """Where a weight is named, the hand comes to its target without it."""
    loops = [
        followed(pz.PositionTask("hand", FAR), pz.PostureTask(HOME, weight={"torso": weight}), method="qp")
        for weight in (1.0, 1e4)
    ]
    assert "creep" not in loops[0].explain()
    assert loops[0].errors[0].position < 1e-6 or "creep" not in loops[1].explain()  # type: ignore[operator]


def test_where_limits_hold_an_arm_of_several_tasks_what_looks_for_a_way_round_is_named() -> None:
    arm = pz.load("panda")
    home = arm.pose("panda_hand", arm.home)
    tasks = [pz.PositionTask("panda_hand"), pz.OrientationTask("panda_hand", priority=1)]
    words = "Limits let PositionTask('panda_hand') come no nearer: explore=True looks for a way round."
    for explore in (False, True):
        loop, q = pz.Tracker(arm, tasks, dt=0.01, explore=explore), arm.home
        for tick in range(1100):
            out = 0.6 * (1 - np.cos(2 * np.pi * min(tick / 800, 1)))
            q = loop.step(q, [home.xyz + out * np.array([-0.9, -0.44, 0.03]), home.rotation])
        assert (loop.errors[0].position < 1e-6) is explore  # type: ignore[operator]
        assert (words in loop.explain()) is not explore


def test_targets_that_are_none_are_told_of_as_before() -> None:
    loop = pz.Tracker(ARM, [hand(1.5), pz.PoseTask("trunk")], dt=0.01)
    loop.step(HOME)
    loop.targets[1] = 0.0
    assert loop.explain().startswith("What is left: PositionTask('hand') ")
    loop.targets[0, 0] = np.nan
    assert "nan" in loop.explain()


def test_two_ranges_that_are_both_missed_pull_against_each_other() -> None:
    """Neither is a wall of the other: the hand is outside of both."""
    arm = pz.load("panda")
    apart = [pz.RegionTask("panda_hand", pz.Sphere((0.4, y, 0.5), 0.05)) for y in (0.15, -0.25)]
    found = pz.solve(arm, apart)
    assert [e.position for e in found.errors] == pytest.approx([0.15, 0.15], abs=1e-3)
    assert "not left" not in found.explain()
    assert "pull against each other" in found.explain()

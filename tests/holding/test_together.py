"""Requirements together, many at once and at random: whatever is asked of a step, all of it holds."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from requirements import ARM, BAR, DT, PUPPET, ROVER, Mechanism
from support.mechanisms import gap

import poise as pz
from poise.common.array import Array
from poise.methods import registry
from poise.solving.requirements.sections import RELAXATION_ORDER

_STEPS = 60
_KEPT = 1e-9


@dataclass(frozen=True)
class Asked:
    """What must hold of the rows of a motion (k, nq), `DT` apart, and how to say it."""

    name: str
    limits: tuple[Any, ...]
    tasks: tuple[Any, ...]
    beyond: Callable[[Array], float]
    """By how much it is broken at worst, in its own unit; at most `slack` where it holds."""
    slack: float


def _velocities(m: pz.Model, rows: Array) -> Array:
    return m.difference(rows[:-1], rows[1:]) / DT


def _asked(rng: np.random.Generator, mechanism: Mechanism, q0: Array) -> list[Asked]:
    """Some requirements, at random, of all kinds that the mechanism knows; all hold at rest at q0."""
    m, found = mechanism.model, []

    def maybe(share: float) -> bool:
        return bool(rng.random() < share)

    paced = maybe(0.6)
    if paced:
        most = float(rng.choice([0.5, 2.0, 10.0]))

        def surges(rows: Array) -> float:
            v = np.vstack([np.zeros(m.nv), _velocities(m, rows)])
            return float(np.abs(np.diff(v, axis=0)).max()) / DT - most

        found.append(Asked("acceleration", (pz.AccelerationLimit(most),), (), surges, 1e-6))
        if maybe(0.5):
            jerk = most * float(rng.choice([5.0, 20.0]))

            def jerks(rows: Array) -> float:
                v = np.vstack([np.zeros((2, m.nv)), _velocities(m, rows)])
                return float(np.abs(np.diff(v, 2, axis=0)).max()) / DT**2 - jerk

            found.append(Asked("jerk", (pz.JerkLimit(jerk),), (), jerks, 1e-3))
    if maybe(0.5):
        fast = float(rng.choice([0.2, 1.0]))
        found.append(
            Asked(
                "speed", (pz.VelocityLimit(fast),), (),
                lambda rows: float(np.abs(_velocities(m, rows)).max()) - fast, 1e-9,
            )
        )  # fmt: skip
    if mechanism is ROVER and maybe(0.5):
        drift = float(rng.choice([0.1, 0.4]))
        found.append(
            Asked(
                "twist", (pz.TwistLimit(linear=drift),), (),
                lambda rows: float(np.linalg.norm(_velocities(m, rows)[:, :3], axis=1).max()) - drift, 1e-9,
            )
        )  # fmt: skip
    if maybe(0.3):
        slow = float(rng.choice([0.05, 0.2]))
        found.append(
            Asked(
                "tool", (pz.ToolSpeedLimit(mechanism.frame, linear=slow),), (),
                lambda rows: float(
                    np.linalg.norm(np.diff(m.pose(mechanism.frame, rows).xyz, axis=0), axis=1).max()
                ) / DT - slow,
                1e-9,
            )
        )  # fmt: skip
    if maybe(0.5):
        names = [j.name for j in m.joints if j.nq == 1]
        chosen = rng.choice(names, size=min(2, len(names)), replace=False)
        factors = {str(name): float(rng.choice([-1.0, 0.5, 1.0])) for name in chosen}
        places = {name: m.index(name).start for name in factors}

        def total(rows: Array) -> Array:
            return np.asarray(sum(factor * rows[:, places[name]] for name, factor in factors.items()))

        end = float(total(q0[None])[0]) + float(rng.choice([0.02, 0.2]))
        found.append(
            Asked("linear", (pz.LinearLimit(factors, end),), (), lambda rows: float(total(rows).max()) - end, _KEPT)
        )
    if maybe(0.5):
        place = m.pose(mechanism.frame, q0).xyz
        normal = rng.normal(size=3)
        normal /= np.linalg.norm(normal)
        if mechanism is BAR:
            normal = np.array([normal[0], normal[1], 0.0]) / np.linalg.norm(normal[:2])
        floor = place + float(rng.choice([0.01, 0.1])) * normal
        task = pz.RegionTask(mechanism.frame, pz.HalfSpace(floor, normal))
        found.append(
            Asked(
                "range", (), (task,),
                lambda rows: float(((m.pose(mechanism.frame, rows).xyz - floor) @ normal).max()), 1e-9,
            )
        )  # fmt: skip
    if maybe(0.5):
        away = rng.normal(size=3)
        centre = m.pose(mechanism.frame, q0).xyz + float(rng.choice([0.25, 0.4])) * away / np.linalg.norm(away)
        world, near = pz.World([pz.Sphere(centre, 0.1)]), 0.01
        if m.distance(q0, world, self_collision=False).distance > near + 0.005:
            found.append(
                Asked(
                    "shapes", (pz.CollisionLimit(world, min_distance=near, self_collision=False),), (),
                    lambda rows: near - float(m.distance(rows, world, self_collision=False).distance.min()), _KEPT,
                )
            )  # fmt: skip
    if m.loops:
        found.append(Asked("loops", (), (), lambda rows: max(gap(m, q) for q in rows), 1e-7))
    found.append(Asked("positions", (), (), lambda rows: 0.0 if m.within_limits(rows) else 1.0, 0.5))
    return found


def run(seed: int) -> dict[str, float]:
    """What is broken, and by how much, on a random way of a random mechanism by a random method."""
    rng = np.random.default_rng(seed)
    mechanism = [ARM, PUPPET, ROVER, BAR][int(rng.integers(4))]
    m, q0 = mechanism.model, mechanism.q0
    asked = _asked(rng, mechanism, q0)
    here = m.pose(mechanism.frame, q0).xyz
    weight: Any = (1.0, 1.0, 0.0) if mechanism is BAR else 1.0
    pull = pz.PositionTask(mechanism.frame, weight=weight, target=here)
    method = str(rng.choice([*registry.METHODS]))
    tasks = [pull, *(task for one in asked for task in one.tasks)]
    settings: dict[str, Any] = {
        "dt": DT,
        "updates": int(rng.integers(1, 4)),
        "limits": [limit for one in asked for limit in one.limits] or True,
    }
    try:
        tracker = pz.Tracker(m, tasks, method, **settings)
    except ValueError:  # of tasks that the method does not follow
        tracker = pz.Tracker(m, tasks, **settings)
    goal, drift = here + rng.normal(scale=0.3, size=3), rng.normal(scale=0.005, size=3)
    rows = [q0]
    for k in range(_STEPS):
        if k == _STEPS // 2:
            goal = here + rng.normal(scale=0.3, size=3)
        goal = goal + drift
        tracker.targets[0, :3] = goal
        rows.append(tracker.step(rows[-1]))
    way = np.array(rows)
    assert np.isfinite(way).all()
    return {one.name: one.beyond(way) for one in asked if not one.beyond(way) <= one.slack}


@pytest.mark.parametrize("seed", [*range(60), 1238])
def test_all_that_is_asked_holds(seed: int) -> None:
    assert run(seed) == {}


def test_a_tool_keeps_its_speed_on_a_way_to_rest_that_is_bent_back_to_a_border() -> None:
    here = ARM.model.pose("tool0", ARM.q0).xyz
    normal = np.array([0.8241, 0.4833, 0.2955])
    border = pz.RegionTask("tool0", pz.HalfSpace(here + 0.01 * normal, normal))
    limits = [
        pz.ToolSpeedLimit("tool0", linear=0.1, angular=1.0), pz.AccelerationLimit(10.0), pz.JerkLimit(50.0)
    ]  # fmt: skip
    tracker = pz.Tracker(ARM.model, [pz.PositionTask("tool0", target=here), border], "qp", dt=DT, limits=limits)
    q = ARM.q0
    for away in ([0.3750, -0.2532, -0.0833], [0.4917, -0.5216, -0.6382]):
        tracker.targets[0, :3] = here + away
        for _ in range(20):
            q = tracker.step(q)
            assert "gave way" not in tracker.explain()


def test_what_gives_way_is_told_and_stands_in_the_documentation() -> None:
    page = (Path(__file__).parents[2] / "docs" / "methods" / "tracker_limits.md").read_text(encoding="utf-8")
    rows = "".join(f"| {rank} | {name} | {when} |\n" for rank, (name, when) in enumerate(RELAXATION_ORDER, 1))
    assert f"| rank | gives way | when |\n| --- | --- | --- |\n{rows}\n" in page
    world = pz.World({"ball": pz.Sphere((-0.9, -0.13, 0.6), 0.1)})
    limits = [pz.CollisionLimit(world, min_distance=0.02, self_collision=False), pz.AccelerationLimit(0.5)]
    tracker, q = pz.Tracker(ARM.model, pz.PositionTask("tool0"), dt=DT, limits=limits), ARM.q0
    told = set()
    for x in np.linspace(-0.9, -0.2, 40):
        world.move("ball", pz.SE3.from_parts((x, -0.13, 0.6)))
        q = tracker.step(q)
        told.add(tracker.explain().partition("Nothing kept all limits: ")[2])
    assert told == {"", "accelerations and jerks gave way."}


def test_only_what_was_given_gives_way() -> None:
    builder = pz.ModelBuilder("lift")
    builder.joint("z", "prismatic", parent="world", child="tip", axis=(0, 0, 1), limits=(-1, 1), velocity=0.5)
    builder.shape("tip", pz.Sphere((0, 0, 0), 0.1))
    lift, told = builder.build(), []
    for also in ([], [pz.AccelerationLimit(1.0)]):
        world = pz.World({"floor": pz.HalfSpace((0, 0, -0.15), (0, 0, 1))})
        tracker = pz.Tracker(lift, pz.PositionTask("tip"), dt=DT, limits=[pz.CollisionLimit(world), *also])
        q, speed = lift.home, (0.0, 0.0, 2.0)  # which no step keeps up with
        for k in range(6):
            world.move("floor", pz.SE3.from_parts((0, 0, -0.15 + k * DT * speed[2])), velocity=speed)
            q = tracker.step(q)
        told.append(tracker.explain().partition("Nothing kept all limits: ")[2])
    assert told == ["distances of shapes gave way.", "accelerations and jerks gave way."]


@pytest.mark.parametrize("method", ["dls", "qp"])
@pytest.mark.parametrize("jerk", [math.inf, 500.0])
def test_limited_balls_with_accelerations_come_to_their_targets(method: str, jerk: float) -> None:
    m = PUPPET.model
    for seed in range(3):
        goal = m.pose("palm", m.sample(1, seed=seed)[0]).xyz
        limits = [pz.AccelerationLimit(10.0), pz.JerkLimit(jerk)]
        tracker, q = (
            pz.Tracker(m, pz.PositionTask("palm"), method, dt=DT, limits=limits),
            m.sample(1, seed=999 + seed)[0],
        )
        for _ in range(900):
            q = tracker.step(q, goal)
            assert m.within_limits(q)
        assert m.pose("palm", q).xyz == pytest.approx(goal, abs=1e-4)

"""Torques along timed paths: never above the limits at any time by Pinocchio, and at them wherever nothing else is in
the way."""

import pickle
from typing import Any

import numpy as np
import pytest
from support.refusals import refused

import poise as pz
from poise.common.array import Array

G = (1.0, -2.0, -9.0)
"""As of an arm that hangs on a tilted wall [m/s^2]."""
PUSH = {"tip": (3.0, -2.0, 10.0, 1.0, 0.5, -1.0)}
LIMITS = {"turn": 20.0, "upper_joint": 60.0, "fore_joint": 15.0}


def arm(masses: tuple[float, ...] = (3.0, 1.5)) -> pz.Model:
    """A post that turns and links of 0.5 m on it, with these masses, of which the first joint is the strongest."""
    b, names = pz.ModelBuilder("arm"), ["upper", *["middle"] * (len(masses) - 2), "fore"]
    b.joint("turn", "revolute", parent="base", child="post", limits=(-3.0, 3.0), velocity=4.0, effort=20.0)
    for i, (name, parent, mass) in enumerate(zip(names, ["post", *names], masses, strict=False)):
        b.joint(
            f"{name}_joint", "revolute", parent=parent, child=name, axis=(0, 1, 0), limits=(-2.6, 2.6), velocity=4.0,
            origin=pz.SE3.from_parts([0.5 * (i > 0), 0, 0]), effort=15.0 if i else 60.0,
        )  # fmt: skip
        b.mass(name, mass, centre=(0.25, 0.0, 0.02), inertia=np.diag([0.01, 0.08, 0.07]) * mass / 3.0)
    b.frame("tip", link="fore", origin=pz.SE3.from_parts([0.5, 0.0, 0.0]))
    return b.build()


ARM, TIP = arm(), pz.PositionTask("tip")


def circle(n: int = 40, radius: float = 0.2) -> Array:
    """(n, 3) places around a point above the shoulder [m]."""
    t = np.linspace(0.0, 2.0 * np.pi, n)
    return np.stack([0.5 + 0.0 * t, radius * np.sin(t), 0.45 + radius * np.cos(t)], axis=1)


def shares(path: pz.JointPath, limit: pz.TorqueLimit, n: int = 100) -> Array:
    """(times, joints) what joints give as shares of their limits, by Pinocchio, at n times between two rows."""
    pin = pytest.importorskip("pinocchio")
    model, other, at = path.model, pin.Model(), dict[str, tuple[int, Any]]()
    for joint in model.joints:
        parent, placement = at.get(joint.parent, (0, pin.SE3.Identity()))
        placement = placement * pin.SE3(joint.origin.matrix())
        if joint.nv:
            kind = pin.JointModelRevoluteUnaligned(np.array(joint.axis))
            parent, placement = other.addJoint(parent, kind, placement, joint.name), pin.SE3.Identity()
        at[joint.child] = parent, placement
    for link, (mass, centre) in model.masses.items():
        parent, placement = at[link]
        inertia = model.inertias.get(link, np.zeros((3, 3)))
        other.appendBodyToJoint(parent, pin.Inertia(mass, centre, inertia), placement)
    other.gravity.linear = np.array(limit.gravity)
    state, data = path.at(np.linspace(0.0, path.duration, n * len(path.q))), other.createData()
    torques = np.array([pin.rnea(other, data, *row) for row in zip(*state, strict=True)])
    for frame, wrench in limit.wrenches.items():
        torques -= np.einsum("nij,i->nj", model.jacobian(frame, state.q), np.asarray(wrench))
    return torques / np.array([(limit.most or model.efforts)[name] for name in model.joint_names])


@pytest.mark.parametrize(
    ("more", "given", "used"),
    [
        ([], {}, 0.99),
        ([], {"wrenches": PUSH, "gravity": G}, 0.99),
        ([pz.AccelerationLimit(8.0)], {}, 0.5),
        ([pz.JerkLimit(2000.0)], {}, 0.8),
        ([pz.ToolSpeedLimit("tip", linear=0.6)], {"gravity": G}, 0.8),
    ],
    ids=["alone", "tilted and pushed", "accelerations", "jerks", "tool speed"],
)
def test_a_path_keeps_its_torques_at_every_time_and_uses_them(more: list[Any], given: Any, used: float) -> None:
    loaded = ARM.with_payload(1.0, link="tip", centre=(0.05, 0.0, 0.1), inertia=0.01 * np.eye(3))
    limit = pz.TorqueLimit(LIMITS, **given)
    path = pz.solve_path(loaded, TIP, circle(), limits=[*more, limit])
    assert path.success, path.explain()
    found = np.abs(shares(path, limit)).max()
    assert used < found <= 1.0 + 1e-9
    velocity = path.at(np.linspace(0.0, path.duration, 2000)).velocity
    assert np.abs(velocity).max() <= 4.0 * (1 + 1e-9)


def test_motors_that_are_stronger_are_faster_and_a_load_is_slower() -> None:
    weak, strong = (
        pz.solve_path(ARM, TIP, circle(), limits=[pz.TorqueLimit({n: k * most for n, most in LIMITS.items()})]).duration
        for k in (1.0, 1.5)
    )
    loaded = ARM.with_payload(1.0, link="tip")
    heavy = pz.solve_path(loaded, TIP, circle(), limits=[pz.TorqueLimit()])
    assert strong < weak < heavy.duration
    assert np.array_equal(heavy.times, pz.solve_path(loaded, TIP, circle(), limits=[pz.TorqueLimit(LIMITS)]).times)


def test_a_pendulum_is_as_fast_as_bang_bang_lets_it() -> None:
    """Without weight, one joint from rest to rest takes 2 sqrt(way I / torque)."""
    b = pz.ModelBuilder("pendulum")
    b.joint("pivot", "revolute", parent="stand", child="rod", axis=(0, 1, 0), limits=(-3.0, 3.0), velocity=100.0)
    b.mass("rod", 2.0, centre=(0.0, 0.0, -0.5), inertia=np.diag([0.0, 0.25, 0.0]))
    model, way = b.build(), np.linspace(-1.0, 1.0, 60)[:, None]
    limit = pz.TorqueLimit({"pivot": 6.0}, gravity=(0.0, 0.0, 0.0))
    path = pz.solve_path(model, pz.PostureTask(), way, limits=[limit])
    assert path.success, path.explain()
    assert path.duration == pytest.approx(2.0 * np.sqrt(2.0 * (0.25 + 2.0 * 0.25) / 6.0), rel=2e-3)


def test_a_plan_keeps_torques_too() -> None:
    limit = pz.TorqueLimit(LIMITS)
    stops = ARM.pose("tip", ARM.q({"turn": 0.5, "upper_joint": -1.2, "fore_joint": 1.0})).xyz[None]
    path = pz.plan(ARM, TIP, stops, q0=ARM.q({"upper_joint": -1.5}), limits=[limit])
    assert path.success, path.explain()
    assert 0.95 < np.abs(shares(path, limit)).max() <= 1.0 + 1e-9


def test_a_path_whose_weight_alone_is_too_much_fails_and_a_task_of_torques_leads_elsewhere() -> None:
    model, most = arm((2.0, 2.0, 1.0)), {"upper_joint": 22.0, "middle_joint": 8.0}
    ahead = np.stack([np.linspace(0.6, 0.9, 20), np.zeros(20), np.full(20, 0.2)], axis=1)
    limit, rest = pz.TorqueLimit(most), pz.TorqueTask({name: 0.8 * x for name, x in most.items()})
    path = pz.solve_path(model, TIP, ahead, limits=[limit])
    assert path.status is pz.Status.LIMIT
    failure = path.first_failure
    assert failure is not None
    torques = np.abs(model.gravity_torques(path.q[failure.waypoint - 1 : failure.waypoint + 1])).max(axis=0)
    assert max(torques[model.velocity_index(name).start] / x for name, x in most.items()) > 0.9
    assert "would have to give" in failure.reason
    assert "give a TorqueTask among the tasks" in failure.reason
    other = pz.solve_path(model, [TIP, rest], [ahead, None], limits=[limit])
    assert other.success, other.explain()
    t = np.linspace(0.0, other.duration, 2000)
    torques = model.inverse_dynamics(*other.at(t))
    assert 0.95 < max(np.abs(torques[:, model.velocity_index(n).start]).max() / x for n, x in most.items()) <= 1.0


def test_times_that_are_too_short_for_the_torques_are_named() -> None:
    limit, loaded = pz.TorqueLimit(LIMITS), ARM.with_payload(1.0, link="tip")
    slow, fast = (pz.solve_path(loaded, TIP, circle(), dt=dt, velocity=9.0, limits=[limit]) for dt in (0.08, 0.02))
    assert slow.success, slow.explain()
    assert np.abs(shares(slow, limit, 10)).max() <= 1.0
    assert fast.status is pz.Status.TOO_FAST
    assert "would have to give" in fast.explain()
    assert "its TorqueLimit is" in fast.explain()


def test_an_answer_by_itself_bears_the_weight_within_it() -> None:
    """At rest a TorqueLimit is the TorqueTask of the same numbers, in whatever is asked for one configuration."""
    weak = {"upper_joint": 6.0, "fore_joint": 4.0}
    limit, task = (kind(weak, wrenches=PUSH, gravity=G) for kind in (pz.TorqueLimit, pz.TorqueTask))
    places = [[0.5, 0.1, 0.3], [0.3, -0.2, 0.6], [0.1, 0.4, 0.5], [0.6, 0.1, 0.1], [2.0, 0.0, 0.0]]
    both: dict[str, Any] = {"q0": ARM.q(turn=0.2, upper_joint=-0.4), "limits": [limit, pz.JerkLimit(300.0)]}
    solver, beside = pz.Solver(ARM, TIP, limits=[limit]), pz.Solver(ARM, [TIP, task])
    heavy = 0
    for k, place in enumerate(places):
        found = pz.solve(ARM, pz.PositionTask("tip", place), **both)
        stated = pz.solve(ARM, [pz.PositionTask("tip", place), task], q0=both["q0"])
        assert np.array_equal(found.q, stated.q)
        assert (found.status, found.errors) == (stated.status, stated.errors)
        assert [error.task for error in found.errors] == ["PositionTask('tip')", task.label]
        assert (found.explain(), found.success) == (stated.explain(), k not in (2, 4))
        assert k != 2 or "upper_joint gives" in found.explain()
        assert not found.success or np.abs(task.shares(ARM, found.q)).max() <= 1.0 + 1e-6
        heavy += np.abs(task.shares(ARM, pz.solve(ARM, pz.PositionTask("tip", place), q0=both["q0"]).q)).max() > 1.0
        assert np.array_equal(solver(np.array(place)).q, beside([place, None]).q)
        assert np.array_equal(solver([place], seed=3).q, beside([place, None], seed=3).q)
    assert heavy > 2  # which give more without it
    assert solver.tasks == (TIP,)
    targets = np.array(places)
    alike = pz.solve_batch(ARM, [TIP, task], [targets, None], q0=both["q0"])
    for batch in (
        pz.solve_batch(ARM, TIP, targets, **both),
        pz.Solver(ARM, TIP, limits=[limit]).batch(targets, both["q0"]),
    ):
        assert np.array_equal(batch.q, alike.q)
        assert batch.counts == alike.counts
    every, others = (
        pz.solve_all(ARM, pz.PositionTask("tip", places[0]), limits=[limit]),
        pz.solve_all(ARM, [TIP, task], [places[0], None]),
    )
    assert np.array_equal(every.q, others.q)
    assert np.array_equal(pz.BranchSolver(ARM, TIP, limits=[limit])(places[0]).q, others.q)
    assert np.array_equal(pickle.loads(pickle.dumps(solver))(places[1]).q, solver(places[1]).q)
    dear = pz.solve(ARM, pz.PositionTask("tip", places[0]), joint_costs={"turn": 5.0}, **both)
    assert [error.task for error in dear.errors] == ["PositionTask('tip')", "PostureTask", task.label]
    assert np.abs(task.shares(ARM, dear.q)).max() <= 1.0 + 1e-6


@pytest.mark.parametrize(
    ("make", "code", "words"),
    [
        (lambda: pz.TorqueLimit({}), "empty", "most must name joints"),
        (lambda: pz.TorqueLimit(5.0), "wrong-type", "most must name joints"),  # type: ignore[arg-type]
        (lambda: pz.TorqueLimit({"turn": 0.0}), "not-positive", "most['turn'] is 0.0"),
        (lambda: pz.TorqueLimit({"turn": 1.0}, wrenches={"tip": (1.0,)}), "wrong-shape", "wrenches['tip']"),
        (lambda: path_within(pz.TorqueLimit({"tun": 1.0})), "unknown-name", "'tun'"),
        (lambda: path_within(pz.TorqueLimit(LIMITS, wrenches={"tp": np.zeros(6)})), "unknown-name", "'tp'"),
        (lambda: path_within(pz.TorqueLimit(), floating()), "no-limits", "states no effort"),
        (lambda: path_within(pz.TorqueLimit({"joint1": 1.0}), pz.load("planar3")), "no-such-part", "has a mass"),
        (lambda: path_within(pz.TorqueLimit(), velocity=np.inf), "needs", "'turn'"),
        (lambda: path_within(pz.TorqueLimit({"base": 1.0}), floating()), "not-supported", "joints of one axis"),
        (lambda: pz.Tracker(ARM, TIP, dt=0.01, limits=[pz.TorqueLimit()]), "not-supported", "give a Tracker a Torque"),
        (lambda: pz.Tracker(ARM, TIP, "dls", limits=[pz.TorqueLimit()]), "not-supported", "what joints give at rest"),
        (lambda: pz.solve(floating(), TIP, limits=[pz.TorqueLimit()]), "no-limits", "states no effort"),
    ],
)
def test_what_makes_no_sense_is_refused(make: Any, code: str, words: str) -> None:
    with refused(code, words):
        make()


def path_within(limit: pz.TorqueLimit, model: pz.Model = ARM, **given: Any) -> pz.JointPath:
    frame = list(model.frames)[-2]
    return pz.solve_path(model, pz.PositionTask(frame), circle(), limits=[limit], **given)


def floating() -> pz.Model:
    """A body of 1 kg that nothing holds."""
    b = pz.ModelBuilder("float")
    b.joint("base", "floating", parent="ground", child="body")
    b.mass("body", 1.0)
    return b.build()


def test_given_times_that_are_just_enough_are_enough_between_looks() -> None:
    """The peak of what a joint gives lies anywhere in a step."""
    rng, limit = np.random.default_rng(8), pz.TorqueLimit(LIMITS)
    rows = np.linspace([0.0, -1.0, 1.0], [1.0, -0.5, 0.5], 8)
    rows = ARM.clip(rows + np.cumsum(rng.normal(scale=0.1, size=rows.shape), axis=0))
    rows[4] = rows[3]
    low, high = 0.05, 1.0
    for _ in range(12):
        dt = 0.5 * (low + high)
        path = pz.solve_path(ARM, pz.PostureTask(tolerance=1e-6), [rows], limits=[limit], dt=dt)
        if not path.success:
            low = dt
            continue
        high = dt
        assert shares(path, limit).max() <= 1.0 + 1e-4
    assert high < 1.0

"""Relative frames, planes, lines, distances, centres of mass and couplings in `solve` and `Tracker`."""

import numpy as np
import pytest
from support.refusals import refused

import poise as pz
from poise.robots import planar


def chain(joints: int = 7) -> pz.Model:
    """Hinges along changing axes, a link of 1 kg after each, and a side branch of two more."""
    axes = [(0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0)]
    builder = pz.ModelBuilder("chain")
    for i in range(joints):
        builder.joint(
            f"j{i}", "revolute", parent=f"l{i}", child=f"l{i + 1}", axis=axes[i % 3],
            origin=pz.SE3.from_parts([0.0, 0.0, 0.3 if i else 0.0]), limits=(-2.5, 2.5),
        )  # fmt: skip
        builder.mass(f"l{i + 1}", 1.0, centre=(0.0, 0.0, 0.15))
    for i, parent in enumerate(["l2", "s0"]):
        builder.joint(
            f"k{i}", "revolute", parent=parent, child=f"s{i}", axis=axes[i],
            origin=pz.SE3.from_parts([0.3, 0.0, 0.1]), limits=(-2.5, 2.5),
        )  # fmt: skip
    return builder.build()


def solved(model: pz.Model, *tasks: pz.Task, method: str | None = None) -> np.ndarray:
    answer = pz.solve(model, tasks, q0=model.sample(seed=4), method=method)
    assert answer.success, answer.explain()
    assert ((model.lower <= answer.q) & (answer.q <= model.upper)).all()
    return answer.q


@pytest.mark.parametrize("method", [None, "lm", "priority"])
def test_a_hand_keeps_its_pose_in_the_other(method: str | None) -> None:
    model = chain()
    at = model.sample(seed=1)
    wanted, elbow = model.pose("s1", at).inverse() @ model.pose("l7", at), model.pose("s1", at).xyz
    q = solved(model, pz.PoseTask("l7", wanted, base="s1"), pz.PositionTask("s1", elbow), method=method)
    found = model.pose("s1", q).inverse() @ model.pose("l7", q)
    np.testing.assert_allclose(found.xyz, wanted.xyz, atol=2e-6)
    assert abs((found.rotation.inverse() @ wanted.rotation).wxyz[0]) == pytest.approx(1.0, abs=1e-11)


def test_an_axis_and_a_look_are_seen_from_the_base() -> None:
    model = chain()
    q = solved(model, pz.AxisTask("l7", (1.0, 0.0, 0.0), [0.0, 1.0, 0.5], base="s1"))
    seen = (model.pose("s1", q).inverse() @ model.pose("l7", q)).rotation.act([1.0, 0.0, 0.0])
    np.testing.assert_allclose(seen, np.array([0.0, 1.0, 0.5]) / np.hypot(1.0, 0.5), atol=2e-6)
    q = solved(model, pz.LookAtTask("l7", (1.0, 0.0, 0.0), [0.1, 0.0, 0.2], base="s1"))
    hand, point = model.pose("l7", q), model.pose("s1", q).act([0.1, 0.0, 0.2])
    sight = (point - hand.xyz) / np.linalg.norm(point - hand.xyz)
    np.testing.assert_allclose(hand.rotation.act([1.0, 0.0, 0.0]), sight, atol=2e-6)


def test_weights_are_along_the_axes_of_the_base() -> None:
    model = chain()
    q = solved(model, pz.PositionTask("l7", [0.2, 0.1, 9.0], weight=(1.0, 1.0, 0.0), base="s1"))
    seen = model.pose("s1", q).inverse().act(model.pose("l7", q).xyz)
    np.testing.assert_allclose(seen[:2], [0.2, 0.1], atol=2e-6)


def test_a_point_on_a_plane_and_on_a_line() -> None:
    model, normal = chain(), np.array([1.0, 2.0, 2.0]) / 3.0
    start = model.sample(seed=4)
    q = solved(model, pz.PlaneTask("l7", normal, [0.3, 0.1, 0.5]))
    assert normal @ (model.pose("l7", q).xyz - [0.3, 0.1, 0.5]) == pytest.approx(0.0, abs=2e-6)
    assert np.linalg.norm(q - start) < 1.0  # one row: it takes no detour
    q = solved(model, pz.LineTask("l7", normal, [0.3, 0.1, 0.5]))
    away = model.pose("l7", q).xyz - [0.3, 0.1, 0.5]
    np.testing.assert_allclose(np.cross(normal, away), 0.0, atol=2e-6)


def test_a_plane_that_moves_with_its_base() -> None:
    model = chain()
    q = solved(model, pz.PlaneTask("l7", (0.0, 1.0, 0.0), [0.0, 0.1, 0.0], base="s1"))
    assert model.pose("s1", q).inverse().act(model.pose("l7", q).xyz)[1] == pytest.approx(0.1, abs=2e-6)


@pytest.mark.parametrize("base", [None, "s1"])
def test_a_distance_is_kept(base: str | None) -> None:
    model, point = chain(), [0.1, 0.2, 0.3]
    q = solved(model, pz.DistanceTask("l7", 0.65, point, base=base))
    centre = np.array(point) if base is None else model.pose(base, q).act(point)
    assert np.linalg.norm(model.pose("l7", q).xyz - centre) == pytest.approx(0.65, abs=2e-6)
    answer = pz.solve(model, pz.DistanceTask("l7", 0.65, point, base=base), q0=q)
    assert answer.errors[0].position == pytest.approx(0.0, abs=1e-6)
    assert answer.errors[0].rotation is None


def test_a_distance_from_where_the_frame_stands() -> None:
    model = planar(3)
    q0 = np.array([0.3, 0.4, 0.5])
    answer = pz.solve(model, pz.DistanceTask(model.tip, 0.5, model.pose(model.tip, q0).xyz), q0=q0)
    assert answer.success


@pytest.mark.parametrize("method", [None, "dls", "priority"])
def test_the_centre_of_mass_goes_where_it_shall(method: str | None) -> None:
    model = chain()
    wanted = model.centre_of_mass(model.sample(seed=9))
    q = solved(model, pz.CentreOfMassTask(wanted, tolerance=1e-5), method=method)
    np.testing.assert_allclose(model.centre_of_mass(q), wanted, atol=1e-5)
    q = solved(model, pz.CentreOfMassTask([*wanted[:2], 99.0], weight=(1.0, 1.0, 0.0), tolerance=1e-5), method=method)
    np.testing.assert_allclose(model.centre_of_mass(q)[:2], wanted[:2], atol=1e-5)


def test_joints_are_tied_to_each_other() -> None:
    model = chain()
    coupling = pz.JointCouplingTask({"j1": 1.0, "j3": -2.0, "k0": 0.5}, 0.25)
    q = solved(model, coupling, pz.PositionTask("l7", [0.4, 0.2, 1.0]))
    places = [model.index(name).start for name in ("j1", "j3", "k0")]
    assert q[places] @ [1.0, -2.0, 0.5] == pytest.approx(0.25, abs=2e-6)
    assert pz.solve(model, coupling, q0=q).errors[0].posture == pytest.approx(0.0, abs=1e-6)


def test_a_coupled_wheel_is_not_turned_back() -> None:
    builder = pz.ModelBuilder("wheels")
    for name in ("left", "right"):
        builder.joint(name, "continuous", parent="axle", child=name + "_wheel", axis=(0.0, 1.0, 0.0))
    model = builder.build()
    answer = pz.solve(model, pz.JointCouplingTask({"left": 1.0, "right": -3.0}, 20.0), q0=np.zeros(2))
    assert answer.success
    assert answer.q @ [1.0, -3.0] == pytest.approx(20.0, abs=2e-6)


def test_a_tracker_follows_them_all_in_levels() -> None:
    model = chain()
    q = model.sample(seed=3)
    tasks = [
        pz.CentreOfMassTask(weight=(1.0, 1.0, 0.0)),
        pz.DistanceTask("l7", 0.5, [0.0, 0.0, 0.0], base="s1", priority=1),
        pz.JointCouplingTask({"j1": 1.0, "j3": -1.0}, 0.0, priority=2),
    ]
    target = [model.centre_of_mass(q), [0.0, 0.0, 0.0], 0.0]
    tracker = pz.Tracker(model, tasks)
    for _ in range(200):
        q = tracker.step(q, target).copy()
    np.testing.assert_allclose(model.centre_of_mass(q)[:2], target[0][:2], atol=1e-6)
    assert np.linalg.norm(model.pose("l7", q).xyz - model.pose("s1", q).xyz) == pytest.approx(0.5, abs=1e-6)


def test_eight_characters_are_led_as_each_alone() -> None:
    model = chain()
    tasks = [
        pz.PoseTask("l7", base="s1"),
        pz.PlaneTask("s1", (1.0, 1.0, 0.0)),
        pz.DistanceTask("l5", 0.5),
        pz.CentreOfMassTask(),
        pz.JointCouplingTask({"j1": 1.0, "j3": -1.0}),
    ]
    tracker = pz.Tracker(model, tasks, "dls")
    starts = model.sample(3, seed=5)
    targets = np.broadcast_to(tracker.targets, (3, 6, len(tasks), 7))
    together = tracker.rollout(starts, targets)
    for k in range(3):
        np.testing.assert_allclose(together[k], tracker.rollout(starts[k], targets[k]), atol=1e-9)


def test_where_a_tracker_stays_without_targets() -> None:
    model = chain()
    tasks = [pz.AxisTask("l7"), pz.LookAtTask("s1"), pz.DistanceTask("l6", 0.5, base="s0"), pz.CentreOfMassTask()]
    tracker = pz.Tracker(model, tasks, "dls")
    np.testing.assert_allclose(tracker.step(model.home), model.home, atol=1e-9)


@pytest.mark.parametrize("name", ["ccd", "fabrik", "extended", "pairwise"])
def test_methods_that_know_poses_only_say_so(name: str) -> None:
    model = chain()
    for task in (pz.PositionTask("l7", base="s1"), pz.DistanceTask("l7", 0.3), pz.CentreOfMassTask()):
        with pytest.raises(ValueError, match=r"follows (frames in the world|poses|positions) only, not \w+Task\("):
            pz.Tracker(model, task, name, limits=name != "fabrik")


def test_a_frame_of_the_world_seen_from_what_moves_is_led_the_other_way_round() -> None:
    model = chain().with_frame("mark", link="world", origin=pz.SE3.from_parts([0.4, 0.1, 0.6]))
    words = (
        r"PoseTask\('mark', base='l7'\) leads a frame that stands still in the world, and a base that moves: lead the "
    )
    with pytest.raises(ValueError, match=words) as error:
        pz.Solver(model, pz.PoseTask("mark", base="l7"))
    assert "PoseTask('l7', target.inverse(), base='mark')" in str(error.value)
    q = model.sample(seed=3)
    target = model.pose("l7", q).inverse() @ model.pose("mark", q)
    found = pz.solve(model, pz.PoseTask("l7", target.inverse(), base="mark"))
    assert found.success
    assert (model.pose("l7", found.q).inverse() @ model.pose("mark", found.q)).isclose(target, atol=1e-5)
    with refused("nothing-moves", "'mark'"):
        pz.Solver(model, pz.PoseTask("mark"))


@pytest.mark.parametrize("tool", [False, True])
@pytest.mark.parametrize("kind", ["PoseTask", "PositionTask", "OrientationTask", "AxisTask", "DistanceTask"])
def test_what_the_refusal_of_such_a_frame_names_asks_the_same(kind: str, tool: bool) -> None:
    """The cure runs as it is written, and where it is fulfilled the task that was refused is."""
    model = chain().with_frame("mark", link="world", origin=pz.SE3.from_parts([0.4, 0.1, 0.6]))
    offset = pz.SE3.from_xyz_rpy([0.02, 0.05, -0.03], [0.3, -0.2, 0.5]) if tool else None
    axis, distance = [1.0, 2.0, 0.5], 0.3
    more = {"AxisTask": {"axis": axis}, "DistanceTask": {"distance": distance}}.get(kind, {})
    refused = getattr(pz, kind)("mark", base="l7", offset=offset, **more)
    target = np.array([0.1, -0.2, 0.3]) if kind == "DistanceTask" else refused.target_at(model, model.sample(seed=3))
    with pytest.raises(ValueError, match="lead the base as 'mark' sees it") as error:
        pz.Solver(model, refused)
    cure = str(error.value).partition("sees it, ")[2]
    names = {name: getattr(pz, name) for name in (*kind.split(), "VectorTask", "SE3")}
    task = eval(cure, {**names, "target": target, "offset": offset, "axis": axis, "distance": distance})
    seen = refused.goal(target)[None]
    found = pz.solve(model, task)
    assert found.success
    assert (refused.judged(model, seen, found.q[None]) < 1e-5).all()


def test_errors_name_what_is_wrong() -> None:
    model = chain()
    with pytest.raises(pz.FrameNotFound, match="l77"):
        pz.Solver(model, pz.PoseTask("l7", base="l77"))
    with refused("nothing-moves", "PoseTask('l7', base='l7')"):
        pz.Solver(model, pz.PoseTask("l7", base="l7"))
    with refused("zero-vector", "normal"):
        pz.PlaneTask("l7", (0.0, 0.0, 0.0))
    with refused("negative", "distance"):
        pz.DistanceTask("l7", -1.0)
    with refused("not-finite", "distance"):
        pz.DistanceTask("l7", float("nan"))
    with pytest.raises(pz.JointNotFound, match="j99"):
        pz.Solver(model, pz.JointCouplingTask({"j99": 1.0}))
    with refused("empty", "coefficients"):
        pz.JointCouplingTask({})
    with pytest.raises(ValueError, match=r"no link of planar3 has a mass.*ModelBuilder\.mass"):
        pz.Solver(planar(3), pz.CentreOfMassTask([0.0, 0.0, 0.0]))
    with refused("not-finite", "target[0] of PlaneTask('l7')"):
        pz.solve(model, pz.PlaneTask("l7", target=[float("nan"), 0.0, 0.0]))
    with refused("not-finite", "target"):
        pz.solve(model, pz.JointCouplingTask({"j1": 1.0}, float("nan")))


def test_all_of_them_are_compared() -> None:
    model = chain()
    tasks = [
        pz.PositionTask("l7", base="s1"),
        pz.CentreOfMassTask(weight=(1, 1, 0), tolerance=1e-5),
        pz.JointCouplingTask({"j1": 1.0, "j3": -1.0}),
    ]
    comparison = pz.compare(model, tasks, methods=["lm"], count=10)
    answers = comparison["lm"]
    np.testing.assert_array_equal(answers.solved, answers.claimed)
    assert answers.solved.any()
    assert comparison.tasks[2] == "JointCouplingTask({'j1': 1.0, 'j3': -1.0}) to 1e-06"


def test_what_a_coupling_lacks_is_told() -> None:
    answer = pz.solve(chain(), pz.JointCouplingTask({"j1": 1.0}, 4.0), max_restarts=0)
    assert "JointCouplingTask({'j1': 1.0}) lacks 1.5 rad or m" in answer.explain()


def test_a_joint_of_several_coordinates_is_not_coupled() -> None:
    builder = pz.ModelBuilder("floating")
    builder.joint("base", "floating", parent="map", child="body")
    with refused("not-supported", "'base'"):
        pz.Solver(builder.build(), pz.JointCouplingTask({"base": 1.0}))

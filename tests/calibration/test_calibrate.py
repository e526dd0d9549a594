"""What a calibration finds is what the robot is, as well as it says; what it cannot find it names."""

import sys
import warnings
from functools import cache

import numpy as np
import pytest
from calibration.cells import Array, arm, changed, moving, noisy, seen, wrong
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import approx_fprime
from scipy.stats import chi2
from support.refusals import refused

import poise as pz
from poise.calibration import Measurements
from poise.calibration.parameters import Freed, parameters
from poise.calibration.system import System

FINE = 1e-10


def apart(one: pz.Model, other: pz.Model, frame: str = "probe", base: str = "world") -> float:
    """How far a frame is in one model from where it is in another, at configurations that nobody measured at."""
    q = one.sample(50, seed=991)
    there = seen(one, q, frame, base).inverse() @ seen(other, q, frame, base)
    return float(np.abs(there.log()).max())


# It is found -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["ur5e", "stanford", "planar3", *(pytest.param(name, marks=pytest.mark.slow) for name in ("panda", "puma560"))],
)
def test_every_placement_of_an_arm_is_found_to_the_last_digits(name: str) -> None:
    model = arm(name)
    free = [*moving(model, "probe"), "probe", "tracker"]
    true = wrong(model, free)
    q = model.sample(60, seed=1)
    found = pz.calibrate(model, Measurements("probe", q, seen(true, q, base="tracker"), base="tracker"), free=free)
    assert found.converged
    assert apart(model, true, base="tracker") > 1e-3
    assert apart(found.model, true, base="tracker") < FINE


@pytest.mark.parametrize("name", ["so101", "xarm7", "tiago"])
def test_offsets_lengths_and_the_tool_of_robots_of_files_are_found(name: str) -> None:
    model = arm(name)
    joints = moving(model, "probe")[-4:]
    free = [*(f"{joint}.offset" for joint in joints[1:]), f"{joints[0]}.xyz", "probe.xyz"]
    true = wrong(model, free)
    q = model.sample(40, seed=2)
    found = pz.calibrate(model, Measurements("probe", q, seen(true, q)), free=free)
    assert apart(found.model, true) < FINE


@settings(max_examples=4)
@given(seed=st.integers(0, 2**32 - 1), turning=st.integers(2, 5), sliding=st.integers(0, 2))
def test_of_any_arm_four_a_hinge_two_a_slide_and_six_are_told(seed: int, turning: int, sliding: int) -> None:
    """The independent parameters of a chain: Everett, Driels and Mooring 1987, ICRA."""
    rng = np.random.default_rng(seed)
    b, parent = pz.ModelBuilder("chain"), "base"
    for k, kind in enumerate(rng.permutation(["revolute"] * turning + ["prismatic"] * sliding)):
        origin = pz.SE3.from_rotvec(rng.normal(size=3), rng.normal(size=3))
        b.joint(
            f"j{k}", str(kind), parent=parent, child=f"l{k}", origin=origin, axis=rng.normal(size=3), limits=(-2, 2)
        )
        parent = f"l{k}"
    b.frame("probe", link=parent, origin=pz.SE3.from_parts([0.1, 0.2, 0.3]))
    model = b.build()
    free = [*model.joint_names, *(f"{name}.offset" for name in model.joint_names), "probe", "base"]
    true = wrong(model, free, size=1e-2, seed=seed)
    q = model.sample(40, seed=3)
    found = pz.calibrate(model, Measurements("probe", q, seen(true, q)), free=free)
    assert len(found.names) - len(found.undetermined) == 4 * turning + 2 * sliding + 6
    assert apart(found.model, true) < FINE


def test_a_tool_and_a_base_that_are_not_known_at_all_are_found() -> None:
    """A camera in the hand sees a marker in the room (hand-eye calibration), whichever way both are turned."""
    rng = np.random.default_rng(3)
    for k in range(2):
        there = [pz.SE3.from_rotvec(rng.normal(size=3), rng.uniform(-2, 2, size=3)) for _ in range(2)]
        start, true = (
            pz.load("panda")
            .with_frame("camera", link="panda_hand", origin=a)
            .with_frame("marker", link="world", origin=b)
            for a, b in ([pz.SE3.identity()] * 2, there)
        )
        q = start.sample(12, seed=k)
        views = Measurements("marker", q, seen(true, q, "marker", "camera"), base="camera")
        found = pz.calibrate(start, views, free=["camera", "marker"])
        assert found.model.frame("camera").origin.isclose(there[0], atol=1e-8)
        assert found.model.frame("marker").origin.isclose(there[1], atol=1e-8)


def test_positions_alone_tell_all_but_the_turns_of_what_is_followed() -> None:
    model = arm()
    free = [*moving(model, "probe"), "probe", "tracker"]
    true = wrong(model, free)
    q = model.sample(80, seed=4)
    tracked = Measurements("probe", q, seen(true, q, base="tracker").xyz, base="tracker", std=1e-5)
    found = pz.calibrate(model, tracked, free=free)
    assert len(found.names) - len(found.undetermined) == 4 * 6 + 6 - 3
    assert np.abs(seen(found.model, q, base="tracker").xyz - tracked.measured.xyz).max() < FINE


def test_a_point_that_is_touched_from_many_sides_tells_offsets_and_the_tool() -> None:
    """The closure: nobody knows where the point is, and no instrument is needed."""
    model = arm().with_frame("spike", link="world", origin=pz.SE3.from_parts([0.4, 0.2, 0.3]))
    free = ["elbow_joint.offset", "wrist_1_joint.offset", "wrist_2_joint.offset", "probe.xyz", "spike.xyz"]
    true = wrong(model, free)
    goal = pz.PositionTask("probe", true.frame("spike").origin.xyz, tolerance=1e-12)
    tries = pz.solve_batch(true, goal, [true.frame("spike").origin.xyz] * 30, q0=true.sample(30, seed=5))
    q = tries.q[tries.success]
    assert len(q) > 20
    touched = Measurements("probe", q, np.zeros((len(q), 3)), base="spike", std=1e-4)
    found = pz.calibrate(model, touched, free=free)
    assert not found.undetermined
    assert np.allclose(found.model.frame("probe").origin.xyz, true.frame("probe").origin.xyz, atol=1e-9)
    assert apart(found.model, true) < 1e-8


def test_a_plane_that_is_touched_tells_what_stands_above_it() -> None:
    """One axis is measured; where on the plane it is touched is not."""
    model = arm().with_frame("table", link="world")
    free = ["elbow_joint.offset", "probe.z", "table.z", "table.rx", "table.ry"]
    true = wrong(model, free)
    table = true.frame("table").origin
    rng = np.random.default_rng(6)
    places = table @ np.column_stack([rng.uniform(0.2, 0.6, 40), rng.uniform(-0.4, 0.4, 40), np.zeros(40)])
    tries = pz.solve_batch(true, pz.PositionTask("probe", tolerance=1e-12), places, q0=true.sample(40, seed=7))
    q = tries.q[tries.success]
    touched = Measurements("probe", q, np.zeros((len(q), 3)), base="table", std=(np.inf, np.inf, 1e-4))
    found = pz.calibrate(model, touched, free=free)
    assert not found.undetermined
    assert np.allclose(found.values, changed_by(model, true, free), atol=1e-8)


def changed_by(model: pz.Model, true: pz.Model, free: list[str]) -> Array:
    """What was changed of `wrong`, by its seed."""
    return 3e-3 * np.random.default_rng(0).normal(size=len(parameters(model, free)))


@settings(max_examples=5)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_jacobian_is_that_of_differences(seed: int) -> None:
    model, rng = arm(), np.random.default_rng(seed)
    free = ["base", "elbow_joint", "wrist_1_joint.length", "shoulder_pan_joint.offset", "probe", "tracker.rotation"]
    found = parameters(model, free)
    q = model.sample(3, seed=seed)
    poses = pz.SE3.from_rotvec(rng.normal(size=(3, 3)), rng.normal(size=(3, 3)))
    measured = [
        Measurements("probe", q, poses, base="tracker", std=(0.5, 2.0)),
        Measurements("tracker", q, poses.xyz, base="forearm_link", std=[1.0, np.inf, 2.0]),
    ]
    system = System(Freed(model, found), measured, np.where(np.arange(len(found)) % 2, 0.1, np.inf))
    x = 0.3 * rng.normal(size=len(found))
    differences = approx_fprime(x, system.residuals, 1e-7)
    scale = np.abs(system.jacobian(x)).max()
    assert np.allclose(system.jacobian(x), differences, atol=1e-5 * scale)


@pytest.mark.parametrize(
    "mimic",
    [
        pz.Mimic(joint="lead", multiplier=-2.0, offset=0.1),
        pz.Mimic(joint="lead", function=pz.JointFunction.polynomial([0.1, -2.0, 0.5, 0.3])),
    ],
    ids=["multiple", "function"],
)
def test_a_joint_that_follows_another_keeps_following(mimic: pz.Mimic) -> None:
    b = pz.ModelBuilder("scissors")
    b.joint("lead", "revolute", parent="base", child="one", limits=(-1, 1), origin=pz.SE3.from_parts([0, 0, 0.3]))
    b.joint("next", "revolute", parent="one", child="two", origin=pz.SE3.from_parts([0.4, 0, 0]), axis=(0, 1, 0),
            mimic=mimic)  # fmt: skip
    b.joint("screw", "helical", parent="two", child="three", pitch=0.1, origin=pz.SE3.from_parts([0.3, 0.1, 0]))
    b.frame("probe", link="three", origin=pz.SE3.from_parts([0.2, 0, 0.1]))
    model = b.build()
    true = changed(model, ["lead.offset", "screw.offset"], [0.02, -0.03])
    q = np.random.default_rng(0).uniform(-1, 1, size=(9, 2))
    assert np.abs((seen(true, q).inverse() @ seen(model, q + np.array([0.02, -0.03]))).log()).max() < FINE
    found = pz.calibrate(model, Measurements("probe", q, seen(true, q)), free=["lead.offset", "screw.offset"])
    assert np.allclose(found.values, [0.02, -0.03], atol=FINE)
    with pytest.raises(ValueError, match=r"'next' follows 'lead': free 'lead.offset' instead"):
        pz.calibrate(model, Measurements("probe", q, seen(true, q)), free=["next.offset"])


def test_a_loop_that_is_closed_is_a_measurement() -> None:
    """A four-bar with all its joints read: in its plane its two ends meet, wherever it stands."""
    b, across = pz.ModelBuilder("four-bar"), (0, 1, 0)
    b.joint("crank", "revolute", parent="base", child="a", axis=across, limits=(-3, 3))
    up = pz.SE3.from_parts([0, 0, 0.2])
    b.joint("coupler", "revolute", parent="a", child="b", axis=across, limits=(-3, 3), origin=up)
    side = pz.SE3.from_parts([0.4, 0, 0])
    b.joint("rocker", "revolute", parent="base", child="c", axis=across, limits=(-3, 3), origin=side)
    b.frame("one", link="b", origin=side)
    b.frame("two", link="c", origin=up)
    b.loop("one", "two")
    model, off = b.build(), np.array([0.0, 0.02, -0.01])
    starts = np.random.default_rng(0).uniform(-1, 1, size=(25, 3))
    q = np.array([pz.solve(model, pz.PostureTask(start)).q for start in starts])
    met = Measurements("one", q - off, np.zeros((25, 3)), base="two", std=(1e-4, np.inf, 1e-4))
    found = pz.calibrate(model, met, free=["coupler.offset", "rocker.offset"])
    assert np.allclose(found.values, off[1:], atol=1e-6)  # loops are closed to 1e-7
    assert found.model.loops == model.loops


def test_a_length_is_the_way_from_one_joint_to_the_next() -> None:
    model = pz.load("planar3")
    q = model.sample(10, seed=1)
    first = model.joint_names[1]
    longer = changed(model, [f"{first}.length"], [0.01])
    found = pz.calibrate(model, Measurements("tool", q, seen(longer, q, "tool")), free=[f"{first}.length"])
    assert np.isclose(found.values[0], 0.01, atol=FINE)
    before, after = (np.linalg.norm(each.joint(first).origin.xyz) for each in (model, found.model))
    assert np.isclose(after - before, 0.01, atol=FINE)


def test_limits_home_and_all_else_stay() -> None:
    model = arm()
    q = model.sample(20, seed=1)
    found = pz.calibrate(model, Measurements("probe", q, seen(wrong(model, ["base"]), q)), free=["base"])
    assert np.array_equal(found.model.lower, model.lower)
    assert np.array_equal(found.model.home, model.home)
    assert found.model.frames == model.frames
    assert found.model.shapes == model.shapes


# How well it is known --------------------------------------------------------------------------------------------


FREE = ["elbow_joint.offset", "wrist_1_joint.offset", "wrist_2_joint.x", "probe.xyz", "tracker"]
STD = (2e-4, 1e-3)
RUNS = 50


@cache
def runs() -> tuple[list[Array], Array, list[float]]:
    """What is found of the same robot, measured again and again; the covariance, and the noise."""
    model = arm()
    true, q = wrong(model, FREE), model.sample(20, seed=8)
    poses = seen(true, q, base="tracker")
    values, noises = [], []
    for k in range(RUNS):
        measured = noisy(poses, STD, np.random.default_rng(k))
        found = pz.calibrate(model, Measurements("probe", q, measured, base="tracker", std=STD), free=FREE)
        values.append(found.values)
        noises.append(found.noise)
    return values, found.covariance, noises


def test_the_covariance_is_that_of_many_measurements() -> None:
    values, covariance, _ = runs()
    model = arm()
    off = np.array(values) - changed_by(model, model, FREE)
    squares = np.einsum("ni,ij,nj->n", off, np.linalg.inv(covariance), off)
    k = off.shape[1]
    assert abs(squares.mean() - k) < 5.0 * np.sqrt(2.0 * k / RUNS)
    assert (squares < chi2.isf(1e-6, k)).all()
    ratio = off.std(axis=0) / np.sqrt(np.diag(covariance))
    assert (np.abs(ratio - 1.0) < 5.0 / np.sqrt(2.0 * RUNS)).all()


def test_the_noise_is_about_one_where_the_deviations_are_right() -> None:
    noises = runs()[2]
    assert abs(np.mean(noises) - 1.0) < 0.04


def test_deviations_that_were_not_stated_are_told_from_what_is_left() -> None:
    model, std = arm(), 3e-4
    true, q = wrong(model, FREE), model.sample(100, seed=9)
    xyz = seen(true, q, base="tracker").xyz + std * np.random.default_rng(0).normal(size=(100, 3))
    one = pz.calibrate(model, Measurements("probe", q, xyz, base="tracker"), free=FREE)
    other = pz.calibrate(model, Measurements("probe", q, xyz, base="tracker", std=std), free=FREE)
    assert abs(one.noise / std - 1.0) < 0.2
    assert np.isclose(one.noise, std * other.noise, rtol=1e-6)
    assert np.allclose(one.values, other.values, atol=1e-8)
    assert np.allclose(one.covariance, other.covariance * other.noise**2, rtol=1e-6)


def test_what_nothing_is_left_to_judge_by_is_found_and_its_deviation_is_unknown() -> None:
    model = pz.load("panda")
    true = model.with_base(pz.SE3.from_xyz_rpy([0.1, 0.0, -0.05], [0.0, 0.1, 0.2]))
    q = model.sample(1, seed=0)
    found = pz.calibrate(model, Measurements(model.tip, q, true.pose(model.tip, q)), free=["base"])
    assert found.model.pose(model.tip, q[0]).isclose(true.pose(model.tip, q[0]), atol=1e-9)
    assert found.undetermined == ()
    assert np.isnan(found.std).all()
    assert "unknown" in found.table()
    assert "not told" not in found.table()
    assert "no more was measured than is free" in found.explain()
    more = model.sample(2, seed=0)
    found = pz.calibrate(model, Measurements(model.tip, more, true.pose(model.tip, more)), free=["base"])
    assert "unknown" not in str(found)


def test_good_configurations_have_a_better_index() -> None:
    model = arm()
    spread, close = model.sample(20, seed=1), model.home + 0.05 * np.random.default_rng(1).normal(size=(20, 6))
    good, poor = (
        pz.calibrate(model, Measurements("probe", q, seen(model, q, base="tracker"), base="tracker"), free=FREE)
        for q in (spread, close)
    )
    assert good.condition < poor.condition
    assert good.observability > poor.observability
    assert (good.singular_values[:-1] >= good.singular_values[1:]).all()


# What is not told ------------------------------------------------------------------------------------------------


def test_the_offset_of_the_first_joint_is_not_told_from_the_turn_of_the_base() -> None:
    model = arm()
    q = model.sample(20, seed=1)
    free = ["base", "shoulder_pan_joint.offset", "elbow_joint.offset"]
    true = wrong(model, free)
    found = pz.calibrate(model, Measurements("probe", q, seen(true, q), std=(1e-4, 1e-4)), free=free)
    (direction,) = found.undetermined
    assert list(direction)[:2] == ["shoulder_pan_joint.offset", "base.rz"]
    assert np.isclose(direction["base.rz"], -1.0, atol=1e-3)
    assert np.isinf(found.std[[5, 6]]).all()
    assert np.isfinite(found.std[[0, 7]]).all()
    assert "shoulder_pan_joint.offset cannot be told from base.rz" in found.explain()
    assert "not told" in found.table()
    assert apart(found.model, true) < FINE


def test_what_is_named_changes_nothing_and_stands_still() -> None:
    model = arm()
    q = model.sample(30, seed=1)
    free = [*moving(model, "probe"), "probe"]
    found = pz.calibrate(model, Measurements("probe", q, seen(wrong(model, free), q)), free=free)
    step, scale = 1e-4, np.abs(seen(model, q).xyz).max()
    for direction in found.undetermined:
        assert next(iter(direction.values())) == pytest.approx(1.0)
        way = np.array([direction.get(name, 0.0) for name in found.names])
        way *= step / np.linalg.norm(way)
        one, other = (changed(model, free, found.values + sign * way) for sign in (1.0, -1.0))
        assert np.abs((seen(one, q).inverse() @ seen(other, q)).log()).max() < 1e-3 * step * scale
        assert abs(found.values @ way) < 1e-3 * step  # no part of what was found


def test_what_moves_nothing_that_was_measured_is_named() -> None:
    model = arm()
    q = model.sample(20, seed=1)
    found = pz.calibrate(model, Measurements("forearm_link", q, seen(model, q, "forearm_link")),
                         free=["wrist_2_joint.offset", "elbow_joint.offset"])  # fmt: skip
    assert found.undetermined == ({"wrist_2_joint.offset": 1.0},)
    assert "wrist_2_joint.offset changes nothing that was measured: leave it out of free." in found.explain()


def test_a_prior_tells_what_measurements_do_not() -> None:
    model = arm()
    q = model.sample(20, seed=1)
    free = ["base", "shoulder_pan_joint.offset"]
    true = changed(model, ["shoulder_pan_joint.offset"], [0.01])
    measured = Measurements("probe", q, seen(true, q), std=(1e-4, 1e-4))
    found = pz.calibrate(model, measured, free=free, prior={"base.rotation": 1e-6})
    assert not found.undetermined
    assert np.isclose(found.values[-1], 0.01, atol=1e-5)
    assert np.isclose(found.std[5], 1e-6, rtol=0.01)


# Measurements that do not fit ------------------------------------------------------------------------------------


def test_outliers_are_named_and_no_other() -> None:
    model = arm()
    true, q = wrong(model, FREE), model.sample(40, seed=1)
    poses = noisy(seen(true, q, base="tracker"), STD, np.random.default_rng(1)).array.copy()
    poses[[7, 31], 0] += 0.01
    measured = Measurements("probe", q, pz.SE3(poses), base="tracker", std=STD)
    found = pz.calibrate(model, measured, free=FREE)
    (rows,) = found.outliers
    assert rows.tolist() == [7, 31]
    assert "7, 31 fit less than noise explains" in found.explain()
    again = pz.calibrate(model, measured.without(rows), free=FREE)
    assert not again.outliers[0].size
    assert 0.8 < again.noise < 1.2 < found.noise


def test_what_fits_to_the_last_digits_has_no_outliers() -> None:
    model = arm()
    true, q = wrong(model, FREE), model.sample(40, seed=1)
    found = pz.calibrate(model, Measurements("probe", q, seen(true, q, base="tracker"), base="tracker"), free=FREE)
    assert not found.outliers[0].size


def test_a_robot_that_is_not_as_modelled_is_far_off_and_says_so() -> None:
    model = arm()
    q = model.sample(20, seed=1)
    measured = Measurements("probe", q, seen(wrong(model, ["elbow_joint"]), q), std=(1e-5, 1e-5))
    found = pz.calibrate(model, measured, free=["wrist_3_joint.offset"])
    assert found.noise > 10.0
    assert "times the standard deviation that was stated" in found.explain()


# The same, always ------------------------------------------------------------------------------------------------


def test_the_same_measurements_give_the_same_numbers() -> None:
    model = arm()
    q = model.sample(20, seed=1)
    measured = Measurements("probe", q, noisy(seen(model, q), STD, np.random.default_rng(0)))
    one, other = (pz.calibrate(model, measured, free=["base", "probe"]) for _ in range(2))
    assert one.values.tobytes() == other.values.tobytes()
    assert str(one) == str(other)


def test_it_prints_as_a_table_and_sentences() -> None:
    model = arm()
    q = model.sample(20, seed=1)
    found = pz.calibrate(
        model, Measurements("probe", q, seen(changed(model, ["probe.z"], [0.001]), q)), free=["probe.z"]
    )
    head, rule, row, *_ = str(found).splitlines()
    assert head.split() == ["parameter", "found", "std", "unit"]
    assert set(rule) == {"-", " "}
    assert row.split()[:2] == ["probe.z", "+0.001000"]
    assert "20 poses of 'probe' from 'world' are off by" in str(found)
    assert repr(found) == "Calibration(ur5e, 1 parameters)"


# What makes no sense ---------------------------------------------------------------------------------------------


def measured(count: int = 10) -> Measurements:
    q = arm().sample(count, seed=1)
    return Measurements("probe", q, seen(arm(), q))


@pytest.mark.parametrize(
    ("free", "code", "words"),
    [
        (["elbow"], "unknown-name", "'elbow_joint'"),
        (["elbow_joint.offst"], "no-such-part", "'offset'"),
        (["tool0"], "no-such-part", "'tool0_joint'"),
        (["world"], "nothing-moves", "'base'"),
        (["elbow_joint", "elbow_joint.x"], "duplicate", "'elbow_joint.x'"),
        ([], "empty", "free"),
        ("elbow_joint", "not-a-sequence", "'elbow_joint'"),
        ([3], "not-a-sequence", "[3]"),
        (["probe.offset"], "not-supported", "'probe'"),
        (["tool0_joint.offset"], "not-supported", "'tool0_joint'"),
        (["base.length"], "not-supported", "'base'"),
        (["tracker"], "nothing-moves", "measured"),
    ],
)
def test_a_name_that_cannot_be_free_says_what_can(free: list[str], code: str, words: str) -> None:
    with refused(code, words):
        pz.calibrate(arm(), measured(), free=free)


@pytest.mark.parametrize(
    ("prior", "code", "words"),
    [
        ({"elbow_joint": 0.1}, "wrong-length", "'elbow_joint.rotation'"),
        ({"elbow_joint.x": 0.0}, "not-positive", "'elbow_joint.x'"),
        ({"elbow_joint.x": np.nan}, "not-finite", "'elbow_joint.x'"),
        (0.1, "wrong-type", "prior"),
        ({"wrist_1_joint.x": 0.1}, "unknown-name", "'wrist_1_joint.x'"),
    ],
)
def test_a_prior_that_makes_no_sense_is_refused(prior: dict[str, float], code: str, words: str) -> None:
    with refused(code, words):
        pz.calibrate(arm(), measured(), free=["elbow_joint"], prior=prior)


def test_too_few_measurements_are_counted() -> None:
    with pytest.raises(ValueError, match="12 numbers were measured and 18 are free: measure at more configurations"):
        pz.calibrate(arm(), measured(2), free=["base", "elbow_joint", "probe"])


def test_measurements_that_do_not_fit_one_another_are_refused() -> None:
    q = arm().sample(4, seed=1)
    poses = seen(arm(), q)
    with pytest.raises(pz.ShapeError, match=r"a row each for one measurement; got q \(3, 6\) and measured \(4,\)"):
        Measurements("probe", q[:3], poses)
    with pytest.raises(pz.ShapeError, match="a row each"):
        Measurements("probe", q[0], seen(arm(), q[0]))
    with refused("not-finite", "xyz[2, 1]"):
        Measurements("probe", q, np.where(np.arange(12).reshape(4, 3) == 7, np.nan, poses.xyz))
    with pytest.raises(pz.ShapeError, match=r"std of poses is \(metres, radians\) or six"):
        Measurements("probe", q, poses, std=0.1)
    with pytest.raises(pz.ShapeError, match="std of positions is a number"):
        Measurements("probe", q, poses.xyz, std=(0.1, 0.1))
    for std in ((0.0, 1.0), (np.nan, 1.0), (-1.0, 1.0), (np.inf, np.inf)):
        with refused("not-positive", "std"):
            Measurements("probe", q, poses, std=std)
    with pytest.raises(pz.FrameNotFound, match="did you mean 'probe'"):
        pz.calibrate(arm(), Measurements("prob", q, poses), free=["base"])
    with pytest.raises(pz.ShapeError, match="nq"):
        pz.calibrate(arm(), Measurements("probe", q[:, :5], poses), free=["base"])
    bad = q.copy()
    bad[2, 3] = np.nan
    with refused("not-finite", "q[2, 3]"):
        pz.calibrate(arm(), Measurements("probe", bad, poses), free=["base"])
    with refused("wrong-type", "measurements"):
        pz.calibrate(arm(), [poses], free=["base"])  # type: ignore[list-item]
    with refused("empty", "measurements"):
        pz.calibrate(arm(), [], free=["base"])
    with refused("inconsistent", "std"):
        pz.calibrate(arm(), [measured(), Measurements("probe", q, poses, std=(1, 1))], free=["base"])
    with refused("not-a-model", "'ur5e'"):
        pz.calibrate("ur5e", measured(), free=["base"])  # type: ignore[arg-type]


def test_degrees_are_asked_about() -> None:
    model = arm()
    q = model.sample(10, seed=1)
    with pytest.warns(UserWarning, match="degrees"):
        pz.calibrate(model, Measurements("probe", np.degrees(q), seen(model, q)), free=["base.xyz"])


def test_millimetres_are_asked_about() -> None:
    model = arm()
    q = model.sample(10, seed=1)
    with pytest.warns(UserWarning, match="times as far apart as in the model: millimetres"):
        found = pz.calibrate(model, Measurements("probe", q, 1e3 * seen(model, q).xyz), free=["base.xyz"])
    assert "No robot is wrong by so much: look at the names" in found.explain()


def test_without_scipy_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    with pytest.raises(pz.MissingExtra, match=r'calibration needs scipy: pip install "poise\[calibration\]"'):
        pz.calibrate(arm(), measured(), free=["base"])


def test_nothing_is_warned_of() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pz.calibrate(arm(), measured(), free=["base"])


def test_rows_are_left_out_by_index_or_mask_and_nothing_else() -> None:
    measured_ = measured()
    some = np.zeros(len(measured_), dtype=bool)
    some[[1, 3]] = True
    assert np.array_equal(measured_.without(some).q, measured_.without([1, 3]).q)
    assert np.array_equal(measured_.without([]).q, measured_.q)
    assert np.array_equal(measured_.without([-1]).q, measured_.q[:-1])
    for rows in ([0.5], [len(measured_)], [-len(measured_) - 1], some[:-1], "ab"):
        with refused("out-of-range", "rows"):
            measured_.without(rows)
    with refused("masked", "rows[1]"):
        measured_.without(np.ma.array([1, 3], mask=[False, True]))


def test_a_prior_without_deviations_of_what_was_measured_is_refused() -> None:
    with refused("needs", "prior"):
        pz.calibrate(arm(), measured(), free=["elbow_joint"], prior={"elbow_joint.x": 1e-3})

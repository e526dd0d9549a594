"""Every configuration that comes back keeps every limit to the last bit, solved or not, whatever the start."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from independent import fk, mimics

import poise as pz

Array = npt.NDArray[np.float64]
TURN = 2.0 * math.pi
few = settings(max_examples=50)
"""No clock, for a kernel may compile within an example; the same examples in every run."""
ONE_AXIS = ("revolute", "continuous", "prismatic", "helical")
LIMITED = ("revolute", "prismatic", "helical")
widths = st.sampled_from([0.0, 1e-300, 1e-12, 1e-3, 0.3, 2.0, 7.0])
centres = st.sampled_from([0.0, 0.1, -1.0, 1.5, 3.0]) | st.floats(-4.0, 4.0)
seeds = st.integers(0, 2**32 - 1)


def keeps(model: pz.Model, q: Array) -> None:
    """No slack: a limit broken in the last bit is a limit broken."""
    assert np.isfinite(q).all()
    assert (q >= model.lower).all()
    assert (q <= model.upper).all()
    for joint in model.joints:
        if joint.nq and joint.quaternion_at is not None:
            start = model.index(joint.name).start + joint.quaternion_at
            assert abs(np.linalg.norm(q[start : start + 4]) - 1.0) < 1e-12
    for joint, x in mimics(model, q):
        source, function = model.follows(joint)
        assert function.linear is not None
        multiplier, offset = function.linear
        slack = 0.0
        if abs(multiplier) != 1.0 or offset:
            # The limit of the joint that it follows and its own position are each rounded on the way.
            ends = [end for end in (*joint.lower, *joint.upper) if math.isfinite(end)]
            slack = 8.0 * np.spacing(max(map(abs, [offset, multiplier * q[model.index(source)][0], *ends])))
        assert joint.lower[0] - slack <= x <= joint.upper[0] + slack


@st.composite
def limits(draw: st.DrawFn) -> tuple[float, float] | None:
    """Wide and tight ones, of no width at all, open on one side, or none."""
    centre, below, above = draw(centres), draw(widths), draw(widths)
    match draw(st.sampled_from(["both", "both", "both", "lower", "upper", "none"])):
        case "both":
            return centre - below, centre + above
        case "lower":
            return centre - below, math.inf
        case "upper":
            return -math.inf, centre + above
        case _:
            return None


@st.composite
def arms(draw: st.DrawFn, most: int = 7) -> pz.Model:
    """A chain, now and then a branch, of every kind of joint; one-axis joints may follow others."""
    rng = np.random.default_rng(draw(seeds))
    builder = pz.ModelBuilder("arm")
    kinds = st.sampled_from([*ONE_AXIS, *LIMITED, *LIMITED, "planar", "spherical", "floating"])
    leaders: list[str] = []
    for i in range(draw(st.integers(1, most))):
        kind, name = draw(kinds), f"j{i}"
        mimic = bounds = None
        if kind in ONE_AXIS and leaders and draw(st.integers(0, 3)) == 0:
            mimic = pz.Mimic(
                joint=draw(st.sampled_from(leaders)),
                multiplier=draw(st.sampled_from([1.0, -1.0, 0.1, 2.0, -0.3, 0.0])),
                offset=draw(st.sampled_from([0.0, 0.4])),
            )
        elif kind in LIMITED:
            bounds = draw(limits())
        elif kind == "planar" and draw(st.booleans()):
            bounds = ([-0.5, -1e-3, -1.0], [0.5, 1e-3, 2.0])
        elif kind == "floating" and draw(st.booleans()):
            free = [math.inf] * 4
            bounds = ([-0.5, -1e-3, -1.0, *(-x for x in free)], [0.5, 1e-3, 2.0, *free])
        if kind in ONE_AXIS:
            leaders.append(name)
        builder.joint(
            name,
            kind,
            parent=f"l{i if i < 2 or draw(st.integers(0, 5)) else i - 1}",
            child=f"l{i + 1}",
            origin=pz.SE3.from_rotvec(rng.normal(scale=0.5, size=3), rng.normal(size=3)),
            axis=rng.normal(size=3),
            limits=bounds,
            pitch=0.1 if kind == "helical" else 0.0,
            mimic=mimic,
        )
    builder.frame("tip", link=f"l{i + 1}", origin=pz.SE3.from_rotvec(rng.normal(scale=0.5, size=3), rng.normal(size=3)))
    return builder.build()


def starts(model: pz.Model, seed: int) -> Array:
    """A start anywhere: within the limits, at them, one bit beyond, or far outside."""
    rng = np.random.default_rng(seed)
    q = model.sample(seed=rng)
    edge = np.where(rng.random(model.nq) < 0.5, model.lower, model.upper)
    beyond = np.nextafter(edge, np.where(edge == model.lower, -np.inf, np.inf))
    choices = np.stack([q, edge, beyond, rng.normal(scale=10.0, size=model.nq)])
    picked = choices[rng.integers(4, size=model.nq), np.arange(model.nq)]
    return np.where(np.isfinite(picked), picked, q)


def tasks(model: pz.Model, which: str, rng: np.random.Generator) -> list[Any]:
    """Tasks on the tip; half of the targets are where some configuration within the limits brings it."""
    pose = model.pose("tip", model.sample(seed=rng))
    if rng.random() < 0.5:
        pose = pz.SE3.from_rotvec(rng.normal(scale=2.0, size=3), rng.normal(size=3))
    point, away = pose.xyz, rng.normal(size=3)
    return {
        "pose": [pz.PoseTask("tip", pose)],
        "position": [pz.PositionTask("tip", point)],
        "orientation": [pz.OrientationTask("tip", pose.rotation)],
        "axis": [pz.PositionTask("tip", point), pz.AxisTask("tip", target=away)],
        "look": [pz.LookAtTask("tip", target=point)],
        "posture": [pz.PoseTask("tip", pose), pz.PostureTask(starts(model, int(rng.integers(2**32))))],
        "rest": [pz.PostureTask(starts(model, int(rng.integers(2**32))))],
    }[which]


@pytest.mark.filterwarnings("ignore:.*degrees")
@settings(few, max_examples=120)
@given(
    model=arms(),
    which=st.sampled_from(["pose", "position", "orientation", "axis", "look", "posture", "rest"]),
    seed=seeds,
)
def test_no_limit_is_ever_broken(model: pz.Model, which: str, seed: int) -> None:
    assume(any(joint.nq for joint in model.root_path(model.frame("tip").link)))
    solution = pz.Solver(model, tasks(model, which, np.random.default_rng(seed)), max_restarts=10)(
        q0=starts(model, seed)
    )
    keeps(model, solution.q)
    assert model.within_limits(solution.q)


@settings(few, max_examples=60)
@given(model=arms(), seed=seeds)
def test_joints_that_no_task_moves_keep_their_limits_too(model: pz.Model, seed: int) -> None:
    """Only the first joint is in the tasks; the start of all the others may be outside."""
    first = next(joint for joint in model.joints if joint.nq)
    solution = pz.solve(model, pz.PositionTask(first.child, [0.3, 0.2, 0.1]), q0=starts(model, seed), max_restarts=5)
    keeps(model, solution.q)


@few
@given(model=arms(), seed=seeds)
def test_a_start_outside_is_pulled_in_to_the_nearest(model: pz.Model, seed: int) -> None:
    """Asked for the very pose that it has once pulled in, the solver leaves it there."""
    assume(any(joint.nq for joint in model.root_path(model.frame("tip").link)))
    start = starts(model, seed)
    inside = np.clip(start, model.lower, model.upper)
    for joint in model.joints:
        if joint.nq and joint.quaternion_at is not None:
            at = model.index(joint.name).start + joint.quaternion_at
            assume(np.linalg.norm(start[at : at + 4]) > 1e-3)
            inside[at : at + 4] /= np.linalg.norm(inside[at : at + 4])
    solution = pz.solve(model, pz.PoseTask("tip", model.pose("tip", inside)), q0=start)
    assert solution.success
    np.testing.assert_allclose(solution.q, inside, rtol=0, atol=1e-12)


@few
@given(
    lower=st.floats(-3.0, 3.0),
    width=widths,
    multiplier=st.sampled_from([1.0, -1.0, 0.1, 0.3, -0.7, 3.0]) | st.floats(0.05, 5.0) | st.floats(-5.0, -0.05),
    offset=st.just(0.0) | st.floats(-2.0, 2.0),
    seed=seeds,
)
def test_the_limits_of_a_joint_that_mimics_hold_for_it(
    lower: float, width: float, multiplier: float, offset: float, seed: int
) -> None:
    """The joint that leads has no limits; those of the one that follows narrow it."""
    b = pz.ModelBuilder("pair")
    upper = lower + width
    follower = pz.Mimic(joint="lead", multiplier=multiplier, offset=offset)
    b.joint("lead", "revolute", parent="base", child="one")
    b.joint("follow", "revolute", parent="one", child="two", axis=(0, 1, 0), limits=(lower, upper), mimic=follower)
    b.frame("tip", link="two", origin=pz.SE3.from_parts([1.0, 0.2, 0.3]))
    model = b.build()
    target = np.random.default_rng(seed).normal(size=3)
    solution = pz.solve(model, pz.PositionTask("tip", target), q0=[50.0], max_restarts=5)
    keeps(model, solution.q)
    assert solution.named()["follow"] == pytest.approx(multiplier * solution.q[0] + offset, abs=1e-12)


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "helical"])
@pytest.mark.parametrize("at", [0.0, 0.7, -1e-9])
def test_a_joint_of_no_travel_stays_where_it_is_and_the_others_do_the_work(kind: str, at: float) -> None:
    b = pz.ModelBuilder("held")
    b.joint("a", "revolute", parent="base", child="one")
    b.joint("held", kind, parent="one", child="two", axis=(0, 0, 1), limits=(at, at), pitch=0.2)
    b.joint("b", "revolute", parent="two", child="three", origin=pz.SE3.from_parts([1, 0, 0]))
    b.frame("tip", link="three", origin=pz.SE3.from_parts([1, 0, 0]))
    model = b.build()
    for seed in range(10):
        wanted = model.sample(seed=seed)
        solution = pz.solve(model, pz.PositionTask("tip", fk(model, "tip", wanted)[:3, 3]), q0=[0.1, 9.0, -0.2])
        assert solution.success
        assert solution.q[1] == at


@pytest.mark.parametrize("kind", ["prismatic", "helical"])
@pytest.mark.parametrize("beyond", [0.5, -0.5])
def test_a_slide_stops_at_its_end_exactly(kind: str, beyond: float) -> None:
    lower, upper, pitch = -0.3, 0.6, 0.5
    b = pz.ModelBuilder("slide")
    b.joint("slide", kind, parent="base", child="car", axis=(0, 0, 1), limits=(lower, upper), pitch=pitch)
    model = b.build()
    end = upper if beyond > 0.0 else lower
    travel = 1.0 if kind == "prismatic" else pitch
    solution = pz.solve(model, pz.PositionTask("car", [0.0, 0.0, travel * end + beyond]))
    assert not solution.success
    assert solution.q[0] == end
    assert solution.position_error == pytest.approx(abs(beyond), abs=1e-12)
    assert solution.status is pz.Status.LIMIT or solution.status is pz.Status.UNREACHABLE
    inside = pz.solve(model, pz.PositionTask("car", [0.0, 0.0, travel * 0.25]))
    assert inside.q[0] == pytest.approx(0.25, abs=1e-5)


# Whole turns -----------------------------------------------------------------------------------------------------


def nearer_turns(model: pz.Model, q: Array, start: Array) -> list[tuple[str, float]]:
    """Joints of which another whole turn within the limits would be nearer to the start."""
    out = []
    for name, x, x0, low, high in zip(model.joint_names, q, start, model.lower, model.upper, strict=True):
        for k in (-1.0, 1.0):
            other = x + k * TURN
            if low <= other <= high and abs(other - x0) < abs(x - x0) - 1e-9:
                out.append((name, other))
    return out


@settings(few, max_examples=60)
@given(name=st.sampled_from(["ur5e", "puma560", "panda", "iiwa14"]), seed=seeds)
def test_of_all_whole_turns_within_the_limits_the_nearest_to_the_start_is_taken(name: str, seed: int) -> None:
    model = pz.load(name)
    rng = np.random.default_rng(seed)
    start = rng.uniform(model.lower, model.upper)
    wanted = rng.uniform(model.lower, model.upper)
    solution = pz.solve(model, pz.PoseTask(model.tip, model.pose(model.tip, wanted)), q0=start)
    assert solution.success
    keeps(model, solution.q)
    assert nearer_turns(model, solution.q, start) == []


@pytest.mark.parametrize("turns", [-3.0, 0.0, 1.0, 40.0, 1000.0])
def test_a_joint_without_limits_stays_within_half_a_turn_of_its_start(turns: float) -> None:
    model = pz.load("planar3")
    solver = pz.Solver(model, pz.PoseTask("tool"))
    for seed in range(20):
        wanted, start = model.sample(2, seed=seed)
        start = start + turns * TURN
        solution = solver(model.pose("tool", wanted), start)
        assert solution.success
        assert (np.abs(solution.q - start) <= math.pi + 1e-9).all()


def test_a_whole_turn_is_not_taken_where_it_would_move_what_follows() -> None:
    """A follower at a third of the speed comes round only every third turn; a screw never does."""
    b = pz.ModelBuilder("geared")
    b.joint("lead", "continuous", parent="base", child="one")
    b.joint(
        "third", "revolute", parent="one", child="two", axis=(0, 1, 0), mimic=pz.Mimic(joint="lead", multiplier=1 / 3)
    )
    b.joint("screw", "helical", parent="two", child="three", axis=(1, 0, 0), pitch=0.05)
    b.frame("tip", link="three", origin=pz.SE3.from_parts([0.5, 0.4, 0.3]))
    model = b.build()
    solver = pz.Solver(model, pz.PositionTask("tip", tolerance=1e-9))
    for seed in range(20):
        wanted, start = model.sample(2, seed=seed) * 4.0
        target = fk(model, "tip", wanted)[:3, 3]
        solution = solver(target, start)
        assert np.linalg.norm(fk(model, "tip", solution.q)[:3, 3] - target) == pytest.approx(
            solution.position_error, abs=1e-12
        )


@pytest.mark.parametrize("wide", [1e3, 1e6, 1e10])
def test_limits_that_are_none_in_all_but_name_do_no_harm(wide: float) -> None:
    """Files write large numbers for 'no limit'; the answer is still near the start."""
    b = pz.ModelBuilder("wide")
    b.joint("a", "revolute", parent="base", child="one", limits=(-wide, wide))
    b.joint("b", "revolute", parent="one", child="two", origin=pz.SE3.from_parts([1, 0, 0]), limits=(-wide, wide))
    b.frame("tip", link="two", origin=pz.SE3.from_parts([1, 0, 0]))
    model = b.build()
    for angle in np.linspace(-3.0, 3.0, 13):
        solution = pz.solve(model, pz.PositionTask("tip", [1.2 * math.cos(angle), 1.2 * math.sin(angle), 0.0]))
        assert solution.success
        assert (np.abs(solution.q) <= math.pi + 1e-9).all()


def test_an_angle_too_large_to_mean_anything_is_never_called_solved() -> None:
    """At 1e250 rad no digit of the angle is left: whatever comes back must be true, or be refused."""
    model = pz.load("planar2")
    for start in (1e17, 1e100, 1e250):
        refused = ""
        try:
            solution = pz.solve(model, pz.PositionTask("tool", [1.2, 0.7, 0.0]), q0=[0.0, start])
        except ValueError as error:
            refused = str(error)
        if refused:
            assert "q0[1]" in refused
            continue
        left = np.linalg.norm(fk(model, "tool", solution.q)[:3, 3] - [1.2, 0.7, 0.0])
        assert solution.success == bool(left <= 1e-6)

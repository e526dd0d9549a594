"""Where an elbow or a knee points: against angles measured by SciPy, differences, and limbs of every kind."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation
from support.human import bent, figure, swaying
from support.refusals import refused
from support.trees import trees

import poise as pz
from poise.common.errors import FrameNotFound
from poise.model.model import Model

Array = npt.NDArray[np.float64]
FIGURE = figure()
STANCE = bent(FIGURE)
ARM = ("LeftArm", "LeftForeArm", "LeftHand")
LEG = ("LeftUpLeg", "LeftLeg", "LeftFoot")
HAND = pz.PositionTask("LeftHand", FIGURE.pose("LeftHand", STANCE).xyz)
PANDA = pz.load("panda")


def turned(model: Model, q: Array, limb: tuple[str, ...], pole: Array) -> tuple[float, float]:
    """The angle [rad] by which the middle is off the pole's side, and its distance from the line [m]."""
    root, middle, end = (model.pose(name, q).xyz for name in limb)
    to_x, _ = Rotation.align_vectors([[1.0, 0.0, 0.0]], [end - root])
    _, *a = to_x.apply(middle - root)
    _, *b = to_x.apply(pole - root)
    angle = np.arctan2(a[1], a[0]) - np.arctan2(b[1], b[0])
    return float(np.angle(np.exp(1j * angle))), float(np.hypot(*a))


# The residual --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("angle", [0.0, 0.7, -2.5])
def test_the_error_is_the_arc_to_where_the_middle_shall_be(angle: float) -> None:
    rng = np.random.default_rng(0)
    for seed in range(20):
        q, pole = FIGURE.sample(seed=seed), rng.normal(size=3)
        task = pz.SwivelTask(*ARM, pole, angle=angle)
        away, size = turned(FIGURE, q, ARM, pole)
        left = np.angle(np.exp(1j * (away - angle)))
        e, _ = pz.Solver(FIGURE, task).linearise(q)
        assert e[0] == pytest.approx(-size * left, abs=1e-9)
        assert task.judged(FIGURE, task.goal(pole)[None], q[None]) == pytest.approx(abs(size * left), abs=1e-12)


@given(trees(least=3, limits=False), st.booleans(), st.integers(0, 10**6))
def test_its_jacobian_is_its_derivative(model: Model, based: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    names = [str(name) for name in rng.permutation(model.frames)]
    assume(len(names) > 3)
    task = pz.SwivelTask(*names[:3], [0.3, -0.2, 0.4], base=names[3] if based else None, angle=rng.normal())
    q = model.sample(seed=seed)
    root, middle, end = (model.pose(name, q).xyz for name in names[:3])
    line, pole = end - root, np.array([0.3, -0.2, 0.4])
    if based:
        pole = model.pose(names[3], q).act(pole)
    assume(np.linalg.norm(line) > 0.1)
    assume(min(np.linalg.norm(np.cross(line, x - root)) / np.linalg.norm(line) for x in (middle, pole)) > 0.05)
    try:
        solver = pz.Solver(model, task)
    except ValueError:
        assume(False)
    e, jacobian = solver.linearise(q)
    size = np.linalg.norm(np.cross(line, middle - root)) / np.linalg.norm(line)
    assume(abs(e[0]) < 3.0 * size)  # where it points the other way the arc jumps
    found = np.zeros((len(e), model.nv))
    for i in range(model.nv):
        ends = (solver.linearise(model.integrate(q, s * 1e-6 * np.eye(model.nv)[i]))[0] for s in (1.0, -1.0))
        found[:, i] = np.subtract(*ends) / -2e-6
    np.testing.assert_allclose(jacobian, found, atol=1e-6 * (1.0 + np.abs(found).max()))
    goal = task.at(model, q)
    assert task.judged(model, goal[None], q[None]) == pytest.approx(0.0, abs=1e-9)


# Solving -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["solve", "dls", "priority"])
def test_an_elbow_points_to_the_pole_and_the_hand_stays(how: str) -> None:
    for pole in ([0.0, 1.0, 3.0], [-3.0, 0.5, 0.0], [2.0, 0.0, -2.0]):
        tasks = [HAND, pz.SwivelTask(*ARM, pole, priority=int(how == "priority")), pz.PostureTask(STANCE)]
        answer = pz.solve(
            FIGURE, tasks[: 3 if how == "solve" else 2], q0=STANCE, method=None if how == "solve" else how
        )
        assert answer.success
        left, size = turned(FIGURE, answer.q, ARM, np.array(pole))
        assert size * left == pytest.approx(0.0, abs=1e-6)
        # The posture all but stretches the arm for one of the poles: there an elbow points nowhere.
        assert size < 1e-3 or left == pytest.approx(0.0, abs=1e-4)
        assert FIGURE.pose("LeftHand", answer.q).xyz == pytest.approx(HAND.target, abs=1e-6)


def test_of_seven_joints_it_takes_the_one_that_is_free() -> None:
    goal = pz.PoseTask("panda_hand", PANDA.pose("panda_hand", PANDA.home))
    limb = ("panda_link2", "panda_link4", "panda_link7")
    at_home = pz.SwivelTask(*limb, base="panda_link0").target_at(PANDA, PANDA.home)
    for angle in (-0.4, 0.3):
        task = pz.SwivelTask(*limb, at_home, base="panda_link0", angle=angle)
        answer = pz.solve(PANDA, [goal, task])
        assert answer.success
        assert turned(PANDA, answer.q, limb, at_home)[0] == pytest.approx(angle, abs=1e-4)


def test_it_is_the_nearest_that_brute_force_finds() -> None:
    """Of all places on the circle on which the elbow can be, it is the one that is nearest to the pole."""
    pole = np.array([0.4, 0.9, 1.0])
    answer = pz.solve(FIGURE, [HAND, pz.SwivelTask(*ARM, pole), pz.PostureTask(STANCE)], q0=STANCE)
    root, middle, end = (FIGURE.pose(name, answer.q).xyz for name in ARM)
    line = (end - root) / np.linalg.norm(end - root)
    far = [
        float(np.linalg.norm(root + Rotation.from_rotvec(x * line).apply(middle - root) - pole))
        for x in np.linspace(0.0, 2.0 * np.pi, 721)
    ]
    assert float(np.linalg.norm(middle - pole)) == pytest.approx(min(far), abs=1e-5)


def test_many_at_once() -> None:
    rng = np.random.default_rng(3)
    hands = FIGURE.pose("LeftHand", STANCE).xyz + 0.1 * rng.normal(size=(40, 3))
    poles = rng.normal(size=(40, 3)) + np.array([0.0, 0.0, 1.0])
    tasks = [pz.PositionTask("LeftHand"), pz.SwivelTask(*ARM)]
    found = pz.solve_batch(FIGURE, tasks, [hands, poles])
    assert found.success.all()
    for q, pole in zip(found.q, poles, strict=True):
        angle, size = turned(FIGURE, q, ARM, pole)
        assert abs(angle) * size < 2e-6


def test_eight_characters_at_once_are_characters_one_by_one() -> None:
    tasks = [HAND, pz.SwivelTask(*ARM), pz.SwivelTask(*LEG, [5.0, 0.0, 0.0], base="Hips"), pz.PostureTask()]
    ik, count = pz.Tracker(FIGURE, tasks), 9
    motions = np.stack([swaying(FIGURE, 12, seed=seed) for seed in range(count)])
    targets = np.tile(ik.targets, (count, 12, 1, 1))
    targets[:, :, 1, :3] = np.random.default_rng(0).normal(size=(count, 1, 3)) + np.array([0.0, 1.0, 1.0])
    way = [*np.moveaxis(targets[..., :3], 2, 0), motions]
    together = ik.rollout(motions[:, 0], way)
    for k in range(count):
        alone = ik.rollout(motions[k, 0], [one[k] for one in way])
        assert together[k] == pytest.approx(alone, abs=1e-9)


# Where there is no angle ---------------------------------------------------------------------------------------------


def test_a_straight_limb_is_done_and_bends_to_the_pole() -> None:
    """At neutral the arm is stretched and nothing is asked for; as the hand comes nearer the elbow goes to the pole."""
    pole = np.array([0.0, 0.4, -3.0])
    task = pz.SwivelTask(*ARM, pole)
    e, jacobian = pz.Solver(FIGURE, task).linearise(FIGURE.neutral)
    assert abs(e[0]) < 1e-12
    assert np.isfinite(jacobian).all()
    hand = FIGURE.pose("LeftHand", FIGURE.neutral).xyz - np.array([0.0, 0.1, 0.0])
    ik = pz.Tracker(FIGURE, [pz.PoseTask("Chest", FIGURE.pose("Chest", FIGURE.neutral)), HAND, task])
    v = np.zeros(FIGURE.nv)
    v[FIGURE.velocity_index("LeftForeArm")] = 0.0, 0.0, -0.1  # a little to the front, for straight it has no way in
    q = FIGURE.integrate(FIGURE.neutral, v)
    for share in np.linspace(0.0, 1.0, 30):
        q = ik.step(q, [None, (1.0 - share) * FIGURE.pose("LeftHand", FIGURE.neutral).xyz + share * hand, None])
        assert np.isfinite(q).all()
    for _ in range(300):
        q = ik.step(q)
    angle, size = turned(FIGURE, q, ARM, pole)
    assert size > 0.1
    assert abs(angle) < 1e-3


def test_from_the_far_side_it_comes_round() -> None:
    q = pz.solve(FIGURE, [HAND, pz.SwivelTask(*ARM, [0.0, 0.5, 5.0])], q0=STANCE).q
    ik = pz.Tracker(FIGURE, [HAND, pz.SwivelTask(*ARM, [0.01, 0.5, -5.0]), pz.PostureTask(STANCE)])
    for _ in range(200):
        q = ik.step(q)
    assert max(error.position for error in ik.errors[:2]) < 1e-5


def test_a_pole_on_the_line_asks_for_nothing() -> None:
    on_it = FIGURE.pose("LeftHand", STANCE).xyz
    for end in ("LeftHand", "Head"):
        limb = (*ARM[:2], end)
        pole = 2.0 * FIGURE.pose(end, STANCE).xyz - FIGURE.pose("LeftArm", STANCE).xyz
        e, jacobian = pz.Solver(FIGURE, pz.SwivelTask(*limb, pole)).linearise(STANCE)
        assert abs(e[0]) < 1e-9
        assert np.isfinite(jacobian).all()
    assert np.isfinite(pz.Solver(FIGURE, pz.SwivelTask(*ARM, on_it)).linearise(STANCE)[1]).all()


# What is refused -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ({"end": "LeftArm"}, "duplicate", "are not three: name three frames"),
        ({"target": [1.0, 2.0]}, "wrong-shape", "target"),
        ({"angle": np.nan}, "not-finite", "angle"),
        ({"weight": (1.0, 2.0)}, "wrong-shape", "weight"),
    ],
)
def test_what_is_no_limb_is_refused(arguments: Any, code: str, words: str) -> None:
    with refused(code, words):
        pz.SwivelTask(**({"root": "LeftArm", "middle": "LeftForeArm", "end": "LeftHand"} | arguments))


def test_frames_that_there_are_not_and_limbs_that_do_not_move() -> None:
    with pytest.raises(FrameNotFound, match="LeftHand"):
        pz.Solver(FIGURE, pz.SwivelTask("LeftArm", "LeftForeArm", "LeftHnd"))
    with refused("nothing-moves"):
        pz.Solver(PANDA, pz.SwivelTask("panda_hand", "panda_link8", "panda_link7", base="panda_hand"))

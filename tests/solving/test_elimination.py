"""Every solution of six axes that lie anyhow: none is lost, each is one, and `complete` is no false claim."""

import numpy as np
import numpy.typing as npt
import pytest
from arms import FAMILIES, arm, lines, nearest, unit
from independent import fk, pose_error

import poise as pz

Array = npt.NDArray[np.float64]
FOUND, CERTIFIED = 1e-6, 1e-12
WORDS = "axes that lie anyhow"


def dh(alpha: npt.ArrayLike, a: npt.ArrayLike, d: npt.ArrayLike) -> pz.Model:
    """An arm by Denavit and Hartenberg's numbers, (6,) each: twists [rad], lengths and offsets [m]."""
    pose, h, p = np.eye(4), [], []
    for twist, length, offset in zip(np.asarray(alpha), np.asarray(a), np.asarray(d), strict=True):
        h.append(pose[:3, 2])
        p.append(pose[:3, 3])
        c, s = np.cos(twist), np.sin(twist)
        pose = pose @ np.array([[1, 0, 0, length], [0, c, -s, 0], [0, s, c, offset], [0, 0, 0, 1.0]])
    return arm(np.array(h), np.array(p), limits=(-np.pi, np.pi))


def check(model: pz.Model, poses: int, seed: int) -> list[int]:
    """Each q is among the solutions of its pose, which are all that there are; how many there are of each."""
    every, counts = pz.BranchSolver(model, pz.PoseTask("tool")), []
    assert every.closed_form == WORDS
    for q in model.sample(poses, seed=seed):
        target = model.pose("tool", q)
        found = every(target, q)
        assert nearest(found.q, q) < FOUND
        assert found.complete
        assert len(found) <= 16
        assert np.all(np.diff(found.distances) >= 0.0)
        for branch in found:
            assert max(pose_error(fk(model, "tool", branch.q), target.matrix())) < 1e-9
            assert max(branch.position_error, branch.rotation_error) < CERTIFIED
        counts.append(found.total)
    return counts


@pytest.mark.parametrize("arms", [6, pytest.param(100, marks=pytest.mark.slow)])
def test_random_arms_lose_no_solution_and_have_an_even_number(arms: int) -> None:
    rng = np.random.default_rng(1)
    for seed in range(arms):
        h, p = np.array([unit(rng) for _ in range(6)]), rng.normal(size=(6, 3))
        assert not any(count % 2 for count in check(arm(h, p, limits=(-np.pi, np.pi)), 8, seed))


def test_right_angles_and_lengths_of_zero_lose_none() -> None:
    rng, some = np.random.default_rng(2), 0
    for seed in range(40):
        alpha = rng.choice([0.0, np.pi / 2, -np.pi / 2], p=[0.2, 0.4, 0.4], size=6)
        a, d = rng.uniform(-1, 1, (2, 6)) * rng.integers(0, 2, (2, 6))
        model = dh(alpha, a, d)
        if pz.BranchSolver(model, pz.PoseTask("tool")).closed_form == WORDS:
            some += 1
            check(model, 4, seed)
    assert some > 8


@pytest.mark.parametrize("family", FAMILIES)
def test_axes_that_almost_meet_lose_none(family: str) -> None:
    """Rounded files and calibrated arms, of which a closed form is not true any more."""
    rng = np.random.default_rng([16, FAMILIES.index(family)])
    h, p = lines(family, rng)
    for off in (1e-3, 1e-5, 1e-7):
        tilted = h + off * rng.normal(size=h.shape)
        check(
            arm(tilted / np.linalg.norm(tilted, axis=1, keepdims=True), p + off * rng.normal(size=p.shape)), 10, seed=17
        )


def test_an_arm_of_sixteen_solutions() -> None:
    """In the manner of Manseur and Doty's of 1989."""
    model = dh([np.pi / 2, 0.5, np.pi / 2, 0.5, np.pi / 2, 0.0], [0.36, 0.9, 0.0, 1.35, 0.0, 0.0], [0, 0, 0.2, 0, 0, 0])
    q = np.array([1.8, -1.2, -0.3, -2.3, -0.6, -1.9])
    found = pz.solve_all(model, pz.PoseTask("tool"), model.pose("tool", q), q0=q)
    assert len(found) == 16
    assert found.complete
    assert found.explain().startswith("16 branches by elimination (axes that lie anyhow)")
    assert found[0].label == f"solution {found[0].number + 1}"
    assert sorted(found.numbers.tolist()) == list(range(16))


def test_many_searches_find_no_other() -> None:
    """An independent count: what Newton's steps from many random starts come to."""
    rng = np.random.default_rng(3)
    model = arm(np.array([unit(rng) for _ in range(6)]), rng.normal(size=(6, 3)), limits=(-np.pi, np.pi))
    task, one = pz.PoseTask("tool"), pz.Solver(model, pz.PoseTask("tool"), select="first", max_restarts=7)
    for q in model.sample(3, seed=rng):
        target = model.pose("tool", q)
        every = pz.solve_all(model, task, target)
        searched = [one(target, q0=start, seed=k) for k, start in enumerate(model.sample(150, seed=rng))]
        answers = [solution.q for solution in searched if solution.success]
        assert max(nearest(every.q, answer) for answer in answers) < 1e-3
        assert {int(np.abs((every.q - x + np.pi) % (2 * np.pi) - np.pi).max(axis=1).argmin()) for x in answers} == set(
            range(len(every))
        )


def test_a_target_out_of_reach_has_none_and_that_is_complete() -> None:
    rng = np.random.default_rng(4)
    model = arm(np.array([unit(rng) for _ in range(6)]), rng.normal(size=(6, 3)))
    found = pz.solve_all(model, pz.PoseTask("tool"), pz.SE3.from_parts([30.0, 0.0, 0.0]))
    assert len(found) == 0
    assert found.complete
    assert "out of reach" in found.explain()


def test_axes_of_which_two_are_one_are_searched() -> None:
    """Every pose has lines of solutions."""
    rng = np.random.default_rng(5)
    h, p = np.array([unit(rng) for _ in range(6)]), rng.normal(size=(6, 3))
    h[5], p[5] = h[4], p[4]
    assert pz.BranchSolver(arm(h, p), pz.PoseTask("tool")).closed_form is None


@pytest.mark.parametrize("end", [0, 6])
def test_a_seventh_joint_is_swept(end: int) -> None:
    rng = np.random.default_rng(6)
    h, p = np.array([unit(rng) for _ in range(7)]), rng.normal(size=(7, 3))
    model = arm(h, p, kinds={end: "prismatic"})
    every = pz.BranchSolver(model, pz.PoseTask("tool"), samples=8)
    assert every.swept == f"j{end}"
    for q in model.sample(5, seed=7):
        found = every(model.pose("tool", q), q)
        assert nearest(found.q, q) < FOUND
        assert not found.complete


def test_a_batch_is_what_calls_are() -> None:
    rng = np.random.default_rng(8)
    model = arm(np.array([unit(rng) for _ in range(6)]), rng.normal(size=(6, 3)))
    every = pz.BranchSolver(model, pz.PoseTask("tool"), turns=False)
    targets = model.pose("tool", model.sample(30, seed=9))
    batch = every.batch(targets, threads=2)
    for i in range(30):
        assert np.allclose(batch[i], every(targets[i]).q, rtol=0.0, atol=1e-9)


def jaco() -> pz.Model:
    """Kinova's j2s6s200, by the rounded numbers of its URDF: almost special, for its pi has six digits."""
    pi, build, parent = 3.14159, pz.ModelBuilder("j2s6s200"), "base"
    origins = [
        ((0, 0, 0.15675), (0, pi, 0)),
        ((0, 0.0016, -0.11875), (-pi / 2, 0, pi)),
        ((0, -0.410, 0), (0, pi, 0)),
        ((0, 0.2073, -0.0114), (-pi / 2, 0, pi)),
        ((0, -0.03703, -0.06414), (1.0472, 0, pi)),
        ((0, -0.03703, -0.06414), (1.0472, 0, pi)),
    ]
    for i, (xyz, rpy) in enumerate(origins):
        build.joint(
            f"j{i}",
            "revolute",
            parent=parent,
            child=f"l{i}",
            origin=pz.SE3.from_xyz_rpy(xyz, rpy),
            axis=(0, 0, 1),
            limits=(-6.3, 6.3),
        )
        parent = f"l{i}"
    build.frame("tool", link=parent, origin=pz.SE3.from_xyz_rpy([0, 0, -0.16], [pi, 0, 0]))
    return build.build()


def test_complete_is_no_false_claim_at_singular_poses() -> None:
    """There most determinants are small all around the circle, and rounding is much of them."""
    model = jaco()
    every, rng = pz.BranchSolver(model, pz.PoseTask("tool"), limits=False), np.random.default_rng(10)
    hard = np.array([[1, 0, 2, 1, 2, 0], [2, 2, 2, 1, 2, 0], [-1, 2, 2, -1, 2, 0]])
    complete = 0
    for q in np.vstack([hard, rng.choice([0, 1, 2, -1], (300, 6))]) * np.pi / 2:
        found = every(model.pose("tool", q))
        if found.complete:
            complete += 1
            assert nearest(found.q, q) < 1e-4
    assert complete > 150


@pytest.mark.parametrize(
    ("seed", "pose"),
    [
        (406, 6),
        (756, 3),
        (760, 8),
        (929, 2),
        (1138, 3),
        (1754, 11),
        (1790, 6),
        (2232, 9),
        (2271, 8),
        (2499, 3),
        (2812, 1),
    ],
)
def test_complete_is_no_false_claim_at_quarter_turns_of_right_angled_arms(seed: int, pose: int) -> None:
    """Where several zeros are one, or lie where the circle is cut open; each of these lists once lacked q."""
    rng = np.random.default_rng([7, seed])
    alpha = rng.choice([0.0, np.pi / 2, -np.pi / 2], p=[0.2, 0.4, 0.4], size=6)
    a, d = rng.uniform(-1.0, 1.0, (2, 6)) * rng.integers(0, 2, (2, 6))
    model = dh(alpha, a, d)
    q = rng.choice([0.0, np.pi / 2, -np.pi / 2, np.pi], size=(12, 6))[pose]
    found = pz.BranchSolver(model, pz.PoseTask("tool"), limits=False)(model.pose("tool", q))
    assert not found.complete or nearest(found.q, q) < 1e-4


def test_a_double_solution_is_found_to_half_of_the_digits() -> None:
    model = jaco()
    every = pz.BranchSolver(model, pz.PoseTask("tool"), limits=False)
    for q in np.array([[0, 0, 2, 1, -1, 0], [-1, 0, 2, -1, 1, 0], [1, 2, 2, -1, 1, 0]]) * np.pi / 2:
        assert nearest(every(model.pose("tool", q)).q, q) < 2e-5


def test_zeros_that_are_four_in_one_leave_a_doubt() -> None:
    """A piece that holds them looks like one of two, of which both are found."""
    rng = np.random.default_rng(2)
    for _ in range(58):
        alpha = rng.choice([0.0, np.pi / 2, -np.pi / 2], p=[0.2, 0.4, 0.4], size=6)
        a, d = rng.uniform(-1, 1, (2, 6)) * rng.integers(0, 2, (2, 6))
        poses = rng.choice([0.0, np.pi / 2, -np.pi / 2, np.pi], size=(20, 6))
    model = dh(alpha, a, d)
    every = pz.BranchSolver(model, pz.PoseTask("tool"), limits=False)
    for q in poses[[0, 2]]:
        assert not every(model.pose("tool", q)).complete  # a line of solutions

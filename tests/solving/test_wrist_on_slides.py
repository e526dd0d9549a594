"""Six joints of which three that turn meet in a point and others slide: all solutions."""

import numpy as np
import numpy.typing as npt
import pytest
from arms import arm, nearest, unit
from independent import fk, pose_error

import poise as pz

Array = npt.NDArray[np.float64]
ARMS = ("RRPRRR", "RPRRRR", "PRRRRR", "RPPRRR", "PRPRRR", "PPRRRR", "PPPRRR", "RRRRRP", "RRRPRR", "RRRPRP", "RRRPPP")


def lines(kinds: str, rng: np.random.Generator) -> tuple[Array, Array]:
    """(6, 3) directions and points of six axes, of which the last three that turn meet, or the first three."""
    h, p, centre = np.array([unit(rng) for _ in range(6)]), rng.normal(size=(6, 3)), rng.normal(size=3)
    meet = slice(3, 6) if kinds.endswith("RRR") else slice(0, 3)
    p[meet] = centre + rng.normal(size=(3, 1)) * h[meet]
    return h, p


def made(kinds: str, h: Array, p: Array, limit: float = 3.1) -> pz.Model:
    slides = {i: "prismatic" for i, kind in enumerate(kinds) if kind == "P"}
    return arm(h, p, kinds=slides, limits=(-limit, limit))


@pytest.mark.parametrize("kinds", ARMS)
def test_none_is_lost_and_none_is_false(kinds: str) -> None:
    rng = np.random.default_rng(sum(map(ord, kinds)))
    for _ in range(2):
        model = made(kinds, *lines(kinds, rng))
        every = pz.BranchSolver(model, pz.PoseTask("tool"))
        where = "wrist" if kinds.endswith("RRR") else "shoulder"
        assert every.closed_form == f"spherical {where} with slides"
        for q in model.sample(4, seed=rng):
            target = model.pose("tool", q)
            found = every(target, q)
            assert nearest(found.q, q) < 1e-6
            assert found.complete
            assert len(found) <= found.total <= 8
            assert max(max(pose_error(fk(model, "tool", x), target.matrix())) for x in found.q) < 1e-9
            assert found[0].label == f"by {every.closed_form}"


@pytest.mark.parametrize("kinds", ["RRPRRR", "PRRRRR", "RPRRRR", "RRRPPR"])
def test_many_searches_find_no_other(kinds: str) -> None:
    rng = np.random.default_rng(7)
    model = made(kinds, *lines(kinds, rng))
    every, one = pz.BranchSolver(model, pz.PoseTask("tool")), pz.Solver(model, pz.PoseTask("tool"), max_restarts=0)
    target = model.pose("tool", model.sample(seed=1))
    found, other = every(target), list[Array]()
    for start in model.sample(300, seed=rng):
        answer = one(target, q0=start)
        if answer.success and (not other or nearest(np.array(other), answer.q) > 1e-2):
            other.append(answer.q)
    assert max(nearest(found.q, q) for q in other) < 1e-2
    assert len(other) == len(found)


@pytest.mark.parametrize("lean", [0.0, 1e-12, 1e-9, 1e-7, 1e-5, 1e-3, 0.1])
@pytest.mark.parametrize("kinds", ["RRPRRR", "RPRRRR", "PRRRRR"])
def test_a_slide_across_the_axis_beside_it_has_a_closed_form_too(kinds: str, lean: float) -> None:
    """Then one turn is told by a height alone, and the slide by a distance."""
    rng = np.random.default_rng(3)
    h, p = lines(kinds, rng)
    slide, beside = kinds.index("P"), {"RRPRRR": 1, "RPRRRR": 0, "PRRRRR": 1}[kinds]
    h[slide] = np.cross(h[beside], unit(rng))
    h[slide] = h[slide] / np.linalg.norm(h[slide]) + lean * h[beside]
    h[slide] /= np.linalg.norm(h[slide])
    model = made(kinds, h, p)
    every = pz.BranchSolver(model, pz.PoseTask("tool"))
    for q in model.sample(6, seed=4):
        found = every(model.pose("tool", q))
        assert nearest(found.q, q) < 1e-6
        assert found.complete
        assert found.total % 2 == 0
        assert max(max(branch.position_error, branch.rotation_error) for branch in found) < 1e-8


def test_the_stanford_arm_has_its_eight() -> None:
    model = pz.load("stanford")
    task, every = pz.PoseTask(model.tip), pz.BranchSolver(model, pz.PoseTask(model.tip), limits=False)
    for q in model.sample(10, seed=5):
        target = model.pose(model.tip, q)
        free, held = every(target, q), pz.solve_all(model, task, target, q0=q)
        assert len(free) == free.total == held.total == 8
        assert nearest(held.q, q) < 1e-6
        assert model.within_limits(held.q)
    far = pz.solve_all(model, task, pz.SE3.from_parts([4.0, 0.0, 0.4]))
    assert (len(far), far.total) == (0, 8)  # its slide would have to be longer
    assert far.complete
    assert "8 branches by closed form (spherical wrist with slides); 0 within the limits" in far.explain()
    batch = pz.BranchSolver(model, task).batch(target.array[None], q)
    assert np.array_equal(batch[0], held.q)


def test_a_straight_wrist_has_a_line_of_solutions_and_says_so() -> None:
    model = pz.load("stanford")
    q = np.array([0.3, 0.5, 0.6, 0.4, 0.0, 0.2])
    target = model.pose(model.tip, q)
    found = pz.solve_all(model, pz.PoseTask(model.tip), target, q0=q)
    assert len(found) > 0
    assert not found.complete
    assert "a line of solutions" in found.explain()
    assert max(max(pose_error(fk(model, model.tip, x), target.matrix())) for x in found.q) < 1e-6


def test_slides_that_are_of_no_use_to_each_other_are_searched() -> None:
    rng = np.random.default_rng(6)
    h, p = lines("RPPRRR", rng)
    h[2] = h[1]
    assert pz.BranchSolver(made("RPPRRR", h, p), pz.PoseTask("tool")).closed_form is None

"""SCARA arms, gantries and other chains of up to four joints whose turns are about parallel axes: all solutions."""

import numpy as np
import pytest
from arms import arm, unit

import poise as pz

CHAINS = (
    "RRPR", "RRRP", "PRRR", "RRR", "PPP", "PPPR", "RPPP", "RPP", "RRPP", "RPRP", "PRRP", "PPRR", "RPR", "RR", "RP", "P"
)  # fmt: skip


def chain(kinds: str, rng: np.random.Generator) -> pz.Model:
    along = unit(rng)
    h = np.array([along * rng.choice([-1.0, 1.0]) if kind == "R" else unit(rng) for kind in kinds])
    slides = {i: "prismatic" for i, kind in enumerate(kinds) if kind == "P"}
    return arm(h, rng.normal(size=(len(kinds), 3)), kinds=slides, limits=(-3.1, 3.1))


@pytest.mark.parametrize("kinds", CHAINS)
def test_none_is_lost_and_none_is_false(kinds: str) -> None:
    rng = np.random.default_rng(sum(map(ord, kinds)))
    for _ in range(3):
        model = chain(kinds, rng)
        every = pz.BranchSolver(model, pz.PoseTask("tool"))
        for q in model.sample(5, seed=rng):
            target = model.pose("tool", q)
            found = every(target, q)
            assert np.abs(found[0].q - q).max() < 1e-5
            assert found.complete
            assert len(found) <= 2
            assert "by closed form (parallel axes)" in found.explain()
            assert all(max(branch.position_error, branch.rotation_error) < 1e-6 for branch in found)


def test_a_scara_has_its_two_elbows_and_no_third() -> None:
    b = pz.ModelBuilder("scara")
    b.joint("shoulder", "revolute", parent="base", child="upper", origin=pz.SE3.from_parts([0, 0, 0.4]), limits=(-3, 3))
    b.joint("elbow", "revolute", parent="upper", child="fore", origin=pz.SE3.from_parts([0.4, 0, 0]), limits=(-2, 2))
    b.joint("lift", "prismatic", parent="fore", child="quill", origin=pz.SE3.from_parts([0.3, 0, 0]), limits=(-0.2, 0))
    b.joint("turn", "revolute", parent="quill", child="tool", limits=(-6, 6))
    model = b.build()
    task, q = pz.PoseTask("tool"), np.array([0.4, 0.9, -0.1, 0.3])
    target = model.pose("tool", q)
    found = pz.solve_all(model, task, target, q0=q)
    assert len(found) == 2
    assert found.complete
    assert np.allclose(found.q[:, 1], [0.9, -0.9], atol=1e-6)
    assert found[0].label == "by parallel axes"
    assert "2 branches by closed form (parallel axes); 2 within the limits" in found.explain()
    narrow = model.with_limits({"elbow": (0.0, 2.0)})
    assert len(pz.solve_all(narrow, task, target)) == 1
    far = pz.solve_all(model, task, pz.SE3.from_parts([2.0, 0.0, 0.3]))
    assert len(far) == 0
    assert far.complete
    assert "out of reach" in far.explain()
    tilted = target @ pz.SE3.from_xyz_rpy([0.0, 0.0, 0.0], [0.3, 0.0, 0.0])
    assert len(pz.solve_all(model, task, tilted)) == 0
    batch = pz.BranchSolver(model, task).batch(target.array[None], q)
    assert np.allclose(batch[0], found.q, atol=1e-9)


def test_a_folded_elbow_has_a_line_of_solutions_and_says_so() -> None:
    b = pz.ModelBuilder("folded")
    for i, parent in enumerate(("base", "l0", "l1")):
        origin = pz.SE3.from_parts([0.5 * (i > 0), 0, 0])
        b.joint(f"j{i}", "revolute", parent=parent, child=f"l{i}", origin=origin, limits=(-3.2, 3.2))
    model = b.build()
    q = np.array([0.3, np.pi, 0.2])
    found = pz.solve_all(model, pz.PoseTask("l2"), model.pose("l2", q), q0=q)
    assert len(found) == 1
    assert not found.complete
    assert "a line of solutions" in found.explain()

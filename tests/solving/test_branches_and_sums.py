"""All solutions where sums of joints hold: with joints that move no task, and of arms that are swept."""

import numpy as np
import pytest
from arms import nearest

import poise as pz
from poise.robots import TEXTBOOK


@pytest.mark.parametrize("name", ["puma560", "ur5e", "planar3", "stanford"])
def test_joints_that_move_no_task_make_room_for_the_branches(name: str) -> None:
    """Of each branch, the joint beside it in a sum goes as far as that sum asks for, and where it cannot, no branch is
    given: by hand, for one joint beside one."""
    b = pz.ModelBuilder("arm beside a slide")
    model = TEXTBOOK[name]()
    for joint in model.joints:
        ends = (-2.9, 2.9) if joint.kind is pz.JointKind.REVOLUTE else (-0.5, 0.5)
        kind = joint.kind.value
        b.joint(
            joint.name, kind, parent=joint.parent, child=joint.child, origin=joint.origin, axis=joint.axis,
            limits=None if kind == "fixed" else ends,
        )  # fmt: skip
    b.joint("beside", "prismatic", parent=model.joints[0].parent, child="cart", limits=(-1.0, 1.0))
    tip = model.joints[-1].child
    both = b.build()
    first, slide = (int(both.index(name).start) for name in (both.joint_names[0], "beside"))
    limit = pz.LinearLimit({both.joint_names[0]: 1.0, "beside": -1.0}, 0.3)
    every, free = (pz.BranchSolver(both, pz.PoseTask(tip), limits=limits) for limits in ([limit], True))
    targets = both.pose(tip, both.sample(20, seed=5)).array
    batch, kept, left_out = every.batch(targets, both.home), 0, 0
    for target, rows in zip(targets, batch, strict=True):
        found, expected = every(target, both.home), free(target, both.home).q
        expected[:, slide] = np.maximum(expected[:, first] - 0.3, 0.0)
        inside = expected[:, slide] <= 1.0
        kept += int(np.count_nonzero(expected[inside, slide] > 0.0))
        left_out += int(np.count_nonzero(~inside))
        assert found.complete
        assert len(found) == np.count_nonzero(inside)
        assert all(nearest(expected, q) < 1e-5 for q in found.q)
        assert (found.q[:, first] - found.q[:, slide] <= 0.3 + 1e-12).all()
        assert np.array_equal(found.q, rows)
    assert kept
    assert left_out


@pytest.mark.parametrize("value", [0.37, 0.5, 0.61])
def test_a_value_between_those_of_a_sweep_is_found_within_sums_too(value: float) -> None:
    arm = TEXTBOOK["panda"]()
    swept = arm.joint_names[-1]
    band = [pz.LinearLimit({swept: 1.0}, value + 0.01), pz.LinearLimit({swept: -1.0}, 0.01 - value)]
    every = pz.BranchSolver(arm, pz.PoseTask(arm.tip), limits=band, samples=8)
    assert every.swept == swept
    q = arm.home + 0.05
    q[-1] = value
    target = arm.pose(arm.tip, q).array
    found = every(target, arm.home)
    assert len(found)
    assert np.abs(found.q[:, -1] - value).max() <= 0.01 + 1e-9
    assert np.array_equal(found.q, every.batch(target[None], arm.home)[0])

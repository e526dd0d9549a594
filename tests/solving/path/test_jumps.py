"""`jumps`: what is out of proportion in a joint path, and what is not."""

import numpy as np
import pytest
from support.refusals import refused

import poise as pz


def smooth(n: int = 100) -> np.ndarray:
    along = np.linspace(0.0, 2.0, n)[:, None]
    return np.concatenate([np.sin(along), np.cos(1.3 * along), 0.4 * along], axis=1)


def test_a_smooth_path_has_none() -> None:
    assert pz.jumps(smooth()) == []
    assert pz.jumps(smooth(), pz.load("planar3")) == []


@pytest.mark.parametrize("at", [0, 1, 40, 98])
def test_a_jump_is_found_where_it_is(at: int) -> None:
    q = smooth()
    q[at + 1 :, 1] += 1.5
    (found,) = pz.jumps(q, pz.load("planar3"))
    assert found.step == at
    assert found.joints == ("joint2",)
    assert found.size == pytest.approx(1.5, abs=0.05)
    assert found.changes[1] == pytest.approx(1.5, abs=0.05)
    assert "joint2" in str(found)


def test_a_spike_is_two_and_other_joints_are_named_by_size() -> None:
    q = smooth()
    q[50] += [0.9, 0.0, -1.2]
    found = pz.jumps(q)
    assert [jump.step for jump in found] == [49, 50]
    assert found[0].joints == ("2", "0")


def test_a_path_that_stands_still_and_then_moves_has_none() -> None:
    q = np.concatenate([np.zeros((30, 3)), smooth() - smooth()[0]])
    assert pz.jumps(q) == []


def test_whole_turns_of_a_joint_without_limits_are_none() -> None:
    builder = pz.ModelBuilder("wheel")
    builder.joint("spin", "continuous", parent="base", child="hub")
    builder.joint("swing", "revolute", parent="hub", child="arm", limits=(-10.0, 10.0))
    model = builder.build()
    angle = np.linspace(0.0, 9.0, 200)
    wrapped = np.stack([np.arctan2(np.sin(angle), np.cos(angle)), np.zeros(200)], axis=1)
    assert pz.jumps(wrapped, model) == []
    assert len(pz.jumps(wrapped)) == 1
    assert len(pz.jumps(wrapped[:, ::-1], model)) == 1  # with limits, a whole turn is a way


def test_signs_of_quaternions_are_none() -> None:
    builder = pz.ModelBuilder("ship")
    builder.joint("mast", "revolute", parent="hull", child="mast", limits=(-1.0, 1.0))
    model = builder.build(base="floating")
    q = np.tile(model.home, (50, 1))
    q[25:, 3:7] *= -1.0
    assert pz.jumps(q, model) == []
    assert len(pz.jumps(q)) == 1


def test_a_waypoint_that_is_far_is_no_jump_of_the_frame() -> None:
    arm = pz.load("planar3")
    along = np.concatenate([np.linspace(0.0, 0.3, 40), np.linspace(0.8, 1.1, 40)])
    q = np.stack([along, 0.3 + 0.0 * along, 0.2 + 0.0 * along], axis=1)
    assert len(pz.jumps(q, arm)) == 1
    assert pz.jumps(q, arm, frame="tool") == []
    # The elbow of two links flips while the tool stands nearly still.
    target = arm.pose("tool", [0.3, 0.8, 0.4])
    other = next(s.q for s in pz.solve_all(arm, pz.PoseTask("tool"), target) if abs(s.q[1] - 0.8) > 0.5)
    q = np.concatenate(
        [np.linspace([0.25, 0.8, 0.4], [0.3, 0.8, 0.4], 20), np.linspace(other, np.add(other, [0.05, 0.0, 0.0]), 20)]
    )
    (found,) = pz.jumps(q, arm, frame="tool")
    assert found.step == 19


def test_short_paths_and_bad_ones() -> None:
    arm = pz.load("planar3")
    assert pz.jumps(np.zeros((0, 3))) == []
    assert pz.jumps(np.zeros((1, 3)), arm) == []
    assert pz.jumps([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]], arm) == []  # alone, out of proportion to nothing
    with refused("wrong-shape", "path"):
        pz.jumps(np.zeros(3))
    with pytest.raises(pz.ShapeError):
        pz.jumps(np.zeros((4, 2)), arm)
    with refused("not-finite"):
        pz.jumps([[0.0, np.nan], [0.0, 1.0]])
    with refused("needs", "model"):
        pz.jumps(np.zeros((4, 3)), frame="tool")
    with refused("not-positive", "factor"):
        pz.jumps(np.zeros((4, 3)), factor=0.0)
    with refused("negative", "least"):
        pz.jumps(np.zeros((4, 3)), least=-1.0)
    with pytest.raises(pz.FrameNotFound):
        pz.jumps(np.zeros((4, 3)), arm, frame="tol")

"""Bones that may stretch: where they lead, that they stay as long as they are within reach, and what is no bone."""

from typing import Any

import numpy as np
import pytest
from support.human import bent, figure
from support.refusals import refused

import poise as pz

RIGID = figure()
BONES = ("LeftForeArm", "LeftHand")
STRETCHY = RIGID.with_stretch(BONES, most=0.5, least=0.1)
PLACES = [i for name in RIGID.joint_names for i in range(*STRETCHY.index(name).indices(STRETCHY.nq))]
SLIDES = [f"{name}_stretch" for name in BONES]
STANCE = np.zeros(STRETCHY.nq)
STANCE[PLACES] = bent(RIGID)
CHEST = pz.PoseTask("Chest", RIGID.pose("Chest", bent(RIGID)))
KEEP = [pz.JointCouplingTask({name: 1.0}, 0.0, priority=1) for name in SLIDES]
SHOULDER = RIGID.pose("LeftArm", bent(RIGID)).xyz
AWAY = np.array([0.6, 0.7, 0.2]) / np.linalg.norm([0.6, 0.7, 0.2])


def test_unstretched_it_is_the_same_figure() -> None:
    assert STRETCHY.nq == RIGID.nq + 2
    q = RIGID.sample(5, seed=0)
    wide = np.zeros((5, STRETCHY.nq))
    wide[:, PLACES] = q
    for frame in RIGID.frames:
        assert STRETCHY.pose(frame, wide).array == pytest.approx(RIGID.pose(frame, q).array, abs=1e-12)
    assert STRETCHY.home[PLACES] == pytest.approx(RIGID.home)
    assert (STRETCHY.home[[STRETCHY.index(name).start for name in SLIDES]] == 0.0).all()


def test_a_bone_grows_along_itself() -> None:
    q = STANCE.copy()
    q[STRETCHY.index("LeftForeArm_stretch")] = 0.1
    before, after = (STRETCHY.pose("LeftForeArm", x).xyz - SHOULDER for x in (STANCE, q))
    assert np.linalg.norm(before) == pytest.approx(0.28)
    assert np.linalg.norm(after) == pytest.approx(0.38)
    assert np.cross(before, after) == pytest.approx(0.0, abs=1e-12)
    at = STRETCHY.index("LeftForeArm_stretch").start
    assert (STRETCHY.lower[at], STRETCHY.upper[at]) == pytest.approx((-0.028, 0.14))


@pytest.mark.parametrize(("distance", "longer"), [(0.35, 0.0), (0.5, 0.0), (0.6, 0.07), (0.7, 0.17), (1.0, 0.265)])
def test_it_stretches_where_it_must_and_is_straight_then(distance: float, longer: float) -> None:
    ik = pz.Tracker(STRETCHY, [CHEST, pz.PositionTask("LeftHand", SHOULDER + distance * AWAY), *KEEP])
    q = STANCE
    for _ in range(500):
        q = ik.step(q)
    found = sum(float(q[STRETCHY.index(name)][0]) for name in SLIDES)
    assert found == pytest.approx(longer, abs=1e-4)
    assert STRETCHY.within_limits(q)
    if longer:
        elbow, hand = (STRETCHY.pose(name, q).xyz - STRETCHY.pose("LeftArm", q).xyz for name in BONES)
        assert np.linalg.norm(np.cross(elbow, hand)) / np.linalg.norm(hand) < 2e-3
        assert np.linalg.norm(hand) == pytest.approx(min(distance, 0.53 + 0.265), abs=1e-4)


def test_postures_and_names_go_along() -> None:
    panda = pz.load("panda")
    made = panda.with_stretch(["panda_joint4"], 0.2)
    assert made.joint_names.index("panda_joint4_stretch") == made.joint_names.index("panda_joint4") - 1
    for name, q in panda.postures.items():
        assert [x for i, x in enumerate(made.postures[name]) if i != 3] == q.tolist()
    again = made.with_stretch(["panda_joint4"], 0.1) if np.linalg.norm(made.joint("panda_joint4").origin.xyz) else made
    assert again.pose("panda_hand", again.home).array == pytest.approx(panda.pose("panda_hand", panda.home).array)


@pytest.mark.parametrize(
    ("bones", "shares", "code", "words"),
    [
        (["LeftForArm"], {"most": 0.1}, "unknown-name", "LeftForeArm"),
        ("LeftForeArm", {"most": 0.1}, "not-a-sequence", "a sequence of joints' names"),
        ([], {"most": 0.1}, "empty", "bones"),
        (["Hips"], {"most": 0.1}, "zero-vector", "the bone that ends at 'Hips' has no length"),
        (["LeftForeArm"], {"most": -0.1}, "out-of-range", "most"),
        (["LeftForeArm"], {"most": 0.1, "least": 1.0}, "out-of-range", "least"),
        (["LeftForeArm"], {"most": True}, "not-a-number", "most"),
    ],
)
def test_what_is_no_bone_and_no_share_is_refused(bones: Any, shares: Any, code: str, words: str) -> None:
    with refused(code, words):
        RIGID.with_stretch(bones, **shares)

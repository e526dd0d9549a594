"""What kind of arm it is, in words, beside what its branches are found by."""

import numpy as np
import pytest
from arms import FAMILIES, arm, lines, unit

import poise as pz
from poise.robots import TEXTBOOK


@pytest.mark.parametrize("from_tip", [False, True], ids=["forth", "back"])
@pytest.mark.parametrize("family", FAMILIES)
def test_special_arms_are_called_by_what_their_closed_form_is_made_of(family: str, from_tip: bool) -> None:
    h, p = lines(family, np.random.default_rng(1))
    model = arm(h[::-1], p[::-1]) if from_tip else arm(h, p)
    kind = model.kinematic_class("tool")
    assert kind.name == pz.BranchSolver(model, pz.PoseTask("tool")).closed_form
    assert not kind.almost
    assert str(kind).startswith(kind.name)


@pytest.mark.parametrize("family", FAMILIES)
def test_an_arm_that_is_special_but_for_rounding_is_general_and_says_so(family: str) -> None:
    h, p = lines(family, np.random.default_rng(2))
    exact = arm(h, p).kinematic_class("tool")
    h, p = h.round(4), p.round(4)
    kind = arm(h / np.linalg.norm(h, axis=1, keepdims=True), p).kinematic_class("tool")
    assert kind.name == "general"
    assert kind.almost == exact.name
    assert any(1e-8 < off < 2e-3 for off in kind.residuals.values())
    assert str(kind).startswith(f"general; but for rounding: {exact.name}")


def test_others_are_general_or_counted() -> None:
    rng = np.random.default_rng(3)
    kind = arm(np.array([unit(rng) for _ in range(6)]), rng.normal(size=(6, 3))).kinematic_class("tool")
    assert (kind.name, kind.almost) == ("general", "")
    assert min(kind.residuals.values()) > 2e-3
    assert TEXTBOOK["panda"]().kinematic_class("panda_hand").name == "7 turning joints"
    slider = arm(np.array([unit(rng) for _ in range(4)]), rng.normal(size=(4, 3)), kinds={2: "prismatic"})
    assert slider.kinematic_class("tool").name == "3 turning joints, 1 slide"
    assert "no chain" in slider.kinematic_class("world").name
    with pytest.raises(pz.FrameNotFound):
        slider.kinematic_class("nothing")


def test_two_parallel_axes_meet_nowhere() -> None:
    kind = TEXTBOOK["ur5e"]().kinematic_class("tool0")
    assert kind.name == "three parallel axes"
    assert kind.residuals["1, 2 and 3 meet"] == np.inf
    assert "two are parallel" in str(kind)

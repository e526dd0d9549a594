"""Names that are not there: the nearest that are, capitals and small slips forgiven; joints by name and back."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.refusals import refused

import poise as pz
from poise.common.errors import NameNotFound, nearest_names
from poise.io import robot_names


def moved_by_all_kinds() -> pz.Model:
    """A floating base with joints of every kind, one that mimics a joint, and one that mimics that one."""
    b = pz.ModelBuilder("zoo")
    kinds: list[Any] = ["revolute", "prismatic", "planar", "spherical", "continuous"]
    parent = "body"
    for kind in kinds:
        b.joint(f"{kind}_joint", kind, parent=parent, child=f"{kind}_link")
        parent = f"{kind}_link"
    for name, of, multiplier, offset in (("near", "revolute_joint", -2.0, 0.5), ("far", "near", 0.25, 1.0)):
        mimic = pz.Mimic(joint=of, multiplier=multiplier, offset=offset)
        b.joint(name, "revolute", parent="body", child=f"{name}_link", mimic=mimic)
    return b.build(base="floating")


# Near misses -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["PANDA", "Panda", "pandda", "pand"])
def test_a_robot_is_found_whatever_its_capitals_and_with_a_slip(name: str) -> None:
    with pytest.raises(pz.ModelError, match=r"did you mean 'panda'[?; ]"):
        pz.load(name)


@pytest.mark.parametrize(("name", "near"), [("LM", "lm"), ("DLS", "dls"), ("slds", "sdls"), ("Priority", "priority")])
def test_a_method_is_found_whatever_its_capitals_and_with_a_slip(name: str, near: str) -> None:
    arm = pz.load("planar2")
    with pytest.raises(ValueError, match=f"no method '{name}'; did you mean '{near}'") as error:
        pz.solve(arm, pz.PositionTask("tool", [1, 1, 0]), method=name)
    assert "There are jt, pinv" in str(error.value)


def test_a_method_like_no_other_gets_the_list() -> None:
    with pytest.raises(ValueError, match="no method 'xyzzy'; there are jt, pinv"):
        pz.Tracker(pz.load("planar2"), pz.PositionTask("tool"), "xyzzy")


@pytest.mark.parametrize(
    ("ask", "kind", "words"),
    [
        (
            lambda m: m.frame("PANDA_HAND"),
            pz.FrameNotFound,
            "panda has no frame 'PANDA_HAND'; did you mean 'panda_hand'?",
        ),
        (
            lambda m: m.frame("panda-hand"),
            pz.FrameNotFound,
            "panda has no frame 'panda-hand'; did you mean 'panda_hand'?",
        ),
        (
            lambda m: m.joint("Panda_Joint4"),
            pz.JointNotFound,
            "panda has no joint 'Panda_Joint4'; did you mean 'panda_joint4'?",
        ),
        (lambda m: m.index("PANDA_JOINT4"), pz.JointNotFound, "did you mean 'panda_joint4'?"),
        (lambda m: m.postures["Ready"], NameNotFound, "panda has no posture 'Ready'; did you mean 'ready'?"),
        (lambda m: m.groups["arm"], NameNotFound, "panda has no group 'arm'; available: none at all"),
    ],
)  # fmt: skip
def test_each_kind_of_name_is_suggested(ask: Callable[[pz.Model], Any], kind: type[Exception], words: str) -> None:
    with pytest.raises(kind) as error:
        ask(pz.load("panda"))
    assert str(error.value).endswith(words)


@pytest.mark.parametrize(
    ("name", "near"), [("panda_joint9", "'panda_joint7'"), ("panda_hand_jiont", "'panda_hand_joint'")]
)
def test_a_joint_that_moves_is_suggested_before_one_that_is_fixed(name: str, near: str) -> None:
    arm = pz.load("panda")
    with pytest.raises(pz.JointNotFound, match=f"did you mean {near}"):
        arm.q({name: 0.3})


def test_a_posture_that_is_not_there_is_still_a_key_that_is_not_there() -> None:
    arm = pz.load("panda")
    assert arm.postures.get("nowhere") is None
    assert "nowhere" not in arm.postures
    with pytest.raises(KeyError):
        arm.postures["nowhere"]
    again = pickle.loads(pickle.dumps(arm))
    assert list(again.postures) == list(arm.postures)
    with pytest.raises(NameNotFound, match="panda has no posture 'nowhere'"):
        again.postures["nowhere"]


@given(st.text(min_size=1, max_size=12), st.lists(st.text(min_size=1, max_size=12), max_size=8, unique=True))
def test_suggestions_are_few_known_and_the_same_name_comes_alone(name: str, known: list[str]) -> None:
    near = nearest_names(name, known)
    assert len(near) <= 3
    assert set(near) <= set(known)
    alike = [other for other in known if other.casefold() == name.casefold()]
    if alike:
        assert near[0].casefold().replace("-", "_").replace(" ", "_") == name.casefold().replace("-", "_").replace(
            " ", "_"
        )


@pytest.mark.parametrize(
    ("name", "known", "near"),
    [
        ("hand", ["panda_hand", "panda_link8"], ["panda_hand"]),
        ("io", ["Motion", "Box"], []),
        ("robot", ["Box"], []),
        ("planner", ["plan", "Cylinder"], ["plan"]),
    ],
)
def test_a_suggestion_is_a_slip_away_or_has_the_word(name: str, known: list[str], near: list[str]) -> None:
    assert nearest_names(name, known) == near


def test_who_names_no_robot_is_told_where_all_are_listed() -> None:
    with pytest.raises(pz.ModelError, match=r"'planar3' and \d+ more; `poise info` lists them"):
        pz.load("xyzzy")


# By name and back ------------------------------------------------------------------------------------------------


def there_and_back(model: pz.Model, seed: int) -> None:
    for q in (model.home, model.neutral, *model.sample(3, seed=seed)):
        named = model.named(q)
        np.testing.assert_array_equal(model.q(**named), q)
        np.testing.assert_array_equal(model.q(named), q)
        np.testing.assert_array_equal(model.q(dict(reversed(named.items()))), q)


def loaded(name: str, **settings: Any) -> pz.Model | None:
    """The robot; None for one whose file is no tree, which is not what is asked here."""
    try:
        return pz.load(name, **settings)
    except pz.ModelError:
        return None


@pytest.mark.parametrize("step", [4, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.filterwarnings("ignore::poise.ModelWarning")
def test_what_named_lists_q_takes_back(step: int) -> None:
    for name in [n for n in robot_names() if n not in {f"planar{k}" for k in range(4, 30)}][::step]:
        model = loaded(name)
        if model is not None:
            there_and_back(model, 1)


@pytest.mark.parametrize("base", ["planar", "floating"])
@pytest.mark.parametrize("name", ["example-robot-data/panda", "talos_full", "pr2", "baxter"])
@pytest.mark.filterwarnings("ignore::poise.ModelWarning")
def test_a_base_that_moves_goes_there_and_back_too(name: str, base: Any) -> None:
    model = loaded(name, base=base)
    assert model is not None
    assert any(joint.mimic for joint in model.joints)
    there_and_back(model, 2)


def test_joints_of_every_kind_go_there_and_back() -> None:
    model = moved_by_all_kinds()
    assert model.nq == 7 + 1 + 1 + 3 + 4 + 1
    assert list(model.named(model.home))[-2:] == ["near", "far"]
    there_and_back(model, 3)


def test_a_joint_that_contradicts_the_one_that_it_mimics_is_refused() -> None:
    model = moved_by_all_kinds()
    assert model.q(revolute_joint=0.2, near=0.1 + 5e-7)[model.index("revolute_joint")] == 0.2
    with pytest.raises(
        ValueError, match=r"near is 0\.3, but it mimics revolute_joint, which at 0\.2 takes it to 0\.1: leave"
    ):
        model.q(near=0.3, revolute_joint=0.2)
    with pytest.raises(ValueError, match=r"far is 2, but it mimics revolute_joint, which at 0 takes it to 1\.125"):
        model.q(far=2.0)
    with refused("not-finite", "near"):
        model.q(near=float("nan"))
    with refused("wrong-shape", "near"):
        model.q(near=[0.1, 0.2])
    with pytest.raises(pz.JointNotFound, match="did you mean 'near'"):
        model.q(nearr=0.3)

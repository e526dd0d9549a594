"""The settings of every method, as a panel offers and changes them."""

import math
from dataclasses import dataclass
from typing import Any, Literal

import pytest

from poise.methods.base import Method
from poise.methods.damping import RULES, Constant, DampingRule
from poise.methods.registry import METHODS
from poise.viewer.panel.settings import Setting, changed, rules, settings_of

OFFERED = [(name, setting) for name in METHODS for setting in settings_of(METHODS[name]())]
LABELS = [f"{name} {setting.label}" for name, setting in OFFERED]


@pytest.mark.parametrize("name", METHODS)
def test_every_method_offers_something(name: str) -> None:
    found = settings_of(METHODS[name]())
    assert found or not any(True for _ in vars(METHODS[name]()))
    assert len({setting.path for setting in found}) == len(found)


@pytest.mark.parametrize(("name", "setting"), OFFERED, ids=LABELS)
def test_a_setting_put_back_as_it_is_changes_nothing(name: str, setting: Setting) -> None:
    method = METHODS[name]()
    again = changed(method, setting.path, setting.value)
    assert settings_of(again) == settings_of(method)


def another(setting: Setting) -> Any:
    if setting.kind == "switch":
        return not setting.value
    if setting.kind == "whole":
        return int(setting.value) + 1
    if setting.kind == "number":
        return 0.5 if math.isinf(float(setting.value)) or setting.value == 0.0 else 0.5 * float(setting.value)
    return next((choice for choice in setting.choices if choice != setting.value), setting.value)


@pytest.mark.parametrize(("name", "setting"), OFFERED, ids=LABELS)
def test_another_value_is_taken_or_refused_in_a_sentence_and_alone_changes(name: str, setting: Setting) -> None:
    method, value = METHODS[name](), another(setting)
    try:
        made = changed(method, setting.path, value)
    except ValueError as error:
        assert len(str(error).split()) > 3  # noqa: PT017
        return
    assert type(made) is type(method)
    now = {each.path: each.value for each in settings_of(made)}
    assert now[setting.path] == value
    rest = {each.path: each.value for each in settings_of(method) if each.path[: len(setting.path)] != setting.path}
    assert {path: now[path] for path in rest} == rest


@pytest.mark.parametrize(("name", "setting"), OFFERED, ids=LABELS)
def test_values_that_make_no_sense_are_refused(name: str, setting: Setting) -> None:
    bad: dict[str, list[Any]] = {
        "number": [math.nan, -1.0, "x"], "whole": [-1, math.nan, "x"], "choice": ["nonsense"], "switch": []
    }  # fmt: skip
    for value in bad[setting.kind]:
        with pytest.raises((ValueError, TypeError), match=setting.path[-1].replace("_", "[_ ]")):
            changed(METHODS[name](), setting.path, value)


@pytest.mark.parametrize("name", [name for name in METHODS if any(s.choices for s in settings_of(METHODS[name]()))])
def test_every_choice_is_taken_or_refused_in_a_sentence(name: str) -> None:
    method = METHODS[name]()
    for setting in settings_of(method):
        assert not setting.choices or setting.value in setting.choices
        taken = 0
        for choice in setting.choices:
            try:
                made = changed(method, setting.path, choice)
            except ValueError as error:
                assert choice in str(error)  # noqa: PT017
                continue
            taken += 1
            assert next(each for each in settings_of(made) if each.path == setting.path).value == choice
        assert taken or not setting.choices


def test_a_number_that_may_be_left_out_is_left_out_by_infinity() -> None:
    made = changed(METHODS["priority"](damping=0.1), ("damping",), math.inf)
    assert made.damping is None  # type: ignore[attr-defined]
    assert next(each for each in settings_of(made) if each.path == ("damping",)).optional


def test_a_number_for_a_rule_is_the_constant_rule() -> None:
    method = METHODS["dls"](damping=0.25)
    found = {each.path: each for each in settings_of(method)}
    assert found["damping",].value == "Constant"
    assert found["damping", "damping"].value == 0.25
    made = changed(method, ("damping", "damping"), 0.5)
    assert {each.path: each.value for each in settings_of(made)}["damping", "damping"] == 0.5


def test_every_rule_is_among_the_choices() -> None:
    assert set(rules()) == set(RULES)
    assert isinstance(rules()["Constant"], Constant)


@dataclass(frozen=True, kw_only=True)
class Mine(Method):
    """A method with a setting of each kind."""

    gain: float = 0.5
    count: int = 3
    quick: bool = False
    way: Literal["near", "far"] = "near"


def test_the_settings_of_a_method_of_ones_own_are_offered_too() -> None:
    kinds = {each.path[-1]: each.kind for each in settings_of(Mine())}
    assert kinds == {"gain": "number", "count": "whole", "quick": "switch", "way": "choice"}
    assert changed(Mine(), ("count",), 4) == Mine(count=4)
    assert changed(Mine(), ("way",), "far") == Mine(way="far")


def test_a_rule_that_is_registered_later_is_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    rules()

    @dataclass(frozen=True)
    class Late(DampingRule):
        """A rule of somebody else."""

        most: float = 0.5

    monkeypatch.setitem(RULES, "Late", Late)
    assert rules()["Late"] == Late()

"""Settings of methods and rules: what is refused, and that what a method says of itself is true."""

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from support.refusals import refused

import poise as pz
from poise.methods import damping
from poise.methods.base import JacobianMethod, NullSpaceMethod, method_of

PANDA = pz.load("panda")
HAND = pz.PoseTask("panda_hand")
KINDS = list(pz.methods.METHODS.values())
JACOBIAN = [kind for kind in KINDS if issubclass(kind, JacobianMethod)]
NULL_SPACE = [kind for kind in KINDS if issubclass(kind, NullSpaceMethod)]
DAMPED = [kind for kind in KINDS if kind in (pz.methods.DampedLeastSquares, pz.methods.LevenbergMarquardt)]
RULES = list(damping.RULES.values())
NUMBERS = [(rule, field.name) for rule in RULES for field in dataclasses.fields(rule) if field.type in ("float", float)]


@pytest.mark.parametrize("kind", KINDS)
def test_a_method_is_a_frozen_value_with_sound_defaults(kind: Any) -> None:
    method = kind()
    assert method == kind()
    assert hash(method) == hash(kind())
    assert pz.methods.METHODS[kind.name] is kind
    assert kind.title
    assert kind.references
    assert kind.iterations > 0
    for field in dataclasses.fields(kind):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(method, field.name, getattr(method, field.name))
    assert pz.Tracker(PANDA, pz.PositionTask("panda_hand"), method, limits=False).step(PANDA.home).shape == (7,)


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_is_a_frozen_value(rule: Any) -> None:
    one = rule(0.1) if rule is pz.damping.Constant else rule()
    assert one == dataclasses.replace(one)
    assert hash(one) == hash(dataclasses.replace(one))
    for field in dataclasses.fields(rule):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(one, field.name, 1.0)


def test_the_face_shows_every_rule_and_method() -> None:
    for room, kinds in ((pz.damping, RULES), (pz.methods, KINDS)):
        assert all(getattr(room, kind.__name__) is kind for kind in kinds)


@pytest.mark.parametrize("kind", KINDS)
def test_a_method_is_found_by_its_name_or_is_itself(kind: Any) -> None:
    assert method_of(kind.name) == kind()
    method = kind()
    assert method_of(method) is method


def test_a_name_that_is_none_gets_the_nearest() -> None:
    with pytest.raises(ValueError, match="no method 'sdsl'; did you mean 'sdls'"):
        method_of("sdsl")
    with pytest.raises(ValueError, match=r"no method 'xxxxx'; there are jt, pinv"):
        method_of("xxxxx")
    with pytest.raises(ValueError, match="did you mean 'dls'"):
        pz.solve(PANDA, pz.PoseTask("panda_hand", PANDA.pose("panda_hand", PANDA.home)), method="dlss")
    for wrong in (pz.methods.DampedLeastSquares, 3, None, pz.damping.Constant(0.1)):
        with refused("not-a-method", "method"):
            method_of(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(("rule", "name"), NUMBERS, ids=str)
@pytest.mark.parametrize("value", [-1.0, math.nan, -math.inf, "0.1", True, None])
def test_a_rule_refuses_numbers_that_make_no_sense(rule: Any, name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"^{name} is .*; it must be a"):
        rule(**{name: value})


@pytest.mark.parametrize("kind", DAMPED)
def test_damping_is_lambda_or_a_rule(kind: Any) -> None:
    for wrong in (-0.1, math.nan, math.inf):
        with pytest.raises(ValueError, match=r"damping is .*; it must be a finite number, 0 or more"):
            kind(damping=wrong)
    for wrong in ("0.1", None, True, pz.damping.Constant, [0.1]):
        with refused("wrong-type", "damping"):
            kind(damping=wrong)
    for rule in RULES:
        if rule is not pz.damping.Constant:
            kind(damping=rule())
    target = PANDA.pose("panda_hand", PANDA.sample(seed=1))
    steps = [pz.Tracker(PANDA, HAND, kind(damping=d)).step(PANDA.home, target) for d in (0.1, pz.damping.Constant(0.1))]
    assert (steps[0] == steps[1]).all()
    assert (pz.Tracker(PANDA, HAND, kind(damping=np.float64(0.1))).step(PANDA.home, target) == steps[0]).all()


@pytest.mark.parametrize("kind", JACOBIAN)
def test_clamps_are_positive(kind: Any) -> None:
    for wrong in (0.0, -1.0, math.nan, True, "1"):
        with pytest.raises(ValueError, match=r"max_step is .*; it must be a positive number"):
            kind(max_step=wrong)
    for wrong in (0.0, -1.0, math.nan):
        with pytest.raises(ValueError, match=r"max_error is .*; it must be a positive number"):
            kind(max_error=wrong)
    for wrong in ("0.1", [0.1]):
        with refused("wrong-type", "max_error"):
            kind(max_error=wrong)
    with refused("unknown-word", "jacobian"):
        kind(jacobian="targets")
    with pytest.raises(TypeError):
        kind(0.1)  # settings are named


@pytest.mark.parametrize("wrong", [{"position": 0.0}, {"rotation": -1.0}, {"mode": "adaptiv"}])
def test_a_clamp_refuses_what_makes_no_sense(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} is "):
        pz.methods.ClampMag(**wrong)


@pytest.mark.parametrize("kind", NULL_SPACE)
def test_null_space_terms_are_checked(kind: Any) -> None:
    with refused("wrong-type", "null_space"):
        kind(null_space="home")
    for term in (
        pz.criteria.RestPosture,
        pz.criteria.JointCentring,
        pz.criteria.LimitDistance,
        pz.criteria.Manipulability,
    ):
        with refused("not-positive", "gain"):
            term(gain=0.0)
    with pytest.raises(pz.ShapeError, match="q of the RestPosture must have 7 numbers"):
        pz.Tracker(PANDA, HAND, kind(null_space=pz.criteria.RestPosture(q=np.zeros(6))))
    assert hash(kind(null_space=pz.criteria.RestPosture(q=np.zeros(7)))) == hash(
        kind(null_space=pz.criteria.RestPosture(q=[0.0] * 7))
    )


CHOICES = [(kind, field.name) for kind in KINDS for field in dataclasses.fields(kind) if isinstance(field.default, str)]


@pytest.mark.parametrize(("kind", "name"), CHOICES, ids=str)
def test_a_choice_that_is_none_is_told_the_choices(kind: Any, name: str) -> None:
    with refused("unknown-word", name):
        kind(**{name: "best"})


@pytest.mark.parametrize(
    ("settings", "code", "words"),
    [
        ({"damping": pz.damping.DeoWalker(), "form": "rows"}, "conflict", "DeoWalker"),
        ({"damping": pz.damping.MaxNorm(), "form": "qr"}, "conflict", "MaxNorm"),
        ({"damping": pz.damping.Chiaverini(), "form": "columns"}, "conflict", "Chiaverini damps rows"),
        ({"damping": pz.damping.GainRatio(), "form": "svd"}, "conflict", "GainRatio works with form='rows'"),
        (
            {"damping": pz.damping.GainRatio(), "null_space": pz.criteria.JointCentring()},
            "conflict",
            "GainRatio works",
        ),
        ({"null_space": pz.criteria.JointCentring(), "form": "rows"}, "conflict", "null_space"),
    ],
)
def test_settings_that_do_not_go_together_say_why(settings: dict[str, Any], code: str, words: str) -> None:
    with refused(code, words):
        pz.methods.DampedLeastSquares(**settings)


def test_the_plain_inverses_take_no_null_space() -> None:
    with refused("needs", "null_space"):
        pz.methods.Pseudoinverse(form="rows", null_space=pz.criteria.JointCentring())


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_method_says_of_limits_is_true(kind: Any) -> None:
    """Random solves on the Panda: no limit is broken."""
    assert kind.capabilities.limits
    rng = np.random.default_rng(0)
    for seed in range(40):
        place = PANDA.pose("panda_hand", PANDA.sample(seed=seed)).xyz * rng.uniform(0.5, 2.0)
        found = pz.solve(
            PANDA,
            pz.PositionTask("panda_hand", place),
            q0=PANDA.sample(seed=500 + seed),
            method=kind.name,
            max_restarts=1,
            max_iterations=60,
        )
        assert (found.q >= PANDA.lower).all()
        assert (found.q <= PANDA.upper).all()


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_method_says_of_tasks_is_true(kind: Any) -> None:
    tasks: list[Any] = [
        pz.PositionTask("panda_hand", [0.4, 0.1, 0.5]),
        pz.PoseTask("panda_hand", PANDA.pose("panda_hand", PANDA.home)),
        pz.OrientationTask("panda_hand", pz.SO3.identity()),
        pz.AxisTask("panda_hand", target=[0.0, 0.0, -1.0]),
        pz.LookAtTask("panda_hand", target=[1.0, 0.0, 0.0]),
    ]
    able = {"any": 5, "poses": 3, "positions": 1}[kind.capabilities.tasks]
    for k, task in enumerate(tasks):
        if k < able:
            assert pz.solve(PANDA, task, method=kind.name, limits=False, max_restarts=1).q.shape == (7,)
        else:
            with pytest.raises(ValueError, match=rf"{kind.name!r} follows {kind.capabilities.tasks} only"):
                pz.solve(PANDA, task, method=kind.name, limits=False)


@pytest.mark.parametrize("kind", NULL_SPACE)
def test_joints_without_room_are_not_centred(kind: Any) -> None:
    """A joint whose limits meet has no middle to be pulled to; the others still are."""
    builder = pz.ModelBuilder("stiff")
    for i in range(4):
        builder.joint(
            f"j{i}",
            "revolute",
            parent=f"l{i - 1}" if i else "world",
            child=f"l{i}",
            axis=[0.0, float(i % 2), float(1 - i % 2)],
            origin=pz.SE3.from_parts([0.3, 0.0, 0.1]),
            limits=(0.2, 0.2) if i == 1 else (-2.0, 1.0),
        )
    model = builder.build()
    ik = pz.Tracker(model, pz.PositionTask("l3"), kind(null_space=pz.criteria.JointCentring()))
    q = np.array([0.5, 0.2, 0.5, 0.5])
    after = ik.step(q, model.pose("l3", q).xyz)
    assert not ik.failed
    assert after[1] == 0.2
    assert np.isfinite(after).all()

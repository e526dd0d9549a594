"""The shapes and visuals of a model's links: built, replaced, and carried along when another model is made of it."""

import copy
import pickle
from typing import Any

import pytest
from support.refusals import refused

import poise as pz

BALL, BAR = pz.Sphere([0, 0, 0.1], 0.1), pz.Capsule([0, 0, 0], [0, 0, 1], 0.05)
SKIN, PAINT = pz.Visual(BAR), pz.Visual(pz.MeshShape("hand.dae"), (1, 0, 0))
FLOOR, MESH = pz.HalfSpace([0, 0, 0], [0, 0, 1]), pz.MeshShape("hand.stl", scale=(1, -1, 1))


def builder() -> pz.ModelBuilder:
    b = pz.ModelBuilder("arm", file="arm.py")
    b.shape("world", FLOOR)
    b.shape("upper", BAR, BALL)  # links may come later
    b.joint("shoulder", "revolute", parent="base", child="upper")
    b.joint("elbow", "revolute", parent="upper", child="lower")
    b.joint("wrist", "fixed", parent="lower", child="hand")
    b.joint("side", "revolute", parent="base", child="other")
    b.shape("hand", MESH)
    b.shape("hand", BALL)
    b.shape("other", BALL)
    b.visual("world", SKIN)
    b.visual("upper", SKIN, PAINT)
    b.visual("hand", PAINT)
    b.visual("other", SKIN)
    b.disable("base", "upper")
    b.disable("upper", "base")
    b.disable("hand", "other")
    b.disable("world", "base")
    return b


ARM = builder().build()
SHAPES = {"world": (FLOOR,), "upper": (BAR, BALL), "hand": (MESH, BALL), "other": (BALL,)}
VISUALS = {"world": (SKIN,), "upper": (SKIN, PAINT), "hand": (PAINT,), "other": (SKIN,)}
DISABLED = {frozenset(pair) for pair in (("base", "upper"), ("hand", "other"), ("world", "base"))}


def test_shapes_are_those_that_the_builder_was_given() -> None:
    assert dict(ARM.shapes) == SHAPES
    assert dict(ARM.visuals) == VISUALS
    assert ARM.disabled == DISABLED


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_they_travel_with_the_model(way: Any) -> None:
    again = way(ARM)
    assert (dict(again.shapes), dict(again.visuals), again.disabled) == (SHAPES, VISUALS, DISABLED)


def test_a_locked_model_keeps_all() -> None:
    locked = ARM.lock(elbow=0.3)
    assert (dict(locked.shapes), dict(locked.visuals), locked.disabled) == (SHAPES, VISUALS, DISABLED)


def test_a_chain_keeps_what_is_on_its_links() -> None:
    whole, part = ARM.chain("world", "hand"), ARM.chain("upper", "hand")
    assert dict(whole.shapes) == {link: SHAPES[link] for link in ("world", "upper", "hand")}
    assert whole.disabled == DISABLED - {frozenset(("hand", "other"))}
    assert dict(part.shapes) == {link: SHAPES[link] for link in ("upper", "hand")}
    assert part.disabled == frozenset()
    assert dict(whole.visuals) == {link: VISUALS[link] for link in ("world", "upper", "hand")}
    assert dict(part.visuals) == {link: VISUALS[link] for link in ("upper", "hand")}
    assert dict(ARM.chain("base", "hand").shapes) == dict(whole.shapes)


def test_a_model_can_be_given_others() -> None:
    other = ARM.with_shapes({"hand": BALL, "lower": [BAR, BALL], "upper": ()})
    assert dict(other.shapes) == {"hand": (BALL,), "lower": (BAR, BALL)}
    assert dict(other.visuals) == VISUALS
    assert other.disabled == DISABLED
    assert ARM.with_shapes({}, [("hand", "lower")]).disabled == {frozenset(("hand", "lower"))}
    assert (other.home.tolist(), other.frames, other.joints) == (ARM.home.tolist(), ARM.frames, ARM.joints)
    assert dict(ARM.shapes) == SHAPES


def test_they_cannot_be_written_to() -> None:
    with pytest.raises(TypeError):
        ARM.shapes["hand"] = ()  # type: ignore[index]
    with pytest.raises(AttributeError):
        ARM.shapes = {}  # type: ignore[misc]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda b: b.shape("hnad", BALL), "a shape is given to the link 'hnad', which does not exist"),
        (lambda b: b.disable("hand", "hnad"), "collisions are disabled for the link 'hnad', which does not exist"),
        (lambda b: b.disable("hand", "hand"), "collisions of link 'hand' with itself are never looked at"),
        (lambda b: b.shape("hand", (0, 0, 1)), r"link 'hand' is given \(0, 0, 1\) as a shape; a shape is a Sphere"),
        (lambda b: b.shape("", BALL), "a link with a shape has no name"),
        (lambda b: b.visual("hnad", SKIN), "a visual is given to the link 'hnad', which does not exist"),
        (lambda b: b.visual("hand", BALL), r"link 'hand' is given Sphere\(.*\) as a visual; a visual is a Visual"),
        (lambda b: b.visual("", SKIN), "a link with a visual has no name"),
    ],
)
def test_a_builder_refuses_what_cannot_be(change: Any, message: str) -> None:
    b = builder()
    with pytest.raises(pz.ModelError, match=message) as caught:
        change(b) or b.build()
    assert caught.value.file == "arm.py"


@pytest.mark.parametrize(
    ("shapes", "disabled", "code", "words"),
    [
        ({"hnad": BALL}, None, "unknown-name", "arm has no frame 'hnad'; did you mean 'hand'"),
        ({"hand": [BALL, 3]}, None, "not-a-shape", "link 'hand' is given 3 as a shape"),
        ({}, [("hand", "hnad")], "unknown-name", "did you mean 'hand'"),
        ({}, [("hand", "hand")], "wrong-length", "disabled"),
        ({}, [("hand", "base", "upper")], "wrong-length", "a pair is two links"),
    ],
)
def test_a_model_refuses_what_cannot_be(shapes: Any, disabled: Any, code: str, words: str) -> None:
    with refused(code, words):
        ARM.with_shapes(shapes, disabled)


@pytest.mark.parametrize(
    ("make", "code", "words"),
    [
        (lambda: pz.MeshShape(""), "wrong-type", "file"),
        (lambda: pz.MeshShape("a.stl", scale=(1, 0, 1)), "out-of-range", "scaled by 0 is no solid"),
        (lambda: pz.MeshShape("a.stl", scale=(1, 1)), "wrong-shape", "scale"),
        (lambda: pz.MeshShape("a.stl", [0, 0, 0]), "not-a-pose", "pose"),
    ],
)
def test_a_mesh_needs_a_file_and_a_scale(make: Any, code: str, words: str) -> None:
    with refused(code, words):
        make()


@pytest.mark.parametrize(
    ("make", "code", "words"),
    [
        (lambda: pz.Visual((0, 0, 1)), "not-a-shape", "shape"),
        (lambda: pz.Visual(BALL, (1, 0)), "wrong-shape", "colour"),
        (lambda: pz.Visual(BALL, (1, 0, 255)), "out-of-range", "numbers from 0 to 1"),
        (lambda: pz.Visual(BALL, (1, 0, float("nan"))), "not-finite", "colour[2]"),
        (lambda: pz.Visual(BALL, "red"), "wrong-shape", "colour"),
    ],
)
def test_a_visual_needs_a_shape_and_a_colour_that_is_one(make: Any, code: str, words: str) -> None:
    with refused(code, words):
        make()

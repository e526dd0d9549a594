"""Building in code: what a builder is told is in the model, and what makes no sense is refused with the place."""

import math
from typing import Any

import numpy as np
import pytest

from poise.common.errors import ModelError
from poise.model.builder import ModelBuilder
from poise.model.joint import Mimic


def scales() -> ModelBuilder:
    builder = ModelBuilder("scales", file="scales.py")
    builder.joint("beam", "revolute", parent="stand", child="arm", axis=(0, 1, 0))
    return builder


def test_masses_are_those_of_the_links_and_may_come_before_them() -> None:
    builder = ModelBuilder("scales")
    builder.mass("arm", 2, centre=[0.0, 0.1, 0.2])
    builder.mass("stand", 0.5)
    builder.joint("beam", "revolute", parent="stand", child="arm")
    builder.posture("level", {"beam": [0.0]})
    model = builder.build()
    assert model.mass == 2.5
    assert {link: mass for link, (mass, _) in model.masses.items()} == {"arm": 2.0, "stand": 0.5}
    np.testing.assert_array_equal(model.masses["arm"][1], [0.0, 0.1, 0.2])
    np.testing.assert_array_equal(model.masses["stand"][1], np.zeros(3))


def test_without_masses_there_are_none() -> None:
    model = scales().build()
    assert (dict(model.masses), model.mass) == ({}, 0.0)


def test_the_builder_may_be_told_more_after_it_built() -> None:
    builder = scales()
    place = np.zeros(3)
    builder.mass("stand", 1.0, centre=place)
    before = builder.build()
    place[0] = 1.0
    builder.mass("arm", 1.0)
    assert (before.mass, builder.build().mass) == (1.0, 2.0)
    np.testing.assert_array_equal(before.masses["stand"][1], np.zeros(3))


@pytest.mark.parametrize(
    ("link", "mass", "centre", "message"),
    [
        ("arm", -1.0, (0, 0, 0), "link 'arm' has the mass -1.0; it must be a finite number of kg, 0 or more"),
        ("arm", math.nan, (0, 0, 0), "link 'arm' has the mass nan; it must be"),
        ("arm", math.inf, (0, 0, 0), "link 'arm' has the mass inf; it must be"),
        ("arm", "heavy", (0, 0, 0), "link 'arm' has the mass 'heavy'; it must be"),
        ("arm", [1.0], (0, 0, 0), r"link 'arm' has the mass \[1.0\]; it must be"),
        ("arm", 1.0, (0, 0), r"link 'arm' has its mass at \(0, 0\); it must be three finite numbers"),
        ("arm", 1.0, (0, 0, math.nan), r"link 'arm' has its mass at \(0, 0, nan\); it must be"),
        ("arm", 1.0, ("left", 0, 0), r"link 'arm' has its mass at .*; it must be three finite numbers"),
        ("stand", 1.0, (0, 0, 0), "link 'stand' is given a mass twice; keep one of them"),
        ("world", 1.0, (0, 0, 0), "'world' has no mass; give it to a link that is fixed there"),
        ("", 1.0, (0, 0, 0), "a link with a mass has no name"),
    ],
)
def test_masses_that_make_no_sense_are_refused(link: str, mass: Any, centre: Any, message: str) -> None:
    builder = scales()
    builder.mass("stand", 0.0)
    with pytest.raises(ModelError, match=message) as caught:
        builder.mass(link, mass, centre=centre, line=7)
    assert (caught.value.file, caught.value.line) == ("scales.py", 7)


@pytest.mark.parametrize("inertia", [np.ones(3), np.triu(np.ones((3, 3))), np.full((3, 3), math.nan), "heavy"])
def test_an_inertia_that_is_no_symmetric_matrix_is_refused(inertia: Any) -> None:
    builder = scales()
    with pytest.raises(
        ModelError, match="link 'arm' has an inertia that is none; it must be a symmetric matrix"
    ) as caught:
        builder.mass("arm", 1.0, inertia=inertia, line=7)
    assert caught.value.line == 7


def test_a_mass_on_a_missing_link_is_refused() -> None:
    builder = scales()
    builder.mass("amr", 1.0, line=7)
    with pytest.raises(ModelError, match="a mass is given to the link 'amr', which does not exist") as caught:
        builder.build()
    assert caught.value.line == 7


@pytest.mark.parametrize(("kind", "velocity"), [("revolute", 0.0), ("floating", [1, 1, 1, 1, 0, 1])])
def test_a_velocity_limit_of_zero_is_refused(kind: str, velocity: Any) -> None:
    builder = ModelBuilder("scales", file="scales.py")
    with pytest.raises(ModelError, match=r"'beam' has a velocity limit of 0; make it fixed .*or leave the limit out"):
        builder.joint("beam", kind, parent="stand", child="arm", velocity=velocity)


def test_the_velocity_limit_of_a_joint_that_mimics_is_one_of_the_joint_it_follows() -> None:
    builder = ModelBuilder("hand")
    builder.joint("finger", "revolute", parent="palm", child="a", velocity=1.0)
    builder.joint("tip", "revolute", parent="a", child="b", velocity=0.1, mimic=Mimic(joint="finger", multiplier=-2.0))
    builder.joint("nail", "revolute", parent="b", child="c", velocity=0.1, mimic=Mimic(joint="tip", multiplier=0.25))
    builder.joint("ring", "revolute", parent="a", child="d", velocity=0.1, mimic=Mimic(joint="finger", multiplier=0.0))
    model = builder.build()
    assert model.velocity.tolist() == [0.05]
    assert model.chain("palm", "b").velocity.tolist() == [0.05]
    assert builder.build(base="floating").velocity.tolist() == [math.inf] * 6 + [0.05]


@pytest.mark.parametrize(
    "add",
    [
        lambda b: b.joint("turn", "revolute", parent="base", child="arm", origin=[0.0, 0.0, 1.0]),
        lambda b: b.frame("tip", link="arm", origin=np.eye(4)),
    ],
)
def test_an_origin_that_is_no_pose_is_refused_by_name(add: Any) -> None:
    with pytest.raises(TypeError, match=r"(?s)the origin of (joint|frame) '(turn|tip)' is .*it must be an SE3, as in"):
        add(ModelBuilder("one"))

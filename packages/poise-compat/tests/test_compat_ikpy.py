"""ikpy's face: one number a link, axes and frames as targets, inactive links."""

from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import poise as pz
from poise_compat.ikpy import Chain, DHLink, OriginLink, URDFLink


def links(kind: Any) -> list[Any]:
    """The arm of ikpy's README, with limits, as its own links or as ours."""
    z, y = [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]
    rows = [("shoulder_left", [0, 0, 0.3], y), ("elbow", [0.25, 0, 0], y), ("forearm", [0.1, 0, 0], z)]
    rows += [("wrist", [0.22, 0, 0], y), ("hand", [0.05, 0, 0], [1.0, 0.0, 0.0]), ("tool", [0.0, 0.0, 0.05], z)]
    return [
        kind(name, origin_translation=place, origin_orientation=[0.0, 0.1, 0.2], rotation=axis, bounds=(-2.5, 2.5))
        for name, place, axis in rows
    ]


@pytest.fixture(scope="module")
def chain() -> Chain:
    return Chain([OriginLink(), *links(URDFLink)], [False, *[True] * 6], "left_arm")


def places(chain: Chain, count: int) -> np.ndarray:
    drawn = np.random.default_rng(0).uniform(-2.5, 2.5, (count, len(chain)))
    return np.where(chain.active_links_mask, drawn, 0.0)


def test_the_signatures_are_as_published() -> None:
    names = list(signature(Chain.inverse_kinematics).parameters)
    assert names == ["self", "target_position", "target_orientation", "orientation_mode", "backend", "kwargs"]
    assert list(signature(Chain.inverse_kinematics_frame).parameters)[:4] == [
        "self", "target", "initial_position", "backend",
    ]  # fmt: skip


@pytest.mark.parametrize("mode", [None, "X", "Y", "Z", "all"])
def test_what_is_asked_is_fulfilled_within_the_bounds(chain: Chain, mode: str | None) -> None:
    for joints in places(chain, 15):
        pose = chain.forward_kinematics(joints)
        turn = {"all": pose[:3, :3], None: None}.get(mode, pose[:3, "XYZ".find(mode or "X")])
        found = chain.inverse_kinematics(pose[:3, 3], turn, mode)
        reached = chain.forward_kinematics(found)
        assert chain.solution is not None
        assert chain.solution.success
        assert len(found) == len(chain)
        assert found[0] == 0.0
        assert np.abs(found).max() <= 2.5
        assert np.abs(reached[:3, 3] - pose[:3, 3]).max() < 2e-6
        if mode == "all":
            assert np.abs(reached - pose).max() < 2e-6
        elif mode is not None:
            assert np.abs(reached[:3, "XYZ".index(mode)] - turn).max() < 2e-6


def test_an_orientation_alone(chain: Chain) -> None:
    pose = chain.forward_kinematics(places(chain, 1)[0])
    found = chain.inverse_kinematics(None, pose[:3, :3], "all")
    assert np.abs(chain.forward_kinematics(found)[:3, :3] - pose[:3, :3]).max() < 2e-6


def test_inactive_links_stay_where_the_start_has_them_and_have_no_bounds() -> None:
    chain = Chain([OriginLink(), *links(URDFLink)], [False, False, True, True, True, True, True])
    start = np.array([0.0, 2.9, 0.1, 0.1, 0.1, 0.1, 0.1])
    pose = chain.forward_kinematics(start + np.array([0, 0, 0.3, -0.2, 0.1, 0.2, 0.1]))
    found = chain.inverse_kinematics_frame(pose, start)
    assert found[:2].tolist() == [0.0, 2.9]
    assert np.abs(chain.forward_kinematics(found)[:3, 3] - pose[:3, 3]).max() < 2e-6


def test_full_kinematics_lists_every_link(chain: Chain) -> None:
    joints = places(chain, 1)[0]
    every = chain.forward_kinematics(joints, full_kinematics=True)
    assert len(every) == len(chain)
    assert np.array_equal(every[-1], chain.forward_kinematics(joints))
    assert np.array_equal(every[0], np.eye(4))


@pytest.mark.parametrize("convention", ["classic", "modified"])
def test_links_of_a_denavit_hartenberg_table(convention: Any) -> None:
    rows = [(0.3, 0.0, np.pi / 2), (0.0, 0.4, 0.0), (0.1, 0.1, np.pi / 2), (0.3, 0.0, -np.pi / 2)]
    made = Chain([DHLink(f"j{i}", d=d, a=a, alpha=t, convention=convention) for i, (d, a, t) in enumerate(rows)])
    arm = pz.from_dh(
        [pz.DH(a=a, alpha=t, d=d) for d, a, t in rows],
        convention="standard" if convention == "classic" else "modified",
    )
    q = np.array([0.1, 0.2, 0.3, 0.4])
    assert np.allclose(made.forward_kinematics(q), arm.pose("link4", q).matrix(), atol=1e-12)


def test_a_chain_of_a_file_goes_down_first_children(tmp_path: Path) -> None:
    file = tmp_path / "fork.urdf"
    joint = (
        '<joint name="{0}" type="{4}"><parent link="{1}"/><child link="{2}"/><origin xyz="0 {3} 0.2"/>'
        '<axis xyz="0 1 0"/><limit lower="-1" upper="1" velocity="1" effort="1"/></joint>'
    )
    file.write_text(
        '<robot name="fork"><link name="base_link"/><link name="a"/><link name="b"/><link name="c"/>'
        + joint.format("left", "base_link", "a", 0.1, "revolute")
        + joint.format("right", "base_link", "b", -0.1, "revolute")
        + joint.format("slide", "b", "c", 0, "prismatic")
        + "</robot>"
    )
    assert [x.name for x in Chain.from_urdf_file(file).links] == ["Base link", "left"]
    right = Chain.from_urdf_file(file, base_elements=["base_link", "right"], last_link_vector=[0, 0, 0.1])
    assert [x.name for x in right.links] == ["Base link", "right", "slide", "last_joint"]
    assert right.links[2].bounds == (-1.0, 1.0)
    at = Chain.from_urdf_file(file, base_elements=["slide"], base_element_type="joint")
    assert [x.name for x in at.links] == ["Base link", "slide"]
    with pytest.raises(pz.JointNotFound, match="link 'base_link' has no joint 'rigth'; did you mean 'right'"):
        Chain.from_urdf_file(file, base_elements=["base_link", "rigth"])


def test_bad_input_is_told_in_a_sentence(chain: Chain) -> None:
    with pytest.raises(ValueError, match="give one of them"):
        chain.inverse_kinematics()
    with pytest.raises(ValueError, match="orientation_mode is 'W'"):
        chain.inverse_kinematics([0.1, 0.2, 0.3], [1, 0, 0], "W")
    with pytest.raises(pz.ShapeError, match="target must have shape"):
        chain.inverse_kinematics_frame(np.eye(3))
    with pytest.raises(TypeError, match="takes no tolerance"):
        chain.inverse_kinematics([0.1, 0.2, 0.3], tolerance=1e-3)
    with pytest.raises(ValueError, match="2 entries; the chain has 7 links"):
        Chain(chain.links, [True, False])
    with pytest.raises(ValueError, match="give a revolute one a rotation"):
        URDFLink("slider", [0, 0, 0], [0, 0, 0], translation=[1, 0, 0])


def test_beside_the_original() -> None:
    """Its links are taken as they are; the same forward kinematics, no farther from what is asked, within bounds."""
    theirs = pytest.importorskip("ikpy.chain")
    link = pytest.importorskip("ikpy.link")
    given = [link.OriginLink(), *links(link.URDFLink)]
    mask = [False, *[True] * 6]
    there, here = theirs.Chain(given, mask), Chain(given, mask)
    for joints in places(here, 3):
        pose = there.forward_kinematics(joints)
        assert np.abs(here.forward_kinematics(joints) - pose).max() < 1e-12
        left = [
            np.linalg.norm((there.forward_kinematics(c.inverse_kinematics_frame(pose)) - pose)[:3, 3])
            for c in (there, here)
        ]
        assert left[1] < max(left[0], 2e-6)

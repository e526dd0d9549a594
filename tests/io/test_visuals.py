"""What is drawn of links, as URDF and MJCF say it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import poise as pz
from poise.geometry.visuals import Ellipsoid, Surface
from poise.io.installed import installed_robots
from poise.io.urdf import parse_urdf, read_urdf

PLACE = '<origin xyz="0.1 0.2 0.3" rpy="0.4 -0.5 0.6"/>'
POSE = pz.SE3.from_xyz_rpy([0.1, 0.2, 0.3], [0.4, -0.5, 0.6])


def urdf(*visuals: str, head: str = "") -> pz.Model:
    inside = "".join(f"<visual>{visual}</visual>" for visual in visuals)
    return parse_urdf(f'<robot name="r">{head}<link name="a">{inside}</link></robot>', file="r.urdf")


def drawn(tag: str, material: str = "") -> str:
    return f"{PLACE}<geometry><{tag}/></geometry>{material}"


# URDF ------------------------------------------------------------------------------------------------------------


def test_solids_are_taken_as_they_are_drawn() -> None:
    tags = ['box size="1 2 3"', 'sphere radius="0.5"', 'cylinder radius="0.2" length="0.6"']
    model = urdf(*map(drawn, [*tags, 'capsule radius="0.2" length="0.6"']))
    box, sphere, cylinder, capsule = (visual.shape for visual in model.visuals["a"])
    assert (box.size, sphere) == ((1.0, 2.0, 3.0), pz.Sphere([0.1, 0.2, 0.3], 0.5))
    assert isinstance(cylinder, pz.Cylinder)
    assert (cylinder.radius, cylinder.length) == (0.2, 0.6)
    for pose in (box.pose, cylinder.pose):
        np.testing.assert_allclose(pose.matrix(), POSE.matrix(), rtol=0, atol=1e-15)
    np.testing.assert_allclose([capsule.start, capsule.end], POSE.act([[0, 0, -0.3], [0, 0, 0.3]]), rtol=0, atol=1e-15)
    assert dict(model.shapes) == {}


def test_a_link_of_which_nothing_is_drawn_is_not_among_them() -> None:
    assert dict(urdf().visuals) == {}
    assert dict(urdf("", "<geometry/>").visuals) == {}


def test_colours_are_written_in_place_or_found_by_name() -> None:
    box = 'box size="1 1 1"'
    model = urdf(
        drawn(box),
        drawn(box, '<material name="steel"/>'),
        drawn(box, '<material name="later"/>'),
        drawn(box, '<material name="later"><color rgba="0 0 1 0.5"/></material>'),
        drawn(box, '<material><color rgba="2 0 -1 1"/></material>'),
        drawn(box, '<material name="picture"><texture filename="a.png"/></material>'),
        drawn(box, '<material name="unheard of"/>'),
        head='<material name="steel"><color rgba="0.1 0.2 0.3 1"/></material>',
    )
    blue = (0.0, 0.0, 1.0, 0.5)
    wanted = [None, (0.1, 0.2, 0.3, 1.0), blue, blue, (1.0, 0.0, 0.0, 1.0), None, None]
    assert [visual.colour for visual in model.visuals["a"]] == wanted


def test_meshes_are_found_and_not_opened(tmp_path: Path) -> None:
    (tmp_path / "hand.stl").write_text("no mesh at all")
    (tmp_path / "r.urdf").write_text(
        f'<robot name="r"><link name="a"><visual>{PLACE}<geometry><mesh filename="package://x/hand.stl" '
        'scale="1 -1 0.001"/></geometry></visual></link></robot>'
    )
    (visual,) = read_urdf(tmp_path / "r.urdf").visuals["a"]
    assert (visual.shape.file, visual.shape.scale) == (str(tmp_path / "hand.stl"), (1.0, -1.0, 0.001))
    np.testing.assert_allclose(visual.shape.pose.matrix(), POSE.matrix(), rtol=0, atol=1e-15)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (drawn('sphere radius="-1"'), "no length may be negative"),
        (drawn('mesh scale="1 1 1"'), "has no 'filename'"),
        (drawn('mesh filename="x.stl" scale="0 1 1"'), "is scaled by 0"),
        (drawn("sphere") + "<geometry/>", "has 2 <geometry>"),
        ('<origin xyz="0 0 1e15"/><geometry><capsule radius="1" length="1e15"/></geometry>', "beyond 2\\^50"),
        (drawn("blob"), "unknown tag <blob> in <geometry>"),
        (drawn('box size="1 1 1"', '<material><color rgba="red"/></material>'), "a <color> that is none"),
    ],
)
def test_what_cannot_be_drawn_is_noted_and_the_rest_is_read(broken: str, message: str) -> None:
    with pytest.warns(pz.ModelWarning, match=message) as caught:
        model = urdf(broken, drawn('sphere radius="0.5"'))
    assert len(caught) == 1
    assert model.visuals["a"][-1] == pz.Visual(pz.Sphere([0.1, 0.2, 0.3], 0.5))


# MJCF ------------------------------------------------------------------------------------------------------------

MJCF = """<mujoco><compiler angle="radian"/>
<asset><material name="red" rgba="1 0 0 1"/>
<mesh name="wedge" vertex="0 0 0  1 0 0  0 1 0  0 0 1" scale="1 1 -2" refpos="0.1 0.2 0.3"/></asset>
<worldbody><geom name="floor" type="plane" size="0 0 1" rgba="0 0 1 1"/>
<body name="plain"><geom type="ellipsoid" size="0.1 0.2 0.3" material="red"/>
 <geom type="plane" size="1 2 1" contype="0" conaffinity="0" group="3"/></body>
<body name="dressed"><geom size="0.1"/><geom size="0.2" group="3"/><geom size="0.3" group="1"/>
 <geom type="mesh" mesh="wedge" group="2" pos="1 2 3" euler="0.4 0 0" material="red" rgba="0 1 0 1"/></body>
<body name="ghost"><geom type="cylinder" size="0.1 0.2" contype="0" conaffinity="0"/><geom size="0.3"/>
 <geom type="plane" size="1 2 1" contype="0" conaffinity="0"/><geom size="1" group="1" rgba="0 0 0 0"/></body>
<body name="bare"><geom size="0.1" group="3"/></body></worldbody></mujoco>"""


@pytest.fixture
def mjcf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pz.Model:
    pytest.importorskip("mujoco")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.xml").write_text(MJCF)
    return pz.load(tmp_path / "r.xml")


def test_geoms_that_are_seen_are_visuals_of_their_bodies(mjcf: pz.Model) -> None:
    kinds = {link: [type(visual.shape) for visual in visuals] for link, visuals in mjcf.visuals.items()}
    assert kinds == {
        "world": [pz.HalfSpace],
        "plain": [Ellipsoid],
        "dressed": [pz.Sphere, Surface],
        "ghost": [pz.Cylinder, pz.Box],
    }
    (egg,), (ball, wedge), (drum, plate) = (mjcf.visuals[link] for link in ("plain", "dressed", "ghost"))
    assert egg.shape.semi_axes == (0.1, 0.2, 0.3)
    assert ball.shape.radius == 0.3
    assert (drum.shape.radius, drum.shape.length, plate.shape.size) == (0.1, 0.4, (2.0, 4.0, 0.0))
    colours = [visual.colour for visual in (*mjcf.visuals["world"], egg, ball, wedge)]
    assert colours == [(0, 0, 1, 1), (1, 0, 0, 1), None, (0, 1, 0, 1)]


def test_a_mesh_is_where_the_file_has_it(mjcf: pz.Model) -> None:
    wedge = mjcf.visuals["dressed"][1].shape
    corners = (np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]) - [0.1, 0.2, 0.3]) * [1, 1, -2]
    wanted = pz.SE3.from_xyz_rpy([1, 2, 3], [0.4, 0, 0]).act(corners)
    found = np.unique(wedge.pose.act(wedge.vertices).round(5), axis=0)
    np.testing.assert_allclose(found, np.unique(wanted.round(5), axis=0), rtol=0, atol=2e-5)


def test_a_geom_that_is_too_large_is_not_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mujoco")
    monkeypatch.chdir(tmp_path)
    geom = '<geom name="sky" type="box" size="1e15 1 1" contype="0" conaffinity="0"/>'
    (tmp_path / "r.xml").write_text(f"<mujoco><worldbody>{geom}<geom size='0.1'/></worldbody></mujoco>")
    with pytest.warns(pz.ModelWarning, match="geom 'sky' is not drawn: size"):
        assert dict(pz.load(tmp_path / "r.xml").visuals) == {}


# Real robots -----------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::poise.common.errors.ModelWarning")
@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("panda_collision", {"MeshShape": 11}),
        ("talos", {"MeshShape": 47, "Box": 1, "Cylinder": 4}),
        ("g1", {"MeshShape": 35}),
        ("pr2", {"MeshShape": 45, "Box": 18, "Cylinder": 1}),
    ],
)
def test_robots_have_the_visuals_of_their_files(name: str, kinds: dict[str, int]) -> None:
    if name not in installed_robots():
        pytest.skip("example-robot-data is not installed")
    visuals: list[Any] = [visual for those in pz.load(name).visuals.values() for visual in those]
    found: dict[str, int] = {}
    for visual in visuals:
        kind = type(visual.shape).__name__
        found[kind] = found.get(kind, 0) + 1
        assert kind != "MeshShape" or Path(visual.shape.file).is_file()
    assert found == kinds

"""What can collide, as URDF, SRDF and MJCF say it: shapes of links, and pairs that are never looked at."""

import math
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import poise as pz
from poise.common.array import Array
from poise.geometry.enclosing import Ellipsoid, enclosed
from poise.geometry.meshes import MeshShape
from poise.io.installed import installed_robots
from poise.io.urdf import parse_urdf, read_urdf

PLACE = '<origin xyz="0.1 0.2 0.3" rpy="0.4 -0.5 0.6"/>'
POSE = pz.SE3.from_xyz_rpy([0.1, 0.2, 0.3], [0.4, -0.5, 0.6])


def urdf(*collisions: str) -> pz.Model:
    inside = "".join(f"<collision>{collision}</collision>" for collision in collisions)
    return parse_urdf(f'<robot name="r"><link name="a">{inside}</link></robot>', file="r.urdf")


def solid(tag: str) -> str:
    return f"{PLACE}<geometry><{tag}/></geometry>"


def inside(shape: Any, points: Array) -> bool:
    """Whether a capsule, a sphere or a hull holds the points (n, 3)."""
    if isinstance(shape, pz.ConvexHull):
        ways = np.random.default_rng(0).normal(size=(2000, 3))
        ways /= np.linalg.norm(ways, axis=1, keepdims=True)
        core = shape.core
        reach = (core.pose.act(core.vertices) @ ways.T).max(axis=0) + shape.radius
        return bool(((points @ ways.T).max(axis=0) <= reach + 1e-12).all())
    ends = (shape.centre, shape.centre) if isinstance(shape, pz.Sphere) else (shape.start, shape.end)
    start, end = map(np.array, ends)
    way = end - start
    along = np.clip((points - start) @ way / max(way @ way, 1e-300), 0.0, 1.0)
    return bool((np.linalg.norm(points - start - along[:, None] * way, axis=1) <= shape.radius + 1e-12).all())


# URDF ------------------------------------------------------------------------------------------------------------


def test_primitives_are_taken_as_they_are() -> None:
    tags = [
        'box size="1 2 3"',
        'sphere radius="0.5"',
        'capsule radius="0.2" length="0.6"',
        'cylinder radius="0.2" length="0.6"',
    ]
    box, sphere, capsule, cylinder = urdf(*map(solid, tags)).shapes["a"]
    assert (box.size, sphere) == ((1.0, 2.0, 3.0), pz.Sphere([0.1, 0.2, 0.3], 0.5))
    np.testing.assert_allclose(box.pose.matrix(), POSE.matrix(), rtol=0, atol=1e-15)
    np.testing.assert_allclose([capsule.start, capsule.end], POSE.act([[0, 0, -0.3], [0, 0, 0.3]]), rtol=0, atol=1e-15)
    assert capsule.radius == 0.2
    assert (cylinder.radius, cylinder.length) == (0.2, 0.6)
    np.testing.assert_allclose(cylinder.pose.matrix(), POSE.matrix(), rtol=0, atol=1e-15)


def test_a_link_without_shapes_is_not_among_them() -> None:
    assert dict(urdf().shapes) == {}
    assert dict(urdf("", "<geometry/>").shapes) == {}
    assert urdf().disabled == frozenset()


@pytest.mark.parametrize(("tilt", "shift"), [(0.0, 0.0), (8e-4, 0.0), (0.0, 1e-3)])
def test_a_cylinder_with_round_ends_is_a_capsule(tilt: float, shift: float) -> None:
    cylinder = pz.Cylinder(POSE @ pz.SE3.from_xyz_rpy([0, 0, 0], [tilt, 0, 0]), 0.2, 0.6)
    caps = [pz.Sphere(POSE.act([0, shift, z]), 0.2) for z in (0.3, -0.3)]
    other = pz.Sphere([1.0, 2.0, 3.0], 0.2)
    capsule, rest = enclosed([caps[0], cylinder, other, caps[1]])
    assert isinstance(capsule, pz.Capsule)
    assert rest is other
    assert capsule.radius == pytest.approx(0.2, rel=0.01)
    if not tilt and not shift:
        assert capsule.radius == 0.2
    turns = np.linspace(0.0, 2.0 * math.pi, 1000)
    rim = np.column_stack([0.2 * np.cos(turns), 0.2 * np.sin(turns), np.full(1000, 0.3)])
    assert inside(capsule, cylinder.pose.act(np.concatenate([rim, -rim])))
    ball = np.random.default_rng(1).normal(size=(500, 3))
    ball *= 0.2 / np.linalg.norm(ball, axis=1, keepdims=True)
    assert inside(capsule, np.concatenate([np.array(cap.centre) + ball for cap in caps]))


def test_a_sphere_can_end_two_cylinders_and_one_round_end_is_not_enough() -> None:
    up = pz.Cylinder(pz.SE3.identity(), 0.1, 2.0)
    along = pz.Cylinder(pz.SE3.from_xyz_rpy([0, 1, 1], [math.pi / 2, 0, 0]), 0.1, 2.0)
    low, corner, far = (pz.Sphere(place, 0.1) for place in ([0, 0, -1], [0, 0, 1], [0, 2, 1]))
    large = pz.Sphere([0, 0, 1], 0.2)
    assert [type(shape) for shape in enclosed([up, along, low, corner, far])] == [pz.Capsule, pz.Capsule]
    assert [type(shape) for shape in enclosed([up, along, low, corner])] == [pz.Capsule, pz.Cylinder]
    assert [type(shape) for shape in enclosed([up, large, low])] == [pz.Cylinder, pz.Sphere, pz.Sphere]


def test_meshes_are_found_and_not_opened(tmp_path: Path) -> None:
    (tmp_path / "hand.stl").write_text("no mesh at all")
    (tmp_path / "r.urdf").write_text(
        f'<robot name="r"><link name="a"><collision>{PLACE}<geometry><mesh filename="package://x/hand.stl" '
        'scale="1 -1 0.001"/></geometry></collision><collision><geometry><mesh filename="https://x/foot.stl"/></geometry>'
        "</collision></link></robot>"
    )
    hand, foot = read_urdf(tmp_path / "r.urdf").shapes["a"]
    assert (hand.file, hand.scale) == (str(tmp_path / "hand.stl"), (1.0, -1.0, 0.001))
    assert foot == MeshShape("https://x/foot.stl")
    np.testing.assert_allclose(hand.pose.matrix(), POSE.matrix(), rtol=0, atol=1e-15)


@pytest.mark.parametrize(
    ("tag", "message"),
    [
        ('sphere radius="-1"', "<sphere> of link 'a' has radius=\"-1\"; no length may be negative"),
        ('box size="1 -2 3"', "no length may be negative"),
        ('cylinder radius="1"', "has no 'length'"),
        ('box size="1 2"', "it needs 3 numbers, not 2"),
        ('sphere radius="nan"', "not a finite number"),
        ('mesh scale="1 1 1"', "has no 'filename'"),
        ('mesh filename="x.stl" scale="1 0 1"', "is scaled by 0"),
    ],
)
def test_sizes_that_no_solid_has_are_refused(tag: str, message: str) -> None:
    with pytest.raises(pz.ModelError, match=message) as caught:
        urdf(solid(tag))
    assert str(caught.value).startswith("r.urdf:1: ")


def test_other_shapes_are_noted() -> None:
    with pytest.warns(pz.ModelWarning, match="unknown tag <blob> in <geometry>"):
        assert dict(urdf(solid("blob")).shapes) == {}


# SRDF ------------------------------------------------------------------------------------------------------------


def pairs(folder: Path, srdf: str) -> set[frozenset[str]]:
    links = "".join(f'<link name="{name}"/>' for name in "abcd")
    joints = "".join(
        f'<joint name="{child}" type="fixed"><parent link="a"/><child link="{child}"/></joint>' for child in "bcd"
    )
    (folder / "r.urdf").write_text(f'<robot name="r">{links}{joints}</robot>')
    (folder / "r.srdf").write_text(f'<robot name="r">{srdf}</robot>')
    return {*read_urdf(folder / "r.urdf").disabled}


def test_pairs_of_the_srdf_are_disabled(tmp_path: Path) -> None:
    off = '<disable_collisions link1="{}" link2="{}" reason="Never"/>'
    assert pairs(tmp_path, off.format("a", "b") + off.format("b", "a") + off.format("c", "b")) == {
        frozenset("ab"),
        frozenset("bc"),
    }
    assert pairs(tmp_path, off.format("a", "elsewhere")) == set()
    with pytest.warns(pz.ModelWarning, match="a link is said not to collide with itself"):
        assert pairs(tmp_path, off.format("a", "a")) == set()


def test_what_is_off_by_default_can_be_enabled_again(tmp_path: Path) -> None:
    found = pairs(tmp_path, '<disable_default_collisions link="c"/><enable_collisions link1="d" link2="c"/>')
    assert found == {frozenset("ac"), frozenset("bc")}


# MJCF ------------------------------------------------------------------------------------------------------------

MJCF = """<mujoco><compiler angle="radian"/>
<asset><mesh name="wedge" vertex="0 0 0  1 0 0  0 1 0  0 0 1  0.1 0.1 0.1"/></asset>
<worldbody><geom name="floor" type="plane" size="1 1 1" pos="0 0 0.1" euler="0.2 0 0"/>
<geom type="sphere" size="9" contype="0" conaffinity="0"/>
<body name="a"><freejoint/><geom type="sphere" size="0.1" pos="1 2 3"/>
 <body name="b"><joint name="turn" pos="1 0 0"/><geom type="capsule" size="0.1 0.2" pos="0 0 1"/>
  <geom type="cylinder" size="0.1 0.2"/>
  <body name="welded"><geom type="box" size="0.1 0.2 0.3" euler="0.1 0.2 0.3"/></body>
  <body name="c"><joint/><geom type="mesh" mesh="wedge" pos="1 0 0"/><geom type="ellipsoid" size="0.3 0.1 0.1"/>
   <body name="d"><joint/><geom size="0.1"/></body>
   <body name="e"><joint/><geom size="0.1" contype="2" conaffinity="2"/></body>
   <body name="f"><joint/><geom name="f" size="0.1" contype="0" conaffinity="0"/></body></body></body></body>
</worldbody>
<contact><exclude body1="a" body2="d"/><pair geom1="floor" geom2="f"/></contact></mujoco>"""


@pytest.fixture
def mjcf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pz.Model:
    pytest.importorskip("mujoco")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.xml").write_text(MJCF)
    return pz.load(tmp_path / "r.xml")


def test_geoms_that_collide_are_shapes_of_their_bodies(mjcf: pz.Model) -> None:
    kinds = {link: [type(shape).__name__ for shape in shapes] for link, shapes in mjcf.shapes.items()}
    assert kinds == {
        "world": ["HalfSpace"],
        "a": ["Sphere"],
        "b": ["Capsule", "Cylinder"],
        "welded": ["Box"],
        "c": ["ConvexHull", "Ellipsoid"],
        "d": ["Sphere"],
        "e": ["Sphere"],
        "f": ["Sphere"],
    }
    (floor,), (ball,), (bar, drum), (box,) = (mjcf.shapes[link] for link in ("world", "a", "b", "welded"))
    np.testing.assert_allclose(floor.normal, [0, -math.sin(0.2), math.cos(0.2)], rtol=0, atol=1e-15)
    assert (floor.point, ball) == ((0, 0, 0.1), pz.Sphere([1, 2, 3], 0.1))
    assert (bar.start, bar.end, bar.radius) == ((0, 0, 0.8), (0, 0, 1.2), 0.1)
    assert drum == pz.Cylinder(pz.SE3.identity(), 0.1, 0.4)
    assert box.size == (0.2, 0.4, 0.6)


def test_a_mesh_is_the_convex_hull_where_mujoco_has_it(mjcf: pz.Model) -> None:
    core = mjcf.shapes["c"][0].core
    corners = core.pose.act(core.vertices) - [1, 0, 0]
    wanted = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    np.testing.assert_allclose(corners[np.lexsort(corners.round(3).T)], wanted[np.lexsort(wanted.T)], rtol=0, atol=1e-6)


def test_an_ellipsoid_is_within_its_shape() -> None:
    ball = np.random.default_rng(2).normal(size=(3000, 3))
    ball /= np.linalg.norm(ball, axis=1, keepdims=True)
    for axes, kind in [
        ((0.2, 0.2, 0.2), pz.Sphere),
        ((0.28, 0.3, 0.28), pz.Capsule),
        ((0.1, 0.3, 0.1), pz.ConvexHull),
        ((0.3, 0.25, 0.28), pz.ConvexHull),
        ((0.3, 0.1, 0.2), pz.ConvexHull),
        ((0.3, 0.1, 0.3), pz.ConvexHull),
    ]:
        shape = Ellipsoid(POSE, axes)
        assert type(shape.around) is kind
        assert inside(shape.around, POSE.act(ball * axes))
        normals = ball / axes / np.linalg.norm(ball / axes, axis=1, keepdims=True)
        beyond = POSE.act(ball * axes + 0.03 * max(axes) * normals)
        assert not any(inside(shape.around, one[None]) for one in beyond[:300])
        assert inside(shape.within, POSE.act(ball * axes * 0.97))
        assert np.allclose(np.linalg.norm(np.asarray(shape.within.points) / axes, axis=1), 1.0)


def test_a_link_that_is_an_ellipsoid_goes_with_its_model() -> None:
    b = pz.ModelBuilder("two")
    b.joint("turn", "revolute", parent="stand", child="arm", axis=(0, 0, 1), limits=(-3, 3))
    b.shape("stand", pz.Sphere((0.0, 0.6, 0.0), 0.1))
    b.shape("arm", Ellipsoid(pz.SE3.from_parts([0.3, 0.0, 0.0]), (0.3, 0.1, 0.2)))
    model = b.build().with_shapes(b.build().shapes, disabled=[("stand", "world")])
    assert model.shapes["arm"][0] == Ellipsoid(pz.SE3.from_parts([0.3, 0.0, 0.0]), (0.3, 0.1, 0.2))
    near = model.distance([0.5 * np.pi]).distance
    assert near < 0.0 < model.distance([-1.0]).distance
    assert pickle.loads(pickle.dumps(model)).distance([0.5 * np.pi]).distance == near


APART = """<mujoco><worldbody>
<body name="a"><joint name="ja" axis="0 0 1"/><geom type="ellipsoid" size="0.1 0.2 0.3"/></body>
<body name="b" pos="0.15 {y} 0.05"><joint name="jb" type="slide" axis="1 2 0" range="-1 1"/>
<geom type="ellipsoid" size="0.1 0.2 0.3"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize("y", [0.22, 0.27, 0.285, 0.3])
def test_ellipsoids_are_kept_apart_unless_they_meet_at_home_themselves(y: float) -> None:
    """As MuJoCo has it, of which the shapes around them are up to 1 cm off."""
    mujoco = pytest.importorskip("mujoco")
    model, m = pz.load(APART.format(y=y)), mujoco.MjModel.from_xml_string(APART.format(y=y))

    def true(q: Array) -> float:
        d = mujoco.MjData(m)
        d.qpos[:] = q
        mujoco.mj_forward(m, d)
        return float(mujoco.mj_geomDistance(m, d, 0, 1, 1.0, None))

    gap = true(model.home)
    deep = model.home - [0.0, 0.3]
    assert model.in_collision(deep) == (gap > 0.0)
    if gap < 0.0:
        return
    assert gap - 0.01 < model.distance(model.home).distance < gap
    task = pz.PositionTask("b", target=[0.03, y - 0.24, 0.05])  # half way into the other
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pz.ModelWarning)  # they are nearer at home than it asks for
        solved = pz.solve(model, task, limits=[pz.CollisionLimit()])
    assert not solved.success
    assert true(solved.q) > 0.0


def test_what_mujoco_never_looks_at_is_disabled(mjcf: pz.Model) -> None:
    akin = {"ab", "bc", "cd", "ce", "cf"}  # parent and child
    excluded = {"ad"}
    no_bits = {"ae", "be", "de", "af", "bf", "df", "ef"}
    worlds = {frozenset(("world", "e"))}  # the floor and f are a pair
    welded = {frozenset(("welded", other)) for other in "abcef"}  # with b, and so the child of a and the parent of c
    assert mjcf.disabled == {frozenset(pair) for pair in akin | excluded | no_bits} | worlds | welded


def test_height_fields_are_said_to_be_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mujoco")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.xml").write_text(
        '<mujoco><asset><hfield name="hills" nrow="2" ncol="2" size="1 1 1 1"/></asset><worldbody>'
        '<geom type="hfield" hfield="hills"/><body name="a"><geom size="0.1"/></body></worldbody></mujoco>'
    )
    with pytest.warns(pz.ModelWarning, match=r"geoms that are no solid are ignored \(1 hfield\)"):
        assert list(pz.load(tmp_path / "r.xml").shapes) == ["a"]


# Real robots -----------------------------------------------------------------------------------------------------

INSTALLED = installed_robots()


@pytest.mark.filterwarnings("ignore::poise.common.errors.ModelWarning")
@pytest.mark.parametrize(
    ("name", "kinds", "disabled"),
    [
        ("panda_collision", {"Capsule": 13}, 35),
        ("example-robot-data/panda", {"MeshShape": 9, "Box": 8}, 35),
        ("talos", {"MeshShape": 47, "Box": 1, "Cylinder": 4}, 459),
        ("go2", {"MeshShape": 19}, 14),
        ("ur10", {"MeshShape": 7, "Box": 1}, 0),
        ("g1", {"MeshShape": 24, "Sphere": 8, "Cylinder": 4}, 0),
    ],
)
def test_robots_have_the_shapes_of_their_files(name: str, kinds: dict[str, int], disabled: int) -> None:
    if name.split("/")[-1] not in INSTALLED:
        pytest.skip("example-robot-data is not installed")
    model = pz.load(name)
    found: dict[str, int] = {}
    for shape in (shape for shapes in model.shapes.values() for shape in shapes):
        found[type(shape).__name__] = found.get(type(shape).__name__, 0) + 1
        if isinstance(shape, MeshShape):
            assert Path(shape.file).is_file()
    assert found == kinds
    assert len(model.disabled) == disabled
    assert {link for pair in model.disabled for link in pair} <= {*model.links}


@pytest.mark.parametrize("name", ["panda", "iiwa14", "planar3"])
def test_textbook_arms_have_none(name: str) -> None:
    assert dict(pz.load(name).shapes) == {}

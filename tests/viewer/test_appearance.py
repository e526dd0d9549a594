"""What models look like: against the scenes of others, with meshes missing, and without any shape."""

import math
import warnings
from pathlib import Path

import numpy as np
import pytest
from support.refusals import refused

import poise as pz
from poise.common.array import Array
from poise.io.installed import installed_robots
from poise.model.dh import DH
from poise.robots import TEXTBOOK
from poise.viewer.scene.appearance import COLLISION, appearance
from poise.viewer.scene.parts import GREY, Part
from poise.viewer.scene.skeleton import BONE, JOINT_COLOURS, skeleton

trimesh = pytest.importorskip("trimesh")
BAR = pz.Capsule([0, 0, 0], [0, 0, 1], 0.05)


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POISE_CACHE_DIR", str(tmp_path / "cache"))


def sound(parts: tuple[Part, ...]) -> dict[str, Part]:
    """The parts by frame, each of them whole."""
    found = {part.frame: part for part in parts}
    assert len(found) == len(parts)
    for part in parts:
        n, m = len(part.vertices), len(part.faces)
        assert m > 0
        assert (part.vertices.shape, part.faces.shape, part.colours.shape) == ((n, 3), (m, 3), (n, 4))
        assert (part.vertices.dtype, part.faces.dtype, part.colours.dtype) == (np.float32, np.uint32, np.uint8)
        assert np.isfinite(part.vertices).all()
        assert part.faces.max() < n
    return found


def bounds(points: Array) -> Array:
    return np.array([points.min(axis=0), points.max(axis=0)])


def colours(part: Part) -> set[tuple[int, ...]]:
    return {tuple(row) for row in np.unique(part.colours, axis=0).tolist()}


# Against others --------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["panda_collision", "g1", "talos"])
def test_robots_look_as_yourdfpy_draws_them(name: str) -> None:
    yourdfpy = pytest.importorskip("yourdfpy")
    if name not in installed_robots():
        pytest.skip("example-robot-data is not installed")
    file = installed_robots()[name]
    packages = next(parent for parent in file.parents if parent.name == "example-robot-data").parent
    other = yourdfpy.URDF.load(
        str(file), filename_handler=lambda fname: str(packages / fname.removeprefix("package://")), load_meshes=True
    )
    model = pz.load(name)
    q = model.sample(seed=3)
    other.update_cfg({k: v for k, v in model.named(q).items() if k in other.actuated_joint_names})
    graph = other.scene.graph
    wanted: dict[str, list[Array]] = {}
    for node in graph.nodes_geometry:
        place, geometry = graph[node]
        link = node
        while link not in other.link_map:
            link = graph.transforms.parents[link]
        vertices = other.scene.geometry[geometry].vertices
        wanted.setdefault(link, []).append(vertices @ place[:3, :3].T + place[:3, 3])
    found = sound(appearance(model))
    assert found.keys() == wanted.keys()
    root = model.links[0]
    place = model.pose(root, q).inverse() if model.root_path(root) else pz.SE3.identity()
    for link, clouds in wanted.items():
        points = (place @ model.pose(link, q)).act(found[link].vertices)
        np.testing.assert_allclose(bounds(points), bounds(np.concatenate(clouds)), rtol=0, atol=5e-4)


@pytest.mark.filterwarnings("ignore::poise.common.errors.ModelWarning")
def test_a_model_of_mujoco_looks_as_mujoco_has_it() -> None:
    mujoco = pytest.importorskip("mujoco")
    gymnasium = pytest.importorskip("gymnasium")
    file = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets" / "humanoid.xml"
    m = mujoco.MjModel.from_xml_path(str(file))
    d = mujoco.MjData(m)
    model = pz.load(file)
    q = model.home
    d.qpos[:] = q
    mujoco.mj_forward(m, d)
    wanted: dict[str, list[Array]] = {}
    for i in range(m.ngeom):
        if m.geom_bodyid[i]:  # spheres and capsules
            straight = m.geom_size[i, 1] * np.abs(d.geom_xmat[i].reshape(3, 3)[:, 2])
            half = straight + m.geom_size[i, 0]
            wanted.setdefault(m.body(m.geom_bodyid[i]).name, []).append(d.geom_xpos[i] + np.array([-half, half]))
    found = sound(appearance(model))
    assert found.keys() == wanted.keys() | {"world"}
    for body, boxes in wanted.items():
        points = model.pose(body, q).act(found[body].vertices)
        np.testing.assert_allclose(bounds(points), bounds(np.concatenate(boxes)), rtol=0, atol=2e-3)


def test_meshes_of_mujoco_are_where_it_has_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mujoco = pytest.importorskip("mujoco")
    monkeypatch.chdir(tmp_path)
    wedge = trimesh.convex.convex_hull(np.random.default_rng(0).normal(size=(20, 3)))
    wedge.export(tmp_path / "wedge.stl")
    geoms = "".join(
        f'<geom type="mesh" mesh="m{i}" pos="{i} 2 3" euler="10 20 {i}" rgba="1 0 {i} 1"/>' for i in range(2)
    )
    (tmp_path / "r.xml").write_text(
        '<mujoco><asset><mesh name="m0" file="wedge.stl" scale="1 -2 3"/>'
        '<mesh name="m1" file="wedge.stl" refpos="1 2 3" refquat="1 2 3 4"/></asset>'
        f'<worldbody><body name="a" pos="1 1 1" euler="30 0 0"><joint/>{geoms}</body></worldbody></mujoco>'
    )
    m = mujoco.MjModel.from_xml_path("r.xml")
    d = mujoco.MjData(m)
    mujoco.mj_forward(m, d)
    model = pz.load(tmp_path / "r.xml")
    part = sound(appearance(model))["a"]
    place = model.pose("a", model.home)
    for i in range(2):
        first, count = m.mesh_vertadr[i], m.mesh_vertnum[i]
        wanted = m.mesh_vert[first : first + count] @ d.geom_xmat[i].reshape(3, 3).T + d.geom_xpos[i]
        found = place.act(part.vertices[part.colours[:, 2] == 255 * i])
        np.testing.assert_allclose(bounds(found), bounds(wanted), rtol=0, atol=1e-5)
    assert trimesh.Trimesh(part.vertices.astype(float), part.faces, process=False).volume > 0.0


# Which shapes ----------------------------------------------------------------------------------------------------


def test_visuals_go_first_and_a_link_that_a_file_leaves_out_is_unseen() -> None:
    b = pz.ModelBuilder("arm")
    b.joint("shoulder", "revolute", parent="base", child="upper")
    b.joint("elbow", "revolute", parent="upper", child="lower", origin=pz.SE3.from_parts([0, 0, 1]))
    b.shape("upper", BAR)
    b.shape("lower", BAR)
    bare = b.build()
    b.visual("upper", pz.Visual(pz.Sphere([0, 0, 0], 0.2), (1, 0, 0, 0.5)), pz.Visual(BAR))
    dressed = b.build()
    found = sound(appearance(dressed))
    assert found.keys() == {"upper"}
    assert colours(found["upper"]) == {(255, 0, 0, 128), GREY}
    np.testing.assert_allclose(bounds(found["upper"].vertices), [[-0.2, -0.2, -0.2], [0.2, 0.2, 1.05]], atol=1e-6)
    found = sound(appearance(bare))
    assert found.keys() == {"base", "upper", "lower"}
    assert colours(found["upper"]) == {COLLISION}
    assert colours(found["base"]) == {JOINT_COLOURS["fixed"]}
    assert sound(appearance(bare, look="visual")) == {}
    assert sound(appearance(dressed, look="collision")).keys() == {"upper", "lower"}
    assert colours(sound(appearance(dressed, look="skeleton"))["upper"]) == {BONE, JOINT_COLOURS["revolute"]}


def test_every_shape_is_drawn() -> None:
    pose = pz.SE3.from_xyz_rpy([0.1, 0.2, 0.3], [0.4, 0.5, 0.6])
    b = pz.ModelBuilder("zoo")
    b.link("a")
    b.shape("a", pz.Sphere([1, 2, 3], 0.5), pz.Box(pose, (1, 2, 3)), BAR, pz.ConvexHull(np.eye(3), 0.1))
    b.shape("world", pz.HalfSpace([0, 0, 0.5], [0, 0, 1]))
    found = sound(appearance(b.build()))
    assert found.keys() == {"world", "a"}
    floor = found["world"].vertices
    assert (floor[:, 2] == 0.5).all()
    assert np.ptp(floor, axis=0)[:2] == pytest.approx([0.6, 0.6])


def test_colours_of_a_mesh_go_before_those_of_its_material(tmp_path: Path) -> None:
    mesh = trimesh.creation.box((1, 1, 1))
    mesh.export(tmp_path / "plain.stl")
    mesh.visual = trimesh.visual.ColorVisuals(mesh, face_colors=np.tile(np.uint8([1, 2, 3, 255]), (12, 1)))
    mesh.export(tmp_path / "painted.ply")
    b = pz.ModelBuilder("two")
    b.joint("weld", "fixed", parent="a", child="b")
    b.visual("a", pz.Visual(pz.MeshShape(str(tmp_path / "plain.stl")), (0, 1, 0)))
    b.visual("b", pz.Visual(pz.MeshShape(str(tmp_path / "painted.ply")), (0, 1, 0)))
    found = sound(appearance(b.build()))
    assert (colours(found["a"]), colours(found["b"])) == ({(0, 255, 0, 255)}, {(1, 2, 3, 255)})


def test_a_mesh_is_placed_scaled_and_mirrored(tmp_path: Path) -> None:
    mesh = trimesh.creation.box((1, 2, 3))
    mesh.apply_translation([0.5, 1, 1.5])
    mesh.export(tmp_path / "a.stl")
    pose = pz.SE3.from_xyz_rpy([1, 0, 0], [0, 0, math.pi / 2])
    b = pz.ModelBuilder("one")
    b.link("a")
    b.visual("a", pz.Visual(pz.MeshShape(str(tmp_path / "a.stl"), pose, (0.1, -0.1, 0.1))))
    part = sound(appearance(b.build()))["a"]
    np.testing.assert_allclose(bounds(part.vertices), [[1, 0, 0], [1.2, 0.1, 0.3]], atol=1e-6)
    turned = trimesh.Trimesh(part.vertices.astype(float), part.faces, process=False)
    assert turned.volume == pytest.approx(6e-3, rel=1e-5)


# Meshes that are not there ---------------------------------------------------------------------------------------


def robot(folder: Path, *, collisions: bool) -> Path:
    (folder / "broken.stl").write_text("no mesh at all")
    (folder / "empty.obj").write_text("v 0 0 0\n")
    links = []
    for name, mesh in {"a": "missing.dae", "b": "broken.stl", "c": "empty.obj"}.items():
        visual = f'<visual><geometry><mesh filename="{mesh}"/></geometry></visual>'
        collision = '<collision><geometry><sphere radius="0.1"/></geometry></collision>' if collisions else ""
        links.append(f'<link name="{name}">{visual}{collision}</link>')
    joints = [
        f'<joint name="{child}" type="continuous"><parent link="{parent}"/><child link="{child}"/>'
        '<origin xyz="0 0 0.5"/></joint>'
        for parent, child in ("ab", "bc")
    ]
    ball = '<link name="d"><visual><geometry><sphere radius="0.2"/></geometry></visual></link>'
    joints.append('<joint name="d" type="fixed"><parent link="c"/><child link="d"/></joint>')
    (folder / "r.urdf").write_text(f'<robot name="r">{"".join([*links, ball, *joints])}</robot>')
    return folder / "r.urdf"


@pytest.mark.parametrize("collisions", [True, False])
def test_a_mesh_that_is_not_there_is_no_error(tmp_path: Path, collisions: bool) -> None:
    with pytest.warns(pz.ModelWarning, match="mesh not found"):
        model = pz.load(robot(tmp_path, collisions=collisions))
    with pytest.warns(pz.ModelWarning) as caught:
        found = sound(appearance(model))
    (warning,) = caught
    message = str(warning.message)
    assert "r: 3 meshes cannot be drawn" in message
    for part in ("missing.dae: is not there; load the model with package_dirs", "broken.stl", "empty.obj"):
        assert part in message
    assert found.keys() == set("abcd")
    assert colours(found["d"]) == {GREY}
    wanted = {COLLISION} if collisions else {BONE, JOINT_COLOURS["continuous"]}
    assert colours(found["b"]) == wanted
    assert warning.filename == __file__


def test_a_link_with_one_of_two_meshes_is_drawn_by_its_shapes_or_by_what_there_is() -> None:
    b = pz.ModelBuilder("half")
    b.link("a")
    b.visual("a", pz.Visual(BAR, (1, 0, 0)), pz.Visual(pz.MeshShape("missing.stl")))
    with pytest.warns(pz.ModelWarning, match="1 mesh cannot be drawn"):
        assert colours(sound(appearance(b.build()))["a"]) == {(255, 0, 0, 255)}
    b.shape("a", BAR)
    with pytest.warns(pz.ModelWarning, match="1 mesh cannot be drawn"):
        assert colours(sound(appearance(b.build()))["a"]) == {COLLISION}


def test_without_trimesh_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trimesh.creation.box((1, 1, 1)).export(tmp_path / "a.stl")
    b = pz.ModelBuilder("a")
    b.link("a")
    b.visual("a", pz.Visual(pz.MeshShape(str(tmp_path / "a.stl"))))
    monkeypatch.setitem(__import__("sys").modules, "trimesh", None)
    with pytest.raises(pz.MissingExtra, match=r'drawing meshes needs trimesh: pip install "poise\[viewer\]"'):
        appearance(b.build())


# Skeletons -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TEXTBOOK)
def test_every_textbook_mechanism_has_a_skeleton(name: str) -> None:
    model = pz.load(name)
    found = sound(appearance(model))
    moved = {joint.child for joint in model.joints if joint.kind is not pz.JointKind.FIXED}
    assert moved <= found.keys() <= {*model.links, "world"}
    # Bones lead from link to link, and rails to the ends of slides: nothing lies much further than the frames do.
    slides = [joint for joint in model.joints if joint.kind is pz.JointKind.PRISMATIC]
    ends = [model.q({joint.name: end}) for joint in slides for end in (*joint.lower, *joint.upper)]
    places = np.concatenate([model.pose(link, np.array([model.home, *ends])).xyz for link in model.links])
    drawn = np.concatenate([model.pose(f, model.home).act(part.vertices) for f, part in found.items()])
    size = max(np.ptp(places, axis=0).max(), 0.1)
    assert np.abs(bounds(drawn) - bounds(places)).max() < 0.35 * size


def test_a_bone_leads_from_each_link_to_its_joints_and_at_the_end_to_its_frames() -> None:
    b = pz.ModelBuilder("fork")
    b.joint("turn", "revolute", parent="base", child="stem", axis=(1, 0, 0))
    b.joint("left", "spherical", parent="stem", child="l", origin=pz.SE3.from_parts([0, 1, 1]))
    b.joint("right", "fixed", parent="stem", child="r", origin=pz.SE3.from_parts([0, -1, 1]))
    b.frame("inside", link="stem", origin=pz.SE3.from_parts([9, 0, 0]))
    b.frame("tip", link="l", origin=pz.SE3.from_parts([0.5, 0, 0]))
    found = sound(appearance(b.build()))
    stem, left, right = (found[link] for link in ("stem", "l", "r"))
    for end in ([0, 1, 1], [0, -1, 1]):
        assert (np.abs(stem.vertices - end).max(axis=1) < 1e-6).any()
    hinge = stem.vertices[(stem.colours == JOINT_COLOURS["revolute"]).all(axis=1)]
    assert np.argmax(np.ptp(hinge, axis=0)) == 0
    assert left.vertices[:, 0].max() == pytest.approx(0.5)
    assert colours(left) == {BONE, JOINT_COLOURS["spherical"]}
    assert colours(right) == {JOINT_COLOURS["fixed"]}
    assert stem.vertices[:, 0].max() < 0.5
    for part in found.values():
        mesh = trimesh.Trimesh(part.vertices.astype(float), part.faces, process=True)
        assert mesh.is_winding_consistent
        assert mesh.volume > 0.0


@pytest.mark.parametrize("kind", list(pz.JointKind))
def test_each_kind_of_joint_has_its_colour_and_moves_with_its_link(kind: pz.JointKind) -> None:
    b = pz.ModelBuilder("one")
    b.joint("j", kind, parent="base", child="link", axis=(0, 1, 0), origin=pz.SE3.from_parts([0, 0, 1]))
    found = sound(appearance(b.build()))
    assert colours(found["link"]) == {JOINT_COLOURS[kind]}
    assert len(set(JOINT_COLOURS.values())) == len(pz.JointKind)


def test_a_slide_shows_as_far_as_it_goes() -> None:
    for parent in ("base", "world"):
        b = pz.ModelBuilder("slide")
        b.joint("x", "prismatic", parent=parent, child="cart", axis=(1, 0, 0), limits=(-0.1, 0.15))
        b.joint("y", "prismatic", parent="cart", child="boom", axis=(0, 1, 0), origin=pz.SE3.from_parts([0, 0, 1]))
        found = sound(appearance(b.build()))
        low, high = bounds(found[parent].vertices)
        assert (low[0], high[0]) == pytest.approx((-0.2, 0.25))
        assert np.isfinite(found["cart"].vertices).all()


def test_links_without_length_and_models_without_joints_are_drawn() -> None:
    b = pz.ModelBuilder("wrist")
    for i in range(3):
        b.joint(f"j{i}", "revolute", parent=f"l{i}", child=f"l{i + 1}", axis=np.eye(3)[i])
    assert sound(appearance(b.build())).keys() == {"l0", "l1", "l2", "l3"}
    b = pz.ModelBuilder("stone")
    b.link("stone")
    for base in ("fixed", "planar", "floating"):
        (part,) = sound(appearance(b.build(base=base))).values()
        assert 0.01 < np.ptp(part.vertices, axis=0).max() < 1.0
    assert appearance(pz.ModelBuilder("nothing").build()) == ()


def test_tables_of_denavit_and_hartenberg_are_drawn() -> None:
    rows = [DH(0.0, math.pi / 2, 0.4), DH(0.3, 0.0, 0.0), DH(0.0, 0.0, 0.1, kind="prismatic", limits=(0.0, 0.2))]
    for convention in ("standard", "modified"):
        model = pz.from_dh(rows, convention=convention, tool=pz.SE3.from_parts([0, 0, 0.1]))
        found = sound(appearance(model))
        assert {joint.child for joint in model.joints if joint.nq} <= found.keys()


def test_a_thousand_links_are_drawn_from_few_primitives() -> None:
    b = pz.ModelBuilder("snake")
    for i in range(1000):
        b.joint(f"j{i}", "revolute", parent=f"l{i}", child=f"l{i + 1}", origin=pz.SE3.from_parts([0.01, 0, 0]))
    found = sound(appearance(b.build()))
    assert len(found) == 1001
    assert sum(len(part.vertices) for part in found.values()) < 300_000
    np.testing.assert_array_equal(found["l3"].vertices, found["l900"].vertices)


def test_an_unknown_look_is_refused_and_nothing_is_warned_of() -> None:
    model = pz.load("panda")
    with refused("unknown-word", "look", "'bones'"):
        appearance(model, look="bones")  # type: ignore[arg-type]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert {part.frame for part in appearance(model)} == skeleton(model).keys()

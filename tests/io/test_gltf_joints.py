"""Skeletons and animations of glTF files, against SciPy's interpolation and products of matrices."""

import base64
import copy
import json
import re
import struct
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.interpolate import CubicHermiteSpline
from scipy.spatial.transform import Rotation, Slerp
from support.captures import ASSIMP, needs_assimp
from support.gltf_files import KEYS, Gltf, arm, placed, pose_matrix, turns, walking

from poise.common.errors import ModelError, NameNotFound
from poise.io.gltf_joints import WEBXR_PARENTS, GltfJoints
from poise.io.gltf_joints import read_joints as joints_of

CORPUS = ASSIMP / "glTF2"


def read(gltf: Gltf, folder: Path, **options: Any) -> GltfJoints:
    return read_joints(gltf.saved(folder), **options)


def read_joints(
    file: Path, *, skin: int | str | None = None, animation: int | str | None = None, fps: float | None = None
) -> GltfJoints:
    return joints_of(file, skin=skin, animation=animation, fps=fps)


def check_sound(skeleton: GltfJoints) -> None:
    n, frames = len(skeleton.names), len(skeleton.times)
    assert len(set(skeleton.names)) == n == len(skeleton.parents) > 0
    assert skeleton.parents[0] == -1
    assert all(0 <= parent < i for i, parent in enumerate(skeleton.parents[1:], 1))
    assert skeleton.rest_xyz.shape == (n, 3)
    assert skeleton.xyz.shape == (frames, n, 3)
    assert frames > 0
    assert (np.diff(skeleton.times) > 0).all()
    for array in (skeleton.rest_xyz, skeleton.xyz, skeleton.times):
        assert np.isfinite(array).all()
    for wxyz in (skeleton.rest_wxyz, skeleton.wxyz):
        assert wxyz.shape[-2:] == (n, 4)
        np.testing.assert_allclose(np.linalg.norm(wxyz, axis=-1), 1.0, rtol=0, atol=1e-9)


small = st.floats(-2.0, 2.0)
quaternions = st.tuples(small, small, small, small).filter(lambda q: np.linalg.norm(q) > 0.1)
quick = settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


@st.composite
def trees(draw: st.DrawFn) -> tuple[list[dict[str, Any]], list[int], list[int]]:
    """Nodes, the node above each, and joints among them."""
    count = draw(st.integers(2, 7))
    above = [-1, *(draw(st.integers(0, i - 1)) for i in range(1, count))]
    nodes: list[dict[str, Any]] = []
    for i in range(count):
        turn = np.array(draw(quaternions))
        scale = draw(st.sampled_from([0.01, 0.5, 1.0, 3.0]))
        node: dict[str, Any] = {
            "name": f"n{i}",
            "translation": [draw(small) for _ in range(3)],
            "rotation": (turn / np.linalg.norm(turn)).tolist(),
            "scale": [scale] * 3,
        }
        if draw(st.booleans()):
            node = {"name": f"n{i}", "matrix": pose_matrix(node).T.ravel().tolist()}
        node["children"] = [child for child in range(count) if above[child] == i]
        nodes.append(node)
    joints = draw(st.permutations(range(count)))[: draw(st.integers(1, count))]
    return nodes, above, joints


@quick
@given(trees())
def test_joints_stand_where_the_products_of_matrices_say(tmp_path: Path, tree: Any) -> None:
    nodes, above, joints = tree
    world: list[np.ndarray] = []
    for number, node in enumerate(nodes):
        world.append((np.eye(4) if above[number] < 0 else world[above[number]]) @ pose_matrix(node))
    skeleton = read(Gltf(nodes, joints), tmp_path)
    check_sound(skeleton)
    assert {f"n{joint}" for joint in joints} <= set(skeleton.names)
    assert len(skeleton.names) <= len(joints) + 1
    for pose in (
        placed(skeleton.parents, skeleton.rest_xyz, skeleton.rest_wxyz),
        placed(skeleton.parents, skeleton.xyz[0], skeleton.wxyz[0]),
    ):
        for name, matrix in zip(skeleton.names, pose, strict=True):
            wanted = world[int(name[1:])]
            np.testing.assert_allclose(matrix[:3, 3], wanted[:3, 3], atol=1e-9)
            turned = wanted[:3, :3] / np.cbrt(np.linalg.det(wanted[:3, :3]))
            np.testing.assert_allclose(matrix[:3, :3], turned, atol=1e-9)


def test_joints_keep_the_axes_of_the_file(tmp_path: Path) -> None:
    skeleton = read(Gltf(arm(translation=[1, 2, 3]), [0, 1, 2]), tmp_path)
    assert skeleton.names == ("upper", "lower", "hand")
    assert skeleton.parents == (-1, 0, 1)
    places = placed(skeleton.parents, skeleton.xyz[0], skeleton.wxyz[0])[:, :3, 3]
    np.testing.assert_allclose(places, [[1, 2, 3], [1, 2.3, 3], [1, 2.5, 3.1]], atol=1e-12)


def test_scale_becomes_length(tmp_path: Path) -> None:
    skeleton = read(Gltf(arm(scale=[0.01, 0.01, 0.01]), [0, 1, 2]), tmp_path)
    np.testing.assert_allclose(skeleton.rest_xyz[1], [0, 0.003, 0], atol=1e-15)
    np.testing.assert_allclose(skeleton.rest_xyz[2], [0, 0.002, 0.001], atol=1e-15)


@pytest.mark.parametrize(
    ("scale", "message"),
    [
        ([1, 1, 2], "nodes[0].scale: the scale (1, 1, 2) differs along the axes"),
        ([-1, -1, -1], "nodes[0].scale: a scale that is not positive mirrors"),
        ([0, 0, 0], "nodes[0].scale: a scale that is not positive"),
    ],
)
def test_scales_that_bend_are_refused(tmp_path: Path, scale: list[int], message: str) -> None:
    with pytest.raises(ModelError, match=re.escape(message)):
        read(Gltf(arm(scale=scale), [0, 1, 2]), tmp_path)
    with pytest.raises(ModelError, match=r"animations\[0\]\.samplers\[0\]\.output: (the|a) scale"):
        read(Gltf(arm(), [0, 1, 2]).animate(0, "scale", [0, 1], [[1, 1, 1], scale]), tmp_path)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.diag([1.0, 1, 2, 1]), "differs along the axes"),
        (np.diag([1.0, 1, -1, 1]), "mirrors"),
        (np.eye(4) + np.eye(4, k=1) * 0.1, "last row"),
    ],
)
def test_matrices_that_are_no_poses_are_refused(tmp_path: Path, matrix: np.ndarray, message: str) -> None:
    with pytest.raises(ModelError, match=rf"nodes\[0\]\.matrix: .*{message}"):
        read(Gltf(arm(matrix=matrix.ravel().tolist()), [0, 1, 2]), tmp_path)


# Skins -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", [1.0, 100.0])
def test_rest_is_the_bind_pose_in_any_unit(tmp_path: Path, unit: float) -> None:
    """The nodes stand bent, the skin was bound straight."""
    nodes = arm(scale=[0.5] * 3)
    nodes[1]["rotation"] = [0.6, 0, 0, 0.8]
    bound = [pose_matrix(node) for node in arm()]
    world = [bound[0], bound[0] @ bound[1], bound[0] @ bound[1] @ bound[2]]
    inverse = [np.linalg.inv(np.diag([unit, unit, unit, 1.0]) @ matrix) for matrix in world]
    gltf = Gltf(nodes, [2, 0, 1])
    gltf.json["skins"][0]["inverseBindMatrices"] = gltf.accessor([inverse[i].T.ravel() for i in (2, 0, 1)])
    skeleton = read(gltf, tmp_path)
    np.testing.assert_allclose(skeleton.rest_xyz[1:], [[0, 0.15, 0], [0, 0.1, 0.05]], atol=1e-7)
    np.testing.assert_allclose(skeleton.rest_wxyz[1:], [[1, 0, 0, 0]] * 2, atol=1e-7)
    np.testing.assert_allclose(skeleton.wxyz[0, 1], [0.8, 0.6, 0, 0], atol=1e-12)
    assert skeleton.notes == ()


def test_a_bind_pose_with_other_bones_is_not_believed(tmp_path: Path) -> None:
    gltf = Gltf(arm(), [0, 1, 2])
    gltf.json["skins"][0]["inverseBindMatrices"] = gltf.accessor([np.eye(4).ravel()] * 3)
    skeleton = read(gltf, tmp_path)
    np.testing.assert_allclose(skeleton.rest_xyz[1], [0, 0.3, 0], atol=1e-12)
    assert "bones of the bind pose" in skeleton.notes[0]


def test_nodes_between_joints_are_part_of_the_bone(tmp_path: Path) -> None:
    skeleton = read(Gltf(arm(), [0, 2]), tmp_path)
    assert (skeleton.names, skeleton.parents) == (("upper", "hand"), (-1, 0))
    np.testing.assert_allclose(skeleton.rest_xyz[1], [0, 0.5, 0.1], atol=1e-12)


def test_joints_without_one_above_get_the_node_above_all(tmp_path: Path) -> None:
    nodes = [{"name": "body", "children": [1, 2]}, {"name": "left"}, {"name": "right", "translation": [1, 0, 0]}]
    skeleton = read(Gltf(nodes, [1, 2]), tmp_path)
    assert (skeleton.names, skeleton.parents) == (("body", "left", "right"), (-1, 0, 0))
    assert "became the root" in skeleton.notes[0]
    with pytest.raises(ModelError, match=r"nodes\[2\]: is a joint, and no node is above both"):
        read(Gltf([{"children": [1]}, {}, {}], [1, 2]), tmp_path)


def test_names_are_made_unique(tmp_path: Path) -> None:
    nodes = [{"children": [1, 2, 3]}, {"name": "a"}, {"name": "a"}, {"name": "a_2"}]
    skeleton = read(Gltf(nodes, [0, 1, 2, 3]), tmp_path)
    assert skeleton.names == ("node0", "a", "a_3", "a_2")
    assert "nodes[0] is 'node0', nodes[2] is 'a_3'" in skeleton.notes[0]


def test_the_tree_of_a_webxr_hand_is_built_by_its_names(tmp_path: Path) -> None:
    names = sorted(WEBXR_PARENTS)
    nodes: list[dict[str, Any]] = [{"name": name, "translation": [i, 0, 0]} for i, name in enumerate(names)]
    nodes.append({"name": "Armature", "children": [*range(25)]})
    skeleton = read(Gltf(nodes, [*range(25)]), tmp_path)
    assert len(skeleton.names) == 25
    assert skeleton.names[:3] == ("wrist", "thumb-metacarpal", "thumb-phalanx-proximal")
    above = {
        name: skeleton.names[p] if p >= 0 else None for name, p in zip(skeleton.names, skeleton.parents, strict=True)
    }
    assert above == WEBXR_PARENTS
    places = placed(skeleton.parents, skeleton.xyz[0], skeleton.wxyz[0])[:, 0, 3]
    np.testing.assert_allclose(places, [names.index(name) for name in skeleton.names], atol=1e-12)
    renamed = [*nodes[:24], nodes[24] | {"name": "wrist_L"}, nodes[25]]
    assert read(Gltf(renamed, [*range(25)]), tmp_path).names[0] == "Armature"


def test_skins_and_animations_are_chosen(tmp_path: Path) -> None:
    gltf = Gltf(arm(), [0])
    gltf.json["skins"] = [{"joints": [2], "name": "glove"}, {"joints": [0, 1]}]
    gltf.animate(0, "translation", [0, 1], [[0, 0, 0], [1, 0, 0]])
    gltf.json["animations"].append(gltf.json["animations"][0] | {"name": "run", "channels": []})
    assert read(gltf, tmp_path).names == ("upper", "lower")
    assert read(gltf, tmp_path).name == "walk"
    assert read(gltf, tmp_path).notes == (
        "the file has 2 skins, and '1' was read; skin chooses another: 'glove'",
        "the file has 2 animations, and 'walk' was read; animation chooses another: 'run'",
    )
    assert read(gltf, tmp_path, skin="glove").names == read(gltf, tmp_path, skin=0).names == ("hand",)
    assert read(gltf, tmp_path, animation="run").name == read(gltf, tmp_path, animation=1).name == "run"
    with pytest.raises(NameNotFound, match="no animation 'rum'; did you mean 'run'"):
        read(gltf, tmp_path, animation="rum")
    with pytest.raises(NameNotFound, match="no skin '2'; available: 'glove', '1'"):
        read(gltf, tmp_path, skin=2)


def test_without_a_skin_the_joints_are_what_moves(tmp_path: Path) -> None:
    gltf = Gltf(arm()).animate(2, "rotation", [0, 1], [[0, 0, 0, 1]] * 2).animate(0, "translation", [0], [[1, 0, 0]])
    assert read(gltf, tmp_path).names == ("upper", "hand")
    with pytest.raises(ModelError, match="neither a skin nor an animation"):
        read(Gltf(arm()), tmp_path)


# Animations ------------------------------------------------------------------------------------------------------


def test_linear_is_even_speed_the_shorter_way(tmp_path: Path) -> None:
    xyzw, xyz = turns(1) * [[1], [-1], [1], [-1]], np.random.default_rng(2).normal(size=(4, 3)).astype(np.float32)
    gltf = Gltf(arm(), [0, 1, 2]).animate(1, "rotation", KEYS, xyzw).animate(1, "translation", KEYS, xyz)
    skeleton = read(gltf, tmp_path, fps=30)
    assert len(skeleton.times) == 46
    np.testing.assert_allclose(skeleton.times, 0.5 + np.arange(46) / 30)
    found = Rotation.from_quat(skeleton.wxyz[:, 1], scalar_first=True)
    wanted = Slerp(KEYS, Rotation.from_quat(xyzw))(skeleton.times)
    assert (found * wanted.inv()).magnitude().max() < 1e-7
    wanted_xyz = np.stack([np.interp(skeleton.times, KEYS, column) for column in xyz.T], axis=1)
    np.testing.assert_allclose(skeleton.xyz[:, 1], wanted_xyz, atol=1e-12)
    assert ((skeleton.wxyz[1:] * skeleton.wxyz[:-1]).sum(axis=-1) >= 0).all()


def test_step_holds_until_the_next_key(tmp_path: Path) -> None:
    values = np.arange(12.0).reshape(4, 3)
    gltf = Gltf(arm(), [0, 1, 2]).animate(1, "translation", KEYS, values, "STEP")
    gltf.animate(2, "translation", [0.0, 1.0, 3.0], values[:3])  # brings frames before, between and after
    skeleton = read(gltf, tmp_path)
    assert skeleton.times.tolist() == [0, 0.5, 0.75, 1, 1.5, 2, 3]
    np.testing.assert_array_equal(skeleton.xyz[:, 1], values[[0, 0, 1, 1, 2, 3, 3]])


def test_cubic_splines(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    into, values, out = rng.normal(size=(3, 4, 3)).astype(np.float32).astype(float)
    gltf = Gltf(arm(), [0, 1, 2])
    gltf.animate(1, "translation", KEYS, np.stack([into, values, out], axis=1).reshape(-1, 3), "CUBICSPLINE")
    xyzw, slope = turns(4), rng.normal(size=(4, 4)).astype(np.float32).astype(float)
    gltf.animate(1, "rotation", KEYS, np.stack([slope, xyzw, slope], axis=1).reshape(-1, 4), "CUBICSPLINE")
    skeleton = read(gltf, tmp_path, fps=50)
    for i in range(3):
        piece = CubicHermiteSpline(KEYS[i : i + 2], values[i : i + 2], np.array([out[i], into[i + 1]]))
        among = (skeleton.times >= KEYS[i]) & (skeleton.times <= KEYS[i + 1])
        np.testing.assert_allclose(skeleton.xyz[among, 1], piece(skeleton.times[among]), atol=1e-12)
    wanted = Rotation.from_quat(CubicHermiteSpline(KEYS, xyzw, slope)(skeleton.times))
    assert (Rotation.from_quat(skeleton.wxyz[:, 1], scalar_first=True) * wanted.inv()).magnitude().max() < 1e-6


def test_animated_scale_becomes_length(tmp_path: Path) -> None:
    gltf = Gltf(arm(), [0, 1, 2]).animate(0, "scale", [0, 1], [[1, 1, 1], [2, 2, 2]])
    np.testing.assert_allclose(read(gltf, tmp_path).xyz[:, 1], [[0, 0.3, 0], [0, 0.6, 0]], atol=1e-12)


@pytest.mark.parametrize("code", "bBhH")
def test_normalised_integers_are_fractions(tmp_path: Path, code: str) -> None:
    most = {"b": 127, "B": 255, "h": 32767, "H": 65535}[code]
    xyzw = np.round(np.abs(turns(5)) * most)
    gltf = Gltf(arm(), [0, 1, 2])
    gltf.animate(1, "rotation", KEYS, gltf.accessor(xyzw, code, normalized=True))
    found = Rotation.from_quat(read(gltf, tmp_path).wxyz[:, 1], scalar_first=True)
    assert (found * Rotation.from_quat(xyzw).inv()).magnitude().max() < 1e-7
    if code in "bh":  # the least integer is -1 too, which the format says in words
        gltf = Gltf(arm(), [0, 1, 2])
        least = gltf.accessor([[-most - 1, 0, 0]], code, normalized=True)
        assert read(gltf.animate(1, "translation", [0], least), tmp_path).xyz[0, 1, 0] == -1.0


def test_strides_and_sparse_accessors(tmp_path: Path) -> None:
    values = np.arange(12.0).reshape(4, 3)
    gltf = Gltf(arm(), [0, 1, 2])
    rows = np.zeros((4, 5), "<f4")
    rows[:, 1:4] = values
    strided = gltf.add(4, 3, bufferView=gltf.view(rows.tobytes(), byteStride=20), byteOffset=4)
    gltf.animate(0, "translation", KEYS, strided)
    sparse = {
        "count": 2,
        "indices": {"bufferView": gltf.view(np.array([1, 3], "<u2").tobytes()), "componentType": 5123},
        "values": {"bufferView": gltf.view(np.full((2, 3), 7.0, "<f4").tobytes())},
    }
    gltf.animate(1, "translation", KEYS, gltf.add(4, 3, sparse=sparse))
    gltf.animate(2, "translation", KEYS, gltf.accessor(values, sparse=sparse))
    skeleton = read(gltf, tmp_path)
    np.testing.assert_allclose(skeleton.xyz[:, 0], values, atol=1e-12)
    np.testing.assert_array_equal(skeleton.xyz[:, 1], [[0] * 3, [7] * 3, [0] * 3, [7] * 3])
    np.testing.assert_array_equal(skeleton.xyz[:, 2], [values[0], [7] * 3, values[2], [7] * 3])


# Files -----------------------------------------------------------------------------------------------------------


def test_all_containers_say_the_same(tmp_path: Path) -> None:
    gltf, folder = walking(), tmp_path / "here"
    (folder / "buffers").mkdir(parents=True)
    expected = read(gltf, tmp_path)
    (folder / "buffers" / "a b.bin").write_bytes(gltf.data + b"more")
    percent = "data:;base64," + base64.b64encode(gltf.data).decode().replace("=", "%3D")
    for text in (gltf.text(), gltf.text("buffers/a%20b.bin"), gltf.text(percent), "\ufeff" + gltf.text()):
        (folder / "test.gltf").write_text(text, "utf-8")
        skeleton = read_joints(folder / "test.gltf")
        np.testing.assert_array_equal(skeleton.xyz, expected.xyz)
        np.testing.assert_array_equal(skeleton.wxyz, expected.wxyz)


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("../secret.bin", "not within the folder"),
        ("..%2Fsecret.bin", "not within the folder"),
        ("link.bin", "not within the folder"),
        ("/etc/passwd", "not within the folder"),
        ("file:///etc/passwd", "not within the folder"),
        ("https://example.org/a.bin", "not within the folder"),
        ("none.bin", "no such file"),
        ("%00", "name"),
        ("a" * 5000, "cannot be read"),
        (".", "no such file"),
        ("data:;base64,???", "is not base64"),
        ("data:;base64", "without a comma"),
        ("data:,short", "the file was cut off"),
    ],
)
def test_only_files_of_the_folder_are_read(tmp_path: Path, uri: str, message: str) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    (tmp_path / "secret.bin").write_bytes(walking().data)
    (folder / "link.bin").symlink_to(tmp_path / "secret.bin")
    gltf = walking()
    (folder / "test.gltf").write_text(gltf.text(uri))
    with pytest.raises(ModelError, match=rf"test\.gltf: buffers\[0\]\.\w+: .*{message}"):
        read_joints(folder / "test.gltf")


def at(*path: str | int) -> Callable[[dict[str, Any], Any], None]:
    def put(document: dict[str, Any], value: Any) -> None:
        for key in path[:-1]:
            document = document[key]  # type: ignore[index]
        document[path[-1]] = value  # type: ignore[index]

    return put


@pytest.mark.parametrize(
    ("put", "value", "message"),
    [
        (at("asset"), {}, "asset.version: '' is not a version"),
        (at("asset", "version"), "1.0", "asset.version: '1.0' is not a version"),
        (at("nodes"), {}, "nodes: {} is not a list"),
        (at("nodes", 1), 3, "nodes[1]: is not an object"),
        (at("nodes", 1, "translation"), [1, 2], "nodes[1].translation: [1, 2] is not a list of 3 numbers"),
        (at("nodes", 1, "translation"), [1, 2, "3"], "nodes[1].translation: [1, 2, '3'] is not a list of 3 numbers"),
        (at("nodes", 1, "translation"), [1e300, 0, 0], "nodes[1].translation: is too far away"),
        (at("nodes", 1, "translation"), [10**400, 0, 0], "is not a list of finite numbers"),
        (at("nodes", 1, "rotation"), [0, 0, 0, 0], "nodes[1].rotation: a rotation is a quaternion of length 1"),
        (at("nodes", 1, "name"), 3, "nodes[1].name: 3 is not a text"),
        (at("nodes", 2, "matrix"), [1] * 15, "nodes[2].matrix: [1, 1, 1, 1, 1, 1, ...] is not a list of 16 numbers"),
        (at("nodes", 1, "matrix"), np.eye(4).ravel().tolist(), "node 1 has a matrix, which cannot be animated"),
        (at("nodes", 2, "children"), [0], "nodes[0].children: the nodes go round in a circle"),
        (at("nodes", 2, "children"), [1], "nodes[2].children: node 1 is a child of node 0 already"),
        (at("nodes", 2, "children"), [7], "nodes[2].children[0]: 7 is out of range: the file has 3 nodes"),
        (at("skins", 0, "joints"), [0, 1, 3], "skins[0].joints[2]: 3 is out of range"),
        (at("skins", 0, "joints"), [0, 0], "skins[0].joints: names an index twice"),
        (at("skins", 0, "joints"), [], "skins[0].joints: has no joints"),
        (at("skins", 0, "joints"), [True], "skins[0].joints: [True] is not a list of whole numbers"),
        (at("skins", 0, "inverseBindMatrices"), 9, "skins[0].inverseBindMatrices: 9 is out of range"),
        (at("skins", 0, "inverseBindMatrices"), 1, "accessors[1].type: 'VEC3' is not 'MAT4', which skins[0]."),
        (at("accessors", 0, "count"), 2, "skins[0].inverseBindMatrices: has 2 matrices for 3 joints"),
        (at("accessors", 0, "count"), 4, "accessors[0]: ends at byte 256 of bufferViews[0], which has 192"),
        (at("accessors", 0, "count"), 10**12, "accessors[0].count: 1000000000000 is not a count"),
        (at("accessors", 0, "componentType"), 5130, "accessors[0].componentType: 5130 is not one of"),
        (at("accessors", 1, "count"), 3, "samplers[0].output: has 3 values, and 4 keys need 4"),
        (at("accessors", 2, "count"), 0, "samplers[0].input: has no keys"),
        (at("accessors", 2, "bufferView"), -1, "accessors[2].bufferView: -1 is not a whole number from 0 on"),
        (at("accessors", 1, "sparse"), {"count": 5}, "accessors[1].sparse.count: 5 elements are replaced, of 4"),
        (at("bufferViews", 0, "byteStride"), 8, "bufferViews[0].byteStride: 8 is not a stride of at least the 64"),
        (at("bufferViews", 0, "byteLength"), 10**6, "bufferViews[0]: ends at byte 1000000 of buffers[0]"),
        (at("bufferViews", 0, "extensions"), {"EXT_meshopt_compression": {}}, "is compressed by EXT_meshopt"),
        (at("animations", 0, "samplers", 0, "interpolation"), "CUBIC", "'CUBIC' is not STEP, LINEAR or CUBICSPLINE"),
        (at("animations", 0, "samplers", 0, "interpolation"), "CUBICSPLINE", "has 4 values, and 4 keys need 12"),
        (at("animations", 0, "channels", 0, "sampler"), 2, "animations[0].channels[0].sampler: 2 is out of range"),
        (at("animations", 0, "channels", 0, "target", "node"), 1.5, "target.node: 1.5 is not a whole number"),
        (at("animations", 0, "channels", 0, "target"), {"node": 1, "path": "rotation"}, "'VEC3' is not 'VEC4'"),
    ],
)
def test_errors_say_where_in_the_file(tmp_path: Path, put: Any, value: Any, message: str) -> None:
    gltf = walking()
    put(gltf.json, value)
    with pytest.raises(ModelError, match=re.escape(message)) as caught:
        read(gltf, tmp_path)
    assert str(caught.value).startswith(f"{tmp_path / 'test.glb'}: ")


def test_errors_of_numbers_and_channels(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"samplers\[0\]\.input: key 2 is not later than the one before"):
        read(Gltf(arm(), [0]).animate(0, "translation", [0, 1, 1], np.zeros((3, 3))), tmp_path)
    with pytest.raises(ModelError, match=r"accessors\[0\]: element 1 is not finite"):
        read(Gltf(arm(), [0]).animate(0, "translation", [0, 1], [[0, 0, 0], [0, np.nan, 0]]), tmp_path)
    twice = Gltf(arm(), [0]).animate(0, "translation", [0], [[0, 0, 0]]).animate(0, "translation", [0], [[0, 0, 0]])
    with pytest.raises(ModelError, match="another channel moves the translation of node 0 already"):
        read(twice, tmp_path)
    with pytest.raises(ModelError, match=r"animations\[0\]: .* frames of 1 joints"):
        read(Gltf(arm(), [0]).animate(0, "translation", [0, 1e9], np.zeros((2, 3))), tmp_path, fps=1000)
    far = [{"scale": [1e15] * 3, "children": [1]}, {"scale": [1e15] * 3, "children": [2]}, {"translation": [1] * 3}]
    with pytest.raises(ModelError, match=r"nodes\[2\]: the joint stands too far away"):
        read(Gltf(far, [0, 1, 2]), tmp_path)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the file is empty"),
        (b"glTF\2", "the header of this .glb is cut off"),
        (b"glTF" + struct.pack("<II", 1, 12), "has version 1"),
        (b"glTF" + struct.pack("<II", 2, 12), "no JSON chunk"),
        (b"glTF" + struct.pack("<II", 2, 99), "is cut off: 12 bytes of 99"),
        (b"glTF" + struct.pack("<IIII", 2, 20, 9, 0), "the chunk at byte 12 of this .glb ends beyond its 20 bytes"),
        (b"\xff\xfe{}", "neither a .glb nor JSON in UTF-8"),
        (b"{\n\n]", "test.gltf:3: not JSON"),
        (b"[]", "the JSON of a glTF is an object"),
        (b'{"a": NaN}', "NaN is not a number of JSON"),
        (b"[" * 100_000, "not JSON that can be read"),
        (b'{"asset":{"version":"2.0"}}', "neither a skin nor an animation"),
    ],
)
def test_what_is_no_gltf_is_called_so(tmp_path: Path, data: bytes, message: str) -> None:
    (tmp_path / "test.gltf").write_bytes(data)
    with pytest.raises(ModelError, match=re.escape(message)):
        read_joints(tmp_path / "test.gltf")


@needs_assimp
def test_the_corpus_of_assimp() -> None:
    skeleton = read_joints(CORPUS / "simple_skin" / "simple_skin.gltf")
    check_sound(skeleton)
    assert (len(skeleton.names), len(skeleton.times)) == (2, 12)
    files = [file for file in CORPUS.rglob("*.gl*") if file.suffix in (".gltf", ".glb")]
    broken = [file for file in files if file.parent.name in {"RecursiveNodes", "IndexOutOfRange", "TestNoRootNode"}]
    assert len(broken) == 5
    for file in files:
        if file.stem != "simple_skin":
            with pytest.raises(ModelError, match=re.escape(str(file))):
                read_joints(file)


def row(count: int) -> list[dict[str, Any]]:
    """Nodes that hang one on another."""
    return [{"translation": [0, 0.01, 0], "children": [i + 1]} for i in range(count - 1)] + [{}]


def star(count: int) -> list[dict[str, Any]]:
    return [{"children": [*range(1, count)]}, *({} for _ in range(count - 1))]


def deep(count: int) -> list[dict[str, Any]]:
    """Nodes that hang one on another, and as many that all hang on the last of them."""
    return [*row(count)[:-1], {"children": [*range(count, 2 * count)]}, *({} for _ in range(count))]


@pytest.mark.parametrize(
    ("nodes", "joints", "message"),
    [
        (row(20_000), [19_999], "20000 nodes carry the joints"),
        (row(5000), [*range(5000)], "the file has 5000 joints"),
        (star(5000), [0], "bones have 4999 ends"),
        (deep(12_000), [*range(12_000, 16_000)], "nodes carry the joints"),
    ],
)
def test_files_that_would_take_long_or_much_memory_are_refused(
    tmp_path: Path, nodes: Any, joints: list[int], message: str
) -> None:
    file = tmp_path / "test.gltf"
    file.write_text(json.dumps({"asset": {"version": "2.0"}, "nodes": nodes, "skins": [{"joints": joints}]}))
    tracemalloc.start()
    try:
        with pytest.raises(ModelError, match=message):
            read_joints(file)
        assert tracemalloc.get_traced_memory()[1] < 60e6
    finally:
        tracemalloc.stop()


def test_few_bytes_do_not_ask_for_many_zeros(tmp_path: Path) -> None:
    gltf = Gltf(arm(), [0, 1, 2])
    gltf.json["skins"][0]["inverseBindMatrices"] = gltf.add(2**22, 16)
    with pytest.raises(ModelError, match=r"accessors\[0\]\.count: 4194304 is not a count"):
        read(gltf, tmp_path)


# Anything at all -------------------------------------------------------------------------------------------------

WALK = walking()
BYTES = WALK.glb()  # which completes the buffer
ODD: list[Any] = [
    *(None, True, -1, 0, 1, 2, 3, 7, 1.5, 1e300, -1e300, 1e-300, 10**400, "", "LINEAR", "VEC3", "data:,", "a" * 99),
    *(
        [],
        [0],
        [0, 0],
        [1, 2, 3],
        [0, 0, 0, 0],
        [1e300] * 3,
        [1e-200] * 4,
        {},
        {"node": 0, "path": "scale"},
        5121,
        5125,
    ),
    *(2**31, 2**53, 2**70, {"count": 1, "indices": {"bufferView": 0, "componentType": 5121}}, [[0]], [{}]),
]
often = settings(quick, max_examples=150)


def only_model_errors(file: Path, data: bytes) -> None:
    """Anything but a ModelError that opens with the file is a failure, and so is what is read and not sound."""
    file.write_bytes(data)
    refused = None
    try:
        skeleton = read_joints(file)
    except ModelError as error:
        refused = str(error)
    else:
        check_sound(skeleton)
        assert (np.abs(skeleton.xyz) <= 2.0**50).all()
    assert refused is None or refused.startswith(str(file))


def spots(value: Any) -> list[tuple[Any, Any]]:
    """All places of a document: what holds a value, and its key."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else []
    return [spot for key in keys for spot in ((value, key), *spots(value[key]))]


@often
@given(st.lists(st.tuples(st.integers(0, 10_000), st.sampled_from(ODD) | st.floats(-2, 2)), max_size=4))
def test_mutated_documents(tmp_path: Path, changes: list[tuple[int, Any]]) -> None:
    gltf = Gltf([])
    gltf.json, gltf.data = json.loads(json.dumps(WALK.json)), WALK.data
    for where, value in changes:
        holder, key = (places := spots(gltf.json))[where % len(places)]
        holder[key] = copy.deepcopy(value)
    if isinstance(buffers := gltf.json.get("buffers"), list) and buffers and isinstance(buffers[0], dict):
        buffers[0]["uri"] = "data:;base64," + base64.b64encode(gltf.data).decode()
    only_model_errors(tmp_path / "fuzz.gltf", json.dumps(gltf.json).encode())


@often
@given(
    st.lists(st.tuples(st.integers(0, len(BYTES) - 1), st.integers(0, 255)), max_size=6),
    st.just(0) | st.integers(0, len(BYTES)),
)
def test_mutated_bytes(tmp_path: Path, changes: list[tuple[int, int]], cut: int) -> None:
    data = bytearray(BYTES)
    for where, byte in changes:
        data[where] = byte
    only_model_errors(tmp_path / "fuzz.glb", bytes(data[: len(data) - cut]))


@settings(quick, max_examples=100)
@given(st.binary(max_size=100))
def test_noise_in_the_numbers(tmp_path: Path, noise: bytes) -> None:
    at = len(BYTES) - len(WALK.data)
    only_model_errors(tmp_path / "fuzz.glb", BYTES[: at + 200] + noise + BYTES[at + 200 + len(noise) :])

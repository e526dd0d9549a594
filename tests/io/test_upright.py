"""Which axis is up and how long a unit is, of files that do not say so: a body that walks, in any rest and unit."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import poise as pz
from poise.common.array import Array
from poise.io.bvh import read_bvh
from poise.io.bvh_writer import write_bvh
from poise.io.gltf import read_gltf
from poise.io.gltf_writer import write_gltf
from poise.io.skeleton import SkeletonFile, SkeletonJoint
from poise.io.stature import height
from poise.motion.clip import of_skeleton
from poise.quaternions import conjugate, matrix_quaternion, quaternion_matrix, quaternion_product

FRAMES = 60
BONES: list[tuple[str, str | None, list[float]]] = [
    ("Hips", None, [0.0, 0.0, 0.0]),
    ("Spine", "Hips", [0.0, 0.0, 0.25]),
    ("Neck", "Spine", [0.0, 0.0, 0.3]),
    ("Head", "Neck", [0.0, 0.0, 0.12]),
    *(
        (f"{side}{name}", above if above in ("Hips", "Spine") else f"{side}{above}", [x, sign * y, z])
        for side, sign in (("Left", 1.0), ("Right", -1.0))
        for name, above, x, y, z in (
            ("UpLeg", "Hips", 0.0, 0.1, -0.03), ("Leg", "UpLeg", 0.0, 0.0, -0.42), ("Foot", "Leg", 0.0, 0.0, -0.42),
            ("Toe", "Foot", 0.18, 0.0, -0.06), ("Arm", "Spine", 0.0, 0.18, 0.25), ("ForeArm", "Arm", 0.0, 0.28, 0.0),
            ("Hand", "ForeArm", 0.0, 0.26, 0.0),
        )
    ),
]  # fmt: skip
"""Of a body 1.7 m tall that rests in a T, z up: a joint, its parent, where it is there [m]."""
NAMES = [name for name, _, _ in BONES]
A_QUARTER = pz.SO3.from_rpy([np.pi / 2, 0.0, 0.0]).wxyz
"""About x: what is y up is z up then."""


def walking() -> SkeletonFile:
    """It walks about, turning round and swinging its limbs."""
    clock = np.linspace(0.0, 1.0, FRAMES)
    turns = np.tile([1.0, 0.0, 0.0, 0.0], (FRAMES, len(BONES), 1))
    rng = np.random.default_rng(3)
    for i in range(1, len(BONES)):
        swing = 0.4 * np.sin(6.0 * np.pi * clock + rng.uniform(0.0, 6.0))
        turns[:, i] = pz.SO3.from_rotvec(swing[:, None] * rng.normal(scale=0.4, size=3)).wxyz
    turns[:, 0] = pz.SO3.from_rpy(np.stack([0.05 * clock, 0.1 * clock, 5.0 * clock], axis=1)).wxyz
    joints = tuple(
        SkeletonJoint(name=name, parent=-1 if above is None else NAMES.index(above), offset=np.array(place))
        for name, above, place in BONES
    )
    ends = (("Head_end", 3, np.array([0.0, 0.0, 0.2])),)
    hips = np.stack([2.0 * clock, np.sin(3.0 * clock), np.full(FRAMES, 0.95)], axis=1)
    return SkeletonFile(name="it", joints=joints, ends=ends, times=clock, places={0: hips}, turns=turns, up="y")


def rested(skeleton: SkeletonFile, rests: Sequence[Array]) -> SkeletonFile:
    """The same motion with another rest, in which the bones that joints carry are turned by `rests`, quaternions."""
    joints, ends, turns = [], [], np.empty_like(skeleton.turns)
    for i, joint in enumerate(skeleton.joints):
        above = rests[joint.parent] if joint.parent >= 0 else np.array([1.0, 0.0, 0.0, 0.0])
        joints.append(replace(joint, offset=quaternion_matrix(above) @ joint.offset))
        turns[:, i] = quaternion_product(quaternion_product(above, skeleton.turns[:, i]), conjugate(rests[i]))
    for name, i, place in skeleton.ends:
        ends.append((name, i, quaternion_matrix(rests[i]) @ place))
    return replace(skeleton, joints=tuple(joints), ends=tuple(ends), turns=turns)


def turned(skeleton: SkeletonFile, way: Array) -> SkeletonFile:
    """The same with the world turned, motion and rest."""
    matrix = quaternion_matrix(way)
    places = {i: place @ matrix.T for i, place in skeleton.places.items()}
    turns = skeleton.turns.copy()
    turns[:, 0] = quaternion_product(way, turns[:, 0])
    return rested(replace(skeleton, places=places, turns=turns), [way] * len(skeleton.joints))


WALK = walking()
PLACES = of_skeleton(replace(WALK, up="z")).positions(NAMES)
BACK = conjugate(A_QUARTER)
FILES = {
    "z up": WALK,
    "z up, rest y up": rested(WALK, [BACK] * len(BONES)),
    "y up": turned(WALK, BACK),
    "y up, rest z up": rested(turned(WALK, BACK), [A_QUARTER] * len(BONES)),
}
"""Skeletons in the axes of their files."""


def same(found: Array, wanted: Array = PLACES, off: float = 1e-5) -> bool:
    return bool(np.abs(found - wanted).max() < off)


# Up ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FILES)
def test_the_motion_tells_what_is_up_whatever_the_rest(name: str, tmp_path: Path) -> None:
    write_bvh(FILES[name], tmp_path / "it.bvh")
    motion = pz.load_motion(tmp_path / "it.bvh")
    assert same(motion.positions(NAMES))
    assert motion.up == "z"
    assert any("z is taken to be up, up='y' says y" in note for note in motion.notes) == name.startswith("z up")
    assert pz.load(tmp_path / "it.bvh").links == motion.model.links


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("suffix", [".bvh", ".glb"])
def test_up_says_what_the_file_is_and_turns_no_right_one(name: str, suffix: str, tmp_path: Path) -> None:
    file = tmp_path / f"it{suffix}"
    write = write_bvh if suffix == ".bvh" else write_gltf
    write(FILES[name], file)
    assert same(pz.load_motion(file, up="z" if name.startswith("z") else "y").positions(NAMES))
    assert not same(pz.load_motion(file, up="y" if name.startswith("z") else "z").positions(NAMES))
    assert not any("taken to be up" in note for note in pz.load_motion(file, up="z").notes)


def test_a_gltf_is_y_up_as_its_format_has_it_and_what_contradicts_it_is_said(tmp_path: Path) -> None:
    for name, skeleton in FILES.items():
        write_gltf(skeleton, tmp_path / "it.glb")
        motion = pz.load_motion(tmp_path / "it.glb")
        assert same(motion.positions(NAMES)) == name.startswith("y up")
        said = any("y is taken to be up, as the format has it, up='z' says z" in note for note in motion.notes)
        assert said == name.startswith("z up")


def lying(along: Array) -> SkeletonFile:
    """It lies on its back in a world whose y is up, its head along z or along x, all the time."""
    flat = turned(replace(WALK, turns=np.tile([1.0, 0.0, 0.0, 0.0], (FRAMES, len(BONES), 1))), along)
    flat.places[0][:] = [1.0, 0.08, 2.0]  # type: ignore[index]
    return rested(flat, [quaternion_product(BACK, conjugate(along))] * len(BONES))


@pytest.mark.parametrize("along", [[1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
def test_one_who_lies_all_the_time_is_not_stood_up(along: list[float], tmp_path: Path) -> None:
    # On its back or on its belly the front, x, is along y; about that axis it may lie in any direction.
    on_its_back = matrix_quaternion(np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])[None])[0]
    way = np.array([0.0, 1.0, 0.0, 0.0]) if along[3] else np.array(along) / np.linalg.norm(along)
    skeleton = lying(quaternion_product(way, on_its_back))
    write_bvh(skeleton, tmp_path / "it.bvh")
    found, known = pz.load_motion(tmp_path / "it.bvh"), pz.load_motion(tmp_path / "it.bvh", up="y")
    assert same(found.positions(NAMES), known.positions(NAMES), off=1e-9)
    heads = found.positions(["Head"])[:, 0, 2]
    assert np.abs(heads).max() < 0.5


def test_one_who_stands_in_the_floor_of_y_stands_along_z(tmp_path: Path) -> None:
    """Its rest is y up, and it walks along x where y is 0: neither lies it there, nor half in the ground."""
    hips = WALK.places[0] * [1.0, 0.02, 1.0]
    standing = rested(replace(WALK, places={0: hips}), [BACK] * len(BONES))
    turns = standing.turns.copy()
    turns[:, 0] = quaternion_product(pz.SO3.from_rpy([0.0, 0.0, 1.5]).wxyz, A_QUARTER)
    write_bvh(replace(standing, turns=turns), tmp_path / "it.bvh")
    motion = pz.load_motion(tmp_path / "it.bvh")
    assert any("z is taken to be up" in note for note in motion.notes)
    assert same(motion.positions(NAMES), pz.load_motion(tmp_path / "it.bvh", up="z").positions(NAMES), off=1e-9)


def test_one_who_gets_up_tells_what_is_up(tmp_path: Path) -> None:
    """Most of the time its head is along z, and it stands along y at last."""
    way = np.linspace(0.0, 1.0, FRAMES)
    bow = pz.SO3.from_rotvec(np.pi / 2 * np.clip(4.0 * (0.8 - way), 0.0, 1.0)[:, None] * [[1.0, 0.0, 0.0]]).wxyz
    standing = turned(WALK, BACK)
    turns = standing.turns.copy()
    turns[:, 0] = quaternion_product(bow, turns[:, 0])
    write_bvh(replace(standing, turns=turns), tmp_path / "it.bvh")
    motion = pz.load_motion(tmp_path / "it.bvh")
    assert same(motion.positions(NAMES), pz.load_motion(tmp_path / "it.bvh", up="y").positions(NAMES), off=1e-9)
    assert any("y is taken to be up" in note and "up='z' says z" in note for note in motion.notes)


def test_without_a_frame_the_rest_is_asked_about(tmp_path: Path) -> None:
    for name in ("z up", "y up"):
        skeleton = replace(
            FILES[name], times=np.zeros(0), turns=np.zeros((0, len(BONES), 4)), places={0: np.zeros((0, 3))}
        )
        (tmp_path / "it.bvh").write_text("")
        write_bvh(skeleton, tmp_path / "it.bvh")
        assert any("at rest it reaches along z" in n for n in read_bvh(tmp_path / "it.bvh").notes) == (name == "z up")


# Units ---------------------------------------------------------------------------------------------------------------


def scaled(skeleton: SkeletonFile, factor: float) -> SkeletonFile:
    return replace(
        skeleton,
        joints=tuple(replace(joint, offset=factor * joint.offset) for joint in skeleton.joints),
        ends=tuple((name, i, factor * place) for name, i, place in skeleton.ends),
        places={i: factor * place for i, place in skeleton.places.items()},
    )


def tall(skeleton: SkeletonFile) -> float:
    """As it is measured [m]."""
    size, whole = height([j.parent for j in skeleton.joints], [j.offset for j in skeleton.joints], skeleton.ends)
    assert whole
    return size


def test_a_body_is_measured_along_its_bones() -> None:
    assert tall(WALK) == pytest.approx(1.75, abs=0.1)
    assert tall(scaled(WALK, 0.5)) == pytest.approx(0.5 * tall(WALK))


UNITS = [(1.0, "metres"), (0.01, "centimetres"), (0.001, "millimetres"), (0.0254, "inches"), (0.0254 / 0.45, "CMU")]


@pytest.mark.parametrize(("unit", "called"), UNITS)
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("grown", [1.5, 1.75, 2.0])
def test_units_of_people_are_found_and_said(unit: float, called: str, name: str, grown: float, tmp_path: Path) -> None:
    skeleton = scaled(FILES[name], grown / tall(WALK))
    write_bvh(skeleton, tmp_path / "it.bvh", unit=unit)
    motion = pz.load_motion(tmp_path / "it.bvh")
    assert motion.unit == pytest.approx(unit)
    (note,) = (note for note in motion.notes if "no unit" in note)
    assert called in note
    assert same(motion.positions(NAMES), PLACES * grown / tall(WALK))


@pytest.mark.parametrize("seed", range(5))
def test_no_rest_hides_the_unit(seed: int, tmp_path: Path) -> None:
    """Not even one in which all bones go anywhere, as those that stand along their own axes."""
    rests = pz.SO3.from_rotvec(np.random.default_rng(seed).normal(scale=2.0, size=(len(BONES), 3))).wxyz
    for unit, _ in UNITS:
        write_bvh(rested(WALK, list(rests)), tmp_path / "it.bvh", unit=unit)
        motion = pz.load_motion(tmp_path / "it.bvh")
        assert motion.unit == pytest.approx(unit)
        assert same(motion.positions(NAMES), off=1e-4)


def test_people_of_64_units_are_people(tmp_path: Path) -> None:
    write_bvh(WALK, tmp_path / "it.bvh", unit=tall(WALK) / 64.0)
    motion = pz.load_motion(tmp_path / "it.bvh")
    assert motion.unit == 0.0254
    heads = motion.positions(["Head_end"])[:, 0, 2] - motion.positions(["LeftToe"])[:, 0, 2]
    assert 1.4 < np.median(heads) < 1.9


@pytest.mark.parametrize(("size", "also"), [(39.0, "inches (0.991 m)"), (89.0, None), (93.0, "inches (2.36 m)")])
def test_what_could_be_another_unit_too_is_said(size: float, also: str | None, tmp_path: Path) -> None:
    write_bvh(WALK, tmp_path / "it.bvh", unit=tall(WALK) / size)
    (note,) = (note for note in pz.load_motion(tmp_path / "it.bvh").notes if "no unit" in note)
    assert note.endswith("unit says another")
    assert f"{also} it could be too" in note if also else "too" not in note


@pytest.mark.parametrize("grown", [0.1, 0.3, 0.55, 0.8, 1.3, 1.7, 3.0])
def test_a_body_of_any_size_comes_back_from_its_own_bvh(grown: float, tmp_path: Path) -> None:
    motion = of_skeleton(replace(scaled(WALK, grown / tall(WALK)), up="z"))
    motion.save(tmp_path / "it.bvh")
    assert same(pz.load_motion(tmp_path / "it.bvh").positions(NAMES), motion.positions(NAMES))


def test_a_gltf_that_has_no_metres_is_asked_about(tmp_path: Path) -> None:
    for factor, asked in ((1.0, ""), (100.0, "in centimetres? unit=0.01"), (1.0 / 0.0254, "in inches? unit=0.0254")):
        write_gltf(scaled(FILES["y up"], factor), tmp_path / "it.glb")
        notes = read_gltf(tmp_path / "it.glb").notes
        assert any(asked in note for note in notes) if asked else not any("unit=" in note for note in notes)
        assert not any("?" in note for note in read_gltf(tmp_path / "it.glb", unit=1.0 / factor).notes)

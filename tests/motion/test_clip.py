"""A motion: what lies between its frames, what is written is read again, and what is none is refused."""

import copy
import csv
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from support.refusals import refused

import poise as pz
from poise.common.errors import FrameNotFound, ModelError, PoiseError
from poise.motion.tables import read_table


def walker() -> pz.Model:
    """A skeleton with a joint that is moved as well."""
    builder = pz.ModelBuilder("walker")
    builder.joint("Hips", "floating", parent="world", child="Hips")
    builder.joint("Spine", "spherical", parent="Hips", child="Spine", origin=pz.SE3.from_parts([0, 0.02, 0.6]))
    builder.joint("Head", "spherical", parent="Spine", child="Head", origin=pz.SE3.from_parts([0, 0, 0.5]))
    builder.joint("Knee", "floating", parent="Hips", child="Knee")
    builder.joint("Eye", "fixed", parent="Head", child="Eye", origin=pz.SE3.from_parts([0.1, 0, 0]))
    builder.frame("Knee_end", link="Knee", origin=pz.SE3.from_parts([0, 0.1, -0.4]))
    builder.frame("Eye_end", link="Eye")
    return builder.build()


def arm() -> pz.Model:
    """Joints of other kinds, turned against their links."""
    builder = pz.ModelBuilder("arm")
    builder.joint("root", "floating", parent="world", child="base")
    builder.joint(
        "lift",
        "prismatic",
        parent="base",
        child="post",
        axis=(0, 1, 1),
        origin=pz.SE3.from_xyz_rpy([1, 2, 3], [1, 0, 2]),
    )
    builder.joint("screw", "helical", parent="post", child="nut", pitch=0.1, origin=pz.SE3.from_parts([0, 0.3, 0]))
    builder.joint("flange", "fixed", parent="nut", child="hand", origin=pz.SE3.from_xyz_rpy([0, 0, 0.1], [0, 1, 0]))
    return builder.build()


def motion_of(model: pz.Model, frames: int = 20, **more: object) -> pz.Motion:
    return pz.Motion(model, np.arange(frames) / 50.0, model.sample(frames, seed=3), **more)  # type: ignore[arg-type]


# What it is ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("twin", [lambda motion: pickle.loads(pickle.dumps(motion)), copy.deepcopy, copy.copy])
def test_a_copy_can_no_more_be_written_than_the_motion(twin: Callable[[pz.Motion], pz.Motion]) -> None:
    motion = motion_of(walker(), name="dance", up="y", unit=0.01, notes=("a word",))
    found = twin(motion)
    assert np.array_equal(found.q, motion.q)
    assert np.array_equal(found.times, motion.times)
    assert (found.name, found.up, found.unit, found.notes) == ("dance", "y", 0.01, ("a word",))
    assert not found.q.flags.writeable
    assert not found.times.flags.writeable


def test_it_is_shown_in_a_line() -> None:
    motion = motion_of(walker(), name="dance")
    assert repr(motion) == "Motion('dance', 20 frames in 0.38 s, 50 a second, of 'walker')"
    assert repr(motion[:1]) == "Motion('dance', 1 frame, of 'walker')"


def test_a_bvh_takes_even_frames_alone(tmp_path: Path) -> None:
    model = walker()
    uneven = pz.Motion(model, [0.0, 0.1, 0.5], model.sample(3, seed=1))
    with pytest.raises(ValueError, match=r"0.1 to 0.4 s apart, which a BVH cannot say; take even ones with at\(\)"):
        uneven.save(tmp_path / "m.bvh")
    assert not (tmp_path / "m.bvh").exists()
    times = 200.0 + np.arange(500) / 120.0
    rounded = times.astype(np.float32).astype(np.float64)  # as of a glTF
    pz.Motion(model, rounded, model.sample(500, seed=1)).save(tmp_path / "m.bvh")
    assert pz.load_motion(tmp_path / "m.bvh").times == pytest.approx(times - 200.0, abs=1e-4)


def test_what_is_no_model_axis_or_unit_is_refused(tmp_path: Path) -> None:
    model = walker()
    with refused("not-a-model", "'g1'"):
        pz.Motion("g1", [0.0], model.neutral[None])  # type: ignore[arg-type]
    with refused("not-a-model", "'g1'"):
        pz.load_motion("rows.csv", model="g1", fps=30)  # type: ignore[arg-type]
    with refused("unknown-word", "up must"):
        motion_of(model, up="x")
    for unit, code in ((0.0, "out-of-range"), (-1.0, "out-of-range"), (float("nan"), "not-finite")):
        with refused(code, "unit"):
            motion_of(model, unit=unit)
        with refused(code, "unit"):
            motion_of(model).save(tmp_path / "walk.bvh", unit=unit)


def test_frames_and_slices() -> None:
    motion = motion_of(walker(), name="dance")
    assert len(motion) == 20
    assert motion.fps == pytest.approx(50.0)
    assert motion.duration == pytest.approx(0.38)
    assert np.array_equal(motion[3], motion.q[3])
    assert np.array_equal([*motion][-1], motion[-1])
    part = motion[4:10:2]
    assert part.name == "dance"
    assert np.array_equal(part.q, motion.q[4:10:2])
    assert np.array_equal(part.times, motion.times[4:10:2])
    assert motion[:1].fps == 0.0
    with refused("empty", "frames"):
        motion[5:5]
    with pytest.raises(ValueError, match="read-only"):
        motion.q[0, 0] = 1.0


def test_between_two_frames_it_turns_evenly() -> None:
    motion = motion_of(walker())
    model = motion.model
    for share in (0.0, 0.25, 0.9):
        found = motion.at(motion.times[6] + share * 0.02)
        step = model.difference(motion[6], motion[7])
        assert np.allclose(model.difference(motion[6], found), share * step, rtol=0, atol=1e-9)
    times = [[-1.0, 0.0, 0.111], [0.2, 0.38, 9.0]]
    several = motion.at(times)
    assert several.shape == (2, 3, model.nq)
    for found, time in zip(several.reshape(-1, model.nq), np.ravel(times), strict=True):
        assert np.allclose(found, motion.at(time), rtol=0, atol=1e-14)
    assert np.abs(model.difference(several[0, 0], motion[0])).max() < 1e-12
    assert np.abs(model.difference(several[1, 2], motion[-1])).max() < 1e-9
    assert np.array_equal(motion[2:3].at([0.0, 7.0]), motion.q[[2, 2]])
    with refused("not-finite", "time"):
        motion.at(np.nan)


def test_positions_are_those_of_the_model() -> None:
    motion = motion_of(walker())
    links = motion.positions()
    assert links.shape == (20, 5, 3)
    assert np.allclose(links[7, 2], motion.model.pose("Head", motion[7]).xyz, rtol=0, atol=1e-12)
    assert np.array_equal(motion.positions(["Knee_end"])[:, 0], motion.model.pose("Knee_end", motion.q).xyz)
    with pytest.raises(FrameNotFound, match="Knee"):
        motion.positions(["knee"])


@pytest.mark.parametrize(
    ("times", "rows", "code", "message"),
    [
        ([0.0, 0.1], 3, "wrong-shape", "times"),
        ([], 0, "empty", "frame"),
        ([0.0, 0.1, 0.1], 3, "inconsistent", "times[2]"),
        ([0.0, np.nan, 0.1], 3, "not-finite", "times"),
    ],
)
def test_what_is_no_motion_is_refused(times: list[float], rows: int, code: str, message: str) -> None:
    model = walker()
    with refused(code, message):
        pz.Motion(model, np.array(times), model.sample(rows, seed=0))


def test_a_configuration_that_is_none_is_refused() -> None:
    q = walker().sample(2, seed=0)
    q[1, 4] = np.nan
    with refused("not-finite", "q[1, 4]"):
        pz.Motion(walker(), np.arange(2.0), q)


# Files ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("up", ["y", "z"])
@pytest.mark.parametrize("unit", [0.01, 1.0, 0.0254])
def test_a_bvh_comes_back(tmp_path: Path, up: str, unit: float) -> None:
    motion = motion_of(walker(), up=up)
    motion.save(tmp_path / "walk.bvh", unit=unit)
    again = pz.load_motion(tmp_path / "walk.bvh", up="y" if up == "z" else "z", unit=unit)  # a BVH is y up
    model = again.model
    assert (again.name, again.unit, again.up) == ("walk", unit, "z")
    assert {joint.name: joint.kind for joint in model.joints} == {j.name: j.kind for j in motion.model.joints}
    assert np.allclose(again.times, motion.times, rtol=0, atol=1e-6)
    for frame in ("Hips", "Head", "Knee_end", "Eye_end"):
        there, here = model.pose(frame, again.q), motion.model.pose(frame, motion.q)
        assert there.isclose(here, atol=1e-6).all()


def test_turns_by_a_quarter_come_back(tmp_path: Path) -> None:
    """Where the turn about y is a quarter, those about z and x are one."""
    model = walker()
    q = np.tile(model.neutral, (60, 1))
    at = model.index("Spine")
    turns = pz.SO3.from_rpy(np.radians([[k, 90.0 if k % 2 else -90.0, 3.0 * k] for k in range(60)]))
    q[:, at] = (turns @ pz.SO3.from_rotvec(1e-9 * np.arange(180.0).reshape(60, 3))).wxyz
    motion = pz.Motion(model, np.arange(60.0), q, up="y")
    motion.save(tmp_path / "q.bvh")
    again = pz.load_motion(tmp_path / "q.bvh", up="z", unit=0.01)
    assert np.allclose(again.positions(["Head", "Eye"]), motion.positions(["Head", "Eye"]), rtol=0, atol=1e-6)


def test_a_robot_is_written_as_a_skeleton(tmp_path: Path) -> None:
    motion = motion_of(arm())
    motion.save(tmp_path / "arm.bvh")
    again = pz.load_motion(tmp_path / "arm.bvh", unit=0.01)
    assert np.allclose(again.positions(), motion.positions(), rtol=0, atol=1e-6)


def test_a_skeleton_that_was_read_is_written_in_its_own_unit(tmp_path: Path) -> None:
    motion_of(walker()).save(tmp_path / "a.bvh", unit=0.5)
    pz.load_motion(tmp_path / "a.bvh", unit=0.5).save(tmp_path / "b.bvh")
    a, b = (pz.load_motion(tmp_path / f"{name}.bvh", unit=0.5) for name in "ab")
    assert np.allclose(a.positions(), b.positions(), rtol=0, atol=1e-6)


@pytest.mark.parametrize("make", [walker, arm])
@pytest.mark.parametrize("suffix", [".npz", ".csv"])
def test_tables_come_back_to_the_last_bit(tmp_path: Path, make: object, suffix: str) -> None:
    model = make()  # type: ignore[operator]
    motion = motion_of(model)
    motion.save(tmp_path / f"m{suffix}")
    again = pz.load_motion(tmp_path / f"m{suffix}", model=model)
    assert np.abs(again.q - motion.q).max() < 1e-15
    assert np.array_equal(again.times, motion.times)
    assert np.allclose(pz.load_motion(tmp_path / f"m{suffix}", model=model, fps=10).times, 0.1 * np.arange(20))


def test_an_archive_says_what_is_in_it(tmp_path: Path) -> None:
    motion = motion_of(arm(), name="lift", notes=("mended",))
    motion.save(tmp_path / "m.npz")
    with np.load(tmp_path / "m.npz", allow_pickle=False) as found:
        assert tuple(found["joints"]) == motion.model.coordinates
        assert list(found["units"]) == ["m", "m", "m", "", "", "", "", "m", "rad"]
        assert np.array_equal(found["positions"], motion.positions())
        assert tuple(found["links"]) == motion.model.links
        assert (float(found["fps"]), str(found["name"]), str(found["up"])) == (pytest.approx(50), "lift", "z")
        assert list(found["notes"]) == ["mended"]


@pytest.mark.parametrize("order", ["wxyz", "xyzw"])
def test_the_header_says_the_order_of_the_quaternion(tmp_path: Path, order: str) -> None:
    motion = motion_of(arm())
    motion.save(tmp_path / "m.csv", quaternion=order)  # type: ignore[arg-type]
    with (tmp_path / "m.csv").open(newline="") as opened:
        header, first, *_ = csv.reader(opened)
    assert header == ["time_s", "root.x", "root.y", "root.z", *(f"root.q{axis}" for axis in order), "lift", "screw"]
    wanted = motion.model.named(motion[0])
    assert [float(number) for number in first[1:]] == [wanted[name] for name in header[1:]]
    assert np.allclose(read_table(tmp_path / "m.csv", motion.model)[1], motion.q, rtol=0, atol=1e-15)


def test_what_cannot_be_written_or_read_is_refused(tmp_path: Path) -> None:
    motion = motion_of(walker())
    for name, options, code, word in (
        ("m.fbx", {}, "wrong-format", "m.fbx"),
        ("m.csv", {"unit": 0.1}, "conflict", "unit"),
        ("m.npz", {"quaternion": "xyzw"}, "conflict", "quaternion"),
        ("m.bvh", {"unit": -1.0}, "out-of-range", "unit"),
    ):
        with refused(code, word):
            motion.save(tmp_path / name, **options)
    motion.save(tmp_path / "m.csv")
    motion.save(tmp_path / "m.bvh")
    with refused("needs", "model"):
        pz.load_motion(tmp_path / "m.csv")
    with refused("conflict", "unit and up"):
        pz.load_motion(tmp_path / "m.csv", model=motion.model, unit=0.1)
    with refused("conflict", "model"):
        pz.load_motion(tmp_path / "m.bvh", model=motion.model)
    with refused("out-of-range", "fps"):
        pz.load_motion(tmp_path / "m.csv", model=motion.model, fps=0.0)
    with pytest.raises(PoiseError, match="no column"):
        pz.load_motion(tmp_path / "m.csv", model=arm())
    with refused("wrong-format", "must end in .bvh, .glb, .gltf, .csv, .npz, .mot or .sto"):
        motion.save(tmp_path / "m.vrm")
    with pytest.raises(ModelError, match="no motion"):
        pz.load_motion(tmp_path / "m.xyz")
    with pytest.raises(ModelError, match="no such file"):
        pz.load_motion(tmp_path / "none.bvh")


def test_bones_name_joints_that_are_there() -> None:
    motion = pz.Motion(pz.load("planar2"), [0.0, 1.0], [[0.0, 0.0], [1.0, 0.0]], bones={"hips": "joint1"})
    assert motion[1:].bones == {"hips": "joint1"}
    with pytest.raises(TypeError):
        motion.bones["head"] = "joint1"  # type: ignore[index]
    with refused("unknown-name", "jiont1", "did you mean 'joint1'"):
        pz.Motion(motion.model, [0.0], [[0.0, 0.0]], bones={"hips": "jiont1"})


def test_a_name_that_a_bvh_cannot_hold_is_refused(tmp_path: Path) -> None:
    builder = pz.ModelBuilder("odd")
    builder.joint("a{b", "floating", parent="world", child="a{b")
    with refused("not-supported", "a{b"):
        motion_of(builder.build()).save(tmp_path / "odd.bvh")

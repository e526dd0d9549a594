"""Skeletons of UsdSkel, against products of SciPy's rotations, of stages that are written here; skipped without
usd-core."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.refusals import refused

import poise as pz

JOINTS = {"Hips": (0, 90, 0), "Hips/Spine": (0, 20, 0), "Hips/Spine/Head": (0, 40, 5), "Hips/Leg": (10, -5, 0)}
FRAMES = 7


@pytest.fixture(autouse=True)
def needs_usd() -> None:
    pytest.importorskip("pxr", reason="USD is read by usd-core")


def turns(frame: int) -> dict[str, Rotation]:
    return {
        "Hips": Rotation.from_euler("y", 10.0 * frame, degrees=True),
        "Hips/Spine": Rotation.from_euler("xz", [5.0 * frame, 3.0 * frame], degrees=True),
    }


def stage(file: Path, *, metres: float = 0.01, up: str = "Y", animated: bool = True, stretched: bool = False) -> Any:
    """Save a stage with a skeleton that stands 10 units along x, of which two joints turn."""
    from pxr import Gf, Usd, UsdGeom, UsdSkel

    made = Usd.Stage.CreateNew(str(file))
    UsdGeom.SetStageMetersPerUnit(made, metres)
    UsdGeom.SetStageUpAxis(made, up)
    made.SetTimeCodesPerSecond(24)
    root = UsdSkel.Root.Define(made, "/Body")
    root.AddTranslateOp().Set((10.0, 0.0, 0.0))
    skeleton = UsdSkel.Skeleton.Define(made, "/Body/Skeleton")
    skeleton.CreateJointsAttr(list(JOINTS))
    rest = [Gf.Matrix4d().SetTranslate(place) for place in JOINTS.values()]
    if stretched:
        rest[1] = Gf.Matrix4d().SetScale((1, 2, 1)) * rest[1]
    skeleton.CreateRestTransformsAttr(rest)
    world = {"": np.zeros(3)}
    for name, place in JOINTS.items():
        world[name] = world[name.rpartition("/")[0]] + place
    skeleton.CreateBindTransformsAttr([Gf.Matrix4d().SetTranslate(world[name].tolist()) for name in JOINTS])
    if animated:
        animation = UsdSkel.Animation.Define(made, "/Body/Skeleton/Walk")
        animation.CreateJointsAttr(["Hips", "Hips/Spine"])
        animation.CreateTranslationsAttr([JOINTS["Hips"], JOINTS["Hips/Spine"]])
        animation.CreateScalesAttr([(1, 1, 1), (1, 1, 1)])
        rotations = animation.CreateRotationsAttr()
        for k in range(FRAMES):
            quaternions = [turn.as_quat(scalar_first=True).tolist() for turn in turns(k).values()]
            rotations.Set([Gf.Quatf(*numbers) for numbers in quaternions], 2.0 * k)
        UsdSkel.BindingAPI.Apply(skeleton.GetPrim()).CreateAnimationSourceRel().SetTargets([animation.GetPath()])
    made.Save()
    return made


@pytest.mark.parametrize(("suffix", "metres", "up"), [(".usda", 0.01, "Y"), (".usdc", 1.0, "Z"), (".usd", 0.0254, "Y")])
def test_joints_are_where_the_animation_brings_them(tmp_path: Path, suffix: str, metres: float, up: str) -> None:
    file = tmp_path / f"walk{suffix}"
    stage(file, metres=metres, up=up)
    motion = pz.load_motion(file)
    assert motion.model.joint_names == ("Hips", "Spine", "Head", "Leg")
    assert motion.fps == pytest.approx(12.0)
    for k in range(FRAMES):
        turned, places = {"": Rotation.identity()}, {"": np.array([10.0, 0.0, 0.0])}
        for name, place in JOINTS.items():
            above = name.rpartition("/")[0]
            places[name] = places[above] + turned[above].apply(place)
            turned[name] = turned[above] * turns(k).get(name, Rotation.identity())
            x, y, z = metres * places[name]
            expected = (x, y, z) if up == "Z" else (x, -z, y)
            found = motion.positions([name.rpartition("/")[2]])[k, 0]
            np.testing.assert_allclose(found, expected, atol=1e-5)
    assert len(pz.load_motion(file, fps=48.0)) == 25
    assert pz.load_motion(file, unit=1.0).unit == 1.0


def test_without_an_animation_it_stands_at_rest(tmp_path: Path) -> None:
    stage(tmp_path / "still.usda", animated=False)
    motion = pz.load_motion(tmp_path / "still.usda")
    assert len(motion) == 1
    np.testing.assert_allclose(motion.positions(["Spine"])[0, 0], [0.1, 0.0, 1.1], atol=1e-9)


def test_what_is_no_skeleton_is_told(tmp_path: Path) -> None:
    file = tmp_path / "walk.usda"
    with refused("invalid-model", "no such file"):
        pz.load_motion(file)
    file.write_text("hello")
    with refused("invalid-model", "walk.usda: the USD cannot be read"):
        pz.load_motion(file)
    file.write_text("#usda 1.0\n")
    with refused("invalid-model", "it has no skeleton of UsdSkel"):
        pz.load_motion(file)
    stage(tmp_path / "stretched.usda", animated=False, stretched=True)
    with refused("invalid-model", "only a scale above 0"):
        pz.load_motion(tmp_path / "stretched.usda")
    with refused("conflict", "animation"):
        pz.load_motion(file, animation=0)


def test_damaged_files_end_in_a_sentence(tmp_path: Path) -> None:
    stage(tmp_path / "walk.usda")
    whole, rng = (tmp_path / "walk.usda").read_bytes(), np.random.default_rng(0)
    for k in range(40):
        data, file = bytearray(whole), tmp_path / f"damaged{k}.usda"  # USD keeps what it has read, by name
        for at in rng.integers(0, len(data), 3):
            data[at] = rng.integers(32, 127)
        file.write_bytes(data[: rng.integers(1, len(data))] if rng.random() < 0.3 else data)
        with suppress(pz.ModelError):  # and no other
            pz.load_motion(file)

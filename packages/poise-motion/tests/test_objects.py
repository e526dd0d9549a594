"""Objects in hands: where a body touches one a robot's hand does too, and the object goes along with the robot."""

import re
import zipfile
from functools import cache
from typing import Any, Literal

import numpy as np
import pytest
from bodies import robot
from lifting import BEFORE, GRIPPED, LEFT, SIZE, lifting
from support.captures import HOLOSOMA, needs_holosoma
from support.refusals import refused
from walker import walk

import poise as pz
from poise.common.array import Array
from poise.geometry.meshes import MeshShape, mesh_triangles, read_mesh
from poise_motion.contact.contacts import velocities

HANDS = {"left_wrist": "left_rubber_hand", "right_wrist": "right_rubber_hand"}


def g1(base: Literal["fixed", "floating"] = "floating") -> pz.Model:
    return robot("g1", base)


@cache
def carried(base: Literal["fixed", "floating"], smooth: float) -> pz.results.Retargeted:
    motion, box = lifting(palms=True)
    return pz.retarget(motion, g1(base), objects={"box": box}, smooth=smooth)


@cache
def drawn(link: str) -> Array:
    """(n, 3) the corners of all that is drawn of a link of the G1, in its frame [m]."""
    shapes = [visual.shape for visual in g1().visuals[link]]
    corners = [s.pose.act(mesh_triangles(s, read_mesh(s)).reshape(-1, 3)) for s in shapes if isinstance(s, MeshShape)]
    return np.unique(np.concatenate(corners), axis=0)


def hand_in_box(done: pz.results.Retargeted, part: str, frame: int) -> tuple[float, Array]:
    """How far the robot's hand is from the box [m], negative inside, and (3,) its nearest corner as the box sees it."""
    box, model = pz.SE3(done.objects["box"].q[frame]), done.motion.model
    corners = box.inverse().act(model.pose(HANDS[part], done.motion.q[frame]).act(drawn(HANDS[part])))
    beyond = np.abs(corners) - 0.5 * SIZE
    far = np.linalg.norm(np.maximum(beyond, 0.0), axis=1) + np.minimum(beyond.max(axis=1), 0.0)
    return float(far.min()), corners[np.argmin(far)]


@pytest.mark.parametrize(("base", "smooth"), [("floating", 0.0), ("floating", 0.1), ("fixed", 0.0)])
def test_hands_are_on_the_box_from_first_touch_to_release(base: Literal["fixed", "floating"], smooth: float) -> None:
    done = carried(base, smooth)
    times = done.motion.times
    assert {(touch.part, touch.object) for touch in done.touches} == {(part, "box") for part in HANDS}
    for touch in done.touches:
        assert abs(times[touch.start] - GRIPPED) < 0.2
        assert abs(times[touch.stop - 1] - LEFT) < 0.2
        side = 1.0 if touch.part == "left_wrist" else -1.0
        assert np.allclose(touch.place, [side * 0.5 * SIZE[0], 0.5 * BEFORE, 0.0], atol=0.01)
        for frame in range(touch.start, touch.stop, 10):
            gap, corner = hand_in_box(done, touch.part, frame)
            assert abs(gap) < 0.005
            assert np.linalg.norm(corner - touch.place) < 0.05
    assert all(kept.off.max() < 0.005 and kept.off.mean() < 5e-4 for kept in done.report.touches)
    assert done.report.limits.broken == done.report.limits.too_fast == 0.0
    if base == "floating":
        assert done.report.skate.share == 0.0
        assert done.report.ground.kept == 1.0


def test_wrists_alone_may_be_known() -> None:
    motion, box = lifting(palms=False)
    done = pz.retarget(motion[40:70], g1(), objects={"box": box})
    assert [(touch.start, touch.stop) for touch in done.touches] == [(0, 30), (0, 30)]
    for touch in done.touches:
        assert abs(hand_in_box(done, touch.part, (touch.start + touch.stop) // 2)[0]) < 0.005


def test_a_box_stands_on_what_is_scaled_and_turns_as_it_did() -> None:
    done, (_, box) = carried("floating", 0.0), lifting(palms=True)
    moved = done.objects["box"]
    assert moved.model is box.model
    assert np.abs(moved.q[:, 3:] - box.q[:, 3:]).max() < 1e-9
    bottoms = moved.q[:, 2] - 0.5 * SIZE[2], box.q[:, 2] - 0.5 * SIZE[2]
    shares = bottoms[0] / bottoms[1]
    assert np.ptp(shares) < 1e-9
    assert 0.7 < shares[0] < 0.8  # a G1's legs against a grown person's
    still = np.abs(velocities(box.q[:, :3], box.times)).max(axis=1) < 1e-9
    assert np.abs(velocities(moved.q[:, :3], moved.times))[still].max() < 1e-9


def test_what_nobody_touches_stands_on_the_ground_and_changes_nothing() -> None:
    motion, box = walk(30.0, 1.0), lifting(palms=True)[1].model
    q = np.tile(box.neutral, (2, 1))
    q[:, :3] = [[3.0, 2.0, 0.5 * SIZE[2]], [3.5, 2.0, 0.5 * SIZE[2]]]
    done, alone = pz.retarget([motion, motion], g1(), objects=[{"box": pz.Motion(box, np.array([0.0, 1.0]), q)}, {}])
    assert not done.touches
    assert not done.report.touches
    assert np.array_equal(done.motion.q, alone.motion.q)
    assert np.allclose(done.objects["box"].q[:, 2], 0.5 * SIZE[2])
    assert len(done.objects["box"]) == len(done.motion)
    assert alone.objects == {}


def test_the_report_says_how_well_each_touch_is_kept() -> None:
    report = carried("floating", 0.0).report
    told = report.to_dict()["touches"]
    assert [(one["part"], one["object"]) for one in told] == [("left_wrist", "box"), ("right_wrist", "box")]
    for one, kept in zip(told, report.touches, strict=True):
        assert one["distance"] == {"mean": float(kept.off.mean()), "largest": float(kept.off.max())}
        assert (one["from"], one["until"]) == (kept.times[0], kept.times[-1])
    assert "hands from their places of objects, mean" in str(report)
    assert re.search(r"right_wrist on box from \d\.\d\d to \d\.\d\d s: within", str(report))


def test_what_is_no_object_is_refused() -> None:
    motion, box = lifting(palms=True)
    bare = pz.Motion(box.model.with_shapes({}), box.times, box.q)
    arm = pz.load("panda")
    cases: list[tuple[Any, str, str]] = [
        ({"box": box.model}, "wrong-type", "objects['box']"),
        ({"cup": bare}, "no-shapes", "objects['cup']"),
        ({"arm": pz.Motion(arm, np.zeros(1), arm.home[None])}, "not-supported", "objects['arm']"),
        ([{"box": box}, {"box": box}], "wrong-type", "objects"),
    ]
    for objects, code, name in cases:
        with refused(code, name):
            pz.retarget(motion, g1(), objects=objects)


def test_an_arm_of_six_joints_holds_what_it_touches_and_what_is_not_touched_is_said() -> None:
    motion, box = lifting(palms=True)
    done = pz.retarget(motion, robot("ur5e", "fixed"), objects={"box": box})
    assert [touch.part for touch in done.touches] == ["right_wrist"]
    away = pz.Motion(box.model, box.times, box.q + 9.0 * np.eye(7)[0])
    done = pz.retarget(motion, robot("ur5e", "fixed"), objects={"box": away})
    assert any("no hand touches 'box'" in note for note in done.notes)
    late = pz.Motion(box.model, box.times + 100.0, box.q)
    with pytest.raises(ValueError, match=r"objects\['box'\] is there from 100 to .* give both the same times"):
        pz.retarget(motion, robot("ur5e", "fixed"), objects={"box": late})
    table = pz.ModelBuilder("table")
    table.joint("place", "floating", parent="world", child="top")
    table.shape("top", pz.HalfSpace((0, 0, 0), (0, 0, 1)))
    flat = pz.Motion(table.build(), box.times, box.q)
    with refused("not-supported", "objects['box']"):
        pz.retarget(motion, robot("ur5e", "fixed"), objects={"box": flat})


@needs_holosoma
def test_a_recorded_person_lifts_a_box() -> None:
    """A clip of OMOMO: a box on the ground is lifted and carried on; its hands hold it to the end."""
    assert HOLOSOMA is not None
    with zipfile.ZipFile(HOLOSOMA / "demo_data" / "OMOMO_new" / "sub10_largebox_049.pt") as archive:
        rows = np.frombuffer(archive.read("sub10_largebox_049/data/0"), dtype=np.float32).reshape(-1, 591)[60:160]
    text = (HOLOSOMA / "config_types" / "data_type.py").read_text()
    listed = re.search(r"SMPLH_DEMO_JOINTS = \[(.*?)\]", text, re.DOTALL)
    assert listed is not None
    names = re.findall(r'"(\w+)"', listed[1])
    motion = pz.motion_from_positions(
        rows[:, 162:318].reshape(-1, 52, 3).astype(float), names, [_parent(name) for name in names], fps=30.0
    )
    with pytest.warns(pz.ModelWarning, match="dynamics"):
        box = pz.load(HOLOSOMA / "models" / "largebox" / "largebox.urdf", base="floating")
    path = pz.Motion(box, motion.times, rows[:, [318, 319, 320, 324, 321, 322, 323]].astype(float))
    done = pz.retarget(motion, g1(), objects={"box": path})
    for part in HANDS:
        touch = next(touch for touch in done.touches if touch.part == part and touch.stop == len(motion))
        assert motion.times[touch.start] < 1.0
        kept = next(kept for kept in done.report.touches if kept.touch is touch)
        assert kept.off.mean() < 1e-3
    assert done.report.limits.broken == 0.0


def _parent(name: str) -> str | None:
    """The parent of a joint of SMPL-H."""
    trunk = {"Pelvis": None, "Torso": "Pelvis", "Spine": "Torso", "Chest": "Spine", "Neck": "Chest", "Head": "Neck"}
    if name in trunk:
        return trunk[name]
    side, part = name.split("_")
    if part[-1].isdigit():
        return f"{side}_Wrist" if part[-1] == "1" else f"{side}_{part[:-1]}{int(part[-1]) - 1}"
    above = {
        "Knee": "Hip",
        "Ankle": "Knee",
        "Toe": "Ankle",
        "Shoulder": "Thorax",
        "Elbow": "Shoulder",
        "Wrist": "Elbow",
    }
    return f"{side}_{above[part]}" if part in above else {"Hip": "Pelvis", "Thorax": "Chest"}[part]

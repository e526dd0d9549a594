"""Bodies by parameters, against SciPy's rotations and against smplx; what is damaged or foreign is told of."""

import io
import pickle
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bodies import robot
from scipy.sparse import csc_matrix
from smpl_bodies import FRAMES, PARENTS, RATE, model, motion, places, save
from support.refusals import refused

import poise as pz
from poise.cli import main

Z_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])


@pytest.mark.parametrize("many", PARENTS)
@pytest.mark.parametrize("kind", [".npz", ".pkl"])
def test_joints_are_where_the_rotations_of_scipy_bring_them(tmp_path: Path, many: int, kind: str) -> None:
    arrays, body = motion(many), model(many)
    betas = np.linspace(-2.0, 2.0, 10)
    read = pz.load_motion(
        save(tmp_path / f"walk{kind}", {**arrays, "betas": betas}), body_model=save(tmp_path / f"body{kind}", body)
    )
    rest = body["J_regressor"] @ (body["v_template"] + body["shapedirs"] @ betas)
    assert read.model.joint_names[:3] == ("pelvis", "left_hip", "right_hip")
    assert (len(read), read.model.nv, read.fps) == (FRAMES, 3 + 3 * many, pytest.approx(RATE))
    expected = places(rest, arrays["poses"], arrays["trans"])
    np.testing.assert_allclose(read.positions(), expected, atol=1e-9)
    assert read.notes[-1] == f"the joints are those of body{kind} with 10 of 10 betas"


def test_at_rest_it_stands_upright_with_its_arms_to_the_sides(tmp_path: Path) -> None:
    read = pz.load_motion(save(tmp_path / "walk.npz", motion(55)))
    still = dict(zip(read.model.links, read.model.poses(read.model.neutral, read.model.links).xyz, strict=True))
    assert still["head"][2] - still["left_ankle"][2] == pytest.approx(1.70 * (0.890 - 0.039))
    assert still["left_wrist"][0] - still["left_shoulder"][0] == pytest.approx(1.70 * 0.332)
    assert still["left_foot"][1] < still["left_ankle"][1]  # it looks along -y
    assert still["left_index3"][0] > still["left_index1"][0] > still["left_wrist"][0]
    for name, place in still.items():
        if name.startswith("left"):
            np.testing.assert_allclose(place * (-1, 1, 1), still[name.replace("left", "right")], atol=1e-12)
    assert "average proportions" in read.notes[-1]
    assert "body_model=" in read.notes[-1]


def test_what_is_y_up_is_seen_or_said(tmp_path: Path) -> None:
    arrays, body = motion(24, up="y"), save(tmp_path / "body.npz", model(24))
    file = save(tmp_path / "dance.npz", arrays)
    standing = pz.load_motion(file)
    assert "along y in 100 % of the frames" in standing.notes[-1]
    up = standing.positions(["head"]) - standing.positions(["left_ankle"])
    assert (up[:, 0, 2] > 1.0).all()
    stated = pz.load_motion(file, up="y")
    np.testing.assert_allclose(stated.q, standing.q)
    rest = model(24)["J_regressor"] @ model(24)["v_template"]
    found = pz.load_motion(file, body_model=body, up="y").positions()
    np.testing.assert_allclose(found, places(rest, arrays["poses"], arrays["trans"]) @ Z_UP.T, atol=1e-9)


@pytest.mark.parametrize("rate", ["mocap_framerate", "mocap_frame_rate", "fps"])
def test_the_rate_has_many_names(tmp_path: Path, rate: str) -> None:
    arrays = motion(22)
    del arrays["mocap_framerate"]
    assert pz.load_motion(save(tmp_path / "a.npz", {**arrays, rate: [30]})).fps == pytest.approx(30.0)
    assert pz.load_motion(tmp_path / "a.npz", fps=100.0).fps == pytest.approx(100.0)


@pytest.mark.parametrize(
    ("many", "names"),
    [
        (22, {"root_orient": slice(0, 3), "pose_body": slice(3, 66)}),
        (24, {"global_orient": slice(0, 3), "body_pose": slice(3, 72)}),
        (52, {"root_orient": slice(0, 3), "pose_body": slice(3, 66), "pose_hand": slice(66, 156)}),
        (
            52,
            {
                "global_orient": slice(0, 3),
                "body_pose": slice(3, 66),
                "left_hand_pose": slice(66, 111),
                "right_hand_pose": slice(111, 156),
            },
        ),
        (
            55,
            {
                "root_orient": slice(0, 3),
                "pose_body": slice(3, 66),
                "pose_jaw": slice(66, 69),
                "pose_eye": slice(69, 75),
                "pose_hand": slice(75, 165),
            },
        ),
    ],
)
def test_poses_in_parts_are_those_in_one(tmp_path: Path, many: int, names: dict[str, slice]) -> None:
    arrays = motion(many)
    whole = pz.load_motion(save(tmp_path / "whole.npz", arrays))
    poses = arrays.pop("poses")
    parts = {name: poses[:, columns] for name, columns in names.items()}
    split = pz.load_motion(save(tmp_path / "parts.npz", {**arrays, **parts}))
    assert split.model.joint_names == whole.model.joint_names
    np.testing.assert_array_equal(split.q, whole.q)


def test_hands_of_few_components_are_left_out_and_told(tmp_path: Path) -> None:
    arrays = motion(22)
    poses = arrays.pop("poses")
    arrays |= {"root_orient": poses[:, :3], "pose_body": poses[:, 3:], "pose_hand": np.zeros((FRAMES, 24))}
    read = pz.load_motion(save(tmp_path / "a.npz", arrays))
    assert "'pose_hand' has 24 numbers a frame, not 90" in read.notes[0]


def test_a_collection_of_one_and_a_scaled_place_are_read(tmp_path: Path) -> None:
    arrays = motion(24)
    dance = {"smpl_poses": arrays["poses"], "smpl_trans": 90.0 * arrays["trans"], "smpl_scaling": np.array([90.0])}
    file = save(tmp_path / "dance.pkl", {"dance": dance})
    read = pz.load_motion(file, fps=60.0)
    np.testing.assert_allclose(read.q[:, :3], arrays["trans"])
    with refused("invalid-model", "states no rate", "say fps"):
        pz.load_motion(file)


def test_numbers_of_no_person_are_told(tmp_path: Path) -> None:
    arrays = motion(24)
    assert not any(
        "turned by" in note or "betas of" in note for note in pz.load_motion(save(tmp_path / "a.npz", arrays)).notes
    )
    poses = np.degrees(arrays["poses"])
    notes = pz.load_motion(save(tmp_path / "b.npz", {**arrays, "poses": poses, "betas": np.full(10, 1e5)})).notes
    assert any("taken as radians: if these are degrees" in note for note in notes)
    assert "betas of up to 1e+05 are those of no person, who has some 3" in notes


def test_a_body_of_another_kind_or_suffix_is_refused(tmp_path: Path) -> None:
    file, other = save(tmp_path / "walk.npz", motion(52)), save(tmp_path / "body.npz", model(55))
    with refused("invalid-model", "body.npz", "'J_regressor' must be (52, 220) for SMPL-H"):
        pz.load_motion(file, body_model=other)
    np.savez(tmp_path / "none.npz", a=[1])
    with refused("invalid-model", "no 'v_template'", "it has a"):
        pz.load_motion(file, body_model=tmp_path / "none.npz")
    with refused("wrong-format", "body_model"):
        pz.load_motion(file, body_model=tmp_path / "body.obj")
    with refused("conflict", "skin"):
        pz.load_motion(file, skin=0)
    body = model(52)
    body["kintree_table"][0, 5] = 0
    with refused("invalid-model", "'kintree_table' is not the tree of SMPL-H"):
        pz.load_motion(file, body_model=save(tmp_path / "other.npz", body))
    # A body without hands has what is common to all.
    alone = pz.load_motion(save(tmp_path / "alone.npz", motion(22)), body_model=other)
    rest = (model(55)["J_regressor"] @ model(55)["v_template"])[:22]
    np.testing.assert_allclose(alone.positions(), places(rest, motion(22)["poses"], motion(22)["trans"]), atol=1e-9)


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "another width": ({"poses": np.zeros((FRAMES, 63))}, "'poses' has 63 numbers a frame; 66 of a body without hands"),
    "one number": ({"poses": np.zeros(())}, "'poses' must be (frames, 3 joints), got ()"),
    "no frame": ({"poses": np.zeros((0, 72))}, "'poses' must be (frames, 3 joints), got (0, 72)"),
    "words": ({"poses": np.full((FRAMES, 72), "a")}, "'poses' is no array of numbers"),
    "matrices": ({"poses": np.zeros((FRAMES, 24, 3, 3))}, "'poses' has matrices"),
    "not finite": ({"trans": np.where(np.eye(FRAMES, 3) > 0, np.nan, 0.0)}, "trans[0, 0] is nan"),
    "infinite": ({"poses": np.full((FRAMES, 72), np.inf)}, "poses[0, 0] is inf"),
    "other frames": ({"trans": np.zeros((FRAMES + 1, 3))}, "'trans' must be (12, 3), as there are frames, got (13, 3)"),
    "far away": ({"trans": np.full((FRAMES, 3), 1e300)}, "'trans' is too far away"),
    "rate below 0": ({"mocap_framerate": -60.0}, "'mocap_framerate' must be one number above 0, got -60"),
    "rate 0": ({"mocap_framerate": 0.0}, "'mocap_framerate' must be one number above 0"),
    "two rates": ({"mocap_framerate": [30.0, 60.0]}, "'mocap_framerate' must be one number above 0"),
    "complex": ({"betas": np.zeros(10, complex)}, "'betas' is no array of numbers"),
}


@pytest.mark.parametrize("what", WRONG)
@pytest.mark.parametrize("kind", [".npz", ".pkl"])
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, what: str, kind: str) -> None:
    arrays, words = WRONG[what]
    file = save(tmp_path / f"wrong{kind}", {**motion(24), **arrays})
    with refused("invalid-model", f"wrong{kind}: ", words):
        pz.load_motion(file)


def test_other_archives_are_told_by_what_they_hold(tmp_path: Path) -> None:
    np.savez(tmp_path / "other.npz", qpos=np.zeros(3), names=["a"])
    with refused("invalid-model", "neither 'poses' nor 'root_orient'", "it has qpos, names"):
        pz.load_motion(tmp_path / "other.npz")
    with refused("invalid-model", "no such file"):
        pz.load_motion(tmp_path / "absent.npz")
    (tmp_path / "folder.pkl").mkdir()
    with refused("invalid-model", "it is a folder"):
        pz.load_motion(tmp_path / "folder.pkl")
    (tmp_path / "empty.pkl").touch()
    with refused("invalid-model", "empty"):
        pz.load_motion(tmp_path / "empty.pkl")
    (tmp_path / "list.pkl").write_bytes(pickle.dumps([1, 2]))
    with refused("invalid-model", "it holds a list"):
        pz.load_motion(tmp_path / "list.pkl")


def test_arrays_of_objects_beside_are_passed_over(tmp_path: Path) -> None:
    arrays = motion(24) | {"labels": np.array(["LHIP", None], dtype=object), "gender": np.array("female")}
    assert len(pz.load_motion(save(tmp_path / "a.npz", arrays))) == FRAMES
    with refused("invalid-model", "array 'poses'", "Python objects"):
        pz.load_motion(save(tmp_path / "b.npz", {"poses": arrays["labels"]}))


def test_an_archive_that_claims_more_than_it_has_is_refused(tmp_path: Path) -> None:
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (2**40, 72)})
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("poses.npy", header.getvalue() + bytes(1000))
    with refused("invalid-model", "array 'poses'", "claims"):
        pz.load_motion(tmp_path / "bomb.npz")


def test_what_is_larger_than_memory_is_for_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arrays = {"poses": np.zeros((3000, 72)), "fps": 30.0}
    np.savez_compressed(tmp_path / "zeros.npz", **arrays)
    save(tmp_path / "zeros.pkl", arrays)
    monkeypatch.setattr("poise_motion.files.arrays._FILE", 2**20)
    with refused("invalid-model", "its arrays unpack to 1,728,008 bytes"):
        pz.load_motion(tmp_path / "zeros.npz")
    monkeypatch.setattr("poise_motion.files.arrays.bytes_of.__defaults__", (2**20,))
    with refused("invalid-model", "the file has more than 1 MiB"):
        pz.load_motion(tmp_path / "zeros.pkl")
    monkeypatch.undo()
    monkeypatch.setattr("poise_motion.files.smpl._TURNS", 3000)
    with refused("invalid-model", "'poses' has 3,000 frames, too many to hold"):
        pz.load_motion(tmp_path / "zeros.npz")


@pytest.mark.parametrize("kind", [".npz", ".pkl"])
def test_damaged_files_end_in_a_sentence(tmp_path: Path, kind: str) -> None:
    whole = save(tmp_path / f"whole{kind}", motion(24)).read_bytes()
    file, rng = tmp_path / f"damaged{kind}", np.random.default_rng(0)
    cut = [whole[:k] for k in rng.integers(1, len(whole), 60)]
    spoilt = []
    for _ in range(200):
        data = bytearray(whole)
        start = 0 if rng.random() < 0.5 else max(len(data) - 600, 0)
        for at in rng.integers(start, min(start + 600, len(data)), rng.integers(1, 5)):
            data[at] = rng.integers(256)
        spoilt.append(bytes(data))
    for data in (*cut, *spoilt):
        file.write_bytes(data)
        with suppress(pz.ModelError):  # and no other
            pz.load_motion(file)


def test_a_model_in_an_old_pickle_is_read_and_run_by_nobody(tmp_path: Path) -> None:
    body, arrays = model(24), motion(24)
    body["J_regressor"] = csc_matrix(body["J_regressor"])
    file = save(tmp_path / "walk.npz", arrays)
    sparse = pz.load_motion(file, body_model=save(tmp_path / "body.pkl", body))
    dense = pz.load_motion(file, body_model=save(tmp_path / "body.npz", model(24)))
    np.testing.assert_allclose(sparse.q, dense.q)
    np.testing.assert_allclose(sparse.positions(), dense.positions(), atol=1e-12)


def test_it_is_played_as_any_skeleton(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("viser", reason="the viewer needs viser")
    file = save(tmp_path / "walk.npz", motion(24))
    assert pz.load(file).joint_names == pz.load_motion(file).model.joint_names
    assert main(["view", "--replay", str(file), "--port", "0", "--record", str(tmp_path / "walk.html")]) == 0
    assert (tmp_path / "walk.html").stat().st_size > 1000
    assert main(["view", "panda", "--replay", str(file)]) == 1
    assert "brings a skeleton of its own" in " ".join(capsys.readouterr().err.split())


def test_a_robot_follows_it_by_the_bones_of_its_tree(tmp_path: Path) -> None:
    read = pz.load_motion(save(tmp_path / "walk.npz", motion(52)))
    body = pz.BodyMap.found(read, read.model)
    assert body.source == body.source | {
        "pelvis": "pelvis",
        "chest": "spine3",
        "left_knee": "left_knee",
        "left_toe": "left_foot",
        "right_wrist": "right_wrist",
        "left_thumb": "left_thumb1",
        "right_pinky": "right_pinky1",
    }
    done = pz.retarget(read, robot("g1"))
    assert done.report.tracking.direction.mean() < np.radians(25.0)
    assert "left_knee" in done.body.parts


def test_the_joints_are_those_of_smplx(tmp_path: Path) -> None:
    smplx = pytest.importorskip("smplx", reason="the second opinion is smplx")
    torch = pytest.importorskip("torch", reason="smplx needs PyTorch")
    many, betas = 55, np.linspace(-1.0, 1.0, 10)
    corners = 10_475  # of some of them it makes joints of the face, by their numbers
    arrays, body = motion(many), model(many, shapes=20, corners=corners)
    body |= {
        "posedirs": np.zeros((corners, 3, 9 * (many - 1)), np.float32),
        "weights": np.full((corners, many), 1.0 / many),
        "f": np.zeros((1, 3), np.uint32),
        "lmk_faces_idx": np.zeros(51, np.int64),
        "lmk_bary_coords": np.zeros((51, 3)),
        "hands_meanl": np.zeros(45),
        "hands_meanr": np.zeros(45),
        "hands_componentsl": np.eye(45),
        "hands_componentsr": np.eye(45),
    }
    (tmp_path / "smplx").mkdir()
    file = save(tmp_path / "smplx" / "SMPLX_NEUTRAL.npz", body)
    made = smplx.SMPLX(
        str(file), use_pca=False, flat_hand_mean=True, batch_size=FRAMES, num_betas=10, use_face_contour=False,
        dtype=torch.float64,
    )  # fmt: skip
    given = {
        "global_orient": slice(0, 3),
        "body_pose": slice(3, 66),
        "jaw_pose": slice(66, 69),
        "leye_pose": slice(69, 72),
        "reye_pose": slice(72, 75),
        "left_hand_pose": slice(75, 120),
        "right_hand_pose": slice(120, 165),
    }
    tensors = {name: torch.tensor(arrays["poses"][:, columns]) for name, columns in given.items()}
    out = made(
        **tensors, transl=torch.tensor(arrays["trans"]), betas=torch.tensor(np.tile(betas, (FRAMES, 1))),
        expression=torch.zeros((FRAMES, 10), dtype=torch.float64),
    )  # fmt: skip
    read = pz.load_motion(save(tmp_path / "walk.npz", {**arrays, "betas": betas}), body_model=file)
    np.testing.assert_allclose(read.positions(), out.joints[:, :many].detach().numpy(), atol=1e-6)

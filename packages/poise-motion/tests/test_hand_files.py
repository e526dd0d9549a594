"""The YAML files of dex-retargeting, and the robots' hands and the human one that packages bring."""

import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.captures import WEBXR as WEBXR_FOLDER
from support.hand_models import clip, robot_hand

import poise as pz
from poise.io.gltf_joints import WEBXR
from poise_motion.anatomy.landmarks import MEDIAPIPE

pytest.importorskip("yaml", reason="needs PyYAML")

WEBXR_HAND = WEBXR_FOLDER / "right.glb"
ROBOT = robot_hand()
URDF = """<robot name="two">
  <link name="wrist"/><link name="a"/><link name="b"/><link name="c"/>
  <joint name="one" type="revolute"><parent link="wrist"/><child link="a"/><axis xyz="0 1 0"/>
    <origin xyz="0 0 0.1"/><limit lower="0.2" upper="1.5" effort="1" velocity="1"/></joint>
  <joint name="two" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/>
    <origin xyz="0 0 0.05"/><limit lower="0" upper="1.5" effort="1" velocity="1"/></joint>
  <joint name="three" type="revolute"><parent link="b"/><child link="c"/><axis xyz="0 1 0"/>
    <origin xyz="0 0 0.04"/><mimic joint="two"/><limit lower="0" upper="1.5" effort="1" velocity="1"/></joint>
</robot>"""
VECTOR = {
    "type": "vector",
    "urdf_path": "hands/two_left.urdf",
    "target_origin_link_names": ["wrist", "wrist"],
    "target_task_link_names": ["c", "b"],
    "target_link_human_indices": [[0, 0], [8, 7]],
    "scaling_factor": 1.2,
    "low_pass_alpha": 0.2,
}
PILOT = {
    "type": "DexPilot",
    "urdf_path": "x.urdf",
    "wrist_link_name": "palm",
    "finger_tip_link_names": ["tip0", "tip1"],
}
POSITION = {"type": "position", "urdf_path": "x.urdf", "target_link_names": ["tip1"], "target_link_human_indices": [8]}


def written(folder: Path, settings: dict[str, Any]) -> Path:
    import yaml

    file = folder / "hand.yml"
    file.write_text(yaml.safe_dump({"retargeting": settings}))
    (folder / "hands").mkdir(exist_ok=True)
    (folder / "hands" / "two_left.urdf").write_text(URDF)
    return file


def test_a_file_of_vectors(tmp_path: Path) -> None:
    read = pz.hands.load_hand_retargeter(written(tmp_path, VECTOR))
    assert (read.kind, read.scale, read.alpha, read.huber, read.regularization) == ("vector", 1.2, 0.2, 0.02, 4e-3)
    assert [(task.origin, task.tip) for task in read.tasks] == [("wrist", "c"), ("wrist", "b")]  # type: ignore[attr-defined]
    assert {"wrist", "index-finger-tip", "index-finger-phalanx-distal"} <= set(read.landmarks)
    assert read.notes == ("taken to be a left hand",)
    assert read.model.joint_names == ("one", "two")
    same = pz.hands.HandRetargeter(
        read.model, {"c": 8, "b": 7}, wrist="wrist", side="left", scale=1.2, alpha=0.2
    ).retarget(clip(8))
    np.testing.assert_array_equal(read.retarget(clip(8)).q, same.q)
    assert pz.hands.load_hand_retargeter(tmp_path / "hand.yml", side="right", alpha=1.0).notes == ()


def test_limits_take_the_place_of_the_files(tmp_path: Path) -> None:
    file, sum_ = written(tmp_path, VECTOR | {"has_joint_limits": False}), {"one": 1.0, "two": 1.0}
    free = pz.hands.load_hand_retargeter(file).retarget(clip(8))
    held = pz.hands.load_hand_retargeter(file, limits=[pz.LinearLimit(sum_, 0.5)]).retarget(clip(8))
    assert not free.model.within_limits(free.q)
    assert held.model.within_limits(held.q)
    assert free.q.sum(axis=1).max() > 0.6 > 0.5 + 1e-12 >= held.q.sum(axis=1).max()


def test_a_file_of_a_pilot() -> None:
    for more in ({}, {"target_link_human_indices": [[8, 0, 0], [4, 4, 8]]}):
        read = _loaded(PILOT | more | {"project_dist": 0.02, "escape_dist": 0.04, "huber_delta": 0.05})
        assert (read.kind, read.huber, read.pinch) == ("dexpilot", 0.05, pz.hands.Pinch(near=0.02, away=0.04))
        assert [(t.origin, t.tip) for t in read.tasks] == [("tip1", "tip0"), ("palm", "tip0"), ("palm", "tip1")]  # type: ignore[attr-defined]
        assert any("huber_delta was read" in note for note in read.notes)
    assert _loaded(PILOT).huber == 0.03


def test_a_file_of_positions(tmp_path: Path) -> None:
    free = POSITION | {"add_dummy_free_joint": True, "scaling_factor": 2.0}
    floating = robot_hand(base="floating")
    read = pz.hands.load_hand_retargeter(written(tmp_path, free), model=floating)
    assert (read.kind, read.scale, read.align, read.model) == ("position", 1.0, False, floating)
    assert "of other types, and not read: scaling_factor" in read.notes
    with pytest.raises(pz.ModelError, match="does not float"):
        pz.hands.load_hand_retargeter(written(tmp_path, free), model=ROBOT)


UNION = {
    "urdf_path": "x.urdf",
    "wrist_link_name": "palm",
    "finger_tip_link_names": ["tip0", "tip1"],
    "target_link_human_indices_dexpilot": [[9, 0, 0], [4, 4, 9]],
    "target_origin_link_names": ["palm", "palm"],
    "target_task_link_names": ["tip0", "tip1"],
    "target_link_human_indices_vector": [[0, 0], [4, 9]],
}
"""As of xr_teleoperate, for all types at once; it numbers the 25 joints of WebXR."""


@pytest.mark.parametrize("kind", ["DexPilot", "vector"])
def test_a_file_of_both_hands_of_xr_teleoperate(tmp_path: Path, kind: str) -> None:
    import yaml

    right = UNION | {"type": kind}
    file = tmp_path / "hands.yml"
    file.write_text(yaml.safe_dump({"left": right | {"scaling_factor": 1.5}, "right": right}))
    with pytest.raises(pz.ModelError, match="of a left and of a right hand; say side='left' or side='right'"):
        pz.hands.load_hand_retargeter(file, model=ROBOT)
    left = pz.hands.load_hand_retargeter(file, model=ROBOT, side="left")
    read = pz.hands.load_hand_retargeter(file, model=ROBOT, side="right", alpha=1.0)
    assert (left.side, left.scale, read.side, read.scale) == ("left", 1.5, "right", 1.0)
    assert {"wrist", "thumb-tip", "index-finger-tip"} <= set(read.landmarks)
    assert sum("of other types, and not read: " in note for note in read.notes) == 1
    theirs = _loaded(
        (PILOT if kind == "DexPilot" else UNION | {"type": kind, "target_link_human_indices_vector": None})
        | {"target_link_human_indices": [[8, 0, 0], [4, 4, 8]] if kind == "DexPilot" else [[0, 0], [4, 8]]}
        | {"low_pass_alpha": 1.0}
    )
    np.testing.assert_array_equal(read.retarget(clip(8)).q, theirs.retarget(clip(8)).q)


def test_a_file_of_one_hand_by_its_side(tmp_path: Path) -> None:
    import yaml

    file = tmp_path / "hand.yml"
    file.write_text(yaml.safe_dump({"left": UNION | {"type": "vector"}}))
    assert pz.hands.load_hand_retargeter(file, model=ROBOT).side == "left"
    with pytest.raises(pz.ModelError, match="settings of a left hand; say side='left'"):
        pz.hands.load_hand_retargeter(file, model=ROBOT, side="right")


def test_joints_that_are_left_out_stand_still(tmp_path: Path) -> None:
    read = pz.hands.load_hand_retargeter(written(tmp_path, VECTOR | {"target_joint_names": ["two"]}))
    assert read.model.joint_names == ("two",)
    assert "stand still: one" in read.notes
    np.testing.assert_allclose(read.model.pose("a", [0.0]).rotation.log(), [0, 0.2, 0], atol=1e-12)


def test_a_folder_of_robots(tmp_path: Path) -> None:
    file = written(tmp_path, VECTOR | {"urdf_path": "two_left.urdf"})
    assert pz.hands.load_hand_retargeter(file, folder=tmp_path / "hands").model.name == "two"
    with pytest.raises(pz.ModelError, match=r"two_left.urdf, which is not in .*; say its folder by folder="):
        pz.hands.load_hand_retargeter(file)


def _loaded(settings: dict[str, Any], model: pz.Model = ROBOT) -> pz.hands.HandRetargeter:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        return pz.hands.load_hand_retargeter(written(Path(folder), settings), model=model)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"type": "nearest"}, "type is 'nearest'; it must be one of"),
        ({"type": None}, "type is missing"),
        ({"scaling": 2.0}, "no setting 'scaling'; did you mean 'scaling_factor'"),
        ({"scaling_factor": "big"}, "scaling_factor is 'big'; it must be a number"),
        ({"scaling_factor": float("nan")}, "scaling_factor is nan"),
        ({"has_joint_limits": 1}, "has_joint_limits is 1; it must be True or False"),
        ({"ignore_mimic_joint": True}, "always follow"),
        ({"low_pass_alpha": 0}, "lets nothing through"),
        ({"wrist_link_name": None}, "wrist_link_name is missing"),
        ({"finger_tip_link_names": "tip0"}, "must be a list of names"),
        ({"finger_tip_link_names": ["tip0"]}, "two to five"),
        ({"finger_tip_link_names": ["tip0", "tip0"]}, "'tip0' is to follow two landmarks"),
        ({"finger_tip_link_names": list("abcdef")}, "a hand has five"),
        ({"target_link_human_indices": [[0, 0, 0], [4, 4, 8]]}, "all pairs of fingertips"),
        ({"target_link_human_indices": [4, 8]}, "not 2 x 3 numbers"),
        ({"target_link_human_indices": [[8, 0, 0], [4, 4, 8.5]]}, "from 0 to 20"),
        ({"target_link_human_indices": [[8, 0, 0], [4, 4, 21]]}, "from 0 to 20"),
        ({"target_link_human_indices_dexpilot": [[9, 0, 0], [4, 4, 25]]}, "joints of WebXR .* from 0 to 24"),
        ({"target_joint_names": ["bend12"]}, "follows another joint"),
        ({"urdf_path": 3}, "urdf_path is 3"),
        ({"finger_tip_link_names": ["tip0", "tip7"]}, "no frame 'tip7'"),
        ({"target_joint_names": ["bent"]}, "no joint 'bent'"),
    ],
)
def test_what_cannot_be_is_said(change: dict[str, Any], message: str) -> None:
    with pytest.raises(pz.PoiseError if "no " in message else ValueError, match=message):
        _loaded(PILOT | change)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "begins with 'retargeting:'"),
        ("[1, 2]", "begins with 'retargeting:'"),
        ("retargeting: 5", "begins with 'retargeting:'"),
        ("retargeting:\n  type: [vector", r"hand.yml:\d: this is no YAML"),
        ("retargeting:\n\ttype: vector", r"hand.yml:2: this is no YAML"),
        ("\x00", "this is no YAML"),
        ("!!python/object/apply:os.system ['true']", "this is no YAML"),
        ("[" * 100_000, "this is no YAML"),
        ("retargeting:\n  ? [1]\n  : 2", "no"),
        ("#" * 1_000_001, "more than 1000000 bytes"),
    ],
)
def test_files_that_are_none(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "hand.yml"
    file.write_text(text)
    with pytest.raises(pz.ModelError, match=message):
        pz.hands.load_hand_retargeter(file)
    with pytest.raises(pz.ModelError, match="cannot be read"):
        pz.hands.load_hand_retargeter(tmp_path / "none.yml")


@pytest.mark.parametrize("name", ["target_link_human_indices", "scaling_factor", "type", "target_origin_link_names"])
def test_aliases_of_aliases_are_no_trouble(tmp_path: Path, name: str) -> None:
    many = "\n".join(f"a{i + 1}: &a{i + 1} [{', '.join([f'*a{i}'] * 9)}]" for i in range(12))
    settings = VECTOR | {name: "here"}
    lines = "\n".join(f"  {key}: {'*a12' if value == 'here' else value}" for key, value in settings.items())
    file = tmp_path / "hand.yml"
    file.write_text(f"a0: &a0 [x]\n{many}\nretargeting:\n{lines}\n")
    with pytest.raises(pz.ModelError, match=name) as caught:
        pz.hands.load_hand_retargeter(file, model=ROBOT)
    assert len(str(caught.value)) < 1000


def test_without_yaml_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = written(tmp_path, VECTOR)
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(pz.MissingExtra, match=r'pip install "poise\[hands\]"'):
        pz.hands.load_hand_retargeter(file)


# What packages bring ---------------------------------------------------------------------------------------------


def folder_of(package: str) -> Path:
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        pytest.skip(f"needs {package}")
    return Path(spec.submodule_search_locations[0])


def grasping() -> np.ndarray:
    """(frames, 25, 3) the hand of WebXR, at rest, closing to a fist and pinching."""
    if not WEBXR_HAND.exists():
        pytest.skip("needs the hands of @webxr-input-profiles/assets, see WEBXR_HANDS")
    motion = pz.load_motion(WEBXR_HAND)
    model, rest = motion.model, motion.positions(WEBXR)[0]
    along = rest[WEBXR.index("middle-finger-phalanx-proximal")] - rest[0]
    across = rest[WEBXR.index("index-finger-phalanx-proximal")] - rest[WEBXR.index("middle-finger-phalanx-proximal")]
    side = np.cross(along, np.cross(across, along))
    side /= np.linalg.norm(side)
    q = np.repeat(motion[0][None], 40, axis=0)
    for k, share in enumerate(0.5 - 0.5 * np.cos(np.linspace(0, 2 * np.pi, 40))):
        for name in model.joint_names:
            if "phalanx" in name:
                at = model.index(name)
                turn = pz.SO3.from_rotvec((0.4 if "thumb" in name else 1.1) * share * side)
                q[k, at] = (turn @ pz.SO3(wxyz=q[k, at])).wxyz
    points = model.poses(q, WEBXR).xyz.copy()
    pinch = np.repeat(rest[None], 40, axis=0)
    tips = [WEBXR.index(f"{finger}-tip") for finger in ("thumb", "index-finger")]
    for k, share in enumerate(0.5 - 0.5 * np.cos(np.linspace(0, 2 * np.pi, 40))):
        middle = rest[tips].mean(axis=0)
        pinch[k, tips] += share * (middle - rest[tips])
    return np.concatenate([points, pinch])


@pytest.mark.filterwarnings("ignore::poise.ModelWarning")
@pytest.mark.parametrize("kind", ["", "_dexpilot"])
@pytest.mark.parametrize("robot", ["allegro", "shadow", "leap"])
def test_the_hand_of_webxr_on_robots(robot: str, kind: str) -> None:
    hands, points = folder_of("dexi_rs") / "resources/assets/robots/hands", grasping()
    file = folder_of("dex_retargeting") / f"configs/teleop/{robot}_hand_right{kind}.yml"
    read = pz.hands.load_hand_retargeter(file, folder=hands, alpha=1.0)
    motion = read.retarget(points)
    model = read.model
    assert (motion.q >= model.lower).all()
    assert (motion.q <= model.upper).all()
    if not kind:  # the pull of a pinch begins at once, which a filter is for
        assert np.abs(np.diff(motion.q, axis=0)).max() < 0.6
    thumb, index = (next(t.tip for t in read.tasks if t.tip.startswith(name)) for name in _TIPS[robot])  # type: ignore[attr-defined]
    tips = model.poses(motion.q, [thumb, index]).xyz
    gap = np.linalg.norm(tips[:, 0] - tips[:, 1], axis=1)
    assert gap[0] > 0.05
    if kind:
        assert gap[60] < 0.01  # the human's touch
    closed, opened = (model.poses(motion.q[k], [index]).xyz[0] for k in (20, 0))
    assert np.linalg.norm(closed - opened) > 0.03


_TIPS = {"allegro": ("link_15", "link_3"), "shadow": ("thtip", "fftip"), "leap": ("thumb_tip", "index_tip")}


@pytest.mark.filterwarnings("ignore")
def test_every_file_of_dex_retargeting_is_read() -> None:
    hands, configs = folder_of("dexi_rs") / "resources/assets/robots/hands", folder_of("dex_retargeting") / "configs"
    files = sorted(configs.glob("*/*.yml"))
    assert len(files) == 39
    for file in files:
        if file.parent.name == "offline" and file.name.startswith("shadow"):
            with pytest.raises(pz.ModelError, match="joined to 'world'"):  # by its own file
                pz.hands.load_hand_retargeter(file, folder=hands)
        else:
            assert pz.hands.load_hand_retargeter(file, folder=hands).landmarks


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["teleop/allegro_hand_right", "teleop/allegro_hand_right_dexpilot"])
def test_the_objective_is_that_of_dex_retargeting(kind: str) -> None:
    """Theirs leaves the regularization out of the value, and has it in the gradient; both are compared."""
    for needed in ("torch", "anytree"):  # with a package that has its files alone, what it needs may lack
        pytest.importorskip(needed)
    hands, configs = folder_of("dexi_rs") / "resources/assets/robots/hands", folder_of("dex_retargeting") / "configs"
    from dex_retargeting.retargeting_config import RetargetingConfig

    RetargetingConfig.set_default_urdf_dir(str(hands))
    theirs = RetargetingConfig.load_from_file(configs / f"{kind}.yml").build().optimizer
    ours = pz.hands.load_hand_retargeter(configs / f"{kind}.yml", folder=hands)
    names, model = theirs.target_joint_names, ours.model
    order = [names.index(name) for name in model.joint_names]
    rng = np.random.default_rng(0)
    evaluate: Callable[..., float]
    for hand in clip(30):
        ours.step(hand)
        points = hand[[WEBXR.index(name) for name in MEDIAPIPE]]
        pairs = theirs.target_link_human_indices
        given = (points[pairs[1]] - points[pairs[0]]).astype(np.float32)
        q, last = (rng.uniform(model.lower, model.upper) for _ in range(2))
        x, before = np.zeros(len(q)), np.zeros(len(q))
        x[order], before[order] = q, last
        evaluate = theirs.get_objective_function(given, np.zeros(0), before.astype(np.float32))
        slope = np.zeros(len(q))
        value = evaluate(x, slope)
        assert ours.objective(hand, q, last) - 4e-3 * np.sum((q - last) ** 2) == pytest.approx(value, rel=1e-4)
        found = [
            (ours.objective(hand, q + d, last) - ours.objective(hand, q - d, last)) / 2e-6
            for d in 1e-6 * np.eye(len(q))
        ]
        np.testing.assert_allclose(found, slope[order], rtol=2e-3, atol=2e-5)

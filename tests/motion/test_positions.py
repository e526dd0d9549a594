"""A motion from where joints are: it passes through them, turns as little as they allow, and says what it mended."""

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation
from support.captures import ASSIMP, climber, climbs, needs_assimp, needs_holosoma
from support.refusals import refused

import poise as pz
from poise.common.errors import ModelWarning

NAMES = ["Hips", "Spine", "Head", "LeftArm", "LeftHand", "RightArm", "RightHand", "LeftLeg", "RightLeg", "RightFoot"]
PARENTS = [None, "Hips", "Spine", "Spine", "LeftArm", "Spine", "RightArm", "Hips", "Hips", "RightLeg"]


def puppet() -> pz.Model:
    """A body whose hips and spine carry three joints each, and whose limbs carry one."""
    builder = pz.ModelBuilder("puppet")
    offsets = [[0, 0, 0], [0, 0, 0.4], [0, 0.02, 0.3], [0.2, 0, 0.2], [0.1, 0, -0.4], [-0.2, 0, 0.2], [-0.1, 0, -0.4]]
    offsets += [[0.1, 0, -0.1], [-0.1, 0, -0.1], [0, 0, -0.9]]
    for name, parent, offset in zip(NAMES, PARENTS, offsets, strict=True):
        kind = "spherical" if parent else "floating"
        origin = pz.SE3.from_parts(offset) if parent else None
        builder.joint(name, kind, parent=parent or "world", child=name, origin=origin)  # type: ignore[arg-type]
    return builder.build()


def dance(frames: int = 60, seed: int = 0, reach: float = 1.0) -> pz.Motion:
    """The puppet on its way between two postures, turned by up to `reach` about any axis."""
    model = puppet()
    rng = np.random.default_rng(seed)
    first, last = (model.integrate(model.neutral, rng.uniform(-reach, reach, model.nv)) for _ in range(2))
    share = np.linspace(0.0, 1.0, frames)[:, None]
    return pz.Motion(model, np.arange(frames) / 50.0, model.integrate(first, share * model.difference(first, last)))


def solved(positions: Any, names: list[str] = NAMES, parents: Any = PARENTS, **more: Any) -> pz.Motion:
    return pz.motion_from_positions(positions, names, parents, **{"fps": 50.0, **more})


def steps(motion: pz.Motion) -> np.ndarray:
    """How far each joint turns from frame to frame (frames - 1, nv) [rad]."""
    return np.asarray(motion.model.difference(motion.q[:-1], motion.q[1:]))


# Where joints are, and how they turn ---------------------------------------------------------------------------------


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.sampled_from([0.3, 1.0, 3.0]))
def test_the_joints_of_the_motion_are_where_they_were_given(seed: int, reach: float) -> None:
    source = dance(20, seed, reach)
    found = solved(source.positions(NAMES), name="dance")
    assert found.positions(NAMES) == pytest.approx(source.positions(NAMES), abs=1e-9)
    assert found.times == pytest.approx(source.times)
    assert (found.name, found.up, found.unit) == ("dance", "z", 1.0)
    assert found.notes == ("all joints lie within 0.001 mm of the given positions",)


def test_a_root_floats_an_inner_joint_is_a_ball_and_an_end_has_no_orientation() -> None:
    model = solved(dance().positions(NAMES)).model
    assert model.links == tuple(NAMES)
    kinds = {joint.name: joint.kind.value for joint in model.joints}
    inner = {"Spine", "LeftArm", "RightArm", "RightLeg"}
    assert kinds == {name: "spherical" if name in inner else "fixed" for name in NAMES} | {"Hips": "floating"}


def test_a_joint_with_children_in_several_directions_turns_as_the_body_did() -> None:
    source = dance(seed=4, reach=2.0)
    found = solved(source.positions(NAMES))
    for name in ("Hips", "Spine"):
        was, now = (
            Rotation.from_quat(m.model.poses(m.q, [name]).wxyz[:, 0], scalar_first=True) for m in (source, found)
        )
        assert (now * now[0].inv() * (was * was[0].inv()).inv()).magnitude().max() < 1e-9


def test_a_joint_with_one_child_turns_by_the_shortest_rotation_from_rest() -> None:
    found = solved(dance(seed=2).positions(NAMES))
    model = found.model
    for name, child in (("LeftArm", "LeftHand"), ("RightLeg", "RightFoot")):
        bone = model.joint(child).origin.xyz
        turn = Rotation.from_quat(found.q[:, model.index(name)], scalar_first=True).as_rotvec()
        assert np.abs(turn @ bone).max() < 1e-9 * np.linalg.norm(bone)
        assert np.abs(turn).max() > 0.1


def test_at_rest_a_joint_stands_in_the_middle_and_the_body_is_level() -> None:
    source = dance(seed=5)
    found = solved(source.positions(NAMES))
    model = found.model
    for name in ("Spine", "LeftArm"):
        mean = Rotation.from_quat(found.q[:, model.index(name)], scalar_first=True).mean()
        assert mean.magnitude() < 0.02
    up = Rotation.from_quat(found.q[:, 3:7], scalar_first=True).inv().apply([0.0, 0.0, 1.0]).mean(axis=0)
    assert up[:2] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("off", [0.0, 1e-9, 1e-3, 0.1])
def test_no_bone_flips_where_it_passes_the_opposite_of_rest(off: float) -> None:
    """An arm hangs for a while, then goes once round, past where it points up at a distance of `off`."""
    angle = np.concatenate([np.zeros(300), 2.0 * np.pi * np.arange(200) / 200])
    way = np.stack([np.sin(angle), off * np.sin(0.5 * angle), -np.cos(angle)], axis=1)
    way /= np.linalg.norm(way, axis=1)[:, None]
    positions = np.repeat(dance(1).positions(NAMES), len(way), axis=0)
    positions[:, NAMES.index("LeftHand")] = positions[:, NAMES.index("LeftArm")] + 0.4 * way
    found = solved(positions)
    assert found.positions(NAMES) == pytest.approx(positions, abs=1e-9)
    at = found.model.index("LeftArm")
    turns = Rotation.from_quat(found.q[:, at], scalar_first=True)
    assert (turns[1:] * turns[:-1].inv()).magnitude().max() < 0.2
    assert turns.magnitude().max() > 2.5


# What bodies and captures do -----------------------------------------------------------------------------------------


def test_bones_that_breathe_get_the_median_and_errors_do_not_add_up() -> None:
    source = dance(200)
    positions = source.positions(NAMES).copy()
    positions += np.random.default_rng(1).normal(0.0, 0.005, positions.shape)
    found = solved(positions)
    parents = [NAMES.index(parent) if parent else -1 for parent in PARENTS]
    for i in (4, 9):
        bones = np.linalg.norm(positions[:, i] - positions[:, parents[i]], axis=1)
        assert np.linalg.norm(found.model.joint(NAMES[i]).origin.xyz) == pytest.approx(np.median(bones))
    error = np.linalg.norm(found.positions(NAMES) - positions, axis=2)
    assert error[:, 0].max() < 1e-12
    assert error.mean() < 0.008
    assert error.max() < 0.03
    changes, reached = found.notes
    assert changes.startswith("bones change in length, by up to ")
    worst = np.unravel_index(error.argmax(), error.shape)
    assert reached == (
        f"joints lie {1e3 * error.mean():.3g} mm from the given positions on average, "
        f"at most {1e3 * error.max():.3g} mm ({NAMES[worst[1]]!r} in frame {worst[0]})"
    )


def test_places_that_are_missing_are_bridged_and_reported() -> None:
    source = dance(50, reach=0.5)
    positions = source.positions(NAMES).copy()
    positions[20:24, 4] = np.nan
    positions[7, 0, 1] = np.inf
    positions[:5, 9] = -np.inf
    positions[0, 1] = 1e300
    with pytest.warns(ModelWarning, match="bridged from the frames about") as said:
        found = solved(positions)
    assert len(said) == 1
    assert found.notes[0] == str(said[0].message)
    for part in ("frame 7 of 'Hips'", "frame 0 of 'Spine'", "4 frames, from 20 on of 'LeftHand'", "and of 1 more"):
        assert part in found.notes[0]
    gaps = np.abs(found.positions(NAMES) - source.positions(NAMES)).max(axis=(1, 2))
    assert gaps[[6, *range(8, 20), *range(24, 50)]].max() < 0.01
    assert gaps.max() < 0.1


def test_places_that_are_masked_are_missing() -> None:
    positions = dance(9).positions(NAMES).copy()
    hidden = np.ma.array(positions)
    hidden[4, 2, 1] = np.ma.masked
    positions[4, 2, 1] = np.nan
    with pytest.warns(ModelWarning, match=f"frame 4 of {NAMES[2]!r}"):
        found = solved(hidden)
    with pytest.warns(ModelWarning, match="bridged"):
        np.testing.assert_array_equal(found.q, solved(positions).q)


def test_a_gap_in_all_joints_is_bridged() -> None:
    positions = dance(9).positions(NAMES).copy()
    positions[3:6] = np.nan
    with pytest.warns(ModelWarning, match="and of 7 more joints"):
        found = solved(positions)
    assert np.isfinite(found.positions()).all()


def test_bones_of_no_length_carry_on() -> None:
    """As the hip joints of CMU's skeletons, which stand where the hips do."""
    source = dance(seed=3).positions(NAMES)
    names = ["Hips", "LHipJoint", *NAMES[1:], "Marker"]
    parents = [None, "Hips", *PARENTS[1:], "RightFoot"]
    parents[names.index("LeftLeg")] = "LHipJoint"
    positions = np.concatenate([source[:, :1], source[:, :1], source[:, 1:], source[:, -1:]], axis=1)
    found = solved(positions, names, parents)
    assert found.positions(names) == pytest.approx(positions, abs=1e-9)
    assert found.model.joint("LHipJoint").origin.xyz.tolist() == [0.0, 0.0, 0.0]
    assert found.model.joint("LHipJoint").kind.value == "spherical"
    assert found.model.joint("RightFoot").kind.value == "fixed"


def test_joints_that_meet_in_some_frames_have_the_direction_of_the_frames_about() -> None:
    positions = dance(seed=3).positions(NAMES).copy()
    positions[10:13, 4] = positions[10:13, 3]
    found = solved(positions)
    turned = Rotation.from_quat(found.q[:, found.model.index("LeftArm")], scalar_first=True)
    assert (turned[1:] * turned[:-1].inv()).magnitude().max() < 0.1


def test_one_joint_and_one_frame_are_enough() -> None:
    alone = solved([[[1.0, 2.0, 3.0]]], ["Ball"], [-1])
    assert alone.q.tolist() == [[1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0]]
    still = solved(np.zeros((4, 3, 3)), ["a", "b", "c"], [-1, 0, 1])
    assert (still.positions() == 0.0).all()
    one = dance(1).positions(NAMES)
    assert solved(one).positions(NAMES) == pytest.approx(one, abs=1e-9)


# Other ways to say it ------------------------------------------------------------------------------------------------


def test_what_is_y_up_and_in_millimetres_stands_up_in_metres() -> None:
    source = dance().positions(NAMES)
    turned = 1000.0 * source @ np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])  # z becomes y
    found = solved(turned, up="y", unit=0.001)
    assert found.positions(NAMES) == pytest.approx(source, abs=1e-9)
    assert (found.up, found.unit) == ("z", 0.001)


def test_parents_are_names_or_indices_in_any_order() -> None:
    source = dance().positions(NAMES)
    back = source[:, ::-1]
    by_name = solved(back, NAMES[::-1], PARENTS[::-1])
    by_index = solved(back, NAMES[::-1], [-1 if p is None else 9 - NAMES.index(p) for p in PARENTS[::-1]])
    assert by_name.positions(NAMES) == pytest.approx(source, abs=1e-9)
    assert (by_name.q == by_index.q).all()


def test_two_bodies_have_a_root_each() -> None:
    first, second = dance(seed=1).positions(NAMES), dance(seed=2).positions(NAMES)
    names = [*NAMES, *(f"other_{name}" for name in NAMES)]
    parents = [*PARENTS, *(parent and f"other_{parent}" for parent in PARENTS)]
    both = np.concatenate([first, second], axis=1)
    assert solved(both, names, parents).positions(names) == pytest.approx(both, abs=1e-9)


@pytest.mark.parametrize(
    ("changes", "code", "message"),
    [
        ({"positions": np.zeros((4, 2))}, "wrong-shape", "(4, 2)"),
        ({"positions": np.zeros((0, 2, 3))}, "wrong-shape", "frame"),
        ({"positions": np.zeros((4, 0, 3)), "names": [], "parents": []}, "wrong-shape", "4096"),
        ({"positions": "abc"}, "wrong-shape", "numbers"),
        ({"names": ["a"]}, "wrong-shape", "names"),
        ({"parents": [None, "c"]}, "out-of-range", "'b'"),
        ({"parents": [-1, 2]}, "out-of-range", "'b'"),
        ({"parents": [1, 0]}, "inconsistent", "'a'"),
        ({"parents": [-1, 1]}, "inconsistent", "'b'"),
        ({"names": ["a", "a"], "parents": [-1, 0]}, "invalid-model", "a"),
        ({"positions": np.full((4, 2, 3), np.nan)}, "not-finite", "'a'"),
        ({"fps": 0.0}, "out-of-range", "fps"),
        ({"unit": -1.0}, "out-of-range", "unit"),
        ({"up": "x"}, "unknown-word", "up"),
    ],
)
def test_what_makes_no_sense_is_refused(changes: dict[str, Any], code: str, message: str) -> None:
    arguments = {"positions": np.zeros((4, 2, 3)), "names": ["a", "b"], "parents": [-1, 0], "fps": 30.0}
    with refused(code, message):
        pz.motion_from_positions(**(arguments | changes))


@settings(max_examples=100)
@given(
    st.lists(st.sampled_from([0.0, 1.0, -1.0, 1e-12, 1e200, -1e15, 3e15, np.nan, 1e-200]), min_size=36, max_size=36),
    st.sampled_from([[-1, 0, 1, 2], [-1, 0, 0, 0], [-1, 0, 0, 2], [3, 0, -1, 2]]),
)
def test_no_numbers_make_a_motion_that_is_not_finite(numbers: list[float], parents: list[int]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        try:
            found = solved(np.reshape(numbers, (3, 4, 3)), list("abcd"), parents)
        except ValueError as error:
            assert "has no frame" in str(error)  # noqa: PT017
        else:
            assert np.isfinite(found.q).all()
            assert np.isfinite(found.positions()).all()


# Real captures -------------------------------------------------------------------------------------------------------


@needs_holosoma
def test_climbs_are_reached_to_the_rounding_of_their_numbers() -> None:
    names, parents = climber()
    for file in climbs()[:2]:
        positions = np.load(file)
        found = pz.motion_from_positions(positions, names, parents, fps=30)
        assert np.abs(found.positions(names) - positions).max() < 1e-6
        assert np.abs(steps(found)[:, 6:]).max() < 0.5  # fingers of a hand that is opened


@needs_assimp
def test_a_walk_comes_back_from_its_positions() -> None:
    walk = pz.load_motion(ASSIMP / "BVH" / "01_01.bvh")[:400]
    parents = {joint.child: None if joint.parent == "world" else joint.parent for joint in walk.model.joints}
    positions = walk.positions([*parents])
    found = pz.motion_from_positions(positions, [*parents], [*parents.values()], fps=walk.fps)
    assert found.positions([*parents]) == pytest.approx(positions, abs=1e-9)

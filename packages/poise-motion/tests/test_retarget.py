"""A motion that is carried to a robot: feet that stay, a ground that is hard, limits that hold, hands that follow."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from typing import Literal

import numpy as np
import pytest
from bodies import robot
from support.refusals import refused
from walker import NAMES, parents, positions, walk

import poise as pz
from poise.common.array import Array
from poise_motion.anatomy.foot_geometry import lowest
from poise_motion.report.notes import notes

ROUNDING = 1e-9


def g1(base: Literal["fixed", "floating"] = "floating") -> pz.Model:
    return robot("g1", base)


@cache
def walked(fps: float = 60.0) -> pz.results.Retargeted:
    return pz.retarget(walk(fps), g1())


def broken(done: pz.results.Retargeted, share: float = 1.0) -> float:
    """The most by which a frame is beyond a limit of a joint or of its speed [rad or rad/s]."""
    model, q = done.motion.model, done.motion.q
    speeds = np.abs(model.difference(q[:-1], q[1:])) / np.diff(done.motion.times)[:, None]
    return float(
        max(
            (q - model.upper).max(),
            (model.lower - q).max(),
            (speeds - share * model.velocity).max(initial=-np.inf),
        )
    )


def toes(done: pz.results.Retargeted, part: str) -> Array:
    """(frames, 3) where the toe of a foot goes [m]."""
    frame = done.body.robot[part]
    return done.motion.model.poses(done.motion.q, [frame])[:, 0].act([0.12, 0.0, -0.035])


@pytest.mark.parametrize("fps", [24.0, 60.0, 120.0])
def test_a_walk(fps: float) -> None:
    done = walked(fps)
    assert broken(done) < ROUNDING
    assert lowest(g1(), done.motion.q).min() > -1e-3
    report = done.report
    assert report.skate.share == 0.0
    assert report.ground.kept > 0.95
    assert report.limits.broken == 0.0
    assert np.median(report.tracking.position[:, report.tracking.parts.index("pelvis")]) < 0.02
    for part in ("left_wrist", "right_wrist"):
        assert np.median(report.tracking.position[:, report.tracking.parts.index(part)]) < 0.01
    assert pz.retarget(walk(fps), g1(), smooth=0.1, self_collision=False).report.jerk.ratio < 0.8


def test_feet_stay_where_they_come_down() -> None:
    done = walked()
    for part in done.contacts.parts:
        path = toes(done, part)
        for contact in (c for c in done.contacts.intervals if c.part == part and c.start > 0):
            those = path[contact.start : contact.stop]
            assert np.linalg.norm(those[:, :2] - those[0, :2], axis=1).max() < 2e-3
            assert np.abs(those[len(those) // 2 :, 2]).max() < 3e-3


def test_a_body_of_any_size_and_anywhere_gives_the_same_steps() -> None:
    times = np.arange(121) / 60.0
    places, _ = positions(times, stride=0.9)
    turn = pz.SO3.from_rpy([0.0, 0.0, 1.0])
    moved = 5.0 * turn.act(places) + [3.0, -2.0, 0.0]
    plain, large = (
        pz.retarget(pz.motion_from_positions(some, NAMES, parents(), fps=60.0), g1()) for some in (places, moved)
    )
    assert np.array_equal(plain.contacts.on, large.contacts.on)
    assert np.abs(plain.motion.q[:, 7:] - large.motion.q[:, 7:]).max() < 1e-3
    assert np.abs(plain.motion.q[:, 2] - large.motion.q[:, 2]).max() < 1e-3


def test_a_robot_repeats_its_own_motion() -> None:
    model = g1()
    times = np.arange(91) / 60.0
    q = np.tile(model.home, (len(times), 1))
    rng = np.random.default_rng(3)
    for name in model.joint_names:
        if any(part in name for part in ("shoulder", "elbow")):
            q[:, model.index(name)] += 0.3 * rng.normal() * np.sin(2.0 * times)[:, None] ** 2
    q[:, 2] = 0.78
    for side in ("left", "right"):
        for part, way in (("hip_pitch", -1.0), ("knee", 2.0), ("ankle_pitch", -1.0)):
            q[:, model.index(f"{side}_{part}_joint")] = way * 0.3
    motion = pz.Motion(model, times, q)
    done = pz.retarget(motion, model)
    tracking = done.report.tracking
    for part in ("pelvis", "chest", "left_ankle", "left_wrist", "right_wrist"):
        assert np.quantile(tracking.position[30:, tracking.parts.index(part)], 0.9) < 0.01
    assert np.nanmedian(tracking.rotation[30:]) < 0.05


def test_it_is_the_same_every_time_and_beside_others() -> None:
    motions = [walk(seconds=1.0), walk(seconds=1.5, stride=0.6), walk(seconds=0.5, size=1.3)]
    together = pz.retarget(motions, g1())
    for motion, done in zip(motions, together, strict=True):
        assert np.array_equal(done.motion.q, pz.retarget(motion, g1()).motion.q)


@pytest.mark.parametrize("share", [0.1, 0.3])
def test_a_share_of_the_speed(share: float) -> None:
    done = pz.retarget(walk(seconds=2.0), g1(), speed=share)
    assert broken(done, share) < ROUNDING
    assert broken(walked(), share) > 0.1


def test_accelerations_hold_where_feet_come_down_and_leave() -> None:
    most, model = 60.0, g1()
    hinges = {joint.name: most for joint in model.joints if joint.nq == 1}
    done = pz.retarget(walk(seconds=2.0), model, limits=[pz.AccelerationLimit(hinges)])
    assert len(done.contacts.intervals) > 2
    steps = done.motion.q[1:, 7:] - done.motion.q[:-1, 7:]
    assert np.abs(np.diff(steps, axis=0)).max() * 3600.0 < most * (1.0 + 1e-6)
    assert broken(done) < ROUNDING


def test_a_smooth_motion_keeps_feet_and_limits() -> None:
    plain, smooth = walked(), pz.retarget(walk(), g1(), smooth=0.15)
    assert smooth.report.jerk.ratio < 0.5 * plain.report.jerk.ratio
    assert smooth.report.skate.share == 0.0
    assert lowest(g1(), smooth.motion.q).min() > -1e-3
    assert broken(smooth) < ROUNDING


def test_one_frame() -> None:
    done = pz.retarget(walk()[:1], g1())
    assert done.motion.q.shape == (1, 36)
    assert done.contacts.on.all()
    assert lowest(g1(), done.motion.q).min() == pytest.approx(0.0, abs=2e-3)
    assert "1 frame" in str(done)


def test_a_robot_on_a_pedestal_moves_its_arms() -> None:
    done = pz.retarget(walk(seconds=1.0), g1("fixed"))
    assert np.ptp(done.motion.q[:, g1("fixed").index("left_shoulder_pitch_joint")]) > 0.1
    assert any("base='floating'" in note for note in done.notes)
    assert broken(done) < ROUNDING
    assert "ground" not in str(done)
    assert "contact" not in str(done)
    assert done.report.to_dict()["penetration"] == {"share_1cm": None, "share_1mm": None, "largest": None}


def test_an_upper_body_alone() -> None:
    motion = walk(seconds=1.0)
    whole = pz.BodyMap.found(motion, g1())
    keep = [part for part in whole.parts if not any(leg in part for leg in ("hip", "knee", "ankle", "toe"))]
    body = pz.BodyMap({p: whole.source[p] for p in keep}, {p: whole.robot[p] for p in keep})
    done = pz.retarget(motion, g1(), body=body)
    assert done.contacts.parts == ()
    assert any("no part stands" in note for note in done.notes)
    tracking = done.report.tracking
    assert np.median(tracking.position[:, tracking.parts.index("left_wrist")]) < 0.01


def test_an_arm_alone() -> None:
    motion = walk(seconds=1.0)
    body = pz.BodyMap(
        {"right_shoulder": "RightArm", "right_elbow": "RightForeArm", "right_wrist": "RightHand"},
        {"right_shoulder": "shoulder_link", "right_elbow": "forearm_link", "right_wrist": "wrist_3_link"},
    )
    arm = robot("ur5e", "fixed")
    body = pz.BodyMap(dict(body.source), {k: v for k, v in body.robot.items() if v in arm.frames})
    done = pz.retarget(motion, arm, body=body)
    assert len(done.motion) == len(motion)
    assert broken(done) < ROUNDING


def test_four_legs() -> None:
    model = robot("solo12")
    times = np.arange(61) / 60.0
    q = np.tile(model.home, (len(times), 1))
    q[:, 2] = 0.25 + 0.03 * np.sin(4.0 * times)
    done = pz.retarget(pz.Motion(model, times, q), model)
    assert len(done.contacts.parts) == 4
    assert broken(done) < ROUNDING


def test_four_legs_that_hang() -> None:
    with pytest.warns(pz.ModelWarning, match="not kept apart"):  # its thighs' hulls are in its trunk
        done = pz.retarget(walk(seconds=0.3), robot("solo12", "fixed"))
    assert broken(done) < ROUNDING
    assert any("base='floating'" in note for note in done.notes)


def test_the_source_may_jump() -> None:
    motion = walk(seconds=1.0)
    q = np.array(motion.q)
    q[30:, 0] += 2.0
    done = pz.retarget(pz.Motion(motion.model, motion.times, q), g1())
    assert any("jumps at frame 30" in note for note in done.notes)
    assert broken(done) < ROUNDING


@pytest.mark.parametrize(("fastest", "jump"), [(4.0, 0.0), (30.0, 0.0), (30.0, 0.5)])
def test_what_takes_several_frames_is_no_jump(fastest: float, jump: float) -> None:
    """A hand that is thrown up and comes back, and one that is elsewhere in a single frame."""
    times = np.arange(61) / 60.0
    path = np.zeros((61, 3))
    path[:, 2] = 0.2 * fastest / np.pi * np.sin(np.pi * np.clip((times - 0.3) / 0.2, 0.0, 1.0)) ** 2
    path[50, 0] += jump
    done = pz.retarget(walk(seconds=1.0), g1())
    seen = replace(done._seen, places={"left_wrist": path})
    found = [note for note in notes(done.motion, done._robot, seen, done._led.done) if "jumps" in note]
    assert [note.partition(";")[0] for note in found] == ["the source jumps at 2 frames, the first of them 50"] * (
        jump > 0
    )


@pytest.mark.parametrize("toes", [True, False])
def test_sides_that_are_swapped_are_told(toes: bool) -> None:
    motion = walk(seconds=0.2)
    found = pz.BodyMap.found(motion, g1())
    parts = {part: name for part, name in found.source.items() if toes or "toe" not in part}
    twins = {part: part.replace("left", "right") if "left" in part else part.replace("right", "left") for part in parts}
    for source in (parts, {part: parts[twins[part]] for part in parts}):
        done = pz.retarget(motion, g1(), body=pz.BodyMap(source, found.robot, found.contacts))
        told = any("left and right of the source seem to be swapped" in note for note in done.notes)
        assert told == (source is not parts)


def test_uneven_frames_become_even() -> None:
    motion = walk(seconds=1.0)
    some = np.r_[0:10, 12:40, 45:61]
    uneven = pz.Motion(motion.model, motion.times[some], motion.q[some])
    done = pz.retarget(uneven, g1())
    assert np.ptp(np.diff(done.motion.times)) < 1e-9
    assert done.motion.duration == pytest.approx(motion.duration, abs=1.0 / done.motion.fps)
    assert pz.retarget(motion, g1(), fps=30.0).motion.fps == pytest.approx(30.0)


def test_what_is_refused() -> None:
    motion = walk(seconds=0.2)
    wrong = pz.BodyMap({"pelvis": "Hip"}, {"pelvis": "pelvis"})
    with pytest.raises(pz.FrameNotFound, match="Hips"):
        pz.retarget(motion, g1(), body=wrong)
    with refused("inconsistent", "pelvis"):
        pz.retarget(motion, g1(), body=pz.BodyMap({"pelvis": "Hips"}, {"chest": "torso_link"}))
    with refused("wrong-type", "motion"):
        pz.retarget("walk.bvh", g1())  # type: ignore[call-overload]
    with refused("negative", "smooth"):
        pz.retarget(motion, g1(), smooth=-1.0)
    with refused("not-positive", "fps"):
        pz.retarget(motion, g1(), fps=0.0)
    with refused("out-of-range", "speed"):
        pz.retarget(motion, g1(), speed=2.0)
    with refused("not-a-limit", "limits"):
        pz.retarget(motion, g1(), limits=pz.VelocityLimit(1.0))  # type: ignore[call-overload]


def test_limits_say_what_they_say_everywhere() -> None:
    stiff = g1().with_limits({"left_elbow_joint": (1.2, 1.3)})
    kept, freed = (pz.retarget(walk(seconds=0.5), stiff, limits=limits) for limits in (True, False))
    np.testing.assert_array_equal(kept.motion.q, pz.retarget(walk(seconds=0.5), stiff, limits=[]).motion.q)
    assert broken(kept) < ROUNDING < 0.1 < broken(freed)


def test_two_frames_are_smoothed() -> None:
    done = pz.retarget(walk()[:2], g1(), smooth=1.0)
    assert done.motion.q.shape == (2, 36)
    assert broken(done) < ROUNDING


@pytest.mark.parametrize("fps", [24.0, 60.0])
def test_a_body_that_meets_itself_and_stands_on_a_floor(fps: float) -> None:
    """Arms give way, from the first frame on; legs go on, and feet stand on what they stand on."""
    floor = pz.World({"floor": pz.HalfSpace((0.0, 0.0, 0.0), (0.0, 0.0, 1.0))})
    free = pz.retarget(walk(fps, seconds=0.5), g1())
    done = pz.retarget(walk(fps, seconds=0.5), g1(), limits=[pz.CollisionLimit(floor, min_distance=0.002)])
    feet = [(f"{side}_ankle_roll_link", "floor") for side in ("left", "right")]
    apart = pz.CollisionLimit(floor, min_distance=0.002, allowed=feet)
    assert all(apart.is_kept(g1(), q) for q in done.motion.q)
    assert not all(apart.is_kept(g1(), q) for q in free.motion.q)
    assert broken(done) < ROUNDING
    assert done.report.skate.share == 0.0
    assert done.report.ground.kept == free.report.ground.kept > 0.95
    parts = done.report.tracking.parts
    legs = [parts.index(f"{side}_{part}") for side in ("left", "right") for part in ("knee", "ankle")]
    with_limit, without = (np.nanmean(one.report.tracking.position[:, legs]) for one in (done, free))
    assert with_limit < without + 0.002
    (told,) = (note for note in done.notes if note.startswith("at the least distance that they keep"))
    assert "wrist" in told


def test_frames_that_are_far_apart() -> None:
    motion = walk(1.0, 3.0)
    slow = pz.Motion(motion.model, 1e4 * motion.times, motion.q)
    assert broken(pz.retarget(slow, g1())) < ROUNDING


def test_threads_do_not_disturb_each_other() -> None:
    motions = [walk(seconds=1.0), walk(seconds=1.0, stride=0.6)]
    alone = [pz.retarget(motion, g1()).motion.q for motion in motions]
    with ThreadPoolExecutor(2) as pool:
        together = list(pool.map(lambda motion: pz.retarget(motion, g1()).motion.q, motions))
    assert all(map(np.array_equal, alone, together))


def test_a_character_does_what_another_does() -> None:
    times = np.arange(61) / 60.0
    other = pz.motion_from_positions(1.3 * positions(times, stride=0.6)[0], NAMES, parents(), fps=60.0).model
    done = pz.retarget(walk(seconds=1.0), other)
    tracking = done.report.tracking
    for part in ("left_ankle", "right_ankle", "left_wrist", "right_wrist"):
        assert np.median(tracking.position[:, tracking.parts.index(part)]) < 0.02
    assert done.report.skate.share == 0.0


def test_what_cannot_move_or_is_too_much() -> None:
    motion = walk(seconds=0.2)
    with refused("out-of-range", "fps"):
        pz.retarget(motion, g1(), fps=1e9)
    trunk = pz.BodyMap({"pelvis": "Hips"}, {"pelvis": "pelvis"})
    with refused("nothing-moves", "base='floating'"):
        pz.retarget(motion, g1("fixed"), body=trunk)

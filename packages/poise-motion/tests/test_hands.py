"""A human hand's landmarks on a robot's hand: the least of a stated objective, within the limits, frame by frame."""

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from support.hand_models import Array, clip, human_hand, robot_hand
from support.refusals import refused

import poise as pz
from poise.io.gltf_joints import WEBXR
from poise_motion.anatomy.landmarks import MEDIAPIPE, TIPS

ROBOT = robot_hand()
LINKS: dict[str, Any] = {"tip0": "thumb-tip", "tip1": "index-finger-tip", "tip2": "middle-finger-tip"}
PLACES = LINKS | {"bone11": "index-finger-phalanx-intermediate", "bone01": "thumb-phalanx-distal"}
STAY = 4e-3


def retargeter(kind: str, **options: Any) -> pz.hands.HandRetargeter:
    links = PLACES if kind == "position" else LINKS
    wrist = None if kind == "position" else "palm"
    return pz.hands.HandRetargeter(ROBOT, links, kind, wrist=wrist, **options)  # type: ignore[arg-type]


class Stated:
    """The objective as the literature has it, for landmarks along the hand's own axes; one frame after the other."""

    def __init__(
        self, kind: str, model: pz.Model = ROBOT, scale: float = 1.0, pinch: pz.hands.Pinch | None = None
    ) -> None:
        self.kind, self.model, self.scale, self.rule = kind, model, scale, pinch or pz.hands.Pinch()
        self.pinched = dict.fromkeys(((0, 1), (0, 2), (1, 2)), False)

    def see(self, hand: Array) -> None:
        points = {name: hand[WEBXR.index(name)] - hand[0] for name in WEBXR}
        if self.kind == "position":
            self.goals = [("world", frame, points[name] + hand[0], 1.0) for frame, name in PLACES.items()]
            return
        self.goals = [("palm", frame, self.scale * points[name], 1.0) for frame, name in LINKS.items()]
        if self.kind == "vector":
            return
        tips, rule = list(LINKS), self.rule
        self.goals = [(a, b, v, 3.0 + 3.0) for a, b, v, _ in self.goals]
        for i, j in self.pinched:
            v = points[LINKS[tips[i]]] - points[LINKS[tips[j]]]
            length = float(np.linalg.norm(v))
            if i == 0:
                now = length < rule.near or (self.pinched[i, j] and length <= rule.away)
            else:
                now = self.pinched[0, i] and self.pinched[0, j] and length <= rule.near
            self.pinched[i, j] = now
            drawn = v / (length + 1e-6) * (rule.touch if i == 0 else rule.beside)
            weight = rule.thumb_weight if i == 0 else rule.finger_weight
            self.goals.append((tips[j], tips[i], drawn, weight) if now else (tips[j], tips[i], self.scale * v, 1.0))

    def __call__(self, q: Array, last: Array) -> float:
        beta = 0.03 if self.kind == "dexpilot" else 0.02
        total = 0.0
        for origin, tip, goal, weight in self.goals:
            poses = self.model.poses(q, [origin, tip]).xyz
            e = goal - (poses[1] - poses[0])
            x = np.abs(e) if self.kind == "position" else np.linalg.norm(e, keepdims=True)
            total += weight * float(np.where(x < beta, 0.5 * x * x / beta, x - 0.5 * beta).mean())
        return total / len(self.goals) + STAY * float(np.sum((q - last) ** 2))


def moved(hand: Array, seed: int) -> Array:
    """The hand somewhere else, turned."""
    pose = pz.SE3.from_rotvec(np.random.default_rng(seed).normal(size=3), np.random.default_rng(seed).normal(size=3))
    return np.array([pose.act(point) for point in hand])


def mirrored(hand: Array) -> Array:
    return hand * [1.0, -1.0, 1.0]


@pytest.mark.parametrize("kind", ["position", "vector", "dexpilot"])
def test_each_frame_is_a_least_of_the_objective_as_stated(kind: str) -> None:
    scale = 1.0 if kind == "position" else 1.3
    ours, stated = retargeter(kind, scale=scale), Stated(kind, scale=scale)
    bounds = list(zip(ROBOT.lower, ROBOT.upper, strict=True))
    last = None
    for f, hand in enumerate(clip()):
        seen = hand if kind == "position" else moved(hand, f)
        q = ours.step(seen)
        stated.see(hand)
        if last is not None:
            assert ours.objective(seen, q, last) == pytest.approx(stated(q, last), rel=1e-9, abs=1e-12)
            if f % 5 == 0:
                found = minimize(stated, q, args=(last,), bounds=bounds, method="L-BFGS-B", options={"ftol": 1e-14})
                assert stated(q, last) <= found.fun * (1.0 + 1e-5)
        last = q


def test_a_left_hand_is_a_right_one_in_a_mirror() -> None:
    hand = human_hand([0.2, 0.3, 0.1, 0.4, 0.2])
    left, stated = retargeter("vector", side="left"), Stated("vector")
    q, last = ROBOT.sample(2, seed=0)
    stated.see(mirrored(hand))
    assert left.objective(moved(mirrored(hand), 3), q, last) == pytest.approx(stated(q, last), rel=1e-9)


def test_a_hand_of_the_other_side_is_noticed_and_mirrored() -> None:
    own = retargeter("vector").retarget(clip())
    other = retargeter("vector").retarget(mirrored(clip()))
    np.testing.assert_allclose(other.q, own.q, atol=1e-9)
    assert other.notes == ("the source is a left hand, and was mirrored, as the robot's is a right one",)
    assert own.notes == retargeter("vector", side="left").retarget(mirrored(clip())).notes == ()
    flat = np.repeat(mirrored(human_hand(np.zeros(5)))[None], 3, axis=0)
    assert retargeter("vector").retarget(flat).notes == ()
    assert retargeter("vector", align=False).retarget(mirrored(clip())).notes == ()


def test_a_turn_leads_to_other_axes_of_the_robot() -> None:
    turn = pz.SO3.from_rpy([0.3, -0.5, 1.0])
    hand = human_hand([0.2, 0.3, 0.1, 0.4, 0.2])
    q, last = ROBOT.sample(2, seed=0)
    stated = Stated("vector")
    stated.see(np.array([turn.act(point) for point in hand]))
    turned = retargeter("vector", turn=turn)
    assert turned.objective(moved(hand, 1), q, last) == pytest.approx(stated(q, last), rel=1e-9)
    plain = retargeter("vector", align=False)
    stated.see(hand)
    assert plain.objective(hand, q, last) == pytest.approx(stated(q, last), rel=1e-9)


@settings(max_examples=30)
@given(st.integers(0, 2**32), st.sampled_from(["vector", "dexpilot", "position"]), st.floats(0.01, 10.0))
def test_no_limit_is_ever_broken(seed: int, kind: str, size: float) -> None:
    points = size * np.random.default_rng(seed).normal(size=(5, 21, 3))
    motion = retargeter(kind, q0=ROBOT.home).retarget(points)
    assert (motion.q >= ROBOT.lower).all()
    assert (motion.q <= ROBOT.upper).all()


def test_joints_that_follow_others_follow_them() -> None:
    for q in retargeter("vector").retarget(clip()):
        named = ROBOT.named(q)
        assert named["bend12"] == pytest.approx(0.7 * named["bend11"])


def pinching(distance: float) -> Array:
    """A hand whose thumb's tip is so far from its index finger's [m]."""
    hand = human_hand([0.4, 0.5, 0.1, 0.1, 0.1], 0.7)
    thumb, index = WEBXR.index("thumb-tip"), WEBXR.index("index-finger-tip")
    way = hand[thumb] - hand[index]
    middle = 0.5 * (hand[thumb] + hand[index])
    for tip, sign in ((thumb, 0.5), (index, -0.5)):
        hand[tip] = middle + sign * distance * way / np.linalg.norm(way)
    return hand


def test_a_pinch_holds_until_it_is_let_go() -> None:
    ours = retargeter("dexpilot")
    gaps = []
    for distance in (0.06, 0.04, 0.028, 0.04, 0.049, 0.052, 0.04):
        for _ in range(40):
            q = ours.step(pinching(distance))
        tips = ROBOT.poses(q, ["tip0", "tip1"]).xyz
        gaps.append(float(np.linalg.norm(tips[0] - tips[1])))
    assert np.array(gaps)[[2, 3, 4]] == pytest.approx(0.0, abs=2e-3)
    assert (np.array(gaps)[[0, 1, 5, 6]] > 0.02).all()


def test_the_robots_own_places_are_found_again() -> None:
    floating = robot_hand(base="floating")
    there = floating.sample(seed=5)
    there[:3] = 0.3, -0.2, 0.1
    where = floating.poses(there, list(PLACES)).xyz
    points = np.zeros((25, 3))
    points[[WEBXR.index(name) for name in PLACES.values()]] = where
    ours = pz.hands.HandRetargeter(floating, PLACES, "position", regularization=1e-6)
    q = ours.retarget(np.repeat(points[None], 20, axis=0))[-1]
    np.testing.assert_allclose(floating.poses(q, list(PLACES)).xyz, where, atol=1e-3)


def test_steps_are_a_motion_whatever_the_form_of_the_landmarks() -> None:
    hands = clip()
    ours = retargeter("dexpilot", scale=1.2)
    motion = ours.retarget(hands, fps=60.0)
    assert motion.fps == pytest.approx(60.0)
    np.testing.assert_array_equal([ours.step(hand) for hand in hands], motion.q)
    fewer = hands[:, [WEBXR.index(name) for name in MEDIAPIPE]]
    np.testing.assert_array_equal(ours.retarget(fewer, times=np.arange(40.0)).q, motion.q)
    numbered = {frame: MEDIAPIPE.index(name) for frame, name in LINKS.items()}
    again = pz.hands.HandRetargeter(ROBOT, numbered, "dexpilot", wrist="palm", scale=1.2)
    np.testing.assert_array_equal(again.retarget(hands).q, motion.q)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(again)).retarget(hands).q, motion.q)


def test_a_motion_of_a_skeleton_is_carried_over() -> None:
    b = pz.ModelBuilder("skeleton")
    hand = human_hand(np.full(5, 0.3))
    for i, name in enumerate(WEBXR):
        joint = "floating" if i == 0 else "fixed"
        origin = pz.SE3.from_parts(hand[i])
        b.joint(f"to {name}", joint, parent="base" if i == 0 else "wrist", child=name, origin=origin)
    skeleton = b.build()
    q = np.array([pz.SE3.from_rotvec([0, 0, x], [x, 0, 0]).array for x in (0.0, 0.2)])
    source = pz.Motion(skeleton, np.array([0.0, 0.5]), q, name="wave")
    motion = retargeter("vector").retarget(source)
    np.testing.assert_array_equal(motion.times, source.times)
    assert motion.name == "wave"
    np.testing.assert_allclose(motion.q, retargeter("vector").retarget(np.repeat(hand[None], 2, axis=0)).q, atol=1e-6)
    with pytest.raises(pz.FrameNotFound, match="wrist"):
        retargeter("vector").retarget(pz.Motion(ROBOT, np.zeros(1), ROBOT.home[None]))


def test_a_filter_goes_part_of_the_way() -> None:
    whole, part = (retargeter("vector", alpha=alpha).retarget(clip()).q for alpha in (1.0, 0.3))
    followed = [whole[0]]
    for q in whole[1:]:
        followed.append(followed[-1] + 0.3 * (q - followed[-1]))
    np.testing.assert_allclose(part, followed, atol=1e-12)


def test_the_last_configuration_can_be_told() -> None:
    hands = clip()
    one, other = retargeter("vector"), retargeter("vector")
    path = [one.step(hand) for hand in hands]
    np.testing.assert_allclose(other.step(hands[7], last=path[6]), path[7], atol=1e-12)
    held = other.step(hands[20], last=ROBOT.home)
    stiff = retargeter("vector", regularization=1e3).step(hands[20], last=ROBOT.home)
    assert np.linalg.norm(stiff - ROBOT.home) < 1e-3 < np.linalg.norm(held - ROBOT.home)
    other.reset()
    np.testing.assert_array_equal(other.step(hands[0]), path[0])


def test_frames_that_are_no_hand_are_bridged_and_told() -> None:
    hands = clip()
    hands[3, WEBXR.index("thumb-tip"), 1] = np.nan
    hands[8] = 0.0
    between = clip()
    between[3], between[8] = 0.5 * (between[2] + between[4]), 0.5 * (between[7] + between[9])
    motion = retargeter("vector").retarget(hands)
    assert motion.notes == ("2 frames were no hand and were bridged: 3, 8",)
    np.testing.assert_allclose(motion.q, retargeter("vector").retarget(between).q, atol=1e-9)
    assert len(retargeter("vector").retarget(hands[:1])) == 1
    with refused("not-a-pose", "none of the frames"):
        retargeter("vector").retarget(np.zeros((3, 21, 3)))
    ours = retargeter("vector")
    before = ours.step(hands[0])
    for bad in (hands[3], hands[8]):
        with refused("not-a-pose", "in one line"):
            ours.step(bad)
    assert np.isfinite(ours.step(hands[1])).all()
    assert np.isfinite(before).all()


def test_landmarks_that_are_masked_are_none() -> None:
    """What lies under the mask, which NumPy would take, is a place like any other."""
    hands = np.ma.array(clip())
    hands[3, WEBXR.index("thumb-tip"), 1] = np.ma.masked
    motion = retargeter("vector").retarget(hands)
    assert motion.notes == ("1 frame was no hand and was bridged: 3",)
    between = clip()
    between[3] = 0.5 * (between[2] + between[4])
    np.testing.assert_allclose(motion.q, retargeter("vector").retarget(between).q, atol=1e-9)
    ours = retargeter("vector")
    with pytest.raises(ValueError, match=rf"points\[{WEBXR.index('thumb-tip')}, 1\] is masked"):
        ours.step(hands[3])
    np.testing.assert_array_equal(ours.step(hands[0]), retargeter("vector").step(clip()[0]))


@pytest.mark.parametrize(
    ("make", "code", "message"),
    [
        (lambda: pz.hands.HandRetargeter(ROBOT, {}), "wrong-type", "links"),
        (lambda: pz.hands.HandRetargeter(ROBOT, LINKS), "needs", "wrist"),
        (lambda: pz.hands.HandRetargeter(ROBOT, {"tip9": 4}, wrist="palm"), "unknown-name", "tip9"),
        (lambda: pz.hands.HandRetargeter(ROBOT, {"tip0": "thumb"}, wrist="palm"), "unknown-name", "thumb-tip"),
        (lambda: pz.hands.HandRetargeter(ROBOT, {"tip0": 21}, wrist="palm"), "out-of-range", "tip0"),
        (lambda: pz.hands.HandRetargeter(ROBOT, {"tip0": 4.0}, wrist="palm"), "wrong-type", "tip0"),
        (lambda: pz.hands.HandRetargeter(ROBOT, {("palm", "tip0"): 4}), "wrong-type", "links"),
        (
            lambda: pz.hands.HandRetargeter(ROBOT, {("palm", "tip0"): (0, 4)}, wrist="palm"),
            "conflict",
            "wrist",
        ),
        (
            lambda: pz.hands.HandRetargeter(ROBOT, {("palm", "tip0"): (0, 4), "tip1": 8}, wrist="palm"),
            "wrong-type",
            "links",
        ),
        (lambda: pz.hands.HandRetargeter(ROBOT, {"tip0": 4}, "dexpilot", wrist="palm"), "wrong-length", "fingertips"),
        (lambda: pz.hands.HandRetargeter(ROBOT, LINKS, "position", wrist="palm"), "conflict", "wrist"),
        (lambda: retargeter("position", scale=2.0), "conflict", "scale"),
        (lambda: retargeter("vectors"), "unknown-word", "kind"),
        (lambda: retargeter("vector", side="top"), "unknown-word", "side"),
        (lambda: retargeter("vector", alpha=0.0), "out-of-range", "alpha"),
        (lambda: retargeter("vector", regularization=-1.0), "negative", "regularization"),
        (lambda: retargeter("vector", huber=0.0), "not-positive", "huber"),
        (lambda: retargeter("vector", turn=np.eye(3)), "wrong-shape", "turn"),
        (lambda: pz.hands.Pinch(near=0.06), "inconsistent", "near"),
        (lambda: pz.hands.Pinch(touch=0.0), "not-positive", "touch"),
        (lambda: retargeter("vector").step(np.zeros((22, 3))), "wrong-shape", "landmarks"),
        (lambda: retargeter("vector").step(np.zeros(63)), "wrong-shape", "(21, 3)"),
        (lambda: retargeter("vector").retarget(np.zeros((21, 3))), "wrong-shape", "frames"),
        (lambda: retargeter("vector").retarget(clip(2), fps=1.0, times=[0.0, 1.0]), "conflict", "fps"),
        (lambda: retargeter("vector").retarget(clip(2), times=[0.0]), "wrong-shape", "times"),
        (lambda: retargeter("vector").retarget([*clip(2), np.nan * clip(1)[0]], times=[0.0]), "wrong-shape", "times"),
        (lambda: retargeter("dexpilot", pinch=0.03), "wrong-type", "pinch"),
        (lambda: retargeter("vector", limits=None), "not-a-limit", "limits"),
        (lambda: retargeter("vector", limits=0), "not-a-limit", "limits"),
        (lambda: retargeter("vector", limits="no"), "not-a-limit", "limits"),
    ],
)
def test_refused(make: Any, code: str, message: str) -> None:
    with refused(code, message):
        make()


def test_metacarpals_need_all_of_a_webxr_hand() -> None:
    ours = pz.hands.HandRetargeter(ROBOT, {"tip1": "index-finger-metacarpal"}, wrist="palm")
    assert np.isfinite(ours.step(clip()[0])).all()
    with pytest.raises(pz.ShapeError, match="give the 25"):
        ours.step(np.zeros((21, 3)))


def test_pairs_of_frames_follow_pairs_of_landmarks() -> None:
    pairs = pz.hands.HandRetargeter(ROBOT, {("palm", frame): (0, name) for frame, name in LINKS.items()})
    np.testing.assert_array_equal(pairs.retarget(clip()).q, retargeter("vector").retarget(clip()).q)
    assert TIPS[0] == "thumb-tip"

"""Contacts found in the paths of feet."""

import pickle

import numpy as np
import pytest
from gaits import ANKLE, FOOT, TOE, gait
from hypothesis import given, settings
from hypothesis import strategies as st
from support.captures import ASSIMP, climber, climbs, needs_assimp, needs_holosoma
from support.refusals import refused

import poise as pz
from poise.common.array import Array
from poise.common.errors import ShapeError
from poise_motion.anatomy.contact_schedule import Contacts, runs
from poise_motion.contact.contacts import contacts, velocities


def clock(fps: float, seconds: float = 6.0) -> Array:
    return np.arange(round(fps * seconds)) / fps


def still(times: Array, *points: list[float]) -> Array:
    """(frames, points, 3) the paths of points that do not move."""
    return np.tile(np.array(points), (len(times), 1, 1))


def agree(found: Contacts, standing: dict[str, Array], times: Array, slack: float) -> None:
    """Contacts are as many as there are, and begin and end where they do, to `slack` [s].

    A short one with which the motion begins or ends may be missed.
    """
    step, frames = times[1] - times[0], len(times)
    for part, truth in standing.items():
        moments = [(a, b) for a, b in runs(truth) if (a > 0 and b < frames) or (b - a) * step > 0.2]
        inner = slice(moments[0][0], moments[-1][1])
        got = runs(found[part][inner])
        assert len(got) == len(moments), (part, moments, got)
        for (a, b), (start, stop) in zip(moments, got, strict=True):
            assert abs(start + inner.start - a) * step <= slack
            assert abs(stop + inner.start - b) * step <= slack


@pytest.mark.parametrize("fps", [24.0, 30.0, 60.0, 120.0])
@pytest.mark.parametrize("noise", [0.0, 0.002])
def test_a_walk(fps: float, noise: float) -> None:
    times = clock(fps)
    places, standing = gait(times, noise=noise)
    found = contacts(places, times)
    agree(found, standing, times, 0.05 + 1.0 / fps)
    assert all(contact.points == (True, True) and contact.ground == 0.0 for contact in found.intervals)


@pytest.mark.parametrize("fps", [24.0, 60.0, 120.0])
def test_a_run(fps: float) -> None:
    times = clock(fps)
    places, standing = gait(times, period=0.7, duty=0.35, stride=2.2, clearance=0.25)
    found = contacts(places, times)
    agree(found, standing, times, 0.05 + 1.0 / fps)
    assert not found.on.all(axis=1).any()
    assert not found.on.any(axis=1).all()


@pytest.mark.parametrize("fps", [24.0, 30.0, 120.0])
@pytest.mark.parametrize("rise", [0.34, -0.34])
def test_stairs(fps: float, rise: float) -> None:
    times = clock(fps)
    places, standing = gait(times, stride=0.6, rise=rise, clearance=0.06)
    found = contacts(places, times)
    agree(found, standing, times, 0.05 + 1.0 / fps)
    heights = np.array([contact.ground for contact in found.intervals if contact.part == "left_ankle"])
    assert np.allclose(np.diff(heights), rise, atol=0.01)
    assert heights.min() == 0.0 or min(contact.ground for contact in found.intervals) == 0.0


def test_given_ground() -> None:
    """A staircase that is known: nothing stands but on it, whichever the way."""
    times = clock(60.0)
    places, standing = gait(times, stride=0.6, rise=0.34, clearance=0.06)

    def stairs(xy: Array) -> Array:
        return 0.34 * np.asarray(np.round(xy[:, 0] / 0.6 - 0.14))

    found = contacts(places, times, ground=stairs)
    agree(found, standing, times, 0.07)
    for contact in found.intervals:
        assert contact.ground == pytest.approx(0.34 * np.round(contact.ground / 0.34))


def test_a_foot_that_is_held_up_does_not_stand() -> None:
    """However still it is held, over the other foot that stands."""
    times = clock(60.0)
    lift = 0.3 * np.clip((times - 1.0) / 0.4, 0.0, 1.0) * np.clip((5.0 - times) / 0.4, 0.0, 1.0)
    path = still(times, [0.0, 0.0, ANKLE], [FOOT, 0.0, TOE])
    held = path.copy()
    held[..., 2] += lift[:, None]
    found = contacts({"left_ankle": path, "right_ankle": held}, times)
    assert found["left_ankle"].all()
    assert found["right_ankle"][:60].all()
    assert found["right_ankle"][-55:].all()
    assert not found["right_ankle"][70:290].any()


def test_a_box_on_which_both_feet_stand_to_the_end() -> None:
    times = clock(60.0)
    up = 0.4 * np.clip((times - 2.0) / 0.3, 0.0, 1.0) + 0.08 * np.sin(np.pi * np.clip((times - 2.0) / 0.5, 0, 1)) ** 2
    later = np.interp(times - 0.8, times, up)
    base = still(times, [0.0, 0.0, ANKLE], [FOOT, 0.0, TOE])
    rise = [np.stack([0.3 * z[:, None], 0.0 * z[:, None], z[:, None]], axis=-1) for z in (up, later)]
    found = contacts({"left_ankle": base + rise[0], "right_ankle": base + rise[1]}, times)
    assert [(c.part, round(c.ground, 2)) for c in found.intervals] == [
        ("left_ankle", 0.0),
        ("left_ankle", 0.4),
        ("right_ankle", 0.0),
        ("right_ankle", 0.4),
    ]
    assert found.on[-1].all()


def test_a_box_that_is_left_downwards() -> None:
    """A shelf of the path is a place to stand on, unless the other foot bears the body from below."""
    times = clock(60.0)
    floor = still(times, [0.0, 0.0, ANKLE], [FOOT, 0.0, TOE])
    path = floor.copy()
    path[..., 2] += np.interp(times, [1.0, 1.3, 1.5, 4.0, 4.4], [0.0, 0.5, 0.4, 0.4, 0.0])[:, None]
    alone = contacts({"left_ankle": path, "right_ankle": path + np.array([0.0, 0.2, 0.0])}, times)
    assert [round(one.ground, 1) for one in alone.intervals] == [0.0, 0.4, 0.0] * 2
    assert alone["left_ankle"][100:230].all()
    borne = contacts({"left_ankle": path, "right_ankle": floor}, times)
    assert [round(one.ground, 1) for one in borne.intervals] == [0.0, 0.0, 0.0]


def test_heel_and_toe_stand_each_by_itself() -> None:
    """On tiptoe, where the heel goes up and down, only the toe stands; the contact is one."""
    times = clock(100.0)
    path = still(times, [0.0, 0.0, ANKLE], [FOOT, 0.0, TOE])
    path[200:, 0, 2] += 0.08 + 0.03 * np.sin(8.0 * (times[200:] - times[200]))
    found = contacts({"left_ankle": path}, times)
    assert found["left_ankle"].all()
    assert found.points["left_ankle"][:190].all()
    assert not found.points["left_ankle"][210:, 0].any()
    assert found.points["left_ankle"][:, 1].all()


def test_flight_has_no_contact() -> None:
    times = clock(60.0, 0.8)
    fall = 4.0 * times - 0.5 * 9.81 * times**2
    path = still(times, [0.0, 0.0, ANKLE], [FOOT, 0.0, TOE])
    path[..., 0] += 3.0 * times[:, None]
    path[..., 2] += 0.2 + fall[:, None]
    for ground in (None, 0.0):
        found = contacts({"left_ankle": path, "right_ankle": path}, times, ground=ground)
        assert not found.on.any()
        assert found.intervals == ()


def test_hands_stand_only_where_feet_do() -> None:
    """A hand hangs still, then leans on the floor; hanging is no contact, as the feet are lower."""
    times = clock(50.0)
    places, _ = gait(times, stride=0.0, clearance=0.0, duty=1.0)
    hand = still(times, [0.3, 0.3, 0.8])
    hand[:, 0, 2] -= 0.74 * np.clip((times - 2.0) / 0.5, 0.0, 1.0)
    found = contacts(places | {"left_wrist": hand}, times)
    assert not found["left_wrist"][:110].any()
    assert found["left_wrist"][130:].all()
    assert found["left_ankle"].all()


def test_a_small_body_moves_in_proportion() -> None:
    times = clock(60.0)
    places, standing = gait(times)
    small = contacts({part: 0.3 * path for part, path in places.items()}, times, size=0.3 * 1.75)
    assert (small.on == contacts(places, times).on).all()
    agree(small, standing, times, 0.07)


@pytest.mark.parametrize("high", [0.0, 0.5])
def test_one_frame(high: float) -> None:
    """What is low stands."""
    places = {"left_ankle": np.array([[[0.0, 0.1, ANKLE]]]), "right_ankle": np.array([[[0.0, -0.1, ANKLE + high]]])}
    found = contacts(places, [0.0])
    assert found.on.tolist() == [[True, high == 0.0]]


def test_a_foot_that_slides_does_not_stand() -> None:
    """One that slides slowly stands anew every few centimetres; and only once where it rolls over its toe."""
    times = clock(60.0, 2.0)
    stands = still(times, [0.0, 0.0, ANKLE], [FOOT, 0.0, TOE])
    slides = stands + times[:, None, None] * np.array([1.0, 0.0, 0.0])
    assert not contacts({"left_ankle": stands + 0.2 * (slides - stands)}, times).on.any()
    found = contacts({"left_ankle": stands + 0.08 * (slides - stands)}, times)
    assert found.on.mean() > 0.5
    assert len(found.intervals) > 1
    roll = stands.copy()
    roll[30:, 0, 2] += 0.15
    assert len(contacts({"left_ankle": roll}, times).intervals) == 1


def test_a_foot_that_climbs_slowly_does_not_stand() -> None:
    """Once it has left the ground, until it rests on the step."""
    times = clock(60.0, 8.0)
    path = still(times, [0.0, 0.0, ANKLE], [FOOT, 0.0, TOE])
    path[..., 2] += np.interp(times, [2.0, 4.9, 5.0, 5.2], [0.0, 0.44, 0.44, 0.4])[:, None]
    found = contacts({"left_ankle": path}, times)
    assert sorted({round(one.ground, 1) for one in found.intervals}) == [0.0, 0.4]
    assert found["left_ankle"][: 60 * 2].all()
    assert not found["left_ankle"][60 * 3 : 60 * 4].any()
    assert found["left_ankle"][320:].all()


def test_slow_steps_are_found() -> None:
    """A climb at a quarter of its speed, whose feet are never fast."""
    times = clock(30.0, 24.0)
    quick, standing = gait(times / 4.0, stride=0.3, rise=0.3, clearance=0.05)
    found = contacts(quick, times)
    left = [
        contact.ground
        for contact in found.intervals
        if contact.part == "left_ankle" and contact.stop > contact.start + 60
    ]
    assert np.abs(np.array(left)[:, None] - 0.3 * np.arange(-1, 8)).min(axis=1).max() < 0.06
    agreed = found["left_ankle"] == standing["left_ankle"]
    assert agreed.mean() > 0.8


def test_moments_are_bridged_or_dropped() -> None:
    """A jolt of a few milliseconds does not end a contact; nor is the turn of a bounce one."""
    times = clock(200.0, 2.0)
    jolted = still(times, [0.0, 0.0, ANKLE])
    jolted[200:, 0, 0] += 0.03
    speed = np.linalg.norm(velocities(jolted, times), axis=-1)
    assert 0.0 < (speed > 0.4).mean() * 2.0 < 0.06
    assert [(one.start, one.stop) for one in contacts({"left_ankle": jolted}, times).intervals] == [(0, 400)]
    bounce = still(times, [0.0, 0.0, ANKLE])
    bounce[:, 0, 2] += 0.4 * np.abs(np.sin(6.0 * times + 0.5))
    speed = np.linalg.norm(velocities(bounce, times), axis=-1)[:, 0]
    assert ((speed < 0.25) & (bounce[:, 0, 2] < ANKLE + 0.04)).any()
    assert not contacts({"left_wrist": bounce}, times, ground=0.0).on.any()


def test_a_foot_that_is_up_at_first_does_not_stand() -> None:
    """Though it only goes up from there, while the other one is on the floor."""
    times = clock(60.0)
    floor = still(times, [0.0, 0.0, ANKLE], [FOOT, 0.0, TOE])
    held = floor + np.array([0.0, 0.2, 0.3])
    held[..., 2] += np.interp(times, [2.0, 2.3, 3.0, 4.0], [0.0, 0.2, 0.2, -0.3])[:, None]
    found = contacts({"left_ankle": floor, "right_ankle": held}, times)
    assert not found["right_ankle"][:200].any()
    assert found["right_ankle"][250:].all()
    both = contacts({"left_ankle": held - np.array([0.0, 0.4, 0.0]), "right_ankle": held}, times)
    assert both.on[:110].all()  # then it is a place to stand on


@settings(max_examples=30)
@given(st.floats(24.0, 120.0), st.floats(-2.0, 2.0), st.integers(0, 1000))
def test_speeds_do_not_depend_on_frames(fps: float, speed: float, seed: int) -> None:
    """Of even motion they are exact, with times that are uneven too."""
    rng = np.random.default_rng(seed)
    times = np.cumsum(rng.uniform(0.5, 1.5, 40)) / fps
    assert np.allclose(velocities(speed * times[:, None], times), speed, atol=1e-9)


@settings(max_examples=60)
@given(
    st.integers(1, 200), st.integers(1, 3), st.floats(5.0, 240.0), st.floats(1e-3, 10.0), st.sampled_from([None, 0.0]),
    st.integers(0, 10_000),
)  # fmt: skip
def test_whatever_moves(frames: int, points: int, fps: float, far: float, ground: float | None, seed: int) -> None:
    """Intervals are in order, apart, and together what is on; points stand only then; and one of them always half."""
    rng = np.random.default_rng(seed)
    times = np.cumsum(rng.uniform(0.1, 2.0, frames)) / fps
    feet = {
        part: far * np.cumsum(rng.normal(size=(frames, points, 3)) * rng.integers(0, 2, (frames, 1, 1)), axis=0) / fps
        for part in ("left_ankle", "right_ankle", "left_wrist")
    }
    found = contacts(feet, times, ground=ground)
    for part in found.parts:
        own = [(one.start, one.stop) for one in found.intervals if one.part == part]
        whole = np.zeros(frames, dtype=bool)
        for start, stop in own:
            assert 0 <= start < stop <= frames
            assert not whole[start:stop].any()
            whole[start:stop] = True
        assert own == sorted(own)
        assert (whole == found[part]).all()
        assert not found.points[part][~whole].any()
    assert all(any(one.points) and np.isfinite(one.ground) for one in found.intervals)


def test_they_do_not_change_and_go_into_pickles() -> None:
    times = clock(30.0)
    found = contacts(gait(times)[0], times)
    again = pickle.loads(pickle.dumps(found))
    assert again.intervals == found.intervals
    assert (again.on == found.on).all()
    for one in (found, again):
        with pytest.raises(ValueError, match="read-only"):
            one.on[0] = True
        with pytest.raises(TypeError):
            one.points["left_ankle"] = one.on


def test_bad_input() -> None:
    path = np.zeros((3, 2, 3))
    with pytest.raises(ShapeError, match=r"places of left_ankle must have shape \(2, points, 3\)"):
        contacts({"left_ankle": path}, [0.0, 1.0])
    with refused("inconsistent", "times"):
        contacts({"left_ankle": path}, [0.0, 1.0, 1.0])
    with refused("not-positive", "size"):
        contacts({"left_ankle": path}, [0.0, 1.0, 2.0], size=0.0)
    with refused("no-such-part", "'tail'"):
        contacts({"left_ankle": path}, [0.0, 1.0, 2.0], steps=["tail"])
    path[1, 0, 2] = np.nan
    with refused("not-finite", "left_ankle"):
        contacts({"left_ankle": path}, [0.0, 1.0, 2.0])
    with refused("no-such-part", "'tail'"):
        contacts({}, [0.0])["tail"]


@pytest.mark.filterwarnings("ignore::poise.common.errors.ModelWarning")
@needs_assimp
def test_recorded_motions() -> None:
    def of(name: str, ankle: str, toe: str) -> Contacts:
        motion = pz.load_motion(ASSIMP / "BVH" / f"{name}.bvh")
        sides = ("Left", "Right")
        return contacts(
            {f"{side.lower()}_ankle": motion.positions([side + ankle, side + toe]) for side in sides}, motion.times
        )

    jumps = of("01_01", "Foot", "ToeBase")
    assert 0.65 < jumps.on.all(axis=1).mean() < 0.8  # it stands on both feet between the jumps
    assert 0.15 < (~jumps.on).all(axis=1).mean() < 0.25  # and is in the air
    assert {contact.ground for contact in jumps.intervals} == {0.0}
    climb = of("01_03", "Foot", "ToeBase")
    steps = np.array([contact.ground for contact in climb.intervals if contact.ground > 0.0])
    assert np.abs(steps[:, None] - [0.285, 0.53, 0.77]).min(axis=1).max() < 0.05  # three steps, up and down twice
    assert len(steps) >= 10
    boxing = of("Boxing_Toes", "Ankle", "Toes")
    assert (~boxing.on).all(axis=1).mean() < 0.05
    assert 0.5 < boxing.on.all(axis=1).mean() < 0.7


@needs_holosoma
def test_climbs_over_boxes() -> None:
    """In slow motion, with the hands too: where feet stay for 2 s is mostly the floor or one of the boxes."""
    names, _ = climber()
    for climb in climbs()[:4]:
        positions = np.load(climb)
        feet = {
            f"{side.lower()}_ankle": positions[:, [names.index(f"{side}{point}") for point in ("Foot", "ToeBase")]]
            for side in ("Left", "Right")
        }
        found = contacts(feet, np.arange(len(positions)) / 30.0)
        long = [(one.ground, one.stop - one.start) for one in found.intervals if one.stop - one.start > 60]
        heights, frames = np.array(long).T
        known = np.abs(heights[:, None] - [0.0, 0.18, 0.47, 0.95]).min(axis=1) < 0.05
        assert frames[known].sum() > 0.8 * frames.sum()
        assert (~found.on).all(axis=1).mean() < 0.2  # a foot that goes on slowly does not stand

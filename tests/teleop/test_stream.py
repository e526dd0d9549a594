"""From a poor stream to targets that an arm can follow."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.operator import COLUMNS, MOVED, OPEN, SILENT, operator
from support.refusals import refused

import poise as pz
from poise.common.array import Array
from poise.teleop import Clutch, Command, Dropouts, Jumps, Lead, OneEuro, Sample, SpeedClip, Stream, Workspace

HOME = pz.SE3.from_xyz_rpy([0.4, 0.0, 0.5], [np.pi, 0.1, 0.0])
DT = 0.01


def at(*xyz: float) -> pz.SE3:
    return pz.SE3.from_parts(xyz)


def far(a: pz.SE3, b: pz.SE3) -> float:
    return float(np.linalg.norm(a.xyz - b.xyz))


def turned(a: pz.SE3, b: pz.SE3) -> float:
    return float(np.linalg.norm((a.rotation.inverse() @ b.rotation).log()))


def poor(stream: Stream, dt: float = DT) -> Iterator[tuple[float, Command, pz.SE3]]:
    """Time, command and the target before, of a hand that is at each target at once."""
    rows, here = operator(), HOME
    for time in np.arange(0.0, 9.0, dt):
        new = rows[(rows[:, 0] > time - dt) & (rows[:, 0] <= time)]
        sample = Sample(new[-1, 1:8], bool(new[-1, 8]), new[-1, 9], new[-1, 0]) if len(new) else None
        command = stream.step(sample, here, dt)
        yield time, command, here
        here = command.target


# A stream as a whole ---------------------------------------------------------------------------------------------


def test_a_poor_stream_makes_no_jump_and_moves_the_hand() -> None:
    stream, moved, fastest, spun = Stream(), 0.0, 0.0, 0.0
    for _, command, before in poor(stream):
        fastest = max(fastest, far(before, command.target) / DT)
        spun = max(spun, turned(before, command.target) / DT)
        moved = max(moved, far(HOME, command.target))
    assert fastest <= 1.0 + 1e-9
    assert spun <= 3.0 + 1e-9
    assert 0.1 < moved < 0.5
    assert stream.rejected >= 6


def test_nothing_moves_while_the_clutch_is_open_or_the_device_is_lost() -> None:
    for time, command, before in poor(Stream()):
        if any(begin + 6 * DT < time < end - DT for begin, end in OPEN):
            assert command.state == "idle"
            assert command.target == before
        for begin, end in SILENT:
            silent = time - begin - 2 * DT
            if silent > 0.45 and time < end:
                assert command.target.isclose(before, atol=1e-12)
                assert command.state in ("easing", "lost")
                assert (silent < 1.1) | (command.state == "lost")
                assert (silent > 0.9) | (command.state == "easing")


def test_a_tracking_that_begins_anew_elsewhere_moves_nothing() -> None:
    track = {round(time, 3): command.target for time, command, _ in poor(Stream())}
    before, after = track[round(MOVED - 0.02, 3)], track[round(MOVED + 0.15, 3)]
    assert far(before, after) < 0.06  # of 0.3 m that it moved


def test_a_device_that_was_lost_moves_nothing_until_its_clutch_was_released() -> None:
    stream = Stream(jumps=None, smooth=None, lead=None, speed=None)
    stream.step(Sample(at(0, 0, 0)), HOME, DT)
    for _ in range(200):
        lost = stream.step(None, HOME, DT)
    assert lost.state == "lost"
    still = stream.step(Sample(at(1, 0, 0)), HOME, DT)
    assert (still.state, still.target) == ("lost", lost.target)
    assert stream.step(Sample(at(1, 0, 0), pressed=False), HOME, DT).state == "idle"
    assert stream.step(Sample(at(1, 0, 0)), HOME, DT).target == lost.target
    assert far(stream.step(Sample(at(1.1, 0, 0)), HOME, DT).target, HOME) == pytest.approx(0.1)


def test_a_released_clutch_is_heeded_whatever_pose_comes_with_it() -> None:
    for pose in (at(100, 0, 0), np.full(7, np.nan)):
        stream = Stream()
        for k in range(20):
            stream.step(Sample(at(0.001 * k, 0, 0)), HOME, DT)
        let_go = stream.step(Sample(pose, pressed=False), HOME, DT)
        assert let_go.state == "idle"
        assert stream.step(None, HOME, DT).target == let_go.target


@pytest.mark.parametrize("time", [1.0, 0.5, np.nan])
def test_a_released_clutch_is_heeded_whatever_its_time(time: float) -> None:
    stream = Stream()
    assert stream.step(Sample(at(0, 0, 0), time=1.0), HOME, DT).state == "engaged"
    assert stream.step(Sample(at(0, 0, 0), pressed=False, time=time), HOME, DT).state == "idle"


@pytest.mark.parametrize("silence", ["repeated", "missing", "nan"])
@pytest.mark.parametrize("ticks", [19, 400])
def test_what_goes_on_elsewhere_after_standing_still_moves_nothing(silence: str, ticks: int) -> None:
    stream, here, dt = Stream(), HOME, 0.005
    for k in range(40):
        here = stream.step(Sample(at(0.001 * k, 0, 0)), here, dt).target
    lost = {"repeated": Sample(at(0.039, 0, 0)), "missing": None, "nan": Sample(np.full(7, np.nan))}[silence]
    for _ in range(ticks):
        here = stream.step(lost, here, dt).target
    for _ in range(100):
        after = stream.step(Sample(at(0.339, 0, 0)), here, dt).target
        assert far(here, after) < 1e-3
        here = after


def test_streams_share_no_part() -> None:
    clutch = Clutch()
    one, other = Stream(clutch=clutch, smooth=None), Stream(clutch=clutch, smooth=None)
    for _ in range(50):
        one.step(Sample(at(0, 0, 0)), HOME, DT)
        assert other.step(Sample(at(1, 0, 0)), HOME, DT).target.isclose(HOME, atol=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_the_hand_is_led_no_farther_than_the_lead_whatever_it_and_the_device_do(seed: int) -> None:
    """Hands that are thrown about, devices that leap, silences, and a clutch that opens and closes."""
    rng = np.random.default_rng(seed)
    box = Workspace([-0.5, -0.5, 0.0], [0.5, 0.5, 1.0]) if seed % 2 else None
    stream = Stream(lead=Lead(0.05), workspace=box, speed=SpeedClip(*rng.uniform(0.1, 2.0, 2)) if seed % 3 else None)
    device, hand, target = np.zeros(3), np.array([0.0, 0.0, 0.5]), None
    for _ in range(400):
        device = device + rng.normal(size=3) * (1.0 if rng.random() < 0.02 else 0.01)
        hand = hand + rng.normal(size=3) * (0.3 if rng.random() < 0.02 else 0.01)
        sample = Sample(at(*device), pressed=bool(rng.random() < 0.95)) if rng.random() < 0.7 else None
        before, target = target, stream.step(sample, at(*hand), DT).target
        inside = box is None or bool(((hand >= box.lower) & (hand <= box.upper)).all())
        if inside:
            assert far(at(*hand), target) <= 0.05 + 1e-12
        if box is not None and before is not None:
            outside = np.maximum(np.maximum(box.lower - target.xyz, target.xyz - box.upper), 0.0)
            was = np.maximum(np.maximum(box.lower - before.xyz, before.xyz - box.upper), 0.0)
            assert (outside <= was + 1e-12).all()


def test_no_target_leaves_the_workspace_whatever_else_bounds_it() -> None:
    stream = Stream(workspace=Workspace([-9, -9, -9], [9, 0.1, 9]), lead=Lead(0.05), smooth=None, jumps=None)
    inside, outside = at(0, 0, 0.5), at(0, 0.3, 0.5)
    stream.step(Sample(at(0, 0, 0)), inside, DT)
    for k in range(50):
        assert stream.step(Sample(at(0, 0.001 * k, 0)), outside, DT).target.xyz[1] <= 0.1 + 1e-12
    for _ in range(200):
        assert stream.step(None, outside, DT).target.xyz[1] <= 0.1 + 1e-12


@pytest.mark.parametrize(
    ("make", "code", "name"),
    [
        (lambda: Stream(clutch=None), "wrong-type", "clutch"),  # type: ignore[arg-type]
        (lambda: Stream(speed=1.0), "wrong-type", "speed"),  # type: ignore[arg-type]
        (lambda: Stream(workspace=([0, 0, 0], [1, 1, 1])), "wrong-type", "workspace"),  # type: ignore[arg-type]
        (lambda: Clutch(axes=np.eye(3)), "not-a-rotation", "axes"),  # type: ignore[arg-type]
        (lambda: Sample(HOME, pressed="no"), "not-a-bool", "pressed"),  # type: ignore[arg-type]
        (lambda: Sample(HOME, gripper="x"), "not-a-number", "gripper"),  # type: ignore[arg-type]
        (lambda: Stream().step(HOME, HOME, DT), "wrong-type", "sample"),  # type: ignore[arg-type]
    ],
)
def test_another_thing_is_refused_by_name(make: Callable[[], object], code: str, name: str) -> None:
    with refused(code, name):
        make()


def test_a_sample_that_is_no_newer_is_as_none() -> None:
    one, other = Stream(), Stream()
    for k in range(50):
        new = Sample(at(0.002 * k, 0, 0), time=0.02 * (k // 2))
        a = one.step(new, HOME, DT)
        b = other.step(new if k % 2 == 0 else None, HOME, DT)
        assert a.target == b.target


def test_a_device_with_a_new_clock_is_heard_again() -> None:
    for pressed in (False, True):
        stream = Stream()
        stream.step(Sample(at(0, 0, 0), pressed, time=1e9), HOME, DT)
        for _ in range(150):
            stream.step(Sample(at(0, 0, 0), time=0.0), HOME, DT)
        stream.step(Sample(at(0, 0, 0), pressed=False, time=1.0), HOME, DT)
        assert stream.step(Sample(at(0, 0, 0), time=2.0), HOME, DT).state == "engaged"


def test_a_device_at_rest_is_no_silent_device() -> None:
    stream = Stream()
    states = {stream.step(Sample(at(0, 0, 0)), HOME, DT).state for _ in range(500)}
    assert states == {"engaged"}


def test_a_device_that_is_read_more_often_than_it_speaks_is_believed() -> None:
    stream, moved = Stream(smooth=None), 0.0
    for tick in range(1000):
        pose = at(0.014 * (tick // 14), 0, 0)  # 1 m/s, told 71 times a second to a loop of 1 kHz
        moved = far(stream.step(Sample(pose), HOME, 0.001).target, HOME)
        if moved > 0.1:
            break
    assert stream.rejected == 0
    assert moved > 0.1


def test_the_gripper_goes_through_and_stays_while_nothing_comes() -> None:
    stream = Stream()
    assert stream.step(None, HOME, DT).gripper is None
    assert stream.step(Sample(at(0, 0, 0), pressed=False, gripper=30.0), HOME, DT).gripper == 30.0
    for sample in (None, Sample(at(0, 0, 0)), Sample(at(9, 9, 9), gripper=99.0), Sample(at(0, 0, 0), gripper=np.nan)):
        assert stream.step(sample, HOME, DT).gripper == 30.0


def test_reset_begins_anew() -> None:
    stream, elsewhere = Stream(), at(1, 2, 3)
    first = [command.target for _, command, _ in poor(stream)]
    stream.reset()
    assert stream.step(None, elsewhere, DT).target == elsewhere
    stream.reset()
    again = [command.target for _, command, _ in poor(stream)]
    assert first == again


@pytest.mark.parametrize(
    ("sample", "where", "dt", "code"),
    [
        (Sample([1.0, 2.0]), HOME, DT, "wrong-shape"),
        (Sample("here"), HOME, DT, "wrong-shape"),
        (None, [1.0, 2.0], DT, "wrong-shape"),
        (None, np.full(7, np.nan), DT, "not-finite"),
        (None, HOME, 0.0, "not-positive"),
        (None, HOME, -1.0, "not-positive"),
    ],
)
def test_what_is_no_pose_is_refused(sample: Sample | None, where: object, dt: float, code: str) -> None:
    with refused(code):
        Stream().step(sample, where, dt)


# Its parts -------------------------------------------------------------------------------------------------------


def twisted(seed: int) -> pz.SE3:
    rng = np.random.default_rng(seed)
    return pz.SE3.exp(rng.normal(size=6))


@given(st.integers(0, 1000), st.floats(0.1, 3.0))
def test_a_clutch_moves_the_target_as_the_device_moved(seed: int, scale: float) -> None:
    begin, now, target, axes = (twisted(seed + k) for k in range(4))
    clutch = Clutch(scale, axes.rotation)
    assert clutch.step(begin, True, target).isclose(target, atol=1e-12)
    moved = clutch.step(now, True, target)
    assert np.allclose(moved.xyz - target.xyz, scale * axes.rotation.act(now.xyz - begin.xyz), atol=1e-12)
    # The turn of the device, seen along the robot's axes, turns the target.
    turn = axes.rotation @ (now.rotation @ begin.rotation.inverse()) @ axes.rotation.inverse()
    assert moved.rotation.isclose(turn @ target.rotation, atol=1e-9)
    assert clutch.step(begin, False, moved) == moved
    assert not clutch.engaged
    assert clutch.step(begin, True, moved).isclose(moved, atol=1e-12)


def low_pass(signal: Array, dt: float, filtered: OneEuro) -> Array:
    """The filter as its paper has it, of one coordinate that moves alone."""
    out, slope, last = [signal[0]], 0.0, signal[0]

    def part(cutoff: float) -> float:
        tau = 1.0 / (2.0 * np.pi * cutoff)
        return 1.0 / (1.0 + tau / dt)

    for value in signal[1:]:
        a = part(filtered.slope_cutoff)
        slope = a * (value - last) / dt + (1.0 - a) * slope
        last = value
        a = part(filtered.cutoff + filtered.beta * abs(slope))
        out.append(a * value + (1.0 - a) * out[-1])
    return np.array(out)


def test_the_filter_is_that_of_its_paper() -> None:
    signal = np.cumsum(np.random.default_rng(0).normal(scale=0.01, size=300))
    smooth = OneEuro(cutoff=0.7, beta=8.0, slope_cutoff=1.3)
    ours = [smooth.step(at(value, 0, 0), DT).xyz[0] for value in signal]
    assert np.allclose(ours, low_pass(signal, DT, smooth), atol=1e-12)


def test_the_filter_of_a_turn_about_one_axis_is_that_of_a_place() -> None:
    signal = np.cumsum(np.random.default_rng(1).normal(scale=0.02, size=300))
    smooth = OneEuro(turn_beta=2.0)
    ours = [smooth.step(pz.SE3.from_rotvec([0, 0, 0], [0, 0, value]), DT).rotation.log()[2] for value in signal]
    assert np.allclose(ours, low_pass(signal, DT, OneEuro(beta=2.0)), atol=1e-9)


def test_the_filter_stills_what_rests_and_is_not_late_for_what_moves() -> None:
    rng = np.random.default_rng(2)
    smooth = OneEuro()
    rest = np.array([smooth.step(at(*rng.normal(scale=0.001, size=3)), DT).xyz for _ in range(400)])
    assert np.abs(np.diff(rest[100:], axis=0)).max() < 4e-4  # of 4 mm
    late = [far(smooth.step(at(1.0 * DT * k, 0, 0), DT), at(1.0 * DT * k, 0, 0)) for k in range(200)]
    assert late[-1] < 0.02  # at 1 m/s


@given(st.integers(0, 1000))
def test_jumps_believe_what_a_hand_can_do(seed: int) -> None:
    jumps, rng = Jumps(speed=2.0, turn=5.0), np.random.default_rng(seed)
    pose = twisted(seed)
    assert jumps.step(pose, DT)
    for _ in range(20):
        move = rng.normal(size=6)
        move *= 0.99 / max(np.linalg.norm(move[:3]) / (2.0 * DT), np.linalg.norm(move[3:]) / (5.0 * DT))
        pose = pz.SE3.from_parts(pose.xyz + move[:3], pz.SO3.from_rotvec(move[3:]) @ pose.rotation)
        assert jumps.step(pose, DT)
    assert not jumps.step(at(*(pose.xyz + np.array([0.5, 0, 0]))), DT)
    assert jumps.step(pose, DT)
    away = pz.SE3.from_parts(pose.xyz + np.array([0.5, 0, 0]), pose.rotation)
    assert not jumps.step(None, 9.0)  # however long nothing came
    assert not jumps.step(away, DT)
    assert jumps.step(away, DT)


@given(st.integers(0, 1000))
def test_a_workspace_is_left_by_no_target_and_what_is_outside_gets_no_farther(seed: int) -> None:
    rng = np.random.default_rng(seed)
    frame = twisted(seed)
    box = Workspace([-0.2, -0.3, 0.1], [0.2, 0.1, 0.5], pose=frame)
    last = frame @ at(0.0, 0.0, 0.2)
    for _ in range(10):
        wanted = pz.SE3.from_parts(last.xyz + rng.normal(scale=0.3, size=3), last.rotation)
        kept = box.step(last, wanted)
        seen, asked = ((frame.inverse() @ each).xyz for each in (kept, wanted))
        assert np.allclose(seen, asked.clip([-0.2, -0.3, 0.1], [0.2, 0.1, 0.5]), atol=1e-9)
        assert kept.rotation == wanted.rotation
        last = kept
    outside = frame @ at(0.5, 0.0, 0.2)
    assert box.step(outside, outside).isclose(outside, atol=1e-9)
    farther, nearer = (box.step(outside, frame @ at(x, 0.0, 0.2)) for x in (0.9, 0.3))
    assert farther.isclose(outside, atol=1e-9)
    assert nearer.isclose(frame @ at(0.3, 0.0, 0.2), atol=1e-9)


def test_a_lead_keeps_the_target_near_the_hand() -> None:
    assert Lead(0.1).step(at(0, 0, 0), at(0.05, 0, 0)) == at(0.05, 0, 0)
    assert Lead(0.1).step(at(0, 0, 0), at(0, 3, 0)).isclose(at(0, 0.1, 0))


@given(st.integers(0, 1000), st.floats(0.01, 5.0), st.floats(0.01, 5.0))
def test_a_speed_clip_goes_as_far_as_it_may_and_the_same_way(seed: int, speed: float, turn: float) -> None:
    here, there = twisted(seed), twisted(seed + 1)
    next_ = SpeedClip(speed, turn).step(here, there, DT)
    assert far(here, next_) <= speed * DT + 1e-12
    assert turned(here, next_) <= turn * DT + 1e-9
    assert far(here, next_) + far(next_, there) == pytest.approx(far(here, there))
    assert turned(here, next_) + turned(next_, there) == pytest.approx(turned(here, there))


def test_a_target_eases_to_rest_where_the_hand_is() -> None:
    rules, target, here, silent = Dropouts(hold=0.1, ease=0.3, timeout=1.0), at(0.3, 0, 0), at(0, 0, 0), 0.0
    way = []
    for _ in range(60):
        silent += DT
        target = rules.step(target, here, silent, DT)
        way.append(target.xyz[0])
    assert np.allclose(way[:10], 0.3)
    assert np.allclose(np.diff(way[9:40]), -0.01)  # evenly
    assert np.allclose(way[40:], 0.0)


@pytest.mark.parametrize(
    ("make", "code", "name"),
    [
        (lambda: Clutch(0.0), "not-positive", "scale"),
        (lambda: OneEuro(cutoff=0.0), "not-positive", "cutoff"),
        (lambda: OneEuro(beta=-1.0), "negative", "beta"),
        (lambda: Jumps(speed=np.nan), "not-finite", "speed"),
        (lambda: Workspace([1, 0, 0], [0, 1, 1]), "inconsistent", "lower"),
        (lambda: Workspace([0, 0], [1, 1]), "wrong-shape", "lower"),
        (lambda: Lead(-0.1), "not-positive", "distance"),
        (lambda: SpeedClip(turn=0.0), "not-positive", "turn"),
        (lambda: Dropouts(hold=0.5, timeout=0.2), "inconsistent", "timeout"),
    ],
)
def test_settings_that_make_no_sense_are_refused(make: Callable[[], object], code: str, name: str) -> None:
    with refused(code, name):
        make()


def test_the_stream_of_the_examples_is_this_one(request: pytest.FixtureRequest) -> None:
    file = request.config.rootpath / "examples" / "operator.csv"
    assert file.read_text().splitlines()[0] == ",".join(COLUMNS)
    assert np.allclose(np.genfromtxt(file, delimiter=",", skip_header=1), operator(), atol=2e-5, equal_nan=True)

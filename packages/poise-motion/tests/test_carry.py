"""The page of retargeting: a map that is edited, contacts over time, and what is carried anew."""

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.refusals import refused

import poise as pz
from poise_motion.anatomy.body import BodyMap
from poise_motion.anatomy.contact_schedule import Contacts
from poise_motion.anatomy.parts import PARENTS
from poise_motion.carry.carrying import Carrying
from poise_motion.carry.contact_timeline import contact_timeline
from poise_motion.contact.contacts import contacts

JOINTS = ("Hips", "Chest", "Head", *(side + part for side in ("Left", "Right") for part in ("Leg", "Foot", "Hand")))
PARTS = (
    "pelvis",
    "chest",
    "head",
    *(f"{side}_{part}" for side in ("left", "right") for part in ("knee", "ankle", "wrist")),
)


def body(prefix: str) -> pz.Model:
    builder = pz.ModelBuilder(prefix)
    parent = "world"
    for i, name in enumerate(JOINTS):
        origin = pz.SE3.from_parts([0.0, 0.1 * i, 0.2])
        builder.joint(prefix + name, "spherical", parent=parent, child=prefix + name, origin=origin)
        parent = prefix + JOINTS[i // 2]
    return builder.build()


HUMAN, ROBOT = body(""), body("r_")
FIRST = np.arange(10) < 5


def carrying(again: Callable[..., Any] | None = None) -> Carrying:
    """Of bodies that nobody has to carry, whose ankles stand in the first five of ten frames."""
    found = BodyMap(
        dict(zip(PARTS, HUMAN.links, strict=True)), dict(zip(PARTS, ROBOT.links, strict=True)),
        ("left_ankle", "right_ankle"),
    )  # fmt: skip

    def done(*, body: BodyMap, contacts: Contacts | None) -> Any:
        stands = Contacts.of(dict.fromkeys(body.contacts or ["left_ankle"], FIRST))
        return SimpleNamespace(
            body=body, source=SimpleNamespace(model=HUMAN), motion=SimpleNamespace(model=ROBOT), given=contacts,
            contacts=stands if contacts is None else stands.replaced(contacts), again=again or done,
        )  # fmt: skip

    return Carrying(done(body=found, contacts=None))


def content(one: Carrying) -> tuple[Any, ...]:
    return dict(one.body.source), dict(one.body.robot), one.body.contacts, one.contacts.intervals


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["source", "robot", "stand", "on", "off"]),
            st.sampled_from([*PARENTS, "tail"]),
            st.sampled_from([None, "nowhere", *HUMAN.links, *ROBOT.links]),
        ),
        max_size=8,
    )
)
def test_any_edits_leave_a_map_and_are_taken_back_one_by_one(edits: list[tuple[Any, str, str | None]]) -> None:
    one = carrying()
    past = [content(one)]
    for what, part, frame in edits:
        kept = content(one)
        if what in ("on", "off"):
            well = one.switch(part, 3, 8 if frame is None else 12, what == "on")
        else:
            well = one.stand(part, frame is not None) if what == "stand" else one.assign(what, frame, part)
        assert well == (not one.refusal)
        if not well:
            assert len(one.refusal.split()) > 4
            assert content(one) == kept
        elif what in ("source", "robot"):
            assert one.name(what, part) == frame
        elif what != "stand":
            assert (one.contacts[part][3:8] == (what == "on")).all()
        assert set(one.body.contacts) <= set(one.body.parts)
        one.body.check(HUMAN, ROBOT)
        if content(one) != past[-1]:
            past.append(content(one))
        assert one.edited == (content(one) != past[0])
    for before in reversed(past[:-1]):
        assert one.undo()
        assert content(one) == before
    assert not one.undo()


def test_a_click_gives_a_part_a_joint_that_another_had() -> None:
    one = carrying()
    assert one.find("robot", "r_LeftHand")
    assert one.part == "left_wrist"
    assert one.assign("robot", "r_RightHand")
    assert (one.name("robot"), one.name("robot", "right_wrist")) == ("r_RightHand", None)
    assert "right_wrist" not in one.body.parts
    assert not one.find("robot", "r_LeftHand")
    assert one.part == "left_wrist"


def test_a_stance_is_held_as_is_said_until_that_is_undone() -> None:
    one = carrying()
    assert one.hold("left_ankle", 2, 8, "hard")
    assert [str(stance.hold) for stance in one.contacts.intervals] == ["hard", "None"]
    assert one.edited
    assert "hard" in contact_timeline(one.contacts, np.arange(10) / 10.0, 0.0)
    assert not one.hold("left_ankle", 6, 8, "hard")
    assert "does not stand" in one.refusal
    assert one.carry()
    assert one.done.given is not None
    assert one.done.given.parts == ("left_ankle",)
    assert one.undo()
    assert one.contacts.intervals[0].hold is None


def test_fingers_are_parts_too() -> None:
    one = carrying()
    assert one.assign("source", None, "left_wrist")
    assert one.assign("source", "LeftHand", "left_thumb")
    assert one.find("source", "LeftHand")
    assert one.part == "left_thumb"


def test_what_was_edited_counts_when_the_motion_is_carried_and_a_refusal_leaves_what_was() -> None:
    def again(**given: Any) -> Any:
        raise ValueError("bones without length")

    one = carrying()
    one.assign("source", None, "head")
    assert one.edited
    assert one.carry()
    assert not one.edited
    assert "head" not in one.done.body.source
    other = carrying(again)
    done = other.done
    other.assign("source", None, "head")
    assert not other.carry()
    assert other.refusal == "bones without length"
    assert other.done is done
    assert other.edited
    assert not other.busy


def test_contacts_that_were_edited_are_kept_when_the_map_is_and_are_taken_back_after_they_were_carried() -> None:
    one = carrying()
    assert one.switch("left_ankle", 5, 7, on=True)
    assert one.edited
    assert one.carry()
    assert not one.edited
    assert one.done.given.parts == ("left_ankle",)
    assert one.done.contacts["left_ankle"].sum() == 7
    assert one.assign("robot", None, "head")
    assert one.carry()
    assert one.done.contacts["left_ankle"].sum() == 7
    assert one.undo()
    assert one.undo()
    assert one.edited
    assert one.carry()
    assert one.done.contacts["left_ankle"].sum() == 5
    assert one.switch("left_ankle", 0, 9, on=False)
    assert one.stand("left_ankle", False)  # so nothing is to be said of it
    assert one.carry()
    assert one.done.given.parts == ()
    assert not one.switch("left_ankle", 0, 9, on=True)
    assert "let it stand on the ground in the map" in one.refusal


def test_what_is_edited_while_the_motion_is_carried_stays() -> None:
    one = carrying()
    carry = one.done.again

    def again(**given: Any) -> Any:
        assert one.switch("right_ankle", 0, 2, on=False)
        return carry(**given)

    one.done.again = again
    assert one.carry()
    assert one.contacts["right_ankle"].sum() == 3
    assert one.edited


def test_contacts_are_bars_over_the_time_in_which_a_part_stands() -> None:
    times = np.linspace(5.0, 7.0, 101)
    path = np.zeros((101, 1, 3))
    path[40:, 0, 0] = 2.0 * (times[40:] - times[40])  # it slides away, so it stands no more
    found = contacts({"left_ankle": path, "right_ankle": np.zeros((101, 1, 3))}, times)
    picture = contact_timeline(found, times, 0.5)
    bars = [
        tuple(map(float, bar))
        for bar in re.findall(r'<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)" height="12"', picture)
    ]
    assert len(bars) == len(found.intervals) == 2
    first, whole = bars
    assert first[0] == whole[0]
    stop = times[found.intervals[0].stop] - 5.0
    assert first[1] / whole[1] == pytest.approx(stop / 2.0, abs=0.01)
    assert 'height="16"' not in picture
    chosen = contact_timeline(found, times, 0.5, chosen=("right_ankle", (0.5, 1.5)))
    ((left, wide),) = re.findall(r'<rect x="([\d.]+)" y="19" width="([\d.]+)" height="16"', chosen)
    assert (float(left) - whole[0]) / whole[1] == pytest.approx(0.25, abs=0.01)
    assert float(wide) / whole[1] == pytest.approx(0.5, abs=0.01)
    (line,) = re.findall(r'<line x1="([\d.]+)"', picture)
    assert (float(line) - whole[0]) / whole[1] == pytest.approx(0.25, abs=0.01)
    assert contact_timeline(contacts({}, times), times, 0.0) == "<p>No part stands.</p>"


def test_what_is_not_viewed() -> None:
    from poise_motion.carry.page import CarryingPage

    one, other = carrying(), carrying()
    other.done.motion = SimpleNamespace(model=HUMAN)
    with refused("inconsistent", "results[1]"):
        CarryingPage([one, other], port=0)
    with refused("empty", "results"):
        pz.view([], port=0, block=False)
    with refused("wrong-type", "Model"):
        pz.view([HUMAN], port=0, block=False)  # type: ignore[list-item]
    with refused("conflict", "tasks"):
        pz.view([], pz.PositionTask("Hips"), port=0, block=False)


def person() -> pz.Motion:
    """Legs, arms and a trunk that bend their knees, for half a second."""
    places: dict[str, Any] = {"Chest": ("Hips", (0.0, 0.0, 0.35)), "Head": ("Chest", (0.0, 0.0, 0.3))}
    for side, y in (("Left", 1), ("Right", -1)):
        for name, parent, place in (
            ("UpLeg", "Hips", (0, 0.09 * y, -0.05)), ("Leg", "UpLeg", (0, 0, -0.42)), ("Foot", "Leg", (0, 0, -0.42)),
            ("Toe", "Foot", (0.15, 0, -0.05)), ("Arm", "Chest", (0, 0.18 * y, 0.12)),
            ("ForeArm", "Arm", (0, 0, -0.28)), ("Hand", "ForeArm", (0, 0, -0.25)),
        ):  # fmt: skip
            places[side + name] = (parent if parent in ("Hips", "Chest") else side + parent, place)
    builder = pz.ModelBuilder("person")
    builder.joint("Hips", "floating", parent="world", child="Hips")
    for name, (parent, place) in places.items():
        builder.joint(name, "spherical", parent=parent, child=name, origin=pz.SE3.from_parts(place))
    model = builder.build()
    times = np.linspace(0.0, 0.5, 16)
    v = np.zeros((len(times), model.nv))
    for joint, turn in (("UpLeg", -1.0), ("Leg", 2.0), ("Foot", -1.0)):
        for side in ("Left", "Right"):
            v[:, model.velocity_index(side + joint).start + 1] = turn * times
    v[:, 2] = 0.1 + 0.84 * np.cos(times)
    return pz.Motion(model, times, model.integrate(model.neutral, v), name="bend")


def click(figure: Any, link: str) -> None:
    """Click a link as a window does."""
    (told,) = figure._handles[figure._frames.index(link)]._impl.click_cb
    told.callback(None)


def test_the_page_plays_both_edits_the_map_and_carries_the_motion_again(
    tmp_path: Path, wait_for: Callable[..., None]
) -> None:
    pytest.importorskip("viser", reason="the viewer needs viser")
    from support.widgets import by_hand, widget

    from poise_motion.carry.page import table_of

    motion = person()
    robot = motion.model
    later = pz.Motion(robot, motion.times[:8] + 1.0, motion.q[8:], name="later")
    both = pz.retarget([motion, later], robot)
    with pz.view(both, port=0, block=False) as page:
        one, first = page.carrying, both[0]
        assert one.done is first
        assert page.played.motion is first.motion
        assert page.played.ghost is not None
        assert page.played.ghost.aside < 0.0  # beside it
        wait_for(lambda: "contact_timeline" in page._said)
        assert page._said["contact_timeline"].count("<title>") == len(first.contacts.intervals) > 0
        click(page.played.ghost.figure, "LeftHand")
        wait_for(lambda: widget(page, "skeleton").value == "LeftHand")
        wait_for(lambda: widget(page, "Carry the motion").disabled)
        by_hand(page, "a click gives it to the part", True)
        click(page.played.figure, "LeftForeArm")
        assert one.body.robot["left_wrist"] == "LeftForeArm"
        assert "| **left wrist** | **LeftHand** | **LeftForeArm** |" in table_of(one)
        wait_for(lambda: not widget(page, "Carry the motion").disabled)
        by_hand(page, "a click gives it to the part", False)
        click(page.played.figure, "LeftFoot")
        wait_for(lambda: widget(page, "foot or hand").value == "left_ankle")
        by_hand(page, "stretch s", (0.1, 0.2))
        assert page.timeline.time in (0.1, 0.2)
        edits = one.undoable
        by_hand(page, "It stands there", True)
        assert one.undoable == edits  # for it does already
        by_hand(page, "its stances", "within")
        by_hand(page, "They are held so", True)
        assert [str(stance.hold) for stance in one.contacts.intervals if stance.part == "left_ankle"] == [
            "within 10 mm and 15 degrees"
        ]
        edits = one.undoable
        by_hand(page, "It does not stand there", True)
        assert one.undoable == edits + 1
        assert not one.contacts["left_ankle"][3:7].any()
        assert one.contacts["left_ankle"].sum() == first.contacts["left_ankle"].sum() - 4
        page.carry().join()
        assert one.refusal == ""
        assert one.done is not first
        assert np.array_equal(one.done.contacts["left_ankle"], one.contacts["left_ankle"])
        wait_for(lambda: page.played.motion is one.done.motion)
        one.body.save(tmp_path / "map.toml")
        assert BodyMap.load(tmp_path / "map.toml", motion, robot).robot["left_wrist"] == "LeftForeArm"
        page.write_page(tmp_path / "both.html")
        assert (tmp_path / "both.html").stat().st_size > 500_000
        by_hand(page, "motion", "2: later")
        assert page.carrying.done is both[1]
        wait_for(lambda: page.played.motion is both[1].motion)
        with refused("conflict", "ghost"):
            pz.view(both, ghost=motion, port=0, block=False)
        with refused("wrong-type", "a list with Motion too"):
            pz.view([*both, motion], port=0, block=False)
        assert page.timeline.duration == pytest.approx(both[1].motion.duration)

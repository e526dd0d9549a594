"""BVH: what a file says is where forward kinematics of its own puts the joints, and what is no BVH is refused."""

import itertools
import json
import math
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.captures import ASSIMP, needs_assimp
from support.refusals import refused

import poise as pz
from poise.cli import main
from poise.common.errors import ModelError, ModelWarning
from poise.io.bvh import parse_bvh
from poise.io.skeleton import SkeletonFile
from poise.motion.clip import of_skeleton
from poise.spatial import LARGEST

"""Where Debian's assimp-testmodels has its files."""
ARM = """HIERARCHY
ROOT Hips
{
\tOFFSET 0 0 0
\tCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
\tJOINT Spine
\t{
\t\tOFFSET 0 60 0
\t\tCHANNELS 3 Zrotation Yrotation Xrotation
\t\tJOINT Head
\t\t{
\t\t\tOFFSET 1 40 -2
\t\t\tCHANNELS 1 Xrotation
\t\t\tEnd Site
\t\t\t{
\t\t\t\tOFFSET 0 20 0
\t\t\t}
\t\t}
\t}
\tJOINT Knee
\t{
\t\tOFFSET 10 -45 0
\t\tCHANNELS 2 Yrotation Xrotation
\t\tEnd Site
\t\t{
\t\t\tOFFSET 0 -45 5
\t\t}
\t}
}
MOTION
Frames: 3
Frame Time: 0.02
1 90 2 10 20 30 5 -6 7 15 25 35
2 91 3 11 21 31 6 -7 8 16 26 36
3 92 4 12 22 32 7 -8 9 17 27 37
"""


def read(text: str | bytes, **options: object) -> pz.Motion:
    data = text.encode() if isinstance(text, str) else text
    return of_skeleton(parse_bvh(data, file="a.bvh", **options))  # type: ignore[arg-type]


def about(axis: str, degrees: float) -> np.ndarray:
    s, c = math.sin(math.radians(degrees)), math.cos(math.radians(degrees))
    return np.array(
        {
            "X": [[1, 0, 0], [0, c, -s], [0, s, c]],
            "Y": [[c, 0, s], [0, 1, 0], [-s, 0, c]],
            "Z": [[c, -s, 0], [s, c, 0], [0, 0, 1]],
        }[axis]
    )


def places(text: str) -> np.ndarray:
    """(frames, n, 3) the joints of a text whose joints stand a line an entry, in its own units and axes."""
    head, body = text.split("MOTION")
    rows = [[float(word) for word in line.split()] for line in body.strip().splitlines()[2:]]
    out = []
    for row in rows:
        numbers, stack, found = iter(row), [(np.eye(3), np.zeros(3))], []
        offset, ending = np.zeros(3), False
        for line in head.splitlines():
            words = line.split()
            match words[:1]:
                case ["ROOT" | "JOINT"]:
                    ending = False
                case ["End"]:
                    ending = True
                case ["OFFSET"]:
                    offset = np.array([float(word) for word in words[1:4]])
                    if ending:
                        stack.append(stack[-1])
                case ["CHANNELS"]:
                    turn, place = np.eye(3), offset.copy()
                    for name in words[2:]:
                        if name.endswith("position"):
                            place["XYZ".index(name[0])] = next(numbers)
                        else:
                            turn = turn @ about(name[0], next(numbers))
                    rotation, origin = stack[-1]
                    stack.append((rotation @ turn, origin + rotation @ place))
                    found.append(stack[-1][1])
                case ["}"]:
                    stack.pop()
        out.append(found)
    return np.array(out)


def z_up(points: np.ndarray) -> np.ndarray:
    x, y, z = np.moveaxis(points, -1, 0)
    return np.stack([x, -z, y], axis=-1)


# What is read --------------------------------------------------------------------------------------------------------


def test_joints_are_where_the_file_puts_them() -> None:
    motion = read(ARM)
    assert motion.model.joint_names == ("Hips", "Spine", "Head", "Knee")
    assert [joint.kind for joint in motion.model.joints] == ["floating", "spherical", "spherical", "spherical"]
    assert motion.times.tolist() == [0.0, 0.02, 0.04]
    assert motion.unit == 0.01
    assert np.allclose(motion.positions(), z_up(0.01 * places(ARM)), rtol=0, atol=1e-12)
    assert np.allclose(motion.model.pose("Head_end", motion.model.neutral).xyz, [0.01, 0.02, 1.2])


def test_axes_may_stay_as_the_file_has_them() -> None:
    assert np.allclose(read(ARM, up="z", unit=1.0).positions(), places(ARM), rtol=0, atol=1e-12)


@pytest.mark.parametrize("order", list(itertools.permutations("XYZ")))
def test_any_order_of_turns(order: tuple[str, ...]) -> None:
    text = ARM.replace("Zrotation Yrotation Xrotation", " ".join(f"{axis}rotation" for axis in order))
    assert np.allclose(read(text, up="z", unit=1.0).positions(), places(text), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "channels",
    [
        "6 Yrotation Xposition Zrotation Yposition Xrotation Zposition",
        "5 Zposition Zrotation Xposition Xrotation Yrotation",
        "4 Xrotation Yrotation Zrotation Yposition",
    ],
)
def test_places_and_turns_in_any_order_on_inner_joints(channels: str) -> None:
    text = ARM.replace("3 Zrotation Yrotation Xrotation", channels)
    rows = text.split("\n")
    extra = int(channels[0]) - 3
    for i in (-4, -3, -2):
        words = rows[i].split()
        words[9:9] = [str(40.0 + 7 * k - 3 * i) for k in range(extra)]
        rows[i] = " ".join(words)
    text = "\n".join(rows)
    motion = read(text, up="z", unit=1.0)
    assert motion.model.joint("Spine").kind == "floating"
    assert np.allclose(motion.positions(), places(text), rtol=0, atol=1e-11)
    assert any("floating" in note for note in motion.notes)


def inner(*spine: str) -> str:
    """The arm with places on its spine."""
    text = ARM.replace(
        "3 Zrotation Yrotation Xrotation", "6 Xposition Yposition Zposition Zrotation Yrotation Xrotation"
    )
    rows = text.split("\n")
    for i, extra in zip((-4, -3, -2), spine, strict=True):
        words = rows[i].split()
        words[6:6] = extra.split()
        rows[i] = " ".join(words)
    return "\n".join(rows)


def test_a_joint_whose_places_do_not_change_only_turns() -> None:
    text = inner("0 61 1", "0 61.0001 1", "0 61 1")
    motion = read(text, up="z", unit=1.0)
    assert motion.model.joint("Spine").kind == "spherical"
    assert np.allclose(motion.positions(), places(text), rtol=0, atol=1e-3)
    assert any("'Spine'" in note and "only turn" in note for note in motion.notes)


def test_offsets_may_stand_in_the_frames_alone() -> None:
    """Some files write OFFSET 0 0 0 everywhere, and the bones' lengths in each frame."""
    text = "HIERARCHY\nROOT a {\nOFFSET 0 0 0\nCHANNELS 0\n"
    names = [f"{axis}{what}" for what in ("position", "rotation") for axis in "XYZ"]
    text += "".join(f"JOINT {joint} {{\nOFFSET 0 0 0\nCHANNELS 6 {' '.join(names)}\n" for joint in "bcd") + "}" * 4
    rows = "".join(f"0 60 0.001 {i} 0 0 0 50 0 0 {i} 0 0 70 0 0 0 0\n" for i in range(5))
    motion = read(f"{text}\nMOTION\nFrames: 5\nFrame Time: 1\n{rows}")
    assert [joint.kind for joint in motion.model.joints] == ["floating", *["spherical"] * 3]
    assert motion.unit == 0.01
    assert np.allclose(motion.positions()[0, :, 2], [0.0, 0.6, 1.1, 1.8], rtol=0, atol=1e-9)


def test_places_about_zero_are_added_to_the_offset() -> None:
    added = read(inner("0 1 0", "0 -1 0", "0 0 2"))
    whole = read(inner("0 61 0", "0 59 0", "0 60 2"))
    assert np.allclose(added.positions(), whole.positions(), rtol=0, atol=1e-12)
    assert any("OFFSET is added" in note for note in added.notes)


def of_world(text: str) -> str:
    """A text whose inner joints of six channels are given the world's places in place of their own."""
    head = text[: text.index("Frame Time")]
    names = re.findall(r"(?:ROOT|JOINT) (\w+)", head)
    counts = [int(n) for n in re.findall(r"CHANNELS (\d)", head)]
    rows = [line.split() for line in text.split("\n")[-4:-1]]
    for row, stands in zip(rows, places(text), strict=True):
        for i in range(1, len(names)):
            if counts[i] == 6:
                at = sum(counts[:i])
                row[at : at + 3] = [repr(float(x)) for x in stands[i]]
    return "\n".join([*text.split("\n")[:-4], *map(" ".join, rows), ""])


@pytest.mark.parametrize("spine", [("0 60 0", "0 60 0", "0 60 0"), ("0 58 2", "1 61 1", "0 60 0")])
def test_places_of_the_world_are_told_by_the_lengths_of_bones(spine: tuple[str, str, str]) -> None:
    text = inner(*spine)
    motion = read(of_world(text), up="z", unit=1.0)
    assert np.allclose(motion.positions(), places(text), rtol=0, atol=1e-9)
    assert any("joint 'Spine': the places are the world's, not the parent's" in note for note in motion.notes)
    assert not any("the world's, not" in note for note in read(text).notes)
    assert read(of_world(text)).unit == read(text).unit


def test_places_of_the_world_beneath_places_of_the_world() -> None:
    text = """HIERARCHY
ROOT pelvis { OFFSET 0 0 0 CHANNELS 6 Xposition Yposition Zposition Xrotation Yrotation Zrotation
JOINT thorax { OFFSET 0 0 10 CHANNELS 6 Xposition Yposition Zposition Xrotation Yrotation Zrotation
JOINT head { OFFSET 0 0 20 CHANNELS 6 Xposition Yposition Zposition Xrotation Yrotation Zrotation
End Site { OFFSET 0 0 5 } } } }
MOTION
Frames: 2
Frame Time: 0.01
50 0 36 0 0 0 50 0 46 0 90 0 70 0 46 0 0 0
60 0 36 0 0 0 60 0 46 0 90 0 80 0 46 0 0 0
"""
    motion = read(text, up="z", unit=1.0)
    assert np.allclose(motion.positions()[1], [[60, 0, 36], [60, 0, 46], [80, 0, 46]], rtol=0, atol=1e-12)
    assert [joint.kind for joint in motion.model.joints] == ["floating", "spherical", "spherical"]


def test_bones_twice_as_long_as_their_offsets_are_warned_of() -> None:
    with pytest.warns(ModelWarning, match=r"a\.bvh:[\s\S]*torn apart.*\(line 6: 'Spine' \(130 for 60\)\)"):
        motion = read(inner("0 130 0", "0 130 0", "0 130 0"))
    assert any("'Spine'" in note and "torn" in note for note in motion.notes)
    read(inner("0 115 0", "0 115 0", "0 115 0"))


FAR = """HIERARCHY
ROOT Reference {{ OFFSET 0 0 0 CHANNELS 6 Xposition Yposition Zposition Xrotation Yrotation Zrotation
JOINT Hips {{ OFFSET {offset} CHANNELS 6 Xposition Yposition Zposition Xrotation Yrotation Zrotation
JOINT Neck {{ OFFSET 0 50 0 CHANNELS 1 Xrotation End Site {{ OFFSET 0 25 0 }} }}
JOINT LArm {{ OFFSET 20 45 0 CHANNELS 1 Xrotation End Site {{ OFFSET 60 0 0 }} }}
JOINT RArm {{ OFFSET -20 45 0 CHANNELS 1 Xrotation End Site {{ OFFSET -60 0 0 }} }}
JOINT LLeg {{ OFFSET 10 0 0 CHANNELS 1 Xrotation End Site {{ OFFSET 0 -85 0 }} }}
JOINT RLeg {{ OFFSET -10 0 0 CHANNELS 1 Xrotation End Site {{ OFFSET 0 -85 0 }} }} }} }}
MOTION
Frames: 2
Frame Time: 0.01
0 0 0 0 0 0 {place} 0 0 0 0 0 0 0 0
0 0 0 0 0 0 {other} 0 0 0 0 0 0 0 0
"""


@pytest.mark.parametrize("offset", ["0 0 0", "0 90 0"])
@pytest.mark.parametrize(
    ("place", "other"), [("0 90 0", "0 90 0"), ("1000 90 0", "1000 90 0"), ("0 90 1e4", "5 90 1e4")]
)
def test_where_a_body_is_tells_nothing_of_its_unit(offset: str, place: str, other: str) -> None:
    motion = read(FAR.format(offset=offset, place=place, other=other))
    assert motion.unit == 0.01
    x, y, z = map(float, other.split())
    assert np.allclose(motion.positions(["Hips"])[1, 0], [0.01 * x, -0.01 * z, 0.01 * y], atol=0.01 * 5)
    assert not any("torn" in note for note in motion.notes)


def test_a_name_that_is_given_twice_gets_a_number() -> None:
    text = ARM.replace("JOINT Knee", "JOINT Head")
    with pytest.warns(ModelWarning, match=r"got numbers \(line 20: 'Head' in line 20 is 'Head_2'\)"):
        motion = read(text)
    assert motion.model.joint_names == ("Hips", "Spine", "Head", "Head_2")
    assert "Head_2_end" in motion.model.frames
    assert np.array_equal(motion.q, read(ARM).q)
    assert any("'Head_2'" in note for note in motion.notes)


def test_layout_does_not_matter() -> None:
    wanted = read(ARM).q
    for text in (
        "\ufeff" + ARM.replace("\n", "\r\n"),
        ARM.replace("\n", "\r"),
        ARM.replace(" ", "\t \t"),
        ARM.replace("\n", "\n\n \n"),
        ARM.replace("\n\t", " ").replace("{", " { ").replace("}", " } "),
        ARM.upper().replace("HIPS", "Hips").replace("SPINE", "Spine").replace("HEAD", "Head").replace("KNEE", "Knee"),
        ARM.replace("1 90 2 10", "1e0 9.0E+1 +2 1.e1"),
        ARM.replace("10 20 30 5", "10 20\n30 5"),
        ARM.replace("Frames: 3", "Frames:3").replace("Frame Time: ", "Frame Time:\t"),
        ARM.replace("OFFSET 0 60 0", "OFFSET 0 60 0 10 20 30"),
    ):
        assert np.array_equal(read(text).q, wanted), text


def test_a_name_may_have_spaces() -> None:
    assert read(ARM.replace("Spine", "Upper  spine")).model.joint_names[1] == "Upper spine"


def test_bones_of_no_length_and_joints_without_channels() -> None:
    text = ARM.replace("OFFSET 1 40 -2", "OFFSET 0 0 0").replace("CHANNELS 1 Xrotation", "CHANNELS 0")
    text = text.replace(" 15 25 35", " 25 35").replace(" 16 26 36", " 26 36").replace(" 17 27 37", " 27 37")
    motion = read(text)
    assert motion.model.joint("Head").kind == "fixed"
    assert np.allclose(motion.positions(), z_up(0.01 * places(text)), rtol=0, atol=1e-12)


def test_several_roots_stand_side_by_side() -> None:
    head, body = ARM.split("MOTION")
    second = head.removeprefix("HIERARCHY\n")
    for name in ("Hips", "Spine", "Head", "Knee"):
        second = second.replace(name, name.lower())
    rows = [line if i < 3 else f"{line} {line}" for i, line in enumerate(body.split("\n"))]
    motion = read(head + second + "MOTION" + "\n".join(rows))
    assert np.allclose(motion.positions(["Head"]), motion.positions(["head"]), rtol=0, atol=1e-12)


def test_quaternions_do_not_jump() -> None:
    rows = "".join(f"0 90 0 0 0 {angle % 360 - 180} 0 0 0 0 0 0\n" for angle in range(0, 1500, 10))
    q = read(ARM.split("Frames")[0] + "Frames: 150\nFrame Time: 0.1\n" + rows).q
    assert np.abs(np.diff(q, axis=0)).max() < 0.1


@pytest.mark.parametrize(
    ("size", "unit"), [(0.01, 1.0), (1.0, 0.01), (10.0, 0.001), (0.19, 0.0254 / 0.45), (0.05, 0.01)]
)
def test_the_size_tells_the_unit_and_the_notes_tell_so(size: float, unit: float) -> None:
    text = ARM
    for offset in ("0 60 0", "1 40 -2", "0 20 0", "10 -45 0", "0 -45 5"):
        scaled = " ".join(str(size * float(word)) for word in offset.split())
        text = text.replace(f"OFFSET {offset}\n", f"OFFSET {scaled}\n")
    motion = read(text)
    assert motion.unit == unit
    assert any("no unit" in note for note in motion.notes)
    assert not any("no unit" in note for note in read(text, unit=0.5).notes)


# What is mended ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stated", [0, 2, 4, 10**17])
def test_a_wrong_count_of_frames_is_reported(stated: int) -> None:
    with pytest.warns(ModelWarning, match=f"Frames says {stated}, and there are 3 rows"):
        motion = read(ARM.replace("Frames: 3", f"Frames: {stated}"))
    assert np.array_equal(motion.q, read(ARM).q)
    assert any("3 rows" in note for note in motion.notes)


@pytest.mark.parametrize("time", ["0", "-0.1", "nan", "inf", "x", "1e-300"])
def test_a_frame_time_that_is_none_is_reported(time: str) -> None:
    with pytest.warns(ModelWarning, match="Frame Time"):
        motion = read(ARM.replace("0.02", time))
    assert motion.fps == pytest.approx(30.0)
    assert read(ARM.replace("0.02", time), fps=50).times.tolist() == [0.0, 0.02, 0.04]


@pytest.mark.parametrize("bad", ["nan", "-inf", "1e300", "-1.#IND", "1.#QNAN0", "NaN"])
def test_frames_that_are_no_numbers_are_bridged_and_reported(bad: str) -> None:
    with pytest.warns(ModelWarning, match=r"not finite.*frame 1 of 'Hips'"):
        motion = read(ARM.replace("2 91 3 11 21 31", f"2 {bad} 3 11 21 31"))
    whole = read(ARM)
    assert any("bridged" in note and "'Hips'" in note for note in motion.notes)
    assert np.allclose(motion.q[:, 7:], whole.q[:, 7:])
    between = motion.model.interpolate(whole.q[0], whole.q[2], 0.5)
    assert np.allclose(motion.q[1, :7], between[:7], rtol=0, atol=1e-12)


def test_frames_at_an_end_stand_still_and_none_at_all_are_refused() -> None:
    with pytest.warns(ModelWarning, match="not finite"):
        motion = read(ARM.replace("3 92 4 12", "3 92 4 nan"))
    assert np.array_equal(motion.q[2, :7], motion.q[1, :7])
    text = ARM.replace(" 10 20", " nan 20").replace(" 11 21", " nan 21").replace(" 12 22", " nan 22")
    with pytest.raises(ModelError, match=r"a\.bvh:2: joint 'Hips' has no frame"):
        read(text)


# What is refused -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("HIERARCHY", "SKELETON", 1, "begins with HIERARCHY"),
        ("\tCHANNELS 1 Xrotation", "\tCHANNELS 2 Xrotation", 13, "said to be '2' and 1 follow"),
        ("CHANNELS 1 Xrotation", "CHANNELS 99999999999999999999 Xrotation", 13, "and 1 follow"),
        ("CHANNELS 1 Xrotation", "CHANNELS 1 Wrotation", 13, "0 follow, then 'Wrotation'"),
        ("CHANNELS 2 Yrotation Xrotation", "CHANNELS 2 Yrotation Yrotation", 23, "name Yrotation twice"),
        ("OFFSET 0 60 0", "OFFSET 0 60", 8, "has 2 numbers"),
        ("OFFSET 0 60 0", "OFFSET 0 nan 0", 8, "no length"),
        ("OFFSET 0 60 0", "OFFSET 0 1e30 0", 8, "no length"),
        ("\t\tOFFSET 0 60 0\n", "", 18, "joint 'Spine' has no OFFSET"),
        ("JOINT Knee", "ROOT Knee", 20, "cannot stand within joint 'Hips'"),
        ("JOINT Knee", "JOINT", 20, "has no name"),
        ("ROOT Hips", "JOINT Hips", 2, "stands in no joint"),
        ("\t\t}\n\t}\n}\nMOTION", "\t\t}\n\t}\nMOTION", 2, "not closed"),
        ("}\nMOTION", "}\n}\nMOTION", 30, "closes nothing"),
        ("\tJOINT Knee\n\t{", "\tJOINT Knee\n", 22, "needs a '{'"),
        ("Frames: 3", "Frames: many", 30, "whole number"),
        ("Frames: 3\nFrame Time: 0.02", "", 30, "needs two lines"),
        ("25 35\n", "25\n", 33, "has 11 numbers, and the joints have 12 channels; mend"),
        ("17 27 37\n", "17 27\n", 35, "the file is cut off"),
        ("6 -7 8", "6 -7,5 8", 34, "write a point in place of the comma"),
        ("6 -7 8", "6 b 8", 34, "'b' in a frame is no number"),
        ("6 -7 8", "6 0x1p3 8", 34, "no number"),
        (ARM[ARM.index("1 90 2") :], "", 32, "none follows; the file is cut off"),
    ],
)
def test_what_is_no_bvh_is_refused_with_its_line(old: str, new: str, line: int, message: str) -> None:
    assert old in ARM
    with pytest.raises(ModelError, match=message) as caught:
        read(ARM.replace(old, new, 1))
    assert (caught.value.file, caught.value.line) == ("a.bvh", line)


def test_a_skeleton_without_frames_is_a_model_and_no_motion(tmp_path: Path) -> None:
    file = tmp_path / "bare.bvh"
    file.write_text(ARM.split("MOTION")[0])
    assert pz.load(file).joint_names == ("Hips", "Spine", "Head", "Knee")
    with pytest.raises(ModelError, match="no frame"):
        pz.load_motion(file)


@pytest.mark.parametrize(
    "text",
    [
        "HIERARCHY\n" + "ROOT a {" * 100_000,
        "HIERARCHY\nROOT r {" + "".join(f"JOINT j{i} {{ OFFSET 0 1 0\n" for i in range(50_000)),
        "HIERARCHY\n" + "}" * 1_000_000,
        "HIERARCHY\nROOT r {" + "End Site { OFFSET 0 0 0 }\n" * 50_000,
        "HIERARCHY\nROOT " + "a " * 500_000,
        "HIERARCHY ROOT a { OFFSET " + "1 " * 500_000 + "}",
        "HIERARCHY ROOT a { OFFSET 0 0 0 CHANNELS 3 " + "Xrotation " * 300_000 + "}",
        "\0" * 1_000_000,
        ARM.split("Frames")[0] + "Frames" + " " * 1_000_000 + "3 x",
        ARM.split("Frames")[0] + "Frames: 1" + " " * 1_000_000 + "x",
        ARM.split("Frames")[0] + "Frames: 1\nFrame Time: 1" + "1" * 1_000_000 + "\n1,",
        ARM + "\n" * 9_000_000,
    ],
)
def test_hostile_files_are_refused(text: str) -> None:
    with pytest.raises(ModelError, match=r"^a\.bvh:"):
        read(text)


def test_a_deep_chain_is_read() -> None:
    depth = 1500
    text = "HIERARCHY\nROOT r {\nOFFSET 0 0 0\nCHANNELS 1 Xrotation\n"
    text += "".join(f"JOINT j{i} {{\nOFFSET 0 1 0\nCHANNELS 1 Xrotation\n" for i in range(depth)) + "}" * (depth + 1)
    row = " ".join(["0"] * (depth + 1))
    skeleton = parse_bvh(f"{text}\nMOTION\nFrames: 1\nFrame Time: 1\n{row}\n".encode(), unit=0.01)
    assert skeleton.turns.shape == (1, depth + 1, 4)


def test_frames_of_few_numbers_and_many_joints_take_no_memory() -> None:
    text = "HIERARCHY\nROOT r {\nOFFSET 0 0 0\nCHANNELS 1 Xrotation\n"
    text += "".join(f"JOINT j{i} {{\nOFFSET 0 1 0\n}}\n" for i in range(4000)) + "}\n"
    with pytest.raises(ModelError, match="too many to hold"):
        read(f"{text}MOTION\nFrames: 9\nFrame Time: 1\n" + "0\n" * 100_000)


def test_the_command_line_knows_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "arm.bvh"
    file.write_text(ARM)
    assert main(["info", str(file)]) == 0
    shown = capsys.readouterr().out
    assert "Spine.qw" in shown
    assert "3 frames, 50 a second, 0.04 s; a unit of length is 0.01 m" in shown
    assert main(["info", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["motion"]["frames"] == 3


def test_arguments_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    for options in ({"unit": 0.0}, {"unit": math.nan}, {"up": "x"}, {"fps": -1.0}):
        with pytest.raises(ValueError, match="must be"):
            read(ARM, **options)
    file = tmp_path / "arm.bvh"
    file.write_text(ARM)
    with refused("conflict", "base"):
        pz.load(file, base="planar")
    with refused("conflict", "package_dirs"):
        pz.load(file, xacro_args={})


# Real files ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "frames", "joints", "fps"),
    [("01_01.bvh", 2752, 31, 120), ("01_03.bvh", 4511, 31, 120), ("Boxing_Toes.bvh", 3070, 21, 100)],
)
@needs_assimp
def test_files_of_motion_capture(name: str, frames: int, joints: int, fps: float) -> None:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        motion = pz.load_motion(ASSIMP / "BVH" / name)
    assert len(said) == (name == "Boxing_Toes.bvh")  # whose header counts one frame less
    assert (len(motion), len(motion.model.joint_names)) == (frames, joints)
    assert motion.fps == pytest.approx(fps, rel=1e-4)
    text = (ASSIMP / "BVH" / name).read_text()
    few = text.split("\n")
    start = next(i for i, line in enumerate(few) if line.startswith("Frame Time"))
    shown = places("\n".join([*few[: start + 1], *few[start + 1 : start + 400 : 50]]))
    found = motion[: 400 - 1 : 50].positions()
    assert np.allclose(found, z_up(motion.unit * shown), rtol=0, atol=1e-9)
    toes = motion.positions([link for link in motion.model.links if "Toe" in link])[..., 2]
    assert -0.1 < np.percentile(toes, 5) < 0.15


def test_pybvh_agrees(tmp_path: Path) -> None:
    pybvh = pytest.importorskip("pybvh", reason="needs pybvh, a second opinion")
    file = tmp_path / "arm.bvh"
    # It reads joints with three turns alone.
    text = ARM.replace("1 Xrotation", "3 Yrotation Zrotation Xrotation").replace(
        "2 Yrotation Xrotation", "3 Xrotation Yrotation Zrotation"
    )
    rows = text.split("\n")
    rows[-4:-1] = [f"{row} 3 -4 50" for row in rows[-4:-1]]
    file.write_text("\n".join(rows))
    other = pybvh.read_bvh_file(file)
    mine = pz.load_motion(file, up="z", unit=1.0)
    wanted = np.asarray(other.node_positions())
    assert np.allclose(mine.positions(["Hips", "Spine", "Head", "Head_end", "Knee", "Knee_end"]), wanted, atol=1e-9)


@needs_assimp
@pytest.mark.filterwarnings("ignore:.*set as active in the active_links_mask")
@pytest.mark.parametrize("name", ["01_03.bvh", "Boxing_Toes.bvh"])
def test_pybvh_and_ikpy_put_the_joints_of_captures_where_we_do(tmp_path: Path, name: str) -> None:
    pybvh = pytest.importorskip("pybvh", reason="needs pybvh, a second opinion")
    file = tmp_path / name
    file.write_text(re.sub(r"Frames:\s+3069", "Frames: 3070", (ASSIMP / "BVH" / name).read_text()))
    mine = pz.load_motion(file, up="z")
    other = pybvh.read_bvh_file(file)
    at = [k for k, node in enumerate(other.nodes) if node.name in mine.model.links]
    names = [other.nodes[k].name for k in at]
    wanted = mine.unit * np.asarray(other.node_positions())[:, at]
    assert len(names) == len(mine.model.links)
    assert np.allclose(mine.positions(names), wanted, rtol=0, atol=1e-9)
    pytest.importorskip("ikpy", reason="needs ikpy, a third opinion")
    from ikpy.bvh import BVH
    from ikpy.chain import Chain

    end = next(name for name in ("LeftHand", "LeftWrist_end") if name in mine.model.frames)
    asked = {"base_elements": ["Hips", end.removesuffix("_end")], "scale": mine.unit}
    chain = Chain.from_bvh_file(str(file), symbolic=False, **asked)
    frames = BVH.get_bvh_motion(str(file), **asked)[0]
    for k in (0, 1000, len(frames) - 1):
        assert np.allclose(mine.positions([end])[k, 0], chain.forward_kinematics(frames[k])[:3, 3], rtol=0, atol=1e-9)


# Whatever is thrown at it --------------------------------------------------------------------------------------------

WORDS = [
    *("", "nan", "inf", "1e999", "1e308", "-1e100", "0", "1_0", "1,5", "\u0661", "{", "}", "ROOT", "JOINT", "End Site"),
    *("MOTION", "HIERARCHY", "OFFSET", "CHANNELS", "Frames:", "Frame Time:", "6", "Xposition", "Zrotation", "a", "\0"),
    *("world", "Hips", "Hips.x", "Hips_end", "\ufeff", "9" * 40, "a" * 300, "{ }", "-", "1.#QNAN", "\r", "\ud800"),
]


def accepted(data: bytes) -> SkeletonFile | None:
    """What is read, and is a model; anything but a ModelError that opens with the file is a failure."""
    refused = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        try:
            skeleton = parse_bvh(data, file="fuzz.bvh")
            assert np.isfinite(skeleton.model().home).all()
            return skeleton
        except ModelError as error:
            refused = str(error)
    assert refused.startswith("fuzz.bvh:"), refused
    return None


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.tuples(st.integers(0, 120), st.sampled_from(WORDS) | st.text(max_size=5)), max_size=4),
    st.none() | st.integers(0, len(ARM)),
    st.booleans(),
)
def test_mutated_files(changes: list[tuple[int, str]], cut: int | None, insert: bool) -> None:
    words = ARM[:cut].replace("\n", " \n ").replace("\t", "").split(" ")
    for at, word in changes:
        at = at % len(words)
        words[at : at if insert else at + 1] = [word]
    data = " ".join(words).encode(errors="surrogatepass")
    skeleton = accepted(data)
    if skeleton is None or not len(skeleton.times):
        return
    motion = of_skeleton(skeleton)
    assert np.isfinite(motion.q).all()
    assert (np.abs(motion.q) <= LARGEST).all()
    assert np.isfinite(motion.positions()).all()


@settings(max_examples=100)
@given(st.binary(max_size=100), st.integers(0, len(ARM)))
def test_bytes(noise: bytes, at: int) -> None:
    accepted(noise)
    accepted(ARM[:at].encode() + noise + ARM[at:].encode())

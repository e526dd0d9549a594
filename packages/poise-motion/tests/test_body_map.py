"""The map from the joints of a skeleton to the frames of a robot: found, printed, kept in a file, and refused."""

import copy
import pickle
import tomllib
from contextlib import suppress
from pathlib import Path

import pytest
from bodies import ARM, CONVENTIONS, LEG, called, human, robot, skeleton
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.refusals import refused

import poise as pz
from poise.common.errors import NameNotFound

NAMES = called(CONVENTIONS["cmu"][0])
PERSON = skeleton(human(NAMES, ("Left", "Right")), name="person")
ONE = {"pelvis": "Hips"}


def arms() -> pz.Model:
    """Two arms of three joints on a torso that turns, named well."""
    builder = pz.ModelBuilder("arms")
    builder.joint("waist", "revolute", parent="base", child="torso", limits=(-1, 1))
    for side, sign in (("left", 1), ("right", -1)):
        places = {"shoulder": (0, 0.2 * sign, 0.4), "elbow": (0, 0, -0.3), "wrist": (0, 0, -0.25)}
        parent = "torso"
        for name, place in places.items():
            child = f"{side}_{name}_link"
            origin = pz.SE3.from_parts(place)
            builder.joint(
                f"{side}_{name}",
                "revolute",
                parent=parent,
                child=child,
                origin=origin,
                axis=(0, 1, 0),
                limits=(-2, 0.1),
            )
            parent = child
    return builder.build()


def test_what_both_have_is_carried_over() -> None:
    body = pz.BodyMap.found(PERSON, arms())
    assert body.parts == ("pelvis", "chest", *(f"{side}_{part}" for side in ("left", "right") for part in ARM[1:]))
    assert body.source["left_elbow"] == "LeftForeArm"
    assert body.robot["left_elbow"] == "left_elbow_link"
    assert body.contacts == ()
    assert body.missing["left_knee"] == "arms: there is no left leg"


def test_a_motion_is_as_good_as_its_skeleton() -> None:
    motion = pz.Motion(PERSON, [0.0], PERSON.neutral[None])
    assert dict(pz.BodyMap.found(motion, arms()).source) == dict(pz.BodyMap.found(PERSON, arms()).source)


def test_feet_stand_and_so_do_four() -> None:
    assert pz.BodyMap.found(PERSON, robot("g1")).contacts == ("left_ankle", "right_ankle")
    assert set(pz.BodyMap.found(PERSON, robot("go2")).contacts) == {"left_ankle", "right_ankle"} | {
        "left_wrist",
        "right_wrist",
    }


def test_a_human_without_feet_stands_on_none() -> None:
    names = {part: name for part, name in NAMES.items() if part not in LEG}
    body = pz.BodyMap.found(skeleton(human(names, ("Left", "Right"))), robot("g1"))
    assert body.contacts == ()
    assert "left_elbow" in body.parts


def test_nothing_in_common_is_said() -> None:
    builder = pz.ModelBuilder("rock")
    builder.link("stone")
    with refused("inconsistent", "person", "rock"):
        pz.BodyMap.found(PERSON, builder.build())


def test_it_prints_as_a_table() -> None:
    text = str(pz.BodyMap.found(PERSON, arms()))
    assert "left_elbow      LeftForeArm   left_elbow_link" in text
    assert "no left_hip, left_knee, left_ankle, left_toe: arms: there is no left leg" in text
    assert "<td" in pz.BodyMap.found(PERSON, arms())._repr_html_()


def test_it_goes_through_a_file(tmp_path: Path) -> None:
    body = pz.BodyMap.found(PERSON, arms())
    body.save(tmp_path / "arms.toml")
    again = pz.BodyMap.load(tmp_path / "arms.toml", PERSON, arms())
    assert (dict(again.source), dict(again.robot), again.contacts) == (
        dict(body.source),
        dict(body.robot),
        body.contacts,
    )
    assert "# no head: arms: no joint is called head or neck" in (tmp_path / "arms.toml").read_text()


@pytest.mark.parametrize("name", ['with "quotes"', "back\\slash", "größe", "tab\tand\nline", "\x7f", "'", "#", ""])
def test_any_name_goes_through_a_file(name: str, tmp_path: Path) -> None:
    pz.BodyMap({"pelvis": name}, {"pelvis": name}).save(tmp_path / "map.toml")
    assert tomllib.loads((tmp_path / "map.toml").read_text(encoding="utf-8"))["source"]["pelvis"] == name
    assert pz.BodyMap.load(tmp_path / "map.toml").robot["pelvis"] == name


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda body: pickle.loads(pickle.dumps(body))])
def test_it_can_be_copied(again: object) -> None:
    body = pz.BodyMap.found(PERSON, arms())
    other = again(body)  # type: ignore[operator]
    assert str(other) == str(body)
    with pytest.raises(TypeError):
        other.source["pelvis"] = "elsewhere"


# What is wrong with a file -------------------------------------------------------------------------------------------

GOOD = '[source]\npelvis = "Hips"\nleft_wrist = "LeftHand"\n[robot]\npelvis = "base"\nleft_wrist = "left_wrist_link"\n'


def written(folder: Path, text: str) -> Path:
    file = folder / "map.toml"
    file.write_text(text)
    return file


def test_a_good_file_is_read(tmp_path: Path) -> None:
    body = pz.BodyMap.load(written(tmp_path, GOOD), PERSON, arms())
    assert body.parts == ("pelvis", "left_wrist")


@pytest.mark.parametrize(
    ("old", "new", "code", "words"),
    [
        ("LeftHand", "LeftHnd", "unknown-name", "source.left_wrist"),
        ("left_wrist_link", "wrist_lft", "unknown-name", "robot.left_wrist"),
        ("left_wrist =", "left_wirst =", "unknown-name", "'left_wirst'"),
        ("[robot]", "[robots]", "unknown-name", "'robot'"),
        ("[robot]", "", "wrong-format", "overwrite"),
        ('"Hips"', "3", "wrong-type", "source.pelvis"),
        ('"Hips"', '["Hips"]', "wrong-type", "source.pelvis"),
        ('"Hips"', '"LeftHand"', "duplicate", "'LeftHand'"),
        ("[source]", 'contacts = "left_ankle"\n[source]', "not-a-sequence", "contacts"),
        ("[source]", 'contacts = ["left_elbow"]\n[source]', "unknown-name", "'left_elbow'"),
        ('[source]\npelvis = "Hips"', "source = 3\n[robots]", "unknown-name", "'robots'"),
        ("[source]", "[source", "wrong-format", "line 1"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(old: str, new: str, code: str, words: str, tmp_path: Path) -> None:
    file = written(tmp_path, GOOD.replace(old, new, 1))
    with refused(code, words) as caught:
        pz.BodyMap.load(file, PERSON, arms())
    assert str(file) in str(caught.value)


def test_a_table_that_is_not_there(tmp_path: Path) -> None:
    with refused("wrong-format", "[robot]"):
        pz.BodyMap.load(written(tmp_path, '[source]\npelvis = "Hips"\n'))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="cannot be read"):
        pz.BodyMap.load(tmp_path / "none.toml")
    (tmp_path / "other.toml").write_bytes(b"\xff\xfe\x00")
    with refused("wrong-format", "UTF-8"):
        pz.BodyMap.load(tmp_path / "other.toml")
    with refused("wrong-format", ".toml"):
        pz.BodyMap.load(tmp_path / "map.json")
    with refused("wrong-format", ".toml"):
        pz.BodyMap(ONE, ONE).save(tmp_path / "map.json")
    (tmp_path / "deep.toml").write_text("contacts = " + "[" * 5000)
    with refused("wrong-format", "deep.toml"):
        pz.BodyMap.load(tmp_path / "deep.toml")


def test_a_map_in_code_is_looked_at_as_well() -> None:
    with pytest.raises(NameNotFound, match="source has no part of a body 'hand'"):
        pz.BodyMap({"hand": "LeftHand"}, {})
    with refused("duplicate", "'base'"):
        pz.BodyMap({}, {"pelvis": "base", "chest": "base"})
    with pytest.raises(pz.FrameNotFound, match=r"robot\.pelvis: arms has no frame 'bse'; did you mean 'base'"):
        pz.BodyMap(ONE, {"pelvis": "bse"}).check(PERSON, arms())


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.integers(0, len(GOOD)), cut=st.integers(0, 12), text=st.text(max_size=8))
def test_a_damaged_file_is_read_or_refused_in_words(at: int, cut: int, text: str, tmp_path: Path) -> None:
    file = tmp_path / "map.toml"
    file.write_bytes((GOOD[:at] + text + GOOD[at + cut :]).encode("utf-8", errors="surrogatepass"))
    with suppress(ValueError, NameNotFound):
        body = pz.BodyMap.load(file)
        assert set(body.source) | set(body.robot)

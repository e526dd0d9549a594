"""ASF and AMC against products of SciPy's rotations; what is wrong is told with its line."""

from contextlib import suppress
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from scipy.spatial.transform import Rotation
from support.refusals import refused

import poise as pz

UNIT = 0.0254 / 0.45
BONES = {
    # parent, direction, length, axis, what it turns about
    "hip": ("root", (0.6, -0.8, 0.0), 2.0, (0, 0, 0), ""),
    "femur": ("hip", (0.34, -0.94, 0.0), 7.5, (0, 0, 20), "rx ry rz"),
    "tibia": ("femur", (0.34, -0.94, 0.0), 7.2, (0, 0, 20), "rx"),
    "back": ("root", (0.0, 1.0, 0.0), 2.0, (5, -3, 2), "rx ry rz"),
    "head": ("back", (0.0, 1.0, 0.1), 11.0, (10, 20, 30), "rz ry rx"),
    "arm": ("back", (1.0, 0.0, 0.0), 5.5, (180, 30, 90), "ry rz"),
}
FRAMES = 5


def angles() -> dict[str, npt.NDArray[np.float64]]:
    rng = np.random.default_rng(3)
    out = {"root": np.hstack([rng.normal((0, 17, 0), 1, (FRAMES, 3)), rng.normal(0, 10, (FRAMES, 3))])}
    return out | {name: rng.normal(0, 20, (FRAMES, len(bone[4].split()))) for name, bone in BONES.items() if bone[4]}


def asf() -> str:
    lines = ["# made up", ":version 1.10", ":name test", ":units", "  mass 1.0", "  length 0.45", "  angle deg"]
    lines += [":documentation", "   words", ":root", "   order TX TY TZ RX RY RZ", "   axis XYZ"]
    lines += ["   position 0 0 0", "   orientation 0 0 0", ":bonedata"]
    for k, (name, (_, direction, length, axis, dof)) in enumerate(BONES.items(), 1):
        lines += ["  begin", f"     id {k}", f"     name {name}", f"     direction {' '.join(map(str, direction))}"]
        lines += [f"     length {length}", f"     axis {' '.join(map(str, axis))}  XYZ"]
        lines += [f"    dof {dof}", "    limits (-160.0 20.0)", "           (-70.0 70.0)"] if dof else []
        lines += ["  end"]
    lines += [":hierarchy", "  begin", "    root hip back", "    hip femur", "    femur tibia", "    back head arm"]
    return "\n".join([*lines, "  end"]) + "\n"


def amc() -> str:
    lines, rows = ["#!OML:ASF a.asf", ":FULLY-SPECIFIED", ":DEGREES"], angles()
    for k in range(FRAMES):
        lines += [str(k + 1), *(f"{name} {' '.join(f'{x:.9f}' for x in row[k])}" for name, row in rows.items())]
    return "\n".join(lines) + "\n"


def fixed(order: str, degrees: npt.ArrayLike) -> Rotation:
    """Turns about axes that stand still, the first first: what SciPy writes in small letters."""
    return Rotation.from_euler(order, degrees, degrees=True)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "01.asf").write_text(asf())
    (tmp_path / "01_02.amc").write_text(amc())
    return tmp_path / "01_02.amc"


def test_bones_end_where_products_of_rotations_say(file: Path) -> None:
    motion = pz.load_motion(file, up="y")
    rows, ends, turns = angles(), {}, {}
    places = {"root": rows["root"][:, :3]}
    turns["root"] = fixed("xyz", rows["root"][:, 3:])
    ends["root"] = places["root"]
    for name, (parent, direction, length, axis, dof) in BONES.items():
        axes = fixed("xyz", axis)
        order = dof.replace("r", "").replace(" ", "")
        turned = fixed(order, rows[name]) if dof else Rotation.identity()
        turns[name] = turns[parent] * axes * turned * axes.inv()
        places[name] = ends[parent]
        ends[name] = ends[parent] + turns[name].apply(length * np.array(direction))
    z_up = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
    for name in ("root", *BONES):
        np.testing.assert_allclose(motion.positions([name])[:, 0], UNIT * places[name] @ z_up.T, atol=1e-8)
    for name in ("tibia", "head", "arm"):
        np.testing.assert_allclose(motion.positions([f"{name}_end"])[:, 0], UNIT * ends[name] @ z_up.T, atol=1e-8)
    assert motion.unit == UNIT
    assert motion.fps == pytest.approx(120.0)
    assert motion.notes[0] == "the skeleton is that of 01.asf"
    assert "120 frames a second are taken" in motion.notes[1]
    assert pz.load_motion(file, fps=60.0).fps == pytest.approx(60.0)
    assert pz.load_motion(file, unit=1.0).unit == 1.0
    assert motion.model.joint("hip").nq == 0


def test_the_skeleton_is_found_beside_it(file: Path) -> None:
    skeleton = file.with_name("01.asf")
    skeleton.rename(file.with_name("other.asf"))
    assert pz.load_motion(file).notes[0].endswith("other.asf")
    (file.parent / "third.asf").write_text(asf())
    with refused("invalid-model", "01_02.asf, is not beside it, and 2 others are there"):
        pz.load_motion(file)
    file.with_name("01_02.asf").write_text(asf())
    assert pz.load_motion(file).notes[0].endswith("01_02.asf")
    with refused("invalid-model", "a skeleton without a motion; give the .amc"):
        pz.load_motion(file.with_name("01_02.asf"))
    with refused("invalid-model", "no such file"):
        pz.load_motion(file.with_name("01_09.amc"))


def test_radians_are_radians(file: Path) -> None:
    degrees = pz.load_motion(file, up="y")
    rows = angles()
    lines = [":RADIANS"]
    for k in range(FRAMES):
        lines.append(str(k + 1))
        for name, row in rows.items():
            numbers = [*row[k][:3], *np.radians(row[k][3:])] if name == "root" else np.radians(row[k])
            lines.append(f"{name} {' '.join(map(repr, map(float, numbers)))}")
    file.write_text("\n".join(lines))
    np.testing.assert_allclose(pz.load_motion(file, up="y").q, degrees.q, atol=1e-9)


WRONG = {
    "skeleton": {
        "no tree": (":hierarchy", ":words", "no :hierarchy"),
        "an order": ("TX TY TZ RX RY RZ", "TX TY RX RY RZ", "01.asf:11: the root's order must have TX TY TZ RX RY RZ"),
        "a number": ("length 7.5", "length seven", "length needs 1 number, got 'seven'"),
        "not finite": ("length 7.5", "length nan", "length needs 1 number, got 'nan'"),
        "a direction": ("direction 1.0 0.0 0.0", "direction 1.0 0.0", "direction needs 3 numbers"),
        "a dof": ("dof ry rz", "dof l", "'arm' has dof 'l'; rx, ry and rz are read"),
        "axes": ("axis 180 30 90  XYZ", "axis 180 30 90  XYY", "axis needs an order such as XYZ, got 'xyy'"),
        "a name twice": ("name arm", "name head", "the name 'head' is there already"),
        "no such bone": ("back head arm", "back head leg", "the hierarchy has 'leg', which is no bone"),
        "a circle": ("femur tibia", "femur hip", "hangs on two bones, or on itself"),
    },
    "motion": {
        "a bone": ("tibia", "shin", "'shin' is no bone of the skeleton"),
        "a word": ("\n2\n", "\n2\ntibia x\n", "'tibia' needs 1 number, got 'x'"),
        "more numbers": ("\n2\n", "\n2\ntibia 1 2\n", "'tibia' needs 1 number, got '1 2'"),
        "twice": ("\n2\n", "\n2\ntibia 1\ntibia 1\n", "'tibia' is there twice in a frame"),
        "not finite": ("\n2\n", "\n2\ntibia inf\n", "'tibia' needs 1 number, got 'inf'"),
        "a frame that is cut off": ("\n4\n", "\n4\n5\n", "this frame has no line for 'root'"),
        "before all frames": (":DEGREES\n1\n", ":DEGREES\n", "no frame has begun"),
    },
}


@pytest.mark.parametrize(("which", "what"), [(which, what) for which, some in WRONG.items() for what in some])
def test_what_is_wrong_is_told_with_its_line(file: Path, which: str, what: str) -> None:
    before, after, words = WRONG[which][what]
    changed = file.with_name("01.asf") if which == "skeleton" else file
    text = changed.read_text()
    assert before in text
    changed.write_text(text.replace(before, after))
    with refused("invalid-model", changed.name, words):
        pz.load_motion(file)


def test_damaged_texts_end_in_a_sentence(file: Path) -> None:
    rng = np.random.default_rng(0)
    for damaged in (file, file.with_name("01.asf")):
        whole = damaged.read_bytes()
        for _ in range(120):
            data = bytearray(whole)
            for at in rng.integers(0, len(data), 3):
                data[at] = rng.integers(256)
            damaged.write_bytes(data[: rng.integers(1, len(data))] if rng.random() < 0.5 else data)
            with suppress(pz.ModelError):  # and no other
                pz.load_motion(file)
        damaged.write_bytes(whole)

"""Packages beside poise: what they bring is found by their entry points, and what is absent is told by its extra."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from support.arrows import ROOT
from support.refusals import refused

import poise as pz
from poise.cli import commands, main
from poise.common.lazy import attach
from poise.io import robot_names
from poise.io.sizes import robot_sizes
from poise.motion.clip import brings_skeleton

PAGE = (ROOT / "docs" / "extending.md").read_text()
POINTS = "\n".join(
    re.sub(
        r'"poise_something\.\w+:(\w+)"',
        r"poise_fourth:\1",
        block.replace('project.entry-points."', "").replace('"]', "]"),
    )
    for block in re.findall(r"^```toml\n(\[project\.entry-points.*?)^```", PAGE, re.M | re.S)
)
"""What the page offers, as installed metadata have it, of one module."""


def package(folder: Path, text: str, points: str) -> None:
    """Install a package in a folder: a module, and metadata beside it."""
    (folder / "poise_fourth.py").write_text(text)
    info = folder / "poise_fourth-0.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: poise-fourth\nVersion: 0.1\n")
    (info / "entry_points.txt").write_text(points)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    sys.modules.pop("poise_fourth", None)


@pytest.fixture
def fourth(folder: Path) -> Path:
    """The package that the page writes."""
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE, re.M | re.S)
    package(folder, "\n".join(block for block in blocks if re.search("^(class|def) ", block, re.M)), POINTS)
    return folder


@pytest.mark.usefixtures("fourth")
def test_its_command_is_one_of_poise(capsys: pytest.CaptureFixture[str]) -> None:
    assert commands()["joints"].__name__ == "Joints"
    assert main(["joints", "panda", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"joints": 7}
    assert main(["joints", "panda", "--explain"]) == 0
    assert "Joints that follow others" in capsys.readouterr().out
    assert main(["--help"]) == 0
    assert "Count the joints of a robot." in " ".join(capsys.readouterr().out.split())
    assert main(["joints", "nobody"]) == 1


def test_its_page_is_shown_by_view(
    fourth: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = fourth / "words.txt"
    text.write_text("some words")
    with refused("not-a-model", "load it"):
        pz.view(text)  # of a program a path is a robot's that was not loaded
    monkeypatch.setattr(pz.results.Viewer.__mro__[2], "wait", lambda self: None)
    assert main(["view", str(text), "--port", "0"]) == 0
    assert capsys.readouterr().out.startswith("words is shown at http://127.0.0.1:")
    assert main(["view", str(text), "--port", "0", "--record", str(fourth / "it.html")]) == 1
    assert "--record keeps what a robot does" in capsys.readouterr().err


@pytest.mark.usefixtures("fourth")
def test_what_no_page_is_made_of_is_refused() -> None:
    with refused("wrong-type", "got SimpleNamespace"):
        pz.view(SimpleNamespace())
    with refused("wrong-type", "got a list with int"):
        pz.view([1])
    with refused("empty", "nothing to view"):
        pz.view([])


@pytest.mark.parametrize(
    ("text", "points", "words"),
    [
        ("raise RuntimeError('it is\\nbroken')", "it = poise_fourth:It", "poise-fourth offers 'it' .* it is broken"),
        ("It = 1", "it = poise_fourth:It", "the command 'it', which is no class of settings"),
        ("import poise.cli.cite", "solve = poise.cli.cite:Cite", "offers 'solve' in poise.commands, and poise has it"),
        ("", "it = poise_fourth:It", "poise-fourth offers 'it' .* AttributeError"),
    ],
)
def test_what_cannot_be_a_command_is_left_out_and_told(
    folder: Path, text: str, points: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    package(folder, text, f"[poise.commands]\n{points}\n")
    with pytest.warns(UserWarning, match=words):
        assert main(["--help"]) == 0
    assert "cite" in capsys.readouterr().out
    assert main(["cite", "dls"]) == 0  # without a look at what packages bring


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["retarget", "walk.bvh", "g1"], 'poise retarget needs poise-motion: pip install "poise[motion]"'),
        (["reproduce", "buss"], 'poise reproduce needs poise-experiments: pip install "poise[experiments]"'),
    ],
)
def test_a_command_of_a_package_that_is_absent_names_its_extra(
    words: list[str], sentence: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(metadata, "entry_points", lambda **_: ())
    assert main(words) == 1
    assert capsys.readouterr().err == f"error: {sentence}\n"
    assert main([*words, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["error"] == {"code": "MissingExtra", "message": sentence}


@pytest.mark.usefixtures("fourth")
def test_what_its_names_cite_is_cited(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cite", "wipe"]) == 0
    assert capsys.readouterr().out.startswith("@inproceedings{siciliano1991,\n")
    assert main(["cite", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["names"]["wipe"] == ["siciliano1991"]


def test_a_key_that_is_none_is_told_with_the_nearest(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "def cited(): return {'wipe': ('siciliano1992',)}\n"
    package(folder, text, "[poise.references]\nit = poise_fourth:cited\n")
    assert main(["cite", "wipe"]) == 1
    assert "no reference 'siciliano1992'; did you mean 'siciliano1991'" in capsys.readouterr().err


# Readers -------------------------------------------------------------------------------------------------------------


def test_a_file_with_its_suffix_is_a_motion_and_its_model(fourth: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = fourth / "wave.TURNS"
    file.write_text("0 0.5\n0.1 0.6\n")
    motion = pz.load_motion(file, fps=10)
    assert motion.q.tolist() == [[0, 0.5], [0.1, 0.6]]
    assert (motion.fps, motion.name) == (10, "wave")
    assert pz.load(file).nq == pz.load(str(file)).nq == 2
    assert brings_skeleton(file)
    assert main(["info", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["nq"] == 2
    assert main(["view", "--replay", str(file), "--record", str(fourth / "wave.html")]) == 0
    assert (fourth / "wave.html").is_file()
    with refused("conflict", "unit and model are not for", "poise-fourth reads"):
        pz.load_motion(file, unit=0.01, model=motion.model)
    with refused("conflict", "base is not for"):
        pz.load(file, base="floating")
    file.write_text("")
    with pytest.warns(UserWarning, match="no data"), refused("invalid-model", str(file), "there is no row"):
        pz.load(file)


@pytest.mark.usefixtures("fourth")
def test_a_file_that_nobody_reads_is_told_what_is_read() -> None:
    with refused("invalid-model", "it.walk: ", ".vrm, .csv, .npz", ", .sto", ".turns"):
        pz.load_motion("it.walk")
    assert not brings_skeleton(Path("it.walk"))


def test_a_reader_is_told_apart_from_what_is_none(folder: Path) -> None:
    text = "import poise as pz\ndef model(path, **given): return pz.load('planar2')\ndef word(path): return 'it'\n"
    points = "[poise.readers]\narm = poise_fourth:model\nword = poise_fourth:word\nlost = poise_fourth:lost\n"
    package(folder, text, points)
    assert pz.load(folder / "some.arm", base="planar", package_dirs=folder, srdf=None).nq == 2
    for name, kind in (("arm", "Model"), ("word", "str")):
        with refused("wrong-type", f"poise-fourth reads some.{name} as a {kind}, which is no Motion"):
            pz.load_motion(f"some.{name}")
    with refused("wrong-type", "poise-fourth reads some.word as a str, which is no Model"):
        pz.load("some.word")
    for load in (pz.load, pz.load_motion):
        with refused("error", "poise-fourth offers 'lost' to poise and cannot be loaded: AttributeError"):
            load("some.lost")


def test_an_archive_is_read_by_a_package_unless_it_holds_a_robots_coordinates(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "import poise as pz\ndef read(path): return pz.Motion(pz.load('planar2'), [0.0], [[0.1, 0.2]])\n"
    package(folder, text, "[poise.readers]\nnpz = poise_fourth:read\n")
    (alone,) = metadata.distributions(path=[str(folder)])  # for poise-motion has a reader of .npz too
    monkeypatch.setattr(metadata, "entry_points", alone.entry_points.select)
    other, table = folder / "other.npz", folder / "table.npz"
    np.savez(other, turns=[0.1, 0.2])
    motion = pz.load_motion(other)
    assert motion.q.tolist() == [[0.1, 0.2]]
    assert pz.load(other).nq == 2
    assert brings_skeleton(other)
    motion.save(table)
    assert not brings_skeleton(table)
    assert pz.load_motion(table, model=motion.model).q.tolist() == [[0.1, 0.2]]
    with refused("needs", "numbers by name, and no skeleton"):
        pz.load_motion(table)
    with refused("invalid-model", "this is a motion without its robot"):
        pz.load(table)
    with refused("error", "other.npz cannot be read"):
        pz.load_motion(other, model=motion.model)
    other.write_bytes(table.read_bytes()[:-9])
    for read in (pz.load, pz.load_motion):
        with refused("invalid-model", "other.npz: the archive cannot be read"):
            read(other)
        with refused("invalid-model", "no such file"):
            read(folder / "none.npz")
        with refused("invalid-model", "it is a folder"):
            (folder / "folder.npz").mkdir(exist_ok=True)
            read(folder / "folder.npz")
    assert main(["view", "planar2", "--replay", str(folder / "none.npz")]) == 1
    assert "none.npz: no such file" in " ".join(capsys.readouterr().err.split())


# Writers -------------------------------------------------------------------------------------------------------------


def test_a_motion_is_written_in_its_format(fourth: Path) -> None:
    file = fourth / "wave.txt"
    motion = pz.Motion(pz.load("planar2"), [0, 0.5], [[0, 0.5], [0.1, 0.6]])
    with refused("conflict", "fps and bodies are not for format='turns', which poise-fourth writes"):
        motion.save(file, format="turns", fps=50, bodies=["tool"])
    with refused("conflict", "unit, quaternion and header"):
        motion.save(file, format="turns", unit=1.0)
    with refused("needs", "fps and bodies go with a format"):
        motion.save(fourth / "wave.csv", fps=50)
    with refused("unknown-word", "did you mean 'turns'"):
        motion.save(file, format="turn")
    with refused("unknown-word", "got 3"):
        motion.save(file, format=3)  # type: ignore[arg-type]
    assert not file.exists()
    motion.save(file, format="turns")
    file.rename(fourth / "wave.turns")
    assert pz.load_motion(fourth / "wave.turns").q.tolist() == motion.q.tolist()


def test_what_an_extra_reads_and_writes_names_it_where_it_is_absent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metadata, "entry_points", lambda **_: metadata.EntryPoints())
    np.savez(tmp_path / "walk.npz", poses=np.zeros((2, 72)))
    (tmp_path / "walk.fbx").write_text("Kaydara")
    for name in ("walk.npz", "walk.fbx"):
        assert brings_skeleton(tmp_path / name)
        with refused("missing-extra", f'{name} needs poise-motion: pip install "poise[motion]"'):
            pz.load_motion(tmp_path / name)
    with refused("missing-extra", 'walk.fbx needs poise-motion: pip install "poise[motion]"'):
        pz.load(tmp_path / "walk.fbx")
    (tmp_path / "subject.osim").write_text("<OpenSimDocument/>")
    with refused("missing-extra", 'subject.osim needs poise-motion: pip install "poise[motion]"'):
        pz.load(tmp_path / "subject.osim")
    with refused("invalid-model", "must end in .bvh, .glb, .gltf, .vrm, .csv, .npz, .mot or .sto"):
        pz.load_motion(tmp_path / "walk.mp4")
    motion = pz.Motion(pz.load("planar2"), [0.0], [[0.0, 0.0]])
    with refused("missing-extra", "format='mjlab' needs poise-motion"):
        motion.save(tmp_path / "a.npz", format="mjlab")


# Robots --------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("fourth")
def test_its_robot_is_known_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert pz.load("scara").nq == 3
    assert "scara" in robot_names()
    assert robot_sizes()["scara"] == 3
    assert main(["info", "scara", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["coordinates"], found["file"]) == (["shoulder", "elbow", "quill"], None)
    with refused("invalid-model", "did you mean 'scara'"):
        pz.load("skara")
    for given in ({"base": "floating"}, {"srdf": None, "xacro_args": {}}, {"srdf": "it.srdf"}, {"package_dirs": "."}):
        with refused("conflict", "the robot 'scara' of a package"):
            pz.load("scara", **given)  # type: ignore[arg-type]


def test_a_robot_may_be_a_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = folder / "fifth.urdf"
    file.write_text('<robot name="r"><link name="a"/></robot>')
    package(folder, f"def fifth(): return {str(file)!r}\n", "[poise.robots]\nfifth = poise_fourth:fifth\n")
    assert pz.load("fifth").nq == 0
    assert pz.load("fifth", base="floating").nq == 7
    assert main(["info", "fifth", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["file"] == str(file)


def test_robots_that_cannot_be_are_told(folder: Path) -> None:
    text = "it = lambda: 1\ndef ill():\n    raise OSError('a fever')\n"
    points = "it = poise_fourth:it\nlost = poise_fourth:lost\nill = poise_fourth:ill\npanda = poise_fourth:it\n"
    package(folder, text, f"[poise.robots]\n{points}")
    assert pz.load("panda").nq == 7  # without a look at what packages bring
    has_it = pytest.warns(UserWarning, match=r"poise-fourth offers 'panda' in poise.robots, and poise has it too")
    with has_it, refused("not-a-model", "the robot 'it' of poise-fourth", "got int"):
        pz.load("it")
    with has_it, refused("error", "poise-fourth offers 'lost'", "AttributeError", "uninstall it"):
        pz.load("lost")
    why = {"it": "got int", "lost": "AttributeError", "ill": "a fever"}
    with ExitStack() as told:
        for name, words in why.items():
            match = f"the robot {name!r} of poise-fourth is left out: .*{words}"
            told.enter_context(pytest.warns(UserWarning, match=match))
        told.enter_context(has_it)
        assert "panda" in robot_sizes()


def test_of_two_packages_with_one_name_the_first_has_it(folder: Path) -> None:
    package(
        folder, "import poise as pz\ndef it(): return pz.load('planar3')\n", "[poise.robots]\nit = poise_fourth:it\n"
    )
    info = folder / "poise_other-0.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: poise-other\nVersion: 0.1\n")
    (info / "entry_points.txt").write_text("[poise.robots]\nit = poise_other:it\n")
    with pytest.warns(UserWarning, match="poise-other offers 'it' in poise.robots, and poise-fourth has it too"):
        assert pz.load("it").nq == 3


ASKS = """
import sys
import poise as pz
pz.load("panda")
pz.load_motion
assert "importlib.metadata" not in sys.modules
"""


def test_nobody_looks_for_packages_before_something_is_asked_for_that_poise_has_not() -> None:
    subprocess.run([sys.executable, "-c", ASKS], check=True, timeout=60)


# Names ---------------------------------------------------------------------------------------------------------------


def test_a_name_of_a_package_that_is_absent_names_its_extra(tmp_path: Path) -> None:
    (tmp_path / "face.pyi").write_text("from json import dumps as dumps\nfrom poise_fifth.deep import it as it\n")
    get, names, every = attach("face", str(tmp_path / "face.py"))
    assert names() == every == ["dumps"]
    with pytest.raises(pz.MissingExtra, match=r'face\.it needs poise-fifth: pip install "poise\[fifth\]"'):
        get("it")


WITHOUT = """
import sys
sys.modules["poise_motion"] = None  # as if it were not installed
import poise as pz
from poise import *
assert "retarget" not in dir(pz)
assert "HandRetargeter" not in dir(pz.hands)
for room, name in ((pz, "retarget"), (pz.hands, "HandRetargeter"), (pz.results, "Retargeted")):
    try:
        getattr(room, name)
    except pz.MissingExtra as error:
        print(error)
"""


def test_the_core_stands_alone_and_says_what_brings_the_rest() -> None:
    run = subprocess.run([sys.executable, "-c", WITHOUT], check=True, timeout=60, capture_output=True, text=True)
    told = [line.partition(" needs ") for line in run.stdout.splitlines()]
    assert [name for name, *_ in told] == ["poise.retarget", "poise.hands.HandRetargeter", "poise.results.Retargeted"]
    assert {need for *_, need in told} == {'poise-motion: pip install "poise[motion]"'}


def test_what_a_package_lacks_itself_is_told_as_it_is(folder: Path) -> None:
    (folder / "poise_fourth.py").write_text("import nothing_of_this_name\n")
    (folder / "face.pyi").write_text("from poise_fourth import it as it\n")
    get, names, _ = attach("face", str(folder / "face.py"))
    assert names() == ["it"]
    with pytest.raises(ModuleNotFoundError, match="nothing_of_this_name"):
        get("it")

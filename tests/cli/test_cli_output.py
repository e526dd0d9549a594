"""What the commands print can be read on a terminal of 80 columns, and is whole in a pipe."""

import json
import warnings
from pathlib import Path

import pytest

import poise as pz
from poise.cli import main
from poise.cli import output as printed
from poise.io import robot_names
from poise.io.sizes import robot_sizes
from poise.methods.damping import RULES


@pytest.fixture
def at_80(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(printed, "width", lambda: 80)


@pytest.fixture
def line(tmp_path: Path) -> str:
    (tmp_path / "line.csv").write_text("x,y,z\n0.4,0.1,0.5\n0.4,0.1,0.49\n0.4,0.1,0.48\n")
    return str(tmp_path / "line.csv")


COMMANDS = [
    ["info"],
    ["info", "panda"],
    ["info", "double_y"],
    ["cite"],
    ["reproduce"],
    ["compare", "panda", "--count", "2"],
    ["solve", "panda", "--xyz", "0.4", "0.1", "0.5"],
    ["solve", "panda", "--xyz", "4", "0.1", "0.5", "--max-restarts", "1"],
    ["reach", "planar2", "--grid", "1", "--orientations", "0", "--out", "{out}/reach"],
    ["path", "panda", "{line}", "--report"],
    ["track", "panda", "{line}", "--dt", "0.1"],
    ["batch", "panda", "{line}", "-o", "{out}/answers.parquet"],
]


@pytest.mark.usefixtures("at_80")
@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words[:2]))
def test_no_line_is_longer_than_the_terminal_and_nothing_is_cut(
    words: list[str], line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if words[0] == "batch":
        pytest.importorskip("pyarrow")
    assert main([word.format(line=line, out=tmp_path) for word in words]) in (0, 2)
    out = capsys.readouterr().out.replace(str(tmp_path), "")
    assert "…" not in out
    assert max(map(len, out.splitlines())) <= 80, out


@pytest.mark.usefixtures("at_80")
def test_names_are_whole_at_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "panda", "--count", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    begins = [line.split()[0] for line in lines if line.strip()]
    report = pz.compare(pz.load("panda"), pz.PoseTask(pz.load("panda").tip), count=2)
    assert {row.label for row in report.rows} <= set(begins)
    assert main(["cite"]) == 0
    begins = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert {name for name, rule in RULES.items() if rule.references} <= set(begins)


def test_a_pipe_has_a_line_a_row_whatever_its_columns(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seen = set()
    for columns in ("40", "80", "300"):
        monkeypatch.setenv("COLUMNS", columns)
        assert main(["info", "panda"]) == 0
        seen.add(capsys.readouterr().out)
    (out,) = seen
    assert any(
        line.split()[:3] == ["panda_joint1", "0", "revolute"] and "panda_link1" in line for line in out.splitlines()
    )


def test_a_comparison_is_set_in_any_width() -> None:
    report = pz.compare(
        pz.load("planar3"), pz.PositionTask("tool"), methods=["jt", pz.methods.DampedLeastSquares(damping=0.1)], count=2
    )
    text = str(report)
    assert report.text(None) == text
    assert report.text(200) == text
    narrow = report.text(60)
    assert "dls(damping=0.1)" in narrow
    assert max(map(len, narrow.splitlines()[3:])) <= 60


# What they say ---------------------------------------------------------------------------------------------------


def test_info_tells_velocity_limits(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "panda"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for joint in pz.load("panda").joints:
        if joint.nq:
            (row,) = (line for line in lines if line.startswith(f"{joint.name} "))
            assert f"{joint.velocity[0]:.4g} rad/s" in row


@pytest.mark.parametrize("step", [4, pytest.param(1, marks=pytest.mark.slow)])
def test_info_knows_the_joints_of_every_robot_without_building_it(step: int) -> None:
    sizes = robot_sizes()
    assert list(sizes) == list(robot_names())
    followed = {"panda_collision", "tiago_pro", "alex_psyonic_hands"}  # by joints that do not count
    some = followed.union(list(sizes)[::step])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pz.ModelWarning)
        for name in some & sizes.keys():
            try:
                model = pz.load(name)
            except pz.ModelError:
                continue
            assert len(model.joint_names) == sizes[name], name


def test_info_has_one_line_for_the_planar_arms(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["planar2", "to", "planar30", "2", "to", "30"] in lines
    assert ["panda", "7"] in lines
    installed = {"solo": "8", "solo8": "8", "solo12": "12"}  # the first is not called by its number
    for name in installed.keys() & set(robot_names()):
        assert [name, installed[name]] in lines
    assert main(["info", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["joints"]["planar7"] == 7
    assert list(facts["joints"]) == facts["robots"] == list(robot_names())


# Words that are not understood -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["solv", "panda"], ["solv", "solve"]),
        (["--verison"], ["--verison"]),
        (["solve", "panda", "--xyzz", "1"], ["--xyzz", "--xyz X Y Z"]),
        (["solve", "panda", "--limits"], ["--no-limits"]),
        (["solve", "panda", "--position_tolerence", "1"], ["--position-tolerance"]),
        (["solve", "panda", "--xyz", "1", "2"], ["'--xyz'", "Expected 3 values"]),
        (["solve", "panda", "--xyz=1"], ["'--xyz'", "Expected 3 values"]),
        (["solve", "panda", "--rpy", "a", "0", "0"], ["--rpy", "float: 'a'", "R P Y"]),
        (["solve", "panda", "--position-weight", "x"], ["--position-weight", "['x']"]),
        (["solve", "panda", "--seed", "1.5"], ["--seed", "'1.5'"]),
        (["solve", "panda", "--base", "flaoting"], ["--base", "'floating'"]),
        (["compare", "panda", "--count"], ["--count"]),
        (["solve", "panda", "-x", "3"], ["-x"]),
        (["track", "panda", "t.csv", "--dt", "fast"], ["--dt", "'fast'"]),
        (["solve", "--xyz", "1", "2", "3"], ["ROBOT"]),
        (["track", "panda"], ["TARGETS", "--dt"]),
        (["batch", "panda", "t.csv"], ["--out"]),
        (["solve", "panda", "--xyz", "1", "2", "3", "4"], ["4"]),
        (["warmup", "now"], ["now"]),
    ],
)
def test_words_that_are_not_understood_are_named_with_what_is_taken(
    arguments: list[str], words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    assert main(arguments) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert all(word in err for word in words), err


@pytest.mark.parametrize(
    "arguments",
    [
        ["solve", "panda", "--position_tolerance", "1e-3", "--xyz", "0.4", "0.1", "0.5"],
        ["solve", "--seed=3", "--xyz", "0.4", "-.1", "0.5", "panda"],
        ["solve", "--xyz", "0.4", "-.1", "0.5", "panda", "--json"],
        ["solve", "panda", "--q0", "home", "--xyz", "0.4", "-.1", "0.5"],
        ["solve", "--json", "panda", "--q0", "0 0 0 -1 0 1 0", "--xyz", "0.4", "-.1", "0.5"],
        ["info", "--json", "planar3"],
        ["batch", "panda", "no.csv", "-o", "x.parquet"],
        ["path", "panda", "no.csv", "-o", "x.csv"],
    ],
)
def test_what_the_options_take_passes(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    code = main(arguments)
    assert code == 0 or "no.csv cannot be read" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command",
    [
        "solve",
        "batch",
        "path",
        "track",
        "view",
        "compare",
        "reach",
        "info",
        "export",
        "sdk",
        "reproduce",
        "cite",
        "warmup",
    ],
)
def test_the_help_fits_and_has_no_default_that_tells_nothing(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main([command, "--help"]) == 0
    out = capsys.readouterr().out
    for words in ("default: None", "default: True", "default: False", "default: ''", "[bold]"):
        assert words not in out
    assert max(map(len, out.splitlines())) <= 80


def test_ctrl_c_leaves_nothing_but_its_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(pz, "compare", interrupted)
    assert main(["compare", "panda"]) == 130
    assert capsys.readouterr() == ("", "")

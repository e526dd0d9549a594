"""The command line: what it prints, where, and the code it leaves with."""

import contextlib
import io
import json
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

import poise as pz
from poise.cli import command as settings
from poise.cli import main
from poise.kernels.machine.library import chosen, machine
from poise.model.builder import Base

DOWN = ["--rpy", "3.14159", "0", "0"]
REACHABLE = ["solve", "panda", "--frame", "panda_hand", "--xyz", "0.4", "-0.1", "0.5", *DOWN]
TOO_FAR = ["solve", "panda", "--xyz", "4", "0", "0.5"]


def shell(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "poise", *arguments], capture_output=True, text=True, timeout=300, check=False, **options
    )


@cache
def piped() -> subprocess.CompletedProcess[str]:
    """A solve of another process, its streams pipes."""
    return shell(*REACHABLE)


# Solve -----------------------------------------------------------------------------------------------------------


def test_solve_prints_joints_errors_and_time(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(REACHABLE) == 0
    out = capsys.readouterr().out
    assert "panda_joint7" in out
    assert "CONVERGED" in out
    assert "a solve; the first" in out


def test_json_is_one_line_and_what_forward_kinematics_says(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*REACHABLE, "--json"]) == 0
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    answer = json.loads(out)
    arm = pz.load("panda")
    pose = arm.pose("panda_hand", answer["q"])
    assert np.linalg.norm(pose.xyz - [0.4, -0.1, 0.5]) <= 1e-6
    assert answer["success"] is True
    assert answer["position_error"] <= 1e-6
    assert answer["rotation_error"] <= 1e-6
    assert arm.within_limits(answer["q"])
    assert list(answer["joints"].values())[: arm.nq] == answer["q"]


@pytest.mark.parametrize("xyz", [["0.4,-0.1,0.5"], ["0.4,", "-0.1,", "0.5"], [".4,-1e-1", "5.e-1"]])
def test_numbers_may_be_set_apart_by_commas(xyz: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*REACHABLE, "--json"]) == 0
    wanted = json.loads(capsys.readouterr().out)["q"]
    assert main(["solve", "panda", "--frame", "panda_hand", "--xyz", *xyz, "--rpy", "3.14159,0,0", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["q"] == wanted


def test_not_solved_is_exit_code_2_and_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(TOO_FAR) == 2
    assert "CONVERGED" not in capsys.readouterr().out
    assert main([*TOO_FAR, "--json"]) == 2
    answer = json.loads(capsys.readouterr().out)
    assert answer["success"] is False
    assert answer["rotation_error"] is None
    assert answer["explanation"]


@pytest.mark.parametrize(
    ("goal", "measured"),
    [
        (["--xyz", "0.3", "0.2", "0.6"], "position_error"),
        (["--rpy", "-3", "0.1", "-.2"], "rotation_error"),
        (["--wxyz", "0", "-1", "0", "1e-2"], "rotation_error"),
    ],
)
def test_a_goal_may_be_a_position_or_a_rotation_alone(
    goal: list[str], measured: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["solve", "panda", *goal, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert {key for key in ("position_error", "rotation_error") if answer[key] is not None} == {measured}


def test_the_start_may_be_negative_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    start = ["--q0", "-1", "-.5", "-1e-3", "-2", "-0.1", "1", "0.5"]
    assert main([*REACHABLE, *start, "--seed", "3", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["success"]


def test_the_base_may_float(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", "so100", "--base", "floating", "--xyz", "4", "0", "0.5", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["q"]) == pz.load("so100").nq + 7


def test_bases_are_those_of_the_builder() -> None:
    assert get_args(settings.Base) == get_args(Base)


# Info and warmup -------------------------------------------------------------------------------------------------


def test_info_lists_joints_and_frames(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "panda"]) == 0
    out = capsys.readouterr().out
    arm = pz.load("panda")
    assert all(name in out for name in (*arm.joint_names, *arm.frames))


def test_an_error_is_json_too_and_its_code_is_the_type(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", "panda", "--frame", "nowhere", "--xyz", "0.4", "0.1", "0.5", "--json"]) == 1
    said = capsys.readouterr()
    error = json.loads(said.out)["error"]
    assert error["code"] == "FrameNotFound"
    assert said.err == f"error: {error['message']}\n"


def test_info_as_json_has_no_infinite_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "so100", "--base", "floating", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert facts["nq"] == len(facts["coordinates"]) == len(facts["lower"])
    assert facts["lower"][:3] == [None, None, None]


def test_info_without_a_robot_lists_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info"]) == 0
    assert "panda" in capsys.readouterr().out.split()
    assert main(["info", "--json"]) == 0
    assert "panda" in json.loads(capsys.readouterr().out)["robots"]
    assert main(["--help"]) == 0
    assert "List the robots that are known by name" in " ".join(capsys.readouterr().out.replace("│", "").split())


def test_info_of_the_cpu_says_where_kernels_come_from(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("numba")
    monkeypatch.setenv("POISE_CPU", "native")
    chosen.cache_clear()
    assert main(["info", "--cpu"]) == 0
    out = capsys.readouterr().out
    assert machine() in out
    assert "compiled here by Numba" in out
    assert "POISE_CPU is native" in out
    assert main(["info", "--cpu", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["library"] is None
    assert facts["cpu"] in out
    monkeypatch.setenv("POISE_CPU", "v9")
    chosen.cache_clear()
    assert main(["info", "--cpu"]) == 1
    assert "v9" in capsys.readouterr().err
    chosen.cache_clear()


def test_a_long_table_in_a_pipe_is_not_cut(tmp_path: Path) -> None:
    name = "joint_with_a_name_" + 120 * "x"
    urdf = tmp_path / "long.urdf"
    urdf.write_text(
        f"""<robot name="long"><link name="base"/><link name="tip"/>
        <joint name="{name}" type="continuous"><parent link="base"/><child link="tip"/></joint></robot>"""
    )
    assert name in shell("info", str(urdf)).stdout


def test_warnings_are_on_stderr_and_name_the_file(tmp_path: Path) -> None:
    urdf = tmp_path / "odd.urdf"
    urdf.write_text('<robot name="odd"><link name="base"/><lnk name="tip"/></robot>')
    run = shell("info", str(urdf))
    assert run.returncode == 0
    assert run.stderr.startswith("warning: ")
    assert str(urdf) in run.stderr


def test_names_are_not_read_as_markup(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    urdf = tmp_path / "markup.urdf"
    urdf.write_text(
        """<robot name="markup"><link name="[bold]base"/><link name="[/x]tip"/>
        <joint name="[red]j" type="continuous"><parent link="[bold]base"/><child link="[/x]tip"/></joint></robot>"""
    )
    assert main(["info", str(urdf)]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in ("[bold]base", "[/x]tip", "[red]j"))


@pytest.fixture(scope="module")
def warmed() -> str:
    """What the command prints that compiles all that is compiled ahead."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert main(["warmup", "--json"]) == 0
    return out.getvalue()


def test_warmup_leaves_nothing_to_compile(warmed: str) -> None:
    assert json.loads(warmed)["time"] >= 0
    assert piped().returncode == 0
    assert piped().stderr == ""


@pytest.mark.usefixtures("warmed")
def test_warmup_compiles_every_method() -> None:
    code = """if True:
        import numpy as np
        import poise as pz
        from poise.methods.registry import METHODS
        from poise.robots import planar

        arm = planar(3)
        for name in METHODS:
            task = pz.PositionTask(arm.tip, target=[1.0, 1.0, 0.0])
            limits = METHODS[name]().capabilities.limits
            tracker = pz.Tracker(arm, task, name, limits=limits)
            tracker.step(arm.home)
            tracker.rollout(np.zeros((2, 3)), np.ones((2, 4, 1, 3)))
            pz.solve(arm, task, q0=arm.home, method=name, limits=limits)
        """
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""


# Errors ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["solve", "panda"], ["--xyz", "--rpy", "--wxyz"]),
        (["solve", "panda", "--frame", "panda_hnd", "--xyz", "0", "0", "1"], ["panda_hnd", "panda_hand"]),
        (["solve", "pnada", "--xyz", "0", "0", "1"], ["pnada", "panda"]),
        (["solve", "panda", "--xyz", "nan", "0", "1"], ["nan"]),
        (["solve", "panda", "--wxyz", "0", "0", "0", "0"], ["zero quaternion"]),
        (["solve", "panda", *DOWN, "--wxyz", "1", "0", "0", "0"], ["--rpy", "--wxyz"]),
        (["solve", "panda", "--xyz", "0", "0", "1", "--q0", "1", "2"], ["q0", "7"]),
        (["solve", "panda", "--xyz", "0", "0", "1", "--q0", *7 * ["inf"]], ["q0"]),
        (["solve", "panda", "--xyz", "0", "0", "1", "--position-tolerance", "-1"], ["tolerance", "-1"]),
        (["info", "no/such/file.urdf"], ["no/such/file.urdf"]),
        (["info", "."], ["."]),
    ],
)
def test_errors_are_one_line_on_stderr(
    arguments: list[str], words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert all(word in err for word in words)


def test_a_broken_file_is_an_error_with_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    urdf = tmp_path / "broken.urdf"
    urdf.write_text('<robot name="broken">\n<link name="a">\n</robot>')
    assert main(["info", str(urdf)]) == 1
    assert f"{urdf}:3" in capsys.readouterr().err


# The process -----------------------------------------------------------------------------------------------------


def test_version_and_help_import_nothing_heavy() -> None:
    commands = (
        "solve", "batch", "path", "track", "view", "compare", "reach", "info", "export", "sdk", "reproduce", "cite",
        "warmup", "retarget", "fit",
    )  # fmt: skip
    code = """if True:
        import contextlib, io, sys
        from poise import __version__
        from poise.cli import main

        for words in (["--version"], ["--help"], *([command, "--help"] for command in sys.argv[1:])):
            with contextlib.redirect_stdout(io.StringIO()) as out:
                assert main(words) == 0, words
            assert not sys.modules.keys() & {"numpy", "numba", "rich"}, words
            assert (__version__ if words == ["--version"] else "usage: poise") in out.getvalue(), words
        """
    run = subprocess.run(
        [sys.executable, "-c", code, *commands], capture_output=True, text=True, timeout=60, check=False
    )
    assert run.returncode == 0, run.stderr


def test_a_pipe_gets_no_colours() -> None:
    assert "CONVERGED" in piped().stdout
    assert "\x1b" not in piped().stdout + shell("--help").stdout


def test_no_command_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert "solve" in capsys.readouterr().out


@pytest.mark.skipif(sys.platform == "win32", reason="a pseudo-terminal is a Unix device")
@pytest.mark.parametrize("arguments", [["--help"], ["info", "panda"], REACHABLE], ids=lambda words: words[0])
def test_no_color_is_heeded_on_a_terminal(arguments: list[str]) -> None:
    shown = on_a_terminal(arguments, NO_COLOR="1")
    assert b"panda" in shown or b"usage" in shown
    assert not re.search(rb"\x1b\[[0-9;]*[349][0-7]", shown)


def on_a_terminal(arguments: list[str], **variables: str) -> bytes:
    leader, follower = os.openpty()
    run = subprocess.Popen(
        [sys.executable, "-m", "poise", *arguments],
        stdout=follower,
        env={**os.environ, "TERM": "xterm-256color", **variables},
    )
    os.close(follower)
    seen = b""
    with contextlib.suppress(OSError):  # Linux reports the other end's leaving as an error
        while chunk := os.read(leader, 4096):
            seen += chunk
    os.close(leader)
    assert run.wait(timeout=60) == 0
    return seen


@pytest.mark.skipif(sys.platform == "win32", reason="descriptors are closed by a shell")
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_trouble(closed: str) -> None:
    code = (
        "from poise.cli import main;"
        f"codes = [main(words) for words in ({REACHABLE}, {TOO_FAR}, ['info', 'panda'])];"
        "raise SystemExit(codes[1] if codes == [0, 2, 0] else 100)"
    )
    for words, left in ((["-m", "poise", "--version"], 0), (["-c", code], 2)):
        command = f'"{sys.executable}" "$@" {closed}'
        run = subprocess.run(
            ["sh", "-c", command, "sh", *words], capture_output=True, text=True, timeout=120, check=False
        )
        assert run.returncode == left
        assert "Traceback" not in run.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="pipes break differently")
@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["info", "panda"], ["info", "panda", "--json"]])
def test_a_reader_that_leaves_early_hears_nothing(arguments: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    run = subprocess.run(
        [sys.executable, "-m", "poise", *arguments],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )
    os.close(writer)
    assert run.stderr == ""

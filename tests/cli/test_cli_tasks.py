"""`poise solve` and `poise track` with tasks of a file, postures, weights and methods."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.refusals import refused

import poise as pz
from poise.cli import main
from poise.cli.task_file import read_tasks

ARM = pz.load("panda")
POSE = {"kind": "PoseTask", "frame": "panda_hand", "target": {"xyz": [0.4, 0.1, 0.5], "rpy": [3.14159, 0, 0]}}
LINE = "x,y,z\n0.4,0.1,0.5\n0.4,0.1,0.49\n0.4,0.1,0.48\n"
TURNED = "x,y,z,roll,pitch,yaw\n0.4,0.1,0.5,3.14159,0,0\n"


def written(folder: Path, *tasks: dict[str, Any]) -> Path:
    path = folder / "tasks.json"
    path.write_text(json.dumps({"tasks": tasks}))
    return path


# The file --------------------------------------------------------------------------------------------------------


def test_toml_and_json_say_the_same(tmp_path: Path) -> None:
    toml = tmp_path / "tasks.toml"
    toml.write_text(
        """
        [[tasks]]
        kind = "PoseTask"
        frame = "panda_hand"
        target = {xyz = [0.4, 0.1, 0.5], rpy = [3.14159, 0, 0]}
        position_weight = [1, 1, 0]
        priority = 1
        """
    )
    one = read_tasks(toml).tasks(ARM)
    two = read_tasks(written(tmp_path, POSE | {"position_weight": [1, 1, 0], "priority": 1})).tasks(ARM)
    wanted = pz.PoseTask(
        "panda_hand",
        pz.SE3.from_xyz_rpy([0.4, 0.1, 0.5], [3.14159, 0, 0]),
        position_weight=(1, 1, 0),
        priority=1,
    )
    assert repr(one) == repr(two) == repr([wanted])


@pytest.mark.parametrize("kind", ["PoseTask", "pose_task", "pose-task", "pose task", "pose", "Pose"])
def test_a_task_may_be_called_by_its_class_or_in_plain_words(kind: str, tmp_path: Path) -> None:
    (task,) = read_tasks(written(tmp_path, POSE | {"kind": kind})).tasks(ARM)
    assert type(task) is pz.PoseTask


@pytest.mark.parametrize(
    ("entry", "task"),
    [
        ({"kind": "position", "target": [0.1, 0.2, 0.3], "weight": 2},
         pz.PositionTask("panda_hand", (0.1, 0.2, 0.3), weight=2)),
        ({"kind": "position", "target": {"xyz": [0.1, 0.2, 0.3]}}, pz.PositionTask("panda_hand", (0.1, 0.2, 0.3))),
        ({"kind": "orientation", "target": {"wxyz": [0, 1, 0, 0]}},
         pz.OrientationTask("panda_hand", pz.SO3(wxyz=[0, 1, 0, 0]))),
        ({"kind": "look at", "target": [1, 0, 0], "axis": [1, 0, 0]},
         pz.LookAtTask("panda_hand", (1, 0, 0), target=(1, 0, 0))),
        ({"kind": "cone", "target": [0, 0, -1], "angle": 0.2}, pz.ConeTask("panda_hand", target=(0, 0, -1), angle=0.2)),
        ({"kind": "pose", "target": [0.4, 0, 0.5, 0, 1, 0, 0]}, pz.PoseTask("panda_hand", (0.4, 0, 0.5, 0, 1, 0, 0))),
        ({"kind": "pose", "target": {"xyz": [0.4, 0, 0.5], "wxyz": [0, 1, 0, 0]}, "base": "panda_link0"},
         pz.PoseTask("panda_hand", (0.4, 0, 0.5, 0, 1, 0, 0), base="panda_link0")),
    ],
)  # fmt: skip
def test_fields_are_those_of_the_class(entry: dict[str, Any], task: pz.Task, tmp_path: Path) -> None:
    (found,) = read_tasks(written(tmp_path, {"frame": "panda_hand"} | entry)).tasks(ARM)
    assert isinstance(found, pz.Task)
    assert found.structure == task.structure
    assert np.array_equal(found.goal(found.target), task.goal(task.target))


def test_tasks_without_a_frame_are_read_likewise(tmp_path: Path) -> None:
    coupling, posture, named = read_tasks(
        written(
            tmp_path,
            {"kind": "JointCouplingTask", "coefficients": {"panda_joint1": 1, "panda_joint3": -1}, "target": 0.1},
            {"kind": "PostureTask", "target": "ready", "weight": [1, 1, 1, 1, 1, 1, 0]},
            {"kind": "posture", "target": {"panda_joint1": 0.5}},
        )
    ).tasks(ARM)
    assert repr(coupling) == repr(pz.JointCouplingTask({"panda_joint1": 1.0, "panda_joint3": -1.0}, 0.1))
    assert isinstance(posture, pz.PostureTask)
    assert np.array_equal(posture.target, ARM.postures["ready"])
    assert np.array_equal(named.target, ARM.q(panda_joint1=0.5))


def test_every_public_task_can_be_named(tmp_path: Path) -> None:
    for name in pz.__all__:
        if name.endswith("Task") and name != "Task":
            with refused("unknown-name", f"tasks[0] ({name})", "'zzz'"):
                read_tasks(written(tmp_path, {"kind": name, "zzz": 1})).tasks(ARM)


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (POSE | {"kind": "PoseTsk"}, ["tasks[0] has no kind 'PoseTsk'", "'PoseTask'"]),
        (POSE | {"kind": "positoin"}, ["tasks[0] has no kind 'positoin'", "'position'"]),
        ({"frame": "panda_hand"}, ["tasks[0] has no kind", "PoseTask"]),
        (POSE | {"positoin_weight": 1}, ["tasks[0] (PoseTask) has no field 'positoin_weight'", "'position_weight'"]),
        ({"kind": "PoseTask"}, ["tasks[0] (PoseTask) has no frame"]),
        (POSE | {"frame": "panda_hnd"}, ["tasks[0] (PoseTask): panda has no frame 'panda_hnd'", "'panda_hand'"]),
        (POSE | {"position_weight": -1}, ["tasks[0] (PoseTask): position_weight is -1"]),
        (POSE | {"priority": "first"}, ["tasks[0] (PoseTask): priority is 'first'"]),
        (POSE | {"target": {"rpy": [0, 0, 0], "wxyz": [1, 0, 0, 0]}}, ["(PoseTask): target states its rotation twice"]),
        (POSE | {"target": {"xyz": [0.4, 0.1, 0.5]}}, ["tasks[0] (PoseTask): target must be an SE3"]),
        (POSE | {"target": {"xyz": [0.4, 0.1], "rpy": [0, 0, 0]}}, ["tasks[0] (PoseTask)", "xyz", "(2,)"]),
        ({"kind": "PostureTask", "target": "redy"}, ["tasks[0] (PostureTask): panda has no posture 'redy'", "'ready'"]),
        ({"kind": "PostureTask", "target": [0, 1]}, ["tasks[0] (PostureTask)", "target", "7"]),
        ({"kind": "PoseTask", "frame": 3}, ["tasks[0] (PoseTask)", "3"]),
        (POSE | {"frame": {"name": "panda_hand"}}, ["tasks[0] (PoseTask): frame must be a name"]),
        (POSE | {"position_tolerance": True}, ["(PoseTask): position_tolerance is true, which is no number"]),
        (POSE | {"target": {"xyz": [0, 0, 0], "quat": [1, 0, 0, 0]}}, ["target has no field 'quat'"]),
        ({"kind": "region", "frame": "panda_hand", "region": {"kind": "World"}}, ["no kind 'World'", "'Box'"]),
        ({"kind": "region", "frame": "panda_hand", "region": {"kind": "BFGS"}}, ["no kind 'BFGS'", "'Box'"]),
    ],
)
def test_what_is_wrong_is_said_with_file_entry_and_field(
    entry: dict[str, Any], words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, entry)
    assert main(["solve", "panda", "--tasks", str(path)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert str(path) in err
    assert all(word in err for word in words), err


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("t.yaml", "", ["t.yaml", ".toml or .json"]),
        ("t.toml", "tasks = 3", ["list of one task"]),
        ("t.toml", "tasks = []", ["list of one task"]),
        ("t.toml", "[[task]]\nkind = 'pose'", ["no tasks", "[[tasks]]"]),
        ("t.toml", "[[tasks]]\nkind = ?\n", ["t.toml", "line 2"]),
        ("t.json", '{"tasks": [\n{"kind": }]}', ["t.json:2"]),
        ("t.json", '{"tasks": [{"kind": "pose", "kind": "position"}]}', ["'kind' is stated 2 times"]),
        ("t.json", '{"tasks":' * 100_000, ["nested too deeply"]),
        ("t.json", '{"tasks": [{"kind": "position", "target":' + 600 * "[" + 600 * "]" + "}]}", ["nested too deeply"]),
        ("t.toml", "tasks = []".encode("utf-16"), ["no text in UTF-8"]),
        ("t.json", '{"tasks": [3]}', ["tasks[0] must be a table"]),
        ("t.json", '{"tasks": [], "mehtod": "lm"}', ["no field 'mehtod'"]),
    ],
)
def test_what_is_no_file_of_tasks_is_said(
    name: str, text: str | bytes, words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_bytes(text.encode() if isinstance(text, str) else text)
    assert main(["solve", "panda", "--tasks", str(tmp_path / name)]) == 1
    err = capsys.readouterr().err
    assert all(word in err for word in words), err
    assert main(["solve", "panda", "--tasks", str(tmp_path / "not_there.toml")]) == 1
    assert "not_there.toml cannot be read" in capsys.readouterr().err


# Solve -----------------------------------------------------------------------------------------------------------


def test_several_tasks_are_solved_together_and_each_is_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, POSE, {"kind": "posture", "target": "ready"})
    assert main(["solve", "panda", "--tasks", str(path), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [task["task"] for task in answer["tasks"]] == ["PoseTask('panda_hand')", "PostureTask"]
    assert answer["tasks"][0]["position_error"] == answer["position_error"] <= 1e-6
    assert answer["tasks"][1]["posture_error"] == pytest.approx(np.abs(answer["q"] - ARM.postures["ready"]).max())
    wanted = ARM.pose("panda_hand", answer["q"])
    assert np.allclose(wanted.xyz, [0.4, 0.1, 0.5], atol=1e-6)
    assert main(["solve", "panda", "--tasks", str(path)]) == 0
    assert "PostureTask is" in capsys.readouterr().out


def test_the_task_of_the_options_and_a_posture_come_after_the_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, {"kind": "axis", "frame": "panda_hand", "target": [0, 0, -1]})
    arguments = ["solve", "panda", "--tasks", str(path), "--frame", "panda_hand", "--xyz", "0.4", "0.1", "0.5"]
    assert main([*arguments, "--posture", "ready", "--json"]) == 0
    labels = [task["task"] for task in json.loads(capsys.readouterr().out)["tasks"]]
    assert labels == ["AxisTask('panda_hand')", "PositionTask('panda_hand')", "PostureTask"]


def test_a_weight_of_0_leaves_a_direction_free(capsys: pytest.CaptureFixture[str]) -> None:
    far = ["solve", "planar3", "--xyz", "1", "1", "5", "--json"]
    assert main(far) == 2
    capsys.readouterr()
    assert main([*far, "--position-weight", "1", "1", "0"]) == 0
    q = json.loads(capsys.readouterr().out)["q"]
    assert np.allclose(pz.load("planar3").pose("tool", q).xyz[:2], [1, 1], atol=1e-6)


def test_a_method_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", "panda", "--xyz", "0.4", "0.1", "0.5", "--method", "dls", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["method"] == "dls"
    assert main(["solve", "panda", "--xyz", "0.4", "0.1", "0.5", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["method"] is None


@pytest.mark.parametrize("start", [["ready"], ["0,-0.785,0,-2.356,0,1.571,0.785"], ["home"]])
def test_a_start_is_a_posture_or_numbers(start: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["solve", "panda", "--xyz", "0.4", "0.1", "0.5", "--json"]
    assert main([*arguments, "--q0", *start]) == 0
    q = json.loads(capsys.readouterr().out)["q"]
    own = {"ready": ARM.postures["ready"], "home": ARM.home}
    q0 = own.get(start[0])
    if q0 is None:
        q0 = np.array([float(x) for x in start[0].split(",")])
    assert q == pz.solve(ARM, pz.PositionTask(ARM.tip, [0.4, 0.1, 0.5]), q0=q0).q.tolist()


def test_a_rotation_in_degrees_is_asked_about_by_the_name_of_its_option() -> None:
    arguments = ["solve", "panda", "--xyz", "0.4", "0.1", "0.5", "--rpy", "180", "0", "90"]
    words = r"^--rpy holds more than a whole turn in radians: degrees\? write 3.14159 0 1.5708$"
    with pytest.warns(UserWarning, match=words) as caught:
        main(arguments)
    assert len(caught) == 1
    assert main([*arguments[:-3], "3.14159", "0", "1.5708"]) == 0


def test_a_start_that_limits_move_is_told() -> None:
    arguments = ["solve", "panda", "--xyz", "0.4", "0.1", "0.5", "--q0", "0", "-45", "0", "-2", "0", "1", "0"]
    with pytest.warns(UserWarning, match=r"panda_joint2 from -45 to -1.763 rad.*degrees"):
        assert main(arguments) == 0
    near = ["solve", "panda", "--xyz", "0.4", "0.1", "0.5", "--q0", *7 * ["0"]]
    with pytest.warns(UserWarning, match=r"panda_joint4 from 0 to -0.0698 rad$"):
        assert main(near) == 0
    assert main([*near, "--no-limits"]) == 0  # and nothing is told, for nothing is moved


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--xyz", "0", "0", "1", "--q0", "redy"], ["no posture 'redy'", "'ready'"]),
        (["--xyz", "0", "0", "1", "--q0", "0", "a"], ["--q0", "'a' is no number"]),
        (["--xyz", "0", "0", "1", "--method", "dlss"], ["dlss", "dls"]),
        (["--xyz", "0", "0", "1", "--rotation-weight", "1"], ["--rotation-weight", "--rpy"]),
        (["--posture", "ready", "--position-weight", "1"], ["--position-weight", "--xyz"]),
        (["--posture", "ready", "--frame", "panda_hand"], ["--frame panda_hand has no target"]),
        (["--xyz", "0", "0", "1", "--position-weight", "1", "2"], ["weight", "(2,)"]),
    ],
)
def test_options_that_make_no_sense_are_refused(
    arguments: list[str], words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["solve", "panda", *arguments]) == 1
    err = capsys.readouterr().err
    assert err.startswith("error: ")
    assert all(word in err for word in words), err


def test_a_task_without_a_target_is_for_track_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, {"kind": "pose", "frame": "panda_hand"})
    assert main(["solve", "panda", "--tasks", str(path)]) == 1
    assert "tasks[0] (PoseTask) has no target" in capsys.readouterr().err


# Track -----------------------------------------------------------------------------------------------------------


def test_a_step_a_target_is_what_a_tracker_takes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "line.csv").write_text(LINE)
    out = tmp_path / "joints.csv"
    arguments = ["track", "panda", str(tmp_path / "line.csv"), "--dt", "0.02", "-o", str(out), "--frame", "panda_hand"]
    assert main([*arguments, "--q0", "ready", "--method", "qp", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    with out.open() as file:
        rows = list(csv.DictReader(file))
    tracker = pz.Tracker(ARM, pz.PositionTask("panda_hand"), "qp", dt=0.02)
    q = ARM.postures["ready"]
    for k, (row, z) in enumerate(zip(rows, (0.5, 0.49, 0.48), strict=True)):
        target = np.array([0.4, 0.1, z])
        q = np.array(tracker.step(q, target))
        assert [float(row[f"q_{name}"]) for name in ARM.coordinates] == q.tolist()
        assert float(row["time_s"]) == pytest.approx(0.02 * (k + 1))
        error = float(np.linalg.norm(ARM.pose("panda_hand", q).xyz - target))
        assert float(row["position_error_m"]) == pytest.approx(error, abs=1e-12)
        assert row["rotation_error_rad"] == "nan"
    assert facts["steps"] == 3
    assert facts["method"] == "qp"
    assert facts["q"] == q.tolist()
    assert facts["last_position_error_m"] == float(rows[-1]["position_error_m"])
    assert facts["last_rotation_error_rad"] is None


def test_the_columns_lead_the_task_without_a_target(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "line.csv").write_text(LINE)
    path = written(
        tmp_path,
        {"kind": "axis", "frame": "panda_hand", "target": [0, 0, -1]},
        {"kind": "position", "frame": "panda_hand"},
    )
    assert main(["track", "panda", str(tmp_path / "line.csv"), "--dt", "0.1", "--tasks", str(path), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    tracker = pz.Tracker(ARM, [pz.AxisTask("panda_hand", target=(0, 0, -1)), pz.PositionTask("panda_hand")], dt=0.1)
    q = ARM.home
    for z in (0.5, 0.49, 0.48):
        q = np.array(tracker.step(q, [np.array([0, 0, -1.0]), np.array([0.4, 0.1, z])]))
    assert facts["q"] == q.tolist()
    assert facts["last_rotation_error_rad"] is not None


def test_poses_are_followed_and_said_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pose.csv").write_text(TURNED * 1)
    assert main(["track", "panda", str(tmp_path / "pose.csv"), "--dt", "0.1"]) == 0
    out = capsys.readouterr().out
    assert "1 steps of PoseTask('panda_hand_tcp') in 0.1 s, by dls" in out
    assert "position error" in out
    assert "rotation error" in out


def test_a_posture_is_followed_as_far_as_the_targets_leave_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "line.csv").write_text(LINE)
    tasks = [{"kind": "position", "frame": "panda_hand"}, {"kind": "posture", "weight": {"panda_joint1": 3}}]
    file = written(tmp_path, *tasks)
    command = ["track", "panda", str(tmp_path / "line.csv"), "--tasks", str(file), "--dt", "0.1", "--json"]
    assert main(command) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["tasks"] == ["PositionTask('panda_hand')", "PostureTask"]
    tracker = pz.Tracker(ARM, [pz.PositionTask("panda_hand"), pz.PostureTask(weight={"panda_joint1": 3})], dt=0.1)
    q = ARM.home
    for row in LINE.splitlines()[1:]:
        q = np.array(tracker.step(q, [float(x) for x in row.split(",")]))
    assert facts["q"] == q.tolist()


@pytest.mark.parametrize(
    ("text", "tasks", "more", "words"),
    [
        (TURNED, [{"kind": "position", "frame": "panda_hand"}], [], ["x y z and a rotation", "PositionTask"]),
        (LINE, [{"kind": "pose", "frame": "panda_hand"}], [], ["x y z", "PoseTask"]),
        (LINE, [POSE], [], ["leave the target of one task", "all have one"]),
        (LINE, [{"kind": "pose", "frame": "panda_hand"}] * 2, [], ["tasks 0 and 1 have none"]),
        (LINE, [{"kind": "posture"}], [], ["leave the target of one task"]),
        (LINE, [POSE], ["--frame", "panda_hand"], ["--frame"]),
        ("x,y,z\n", [], [], ["no rows"]),
        ("x,y\n1,2\n", [], [], ["no column z"]),
        (LINE, [], ["--method", "dlss"], ["dlss", "dls"]),
        (LINE, [], ["--out", "joints.txt"], ["joints.txt", ".csv or .parquet"]),
        (LINE, [], ["--q0", "redy"], ["redy", "ready"]),
    ],
)
def test_what_cannot_be_tracked_is_refused_in_words(
    text: str,
    tasks: list[dict[str, Any]],
    more: list[str],
    words: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "targets.csv").write_text(text)
    file = ["--tasks", str(written(tmp_path, *tasks))] if tasks else []
    assert main(["track", "panda", str(tmp_path / "targets.csv"), "--dt", "0.1", *file, *more]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert all(word in err for word in words), err


# The page --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["toml", "json"])
def test_the_files_of_the_page_are_solved(language: str, tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "command_line.md").read_text()
    text, *followed = re.findall(rf"^```{language}\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    path = tmp_path / f"tasks.{language}"
    path.write_text(text)
    assert main(["solve", "panda", "--tasks", str(path)]) == 0
    assert main(["solve", "panda", "--tasks", str(path), "--q0", "ready"]) == 0
    (tmp_path / "turned.csv").write_text(TURNED)
    for text in followed:
        path.write_text(text)
        assert main(["track", "panda", str(tmp_path / "turned.csv"), "--dt", "0.01", "--tasks", str(path)]) == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["info"],
        ["info", "panda"],
        ["solve", "panda", "--posture", "ready"],
        ["track", "panda", "{file}", "--dt", "0.1"],
        ["compare", "planar3", "--methods", "jt", "--count", "2"],
        ["cite"],
    ],
)
def test_the_page_names_all_that_json_has(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "json.md").read_text()
    (row,) = re.findall(rf"^\| `{arguments[0]}` \| (.*) \|$", page, re.MULTILINE)
    (tmp_path / "line.csv").write_text(LINE)
    assert main([*(word.format(file=tmp_path / "line.csv") for word in arguments), "--json"]) == 0
    assert {f"`{name}`" for name in json.loads(capsys.readouterr().out)} <= set(re.findall(r"`\w+`", row))


@pytest.mark.parametrize(
    ("out", "words"),
    [
        ("line.csv", "is a file that is read"),
        ("elsewhere/out.csv", "there is no folder"),
        ("folder.csv", "cannot be written"),
        ("out.txt", "ends in .csv or .parquet"),
    ],
)
@pytest.mark.parametrize("command", [["track", "--dt", "0.01"], ["path"]])
def test_a_file_that_joints_cannot_go_into_is_refused(
    command: list[str], out: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = tmp_path / "line.csv"
    line.write_text(LINE)
    (tmp_path / "folder.csv").mkdir()
    assert main([*command, "panda", str(line), "-o", str(tmp_path / out)]) == 1
    assert words in capsys.readouterr().err
    assert line.read_text() == LINE
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder.csv", "line.csv"]


def test_what_was_there_stays_where_writing_stops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line, out = tmp_path / "line.csv", tmp_path / "out.csv"
    line.write_text(LINE)
    out.write_text("before")

    def interrupted(_: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("poise.solving.path.table._word", interrupted)
    assert main(["track", "panda", str(line), "--dt", "0.01", "-o", str(out), "--force"]) == 130
    assert out.read_text() == "before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["line.csv", "out.csv"]


def test_a_time_step_without_end_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "line.csv").write_text(LINE)
    assert main(["track", "panda", str(tmp_path / "line.csv"), "--dt", "inf"]) == 1
    assert "--dt is inf" in capsys.readouterr().err

"""`poise path` and the files of paths: what goes in comes out, and the exit code says whether it can be followed."""

import csv
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from support.figures import legible, named

import poise as pz
from poise.cli import main
from poise.scale.waypoints import read_waypoints

N = 12


def line(robot: str = "panda") -> np.ndarray:
    place = np.stack([np.full(N, 0.5), np.linspace(-0.1, 0.1, N), np.full(N, 0.3)], axis=1)
    return np.hstack([place, np.tile([0.0, 1.0, 0.0, 0.0], (N, 1))])


@pytest.fixture
def poses(tmp_path: Path) -> Path:
    path = tmp_path / "poses.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["name", "x", "y", "z", "qw", "qx", "qy", "qz"], *[["a", *row] for row in line()]])
    return path


def test_a_file_is_followed(poses: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, picture = tmp_path / "joints.csv", tmp_path / "path.png"
    code = main(
        ["path", "panda", str(poses), "-o", str(out), "--frame", "panda_hand", "--report", "--figure", str(picture)]
    )
    said = capsys.readouterr().out
    assert code == 0
    assert "Followed" in said
    assert "length in the joints" in said
    assert str(out) in said
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    arm = pz.load("panda")
    wanted = pz.solve_path(arm, pz.PoseTask("panda_hand"), line())
    q = np.array([[float(row[f"q_{name}"]) for name in arm.coordinates] for row in rows])
    assert np.array_equal(q, wanted.q)
    assert [row["success"] for row in rows] == ["true"] * N
    assert np.allclose([float(row["time_s"]) for row in rows], wanted.times)
    assert max(float(row["position_error_m"]) for row in rows) < 1e-6
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_where_the_arm_stands_is_where_it_begins_or_it_fails(poses: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arm = pz.load("panda")
    home, stands = (
        [f"{x!r}" for x in q.tolist()] for q in (arm.home, pz.solve_path(arm, pz.PoseTask("panda_hand"), line()).q[0])
    )
    asked = ["path", "panda", str(poses), "--frame", "panda_hand"]
    assert main([*asked, "--q0", *home]) == 0
    assert "q0 does not meet the first pose" in capsys.readouterr().out
    assert main([*asked, "--start", *home]) == 2
    assert "from the first pose" in capsys.readouterr().out
    assert main([*asked, "--start", *stands]) == 0


def test_csv_needs_no_arrow(poses: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "pyarrow"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert main(["path", "panda", str(poses), "-o", str(tmp_path / "out.csv"), "--frame", "panda_hand"]) == 0
    with pytest.raises(pz.MissingExtra, match="data"):
        pz.solve_path(pz.load("panda"), pz.PoseTask("panda_hand"), line()).to_parquet(tmp_path / "out.parquet")


def test_parquet_both_ways(tmp_path: Path) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    names = ["x", "y", "z", "qw", "qx", "qy", "qz"]
    given, out = tmp_path / "poses.parquet", tmp_path / "joints.parquet"
    pq.write_table(pa.table(dict(zip(names, line().T.copy(), strict=True))), given)
    assert main(["path", "panda", str(given), "-o", str(out), "--frame", "panda_hand", "--no-optimise"]) == 0
    table = pq.read_table(out).to_pydict()
    arm = pz.load("panda")
    wanted = pz.solve_path(arm, pz.PoseTask("panda_hand"), line(), optimise=False)
    assert np.array_equal(np.stack([table[f"q_{name}"] for name in arm.coordinates], axis=1), wanted.q)
    assert table["success"] == [True] * N


def stops() -> pz.SE3:
    """Three poses of a Panda's hand that looks down."""
    place = [[0.4, 0.3, 0.5], [0.4, 0.3, 0.3], [0.4, -0.3, 0.5]]
    return pz.SE3(np.hstack([place, np.tile([0.0, 1.0, 0.0, 0.0], (3, 1))]))


def test_the_file_of_a_plan_says_of_every_row_what_is_so(tmp_path: Path) -> None:
    """Rows between the poses can be gone too; what belongs to poses stands in their rows alone."""
    arm, out = pz.load("panda"), tmp_path / "plan.csv"
    path = pz.plan(arm, pz.PoseTask("panda_hand"), stops())
    assert path.success
    assert len(path) > 3
    path.to_csv(out)
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["success"] for row in rows] == ["true"] * len(path)
    met = [i for i, row in enumerate(rows) if row["waypoint"]]
    assert met == path.stations.tolist()
    assert [rows[i]["waypoint"] for i in met] == ["0", "1", "2"]
    for i, row in enumerate(rows):
        for column in ("position_error_m", "rotation_error_rad"):
            assert (0.0 <= float(row[column]) < 1e-6) if i in met else row[column] == ""
    assert path.reached.all()
    assert not np.isnan(path.position_errors).any()
    assert repr(path).startswith(f"JointPath(CONVERGED, 3 waypoints in {len(path)} rows")


def test_the_same_in_parquet(tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    path = pz.plan(pz.load("panda"), pz.PoseTask("panda_hand"), stops())
    path.to_parquet(tmp_path / "plan.parquet")
    table = pq.read_table(tmp_path / "plan.parquet").to_pydict()
    assert table["success"] == [True] * len(path)
    assert [i for i, x in enumerate(table["waypoint"]) if x is not None] == path.stations.tolist()
    assert sum(x is not None for x in table["position_error_m"]) == 3


def test_rows_that_lead_to_what_fails_do_not_succeed() -> None:
    """A pose that is out of reach, and a jump between two poses that are met."""
    arm = pz.load("planar2")
    path = pz.plan(arm, pz.PositionTask("tool"), [[1.0, 1.0, 0.0], [3.0, 0.0, 0.0], [1.0, -1.0, 0.0]])
    fails = np.arange(len(path))
    fails = (path.stations[0] < fails) & (fails <= path.stations[1])
    assert np.array_equal(path.columns()["success"], ~fails)
    jump = pz.solve_path(arm, pz.PositionTask("tool"), [[1.0, 1.0, 0.0], [1.0, 0.9, 0.0], [-1.0, -1.0, 0.0]])
    assert jump.status is pz.Status.JUMP
    assert jump.reached.all()
    assert np.flatnonzero(~jump.columns()["success"]).tolist() == [failure.waypoint for failure in jump.failures]


def test_what_cannot_be_followed_is_exit_code_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "far.csv"
    path.write_text("x,y,z\n1,0,0\n1.5,0,0\n\n2.5,0,0\n")
    out = tmp_path / "joints.csv"
    assert main(["path", "planar2", str(path), "-o", str(out), "--json"]) == 2
    facts = json.loads(capsys.readouterr().out)
    assert facts["first_failure"]["waypoint"] == 2
    assert facts["status"] == "UNREACHABLE"
    assert len(out.read_text().splitlines()) == 4


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("x,y\n1,2\n", "no column z"),
        ("x,y,z,x\n1,2,3,4\n", "2 columns 'x'"),
        ("x,y,z\n1,2,left\n", "'z' of waypoint 0 is 'left'"),
        ("x,y,z\n1,2\n", "'z' of waypoint 0 is nothing"),
        ("x,y,z\n0,4,0,1,0,5\n", "waypoint 0 has 6 cells, and the first line names 3 columns"),
        ("x,y,z,roll\n1,2,3,4\n", "no column pitch yaw"),
        ("x,y,z,roll,pitch,yaw\n1,2,3,4,nan,0\n", "'pitch' of waypoint 0 is nan"),
        ("x,y,z\n", "bad.csv has no rows below the names of its columns"),
        ("x;y;z\n1;2;3\n", "';' between its columns"),
        ("x,y,z\n1,2,3\n1,inf,3\n", "bad.csv: 'y' of waypoint 1 is inf"),
        ("x,y,z\n1,2,3\n1,2,1e200\n", "bad.csv: 'z' of waypoint 1 is 1e+200"),
        ("x,y,z,qw,qx,qy,qz\n1,2,3,1,0,0,0\n1,2,3,0,0,0,0\n", "waypoint 1 are a zero quaternion"),
    ],
)
def test_bad_files_are_one_line(text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(text)
    assert main(["path", "panda", str(path)]) == 1
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_other_files_are_refused(tmp_path: Path, poses: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["path", "panda", str(tmp_path / "poses.txt")]) == 1
    assert ".csv or .parquet" in capsys.readouterr().err
    assert main(["path", "panda", str(tmp_path / "none.csv")]) == 1
    assert "cannot be read" in capsys.readouterr().err
    assert main(["path", "panda", str(poses), "-o", str(tmp_path / "out.xls")]) == 1
    assert ".csv or .parquet" in capsys.readouterr().err


def test_turns_are_as_quaternions(tmp_path: Path) -> None:
    path = tmp_path / "turns.csv"
    path.write_text("\ufeffx, y, z, roll, pitch, yaw\n0.1,0.2,0.3,0.4,0.5,0.6\n", encoding="utf-8")
    wanted = pz.SE3.from_xyz_rpy([0.1, 0.2, 0.3], [0.4, 0.5, 0.6]).array
    assert np.allclose(read_waypoints(path), [wanted])


def test_pictures_of_paths_that_fail_and_stand_still() -> None:
    pytest.importorskip("matplotlib")
    arm = pz.load("planar2")
    far = pz.solve_path(arm, pz.PositionTask("tool"), [[1.0, 0.0, 0.0], [3.0, 0.0, 0.0]])
    assert len(far.figure().axes) == 3
    legible(far.figure())
    assert "first that cannot be followed" in named(far.figure())
    still = pz.solve_path(pz.load("panda"), pz.PoseTask("panda_hand"), line()[:1])
    assert len(still.figure().axes) == 3
    legible(still.figure())


def test_a_picture_without_matplotlib_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    path = pz.solve_path(pz.load("planar2"), pz.PositionTask("tool"), [[1.0, 0.0, 0.0]])
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(pz.MissingExtra, match="plots"):
        path.figure()

"""The headers compile without a warning, the examples say what Python says, and damaged files are refused."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import fuzz
import numpy as np
import pytest

import poise as pz
from poise.build import sdk
from poise.build.sdk import write_sdk
from poise.cli import main
from poise.common.array import Array
from poise.kernels.machine.library import library

HEADERS = Path(sdk.__file__).parent
EXAMPLES = Path(__file__).parents[2] / "examples" / "c"
WARNED = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]
EIGEN = Path("/usr/include/eigen3")
TARGET = (0.4, 0.1, 0.5, 0.0, 1.0, 0.0, 0.0)
STEPS = 60
"""Of the loop at 1 kHz."""


def wanting(*tools: str) -> pytest.MarkDecorator:
    missing = [tool for tool in tools if shutil.which(tool) is None]
    return pytest.mark.skipif(bool(missing), reason=f"there is no {' and no '.join(missing)} here")


with_library = pytest.mark.skipif(library() is None, reason="there is no library here: run python -m poise.build")


def run(*command: object, **environment: str) -> str:
    """What a command prints; its errors are those of the test."""
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, timeout=300, check=False, env=os.environ | environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def numbers(printed: str, name: str) -> Array:
    """(n, m) what stands behind a name, a line each."""
    return np.array([line.split()[1:] for line in printed.splitlines() if line.startswith(f"{name} ")], dtype=float)


# The headers ------------------------------------------------------------------------------------------------------


@wanting("cc")
def test_the_header_is_c11(tmp_path: Path) -> None:
    (tmp_path / "one.c").write_text("#include <poise.h>\nint main(void) { return (int)pz_count(0, PZ_NQ); }\n")
    run("cc", "-std=c11", *WARNED, f"-I{HEADERS}", "-c", tmp_path / "one.c", "-o", tmp_path / "one.o")


USED = """
{before}
#include <poise.hpp>
#include <array>
{after}
int main() {{
  poise::Solver arm("arm.poise");
  poise::SolverWork work(arm);
  std::vector<double> q(arm.nq());
  double row[7] = {{}};
  std::array<double, 7> target{{}};
  const auto soon = poise::Clock::now() + std::chrono::microseconds(100);
  bool good = work.solve(target, arm.home(), q, soon) == PZ_OK && work.solve({{}}, {{}}, row) == PZ_OK;
  poise::Tracker tracker("tracker.poise");
  poise::TrackerWork steps(tracker);
  good = good && steps.step({{}}, target, arm.home(), q) == PZ_OK && steps.step({{}}, {{}}, q) == PZ_OK;
  poise::Pose pose;
  good = good && work.pose(q, arm.frame("hand"), pose) == PZ_OK && work.move(arm.obstacle("ball"), pose) == PZ_OK;
  {more}
  return good ? 0 : static_cast<int>(work.report().iterations);
}}
"""
SPAN = """
  std::span<double> view(q);
  std::span<const double> lower = arm.lower();
  good = work.solve(lower, view, view) == PZ_OK;
"""
OF_EIGEN = """
  Eigen::VectorXd x(7);
  poise::Jacobian rows(6, 7);
  Eigen::Map<Eigen::VectorXd> map(q.data(), 7);
  Eigen::Ref<Eigen::VectorXd> ref(x);
  const Eigen::Isometry3d T = poise::isometry(pose);
  good = good && work.solve(poise::pose(T), map, ref) == PZ_OK && work.jacobian(x, 0, rows) == PZ_OK;
"""


@wanting("c++")
@pytest.mark.parametrize(
    ("standard", "eigen"),
    [(17, False), (20, True), *(pytest.param(*both, marks=pytest.mark.slow) for both in ((17, True), (20, False)))],
)
def test_the_header_is_cpp(standard: int, eigen: bool, tmp_path: Path) -> None:
    if eigen and not EIGEN.is_dir():
        pytest.skip(f"there is no {EIGEN}")
    before = "#include <Eigen/Geometry>" if eigen else ""
    after, more = ("#include <span>", SPAN) if standard >= 20 else ("", "")
    text = USED.format(before=before, after=after, more=more + OF_EIGEN * eigen)
    (tmp_path / "one.cpp").write_text(text)
    given = [f"-std=c++{standard}", *WARNED, f"-I{HEADERS}", f"-isystem{EIGEN}"]
    run("c++", *given, "-c", tmp_path / "one.cpp", "-o", tmp_path / "one.o")


@wanting("c++")
def test_a_matrix_by_columns_is_no_jacobian(tmp_path: Path) -> None:
    if not EIGEN.is_dir():
        pytest.skip(f"there is no {EIGEN}")
    (tmp_path / "one.cpp").write_text(
        "#include <Eigen/Core>\n#include <poise.hpp>\n"
        "template <class Of> constexpr bool taken = std::is_constructible_v<poise::Room, Of>;\n"
        "double f(Eigen::MatrixXd &m, Eigen::VectorXd &v) {\n"
        '  static_assert(!taken<decltype((m))>, "a matrix by columns");\n'
        '  static_assert(!taken<decltype(m.row(0))>, "a row of it, which has gaps");\n'
        "  poise::Room whole(v), column(m.col(0));\n  return whole[0] + column[0];\n}\n"
    )
    run("c++", "-std=c++17", f"-I{HEADERS}", f"-isystem{EIGEN}", "-fsyntax-only", tmp_path / "one.cpp")


# The SDK and the examples -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The SDK, moved from where it was written, and files."""
    out = tmp_path_factory.mktemp("c")
    assert main(["sdk", str(out / "written")]) == 0
    (out / "written").rename(out / "sdk")
    assert main(["export", "panda", str(out / "arm.poise"), "--frame", "panda_hand"]) == 0
    tracker_and_world()[0].export(out / "tracker.poise")
    return out


def tracker_and_world() -> tuple[pz.Tracker, pz.World, pz.Model]:
    """A tracker among what track.cpp moves."""
    arm, world = pz.load("panda_collision"), pz.World({"ball": pz.Sphere((0.6, 0.3, 0.5), 0.1)})
    return pz.Tracker(arm, pz.PoseTask("panda_hand"), dt=0.001, limits=[pz.CollisionLimit(world)]), world, arm


def by_cmake(folder: Path) -> tuple[Path, Path]:
    flags = [f"-DCMAKE_{language}_FLAGS={' '.join(WARNED)}" for language in ("C", "CXX")]
    run("cmake", "-S", EXAMPLES, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={folder / 'sdk'}", *flags)
    run("cmake", "--build", folder / "build")
    return folder / "build" / "solve", folder / "build" / "track"


def by_pkg_config(folder: Path) -> tuple[Path, Path]:
    where = {"PKG_CONFIG_PATH": str(folder / "sdk" / "lib" / "pkgconfig")}
    given = run("pkg-config", "--cflags", "--libs", "poise", **where).split()
    compile_c: Sequence[object] = ("cc", "-std=c11", *WARNED, EXAMPLES / "solve.c", "-o", folder / "solve")
    run(*compile_c, *given)
    run("c++", "-std=c++17", *WARNED, "-pthread", EXAMPLES / "track.cpp", "-o", folder / "track", *given)
    return folder / "solve", folder / "track"


@with_library
@wanting("cc", "c++")
@pytest.mark.parametrize(
    "built", [pytest.param(by_cmake, marks=wanting("cmake")), pytest.param(by_pkg_config, marks=wanting("pkg-config"))]
)
def test_the_examples_print_what_python_says(built: object, folder: Path) -> None:
    solve, track = built(folder)  # type: ignore[operator]
    arm = pz.load("panda")
    printed = run(solve, folder / "arm.poise", "panda_hand", *TARGET)
    here = pz.Solver(arm, pz.PoseTask("panda_hand"))(pz.SE3(TARGET))
    assert printed.startswith("every task is within its tolerances")
    assert numbers(printed, "iterations").item() == here.iterations
    np.testing.assert_allclose(numbers(printed, "q")[0], here.q, rtol=0.0, atol=1e-11)
    assert arm.pose("panda_hand", here.q).isclose(pz.SE3(numbers(printed, "pose")[0]), atol=1e-11)
    np.testing.assert_allclose(numbers(printed, "jacobian"), arm.jacobian("panda_hand", here.q), atol=1e-11)

    printed = run(track, folder / "tracker.poise", "panda_hand", STEPS)
    q, near = followed(STEPS)
    np.testing.assert_allclose(numbers(printed, "q")[0], q, rtol=0.0, atol=1e-11)
    assert f"steps {STEPS} failed 0" in printed
    assert f"nearest {near.pair[0]} to {near.pair[1]}: {near.distance:.4f} m" in printed


def followed(steps: int) -> tuple[Array, Any]:
    """Where track.cpp should end."""
    tracker, world, arm = tracker_and_world()
    q = arm.home
    start = arm.pose("panda_hand", q).array
    for k in range(steps):
        world.move("ball", pz.SE3([0.6, 0.3 * np.cos(0.001 * k), 0.5, 1, 0, 0, 0]))
        shift = [0.0, 0.1 * np.sin(0.001 * k), 0.1 * (np.cos(0.001 * k) - 1.0), 0, 0, 0, 0]
        q = tracker.step(q, pz.SE3(start + shift))
    return q, arm.distance(q, world)


@with_library
@wanting("cc", "c++", "cmake")
def test_the_wrong_file_is_refused_in_words(folder: Path) -> None:
    solve, track = by_cmake(folder)
    done = subprocess.run([track, folder / "arm.poise", "panda_hand"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "this file is of a solver" in done.stderr
    done = subprocess.run([track, folder / "none.poise", "panda_hand"], capture_output=True, text=True, check=False)
    assert "none.poise: the file cannot be read" in done.stderr
    done = subprocess.run([track, folder, "panda_hand"], capture_output=True, text=True, check=False)
    assert f"{folder}: " in done.stderr
    assert done.returncode == 1
    given = [solve, folder / "sdk" / "include" / "poise.h", "panda_hand", *map(str, TARGET)]
    done = subprocess.run(given, capture_output=True, text=True, check=False)
    assert "these are not the bytes of a file" in done.stderr


def test_without_a_library_it_says_how_to_get_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sdk, "chosen", lambda: (None, "there is no poise.so"))
    with pytest.raises(pz.PoiseError, match=r"there is no poise.so; `python -m poise.build`"):
        write_sdk(tmp_path / "sdk")
    assert not list(tmp_path.iterdir())


BLOCKED = """
#include <poise.h>
#include <stdio.h>
#include <stdlib.h>
int main(int count, char **files) {
  static unsigned char file[1 << 20];
  for (int k = 1; k < count; k++) {
    FILE *stream = fopen(files[k], "rb");
    size_t bytes = fread(file, 1, sizeof file, stream);
    fclose(stream);
    const pz_solver *arm;
    if (pz_load(file, bytes, malloc(pz_size(file, bytes)), &arm) != PZ_OK) return 1;
    pz_work *work = pz_begin(arm, malloc(pz_work_size(arm)));
    double q[7];
    if (pz_solve(work, NULL, NULL, q, NULL, NULL, NULL) != PZ_OK) return 2;
    printf("q");
    for (int i = 0; i < 7; i++) printf(" %.17g", q[i]);
    printf("\\n");
  }
  return 0;
}
"""


@with_library
@wanting("cc", "pkg-config")
def test_where_the_stages_fail_c_says_what_python_says(folder: Path) -> None:
    """At targets that one start leads to by steps alone, or to what is required alone."""
    arm, tip = pz.load("panda"), "panda_hand"
    shaped = arm.with_shapes({"panda_link6": pz.Sphere((0, 0, 0), 0.08), tip: pz.Sphere((0, 0, 0), 0.06)})
    less = [pz.LinearLimit({"panda_joint1": 1.0, "panda_joint2": 1.0}, -0.5)]
    apart = [pz.CollisionLimit(pz.World({"ball": pz.Sphere((0.4, 0.1, 0.4), 0.2)}), min_distance=0.02)]
    soft: list[pz.Task] = [
        pz.PositionTask("panda_link4", (0.2, 0.2, 0.7), required=False, priority=1),
        pz.AxisTask(tip, (0, 0, 1), target=(0, 0, -1), required=False, priority=2),
    ]
    q, answers, files = arm.sample(24, seed=2)[8], [], []
    for name, model, tasks, limits in (
        ("sum", arm, [pz.PositionTask(tip, arm.pose(tip, q).xyz)], less),
        ("shape", shaped, [pz.PositionTask(tip, arm.pose(tip, q).xyz)], apart),
        ("alone", arm, [pz.PoseTask(tip, arm.pose(tip, q)), *soft], less),
    ):
        solver = pz.Solver(model, tasks, limits=limits, max_restarts=0)
        found = solver()
        assert found.success
        assert "by_steps" in solver._search.others
        answers.append(found.q)
        files.append(folder / f"{name}.poise")
        solver.export(files[-1])
    (folder / "blocked.c").write_text(BLOCKED)
    given = run("pkg-config", "--cflags", "--libs", "poise", PKG_CONFIG_PATH=str(folder / "sdk" / "lib" / "pkgconfig"))
    run("cc", "-std=c11", folder / "blocked.c", "-o", folder / "blocked", *given.split())
    np.testing.assert_allclose(numbers(run(folder / "blocked", *files), "q"), answers, rtol=0.0, atol=1e-11)


# Damaged files ----------------------------------------------------------------------------------------------------


@with_library
@wanting("cc")
def test_no_damage_to_a_file_and_no_argument_crashes(tmp_path: Path) -> None:
    try:
        program = fuzz.compiled(tmp_path)
    except subprocess.CalledProcessError as error:
        pytest.skip(f"cc has no sanitizers here: {error.stderr[-200:]}")
    ended = fuzz.fuzzed(program, fuzz.exported(tmp_path), 3000, seed=1)
    assert ended.returncode == 0, ended.stdout + ended.stderr

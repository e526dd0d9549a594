"""The plug-ins for MoveIt and ros2_control, compiled against stubs, and driven as these would: Python's answers."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from support.carried import Carried
from support.mechanisms import four_bar, gap
from support.ros_host import ROOT, Host, built, missing

import poise as pz
from poise.common.array import Array

SUCCESS, TIMED_OUT, NO_IK_SOLUTION = 1, -6, -31
LIMITS = {"atol": 1e-12, "rtol": 0.0}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    reason = missing()
    if reason is not None:
        pytest.skip(reason)
    return built(tmp_path_factory.mktemp("ros"))


@pytest.fixture
def host(program: Path, tmp_path: Path) -> Iterator[Host]:
    running = Host(program, tmp_path / "complaints")
    yield running
    running.close()


@pytest.fixture(scope="module")
def arm() -> pz.Model:
    return pz.load("panda")


@pytest.fixture(scope="module")
def files(arm: pz.Model, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """What is exported of a Panda."""
    folder, task = tmp_path_factory.mktemp("files"), pz.PoseTask("panda_hand")
    made: dict[str, Any] = {
        "solver": pz.Solver(arm, task),
        "nearest": pz.Solver(arm, task, max_restarts=0),
        "tracker": pz.Tracker(arm, task, dt=0.01, updates=3),
    }
    paths = {name: folder / f"{name}.poise" for name in made}
    for name, one in made.items():
        one.export(paths[name])
    return paths


@pytest.fixture(scope="module")
def humanoid() -> pz.Model:
    """A G1 of which the arms alone move."""
    robot = pz.load("g1")
    arms = ("shoulder", "elbow", "wrist")
    return robot.lock({name: 0.0 for name in robot.coordinates if not any(part in name for part in arms)})


HANDS = ("left_rubber_hand", "right_rubber_hand")


@pytest.fixture(scope="module")
def both(humanoid: pz.Model, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("files") / "both.poise"
    pz.Solver(humanoid, [pz.PoseTask(hand) for hand in HANDS]).export(file)
    return file


def ros(pose: pz.SE3) -> Array:
    """x y z, then x y z w."""
    return np.concatenate([pose.xyz, pose.rotation.xyzw])


def plan(
    host: Host, model: pz.Model, file: Path | str, *tips: str, base: str = "panda_link0", **parameters: Any
) -> int:
    """Let MoveIt load the plug-in for a group of all joints of a model."""
    host("root", model.frames[0])
    for name, lower, upper in zip(model.coordinates, model.lower, model.upper, strict=True):
        host("joint", name, lower, upper)
    for name, value in {"poise_file": file, **parameters}.items():
        host("parameter", name, *(value if isinstance(value, list | tuple) else [value]))
    return int(host("initialize", base, *tips)[0])


def near(model: pz.Model, q: Array, by: float, seed: int) -> Array:
    rng = np.random.default_rng(seed)
    return np.clip(q + rng.uniform(-by, by, q.shape), model.lower, model.upper)


def test_a_search_finds_what_python_finds(host: Host, arm: pz.Model, files: dict[str, Path]) -> None:
    assert plan(host, arm, files["solver"], "panda_hand")
    solver, hand = pz.Solver(arm, pz.PoseTask("panda_hand")), "panda_hand"
    for seed, q in enumerate(arm.sample(20, seed=1)):
        q0 = near(arm, q, 0.5, seed)
        code, found = host.numbers("search", 7, ros(arm.pose(hand, q)), q0)
        assert code == SUCCESS
        np.testing.assert_allclose(found, solver(arm.pose(hand, q), q0).q, atol=1e-6)
        assert arm.pose(hand, found).isclose(arm.pose(hand, q), atol=1e-5)


def test_one_that_is_not_to_search_starts_from_the_seed_alone(
    host: Host, arm: pz.Model, files: dict[str, Path]
) -> None:
    assert plan(host, arm, files["solver"], "panda_hand", nearest_file=files["nearest"])
    solver = pz.Solver(arm, pz.PoseTask("panda_hand"), max_restarts=0)
    codes = set()
    for q, q0 in zip(arm.sample(30, seed=2), arm.sample(30, seed=3), strict=True):
        code, found = host.numbers("get", 7, ros(arm.pose("panda_hand", q)), q0)
        solution = solver(arm.pose("panda_hand", q), q0)
        assert (code == SUCCESS) == solution.success
        if code == SUCCESS:
            np.testing.assert_allclose(found, solution.q, atol=1e-6)
        codes.add(code)
    assert codes == {SUCCESS, NO_IK_SOLUTION}


def test_without_a_file_of_its_own_it_refuses_what_other_starts_found(
    host: Host, arm: pz.Model, files: dict[str, Path]
) -> None:
    assert plan(host, arm, files["solver"], "panda_hand")
    solver = pz.Solver(arm, pz.PoseTask("panda_hand"))
    for q, q0 in zip(arm.sample(30, seed=2), arm.sample(30, seed=3), strict=True):
        code, found = host.numbers("get", 7, ros(arm.pose("panda_hand", q)), q0)
        search, _ = host.numbers("search", 7, ros(arm.pose("panda_hand", q)), q0)
        assert search == SUCCESS
        if code == SUCCESS:
            np.testing.assert_allclose(found, solver(arm.pose("panda_hand", q), q0).q, atol=1e-6)


def test_poses_of_several_tips_are_in_the_frame_of_the_base(host: Host, humanoid: pz.Model, both: Path) -> None:
    assert plan(host, humanoid, both, HANDS[1], base="torso_link", tips=HANDS)
    torso = humanoid.pose("torso_link", humanoid.home).inverse()
    assert not torso.isclose(pz.SE3.identity(), atol=1e-3)
    for seed, q in enumerate(humanoid.sample(5, seed=4)):
        q0 = near(humanoid, q, 0.3, seed)
        wishes = [torso @ humanoid.pose(hand, q) for hand in HANDS]
        numbers = np.concatenate([ros(wish) for wish in wishes])
        code, found = host.numbers("search", 14, numbers, q0)
        assert code == SUCCESS
        for hand, wish in zip(HANDS, wishes, strict=True):
            assert (torso @ humanoid.pose(hand, found)).isclose(wish, atol=1e-5)
            known, there = host.numbers("forward", hand, found)
            assert known
            np.testing.assert_allclose(there[:3], wish.xyz, atol=1e-5)
        assert host.numbers("get", 14, numbers, found)[0] == 1


def test_joints_are_carried_by_name(host: Host, arm: pz.Model, files: dict[str, Path]) -> None:
    """Whatever order a group has them in, with one that follows another and is unknown to poise."""
    host("root", "panda_link0")
    names = [*reversed(arm.coordinates)]
    for name in names:
        host("joint", name)
    host("mimic", "finger", "panda_joint3", 2.0, 0.1)
    host("parameter", "poise_file", files["solver"])
    assert host("initialize", "panda_link0", "panda_hand") == ["1"]
    assert host("names") == ["1", *names, "finger", "panda_hand", "panda_hand"]
    q = arm.sample(seed=5)
    pose = ros(arm.pose("panda_hand", q))
    code, found = host.numbers("search", 7, pose, near(arm, q, 0.1, 0)[::-1], 0.0)
    assert code == SUCCESS
    np.testing.assert_allclose(arm.pose("panda_hand", found[:7][::-1]).xyz, pose[:3], atol=1e-5)
    assert found[7] == 2.0 * found[names.index("panda_joint3")] + 0.1


def test_no_solution_is_farther_from_the_seed_than_asked(host: Host, arm: pz.Model, files: dict[str, Path]) -> None:
    assert plan(host, arm, files["solver"], "panda_hand", nearest_file=files["nearest"])
    most = np.linspace(0.2, 0.5, arm.nq)
    host("consistency", most)
    for seed, q in enumerate(arm.sample(30, seed=6)):
        q0 = np.clip(q + np.random.default_rng(seed).uniform(-most, most), arm.lower, arm.upper)
        code, found = host.numbers("search", 7, ros(arm.pose("panda_hand", q)), q0)
        assert code == SUCCESS
        assert (np.abs(found - q0) <= most).all()
        assert arm.pose("panda_hand", found).isclose(arm.pose("panda_hand", q), atol=1e-5)
    host("timeout", 0.02)
    host("consistency", np.full(arm.nq, 1e-3))
    q, other = arm.sample(2, seed=7)
    assert host.numbers("search", 7, ros(arm.pose("panda_hand", q)), other)[0] == TIMED_OUT


def test_redundant_joints_stay_where_the_seed_has_them(host: Host, arm: pz.Model, files: dict[str, Path]) -> None:
    assert plan(host, arm, files["solver"], "panda_hand", nearest_file=files["nearest"])
    assert host("redundant", 7) == ["0"]
    assert host("redundant", 2) == ["1"]
    for seed, q in enumerate(arm.sample(20, seed=8)):
        q0 = near(arm, q, 1.0, seed)
        q0[2] = q[2]
        code, found = host.numbers("search", 7, ros(arm.pose("panda_hand", q)), q0)
        assert code == SUCCESS
        assert found[2] == q[2]
        assert arm.pose("panda_hand", found).isclose(arm.pose("panda_hand", q), atol=1e-5)


def test_the_limits_of_moveit_hold_beside_those_of_the_file(host: Host, arm: pz.Model, files: dict[str, Path]) -> None:
    smaller = arm.with_limits(dict.fromkeys(arm.coordinates[:3], (-1.0, 1.0)))
    assert plan(host, smaller, files["solver"], "panda_hand")
    for q, q0 in zip(smaller.sample(10, seed=9), arm.sample(10, seed=10), strict=True):
        code, found = host.numbers("search", 7, ros(arm.pose("panda_hand", q)), q0)
        assert code == SUCCESS
        assert ((smaller.lower <= found) & (found <= smaller.upper)).all()


def test_a_callback_has_other_solutions_to_choose_from(host: Host, arm: pz.Model, files: dict[str, Path]) -> None:
    assert plan(host, arm, files["solver"], "panda_hand")
    q = arm.sample(seed=11)
    asked = ("search", 7, ros(arm.pose("panda_hand", q)), q)
    _, first = host.numbers(*asked)
    host("refuse", 3)
    code, other = host.numbers(*asked)
    assert code == SUCCESS
    assert np.abs(other - first).max() > 1e-3
    assert arm.pose("panda_hand", other).isclose(arm.pose("panda_hand", q), atol=1e-5)
    host("refuse", 10**9)
    host("timeout", 0.02)
    assert host.numbers(*asked)[0] == TIMED_OUT


def test_out_of_reach_the_nearest_is_told_to_who_asks_for_it(host: Host, arm: pz.Model, files: dict[str, Path]) -> None:
    assert plan(host, arm, files["solver"], "panda_hand")
    far = ros(pz.SE3.from_xyz_rpy([2.0, 0.0, 0.5], [0, 0, 0]))
    host("timeout", 0.05)
    assert host.numbers("search", 7, far, arm.home)[0] in (TIMED_OUT, NO_IK_SOLUTION)
    host("approximate", 1)
    code, found = host.numbers("search", 7, far, arm.home)
    assert code == SUCCESS
    assert ((arm.lower <= found) & (found <= arm.upper)).all()
    assert arm.pose("panda_hand", found).xyz[0] > 0.5


def test_threads_find_the_same(host: Host, arm: pz.Model, files: dict[str, Path]) -> None:
    assert plan(host, arm, files["solver"], "panda_hand")
    q, q0 = arm.sample(2, seed=12)
    same, found = host.numbers("threads", 7, ros(arm.pose("panda_hand", q)), q0)
    assert same
    np.testing.assert_array_equal(found, host.numbers("search", 7, ros(arm.pose("panda_hand", q)), q0)[1])


def test_questions_of_a_wrong_size_are_no_solution(host: Host, arm: pz.Model, files: dict[str, Path]) -> None:
    assert plan(host, arm, files["solver"], "panda_hand")
    pose = ros(arm.pose("panda_hand", arm.home))
    assert host.numbers("search", 7, pose, arm.home[1:])[0] == NO_IK_SOLUTION
    assert host.numbers("search", 7, np.full(7, np.nan), arm.home)[0] == NO_IK_SOLUTION
    assert host.numbers("forward", "no_link", arm.home)[0] == 0


def test_a_file_that_does_not_fit_is_refused_with_a_reason(
    host: Host, arm: pz.Model, files: dict[str, Path], humanoid: pz.Model, both: Path, tmp_path: Path
) -> None:
    damaged = tmp_path / "damaged.poise"
    damaged.write_bytes(files["solver"].read_bytes()[:-8])
    cases = [
        ("", ["panda_hand"], "poise_file"),
        (tmp_path / "none", ["panda_hand"], "cannot be read"),
        (damaged, ["panda_hand"], "export it anew"),
        (files["tracker"], ["panda_hand"], "of a tracker"),
        (files["solver"], ["tool"], "no frame 'tool'"),
        (files["solver"], ["panda_hand", "panda_link4"], "of 1 tasks, but there are 2 tips"),
        (files["solver"], ["panda_link8"], "leads 'panda_hand'"),
        (both, ["panda_hand"], "no joint 'panda_joint1'"),
    ]
    plan(host, arm, files["solver"], "panda_hand")
    for file, tips, words in cases:
        host("parameter", "poise_file", file)
        assert host("initialize", "panda_link0", *tips) == ["0"], words
        assert words in host.complaint()
    host("parameter", "poise_file", files["solver"])
    assert host("initialize", "panda_link3", "panda_hand") == ["0"]
    assert "moved by 'panda_joint1'" in host.complaint()


def test_a_joint_that_the_group_lacks_moves_no_tip(host: Host, files: dict[str, Path]) -> None:
    host("root", "panda_link0")
    host("joint", "panda_joint1")
    host("parameter", "poise_file", files["solver"])
    assert host("initialize", "panda_link0", "panda_hand") == ["0"]
    assert "model.lock(panda_joint2=...)" in host.complaint()


def test_tips_stand_in_the_order_of_the_tasks(host: Host, humanoid: pz.Model, both: Path) -> None:
    assert not plan(host, humanoid, both, base="torso_link", tips=HANDS[::-1])
    assert "in this order" in host.complaint()


def control(host: Host, file: Path | str, **settings: Any) -> int:
    """Let a controller load the plug-in."""
    for name, value in {"poise_file": file, "tip": "panda_hand", "base": "panda_link0", **settings}.items():
        host("setting", name, *(value if isinstance(value, list | tuple) else [value]))
    return int(host("start")[0])


def moved(pose: pz.SE3, delta: Array) -> pz.SE3:
    turned = pz.SO3.from_rotvec(delta[3:]) @ pose.rotation
    return pz.SE3.from_parts(pose.xyz + delta[:3], turned)


def test_a_delta_is_a_step_of_the_tracker(host: Host, arm: pz.Model, files: dict[str, Path]) -> None:
    assert control(host, files["tracker"])
    tracker, q = pz.Tracker(arm, pz.PoseTask("panda_hand"), dt=0.01, updates=3), arm.home.copy()
    delta = np.array([2e-3, -1e-3, 1e-3, 0.01, 0.0, -0.005])
    for _ in range(20):
        known, change = host.numbers("step", "panda_hand", arm.nq, q, delta)
        assert known
        led = tracker.step(q, moved(arm.pose("panda_hand", q), delta))
        np.testing.assert_allclose(q + change, led, atol=1e-9)
        q = led
    back = host.numbers("back", "panda_hand", arm.nq, q, change)[1]
    np.testing.assert_allclose(back, delta, atol=1e-4)


def test_a_delta_of_a_link_is_that_of_the_tip_it_is_fixed_to(host: Host, arm: pz.Model, files: dict[str, Path]) -> None:
    assert control(host, files["tracker"])
    shift = np.array([1e-3, 0, 0, 0, 0, 0])
    tip = host.numbers("step", "panda_hand", arm.nq, arm.home, shift)
    assert control(host, files["tracker"])
    np.testing.assert_allclose(host.numbers("step", "panda_link8", arm.nq, arm.home, shift)[1], tip[1], atol=1e-9)
    assert host.numbers("step", "panda_link4", arm.nq, arm.home, shift)[0] == 0
    assert "fixed to no tip" in host.complaint()


def test_deltas_may_be_velocities(host: Host, arm: pz.Model, files: dict[str, Path]) -> None:
    shift = np.array([1e-3, 0, 0, 0, 0, 0.01])
    assert control(host, files["tracker"])
    step = host.numbers("step", "panda_hand", arm.nq, arm.home, shift)[1]
    assert control(host, files["tracker"], scale=0.01)
    rate = host.numbers("step", "panda_hand", arm.nq, arm.home, shift / 0.01)[1]
    np.testing.assert_allclose(rate, step / 0.01, atol=1e-9)


@pytest.mark.parametrize("lag", [0.2, 0.0])
def test_joints_that_were_measured_do_not_draw_the_command_after_them(
    lag: float, host: Host, arm: pz.Model, files: dict[str, Path], tmp_path: Path
) -> None:
    error = pz.FollowingErrorLimit(0.05, distance=0.02)
    tracker = pz.Tracker(arm, pz.PoseTask("panda_hand"), dt=0.01, updates=3, following_error=error)
    tracker.export(tmp_path / "tracker.poise")
    assert control(host, tmp_path / "tracker.poise", measured="true")
    measured, q, shift = arm.home.copy(), arm.home, np.array([0.01, 0.01, 0.0, 0.0, 0.0, 0.0])
    for _ in range(30):
        known, change = host.numbers("step", "panda_hand", arm.nq, measured, shift)
        assert known
        q = tracker.step(None, moved(arm.pose("panda_hand", measured), shift), measured=measured)
        np.testing.assert_allclose(measured + change, q, atol=1e-9)
        measured = measured + lag * (q - measured)
    assert np.abs(measured - q).max() > 1e-3


def test_joints_of_loops_that_a_controller_lacks_go_with_it(host: Host, tmp_path: Path) -> None:
    bar = four_bar()
    tracker = pz.Tracker(bar, pz.PoseTask("pen"), dt=0.01)
    tracker.export(tmp_path / "bar.poise")
    assert control(host, tmp_path / "bar.poise", tip="pen", base="base")
    q = Carried(tmp_path / "bar.poise").numbers("home")
    for _ in range(30):
        shift = np.array([0.0, 0.002, 0.0, 0.0, 0.0, 0.0])
        known, change = host.numbers("step", "pen", 2, q[:2], shift)
        assert known
        led = tracker.step(q, moved(bar.pose("pen", q), shift))
        np.testing.assert_allclose(q[:2] + change, led[:2], atol=1e-9)
        assert gap(bar, led) < 1e-7
        q = led
    known, _ = host.numbers("step", "pen", 2, q[:2] + 0.5, shift)
    assert not known
    assert "loops are farther open" in host.complaint()


def test_no_delta_leads_beyond_limits_or_faster_than_the_joints_go(
    host: Host, arm: pz.Model, files: dict[str, Path]
) -> None:
    assert control(host, files["tracker"])
    q, away = arm.home.copy(), np.array([0.05, 0, 0.05, 0, 0.1, 0])
    for _ in range(300):
        known, change = host.numbers("step", "panda_hand", arm.nq, q, away)
        assert known
        assert (np.abs(change) <= 0.01 * arm.velocity + 1e-12).all()
        q = q + change
        assert ((arm.lower - 1e-12 <= q) & (q <= arm.upper + 1e-12)).all()


def test_what_a_controller_reads_is_what_python_says(host: Host, arm: pz.Model, files: dict[str, Path]) -> None:
    names = arm.coordinates[::-1]
    assert control(host, files["tracker"], joints=names)
    q = arm.sample(seed=13)
    there = host.numbers("transform", "panda_link5", arm.nq, q[::-1])[1].reshape(4, 4)
    np.testing.assert_allclose(there, arm.pose("panda_link5", q).matrix(), **LIMITS)
    jacobian = arm.jacobian("panda_hand", q)[:, ::-1]
    found = host.numbers("columns", "panda_hand", arm.nq, q[::-1])[1].reshape(6, 7)
    np.testing.assert_allclose(found, jacobian, **LIMITS)
    inverse = np.linalg.solve(jacobian.T @ jacobian + 5e-6 * np.eye(7), jacobian.T)
    found = host.numbers("inverse", "panda_hand", arm.nq, q[::-1])[1].reshape(7, 6)
    np.testing.assert_allclose(found, inverse, atol=1e-7)
    before, delta = pz.SE3.from_xyz_rpy([0.1, 0.2, 0.3], [1, 2, 3]), np.array([0.1, 0, -0.1, 0.2, 0.3, 0.1])
    rate = host.numbers("difference", ros(before), ros(moved(before, delta)), 0.5)
    np.testing.assert_allclose(rate[1], 2.0 * delta, **LIMITS)
    assert host.numbers("difference", ros(before), ros(before), 0.0)[0] == 0


def test_a_tracker_that_does_not_fit_is_refused_with_a_reason(host: Host, files: dict[str, Path]) -> None:
    assert not control(host, files["solver"])
    assert "export a Tracker" in host.complaint()
    assert not control(host, files["tracker"], tip="panda_link8")
    assert "leads 'panda_hand'" in host.complaint()
    assert not control(host, files["tracker"], tip="panda_hand", joints=["panda_joint1"])
    assert "which the group lacks" in host.complaint()


def test_the_configuration_of_the_panda_finds_its_file_by_package(
    program: Path, arm: pz.Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / "share" / "poise_kinematics"
    shutil.copytree(ROOT / "ros2" / "poise_kinematics" / "config", installed / "config")
    index = tmp_path / "share" / "ament_index" / "resource_index" / "packages"
    index.mkdir(parents=True)
    (index / "poise_kinematics").touch()
    pz.Solver(arm, pz.PoseTask("panda_link8")).export(installed / "config" / "panda" / "arm.poise")
    read = yaml.safe_load((installed / "config" / "panda" / "kinematics.yaml").read_text())["panda_arm"]

    monkeypatch.setenv("AMENT_PREFIX_PATH", f"/nowhere:{tmp_path}")
    host = Host(program, tmp_path / "complaints")
    try:
        assert plan(host, arm, read["poise_file"], "panda_link8")
        goal = arm.pose("panda_link8", arm.home)
        code, found = host.numbers("search", 7, ros(goal), arm.home)
        assert code == SUCCESS
        assert arm.pose("panda_link8", found).isclose(goal, atol=1e-6)
        for named, words in (
            ("package://no_such_package/arm.poise", "no package 'no_such_package' is installed"),
            ("package://poise_kinematics", "write package://PACKAGE/PATH"),
            ("package:///arm.poise", "write package://PACKAGE/PATH"),
            ("package://poise_kinematics/config/none.poise", "cannot be read"),
        ):
            host("parameter", "poise_file", named)
            assert host("initialize", "panda_link0", "panda_link8") == ["0"]
            assert words in host.complaint()
        assert not control(host, read["poise_file"], tip="panda_link8")
        assert "export a Tracker" in host.complaint()  # it was found, and is a solver
    finally:
        host.close()

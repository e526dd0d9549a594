"""A Solver, a Tracker and what they answer, shared by threads, sent to processes, copied."""

import copy
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from independent import fk, pose_error

import poise as pz
from poise.methods.registry import METHODS

Array = npt.NDArray[np.float64]
HAND = "panda_hand"
PANDA = pz.load("panda")
STARTS = PANDA.sample(64, seed=1)
POSES = [PANDA.pose(HAND, q) for q in PANDA.sample(64, seed=2)]


def right(solution: pz.Solution, target: pz.SE3) -> bool:
    """Whether an independent forward kinematics finds the hand where a solved answer says."""
    error = pose_error(fk(PANDA, HAND, solution.q), target.matrix())
    return not solution.success or max(error) < 2e-6


# Threads ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [2, 8])
@pytest.mark.parametrize("method", [None, "dls", "sdls", "lm"])
def test_threads_that_share_a_solver_get_what_one_alone_gets(threads: int, method: str | None) -> None:
    solver = pz.Solver(PANDA, pz.PoseTask(HAND), method=method, max_restarts=4, max_iterations=40)
    alone = [solver(target, q) for target, q in zip(POSES, STARTS, strict=True)]
    together = threading.Barrier(threads)

    def work(thread: int) -> list[tuple[int, pz.Solution]]:
        together.wait()
        order = np.random.default_rng(thread).permutation(len(POSES))
        return [(int(i), solver(POSES[i], STARTS[i])) for i in order]

    with ThreadPoolExecutor(threads) as pool:
        for found in pool.map(work, range(threads)):
            for i, solution in found:
                np.testing.assert_array_equal(solution.q, alone[i].q)
                assert solution.status is alone[i].status
                assert right(solution, POSES[i])


def test_an_old_answer_can_be_explained_while_others_are_found() -> None:
    solver = pz.Solver(PANDA, pz.PoseTask(HAND))
    far = solver(pz.SE3.from_parts([3.0, 0.0, 0.5]))
    sentence, stop = far.explain(), threading.Event()

    def talk() -> int:
        count = 0
        while not stop.is_set():
            assert far.explain() == sentence
            count += 1
        return count

    with ThreadPoolExecutor(1) as pool:
        talking = pool.submit(talk)
        expected = [solver(target, q).q for target, q in zip(POSES, STARTS, strict=True)]
        for _ in range(3):
            for target, q, answer in zip(POSES, STARTS, expected, strict=True):
                np.testing.assert_array_equal(solver(target, q).q, answer)
        stop.set()
        assert talking.result() > 0


def test_a_tracker_refuses_a_second_thread_and_goes_on_in_the_first() -> None:
    slow = pz.Tracker(PANDA, pz.PoseTask(HAND), updates=200_000)
    busy = threading.Thread(target=lambda: slow.step(PANDA.home, POSES[0]))
    busy.start()

    def push_in() -> None:
        while busy.is_alive():
            slow.aim(POSES[1])

    with pytest.raises(RuntimeError, match=r"another thread is in this Tracker.*make one for each thread"):
        push_in()
    busy.join()
    quick = pz.Tracker(PANDA, pz.PoseTask(HAND))
    first = quick.step(PANDA.home, POSES[0]).copy()
    quick.reset()
    with ThreadPoolExecutor(1) as pool:  # one thread after the other is fine
        np.testing.assert_array_equal(pool.submit(quick.step, PANDA.home, POSES[0]).result(), first)


def test_a_search_is_bounded_whatever_its_memory_holds() -> None:
    rng = np.random.default_rng(0)
    solver = pz.Solver(PANDA, pz.PoseTask(HAND))
    solver(POSES[0], STARTS[0])
    (scratch,) = solver._search.bound.idle
    for fill in (np.nan, np.inf, -np.inf, 1e300, 0.0, None):
        for work in (scratch.narrow, scratch.wide):
            assert work is not None
            work[...] = rng.normal(size=work.shape) * 10.0 ** rng.integers(-300, 300) if fill is None else fill
        again = solver(POSES[0], STARTS[0])
        assert right(again, POSES[0])
        assert again.success


# Copies ----------------------------------------------------------------------------------------------------------


def arrived(thing: Any) -> list[Any]:
    return [copy.deepcopy(thing), *(pickle.loads(pickle.dumps(thing, protocol)) for protocol in (2, 5))]


@pytest.mark.parametrize("method", [None, *METHODS])
def test_a_solver_arrives_and_solves_alike(method: str | None) -> None:
    limits = method is None or METHODS[method].capabilities.limits
    positions = method is not None and METHODS[method].capabilities.tasks == "positions"
    task, target = (pz.PositionTask(HAND), POSES[0].xyz) if positions else (pz.PoseTask(HAND), POSES[0])
    solver = pz.Solver(PANDA, task, method=method, limits=limits, max_restarts=2, max_iterations=20)
    expected = solver(target, STARTS[0])
    for other in arrived(solver):
        found = other(target, STARTS[0])
        np.testing.assert_array_equal(found.q, expected.q)
        assert found.explain() == expected.explain()


def test_a_solution_arrives_as_plain_numbers_that_explain_themselves() -> None:
    solver = pz.Solver(PANDA, [pz.PoseTask(HAND), pz.PostureTask()])
    for target in (POSES[0], pz.SE3.from_parts([3.0, 0.0, 0.5])):
        solution = solver([target, PANDA.home])
        for other in arrived(solution):
            np.testing.assert_array_equal(other.q, solution.q)
            assert other.errors == solution.errors
            assert (other.explain(), repr(other)) == (solution.explain(), repr(solution))


def test_a_tracker_arrives_with_its_past() -> None:
    tracker = pz.Tracker(PANDA, pz.PoseTask(HAND), "lm")
    q = PANDA.home
    for _ in range(3):
        q = tracker.step(q, POSES[0]).copy()
    others = arrived(tracker)
    on = tracker.step(q).copy()
    for other in others:
        np.testing.assert_array_equal(other.step(q), on)


@pytest.mark.parametrize("change", ["nothing", "a place", "a size", "a shape more"])
@pytest.mark.parametrize("explore", [False, True])
def test_a_copy_among_obstacles_goes_on_to_the_bit_and_leaves_the_original_alone(change: str, explore: bool) -> None:
    arm, world = pz.load("panda_collision"), pz.World({"ball": pz.Sphere((0.5, 0.1, 0.5), 0.1)})
    limits = [pz.CollisionLimit(world), pz.AccelerationLimit(10.0), pz.JerkLimit(200.0)]
    there, then = (arm.pose(HAND, q) for q in arm.sample(40, seed=5)[[3, 7]])
    q = pz.solve(arm, [pz.PositionTask(HAND, [0.4, 0.1, 0.5]), pz.PostureTask(arm.home)], limits=limits[:1]).q
    tracker = pz.Tracker(
        arm, pz.PoseTask(HAND), dt=0.01, limits=limits, explore=explore, following_error=pz.FollowingErrorLimit(0.1)
    )
    for _ in range(30):
        q = tracker.step(q, there, measured=q - 0.08 if explore else None)
    if change == "a place":
        world.move("ball", pz.SE3.from_parts((0.5, 0.15, 0.5)), velocity=(0.0, 0.1, 0.0))
    elif change == "a size":
        world.replace("ball", pz.Sphere((0.5, 0.1, 0.5), 0.12))
    elif change == "a shape more":
        world.add("post", pz.Sphere((0.3, 0.3, 0.5), 0.08))
    others = [copy.copy(tracker), *arrived(tracker)]
    assert all(other.active_limits == tracker.active_limits for other in others)
    ways = np.tile(q, (len(others) + 1, 61, 1))
    for way, one in zip(ways, (*others, tracker), strict=True):
        for k in range(60):
            way[k + 1] = one.step(way[k], then)
    for way in ways:
        np.testing.assert_array_equal(way, ways[-1])


def test_a_copy_of_a_tracker_goes_on_where_it_is_and_leaves_off_for_it() -> None:
    tracker = pz.Tracker(PANDA, pz.PoseTask(HAND), dt=0.01, limits=[pz.AccelerationLimit(10.0)])
    q = PANDA.home
    for _ in range(10):
        q = tracker.step(q, POSES[0])
    there = copy.copy(tracker)
    assert there.model is tracker.model
    other = pz.Tracker(PANDA, pz.PoseTask(HAND), dt=0.01, limits=[pz.AccelerationLimit(10.0)])
    other.take_over(there)
    np.testing.assert_array_equal(other.step(None, POSES[1]), tracker.step(q, POSES[1]))


def test_a_tracker_that_was_reset_among_obstacles_steps_like_a_new_one() -> None:
    arm, world = pz.load("panda_collision"), pz.World({"ball": pz.Sphere((0.5, 0.1, 0.5), 0.1)})
    limits = [pz.CollisionLimit(world), pz.AccelerationLimit(10.0), pz.JerkLimit(200.0)]
    there, then = (arm.pose(HAND, q) for q in arm.sample(8, seed=1)[[3, 5]])
    q = pz.solve(arm, [pz.PositionTask(HAND, [0.4, 0.1, 0.5]), pz.PostureTask(arm.home)], limits=limits[:1]).q
    used, new = (pz.Tracker(arm, pz.PoseTask(HAND), dt=0.01, limits=limits) for _ in range(2))
    for _ in range(30):
        q = used.step(q, there)
    used.reset()
    ways = np.tile(q, (2, 41, 1))
    for way, one in zip(ways, (used, new), strict=True):
        for k in range(40):
            way[k + 1] = one.step(way[k], then)
    np.testing.assert_array_equal(*ways)


# Processes -------------------------------------------------------------------------------------------------------


def solve_one(asked: tuple[pz.Solver, pz.SE3, Array]) -> pz.Solution:
    solver, target, q0 = asked
    return solver(target, q0)


@pytest.mark.parametrize("way", ["spawn", "forkserver"])
def test_solvers_and_solutions_go_to_processes_and_come_back(way: str) -> None:
    solver = pz.Solver(PANDA, pz.PoseTask(HAND))
    asked = [(solver, POSES[i], STARTS[i]) for i in range(4)]
    with multiprocessing.get_context(way).Pool(1) as pool:
        for found, (_, target, q0) in zip(pool.map_async(solve_one, asked).get(120), asked, strict=True):
            np.testing.assert_array_equal(found.q, solver(target, q0).q)


ANOTHER = """
import poise as pz
try:
    import _interpreters as interpreters
except ModuleNotFoundError:
    import _xxsubinterpreters as interpreters
arm = pz.load("panda")
solver = pz.Solver(arm, pz.PoseTask("panda_hand"))
target = arm.pose("panda_hand", arm.sample(seed=1))
expected = solver(target).q.tolist()
try_it = "try: import poise\\nexcept ImportError: print('refused')\\nelse: print('taken')"
another = interpreters.create()
interpreters.run_string(another, try_it)
interpreters.destroy(another)
assert solver(target).q.tolist() == expected
"""


@pytest.mark.skipif(
    not any(map(find_spec, ("_interpreters", "_xxsubinterpreters"))), reason="this Python has one interpreter"
)
def test_a_second_interpreter_of_a_process_hurts_no_first_one() -> None:
    """NumPy takes one of a process, and refuses all others."""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", ANOTHER], check=True, timeout=120, capture_output=True)
    assert done.stdout in (b"refused\n", b"taken\n")


FORKED = """
import os, threading, poise as pz
arm = pz.load("panda")
solver = pz.Solver(arm, pz.PoseTask("panda_hand"))
target = arm.pose("panda_hand", arm.sample(seed=1))
expected = solver(target).q.tolist()
stop = threading.Event()
threading.Thread(target=lambda: [solver(target) for _ in iter(stop.is_set, True)]).start()
child = os.fork()
if child == 0:
    os._exit(0 if solver(target).q.tolist() == expected else 1)
status = os.waitpid(child, 0)[1]
stop.set()
raise SystemExit(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_fork_while_another_thread_solves_leaves_a_child_that_solves() -> None:
    subprocess.run([sys.executable, "-W", "ignore", "-c", FORKED], check=True, timeout=120)


FORKED_WHILE_PREPARING = """
import itertools, os, signal, threading, time, poise as pz
arm = pz.load("panda")
pz.Solver(arm, pz.PositionTask("panda_hand", [0.3, 0.0, 0.5]))()
stop = threading.Event()
def prepare():
    for i in itertools.takewhile(lambda _: not stop.is_set(), itertools.count(1)):
        pz.Solver(arm, pz.PositionTask("panda_hand", [0.3, 0.0, 0.5], weight=1 + i * 1e-6))()
threads = [threading.Thread(target=prepare) for _ in range(2)]
for thread in threads:
    thread.start()
ended = []
for k in range(20):
    time.sleep(0.003)
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        pz.Solver(arm, pz.PositionTask("panda_hand", [0.3, 0.0, 0.5], weight=3 + k * 0.1))()
        os._exit(0)
    ended.append(os.waitpid(child, 0)[1])
stop.set()
raise SystemExit(any(ended))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_fork_while_other_threads_prepare_leaves_a_child_that_prepares() -> None:
    subprocess.run([sys.executable, "-W", "ignore", "-c", FORKED_WHILE_PREPARING], check=True, timeout=300)


# What is started in the background by a shell ignores SIGINT, unless it says otherwise.
INTERRUPTED = """
import signal, poise as pz
signal.signal(signal.SIGINT, signal.default_int_handler)
arm = pz.load("panda")
solver = pz.Solver(arm, pz.PoseTask("panda_hand"), max_restarts=10**9)
try:
    print("ready", flush=True)
    solver(pz.SE3.from_parts([3.0, 0.0, 0.5]))
except KeyboardInterrupt:
    print("heard", flush=True)
    near = solver(arm.pose("panda_hand", arm.sample(seed=1)))
    print(near.success, flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals are others there")
def test_a_long_search_hears_ctrl_c_and_the_solver_can_be_used_again() -> None:
    with subprocess.Popen([sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        try:
            out, _ = process.communicate(timeout=60)
        finally:
            process.kill()
        assert out == "heard\nTrue\n"


# What is given ---------------------------------------------------------------------------------------------------


def test_any_kind_of_array_is_a_start() -> None:
    solver, tracker = pz.Solver(PANDA, pz.PoseTask(HAND)), pz.Tracker(PANDA, pz.PoseTask(HAND))
    q = STARTS[0].astype(np.float32).astype(np.float64)
    expected = solver(POSES[0], q).q
    step = tracker.step(q, POSES[0]).copy()
    frozen, strided = q.copy(), np.zeros((7, 2))
    frozen.flags.writeable = False
    strided[:, 0] = q
    for given in (frozen, strided[:, 0], q.astype(np.float32), q.tolist(), tuple(q)):
        np.testing.assert_array_equal(solver(POSES[0], given).q, expected)
        tracker.reset()
        np.testing.assert_array_equal(tracker.step(given, POSES[0]), step)


def test_a_step_that_is_no_number_is_warned_of_once() -> None:
    b, out = pz.ModelBuilder("turret"), pz.SE3.from_parts([1.0, 0.0, 0.0])
    b.joint("turn", "revolute", parent="base", child="a")
    b.joint("lift", "revolute", parent="a", child="b", axis=[0.0, 1.0, 0.0])
    b.joint("bend", "revolute", parent="b", child="c", axis=[0.0, 1.0, 0.0], origin=out)
    b.frame("tool", link="c", origin=out)
    tracker = pz.Tracker(b.build(), pz.PositionTask("tool"), pz.methods.Pseudoinverse(form="rows"))
    with pytest.warns(RuntimeWarning, match=r"no finite number.*damp the method"):
        q = tracker.step(np.zeros(3), [0.5, 0.4, 0.3])  # stretched
    assert tracker.failed
    np.testing.assert_array_equal(q, 0.0)
    tracker.step(np.zeros(3))  # a second warning would be an error
    assert tracker.failed


@pytest.mark.parametrize("method", [None, "lm", "dls"])
def test_an_answer_is_the_nearest_turn(method: str | None) -> None:
    model = pz.load("planar2")  # without limits
    for turns in (-3, 0, 2):
        q0 = np.array([0.3 + 2.0 * np.pi * turns, 0.9])
        found = pz.solve(model, pz.PositionTask("tool", [0.3, 1.2, 0.0]), q0=q0, method=method)
        assert found.success
        assert np.abs(found.q - q0).max() <= np.pi + 1e-9

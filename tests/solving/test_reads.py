"""Functions of a user's that read what is around them: no answer is that of numbers which are no longer so."""

import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any, ClassVar

import numba
import numpy as np
import pytest
from support.registered import for_a_while

import poise as pz
from poise.common.array import Array
from poise.kernels.machine.reads import Reads
from poise.own import Capabilities, Method, load, method, store

ARM = pz.load("planar2")
HEIGHT = 0.5
NUMBERS = np.array([0.5, 0.0])
PLACES = (0.5, np.array([0.1]))
settings = ModuleType("settings")
settings.HEIGHT = 0.5  # type: ignore[attr-defined]
SHARE = 0.5


@numba.njit  # type: ignore[untyped-decorator]
def height() -> float:
    return HEIGHT


@numba.njit  # type: ignore[untyped-decorator]
def deep() -> float:
    return height()  # type: ignore[no-any-return]


@dataclass(frozen=True, kw_only=True)
class OfTool(pz.Task):
    """Something about the arm's tool; what, is for those that follow."""

    frame: str = "tool"
    unit = "m"


class AtNumber(OfTool):
    def residual(frames: Any, numbers: Any, out: Any) -> None:  # type: ignore[misc]
        out[0] = frames[0, 1] - HEIGHT


class AtEntry(OfTool):
    def residual(frames: Any, numbers: Any, out: Any) -> None:  # type: ignore[misc]
        out[0] = frames[0, 1] - NUMBERS[0]


class AtTuple(OfTool):
    def residual(frames: Any, numbers: Any, out: Any) -> None:  # type: ignore[misc]
        out[0] = frames[0, 1] - PLACES[0] - 0.0 * PLACES[1][0]


class AtAttribute(OfTool):
    def residual(frames: Any, numbers: Any, out: Any) -> None:  # type: ignore[misc]
        out[0] = frames[0, 1] - settings.HEIGHT


class AtHelper(OfTool):
    def residual(frames: Any, numbers: Any, out: Any) -> None:  # type: ignore[misc]
        out[0] = frames[0, 1] - deep()


class InLanes(OfTool):
    lanes = True

    def residual(frames: Any, numbers: Any, out: Any) -> None:  # type: ignore[misc]
        store(out, 0, load(frames, 1) - HEIGHT)


@dataclass(frozen=True, kw_only=True)
class Alone(OfTool):
    """It reads nothing around it."""

    height: float = 0.5

    def residual(frames: Any, numbers: Any, out: Any) -> None:  # type: ignore[misc]
        out[0] = np.abs(frames[0, 1] - numbers[0])


def in_cell() -> tuple[pz.Task, Any]:
    where = 0.5

    def put(value: float) -> None:
        nonlocal where
        where = value

    class AtCell(OfTool):
        def residual(frames: Any, numbers: Any, out: Any) -> None:  # type: ignore[misc]
            out[0] = frames[0, 1] - where

    return AtCell(), put


def put_height(value: float) -> None:
    global HEIGHT
    HEIGHT = value


def put_entry(value: float) -> None:
    NUMBERS[0] = value


def put_tuple(value: float) -> None:
    global PLACES
    PLACES = (value, PLACES[1])


def put_attribute(value: float) -> None:
    settings.HEIGHT = value  # type: ignore[attr-defined]


WAYS = {
    "a global": lambda: (AtNumber(), put_height),
    "an entry of an array": lambda: (AtEntry(), put_entry),
    "a tuple": lambda: (AtTuple(), put_tuple),
    "an attribute of a module": lambda: (AtAttribute(), put_attribute),
    "a global of a function of Numba's": lambda: (AtHelper(), put_height),
    "in lanes": lambda: (InLanes(), put_height),
    "a cell": in_cell,
}


@pytest.fixture(autouse=True)
def as_before() -> Any:
    yield
    for put in (put_height, put_entry, put_tuple, put_attribute):
        put(0.5)


def heights(q: Array) -> Any:
    return ARM.pose("tool", q).xyz[..., 1]


@pytest.mark.parametrize("way", WAYS)
def test_solve_reads_what_is_there_now_and_what_was_prepared_says_that_it_does_not(way: str) -> None:
    task, put = WAYS[way]()
    q0 = [0.3, 0.4]
    assert heights(pz.solve(ARM, task, q0=q0).q) == pytest.approx(0.5, abs=1e-5)
    solver, tracker = pz.Solver(ARM, task), pz.Tracker(ARM, task)
    solver(None, q0), tracker.step(q0)
    put(0.8)
    found = pz.solve(ARM, task, q0=q0)
    assert heights(found.q) == pytest.approx(0.8, abs=1e-5)
    assert found.success
    assert heights(pz.solve_batch(ARM, task, q0=[q0, q0]).q) == pytest.approx(0.8, abs=1e-5)
    for call in (
        lambda: solver(None, q0),
        lambda: solver.batch(q0=[q0]),
        lambda: tracker.step(q0),
        lambda: tracker.rollout(np.array(q0), np.zeros((3, 1, 7))),
    ):
        with pytest.raises(RuntimeError, match=r"(HEIGHT|NUMBERS|PLACES|where) in .* was|is not what it was"):
            call()
    assert heights(pz.Solver(ARM, task)(None, q0).q) == pytest.approx(0.8, abs=1e-5)
    put(0.5)
    assert heights(pz.solve(ARM, task, q0=q0).q) == pytest.approx(0.5, abs=1e-5)
    assert solver(None, q0).success
    tracker.step(q0)


def test_the_message_says_what_was_and_what_is_and_the_way_out() -> None:
    solver = pz.Solver(ARM, AtNumber())
    put_height(0.8)
    with pytest.raises(RuntimeError, match=r"HEIGHT in AtNumber\.residual was 0\.5, and is 0\.8; .* field of the task"):
        solver()


def test_all_solutions_are_those_of_now() -> None:
    task = AtNumber()
    for value in (0.5, 0.8):
        put_height(value)
        for branch in pz.solve_all(ARM, task, samples=2):
            assert heights(branch.q) == pytest.approx(value, abs=1e-5)


@pytest.fixture
def registered() -> Iterator[None]:
    """Other tests go through all methods."""
    with for_a_while():
        yield


def of_height() -> Any:
    def value(q: Array) -> float:
        return 0.5 * float(((q - HEIGHT) ** 2).sum())

    def gradient(q: Array, out: Array) -> None:
        for i in range(q.size):
            out[i] = q[i] - HEIGHT

    return pz.criteria.Potential(value, gradient)


@dataclass(frozen=True, kw_only=True)
class Part(Method):
    """Its kernel reads how large the part is."""

    name: ClassVar[str] = "part_of_the_way"
    title: ClassVar[str] = "A part of the way"
    capabilities: ClassVar[Capabilities] = Capabilities(characters=False)

    @staticmethod
    def update(p: Any, s: Any, w: Any) -> Any:
        for i in range(len(w.q)):
            store(w.q, i, load(w.q, i) + 0.1 * SHARE)
        return 1.0, 2.0


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("kind", ["criterion", "method"])
def test_a_criterion_and_a_method_of_ones_own_are_those_of_now_too(kind: str) -> None:
    global SHARE
    chosen = pz.methods.Pseudoinverse(null_space=of_height()) if kind == "criterion" else method(Part)()
    arm = pz.load("planar3")
    point, q0 = pz.PositionTask("tool", [1.5, 0.5, 0.0]), np.array([0.2, 0.5, 0.4])
    before = pz.Tracker(arm, point, chosen)
    first = before.step(q0)
    put_height(0.1)
    SHARE = 0.25
    try:
        with pytest.raises(RuntimeError, match="was"):
            before.step(q0)
        second = pz.Tracker(arm, point, chosen).step(q0)
    finally:
        SHARE = 0.5
    assert np.abs(second - first).max() > 1e-4
    if kind == "method":
        np.testing.assert_allclose(second - q0, 0.5 * (first - q0), rtol=1e-9)


def test_it_goes_on_in_another_process_with_what_is_there() -> None:
    solver = pz.Solver(ARM, AtNumber())
    put_height(0.8)
    assert heights(pickle.loads(pickle.dumps(solver))().q) == pytest.approx(0.8, abs=1e-5)


def test_who_reads_nothing_is_not_looked_at() -> None:
    assert not Reads(*Alone.functions())
    still = np.array([0.5])
    still.flags.writeable = False

    def frozen() -> Any:
        return still

    reads = Reads(frozen)
    assert reads
    assert reads.changed() is None


@pytest.mark.parametrize(
    ("one", "other"),
    [(1, 1.0), (True, 1), (0.0, -0.0), (np.zeros(2), np.zeros((2, 1))), (np.zeros(2), np.zeros(2, np.float32))],
)
def test_what_is_compiled_differently_is_not_the_same(one: Any, other: Any) -> None:
    held: Any = one

    def reader() -> Any:
        return held

    reads = Reads(reader)
    held = other
    assert reads.changed() is not None
    assert reads != Reads(reader)
    held = one
    assert reads.changed() is None
    assert reads == Reads(reader)
    assert hash(reads) == hash(Reads(reader))


def test_nan_is_nan() -> None:
    held = float("nan")

    def reader() -> Any:
        return held

    reads = Reads(reader)
    held = float("nan")
    assert reads.changed() is None

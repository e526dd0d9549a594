"""Methods and damping rules from outside the library."""

import copy
import pickle
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import pytest
from support.refusals import refused
from support.registered import for_a_while

import poise as pz
from poise.own import (
    Capabilities,
    Damping,
    DampingRule,
    JacobianMethod,
    Method,
    back_substitute,
    damp,
    damping_rule,
    factor,
    gram,
    load,
    method,
    rule_of,
    splat,
    sqrt,
    squared,
    store,
    transpose_times,
)

ARM = pz.load("panda")
HAND = pz.PoseTask("panda_hand")


@dataclass(frozen=True)
class Proportional(DampingRule):
    """lambda^2 = gain |e|, never more than the square of `most`."""

    gain: float = 0.1
    most: float | None = None

    @staticmethod
    def lambda_squared(p: Any, s: Any, w: Any) -> Any:
        found = s.gain * sqrt(squared(w.clamped))
        return found if s.most > 1e300 else splat(w.e, s.most * s.most)


@dataclass(frozen=True, kw_only=True)
class Descent(JacobianMethod):
    """dq = scale gain J^T e, or damped least squares in own words."""

    name: ClassVar[str] = "own-descent"
    title: ClassVar[str] = "Descent"
    iterations: ClassVar[int] = 500
    form: Literal["gradient", "damped"] = "damped"
    gain: float = 0.1
    scale: int = 2
    doubled: bool = False
    damping: Damping = 0.1

    @property
    def rule(self) -> DampingRule:
        return rule_of(self.damping)

    @staticmethod
    def step(p: Any, s: Any, w: Any) -> None:
        if s.form == 0:
            factor_of_gain = s.gain * s.scale * (2.0 if s.doubled else 1.0)
            for a in range(len(w.step)):
                store(w.step, a, factor_of_gain * load(w.gradient, a))
        else:
            gram(p, len(w.e), w.jacobian, w.free, w.matrix)
            factor(len(w.e), damp(p, w), w.matrix)
            back_substitute(len(w.e), w.matrix, w.clamped, w.y)
            transpose_times(p, w.jacobian, w.y, w.step)
            for a in range(len(w.step)):
                store(w.step, a, load(w.step, a) * load(w.free, a))


@pytest.fixture(autouse=True, scope="module")
def registered() -> Iterator[None]:
    """The two above, for this file alone: other tests go through all methods and rules."""
    with for_a_while():
        damping_rule(Proportional), method(Descent)
        yield


def targets(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Starts (count, 7) and as many poses (count, 20, 1, 7) that each is led to."""
    q, there = ARM.sample(count, seed=1), ARM.sample(count, seed=2)
    poses = [np.tile(ARM.pose("panda_hand", x).array, (20, 1, 1)) for x in there]
    return q, np.stack(poses)


def test_settings_arrive_by_their_types() -> None:
    """The step is scale gain J^T e, twice that if doubled."""
    e, jacobian = pz.Solver(ARM, HAND, limits=False).linearise(
        ARM.home, target := ARM.pose("panda_hand", ARM.home + 0.1)
    )
    for doubled in (False, True):
        own = Descent(form="gradient", gain=0.05, scale=3, doubled=doubled)
        step = pz.Tracker(ARM, HAND, own, limits=False).step(ARM.home, target) - ARM.home
        np.testing.assert_allclose(step, (0.3 if doubled else 0.15) * jacobian.T @ e, rtol=0, atol=1e-12)


DAMPINGS = [0.1, Proportional(0.3), pz.damping.Curvature(0.2), pz.damping.ChanLawrence()]


@pytest.mark.parametrize("damping", DAMPINGS)
def test_own_damped_least_squares_is_the_library_s(damping: Any) -> None:
    q, way = targets(11)
    settings = {"damping": damping, "max_error": 0.2}
    own, theirs = Descent(**settings), pz.methods.DampedLeastSquares(form="rows", max_step=np.inf, **settings)
    for c in range(3):
        one = pz.Tracker(ARM, HAND, own).rollout(q[c], way[c])
        np.testing.assert_allclose(one, pz.Tracker(ARM, HAND, theirs).rollout(q[c], way[c]), rtol=0, atol=1e-9)


# All that is around a step is compiled for eight of a user's, which takes long.
@pytest.mark.slow
@pytest.mark.parametrize("damping", DAMPINGS)
def test_own_damped_least_squares_of_eight_is_that_of_each_alone(damping: Any) -> None:
    q, way = targets(11)
    own = Descent(damping=damping, max_error=0.2)
    many = pz.Tracker(ARM, HAND, own).rollout(q, way)
    for c in range(11):
        np.testing.assert_allclose(many[c], pz.Tracker(ARM, HAND, own).rollout(q[c], way[c]), rtol=0, atol=1e-9)


@dataclass(frozen=True, kw_only=True)
class Homing(Method):
    """A share of the way from q to the square of each of its numbers."""

    name: ClassVar[str] = "own-homing"
    title: ClassVar[str] = "Homing"
    share: float = 0.1

    @staticmethod
    def update(p: Any, s: Any, w: Any) -> Any:
        for i in range(len(w.q)):
            q = load(w.q, i)
            store(w.q, i, q + s.share * (q * q - q))
        return splat(w.q, 1.0), splat(w.q, 2.0)


def test_an_own_update_of_eight_is_that_of_each_alone() -> None:
    q, way = targets(11)
    with for_a_while():
        tracker = pz.Tracker(ARM, HAND, method(Homing)(share=0.2), limits=False)
        many = tracker.rollout(0.3 * q, way)
        for c in range(11):
            np.testing.assert_allclose(many[c], tracker.rollout(0.3 * q[c], way[c]), rtol=0, atol=1e-12)
        first = 0.3 * q + 0.2 * ((0.3 * q) ** 2 - 0.3 * q)
        np.testing.assert_allclose(many[:, 0], first, rtol=0, atol=1e-12)


def test_an_own_method_goes_by_its_name() -> None:
    assert pz.methods.METHODS["own-descent"] is Descent
    goal = replace(HAND, target=ARM.pose("panda_hand", ARM.home + 0.1))
    found = pz.solve(ARM, goal, q0=ARM.home, method="own-descent")
    assert found.success
    table = pz.compare(ARM, HAND, methods=["own-descent", Descent(damping=Proportional()), "dls"], count=4)
    assert [row.label for row in table.rows] == ["own-descent", f"own-descent(damping={Proportional()!r})", "dls"]
    assert not table.refused


@pytest.mark.parametrize("limit", [None, 0.3])
def test_an_own_rule_damps_as_it_says(limit: float | None) -> None:
    e, _ = pz.Solver(ARM, HAND).linearise(ARM.home, target := ARM.pose("panda_hand", ARM.home + 0.1))
    for form in ("rows", "columns", "svd", "qr"):
        own = pz.methods.DampedLeastSquares(damping=Proportional(0.2, limit), form=form, max_error=None)
        trace = pz.solve(
            ARM, replace(HAND, target=target), q0=ARM.home, method=own, max_iterations=1, max_restarts=0, trace=True
        ).trace
        assert trace is not None
        expected = 0.2 * np.linalg.norm(e) if limit is None else limit**2
        assert trace.damping[0] == pytest.approx(expected, rel=1e-12)


def downhill(gain: float) -> Any:
    def step(p: Any, s: Any, w: Any) -> None:
        for a in range(len(w.step)):
            store(w.step, a, s.share * gain * load(w.gradient, a))

    return step


def test_a_copy_keeps_its_kernel_and_its_settings_whoever_shares_them() -> None:
    target = ARM.pose("panda_hand", ARM.home + 0.1)
    with for_a_while():
        trackers = []
        for name, gain, first in (("a", 0.05, "share"), ("b", 0.2, "other")):
            body = {
                "name": f"own-{name}",
                "title": name,
                "step": staticmethod(downhill(gain)),
                first: 1.0,
                "share": 1.0,
            }
            hints = {"name": ClassVar[str], "title": ClassVar[str], first: float, "share": float}
            made = type(
                f"Downhill{name}", (JacobianMethod,), {**body, "__annotations__": hints, "__module__": __name__}
            )
            own = method(dataclass(frozen=True, kw_only=True)(made))
            trackers.append(pz.Tracker(ARM, HAND, own()))
        for tracker in trackers:
            other = copy.deepcopy(tracker)
            np.testing.assert_array_equal(other.step(ARM.home, target), tracker.step(ARM.home, target))


def test_a_kernel_that_is_inherited_reads_the_settings_of_its_class() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Tagged(Descent):
        name: ClassVar[str] = "own-tagged"
        tag: int = 7

    target = ARM.pose("panda_hand", ARM.home + 0.1)
    with for_a_while():
        tagged = pz.Tracker(ARM, HAND, method(Tagged)())
        np.testing.assert_array_equal(
            tagged.step(ARM.home, target), pz.Tracker(ARM, HAND, Descent()).step(ARM.home, target)
        )


def test_a_kernel_that_raises_is_refused() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Raising(JacobianMethod):
        name: ClassVar[str] = "own-raising"
        title: ClassVar[str] = "Raising"

        @staticmethod
        def step(p: Any, s: Any, w: Any) -> None:
            raise ValueError("no")

    with for_a_while(), pytest.raises(TypeError, match=r"Raising\.step raises.*let a step that fails be NaN"):
        method(Raising)


SPAWNED = """
import multiprocessing as mp
from dataclasses import dataclass
import poise as pz
from poise.own import DampingRule, damping_rule

@damping_rule
@dataclass(frozen=True)
class Fixed(DampingRule):
    g: float = 0.1

    @staticmethod
    def lambda_squared(p, s, w):
        return s.g

def use(solver):
    return solver().q.tolist()

if __name__ == "__main__":
    arm = pz.load("panda")
    goal = pz.PoseTask("panda_hand", arm.pose("panda_hand", arm.home + 0.1))
    solver = pz.Solver(arm, goal, method=pz.methods.DampedLeastSquares(damping=Fixed()))
    with mp.get_context("spawn").Pool(1) as pool:
        assert pool.apply_async(use, (solver,)).get(100) == use(solver)
"""


def test_what_the_main_program_defines_goes_to_its_processes(tmp_path: Path) -> None:
    pytest.importorskip("numba", reason="the program has a method of its own")
    (tmp_path / "program.py").write_text(SPAWNED)
    subprocess.run([sys.executable, "program.py"], cwd=tmp_path, check=True, timeout=200)


def test_a_routine_goes_into_a_pickle_by_name() -> None:
    """It is compiled anew where it arrives, so that what holds it can cross to another process."""
    for routine in (
        Descent.routine,
        Proportional.routine,
        pz.methods.JacobianTranspose.routine,
        pz.damping.Constant.routine,
    ):
        assert pickle.loads(pickle.dumps(routine)) is routine


def test_a_name_is_given_once_but_a_class_can_be_made_anew() -> None:
    with refused("duplicate", "'dls'"):

        @method
        @dataclass(frozen=True, kw_only=True)
        class Again(JacobianMethod):
            name: ClassVar[str] = "dls"
            title: ClassVar[str] = "Again"

            @staticmethod
            def step(p: Any, s: Any, w: Any) -> None:
                transpose_times(p, w.jacobian, w.clamped, w.step)

    def make(gain: float) -> type[Any]:
        @method
        @dataclass(frozen=True, kw_only=True)
        class Anew(JacobianMethod):
            name: ClassVar[str] = "own-anew"
            title: ClassVar[str] = "Anew"
            capabilities: ClassVar[Capabilities] = Capabilities(characters=False)

            @staticmethod
            def step(p: Any, s: Any, w: Any) -> None:
                for a in range(len(w.step)):
                    store(w.step, a, gain * load(w.gradient, a))

        return Anew

    target = ARM.pose("panda_hand", ARM.home + 0.1)
    steps = []
    for gain in (0.1, 0.2):
        kind = make(gain)
        assert pz.methods.METHODS["own-anew"] is kind
        steps.append(pz.Tracker(ARM, HAND, "own-anew").step(ARM.home, target) - ARM.home)
    np.testing.assert_allclose(steps[1], 2.0 * steps[0], rtol=1e-9)
    with refused("duplicate", "Constant"):
        damping_rule(dataclass(frozen=True)(type("Constant", (Proportional,), {})))


def test_what_is_no_method_or_rule_says_why() -> None:
    with refused("not-a-method"):
        method(dict)  # type: ignore[type-var]
    with refused("not-a-method", "Nameless"):
        method(dataclass(frozen=True)(type("Nameless", (JacobianMethod,), {})))
    with pytest.raises(TypeError, match="Still has no kernel: give it a step or an update"):
        method(dataclass(frozen=True)(type("Still", (JacobianMethod,), {"name": "still", "title": "Still"})))
    names = {"name": "bound", "title": "Bound", "step": lambda p, s, w: None}
    with refused("own-function", "step of Bound"):
        method(dataclass(frozen=True)(type("Bound", (JacobianMethod,), names)))
    with refused("wrong-type"):
        damping_rule(float)  # type: ignore[type-var]
    with refused("own-function", "Dull"):
        damping_rule(dataclass(frozen=True)(type("Dull", (DampingRule,), {})))
    for name in ("bound", "still"):
        assert name not in pz.methods.METHODS


def test_a_kernel_that_is_not_compiled_says_so_and_the_way_out() -> None:
    """A branch on a row can be taken by one character, not by eight."""

    @method
    @dataclass(frozen=True, kw_only=True)
    class Branching(Method):
        name: ClassVar[str] = "own-branching"
        title: ClassVar[str] = "Branching"

        @staticmethod
        def update(p: Any, s: Any, w: Any) -> Any:
            for i in range(len(w.q)):
                if load(w.q, i) > 0.0:
                    store(w.q, i, 0.1)
            return 1.0, 2.0

    q, way = targets(2)
    tracker = pz.Tracker(ARM, HAND, Branching())
    assert tracker.rollout(q[0], way[0]).shape == (20, 7)
    with pytest.raises(ValueError, match=r"update is not compiled by Numba for eight characters.*characters=False"):
        tracker.rollout(q, way)


def test_a_rule_that_needs_more_than_errors_is_refused_where_it_is_not_served() -> None:
    for rule in (pz.damping.DeoWalker(), pz.damping.Chiaverini(), pz.damping.GainRatio()):
        with refused("not-supported"):
            pz.Tracker(ARM, HAND, Descent(damping=rule))

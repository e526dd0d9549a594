"""Examples that mink and pink publish, as they are and with `poise_compat` for their import: limits, errors, time.

    python benchmarks/ported.py --mink CHECKOUT --pink CHECKOUT [--steps 300] [--only arm_ur5e ...]

CHECKOUT is a folder of theirs with `examples`.  No window opens and no clock is waited for: a viewer that shows nothing
swings the targets of those that a person drags, by a quarter of a metre.  Each example runs with the original and then
with the face, in one process.  What is counted of the steps: configurations beyond a range, speeds beyond their limits,
geoms nearer than they may be; what is left is the mean weighted error of the poses over the last third of the steps.
Examples whose robot or package is not installed are named, with the reason.
"""

import argparse
import contextlib
import importlib
import io
import pkgutil
import runpy
import sys
import time
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

SWING = 0.25
"""How far targets are dragged [m]."""
TOLERANCE = 1e-6


class Over(BaseException):
    """The steps of an example are over."""


class Clock:
    """Steps of an example, in place of time."""

    def __init__(self, most: int) -> None:
        self.steps, self.most = 0, most

    def tick(self) -> None:
        self.steps += 1
        if self.steps > self.most:
            raise Over

    def limiter(self, frequency: float, **settings: Any) -> Any:
        return types.SimpleNamespace(
            dt=1.0 / frequency, period=1.0 / frequency, next_tick=0.0, sleep=self.tick, remaining=lambda: 0.0
        )


class Viewer:
    """Shows nothing, and swings the mocap bodies of its data."""

    def __init__(self, clock: Clock, model: Any, data: Any, **settings: Any) -> None:
        import mujoco

        self._clock, self._data, self._places = clock, data, None
        self.cam, self.opt = mujoco.MjvCamera(), mujoco.MjvOption()
        self.user_scn = mujoco.MjvScene(model, maxgeom=1000)

    def __enter__(self) -> "Viewer":
        return self

    def __exit__(self, *error: object) -> None: ...

    def is_running(self) -> bool:
        if self._places is None:
            self._places = self._data.mocap_pos.copy()
        phase = 2.0 * np.pi * self._clock.steps / self._clock.most
        for i, place in enumerate(self._places):
            way = (np.sin(phase), np.sin(2.0 * phase), 0.5 * np.sin(3.0 * phase))
            self._data.mocap_pos[i] = place + SWING * np.roll(way, i)
        return True

    def lock(self) -> Any:
        return contextlib.nullcontext()

    def sync(self) -> None: ...


class Account:
    """What came of the steps of one example."""

    def __init__(self) -> None:
        self.times, self.left = list[float](), list[float]()
        self.outside = self.fast = self.near = 0

    def watched(self, solve: Callable[..., Any], judge: Callable[..., tuple[bool, bool, bool]]) -> Callable[..., Any]:
        def solve_ik(configuration: Any, tasks: Any, dt: float, *more: Any, **named: Any) -> Any:
            tasks = list(tasks)
            begun = time.thread_time()
            velocity = solve(configuration, tasks, dt, *more, **named)
            self.times.append(time.thread_time() - begun)
            outside, fast, near = judge(configuration, velocity, dt, named.get("limits"))
            self.outside, self.fast, self.near = self.outside + outside, self.fast + fast, self.near + near
            poses = [t for t in tasks if type(t).__name__.endswith(("FrameTask", "LookAtTask", "AxisAlignTask"))]
            self.left.append(sum(float(np.linalg.norm(t.cost * t.compute_error(configuration))) for t in poses))
            return velocity

        return solve_ik

    def row(self) -> str:
        left = np.mean(self.left[-max(len(self.left) // 3, 1) :])
        return (
            f"{len(self.times):6d} {self.outside:8d} {self.fast:6d} {self.near:6d} {left:10.2e} "
            f"{1e6 * np.median(self.times):10.0f}"
        )


def judge_mujoco(configuration: Any, velocity: Any, dt: float, limits: Any) -> tuple[bool, bool, bool]:
    """Whether a step leads beyond a range, is too fast, or brings geoms too near each other."""
    import mujoco

    m, q = configuration.model, configuration.integrate(velocity, dt)
    some = np.flatnonzero(m.jnt_limited.astype(bool) & (m.jnt_type >= 2))
    before, after = configuration.q[m.jnt_qposadr[some]], q[m.jnt_qposadr[some]]
    low, high = np.minimum(m.jnt_range[some, 0], before), np.maximum(m.jnt_range[some, 1], before)
    outside = limits is None or bool(limits)
    outside = outside and bool(((after < low - TOLERANCE) | (after > high + TOLERANCE)).any())
    fast = near = False
    for limit in limits or ():
        if type(limit).__name__ == "VelocityLimit" and len(limit.indices):
            fast = fast or bool((np.abs(velocity[limit.indices]) > limit.limit * (1.0 + TOLERANCE)).any())
        if type(limit).__name__ == "CollisionAvoidanceLimit":
            data = mujoco.MjData(m)
            data.qpos, data.mocap_pos, data.mocap_quat = q, configuration.data.mocap_pos, configuration.data.mocap_quat
            mujoco.mj_kinematics(m, data)
            least = limit.minimum_distance_from_collisions
            for pair in limit.geom_id_pairs:
                now = mujoco.mj_geomDistance(m, data, *pair, 2.0 * abs(least) + 0.01, None)
                then = mujoco.mj_geomDistance(m, configuration.data, *pair, 2.0 * abs(least) + 0.01, None)
                near = near or now < min(least, then) - 1e-4
    return outside, fast, near


def judge_pinocchio(configuration: Any, velocity: Any, dt: float, limits: Any) -> tuple[bool, bool, bool]:
    """The same of a model of Pinocchio's; nothing is told of shapes."""
    m, q = configuration.model, configuration.integrate(velocity, dt)
    low, high = m.lowerPositionLimit, m.upperPositionLimit
    some = np.array(m.hasConfigurationLimit()) & (high > low + 1e-10) & (high < 1e20)
    before = configuration.q
    out = (q < np.minimum(low, before) - TOLERANCE) | (q > np.maximum(high, before) + TOLERANCE)
    fast = (np.abs(velocity) > m.velocityLimit * (1.0 + TOLERANCE)) & (m.velocityLimit > 1e-10)
    if limits is not None:
        return bool((out & some).any()) and bool(limits), False, False
    return bool((out & some).any()), bool(fast.any()), False


def robot(name: str, **settings: Any) -> Any:
    """A robot of example-robot-data by the name that robot_descriptions has for it; raises ImportError for others."""
    import pinocchio as pin

    from poise.io.installed import installed_robots

    known = installed_robots()
    short = name.removesuffix("_description").removesuffix("_official")
    key = {"gen2": "kinova", "g1": "g1_29dof_rev_1_0"}.get(short, short)
    if key not in known:
        raise ImportError(f"{name} is not installed")
    root = settings.get("root_joint")
    folder = str(next(p for p in Path(known[key]).parents if p.name == "share"))
    build = pin.RobotWrapper.BuildFromURDF
    try:
        return build(str(known[key]), [folder], root)
    except ValueError:
        found = pin.RobotWrapper(pin.buildModelFromUrdf(str(known[key]), *([root] if root else [])))
        found.data = found.model.createData()
        return found


@contextlib.contextmanager
def known_as(modules: dict[str, Any]) -> Iterator[None]:
    """Modules by other names; what is imported meanwhile stays, since some libraries cannot be imported twice."""
    before = {name: sys.modules.get(name) for name in modules}
    sys.modules.update(modules)
    try:
        yield
    finally:
        for name, module in before.items():
            sys.modules.pop(name, None)
            if module is not None:
                sys.modules[name] = module


@contextlib.contextmanager
def stand_in(name: str, clock: Clock, face: bool, account: Account, judge: Callable[..., Any]) -> Iterator[None]:
    """The original, or the face in its place under its name, with `solve_ik` watched and without windows."""
    package = importlib.import_module(f"poise_compat.{name}" if face else name)
    for each in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        importlib.import_module(each.name)
    under = {k: m for k, m in sys.modules.items() if k.startswith(package.__name__ + ".") or m is package}
    there = {name + k[len(package.__name__) :]: m for k, m in under.items()}
    watched = account.watched(package.solve_ik, judge)
    viewer = types.SimpleNamespace(launch_passive=lambda model, data, **more: Viewer(clock, model, data, **more))
    rate = types.SimpleNamespace(RateLimiter=clock.limiter)
    with contextlib.ExitStack() as stack:
        import mujoco

        mujoco.set_mju_user_warning(lambda message: None)
        modules = {"loop_rate_limiters": rate, "mujoco.viewer": viewer, **there}
        if name == "pink":
            unseen = (
                "meshcat",
                "meshcat.geometry",
                "meshcat.transformations",
                "meshcat_shapes",
                "viser",
                "viser.uplot",
            )
            modules |= {module: mock.MagicMock() for module in (*unseen, "pink.visualization")}
            modules["robot_descriptions.loaders.pinocchio"] = types.SimpleNamespace(load_robot_description=robot)
        stack.enter_context(known_as(modules))
        stack.enter_context(mock.patch.object(mujoco, "viewer", viewer, create=True))
        stack.enter_context(mock.patch.object(package, "solve_ik", watched))
        yield


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mink", type=Path)
    parser.add_argument("--pink", type=Path)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--only", nargs="*", default=[])
    given = parser.parse_args()
    counted = f"{'steps':>6s} {'outside':>8s} {'fast':>6s} {'near':>6s} {'left':>10s} {'us a step':>10s}"
    print(f"{'example':34s} {'by':6s} {counted}")
    for name, judge in (("mink", judge_mujoco), ("pink", judge_pinocchio)):
        folder = getattr(given, name)
        for file in sorted((folder / "examples").absolute().rglob("*.py")) if folder else ():
            if not given.only or file.stem in given.only:
                for face in (False, True):
                    print(f"{name + '/' + file.stem:34s} {'poise' if face else name:6s} ", end="", flush=True)
                    print(run(name, file, folder / "examples", given.steps, face, judge), flush=True)


def run(name: str, file: Path, folder: Path, steps: int, face: bool, judge: Callable[..., Any]) -> str:
    """One example; a row of what came of it, or why it did not run."""
    account, clock = Account(), Clock(steps)
    np.random.seed(0)  # noqa: NPY002  # what the examples draw from
    try:
        with (
            stand_in(name, clock, face, account, judge),
            contextlib.redirect_stdout(io.StringIO()),
            warnings.catch_warnings(),
            contextlib.chdir(folder),
            mock.patch.object(sys, "argv", [str(file)]),
        ):
            warnings.simplefilter("ignore")
            runpy.run_path(str(file), run_name="__main__")
    except Over:
        pass
    except Exception as error:
        return f"{type(error).__name__}: {error}".splitlines()[0][:120]
    return account.row() if account.times else "took no step"


if __name__ == "__main__":
    main()

"""poise: as its users call it."""

from typing import Any

import numpy as np
from judge import Array
from motion import Motion
from robots import Robot
from scenes import HAND, Scene

import poise as pz
from poise.solving.search.settings import Preference


class Prepared:
    """A `Solver`, made once."""

    def __init__(self, robot: Robot, tolerance: float) -> None:
        self.arm = pz.load(str(robot.urdf), base="floating" if robot.floating else "fixed")
        self.tasks = [
            pz.PoseTask(tip, position_tolerance=tolerance, rotation_tolerance=tolerance) for tip in robot.tips
        ]
        self.solver = pz.Solver(self.arm, self.tasks if len(self.tasks) > 1 else self.tasks[0])
        joints = [self.arm.index(name).start for name in robot.judge.names]
        self.order = np.array([*range(7 if robot.floating else 0), *joints])

    def pack(self, targets: Array, q0: Array) -> tuple[Any, ...]:
        """The targets as SE3; joints that no task needs stand at home."""
        q = self.arm.home.copy()
        q[self.order] = q0
        poses = [pz.SE3.from_matrix(target) for target in targets]
        return poses if len(poses) > 1 else poses[0], q

    def solve(self, target: Any, q0: Array) -> Any:
        """Its Solution."""
        return self.solver(target, q0)

    def unpack(self, answer: Any) -> Array | None:
        """Its q."""
        return answer.q[self.order] if answer.success else None


class OneCall(Prepared):
    """`solve`, which prepares a solver and runs it in one call."""

    def pack(self, targets: Array, q0: Array) -> tuple[Any, ...]:
        """The task with its target inside."""
        (task,), (target, q) = self.tasks, super().pack(targets, q0)
        goal = pz.PoseTask(
            task.frame,
            target=target,
            position_tolerance=task.position_tolerance,
            rotation_tolerance=task.rotation_tolerance,
        )
        return goal, q

    def solve(self, target: Any, q0: Array) -> Any:
        """Its Solution."""
        return pz.solve(self.arm, target, q0=q0)


class Batch(Prepared):
    """`solve_batch`, many problems a call."""

    threads: int | None = None
    """None: all cores."""

    def __init__(self, robot: Robot, tolerance: float, select: Preference = "nearest") -> None:
        super().__init__(robot, tolerance)
        self.select = select

    def pack(self, targets: Array, starts: Array) -> tuple[Any, ...]:
        """SE3 of n poses a task, and (n, nq); joints that no task needs stand at home."""
        q = np.tile(self.arm.home, (len(starts), 1))
        q[:, self.order] = starts
        goals = [pz.SE3.from_matrix(targets[:, k]) for k in range(len(self.tasks))]
        return goals if len(goals) > 1 else goals[0], q

    def solve(self, targets: Any, starts: Array, threads: int | None = None) -> Any:
        """Its SolutionBatch."""
        threads = self.threads if threads is None else threads
        return pz.solve_batch(self.arm, self.tasks, targets, q0=starts, select=self.select, threads=threads)

    def unpack(self, answer: Any) -> Array:
        """(n, nq), NaN where it says that it failed."""
        return np.where(answer.success[:, None], answer.q[:, self.order], np.nan)


class BatchFirst(Batch):
    """The same, with the first solution in place of the nearest."""

    def __init__(self, robot: Robot, tolerance: float) -> None:
        super().__init__(robot, tolerance, "first")


class BatchOneThread(Batch):
    """The same on one thread."""

    threads = 1


class Loop(Prepared):
    """A loop of calls of a `Solver`."""

    def pack(self, targets: Array, starts: Array) -> tuple[Any, ...]:
        """A list of problems, each as for one call."""
        one = super().pack
        return ([one(target, q0) for target, q0 in zip(targets, starts, strict=True)],)

    def solve(self, problems: list[tuple[Any, ...]]) -> list[Any]:
        """Their Solutions."""
        return [self.solver(target, q) for target, q in problems]

    def unpack(self, answer: list[Any]) -> Array:
        """(n, nq), NaN where it says that it failed."""
        return np.array([x.q[self.order] if x.success else np.full(len(self.order), np.nan) for x in answer])


class Levels:
    """`Tracker.step` with the lexicographic method."""

    def __init__(self, motion: Motion) -> None:
        model = pz.load(str(motion.robot.urdf), base="floating")
        joints = [model.index(name).start for name in motion.robot.judge.names]
        self.order = np.array([*range(7), *joints])
        self.q = model.home.copy()
        self.q[self.order] = motion.stance
        feet, hands = motion.frames
        tasks = [pz.PoseTask(frame, target=pose) for frame, pose in zip(feet, motion.feet, strict=True)]
        tasks.append(pz.CentreOfMassTask(target=motion.centres[0]))
        tasks += [pz.PoseTask(frame, priority=1) for frame in hands]
        # The other libraries do not damp either; its own damping would keep the hands a tenth of a millimetre behind.
        method = pz.methods.TaskPriority(null_space=pz.criteria.RestPosture(q=self.q), damping=1e-3)
        self.tracker = pz.Tracker(model, tasks, method, dt=motion.dt)

    def pack(self, centre: Array, hands: Array) -> tuple[Any, ...]:
        """The last rows of `Tracker.targets`."""
        point = [*centre, 1.0, 0.0, 0.0, 0.0]
        return (np.vstack([point, *(pz.SE3.from_matrix(hand).array for hand in hands)]),)

    def step(self, rows: Array) -> None:
        """One step; the feet's targets stay."""
        self.tracker.targets[2:] = rows
        self.q = self.tracker.step(self.q)

    def last(self) -> Array:
        """What the tracker returned."""
        return self.q[self.order]


class Guarded:
    """`Tracker.step` with a `CollisionLimit`."""

    def __init__(self, scene: Scene) -> None:
        limit = pz.CollisionLimit(scene.world, min_distance=scene.asked)
        self.tracker = pz.Tracker(scene.arm, pz.PoseTask(HAND), dt=scene.dt, limits=[limit])
        self.q = scene.start.copy()

    def pack(self, goal: Array) -> tuple[Any, ...]:
        """The pose as SE3."""
        return (pz.SE3.from_matrix(goal),)

    def step(self, goal: pz.SE3) -> None:
        """One step."""
        self.q = self.tracker.step(self.q, goal)

    def last(self) -> Array:
        """A copy of what the tracker returned."""
        return self.q.copy()

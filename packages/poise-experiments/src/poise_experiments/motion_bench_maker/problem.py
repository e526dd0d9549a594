"""The pose of a Panda's hand among obstacles, and what a Solver makes of it.

MotionBenchMaker's problems are of motion planning: a start and a goal in joint angles, both free of collision.  Here
the pose of the hand at the goal is asked for, and nothing else of the goal is told.
"""

from dataclasses import dataclass, replace
from functools import cache
from time import thread_time_ns
from typing import Final, final

import numpy as np

from poise import SE3, Box, CollisionLimit, Cylinder, MissingExtra, Model, PoseTask, Solver, World, load
from poise.extending import Array, installed_robots

HAND: Final = "panda_hand"
HAND_LINKS: Final = ("panda_link7", "panda_hand", "panda_leftfinger", "panda_rightfinger")
"""The links that the hand's pose holds where they are, however the arm stands."""
FINGERS: Final = ("panda_finger_joint1", "panda_finger_joint2")
OPEN: Final = 0.065
"""How far each finger stands open in the problems [m], 25 mm beyond the limit of the robot's file."""
START: Final = (0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785)
"""Where all searches set out [rad]."""


@final
@dataclass(frozen=True, slots=True)
class Obstacle:
    """A box, `size` along its axes, or a cylinder about z, its height and radius [m]."""

    name: str
    kind: str
    size: tuple[float, ...]
    pose: SE3

    def grown(self, by: float) -> "Obstacle":
        """A box with all six faces moved out by so much [m]; a cylinder, to be grasped or the leg of a table, stays."""
        return replace(self, size=tuple(edge + 2.0 * by for edge in self.size)) if self.kind == "box" else self

    @property
    def shape(self) -> Box | Cylinder:
        """As poise has it."""
        if self.kind == "box":
            return Box(self.pose, self.size)
        height, radius = self.size
        return Cylinder(self.pose, radius, height)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """The hand is to be where it is at `goal` (7,) [rad], with no link in an obstacle."""

    number: int
    """As in the data set, from 1."""
    goal: Array
    obstacles: tuple[Obstacle, ...]

    def grown(self, by: float) -> "Problem":
        """The same with larger boxes."""
        return replace(self, obstacles=tuple(each.grown(by) for each in self.obstacles))

    @property
    def world(self) -> World:
        """The obstacles."""
        return World({each.name: each.shape for each in self.obstacles})


@cache
def panda() -> Model:
    """The arm with the shapes that it loads with, hulls of its meshes, and with fingers open as in the problems."""
    if "panda" not in installed_robots():
        raise MissingExtra("a Panda with meshes", "example-robot-data", "robots")
    arm = load("example-robot-data/panda")
    return arm.with_limits(dict.fromkeys(FINGERS, (0.0, OPEN))).lock(dict.fromkeys(FINGERS, OPEN))


@cache
def _hand_alone() -> Model:
    """The arm with no shapes but those that the hand's pose holds."""
    arm = panda()
    return arm.with_shapes({link: arm.fitted_shapes[link] for link in HAND_LINKS})


def hand_blocked(problem: Problem) -> bool:
    """Whether what the hand's pose holds is in an obstacle, so that there is no solution."""
    return bool(_hand_alone().in_collision(problem.goal, problem.world, self_collision=False))


@final
@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """What a Solver says to one problem."""

    solved: bool
    """At the target, within the limits and free, as poise has it."""
    q: Array
    starts: int
    """Random ones that were begun."""
    microseconds: float
    """Processor time of a call; the median of several."""


def solve(
    arm: Model, problem: Problem, *, clearance: float = 0.0, calls: int = 1, max_restarts: int | None = None
) -> Answer:
    """Ask so many times for the hand's pose at the goal, with everything `clearance` apart [m]."""
    limit = CollisionLimit(problem.world, min_distance=clearance)
    solver = Solver(arm, PoseTask(HAND), limits=[limit], max_restarts=max_restarts)
    target, spent = arm.pose(HAND, problem.goal), []
    for _ in range(calls):
        begun = thread_time_ns()
        answer = solver(target, START)
        spent.append(1e-3 * (thread_time_ns() - begun))
    return Answer(answer.success, answer.q.copy(), answer.restarts, float(np.median(spent)))

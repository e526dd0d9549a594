"""Nothing comes nearer than asked: what that costs a step, a solve and a look, and what other libraries keep of it."""

import gc
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from time import perf_counter_ns
from typing import Any

import numpy as np
from apart import Apart
from judge import Array
from peers import GUARDS, load, version
from report import print_table
from robots import branching
from scenes import HAND, MESHES, Scene, crowd, fixed_panda, free, guarded_panda, line_through
from through import ACCELERATION, STEPS, Run, run

import poise as pz
from poise.kernels.collision import queries

ASKED = 0.02
"""Of the other libraries, and of steps [m]."""
BALL = 0.05
"""Radius of those that links carry [m]."""
DT = 0.002
"""[s]"""
SPEEDS, DTS = (0.5, 1.0, 2.0), (0.002, 0.02)
BLOCK = 50
"""Steps that one library takes before the next has its turn."""


@dataclass(frozen=True)
class Cost:
    """What something takes [us]."""

    what: str
    median: float
    p99: float
    bar: float | None = None
    note: str = ""


@dataclass(frozen=True)
class Kept:
    """What one library keeps of what it was asked, over the whole way."""

    name: str
    version: str
    dt: float
    speed: float
    """Of the target [m/s]."""
    median: float
    """Of a step [us]."""
    p99: float
    ratio: float
    """Over blocks, of its median over poise's."""
    closest: float
    """[m]"""
    behind: float
    """From the hand to the nearest that the wall lets it come to its target, median [m]."""


def collisions(count: int, names: Sequence[str]) -> tuple[list[Cost], list[Kept]]:
    """Everything, shown as it comes."""
    costs = [*steps(), solves(count), *closed_forms(count), *looks(count), *humanoids()]
    show_costs(costs)
    kept: list[Kept] = []
    for dt in DTS:
        for speed in SPEEDS:
            kept += beside(names, dt, speed)
    show_kept(kept)
    return costs, kept


# poise alone ---------------------------------------------------------------------------------------------------------


def steps() -> list[Cost]:
    """A tracking step of a Panda among 20 obstacles: towards free poses that others are between, and at a wall."""
    arms, costs = {"capsules": fixed_panda(), "hulls": fixed_panda(MESHES)}, []
    world = crowd(3)
    q = free(arms["capsules"], world, ASKED + 0.01, 22, 1)
    q = q[arms["hulls"].distance(q, world).distance > ASKED + 0.01][:11]
    around = np.repeat([arms["hulls"].pose(HAND, x).array for x in q[1:]], STEPS // 10, axis=0)
    wall = line_through(ASKED, 1.0, DT, STEPS)
    aimed = np.array([pz.SE3.from_matrix(goal).array for goal in wall.goals])
    scenes = {"free poses": (world, q[0], around), "through a wall": (wall.world, wall.start, aimed)}
    for scene, (shapes, start, goals) in scenes.items():
        limit = pz.CollisionLimit(shapes, min_distance=ASKED)
        kinds: dict[str, Any] = {
            "": [limit],
            ", accelerations": [limit, pz.AccelerationLimit(ACCELERATION)],
            ", no obstacles": [pz.CollisionLimit(min_distance=ASKED)],
            ", no shapes": True,
        }
        for (links, arm), (kind, limits) in product(arms.items(), kinds.items()):
            tracker = pz.Tracker(arm, pz.PoseTask(HAND), "qp", dt=DT, limits=limits)
            goal_row, step = tracker.targets[0], tracker.step
            tracker.rollout(start, goals[:2, None])
            took, x = [], start
            for goal in goals:
                goal_row[:] = goal
                before = perf_counter_ns()
                x = step(x)
                took.append(1e-3 * (perf_counter_ns() - before))
                x = x.copy()
            bar, name = 15.0 if kind in ("", ", accelerations") else None, f"{scene}, {links}{kind}"
            costs.append(cost(f"Tracker.step, {name}", took[1:], bar))
            whole = [timed(lambda: tracker.rollout(start, goals[:, None])) for _ in range(5)]  # noqa: B023
            costs.append(cost(f"rollout, a step of {STEPS}, {name}", [t / STEPS for t in whole], bar))
    return costs


def solves(count: int) -> Cost:
    """Solves of poses of free configurations, from random starts, among 20 obstacles of ten kinds of crowds."""
    arm, took, good, near = guarded_panda(), [], 0, np.inf
    crowds = 10
    for seed in range(crowds):
        world = crowd(seed)
        solver = pz.Solver(arm, pz.PoseTask(HAND), limits=[pz.CollisionLimit(world, min_distance=0.01)])
        goals = [arm.pose(HAND, q) for q in free(arm, world, 0.01, count // crowds, 100 + seed)]
        starts, found = arm.sample(len(goals), seed=200 + seed), []
        solver(goals[0], starts[0])
        for goal, start in zip(goals, starts, strict=True):
            before = perf_counter_ns()
            answer = solver(goal, start)
            took.append(1e-3 * (perf_counter_ns() - before))
            found.append(answer)
        judge = Apart(world)
        for goal, answer in zip(goals, found, strict=True):
            pose = arm.pose(HAND, answer.q)
            if answer.success and np.linalg.norm(pose.xyz - goal.xyz) < 1e-5:
                least = float(judge.least(answer.q[None])[0])
                inside = ((answer.q >= arm.lower) & (answer.q <= arm.upper)).all()
                near, good = min(near, least), good + bool(least >= 0.01 - 1e-9 and inside)
    note = f"{100 * good / len(took):.2f} % of {len(took)} solved and apart by coal, nearest {1e3 * near:.3f} mm of 10"
    return cost("solve from a random start", took, 100.0, note)


def closed_forms(count: int) -> list[Cost]:
    """Solves of arms with a closed form, whose links carry balls, among balls: free branches are taken, and no others.

    The poses are random, so of some no branch is free.  What is free is said by the judge's kinematics.
    """
    costs, crowds, asked = [], 10, 0.01
    for robot in branching():
        links = robot.judge.tips
        arm = pz.load(str(robot.urdf)).with_shapes(dict.fromkeys(links, pz.Sphere((0, 0, 0), BALL)))
        task, took, solved, wrong = pz.PoseTask(links[-1]), [], 0, 0
        for seed in range(crowds):
            rng = np.random.default_rng(seed)
            centres = robot.judge.poses(arm.sample(14, seed=seed))[:, -1, :3, 3]
            radii = rng.uniform(0.05, 0.15, len(centres))
            world = pz.World({f"ball{i}": pz.Sphere(c, r) for i, (c, r) in enumerate(zip(centres, radii, strict=True))})
            limit = pz.CollisionLimit(world, min_distance=asked, self_collision=False)
            solver = pz.Solver(arm, task, limits=[limit])
            goals = arm.pose(links[-1], arm.sample(count // crowds, seed=100 + seed))
            for goal in goals:
                every = pz.solve_all(arm, task, goal)
                before = perf_counter_ns()
                answer = solver(goal)
                took.append(1e-3 * (perf_counter_ns() - before))
                carried = robot.judge.poses(np.vstack([every.q, answer.q]))[:, :, None, :3, 3]
                room = (np.linalg.norm(carried - centres, axis=-1) - radii - BALL).min(axis=(1, 2))
                solved += answer.success
                wrong += answer.success != (room[:-1].max() >= asked) or (answer.success and room[-1] < asked - 1e-9)
        note = f"{solved} of {len(took)} have a free branch, {wrong} wrong"
        costs.append(cost(f"solve by closed form, {robot.name}", took, None, note))
    return costs


def looks(count: int) -> list[Cost]:
    """Distances."""
    arm, world = guarded_panda(), crowd(3)
    q = arm.sample(count, seed=3)
    calls = [timed(lambda x=x: arm.distance(x, world)) for x in q]
    near = np.vstack([q[:1], q[0] + np.cumsum(np.full((count, arm.nq), 1e-4), axis=0)])
    calls_near = [timed(lambda x=x: arm.distance(x, world)) for x in near]
    scene = pz.CollisionLimit(world).scene(arm)
    queries.nearest_at(*scene.addresses)
    alone = []
    for x in q:
        scene.q[:] = x
        before = perf_counter_ns()
        queries.nearest_at(*scene.addresses)
        alone.append(1e-3 * (perf_counter_ns() - before))
    many = arm.sample(8000, seed=4)
    lanes = [timed(lambda: arm.distance(many, world)) / len(many) for _ in range(15)]
    return [
        cost("distance at random configurations, a call", calls, 1.5),
        cost("distance at the last but 0.1 mrad, a call", calls_near, 1.5),
        cost("distance at random configurations, the kernel and its call", alone, 1.5),
        cost("distance, 8,000 in lanes, each", lanes, 0.3),
    ]


def humanoids() -> list[Cost]:
    """A step of a G1 of boxes and spheres: feet that stand, hands on circles that meet, itself and the ground."""
    try:
        from g1 import MOTION_DT, g1_boxed
    except ImportError as error:
        print(f"G1 is missing: {error}")
        return []
    costs = []
    for fingers in (False, True):
        model, start, goals = g1_boxed(STEPS, fingers=fingers)
        feet = ("left_ankle_roll_link", "right_ankle_roll_link")
        hands = ("left_wrist_yaw_link", "right_wrist_yaw_link")
        tasks = [*(pz.PoseTask(foot) for foot in feet), *(pz.PoseTask(hand, priority=1) for hand in hands)]
        lowest = min(model.pose(foot, start).xyz[2] for foot in feet)
        world = pz.World({"floor": pz.HalfSpace((0.0, 0.0, lowest - 0.035), (0.0, 0.0, 1.0))})
        limit = pz.CollisionLimit(world, min_distance=0.005, allowed=[(foot, "floor") for foot in feet])
        for kind, limits in {"": [limit], ", no shapes": True}.items():
            tracker = pz.Tracker(model, tasks, dt=MOTION_DT, limits=limits)
            took, path = [], [start]
            for goal in goals:
                tracker.targets[:] = goal
                before = perf_counter_ns()
                q = tracker.step(path[-1])
                took.append(1e-3 * (perf_counter_ns() - before))
                path.append(q)
            scene = limit.scene(model)
            least = min(pz_least(scene, q) for q in path[1:])
            note = f"{len(scene.names)} shapes, closest {1e3 * least:.2f} mm of 5"
            name = "G1, with fingers" if fingers else "G1"
            costs.append(cost(f"Tracker.step, {name}{kind}", took[1:], None if kind else 120.0, note))
    return costs


def pz_least(scene: Any, q: Array) -> float:
    """The least distance of a scene."""
    scene.q[:] = q
    return float(queries.nearest_at(*scene.addresses))


def timed(call: Callable[[], Any]) -> float:
    """[us]"""
    before = perf_counter_ns()
    call()
    return 1e-3 * (perf_counter_ns() - before)


def cost(what: str, took: Sequence[float], bar: float | None = None, note: str = "") -> Cost:
    """Its median and p99."""
    return Cost(what, float(np.median(took)), float(np.quantile(took, 0.99)), bar, note)


# beside others -------------------------------------------------------------------------------------------------------


def beside(names: Sequence[str], dt: float, speed: float) -> list[Kept]:
    """All libraries in turns, each on its own way, aimed through a wall."""
    scene = line_through(ASKED, speed, dt, STEPS)
    guards: dict[str, Any] = {}
    for name in names:
        try:
            guards[name] = load(name, GUARDS)(scene)
        except ImportError as error:
            print(f"{name} is missing: pip install {GUARDS[name][0]} ({error})")
    took: dict[str, list[list[float]]] = {name: [] for name in guards}
    paths: dict[str, list[Array]] = {name: [scene.start] for name in guards}
    order = list(guards)
    for block in range(0, STEPS, BLOCK):
        order.append(order.pop(0))
        for name in order:
            guard, seconds = guards[name], []
            gc.collect()
            gc.disable()
            packed = [guard.pack(goal) for goal in scene.goals[block : block + BLOCK]]
            for arguments in packed:
                before = perf_counter_ns()
                guard.step(*arguments)
                seconds.append(1e-3 * (perf_counter_ns() - before))
                paths[name].append(guard.last())
            gc.enable()
            took[name].append(seconds[1:])
    judge, rows = Judge(scene), []
    base = np.median(took["poise"], axis=1)
    for name in guards:
        path, medians = np.array(paths[name]), np.median(took[name], axis=1)
        rows.append(
            Kept(
                name, version(name, GUARDS), dt, speed, float(np.median(medians)),
                float(np.quantile(took[name], 0.99)), float(np.median(medians / base)), judge.closest(path),
                judge.behind(path[1:]),
            )
        )  # fmt: skip
    return rows


class Judge:
    """Who looks at the paths."""

    def __init__(self, scene: Scene) -> None:
        self.scene, self.apart = scene, Apart(scene.world)

    def closest(self, path: Array) -> float:
        """[m] of the capsules, by poise, unless coal says that the file's own cylinders and spheres are nearer."""
        own = float(self.scene.arm.distance(path, self.scene.world).distance.min())
        return min(own, float(self.apart.least(path).min()))

    def behind(self, path: Array) -> float:
        """How far the hand is from its targets, median [m]."""
        places = np.array([self.scene.arm.pose(HAND, q).xyz for q in path])
        return float(np.median(np.linalg.norm(places - self.scene.goals[:, :3, 3], axis=1)))


# Runs ----------------------------------------------------------------------------------------------------------------


def runs(count: int) -> list[Run]:
    """So many runs aimed through obstacles, every fifth among some that move; prints those that break a promise."""
    arm, done = guarded_panda(), []
    for seed in range(count):
        made = run(arm, seed, moving=seed % 5 == 4)
        if made is None:
            continue
        if not made.moving:
            seen = float(Apart(crowd(seed)).least(made.nearest[None])[0])
            made = replace(made, closest=min(made.closest, seen))
        done.append(made)
        if made.broken:
            told = f"{1e3 * made.asked:g} mm asked: {1e3 * made.closest:.4f} mm after step {made.at}"
            kinds = [word for word, so in (("moving", made.moving), ("accelerations", made.paced)) if so]
            print(
                f"run {seed}, dt {made.dt} {' '.join(kinds)}, {told}, {made.outside} outside, {made.fast} too fast",
                flush=True,
            )
    show_runs(done)
    return done


def show_runs(done: Sequence[Run]) -> None:
    """How many broke a promise."""
    rows = []
    for moving in (False, True):
        for paced in (False, True):
            some = [made for made in done if made.moving == moving and made.paced == paced]
            if some:
                kind = f"{'moving' if moving else 'standing'} obstacles{', accelerations' if paced else ''}"
                worst = min(made.closest - made.asked for made in some)
                numbers = [len(some), sum(made.broken for made in some)]
                over = sum(made.surges for made in some)
                rows.append([kind, *map(str, numbers), f"{1e3 * worst:.2e}", str(over)])
    print(f"\nRuns of {STEPS} steps aimed through obstacles\n")
    print_table(["obstacles"], ["runs", "broken", "least slack mm", "steps over the acceleration"], rows)
    sys.stdout.flush()


def as_dict(costs: Sequence[Cost], kept: Sequence[Kept], done: Sequence[Run]) -> dict[str, Any]:
    """Ready for `json.dump`."""
    some = {name: [asdict(row) for row in rows] for name, rows in (("costs", costs), ("kept", kept))}
    return some | {"runs": [made.numbers for made in done]}


def show_costs(costs: Sequence[Cost]) -> None:
    """Print them as Markdown."""
    print("\nA Panda among 20 obstacles, self-collision and all limits; a G1 and the ground\n")
    cells = [
        [row.what, row.note, f"{row.median:.2f}", f"{row.p99:.2f}", "" if row.bar is None else f"{row.bar:g}"]
        for row in costs
    ]
    print_table(["what", ""], ["median us", "p99 us", "bar us"], cells)
    sys.stdout.flush()


def show_kept(kept: Sequence[Kept]) -> None:
    """The same of the libraries."""
    print(f"\nA target that goes through a wall, {1e3 * ASKED:g} mm asked, {STEPS} steps\n")
    cells = [
        [
            row.name, row.version, f"{1e3 * row.dt:g}", f"{row.speed:g}", f"{row.median:.1f}", f"{row.p99:.1f}",
            f"{row.ratio:.1f}", f"{1e3 * row.closest:.2f}", f"{1e3 * row.behind:.1f}",
        ]
        for row in kept
    ]  # fmt: skip
    numbers = ["dt ms", "m/s", "median us", "p99 us", "x poise", "closest mm", "behind mm"]
    print_table(["library", "version"], numbers, cells)
    sys.stdout.flush()

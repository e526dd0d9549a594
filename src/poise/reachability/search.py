"""`reach`: solve for every orientation at every voxel that no length rules out."""

import math
import warnings
from time import perf_counter
from typing import Any, Final

import numpy as np

from poise.common.array import ArrayLike
from poise.common.checks import broken_rule, whole
from poise.common.errors import InvalidValue, ShapeError
from poise.common.progress import shown_or_logged
from poise.model.model import Model, a_model
from poise.reachability.lattice import checked_bounds, voxels
from poise.reachability.map import ReachMap
from poise.reachability.mobility import manipulability_of
from poise.reachability.rotations import spread
from poise.solving.problem.reach_bound import reach_bound
from poise.solving.requirements.limits import Limits, LimitsLike
from poise.solving.solvers.solver import Solver
from poise.solving.unreachable.infeasibility import ruled_out
from poise.spatial import SO3
from poise.tasks.pose import PoseTask, PositionTask

_TARGETS: Final = 2**17
"""Targets that are looked at together; what a map takes while it is made does not grow with its voxels."""
_POSE: Final = 6
"""How many numbers a place with an orientation asks for."""


def reach(
    model: Model,
    frame: str | None = None,
    *,
    grid: float = 0.05,
    orientations: int | SO3 = 32,
    bounds: ArrayLike | None = None,
    limits: LimitsLike = True,
    budget: int = 64,
    seed: int = 0,
    threads: int | None = None,
    progress: bool | None = None,
) -> ReachMap:
    """Map where `frame`, or the model's tip, can go: which orientations it reaches at each voxel, how well it moves.

    The voxels are cubes with edges of `grid` [m] around the whole multiples of it in the world, within `bounds`, two
    corners (2, 3) [m], or as far as the frame can ever be.  A target is the exact centre of a voxel with one of the
    `orientations` of the frame in the world: so many, spread over all rotations by super-Fibonacci spirals (Alexa
    2022), or the rotations (m, 4) of an `SO3`.  With 0 the orientation is left free.  A target is reached if a solve
    comes within 1e-6 m and 1e-6 rad of it, by forward kinematics, with every joint within its limits, unless `limits`
    is False; what a list of `limits` states beside them holds too, as for `solve`.

    Each target is tried from a stored start near it and up to `budget` more, the first of which are stored too and the
    others random, drawn with `seed`; with 0 from home alone.  So what is reached is certain, what is not was not found
    by so many starts, and the map is a lower bound.  Targets that lengths prove to be out of reach are not tried.
    The same seed gives the same map on any number of `threads`, by default all cores.  `progress` shows a bar on
    stderr; None: if that is a terminal.  Ctrl-C raises KeyboardInterrupt, for half a map would look like a whole one.

    Raises FrameNotFound, ShapeError, and ValueError for a frame that no joint moves or that nothing bounds, and for
    more voxels than fit into memory.
    """
    began = perf_counter()
    a_model(model)
    name = model.tip if frame is None else frame
    if not model.tree.path(model.tree.links[model.frame(name).link][0]):
        raise InvalidValue("nothing-moves", f"no joint of {model.name} moves {name!r}; name another frame")
    if isinstance(grid, bool) or not (isinstance(grid, (int, float)) and 0.0 < grid < math.inf):
        raise InvalidValue(broken_rule(grid, "not-positive"), f"grid is {grid!r}; it must be a positive length [m]")
    whole("budget", budget, 0)
    positions = Limits.of(limits).positions
    turns = _turns(orientations)
    task = PositionTask(name) if turns is None else PoseTask(name)
    moving = np.count_nonzero(np.abs(model.jacobian(name, model.sample(seed=0))).max(axis=0))
    if not isinstance(orientations, SO3) and turns is not None and moving < _POSE:
        warnings.warn(
            f"{moving} joints move {name!r}, and a place with an orientation asks for six: next to none will be "
            "reached; orientations=0, --orientations 0 in a shell, asks for places alone",
            UserWarning,
            stacklevel=2,
        )
    solver = Solver(model, task, limits=limits, select="first", seed=seed, max_restarts=budget)

    each = 1 if turns is None else len(turns.wxyz)
    box = checked_bounds(bounds)
    ball = reach_bound(model, name, limits=positions, of_pose=False)
    points = voxels(ball, float(grid), box, bytes_each=8 * (3 + 2 + model.nq) + 8 + 2 * each)
    measure = manipulability_of(model, task, "position" if turns is None else "pose")

    n = len(points)
    reached, proved = np.zeros((n, each), dtype=np.bool_), np.zeros((n, each), dtype=np.bool_)
    wxyz = np.array([[1.0, 0.0, 0.0, 0.0]]) if turns is None else turns.wxyz
    best, mean, q = np.zeros(n), np.zeros(n), np.full((n, model.nq), np.nan)
    many = max(1, _TARGETS // each)
    with shown_or_logged("voxels", n, progress) as advance:
        for start in range(0, n, many):
            here = slice(start, min(start + many, n))
            goals = np.column_stack([points[here].repeat(each, axis=0), np.tile(wxyz, (here.stop - start, 1))])
            proved[here] = ruled_out(model, task, goals, limits=positions).reshape(-1, each)
            voxel, turn = np.nonzero(~proved[here])
            targets = goals[~proved[here].ravel(), : 3 if turns is None else 7]
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "stopped by Ctrl-C", RuntimeWarning)
                batch = solver.batch(targets, best_effort=False, threads=threads, progress=False)
            if batch.interrupted:
                raise KeyboardInterrupt
            found = batch.success
            voxel, turn, solved = voxel[found] + start, turn[found], batch.q[found]
            reached[voxel, turn] = True
            moves = measure(solved)
            np.add.at(mean, voxel, moves)
            # The last of a voxel is its best, and among equals the first orientation.
            order = np.lexsort((-turn, moves, voxel))
            best[voxel[order]], q[voxel[order]] = moves[order], solved[order]
            advance(here.stop)
    counts = reached.sum(1)
    mean = np.where(counts > 0, mean / np.maximum(counts, 1), np.nan)
    return ReachMap(
        model=model, frame=name, grid=float(grid), orientations=turns, limits=positions, budget=budget, seed=seed,
        centre=ball.centre, points=points, reached=reached, proved=proved, counts=counts,
        manipulability=np.where(counts > 0, best, np.nan), mean_manipulability=mean, q=q,
        time=perf_counter() - began,
    )  # fmt: skip


def _turns(orientations: Any) -> SO3 | None:
    """(m,) rotations, None for any."""
    if isinstance(orientations, SO3):
        wxyz = np.atleast_2d(orientations.wxyz)
        if wxyz.ndim != 2 or not len(wxyz):
            raise ShapeError(f"orientations must be m rotations in a row, got shape {orientations.wxyz.shape[:-1]}")
        return SO3(wxyz=wxyz)
    whole("orientations", orientations, 0)
    return spread(orientations) if orientations else None

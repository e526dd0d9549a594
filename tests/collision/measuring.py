"""Shapes of every kind, as kernels see them, and what the kernels say of pairs of them."""

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from poise.common.array import Array
from poise.kernels.collision.directions import NOTHING
from poise.kernels.collision.near import DISTANCE
from poise.kernels.collision.placing import place_shapes
from poise.kernels.collision.proximity import HULL_BUFFER
from poise.kernels.machine.jit import address, call, kernel
from poise.kernels.machine.kinds import NARROW, PROBLEM_VIEW, WHOLE, WIDE
from poise.kernels.machine.lanes import packs, splat, store, workspace
from poise.kernels.machine.layout import (
    BOX,
    CYLINDER,
    FIRST_ROWS,
    FRAME,
    HALF_SPACE,
    HULL,
    MEASURE,
    NEAR,
    POINT,
    PROXIMITY,
    SEGMENT,
    SHAPE,
    WIDTH,
)
from poise.kernels.machine.packing import joined, pack, rows_of, total_rows
from poise.kernels.machine.views import flat, narrow, problem_at, wide
from poise.model.records import packed

numba = pytest.importorskip("numba")

CORES = {"point": POINT, "segment": SEGMENT, "box": BOX, "plane": HALF_SPACE, "hull": HULL, "cylinder": CYLINDER}

compiled = numba.njit(_nrt=False, error_model="numpy")


@dataclass
class Shape:
    """A shape and where it is in the world."""

    core: int
    half: Array
    radius: float
    vertices: Array
    turn: Array
    place: Array

    def moved(self, turn: Array, way: Array) -> "Shape":
        """It, turned about the world's origin and then moved."""
        return Shape(self.core, self.half, self.radius, self.vertices, turn @ self.turn, turn @ self.place + way)

    @property
    def frame(self) -> Array:
        """Origin, z, x and y axis."""
        return np.concatenate([self.place, self.turn[:, 2], self.turn[:, 0], self.turn[:, 1]])

    def corners(self) -> Array:
        """(n, 3) points whose convex hull is the core, in the world."""
        if self.core == HULL:
            local = self.vertices
        else:
            local = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)]) * self.half
        return local @ self.turn.T + self.place


@kernel
def _measure(p, w, pairs, below, out):
    """Each pair's rows, one lane's after the other's, as far as distances are below these."""
    lanes, known = packs(w.proximity.pair, WIDTH), flat(w.proximity.pair)
    for k in range(len(pairs)):
        store(w.proximity.pair, DISTANCE, splat(w.proximity.pair, below[k]))
        call(w.routines[MEASURE], p, w, pairs[k, 0], pairs[k, 1])
        for lane in range(lanes):
            for i in range(PROXIMITY):
                out[k, lane, i] = known[(DISTANCE + i) * lanes + lane]


@compiled
def _measure_narrow(words, work, routines, pairs, below, out):
    p = problem_at(words)
    _measure(p, narrow(p, work, routines), pairs, below, out)


@compiled
def _measure_wide(words, work, routines, pairs, below, out):
    p = problem_at(words)
    _measure(p, wide(p, work, routines), pairs, below, out)


@functools.cache
def _routines(width: Any) -> Any:
    """Where the library's own routine is, which is on disk: to compile it here again takes half a minute."""
    table = np.zeros(FIRST_ROWS, dtype=np.int64)
    table[MEASURE] = address("collision.near.measure", PROBLEM_VIEW, width, WHOLE, WHOLE)
    return table


@compiled
def _place_narrow(words, work):
    p = problem_at(words)
    w = narrow(p, work, words)
    place_shapes(p, 0, len(p.shapes), w.frames, w.proximity.shape_frames)


@compiled
def _place_wide(words, work):
    p = problem_at(words)
    w = wide(p, work, words)
    place_shapes(p, 0, len(p.shapes), w.frames, w.proximity.shape_frames)


def words_of(shapes: list[Shape], units: Any = None, frames: int = 0) -> Array:
    """The problem of shapes that lie so on their units, or in the world."""
    packs = [packed(s.vertices) for s in shapes]
    ends = np.cumsum([len(pack) for pack in packs])
    whole = [
        (s.core, -1 if units is None else units[i], end - len(pack), end)
        for i, (s, pack, end) in enumerate(zip(shapes, packs, ends, strict=True))
    ]
    real = [(*s.turn.ravel(), *s.place, *s.half, s.radius, np.nan, np.nan) for s in shapes]
    vertices = np.concatenate([np.ravel(pack) for pack in packs])
    rows = {
        "proximity.pair": NEAR,
        "room": HULL_BUFFER,
        "proximity.shape_frames": FRAME * len(shapes),
        "frames": FRAME * frames,
    }
    return pack({"shapes": joined(SHAPE, np.array(whole), np.array(real)), "vertices": vertices}, rows)


def measured(pairs: list[tuple[Shape, Shape]], lanes: int = 1, below: Array | None = None) -> Array:
    """(n, lanes, PROXIMITY) of pairs; in lanes all have the same shapes, and each the frames of `pairs` by turns.

    For eight lanes, `pairs` are eight for each pair of shapes.  What is not `below` (n,) may be a large number.
    """
    apart = pairs[::lanes]
    shapes = [shape for pair in apart for shape in pair]
    words = words_of(shapes)
    places = np.array([[s.frame for pair in pairs[lane::lanes] for s in pair] for lane in range(lanes)])
    work = workspace(total_rows(words), lanes) if lanes > 1 else workspace(total_rows(words))
    work[:] = np.nan
    work[rows_of(words, "proximity.shape_frames")] = places.reshape(lanes, -1).T.reshape(-1, *work.shape[1:])
    out = np.zeros((len(apart), lanes, PROXIMITY))
    numbers = np.arange(2 * len(apart)).reshape(-1, 2)
    run, width = (_measure_wide, WIDE) if lanes > 1 else (_measure_narrow, NARROW)
    run(words, work, _routines(width), numbers, np.full(len(apart), NOTHING) if below is None else below, out)
    return out


def placed(shapes: list[Shape], units: Any, frames: Array) -> Array:
    """Frames (n, FRAME) of shapes on units, which lie at `frames` (m, FRAME); in lanes of (m, FRAME, 8)."""
    words = words_of(shapes, units, len(frames))
    eight = frames.ndim == 3
    work = workspace(total_rows(words), WIDTH) if eight else workspace(total_rows(words))
    work[rows_of(words, "frames")] = frames.reshape(-1, *work.shape[1:])
    (_place_wide if eight else _place_narrow)(words, work)
    return work[rows_of(words, "proximity.shape_frames")].reshape(len(shapes), FRAME, *work.shape[1:])


def random_shape(rng: np.random.Generator, name: str, spread: float) -> Shape:
    """A shape of a kind; of three one is turned by right angles, and some lie at round places."""
    core, half, vertices = CORES[name], np.zeros(3), np.zeros((0, 3))
    match name:
        case "segment":
            half = np.array([0.0, 0.0, rng.uniform(0.05, 0.5)])
        case "box":
            half = rng.uniform(0.05, 0.4, 3)
        case "cylinder":
            half = rng.uniform(0.05, 0.4, 3)[[0, 0, 2]]
        case "hull":
            vertices = rng.normal(size=(rng.integers(4, 30), 3)) * rng.uniform(0.05, 0.3, 3)
    radius = 0.0 if name in ("box", "cylinder", "plane") and rng.random() < 0.7 else rng.uniform(0.0, 0.2)
    turn = random_turn(rng)
    place = rng.uniform(-spread, spread, 3)
    if rng.random() < 0.2:
        place = np.round(place * 5.0) / 5.0
    return Shape(core, half, radius, vertices, turn, place)


def random_turn(rng: np.random.Generator) -> Array:
    """A rotation, of three one by right angles."""
    if rng.random() < 1 / 3:
        return np.round(Rotation.from_euler("xyz", rng.integers(0, 4, 3) * 90.0, degrees=True).as_matrix())
    return Rotation.random(random_state=rng).as_matrix()

"""Poses and Jacobians of a model's frames: names to arrays, arrays to kernels."""

import math
from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from poise.kernels import query
from poise.kernels._jit import prepare
from poise.model import Frame, Model
from poise.spatial import Array, quaternion_matrix
from poise.tree import FRAME, carrying, frame_columns, unit_arrays


@final
@dataclass(frozen=True, slots=True)
class _Query:
    units: npt.NDArray[np.int64]
    places: Array
    tip: int
    tool: Array
    raw: npt.NDArray[np.int64]
    scales: Array
    velocities: npt.NDArray[np.int64]


def _query(model: Model, frame: Frame) -> _Query:
    found = model.queries.get(frame.name)
    if found is None:
        unit, hangs = model.tree.links[frame.link]
        units, number = carrying(model.tree, [unit])
        arrays = unit_arrays(units, {number[unit]})
        tool = arrays.seen_from(number[unit], hangs @ frame.origin)
        columns = frame_columns(units, number[unit])
        found = model.queries[frame.name] = _Query(
            arrays.numbers,
            arrays.places,
            number[unit],
            np.concatenate([quaternion_matrix(tool.wxyz).ravel(), tool.xyz]),
            columns.raw,
            columns.scales,
            np.array(columns.velocities, dtype=np.int64),
        )
    return found


def frame_poses(model: Model, frame: Frame, q: Array) -> Array:
    """(..., 7) world poses of `frame` at q (..., nq)."""
    f = _query(model, frame)
    flat = np.array(q.reshape(math.prod(q.shape[:-1]), model.nq), order="C")
    out = np.empty((len(flat), 7))
    prepare(query.poses)
    query.poses(f.units, f.places, f.tip, f.tool, flat, np.empty(FRAME * len(f.units)), out)
    return out.reshape(*q.shape[:-1], 7)


def frame_jacobians(model: Model, frame: Frame, q: Array) -> tuple[Array, Array]:
    """(..., 6, nv) world-aligned Jacobians and (..., 7) world poses of `frame` at q (..., nq)."""
    f = _query(model, frame)
    flat = np.array(q.reshape(math.prod(q.shape[:-1]), model.nq), order="C")
    poses, out = np.empty((len(flat), 7)), np.zeros((len(flat), 6, model.nv))
    frames, columns = np.empty(FRAME * len(f.units)), 3 * len(f.velocities)
    linear, angular = np.empty(columns), np.empty(columns)
    prepare(query.jacobians)
    query.jacobians(
        f.units, f.places, f.raw, f.scales, f.velocities, f.tip, f.tool, flat, frames, linear, angular, poses, out
    )
    return out.reshape(*q.shape[:-1], 6, model.nv), poses.reshape(*q.shape[:-1], 7)

"""Poses and Jacobians of a model's frames and of its centre of mass: names to arrays, arrays to kernels."""

import math
from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from poise.kernels.kinematics import query
from poise.kernels.machine.jit import prepare
from poise.model.model import Frame, Model
from poise.model.tree import FRAME, bodies, carrying, frame_columns, massless, unit_arrays, unit_columns
from poise.spatial import Array, quaternion_matrix


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
        made = _Query(
            arrays.numbers,
            arrays.places,
            number[unit],
            np.concatenate([quaternion_matrix(tool.wxyz).ravel(), tool.xyz]),
            columns.raw,
            columns.scales,
            np.array(columns.velocities, dtype=np.int64),
        )
        found = model.queries.setdefault(frame.name, made)  # another thread may have been first
    return found


def _rows(q: Array) -> Array:
    """(n, nq) the configurations one below the other, as the kernels take them: writable, though they only read."""
    rows = q.reshape(math.prod(q.shape[:-1]), q.shape[-1])
    return rows if rows.flags.carray else np.array(rows, order="C")


def frame_poses(model: Model, frame: Frame, q: Array) -> Array:
    """(..., 7) world poses of `frame` at q (..., nq)."""
    f, flat = _query(model, frame), _rows(q)
    out = np.empty((len(flat), 7))
    prepare(query.poses)
    query.poses(f.units, f.places, f.tip, f.tool, flat, np.empty(FRAME * len(f.units)), out)
    return out.reshape(*q.shape[:-1], 7)


def frame_jacobians(model: Model, frame: Frame, q: Array) -> tuple[Array, Array]:
    """(..., 6, nv) world-aligned Jacobians and (..., 7) world poses of `frame` at q (..., nq)."""
    f, flat = _query(model, frame), _rows(q)
    poses, out = np.empty((len(flat), 7)), np.zeros((len(flat), 6, model.nv))
    frames, columns = np.empty(FRAME * len(f.units)), 3 * len(f.velocities)
    linear, angular = np.empty(columns), np.empty(columns)
    prepare(query.jacobians)
    query.jacobians(
        f.units, f.places, f.raw, f.scales, f.velocities, f.tip, f.tool, flat, frames, linear, angular, poses, out
    )
    return out.reshape(*q.shape[:-1], 6, model.nv), poses.reshape(*q.shape[:-1], 7)


@final
@dataclass(frozen=True, slots=True)
class _Balance:
    units: npt.NDArray[np.int64]
    places: Array
    bodies: Array
    raw: npt.NDArray[np.int64]
    scales: Array
    velocities: npt.NDArray[np.int64]


def _balance(model: Model) -> _Balance:
    found = model.queries.get(None)
    if found is None:
        if model.mass == 0.0:
            raise massless(model)
        heavy = np.flatnonzero(model.tree.masses[:-1]).tolist()
        units, number = carrying(model.tree, heavy)
        arrays = unit_arrays(units, {number[unit] for unit in heavy})
        columns = unit_columns(units, [(i, 1.0) for i in range(len(units))])
        made = _Balance(
            arrays.numbers,
            arrays.places,
            bodies(model, arrays, number),
            columns.raw,
            columns.scales,
            np.array(columns.velocities, dtype=np.int64),
        )
        found = model.queries.setdefault(None, made)  # another thread may have been first
    return found


def mass_centres(model: Model, q: Array) -> Array:
    """(..., 3) centres of mass of `model` in the world at q (..., nq); raises ValueError if it has no mass."""
    b, flat = _balance(model), _rows(q)
    frames, moments, out = np.empty(FRAME * len(b.units)), np.empty(3 * len(b.bodies)), np.empty((len(flat), 3))
    prepare(query.mass_centres)
    query.mass_centres(b.units, b.places, b.bodies, flat, frames, moments, out)
    return out.reshape(*q.shape[:-1], 3)


def mass_centre_jacobians(model: Model, q: Array) -> Array:
    """(..., 3, nv) Jacobians of the centre of mass of `model` at q (..., nq); raises as `mass_centres` does."""
    b, flat = _balance(model), _rows(q)
    frames, moments = np.empty(FRAME * len(b.units)), np.empty(3 * len(b.bodies))
    linear, out = np.empty(3 * len(b.velocities)), np.zeros((len(flat), 3, model.nv))
    prepare(query.mass_centre_jacobians)
    query.mass_centre_jacobians(
        b.units, b.places, b.bodies, b.raw, b.scales, b.velocities, flat, frames, moments, linear, out
    )
    return out.reshape(*q.shape[:-1], 3, model.nv)

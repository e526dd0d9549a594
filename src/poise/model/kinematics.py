"""Poses, Jacobians and manipulability of a model's frames, and its centre of mass: names to arrays to kernels."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.checks import by_name, finite
from poise.common.errors import InvalidValue
from poise.kernels.machine import packing
from poise.kernels.machine.jit import prepare
from poise.kernels.machine.layout import BODY, COLUMN, EFFECTOR, FRAME
from poise.kernels.machine.packing import joined
from poise.model.frame import Frame
from poise.model.tree import Columns, UnitArrays, bodies, carrying, frame_columns, massless, unit_arrays, unit_columns
from poise.quaternions import quaternion_matrix
from poise.spatial import SE3, frozen

if TYPE_CHECKING:
    from poise.model.model import Model

_LOOKS: Final = 64
"""Configurations that say which way a frame can be moved at all."""
_NO_ROWS: Final[Mapping[str, int]] = {}
_ROWS: Final = {"pose": slice(6), "position": slice(3), "rotation": slice(3, 6)}


@final
class Query:
    """A problem of frames, or of the centre of mass, and what it takes to ask it."""

    __slots__ = ("address", "bodies", "columns", "frames", "words")

    def __init__(
        self, units: UnitArrays, columns: Sequence[Columns], rows: Mapping[str, int] = _NO_ROWS, **parts: Any
    ) -> None:
        """The problem with these sections more, and so many rows of a workspace."""
        self.words = packing.pack(
            {
                **units.sections,
                "columns": np.concatenate(
                    [joined(COLUMN, (), ()), *(joined(COLUMN, each.raw, each.scales) for each in columns)]
                ),
                "slots": [v for each in columns for v in each.velocities],
                **parts,
            },
            rows,
        )
        self.address = int(self.words.ctypes.data)
        self.frames, self.columns = (
            FRAME * len(units.numbers),
            3 * max((len(each.velocities) for each in columns), default=0),
        )
        self.bodies = 3 * len(units.numbers) + 3


def _query(model: "Model", frame: Frame) -> Query:
    found = model.queries.get(frame.name)
    return _cached(model, frame.name, [frame]) if found is None else found


def query_of_all(model: "Model", frames: Sequence[Frame]) -> Query:
    """The problem of these frames, an effector for each."""
    names = tuple(frame.name for frame in frames)
    found = model.queries.get(names)
    return _cached(model, names, frames) if found is None else found


def _cached(model: "Model", key: Any, frames: Sequence[Frame]) -> Query:
    hung = [model.tree.links[frame.link] for frame in frames]
    units, number = carrying(model.tree, [unit for unit, _ in hung])
    tips = [number[unit] for unit, _ in hung]
    arrays = unit_arrays(units, set(tips))
    columns = [frame_columns(units, tip) for tip in tips]
    hangs = [hang @ frame.origin for (_, hang), frame in zip(hung, frames, strict=True)]
    effectors = effectors_of(arrays, list(zip(tips, hangs, strict=True)), columns)
    made = Query(arrays, columns, effectors=effectors.view(np.int64))
    found: Query = model.queries.setdefault(key, made)  # another thread may have been first
    return found


def effectors_of(arrays: UnitArrays, hung: Sequence[tuple[int, SE3]], columns: Sequence[Columns]) -> Any:
    """(n,) effectors for what hangs on these units, one after the other in columns and slots."""
    effectors = np.zeros(len(hung), dtype=EFFECTOR.dtype)
    column = slot = 0
    for effector, (tip, hang), own in zip(effectors, hung, columns, strict=True):
        effector["tip"], effector["tool"] = tip, tool(arrays, tip, hang)
        effector["columns"], effector["first_slot"] = len(own.velocities), slot
        effector["first_column"], effector["last_column"] = column, column + len(own.raw)
        column, slot = column + len(own.raw), slot + len(own.velocities)
    return effectors


def tool(arrays: UnitArrays, unit: int, hang: SE3) -> Array:
    """(12,) what hangs on a unit, as the arrays have its frame: rotation 9, row by row, and place 3 [m]."""
    pose = arrays.seen_from(unit, hang)
    return np.concatenate([quaternion_matrix(pose.wxyz).ravel(), pose.xyz])


def _balance(model: "Model") -> Query:
    found = model.queries.get(None)
    if found is None:
        if model.mass == 0.0:
            raise massless(model)
        heavy = np.flatnonzero(model.tree.masses[:-1]).tolist()
        units, number = carrying(model.tree, heavy)
        arrays = unit_arrays(units, {number[unit] for unit in heavy})
        columns = unit_columns(units, [(i, 1.0) for i in range(len(units))])
        made = Query(arrays, [columns], bodies=joined(BODY, (), bodies(model, arrays, number)))
        found = model.queries.setdefault(None, made)  # another thread may have been first
    return found


def _rows(q: Array) -> Array:
    """(n nq,) the configurations one after the other, as the kernels take them: writable, though they only read."""
    return q.reshape(-1) if q.flags.carray else np.array(q, order="C").ravel()


def frame_poses(model: "Model", frame: Frame, q: Array) -> Array:
    """(..., 7) world poses of `frame` at q (..., nq)."""
    f, count = _query(model, frame), math.prod(q.shape[:-1])
    out = np.empty(7 * count)
    evaluate = prepare("kinematics.query.poses")
    if count:
        evaluate(f.address, _rows(q), np.empty(f.frames), out, count)
    return out.reshape(*q.shape[:-1], 7)


def all_poses(model: "Model", frames: Sequence[Frame], q: Array) -> Array:
    """(..., frames, 7) world poses of `frames` at q (..., nq)."""
    f, count = query_of_all(model, frames), math.prod(q.shape[:-1])
    out = np.empty(7 * len(frames) * count)
    evaluate = prepare("kinematics.query.poses")
    if count:
        evaluate(f.address, _rows(q), np.empty(f.frames), out, count)
    return out.reshape(*q.shape[:-1], len(frames), 7)


def frame_jacobians(model: "Model", frame: Frame, q: Array) -> tuple[Array, Array]:
    """(..., 6, nv) world-aligned Jacobians and (..., 7) world poses of `frame` at q (..., nq)."""
    f, count = _query(model, frame), math.prod(q.shape[:-1])
    poses, out = np.empty(7 * count), np.zeros((count, 6, model.nv))
    evaluate = prepare("kinematics.query.jacobians")
    if count:
        linear, angular = np.empty(f.columns), np.empty(f.columns)
        evaluate(f.address, 0, _rows(q), np.empty(f.frames), linear, angular, poses, out)
    return out.reshape(*q.shape[:-1], 6, model.nv), poses.reshape(*q.shape[:-1], 7)


def frame_manipulability(model: "Model", frame: Frame, q: Array, basis: Array) -> Array:
    """(...,) products of the singular values of `basis @ J` at q (..., nq), 0 where it loses rank.

    `basis` (r, 6) has orthonormal rows, and J is the world-aligned Jacobian of `frame` for the joints that move it.
    """
    f, count = _query(model, frame), math.prod(q.shape[:-1])
    joints, out = f.columns // 3, np.empty(count)
    evaluate = prepare("kinematics.manipulability.manipulabilities")
    if count:
        small = min(len(basis), joints)
        linear, angular = np.empty(f.columns), np.empty(f.columns)
        scratch, transforms = np.empty(len(basis) * joints + small * small), np.empty(f.frames)
        rows = np.array(basis, dtype=np.float64, order="C")
        evaluate(f.address, rows, _rows(q), transforms, linear, angular, scratch, out)
    return out.reshape(q.shape[:-1])


def twists(model: "Model", frame: Frame, rows: str) -> Array:
    """(r, 6) an orthonormal basis of the twists that the joints can ever give a frame, of their `rows` alone.

    For most arms it spans all six; a planar arm has three, and without it every configuration of one would be singular.
    Raises ValueError where there is none.
    """
    key = twists, frame.name, rows
    if key not in model.queries:
        chosen_rows = _ROWS[rows]
        seen, _ = frame_jacobians(model, frame, model.sample(_LOOKS, seed=0))
        basis, sizes, _ = np.linalg.svd(np.concatenate(list(seen[:, chosen_rows]), axis=1), full_matrices=False)
        if not sizes.any():
            raise InvalidValue(
                "nothing-moves",
                f"no joint of {model.name} moves the {rows} of {frame.name!r}: it has no manipulability",
            )
        some = basis[:, sizes > 1e-9 * sizes[0]].T
        made = np.zeros((len(some), 6))
        made[:, chosen_rows] = some
        model.queries[key] = frozen(made)
    found: Array = model.queries[key]
    return found


def mass_centres(model: "Model", q: Array) -> Array:
    """(..., 3) centres of mass of `model` in the world at q (..., nq); raises ValueError if it has no mass."""
    b, count = _balance(model), math.prod(q.shape[:-1])
    out = np.empty((count, 3))
    evaluate = prepare("kinematics.query.mass_centres")
    if count:
        evaluate(b.address, _rows(q), np.empty(b.frames), np.empty(b.bodies), out)
    return out.reshape(*q.shape[:-1], 3)


def mass_centre_jacobians(model: "Model", q: Array) -> Array:
    """(..., 3, nv) Jacobians of the centre of mass of `model` at q (..., nq); raises as `mass_centres` does."""
    b, count = _balance(model), math.prod(q.shape[:-1])
    out = np.zeros((count, 3, model.nv))
    evaluate = prepare("kinematics.query.mass_centre_jacobians")
    if count:
        frames, moments, linear = np.empty(b.frames), np.empty(b.bodies), np.empty(b.columns)
        evaluate(b.address, _rows(q), frames, moments, linear, out)
    return out.reshape(*q.shape[:-1], 3, model.nv)


def holding_torques(model: "Model", q: Array, wrenches: Mapping[str, ArrayLike], gravity: ArrayLike) -> Array:
    """(..., nv) of `Model.gravity_torques`: the work of all that acts, J^T f, is what the joints give against it."""
    by_name("wrenches", wrenches, "{'hand': (0, 0, -20, 0, 0, 0)}")
    if model.still:  # which bear their load as others do
        model = model.queries.setdefault(holding_torques, model._moving(frozenset(), {}))
    weight = model.mass * finite("gravity", gravity, 3)
    torques = -np.einsum("...ij,...i->...j", mass_centre_jacobians(model, q), weight)
    for name, wrench in wrenches.items():
        jacobians, _ = frame_jacobians(model, model.frame(name), q)
        torques = torques - np.einsum("...ij,...i->...j", jacobians, finite(f"wrenches[{name!r}]", wrench, 6))
    return torques

"""Shapes as the kernels read them: a record each, see `SHAPE`, and the vertices of hulls in packs."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.geometry.shapes import Core
from poise.kernels.machine.layout import POINT, SHAPE, WIDTH
from poise.kernels.machine.packing import joined
from poise.quaternions import quaternion_matrix
from poise.spatial import SE3


def records_of(
    cores: Sequence[Core], units: Sequence[int], poses: Sequence[SE3], first: int = 0
) -> tuple[npt.NDArray[np.int64], Array]:
    """The records of shapes on these units, seen from there, and (packs, 3, 8) the vertices of all of them, which begin
    at the pack `first`."""
    vertices = [packed(core.vertices) for core in cores if len(core.vertices)]
    counts = [-(-len(core.vertices) // WIDTH) for core in cores]
    ends = first + np.cumsum(counts, dtype=np.int64)
    whole = np.array([[core.kind for core in cores], units, ends - counts, ends], dtype=np.int64).T
    for row, core in zip(whole, cores, strict=True):
        if core.tree is not None:
            row[2:] = _place_of(core.tree)
    return joined(SHAPE, whole, _reals(cores, poses)), np.concatenate([np.zeros((0, 3, WIDTH)), *vertices])


def nothing(packs: int) -> npt.NDArray[np.int64]:
    """(1, words) the record that is behind those of all shapes, and what comes after so many packs."""
    return joined(SHAPE, [[POINT, -1, packs, packs]], np.zeros((1, SHAPE.words - SHAPE.whole)))


def put_into(record: Any, core: Core, pose: SE3) -> None:
    """Write where and how large a shape is into its record (1,)."""
    if core.tree is not None:
        record["first_pack"], record["last_pack"] = _place_of(core.tree)
    record.view(np.float64).reshape(1, -1)[:, SHAPE.whole :] = _reals([core], [pose])


def _reals(cores: Sequence[Core], poses: Sequence[SE3]) -> Array:
    """(n, 18) the real numbers of records."""
    places = np.array([pose.array for pose in poses]).reshape(-1, 7)
    sizes = [(*core.half.tolist(), core.radius, core.bound, core.girth) for core in cores]
    turns = quaternion_matrix(places[:, 3:]).reshape(-1, 9)
    return np.concatenate([turns, places[:, :3], np.array(sizes).reshape(-1, 6)], axis=1)


def _place_of(tree: Array) -> tuple[int, int]:
    """Where a tree is, and how many numbers it has."""
    return tree.ctypes.data, len(tree)


def packed(vertices: Array) -> Array:
    """(packs, 3, 8) vertices (n, 3) as kernels read them, eight side by side; the last one fills the last pack."""
    full = np.concatenate([vertices, vertices[-1:].repeat(-len(vertices) % WIDTH, axis=0)])
    return np.ascontiguousarray(full.reshape(-1, WIDTH, 3).swapaxes(1, 2))

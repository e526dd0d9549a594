"""Write a skeleton and its motion as glTF 2.0: nodes, a skin without a mesh, and one animation.

Khronos Group, glTF 2.0 Specification: 3.7.3 (skins), 3.11 (animations), 4.4 (the container GLB).
"""

import base64
import json
import os
import struct
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from poise.errors import ShapeError
from poise.io.gltf import UPRIGHT
from poise.io.gltf_document import BINARY_CHUNK, FLOAT, GLB, JSON_CHUNK
from poise.io.skeletons import SkeletonFile
from poise.spatial import Array, conjugate, quaternion_matrix, quaternion_product, rotate

_KINDS: Final = {1: "SCALAR", 3: "VEC3", 4: "VEC4", 16: "MAT4"}


def write_gltf(path: str | os.PathLike[str], skeleton: SkeletonFile) -> None:
    """Write the skeleton and its motion to `path`, y up: `.glb` is one binary file, `.gltf` JSON with a data URI.

    Numbers are 32-bit floats, as the format has them.  Translations are written of joints that have no parent and of
    those whose bones change; rotations of all.

    Raises ValueError for another suffix and for times that do not ascend as 32-bit floats, ShapeError for arrays that
    do not fit each other.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in (".glb", ".gltf"):
        raise ValueError(f"{str(path)!r} ends neither in .glb nor in .gltf, which say how a glTF is written")
    _check(skeleton)
    document, data = _document(skeleton)
    if suffix == ".gltf":
        document["buffers"][0]["uri"] = "data:application/octet-stream;base64," + base64.b64encode(data).decode()
        path.write_text(json.dumps(document, indent=1), encoding="utf-8")
    else:
        text = json.dumps(document, separators=(",", ":")).encode()
        chunks = _chunk(JSON_CHUNK, text + b" " * (-len(text) % 4)) + _chunk(BINARY_CHUNK, data)
        path.write_bytes(GLB + struct.pack("<II", 2, 12 + len(chunks)) + chunks)


def _chunk(kind: int, data: bytes) -> bytes:
    return struct.pack("<II", len(data), kind) + data


def _check(skeleton: SkeletonFile) -> None:
    n, frames = len(skeleton.names), len(skeleton.times)
    shapes = {
        "rest_xyz": (skeleton.rest_xyz, (n, 3)),
        "rest_wxyz": (skeleton.rest_wxyz, (n, 4)),
        "times": (skeleton.times, (frames,)),
        "xyz": (skeleton.xyz, (frames, n, 3)),
        "wxyz": (skeleton.wxyz, (frames, n, 4)),
    }
    for name, (array, shape) in shapes.items():
        if array.shape != shape:
            raise ShapeError(f"{name} has shape {array.shape}; {n} joints and {frames} frames need {shape}")
        if not np.isfinite(array).all():
            raise ValueError(f"{name} has numbers that are not finite; a glTF cannot hold them")
    if not n or not frames:
        raise ShapeError(f"a glTF needs a joint and a frame, and there are {n} and {frames}")
    if len(skeleton.parents) != n or not all(-1 <= parent < i for i, parent in enumerate(skeleton.parents)):
        raise ValueError(f"parents are {skeleton.parents}; each of the {n} joints has one before it, or -1")
    if (np.diff(skeleton.times.astype(np.float32)) <= 0.0).any():
        raise ValueError("times do not ascend, or by less than 32-bit floats tell apart; resample the motion")


@final
class _Buffer:
    """Numbers one behind the other, and the accessors that lead to them."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.views: list[dict[str, Any]] = []
        self.accessors: list[dict[str, Any]] = []

    def add(self, values: Array) -> int:
        """The accessor of (count, width) numbers; least and most are told, which the format wants of times."""
        numbers = np.ascontiguousarray(values, dtype="<f4")
        self.views.append({"buffer": 0, "byteOffset": len(self.data), "byteLength": numbers.nbytes})
        self.accessors.append(
            {
                "bufferView": len(self.views) - 1,
                "componentType": FLOAT,
                "count": len(numbers),
                "type": _KINDS[numbers.shape[1]],
                "min": numbers.min(axis=0).tolist(),
                "max": numbers.max(axis=0).tolist(),
            }
        )
        self.data += numbers.tobytes()
        return len(self.accessors) - 1


def _document(skeleton: SkeletonFile) -> tuple[dict[str, Any], bytes]:
    rest_xyz, rest_wxyz = _y_up(skeleton.parents, skeleton.rest_xyz, skeleton.rest_wxyz)
    xyz, wxyz = _y_up(skeleton.parents, skeleton.xyz, skeleton.wxyz)
    nodes: list[dict[str, Any]] = [
        {"name": name, "translation": at.tolist(), "rotation": turn[[1, 2, 3, 0]].tolist()}
        for name, at, turn in zip(skeleton.names, rest_xyz, rest_wxyz, strict=True)
    ]
    for joint, parent in enumerate(skeleton.parents):
        if parent >= 0:
            nodes[parent].setdefault("children", []).append(joint)
    roots = [joint for joint, parent in enumerate(skeleton.parents) if parent < 0]
    if len(roots) > 1:  # the joints of a skin have a node above all of them
        nodes.append({"name": "skeleton", "children": roots})
        roots = [len(nodes) - 1]
    buffer = _Buffer()
    bind = buffer.add(_inverse_bind(skeleton.parents, rest_xyz, rest_wxyz))
    time = buffer.add(skeleton.times[:, None])
    samplers: list[dict[str, Any]] = []
    channels: list[dict[str, Any]] = []

    def animate(joint: int, part: str, values: Array) -> None:
        channels.append({"sampler": len(samplers), "target": {"node": joint, "path": part}})
        samplers.append({"input": time, "output": buffer.add(values), "interpolation": "LINEAR"})

    for joint, parent in enumerate(skeleton.parents):
        if parent < 0 or (xyz[:, joint] != rest_xyz[joint]).any():
            animate(joint, "translation", xyz[:, joint])
        animate(joint, "rotation", wxyz[:, joint][:, [1, 2, 3, 0]])
    return {
        "asset": {"version": "2.0", "generator": "poise"},
        "scene": 0,
        "scenes": [{"nodes": roots}],
        "nodes": nodes,
        "skins": [{"joints": [*range(len(skeleton.names))], "skeleton": roots[0], "inverseBindMatrices": bind}],
        "animations": [{"name": skeleton.name, "channels": channels, "samplers": samplers}],
        "buffers": [{"byteLength": len(buffer.data)}],
        "bufferViews": buffer.views,
        "accessors": buffer.accessors,
    }, bytes(buffer.data)


def _y_up(parents: tuple[int, ...], xyz: Array, wxyz: Array) -> tuple[Array, Array]:
    """Local poses (..., joints, 3 and 4) with those without a parent turned from z up to y up."""
    root = (np.array(parents) < 0)[:, None]
    back = conjugate(UPRIGHT)
    return np.where(root, rotate(back, xyz), xyz), np.where(root, quaternion_product(back, wxyz), wxyz)


def _inverse_bind(parents: tuple[int, ...], xyz: Array, wxyz: Array) -> Array:
    """(joints, 16) inverse matrices of the joints' poses in the world, column by column."""
    matrices = np.zeros((len(parents), 4, 4))
    matrices[:, :3, :3] = quaternion_matrix(wxyz)
    matrices[:, :3, 3] = xyz
    matrices[:, 3, 3] = 1.0
    for joint, parent in enumerate(parents):
        if parent >= 0:
            matrices[joint] = matrices[parent] @ matrices[joint]
    inverse = np.zeros_like(matrices)
    turned = matrices[:, :3, :3].swapaxes(1, 2)
    inverse[:, :3, :3] = turned
    inverse[:, :3, 3] = -(turned @ matrices[:, :3, 3:])[..., 0]
    inverse[:, 3, 3] = 1.0
    return inverse.swapaxes(1, 2).reshape(-1, 16)

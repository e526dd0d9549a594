"""Write a skeleton and its motion as glTF 2.0: nodes, a skin without a mesh, and one animation.

Khronos Group, glTF 2.0 Specification: 3.7.3 (skins), 3.11 (animations), 4.4 (the container GLB).
"""

import base64
import json
import struct
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from poise.common.array import Array
from poise.common.errors import InvalidValue
from poise.common.files import write_whole
from poise.io.gltf_document import BINARY_CHUNK, FLOAT, GLB, JSON_CHUNK
from poise.io.skeleton import SkeletonFile
from poise.quaternions import conjugate, quaternion_matrix, quaternion_product, rotate

_XYZW: Final = [1, 2, 3, 0]
_UPRIGHT: Final = np.array([np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0])
"""Turns what is y up a quarter about x, so that z is, as `Z_UP` does."""
_KINDS: Final = {1: "SCALAR", 3: "VEC3", 4: "VEC4", 16: "MAT4"}


def write_gltf(skeleton: SkeletonFile, path: Path) -> None:
    """Write a skeleton and its frames, y up, in metres: `.glb` is one binary file, `.gltf` JSON with a data URI.

    Numbers are 32-bit floats, as the format has them.  Ends of bones are nodes that are no joints.  Raises ValueError
    for another suffix, for a skeleton without joints or frames, and for times that do not grow as 32-bit floats.
    """
    suffix = path.suffix.lower()
    if suffix not in (".glb", ".gltf"):
        raise InvalidValue(
            "wrong-format", f"{str(path)!r} ends neither in .glb nor in .gltf, which say how a glTF is written"
        )
    if not skeleton.joints or not len(skeleton.times):
        raise InvalidValue(
            "empty", f"a glTF needs a joint and a frame; there are {len(skeleton.joints)} and {len(skeleton.times)}"
        )
    if (np.diff(skeleton.times.astype(np.float32)) <= 0.0).any():
        raise InvalidValue(
            "not-supported",
            "times grow by less than 32-bit floats tell apart; begin at 0, or take fewer frames a second",
        )
    document, data = _document(skeleton)
    if suffix == ".gltf":
        document["buffers"][0]["uri"] = "data:application/octet-stream;base64," + base64.b64encode(data).decode()
        write_whole(path, json.dumps(document, indent=1))
    else:
        text = json.dumps(document, separators=(",", ":")).encode()
        chunks = _chunk(JSON_CHUNK, text + b" " * (-len(text) % 4)) + _chunk(BINARY_CHUNK, data)
        write_whole(path, GLB + struct.pack("<II", 2, 12 + len(chunks)) + chunks)


def _chunk(kind: int, data: bytes) -> bytes:
    return struct.pack("<II", len(data), kind) + data


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
    """The JSON and its one buffer.  At rest the axes of all joints are those of the skeleton's world."""
    joints = skeleton.joints
    back = conjugate(_UPRIGHT) if skeleton.up == "z" else np.array([1.0, 0.0, 0.0, 0.0])
    nodes: list[dict[str, Any]] = []
    for joint in joints:
        at = joint.offset if joint.parent >= 0 else rotate(back, joint.offset)
        nodes.append({"name": joint.name, "translation": at.tolist()})
        if joint.parent >= 0:
            nodes[joint.parent].setdefault("children", []).append(len(nodes) - 1)
        else:
            nodes[-1]["rotation"] = back[_XYZW].tolist()
    for name, joint_number, place in skeleton.ends:
        nodes[joint_number].setdefault("children", []).append(len(nodes))
        nodes.append({"name": name, "translation": place.tolist()})
    roots = [number for number, joint in enumerate(joints) if joint.parent < 0]
    if len(roots) > 1:  # the joints of a skin have a node above all of them
        nodes.append({"name": "skeleton", "children": roots})
        roots = [len(nodes) - 1]
    buffer = _Buffer()
    bind = buffer.add(_inverse_bind(skeleton, back))
    time = buffer.add(skeleton.times[:, None])
    samplers: list[dict[str, Any]] = []
    channels: list[dict[str, Any]] = []

    def animate(node: int, path: str, values: Array) -> None:
        channels.append({"sampler": len(samplers), "target": {"node": node, "path": path}})
        samplers.append({"input": time, "output": buffer.add(values), "interpolation": "LINEAR"})

    for i, joint in enumerate(joints):
        root = joint.parent < 0
        if i in skeleton.places:
            animate(i, "translation", rotate(back, skeleton.places[i]) if root else skeleton.places[i])
        if joint.turns or i in skeleton.places:
            turns = quaternion_product(back, skeleton.turns[:, i]) if root else skeleton.turns[:, i]
            animate(i, "rotation", turns[:, _XYZW])
    return {
        "asset": {"version": "2.0", "generator": "poise"},
        "scene": 0,
        "scenes": [{"nodes": roots}],
        "nodes": nodes,
        "skins": [{"joints": [*range(len(joints))], "skeleton": roots[0], "inverseBindMatrices": bind}],
        "animations": [{"name": skeleton.name, "channels": channels, "samplers": samplers}],
        "buffers": [{"byteLength": len(buffer.data)}],
        "bufferViews": buffer.views,
        "accessors": buffer.accessors,
    }, bytes(buffer.data)


def _inverse_bind(skeleton: SkeletonFile, back: Array) -> Array:
    """(joints, 16) inverse matrices of the joints' poses in the world at rest, column by column.

    At rest a joint is at R p, with the axes R that all have: the inverse is R^T x - p.
    """
    places = np.zeros((len(skeleton.joints), 3))
    for i, joint in enumerate(skeleton.joints):
        places[i] = joint.offset + (places[joint.parent] if joint.parent >= 0 else 0.0)
    inverse = np.zeros((len(places), 4, 4))
    inverse[:, :3, :3] = quaternion_matrix(back).T
    inverse[:, :3, 3] = -places
    inverse[:, 3, 3] = 1.0
    return inverse.swapaxes(1, 2).reshape(-1, 16)

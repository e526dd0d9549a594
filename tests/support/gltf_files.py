"""glTF files that are put together by hand."""

import base64
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

CODES = {"b": 5120, "B": 5121, "h": 5122, "H": 5123, "I": 5125, "f": 5126}
KINDS = {1: "SCALAR", 3: "VEC3", 4: "VEC4", 16: "MAT4"}
KEYS = np.array([0.5, 0.75, 1.5, 2.0])


class Gltf:
    """A document that is put together by hand."""

    def __init__(self, nodes: list[dict[str, Any]], joints: list[int] | None = None) -> None:
        self.data = b""
        self.json: dict[str, Any] = {
            "asset": {"version": "2.0"},
            "nodes": nodes,
            "accessors": [],
            "bufferViews": [],
            "buffers": [{}],
        }
        if joints is not None:
            self.json["skins"] = [{"joints": joints}]

    def view(self, data: bytes, **more: Any) -> int:
        self.data += b"\0" * (-len(self.data) % 4)
        self.json["bufferViews"].append({"buffer": 0, "byteOffset": len(self.data), "byteLength": len(data), **more})
        self.data += data
        return len(self.json["bufferViews"]) - 1

    def accessor(self, values: Any, code: str = "f", **more: Any) -> int:
        values = np.asarray(values)
        values = values[:, None] if values.ndim == 1 else values
        data = values.astype("<" + {"b": "i1", "B": "u1", "h": "i2", "H": "u2", "I": "u4", "f": "f4"}[code]).tobytes()
        return self.add(len(values), values.shape[1], code, bufferView=self.view(data), **more)

    def add(self, count: int, width: int, code: str = "f", **more: Any) -> int:
        self.json["accessors"].append({"componentType": CODES[code], "count": count, "type": KINDS[width], **more})
        return len(self.json["accessors"]) - 1

    def animate(self, node: int, path: str, keys: Any, values: Any, interpolation: str = "LINEAR") -> "Gltf":
        clip = self.json.setdefault("animations", [{"name": "walk", "channels": [], "samplers": []}])[0]
        clip["channels"].append({"sampler": len(clip["samplers"]), "target": {"node": node, "path": path}})
        output = values if isinstance(values, int) else self.accessor(values)
        clip["samplers"].append({"input": self.accessor(keys), "output": output, "interpolation": interpolation})
        return self

    def glb(self) -> bytes:
        self.json["buffers"] = [{"byteLength": len(self.data)}]
        text = json.dumps(self.json).encode()
        chunks = b"".join(
            struct.pack("<II", len(chunk) + (-len(chunk) % 4), kind) + chunk + filler * (-len(chunk) % 4)
            for kind, chunk, filler in ((0x4E4F534A, text, b" "), (0x004E4942, self.data, b"\0"))
        )
        return b"glTF" + struct.pack("<II", 2, 12 + len(chunks)) + chunks

    def text(self, uri: str | None = None) -> str:
        uri = uri or "data:application/octet-stream;base64," + base64.b64encode(self.data).decode()
        self.json["buffers"] = [{"byteLength": len(self.data), "uri": uri}]
        return json.dumps(self.json)

    def saved(self, folder: Path) -> Path:
        """A .glb of it in a folder."""
        file = folder / "test.glb"
        file.write_bytes(self.glb())
        return file


def arm(**first: Any) -> list[dict[str, Any]]:
    """Nodes of three joints in a row; `first` is added to the first of them."""
    return [
        {"name": "upper", "children": [1], **first},
        {"name": "lower", "translation": [0, 0.3, 0], "children": [2]},
        {"name": "hand", "translation": [0, 0.2, 0.1]},
    ]


def pose_matrix(node: dict[str, Any]) -> np.ndarray:
    """(4, 4) the pose of a node in the one above it."""
    if "matrix" in node:
        return np.reshape(node["matrix"], (4, 4)).T
    matrix = np.eye(4)
    turned = Rotation.from_quat(node.get("rotation", [0, 0, 0, 1])).as_matrix()
    matrix[:3, :3] = turned * node.get("scale", [1, 1, 1])
    matrix[:3, 3] = node.get("translation", [0, 0, 0])
    return matrix


def placed(parents: tuple[int, ...], xyz: np.ndarray, wxyz: np.ndarray) -> np.ndarray:
    """(joints, 4, 4) poses in the world of joints that have these in their parents."""
    found: list[np.ndarray] = []
    for parent, at, turn in zip(parents, xyz, wxyz, strict=True):
        matrix = np.eye(4)
        matrix[:3, :3] = Rotation.from_quat(turn, scalar_first=True).as_matrix()
        matrix[:3, 3] = at
        found.append(matrix if parent < 0 else found[parent] @ matrix)
    return np.array(found)


def turns(seed: int, count: int = 4) -> np.ndarray:
    """(count, 4) rotations x y z w that are exact in 32 bits."""
    return Rotation.random(count, rng=np.random.default_rng(seed)).as_quat().astype(np.float32).astype(float)


def walking() -> Gltf:
    """An arm that goes and turns."""
    gltf = Gltf(arm(), [0, 1, 2])
    bind = np.array([np.eye(4)] * 3)
    bind[1:, :3, 3] = [[0, 0.3, 0], [0, 0.5, 0.1]]
    gltf.json["skins"][0]["inverseBindMatrices"] = gltf.accessor(np.linalg.inv(bind).swapaxes(1, 2).reshape(3, 16))
    return gltf.animate(0, "translation", KEYS, np.arange(12.0).reshape(4, 3)).animate(1, "rotation", KEYS, turns(6))

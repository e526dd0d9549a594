"""The joints of a glTF file: their tree, how they stand at rest, and where they are in each frame.

Khronos Group, glTF 2.0 Specification: 3.5 (nodes), 3.7.3 (skins), 3.11 (animations).  The order of the hand's joints is
that of the WebXR Hand Input Module, Level 1 (W3C), "XRHandJoint".
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, final

import numpy as np

from poise.common.array import Array
from poise.common.errors import NameNotFound
from poise.io.gltf_channels import WIDTHS, Channel, normalised, read_channel, sample_times, unit
from poise.io.gltf_document import Document, Item, read_document
from poise.io.skeleton import continuous, numbered
from poise.io.vrm import bones_of
from poise.quaternions import conjugate, matrix_quaternion, quaternion_product, rotate
from poise.spatial import BOUND, LARGEST

_FINGERS: Final = ("thumb", "index-finger", "middle-finger", "ring-finger", "pinky-finger")
_JOINTS: Final = 4096
"""The most joints of a skeleton, and the most ends of bones."""
_NUMBERS: Final = 2**26
"""More numbers in the channels of an animation than memory is for."""
_UNIFORM: Final = 1e-3
"""Scales along the axes that differ by no more than this share are one scale that was rounded."""
_SAME: Final = 1e-2
"""Bones at rest are those of the nodes if they differ by no more than this share of their length.

A hundredth of it, of the longest bone, is allowed besides, for bones that have almost no length.
"""


def _webxr_parents() -> dict[str, str | None]:
    parents: dict[str, str | None] = {"wrist": None}
    for finger in _FINGERS:
        middle = () if finger == "thumb" else ("phalanx-intermediate",)
        above = "wrist"
        for part in ("metacarpal", "phalanx-proximal", *middle, "phalanx-distal", "tip"):
            parents[f"{finger}-{part}"] = above
            above = f"{finger}-{part}"
    return parents


WEBXR_PARENTS: Final = _webxr_parents()
"""The parent of each of the 25 joints of a WebXR hand."""
WEBXR: Final = tuple(WEBXR_PARENTS)
"""These joints, in the order of WebXR."""


@final
@dataclass(frozen=True, slots=True)
class _Poses:
    """Poses with a uniform scale: x -> xyz + wxyz (scale x).  Leading axes are frames; 1 stands for all frames."""

    xyz: Array
    """(frames, 3)."""
    wxyz: Array
    """(frames, 4)."""
    scale: Array
    """(frames, 1), positive."""

    def __matmul__(self, other: "_Poses") -> "_Poses":
        xyz = self.xyz + rotate(self.wxyz, self.scale * other.xyz)
        return _Poses(xyz, unit(quaternion_product(self.wxyz, other.wxyz)), self.scale * other.scale)

    def seen_from(self, parent: "_Poses") -> "_Poses":
        """Where this is in its parent's axes, in the lengths of the world."""
        back = conjugate(parent.wxyz)
        xyz = rotate(back, self.xyz - parent.xyz)
        return _Poses(xyz, unit(quaternion_product(back, self.wxyz)), self.scale)


@final
class _Worlds:
    """The poses of nodes in the file's world, y up, found from those in the node above when they are asked for."""

    def __init__(self, above: list[int], local: dict[int, _Poses]) -> None:
        """`local` are the poses in the node `above`, -1 for none, those above first."""
        self._above, self._local = above, local
        self._found: dict[int, _Poses] = {}
        self.scale: dict[int, Array] = {-1: np.ones((1, 1))}
        """That of each node in the world, (frames, 1)."""
        with np.errstate(over="ignore", under="ignore"):
            for node, pose in local.items():
                self.scale[node] = self.scale[above[node]] * pose.scale

    def seen(self, node: int, parent: int) -> _Poses:
        """A node in the axes of another, or with -1 of the world, in the lengths of the world."""
        if self._above[node] == parent:
            pose = self._local[node]
            return _Poses(self.scale[parent] * pose.xyz, pose.wxyz, self.scale[node])
        return self._at(node) if parent < 0 else self._at(node).seen_from(self._at(parent))

    def _at(self, node: int) -> _Poses:
        way = []
        while node not in self._found and self._above[node] >= 0:
            way.append(node)
            node = self._above[node]
        pose = self._found.setdefault(node, self._local[node])
        for below in reversed(way):
            pose = self._found[below] = pose @ self._local[below]
        return pose


@final
@dataclass(frozen=True, slots=True, eq=False)
class GltfJoints:
    """Joints of a file, parents before children, in its own axes and lengths; the first is the root.

    Of each joint there is its pose in its parent, of the root that in the file's world, in which y is up.
    """

    names: tuple[str, ...]
    """Each name once."""
    parents: tuple[int, ...]
    """Place of each joint's parent among them, -1 for the root."""
    rest_xyz: Array
    """(joints, 3)."""
    rest_wxyz: Array
    """(joints, 4) unit quaternions."""
    times: Array
    """(frames,) [s], growing."""
    xyz: Array
    """(frames, joints, 3)."""
    wxyz: Array
    """(frames, joints, 4) unit quaternions."""
    ends: tuple[tuple[str, int, Array], ...]
    """Nodes beneath joints that nothing hangs on: a name, the joint, and the place (3,) in it."""
    name: str
    """What the file calls the animation."""
    notes: tuple[str, ...]
    """What was mended or chosen while reading."""
    bones: Mapping[str, str] = field(default_factory=dict)
    """By bone of a humanoid, in the words of VRM, the joint, where the file says so."""


def read_joints(path: Path, *, skin: int | str | None, animation: int | str | None, fps: float | None) -> GltfJoints:
    """The joints of a skin and their poses in an animation; see `poise.io.gltf.read_gltf`."""
    return _Reader(read_document(path)).read(skin, animation, fps)


@final
class _Reader:
    """One file, its nodes, and what was chosen while reading."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.nodes = document.root.children("nodes")
        self.above, self.downwards = self._read_tree()
        self.notes: list[str] = []

    def read(self, skin: int | str | None, animation: int | str | None, fps: float | None) -> GltfJoints:
        skins, clips = self.document.root.children("skins"), self.document.root.children("animations")
        bones = bones_of(self.document, len(self.nodes))
        body = None if bones and skin is None else self._chosen("skin", skins, skin)
        clip = self._chosen("animation", clips, animation)
        channels = [] if clip is None else self._channels(clip)
        if body is not None:
            joints = body.indices("joints", "nodes", len(self.nodes))
            if not joints:
                raise body.error("has no joints", "joints")
        else:
            joints = sorted({*bones.values()} or {channel.node for channel in channels})
            if not joints:
                raise self.document.root.error("the file has neither a skin nor an animation of nodes, so no skeleton")
        if len(joints) > _JOINTS:
            raise self.document.root.error(f"the file has {len(joints)} joints; no skeleton has more than {_JOINTS}")
        order, parents = self._tree(joints)
        standing = self._standing(order)
        times = sample_times(clip, channels, fps, len(standing))
        worlds = _Worlds(self.above, standing)
        rest = self._in_parents(order, parents, worlds)
        moving = _Worlds(self.above, standing | self._moved(standing, channels, times))
        moved = self._in_parents(order, parents, moving)
        if body is not None and body.has("inverseBindMatrices"):
            rest = self._at_bind(body, joints, order, parents, worlds, rest)
        xyz = np.stack([np.broadcast_to(pose.xyz, (len(times), 3)) for pose in moved], axis=1)
        wxyz = np.stack([np.broadcast_to(pose.wxyz, (len(times), 4)) for pose in moved], axis=1)
        ends = self._ends(order, channels)
        place = {joint: number for number, joint in enumerate(order)}
        names = self._names([*order, *ends])
        return GltfJoints(
            names=names[: len(order)],
            parents=parents,
            rest_xyz=np.concatenate([pose.xyz for pose in rest]),
            rest_wxyz=np.concatenate([pose.wxyz for pose in rest]),
            times=times,
            xyz=xyz,
            wxyz=continuous(wxyz),
            ends=tuple(
                (name, place[self.above[node]], self._at_end(node, worlds))
                for name, node in zip(names[len(order) :], ends, strict=True)
            ),
            name="" if clip is None else clip.text("name"),
            notes=tuple(self.notes),
            bones={bone: names[place[node]] for bone, node in bones.items() if node in place},
        )

    def _chosen(self, what: str, items: list[Item], wanted: int | str | None) -> Item | None:
        """The skin or animation that is asked for; if it was not, and there are others, a note names them."""
        known = [item.text("name") or str(number) for number, item in enumerate(items)]
        if wanted is None:
            read = 0
            if what == "skin":
                sizes = [len(item.indices("joints", "nodes", len(self.nodes))) for item in items]
                read = max(range(len(items)), key=sizes.__getitem__, default=0)
            if len(items) > 1:
                others = [name for number, name in enumerate(known) if number != read]
                self.notes.append(
                    f"the file has {len(items)} {what}s, and {known[read]!r} was read; {what} chooses another: "
                    f"{some([repr(name) for name in others])}"
                )
            return items[read] if items else None
        if isinstance(wanted, str) and wanted and wanted in (names := [item.text("name") for item in items]):
            return items[names.index(wanted)]
        if not isinstance(wanted, str) and 0 <= wanted < len(items):
            return items[wanted]
        raise NameNotFound(str(wanted), known, owner=str(self.document.path), noun=what)

    # The tree ----------------------------------------------------------------------------------------------------

    def _read_tree(self) -> tuple[list[int], list[int]]:
        """The node above each node, -1 for none, and all nodes with those above first.

        Raises ModelError if the nodes are no trees.
        """
        children = [node.indices("children", "nodes", len(self.nodes)) for node in self.nodes]
        above = [-1] * len(self.nodes)
        for number, below in enumerate(children):
            for child in below:
                if above[child] >= 0:
                    raise self.nodes[number].error(
                        f"node {child} is a child of node {above[child]} already", "children"
                    )
                above[child] = number
        downwards = [number for number, node in enumerate(above) if node < 0]
        for node in downwards:  # which grows
            downwards += children[node]
        if len(downwards) < len(self.nodes):
            first = min({*range(len(self.nodes))}.difference(downwards))
            raise self.nodes[first].error("the nodes go round in a circle: this one is beneath itself", "children")
        return above, downwards

    def _above_all(self, roots: list[int]) -> int:
        """The lowest node that is above all of some nodes, none of which is above another."""
        beneath = [0] * (len(self.nodes) + 1)  # the last is what the topmost nodes stand in
        for root in roots:
            beneath[root] = 1
        for node in reversed(self.downwards):
            beneath[self.above[node]] += beneath[node]
        top = roots[0]
        while beneath[top] < len(roots):
            top = self.above[top]
        if top < 0:
            raise self.nodes[roots[1]].error(f"is a joint, and no node is above both it and nodes[{roots[0]}]")
        return top

    def _tree(self, joints: list[int]) -> tuple[list[int], tuple[int, ...]]:
        """The joints' nodes, parents first, and the parent's place among them of each, -1 for the root."""
        among = set(joints)
        nearest = {-1: -1}
        for node in self.downwards:
            up = self.above[node]
            nearest[node] = up if up in among else nearest[up]
        parent = {joint: nearest[joint] for joint in joints}
        hand = self._hand(joints, parent)
        roots = [joint for joint in joints if parent[joint] < 0]
        if hand is not None:
            joints, parent = list(hand), hand
        elif len(roots) > 1:
            top = self._above_all(roots)
            self.notes.append(f"{len(roots)} joints have no joint above them; the node above all became the root")
            joints, parent = [top, *joints], parent | dict.fromkeys(roots, top) | {top: -1}
        below: dict[int, list[int]] = {}
        for joint in joints:
            below.setdefault(parent[joint], []).append(joint)
        order, pending = [], below[-1]
        while pending:
            order.append(pending.pop())
            pending += reversed(below.get(order[-1], []))
        place = {joint: number for number, joint in enumerate(order)} | {-1: -1}
        return order, tuple(place[parent[joint]] for joint in order)

    def _hand(self, joints: list[int], parent: dict[int, int]) -> dict[int, int] | None:
        """The parent of each joint of a WebXR hand whose joints all hang on one node."""
        node = {self.nodes[joint].text("name"): joint for joint in joints}
        flat = len({self.above[joint] for joint in joints}) == 1 and set(parent.values()) == {-1}
        if not flat or len(node) < len(joints) or node.keys() != WEBXR_PARENTS.keys():
            return None
        self.notes.append("all joints hang on one node; the tree of the hand was built by the names of WebXR")
        return {node[name]: -1 if above is None else node[above] for name, above in WEBXR_PARENTS.items()}

    def _names(self, order: list[int]) -> tuple[str, ...]:
        originals = [self.nodes[node].text("name") for node in order]
        names = numbered(originals, [f"node{node}" for node in order])
        renamed = [
            f"nodes[{n}] is {name!r}" for n, name, old in zip(order, names, originals, strict=True) if name != old
        ]
        if renamed:
            self.notes.append(f"joints without a name of their own were given one: {some(renamed)}")
        return names

    def _ends(self, order: list[int], channels: list[Channel]) -> list[int]:
        """The nodes beneath joints that carry nothing and do not move in them: where bones end."""
        joints = set(order)
        excluded = joints | {channel.node for channel in channels}
        ends = [
            number
            for number, node in enumerate(self.nodes)
            if self.above[number] in joints
            and number not in excluded
            and not any(node.has(key) for key in ("children", "mesh", "skin", "camera", "extensions"))
        ]
        if len(ends) > _JOINTS:
            raise self.document.root.error(f"bones have {len(ends)} ends; no skeleton has more than {_JOINTS}")
        return ends

    # Poses -------------------------------------------------------------------------------------------------------

    def _standing(self, order: list[int]) -> dict[int, _Poses]:
        """The poses of the joints' nodes and of all above them, as the file draws them, those above first."""
        needed: set[int] = set()
        for node in order:
            while node >= 0 and node not in needed:
                needed.add(node)
                node = self.above[node]
        if len(needed) > 2 * _JOINTS:
            raise self.document.root.error(f"{len(needed)} nodes carry the joints; no skeleton needs so many")
        return {node: self._drawn(self.nodes[node]) for node in self.downwards if node in needed}

    def _drawn(self, node: Item) -> _Poses:
        """The pose of a node in the one above it, as the file draws it."""
        if node.has("matrix"):
            matrix = node.numbers("matrix", tuple(np.eye(4).ravel().tolist()))
            return _decomposed(node, "matrix", matrix.reshape(1, 4, 4).swapaxes(1, 2))
        xyzw = node.numbers("rotation", (0.0, 0.0, 0.0, 1.0))[None]
        return _Poses(
            _bounded(node, "translation", node.numbers("translation", (0.0, 0.0, 0.0))[None]),
            normalised(node, "rotation", xyzw[:, [3, 0, 1, 2]]),
            _uniform(node, "scale", node.numbers("scale", (1.0, 1.0, 1.0))[None]),
        )

    def _in_parents(self, order: list[int], parents: tuple[int, ...], worlds: "_Worlds") -> list[_Poses]:
        """The pose of each joint in its parent joint, in the lengths of the world."""
        poses = []
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            for joint, parent in zip(order, parents, strict=True):
                pose = worlds.seen(joint, order[parent] if parent >= 0 else -1)
                if not (np.abs(pose.xyz) <= LARGEST).all():
                    raise self.nodes[joint].error(f"the joint stands too far away: {BOUND}; scale the file")
                poses.append(pose)
        return poses

    def _at_end(self, node: int, worlds: "_Worlds") -> Array:
        """(3,) where a node is in the joint above it, in the lengths of the world."""
        with np.errstate(over="ignore", invalid="ignore"):
            place: Array = (worlds.scale[self.above[node]] * self._drawn(self.nodes[node]).xyz)[0]
        return _bounded(self.nodes[node], "translation", place)

    def _at_bind(
        self,
        skin: Item,
        joints: list[int],
        order: list[int],
        parents: tuple[int, ...],
        worlds: "_Worlds",
        rest: list[_Poses],
    ) -> list[_Poses]:
        """The pose at rest that the inverse bind matrices have, the root's being that of its node.

        Bind matrices may have another unit than the nodes, so a bone is taken in its parent's axes and has the
        parent's scale.  A root that was added has no bind matrix, and so have its children none in their parent.
        """
        inverse = self.document.numbers(skin, "inverseBindMatrices", "MAT4")
        if len(inverse) < len(joints):
            raise skin.error(f"has {len(inverse)} matrices for {len(joints)} joints", "inverseBindMatrices")
        bind = _decomposed(skin, "inverseBindMatrices", inverse[: len(joints)].reshape(-1, 4, 4).swapaxes(1, 2))
        row = {joint: number for number, joint in enumerate(joints)}
        poses = []
        for joint, parent, stands in zip(order, parents, rest, strict=True):
            if parent < 0 or order[parent] not in row:
                poses.append(stands)
                continue
            # With the inverses A of the parent and B of the joint, the joint is at A B^-1 in the parent.
            a, b = ((bind.xyz[i], bind.wxyz[i], bind.scale[i]) for i in (row[order[parent]], row[joint]))
            with np.errstate(over="ignore", invalid="ignore"):
                wxyz = quaternion_product(a[1], conjugate(b[1]))
                xyz = a[0] - rotate(wxyz, a[2] / b[2] * b[0])
                length = worlds.scale[order[parent]]
                poses.append(_Poses(length * xyz[None], unit(wxyz[None]), stands.scale))
        bones = np.array([[pose.xyz[0] for pose in some] for some in (poses, rest)])[:, 1:]
        lengths = np.linalg.norm(bones[1], axis=1)
        distances = np.linalg.norm(bones[0] - bones[1], axis=1)
        if not (distances <= _SAME * (lengths + 0.01 * lengths.max(initial=0.0))).all():
            self.notes.append("the bones of the bind pose are not those of the nodes, whose pose is taken for the rest")
            return rest
        return poses

    # Animation ---------------------------------------------------------------------------------------------------

    def _channels(self, clip: Item) -> list[Channel]:
        """The channels that move nodes; those of weights and of extensions move none."""
        samplers = clip.children("samplers")
        found: dict[tuple[int, str], Channel] = {}
        total = 0
        for channel in clip.children("channels"):
            target = channel.child("target")
            path = target.text("path")
            if path not in WIDTHS or not target.has("node"):
                continue
            node = target.index("node", "nodes", len(self.nodes))
            if self.nodes[node].has("matrix"):
                raise target.error(f"node {node} has a matrix, which cannot be animated; export it in parts", "node")
            if (node, path) in found:
                raise target.error(f"another channel moves the {path} of node {node} already")
            sampler = samplers[channel.index("sampler", "samplers in this animation", len(samplers))]
            found[node, path] = read_channel(self.document, sampler, node, path)
            total += found[node, path].values.size
            if total > _NUMBERS:
                raise clip.error("its channels have more numbers than fit into memory; cut it")
        return list(found.values())

    def _moved(self, local: dict[int, _Poses], channels: list[Channel], times: Array) -> dict[int, _Poses]:
        """The poses of the nodes that an animation moves, at `times`, in the nodes above them."""
        moved: dict[int, _Poses] = {}
        for channel in channels:
            if channel.node not in local:
                continue
            pose = moved.get(channel.node, local[channel.node])
            values = channel.at(times)
            match channel.path:
                case "translation":
                    pose = _Poses(_bounded(channel.sampler, "output", values), pose.wxyz, pose.scale)
                case "rotation":
                    pose = _Poses(pose.xyz, values, pose.scale)
                case _:
                    pose = _Poses(pose.xyz, pose.wxyz, _uniform(channel.sampler, "output", values))
            moved[channel.node] = pose
        return moved


def some(words: list[str]) -> str:
    """The first three of a list, and how many more there are."""
    return ", ".join(words[:3]) + (f" and {len(words) - 3} more" if len(words) > 3 else "")


# Numbers ---------------------------------------------------------------------------------------------------------


def _bounded(item: Item, key: str, xyz: Array) -> Array:
    if not (np.abs(xyz) <= LARGEST).all():
        raise item.error(f"is too far away: {BOUND}", key)
    return xyz


def _uniform(item: Item, key: str, scale: Array) -> Array:
    """(n, 1) of (n, 3) scales along the axes; raises ModelError where they are not one positive number."""
    least, most = scale.min(axis=1), scale.max(axis=1)
    if not (least > 0.0).all():
        raise item.error(
            "a scale that is not positive mirrors or collapses the skeleton; apply it before the export", key
        )
    if not (most <= LARGEST).all() or not (least >= 1.0 / LARGEST).all():
        raise item.error("a scale is beyond what a double has digits for; apply it before the export", key)
    if not (most <= (1.0 + _UNIFORM) * least).all():
        worst = int(np.argmax(most / least))
        shown = ", ".join(f"{value:.6g}" for value in scale[worst])
        raise item.error(
            f"the scale ({shown}) differs along the axes, which bends a skeleton; apply it before the export", key
        )
    return scale.mean(axis=1, keepdims=True)


def _decomposed(item: Item, key: str, matrices: Array) -> _Poses:
    """(n, 4, 4) matrices as poses with a uniform scale; raises ModelError for those that shear, mirror or collapse."""
    _bounded(item, key, matrices)
    if not (np.abs(matrices[:, 3] - [0.0, 0.0, 0.0, 1.0]) <= _UNIFORM).all():
        raise item.error("the last row of a matrix of a pose is 0 0 0 1 (matrices are written column by column)", key)
    left, scale, right = np.linalg.svd(matrices[:, :3, :3])
    rotation = left @ right
    if not (np.linalg.det(rotation) > 0.0).all():
        raise item.error("a matrix mirrors; apply the scale before the export", key)
    return _Poses(matrices[:, :3, 3], matrix_quaternion(rotation), _uniform(item, key, scale))

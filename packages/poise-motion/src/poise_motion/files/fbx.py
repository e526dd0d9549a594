"""FBX, as of Mixamo, Ready Player Me and Maya, read by ufbx: its bones, and one of its animations at even times."""

from pathlib import Path
from typing import Any, Final, Literal

import numpy as np

from poise import MissingExtra, ModelError, Motion
from poise.extending import Array, NameNotFound, optional
from poise_motion.files.arrays import bytes_of
from poise_motion.files.posed import NUMBERS, Poses, motion_of

_FILE: Final = 2**29
"""The largest file that is read [bytes]."""
_NODES: Final = 65_536
"""The most nodes of a scene."""
_FPS: Final = 30.0
"""Frames a second where the file states no rate that makes sense."""
_BINARY, _TEXT = b"Kaydara FBX Binary", b"FBX"


def read(
    path: Path,
    *,
    unit: float | None = None,
    up: Literal["y", "z"] | None = None,
    fps: float | None = None,
    animation: int | str | None = None,
) -> Motion:
    """The motion in an FBX; without an animation there is one frame, of the bones as they stand.

    Joints are the bones, or in a file without bones the nodes that are no meshes, lights or cameras and carry others.
    At rest they stand as the file has them.  `unit` is the metres that one unit of length is and `up` the axis that is
    up, without them the file says both.  `fps` takes the place of the file's rate; `animation` is a name, or an index
    from 0, without it the first.

    Raises MissingExtra without ufbx or with pyufbx, ModelError for what cannot be read, NameNotFound for an unknown
    animation.
    """
    ufbx = optional("reading FBX", "ufbx", "fbx", "ufbx")
    if not hasattr(ufbx, "FileFormat"):  # pyufbx has the same module, and reads no animations
        raise MissingExtra("reading FBX", "ufbx in place of pyufbx, pip uninstall pyufbx,", "fbx")
    data = bytes_of(path, _FILE)
    if not data.startswith(_BINARY) and _TEXT not in data[:512].upper():
        raise ModelError("this is no FBX, by how it begins", file=str(path))
    settings: dict[str, Any] = {"ignore_geometry": True, "ignore_embedded": True, "file_format": ufbx.FileFormat.FBX}
    if up is None:
        settings["target_axes"] = ufbx.axes_right_handed_y_up
    if unit is None:
        settings["target_unit_meters"] = 1.0
    try:
        scene = ufbx.load_memory(data, **settings)
        return _read(ufbx, scene, path, unit, up, fps, animation)
    except (ModelError, NameNotFound):
        raise
    except Exception as error:  # of what kinds ufbx does not say
        why = " ".join(str(error).split()) or type(error).__name__
        raise ModelError(f"the FBX cannot be read: {why}", file=str(path)) from None


def _read(
    ufbx: Any,
    scene: Any,
    path: Path,
    unit: float | None,
    up: Literal["y", "z"] | None,
    fps: float | None,
    animation: int | str | None,
) -> Motion:
    nodes, above = _nodes(scene, path)
    kinds = [int(node.attrib_type) for node in nodes]
    joints = [i for i, kind in enumerate(kinds) if kind == ufbx.ElementType.BONE]
    notes = list[str]()
    if not joints:
        plain = (ufbx.ElementType.EMPTY, ufbx.ElementType.UNKNOWN)
        joints = [i for i, kind in enumerate(kinds) if kind in plain and above[i] >= 0]
        if not joints:
            raise ModelError("it has no bones, so no skeleton", file=str(path))
        notes.append("it has no bones; the nodes that are nothing else were taken for joints")
    stack = _chosen(scene, animation, path, notes)
    rest = _poses([[node.local_transform for node in nodes]], path)
    if stack is None:
        return motion_of(path, [n.name for n in nodes], above, joints, rest, np.zeros(1), rest, unit=unit, up=up)
    begin, end = float(stack.time_begin), float(stack.time_end)
    if not begin < end:  # not stated
        baked = ufbx.bake_anim(scene, stack.anim)
        begin, end = float(baked.key_time_min), float(baked.key_time_max)
    if not -1e6 < begin <= end < 1e6:
        raise ModelError(f"its animation is from {begin:g} to {end:g} s", file=str(path))
    rate = fps or float(scene.settings.frames_per_second)
    if not 0.0 < rate < 1e6:
        notes.append(f"it states {rate:g} frames a second; {_FPS:g} are taken, and fps says another")
        rate = _FPS
    many = int((end - begin) * rate + 1e-6) + 1
    if many * len(nodes) > NUMBERS:
        raise ModelError(f"{many:,} frames of {len(nodes):,} nodes are too many to hold; cut it", file=str(path))
    times = np.arange(many) / rate
    frames = [[ufbx.evaluate_transform(stack.anim, node, begin + t) for node in nodes] for t in times.tolist()]
    moved = _poses(frames, path)
    return motion_of(
        path, [n.name for n in nodes], above, joints, rest, times, moved, unit=unit, up=up, called=stack.name,
        notes=notes,
    )  # fmt: skip


def _nodes(scene: Any, path: Path) -> tuple[list[Any], list[int]]:
    """All nodes, those above first, and the place of the one above each; the first is the scene's root."""
    nodes, above = [scene.root_node], [-1]
    for number, node in enumerate(nodes):  # which grows
        for child in node.children:
            nodes.append(child)
            above.append(number)
        if len(nodes) > _NODES:
            raise ModelError(f"it has more than {_NODES:,} nodes; keep the skeleton alone", file=str(path))
    return nodes, above


def _chosen(scene: Any, wanted: int | str | None, path: Path, notes: list[str]) -> Any:
    """The animation that is asked for, or the first, and None if there is none."""
    stacks = list(scene.anim_stacks)
    known = [stack.name for stack in stacks]
    if wanted is None:
        if len(stacks) > 1:
            notes.append(f"it has {len(stacks)} animations, and {known[0]!r} was read; animation chooses another")
        return stacks[0] if stacks else None
    if isinstance(wanted, str) and wanted in known:
        return stacks[known.index(wanted)]
    if not isinstance(wanted, str) and 0 <= wanted < len(stacks):
        return stacks[wanted]
    raise NameNotFound(str(wanted), known, owner=str(path), noun="animation")


def _poses(frames: list[list[Any]], path: Path) -> Poses:
    numbers = np.array(
        [
            [
                (t.translation.x, t.translation.y, t.translation.z, t.rotation.w, t.rotation.x, t.rotation.y,
                 t.rotation.z, t.scale.x, t.scale.y, t.scale.z)
                for t in frame
            ]
            for frame in frames
        ]
    )  # fmt: skip
    if not np.isfinite(numbers).all():
        raise ModelError("a pose is not finite", file=str(path))
    parts: list[Array] = np.split(numbers, [3, 7], axis=2)
    return Poses(*parts)

"""SMPL, SMPL-H and SMPL-X bodies in motion, as AMASS and others keep them in .npz and .pkl.

A frame is a rotation of each joint against the one that it hangs on, as an axis times an angle, and the place of the
body.  Mahmood et al., "AMASS: Archive of Motion Capture as Surface Shapes", 2019, has the names of the arrays.

| array | |
|---|---|
| `poses`, `fullpose`, `pose_aa`, `smpl_poses` | (frames, 3 joints) or (frames, joints, 3); or in parts: |
| `root_orient` or `global_orient`, `pose_body` or `body_pose` | (frames, 3) and (frames, 63), of SMPL (frames, 69) |
| `pose_hand`, or `left_hand_pose` and `right_hand_pose` | (frames, 90), or (frames, 45) each |
| `pose_jaw` or `jaw_pose`; `pose_eye`, or `leye_pose` and `reye_pose` | (frames, 3); (frames, 6), or (frames, 3) each |
| `trans`, `transl` or `smpl_trans` | (frames, 3) [m], divided by `smpl_scaling` where that is there |
| `mocap_framerate`, `mocap_frame_rate` or `fps` | frames a second |
| `betas` | (n,) the body's shape, which only a model of the body makes use of |

The body's own y is up at rest; the world's z is, unless the motion stands along y.
"""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np

from poise import ModelError, Motion
from poise.extending import Array, SkeletonFile, SkeletonJoint, continuous, of_skeleton, stood_up
from poise.quaternions import conjugate, quaternion_exp, quaternion_product, unit_vectors
from poise.spatial import BOUND, LARGEST
from poise_motion.files.arrays import named_arrays, numbers_of
from poise_motion.files.smpl_person import average, measured
from poise_motion.files.smpl_tree import BODY, TREES, Tree

_WHOLE: Final = ("poses", "fullpose", "pose_aa", "smpl_poses")
_ROOT: Final = ("root_orient", "global_orient")
_BODY: Final = ("pose_body", "body_pose")
_TRANS: Final = ("trans", "transl", "smpl_trans")
_RATES: Final = ("mocap_framerate", "mocap_frame_rate", "fps")
_PARTS: Final = (
    # where it begins among the joints of SMPL-X, how many joints it has, and its names
    (22, 1, ("pose_jaw", "jaw_pose")),
    (23, 2, ("pose_eye",)),
    (23, 1, ("leye_pose",)),
    (24, 1, ("reye_pose",)),
    (25, 30, ("pose_hand",)),
    (25, 15, ("left_hand_pose",)),
    (40, 15, ("right_hand_pose",)),
)
_KNOWN: Final = {*_WHOLE, *_ROOT, *_BODY, *_TRANS, *_RATES, "betas", "smpl_scaling"}.union(
    *(names for _, _, names in _PARTS)
)
_TURNS: Final = 2**26
"""The most rotations of all joints in all frames: 2 GiB."""
_ROUND: Final = 4.0 * np.pi
"""No joint of a person is turned by two whole turns [rad]; degrees are."""
_SHAPED: Final = 10.0
"""Standard deviations that betas are; people have some three."""
_QUARTER: Final = np.sqrt([0.5, 0.5, 0.0, 0.0])
"""The turn about x that brings y to z."""
_FRAMES: Final = 240
"""Frames that are looked at for what is up, at most."""
_STANDING, _LYING = 0.5, 0.05
"""Shares of the frames in which the head is over the feet along an axis: of one that is up, at least; of the other, at
most."""
_ALONG: Final = 0.8
"""Least cosine between the way from the feet to the head and the axis along which it is."""


def read(
    path: Path,
    *,
    up: Literal["y", "z"] | None = None,
    fps: float | None = None,
    body_model: str | os.PathLike[str] | None = None,
) -> Motion:
    """The motion of a body in an .npz or .pkl; see the head of this file.

    Joints stand where `body_model`, a file such as SMPLX_NEUTRAL.npz, has them for the `betas` of the motion; without
    it where those of a person of average proportions do, and a note says which.  `fps` takes the place of the file's
    rate, `up` says which axis of the file is up.  Nothing that a pickle asks for is run.

    Raises ModelError, with the array and the place in it, for what is no such motion, is damaged or has numbers that
    are not finite; ValueError for a `body_model` of another suffix.
    """
    found, names = named_arrays(path, _KNOWN)
    found = {name: value for name, value in found.items() if value is not None}
    notes = list[str]()
    tree, poses = _poses(found, names, path, notes)
    trans, rate = _trans(found, len(poses), path, notes), _rate(found, fps, path)
    betas = np.atleast_1d(numbers_of(found["betas"], "betas", path)) if "betas" in found else np.zeros(0)
    notes += _doubts(poses, betas)
    if body_model is None:
        rest, pelvis = average(tree), np.zeros(3)
        kept = f", and the {betas.shape[-1]} betas are without use" if betas.any() else ""
        notes.append(
            "the joints are those of a person of average proportions, 1.7 m tall, with the pelvis at trans"
            f"{kept}; body_model='SMPLX_NEUTRAL.npz', the file of a body's model, says where they are"
        )
    else:
        shape = betas.reshape(-1, betas.shape[-1]).mean(axis=0) if betas.size else np.zeros(0)
        rest, used = measured(Path(body_model).expanduser(), tree, shape)
        pelvis = rest[0]
        notes.append(f"the joints are those of {Path(body_model).name} with {used} of {len(shape)} betas")
    skeleton = _skeleton(path, tree, rest, trans + pelvis, quaternion_exp(poses), rate, notes)
    if up is not None:
        return of_skeleton(_upright(skeleton, up))
    motion = of_skeleton(_upright(skeleton, "z"))
    if not (note := _along_y(motion)):
        return motion
    return of_skeleton(_upright(replace(skeleton, notes=(*notes, note)), "y"))


def _doubts(poses: Array, betas: Array) -> list[str]:
    """What numbers of no person there are, in words."""
    notes, turns = [], np.linalg.norm(poses, axis=2)
    if turns.max(initial=0.0) > _ROUND:
        frame, joint = np.unravel_index(turns.argmax(), turns.shape)
        notes.append(
            f"joint {joint} is turned by {turns.max():.4g} in frame {frame}, taken as radians: if these are degrees, "
            "give numpy.radians of them"
        )
    if np.abs(betas).max(initial=0.0) > _SHAPED:
        notes.append(f"betas of up to {np.abs(betas).max():.4g} are those of no person, who has some 3")
    return notes


def _skeleton(
    path: Path, tree: Tree, rest: Array, places: Array, turns: Array, rate: float, notes: list[str]
) -> SkeletonFile:
    if not np.abs(places).max(initial=0.0) <= LARGEST:
        raise ModelError(f"'trans' is too far away; {BOUND}", file=str(path))
    offsets = rest - rest[list(tree.parents)]
    return SkeletonFile(
        name=path.stem,
        joints=tuple(
            SkeletonJoint(name=name, parent=parent, offset=np.zeros(3) if parent < 0 else offset)
            for name, parent, offset in zip(tree.names, tree.parents, offsets, strict=True)
        ),
        times=np.arange(len(places), dtype=np.float64) / rate,
        places={0: places},
        turns=continuous(turns),
        notes=tuple(notes),
        bones=tree.bones,
        file=str(path),
    )


def _upright(skeleton: SkeletonFile, up: Literal["y", "z"]) -> SkeletonFile:
    """The skeleton with z up, and at rest upright: in the file a body rests with its own y up, whatever is up there."""
    standing = stood_up(skeleton, "y", by_format=True)
    if up == "y":
        return standing
    turns = standing.turns.copy()
    turns[:, 0] = quaternion_product(conjugate(_QUARTER), turns[:, 0])
    return replace(standing, places=skeleton.places, turns=turns)


def _along_y(motion: Motion) -> str:
    """What there is to say of a motion that was read with z up, and whose body stands along y."""
    some = motion.q[np.unique(np.linspace(0, len(motion) - 1, _FRAMES).astype(int))]
    head, left, right = np.moveaxis(motion.model.poses(some, ["head", "left_ankle", "right_ankle"]).xyz, -2, 0)
    _, y, z = (unit_vectors(head - 0.5 * (left + right)) > _ALONG).mean(axis=0)
    if y < _STANDING or z > _LYING:
        return ""
    return f"its head is over its feet along y in {100 * y:.0f} % of the frames; y is taken to be up, up='z' says z"


def _poses(found: dict[str, Any], names: list[str], path: Path, notes: list[str]) -> tuple[Tree, Array]:
    """The kind of the body, and (frames, joints, 3) how its joints are turned."""
    whole = next((name for name in _WHOLE if name in found), None)
    if whole is not None:
        flat = _flat(found, whole, path)
        many = flat.shape[1] // 3
        if flat.shape[1] % 3 or many not in TREES:
            known = ", ".join(f"{3 * n} of {tree.kind}" for n, tree in TREES.items())
            raise ModelError(f"{whole!r} has {flat.shape[1]} numbers a frame; {known} are known", file=str(path))
        return TREES[many], flat.reshape(len(flat), many, 3)
    root, body = (next((name for name in known if name in found), None) for known in (_ROOT, _BODY))
    if root is None or body is None:
        listed = ", ".join(names[:8]) or "nothing"
        raise ModelError(
            f"this is no motion of a body: it has neither 'poses' nor 'root_orient' and 'pose_body'; it has {listed}",
            file=str(path),
        )
    turns = np.concatenate([_flat(found, name, path) for name in (root, body)], axis=1)
    if turns.shape[1] not in (3 * BODY, 72):
        raise ModelError(
            f"{root!r} and {body!r} have {turns.shape[1]} numbers a frame; 66 are known, and 72 of SMPL", file=str(path)
        )
    more = [(at, many, name) for at, many, called in _PARTS for name in called if name in found]
    if turns.shape[1] == 72 or not more:
        return TREES[turns.shape[1] // 3], turns.reshape(len(turns), -1, 3)
    out = np.zeros((len(turns), 55, 3))
    out[:, :BODY] = turns.reshape(len(turns), BODY, 3)
    for at, many, name in more:
        flat = _flat(found, name, path)
        if flat.shape[1] != 3 * many:
            notes.append(f"{name!r} has {flat.shape[1]} numbers a frame, not {3 * many} of axes and angles; left out")
            continue
        if len(flat) != len(out):
            raise ModelError(f"{name!r} has {len(flat)} frames, and {root!r} has {len(out)}", file=str(path))
        out[:, at : at + many] = flat.reshape(len(flat), many, 3)
    if all(at >= 25 for at, _, _ in more):  # hands and no face
        return TREES[52], np.delete(out, [22, 23, 24], axis=1)
    return TREES[55], out


def _flat(found: dict[str, Any], name: str, path: Path) -> Array:
    """(frames, numbers) of an array, with no more rotations than memory is for."""
    array = numbers_of(found[name], name, path)
    if array.ndim == 4 and array.shape[-2:] == (3, 3):
        raise ModelError(f"{name!r} has matrices, of shape {array.shape}; give axes times angles", file=str(path))
    if array.ndim == 3 and array.shape[-1] == 3:
        array = array.reshape(len(array), -1)
    if array.ndim != 2 or not array.size:
        raise ModelError(f"{name!r} must be (frames, 3 joints), got {array.shape}", file=str(path))
    if array.size > 3 * _TURNS:
        raise ModelError(f"{name!r} has {len(array):,} frames, too many to hold; cut the motion", file=str(path))
    return array


def _trans(found: dict[str, Any], frames: int, path: Path, notes: list[str]) -> Array:
    name = next((name for name in _TRANS if name in found), None)
    if name is None:
        notes.append("it has no 'trans', so the body stays where it is")
        return np.zeros((frames, 3))
    trans = numbers_of(found[name], name, path)
    if trans.shape != (frames, 3):
        raise ModelError(f"{name!r} must be ({frames}, 3), as there are frames, got {trans.shape}", file=str(path))
    if "smpl_scaling" in found:
        scale = numbers_of(found["smpl_scaling"], "smpl_scaling", path)
        if scale.size != 1 or not scale.item() > 0.0:
            raise ModelError(f"'smpl_scaling' must be one number above 0, got {scale}", file=str(path))
        trans = trans / scale.item()
    return trans


def _rate(found: dict[str, Any], fps: float | None, path: Path) -> float:
    if fps is not None:
        return float(fps)
    for name in _RATES:
        if name in found:
            rate = numbers_of(found[name], name, path)
            if rate.size != 1 or not 0.0 < rate.item() < LARGEST:
                raise ModelError(f"{name!r} must be one number above 0, got {rate}; fps says it", file=str(path))
            return rate.item()
    raise ModelError(f"it states no rate, as {', '.join(_RATES[:-1])} or {_RATES[-1]}; say fps", file=str(path))

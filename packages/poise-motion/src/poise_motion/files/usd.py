"""USD, whose schema UsdSkel has skeletons and their animations, read by usd-core."""

from pathlib import Path
from typing import Any, Final, Literal

import numpy as np

from poise import ModelError, Motion
from poise.extending import Array, optional
from poise.quaternions import matrix_quaternion
from poise_motion.files.arrays import bytes_of
from poise_motion.files.posed import NUMBERS, Poses, motion_of

_FILE: Final = 2**30
"""The largest file that is read [bytes]."""
_SHEAR: Final = 1e-3
"""By how much the axes of a joint may miss being at right angles, and of one length."""


def read(
    path: Path, *, unit: float | None = None, up: Literal["y", "z"] | None = None, fps: float | None = None
) -> Motion:
    """The motion of the skeleton with the most joints in a stage; without an animation one frame, at rest.

    Frames are at the samples of its animation, or `fps` a second.  `unit` is the metres that one unit of length is and
    `up` the axis that is up, without them the stage says both.  Other files that the stage names are opened by USD, as
    by any program that reads it.

    Raises MissingExtra without usd-core, ModelError for what cannot be read or has no skeleton.
    """
    optional("reading USD", "usd-core", "usd", "pxr.Usd")
    from pxr import Tf, Usd, UsdGeom, UsdSkel

    bytes_of(path, _FILE)
    try:
        stage = Usd.Stage.Open(str(path))
        return _read(Usd, UsdGeom, UsdSkel, stage, path, unit, up, fps)
    except Tf.ErrorException as error:
        why = " ".join(str(error).split()).rpartition(" : ")[2] or "by none of its readers"
        raise ModelError(f"the USD cannot be read: {why}", file=str(path)) from None


def _read(
    usd: Any,
    geom: Any,
    skel: Any,
    stage: Any,
    path: Path,
    unit: float | None,
    up: Literal["y", "z"] | None,
    fps: float | None,
) -> Motion:
    cache, found = skel.Cache(), list[Any]()
    for prim in stage.Traverse():
        if prim.IsA(skel.Root):
            cache.Populate(skel.Root(prim), usd.PrimDefaultPredicate)
    for prim in stage.Traverse():
        if prim.IsA(skel.Skeleton) and (query := cache.GetSkelQuery(skel.Skeleton(prim))):
            found.append(query)
    if not found:
        raise ModelError("it has no skeleton of UsdSkel; a robot must be exported as URDF or MJCF", file=str(path))
    query = max(found, key=lambda one: len(one.GetJointOrder()))
    prim, tokens = query.GetPrim(), [str(token) for token in query.GetJointOrder()]
    notes = []
    if len(found) > 1:
        notes.append(f"it has {len(found)} skeletons, and {prim.GetPath()} was read, which has the most joints")
    parents = [int(parent) for parent in query.GetTopology().GetParentIndices()]
    if not tokens or len(parents) != len(tokens) or any(parent >= i for i, parent in enumerate(parents)):
        raise ModelError(f"the joints of {prim.GetPath()} are no tree with parents first", file=str(path))
    codes = _codes(query.GetAnimQuery(), float(stage.GetTimeCodesPerSecond()), fps, path)
    if len(codes) * len(tokens) > NUMBERS:
        raise ModelError(f"{len(codes):,} frames of {len(tokens)} joints are too many to hold; cut it", file=str(path))
    place = geom.Xformable(prim)
    still = query.ComputeJointLocalTransforms(usd.TimeCode.EarliestTime(), atRest=True)
    moved = [(place.ComputeLocalToWorldTransform(t), query.ComputeJointLocalTransforms(t)) for t in codes.tolist()]
    first = place.ComputeLocalToWorldTransform(codes[0])
    moving = _poses([_matrices(*frame, len(tokens), path) for frame in moved], path)
    rest = _poses([_matrices(first, still, len(tokens), path)], path) if still else _first(moving)
    axis = str(geom.GetStageUpAxis(stage)).lower()
    if up is None and axis not in ("y", "z"):
        raise ModelError(f"its upAxis is {axis!r}; up says 'y' or 'z'", file=str(path))
    return motion_of(
        path,
        [prim.GetName(), *(token.rpartition("/")[2] for token in tokens)],
        [-1, *(parent + 1 for parent in parents)],
        range(1, len(tokens) + 1),
        rest,
        (codes - codes[0]) / float(stage.GetTimeCodesPerSecond()),
        moving,
        unit=float(geom.GetStageMetersPerUnit(stage)) if unit is None else unit,
        up="z" if up is None and axis == "z" else up,
        notes=notes,
    )


def _codes(animation: Any, rate: float, fps: float | None, path: Path) -> Array:
    """The time codes of the frames."""
    if not 0.0 < rate < 1e9:
        raise ModelError(f"its timeCodesPerSecond are {rate:g}", file=str(path))
    samples = np.array(animation.GetJointTransformTimeSamples() if animation else [], dtype=np.float64)
    if not len(samples):
        return np.zeros(1)
    if not np.isfinite(samples).all():
        raise ModelError("a time of its animation is not finite", file=str(path))
    if fps is None:
        return np.unique(samples)
    many = (samples.max() - samples.min()) / rate * fps
    if many > NUMBERS:
        raise ModelError(f"{many:,.0f} frames are too many to hold; cut it", file=str(path))
    return samples.min() + np.arange(int(many + 1e-6) + 1) * rate / fps


def _matrices(place: Any, joints: Any, many: int, path: Path) -> Array:
    """(1 + joints, 4, 4) of a frame: where the skeleton is in the world, and each joint in the one above it."""
    if joints is None or len(joints) != many:
        raise ModelError(f"a frame has poses of {len(joints or [])} of {many} joints", file=str(path))
    return np.concatenate([np.array(place)[None], np.array(joints)])


def _poses(frames: list[Array], path: Path) -> Poses:
    """Matrices act on rows: the last row is the place."""
    matrices = np.array(frames, dtype=np.float64)
    axes = matrices[..., :3, :3]
    if not np.isfinite(matrices).all():
        raise ModelError("a pose is not finite", file=str(path))
    scale = np.linalg.norm(axes, axis=-1)
    turn = axes / np.where(scale > 0.0, scale, 1.0)[..., None]
    skew = np.abs(turn @ np.swapaxes(turn, -1, -2) - np.eye(3)).max()
    if not skew < _SHEAR or not (np.linalg.det(turn) > 0.0).all():
        raise ModelError("a joint's axes are not at right angles, or mirrored; that cannot be read", file=str(path))
    return Poses(matrices[..., 3, :3], matrix_quaternion(np.swapaxes(turn, -1, -2)), scale)


def _first(poses: Poses) -> Poses:
    return Poses(poses.xyz[:1], poses.wxyz[:1], poses.scale[:1])

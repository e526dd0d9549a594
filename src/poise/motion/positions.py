"""A motion from where joints are, as capture and pose estimation give it: rotations from places alone.

Every bone gets the median of its lengths, for bones in such data breathe; then joint after joint is turned, parents
first, so that it points its children at where they are given.  A joint with children in more than one direction has
one best rotation, that of the least sum of squares (Wahba 1965, doi:10.1137/1007077; by the singular value
decomposition of Markley 1988).  One that points one way leaves the turn about its bone open: it takes the shortest
rotation from rest, and near the opposite of rest, where that would flip, the one that follows the frame before.
"""

import math
import warnings
from collections.abc import Sequence
from typing import Final

import numpy as np

from poise.common.array import Array, ArrayLike
from poise.common.checks import with_holes
from poise.common.errors import InvalidValue, ModelWarning, ShapeError
from poise.io.skeleton import Flags, SkeletonFile, SkeletonJoint, Up, bridged, check_arguments, continuous, unusable
from poise.io.upright import Z_UP
from poise.motion.clip import Motion, of_skeleton
from poise.quaternions import conjugate, matrix_quaternion, quaternion_product, rotate, unit_vectors
from poise.spatial import BOUND

_JOINTS: Final = 4096
"""The most joints of a skeleton."""
_NONE: Final = 1e-4
"""A bone that is shorter than this share of the skeleton has no direction."""
_LINE: Final = 0.03
"""Children point one way and its opposite if they leave the line by no more than this share of their distance."""
_ROUNDS: Final = 4
"""Of turning the children of all frames onto their mean, which is then taken anew, at most."""
_CONVERGED: Final = 1e-5
"""A change of the mean by no more than this share of the longest bone is the last."""
_OPPOSITE: Final = -0.8
"""A bone whose cosine with rest is less is so near to the opposite of rest that its shortest rotation may flip."""
_UNWIND: Final = 0.5
"""The time in which the turn about a bone goes back to that of the shortest rotation, but for 1/e of it [s]."""
_LEVEL: Final = 0.1
"""If what is up keeps less than this of its length in the mean over the frames, as seen by the root, it tumbles."""


def motion_from_positions(
    positions: ArrayLike,
    names: Sequence[str],
    parents: Sequence[int | str | None],
    *,
    fps: float,
    up: Up = "z",
    unit: float = 1.0,
    name: str = "motion",
) -> Motion:
    """The motion of a skeleton whose joints are at `positions` (frames, joints, 3), `fps` frames a second.

    `names` are those of the joints, `parents` the joint that each hangs on, by its index or its name: -1 or None for a
    root.  A root floats, a joint with children is spherical, one without has no orientation of its own and is fixed.
    Lengths of bones are the medians over the frames.  At `neutral` each joint stands in the middle of its postures, and
    the root as in the first frame, but level.

    `unit` is what one unit of length is in metres.  `up` is the axis that is up in the positions; what is y up is
    turned so that z is.  Places that are not finite are bridged from the frames about them, joint by joint, which is
    warned of (ModelWarning) too.  `notes` of the motion say what was bridged, how much bones change in length, and how
    far the motion is from the positions.

    Raises ShapeError for arrays that do not fit; ValueError for parents that are none or go in a circle, for a joint
    without a place in any frame and for arguments out of range; ModelError for a name that is used twice.
    """
    check_arguments(unit, str(up), fps)
    given, above, order = _checked(positions, names, parents)
    called = [names[i] for i in order]
    with np.errstate(over="ignore"):
        given *= unit
    missing = np.stack([unusable(given[:, i]) for i in range(given.shape[1])], axis=1)
    notes = _bridge(given, missing, called)
    if up == "y":
        given = given @ Z_UP.T
    offsets, turns, reached = _solved(given, above, fps)
    inner = set(above)
    notes.extend(_breathing(given, above, called))
    notes.append(_accuracy(np.linalg.norm(reached - given, axis=2), missing, called))
    return of_skeleton(
        SkeletonFile(
            name=name,
            joints=tuple(
                SkeletonJoint(
                    name=joint,
                    parent=above[i],
                    offset=offsets[i],
                    turns=i in inner and any(offsets[k].any() for k, p in enumerate(above) if p == i),
                )
                for i, joint in enumerate(called)
            ),
            times=np.arange(len(given), dtype=np.float64) / fps,
            places={i: given[:, i] for i, parent in enumerate(above) if parent < 0},
            turns=continuous(turns),
            unit=unit,
            notes=tuple(notes),
        )
    )


def _checked(
    positions: ArrayLike, names: Sequence[str], parents: Sequence[int | str | None]
) -> tuple[Array, list[int], list[int]]:
    """Positions with parents before children, the index of each one's parent there, and of each where it was."""
    given = np.array(with_holes("positions", positions, "numbers of shape (frames, joints, 3)"))
    if given.ndim != 3 or given.shape[2] != 3:
        raise ShapeError(f"positions must have shape (frames, joints, 3), got {given.shape}")
    frames, many = given.shape[:2]
    if not frames or not 0 < many <= _JOINTS:
        raise ShapeError(f"positions need a frame and 1 to {_JOINTS} joints, got shape {given.shape}")
    if len(names) != many or len(parents) != many:
        raise ShapeError(f"{many} joints need as many names and parents, got {len(names)} and {len(parents)}")
    index = {name: i for i, name in enumerate(names)}
    above = list[int]()
    for name, parent in zip(names, parents, strict=True):
        found = -1 if parent is None else index.get(parent) if isinstance(parent, str) else int(parent)
        if found is None or not -1 <= found < many:
            raise InvalidValue(
                "out-of-range",
                f"the parent of {name!r} is {parent!r}; it must be a joint's index or name, -1 for a root",
            )
        above.append(found)
    depth = [0] * many
    for i in range(many):
        k = i
        while above[k] >= 0:
            k, depth[i] = above[k], depth[i] + 1
            if depth[i] > many:
                raise InvalidValue("inconsistent", f"the parents of {names[i]!r} go in a circle; a skeleton is a tree")
    sorted_already = all(parent < i for i, parent in enumerate(above))
    order = list(range(many)) if sorted_already else sorted(range(many), key=depth.__getitem__)
    place = {old: new for new, old in enumerate(order)} | {-1: -1}
    return given[:, order], [place[above[i]] for i in order], order


def _bridge(given: Array, missing: Flags, names: Sequence[str]) -> list[str]:
    """Fill what is missing from the frames about it, and say so; raises ValueError for a joint that is never there."""
    for i in np.flatnonzero(missing.all(axis=0)).tolist():
        raise InvalidValue(
            "not-finite", f"joint {names[i]!r} has no frame with a place that is finite and within bounds; {BOUND}"
        )
    notes = []
    for i in np.flatnonzero(missing.any(axis=0)).tolist():
        given[:, i] = bridged(np.where(missing[:, i, None], 0.0, given[:, i]), missing[:, i])
        many, first = int(missing[:, i].sum()), int(np.argmax(missing[:, i]))
        notes.append(f"{f'{many} frames, from {first} on' if many > 1 else f'frame {first}'} of {names[i]!r}")
    if not notes:
        return []
    shown = ", ".join(notes[:3]) + (f" and of {len(notes) - 3} more joints" if len(notes) > 3 else "")
    note = f"places that are not finite, bridged from the frames about: {shown}"
    warnings.warn(note, ModelWarning, stacklevel=3)
    return [note]


def _solved(given: Array, above: list[int], fps: float) -> tuple[Array, Array, Array]:
    """(joints, 3) offsets at rest, (frames, joints, 4) rotations relative to the parents, and where joints are then."""
    frames, many = given.shape[:2]
    size = float((given.max(axis=(0, 1)) - given.min(axis=(0, 1))).max())
    children = [[k for k, parent in enumerate(above) if parent == i] for i in range(many)]
    bones = np.array(
        [0.0 if p < 0 else np.median(np.linalg.norm(given[:, i] - given[:, p], axis=1)) for i, p in enumerate(above)]
    )
    size = min(size, float(bones.sum()))
    bones[bones <= _NONE * size] = 0.0
    still = np.tile([1.0, 0.0, 0.0, 0.0], (frames, 1))
    offsets, turns, world = np.zeros((many, 3)), np.tile(still[:, None], (1, many, 1)), list[Array]()
    reached = given.copy()
    for i, parent in enumerate(above):
        stands = still if parent < 0 else world[parent]
        if parent >= 0:
            reached[:, i] = reached[:, parent] + rotate(stands, np.broadcast_to(offsets[i], (frames, 3)))
        aims = [k for k in children[i] if bones[k] > 0.0]
        if aims:
            back = conjugate(stands)[:, None]
            shape = _seen(given[:, aims] - given[:, i, None], bones[aims])
            wanted = rotate(back, given[:, aims] - reached[:, i, None])
            offsets[aims], turns[:, i] = _aimed(shape, wanted, bones[aims], fps, level=parent < 0)
        world.append(quaternion_product(stands, turns[:, i]))
    return offsets, turns, reached


def _seen(vectors: Array, bones: Array) -> Array:
    """(k, 3) what children (frames, k, 3) look like from their joint, with bones (k,) of the given lengths."""
    typical = int(np.argmin(((np.linalg.norm(vectors, axis=2) - bones) ** 2).sum(axis=1)))
    shape: Array = vectors[typical].copy()
    if not _is_line(shape):
        for _ in range(_ROUNDS):
            before = shape
            shape = rotate(conjugate(_turned_onto(shape, vectors))[:, None], vectors).mean(axis=0)
            if np.abs(shape - before).max() <= _CONVERGED * bones.max():
                break
    lengths = np.linalg.norm(shape, axis=1)
    return shape * (bones / np.where(lengths > 0.0, lengths, 1.0))[:, None]


def _is_line(shape: Array) -> bool:
    sizes = np.linalg.svd(shape, compute_uv=False)
    return len(shape) < 2 or bool(sizes[1] <= _LINE * sizes[0])


def _aimed(shape: Array, wanted: Array, bones: Array, fps: float, *, level: bool) -> tuple[Array, Array]:
    """(k, 3) offsets of children at rest, and (frames, 4) rotations that point them at `wanted` (frames, k, 3).

    Both are along the axes of the parent.  At rest a joint stands in the middle of its rotations; `level` one as in the
    first frame, turned so that what is up in the middle is up.
    """
    if _is_line(shape):
        along = np.linalg.svd(shape)[2][0]
        side = shape @ along
        ways = np.einsum("k,tki->ti", side, wanted)
        lengths = np.linalg.norm(ways, axis=1)
        lost = lengths <= 1e-9 * lengths.max()
        if not lost.all():
            ways = _directions(bridged(ways, lost) if lost.any() else ways)
        middle = ways.mean(axis=0)
        rest = _directions((middle if np.linalg.norm(middle) > _LEVEL else ways[0])[None])[0]
        return (np.where(side < 0.0, -1.0, 1.0) * bones)[:, None] * rest, _swung(rest, ways, fps)
    turns = _turned_onto(shape, wanted)
    if level:
        first = turns[0]
        seen = rotate(quaternion_product(first[None], conjugate(turns)), np.array([[0.0, 0.0, 1.0]])).mean(axis=0)
        tilted = np.linalg.norm(seen) > _LEVEL
        upright = _shortest(_directions(seen[None]), np.array([[0.0, 0.0, 1.0]])) if tilted else np.eye(4)[:1]
        rest = quaternion_product(upright, first[None])
    else:
        # The rotation nearest to all: the quaternion of the largest eigenvalue of the sum of their squares (Markley et
        # al. 2007, doi:10.2514/1.28949).
        rest = np.linalg.eigh(turns.T @ turns)[1][:, -1][None]
    return rotate(rest, shape), quaternion_product(turns, conjugate(rest))


def _turned_onto(shape: Array, vectors: Array) -> Array:
    """(frames, 4) the rotations that bring `shape` (k, 3) nearest to `vectors` (frames, k, 3)."""
    u, _, vt = np.linalg.svd(np.einsum("tki,kj->tij", vectors, shape))
    u[:, :, 2] *= np.sign(np.linalg.det(u) * np.linalg.det(vt))[:, None]
    return matrix_quaternion(u @ vt)


def _swung(rest: Array, ways: Array, fps: float) -> Array:
    """(frames, 4) rotations of the direction `rest` (3,) to `ways` (frames, 3), without flips."""
    turns = _shortest(rest[None], ways)
    cosines = ways @ rest
    if cosines.min() > _OPPOSITE:
        return turns
    # How much farther than the shortest rotation a frame turns about the bone if it follows the frame before.
    follows = quaternion_product(_shortest(ways[:-1], ways[1:]), turns[:-1])
    twist = quaternion_product(conjugate(turns[1:]), follows)
    steps = 2.0 * np.arctan2(twist[:, 1:] @ rest, twist[:, 0])
    decay = np.exp(-0.5 * (1.0 + cosines) / (fps * _UNWIND))  # nothing is taken back at the opposite itself
    angles, angle = [0.0], 0.0
    for step, keep in zip(steps.tolist(), decay[1:].tolist(), strict=True):
        angle = keep * math.remainder(angle + step, 2.0 * math.pi)
        angles.append(angle)
    half = 0.5 * np.array(angles)[:, None]
    return quaternion_product(turns, np.concatenate([np.cos(half), np.sin(half) * rest], axis=1))


def _shortest(a: Array, b: Array) -> Array:
    """(n, 4) the shortest rotations of unit vectors a to b, (n, 3) or (1, 3); of opposites, one of the half turns."""
    a, b = np.broadcast_arrays(a, b)
    cosine = np.einsum("ni,ni->n", a, b)[:, None]
    turn = np.concatenate([1.0 + cosine, np.cross(a, b)], axis=1)
    # Opposites: a half turn about the normal to a and to the axis that it is farthest from.
    normal = np.cross(a, np.eye(3)[np.argmin(np.abs(a), axis=1)])
    turn = np.where(cosine < -1.0 + 1e-12, np.concatenate([np.zeros_like(cosine), normal], axis=1), turn)
    return _directions(turn)


def _directions(vectors: Array) -> Array:
    """(n, k) vectors as directions; of none, along the first axis."""
    return unit_vectors(vectors, np.eye(vectors.shape[1])[0])


def _breathing(given: Array, above: list[int], names: Sequence[str]) -> list[str]:
    """How much bones change in length, if any does by more than a thousandth of all."""
    bones = [(i, parent) for i, parent in enumerate(above) if parent >= 0]
    if not bones:
        return []
    lengths = np.stack([np.linalg.norm(given[:, i] - given[:, parent], axis=1) for i, parent in bones], axis=1)
    middle = np.median(lengths, axis=0)
    most = np.abs(lengths - middle).max(axis=0)
    if not most.max() > 1e-3 * middle.sum():
        return []
    i, parent = bones[int(most.argmax())]
    return [
        f"bones change in length, by up to {_millimetres(float(most.max()))} from {names[parent]!r} to {names[i]!r}; "
        "each is as long as in the middle of the frames, by the median"
    ]


def _accuracy(error: Array, missing: Flags, names: Sequence[str]) -> str:
    """How far joints are from where they were given, errors (frames, joints)."""
    error = np.where(missing, 0.0, error)
    frame, joint = (int(k) for k in np.unravel_index(int(error.argmax()), error.shape))
    if error[frame, joint] < 1e-6:
        return "all joints lie within 0.001 mm of the given positions"
    mean = float(error.sum() / np.logical_not(missing).sum())
    return (
        f"joints lie {_millimetres(mean)} from the given positions on average, "
        f"at most {_millimetres(float(error[frame, joint]))} ({names[joint]!r} in frame {frame})"
    )


def _millimetres(length: float) -> str:
    return f"{1000.0 * length:.3g} mm"

"""Where the joints of a body stand at rest: from the file of its model, or those of a person of average proportions.

At rest a body stands upright with its arms to the sides: y is up, x to its left, z ahead.
"""

from pathlib import Path
from typing import Any, Final

import numpy as np

from poise import InvalidValue, ModelError
from poise.extending import Array
from poise_motion.files.arrays import named_arrays, numbers_of
from poise_motion.files.smpl_tree import BODY, TREES, Tree

_HEIGHT: Final = 1.70
"""Of the person of average proportions [m]: between what women and men are on average in most of Europe and America."""
_KNOWN: Final = ("v_template", "shapedirs", "J_regressor", "kintree_table")
_VERTICES: Final = 100_000
"""More corners than the surface of any of these bodies has, which is 6,890 and 10,475."""

_SIDE: Final = {
    "hip": (0.0955, 0.530, 0.0),
    "knee": (0.0955, 0.285, 0.0),
    "ankle": (0.0955, 0.039, 0.0),
    "foot": (0.0955, 0.010, 0.080),
    "collar": (0.030, 0.800, 0.0),
    "shoulder": (0.1295, 0.818, 0.0),
    "elbow": (0.3155, 0.818, 0.0),
    "wrist": (0.4615, 0.818, 0.0),
    "hand": (0.5115, 0.818, 0.0),
    "eye": (0.019, 0.936, 0.050),
}
_MIDDLE: Final = {
    "pelvis": (0.0, 0.550, 0.0),
    "spine1": (0.0, 0.610, 0.0),
    "spine2": (0.0, 0.680, 0.0),
    "spine3": (0.0, 0.720, 0.0),
    "neck": (0.0, 0.840, 0.0),
    "head": (0.0, 0.890, 0.0),
    "jaw": (0.0, 0.900, 0.010),
}
"""Places as shares of the height.  Lengths of limbs, breadths and heights are those of Drillis and Contini, "Body
Segment Parameters", 1966; along the spine, and of collars and jaw, they are set between them by eye."""
_HAND: Final = 0.108
"""From wrist to fingertip, as a share of the height (there)."""
_FINGERS: Final = {
    "index": (0.463, 0.245, 0.143),
    "middle": (0.446, 0.266, 0.170),
    "ring": (0.421, 0.244, 0.165),
    "pinky": (0.414, 0.204, 0.117),
    "thumb": (0.100, 0.251, 0.196),
}
"""From the wrist to the first joint and on to the next ones, as shares of the hand's length (Buchholz, Armstrong and
Goldstein, "Anthropometric data for describing the kinematics of the human hand", 1992); the thumb's first is near the
wrist."""
_SPREAD: Final = {"index": 10.0, "middle": 0.0, "ring": -8.0, "pinky": -17.0, "thumb": 45.0}
"""By how much fingers are turned towards the thumb's side [degrees]."""


def average(tree: Tree) -> Array:
    """(joints, 3) where the joints of a person of average proportions stand [m], above the ground at y = 0."""
    out = np.empty((len(tree.names), 3))
    for i, name in enumerate(tree.names):
        side, _, part = name.partition("_")
        sign = 1.0 if side == "left" else -1.0
        if name in _MIDDLE:
            out[i] = _MIDDLE[name]
        elif part in _SIDE:
            out[i] = _SIDE[part]
            out[i, 0] *= sign
        else:
            finger, k = part[:-1], int(part[-1])
            angle = np.radians(_SPREAD[finger])
            along = _HAND * sum(_FINGERS[finger][:k])
            out[i] = _SIDE["wrist"] + along * np.array([np.cos(angle), 0.0, np.sin(angle)])
            out[i, 0] *= sign
    return _HEIGHT * out


def measured(path: Path, tree: Tree, betas: Array) -> tuple[Array, int]:
    """(joints, 3) where the joints of a body of shape `betas` stand [m], by the file of its model; and how many of the
    `betas` that has a use for.

    Raises ModelError for what is no such file or that of another kind of body, ValueError for another suffix.
    """
    if path.suffix.lower() not in (".npz", ".pkl"):
        raise InvalidValue("wrong-format", f"body_model must be the .npz or .pkl of a body's model, got {path}")
    found, names = named_arrays(path, _KNOWN)
    for name in _KNOWN[:3]:
        if name not in found:
            raise ModelError(
                f"it has no {name!r}, and so is no model of a body; it has {', '.join(names[:8]) or 'nothing'}",
                file=str(path),
            )
    template, directions, regressor = (numbers_of(_dense(found[name]), name, path) for name in _KNOWN[:3])
    corners = len(template)
    if template.shape != (corners, 3) or corners > _VERTICES:
        raise ModelError(f"'v_template' must be (corners, 3), got {template.shape}", file=str(path))
    if directions.ndim != 3 or directions.shape[:2] != (corners, 3):
        raise ModelError(f"'shapedirs' must be ({corners}, 3, shapes), got {directions.shape}", file=str(path))
    many = len(tree.names)
    if many == BODY and len(regressor) in TREES:  # what all have in common
        regressor = regressor[:BODY]
    if regressor.shape != (many, corners):
        raise ModelError(
            f"'J_regressor' must be ({many}, {corners}) for {tree.kind}, got {regressor.shape}: the motion "
            "is of another kind of body",
            file=str(path),
        )
    table = np.asarray(found.get("kintree_table", [tree.parents]))
    if table.ndim != 2 or [*table[0, 1:many]] != [*tree.parents[1:]]:
        raise ModelError(f"'kintree_table' is not the tree of {tree.kind}", file=str(path))
    used = min(len(betas), directions.shape[2])
    return regressor @ (template + directions[:, :, :used] @ betas[:used]), used


def _dense(value: Any) -> Any:
    """An array that an old file keeps as an array of one object."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value

"""How far people bend their fingers: what a source shows beyond is noise, and is brought back to where they can.

Each bone is seen against the one before, by how far it bends towards the palm and how far it goes to the side.
"""

from typing import Final

import numpy as np

from poise.extending import Array
from poise.quaternions import unit_vectors

_FINGER: Final = np.radians([[-45.0, 105.0, 35.0], [-15.0, 115.0, 20.0], [-25.0, 105.0, 20.0]])
"""By bone from the knuckle, the ends of the range in which it bends towards the palm, against the one before, and how
far it goes to either side [rad]: about 15 degrees more than is normal (American Academy of Orthopaedic Surgeons, Joint
Motion, 1965)."""
_THUMB: Final = np.radians([[-180.0, 180.0, 90.0], [0.0, 75.0, 90.0], [-35.0, 95.0, 90.0]])
"""The same of a thumb, whose first bone goes where it likes, and whose second one says where it bends."""
_NOTED: Final = np.radians(5.0)
"""What is beyond by less is not told of [rad]."""


def within_human(part: str, ways: Array) -> tuple[Array, list[str]]:
    """The bones (frames, bones, 3) of a finger, of length 1 and seen along the axes of its palm, as far as people bend
    them, and what was beyond, in words."""
    side, _, name = part.partition("_")
    flat = np.array([[0.0, 0.0, -1.0], [0.0, 1.0 if side == "right" else -1.0, 0.0], [1.0, 0.0, 0.0]])
    seen = np.broadcast_to(flat, (len(ways), 3, 3))  # along the bone before, towards the palm, to the thumb's side
    if name == "thumb" and ways.shape[1] > 1:
        along, beyond = ways[:, 0], ways[:, 1]
        bend = unit_vectors(beyond - along * np.sum(along * beyond, axis=1, keepdims=True))
        seen = np.stack([along, bend, np.cross(bend, along)], axis=1)
    clamped, out, beyond_by = seen, ways.copy(), np.zeros(len(ways))
    for k, (low, high, aside) in enumerate((_THUMB if name == "thumb" else _FINGER)[: ways.shape[1]]):
        if name == "thumb" and k == 0:
            continue
        along, bent, to_side = np.einsum("fij,fj->if", seen, ways[:, k])
        bend, swing = np.arctan2(bent, along), np.arcsin(np.clip(to_side, -1.0, 1.0))
        middle = 0.5 * (low + high)
        bend = middle + np.remainder(bend - middle + np.pi, 2.0 * np.pi) - np.pi  # by the shorter way from the middle
        human, sideways = np.clip(bend, low, high), np.clip(swing, -aside, aside)
        beyond_by = np.maximum(beyond_by, np.maximum(np.abs(bend - human), np.abs(swing - sideways)))
        seen, clamped = _bent(seen, bend, swing), _bent(clamped, human, sideways)
        out[:, k] = clamped[:, 0]
    over = beyond_by > _NOTED
    if not over.any():
        return out, []
    return out, [
        f"in {over.mean():.1%} of the frames the source bends the {part.replace('_', ' ')} farther than people can, by "
        f"up to {np.degrees(beyond_by.max()):.0f} deg; it was brought back"
    ]


def _bent(axes: Array, bend: Array, swing: Array) -> Array:
    """Axes (frames, 3, 3), as rows, of a bone that is bent and swung to the side against the one before [rad]."""
    along, palm, aside = axes[:, 0], axes[:, 1], axes[:, 2]
    c, s = np.cos(bend)[:, None], np.sin(bend)[:, None]
    along, palm = c * along + s * palm, c * palm - s * along
    c, s = np.cos(swing)[:, None], np.sin(swing)[:, None]
    return np.stack([c * along + s * aside, palm, c * aside - s * along], axis=1)

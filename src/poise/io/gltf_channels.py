"""The channels of a glTF animation: how translations, rotations and scales of nodes go with time.

Khronos Group, glTF 2.0 Specification, 3.11 (animations) and appendix C (how they are interpolated).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from poise.common.array import Array
from poise.io.gltf_document import Document, Item
from poise.spatial import LARGEST

WIDTHS: Final = {"translation": 3, "rotation": 4, "scale": 3}
"""How many numbers a channel of nodes has at a time."""
_LEAST: Final = 1e-6
"""A shorter quaternion has no direction; keys that are nearer [s] are one key that was rounded."""
_ROUNDED: Final = 1e-3
"""The last frame is there if the last key lacks no more than this share of a frame: keys are 32-bit floats."""
_POSES: Final = 2**23
"""More poses of joints in frames than memory is for."""


@final
@dataclass(frozen=True, slots=True)
class Channel:
    """How one part of a node's pose goes with time."""

    sampler: Item
    node: int
    path: str
    interpolation: str
    keys: Array
    """(keys,) [s], strictly ascending."""
    values: Array
    """(keys, width); quaternions are wxyz, of unit length."""
    slopes: tuple[Array, Array]
    """Of a cubic spline: (keys, width) derivatives on the way in and on the way out of each key."""

    def at(self, times: Array) -> Array:
        """(frames, width) values; before the first key and after the last, those of that key."""
        if np.array_equal(times, self.keys):
            return self.values
        t = np.clip(times, self.keys[0], self.keys[-1])
        if len(self.keys) == 1:
            return np.broadcast_to(self.values, (len(t), self.values.shape[1]))
        k = np.clip(np.searchsorted(self.keys, t, side="right") - 1, 0, len(self.keys) - 2)
        span = self.keys[k + 1] - self.keys[k]
        u = ((t - self.keys[k]) / span)[:, None]
        a, b = self.values[k], self.values[k + 1]
        if self.interpolation == "STEP":
            return np.where(u < 1.0, a, b)
        if self.interpolation == "LINEAR":
            return _slerp(a, b, u) if self.path == "rotation" else a + u * (b - a)
        out, into = span[:, None] * self.slopes[1][k], span[:, None] * self.slopes[0][k + 1]
        u2, u3 = u * u, u * u * u
        with np.errstate(over="ignore", invalid="ignore"):
            values = (2 * u3 - 3 * u2 + 1) * a + (u3 - 2 * u2 + u) * out + (3 * u2 - 2 * u3) * b + (u3 - u2) * into
        return normalised(self.sampler, "output", values) if self.path == "rotation" else values


def read_channel(document: Document, sampler: Item, node: int, path: str) -> Channel:
    interpolation = sampler.text("interpolation", "LINEAR")
    if interpolation not in ("STEP", "LINEAR", "CUBICSPLINE"):
        raise sampler.wrong("interpolation", "STEP, LINEAR or CUBICSPLINE")
    keys = document.numbers(sampler, "input", "SCALAR")[:, 0]
    values = document.numbers(sampler, "output", f"VEC{WIDTHS[path]}")
    if not len(keys):
        raise sampler.error("has no keys", "input")
    if (np.diff(keys) <= 0.0).any():
        first = int(np.argmax(np.diff(keys) <= 0.0)) + 1
        raise sampler.error(f"key {first} is not later than the one before it", "input")
    if not (np.abs(keys) <= LARGEST).all():
        raise sampler.error("has keys of which a double has no digits left", "input")
    each = 3 if interpolation == "CUBICSPLINE" else 1
    if len(values) != each * len(keys):
        raise sampler.error(f"has {len(values)} values, and {len(keys)} keys need {each * len(keys)}", "output")
    if path == "rotation":
        values = values[:, [3, 0, 1, 2]]
    into, middle, out = (values[0::3], values[1::3], values[2::3]) if each == 3 else (values, values, values)
    if path == "rotation":
        middle = normalised(sampler, "output", middle)
    return Channel(sampler, node, path, interpolation, keys, middle, (into, out))


def sample_times(clip: Item | None, channels: Sequence[Channel], fps: float | None, joints: int) -> Array:
    """The times [s] of the frames: the keys of all channels, or `fps` a second."""
    keys = channels[0].keys if channels else np.zeros(1)
    if not all(np.array_equal(channel.keys, keys) for channel in channels):
        keys = np.unique(np.concatenate([channel.keys for channel in channels]))
    keys = keys[np.concatenate([[True], np.diff(keys) > _LEAST])]
    frames = len(keys) if fps is None else (keys[-1] - keys[0]) * fps + 1.0
    if clip is not None and frames * joints > _POSES:
        raise clip.error(f"{frames:.3g} frames of {joints} joints are more than fit into memory; cut it, or lower fps")
    return keys if fps is None else keys[0] + np.arange(int(frames + _ROUNDED)) / fps


def unit(wxyz: Array) -> Array:
    """Quaternions of length 1, of those that have a direction."""
    return wxyz / np.linalg.norm(wxyz, axis=-1, keepdims=True)


def normalised(item: Item, key: str, wxyz: Array) -> Array:
    """Quaternions of length 1; raises ModelError for one that is too short to have a direction."""
    with np.errstate(over="ignore", invalid="ignore"):
        length = np.linalg.norm(wxyz, axis=-1, keepdims=True)
    if not ((length > _LEAST) & (length <= LARGEST)).all():
        raise item.error("a rotation is a quaternion of length 1, and one here has no direction", key)
    return wxyz / length


def _slerp(a: Array, b: Array, u: Array) -> Array:
    """From a to b the shorter way, at even speed (Shoemake 1985, doi:10.1145/325334.325242)."""
    cosine = (a * b).sum(axis=1, keepdims=True)
    b = np.where(cosine < 0.0, -b, b)
    # The angle by its sine and cosine together, which is exact where the cosine alone has lost its digits.
    angle = 2.0 * np.arctan2(np.linalg.norm(b - a, axis=1), np.linalg.norm(b + a, axis=1))[:, None]
    sine = np.where(angle < _LEAST, 1.0, np.sin(angle))
    near = angle < _LEAST
    return unit(
        np.where(near, 1.0 - u, np.sin((1.0 - u) * angle) / sine) * a + np.where(near, u, np.sin(u * angle) / sine) * b
    )

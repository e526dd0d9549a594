"""Robots that are otherwise than their models say, and what is measured of them."""

from collections.abc import Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

import poise as pz
from poise.calibration.parameters import Freed, calibrated, parameters

Array = npt.NDArray[np.float64]


@cache
def arm(name: str = "ur5e") -> pz.Model:
    """A robot with a tool and a tracker beside it."""
    model = pz.load(name)
    model = model.with_frame("probe", link=model.tip, origin=pz.SE3.from_xyz_rpy([0.02, -0.03, 0.12], [0.1, 0.2, 0.3]))
    return model.with_frame("tracker", link="world", origin=pz.SE3.from_xyz_rpy([1.5, -0.8, 0.4], [0.2, -0.1, 2.0]))


def moving(model: pz.Model, tip: str) -> list[str]:
    """The joints that move a frame."""
    return [joint.name for joint in model.root_path(model.frame(tip).link) if joint.size]


def changed(model: pz.Model, free: Sequence[str], x: npt.ArrayLike) -> pz.Model:
    """The model with the numbers of `free` at x."""
    return calibrated(Freed(model, parameters(model, free)), model, np.asarray(x, dtype=float))


def wrong(model: pz.Model, free: Sequence[str], *, size: float = 3e-3, seed: int = 0) -> pz.Model:
    """The model with what is `free` otherwise, by some `size` [m and rad]."""
    count = len(parameters(model, free))
    return changed(model, free, size * np.random.default_rng(seed).normal(size=count))


def seen(model: pz.Model, q: npt.ArrayLike, frame: str = "probe", base: str = "world") -> pz.SE3:
    """Where a frame is, seen from another."""
    return model.pose(base, q).inverse() @ model.pose(frame, q)


def noisy(poses: pz.SE3, std: tuple[float, float], rng: np.random.Generator) -> pz.SE3:
    """Poses as they are measured, with standard deviations of places [m] and turns [rad]."""
    noise = rng.normal(size=(len(poses.array), 6)) * np.repeat(std, 3)
    turned = pz.SO3.from_rotvec(noise[:, 3:]) @ poses.rotation
    return pz.SE3.from_parts(poses.xyz + noise[:, :3], turned)

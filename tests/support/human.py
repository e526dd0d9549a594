"""A small human figure: feet and hands on limbs of two bones, a spine and a head; joints are balls, z is up."""

import numpy as np
import numpy.typing as npt

import poise as pz

Array = npt.NDArray[np.float64]
_BONES = (
    ("Spine", "Hips", (0.0, 0.0, 0.12)),
    ("Chest", "Spine", (0.0, 0.0, 0.22)),
    ("Head", "Chest", (0.0, 0.0, 0.28)),
    *(
        bone
        for side, y in (("Left", 1.0), ("Right", -1.0))
        for bone in (
            (f"{side}UpLeg", "Hips", (0.0, 0.09 * y, -0.05)),
            (f"{side}Leg", f"{side}UpLeg", (0.0, 0.0, -0.42)),
            (f"{side}Foot", f"{side}Leg", (0.0, 0.0, -0.41)),
            (f"{side}Arm", "Chest", (0.0, 0.18 * y, 0.18)),
            (f"{side}ForeArm", f"{side}Arm", (0.0, 0.28 * y, 0.0)),
            (f"{side}Hand", f"{side}ForeArm", (0.0, 0.25 * y, 0.0)),
        )
    ),
)


def figure() -> pz.Model:
    """It stands at `neutral`, its hips at the world's origin, its arms out to the sides."""
    b = pz.ModelBuilder("figure")
    b.joint("Hips", "floating", parent="world", child="Hips")
    for name, parent, place in _BONES:
        b.joint(name, "spherical", parent=parent, child=name, origin=pz.SE3.from_parts(place))
    return b.build()


def bent(model: pz.Model) -> Array:
    """(nq,) with knees and elbows a little bent, as a living figure stands."""
    v = np.zeros(model.nv)
    for joint, turn in (
        ("LeftUpLeg", (0.0, -0.4, 0.0)),
        ("RightUpLeg", (0.0, -0.3, 0.0)),
        ("LeftLeg", (0.0, 0.7, 0.0)),
        ("RightLeg", (0.0, 0.6, 0.0)),
        ("LeftForeArm", (0.0, 0.0, -0.5)),
        ("RightForeArm", (0.0, 0.0, 0.5)),
    ):
        v[model.velocity_index(joint)] = turn
    return model.integrate(model.neutral, v)


def swaying(model: pz.Model, steps: int, *, seed: int = 0) -> Array:
    """(steps, nq) a motion of all joints around `bent`, slow against the steps."""
    rng = np.random.default_rng(seed)
    size, phase = rng.uniform(0.02, 0.12, model.nv), rng.uniform(0.0, 2.0 * np.pi, model.nv)
    v = size * np.sin(2.0 * np.pi * np.arange(steps)[:, None] / 60.0 + phase)
    return model.integrate(bent(model), v)

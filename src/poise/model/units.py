"""The units of the numbers in a configuration."""

from poise.model.joint import JointKind
from poise.model.model import Model


def units(model: Model) -> dict[str, str]:
    """The unit of every coordinate, also of joints that mimic: m, rad, or nothing for a part of a quaternion."""
    return {
        coordinate: _unit(joint.kind, coordinate.removeprefix(joint.name))
        for joint in model.joints
        for coordinate in joint.coordinates
    }


def _unit(kind: JointKind, part: str) -> str:
    if kind is JointKind.PRISMATIC or part in (".x", ".y", ".z"):
        return "m"
    return "" if part.startswith(".q") else "rad"

"""The parts of a body, by which a skeleton and a robot are compared."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

SIDES: Final = ("left", "right")
PARENTS: Final[Mapping[str, str | None]] = MappingProxyType(
    {"pelvis": None, "chest": "pelvis", "head": "chest"}
    | {
        f"{side}_{part}": parent if parent in ("pelvis", "chest") else f"{side}_{parent}"
        for side in SIDES
        for part, parent in (
            ("hip", "pelvis"),
            ("knee", "hip"),
            ("ankle", "knee"),
            ("toe", "ankle"),
            ("shoulder", "chest"),
            ("elbow", "shoulder"),
            ("wrist", "elbow"),
        )
    }
)
"""The parts of a body, and the part that each hangs on.  Of a body with four legs the arms are those in front."""
ENDS: Final = tuple(f"{side}_{part}" for part in ("ankle", "wrist") for side in SIDES)
"""The parts that may stand on something."""
LIMBS: Final[Mapping[str, tuple[str, str, str]]] = MappingProxyType(
    {
        f"{side}_{limb}": (f"{side}_{first}", f"{side}_{second}", f"{side}_{third}")
        for side in SIDES
        for limb, (first, second, third) in (
            ("leg", ("hip", "knee", "ankle")),
            ("arm", ("shoulder", "elbow", "wrist")),
        )
    }
)
"""The three parts of each limb, from the trunk outwards."""

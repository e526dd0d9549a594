"""The parts of a body, by which a skeleton and a robot are compared."""

from collections.abc import Collection, Mapping
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
"""The parts at the ends of limbs: those that stand, of a body on two legs or four, and hands."""
KNEES: Final = tuple(f"{side}_knee" for side in SIDES)
STANDING: Final = (*ENDS, *KNEES)
"""The parts that may stand on something."""
TOES: Final[Mapping[str, str]] = MappingProxyType({f"{side}_ankle": f"{side}_toe" for side in SIDES})
"""By ankle, the toe of its foot."""
HIPS: Final = tuple(f"{side}_hip" for side in SIDES)
RIGID: Final = frozenset(
    ("chest", "head", *(f"{side}_{part}" for side in SIDES for part in ("hip", "shoulder", "toe")))
)
"""The parts that have a place of their own on the part they hang on; others are at the end of a bone that turns."""
LIMBS: Final[Mapping[str, tuple[str, str, str]]] = MappingProxyType(
    {
        f"{side}_{limb}": (f"{side}_{first}", f"{side}_{second}", f"{side}_{third}")
        for side in SIDES
        for limb, (first, second, third) in (("leg", ("hip", "knee", "ankle")), ("arm", ("shoulder", "elbow", "wrist")))
    }
)
"""The three parts of each limb, from the trunk outwards."""
BENDS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {middle: (first, last) for first, middle, last in LIMBS.values()}
)
"""By elbow or knee, the two ends of its limb."""

FINGERS: Final = tuple(f"{side}_{name}" for side in SIDES for name in ("thumb", "index", "middle", "ring", "pinky"))
"""The fingers of both hands, each a part that begins where its first joint stands."""

_BONES: Final = {
    "UpperLeg": "hip",
    "LowerLeg": "knee",
    "Foot": "ankle",
    "Toes": "toe",
    "UpperArm": "shoulder",
    "LowerArm": "elbow",
    "Hand": "wrist",
}
"""By bone of a humanoid, without its side, the part that begins with it."""
_FIRST: Final = {
    "thumb": ("ThumbMetacarpal", "ThumbProximal"),
    "index": ("IndexProximal",),
    "middle": ("MiddleProximal",),
    "ring": ("RingProximal",),
    "pinky": ("LittleProximal",),
}
"""By finger, the bones with which it may begin, the first before all others."""


def parts_of_bones(bones: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """By part and by finger the link that it is, of a skeleton whose bones are known in the words of VRM."""
    called = {"pelvis": ("hips",), "chest": ("upperChest", "chest", "spine"), "head": ("head", "neck")}
    fingers = dict[str, tuple[str, ...]]()
    for side in SIDES:
        called |= {f"{side}_{part}": (f"{side}{bone}",) for bone, part in _BONES.items()}
        fingers |= {f"{side}_{name}": tuple(f"{side}{bone}" for bone in first) for name, first in _FIRST.items()}
    body, hands = (
        {
            part: next(bones[bone] for bone in known if bone in bones)
            for part, known in those.items()
            if bones.keys() & known
        }
        for those in (called, fingers)
    )
    return body, hands


def ancestors(parts: Collection[str]) -> dict[str, str | None]:
    """Those of the parts, parents before children, each with the nearest that it hangs on among them."""
    out: dict[str, str | None] = {}
    for part in PARENTS:
        if part in parts:
            parent = PARENTS[part]
            while parent is not None and parent not in parts:
                parent = PARENTS[parent]
            out[part] = parent
    return out

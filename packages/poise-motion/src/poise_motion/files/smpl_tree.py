"""The joints of SMPL, SMPL-H and SMPL-X: their order, what each hangs on, and which bone of a humanoid it is.

Loper et al., "SMPL: A Skinned Multi-Person Linear Model", 2015; Romero et al., "Embodied Hands", 2017; Pavlakos et al.,
"Expressive Body Capture", 2019.
"""

from dataclasses import dataclass
from typing import Final, final

_BODY: Final = (
    "pelvis", "left_hip", "right_hip", "spine1", "left_knee", "right_knee", "spine2", "left_ankle", "right_ankle",
    "spine3", "left_foot", "right_foot", "neck", "left_collar", "right_collar", "head", "left_shoulder",
    "right_shoulder", "left_elbow", "right_elbow", "left_wrist", "right_wrist",
)  # fmt: skip
_ABOVE: Final = (-1, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 12, 13, 14, 16, 17, 18, 19)
BODY: Final = len(_BODY)
"""So many joints come first in all three."""
_FINGERS: Final = ("index", "middle", "pinky", "ring", "thumb")
_WRISTS: Final = {"left": 20, "right": 21}
_HEAD: Final = 15


@final
@dataclass(frozen=True, slots=True)
class Tree:
    """The joints of one kind of body."""

    kind: str
    names: tuple[str, ...]
    parents: tuple[int, ...]
    """Place of the joint that each hangs on, -1 for the root."""
    bones: dict[str, str]
    """By bone of a humanoid, in the words of VRM, the joint."""


def _hands(first: int) -> tuple[list[str], list[int]]:
    names, parents = list[str](), list[int]()
    for side, wrist in _WRISTS.items():
        for finger in _FINGERS:
            for k in (1, 2, 3):
                parents.append(wrist if k == 1 else first + len(names) - 1)
                names.append(f"{side}_{finger}{k}")
    return names, parents


def _bones(names: tuple[str, ...]) -> dict[str, str]:
    called = {"hips": "pelvis", "spine": "spine1", "chest": "spine2", "upperChest": "spine3", "neck": "neck"}
    called |= {"head": "head", "jaw": "jaw"}
    limbs = {
        "UpperLeg": "hip", "LowerLeg": "knee", "Foot": "ankle", "Toes": "foot", "Shoulder": "collar",
        "UpperArm": "shoulder", "LowerArm": "elbow", "Hand": "wrist",
    }  # fmt: skip
    parts = {"index": "Index", "middle": "Middle", "pinky": "Little", "ring": "Ring", "thumb": "Thumb"}
    for side in _WRISTS:
        called |= {f"{side}{bone}": f"{side}_{joint}" for bone, joint in limbs.items()}
        for finger, word in parts.items():
            first = (
                ("Metacarpal", "Proximal", "Distal") if finger == "thumb" else ("Proximal", "Intermediate", "Distal")
            )
            called |= {f"{side}{word}{bone}": f"{side}_{finger}{k}" for k, bone in enumerate(first, 1)}
    return {bone: joint for bone, joint in called.items() if joint in names}


def _tree(kind: str, names: list[str], parents: list[int]) -> Tree:
    all_names = (*_BODY, *names)
    return Tree(kind, all_names, (*_ABOVE, *parents), _bones(all_names))


_SMPL: Final = _tree("SMPL", ["left_hand", "right_hand"], list(_WRISTS.values()))
_SMPLH: Final = _tree("SMPL-H", *_hands(BODY))
_MORE: Final = _hands(BODY + 3)
_SMPLX: Final = _tree("SMPL-X", ["jaw", "left_eye", "right_eye", *_MORE[0]], [_HEAD, _HEAD, _HEAD, *_MORE[1]])
_ALONE: Final = _tree("a body without hands", [], [])
TREES: Final = {len(tree.names): tree for tree in (_ALONE, _SMPL, _SMPLH, _SMPLX)}
"""By how many joints it has."""

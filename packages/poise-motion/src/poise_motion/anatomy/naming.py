"""What names tell of the joints of a body: the side, the part, and of which group of a limb each is."""

import re
from collections.abc import Collection
from typing import Final

from poise import Joint
from poise.extending import words_of
from poise_motion.anatomy.parts import SIDES

_CORNERS: Final = {
    corner: (side, end)
    for side in SIDES
    for end, letters in (("front", "f"), ("hind", "hrb"))
    for letter in letters
    for corner in (side[0] + letter, letter + side[0])
} | {"rr": ("right", "hind")}
"""What the legs of a body with four are called: LF, FL, hind as H, R or B."""
_ENDS: Final = {"front": "front", "fore": "front", "hind": "hind", "rear": "hind", "back": "hind"}
_LABELS: Final = re.compile(
    r"(?P<toe>toe|ball|metatars|mtp)"
    r"|(?P<ankle>ankle|talus)"
    r"|(?P<foot>foot)"
    r"|(?P<knee>knee|shin|calf|shank|tibia|low(er)?leg|kfe|kn$)"
    r"|(?P<hip>hip|thigh|up(per)?leg|femur|haa|hfe|hx$|hy$)"
    r"|(?P<leg>leg)"
    r"|(?P<wrist>wrist|palm|hand)"
    r"|(?P<elbow>elbow|fo?r?e?arm|low(er)?arm|radius|ulna)"
    r"|(?P<upperarm>up?(per)?arm|humerus)"
    r"|(?P<clavicle>clav|collar|scap)"
    r"|(?P<shoulder>shoulder|shldr)"
    r"|(?P<arm>arm)"
    r"|(?P<head>head|skull|cranium)(?!.*(end|top|nub))"
    r"|(?P<neck>neck|cervical)"
)
_MANY: Final = 3
"""So many joints that are called `arm` or `leg` and nothing else are counted through: `arm_left_1` to `7`."""

_FINGERS: Final = {
    word: name
    for name, called in (
        ("thumb", "thumb thmb thj th pollex"),
        ("index", "index idx pointer forefinger ff ffj"),
        ("middle", "middle mid mf mfj"),
        ("ring", "ring rng rf rfj"),
        ("pinky", "pinky pinkie pnky little lf lfj"),
    )
    for word in called.split()
}
"""By word, the finger that is called so."""
_COUNTED: Final = re.compile(r"finger[ _.]?(\d)", re.IGNORECASE)
_FIVE: Final = tuple(dict.fromkeys(_FINGERS.values()))


def side_of(joint: Joint, known: frozenset[tuple[str, ...]]) -> tuple[str, str]:
    """The side that a joint's name tells, or else its link's, and the end of a body with four legs.

    A letter tells it where another name, of those `known` in words, has that of the other side in its place.
    """
    for name in (joint.name, joint.child):
        parts = words_of(name)
        corner = next((_CORNERS[word] for word in parts if word in _CORNERS), None)
        if corner is not None:
            return corner
        end = next((_ENDS[word] for word in parts if word in _ENDS), "")
        for side in SIDES:
            if any(word.startswith(side) for word in parts):
                return side, end
        for i, word in enumerate(parts):
            for side, other in (SIDES, SIDES[::-1]):
                twin = (*parts[:i], other[0] + word[1:], *parts[i + 1 :])
                if word[0] == side[0] and twin in known:
                    return side, end
    return "", ""


def label_of(name: str) -> str:
    """What a joint or a link is called, `knee` or `upperarm`; empty where that tells nothing."""
    found = [match.lastgroup or "" for match in _LABELS.finditer("".join(words_of(name)))]
    return next((label for label in found if label not in ("leg", "arm")), found[0] if found else "")


def groups_of(labels: list[str], kind: str, balls: bool) -> list[int]:
    """Of each joint: 0 at the trunk, 1 the middle, 2 the end, 3 beyond it, -1 before it; -2 where no name tells."""
    order = {"hip": 0, "knee": 1, "ankle": 2, "toe": 3} if kind == "leg" else {"shoulder": 0, "elbow": 1, "wrist": 2}
    out, reached = [], -1
    for i, label in enumerate(labels):
        later = labels[i + 1 :]
        if label in ("leg", "arm"):
            if labels.count(label) >= _MANY:
                label = ""
            elif label == "leg":
                label = "hip" if "hip" not in labels else "knee" if "knee" not in labels else ""
            else:
                label = "shoulder"
        elif label == "foot":
            label = "toe" if "ankle" in labels[:i] else "ankle"
        elif label == "shoulder" and balls and ({"arm", "upperarm"} & set(later)):
            label = "clavicle"
        elif label == "upperarm":
            label = "shoulder"
        if label == "clavicle":
            out.append(-1)
            continue
        at = order.get(label, -2)
        if at != -2 and at < reached:
            at = -2
        reached = max(reached, at)
        out.append(at)
    return out


def missing_part(part: str, legs: Collection[str], arms: Collection[str]) -> str:
    """Why a part was not found, by the sides on which there are limbs."""
    side, _, name = part.partition("_")
    if not name:
        return "no joint is called head or neck" if part == "head" else "no limbs hang on it"
    limb, sides = ("leg", legs) if name in ("hip", "knee", "ankle", "toe") else ("arm", arms)
    return f"the {side} {limb} has none" if side in sides else f"there is no {side} {limb}"


def finger_called(name: str) -> str:
    """Which finger a joint or a link is by its name; empty where that tells nothing."""
    return next((_FINGERS[word] for word in words_of(name) if word in _FINGERS), "")


def fingers_counted(names: Collection[str]) -> dict[str, str]:
    """By joint, which finger it is, on a hand whose fingers are counted, the thumb first: `finger1-2`, `Finger01`."""
    digits = {name: found[1] for name in names if (found := _COUNTED.search(name))}
    firsts = sorted(set(digits.values()))
    if len(firsts) != len(_FIVE):
        return {}
    return {name: _FIVE[firsts.index(digit)] for name, digit in digits.items()}

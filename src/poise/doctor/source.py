"""What a URDF says that no model keeps, or that would stop it at the first mistake: all of these, with their lines."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import numpy as np

from poise.common.errors import ModelError
from poise.doctor.finding import Finding, gathered
from poise.io.elements import Element, parse
from poise.model.joint import JointKind, like_degrees

_UNIT: Final = 1e-3
"""By how much the length of an axis may differ from 1 [-]; what digits round is less."""
_TRIANGLE: Final = 1e-6
"""Of the largest moment, what the sum of two moments may lack of the third; digits round as much."""
_TURN: Final = 6.3
"""Angles of an <origin> beyond a whole turn are hardly radians."""
_FAR: Final = 50.0
"""Links that are so far from each other are hardly in metres."""
_PLACEHOLDERS: Final = (100.0, 1000.0)
"""Limits to both sides that stand for none."""


def findings_of_urdf(document: str | bytes, file: str) -> list[Finding]:
    """What is wrong with the numbers of a URDF, `file` in messages, one finding a kind; nothing where it cannot be
    read, which loading tells."""
    try:
        root = parse(document, file)
    except ModelError:
        return []
    if root.tag != "robot":
        return []
    looks = [(_of_joint, root.all("joint")), (_of_link, root.all("link")), (_of_origins, _placed(root))]
    return gathered(finding for look, elements in looks for one in elements for finding in _each(look, one))


def _placed(root: Element) -> list[Element]:
    """Joints and links: all that have an <origin> themselves or in them."""
    return [*root.all("joint"), *root.all("link")]


def _each(look: Callable[[Element], Iterator[Finding]], element: Element) -> list[Finding]:
    """What is found with one element; of what cannot be read that it cannot."""
    try:
        return list(look(element))
    except ModelError as error:
        return [Finding("unreadable", "error", _at(element), error.message, "correct it")]


def _at(element: Element) -> str:
    return f"{Path(element.file or '').name}, line {element.line}, {element.name}"


def _of_joint(joint: Element) -> Iterator[Finding]:
    kind, limit, axis = joint.attributes.get("type", ""), joint.child("limit"), joint.child("axis")
    if axis is not None and "xyz" in axis.attributes and kind not in ("fixed", "floating"):
        length = float(np.linalg.norm(axis.numbers("xyz", 3)))
        if length > 0.0 and abs(length - 1.0) > _UNIT:
            yield Finding(
                "axis-length", "warning", _at(joint),
                f"its axis has the length {length:.4g}, which every reader takes in its own way",
                f"write {' '.join(f'{x / length:.9g}' for x in axis.numbers('xyz', 3))}",
            )  # fmt: skip
    if limit is None or kind in ("continuous", "fixed") or not {"lower", "upper"} <= limit.attributes.keys():
        return
    low, high = (limit.number(end, infinite=True) for end in ("lower", "upper"))
    if low > high:
        yield Finding(
            "limits-swapped", "error", _at(joint), f"its limits are swapped, {low:g} to {high:g}", "change them over"
        )
    elif low == high:
        yield Finding(
            "limits-closed", "warning", _at(joint), f"its limits hold it at {low:g}", "call it fixed, or give it room"
        )
    elif kind == JointKind.REVOLUTE and -low == high and high in _PLACEHOLDERS:
        yield Finding(
            "limits-placeholder", "note", _at(joint), f"its limits, {low:g} to {high:g}, seem to stand for none",
            "call it continuous, or state what it can do",
        )  # fmt: skip
    elif kind == JointKind.REVOLUTE and like_degrees(JointKind.REVOLUTE, low, high):
        wanted = np.radians([low, high])
        yield Finding(
            "limits-in-degrees", "warning", _at(joint), f"its limits, {low:g} to {high:g}, seem to be degrees",
            f"a URDF is in radians: write {wanted[0]:.4g} and {wanted[1]:.4g}",
        )  # fmt: skip


def _of_origins(element: Element) -> Iterator[Finding]:
    origins = [element.child("origin"), *(part.child("origin") for part in element.children)]
    for origin in (one for one in origins if one is not None):
        angles = np.array(origin.numbers("rpy", 3)) if "rpy" in origin.attributes else np.zeros(3)
        if np.abs(angles).max() > _TURN:
            wanted = " ".join(f"{angle:.4g}" for angle in np.radians(angles))
            yield Finding(
                "angles-in-degrees", "warning", _at(element),
                f"rpy of its <origin>, {' '.join(f'{angle:g}' for angle in angles)}, is more than a turn: degrees?",
                f"a URDF is in radians: write {wanted}",
            )  # fmt: skip
            break
    place = origins[0].numbers("xyz", 3) if origins[0] is not None and "xyz" in origins[0].attributes else (0.0,) * 3
    if (far := float(np.linalg.norm(place))) > _FAR:
        yield Finding(
            "millimetres", "warning", _at(element), f"it is {far:.4g} m from its parent: millimetres?",
            f"a URDF is in metres: write {' '.join(f'{1e-3 * x:g}' for x in place)}",
        )  # fmt: skip


def _of_link(link: Element) -> Iterator[Finding]:
    inertial = link.child("inertial")
    mass = None if inertial is None else inertial.child("mass")
    inertia = None if inertial is None else inertial.child("inertia")
    if mass is None or inertia is None or not {"ixx", "iyy", "izz"} <= inertia.attributes.keys():
        return
    kilograms = mass.number("value")
    xx, yy, zz = (inertia.number(name) for name in ("ixx", "iyy", "izz"))
    xy, xz, yz = (inertia.number(name, 0.0) for name in ("ixy", "ixz", "iyz"))
    moments = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    said = f"moments {', '.join(f'{moment:.3g}' for moment in moments)} kg m^2"
    mend = "take the inertia from CAD about the centre of mass, in kg m^2, or that of a box around the link"
    if kilograms < 0.0:
        yield Finding("mass-negative", "error", _at(link), f"its mass is {kilograms:g} kg", "a mass is 0 or more")
    elif moments[0] < -_TRIANGLE * abs(moments[2]):
        yield Finding("inertia-negative", "warning", _at(link), f"its inertia has the {said}: one is negative", mend)
    elif moments[0] + moments[1] < (1.0 - _TRIANGLE) * moments[2]:
        yield Finding(
            "inertia-impossible",
            "warning",
            _at(link),
            f"no body has the {said} of its inertia: two are less than the third",
            mend,
        )
    elif kilograms == 0.0 and moments[2] > 0.0:
        yield Finding(
            "mass-missing", "warning", _at(link), f"it has no mass, and {said}", "give it its mass, or no <inertial>"
        )

"""Reading OpenSim's XML: numbers and words between tags, lists in `objects`, with the place in every refusal."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from poise import ModelError
from poise.extending import Element, read_xml

_MOST: Final = 1_000_000
"""Elements of a file: a body with its muscles has some ten thousands."""
_TRUE: Final = {"true": True, "1": True, "false": False, "0": False}
_LARGEST: Final = 1e6
"""What is larger is no length and no angle of a body [m or rad]."""
_SHOWN: Final = 60


def document(path: Path, *wanted: str) -> tuple[Element, int]:
    """The first of the elements `wanted` in an OpenSimDocument, or as its root, and the version; raises ModelError for
    what is none."""
    root = read_xml(path, most=_MOST)
    if root.tag in wanted:  # as files before OpenSim 2 have it
        return root, 0
    names = " or ".join(f"<{tag}>" for tag in wanted)
    if root.tag != "OpenSimDocument":
        raise root.error(f"the root of a file of OpenSim is <OpenSimDocument>, not <{root.tag}>")
    found = next(filter(None, map(root.child, wanted)), None)
    if found is None:
        others = ", ".join(f"<{child.tag}>" for child in root.children[:3]) or "nothing"
        raise root.error(f"there is no {names} in it, but {others}")
    version = root.attributes.get("Version", "")
    return found, int(version) if version.isdecimal() and len(version) < 9 else 0


def listed(element: Element | None) -> Iterator[Element]:
    """What is in a set: its children, or those of its `objects`."""
    if element is not None:
        inner = element.child("objects")
        yield from (element if inner is None else inner).children


def detached(element: Element | None, folder: Path) -> Element | None:
    """The same set, or that in the file that it names, as versions before 4 have some; raises ModelError for none."""
    if element is None or "file" not in element.attributes:
        return element
    file = folder / element.text("file").strip().replace("\\", "/")
    return document(file, element.tag)[0]


def named(element: Element) -> str:
    """The name of an element; raises ModelError without one."""
    return element.text("name")


def words(element: Element, *tags: str) -> list[str]:
    """The words in the first of these children that is there; none without one."""
    child = next(filter(None, map(element.child, tags)), None)
    return [] if child is None else child.content.split()


def word(element: Element, *tags: str) -> str:
    """What such a child says, blanks within it kept; nothing without one."""
    child = next(filter(None, map(element.child, tags)), None)
    return "" if child is None else child.content


def is_true(element: Element, tag: str, default: bool = False) -> bool:
    """A child that says true or false; raises ModelError for another word."""
    said = word(element, tag).lower()
    if not said:
        return default
    if said not in _TRUE:
        raise element.required(tag).error(f"<{tag}> of {element.label} is {_cut(said)!r}; it is true or false")
    return _TRUE[said]


def numbers(
    element: Element, tag: str, count: int | None = None, default: tuple[float, ...] | None = None
) -> tuple[float, ...]:
    """The numbers in a child; raises ModelError, with the line, for what is none, not finite or too large."""
    child = element.child(tag)
    if (child is None or not child.content) and default is not None:
        return default
    if child is None:
        raise element.error(f"{element.label} has no <{tag}>; it needs one")
    found = []
    for token in child.content.split():
        try:
            value = float(token)
        except ValueError:
            raise child.error(f"<{tag}> of {element.label}: {_cut(token)!r} is not a number") from None
        if not math.isfinite(value) or abs(value) > _LARGEST:
            raise child.error(f"<{tag}> of {element.label}: {_cut(token)} is no length and no angle of a body")
        found.append(value)
    if count is not None and len(found) != count:
        raise child.error(f"<{tag}> of {element.label} needs {count} number{'s' * (count > 1)}, not {len(found)}")
    return tuple(found)


def number(element: Element, tag: str, default: float | None = None) -> float:
    """The one number in a child; raises as `numbers` does."""
    return numbers(element, tag, 1, None if default is None else (default,))[0]


def no_such(element: Element, what: str, name: str) -> ModelError:
    """The error for a name that leads nowhere."""
    return element.error(f"{element.label} names the {what} {_cut(name)!r}, which is not there; correct the name")


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."

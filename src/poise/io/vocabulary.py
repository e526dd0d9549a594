"""The words of a format: which attributes and elements an element may have, and remarks on all others."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias, final

from poise.common.errors import nearest_names
from poise.io.elements import Element
from poise.io.notes import Notes


@final
@dataclass(frozen=True, slots=True)
class Words:
    """What may stand in an element."""

    attributes: frozenset[str]
    elements: frozenset[str] | None
    """None: any, which the reader of the format remarks on itself."""
    passed_over: frozenset[str]
    """Elements that the format or real files have and kinematics does not need; nothing in them is looked at."""


Vocabulary: TypeAlias = Mapping[str, Words]
"""The words of each element by its tag; of one that is not here nothing is said."""


def words(attributes: str = "", elements: str | None = "", passed_over: str = "") -> Words:
    """Words from lists with blanks between them."""
    known = None if elements is None else frozenset(elements.split())
    return Words(frozenset(attributes.split()), known, frozenset(passed_over.split()))


def note_unknown(root: Element, vocabulary: Vocabulary, notes: Notes) -> None:
    """Remark on each attribute and element that the vocabulary does not have, and on text, below and at the root.

    A prefix, as in `xmlns:xacro` or `<drake:joint>`, marks an extension, which is passed over.
    """
    pending = [root]
    while pending:
        element = pending.pop()
        known = vocabulary.get(element.tag)
        if known is None:
            continue
        for attribute in element.attributes:
            if attribute not in known.attributes and ":" not in attribute and attribute != "xmlns":
                meant = _meant(attribute, known)
                notes.add(f"unknown attribute {attribute!r} of <{element.tag}>{meant}", element.line, element.label)
        if element.has_text:
            notes.add(f"text in <{element.tag}> is passed over; numbers are attributes", element.line, element.label)
        if known.elements is not None:
            for child in element.children:
                if child.tag not in known.elements | known.passed_over and ":" not in child.tag:
                    near = [] if child.tag in vocabulary else nearest_names(child.tag, known.elements)
                    hint = f"; did you mean <{near[0]}>?" if near else ""
                    notes.add(f"unknown tag <{child.tag}> in <{element.tag}>{hint}", child.line)
        pending += [child for child in reversed(element.children) if child.tag not in known.passed_over]


def _meant(attribute: str, known: Words) -> str:
    if attribute in (known.elements or ()):
        return f", where it is an element: <{attribute} .../>"
    near = nearest_names(attribute, known.attributes)
    return f"; did you mean {near[0]!r}?" if near else ""

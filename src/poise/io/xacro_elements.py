"""The elements of a file that only xacro understands."""

from collections.abc import Iterator

from poise.io.elements import Element

_PASSED_OVER = {"gazebo", "transmission", "ros2_control"}
_MACRO = "xacro:macro"
_INSTRUCTIONS = {
    f"xacro:{word}" for word in ("attribute", "call", "element", "if", "include", "insert_block", "unless")
}


def xacro_in(root: Element) -> Element | None:
    """The first element that only xacro understands, and would make something of.

    In a robot that stands without it, a definition that nothing uses and the call of a macro that is not there are
    none: see `left_over`.
    """
    made = _INSTRUCTIONS | {f"xacro:{name}" for name in macros_of(root)}
    stands = any(child.tag == "link" for child in root.children)
    for element in _below(root):
        if element.tag.startswith("xacro:"):
            if element.tag in made or not stands:
                return element
        elif any("${" in value or "$(" in value for value in element.attributes.values()):
            return element
    return None


def left_over(root: Element) -> Iterator[Element]:
    """The elements of xacro, which in what is none were forgotten."""
    return (element for element in _below(root) if element.tag.startswith("xacro:"))


def macros_of(root: Element) -> list[str]:
    """The names of the macros that a xacro file defines."""
    return [element.attributes.get("name", "") for element in _below(root) if element.tag == _MACRO]


def _below(root: Element) -> Iterator[Element]:
    """All elements in the order of the file, but for those of simulators and drivers, and those in macros."""
    pending = [root]
    while pending:
        element = pending.pop()
        yield element
        if element.tag != _MACRO:
            pending += [child for child in reversed(element.children) if child.tag not in _PASSED_OVER]

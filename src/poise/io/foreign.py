"""What is given for a robot's file and is none, called what it is, with what to do."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from poise.common.errors import ModelError
from poise.geometry.meshes import LFS_POINTER, is_lfs_pointer

if TYPE_CHECKING:
    from poise.io.elements import Element

_CONVERT = "which poise does not read; export the robot as URDF or MJCF"
_BEGINNINGS = (
    (b"PK\x03\x04", "this is a zip archive; unpack it, and give the robot's file that is in it"),
    (b"\x1f\x8b", "this is a gzip archive; unpack it, and give the robot's file that is in it"),
    (b"PXR-USDC", f"this is a USD, {_CONVERT}"),
    (b"#usda", f"this is a USD, {_CONVERT}"),
)
_MOTION = "this is a motion without its robot; `poise view ROBOT --replay` plays it, and load_motion reads it"
_PAGES = (b"<!doctype html", b"<html")
_PAGE = (
    "this is a web page, not the file that it shows; on GitHub and the like, save what the button 'Raw' leads to, "
    "or clone the repository"
)
_ROOTS = {
    "sdf": f"this is an SDF, {_CONVERT}",
    "gazebo": f"this is a file of Gazebo, {_CONVERT}",
    "mujocoinclude": "this is a part that an MJCF includes; give the file that includes it",
    "COLLADA": "this is a mesh, not a robot; give the file that names it",
    "launch": "this is a launch file of ROS; give the URDF or xacro file that it names",
    "package": "this describes a package of ROS; give the URDF or xacro file in it",
    "html": _PAGE,
}
_OF_SRDF = {
    *("group", "group_state", "end_effector", "virtual_joint", "passive_joint"),
    *("disable_collisions", "enable_collisions", "disable_default_collisions"),
}
_PASSED_OVER = {"gazebo", "transmission", "ros2_control"}
_MACRO = "xacro:macro"
_INSTRUCTIONS = {
    f"xacro:{word}" for word in ("attribute", "call", "element", "if", "include", "insert_block", "unless")
}
XACRO_MJCF = "this is an MJCF written in xacro; expand it, as in `xacro FILE -o robot.xml`, and load that"


def refuse_foreign(data: bytes, file: str | None) -> None:
    """Raises ModelError for what no reader of robots could make sense of, by how it begins."""
    start = data[:256].removeprefix(b"\xef\xbb\xbf").lstrip()
    if is_lfs_pointer(start):
        raise ModelError(LFS_POINTER, file=file)
    if start.startswith(b"PK\x03\x04") and b"time_s.npy" in start:
        raise ModelError(_MOTION, file=file)
    for beginning, message in _BEGINNINGS:
        if start.startswith(beginning):
            raise ModelError(message, file=file)
    if start.lower().startswith(_PAGES):
        raise ModelError(_PAGE, file=file)


def foreign_root(tag: str) -> str:
    """Why a document with this root is no robot."""
    return _ROOTS.get(tag, f"the root of a URDF is <robot>, and of an MJCF <mujoco>, not <{tag}>")


def without_links(root: "Element") -> str:
    """Why a `<robot>` has no links."""
    if any(child.tag in _OF_SRDF for child in root.children):
        return (
            "this is an SRDF, which adds groups and postures to a robot; give its URDF, and an SRDF beside it is read"
        )
    return "the robot has no <link>"


def xacro_in(root: "Element") -> "Element | None":
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


def left_over(root: "Element") -> "Iterator[Element]":
    """The elements of xacro, which in what is none were forgotten."""
    return (element for element in _below(root) if element.tag.startswith("xacro:"))


def macros_of(root: "Element") -> list[str]:
    """The names of the macros that a xacro file defines."""
    return [element.attributes.get("name", "") for element in _below(root) if element.tag == _MACRO]


def _below(root: "Element") -> "Iterator[Element]":
    """All elements in the order of the file, but for those of simulators and drivers, and those in macros."""
    pending = [root]
    while pending:
        element = pending.pop()
        yield element
        if element.tag != _MACRO:
            pending += [child for child in reversed(element.children) if child.tag not in _PASSED_OVER]

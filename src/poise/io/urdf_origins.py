"""Write a URDF anew with other origins, and each other byte as it was: comments, meshes, order and layout."""

import os
import re
import warnings
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final, final
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

from poise.common.errors import ModelError, ModelWarning
from poise.common.files import write_whole
from poise.io.elements import read_bytes, readable
from poise.io.urdf import parse_urdf
from poise.model.changes import unused
from poise.model.frame import WORLD, Frame
from poise.model.model import Model
from poise.spatial import SE3

_TAG: Final = re.compile(rb"""<[^\s/>]+(?:[^"'>]|"[^"]*"|'[^']*')*>""")
_QUATERNION: Final = re.compile(rb"""\s+quat_xyzw\s*=\s*("[^"]*"|'[^']*')""")
_WIDE: Final = (b"\xff\xfe", b"\xfe\xff", b"\x00<", b"<\x00")
"""How a text begins whose letters have more than one byte."""


def write_origins(
    path: str | os.PathLike[str], source: str | os.PathLike[str], model: Model, owners: Collection[str], *, base: bool
) -> None:
    """Write the URDF `source` to `path` with the origins that `model` has of `owners`, joints and frames, and where it
    stands, if `base`.

    Joints that mimic one of them have its offset.  A frame that the file does not have becomes a link with a fixed
    joint; a robot that stands elsewhere, or next to such a frame on the world, gets a joint to it.  Raises ModelError
    for a file that is no URDF or of a robot with other joints, OSError for a place that cannot be written to.
    """
    document = read_bytes(Path(source))
    if document.startswith(_WIDE):
        raise ModelError("is not written in UTF-8: save it so", file=os.fspath(source))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # they were said when the model was loaded
        before = parse_urdf(document, file=os.fspath(source))
    missing = [joint.name for joint in before.joints if joint.name not in {each.name for each in model.joints}]
    if missing:
        raise ModelError(
            f"has a joint {missing[0]!r}, which {model.name} has not: name the file that it was loaded from",
            file=os.fspath(source),
        )
    at, own = _Places(document), {joint.name for joint in before.joints}
    changes: list[tuple[int, int, bytes]] = []
    for joint in (model.joint(name) for name in own):
        if joint.name in owners or (base and joint.parent == WORLD):
            changes.append(at.origin(joint.name, joint.origin))
        if joint.mimic is not None and joint.mimic.joint in owners:
            changes.append(at.mimic(joint.name, joint.mimic.offset))
    frames = [model.frame(name) for name in model.frames if name in owners and name not in before.frames]
    if base or any(frame.link == WORLD for frame in frames):
        changes.append((at.end, at.end, _mount(before, model)))
    changes += [(at.end, at.end, _hung(frame, own)) for frame in frames]
    out = document
    for begin, end, new in sorted(changes, key=lambda change: change[0], reverse=True):
        out = out[:begin] + new + out[end:]
    write_whole(path, out)


@final
class _Places:
    """Where the tags of joints are in a document."""

    def __init__(self, document: bytes) -> None:
        self._document = document
        self._open: list[tuple[str, str]] = []
        self._tags: dict[tuple[str, str], int] = {}
        """Of each joint where its own tag begins, under "joint", and those in it, by tag."""
        self.end = 0
        """Where the end of the robot begins."""
        parser = expat.ParserCreate()
        parser.StartElementHandler, parser.EndElementHandler = self._begin, self._close
        self._parser = parser
        parser.Parse(readable(document), True)

    def origin(self, joint: str, pose: SE3) -> tuple[int, int, bytes]:
        """What takes the place of the origin of a joint, and where."""
        if (joint, "origin") not in self._tags:
            _, end, _ = self._tag(joint, "joint")
            return end, end, _origin(pose).encode()
        begin, end, tag = self._tag(joint, "origin")
        tag = _QUATERNION.sub(b"", tag)  # for a rotation may be stated once
        return (
            begin,
            end,
            _with_attribute(_with_attribute(tag, "rpy", pose.rotation.rpy().tolist()), "xyz", pose.xyz.tolist()),
        )

    def mimic(self, joint: str, offset: float) -> tuple[int, int, bytes]:
        """The same of the offset with which it follows another."""
        begin, end, tag = self._tag(joint, "mimic")
        return begin, end, _with_attribute(tag, "offset", [offset])

    def _tag(self, joint: str, name: str) -> tuple[int, int, bytes]:
        begin = self._tags[joint, name]
        found = _TAG.match(self._document, begin)
        assert found is not None  # for expat has read it
        return begin, found.end(), found[0]

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        self._open.append((name, attributes.get("name", "")))
        if len(self._open) in (2, 3) and self._open[1][0] == "joint":
            self._tags.setdefault((self._open[1][1], name), self._parser.CurrentByteIndex)

    def _close(self, name: str) -> None:
        self._open.pop()
        if not self._open:
            self.end = self._parser.CurrentByteIndex


def _with_attribute(tag: bytes, attribute: str, numbers: Sequence[float]) -> bytes:
    """A tag with these numbers as an attribute."""
    text = f'{attribute}="{_written(numbers)}"'.encode()
    old = re.compile(rb"""(?<=\s)%s\s*=\s*("[^"]*"|'[^']*')""" % attribute.encode())
    if old.search(tag):
        return old.sub(text, tag, count=1)
    return re.sub(rb"\s*(/?>)$", rb" %s\1" % text, tag)


def _mount(before: Model, model: Model) -> bytes:
    """The joint from the world to the robot, where the file has none."""
    carried = {joint.child for joint in before.joints}
    roots = [link for link in before.links if link not in carried]
    text = ""
    for root in roots:
        name = unused(f"{root}_mount", {joint.name for joint in before.joints})
        stand = next((joint.origin for joint in model.joints if joint.child == root), SE3.identity())
        text += f'  <link name="{WORLD}"/>\n' + _fixed(name, WORLD, root, stand)
    return text.encode()


def _hung(frame: Frame, joints: Collection[str]) -> bytes:
    """A frame that the file does not have."""
    name = unused(f"{frame.name}_joint", joints)
    return f"  <link name={quoteattr(frame.name)}/>\n{_fixed(name, frame.link, frame.name, frame.origin)}".encode()


def _fixed(name: str, parent: str, child: str, pose: SE3) -> str:
    return (
        f'  <joint name={quoteattr(name)} type="fixed">\n    <parent link={quoteattr(parent)}/>\n'
        f"    <child link={quoteattr(child)}/>\n    {_origin(pose)}\n  </joint>\n"
    )


def _origin(pose: SE3) -> str:
    return f'<origin xyz="{_written(pose.xyz.tolist())}" rpy="{_written(pose.rotation.rpy().tolist())}"/>'


def _written(numbers: Sequence[float]) -> str:
    return " ".join(map(repr, numbers))

"""The first half of a BVH: a tree of joints, with offsets and channels."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, final

from poise.common.errors import ModelError
from poise.spatial import BOUND, LARGEST

NUMBER: Final = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity|nan)(\(\w*\))?", re.IGNORECASE)
_JOINTS: Final = 4096
"""The most joints and ends of bones in a skeleton."""
_CHANNELS: Final = {f"{axis}{what}": (axis, what) for axis in "xyz" for what in ("position", "rotation")}


@final
@dataclass(slots=True)
class Node:
    """A joint, or the end of a bone, as it is being read."""

    name: str
    parent: int
    line: int
    end: bool
    offset: tuple[float, ...] | None = None
    channels: list[tuple[str, str]] | None = None
    """Axis and "position" or "rotation" of each."""


@final
@dataclass(slots=True)
class Hierarchy:
    """What the first half of a file says."""

    joints: list[Node] = field(default_factory=list)
    ends: list[Node] = field(default_factory=list)

    @property
    def width(self) -> int:
        """How many numbers a frame has."""
        return sum(len(joint.channels or ()) for joint in self.joints)


@final
class _Tokens:
    """The words of the first half, with the line that each is in."""

    def __init__(self, data: bytes, file: str | None) -> None:
        self._file = file
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = data[: error.start].count(b"\n") + 1
            raise ModelError(f"cannot be decoded as text: {error}; save it as UTF-8", file=file, line=line) from None
        self._words = self._split(text)
        self.line = 1
        self.next = ""
        self.advance()

    @staticmethod
    def _split(text: str) -> Iterator[tuple[str, int]]:
        for number, line in enumerate(text.split("\n"), start=1):
            for word in re.findall(r"[{}]|[^\s{}]+", line):
                yield word, number

    def advance(self) -> str:
        """The next word, "" after the last."""
        word = self.next
        self.next, self.line = next(self._words, ("", self.line))
        return word

    def error(self, message: str, line: int | None = None) -> ModelError:
        return ModelError(message, file=self._file, line=self.line if line is None else line)

    def name(self, what: str) -> str:
        """All words before the brace that opens a joint."""
        words = list[str]()
        while self.next not in ("{", "}", "") and not (words and self.next.upper() in ("OFFSET", "CHANNELS")):
            words.append(self.advance())
        if self.next != "{":
            raise self.error(
                f"the {what} {' '.join(words)[:60]!r} needs a '{{' after its name, not {_shown(self.next)}"
            )
        self.advance()
        return " ".join(words)

    def numbers(self, what: str) -> tuple[float, ...]:
        """All numbers that follow."""
        out = []
        while self.next.isascii() and NUMBER.fullmatch(self.next.encode()):
            number = float(self.next.partition("(")[0])
            if not abs(number) <= LARGEST:
                raise self.error(f"the OFFSET of {what} holds {self.next[:60]}, which is no length; {BOUND}")
            out.append(number)
            self.advance()
        return tuple(out)


def read_tree(data: bytes, file: str | None) -> Hierarchy:
    """The tree of a text that ends before MOTION; raises ModelError, with file and line, for what is none."""
    words = _Tokens(data, file)
    if words.next.upper() != "HIERARCHY":
        raise words.error(f"a BVH begins with HIERARCHY, not with {_shown(words.next)}")
    words.advance()
    out, open_nodes = Hierarchy(), list[tuple[Node, int]]()
    while words.next:
        line, word = words.line, words.advance().upper()
        if word == "}":
            if not open_nodes:
                raise words.error("this '}' closes nothing; take it away, or open what it closes", line)
            node = open_nodes.pop()[0]
            if node.offset is None:
                raise words.error(f"{label(node)} has no OFFSET; write OFFSET and three numbers", line)
        elif word in ("ROOT", "JOINT") or (word == "END" and words.next.upper() == "SITE"):
            _open(words, word, line, out, open_nodes)
        elif word in ("OFFSET", "CHANNELS") and open_nodes:
            (_offset if word == "OFFSET" else _channels)(words, open_nodes[-1][0], line)
        else:
            raise words.error(
                f"{_shown(word)} is not known here; a joint holds OFFSET, CHANNELS, JOINT and End Site, and a "
                "file ROOT and MOTION",
                line,
            )
    if open_nodes:
        node = open_nodes[-1][0]
        raise words.error(f"{label(node)} is not closed by a '}}'; the file is cut off, or has one too few", node.line)
    if not out.joints:
        raise words.error("the file has no ROOT; a skeleton needs one")
    return out


def _open(words: _Tokens, word: str, line: int, out: Hierarchy, open_nodes: list[tuple[Node, int]]) -> None:
    carrier, number = open_nodes[-1] if open_nodes else (None, -1)
    if word == "ROOT" and carrier is not None:
        raise words.error(f"a ROOT cannot stand within {label(carrier)}; call it JOINT, or close that first", line)
    if word != "ROOT" and (carrier is None or carrier.end):
        raise words.error(f"{word} stands in no joint; call the first of a tree ROOT", line)
    if word == "END":
        words.advance()
    name = words.name("End Site" if word == "END" else word)
    if len(out.joints) + len(out.ends) == _JOINTS:
        raise words.error(f"the file has more than {_JOINTS} joints, which no skeleton has", line)
    if word == "END":
        node = Node(name, number, line, True)
        out.ends.append(node)
        open_nodes.append((node, -1))
        return
    if not name:
        raise words.error(f"a {word} has no name; write one after it", line)
    node = Node(name, number, line, False)
    out.joints.append(node)
    open_nodes.append((node, len(out.joints) - 1))


def _offset(words: _Tokens, node: Node, line: int) -> None:
    if node.offset is not None:
        raise words.error(f"{label(node)} has two lines OFFSET; keep one of them", line)
    numbers = words.numbers(label(node))
    if len(numbers) not in (3, 6):  # some write the angles of a rest pose behind, which the frames repeat
        raise words.error(f"the OFFSET of {label(node)} has {len(numbers)} numbers; it needs three", line)
    node.offset = numbers[:3]


def _channels(words: _Tokens, node: Node, line: int) -> None:
    if node.channels is not None:
        raise words.error(f"{label(node)} has two lines CHANNELS; keep one of them", line)
    if node.end:
        raise words.error("an End Site has no CHANNELS; call it JOINT, with a name, to move it", line)
    count, channels = words.advance(), list[str]()
    while words.next.lower() in _CHANNELS:
        channels.append(words.advance().lower())
    if not re.fullmatch(r"\d{1,3}", count, re.ASCII) or int(count) != len(channels):
        raise words.error(
            f"the CHANNELS of {label(node)} are said to be {_shown(count)} and {len(channels)} follow, then "
            f"{_shown(words.next)}; each is X, Y or Z and position or rotation",
            line,
        )
    twice = [name for name in channels if channels.count(name) > 1]
    if twice:
        raise words.error(f"the CHANNELS of {label(node)} name {twice[0].capitalize()} twice; keep one", line)
    node.channels = [_CHANNELS[name] for name in channels]


def label(node: Node) -> str:
    return f"the End Site in line {node.line}" if node.end else f"joint {node.name[:60]!r}"


def _shown(word: str) -> str:
    return repr(word[:60]) if word else "the end of the file"

"""XML read safely into plain elements that know their file and line.

Entities and references to other files are refused, so no document can grow in memory or read the disk.  So are files
of more than 64 MiB, tags and texts of more than 1 MiB, and more than 50,000 elements: many times what large robots
have.  Prefixes of names are kept as they are written and need no declaration.
"""

import math
import os
import re
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, final
from xml.parsers import expat

from defusedxml import DefusedXmlException
from defusedxml.expatbuilder import DefusedExpatBuilder

from poise.common.errors import ModelError
from poise.io.foreign import refuse_foreign
from poise.io.suffixes import ROBOT_SUFFIXES
from poise.spatial import BOUND, LARGEST

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity|nan)", re.ASCII | re.IGNORECASE)
_MIB = 2**20
_SPACES = "; put spaces between numbers, no commas"
_FILE, _TAG, _ELEMENTS = 64 * _MIB, _MIB, 50_000
"""The largest file and the longest tag or text [bytes], and the most elements."""
_MARK = b"\xef\xbb\xbf"
"""Of the order of bytes, which editors write before a text in UTF-8."""
_BEFORE = re.compile(rb"((?:[ \t\r\n]|%s)+)(<\?xml\b.*?\?>)?" % _MARK, re.DOTALL)
_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)
_ASCII = bytes(range(128)) + b"?" * 128


@final
@dataclass(slots=True, eq=False, repr=False)
class Element:
    """One element."""

    tag: str
    attributes: dict[str, str]
    file: str | None
    line: int
    owner: str
    """What it belongs to for messages, such as `joint 'elbow'`: its parent, or what owns that if it has no name.

    Empty for the root and the elements in it.
    """
    children: list["Element"] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    """The pieces of the text in it, around its children."""

    @property
    def label(self) -> str:
        """Its name for messages."""
        return f"{self.name} of {self.owner}" if self.owner else self.name

    @property
    def name(self) -> str:
        """`joint 'elbow'`, or `<origin>` if it has no name."""
        return f"{self.tag} {self.attributes['name']!r}" if "name" in self.attributes else f"<{self.tag}>"

    @property
    def content(self) -> str:
        """The text in it, without the blanks around it."""
        return "".join(self.texts).strip()

    @property
    def has_text(self) -> bool:
        """Whether there is text in it, which no description of a robot uses."""
        return any(not text.isspace() for text in self.texts)

    def error(self, message: str) -> ModelError:
        """A ModelError at this element's line."""
        return ModelError(message, file=self.file, line=self.line)

    def all(self, tag: str) -> list["Element"]:
        """The children with this tag."""
        return [child for child in self.children if child.tag == tag]

    def child(self, tag: str) -> "Element | None":
        """The child with this tag, if there is one; raises ModelError if there are two."""
        found = self.all(tag)
        if len(found) > 1:
            raise found[1].error(f"{self.label} has {len(found)} <{tag}>; keep one of them")
        return found[0] if found else None

    def required(self, tag: str) -> "Element":
        """The one child with this tag; raises ModelError if there is none or two."""
        found = self.child(tag)
        if found is None:
            raise self.error(f"{self.label} has no <{tag}>; it needs one")
        return found

    def text(self, attribute: str, *, optional: bool = False) -> str:
        """The attribute; raises ModelError if it is missing or empty, and says of an `optional` one to leave it out."""
        value = self.attributes.get(attribute)
        if value is None:
            raise self.error(f'{self.label} has no {attribute!r}; write {attribute}="..."')
        if not value.strip():
            leave = f", or leave {attribute!r} out" if optional else ""
            raise self.error(f'{self.label} has an empty {attribute!r}; write {attribute}="..."{leave}')
        return value

    def number(self, attribute: str, default: float | None = None, *, infinite: bool = False) -> float:
        """The attribute as one number; see `numbers`."""
        return self.numbers(attribute, 1, None if default is None else (default,), infinite=infinite)[0]

    def numbers(
        self,
        attribute: str,
        count: int | None = None,
        default: tuple[float, ...] | None = None,
        *,
        infinite: bool = False,
    ) -> tuple[float, ...]:
        """The attribute as `count` numbers (None: any), or `default` where it is left out; raises ModelError if they
        are none.

        Unless they may be `infinite`, one that no length or angle of a robot has is refused too.
        """
        if attribute not in self.attributes and default is not None:
            return default
        written = self.text(attribute, optional=default is not None)
        place = f'{self.label} has {attribute}="{written if len(written) < 60 else written[:60] + "..."}"'
        tokens = written.split()
        if count is not None and len(tokens) != count:
            spaces = _SPACES if "," in written else ""
            raise self.error(f"{place}: it needs {count} number{'s' if count > 1 else ''}, not {len(tokens)}{spaces}")
        values = []
        for token in tokens:
            if not _NUMBER.fullmatch(token):
                spaces = _SPACES if "," in token else ""
                raise self.error(f"{place}: {token[:60]!r} is not a number{spaces}")
            value = float(token)
            if math.isnan(value) or (math.isinf(value) and not infinite):
                raise self.error(f"{place}: {token[:60]!r} is not a finite number")
            if abs(value) > LARGEST and not infinite:
                raise self.error(f"{place}: {token[:60]!r} is too large; {BOUND}")
            values.append(value)
        return tuple(values)


class _Collector:
    """Hangs each element on the one that is open; no recursion, so depth is no danger."""

    def __init__(self, file: str | None, encoding: str | None, most: int = _ELEMENTS) -> None:
        """`encoding` is that of the document, whatever it says itself; None: as it says.  It has `most` elements."""
        self.file = file
        self.root: Element | None = None
        self.open: list[tuple[Element, str]] = []
        self.most = self.left = most
        parser, guard = expat.ParserCreate(encoding), DefusedExpatBuilder()
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_UNLESS_STANDALONE)  # so that these are refused too
        parser.EntityDeclHandler = guard.defused_entity_decl
        parser.UnparsedEntityDeclHandler = guard.defused_unparsed_entity_decl
        parser.ExternalEntityRefHandler = guard.defused_external_entity_ref_handler
        parser.StartElementHandler, parser.EndElementHandler = self.begin, self.end
        parser.CharacterDataHandler = self.write
        parser.buffer_text = True
        self.parser = parser

    @property
    def line(self) -> int:
        """Where the parser is."""
        return max(1, self.parser.CurrentLineNumber)

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        """An element is opened."""
        self.left -= 1
        if self.left < 0:
            raise ModelError(
                f"has more than {self.most:,} elements, which no robot has; split it, or build it with ModelBuilder",
                file=self.file,
                line=self.line,
            )
        parent, owner = self.open[-1] if self.open else (None, "")
        element = Element(name, attributes, self.file, self.line, owner)
        if parent is None:
            self.root = element
        else:
            parent.children.append(element)
        named = "name" in attributes or not owner
        self.open.append((element, "" if parent is None else element.name if named else owner))

    def write(self, text: str) -> None:
        """There is text in the element that was opened last."""
        self.open[-1][0].texts.append(text)

    def end(self, name: str) -> None:
        """The element that was opened last is closed."""
        self.open.pop()


def read_stream(stream: BinaryIO, most: int) -> bytes:
    """What an open file holds, of more than `most` bytes one more than these, in no more memory than it needs."""
    size = os.fstat(stream.fileno()).st_size
    return stream.read(min(size, most) + 1 if size else most + 1)  # what is no plain file may have a size of 0


def read_bytes(path: Path, *, most: int = _FILE) -> bytes:
    """The file's content, of at most `most` bytes.

    Raises ModelError if there is no such file, it cannot be read, is empty, too large, or of a kind that is no robot's.
    """
    try:
        with path.open("rb") as stream:
            data = read_stream(stream, most)
    except FileNotFoundError:
        where = "" if path.is_absolute() else f" in {Path.cwd()}"
        raise ModelError(f"no such file{where}", file=str(path)) from None
    except OSError as error:
        reason = f"it is a directory; give a file in it{_example(path)}" if os.path.isdir(path) else error.strerror
        raise ModelError(f"cannot be read: {reason}", file=str(path)) from None
    except ValueError as error:  # a name that no file can have
        raise ModelError(f"cannot be read: {error}", file=str(path)) from None
    if not data.strip():
        raise ModelError("the file is empty", file=str(path))
    refuse_foreign(data, str(path))
    if len(data) > most:
        raise ModelError(
            f"the file has more than {most // _MIB} MiB, which no robot needs; keep meshes in files of their own",
            file=str(path),
        )
    return data


def _example(folder: Path) -> str:
    """One of the robots' files below a folder, for a message."""
    near = (path for pattern in ("*", "*/*") for path in sorted(folder.glob(pattern)))
    found = next((path for path in near if path.suffix.lower() in ROBOT_SUFFIXES), None)
    return "" if found is None else f", such as {found}"


def parse(document: str | bytes, file: str | None = None) -> Element:
    """The root element of an XML document; raises ModelError, with the line, for anything that is not safe XML."""
    data = document.encode(errors="surrogatepass") if isinstance(document, str) else document
    _refuse_long_tags(data, file)
    return _read(document, _Collector(file, "utf-8" if isinstance(document, str) else None))


def read_xml(path: Path, *, most: int) -> Element:
    """The root element of an XML file of at most `most` elements; raises as `read_bytes` and `parse` do.

    One that says UTF-8 and is none is read as Latin 1.
    """
    data = read_bytes(path)
    _refuse_long_tags(data, str(path))
    says = b"utf-8" in data[:128].lower()
    return _read(data, _Collector(str(path), "iso-8859-1" if says and not _is_utf8(data) else None, most))


def root_tag(document: bytes, file: str) -> str:
    """The tag of the root of an XML document, which is read no further; raises as `parse` does."""
    return _read(document, _Opening(file, None)).tag


@final
class _Opening(_Collector):
    """Stops at the root."""

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        super().begin(name, attributes)
        raise StopIteration


def readable(document: bytes) -> bytes:
    """The document as the parser takes it, as long as it was and with the same lines.

    A declaration goes before the blanks and marks that stand before it, and of what is not written in UTF-8, as it
    should be, letters that are not ASCII's become question marks in comments, where nobody reads them.
    """
    before = _BEFORE.match(document)
    if before is not None and before[1] != _MARK:
        blanks = before[1].replace(_MARK, b" " * len(_MARK))
        document = (before[2] or b"") + blanks + document[before.end() :]
    if not _is_utf8(document):
        document = _COMMENT.sub(lambda comment: comment[0].translate(_ASCII), document)
    return document


def _is_utf8(document: bytes) -> bool:
    try:
        document.decode()
    except UnicodeDecodeError:
        return False
    return True


def _refuse_long_tags(data: bytes, file: str | None) -> None:
    """Raises ModelError for what takes the parser time that grows with the square of its length."""
    pieces = data.split(b"<")
    if len(max(pieces, key=len)) > _TAG:
        at = next(i for i, piece in enumerate(pieces) if len(piece) > _TAG)
        raise ModelError(
            f"a tag or a text has more than {_TAG // _MIB} MiB, which no robot needs; keep data in files of their own",
            file=file,
            line=1 + sum(piece.count(b"\n") for piece in pieces[:at]),
        )


def _read(document: str | bytes, collector: _Collector) -> Element:
    """The root that `collector` hung all on; raises ModelError, with the line, for anything that is not safe XML."""
    file = collector.file
    try:
        data = readable(document.encode() if isinstance(document, str) else document)
        with suppress(StopIteration):
            collector.parser.Parse(data, True)
    except ModelError:
        raise
    except expat.ExpatError as error:
        raise ModelError(f"not XML: {_not_xml(error, data)}", file=file, line=error.lineno) from None
    except DefusedXmlException:
        raise ModelError(
            "declares an entity or refers to another file, which is refused; write the content out",
            file=file,
            line=collector.line,
        ) from None
    except (ValueError, LookupError) as error:
        raise ModelError(f"cannot be decoded as text: {error}; save it as UTF-8", file=file) from None
    assert collector.root is not None
    return collector.root


_MENDS = {
    expat.errors.XML_ERROR_MISPLACED_XML_PI: (
        "move <?xml ...?> to the first line, before comments and all else, and keep one of them"
    ),
    expat.errors.XML_ERROR_JUNK_AFTER_DOC_ELEMENT: "a file is one robot: remove what follows the end of the first",
    expat.errors.XML_ERROR_UNDEFINED_ENTITY: "write the letter itself",
}
"""By what the parser says."""


def _not_xml(error: expat.ExpatError, document: bytes) -> str:
    """What the parser says, and what to do where that is known."""
    said = expat.ErrorString(error.code)
    if said in _MENDS:
        return f"{said}; {_MENDS[said]}"
    if said == expat.errors.XML_ERROR_INVALID_TOKEN and not _is_utf8(document):
        return (
            f'{said}; save it as UTF-8, or state what it is written in, as in <?xml version="1.0" encoding="latin1"?>'
        )
    return said

"""What a glTF file is made of: objects of JSON that know their place in it, and numbers in binary buffers.

Khronos Group, glTF 2.0 Specification: 3.6 (buffers, accessors, sparse accessors), 3.11 (normalised integers) and
4.4 (the container GLB).
"""

import base64
import binascii
import json
import re
import reprlib
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, final
from urllib.parse import unquote, unquote_to_bytes

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.common.errors import ModelError
from poise.io.elements import read_bytes, read_stream

GLB: Final = b"glTF"
"""How a GLB begins."""
JSON_CHUNK: Final = 0x4E4F534A
BINARY_CHUNK: Final = 0x004E4942
FLOAT: Final = 5126
"""Component type of 32-bit floats."""
_COMPONENTS: Final[dict[int, np.dtype[Any]]] = {
    5120: np.dtype("<i1"),
    5121: np.dtype("<u1"),
    5122: np.dtype("<i2"),
    5123: np.dtype("<u2"),
    5125: np.dtype("<u4"),
    FLOAT: np.dtype("<f4"),
}
_WIDTHS: Final = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}
_INDICES: Final = (5121, 5123, 5125)
_MIB: Final = 2**20
_BUFFER: Final = 512 * _MIB
_NUMBERS: Final = 2**26
"""More numbers in one accessor than any skeleton has."""
_ZEROS: Final = 2**20
"""More zeros than an accessor without a buffer view has; its few bytes of JSON could ask for any number of them."""
_DATA: Final = re.compile(r"data:[^,]{0,200}?(;base64)?,", re.IGNORECASE)
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_COMPRESSED: Final = ("EXT_meshopt_compression", "KHR_meshopt_compression")


@final
@dataclass(frozen=True, slots=True)
class Item:
    """An object of the JSON; every method raises ModelError, with the place, for what is not as the format has it."""

    fields: dict[str, Any]
    place: str
    file: str

    def error(self, message: str, key: str = "") -> ModelError:
        """A ModelError that opens with the file and the path in the JSON."""
        place = f"{self.place}.{key}".strip(".") if key else self.place
        return ModelError(f"{place}: {message}" if place else message, file=self.file)

    def wrong(self, key: str, wanted: str) -> ModelError:
        """The error of a value that is no `wanted`."""
        return self.error(f"{reprlib.repr(self.fields.get(key))} is not {wanted}", key)

    def has(self, key: str) -> bool:
        return key in self.fields

    def whole(self, key: str, default: int | None = None) -> int:
        """A whole number that is not negative; one without a default must be there."""
        value = self.fields.get(key, default)
        if value is None:
            raise self.error("is missing", key)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not _is_whole(value) or not 0 <= value < 2**53:
            raise self.wrong(key, "a whole number from 0 on")
        return value

    def index(self, key: str, owner: str, count: int) -> int:
        """An index into a list of the document."""
        value = self.whole(key)
        if value >= count:
            raise self.error(f"{value} is out of range: the file has {count} {owner}", key)
        return value

    def indices(self, key: str, owner: str, count: int) -> list[int]:
        """Indices into a list of the document, each once; none if they are not there."""
        values = self.fields.get(key, [])
        if not isinstance(values, list) or not all(_is_whole(value) for value in values):
            raise self.wrong(key, "a list of whole numbers")
        for number, value in enumerate(values):
            if not 0 <= value < count:
                raise self.error(f"{value} is out of range: the file has {count} {owner}", f"{key}[{number}]")
        if len(set(values)) < len(values):
            raise self.error("names an index twice", key)
        return values

    def text(self, key: str, default: str = "") -> str:
        value = self.fields.get(key, default)
        if not isinstance(value, str):
            raise self.wrong(key, "a text")
        return value

    def flag(self, key: str) -> bool:
        value = self.fields.get(key, False)
        if not isinstance(value, bool):
            raise self.wrong(key, "true or false")
        return value

    def numbers(self, key: str, default: tuple[float, ...]) -> Array:
        """As many finite numbers as the default has."""
        values = self.fields.get(key, default)
        right = isinstance(values, (list, tuple)) and len(values) == len(default)
        if not right or not all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in values):
            raise self.wrong(key, f"a list of {len(default)} numbers")
        try:
            array = np.array(values, dtype=np.float64)
        except OverflowError:
            array = np.full(len(default), np.inf)
        if not np.isfinite(array).all():
            raise self.wrong(key, "a list of finite numbers")
        return array

    def child(self, key: str) -> "Item":
        """The object of a key; an empty one if it is not there."""
        value = self.fields.get(key, {})
        if not isinstance(value, dict):
            raise self.wrong(key, "an object")
        return Item(value, f"{self.place}.{key}".strip("."), self.file)

    def children(self, key: str) -> "list[Item]":
        """The objects of a list; none if it is not there."""
        values = self.fields.get(key, [])
        if not isinstance(values, list):
            raise self.wrong(key, "a list")
        place = f"{self.place}.{key}".strip(".")
        for number, value in enumerate(values):
            if not isinstance(value, dict):
                raise self.error("is not an object", f"{key}[{number}]")
        return [Item(value, f"{place}[{number}]", self.file) for number, value in enumerate(values)]


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


@final
@dataclass(slots=True)
class Document:
    """A glTF file: its JSON, and what its accessors hold."""

    root: Item
    path: Path
    binary: bytes | None
    """The second chunk of a GLB."""
    accessors: list[Item] = field(init=False)
    views: list[Item] = field(init=False)
    buffers: list[Item] = field(init=False)
    _read: dict[int, bytes] = field(default_factory=dict)
    _numbers: dict[int, Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        version = self.root.child("asset").text("version")
        if not re.fullmatch(r"2\.\d+", version):
            raise self.root.error(
                f"{version!r} is not a version of glTF that is read here; export it as 2.0", "asset.version"
            )
        self.accessors = self.root.children("accessors")
        self.views = self.root.children("bufferViews")
        self.buffers = self.root.children("buffers")

    def numbers(self, owner: Item, key: str, kind: str) -> Array:
        """The (count, width) numbers of the accessor that `owner` names, of `kind` such as "VEC3"; normalised integers
        are fractions of their largest value.

        Raises ModelError for an accessor of another kind or with numbers that are not finite.
        """
        number = owner.index(key, "accessors", len(self.accessors))
        accessor = self.accessors[number]
        if accessor.text("type") != kind:
            raise accessor.wrong("type", f"{kind!r}, which {owner.place}.{key} needs")
        if number in self._numbers:
            return self._numbers[number]
        component = accessor.whole("componentType")
        if component not in _COMPONENTS:
            raise accessor.wrong("componentType", f"one of {', '.join(map(str, _COMPONENTS))}")
        dtype, count, width = _COMPONENTS[component], accessor.whole("count"), _WIDTHS[kind]
        most = (_NUMBERS if accessor.has("bufferView") else _ZEROS) // width
        if count > most:
            raise accessor.wrong("count", f"a count that a skeleton can need, which is at most {most}")
        if accessor.has("bufferView"):
            values = self._values(accessor, dtype, count, width).astype(np.float64)
        else:
            values = np.zeros((count, width))
        if accessor.has("sparse"):
            self._replace(accessor.child("sparse"), values, dtype)
        if accessor.flag("normalized") and dtype.kind != "f":
            values = np.maximum(values / np.iinfo(dtype).max, -1.0)
        if not np.isfinite(values).all():
            first = int(np.argmax(~np.isfinite(values).all(axis=1)))
            raise accessor.error(f"element {first} is not finite; export the file again")
        self._numbers[number] = values
        return values

    def _replace(self, sparse: Item, values: Array, dtype: np.dtype[Any]) -> None:
        """Put the elements of a sparse accessor in their places."""
        count, places = sparse.whole("count"), sparse.child("indices")
        if count > len(values):
            raise sparse.error(f"{count} elements are replaced, of {len(values)}", "count")
        component = places.whole("componentType")
        if component not in _INDICES:
            raise places.wrong("componentType", f"one of {', '.join(map(str, _INDICES))}")
        where = self._values(places, _COMPONENTS[component], count, 1)[:, 0].astype(np.int64)
        if (np.diff(where) <= 0).any() or (where >= len(values)).any():
            raise places.error(f"the indices do not ascend strictly from 0 to at most {len(values) - 1}")
        values[where] = self._values(sparse.child("values"), dtype, count, values.shape[1])

    def _values(self, item: Item, dtype: np.dtype[Any], count: int, width: int) -> npt.NDArray[Any]:
        """The (count, width) numbers that begin at an item's `byteOffset` in its `bufferView`, strides heeded."""
        view = self.views[item.index("bufferView", "buffer views", len(self.views))]
        data = self._view(view)
        size = width * dtype.itemsize
        start, stride = item.whole("byteOffset", 0), view.whole("byteStride", size)
        if stride < size:
            raise view.wrong("byteStride", f"a stride of at least the {size} bytes of an element of {item.place}")
        need = start + stride * (count - 1) + size if count else start
        if need > len(data):
            raise item.error(f"ends at byte {need} of {view.place}, which has {len(data)}")
        if not count:
            return np.zeros((0, width), dtype)
        return np.ndarray((count, width), dtype, data, start, (stride, dtype.itemsize))

    def _view(self, view: Item) -> memoryview:
        for name in _COMPRESSED:
            if view.child("extensions").has(name):
                raise view.error(
                    f"is compressed by {name}, which is not read here; export the file without compression"
                )
        number = view.index("buffer", "buffers", len(self.buffers))
        if number not in self._read:
            self._read[number] = self._buffer(number)
        data = self._read[number]
        start, length = view.whole("byteOffset", 0), view.whole("byteLength")
        if start + length > len(data):
            raise view.error(f"ends at byte {start + length} of buffers[{number}], which has {len(data)}")
        return memoryview(data)[start : start + length]

    def _buffer(self, number: int) -> bytes:
        """The bytes of a buffer: the binary chunk, a data URI, or a file beside this one."""
        buffer = self.buffers[number]
        length = buffer.whole("byteLength")
        if not buffer.has("uri"):
            if number or self.binary is None:
                raise buffer.error(
                    "is missing, and only the first buffer of a .glb with a binary chunk has none", "uri"
                )
            data = self.binary
        else:
            uri = buffer.text("uri")
            data = _decoded(buffer, uri) if uri[:5].lower() == "data:" else self._beside(buffer, uri)
        if len(data) < length:
            raise buffer.error(f"has {len(data)} bytes, {length} are announced; the file was cut off", "byteLength")
        return data[:length]

    def _beside(self, buffer: Item, uri: str) -> bytes:
        name = unquote(uri)
        folder = self.path.parent
        try:
            path = (folder / name).resolve()
            inside = not _SCHEME.match(uri) and "\\" not in name and path.is_relative_to(folder.resolve())
            if not inside:
                raise buffer.error(f"{uri!r} is not within the folder of the file; put it there", "uri")
            if not path.is_file():
                raise buffer.error(
                    f"no such file {str(path)!r}; copy it there, or export as .glb, which is one file", "uri"
                )
            with path.open("rb") as stream:
                data = read_stream(stream, _BUFFER)
        except (OSError, RuntimeError) as error:  # RuntimeError: links that lead in a circle
            raise buffer.error(f"{uri!r} cannot be read: {error}", "uri") from None
        except ModelError:
            raise
        except ValueError as error:  # a name that no file can have
            raise buffer.error(f"{uri!r} is no file's name: {error}", "uri") from None
        if len(data) > _BUFFER:
            raise buffer.error(f"the file has more than {_BUFFER // _MIB} MiB, which no skeleton needs", "uri")
        return data


def _decoded(buffer: Item, uri: str) -> bytes:
    """What a data URI holds (RFC 2397)."""
    head = _DATA.match(uri)
    if head is None:
        raise buffer.error("is not a data URI: a 'data:' without a comma", "uri")
    content = uri[head.end() :]
    if not head[1]:
        return unquote_to_bytes(content)
    try:
        return base64.b64decode(unquote(content) if "%" in content else content, validate=True)
    except (binascii.Error, ValueError) as error:
        raise buffer.error(f"is not base64: {error}", "uri") from None


def read_document(path: Path) -> Document:
    """The document of a `.gltf` or `.glb`, told apart by how they begin.

    Raises ModelError for a file that is neither, that is cut off, or whose JSON cannot be read.
    """
    data, file = read_bytes(path, most=_BUFFER), str(path)
    if not data.startswith(GLB):
        return Document(_parsed(data, file), path, None)
    chunks = dict(_chunks(data, file))
    if JSON_CHUNK not in chunks:
        raise ModelError("this .glb has no JSON chunk; export it again", file=file)
    return Document(_parsed(chunks[JSON_CHUNK], file), path, chunks.get(BINARY_CHUNK))


def _chunks(data: bytes, file: str) -> Iterator[tuple[int, bytes]]:
    """The first chunk of each kind in a GLB, backwards, so that a dict of them keeps the first."""
    if len(data) < 12:
        raise ModelError("the header of this .glb is cut off", file=file)
    version, length = struct.unpack_from("<II", data, 4)
    if version != 2:
        raise ModelError(f"this .glb has version {version}, and only 2 is read here; export it as glTF 2.0", file=file)
    if length > len(data):
        raise ModelError(f"this .glb is cut off: {len(data)} bytes of {length}; copy it again", file=file)
    found, at = [], 12
    while at + 8 <= length:
        size, kind = struct.unpack_from("<II", data, at)
        if at + 8 + size > length:
            raise ModelError(f"the chunk at byte {at} of this .glb ends beyond its {length} bytes", file=file)
        found.append((kind, data[at + 8 : at + 8 + size]))
        at += 8 + size
    return reversed(found)


def _parsed(data: bytes, file: str) -> Item:
    def refused(word: str) -> None:
        raise ValueError(f"{word} is not a number of JSON")

    try:
        root = json.loads(data.decode("utf-8-sig"), parse_constant=refused)
    except json.JSONDecodeError as error:
        raise ModelError(f"not JSON: {error.msg}", file=file, line=error.lineno) from None
    except UnicodeDecodeError as error:
        raise ModelError(f"neither a .glb nor JSON in UTF-8: {error.reason} at byte {error.start}", file=file) from None
    except (ValueError, RecursionError) as error:
        raise ModelError(f"not JSON that can be read: {error}", file=file) from None
    if not isinstance(root, dict):
        raise ModelError("the JSON of a glTF is an object", file=file)
    return Item(root, "", file)

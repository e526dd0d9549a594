"""Problems and workspaces in Python: their sections are packed into words, and found there again.

`layout` and `work` in this folder say what sections there are.  NumPy is imported where it is used.
"""

from collections.abc import Mapping
from typing import Any, Final

from poise.kernels.machine.layout import PROBLEM, WHOLE, WIDTH
from poise.kernels.machine.record import Record
from poise.kernels.machine.work import SECTIONS

HEADER_WORDS: Final = 2 * (len(PROBLEM) + len(SECTIONS))
_ORDER: Final = {name: i for i, name in enumerate((*PROBLEM, *SECTIONS))}


def header_word(section: str) -> int:
    """The word of the header that says where a section of a problem or of a workspace starts."""
    return 2 * _ORDER[section]


def joined(record: Record, whole: Any, real: Any) -> Any:
    """(n, words) records from their whole numbers (n, .) and their real ones (n, .), in the order of the fields."""
    import numpy as np

    words = np.zeros((max(len(whole), len(real)), record.words), dtype=np.int64)
    if len(words):
        words[:, : record.whole] = whole
        words[:, record.whole :].view(np.float64)[:] = real
    return words


def pack(parts: Mapping[str, Any], rows: Mapping[str, int]) -> Any:
    """The words of a problem: `parts` are its sections, `rows` the numbers of rows of a workspace's; others are empty.

    A part is an array of words, such as `joined` gives or `unpack` views, or whatever makes plain numbers.  What has
    room for a pack of numbers begins where one does, so that none is read across two lines of the cache.
    """
    import numpy as np

    header, pieces = list[int](), list[Any]()
    at, row = HEADER_WORDS, 0
    for name, kind in PROBLEM.items():
        if name not in parts:
            header += at, 0
            continue
        part, each = parts[name], 1
        if isinstance(kind, Record):
            words, each = np.asarray(part, dtype=np.int64), kind.words
        else:
            words = np.asarray(part, dtype=np.int64 if kind == WHOLE else np.float64).view(np.int64)
        pieces.append(words.ravel())
        header += at, words.size // each
        at += words.size
    for name in SECTIONS:
        count = rows.get(name, 0)
        if count >= WIDTH and name != "posture_goal":  # which lies behind goal
            row += -row % WIDTH
        header += row, count
        row += count
    return np.concatenate([np.array(header, dtype=np.int64), *pieces])


def in_group(group: str, /, **rows: int) -> dict[str, int]:
    """How many rows sections of a group have, by the names that Python has for them."""
    return {f"{group}.{name}": count for name, count in rows.items()}


def start_of(words: Any, section: str) -> int:
    """The word at which a section of a problem begins."""
    return int(words[header_word(section)])


def words_of(words: Any, section: str) -> Any:
    """The words of a section of a problem, as `pack` takes them."""
    kind = PROBLEM[section]
    at = header_word(section)
    start, count = words[at : at + 2].tolist()
    return words[start : start + count * (kind.words if isinstance(kind, Record) else 1)]


def unpack(words: Any, section: str) -> Any:
    """A section of a problem as a structured array or plain numbers, which share its memory."""
    import numpy as np

    kind = PROBLEM[section]
    found = words_of(words, section)
    return found.view(kind.dtype if isinstance(kind, Record) else np.int64 if kind == WHOLE else np.float64)


def rows_of(words: Any, section: str) -> slice:
    """Where in a workspace the rows of a section are."""
    at = header_word(section)
    start, count = words[at : at + 2].tolist()
    return slice(start, start + count)


def total_rows(words: Any) -> int:
    """Rows of a workspace for a problem."""
    return int(words[HEADER_WORDS - 2] + words[HEADER_WORDS - 1])


def end_of(header: Any) -> int:
    """The number of words of a problem, from its header."""
    last = tuple(PROBLEM)[-1]
    (start, count), kind = header[header_word(last) :][:2], PROBLEM[last]
    return int(start + count * (kind.words if isinstance(kind, Record) else 1))

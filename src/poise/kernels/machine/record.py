"""A record: numbers with names that lie together, each a whole number or a real one of eight bytes."""

from dataclasses import dataclass
from functools import cache
from typing import Any, final


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Field:
    """A number of a record, or several: its word within the record, whether it is whole, and how many there are."""

    word: int
    whole: bool
    count: int | None
    """None for one number, which is read as such."""


@final
class Record:
    """Numbers with names that lie together."""

    def __init__(self, name: str, whole: str = "", real: str = "") -> None:
        """`whole` and `real` name the fields in their order; `place[3]` are three numbers under one name."""
        self.name, self.words = name, 0
        self.fields: dict[str, Field] = {}
        for names, is_whole in ((whole, True), (real, False)):
            for text in names.split():
                key, _, count = text.rstrip("]").partition("[")
                self.fields[key] = Field(self.words, is_whole, int(count) if count else None)
                self.words += self.fields[key].count or 1
        self.whole = sum(f.count or 1 for f in self.fields.values() if f.whole)

        fields = " ".join(
            f"{k}{'' if f.count is None else f.count}{'w' if f.whole else 'r'}" for k, f in self.fields.items()
        )
        self.key = f"{name}: {fields}"
        """What tells it from other records: the name and the fields."""

    @property
    def dtype(self) -> Any:
        """The same as NumPy knows it."""
        return _dtype(self)

    def __repr__(self) -> str:
        return f"Record({self.name})"


@cache
def _dtype(record: Record) -> Any:
    import numpy as np

    types = {True: np.int64, False: np.float64}
    return np.dtype([(k, types[f.whole], *([(f.count,)] if f.count else [])) for k, f in record.fields.items()])

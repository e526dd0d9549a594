"""Calls of entry points, written down for a program that has a library and no Python; see `carried.c`.

What a call reads is a handful of arrays with addresses in them, of each other and of routines.  They are written down
as they are before it, with names of routines in place of their addresses.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np

from poise.common.array import Array
from poise.kernels.machine import jit
from poise.kernels.machine.layout import ANSWER, CALL
from poise.kernels.machine.library import library
from poise.solving.problem.start_index import _INDICES
from poise.solving.problem.workspace import ADDRESSES, ENTRY_POINTS, Bound, Scratch

BLOCK, POINTER, ROUTINE, RUN, WRITE, FORGET = range(6)
"""What a tape tells the program."""
NUMBERS, RECORD, TABLE = range(3)
"""What is in an array: no addresses, those of arrays, those of routines."""
ENTRIES: Final = (*ENTRY_POINTS.values(), "solver.batch_lanes.solve_many")


class Tape:
    """The calls that this process makes from now on, and what they answer: a code, then numbers.

    They are made in Python, for the fast path takes no entry point but the library's own.
    """

    def __init__(self) -> None:
        self.words: list[bytes] = []
        self.answers: list[Array] = []
        self._made: dict[int, tuple[Bound, Scratch]] = {}
        found = library()
        if found is None:
            raise SystemExit("this machine's own library is neither beside that one nor where poise looks for it")
        ahead = {name: found.get(name) for name in found._kinds}
        self._names = {each.address: name for name, each in ahead.items() if each is not None}
        for entry in ENTRIES:
            jit._READY[entry] = self._noting(jit.symbol(entry, ()), jit.prepare(entry))
        make, made = Bound.new, self._made

        def new(bound: Bound, *given: Any) -> Scratch:
            scratch = make(bound, *given)
            made[scratch.address] = bound, scratch
            return scratch

        Bound.new = new  # type: ignore[method-assign]

    def _noting(self, symbol: str, run: Callable[[int], int]) -> Callable[[int], int]:
        """An entry point that notes what it is called with and what it answers."""

        def call(address: int) -> int:
            bound, scratch = self._made[address]
            blocks = [(what, x.reshape(-1)) for what, x in _memory(bound, scratch) if x.size]
            self._note_memory(blocks)
            code = run(address)
            answered = scratch.lent.get("found", scratch.lent.get("answers"))
            if answered is None:
                answered = scratch.out[ANSWER : ANSWER + len(scratch.start)]
            self._tell(RUN, *_words(symbol), *_place(blocks, address))
            self._tell(WRITE, *_place(blocks, answered.ctypes.data), answered.size)
            self._tell(FORGET)
            self.answers.append(np.array([code, *answered.flat]))
            return code

        return call

    def _note_memory(self, blocks: list[tuple[int, Array]]) -> None:
        """All that a call finds."""
        for _, x in blocks:
            self._tell(BLOCK, x.size, *x.view(np.int64))
        for k, (what, x) in enumerate(blocks):
            if what == RECORD:
                for word in (CALL.fields[name].word for name in ADDRESSES):
                    if x[word]:
                        self._tell(POINTER, k, word, *_place(blocks, int(x[word])))
            if what == TABLE:
                for word in np.flatnonzero(x):
                    self._tell(ROUTINE, k, word, *_words(self._names[int(x[word])]))

    def _tell(self, *words: int) -> None:
        self.words.append(np.array(words, dtype=np.int64).tobytes())


def _memory(bound: Bound, scratch: Scratch) -> Iterator[tuple[int, Any]]:
    """All arrays that a call with this scratch reads and writes, and what is in them."""
    yield RECORD, scratch.call
    yield NUMBERS, bound.problem.words
    yield NUMBERS, scratch.narrow
    yield TABLE, bound.routines
    if scratch.wide is not None:
        yield NUMBERS, scratch.wide
        yield TABLE, bound.wide_routines
    if scratch.scene is not None:
        yield NUMBERS, scratch.scene.words
        yield NUMBERS, scratch.scene.narrow
    if scratch.scout is not None:
        yield NUMBERS, scratch.scout
    if scratch.following is not None and scratch.following_work is not None:
        yield NUMBERS, scratch.following.words
        yield NUMBERS, scratch.following_work
        yield NUMBERS, scratch._past
    for array in scratch.lent.values():
        if not np.shares_memory(array, scratch.narrow):
            yield NUMBERS, array
    for index in (index for kept in _INDICES.values() for index in kept.values() if index is not None):
        if index.ctypes.data == scratch.call[CALL.fields["index"].word]:
            yield NUMBERS, index
    if scratch.proposer is not None and bound.proposer is not None:
        yield from _memory(bound.proposer, scratch.proposer)
    if scratch.near is not None:
        yield NUMBERS, scratch.near
    for name, inner in scratch.bounds.items():
        yield from _memory(inner, scratch.inner[name])


def _place(blocks: list[tuple[int, Array]], address: int) -> tuple[int, int]:
    """Of which array, and where in it."""
    for k, (_, x) in enumerate(blocks):
        if 0 <= address - x.ctypes.data < x.nbytes:
            return k, (address - x.ctypes.data) // x.itemsize
    raise ValueError(f"a call reads at {address}, which is not known")


def _words(name: str) -> list[int]:
    """A name as the program reads it: how many words, and these, with a zero at their end."""
    text = name.encode() + bytes(8 - len(name) % 8)
    return [len(text) // 8, *np.frombuffer(text, dtype=np.int64)]

"""A kernel as LLVM IR that is optimised for no machine yet, behind a function with C's calling convention."""

from dataclasses import dataclass
from typing import Any, Final

from numba import types

from poise.kernels.compiling.jit import dispatcher, typed
from poise.kernels.compiling.numba_internals import linked, quickly
from poise.kernels.compiling.types import TYPES
from poise.kernels.machine.jit import kernel, name, plain, symbol
from poise.kernels.machine.kinds import NARROW, PROBLEM_VIEW, REAL, WHOLE, WIDE

_NUMBERS: Final = {WHOLE: "i64", REAL: "double", PROBLEM_VIEW: "ptr"}
_RESULTS: Final = {**{TYPES[kind]: _NUMBERS[kind] for kind in (WHOLE, REAL)}, types.none: None}
_LETTERS: Final = {"i64": "q", "double": "d", "ptr": "p"}


@dataclass(frozen=True)
class Lowered:
    """IR with one function for others, called `symbol`.

    `kinds` says its result and its arguments: q a whole number, d a real one, p a pointer, v nothing; q or d with a
    number is an array of so many axes, given by its address and its extents.
    """

    symbol: str
    text: str
    kinds: str


def lower(function: Any, signature: tuple[str, ...]) -> Lowered:
    """An entry point, or a routine, for these kinds of arguments; raises ValueError for a result that is no number."""
    with quickly():
        text, inner, result = linked(dispatcher(kernel(plain(function))), typed(signature))
    called = symbol(function, signature)
    if result not in _RESULTS:
        raise ValueError(
            f"{name(function)} returns {result}, which is lost where a library is called: let it return a whole or a "
            "real number, or nothing"
        )
    face, kinds = _face(called, inner, signature, _RESULTS[result])
    return Lowered(called, f"{text}\n{face}", kinds)


def _face(symbol: str, name: str, signature: tuple[str, ...], result: str | None) -> tuple[str, str]:
    """A function that calls Numba's of this name, in the way of Numba's, and returns what that stores; and its kinds.

    A workspace comes as the three pointers that it is made of, which is how a kernel that calls a routine by its
    address passes it.
    """
    taken: list[str] = []
    passed: list[str] = []
    lines: list[str] = []
    kinds: list[str] = []
    for i, kind in enumerate(signature):
        if kind[0] in _NUMBERS and kind[1:]:
            extents = [f"%n{i}.{axis}" for axis in range(int(kind[1:]))]
            taken += [f"ptr %x{i}", *(f"i64 {extent}" for extent in extents)]
            strides = ["8"]
            for axis, extent in reversed(list(enumerate(extents))):
                lines.append(f"%s{i}.{axis} = mul i64 {strides[0]}, {extent}")
                strides.insert(0, f"%s{i}.{axis}")
            lines.append(f"%c{i} = udiv exact i64 {strides.pop(0)}, 8")
            passed += ["ptr null", "ptr null", f"i64 %c{i}", "i64 8", f"ptr %x{i}"]
            passed += [f"i64 {number}" for number in (*extents, *strides)]
            kinds.append(kind)
            continue
        each = [f"ptr %x{i}.{k}" for k in range(3)] if kind in (WIDE, NARROW) else [f"{_NUMBERS[kind]} %x{i}"]
        taken += each
        passed += each
        kinds += [_LETTERS[one.split()[0]] for one in each]
    returns = result or "void"
    lines = [
        f"%result = alloca {result or 'ptr'}, align 8",
        "%raised = alloca ptr, align 8",
        *lines,
        f"%code = call i32 @{name}(ptr %result, ptr %raised, {', '.join(passed)})",
        *([f"%value = load {result}, ptr %result, align 8"] if result else []),
        f"ret {result} %value" if result else "ret void",
    ]
    body = "\n".join(f"  {line}" for line in lines)
    text = f"define {returns} @{symbol}({', '.join(taken)}) {{\n{body}\n}}\n"
    return text, " ".join([_LETTERS[result] if result else "v", *kinds])

"""Methods and damping rules as routines: compiled alone, when they are first used, and called through an address.

The loops of `.method_loop` call a method's update, and that its rule.  A routine is made of a kernel by one of the
templates below, so that a method's file holds the step alone.
"""

import dis
import importlib
from collections.abc import Callable
from types import FunctionType
from typing import Any, Final, final

from poise.kernels.machine.jit import UNJITTED, address, compiler, kernel, name, own_routine, plain, routine
from poise.kernels.machine.kinds import PROBLEM_VIEW, WIDE
from poise.kernels.machine.lanes import store
from poise.kernels.machine.memory import COST, DAMPING, FRESH, SCORE
from poise.kernels.machine.reads import Reads
from poise.kernels.machine.record import Record
from poise.kernels.machine.views import rule_settings_of, settings_of
from poise.kernels.methods.criteria import null_space_velocity
from poise.kernels.methods.update import linearise, move, restrain


def _step_once(p, w):
    """One update of a Jacobian method with the step `inner`; COST and SCORE are of the configuration before it."""
    cost, score = linearise(p, w)
    if p.common[0].null:
        null_space_velocity(p, w)
    inner(p, settings_of(p, RECORD), w)  # noqa: F821
    restrain(p, w)
    move(p, w)
    store(w.memory, FRESH, 1.0), store(w.memory, COST, cost), store(w.memory, SCORE, score)


def _update_once(p, w):
    """One update by `inner`, likewise."""
    cost, score = inner(p, settings_of(p, RECORD), w)  # noqa: F821
    store(w.memory, FRESH, 1.0), store(w.memory, COST, cost), store(w.memory, SCORE, score)


def _rule_once(p, w):
    """The lambda^2 of the rule `inner`."""
    store(w.memory, DAMPING, inner(p, rule_settings_of(p, RECORD), w))  # noqa: F821


@final
class Routine:
    """A kernel as a routine, and the record of the settings that it reads."""

    def __init__(self, template: Callable[..., Any], inner: Callable[..., Any], record: Record, *, wide: bool) -> None:
        """`wide` says whether it runs eight problems wide as well as one.

        The library's own are kept on disk.  A user's are not: nobody would notice an edit of what they call.
        """
        self._template, self.inner, function = template, inner, plain(inner)
        module, code = function.__module__ or "__main__", function.__code__
        self.record, self.wide, self.key = record, wide, (module, function.__qualname__)
        self.owner: tuple[type[Any], str] | None = None
        self.cached = module.partition(".")[0] == "poise"
        if not self.cached and any(step.opname == "RAISE_VARARGS" for step in dis.get_instructions(code)):
            raise TypeError(
                f"{'.'.join(self.key)} raises, which compiled code that runs without Python cannot: check the settings "
                "in __post_init__, and let a step that fails be NaN"
            )
        self.reads = Reads() if self.cached else Reads(inner)
        """What a user's reads around it."""
        self.function: Any = self._made()
        if self.cached:
            ROUTINES[self.key] = self

    def _made(self) -> Any:
        """The function, to be compiled."""
        inner, function = self.inner, plain(self.inner)
        called = kernel(inner, inline=True) if inner is function else inner
        scope = {**globals(), "inner": called, "RECORD": self.record}
        # As if it stood where its kernel stands: so Numba knows the file whose edits count, and the name.
        code = function.__code__
        made = FunctionType(
            self._template.__code__.replace(co_filename=code.co_filename, co_firstlineno=code.co_firstlineno),
            scope,
            function.__name__,
        )
        made.__module__, made.__qualname__ = self.key
        return routine(made) if self.cached else own_routine(made)

    def address(self, width: Any) -> int:
        """Where it is for a workspace of this type; loads or compiles it.

        Raises ValueError for a user's kernel that Numba cannot compile.
        """
        if self.reads.changed() is not None:
            self.reads = Reads(self.inner)
            compiler(name(self.function)).renew(self.reads)
            self.function = self._made()
        at = PROBLEM_VIEW, width
        fault = "" if self.cached or UNJITTED else compiler(name(self.function)).fault(self.function, at)
        if fault:
            way = " for eight characters, of which Capabilities(characters=False) relieves it" * (width == WIDE)
            raise ValueError(f"{'.'.join(self.key)} is not compiled by Numba{way}: {fault}")
        return address(self.function, *at)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_found, self.key) if self.owner is None else (getattr, self.owner)

    def owned(self, owner: type[Any], name: str) -> "Routine":
        """The same, which copies and other processes find as an attribute of this class."""
        self.owner = (owner, name)
        return self


def stepping(step: Callable[..., None], record: Record, *, wide: bool = True) -> Routine:
    """The routine of a Jacobian method whose step is `step(p, s, w)`."""
    return Routine(_step_once, step, record, wide=wide)


def updating(update: Callable[..., Any], record: Record, *, wide: bool = True) -> Routine:
    """The routine of a method whose update is `update(p, s, w)`, which gives the sum of squares and the score."""
    return Routine(_update_once, update, record, wide=wide)


def damping(rule: Callable[..., Any], record: Record) -> Routine:
    """The routine of a damping rule whose lambda^2 is `rule(p, s, w)`."""
    return Routine(_rule_once, rule, record, wide=True)


ROUTINES: Final[dict[tuple[str, str], Routine]] = {}
"""The library's routines that have been made, by module and name of their kernels."""


def _found(module: str, name: str) -> Routine:
    importlib.import_module(module)
    return ROUTINES[module, name]

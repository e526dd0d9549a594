"""All that this package uses of Numba's private parts, each with what is done where a version lacks it.

A kernel is lowered for its callers alone; without the parts for that it is optimised and made machine code like any
function of Numba's, which takes longer.  Compiled code is kept on disk by `cache`; without the parts for that it is
not.  Nothing but time depends on either.
"""

import contextlib
import gc
import operator
import pickle
import threading
from collections.abc import Callable, Hashable, Iterator
from typing import Any, Final

import numba

from poise.kernels.compiling import cache
from poise.kernels.compiling.identity import identity
from poise.kernels.machine.forks import hold_over_forks

try:
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import CompilerBase, DefaultPassBuilder
    from numba.core.compiler_machinery import register_pass
    from numba.core.typed_passes import InlineOverloads, NativeLowering, NopythonRewrites
    from numba.core.untyped_passes import InlineClosureLikes, InlineInlinables

    _NEEDLESS = frozenset({InlineClosureLikes, InlineInlinables, InlineOverloads, NopythonRewrites})
    _FINISH = JITCodeLibrary._finalize_dynamic_globals
    LINKS_ONLY = not numba.config.DISABLE_JIT
except (ImportError, AttributeError):
    LINKS_ONLY = False

try:
    from numba.core.codegen import JITCPUCodegen
    from numba.core.compiler import CompileResult
    from numba.core.registry import cpu_target
    from numba.core.serialize import dumps

    _PARTS = (CompileResult._reduce, CompileResult._rebuild, JITCPUCodegen.magic_tuple)
    KEEPS = not numba.config.DISABLE_JIT
except (ImportError, AttributeError):
    KEEPS = False

try:
    from numba.core.compiler_lock import global_compiler_lock

    compiler_lock: Any = global_compiler_lock
except ImportError:
    compiler_lock = threading.RLock()
"""Whoever holds it, no other thread compiles."""
hold_over_forks(compiler_lock, rank=1)

try:
    from numba.core.cpu import CPUTargetOptions

    _OPTIONS = frozenset(dir(CPUTargetOptions))
except ImportError:
    _OPTIONS = frozenset()


try:
    from numba.core.cpu import CPUContext
    from numba.core.types import Literal
    from numba.core.types.functions import BaseFunction, _unlit_non_poison  # type: ignore[attr-defined]

    _RESOLVE, _LOAD = BaseFunction.get_call_type, CPUContext.load_additional_registries
    RESOLVES = not numba.config.DISABLE_JIT
except (ImportError, AttributeError):
    RESOLVES = False


# Options ------------------------------------------------------------------------------------------------------------


def known(**options: Any) -> dict[str, Any]:
    """Those of these options of `numba.njit` that it has; none does more than save time."""
    return {name: value for name, value in options.items() if name in _OPTIONS}


def inner_options(*, inline: bool) -> dict[str, Any]:
    """Options for a function that other kernels call and Python never does."""
    if not LINKS_ONLY:
        return known(_nrt=False)
    options = known(_nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=inline)
    return {**options, "pipeline_class": _InnerCompiler}


# Typing what was typed before ---------------------------------------------------------------------------------------

_NAMES: Final = "add sub mul truediv floordiv mod pow neg lt le gt ge eq ne and_ or_ iadd isub imul itruediv"
_OPERATORS: Final = frozenset(getattr(operator, name) for name in _NAMES.split()) | {
    operator.getitem,
    operator.setitem,
    *(len, abs, min, max, range, bool, float, int),
}
"""What has the same result for the same types of arguments, wherever it stands."""
_RESOLVED: Final[dict[Any, tuple[Any, Any]]] = {}


def _resolve(function: Any, context: Any, args: Any, kws: Any) -> Any:
    """`BaseFunction.get_call_type`, which tries some fifty templates for an operator, asked once for each type.

    What has literals alone for arguments is not of their types alone: whether 0 == 1 is known while it is compiled.
    """
    operation = getattr(function, "typing_key", None)
    if kws or not isinstance(operation, Hashable) or operation not in _OPERATORS or _all_literal(args):
        return _RESOLVE(function, context, args, kws)
    key = (operation, len(function.templates), tuple(_unlit_non_poison(a) for a in args))
    if key in _RESOLVED:
        known_one, implementation = _RESOLVED[key]
        function._impl_keys[known_one.args] = implementation
        return known_one
    found: Any = _RESOLVE(function, context, args, kws)
    _RESOLVED[key] = found, function._impl_keys[found.args]
    return found


def _all_literal(args: Any) -> bool:
    return all(isinstance(a, Literal) for a in args)


_COLLECTED_EVERY: Final = 100_000
"""Objects made between two collections of garbage while something is compiled.  Numba makes millions that live until
the end of it: collected as often as usual, they are looked through in a seventh of the time, for nothing."""


@contextlib.contextmanager
def quickly() -> Iterator[None]:
    """Compile in half of the time within the block: by what Numba has found out in it before.

    It types each operator anew at each place, and imports its own extensions anew for each function.  The caller holds
    a lock of its own, so that blocks do not overlap.
    """
    usual = gc.get_threshold()
    gc.set_threshold(_COLLECTED_EVERY, *usual[1:])
    try:
        with _resolving_once() if RESOLVES else contextlib.nullcontext():
            yield
    finally:
        gc.set_threshold(*usual)


@contextlib.contextmanager
def _resolving_once() -> Iterator[None]:
    loaded: list[Any] = []

    def load_once(context: Any) -> None:
        if context not in loaded:
            loaded.append(context)
            _LOAD(context)

    functions: Any = BaseFunction
    contexts: Any = CPUContext
    functions.get_call_type, contexts.load_additional_registries = _resolve, load_once
    try:
        yield
    finally:
        functions.get_call_type, contexts.load_additional_registries = _RESOLVE, _LOAD


# A kernel for its callers alone -------------------------------------------------------------------------------------

if LINKS_ONLY:

    class _Library(JITCodeLibrary):
        """What a kernel's callers link: neither optimised nor machine code, for with its callers it will be both."""

        def _optimize_final_module(self) -> None:
            pass

        def _finalize_final_module(self) -> None:
            self._finalize_dynamic_globals()
            self._finalized = True

    @register_pass(mutates_CFG=True, analysis_only=False)
    class _LinkedOnly(NativeLowering):
        """Lower a kernel for its callers alone."""

        _name = "poise_linked_only"

        def run_pass(self, state: Any) -> bool:
            state.library = _Library(state.targetctx.codegen(), state.func_id.func_qualname)
            state.flags.no_compile = True
            super().run_pass(state)
            # Numba knows a compiled function by a built-in one, which is called from Python: never, here.
            never_called = list[Any]().append
            state.cr = state.cr._replace(cfunc=never_called)
            state.targetctx.insert_user_function(never_called, state.cr.fndesc, [state.library])
            return True

    class _InnerCompiler(CompilerBase):
        def define_pipelines(self) -> list[Any]:
            manager = DefaultPassBuilder.define_nopython_pipeline(self.state)
            # Kernels have neither closures nor expressions of whole arrays: looking for them is a tenth of the time.
            passes = [(p, text) for p, text in manager.passes if p not in _NEEDLESS]
            manager.passes = [(_LinkedOnly if p is NativeLowering else p, text) for p, text in passes]
            manager.finalize()
            return [manager]


# Keeping compiled code ----------------------------------------------------------------------------------------------


_SETTINGS = ("OPT", "BOUNDSCHECK", "DEBUGINFO_DEFAULT", "LOOP_VECTORIZE", "SLP_VECTORIZE")
"""What of Numba's configuration changes the machine code."""


class _DiskCache:
    """What a function of Numba's asks for its compiled code before it compiles, and gives it to afterwards."""

    cache_path = None

    def __init__(self, function: Callable[..., Any], on_miss: Callable[[], None]) -> None:
        self._function, self._on_miss = function, on_miss

    def key(self, signature: Any) -> str | None:
        """What tells this code from all other that is kept in the same folder."""
        name = identity(self._function)
        if name is None:
            return None
        settings = [str(getattr(numba.config, name, "")) for name in _SETTINGS]
        return f"{name} {signature} {cpu_target.target_context.codegen().magic_tuple()} {settings}"

    def load_overload(self, signature: Any, context: Any) -> Any:
        # Without the refresh of the context that Numba's own cache begins with: it imports what only compiling needs,
        # SciPy among it, which takes longer than all else here.
        try:
            key = self.key(signature)
            found = None if key is None else cache.load(key)
            if found is not None:
                return CompileResult._rebuild(context, *pickle.loads(found))
        except Exception:
            pass  # not what its name says: compiled again, and written over
        self._on_miss()
        return None

    def save_overload(self, signature: Any, result: Any) -> None:
        key = self.key(signature)
        if key is not None and not any(result.lifted) and not result.library.has_dynamic_globals:
            cache.save(key, dumps(result._reduce()))

    def enable(self) -> None:
        pass

    disable = flush = enable


def entry_address(result: Any) -> int:
    """Where a compiled function without a result is, as C would call it."""
    return int(result.library.get_pointer_to_function(result.fndesc.llvm_cfunc_wrapper_name))


def keep(compiled: Any, on_miss: Callable[[], None]) -> None:
    """Let this function of Numba's keep on disk what it compiles; tells `on_miss` when it is about to compile."""
    if KEEPS and hasattr(compiled, "_cache"):
        compiled._cache = _DiskCache(compiled.py_func, on_miss)


def cache_key(compiled: Any, signature: Any) -> str | None:
    """The key under which this function is kept, compiled for these argument types; None if it is not."""
    disk_cache = getattr(compiled, "_cache", None)
    return disk_cache.key(signature) if isinstance(disk_cache, _DiskCache) else None


def is_missing(compiled: Any, signature: Any) -> bool:
    """Whether this function could be on disk, compiled for these argument types, and is not."""
    key = cache_key(compiled, signature)
    return key is not None and not cache.has(key)


def linked(inner: Any, signature: Any) -> tuple[str, str, Any]:
    """The LLVM IR of a kernel with all that it calls, optimised for no CPU, its name in there, and its result's type.

    Raises ImportError where kernels are optimised one by one.
    """
    if not LINKS_ONLY:
        raise ImportError("this version of Numba, or NUMBA_DISABLE_JIT, leaves no kernel unoptimised")
    with compiler_lock:
        inner.compile(signature)
        result = inner.overloads[signature]
        result.library._ensure_finalized()
    return str(result.library._final_module), result.fndesc.llvm_func_name, result.fndesc.restype

"""How much a reader has to hold in mind: what a module defines, what a class has, the positional arguments."""

import ast
from collections.abc import Iterator
from types import CodeType

from support.arrows import FILES

CORE = ("kernels", "quaternions", "spatial", "geometry", "model", "tasks", "methods", "solving")
DEFINITIONS, METHODS, ARGUMENTS = 36, 52, 8
WIDE = {
    "kernels/kinematics/forward.py: jacobian_columns",
    "kernels/requirements/balls.py: turned_within",
    "kernels/solver/lm_solver.py: search",
    "solving/solvers/batch.py: run_batch",
}
"""Functions that take more; none is added."""


def functions(code: CodeType) -> Iterator[CodeType]:
    """All that is called within it, however deep, lambdas left out."""
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            if not inner.co_name.startswith("<"):
                yield inner
            yield from functions(inner)


def positional(function: CodeType) -> int:
    """How many arguments it takes by their place, beside itself."""
    return function.co_argcount - (function.co_argcount > 0 and function.co_varnames[0] in ("self", "cls"))


def test_no_file_of_the_core_defines_much() -> None:
    """Functions and classes of a module, and methods of a class; not lines, for which what is one would be parted."""
    for name, path in FILES.items():
        if name.startswith(CORE):
            module = ast.parse(path.read_bytes()).body
            assert sum(isinstance(node, ast.FunctionDef | ast.ClassDef) for node in module) <= DEFINITIONS, name
            for kind in module:
                if isinstance(kind, ast.ClassDef):
                    methods = {node.name for node in kind.body if isinstance(node, ast.FunctionDef)}
                    assert len(methods) <= METHODS, f"{name}: {kind.name}"


def test_no_function_takes_many_arguments_by_place_but_those_that_are_named() -> None:
    wide = {
        f"{name}: {function.co_name}"
        for name, path in FILES.items()
        for function in functions(compile(path.read_bytes(), name, "exec", dont_inherit=True))
        if positional(function) > ARGUMENTS and not name.startswith("poise_compat/")  # they are as their originals
    }
    assert wide == WIDE

"""xacro: URDF with macros, expanded by the tools of the `xacro` extra.

Expressions in a xacro file are Python and run as it is read: read only files that you trust.
"""

import io
import os
import re
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from xml.parsers.expat import ExpatError

from poise.common.errors import InvalidValue, ModelError, ModelWarning, NameNotFound
from poise.common.lazy import optional
from poise.io.elements import Element, parse, read_bytes, readable
from poise.io.foreign import XACRO_MJCF
from poise.io.packages import PackageDirs, Packages, package_of
from poise.io.parts import part_of_another
from poise.io.srdf_file import BESIDE, Srdf, chosen_srdf
from poise.io.urdf import parse_urdf
from poise.io.xacro_args import Arguments, XacroArgs, written
from poise.io.xacro_elements import left_over, macros_of, xacro_in
from poise.model.builder import Base
from poise.model.model import Model

_ONE_AT_A_TIME = threading.Lock()
"""xacro keeps where it is in variables of its modules."""
_EXPRESSION = re.compile(r"when evaluating expression '(.*)'", re.DOTALL)
_NAMED = re.compile(r"the package '(.*?)' is not found|unknown macro name: (.*)")
_UNDEFINED = re.compile(r"name '(.*)' is not defined")


def read_xacro(
    path: str | os.PathLike[str],
    *,
    base: Base = "fixed",
    package_dirs: PackageDirs = (),
    arguments: XacroArgs | None = None,
    srdf: Srdf = BESIDE,
    looped: bool = False,
) -> Model:
    """The robot of a xacro file; `arguments` are the values of its `<xacro:arg>`.

    Otherwise as `read_urdf`; lines in messages are those of the expanded document.  Raises MissingExtra without the
    `xacro` extra, ModelError for what xacro cannot expand, and for arguments that the file does not have.
    """
    path = Path(path)
    source = read_bytes(path)  # says what is wrong with the file itself better than xacro
    packages = Packages(path.parent, package_dirs)
    with part_of_another(path):
        root = parse(source, str(path))
        _refuse_mjcf(root)
        document = _expand(str(path), source, packages, written({} if arguments is None else arguments))
        _refuse_macros_alone(parse(document), root, str(path))
        return parse_urdf(
            document,
            file=f"{path} (expanded)",
            name=Path(path.stem).stem,
            base=base,
            packages=packages,
            srdf=chosen_srdf(srdf, path),
            looped=looped,
        )


def expanded_xacro(path: Path, *, package_dirs: PackageDirs = (), arguments: XacroArgs | None = None) -> str:
    """The URDF that a xacro file is, as text; raises as `read_xacro`, and warns of what xacro does."""
    packages = Packages(path.parent, package_dirs)
    return _expand(str(path), read_bytes(path), packages, written({} if arguments is None else arguments))


def parse_xacro(
    document: str,
    *,
    file: str,
    base: Base = "fixed",
    package_dirs: PackageDirs = (),
    arguments: XacroArgs | None = None,
    srdf: Srdf = BESIDE,
    looped: bool = False,
) -> Model:
    """The robot of a xacro document, `file` in messages, which has no folder; otherwise as `read_xacro`."""
    root = parse(document, file)
    _refuse_mjcf(root)
    for include in _includes(root):
        name = include.attributes.get("filename", "")
        if not name.startswith(("/", "$")):
            raise include.error(
                f"it includes {name!r}, and a text has no folder in which that could be; "
                "give the path of the file instead"
            )
    packages = Packages(None, package_dirs)
    expanded = _expand(file, document.encode(), packages, written({} if arguments is None else arguments))
    _refuse_macros_alone(parse(expanded), root, file)
    file = f"{file} (expanded)"
    return parse_urdf(
        expanded, file=file, name="robot", base=base, packages=packages, srdf=chosen_srdf(srdf, None), looped=looped
    )


def check_xacro(root: Element, what: str) -> None:
    """Raises ValueError if a document of another kind is given arguments of xacro."""
    if root.tag == "mujoco" and (xacro_in(root) is not None or any(left_over(root))):
        return  # which is refused for what it is
    if root.tag != "robot" or (xacro_in(root) is None and not any(left_over(root))):
        raise InvalidValue(
            "conflict", f"xacro_args is for xacro files, and {what} has no macros or expressions; leave it out"
        )


def _includes(root: Element) -> Iterator[Element]:
    pending = [root]
    while pending:
        element = pending.pop()
        if element.tag == "xacro:include":
            yield element
        pending += element.children


def _refuse_mjcf(root: Element) -> None:
    if root.tag == "mujoco":
        raise root.error(XACRO_MJCF)


def _expand(file: str, document: bytes, packages: Packages, given: dict[str, str]) -> str:
    """The URDF of a xacro document that is called `file`."""
    xacro = optional("reading xacro files", "xacro", "xacro", "xacro", "xacro.substitution_args")
    substitution = xacro.substitution_args
    arguments = Arguments(given)
    remarks: dict[str, None] = {}
    with _ONE_AT_A_TIME, _as_it_was(xacro, substitution):
        substitution._eval_find = lambda package: _find(package, packages)
        xacro.warning = lambda *words, **_: remarks.setdefault(" ".join(map(str, words)))
        xacro.print_location = lambda: None
        xacro.init_stacks(file)
        try:
            tree = xacro.parse(io.BytesIO(readable(document)), file)
            xacro.process_doc(tree, mappings=arguments)
            text = str(tree.toprettyxml(indent="  "))
        except Exception as error:  # the file's own expressions may raise anything
            raise _explained(error, xacro, file) from None
    unknown = [name for name in given if name not in arguments.asked]
    if unknown:
        hint = NameNotFound(unknown[0], arguments.asked).message.partition("; ")[2]
        hint = hint if arguments.asked else "it has none"
        raise ModelError(
            f"xacro_args has {unknown[0]!r}, but the file has no <xacro:arg> of that name; {hint}", file=file
        )
    if remarks:
        warnings.warn(
            "\n".join([f"{file}:", *(f"  xacro: {remark}" for remark in remarks)]), ModelWarning, stacklevel=3
        )
    return text


@contextmanager
def _as_it_was(xacro: Any, substitution: Any) -> Iterator[None]:
    """Leaves the variables of xacro's modules as they were."""
    names = ("filestack", "macrostack", "all_includes", "verbosity", "warning", "print_location")
    saved = {name: getattr(xacro, name) for name in names}
    context, find = dict(xacro.substitution_args_context), substitution._eval_find
    xacro.all_includes = []
    try:
        yield
    finally:
        for name, value in saved.items():
            setattr(xacro, name, value)
        xacro.substitution_args_context.clear()
        xacro.substitution_args_context.update(context)
        substitution._eval_find = find


def _find(package: str, packages: Packages) -> str:
    found = packages.find(package)
    if found is None:
        holders = [str(holder) for holder in packages.holders]
        looked = f"looked in {', '.join(holders)}" if holders else "a text has no folder to look in"
        raise ModelError(
            f"the package {package!r} is not found; give package_dirs= the folder that holds it, "
            f"or that of the package itself ({looked})"
        )
    return str(found)


def _refuse_macros_alone(expanded: Element, source: Element, file: str) -> None:
    names = macros_of(source)
    if names and not expanded.all("link"):
        macros = ", ".join(map(repr, names[:3])) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        raise ModelError(
            f"this file only defines macros ({macros}) and calls none: give the file that includes and calls them",
            file=file,
        )


# What xacro raises, in our words -------------------------------------------------------------------------------------


def _explained(error: Exception, xacro: Any, file: str) -> ModelError:
    """What is wrong, where, and what to do."""
    cause, expression = error, None
    while isinstance(cause, xacro.XacroException) and cause.exc is not None:
        found = _EXPRESSION.search(cause.suffix or "")
        expression, cause = found[1] if found else expression, cause.exc
    files = [name for name in xacro.filestack or () if name]
    place = files[-1] if files else file
    if isinstance(cause, ExpatError):
        return ModelError(_not_xml(str(cause)), file=place, line=cause.lineno)
    message = " ".join(_reason(cause, expression, xacro).split())
    sources = [place]
    if xacro.macrostack:
        macro = xacro.macrostack[-1]
        message += f" (in the macro {macro.body.getAttribute('name')!r})"
        sources.insert(0, macro.history[-1][-1] or file)
    if len(files) > 1:
        message += f" (included from {files[-2]})"
    at, line = _line(sources, _written_as(cause, expression))
    return ModelError(f"xacro cannot expand it: {message}", file=at, line=line)


def _written_as(cause: Exception, expression: str | None) -> str | None:
    """How the file writes what went wrong."""
    if expression is not None:
        return f"${{{expression}}}"
    if type(cause).__name__ == "ArgException":
        return f"$(arg {cause})"
    found = _NAMED.search(str(cause))
    return found and (f"$(find {found[1]})" if found[1] else f"<{found[2]}")


def _line(sources: list[str], text: str | None) -> tuple[str, int | None]:
    """The first of the files that has a text, and its line there; xacro remembers none."""
    for source in sources if text else ():
        try:
            before, found, _ = Path(source).read_bytes().partition(str(text).encode())
        except (OSError, ValueError):
            continue
        if found:
            return source, 1 + before.count(b"\n")
    return sources[-1], None


def _not_xml(message: str) -> str:
    if "unbound prefix" in message:
        return 'xacro cannot expand it: a prefix is not declared; write <robot xmlns:xacro="http://www.ros.org/wiki/xacro">'
    return f"xacro cannot expand it: not XML: {message}"


def _reason(cause: Exception, expression: str | None, xacro: Any) -> str:
    text = str(cause) or type(cause).__name__
    if isinstance(cause, ModelError):
        return cause.message
    if isinstance(cause, OSError) and cause.filename is not None:
        package = package_of(re.sub(r".*/(?=(package|model)://)", "", str(cause.filename)))
        if package is not None:
            return f"it includes a file by package://{package}/..., which xacro writes $(find {package})/..."
        return f"it includes {str(cause.filename)!r}: {(cause.strerror or 'cannot be read').lower()}"
    undefined = _UNDEFINED.fullmatch(text)
    if undefined is not None:
        return (
            f"{undefined[1]!r} in ${{{expression}}} is neither a property nor a parameter of the macro; define it: "
            f'<xacro:property name="{undefined[1]}" value="..."/>'
        )
    if expression is not None:
        return f"${{{expression}}} cannot be evaluated: {text}"
    if type(cause).__name__ == "ArgException":
        return (
            f"$(arg {text}) has no value; give xacro_args={{{text!r}: ...}}, or declare it: "
            f'<xacro:arg name="{text}" default="..."/>'
        )
    if isinstance(cause, RecursionError):
        return "a macro or an include calls itself without end"
    if isinstance(cause, xacro.XacroException):
        return _of_macros(cause, text)
    return text


def _of_macros(cause: Any, text: str) -> str:
    """What is wrong with the call of a macro."""
    macro = cause.macros[0] if cause.macros else None
    if text.startswith("unknown macro name: "):
        name = text.partition(": ")[2]
        return f"<{name}> calls a macro that is not defined; include the file that defines it, or mend the name"
    if text.startswith("Undefined parameters ["):
        return f"the call lacks {text.partition('[')[2].rstrip(']').replace(',', ', ')}"
    if macro is not None and text.startswith("Invalid parameter"):
        name = text.partition('"')[2].rstrip('"')
        return NameNotFound(name, macro.params, owner="the macro").message.replace("no name", "no parameter", 1)
    return text

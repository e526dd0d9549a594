"""The page of the files, `modules.md`, made by the docs build of the first lines of their docstrings."""

import ast
from pathlib import Path

import poise

PACKAGES = [Path(poise.__path__[0]), *sorted(Path(__file__).parents[1].glob("packages/*/src/*"))]
"""The core, and the packages beside it."""
FILE = Path(__file__).parent / "modules.md"


def folders() -> list[Path]:
    """The packages and all folders in them that have Python files, each before what is in it."""
    return [folder for package in PACKAGES for folder in sorted({file.parent for file in package.rglob("*.py")})]


def first_line(file: Path) -> str:
    """The first line of a module's docstring; raises ValueError where there is none, or it is no whole sentence."""
    line = (ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "").partition("\n")[0]
    if not line.endswith("."):
        raise ValueError(f"{file}: begin its docstring with one line that says what is in it and ends with a full stop")
    return line.replace("|", "\\|").replace("*", "\\*").replace("$", "\\$")


def table(folder: Path) -> str:
    """What a folder is for, and its files, in Markdown."""
    core = PACKAGES[0]
    inner = folder != core and folder.is_relative_to(core)
    title = folder.relative_to(core if inner else _package_of(folder).parent).as_posix()
    files = sorted(file for file in folder.glob("*.py") if file.name != "__init__.py")
    rows = [f"| `{file.name}` | {first_line(file)} |" for file in files]
    rows = ["| file | what is in it |", "|---|---|", *rows] if rows else []
    return "\n".join([f"## `{title}`", "", first_line(folder / "__init__.py"), "", *rows, ""])


def _package_of(folder: Path) -> Path:
    return next(package for package in PACKAGES if folder.is_relative_to(package))


def page() -> str:
    """The page in Markdown."""
    opening = "# Files\n\nEvery file of the packages, by folders, with the first line of its docstring."
    return "\n\n".join([f"{opening} [How they hang together](design.md).", *map(table, folders())])


def write() -> None:
    """Write the page."""
    FILE.write_text(page())

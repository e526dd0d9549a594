"""The page `examples.md`: every program of `examples/` and what it prints.

The docs build writes it anew, and runs each program once, so that it cannot grow old.
"""

import ast
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
HEAD = """# Examples

The programs of `examples/`, and what they print. Times are those of the machine that built this page.
"""
SECTION = """
## {title}

{about}

```{{literalinclude}} ../examples/{stem}.py
:language: python
```

It prints:

```{{literalinclude}} _printed/{stem}.txt
:language: text
```
"""


def examples() -> list[Path]:
    """The programs, in the order of their numbers."""
    return sorted((HERE.parent / "examples").glob("[0-9]*.py"))


def page() -> str:
    """The text of the page."""
    sections = []
    for example in examples():
        about = ast.get_docstring(ast.parse(example.read_text())) or ""
        title = example.stem.split("_", 1)[1].replace("_", " ").capitalize()
        sections.append(SECTION.format(title=title, about=about, stem=example.stem))
    return HEAD + "".join(sections)


def write() -> None:
    """Run the examples and write the page; raises CalledProcessError where one fails."""
    folder = HERE / "_printed"
    folder.mkdir(exist_ok=True)
    for example in examples():
        run = subprocess.run(
            [sys.executable, example.resolve()], cwd=folder, stdout=subprocess.PIPE, text=True, check=True
        )
        (folder / f"{example.stem}.txt").write_text(run.stdout)
    (HERE / "examples.md").write_text(page())


if __name__ == "__main__":
    write()

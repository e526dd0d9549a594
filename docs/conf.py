"""Sphinx settings."""

import re
import sys
from importlib.metadata import version as installed
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

project = "poise"
author = "The poise developers"
version = release = installed("poise")

extensions = ["myst_parser", "sphinx.ext.autodoc", "mathml"]
myst_enable_extensions = ["dollarmath"]
exclude_patterns = ["_build", "SKILL.md"]
default_role = "code"  # a name in single backticks within a docstring
nitpick_ignore_regex = [
    ("py:class", r"Tree|Figure|LinkShape|Shape|Proximity|Proximities|World|LimitsLike|npt\.NDArray|np\.bool_"),
    ("py:.*", r"(numpy|collections|os|pathlib|typing|types|pyarrow)\..*"),  # other people's pages are not fetched
    (
        "py:class",
        r"poise\.(tasks\.effector|kernels|viewer\.session\.follower)\..*|poise\.methods\.base\._Method"
        r"|poise\.geometry\.world\.Snapshot|poise\.model\.(swing\.BallLimits|joint_function\.Pieces)|poise\.common\.array\.Array(Like)?"
        r"|poise\.solving\.requirements\.inequalities\.(Limit|Constraint)"
        r"|poise\.solving\.solvers\.differentiable\.(F|Ik)",
    ),  # of the library's own files
]

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented_params"
autodoc_preserve_defaults = True

html_theme = "furo"
html_static_path = ["_static"]
html_extra_path = ["llms.txt", "SKILL.md"]  # for those who read by machine
html_title = "poise"
html_math_renderer = "mathml"


def keep_formulas(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Docstrings are plain text but for backticks: a star or a bar in a formula is no markup."""
    for i, line in enumerate(lines):
        parts = line.split("`")
        parts[::2] = [re.sub(r"([*|])", r"\\\1", part) for part in parts[::2]]
        lines[i] = "`".join(parts)


def draw_pictures(app: Any) -> None:
    """The pictures are made by the methods themselves, so that they cannot grow old."""
    import pictures

    pictures.draw()


def run_examples(app: Any) -> None:
    """The page of the examples says what they print now."""
    import printed

    printed.write()


def make_live(app: Any) -> None:
    """What moves on the pages is solved by the library that is documented."""
    import directive
    import live

    live.write()
    app.add_directive("live", directive.Live)


def list_statuses(app: Any) -> None:
    """The page for C lists the statuses that there are."""
    import statuses

    statuses.write()


def list_codes(app: Any) -> None:
    """The page of the errors lists the codes that there are."""
    import codes

    codes.write()


def list_modules(app: Any) -> None:
    """The page of the files has their first lines."""
    import modules

    modules.write()


def setup(app: Any) -> None:
    """Sphinx calls this."""
    app.connect("builder-inited", make_live)
    app.connect("builder-inited", draw_pictures)
    app.connect("builder-inited", run_examples)
    app.connect("builder-inited", list_statuses)
    app.connect("builder-inited", list_codes)
    app.connect("builder-inited", list_modules)
    app.connect("autodoc-process-docstring", keep_formulas)

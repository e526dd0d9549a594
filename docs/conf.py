"""Sphinx settings."""

from importlib.metadata import version as installed

project = "poise"
author = "The poise developers"
version = release = installed("poise")

extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["_build"]
default_role = "code"  # a name in single backticks within a docstring
nitpick_ignore_regex = [
    ("py:.*", r"(numpy|collections|pathlib|typing|types)\..*")
]  # other people's pages are not fetched

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented_params"
autodoc_preserve_defaults = True

html_theme = "furo"
html_title = "poise"

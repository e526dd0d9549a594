"""A copy of the files that say the version, in which a release may be tried."""

import shutil
from pathlib import Path

from support.arrows import ROOT

PLACES = (
    "pyproject.toml",
    "packages/*/pyproject.toml",
    "lerobot_*/pyproject.toml",
    "docs/extending.md",
    "CITATION.cff",
    "conda/recipe.yaml",
    "ros2/*/package.xml",
    "ros2/*/CHANGELOG.rst",
    "src/poise/__init__.py",
    "src/poise/browser/package.json",
    ".ci/version",
    ".ci/release",
)


def copied(folder: Path) -> Path:
    """The folder, with them."""
    for file in (file for pattern in PLACES for file in ROOT.glob(pattern)):
        to = folder / file.relative_to(ROOT)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, to)
    return folder

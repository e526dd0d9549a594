"""The page of networks before a solve runs, and what it learns it learns."""

import re
from pathlib import Path

import pytest

pytest.importorskip("torch")
PAGE = Path(__file__).parents[1] / "docs" / "recipes" / "learning.md"


def test_the_programs_of_the_page_learn() -> None:
    code = "\n".join(re.findall(r"^```py(?:thon)?\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL))
    exec(compile(code, str(PAGE), "exec"), {})

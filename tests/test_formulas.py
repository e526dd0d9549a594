"""Every formula of the pages becomes MathML, which needs no network."""

import re
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
PAGES = sorted([*DOCS.glob("*.md"), *DOCS.glob("*/*.md")])


def formulas(page: Path) -> list[str]:
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    found = re.findall(r"\$\$(.+?)\$\$|\$([^$]+)\$", re.sub(r"`[^`]*`", "", text), re.DOTALL)
    return [block or inline for block, inline in found]


@pytest.mark.parametrize("page", [page for page in PAGES if formulas(page)], ids=lambda page: page.stem)
def test_every_formula_can_be_drawn_without_a_network(page: Path) -> None:
    latex2mathml = pytest.importorskip("docutils.utils.math.latex2mathml")
    for formula in formulas(page):
        assert latex2mathml.tex2mathml(formula).startswith("<math"), formula


def test_bars_are_close_to_what_they_enclose(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(str(DOCS))
    from mathml import _close

    norm = _close("<math><mo>|</mo><mi>e</mi><msup><mo>|</mo><mn>2</mn></msup></math>")
    assert norm.count('lspace="0" rspace="0">|</mo>') == 2
    assert '<msup><mo stretchy="false"' in norm


def test_the_pages_ask_nobody_for_scripts() -> None:
    assert "mathjax" not in (DOCS / "conf.py").read_text().lower()
    sys.modules.pop("mathml", None)

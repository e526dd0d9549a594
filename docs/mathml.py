"""Formulas as MathML, which a browser draws by itself: no script, no fonts, no network.

The converter is docutils' own, which Sphinx brings.
"""

import re
from html import escape
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError, latex2mathml
from sphinx.util import logging

_log = logging.getLogger(__name__)


def _mathml(node: nodes.Element, block: bool) -> str:
    try:
        return _close(latex2mathml.tex2mathml(node.astext(), as_block=block))
    except MathError as error:
        _log.warning("no MathML for %r: %s", node.astext(), error, location=node)
        return f"<code>{escape(node.astext())}</code>"


def _close(formula: str) -> str:
    """The same with the bars of a norm close to what they enclose, and no lower where they have an exponent."""
    formula = re.sub(r"(<msu[bp]\w*>\s*<mo)(>[|‖]</mo>)", r'\1 stretchy="false"\2', formula)
    return re.sub(r"<mo([^>]*)>([|‖])</mo>", r'<mo\1 lspace="0" rspace="0">\2</mo>', formula)


def inline(writer: Any, node: nodes.Element) -> None:
    """A formula within a line."""
    writer.body.append(_mathml(node, block=False))
    raise nodes.SkipNode


def block(writer: Any, node: nodes.Element) -> None:
    """A formula of its own lines, which scrolls where it is wider than the page."""
    writer.body.append(f'<div class="math" style="overflow-x: auto">{_mathml(node, block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Sphinx calls this."""
    app.add_html_math_renderer("mathml", inline_renderers=(inline, None), block_renderers=(block, None))
    return {"parallel_read_safe": True}

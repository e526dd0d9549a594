"""Formulas as MathML, which a browser draws by itself: no script, no fonts, no network.

The converter is docutils' own, which Sphinx brings.
"""

from typing import Any

from docutils import nodes
from docutils.utils.math import MathError, latex2mathml
from sphinx.util import logging

_log = logging.getLogger(__name__)


def _mathml(node: nodes.Element, block: bool) -> str:
    try:
        return latex2mathml.tex2mathml(node.astext(), as_block=block)
    except MathError as error:
        _log.warning("no MathML for %r: %s", node.astext(), error, location=node)
        return f"<code>{nodes.unescape(node.astext())}</code>"


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

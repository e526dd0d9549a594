"""What is shown of a model: its joints as text, and in a notebook its frames too."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from poise.common import html
from poise.common.array import Array
from poise.model.joint import JointKind

if TYPE_CHECKING:
    from poise.model.model import Model

_UNITS = {
    JointKind.SPHERICAL: "quaternion",
    JointKind.PRISMATIC: "m",
    JointKind.PLANAR: "m, rad",
    JointKind.FLOATING: "m, quaternion",
}
"""Of what a joint has in q; that of the others is rad."""


def table_of(model: "Model") -> str:
    """The joints that are not fixed, a line each, and the loops."""
    head = ("joint", "kind", "lower", "upper", "parent", "child")
    rows = [head]
    for joint in model.joints:
        if joint.kind is JointKind.FIXED:
            continue
        if joint.mimic:
            limits = joint.mimic.words
        elif joint.size == 1:
            at = model.index(joint.name).start
            limits = (f"{model.lower[at]:.4g}", f"{model.upper[at]:.4g}")
        elif joint.ball is not None:
            limits = joint.ball.words
        else:
            limits = ("", "")
        rows.append((joint.name, joint.kind.value, *limits, joint.parent, joint.child))
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
    fixed = sum(joint.kind is JointKind.FIXED for joint in model.joints)
    title = f"{model.name}: nq {model.nq}, nv {model.nv}, {len(model.links)} links, {fixed} fixed joints [rad, m]"
    lines += [f"{loop.first} stays with {loop.second}, a {loop.kind}" for loop in model.loops]
    return "\n".join([title, *lines])


def html_of(model: "Model") -> str:
    """Totals, a table of the joints that move, and one of the frames."""
    rows = list(_joints(model))
    mass = f", {model.mass:.4g} kg" if model.mass else ""
    total = f"{model.name}: q has {model.nq} numbers, v has {model.nv}; {len(model.links)} links{mass}"
    frames = [(name, model.frame(name).link) for name in model.frames]
    return html.together(
        html.paragraph(total, bold=True),
        html.table(
            ("joint", "kind", "unit", "lower", "upper", "speed a second"), rows, f"{len(rows)} joints that move"
        ),
        html.table(("frame", "link"), frames, f"{len(frames)} frames, which tasks may name"),
    )


def _joints(model: "Model") -> Iterator[tuple[str, ...]]:
    for joint in model.joints:
        if joint.kind is JointKind.FIXED:
            continue
        unit = _UNITS.get(joint.kind, "rad")
        limits: tuple[str, str, str] = ("", "", "")
        if joint.mimic:
            limits = (*joint.mimic.words, "")
        elif joint.size == 1:
            at, speed = model.index(joint.name), model.velocity[model.velocity_index(joint.name)]
            limits = (_number(model.lower[at]), _number(model.upper[at]), _number(speed))
        yield joint.name, joint.kind.value, unit, *limits


def _number(value: Array) -> str:
    return f"{value.item():.4g}" if np.isfinite(value.item()) else "none"

"""What a notebook shows of a model: its joints and its frames."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from poise import html
from poise.model.joint import JointKind
from poise.spatial import Array

if TYPE_CHECKING:
    from poise.model.model import Model

_UNITS = {
    JointKind.SPHERICAL: "quaternion",
    JointKind.PRISMATIC: "m",
    JointKind.PLANAR: "m, rad",
    JointKind.FLOATING: "m, quaternion",
}
"""Of what a joint has in q; that of the others is rad."""


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
            limits = (f"= {joint.mimic.multiplier:g} {joint.mimic.joint}", f"+ {joint.mimic.offset:g}", "")
        elif joint.size == 1:
            at, speed = model.index(joint.name), model.velocity[model.velocity_index(joint.name)]
            limits = (_number(model.lower[at]), _number(model.upper[at]), _number(speed))
        yield joint.name, joint.kind.value, unit, *limits


def _number(value: Array) -> str:
    return f"{value.item():.4g}" if np.isfinite(value.item()) else "none"

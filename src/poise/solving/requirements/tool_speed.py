"""How fast frames of a robot may go: the limit of a safe mode, and what a step and a path are told of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final, final

import numpy as np

from poise.common.array import Array
from poise.common.errors import InvalidType, InvalidValue
from poise.kernels.machine.layout import COLUMN, FRAME, HELICAL, PRISMATIC, REVOLUTE, TOOL
from poise.kernels.machine.packing import in_group, joined
from poise.kernels.requirements.tool_speed import BETWEEN, INSTANTS
from poise.model.model import Model
from poise.model.tree import Unit, carrying, unit_arrays
from poise.solving.requirements.active_limit import ActiveLimit
from poise.solving.requirements.inequalities import (
    NONE,
    Constraint,
    Inequalities,
    ToolSpeed,
    bounds,
    check_speeds,
    seconds_of,
)
from poise.spatial import SE3
from poise.tasks.effector import Units, no_joint, place
from poise.tasks.value import freeze

_AT: Final = 3e-3
"""A tool is at its speed within this share of it: a step that is shortened may keep so much back."""


@final
@dataclass(frozen=True, slots=True)
class ToolSpeedLimit(Constraint):
    """A frame is no faster than `linear` [m/s], whichever way it goes, and turns no faster than `angular` [rad/s].

    `frame` is one, or a list of several, each bounded for itself; None: the frame of every link that moves.  It holds
    for joints that go evenly from each step to the next, at every moment between two steps.  A step that would be
    faster is shortened, all joints by one share, so that a tool keeps its direction.  Along a path it bounds how fast
    that is run through.

    Raises ValueError without a speed and for one that is not above 0; where it is used FrameNotFound, and ValueError
    for a frame that no joint moves.
    """

    frame: str | Sequence[str] | None = None
    linear: float | None = None
    angular: float | None = None

    def __post_init__(self) -> None:
        if self.frame is not None and not isinstance(self.frame, str):
            if not isinstance(self.frame, Sequence) or not all(isinstance(name, str) for name in self.frame):
                raise InvalidType(
                    "wrong-type", f"frame is {self.frame!r}; it must be the name of a frame, a list of names, or None"
                )
            if not self.frame:
                raise InvalidValue("empty", "frame=[] names no frame: name one, or leave it out for all links")
            object.__setattr__(self, "frame", tuple(self.frame))
        check_speeds(self, self.linear, self.angular)
        freeze(self)

    def inequalities(self, model: Model, velocities: Sequence[int], dt: float | None) -> Inequalities:
        """How far each frame may go; see `Limit`."""
        seconds = seconds_of(self, dt)
        linear, angular = (NONE if most is None else most * seconds for most in (self.linear, self.angular))
        tools = tuple(ToolSpeed(name, linear, angular) for name in self.frames(model))
        return replace(bounds(np.full(len(velocities), NONE)), tools=tools)

    def frames(self, model: Model) -> tuple[str, ...]:
        """The frames that it bounds; raises FrameNotFound, and ValueError for one that no joint moves."""
        if self.frame is None:
            return tuple(link for link in model.links if place(model, link).moved(model))
        names = (self.frame,) if isinstance(self.frame, str) else tuple(self.frame)
        for name in names:
            if not place(model, name).moved(model):
                raise InvalidValue(
                    "nothing-moves",
                    f"the ToolSpeedLimit is of the frame {name!r}, which {no_joint(model)} moves: leave it out",
                )
        return names

    def met(self, model: Model, before: Array, after: Array, dt: float) -> tuple[ActiveLimit, ...]:
        """The frames that a step of `dt` [s] from `before` to `after` (nq,) leads as fast as they may go."""
        ends, step, found = np.stack([before, after]), model.difference(before, after), list[ActiveLimit]()
        for name in self.frames(model):
            columns = (model.jacobian(name, ends) * step).reshape(2, 2, 3, -1)
            lengths = np.linalg.norm(columns.sum(axis=3), axis=2)
            linear, theta = np.moveaxis(np.linalg.norm(columns, axis=2).sum(axis=2), 1, 0)
            for k, (most, way) in enumerate(((self.linear, linear), (self.angular, theta))):
                if most is not None and (lengths[:, k] + BETWEEN * theta**2 * way).max() >= (1.0 - _AT) * most * dt:
                    found.append(ActiveLimit("tool speed", name, float(lengths[:, k].max()) / dt, most))
        return tuple(found)


def tool_sections(model: Model, tools: Sequence[ToolSpeed], velocities: Sequence[int]) -> dict[str, Any]:
    """Sections of a problem with these active velocities: what moves each frame, and how far in an update."""
    places = [place(model, tool.frame) for tool in tools]
    units, number = carrying(model.tree, [at.tip for at in places])
    packed = Units(model, units, unit_arrays(units, {number[at.tip] for at in places}), number)
    active = {v: a for a, v in enumerate(velocities)}
    whole, real, columns, scales = list[list[int]](), list[Array](), list[list[int]](), list[Array]()
    bounds, chains = np.zeros((len(tools), 2, len(velocities))), list[bool]()
    for tool, at, most in zip(tools, places, bounds, strict=True):
        own, first, levers = packed.columns(at.tip), len(columns), _levers(units, number[at.tip], at.hang)
        moving = list[tuple[int, int]]()
        for (axis, origin, kind, column), scale in zip(own.raw.tolist(), own.scales, strict=True):
            a = active.get(own.velocities[column if column >= 0 else -1 - column])
            if a is not None:  # others stand still in a step
                columns.append([axis, origin, kind, a if column >= 0 else -1 - a])
                scales.append(scale)
                moving.append((origin // FRAME, a if column >= 0 and kind in (REVOLUTE, PRISMATIC, HELICAL) else -1))
                most[:, a] += _longest(units[origin // FRAME], levers[origin // FRAME])
        whole.append([number[at.tip], first, len(columns)])
        chains.append(_is_chain(moving))
        real.append(np.array([*packed.tool(at.tip, at.hang), tool.linear, tool.angular]))
    moves = packed.arrays.sections
    return {
        "tools": joined(TOOL, whole, real),
        "tool_units": moves["units"],
        "tool_pieces": moves["pieces"],
        "tool_columns": joined(COLUMN, columns, scales),
        "tool_bounds": np.append(bounds, chains),
    }


def _is_chain(moving: Sequence[tuple[int, int]]) -> bool:
    """Whether each of these units carries the next, and has a velocity of its own, after that of the one before; -1 is
    none."""
    return all(a >= 0 for _, a in moving) and all(u < v and a < b for (u, a), (v, b) in pairwise(moving))


def _levers(units: Sequence[Unit], tip: int, hang: SE3) -> dict[int, float]:
    """How far a frame that hangs on the unit `tip` can be from each unit that carries it [m]."""
    levers, lever = dict[int, float](), float(np.linalg.norm(hang.xyz))
    while tip >= 0:
        unit = units[tip]
        levers[tip] = lever
        slides = unit.kind in (PRISMATIC, HELICAL) or unit.function is not None
        lever = NONE if slides else lever + float(np.linalg.norm(unit.matrix[:3, 3]))
        tip = unit.parent
    return levers


def _longest(unit: Unit, lever: float) -> tuple[float, float]:
    """How long the linear and the angular column of a unit are at most, which turns a lever [m]."""
    if unit.function is not None:
        return NONE, NONE
    factor = abs(unit.multiplier)
    return (factor, 0.0) if unit.kind == PRISMATIC else (factor * (lever + abs(unit.pitch)), factor)


def tool_rows(sections: dict[str, Any], tools: int, model: Model, columns: int) -> dict[str, int]:
    """Rows of a workspace for so many tools of these sections, with so many active velocities."""
    seen, units = 6 * columns * tools, len(sections["tool_units"])
    return in_group(
        "tool_motion",
        q=model.nq + 1,
        start=model.nq + 1,
        frames=FRAME * units,
        columns=seen,
        start_columns=seen,
        lengths=columns * tools,
        behind=columns,
        ahead=columns,
        aside=columns,
        reach=columns,
        most=columns,
        velocities=INSTANTS * columns,
        bends=INSTANTS * columns,
        curve=4 * columns,
        to_rest=1,
    )

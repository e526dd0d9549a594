"""Arms from Denavit-Hartenberg tables, standard (Denavit and Hartenberg 1955, Paul 1981) or modified (Craig 1986)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, final

import numpy as np

from poise.common.errors import InvalidValue, ModelError
from poise.model.builder import ModelBuilder
from poise.model.frame import WORLD
from poise.model.model import Model
from poise.quaternions import rpy_quaternion
from poise.spatial import BOUND, LARGEST, SE3, ask_for_degrees

Convention = Literal["standard", "modified"]


@final
@dataclass(frozen=True, slots=True)
class DH:
    """One row of a Denavit-Hartenberg table; the joint adds its position to `theta`, or to `d` if it is prismatic.

    In the standard convention `a` and `alpha` are the row's own link's and come last; in the modified one they are
    the link's before, a(i-1) and alpha(i-1), and come first.
    """

    a: float
    """Length of the link, along x [m]."""
    alpha: float
    """Twist of the link, about x [rad]."""
    d: float
    """Offset of the joint, along z [m]."""
    theta: float = 0.0
    """Angle of the joint, about z [rad]."""
    kind: Literal["revolute", "prismatic"] = "revolute"
    limits: tuple[float, float] | None = None
    """Lower and upper [rad or m]; None for none."""
    velocity: float | None = None
    """Largest speed [rad/s or m/s]; None for none."""
    name: str | None = None
    """The joint's name; None for `joint1`, `joint2` and so on."""
    link: str | None = None
    """The name of the link that the joint moves; None for `link1`, `link2` and so on."""


def from_dh(
    rows: Sequence[DH],
    *,
    convention: Convention = "standard",
    name: str = "dh",
    base: SE3 | None = None,
    tool: SE3 | None = None,
) -> Model:
    """A serial arm with a joint for each row.

    Its links are `link0` to `linkN`, whose frames are those of the convention, and `tool`, fixed to the last.  `base`
    is the pose of link0 in the world and `tool` that of the tool in linkN; both are the identity if not given.

    Raises ValueError for an unknown convention; ModelError for no rows, or for a row, which it names, that is no DH, or
    with what is no finite number, an unknown kind, or limits the wrong way round.

    >>> arm = from_dh([DH(a=1, alpha=0, d=0), DH(a=0.5, alpha=0, d=0)])
    >>> arm.links
    ('link0', 'link1/joint1', 'link1', 'link2/joint2', 'link2', 'tool')
    """
    builder = ModelBuilder(name)
    builder.link("link0")
    if base is not None:
        builder.joint("base", "fixed", parent=WORLD, child="link0", origin=base)
    tip = add_rows(builder, rows, convention, root="link0")
    builder.joint("tool", "fixed", parent=tip, child="tool", origin=tool)
    return builder.build()


def add_rows(builder: ModelBuilder, rows: Sequence[DH], convention: Convention, *, root: str) -> str:
    """Add a joint for each row, the first carried by the link `root`; returns the last link.  Raises as `from_dh`.

    A standard row moves the link's frame on after the joint, which the tree holds as a fixed joint behind a link
    `link/joint`.
    """
    if convention not in ("standard", "modified"):
        raise InvalidValue("unknown-word", f"convention must be 'standard' or 'modified', got {convention!r}")
    if not rows:
        raise ModelError(f"{builder.name!r} has no DH rows; an arm needs at least one")
    parent = root
    for number, row in enumerate(rows, start=1):
        _check(row, f"DH row {number} of {builder.name!r}")
        joint, link = row.name or f"joint{number}", row.link or f"link{number}"
        along_x = SE3.from_xyz_wxyz([row.a, 0.0, 0.0], rpy_quaternion(np.array([row.alpha, 0.0, 0.0])))
        along_z = SE3.from_xyz_wxyz([0.0, 0.0, row.d], rpy_quaternion(np.array([0.0, 0.0, row.theta])))
        before, after = (along_x @ along_z, None) if convention == "modified" else (along_z, along_x)
        moved = link if after is None or (row.a == 0.0 and row.alpha == 0.0) else f"{link}/{joint}"
        try:
            builder.joint(
                joint, row.kind, parent=parent, child=moved, origin=before, limits=row.limits, velocity=row.velocity
            )
        except ModelError as error:
            raise ModelError(f"DH row {number} of {builder.name!r}: {error.message}") from None
        if moved != link:
            builder.joint(f"{link}/fixed", "fixed", parent=moved, child=link, origin=after)
        parent = link
    return parent


def _check(row: DH, place: str) -> None:
    if not isinstance(row, DH):
        raise ModelError(f"{place} is {row!r}; write DH(a=..., alpha=..., d=..., theta=...)")
    for what in ("a", "alpha", "d", "theta"):
        value = getattr(row, what)
        if not _is_number(value) or not math.isfinite(value):
            raise ModelError(f"{place} has {what} = {value!r}; it must be a finite number")
        if abs(value) > LARGEST:
            raise ModelError(f"{place} has {what} = {value!r}; {BOUND}")
    ask_for_degrees(place, [row.alpha, row.theta], stacklevel=4)
    if row.kind not in ("revolute", "prismatic"):
        raise ModelError(f"{place} has the kind {row.kind!r}; it must be 'revolute' or 'prismatic'")
    limits = row.limits
    if limits is not None and not (_is_pair(limits) and all(_is_number(x) for x in limits)):
        raise ModelError(f"{place} has the limits {limits!r}; write two numbers, lower and upper, or None for none")
    if row.velocity is not None and not _is_number(row.velocity):
        raise ModelError(f"{place} has the velocity {row.velocity!r}; write a number, or None for none")
    for what, name in (("name", row.name), ("link", row.link)):
        if name is not None and not isinstance(name, str):
            raise ModelError(f"{place} has the {what} {name!r}; it must be text, or None")


def _is_pair(value: object) -> bool:
    return isinstance(value, (tuple, list, np.ndarray)) and len(value) == 2


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)

"""Shapes that must not meet, as the kernels read them: those of a model's links and of a world.

Names become numbers here.  A scene has a workspace of its own, and so belongs to one thread at a time.
"""

import weakref
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np
import numpy.typing as npt

from poise.common.array import Array
from poise.geometry.shapes import Core, Shape
from poise.geometry.world import Entry, Snapshot, World
from poise.kernels.collision.columns import HEIGHTS_BUFFER
from poise.kernels.machine import layout, packing
from poise.kernels.machine.jit import address, prepare
from poise.kernels.machine.kinds import NARROW, PROBLEM_VIEW, WHOLE, WIDE
from poise.kernels.machine.lanes import workspace
from poise.kernels.machine.layout import CHAIN, FRAME, MOST_NEAR, NEAR, SCENE, SHAPE, WIDTH
from poise.kernels.machine.packing import in_group, joined
from poise.model.levers import FAR
from poise.model.movers import Movers, links_of
from poise.model.pieces import UNBOUNDED, Piece, between_links, exclusions, piece_of
from poise.model.records import nothing, packed, put_into, records_of
from poise.quaternions import quaternion_matrix
from poise.spatial import SE3

if TYPE_CHECKING:
    from poise.model.model import Model

_EMPTY: Final = Snapshot(-1, -1, ())
_NOWHERE: Final = -1e300
"""The reach of a sphere that is not there."""
_LEFT: Final = ("q", "proximity.near", "proximity.near_before", "proximity.stirred")
"""What a look leaves to the next one."""


@final
class Scene:
    """The shapes of a model's links, and of a world if there is one; `sync` takes over what has changed in that.

    `excluded` are the pairs of links that need no look, None for all of them; `allowed` are pairs of links or shapes of
    the world that may meet.  `eases` are pairs of links that may come nearer than others, and by how much [m]: their
    distances are longer by that.  `ahead` [s]: shapes of the world are taken to where their velocities bring them by
    then.
    `version` is that of the world that it was packed for.
    `addresses` are those of its words, of the workspace of one configuration, and of the routines for it; `q` and
    `near` are the configuration there and the first pair that is near.
    """

    __slots__ = (
        "_ahead",
        "_allowed",
        "_arrays",
        "_eases",
        "_entries",
        "_excluded",
        "_left",
        "_model",
        "_number",
        "_places",
        "_reach",
        "_shapes",
        "_structure",
        "_world",
        "addresses",
        "eases",
        "groups",
        "names",
        "narrow",
        "near",
        "q",
        "q_view",
        "version",
        "wide",
        "words",
    )

    def __init__(
        self,
        model: "Model",
        shapes: Mapping[str, Sequence[Shape]],
        world: World | None = None,
        *,
        excluded: frozenset[frozenset[str]] | None = frozenset(),
        allowed: frozenset[frozenset[str]] = frozenset(),
        eases: Mapping[frozenset[str], float] = MappingProxyType({}),
        ahead: float = 0.0,
    ) -> None:
        """`shapes` are those of links, seen from there.

        Raises ValueError for a half-space that a joint moves, FrameNotFound for a link that the model does not have.
        """
        self._model, self._shapes, self._excluded, self._allowed, self._ahead = model, shapes, excluded, allowed, ahead
        self._eases = eases
        self._world = None if world is None else weakref.ref(world)
        self._structure, self.version = -2, -2
        self.sync()

    def of(self, model: "Model") -> "Scene":
        """The same shapes on another model with these links."""
        return self._again(model, self._allowed)

    def without(self, pair: tuple[str, str]) -> "Scene":
        """The same, but for two links or shapes of the world that may meet."""
        return self._again(self._model, self._allowed | {frozenset(pair)})

    def _again(self, model: "Model", allowed: frozenset[frozenset[str]]) -> "Scene":
        world = None if self._world is None else self._world()
        return Scene(
            model, self._shapes, world, excluded=self._excluded, allowed=allowed, eases=self._eases, ahead=self._ahead
        )

    def sync(self) -> bool:
        """Take over what has changed in the world; whether anything has.  Then addresses may be others."""
        world = None if self._world is None else self._world()
        if world is None:
            if self._structure == -1:
                return False
            self._pack(_EMPTY)
            return True
        if world.version == self.version:
            return False
        now = world.snapshot()
        if now.structure != self._structure:
            self._pack(now)
        else:
            self._move(now)
        return True

    def forget(self) -> None:
        """Let the next look be the first one: nothing is known to be near or was, nor that braking was checked."""
        for near in ("proximity.near", "proximity.near_before"):
            self.rows(near)[0] = -1.0

    def past(self) -> tuple[int, list[Array]]:
        """The state of the world that was seen last, and what looks at it left."""
        return self.version, [rows.copy() for rows in self._left]

    def return_to(self, past: tuple[int, list[Array]]) -> None:
        """Go on from there, with the same shapes; where the world has changed since, from a first look."""
        if past[0] == self.version:
            for rows, left in zip(self._left, past[1], strict=True):
                rows[:] = left
            prepare("collision.queries.place")(*self.addresses)

    # Packing ---------------------------------------------------------------------------------------------------------

    def _pack(self, now: Snapshot) -> None:
        """Make everything anew, but for what the model keeps of its links."""
        model = self._model
        movers, still = links_of(model, self._shapes)
        entries = [self._piece(entry) for entry in now.entries]
        if any(piece.unit >= 0 for piece in entries):
            movers = Movers.of(model, [*movers.pieces, *(piece for piece in entries if piece.unit >= 0)])
        still = sorted((*still, *(x for x in entries if x.unit < 0)), key=lambda piece: piece.core.kind in UNBOUNDED)
        self._arrays, self._number, pieces = movers.arrays, movers.number, [*movers.pieces, *still]
        packs = len(movers.vertices)
        records, vertices = records_of([x.core for x in still], [-1] * len(still), [x.pose for x in still], packs)
        shapes = np.concatenate([movers.records, records, nothing(packs + len(vertices))])
        bounds = shapes.view(SHAPE.dtype)["bound"][:, 0]
        count, bounded = len(movers.pieces), sum(piece.core.kind not in UNBOUNDED for piece in pieces)
        row = WIDTH * -(-bounded // WIDTH)
        groups = list(dict.fromkeys(piece.group for piece in pieces))
        unmet, eases = exclusions(groups, pieces, self._excluded, self._allowed), between_links(groups, self._eases)
        numbered = {group: i for i, group in enumerate(groups)}
        group = np.array([numbered[piece.group] for piece in pieces], dtype=np.intp)
        chains = np.zeros((len(pieces), 4), dtype=np.int64)
        chains[:, 2], chains[:, 3], chains[:count, :3] = len(movers.levers), group, movers.chains
        self.words = packing.pack(
            {
                **movers.arrays.sections,
                "shapes": shapes,
                "vertices": np.concatenate([movers.vertices, vertices]),
                "columns": movers.columns,
                "scene": joined(SCENE, [[count, bounded, len(pieces), len(groups)]], np.zeros((1, 0))),
                "chains": joined(CHAIN, chains, ()),
                "levers": movers.levers,
                "ignored": unmet,
                "eases": eases if self._eases else (),
            },
            {
                "q": model.nq,
                "frames": FRAME * len(movers.arrays.numbers),
                "room": HEIGHTS_BUFFER,
                **in_group(
                    "proximity",
                    shape_frames=FRAME * (len(pieces) + 1),
                    centres=3 * row,
                    reach=count * row,
                    squares=count * row,
                    guess=2 * WIDTH,
                    lower=count * bounded,
                    candidates=count * bounded + 1,
                    advance=count,
                    drift=3 * len(pieces),
                    stirred=1,
                    near=1 + NEAR * MOST_NEAR,
                    near_before=1 + NEAR * MOST_NEAR,
                    pair=NEAR,
                    until=MOST_NEAR,
                    row=model.nv,
                    rate=model.nv,
                ),
            },
        )
        self.narrow: Array = workspace(packing.total_rows(self.words))
        self.wide: Array | None = None
        self.rows("q")[:], self.rows("proximity.near")[0], self.rows("proximity.stirred")[0] = model.home, -1.0, FAR
        self._reach = self.rows("proximity.reach").reshape(count, row)
        after = np.arange(count)[:, None] < np.arange(bounded)
        met = after & (unmet[group[:count, None], group[:bounded]] == 0)
        self._reach[:], self._reach[:, :bounded] = _NOWHERE, np.where(met, bounds[:bounded], _NOWHERE)
        self.addresses = int(self.words.ctypes.data), int(self.narrow.ctypes.data), _routines(NARROW)
        # Assigned to through the buffer protocol, which is quicker and takes nothing but as many doubles.
        self.q_view: Any = memoryview(self.rows("q").data)
        self.q, self.near = self.rows("q"), self.rows("proximity.near")[1 : 1 + NEAR]
        self._left = [self.rows(name) for name in _LEFT]
        self.eases = eases[group[:, None], group]
        self.names, self.groups = tuple(piece.name for piece in pieces), tuple(groups)
        self._places = {piece.name: k for k, piece in enumerate(pieces) if piece.entry}
        self._entries = {entry.name: entry for entry in now.entries}
        self._structure = now.structure
        for entry in now.entries if self._ahead else ():
            self._put_drift(entry)
        self._place(now)

    def _move(self, now: Snapshot) -> None:
        """Put the shapes of the world where they are now."""
        shapes = packing.unpack(self.words, "shapes")
        vertices = packing.unpack(self.words, "vertices").reshape(-1, 3, WIDTH)
        for entry in now.entries:
            last = self._entries[entry.name]
            if last is entry:
                continue
            self._entries[entry.name], piece = entry, self._piece(entry)
            k, core, before = self._places[entry.name], piece.core, last.shape.core
            if self._ahead:
                self._put_drift(entry)
            self.rows("proximity.stirred")[0] += _moved(before, core)
            if core.bound != shapes[k]["bound"]:
                reach = self._reach[:, k]
                reach[reach > _NOWHERE] = core.bound
            put_into(shapes[k : k + 1], core, self._arrays.seen_from(self._number[piece.unit], piece.pose))
            if before.vertices is not core.vertices:
                vertices[shapes[k]["first_pack"] : shapes[k]["last_pack"]] = packed(core.vertices)
        self._place(now)

    def _piece(self, entry: Entry) -> Piece:
        """A shape of the world, where it is ahead of now."""
        return piece_of(self._model, entry, self._drift(entry) if self._ahead and any(entry.velocity) else None)

    def _drift(self, entry: Entry) -> Array:
        return self._ahead * np.array(entry.velocity)

    def _put_drift(self, entry: Entry) -> None:
        k = self._places[entry.name]
        self.rows("proximity.drift")[3 * k : 3 * k + 3] = self._drift(entry)

    def _place(self, now: Snapshot) -> None:
        """Let kernels put all of it where it is, of which nothing is known then."""
        prepare("collision.queries.place")(*self.addresses)
        if self.wide is not None:
            self._place_lanes(self.wide)
        self.forget()
        self.version = now.version

    # What kernels are told -------------------------------------------------------------------------------------------

    @property
    def obstacles(self) -> list[tuple[int, SE3]]:
        """What stands in the world: the number of each shape, and the pose of its core in the shape's own frame."""
        standing = [(self._places[entry.name], entry.shape) for entry in self._entries.values() if entry.link is None]
        return [(k, shape.pose.inverse() @ shape.core.pose) for k, shape in sorted(standing, key=lambda one: one[0])]

    @property
    def clouds(self) -> list[str]:
        """The names of clouds of points and height maps, whose trees its words hold by their addresses alone."""
        return [entry.name for entry in self._entries.values() if entry.shape.core.tree is not None]

    def rows(self, name: str) -> Array:
        """A section of the workspace of one configuration."""
        return self.narrow[packing.rows_of(self.words, name)]

    @property
    def lanes(self) -> tuple[int, int, int]:
        """Where its words are, the workspace of eight configurations, and the routines for it."""
        wide = self.wide
        if wide is None:
            wide = self.wide = workspace(len(self.narrow), WIDTH)
            self._place_lanes(wide)
        return int(self.words.ctypes.data), int(wide.ctypes.data), _routines(WIDE)

    def _place_lanes(self, wide: Array) -> None:
        wide[packing.rows_of(self.words, "q")] = self._model.home[:, None]
        prepare("collision.queries.place_in_lanes")(int(self.words.ctypes.data), int(wide.ctypes.data), _routines(WIDE))


@lru_cache
def _table(width: Any) -> npt.NDArray[np.int64]:
    table = np.zeros(layout.FIRST_ROWS, dtype=np.int64)
    table[layout.MEASURE] = address("collision.near.measure", PROBLEM_VIEW, width, WHOLE, WHOLE)
    return table


def _routines(width: Any) -> int:
    """Where this process has the routine that measures two shapes, as a table."""
    return int(_table(width).ctypes.data)


def _moved(before: Core, now: Core) -> float:
    """How far the points of a shape that is now another have moved at most [m]; FAR where it has another form."""
    if (
        before.tree is not now.tree
        or not np.array_equal(before.vertices, now.vertices)
        or (before.half != now.half).any()
    ):
        return FAR
    size = min(now.bound, 1.0)  # of a half-space what is near counts
    turned = float(np.abs(quaternion_matrix(now.pose.wxyz) - quaternion_matrix(before.pose.wxyz)).sum())
    return float(np.abs(now.pose.xyz - before.pose.xyz).sum()) + size * turned + abs(now.radius - before.radius)

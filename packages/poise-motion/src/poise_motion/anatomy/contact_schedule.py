"""When parts of a body stand, frame by frame: as found, or known, and with stretches of frames that say otherwise."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, TypeAlias, final

import numpy as np
import numpy.typing as npt

from poise import InvalidType, InvalidValue, ShapeError
from poise.extending import not_negative, one_of, refuse_masked

Flags: TypeAlias = npt.NDArray[np.bool_]


@final
class Hold(NamedTuple):
    """How firmly a part stands: by how much it may give before the whole body is bent for it."""

    place: float
    """So much along the ground costs as much as the trunk being off by 10 cm [m]; 0: none, inf: as the trunk itself."""
    tilt: float
    """Up in the sole stays within this angle of how it would be [rad]."""

    @property
    def hard(self) -> bool:
        """Whether it gives nothing, before all else."""
        return self.place == 0.0 or self.tilt == 0.0

    def __str__(self) -> str:
        word = next((word for word, hold in _WORDS.items() if hold == self), None)
        return f"within {1e3 * self.place:.3g} mm and {np.degrees(self.tilt):.3g} degrees" if word is None else word

    @classmethod
    def of(cls, stance: "StanceLike") -> "Hold":
        """As it is said: by a word, or by how far [m] and how tilted [rad], of which a 0 is hard.

        Raises ValueError for other words and for numbers that are no lengths or angles.
        """
        if isinstance(stance, Hold):
            return stance
        if isinstance(stance, str):
            one_of("stance", stance, tuple(_WORDS))
            return _WORDS[str(stance)]
        if not isinstance(stance, tuple) or len(stance) != 2:
            raise InvalidType(
                "wrong-type",
                f"stance must be 'hard', 'soft' or (metres, radians) within which soles give, got {stance!r}",
            )
        place, tilt = stance
        not_negative("stance[0]", place, " [m]")
        not_negative("stance[1]", tilt, " [rad]")
        if tilt > np.pi:
            question = ": degrees? numpy.radians makes them radians" if tilt <= _DEGREES else ""
            raise InvalidValue("out-of-range", f"stance[1] is {tilt:g}; it must be from 0 to pi{question}")
        return cls(place, tilt)


StanceLike: TypeAlias = Literal["hard", "soft"] | tuple[float, float]
"""`hard`: nailed to its place, whatever the body pays; `soft`: as good as any other part; (metres, radians)."""
_WORDS: Final[Mapping[str, Hold]] = {"hard": Hold(0.0, 0.0), "soft": Hold(np.inf, np.pi)}
_DEGREES: Final = 180.0
GIVING: Final[Hold] = Hold(0.01, 0.26)
"""A centimetre and 15 degrees: what shoes give, and what a robot's ankle lacks to the side."""


@final
@dataclass(frozen=True, slots=True)
class Contact:
    """A time over which a part stands at one place.

    As found it is within 10 cm of it, 5 cm in height; if it slides on, it stands anew.
    """

    part: str
    start: int
    """The first frame."""
    stop: int
    """The frame after the last one."""
    points: tuple[bool, ...]
    """Which points of the part stand for half of the time or more, as heel and toe."""
    ground: float
    """The height of the ground [m]: as given, else above where the body stands lowest, so 0 on a flat floor."""
    hold: Hold | None = None
    """How firmly it stands; None: as all do of which nothing is said."""
    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)
    """The unit vector out of the ground there."""
    shapes: tuple[str, ...] = ()
    """The shapes of the ground that bear it; none where no ground is given."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Contacts:
    """Which parts of a body stand, frame by frame."""

    parts: tuple[str, ...]
    on: Flags
    """(frames, parts)"""
    points: Mapping[str, Flags]
    """By part, (frames, points) which of its points stand; a short gap is bridged in `on`, and not here."""
    intervals: tuple[Contact, ...]
    """By part, then by time."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "on", frozen_flags(self.on))
        own = {part: frozen_flags(flags) for part, flags in self.points.items()}
        object.__setattr__(self, "points", MappingProxyType(own))

    def __reduce__(self) -> tuple[Any, ...]:
        return Contacts, (self.parts, self.on, dict(self.points), self.intervals)

    @staticmethod
    def of(standing: Mapping[str, npt.ArrayLike]) -> "Contacts":
        """Contacts that are known: by part, (frames,) whether it stands, or (frames, points) whether its points do.

        Of a foot the points are its heel and its toe.  Where it stands without a break it is held at one place, at the
        height of the ground, 0; `with_stance` says it of one that is higher.  Raises ShapeError for flags that do not
        fit, ValueError for numbers other than 0 and 1.
        """
        points = {part: _flags(part, flags) for part, flags in standing.items()}
        if len(frames := {len(flags) for flags in points.values()}) != 1:
            raise ShapeError(
                f"flags of all parts must be of as many frames, at least of one part; got {sorted(frames)}"
            )
        stances = [
            Contact(part, start, stop, borne(flags[start:stop]), 0.0)
            for part, flags in points.items()
            for start, stop in runs(np.asarray(flags.any(axis=1)))
        ]
        on = np.stack([flags.any(axis=1) for flags in points.values()], axis=1)
        return Contacts(tuple(points), on, points, tuple(stances))

    def __len__(self) -> int:
        """How many frames there are."""
        return len(self.on)

    def __getitem__(self, part: str) -> Flags:
        """(frames,) when a part stands."""
        out: Flags = self.on[:, self._column(part)]
        return out

    def with_stance(self, part: str, start: int, stop: int, *, ground: float | None = None) -> "Contacts":
        """The same, but a part stands from the frame `start` up to the one before `stop`, at one place.

        A stance that this meets goes on in it, and so do the points that stand; alone it stands with all of them.
        `ground` is how high the ground is [m]; None: as high as for the first stance that it meets, else 0.

        Raises ValueError for a part that was not looked at, and for frames that are not there.
        """
        self._check(part, start, stop)
        met = [one for one in self.intervals if one.part == part and one.start <= stop and start <= one.stop]
        first, last = min([start, *(one.start for one in met)]), max([stop, *(one.stop for one in met)])
        points = self.points[part].copy()
        for a, b in runs(~self[part][start:stop]):
            beside = [k for k in (start + a - 1, start + b) if 0 <= k < len(self) and points[k].any()]
            points[start + a : start + b] = points[beside[0]] if beside else True
        if ground is not None:
            not_negative("ground", ground, " [m]")  # no foot goes below 0
        high = (met[0].ground if met else 0.0) if ground is None else float(ground)
        stance = Contact(part, first, last, borne(points[first:last]), high, met[0].hold if met else None)
        return self._with(
            part, points, [*(one for one in self.intervals if one.part == part and one not in met), stance]
        )

    def without_stance(self, part: str, start: int, stop: int) -> "Contacts":
        """The same, but a part does not stand from the frame `start` up to the one before `stop`.  Raises likewise."""
        self._check(part, start, stop)
        points = self.points[part].copy()
        points[start:stop] = False
        left = [
            replace(one, start=first, stop=last, points=borne(points[first:last]))
            for one in self.intervals
            if one.part == part
            for first, last in ((one.start, min(one.stop, start)), (max(one.start, stop), one.stop))
            if first < last
        ]
        return self._with(part, points, left)

    def with_hold(self, part: str, start: int, stop: int, stance: StanceLike | None) -> "Contacts":
        """The same, but stances of a part that meet the frames from `start` up to the one before `stop` are held so.

        `stance` is "hard", "soft" or (metres, radians), as in `retarget`; None: as all are of which nothing is said.
        Raises ValueError for a part that was not looked at, for frames that are not there or in which it does not
        stand, and for a stance that is none.
        """
        self._check(part, start, stop)
        hold = None if stance is None else Hold.of(stance)
        own = [one for one in self.intervals if one.part == part]
        if not any(one.start < stop and start < one.stop for one in own):
            raise InvalidValue(
                "no-such-part", f"{part} does not stand in the frames {start} up to {stop}: let it, with_stance"
            )
        held = [replace(one, hold=hold) if one.start < stop and start < one.stop else one for one in own]
        return self._with(part, self.points[part], held)

    def replaced(self, other: "Contacts") -> "Contacts":
        """The same, but for the parts that the other has too, which stand as they do there.

        Raises ValueError for parts that were not looked at here, ShapeError for another number of frames or points.
        """
        if len(other) != len(self):
            raise ShapeError(f"contacts must be of as many frames as the motion, {len(self)}, got {len(other)}")
        out = self
        for part in other.parts:
            self._column(part)
            shape, values = self.points[part].shape, other.points[part]
            if values.shape[1] not in (1, shape[1]):
                raise ShapeError(f"contacts of {part} must be of its {shape[1]} points, got {values.shape[1]}")
            points = np.broadcast_to(values, shape)
            stances = [
                replace(one, points=borne(points[one.start : one.stop])) for one in other.intervals if one.part == part
            ]
            out = out._with(part, points, stances)
        return out

    def only(self, parts: Collection[str]) -> "Contacts":
        """Those of these parts, as far as they were looked at."""
        selected = tuple(part for part in self.parts if part in parts)
        return Contacts(
            selected,
            self.on[:, [self.parts.index(part) for part in selected]],
            {part: self.points[part] for part in selected},
            tuple(one for one in self.intervals if one.part in selected),
        )

    def _column(self, part: str) -> int:
        if part not in self.parts:
            raise InvalidValue(
                "no-such-part",
                f"{part!r} was not looked at; these parts were: {', '.join(self.parts) or 'none'}; "
                "the map's `contacts` names those that may stand",
            )
        return self.parts.index(part)

    def _check(self, part: str, start: int, stop: int) -> None:
        self._column(part)
        for name, frame in (("start", start), ("stop", stop)):
            if not isinstance(frame, int | np.integer):
                raise InvalidType("not-whole", f"{name} must be the number of a frame, got {frame!r}")
        if not 0 <= start < stop <= len(self):
            raise InvalidValue(
                "out-of-range",
                f"frames {start} up to {stop} are no stretch of the {len(self)} that there are, from 0 on",
            )

    def _with(self, part: str, points: Flags, stances: list[Contact]) -> "Contacts":
        """The same, but a part has these stances, in which these points (frames, points) stand."""
        on, column = self.on.copy(), self._column(part)
        on[:, column] = False
        for one in stances:
            on[one.start : one.stop, column] = True
        rank = {name: k for k, name in enumerate(self.parts)}
        others = [one for one in self.intervals if one.part != part]
        ordered = sorted([*others, *stances], key=lambda one: (rank[one.part], one.start))
        return Contacts(self.parts, on, {**self.points, part: points & on[:, column, None]}, tuple(ordered))


def runs(flags: Flags) -> list[tuple[int, int]]:
    """Where flags (n,) are set: the first place of each run, and the place after its last."""
    edges = (np.flatnonzero(flags[1:] != flags[:-1]) + 1).tolist()
    if len(flags) and flags[0]:
        edges.insert(0, 0)
    if len(edges) % 2:
        edges.append(len(flags))
    return list(zip(edges[::2], edges[1::2], strict=True))


def borne(points: Flags) -> tuple[bool, ...]:
    """Which of the points (frames, points) of a stance stand for half of the time or more."""
    share = points.mean(axis=0)
    return tuple((share >= 0.5 * share.max()).tolist())


def frozen_flags(flags: Flags) -> Flags:
    """A copy that nobody can change."""
    out = flags.copy()
    out.setflags(write=False)
    return out


def _flags(part: str, values: npt.ArrayLike) -> Flags:
    """(frames, points) flags of a part; those (frames,) are of one point."""
    refuse_masked(f"flags of {part}", values)
    numbers = np.asarray(values)
    if numbers.ndim not in (1, 2) or not numbers.size:
        raise ShapeError(f"flags of {part} must have shape (frames,) or (frames, points), got {numbers.shape}")
    if not np.isin(numbers, (0, 1)).all():
        raise InvalidValue(
            "not-a-bool", f"flags of {part} must be False or True, 0 or 1: compare probabilities with a threshold first"
        )
    flags: Flags = numbers.astype(bool).reshape(len(numbers), -1)
    return flags

"""A human hand's motion on a robot's hand: places, vectors or pinches, frame by frame, within the robot's limits.

The three objectives are those of AnyTeleop (Qin et al. 2023, arXiv:2307.04577) and DexPilot (Handa et al. 2020,
arXiv:1910.03135), as dex-retargeting states them; `poise.extending.LandmarkDescent` finds the least.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from threading import Lock
from typing import Any, Final, Literal, TypeAlias, final, get_args

import numpy as np

from poise import SO3, InvalidValue, Model, Motion, ShapeError, VectorTask
from poise.extending import (
    WORLD,
    Array,
    ArrayLike,
    LandmarkDescent,
    LimitsLike,
    a_model,
    broken_rule,
    finite,
    finite_positive,
    not_negative,
    numbers,
    one_of,
    with_holes,
)
from poise.hands import Pinch
from poise_motion.anatomy.landmarks import KNUCKLES, MEDIAPIPE, WRIST, columns, landmark, shown_side

HandKind: TypeAlias = Literal["position", "vector", "dexpilot"]
Side: TypeAlias = Literal["right", "left"]
_HUBER: Final[Mapping[str, float]] = {"position": 0.02, "vector": 0.02, "dexpilot": 0.03}
_REPEATS: Final = 15
"""How often the first frame is solved from a start, each time from where it led."""
_STARTS: Final = 6
"""Random starts of the first frame, beside the middle of the limits and `neutral`."""


@final
class HandRetargeter:
    """Carries the motion of a human hand to a robot's hand: `retarget` a motion, or `step` from frame to frame.

    `links` says what of the robot follows which landmark.  Landmarks are those of `step`, by their WebXR names or by
    their MediaPipe numbers.  With N vectors, and what the robot's lacks of each e,

    - "position": frame to landmark; e is from the frame to the landmark's place.  The robot's base should float.
    - "vector": frame to landmark, for vectors from the frame `wrist`; or (from, to) of frames to (from, to) of
      landmarks.  e is what the robot's vector lacks of `scale` times the hand's.
    - "dexpilot": fingertip to landmark, the thumb first, two to five; e as of vectors from the wrist to all tips, with
      the weight N, and between all tips, with the weight 1.  `pinch` says what becomes of those that are near.

    Each frame is the least of sum w L(|e|) / N + regularization |q - q_last|^2 within the joint limits and all that is
    stated in `limits`, L the smooth L1 loss; of positions each coordinate has its own e.  q_last is the frame before,
    without the low-pass filter.  Joints that mimic others follow them, and loops stay closed.  A first frame is sought
    from the middle of the limits, from `neutral` and from six random configurations, without `regularization`; or near
    `q0`, if that is given.

    A hand is seen along axes of its own, unless `align` is False: z from the wrist to the middle finger's knuckle, x
    out of the palm, y so that they are right-handed.  The robot's base is taken to have them, or to be turned to them
    by `turn`.  Positions are in the world as they are, unless `align` is True: then `wrist` is no part of it, and they
    are from the world's origin along such axes.

    Raises FrameNotFound and NameNotFound for names, ValueError for settings that make no sense, and for limits that
    need a time.
    """

    __slots__ = (
        "_buffer", "_descent", "_fresh", "_lock", "_path",
        "align", "alpha", "huber", "kind", "landmarks", "model", "notes", "pinch", "q0", "regularization", "scale",
        "side", "tasks",
    )  # fmt: skip

    def __init__(
        self,
        model: Model,
        links: Mapping[Any, Any],
        kind: HandKind = "vector",
        *,
        wrist: str | None = None,
        side: Side = "right",
        align: bool | None = None,
        turn: SO3 | None = None,
        scale: float = 1.0,
        huber: float | None = None,
        regularization: float = 4e-3,
        alpha: float = 1.0,
        pinch: Pinch | None = None,
        limits: LimitsLike = True,
        q0: ArrayLike | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        a_model(model)
        one_of("kind", kind, get_args(HandKind))
        one_of("side", side, get_args(Side))
        if turn is not None and not isinstance(turn, SO3):
            raise ShapeError(f"turn must be an SO3, got {type(turn).__name__}; see SO3.from_rpy, SO3.from_matrix")
        self.model, self.kind, self.side, self.notes = model, kind, side, tuple(notes)
        self.align = kind != "position" if align is None else bool(align)
        finite_positive("scale", scale)
        not_negative("regularization", regularization)
        self.scale, self.regularization = float(scale), float(regularization)
        self.huber = _HUBER[kind] if huber is None else huber
        finite_positive("huber", self.huber)
        if not 0.0 < alpha <= 1.0:
            raise InvalidValue(
                broken_rule(alpha, "out-of-range"),
                f"alpha is {alpha!r}; it must be above 0 and up to 1, which is no filter",
            )
        if pinch is not None and not isinstance(pinch, Pinch):
            raise InvalidValue(
                "wrong-type", f"pinch must be a Pinch, got {pinch!r}: Pinch(near=0.03) says when tips touch"
            )
        self.alpha, self.pinch = float(alpha), Pinch() if pinch is None else pinch
        if kind == "position" and scale != 1.0:
            raise InvalidValue(
                "conflict", "positions are where they are and have no scale: leave it out, or choose 'vector'"
            )
        self.tasks, pairs = _tasks(kind, links, wrist)
        axes = (WRIST, *KNUCKLES) if self.align else ()
        used = [*axes, *(name for pair in pairs for name in pair if name is not None)]
        self.landmarks: tuple[str, ...] = tuple(dict.fromkeys(used))
        """The landmarks that are read, by their names."""
        self.q0 = None if q0 is None else model.check_q(q0, "q0")
        self._descent = self._prepared(pairs, np.eye(3) if turn is None else turn.matrix(), limits)
        self._begin()

    def _prepared(self, pairs: Sequence[tuple[str | None, str]], turn: Array, limits: LimitsLike) -> LandmarkDescent:
        """What follows the landmarks."""
        place = {name: i for i, name in enumerate(self.landmarks)}
        middle, index = (place.get(name, 0) for name in KNUCKLES)
        return LandmarkDescent(
            self.model,
            self.tasks,
            [(None if origin is None else place[origin], place[tip]) for origin, tip in pairs],
            landmarks=len(place),
            scale=self.scale,
            huber=self.huber,
            regularization=self.regularization,
            alpha=self.alpha,
            pinch=self.pinch,
            limits=limits,
            side=(1 if self.side == "right" else -1) if self.align else 0,
            knuckles=(middle, index),
            turn=turn,
            each=self.kind == "position",
            fingers=sum(origin == WRIST for origin, _ in pairs) if self.kind == "dexpilot" else 0,
        )

    def _begin(self) -> None:
        """With no past, and nobody in."""
        self._lock, self._fresh = Lock(), True
        self._buffer = np.zeros((len(self.landmarks), 3))
        self._path = np.zeros((1, self.model.nq))

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__ if name not in _PAST}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)
        self._begin()

    def reset(self) -> None:
        """Forget the past: the next frame is a first one."""
        self._fresh = True

    def step(self, points: ArrayLike, *, last: ArrayLike | None = None) -> Array:
        """(nq,) the robot's configuration for the hand's landmarks `points` [m], one frame after the last.

        They are (21, 3), in MediaPipe's order, or (25, 3), in WebXR's.  `last` (nq,) is where the robot was, within its
        limits; None: where the frame before led.  Raises ShapeError for another shape, ValueError for landmarks that
        are not finite or in one line, and RuntimeError where another thread is in.
        """
        given = numbers("points", points)
        self._enter()
        try:
            self._read(given, self._buffer)
            self._follow(self._buffer, self._path, last)
            return self._path[0].copy()
        finally:
            self._lock.release()

    def retarget(
        self, source: Motion | ArrayLike, *, fps: float | None = None, times: ArrayLike | None = None
    ) -> Motion:
        """The motion of the robot's hand for a hand's motion: landmarks (frames, 21 or 25, 3) [m], or a `Motion`.

        A `Motion` must have the joints of a WebXR hand among its frames.  Landmarks have `times` (frames,) [s], or
        `fps` frames a second, 30 if neither is said.  Frames with numbers that are not finite or masked, and those
        whose knuckles are in one line, are taken between those before and after.  A hand of the other `side`, which is
        told by where its fingers bend, is mirrored.  Both are told in the motion's `notes`.  The past plays no part,
        and is left fresh.

        Raises ShapeError for another shape, ValueError without a single sound frame.
        """
        if isinstance(source, Motion):
            if fps is not None or times is not None:
                raise InvalidValue("conflict", "a Motion has times of its own: leave out fps and times")
            known = [mark for mark in MEDIAPIPE if mark in source.model.frames]
            shown = dict(zip(known, np.moveaxis(source.positions(known), 1, 0), strict=True))
            points, when, name = source.positions(self.landmarks), source.times, source.name
        else:
            given = with_holes("landmarks", source)
            if given.ndim != 3 or given.shape[2] != 3:
                raise ShapeError(f"landmarks must have shape (frames, 21 or 25, 3), got {given.shape}")
            if fps is not None and times is not None:
                raise InvalidValue("conflict", "times say when each frame is: leave out fps")
            points, name, rate = given[:, columns(self.landmarks, given.shape[1])], "", 30.0 if fps is None else fps
            shown = {mark: given[:, at] for mark, at in zip(MEDIAPIPE, columns(MEDIAPIPE, given.shape[1]), strict=True)}
            finite_positive("fps", rate)
            when = np.arange(len(given)) / rate
            if times is not None:
                when = finite("times", times)
                if when.shape != given.shape[:1]:
                    raise ShapeError(f"times must have shape ({len(given)},), one a frame, got {when.shape}")
        points, notes = self._bridged(points, when)
        other = shown_side(shown)
        if self.align and other and other != self.side:
            points = points * _MIRROR
            notes.append(f"the source is a {other} hand, and was mirrored, as the robot's is a {self.side} one")
        path = np.empty((len(points), self.model.nq))
        self._enter()
        try:
            self._fresh = True
            self._follow(points, path)
            if beyond := self.frames_beyond:
                notes.append(f"in {beyond} of {len(path)} frames not all limits hold, for no step led back")
        finally:
            self._fresh = True
            self._lock.release()
        return Motion(self.model, when, path, name=name, notes=(*self.notes, *notes))

    def objective(self, points: ArrayLike, q: ArrayLike, last: ArrayLike) -> float:
        """What a frame makes as small as it can: at `q` (nq,) for the landmarks `points`, after `last` (nq,).

        Pinches are those of the last frame, as far as the landmarks leave them so.
        """
        chosen = self._read(finite("points", points))
        here, there = self.model.check_q(q, "q"), self.model.check_q(last, "last")
        self._enter()
        try:
            found = self._descent.objective(chosen, here, there)
        finally:
            self._lock.release()
        if found is None:
            raise InvalidValue("not-a-pose", _NO_HAND)
        return found

    @property
    def frames_beyond(self) -> int:
        """Frames of the last call of `step` or `retarget` in which not all `limits` hold, for no step led back."""
        return self._descent.broken

    @property
    def iterations(self) -> int:
        """Steps of the last call of `step` or `retarget`, over all of its frames."""
        return self._descent.iterations

    def _enter(self) -> None:
        """Keep other threads out; raises RuntimeError where one is in."""
        if not self._lock.acquire(blocking=False):
            raise RuntimeError("another thread is in this HandRetargeter, which has a past: make one for each thread")

    def _read(self, points: Array, out: Array | None = None) -> Array:
        """(landmarks, 3) those that are read, of `points`, in `out`; raises ShapeError for another shape."""
        if points.ndim != 2 or points.shape[1] != 3:
            raise ShapeError(f"points must have shape (21, 3) or (25, 3), got {points.shape}")
        return points.take(columns(self.landmarks, len(points)), axis=0, out=out)

    def _follow(self, points: Array, path: Array, last: ArrayLike | None = None) -> None:
        """Fill `path` (frames, nq) for the landmarks (frames, landmarks, 3), the frame before having led to `last`."""
        start = None
        if last is not None:
            q = self.model.check_q(last, "last")
            q = np.clip(q, self.model.lower, self.model.upper) if self._descent.has_limits else q
            if self._fresh:
                start = q
            else:
                self._descent.prior[:] = q
        elif self._fresh:
            start = self._first(points) if self.q0 is None else self._descent.closed(self.q0)
        self._run(points, path, start)
        self._fresh = False

    def _run(self, points: Array, path: Array, start: Array | None) -> None:
        if not self._descent.follow(points, path, start):
            raise InvalidValue("not-a-pose", _NO_HAND)

    def _first(self, points: Array) -> Array:
        """(nq,) a configuration that the first frame is fulfilled best in, of what several starts lead to."""
        model = self.model
        box = np.clip(0.5 * (model.sampling_box[0] + model.sampling_box[1]), model.lower, model.upper)
        random = [model.sample(seed=seed) for seed in range(_STARTS)]
        best, least = model.home, (True, np.inf)
        one = points.reshape(-1, len(self.landmarks), 3)[:1]
        frames = np.repeat(one, _REPEATS, axis=0)
        for q in (model.normalize(np.where(np.isfinite(box), box, model.home)), model.home, *random):
            path = np.empty((len(frames), model.nq))
            self._run(frames, path, self._descent.closed(q))
            found = self.frames_beyond == len(frames), self._descent.cost
            if found < least:
                best, least = self._descent.prior.copy(), found
        return best

    def _bridged(self, points: Array, times: Array) -> tuple[Array, list[str]]:
        """Landmarks without frames that are no hand, and what was done to them, in words."""
        sound = np.isfinite(points).all(axis=(1, 2))
        if self.align:
            middle, index = (self.landmarks.index(name) for name in KNUCKLES)
            with np.errstate(invalid="ignore"):
                along, across = points[:, middle] - points[:, 0], points[:, index] - points[:, middle]
                area = np.linalg.norm(np.cross(along, across), axis=1)
                sound &= area > 1e-5 * np.linalg.norm(along, axis=1)
        if sound.all():
            return np.ascontiguousarray(points), []
        if not sound.any():
            raise InvalidValue("not-a-pose", "none of the frames is a hand: " + _NO_HAND)
        bad, good = np.flatnonzero(~sound), np.flatnonzero(sound)
        flat = points.reshape(len(points), -1).copy()
        for i in range(flat.shape[1]):
            flat[bad, i] = np.interp(times[bad], times[good], flat[good, i])
        shown = ", ".join(map(str, bad[:5])) + (" ..." if len(bad) > 5 else "")
        told = "1 frame was no hand and was" if len(bad) == 1 else f"{len(bad)} frames were no hand and were"
        return flat.reshape(points.shape), [f"{told} bridged: {shown}"]


_MIRROR: Final = np.array([1.0, -1.0, 1.0])
"""A mirror, be it any, for a hand is seen along axes of its own."""
_PAST: Final = ("_buffer", "_fresh", "_lock", "_path")
_NO_HAND: Final = "a landmark is not finite, or the wrist and the knuckles of index and middle finger are in one line"


def _tasks(
    kind: str, links: Mapping[Any, Any], wrist: str | None
) -> tuple[tuple[VectorTask, ...], list[tuple[str | None, str]]]:
    """The tasks, and for each the landmarks from and to which its vector is; from None is from the origin."""
    if not isinstance(links, Mapping) or not links:
        raise InvalidValue(
            "wrong-type",
            f"links must say which frame follows which landmark, as in {{'tip': 'thumb-tip'}}, got {links!r}",
        )
    paired = kind == "vector" and all(isinstance(key, tuple) for key in links)
    for key, value in links.items():
        if paired and (len(key) != 2 or not isinstance(value, (tuple, list)) or len(value) != 2):
            raise InvalidValue(
                "wrong-type", f"links[{key!r}] is {value!r}; it must be (from, to) of frames: (from, to) of landmarks"
            )
        if not paired and not isinstance(key, str):
            raise InvalidValue(
                "wrong-type", f"links names {key!r}; it must be a frame, or with 'vector' all (from, to)"
            )
    if (paired or kind == "position") == (wrist is not None):
        if wrist is None:
            raise InvalidValue("needs", f"kind={kind!r} needs the frame of the robot's wrist: give wrist")
        raise InvalidValue("conflict", "positions and pairs of frames say where each begins: leave out wrist")
    if kind == "dexpilot" and not 2 <= len(links) <= 5:
        raise InvalidValue("wrong-length", f"'dexpilot' is of two to five fingertips, got {len(links)}")
    if paired:
        found = [(*key, *(landmark(mark, f"links[{key!r}]") for mark in marks)) for key, marks in links.items()]
    else:
        origin = WORLD if wrist is None else wrist
        marks = {origin: None if wrist is None else WRIST}
        marks |= {frame: landmark(value, f"links[{frame!r}]") for frame, value in links.items()}
        between = [(b, a) for a, b in combinations(links, 2)] if kind == "dexpilot" else []
        found = [(a, b, marks[a], marks[b]) for a, b in [*between, *((origin, frame) for frame in links)]]
    return tuple(VectorTask(a, b) for a, b, _, _ in found), [(a, b) for _, _, a, b in found]

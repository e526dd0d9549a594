"""A motion that is carried to a robot by a map that is edited.  It needs no browser."""

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Final, Literal, final

from poise.errors import FrameNotFound
from poise.model.model import Model
from poise.retargeting.body import BodyMap
from poise.retargeting.parts import ENDS, FINGERS, PARENTS
from poise.retargeting.retarget import Retargeted
from poise.viewer.guided import REFUSALS

Side = Literal["source", "robot"]
SIDES: Final[tuple[Side, Side]] = ("source", "robot")
PARTS: Final = (*PARENTS, *FINGERS)


@final
class Carrying:
    """The map as it is edited, and what was made by the last one that was carried; any thread may change it.

    `again` carries the motion by a map, as `retarget` does.  What cannot be is refused in a sentence, `refusal`, and
    leaves all as it was.
    """

    def __init__(self, done: Retargeted, again: Callable[[BodyMap], Retargeted]) -> None:
        self.done, self.body = done, done.body
        self.part = next(iter(done.body.parts))
        """The part that a click is about."""
        self.refusal = ""
        self.busy = False
        """Whether the motion is being carried."""
        self._again = again
        self._past: list[BodyMap] = []
        self._lock = threading.RLock()

    @property
    def edited(self) -> bool:
        """Whether the map is another than that by which the motion was carried."""
        return _content(self.body) != _content(self.done.body)

    def model(self, side: Side) -> Model:
        """The skeleton, or the robot."""
        return (self.done.source if side == "source" else self.done.motion).model

    def name(self, side: Side, part: str | None = None) -> str | None:
        """The joint or frame of a part, None: of the one that a click is about; None where it has none."""
        column = self.body.source if side == "source" else self.body.robot
        return column.get(self.part if part is None else part)

    def choose(self, part: str) -> bool:
        """Let clicks be about this part; False for what is none."""
        return self.attempt(lambda: setattr(self, "part", _known(part)))

    def find(self, side: Side, frame: str) -> bool:
        """Choose the part that a joint or frame is; False where it is none."""
        column = self.body.source if side == "source" else self.body.robot
        found = [part for part, name in column.items() if name == frame]
        return bool(found) and self.choose(found[0])

    def assign(self, side: Side, frame: str | None, part: str | None = None) -> bool:
        """Give a part this joint or frame, and take it from the part that had it; None: the part has none any more.

        A part that one of the two lacks is left out when the motion is carried, and stands on nothing.
        """

        def go() -> None:
            known = _known(self.part if part is None else part)
            model = self.model(side)
            if frame is not None and frame not in model.frames:
                raise FrameNotFound(frame, model.frames, owner=model.name)
            columns = {"source": dict(self.body.source), "robot": dict(self.body.robot)}
            others = {of: name for of, name in columns[side].items() if name != frame and of != known}
            columns[side] = others if frame is None else {**others, known: frame}
            both = columns["source"].keys() & columns["robot"].keys()
            standing = tuple(one for one in self.body.contacts if one in both)
            self._take(BodyMap(columns["source"], columns["robot"], standing))

        return self._edit(go)

    def stand(self, part: str, on: bool) -> bool:
        """Say whether an ankle or a wrist stands on the ground."""

        def go() -> None:
            if on and part not in self.body.parts:
                raise ValueError(f"{part} cannot stand: give it a joint of the skeleton and a frame of the robot first")
            standing = {*self.body.contacts, part} if on else {*self.body.contacts} - {part}
            self._take(replace(self.body, contacts=tuple(one for one in ENDS if one in standing), missing={}))

        return self._edit(go)

    def undo(self) -> bool:
        """Take back the last edit; False where there is none."""

        def go() -> None:
            if not self._past:
                raise ValueError("there is no edit of the map left to undo")
            self.body = self._past.pop()

        return self._edit(go)

    def carry(self) -> bool:
        """Carry the motion by the map as it is, which may take seconds; False if that is refused."""

        def go() -> None:
            if self.busy:
                raise ValueError("the motion is being carried already: wait until that is done")
            self.busy = True
            try:
                self.done = self._again(self.body)
            finally:
                self.busy = False

        return self.attempt(go)

    def attempt(self, go: Callable[[], object]) -> bool:
        """Call `go`; False, and a `refusal` that says why, if it raises an error that a wrong input can make."""
        self.refusal = ""
        try:
            go()
        except REFUSALS as error:
            self.refusal = " ".join(str(error.args[0] if isinstance(error, KeyError) else error).split())
            return False
        return True

    def _edit(self, go: Callable[[], None]) -> bool:
        """An edit of the map, one at a time."""
        with self._lock:
            return self.attempt(go)

    def _take(self, body: BodyMap) -> None:
        if _content(body) != _content(self.body):
            self._past.append(self.body)
            self.body = body


def _known(part: str) -> str:
    if part not in PARTS:
        raise ValueError(f"{part!r} is no part of a body; these are: {', '.join(PARTS)}")
    return part


def _content(body: BodyMap) -> tuple[object, ...]:
    return dict(body.source), dict(body.robot), body.contacts

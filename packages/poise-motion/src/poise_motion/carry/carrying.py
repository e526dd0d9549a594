"""A motion that is carried to a robot by a map and with contacts that are edited.  It needs no browser."""

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Final, Literal, NamedTuple, final

from poise import FrameNotFound, InvalidValue, Model
from poise.pages import REFUSALS
from poise_motion.anatomy.body import BodyMap
from poise_motion.anatomy.contact_schedule import Contacts, StanceLike
from poise_motion.anatomy.parts import ENDS, FINGERS, PARENTS
from poise_motion.retarget import Retargeted

Side = Literal["source", "robot"]
SIDES: Final[tuple[Side, Side]] = ("source", "robot")
PARTS: Final = (*PARENTS, *FINGERS)


class Edited(NamedTuple):
    """What edits change."""

    body: BodyMap
    contacts: Contacts
    given: frozenset[str]
    """The parts whose contacts are not those that are found."""

    @property
    def content(self) -> tuple[object, ...]:
        """What differs where the motion is carried in another way."""
        return dict(self.body.source), dict(self.body.robot), self.body.contacts, self.contacts.intervals

    @staticmethod
    def of(done: Retargeted) -> "Edited":
        """What a motion was carried with."""
        return Edited(done.body, done.contacts, frozenset(() if done.given is None else done.given.parts))


@final
class Carrying:
    """The map and the contacts as they are edited, and what was made by the last ones that were carried.

    Any thread may change it.  What cannot be is refused in a sentence, `refusal`, and leaves all as it was.
    """

    def __init__(self, done: Retargeted) -> None:
        self.done = done
        self.part = next(iter(done.body.parts))
        """The part that a click is about."""
        self.refusal = ""
        self.busy = False
        """Whether the motion is being carried."""
        self._now = Edited.of(done)
        self._past: list[Edited] = []
        self._lock = threading.RLock()

    @property
    def body(self) -> BodyMap:
        """The map as it is edited."""
        return self._now.body

    @property
    def contacts(self) -> Contacts:
        """The contacts as they are edited, in frames of the result."""
        return self._now.contacts

    @property
    def edited(self) -> bool:
        """Whether map or contacts are others than those with which the motion was carried."""
        return self._now.content != Edited.of(self.done).content

    @property
    def undoable(self) -> int:
        """How many edits can be undone."""
        return len(self._past)

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
            self._apply(self._now._replace(body=BodyMap(columns["source"], columns["robot"], standing)))

        return self._edit(go)

    def stand(self, part: str, on: bool) -> bool:
        """Say whether an ankle or a wrist stands on the ground."""

        def go() -> None:
            if on and part not in self.body.parts:
                raise InvalidValue(
                    "no-such-part",
                    f"{part} cannot stand: give it a joint of the skeleton and a frame of the robot first",
                )
            standing = {*self.body.contacts, part} if on else {*self.body.contacts} - {part}
            body = replace(self.body, contacts=tuple(one for one in ENDS if one in standing), missing={})
            self._apply(self._now._replace(body=body))

        return self._edit(go)

    def switch(self, part: str, start: int, stop: int, on: bool) -> bool:
        """Say that a part stands, or does not, from the frame `start` up to the one before `stop`."""

        def go() -> None:
            now = self._now
            if part not in now.contacts.parts:
                raise InvalidValue(
                    "no-such-part",
                    f"{part} has no contacts: let it stand on the ground in the map, and carry the motion",
                )
            edit = now.contacts.with_stance if on else now.contacts.without_stance
            self._apply(now._replace(contacts=edit(part, start, stop), given=now.given | {part}))

        return self._edit(go)

    def hold(self, part: str, start: int, stop: int, stance: StanceLike | None) -> bool:
        """Say how firmly the stances of a part are held that meet the frames from `start` up to the one before `stop`:
        "hard", "soft" or (metres, radians) within which they give; None: as the motion was carried with."""

        def go() -> None:
            now = self._now
            self._apply(
                now._replace(contacts=now.contacts.with_hold(part, start, stop, stance), given=now.given | {part})
            )

        return self._edit(go)

    def undo(self) -> bool:
        """Take back the last edit; False where there is none."""

        def go() -> None:
            if not self._past:
                raise InvalidValue("needs", "there is no edit of the map or of contacts left to undo")
            self._now = self._past.pop()

        return self._edit(go)

    def carry(self) -> bool:
        """Carry the motion with map and contacts as they are, which may take seconds; False if that is refused."""

        def go() -> None:
            if self.busy:
                raise InvalidValue("conflict", "the motion is being carried already: wait until that is done")
            self.busy = True
            try:
                now = self._now
                done = self.done.again(body=now.body, contacts=now.contacts.only(now.given & {*now.body.contacts}))
            finally:
                self.busy = False
            with self._lock:
                self.done = done
                if self._now is now:  # nothing was edited meanwhile
                    self._now = now._replace(contacts=done.contacts)

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
        """An edit, one at a time."""
        with self._lock:
            return self.attempt(go)

    def _apply(self, edited: Edited) -> None:
        if edited.content != self._now.content:
            self._past.append(self._now)
            self._now = edited


def _known(part: str) -> str:
    if part not in PARTS:
        raise InvalidValue("no-such-part", f"{part!r} is no part of a body; these are: {', '.join(PARTS)}")
    return part

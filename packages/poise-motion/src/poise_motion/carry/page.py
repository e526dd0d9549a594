"""Motions and what a robot makes of them, side by side: map and contacts that are edited, the report, and files."""

import math
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from poise import InvalidValue
from poise.extending import write_whole
from poise.pages import (
    Figure,
    Look,
    Page,
    Played,
    Timeline,
    appearance,
    download,
    html_of_motion,
    plain,
    serve,
    tessellation,
)
from poise_motion.anatomy.contact_schedule import GIVING
from poise_motion.anatomy.parts import ENDS
from poise_motion.carry.carrying import PARTS, SIDES, Carrying, Side
from poise_motion.carry.contact_timeline import contact_timeline
from poise_motion.retarget import Retargeted

PICTURES: Final = 30.0
"""A second."""
_REFRESH: Final = 6
"""Pictures from one time that texts are brought up to date to the next."""
NONE: Final = "-"
"""What has no joint or no frame."""
_CHOSEN: Final = (208, 65, 126)
_AS_ALL, _WITHIN = "as all", "within"
_FIRMNESS: Final = (_AS_ALL, "hard", _WITHIN, "soft")
"""How a stance may be held."""


@final
class CarryingPage(Page):
    """The page of one `Carrying` or of several with one robot and one skeleton, of which one is shown, `carrying`.

    Leaving its `with` block closes it.
    """

    def __init__(
        self,
        every: Sequence[Carrying],
        *,
        look: Look | None = None,
        host: str = "127.0.0.1",
        port: int = 8080,
        dark: bool = False,
    ) -> None:
        self.every, self.carrying = tuple(every), every[0]
        _refuse_others(self.every)
        carrying = self.carrying
        self._parts = appearance(carrying.model("robot"), look=look)
        self._pictures, self._shown = 0, carrying.done
        self._reported: Retargeted | None = None
        self._said: dict[str, str] = {}
        super().__init__(
            serve(host=host, port=port, title=f"{carrying.model('robot').name}: retargeting"), dark=dark, width="large"
        )
        self._gui = self.server.viser.gui
        with self.making():
            self._add(carrying.done, dark=dark)
        self.loop = self.begin_loop("retargeting", PICTURES, self._next)

    # Once ------------------------------------------------------------------------------------------------------------

    def _add(self, done: Retargeted, *, dark: bool) -> None:
        page, gui = self.server.viser, self._gui
        self.played = Played(page, done.motion, self._parts, ghost=done.source, over=False, dark=dark)
        assert self.played.ghost is not None
        self._look_from_the_front()
        figures: dict[Side, Figure] = {"robot": self.played.figure, "source": self.played.ghost.figure}
        self._marks = {side: self._mark(side) for side in SIDES}
        for side in SIDES:
            figures[side].on_click(partial(self._clicked, side))
        self._words = gui.add_markdown("")
        names = [f"{k}: {one.done.source.name or 'motion'}" for k, one in enumerate(self.every, 1)]
        self._which = gui.add_dropdown("motion", names, visible=len(names) > 1)
        _by_hand(self._which, lambda: self.turn_to(names.index(self._which.value)))
        self.timeline = Timeline(gui, done.motion.duration, plays=True)
        self._contact_timeline = gui.add_html("")
        self._undo = gui.add_button("Undo")
        self._undo.on_click(lambda _: self.carrying.undo())
        self._carry = gui.add_button("Carry the motion", color="green")
        self._carry.on_click(lambda _: self.carry())
        tabs = gui.add_tab_group()
        for name, add in (
            ("Map", self._add_map),
            ("Contacts", self._add_contacts),
            ("Report", self._add_report),
            ("Files", self._add_files),
        ):
            with tabs.add_tab(name):
                add()

    def _look_from_the_front(self) -> None:
        """The robot in the middle, and the skeleton at its side, where the panel is not."""
        played, camera = self.played, self.server.viser.initial_camera
        assert played.ghost is not None
        played.ghost.aside *= -1.0
        size = max(played.size, played.ghost.height)
        at = played.motion.model.pose(played.motion.model.links[0], played.motion.q[0]).xyz
        seen = np.array([at[0], at[1] + 0.5 * played.ghost.aside + 0.4 * size, 0.5 * size])
        camera.position, camera.look_at = tuple(seen + size * np.array([1.5, 0.0, 0.15])), tuple(seen)

    def _mark(self, side: Side) -> Any:
        """A ball at the joint of the part that a click is about."""
        ball = tessellation.sphere(0.02 * self.played.size, 16)
        name = "/robot/chosen" if side == "robot" else "/ghost/chosen"
        return self.server.viser.scene.add_mesh_simple(
            name, ball.vertices.astype(np.float32), ball.faces.astype(np.uint32), color=_CHOSEN, cast_shadow=False
        )

    def _add_map(self) -> None:
        gui, carrying = self._gui, self.carrying
        gui.add_markdown("A click on a link of the skeleton or of the robot chooses the part that it is.")
        self._assigning = gui.add_checkbox("a click gives it to the part", False)
        self._part = gui.add_dropdown("part", PARTS, initial_value=carrying.part)
        _by_hand(self._part, lambda: self.carrying.choose(self._part.value))
        self._frames: dict[Side, Any] = {}
        for side in SIDES:
            label = "skeleton" if side == "source" else "robot"
            names = (NONE, *carrying.model(side).frames)
            self._frames[side] = gui.add_dropdown(label, names, initial_value=carrying.name(side) or NONE)
            _by_hand(self._frames[side], partial(self._picked, side))
        self._stands = gui.add_checkbox("it stands on the ground", carrying.part in carrying.body.contacts)
        _by_hand(self._stands, lambda: self.carrying.stand(self.carrying.part, bool(self._stands.value)))
        self._table = gui.add_markdown("")

    def _add_contacts(self) -> None:
        gui, (most, self._ends) = self._gui, _stretch(self.timeline.duration)
        gui.add_markdown("The part that is chosen, and the stretch of time over which it shall stand, or shall not.")
        self._foot = gui.add_dropdown("foot or hand", self._feet)
        _by_hand(self._foot, lambda: self.carrying.choose(self._foot.value))
        self._stretch = gui.add_multi_slider("stretch s", min=0.0, max=most, step=1e-3, initial_value=self._ends)
        _by_hand(self._stretch, self._stretched)
        for label, on in (("It stands there", True), ("It does not stand there", False)):
            gui.add_button(label).on_click(lambda _, on=on: self.switch(on))
        gui.add_markdown("How firmly it stands there: nailed, or giving a little before the whole body is bent for it.")
        self._firmness = gui.add_dropdown("its stances", _FIRMNESS)
        self._within = (
            gui.add_number("within mm", 1e3 * GIVING.place, min=1.0, max=200.0, step=1.0),
            gui.add_number("within degrees", round(math.degrees(GIVING.tilt)), min=1.0, max=90.0, step=1.0),
        )
        gui.add_button("They are held so").on_click(lambda _: self.hold())

    def _add_report(self) -> None:
        self._report = self._gui.add_html("")

    def _add_files(self) -> None:
        files = {
            "The robot's motion, NPZ": ("motion.npz", lambda to: self.carrying.done.motion.save(to)),
            "The robot's motion, CSV": ("motion.csv", lambda to: self.carrying.done.motion.save(to)),
            "The map, TOML": ("map.toml", lambda to: self.carrying.body.save(to)),
            "The report, JSON": ("report.json", lambda to: self.carrying.done.report.save(to)),
            "A page that plays both": ("retargeted.html", self.write_page),
        }
        for label, (name, write) in files.items():
            download(self._gui, label, name, write, lambda go: self.carrying.attempt(go))

    def write_page(self, to: Path) -> None:
        """Write what is played to an HTML file that needs no server."""
        done = self.carrying.done
        write_whole(to, html_of_motion(done.motion, self._parts, ghost=done.source))

    # What a hand does ------------------------------------------------------------------------------------------------

    def _clicked(self, side: Side, frame: str) -> None:
        if self._assigning.value:
            self.carrying.assign(side, frame)
        else:
            self.carrying.find(side, frame)

    def _picked(self, side: Side) -> None:
        chosen = self._frames[side].value
        self.carrying.assign(side, None if chosen == NONE else chosen)

    def turn_to(self, k: int) -> None:
        """Show another of the motions."""
        self.carrying = self.every[k]
        self.timeline.begin(self.carrying.done.motion.duration)
        self._stretch.max, self._ends = _stretch(self.timeline.duration)
        self._stretch.value = self._ends

    def _stretched(self) -> None:
        """Show the time of the end that was moved."""
        moved = [end for end, before in zip(self._stretch.value, self._ends, strict=True) if end != before]
        self._ends = self._stretch.value
        if moved:
            self.timeline.stay(moved[0])

    def switch(self, on: bool) -> bool:
        """Let the part that a click is about stand, or not, over the stretch that is chosen."""
        return self.carrying.switch(self.carrying.part, *self._frames_chosen(), on)

    def hold(self) -> bool:
        """Hold its stances that meet this stretch as firmly as is chosen."""
        place, tilt = (number.value for number in self._within)
        chosen = self._firmness.value
        stance: Any = (1e-3 * place, math.radians(tilt)) if chosen == _WITHIN else None if chosen == _AS_ALL else chosen
        return self.carrying.hold(self.carrying.part, *self._frames_chosen(), stance)

    def _frames_chosen(self) -> tuple[int, int]:
        """The first frame of the stretch that is chosen, and the one after its last."""
        source = self.carrying.done.source
        times = source.times - source.times[0]
        half = 0.5 * self.timeline.duration / max(len(times) - 1, 1)
        first, last = np.searchsorted(times, [self._ends[0] - half, self._ends[1] + half])
        start = min(int(first), len(times) - 1)
        return start, max(int(last), start + 1)

    def carry(self) -> threading.Thread:
        """Carry the motion with map and contacts as they are, in a thread of its own."""
        thread = threading.Thread(target=self.carrying.carry, name="poise carrying", daemon=True)
        thread.start()
        return thread

    # Each picture ----------------------------------------------------------------------------------------------------

    def _next(self) -> None:
        carrying, done = self.carrying, self.carrying.done
        if done is not self._shown:
            self._shown = done
            self.played.play(done.motion, done.source)
        time = self.timeline.now()
        self.played.show(time)
        for side in SIDES:
            motion = done.source if side == "source" else done.motion
            frame, mark = carrying.name(side), self._marks[side]
            mark.visible = frame is not None
            if frame is not None:
                mark.position = tuple(motion.model.pose(frame, motion.at(motion.times[0] + time)).xyz.tolist())
        if self._pictures % _REFRESH == 0:
            self._refresh(time)
        self._pictures += 1

    def _refresh(self, time: float) -> None:
        """Bring texts and widgets up to date."""
        carrying, done, part = self.carrying, self.carrying.done, self.carrying.part
        self._write("words", self._words, self._summary())
        self._write(
            "contact_timeline",
            self._contact_timeline,
            contact_timeline(carrying.contacts, done.source.times, time, chosen=(part, self._ends)),
        )
        self._write("table", self._table, table_of(carrying))
        if done is not self._reported:
            self._reported = done
            self._write(
                "report",
                self._report,
                f'<div style="padding: 0 10px; font-size: 12px">{done.report._repr_html_()}</div>',
            )
        if self._foot.options != self._feet:
            self._foot.options = self._feet
        for widget, value in (
            (self._part, part),
            (self._foot, part if part in carrying.contacts.parts else NONE),
            *((self._frames[side], carrying.name(side) or NONE) for side in SIDES),
            (self._stands, part in carrying.body.contacts),
        ):
            if widget.value != value:
                widget.value = value
        for widget, off in (
            (self._stands, part not in ENDS),
            (self._carry, carrying.busy or not carrying.edited),
            (self._undo, not carrying.undoable),
        ):
            if widget.disabled != off:
                widget.disabled = off

    @property
    def _feet(self) -> tuple[str, ...]:
        return (NONE, *self.carrying.contacts.parts)

    def _summary(self) -> str:
        carrying = self.carrying
        if carrying.refusal:
            return f"**Refused:** {plain(carrying.refusal)}"
        if carrying.busy:
            return "The motion is being carried."
        if carrying.edited:
            return "Map or contacts were edited. What moves is as it was before: carry the motion."
        return f"{plain(carrying.done.source.name)} on {plain(carrying.model('robot').name)}"

    def _write(self, key: str, handle: Any, text: str) -> None:
        if self._said.get(key) != text:
            self._said[key] = text
            handle.content = text


def _refuse_others(every: Sequence[Carrying]) -> None:
    """They share a scene, in which there is one robot and one skeleton."""
    for k, one in enumerate(every):
        for side in SIDES:
            model, first = one.model(side), every[0].model(side)
            if model is first:
                continue
            same = tuple(model.frames) == tuple(first.frames)
            if not same or not np.allclose(model.poses(model.neutral).array, first.poses(first.neutral).array):
                name = "skeleton" if side == "source" else "robot"
                raise InvalidValue(
                    "inconsistent", f"results[{k}] has another {name} than results[0]: view it by itself"
                )


def _stretch(duration: float) -> tuple[float, tuple[float, float]]:
    """The end of a slider over a motion, and the two ends of a stretch of it to begin with [s]."""
    return math.ceil(100.0 * duration) / 100.0, (round(duration / 3.0, 3), round(duration / 1.5, 3))


def _by_hand(widget: Any, do: Callable[[], object]) -> None:
    """Call `do` when a hand has changed a widget, and not when the page has."""

    def changed(event: Any) -> None:
        if event.client is not None:
            do()

    widget.on_update(changed)


def table_of(carrying: Carrying) -> str:
    """The map in Markdown; the part that a click is about in bold type."""
    lines = ["| part | skeleton | robot | stands |", "|---|---|---|---|"]
    for part in PARTS:
        frames = [carrying.name(side, part) for side in SIDES]
        if any(frames) or part == carrying.part:
            cells = [part.replace("_", " "), *(plain(frame) if frame else NONE for frame in frames)]
            if part == carrying.part:
                cells = [f"**{cell}**" for cell in cells]
            lines.append(f"| {' | '.join(cells)} | {'yes' if part in carrying.body.contacts else ''} |")
    return "\n".join(lines)

"""The panel beside the picture: widgets that change what is guided, and follow it, whoever changes it."""

import math
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping
from threading import Lock
from time import perf_counter, time
from typing import Any, Final, Generic, TypeVar

import numpy as np

from poise.common.array import Array
from poise.geometry.shapes import Rounded
from poise.model.joint import JointKind
from poise.viewer.panel.plots import Plot
from poise.viewer.panel.text import plain
from poise.viewer.scene.obstacles import KINDS, beside, made, measured, measures
from poise.viewer.scene.stage import Stage, shade
from poise.viewer.server.viser_internals import empty
from poise.viewer.session.fields import fields
from poise.viewer.session.guided import Guided, Seen
from poise.viewer.session.plane import sideways

_FOLLOWED, _PLOTTED = 0.1, 0.25
"""How often text and widgets are brought up to date, and plots [s]."""
_HAND: Final = 0.5
"""A widget is left alone for so long after a hand has changed it [s]."""
_SAMPLES: Final = 240
"""Points of a plot over time."""

M = TypeVar("M", bound=Seen)


class Panel(ABC, Generic[M]):
    """Widgets that change a session, and text and plots that follow it.  `follow` is called by one thread."""

    def __init__(self, server: Any, session: Guided, stage: Stage, dark: bool = False) -> None:
        self._guided, self._stage, self._gui = session, stage, server.gui
        self._dark, self._plotting = dark, False
        self._said, self._plotted = 0.0, 0.0
        self._texts: dict[str, str] = {}
        self._shown: list[tuple[Any, Callable[[M], Any]]] = []
        self._was: dict[int, Any] = {}
        self._written: dict[int, float] = {}
        self._taken: dict[int, float] = {}
        self._editing = Lock()
        self._touched = 0.0
        """When a hand has last changed a widget [s]; what was refused goes back a little later."""
        self._seen: tuple[object, ...] | None = None
        """What texts and widgets were last brought to."""
        self._select_soon: str | None = None
        self._words = self._gui.add_markdown("")
        self._undo = self._button("Undo", self._take_back, hint="The last edit of obstacles and targets", disabled=True)
        tabs = self._gui.add_tab_group()
        for name, add in self._tabs().items():
            with tabs.add_tab(name):
                add()

    @abstractmethod
    def _tabs(self) -> Mapping[str, Callable[[], object]]:
        """What fills each tab, by its name."""

    @abstractmethod
    def _status_lines(self, moment: M) -> list[str]:
        """What is said above the tabs, in paragraphs."""

    # Following -------------------------------------------------------------------------------------------------------

    def follow(self, moment: M) -> None:
        """Bring texts, widgets and plots up to date, not too often."""
        now = perf_counter()
        if self._select_soon in self._guided.world:
            # Its body is in the picture by now.
            name, self._select_soon = self._select_soon, None
            self._stage.obstacles.select(name)
        if now - self._said > _FOLLOWED:
            self._said = now
            seen = moment, self._guided.refusal
            if seen != self._seen or time() - self._touched < 2.0 * _HAND:
                self._seen = seen
                self._write("words", self._words, "\n\n".join(self._status_lines(moment)))
                self._show(moment)
            if self._undo.disabled == (self._guided.undoable > 0):
                self._undo.disabled = self._guided.undoable == 0
        if now - self._plotted > _PLOTTED:
            self._plotted = now
            self._plot(moment)

    def _show(self, moment: M) -> None:
        """Bring the widgets to what has been set since, but for one that a hand is at, which would jump back.

        What a hand has just changed is told of a little later, so a widget that differs from what is set says nothing.
        """
        for widget, read in self._shown:
            value, key = read(moment), id(widget)
            if value is None or value == self._was.get(key) or self._at_hand(widget):
                continue
            self._was[key] = value
            if getattr(widget, "max", None) is not None:  # a slider
                value = min(max(value, widget.min), widget.max)
                if abs(widget.value - value) <= 0.5 * widget.step:
                    continue
            if widget.value != value:
                widget.value = value
                self._written[key] = widget.update_timestamp

    def _at_hand(self, widget: Any) -> bool:
        """Whether a hand has changed it, and that has not been taken over yet or was just now."""
        changed, key = widget.update_timestamp, id(widget)
        if changed == self._written[key]:
            return False
        return changed != self._taken.get(key) or time() - changed < _HAND

    def _shows(self, widget: Any, read: Callable[[M], Any]) -> Any:
        """Let a widget show what is set, whoever sets it; None: it stays as it is."""
        self._shown.append((widget, read))
        self._written[id(widget)] = widget.update_timestamp
        return widget

    def _edits(self, edit: Callable[[], object], *widgets: Any) -> None:
        """Call `edit` when a hand has changed one of these; one at a time, so that the last reads what came last."""

        def edited(event: Any) -> None:
            if event.client is not None:
                key = id(event.target)
                with self._editing:
                    changed = event.target.update_timestamp
                    edit()
                    self._was.pop(key, None)  # it may have been refused
                    self._taken[key], self._touched = changed, time()

        for widget in widgets:
            widget.on_update(edited)

    def _take_back(self) -> None:
        self._guided.undo()
        # Its sizes may be others now.
        self._stage.obstacles.select(self._stage.obstacles.selected)

    def _write(self, key: str, handle: Any, text: str) -> None:
        if self._texts.get(key) != text:
            self._texts[key] = text
            handle.content = text

    def _button(self, label: str, go: Callable[[], object], **look: Any) -> Any:
        button = self._gui.add_button(label, **look)
        button.on_click(lambda _: go())
        return button

    def _refused(self) -> list[str]:
        """Why the last change was refused, if it was."""
        return [f"**Refused:** {plain(self._guided.refusal)}"] if self._guided.refusal else []

    # Joints ----------------------------------------------------------------------------------------------------------

    def _add_joints(self, read: Callable[[M], Array], now: Callable[[], Array], put: Callable[[Array], object]) -> None:
        """A slider for each joint of one coordinate, which changes it in what is `now` (nq,), and puts that."""
        model, first = self._guided.model, now()
        for joint in model.joints:
            if joint.nq == 1 and joint.mimic is None:
                at = model.index(joint.name).start
                most = self._stage.size if joint.kind is JointKind.PRISMATIC else math.pi
                low, high = float(model.lower[at]), float(model.upper[at])
                low, high = max(low, -1e3) if math.isfinite(low) else -most, min(high, 1e3) if high < math.inf else most
                high = high if high > low else low + 1e-3
                slider = self._gui.add_slider(
                    joint.name, min=low, max=high, step=1e-3, initial_value=min(max(float(first[at]), low), high)
                )

                self._joint(slider, at, read, now, put)

    def _joint(
        self, slider: Any, at: int, read: Callable[[M], Array], now: Callable[[], Array], put: Callable[[Array], object]
    ) -> None:
        def slid() -> None:
            q = np.array(now())
            q[at] = slider.value
            put(q)

        self._edits(slid, slider)
        self._shows(slider, lambda moment: float(read(moment)[at]))

    # Obstacles -------------------------------------------------------------------------------------------------------

    def _add_obstacles(self) -> None:
        session, size = self._guided, self._stage.size
        aside = 0.25 * size * sideways(session.model)
        add = self._gui.add_button_group("add", KINDS)

        @add.on_click  # type: ignore[untyped-decorator]
        def clicked(_: Any) -> None:
            kind = add.value
            name = next(n for n in (f"{kind} {i}" for i in range(1, 10_000)) if n not in session.world)
            at = session.model.pose(session.frame, session.moment.q).xyz + aside
            there = [entry.shape for entry in session.world.snapshot().entries if entry.link is None]
            if session.add_obstacle(name, beside(made(kind, tuple(at.tolist()), size), there, aside)):
                self._select_soon = name

        if known := fields(session.model, session.frame):
            hint = "An obstacle field of the figure of Das, Slotine and Sheridan, as large as suits the arm"
            field = self._gui.add_button_group("field", tuple(known), hint=hint)
            field.on_click(lambda _: session.set_obstacles(known[field.value]))
        self._add_heeding()
        self._obstacle = self._gui.add_folder("selected", visible=False)
        self._stage.obstacles.on_select = self._selected

    @abstractmethod
    def _add_heeding(self) -> None:
        """Widgets that say how all obstacles are heeded."""

    def _add_heeded(self, name: str) -> None:
        """Widgets that say how this one is."""

    def _selected(self, name: str | None) -> None:
        """What can be changed of the obstacle that has the gizmo."""
        empty(self._obstacle)
        gui, session = self._gui, self._guided
        # It may be gone by now: any thread may take it away.
        shape = next((entry.shape for entry in session.world.snapshot().entries if entry.name == name), None)
        self._obstacle.visible = shape is not None
        if name is None or shape is None:
            return
        with self._obstacle:
            gui.add_markdown(f"**{plain(name)}**")
            if isinstance(shape, Rounded):
                kind = gui.add_dropdown("shape", KINDS, initial_value=type(shape).__name__.lower())
            sizes = {
                measure: gui.add_number(f"{measure} m", value, min=0.0, step=0.01)
                for measure, value in measures(shape).items()
            }
            self._add_heeded(name)
            self._button("Delete", lambda: session.remove_obstacle(name))

        def sized() -> None:
            values = {measure: float(widget.value) for measure, widget in sizes.items()}
            session.attempt(lambda: session.set_obstacle(name, measured(session.world[name], values)))

        def reshaped() -> None:
            x, y, z = session.world[name].pose.xyz.tolist()
            if session.set_obstacle(name, made(kind.value, (x, y, z), self._stage.size)):
                self._selected(name)

        if isinstance(shape, Rounded):
            self._edits(lambda: session.attempt(reshaped), kind)
        self._edits(sized, *sizes.values())

    # View ------------------------------------------------------------------------------------------------------------

    def _add_view(self) -> None:
        gui, stage = self._gui, self._stage

        def switch(label: str, on: bool, do: Callable[[bool], object]) -> None:
            box = gui.add_checkbox(label, on)
            box.on_update(lambda _: do(box.value))

        switch("grid", True, lambda on: setattr(stage.grid, "visible", on))
        switch("axes", True, lambda on: setattr(stage.axes, "visible", on))
        switch("names of links", False, stage.label_frames)
        switch("axes of links", False, stage.show_axes)
        switch("joints at a limit", True, lambda on: setattr(stage, "show_limits", on))
        switch("nearest distance", True, lambda on: setattr(stage, "show_distance", on))
        switch("manipulability ellipsoid", False, lambda on: setattr(stage, "show_ellipsoid", on))
        switch("dark", self._dark, self._darken)
        switch("singular values and damping over time", False, self._plot_history)
        self._over_time = Plot(gui, "singular values and damping", "s")
        self._history: deque[tuple[float, Array, float]] = deque(maxlen=_SAMPLES)
        self._since = perf_counter()

    def _darken(self, on: bool) -> None:
        self._gui.configure_theme(dark_mode=on, show_logo=False, show_share_button=False)
        shade(self._stage.grid, dark=on)

    def _plot_history(self, on: bool) -> None:
        self._plotting = on
        self._over_time.hide()
        self._history.clear()

    def _plot(self, moment: M) -> None:
        found = self._guided.jacobian(moment.q) if self._plotting else None
        if found is None:
            return
        damping = self._guided.damping()
        self._history.append(
            (perf_counter() - self._since, np.asarray(np.linalg.svd(found[1], compute_uv=False)), damping)
        )
        history = list(self._history)  # another thread may empty it
        if not history:
            return
        times = np.array([time for time, _, _ in history])
        rows = np.array([[*values, damping] for _, values, damping in history]).T
        names = [*(f"s{i + 1}" for i in range(len(rows) - 1)), "lambda"]
        self._over_time.show(times, list(zip(names, rows, strict=True)))

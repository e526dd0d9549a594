"""The panel beside the picture: what is led, the joints, the methods, obstacles, and what is shown."""

import math
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from time import perf_counter
from typing import Any, Final, final

import numpy as np

from poise.methods.base import Method
from poise.methods.registry import METHODS
from poise.model.joint import JointKind
from poise.spatial import Array
from poise.tasks.base import Task
from poise.viewer.aims import LED, new_task
from poise.viewer.obstacles import made, measured, measures
from poise.viewer.plots import Plot
from poise.viewer.session import LEAST, Moment, Session
from poise.viewer.settings import Setting, changed, settings_of
from poise.viewer.stage import Stage, shade
from poise.viewer.text import plain
from poise.viewer.viser_internals import empty

OWN: Final = "poise's own"
"""The solver's own way, among the methods."""
NO_GHOST: Final = "none"
_TURN: Final = math.tau
_WORDS_PERIOD, _PLOT_PERIOD = 0.1, 0.25
"""How often text and sliders are brought up to date, and plots [s]."""
_HAND: Final = 0.5
"""A slider is left alone for so long after a hand has moved it [s]."""
_KEPT: Final = 240
"""Points of a plot over time."""
_GAIN: Final = 0.05


@final
class Panel:
    """Widgets that change a session, and text and plots that follow it.  `follow` is called by one thread."""

    def __init__(self, server: Any, session: Session, stage: Stage, *, dark: bool = False) -> None:
        self.session, self._stage, self._gui = session, stage, server.gui
        self._said, self._plotted, self._structure = 0.0, 0.0, -1
        self._rng = np.random.default_rng(0)
        self._texts: dict[str, str] = {}
        self._converging = self._watching = False
        self._select_soon: str | None = None
        self._touched: dict[int, float] = {}
        gui = self._gui
        self._words = gui.add_markdown("")
        tabs = gui.add_tab_group()
        with tabs.add_tab("Targets"):
            self._targets = gui.add_folder(None)
            self._add_targets()
        with tabs.add_tab("Joints"):
            self._sliders = self._add_joints()
        with tabs.add_tab("Method"):
            self._add_methods()
        with tabs.add_tab("Obstacles"):
            self._add_obstacles()
        with tabs.add_tab("View"):
            self._add_view(dark)

    # Following -------------------------------------------------------------------------------------------------------

    def follow(self, moment: Moment) -> None:
        """Bring texts, sliders and plots up to date, not too often."""
        now = perf_counter()
        if self._select_soon in self.session.world:
            # Its body is in the picture by now.
            name, self._select_soon = self._select_soon, None
            self._stage.obstacles.select(name)
        if moment.structure != self._structure:
            self._list_targets()
            self._structure = moment.structure
        if now - self._said > _WORDS_PERIOD:
            self._said = now
            self._say(moment)
            self._follow_methods()
            for (start, slider), value in zip(self._sliders, self._slid(moment.q), strict=True):
                # One that a hand is at would jump back to where it was when the window sent it.
                if not abs(slider.value - value) <= 5e-4 and now - self._touched.get(start, 0.0) > _HAND:
                    slider.value = value
        if now - self._plotted > _PLOT_PERIOD:
            self._plotted = now
            self._plot(moment)

    def _say(self, moment: Moment) -> None:
        refusal = self.session.refusal
        seconds = f"a solve of {1e6 * moment.seconds:,.0f} µs" if moment.seconds else ""
        held = [
            name for name, at in zip(self.session.model.coordinates, self.session.at_limit(moment.q), strict=True) if at
        ]
        parts = [f"**Refused:** {plain(refusal)}" if refusal else plain(moment.words or "Drag a target.")]
        if not moment.resting:
            parts += [f"- {plain(error)}" for error in moment.errors]
        if held:
            parts.append(f"At a limit: {plain(', '.join(held))}.")
        if moment.nearest is not None and math.isfinite(moment.nearest.distance):
            one, other = moment.nearest.pair
            parts.append(f"Nearest: {plain(one)} and {plain(other)}, {1e3 * moment.nearest.distance:.1f} mm.")
        if seconds:
            parts.append(seconds)
        self._write("words", self._words, "\n\n".join(parts))

    def _write(self, key: str, handle: Any, text: str) -> None:
        if self._texts.get(key) != text:
            self._texts[key] = text
            handle.content = text

    # Targets ---------------------------------------------------------------------------------------------------------

    def _add_targets(self) -> None:
        gui, model = self._gui, self.session.model
        with gui.add_folder("Add a target"):
            kind = gui.add_dropdown("kind", tuple(LED), initial_value="pose")
            frame = gui.add_dropdown("frame", model.frames or ("world",), initial_value=model.tip)
            add = gui.add_button("Add")

        @add.on_click  # type: ignore[untyped-decorator]
        def clicked(_: Any) -> None:
            self.session.attempt(lambda: self.session.add_task(new_task(kind.value, frame.value)))

        solutions = gui.add_button("All solutions", hint="Every configuration that reaches the targets, as ghosts")
        hide = gui.add_button("Hide them", visible=False)

        @solutions.on_click  # type: ignore[untyped-decorator]
        def show(_: Any) -> None:
            many = self.session.all_solutions()
            self._stage.show_solutions(many)
            hide.visible = len(many) > 0

        @hide.on_click  # type: ignore[untyped-decorator]
        def hidden(_: Any) -> None:
            self._stage.show_solutions(np.zeros((0, model.nq)))
            hide.visible = False

    def _list_targets(self) -> None:
        """A folder for each task: weight, priority, and a button that removes it."""
        empty(self._targets)
        with self._targets:
            for k, task in enumerate(self.session.tasks):
                self._target_folder(k, task)

    def _target_folder(self, k: int, task: Task) -> None:
        gui = self._gui
        with gui.add_folder(f"{k + 1}. {task.label}"):
            weight = gui.add_number("weight", _weight(task), min=0.0, step=0.1)
            priority = gui.add_number("priority", task.priority, min=0, step=1)
            remove = gui.add_button("Remove", color="red")

        def edited(event: Any) -> None:
            if event.client is None:
                return
            most, rank = float(weight.value), int(priority.value)
            self.session.attempt(lambda: self.session.replace_task(k, _weighed(self.session.tasks[k], most, rank)))

        weight.on_update(edited)
        priority.on_update(edited)

        @remove.on_click  # type: ignore[untyped-decorator]
        def clicked(_: Any) -> None:
            self.session.remove_task(k)

    # Joints ----------------------------------------------------------------------------------------------------------

    def _add_joints(self) -> list[tuple[int, Any]]:
        gui, model = self._gui, self.session.model
        for label, go in (
            ("Reset", self.session.reset),
            ("Home", self.session.home),
            ("Random", lambda: self.session.random(self._rng)),
        ):
            self._button(label, go)
        sliders = []
        for joint in model.joints:
            if joint.nq != 1 or joint.mimic is not None:
                continue
            start = model.index(joint.name).start
            low, high = self._range(start, joint.kind is JointKind.PRISMATIC)
            slider = gui.add_slider(
                joint.name, min=low, max=high, step=1e-3, initial_value=min(max(float(model.home[start]), low), high)
            )
            sliders.append((start, slider))

            def slid(event: Any, start: int = start, slider: Any = slider) -> None:
                if event.client is None:
                    return
                self._touched[start] = perf_counter()
                q = self.session.moment.q.copy()
                q[start] = slider.value
                self.session.put(q)

            slider.on_update(slid)
        return sliders

    def _range(self, start: int, slides: bool) -> tuple[float, float]:
        low, high = float(self.session.model.lower[start]), float(self.session.model.upper[start])
        most = self._stage.size if slides else _TURN / 2.0
        low, high = max(low, -1e3) if math.isfinite(low) else -most, min(high, 1e3) if math.isfinite(high) else most
        return (low, high) if high > low else (low, low + 1e-3)

    def _slid(self, q: Array) -> list[float]:
        return [min(max(float(q[start]), slider.min), slider.max) for start, slider in self._sliders]

    def _button(self, label: str, go: Callable[[], object]) -> Any:
        button = self._gui.add_button(label)

        @button.on_click  # type: ignore[untyped-decorator]
        def clicked(_: Any) -> None:
            go()

        return button

    # Methods ---------------------------------------------------------------------------------------------------------

    def _add_methods(self) -> None:
        gui = self._gui
        self._chosen: dict[bool, tuple[Any, Any]] = {}
        self._offered: dict[bool, Any] = {}
        for label, first in (("method", True), ("ghost", False)):
            names = (OWN, *METHODS) if first else (NO_GHOST, OWN, *METHODS)
            now = self.session.method if first else None
            chosen = gui.add_dropdown(label, names, initial_value=names[0] if now is None else now.name)
            folder = gui.add_folder(f"settings of the {label}", visible=now is not None)
            self._chosen[first] = (chosen, folder)
            self._settings_of(folder, now, first)

            def picked(event: Any, chosen: Any = chosen, first: bool = first) -> None:
                if event.client is None:
                    return
                method = None if chosen.value in (OWN, NO_GHOST) else chosen.value
                if first:
                    self.session.use(method)
                else:
                    self.session.compare(method, on=chosen.value != NO_GHOST)
                chosen.value = self._method_shown(first)[0]  # a choice that was refused goes back

            chosen.on_update(picked)
        live = gui.add_checkbox("convergence", False, hint="How the errors of both fall, from where the motion began")

        @live.on_update  # type: ignore[untyped-decorator]
        def switched(_: Any) -> None:
            self._converging = bool(live.value)
            self._convergence.hide()

        self._convergence = Plot(gui, "log10 of the error over iterations", "iteration")

    def _follow_methods(self) -> None:
        """Show the methods as they are, whoever chose them; numbers that are being edited are left alone."""
        for first, (chosen, folder) in self._chosen.items():
            name, method = self._method_shown(first)
            offered = (name, () if method is None else tuple(s.path for s in settings_of(method)))
            if self._offered.get(first) != offered:
                self._offered[first] = offered
                chosen.value = name
                self._settings_of(folder, method, first)

    def _method_shown(self, first: bool) -> tuple[str, Method | None]:
        """What a dropdown of methods says, and the method if it names one with settings."""
        if not first and not self.session.compared:
            return NO_GHOST, None
        method = self.session.method if first else self.session.second
        return (OWN, None) if method is None else (method.name, method)

    def _settings_of(self, folder: Any, method: Method | None, first: bool) -> None:
        """Widgets for the settings of a method, in place of those of the last one."""
        empty(folder)
        folder.visible = method is not None
        if method is None:
            return
        with folder:
            for setting in settings_of(method):
                self._setting(setting, first)

    def _setting(self, setting: Setting, first: bool) -> None:
        gui = self._gui
        widget: Any
        if setting.kind == "switch":
            widget = gui.add_checkbox(setting.label, bool(setting.value))
        elif setting.kind == "choice":
            widget = gui.add_dropdown(setting.label, setting.choices, initial_value=str(setting.value))
        elif setting.kind == "whole":
            widget = gui.add_number(setting.label, int(setting.value), step=1)
        else:
            value = float(setting.value)
            widget = gui.add_number(
                setting.label, 0.0 if math.isinf(value) else value, step=_step(value),
                hint="0: none" if setting.optional else None,
            )  # fmt: skip

        def edited(event: Any) -> None:
            if event.client is None:
                return
            now = self.session.method if first else self.session.second
            if now is None:
                return
            value = widget.value
            if setting.kind == "number" and setting.optional and value == 0.0:
                value = math.inf
            made: list[Method] = []
            if self.session.attempt(lambda: made.append(changed(now, setting.path, value))):
                self.session.use(made[0]) if first else self.session.compare(made[0])

        widget.on_update(edited)

    def _draw_convergence(self) -> None:
        found = self.session.convergence()
        longest = max((len(trace.error) for _, trace in found), default=0)
        curves = []
        for name, trace in found:
            row = np.full(longest, np.nan)
            row[: len(trace.error)] = np.log10(np.maximum(trace.error, 1e-17))
            curves.append((name, row))
        self._convergence.show(np.arange(float(longest)), curves)

    # Obstacles -------------------------------------------------------------------------------------------------------

    def _add_obstacles(self) -> None:
        gui, size = self._gui, self._stage.size

        add = gui.add_button_group("add", ("sphere", "box", "capsule"))

        @add.on_click  # type: ignore[untyped-decorator]
        def clicked(_: Any) -> None:
            kind = add.value
            number = next(i for i in range(1, 10_000) if f"{kind} {i}" not in self.session.world)
            # Beside the tip.
            x, y, z = self.session.model.pose(self.session.model.tip, self.session.moment.q).xyz.tolist()
            if self.session.add_obstacle(f"{kind} {number}", made(kind, (x, y + 0.25 * size, z), size)):
                self._select_soon = f"{kind} {number}"

        apart = gui.add_checkbox("keep apart", self.session.apart is not None, hint="A hard limit on distances")
        least = gui.add_number("least mm", 1e3 * LEAST, min=0.0, step=1.0)
        heed = gui.add_checkbox("heed in the null space", self.session.clearance is not None)
        gain = gui.add_number("gain", _GAIN, min=1e-4, step=0.01)

        def set_apart(event: Any) -> None:
            if event.client is not None and not self.session.keep_apart(1e-3 * least.value if apart.value else None):
                apart.value = self.session.apart is not None

        def set_heed(event: Any) -> None:
            if event.client is not None and not self.session.heed(gain.value if heed.value else None):
                heed.value = self.session.clearance is not None

        apart.on_update(set_apart)
        least.on_update(set_apart)
        heed.on_update(set_heed)
        gain.on_update(set_heed)
        self._obstacle = gui.add_folder("selected", visible=False)
        self._stage.obstacles.on_select = self._selected

    def _selected(self, name: str | None) -> None:
        """Sizes and a button for the obstacle that has the gizmo."""
        empty(self._obstacle)
        # It may be gone by now: any thread may take it away.
        entries = self.session.world.snapshot().entries
        shape = next((entry.shape for entry in entries if entry.name == name), None)
        self._obstacle.visible = shape is not None
        if name is None or shape is None:
            return
        with self._obstacle:
            self._gui.add_markdown(f"**{plain(name)}**")
            sizes = {
                measure: self._gui.add_number(f"{measure} m", value, min=0.0, step=0.01)
                for measure, value in measures(shape).items()
            }
            self._button("Delete", lambda: self.session.remove_obstacle(name))

        def sized(event: Any) -> None:
            if event.client is not None and name in self.session.world:
                values = {measure: float(widget.value) for measure, widget in sizes.items()}
                self.session.attempt(
                    lambda: self.session.set_obstacle(name, measured(self.session.world[name], values))
                )

        for widget in sizes.values():
            widget.on_update(sized)

    # View ------------------------------------------------------------------------------------------------------------

    def _add_view(self, dark: bool) -> None:
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
        switch("dark", dark, self._darken)
        switch("singular values and damping over time", False, self._watch)
        self._over_time = Plot(gui, "singular values and damping", "s")
        self._watched: deque[tuple[float, Array, float]] = deque(maxlen=_KEPT)
        self._since = perf_counter()

    def _darken(self, on: bool) -> None:
        self._gui.configure_theme(dark_mode=on, show_logo=False, show_share_button=False)
        shade(self._stage.grid, dark=on)

    def _watch(self, on: bool) -> None:
        self._watching = on
        self._over_time.hide()
        self._watched.clear()

    def _plot(self, moment: Moment) -> None:
        if self._converging:
            self._draw_convergence()
        found = self.session.jacobian(moment.q) if self._watching else None
        if found is None:
            return
        damping = self.session.damping()
        self._watched.append(
            (perf_counter() - self._since, np.asarray(np.linalg.svd(found[1], compute_uv=False)), damping)
        )
        watched = list(self._watched)  # another thread may empty it
        if not watched:
            return
        times = np.array([time for time, _, _ in watched])
        rows = np.array([[*values, damping] for _, values, damping in watched]).T
        names = [*(f"s{i + 1}" for i in range(len(rows) - 1)), "lambda"]
        self._over_time.show(times, list(zip(names, rows, strict=True)))


def _weight(task: Task) -> float:
    """The largest weight of a task."""
    return max(float(np.max(getattr(task, name))) for name in task.weight_names)


def _weighed(task: Task, most: float, priority: int) -> Task:
    """A task whose largest weight is `most`, in the proportions that its weights have; all alike if they are 0."""
    now = _weight(task)
    if now == most:
        return replace(task, priority=priority)
    weights: dict[str, Any] = {}
    for name in task.weight_names:
        old = np.asarray(getattr(task, name), dtype=np.float64)
        new = most * old / now if now else np.full_like(old, most)
        weights[name] = new.tolist() if new.ndim == 0 else tuple(new.tolist())
    return replace(task, priority=priority, **weights)


def _step(value: float) -> float:
    return 0.1 if math.isinf(value) or value == 0.0 else 10.0 ** math.floor(math.log10(abs(value)) - 0.5)

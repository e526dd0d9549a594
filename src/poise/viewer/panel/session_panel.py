"""The panel of a session: what is led, the joints, the methods, obstacles, and what is shown."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final, final

import numpy as np

from poise.common.array import Array
from poise.methods.base import Method
from poise.methods.registry import METHODS
from poise.tasks.base import Task
from poise.viewer.panel.panel import Panel
from poise.viewer.panel.plots import Plot
from poise.viewer.panel.settings import Setting, changed, settings_of
from poise.viewer.panel.text import plain
from poise.viewer.scene.stage import Stage
from poise.viewer.server.viser_internals import empty
from poise.viewer.session.aims import TASK_KINDS, new_task
from poise.viewer.session.session import LEAST, Moment, Session

OWN: Final = "poise's own"
"""The solver's own way, among the methods."""
NO_GHOST: Final = "none"
_GAIN: Final = 0.05


@final
class SessionPanel(Panel[Moment]):
    """Widgets that change a session, and text and plots that follow it."""

    def __init__(self, server: Any, session: Session, stage: Stage, dark: bool = False) -> None:
        self.session, self._structure, self._converging = session, -1, False
        self._rng = np.random.default_rng(0)
        super().__init__(server, session, stage, dark)

    def _tabs(self) -> Mapping[str, Callable[[], object]]:
        return {
            "Targets": self._add_targets,
            "Joints": self._add_places,
            "Method": self._add_methods,
            "Obstacles": self._add_obstacles,
            "View": self._add_view,
        }

    # Following -------------------------------------------------------------------------------------------------------

    def follow(self, moment: Moment) -> None:
        """Bring texts, widgets and plots up to date, not too often."""
        if moment.structure != self._structure:
            self._list_targets()
            self._structure = moment.structure
        super().follow(moment)

    def _show(self, moment: Moment) -> None:
        super()._show(moment)
        self._follow_methods()

    def _plot(self, moment: Moment) -> None:
        if self._converging:
            self._draw_convergence()
        super()._plot(moment)

    def _status_lines(self, moment: Moment) -> list[str]:
        session = self.session
        held = [name for name, at in zip(session.model.coordinates, session.at_limit(moment.q), strict=True) if at]
        parts = self._refused() or [plain(moment.words or "Drag a target.")]
        if not moment.resting:
            parts += [f"- {plain(error)}" for error in moment.errors]
        if held:
            parts.append(f"At a limit: {plain(', '.join(held))}.")
        if moment.nearest is not None and math.isfinite(moment.nearest.distance):
            one, other = moment.nearest.pair
            parts.append(f"Nearest: {plain(one)} and {plain(other)}, {1e3 * moment.nearest.distance:.1f} mm.")
        if moment.seconds:
            parts.append(f"a solve of {1e6 * moment.seconds:,.0f} µs")
        return parts

    # Targets ---------------------------------------------------------------------------------------------------------

    def _add_targets(self) -> None:
        gui, session, model = self._gui, self.session, self.session.model
        self._targets = gui.add_folder(None)
        with gui.add_folder("Add a target"):
            kind = gui.add_dropdown("kind", tuple(TASK_KINDS), initial_value="pose")
            frame = gui.add_dropdown("frame", model.frames or ("world",), initial_value=model.tip)
            self._button("Add", lambda: session.attempt(lambda: session.add_task(new_task(kind.value, frame.value))))

        def show(many: Array) -> None:
            self._stage.show_solutions(many)
            hide.visible = len(many) > 0

        hint = "Every configuration that reaches the targets, as ghosts"
        self._button("All solutions", lambda: show(session.all_solutions()), hint=hint)
        hide = self._button("Hide them", lambda: show(np.zeros((0, model.nq))), visible=False)

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
            self._button("Remove", lambda: self.session.remove_task(k), color="red")

        def edited() -> None:
            most, rank = float(weight.value), int(priority.value)
            self.session.attempt(lambda: self.session.replace_task(k, _weighed(self.session.tasks[k], most, rank)))

        self._edits(edited, weight, priority)

    # Joints and obstacles --------------------------------------------------------------------------------------------

    def _add_places(self) -> None:
        session = self.session
        self._button("Reset", session.reset)
        self._button("Home", session.home)
        self._button("Random", lambda: session.random(self._rng))
        self._add_joints(lambda moment: moment.q, lambda: session.moment.q, session.put)

    def _add_heeding(self) -> None:
        gui, session = self._gui, self.session
        separate = gui.add_checkbox("keep apart", session.apart is not None, hint="A hard limit on distances")
        least = gui.add_number("least mm", 1e3 * LEAST, min=0.0, step=1.0)
        heed = gui.add_checkbox("heed in the null space", session.clearance is not None)
        gain = gui.add_number("gain", _GAIN, min=1e-4, step=0.01)
        self._edits(lambda: session.keep_apart(1e-3 * least.value if separate.value else None), separate, least)
        self._edits(lambda: session.heed(gain.value if heed.value else None), heed, gain)
        self._shows(separate, lambda _: session.apart is not None)
        self._shows(heed, lambda _: session.clearance is not None)

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

            def picked(chosen: Any = chosen, first: bool = first) -> None:
                method = None if chosen.value in (OWN, NO_GHOST) else chosen.value
                if first:
                    self.session.use(method)
                else:
                    self.session.compare(method, on=chosen.value != NO_GHOST)
                chosen.value = self._method_shown(first)[0]  # a choice that was refused goes back

            self._edits(picked, chosen)
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

        def edited() -> None:
            now = self.session.method if first else self.session.second
            if now is None:
                return
            value = widget.value
            if setting.kind == "number" and setting.optional and value == 0.0:
                value = math.inf
            made: list[Method] = []
            if self.session.attempt(lambda: made.append(changed(now, setting.path, value))):
                self.session.use(made[0]) if first else self.session.compare(made[0])

        self._edits(edited, widget)

    def _draw_convergence(self) -> None:
        found = self.session.convergence()
        longest = max((len(trace.error) for _, trace in found), default=0)
        curves = []
        for name, trace in found:
            row = np.full(longest, np.nan)
            row[: len(trace.error)] = np.log10(np.maximum(trace.error, 1e-17))
            curves.append((name, row))
        self._convergence.show(np.arange(float(longest)), curves)


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

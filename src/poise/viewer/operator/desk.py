"""The panel of the operator's program: the law's terms, desired joints, obstacles, attempts and files."""

import tempfile
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from poise.common.errors import InvalidValue
from poise.common.files import write_whole
from poise.methods.registry import METHODS
from poise.viewer.operator.attempt import Attempt
from poise.viewer.operator.keys import Windows
from poise.viewer.operator.moment import Snapshot
from poise.viewer.operator.program import Program
from poise.viewer.operator.scene import Unreadable
from poise.viewer.operator.table import table_of
from poise.viewer.operator.work import load_scene, load_work, save_scene, save_work
from poise.viewer.pages.recording import html_of_motion
from poise.viewer.panel.panel import Panel
from poise.viewer.panel.text import plain
from poise.viewer.panel.timeline import Timeline
from poise.viewer.scene.obstacles import rounded
from poise.viewer.scene.overlaid import Overlaid
from poise.viewer.scene.stage import Stage
from poise.viewer.server.downloads import download
from poise.viewer.server.viser_internals import empty

DAS: Final = "the law of Das et al."
NONE: Final = "none"
OVER: Final = {"green": (58, 155, 91), "violet": (154, 91, 208)}
"""The colours of the two attempts that are laid over the robot."""
_COMMANDS: Final = 100.0
"""Joint commands a second, unless it is told otherwise."""
_TERMS: Final = (
    ("position_stiffness", "K_p of positions", 0.0, 5.0),
    ("rotation_stiffness", "K_p of rotations", 0.0, 5.0),
    ("alpha", "alpha, a share of N / 2D", 0.05, 1.95),
    ("posture_gain", "K, to the desired joints", 0.0, 1.0),
    ("obstacle_gain", "K_obs, off obstacles", 0.0, 1.0),
    ("max_null_step", "largest null-space step", 0.01, 1.0),
)


@final
class Desk(Panel[Snapshot]):
    """Widgets that edit a program, and text that follows it; the attempt that is looked at, in the picture."""

    def __init__(self, windows: Windows, server: Any, program: Program, stage: Stage, dark: bool = False) -> None:
        self._windows, self._program = windows, program
        self._attempts: tuple[Attempt, ...] = ()
        self._timeline: Timeline | None = None
        windows.speed, windows.turning = rounded(0.2 * stage.size), 1.0
        super().__init__(server, program, stage, dark)
        self._overlaid = [
            Overlaid(server, f"/attempt-{name}", program.model, stage.parts, program.frame, tint)
            for name, tint in OVER.items()
        ]

    def _tabs(self) -> Mapping[str, Callable[[], object]]:
        return {
            "Guide": self._add_guide,
            "Law": self._add_control_law,
            "Desired": self._add_desired,
            "Obstacles": self._add_obstacles,
            "Attempts": self._add_attempts,
            "View": self._add_view,
        }

    def _edit(self, change: Callable[..., object], *given: Any, **settings: Any) -> bool:
        """Call one of the program's edits; False if it is refused."""
        return self._program.attempt(lambda: change(*given, **settings))

    # Following -------------------------------------------------------------------------------------------------------

    def follow(self, moment: Snapshot) -> None:
        """Bring all up to date, not too often; show the attempts that are looked at."""
        super().follow(moment)
        now = 0.0 if self._timeline is None else self._timeline.now()
        for place, one in zip(self._overlaid, self._looked_at(), strict=True):
            place.show(one.motion if one is not None and self._show_it.value else None, now)

    def _show(self, moment: Snapshot) -> None:
        super()._show(moment)
        self._pause.label = "Go on" if moment.paused else "Pause"
        self._record.label = "Stop recording" if moment.recording else "Record"
        # Work that is loaded again is equal to what is there, and not measured yet.
        if moment.attempts is not self._attempts:
            self._attempts = moment.attempts
            names = tuple(attempt.name for attempt in moment.attempts) or (NONE,)
            self._chosen.options, self._other.options = names, (NONE, *(name for name in names if name != NONE))
            self._chosen.value, self._other.value = names[-1], NONE
            self._look_at()
            # The first time, kernels are compiled for it.
            threading.Thread(target=lambda: [one.measures for one in moment.attempts], daemon=True).start()
        notes = {moment.committed: ["committed"]} if moment.committed is not None else {}
        for colour, one in zip(OVER, self._looked_at(), strict=True):
            if one is not None and self._show_it.value:
                notes.setdefault(one.name, []).append(colour)
        self._write("table", self._table, table_of(moment.attempts, notes))

    def _status_lines(self, moment: Snapshot) -> list[str]:
        parts = self._refused()
        if moment.trouble:
            parts.append(f"**{plain(moment.trouble)}**")
        doing = "paused" if moment.paused else "guiding"
        if moment.recording:
            doing += f", recording {plain(moment.recording)}"
        left = f"The hand is {1e3 * moment.position_error:.1f} mm from its target."
        return [*parts, f"{doing}, {moment.time:.1f} s", left]

    # Guide -----------------------------------------------------------------------------------------------------------

    def _add_guide(self) -> None:
        gui, program, windows = self._gui, self._program, self._windows
        gui.add_markdown(
            "Drag the handle, or hold arrow keys, PageUp and PageDown; with Shift they turn. A gamepad's sticks move "
            "too. Space pauses, R records."
        )
        most = windows.speed
        speed = gui.add_slider("speed m/s", min=0.0, max=10.0 * most, step=0.05 * most, initial_value=most)
        speed.on_update(lambda _: setattr(windows, "speed", float(speed.value)))
        turning = gui.add_slider("turning rad/s", min=0.0, max=4.0, step=0.01, initial_value=windows.turning)
        turning.on_update(lambda _: setattr(windows, "turning", float(turning.value)))
        axes = gui.add_dropdown("along the axes of the", ("base", "tool"), initial_value="base")
        axes.on_update(lambda _: setattr(windows, "frame", "tool" if axes.value == "tool" else "world"))
        self._pause = self._button("Pause", lambda: self._edit(program.toggle_pause))
        self._button("One update", lambda: self._edit(program.step))
        self._button("Back to the start", lambda: self._edit(program.reset))
        self._record = self._button("Record", lambda: self._edit(program.toggle_recording), color="red")

    # The law and the desired joints ----------------------------------------------------------------------------------

    def _add_control_law(self) -> None:
        gui, program = self._gui, self._program
        law = program.moment.setup.law
        method = gui.add_dropdown("led by", (DAS, *METHODS), initial_value=DAS)
        self._shows(method, lambda now: DAS if now.setup.method is None else now.setup.method.name)
        self._edits(lambda: self._edit(program.choose, None if method.value == DAS else method.value), method)
        for name, label, low, high in _TERMS:
            self._term(name, label, low, high, float(getattr(law, name)))
        self._switched("beta", "beta by the paper's rule", "beta", (0.0, 1.0, 1.0), on_is_none=True)
        self._switched("vehicle_limit", "S: slides first", "Q_lim", (0.01, 2.0, 0.1), on_is_none=False)
        updates = gui.add_slider("updates a tick", min=1, max=50, step=1, initial_value=program.moment.setup.updates)
        self._shows(updates, lambda now: now.setup.updates)
        self._edits(lambda: self._edit(program.keep, updates=int(updates.value)), updates)

    def _term(self, name: str, label: str, low: float, high: float, value: float) -> None:
        slider = self._gui.add_slider(label, min=low, max=high, step=0.01, initial_value=min(max(value, low), high))
        self._shows(slider, lambda now: getattr(now.setup.law, name))
        self._edits(lambda: self._edit(self._program.tune, **{name: float(slider.value)}), slider)

    def _switched(
        self, name: str, label: str, number: str, range: tuple[float, float, float], *, on_is_none: bool
    ) -> None:
        """A term that may be None: a box that says so, or its opposite, and a slider from, to and at first."""
        low, high, first = range
        value = getattr(self._program.moment.setup.law, name)
        box = self._gui.add_checkbox(label, (value is None) == on_is_none)
        at = first if value is None else min(max(value, low), high)
        slider = self._gui.add_slider(number, min=low, max=high, step=0.01, initial_value=at)
        self._shows(box, lambda now: (getattr(now.setup.law, name) is None) == on_is_none)
        self._shows(slider, lambda now: getattr(now.setup.law, name))

        def set_term() -> None:
            self._edit(self._program.tune, **{name: None if box.value == on_is_none else float(slider.value)})

        self._edits(set_term, box, slider)

    def _add_desired(self) -> None:
        program = self._program
        self._add_joints(
            lambda now: np.array(now.setup.desired),
            lambda: np.array(program.moment.setup.desired),
            lambda q: self._edit(program.desire, q),
        )
        self._button("As they are now", lambda: self._edit(program.desire, program.moment.q))

    # Obstacles -------------------------------------------------------------------------------------------------------

    def _add_heeding(self) -> None:
        gui, program = self._gui, self._program
        least = gui.add_number("least mm", 1e3 * program.moment.setup.min_distance, min=0.0, step=1.0)
        self._shows(least, lambda now: 1e3 * now.setup.min_distance)
        self._edits(lambda: self._edit(program.keep, min_distance=1e-3 * float(least.value)), least)
        own = gui.add_checkbox("links from links too", program.moment.setup.self_collision)
        self._shows(own, lambda now: now.setup.self_collision)
        self._edits(lambda: self._edit(program.keep, self_collision=bool(own.value)), own)

    def _add_heeded(self, name: str) -> None:
        program = self._program
        obstacle = program.moment.setup.obstacle(name)
        for field, label in (("repels", "repels (K_obs)"), ("stops", "stops (a hard limit)")):
            box = self._gui.add_checkbox(label, getattr(obstacle, field))
            box.on_update(
                lambda _, box=box, field=field: program.edit(
                    [name], lambda: program.heed(name, **{field: bool(box.value)})
                )
            )

    # Attempts --------------------------------------------------------------------------------------------------------

    def _add_attempts(self) -> None:
        gui, program = self._gui, self._program
        self._table = gui.add_markdown("")
        self._chosen = gui.add_dropdown("attempt", (NONE,), initial_value=NONE)
        self._other = gui.add_dropdown("laid over it", (NONE,), initial_value=NONE)
        for choice in (self._chosen, self._other):
            choice.on_update(lambda _: self._look_at())
        self._show_it = gui.add_checkbox("show it", False)
        self._timelines = gui.add_folder("timeline", visible=False)
        with gui.add_folder("the attempt"):
            self._button("Commit", lambda: self._edit(lambda: program.commit(self._one().name)))
            self._button("Discard", lambda: self._edit(lambda: program.discard(self._one().name)))
            rate = gui.add_number("commands a second", _COMMANDS, min=1.0, step=1.0)
            self._save("Commands as CSV", "commands.csv", lambda to: self._one().commands(float(rate.value)).save(to))
            self._save("Commands as NPZ", "commands.npz", lambda to: self._one().commands(float(rate.value)).save(to))
            self._save("A page that plays it", "attempt.html", lambda to: self._write_html(self._one(), to))
        with gui.add_folder("files"):
            self._save("Save the work", "work.npz", lambda to: save_work(to, program.work))
            self._save("Save the scene", "scene.json", lambda to: save_scene(to, program.moment.setup, program.model))
            work = gui.add_upload_button("Load work (.npz)", mime_type=".npz")
            work.on_upload(lambda _: self._load(work.value, ".npz"))
            scene = gui.add_upload_button("Load a scene (.json)", mime_type=".json")
            scene.on_upload(lambda _: self._load(scene.value, ".json"))

    def _looked_at(self) -> list[Attempt | None]:
        """The attempt that is chosen, and the one that is laid over it."""
        by_name = {one.name: one for one in self._attempts}
        return [by_name.get(choice.value) for choice in (self._chosen, self._other)]

    def _one(self) -> Attempt:
        """The attempt that is chosen; raises ValueError where there is none."""
        one = self._looked_at()[0]
        if one is None:
            raise InvalidValue("needs", "there is no attempt yet: record one")
        return one

    def _look_at(self) -> None:
        """A timeline for the attempts that are chosen, as long as the longer one."""
        empty(self._timelines)
        durations = [one.duration for one in self._looked_at() if one is not None]
        self._timelines.visible = len(durations) > 0
        if durations:
            with self._timelines:
                self._timeline = Timeline(self._gui, max(durations), plays=False)

    # Files -----------------------------------------------------------------------------------------------------------

    def _save(self, label: str, name: str, write: Callable[[Path], object]) -> None:
        download(self._gui, label, name, write, self._program.attempt)

    def _write_html(self, one: Attempt, to: Path) -> None:
        shapes = {obstacle.name: obstacle.shape for obstacle in one.setups[-1][1].obstacles}
        write_whole(to, html_of_motion(one.motion, self._stage.parts, shapes))

    def _load(self, upload: Any, kind: str) -> None:
        """Take over an uploaded file, which our own readers read and nothing else."""
        program = self._program

        def apply() -> None:
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / f"upload{kind}"
                write_whole(file, upload.content)
                try:
                    program.load(load_scene(file, program.model)) if kind == ".json" else program.open_work(
                        load_work(file, program.model)
                    )
                except Unreadable as error:
                    raise Unreadable(str(error).replace(str(file), upload.name)) from error

        if self._edit(apply):
            self._stage.obstacles.select(None)

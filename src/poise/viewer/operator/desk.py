"""The panel of the operator's program: the law's terms, desired joints, obstacles, attempts and files."""

import math
import tempfile
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, Literal, final

from poise.methods.registry import METHODS
from poise.model.joint import JointKind
from poise.motion.clip import Motion
from poise.viewer.obstacles import made, measured, measures
from poise.viewer.operator.attempt import Attempt
from poise.viewer.operator.measures import Measures
from poise.viewer.operator.program import Program, Snapshot
from poise.viewer.operator.scene import Unreadable, read_scene, scene_text
from poise.viewer.operator.setup import Setup
from poise.viewer.operator.work import load_work, save_work
from poise.viewer.recording import html_of_motion
from poise.viewer.text import plain
from poise.viewer.viser_internals import empty

if TYPE_CHECKING:
    from poise.viewer.operator.page import OperatorPage

LAW: Final = "the law of Das et al."
NONE: Final = "none"
_PERIOD: Final = 0.1
"""How often text and sliders are brought up to date [s]."""
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
class Desk:
    """Widgets that edit a program, and text that follows it."""

    def __init__(self, server: Any, page: "OperatorPage") -> None:
        self._page, self._gui = page, server.gui
        self._program: Program = page.program
        self._said = 0.0
        self._attempts: tuple[Attempt, ...] = ()
        self._texts: dict[str, str] = {}
        self._shown: list[tuple[Any, Callable[[Setup], Any]]] = []
        self._select_soon: str | None = None
        self.axes: Literal["base", "tool"] = "base"
        """Along which held keys move."""
        gui = self._gui
        self._words = gui.add_markdown("")
        tabs = gui.add_tab_group()
        with tabs.add_tab("Guide"):
            self._add_guide()
        with tabs.add_tab("Law"):
            self._add_law()
        with tabs.add_tab("Desired"):
            self._add_desired()
        with tabs.add_tab("Obstacles"):
            self._add_obstacles()
        with tabs.add_tab("Attempts"):
            self._add_attempts()

    # Following -------------------------------------------------------------------------------------------------------

    def follow(self, snapshot: Snapshot) -> None:
        """Bring texts up to date, not too often; show the attempt that is looked at."""
        if self._select_soon in [obstacle.name for obstacle in snapshot.setup.obstacles]:
            name, self._select_soon = self._select_soon, None
            self._page.obstacles.select(name)
        self._replay()
        now = perf_counter()
        if now - self._said < _PERIOD:
            return
        self._said = now
        self._say(snapshot)
        self._pause.label = "Go on" if snapshot.paused else "Pause"
        self._record.label = "Stop recording" if snapshot.recording else "Record"
        if snapshot.attempts != self._attempts:
            self._attempts = snapshot.attempts
            names = tuple(attempt.name for attempt in snapshot.attempts) or (NONE,)
            self._chosen.options = names
            self._chosen.value = names[-1]
            self._look_at()
            # The first time, kernels are compiled for it.
            threading.Thread(target=lambda: [one.measures for one in snapshot.attempts], daemon=True).start()
        self._write("table", self._table, table_of(snapshot.attempts, snapshot.committed))

    def _say(self, snapshot: Snapshot) -> None:
        parts = []
        if self._page.refusal:
            parts.append(f"**Refused:** {plain(self._page.refusal)}")
        if snapshot.trouble:
            parts.append(f"**{plain(snapshot.trouble)}**")
        doing = "paused" if snapshot.paused else "guiding"
        if snapshot.recording:
            doing += f", recording {plain(snapshot.recording)}"
        parts.append(f"{doing}, {snapshot.time:.1f} s")
        parts.append(f"The hand is {1e3 * snapshot.position_error:.1f} mm from its target.")
        self._write("words", self._words, "\n\n".join(parts))

    def _write(self, key: str, handle: Any, text: str) -> None:
        if self._texts.get(key) != text:
            self._texts[key] = text
            handle.content = text

    def _shows(self, widget: Any, read: Callable[[Setup], Any]) -> None:
        """Let a widget show what is set, whenever it is set by something else; None: it stays."""
        self._shown.append((widget, read))

    def _show_setup(self) -> None:
        """Bring the widgets to what is set."""
        setup = self._program.snapshot.setup
        for widget, read in self._shown:
            value = read(setup)
            if value is not None:
                bounded = hasattr(widget, "step") and hasattr(widget, "max") and widget.max is not None
                widget.value = min(max(value, widget.min), widget.max) if bounded else value

    def _edits(self, widget: Any, edit: Callable[[], object]) -> None:
        """Call `edit` when a hand has changed a widget."""
        widget.on_update(lambda event: edit() if event.client is not None else None)

    # Guide -----------------------------------------------------------------------------------------------------------

    def _add_guide(self) -> None:
        gui, page, program = self._gui, self._page, self._program
        gui.add_markdown(
            "Drag the handle, or hold arrow keys, PageUp and PageDown; with Shift they turn. A gamepad's sticks move "
            "too. Space pauses, R records."
        )
        speed = gui.add_slider(
            "speed m/s", min=0.0, max=10.0 * page.speed, step=0.05 * page.speed, initial_value=page.speed
        )
        speed.on_update(lambda _: setattr(page, "speed", float(speed.value)))
        turning = gui.add_slider("turning rad/s", min=0.0, max=4.0, step=0.01, initial_value=page.turning)
        turning.on_update(lambda _: setattr(page, "turning", float(turning.value)))
        axes = gui.add_dropdown("along the axes of the", ("base", "tool"), initial_value="base")
        axes.on_update(lambda _: setattr(self, "axes", axes.value))
        self._pause = self._button("Pause", self.toggle_pause)
        self._button("One update", lambda: page.edit(program.step))
        self._button("Back to the start", lambda: page.edit(program.reset))
        self._record = self._button("Record", self.toggle_recording, color="red")

    def toggle_pause(self) -> None:
        """Pause, or go on."""
        program = self._program
        self._page.edit(program.resume if program.snapshot.paused else program.pause)

    def toggle_recording(self) -> None:
        """Begin an attempt, or end it."""
        program = self._program
        self._page.edit(program.stop if program.snapshot.recording else program.record)

    # The law ---------------------------------------------------------------------------------------------------------

    def _add_law(self) -> None:
        gui, page, program = self._gui, self._page, self._program
        law = program.snapshot.setup.law
        method = gui.add_dropdown("led by", (LAW, *METHODS), initial_value=LAW)
        self._shows(method, lambda setup: LAW if setup.method is None else setup.method.name)

        def choose(event: Any) -> None:
            name = None if method.value == LAW else method.value
            if event.client is not None and not page.edit(program.choose, name):
                self._show_setup()

        method.on_update(choose)
        for name, label, low, high in _TERMS:
            self._term(name, label, low, high, float(getattr(law, name)))
        rule = gui.add_checkbox("beta by the paper's rule", law.beta is None)
        beta = gui.add_slider("beta", min=0.0, max=1.0, step=0.01, initial_value=1.0 if law.beta is None else law.beta)

        self._shows(rule, lambda setup: setup.law.beta is None)
        self._shows(beta, lambda setup: setup.law.beta)

        def set_beta(event: Any) -> None:
            if event.client is not None:
                page.edit(program.tune, beta=None if rule.value else float(beta.value))

        rule.on_update(set_beta)
        beta.on_update(set_beta)
        weigh = gui.add_checkbox("S: slides first", law.vehicle_limit is not None)
        limit = gui.add_slider("Q_lim", min=0.01, max=2.0, step=0.01, initial_value=law.vehicle_limit or 0.1)

        self._shows(weigh, lambda setup: setup.law.vehicle_limit is not None)
        self._shows(limit, lambda setup: setup.law.vehicle_limit)

        def set_limit(event: Any) -> None:
            if event.client is not None:
                page.edit(program.tune, vehicle_limit=float(limit.value) if weigh.value else None)

        weigh.on_update(set_limit)
        limit.on_update(set_limit)
        updates = gui.add_slider("updates a tick", min=1, max=50, step=1, initial_value=program.snapshot.setup.updates)
        self._shows(updates, lambda setup: setup.updates)
        self._edits(updates, lambda: page.edit(program.keep, updates=int(updates.value)))

    def _term(self, name: str, label: str, low: float, high: float, value: float) -> None:
        slider = self._gui.add_slider(label, min=low, max=high, step=0.01, initial_value=min(max(value, low), high))
        self._shows(slider, lambda setup: getattr(setup.law, name))
        self._edits(slider, lambda: self._page.edit(self._program.tune, **{name: float(slider.value)}))

    # Desired joints --------------------------------------------------------------------------------------------------

    def _add_desired(self) -> None:
        page, program = self._page, self._program
        sliders = {}
        desired = program.snapshot.setup.desired
        for joint in program.model.joints:
            if joint.nq == 1 and joint.mimic is None:
                at = program.model.index(joint.name).start
                most = page.size if joint.kind is JointKind.PRISMATIC else math.pi
                low, high = float(program.model.lower[at]), float(program.model.upper[at])
                low, high = low if math.isfinite(low) else -most, high if math.isfinite(high) else most
                sliders[at] = self._gui.add_slider(
                    joint.name, min=low, max=high, step=1e-3, initial_value=min(max(desired[at], low), high)
                )

        def slid(event: Any) -> None:
            if event.client is not None:
                q = list(program.snapshot.setup.desired)
                for at, slider in sliders.items():
                    q[at] = float(slider.value)
                page.edit(program.desire, q)

        for at, slider in sliders.items():
            slider.on_update(slid)
            self._shows(slider, partial(_desired, at))

        def here() -> None:
            if page.edit(program.desire, program.snapshot.q):
                self._show_setup()

        self._button("As they are now", here)

    # Obstacles -------------------------------------------------------------------------------------------------------

    def _add_obstacles(self) -> None:
        gui, page, program = self._gui, self._page, self._program
        add = gui.add_button_group("add", ("sphere", "box", "capsule"))

        @add.on_click  # type: ignore[untyped-decorator]
        def clicked(_: Any) -> None:
            names = [obstacle.name for obstacle in program.snapshot.setup.obstacles]
            name = next(n for n in map(f"{add.value} {{}}".format, range(1, len(names) + 2)) if n not in names)
            x, y, z = program.snapshot.hand.xyz.tolist()
            shape = made(add.value, (x, y + 0.3 * page.size, z), page.size)
            if page.edit(program.add, name, shape):
                self._select_soon = name

        least = gui.add_number("least mm", 1e3 * program.snapshot.setup.min_distance, min=0.0, step=1.0)
        self._shows(least, lambda setup: 1e3 * setup.min_distance)
        self._edits(least, lambda: page.edit(program.keep, min_distance=1e-3 * float(least.value)))
        own = gui.add_checkbox("links from links too", program.snapshot.setup.self_collision)
        self._shows(own, lambda setup: setup.self_collision)
        self._edits(own, lambda: page.edit(program.keep, self_collision=bool(own.value)))
        self._obstacle = gui.add_folder("selected", visible=False)
        page.obstacles.on_select = self._selected

    def _selected(self, name: str | None) -> None:
        """What can be changed of the obstacle that has the gizmo."""
        empty(self._obstacle)
        page, program = self._page, self._program
        # It may be gone by now: any thread may take it away.
        obstacle = next((one for one in program.snapshot.setup.obstacles if one.name == name), None)
        self._obstacle.visible = obstacle is not None
        if name is None or obstacle is None:
            return
        with self._obstacle:
            self._gui.add_markdown(f"**{plain(name)}**")
            kinds = ("sphere", "box", "capsule")
            kind = self._gui.add_dropdown("shape", kinds, initial_value=type(obstacle.shape).__name__.lower())
            sizes = {
                measure: self._gui.add_number(f"{measure} m", value, min=0.0, step=0.01)
                for measure, value in measures(obstacle.shape).items()
            }
            repels = self._gui.add_checkbox("repels (K_obs)", obstacle.repels)
            stops = self._gui.add_checkbox("stops (a hard limit)", obstacle.stops)
            self._button("Delete", lambda: page.edit(program.remove, name))

        def sized(event: Any) -> None:
            if event.client is not None:
                values = {measure: float(widget.value) for measure, widget in sizes.items()}
                page.edit(lambda: program.reshape(name, measured(program.snapshot.setup.obstacle(name).shape, values)))

        def reshaped(event: Any) -> None:
            if event.client is not None and page.edit(remade):
                self._selected(name)

        def remade() -> None:
            x, y, z = program.snapshot.setup.obstacle(name).shape.pose.xyz.tolist()
            program.reshape(name, made(kind.value, (x, y, z), page.size))

        for widget in sizes.values():
            widget.on_update(sized)
        kind.on_update(reshaped)
        repels.on_update(lambda _: page.edit(program.heed, name, repels=bool(repels.value)))
        stops.on_update(lambda _: page.edit(program.heed, name, stops=bool(stops.value)))

    # Attempts --------------------------------------------------------------------------------------------------------

    def _add_attempts(self) -> None:
        gui = self._gui
        self._table = gui.add_markdown("")
        self._chosen = gui.add_dropdown("attempt", (NONE,), initial_value=NONE)
        self._chosen.on_update(lambda _: self._look_at())
        self._show = gui.add_checkbox("show it", False)
        self._play = gui.add_checkbox("play it", False)
        self._timeline: Any = None
        self._timelines = gui.add_folder("timeline", visible=False)
        self._last = perf_counter()
        with gui.add_folder("the attempt"):
            self._button("Commit", lambda: self._with_attempt(lambda one: self._program.commit(one.name)))
            self._button("Discard", lambda: self._with_attempt(lambda one: self._program.discard(one.name)))
            rate = gui.add_number("commands a second", _COMMANDS, min=1.0, step=1.0)
            self._download("Commands as CSV", "commands.csv", lambda one, to: one.to_csv(to, rate=float(rate.value)))
            self._download("Commands as NPZ", "commands.npz", lambda one, to: one.to_npz(to, rate=float(rate.value)))
            self._download("A page that plays it", "attempt.html", self._write_html)
        with gui.add_folder("files"):
            self._save("Save the work", "work.npz", lambda to: save_work(to, self._program.work))
            self._save("Save the scene", "scene.json", self._write_scene)
            work = gui.add_upload_button("Load work (.npz)", mime_type=".npz")
            work.on_upload(lambda _: self._load(work.value, ".npz"))
            scene = gui.add_upload_button("Load a scene (.json)", mime_type=".json")
            scene.on_upload(lambda _: self._load(scene.value, ".json"))

    def _attempt(self) -> Attempt | None:
        return next((one for one in self._attempts if one.name == self._chosen.value), None)

    def _with_attempt(self, do: Callable[[Attempt], object]) -> None:
        one = self._attempt()
        if one is None:
            self._page.refusal = "there is no attempt yet: record one"
        else:
            self._page.edit(do, one)

    def _look_at(self) -> None:
        """A timeline for the attempt that is chosen."""
        if self._timeline is not None:
            self._timeline.remove()
            self._timeline = None
        one = self._attempt()
        self._timelines.visible = one is not None
        if one is not None:
            with self._timelines:
                self._timeline = self._gui.add_slider(
                    "time s", min=0.0, max=max(round(one.duration, 3), 1e-3), step=1e-3, initial_value=0.0
                )

    def _replay(self) -> None:
        one, now = self._attempt(), perf_counter()
        passed, self._last = now - self._last, now
        self._page.shown.visible = bool(self._show.value) and one is not None
        if one is None or self._timeline is None or not self._show.value:
            return
        if self._play.value:
            self._timeline.value = (float(self._timeline.value) + passed) % self._timeline.max
        self._page.shown.place(one.at(float(self._timeline.value)).q)

    # Files -----------------------------------------------------------------------------------------------------------

    def _download(self, label: str, name: str, write: Callable[[Attempt, Path], object]) -> None:
        """A button that sends a file of the chosen attempt to the window that asks."""

        def written(to: Path) -> None:
            one = self._attempt()
            if one is None:
                raise ValueError("there is no attempt yet: record one")
            write(one, to)

        self._save(label, name, written)

    def _save(self, label: str, name: str, write: Callable[[Path], object]) -> None:
        button = self._gui.add_button(label)

        @button.on_click  # type: ignore[untyped-decorator]
        def clicked(event: Any) -> None:
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / name
                if self._page.edit(write, file) and event.client is not None:
                    event.client.send_file_download(name, file.read_bytes(), save_immediately=True)

    def _write_scene(self, to: Path) -> None:
        to.write_text(scene_text(self._program.snapshot.setup, self._program.model), encoding="utf-8")

    def _write_html(self, one: Attempt, to: Path) -> None:
        shapes = {obstacle.name: obstacle.shape for obstacle in one.setups[-1][1].obstacles}
        motion = Motion(one.model, one.time, one.q)
        to.write_text(html_of_motion(motion, self._page.parts, shapes), encoding="utf-8")

    def _load(self, upload: Any, kind: str) -> None:
        """Take over an uploaded file, which our own readers read and nothing else."""
        program = self._program

        def take() -> None:
            if kind == ".json":
                program.load(read_scene(_text(upload), program.model, upload.name))
                return
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / "work.npz"
                file.write_bytes(upload.content)
                try:
                    work = load_work(file, program.model)
                except Unreadable as error:
                    raise Unreadable(str(error).replace(str(file), upload.name)) from error
            program.take_up(work)

        if self._page.edit(take):
            self._show_setup()
            self._page.obstacles.select(None)

    def _button(self, label: str, go: Callable[[], object], **look: Any) -> Any:
        button = self._gui.add_button(label, **look)
        button.on_click(lambda _: go())
        return button


def _desired(at: int, setup: Setup) -> float:
    return setup.desired[at]


def _text(upload: Any) -> str:
    try:
        return str(upload.content.decode("utf-8"))
    except UnicodeDecodeError:
        raise Unreadable(f"{upload.name} is no scene: a scene is text; save it again from the program") from None


def table_of(attempts: tuple[Attempt, ...], committed: str | None) -> str:
    """The attempts side by side, in Markdown; dots for those that are being measured."""
    if not attempts:
        return "No attempt yet."
    rows: list[tuple[str, Callable[[Measures], str]]] = [
        ("length of the joints", lambda m: f"{m.joint_length:.2f}"),
        ("way of the hand m", lambda m: f"{m.hand_length:.2f}"),
        ("clearance mm", lambda m: "" if m.clearance is None else f"{1e3 * m.clearance:.1f}"),
        ("worst joint speed", lambda m: f"{m.worst_speed:.2f}"),
        ("singular poses met", lambda m: str(m.singular_poses)),
        ("error of the hand mm", lambda m: f"{1e3 * m.position_error:.1f}"),
        ("duration s", lambda m: f"{m.duration:.1f}"),
    ]
    names = [plain(one.name) + (" (committed)" if one.name == committed else "") for one in attempts]
    lines = [f"| | {' | '.join(names)} |", f"|---|{'--:|' * len(attempts)}"]
    for label, write in rows:
        cells = [write(one.measures) if one.measured else "..." for one in attempts]
        lines.append(f"| {label} | {' | '.join(cells)} |")
    return "\n".join(lines)

"""The operator's program in the browser: the loop that guides, the picture, and what the keys ask for."""

from typing import Any, Final, final

from poise.spatial import SE3
from poise.viewer.appearance import appearance
from poise.viewer.figure import Figure
from poise.viewer.hand import Phase, on_pull
from poise.viewer.held import Held
from poise.viewer.obstacles import Obstacles, rounded
from poise.viewer.operator.desk import Desk
from poise.viewer.operator.keys import CLAIMED, PAUSE, RECORD, Windows
from poise.viewer.operator.program import REFUSALS, Program
from poise.viewer.page import Page
from poise.viewer.server import serve
from poise.viewer.stage import ground

RATE: Final = 60.0
"""Updates of the law a second, and pictures."""
_ATTEMPT: Final = (58, 155, 91)
_TARGET: Final = "/target"


@final
class OperatorPage(Page):
    """A `Program` that is guided from the browser; leaving its `with` block closes it."""

    def __init__(
        self, program: Program, *, look: Any = None, host: str = "127.0.0.1", port: int = 8080, dark: bool = False
    ) -> None:
        self.program = program
        self.parts = appearance(program.model, look=look)
        self._windows = Windows()
        self.speed, self.turning = 0.0, 0.0
        """What a key that is held is worth [m/s] and [rad/s]."""
        self.refusal = ""
        """Why the last edit was refused; empty if it was not."""
        super().__init__(
            serve(host=host, port=port, title=f"{program.model.name}: operator", on_input=self._input),
            dark=dark,
            width="large",
        )
        with self._made():
            self._add(dark=dark)
            self._paint()
        self.guide = self._loop("operator", RATE, self._tick)
        self.painter = self._loop("painter", RATE, self._paint)

    def _add(self, *, dark: bool) -> None:
        """The robot, the attempt that is looked at, obstacles, the handle and the panel."""
        page, program = self.server.viser, self.program
        self.server.claim(CLAIMED)
        self.size, *_ = ground(page, program.model, program.snapshot.q, self.parts, dark=dark)
        self.speed, self.turning = rounded(0.2 * self.size), 1.0
        self.figure = Figure(page, "/robot", program.model, self.parts)
        self.shown = Figure(page, "/attempt", program.model, self.parts, tint=_ATTEMPT)
        self.shown.visible = False
        self.obstacles = Obstacles(page, self.size, lambda name, pose: self.edit(lambda: program.move(name, SE3(pose))))
        self._held = False
        self._target = self._gizmo(page)
        self.desk = Desk(page, self)

    def edit(self, change: Any, *arguments: Any, **settings: Any) -> bool:
        """Call one of the program's edits; False, and a `refusal` that says why, if it makes no sense."""
        try:
            change(*arguments, **settings)
        except (*REFUSALS, KeyError, OSError) as error:
            self.refusal = " ".join(str(error).split())
            return False
        self.refusal = ""
        return True

    def _tick(self) -> None:
        linear, angular = self._windows.wished()
        drive = self.program.snapshot.drive
        wished = (tuple(self.speed * x for x in linear), tuple(self.turning * x for x in angular), self.desk.axes)
        if wished != (drive.linear, drive.angular, drive.axes):
            self.edit(self.program.drive, wished[0], wished[1], axes=wished[2])
        self.program.tick(1.0 / RATE)

    def _input(self, client: int, held: Held) -> None:
        """On the server's own thread, so it only says what is to be done; a window may be there before the panel."""
        for key in self._windows.update(client, held) if self._loops else ():
            if key == PAUSE:
                self.desk.toggle_pause()
            elif key == RECORD:
                self.desk.toggle_recording()

    def _paint(self) -> None:
        snapshot = self.program.snapshot
        self.figure.place(snapshot.q)
        self.obstacles.paint({obstacle.name: obstacle.shape for obstacle in snapshot.setup.obstacles})
        if not self._held:
            pose = snapshot.target.array.tolist()
            self._target.position, self._target.wxyz = tuple(pose[:3]), tuple(pose[3:])
        self.desk.follow(snapshot)

    def _gizmo(self, page: Any) -> Any:
        """A handle on the target."""
        gizmo = page.scene.add_transform_controls(
            _TARGET, scale=0.15 * self.size, disable_rotations=not self.program.turns, depth_test=False
        )

        def pulled(phase: Phase, pose: list[float]) -> None:
            self._held = True
            self.edit(lambda: self.program.aim(SE3(pose)))
            self._held = phase != "end"

        on_pull(gizmo, pulled)
        return gizmo

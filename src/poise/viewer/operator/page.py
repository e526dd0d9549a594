"""The operator's program in the browser: what leads it there, and what keys ask for."""

from functools import partial
from typing import Final, final

from poise.viewer.operator.desk import Desk
from poise.viewer.operator.keys import CLAIMED, PAUSE, RECORD, Windows
from poise.viewer.operator.program import Program
from poise.viewer.pages.page import GuidedPage
from poise.viewer.scene.appearance import Look
from poise.viewer.server.input_state import InputState

RATE: Final = 60.0
"""Updates of the law a second."""


@final
class OperatorPage(GuidedPage):
    """A `Program` that is guided from the browser; leaving its `with` block closes it."""

    def __init__(
        self,
        program: Program,
        *,
        look: Look | None = None,
        host: str = "127.0.0.1",
        port: int = 8080,
        dark: bool = False,
    ) -> None:
        self.program, self.windows = program, Windows()
        super().__init__(
            program, partial(Desk, self.windows), self._tick, RATE, look=look, host=host, port=port, dark=dark,
            title=f"{program.model.name}: operator", width="large", on_input=self._input,
        )  # fmt: skip
        self.server.claim(CLAIMED)

    def _tick(self) -> None:
        linear, angular, frame = commanded = self.windows.commanded()
        drive = self.program.moment.drive
        if commanded != (drive.linear, drive.angular, drive.frame):
            self.program.attempt(lambda: self.program.drive(linear, angular, frame=frame))
        self.program.tick(1.0 / RATE)

    def _input(self, client: int, state: InputState) -> None:
        """On the server's own thread, so it only says what is to be done; a window may be there before the panel."""
        for key in self.windows.update(client, state) if self._loops else ():
            if key == PAUSE:
                self.program.attempt(self.program.toggle_pause)
            elif key == RECORD:
                self.program.attempt(self.program.toggle_recording)

"""`poise view`: a robot in the browser."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from tyro.conf import Positional, arg

import poise as pz
from poise.cli.command import Answer, Base, Writes, command
from poise.common.errors import InvalidValue

if TYPE_CHECKING:
    from poise.model.model import Model
    from poise.viewer.pages.page import Page


@command
class View(Writes):
    """Show a robot in the browser: drag its targets, and it follows; Ctrl-C ends it.

    The page is served on this machine alone, unless --host says otherwise.
    """

    robot: Positional[str | None] = None
    """A known name (panda, ur5e, planar3 ...) or a file; with --operate also ten-links and truck, of the paper."""
    operate: bool = False
    """The operator's program of Das, Slotine and Sheridan: guide a hand by keys, stick or handle among obstacles."""
    work: Path | None = None
    """With --operate: go on with this .npz, which the program saved."""
    frame: Annotated[tuple[str, ...], arg(metavar="FRAME ...")] = ()
    """The frames to lead, each by its pose; left out, the end of the longest chain."""
    method: str | None = None
    """Short name of the method; left out, the solver's own way."""
    q0: Annotated[tuple[float, ...] | None, arg(metavar="Q ...")] = None
    """Where the robot begins, nq numbers [rad or m]; left out, its home."""
    look: Literal["visual", "collision", "skeleton"] | None = None
    """What is drawn of it; left out, the first of these that a link has."""
    replay: Path | None = None
    """Play a motion instead: of the robot a .csv with a column a joint, or .npz; of no robot any that
    brings a skeleton, such as .bvh, .glb, .vrm, or the .npz of an SMPL body."""
    ghost: Path | None = None
    """With --replay: what it follows, a .bvh, .glb or another with a skeleton, beside it; a .csv or .npz of the same
    robot, over it."""
    record: Path | None = None
    """Keep what happens in one .html that plays without a server; a --replay is written at once, and no page opened."""
    screenshot: Path | None = None
    """Write one .png of the page and end; needs playwright and chromium."""
    host: str = "127.0.0.1"
    """Where to serve; another host opens the page to others, who need no password."""
    port: int = 8080
    """Where to serve; the next one that is free if it is taken."""
    dark: bool = False
    """Dark colours."""
    base: Base = "fixed"
    """How the robot stands in the world; it floats where a --replay moves it."""

    def run(self) -> Answer:
        """Load, show, and stay until Ctrl-C."""
        from poise.cli.output import refuse_file

        refuse_file(self.record, (".html", ".htm"), "a recording goes", force=self.force)
        refuse_file(self.screenshot, (".png",), "a screenshot goes", force=self.force)
        if self.work is not None and not self.operate:
            raise InvalidValue("needs", "--work is what the operator's program saved: add --operate")
        if self.ghost is not None and self.replay is None:
            raise InvalidValue("needs", "--ghost goes beside a motion that is played: add --replay")
        if self.operate:
            return self._operate()
        if self.replay is not None and _brings_skeleton(self.replay):
            return self._play(None)
        if self.robot is None:
            raise InvalidValue(
                "needs", "no robot is named: give a known name or a file, as in `poise view panda`, or --operate"
            )
        if (answer := self._of_packages(Path(self.robot))) is not None:
            return answer
        model = pz.load(self.robot, base=self._grounding())
        if self.replay is not None:
            return self._play(model)
        from poise.viewer.app import view

        tasks = [pz.PoseTask(frame) for frame in self.frame] or None
        viewer = view(
            model, tasks, q=self.q0, method=self.method, look=self.look, host=self.host, port=self.port,
            dark=self.dark, block=False,
        )  # fmt: skip
        return self._show(viewer, f"{model.name} is shown")

    def _of_packages(self, file: Path) -> Answer | None:
        """The page that a package beside poise makes of a file which is no robot's; None where none does."""
        from poise.io import SUFFIXES

        if self.replay is not None or file.suffix.lower() in SUFFIXES or not file.is_file():
            return None
        from poise.viewer.app import page_beside

        if self.record is not None:
            raise InvalidValue("not-supported", f"--record keeps what a robot does; leave it out for {file}")
        page = page_beside(file, look=self.look, host=self.host, port=self.port, dark=self.dark)
        return None if page is None else self._show(page, f"{page.server.title} is shown")

    def _show(self, page: "Page", message: str) -> Answer:
        """What happens there, kept or looked at."""
        from poise.viewer.pages.page import GuidedPage

        with page:
            if self.record is not None and isinstance(page, GuidedPage):
                page.record(self.record)
            if self.screenshot is not None:
                self._shoot(page)
            else:
                page.serve(message)
        return self._answer(message)

    def _answer(self, message: str) -> Answer:
        """What was shown, and what is left of it."""
        from poise.cli.output import say

        written = [str(file) for file in (self.record, self.screenshot) if file is not None]
        return Answer(
            facts={"robot": self.robot, "written": written},
            show=lambda: say("\n".join(f"written: {file}" for file in written)) if written else None,
            explanation=f"{message}, until the page was closed; what is left of it is "
            f"{' and '.join(written) or 'nothing, for that --record is there'}.",
        )

    def _shoot(self, page: "Page") -> None:
        from poise.viewer.server.snapshot import screenshot

        assert self.screenshot is not None
        screenshot(page.server.viser, page.url, self.screenshot)

    def _operate(self) -> Answer:
        from poise.viewer.operator.page import OperatorPage
        from poise.viewer.operator.program import Program
        from poise.viewer.operator.robots import ROBOTS
        from poise.viewer.operator.work import load_work
        from poise.viewer.session.aims import turns_too

        if self.replay is not None or self.method is not None or len(self.frame) > 1:
            raise InvalidValue(
                "conflict",
                "--operate has its own choice of methods, and guides one frame: leave out --replay, --method and other "
                "frames",
            )
        if self.robot is None or self.robot in ROBOTS:
            chosen = ROBOTS[self.robot or "ten-links"]()
            model, frame, start = chosen.model, chosen.frame, chosen.start
        else:
            model = pz.load(self.robot, base=self.base)
            frame, start = model.tip, tuple(model.home.tolist())
        frame = self.frame[0] if self.frame else frame
        # The turn of a hand is guided where there are joints for it.
        program = Program(model, frame, turns=turns_too(model, frame), start=start if self.q0 is None else self.q0)
        if self.work is not None:
            program.open_work(load_work(self.work, model))
        page = OperatorPage(program, look=self.look, host=self.host, port=self.port, dark=self.dark)
        return self._show(page, f"{model.name} is guided")

    def _grounding(self) -> Base:
        """The base, which floats where it is left out and what is replayed moves it."""
        from poise.motion.tables import moves_root

        if self.base == "fixed" and self.replay is not None and moves_root(self.replay):
            return "floating"
        return self.base

    @property
    def _skeleton(self) -> bool:
        """Whether the ghost's file brings its own."""
        return self.ghost is not None and _brings_skeleton(self.ghost)

    def _play(self, model: "Model | None") -> Answer:
        """The motion of a robot, or of the skeleton that its file brings."""
        from poise.motion.clip import load_motion
        from poise.viewer.operator.replay import Replay

        assert self.replay is not None
        if model is None and self.robot is not None:
            raise InvalidValue(
                "conflict", f"{self.replay} brings a skeleton of its own, which is played: leave {self.robot} out"
            )
        motion = load_motion(self.replay, model=model)
        ghost = None if self.ghost is None else load_motion(self.ghost, model=None if self._skeleton else motion.model)
        with Replay(
            motion.model, motion, host=self.host, port=self.port, dark=self.dark, look=self.look, ghost=ghost
        ) as shown:
            if self.record is not None:
                shown.record(self.record)
            if self.screenshot is not None:
                self._shoot(shown)
            if self.record is None and self.screenshot is None:
                shown.serve(f"{self.replay} is played")
        return self._answer(f"{self.replay} is played")


def _brings_skeleton(file: Path) -> bool:
    from poise.motion.clip import brings_skeleton

    return brings_skeleton(file)

"""The viewer: a session, the loop that goes on with it, the page that shows it."""

import os
from collections.abc import Sequence
from typing import Any, Final, cast, final

from poise.common.array import ArrayLike
from poise.common.beside import PAGES, brought, points
from poise.common.errors import InvalidType, InvalidValue
from poise.geometry.world import World
from poise.methods.base import Method
from poise.model.model import Model, a_model
from poise.motion.clip import Motion
from poise.tasks.base import Task
from poise.viewer.operator.replay import Replay
from poise.viewer.pages.page import GuidedPage, Page
from poise.viewer.panel.session_panel import SessionPanel
from poise.viewer.scene.appearance import Look
from poise.viewer.session.aims import default_task
from poise.viewer.session.session import Session

RATE: Final = 120.0
"""Ticks of the solver's loop a second."""


@final
class Viewer(GuidedPage):
    """A robot in the browser, and its solver in a loop of its own; leaving its `with` block closes it.

    `session` is what is shown, `server` the page's server.  All of it may be changed from any thread.
    """

    def __init__(
        self,
        session: Session,
        *,
        look: Look | None = None,
        host: str = "127.0.0.1",
        port: int = 8080,
        dark: bool = False,
    ) -> None:
        self.session = session
        super().__init__(session, SessionPanel, session.tick, RATE, look=look, host=host, port=port, dark=dark)


def view(
    model: "Model | Motion | Any",
    tasks: Task | Sequence[Task] | None = None,
    *,
    q: ArrayLike | None = None,
    method: str | Method | None = None,
    world: World | None = None,
    look: Look | None = None,
    ghost: Motion | None = None,
    host: str = "127.0.0.1",
    port: int = 8080,
    dark: bool = False,
    block: bool = True,
) -> Any:
    """Show `model` in the browser, with a handle on the target of each of `tasks` that the robot follows.

    Without tasks the tip of the longest chain is led.  It begins at `q` (nq,), or at the model's home, and is led by
    `method`, or by the solver's own way; `world` holds obstacles, which may be changed from any thread.  `look` asks
    for what the file draws, for the shapes that collide or for a skeleton; None: for the first that each link has.

    Of a `Motion` the robot is shown as it goes through it, over and over, and beside it another one as its `ghost`,
    such as the human whom it follows; with `block=False` it returns the `Replay`.

    Of what `retarget` returned, or a list of that with one robot and one skeleton, of which one is chosen in the page,
    the robot is shown beside the skeleton, with the contacts and the report, and without solving anew: that is done
    where map or contacts are edited.  With `block=False` it returns the `CarryingPage`.  Other packages beside poise
    may bring pages of what else they make.

    The page is served at `host` and `port`, or the next port that is free: on this machine alone unless `host` says
    otherwise, which is warned of.  Prints the address and stays until Ctrl-C; with `block=False` returns the `Viewer`,
    which its `close` ends.

    Raises MissingExtra without the `viewer` extra, FrameNotFound for a frame that the model does not have, ValueError
    for what the method cannot do, for arguments that a motion does not take, and for results with different robots.
    """
    if not isinstance(model, Model | str | os.PathLike):
        if tasks is not None or q is not None or method is not None or world is not None:
            raise InvalidValue(
                "conflict", "tasks, q, method and world are for a model that is led; a motion is only played"
            )
        if isinstance(model, Motion):
            played = Replay(model.model, model, host=host, port=port, dark=dark, look=look, ghost=ghost)
            return _shown(played, model.model.name, block=block)
        if ghost is not None:
            raise InvalidValue(
                "conflict", "ghost goes beside a motion; beside what retarget returned its source is shown"
            )
        page = _of_packages(model, host=host, port=port, dark=dark, look=look)
        return _shown(page, page.server.title, block=block)
    if ghost is not None:
        raise InvalidValue("conflict", "ghost goes beside a motion; give one in the place of the model")
    model = a_model(model)
    if tasks is None:
        alone = default_task(model)
        tasks = () if alone is None else alone
    viewer = Viewer(Session(model, tasks, q=q, method=method, world=world), look=look, host=host, port=port, dark=dark)
    return _shown(viewer, model.name, block=block)


def page_beside(thing: object, **settings: Any) -> Page | None:
    """The page that a package beside poise makes of a thing, with `look`, `host`, `port` and `dark`; None if none
    does."""
    for _, make in brought(points(PAGES)):
        page = make(thing, **settings)
        if page is not None:
            return cast(Page, page)
    return None


def _of_packages(thing: object, **settings: Any) -> Page:
    """Raises TypeError for what nobody makes a page of, ValueError for an empty list."""
    listed = list(thing) if isinstance(thing, (list, tuple)) else None
    if listed == []:
        raise InvalidValue("empty", "the list of results is empty, so there is nothing to view")
    page = page_beside(thing, **settings)
    if page is None:
        raise InvalidType(
            "wrong-type",
            "view takes a Model, a Motion, what retarget returns or a list of that, or what else a package brings a "
            f"page of, got {'a list with ' if listed else ''}{type(listed[0] if listed else thing).__name__}",
        )
    return page


def _shown(page: Page, name: str, *, block: bool) -> Page | None:
    """The page, or None when it has been closed."""
    if block:
        page.serve(f"{name} is shown")
    return None if block else page

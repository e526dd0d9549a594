"""What is done to viser that it has no option for; each holds for viser 1.1.

viser asks `websockets` for a server that anybody may talk to, prints where it is and that it has stopped, and opens a
public tunnel when a client asks for one: with another viser that fails closed.  Its setters of poses compare each
vector with NumPy, 35 us a node, and its folders cannot be emptied: with another viser that is slower, or raises.
"""

import asyncio
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from poise.common.errors import PoiseError
from poise.common.lazy import optional

_PATCHING = threading.RLock()
"""Held while functions of other packages are replaced; two threads would put each other's replacement back."""


Options = dict[str, Any]


def start(listener: socket.socket, *, title: str, door: Callable[[Any, Options], tuple[Any, Options]]) -> Any:
    """A running `viser.ViserServer` that accepts from `listener`, and closes it when it stops.

    `door` is given the handler and the options with which viser asks for a WebSocket server, `process_request` and
    `select_subprotocol` among them, and returns those to use.
    Raises MissingExtra without the `viewer` extra, PoiseError if viser does not ask for its server as expected.
    """
    viser = optional("looking at a robot", "viser", "viewer", "viser")
    import websockets.asyncio.server as websockets

    class Private(viser.ViserServer):  # type: ignore[misc, name-defined]
        def request_share_url(self, verbose: bool = True) -> str | None:
            """Refused: any client may ask, and it would open this machine to all the world."""
            return None

        def disconnect_share_url(self) -> None:
            """There is nothing to disconnect."""

    with silent():  # which holds the lock
        serve, asked = websockets.serve, []

        def guarded(handler: Any, *address: Any, **options: Any) -> Any:
            if not _called_by_viser() or not options.keys() >= {"process_request", "select_subprotocol"}:
                return serve(handler, *address, **options)
            asked.append(options)
            handler, options = door(handler, {name: options[name] for name in options if name not in ("host", "port")})
            return _Closing(serve(handler, sock=listener, **options))

        websockets.serve = guarded
        try:
            host, port = listener.getsockname()[:2]
            server = Private(host=host, port=port, label=title, verbose=False)
        finally:
            websockets.serve = serve
        if not asked:
            server.stop()
            raise PoiseError(
                f"viser {viser.__version__} opens its server in a way that poise cannot guard, so it was stopped: "
                'pip install "viser>=1.1,<2"'
            )
    return server


class _Closing:
    """A server of websockets that takes in whom it has accepted before it closes.

    asyncio drops a socket that it accepted in the turn in which its server closes, and leaves it open.
    """

    def __init__(self, server: Any) -> None:
        self._server = server

    async def __aenter__(self) -> Any:
        return await self._server.__aenter__()

    async def __aexit__(self, *error: object) -> None:
        loop = asyncio.get_running_loop()
        for listener in self._server.server.sockets:
            with suppress(NotImplementedError):  # on Windows
                loop.remove_reader(listener)
        for _ in range(3):  # accepted, with a transport, in the list of those that are closed
            await asyncio.sleep(0)
        await self._server.__aexit__(*error)


@contextmanager
def silent() -> Iterator[None]:
    """Nothing that viser prints comes out; what others print meanwhile does."""
    import rich

    with _PATCHING:
        rich_print = rich.print

        def others_print(*objects: Any, **options: Any) -> None:
            if not _called_by_viser():
                rich_print(*objects, **options)

        rich.print = others_print
        try:
            yield
        finally:
            rich.print = rich_print


def _called_by_viser() -> bool:
    """Whether who called the function that asks is viser."""
    module = sys._getframe(2).f_globals.get("__name__", "")
    return bool(module.partition(".")[0] == "viser")


def pose_senders(handle: Any) -> tuple[Callable[[str, Any], None], Callable[[str, Any], None]] | None:
    """What sends the place of a node by name, and what its quaternion, for nodes like this one; None with another
    viser."""
    try:
        from viser import _messages

        send = handle._impl.api._queue_scene_message
        place, turn = _messages.SetPositionMessage, _messages.SetOrientationMessage
    except (ImportError, AttributeError):
        return None
    return lambda name, xyz: send(place(name, xyz)), lambda name, wxyz: send(turn(name, wxyz))


def empty(folder: Any) -> None:
    """Take all widgets out of a folder of the panel."""
    for widget in list(folder._children.values()):
        widget.remove()

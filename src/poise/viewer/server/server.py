"""The server behind the page: on this machine alone, unless told otherwise."""

import atexit
import errno
import gzip
import ipaddress
import logging
import socket
import threading
import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Any, Self

from poise.common.errors import InvalidValue, PoiseError
from poise.viewer.server import input_state, viser_internals
from poise.viewer.server.guard import Guard, is_websocket
from poise.viewer.server.input_state import InputSockets, InputState

_TRIED = 100
"""Ports after the one that is asked for."""


class Server:
    """A running server; leaving its `with` block stops it.

    `viser`: the `viser.ViserServer`.  `url`: where its page is, from this machine.
    `host`, `port`: where it listens.  `wanted`: the port that was asked for.  `title`: of the panel.
    """

    def __init__(self, viser: Any, host: str, port: int, wanted: int, inputs: InputSockets | None, title: str) -> None:
        self.viser, self.host, self.port, self.wanted, self.title = viser, host, port, wanted, title
        self._inputs = inputs
        self._stopping, self._stopped = threading.Lock(), False
        # At exit this comes before viser's own, which prints.
        atexit.register(self.stop)

    @property
    def url(self) -> str:
        """Where the page is, from this machine."""
        return f"http://{_url_host(self.host)}:{self.port}"

    @property
    def announcement(self) -> str:
        """The address, and why it has another port than was asked for, for whoever prints it."""
        moved = self.wanted not in (0, self.port)
        return self.url + (f" (port {self.wanted} is taken)" if moved else "")

    def claim(self, keys: Iterable[str]) -> None:
        """Keep keys, such as "KeyW" or "ArrowUp", from the page's own shortcuts, which move its camera.

        They are told to `on_input` as others are.  Replaces what was claimed before; from any thread.
        Raises ValueError for what is no code of a key, and where the server has no `on_input`.
        """
        if self._inputs is None:
            raise InvalidValue("needs", "keys are claimed for on_input, and this server was started without it")
        self._inputs.claim(keys, self.viser.get_event_loop())

    def stop(self) -> None:
        """Close the port and all connections, and wait until that is done; does nothing the second time.

        From any thread but the server's own, which `on_input` is called on.
        """
        with self._stopping:
            if not self._stopped:
                with viser_internals.silent():
                    self.viser.stop()
                atexit.unregister(self.stop)
                self._stopped = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()


def serve(
    *,
    host: str = "127.0.0.1",
    port: int = 8080,
    title: str = "poise",
    on_input: Callable[[int, InputState], None] | None = None,
) -> Server:
    """Start a server for the browser, and return while it runs.

    `host`: a name or an address of this machine.  A UserWarning says what it opens where that is not loopback.
    `port`: where to listen; the next free one if it is taken, any for 0.
    `title`: of the panel.
    `on_input`: called with the number of a window and what is held in it, whenever that changes.  It is called on the
    server's own thread, in order, and must return at once.  The numbers are not those of viser's clients.

    Raises MissingExtra without the `viewer` extra, PoiseError for a host or port that cannot be listened at.
    """
    address, family = _resolve(host)
    guard = Guard.of(host, address, port)
    if not guard.loopback:
        whom = "every network that this machine is in" if guard.wildcard else "the network of that address"
        warnings.warn(
            f"host {host!r} opens the viewer to {whom}: whoever reaches this machine sees the scene and can move it, "
            "for there is no password; host '127.0.0.1' keeps it to this machine",
            stacklevel=2,
        )
    listener = _listen(host, address, family, port)
    bound = listener.getsockname()[1]
    door = _Door(replace(guard, port=bound), None if on_input is None else InputSockets(on_input))
    try:
        viser = viser_internals.start(listener, title=title, door=door.around)
    except BaseException:
        listener.close()
        raise
    return Server(viser, address if guard.wildcard else host, bound, port, door.inputs, title)


def _resolve(host: str) -> tuple[str, socket.AddressFamily]:
    try:
        family, _, _, _, address = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError) as error:
        raise PoiseError(f"host {host!r} is no name or address of this machine: {error}") from None
    return str(address[0]), family


def _listen(host: str, address: str, family: socket.AddressFamily, port: int) -> socket.socket:
    """A socket that listens at `port`, or at the first after it that is free."""
    if not 0 <= port <= 65535:
        raise PoiseError(f"port {port} is not between 0 and 65535")
    last = min(port + _TRIED, 65535) if port else 0
    for candidate in range(port, last + 1):
        try:
            return socket.create_server((address, candidate), family=family)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise PoiseError(f"cannot listen at host {host!r}, port {candidate}: {error.strerror}") from None
    raise PoiseError(f"the ports {port} to {last} are all taken; name another")


class _Door:
    """What stands between the port and viser: the guard, the script in the page, and the sockets of that script."""

    def __init__(self, guard: Guard, inputs: InputSockets | None) -> None:
        self.guard, self.inputs = guard, inputs

    def around(self, handler: Any, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """The handler and the options of viser's WebSocket server, behind this door."""
        import viser

        version = f"viser-v{viser.__version__}"
        process, select = options["process_request"], options["select_subprotocol"]

        def process_request(connection: Any, request: Any) -> Any:
            if (refusal := self.guard.refusal(request)) is not None:
                status, sentence = refusal
                return _closed(connection.respond(status, sentence + "\n"))
            if is_websocket(request):
                return None
            return self._dressed(process(connection, request))

        def select_subprotocol(connection: Any, offered: list[str]) -> str | None:
            if self.inputs is not None and input_state.SUBPROTOCOL in offered:
                return input_state.SUBPROTOCOL
            chosen: str | None = select(connection, offered)
            return chosen

        async def handle(connection: Any) -> None:
            if self.inputs is not None and connection.subprotocol == input_state.SUBPROTOCOL:
                await self.inputs.attend(connection)
            elif connection.subprotocol == version:
                await handler(connection)
            else:  # viser would print that
                await connection.close(1002, f"Version mismatch: this server speaks {version}; load the page again")

        ours = {
            "process_request": process_request,
            "select_subprotocol": select_subprotocol,
            "logger": _silent_logger(),
            # What a stop waits for: connections that have asked for nothing yet, clients that do not say goodbye.
            "open_timeout": 2,
            "close_timeout": 1,
        }
        return handle, options | ours

    def _dressed(self, response: Any) -> Any:
        """A page of viser's that no other page can put in a frame, with the script in it."""
        if self.inputs is not None and response.headers.get("Content-Type", "").startswith("text/html"):
            packed = response.headers.get("Content-Encoding") == "gzip"
            response.body = _with_script(response.body, packed)
            del response.headers["Content-Length"]
            response.headers["Content-Length"] = str(len(response.body))
        return _closed(response)


def _closed(response: Any) -> Any:
    response.headers["Content-Security-Policy"] = "frame-ancestors 'none'"
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response


@lru_cache(maxsize=2)
def _with_script(page: bytes, packed: bool) -> bytes:
    text = gzip.decompress(page) if packed else page
    text = text.replace(b"</head>", input_state.script() + b"</head>", 1)
    return gzip.compress(text) if packed else text


def _silent_logger() -> logging.Logger:
    """For what strangers send; every request that is refused or broken off would be a line on stderr."""
    logger = logging.Logger("poise.viewer")
    logger.addHandler(logging.NullHandler())
    return logger


def _url_host(host: str) -> str:
    try:
        ip = ipaddress.ip_address(host)
    except ValueError:
        return host
    if ip.is_unspecified:
        return "localhost"
    return f"[{host}]" if ip.version == 6 else host

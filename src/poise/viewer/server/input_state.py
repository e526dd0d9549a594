"""What is held down in a window of the browser: keys, and the sticks and buttons of a gamepad.

viser tells neither of a key that is let go nor of a gamepad.  So its page gets one small script more, `state.js`, which
tells it all through a WebSocket of its own.  Each message is everything that is held, so none depends on another:

    {"keys": ["KeyW"], "axes": [0.25, -1], "buttons": [false, true]}

The other way goes one message, whenever it changes: the list of the keys that are claimed.
"""

import asyncio
import json
import math
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import count
from typing import Any

from poise.common.errors import InvalidValue

SUBPROTOCOL = "poise-held"

PATIENCE = 2.0
"""[s] A window that holds something repeats it four times as often; one that is silent for longer holds nothing."""

LONGEST = 4096
"""[bytes] of a message."""

MOST = {"keys": 32, "axes": 16, "buttons": 64}

_CODE = re.compile(r"[A-Za-z0-9]{1,32}")


@dataclass(frozen=True)
class InputState:
    """What is held in one window.

    `keys`: the codes of the keys that are down, by their place on the keyboard, such as "KeyW" or "ArrowUp".
    `axes`: of the first gamepad, each in [-1, 1]; none without a gamepad.
    `buttons`: of the first gamepad, whether each is down.
    """

    keys: frozenset[str] = frozenset()
    axes: tuple[float, ...] = ()
    buttons: tuple[bool, ...] = ()

    @property
    def at_rest(self) -> bool:
        """Whether no key, no stick and no button is held."""
        return not (self.keys or any(self.axes) or any(self.buttons))


def parse(message: str | bytes) -> InputState:
    """What a window tells.  Raises ValueError for anything that `state.js` would not send."""
    if not isinstance(message, str) or len(message) > LONGEST:
        raise ValueError(f"a message is text of at most {LONGEST} characters")
    try:
        content = json.loads(message)
    except (ValueError, RecursionError):
        raise ValueError("a message is JSON") from None
    if not isinstance(content, dict) or content.keys() != MOST.keys():
        raise ValueError('a message has "keys", "axes" and "buttons", and nothing else')
    for name, most in MOST.items():
        if not isinstance(content[name], list) or len(content[name]) > most:
            raise ValueError(f'"{name}" is a list of at most {most}')
    if not all(_is_code(key) for key in content["keys"]):
        raise ValueError('"keys" are codes such as "KeyW"')
    if not all(_is_number(axis) for axis in content["axes"]):
        raise ValueError('"axes" are finite numbers')
    if not all(type(button) is bool for button in content["buttons"]):
        raise ValueError('"buttons" are true or false')
    axes = tuple(float(min(max(axis, -1), 1)) for axis in content["axes"])
    return InputState(frozenset(content["keys"]), axes, tuple(content["buttons"]))


def _is_code(key: object) -> bool:
    return isinstance(key, str) and _CODE.fullmatch(key) is not None


def _is_number(axis: object) -> bool:
    return type(axis) is int or (type(axis) is float and math.isfinite(axis))


@cache
def script() -> bytes:
    """The element that `state.js` is in the page."""
    return b"<script>" + files("poise.viewer").joinpath("held.js").read_bytes() + b"</script>"


class InputSockets:
    """The sockets of all windows that tell what they hold; all but `claim` runs on the server's own thread."""

    def __init__(self, callback: Callable[[int, InputState], None]) -> None:
        self._callback = callback
        self._windows = count()
        self._connections: set[Any] = set()
        self._claimed: frozenset[str] = frozenset()

    def claim(self, keys: Iterable[str], loop: asyncio.AbstractEventLoop) -> None:
        """Keep `keys` from the page's own shortcuts, in all windows, from now on; from any thread."""
        claimed = frozenset(keys)
        if wrong := sorted(str(key) for key in claimed if not _is_code(key)):
            raise InvalidValue("unknown-word", f'{wrong[0]!r} is no code of a key, such as "KeyW" or "ArrowUp"')
        self._claimed = claimed
        for connection in tuple(self._connections):
            asyncio.run_coroutine_threadsafe(self._send_claimed(connection), loop)

    async def _send_claimed(self, connection: Any) -> None:
        from websockets.exceptions import ConnectionClosed

        with suppress(ConnectionClosed):  # it may leave meanwhile
            await connection.send(json.dumps(sorted(self._claimed)))

    async def attend(self, connection: Any) -> None:
        """Tell what one window holds, whenever it changes, until it leaves."""
        from websockets.exceptions import ConnectionClosed

        window, state = next(self._windows), InputState()
        connection.protocol.max_message_size = LONGEST
        self._connections.add(connection)
        try:
            await self._send_claimed(connection)
            while True:
                try:
                    async with asyncio.timeout(None if state.at_rest else PATIENCE):
                        now = parse(await connection.recv())
                except TimeoutError:
                    now = InputState()
                except ConnectionClosed:
                    break
                except ValueError as error:
                    await connection.close(1008, str(error))
                    break
                if now != state:
                    state = now
                    self._say(window, state)
        finally:
            self._connections.discard(connection)
            if state != InputState():
                self._say(window, InputState())

    def _say(self, window: int, state: InputState) -> None:
        try:
            self._callback(window, state)
        except Exception as error:
            context = {"message": "what was told of held keys has failed", "exception": error}
            asyncio.get_running_loop().call_exception_handler(context)

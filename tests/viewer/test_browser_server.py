"""The page as a browser has it: it comes up, and what is held in it reaches Python."""

import asyncio
import gzip
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

viser = pytest.importorskip("viser", reason="the server needs viser")

from poise.viewer.server import input_state  # noqa: E402
from poise.viewer.server.input_state import InputState  # noqa: E402
from poise.viewer.server.server import Server, serve  # noqa: E402

Wait = Callable[..., None]

GAMEPAD = """
window.pad = { connected: true, axes: [0, 0], buttons: [{ pressed: false }, { pressed: false }] };
navigator.getGamepads = () => [null, window.pad];
"""


class Listener:
    """The windows that told something, and what each has told last."""

    def __init__(self) -> None:
        self.told: list[tuple[int, InputState]] = []

    def __call__(self, window: int, held: InputState) -> None:
        self.told.append((window, held))

    def now(self, window: int = 0) -> InputState:
        return next((held for number, held in reversed(self.told) if number == window), InputState())


@pytest.fixture
def listener() -> Listener:
    return Listener()


@pytest.fixture
def server(listener: Listener) -> Iterator[Server]:
    with serve(port=0, on_input=listener) as server:
        yield server


@pytest.fixture
def empty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Serve a page with nothing of viser's but the script, which is there at once."""
    text = b"<!doctype html><head>" + input_state.script() + b"</head><body><input><button>go</button></body>"
    pack = {True: gzip.compress, False: bytes}
    monkeypatch.setattr("poise.viewer.server.server._with_script", lambda page, packed: pack[packed](text))


def ask(server: Server, page: Any, wait_for: Wait) -> None:
    """Open the page, and wait until it is there and tells."""
    before = len(server.viser.get_clients())
    page.goto(server.url)
    page.wait_for_selector("canvas")
    wait_for(lambda: len(server.viser.get_clients()) > before, page)


class Asked:
    """What a window asks for, and what its sockets are told in text, from now on."""

    def __init__(self, page: Any) -> None:
        self.urls: list[str] = []
        self.sent: list[str] = []
        self.heard: list[str] = []
        page.on("request", lambda request: self.urls.append(request.url))
        page.on("websocket", self._opened)

    def _opened(self, socket: Any) -> None:
        socket.on("framesent", lambda data: self.sent.append(data) if isinstance(data, str) else None)
        socket.on("framereceived", lambda data: self.heard.append(data) if isinstance(data, str) else None)


@dataclass
class Open:
    """The window of this file with viser's page in it, and its server."""

    server: Server
    listener: Listener
    page: Any
    asked: Asked
    field: Any
    slider: Any
    pressed: list[bool]


@pytest.fixture(scope="module")
def opened(browser: Any, pages: Any) -> Iterator[Open]:
    """The window, which is opened by the first that uses it."""
    listener = Listener()
    pressed: list[bool] = []
    with serve(port=0, on_input=listener) as server:
        panel = server.viser.gui
        field = panel.add_text("name", initial_value="")
        slider = panel.add_slider("gain", min=0.0, max=1.0, step=0.1, initial_value=0.5)
        panel.add_button("go").on_click(lambda _: pressed.append(True))
        yield Open(server, listener, pages, Asked(pages), field, slider, pressed)


@pytest.fixture
def window(opened: Open, shared_page: Any, wait_for: Wait) -> Open:
    """The window of this file, where nothing is held and nothing was told yet."""
    if not opened.asked.urls:
        ask(opened.server, shared_page, wait_for)
    opened.listener.told.clear()
    return opened


def test_the_page_comes_up_from_this_server_alone(window: Open) -> None:
    asked = {url for url in window.asked.urls if not url.startswith(("data:", "blob:"))}
    assert asked == {f"{window.server.url}/"}


def test_keys_are_told_while_they_are_down(window: Open, wait_for: Wait) -> None:
    page, listener = window.page, window.listener
    page.keyboard.down("KeyJ")
    page.keyboard.down("ArrowUp")
    wait_for(lambda: listener.now() == InputState(frozenset({"KeyJ", "ArrowUp"})), page)
    page.keyboard.up("KeyJ")
    wait_for(lambda: listener.now() == InputState(frozenset({"ArrowUp"})), page)
    page.keyboard.up("ArrowUp")
    wait_for(lambda: listener.now() == InputState(), page)
    assert [held.keys for _, held in listener.told] == [{"KeyJ"}, {"KeyJ", "ArrowUp"}, {"ArrowUp"}, set()]


@pytest.mark.usefixtures("empty")
def test_a_key_that_stays_down_is_told_once(server: Server, listener: Listener, page: Any, wait_for: Wait) -> None:
    asked = Asked(page)
    page.goto(server.url)
    page.keyboard.down("KeyJ")
    wait_for(lambda: listener.now().keys, page)
    wait_for(lambda: len(asked.sent) > 5, page)  # which is longer than the server's patience
    assert listener.told == [(0, InputState(frozenset({"KeyJ"})))]


def test_what_is_typed_is_not_held(window: Open, wait_for: Wait) -> None:
    page, field, slider = window.page, window.field, window.slider
    page.get_by_role("textbox").first.click()
    page.keyboard.type("jk")
    wait_for(lambda: field.value == "jk", page)
    page.get_by_role("slider").first.focus()
    page.keyboard.press("ArrowRight")
    wait_for(lambda: slider.value > 0.55, page)
    page.get_by_role("button", name="go").focus()
    page.keyboard.press("Space")
    wait_for(lambda: window.pressed, page)
    assert window.listener.told == []
    page.evaluate("document.activeElement.blur()")


@pytest.mark.usefixtures("empty")
def test_a_window_that_loses_the_focus_lets_everything_go(
    server: Server, listener: Listener, page: Any, wait_for: Wait
) -> None:
    page.goto(server.url)
    for event in ("blur", "pagehide"):
        page.keyboard.down("KeyJ")
        wait_for(lambda: listener.now().keys, page)
        page.evaluate(f"window.dispatchEvent(new Event('{event}'))")
        wait_for(lambda: not listener.now().keys, page)
        page.keyboard.up("KeyJ")


@pytest.mark.usefixtures("empty")
def test_a_shortcut_of_the_browser_lets_everything_go(
    server: Server, listener: Listener, page: Any, wait_for: Wait
) -> None:
    page.goto(server.url)
    page.keyboard.down("KeyJ")
    wait_for(lambda: listener.now().keys, page)
    page.keyboard.press("Control+KeyK")
    wait_for(lambda: not listener.now().keys, page)
    assert not any("KeyK" in held.keys for _, held in listener.told)


def test_a_claimed_key_is_told_and_leaves_the_camera_alone(window: Open, wait_for: Wait) -> None:
    server, page, listener = window.server, window.page, window.listener
    (client,) = server.viser.get_clients().values()
    start = tuple(client.camera.position)
    server.claim(["KeyW"])
    wait_for(lambda: window.asked.heard[-1] == '["KeyW"]', page)
    page.keyboard.down("KeyW")
    wait_for(lambda: listener.now().keys == {"KeyW"}, page)
    page.wait_for_timeout(300)
    page.keyboard.up("KeyW")
    wait_for(lambda: not listener.now().keys, page)
    page.wait_for_timeout(300)
    assert np.allclose(client.camera.position, start, rtol=0.0, atol=1e-9)
    server.claim([])
    wait_for(lambda: window.asked.heard[-1] == "[]", page)
    page.keyboard.down("KeyW")
    wait_for(lambda: not np.allclose(client.camera.position, start, rtol=0.0, atol=1e-3), page)
    page.keyboard.up("KeyW")


@pytest.mark.usefixtures("empty")
def test_a_gamepad_is_told_when_it_changes(server: Server, listener: Listener, page: Any, wait_for: Wait) -> None:
    page.add_init_script(GAMEPAD)
    page.goto(server.url)
    wait_for(lambda: listener.now() == InputState(axes=(0.0, 0.0), buttons=(False, False)), page)
    page.evaluate("pad.axes = [0.25004, -1]; pad.buttons[1].pressed = true")
    wait_for(lambda: listener.now() == InputState(axes=(0.25, -1.0), buttons=(False, True)), page)
    page.wait_for_timeout(300)
    assert len(listener.told) == 2
    page.evaluate("pad.connected = false")
    wait_for(lambda: listener.now() == InputState(), page)


@pytest.mark.usefixtures("empty")
def test_a_gamepad_that_trembles_is_told_sixty_times_a_second_at_most(
    server: Server, listener: Listener, page: Any, wait_for: Wait
) -> None:
    # The clock is the test's own: 240 frames of one second, in one go, so that neither load nor a late message counts.
    page.add_init_script(GAMEPAD)
    page.add_init_script("""
        const real = requestAnimationFrame, send = WebSocket.prototype.send;
        requestAnimationFrame = (then) => (then.name === "look" ? ((window.look = then), 0) : real(then));
        WebSocket.prototype.send = function (data) {
            window.told = (window.told ?? 0) + (typeof data === "string" && data.startsWith('{"keys"'));
            send.call(this, data);
        };
    """)
    page.goto(server.url)
    wait_for(lambda: page.evaluate("window.look && (look(performance.now()), true)") and listener.told, page)
    told = page.evaluate("""() => {
        const start = performance.now() + 1000, before = window.told;
        for (let frame = 0; frame < 240; frame++) {
            pad.axes = [frame / 240 + 0.001, 0];
            look(start + (frame * 1000) / 240);
        }
        return window.told - before;
    }""")
    assert told == 60


def test_each_window_has_its_own_number_and_one_leaves_without_harm(window: Open, wait_for: Wait) -> None:
    server, page, listener = window.server, window.page, window.listener
    other = page.context.new_page()
    ask(server, other, wait_for)
    other.keyboard.down("KeyJ")
    wait_for(lambda: listener.told, other)
    number = listener.told[-1][0]
    other.close()
    wait_for(lambda: listener.now(number) == InputState(), page)
    wait_for(lambda: len(server.viser.get_clients()) == 1, page)
    page.bring_to_front()
    page.keyboard.down("KeyK")
    wait_for(lambda: listener.told[-1][1].keys == {"KeyK"}, page)
    assert listener.told[-1][0] != number
    page.keyboard.up("KeyK")
    wait_for(lambda: listener.told[-1][1] == InputState(), page)


@pytest.mark.usefixtures("empty")
def test_a_window_comes_back_to_a_server_that_was_started_again(
    server: Server, listener: Listener, page: Any, wait_for: Wait
) -> None:
    page.goto(server.url)
    page.keyboard.down("KeyJ")
    wait_for(lambda: listener.now().keys, page)
    server.stop()
    assert listener.told[-1][1] == InputState()
    with serve(port=server.port, on_input=listener) as again:
        assert again.port == server.port
        wait_for(lambda: listener.told[-1][1].keys == {"KeyJ"}, page)


@pytest.mark.usefixtures("empty")
def test_a_page_of_another_port_sees_nothing(server: Server, page: Any) -> None:
    with serve(port=0, on_input=Listener()) as foreign:
        page.goto(foreign.url)
        for subprotocol in ("poise-held", f"viser-v{viser.__version__}"):
            opened = page.evaluate(
                f"""() => new Promise((told) => {{
                    const socket = new WebSocket("ws://127.0.0.1:{server.port}/", ["{subprotocol}"]);
                    socket.onopen = () => told(true);
                    socket.onerror = () => told(false);
                }})"""
            )
            assert opened is False
        page.evaluate(f"document.body.append(Object.assign(document.createElement('iframe'), {{src: '{server.url}'}}))")
        page.wait_for_timeout(500)
        (inner,) = page.frames[1:]
        assert not inner.url.startswith(server.url)


def test_the_page_without_a_listener_comes_back_to_a_server_that_was_started_again(page: Any, wait_for: Wait) -> None:
    with serve(port=0) as server:
        ask(server, page, wait_for)
    with serve(port=server.port) as again:
        wait_for(lambda: again.viser.get_clients(), page)
    assert "poise-held" not in page.content()


def test_other_tests_find_no_event_loop_of_the_browser(browser: Any) -> None:
    assert asyncio.run(asyncio.sleep(0, "done")) == "done"

"""The server without a browser: who is answered, what leaves it, and that it can be stopped and started at will."""

import gc
import gzip
import http.client
import json
import socket
import subprocess
import sys
import textwrap
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from support.refusals import refused

import poise as pz

viser = pytest.importorskip("viser", reason="the server needs viser")

import msgspec.msgpack  # noqa: E402
import rich  # noqa: E402
import websockets.asyncio.server  # noqa: E402
from viser import _messages  # noqa: E402
from websockets.datastructures import Headers  # noqa: E402
from websockets.exceptions import ConnectionClosed, InvalidStatus  # noqa: E402
from websockets.sync.client import ClientConnection, connect  # noqa: E402

from poise.viewer.server import input_state, viser_internals  # noqa: E402
from poise.viewer.server.guard import Guard  # noqa: E402
from poise.viewer.server.input_state import InputState  # noqa: E402
from poise.viewer.server.server import Server, serve  # noqa: E402

Wait = Callable[..., None]
VISER = f"viser-v{viser.__version__}"


class Listener:
    """The windows that told something, and what."""

    def __init__(self) -> None:
        self.told: list[tuple[int, InputState]] = []

    def __call__(self, window: int, held: InputState) -> None:
        self.told.append((window, held))


@pytest.fixture
def listener() -> Listener:
    return Listener()


@pytest.fixture
def server(listener: Listener) -> Iterator[Server]:
    with serve(port=0, on_input=listener) as server:
        yield server


def window(server: Server, subprotocol: str = VISER, *, origin: str | None = None, host: str = "") -> ClientConnection:
    """A client, which may lie about where its page is from, or under which name it asks."""
    asked = f"ws://{host or f'127.0.0.1:{server.port}'}/"
    stream = socket.create_connection(("127.0.0.1", server.port))
    try:
        return connect(asked, sock=stream, origin=origin, subprotocols=[subprotocol], max_size=None)  # type: ignore[arg-type, list-item]
    except InvalidStatus:
        stream.close()
        raise


def turned_away(server: Server, subprotocol: str = VISER, **lies: Any) -> bool:
    """Whether a client is sent away with status 403."""
    try:
        window(server, subprotocol, **lies).close()
    except InvalidStatus as error:
        return error.response.status_code == 403
    return False


def end(client: ClientConnection) -> tuple[int, str]:
    """With which code and reason the server closes a socket."""
    with suppress(ConnectionClosed):
        while True:
            client.recv(5)
    assert client.close_code is not None
    return client.close_code, client.close_reason or ""


class Answer(NamedTuple):
    status: int
    headers: http.client.HTTPMessage
    body: bytes


def get(server: Server, path: str = "/", **headers: str) -> Answer:
    """The server's answer to a request, whose path goes out as it is."""
    client = http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)
    client.putrequest("GET", path, skip_host="Host" in headers, skip_accept_encoding=True)
    for name, value in headers.items():
        client.putheader(name.replace("_", "-"), value)
    client.endheaders()
    with closing(client), client.getresponse() as answer:
        return Answer(answer.status, answer.headers, answer.read())


def status(server: Server, path: str = "/", **headers: str) -> int:
    return get(server, path, **headers).status


def closed(port: int) -> bool:
    with socket.socket() as stream:
        return stream.connect_ex(("127.0.0.1", port)) != 0


# Who is answered


def test_only_this_machine_reaches_it(server: Server) -> None:
    assert server.url == f"http://127.0.0.1:{server.port}"
    assert status(server) == 200
    if sys.platform == "linux":  # where all of 127.0.0.0/8 is this machine
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.2", server.port))


@pytest.mark.parametrize("subprotocol", [VISER, "poise-held"])
@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "null",
        "http://127.0.0.1",
        "http://127.0.0.1:{other}",
        "http://localhost:{port}",
        "https://127.0.0.1:{port}",
        "http://127.0.0.1:{port}.evil.example",
        "http://127.0.0.1:{port}/",
        "",
    ],
)
def test_a_socket_of_a_foreign_page_is_refused(server: Server, origin: str, subprotocol: str) -> None:
    assert turned_away(server, subprotocol, origin=origin.format(port=server.port, other=server.port + 1))


@pytest.mark.parametrize("subprotocol", [VISER, "poise-held"])
def test_the_own_page_and_programs_without_one_are_answered(server: Server, subprotocol: str) -> None:
    assert not turned_away(server, subprotocol)
    assert not turned_away(server, subprotocol, origin=server.url)
    local = f"localhost:{server.port}"
    assert not turned_away(server, subprotocol, origin=f"http://{local}", host=local)
    assert not turned_away(server, subprotocol, origin=f"http://{local.upper()}", host=local)


@pytest.mark.parametrize(
    "host",
    [
        "evil.example:{port}", "evil.example", "127.0.0.1", "127.0.0.1:{other}", "127.0.0.1.evil.example:{port}",
        "me@127.0.0.1:{port}", "127.0.0.1:{port}/x", "localhost.:{port}", "[::1]:{port}", "192.168.0.1:{port}",
        "[:{port}", "127.0.0.1:x", "",
    ],
)  # fmt: skip
def test_a_name_that_was_pointed_here_is_refused(server: Server, host: str) -> None:
    """DNS rebinding: the browser of the victim takes this server for the one of the attacker."""
    named = host.format(port=server.port, other=server.port + 1)
    assert status(server, Host=named) == 403
    with socket.create_connection(("127.0.0.1", server.port)) as stream:
        stream.sendall(
            f"GET / HTTP/1.1\r\nHost: {named}\r\nOrigin: http://{named}\r\n"
            f"Upgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
            f"Sec-WebSocket-Protocol: {VISER}\r\n\r\n".encode()
        )
        assert stream.recv(64).startswith(b"HTTP/1.1 403")


def test_a_request_has_one_host(server: Server) -> None:
    own = f"Host: 127.0.0.1:{server.port}\r\n"
    for hosts in ("", own + own, own + "Host: evil.example\r\n"):
        with socket.create_connection(("127.0.0.1", server.port)) as stream:
            stream.sendall(f"GET / HTTP/1.1\r\n{hosts}\r\n".encode())
            assert stream.recv(64).startswith(b"HTTP/1.1 403")


def test_a_page_is_not_read_by_another_origin(server: Server) -> None:
    assert status(server, Origin="https://evil.example") == 403
    assert status(server, Origin=server.url) == 200


def test_no_other_page_has_it_in_a_frame(server: Server) -> None:
    for path, code in (("/", 200), ("/nothing", 404)):
        answer = get(server, path)
        assert answer.status == code
        assert answer.headers["Content-Security-Policy"] == "frame-ancestors 'none'"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_any_client_may_ask_for_a_tunnel_and_gets_none(
    server: Server, monkeypatch: pytest.MonkeyPatch, wait_for: Wait
) -> None:
    dug: list[Any] = []
    monkeypatch.setattr("viser._viser.ViserTunnel", lambda *where: dug.append(where))
    heard: list[Any] = []
    for kind in (_messages.ShareUrlRequest, _messages.ShareUrlDisconnect):
        server.viser._websock_server.register_handler(kind, lambda client, message: heard.append(message))
    with window(server) as client:
        client.recv()
        for message in (_messages.ShareUrlRequest(), _messages.ShareUrlDisconnect()):
            client.send(msgspec.msgpack.encode(message.as_serializable_dict([])))
        wait_for(lambda: len(heard) == 2)
        time.sleep(0.1)
    assert dug == []
    assert server.viser.request_share_url() is None


# What leaves it


@pytest.mark.parametrize(
    "path",
    [
        "/../__init__.py", "/../../../_viser.py", "/%2e%2e/%2e%2e/_viser.py", "/..%2f..%2f_viser.py",
        "/..\\..\\_viser.py",
        "/%5c..%5c..%5c_viser.py", "//etc/passwd", "/etc/passwd", "/%2fetc%2fpasswd", "/C:/Windows/win.ini", "/%00",
        "/index.html/../../package.json", "/.%2e/x", "/./..", "/assets", "/nothing.js",
        "/index.html%00.js",
    ],
)  # fmt: skip
def test_no_file_leaves_but_those_of_the_page(server: Server, path: str) -> None:
    answer = get(server, path)
    assert answer.status == 404
    assert len(answer.body) < 100


@pytest.mark.parametrize(
    "path", ["/C:/Windows/win.ini", "/%43:", "/a\\b", "/~root", "/a/..", "", "x", "/?/../", "/a?b"]
)
def test_a_path_that_no_page_has_does_not_come_to_viser(path: str) -> None:
    request = SimpleNamespace(path=path, headers=Headers(Host="127.0.0.1:8080"))
    refusal = Guard.of("127.0.0.1", "127.0.0.1", 8080).refusal(request)
    assert (refusal is None) == (path in ("/?/../", "/a?b"))


@pytest.mark.parametrize("encoding", ["identity", "gzip"])
@pytest.mark.parametrize("path", ["/", "/index.html", "/?x=../y"])
def test_the_page_is_whole_with_the_script_in_it(server: Server, encoding: str, path: str) -> None:
    answer = get(server, path, Accept_Encoding=encoding)
    assert answer.status == 200
    assert answer.headers["Content-Encoding"] == encoding
    assert answer.headers.get_content_type() == "text/html"
    assert answer.headers.get_all("Content-Length") == [str(len(answer.body))]
    page = gzip.decompress(answer.body) if encoding == "gzip" else answer.body
    assert page.count(input_state.script()) == 1
    assert page.index(input_state.script()) < page.index(b"</head>")
    with serve(port=0) as plain:
        assert page.replace(input_state.script(), b"") == get(plain).body


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> None:
    with serve(port=0) as server:
        status(server, "/../x")
        turned_away(server, origin="https://evil.example")
        with window(server, "viser-v0.0.1") as old:
            assert end(old) == (1002, f"Version mismatch: this server speaks {VISER}; load the page again")
        with window(server) as client:
            client.recv()
            client.send("text where bytes belong")
            assert end(client)[0] == 1011
        with socket.create_connection(("127.0.0.1", server.port)) as stream:
            stream.sendall(b"\x16\x03\x01 this is no HTTP\r\n\r\n")
            assert stream.recv(64) == b""
    assert capfd.readouterr() == ("", "")
    assert caplog.records == []


def test_what_others_print_meanwhile_comes_out(capfd: pytest.CaptureFixture[str]) -> None:
    before = rich.print
    with viser_internals.silent():
        rich.print("said in between")
        thread = threading.Thread(target=lambda: rich.print("said by another"))
        thread.start()
        thread.join()
        print("said without Rich")
    assert capfd.readouterr().out.splitlines() == ["said in between", "said by another", "said without Rich"]
    assert rich.print is before


# Beyond this machine


@pytest.fixture
def open_server() -> Iterator[Server]:
    with pytest.warns(UserWarning, match=r"host '0\.0\.0\.0' opens the viewer to every network .* no password"):
        server = serve(host="0.0.0.0", port=0)
    with server:
        yield server


def test_a_server_for_all_says_so_and_knows_its_addresses(open_server: Server) -> None:
    assert open_server.url == f"http://localhost:{open_server.port}"
    for name in (socket.gethostname(), "localhost", "127.0.0.1", "192.168.0.1", "[fe80::1]"):
        assert status(open_server, Host=f"{name}:{open_server.port}") == 200, name
        own = f"{name}:{open_server.port}"
        assert not turned_away(open_server, origin=f"http://{own}", host=own)
    assert status(open_server, Host=f"evil.example:{open_server.port}") == 403
    assert turned_away(open_server, origin="https://evil.example")
    assert turned_away(open_server)


def test_a_name_is_served_as_itself_and_as_its_address() -> None:
    guard = Guard.of("Arm.lan", "192.168.0.7", 80)
    assert guard == Guard(frozenset({"arm.lan", "192.168.0.7"}), 80, loopback=False, wildcard=False)


def test_a_warning_that_is_an_error_opens_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "create_server", None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="opens the viewer"):
            serve(host="0.0.0.0", port=0)


def test_localhost_and_the_other_loopback_are_this_machine() -> None:
    hosts = ["localhost", "127.0.0.1"] + ["::1"] * socket.has_dualstack_ipv6()
    for host in hosts:
        with (
            serve(host=host, port=0) as server,
            connect(
                server.url.replace("http", "ws"),
                origin=server.url,
                subprotocols=[VISER],
                max_size=None,  # type: ignore[arg-type, list-item]
            ) as client,
        ):
            assert client.recv()


# Ports, starting and stopping


def test_a_port_that_is_taken_is_left_to_who_has_it() -> None:
    with serve(port=0) as first:
        with serve(port=first.port) as second:
            assert first.port < second.port <= first.port + 100
            assert second.announcement == f"{second.url} (port {first.port} is taken)"
            assert first.announcement == first.url
            assert status(first) == status(second) == 200
            assert turned_away(first, origin=second.url)
            assert turned_away(second, origin=first.url)
        assert closed(second.port)
        assert status(first) == 200


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"port": 65536}, "port 65536 is not between 0 and 65535"),
        ({"port": -1}, "port -1 is not between 0 and 65535"),
        ({"host": "no.such.name.invalid"}, "host 'no.such.name.invalid' is no name or address of this machine"),
        ({"host": "192.0.2.1"}, "cannot listen at host '192.0.2.1', port 8080"),
    ],
)
@pytest.mark.filterwarnings("ignore:host '192.0.2.1' opens")
def test_what_cannot_be_listened_at_is_refused(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(pz.PoiseError, match=sentence):
        serve(**arguments)


def test_ports_that_are_all_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("poise.viewer.server.server._TRIED", 0)
    with serve(port=0) as server, pytest.raises(pz.PoiseError, match="all taken"):
        serve(port=server.port)


def test_an_environment_variable_of_viser_moves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_VISER_PORT_OVERRIDE", "1")
    with serve(port=0) as server:
        assert status(server) == 200
        assert server.viser.get_port() == server.port


def test_it_can_be_stopped_and_started_many_times() -> None:
    threads = threading.active_count()
    with serve(port=0) as server:
        port = server.port
    for _ in range(20):
        with serve(port=port) as server:
            assert server.port == port
            assert status(server) == 200
        assert closed(port)
    assert threading.active_count() == threads


def test_stopping_is_done_once_and_waited_for_by_all() -> None:
    alive = set(threading.enumerate())
    server = serve(port=0)
    answering = set(threading.enumerate()) - alive
    client = window(server)
    with socket.create_connection(("127.0.0.1", server.port)):  # asks for nothing
        stoppers = [threading.Thread(target=server.stop) for _ in range(4)]
        for thread in stoppers:
            thread.start()
        for thread in stoppers:
            thread.join(20)
        assert answering
        assert not any(thread.is_alive() for thread in answering | set(stoppers))
        assert closed(server.port)
        server.stop()
    assert end(client)[0] == 1001


def test_who_comes_while_it_stops_leaves_nothing_open() -> None:
    came: list[socket.socket] = []
    server, stopping = serve(port=0), threading.Event()
    loop = server.viser.get_event_loop()

    def come() -> None:
        """In each turn of the server's loop one is waiting to be accepted, until it closes."""
        if stopping.is_set():
            with suppress(ConnectionRefusedError):
                came.append(socket.create_connection(("127.0.0.1", server.port)))
        if len(came) < 100:
            loop.call_soon(come)

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        loop.call_soon_threadsafe(come)
        stopping.set()
        server.stop()
        gc.collect()
    for one in came:
        one.close()
    assert came
    assert [str(warning.message) for warning in told if warning.category is ResourceWarning] == []


def test_servers_started_from_many_threads_are_all_guarded() -> None:
    serve_before, servers = websockets.asyncio.server.serve, []
    threads = [threading.Thread(target=lambda: servers.append(serve(port=0))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert websockets.asyncio.server.serve is serve_before
    assert len({server.port for server in servers}) == 6
    for server in servers:
        with server:
            assert turned_away(server, origin="https://evil.example")


def test_a_program_that_ends_without_stopping_it_ends_in_silence() -> None:
    program = f"""
        from websockets.sync.client import connect
        from poise.viewer.server.server import serve
        server = serve(port=0, on_input=lambda window, held: None)
        server.viser.on_client_disconnect(lambda client: None)
        clients = [connect(server.url.replace("http", "ws"), subprotocols=[name]) for name in ("{VISER}", "poise-held")]
    """
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(program)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def test_a_viser_that_cannot_be_guarded_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Any] = []
    unguarded = websockets.asyncio.server.serve

    def behind_our_back(*address: Any, **options: Any) -> Any:
        started.append(address)
        return unguarded(*address, **options)

    other = SimpleNamespace(asyncio=SimpleNamespace(server=SimpleNamespace(serve=behind_our_back)))
    monkeypatch.setattr("viser.infra._infra.websockets", other)
    with pytest.raises(pz.PoiseError, match="in a way that poise cannot guard, so it was stopped"):
        serve(port=0)
    assert started
    assert all(closed(port) for _, _, port in started)


def test_without_viser_the_message_is_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(pz.MissingExtra, match=r'viser: pip install "poise\[viewer\]"'):
        serve(port=0)


# What is held


def message(**held: Any) -> str:
    return json.dumps({"keys": [], "axes": [], "buttons": [], **held})


def test_what_is_held_is_told_when_it_changes(server: Server, listener: Listener, wait_for: Wait) -> None:
    with window(server, "poise-held") as client:
        for held in (
            message(),
            message(keys=["KeyW"]),
            message(keys=["KeyW"]),
            message(axes=[2, -0.5], buttons=[True]),
        ):
            client.send(held)
        wait_for(lambda: len(listener.told) == 2)
    wait_for(lambda: len(listener.told) == 3)
    assert listener.told == [
        (0, InputState(keys=frozenset({"KeyW"}))),
        (0, InputState(axes=(1.0, -0.5), buttons=(True,))),
        (0, InputState()),
    ]


def test_a_window_that_falls_silent_holds_nothing(
    server: Server, listener: Listener, wait_for: Wait, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(input_state, "PATIENCE", 0.1)
    with window(server, "poise-held") as client:
        for _ in range(2):
            client.send(message(keys=["KeyW"]))
            wait_for(lambda: listener.told and listener.told[-1][1].keys)
            wait_for(lambda: listener.told[-1][1] == InputState())
    assert len(listener.told) == 4


@pytest.mark.parametrize(
    "wrong",
    [
        b"{}",
        "",
        "{}",
        "[]",
        "[" * 4000,
        message(more=1),
        message(keys="KeyW"),
        message(keys=["Key W"]),
        message(keys=[1]),
        message(keys=[["KeyW"]]),
        message(keys=["K" * 33]),
        message(keys=["KeyW"] * 33),
        message(axes=[0.0] * 17),
        message(axes=[float("nan")]),
        message(axes=[float("inf")]),
        message(axes=[0.0]).replace("0.0", "1e999"),
        message(axes=[True]),
        message(axes=["1"]),
        message(axes=[None]),
        message(buttons=[False] * 65),
        message(buttons=[1]),
    ],
    ids=str,
)
def test_a_message_that_the_script_would_not_send_ends_its_socket(
    server: Server, listener: Listener, wrong: str | bytes, wait_for: Wait
) -> None:
    with window(server, "poise-held") as client:
        client.send(message(keys=["KeyW"]))
        client.send(wrong)
        code, reason = end(client)
        assert code == 1008
        assert reason
    wait_for(lambda: len(listener.told) == 2)
    assert [held.keys for _, held in listener.told] == [{"KeyW"}, set()]


def test_a_message_that_is_too_long_is_not_read(server: Server) -> None:
    with window(server, "poise-held") as client:
        client.send(message(more="x" * 5000))
        assert end(client)[0] == 1009


def test_a_whole_number_of_any_size_is_clipped() -> None:
    assert input_state.parse(message(axes=[10**400, -(10**400)])).axes == (1.0, -1.0)


def test_claimed_keys_are_told_to_all_windows(server: Server) -> None:
    with window(server, "poise-held") as early:
        assert json.loads(early.recv()) == []
        server.claim(["KeyW", "ArrowUp"])
        assert json.loads(early.recv(5)) == ["ArrowUp", "KeyW"]
        with window(server, "poise-held") as late:
            assert json.loads(late.recv(5)) == ["ArrowUp", "KeyW"]
    with refused("unknown-word", "'Arrow Up'"):
        server.claim(["Arrow Up"])


def test_without_a_listener_nobody_tells_what_is_held() -> None:
    with serve(port=0) as server:
        with window(server, "poise-held") as client:
            assert end(client)[0] == 1002
        with refused("needs", "on_input"):
            server.claim(["KeyW"])


def test_a_listener_that_fails_is_heard_and_called_again(wait_for: Wait, caplog: pytest.LogCaptureFixture) -> None:
    told: list[InputState] = []

    def fail(window: int, held: InputState) -> None:
        told.append(held)
        raise RuntimeError("broken")

    with serve(port=0, on_input=fail) as server, window(server, "poise-held") as client:
        for keys in (["KeyW"], ["KeyS"]):
            client.send(message(keys=keys))
        wait_for(lambda: len(told) == 2)
    assert "what was told of held keys has failed" in caplog.text
    assert "RuntimeError: broken" in caplog.text


def test_those_who_stay_are_let_go_when_the_server_stops(listener: Listener, wait_for: Wait) -> None:
    with serve(port=0, on_input=listener) as server:
        client = window(server, "poise-held")
        client.send(message(keys=["KeyW"]))
        wait_for(lambda: listener.told)
    assert listener.told[-1] == (0, InputState())
    client.close()

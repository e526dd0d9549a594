"""What is sent to the page: poses that have changed and no others, and recordings that are written."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import poise as pz
from poise.common.errors import PoiseError
from poise.viewer.pages.recording import Recording
from poise.viewer.scene.appearance import appearance
from poise.viewer.scene.nodes import Nodes

viser = pytest.importorskip("viser")

ARM = pz.load("planar3")


class Handle:
    """A node that counts what is set on it; without the inside of viser's."""

    def __init__(self, name: str) -> None:
        self.name, self.moves, self.removed = name, 0, False
        self.wxyz: Any = None

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name == "position":
            super().__setattr__("moves", self.moves + 1)

    def remove(self) -> None:
        self.removed = True


class Server:
    """Counts the changes that are sent as one."""

    def __init__(self) -> None:
        self.pictures = 0

    @contextmanager
    def atomic(self) -> Iterator[None]:
        self.pictures += 1
        yield


def poses(n: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    found = rng.normal(size=(n, 7))
    found[:, 3:] /= np.linalg.norm(found[:, 3:], axis=1, keepdims=True)
    return found


def test_only_what_moved_is_sent() -> None:
    server, handles = Server(), [Handle(f"/{i}") for i in range(5)]
    nodes, at = Nodes(server, handles), poses(5)
    assert nodes.place(at) == 5
    assert [handle.moves for handle in handles] == [1] * 5
    assert nodes.place(at.copy()) == 0
    assert server.pictures == 1
    at[2, 0] += 0.1
    at[4, 3:] = -at[4, 3:]
    assert nodes.place(at) == 2
    assert [handle.moves for handle in handles] == [1, 1, 2, 1, 2]
    assert server.pictures == 2
    for handle, pose in zip(handles, at, strict=True):
        assert handle.position == pytest.approx(tuple(pose[:3]))
        assert handle.wxyz == pytest.approx(tuple(pose[3:]))
    nodes.remove()
    assert all(handle.removed for handle in handles)


def test_a_slow_creep_is_sent_in_the_end() -> None:
    """What is left out is measured from what was sent, not from the last call."""
    server, handle = Server(), Handle("/a")
    nodes, at = Nodes(server, [handle]), poses(1)
    nodes.place(at)
    start = at[0, 0]
    for _ in range(100):
        at[0, 0] += 1e-7
        nodes.place(at)
    assert 3 <= handle.moves <= 20
    assert abs(handle.position[0] - at[0, 0]) <= 1e-6
    assert at[0, 0] - start > 9e-6


def test_what_is_handed_over_may_be_changed_afterwards() -> None:
    server, handle = Server(), Handle("/a")
    nodes, at = Nodes(server, [handle]), poses(1)
    nodes.place(at)
    at[0, 0] += 1.0
    assert nodes.place(at) == 1


def test_no_nodes_are_no_trouble() -> None:
    server = Server()
    assert Nodes(server, []).place(np.zeros((0, 7))) == 0
    assert server.pictures == 0


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    """A server of viser that nobody looks at."""
    made = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
    try:
        yield made
    finally:
        made.stop()


def buffered(server: Any, name: str) -> dict[str, Any]:
    """What a page that comes now is told of a node: its place and its turn."""
    found = {}
    for message in list(server._websock_server._broadcast_buffer.message_from_id.values()):
        if getattr(message, "name", None) == name:
            if type(message).__name__ == "SetPositionMessage":
                found["position"] = message.position
            if type(message).__name__ == "SetOrientationMessage":
                found["wxyz"] = message.wxyz
    return found


def test_a_page_that_comes_late_is_told_the_last_poses(server: Any) -> None:
    handles = [server.scene.add_frame(f"/late/{i}") for i in range(3)]
    nodes = Nodes(server, handles)
    for seed in range(4):
        at = poses(3, seed)
        assert nodes.place(at) == 3
    server.flush()
    for handle, pose in zip(handles, at, strict=True):
        told = buffered(server, handle.name)
        assert told["position"] == pytest.approx(tuple(pose[:3]))
        assert told["wxyz"] == pytest.approx(tuple(pose[3:]))


def test_a_figure_stands_where_the_model_says(server: Any) -> None:
    from poise.viewer.scene.appearance import appearance
    from poise.viewer.scene.figure import Figure

    model = pz.load("planar3")
    parts = appearance(model)
    figure = Figure(server, "/arm", model, parts)
    rng = np.random.default_rng(3)
    for _ in range(3):
        q = rng.uniform(-3.0, 3.0, 3)
        figure.place(q)
    assert figure.place(q) == 0
    for i, part in enumerate(parts):
        told, want = buffered(server, f"/arm/{i} {part.frame}"), model.pose(part.frame, q).array
        assert told["position"] == pytest.approx(tuple(want[:3]), abs=1e-9)
        assert abs(np.dot(told["wxyz"], want[3:])) == pytest.approx(1.0)
    q[2] += 0.5
    behind = sum(
        not np.allclose(model.pose(p.frame, q).array, model.pose(p.frame, q - [0, 0, 0.5]).array) for p in parts
    )
    assert figure.place(q) == behind < len(parts)
    figure.visible = False
    assert not figure.visible
    figure.remove()


def test_a_ghost_is_drawn_beside_the_robot(server: Any) -> None:
    from poise.viewer.scene.appearance import appearance
    from poise.viewer.scene.figure import Figure, crowd

    model = pz.load("planar3")
    parts = appearance(model)
    ghost = Figure(server, "/other", model, parts, tint=(1, 2, 3))
    assert ghost.place(np.zeros(3)) == len(parts)
    ghost.remove()
    crowd(server, "/many", model, parts, np.zeros((4, 3)), (1, 2, 3)).remove()


def test_a_recording_is_one_file_that_holds_what_was_shown(server: Any, tmp_path: Path) -> None:
    file = tmp_path / "scene.html"
    recording = Recording(server, file, 0.5, ARM, appearance(ARM))
    handle = server.scene.add_frame("/shown")
    nodes = Nodes(server, [handle])
    for seed in range(3):
        nodes.place(poses(1, seed))
        recording.next_picture()
    assert recording.pictures == 3
    assert not file.exists()
    assert recording.write() == file
    text = file.read_text(encoding="utf-8")
    assert text.lstrip().lower().startswith("<!doctype html")
    assert [path.name for path in tmp_path.iterdir()] == ["scene.html"]


def test_a_recording_that_cannot_be_written_is_refused_first(tmp_path: Path) -> None:
    (tmp_path / "folder.html").mkdir()
    for name in ("scene.txt", "scene", "none/scene.html", "folder.html"):
        with pytest.raises((PoiseError, OSError)) as said:
            Recording(None, tmp_path / name, 0.1, ARM, ())
        assert name in str(said.value)

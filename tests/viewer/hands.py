"""A window with a viewer in it, and a hand on its mouse and keys."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

SHOWN = """() => {
    const places = [];
    window.__viserMutable?.scene?.traverseVisible((node) => places.push(...node.matrixWorld.elements));
    return places.join();
}"""
"""Where everything is that can be seen in the scene, whether it is drawn or not."""

SEEN = """(name) => {
    const { nodeRefFromName, camera } = window.__viserMutable;
    const node = nodeRefFromName[name];
    const { x, y } = camera.position.clone().setFromMatrixPosition(node.matrixWorld).project(camera);
    return [innerWidth * (1 + x) / 2, innerHeight * (1 - y) / 2];
}"""
"""Where in the window the page has a node, in its last picture."""


LOOKS = [pytest.param("drawn", marks=pytest.mark.slow), "undrawn"]
"""A picture costs a processor ten seconds; what is shown in it changes as it does."""


def looking(look: str, request: pytest.FixtureRequest) -> tuple[Any, Callable[[], Any]]:
    """A page for one of `LOOKS`, and what sees it."""
    if look == "drawn":
        page = request.getfixturevalue("drawn_page")
        return page, page.screenshot
    page = request.getfixturevalue("page")
    return page, lambda: page.evaluate(SHOWN)


def plays(page: Any, file: Path, wait_for: Callable[..., None], look: Callable[[], Any]) -> None:
    """Open a recording; what `look` sees of it goes on by itself, and it asks nobody for anything."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    page.wait_for_selector("canvas")
    seen: set[Any] = set()
    # Where all stands still three are seen at most, while the page comes up; drawn by a busy CPU each takes seconds.
    wait_for(lambda: seen.add(look()) or len(seen) > 4, page, 240.0)
    assert {url for url in asked if not url.startswith(("data:", "blob:"))} == {file.as_uri()}


class Window:
    """A page of a viewer's server, which it opens and waits for."""

    def __init__(self, page: Any, server: Any, wait_for: Callable[..., None]) -> None:
        self.page, self._server, self._wait = page, server, wait_for
        before = set(server.viser.get_clients())
        page.goto(server.url)
        page.wait_for_selector("canvas")
        self.wait_for(lambda: set(server.viser.get_clients()) - before)
        (self._client,) = set(server.viser.get_clients()) - before
        page.get_by_role("tab").first.wait_for()
        # Not the camera of the window, whose first message may come before the page has taken this over.
        first = server.viser.initial_camera
        self._stand = tuple(first.position), tuple(first.look_at)

    def wait_for(self, condition: Callable[[], Any]) -> None:
        """Wait, while the browser goes on."""
        self._wait(condition, self.page)

    @property
    def camera(self) -> Any:
        return self._server.viser.get_clients()[self._client].camera

    def look(self) -> None:
        """Look from where it was opened; keys and clicks that miss move the camera."""
        with self.camera.client.atomic():
            self.camera.position, self.camera.look_at = self._stand
        self.wait_for(lambda: np.allclose(self.camera.position, self._stand[0], rtol=0, atol=1e-3))

    def says(self, text: str) -> None:
        """Wait until a text can be read."""
        self.page.get_by_text(text).filter(visible=True).first.wait_for()

    def says_nowhere(self, text: str) -> None:
        """Wait until it cannot be read."""
        self.wait_for(lambda: self.page.get_by_text(text).filter(visible=True).count() == 0)

    # Widgets ---------------------------------------------------------------------------------------------------------

    def tab(self, name: str) -> None:
        self.page.get_by_role("tab", name=name, exact=True).click()

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).filter(visible=True).first.click()

    def box(self, label: str) -> Any:
        return self.page.get_by_role("checkbox", name=label, exact=True).filter(visible=True).first

    def field(self, label: str) -> Any:
        return self.page.get_by_role("textbox", name=label, exact=True).filter(visible=True).first

    def type(self, label: str, text: str) -> None:
        """Put a number into a field."""
        self.field(label).fill(text)
        self.field(label).press("Enter")

    def choose(self, label: str, option: str) -> None:
        """Choose from a dropdown; typing leaves a few of a long list, which so is not scrolled under the mouse."""
        box = self.page.get_by_role("combobox", name=label, exact=True).filter(visible=True).first
        box.click()
        box.fill(option)
        self.page.get_by_role("option", name=option, exact=True).filter(visible=True).click()

    def chosen(self, label: str) -> str:
        return str(self.page.get_by_role("combobox", name=label, exact=True).first.input_value())

    def slider(self, number: int) -> Any:
        return self.page.get_by_role("slider").filter(visible=True).nth(number)

    # The scene -------------------------------------------------------------------------------------------------------

    def pixel(self, point: Sequence[float]) -> tuple[float, float]:
        """Where in the window a point (3,) of the world is seen."""
        camera, size = self.camera, self.page.viewport_size
        ahead = np.subtract(camera.look_at, camera.position)
        ahead = ahead / np.linalg.norm(ahead)
        right = np.cross(ahead, camera.up_direction)
        right = right / np.linalg.norm(right)
        away = np.subtract(point, camera.position)
        half = np.tan(camera.fov / 2.0) * (away @ ahead)
        x, y = away @ right / (half * camera.aspect), away @ np.cross(right, ahead) / half
        return size["width"] * (1.0 + x) / 2.0, size["height"] * (1.0 - y) / 2.0

    def grab(self, gizmo: Any, axis: int) -> np.ndarray:
        """Put the mouse down on an arrow of a gizmo; where that is in the world.

        The page may be behind, with the gizmo or the camera elsewhere yet, where another part of it would be taken.
        """
        told: list[Any] = []

        def there() -> bool:
            seen = self.page.evaluate(SEEN, gizmo.name)
            return np.allclose(seen, self.pixel(gizmo.position), rtol=0, atol=0.5)

        def hears(event: Any) -> None:
            told.append(event)

        gizmo.on_update(hears)

        def grabbed() -> bool:
            self.page.mouse.move(*self.pixel(gizmo.position))
            self.page.mouse.move(*self.pixel(self._arrow(gizmo, axis)))
            told.clear()
            self.page.mouse.down()
            for _ in range(100):  # beside other load a page takes long to answer
                if told:
                    return True
                self.page.wait_for_timeout(20)
            self.page.mouse.up()
            return False

        self.wait_for(there)
        self.wait_for(grabbed)
        gizmo.remove_update_callback(hears)
        return self._arrow(gizmo, axis)

    @staticmethod
    def _arrow(gizmo: Any, axis: int) -> np.ndarray:
        return np.array(gizmo.position, dtype=float) + 0.7 * gizmo.scale * np.eye(3)[axis]

    def pull(self, gizmo: Any, axis: int, metres: float) -> None:
        """Drag a gizmo along one of the world's axes, which it must stand along."""
        arrow = self.grab(gizmo, axis)
        for share in np.linspace(0.2, 1.0, 5):
            self.page.mouse.move(*self.pixel(arrow + share * metres * np.eye(3)[axis]))
        self.page.mouse.up()

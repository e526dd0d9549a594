"""Pages in which a robot is dragged: it follows, within its limits, with no server and nothing from a network."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import poise as pz
from poise.kernels.machine.library import place
from poise.viewer.pages.live import dragged_too, live_page
from poise.viewer.pages.recording import html_of_motion
from poise.viewer.scene.appearance import appearance

with_library = pytest.mark.skipif(
    not place("wasm32").is_file(), reason="there is no poise.wasm: run python -m poise.build --target wasm32"
)
Wait = Callable[..., None]
STAGE = "document.querySelector('canvas').stage"


def opened(page: Any, file: Path, text: str) -> list[str]:
    """The page, opened from the disk; what it asks for."""
    file.write_text(text, encoding="utf-8")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    return asked


@with_library
@pytest.mark.parametrize("width", [900, 390], ids=["desk", "telephone"])
def test_a_hand_follows_what_drags_it(width: int, page: Any, wait_for: Wait, tmp_path: Path) -> None:
    page.set_viewport_size({"width": width, "height": 700})
    arm = pz.load("panda")
    asked = opened(page, tmp_path / "arm.html", live_page(arm))
    wait_for(lambda: page.evaluate(f"{STAGE}?.frames > 2"), page)
    x, y = page.evaluate(f"{STAGE}.seenAt({STAGE}.place(0))")
    assert 0 < x < width
    before = page.evaluate(f"[...{STAGE}.q]")
    page.mouse.move(x, y)
    page.mouse.down()
    for k in range(1, 21):
        page.mouse.move(x + 2 * k, y + 1.5 * k)
    page.mouse.up()
    wait_for(lambda: page.evaluate(f"{STAGE}.resting && {STAGE}.held === null"), page)
    q = np.array(page.evaluate(f"[...{STAGE}.q]"))
    assert np.abs(q - before).max() > 0.01
    assert arm.within_limits(q)
    handle = page.evaluate(f"{STAGE}.place(0)")
    np.testing.assert_allclose(arm.pose(arm.tip, q).xyz, handle, atol=1e-3)
    seen = page.evaluate(f"{STAGE}.seenAt({STAGE}.place(0))")
    np.testing.assert_allclose(seen, [x + 40, y + 30], atol=2.0)
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []


@with_library
@pytest.mark.parametrize(("rate", "steps"), [(240, 15), (60, 60), (24, 150), (5, 240)])
def test_steps_take_their_time_whatever_the_rate_of_the_screen(
    rate: int, steps: int, page: Any, wait_for: Wait, tmp_path: Path
) -> None:
    page.add_init_script("window.requestAnimationFrame = (next) => { window.picture = next; };")
    opened(page, tmp_path / "arm.html", live_page(pz.load("planar3")))
    wait_for(lambda: page.evaluate("typeof window.picture === 'function'"), page)
    counted = page.evaluate(
        f"""() => {{
          const stage = {STAGE};
          let count = 0;
          stage.next = () => count++;
          for (let k = 0; k <= 60; k++) window.picture((1000 * k) / {rate});
          return count;
        }}"""
    )
    assert abs(counted - steps) <= 1  # the last of them may be due a rounding later


@with_library
def test_beside_a_handle_the_camera_goes_round(page: Any, wait_for: Wait, tmp_path: Path) -> None:
    opened(page, tmp_path / "arm.html", live_page(pz.load("panda")))
    wait_for(lambda: page.evaluate(f"{STAGE}?.frames > 2"), page)
    before = page.evaluate(f"[...{STAGE}.q, {STAGE}.camera.turn, {STAGE}.camera.distance]")
    page.mouse.move(20, 500)
    page.mouse.down()
    page.mouse.move(120, 480)
    page.mouse.up()
    page.mouse.wheel(0, 200)
    wait_for(lambda: page.evaluate(f"{STAGE}.camera.distance") > before[-1], page)
    after = page.evaluate(f"[...{STAGE}.q, {STAGE}.camera.turn, {STAGE}.camera.distance]")
    assert after[-2] == pytest.approx(before[-2] - 0.8)
    np.testing.assert_allclose(after[:7], before[:7], atol=1e-6)


@with_library
def test_a_page_that_plays_has_a_button_that_lets_one_drag(page: Any, wait_for: Wait, tmp_path: Path) -> None:
    arm = pz.load("panda")
    text = dragged_too("<html><body><p>it plays</p></body></html>", arm, appearance(arm), arm.home)
    opened(page, tmp_path / "played.html", text)
    assert not page.locator("canvas").is_visible()
    page.get_by_role("button", name="Drag it").click()
    wait_for(lambda: page.evaluate(f"{STAGE}?.frames > 2"), page)
    assert page.locator("canvas").is_visible()
    page.get_by_role("button", name="Replay").click()
    assert not page.locator("canvas").is_visible()


@pytest.mark.parametrize("width", [900, 390], ids=["desk", "telephone"])
def test_the_button_covers_nothing_of_the_player(
    width: int, page: Any, wait_for: Wait, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("poise.viewer.pages.live.live_script", lambda: "let poise;")  # there may be no library
    arm = pz.load("planar3")
    page.set_viewport_size({"width": width, "height": 600})
    motion = pz.Motion(arm, [0.0, 0.1], [arm.home, arm.home + 0.1])
    (tmp_path / "it.html").write_text(html_of_motion(motion, appearance(arm)), encoding="utf-8")
    page.goto((tmp_path / "it.html").as_uri())
    wait_for(lambda: page.locator("button:not(#poise-drag), input").count() > 1, page)
    button = page.locator("#poise-drag").bounding_box()
    for box in (one.bounding_box() for one in page.locator("button:not(#poise-drag), input").all()):
        assert box is None or box["y"] >= button["y"] + button["height"] or box["y"] + box["height"] <= button["y"]


def test_a_base_that_floats_stays_where_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("poise.viewer.pages.live.live_script", lambda: "let poise;")  # there may be no library
    body = pz.load("g1", base="floating")
    text = dragged_too("<body></body>", body, appearance(body, look="skeleton"), body.home)
    assert "Drag it" in text
    assert text.endswith("</body>")

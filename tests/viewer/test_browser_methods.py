"""The pages of methods, each with the method at work in it."""

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import poise as pz
from poise.kernels.machine.library import place
from poise.viewer.pages.live import live_script

DOCS = Path(__file__).parents[2] / "docs"
with_library = pytest.mark.skipif(
    not place("wasm32").is_file(), reason="there is no poise.wasm: run python -m poise.build --target wasm32"
)
STATE = "document.querySelector('div').live"


@pytest.fixture(scope="module")
def live() -> ModuleType:
    spec = importlib.util.spec_from_file_location("live", DOCS / "live.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_page_of_a_method_that_is_shown_is_there(live: ModuleType) -> None:
    for page in live.SLIDERS:
        assert f"```{{live}} method_{page}\n```" in (DOCS / "methods" / f"{page}.md").read_text()
    for page in (DOCS / "methods").glob("*.md"):
        assert ("{live}" in page.read_text()) == (page.stem in live.SLIDERS)


@with_library
def test_an_arm_takes_the_updates_of_the_method_that_is_set(
    live: ModuleType, page: Any, wait_for: Callable[..., None], tmp_path: Path
) -> None:
    method, settings = live.SLIDERS["dls"]
    data = live._method(method, settings)
    script = (DOCS / "live" / "method.js").read_text()
    file = tmp_path / "method.html"
    file.write_text(
        f"<style>canvas {{ width: 500px; height: 400px }}</style><div></div><script>{live_script()}</script>"
        f"<script>{script}</script><script>poise.method(document.querySelector('div'), {json.dumps(data)})</script>"
    )
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    wait_for(lambda: page.evaluate(f"{STATE}?.errors.at(-1) < 1e-11"), page)
    shown = page.evaluate(f"{STATE}.errors")
    arm = pz.load("planar5")
    given = {setting.name: setting.values[setting.at] for setting in settings}
    tracker = pz.Tracker(arm, pz.PositionTask(arm.tip), pz.methods.METHODS[method](**given), settle=False)
    q, target = np.array(data["start"]), np.array([*data["target"], 0.0])
    for error in shown[:8]:
        assert error == pytest.approx(np.linalg.norm(arm.pose(arm.tip, q).xyz - target), abs=1e-9)
        q = tracker.step(q, target)
    page.get_by_label("damping").fill("0")
    wait_for(lambda: page.evaluate(f"{STATE}.errors.at(-1) < 1e-11"), page)
    assert page.evaluate(f"{STATE}.errors") != shown
    assert page.get_by_text("damping: 0.01").is_visible()
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []

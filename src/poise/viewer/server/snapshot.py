"""A picture of a page, taken by a browser that nobody sees."""

import shutil
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Any, Final

from poise.common.errors import PoiseError
from poise.common.files import refuse_place, write_whole
from poise.common.lazy import optional

_BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome")
_SECONDS: Final = 60.0
_UNSAID: Final = ".mantine-Notification-root { display: none }"
"""The page says in a corner that no graphics card draws it."""


def screenshot(
    server: Any,
    url: str,
    file: Path,
    *,
    width: int = 1280,
    height: int = 800,
    wait: float = 4.0,
    ready: Callable[[Any], object] = lambda page: None,
) -> Path:
    """Write what a browser shows of a viewer as PNG, `wait` seconds after it has connected.

    `ready` is called with the page of playwright before these seconds, to press what shall be pressed.  Needs
    playwright and a chromium of the system.  Raises MissingExtra and PoiseError where one is not there, OSError for
    a place that cannot be written to.
    """
    if file.suffix.lower() != ".png":
        raise PoiseError(f"{file}: a screenshot is a PNG file; give it a name that ends in .png")
    refuse_place(file)
    playwright = optional("a screenshot", "playwright", "screenshot", "playwright.sync_api")
    browser = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if browser is None:
        raise PoiseError("a screenshot needs chromium: install it, on Debian by `apt-get install chromium`")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=browser)
        try:
            page = opened.new_page(viewport={"width": width, "height": height})
            page.goto(url)
            page.wait_for_selector("canvas")
            last = monotonic() + _SECONDS
            while not server.get_clients():
                if monotonic() > last:
                    raise PoiseError(f"the browser did not connect to {url} within {_SECONDS:g} s")
                page.wait_for_timeout(50)
            page.add_style_tag(content=_UNSAID)
            ready(page)
            page.wait_for_timeout(1e3 * wait)
            write_whole(file, page.screenshot(timeout=1e3 * _SECONDS))
        finally:
            opened.close()
    return file

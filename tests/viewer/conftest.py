"""A browser for the tests that look at the page: Debian's chromium, driven by playwright.

All tests that use it are one group, so that with xdist one worker runs them and there is one browser.
"""

import shutil
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("browser"))


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="looking at the page needs playwright")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("looking at the page needs chromium: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium)
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A window of its own, without anything from before; an error in it fails the test."""
    context = browser.new_context(viewport={"width": 900, "height": 600})
    errors: list[str] = []
    context.on("weberror", lambda error: errors.append(str(error.error)))
    yield context.new_page()
    context.close()
    assert errors == []


@pytest.fixture
def wait_for() -> Callable[..., None]:
    """Wait until a condition holds; with a page, the browser goes on meanwhile and its events arrive."""

    def wait(condition: Callable[[], Any], page: Any = None, seconds: float = 20.0) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, "what was waited for has not come"
            if page is None:
                time.sleep(0.01)
            else:
                page.wait_for_timeout(20)

    return wait

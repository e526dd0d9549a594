"""A browser for the tests that look at a page: Debian's chromium, driven by playwright; Ctrl-C; no Numba.

Each worker that needs one has a browser of its own, and a file is of one worker.
"""

import asyncio
import os
import shutil
import signal
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from poise.common.errors import MissingExtra

# Tests that run themselves as programs, without a compiler, find what tests share.
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH")]))

# How long a draw takes says how busy the machine is.  The suite judges a change by the same examples in every run, on
# every machine; `--hypothesis-profile random` seeks new ones.
settings.register_profile("same", settings(), deadline=None, derandomize=True, database=None)
settings.register_profile("random", settings(), deadline=None, derandomize=False)
settings.load_profile("same")

pytest_plugins = ["support.durations", "support.shortened", "support.skipped"]


@contextmanager
def skipping_without_numba() -> Iterator[None]:
    """A test that compiles is skipped where Numba is not installed, as beside a wheel with a library."""
    try:
        yield
    except (MissingExtra, ModuleNotFoundError) as error:
        if "poise[jit]" not in str(error) and getattr(error, "name", "") not in ("numba", "llvmlite"):
            raise
        pytest.skip(str(error))


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, Any, Any]:
    with skipping_without_numba():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: Any, request: pytest.FixtureRequest) -> Generator[None, Any, Any]:
    with skipping_without_numba():
        return (yield)


def missing() -> str | None:
    """What the browser lacks on this machine."""
    if find_spec("playwright") is None:
        return "looking at the page needs playwright: pip install playwright"
    if shutil.which("chromium") is None:
        return "looking at the page needs chromium: apt-get install chromium"
    return None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    reason = missing()
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.browser)
            if reason is not None:
                item.add_marker(pytest.mark.skip(reason=reason))


@contextmanager
def entered(loop: asyncio.AbstractEventLoop | None) -> Iterator[None]:
    """Playwright leaves its event loop entered in this thread while it waits; other tests must not find it there."""
    asyncio._set_running_loop(loop)
    try:
        yield
    finally:
        asyncio._set_running_loop(None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """The one browser; a test asks for a `page` of it."""
    from playwright.sync_api import sync_playwright

    with entered(None):
        driver = sync_playwright().start()
        loop = asyncio._get_running_loop()
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"))
    yield browser, loop
    with entered(loop):
        browser.close()
        driver.stop()


UNDRAWN = """
for (const draw of ["drawArrays", "drawElements", "drawArraysInstanced", "drawElementsInstanced", "drawRangeElements"])
    WebGL2RenderingContext.prototype[draw] = () => {};
"""
"""Leaves nothing of viser's for a processor to draw, which takes it seconds to prepare for and the most of a test."""


@contextmanager
def opened(chromium: Any, *, drawn: bool = False) -> Iterator[Any]:
    """A window of its own, without anything from before; an error in it fails the test."""
    errors: list[str] = []
    context = chromium.new_context(viewport={"width": 600, "height": 300} if drawn else {"width": 900, "height": 600})
    if not drawn:
        context.add_init_script(UNDRAWN)
    context.set_default_timeout(60_000)
    context.on("weberror", lambda error: errors.append(str(error.error)))
    yield context.new_page()
    context.close()
    assert errors == []


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A window of its own, in which viser does all but draw."""
    chromium, loop = browser
    with entered(loop), opened(chromium) as page:
        yield page


@pytest.fixture
def drawn_page(browser: Any) -> Iterator[Any]:
    """A window of its own, and small, for a test that looks at the picture."""
    chromium, loop = browser
    with entered(loop), opened(chromium, drawn=True) as page:
        yield page


@pytest.fixture(scope="module")
def pages(browser: Any) -> Iterator[Any]:
    """One window for all tests of a file, as `page` has it; a test has it as `shared_page`."""
    chromium, loop = browser
    window = opened(chromium)
    with entered(loop):
        page = window.__enter__()
    yield page
    with entered(loop):
        window.__exit__(None, None, None)


@pytest.fixture
def shared_page(browser: Any, pages: Any) -> Iterator[Any]:
    """The file's window."""
    with entered(browser[1]):
        yield pages


@pytest.fixture
def wait_for() -> Callable[..., None]:
    """Wait until a condition holds; with a page, the browser goes on meanwhile and its events arrive."""

    def wait(condition: Callable[[], Any], page: Any = None, seconds: float = 180.0) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, "what was waited for has not come"
            if page is None:
                time.sleep(0.01)
            else:
                page.wait_for_timeout(20)

    return wait


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Ctrl-C is a KeyboardInterrupt, as where a person began the process: a job in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)

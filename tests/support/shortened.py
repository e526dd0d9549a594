"""A shorter run of the suite: `--until TIME`, after which no test begins, and `--examples N`, at most so many a law."""

import time
from collections import Counter
from typing import Any

import pytest
from hypothesis import settings

OVER = "the time of this run is over"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--until", type=float, help="begin no test after this moment [s since 1970]")
    parser.addoption("--examples", type=int, help="let Hypothesis draw at most so many examples for each law")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    most = config.getoption("--examples")
    for item in items if most else ():
        law: Any = getattr(getattr(item, "obj", None), "__func__", getattr(item, "obj", None))
        # What @given has made of the test reads its settings here when it is called.
        own = getattr(law, "_hypothesis_internal_use_settings", None)
        if own is not None and own.max_examples > most:
            law._hypothesis_internal_use_settings = settings(own, max_examples=most)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    until = item.config.getoption("--until")
    if until is not None and time.time() > until:
        pytest.skip(OVER)


def left_out(terminalreporter: Any) -> list[pytest.TestReport]:
    """The tests that the time was too short for."""
    return [report for report in terminalreporter.stats.get("skipped", ()) if OVER in str(report.longrepr)]


def none_begun(terminalreporter: Any) -> bool:
    """Whether the time was over before any test began."""
    ran = any(terminalreporter.stats.get(outcome) for outcome in ("passed", "failed", "error", "xfailed", "xpassed"))
    return bool(left_out(terminalreporter)) and not ran


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """A run whose time was over before a test began has tested nothing, and is none that passes."""
    reporter: Any = session.config.pluginmanager.get_plugin("terminalreporter")
    here = reporter is not None and not hasattr(session.config, "workerinput")
    if here and exitstatus == pytest.ExitCode.OK and none_begun(reporter):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Which tests the time was too short for, by folder."""
    skipped = left_out(terminalreporter)
    if none_begun(terminalreporter):
        terminalreporter.line("the time was over before a test began, so nothing is known of the change")
    if skipped:
        folders = Counter(report.nodeid.partition("::")[0].rpartition("/")[0] for report in skipped)
        told = ", ".join(f"{folder} ({count})" for folder, count in folders.items())
        terminalreporter.line(
            f"{len(skipped)} tests were left out when the time was over: {told}; `make test` runs all"
        )

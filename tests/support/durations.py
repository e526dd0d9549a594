"""The processor time of each test, its fixtures and the processes that it waited for included: `--durations-to FILE`.

The file has a line a file of tests and a line a test that took 0.1 s or more, the dearest first: seconds, a tab, its
name.  `.ci/test` renews `tests/durations.tsv` with it, by which `make quick` knows what fits into its time, and whoever
makes a test sees where that of the suite goes.
"""

import os
import time
from collections import Counter
from collections.abc import Generator
from pathlib import Path

import pytest

FILE = Path(__file__).parents[1] / "durations.tsv"
LEAST = 0.1
"""Seconds: tests that take less are thousands, and change their order with every run."""
SPENT = "processor time"


def spent() -> float:
    """Processor time of this process and of its children that have ended [s]."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def kept() -> dict[str, float]:
    """What each file of tests took, and each test that took long [s]."""
    rows = (line.split("\t") for line in FILE.read_text().splitlines()) if FILE.is_file() else ()
    return {name: float(seconds) for seconds, name in rows}


class Durations:
    """What tests took; with xdist the reports of all workers come to the one that writes."""

    def __init__(self, file: Path | None) -> None:
        self.file, self.took = file, Counter[str]()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        begun = item.stash[_BEGUN]
        item.stash[_BEGUN] = now = spent()
        report.user_properties = [(SPENT, now - begun)]
        return report

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        item.stash[_BEGUN] = spent()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.took[report.nodeid] += sum(seconds for name, seconds in report.user_properties if name == SPENT)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.file is not None and not hasattr(session.config, "workerinput"):
            files = Counter[str]()
            for name, took in self.took.items():
                files[name.partition("::")[0]] += took
            rows = [(round(took, 1), name) for name, took in self.took.items() if took >= LEAST]
            rows += [(round(took, 1), name) for name, took in files.items()]
            rows.sort(key=lambda row: (-row[0], row[1]))
            self.file.write_text("".join(f"{took:.1f}\t{name}\n" for took, name in rows))


_BEGUN = pytest.StashKey[float]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--durations-to", type=Path, help="write the processor time of each test into this file")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Durations(config.getoption("--durations-to")), "poise durations")

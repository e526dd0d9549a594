"""What was skipped, for a run that makes good for it: `--skipped-to FILE`, then `pytest @FILE` where nothing lacks."""

from pathlib import Path

import pytest


class Skipped:
    """The names of skipped tests, and of files that were skipped whole."""

    def __init__(self, file: Path) -> None:
        self.file, self.names = file, dict[str, None]()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped and not hasattr(report, "wasxfail"):
            self.names[report.nodeid] = None

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.skipped:
            self.names[report.nodeid] = None

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self.file.write_text("".join(f"{name}\n" for name in sorted(self.names)))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--skipped-to", type=Path, help="write the names of the tests that are skipped into this file")


def pytest_configure(config: pytest.Config) -> None:
    file = config.getoption("--skipped-to")
    if file is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Skipped(file), "poise skipped")

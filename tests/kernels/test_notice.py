"""What is told of compilations: which, how many of how many, and their processor time, on a pipe too."""

import pytest

from poise.kernels.machine import notice
from poise.kernels.machine.notice import Notice


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, which only the test moves."""
    now = [100.0]
    monkeypatch.setattr(notice, "monotonic", lambda: now[0])
    return now


def lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    out, err = capsys.readouterr()
    assert out == ""
    return err.splitlines()


def test_it_says_what_is_compiled_and_at_the_end_how_long_it_took(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    told = Notice()
    told.begins("solver.solve")
    assert lines(capsys) == ["poise: compiling kernels for this CPU, once: solver.solve, 1 of 1"]
    clock[0] += 4.0
    told.ends(3.4, 3.4)
    assert lines(capsys) == ["poise: 1 of 1 kernels compiled, 3 s of processor time"]


def test_of_many_it_tells_every_few_seconds(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    told = Notice()
    told.expect(10)
    for _ in range(9):
        told.begins("rows")
        clock[0] += 2.0
        told.ends(1.9, 1.9)
    told.add(6.9)  # by a worker
    assert lines(capsys) == [
        "poise: compiling kernels for this CPU, once: rows, 1 of 10",
        "poise: 3 of 10 kernels compiled, 6 s of processor time",
        "poise: 6 of 10 kernels compiled, 11 s of processor time",
        "poise: 9 of 10 kernels compiled, 17 s of processor time",
        "poise: 10 of 10 kernels compiled, 24 s of processor time",
    ]
    assert (told.compiled, told.seconds) == (10, pytest.approx(24.0))


def test_what_was_loaded_and_what_takes_a_moment_need_no_line(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    told = Notice()
    told.ends(0.1, 0.1)
    assert (lines(capsys), told.compiled) == ([], 0)
    told.begins("rows")
    told.ends(0.3, 0.3)
    told.begins("sides")
    told.ends(0.3, 0.3)
    assert lines(capsys) == ["poise: compiling kernels for this CPU, once: rows, 1 of 1"]
    assert told.compiled == 2


def test_who_watches_is_not_told_twice(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    told = Notice()
    told.quiet = True
    told.begins("rows")
    told.ends(3.0, 3.0)
    assert lines(capsys) == []
    assert told.seconds == 3.0

"""The loop: it calls at a rate, waits, survives what it calls, and ends."""

import threading
from time import perf_counter, sleep

import pytest

from poise.viewer.server.loop import Loop

PATIENCE = 20.0
"""Longer than any of these takes on a machine that is busy [s]."""


class Counted:
    """Counts its calls and says when so many have been."""

    def __init__(self, enough: int) -> None:
        self.calls, self.enough, self.done = 0, enough, threading.Event()

    def __call__(self) -> None:
        self.calls += 1
        if self.calls >= self.enough:
            self.done.set()


def test_it_calls_until_it_is_stopped_and_then_no_more() -> None:
    do = Counted(5)
    loop = Loop("test", 500.0, do)
    assert do.done.wait(PATIENCE)
    loop.stop()
    ended = do.calls
    assert loop.calls == ended
    assert not any(thread.name == "test" for thread in threading.enumerate())
    loop.stop()
    assert do.calls == ended


def test_it_goes_no_faster_than_its_rate() -> None:
    do, since = Counted(20), perf_counter()
    loop = Loop("test", 200.0, do)
    assert do.done.wait(PATIENCE)
    passed = perf_counter() - since
    loop.stop()
    assert passed >= 19 / 200.0


def test_what_was_missed_is_not_made_up_for() -> None:
    """After a call of many periods the next ones are a period apart again."""
    times: list[float] = []
    done = threading.Event()

    def do() -> None:
        times.append(perf_counter())
        if len(times) == 1:
            sleep(0.2)
        if len(times) == 6:
            done.set()

    loop = Loop("test", 50.0, do)
    assert done.wait(PATIENCE)
    loop.stop()
    assert times[5] - times[1] >= 3 / 50.0


def test_paused_it_calls_nothing_and_goes_on_later() -> None:
    do = Counted(3)
    loop = Loop("test", 500.0, do)
    assert do.done.wait(PATIENCE)
    loop.paused = True
    sleep(0.02)
    held = do.calls
    sleep(0.1)
    assert do.calls <= held + 1
    do.enough, do.done = do.calls + 3, threading.Event()
    loop.paused = False
    assert do.done.wait(PATIENCE)
    loop.stop()


def test_it_survives_errors_and_prints_each_kind_once(capsys: pytest.CaptureFixture[str]) -> None:
    count, done = 0, threading.Event()

    def do() -> None:
        nonlocal count
        count += 1
        if count > 8:
            done.set()
        raise (ValueError if count % 2 else KeyError)(f"number {count}")

    loop = Loop("test", 500.0, do)
    assert done.wait(PATIENCE)
    loop.stop()
    printed = capsys.readouterr().err
    assert printed.count("ValueError: number") == 1
    assert printed.count("KeyError: 'number") == 1
    assert loop.calls == count


def test_what_it_calls_may_stop_it() -> None:
    done = threading.Event()

    def do() -> None:
        loop.stop()
        done.set()

    gate = threading.Event()
    loop = Loop("test", 500.0, lambda: gate.is_set() and do())
    gate.set()
    assert done.wait(PATIENCE)
    loop.stop()
    assert loop.busy > 0.0


def test_a_rate_that_is_none_starts_no_thread() -> None:
    with pytest.raises(ZeroDivisionError):
        Loop("never", 0.0, lambda: None)
    assert not any(thread.name == "never" for thread in threading.enumerate())

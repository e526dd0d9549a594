"""A property that is computed once, by threads that do not wait for one another."""

import os
import threading

import pytest

from poise.common.cached import cached_property


class Slow:
    """An object whose property takes until somebody says so."""

    def __init__(self) -> None:
        self.begun, self.end, self.times = threading.Event(), threading.Event(), 0

    @cached_property
    def answer(self) -> int:
        self.times += 1
        self.begun.set()
        assert self.end.wait(60)
        return 42


def test_it_is_computed_once() -> None:
    one = Slow()
    one.end.set()
    assert (one.answer, one.answer, one.times) == (42, 42, 1)


def test_one_object_does_not_wait_for_another() -> None:
    one, other = Slow(), Slow()
    other.end.set()
    thread = threading.Thread(target=lambda: one.answer)
    thread.start()
    assert one.begun.wait(60)
    found = threading.Thread(target=lambda: other.answer, daemon=True)
    found.start()
    found.join(30)
    try:
        assert other.__dict__["answer"] == 42
    finally:
        one.end.set()
        thread.join()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:os.fork\\(\\) was called:RuntimeWarning")  # of JAX, where another test imported it
def test_a_child_that_was_forked_meanwhile_computes_its_own() -> None:
    one, other = Slow(), Slow()
    other.end.set()
    thread = threading.Thread(target=lambda: one.answer)
    thread.start()
    assert one.begun.wait(60)
    child = os.fork()
    if child == 0:
        threading.Timer(30, os._exit, (1,)).start()
        os._exit(other.answer - 42)
    one.end.set()
    thread.join()
    assert os.waitpid(child, 0)[1] == 0

"""What a fork waits for: a process forked while another thread compiles would be in the middle of it for ever."""

import os
from functools import cache
from typing import Any, Final

_LOCKS: Final[list[tuple[int, Any]]] = []
"""Those that have been given, the lowest rank first."""
_TAKEN: Final[list[list[Any]]] = []


def hold_over_forks(lock: Any, rank: int) -> None:
    """A fork waits for this lock, which can be taken several times, and its child begins with a free one.

    A lock that is held while another is taken has the higher rank.
    """
    _LOCKS.append((rank, lock))
    _LOCKS.sort(key=lambda one: one[0])


@cache
def before_numba() -> None:
    """Let a fork wait for these locks before that of `logging`, which importing Numba takes."""
    import logging  # noqa: F401

    _register()


def _take() -> None:
    _TAKEN.append([lock for _, lock in reversed(_LOCKS)])
    for lock in _TAKEN[-1]:
        lock.acquire()


def _give_back() -> None:
    for lock in reversed(_TAKEN.pop()):
        lock.release()


def _register() -> None:
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_take, after_in_parent=_give_back, after_in_child=_give_back)


_register()

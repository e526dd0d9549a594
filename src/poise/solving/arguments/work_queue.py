"""Many rows in pieces, which threads take one after the other, until Ctrl-C."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, Final, final

if TYPE_CHECKING:
    from concurrent.futures import Future

_LOOK: Final = 0.1
"""Seconds between two looks at signals, while threads work."""


def _wait_for(workers: "list[Future[None]]") -> None:
    """Wait for the pieces under way, whatever else is pressed: nobody may read what threads still write."""
    from concurrent.futures import wait

    while True:
        with suppress(KeyboardInterrupt):
            wait(workers)
            return


@final
class WorkQueue:
    """The pieces of `many` rows, `size` rows each: an iterator in each thread, each piece in one of them.

    Which thread takes which is left to chance, so what is made of a piece may depend on the piece alone.
    """

    __slots__ = ("_many", "_numbers", "size", "stopped")
    size: int
    stopped: bool
    """Whether a thread has failed, or at Ctrl-C: there are no more pieces, and a long one may be left as it is."""

    def __init__(self, many: int, size: int) -> None:
        self._many, self.size, self.stopped = many, size, False
        self._numbers = count()

    def __len__(self) -> int:
        return -(-self._many // self.size)

    def __iter__(self) -> Iterator[range]:
        while not self.stopped:
            first = next(self._numbers) * self.size
            if first >= self._many:
                return
            yield range(first, min(first + self.size, self._many))

    def share(self, work: Callable[[], None], threads: int, report: Callable[[], None] | None = None) -> None:
        """Call `work`, which takes pieces, in so many threads, and `report` ten times a second; raises what they raise.

        Python hears of signals in this thread alone, so Ctrl-C is a KeyboardInterrupt here when the pieces that were
        begun are done.
        """
        if threads == 1 and report is None:
            work()
            return
        from concurrent.futures import ThreadPoolExecutor, wait

        with ThreadPoolExecutor(threads) as pool:
            workers = [pool.submit(self._stopping, work) for _ in range(threads)]
            try:
                while wait(workers, _LOOK).not_done:
                    if report is not None:
                        report()
            finally:
                self.stopped = True
                _wait_for(workers)
        for worker in workers:
            worker.result()

    def _stopping(self, work: Callable[[], None]) -> None:
        """Work, and stop the other threads if this one fails."""
        try:
            work()
        except BaseException:
            self.stopped = True
            raise

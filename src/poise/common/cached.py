"""A property that is computed once."""

import sys
from functools import cached_property as _cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or sys.version_info >= (3, 12):
    cached_property = _cached_property
else:

    class cached_property(_cached_property):
        """As from Python 3.12 on: without a lock that all objects share.

        Threads wait for one another there, and a process that is forked while one of them computes waits for ever.
        """

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is None:
                return self
            found = instance.__dict__
            if self.attrname not in found:
                found[self.attrname] = self.func(instance)
            return found[self.attrname]

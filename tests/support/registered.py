"""Methods and damping rules for one test: others go through all that there are."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from poise.methods import damping
from poise.methods.registry import METHODS


@contextmanager
def for_a_while() -> Iterator[None]:
    """What is registered within the block is gone after it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(METHODS, "_homes", dict(METHODS._homes))
        patch.setattr(METHODS, "_own", dict(METHODS._own))
        patch.setattr(damping, "RULES", dict(damping.RULES))
        yield

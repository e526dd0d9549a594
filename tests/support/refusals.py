"""What is refused, by its code: sentences are free to get better."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from poise.common.errors import MissingExtra, PoiseError


@contextmanager
def refused(code: str, *words: str) -> Iterator[pytest.ExceptionInfo[PoiseError]]:
    """A block that is refused with this code, and with these words in the sentence."""
    with pytest.raises(PoiseError) as found:
        yield found
    if isinstance(found.value, MissingExtra) and code != MissingExtra.code:
        raise found.value  # what is not installed skips a test
    assert found.value.code == code, f"{found.value.code}: {found.value}"
    assert not [word for word in words if word not in str(found.value)], str(found.value)

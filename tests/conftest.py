"""Tests that a machine without Numba has no use for."""

from poise.common.errors import MissingExtra
from poise.kernels.machine.jit import compiler


def _compiles() -> bool:
    try:
        return compiler() is not None
    except MissingExtra:
        return False


collect_ignore_glob = [] if _compiles() else ["building/*", "kernels/*", "solving/test_reads.py"]
"""What is about Numba's part in it."""

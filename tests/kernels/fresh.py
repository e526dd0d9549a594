"""A process that finds no compiled code but its own."""

import os
from pathlib import Path

from poise.kernels.machine.library import NATIVE


def fresh(home: Path, **more: str) -> dict[str, str]:
    """Its environment: what it compiles is kept in `home`, and its temporary files, among which an earlier process may
    have kept some, are beside it.
    """
    temporary = home.with_name(f"{home.name}-temporary")
    temporary.mkdir(parents=True, exist_ok=True)
    places = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(temporary))
    return {**os.environ, "POISE_CACHE_DIR": str(home), "POISE_CPU": NATIVE, **places, **more}

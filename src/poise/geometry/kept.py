"""Files in a folder of caches, written so that no reader ever sees half of one."""

import contextlib
import secrets
from pathlib import Path


def keep(file: Path, content: bytes) -> None:
    """Write a file under another name and move it to its own; what cannot be written is made anew the next time."""
    draft = file.with_name(f"{file.name}.{secrets.token_hex(8)}")
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            draft.write_bytes(content)
            draft.replace(file)
        finally:
            draft.unlink(missing_ok=True)

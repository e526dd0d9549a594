"""What all faces have in common: they are short."""

from pathlib import Path

import poise_compat

LINES = 125


def test_every_face_is_short() -> None:
    files = list(Path(poise_compat.__file__).parent.rglob("*.py"))
    assert len(files) > 40
    assert not [file.name for file in files if len(file.read_text().splitlines()) > LINES]

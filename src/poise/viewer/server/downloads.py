"""Files that go to the downloads of the browser whose button was pressed."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any


def download(
    gui: Any, label: str, name: str, write: Callable[[Path], object], attempt: Callable[[Callable[[], object]], bool]
) -> None:
    """A button that sends what `write` writes to a file of this `name`; nothing where the `attempt` at that fails."""
    button = gui.add_button(label)

    @button.on_click  # type: ignore[untyped-decorator]
    def clicked(event: Any) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / name
            if attempt(lambda: write(file)) and event.client is not None:
                event.client.send_file_download(name, file.read_bytes(), save_immediately=True)

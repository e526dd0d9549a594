"""What the examples print, for `examples.md`: the docs build runs each of them once."""

import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parent.parent / "examples"
FOLDER = Path(__file__).parent / "_printed"


def run(folder: Path = FOLDER) -> None:
    """Write what each example prints into `folder`; raises CalledProcessError where one fails."""
    folder.mkdir(exist_ok=True)
    for example in sorted(EXAMPLES.glob("[0-9]*.py")):
        done = subprocess.run([sys.executable, str(example)], capture_output=True, text=True, check=True)
        (folder / f"{example.stem}.txt").write_text(done.stdout)


if __name__ == "__main__":
    run()

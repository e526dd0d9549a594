"""The page of calibrations shows what its programs print."""

import io
import re
from contextlib import redirect_stdout
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "calibration.md"


def test_the_page_shows_what_is_printed() -> None:
    text = PAGE.read_text()
    code, shown = (
        "\n".join(re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
        for language in ("python", "text")
    )
    with redirect_stdout(io.StringIO()) as out:
        exec(compile(code, str(PAGE), "exec"), {})
    assert out.getvalue().split() == shown.split()

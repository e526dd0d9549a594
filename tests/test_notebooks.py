"""The notebooks: what each cell says is so, in a Python of plain cells; .ci/notebooks runs them in kernels."""

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest
from support.registered import for_a_while

FOLDER = Path(__file__).parents[1] / "examples" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def cells(file: Path, kind: str) -> list[dict[str, Any]]:
    return [cell for cell in json.loads(file.read_text())["cells"] if cell["cell_type"] == kind]


def text(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_a_notebook_runs_from_top_to_bottom(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pyplot, "show", lambda: pyplot.close("all"))  # agg has none, and says so
    names: dict[str, Any] = {}
    with for_a_while():
        for cell in cells(file, "code"):
            tree = ast.parse(text(cell))
            last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
            exec(compile(tree, file.name, "exec"), names)
            if isinstance(last, ast.Expr):  # is shown
                shown = eval(compile(ast.Expression(last.value), file.name, "eval"), names)
                html = shown._repr_html_() if hasattr(shown, "_repr_html_") else None  # a figure may have none
                assert html is None or html.startswith("<")
    pyplot.close("all")
    capsys.readouterr()


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_what_a_notebook_keeps_is_small_and_no_error(file: Path) -> None:
    assert file.stat().st_size < 600_000
    outputs = [output for cell in cells(file, "code") for output in cell["outputs"]]
    kinds = [output["output_type"] for output in outputs]
    assert "error" not in kinds
    assert any("image/png" in output.get("data", ()) for output in outputs)
    streams = [output["text"] for output in outputs if output["output_type"] == "stream" and output["name"] == "stderr"]
    assert streams == []
    assert text(cells(file, "markdown")[0]).startswith("# ")
    first, *rest = map(text, cells(file, "code"))
    installed = re.search(r'"poise\[(.*)\]"', first)  # on a host that has none
    assert installed is not None
    beside = {"experiments": '"reproduce"', "motion": "pz.retarget"}
    asked = [extra for extra, words in beside.items() if any(words in cell for cell in rest)]
    assert installed[1].split(",") == ["plots", *asked]

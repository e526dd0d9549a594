"""`poise reproduce`: whom each experiment cites, and what is left where one cannot be begun."""

import json
from pathlib import Path

import pytest

from poise.cli import main
from poise.references import cite, entries
from poise_experiments.registry import EXPERIMENTS


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_reference_of_an_experiment_is_there(name: str) -> None:
    assert cite(name) == (entries()[EXPERIMENTS[name].reference],)


def test_what_cannot_be_begun_leaves_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("poise_experiments.torm.problem.find_spec", lambda name: None)
    assert main(["reproduce", "torm", "--json"]) == 1
    assert "pip install" in json.loads(capsys.readouterr().out)["error"]["message"]
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "poise-torm").mkdir()
    assert main(["reproduce", "torm"]) == 1
    assert (tmp_path / "poise-torm").is_dir()  # it was there before

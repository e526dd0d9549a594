"""`poise cite`: every reference is there, whole, and found by the names that people know."""

import json
import re
from importlib.resources import files

import pytest

import poise as pz
from poise.cli import main
from poise.common.errors import ReferenceNotFound
from poise.methods.damping import RULES
from poise.methods.registry import METHODS
from poise.references import citable, cite, entries, title

TEXT = files("poise.methods").joinpath("references.bib").read_text(encoding="utf-8")
NEEDED = {
    "article": {"author", "title", "journal", "year"},
    "inproceedings": {"author", "title", "booktitle", "year"},
    "techreport": {"author", "title", "institution", "year"},
    "book": {"author", "title", "publisher", "year"},
    "phdthesis": {"author", "title", "school", "year"},
    "mastersthesis": {"author", "title", "school", "year"},
    "misc": {"author", "title", "year"},
}


def test_the_file_is_split_at_every_entry() -> None:
    assert len(entries()) == len(re.findall(r"^@", TEXT, re.MULTILINE))
    assert "\n\n".join(entries().values()) == TEXT.strip()


@pytest.mark.parametrize("key", entries())
def test_every_entry_is_whole(key: str) -> None:
    entry = entries()[key]
    assert entry.isascii()  # BibTeX's own programs read nothing else
    assert entry.count("{") == entry.count("}")
    depth = [entry[:i].count("{") - entry[:i].count("}") for i in range(1, len(entry))]
    assert min(depth[entry.index("{") :]) >= 1
    kind = re.match(r"@(\w+)\{", entry)
    assert kind
    fields = re.findall(r"^  (\w+)\s*= \{.+\},?$", entry, re.MULTILINE)
    assert len(fields) == len(set(fields)) == len(entry.splitlines()) - 2
    assert set(fields) >= NEEDED[kind[1]]
    year = re.search(r"year\s*= \{(\d{4})\}", entry)
    assert year
    assert key.endswith(year[1])
    assert title(key)


@pytest.mark.parametrize("name", METHODS)
def test_every_reference_of_a_method_is_there(name: str) -> None:
    assert METHODS[name].references
    assert cite(name) == tuple(entries()[key] for key in METHODS[name].references)


@pytest.mark.parametrize("name", RULES)
def test_every_damping_rule_of_a_paper_is_cited_by_its_name(name: str) -> None:
    keys = RULES[name].references
    assert all(key in entries() for key in keys)
    assert bool(keys) == (name != "Curvature")  # which is the library's own
    assert (name in citable()) == bool(keys)


def test_the_command_prints_bibtex(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cite", "sdls"]) == 0
    assert capsys.readouterr().out.startswith("@article{buss2005,\n")
    assert main(["cite", "wampler1986"]) == 0
    assert capsys.readouterr().out.strip() == entries()["wampler1986"]
    assert main(["cite", "dls", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"name": "dls", "bibtex": list(cite("dls"))}


def test_without_a_name_all_that_can_be_cited_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cite"]) == 0
    lines = capsys.readouterr().out.splitlines()[2:]
    assert [line.split()[0] for line in lines] == list(citable())
    assert any(re.fullmatch("lloyd2022  +Fast and Robust Inverse .* Using Halley's Method", line) for line in lines)
    assert main(["cite", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["names"]["sdls"] == ["buss2005"]


def test_an_unknown_name_is_an_error_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cite", "buss2006"]) == 1
    assert "did you mean 'buss2005'" in capsys.readouterr().err
    with pytest.raises(ReferenceNotFound, match="zzz") as caught:
        cite("zzz")
    assert isinstance(caught.value, pz.PoiseError)


@pytest.mark.parametrize("name", ["torm", "buss"])
def test_the_name_of_an_experiment_tells_what_installs_it(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("poise.references.points", lambda group: [])
    assert main(["cite", name]) == 1
    wanted = 'the name of an experiment needs poise-experiments: pip install "poise[experiments]"'
    assert f"poise has no reference '{name}'; " in (said := capsys.readouterr().err)
    assert wanted in said
    monkeypatch.undo()
    assert main(["cite", "trom"]) == 1
    assert ("pip install" in capsys.readouterr().err) == (name not in citable())

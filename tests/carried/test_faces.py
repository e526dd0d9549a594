"""The header in C, the script and its types say what the records say, and what C has measured."""

import re
from pathlib import Path

from support.carried import Proximity, Report

import poise
from poise.build.faces import faces
from poise.kernels.statuses import STATUSES

ROOT = Path(poise.__file__).parent
SCRIPT, HEADER = (ROOT / "browser/poise.js").read_text(), (ROOT / "build/poise.h").read_text()


def test_what_is_made_of_the_statuses_is_up_to_date() -> None:
    for file, text in faces().items():
        assert file.read_text(encoding="utf-8") == text, f"{file.name}: run python -m poise.build.faces"
        for name in STATUSES:
            assert name in text


def test_the_script_reads_structures_where_c_has_them() -> None:
    for name, structure in (("REPORT", Report), ("NEAREST", Proximity)):
        (told,) = re.findall(rf"const {name} = {{(.*?)}};", SCRIPT)
        places = {key: int(at) for key, at in re.findall(r"(\w+): (\d+)", told)}
        places.pop("bytes")
        for key, at in places.items():
            field = re.sub(r"[A-Z]", lambda big: f"_{big[0].lower()}", key)
            assert getattr(structure, field).offset == at, key


def test_the_script_counts_what_the_header_does() -> None:
    (told,) = re.findall(r"const WHAT = {(.*?)};", SCRIPT)
    (listed,) = re.findall(r"typedef enum {\s*(PZ_NQ.*?)} pz_what;", HEADER, re.DOTALL)
    names = re.findall(r"PZ_(\w+)", listed)
    for key, at in re.findall(r"(\w+): (\d+)", told):
        assert names[int(at)].lower() == (key if key in ("nq", "nv", "posture") else key.removesuffix("s"))


def test_the_types_name_all_that_the_script_has() -> None:
    types = (ROOT / "browser/poise.d.ts").read_text()
    methods = re.findall(r"^  (?:static async )?([a-z]\w*)\(.*\) {", SCRIPT, re.MULTILINE)
    inside = {"constructor", "take", "text", "error"}
    assert set(methods) - inside
    for name in set(methods) - inside:
        assert re.search(rf"^  (static )?{name}\(", types, re.MULTILINE), name

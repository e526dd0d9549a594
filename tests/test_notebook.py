"""What a notebook shows: well-formed HTML, in which no name is markup, without colours of its own."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import poise as pz
from poise.common import html

EVIL = "<script>alert('1')</script>&"
VOID = {"br", "hr", "img"}


class Seen(HTMLParser):
    """The tags, of which each must be closed in order, and the text of HTML."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.words = ""
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data


def evil() -> pz.Model:
    b = pz.ModelBuilder(EVIL)
    b.joint(f"a{EVIL}", "revolute", parent="base", child="arm", axis=(0, 0, 1), limits=(-1.0, 2.0), velocity=3.0)
    b.joint("rail", "prismatic", parent="arm", child=f"b{EVIL}", axis=(1, 0, 0))
    return b.build()


@pytest.fixture(scope="module")
def shown() -> dict[str, str]:
    model = evil()
    goal = pz.PositionTask(f"b{EVIL}", [0.5, 0.2, 0.0])
    return {
        "model": model._repr_html_(),
        "solution": pz.solve(model, goal)._repr_html_(),
        "far": pz.solve(pz.load("planar2"), pz.PositionTask("tool", [9.0, 0.0, 0.0]))._repr_html_(),
        "batch": pz.solve_batch(model, goal, np.array([[0.5, 0.2, 0.0], [0.1, 0.2, 3.0]]))._repr_html_(),
        "path": pz.solve_path(model, goal, [[0.5, 0.2, 0.0], [0.5, 0.1, 0.0]])._repr_html_(),
        "comparison": pz.compare(model, goal, methods=["lm", "dls"], count=3)._repr_html_(),
    }


@pytest.mark.parametrize("name", ["model", "solution", "far", "batch", "path", "comparison"])
def test_names_are_text_and_colours_are_those_of_the_page(shown: dict[str, str], name: str) -> None:
    seen = Seen(shown[name])
    assert set(seen.tags) <= {"div", "p", "strong", "details", "summary", "table", "thead", "tbody", "tr", "th", "td"}
    assert not re.search(r"colou?r|background|font", shown[name].replace(EVIL, ""))


def test_a_model_shows_limits_units_speeds_and_frames(shown: dict[str, str]) -> None:
    words = Seen(shown["model"]).words
    for word in (EVIL, f"a{EVIL}", "revolute", "prismatic", "rad", "-1", "2", "3", "none", "2 joints that move"):
        assert word in words


def test_a_solution_shows_why_what_is_left_and_q(shown: dict[str, str]) -> None:
    words = Seen(shown["far"]).words
    for word in ("UNREACHABLE", "out of reach", "position [m]", "q [rad or m]"):
        assert word in words
    assert "CONVERGED" in Seen(shown["solution"]).words


def test_a_comparison_shows_its_table_and_a_path_its_report(shown: dict[str, str]) -> None:
    for word in ("lm", "dls", "solved", "iterations", "3 problems"):
        assert word in Seen(shown["comparison"]).words
    assert "waypoints reached" in Seen(shown["path"]).words
    assert "1 of 2 converged" in Seen(shown["batch"]).words


def test_long_tables_are_folded() -> None:
    few, many = (html.table(("n",), [(str(i),) for i in range(n)], "numbers") for n in (3, 50))
    assert "<details open>" in few
    assert "<details>" in many


def test_the_import_of_poise_does_not_bring_it() -> None:
    code = "import poise, sys; assert 'IPython' not in sys.modules and 'poise.common.html' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_numbers_stand_to_the_right_and_empty_columns_are_left_out() -> None:
    text = html.table(("name", "size [m]", "none"), [("a", "-1.5", ""), ("b", "none", "")], "sizes")
    assert re.findall(r"<t[hd] style=\"text-align: (\w+)", text) == 3 * ["left", "right"]

"""What the pages and docstrings show is run, as a reader would run it."""

import doctest
import importlib
import json
import os
import pkgutil
import re
import runpy
import shlex
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from support.public import public
from support.registered import for_a_while

import poise
from poise.cli import main
from poise.common.errors import MissingExtra
from poise.kernels.machine.library import place

ROOT = Path(__file__).parents[1]
METHODS = ROOT / "docs" / "methods"
MADE = ("modules.md", "examples.md")
"""Pages that the docs build makes, where it has been."""
PAGES = [
    ROOT / "README.md",
    ROOT / "CONVENTIONS.md",
    *sorted(page for page in (ROOT / "docs").glob("*.md") if page.name not in MADE),
    *sorted(METHODS.glob("*.md")),
    *sorted((ROOT / "docs" / "recipes").glob("*.md")),
]
BESIDE = [ROOT / f"{name}.md" for name in ("CONTRIBUTING", "CHANGELOG", "RELEASING", "SECURITY", "CODE_OF_CONDUCT")]
EXAMPLES = sorted((ROOT / "examples").glob("[0-9]*.py"))
MODULES = [module.name for module in pkgutil.walk_packages(poise.__path__, "poise.") if "__main__" not in module.name]


def source(module: str) -> str:
    path = Path(poise.__path__[0], *module.split(".")[1:])
    return (path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text(encoding="utf-8")


SHOWN = [module for module in MODULES if ">>>" in source(module)]
"""Those whose docstrings have examples."""


def blocks(page: Path, language: str) -> str:
    return "\n".join(re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL))


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=lambda page: page.name)
def test_the_code_of_a_page_runs_from_top_to_bottom(page: Path) -> None:
    with for_a_while():
        exec(compile(blocks(page, "python"), str(page), "exec"), {})


def test_every_public_name_stands_on_one_page_once() -> None:
    pages = "\n".join(page.read_text() for page in PAGES)
    shown = sorted(re.findall(r"^\.\. auto\w+:: poise\.([\w.]+)", pages, re.MULTILINE))
    assert len(shown) == len(set(shown))
    assert set(public()) <= set(shown)


def test_the_table_of_methods_tells_what_each_can_do() -> None:
    text = (METHODS / "index.md").read_text()
    rows = re.findall(r"^\| \[`(\w+)`\]\((\w+\.md)\) \| .*? \| .*? \| (yes|no) \| (yes|no) \|", text, re.MULTILINE)
    assert sorted(name for name, *_ in rows) == sorted(poise.methods.METHODS)
    for name, page, limits, orientation in rows:
        can = poise.methods.METHODS[name].capabilities
        assert (limits == "yes", orientation == "yes") == (can.limits, can.tasks != "positions"), name
        assert f"_pictures/{name}.svg" in (METHODS / page).read_text()


def commands(page: Path) -> list[str]:
    return re.findall(r"^\$ (poise .*?)(?: *#.*)?$", blocks(page, "console"), re.MULTILINE)


@pytest.mark.parametrize("command", sorted({command for page in PAGES for command in commands(page)}))
def test_the_commands_of_the_pages_succeed(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)  # what they write is not there from an earlier run
    assert main(shlex.split(command)[1:]) == 0
    assert capsys.readouterr().out


@pytest.mark.parametrize(
    ("target", "page", "words", "packed"),
    [
        ("x86_64-linux", "c.md", r"On Linux x86-64 this is ([\d.]+) MB", False),
        ("x86_64-linux", "c.md", r"On Linux x86-64 this is [\d.]+ MB, ([\d.]+) compressed", True),
        ("aarch64-linux", "c.md", r"One for AArch64 has ([\d.]+) MB", False),
        ("wasm32", "browser.md", r"([\d.]+) MB compressed", True),
    ],
)
def test_the_sizes_that_pages_tell_are_those_of_the_libraries(target: str, page: str, words: str, packed: bool) -> None:
    """Kernels come and go, and pages are to be mended when a tenth has."""
    file = place(target)
    if not file.is_file():
        pytest.skip(f"there is no {file}: python -m poise.build --target {target} makes it")
    told = re.search(words, (ROOT / "docs" / page).read_text())
    assert told is not None
    data = file.read_bytes()
    size = len(zlib.compress(data) if packed else data) / 1e6
    assert float(told[1]) == pytest.approx(size, rel=0.1)


@pytest.mark.parametrize(("wheel", "target"), [("Linux, x86-64", "x86_64-linux"), ("Linux, aarch64", "aarch64-linux")])
def test_the_size_of_a_wheel_is_that_of_what_is_in_it(wheel: str, target: str) -> None:
    libraries = [place(target), place("wasm32")]
    if not all(file.is_file() for file in libraries):
        pytest.skip(f"there is not all of {', '.join(map(str, libraries))}: python -m poise.build makes them")
    told = re.search(rf"^\| {wheel} \| ([\d.]+) \|", (ROOT / "docs" / "installing.md").read_text(), re.MULTILINE)
    assert told is not None
    package = [file for file in Path(poise.__path__[0]).rglob("*") if file.is_file()]
    package = [file for file in package if not {"__pycache__", "compiled"} & {*file.parts}]
    size = sum(len(zlib.compress(file.read_bytes())) for file in [*libraries, *package]) / 1e6
    assert float(told[1]) == pytest.approx(size, rel=0.1)


def test_where_a_wheel_keeps_what_browsers_need_is_said_and_so() -> None:
    page = (ROOT / "docs" / "browser.md").read_text()
    package = Path(poise.__path__[0])
    for file in (package / "browser" / "poise.js", place("wasm32")):
        assert f"`poise/{file.relative_to(package).as_posix()}`" in page
    assert (package / "browser" / "poise.js").is_file()
    assert '"--target", "wasm32"' in (ROOT / "hatch_build.py").read_text()


def test_every_make_target_that_a_page_names_is_there() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    pages = "\n".join(page.read_text() for page in [*PAGES, ROOT / "CONTRIBUTING.md"])
    assert set(re.findall(r"\bmake (?:PYTHON=\S+ )?([a-z]+)", pages)) <= targets


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_examples_run_from_any_directory(
    example: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(example)])
    with for_a_while():
        runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out


def test_an_example_runs_in_a_python_of_its_own(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES[0])],
        cwd=tmp_path,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_examples_are_short_and_import_only_poise_and_numpy(example: Path) -> None:
    text = example.read_text()
    assert len(text.splitlines()) <= 60
    assert set(re.findall(r"^(?:import|from) (\w+)", text, re.MULTILINE)) <= {"poise", "numpy"}


@pytest.mark.parametrize("page", [*PAGES, *BESIDE], ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target


DOTTED = re.compile(r"`((?:poise|kernels|solving|methods|tasks)(?:\.\w+)+)(?:\([^`]*\))?`")
PATH = re.compile(r"`((?:\w+/)*\w+\.py)`|\b((?:\w+/)+\w+\.py)\b")
FILES = (".h", ".hpp", ".dll", ".so", ".js", ".wasm", ".pyi")
"""What `poise.h` and its like end in: files, not names."""
ELSEWHERE = {"docs/browser.md": {"poise.solver"}, "docs/live.py": {"poise.method"}, "CONTRIBUTING.md": {"utils.py"}}
"""What looks like a name or a file of the package and is none: JavaScript, and a file that there shall not be."""
TEXTS = [
    *PAGES,
    ROOT / "CONTRIBUTING.md",
    *(
        file
        for folder in ("src", "packages", "docs", "tests", "benchmarks")
        for file in sorted((ROOT / folder).rglob("*.py"))
    ),
]


def resolves(name: str) -> bool:
    """Whether a name that begins with poise is that of a module, or of what one has; yes where its extra is missing."""
    module, names = name, list[str]()
    while module not in MODULES and "." in module:
        module, _, last = module.rpartition(".")
        names.insert(0, last)
    try:
        found = importlib.import_module(module)
    except MissingExtra:
        return True
    for last in names:
        if not hasattr(found, last) and last not in getattr(found, "__annotations__", {}):
            return False
        found = getattr(found, last, None)
    return True


def test_names_of_the_package_in_docstrings_comments_and_pages_lead_somewhere() -> None:
    wrong = set()
    for file in TEXTS:
        place = file.relative_to(ROOT).as_posix()
        for name in set(DOTTED.findall(file.read_text(encoding="utf-8"))) - ELSEWHERE.get(place, set()):
            # Within the kernels a name may begin at their own folders, as imports of `prepare` do.
            roots = ("", "poise.", "poise.kernels.") if "/kernels/" in place else ("", "poise.")
            full = [root + name for root in roots if (root + name).startswith("poise.")]
            if not name.endswith(FILES) and not any(map(resolves, full)):
                wrong.add((place, name))
    assert not wrong


def test_python_files_that_docstrings_comments_and_pages_name_are_there() -> None:
    files = [file for file in TEXTS if file.suffix == ".py"] + [*(ROOT / "examples").rglob("*.py")]
    paths = [f"/{file.relative_to(ROOT).as_posix()}" for file in files]
    ends = {path[at:] for path in paths for at, mark in enumerate(path) if mark == "/"}
    wrong = set()
    for file in TEXTS:
        place = file.relative_to(ROOT).as_posix()
        if place.startswith("tests/"):  # they name files that they write themselves
            continue
        named = {one or other for one, other in PATH.findall(file.read_text(encoding="utf-8"))}
        wrong |= {(place, name) for name in named - ELSEWHERE.get(place, set()) if f"/{name}" not in ends}
    assert not wrong


def test_every_module_is_imported() -> None:
    wrong = {}
    for name in MODULES:
        try:
            importlib.import_module(name)
        except MissingExtra:
            continue
        except Exception as error:
            if getattr(error, "name", None) not in ("numba", "llvmlite"):  # which need not be installed
                wrong[name] = error
    assert not wrong


@pytest.mark.parametrize("name", SHOWN)
def test_docstring_examples_are_true(name: str) -> None:
    done = doctest.testmod(importlib.import_module(name))
    assert done.failed == 0
    assert done.attempted > 0


def test_the_first_example_that_a_reader_sees_is_true() -> None:
    assert doctest.testmod(poise).failed == 0


def test_the_page_of_the_examples_shows_each_with_what_it_prints(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    page = importlib.import_module("printed").page()
    for example in EXAMPLES:
        assert f"../examples/{example.name}" in page
        assert f"_printed/{example.stem}.txt" in page


ANSWERS = {
    "gravity": "controller",
    "PD": "controller",
    "clutch": "teleop",
    "resample": "motion",
    "MoveIt": "ros2",
    "Docker": "recipes/services",
    "logging": "recipes/services",
    "multiprocessing": "recipes/services",
    "calibration": "calibration",
}
"""What people look for, and a page that has the answer."""


@pytest.mark.parametrize(("word", "page"), ANSWERS.items())
def test_what_people_look_for_is_on_a_page(word: str, page: str) -> None:
    assert re.search(rf"\b{word}\b", (ROOT / "docs" / f"{page}.md").read_text(), re.IGNORECASE)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::PendingDeprecationWarning")  # of those that read it
def test_the_search_of_the_pages_finds_it(tmp_path: Path) -> None:
    """The index that the page of the search reads, of the pages that are to be found, in which other pages are none."""
    pytest.importorskip("myst_parser")
    application = pytest.importorskip("sphinx.application")
    stem = pytest.importorskip("sphinx.search.en").SearchEnglish({}).stem
    source = tmp_path / "docs"
    for page in set(ANSWERS.values()):
        (source / page).parent.mkdir(parents=True, exist_ok=True)
        text = (ROOT / "docs" / f"{page}.md").read_text()
        (source / f"{page}.md").write_text(re.sub(r"^```{.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))
    (source / "index.md").write_text("# All\n")
    options = {"extensions": ["myst_parser"], "html_theme": "basic"}
    folders = [str(source), None, str(tmp_path / "html"), str(tmp_path / "trees")]
    application.Sphinx(*folders, "html", confoverrides=options, status=None, warning=None).build()
    index = json.loads((tmp_path / "html" / "searchindex.js").read_text().partition("(")[2].rpartition(")")[0])
    for word, page in ANSWERS.items():
        found = [index[kind].get(stem(word.lower()), []) for kind in ("terms", "titleterms")]
        pages = {index["docnames"][k] for places in found for k in ([places] if isinstance(places, int) else places)}
        assert page in pages, word


def test_the_first_screen_is_short() -> None:
    assert len((ROOT / "README.md").read_text().split()) <= 900


def test_no_page_is_longer_than_one_reads_at_a_time() -> None:
    words = {page.name: len(page.read_text().split()) for page in PAGES}
    assert {page: count for page, count in words.items() if count > 2500 and page not in MADE} == {}


def test_every_file_of_the_package_says_in_one_line_what_is_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page of the files is made of these lines; a file without one is refused."""
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    page = importlib.import_module("modules").page()
    listed = {}
    for title, text in re.findall(r"^## `(\S+)`\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL):
        listed[title.removeprefix("poise")] = re.findall(r"^\| `(\w+\.py)` \|", text, re.MULTILINE)
    package = Path(poise.__path__[0])
    files = [file for file in package.rglob("*.py") if file.name != "__init__.py"]
    assert len(files) > 300
    for file in files:
        assert file.name in listed[file.parent.relative_to(package).as_posix().removeprefix(".")]


def test_every_page_stands_in_one_group() -> None:
    listed = re.findall(r"^([a-z0-9_]+)(?:/index)?$", (ROOT / "docs" / "index.md").read_text(), re.MULTILINE)
    pages = {page.stem for page in (ROOT / "docs").glob("*.md")} - {"index", "SKILL"} | {
        "methods",
        "recipes",
        "examples",
        "modules",
    }
    assert sorted(listed) == sorted(pages)


def test_what_is_for_readers_by_machine_leads_to_pages_that_there_are() -> None:
    for page in re.findall(r"\]\(([^)]+)\)", (ROOT / "docs" / "llms.txt").read_text()):
        source = ROOT / "docs" / page
        assert source.with_suffix(".md").exists(), page

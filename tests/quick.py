"""`make quick`: the tests of what a change touches, the nearest first, for two minutes.

What has changed against the main branch, committed or not, is a set of modules; whoever imports one of them, or names
its kernels or what it gives to a public face, stands one step from it, and so on.  A file of tests is as near as the
nearest module that it imports, or that is in the folder of `src` which its own folder mirrors, and a little nearer if
it speaks of what has changed.  The nearest are run first, without what is marked `slow` or `browser` and with ten
examples a law, until the time is over; what was left out is told.
"""

import argparse
import re
import subprocess
import sys
import time
from collections import Counter, defaultdict, deque
from collections.abc import Iterable
from pathlib import Path

from support.arrows import BESIDE, SOURCE, called, takes, text, uses
from support.durations import kept

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests"
PACKAGES = {"src/poise": "", **{f"packages/{name.replace('_', '-')}/src/{name}": name for name in BESIDE}}
"""What the names of the modules in a folder begin with."""
SECONDS = 100.0
"""The rest of the two minutes is for starting, and for the test or the compilation that runs when the time is over."""
EXAMPLES = 10
TEST = r"(packages/[^/]*/)?tests/(.*/)?test_[^/]*\.py"
"""The names of files of tests."""
NONE = 5
"""What pytest returns where no test is left."""
FAR = 99
"""Steps to what no arrow leads to."""
LOOSE = {
    "docs": "tests/test_docs.py",
    "examples": "tests/test_example_programs.py",
    "benchmarks": "tests/test_benchmarks.py",
    "ros2": "tests/carried/test_ros.py",
    ".ci": "tests/test_ci.py",
    ".github": "tests/test_ci.py",
    "changes.d": "tests/test_release.py",
}
"""What tests that are no Python of `src` or `tests` are read by; pages beside the README are `docs` too."""


def git(*words: str) -> str:
    """What git answers."""
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, encoding="utf-8", errors="backslashreplace")
    if done.returncode:
        raise LookupError(done.stderr.strip() or f"git {' '.join(words)} finds nothing")
    return done.stdout


def base() -> str:
    """Where this branch left the main one; where there is none, the last commit, which is told."""
    for main in ("origin/main", "main"):
        if git("branch", "--all", "--list", main, f"remotes/{main}"):
            return git("merge-base", "HEAD", main).strip()
    print("there is no main branch here: of what is committed nothing is looked at, but with `make quick SINCE=...`")
    return "HEAD"


def changed(since: str) -> list[str]:
    """The files that differ from a commit, both names of one that is renamed and those that git does not know yet."""
    differ = git("diff", "--name-only", "--no-renames", "--relative", "-z", since, "--")
    new = git("ls-files", "--others", "--exclude-standard", "-z")
    return sorted({*differ.split("\0"), *new.split("\0")} - {""})


def module(file: str) -> str | None:
    """The name of the module that a file is, or was before it was deleted."""
    path = Path(file)
    for folder, name in PACKAGES.items():
        if path.is_relative_to(folder) and path.suffix == ".py":
            return ".".join(filter(None, (name, called(path.relative_to(folder))))) or None
    return None


def mirrors() -> dict[Path, str]:
    """The folders of tests, and what the names of the modules begin with that they are about."""
    beside = {folder: folder.parent.name.replace("-", "_") for folder in ROOT.glob("packages/*/tests")}
    return {TESTS: "", **beside}


def steps(touched: Iterable[str]) -> dict[str, int]:
    """How many arrows lead from each module to the nearest that is touched."""
    users = defaultdict[str, list[str]](list)
    for name, others in uses().items():
        for other in others:
            users[other].append(name)
    found = dict.fromkeys(touched, 0)
    waiting = deque(found)
    while waiting:
        at = waiting.popleft()
        for user in users[at]:
            if user not in found:
                found[user] = found[at] + 1
                waiting.append(user)
    return found


def helpers(test: Path) -> set[Path]:
    """The files beside a file of tests, or in tests/support, which it imports by their name alone, and those of these.

    Files that are no more are among them, and names of other packages as if they stood there.
    """
    found, waiting = set[Path](), [test]
    while waiting:
        at = waiting.pop()
        named = re.findall(r"^\s*(?:from (?:support\.)?|import )(\w+)", text(at), re.M)
        new = {folder / f"{name}.py" for name in named for folder in (at.parent, TESTS / "support")} - found
        found |= new
        waiting += [file for file in new if file.is_file()]
    return found


def distance(test: Path, away: dict[str, int], changes: set[str]) -> float:
    """How far a file of tests is from the change: half a step more where its folder says so, and not itself."""
    if test.relative_to(ROOT).as_posix() in changes:
        return -1.0
    under = helpers(test)
    if under & {ROOT / file for file in changes}:
        return 0.0
    about = test.stem.removeprefix("test_")
    top, name = next((top, name) for top, name in mirrors().items() if test.is_relative_to(top))
    folder = ".".join(filter(None, (name, *test.parent.relative_to(top).parts)))
    whole = f"{folder}.{about}" if folder else about
    nearest = [away[name] for name in takes(test) if name in away]
    nearest += [away[name] + 1 for file in under if file.is_file() for name in takes(file) if name in away]
    nearest += [steps for name, steps in away.items() if name == whole or name.rpartition(".")[2] == about]
    mirrored = [steps + 0.5 for name, steps in away.items() if folder and f"{name}.".startswith(f"{folder}.")]
    least = min([*nearest, *mirrored], default=FAR)
    # Of a folder's files those come first which speak of what has changed, of the module or of the folder it is in.
    spoken = {word for name, steps in away.items() if steps == 0 for word in name.split(".")[-2:]}
    said = least < FAR and any(re.search(rf"\b{re.escape(word)}\b", text(test)) for word in spoken)
    return least - 0.25 if said else least


def run(words: list[str]) -> int:
    """Run Python; returns what it returns."""
    sys.stdout.flush()  # or what was said before comes after it, in a file
    process = subprocess.Popen([sys.executable, *words], cwd=ROOT)
    while True:
        try:
            code = process.wait()
        except KeyboardInterrupt:
            continue  # pytest has heard it too, and ends with what it knows until then
        if code == NONE:
            print("all tests of these files are marked slow or browser; `make test-all` runs them")
        return 0 if code == NONE else code


def main() -> int:
    """Run them; returns what pytest returns."""
    parser = argparse.ArgumentParser(prog="make quick", description=__doc__)
    parser.add_argument("--since", default="", help="a commit to compare with; by default where this branch left main")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="after which no test begins")
    parser.add_argument("--list", action="store_true", help="say what would run, and run nothing")
    given = parser.parse_args()
    begun = time.time()
    if SOURCE.resolve() != ROOT / "src" / "poise":
        parser.error(f"poise is imported from {SOURCE}, and what has changed here is not tested by that")
    try:
        since = given.since or base()
        changes = set(changed(since))
    except (LookupError, OSError) as error:
        parser.error(f"git cannot say what has changed: {error}")
    places = {file: name for file in changes if (name := module(file))}
    try:
        away = steps(places.values())
        tests = sorted(test for folder in mirrors() for test in folder.rglob("test_*.py"))
        files = {test: distance(test, away, changes) for test in tests}
    except SyntaxError as error:
        parser.error(f"{error.filename}:{error.lineno}: {error.msg}")
    known = {file for test in files for file in helpers(test)}
    unknown = []
    for file in sorted(changes):
        top = "docs" if file.endswith(".md") else file.partition("/")[0]
        if top in LOOSE:
            files[ROOT / LOOSE[top]] = -1.0
        elif file not in places and ROOT / file not in known and not re.fullmatch(TEST, file):
            unknown.append(file)
    if unknown:
        print(f"no arrow is known from {', '.join(unknown)}; `make test` runs all")
    took = kept()
    near = sorted(
        (far, took.get(test.relative_to(ROOT).as_posix(), 1.0), test) for test, far in files.items() if far < FAR
    )
    if not near:
        print(f"nothing {'else ' if unknown else ''}that is tested differs from {given.since or since[:12]}")
        return 0
    # Two workers have twice the time; what certainly does not fit is not even collected.
    room, chosen = 2.0 * given.seconds, list[Path]()
    while near and room > 0.0:
        _, seconds, test = near.pop(0)
        room -= seconds
        chosen.append(test.relative_to(ROOT))
    modules = sorted(places.values())
    print(f"changed: {', '.join(modules) or 'no module'}, on which {len(away) - len(modules)} modules stand")
    print(f"{len(chosen)} files of tests are run, the nearest first, without what is marked slow or browser")
    if near:
        folders = Counter(test.parent.relative_to(ROOT).as_posix() for _, _, test in near)
        told = ", ".join(f"{folder} ({count})" for folder, count in folders.items())
        print(f"left out, for they are farther and do not fit: {told}; `make test` runs all")
    if not chosen:
        print(f"nothing is run, for there are {given.seconds:g} seconds; `--seconds` gives more")
        return 1
    if given.list:
        print(*chosen, sep="\n")
        return 0
    end = begun + given.seconds
    options = [f"--until={end}", f"--examples={EXAMPLES}", "-m", "not slow and not browser"]
    workers = ["--numprocesses", "auto", "--dist", "loadfile", "--no-loadscope-reorder"]
    return run(["-m", "pytest", *workers, *options, *map(str, chosen)])


if __name__ == "__main__":
    sys.exit(main())

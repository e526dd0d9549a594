"""`make quick` finds the tests of a change, and the plugins by which a run is cut short do what they say."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import quick
from quick import FAR, ROOT, TESTS, base, changed, distance, module, steps
from support.arrows import SOURCE, homes, uses

pytest_plugins = ["pytester"]


def far(touched: str, test: str) -> float:
    return distance(TESTS / test, steps([touched]), set())


class Repository:
    """A repository in which `make quick` looks, with one commit."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir()
        self.git("init", "--initial-branch=main")
        for file in ("old.py", "gone.py", "same.py"):
            (path / file).write_text(f"{file}\n" * 9)
        self.commit()

    def git(self, *words: str) -> None:
        who = ("-c", "user.name=a", "-c", "user.email=a@b.example", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *who, *words], cwd=self.path, check=True, capture_output=True)

    def commit(self) -> None:
        self.git("add", ".")
        self.git("commit", "--allow-empty", "--message=more")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    if shutil.which("git") is None:
        pytest.skip("this needs git: apt-get install git")
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)  # as a hook of git's sets them
    made = Repository(tmp_path / "a clone")
    monkeypatch.setattr(quick, "ROOT", made.path)
    monkeypatch.setattr(quick, "TESTS", made.path / "tests")
    monkeypatch.setattr(quick, "SOURCE", made.path / "src" / "poise")
    monkeypatch.setattr("sys.argv", ["quick.py", "--list"])
    return made


def test_what_is_committed_renamed_deleted_and_new_has_changed(repository: Repository) -> None:
    repository.git("switch", "--create", "branch")
    (repository.path / "committed.py").touch()
    repository.commit()
    repository.git("mv", "old.py", "renamed.py")
    (repository.path / "gone.py").unlink()
    (repository.path / "an élan.py").touch()
    names = ["an élan.py", "committed.py", "gone.py", "old.py", "renamed.py"]
    assert changed(base()) == names
    (repository.path / "an élan.py").rename(repository.path / "gone.py")
    repository.git("checkout", "--detach")
    repository.commit()
    assert changed(base()) == ["committed.py", "gone.py", "old.py", "renamed.py"]


def test_names_are_those_below_the_root_also_where_the_repository_is_above(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repository.path / "below").mkdir()
    (repository.path / "below" / "some.py").touch()
    repository.commit()
    (repository.path / "below" / "some.py").unlink()
    (repository.path / "same.py").unlink()
    monkeypatch.setattr(quick, "ROOT", repository.path / "below")
    assert changed("HEAD") == ["some.py"]


def test_a_file_is_no_commit_to_compare_with(repository: Repository) -> None:
    with pytest.raises(LookupError, match="bad revision"):
        changed("same.py")


def test_without_a_common_commit_it_says_what_git_did_not_find(repository: Repository) -> None:
    repository.git("switch", "--orphan", "lone")
    repository.commit()
    with pytest.raises(LookupError, match="git merge-base HEAD main finds nothing"):
        base()


def test_a_module_that_is_no_more_is_still_touched() -> None:
    assert module("src/poise/io/none.py") == "io.none"
    assert module("src/poise/io/__init__.py") == "io"
    assert module("src/poise/__init__.py") is module("tests/quick.py") is module("src/poise/py.typed") is None


def test_what_imports_a_module_that_is_no_more_is_nearest(repository: Repository) -> None:
    test = repository.path / "tests" / "test_some.py"
    test.parent.mkdir()
    test.write_text("from poise.no_more import name\n")
    assert distance(test, steps(["no_more"]), set()) <= 0.0


def test_its_own_tests_are_the_nearest_to_a_module() -> None:
    assert far("methods.priority", "methods/test_priority.py") <= 0.0
    assert 0.0 < far("methods.priority", "methods/test_das.py") <= 0.5
    assert far("methods.priority", "methods/test_das.py") < far("methods.priority", "viewer/test_session.py")


def test_a_kernel_that_is_named_is_an_arrow() -> None:
    assert "kernels.solver.lm_solver" in uses()["solving.problem.workspace"]
    assert far("kernels.solver.lm_solver", "solving/test_limits.py") <= 1.5


def test_a_name_taken_from_a_face_is_an_arrow() -> None:
    assert far("common.html", "test_notebook.py") <= 0.0  # from poise.common import html
    assert far("rate", "test_rate.py") <= 0.0  # pz.Rate
    assert far("methods.fabrik", "methods/test_identities.py") <= 0.5
    assert {"solve": "solving.solvers.solver", "methods.Fabrik": "methods.fabrik"}.items() <= homes().items()


def test_of_equally_near_files_the_one_that_speaks_of_the_change_is_nearer() -> None:
    changed = "kernels.closed_form.families"
    assert far(changed, "solving/test_solve_all.py") < far(changed, "solving/test_following_error.py")


def test_what_no_arrow_leads_to_is_far() -> None:
    assert far("viewer.app", "kernels/test_qr.py") == FAR


def test_a_file_of_tests_that_has_changed_is_nearest_and_so_are_those_that_stand_on_changed_support() -> None:
    test = ROOT / "packages/poise-motion/tests/test_lying.py"
    assert distance(test, {}, {test.relative_to(ROOT).as_posix()}) < 0.0
    assert distance(Path(__file__), {}, {"tests/support/arrows.py"}) == 0.0
    assert distance(TESTS / "viewer" / "test_replay.py", {}, {"tests/viewer/hands.py"}) == 0.0


def test_a_helper_of_a_helper_is_followed_too() -> None:
    motion = Path("packages/poise-motion/tests")
    test = ROOT / motion / "test_objects.py"
    assert distance(test, {}, {(motion / "gaits.py").as_posix()}) == 0.0
    assert distance(test, steps(["model.builder"]), set()) < FAR


def test_it_says_of_what_no_arrow_is_known(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    assert quick.main() == 0
    assert capsys.readouterr().out.startswith("nothing that is tested differs")
    (repository.path / "tests" / "support").mkdir(parents=True)
    for file in ("tests/conftest.py", "tests/support/used.py", "tests/support/plugin.py", "setup.cfg"):
        (repository.path / file).touch()
    assert quick.main() == 0
    told = capsys.readouterr().out
    assert "known from setup.cfg, tests/conftest.py, tests/support/plugin.py, tests/support/used.py;" in told
    assert "nothing else that is tested differs" in told
    (repository.path / "tests" / "test_it.py").write_text("from support.used import name\n")
    assert quick.main() == 0
    told = capsys.readouterr().out
    assert "known from setup.cfg, tests/conftest.py, tests/support/plugin.py;" in told
    assert told.endswith("tests/test_it.py\n")


def test_without_a_main_branch_it_says_what_it_does_not_look_at(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.git("branch", "--move", "other")
    assert quick.main() == 0
    told = capsys.readouterr().out
    assert told.startswith("there is no main branch here")
    assert "differs from HEAD" in told


def test_it_says_where_a_file_cannot_be_parsed(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    test = repository.path / "tests" / "test_broken.py"
    test.parent.mkdir()
    test.write_text("x = 1\n<<<<<<< HEAD\n")
    repository.commit()
    with pytest.raises(SystemExit, match="2"):
        quick.main()
    assert f"{test}:2: " in capsys.readouterr().err


def test_it_refuses_where_tests_would_be_of_another_poise(
    repository: Repository, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quick, "SOURCE", SOURCE)
    with pytest.raises(SystemExit, match="2"):
        quick.main()
    assert f"poise is imported from {SOURCE}" in capsys.readouterr().err


def test_without_time_nothing_is_run_and_nothing_passes(
    repository: Repository, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    test = repository.path / "tests" / "test_it.py"
    test.parent.mkdir()
    test.touch()
    monkeypatch.setattr("sys.argv", ["quick.py", "--seconds", "0"])
    assert quick.main() == 1
    assert capsys.readouterr().out.endswith("nothing is run, for there are 0 seconds; `--seconds` gives more\n")


def test_a_failure_is_one_and_that_no_test_is_left_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert quick.run(["-c", "raise SystemExit(1)"]) == 1
    assert capsys.readouterr().out == ""
    assert quick.run(["-c", "raise SystemExit(5)"]) == 0
    assert "marked slow or browser" in capsys.readouterr().out


def test_what_it_says_comes_before_what_pytest_says() -> None:
    program = """import quick; print(1); quick.run(["-c", "print(2)"]); print(3)"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), str(SOURCE.parent)])}
    environment.pop("PYTHONUNBUFFERED", None)
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "2", "3"]


def test_ctrl_c_leaves_pytest_the_time_to_say_what_has_failed(ctrl_c: None) -> None:
    slow = "import os, signal, time; os.kill(os.getppid(), signal.SIGINT); time.sleep(1.0); raise SystemExit(2)"
    assert quick.run(["-c", slow]) == 2


LAWS = """
    import time
    from hypothesis import given, settings, strategies as st
    drawn = []
    @settings(max_examples=200)
    @given(st.floats())
    def test_law(x): drawn.append(x)
    def test_count(): assert len(drawn) <= 10
    def test_never(): raise AssertionError
"""


def test_a_law_draws_fewer_examples_and_no_test_begins_when_the_time_is_over(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]")
    pytester.makepyfile(LAWS)
    plugins = ["-psupport.shortened", "-psupport.skipped"]
    done = pytester.runpytest_inprocess(*plugins, "--examples=10", "-k", "not never")
    done.assert_outcomes(passed=2)
    assert done.ret == 0
    done = pytester.runpytest_inprocess(*plugins, "--until=1", "--skipped-to=names")
    done.assert_outcomes(skipped=3)
    done.stdout.fnmatch_lines(["3 tests were left out when the time was over*"])
    assert len((pytester.path / "names").read_text().splitlines()) == 3


@pytest.mark.parametrize("workers", [(), ("--numprocesses=1",)])
def test_a_run_whose_time_is_over_before_a_test_began_does_not_pass(
    pytester: pytest.Pytester, workers: tuple[str, ...]
) -> None:
    pytester.makeini("[pytest]")
    pytester.makepyfile(LAWS)
    done = pytester.runpytest_subprocess("-psupport.shortened", "--until=1", *workers)
    done.stdout.fnmatch_lines(["the time was over before a test began, so nothing is known of the change"])
    assert done.ret == 1

"""`make quick` finds the tests of a change, and the plugins by which a run is cut short do what they say."""

from pathlib import Path

import pytest
from quick import FAR, ROOT, TESTS, distance, steps
from support.arrows import homes, uses

pytest_plugins = ["pytester"]


def far(changed: str, test: str) -> float:
    return distance(TESTS / test, steps([changed]), set())


def test_its_own_tests_are_the_nearest_to_a_module() -> None:
    assert far("methods.priority", "methods/test_priority.py") <= 0.0
    assert 0.0 < far("methods.priority", "methods/test_das.py") <= 0.5
    assert far("methods.priority", "methods/test_das.py") < far("methods.priority", "viewer/test_session.py")


def test_a_kernel_that_is_named_is_an_arrow() -> None:
    assert "kernels.solver.lm_solver" in uses()["solving.scratch"]
    assert far("kernels.solver.lm_solver", "solving/test_limits.py") <= 1.5


def test_a_name_taken_from_a_face_is_an_arrow() -> None:
    assert far("html", "test_notebook.py") <= 0.0  # from poise import html
    assert far("rate", "test_rate.py") <= 0.0  # pz.Rate
    assert far("methods.fabrik", "methods/test_identities.py") <= 0.5
    assert {"solve": "solving.solver", "methods.Fabrik": "methods.fabrik"}.items() <= homes().items()


def test_of_equally_near_files_the_one_that_speaks_of_the_change_is_nearer() -> None:
    changed = "kernels.closed_form.families"
    assert far(changed, "solving/test_solve_all.py") < far(changed, "solving/test_leash.py")


def test_what_no_arrow_leads_to_is_far() -> None:
    assert far("viewer.app", "kernels/test_qr.py") == FAR


def test_a_file_of_tests_that_has_changed_is_nearest_and_so_are_those_that_stand_on_changed_support() -> None:
    test = TESTS / "retargeting" / "test_lying.py"
    assert distance(test, {}, {test.relative_to(ROOT).as_posix()}) < 0.0
    assert distance(Path(__file__), {}, {"tests/support/arrows.py"}) == 0.0
    assert distance(TESTS / "viewer" / "test_replay.py", {}, {"tests/viewer/hands.py"}) == 0.0


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
    done = pytester.runpytest_inprocess(*plugins, "--until=1", "--skipped-to=names")
    done.assert_outcomes(skipped=3)
    done.stdout.fnmatch_lines(["3 tests were left out when the time was over*"])
    assert len((pytester.path / "names").read_text().splitlines()) == 3

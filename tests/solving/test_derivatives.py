"""Derivatives of random answers against central differences of solves that begin at the answer; the benchmark of the
same name has twelve thousand."""

import pytest
from support.derivatives import KINDS, outcome


@pytest.mark.parametrize("kind", ["targets", "postures", "weights", "placements", "limits", "aims", "turns", "loops"])
def test_derivatives_are_those_of_differences(kind: str) -> None:
    words = [outcome(KINDS[kind](seed)).word for seed in range(4)]
    assert set(words) <= {"right", "one-sided", "undefined"}
    assert words.count("right") >= 3

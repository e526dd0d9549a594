"""A bar on stderr, for what takes long and is looked at."""

import pytest

from poise.common.progress import bar


@pytest.mark.parametrize(("shown", "after", "seen"), [(True, 0.0, True), (True, 60.0, False), (False, 0.0, False)])
def test_a_bar_comes_where_it_is_wanted_and_after_its_time(
    capsys: pytest.CaptureFixture[str], shown: bool, after: float, seen: bool
) -> None:
    with bar("counting", 3, shown=shown, after=after) as tell:
        for k in range(4):
            tell(k)
    out, err = capsys.readouterr()
    assert not out
    assert bool(err) == seen
    assert ("counting" in err and "3/3" in err) == seen


def test_a_bar_ends_with_what_it_is_of(capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        with bar("counting", 3, shown=True) as tell:
            tell(1)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert "1/3" in capsys.readouterr().err
    with bar("counting again", 2, shown=True) as tell:  # another may begin
        tell(2)
    assert "2/2" in capsys.readouterr().err

"""Tables as text: whatever the width, nothing is cut, and what a row is of is never broken."""

from hypothesis import given
from hypothesis import strategies as st

from poise.common.tables import aligned, fill

WORDS = st.text("abcdefgh", min_size=1, max_size=9)
TEXTS = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)
NUMBERS = st.integers(-(10**9), 10**9).map(str)


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[str], list[list[str]], list[str]]:
    """Headings that are all different, rows, and the headings of numbers."""
    texts, numbers = draw(st.integers(1, 3)), draw(st.integers(0, 8))
    columns = draw(st.lists(TEXTS, min_size=texts + numbers, max_size=texts + numbers, unique=True))
    cells = st.tuples(*[TEXTS] * texts, *[NUMBERS] * numbers).map(list)
    return columns, draw(st.lists(cells, min_size=1, max_size=5)), columns[texts:]


def words(text: str) -> list[str]:
    return sorted(word for word in text.split() if word.strip("-") or len(word) < 1)


@given(tables())
def test_without_a_width_a_row_is_a_line(table: tuple[list[str], list[list[str]], list[str]]) -> None:
    columns, rows, numbers = table
    head, rule, *lines = aligned(columns, rows, numbers=numbers).split("\n")
    assert head.split() == " ".join(columns).split()
    assert set(rule) <= {"-", " "}
    assert [line.split() for line in lines] == [" ".join(row).split() for row in rows]


@given(tables(), st.integers(72, 120))
def test_at_any_width_it_fits_and_nothing_is_lost(
    table: tuple[list[str], list[list[str]], list[str]], width: int
) -> None:
    columns, rows, numbers = table
    text = aligned(columns, rows, numbers=numbers, width=width)
    assert max(map(len, text.split("\n"))) <= width
    for part in text.split("\n\n"):
        assert all(row[0] in part for row in rows)  # the first column, whole
    for cell in (cell for row in rows for cell in row):
        assert all(word in text for word in cell.split())
    assert all(word in text for column in columns for word in column.split())


@given(tables())
def test_what_fits_is_set_as_without_a_width(table: tuple[list[str], list[list[str]], list[str]]) -> None:
    columns, rows, numbers = table
    plain = aligned(columns, rows, numbers=numbers)
    assert aligned(columns, rows, numbers=numbers, width=max(map(len, plain.split("\n")))) == plain


def test_a_wide_table_goes_on_below_with_its_keys() -> None:
    columns = ["shape", "method", "total error", "mean error", "largest error"]
    rows = [["Y", "DLS by the text", "3378.3", "0.42", "1.5"], ["Y", "SDLS", "866.1", "0.21", "0.9"]]
    assert aligned(columns, rows, numbers=columns[2:], width=39).split("\n") == [
        "shape  method            total   mean",
        "                         error  error",
        "-----  ---------------  ------  -----",
        "Y      DLS by the text  3378.3   0.42",
        "Y      SDLS              866.1   0.21",
        "",
        "shape  method           largest error",
        "-----  ---------------  -------------",
        "Y      DLS by the text            1.5",
        "Y      SDLS                       0.9",
    ]


def test_paragraphs_are_broken_between_words() -> None:
    text = "  " + "a sentence that goes on " * 8
    lines = fill(text, 40, "  ").split("\n")
    assert max(map(len, lines)) <= 40
    assert lines[0].startswith("  a")
    assert all(line.startswith("    ") for line in lines[1:])
    assert " ".join(" ".join(lines).split()) == " ".join(text.split())
    assert fill(text, None) == text

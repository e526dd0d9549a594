"""Files of targets: the same rows from each kind, cut the same way whatever a reader gives."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from targets import POSE, poses, targets

import poise as pz
from poise.common.archive import members
from poise.scale import source
from poise.scale.source import source_of

TABLE = targets(100)


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a file of a hundred rows is read in many."""
    monkeypatch.setattr(source, "_ROWS", 17)
    monkeypatch.setattr(source, "_BLOCK", 2048)


def written(folder: Path, kind: str, table: pa.Table = TABLE, group: int = 30) -> Path:
    path = folder / f"targets{kind}"
    if kind == ".parquet":
        pq.write_table(table, path, row_group_size=group)
    elif kind == ".csv":
        pa.csv.write_csv(table, path)
    else:
        columns = {name: table[name].to_numpy() for name in table.column_names if name not in POSE}
        columns["note"] = columns["note"].astype(str)
        np.savez(path, targets=np.array([table[name].to_numpy() for name in POSE]).T, **columns)
    return path


@pytest.mark.parametrize("kind", [".parquet", ".csv", ".npz"])
@pytest.mark.parametrize("rows", [1, 7, 30, 100, 1000])
def test_all_kinds_give_the_same_rows_in_tables_of_the_same_size(kind: str, rows: int, tmp_path: Path) -> None:
    found = list(source_of(written(tmp_path, kind)).tables(rows))
    assert [table.num_rows for table in found[:-1]] == [rows] * (len(found) - 1)
    assert 0 < found[-1].num_rows <= rows
    whole = pa.concat_tables(found).select(TABLE.column_names).combine_chunks()
    assert np.array_equal(whole["z"].to_numpy(), TABLE["z"].to_numpy(), equal_nan=True)
    assert whole.drop_columns("z").equals(TABLE.drop_columns("z"))


@pytest.mark.parametrize("kind", [".parquet", ".csv", ".npz"])
@settings(max_examples=15)
@given(rows=st.integers(1, 40), first=st.integers(0, 110))
def test_any_row_may_be_the_first(kind: str, rows: int, first: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = written(tmp_path_factory.mktemp("first"), kind)
    ids = [i for table in source_of(path).tables(rows, first) for i in table["id"].to_pylist()]
    assert ids == list(range(first, 100))


@given(sizes=st.lists(st.integers(0, 9), max_size=9), rows=st.integers(1, 12))
def test_tables_do_not_depend_on_the_pieces_of_a_reader(sizes: list[int], rows: int) -> None:
    ends = np.cumsum([0, *sizes]).tolist()
    pieces = [TABLE.slice(a, b - a) for a, b in pairwise(ends)]
    found = [table["id"].to_pylist() for table in source._cut(pieces, rows)]
    assert found == [list(range(a, min(a + rows, ends[-1]))) for a in range(0, ends[-1], rows)]


def test_matrices_are_poses(tmp_path: Path) -> None:
    numbers = poses(5)
    path = tmp_path / "targets.npz"
    np.savez(path, targets=pz.SE3(numbers).matrix(), q0=np.arange(35.0).reshape(5, 7))
    (table,) = source_of(path).tables(10)
    assert np.allclose([table[name].to_numpy() for name in POSE[:3]], numbers.T[:3])
    assert table["q0"].to_pylist()[1] == np.arange(7.0, 14.0).tolist()


def test_what_is_not_compressed_is_not_held_and_both_are_the_same(tmp_path: Path) -> None:
    stored, packed = tmp_path / "stored.npz", tmp_path / "packed.npz"
    arrays = {"targets": np.asfortranarray(poses(50)), "id": np.arange(50)}
    np.savez(stored, **arrays)
    np.savez_compressed(packed, **arrays)
    assert all(array.offset is not None for array in members(stored).values())
    assert next(source_of(packed).tables(50)).equals(next(source_of(stored).tables(50)))


def test_a_header_alone_is_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "head.csv"
    path.write_text("x,y,z,note\n")
    assert list(source_of(path).tables(10)) == []
    assert source_of(path).schema.names == ["x", "y", "z", "note"]


def test_a_cell_without_a_number_is_null_and_a_comment_may_have_lines(tmp_path: Path) -> None:
    path = tmp_path / "cells.csv"
    path.write_text('x,y,z,note\n1,,nan,"two\nlines"\n1,NA,2,\n')
    (table,) = source_of(path).tables(10)
    assert table["y"].null_count == 2
    assert table["note"].to_pylist() == ["two\nlines", ""]


@pytest.mark.parametrize(
    ("name", "content", "error", "message"),
    [
        ("a.csv", b"", ValueError, "a.csv is empty; its first line must name its columns"),
        ("a.csv", b"x,y,z\n1,2,3\n1,2\n", OSError, "a.csv cannot be read: .*Expected 3 columns, got 2"),
        ("a.csv", b"x,y,z\n1,2,3\n1,2,abc\n", OSError, "a.csv cannot be read: .*'abc'"),
        ("a.parquet", b"", OSError, "a.parquet cannot be read"),
        ("a.parquet", b"PAR1 and no more", OSError, "a.parquet cannot be read"),
        ("a.npz", b"PK and no more", OSError, "a.npz cannot be read: .*zip"),
        ("a.txt", b"", ValueError, "no file of targets; its name must end in .parquet, .csv, .npz"),
    ],
)
def test_what_cannot_be_read_is_a_sentence(
    name: str, content: bytes, error: type[Exception], message: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(error, match=message):
        list(source_of(path).tables(10))


def test_a_missing_file_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"none\.csv cannot be read: No such file"):
        source_of(tmp_path / "none.csv")


@pytest.mark.parametrize("kind", [".parquet", ".npz"])
def test_a_file_that_was_cut_off_is_refused(kind: str, tmp_path: Path) -> None:
    path = written(tmp_path, kind)
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(OSError, match="cannot be read"):
        list(source_of(path).tables(10))


def test_a_damaged_page_leaves_the_rows_before_it(tmp_path: Path) -> None:
    path = written(tmp_path, ".parquet")
    begin = pq.ParquetFile(path).metadata.row_group(2).column(1).data_page_offset
    damaged = bytearray(path.read_bytes())
    damaged[begin : begin + 60] = b"\xff" * 60
    path.write_bytes(damaged)
    tables = source_of(path).tables(30)
    assert [next(tables).num_rows, next(tables).num_rows] == [30, 30]
    with pytest.raises(OSError, match=r"targets\.parquet cannot be read"):
        next(tables)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"poses": np.zeros((4, 7))}, "has no array 'targets'; found poses"),
        ({"targets": np.zeros((4, 6))}, r"targets must be \(n, 3\), \(n, 7\) or \(n, 4, 4\), got \(4, 6\)"),
        ({"targets": np.zeros((4, 3)), "id": np.arange(3)}, r"id has shape \(3,\), which is no row for each target"),
        ({"targets": np.zeros((4, 3)), "q0": np.zeros(4)}, r"q0 has shape \(4,\)"),
        (
            {"targets": np.zeros((4, 3)), "id": np.array([None] * 4)},
            r"cannot be read: array 'id': it holds Python objects",
        ),
    ],
)
def test_arrays_that_are_no_columns_are_refused(arrays: dict[str, np.ndarray], message: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises((ValueError, OSError), match=message):
        source_of(tmp_path / "a.npz")


def test_a_file_that_is_written_to_meanwhile_is_noticed(tmp_path: Path) -> None:
    path = written(tmp_path, ".csv")
    opened = source_of(path)
    opened.refuse_changes()
    with path.open("a") as file:
        file.write("\n")
    with pytest.raises(OSError, match=r"targets\.csv was changed while it was read"):
        opened.refuse_changes()


@pytest.mark.parametrize("kind", [".parquet", ".csv"])
def test_memory_does_not_grow_with_the_file(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "_ROWS", 1000)
    monkeypatch.setattr(source, "_BLOCK", 1 << 16)
    largest = []
    for n in (40_000, 160_000):
        path = written(tmp_path, kind, targets(n), group=2000)
        before = pa.total_allocated_bytes()
        held = [pa.total_allocated_bytes() - before for _ in source_of(path).tables(2000)]
        assert len(held) == n // 2000
        largest.append(max(held))
    assert largest[1] < 2 * largest[0]

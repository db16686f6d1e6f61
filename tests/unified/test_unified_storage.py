"""Our FileStorage and the tables under it."""

from __future__ import annotations

import json
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from datbench.unified import FileStorage
from datbench.unified.tables import TableError, read_records, write_records

ROWS = [
    {"id": "007", "n": None, "when": "2024-01-01", "tags": ["a", "b"], "f": 1.5},
    {"id": "8", "n": 3, "when": "x", "tags": None, "f": None},
]


@pytest.fixture
def bench(tmp_path: Path) -> Path:
    path = tmp_path / "bench.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), "utf-8")
    return path


def storage(bench: Path, **options: Any) -> FileStorage:
    return FileStorage(str(bench), cache_path=str(bench.parent / "cache"), file_name_prefix="step", **options)


def test_reading_guesses_no_types(bench: Path) -> None:
    frame = storage(bench).step().read("dataframe")
    assert set(map(str, frame.dtypes)) == {"object"}
    assert frame.to_dict("records") == ROWS
    assert type(frame["n"][1]) is int


@pytest.mark.parametrize("cache_type", ["json", "jsonl", "parquet"])
def test_steps_go_from_file_to_file(bench: Path, cache_type: str) -> None:
    whole = storage(bench, cache_type=cache_type)
    first = whole.step()
    path = first.write(first.read("dataframe"))
    assert path == str(bench.parent / "cache" / f"step_step1.{cache_type}")
    second = whole.step()
    assert second.read("dict") == ROWS
    assert first.read("dict") == ROWS
    assert second.write([{"a": 1}]).endswith("step_step2." + cache_type)


def test_any_name_of_a_column_makes_a_frame(bench: Path) -> None:
    bench.write_text('{"a\\ud800": 1, "": 2}\n')
    whole = storage(bench)
    first = whole.step()
    frame = first.read()
    assert list(frame.columns) == ["a\ud800", ""]
    first.write(frame)
    assert whole.step().read("dict") == [{"a\ud800": 1, "": 2}]


def test_csv_cells_are_text(bench: Path) -> None:
    whole = storage(bench, cache_type="csv")
    first = whole.step()
    first.write(first.read())
    assert whole.step().read("dict")[0] == {
        "id": "007",
        "n": "",
        "when": "2024-01-01",
        "tags": '["a", "b"]',
        "f": "1.5",
    }


def test_cells_without_a_json_form_become_text(bench: Path) -> None:
    first = storage(bench).step()
    when = datetime(2024, 1, 2)
    path = first.write(
        pd.DataFrame(
            {
                "cell": pd.Series(
                    [np.array([1, 2]), (1, 2), when, float("nan"), pd.NA, np.int64(3), "a\ud800b", {"k": (1,)}],
                    dtype=object,
                )
            }
        )
    )
    assert [row["cell"] for row in read_records(path)] == [
        "[1 2]",
        "(1, 2)",
        "2024-01-02 00:00:00",
        None,
        None,
        3,
        "a?b",
        {"k": "(1,)"},
    ]


def test_reset_and_order_of_calls(bench: Path) -> None:
    whole = storage(bench)
    for action in (whole.read, lambda: whole.write([{"a": 1}])):
        with pytest.raises(ValueError, match=r"step\(\)"):
            action()
    whole.step()
    assert whole.reset() is whole
    with pytest.raises(ValueError, match=r"step\(\)"):
        whole.read()


def test_pickle_is_refused_with_the_reason(bench: Path) -> None:
    with pytest.raises(ValueError, match="runs whatever code"):
        storage(bench, cache_type="pickle")
    with pytest.raises(ValueError, match="xlsx"):
        storage(bench, cache_type="xlsx")


def test_reading_faults(bench: Path) -> None:
    with pytest.raises(ValueError, match="output_type"):
        storage(bench).step().read("rows")
    with pytest.raises(FileNotFoundError):
        FileStorage(str(bench.with_name("none.jsonl"))).step().read()
    with pytest.raises(ValueError, match="hubs"):
        FileStorage("hf:some/data").step().read()
    with pytest.raises(ValueError, match="at least one"):
        storage(bench).step().write([])
    assert len(FileStorage("").step().read()) == 0


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.jsonl", b'{"a": 1}\n{"a": \n', "line 2 is no JSON"),
        ("a.jsonl", b"[1]\n", "line 1 is a JSON list"),
        ("a.jsonl", b'{"a": "\xff"}\n', "not UTF-8"),
        ("a.jsonl", b"[" * 100_000, "line 1 is no JSON"),
        ("a.json", b'{"a": 1}', "array of objects"),
        ("a.csv", b"a,b\n1\n", "line 2 has other columns"),
        ("a.csv", b"a,b\n1,2,3\n", "line 2 has other columns"),
        ("a.csv", b"a,b,a\n1,2,3\n", "names the column 'a' twice"),
        ("a.parquet", b"PAR", "parquet"),
        ("a.txt", b"", "unknown ending"),
    ],
)
def test_faults_name_file_and_row(tmp_path: Path, name: str, content: bytes, problem: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(TableError, match=problem) as fault:
        list(read_records(path))
    assert str(path) in str(fault.value)


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    write_records(path, [{"a": 1}])

    def rows() -> Any:
        yield {"a": 2}
        raise RuntimeError("half way")

    with pytest.raises(RuntimeError):
        write_records(path, rows())
    assert list(read_records(path)) == [{"a": 1}]
    assert list(tmp_path.iterdir()) == [path]


def test_parquet_columns_of_several_types_become_text(tmp_path: Path) -> None:
    path = tmp_path / "mixed.parquet"
    write_records(path, [{"a": 1, "b": [1]}, {"a": "x", "b": None}])
    assert list(read_records(path)) == [{"a": "1", "b": [1]}, {"a": "x", "b": None}]


def test_a_csv_file_with_an_unnamed_index_is_read(tmp_path: Path) -> None:
    path = tmp_path / "frame.csv"
    pd.DataFrame({"q": ["a", "b"]}).to_csv(path)
    assert list(read_records(path)) == [{"": "0", "q": "a"}, {"": "1", "q": "b"}]


def test_rows_with_other_columns_are_no_csv(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    write_records(path, [{"a": 1, "b": 2}, {"a": 3}])
    assert list(read_records(path)) == [{"a": "1", "b": "2"}, {"a": "3", "b": ""}]
    with pytest.raises(TableError, match=r"out\.csv: row 2 has a column 'c' that row 1 lacks; write \.jsonl"):
        write_records(path, [{"a": 1}, {"a": 1, "c": 2}])


ODD = {
    "date": datetime(2024, 1, 2),
    "bytes": b"\x89",
    "decimal": Decimal("1.10"),
    "picture": {"bytes": b"\x89", "path": None},
    "dates": [datetime(2024, 1, 2)],
}


@pytest.mark.parametrize("ending", ["jsonl", "json", "csv"])
def test_cells_of_parquet_without_a_json_form_are_written_as_text(tmp_path: Path, ending: str) -> None:
    write_records(tmp_path / "odd.parquet", [ODD])
    path = tmp_path / f"out.{ending}"
    write_records(path, read_records(tmp_path / "odd.parquet"))
    (found,) = read_records(path)
    assert [found[name] for name in ("date", "bytes", "decimal")] == ["2024-01-02 00:00:00", "b'\\x89'", "1.10"]
    nested = {name: json.loads(found[name]) if ending == "csv" else found[name] for name in ("picture", "dates")}
    assert nested == {"picture": {"bytes": "b'\\x89'", "path": None}, "dates": ["2024-01-02 00:00:00"]}


@pytest.mark.parametrize(
    "cells", [[{}, None], [[{}], []], [{"a": 1}, {"b": 2}], [["x\ud800"], []], [{"k": "x\ud800"}, None]]
)
def test_objects_that_parquet_cannot_hold_as_they_are_become_text(tmp_path: Path, cells: list[Any]) -> None:
    path = tmp_path / "objects.parquet"
    write_records(path, [{"a\ud800": cell} for cell in cells])
    found = [row["a?"] for row in read_records(path)]
    assert [cell and json.loads(cell) for cell in found] == cells


@pytest.mark.parametrize("place", range(4, 400, 7))
def test_a_damaged_parquet_file_is_read_or_named(tmp_path: Path, place: int) -> None:
    path = tmp_path / "damaged.parquet"
    write_records(path, [{"a": f"text {number}", "b": [number]} for number in range(99)])
    damaged = bytearray(path.read_bytes())
    damaged[place] ^= 0xFF
    path.write_bytes(damaged)
    try:
        assert len(list(read_records(path))) == 99
    except TableError as fault:
        assert str(path) in str(fault)


def test_objects_of_one_shape_stay_objects_in_parquet(tmp_path: Path) -> None:
    rows = [{"a": {"x": 1, "y": [b"1"]}}, {"a": None}]
    write_records(tmp_path / "same.parquet", rows)
    assert list(read_records(tmp_path / "same.parquet")) == rows


def test_cells_nested_deep_are_written(bench: Path) -> None:
    deep: Any = "x"
    for _ in range(900):
        deep = [deep]
    first = storage(bench).step()
    path = first.write([{"cell": deep}])
    (row,) = read_records(path)
    assert row["cell"] == str(deep)


def test_surrogates_in_names_of_columns_are_written(tmp_path: Path) -> None:
    for ending in ("csv", "parquet"):
        write_records(tmp_path / f"out.{ending}", [{"a\ud800": "1"}])
        assert list(read_records(tmp_path / f"out.{ending}")) == [{"a?": "1"}]

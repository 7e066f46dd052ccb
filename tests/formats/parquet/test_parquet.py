"""Parquet files as tables: every row, with the types that the file says."""

import csv
from pathlib import Path
from typing import Any

import duckdb
import pytest

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import ReadAs, Source
from kbd.testing.formats import check_format
from kbd.testing.tools import Workbench
from kbd_files import kbd_register_tools as kbd_register_file_tools
from kbd_parquet import ParquetFormat
from kbd_tables import kbd_register_tools

FORMAT = ParquetFormat()
TYPED = (
    "SELECT 1::UBIGINT AS id, '007' AS code, 12.50::DECIMAL(9,2) AS price, true AS ok,"
    " DATE '2024-01-31' AS day, TIMESTAMP '2024-01-31 10:00:00.5' AS at, [1, 2] AS list,"
    " {'a': 1} AS record, 'a,\"b\r\n' AS text, 0.1::DOUBLE AS share, '\\x01'::BLOB AS bytes,"
    " TIMESTAMPTZ '2024-01-31 10:00:00+02' AS zoned, NULL::VARCHAR AS nothing"
)


def parquet(path: Path, query: str) -> bytes:
    """Return what DuckDB writes of a query."""
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({query}) TO '{path}' (FORMAT parquet)")
    return path.read_bytes()


async def rows(tmp_path: Path, data: bytes, query: str, **more: Any) -> Any:
    workbench = Workbench(tmp_path / "workbench", [FORMAT])
    workbench.add("t.parquet", data)
    tools = {tool.name: tool for tool in kbd_register_tools({}, workbench.formats)}
    return (await workbench.call(tools["table_query"], path="t.parquet", query=query, **more)).value


@pytest.mark.anyio
async def test_values_keep_their_types(tmp_path: Path) -> None:
    """A text stays one, whatever it looks like; decimals are exact; times are told in UTC."""
    data = parquet(tmp_path / "p", TYPED)
    found = await rows(tmp_path, data, "FROM data", read_as={"blanks": "keep"})
    assert dict(zip(found["columns"], zip(found["rows"][0], found["column_types"], strict=True),
                    strict=True)) == {
        "id": (1, "integer"), "code": ("007", "string"), "price": (12.5, "float"),
        "ok": (True, "boolean"), "day": ("2024-01-31", "date"),
        "at": ("2024-01-31T10:00:00.500000", "datetime"), "list": ("[1,2]", "string"),
        "record": ('{"a":1}', "string"), "text": ('a,"b\r\n', "string"), "share": (0.1, "float"),
        "bytes": ("01", "string"), "zoned": ("2024-01-31T08:00:00", "datetime"),
        "nothing": (None, "string"),
    }  # fmt: skip
    assert "times with a zone are told in UTC: zoned" in found["warnings"]
    # As in every table a text has no blanks around it where nothing else is said.
    assert (await rows(tmp_path, data, "SELECT text FROM data"))["rows"] == [['a,"b']]


@pytest.mark.anyio
async def test_columns_without_a_value_keep_their_types(tmp_path: Path) -> None:
    """The file says them: a sum of no amounts is none, not an error."""
    data = parquet(
        tmp_path / "p",
        "SELECT i AS row, NULL::INTEGER AS i, NULL::DOUBLE AS f, NULL::DECIMAL(9, 2) AS c,"
        " NULL::BOOLEAN AS b, NULL::DATE AS d, NULL::TIMESTAMP AS t, NULL::VARCHAR AS s"
        " FROM range(2) r(i)",
    )
    typed = ["integer", "integer", "float", "float", "boolean", "date", "datetime", "string"]
    assert (await rows(tmp_path, data, "FROM data"))["column_types"] == typed
    assert (await rows(tmp_path, data, "FROM data WHERE row > 5"))["column_types"] == typed
    found = await rows(tmp_path, data, "SELECT sum(i), sum(f), sum(c), min(d), max(t) FROM data")
    assert found["rows"] == [[None] * 5]


@pytest.mark.anyio
@pytest.mark.full
async def test_every_row_in_order(tmp_path: Path) -> None:
    """Over several row groups; what is no number is empty, and told."""
    query = (
        "SELECT i, CASE WHEN i = 7 THEN 'nan'::DOUBLE ELSE i / 4 END AS q FROM range(200000) t(i)"
    )
    data = parquet(tmp_path / "p", query)
    found = await rows(tmp_path, data, "SELECT count(*), sum(i), sum(q) FROM data")
    assert found["rows"] == [[200_000, 19_999_900_000, 4_999_974_998.25]]
    assert "1 value(s) of q are NaN or infinite: they are empty here" in found["warnings"]
    first = await rows(tmp_path, data, "SELECT i FROM data LIMIT 3 OFFSET 150000")
    assert first["rows"] == [[150_000], [150_001], [150_002]]


def test_it_keeps_the_promises_of_formats(tmp_path: Path) -> None:
    """Damaged files are refused by name, and reading changes nothing."""
    sample = parquet(tmp_path / "p", 'SELECT 1 AS "a", \'x\' AS "A ", 2 AS b')
    check_format(FORMAT, {"t.parquet": sample}, tmp=tmp_path)


def test_what_is_refused(tmp_path: Path) -> None:
    """No sheet, nothing said, no file of another kind; no message has a path."""
    path = tmp_path / "blob"
    parquet(path, "SELECT 1 AS a")
    source = Source(path, "t.parquet")
    for sheet, said in (("S", ReadAs()), (None, ReadAs(encoding="cp1252"))):
        with pytest.raises(ValidationFailed):
            FORMAT.read_table(source, sheet, said, tmp_path / "out")
    path.write_bytes(b"PAR1 and no more PAR1")
    with pytest.raises(FileReadFailed) as caught:
        FORMAT.map(source)
    assert str(tmp_path) not in caught.value.message
    path.write_bytes(b"a text without the letters that such a file ends with")
    with pytest.raises(FileReadFailed, match=r"No magic bytes found at end of the file$"):
        FORMAT.map(source)


@pytest.mark.anyio
async def test_it_is_no_text(tmp_path: Path) -> None:
    """Who wants to read the file is told of the table tools."""
    workbench = Workbench(tmp_path / "workbench", [FORMAT])
    workbench.add("t.parquet", b"PAR1")
    tools = {tool.name: tool for tool in kbd_register_file_tools(workbench.formats)}
    with pytest.raises(ValidationFailed, match=r"t\.parquet has no text .* use the table tools"):
        await workbench.call(tools["read_file"], path="t.parquet")


def test_the_plain_form(tmp_path: Path) -> None:
    """A null is empty, names differ without regard to case."""
    path, target = tmp_path / "blob", tmp_path / "plain"
    parquet(path, "SELECT NULL::INT AS n, 'x' AS \"x y\" UNION ALL SELECT 2, 'z'")
    table = FORMAT.read_table(Source(path, "t.parquet"), None, ReadAs(), target)
    with target.open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file)) == [["n", "x y"], ["", "x"], ["2", "z"]]
    assert table.row_count == 2


def test_what_a_time_loses_is_told(tmp_path: Path) -> None:
    """Nanoseconds are more than a table's times have; times without any lose nothing."""
    times = (
        "'2024-01-31 10:00:00.123456789'::TIMESTAMP_NS AS fine, "
        "'2024-01-31 10:00:00.123456'::TIMESTAMP_NS AS plain"
    )
    path = tmp_path / "p"
    path.write_bytes(parquet(tmp_path / "made", f"SELECT {times}"))
    table = FORMAT.read_table(Source(path, "p.parquet"), None, ReadAs(), tmp_path / "plain")

    assert [column.type for column in table.columns] == ["datetime", "datetime"]
    told = "1 time(s) of fine have nanoseconds: they are rounded to microseconds here"
    assert table.warnings == (told,)

"""Parquet files that are written: typed, exact, as what was asked for."""

from pathlib import Path
from typing import Any

import duckdb
import msgpack
import pytest

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import Placement
from kbd.testing.tools import Workbench
from kbd_csv import CsvFormat
from kbd_parquet import ParquetFormat
from kbd_parquet.parquet_writer import write_rows
from kbd_tables import kbd_register_tools

COLUMNS = [
    ["id", "integer"], ["price", "float"], ["share", "float"], ["ok", "boolean"],
    ["day", "date"], ["at", "datetime"], ["name", "string"], ["Name", "string"],
    ["huge", "integer"],
]  # fmt: skip
ROWS: list[list[Any]] = [
    [1, "12.50", 0.1, True, "2024-01-31", "2024-01-31T10:00:00.500000", 'a,"b\n', "x", 2**63 + 5],
    [None] * 9,
    [-5, "-1234567.125", 1e300, False, "1900-01-01", "2024-01-31T00:00:00", "=1+1", "", 1],
]  # fmt: skip


def stream(path: Path, columns: list[Any], rows: list[list[Any]]) -> Path:
    """Write a stream of rows."""
    path.write_bytes(b"".join(msgpack.packb(each) for each in (columns, *rows)))
    return path


def test_each_value_keeps_its_type(tmp_path: Path) -> None:
    """Decimals and large whole numbers are exact, moments are moments, texts stay as they are."""
    target = tmp_path / "t.parquet"
    written = write_rows(stream(tmp_path / "rows", COLUMNS, ROWS), Placement(), target)
    assert (written.row_count, written.column_count) == (3, 9)
    with duckdb.connect() as connection:
        described = connection.execute(f"DESCRIBE FROM '{target}'").fetchall()
        found = connection.execute(f'SELECT * REPLACE ("at"::VARCHAR AS "at") FROM \'{target}\'')
        rows = [[str(value) for value in row] for row in found.fetchall()]
    assert [(name, kind) for name, kind, *_ in described] == [
        ("id", "BIGINT"), ("price", "DECIMAL(18,3)"), ("share", "DOUBLE"), ("ok", "BOOLEAN"),
        ("day", "DATE"), ("at", "TIMESTAMP"), ("name", "VARCHAR"), ("Name_2", "VARCHAR"),
        ("huge", "DECIMAL(38,0)"),
    ]  # fmt: skip
    assert rows == [
        ["1", "12.500", "0.1", "True", "2024-01-31", "2024-01-31 10:00:00.5", 'a,"b\n', "x",
         str(2**63 + 5)],
        ["None"] * 9,
        ["-5", "-1234567.125", "1e+300", "False", "1900-01-01", "2024-01-31 00:00:00", "=1+1", "",
         "1"],
    ]  # fmt: skip


def test_many_rows_keep_their_order(tmp_path: Path) -> None:
    """Over several batches; an empty table has its columns."""
    rows = [[n, f"n{n}"] for n in range(12_345)]
    columns = [["n", "integer"], ["t", "string"]]
    write_rows(stream(tmp_path / "rows", columns, rows), Placement(), tmp_path / "t")
    write_rows(stream(tmp_path / "none", columns, []), Placement(), tmp_path / "e")
    with duckdb.connect() as connection:
        found = connection.execute(f"FROM read_parquet('{tmp_path / 't'}')").fetchall()
        empty = connection.execute(f"DESCRIBE FROM read_parquet('{tmp_path / 'e'}')").fetchall()
    assert found == [tuple(row) for row in rows]
    assert [row[0] for row in empty] == ["n", "t"]


def test_what_cannot_be_written_is_refused(tmp_path: Path) -> None:
    """A file that is there is not added to; a stream that is broken is told of."""
    rows = stream(tmp_path / "rows", [["n", "integer"]], [[1]])
    with pytest.raises(ValidationFailed, match="not added to a Parquet file"):
        write_rows(rows, Placement(mode="append_rows"), tmp_path / "t")
    with pytest.raises(FileReadFailed, match="another width"):
        write_rows(stream(rows, [["n", "integer"]], [[1, 2]]), Placement(), tmp_path / "t")
    (tmp_path / "empty").touch()
    with pytest.raises(FileReadFailed, match="empty"):
        write_rows(tmp_path / "empty", Placement(), tmp_path / "t")
    assert not (tmp_path / "t").exists()


@pytest.mark.anyio
@pytest.mark.full
async def test_a_table_is_exported_and_read_again(tmp_path: Path) -> None:
    """By the tool: of a text table the figures, typed; what a query makes; nothing is appended."""
    workbench = Workbench(tmp_path / "workbench", [CsvFormat(), ParquetFormat()])
    workbench.add("t.csv", "day,amount\n2024-01-31,12.50\n2024-02-01,3.25\n")
    tools = {tool.name: tool for tool in kbd_register_tools({}, workbench.formats)}
    given = {"path": "t.csv", "target_path": "t.parquet", "format": "parquet"}
    whole = await workbench.call(tools["table_export"], **given)
    assert whole.value["row_count"] == 2
    found = await workbench.call(
        tools["table_query"], path="t.parquet", query="SELECT sum(amount), max(day) FROM data"
    )
    assert found.value["rows"] == [[15.75, "2024-02-01"]]
    query = "SELECT day, amount * 2 AS twice FROM data ORDER BY day"
    await workbench.call(tools["table_export"], **given, query=query)
    found = await workbench.call(tools["table_read_rows"], path="t.parquet", row_start=1,
                                 row_count=5)  # fmt: skip
    assert found.value["rows"] == [["2024-01-31", 25.0], ["2024-02-01", 6.5]]
    with pytest.raises(ValidationFailed, match="must be a workbook"):
        await workbench.call(
            tools["table_update_from_export"], path="t.csv", target_path="t.parquet",
            sheet="S", mode="append_rows",
        )  # fmt: skip

"""One statement over a table of every kind of file."""

import io
import json
from pathlib import Path

import duckdb
import openpyxl
import pyarrow as pa
import pytest
from pyarrow import ipc

from kbd.testing.tools import Workbench
from kbd_csv import CsvFormat
from kbd_ods import OdsFormat
from kbd_parquet import ArrowFormat, ParquetFormat
from kbd_tables import kbd_register_tools
from kbd_text import TextFormat
from kbd_xlsx import XlsxFormat
from ods_books import ods_book, row, table, typed

FORMATS = (
    CsvFormat(), XlsxFormat(), OdsFormat(), TextFormat(), ParquetFormat(), ArrowFormat(),
)  # fmt: skip


def sheets() -> bytes:
    """A workbook with two sheets, of which one is asked for."""
    book = openpyxl.Workbook()
    book.create_sheet("Notes", 0).append(["see Rates"])
    rates = book.create_sheet("Rates", 0)
    for values in (("Item", "Rate"), ("Tea", 0.5), ("Ham", 2)):
        rates.append(values)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def spreadsheet(folder: Path) -> bytes:
    """The same of OpenDocument; its numbers are shown otherwise than they are."""
    rows = row("Item", "Stock") + row("Tea", typed("float", "1500", "1.500,00"))
    rows += row("Ham", typed("float", "7", "7,00"))
    path = ods_book(
        folder / "a.ods", table("see Stock", name="Notes") + table(rows=rows, name="Stock")
    )
    return path.read_bytes()


def columns(folder: Path) -> tuple[bytes, bytes]:
    """A Parquet file and an Arrow file."""
    path = folder / "p"
    with duckdb.connect() as connection:
        answer = (
            "SELECT * FROM (VALUES ('Tea', 12.50::DECIMAL(9, 2)), ('Ham', 3)) AS t(Item, Price)"
        )
        connection.execute(f"COPY ({answer}) TO '{path}' (FORMAT parquet)")
    sink = pa.BufferOutputStream()
    weights = pa.table({"Item": pa.array(["Tea", "Ham"]).dictionary_encode(), "Weight": [1, 2]})
    with ipc.new_file(sink, weights.schema) as writer:
        writer.write_table(weights)
    return path.read_bytes(), bytes(sink.getvalue())


QUERY = """
SELECT o.Item, Amount, Rate, Stock, Origin, Price, Weight, Amount * Price AS Worth
FROM "orders.csv" o
JOIN "rates.xlsx"."Rates" USING (Item) JOIN "stock.ods"."Stock" USING (Item)
JOIN "origins.json" USING (Item) JOIN "prices.parquet" USING (Item)
JOIN "weights.arrow" USING (Item) JOIN "notes.jsonl" USING (Item)
ORDER BY o.Item DESC
"""


@pytest.mark.anyio
@pytest.mark.full
async def test_one_statement_joins_every_kind_of_table(tmp_path: Path) -> None:
    """Each under its file's name, sheets behind it; every figure is the stored one."""
    workbench = Workbench(tmp_path / "workbench", FORMATS)
    parquet, arrow = columns(tmp_path)
    records = [{"Item": "Tea", "Origin": "Assam"}, {"Item": "Ham", "Origin": "Parma"}]
    lines = "".join(f"{json.dumps({'Item': record['Item']})}\n" for record in records)
    for name, data in (
        ("orders.csv", b"Item,Amount\nTea,3\nHam,4\n"),
        ("rates.xlsx", sheets()),
        ("stock.ods", spreadsheet(tmp_path)),
        ("origins.json", json.dumps(records).encode()),
        ("notes.jsonl", lines.encode()),
        ("prices.parquet", parquet),
        ("weights.arrow", arrow),
    ):
        workbench.add(name, data)
    tools = {tool.name: tool for tool in kbd_register_tools({}, workbench.formats)}
    found = (await workbench.call(tools["table_query"], path="orders.csv", query=QUERY)).value
    assert found["rows"] == [
        ["Tea", 3, 0.5, 1500, "Assam", 12.5, 1, 37.5],
        ["Ham", 4, 2, 7, "Parma", 3.0, 2, 12.0],
    ]
    listed = (
        await workbench.call(tools["table_query"], path="orders.csv", query="SHOW TABLES")
    ).value
    assert {"stock.ods", "weights.arrow"} <= {str(row[0]) for row in listed["rows"]}


@pytest.mark.anyio
@pytest.mark.full
async def test_no_column_comes_from_a_folders_name(tmp_path: Path) -> None:
    """A home below `region=north` is no partition of a table."""
    home = tmp_path / "region=north"
    home.mkdir()
    workbench = Workbench(home / "workbench", FORMATS)
    workbench.add("orders.csv", b"Item,Amount\nTea,3\nTotal,3\n")
    workbench.add("prices.parquet", columns(tmp_path)[0])
    tools = {tool.name: tool for tool in kbd_register_tools({}, workbench.formats)}
    for name, wanted in (
        ("orders.csv", [["Tea", 3]]),
        ("prices.parquet", [["Tea", 12.5], ["Ham", 3]]),
    ):
        mapped = (await workbench.call(tools["table_get_map"], path=name)).value
        found = (await workbench.call(tools["table_query"], path=name, query="FROM data")).value
        stats = (await workbench.call(tools["table_stats"], path=name)).value
        assert mapped["column_count"] == len(stats["columns"]) == 2
        assert found["rows"] == wanted

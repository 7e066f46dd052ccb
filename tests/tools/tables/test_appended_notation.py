"""Rows that are added to a text table are written as its own rows are: marks, dates, quotes."""

import msgspec
import pytest

from backends import on_asyncio
from kbd.errors import ValidationFailed
from kbd.formats import ReadAs
from kbd.testing.tools import Workbench
from kbd.tools import Tool
from tools.tables.conftest import Ask

pytestmark = [pytest.mark.full, pytest.mark.anyio, on_asyncio]

NEW = "day,name,sum,share,paid\n2024-12-31,Zoë,1234.5,0.5,true\n2025-01-02,b,-7,0.25,false\n"


async def appended(workbench: Workbench, tools: dict[str, Tool], target: bytes, **more: str) -> str:
    """Add the rows of NEW to a file, and return what was added."""
    workbench.add("new.csv", more.get("rows", NEW))
    workbench.add("t.csv", target)
    await workbench.call(
        tools["table_update_from_export"], path="new.csv", target_path="t.csv", sheet="x",
        mode="append_rows", query=more.get("query"),
    )  # fmt: skip
    after = workbench.content("t.csv")
    assert after.startswith(target)
    return after[len(target) :].decode(more.get("encoding", "utf-8"))


GERMAN = (
    "Tag;Name;Summe;Anteil;bezahlt\r\n01.02.2024;Müller;1.000,50;12,5%;ja\r\n"
    "28.02.2024;Größe;20,00;7,0%;nein\r\n"
)


QUOTED = (
    '"d","n","s","q","p"\n"12/30/2024","a","1,000.00","0.50","TRUE"\n'
    '"01/31/2024","b","5.00","0.75","FALSE"\n'
)


@pytest.mark.parametrize(
    ("before", "encoding", "added"),
    [
        (GERMAN, "cp1252",
         "31.12.2024;Zoë;1.234,50;50,0%;ja\r\n02.01.2025;b;-7,00;25,0%;nein\r\n"),
        ("Tag;Name;Summe;Teil;gut\n1.2.24;a;1000,5 €;0,1;J\n28.2.24;b;20,25 €;0,7;N\n", "utf-8",
         "31.12.24;Zoë;1234,5 €;0,5;J\n2.1.25;b;-7,0 €;0,25;N\n"),
        (QUOTED, "utf-8",
         '"12/31/2024","Zoë","1,234.50","0.50","TRUE"\n"01/02/2025","b","-7.00","0.25","FALSE"\n'),
        ('"d","n","s","q","p"\n2024-05-01,"a",1.5,0.5,"yes"\n', "utf-8",
         '2024-12-31,"Zoë",1234.5,0.5,"yes"\n2025-01-02,"b",-7.0,0.25,"no"\n'),
        ('d,n,s,q,p\n2024-05-01,a,"1,5","0,5",1\n2024-05-02,a,"2,25","0,5",0\n', "utf-8",
         '2024-12-31,Zoë,"1234,5","0,5",1\n2025-01-02,b,"-7,0","0,25",0\n'),
        ("d\tn\ts\tq\tp\n2024-05-01 10:00\ta\t1 000\t2\tx\n2024-05-02 11:30\tb\t12 500\t3\ty\n",
         "utf-16",
         "2024-12-31 00:00\tZoë\t1 234.5\t0.50\ttrue\n2025-01-02 00:00\tb\t-7.0\t0.25\tfalse\n"),
    ],
)  # fmt: skip
async def test_rows_go_on_in_the_notation_of_the_file(
    workbench: Workbench, tools: dict[str, Tool], before: str, encoding: str, added: str
) -> None:
    """Decimal and thousands marks, signs, decimals, dates, truths, quotes, encoding, line ends."""
    wide = f"{encoding}-le" if encoding == "utf-16" else encoding
    got = await appended(workbench, tools, before.encode(encoding), encoding=wide)
    assert got == added


async def test_what_was_added_reads_as_it_was(
    workbench: Workbench, tools: dict[str, Tool], ask: Ask
) -> None:
    """The sum of the file is that of both."""
    await appended(workbench, tools, GERMAN.encode("cp1252"), encoding="cp1252")
    found = await ask(
        "query", path="t.csv", query="SELECT sum(Summe), sum(Anteil), max(Tag) FROM data"
    )
    assert found["rows"] == [[2248.0, 0.945, "2025-01-02"]]


@pytest.mark.parametrize(
    ("target", "query", "message"),
    [
        (GERMAN.encode("cp1252"), "SELECT DATE '2024-01-01', 'Łódź', 1, 0.1, true FROM data",
         "which has no character 'Ł'"),
        (b"a;b\nx;1.234\ny;2.500\n", "SELECT 'z', 1.5 FROM data", "can be read in two ways"),
        (b"d,n\n3 January 2024,a\n5 March 2024,b\n", "SELECT DATE '2024-01-01', 'x' FROM data",
         "which rows cannot be added in"),
    ],
)  # fmt: skip
async def test_what_cannot_go_on_is_refused(
    workbench: Workbench, tools: dict[str, Tool], target: bytes, query: str, message: str
) -> None:
    """A letter that the encoding lacks, a file of two readings, dates in words; nothing changes."""
    with pytest.raises(ValidationFailed, match=message):
        await appended(workbench, tools, target, query=query)
    assert workbench.content("t.csv") == target


@pytest.mark.parametrize("said", [ReadAs(decimal=","), ReadAs(header_row=4, encoding="cp1252")])
async def test_no_table_is_written_anew_under_what_was_said_of_another(
    workbench: Workbench, tools: dict[str, Tool], said: ReadAs
) -> None:
    """Its figures would be read by it: 1.234 as 1234."""
    export = {"path": "new.csv", "format": "csv"}
    workbench.add("new.csv", "n\n1.234\n5.5\n")
    workbench.add("t.csv", "n\n3\n", said)
    with pytest.raises(ValidationFailed, match="is read as it was said of it"):
        await workbench.call(tools["table_export"], target_path="t.csv", **export)
    assert workbench.content("t.csv") == b"n\n3\n"

    await workbench.call(tools["table_export"], target_path="other.csv", **export)
    workbench.add("t.csv", "n\n3\n", ReadAs(totals="keep"))
    await workbench.call(tools["table_export"], target_path="t.csv", **export)
    assert workbench.content("t.csv") == workbench.content("other.csv") == b"n\n1.234\n5.5\n"


@pytest.mark.parametrize(
    ("target", "said", "added"),
    [
        ("", {"decimal": ","}, 'n,d\n"1,234",2024-12-31\n'),
        ("n,d\n", {"decimal": ","}, '"1,234",2024-12-31\n'),
        ("n;d\n", {"decimal": ",", "date_order": "dmy"}, "1,234;2024-12-31\n"),
        ("n;d\n", {}, "1.2340;2024-12-31\n"),
        ("n;d\n;1.2.2024\n", {"decimal": ","}, "1,234;31.12.2024\n"),
    ],
)
async def test_columns_without_figures_go_by_what_was_said(
    workbench: Workbench,
    tools: dict[str, Tool],
    ask: Ask,
    target: str,
    said: dict[str, str],
    added: str,
) -> None:
    """Where no row shows how numbers are written, they are read again as they were."""
    workbench.add("new.csv", "n,d\n1.234,2024-12-31\n5.5,\n")
    workbench.add("t.csv", target, msgspec.convert(said, ReadAs))
    await workbench.call(
        tools["table_update_from_export"], path="new.csv", target_path="t.csv", sheet="x",
        mode="append_rows", query="SELECT * FROM data WHERE d IS NOT NULL",
    )  # fmt: skip

    assert workbench.content("t.csv").decode() == target + added
    found = await ask("query", path="t.csv", read_as=said, query="SELECT sum(n) FROM data")
    assert found["rows"] == [[1.234]]


async def test_no_row_is_added_where_what_was_said_does_not_fit(
    workbench: Workbench, tools: dict[str, Tool]
) -> None:
    """Nobody knows what the figures of such a file are."""
    workbench.add("new.csv", NEW)
    workbench.add("t.csv", "day,name,sum,share,paid\n", ReadAs(header_row=9))
    with pytest.raises(ValidationFailed, match="header_row 9 is not one of them"):
        await workbench.call(
            tools["table_update_from_export"], path="new.csv", target_path="t.csv", sheet="x",
            mode="append_rows",
        )  # fmt: skip

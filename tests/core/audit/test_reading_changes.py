"""Readings of tables beside calls: recorded, compared when a run is proved, named where changed."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from agent_rig import Opened, Rig
from backends import on_asyncio, on_trio
from kbd.core.agent.noted_readings import (
    MAX_NOTED_CHARACTERS,
    MAX_NOTED_COLUMNS,
    MAX_NOTED_TABLES,
    note_table,
)
from kbd.core.audit.reading_changes import ComparedReadings, ShownTables
from kbd.core.audit.recorded_calls import CallOutcome
from kbd.errors import ValidationFailed
from kbd.events.base import CallNotes, TableRead
from kbd.events.runs import ToolReturned
from kbd.formats import ReadingQuestion, TableReading, TouchedRows
from kbd.requests.replays import Divergence, FieldDiff
from kbd.tools import ToolContext, ToolResult
from kbd.types import BlobHash, FileName
from proof_rig import Kind, Moody, asks, catalog_of, proved, turns

pytestmark = pytest.mark.anyio

LEFT_OUT = TouchedRows("total of the rows above", 4, (5, 9, 13, 17))
ASKED = ReadingQuestion("decimal", ("Sum", "Rest"), "which mark?", ())
POINT = TableReading("cp1250", delimiter=";", header_row=1, decimal=".")
COMMA = TableReading(
    "cp1252", delimiter=";", header_row=1, decimal=",", left_out=(LEFT_OUT,), questions=(ASKED,)
)


class Reader(Moody):
    """Reads a table, as it is told to; its result shows what old results showed.

    Args:
        reading: How.
        kind: The type of the table's column.
        rows: How many there are.
    """

    name = "reader"

    def __init__(self, reading: TableReading, kind: str = "float", rows: int = 12) -> None:
        super().__init__()
        self._reading, self._kind, self._rows = reading, kind, rows

    async def run(self, context: ToolContext, arguments: Kind) -> ToolResult:
        """Note the reading, and return or fail as the kind says."""
        file = context.files.get("book.csv")
        columns = {"Sum": self._kind}
        for _ in range(2):
            context.note_reading(
                file, arguments.path, self._reading, columns=columns, row_count=self._rows
            )
        if arguments.kind == "fails":
            raise ValidationFailed("the question is open")
        if arguments.kind == "map":
            shown: dict[str, Any] = {
                "encoding_detected": self._reading.encoding,
                "columns": [{"name": "Sum", "type": self._kind}],
                "row_count": self._rows,
            }
            return ToolResult(shown)
        return ToolResult(
            {"total_row_count": 1, "columns": ["s"], "rows": [[self._reading.decimal]]}
        )


def call_of(*kinds: str, path: str = "März") -> Any:
    """A model that writes a table and calls the reader, once a kind."""
    wanted = [("reader", {"kind": kind, "path": path}) for kind in kinds]
    return turns(asks(("write_note", {"path": "book.csv", "content": "Sum"}), *wanted))


async def recorded(rig: Rig, tool: Reader) -> None:
    """Have a run call a reader."""
    rig.catalog = catalog_of(tool)
    await rig.go()


def fields(divergence: Divergence) -> list[tuple[str, str, str]]:
    """What differs of a divergence's one table."""
    (table,) = divergence.readings
    return [(each.path, each.recorded, each.replayed) for each in table.fields]


def returned(rig: Rig) -> list[ToolReturned]:
    """The ends of the calls."""
    return [event for event in rig.events() if isinstance(event, ToolReturned)]


CHANGED = [
    ("encoding", '"cp1250"', '"cp1252"'),
    ("decimal", '"."', '","'),
    ("left_out", "", '"total of the rows above: 4 (row 5, 9, 13 …)"'),
    ("questions", "", '"decimal of Sum, Rest"'),
    ('column "Sum"', '"float"', '"integer"'),
    ("rows", "12", "8"),
]


@on_asyncio
async def test_a_changed_reading_is_named_with_both_of_its_values(
    opened: Opened, tmp_path: Path
) -> None:
    """Of a call that returned and of one that fails, each table once; not where it is as it was."""
    async with opened(call_of("query", "fails")) as rig:
        await recorded(rig, Reader(POINT))
        same = await proved(rig, tmp_path / "same", catalog=catalog_of(Reader(POINT)))
        other = await proved(
            rig, tmp_path / "other", catalog=catalog_of(Reader(COMMA, "integer", 8))
        )

    settings = {"encoding": "cp1250", "delimiter": ";", "decimal": ".", "header_row": "1"}
    noted = TableRead(FileName("book.csv"), "März", settings, (("Sum", "float"),), 12)
    first, *ends = returned(rig)
    assert first.noted == CallNotes()
    assert [end.noted for end in ends] == [CallNotes(readings=(noted,))] * 2
    assert (same.equal, same.divergences) == (3, ())
    # The failure says the same then and now: the call is equal.
    (found,) = other.divergences
    assert found.what == ("reading", "result", "shown")
    (table,) = found.readings
    assert (table.path, table.sheet, table.is_recorded) == ("book.csv", "März", True)
    assert table.settings["left_out"] == "total of the rows above: 4 (row 5, 9, 13 …)"
    assert fields(found) == CHANGED


@on_trio
async def test_another_result_of_the_same_reading_names_none(
    opened: Opened, tmp_path: Path
) -> None:
    """What came of it otherwise is no matter of the reading then."""
    async with opened(call_of("map")) as rig:
        await recorded(rig, Reader(POINT))
        gone = await proved(rig, tmp_path / "gone", catalog=catalog_of(Moody()))

    (found,) = gone.divergences
    assert (found.what, found.readings) == (("outcome",), ())


NOW = TableRead(
    FileName("book.csv"), "", {"encoding": "cp1252", "decimal": ",", "header_row": "1"},
    (("Sum", "integer"), ("Day", "date")), 8,
)  # fmt: skip


def old_call(
    text: str, *tables: TableRead, ok: bool = True, blob: str = "b1"
) -> tuple[ComparedReadings, CallOutcome]:
    """A call whose log has no readings: what it read now, and what its result showed."""
    replayed = tables or (NOW,)
    blobs = {table.name: BlobHash(blob) for table in replayed}
    outcome = CallOutcome(refused=False, ok=ok, error_code=None, text=text, readings=None)
    return ComparedReadings(None, replayed, blobs), outcome


MAP = (
    '{"encoding_detected":"cp1250","has_header":false,"row_count":9,'
    '"columns":[{"name":"Sum","type":"float"},{"name":"Day","type":"date"}]}'
)
ROWS = (
    '{"columns":["Sum","Old"],"column_types":["float","string"],"rows":[],"row_count":2,'
    '"total_rows":9}'
)
QUERY = '{"columns":["Sum"],"column_types":["string"],"rows":[],"row_count":1,"total_row_count":1}'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (MAP, [("encoding", "cp1250", "cp1252"), ("header_row", "none", "1"),
               ('column "Sum"', "float", "integer"), ("rows", "9", "8")]),
        (ROWS, [('column "Sum"', "float", "integer"), ('column "Old"', "string", ""),
                ("rows", "9", "8")]),
        (QUERY, []), ("[1]", []), ("no JSON", []), ('{"columns":[3,{}],"row_count":9}', []),
        ("[" * 100_000, []),
    ],
    ids=["map", "rows", "query", "list", "text", "odd", "deep"],
)  # fmt: skip
def test_of_older_runs_their_results_tell(text: str, expected: list[tuple[str, ...]]) -> None:
    """What a result shows of its table is compared; a query's columns and rows are its own."""
    shown = ShownTables()
    readings, outcome = old_call(text)
    shown.add(readings, outcome)
    (found,) = shown.differences(readings)

    assert (found.path, found.is_recorded, found.settings) == ("book.csv", False, NOW.settings)
    quoted = [
        (each.path, each.recorded.strip('"'), each.replayed.strip('"')) for each in found.fields
    ]
    assert quoted == expected


def test_a_call_that_shows_nothing_has_what_another_one_showed() -> None:
    """Of the same bytes, whichever was done first; a call that failed or read two shows none."""
    shown = ShownTables()
    other = msgspec.structs.replace(NOW, name=FileName("other.csv"))
    shown.add(*old_call(MAP, blob="b2"))
    shown.add(*old_call(MAP, ok=False))
    shown.add(*old_call(MAP, NOW, other))
    asked, outcome = old_call(QUERY)
    shown.add(asked, outcome)
    assert [diff.fields for diff in shown.differences(asked)] == [()]

    shown.add(*old_call(ROWS))
    shown.add(*old_call(MAP))
    (found,) = shown.differences(asked)
    names = ["encoding", "header_row", 'column "Sum"', 'column "Old"', "rows"]
    assert [each.path for each in found.fields] == names


def test_every_setting_of_a_reading_is_noted() -> None:
    """What a reading decides can be compared; how sure it was, and why, is no other reading."""
    texts = dict.fromkeys(("encoding", "delimiter", "quote_char", "decimal", "thousands"), "x")
    rows = {"left_out": (LEFT_OUT,), "repaired": (LEFT_OUT,), "questions": (ASKED,)}
    full = TableReading(**texts, date_order="dmy", header_row=3, **rows)  # type: ignore[arg-type]
    noted = note_table(FileName("a.csv"), None, full, {}, 3)

    reasons = {"encoding_confidence", "encoding_reason"}
    assert set(noted.settings) == set(TableReading.__struct_fields__) - reasons


def test_notes_are_bounded_and_always_text() -> None:
    """However wide a table is and whatever it is called, its note is one that the log can hold."""
    columns = {f"{number}\ud800{'x' * 1000}": "float" for number in range(500)}
    noted = note_table(FileName("\ud800.csv"), "\ud83d", POINT, columns, 1 << 70)

    assert noted.name == "?.csv"
    assert noted.sheet == "?"
    assert len(noted.columns) == MAX_NOTED_COLUMNS
    assert {len(name) for name, _ in noted.columns} == {MAX_NOTED_CHARACTERS}
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(noted), type=TableRead) == noted


def test_a_column_that_is_not_noted_is_not_gone() -> None:
    """Of a wide table only what both have is compared, so that no column is told as lost."""
    columns = tuple((f"c{number}", "float") for number in range(MAX_NOTED_COLUMNS))
    now = TableRead(FileName("book.csv"), "", {}, columns, 9)
    shown = ShownTables()
    text = '{"columns":[{"name":"c7","type":"date"},{"name":"c300","type":"date"}],"row_count":9}'
    readings, outcome = old_call(text, now)
    shown.add(readings, outcome)
    (found,) = shown.differences(readings)

    assert found.fields == (FieldDiff(path='column "c7"', recorded='"date"', replayed='"float"'),)


class Many(Reader):
    """Reads more tables than are noted of a call, each twice."""

    async def run(self, context: ToolContext, arguments: Kind) -> ToolResult:
        """Note them all."""
        file = context.files.get("book.csv")
        for number in [*range(MAX_NOTED_TABLES + 5), 0]:
            context.note_reading(file, f"s{number}", POINT, columns={}, row_count=number)
        return ToolResult({})


@on_trio
async def test_a_call_notes_so_many_tables(opened: Opened, tmp_path: Path) -> None:
    """What a plugin notes cannot fill the log."""
    async with opened(call_of("query")) as rig:
        await recorded(rig, Many(POINT))

    noted = returned(rig)[-1].noted
    assert noted is not None
    assert [table.sheet for table in noted.readings] == [f"s{n}" for n in range(MAX_NOTED_TABLES)]

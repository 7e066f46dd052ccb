"""Changes of how a call's tables were read, between its recording and now; pure.

Logs of kbd 0.1 do not have it. Of their runs it is told by what the results show: the map of a
table has its encoding, its delimiter and the types of its columns.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from kbd.core.agent.noted_readings import MAX_NOTED_CHARACTERS, MAX_NOTED_COLUMNS
from kbd.core.audit.recorded_calls import CallOutcome, RecordedCall
from kbd.events.base import TableRead
from kbd.requests.replays import FieldDiff, ReadingDiff
from kbd.types import BlobHash, FileName

__all__ = ["ComparedReadings", "ShownTables"]

MAX_DIFFERENCES = 20
"""Settings and columns that are told of one table."""

UNKNOWN_ROWS = -1
"""The count of rows of a table whose results do not show it."""

_SHOWN_AS = {
    "encoding_detected": "encoding",
    "delimiter": "delimiter",
    "quote_char": "quote_char",
}
"""What maps of tables show of the reading, and under which name a reading has it."""

_TableKey = tuple[FileName, str, BlobHash]
"""A table: its file, its sheet, and the file's bytes."""

_Difference = tuple[str, str, str]
"""What differs: its name, then, now; empty where there is none."""


class ComparedReadings(msgspec.Struct, frozen=True):
    """How a call's tables were read, and how they are read now.

    Args:
        recorded: As the log has it; None if it does not.
        replayed: As they are read now.
        blobs: The bytes of each file of `replayed`.
    """

    recorded: tuple[TableRead, ...] | None
    replayed: tuple[TableRead, ...]
    blobs: dict[FileName, BlobHash]

    @staticmethod
    def of_call(
        call: RecordedCall, recorded: CallOutcome, replayed: CallOutcome
    ) -> "ComparedReadings":
        """Return those of a call that was repeated."""
        tables = replayed.readings or ()
        blobs = {}
        for table in tables:
            file = call.files.find(table.name) if call.files is not None else None
            if file is not None:
                blobs[table.name] = file.blob
        return ComparedReadings(recorded.readings, tables, blobs)

    def key(self, table: TableRead) -> _TableKey:
        """Return which table one of `replayed` is."""
        return table.name, table.sheet, self.blobs.get(table.name, BlobHash(""))


class ShownTables:
    """What recorded results show of tables, for runs that have no record of how they were read."""

    def __init__(self) -> None:
        self._tables: dict[_TableKey, TableRead] = {}

    def add(self, readings: ComparedReadings, recorded: CallOutcome) -> None:
        """Add what a call's recorded result shows, where its reading is not recorded."""
        # Of several tables it is not told which one the result is about.
        if readings.recorded is not None or len(readings.replayed) != 1 or not recorded.ok:
            return
        key = readings.key(readings.replayed[0])
        shown = _shown_table(key, recorded.text)
        if shown is not None:
            self._tables[key] = _merged(self._tables.get(key), shown)

    def differences(self, readings: ComparedReadings) -> tuple[ReadingDiff, ...]:
        """Return a call's tables that are read otherwise now.

        Where it is not recorded how they were read, they are all there, with what is known to
        differ.
        """
        found = []
        recorded = readings.recorded
        then = {(table.name, table.sheet): table for table in recorded or ()}
        for now in readings.replayed:
            if recorded is None:
                before = self._tables.get(readings.key(now))
                differing = _shown_differences(before, now)
            else:
                # A table that was not read then is no other reading: the call did something else.
                before = then.get((now.name, now.sheet), now)
                settings = {**before.settings, **now.settings}
                columns = (*dict(before.columns), *dict(now.columns))
                differing = _differences(before, now, settings, columns)
            fields = tuple(
                FieldDiff(path=path, recorded=old, replayed=new)
                for path, old, new in list(differing)[:MAX_DIFFERENCES]
            )
            if fields or recorded is None:
                diff = ReadingDiff(
                    path=now.name, sheet=now.sheet, is_recorded=recorded is not None,
                    fields=fields, settings=now.settings,
                )  # fmt: skip
                found.append(diff)
        return tuple(found)


def _shown_differences(shown: TableRead | None, now: TableRead) -> Iterator[_Difference]:
    if shown is not None:
        yield from _differences(shown, now, shown.settings, dict(shown.columns))


def _differences(
    before: TableRead, now: TableRead, settings: Iterable[str], columns: Iterable[str]
) -> Iterator[_Difference]:
    """Yield what differs of two readings, of these settings and columns and the count of rows."""
    for name in settings:
        old, new = before.settings.get(name, ""), now.settings.get(name, "")
        if old != new:
            yield name, _quoted(old), _quoted(new)
    old_types, new_types = dict(before.columns), dict(now.columns)
    is_whole = len(new_types) < MAX_NOTED_COLUMNS
    for column in dict.fromkeys(columns):
        old, new = old_types.get(column, ""), new_types.get(column, "")
        # Of a wide table not all columns are noted: one that is missing need not be gone.
        if old != new and (new or is_whole):
            yield f"column {_quoted(column)}", _quoted(old), _quoted(new)
    if before.row_count not in (now.row_count, UNKNOWN_ROWS):
        yield "rows", str(before.row_count), str(now.row_count)


def _quoted(text: str) -> str:
    """Return a text so that marks and blanks are seen; nothing for none."""
    return msgspec.json.encode(text).decode() if text else ""


def _shown_table(key: _TableKey, text: str) -> TableRead | None:
    """Return what a recorded result shows of how its table was read; None if nothing.

    Results are known by the fields that contract.md, section 7, gives them: of a query neither
    columns nor rows are the table's.
    """
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None
    if not isinstance(value, dict) or "total_row_count" in value:
        return None
    columns = tuple(_shown_columns(value))
    settings = {
        name: value[shown]
        for shown, name in _SHOWN_AS.items()
        if isinstance(value.get(shown), str) and value[shown]
    }
    if value.get("has_header") is False:
        settings["header_row"] = "none"
    if not columns and not settings:
        return None
    rows = value.get("total_rows", value.get("row_count"))
    return TableRead(
        key[0], key[1], settings, columns, rows if isinstance(rows, int) else UNKNOWN_ROWS
    )


def _shown_columns(value: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the columns of a result with their types: pairs, or two lists beside each other."""
    columns, types = value.get("columns"), value.get("column_types")
    if not isinstance(columns, list):
        return
    if isinstance(types, list):
        pairs = zip(columns, types, strict=False)
        columns = [{"name": column, "type": kind} for column, kind in pairs]
    for column in columns:
        match column:
            case {"name": str(name), "type": str(kind)}:
                yield name[:MAX_NOTED_CHARACTERS], kind
            case _:
                pass


def _merged(one: TableRead | None, other: TableRead) -> TableRead:
    """Return what two recorded results show together of the same bytes."""
    if one is None:
        return other
    return TableRead(
        other.name,
        other.sheet,
        {**one.settings, **other.settings},
        # Statistics and rows may be of some columns alone.
        tuple({**dict(one.columns), **dict(other.columns)}.items()),
        max(one.row_count, other.row_count),
    )

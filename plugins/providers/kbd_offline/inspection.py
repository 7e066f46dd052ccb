"""Inspection of tables: the facts that a request is read against, by the tools that only look.

Of each table its map and its columns; then one query for counts, ranges and values: all values of
columns with few, of others those that words of the request may be.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from kbd.job_words import is_conversion
from kbd_offline.conversation import CallFailedError, PlannerConversation
from kbd_offline.facts import KnownColumn, KnownTable
from kbd_offline.intents import TableIntent
from kbd_offline.names import split_suffix
from kbd_offline.open_questions import as_answered
from kbd_offline.request_files import ALL_TABLES, READ_BOOKS
from kbd_offline.sheets import without_sheet

__all__ = ["inspect", "known_table", "tables_of", "value_query"]

MAX_TABLES = 40
"""Tables that are looked at for one request; each is three calls."""

_FEW = 60
"""Values of a column that are all looked at; of one with more only those that may be named."""

_MAX_RUN = 5
_WINDOW = 2_000
_WORD = re.compile(r"[^\W_]+(?:['’.&-][^\W_]+)*")


def inspect(
    conversation: PlannerConversation, request: str, paths: Sequence[str]
) -> tuple[list[KnownTable], list[str]]:
    """Return the tables of some files, and what could not be read.

    Raises:
        PendingError, ValidationFailed: As for `PlannerConversation.call`.
    """
    paths = [path for path in paths if split_suffix(path)[1] in ALL_TABLES]
    books = [path for path in paths if split_suffix(path)[1] in READ_BOOKS]
    outcomes = conversation.outcomes(*(("get_file_info", {"path": one}) for one in books))
    infos = dict(zip(books, outcomes, strict=True))
    failed = [
        f"{path} was not read: {info}"
        for path, info in infos.items()
        if isinstance(info, CallFailedError)
    ]
    places = [table for path in paths for table in tables_of(path, infos.get(path, {}))][
        :MAX_TABLES
    ]
    tools = ("table_get_map", "table_describe")
    found = iter(
        conversation.outcomes(*((tool, place.arguments) for place in places for tool in tools))
    )
    facts: list[tuple[TableIntent, Mapping[str, Any], Mapping[str, Any]]] = []
    for place in places:
        match next(found), next(found):
            case (CallFailedError() as bad, _) | (_, CallFailedError() as bad):
                failed.append(f"{place.label} was not read: {bad}")
            case dict() as table_map, dict() as described:
                facts.append((place, table_map, described))
    # Whoever reads the answer to "convert it" is not told of rows that figures would leave out.
    is_copy = _is_copy(request, places)
    asked = {
        place: value_query(columns, request)
        for place, _, columns in facts
        if columns["columns"] and columns["row_count"] and not is_copy
    }
    rest = {"window_rows": _WINDOW, "is_look": True}
    answers = conversation.outcomes(
        *(
            ("table_query", {**one.arguments, "query": query, **rest})
            for one, query in asked.items()
        )
    )
    values = dict(zip(asked, answers, strict=True))
    made = []
    for place, mapped, columns in facts:
        answer = values.get(place, {})
        rows = () if isinstance(answer, CallFailedError) else answer.get("rows", ())
        table = known_table(place.path, place.sheet, mapped, columns, rows)
        count = sum(one.path == place.path for one in places)
        made.append(msgspec.structs.replace(table, sheets=count))
    return made, failed


def tables_of(path: str, info: Mapping[str, Any] | CallFailedError) -> list[TableIntent]:
    """Return the tables of a file: of a workbook the sheets that hold anything, by its info."""
    if isinstance(info, CallFailedError):
        return []
    if split_suffix(path)[1] not in READ_BOOKS:
        return [TableIntent(path)]
    sheets = info.get("sheets", ())
    return [TableIntent(path, str(sheet["name"])) for sheet in sheets if sheet.get("range")]


def _is_copy(request: str, places: Sequence[TableIntent]) -> bool:
    """Tell whether a request only asks for a copy, of the whole or of a sheet that it names."""
    texts = [request, *(without_sheet(request, place.sheet) for place in places if place.sheet)]
    return any(text is not None and is_conversion(" ".join(text.split())) for text in texts)


def value_query(described: Mapping[str, Any], request: str) -> str:
    """Return the query for what columns hold: by the column's place a kind, a text and a number."""
    runs = sorted(set(_runs(request)))
    columns = enumerate(described["columns"])
    return " UNION ALL ".join(part for column in columns for part in _parts(*column, runs))


def _parts(place: int, fact: Mapping[str, Any], runs: Sequence[str]) -> Iterator[str]:
    # By its place: a statement that names columns is told what is to be known of their figures.
    name = f"#{place + 1}"
    kind = str(fact["inferred_type"])
    # Texts that differ in capitals alone are one value.
    value = f"lower({name})" if fact["inferred_type"] == "string" else name
    counts = f"CAST(count({name}) AS VARCHAR), count(DISTINCT {value})"
    yield f"SELECT {place} AS c, 'counts' AS k, {counts} FROM data"
    if kind in ("integer", "float", "date", "datetime"):
        for function in ("min", "max"):
            yield f"SELECT {place}, '{function}', CAST({function}({name}) AS VARCHAR), 0 FROM data"
    is_few = int(fact.get("distinct_estimate") or 0) <= _FEW
    if kind in ("string", "boolean") or (kind == "integer" and is_few):
        where = f"{name} IS NOT NULL"
        if not is_few:
            if not runs or kind != "string":
                return
            listed = ", ".join("'" + run.replace("'", "''") + "'" for run in runs)
            where = f"lower(trim({name})) IN ({listed})"
        text = f"CAST({name} AS VARCHAR)"
        yield f"SELECT {place}, 'value', {text}, count(*) FROM data WHERE {where} GROUP BY {text}"


def _runs(request: str) -> Iterator[str]:
    """Yield the stretches of a request that may be values, in small letters."""
    for quoted in re.findall(r"[\"'“‘„«`]([^\"'”’“»`\n]+)[\"'”’“»`]", request):
        yield quoted.strip().lower()
    spans = [found.span() for found in _WORD.finditer(request)]
    for first, (start, _) in enumerate(spans):
        for _, end in spans[first : first + _MAX_RUN]:
            yield request[start:end].lower()


def known_table(
    path: str,
    sheet: str,
    table_map: Mapping[str, Any],
    described: Mapping[str, Any],
    rows: Sequence[Any],
) -> KnownTable:
    """Return what is known of a table.

    Args:
        path: Its file.
        sheet: Its sheet.
        table_map: What `table_get_map` says of it.
        described: What `table_describe` does.
        rows: The rows of the query for its values.
    """
    reading = table_map.get("reading", {})
    decimal = str(reading.get("decimal", ""))
    by_place: dict[int, list[tuple[str, str, int]]] = {}
    for place, kind, text, number in rows:
        by_place.setdefault(int(place), []).append((kind, text, int(number or 0)))
    columns = tuple(
        _column(fact, decimal, by_place.get(place, ()))
        for place, fact in enumerate(described["columns"])
    )
    questions = tuple(reading.get("questions", ()))
    return KnownTable(
        path, sheet, as_answered(columns, questions), int(described["row_count"]), questions,
        str(table_map.get("delimiter", "")), str(table_map.get("encoding_detected", "")),
        str(reading.get("date_order", "")),
    )  # fmt: skip


def _column(
    fact: Mapping[str, Any], decimal: str, told: Sequence[tuple[str, str, int]]
) -> KnownColumn:
    kind = str(fact["inferred_type"])
    values = {text: number for what, text, number in told if what == "value"}
    texts = {what: text or "" for what, text, _ in told if what in ("min", "max")}
    counts = next(((int(text), number) for what, text, number in told if what == "counts"), None)
    filled, distinct = counts or (
        int(fact.get("non_null_count") or 0),
        int(fact.get("distinct_estimate") or 0),
    )
    notes = "; ".join(str(note) for note in fact.get("notes", ()))
    return KnownColumn(
        str(fact["name"]), kind, str(fact.get("role", "")), filled, distinct, values,
        is_listed=bool(values) and distinct <= len({value.lower() for value in values}),
        minimum=texts.get("min", ""), maximum=texts.get("max", ""),
        decimal=decimal if kind in ("integer", "float") else "",
        why_text=notes if kind == "string" else "",
    )  # fmt: skip

"""Tables with the same columns, put below each other into one: what is asked, and whether it fits.

Columns are matched by name without regard to case, blanks and signs, whatever their order.

Doing a merge: the first table makes the result, the others are added below.
"""

import re
from collections.abc import Mapping, Sequence

import msgspec

from kbd.errors import ValidationFailed
from kbd_offline import sql
from kbd_offline.conversation import PlannerConversation
from kbd_offline.conversion import export_table
from kbd_offline.files import (
    ALL_TABLES,
    BOOK,
    BOOK_SUFFIX,
    JSON_SUFFIXES,
    READ_BOOKS,
    READ_TABLES,
    TABLE_SUFFIXES,
    RequestFiles,
    check_written,
    chosen_files,
    named_files,
    only_target,
    requested_suffix,
    target_for,
)
from kbd_offline.findings import (
    FileFinding,
    Findings,
    check_sheet,
    inspect_tables,
    listed,
    row_count_text,
)
from kbd_offline.intents import ColumnIntent, Merged, MergePart, TableIntent
from kbd_offline.names import fold, split_suffix
from kbd_offline.questions import check_questions
from kbd_offline.request_text import MERGING, UnclearError, Wording
from kbd_offline.workbooks import (
    Sheet,
    column_widths,
    create_sheet,
    inspect_workbooks,
    is_book,
    tables_in,
    take_sheets,
    wants_each_sheet,
    write_rows,
)

__all__ = ["match_columns", "merge_tables", "parse_merge", "research_merge", "take_origin"]

MAX_TABLES = 100
_WRITES = "xlsx, csv, tsv and psv"
_MATCHING = (
    r"\b(?:join|merge|combine)\b[^.;]*\b(?:on|by|using|matching)\b\s+(?:the\s+)?(?!each|every)"
    r"(?P<key>[^\W_]+)|\b(?:v?lookup|inner|outer|left\s+join|right\s+join|side\s+by\s+side)\b"
)
_ORIGIN = (
    r"\b(?:(?:and|with|plus|adding|add|include|including|keep)\s+(?:an?\s+|the\s+)?"
    r"(?:(?:extra|additional|new)\s+)?(?:source|origin|file\s*name|filename)"
    r"(?:\s+(?:file|column|name|field))*(?!\s+(?:files|tables|data|sheets)\b)"
    r"|(?:(?:with|and|plus|add|adding|include|including)\s+)?(?:an?\s+|the\s+)?"
    r"(?:(?:extra|additional|new)\s+)?(?:(?:source|origin|filename)\s+(?:column|field)"
    r"|column\s+(?:with|for|of|telling|saying|that\s+(?:tells|says|shows))\s+(?:the\s+)?"
    r"(?:source|origin|file\s*name|filename|which\s+file|name\s+of\s+the\s+file|file|sheet)"
    r"(?:\s+(?:file|name|each\s+row|it|they|(?:is|comes?|came)\s+from|of\s+each\s+row|from))*)"
    r"|which\s+file\s+(?:each|a|every)\s+row\s+(?:is|comes?|came)\s+from)\b"
)
_ORIGIN_NAME = (
    r"\b(?:called|named)\s+[\"'“‘`]?(?P<name>[\w -]{1,40}?)[\"'”’`]?(?=\s*(?:[,.;]|$|\band\b))"
)
_GAPS = (
    r"\b(?:(?:allow|fill|ignore|accept|keep)\w*\s+(?:the\s+)?)?(?:missing|absent|different)\s+columns?\b"
    r"(?:\s+(?:with|as|stay|are|left|be|may|can|empty|blanks?|nulls?|nothing))*"
    r"|\beven\s+(?:if|where|when)\s+(?:the\s+)?columns?\s+(?:differ|are\s+missing|are\s+different)\b"
    r"|\bunion\s+of\s+(?:the\s+|all\s+)?columns\b|\bfill(?:ing)?\s+(?:the\s+)?(?:gaps|blanks)\b"
)


class _MergeRequest(msgspec.Struct, frozen=True):
    """Requested result: whether fields may be missing, and its name."""

    has_gaps: bool
    target: str


def research_merge(conversation: PlannerConversation, request: str) -> Findings:
    """Read a request to merge tables and see whether their columns are the same.

    Raises:
        UnclearError: It has no reading, or columns are missing somewhere.
        PendingError, CallFailedError, ValidationFailed: As for `PlannerConversation.call`.
    """
    # First, for "called" may name the column, not the file.
    origin, rest = take_origin(request)
    tables, text, target = _tables(conversation, rest)
    asked = parse_merge(text, tables, target, conversation.paths)
    seen = inspect_tables(conversation, list(tables))
    columns, parts, notes = match_columns(seen, has_gaps=asked.has_gaps)
    for one in seen:
        try:
            check_questions(one.facts, Merged(parts, columns, asked.target, origin))
        except UnclearError as unclear:
            raise UnclearError(f"{one.table.label}: {unclear}") from None
    origin = _free_column(origin, columns)
    parts = _counted(conversation, columns, parts)
    merged = Merged(parts, columns, asked.target, origin, notes=notes)
    if split_suffix(asked.target)[1] == BOOK_SUFFIX:
        check_sheet(merged.rows, len(columns) + 1)
        merged = msgspec.structs.replace(merged, widths=_widths(conversation, merged))
    elif {column.type for column in columns} & {"date", "float"}:
        form = "Dates are written as YYYY-MM-DD, fractions with a point"
        merged = msgspec.structs.replace(merged, notes=(*notes, form))
    lines = tuple(line for one in seen for line in one.lines)
    warnings = tuple(f"{one.table.label}: {warning}" for one in seen for warning in one.warnings)
    return Findings(merged, lines, (*notes, *warnings), (f"{row_count_text(merged.rows)} in all",))


def parse_merge(
    text: str, tables: Sequence[TableIntent], target: str | None, taken: Sequence[str]
) -> _MergeRequest:
    """Parse the request of a merge.

    Raises:
        UnclearError: It asks for more than putting tables below each other.
    """
    wording = Wording(text)
    matching = wording.find(_MATCHING)
    # "Merge by column name" asks for what is done anyway.
    if matching and matching.group("key") not in ("column", "columns", "name", "names", "sheet"):
        raise UnclearError(
            "I put tables with the same columns below each other; I do not match their rows by"
            " the values of a column"
        )
    gaps = wording.find(_GAPS)
    if gaps:
        wording.take(*gaps.span())
    suffix = requested_suffix(Wording(text))
    if suffix is None:
        all_books = all(is_book(table.path) for table in tables)
        suffix = BOOK_SUFFIX if all_books or wording.has(BOOK) else ".csv"
    check_written(wording)
    if suffix == ".parquet":
        raise UnclearError(f"tables are put together in {_WRITES}; that file can be converted then")
    wording.check_rest(MERGING, [table.path for table in tables])
    files = RequestFiles("", target, text, tuple(taken))
    return _MergeRequest(gaps is not None, target_for(files, "merged", suffix))


def match_columns(
    seen: Sequence[FileFinding], *, has_gaps: bool
) -> tuple[tuple[ColumnIntent, ...], tuple[MergePart, ...], tuple[str, ...]]:
    """Return the columns of a merge, their names in each table, and notes.

    Args:
        seen: The tables; the first one gives names and order.
        has_gaps: Whether a column may be missing; its fields stay empty.

    Raises:
        UnclearError: A column is missing somewhere and may not be, or no column is shared.
    """
    known = [_by_key(one) for one in seen]
    keys = list(dict.fromkeys(key for names in known for key in names))
    notes = list[str]()
    if not set(known[0]).intersection(*known[1:]):
        raise UnclearError("the tables have no column in common, so they are not put together")
    for one, names in zip(seen, known, strict=True):
        missing = [key for key in keys if key not in names]
        if missing:
            # Backwards, so that the first table's spelling is what remains.
            first = {key: names[key].name for names in reversed(known) for key in names}
            missing_names = listed(f'"{first[key]}"' for key in missing)
            notes.append(f"{one.table.label} has no column {missing_names}")
    if notes and not has_gaps:
        raise UnclearError(
            f'{"; ".join(notes)}; say "missing columns stay empty" to put them together anyway'
        )
    columns = tuple(_common(key, known) for key in keys)
    notes += [
        f'"{column.name}" holds {listed(kinds)} values'
        for key, column in zip(keys, columns, strict=True)
        if len(kinds := sorted({names[key].type for names in known if key in names})) > 1
    ]
    own = tuple(column.name for column in columns)
    parts = []
    for one, names in zip(seen, known, strict=True):
        # Names that are the result's own are left out: a plan has room for so much of an intent.
        called = tuple(names[key].name if key in names else None for key in keys)
        parts.append(MergePart(one.table, one.rows, one.rows, () if called == own else called))
    return columns, tuple(parts), tuple(notes)


def _tables(
    conversation: PlannerConversation, request: str
) -> tuple[tuple[TableIntent, ...], str, str | None]:
    """Return the tables to merge, the request without their names, and the result's name."""
    named = named_files(request, conversation.paths)
    target = only_target(
        named.targets,
        (BOOK_SUFFIX, *TABLE_SUFFIXES),
        f"only {_WRITES}, to which tables are added one by one",
    )
    if target in conversation.paths:
        raise UnclearError(f"{target} is there already: name a new file for the result")
    paths = chosen_files(named, conversation.paths, READ_TABLES + READ_BOOKS, JSON_SUFFIXES)
    strange = [path for path in paths if split_suffix(path)[1] not in ALL_TABLES]
    if strange:
        raise UnclearError(f"{strange[0]} is not a table that I read")
    books = [path for path in paths if is_book(path)]
    text = named.text
    by_path: dict[str, tuple[TableIntent, ...]] = {path: (TableIntent(path),) for path in paths}
    if books:
        found = inspect_workbooks(conversation, books)
        chosen, text = take_sheets(text, [name for book in found for name in book.sheets])
        for book in found:
            own = [name for name in chosen if name in book.sheets]
            # Of one workbook alone all sheets are meant; of one among several, nobody said which.
            if len(own or book.filled) > 1 and len(books) > 1 and not (
                own or wants_each_sheet(text)
            ):  # fmt: skip
                raise book.several()
            by_path[book.path] = tables_in(book, own)
    tables = tuple(table for path in paths for table in by_path[path])
    if len(tables) < 2:
        there = tables[0].label if tables else "no table"
        raise UnclearError(f"it takes two tables to put together, and I see {there}")
    if len(tables) > MAX_TABLES:
        raise UnclearError(f"I put up to {MAX_TABLES} tables together, and these are {len(tables)}")
    return tables, text, target


def take_origin(request: str) -> tuple[str, str]:
    """Return the name of the column of origins that is asked for, or "", and the other words."""
    wording = Wording(request)
    origin_match = wording.find(_ORIGIN)
    if origin_match is None:
        return "", request
    spans, origin = [origin_match.span()], "Source"
    named = wording.find(_ORIGIN_NAME, origin_match.end())
    if named:
        origin = request[slice(*named.span("name"))].strip()
        spans.append(named.span())
    for start, end in spans:
        request = request[:start] + " " * (end - start) + request[end:]
    return origin, request


def _by_key(seen: FileFinding) -> Mapping[str, ColumnIntent]:
    """Return a table's columns by what their names are compared by."""
    found: dict[str, ColumnIntent] = {}
    for column in seen.columns:
        # A name of signs alone ("%") has no words to compare.
        key = "".join(re.findall(r"[^\W_]+", fold(column.name))) or column.name
        if key in found:
            raise UnclearError(
                f'{seen.table.label} has two columns that read alike: "{found[key].name}" and'
                f' "{column.name}"'
            )
        found[key] = column
    return found


def _common(key: str, known: Sequence[Mapping[str, ColumnIntent]]) -> ColumnIntent:
    """Return a column of the result: the first name it has, and a type that holds all."""
    columns = [names[key] for names in known if key in names]
    kinds = {column.type for column in columns}
    if len(kinds) == 1:
        return columns[0]
    # Other types have only their text in common.
    return ColumnIntent(columns[0].name, "float" if kinds == {"integer", "float"} else "string")


def _free_column(wanted: str, columns: Sequence[ColumnIntent]) -> str:
    """Return a name for the column of origins that no column has."""
    taken = {column.name.casefold() for column in columns}
    if not wanted or wanted.casefold() not in taken:
        return wanted
    candidates = (f"{wanted} file", *(f"{wanted} {number}" for number in range(2, 1000)))
    return next(name for name in candidates if name.casefold() not in taken)


def _counted(
    conversation: PlannerConversation, columns: Sequence[ColumnIntent], parts: Sequence[MergePart]
) -> tuple[MergePart, ...]:
    """Count, in each table, the rows that hold any value."""
    names = [column.name for column in columns]
    queries = [
        sql.filled_rows(sql.merged(columns, part.names or names, None), columns) for part in parts
    ]
    found = conversation.calls(
        *(
            ("table_query", {**part.table.arguments, "query": query})
            for part, query in zip(parts, queries, strict=True)
        )
    )
    return tuple(
        msgspec.structs.replace(part, filled=int(answer["rows"][0][0]))
        for part, answer in zip(parts, found, strict=True)
    )


def _widths(conversation: PlannerConversation, merged: Merged) -> tuple[int, ...]:
    """Return widths for the columns, that of origins included."""
    names = [column.name for column in merged.columns]
    found = conversation.calls(
        *(
            (
                "table_query",
                {
                    **part.table.arguments,
                    "query": sql.widths(
                        merged.columns,
                        f"({sql.merged(merged.columns, part.names or names, None)})",
                    ),
                },
            )
            for part in merged.parts
        )
    )
    longest = [
        max(length or 0 for length in some)
        for some in zip(*(f["rows"][0] for f in found), strict=True)
    ]
    columns = list(merged.columns)
    if merged.origin:
        columns.append(ColumnIntent(merged.origin))
        longest.append(max(len(part.table.label) for part in merged.parts))
    return column_widths(columns, longest)


_SHEET = "Sheet1"


def merge_tables(conversation: PlannerConversation, intent: Merged, number: int) -> str:
    """Add one table to the result and tell it; see `PlannerConversation.call` for what it raises.

    Raises:
        ValidationFailed: Another number of rows was written, or can be read back at the end.
    """
    part = intent.parts[number - 1]
    query = _query(intent, part)
    if split_suffix(intent.target)[1] == BOOK_SUFFIX:
        count = _onto_sheet(conversation, intent, number, query)
    elif number == 1:
        export_table(conversation, part.table, intent.target, query, part.rows)
        count = part.rows  # checked by `export_table`
    else:
        written = conversation.call(
            "table_update_from_export",
            **part.table.arguments,
            target_path=intent.target,
            sheet=_SHEET,
            mode="append_rows",
            query=query,
        )
        count = int(written["row_count"])
    if count != part.rows:
        raise ValidationFailed(
            f"{part.table.label} gave {row_count_text(count)} instead of {part.rows}"
        )
    summary = f"{row_count_text(count)} of {part.table.label}"
    if number < len(intent.parts):
        return f"{summary} are in {intent.target}."
    _check(conversation, intent)
    rows = row_count_text(intent.rows)
    return f"{summary}; {intent.target} now has {rows} in all, read back and counted."


def _query(intent: Merged, part: MergePart) -> str:
    names = part.names or tuple(column.name for column in intent.columns)
    origin = (intent.origin, part.table.label) if intent.origin else None
    return sql.merged(intent.columns, names, origin)


def _onto_sheet(conversation: PlannerConversation, intent: Merged, number: int, query: str) -> int:
    part = intent.parts[number - 1]
    origin = (ColumnIntent(intent.origin),) if intent.origin else ()
    sheet = Sheet(
        target=intent.target,
        name=_SHEET,
        table=part.table,
        query=query,
        columns=(*intent.columns, *origin),
        rows=intent.rows,
        widths=intent.widths,
    )
    if number == 1:
        create_sheet(conversation, sheet)
    if not part.rows:
        return 0
    before = sum(other.rows for other in intent.parts[: number - 1])
    # Rows count from 1, and the first has the headings.
    return write_rows(conversation, sheet, before + 2)


def _check(conversation: PlannerConversation, intent: Merged) -> None:
    """Read back how many rows there are; rows without any value may not count."""
    is_book = split_suffix(intent.target)[1] == BOOK_SUFFIX
    sheet = {"source_sheet": _SHEET} if is_book else {}
    found = conversation.call(
        "table_read_rows",
        path=intent.target,
        row_start=1,
        row_count=1,
        read_as={"totals": "keep"},
        **sheet,
    )
    # A row that tells where it is from is never blank.
    filled = intent.rows if intent.origin else sum(part.filled for part in intent.parts)
    if found["total_rows"] not in (intent.rows, filled):
        raise ValidationFailed(
            f"{intent.target} reads back as {found['total_rows']} rows instead of {intent.rows}"
        )

"""Profiles of files: which are asked for, what they hold, and the report.

What files hold is what the tools that only look return: rows and columns, headings and pages. The
report is a document, a workbook, or text.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from kbd.errors import ValidationFailed
from kbd.sheets.areas import column_letters
from kbd_offline.conversation import CallFailedError, PlannerConversation
from kbd_offline.inspection import tables_of
from kbd_offline.intents import ProfileIntent, TableIntent
from kbd_offline.names import fold, singular, split_suffix, tokens
from kbd_offline.request_files import (
    READ_BOOKS,
    READ_TABLES,
    files_of_kinds,
    free_target,
    named_files,
)
from kbd_offline.request_tokens import QUOTED, tokenize
from kbd_offline.scan import UnclearError

__all__ = ["asks_for_profile", "parse_look", "parse_profiles", "write_profile"]

MAX_TABLES = 100
MAX_HEADINGS = 200
"""Of one file; more than that is no overview."""

_FACTS = (
    ("page_count", "Pages"), ("page_count_told", "Pages, as its properties tell"),
    ("word_count_told", "Words, as its properties tell"), ("slide_count", "Slides"),
    ("title", "Title"), ("author", "Author"), ("line_count", "Lines"),
    ("char_count", "Characters"), ("encoding_detected", "Encoding"), ("width", "Width"),
    ("height", "Height"),
)  # fmt: skip

_Result = dict[str, Any] | CallFailedError


_Row = tuple[Any, ...]
"""What is told of a column, by `_FIELDS`; figures are texts, "" where it has none."""


class FileProfile(msgspec.Struct, frozen=True):
    """A file.

    Args:
        path: Its name.
        kind: Its kind, as `get_file_info` has it.
        facts: Names and values.
        tables: The columns of its tables, by the sheet.
        headings: Its headings with their levels from 1.
        notes: What could not be looked at, and what the tools warn of.
    """

    path: str
    kind: str
    facts: tuple[tuple[str, str], ...]
    tables: tuple[tuple[str, tuple[_Row, ...]], ...] = ()
    headings: tuple[tuple[int, str], ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def brief(self) -> str:
        """The file in a few words."""
        texts = [f"{name.lower()} {value}" for name, value in self.facts if name in _BRIEF]
        return ", ".join([self.kind, *texts, *(("not read",) if not self.facts else ())])


_BRIEF = ("Rows", "Columns", "Sheets", "Slides", "Pages", "Headings", "Lines")


def collect(conversation: PlannerConversation, paths: Sequence[str]) -> list[FileProfile]:
    """Inspect files and return their profiles.

    Raises:
        UnclearError: They hold too many tables.
        PendingError, ValidationFailed: As for `PlannerConversation.call`.
    """
    infos = conversation.outcomes(*(("get_file_info", {"path": path}) for path in paths))
    known = dict(zip(paths, infos, strict=True))
    read = [path for path in paths if split_suffix(path)[1] in (*READ_TABLES, *READ_BOOKS)]
    tables = {path: tables_of(path, known[path]) if path in read else [] for path in paths}
    every = [table for some in tables.values() for table in some]
    if len(every) > MAX_TABLES:
        raise UnclearError(f"the files hold {len(every)} tables; I report on up to {MAX_TABLES}")
    mapped = [path for path in paths if _has_map(path, known[path])]
    asked: list[tuple[str, dict[str, Any]]] = [("get_file_map", {"path": path}) for path in mapped]
    asked += [
        (tool, dict(table.arguments))
        for table in every
        for tool in ("table_describe", "table_stats")
    ]
    # Read in the order of the calls: all maps, then two results a table.
    found = iter(conversation.outcomes(*asked))
    maps = {path: next(found) for path in mapped}
    measured = {table: (next(found), next(found)) for table in every}
    return [
        _profile(path, known[path], maps.get(path), [(t, *measured[t]) for t in tables[path]])
        for path in paths
    ]


def _has_map(path: str, info: _Result) -> bool:
    if isinstance(info, CallFailedError) or info.get("is_opaque"):
        return False
    return split_suffix(path)[1] not in READ_BOOKS and info.get("kind") != "image"


def _profile(
    path: str,
    info: _Result,
    file_map: _Result | None,
    measured: Sequence[tuple[TableIntent, _Result, _Result]],
) -> FileProfile:
    if isinstance(info, CallFailedError):
        return FileProfile(path, "unknown", (), notes=(f"it could not be read: {info}",))
    notes = [f"its map could not be made: {file_map}"] * isinstance(file_map, CallFailedError)
    if info.get("reason"):
        notes.append(str(info["reason"]))
    mapped = {} if file_map is None or isinstance(file_map, CallFailedError) else file_map
    facts = [("Size in bytes", f"{int(info['size_bytes']):,}")]
    headings = _headings(mapped)
    properties = {**mapped, **info}
    facts += [
        (name, _shown(properties[key]))
        for key, name in _FACTS
        if properties.get(key) not in (None, "")
    ]
    facts += _counted(info, mapped, headings)
    tables = list[tuple[str, tuple[_Row, ...]]]()
    for table, described, stats in measured:
        where = f"sheet {table.sheet}: " if table.sheet else ""
        if isinstance(described, CallFailedError):
            notes.append(f"{where}{described}")
            continue
        answers, figures = [described], list[dict[str, Any]]()
        if not isinstance(stats, CallFailedError):
            answers, figures = [described, stats], stats["columns"]
        elif not described.get("warnings"):
            # Else it is what they ask that its figures wait for.
            notes.append(f"{where}{stats}")
        rows, width = int(described["row_count"]), int(described["column_count"])
        of = f" of {table.sheet}" if table.sheet else ""
        facts += [(f"Rows{of}", f"{rows:,}"), (f"Columns{of}", f"{width:,}")]
        for answer in answers:
            # What tells a model how to answer a question tells people that figures wait for it.
            notes += [
                f"{where}{_WAITING if text.startswith(_HOW_TO_ANSWER) else text}"
                for text in answer.get("warnings", ())
            ]
        by_name = {str(one["name"]): one for one in figures}
        of_columns = ((one, by_name.get(str(one["name"]), {})) for one in described["columns"])
        tables.append((table.sheet, tuple(_row(rows, *each) for each in of_columns)))
    return FileProfile(
        path, str(info["kind"]), tuple(facts), tuple(tables), headings, tuple(dict.fromkeys(notes))
    )


_HOW_TO_ANSWER = "To answer, say read_as"
_WAITING = "Figures that hang on it wait for the answer, and ask for it."


def _counted(
    info: dict[str, Any], mapped: dict[str, Any], headings: tuple[tuple[int, str], ...]
) -> list[tuple[str, str]]:
    """Return how many there are of what a map or an info lists."""
    counts = [("Sheets", info.get("sheets")), ("Headings", headings or None)]
    counts += [("Tables", mapped.get("tables")), ("Images", mapped.get("images"))]
    counts.append(("Pages without text", mapped.get("pages_without_text")))
    found = [(name, f"{len(listed):,}") for name, listed in counts if listed]
    sections = mapped.get("sections") or mapped.get("slides") or ()
    characters = sum(int(section.get("char_count", 0)) for section in sections)
    return [*found, ("Characters", f"{characters:,}")] if characters else found


def _headings(mapped: dict[str, Any]) -> tuple[tuple[int, str], ...]:
    """Return the headings of a document, the titles of slides, or a table of contents."""
    found = [
        (int(section.get("level") or 1), str(section["heading"]))
        for section in mapped.get("sections", ())
        if section.get("heading") and section.get("level")
    ]
    found += [(1, str(slide["title"])) for slide in mapped.get("slides", ()) if slide.get("title")]
    found += [
        (int(entry.get("level", 1)), str(entry.get("title", ""))) for entry in mapped.get("toc", ())
    ]
    return tuple(found[:MAX_HEADINGS])


def _row(rows: int, column: Mapping[str, Any], figures: Mapping[str, Any]) -> _Row:
    filled = int(column["non_null_count"])
    return (
        str(column["name"]), str(column["inferred_type"]), filled, rows - filled,
        int(column["distinct_estimate"]), _shown(figures.get("min")), _shown(figures.get("max")),
        _shown(figures.get("mean")), _common(figures),
    )  # fmt: skip


def _common(figures: Mapping[str, Any]) -> str:
    """Return the most common texts, or how many are true and false."""
    if "true_count" in figures:
        return f"true {figures['true_count']}, false {figures['false_count']}"
    most = [one for one in figures.get("most_common", ()) if int(one["count"]) > 1][:3]
    return ", ".join(f"{_cut(str(one['value']))} ({one['count']})" for one in most)


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 40 else f"{line[:39]}…"


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        # More than 15 digits of a double are binary noise.
        return f"{value:.6g}" if abs(value) < 1 else f"{round(value, 4):.15g}"
    return _cut(str(value))


_SUFFIXES_WRITTEN = (".docx", ".md", ".txt", ".xlsx")

_MAX_OPERATIONS = 400
"""Of a call; the tools take 500."""

_MAX_WIDTH = 60
_FIELDS = (
    "Column", "Type", "Filled", "Blank", "Distinct", "Min", "Max", "Mean", "Most common",
)  # fmt: skip
_NARROW = ("Column", "Type", "Filled (blank)", "Distinct", "Values")
"""Columns that fit side by side on a page."""


def _write_report(
    conversation: PlannerConversation, target: str, profiles: Sequence[FileProfile]
) -> None:
    """Write profiles into a new file; see `PlannerConversation.call` for what it raises.

    Raises:
        ValidationFailed: It was not written whole.
    """
    match split_suffix(target)[1]:
        case ".docx":
            _write_document(conversation, target, profiles)
        case ".xlsx":
            _write_book(conversation, target, profiles)
        case ".txt":
            _write_text(conversation, target, "\n".join(_text_lines(profiles)))
        case _:
            _write_text(conversation, target, "\n".join(_markdown_lines(profiles)))


def _write_text(conversation: PlannerConversation, target: str, text: str) -> None:
    content = f"{text.rstrip()}\n"
    written = conversation.call("write_text_file", path=target, content=content)
    if int(written["bytes"]) != len(content.encode()):
        raise ValidationFailed(f"{target} was not written whole")


def _markdown_lines(profiles: Sequence[FileProfile]) -> list[str]:
    lines = [f"# {_title(profiles)}", ""]
    for one in profiles:
        lines += [f"## {_plain(one.path)}", "", f"- Kind: {one.kind}"]
        lines += [f"- {_plain(name)}: {_plain(value)}" for name, value in one.facts]
        lines.append("")
        for sheet, columns in one.tables:
            lines += [f"### Sheet {_plain(sheet)}", ""] if sheet else []
            lines += [*map(_bars, (_FIELDS, ["---"] * len(_FIELDS), *columns)), ""]
        if one.headings:
            lines += ["### Headings", ""]
            lines += [f"{'  ' * (level - 1)}- {_plain(text)}" for level, text in one.headings]
            lines.append("")
        lines += [f"> {_plain(note)}" for note in one.notes] + [""] * bool(one.notes)
    return lines


def _text_lines(profiles: Sequence[FileProfile]) -> list[str]:
    lines = [_title(profiles), ""]
    for one in profiles:
        lines += [one.path, f"  Kind: {one.kind}"]
        lines += [f"  {name}: {value}" for name, value in one.facts]
        for sheet, columns in one.tables:
            lines += [f"  Sheet {sheet}"] if sheet else []
            for name, *values in columns:
                pairs = zip(_FIELDS[1:], values, strict=True)
                figures = ", ".join(f"{what.lower()} {value}" for what, value in pairs if value)
                lines.append(f"  - {name}: {figures}")
        if one.headings:
            lines.append("  Headings")
            lines += [f"  {'  ' * (level - 1)}- {text}" for level, text in one.headings]
        lines += [*(f"  Note: {note}" for note in one.notes), ""]
    return lines


def _write_document(
    conversation: PlannerConversation, target: str, profiles: Sequence[FileProfile]
) -> None:
    operations = [_paragraph(_title(profiles), "Title")]
    for one in profiles:
        operations.append(_paragraph(one.path, "Heading 1"))
        facts = [("Kind", one.kind), *one.facts]
        operations.append({"op": "add_table", "rows": [list(fact) for fact in facts]})
        for sheet, columns in one.tables:
            operations.append(_paragraph(f"Sheet {sheet}" if sheet else "Columns", "Heading 2"))
            rows = [list(_NARROW), *(_narrow(*column) for column in columns)]
            operations.append({"op": "add_table", "rows": rows})
        if one.headings:
            operations.append(_paragraph("Headings", "Heading 2"))
        for level, text in one.headings:
            operations.append({**_paragraph(text, "List Bullet"), "indent_left": 0.25 * level})
        operations += [_paragraph(note, "Normal") for note in one.notes]
        operations.append(_paragraph("", "Normal"))
    for start in range(0, len(operations), _MAX_OPERATIONS):
        conversation.call(
            "docx_operations",
            path=target,
            operations=operations[start : start + _MAX_OPERATIONS],
            create_if_missing=True,
        )
    found = conversation.call("get_file_map", path=target)
    headings = [section.get("heading") for section in found.get("sections", ())]
    missing = [one.path for one in profiles if one.path not in headings]
    if missing:
        raise ValidationFailed(f"{target} reads back without {missing[0]}")


def _write_book(
    conversation: PlannerConversation, target: str, profiles: Sequence[FileProfile]
) -> None:
    facts = [
        [one.path, one.kind, name, value]
        for one in profiles
        for name, value in (one.facts or (("", ""),))  # a row for what was not read
    ]
    columns = [
        [one.path, sheet, *column]
        for one in profiles for sheet, columns in one.tables for column in columns
    ]  # fmt: skip
    headings = [[one.path, level, text] for one in profiles for level, text in one.headings]
    notes = [[one.path, note] for one in profiles for note in one.notes]
    sheets: list[tuple[str, tuple[str, ...], list[list[Any]]]] = [
        ("Files", ("File", "Kind", "What", "Value"), facts),
        ("Columns", ("File", "Sheet", *_FIELDS), columns),
        ("Headings", ("File", "Level", "Heading"), headings),
        ("Notes", ("File", "Note"), notes),
    ]
    operations = [
        operation
        for name, names, rows in sheets
        if rows or name == "Files"
        for operation in _sheet_operations(name, names, rows)
    ]
    conversation.call("xlsx_operations", path=target, operations=operations, create_if_missing=True)
    found = conversation.call("get_file_info", path=target)
    if found["sheets"][0]["row_count"] != len(facts) + 1:
        raise ValidationFailed(f"{target} was not written whole")


def _sheet_operations(name: str, names: Sequence[str], rows: list[list[Any]]) -> Iterator[Any]:
    heading = [[{"value": one, "type": "string"} for one in names]]
    # Counts are numbers, all else is text.
    typed = [
        [
            {"value": one, "type": "number"} if isinstance(one, int)
            else {"value": one or None, "type": "string" if one else "blank"} for one in row
        ]
        for row in rows
    ]  # fmt: skip
    widths = [
        {
            "column": column_letters(number),
            "width": min(max(len(str(value)) for value in column) + 2, _MAX_WIDTH),
        }
        for number, column in enumerate(zip(names, *rows, strict=True), 1)
    ]
    yield {"op": "ensure_sheet", "sheet": name}
    yield {"op": "set_range", "sheet": name, "start": "A1", "values": heading, "style": _HEADER}
    if typed:
        yield {"op": "set_range", "sheet": name, "start": "A2", "values": typed}
    yield {"op": "set_column_widths", "sheet": name, "columns": widths}
    yield {"op": "freeze_panes", "sheet": name, "row": 1, "column": 0}


_HEADER = {
    "font_bold": True, "fill_color": "#D9E1F2",
    "border_bottom": {"style": "thin", "color": "#8EA9DB"},
}  # fmt: skip


def _narrow(
    name: str, kind: str, filled: int, blank: int, distinct: int, least: str, greatest: str,
    mean: str, common: str,
) -> list[str]:  # fmt: skip
    """Return a column's fields for a page: its range and mean, or its most common values."""
    span = f"{least} to {greatest}" if least else common
    mean = f", mean {mean}" if mean else ""
    return [name, kind, f"{filled:,} ({blank:,})", f"{distinct:,}", f"{span}{mean}"]


def _title(profiles: Sequence[FileProfile]) -> str:
    return f"Profile of {profiles[0].path if len(profiles) == 1 else f'{len(profiles)} files'}"


def _paragraph(text: str, style: str) -> dict[str, Any]:
    return {"op": "append_paragraph", "text": text, "style": style}


def _bars(fields: Any) -> str:
    # A bar would end the field. As a number, for Python 3.11 takes no backslash within braces.
    return f"| {' | '.join(_plain(str(field)).replace('|', chr(92) + '|') for field in fields)} |"


def _plain(text: str) -> str:
    return " ".join(text.split())


MAX_FILES = 50
_KIND = re.compile(
    r"\b(?:to|into|as|in|an?|make|write|create)\s+(?:(?:an?|new|short|full|one)\s+)*"
    r"(word|docx|document|excel|xlsx|workbook|spreadsheet|markdown|md|plain\s+text|text|txt)\b"
)
_SUFFIXES = {
    "word": ".docx", "docx": ".docx", "document": ".docx", "excel": ".xlsx", "xlsx": ".xlsx",
    "workbook": ".xlsx", "spreadsheet": ".xlsx", "text": ".txt", "txt": ".txt",
}  # fmt: skip


# A verb counts where a sentence or its next part begins: "by Profile" asks for none.
_BEGINS = (
    r"(?:^|[.,;:!]|\b(?:and|then|please|to|you|just|kindly|lets?|now|first|bitte|want|need)\b)\s*"
    r"(?:(?:please|just|also|do)\s+)*"
)
_PROFILE = (
    rf"{_BEGINS}profile\b|\b(?:a|an|the|data|file|quality)\s+(?:data\s+)?profile\s+(?:of|for|report)\b"
    r"|\bdata\s+profiles?\b|\bprofiling\b"
    r"|\b(?:summary|descriptive|column)\s+statistics\b"
    r"|\b(?:data\s+quality|profile)\s+report\b|\binventory\s+of\b"
    r"|\b(?:report|overview)\s+(?:of|on|about)\s+(?:(?:the|these|all|my|what)\s+)*"
    r"(?:(?:csv|excel|word|data)\s+)?(?:files?|workbooks?|documents|tables)\b"
    rf"|{_BEGINS}describe\s+(?:(?:the|these|all|my|data)\s+)*(?:files?|tables?|columns|data)\b"
)
_POLITE = """
a all also an and any are as at be been both by called can contain contains could data do does each
existing file files for from get give go has have hello here hi i in into is it its just kindly let
like make me my name named need new now of on one ones only or our out output please produce put
result results save so some table tables take thank thanks that the their them then there these
they this those to too us use using want was we were which will with within workbench would write
you your
"""
_PROFILING = """
average averages blank blanks book books column columns complete containing content contents count
counts create csv data deck decks describe described describing description detailed distinct doc
docs document documents docx each empty every excel fields full generate heading headings how html
include including inventory kind kinds list listing many markdown max maximum md mean means min
minimum missing much names number numbers overview page pages pdf pdfs per plain powerpoint pptx
prepare presentation presentations profile profiles profiling quality quick range ranges report
reports row rows sheet sheets short show showing simple size sizes slides spreadsheet spreadsheets
statistics stats structure summaries summary tell text tsv txt type types unique value values what
word words workbook workbooks xlsx
"""
_WORDS = frozenset(_POLITE.split()) | frozenset(_PROFILING.split())
"""Words that may be left over in a request for a report on files."""


def asks_for_profile(request: str) -> bool:
    """Tell whether a request asks for a report on what files hold."""
    # What stands in quotes is a text or a name, and asks for nothing.
    return re.search(_PROFILE, fold(re.sub(QUOTED, " ", request))) is not None


def parse_profiles(request: str, paths: tuple[str, ...]) -> ProfileIntent:
    """Return which files a report is asked of, and its name.

    Raises:
        UnclearError: There is none, there are too many, or it asks for more than a profile.
    """
    named = named_files(request, paths)
    target = named.target
    if target and split_suffix(target)[1] not in ("", *_SUFFIXES_WRITTEN):
        raise UnclearError(
            f"I do not write {split_suffix(target)[1]} files, only docx, md, txt and xlsx reports"
        )
    bare = named.without_names(request)
    kinds = _KIND.findall(fold(bare))
    suffix = _SUFFIXES.get(kinds[-1].split()[-1], ".md") if kinds else ".md"
    chosen = named.sources or files_of_kinds(bare, paths) or paths
    things = {word for path in chosen for word in tokens(split_suffix(path)[0])}
    for token in tokenize(request, named.spans):
        if token.kind == "word" and token.word not in _WORDS and singular(token.word) not in things:
            raise UnclearError(f'I do not know what to make of "{token.text}" here')
    chosen = _few(chosen, "report on")
    if not target:
        stem = split_suffix(chosen[0])[0] + "-" if len(chosen) == 1 else ""
        target = free_target(f"{stem}profile{suffix}", paths, "new")
    elif not split_suffix(target)[1]:
        target += suffix
    if target.casefold() in {path.casefold() for path in paths}:
        raise UnclearError(f"{target} is in the workbench already: name another result")
    return ProfileIntent(chosen, target)


def parse_look(request: str, paths: tuple[str, ...]) -> ProfileIntent:
    """Read the question what files hold: of those that it names, else of all.

    Raises:
        UnclearError: There is no file, or there are too many.
    """
    return ProfileIntent(_few(named_files(request, paths).sources or paths, "tell of"), "")


def _few(paths: tuple[str, ...], verb: str) -> tuple[str, ...]:
    if not paths:
        raise UnclearError("there is no file in the workbench that it can be about")
    if len(paths) > MAX_FILES:
        raise UnclearError(f"I {verb} up to {MAX_FILES} files, and these are {len(paths)}")
    return paths


_MAX_LOOK_LINES = 60
"""Of an answer; a report has all of them."""


def write_profile(conversation: PlannerConversation, intent: ProfileIntent) -> str:
    """Write the report and tell what is in it; without a target tell what the report would.

    Raises:
        PendingError, CallFailedError: As for `PlannerConversation.call`.
    """
    profiles = collect(conversation, intent.paths)
    if not intent.target:
        # Without the title.
        lines = _text_lines(profiles)[2:]
        if (more := len(lines) - _MAX_LOOK_LINES) > 0:
            lines = [*lines[:_MAX_LOOK_LINES], f"… and {more} more lines; ask for a profile report"]
        return "\n".join(lines).rstrip()
    _write_report(conversation, intent.target, profiles)
    lines = [f"{intent.target} tells of {len(profiles)} file{'' if len(profiles) == 1 else 's'}:"]
    lines += [f"  - {one.path}: {one.brief}" for one in profiles]
    return "\n".join(lines)

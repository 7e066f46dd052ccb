"""What files hold, as the tools that only look tell it: rows and columns, headings and pages."""

from collections.abc import Sequence
from typing import Any

import msgspec

from kbd_offline.conversation import CallFailedError, PlannerConversation
from kbd_offline.files import BOOK_SUFFIXES, TABLE_SUFFIXES
from kbd_offline.intents import TableIntent
from kbd_offline.names import split_suffix
from kbd_offline.request_text import UnclearError

__all__ = ["ColumnProfile", "FileProfile", "collect"]

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


class ColumnProfile(msgspec.Struct, frozen=True):
    """A column: what it holds, how full it is, and its figures as text, "" where it has none."""

    sheet: str
    name: str
    type: str
    filled: int
    blank: int
    distinct: int
    minimum: str = ""
    maximum: str = ""
    mean: str = ""
    common: str = ""


class FileProfile(msgspec.Struct, frozen=True):
    """A file.

    Args:
        path: Its name.
        kind: Its kind, as `get_file_info` has it.
        facts: Names and values.
        columns: Those of its tables.
        headings: Its headings with their levels from 1.
        notes: What could not be looked at, and what the tools warn of.
    """

    path: str
    kind: str
    facts: tuple[tuple[str, str], ...]
    columns: tuple[ColumnProfile, ...] = ()
    headings: tuple[tuple[int, str], ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def brief(self) -> str:
        """The file in a few words."""
        told = [f"{name.lower()} {value}" for name, value in self.facts if name in _BRIEF]
        return ", ".join([self.kind, *told, *(("not read",) if not self.facts else ())])


_BRIEF = ("Rows", "Columns", "Sheets", "Slides", "Pages", "Headings", "Lines")


def collect(conversation: PlannerConversation, paths: Sequence[str]) -> list[FileProfile]:
    """Look at files.

    Raises:
        UnclearError: They hold too many tables.
        PendingError, ValidationFailed: As for `PlannerConversation.call`.
    """
    infos = conversation.outcomes(*(("get_file_info", {"path": path}) for path in paths))
    known = dict(zip(paths, infos, strict=True))
    tables = {path: _tables(path, info) for path, info in known.items()}
    every = [table for some in tables.values() for table in some]
    if len(every) > MAX_TABLES:
        raise UnclearError(f"the files hold {len(every)} tables; I report on up to {MAX_TABLES}.")
    mapped = [path for path in paths if _has_map(path, known[path])]
    asked: list[tuple[str, dict[str, Any]]] = [("get_file_map", {"path": path}) for path in mapped]
    asked += [
        (tool, dict(table.arguments))
        for table in every
        for tool in ("table_describe", "table_stats")
    ]
    found = iter(conversation.outcomes(*asked))
    maps = {path: next(found) for path in mapped}
    looks = {table: (next(found), next(found)) for table in every}
    return [
        _profile(path, known[path], maps.get(path), [(t, *looks[t]) for t in tables[path]])
        for path in paths
    ]


def _tables(path: str, info: _Result) -> list[TableIntent]:
    suffix = split_suffix(path)[1]
    if isinstance(info, CallFailedError):
        return []
    if suffix in TABLE_SUFFIXES:
        return [TableIntent(path)]
    if suffix in BOOK_SUFFIXES:
        sheets = info.get("sheets", ())
        return [TableIntent(path, str(sheet["name"])) for sheet in sheets if sheet.get("range")]
    return []


def _has_map(path: str, info: _Result) -> bool:
    if isinstance(info, CallFailedError) or info.get("is_opaque"):
        return False
    return split_suffix(path)[1] not in BOOK_SUFFIXES and info.get("kind") != "image"


def _profile(
    path: str,
    info: _Result,
    file_map: _Result | None,
    looks: Sequence[tuple[TableIntent, _Result, _Result]],
) -> FileProfile:
    if isinstance(info, CallFailedError):
        return FileProfile(path, "unknown", (), notes=(f"it could not be read: {info}",))
    notes = [f"its map could not be made: {file_map}"] * isinstance(file_map, CallFailedError)
    if info.get("reason"):
        notes.append(str(info["reason"]))
    mapped = {} if file_map is None or isinstance(file_map, CallFailedError) else file_map
    facts = [("Size in bytes", f"{int(info['size_bytes']):,}")]
    headings = _headings(mapped)
    told = {**mapped, **info}
    facts += [(name, _shown(told[key])) for key, name in _FACTS if told.get(key) not in (None, "")]
    facts += _counted(info, mapped, headings)
    columns = list[ColumnProfile]()
    for table, described, stats in looks:
        where = f"sheet {table.sheet}: " if table.sheet else ""
        if isinstance(described, CallFailedError) or isinstance(stats, CallFailedError):
            failed = described if isinstance(described, CallFailedError) else stats
            notes.append(f"{where}{failed}")
            continue
        rows, width = int(described["row_count"]), int(described["column_count"])
        of = f" of {table.sheet}" if table.sheet else ""
        facts += [(f"Rows{of}", f"{rows:,}"), (f"Columns{of}", f"{width:,}")]
        notes += [f"{where}{warning}" for warning in described.get("warnings", ())]
        columns += _columns(table.sheet, rows, described["columns"], stats["columns"])
    return FileProfile(
        path, str(info["kind"]), tuple(facts), tuple(columns), headings, tuple(dict.fromkeys(notes))
    )


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


def _columns(
    sheet: str, rows: int, described: Sequence[dict[str, Any]], stats: Sequence[dict[str, Any]]
) -> list[ColumnProfile]:
    by_name = {str(one["name"]): one for one in stats}
    found = []
    for column in described:
        figures = by_name.get(str(column["name"]), {})
        filled = int(column["non_null_count"])
        found.append(
            ColumnProfile(
                sheet,
                str(column["name"]),
                str(column["inferred_type"]),
                filled,
                rows - filled,
                int(column["distinct_estimate"]),
                _shown(figures.get("min")),
                _shown(figures.get("max")),
                _shown(figures.get("mean")),
                _common(figures),
            )
        )
    return found


def _common(figures: dict[str, Any]) -> str:
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
        return f"{value:.6g}" if abs(value) < 1 else f"{round(value, 4):.15g}"
    return _cut(str(value))

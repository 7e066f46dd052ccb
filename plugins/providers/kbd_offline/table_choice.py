"""Choice of the table that a request is about, where the workbench has several.

The one whose columns answer is chosen, and said. Where two or more fit, it is asked.
"""

from collections.abc import Callable, Iterator, Sequence

import msgspec

from kbd_offline.conversation import CallFailedError, PlannerConversation
from kbd_offline.files import RequestFiles, candidate_files, several_files
from kbd_offline.findings import FileFinding, inspect_outcomes, listed
from kbd_offline.intents import (
    ColumnIntent,
    Declined,
    Deduped,
    Grouped,
    Intent,
    RowsIntent,
    Split,
    TableIntent,
)
from kbd_offline.names import fold
from kbd_offline.questions import compared_columns, sorted_by
from kbd_offline.request_text import UnclearError, Wording
from kbd_offline.workbooks import (
    WorkbookFacts,
    inspect_workbooks,
    is_book,
    on_sheet,
    take_sheets,
    wants_each_sheet,
    without_sheet,
)

__all__ = ["Reader", "TableChoice", "choose_sheet", "choose_table", "on_chosen_sheet", "with_notes"]

MAX_LOOKED = 20
"""Tables that are looked at for one request; each is two calls."""

Reader = Callable[[RequestFiles, tuple[ColumnIntent, ...]], Intent]
"""Reading of a request against the columns of a table; declined where it has none."""


class TableChoice(msgspec.Struct, frozen=True):
    """Chosen table, and what the reader of the answer must know of the choice."""

    files: RequestFiles
    notes: tuple[str, ...] = ()


class _Look(msgspec.Struct, frozen=True):
    """A table that may be meant, its columns, and how the request reads against them."""

    files: RequestFiles
    seen: FileFinding
    intent: Intent

    @property
    def is_read(self) -> bool:
        return not isinstance(self.intent, Declined)

    def names_at(self, place: int, *, own: bool = False) -> bool:
        """Tell whether a place of the request names a column, with `own` by its whole name."""
        wording = Wording(self.files.text, self.seen.columns, has_synonyms=not own)
        return wording.column_at(place, exact=own) is not None


def choose_table(conversation: PlannerConversation, request: str, read: Reader) -> TableChoice:
    """Return the table that a request is about; a workbook whose sheets are not told apart yet.

    Raises:
        UnclearError: None is there or named, or two or more fit.
        PendingError, CallFailedError, ValidationFailed: As for `PlannerConversation.call`.
    """
    groups = candidate_files(request, conversation.paths)
    first = groups[0]
    if len(first) == 1 and len(groups) == 1:
        return TableChoice(first[0])
    tables = list[RequestFiles]()
    for group in groups:
        if len(group) > MAX_LOOKED:
            raise several_files([files.source for files in group])
        # Those before stay: one that has the columns and gives no reading may be meant.
        tables += _tables(conversation, group)
        # A sheet that is named goes before whatever else has its columns.
        tables = [files for files in tables if files.text != first[0].text] or tables
        chosen = _chosen(conversation, tables, read)
        if chosen is not None and not chosen.notes and len(groups) > 1:
            return _beside(chosen, [files.source for other in groups for files in other])
        if chosen is not None:
            return chosen
    if len(first) == 1:
        # As it is when no other table is there: what is wrong with it is said later.
        return TableChoice(first[0])
    raise several_files([files.source for files in first])


def _beside(choice: TableChoice, paths: Sequence[str]) -> TableChoice:
    """Return a choice that says which tables were not looked at."""
    source = choice.files.source
    others = [path for path in paths if path != source]
    more = f" and {len(others) - _MAX_TOLD} more" if len(others) > _MAX_TOLD else ""
    note = f"{source} was read; name a file to have it read: {', '.join(others[:_MAX_TOLD])}{more}"
    return TableChoice(choice.files, (note,))


_MAX_TOLD = 3


def with_notes(intent: Intent, notes: tuple[str, ...]) -> Intent:
    """Return an intent whose answer says more."""
    if not notes or not isinstance(intent, Split | Grouped | RowsIntent | Deduped):
        return intent
    selection = msgspec.structs.replace(intent.selection, notes=(*notes, *intent.selection.notes))
    return msgspec.structs.replace(intent, selection=selection)


def choose_sheet(
    conversation: PlannerConversation, files: RequestFiles, book: WorkbookFacts, read: Reader
) -> TableChoice | None:
    """Return the sheet of a workbook whose columns answer, None where none does.

    Raises:
        UnclearError: Two or more fit.
        PendingError, ValidationFailed: As for `PlannerConversation.call`.
    """
    if len(book.filled) > MAX_LOOKED:
        return None
    sheets = [msgspec.structs.replace(files, sheet=sheet) for sheet in book.filled]
    # A copy of the whole names no column; it is not looked at as a table without its totals.
    whole = [
        one for one in map(_without_name, sheets) if one is not None and _is_copy(read(one, ()))
    ]
    if len(whole) == 1:
        return TableChoice(whole[0])
    return _chosen(conversation, sheets, read)


def on_chosen_sheet(
    conversation: PlannerConversation, choice: TableChoice, read: Reader
) -> TableChoice:
    """Return a choice with its sheet, of a workbook: named, the only one, or the one that fits.

    Raises:
        UnclearError: More than one may be meant.
        PendingError, CallFailedError, ValidationFailed: As for `PlannerConversation.call`.
    """
    try:
        return TableChoice(on_sheet(conversation, choice.files), choice.notes)
    except UnclearError:
        (book,) = inspect_workbooks(conversation, [choice.files.source])
        named, text = take_sheets(choice.files.text, book.sheets)
        sheet = None if named or wants_each_sheet(text) else (
            choose_sheet(conversation, choice.files, book, read)
        )  # fmt: skip
        if sheet is None:
            raise
        return sheet


def _tables(conversation: PlannerConversation, group: Sequence[RequestFiles]) -> list[RequestFiles]:
    """Return the tables of files: of workbooks the sheets that are named, else all."""
    books = [files.source for files in group if is_book(files.source)]
    # All at once; what cannot be read fails below.
    conversation.outcomes(*(("get_file_info", {"path": path}) for path in books))
    tables = list[RequestFiles]()
    for files in group:
        if files.source not in books:
            tables.append(files)
            continue
        try:
            (book,) = inspect_workbooks(conversation, [files.source])
        except CallFailedError:
            continue
        sheets, text = take_sheets(files.text, book.sheets)
        tables += [
            msgspec.structs.replace(files, sheet=sheet, text=text)
            for sheet in sheets or book.filled
        ]
    if len(tables) > MAX_LOOKED:
        raise several_files([files.source for files in group])
    return tables


def _chosen(
    conversation: PlannerConversation, tables: Sequence[RequestFiles], read: Reader
) -> TableChoice | None:
    """Return the only table that fits, None where none does; raises where several do."""
    named = [TableIntent(files.source, files.sheet) for files in tables]
    looks, failed = list[_Look](), list[str]()
    for files, seen in zip(tables, inspect_outcomes(conversation, named), strict=True):
        if isinstance(seen, CallFailedError):
            failed.append(f"{TableIntent(files.source, files.sheet).label} was not read: {seen}")
        else:
            looks.append(_Look(files, seen, read(files, seen.columns)))
    read_looks = [look for look in looks if look.is_read]
    if not read_looks:
        # Only now: a sheet may be called as a column is, or a value.
        looks = [found for look in looks if (found := _by_name(look, read)) is not None]
        read_looks = [look for look in looks if look.is_read]
    if not read_looks:
        return None
    places = dict(found for look in read_looks for found in _places(look))
    fitting = _fitting(looks, places)
    if len(fitting) > 1:
        # "Sort Jan by Date" reads alike on every sheet.
        called = [found for look in fitting if (found := _by_name(look, read)) is not None]
        fitting = [look for look in called if look.is_read] or fitting
    if len(fitting) > 1:
        raise _several([look.seen.table for look in fitting])
    (only,) = fitting
    is_named = only.files.text not in {files.text for files in tables}
    if len(looks) == 1 or is_named:
        return TableChoice(only.files, tuple(failed))
    named_columns = listed(f'"{name}"' for name in dict.fromkeys(places.values()))
    label = only.seen.table.label
    note = f"{label} was read, of {len(looks)} tables the only one with {named_columns}"
    return TableChoice(only.files, (note, *failed))


def _by_name(look: _Look, read: Reader) -> _Look | None:
    """Return a table as it reads where the request names its sheet without the word "sheet"."""
    is_column = fold(look.files.sheet) in {fold(column.name) for column in look.seen.columns}
    files = None if is_column else _without_name(look.files)
    return None if files is None else _Look(files, look.seen, read(files, look.seen.columns))


def _without_name(files: RequestFiles) -> RequestFiles | None:
    text = without_sheet(files.text, files.sheet) if files.sheet else None
    return None if text is None else msgspec.structs.replace(files, text=text)


def _is_copy(intent: Intent) -> bool:
    return isinstance(intent, RowsIntent) and intent.is_whole


def _several(tables: Sequence[TableIntent]) -> UnclearError:
    """Return the question which of several tables is meant, or which sheet of one workbook."""
    if len({table.path for table in tables}) == 1 and len(tables) > 1:
        names = ", ".join(f'"{table.sheet}"' for table in tables)
        return UnclearError(f"it may be about any of the sheets {names}; say which one")
    return several_files([table.label for table in tables])


def _fitting(looks: Sequence[_Look], places: dict[int, str]) -> list[_Look]:
    """Return the tables that a request fits.

    Those that have all that it names by its whole name go before others. One that has all of it and
    for another reason gives no reading may be meant all the same.
    """
    own = [look for look in looks if places and all(look.names_at(at, own=True) for at in places)]
    if len(own) > 1 or any(look.is_read for look in own):
        return own
    return [look for look in looks if look.is_read or all(map(look.names_at, places))]


def _places(look: _Look) -> Iterator[tuple[int, str]]:
    """Yield where a request names the columns that a job is about, each with the name."""
    used = {column.name for column in compared_columns(look.intent)} | set(sorted_by(look.intent))
    match look.intent:
        case Split(columns=columns) | RowsIntent(columns=columns):
            used |= {column.name for column in columns} if columns != look.seen.columns else set()
        case Deduped(keys=keys):
            used |= {column.name for column in keys}
        case _:
            pass
    for mention in Wording(look.files.text, look.seen.columns).mentions():
        names = [column.name for column in mention.columns if column.name in used]
        if names:
            yield mention.start, names[0]

"""Reading of a request: a job, a question, or why it is declined. Pure.

The tables are given with all that is known of them, so that nothing is looked up here and many
requests can be tried in a moment.
"""

from collections.abc import Sequence
from datetime import date

import msgspec

from kbd.jobs.records import Job
from kbd_offline.abilities import nearest
from kbd_offline.combination import combined
from kbd_offline.facts import KnownTable
from kbd_offline.grammar_checks import UNKNOWN
from kbd_offline.names import split_suffix
from kbd_offline.open_questions import open_question
from kbd_offline.request_files import (
    ALL_TABLES,
    JSON_SUFFIXES,
    READ_BOOKS,
    READ_TABLES,
    FileNames,
    named_files,
)
from kbd_offline.request_tokens import RequestToken, tokenize
from kbd_offline.scan import RequestScan, SeveralError, UnclearError
from kbd_offline.sheet_conversion import sheets_converted
from kbd_offline.sheets import take_sheets, wants_each_sheet, without_sheet
from kbd_offline.single import JobFiles, read_table
from kbd_offline.substitution import replaced
from kbd_offline.together import passed_over

__all__ = ["Declined", "Question", "Reading", "Understood", "read_request"]


class Understood(msgspec.Struct, frozen=True, tag="understood", tag_field="offline"):
    """Request that has one reading.

    Args:
        job: What is asked for.
        words: It in words.
        notes: What the reader of the answer must know beside it.
    """

    job: Job
    words: str
    notes: tuple[str, ...] = ()


class Question(msgspec.Struct, frozen=True, tag="question", tag_field="offline"):
    """Request with several readings: what is asked, and the request as it would be for each."""

    text: str
    options: tuple[str, ...] = ()


class Declined(msgspec.Struct, frozen=True, tag="declined", tag_field="offline"):
    """Request without a reading: why, and requests near it that have one."""

    reason: str
    suggestions: tuple[str, ...] = ()


Reading = Understood | Question | Declined

_MAX_OPTIONS = 4
_MAX_QUESTIONS = 2
"""Asked one after the other; a proposal that needs more is none."""
_MAX_NAMED = 8


def read_request(
    request: str, tables: Sequence[KnownTable], files: Sequence[str], today: date
) -> Reading:
    """Return what a request asks of some tables.

    Args:
        request: What the user wrote.
        tables: The tables that may be meant, in the order of the files.
        files: All files of the workbench.
        today: The day that "last month" goes by.
    """

    def reads(text: str, depth: int = _MAX_QUESTIONS) -> bool:
        """Tell whether a request is understood, or asks on until it is."""
        try:
            _read(text, tables, files, today)
        except _OpenTableError:
            return True
        except SeveralError as several:
            return depth > 0 and any(reads(one, depth - 1) for one in several.options)
        except UnclearError:
            return False
        return True

    try:
        return _read(request, tables, files, today)
    except SeveralError as several:
        options = dict.fromkeys(one for one in several.options if one and reads(one))
        return Question(str(several), tuple(options)[:_MAX_OPTIONS])
    except UnclearError as unclear:
        return Declined(str(unclear), nearest(request, tables, reads))


class _OpenTableError(SeveralError):
    """Question how a table is read, which is answered in words of its own."""


class _Attempt(msgspec.Struct, frozen=True):
    """A reading against one table, or why there is none."""

    table: KnownTable
    scan: RequestScan
    found: Understood | None
    error: UnclearError | None


def _read(
    request: str, tables: Sequence[KnownTable], files: Sequence[str], today: date
) -> Understood:
    if not request.strip():
        raise UnclearError("it asks for nothing")
    if (job := replaced(request, files)) is not None:
        return Understood(job, job.title)
    names = named_files(request, files)
    job_files = JobFiles(tuple(files), names.target, today.isoformat())
    made = combined(request, tables, names, job_files, today)
    if made is not None:
        return _checked(Understood(*made), tables)
    groups = _candidates(names, tables)
    for place, group in enumerate(groups):
        converted = sheets_converted(request, names, group, job_files, today)
        if converted is not None:
            return _checked(Understood(*converted), tables)
        attempts = [
            _whole(one, tables) for one in _attempts(request, names, group, job_files, today)
        ]
        _check_each_sheet(request, attempts)
        others = [table for other in groups[place + 1 :] for table in other]
        found = _chosen(attempts, others, is_last=place == len(groups) - 1)
        if found is not None:
            return _checked(found, tables)
    raise UnclearError(_no_table(names))


def _whole(attempt: _Attempt, tables: Sequence[KnownTable]) -> _Attempt:
    """Return an attempt, without its reading where it passes over a column of another table."""
    if attempt.found is None or len(tables) < 2:
        return attempt
    passed = passed_over(attempt.scan, attempt.table, tables)
    if not passed:
        return attempt
    return msgspec.structs.replace(attempt, found=None, error=UnclearError(passed))


def _no_table(names: FileNames) -> str:
    kinds = "csv, tsv, psv, xlsx, ods, parquet, arrow, json, jsonl"
    unread = [path for path in names.sources if split_suffix(path)[1] not in ALL_TABLES]
    if unread:
        return f"{unread[0]} is not a table that I read ({kinds})"
    return f"there is no table in the workbench that I read ({kinds})"


def _candidates(names: FileNames, tables: Sequence[KnownTable]) -> list[list[KnownTable]]:
    """Return the tables that may be meant: those named, else plain ones before workbooks."""
    if names.sources:
        named = [table for table in tables if table.path in names.sources]
        return [named] if named else []
    target = names.target.casefold()
    groups = []
    for kinds in (READ_TABLES, READ_BOOKS, JSON_SUFFIXES):
        group = [one for one in tables if split_suffix(one.path)[1] in kinds]
        group = [one for one in group if one.path.casefold() != target] or group
        if group:
            groups.append(group)
    return groups


def _attempts(
    request: str,
    names: FileNames,
    tables: Sequence[KnownTable],
    files: JobFiles,
    today: date,
) -> list[_Attempt]:
    """Return the readings against some tables, those alone whose sheet is named if any is."""

    def attempt(table: KnownTable, text: str) -> _Attempt:
        scan = RequestScan(request, tokens_of(text, names), table, today)
        try:
            return _Attempt(table, scan, Understood(*read_table(scan, files)), None)
        except UnclearError as unclear:
            return _Attempt(table, scan, None, unclear)

    texts = [(table, _beside_sheet(request, table, tables)) for table in tables]
    named = [attempt(table, text) for table, text in texts if text is not None]
    if named:
        return named
    plain = [attempt(table, request) for table in tables]
    if sum(one.found is not None for one in plain) == 1:
        return plain
    # "Sort Jan by Date" reads alike on every sheet, and "convert Jan" on none.
    called = []
    for table in tables:
        is_column = any(one.name.casefold() == table.sheet.casefold() for one in table.columns)
        text = without_sheet(request, table.sheet) if table.sheet and not is_column else None
        if text is not None:
            called.append(attempt(table, text))
    called = [one for one in called if one.found is not None]
    return called if len(called) == 1 else plain


def _check_each_sheet(request: str, attempts: Sequence[_Attempt]) -> None:
    """Check that "every sheet" is not taken for the values of a column that is called so.

    Only where another column is named beside it: "the rows of each sheet" may be those of each
    sheet of the workbook.

    Raises:
        UnclearError: It may be either.
    """
    books = [one.table for one in attempts if one.table.sheet]
    if len(books) < 2 or not wants_each_sheet(request):
        return
    for attempt in attempts:
        names = () if attempt.found is None else attempt.found.job.inputs[0].columns
        if attempt.found is not None and all(wants_each_sheet(f"each {one}") for one in names):
            sheets = ", ".join(f'"{table.sheet}"' for table in books)
            raise UnclearError(f"{books[0].path} has several sheets: {sheets}; say which one")


def _beside_sheet(request: str, table: KnownTable, tables: Sequence[KnownTable]) -> str | None:
    """Return a request without a table's sheet, where it names that beside the word "sheet"."""
    if not table.sheet:
        return None
    sheets = [one.sheet for one in tables if one.path == table.path]
    chosen, text = take_sheets(request, sheets)
    return text if table.sheet in chosen else None


def tokens_of(text: str, names: FileNames) -> tuple[RequestToken, ...]:
    """Return the tokens of a request without the names of its files."""
    found = tokenize(text, names.spans)
    return tuple(
        token
        for place, token in enumerate(found)
        if token.kind != "file" and not _is_between_files(found, place)
    )


def _is_between_files(found: Sequence[RequestToken], place: int) -> bool:
    """Tell whether a token only joins two names of files: "a.csv and b.csv"."""
    if not 0 < place < len(found) - 1 or found[place].word not in (",", "and", "und", "&"):
        return False
    return found[place - 1].kind == found[place + 1].kind == "file"


def _chosen(
    attempts: Sequence[_Attempt], others: Sequence[KnownTable], *, is_last: bool
) -> Understood | None:
    """Return the reading of the table that is meant, None where another group may have it.

    Raises:
        SeveralError: Several may be meant.
        UnclearError: None has a reading.
    """
    if len(attempts) == 1:
        (only,) = attempts
        if only.found is None:
            if only.error is not None and (is_last or isinstance(only.error, SeveralError)):
                raise only.error
            return None
        return _noted(only.found, *_beside(only.table, others))
    read = [one for one in attempts if one.found is not None]
    called = [one for one in read if one.scan.is_called()]
    if len(called) == 1 and (len(read) > 1 or called[0].table.sheet):
        which = f"of {len(attempts)} tables the one that is called so"
        return _noted(called[0].found, f"{called[0].table.label} was read, {which}")
    places = sorted({place for one in read for place in _places(one.scan)})
    # One with words that it does not know is not meant where another one knows all of them.
    able = [one for one in attempts if one.found is not None or UNKNOWN not in str(one.error)]
    owners = [one for one in able if places and all(_names(one.scan, at, 2) for at in places)]
    fitting = owners or [
        one for one in able if one.found is not None or (
            places and all(_names(one.scan, at, 5) for at in places)
        )
    ]  # fmt: skip
    if not read:
        asked = [one.error for one in attempts if isinstance(one.error, SeveralError)]
        if len(asked) == 1:
            raise asked[0]
        if not is_last:
            return None
        first = _nearest(attempts)
        raise UnclearError(f"{first.table.label}: {first.error}")
    if len(fitting) > 1:
        raise _several(attempts[0].scan.request, [one.table for one in fitting])
    (one,) = fitting
    if one.found is None:
        raise one.error or UnclearError("it has no reading")
    named = " and ".join(f'"{one.scan.text(at, at + 1)}"' for at in places)
    which = f"the only one with {named}" if named else "the one that fits"
    return _noted(one.found, f"{one.table.label} was read, of {len(attempts)} tables {which}")


def _noted(found: Understood | None, *notes: str) -> Understood | None:
    return found and msgspec.structs.replace(found, notes=(*notes, *found.notes))


def _nearest(attempts: Sequence[_Attempt]) -> _Attempt:
    """Return the attempt that understood most: of the table that is named most, then by words."""
    return min(
        attempts,
        key=lambda one: (
            -len(_places(one.scan)), str(one.error).count('"') if UNKNOWN in str(one.error) else 9
        ),
    )  # fmt: skip


def _places(scan: RequestScan) -> list[int]:
    """Return where a request names columns or values of a table."""
    found = []
    for place in range(len(scan)):
        mention, value = scan.column(place), scan.value(place)
        if scan.at(place, "filler") and scan.kind(place) != "quoted":
            # "Add a column" does not speak of the column A.
            continue
        if (mention is not None and mention.level <= 3) or (value is not None and value.is_plain):
            found.append(place)
    return found


def _names(scan: RequestScan, place: int, level: int) -> bool:
    mention, value = scan.column(place), scan.value(place)
    return (mention is not None and mention.level < level) or (value is not None and value.is_plain)


def _several(request: str, tables: Sequence[KnownTable]) -> SeveralError:
    request = request.rstrip(" .!?")
    if len({table.path for table in tables}) == 1:
        names = ", ".join(f'"{table.sheet}"' for table in tables)
        options = [f'{request} of sheet "{table.sheet}"' for table in tables]
        return SeveralError(f"it may be about any of the sheets {names}; say which one", options)
    named = ", ".join(table.label for table in tables[:_MAX_NAMED])
    more = f" and {len(tables) - _MAX_NAMED} more" if len(tables) > _MAX_NAMED else ""
    options = [f"{request} from {table.path}" for table in tables]
    return SeveralError(
        f"it may be about any of {named}{more}; name the file in the request", options
    )


def _beside(table: KnownTable, others: Sequence[KnownTable]) -> tuple[str, ...]:
    """Return the note on tables that were not looked at."""
    paths = list(dict.fromkeys(other.path for other in others if other.path != table.path))
    if not paths:
        return ()
    more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
    return (f"{table.path} was read; name a file to have it read: {', '.join(paths[:3])}{more}",)


def _checked(found: Understood, tables: Sequence[KnownTable]) -> Understood:
    """Check that a job hangs on nothing that is open about its tables.

    Raises:
        _OpenTableError: It does; the message asks.
    """
    if asked := open_question(found.job, tables):
        raise _OpenTableError(asked, [])
    return found

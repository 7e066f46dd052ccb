"""Files of a request: those to read, and the name for the result. Pure.

The name and kind of a result, as a request gives it or as it is by default. Pure.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

import msgspec

from kbd_offline.names import fold, free_name, split_suffix
from kbd_offline.request_text import UnclearError, Wording

__all__ = [
    "ALL_TABLES",
    "BOOK",
    "BOOK_SUFFIX",
    "BOOK_SUFFIXES",
    "DECK_SUFFIXES",
    "DOCUMENT_SUFFIXES",
    "JSON_SUFFIXES",
    "LEADS_TO_RESULT",
    "MAX_REQUEST_CHARACTERS",
    "NOT_SHEETS",
    "READ_BOOKS",
    "READ_TABLES",
    "RESULT",
    "RESULT_SUFFIXES",
    "TABLE_SUFFIXES",
    "WRITTEN",
    "NamedFiles",
    "RequestFiles",
    "candidate_files",
    "check_written",
    "choose_files",
    "chosen_files",
    "named_files",
    "only_target",
    "requested_suffix",
    "several_files",
    "target_for",
    "without_names",
    "without_stems",
]

TABLE_SUFFIXES = (".csv", ".tsv", ".psv", ".tab")
BOOK_SUFFIX = ".xlsx"
BOOK_SUFFIXES = (".xlsx", ".xlsm", ".xltx", ".xltm")
READ_TABLES = (*TABLE_SUFFIXES, ".parquet", ".pq", ".arrow", ".feather", ".ipc", ".arrows")
"""Files that are one table each; only the first are written."""
READ_BOOKS = (*BOOK_SUFFIXES, ".ods", ".ots", ".fods")
"""Files of sheets; only the first are written."""
JSON_SUFFIXES = (".json", ".jsonl", ".ndjson")
"""Files that may be a list of records; most of them are none, so other tables go before them."""
ALL_TABLES = (*READ_TABLES, *READ_BOOKS, *JSON_SUFFIXES)
"""All files that a table is read from."""
RESULT_SUFFIXES = (BOOK_SUFFIX, *TABLE_SUFFIXES, ".parquet")
"""What the result of a request about one table can be."""
DOCUMENT_SUFFIXES = (".docx", ".docm", ".dotx", ".dotm")
DECK_SUFFIXES = (".pptx", ".pptm", ".potx", ".potm", ".ppsx", ".ppsm")
MAX_REQUEST_CHARACTERS = 2_000
"""Far more than a request that the rules understand; patterns are tried at each place of it."""

_QUOTED_NAME = re.compile(
    r"""["'“‘`]([^"'”’`\n]+\.(?:[A-Za-z]{2,5}|arrows|feather|parquet))["'”’`]"""
)
_PLAIN_NAME = re.compile(
    r"(?i)(?<![\w@./-])([\w][\w./-]*\.(?:xls[xm]?|csv|tsv|psv|tab|docx?|pptx?|pdf|txt|md|json|f?od[ts]|o[dt]s"
    r"|jsonl|ndjson|html?|xml|ya?ml|parquet|pq|arrows?|feather|ipc))\b"
)
_QUOTES = "\"'“”‘’`"
_CALLED = re.compile(r"(?i)\b(?:called|named)\s+[\"'“‘`]?([\w-]+)[\"'”’`]?")
# These always lead to a result; "to" and "in" may lead to a source as well.
_INTO = re.compile(r"(?i)\b(?:into|as|called|named)\Z")
_LEADS = re.compile(r"(?i)\b(?:to|in)\Z")

_AS_RESULT = re.compile(r"\b(?:into|to|as|in|make)\s+(?:(?:an?|one|new|single)\s+)*\Z")
_EACH = re.compile(r"\b(?:all|every|each)\s+(?:(?:of|the|these|those|my)\s+)*\Z")
_THE_ONE = re.compile(r"\b(?:the|this|that|my)\s+\Z")

_GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"(?:csv|tsv|tab-separated)(?:\s+files?|s|\s+tables?)\b", TABLE_SUFFIXES),
    (r"(?:excel\s+files?|xlsx(?:\s+files?)?)\b", BOOK_SUFFIXES),
    (r"(?:workbooks?|spreadsheets?)\b", READ_BOOKS),
    (r"(?:ods|opendocument)\s+(?:files?|spreadsheets?)\b", (".ods", ".ots", ".fods")),
    (r"json(?:\s+files?)?\b", (".json",)),
    (r"(?:jsonl|ndjson|json\s+lines)(?:\s+files?)?\b", (".jsonl", ".ndjson")),
    (r"parquet\s+files?\b", (".parquet", ".pq")),
    (r"(?:arrow|feather)\s+files?\b", (".arrow", ".feather", ".ipc", ".arrows")),
    (r"(?:word\s+(?:documents?|files?|docs?)|docx(?:\s+files?)?)\b", DOCUMENT_SUFFIXES),
    (r"(?:powerpoints?(?:\s+files?)?|pptx(?:\s+files?)?|presentations?|decks?)\b", DECK_SUFFIXES),
    (r"pdfs?(?:\s+files?)?\b", (".pdf",)),
    (r"text\s+files?\b", (".txt", ".md", ".markdown", ".text", ".log")),
)
"""Phrases for all files of one kind."""


class NamedFiles(msgspec.Struct, frozen=True):
    """The files that a request names.

    Args:
        sources: Files of the workbench to read.
        targets: Names for results, as the request gives them.
        text: The request with all names of files blanked, of the same length.
    """

    sources: tuple[str, ...]
    targets: tuple[str, ...]
    text: str


class RequestFiles(msgspec.Struct, frozen=True):
    """The files that a request about one table is about.

    Args:
        source: The table to read.
        target: The name for the result as the request gives it, perhaps without suffix, or None.
        text: The request with the names of files blanked, of the same length.
        taken: The names in use in the workbench.
        sheet: The sheet that is the table, where the source is a workbook.
    """

    source: str
    target: str | None
    text: str
    taken: tuple[str, ...]
    sheet: str = ""


def named_files(request: str, paths: Sequence[str], *, in_place: bool = False) -> NamedFiles:
    """Return the files that a request names.

    Args:
        request: What the user wrote.
        paths: The files of the workbench.
        in_place: Whether the job changes files, so that "in" and "to" before one name no result.

    Raises:
        UnclearError: A file is missing, or the request is too long.
    """
    if len(request) > MAX_REQUEST_CHARACTERS:
        raise UnclearError("it is too long to be read by rules")
    known = {path.rpartition("/")[2].casefold(): path for path in paths}
    # Whole paths last: one at the top goes before the last part of another that reads the same.
    known |= {path.casefold(): path for path in paths}
    text, sources, targets = request, list[str](), list[str]()
    for start, end in _spans(request, known):
        name = request[start:end]
        text = text[:start] + " " * (end - start) + text[end:]
        before = request[:start].rstrip(" \"'“‘`")
        path = known.get(name.casefold())
        # A file that is there is a result only behind another: "total by month in sales.csv" reads
        # it. In place, "in" always names what is changed.
        if in_place:
            leads = before.lower().endswith(" to") and path is None
        else:
            leads = _LEADS.search(before) is not None and (path is None or bool(sources))
        if _INTO.search(before) or leads:
            targets.append(path or name)
        elif path is None:
            raise UnclearError(f"there is no file {name} in the workbench")
        else:
            sources.append(path)
    # Names with a suffix are blanked by now, so this finds one without.
    called = _CALLED.search(text)
    if called and not targets:
        targets.append(called.group(1))
        text = text[: called.start()] + " " * len(called.group()) + text[called.end() :]
    return NamedFiles(tuple(dict.fromkeys(sources)), tuple(targets), text)


def choose_files(request: str, paths: Sequence[str]) -> RequestFiles:
    """Return the files that a request about one table is about.

    Args:
        request: What the user wrote.
        paths: The files of the workbench.

    Raises:
        UnclearError: No table is there, or more than one may be meant, or a file is missing.
    """
    named = named_files(request, paths)
    first, *others = _likely_sources(named.sources, paths)
    if others:
        raise several_files((first, *others))
    return _request_files(named, first, paths)


def candidate_files(request: str, paths: Sequence[str]) -> tuple[tuple[RequestFiles, ...], ...]:
    """Return the files of a request once for each table that it may be about.

    In groups, likely ones first: the tables that it names; where it names none the plain ones, then
    workbooks, then what may be a table.

    Raises:
        UnclearError: No table is there, or a file is missing.
    """
    named = named_files(request, paths)
    _likely_sources(named.sources, paths)
    results = {target.casefold() for target in named.targets}
    groups = list[tuple[RequestFiles, ...]]()
    for kinds in (ALL_TABLES,) if named.sources else (READ_TABLES, READ_BOOKS, JSON_SUFFIXES):
        tables = [path for path in named.sources or paths if split_suffix(path)[1] in kinds]
        # What the result is to be is not read, unless it is all that there is: that is refused.
        tables = [path for path in tables if path.casefold() not in results] or tables
        if tables:
            groups.append(tuple(_request_files(named, path, paths) for path in tables))
    return tuple(groups)


def _request_files(named: NamedFiles, source: str, paths: Sequence[str]) -> RequestFiles:
    target = only_target(named.targets, RESULT_SUFFIXES, f"only {WRITTEN}")
    if target is not None and target.casefold() == source.casefold():
        raise UnclearError("the result would overwrite the table that it is made from")
    return RequestFiles(source, target, named.text, tuple(paths))


def chosen_files(
    named: NamedFiles,
    paths: Sequence[str],
    suffixes: Collection[str] = (),
    if_mentioned: Collection[str] = (),
) -> tuple[str, ...]:
    """Return the files that a request names or speaks of ("all csv files"), else all that fit.

    Args:
        named: What it names.
        paths: The files of the workbench.
        suffixes: Those of the files that the job can take; none for any.
        if_mentioned: More of them, where the request speaks of their kind.

    Raises:
        UnclearError: It speaks of one file where there are several.
    """
    folded = fold(named.text)
    mentioned = set[str]()
    for words, group in _GROUPS:
        for match in re.finditer(rf"\b{words}", folded):
            before = folded[: match.start()]
            # "As a workbook" tells the result; beside named files only "all …" adds others of a
            # kind.
            if _AS_RESULT.search(before) or (named.sources and not _EACH.search(before)):
                continue
            mentioned |= set(group)
            some = [path for path in paths if split_suffix(path)[1] in group]
            if len(some) > 1 and not match.group().endswith("s") and _THE_ONE.search(before):
                raise UnclearError(f"it may be about any of {', '.join(some[:8])}")
    fitting = [path for path in paths if not suffixes or split_suffix(path)[1] in suffixes]
    if mentioned:
        kinds = mentioned.intersection((*suffixes, *if_mentioned)) if suffixes else mentioned
        fitting = [path for path in paths if split_suffix(path)[1] in kinds]
    elif named.sources:
        fitting = []
    return tuple(dict.fromkeys((*named.sources, *fitting)))


def without_names(request: str, paths: Sequence[str]) -> str:
    """Return a request with the names of files blanked, their quotes too, of the same length."""
    for start, end in _spans(request, {path.rpartition("/")[2].casefold(): path for path in paths}):
        before, after = request[:start], request[end:]
        stem, rest = before.rstrip(_QUOTES), after.lstrip(_QUOTES)
        request = stem + " " * (len(request) - len(stem) - len(rest)) + rest
    return request


def only_target(targets: Sequence[str], suffixes: Collection[str], writes: str) -> str | None:
    """Return the one name for the result, or None.

    Args:
        targets: The names that the request gives.
        suffixes: Those that it may have; it may have none.
        writes: What can be written, in words.

    Raises:
        UnclearError: There is more than one, or it is of another kind.
    """
    if len(targets) > 1:
        raise UnclearError(f"it names more than one result: {', '.join(targets)}")
    if not targets:
        return None
    suffix = split_suffix(targets[0])[1]
    if suffix and suffix not in suffixes:
        raise UnclearError(f"I do not write {suffix} files, {writes}")
    return targets[0]


def without_stems(request: str) -> str:
    """Return a request with only the suffixes left of the names of files, of the same length.

    `letter.docx` asks for no letter.
    """
    for pattern in (_QUOTED_NAME, _PLAIN_NAME):
        for match in pattern.finditer(request):
            start, dot = match.start(1), match.start(1) + match.group(1).rindex(".")
            request = request[:start] + " " * (dot - start) + request[dot:]
    return request


def _spans(request: str, known: Mapping[str, str]) -> list[tuple[int, int]]:
    """Return where files are named, in order, without overlaps; known names may hold blanks."""
    spans = list[tuple[int, int]]()
    for start, end in _candidates(request, known):
        # Whoever came first keeps the stretch, so the order of the candidates decides.
        if all(end <= other_start or start >= other_end for other_start, other_end in spans):
            spans.append((start, end))
    return sorted(spans)


def _candidates(request: str, known: Mapping[str, str]) -> Iterator[tuple[int, int]]:
    # The longest first: a name may hold another one.
    for name in sorted(known, key=len, reverse=True):
        pattern = rf"(?i)(?<![\w.-]){re.escape(name)}(?![\w-])"
        yield from (match.span() for match in re.finditer(pattern, request))
    yield from (match.span(1) for match in _QUOTED_NAME.finditer(request))
    yield from (match.span(1) for match in _PLAIN_NAME.finditer(request))


def several_files(tables: Sequence[str]) -> UnclearError:
    """Return the question which of several tables is meant."""
    names = ", ".join(tables[:_MAX_NAMED])
    more = f" and {len(tables) - _MAX_NAMED} more" if len(tables) > _MAX_NAMED else ""
    return UnclearError(f"it may be about any of {names}{more}; name the file in the request")


_MAX_NAMED = 8


def _likely_sources(named: Sequence[str], paths: Sequence[str]) -> list[str]:
    """Return the tables that are meant; where none is named, plain ones go before workbooks."""
    for suffixes in (ALL_TABLES,) if named else (READ_TABLES, READ_BOOKS, JSON_SUFFIXES):
        tables = [path for path in named or paths if split_suffix(path)[1] in suffixes]
        if tables:
            return tables
    written = ", ".join(suffix.lstrip(".") for suffix in (*TABLE_SUFFIXES, BOOK_SUFFIX))
    kinds = f"{written}, ods, parquet, arrow, json, jsonl"
    if named:
        raise UnclearError(f"{named[0]} is not a table that I read ({kinds})")
    raise UnclearError(f"there is no table in the workbench that I read ({kinds})")


BOOK = r"\b(?:excel|xlsx|workbook|spreadsheet|(?:work)?sheets?)\b"
"""Words that speak of a workbook."""

_TO = r"(?:(?:an?|one|new|single|its|their|own|separate)\s+)*"
_PLAIN = {
    "csv": ".csv", "tsv": ".tsv", "psv": ".psv", "parquet": ".parquet", "tab": ".tsv",
    "pipe": ".psv",
}  # fmt: skip
_TEXT_KIND = r"csv|tsv|psv|parquet|(?:tab|pipe)[- ](?:separated|delimited)"

RESULT = (
    rf"\b(?:to|into|as|in|an?)\s+{_TO}"
    rf"({_TEXT_KIND}|excel|xlsx|workbook|spreadsheet|(?:work)?sheet)s?\b"
)
"""Phrases for the kind of the result; the first group is the kind."""

LEADS_TO_RESULT = (
    rf"\b(?:to|into|as)\s+{_TO}({_TEXT_KIND}|excel|xlsx|workbook|spreadsheet|(?:work)?sheet)s?\b"
)
"""Those that say so without a verb: "a.csv to parquet"."""

NOT_SHEETS = rf"\b(?:to|into|as)\s+{_TO}({_TEXT_KIND})s?\b"
"""Those for kinds that have no sheets."""

_UNWRITTEN = (
    rf"\b(?:to|into|as|in)\s+{_TO}"
    r"(ods|opendocument|json|jsonl|ndjson|arrow|feather|ipc|xls|html|xml|markdown|yaml|sqlite|sql)\b"
)
WRITTEN = "xlsx, csv, tsv, psv and parquet"


def requested_suffix(wording: Wording) -> str | None:
    """Return the suffix of the kind of result that a request asks for, or None."""
    matches = list(re.finditer(RESULT, wording.folded))
    if not matches:
        return None
    # "Turn a csv into a workbook" has two; the result is named last, or behind "to".
    leading = [match for match in matches if re.match(LEADS_TO_RESULT, match.group())]
    kind = (leading or matches)[-1].group(1)
    return _PLAIN.get(re.split(r"[- ]", kind)[0], BOOK_SUFFIX)


def check_written(wording: Wording) -> None:
    """Check that a request asks for no kind of file that tables are not written to.

    Args:
        wording: What is left of it when its clauses are taken: a value may be called so.

    Raises:
        UnclearError: It does.
    """
    asked = wording.find(_UNWRITTEN)
    if asked and wording.column_at(asked.start(1), exact=True) is None:
        raise UnclearError(f"I do not write {asked.group(1)} files, only {WRITTEN}")


def target_for(files: RequestFiles, name: str, suffix: str) -> str:
    """Return the name of the result: the requested one, else a free one of the right kind.

    Raises:
        UnclearError: The request names a file that is there already.
    """
    if files.target is None:
        return free_name(name + suffix, files.taken)
    stem, given = split_suffix(files.target)
    target = files.target if given in RESULT_SUFFIXES else stem + suffix
    if target.casefold() in {path.casefold() for path in files.taken}:
        raise UnclearError(f"{target} is in the workbench already: name another result")
    return target

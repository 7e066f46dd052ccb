"""Files that a request names: those to read, and the name for the result. Pure."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import msgspec

from kbd_offline.names import blanked, fold, split_suffix
from kbd_offline.scan import UnclearError

__all__ = [
    "ALL_TABLES", "BOOK_SUFFIX", "BOOK_SUFFIXES", "JSON_SUFFIXES", "MAX_REQUEST_CHARACTERS",
    "READ_BOOKS", "READ_TABLES", "RESULT_SUFFIXES", "TABLE_SUFFIXES", "FileNames", "files_of_kinds",
    "free_target", "named_files",
]  # fmt: skip

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
"""What the result of a request about tables can be."""

MAX_REQUEST_CHARACTERS = 2_000
"""Far more than a request that the rules understand; phrases are tried at each place of it."""

_QUOTED_NAME = re.compile(
    r"""["'“‘`]([^"'”’`\n]+\.(?:[A-Za-z]{2,5}|arrows|feather|parquet))["'”’`]"""
)
_PLAIN_NAME = re.compile(
    r"(?i)(?<![\w@./-])([\w][\w./-]*\.(?:xls[xm]?|csv|tsv|psv|tab|docx?|pptx?|pdf|txt|md|json|f?od[ts]|o[dt]s"
    r"|jsonl|ndjson|html?|xml|ya?ml|parquet|pq|arrows?|feather|ipc))\b"
)
# The name stands last: "a column called Net" may be followed by what it is made of.
_CALLED = re.compile(
    r"(?i)(?<!column )(?<!spalte )\b(?:called|named|namens|call it|name it)\s+[\"'“‘`]?([\w-]+)"
    r"[\"'”’`]?\s*[.!]?\s*\Z"
)
# These always lead to a result; "to" and "in" may lead to a source as well.
_THING_CALLED = re.compile(
    r"(?i)\b(?!(?:files?|results?|output|workbooks?|sheets?|tables?|datei|ergebnis|tabelle)\b)\w+s?"
    r"\s+(?:who\s+(?:is|are)\s+)?(?:called|named|namens)\s+[\w-]+\Z"
)
"""A thing whose name is said, and no result."""
_INTO = re.compile(r"(?i)\b(?:into|as|called|named|als|namens|unter|name it|call it)\Z")
_LEADS = re.compile(r"(?i)\b(?:to|in|nach)\Z")

_WRITES = re.compile(r"(?i)\b(?:convert|export|save|write|konvertiere|speichere|exportiere)\b")

_GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"(?:csv|tsv|tab-separated)(?:\s+files?|s|\s+tables?|-dateien)\b", TABLE_SUFFIXES),
    (r"(?:excel\s+files?|xlsx(?:\s+files?)?)\b", BOOK_SUFFIXES),
    (r"(?:workbooks?|spreadsheets?)\b", READ_BOOKS),
    (r"(?:word\s+(?:documents?|files?|docs?)|docx(?:\s+files?)?|documents|dokumente)\b",
     (".docx", ".docm", ".dotx", ".dotm")),
    (r"(?:powerpoints?(?:\s+files?)?|pptx(?:\s+files?)?|presentations?|decks?)\b",
     (".pptx", ".pptm", ".potx", ".potm", ".ppsx", ".ppsm")),
    (r"text\s+files?\b", (".txt", ".md", ".markdown", ".text", ".log")),
)  # fmt: skip
"""Phrases for all files of one kind."""


class FileNames(msgspec.Struct, frozen=True):
    """The files that a request names.

    Args:
        sources: Files of the workbench to read, in the order of the request.
        target: The name for the result as the request gives it, perhaps without suffix, or "".
        spans: Where files are named: start, end and path.
    """

    sources: tuple[str, ...]
    target: str
    spans: tuple[tuple[int, int, str], ...]

    def without_names(self, request: str) -> str:
        """Return the request with the names of files blanked, of the same length."""
        for start, end, _ in self.spans:
            request = blanked(request, start, end)
        return request


def named_files(request: str, paths: Sequence[str], *, in_place: bool = False) -> FileNames:
    """Return the files that a request names.

    Args:
        request: What the user wrote.
        paths: The files of the workbench.
        in_place: Whether the job changes files, so that "in" before one names no result.

    Raises:
        UnclearError: A file is missing, several results are named, or the request is too long.
    """
    if len(request) > MAX_REQUEST_CHARACTERS:
        raise UnclearError("it is too long to be read by rules")
    known = {path.rpartition("/")[2].casefold(): path for path in paths}
    # Whole paths last: one at the top goes before the last part of another that reads the same.
    known |= {path.casefold(): path for path in paths}
    sources, targets, spans = list[str](), list[str](), list[tuple[int, int, str]]()
    for start, end in _spans(request, known):
        name = request[start:end]
        before = request[:start].rstrip(" \"'“‘`")
        path = known.get(name.casefold())
        # A file that is there is a result only behind another: "total by month in sales.csv" reads
        # it.
        is_result = bool(sources) and _WRITES.search(request[:start]) is not None and not in_place
        leads = _LEADS.search(before) is not None and (path is None or is_result)
        if _INTO.search(before) or (leads and not (in_place and path is not None)):
            targets.append(path or name)
        elif path is None:
            raise UnclearError(f"there is no file {name} in the workbench")
        else:
            sources.append(path)
        quote = start > 0 and request[start - 1] in "\"'“‘`" and request[end : end + 1] in "\"'”’`"
        spans.append((start - quote, end + quote, path or name))
    called = _CALLED.search(request)
    if (
        called
        and not targets
        and not _THING_CALLED.search(request[: called.end(1)])
        and not any(start <= called.start(1) < end for start, end, _ in spans)
    ):
        targets.append(called.group(1))
        spans.append((*called.span(1), called.group(1)))
    if len(set(targets)) > 1:
        raise UnclearError(f"it names more than one result: {', '.join(targets)}")
    return FileNames(
        tuple(dict.fromkeys(sources)), targets[0] if targets else "", tuple(sorted(spans))
    )


def files_of_kinds(request: str, paths: Sequence[str]) -> tuple[str, ...]:
    """Return the files of the kinds that a request speaks of ("all csv files"); none for none."""
    folded = fold(request)
    found = [
        path
        for words, group in _GROUPS
        for each in re.finditer(rf"\b{words}", folded)
        if not re.search(
            r"\b(?:into|to|as|make|als)\s+(?:(?:an?|one|new|single)\s+)*\Z", folded[: each.start()]
        )
        for path in paths
        if split_suffix(path)[1] in group
    ]
    return tuple(dict.fromkeys(found))


def free_target(name: str, taken: Iterable[str], today: str) -> str:
    """Return a name that no file has: with the day, then with a number behind it."""
    known = {other.casefold() for other in taken}
    stem, suffix = split_suffix(name)
    candidate, number = name, 1
    while candidate.casefold() in known:
        candidate = f"{stem}-{today}{'' if number == 1 else f'-{number}'}{suffix}"
        number += 1
    return candidate


def _spans(request: str, known: Mapping[str, str]) -> list[tuple[int, int]]:
    """Return where files are named, in order, without overlaps; known names may hold blanks."""
    spans = list[tuple[int, int]]()
    for start, end in _candidates(request, known):
        # Whoever came first keeps the stretch, so the order of the candidates decides.
        if all(end <= other_start or start >= other_end for other_start, other_end in spans):
            spans.append((start, end))
    return sorted(spans)


def _candidates(request: str, known: Collection[str]) -> Iterator[tuple[int, int]]:
    # The longest first: a name may hold another one.
    for name in sorted(known, key=len, reverse=True):
        pattern = rf"(?i)(?<![\w.-]){re.escape(name)}(?![\w-])"
        yield from (match.span() for match in re.finditer(pattern, request))
    yield from (match.span(1) for match in _QUOTED_NAME.finditer(request))
    yield from (match.span(1) for match in _PLAIN_NAME.finditer(request))

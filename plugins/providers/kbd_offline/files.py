"""Which files a request is about: the table to read, and the name for the result. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from kbd_offline.names import split_suffix
from kbd_offline.wording import UnclearError

__all__ = ["BOOK_SUFFIX", "TABLE_SUFFIXES", "Files", "choose_files", "without_stems"]

TABLE_SUFFIXES = (".csv", ".tsv", ".psv", ".tab")
BOOK_SUFFIX = ".xlsx"
MAX_REQUEST_CHARACTERS = 2_000
"""Far more than a request that the rules understand; patterns are tried at each place of it."""

_QUOTED_NAME = re.compile(r"""["'“‘`]([^"'”’`\n]+\.[A-Za-z]{2,5})["'”’`]""")
_PLAIN_NAME = re.compile(
    r"(?i)(?<![\w@./-])([\w][\w./-]*\.(?:xlsx?|csv|tsv|psv|tab|docx?|pptx?|pdf|txt|md|json|od[ts]))\b"
)
_CALLED = re.compile(r"(?i)\b(?:called|named)\s+[\"'“‘`]?([\w-]+)[\"'”’`]?")
_INTO = re.compile(r"(?i)\b(?:into|as|called|named)\Z")
_TO = re.compile(r"(?i)\b(?:to|in)\Z")


class Files(msgspec.Struct, frozen=True):
    """The files that a request is about.

    Args:
        source: The table to read.
        target: The name for the result as the request gives it, perhaps without suffix, or None.
        text: The request with the names of files blanked, of the same length.
        taken: The names in use in the workbench.
    """

    source: str
    target: str | None
    text: str
    taken: tuple[str, ...]


def choose_files(request: str, paths: Sequence[str]) -> Files:
    """Return the files that a request is about.

    Args:
        request: What the user wrote.
        paths: The files of the workbench.

    Raises:
        UnclearError: No table is there, or more than one may be meant, or a file is missing.
    """
    if len(request) > MAX_REQUEST_CHARACTERS:
        raise UnclearError("it is too long to be read by rules.")
    known = {path.rpartition("/")[2].casefold(): path for path in paths}
    known |= {path.casefold(): path for path in paths}
    text, sources, targets = request, list[str](), list[str]()
    for start, end in _named(request, known):
        name = request[start:end]
        text = text[:start] + " " * (end - start) + text[end:]
        before = request[:start].rstrip(" \"'“‘`")
        path = known.get(name.casefold())
        if _INTO.search(before) or (_TO.search(before) and (sources or path is None)):
            targets.append(path or name)
        elif path is None:
            raise UnclearError(f"there is no file {name} in the workbench")
        else:
            sources.append(path)
    called = _CALLED.search(text)
    if called and not targets:
        targets.append(called.group(1))
        text = text[: called.start()] + " " * len(called.group()) + text[called.end() :]
    source = _only_source(list(dict.fromkeys(sources)), paths)
    return Files(source, _only_target(targets, source), text, tuple(paths))


def without_stems(request: str) -> str:
    """Return a request with only the suffixes left of the names of files, of the same length.

    `letter.docx` asks for no letter.
    """
    for pattern in (_QUOTED_NAME, _PLAIN_NAME):
        for match in pattern.finditer(request):
            start, dot = match.start(1), match.start(1) + match.group(1).rindex(".")
            request = request[:start] + " " * (dot - start) + request[dot:]
    return request


def _named(request: str, known: Mapping[str, str]) -> list[tuple[int, int]]:
    """Return where files are named, in order, without overlaps; known names may hold blanks."""
    spans = list[tuple[int, int]]()
    for start, end in _candidates(request, known):
        if all(end <= other_start or start >= other_end for other_start, other_end in spans):
            spans.append((start, end))
    return sorted(spans)


def _candidates(request: str, known: Mapping[str, str]) -> Iterator[tuple[int, int]]:
    for name in sorted(known, key=len, reverse=True):
        pattern = rf"(?i)(?<![\w.-]){re.escape(name)}(?![\w-])"
        yield from (match.span() for match in re.finditer(pattern, request))
    yield from (match.span(1) for match in _QUOTED_NAME.finditer(request))
    yield from (match.span(1) for match in _PLAIN_NAME.finditer(request))


def _only_source(named: Sequence[str], paths: Sequence[str]) -> str:
    tables = [path for path in named or paths if split_suffix(path)[1] in TABLE_SUFFIXES]
    suffixes = ", ".join(suffix.lstrip(".") for suffix in TABLE_SUFFIXES)
    if len(tables) == 1:
        return tables[0]
    if tables:
        names = ", ".join(tables[:8])
        raise UnclearError(f"it may be about any of {names}. Name the file in the request.")
    if named:
        raise UnclearError(f"{named[0]} is not a table that I read ({suffixes})")
    raise UnclearError(f"there is no table in the workbench that I read ({suffixes})")


def _only_target(targets: Sequence[str], source: str) -> str | None:
    if len(targets) > 1:
        raise UnclearError(f"it names more than one result: {', '.join(targets)}")
    if not targets:
        return None
    suffix = split_suffix(targets[0])[1]
    if suffix not in ("", BOOK_SUFFIX, *TABLE_SUFFIXES):
        raise UnclearError(f"I do not write {suffix} files, only xlsx and csv")
    if targets[0].casefold() == source.casefold():
        raise UnclearError("the result would overwrite the table that it is made from")
    return targets[0]

"""Find and replace: a text in place of another one, wherever it stands in files. Pure."""

import re
from collections.abc import Sequence

from kbd.jobs.records import Input, Job, ReplaceStep
from kbd_offline.names import fold
from kbd_offline.request_files import files_of_kinds, named_files
from kbd_offline.request_tokens import QUOTED
from kbd_offline.scan import UnclearError

__all__ = ["replaced"]

_TEXT = r"(?:\x02(?P<{0}_quoted>\d+)\x02|(?P<{0}>[^\s\"',;]+))"
_FIRST, _SECOND = _TEXT.format("search"), _TEXT.format("instead")
_THINGS = (
    r"(?:(?:all|every|each|any|the|of|occurrences?|instances?|words?|texts?|terms?|phrases?"
    r"|strings?|names?|alle|das|die|den|wort|text|uberall)\s+)*"
)
_REPLACE = re.compile(
    rf"^\W*(?:please\s+|bitte\s+)?(?:(?P<find>find|suche)\s+(?:(?:and|&|und)\s+)?)?"
    rf"(?P<verb>replac\w*|substitut\w*|chang\w*|correct|swap|turn|fix|rename|ersetz\w*|tausche|find)?\s*"
    rf"{_THINGS}{_FIRST}\s*(?:,?\s*(?:and|und)\s+(?:replace|ersetze|change)\s+(?:it|them|es)?\s*)?"
    rf"\s*(?P<with>with|by|to|into|for|durch|mit|gegen|in)\s+(?:the\s+)?"
    rf"(?:(?P<nothing>nothing|nichts|an\s+empty\s+(?:text|string))\b|{_SECOND})"
)
_REMOVE = re.compile(
    rf"^\W*(?:please\s+)?(?:remove|delete|erase)\s+(?:(?:all|every|the)\s+)*"
    rf"(?:words?|texts?|phrases?|occurrences?\s+of)\s+{_FIRST}"
)
_CASE = re.compile(
    r"\b(?:ignoring\s+(?:the\s+)?case|case[- ]insensitiv\w*|ignore\s+(?:the\s+)?case"
    r"|regardless\s+of\s+case"
    r"|ohne\s+gro.-?\s*(?:und|/)\s*kleinschreibung|in\s+capitals\s+or\s+not)\b"
)
_REST = re.compile(
    r"(?:\W|\b(?:in|all|the|of|every|each|these|those|this|my|files?|documents?|word|excel|csv|text|workbooks?"
    r"|powerpoint|save|saved|called|named|new|presentations?|spreadsheets?|decks?|everywhere|throughout|them|it|please|and|docx|xlsx|pptx|as"
    r"|matching|match|case|case-sensitive|sensitive|in|allen|alle|dateien|dokumenten|uberall|der|datei|den|into)\b)*"
)


def replaced(request: str, paths: Sequence[str]) -> Job | None:
    """Return the job of a request to replace a text, None where it asks for something else.

    Raises:
        UnclearError: What is to be replaced, or where, is not clear.
    """
    texts: list[str] = []

    def hide(found: re.Match[str]) -> str:
        text = next(group for group in found.groups() if group is not None)
        if text in paths:
            return found.group()
        texts.append(text)
        return f"\x02{len(texts) - 1}\x02"

    bare = re.sub(QUOTED, hide, request)
    folded = fold(bare)
    found = _REPLACE.match(folded)
    if found is None or not _is_asked(found):
        found = _REMOVE.match(folded)
        if found is None or not found["search_quoted"]:
            return None
        return _job(
            request, folded[found.end() :], (_text(found, "search", bare, texts), ""), paths
        )
    search = _text(found, "search", bare, texts)
    replacement = "" if found["nothing"] else _text(found, "instead", bare, texts)
    swapped = found["verb"] and found["verb"].startswith("substitut") and found["with"] == "for"
    if swapped:
        search, replacement = replacement, search
    if not found["search_quoted"] and search in ("it", "them", "es"):
        raise UnclearError("it does not say which text is replaced by which")
    return _job(request, folded[found.end() :], (search, replacement), paths)


def _is_asked(found: re.Match[str]) -> bool:
    """Tell whether a text is to be replaced: both stand in quotes, or the verb says only that."""
    verb = found["verb"] or ""
    if verb.startswith(("replac", "substitut", "ersetz")) or found["find"]:
        return found["search"] not in ("missing", "empty", "blank", "leere", "fehlende", "blanks")
    both = found["search_quoted"] and (found["instead_quoted"] or found["nothing"])
    return bool(verb) and bool(both)


def _text(found: re.Match[str], name: str, bare: str, texts: Sequence[str]) -> str:
    if found[f"{name}_quoted"]:
        return texts[int(found[f"{name}_quoted"])]
    return bare[found.start(name) : found.end(name)].rstrip(".")


def _job(request: str, rest: str, texts: tuple[str, str], paths: Sequence[str]) -> Job:
    search, replacement = texts
    if not search or search == replacement:
        raise UnclearError("it does not say which text is replaced by which")
    names = named_files(request, paths, in_place=True)
    ignores = _CASE.search(rest) is not None
    rest = _CASE.sub(" ", rest)
    for path in (*names.sources, names.target):
        rest = rest.replace(fold(path), " ") if path else rest
    left = _REST.sub(" ", rest).split()
    if "\x02" in rest or left:
        named = left[0] if left else "another text"
        raise UnclearError(
            f'I replace one text in whole files; I do not know what to make of "{named}"'
        )
    files = names.sources or files_of_kinds(names.without_names(request), paths) or tuple(paths)
    if not files:
        raise UnclearError("there is no file in the workbench")
    if names.target and len(files) > 1:
        raise UnclearError("a copy is made of one file, and several are meant")
    shown = f'"{search}" replaced by "{replacement}"'
    title = f"{shown}{', in capitals or not,' if ignores else ''} in {', '.join(files[:3])}"
    title += f" and {len(files) - 3} more" if len(files) > 3 else ""
    title += f", as {names.target}" if names.target else ""
    step = ReplaceStep(files, search, replacement, not ignores, names.target or None)
    return Job((Input("file", files[0], kind="file"),), (step,), title=title)

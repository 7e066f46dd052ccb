"""Find and replace: which text by which, in which files, and how often it is there.

Doing a replacement: one file, by the tool that keeps all else in it.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import msgspec

from kbd.errors import ValidationFailed
from kbd_offline.conversation import PlannerConversation
from kbd_offline.files import (
    BOOK_SUFFIXES,
    DECK_SUFFIXES,
    DOCUMENT_SUFFIXES,
    chosen_files,
    named_files,
    only_target,
)
from kbd_offline.findings import Findings
from kbd_offline.found_texts import (
    FoundCell,
    WholeText,
    find_cells,
    occurrences,
    read_texts,
    replaced,
)
from kbd_offline.intents import Replaced, ReplacePart
from kbd_offline.names import fold, split_suffix
from kbd_offline.request_text import QUOTED, REPLACING, UnclearError, Wording

__all__ = ["not_found_text", "parse_replacement", "replace_text", "research_replacement"]

_TOO_FINE = (
    (
        r"\bwhole\s+words?\b|\bwords?\s+only\b",
        "I replace a text wherever it stands, also in words",
    ),
    (r"\bcolumns?\b|\brows?\b|\bfirst\s+occurrence", "I replace a text in whole files"),
    (
        r"\bregex\w*|\bregular\s+expressions?\b|\bwildcards?\b|\bpatterns?\b",
        "I search for plain text",
    ),
)
_IGNORE_CASE = (
    r"\b(?:ignor\w+\s+(?:the\s+)?(?:upper\s*/?\s*lower\s+)?case|case[- ]?insensitiv\w*"
    r"|(?:whatever|regardless\s+of|any|without\s+regard\s+to)\s+(?:the\s+)?case"
    r"|(?:don'?t|do\s+not)\s+match\s+(?:the\s+)?case|not\s+case[- ]sensitive)\b"
)
_MATCH_CASE = (
    r"\b(?:match\w*\s+(?:the\s+)?(?:exact\s+)?case|case[- ]?sensitiv\w*|exact\s+case|same\s+case)\b"
)
_VERB = (
    r"(?:find\s+(?:and|&)\s+replace|replac(?:e|es|ing)|substitut(?:e|ing)|change|rename|correct"
    r"|swap|turn|fix|find)"
)
_FILL = (
    r"(?:\s+(?:all|every|each|any|the|of|word|words|name|text|term|phrase|string|occurrences?"
    r"|instances?))*\s*:?\s*"
)
_BETWEEN = (
    r"\s*,?\s*(?:everywhere\s+)?(?:(?:and\s+(?:then\s+)?)?(?:replace|change)\s+(?:it|them|that|this"
    r"|each)\s+)?(?:with|by|to|into|for|->|=>|→)\s+(?:the\s+)?(?:(?:word|text|name|phrase)\s+)?"
)
_PLAIN = (
    rf"\b{_VERB}{_FILL}(?P<old>[^\"'“‘`«„\n]+?)\s+(?:with|by)\s+(?P<new>[^\"'“‘`«„\n]+?)"
    r"(?=\s+(?:in|everywhere|throughout|across|inside|within|ignoring|matching|and\s+save)\b"
    r"|\s*[.,;!?]?\s*\Z|[,;]\s)"
)


_NOTHING = r"\s+(?:with|by)\s+(?:nothing|an?\s+empty\s+(?:text|string))\b"
_ERASE = (
    r"\b(?:remove|delete|erase)(?:\s+(?:the|all|every|each|any|of|occurrences?|instances?|words?"
    r"|texts?|phrases?|strings?|names?))+\s*\Z"
)
_VAGUE = (
    r"\b(?:columns?|rows?|cells?|values?|everything|texts?|it|them|empty|blanks?|missing"
    r"|nothing)\b"
)
"""Words that describe a text rather than being one, unless they stand in quotes."""


class ReplaceRequest(msgspec.Struct, frozen=True):
    """A text, what stands in its place, whether capitals count, and the rest of the request."""

    search: str
    replacement: str
    match_case: bool
    rest: str


def research_replacement(conversation: PlannerConversation, request: str) -> Findings:
    """Read a request to replace a text and count where that can be done beforehand.

    Raises:
        UnclearError: It has no reading, or more than one.
        PendingError, CallFailedError, ValidationFailed: As for `PlannerConversation.call`.
    """
    wish = parse_replacement(request)
    # Only the rest: the name of a file in one of the two texts is a text.
    named = named_files(wish.rest, conversation.paths, in_place=True)
    Wording(named.text).check_rest(REPLACING)
    chosen = chosen_files(named, conversation.paths)
    if not chosen:
        raise UnclearError("there is no file in the workbench that it can be about")
    target = only_target(named.targets, [split_suffix(path)[1] for path in chosen], "only a copy")
    if target and (len(chosen) > 1 or not split_suffix(target)[1]):
        raise UnclearError(f"{target} can be the copy of one file only, of the same kind")
    if target in conversation.paths:
        raise UnclearError(f"{target} is in the workbench already: name another result")
    parts, notes = _counted(conversation, chosen, wish, is_named=bool(named.sources))
    intent = Replaced(
        wish.search, wish.replacement, wish.match_case, parts, target or "", tuple(notes)
    )
    lines = tuple(f"- {path}" for path in chosen)
    return Findings(intent, lines, tuple(notes))


def parse_replacement(request: str) -> ReplaceRequest:
    """Return which text a request replaces by which.

    Raises:
        UnclearError: That is unclear, or it asks for more than plain text.
    """
    pairs = list(_quoted_pairs(request))
    if len(pairs) > 1:
        raise UnclearError("I replace one text at a time: ask for one after the other")
    if pairs:
        search, replacement, start, end = pairs[0]
    else:
        found = re.search(_PLAIN, request, re.IGNORECASE)
        if found is None or any(re.search(_VAGUE, fold(text)) for text in found.groups()):
            raise UnclearError('put both texts in quotes: replace "old" with "new" in FILE')
        search, replacement = found.group("old").strip(), found.group("new").strip()
        start, end = found.span()
    rest = request[:start] + " " * (end - start) + request[end:]
    # Only the rest, too: the texts may well hold "column" or "pattern".
    folded = fold(rest)
    for pattern, reason in _TOO_FINE:
        if re.search(pattern, folded):
            raise UnclearError(reason)
    match_case = True
    # In this order, for "don't match case" holds "match case".
    for pattern, is_exact in ((_IGNORE_CASE, False), (_MATCH_CASE, True)):
        match = re.search(pattern, fold(rest))
        if match:
            match_case = is_exact
            rest = rest[: match.start()] + " " * (match.end() - match.start()) + rest[match.end() :]
            break
    if not search:
        raise UnclearError("the text to be replaced is empty")
    if search == replacement:
        raise UnclearError("both texts are the same")
    return ReplaceRequest(search, replacement, match_case, rest)


def _quoted_pairs(request: str) -> list[tuple[str, str, int, int]]:
    """Return the pairs of quoted texts, the first before "with" or "to", and where they stand."""
    quoted = list(re.finditer(QUOTED, request))
    found = list[tuple[str, str, int, int]]()
    for first, second in pairwise(quoted):
        if found and first.start() < found[-1][3]:
            continue
        between = request[first.end() : second.start()]
        # The blank is for a quote that follows the word at once.
        if re.fullmatch(_BETWEEN, f"{between.lower()} "):
            old, new = (next(g for g in one.groups() if g is not None) for one in (first, second))
            lead = re.search(rf"\b{_VERB}{_FILL}\Z", request[: first.start()], re.IGNORECASE)
            swapped = lead is not None and lead.group().lower().startswith("substitut")
            # "Substitute new for old" names them the other way round.
            if swapped and re.match(r"\s*for\b", between, re.IGNORECASE):
                old, new = new, old
            found.append((old, new, lead.start() if lead else first.start(), second.end()))
    return found or list(_erased(request, quoted))


def _erased(request: str, quoted: Sequence[re.Match[str]]) -> Iterator[tuple[str, str, int, int]]:
    """Yield the one quoted text that nothing shall stand in the place of, and where it stands."""
    if len(quoted) != 1:
        return
    text = next(group for group in quoted[0].groups() if group is not None)
    start, end = quoted[0].span()
    nothing = re.compile(_NOTHING, re.IGNORECASE).match(request, end)
    verb = rf"\b{_VERB}{_FILL}\Z" if nothing else _ERASE
    lead = re.search(verb, request[:start], re.IGNORECASE)
    if lead:
        yield text, "", lead.start(), nothing.end() if nothing else end


def _counted(
    conversation: PlannerConversation, paths: Sequence[str], wish: ReplaceRequest, *, is_named: bool
) -> tuple[tuple[ReplacePart, ...], list[str]]:
    """Return the files that have the text, as far as that is known, and notes."""
    parts, notes = dict[str, ReplacePart](), list[str]()
    plain = list[str]()
    for path in paths:
        suffix = split_suffix(path)[1]
        if suffix in (*DOCUMENT_SUFFIXES, *DECK_SUFFIXES):
            parts[path] = ReplacePart(path)
        elif suffix in BOOK_SUFFIXES:
            found = find_cells(conversation, path, wish.search, match_case=wish.match_case)
            notes += found.notes
            if found.hits:
                parts[path] = ReplacePart(path, found.hits)
            else:
                notes.append(f'"{wish.search}" is in no text of {path}')
        else:
            plain.append(path)
    for path, text in zip(plain, read_texts(conversation, plain), strict=True):
        reason = text if isinstance(text, str) else _breaking(text, wish)
        if isinstance(text, str) or reason:
            # A file that was named must not be left out with a note.
            if is_named:
                raise UnclearError(f"{path}: {reason}")
            notes.append(f"{path} was left out: {reason}")
            continue
        hits = occurrences(text.content, wish.search, match_case=wish.match_case)
        if hits:
            parts[path] = ReplacePart(path, hits)
        else:
            notes.append(f'"{wish.search}" is not in {path}')
    # In the order of the files: texts were looked at behind all others.
    return tuple(parts[path] for path in paths if path in parts), notes


def _breaking(text: WholeText, wish: ReplaceRequest) -> str:
    """Return why a replacement would change more than texts of a table, or ""."""
    signs = sorted(set(text.separators) & set(wish.search + wish.replacement))
    return f"{' and '.join(signs)} would change where its fields end" if signs else ""


_CHECKED_CELLS = 20
_COUNT = re.compile(r"(\d+) replacement")


def replace_text(conversation: PlannerConversation, intent: Replaced, number: int) -> str:
    """Replace the text in one file and tell how often.

    Raises:
        PendingError, CallFailedError: As for `PlannerConversation.call`.
        ValidationFailed: The file is not as it was when it was looked at.
    """
    part = intent.parts[number - 1]
    suffix = split_suffix(part.path)[1]
    try:
        if suffix in DOCUMENT_SUFFIXES:
            hits = _by_operation(conversation, intent, part, "docx_operations")
        elif suffix in DECK_SUFFIXES:
            hits = _by_operation(conversation, intent, part, "pptx_operations")
        elif suffix in BOOK_SUFFIXES:
            hits = _in_cells(conversation, intent, part)
        else:
            hits = _in_text(conversation, intent, part)
    except UnclearError as unclear:
        raise ValidationFailed(str(unclear)) from None
    path = intent.target or part.path
    if not hits:
        return f'"{intent.search}" was not found in {part.path}; nothing was replaced there.'
    return f"{hits} replacement{'' if hits == 1 else 's'} in {path}."


def not_found_text(intent: Replaced) -> str:
    """Return the answer where no file has the text."""
    notes = "; ".join(intent.notes)
    return f'"{intent.search}" was not found, and nothing was replaced. {notes}'.strip()


def _copied(intent: Replaced, part: ReplacePart) -> dict[str, Any]:
    """Return the arguments that name the file to change: itself, or a copy to be made of it."""
    return {"path": intent.target, "copy_from": part.path} if intent.target else {"path": part.path}


def _by_operation(
    conversation: PlannerConversation, intent: Replaced, part: ReplacePart, tool: str
) -> int:
    operation = {
        "op": "replace_text",
        "search": intent.search,
        "replace": intent.replacement,
        "match_case": intent.match_case,
    }
    done = conversation.call(tool, **_copied(intent, part), operations=[operation])
    counted = _COUNT.match(str(done["changed"][0]))
    if counted is None:
        raise ValidationFailed(f"{tool} does not say how often it replaced the text")
    return int(counted.group(1))


def _in_cells(conversation: PlannerConversation, intent: Replaced, part: ReplacePart) -> int:
    found = find_cells(conversation, part.path, intent.search, match_case=intent.match_case)
    if found.hits != part.hits:
        raise ValidationFailed(f"{part.path} has the text {found.hits} times, not {part.hits}")
    by_sheet = dict[str, list[dict[str, Any]]]()
    after = [_after(intent, cell) for cell in found.cells]
    for cell, text in zip(found.cells, after, strict=True):
        # With its type, or a text that has become "007" would be written as a number.
        value = {"cell": cell.name, "value": text, "type": "string"}
        by_sheet.setdefault(cell.sheet, []).append(value)
    operations = [
        {"op": "set_cells", "sheet": sheet, "cells": cells} for sheet, cells in by_sheet.items()
    ]
    path = intent.target or part.path
    conversation.call("xlsx_operations", **_copied(intent, part), operations=operations)
    checked = list(zip(found.cells, after, strict=True))[:_CHECKED_CELLS]
    places = [
        ("read_file", {"path": path, "sheet": cell.sheet, "range": cell.name})
        for cell, _ in checked
    ]
    for (cell, text), reading in zip(checked, conversation.calls(*places), strict=True):
        # As readings show it, and one word of it, which no line end or quote parts.
        words = text.replace("\\", "\\\\").split()
        if words and words[0] not in str(reading["text"]):
            raise ValidationFailed(f"{cell.name} of {cell.sheet} in {path} was not changed")
    return found.hits


def _after(intent: Replaced, cell: FoundCell) -> str:
    return replaced(cell.text, intent.search, intent.replacement, match_case=intent.match_case)


def _in_text(conversation: PlannerConversation, intent: Replaced, part: ReplacePart) -> int:
    (text,) = read_texts(conversation, [part.path])
    if not isinstance(text, WholeText):
        raise ValidationFailed(f"{part.path}: {text}")
    hits = occurrences(text.content, intent.search, match_case=intent.match_case)
    if hits != part.hits:
        raise ValidationFailed(f"{part.path} has the text {hits} times, not {part.hits}")
    content = text.written(
        replaced(text.content, intent.search, intent.replacement, match_case=intent.match_case)
    )
    path = intent.target or part.path
    written = conversation.call("write_text_file", path=path, content=content)
    if int(written["bytes"]) != len(content.encode()):
        raise ValidationFailed(f"{path} was not written whole")
    return hits

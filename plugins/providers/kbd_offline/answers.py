"""Answers to what is asked about a table: how it is to be read, said in a request or after one.

A table that can be read in two ways is asked about, and nothing is done. The answer may stand in
the request ("decimal comma", "leave out the total rows"), or be the next message on its own ("leave
out"): then the request is the one that was asked about.
"""

import re
import shlex
from typing import Any

import msgspec

from kbd.types import ReadAs
from kbd_offline.names import blanked, fold
from kbd_offline.request_files import MAX_REQUEST_CHARACTERS
from kbd_offline.request_tokens import QUOTED

__all__ = ["NOT_DONE", "OPTIONS", "SaidReading", "decode_said", "encode_said", "said_in"]

NOT_DONE = "This was not done, and nothing was changed."
"""How the message begins that declines a request, or asks about a table."""

OPTIONS = "Say "
"""How the line begins that offers requests, one of which is meant."""

_MARK = "Tables are read as said: "
_LEAVE = r"(?:leav\w*\s+(?:\w+\s+)?out|left\s+out|ignor\w+|skip\w*|exclud\w+|drop\w*|without)"
_KEEP = r"keep(?:ing)?"
_TOTAL_ROWS = (
    r"(?:(?:all|the|any|those|these)\s+)*(?:(?:sub-?)?totals?\s+rows?|sum\s+rows?"
    r"|rows?\s+(?:of|with)\s+(?:sub-?)?totals?)\b"
)
_DECIMAL = (
    r"\b(?:decimal\s+{one}|{one}\s+(?:is|are|as|for|before)\s+(?:the\s+)?decimals?(?:\s+marks?)?)\b"
    r"|\bdecimals?(?:\s+mark)?\s*(?:[:=]|is|are)?\s*(?:an?\s+|the\s+)?(?:{sign})(?=\W|$)"
)
_DATES = r"(?:dates?\s+(?:order\s+)?(?:[:=]|is|are)?\s*)?"
_Said = tuple[str, str, Any]
"""A pattern, what it says something about, and what; None where its group `said` says that."""

_PHRASES: tuple[_Said, ...] = (
    (rf"\b{_LEAVE}\s+(?:only\s+)?(?:the\s+)?proven\s+(?:totals?|rows?|ones)\b",
     "totals", "leave_out_proven"),
    (rf"\b{_LEAVE}\s+{_TOTAL_ROWS}", "totals", "leave_out"),
    (rf"\b{_KEEP}\s+{_TOTAL_ROWS}(?:\s+as\s+rows?\b)?", "totals", "keep"),
    (r"\btotals?\s*[:=]\s*leave[_ ]out\b", "totals", "leave_out"),
    (r"\btotals?\s*[:=]\s*leave[_ ]out[_ ]proven\b", "totals", "leave_out_proven"),
    (r"\btotals?\s*[:=]\s*keep\b", "totals", "keep"),
    (_DECIMAL.format(one="commas?", sign="comma\\b|,"), "decimal", ","),
    (_DECIMAL.format(one="(?:points?|dots?)", sign=r"(?:point|dot)\b|\."), "decimal", "."),
    *((rf"\b{_DATES}(?:{order}\b|{first}\s+(?:comes\s+)?first\b)", "date_order", order)
      for order, first in (("dmy", "day"), ("mdy", "month"), ("ymd", "year"))),
    (r"\bencoding\s*(?:[:=]|is)?\s*(?P<said>[a-z][a-z0-9_-]*\d[a-z0-9_-]*|ascii)\b",
     "encoding", None),
    (r"\b(?:no|without(?:\s+an?)?)\s+header(?:\s+row)?\b", "header_row", 0),
    (r"\bheader(?:[_ ]row)?\s*(?:[:=]|is|in|is\s+in)?\s*(?:row\s+|line\s+)?(?P<said>\d{1,6})\b",
     "header_row", None),
)  # fmt: skip
"""What is said within a request, too."""

_IT = r"(?:\s+(?:it|them|that|those|this))?(?:\s+(?:row|rows|totals?))?"
_ALONE: tuple[_Said, ...] = (
    (r"leave_out_proven", "totals", "leave_out_proven"),
    (rf"(?:{_LEAVE}|leave_out){_IT}", "totals", "leave_out"),
    (rf"{_KEEP}{_IT}", "totals", "keep"),
    (r"(?:a\s+|the\s+)?(?:comma|,)", "decimal", ","),
    (r"(?:a\s+|the\s+)?(?:point|dot|\.)", "decimal", "."),
    (r"(?P<said>(?:utf|cp|windows|iso|latin|mac|koi8|gb|big5|shift|euc|johab|tis|ascii)[a-z0-9_-]*)",
     "encoding", None),
)  # fmt: skip
"""What only a whole message says."""

_POLITE = (
    r"(?:please|yes|no|ok(?:ay)?|thanks?|thank\s+you|it\s+is|they\s+are|use|the\s+answer\s+is)"
)
_EMPTY = re.compile(rf"(?:\W|_|\b{_POLITE}\b|\band\b|\bthen\b)*")


class SaidReading(msgspec.Struct, frozen=True):
    """What is said about how tables are read.

    Args:
        read_as: What is said: a plain `ReadAs`.
        request: The request that it belongs to, without the words for it.
    """

    read_as: dict[str, Any]
    request: str


def said_in(request: str, earlier: str = "") -> SaidReading:
    """Return what a request says of how tables are read, and what else it asks for.

    A message that says nothing else answers a question: then the request is the one that was asked
    about, with what its other answers said.

    Args:
        request: The message.
        earlier: The messages before it ("[user] …", "[assistant] …"), the oldest first.
    """
    if len(request) > MAX_REQUEST_CHARACTERS:
        return SaidReading({}, request)
    if (chosen := _chosen_option(request, earlier)) is not None:
        request = chosen
    read_as, rest = _taken(request)
    while _EMPTY.fullmatch(rest) and read_as:
        before = _asked_about(earlier)
        if before is None:
            break
        asked, earlier = before
        said, rest = _taken(asked)
        # What was said last counts.
        read_as = said | read_as
    return SaidReading(read_as, rest if rest.strip() else request)


def _chosen_option(request: str, earlier: str) -> str | None:
    """Return the request that a message chooses of those which the last answer offers, if one.

    By its number, by its words, or by words that only one of them has.
    """
    before = earlier.rpartition("\n\n[assistant] ")[2]
    if not before.startswith(NOT_DONE):
        return None
    line = next((one for one in before.splitlines() if one.startswith(OPTIONS)), "")
    try:
        # Each is `1: kbd run REQUEST FILE…`.
        options = [shlex.split(one)[3] for one in line.removeprefix(OPTIONS).split(" · ") if one]
    except (ValueError, IndexError):
        return None
    said = request.strip().strip("\"'. !").casefold()
    if said.isdigit() and 1 <= int(said) <= len(options):
        return options[int(said) - 1]
    fitting = [one for one in options if said and said in one.casefold()]
    return fitting[0] if len(fitting) == 1 else None


def encode_said(read_as: dict[str, Any]) -> tuple[str, ...]:
    """Return the line of a text that carries what was said on to the next phase; none for none."""
    return (f"- {_MARK}{msgspec.json.encode(read_as).decode()}",) if read_as else ()


def decode_said(text: str) -> dict[str, Any]:
    """Return what the line of a text says, nothing where it has none."""
    # The last one: lines before it may quote a table's values.
    found = re.findall(rf"^- {re.escape(_MARK)}(\{{.*\}})$", text, re.MULTILINE)
    if not found:
        return {}
    try:
        return dict(msgspec.to_builtins(msgspec.json.decode(found[-1], type=ReadAs)))
    except (msgspec.ValidationError, msgspec.DecodeError):
        return {}


def _taken(text: str) -> tuple[dict[str, Any], str]:
    """Return what a text says of reading, and the text with blanks in the place of that."""
    alone = fold(text).strip().strip("\"'`“”‘’ !").removesuffix(".") or text.strip()
    alone = re.sub(rf"^(?:{_POLITE}[\s,]+)*|(?:[\s,]+{_POLITE})*$", "", alone)
    for pattern, name, value in _ALONE:
        if found := re.fullmatch(pattern, alone):
            return {name: found["said"] if value is None else value}, ""
    folded = fold(text)
    for quoted in re.finditer(QUOTED, text):
        # What stands in quotes is a value, or the name of a file or column.
        start, end = quoted.span()
        folded = folded[:start] + "\x00" * (end - start) + folded[end:]
    read_as: dict[str, Any] = {}
    for pattern, name, value in _PHRASES:
        for found in re.finditer(pattern, folded):
            said = found["said"] if value is None else value
            read_as[name] = int(said) if name == "header_row" else said
            text = blanked(text, *found.span())
    return read_as, text


def _asked_about(earlier: str) -> tuple[str, str] | None:
    """Return the request that the last message asks about, and the messages before it."""
    asked = earlier.rpartition("\n\n[assistant] ")
    if not asked[1] or not asked[2].startswith(NOT_DONE):
        return None
    start, mark, request = f"\n\n{asked[0]}".rpartition("\n\n[user] ")
    return (request, start) if mark else None

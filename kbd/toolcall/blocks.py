"""Tool calls and results in text: their tags, their rendering and escaping, the parser. Pure.

A text is kept from holding a tag, and a call or a result becomes a text that holds no tag but its
own.

The parser takes linear time. A block's object is read before its end is looked for, so a tag within
a string is text. A block that cannot be read ends the reading: where it ends is not sure, and what
follows may be text that it was to write into a file.
"""

import html
import json
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from kbd.toolcall.json_objects import (
    MAX_NESTING,
    NotObject,
    nesting_of,
    parts_of_call,
    read_object,
)

__all__ = [
    "CALL",
    "RESULT",
    "TAG",
    "MalformedToolcall",
    "ParsedText",
    "Toolcall",
    "escape_tags",
    "find_toolcall",
    "parse_toolcalls",
    "render_toolcall",
    "render_toolresult",
    "shown_length",
    "wrap_toolresult",
]


CALL = "myPT_toolcall"
RESULT = "myPT_toolresult"

# Each repetition has a bound, so that a search through a long text stays linear.
TAG = re.compile(
    r"(?P<open><|&lt;)\s{0,4}(?P<end>/?)\s{0,4}mypt_tool(?P<kind>call|result)\b"
    r"(?:[^<>{&]{0,40}(?:>|&gt;))?",
    re.IGNORECASE | re.ASCII,
)
"""A tag: in any case, with blanks, HTML-escaped, with attributes or without its `>`."""

MAX_TAG_CHARACTERS = 32
"""No tag is longer up to the end of its name."""

_NAME = re.compile(r"(mypt)_(?=tool(?:call|result))", re.IGNORECASE | re.ASCII)


def escape_tags(text: str) -> str:
    r"""Return a text that holds no tag: the `_` of each tag's name is written `\u005f`.

    In the strings of JSON that means the same, so JSON text stays JSON and keeps its meaning.
    """
    return _NAME.sub(r"\1\\u005f", text)


def shown_length(text: str) -> int:
    """Return the length of a streamed text's beginning that is certain to precede its first tag.

    Args:
        text: What came so far, from any point before the first tag.
    """
    found = TAG.search(text)
    if found is not None:
        return found.start()
    start = max(0, len(text) - MAX_TAG_CHARACTERS)
    for place in range(start, len(text)):
        if text[place] in "<&" and _may_become_tag(text[place:]):
            return place
    return len(text)


def _may_become_tag(tail: str) -> bool:
    """Tell whether the end of a text may be the beginning of a tag."""
    if "&lt;".startswith(tail):
        return True
    written = "".join(tail.lower().replace("&lt;", "<", 1).split()).replace("/", "", 1)
    return any(f"<{name}".lower().startswith(written) for name in (CALL, RESULT))


# The NUL tells the mark from a text that is three points.
_LEFT_OUT = "\0..."
_LONE = re.compile("[\ud800-\udfff]")


def render_toolcall(name: str, arguments: Mapping[str, Any]) -> str:
    """Return a call as a model writes it; `find_toolcall` finds the same in it.

    Args:
        name: The tool's name.
        arguments: Its arguments, values of JSON.

    Raises:
        ValueError: The arguments are no JSON, or nested too deeply.
        TypeError: They hold what JSON has no word for.
    """
    written = {"name": name, **arguments}
    # Flat, unless that would be read as something else.
    if "name" in arguments or parts_of_call(written) != (name, dict(arguments)):
        written = {"name": name, "arguments": dict(arguments)}
    return f"<{CALL}>{_json(written)}</{CALL}>"


def render_toolresult(value: Any) -> str:
    """Render a tool result as the text that a model is sent.

    Args:
        value: What the tool returned, a value of JSON. Python's `...`, which stands in examples for
            what is left out, is written as it is.

    Raises:
        ValueError: It is no JSON, or nested too deeply.
        TypeError: It holds what JSON has no word for.
    """
    return f"<{RESULT}>{_json(value)}</{RESULT}>"


def wrap_toolresult(text: str) -> str:
    """Wrap a result that is text already, JSON or not, in its tags."""
    return f"<{RESULT}>{escape_tags(text)}</{RESULT}>"


def _json(value: Any) -> str:
    if nesting_of(value) > MAX_NESTING:
        msg = f"the value is nested deeper than {MAX_NESTING}"
        raise ValueError(msg)
    left_out: list[Any] = []

    def other(inner: Any) -> str:
        if inner is not ...:
            raise TypeError(f"JSON has no word for {type(inner).__name__}")
        left_out.append(inner)
        return _LEFT_OUT

    text = json.dumps(value, ensure_ascii=False, allow_nan=False, default=other)
    if left_out:
        text = text.replace(json.dumps(_LEFT_OUT), "...")
    # Half of a surrogate pair cannot be sent as UTF-8.
    text = _LONE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    return escape_tags(text)


MAX_QUOTED = 60
"""As many characters as a reason quotes of what was found."""

MAX_TAGS = 1_000
"""Dozens of calls in one text are real; what stands behind a thousand tags is not read."""

MAX_DOUBLED = 8

EXAMPLE = 'Write one JSON object: {"name": "TOOL", "argument": "value"}.'

_LEAD = re.compile(r"\s*+(?:```[a-zA-Z]{0,12}\s*+)?")
"""What may stand before a block's object: blanks, the beginning of a code fence."""

_TRAIL = re.compile(r"[\s}\]]*+(?:```\s*+)?")
"""What may stand after it: blanks, brackets too many, the end of a code fence."""

_THOUGHT = re.compile(r"\s*+<think(?:ing)?>", re.IGNORECASE)
_THOUGHT_ENDS = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
"""How models set off what they think before they answer; some begin it in their prompt."""

_NAMED = re.compile(r"""["']?name["']?\s{0,8}:\s{0,8}["']([\w.:/-]{1,64})["']""", re.ASCII)


class Toolcall(msgspec.Struct, frozen=True):
    """A call that a text makes.

    Args:
        name: The tool's name, as it was written.
        arguments: Its arguments.
        start: Where its block begins in the text.
        end: Where its block ends.
    """

    name: str
    arguments: dict[str, Any]
    start: int
    end: int


class MalformedToolcall(msgspec.Struct, frozen=True):
    """A block that is no call. It has no effect; the reason is for the model to mend it by.

    Args:
        reason: Where it goes wrong, what was expected there, and what to write instead; without
            tags.
        written: The block as it was written, to the end of the text.
        start: Where it begins in the text.
        name: The tool that it seems to be for, "" if that cannot be told.
        is_cut: Whether it goes wrong only because the text ends.
    """

    reason: str
    written: str
    start: int
    name: str = ""
    is_cut: bool = False


class ParsedText(msgspec.Struct, frozen=True):
    """A text that a model wrote, with its calls.

    Args:
        parts: Texts and calls in order; a malformed call is always the last.
        invented: What was cut off at the end, from a result that the model wrote itself.
    """

    parts: tuple[str | Toolcall | MalformedToolcall, ...]
    invented: str = ""

    @property
    def text(self) -> str:
        """The texts before, between and after the calls, as they were written."""
        return "".join(part for part in self.parts if isinstance(part, str))

    @property
    def calls(self) -> tuple[Toolcall | MalformedToolcall, ...]:
        """The calls, in order; a malformed one is always the last."""
        return tuple(part for part in self.parts if not isinstance(part, str))


def find_toolcall(text: str) -> Toolcall | None:
    """Return the first call of a text, or None if there is none that can be read."""
    calls = parse_toolcalls(text).calls
    return calls[0] if calls and isinstance(calls[0], Toolcall) else None


def parse_toolcalls(text: str) -> ParsedText:
    """Return the calls of a text with what stands around them; it never raises.

    What a model sets off as its thoughts is text: a call in it is one that was weighed, not made.
    A result that the model wrote itself tells of nothing that happened: it is cut off with all that
    follows. If no call stands before it, there is nothing to answer, so it counts as a malformed
    call.
    """
    at = _end_of_thoughts(text)
    parts: list[str | Toolcall | MalformedToolcall] = [text[:at]] if at else []
    count = 0
    while found := TAG.search(text, at):
        parts = _append_text(parts, text[at : found.start()])
        at, count = found.end(), count + 1
        if count > MAX_TAGS:
            parts.append(MalformedToolcall(TOO_MANY_CALLS, text[found.start() :], found.start()))
            return ParsedText(tuple(parts))
        if found["kind"].lower() == "result":
            if found["end"]:
                continue
            invented = text[found.start() :]
            if not any(isinstance(part, Toolcall) for part in parts):
                parts.append(MalformedToolcall(FORGED_RESULT, invented, found.start()))
            return ParsedText(tuple(parts), invented)
        if not found["end"]:
            call = _block(text, found)
            parts.append(call)
            if isinstance(call, MalformedToolcall):
                return ParsedText(tuple(parts))
            at = call.end
    return ParsedText(tuple(_append_text(parts, text[at:])))


def _end_of_thoughts(text: str) -> int:
    """Return where the thoughts end that a text begins with, 0 if it begins with none."""
    if _THOUGHT.match(text) is None:
        return 0
    end = _THOUGHT_ENDS.search(text)
    return end.end() if end else len(text)


def _append_text(
    parts: list[str | Toolcall | MalformedToolcall], text: str
) -> list[str | Toolcall | MalformedToolcall]:
    """Return the parts with a text behind them; if thoughts end in it, without the calls before."""
    if _THOUGHT_ENDS.search(text):
        parts = [part for part in parts if isinstance(part, str)]
    return [*parts, text] if text else parts


TOO_MANY_CALLS = f"one text may make {MAX_TAGS:,} calls; this one and what follows was not read."

FORGED_RESULT = (
    "this result was not given by a tool: results are given to you, never written by you. "
    f"Nothing was called. To call a tool, write a call and stop. {EXAMPLE}"
)


def _block(text: str, tag: re.Match[str]) -> Toolcall | MalformedToolcall:
    """Return the call of the block whose opening tag was found."""
    body = tag.end()
    for _ in range(MAX_DOUBLED):
        if doubled := _tag_after(text, body, _LEAD, end=False):
            body = doubled.end()
    body = _after(_LEAD, text, body)
    try:
        written, end = read_object(text, body)
    except NotObject as fault:
        # Second, for the object behind an escaped tag may well be plain.
        unescaped = _unescaped(text, tag, body)
        if unescaped is None:
            return _malformed(text, tag.start(), body, fault)
        written, end = unescaped
    parts = parts_of_call(written)
    if parts is None:
        nameless = NotObject(body, 'the object has no "name" that is a text')
        return _malformed(text, tag.start(), body, nameless)
    closing = _tag_after(text, end, _TRAIL, end=True)
    if closing is None:
        # Something stands between the object and the end of its block: whether it belongs to the
        # call would be a guess.
        following = TAG.search(text, end)
        if following is not None and following["end"] and following["kind"].lower() == "call":
            more = NotObject(end, "the end of the block was expected after its object")
            return _malformed(text, tag.start(), body, more)
    return Toolcall(parts[0], parts[1], tag.start(), closing.end() if closing else end)


def _tag_after(text: str, at: int, between: re.Pattern[str], *, end: bool) -> re.Match[str] | None:
    """Return the tag of a call that follows after nothing but what may stand between."""
    found = TAG.match(text, _after(between, text, at))
    if found is None or found["kind"].lower() != "call" or bool(found["end"]) is not end:
        return None
    return found


def _after(between: re.Pattern[str], text: str, at: int) -> int:
    found = between.match(text, at)
    return found.end() if found else at


def _unescaped(text: str, tag: re.Match[str], body: int) -> tuple[dict[str, Any], int] | None:
    """Return the object of a block that is HTML-escaped as a whole, and where it ends."""
    if tag["open"] == "<":
        return None
    closing = TAG.search(text, body)
    end = closing.start() if closing else len(text)
    plain = html.unescape(text[body:end]).strip()
    try:
        written, length = read_object(plain, 0)
    except NotObject:
        return None
    return (written, end) if _after(_TRAIL, plain, length) == len(plain) else None


def _malformed(text: str, start: int, body: int, fault: NotObject) -> MalformedToolcall:
    """Describe what is wrong with a block, counting lines and columns from its object."""
    at = fault.position
    line = text.count("\n", body, at) + 1
    # In the first line there is no line break to find, and the column counts from the object.
    column = at - max(text.rfind("\n", body, at) + 1, body) + 1
    found = TAG.split(text[at : at + MAX_QUOTED].split("\n", 1)[0], 1)[0].strip()
    nearby = f"found: {found}" if found else "the text ends" if at >= len(text) else "the line ends"
    named = _NAMED.search(text, body, body + 400)
    reason = f"in line {line}, column {column} of the block {fault.reason}; {nearby}. {EXAMPLE}"
    return MalformedToolcall(
        reason, text[start:], start, name=named[1] if named else "", is_cut=fault.is_cut
    )

"""Text blocks of the page: short ones whole, long ones begun, with the rest a click away.

JSON text is laid out for reading. Only white space is changed: numbers, escapes and the order of
keys stay as they were written, since a page that is read as evidence must not show another value
than was sent. What fits on a line stays on one.
"""

import re

import msgspec

from kbd.core.audit.page.figures import count
from kbd.core.audit.page.markup import Html, element, joined, text

__all__ = ["format_json", "note", "render_block", "render_data"]

MAX_COLUMNS = 80
"""Columns that a value may take on its line."""

MAX_DEPTH = 40
"""Levels that are broken into lines; what lies deeper stays on one."""

# What well-formed JSON is made of.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"]+')

_ESCAPE = re.compile(r"\\.")

_ENDS = {"{": "}", "[": "]"}


class _Group(msgspec.Struct):
    """An array or object: its bracket, and its members as lists of tokens and groups."""

    bracket: str
    members: list[list["str | _Group"]]
    width: int = 2


def format_json(text: str) -> str:
    """Return JSON text in lines; any other text, or a mere string, as it is."""
    begun = text.lstrip()[:1]
    if begun not in _ENDS:
        return text
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return text
    lines: list[str] = []
    _write_value(_parse_json(text), lines, "", "", "", 0)
    return "\n".join(lines)


def _parse_json(text: str) -> _Group:
    """Return well-formed JSON, which is an array or object, as a tree of its tokens."""
    top = _Group("", [[]])
    open_groups = [top]
    for token in _TOKEN.findall(text):
        group = open_groups[-1]
        match token:
            case "{" | "[":
                open_groups.append(_Group(token, [[]]))
            case "}" | "]":
                open_groups.pop()
                outer = open_groups[-1]
                outer.members[-1].append(group)
                outer.width += group.width
            case ",":
                group.members.append([])
                group.width += 2
            case _:
                group.members[-1].append(token)
                group.width += len(token) + (token == ":")
    found = top.members[0][0]
    assert isinstance(found, _Group)  # well-formed, and begun with a bracket
    return found


def _write_value(
    value: "str | _Group", lines: list[str], indent: str, before: str, after: str, depth: int
) -> None:
    """Add the lines of a value; `before` and `after` stand on its first and last one."""
    if isinstance(value, str):
        lines.append(f"{indent}{before}{_break_string(value, indent)}{after}")
        return
    room = MAX_COLUMNS - len(indent) - len(before) - len(after)
    if value.width <= room or depth >= MAX_DEPTH or value.members == [[]]:
        lines.append(f"{indent}{before}{_format_inline(value)}{after}")
        return
    lines.append(f"{indent}{before}{value.bracket}")
    last = len(value.members) - 1
    for at, member in enumerate(value.members):
        key = f"{member[0]}: " if len(member) == 3 else ""
        comma = "" if at == last else ","
        _write_value(member[-1], lines, indent + "  ", key, comma, depth + 1)
    lines.append(f"{indent}{_ENDS[value.bracket]}{after}")


def _format_inline(value: "str | _Group") -> str:
    """Return a value without line breaks, however deep it is."""
    written: list[str] = []
    todo: list[str | _Group] = [value]
    while todo:
        part = todo.pop()
        if isinstance(part, str):
            written.append(f"{part} " if part in {":", ","} else part)
            continue
        written.append(part.bracket)
        todo.append(_ENDS[part.bracket])
        for at, member in reversed(list(enumerate(part.members))):
            todo.extend(reversed(member))
            if at:
                todo.append(",")
    return "".join(written)


def _break_string(token: str, indent: str) -> str:
    """Return a token; if it is a long string, with a line break behind each that it spells."""
    if len(token) + len(indent) <= MAX_COLUMNS:
        return token
    return _ESCAPE.sub(lambda found: found[0] + (f"\n{indent}  " * (found[0] == r"\n")), token)


MAX_TEXT_CHARACTERS = 64 * 1024
"""How much of one text the page holds; the log has all of it."""

PREVIEW_LINES = 24
PREVIEW_CHARACTERS = 3000
"""What is shown of a long text at once."""

PREVIEW_SLACK = 1.3
"""A text that is only so much longer is shown whole: the rest would not be worth a click."""


def render_data(words: str | None, keeper: str) -> Html:
    """Render arguments or a result, JSON laid out for reading; None if the page does not hold it.

    Args:
        words: The text.
        keeper: Where the log has it: "blob …".
    """
    if words is None:
        return note(f"Not in this page: the log keeps it in {keeper}.")
    return render_block(format_json(words), "json")


def render_block(words: str, kind: str = "words", begun_lines: int = PREVIEW_LINES) -> Html:
    """Render a text as it is, in its lines: so many at once if it is long."""
    shown = words[:MAX_TEXT_CHARACTERS]
    begun, rest = _split_text(shown, begun_lines)
    parts = [_render_pre(begun, kind)]
    if rest:
        lines = rest.count("\n") + 1
        more = count(lines, "more line") if lines > 1 else count(len(rest), "more character")
        summary = element("summary", {}, text(f"Show all: {more}"))
        parts.append(element("details", {"class": "rest"}, summary, _render_pre(rest, kind)))
    if len(shown) < len(words):
        parts.append(note("Cut here; the log has all of it."))
    return joined(parts)


def note(words: str) -> Html:
    """Return a note about what is shown."""
    return element("p", {"class": "note"}, text(words))


def _render_pre(words: str, kind: str) -> Html:
    # A browser drops a line feed that comes first in such an element.
    begun = "\n" if words.startswith("\n") else ""
    return element("pre", {"class": kind, "dir": "auto"}, text(begun + words))


def _split_text(words: str, begun_lines: int) -> tuple[str, str]:
    """Return what is shown of a text at once, and what is left."""
    lines = words.split("\n", int(begun_lines * PREVIEW_SLACK))
    long = len(lines) > begun_lines * PREVIEW_SLACK
    if not long and len(words) <= PREVIEW_CHARACTERS * PREVIEW_SLACK:
        return words, ""
    begun = "\n".join(lines[:begun_lines])
    if len(begun) > PREVIEW_CHARACTERS:
        begun = begun[:PREVIEW_CHARACTERS]
        at = begun.rfind("\n") if begun.rfind("\n") > PREVIEW_CHARACTERS // 2 else len(begun)
        begun = begun[:at]
    return begun, words[len(begun) :].removeprefix("\n")

"""JSON text laid out for reading, its every character as it was written.

Only white space is changed: numbers, escapes and the order of keys stay, since a page that is read
as evidence must not show another value than was sent. What fits on a line stays on one.
"""

import re

import msgspec

__all__ = ["laid_out"]

WIDTH = 80
"""Columns that a value may take on its line."""

DEEPEST = 40
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


def laid_out(text: str) -> str:
    """Return JSON text in lines; any other text, or a mere string, as it is."""
    begun = text.lstrip()[:1]
    if begun not in _ENDS:
        return text
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return text
    lines: list[str] = []
    _write(_parsed(text), lines, "", "", "", 0)
    return "\n".join(lines)


def _parsed(text: str) -> _Group:
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


def _write(
    value: "str | _Group", lines: list[str], indent: str, before: str, after: str, depth: int
) -> None:
    """Add the lines of a value; `before` and `after` stand on its first and last one."""
    if isinstance(value, str):
        lines.append(f"{indent}{before}{_broken(value, indent)}{after}")
        return
    room = WIDTH - len(indent) - len(before) - len(after)
    if value.width <= room or depth >= DEEPEST or value.members == [[]]:
        lines.append(f"{indent}{before}{_on_one_line(value)}{after}")
        return
    lines.append(f"{indent}{before}{value.bracket}")
    last = len(value.members) - 1
    for at, member in enumerate(value.members):
        key = f"{member[0]}: " if len(member) == 3 else ""
        comma = "" if at == last else ","
        _write(member[-1], lines, indent + "  ", key, comma, depth + 1)
    lines.append(f"{indent}{_ENDS[value.bracket]}{after}")


def _on_one_line(value: "str | _Group") -> str:
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


def _broken(token: str, indent: str) -> str:
    """Return a token; if it is a long string, with a line break behind each that it spells."""
    if len(token) + len(indent) <= WIDTH:
        return token
    return _ESCAPE.sub(lambda found: found[0] + (f"\n{indent}  " * (found[0] == r"\n")), token)

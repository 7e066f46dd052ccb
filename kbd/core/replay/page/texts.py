"""Texts on the page: short ones whole, long ones begun, with the rest a click away."""

from kbd.core.replay.page.figures import count
from kbd.core.replay.page.jsontext import laid_out
from kbd.core.replay.page.markup import Html, element, joined, text

__all__ = ["block", "data", "note"]

TEXT_LIMIT_CHARACTERS = 64 * 1024
"""How much of one text the page holds; the log has all of it."""

BEGUN_LINES = 24
BEGUN_CHARACTERS = 3000
"""What is shown of a long text at once."""

SLACK = 1.3
"""A text that is only so much longer is shown whole: the rest would not be worth a click."""


def data(words: str | None, keeper: str) -> Html:
    """Show arguments or a result, JSON laid out for reading; None if the page does not hold it.

    Args:
        words: The text.
        keeper: Where the log has it: "blob …".
    """
    if words is None:
        return note(f"Not in this page: the log keeps it in {keeper}.")
    return block(laid_out(words), "json")


def block(words: str, kind: str = "words", begun_lines: int = BEGUN_LINES) -> Html:
    """Show a text as it is, in its lines: so many at once if it is long."""
    shown = words[:TEXT_LIMIT_CHARACTERS]
    begun, rest = _parted(shown, begun_lines)
    parts = [_pre(begun, kind)]
    if rest:
        lines = rest.count("\n") + 1
        more = count(lines, "more line") if lines > 1 else count(len(rest), "more character")
        summary = element("summary", {}, text(f"Show all: {more}"))
        parts.append(element("details", {"class": "rest"}, summary, _pre(rest, kind)))
    if len(shown) < len(words):
        parts.append(note("Cut here; the log has all of it."))
    return joined(parts)


def note(words: str) -> Html:
    """Say something about what is shown."""
    return element("p", {"class": "note"}, text(words))


def _pre(words: str, kind: str) -> Html:
    # A browser drops a line feed that comes first in such an element.
    begun = "\n" if words.startswith("\n") else ""
    return element("pre", {"class": kind, "dir": "auto"}, text(begun + words))


def _parted(words: str, begun_lines: int) -> tuple[str, str]:
    """Return what is shown of a text at once, and what is left."""
    lines = words.split("\n", int(begun_lines * SLACK))
    long = len(lines) > begun_lines * SLACK
    if not long and len(words) <= BEGUN_CHARACTERS * SLACK:
        return words, ""
    begun = "\n".join(lines[:begun_lines])
    if len(begun) > BEGUN_CHARACTERS:
        begun = begun[:BEGUN_CHARACTERS]
        at = begun.rfind("\n") if begun.rfind("\n") > BEGUN_CHARACTERS // 2 else len(begun)
        begun = begun[:at]
    return begun, words[len(begun) :].removeprefix("\n")

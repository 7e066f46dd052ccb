"""What an edit writes into a cell, and the XML of a cell."""

from collections.abc import Callable, Mapping
from typing import Any, Literal, assert_never

import msgspec

__all__ = ["BLANK", "CellEdit", "Content", "Restyle", "cell_xml", "escaped", "inner_xml"]

ContentKind = Literal["blank", "number", "text", "boolean", "formula"]


class Content(msgspec.Struct, frozen=True):
    """What a cell holds after an edit.

    Args:
        kind: What it is.
        text: A number as it is stored ("12.5"); a boolean as "1" or "0"; a formula without its
            "="; a text with the format's own escapes (_x005F_, _x0007_) done. Not XML-escaped.
        show: What a number stands for: "" for itself, "date", "datetime" or "time".
    """

    kind: ContentKind
    text: str = ""
    show: str = ""


class CellEdit(msgspec.Struct, frozen=True):
    """A change of one cell.

    Args:
        content: What it holds from now on; None keeps what it holds.
        looks: Style objects of operations, applied in order.
        forget: Drop the stored result of a formula; the formula stays.
    """

    content: Content | None = None
    looks: tuple[Mapping[str, Any], ...] = ()
    forget: bool = False


Restyle = Callable[[int, CellEdit], int]
"""Returns the style index of an edited cell from the index that it has, or would inherit.

It is asked only for edits with looks, or whose content is shown as a date or time.
"""

BLANK = Content("blank")


def cell_xml(prefix: str, place: str, style: int, content: Content) -> str:
    """Return a whole new cell, text inline; "" for a blank one without a style.

    Args:
        prefix: The prefix of the part's names: "" or "x:".
        place: Its name, as B3.
        style: Its style index.
        content: What it holds.
    """
    look = f' s="{style}"' if style else ""
    match content.kind:
        case "number":
            return f'<{prefix}c r="{place}"{look}><{prefix}v>{content.text}</{prefix}v></{prefix}c>'
        case "text":
            word = ' t="inlineStr"'
        case "formula":
            word = ""
        case "boolean":
            word = ' t="b"'
        case "blank":
            return f'<{prefix}c r="{place}"{look}/>' if style else ""
        case other:
            assert_never(other)
    inner = inner_xml(prefix, content)
    return f'<{prefix}c r="{place}"{look}{word}>{inner}</{prefix}c>'


def inner_xml(prefix: str, content: Content) -> str:
    """Return what stands inside a cell that holds something."""
    match content.kind:
        case "text":
            text = content.text
            # Without the mark readers may drop blanks at the ends.
            kept = "" if text == text.strip() else ' xml:space="preserve"'
            return f"<{prefix}is><{prefix}t{kept}>{escaped(text)}</{prefix}t></{prefix}is>"
        case "number" | "boolean":
            return f"<{prefix}v>{content.text}</{prefix}v>"
        case "formula":
            return f"<{prefix}f>{escaped(content.text)}</{prefix}f>"
        case "blank":
            return ""
        case other:
            assert_never(other)


def escaped(text: str) -> str:
    """Return a text as XML; a carriage return as a reference, as parsers change a bare one."""
    if "&" in text or "<" in text or ">" in text:
        text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.replace("\r", "&#13;") if "\r" in text else text

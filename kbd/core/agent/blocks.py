r"""Delimited blocks of a prompt: texts of different origin in one message, kept apart. Pure.

A text block is `<name attributes>`, the text, `</name>`, each on lines of its own. No text can open
or close a block: a `<` that begins a delimiter of any block becomes `<\`. A JSON block has a fence
within, and in its JSON `<` and the backtick are written as escapes, so that neither the fence nor
the block can be closed by a name or a content, whatever is in them.
"""

import re
from typing import Any

import msgspec

__all__ = ["NAMES", "block", "json_block", "json_text"]

NAMES = (
    "request", "earlier_messages", "context", "style", "research", "plan", "item", "failure",
    "files", "results", "changes",
)  # fmt: skip
"""Every block that a message of kbd's can hold."""

# What nobody sees, and what a model could read past between `<`, `/` and the name.
_UNSEEN = r"\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff"
_DELIMITER = re.compile(
    rf"<(?=(?:[{_UNSEEN}]*|[\s{_UNSEEN}]*/[\s{_UNSEEN}]*)(?:{'|'.join(NAMES)})(?:\W|$))",
    re.IGNORECASE,
)


def block(name: str, text: str, attributes: str = "") -> str:
    """Render a text as a block; "" for no text.

    Args:
        name: One of `NAMES`.
        text: Anything.
        attributes: ` key="value"` after the name; of kbd's own making.
    """
    text = _DELIMITER.sub(r"<\\", text.strip())
    return f"<{name}{attributes}>\n{text}\n</{name}>" if text else ""


def json_block(name: str, value: Any) -> str:
    """Render a value as a fenced JSON block; `msgspec.Raw` in it stands as it is."""
    return f"<{name}>\n```json\n{json_text(value)}\n```\n</{name}>"


def json_text(value: Any) -> str:
    """Write a value as JSON on one line, without `<` and backticks."""
    text = msgspec.json.encode(value).decode()
    return text.replace("<", "\\u003c").replace("`", "\\u0060")

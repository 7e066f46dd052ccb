"""Plain text: text, markdown, json, code.

`handler` declares the format and what it claims, `text_map` maps and reads, and tells where a text
is JSON or rows, `json_tables` reads lists of records as tables (`json_arrays`, where they are
arrays), `active_content` finds what of a page or of markup runs or fetches, `comparison` compares
two versions line by line.
"""

from collections.abc import Sequence

from kbd import hookimpl
from kbd.formats import FormatHandler
from kbd_text.handler import TextFormat

__all__ = ["TextFormat", "kbd_register_formats"]


@hookimpl
def kbd_register_formats() -> Sequence[FormatHandler]:
    """Offer the format of plain text."""
    return (TextFormat(),)

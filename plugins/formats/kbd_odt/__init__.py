"""Text documents of LibreOffice and its relatives: mapped and read; never written.

`handler` declares the format; `packages` opens a file of it, zipped or flat; `document`
reads it once and gathers what it holds, section by section.
`text_renderer` renders paragraphs and tables, with `styles` for what is hidden and how lists are
labeled, `looks` for what is not seen, and `pages` for what pages are painted with. `reader` answers
with the map and with text, `comparison` with what differs between two versions, `active_content`
with what a text runs, fetches or has embedded.
"""

from collections.abc import Sequence

from kbd import hookimpl
from kbd.formats import FormatHandler
from kbd_odt.handler import OdtFormat

__all__ = ["OdtFormat", "kbd_register_formats"]


@hookimpl
def kbd_register_formats() -> Sequence[FormatHandler]:
    """Offer the format."""
    return (OdtFormat(),)

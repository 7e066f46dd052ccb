"""Text documents of LibreOffice and its relatives: mapped and read; never written.

`handler` declares the format; `packages` opens a file of it, zipped or flat; `document`
reads it once and gathers what it holds, section by section.
Paragraphs and tables are rendered as in all such files (`kbd.office.open_text`).
`reader` answers with the map and with text, `comparison` with what differs between two versions.
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

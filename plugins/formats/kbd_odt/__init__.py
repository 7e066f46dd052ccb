"""Text documents of LibreOffice and its relatives: mapped and read; never written.

`handler` declares the format; `packages` opens a file of it, zipped or flat, `body` looks through
it once and gathers what it holds (`document`), section by section (`sections`). `stories` renders
paragraphs, with `styles` for what is hidden, `lists` for labels and `tables` for cells; `names` are
those of the elements. `mapping` and `reading` answer, with `noticing` for what is not shown.
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

"""Text documents of LibreOffice and its relatives: mapped and read; never written.

`handler` declares the format.
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

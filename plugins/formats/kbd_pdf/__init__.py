"""PDF files: mapped, read and shown; never written.

`handler` declares the format.
"""

from collections.abc import Sequence

from kbd import hookimpl
from kbd.formats import FormatHandler
from kbd_pdf.handler import PdfFormat

__all__ = ["PdfFormat", "kbd_register_formats"]


@hookimpl
def kbd_register_formats() -> Sequence[FormatHandler]:
    """Offer the format."""
    return (PdfFormat(),)

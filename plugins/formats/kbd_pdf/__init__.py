"""PDF files: mapped, read and shown; never written.

`handler` declares the format. `streams` guards the file before a library sees it, `opening` opens
it with pdfium, and with pypdf where that fails. `numbers` understands "2,7-9". `pages` is the text
of a page, `notes` what is written on it beside that, `unseen` what people cannot see of it;
`reading` puts them together. `outline` is the table of contents, `structure` forms, annotations
and the like, `actions` what the file would do; `mapping` is the map, of which `kept` remembers what
was dear. `previews` draws a page.
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

"""PDF files: mapped, read, shown, compared, and made anew from what others have.

`handler` declares the format. `streams` measures the file before a library sees it, `forms` what
pages paint by drawing forms over and over, `masks` what only drawing costs; both see the file by
`objects`. `documents` opens the file with pdfium, and with pypdf where that fails. `pages` is the
text of a page, what people cannot see of it, and numbers like "2,7-9"; `reader` puts them together
with the notes. `structure` is forms, annotations and what the file would do, `file_map` the map
with the table of contents. `previews` draws a page, `layout` finds tables and where words stand.
`comparison` tells two versions of a file apart. `form_fields` finds the fields of a form,
`active_content` what a file would do; `making` makes new files, `print_identity` has printed ones
be the same each time.
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

"""Documents of Word and its relatives: mapped, read, compared, edited without a loss.

`handler` declares the format. What it does:

    document    a document as XML: names of elements, how it is opened, its parts, its blocks
    operations  the operations that an edit is made of
    reader      mapping and reading
    edits       applies operations
    revisions   tracked changes, written and settled
    stretches   operations in order: edits, and other documents appended
    active_content
                what of it runs or fetches
    receipt     facts for receipts; `receipt_check` finds them again, sharing no code
    comparison  what differs between two versions
    comment_threads
                which comments are resolved, and which are replies
    content_controls
                what kind of content control one is, and what it shows
    ignorable   names of newer programs, listed for older ones
    relocation  carries operations over from one version to another
    styles      the formatting of a document, in words
    assets      what of it another one can take
"""

from collections.abc import Sequence

from kbd import hookimpl
from kbd.formats import FormatHandler
from kbd_docx.handler import DocxFormat

__all__ = ["DocxFormat", "kbd_register_formats"]


@hookimpl
def kbd_register_formats() -> Sequence[FormatHandler]:
    """Offer the format."""
    return (DocxFormat(),)

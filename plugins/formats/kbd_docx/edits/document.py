"""A document while it is edited."""

import msgspec
from docx.document import Document
from lxml import etree

from kbd.office.warnings import EditWarnings
from kbd_docx.edits.body import Body
from kbd_docx.edits.removal import drop_relations
from kbd_docx.edits.stories import Stories
from kbd_docx.edits.styles import Styles
from kbd_docx.edits.writing import Writer
from kbd_docx.operations import ReplaceText

__all__ = ["DocumentEdit"]


class DocumentEdit:
    """What operations work on.

    Args:
        document: The document, as the library has it.
        is_strict: Whether its file is of the strict variant.

    Attributes:
        body: Its paragraphs and tables.
        stories: All its text, for replacing.
        writer: Makes paragraphs and tables.
        notices: What the reader must know.
        forsaken: The ids of relations that were named in what is gone.
    """

    def __init__(self, document: Document, *, is_strict: bool) -> None:
        self.document = document
        self.notices = EditWarnings()
        self.forsaken: set[str] = set()
        self.body = Body(document.element.body)
        self.stories = Stories(document, self.notices)
        styles = Styles(document, is_strict=is_strict, warn=self.notices.warn)
        self.writer = Writer(styles, is_strict=is_strict, warn=self.notices.warn)

    def tell_field(self, block: etree._Element) -> None:
        """Warn if a new block stands where programs will overwrite it."""
        if self.body.is_in_field(block):
            self.notices.warn(
                "What was added stands inside a field, such as a table of contents, and goes when "
                "a program computes that anew; choose a place before or behind it."
            )

    def prepare(self, operation: msgspec.Struct) -> None:
        """Make ready for an operation: what was gathered of the body for replacing is old."""
        if not isinstance(operation, ReplaceText):
            self.stories.forget_body()

    def finish(self) -> None:
        """Leave the document whole, after the last operation."""
        self.body.finish()
        drop_relations(self.document, self.forsaken)

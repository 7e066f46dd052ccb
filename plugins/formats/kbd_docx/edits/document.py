"""A document while it is edited.

Paragraphs and tables made as operations describe them.
"""

from collections.abc import Callable, Sequence

import msgspec
from docx.document import Document
from docx.oxml.parser import OxmlElement
from docx.oxml.table import CT_Tbl
from docx.oxml.text.paragraph import CT_P
from docx.shared import Inches, Length, Pt, RGBColor
from docx.text.font import Font
from docx.text.parfmt import ParagraphFormat
from lxml import etree

from kbd.errors import ValidationFailed
from kbd.office.operations import EditWarnings
from kbd_docx.blocks import W
from kbd_docx.edits.body import Body
from kbd_docx.edits.formatting import (
    DocxParagraphFormatting,
    DocxRunFormatting,
    read_paragraph,
    read_text_runs,
)
from kbd_docx.edits.removal import drop_relations
from kbd_docx.edits.stories import Stories
from kbd_docx.edits.styles import DocxStyles
from kbd_docx.edits.texts import clean, shown, text_nodes
from kbd_docx.edits.variants import respell
from kbd_docx.operations import Cell, ParagraphFields, ReplaceText

__all__ = ["DocumentEdit", "Writer"]

_RUN = f"{W}r"
_PLAIN, _UNTOLD = DocxRunFormatting(), DocxParagraphFormatting()


class Writer:
    """Makes elements for one document.

    Args:
        styles: Its styles.
        is_strict: Whether it is of the strict variant.
        warn: Gets what the reader must know.
    """

    def __init__(self, styles: DocxStyles, *, is_strict: bool, warn: Callable[[str], None]) -> None:
        self._styles, self._is_strict, self._warn = styles, is_strict, warn

    def paragraph(self, given: ParagraphFields) -> CT_P:
        """Return a paragraph; what is wrong in its formatting is skipped and told.

        Raises:
            ValidationFailed: It has text and runs, or a run has no text.
        """
        if given.text is not None and given.runs is not None:
            raise ValidationFailed("A paragraph has text or runs, not both; give one of them.")
        made: CT_P = OxmlElement("w:p")  # type: ignore[assignment] # it is one by its name
        style = self._styles.paragraph(given.style)
        if style is not None:
            made.style = style
        self._format(made, read_paragraph(given, self._warn))
        if given.text:
            self.write(etree.SubElement(made, _RUN), given.text)
        for text, formatting in read_text_runs(given.runs or (), self._warn):
            run = etree.SubElement(made, _RUN)
            if formatting != _PLAIN:
                _format_run(Font(run), formatting)  # type: ignore[arg-type] # it is one by its name
            self.write(run, text)
        return made

    def table(self, rows: Sequence[Sequence[Cell]], style: str | None, width: Length) -> CT_Tbl:
        """Return a table; rows that are too short are filled up with cells without text."""
        columns = max((len(row) for row in rows), default=0)
        if not columns:
            raise ValidationFailed("A table needs a cell; rows is a list of lists of texts.")
        if any(len(row) != columns for row in rows):
            self._warn(f"Not all rows had {columns} cells; short ones got cells without text.")
        made = CT_Tbl.new_tbl(len(rows), columns, width)
        made.tblStyle_val = self._styles.table(style)
        for element, row in zip(made.tr_lst, rows, strict=True):
            for cell, value in zip(element.tc_lst, row, strict=False):
                if text := shown(value):
                    self.write(etree.SubElement(cell.p_lst[0], _RUN), text)
        if self._is_strict:
            respell(made, is_strict=True)
        return made

    def write(self, run: etree._Element, text: str) -> None:
        """Put a text at the end of a run."""
        for node in text_nodes(clean(text, self._warn)):
            run.append(node)

    def _format(self, paragraph: CT_P, formatting: DocxParagraphFormatting) -> None:
        if formatting == _UNTOLD:
            return
        found = ParagraphFormat(paragraph)
        found.alignment, found.line_spacing = formatting.alignment, formatting.line_spacing
        found.space_before = _points(formatting.space_before)
        found.space_after = _points(formatting.space_after)
        found.left_indent = _inches(formatting.indent_left)
        found.right_indent = _inches(formatting.indent_right)
        found.first_line_indent = _inches(formatting.indent_first_line)
        if self._is_strict:
            respell(paragraph, is_strict=True)


def _format_run(font: Font, formatting: DocxRunFormatting) -> None:
    if formatting.font_name is not None:
        font.name = formatting.font_name
    if formatting.font_size is not None:
        # Files hold half points.
        font.size = Pt(round(formatting.font_size * 2) / 2)
    if formatting.bold is not None:
        font.bold = formatting.bold
    if formatting.italic is not None:
        font.italic = formatting.italic
    if formatting.underline is not None:
        font.underline = formatting.underline
    if formatting.font_color is not None:
        font.color.rgb = RGBColor.from_string(formatting.font_color)
    if formatting.highlight_color is not None:
        font.highlight_color = formatting.highlight_color


def _points(value: float | None) -> Length | None:
    return None if value is None else Pt(value)


def _inches(value: float | None) -> Length | None:
    return None if value is None else Inches(value)


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
        styles = DocxStyles(document, is_strict=is_strict, warn=self.notices.warn)
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

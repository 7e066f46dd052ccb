"""Document being edited: its body, paragraphs and tables made for it, and what was warned of.

Paragraphs are counted from 1, tables from 0, as the map counts them.
"""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy

import msgspec
from docx.document import Document
from docx.opc.part import Part
from docx.oxml.parser import OxmlElement
from docx.oxml.table import CT_Tbl
from docx.oxml.text.paragraph import CT_P
from docx.shared import Length
from lxml import etree

from kbd.errors import ValidationFailed
from kbd.formats import Source
from kbd.office.operations import EditWarnings
from kbd_docx.document import MC, PARAGRAPH, SECTION, TABLE, W, blocks
from kbd_docx.edits.formatting import DocxStyles, read_paragraph, read_text_runs
from kbd_docx.edits.library_parts import LibraryParts
from kbd_docx.edits.likeness import alike_paragraph, run_properties
from kbd_docx.edits.lists import ListWriter
from kbd_docx.edits.looks import format_paragraph, format_run, put_style
from kbd_docx.edits.removal import drop_relations, named_relations, paragraph_texts
from kbd_docx.edits.replacement import Stories
from kbd_docx.edits.texts import apply_variant, cell_text, clean_text, text_nodes
from kbd_docx.operations import Cell, ParagraphFields, ReplaceText, Runs
from kbd_docx.revisions.tracker import Tracker

__all__ = ["Body", "DocumentEdit", "Writer"]


_FIELD = f"{W}fldChar"
_ALTERNATIVES = f"{MC}AlternateContent"


class Body:
    """The paragraphs and tables of a body, counted as the map counts them.

    Args:
        element: The body.

    Attributes:
        blocks: Its paragraphs and tables in order.
        paragraphs: Its paragraphs; the first one is number 1.
        tables: Its tables; the first one has index 0.
        section: The settings of the last section, None if there are none.
    """

    def __init__(self, element: etree._Element) -> None:
        self.element = element
        self.blocks: list[etree._Element] = []
        self.paragraphs: list[etree._Element] = []
        self.tables: list[etree._Element] = []
        self.section: etree._Element | None = None
        self.count()
        self._last_at_start = self._last_block()
        # Looked up once; an operation that makes a field says so.
        self._has_fields = next(element.iter(_FIELD), None) is not None

    def count(self) -> None:
        """Recount paragraphs and tables after a change."""
        self.blocks = list(blocks(self.element))
        self.paragraphs = [block for block in self.blocks if block.tag == PARAGRAPH]
        self.tables = [block for block in self.blocks if block.tag == TABLE]
        self.section = next(self.element.iterchildren(SECTION, reversed=True), None)

    def paragraph(self, number: int) -> etree._Element:
        """Return a paragraph by its number from 1; raises ValidationFailed."""
        if not 1 <= number <= len(self.paragraphs):
            raise ValidationFailed(f"there is no paragraph {number}; {self._count_text()}")
        return self.paragraphs[number - 1]

    def table(self, index: int) -> etree._Element:
        """Return a table by its index from 0; raises ValidationFailed."""
        if index >= len(self.tables):
            count = len(self.tables)
            there = f"there are {count}, counted from 0" if count else "the body has none"
            raise ValidationFailed(f"there is no table {index}; {there}")
        return self.tables[index]

    def append(self, block: etree._Element) -> None:
        """Append a block, before the settings of the last section."""
        # The schema has the last section's settings as the body's last child (ECMA-376, CT_Body).
        section = self.section
        if section is not None and _neighbor(section, before=False) is None:
            section.addprevious(block)
        else:
            self.element.append(block)
        self.blocks.append(block)
        (self.paragraphs if block.tag == PARAGRAPH else self.tables).append(block)

    def insert(self, number: int, paragraph: etree._Element) -> None:
        """Insert a paragraph so that it has a number.

        Raises:
            ValidationFailed: There are not so many, or it cannot stand there.
        """
        if number == len(self.paragraphs) + 1:
            self.append(paragraph)
            return
        if number > len(self.paragraphs):
            raise ValidationFailed(
                f"paragraph {number} cannot be inserted; {self._count_text()}, so that the last "
                f"place is {len(self.paragraphs) + 1}"
            )
        behind = self.paragraph(number)
        _outermost(behind, self.element, is_first=True).addprevious(paragraph)
        # Counted on by hand: `count` reads the whole body, and a call may insert many paragraphs.
        self.blocks.insert(self.blocks.index(behind), paragraph)
        self.paragraphs.insert(number - 1, paragraph)

    def with_neighbors(self, first: int, last: int) -> list[etree._Element]:
        """Return paragraphs with the tables between, and one block before and behind if any."""
        start = self.blocks.index(self.paragraph(first))
        end = self.blocks.index(self.paragraph(last), start)
        return self.blocks[max(start - 1, 0) : end + 2]

    def discard(self, first: int, last: int) -> None:
        """Remove paragraphs from the count, after they were removed from the body."""
        gone = set(self.paragraphs[first - 1 : last])
        self.blocks = [block for block in self.blocks if block not in gone]
        del self.paragraphs[first - 1 : last]

    def insert_table(self, after: int | None, table: etree._Element) -> int:
        """Insert a table behind a paragraph, at the beginning (0) or at the end (None).

        A paragraph without text keeps it apart from another table. Returns the table's index.

        Raises:
            ValidationFailed: There is no such paragraph, or a table cannot stand there.
        """
        if after is None:
            last = self._last_block()
            if last is not None and last.tag == TABLE:
                self.append(OxmlElement("w:p"))
            self.append(table)
        else:
            self._insert_after(after, table)
            # Programs show two tables that touch as one.
            if (next_ := _neighbor(table, before=False)) is not None and next_.tag == TABLE:
                table.addnext(OxmlElement("w:p"))
            self.count()
        return self.tables.index(table)

    def is_in_field(self, block: etree._Element) -> bool:
        """Tell whether a block stands in a field's result, which goes when it is computed anew."""
        depth = 0
        # A field begins and ends with marks in runs, and may go on over several blocks.
        for each in self.element.iter(_FIELD, block.tag) if self._has_fields else ():
            if each is block:
                return depth > 0
            depth += {"begin": 1, "end": -1}.get(each.get(f"{W}fldCharType", ""), 0)
        return False

    def note_field(self) -> None:
        """Note that there is a field now."""
        self._has_fields = True

    def finish(self) -> None:
        """Append a paragraph if an edit has put a table last."""
        last = self._last_block()
        # A body that ended in a table before the edit is left as it was.
        if last is not None and last.tag == TABLE and last is not self._last_at_start:
            self.append(OxmlElement("w:p"))

    def _insert_after(self, after: int, table: etree._Element) -> None:
        if after:
            _outermost(self.paragraph(after), self.element, is_first=False).addnext(table)
            return
        if not self.blocks:
            self.append(table)
        else:
            _outermost(self.blocks[0], self.element, is_first=True).addprevious(table)

    def _last_block(self) -> etree._Element | None:
        return self.blocks[-1] if self.blocks else None

    def _count_text(self) -> str:
        count = len(self.paragraphs)
        return f"the body has {count} paragraph{'' if count == 1 else 's'}, counted from 1"


def _outermost(block: etree._Element, body: etree._Element, *, is_first: bool) -> etree._Element:
    """Return the content control that a block begins or ends, the outermost one, or the block.

    What is put beside it stands outside; a control, such as one of a table of contents, is not
    made to hold what does not belong there.

    Raises:
        ValidationFailed: It stands among alternatives, which would not be the same any more.
    """
    found = block
    while (parent := found.getparent()) is not None and parent is not body:
        if _neighbor(found, before=is_first) is not None:
            break
        found = parent
    if any(each.tag == _ALTERNATIVES for each in found.iterancestors()):
        raise ValidationFailed(
            "nothing can be put there: that paragraph is one of several alternatives that programs "
            "choose from; choose another place"
        )
    return found


def _neighbor(element: etree._Element, *, before: bool) -> etree._Element | None:
    """Return the next element with some content before or behind another one, in its parent."""
    for found in element.itersiblings(preceding=before):
        if found.tag in (PARAGRAPH, TABLE) or next(blocks(found), None) is not None:
            return found
    return None


_RUN = f"{W}r"


class Writer:
    """Writer of paragraphs and tables for one document.

    Args:
        styles: Its styles.
        is_strict: Whether it is of the strict variant.
        warn: Gets what the reader must know.

    Attributes:
        is_strict: The same.
    """

    def __init__(self, styles: DocxStyles, *, is_strict: bool, warn: Callable[[str], None]) -> None:
        self._styles, self.is_strict, self._warn = styles, is_strict, warn

    def paragraph(self, given: ParagraphFields, like: etree._Element | None = None) -> CT_P:
        """Return a new paragraph; invalid formatting is skipped with a warning.

        Args:
            given: What it holds, and how it looks.
            like: What it looks like, but for what is given.

        Raises:
            ValidationFailed: It has text and runs, a run has no text, or there is no such style.
        """
        made = alike_paragraph(like)
        base = run_properties(like) if like is not None else None
        style = self._styles.paragraph(given.style)
        if given.style and given.style.strip():
            put_style(made, style or "")
        format_paragraph(made, read_paragraph(given, self._warn), is_strict=self.is_strict)
        self.fill(made, given.text, given.runs, base)
        return made  # type: ignore[return-value] # it is one by its name

    def fill(
        self,
        paragraph: etree._Element,
        text: str | None,
        runs: Runs,
        base: etree._Element | None = None,
    ) -> None:
        """Append text or runs to a paragraph.

        Args:
            paragraph: The paragraph.
            text: A text that looks alike.
            runs: In its place, parts that look different.
            base: The settings that each run begins with, None for none.

        Raises:
            ValidationFailed: There are both, or a run has no text.
        """
        if text is not None and runs is not None:
            raise ValidationFailed("a paragraph has text or runs, not both; give one of them")
        if text:
            self.write(self._run(paragraph, base), text)
        for part, formatting in read_text_runs(runs or (), self._warn):
            run = self._run(paragraph, base)
            format_run(run, formatting)
            self.write(run, part)

    def paragraph_style(self, name: str | None) -> str | None:
        """Return the id of a style, "" for the default one, None if none is named.

        Raises:
            ValidationFailed: There is no such style.
        """
        return (self._styles.paragraph(name) or "") if name and name.strip() else None

    def table_style(self, name: str | None) -> str | None:
        """Return the id of a table style, None for the default one; raises ValidationFailed."""
        return self._styles.table(name)

    def has_header_look(self, style: str | None) -> bool:
        """Tell whether a table style makes first rows stand out."""
        return self._styles.has_header_look(style)

    def table(self, rows: Sequence[Sequence[Cell]], style: str | None, width: Length) -> CT_Tbl:
        """Return a table; rows that are too short are filled up with cells without text."""
        columns = max((len(row) for row in rows), default=0)
        if not columns:
            raise ValidationFailed("a table needs a cell; rows is a list of lists of texts")
        if any(len(row) != columns for row in rows):
            self._warn(f"Not all rows had {columns} cells; short ones got cells without text.")
        made = CT_Tbl.new_tbl(len(rows), columns, width)
        made.tblStyle_val = self._styles.table(style)
        for element, row in zip(made.tr_lst, rows, strict=True):
            for cell, value in zip(element.tc_lst, row, strict=False):
                if text := cell_text(value):
                    self.write(etree.SubElement(cell.p_lst[0], _RUN), text)
        if self.is_strict:
            apply_variant(made, is_strict=True)
        return made

    def write(self, run: etree._Element, text: str) -> None:
        """Append a text to a run."""
        for node in text_nodes(clean_text(text, self._warn)):
            run.append(node)

    def _run(self, paragraph: etree._Element, base: etree._Element | None) -> etree._Element:
        run = etree.SubElement(paragraph, _RUN)
        if base is not None:
            run.append(deepcopy(base))
        return run


class DocumentEdit:
    """Document being edited, as operations see it.

    Args:
        document: The document, as the library has it.
        is_strict: Whether its file is of the strict variant.
        files: Files that operations name, by the paths that operations have.

    Attributes:
        body: Its paragraphs and tables.
        stories: All its text, for replacing.
        is_strict: Whether its file is of the strict variant.
        files: Files that operations name, by the paths that operations have.
        pictures: The parts of pictures that were put in, by their bytes.
        parts: Its parts beside the main one.
        styles: Its styles.
        lists: Makes paragraphs items of lists.
        writer: Makes paragraphs and tables.
        warnings: What the reader must know.
        tracker: Records what operations change, for those that say so.
        dropped_relations: The ids of relations that were named in what is gone.
        gone_texts: The texts of the paragraphs that are gone.
    """

    def __init__(
        self, document: Document, *, is_strict: bool, files: Mapping[str, Source] | None = None
    ) -> None:
        self.document, self.is_strict = document, is_strict
        self.files: Mapping[str, Source] = files or {}
        self.pictures: dict[bytes, Part] = {}
        self.warnings = EditWarnings()
        self.dropped_relations: set[str] = set()
        self.gone_texts: set[str] = set()
        self.body = Body(document.element.body)
        self.parts = LibraryParts(document)
        self.stories = Stories(document, self.warnings, self.parts)
        self.styles = DocxStyles(document, is_strict=is_strict, warn=self.warnings.warn)
        self.lists = ListWriter(self.parts, self.styles, document.element.body, is_strict=is_strict)
        self.writer = Writer(self.styles, is_strict=is_strict, warn=self.warnings.warn)
        self.tracker = Tracker(self.stories.roots, self.recount, self.warnings.warn)

    def recount(self, changed: Sequence[etree._Element]) -> None:
        """Read the blocks and texts anew, after some trees were changed otherwise."""
        self.body.count()
        self.stories.forget(changed)

    def model(self, number: int | None) -> etree._Element | None:
        """Return the paragraph that something is to look like, None for none.

        Raises:
            ValidationFailed: There is no such paragraph.
        """
        return None if number is None else self.body.paragraph(number)

    def let_go(self, elements: Sequence[etree._Element]) -> None:
        """Note what elements say and refer to, for they go; the rest of that goes with them."""
        self.dropped_relations |= named_relations(elements)
        self.let_texts_go(elements)

    def let_texts_go(self, elements: Sequence[etree._Element]) -> None:
        """Note what elements say, for they go."""
        # What goes with a mark stays readable, as it should.
        if not self.tracker.is_tracking:
            self.gone_texts.update(text for each in elements for text in paragraph_texts(each))

    def warn_if_in_field(self, block: etree._Element) -> None:
        """Warn if a new block stands where programs will overwrite it."""
        if self.body.is_in_field(block):
            self.warnings.warn(
                "What was added stands inside a field, such as a table of contents, and goes when "
                "a program computes that anew; choose a place before or behind it."
            )

    def prepare(self, operation: msgspec.Struct) -> None:
        """Prepare for an operation: most of them outdate the texts that were read for replacing."""
        self.tracker.prepare(operation)
        if not isinstance(operation, ReplaceText):
            self.stories.forget_body()

    def finish(self) -> None:
        """Finish the document after the last operation: final paragraph, unused relations."""
        self.body.finish()
        self.tracker.finish()
        # Once for all operations, since it looks through the whole body.
        count = drop_relations(self.document, self.dropped_relations)
        if count:
            what = f"{count} headers and footers" if count > 1 else "a header or footer"
            self.warnings.warn(f"With the sections that are gone went {what} that only they had.")

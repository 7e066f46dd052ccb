"""The body of a document: its paragraphs from 1, its tables from 0, and how more come in."""

from docx.oxml.parser import OxmlElement
from lxml import etree

from kbd.errors import ValidationFailed
from kbd_docx.blocks import PARAGRAPH, TABLE, W, blocks
from kbd_docx.edits.flow import MC

__all__ = ["SECTION", "Body"]

SECTION = f"{W}sectPr"
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
        self._ended_in = self._last_block()
        self._has_fields = next(element.iter(_FIELD), None) is not None

    def count(self) -> None:
        """Count anew, after what may have changed anything."""
        self.blocks = list(blocks(self.element))
        self.paragraphs = [block for block in self.blocks if block.tag == PARAGRAPH]
        self.tables = [block for block in self.blocks if block.tag == TABLE]
        self.section = next(self.element.iterchildren(SECTION, reversed=True), None)

    def paragraph(self, number: int) -> etree._Element:
        """Return a paragraph by its number from 1; raises ValidationFailed."""
        if not 1 <= number <= len(self.paragraphs):
            raise ValidationFailed(f"There is no paragraph {number}; {self._has()}.")
        return self.paragraphs[number - 1]

    def table(self, index: int) -> etree._Element:
        """Return a table by its index from 0; raises ValidationFailed."""
        if index >= len(self.tables):
            count = len(self.tables)
            there = f"there are {count}, counted from 0" if count else "the body has none"
            raise ValidationFailed(f"There is no table {index}; {there}.")
        return self.tables[index]

    def append(self, block: etree._Element) -> None:
        """Put a block at the end, before the settings of the last section."""
        section = self.section
        if section is not None and _neighbour(section, before=False) is None:
            section.addprevious(block)
        else:
            self.element.append(block)
        self.blocks.append(block)
        (self.paragraphs if block.tag == PARAGRAPH else self.tables).append(block)

    def insert(self, number: int, paragraph: etree._Element) -> None:
        """Put a paragraph where it will have a number.

        Raises:
            ValidationFailed: There are not so many, or it cannot stand there.
        """
        if number == len(self.paragraphs) + 1:
            self.append(paragraph)
            return
        if number > len(self.paragraphs):
            raise ValidationFailed(
                f"Paragraph {number} cannot be inserted; {self._has()}, so that the last place is "
                f"{len(self.paragraphs) + 1}."
            )
        behind = self.paragraph(number)
        _outermost(behind, self.element, is_first=True).addprevious(paragraph)
        self.blocks.insert(self.blocks.index(behind), paragraph)
        self.paragraphs.insert(number - 1, paragraph)

    def around(self, first: int, last: int) -> list[etree._Element]:
        """Return paragraphs with the tables between, and one block before and behind if any."""
        start = self.blocks.index(self.paragraph(first))
        end = self.blocks.index(self.paragraph(last), start)
        return self.blocks[max(start - 1, 0) : end + 2]

    def forget(self, first: int, last: int) -> None:
        """Take no more account of paragraphs, which were taken out."""
        gone = set(self.paragraphs[first - 1 : last])
        self.blocks = [block for block in self.blocks if block not in gone]
        del self.paragraphs[first - 1 : last]

    def insert_table(self, after: int | None, table: etree._Element) -> int:
        """Put a table behind a paragraph, at the beginning (0) or at the end (None).

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
            self._put_behind(after, table)
            if (next_ := _neighbour(table, before=False)) is not None and next_.tag == TABLE:
                table.addnext(OxmlElement("w:p"))
            self.count()
        return self.tables.index(table)

    def is_in_field(self, block: etree._Element) -> bool:
        """Tell whether a block stands in a field's result, which goes when it is computed anew."""
        depth = 0
        for each in self.element.iter(_FIELD, block.tag) if self._has_fields else ():
            if each is block:
                return depth > 0
            depth += {"begin": 1, "end": -1}.get(each.get(f"{W}fldCharType", ""), 0)
        return False

    def finish(self) -> None:
        """End with a paragraph if an edit has put a table last, as programs want it."""
        last = self._last_block()
        if last is not None and last.tag == TABLE and last is not self._ended_in:
            self.append(OxmlElement("w:p"))

    def _put_behind(self, after: int, table: etree._Element) -> None:
        if after:
            _outermost(self.paragraph(after), self.element, is_first=False).addnext(table)
            return
        if not self.blocks:
            self.append(table)
        else:
            _outermost(self.blocks[0], self.element, is_first=True).addprevious(table)

    def _last_block(self) -> etree._Element | None:
        return self.blocks[-1] if self.blocks else None

    def _has(self) -> str:
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
        if _neighbour(found, before=is_first) is not None:
            break
        found = parent
    if any(each.tag == _ALTERNATIVES for each in found.iterancestors()):
        raise ValidationFailed(
            "Nothing can be put there: that paragraph is one of several alternatives that programs "
            "choose from. Choose another place."
        )
    return found


def _neighbour(element: etree._Element, *, before: bool) -> etree._Element | None:
    """Return the next element with some content before or behind another one, in its parent."""
    for found in element.itersiblings(preceding=before):
        if found.tag in (PARAGRAPH, TABLE) or next(blocks(found), None) is not None:
            return found
    return None

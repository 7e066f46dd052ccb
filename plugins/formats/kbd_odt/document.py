"""What is found of a text when it is looked through: sections, chunks, tables, pictures.

What a reader must be told beside the text.
"""

from collections.abc import Iterator

import msgspec

__all__ = [
    "CHUNK_CHARS",
    "Margin",
    "OdtChunk",
    "OdtDocument",
    "OdtNotices",
    "OdtTable",
    "Picture",
    "Section",
    "document_warnings",
]

CHUNK_CHARS = 4_000
"""Contract, section 8."""


class OdtNotices(msgspec.Struct):
    """What a reader of a text must know about it, counted."""

    insertions: int = 0
    deletions: int = 0
    hidden: int = 0
    comments: int = 0
    footnotes: int = 0
    endnotes: int = 0
    shortened: int = 0


class OdtChunk(msgspec.Struct, frozen=True):
    """A stretch of a section.

    Args:
        text: Its paragraphs and rows of tables, a line or more each.
        first: The number of its first paragraph, 0 if it has none.
        last: The number of its last one.
        table: The index of the table that it ends with, -1 if it has none.
    """

    text: str
    first: int
    last: int
    table: int

    @property
    def range(self) -> str:
        """What it covers, in words."""
        if self.first:
            return f"paragraphs {self.paragraphs}"
        return f"table {self.table}" if self.table >= 0 else "no paragraphs"

    @property
    def paragraphs(self) -> str:
        """The numbers of its paragraphs, "" if it has none."""
        return f"{self.first}-{self.last}" if self.first else ""


class Section(msgspec.Struct, frozen=True):
    """A heading and what stands below it up to the next one.

    Args:
        heading: Its text in one line, "" for what stands before the first one.
        level: From 1; 0 without a heading.
        chunks: At least one.
        table_count: How many tables it has.
        picture_count: How many pictures it has.
    """

    heading: str
    level: int
    chunks: tuple[OdtChunk, ...]
    table_count: int
    picture_count: int

    @property
    def text(self) -> str:
        """All of its text."""
        return "\n".join(chunk.text for chunk in self.chunks)

    @property
    def paragraphs(self) -> str:
        """The numbers of its paragraphs, "" if it has none."""
        numbers = [n for chunk in self.chunks for n in (chunk.first, chunk.last) if n]
        return f"{min(numbers)}-{max(numbers)}" if numbers else ""


class OdtTable(msgspec.Struct, frozen=True):
    """A table of the body: its section, its size, and the texts of its header row, if any."""

    section: int
    name: str
    row_count: int
    column_count: int
    header: tuple[str, ...]


class Picture(msgspec.Struct, frozen=True):
    """A picture or an object that is shown as one: its section, and what the author says of it."""

    section: int
    name: str
    alt_text: str
    file: str


class Margin(msgspec.Struct, frozen=True):
    """A header or a footer: of which pages ("default", "left", "first") of which page style."""

    kind: str
    type: str
    page_style: str
    text: str


class OdtDocument(msgspec.Struct, frozen=True):
    """All of a text; it has at least one section."""

    sections: tuple[Section, ...]
    tables: tuple[OdtTable, ...]
    pictures: tuple[Picture, ...]
    margins: tuple[Margin, ...]
    paragraph_count: int
    notices: OdtNotices


def document_warnings(document: OdtDocument) -> Iterator[str]:
    """Yield what the text does not show, or shows with a label, in sentences."""
    notices = document.notices
    if notices.deletions:
        yield f"{_counted(notices.deletions, 'tracked deletion')} not shown."
    if notices.insertions:
        yield f"{_counted(notices.insertions, 'tracked insertion')} shown as part of the text."
    if notices.hidden:
        yield f"{_counted(notices.hidden, 'hidden text')} shown as [hidden: …]."
    if notices.comments:
        yield f"{_counted(notices.comments, 'comment')} shown as [comment: …]."
    if notices.shortened:
        yield f"{_counted(notices.shortened, 'long repeat')} of blanks or cells cut short."


def _counted(number: int, what: str) -> str:
    return f"1 {what} is" if number == 1 else f"{number:,} {what}s are"

"""Contents of a document as records: sections and their chunks, tables, pictures.

It is all that maps and readings are made of, so that it can be kept and read again without the
file. Its text is final: what is not shown in it is counted in `TextNotices`.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

__all__ = [
    "CHUNK_CHARS",
    "Changes",
    "DocxChange",
    "DocxChangeCount",
    "DocxChunk",
    "DocxComment",
    "DocxContents",
    "DocxControl",
    "DocxExternal",
    "DocxFormatting",
    "DocxHeaderFooter",
    "DocxMarked",
    "DocxPicture",
    "DocxSection",
    "DocxTable",
    "SectionBuilder",
    "TextNotices",
    "split_text",
]


CHUNK_CHARS = 4_000
"""Contract, section 8."""


class TextNotices(msgspec.Struct, array_like=True):
    """Counts of what a text does not show: tracked changes, hidden text, comments.

    `doubtful` is text that may be hidden.
    """

    insertions: int = 0
    deletions: int = 0
    hidden: int = 0
    comments: int = 0
    inserted_files: int = 0
    doubtful: int = 0


class DocxChunk(msgspec.Struct, frozen=True, array_like=True):
    """Chunk of a section: a stretch of its paragraphs and tables.

    Args:
        text: Its paragraphs and tables, a line or more each.
        notes: The notes and comments that are cited there, a line each; "" for none.
        first: The number of its first paragraph, 0 if it has none.
        last: The number of its last one.
        table: The table that it is, or the part of one, in words; "" if it is no single table.
        tables: The index of its first table, and the one after its last.
        pictures: The same of its pictures.
        notices: What its text does not tell.
    """

    text: str
    notes: str
    first: int
    last: int
    table: str
    tables: tuple[int, int]
    pictures: tuple[int, int]
    notices: TextNotices

    @property
    def whole(self) -> str:
        """The text with the notes below it."""
        return f"{self.text}\n{self.notes}" if self.notes else self.text


class DocxSection(msgspec.Struct, frozen=True, array_like=True):
    """Section of a document: a heading and the content below it up to the next one.

    Args:
        heading: Its text in one line, "" for what stands before the first one.
        label: The number that the program shows before it.
        level: From 1 to 9; 0 without a heading.
        chunks: At least one.
    """

    heading: str
    label: str
    level: int
    chunks: tuple[DocxChunk, ...]

    @property
    def tables(self) -> range:
        """The indices of its tables."""
        return range(self.chunks[0].tables[0], self.chunks[-1].tables[1])

    @property
    def pictures(self) -> range:
        """The indices of its pictures."""
        return range(self.chunks[0].pictures[0], self.chunks[-1].pictures[1])

    @property
    def text(self) -> str:
        """The text, and below it all notes."""
        notes = [chunk.notes for chunk in self.chunks if chunk.notes]
        return "\n".join([*(chunk.text for chunk in self.chunks), *notes])

    @property
    def char_count(self) -> int:
        """The length of the text with its notes."""
        # One line end between any two of the texts and notes that `text` joins.
        ends = sum(1 + bool(chunk.notes) for chunk in self.chunks) - 1
        return ends + sum(len(chunk.text) + len(chunk.notes) for chunk in self.chunks)

    @property
    def first(self) -> int:
        """The number of its first paragraph, 0 if it has none."""
        return next((chunk.first for chunk in self.chunks if chunk.first), 0)

    @property
    def last(self) -> int:
        """The number of its last paragraph, 0 if it has none."""
        return next((chunk.last for chunk in reversed(self.chunks) if chunk.last), 0)


class DocxTable(msgspec.Struct, frozen=True, array_like=True):
    """A table of the body; tables within it are part of its cells' text.

    Args:
        row_count: Its rows.
        column_count: Its columns.
        header: The texts of its first row, where that names the columns.
        after: The number of the paragraph that it follows, 0 at the beginning.
        cells: Its rows as msgpack: texts by column, "" for what a merged cell covers.
        rows_stored: How many rows `cells` holds.
    """

    row_count: int
    column_count: int
    header: tuple[str, ...]
    after: int
    cells: bytes
    rows_stored: int


class DocxPicture(msgspec.Struct, frozen=True, array_like=True):
    """A picture, or something that is shown as one.

    Args:
        kind: "picture", "chart", "diagram", "object".
        alt_text: What the author says that it shows.
        name: The name of the shape.
        file: The name of the file that holds it, or the address that it is fetched from.
        width: In inches, 0 if it is not told.
        height: In inches.
    """

    kind: str = "picture"
    alt_text: str = ""
    name: str = ""
    file: str = ""
    width: float = 0.0
    height: float = 0.0


class DocxHeaderFooter(msgspec.Struct, frozen=True, array_like=True):
    """A header or a footer.

    Args:
        kind: "header" or "footer".
        type: "default", "first" or "even".
        pages: The number of the page section that it begins with, from 1.
        text: What stands there.
        is_shown: Whether the document shows it: those of first and even pages can be off.
    """

    kind: str
    type: str
    pages: int
    text: str
    is_shown: bool


class DocxExternal(msgspec.Struct, frozen=True, array_like=True):
    """External reference of a document: its kind, and its address or command."""

    kind: str
    target: str


class Changes(msgspec.Struct, frozen=True, array_like=True):
    """Tracked changes of the body: how many, and by whom."""

    insertions: int = 0
    deletions: int = 0
    authors: tuple[str, ...] = ()


class DocxComment(msgspec.Struct, frozen=True, array_like=True):
    """A comment.

    Args:
        number: Its number in the order of citing, from 1.
        author: Who wrote it.
        date: When, as the file has it.
        text: What it says.
        words: The words that it is about, the beginning of many; "" if that is not told.
        is_resolved: Whether it is done with.
        reply_to: The number of the comment that it replies to, 0 if it is none.
        paragraph: The paragraph where its sign stands, the last one before a table; 0 for none.
    """

    number: int
    author: str
    date: str
    text: str
    words: str
    is_resolved: bool
    reply_to: int
    paragraph: int


class DocxChange(msgspec.Struct, array_like=True):
    """A tracked insertion or deletion of the body.

    Args:
        kind: "inserted", "deleted".
        author: By whom.
        date: When, as the file has it.
        text: What was inserted or deleted, the beginning of much; "" for a paragraph's end.
        paragraph: The paragraph that it stands in, the last one before a table.
    """

    kind: str
    author: str
    date: str
    text: str
    paragraph: int = 0


class DocxMarked(msgspec.Struct, frozen=True, array_like=True):
    """A paragraph with tracked changes.

    Args:
        paragraph: Its number; that of the last one before a table that it is in.
        text: Its text with the changes in it: "costs [deleted by Ann: 12][inserted by Ann: 14]".
        is_in_table: Whether it stands in a table.
    """

    paragraph: int
    text: str
    is_in_table: bool = False


class DocxChangeCount(msgspec.Struct, frozen=True, array_like=True):
    """How many tracked changes of the body an author has made: insertions, deletions, looks."""

    author: str
    insertions: int
    deletions: int
    looks: int


class DocxControl(msgspec.Struct, frozen=True, array_like=True):
    """A content control of the body.

    Args:
        tag: What programs know it by.
        title: What people know it by.
        kind: "text", "rich text", "dropdown", "checkbox", "date", "picture" and the like.
        text: What it shows, the beginning of much; "" for a placeholder.
        items: What a dropdown offers.
        paragraph: The paragraph where it begins, the last one before a table.
    """

    tag: str
    title: str
    kind: str
    text: str
    items: tuple[str, ...]
    paragraph: int


class DocxFormatting(msgspec.Struct, frozen=True, array_like=True):
    """Formatting that paragraphs in a row have directly, not by their styles.

    Args:
        first: The number of the first one.
        last: The number of the last one.
        look: What they have, by the names that operations have for it.
    """

    first: int
    last: int
    look: dict[str, Any]


class DocxContents(msgspec.Struct, frozen=True, array_like=True):
    """Contents of a document.

    Args:
        sections: In order; at least one.
        tables: In order.
        pictures: In order.
        headers_footers: Headers and footers, in the order of the pages that they are on.
        paragraph_count: The paragraphs of the body.
        page_sections: How many stretches of pages with a layout of their own there are.
        footnotes: How many are cited.
        endnotes: How many are cited.
        comments: How many there are.
        changes: Tracked changes.
        external: What it reaches out to, links to read not counted.
        links: How many relations are links to read.
        embedded: How many files of other programs it holds.
        has_macros: Whether it holds macros.
        uncited: Comments and notes that no place of the body cites.
        hidden_around: Whether headers, footers, or what nothing cites, hold hidden text.
        doubtful_around: Whether they hold text that may be hidden.
        doubt: Why office programs refuse it, "" if they do not.
        comment_list: The first of its comments.
        change_list: The first of the tracked changes of the body.
        formatting: The first stretches of paragraphs that are formatted directly.
        controls: The first of its content controls.
        marked: The first of its paragraphs with tracked changes.
        change_counts: The tracked changes of the body by author.
    """

    sections: tuple[DocxSection, ...]
    tables: tuple[DocxTable, ...]
    pictures: tuple[DocxPicture, ...]
    headers_footers: tuple[DocxHeaderFooter, ...]
    paragraph_count: int
    page_sections: int
    footnotes: int
    endnotes: int
    comments: int
    changes: Changes
    external: tuple[DocxExternal, ...]
    links: int
    embedded: int
    has_macros: bool
    uncited: tuple[str, ...]
    hidden_around: bool
    doubtful_around: bool
    doubt: str
    comment_list: tuple[DocxComment, ...] = ()
    change_list: tuple[DocxChange, ...] = ()
    formatting: tuple[DocxFormatting, ...] = ()
    controls: tuple[DocxControl, ...] = ()
    marked: tuple[DocxMarked, ...] = ()
    change_counts: tuple[DocxChangeCount, ...] = ()


_MAX_CHARS = 2 * CHUNK_CHARS
"""What a paragraph, table or set of notes may have without being divided."""


class SectionBuilder:
    """Collects a document's sections, in chunks that end where a paragraph does."""

    def __init__(self) -> None:
        self._sections: list[DocxSection] = []
        self._head = ("", "", 0)
        self._chunks: list[DocxChunk] = []
        self._has_content = False
        self._counts = self._before = (0, 0)
        self._last_paragraph = 0
        self._lines: list[str] = []
        self._table = ""
        self._notes: list[str] = []
        self._notices = TextNotices()
        self._size = self._first = self._last = 0

    def begin_section(self, heading: str, label: str, level: int) -> None:
        """Begin a section; its line is added like others."""
        self._end_section()
        self._head = (heading, label, level)
        self._has_content = True

    def add_plain(self, text: str, paragraph: int) -> None:
        """Add a paragraph without notes or notices: `add`, in less time."""
        size = len(text) + 1
        if self._size + size > CHUNK_CHARS:
            # It holds neither a table nor a picture, so the counts stay as they are.
            self.add(text, paragraph, self._counts)
            return
        self._lines.append(text)
        self._size += size
        self._first = self._first or paragraph
        self._last = paragraph

    def add(
        self,
        text: str,
        paragraph: int,
        counts: tuple[int, int],
        *,
        table: str = "",
        notes: Sequence[str] = (),
        notices: TextNotices | None = None,
    ) -> None:
        """Add a block.

        Args:
            text: Its lines.
            paragraph: Its number, 0 if it is no paragraph.
            counts: How many tables and pictures there are with it.
            table: What it is if it is a table, in words.
            notes: The notes that are cited in it.
            notices: What is counted of it.
        """
        size = len(text) + 1
        if notes:
            size += sum(map(len, notes)) + len(notes)
        # Before the new counts are set: tables and pictures of this block are in the next chunk.
        if self._lines and self._size + size > CHUNK_CHARS:
            self._end_chunk()
        self._counts = counts
        self._table = table
        if size > _MAX_CHARS:
            self._add_divided(text, paragraph, table, "\n".join(notes), notices)
            return
        self._lines.append(text)
        self._size += size
        if paragraph:
            self._first = self._first or paragraph
            self._last = paragraph
        if notes:
            self._notes.extend(notes)
        if notices is not None:
            self._note(notices)

    def sections(self) -> tuple[DocxSection, ...]:
        """End the last section and return all; at least one."""
        self._end_section()
        if not self._sections:
            last = self._last_paragraph
            nothing = DocxChunk("", "", min(last, 1), last, "", (0, 0), (0, 0), TextNotices())
            self._sections.append(DocxSection("", "", 0, (nothing,)))
        return tuple(self._sections)

    def _start_chunk(self) -> None:
        self._lines, self._notes, self._table = [], [], ""
        self._notices = TextNotices()
        self._size = self._first = self._last = 0

    def _note(self, notices: TextNotices) -> None:
        for field in TextNotices.__struct_fields__:
            setattr(self._notices, field, getattr(self._notices, field) + getattr(notices, field))

    def _end_chunk(self) -> None:
        (first_table, first_picture), (tables, pictures) = self._before, self._counts
        text = "\n".join(self._lines)
        self._has_content = self._has_content or bool(text.strip() or self._notes)
        self._chunks.append(
            DocxChunk(
                text=text,
                notes="\n".join(self._notes),
                first=self._first,
                last=self._last,
                table=self._table if len(self._lines) == 1 else "",
                tables=(first_table, tables),
                pictures=(first_picture, pictures),
                notices=self._notices,
            )
        )
        self._before = self._counts
        self._start_chunk()

    def _add_divided(
        self, text: str, paragraph: int, table: str, notes: str, notices: TextNotices | None
    ) -> None:
        """Add a block that is too large for a chunk as several ones, its notes below it."""
        if notices is not None:
            self._note(notices)
        # The first piece gets the block's tables and pictures: `_end_chunk` takes the counts over.
        for count, piece in enumerate([*split_text(text), *(split_text(notes) if notes else ())]):
            self._lines.append(piece)
            self._table = f"{table}, part {count + 1}" if table else ""
            self._first = self._last = paragraph
            self._end_chunk()

    def _end_section(self) -> None:
        """End a section; blank paragraphs before the first heading make none."""
        if self._lines:
            self._end_chunk()
        if self._chunks and self._has_content:
            self._sections.append(DocxSection(*self._head, tuple(self._chunks)))
        if self._chunks:
            self._last_paragraph = max(self._chunks[-1].last, self._last_paragraph)
        self._chunks = []
        self._has_content = False


def split_text(text: str) -> Iterator[str]:
    """Yield a text in pieces of a chunk's length, divided where a line ends, else a word."""
    at = 0
    while len(text) - at > CHUNK_CHARS:
        end = at + CHUNK_CHARS
        # The sign at the cut is left out, so it may stand right behind the last one that fits. The
        # search begins at `at + 1`, since no piece may be empty.
        cut = text.rfind("\n", at + 1, end + 1)
        cut = text.rfind(" ", at + 1, end + 1) if cut < 0 else cut
        yield text[at : end if cut < 0 else cut]
        at = end if cut < 0 else cut + 1
    yield text[at:]

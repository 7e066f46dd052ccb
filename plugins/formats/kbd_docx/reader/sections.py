"""Sections and chunks, put together from paragraphs and tables as they come."""

from collections.abc import Iterator, Sequence

from kbd_docx.reader.document import CHUNK_CHARS, DocxChunk, DocxSection, TextNotices

__all__ = ["SectionAssembly", "pieces"]

_MOST_CHARS = 2 * CHUNK_CHARS
"""What a paragraph, table or set of notes may have without being divided."""


class SectionAssembly:
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

    def head(self, heading: str, label: str, level: int) -> None:
        """Begin a section; its line is added like others."""
        self._end_section()
        self._head = (heading, label, level)
        self._has_content = True

    def add_plain(self, text: str, paragraph: int) -> None:
        """Add a paragraph that nothing is to be told of; what `add` does, in less time."""
        size = len(text) + 1
        if self._size + size > CHUNK_CHARS:
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
        if self._lines and self._size + size > CHUNK_CHARS:
            self._end_chunk()
        self._counts = counts
        self._table = table
        if size > _MOST_CHARS:
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
        for count, piece in enumerate([*pieces(text), *(pieces(notes) if notes else ())]):
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


def pieces(text: str) -> Iterator[str]:
    """Yield a text in pieces of a chunk's length, divided where a line ends, else a word."""
    at = 0
    while len(text) - at > CHUNK_CHARS:
        end = at + CHUNK_CHARS
        cut = text.rfind("\n", at + 1, end + 1)
        cut = text.rfind(" ", at + 1, end + 1) if cut < 0 else cut
        yield text[at : end if cut < 0 else cut]
        at = end if cut < 0 else cut + 1
    yield text[at:]

"""An OpenDocument text as it is found: its sections, chunks, tables and pictures.

It is read once, in pieces: no more of it is held than one paragraph or table. Paragraphs and tables
are gathered into sections, and these into chunks.
"""

import re
from collections.abc import Iterator
from typing import IO

import msgspec
from lxml import etree

from kbd.errors import FileReadFailed
from kbd.formats import Source
from kbd.office.open_document import DRAW, OFFICE, STYLE, TABLE, TEXT, count
from kbd.office.open_text.pieces import read_open_pieces
from kbd.office.open_text.renderer import BLOCKS, WRAPPERS, OpenNotices, OpenTextRenderer
from kbd.office.open_text.styles import GRADIENT, ListNumbering, OpenStyles
from kbd_odt.packages import open_parts

__all__ = [
    "CHUNK_CHARS",
    "HEADING",
    "LIST_ITEMS",
    "MARGINS",
    "Margin",
    "OdtChunk",
    "OdtDocument",
    "OdtTable",
    "Picture",
    "Section",
    "Sections",
    "document_warnings",
    "read_document",
    "read_pieces",
]

CHUNK_CHARS = 4_000
"""Contract, section 8."""


class OdtChunk(msgspec.Struct, frozen=True):
    """A chunk of a section.

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
        """Paragraphs or table that the chunk covers, in words."""
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
    notices: OpenNotices


def document_warnings(document: OdtDocument) -> Iterator[str]:
    """Yield what the text does not show, or shows with a label, in sentences."""
    notices = document.notices
    if notices.deletions:
        yield f"{_counted(notices.deletions, 'tracked deletion')} not shown."
    if notices.insertions:
        yield f"{_counted(notices.insertions, 'tracked insertion')} shown as part of the text."
    if notices.hidden:
        yield f"{_counted(notices.hidden, 'hidden text')} shown as [hidden: …]."
    if notices.doubtful:
        yield (
            f"{_counted(notices.doubtful, 'text')} shown as [maybe hidden: …]: people may not see "
            "what has the color of the page, say, and whether a drawing lies between is not known."
        )
    if notices.comments:
        yield f"{_counted(notices.comments, 'comment')} shown as [comment: …]."
    if notices.shortened:
        yield f"{_counted(notices.shortened, 'long repeat')} of blanks or cells cut short."


def _counted(number: int, what: str) -> str:
    return f"1 {what} is" if number == 1 else f"{number:,} {what}s are"


_LINE_BREAKS = re.compile(r"\s+")
_MAX_HEADING_CHARS = 500


class Sections:
    """Builder of sections; a heading begins one, and text before the first heading is one, too."""

    def __init__(self) -> None:
        self.paragraph_count = 0
        self._done: list[Section] = []
        self._heading, self._level = "", 0
        self._chunks: list[OdtChunk] = []
        self._lines: list[str] = []
        self._length = 0
        self._first = self._last = 0
        self._table = -1
        self._tables = self._pictures = 0

    @property
    def index(self) -> int:
        """The index of the section that is being gathered."""
        return len(self._done)

    def paragraph(self, text: str, level: int) -> None:
        """Add a paragraph; one with a level is a heading."""
        if level:
            self._close()
            self._heading = _LINE_BREAKS.sub(" ", text).strip()[:_MAX_HEADING_CHARS]
            self._level = level
        self.paragraph_count += 1
        self._add(f"{'#' * level} {text}" if level else text)
        # Set after the text is added, since that may begin a chunk, which resets both.
        self._first = self._first or self.paragraph_count
        self._last = self.paragraph_count

    def line(self, text: str) -> None:
        """Add text that stands between paragraphs."""
        self._add(text)

    def table(self, index: int, rows: list[str], title: str) -> None:
        """Add a table; a large one is divided between its rows."""
        for text in (title, *rows):
            self._add(text)
            # After each line, for it may have begun a new chunk.
            self._table = index
        self._tables += 1

    def picture(self) -> None:
        """Count a picture in the section."""
        self._pictures += 1

    def finish(self) -> tuple[Section, ...]:
        """Return all sections; nothing may be added afterwards."""
        self._close()
        return tuple(self._done) or (Section("", 0, (OdtChunk("", 0, 0, -1),), 0, 0),)

    def _add(self, text: str) -> None:
        if self._lines and self._length + len(text) > CHUNK_CHARS:
            self._cut()
        self._lines.append(text)
        self._length += len(text) + 1

    def _cut(self) -> None:
        if self._lines:
            text = "\n".join(self._lines)
            self._chunks.append(OdtChunk(text, self._first, self._last, self._table))
        self._lines = []
        self._length = self._first = self._last = 0
        self._table = -1

    def _close(self) -> None:
        self._cut()
        has_text = any(chunk.text.strip() for chunk in self._chunks)
        # Blank lines before the first heading are no section, unless there is nothing else.
        if self._chunks and (self._level or has_text or self._pictures):
            self._done.append(
                Section(
                    self._heading, self._level, tuple(self._chunks), self._tables, self._pictures
                )
            )
        self._chunks = []
        self._heading, self._level = "", 0
        self._tables = self._pictures = 0


_MAX_LEVEL = 10

HEADING = f"{TEXT}h"
_LIST, LIST_ITEMS = f"{TEXT}list", (f"{TEXT}list-item", f"{TEXT}list-header")
_SECTION = f"{TEXT}section"
_BODY, _MASTER = f"{OFFICE}text", f"{STYLE}master-page"
_STYLE_ELEMENTS = (
    f"{STYLE}style", f"{TEXT}list-style", f"{STYLE}default-style", f"{STYLE}page-layout",
)  # fmt: skip
MARGINS = {
    f"{STYLE}{kind}{ending}": (kind, type_)
    for kind in ("header", "footer")
    for ending, type_ in (("", "default"), ("-left", "left"), ("-first", "first"))
}
_CHANGES = f"{TEXT}tracked-changes"
_KINDS = {f"{OFFICE}{name}": name for name in ("spreadsheet", "presentation", "drawing", "chart")}

_PIECES = (*BLOCKS, f"{DRAW}*", *_STYLE_ELEMENTS, *MARGINS, _CHANGES)
_HOLDERS = (*sorted(WRAPPERS), _BODY, _MASTER, f"{OFFICE}document", *_KINDS)


def read_document(source: Source) -> OdtDocument:
    """Read all of a text.

    Raises:
        FileReadFailed: It is no text, encrypted, damaged, or past a limit.
    """
    reader = _Reader(source.name)
    with open_parts(source) as parts:
        # Styles first: they say what is hidden and how lists are labeled.
        for part in parts:
            reader.read(part)
    return reader.document()


class _Reader:
    """Reader of the parts of a text, one after the other."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._notices = OpenNotices()
        self._styles = OpenStyles()
        self._renderer = OpenTextRenderer(self._styles, self._notices)
        self._lists = ListNumbering(self._styles)
        self._sections = Sections()
        self._tables: list[OdtTable] = []
        self._pictures: list[Picture] = []
        self._margins: list[Margin] = []
        self._page_style = ""
        self._has_body = self._is_body = False
        self._hidden_depth = 0

    def read(self, file: IO[bytes]) -> None:
        """Read a part; raises FileReadFailed if it is damaged."""
        for event, element in read_pieces(file, self._name):
            if event == "piece":
                self._read_piece(element)
            elif event == "start":
                self._enter(element)
            else:
                self._leave(element)

    def document(self) -> OdtDocument:
        """Return what was found; raises FileReadFailed if that is no text."""
        if not self._has_body:
            raise FileReadFailed(f"{self._name} is damaged: it holds no text")
        return OdtDocument(
            self._sections.finish(),
            tuple(self._tables),
            tuple(self._pictures),
            tuple(self._margins),
            self._sections.paragraph_count,
            self._notices,
        )

    def _enter(self, element: etree._Element) -> None:
        tag = str(element.tag)
        if tag in _KINDS:
            raise FileReadFailed(
                f"{self._name} is not an OpenDocument text: it is a {_KINDS[tag]}; give it the "
                "suffix of its kind"
            )
        if tag == _BODY:
            self._has_body = self._is_body = True
        elif tag == _MASTER:
            self._styles.add(element)
            self._page_style = element.get(f"{STYLE}display-name", element.get(f"{STYLE}name", ""))
        elif tag == _LIST:
            self._lists.open_list(element)
        elif tag in LIST_ITEMS:
            self._lists.begin_item(element)
        # Sections inside a hidden one are hidden, whatever they say, and have to be counted to its
        # end.
        elif tag == _SECTION and (self._hidden_depth or _is_hidden_section(element)):
            self._hidden_depth += 1

    def _leave(self, element: etree._Element) -> None:
        if element.tag == _BODY:
            self._is_body = False
        elif element.tag == _LIST:
            self._lists.close_list()
        elif element.tag == _SECTION and self._hidden_depth:
            self._hidden_depth -= 1

    def _read_piece(self, element: etree._Element) -> None:
        tag = str(element.tag)
        if tag in _STYLE_ELEMENTS or (tag == GRADIENT and not self._is_body):
            self._styles.add(element)
        elif tag in MARGINS:
            self._add_margin(element, *MARGINS[tag])
        elif not self._is_body:
            # Styles hold drawn things as well, such as gradients and ends of lines.
            return
        elif tag == _CHANGES:
            # What was deleted stands here in full, apart from the text, and is only counted.
            self._notices.insertions += len(element.findall(f".//{TEXT}insertion"))
            self._notices.deletions += len(element.findall(f".//{TEXT}deletion"))
        elif tag == f"{TABLE}table":
            self._add_table(element)
        elif tag in BLOCKS:
            text = self._lists.label() + self._renderer.paragraph(element)
            level = count(element.get(f"{TEXT}outline-level"), _MAX_LEVEL)
            self._sections.paragraph(self._shown(text), level if tag == HEADING else 0)
            self._add_pictures()
        elif text := self._renderer.other(element):
            self._sections.line(self._shown(text))
            self._add_pictures()

    def _shown(self, text: str) -> str:
        return self._renderer.hidden(text) if self._hidden_depth and text.strip() else text

    def _add_table(self, element: etree._Element) -> None:
        found = self._renderer.table(element)
        index = len(self._tables)
        name = element.get(f"{TABLE}name", "")
        header = found.rows[0] if found.has_header and found.rows else ()
        self._sections.table(
            index, [self._shown(f"| {' | '.join(row)} |") for row in found.rows],
            f"[table {index}: {found.row_count} rows, {found.column_count} columns]",
        )  # fmt: skip
        where = self._sections.index
        self._tables.append(OdtTable(where, name, found.row_count, found.column_count, header))
        self._add_pictures()

    def _add_pictures(self) -> None:
        for name, alt, file in self._renderer.drawn:
            self._sections.picture()
            self._pictures.append(Picture(self._sections.index, name, alt, file))
        self._renderer.drawn.clear()

    def _add_margin(self, element: etree._Element, kind: str, type_: str) -> None:
        text = self._renderer.text(element).strip()
        # Pictures of a header or footer belong to no section.
        self._renderer.drawn.clear()
        if text and element.get(f"{STYLE}display") != "false":
            self._margins.append(Margin(kind, type_, self._page_style, text))


def _is_hidden_section(element: etree._Element) -> bool:
    """Tell whether a section is hidden: always, or by a condition that held when it was saved."""
    display = element.get(f"{TEXT}display")
    return display == "none" or (
        display == "condition" and element.get(f"{TEXT}is-hidden") == "true"
    )


def read_pieces(file: IO[bytes], name: str) -> Iterator[tuple[str, etree._Element]]:
    """Yield the pieces of a text and what holds them, as `kbd.office.open_text.pieces` does."""
    return read_open_pieces(file, name, _PIECES, _HOLDERS)

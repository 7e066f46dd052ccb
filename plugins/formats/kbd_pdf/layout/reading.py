"""Reader of layout: the tables, the words, or the text in columns of pages of a file."""

import contextlib
from collections.abc import Iterator, Sequence
from typing import assert_never

import pypdfium2 as pdfium
from pypdfium2 import raw

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import (
    ChunkInfo,
    FoundTable,
    FoundWord,
    LayoutPart,
    PageLayout,
    Region,
    Source,
)
from kbd.formats.page_numbers import format_page_numbers, parse_page_numbers
from kbd.formats.records import GridMerge
from kbd_pdf.documents import OpenedPdf, open_pdf
from kbd_pdf.layout.tables import PageTable, tables_of_page
from kbd_pdf.layout.text import text_of_lines
from kbd_pdf.layout.words import PageView, PlacedWord, WordBox, words_of
from kbd_pdf.pages import clean, guessed_warning, is_guessed

__all__ = ["read_layout"]

FIRST_PAGES = 20
"""Pages that are looked at without being named: finding tables takes 10 to 50 ms a page."""

MOST_PAGES = 200
"""Pages of one call."""

MOST_WORDS = 50_000
"""Words of one call, and cells of its tables: each takes some 80 bytes of an answer."""

_SAME_EDGE_PT = 6.0
"""Columns of a table that goes on stand so near to those of the page before."""

_FOOT = 0.8
_HEAD = 0.25
"""Where on a page a table ends that goes on, and where it does so, in parts of its height."""


def read_layout(source: Source, region: Region, show: LayoutPart) -> PageLayout:
    """Return what is asked for of pages; without coordinates of the first `FIRST_PAGES`.

    Raises:
        FileReadFailed: The file cannot be read, or only in a way that tells no places.
        ValidationFailed: There is no such page, the coordinates are not pages, or it is too much.
    """
    foreign = set(region.named()) - {"pages"}
    if foreign:
        raise ValidationFailed(f"{source.name} is read by pages, not by {min(foreign)}")
    with open_pdf(source) as found:
        if found.document is None:
            msg = f"{source.name} is damaged: its text is read, but not where it stands"
            raise FileReadFailed(msg)
        numbers = _numbers(region, found)
        reader = _LayoutReader(found.document, source.name)
        tables: tuple[FoundTable, ...] = ()
        words: tuple[FoundWord, ...] = ()
        text = ""
        match show:
            case "tables":
                tables = tuple(reader.tables(numbers))
            case "words":
                words = tuple(reader.words(numbers))
            case "text":
                text = "\n\n".join(reader.texts(numbers)) + "\n"
            case _:
                assert_never(show)
        warnings = (*found.warnings, *reader.warnings())
        return PageLayout(tables, words, text, warnings, _chunk_info(numbers, found.page_count))


def _numbers(region: Region, found: OpenedPdf) -> tuple[int, ...]:
    if region.pages is None:
        return tuple(range(1, min(found.page_count, FIRST_PAGES) + 1))
    numbers = parse_page_numbers(region.pages, found.page_count, found.name)
    if len(numbers) > MOST_PAGES:
        msg = f"{found.name} is looked at {MOST_PAGES} pages at a time; give fewer"
        raise ValidationFailed(msg)
    return numbers


def _chunk_info(numbers: Sequence[int], count: int) -> ChunkInfo | None:
    if tuple(numbers) == tuple(range(1, count + 1)):
        return None
    chunks = -(-count // FIRST_PAGES)
    index = (numbers[0] - 1) // FIRST_PAGES
    return ChunkInfo(index, chunks, max(numbers) < count, format_page_numbers(numbers))


class _LayoutReader:
    """Reader of pages that notes which have no text, or cannot be read."""

    def __init__(self, document: pdfium.PdfDocument, name: str) -> None:
        self._document = document
        self._name = name
        self._textless: list[int] = []
        self._damaged: list[int] = []
        self._guessed: list[int] = []
        self._left = MOST_WORDS

    def tables(self, numbers: Sequence[int]) -> Iterator[FoundTable]:
        """Yield the tables of pages; those that go on with one of the page before are marked."""
        above: tuple[int, PageTable, float] | None = None
        for number in numbers:
            found, height = self._page_tables(number)
            for place, table in enumerate(found):
                self._take(sum(len(row) for row in table.rows))
                goes_on = (
                    place == 0
                    and above is not None
                    and above[0] == number - 1
                    and _goes_on(above[1], above[2], table, height)
                )
                yield _found(table, number, goes_on=goes_on)
            above = (number, found[-1], height) if found else None

    def _page_tables(self, number: int) -> tuple[list[PageTable], float]:
        with self._opened(number) as pages:
            for page, textpage in pages:
                if is_guessed(textpage):
                    self._guessed.append(number)
                if raw.FPDFText_CountChars(textpage) <= 0:
                    self._textless.append(number)
                return tables_of_page(page, textpage), float(page.get_height())
        return [], 0.0

    def words(self, numbers: Sequence[int]) -> Iterator[FoundWord]:
        """Yield the words of pages in the order of the file."""
        for number in numbers:
            words = self._page_words(number)
            for word in words:
                if text := clean(word.text):
                    yield FoundWord(text, number, _sides(word.box))

    def texts(self, numbers: Sequence[int]) -> Iterator[str]:
        """Yield the text of each page as it stands, under a line that names the page."""
        for number in numbers:
            words = self._page_words(number)
            state = "" if words else ", without text"
            yield "\n".join(filter(None, (f"[page {number}{state}]", text_of_lines(words))))

    def warnings(self) -> Iterator[str]:
        """Yield what the reader must know of the pages that were read."""
        if self._damaged:
            yield f"Damaged, and left out: pages {format_page_numbers(self._damaged)}."
        textless = [number for number in self._textless if number not in self._damaged]
        if textless:
            yield (
                f"No text on pages {format_page_numbers(textless)}: they are blank, or pictures of "
                "text that was not recognised."
            )
        if self._guessed:
            yield guessed_warning(self._guessed)

    def _page_words(self, number: int) -> list[PlacedWord]:
        words: list[PlacedWord] = []
        with self._opened(number) as pages:
            for page, textpage in pages:
                if is_guessed(textpage):
                    self._guessed.append(number)
                words = words_of(textpage, PageView(page))
        self._take(len(words))
        if not words:
            self._textless.append(number)
        return words

    @contextlib.contextmanager
    def _opened(self, number: int) -> Iterator[Sequence[tuple[pdfium.PdfPage, pdfium.PdfTextPage]]]:
        """Open a page with its text; of a damaged one, which is noted, there is none."""
        try:
            page = self._document[number - 1]
        except pdfium.PdfiumError:
            self._damaged.append(number)
            yield ()
            return
        try:
            textpage = page.get_textpage()
        except pdfium.PdfiumError:
            self._damaged.append(number)
            page.close()
            yield ()
            return
        try:
            yield ((page, textpage),)
        finally:
            textpage.close()
            page.close()

    def _take(self, count: int) -> None:
        self._left -= count
        if self._left < 0:
            msg = f"these pages of {self._name} hold more than one answer does; give fewer pages"
            raise ValidationFailed(msg)


def _found(table: PageTable, number: int, *, goes_on: bool) -> FoundTable:
    merged = tuple(
        GridMerge(place.row + 1, place.column + 1, place.row_count, place.column_count)
        for place in table.merged
    )
    rows = tuple(tuple(clean(text) for text in row) for row in table.rows)
    return FoundTable(number, _sides(table.box), rows, table.is_ruled, merged, goes_on)


def _sides(box: WordBox) -> tuple[float, float, float, float]:
    left, top, right, bottom = (round(side, 1) for side in box)
    return left, top, right, bottom


def _goes_on(above: PageTable, above_height: float, table: PageTable, height: float) -> bool:
    """Tell whether a table at the head of a page has the columns of one at the foot before it."""
    if above.box.bottom < _FOOT * above_height or table.box.top > _HEAD * height:
        return False
    return len(above.edges) == len(table.edges) and all(
        abs(one - other) <= _SAME_EDGE_PT
        for one, other in zip(above.edges[1:-1], table.edges[1:-1], strict=True)
    )

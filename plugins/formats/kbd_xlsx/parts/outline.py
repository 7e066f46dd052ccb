"""Outline of a worksheet part: its pieces, whether they can be spliced, its rows and cells.

Rows and cells are found in one pass and parsed when they are needed.
"""

import re
from array import array
from bisect import bisect_left, bisect_right
from functools import cached_property
from typing import NamedTuple

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.sheets.areas import MAX_ROW, Area, column_number, whole_number
from kbd_xlsx.parts.markup import (
    ATTRIBUTES,
    attribute,
    masked,
    may_have_marks,
    start_tag,
    tag_around,
    utf8,
)

__all__ = ["CellMarkup", "Outline", "RowMarkup", "Rows"]

_ROOT = re.compile(rb"<([^\s<>/:!?]+:)?([^\s<>/:!?]+)(?=[\s/>])(" + ATTRIBUTES + rb")>")
_SPACE = re.compile(rb"""\bxmlns(?::([^\s=]+))?\s*=\s*["']([^"'<]*)["']""")
_ALTERNATIVE = re.compile(rb"<[^\s<>/:]+:AlternateContent[\s>]")


class Outline:
    """The pieces of a worksheet part.

    Attributes:
        data: The part in UTF-8.
        scan: The same with blanks for comments and the like: what patterns look at.
        name: The sheet's title.
        prefix: The prefix of the part's names.
        inside: Where the root's children begin.
        sheet_data: The start and end of the start tag of sheetData.
        is_closed: Whether that tag is closed, so that there are no rows.
        rows_end: Where the rows end.
        tail: Where sheetData ends.

    Args:
        data: The part.
        name: The sheet's title.

    Raises:
        ValidationFailed: It has a form that cannot be changed safely.
        FileReadFailed: It is damaged.
    """

    def __init__(self, data: bytes, name: str) -> None:
        self.name = name
        self.data = utf8(data, name)
        has_marks = may_have_marks(self.data)
        self.scan = masked(self.data) if has_marks else self.data
        # What the mask left has no end, or is a DTD, whose entities may stand for tags.
        if has_marks and (b"<!" in self.scan or b"<?" in self.scan):
            raise FileReadFailed(
                f"sheet {name} holds a document type declaration or an open comment"
            )
        root = _ROOT.search(self.scan)
        if root is None:
            raise FileReadFailed(f"sheet {name} is damaged: its part is not valid XML")
        if root[2] != b"worksheet":
            raise ValidationFailed(
                f"sheet {name} has no cells: it is a {root[2].decode('utf-8', 'replace')}"
            )
        self.prefix = (root[1] or b"").decode("utf-8", "replace")
        self._tag = self.prefix.encode()
        self.inside = root.end()
        self._find_rows()
        self._check_spaces(root[3])
        self._check_rows()

    @cached_property
    def has_formulas(self) -> bool:
        """Whether cells may have formulas."""
        formula = b"<" + self.qualified(b"f")
        return self.scan.find(formula, self.sheet_data[1], self.rows_end) >= 0

    def qualified(self, name: bytes) -> bytes:
        """Return a name with the part's prefix."""
        return self._tag + name

    def _find_rows(self) -> None:
        found = re.compile(start_tag(self._tag + b"sheetData")).search(self.scan, self.inside)
        if found is None:
            raise ValidationFailed(f"sheet {self.name} has no element sheetData to put cells into")
        self.sheet_data = found.span()
        self.is_closed = found[1].endswith(b"/")
        self.rows_end = self.tail = found.end()
        if self.is_closed:
            return
        self.rows_end = self.scan.find(b"</" + self._tag + b"sheetData", found.end())
        self.tail = self.scan.find(b">", self.rows_end) + 1
        if self.rows_end < 0 or not self.tail:
            raise FileReadFailed(f"sheet {self.name} is damaged: its rows do not end")

    def _check_spaces(self, attributes: bytes) -> None:
        """Refuse a part that writes names of the format in two ways."""
        spaces = {found[1] or b"": found[2] for found in _SPACE.finditer(attributes)}
        own = spaces.get(self._tag[:-1])
        for prefix, space in spaces.items():
            if space != own or prefix == self._tag[:-1]:
                continue
            names = b"<" + re.escape(prefix) + b":" if prefix else rb"<[^\s<>/:!?]+[\s/>]"
            # The searches know one spelling of a name: elements in the other would be passed over.
            if re.search(names, self.scan):
                raise ValidationFailed(f"sheet {self.name} writes its elements with two prefixes")
        place = self.sheet_data[1]
        while (place := self.scan.find(b"xmlns", place, self.rows_end)) >= 0:
            for found in _SPACE.finditer(tag_around(self.scan, place)):
                is_own = (found[1] or b"") == self._tag[:-1]
                if (found[2] == own) != is_own and (is_own or found[2] == own or not found[1]):
                    raise ValidationFailed(
                        f"sheet {self.name} changes the meaning of prefixes within its rows"
                    )
            # The rest of the tag was seen, and a text has none; after rows there are tags.
            place = self.scan.find(b"<", place)

    def _check_rows(self) -> None:
        """Refuse what looks like rows or cells inside of something else."""
        start, end = self.sheet_data[1], self.rows_end
        # The search for the plain word is many times as fast as the pattern.
        word = self.scan.find(b":AlternateContent", start, end)
        if word >= 0 and _ALTERNATIVE.search(self.scan, start, end):
            raise ValidationFailed(
                f"sheet {self.name} holds rows for different programs (AlternateContent)"
            )
        extension = b"<" + self._tag + b"extLst"
        if self.scan.find(extension, start, end) < 0:
            return
        close = b"</" + self._tag + b"extLst"
        cell = re.compile(rb"<" + re.escape(self._tag) + rb"(?:row|c|f|v|is)(?=[\s/>])")
        while (start := self.scan.find(extension, start, end)) >= 0:
            stop = self.scan.find(close, start, end)
            if stop < 0 or cell.search(self.scan, start, stop):
                raise ValidationFailed(f"sheet {self.name} holds cells inside an extension")
            start = stop

    def refused(self, reason: str) -> ValidationFailed:
        """Return the refusal of a part for a reason, which ends the sentence."""
        return ValidationFailed(f"sheet {self.name} cannot be changed safely: {reason}")

    def damaged(self, reason: str) -> FileReadFailed:
        """Return the error of a part that is not what it should be; the reason ends it."""
        return FileReadFailed(f"sheet {self.name} is damaged: {reason}")


_DIGITS = b"0123456789"
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
# Within a value in double quotes this cannot stand.
_STYLE = re.compile(rb'\A[^\']* s="([0-9]{1,9})"')


class RowMarkup(NamedTuple):
    """A row, and where it lies in `data`; `scan` is the same without comments.

    `inner` and `inner_end` are equal in a row without cells, whose tag may be closed.
    """

    number: int
    data: bytes
    scan: bytes
    start: int
    attributes: bytes
    inner: int
    inner_end: int
    end: int


class CellMarkup(NamedTuple):
    """Cell, and where it lies in its row's data; with `is_named` it has an address of its own."""

    column: int
    attributes: bytes
    is_named: bool
    start: int
    inner: int
    inner_end: int
    end: int

    @property
    def style(self) -> int:
        """The index of its style."""
        found = _STYLE.search(self.attributes)
        if found is not None:
            return int(found[1])
        word = attribute(self.attributes, b"s") if b"s" in self.attributes else None
        return 0 if word is None else whole_number(word)


class Rows:
    """The rows of a part in order.

    Attributes:
        numbers: Their numbers.
        starts: Where they begin.

    Args:
        outline: The part.
        are_gone: Whether to leave them out, as they are to be taken out.

    Raises:
        ValidationFailed: They are not in rising order.
    """

    def __init__(self, outline: Outline, *, are_gone: bool = False) -> None:
        self._outline = outline
        self._close = b"</" + outline.qualified(b"row")
        self._tag = re.compile(start_tag(outline.qualified(b"row")))
        name = re.escape(outline.qualified(b"c"))
        self._attributes_from = len(outline.qualified(b"c")) + 1
        # Most cells begin with their address, so one search finds both.
        self._cell = re.compile(
            b"<" + name + rb'(?>(?: r="([A-Z]{1,3})([0-9]{1,7})")?)(?=[\s/>])(' + ATTRIBUTES
            + rb")>(?:(?<=/>)|([^<]*+(?>(?:<(?!/" + name + rb"[\s>])[^<]*+)*))</" + name
            + rb"\s*+>)"
        )  # fmt: skip
        self._columns: dict[bytes, int] = {}
        # Arrays take twelve bytes for each row, and a sheet may have a million rows.
        self.numbers, self.starts = array("I"), array("Q")
        if not are_gone:
            self._find()

    def _find(self) -> None:
        outline = self._outline
        mark = re.escape(b"<" + outline.qualified(b"row"))
        begins = re.compile(mark + rb'(?: r="([0-9]{1,7})"|(?=[\s/>]))')
        last = 0
        number_of, start_of = self.numbers.append, self.starts.append
        for found in begins.finditer(outline.scan, outline.sheet_data[1], outline.rows_end):
            digits = found[1]
            number = int(digits) if digits else self._number(found.start(), last)
            # Rows are found by bisection: in a part out of order an edit would hit the wrong row.
            if number <= last or number > MAX_ROW:
                raise outline.refused(_disorder(number, last))
            last = number
            number_of(number)
            start_of(found.start())

    def _number(self, start: int, last: int) -> int:
        """Return the number of a row that does not begin with it, or does not say it."""
        found = self._tag.match(self._outline.scan, start)
        if found is None:
            raise self._outline.damaged(f"the tag of the row after row {last} does not end")
        word = attribute(found[1], b"r")
        if word is not None:
            return whole_number(word)
        # A row without a number follows the one before, unless its first cell is of another row.
        if not found[1].endswith(b"/"):
            stop = self._outline.scan.find(self._close, found.end())
            cell = self._cell.search(self._outline.scan, found.end(), max(stop, found.end()))
            name = None
            if cell:
                name = (cell[1] + cell[2]).decode() if cell[1] else attribute(cell[3], b"r")
            if name is not None and name.lstrip(_LETTERS) != str(last + 1):
                raise self._outline.refused(f"the row after row {last} does not say its number")
        return last + 1

    def __len__(self) -> int:
        return len(self.numbers)

    def place(self, number: int) -> int | None:
        """Return the place of a row in the order, None if there is no such row."""
        place = bisect_left(self.numbers, number)
        return place if place < len(self.numbers) and self.numbers[place] == number else None

    def places(self, area: Area) -> range:
        """Return the places of the rows of an area."""
        return range(bisect_left(self.numbers, area.top), bisect_right(self.numbers, area.bottom))

    def start_after(self, number: int) -> int:
        """Return where a row of a number that there is not belongs."""
        place = bisect_left(self.numbers, number)
        return self.starts[place] if place < len(self.starts) else self._outline.rows_end

    def holding(self, offset: int) -> int:
        """Return the place of the row that an offset lies in."""
        return bisect_right(self.starts, offset) - 1

    def at(self, place: int) -> RowMarkup:
        """Take a row apart."""
        outline = self._outline
        # The limit keeps a row that has no end from running into the next one.
        limit = self.starts[place + 1] if place + 1 < len(self.starts) else outline.rows_end
        return self.read(outline.data, outline.scan, self.numbers[place], self.starts[place], limit)

    def read(self, data: bytes, scan: bytes, number: int, start: int, limit: int) -> RowMarkup:
        """Take a row apart that begins at `start` and ends before `limit`."""
        tag = self._tag.match(scan, start, limit)
        if tag is None:
            raise self._outline.damaged(f"the tag of row {number} does not end")
        attributes, inner = tag[1], tag.end()
        if attributes.endswith(b"/"):
            return RowMarkup(
                number, data, scan, start, attributes[:-1].rstrip(), inner, inner, inner
            )
        inner_end = scan.find(self._close, inner, limit)
        end = scan.find(b">", inner_end, limit) + 1 if inner_end >= 0 else 0
        if not end:
            raise self._outline.damaged(f"row {number} does not end")
        return RowMarkup(number, data, scan, start, attributes.rstrip(), inner, inner_end, end)

    def cells(self, row: RowMarkup) -> list[CellMarkup]:
        """Take the cells of a row apart.

        Raises:
            ValidationFailed: They are not in rising order, or belong to another row.
        """
        found = []
        last, digits, scan = 0, b"%d" % row.number, row.scan
        known, begin = self._columns, self._attributes_from
        for cell in self._cell.finditer(scan, row.inner, row.inner_end):
            letters, number = cell.group(1, 2)
            start, close, inner_end = cell.start(), cell.end(3), cell.end(4)
            if letters is None:
                letters, number = self._name(cell[3], row.number)
            if not letters:
                column = last + 1
            elif number == digits:
                column = known.get(letters) or self._column(letters, row.number)
            else:
                raise self._outline.refused(f"row {row.number} holds a cell of another row")
            if column <= last:
                raise self._outline.refused(f"the cells of row {row.number} are not in order")
            last, inner = column, close + 1
            # No contents were matched: the tag closes itself, and its slash is no attribute.
            if inner_end < 0:
                inner_end, close = inner, close - 1
            # The pattern may have split off the address, so all attributes are cut out again.
            attributes = scan[start + begin : close]
            found.append(
                CellMarkup(column, attributes, bool(letters), start, inner, inner_end, cell.end())
            )
        return found

    def _name(self, attributes: bytes, row: int) -> tuple[bytes, bytes]:
        """Return the letters and digits of a cell's name, b"" and b"" if it has none."""
        word = attribute(attributes, b"r")
        if word is None:
            return b"", b""
        name = word.encode()
        letters = name.rstrip(_DIGITS)
        self._column(letters, row)
        return letters, name[len(letters) :]

    def _column(self, letters: bytes, row: int) -> int:
        try:
            column = column_number(letters.decode("utf-8", "replace")) if letters.isalpha() else 0
        except ValidationFailed:
            column = 0
        if not column:
            raise self._outline.refused(f"row {row} holds a cell without a proper name")
        self._columns[letters] = column
        return column


def _disorder(number: int, last: int) -> str:
    if not number and not last:
        return (
            "its first row has no proper number, and programs do not open it, for rows are counted "
            "from 1; have it exported again, or make a new workbook with what it holds"
        )
    if not number or number > MAX_ROW:
        return f"the row after row {last} has no proper number"
    return f"row {number} comes {'twice' if number == last else f'after row {last}'}"

"""Sorting of a text's rows, in one pass: those of the table, and those that are none of it.

Left out are what stands above the table (titles, Excel's `sep=` line), comments, a header that is
repeated, lines of pages, remarks below the table, and other tables below blank lines. What could be
one of these is held until the next rows show what it is; whatever they do not show stays a row of
the table.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from kbd.formats import TouchedRows
from kbd.formats.headings import ABOVE_REPEATED, REPEATED, repeats_header
from kbd.formats.unit_rows import UNITS
from kbd_csv.kinds import is_total, sums_up
from kbd_csv.layout import COMMENT_MARK, LineRow, TableLayout, value_count
from kbd_csv.page_lines import page_form
from kbd_csv.rows import BYTE_ORDER_MARK, RowReader
from kbd_csv.touched_rows import Touched, TouchedKinds

__all__ = ["ABOVE", "BELOW", "EMPTY", "OTHER_TABLE", "RECORD", "VALUELESS", "RowSorter"]

SEPARATOR = "delimiter line above the table"
ABOVE = "line above the header"
COMMENT = "comment"
RULE = "drawn line"
PAGE = "line of a page"
RECORD = "record of another type than the table's rows"
BELOW = "line below the table"
EMPTY = "empty line between rows"
VALUELESS = "row without any value below the table"
OTHER_TABLE = "another table"

MAX_HELD = 500
"""Rows that are held at most; more than that are no remark."""

_MAX_HELD_CHARS = 1024 * 1024
_BESIDE_CHARS = 2_000

_FEW_REMARKS = 3
"""So many remarks may stand below a header that no row follows."""

_FEW_GAPS = 3
"""Gaps of a file that may have several tables; more part groups of rows."""

_MOST_TABLES = 9
_MOST_BESIDE = 10_000


class _Other:
    """Rows in one piece that are none of the table: another table, or remarks.

    Args:
        least: Values that a row of a table has at least.
        is_below: Whether it is below the table.
    """

    def __init__(self, least: int, *, is_below: bool) -> None:
        self.is_below = is_below
        self.touched = Touched()
        self.start = 0
        self._least = least
        self._widths: Counter[int] = Counter()

    def add(self, row: LineRow) -> None:
        """Add a row."""
        self.touched.add(row.line, row.text)
        if value_count(row.fields) >= self._least:
            self._widths[len(row.fields)] += 1
            self.start = self.start or row.line

    @property
    def is_table(self) -> bool:
        """Whether most of its rows are as wide as each other, a header and a row at least."""
        alike = max(self._widths.values(), default=0)
        return alike > 1 and 2 * alike > self.touched.count


class RowSorter:
    """Sorter of the rows of one reader, once.

    Args:
        reader: Reads the file from its beginning.
        layout: Of the table.
        keeps_header: Whether the header is given as the first row.

    Attributes:
        line: The line at which the last row that was given begins.
        larger: The first line of another table that has more rows, when all rows were given.
        below: The first line of what stands below the table, if anything does; 0 if nothing.
        beside: The texts of rows that were left out, the first 10,000.
        valueless: Rows of the table without any value.
        heads: Rows of the table below a gap that may head another one.
    """

    def __init__(
        self, reader: RowReader, layout: TableLayout, *, keeps_header: bool = False
    ) -> None:
        self._reader, self._layout = reader, layout
        self._keeps_header = keeps_header
        self.line = 0
        self.larger = 0
        self.below = 0
        self.beside: list[str] = []
        self.valueless = Touched()
        self.heads = Touched()
        self._kinds = TouchedKinds()
        self._others: list[_Other] = []
        self._other: _Other | None = None
        self._held: list[LineRow] = []
        self._held_chars = 0
        self._blank_count = 0
        self._more_blank: dict[int, int] = {}
        self._given = 0
        self._page_forms: set[tuple[str, ...]] = set()
        self._last_page = (0, 0)
        self._gaps = 0
        self._heads: list[LineRow] = []
        self._text: str | None = None
        self._has_begun = False
        self._has_ended = False
        self._gap = False

    @property
    def text(self) -> str:
        """The text of the row that was given last, with the empty lines before it."""
        return self._reader.row_text if self._text is None else self._text

    def __iter__(self) -> Iterator[list[str]]:
        """Yield the table's rows. Raises FileReadFailed."""
        reader, layout = self._reader, self._layout
        # Files that were put together may have a byte order mark in the midst.
        name = layout.header[0] if layout.header else None
        quote = reader.dialect.quote_char
        marked = (f"{BYTE_ORDER_MARK}{name}", f"{BYTE_ORDER_MARK}{quote}{name}{quote}")
        written = () if name is None else (name.upper(), name.lower(), name.title())
        names = () if name is None else (name, *marked, *written)
        has_rules = layout.has_rules
        mark = COMMENT_MARK if layout.has_comments or layout.has_lone_comments else "\0"
        declared = layout.declared if layout.has_plain_firsts else 0
        code = layout.record_code
        blank = " " if layout.has_plain_firsts and layout.has_plain_blanks else "\0"
        least = 0 if layout.is_list else max(1, layout.typical // 2)
        rows = iter(reader)
        yield from self._first_rows(rows)
        while layout.units_line > reader.line and (units := next(rows, None)) is not None:
            yield from self._give(self._taken(LineRow(reader.line, units, reader.row_text)))
        for row in rows:
            # Most rows of most files: nothing is held, and it has too many values for a remark.
            if (
                len(row) - row.count("") > least
                and len(row) >= declared
                and row[-1][:1] != blank
                and row[0] not in names
                and row[0][:1] != mark
                and not self._gap
                and not has_rules
                and (not code or row[0] == code)
            ):
                self.line = reader.line
                self._given += 1
                self._text = None
                yield row
                continue
            if not row and self._gap and self._is_more_of_a_gap():
                continue
            yield from self._give(self._taken(LineRow(reader.line, row, reader.row_text)))
        yield from self._give(self._end())
        self._close()

    def records(self) -> tuple[TouchedRows, ...]:
        """Return what was left out, in the order of the file but for other tables."""
        tables = [other for other in self._others if other.is_table]
        listed = [other.touched.record(OTHER_TABLE) for other in tables[:_MOST_TABLES]]
        rest = Touched()
        for other in tables[_MOST_TABLES:]:
            rest.add(other.start, other.touched.sample, other.touched.count)
        if rest.count:
            listed.append(rest.record(OTHER_TABLE))
        return (*self._kinds.records(), *listed)

    def _first_rows(self, rows: Iterator[list[str]]) -> Iterator[list[str]]:
        """Go past what stands above the table; yields its first row."""
        layout, reader = self._layout, self._reader
        for row in rows:
            found = LineRow(reader.line, row, reader.row_text)
            if layout.has_separator_line and found.line == 1:
                self._leave(SEPARATOR, found)
                continue
            if found.line < layout.start:
                self._add_above(found)
                continue
            self._close()
            self._has_begun = True
            if layout.header is None:
                yield from self._give(self._taken(found))
            elif self._keeps_header:
                self.line, self._text = found.line, found.text
                yield layout.header
            return

    def _add_above(self, row: LineRow) -> None:
        if self._layout.is_comment(row):
            self._leave(COMMENT, row)
        elif self._layout.is_rule(row):
            self._leave(RULE, row)
        elif self._layout.is_other_record(row):
            self._leave(RECORD, row)
        elif not value_count(row.fields):
            self._close()
        else:
            self._add_other(row)

    def _give(self, rows: Iterable[LineRow]) -> Iterator[list[str]]:
        for row in rows:
            self.line, self._text = row.line, row.text
            self._given += 1
            yield row.fields

    def _taken(self, row: LineRow) -> Iterable[LineRow]:
        """Take a row that needs a closer look, and return those that are now known to be rows."""
        layout = self._layout
        if layout.is_comment(row) or layout.is_rule(row):
            self._leave(COMMENT if layout.is_comment(row) else RULE, row)
            return ()
        if row.line == layout.units_line:
            self._leave(UNITS, row)
            return ()
        if layout.is_page_line(row.fields) or self._is_of_page(row):
            self._leave_page(row)
            return ()
        if layout.is_other_record(row):
            # What is added to the file would stand behind it.
            self.below = self.below or row.line
            self._leave(RECORD, row)
            return ()
        if layout.is_list:
            return self._taken_by_list(row)
        if layout.header is not None and self._is_header(row.fields):
            self._repeat(row)
            return ()
        if self._has_ended:
            self._add_below(row)
            return ()
        if value_count(row.fields) and self._begins_other(row):
            return ()
        last = self._held[-1] if self._held else None
        is_below_gap = last is not None and (not value_count(last.fields) or self._is_titled(last))
        if is_below_gap and value_count(row.fields):
            self._note_gap(row)
        may_be_none = (
            not value_count(row.fields)
            or layout.is_aside(row.fields)
            or (layout.declared > 1 and sums_up(row.fields))
            or (is_below_gap and self._may_head(row))
        )
        self._hold(row)
        if not may_be_none:
            return self._released()
        is_full = len(self._held) > MAX_HELD or self._held_chars > _MAX_HELD_CHARS
        return self._all_but_last() if is_full else ()

    def _is_titled(self, last: LineRow) -> bool:
        """Tell whether the row that is held last may be a title below a gap."""
        return self._layout.is_aside(last.fields) and not all(
            value_count(held.fields) for held in self._held
        )

    def _note_gap(self, row: LineRow) -> None:
        """Note a row below a gap, which may head another table of as many columns."""
        self._gaps += 1
        is_counted = self._layout.header is not None and self._gaps <= _FEW_GAPS
        if is_counted and self._layout.may_head(row.fields):
            self._heads.append(row)

    def _is_of_page(self, row: LineRow) -> bool:
        """Tell whether a row says what one above a repeated header did, but for its numbers."""
        is_aside = bool(self._page_forms) and self._layout.is_aside(row.fields)
        return is_aside and page_form(row.fields) in self._page_forms

    def _leave_page(self, row: LineRow) -> None:
        """Leave a line of a page out; the first one below the last row is what it ends at."""
        given, _ = self._last_page
        if given != self._given:
            self._last_page = (self._given, row.line)
        self._leave(PAGE, row)

    def _is_more_of_a_gap(self) -> bool:
        """Count an empty line below another one, of which there may be millions."""
        if self._layout.is_list:
            self._blank_count += self._given > 0
            return True
        if not self._held or self._held[-1].fields:
            return False
        first = self._held[-1].line
        self._more_blank[first] = self._more_blank.get(first, 0) + 1
        return True

    def _taken_by_list(self, row: LineRow) -> Iterable[LineRow]:
        """Take a row of a table of one column: empty lines between its rows are empty values."""
        self._gap = not row.fields
        if self._gap:
            self._blank_count += self._given > 0
            return ()
        blank, self._blank_count = self._blank_count, 0
        first = row.line - blank
        return chain((LineRow(first + n, [""], "\n") for n in range(blank)), (row,))

    def _is_header(self, fields: Sequence[str]) -> bool:
        """Tell whether a row is the header again, also behind a byte order mark."""
        header = self._layout.header
        if repeats_header(fields, header or ()):
            return True
        if not fields or not fields[0].startswith(BYTE_ORDER_MARK):
            return False
        first = fields[0].removeprefix(BYTE_ORDER_MARK).strip(self._reader.dialect.quote_char)
        return [first, *fields[1:]] == header

    def _may_head(self, row: LineRow) -> bool:
        """Tell whether a row below a gap could head another table; the next one shows it."""
        is_other_width = len(row.fields) != self._layout.declared and value_count(row.fields) > 1
        return is_other_width or self._layout.contradicts(row.fields)

    def _hold(self, row: LineRow) -> None:
        self._held_chars = len(row.text) + (self._held_chars if self._held else 0)
        self._held.append(row)
        self._gap = True

    def _all_but_last(self) -> list[LineRow]:
        """Return what is held as rows, for it is too much for remarks; a gap stays one."""
        last = self._held.pop()
        given = self._released()
        self._hold(last)
        return given

    def _released(self) -> list[LineRow]:
        """Return the rows that are held: they are rows, and the empty lines between them none."""
        given: list[LineRow] = []
        blank = ""
        for row in self._held:
            if not row.fields or (len(row.fields) == 1 and not value_count(row.fields)):
                count = 1 + self._more_blank.pop(row.line, 0)
                if self._given or given:
                    self._kinds.add(EMPTY, row.line, row.text, count)
                blank += row.text * count
                continue
            if not value_count(row.fields):
                self.valueless.add(row.line, row.text)
            given.append(LineRow(row.line, row.fields, blank + row.text) if blank else row)
            blank = ""
        self._held.clear()
        self._gap = False
        return given

    def _repeat(self, row: LineRow) -> None:
        """Leave out a header that is repeated, with the titles above it; the table goes on."""
        for held in self._held:
            if not value_count(held.fields):
                continue
            if (form := page_form(held.fields)) is not None and len(self._page_forms) < MAX_HELD:
                self._page_forms.add(form)
            self._leave(ABOVE_REPEATED, held)
        self._held.clear()
        self._gap = False
        self._has_ended = False
        self._close()
        self._leave(REPEATED, row)

    def _begins_other(self, row: LineRow) -> bool:
        """Tell whether a held row and this one begin another table, and end this one if so."""
        if len(self._held) < 2:
            return False
        above, head = self._held[-2:]
        if value_count(above.fields) and not self._layout.is_aside(above.fields):
            return False
        if not any(not value_count(held.fields) for held in self._held[:-1]):
            return False
        if not self._layout.begins_table(head.fields, row.fields):
            return False
        for held in self._held[:-1]:
            self._add_below(held)
        self._close()
        self._add_other(head)
        self._add_other(row)
        self._held.clear()
        self._heads = [row for row in self._heads if row.line != head.line]
        self._has_ended = True
        self._gap = True
        self.below = self.below or head.line
        return True

    def _add_below(self, row: LineRow) -> None:
        """Add a row below the end of the table; blank ones end what they are below."""
        if not value_count(row.fields):
            self._close()
            if len(row.fields) > 1:
                self._leave(VALUELESS, row)
            return
        self.below = self.below or row.line
        self._add_other(row)

    def _add_other(self, row: LineRow) -> None:
        if len(self.beside) < _MOST_BESIDE:
            self.beside.append(row.text[:_BESIDE_CHARS])
        if self._other is None:
            # Above a table remarks may stand in columns, too: who, when, which account.
            is_table = self._has_begun or self._layout.is_chosen
            least = 2 if is_table else max(2, self._layout.typical // 2 + 1)
            self._other = _Other(least, is_below=self._has_begun)
        self._other.add(row)

    def _close(self) -> None:
        """End a piece of rows that are none of the table."""
        other, self._other = self._other, None
        if other is None:
            return
        self._others.append(other)
        if not other.is_table:
            what = BELOW if other.is_below else ABOVE
            for line in other.touched.rows:
                self._kinds.add(what, line, other.touched.sample)
            if more := other.touched.count - len(other.touched.rows):
                self._kinds.add(what, other.touched.rows[-1], "", more)

    def _leave(self, what: str, row: LineRow) -> None:
        if len(self.beside) < _MOST_BESIDE:
            self.beside.append(row.text[:_BESIDE_CHARS])
        self._kinds.add(what, row.line, row.text)

    def _end(self) -> list[LineRow]:
        """Decide what is held when all is read, and return the rows of the table."""
        held, self._held = self._held, []
        if self._layout.is_list:
            return []
        end = len(held)
        valued = sum(1 for row in held if value_count(row.fields))
        is_below = bool(held) and not value_count(held[0].fields) and 0 < valued <= _FEW_REMARKS
        if not self._given and not is_below and not self._has_ended:
            # There is nothing but what could be remarks: then these are the rows.
            self._held = held
            return self._released()
        while end and not value_count(held[end - 1].fields):
            end -= 1
        kept = self._kept(held[:end])
        if kept == end and not self._has_ended:
            # Rows without any value that nothing follows are rows, as those between others are.
            kept = len(held)
        while kept and not held[kept - 1].fields:
            kept -= 1
        for row in held[kept:]:
            self._add_below(row)
        self._held = held[:kept]
        given = self._released()
        self._close()
        if not given and not self.below and self._last_page[0] == self._given:
            self.below = self._last_page[1]
        last = given[-1].line if given else self.line
        # More gaps part groups of rows, and what nothing follows heads nothing.
        for row in self._heads if self._gaps <= _FEW_GAPS else ():
            if row.line < last:
                self.heads.add(row.line, row.text)
        below = (other for other in self._others if other.is_below and other.is_table)
        larger = max(below, key=lambda other: other.touched.count, default=None)
        size = self._given + len(given) + (self._layout.header is not None)
        if larger is not None and larger.touched.count > size:
            self.larger = larger.start
        return given

    def _kept(self, held: Sequence[LineRow]) -> int:
        """Return how many of the last rows are rows of the table; the others are remarks below."""
        layout = self._layout
        gap = False
        for place, row in enumerate(held):
            if not value_count(row.fields):
                gap = True
                continue
            if layout.declared > 1 and sums_up(row.fields, self._given + place):
                # It says nothing else, and what follows could be a remark, too.
                return place
            is_other_width = len(row.fields) != layout.declared
            is_remark = layout.is_aside(row.fields) or (
                is_other_width and layout.contradicts(row.fields) and not is_total(row.fields)
            )
            if is_remark and (gap or layout.is_surely_aside(row.fields)):
                # All below it are remarks, too: held are only rows that could be.
                while place and not value_count(held[place - 1].fields):
                    place -= 1
                return place
        return len(held)

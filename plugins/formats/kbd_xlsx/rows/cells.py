"""Cells of a table's rows: what each holds by its column's type, its formatting, its text.

Dates are dates, exact decimals keep their decimals, text is text whatever it begins with. A cell's
own formatting stays where it shows the value as well. Ready text is the cells as they stand in a
sheet's part, without an object for each: common values are written by makers of their column's
type, all others by the rules of types.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Literal, assert_never

import msgspec

from kbd.errors import ValidationFailed
from kbd.formats import Column, ColumnType
from kbd.sheets.areas import column_letters
from kbd_xlsx.edits.book import BookEdit
from kbd_xlsx.parts.cells import CellEdit, Content, cell_xml, escaped
from kbd_xlsx.parts.stylesheet import number_of
from kbd_xlsx.values import CellValue, cell_value, content_of, looks_like_formula, stored_text

__all__ = ["HeldTypes", "RowFormatting", "RowText", "TypedRows", "amount_code"]

_DECIMAL = re.compile(r"[-+]?\d+\.(\d{1,9})")
_EXACT_DIGITS = 15
"""Significant digits that a number of a sheet keeps."""


_MAX_MISSTATED = 0.005
"""By what share of a number two decimals may show it otherwise: 0.055 is no 0.06."""

_MAX_PLACES = 12
"""Decimals that a number format has at most; what is smaller is shown as 1.2E-15."""


def amount_code(number: float) -> str:
    """Return the number format of an amount: two decimals, more where they would misstate it.

    Args:
        number: The amount, which is finite.
    """
    size = abs(number)
    for places in range(2, _MAX_PLACES + 1):
        if abs(round(size, places) - size) <= _MAX_MISSTATED * size:
            return f"#,##0.{'0' * places}"
    return "0.00E+00"


class HeldTypes(msgspec.Struct, frozen=True):
    """Content of a cell; `code` is the number format that shows it as it came, "" if any does."""

    content: Content
    code: str = ""


class TypedRows:
    """Types the values of a table's rows.

    Args:
        from_1904: Whether the workbook counts its days from 1904.
    """

    def __init__(self, *, from_1904: bool = False) -> None:
        self._from_1904 = from_1904
        self._dates_as_text = 0
        self._like_formulas = 0

    def held(self, kind: ColumnType | None, value: Any, place: str) -> HeldTypes:
        """Return what a cell holds.

        Args:
            kind: The type of its column.
            value: What is to be written, not None.
            place: The cell, for messages.

        Raises:
            ValidationFailed: No cell can hold it.
        """
        match kind:
            case "date" | "datetime":
                return self._moment(kind, value, place)
            case "float" if isinstance(value, str):
                return self._decimal(value, place)
            # Never a formula, whatever it begins with: rows may come out of anybody's file.
            case _ if isinstance(value, str):
                return self._text(value, place)
            case _:
                if isinstance(value, int) and len(str(abs(value))) > _EXACT_DIGITS:
                    # As text it stays what it is.
                    return _text(str(value), place)
                return self._plain(cell_value(value, None, place))

    def name(self, text: str, place: str) -> Content:
        """Return what a header's cell holds; raises ValidationFailed if no cell can hold it."""
        return _text(text, place).content

    def warnings(self) -> list[str]:
        """Tell what was written otherwise than a reader may expect."""
        found = []
        if self._dates_as_text:
            found.append(
                f"{self._dates_as_text} date(s) that a sheet cannot hold were written as text."
            )
        if self._like_formulas:
            found.append(
                f"{self._like_formulas} text(s) would be formulas if they were typed: "
                "written as text."
            )
        return found

    def _plain(self, value: CellValue) -> HeldTypes:
        return HeldTypes(content_of(value, from_1904=self._from_1904))

    def _text(self, text: str, place: str) -> HeldTypes:
        self._like_formulas += looks_like_formula(text)
        return _text(text, place)

    def _moment(self, kind: Literal["date", "datetime"], value: Any, place: str) -> HeldTypes:
        try:
            held = self._plain(cell_value(value, kind, place))
        except ValidationFailed:
            held = None
        if held is None or held.content.text.startswith("-"):
            # It has a zone, or is before the first day that the workbook counts.
            self._dates_as_text += 1
            return _text(str(value), place)
        return held

    def _decimal(self, text: str, place: str) -> HeldTypes:
        """Return an exact decimal as a number that shows all its decimals, or as text if long."""
        found = _DECIMAL.fullmatch(text)
        if len(re.sub(r"\D", "", text).lstrip("0")) > _EXACT_DIGITS and found:
            return _text(text, place)
        content = content_of(cell_value(text, "number", place))
        return HeldTypes(content, f"0.{'0' * len(found[1])}" if found else "")


def _text(text: str, place: str) -> HeldTypes:
    return HeldTypes(Content("text", stored_text(text, place)))


_BOLD: Mapping[str, Any] = {"font_bold": True}
_GENERAL = "General"


class RowFormatting:
    """Works out styles, each combination once.

    Args:
        book: The workbook that the styles are of.
        chosen: Styles whose number format somebody chose, so that it shows whatever number comes.
        amounts: Styles of amounts, of which small ones are shown with more decimals.
    """

    def __init__(
        self, book: BookEdit, chosen: Collection[int] = (), amounts: Collection[int] = ()
    ) -> None:
        self._book, self._chosen = book, frozenset(chosen)
        self._amounts = frozenset(amounts)
        self._formats: dict[str, Mapping[str, Any]] = {}
        self._indexes: dict[tuple[int, str, str, str], int] = {}
        self._codes: dict[tuple[int, str], str] = {}

    def edit(self, base: int, held: HeldTypes) -> CellEdit:
        """Return the edit of a cell that has, or would inherit, a style."""
        code = self._code(base, held)
        return CellEdit(held.content, (self._format(code),) if code else ())

    def name_edit(self, base: int, content: Content) -> CellEdit:
        """Return the edit of a header's cell: bold unless it has a look of its own."""
        return CellEdit(content, () if base else (_BOLD,))

    def index(self, base: int, held: HeldTypes) -> int:
        """Return the style index of a cell that would inherit one."""
        content = held.content
        if base in self._chosen and not content.show:
            return base
        if base in self._amounts and content.kind == "number":
            code = amount_code(float(content.text))
            return self._book.styles.styled(base, self._format(code))
        key = base, content.kind, content.show, held.code
        known = self._indexes.get(key)
        if known is None:
            known = self._indexes[key] = self._book.restyle(base, self.edit(base, held))
        return known

    def bold(self, base: int) -> int:
        """Return the style index of a header's cell that would inherit one."""
        return self._book.styles.styled(base, _BOLD)

    def _code(self, base: int, held: HeldTypes) -> str:
        """Return the number format that a plain number needs, "" if its cell's will do."""
        if held.content.kind != "number" or held.content.show:
            # Dates get theirs from the workbook, text needs none.
            return ""
        if not base and not held.code:
            return ""
        key = base, held.code
        known = self._codes.get(key)
        if known is None:
            known = self._codes[key] = self._new_code(base, held.code)
        return known

    def _new_code(self, base: int, wanted: str) -> str:
        styles = self._book.styles
        if styles.is_date(base):
            # What was a date must not show a number as one.
            return wanted or _GENERAL
        is_general = not number_of(styles.tables.entry("cellXfs", base), "numFmtId")
        return wanted if is_general else ""

    def _format(self, code: str) -> Mapping[str, Any]:
        return self._formats.setdefault(code, {"number_format": code})


# No underscore: it may begin an escape of the format (_x0041_), which the rules know.
_PLAIN_TEXT = re.compile(r"(?![\s=+@-])[^\x00-\x1f\x7f-\x9f&<>_\ud800-\uffff]{1,32000}(?<!\s)")
"""Text that a cell holds and XML shows as it is, and that cannot be taken for a formula."""

_MARKED_TEXT = re.compile(_PLAIN_TEXT.pattern.replace("&<>", ""))
"""The same, but for what XML has other ways to write."""

_SHORT_DECIMAL = re.compile(r"-?(?:0|[1-9]\d{0,8})\.(\d{1,5})")
"""A decimal of less than 15 digits, in the form that the format has, too."""

_MAX_INTEGER = 10**14
_MAX_CACHED = 50_000
"""Dates whose cells are remembered: those of more than a hundred years."""

_PLAIN_NUMBER = HeldTypes(Content("number", "0"))

_Maker = Callable[[str, Any], str]
"""Makes the XML of a cell from the digits of its row and its value, which is not None."""


class RowText:
    """Makes the cells of rows that have none yet.

    Args:
        prefix: What stands before the names of the part's elements ("x:", mostly "").
        columns: The columns in order.
        left: The first of them on the sheet, from 1.
        typed: Types the values.
        formatting: The styles of the cells.
        bases: The style that a cell of each column has unless it needs another one.
    """

    def __init__(
        self,
        prefix: str,
        columns: Sequence[Column],
        left: int,
        typed: TypedRows,
        formatting: RowFormatting,
        bases: Sequence[int],
    ) -> None:
        self._prefix, self._columns, self._typed, self._formatting = (
            prefix,
            columns,
            typed,
            formatting,
        )
        self._places = [column_letters(left + number) for number in range(len(columns))]
        self._bases = bases
        self._makers = [self._maker(number) for number in range(len(columns))]

    def header(self, row: int) -> str:
        """Return the cells of the columns' names, in bold."""
        cells = []
        for column, letters, base in zip(self._columns, self._places, self._bases, strict=True):
            place = f"{letters}{row}"
            content = self._typed.name(column.name, place)
            cells.append(cell_xml(self._prefix, place, self._formatting.bold(base), content))
        return "".join(cells)

    def row(self, row: int, values: Sequence[Any]) -> str:
        """Return the cells of a row of values; None has no cell.

        Raises:
            ValidationFailed: A cell cannot hold a value.
        """
        pairs = zip(self._makers, values, strict=True)
        digits = str(row)
        return "".join([make(digits, value) for make, value in pairs if value is not None])

    def total(self, row: int, values: Sequence[Any], formulas: Mapping[int, str]) -> str:
        """Return the cells of a row as `row` does, but some figures as formulas that come to them.

        Args:
            row: Its number.
            values: Its values.
            formulas: Formulas without their sign, by the place of their column.
        """
        cells = []
        for number, (make, value) in enumerate(zip(self._makers, values, strict=True)):
            if number in formulas:
                place = f"{self._places[number]}{row}"
                held = self._typed.held(self._columns[number].type, value, place)
                style = self._formatting.index(self._bases[number], held)
                content = held.content
                content = Content("formula", formulas[number], content.show, content.text)
                cells.append(cell_xml(self._prefix, place, style, content))
            elif value is not None:
                cells.append(make(str(row), value))
        return "".join(cells)

    def _maker(self, number: int) -> _Maker:
        """Return what makes the cells of a column."""
        column, letters, base = self._columns[number], self._places[number], self._bases[number]

        def by_rule(row: str, value: Any) -> str:
            place = f"{letters}{row}"
            held = self._typed.held(column.type, value, place)
            return cell_xml(self._prefix, place, self._formatting.index(base, held), held.content)

        match column.type:
            case "float":
                return self._decimals(letters, base, by_rule)
            case "date" | "datetime":
                return self._moments(letters, base, column)
            case "integer":
                return self._integers(letters, base, by_rule)
            case "string" | None:
                return self._texts(letters, base, by_rule)
            case "boolean":
                return self._booleans(letters, base, by_rule)
            case other:
                assert_never(other)

    def _texts(self, letters: str, base: int, by_rule: _Maker) -> _Maker:
        prefix = self._prefix
        start = f'<{prefix}c r="{letters}'
        middle = f'"{_style(base)} t="inlineStr"><{prefix}is><{prefix}t>'
        end = f"</{prefix}t></{prefix}is></{prefix}c>"

        def make(row: str, value: Any) -> str:
            if isinstance(value, str):
                if _PLAIN_TEXT.fullmatch(value):
                    return f"{start}{row}{middle}{value}{end}"
                if _MARKED_TEXT.fullmatch(value):
                    return f"{start}{row}{middle}{escaped(value)}{end}"
            return by_rule(row, value)

        return make

    def _booleans(self, letters: str, base: int, by_rule: _Maker) -> _Maker:
        start = f'<{self._prefix}c r="{letters}'
        rests = [f'"{_style(base)} t="b"><{self._prefix}v>{n}{self._end}' for n in (0, 1)]

        def make(row: str, value: Any) -> str:
            # A test for equality would take 1 and 0 for booleans, too.
            if value is True or value is False:
                return f"{start}{row}{rests[value]}"
            return by_rule(row, value)

        return make

    def _integers(self, letters: str, base: int, by_rule: _Maker) -> _Maker:
        start, end = f'<{self._prefix}c r="{letters}', self._end
        middle = self._middle(base, _PLAIN_NUMBER)

        def make(row: str, value: Any) -> str:
            # isinstance() would take a boolean for a number.
            if type(value) is int and -_MAX_INTEGER <= value <= _MAX_INTEGER:
                return f"{start}{row}{middle}{value}{end}"
            return by_rule(row, value)

        return make

    def _decimals(self, letters: str, base: int, by_rule: _Maker) -> _Maker:
        start, end = f'<{self._prefix}c r="{letters}', self._end
        middles: dict[int, str] = {}

        def make(row: str, value: Any) -> str:
            found = _SHORT_DECIMAL.fullmatch(value) if isinstance(value, str) else None
            if found is None:
                return by_rule(row, value)
            places = len(found[1])
            if places > 2 and value.startswith(("0.", "-0.")):
                # How many decimals show it depends on the value, see `amount_code`.
                return by_rule(row, value)
            # Others with equally many decimals share a number format, and so a style.
            if places not in middles:
                middles[places] = self._middle(base, self._typed.held("float", value, ""))
            return f"{start}{row}{middles[places]}{value}{end}"

        return make

    def _moments(self, letters: str, base: int, column: Column) -> _Maker:
        start = f'<{self._prefix}c r="{letters}'
        known: dict[Any, str] = {}

        def make(row: str, value: Any) -> str:
            rest = known.get(value)
            if rest is not None:
                return f"{start}{row}{rest}"
            place = f"{letters}{row}"
            held = self._typed.held(column.type, value, place)
            if held.content.kind == "number" and len(known) < _MAX_CACHED:
                known[value] = f"{self._middle(base, held)}{held.content.text}{self._end}"
            return cell_xml(self._prefix, place, self._formatting.index(base, held), held.content)

        return make

    def _middle(self, base: int, held: HeldTypes) -> str:
        """Return what stands between the row of a number and the number."""
        return f'"{_style(self._formatting.index(base, held))}><{self._prefix}v>'

    @property
    def _end(self) -> str:
        return f"</{self._prefix}v></{self._prefix}c>"


def _style(index: int) -> str:
    return f' s="{index}"' if index else ""

"""Contents of a spreadsheet in one pass: its sheets, with what is hidden of them.

The parser holds no tree: elements are told one by one, and of each row only its values are kept.
Notes, shapes, what tracked changes hold and the copies of other files' cells are passed over.
OpenDocument 1.3, part 3, 9 (tables), 6.1 (blanks in paragraphs).
"""

import re
from collections.abc import Mapping
from typing import IO, Any, cast

from lxml import etree

from kbd.errors import FileReadFailed
from kbd.office.open_document import DRAW, OFFICE, STYLE, TABLE, TEXT, count
from kbd.opc.package import reading_errors
from kbd.sheets.areas import MAX_COLUMN, MAX_ROW
from kbd_ods.cell_values import NULL_DATE, VALUE_TYPE, cell_error, cell_value
from kbd_ods.formula_texts import formula_text
from kbd_ods.sheet_builder import FoundFormula, FoundSheet, SheetBuilder

__all__ = ["parse_contents"]

_BLOCK_BYTES = 1 << 18
_MAX_SHEETS = 10_000
_MAX_BLANKS = 10_000_000
"""Blanks and tabs that elements stand for, in all of a file."""

_MAX_DEPTH = 256
"""As deep as parsers of trees go; a target is told of any depth."""

_CONFIG = "{urn:oasis:names:tc:opendocument:xmlns:config:1.0}"
_CELLS = (f"{TABLE}table-cell", f"{TABLE}covered-table-cell")
_GROUPS = (f"{TABLE}table-row-group", f"{TABLE}table-column-group")
_PASSED = frozenset(
    {f"{OFFICE}annotation", f"{TABLE}tracked-changes", f"{TABLE}dde-links", f"{TEXT}note",
     f"{TEXT}ruby-text", f"{TEXT}tracked-changes", f"{TABLE}shapes"}
)  # fmt: skip
_MARKS = {f"{TEXT}tab": "\1", f"{TEXT}line-break": "\2"}
"""What these elements are in a paragraph until its blanks are joined: no XML holds such letters."""

_BLANK = "\0"
_BREAK = "\3"
_BROKEN = re.compile(r" *[\t\r\n][ \t\r\n]*")
_WRITTEN = str.maketrans({_BLANK: " ", _BREAK: " ", "\1": "\t", "\2": "\n"})
_COPIED = re.compile(r"'.*'#\$?.*", re.DOTALL)
"""How sheets are named that hold copies of another file's cells; no program shows them."""

_TRUTHS = {"=TRUE()": True, "=FALSE()": False}
"""Formulas that LibreOffice makes of booleans, some of which it stores as 1 and 0: no results."""

_FROZEN = "2"
_SETTINGS = ("VerticalSplitMode", "VerticalSplitPosition")


def parse_contents(name: str, parts: tuple[IO[bytes], ...]) -> list[FoundSheet]:
    """Return the sheets of a spreadsheet, in the order of their tabs.

    Args:
        name: The file's name, for messages.
        parts: Its XML, the contents last.

    Raises:
        FileReadFailed: It is damaged, past a limit, or no spreadsheet.
    """
    contents = _Contents(name)
    # Its methods take what the parser gives them, which the types of lxml tell more loosely.
    target = cast("Any", contents)
    for part in parts:
        # No entity can be declared: a part with a document type does not come here. A parser that
        # is told to resolve none gives its target &amp; in attributes as &#38;.
        parser = etree.XMLParser(target=target, no_network=True, load_dtd=False)
        with reading_errors(name):
            while block := part.read(_BLOCK_BYTES):
                parser.feed(block)
            parser.close()
    return contents.found()


class _Contents:
    """Target of a parser, for one part of a spreadsheet after the other."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._depth = 0
        self._passed = 0
        """The depth of the element that is passed over with all that is in it; 0 for none."""
        self._body = 0
        """The depth of the element that holds the sheets; 0 before and after it."""
        self._has_body = False
        self._style = ""
        self._unseen_styles: set[str] = set()
        self._splits: dict[str, dict[str, str]] = {}
        self._entry, self._setting = "", ""
        self._sheet: SheetBuilder | None = None
        self._sheets: list[FoundSheet] = []
        self._hidden_groups: list[int] = []
        self._row: Mapping[str, str] = {}
        self._cell: dict[str, str] | None = None
        self._is_covered = False
        self._paragraphs: list[str] = []
        self._pieces: list[str] | None = None
        self._paragraph = 0
        self._blanks = 0
        self._null_date = NULL_DATE

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Begin an element."""
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise FileReadFailed(f"{self._name} is damaged: its elements are nested too deeply")
        if self._passed:
            return
        if self._cell is not None:
            self._start_in_cell(tag, attributes)
        elif tag in _CELLS:
            self._start_cell(tag, attributes)
        elif tag in _PASSED or tag.startswith(DRAW):
            self._pass_over(tag)
        elif self._body:
            self._start_in_body(tag, attributes)
        elif tag == f"{OFFICE}spreadsheet":
            self._body, self._has_body = self._depth, True
        else:
            self._start_before_body(tag, attributes)

    def end(self, tag: str) -> None:
        """End an element."""
        depth = self._depth
        self._depth -= 1
        if self._passed:
            if depth == self._passed:
                self._passed = 0
            return
        if self._pieces is not None:
            if depth == self._paragraph:
                self._end_paragraph(self._pieces)
        elif self._cell is not None:
            if tag in _CELLS:
                self._end_cell(self._cell)
        elif tag == f"{TABLE}table-row" and self._sheet is not None:
            row = self._row
            hidden = bool(self._hidden_groups) or _is_unseen(row)
            repeated = count(row.get(f"{TABLE}number-rows-repeated"), MAX_ROW + 1)
            self._sheet.end_row(max(1, repeated), hidden=hidden)
        elif self._hidden_groups and depth == self._hidden_groups[-1]:
            self._hidden_groups.pop()
        elif tag == f"{TABLE}table" and depth == self._body + 1:
            self._end_sheet()
        elif depth == self._body:
            self._body = 0
        self._setting = ""

    def data(self, text: str) -> None:
        """Take text of an element."""
        if self._passed:
            return
        if self._pieces is not None:
            self._pieces.append(text)
        elif self._setting:
            found = self._splits.setdefault(self._entry, {})
            found[self._setting] = found.get(self._setting, "") + text

    def close(self) -> None:
        """End a part."""
        self._depth = self._passed = self._body = 0

    def found(self) -> list[FoundSheet]:
        """Return the sheets.

        Raises:
            FileReadFailed: There are none.
        """
        if not self._has_body:
            raise FileReadFailed(f"{self._name} is damaged: it holds no spreadsheet")
        if not self._sheets:
            raise FileReadFailed(f"{self._name} is damaged: it has no sheets")
        return self._sheets

    def _pass_over(self, tag: str) -> None:
        self._passed = self._depth
        if self._sheet is not None:
            self._sheet.comments += tag == f"{OFFICE}annotation"
            self._sheet.objects += tag.startswith(DRAW) or tag == f"{TABLE}shapes"

    def _start_before_body(self, tag: str, attributes: Mapping[str, str]) -> None:
        """See which styles hide sheets, and which rows stay in view."""
        if tag == f"{STYLE}style":
            self._style = attributes.get(f"{STYLE}name", "")
        elif tag == f"{STYLE}table-properties":
            if attributes.get(f"{TABLE}display") == "false":
                self._unseen_styles.add(self._style)
        elif tag == f"{_CONFIG}config-item-map-entry":
            self._entry = attributes.get(f"{_CONFIG}name", "")
        elif tag == f"{_CONFIG}config-item":
            setting = attributes.get(f"{_CONFIG}name", "")
            self._setting = setting if setting in _SETTINGS else ""

    def _start_in_body(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == f"{TABLE}table":
            if self._depth != self._body + 1:
                self._pass_over(tag)
                return
            if len(self._sheets) >= _MAX_SHEETS:
                raise FileReadFailed(f"{self._name} has more than {_MAX_SHEETS:,} sheets")
            name = attributes.get(f"{TABLE}name") or f"Sheet{len(self._sheets) + 1}"
            hidden = attributes.get(f"{TABLE}style-name", "") in self._unseen_styles
            hidden = hidden or attributes.get(f"{TABLE}display") == "false"
            self._sheet = SheetBuilder(self._name, name, hidden=hidden)
        elif tag == f"{TABLE}null-date":
            self._null_date = attributes.get(f"{TABLE}date-value", NULL_DATE).strip()
        elif self._sheet is None:
            return
        elif tag == f"{TABLE}table-row":
            self._row = dict(attributes)
        elif tag == f"{TABLE}table-column":
            repeated = count(attributes.get(f"{TABLE}number-columns-repeated"), MAX_COLUMN)
            hidden = bool(self._hidden_groups) or _is_unseen(attributes)
            self._sheet.add_columns(max(1, repeated), hidden=hidden)
        elif tag in _GROUPS and attributes.get(f"{TABLE}display") == "false":
            self._hidden_groups.append(self._depth)

    def _end_sheet(self) -> None:
        if self._sheet is None:
            return
        found, self._sheet = self._sheet.found(self._frozen_rows(self._sheet.name)), None
        if not _COPIED.fullmatch(found.name):
            self._sheets.append(found)

    def _frozen_rows(self, name: str) -> int:
        split = self._splits.get(name, {})
        is_frozen = split.get(_SETTINGS[0], "").strip() == _FROZEN
        return count(split.get(_SETTINGS[1]), MAX_ROW, 0) if is_frozen else 0

    def _start_cell(self, tag: str, attributes: Mapping[str, str]) -> None:
        if self._sheet is None:
            self._pass_over(tag)
            return
        self._cell = dict(attributes)
        self._is_covered = tag == _CELLS[1]
        self._paragraphs = []

    def _start_in_cell(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag in _PASSED or tag.startswith((DRAW, TABLE)):
            self._pass_over(tag)
        elif self._pieces is None:
            if tag in (f"{TEXT}p", f"{TEXT}h"):
                self._pieces, self._paragraph = [], self._depth
        elif tag == f"{TEXT}s":
            blanks = count(attributes.get(f"{TEXT}c"), _MAX_BLANKS + 1)
            self._blanks += blanks
            if self._blanks > _MAX_BLANKS:
                raise FileReadFailed(
                    f"{self._name} is refused: its texts have more than {_MAX_BLANKS:,} blanks"
                )
            self._pieces.append(_BLANK * blanks)
        elif tag in _MARKS:
            self._pieces.append(_MARKS[tag])

    def _end_paragraph(self, pieces: list[str]) -> None:
        # A line that is broken in the file is one blank, or none at an end. Blanks alone are kept
        # as they are: LibreOffice writes those of texts with several lines so.
        text = _BROKEN.sub(_BREAK, "".join(pieces)).strip(_BREAK)
        self._paragraphs.append(text.translate(_WRITTEN))
        self._pieces = None

    def _end_cell(self, attributes: dict[str, str]) -> None:
        self._cell = None
        sheet = self._sheet
        assert sheet is not None
        text = "\n".join(self._paragraphs)
        repeated = max(1, count(attributes.get(f"{TABLE}number-columns-repeated"), MAX_COLUMN + 1))
        formula = formula_text(attributes.get(f"{TABLE}formula", ""))
        error = cell_error(attributes, text, is_formula=bool(formula))
        value = cell_value(attributes, text, self._null_date)
        if formula in _TRUTHS:
            value, formula = _TRUTHS[formula], ""
        if self._is_covered:
            sheet.covered += value != "" or bool(error)
            sheet.skip(repeated)
            return
        rows = count(attributes.get(f"{TABLE}number-rows-spanned"), MAX_ROW)
        columns = count(attributes.get(f"{TABLE}number-columns-spanned"), MAX_COLUMN)
        if rows > 1 or columns > 1:
            sheet.add_merged(max(1, rows), max(1, columns))
        if value == "" and not error and not formula:
            sheet.skip(repeated)
            return
        computed = None
        if formula or error:
            is_stored = bool(error) or VALUE_TYPE in attributes
            computed = FoundFormula(0, 0, formula, error, is_stored)
        currency = attributes.get(f"{OFFICE}currency", "")
        sheet.add_cell("" if error else value, repeated, computed, currency)


def _is_unseen(attributes: Mapping[str, str]) -> bool:
    return attributes.get(f"{TABLE}visibility") in ("collapse", "filter")

"""Formulas and errors of cells as text, which the library that reads values does not give.

Rows whose cells are written as nearly all producers write them are searched as bytes; where
anything is written otherwise, the sheet is parsed row by row.
"""

import re
from collections.abc import Iterable, Iterator
from html import unescape

import msgspec
from lxml import etree
from openpyxl.formula.translate import TranslatorError

from kbd.errors import FileReadFailed
from kbd.opc.package import Package, reading_errors
from kbd.sheets.areas import MAX_ROW, cell_name, column_number, parse_cell, whole_number
from kbd_xlsx.reader.parts import XmlPiece
from kbd_xlsx.translator import FormulaTranslator

__all__ = [
    "FormulaBatch",
    "FormulaFacts",
    "FormulaTexts",
    "UnusualXmlError",
    "batches_of_part",
    "batches_of_rows",
]

_UNKNOWN_TEXT = "= …"
"""Text in place of a formula that has none: of a data table, say."""

_BATCH_CELLS = 1000

_FORMULA_TAG = re.compile(rb"<f[\s>/]")
_FORMULA = re.compile(
    rb"<c r=\"([A-Z]{1,3})(\d{1,7})\"([^>]*)>"
    rb"<f((?:\s[^>]*?)?)(?:/>|>([^<]*)</f>)(?:<v>([^<]*)</v>)?"
)
_ERROR_TAG = re.compile(rb"<c\s[^>]*\st=\"e\"")
_ERROR = re.compile(rb"<c r=\"([A-Z]{1,3})(\d{1,7})\"[^>]*\st=\"e\"[^>]*><v>([^<]*)</v>")
_PREFIXED = re.compile(rb":f[\s>/]|\st=[\"']e[\"']")
_COMMENT = re.compile(rb"<!(?:--|\[CDATA)")
_QUOTES_SEEN = 4096
"""Bytes of a block that show with which quotes it is written."""

_GROUP = re.compile(rb"\ssi=\"(\d{1,10})\"")
_RECALCULATED = re.compile(rb"\sca=\"(?:1|true)\"")


class FormulaFacts(msgspec.Struct, frozen=True, array_like=True):
    """A cell with a formula or an error.

    Args:
        row: Its row.
        column: Its column.
        text: The formula without "="; a number is the place of the formula that it shares among
            its batch's `masters`; None is an error without a formula.
        error: The error that is the cell's value, "" if it is another.
        is_empty_text: Whether the stored result is a text without letters.
        is_recalculated: Whether the file says to calculate it every time.
    """

    row: int
    column: int
    text: str | int | None
    error: str = ""
    is_empty_text: bool = False
    is_recalculated: bool = False


class FormulaBatch(msgspec.Struct, array_like=True):
    """Some cells in the order of the file, and the formulas that they share with their places."""

    masters: list[tuple[str, int, int]]
    cells: list[FormulaFacts]


class _Shared:
    """The shared formulas of a sheet as they come, and those that the latest batch uses."""

    def __init__(self) -> None:
        self._masters: dict[str, tuple[str, int, int]] = {}
        self._places: dict[str, int] = {}
        self.batch = FormulaBatch([], [])

    def define(self, group: str, text: str, row: int, column: int) -> None:
        self._masters[group] = (text, row, column)
        # A number that is used again stands for the new formula from now on.
        self._places.pop(group, None)

    def text(self, group: str) -> str | int:
        """Return what a cell of a group has as its text."""
        master = self._masters.get(group)
        if master is None:
            return ""
        place = self._places.get(group)
        if place is None:
            place = self._places[group] = len(self.batch.masters)
            self.batch.masters.append(master)
        return place

    def full(self) -> FormulaBatch:
        """Return the batch and begin another."""
        batch, self.batch = self.batch, FormulaBatch([], [])
        # Each batch is read on its own, so it must hold the shared formulas that it needs.
        self._places.clear()
        return batch


class FormulaTexts:
    """Writes formulas out; one that many cells share is taken apart once."""

    def __init__(self) -> None:
        self._shared: dict[tuple[str, int, int], FormulaTranslator] = {}

    def text(self, facts: FormulaFacts, batch: FormulaBatch) -> str:
        """Return a cell's formula with its "=", one that is shared as of its own cell."""
        if isinstance(facts.text, str):
            return f"={facts.text}" if facts.text else _UNKNOWN_TEXT
        assert facts.text is not None
        text, row, column = master = batch.masters[facts.text]
        try:
            translator = self._shared.get(master)
            if translator is None:
                translator = FormulaTranslator(f"={text}", cell_name(row, column))
                self._shared[master] = translator
            return str(translator.translate_formula(cell_name(facts.row, facts.column)))
        except (TranslatorError, ValueError):
            return _UNKNOWN_TEXT


class UnusualXmlError(Exception):
    """Cells are written in a way that they are not searched for."""


def batches_of_rows(rows: Iterable[XmlPiece]) -> Iterator[FormulaBatch]:
    """Search pieces that are whole rows.

    Raises:
        UnusualXmlError: They must be parsed; what came before must be forgotten.
    """
    shared = _Shared()
    columns: dict[bytes, int] = {}
    for piece in rows:
        if piece.prefix and _PREFIXED.search(piece.data):
            raise UnusualXmlError
        for row, letters, attributes, details, text, value in _matches(piece.data):
            column = columns.get(letters)
            if column is None:
                column = columns[letters] = column_number(letters.decode())
            facts = _formula_facts(int(row), column, attributes, details, text, value, shared)
            shared.batch.cells.append(facts)
            if len(shared.batch.cells) >= _BATCH_CELLS:
                yield shared.full()
    if shared.batch.cells:
        yield shared.full()


def _matches(block: bytes) -> Iterator[tuple[bytes, bytes, bytes, bytes | None, bytes, bytes]]:
    """Yield row, column, attributes, those of the formula (None without one), text, and value."""
    formulas = _FORMULA_TAG.search(block) is not None
    errors = b't="e"' in block
    unusual = b"='" in block[:_QUOTES_SEEN]
    if not formulas and not errors and not unusual:
        return
    if unusual or _COMMENT.search(block):
        raise UnusualXmlError
    with_formula = _FORMULA.findall(block) if formulas else []
    # Where the pattern missed a formula, that is written in another way, and the sheet is parsed.
    if formulas and len(with_formula) != len(_FORMULA_TAG.findall(block)):
        raise UnusualXmlError
    plain = _ERROR.findall(block) if errors else []
    if errors:
        matched = len(plain) + sum(b't="e"' in cell[2] for cell in with_formula)
        if matched != len(_ERROR_TAG.findall(block)):
            raise UnusualXmlError
    for letters, row, attributes, details, text, value in with_formula:
        yield row, letters, attributes, details, text, value
    for letters, row, value in plain:
        yield row, letters, b"", None, b"", value


def _formula_facts(
    row: int,
    column: int,
    attributes: bytes,
    details: bytes | None,
    text: bytes,
    value: bytes,
    shared: _Shared,
) -> FormulaFacts:
    if details is None:
        return FormulaFacts(row, column, None, _unescaped(value))
    written: str | int = _unescaped(text)
    if details:
        group = _GROUP.search(details) if b't="shared"' in details else None
        if group is not None and isinstance(written, str):
            key = group[1].decode()
            if written:
                shared.define(key, written, row, column)
            else:
                written = shared.text(key)
    is_error = b't="e"' in attributes
    return FormulaFacts(
        row,
        column,
        written,
        _unescaped(value) if is_error else "",
        not value and b't="str"' in attributes,
        bool(details) and _RECALCULATED.search(details) is not None,
    )


def _unescaped(data: bytes) -> str:
    text = data.decode("utf-8", "replace")
    if "\r" in text:
        # As a parser does (XML, 2.11); one that is meant is written as a reference.
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    # The search works on raw bytes, so character references are resolved here.
    return unescape(text) if "&" in text else text


def batches_of_part(package: Package, part: str) -> Iterator[FormulaBatch]:
    """Parse a sheet row by row, however it is written. Raises FileReadFailed."""
    shared = _Shared()
    number = 0
    with package.open(part) as file, reading_errors(package.name):
        # Before lxml 6.1.0 `iterparse` puts local files in for entities unless told not to
        # (CVE-2026-41066).
        rows = etree.iterparse(
            file, events=("end",), tag="{*}row", resolve_entities=False, no_network=True,
            remove_comments=True, remove_pis=True,
        )  # fmt: skip
        for _, row in rows:
            digits = row.get("r")
            number = whole_number(digits) if digits and digits.isdecimal() else number + 1
            if number > MAX_ROW:
                raise FileReadFailed(f"{package.name} is damaged: it has a row past the last")
            _read_row(row, number, shared)
            row.clear()
            # A cleared row remains a child of its parent, and a large sheet would pile them up.
            while row.getprevious() is not None:
                del row.getparent()[0]
            if len(shared.batch.cells) >= _BATCH_CELLS:
                yield shared.full()
    if shared.batch.cells:
        yield shared.full()


def _read_row(row: etree._Element, number: int, shared: _Shared) -> None:
    column = 0
    for cell in row.iterchildren("{*}c"):
        reference = cell.get("r")
        column = parse_cell(reference)[1] if reference else column + 1
        formula = next(cell.iterchildren("{*}f"), None)
        kind = cell.get("t")
        if formula is None and kind != "e":
            continue
        value = cell.findtext("{*}v") or ""
        if formula is None:
            if value:
                shared.batch.cells.append(FormulaFacts(number, column, None, value))
            continue
        written: str | int = formula.text or ""
        group = formula.get("si") if formula.get("t") == "shared" else None
        if group is not None and isinstance(written, str):
            if written:
                shared.define(group, written, number, column)
            else:
                written = shared.text(group)
        error = value if kind == "e" else ""
        often = formula.get("ca") in ("1", "true")
        facts = FormulaFacts(number, column, written, error, kind == "str" and not value, often)
        shared.batch.cells.append(facts)

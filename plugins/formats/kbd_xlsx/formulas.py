"""What the library that reads values does not tell of a sheet: formulas and errors, as text."""

from lxml import etree
from openpyxl.formula.translate import Translator, TranslatorError

from kbd.opc import Package, reading_errors
from kbd_xlsx.features import Features
from kbd_xlsx.references import cell_name, parse_cell
from kbd_xlsx.workbook import SheetPart

__all__ = ["read_formulas"]

_UNTOLD = "= …"
"""Stands for a formula whose text cannot be told."""


def read_formulas(
    package: Package, sheet: SheetPart, features: Features
) -> dict[tuple[int, int], str]:
    """Return a sheet's formulas by row and column, each beginning with "=", and error values.

    The sheet is parsed row by row, if it has any; one that shares another's text is
    written out for its own cell. Raises FileReadFailed.
    """
    if not (features.has_formulas or features.has_errors) or not sheet.part:
        return {}
    found: dict[tuple[int, int], str] = {}
    shared: dict[str, tuple[str, str]] = {}
    row_number = 0
    with package.open(sheet.part) as file, reading_errors(package.name):
        rows = etree.iterparse(
            file, events=("end",), tag="{*}row", resolve_entities=False, no_network=True
        )
        for _, row in rows:
            row_number = int(row.get("r") or row_number + 1)
            _take_row(row, row_number, shared, found)
            row.clear()
            while row.getprevious() is not None:
                del row.getparent()[0]
    return found


def _take_row(
    row: etree._Element,
    number: int,
    shared: dict[str, tuple[str, str]],
    found: dict[tuple[int, int], str],
) -> None:
    column = 0
    for cell in row.iterchildren("{*}c"):
        reference = cell.get("r")
        column = parse_cell(reference)[1] if reference else column + 1
        formula = next(cell.iterchildren("{*}f"), None)
        if formula is None:
            error = cell.findtext("{*}v") if cell.get("t") == "e" else None
            if error:
                found[number, column] = error
            continue
        place = cell_name(number, column)
        found[number, column] = _text(formula, place, shared)


def _text(formula: etree._Element, place: str, shared: dict[str, tuple[str, str]]) -> str:
    text = formula.text or ""
    group = formula.get("si") if formula.get("t") == "shared" else None
    if text:
        if group is not None:
            shared[group] = (f"={text}", place)
        return f"={text}"
    if group is None or group not in shared:
        return _UNTOLD
    master, origin = shared[group]
    try:
        return str(Translator(master, origin).translate_formula(place))
    except (TranslatorError, ValueError):
        return _UNTOLD

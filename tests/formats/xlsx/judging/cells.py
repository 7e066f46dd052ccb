"""The cells of a worksheet part: what each holds, apart from how it is stored."""

from collections.abc import Iterator
from typing import NamedTuple

from openpyxl.formula.translate import Translator, TranslatorError

from judging.looks import font
from judging.package import Element, Parts, children, local
from judging.places import Place, name, place

__all__ = ["MISSING", "Cell", "Row", "Value", "read_rows", "shared_strings"]

Value = float | str | bool | None | tuple[tuple[str, str], ...]
"""A number, text, yes or no, nothing, or runs of text, each with how it looks."""


MISSING = "no such text"
"""Stands for a shared string that the list does not have."""


class Cell(NamedTuple):
    """What a cell holds.

    Args:
        at: Where.
        kind: number, text, boolean, error, date or blank: of the value.
        value: The constant, or the stored result of the formula.
        formula: Without "=", those of shared formulas written out; None where there is none.
        array: The range of an array formula or data table.
        extra: What else the formula and the cell carry (kinds, metadata), as a text.
        style: The style index.
    """

    at: Place
    kind: str
    value: Value
    formula: str | None
    array: str
    extra: str
    style: int


class Row(NamedTuple):
    """A row: its number, attributes without spans, and cells in the order of the file."""

    number: int
    attributes: dict[str, str]
    cells: list[Cell]


class _Shared(NamedTuple):
    text: str
    origin: str


def _text(element: Element) -> Value:
    """A text item: plain where there are no runs; phonetic hints do not count."""
    runs = children(element, "r")
    if not runs:
        return "".join(part.text or "" for part in children(element, "t"))
    found = []
    for run in runs:
        properties = children(run, "rPr")
        text = "".join(part.text or "" for part in children(run, "t"))
        found.append((text, font(properties[0] if properties else None)))
    return tuple(found)


def shared_strings(parts: Parts) -> list[Value]:
    """The texts that cells refer to by number."""
    found = parts.of_kind(parts.workbook, "sharedStrings")
    return [_text(item) for item in children(parts.root(found[0]), "si")] if found else []


class _Reader:
    """Reads one sheet: shared formulas are written out as their masters pass by."""

    def __init__(self, strings: list[Value]) -> None:
        self.strings = strings
        self.shared: dict[str, _Shared] = {}

    def cell(self, element: Element, at: Place) -> Cell:
        kind = element.get("t", "n")
        parts = {local(part): part for part in element}
        stored = (parts["v"].text or "") if "v" in parts else None
        marks = [f"{key}={element.get(key)}" for key in ("cm", "vm") if element.get(key)]
        formula, array = None, ""
        if (part := parts.get("f")) is not None:
            formula, array = self._formula(part, at), part.get("ref", "")
            array = array if part.get("t") in ("array", "dataTable") else ""
            marks += [
                f"{key}={part.get(str(key))}"
                for key in sorted(map(str, part.attrib))
                if key not in ("t", "ref", "si", "ca") and "}" not in str(key)
            ] + ([f"t={part.get('t')}"] if array else [])
        kind, value = self._value(element, kind, stored)
        style = int(element.get("s") or 0)
        return Cell(at, kind, value, formula, array, " ".join(marks), style)

    def _value(self, element: Element, kind: str, stored: str | None) -> tuple[str, Value]:
        if kind == "inlineStr":
            items = children(element, "is")
            return "text", _text(items[0]) if items else ""
        if stored is None or (stored.strip() == "" and kind in ("n", "b", "s")):
            return "blank", None
        match kind:
            case "n":
                return "number", float(stored)
            case "s":
                index = int(stored)
                return "text", self.strings[index] if index < len(self.strings) else MISSING
            case "b":
                return "boolean", stored.strip() in ("1", "true")
            case "e":
                return "error", stored
            case "d":
                return "date", stored
            case _:
                return "text", stored

    def _formula(self, part: Element, at: Place) -> str:
        text = part.text or ""
        if part.get("t") == "shared":
            identity = part.get("si", "")
            if text:
                self.shared[identity] = _Shared(text, name(at))
            elif identity in self.shared:
                master = self.shared[identity]
                try:
                    moved = Translator("=" + master.text, master.origin)
                    text = moved.translate_formula(name(at))[1:]
                except TranslatorError:
                    text = f"shared with {master.origin}"
            else:
                text = f"shared {identity} without its master"
        return text.strip()


def read_rows(sheet: Element, strings: list[Value]) -> Iterator[Row]:
    """The rows of a sheet; rows and cells without a reference follow the one before."""
    reader = _Reader(strings)
    last_row = 0
    for data in children(sheet, "sheetData"):
        for element in children(data, "row"):
            last_row = int(element.get("r") or last_row + 1)
            attributes = {
                str(key).rpartition("}")[2]: str(value)
                for key, value in element.attrib.items()
                if key not in ("r", "spans")
            }
            cells: list[Cell] = []
            column = 0
            for child in children(element, "c"):
                reference = child.get("r")
                at = place(reference) if reference else Place(last_row, column + 1)
                column = at.column
                cells.append(reader.cell(child, at))
            yield Row(last_row, attributes, cells)

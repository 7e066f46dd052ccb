"""A workbook as the judge sees it: sheets, names and tables by what they are called."""

from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from judging.cells import Cell, Row, Value, read_rows, shared_strings
from judging.looks import Looks
from judging.package import Element, Parts, children, local
from judging.places import Box, Place, box

__all__ = ["Book", "Sheet", "TableArea"]


class TableArea(NamedTuple):
    """A table: its name, sheet, range, columns, and how many rows are header and totals."""

    name: str
    sheet: str
    area: Box
    columns: tuple[str, ...]
    header_rows: int
    totals_rows: int


class Sheet:
    """A tab: `kind` is worksheet, chartsheet, dialogsheet or xlMacrosheet."""

    def __init__(self, book: "Book", title: str, state: str, kind: str, part: str) -> None:
        self.book, self.title, self.state, self.kind, self.part = book, title, state, kind, part

    @property
    def root(self) -> Element:
        """The part's root element."""
        return self.book.parts.root(self.part)

    @cached_property
    def rows(self) -> list[Row]:
        """The rows, in the order of the file."""
        return list(read_rows(self.root, self.book.strings))

    @cached_property
    def cells(self) -> dict[Place, Cell]:
        """The cells by place; of two for one place the last."""
        return {cell.at: cell for row in self.rows for cell in row.cells}

    @cached_property
    def merges(self) -> list[Box]:
        """The merged ranges."""
        groups = children(self.root, "mergeCells")
        return [box(merge.get("ref", "")) for group in groups for merge in group if local(merge)]


class Book:
    """A workbook.

    Raises:
        zipfile.BadZipFile, etree.XMLSyntaxError, KeyError, StopIteration, ValueError: If it is
            none that can be read.
    """

    def __init__(self, path: Path) -> None:
        self.parts = Parts(path)
        self.root = self.parts.root(self.parts.workbook)
        self.sheets = self._sheets()

    def close(self) -> None:
        """Let go of the file."""
        self.parts.close()

    def _sheets(self) -> list[Sheet]:
        found = []
        for group in children(self.root, "sheets"):
            for element in children(group, "sheet"):
                identity = next(
                    (str(v) for k, v in element.attrib.items() if str(k).endswith("hips}id")), None
                )
                link = self.parts.linked(self.parts.workbook, identity)
                if link is None or link.target not in self.parts:
                    continue
                title, state = element.get("name", ""), element.get("state", "visible")
                found.append(Sheet(self, title, state, link.kind, link.target))
        return found

    def sheet(self, title: str) -> Sheet:
        """The sheet of that title; KeyError if there is none."""
        for sheet in self.sheets:
            if sheet.title.lower() == title.lower():
                return sheet
        raise KeyError(title)

    @property
    def worksheets(self) -> list[Sheet]:
        """The tabs that have cells."""
        return [sheet for sheet in self.sheets if children(sheet.root, "sheetData")]

    @cached_property
    def strings(self) -> list[Value]:
        """The shared strings."""
        return shared_strings(self.parts)

    @cached_property
    def looks(self) -> Looks:
        """The styles."""
        return Looks(self.parts)

    @cached_property
    def names(self) -> dict[tuple[str, str], str]:
        """The text of each defined name, by (name, title of the sheet it is for or "")."""
        titles = [
            element.get("name", "")
            for group in children(self.root, "sheets")
            for element in children(group, "sheet")
        ]
        found = {}
        for group in children(self.root, "definedNames"):
            for element in children(group, "definedName"):
                scope = element.get("localSheetId")
                known = scope is not None and int(scope) < len(titles)
                title = titles[int(scope)] if scope and known else ""
                found[element.get("name", "").lower(), title.lower()] = (element.text or "").strip()
        return found

    @cached_property
    def tables(self) -> list[TableArea]:
        """The tables of all sheets."""
        found = []
        for sheet in self.sheets:
            for part in self.parts.of_kind(sheet.part, "table"):
                root = self.parts.root(part)
                columns = [
                    column.get("name", "")
                    for group in children(root, "tableColumns")
                    for column in children(group, "tableColumn")
                ]
                found.append(
                    TableArea(
                        root.get("displayName", "").lower(),
                        sheet.title,
                        box(root.get("ref", "A1")),
                        tuple(columns),
                        int(root.get("headerRowCount", "1")),
                        int(root.get("totalsRowCount", "0")),
                    )
                )
        return found

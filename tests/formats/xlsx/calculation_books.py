"""Books of formulas for the tests of what depends on what."""

from collections.abc import Mapping, Sequence

from kbd.sheets.areas import Area, cell_name, parse_area, parse_cell
from kbd_xlsx.calculation import DefinedName, TableArea
from kbd_xlsx.calculation.book import FormulaBook

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
SHEET = Area(1, 1, 1_048_576, 16_384)

TABLE = TableArea("Sales", "Data", Area(2, 1, 6, 3), ("Item", "Net [a]", "Tax"), 1, 1)

NAMES = (
    DefinedName("Rate", None, "Data!$A$1"),
    DefinedName("Rate", "Other", "Data!$B$1"),
    DefinedName("Twice", None, "Rate*2"),
    DefinedName("Ring", None, "Knot+Data!$C$1"),
    DefinedName("Knot", None, "Ring+Data!$D$1"),
    DefinedName("Moving", None, "OFFSET(Data!$A$1,0,0,COUNTA(Data!$A:$A),1)"),
    DefinedName("Left", None, "!A1"),
    DefinedName("ราคา", None, "Data!$A$1"),
    DefinedName("Double", None, "_xlfn.LAMBDA(_xlpm.x,_xlpm.x*Data!$C$1)"),
    DefinedName("Macro", None, "GET.CELL(48,!A1)"),
)


def part(cells: Mapping[str, str]) -> bytes:
    """A sheet's part: formulas by cell, or the XML of the cell or of what stands in it."""
    rows: dict[int, list[tuple[int, str]]] = {}
    for place, content in cells.items():
        row, column = parse_cell(place)
        text = content.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        inside = content if content.startswith("<") else f"<f>{text}</f><v>1</v>"
        whole = content if content.startswith("<c ") else f'<c r="{place}">{inside}</c>'
        rows.setdefault(row, []).append((column, whole))
    body = "".join(
        f'<row r="{row}">' + "".join(xml for _, xml in sorted(found)) + "</row>"
        for row, found in sorted(rows.items())
    )
    return f'<worksheet xmlns="{MAIN}"><sheetData>{body}</sheetData></worksheet>'.encode()


def book(**sheets: Mapping[str, str]) -> FormulaBook:
    """A book with the names and the table above; a title's underscores are blanks."""
    parts = [(title.replace("_", " "), part(cells)) for title, cells in sheets.items()]
    return FormulaBook(parts, NAMES, (TABLE,))


def area(text: str) -> Area:
    return parse_area(text, SHEET)


def cells(areas: Mapping[str, Sequence[Area]]) -> set[str]:
    """Each cell of small areas, as "Sheet!A1"."""
    return {
        f"{title}!{cell_name(row, column)}"
        for title, found in areas.items()
        for each in found
        for row in range(each.top, each.bottom + 1)
        for column in range(each.left, each.right + 1)
    }

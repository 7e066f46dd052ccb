"""Small worksheet parts for examples, and edits of them."""

from kbd_xlsx.parts.cells import CellEdit, Content
from kbd_xlsx.parts.sheet import SheetPart
from sheet_model import restyle
from sheet_reader import MAIN

FIVE = CellEdit(Content("number", "5"))


def part(rows: str, head: str = "", tail: str = "") -> bytes:
    """A worksheet part of these rows, between these elements."""
    return (
        f'<worksheet xmlns="{MAIN}">{head}<sheetData>{rows}</sheetData>{tail}</worksheet>'.encode()
    )


def edited(rows: str, *edits: tuple[int, int, CellEdit], head: str = "") -> str:
    """The rows after edits, as text."""
    sheet = SheetPart(part(rows, head), "S")
    for row, column, edit in edits:
        sheet.set(row, column, edit)
    text = sheet.xml(restyle).decode()
    return text[text.index("<sheetData>") + 11 : text.index("</sheetData>")]

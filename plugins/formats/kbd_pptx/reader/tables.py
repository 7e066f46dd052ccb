"""Tables of slides as rows of text.

Every cell has its element, also those that a merged one covers: these are empty, and what is said
of spans need not be believed.
"""

from lxml import etree

from kbd_pptx.reader.names import A
from kbd_pptx.reader.text import plain_text

__all__ = ["table_of", "table_rows", "written_rows"]

_COVERED = ("1", "true")


def table_of(element: etree._Element) -> etree._Element | None:
    """Return the table in a frame, if there is one."""
    return element.find(f"{A}graphic/{A}graphicData/{A}tbl")


def table_rows(element: etree._Element) -> list[list[str]]:
    """Return the texts of the cells of the table in a frame; a cell may have several lines."""
    table = table_of(element)
    return [] if table is None else [_row(row) for row in table.iterchildren(f"{A}tr")]


def written_rows(rows: list[list[str]]) -> str:
    """Write rows, a line each, with " | " between cells; line ends inside of cells become " / "."""
    return "\n".join(" | ".join(" / ".join(cell.splitlines()) for cell in row) for row in rows)


def _row(row: etree._Element) -> list[str]:
    texts = []
    for cell in row.iterchildren(f"{A}tc"):
        is_covered = cell.get("hMerge") in _COVERED or cell.get("vMerge") in _COVERED
        texts.append("" if is_covered else plain_text(cell.find(f"{A}txBody")).strip())
    return texts

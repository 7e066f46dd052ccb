"""Reads a worksheet part for tests: with lxml, sharing nothing with the writer."""

import io
import zipfile
from typing import Any, NamedTuple

from lxml import etree
from openpyxl.formula.translate import Translator
from openpyxl.utils import get_column_letter
from openpyxl.utils.cell import column_index_from_string, coordinate_from_string

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
STRICT = "http://purl.oclc.org/ooxml/spreadsheetml/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
TYPES = "application/vnd.openxmlformats-officedocument.spreadsheetml"

STYLES = 40
"""Cell styles of the workbooks that `workbook` makes."""

COLUMNS_READ = 60
"""Columns whose descriptions are read; one description may be for 16,384."""

Place = tuple[int, int]


class Held(NamedTuple):
    """What a cell holds: `kind` is n, b, e, s (an index), text; a formula stands beside it."""

    kind: str
    value: str | None
    formula: str | None = None


class ReadSheet(NamedTuple):
    """A worksheet; cells without content are in `styles` only."""

    held: dict[Place, Held]
    styles: dict[Place, int]
    row_styles: dict[int, int]
    heights: dict[int, str]
    columns: dict[int, dict[str, str]]
    merges: list[str]
    frozen: Place
    dimension: str | None
    names: list[str]

    def style(self, row: int, column: int) -> int:
        """The style that a cell shows, its own or inherited."""
        if (row, column) in self.styles:
            return self.styles[row, column]
        if row in self.row_styles:
            return self.row_styles[row]
        return int(self.columns.get(column, {}).get("style", 0))


def read(part: bytes) -> ReadSheet:
    """Parse a part; a part that is not well-formed, or has rows or cells twice, fails."""
    root = etree.fromstring(part, etree.XMLParser(resolve_entities=False, huge_tree=True))
    held: dict[Place, Held] = {}
    styles: dict[Place, int] = {}
    row_styles, heights = {}, {}
    shared: dict[str, Translator] = {}
    number = 0
    for row in root.iterfind("{*}sheetData/{*}row"):
        before, number = number, int(row.get("r") or number + 1)
        assert number > before, f"row {number} after {before}"
        if row.get("customFormat") in ("1", "true"):
            row_styles[number] = int(row.get("s", 0))
        if row.get("ht"):
            heights[number] = row.get("ht", "")
        column = 0
        for cell in row.iterchildren("{*}c"):
            place = _place(cell.get("r"), number, column)
            assert place[0] == number, (place, number)
            assert place[1] > column, (place, column)
            column = place[1]
            styles[place] = int(cell.get("s") or 0)
            found = _held(cell, place, shared)
            if found is not None:
                held[place] = found
    columns = {
        column: dict(col.attrib)
        for col in root.iterfind("{*}cols/{*}col")
        for column in range(int(col.get("min", 0)), min(int(col.get("max", 0)), COLUMNS_READ) + 1)
    }
    pane = root.find("{*}sheetViews/{*}sheetView/{*}pane")
    frozen = (0, 0)
    if pane is not None and pane.get("state") in ("frozen", "frozenSplit"):
        frozen = int(float(pane.get("ySplit", 0))), int(float(pane.get("xSplit", 0)))
    dimension = root.find("{*}dimension")
    names = [etree.QName(child).localname for child in root if isinstance(child.tag, str)]
    return ReadSheet(
        held,
        styles,
        row_styles,
        heights,
        columns,
        [merge.get("ref", "") for merge in root.iterfind("{*}mergeCells/{*}mergeCell")],
        frozen,
        None if dimension is None else dimension.get("ref"),
        names,
    )


def _place(name: str | None, row: int, column: int) -> Place:
    if name is None:
        return row, column + 1
    letters, number = coordinate_from_string(name)
    return number, column_index_from_string(letters)


def _held(cell: Any, place: Place, shared: dict[str, Translator]) -> Held | None:
    formula, value, text = (cell.find(f"{{*}}{name}") for name in ("f", "v", "is"))
    kind = cell.get("t", "n")
    written = None if formula is None else "".join(formula.itertext())
    if formula is not None and formula.get("t") == "shared":
        number, name = formula.get("si"), f"{get_column_letter(place[1])}{place[0]}"
        if number not in shared:
            shared[number] = Translator(f"={written}", name)
        written = shared[number].translate_formula(name)[1:]
    if text is not None:
        return Held("text", "".join(text.itertext("{*}t")), written)
    if value is None or (value.text is None and not len(value)):
        return None if written is None else Held(kind, None, written)
    return Held(kind, "".join(value.itertext()), written)


def workbook(part: bytes, strings: tuple[str, ...] = ()) -> io.BytesIO:
    """A whole workbook around a part, for other readers; 40 cell styles, all plain."""
    items = "".join(f"<si><t>{text}</t></si>" for text in strings)
    files = {
        "[Content_Types].xml": (
            f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels" ContentType='
            '"application/vnd.openxmlformats-package.relationships+xml"/>'
            + "".join(
                f'<Override PartName="/xl/{name}" ContentType="{TYPES}.{kind}+xml"/>'
                for name, kind in (
                    ("workbook.xml", "sheet.main"),
                    ("s.xml", "worksheet"),
                    ("styles.xml", "styles"),
                    ("sharedStrings.xml", "sharedStrings"),
                )
            )
            + "</Types>"
        ),
        "_rels/.rels": _relations(("officeDocument", "xl/workbook.xml")),
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>'
        '<sheet name="S" sheetId="1" r:id="r0"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": _relations(
            ("worksheet", "s.xml"), ("styles", "styles.xml"), ("sharedStrings", "sharedStrings.xml")
        ),
        "xl/styles.xml": f'<styleSheet xmlns="{MAIN}"><fonts><font/></fonts>'
        "<fills><fill><patternFill/></fill></fills><borders><border/></borders><cellStyleXfs><xf/></cellStyleXfs><cellXfs>"
        + "<xf/>" * STYLES
        + '</cellXfs><cellStyles><cellStyle name="Normal" xfId="0"/></cellStyles></styleSheet>',
        "xl/sharedStrings.xml": f'<sst xmlns="{MAIN}">{items}</sst>',
    }
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as file:
        for name, text in files.items():
            file.writestr(name, text)
        file.writestr("xl/s.xml", part)
    target.seek(0)
    return target


def _relations(*targets: tuple[str, str]) -> str:
    entries = "".join(
        f'<Relationship Id="r{count}" Type="{OFFICE}/{kind}" Target="{target}"/>'
        for count, (kind, target) in enumerate(targets)
    )
    return f'<Relationships xmlns="{PACKAGE}/relationships">{entries}</Relationships>'

"""Workbooks written part by part, for what no library writes."""

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from compared_books import source
from kbd.formats import Source

__all__ = ["MAIN", "OFFICE", "Relation", "relations", "written"]

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"
_TYPES = (
    f'<Types xmlns="{_PACKAGE}/content-types">'
    '<Default Extension="xml" ContentType="application/xml"/>'
    '<Default Extension="rels" '
    'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="png" ContentType="image/png"/>'
    '<Default Extension="vml" ContentType="application/vnd.openxmlformats-officedocument.'
    'vmlDrawing"/>'
    f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPE}"/></Types>'
)
_LOOKS = (
    '<fonts><font><sz val="11"/><name val="Calibri"/></font></fonts>'
    '<fills><fill><patternFill patternType="none"/></fill></fills>'
    "<borders><border/></borders>"
)

Relation = tuple[str, str, str]
"""Its id, its kind and its target, which is external if it is an address."""


def relations(*items: Relation) -> str:
    """Write the relations of a part."""
    mode = ' TargetMode="External"'
    written_ = "".join(
        f'<Relationship Id="{key}" Type="{OFFICE}/{kind}" Target="{target}"'
        f"{mode if '://' in target else ''}/>"
        for key, kind, target in items
    )
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{written_}</Relationships>'


def written(
    path: Path,
    rows: str = "<row r='1'><c r='A1'><v>1</v></c></row>",
    *,
    rest: str = "",
    looks: str = "<cellXfs><xf/></cellXfs>",
    texts: bytes | str = "",
    settings: str = "",
    beside: str = "",
    sheet: bytes | str = "",
    related: Sequence[Relation] = (),
    parts: Mapping[str, str | bytes] = {},
) -> Source:
    """Write a workbook with sheet Data.

    Args:
        path: Where to.
        rows: The rows of the sheet; quotes may be single ones.
        rest: What follows the rows.
        looks: What follows the borders in the style sheet, or all of it.
        texts: The items of the shared texts, or the whole part.
        settings: What comes before the sheets in the workbook part.
        beside: Further sheets.
        sheet: The whole part of the sheet instead of rows and rest.
        related: What the sheet is related to.
        parts: Further parts.
    """
    rows = rows.replace("'", '"')
    entries: dict[str, str | bytes] = {
        "[Content_Types].xml": _TYPES,
        "_rels/.rels": relations(("rId1", "officeDocument", "xl/workbook.xml")),
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}">{settings}<sheets>'
        f'<sheet name="Data" sheetId="1" r:id="rId1"/>{beside}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": relations(
            ("rId1", "worksheet", "worksheets/sheet1.xml"),
            ("rId2", "styles", "styles.xml"),
            ("rId3", "sharedStrings", "sharedStrings.xml"),
            ("rId4", "worksheet", "worksheets/sheet2.xml"),
        ),
        "xl/worksheets/sheet1.xml": sheet
        or f'<worksheet xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheetData>{rows}</sheetData>{rest}'
        "</worksheet>",
        "xl/worksheets/sheet2.xml": f'<worksheet xmlns="{MAIN}"><sheetData/></worksheet>',
        "xl/worksheets/_rels/sheet1.xml.rels": relations(*related),
        "xl/styles.xml": f'<styleSheet xmlns="{MAIN}">'
        f"{'' if '<fonts>' in looks else _LOOKS}{looks}</styleSheet>",
        "xl/sharedStrings.xml": texts
        if isinstance(texts, bytes)
        else f'<sst xmlns="{MAIN}">{texts}</sst>',
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in (entries | dict(parts)).items():
            archive.writestr(name, data)
    return source(path)

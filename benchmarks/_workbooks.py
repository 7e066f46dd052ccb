"""The workbooks that benchmarks/xlsx.py measures with: the same on every machine."""

import random
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

__all__ = ["HEADERS", "rows", "write_workbook"]

HEADERS = ("Id", "Day", "Item", "Code", "Units", "Price", "Sum", "Paid", "Region", "Note")

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_KINDS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def rows(count: int) -> Iterator[list[Any]]:
    """Yield rows of ten values: numbers, days as numbers, texts that repeat and texts that do not.

    A day is the number that workbooks have for it.
    """
    chance = random.Random(7)
    for n in range(count):
        units, price = chance.randrange(1, 500), chance.randrange(100, 99_999) / 100
        yield [
            n + 1, 45_000 + n % 700, f"Item {chance.randrange(900)}", f"C-{n * 7919 % 99_991:05}",
            units, price, round(units * price, 2), n % 3 == 0, f"Region {n % 5}",
            f"Note {n % 1_000} & more",
        ]  # fmt: skip


def write_workbook(path: Path, count: int, *, with_formulas: bool = False) -> None:
    """Write a workbook of one sheet, as spreadsheet programs do: shared texts, days as a format.

    With formulas each row's sum is one, its result beside it.
    """
    texts: dict[str, int] = {}

    def cell(name: str, place: int, value: Any) -> str:
        match value:
            case bool():
                return f'<c r="{name}" t="b"><v>{int(value)}</v></c>'
            case str():
                return f'<c r="{name}" t="s"><v>{texts.setdefault(value, len(texts))}</v></c>'
            case _:
                style = ' s="1"' if place == 1 else ""
                number = name[1:]
                is_formula = with_formulas and place == 6
                formula = f"<f>E{number}*F{number}</f>" if is_formula else ""
                return f'<c r="{name}"{style}>{formula}<v>{value}</v></c>'

    def lines() -> Iterator[str]:
        for number, row in enumerate([list(HEADERS), *rows(count)], 1):
            cells = (cell(f"{'ABCDEFGHIJ'[at]}{number}", at, v) for at, v in enumerate(row))
            yield f'<row r="{number}">{"".join(cells)}</row>'

    sheet = f'<worksheet xmlns="{_MAIN}"><sheetData>{"".join(lines())}</sheetData></worksheet>'
    shared = "".join(f"<si><t>{escape(text)}</t></si>" for text in texts)
    styles = (
        "<fonts count='1'><font/></fonts><fills count='1'><fill><patternFill/></fill></fills>"
        "<borders count='1'><border/></borders><cellStyleXfs count='1'><xf/></cellStyleXfs>"
        "<cellXfs count='2'><xf/><xf numFmtId='14' applyNumberFormat='1'/></cellXfs>"
        "<cellStyles count='1'><cellStyle name='Normal' xfId='0' builtinId='0'/></cellStyles>"
    )
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        + "".join(
            f'<Override PartName="/xl/{part}.xml" ContentType="{_TYPE}.{kind}+xml"/>'
            for part, kind in (
                ("workbook", "sheet.main"), ("worksheets/sheet1", "worksheet"),
                ("sharedStrings", "sharedStrings"), ("styles", "styles"),
            )
        ) + "</Types>",
        "_rels/.rels": _relations({"officeDocument": "xl/workbook.xml"}),
        "xl/_rels/workbook.xml.rels": _relations({
            "worksheet": "worksheets/sheet1.xml", "sharedStrings": "sharedStrings.xml",
            "styles": "styles.xml",
        }),
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_KINDS}"><sheets>'
        '<sheet name="Data" sheetId="1" r:id="worksheet"/></sheets></workbook>',
        "xl/worksheets/sheet1.xml": sheet,
        "xl/sharedStrings.xml": f'<sst xmlns="{_MAIN}">{shared}</sst>',
        "xl/styles.xml": f'<styleSheet xmlns="{_MAIN}">{styles}</styleSheet>',
    }  # fmt: skip
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=5) as archive:
        for name, text in parts.items():
            archive.writestr(name, '<?xml version="1.0" encoding="UTF-8"?>\n' + text)


def _relations(targets: dict[str, str]) -> str:
    entries = "".join(
        f'<Relationship Id="{kind}" Type="{_KINDS}/{kind}" Target="{target}"/>'
        for kind, target in targets.items()
    )
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{entries}</Relationships>'

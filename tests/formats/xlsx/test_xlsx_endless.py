"""Workbooks that are small and legal, or nearly so, and would take for ever if read carelessly.

Each repeats something that nobody repeats so often: where work grows with the square of a count, or
a pattern starts anew at each begin, a few kilobytes are enough to take the whole time of a worker.
"""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from confined import Confined, opened
from zipforge import forge, members

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
WORKSHEET, STYLES, BOOK = "xl/worksheets/sheet1.xml", "xl/styles.xml", "xl/workbook.xml"
ONE = '<row r="1"><c r="A1"><v>2</v></c></row>'
WHOLE = "A1:XFD1048576"

Parts = dict[str, bytes]


def sheet(body: str = ONE, head: str = "", tail: str = "") -> Callable[[Parts], Parts]:
    data = f'<worksheet xmlns="{MAIN}">{head}<sheetData>{body}</sheetData>{tail}</worksheet>'
    return lambda parts: {**parts, WORKSHEET: data.encode()}


def cell(inner: str, more: str = "") -> str:
    return f'<row r="1"><c r="A1"{more}>{inner}</c></row>'


def formula(text: str) -> Callable[[Parts], Parts]:
    return sheet(cell(f"<f>{text}</f>"))


def formulas(count: int, text: str) -> Callable[[Parts], Parts]:
    """A column of formulas; in the text stand the row as {n} and the one before as {m}."""
    return sheet("".join(
        f'<row r="{n}"><c r="A{n}"><f>{text.format(n=n, m=n - 1)}</f><v>1</v></c></row>'
        for n in range(2, count + 2)
    ))  # fmt: skip


def swapped(part: str, old: str, new: str) -> Callable[[Parts], Parts]:
    def made(parts: Parts) -> Parts:
        assert old.encode() in parts[part]
        return {**parts, part: parts[part].replace(old.encode(), new.encode(), 1)}

    return made


def number_format(code: str) -> Callable[[Parts], Parts]:
    """Give the style of all cells a number format."""
    formats = f'<numFmts count="1"><numFmt numFmtId="200" formatCode="{code}"/></numFmts>'

    def made(parts: Parts) -> Parts:
        data = parts[STYLES].decode()
        used = re.sub(r'<numFmts count="0"\s*/>', lambda _: formats, data)
        assert used != data
        return {**parts, STYLES: used.replace('<xf numFmtId="0"', '<xf numFmtId="200"').encode()}

    return made


COLUMN = '<col min="1" max="16384" width="9"/>'
LINK = f'<hyperlink ref="{WHOLE}" location="A1"/>'

QUICK = {
    "open comments": sheet(tail="<!--" * 100_000),
    "open comments among cells": sheet(ONE + "<!--" * 100_000),
    "open sections": sheet(tail="<![CDATA[" * 50_000),
    "open instructions": sheet(tail="<?" * 200_000),
    "open cells": sheet('<row r="1">' + '<c r="A1">' * 100_000),
    "open rows": sheet('<row r="1">' * 100_000),
    "open formulas": sheet('<row r="1"><c r="A1">' + "<f>" * 100_000),
    "open texts": sheet('<row r="1"><c r="A1" t="inlineStr">' + "<is><t>" * 100_000),
    "open quotes in a tag": sheet(cell("<v>1</v>", ' x="' + "'" * 300_001)),
    "blanks in a tag": sheet(cell("<v>1</v>", " " * 1_000_000)),
    "one word in a text": sheet(cell(f"<is><t>{'xmlns ' * 300_000}</t></is>", ' t="inlineStr"')),
    "escapes": sheet(cell(f"<is><t>{'_x005F_' * 100_000}</t></is>", ' t="inlineStr"')),
    "a span of many cells": formula(":".join(["A1"] * 100_000)),
    "brackets": formula("(" * 8_000 + "1" + ")" * 8_000),
    "open brackets of tables": formula("T[" * 100_000),
    "open quotes": formula('"a' * 200_000),
    "open names": formula("'a" * 100_000),
    "letters": formula("A" * 500_000),
    "digits": formula("1" * 500_000),
    "one range many times": sheet(
        tail='<conditionalFormatting sqref="' + f"{WHOLE} " * 20_000 + '">'
        '<cfRule type="expression" priority="1"><formula>A1</formula></cfRule>'
        "</conditionalFormatting>"
    ),
    "columns": sheet(head="<cols>" + COLUMN * 10_000 + "</cols>"),
    "a format of brackets": number_format("[" * 300_000),
    "a format of quotes": number_format("&quot;\\" * 100_000),
}  # fmt: skip

LONG = {
    "a chain": formulas(60_000, "A{m}+H9"),
    "a circle": formulas(20_000, "A{n}+A{m}+H9"),
    "sums of the whole sheet": formulas(20_000, "SUM(B1:XFD1048576)"),
    "running sums": formulas(20_000, "SUM(A$1:A{m})+H9"),
    "all of all": formulas(20_000, "SUM(A$1:A$20000)+H9"),
    "a long formula that many share": sheet(
        cell(f'<f t="shared" si="0" ref="A1:A60000">{"+".join(["B1"] * 2_700)}</f><v>1</v>')
        + "".join(
            f'<row r="{n}"><c r="A{n}"><f t="shared" si="0"/><v>1</v></c></row>'
            for n in range(2, 60_001)
        )
    ),
    "merges": sheet(
        tail="<mergeCells>"
        + "".join(f'<mergeCell ref="B{n}:XFD{n}"/>' for n in range(1, 99_999))
        + "</mergeCells>"
    ),
    "links": sheet(tail="<hyperlinks>" + LINK * 100_000 + "</hyperlinks>"),
    "styles": swapped(STYLES, "</cellXfs>", '<xf fontId="0"/>' * 200_000 + "</cellXfs>"),
    "fonts": swapped(STYLES, "</fonts>", "<font><b/></font>" * 200_000 + "</fonts>"),
    "names": swapped(
        BOOK, "<calcPr", "<definedNames>" + "".join(
            f'<definedName name="N{n}">Data!{WHOLE}+N{(n + 1) % 50_000}</definedName>'
            for n in range(50_000)
        ) + "</definedNames><calcPr",
    ),
}  # fmt: skip


def check(cell: Confined, path: Path, made: Parts) -> None:
    found = opened(cell, path, forge(members(made)))

    assert max(answer.cpu_s for answer in found.values()) <= 15, found
    assert max(answer.peak_bytes for answer in found.values()) <= 400 << 20, found


@pytest.mark.parametrize("which", QUICK)
@pytest.mark.sampled(4)
def test_what_is_repeated_costs_what_it_weighs(
    which: str, cell: Confined, parts: Parts, tmp_path: Path
) -> None:
    """Each is read, edited or refused long before a worker's time is up."""
    check(cell, tmp_path / "blob", QUICK[which](parts))


@pytest.mark.full
@pytest.mark.parametrize("which", LONG)
def test_what_is_many_costs_what_it_weighs(
    which: str, cell: Confined, parts: Parts, tmp_path: Path
) -> None:
    """The same with some megabytes of formulas, merges, styles or names."""
    check(cell, tmp_path / "blob", LONG[which](parts))

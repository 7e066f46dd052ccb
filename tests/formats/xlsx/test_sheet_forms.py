"""The forms that worksheet parts come in: prefixes, encodings, comments, and what is refused."""

import csv
import random
import zipfile
from pathlib import Path

import pytest
from lxml import etree

from kbd.errors import FileReadFailed, KbdError, ValidationFailed
from kbd.sheets.areas import Area
from kbd_xlsx.parts.cells import BLANK, CellEdit
from kbd_xlsx.parts.sheet import SheetPart
from sheet_edits import FIVE, part
from sheet_model import restyle
from sheet_reader import COLUMNS_READ, STRICT, Held, read

SAMPLE_SEED = 31
SAMPLE_SIZE = 60
LARGEST_SAMPLE = 300_000


def five_in_b2(data: bytes) -> bytes:
    """The part with 5 in B2, read back once to be sure."""
    sheet = SheetPart(data, "S")
    sheet.set(2, 2, FIVE)
    xml = sheet.xml(restyle)
    assert read(xml).held[2, 2] == Held("n", "5")
    return xml


def test_prefixes() -> None:
    """A part whose names have a prefix gets new elements with it."""
    plain = part('<row r="1"><c r="A1"><v>1</v></c></row>')
    data = plain.replace(b"xmlns=", b"xmlns:x=").replace(b"<", b"<x:").replace(b"<x:/", b"</x:")
    sheet = SheetPart(data, "S")
    sheet.set(2, 2, FIVE)
    sheet.set_width(1, 5)
    sheet.freeze(1, 0)
    sheet.merge(Area(5, 1, 5, 2))
    sheet.auto_filter(Area(1, 1, 2, 2))
    xml = sheet.xml(restyle)

    assert sheet.prefix == "x:"
    assert xml.count(b"<x:") + xml.count(b"</x:") == xml.count(b"<")
    assert read(xml).names == [
        "sheetViews", "cols", "sheetData", "autoFilter", "mergeCells",
    ]  # fmt: skip


def test_the_strict_namespace() -> None:
    """Parts of the strict variant are changed the same."""
    data = part("").replace(
        b"http://schemas.openxmlformats.org/spreadsheetml/2006/main", STRICT.encode()
    )

    assert b'<row r="2"><c r="B2"><v>5</v></c></row>' in five_in_b2(data)


@pytest.mark.parametrize(
    ("encoding", "declared"),
    [
        ("utf-16", True), ("utf-16", False), ("utf-16-le", True), ("utf-16-le", False),
        ("utf-16-be", True), ("utf-16-be", False), ("iso-8859-1", True), ("us-ascii", True),
    ],
)  # fmt: skip
def test_encodings(encoding: str, declared: bool) -> None:
    """A part in another encoding is decoded once, and says then that it is in UTF-8."""
    sign = "A" if encoding == "us-ascii" else "ä"
    head = f'<?xml version="1.0" encoding="{encoding}"?>' if declared else ""
    text = (
        head + part(f'<row r="1"><c r="A1" t="inlineStr"><is><t>{sign}</t></is></c></row>').decode()
    )
    xml = five_in_b2(text.encode(encoding))

    assert read(xml).held[1, 1] == Held("text", sign)
    assert xml.startswith(b'<?xml version="1.0" encoding="UTF-8"?>' if declared else b"<worksheet")


def test_a_byte_order_mark_stays() -> None:
    """The mark before UTF-8 is kept like every other byte."""
    data = b"\xef\xbb\xbf" + part("")

    assert five_in_b2(data).startswith(b"\xef\xbb\xbf<worksheet")


@pytest.mark.parametrize("encoding", ["utf-7", "rot13", "no-such", "unicode_escape"])
def test_unknown_encodings_are_refused(encoding: str) -> None:
    """An encoding that no producer uses is refused, as is text that is not in the one declared."""
    data = f'<?xml version="1.0" encoding="{encoding}"?>'.encode() + part("")
    with pytest.raises(FileReadFailed, match=r"encoding .* is unknown"):
        SheetPart(data, "S")
    with pytest.raises(FileReadFailed, match="not in us-ascii"):
        SheetPart('<?xml version="1.0" encoding="us-ascii"?><ä/>'.encode(), "S")


def test_comments_and_the_like_stay() -> None:
    """Comments, CDATA sections and instructions keep their bytes, whatever they look like."""
    rows = (
        '<!-- <row r="9"> --><row r="1"><!--<c r="B1">--><c r="A1" t="str"><f><![CDATA["<c>"]]></f>'
        '<v><![CDATA[<c>]]></v></c></row><?pi </row><row r="1"> ?><row r="2"><c r="A2"/></row>'
    )
    xml = five_in_b2(b"<!-- <sheetData/> --><?x <worksheet>?>" + part(rows))

    assert b"<!-- <sheetData/> --><?x <worksheet>?>" in xml
    for row in rows.split('<c r="A2"/>'):
        assert row.encode() in xml
    assert read(xml).held[1, 1] == Held("str", "<c>", '"<c>"')


def test_a_shared_formula_in_a_section_is_read() -> None:
    """The text of a master in a CDATA section is taken as the text that it stands for."""
    rows = (
        '<row r="2"><c r="B2"><f t="shared" ref="B2:B3" si="0"><![CDATA[A2&"<"]]></f></c></row>'
        '<row r="3"><c r="B3"><f t="shared" si="0"/></c></row>'
    )

    assert read(five_in_b2(part(rows))).held[3, 2] == Held("n", None, 'A3&"<"')


OTHER = 'xmlns:y="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'


@pytest.mark.parametrize(
    ("data", "error", "reason"),
    [
        (b"<!DOCTYPE worksheet>" + part(""), FileReadFailed, "document type"),
        (part("") + b"<!-- ", FileReadFailed, "open comment"),
        (b"", FileReadFailed, "not valid XML"),
        (b"no markup", FileReadFailed, "not valid XML"),
        (b"<chartsheet/>", ValidationFailed, "it is a chartsheet"),
        (b"<worksheet/>", ValidationFailed, "no element sheetData"),
        (b"<worksheet><sheetData><row>", FileReadFailed, "rows do not end"),
        (part('<row r="2"><c r="A2"/>'), FileReadFailed, "row 2 does not end"),
        (part('<row r="2" </row>'), FileReadFailed, "tag of row 2 does not end"),
        (part("<q:AlternateContent />"), ValidationFailed, "AlternateContent"),
        (part('<row r="1"><extLst><c r="A1"/></extLst></row>'), ValidationFailed, "extension"),
        (part('<y:row r="1"/>').replace(b"<worksheet", f"<worksheet {OTHER}".encode()),
         ValidationFailed, "two prefixes"),
        (part('<row r="1" xmlns="urn:other"/>'), ValidationFailed, "meaning of prefixes"),
        (part(f'<y:row {OTHER} r="1"/>'), ValidationFailed, "meaning of prefixes"),
    ],
)  # fmt: skip
def test_forms_that_are_refused(data: bytes, error: type[KbdError], reason: str) -> None:
    """What cannot be spliced safely is refused by name, what is damaged is called so."""
    with pytest.raises(error, match=reason):
        five_in_b2(data)


def test_words_in_texts_are_no_reason() -> None:
    """Texts that only mention what would be refused are changed like others."""
    rows = '<row r="1"><c r="A1" t="str"><v>x:AlternateContent xmlns="u" ! ?</v></c></row>'

    assert rows.encode() in five_in_b2(part(rows, '<sheetPr xmlns:z="urn:z"/>'))


def first_sheets(corpora: Path, *folders: str) -> list[Path]:
    """The workbooks of the corpora that are neither hostile nor large."""
    with (corpora / "manifest.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return [
        corpora / row["path"]
        for row in rows
        if row["path"].startswith(folders) and "hostile" not in row["tags"]
    ]


def parts_of(path: Path) -> list[bytes]:
    """The worksheets of a workbook, none if it is no zip."""
    try:
        with zipfile.ZipFile(path) as file:
            names = [name for name in file.namelist() if "worksheets/sheet" in name]
            return [file.read(name) for name in sorted(names)[:1] if name.endswith(".xml")]
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError):
        return []


def check_real_part(data: bytes, choice: random.Random) -> bool:
    """Edit a real part and compare with what was there; False if it is refused by name."""
    try:
        before = read(data)
    except (etree.XMLSyntaxError, AssertionError, ValueError):
        return False
    places = sorted(before.held)
    row, column = choice.choice(places) if places else (1, 1)
    cleared = Area(row + 1, 1, row + 3, max(column - 1, 1))
    try:
        sheet = SheetPart(data, "S")
        sheet.clear(cleared)
        sheet.set(row, column, CellEdit(FIVE.content, ({"by": 0},)))
        sheet.set(row + 5, column, CellEdit(BLANK))
        sheet.set_width(column, 11)
        xml = sheet.xml(lambda base, _: base)
    except ValidationFailed:
        return False
    after = read(xml)
    gone = {
        (r, c)
        for r in range(cleared.top, cleared.bottom + 1)
        for c in range(cleared.left, cleared.right + 1)
    } | {(row + 5, column), (row, column)}
    wanted = {place: held for place, held in before.held.items() if place not in gone}
    assert after.held == {**wanted, (row, column): Held("n", "5")}
    looked_at = {*before.styles, *after.styles}
    assert all(after.style(*place) == before.style(*place) for place in looked_at)
    assert after.merges == before.merges
    assert [name for name in after.names if name != "cols"] == [
        name for name in before.names if name != "cols"
    ]
    assert column > COLUMNS_READ or after.columns[column]["width"] == "11"
    return True


def check_real_files(paths: list[Path]) -> None:
    """Nine of ten parts are edited; the rest are refused with a reason."""
    choice = random.Random(SAMPLE_SEED)
    parts = [(path.name, data) for path in paths for data in parts_of(path)]
    done = [check_real_part(data, choice) for _, data in parts]

    assert len(done) > len(paths) / 2
    assert sum(done) >= 0.9 * len(done), [
        name for (name, _), good in zip(parts, done, strict=True) if not good
    ]


@pytest.mark.corpora
def test_real_sheets(corpora: Path) -> None:
    """A sample of real sheets: a cell, a clear and a width change nothing but what they name."""
    found = [
        path for path in first_sheets(corpora, "xlsx") if path.stat().st_size <= LARGEST_SAMPLE
    ]
    check_real_files(random.Random(SAMPLE_SEED).sample(found, min(SAMPLE_SIZE, len(found))))


@pytest.mark.corpora
@pytest.mark.full
def test_all_real_sheets(corpora: Path) -> None:
    """All real workbooks, forum questions too: the same."""
    books = sorted((corpora / "spreadsheetbench").rglob("*.xlsx"))
    check_real_files([*first_sheets(corpora, "xlsx"), *books])

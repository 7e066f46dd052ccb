"""The formats as the contract suite knows them: a record each, and every promise is tried on it.

`FORMATS` are all formats, `PACKAGES` those whose files are zips of XML parts, `OFFICE` those of
Open XML, which are edited and give their looks to others. A new format is one record more, of the
class that fits what it can do.
"""

import tempfile
from collections.abc import Mapping
from pathlib import Path

import docx
import openpyxl
import pptx
from PIL import Image
from pypdf import PdfWriter

import drawn_books
import made_documents
import read_decks
import styled_decks
import styled_documents
from format_cases import (
    FormatCase,
    OfficeCase,
    Operation,
    PackageCase,
    Parts,
    Step,
    applied,
    entries,
)
from image_forge import saved, svg
from kbd_csv import CsvFormat
from kbd_docx import DocxFormat
from kbd_image import ImageFormat
from kbd_odp import OdpFormat
from kbd_ods import OdsFormat
from kbd_odt import OdtFormat
from kbd_pdf import PdfFormat
from kbd_pptx import PptxFormat
from kbd_text.handler import TextFormat
from kbd_xlsx import XlsxFormat
from odp_decks import deck_content, deck_file, flat_deck, placeholder, rich_deck_file, slide
from ods_books import flat_book, ods_book, rich_book, row, sheet_contents, table
from odt_texts import content, flat, rich_text, text_file
from office_packages import pack, rich_deck, rich_document, rich_workbook
from pdf_forge import one_page, rows, shown, stream, text_pages

__all__ = ["FORMATS", "OFFICE", "PACKAGES"]


def _text_samples(_: Path) -> Mapping[str, bytes | Path]:
    return {
        "notes.md": b"# Title\n\nText.\n",
        "long.txt": "".join(f"line {number}\n" for number in range(1, 451)).encode(),
        "data.json": b'{"a": [1, 2], "b": null}',
        "empty.py": b"",
        "makefile": "all:\n\techo naïve\n".encode("cp1252"),
    }


def _csv_samples(_: Path) -> Mapping[str, bytes | Path]:
    return {
        "plain.csv": b"region,amount,active\nwest,3,true\neast,10,false\n",
        "ragged.csv": b"a,b,c\n1,2\n3,4,5,6\n",
        "tabs.tsv": "naïve\tb\n1\t2\n".encode("utf-16"),
        "empty.csv": b"",
        "header.csv": b"a,b\n",
        "lines.csv": b'a,b\n"x\ny",2\n' * 300,
    }


def _pdf_samples(folder: Path) -> Mapping[str, bytes | Path]:
    writer = PdfWriter()
    for _ in range(3):
        writer.add_blank_page(300, 400)
    writer.write(folder / "other.pdf")
    return {
        "pages.pdf": text_pages([*rows(7), ""], catalogue=b"/PageLabels<</Nums[0<</S/r>>]>>"),
        "other.pdf": folder / "other.pdf",
        "one.pdf": one_page(stream(shown("One page, with a (bracket"))),
    }


def _image_samples(_: Path) -> Mapping[str, bytes | Path]:
    noise = Image.effect_noise((60, 40), 50)
    return {
        "a.png": saved(noise, "PNG", dpi=(300, 300)),
        "a.jpg": saved(noise, "JPEG"),
        "a.gif": saved(noise, "GIF", save_all=True, append_images=[noise.rotate(90)]),
        "a.webp": saved(noise, "WEBP"),
        "a.tif": saved(noise, "TIFF"),
        "a.bmp": saved(noise, "BMP"),
        "a.svg": svg('viewBox="0 0 20 10"', "<text>Hello</text>"),
    }


TEXT = FormatCase(handler=TextFormat(), samples=_text_samples)
CSV = FormatCase(handler=CsvFormat(), samples=_csv_samples, corpora=("csv",))
PDF = FormatCase(handler=PdfFormat(), samples=_pdf_samples)
IMAGE = FormatCase(handler=ImageFormat(), samples=_image_samples)


def _odt_parts() -> Parts:
    with tempfile.TemporaryDirectory() as folder:
        return entries(text_file(Path(folder, "good"), "<text:p>The apple harvest</text:p>"))


def _nested_frames(_: str, depth: int) -> str:
    start = "<text:p><draw:frame><draw:text-box>" * depth
    return content(
        f"{start}<text:p>deep</text:p>{'</draw:text-box></draw:frame></text:p>' * depth}"
    )


ODT = PackageCase(
    handler=OdtFormat(),
    samples=lambda folder: {
        "a.odt": rich_text(folder / "a.odt"),
        "b.fodt": flat("<text:p>Hello there</text:p>"),
    },
    parts=_odt_parts,
    text_part="content.xml",
    word="apple",
    vital=(),
    nested=_nested_frames,
)


def _odp_parts() -> Parts:
    with tempfile.TemporaryDirectory() as folder:
        harvest = slide(placeholder("title", "The apple harvest"))
        return entries(deck_file(Path(folder, "good"), harvest))


def _nested_deck_groups(_: str, depth: int) -> str:
    shape = "<draw:rect><text:p>deep</text:p></draw:rect>"
    return deck_content(slide(f"{'<draw:g>' * depth}{shape}{'</draw:g>' * depth}"))


ODP = PackageCase(
    handler=OdpFormat(),
    samples=lambda folder: {
        "a.odp": rich_deck_file(folder / "a.odp"),
        "b.fodp": flat_deck(slide(placeholder("title", "Hello there"))),
    },
    parts=_odp_parts,
    text_part="content.xml",
    word="apple",
    vital=(),
    nested=_nested_deck_groups,
)


def _ods_parts() -> Parts:
    with tempfile.TemporaryDirectory() as folder:
        return entries(ods_book(Path(folder, "good"), table("The apple harvest", 1.5)))


def _nested_row_groups(_: str, depth: int) -> str:
    group = "table:table-row-group"
    return sheet_contents(
        f'<table:table table:name="S">{f"<{group}>" * depth}{row("deep")}{f"</{group}>" * depth}'
        "</table:table>"
    )


ODS = PackageCase(
    handler=OdsFormat(),
    samples=lambda folder: {
        "a.ods": rich_book(folder / "a.ods"),
        "b.fods": flat_book(table("Hello there", 2)),
    },
    parts=_ods_parts,
    text_part="content.xml",
    word="apple",
    vital=(),
    nested=_nested_row_groups,
)


def _document_samples(folder: Path) -> Mapping[str, bytes | Path]:
    header = "<w:sectPr><w:headerReference r:id='rheader1'/></w:sectPr>"
    parts: dict[str, str | bytes] = {
        "styles": styled_documents.style("A"),
        "header1": "<w:p/>",
        "media/p.png": styled_documents.png(),
    }
    pictured = f"<w:p>{styled_documents.picture('rP')}</w:p>{header}"
    relations = {"document": [("rP", "image", "media/p.png")]}
    hidden = "<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r></w:p>"
    return {
        "rich.docx": pack(rich_document(), folder / "rich.docx"),
        "hidden.docx": made_documents.made(folder / "b.docx", made_documents.para("Tea") + hidden),
        "pictured.docx": styled_documents.written(folder / "c.docx", pictured, parts, relations),
    }


def _nested_tables(text: str, depth: int) -> str:
    nested = "<w:tbl><w:tr><w:tc>" * depth + "<w:p/></w:tc></w:tr></w:tbl>" * depth
    return text.replace("<w:sectPr>", f"{nested}<w:sectPr>", 1)


def _document_step(step: Step, texts: list[str]) -> Operation | None:
    match step.kind:
        case "append":
            return {"op": "append_paragraph", "text": step.text}
        case "insert":
            return {"op": "insert_paragraph", "at": step.place + 1, "text": step.text}
        case "delete" if step.other < len(texts):
            return {"op": "delete_paragraphs", "from": step.place + 1, "count": step.other}
        case "replace":
            return {"op": "replace_text", "search": step.search, "replace": step.text}
        case _:
            return None


def _paragraphs(path: Path) -> list[str]:
    document = docx.Document(str(path))
    # The set-up of the last pages stays behind all else.
    assert document.element.body[-1].tag.endswith("}sectPr")
    return [paragraph.text for paragraph in document.paragraphs]


_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml"
DOCX = OfficeCase(
    handler=DocxFormat(),
    samples=_document_samples,
    corpora=("docx",),
    opens_all=True,
    parts=rich_document,
    text_part="word/document.xml",
    word="apple",
    vital=("word/styles.xml",),
    nested=_nested_tables,
    tried=(
        {"op": "append_paragraph", "text": "more", "style": "Heading 1"},
        {"op": "replace_text", "search": "apple", "replace": "pear"},
    ),
    types={
        ".docx": f"{_WORD}.document.main+xml",
        ".docm": "application/vnd.ms-word.document.macroEnabled.main+xml",
        ".dotx": f"{_WORD}.template.main+xml",
        ".dotm": "application/vnd.ms-word.template.macroEnabledTemplate.main+xml",
    },
    main="word/document.xml",
    makes_templates=True,
    edit={"op": "append_paragraph", "text": "more"},
    touched=frozenset(("word/document.xml",)),
    impossible={"op": "delete_paragraphs", "from": 999},
    begin=({"op": "append_paragraph", "text": "a"}, {"op": "append_paragraph", "text": "b c"}),
    step=_document_step,
    texts_of=_paragraphs,
    asset_kinds=frozenset(("header", "image", "page_setup", "paragraph_style", "table_style")),
    branded=styled_documents.brand,
    picture="image:Chart",
    media="word/media/chart.png",
    library=docx.Document,
    edits=(
        (
            {
                "op": "set_paragraphs",
                "paragraphs": [
                    {"text": "Report", "style": "Title"}, {"text": "Summary", "style": "heading1"},
                ],
            },
            {"op": "append_paragraph", "text": "point", "style": "List Bullet"},
            {
                "op": "insert_paragraph", "at": 2,
                "runs": [{"text": "in "}, {"text": "bold", "bold": True}],
            },
            {"op": "add_table", "rows": [["Item", "Cost"], ["Tea", 4.5], ["Milk", None]]},
            {"op": "set_table_cells", "table": 0, "cells": [{"row": 2, "col": 1, "text": 1}]},
            {"op": "replace_text", "search": "tea", "replace": "Coffee"},
            {"op": "delete_paragraphs", "from": 1, "count": 1},
        ),
        ({"op": "append_paragraph"},),
        (
            {"op": "append_paragraph", "text": "point", "list": "number", "level": 1},
            {"op": "add_comment", "paragraph": 1, "text": "why", "author": "A", "search": "point"},
            {"op": "reply_comment", "comment": 1, "text": "so", "author": "B"},
            {"op": "resolve_comment", "comment": 1},
            {"op": "add_footnote", "paragraph": 1, "text": "note"},
            {"op": "add_hyperlink", "paragraph": 1, "text": "x", "address": "mailto:a@b.example"},
            {"op": "add_field", "paragraph": 1, "field": "TOC"},
            {"op": "set_section", "footer": "{page}", "orientation": "landscape"},
        ),
    ),
    bad_edits=(
        ({"op": "append_paragraph", "text": "a", "runs": [{"text": "b"}]},),
        ({"op": "append_paragraph", "txt": "a"},),
        ({"op": "insert_paragraph", "at": 2},),
        ({"op": "delete_paragraphs", "from": 1},),
        ({"op": "set_table_cells", "table": 0, "cells": [{"row": 0, "col": 0, "text": ""}]},),
        ({"op": "add_table", "rows": [[], []]},),
        ({"op": "add_table", "rows": [["a"]], "after": 1},),
        ({"op": "set_section", "section": 9, "orientation": "landscape"},),
        ({"op": "reply_comment", "comment": 1, "text": "a", "author": "b"},),
        ({"op": "track_changes", "on": True},),
        (
            {"op": "append_paragraph", "text": "x"},
            {"op": "replace_text", "search": "", "replace": "x"},
        ),
    ),
)  # fmt: skip


def _deck_samples(folder: Path) -> Mapping[str, bytes | Path]:
    titled = read_decks.slide_xml(read_decks.placeholder("title", "T"), read_decks.shape("x"))
    found: dict[str, bytes | Path] = {"rich.pptx": pack(rich_deck(), folder / "rich.pptx")}
    for name, slides in (
        ("some.pptx", [titled, read_decks.slide_xml(show="0")]),
        ("none.potx", []),
        ("many.ppsx", [read_decks.slide_xml(read_decks.shape("word " * 800))] * 12),
    ):
        found[name] = read_decks.deck(folder, slides, name=name).path.read_bytes()
    applied(PPTX, None, folder / "made.pptx", *PPTX.edits[0])
    found["made.pptx"] = folder / "made.pptx"
    return found


def _nested_groups(text: str, depth: int) -> str:
    start = (
        '<p:grpSp><p:nvGrpSpPr><p:cNvPr id="9" name=""/><p:cNvGrpSpPr/><p:nvPr/>'
        "</p:nvGrpSpPr><p:grpSpPr/>"
    )
    nested = start * depth + "</p:grpSp>" * depth
    return text.replace("</p:spTree>", f"{nested}</p:spTree>", 1)


def _deck_step(step: Step, texts: list[str]) -> Operation | None:
    del texts
    match step.kind:
        case "append":
            return {"op": "add_slide", "layout": "title_only", "title": step.text}
        case "insert":
            return {
                "op": "add_slide", "layout": "title_only", "title": step.text, "index": step.place,
            }  # fmt: skip
        case "set":
            return {"op": "set_slide_text", "index": step.place, "title": step.text}
        case "delete" if step.other == 1:
            return {"op": "delete_slide", "index": step.place}
        case "move":
            return {"op": "move_slide", "index": step.place, "to": step.other}
        case "replace":
            return {"op": "replace_text", "search": step.search, "replace": step.text}
        case _:
            return None


def _titles(path: Path) -> list[str]:
    titles = [slide.shapes.title for slide in pptx.Presentation(str(path)).slides]
    return ["" if title is None else str(title.text_frame.text) for title in titles]


_SHOW = "application/vnd.openxmlformats-officedocument.presentationml"
_POWERPOINT = "application/vnd.ms-powerpoint"
PPTX = OfficeCase(
    handler=PptxFormat(),
    samples=_deck_samples,
    corpora=("pptx",),
    opens_all=True,
    fewest_read=0.98,
    parts=rich_deck,
    text_part="ppt/slides/slide1.xml",
    word="apple",
    vital=("ppt/presentation.xml",),
    nested=_nested_groups,
    tells_parts=True,
    tried=(
        {"op": "replace_text", "search": "apple", "replace": "pear"},
        {"op": "add_slide", "layout": "title_only", "title": "more"},
    ),
    types={
        ".pptx": f"{_SHOW}.presentation.main+xml",
        ".pptm": f"{_POWERPOINT}.presentation.macroEnabled.main+xml",
        ".potx": f"{_SHOW}.template.main+xml",
        ".potm": f"{_POWERPOINT}.template.macroEnabled.main+xml",
        ".ppsx": f"{_SHOW}.slideshow.main+xml",
        ".ppsm": f"{_POWERPOINT}.slideshow.macroEnabled.main+xml",
    },
    main="ppt/presentation.xml",
    edit={"op": "set_slide_text", "index": 0, "title": "New"},
    touched=frozenset(("ppt/slides/slide1.xml",)),
    impossible={"op": "delete_slide", "index": 999},
    begin=(
        {"op": "add_slide", "layout": "title_only", "title": "a"},
        {"op": "add_slide", "layout": "title_only", "title": "b c"},
    ),
    step=_deck_step,
    texts_of=_titles,
    asset_kinds=frozenset(("image", "layout", "text_style", "theme")),
    branded=styled_decks.brand_deck,
    picture="image:slide:0/Photo",
    media="ppt/media/image2.png",
    library=pptx.Presentation,
    edits=(
        (
            {"op": "add_slide", "layout": "title_slide", "title": "Report", "body": "Finance"},
            {"op": "add_slide", "title": "Points", "body": "one\n\ttwo", "notes": "say it"},
            {"op": "add_slide", "layout": "two_content", "title": "Both", "body": "a\n\nb"},
            {"op": "append_bullets", "index": 1, "bullets": ["three"], "alignment": "right"},
            {"op": "set_slide_text", "index": 0, "title_runs": [{"text": "R", "bold": True}]},
            {"op": "replace_text", "search": "FINANCE", "replace": "Sales"},
            {"op": "set_notes", "index": 0, "text": "hello"},
            {"op": "move_slide", "index": 2, "to": 1},
            {"op": "delete_slide", "index": 0},
        ),
        ({"op": "add_slide", "layout": "blank"},),
    ),
    bad_edits=(
        ({"op": "set_slide_text", "index": 0, "title": "there is no slide"},),
        ({"op": "add_slide", "title": "x"}, {"op": "delete_slide", "index": 1}),
        ({"op": "duplicate_slide", "index": 0},),
        ({"op": "add_table", "index": 0, "rows": [["a"]]},),
        ({"op": "add_image", "index": 0, "path": "a.png"},),
        ({"op": "add_slide", "title": "x", "colour": "red"},),
        ({"op": "set_notes", "index": -1, "text": "x"},),
    ),
)


def _workbook_samples(folder: Path) -> Mapping[str, bytes | Path]:
    found = {name: folder / f"{name}.xlsx" for name in ("rich", "made", "looks", "drawn")}
    pack(rich_workbook(), found["rich"])
    applied(XLSX, None, found["made"], *XLSX.edits[0])
    drawn_books.looks_book(found["looks"])
    drawn_books.drawn_book(found["drawn"])
    return {path.name: path for path in found.values()}


def _nested_texts(text: str, depth: int) -> str:
    nested = "<is>" * depth + "<t>deep</t>" + "</is>" * depth
    row = f'<row r="9"><c r="A9" t="inlineStr">{nested}</c></row></sheetData>'
    return text.replace("</sheetData>", row, 1)


def _cell(number: int, text: str) -> Operation:
    # Texts may be empty, cells may not.
    cells = [{"cell": f"A{number}", "value": f"t{text}", "type": "string"}]
    return {"op": "set_cells", "sheet": "Data", "cells": cells}


def _workbook_step(step: Step, texts: list[str]) -> Operation | None:
    match step.kind:
        case "append":
            return _cell(len(texts) + 1, step.text)
        case "set":
            return _cell(step.place + 1, step.text)
        case "delete" if step.place + step.other == len(texts):
            area = f"A{step.place + 1}:A{len(texts)}"
            return {"op": "clear_range", "sheet": "Data", "range": area}
        case _:
            return None


def _cells(path: Path) -> list[str]:
    book = openpyxl.load_workbook(path)
    values = [row[0] for row in book["Data"].iter_rows(values_only=True)]
    return [str(value).removeprefix("t") for value in values if value is not None]


_SHEET = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_EXCEL = "application/vnd.ms-excel"
XLSX = OfficeCase(
    handler=XlsxFormat(),
    samples=_workbook_samples,
    corpora=("xlsx", "xlsx_rare"),
    fewest_read=0.9,
    parts=rich_workbook,
    text_part="xl/worksheets/sheet1.xml",
    word="apple",
    vital=("xl/workbook.xml",),
    looked_at=("xl/styles.xml",),
    nested=_nested_texts,
    tried=(
        {"op": "set_cells", "sheet": "Data", "cells": [{"cell": "H9", "value": 7}]},
    ),
    types={
        ".xlsx": f"{_SHEET}.sheet.main+xml",
        ".xlsm": f"{_EXCEL}.sheet.macroEnabled.main+xml",
        ".xltx": f"{_SHEET}.template.main+xml",
        ".xltm": f"{_EXCEL}.template.macroEnabled.main+xml",
    },
    main="xl/workbook.xml",
    edit={"op": "set_cells", "sheet": "Data", "cells": [{"cell": "H9", "value": 7}]},
    touched=frozenset(("xl/worksheets/sheet1.xml",)),
    impossible={"op": "unmerge_cells", "sheet": "Data", "range": "A1:B2"},
    begin=(_cell(1, "a"), _cell(2, "b c")),
    step=_workbook_step,
    texts_of=_cells,
    asset_kinds=frozenset(("cell_style", "column_widths", "image")),
    branded=drawn_books.drawn_book,
    picture="image:Data/Logo",
    media="xl/media/image1.png",
    library=openpyxl.load_workbook,
    edits=(
        (
            {
                "op": "set_range", "sheet": "Data", "start": "A1",
                "values": [["Item", "Cost"], ["Tea", 4.5]],
            },
            {"op": "set_cells", "sheet": "Data", "cells": [{"cell": "B3", "value": "=SUM(B2:B2)"}]},
            {"op": "freeze_panes", "sheet": "Data", "row": 1},
        ),
    ),
    bad_edits=(
        ({"op": "set_cells", "sheet": "S", "cells": [{"cell": "XFE1", "value": 1}]},),
        ({"op": "set_cells", "sheet": "S", "cells": [{"cell": "A1048577", "value": 1}]},),
        ({"op": "set_cells", "sheet": "S", "cells": [{"cell": "A0", "value": 1}]},),
        ({"op": "set_cells", "sheet": "S", "cells": [{"cell": "11", "value": 1}]},),
        ({"op": "set_range", "sheet": "S", "start": "XFD1", "values": [[1, 2]]},),
        ({"op": "set_range", "sheet": "S", "start": "A1", "values": [["x" * 32_768]]},),
        ({"op": "set_range", "sheet": "S", "start": "A1", "values": [["a\x00b"]]},),
        ({"op": "set_range", "sheet": "S", "start": "A1", "values": [["a\x0bb"]]},),
        ({"op": "set_range", "sheet": "S", "start": "A1", "values": [["=SUM(A2;A3)"]]},),
        ({"op": "set_range", "sheet": "S", "start": "A1", "values": [["=SUM(A2:A3"]]},),
        ({"op": "merge_cells", "sheet": "S", "range": "A1"},),
        ({"op": "unmerge_cells", "sheet": "S", "range": "A1:B2"},),
        ({"op": "ensure_sheet", "sheet": "a/b"},),
        ({"op": "ensure_sheet", "sheet": "x" * 32},),
        ({"op": "ensure_sheet", "sheet": "S", "colour": "red"},),
        ({"op": "delete_sheet", "sheet": "S"},),
        (
            {"op": "ensure_sheet", "sheet": "S"},
            {
                "op": "set_cells", "sheet": "S",
                "cells": [{"cell": "A1", "value": "31.01.2024", "type": "date"}],
            },
        ),
        (),
    ),
)  # fmt: skip

OFFICE = (DOCX, PPTX, XLSX)
PACKAGES: tuple[PackageCase, ...] = (*OFFICE, ODP, ODS, ODT)
FORMATS: tuple[FormatCase, ...] = (*PACKAGES, CSV, IMAGE, PDF, TEXT)

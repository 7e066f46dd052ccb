"""Operations on documents: what they make, what they take and skip, what they refuse."""

import json
import re
import zipfile
from pathlib import Path
from typing import Any

import docx
import pytest
from docx.enum.text import WD_ALIGN_PARAGRAPH, WD_COLOR_INDEX, WD_UNDERLINE

from format_cases import entries
from kbd.core.plugins.format_calls import parse_operations
from kbd.errors import ValidationFailed
from kbd.formats import Source
from kbd_docx import DocxFormat
from kbd_docx.operations import OPERATIONS, ReplaceText
from kbd_edits.edit_tools import operations_schema
from made_documents import W, at, body_of, edit, made, para, part_of, shown


def new(tmp_path: Path, *found: dict[str, Any]) -> Any:
    """A new document as the library reads it."""
    edit(None, *found, to=tmp_path / "new.docx")
    return docx.Document(str(tmp_path / "new.docx"))


COLORS = "#RRGGBB or a color's name"
MARKERS = f"none, {COLORS}"


def test_looks(tmp_path: Path) -> None:
    """Text from runs, centred, 12 pt after, 0.25 in indent, colours; what is bad is skipped."""
    path = tmp_path / "new.docx"
    runs = [
        {"text": "Q4 ", "font_name": "Arial", "font_size": 10.5, "bold": True, "italic": False},
        {"text": "up", "font_color": "#112233", "highlight_color": "yellow", "underline": True},
        {"text": "!", "highlight_color": "no color", "font_color": "none", "underline": "wave"},
    ]
    applied = edit(
        None,
        {
            "op": "append_paragraph", "runs": runs, "alignment": "centre", "space_after": 12,
            "indent_left": 0.25, "indent_right": "wide", "line_spacing": 1.15, "space_before": -1,
            "indent_first_line": -0.25,
        },
        to=path,
    )  # fmt: skip

    found: Any = docx.Document(str(path)).paragraphs[0]
    shape = found.paragraph_format
    assert found.text == "Q4 up!"
    assert shape.alignment == WD_ALIGN_PARAGRAPH.CENTER
    assert (shape.space_after.pt, shape.left_indent.inches) == (12, 0.25)
    assert (shape.line_spacing, shape.first_line_indent.inches) == (1.15, -0.25)
    assert (shape.right_indent, shape.space_before) == (None, None)
    first, second, third = (run.font for run in found.runs)
    assert (first.name, first.size.pt, first.bold, first.italic) == ("Arial", 10.5, True, False)
    assert str(second.color.rgb) == "112233"
    assert second.highlight_color == WD_COLOR_INDEX.YELLOW
    assert second.underline is True
    assert (third.highlight_color, third.color.rgb) == (None, None)
    assert third.underline == WD_UNDERLINE.WAVY
    assert applied.warnings == (
        "space_before cannot be -1 and was skipped; it takes points from 0 to 1584",
        'indent_right cannot be "wide" and was skipped; it takes inches from -22 to 22',
        'runs[2].highlight_color cannot be "no color" and was skipped; it takes ' + MARKERS,
        'runs[2].font_color cannot be "none" and was skipped; it takes ' + COLORS,
    )


@pytest.mark.parametrize(
    ("given", "marker", "told"),
    [
        ("Bright Green", "green", False), ("dark-grey", "darkGray", False),
        ("#FFFF00", "yellow", False), ("00FFFE", "cyan", True), ("#102080", "darkBlue", True),
    ],
)  # fmt: skip
def test_markers_have_few_colours(tmp_path: Path, given: str, marker: str, *, told: bool) -> None:
    """One is meant by its name or by its look; another colour is the nearest, and told."""
    path = tmp_path / "new.docx"
    run = {"text": "x", "highlight_color": given}
    applied = edit(None, {"op": "append_paragraph", "runs": [run]}, to=path)

    (found,) = body_of(path).iter(f"{W}highlight")
    assert found.get(f"{W}val") == marker
    assert bool(applied.warnings) is told


def test_at_is_the_number_that_it_will_have(tmp_path: Path) -> None:
    """Counted with paragraphs in controls, without those in tables; operations see one another."""
    table = f"<w:tbl><w:tr><w:tc>{para('cell')}</w:tc></w:tr></w:tbl>"
    control = f"<w:sdt><w:sdtContent>{para('2')}{para('3')}</w:sdtContent></w:sdt>"
    path = made(tmp_path / "a.docx", f"{para('1')}{table}{control}{para('4')}<w:sectPr/>")
    applied = edit(
        path,
        {"op": "insert_paragraph", "at": 5, "text": "last"},
        {"op": "insert_paragraph", "at": 3, "text": "between 2 and 3"},
        {"op": "insert_paragraph", "at": 2, "text": "behind the table"},
        {"op": "insert_paragraph", "at": 1, "text": "first"},
        {"op": "append_paragraph", "text": "very last"},
    )

    body = body_of(path.with_name("out.docx"))
    assert applied.changed[-1] == "paragraph 9: new"
    assert shown(body) == [
        "first", "1", "cell", "behind the table", "2", "between 2 and 3", "3", "4", "last",
        "very last",
    ]  # fmt: skip
    assert body[-1].tag == f"{W}sectPr"
    assert shown(at(body, "sdt")) == ["2", "between 2 and 3", "3"]
    for place in (6, 1000):
        with pytest.raises(ValidationFailed, match="has 4 paragraphs, counted from 1"):
            edit(path, {"op": "insert_paragraph", "at": place, "text": "x"})


def test_a_remark_before_alternatives_counts_for_nothing(tmp_path: Path) -> None:
    """An XML comment before the first alternative changes no number: map and edits count alike."""
    alternatives = f"<mc:AlternateContent><!-- new --><mc:Choice>{para('1')}</mc:Choice>"
    alternatives += f"<mc:Choice>{para('none')}</mc:Choice></mc:AlternateContent>"
    path = made(tmp_path / "a.docx", f"{alternatives}{para('2')}{para('3')}")
    edit(path, {"op": "insert_paragraph", "at": 2, "text": "new"})

    assert DocxFormat().map(Source(path, path.name))["paragraph_count"] == 3
    assert shown(body_of(path.with_name("out.docx"))) == ["1", "none", "new", "2", "3"]


def test_a_table_comes_after_a_paragraph(tmp_path: Path) -> None:
    """0 is the beginning, no place the end; tables do not touch, and none ends a document."""
    path = made(
        tmp_path / "a.docx", para("1") + para("2") + '<w:sectPr><w:pgSz w:w="11906"/></w:sectPr>'
    )
    applied = edit(
        path,
        {"op": "add_table", "rows": [["after 1"]], "after": 1},
        {"op": "add_table", "rows": [["before all", 2.0, True]], "after": 0},
        {"op": "add_table", "rows": [["after 1, nearer"]], "after": 1},
        {"op": "add_table", "rows": [["end"], ["e", None]]},
        {"op": "add_table", "rows": [["very end"]]},
    )

    body = body_of(path.with_name("out.docx"))
    assert [each.tag[len(W) :] for each in body] == [
        "tbl", "p", "tbl", "p", "tbl", "p", "tbl", "p", "tbl", "p", "sectPr",
    ]  # fmt: skip
    assert shown(body) == [
        "before all", "2", "true", "1", "after 1, nearer", "", "after 1", "2",
        "end", "", "e", "", "", "very end", "",
    ]  # fmt: skip
    assert applied.changed[1:3] == ("table 0: new, 1 × 3", "table 1: new, 1 × 1")
    assert "Not all rows had 2 cells; short ones got cells without text." in applied.warnings
    with pytest.raises(ValidationFailed, match="no paragraph 3"):
        edit(path, {"op": "add_table", "rows": [["x"]], "after": 3})
    with pytest.raises(ValidationFailed, match="put the data into a workbook"):
        edit(path, {"op": "add_table", "rows": [["x"] * 60] * 1000})


@pytest.mark.parametrize(
    ("columns", "width"),
    [
        ("", 10_000),
        ("<w:cols w:space='1000'/>", 10_000),
        ("<w:cols w:num='2' w:space='1000'/>", 4_500),
        ("<w:cols w:num='2' w:space='50pt'/>", 4_500),
        ("<w:cols w:num='3'/>", 2_853),
        ("<w:cols w:equalWidth='0'><w:col w:w='6000'/><w:col w:w='3200'/></w:cols>", 3_200),
    ],
)
def test_a_table_is_as_wide_as_a_column(tmp_path: Path, columns: str, width: int) -> None:
    """Gaps between the columns of a section are no part of the width of its text."""
    size = "<w:pgSz w:w='12000'/><w:pgMar w:left='1000' w:right='1000'/>"
    path = made(tmp_path / "a.docx", f"{para('1')}<w:sectPr>{size}{columns}</w:sectPr>")
    edit(path, {"op": "add_table", "rows": [["x"]]})

    (column,) = body_of(path.with_name("out.docx")).iter(f"{W}gridCol")
    assert column.get(f"{W}w") == str(width)


def test_cells_keep_their_look(tmp_path: Path) -> None:
    """The first paragraph's and the first run's; what a cell held beside text is told."""
    look = "<w:rPr><w:b/></w:rPr>"
    cell = (
        f"<w:p><w:pPr><w:jc w:val='right'/></w:pPr><w:r>{look}<w:t>old</w:t></w:r></w:p>"
        f"<w:tbl><w:tr><w:tc>{para('inner')}</w:tc></w:tr></w:tbl>{para('more')}"
    )
    mark = "<w:p><w:pPr><w:rPr><w:i/><w:ins w:id='1'/></w:rPr></w:pPr></w:p>"
    path = made(
        tmp_path / "a.docx",
        f"<w:tbl><w:tr><w:tc><w:tcPr/>{cell}</w:tc><w:tc>{mark}</w:tc></w:tr></w:tbl>",
    )
    cells = [{"row": 0, "col": 0, "text": "a\nb"}, {"row": 0, "col": 1, "text": 12}]
    applied = edit(path, {"op": "set_table_cells", "table": 0, "cells": cells})

    body = body_of(path.with_name("out.docx"))
    assert shown(body) == ["a\nb", "12"]
    first, second = body.iter(f"{W}p")
    assert first.find(f"{W}pPr/{W}jc") is not None
    assert first.find(f"{W}r/{W}rPr/{W}b") is not None
    assert [each.tag for each in at(second, "r/rPr")] == [f"{W}i"]
    assert applied.changed == ("table 0: 2 cells",)
    assert applied.warnings == ("With the old text of cells went 1 table (row 0, col 0).",)


@pytest.mark.parametrize(
    ("row", "col", "told"),
    [
        (0, 1, "part of a merged cell; its text is that of col 0"),
        (1, 2, "where it begins, above or to the left"),
        (0, 3, "no col 3 in row 0; its cells are at 0, 2"),
        (2, 0, "no row 2; the table has 2"),
    ],
)
def test_cells_are_those_of_the_grid(tmp_path: Path, row: int, col: int, told: str) -> None:
    """A merged cell is set where it begins; a place that is covered or not there is refused."""
    rows = (
        f"<w:tr><w:tc><w:tcPr><w:gridSpan w:val='2'/></w:tcPr>{para('wide')}</w:tc>"
        f"<w:tc><w:tcPr><w:vMerge w:val='restart'/></w:tcPr>{para('high')}</w:tc></w:tr>"
        f"<w:tr><w:tc>{para('a')}</w:tc><w:tc>{para('b')}</w:tc>"
        f"<w:tc><w:tcPr><w:vMerge/></w:tcPr>{para('')}</w:tc></w:tr>"
    )
    path = made(tmp_path / "a.docx", f"<w:tbl>{rows}</w:tbl>{para('')}")
    good = [{"row": 0, "col": 2, "text": "H"}, {"row": 1, "col": 1, "text": "B"}]
    edit(path, {"op": "set_table_cells", "table": 0, "cells": good})

    assert shown(body_of(path.with_name("out.docx")))[:5] == ["wide", "H", "a", "B", ""]
    with pytest.raises(ValidationFailed, match=told):
        edit(path, {
            "op": "set_table_cells", "table": 0, "cells": [{"row": row, "col": col, "text": "x"}],
        })  # fmt: skip


def test_styles_are_found_by_id_or_name(tmp_path: Path) -> None:
    """Blanks and case do not matter; an unknown one is told and Normal."""
    styles = (
        "<w:style w:type='paragraph' w:default='1' w:styleId='Standard'><w:name w:val='Normal'/>"
        "</w:style><w:style w:type='paragraph' w:styleId='berschrift1'><w:name w:val='heading 1'/>"
        "</w:style><w:style w:type='character' w:styleId='Fett'><w:name w:val='Strong'/></w:style>"
    )
    path = made(tmp_path / "a.docx", para("x"), {"styles": styles})
    names = ["Heading 1", "heading1", "berschrift1", "BERSCHRIFT 1", "normal"]
    edit(path, *({"op": "append_paragraph", "text": "", "style": name} for name in names))

    paragraphs = body_of(path.with_name("out.docx")).findall(f"{W}p")[1:]
    found = [each.find(f"{W}pPr/{W}pStyle") for each in paragraphs]
    assert [None if each is None else each.get(f"{W}val") for each in found] == [
        *["berschrift1"] * 4, None,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        ({"op": "append_paragraph", "style": "Strong"}, "'Strong'; it is a character style"),
        ({"op": "append_paragraph", "style": "Headin 1"}, "no paragraph style .* near: heading 1"),
        ({"op": "add_table", "rows": [["x"]], "style": "Table Gird"}, "near: Table Grid"),
        ({"op": "set_paragraphs", "paragraphs": [{"style": "Zzyx"}]}, "get_styles lists"),
        ({"op": "format_paragraphs", "from": 1, "style": "Heading l"}, "near: heading 1"),
    ],
)
def test_a_style_that_is_not_there_is_refused(
    tmp_path: Path, operation: dict[str, Any], message: str
) -> None:
    """The names like it are told, and nothing else is put in its place."""
    styles = (
        "<w:style w:type='paragraph' w:styleId='berschrift1'><w:name w:val='heading 1'/></w:style>"
        "<w:style w:type='character' w:styleId='Fett'><w:name w:val='Strong'/></w:style>"
    )
    path = made(tmp_path / "a.docx", para("x"), {"styles": styles})

    with pytest.raises(ValidationFailed, match=message):
        edit(path, operation)
    assert not path.with_name("out.docx").exists()


def test_a_style_of_word_is_added(tmp_path: Path) -> None:
    """One that files hold only when it is used comes with its list and what it is based on."""
    styles = (
        "<w:style w:type='paragraph' w:default='1' w:styleId='N'><w:name w:val='Normal'/></w:style>"
        "<w:style w:type='character' w:styleId='ListBullet'><w:name w:val='Mine'/></w:style>"
    )
    lists = "<w:abstractNum w:abstractNumId='7'/>"
    lists += "<w:num w:numId='3'><w:abstractNumId w:val='7'/></w:num>"
    for parts in ({"styles": styles, "numbering": lists}, {"styles": styles}, {}):
        path = made(tmp_path / "a.docx", para("x"), parts)
        applied = edit(
            path,
            {"op": "append_paragraph", "text": "point", "style": "list  bullet"},
            {"op": "append_paragraph", "text": "point", "style": "List Bullet"},
            {"op": "add_table", "rows": [["x"]]},
        )

        to = path.with_name("out.docx")
        document: Any = docx.Document(str(to))
        assert [each.style.name for each in document.paragraphs[1:3]] == ["List Bullet"] * 2
        assert document.tables[0].style.name == "Table Grid"
        style = document.paragraphs[1].style.element
        number = style.find(f"{W}pPr/{W}numPr/{W}numId").get(f"{W}val")
        root = part_of(to, "word/numbering.xml")
        kinds = [each.tag[len(W) :] for each in root]
        assert kinds == sorted(kinds), "kinds of lists come before lists"
        (bullets,) = (each for each in root.findall(f"{W}num") if each.get(f"{W}numId") == number)
        kind = bullets[0].get(f"{W}val")
        (meant,) = (each for each in root if each.get(f"{W}abstractNumId") == kind)
        assert at(meant, "lvl/numFmt").get(f"{W}val") == "bullet"
        assert applied.warnings == (
            "Style 'List Bullet' was not in the document; it was added as Word has it.",
            "Style 'Table Grid' was not in the document; it was added as Word has it.",
        )


def test_what_guards_a_document_is_told(tmp_path: Path) -> None:
    """Protection and tracking do not stop an edit; who reads the result must know."""
    guards = "<w:trackRevisions/><w:documentProtection w:edit='readOnly' w:enforcement='1'/>"
    one = {"op": "append_paragraph", "text": "x"}
    applied = edit(made(tmp_path / "a.docx", para("x"), {"settings": guards}), one)
    off = "<w:trackRevisions w:val='0'/><w:documentProtection w:edit='forms' w:enforcement='0'/>"
    free = edit(made(tmp_path / "b.docx", para("x"), {"settings": off}), one)

    assert [text.split(" (")[0] for text in applied.warnings] == [
        "The document is protected",
        (
            "The document tracks changes; an operation without track_changes is made directly and "
            "not marked as a change."
        ),
    ]
    assert free.warnings == ()


def test_strict_documents_get_their_own_words(tmp_path: Path) -> None:
    """Sides are start and end there, and namespaces its own."""
    path = made(tmp_path / "a.docx", para("x"))
    strict = tmp_path / "strict.docx"
    usual = re.compile(rb"http://schemas.openxmlformats.org/(\w+ml|officeDocument)/2006/")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(strict, "w") as written:
        for name in old.namelist():
            named = usual.sub(rb"http://purl.oclc.org/ooxml/\1/", old.read(name))
            written.writestr(name, named)
    edit(
        strict,
        {"op": "append_paragraph", "text": "y", "alignment": "right", "indent_left": 1},
        {"op": "add_table", "rows": [["x"]]},
    )

    data = entries(tmp_path / "out.docx")["word/document.xml"].decode()
    assert 'w:val="end"' in data
    assert 'w:start="1440"' in data
    assert "w:left=" not in data
    assert "openxmlformats.org/wordprocessingml" not in data


def test_find_is_taken_for_search() -> None:
    """The schema teaches one name; the other one is accepted."""
    handler = DocxFormat()
    found = parse_operations(handler, [{"op": "replace_text", "find": "a", "replace": "b"}])
    taught = json.dumps(operations_schema(OPERATIONS))

    assert found == (ReplaceText("a", "b"),)
    assert '"search"' in taught
    assert '"find"' not in taught


@pytest.mark.parametrize("name", ["track_changes"])
def test_what_is_not_built_is_refused_by_name(name: str) -> None:
    """The refusal names it and what there is; the guidance says so before."""
    with pytest.raises(ValidationFailed, match=f"no operation {name}; there are: set_paragraphs"):
        parse_operations(DocxFormat(), [{"op": name}])
    assert name in DocxFormat.guidance

"""How tables, cells and paragraphs look: what is given changes, and everything else stays."""

from pathlib import Path
from typing import Any

import docx
import pytest

from kbd.errors import ValidationFailed
from made_documents import W, at, body_of, edit, made, para, shown

STYLES = (
    "<w:style w:type='paragraph' w:default='1' w:styleId='N'><w:name w:val='Normal'/></w:style>"
    "<w:style w:type='paragraph' w:styleId='Q'><w:name w:val='Quote'/></w:style>"
    "<w:style w:type='table' w:styleId='G'><w:name w:val='Table Grid'/></w:style>"
    "<w:style w:type='table' w:styleId='S'><w:name w:val='Striking'/>"
    "<w:tblStylePr w:type='firstRow'><w:rPr><w:b/></w:rPr></w:tblStylePr></w:style>"
)
CELL = "<w:tc><w:tcPr/><w:p><w:r><w:rPr><w:i/></w:rPr><w:t>{}</w:t></w:r></w:p></w:tc>"
TABLE = "<w:tbl><w:tblPr/><w:tblGrid>" + "<w:gridCol w:w='2000'/>" * 2 + "</w:tblGrid>"
TABLE += "".join(f"<w:tr>{CELL.format(f'{r}0')}{CELL.format(f'{r}1')}</w:tr>" for r in range(3))
TABLE += "</w:tbl>"


def out(path: Path) -> Path:
    return path.with_name("out.docx")


def document(tmp_path: Path, body: str = TABLE + para("end")) -> Path:
    return made(tmp_path / "a.docx", body, {"styles": STYLES})


def opened(path: Path) -> Any:
    return docx.Document(str(out(path)))


def test_a_table_with_a_header_and_figures(tmp_path: Path) -> None:
    """The first row repeats and stands out, columns are as wide and aligned as was asked for."""
    path = document(tmp_path, para("x"))
    rows = [["Name", "Sum"], ["one", 1], ["two", 2]]
    operation = {"op": "add_table", "rows": rows, "header": True, "column_widths": [3, 1.5],
                 "alignments": ["left", "right"]}  # fmt: skip
    applied = edit(path, operation, {**operation, "style": "Striking"})

    assert applied.warnings == ()
    first, second = opened(path).tables
    assert [round(each.width.inches, 2) for each in first.rows[1].cells] == [3, 1.5]
    assert [str(r.cells[1].paragraphs[0].alignment) for r in first.rows] == ["RIGHT (2)"] * 3
    for found in (first, second):
        header = found.rows[0]._tr
        assert header.find(f"{W}trPr/{W}tblHeader") is not None
        assert at(found._tbl, "tblPr/tblLook").get(f"{W}firstRow") == "1"
    # A style that has a look for first rows gives it; else it is bold by itself.
    assert [t.rows[0].cells[0].paragraphs[0].runs[0].bold for t in (first, second)] == [True, None]
    assert first.rows[1].cells[0].paragraphs[0].runs[0].bold is None
    with pytest.raises(ValidationFailed, match="column_widths has 1 entries"):
        edit(path, {**operation, "column_widths": [1]})
    told = edit(path, {**operation, "alignments": ["sideways"], "column_widths": ["x", 2]}).warnings
    assert len(told) == 2
    assert all(name in " ".join(told) for name in ("alignments[0]", "column_widths[0]"))


def test_cells_get_runs_and_looks(tmp_path: Path) -> None:
    """Runs keep the look that the cell had; a look alone leaves the text; null empties."""
    path = document(tmp_path)
    cells: list[dict[str, Any]] = [
        {"row": 0, "col": 0, "runs": [{"text": "a", "bold": True}, {"text": "b"}]},
        {"row": 0, "col": 1, "shading": "#DDEEFF", "vertical_alignment": "center", "bold": True,
         "style": "Quote", "alignment": "right", "font_color": "red", "font_size": 9},
        {"row": 1, "col": 0, "text": None},
        {"row": 1, "col": 1, "text": 5, "shading": "none"},
    ]  # fmt: skip
    edit(path, {"op": "set_table_cells", "table": 0, "cells": cells})

    rows = opened(path).tables[0].rows
    assert [[each.text for each in row.cells] for row in rows] == [
        ["ab", "01"], ["", "5"], ["20", "21"],
    ]  # fmt: skip
    runs = rows[0].cells[0].paragraphs[0].runs
    assert [(each.bold, each.italic) for each in runs] == [(True, True), (None, True)]
    second = rows[0].cells[1]
    (run,) = second.paragraphs[0].runs
    assert (run.bold, run.italic, run.font.size.pt, str(run.font.color.rgb)) == (
        True, True, 9, "FF0000",
    )  # fmt: skip
    assert second.paragraphs[0].style.name == "Quote"
    settings = at(second._tc, "tcPr")
    assert [each.tag[len(W) :] for each in settings] == ["shd", "vAlign"]
    assert at(settings, "shd").get(f"{W}fill") == "DDEEFF"
    for wrong, message in (
        ({"style": "Qote"}, "near: Quote"),
        ({"text": "x", "runs": []}, "text or runs, not both"),
    ):
        with pytest.raises(ValidationFailed, match=message):
            edit(path, {"op": "set_table_cells", "table": 0,
                        "cells": [{"row": 0, "col": 0, **wrong}]})  # fmt: skip


def test_a_range_of_cells_gets_a_look(tmp_path: Path) -> None:
    """Only what begins in the range; a range that is not there is refused."""
    path = document(tmp_path)
    edit(path, {"op": "format_table_cells", "table": 0, "row": 1, "col": 1, "alignment": "right"})

    rows = opened(path).tables[0].rows
    aligned = [[each.paragraphs[0].alignment is not None for each in row.cells] for row in rows]
    assert aligned == [[False, False], [False, True], [False, True]]
    for wrong in ({"to_row": 3}, {"col": 2}, {"row": 2, "to_row": 1}):
        with pytest.raises(ValidationFailed, match=r"there is no|before it begins"):
            edit(path, {"op": "format_table_cells", "table": 0, "bold": True, **wrong})


def test_a_table_gets_a_look(tmp_path: Path) -> None:
    """Settings stand in the order of the schema; columns keep their shares of the width."""
    path = document(tmp_path)
    edit(path, {"op": "set_table", "table": 0, "style": "striking", "alignment": "center",
                "width": 5, "header_rows": 2, "borders": "horizontal"})  # fmt: skip

    settings = at(body_of(out(path)), "tbl/tblPr")
    assert [each.tag[len(W) :] for each in settings] == [
        "tblStyle", "tblW", "jc", "tblBorders", "tblLayout", "tblLook",
    ]  # fmt: skip
    borders = {each.tag[len(W) :]: each.get(f"{W}val") for each in at(settings, "tblBorders")}
    assert borders == dict.fromkeys(("top", "bottom", "insideH"), "single") | dict.fromkeys(
        ("left", "right", "insideV"), "nil"
    )
    found = opened(path).tables[0]
    assert found.style.name == "Striking"
    assert [each.width.inches for each in found.rows[0].cells] == [2.5, 2.5]
    headers = [r._tr.find(f"{W}trPr/{W}tblHeader") is not None for r in found.rows]
    assert headers == [True, True, False]
    with pytest.raises(ValidationFailed, match="header_rows cannot be 4"):
        edit(path, {"op": "set_table", "table": 0, "header_rows": 4})
    with pytest.raises(ValidationFailed, match="near: Striking"):
        edit(path, {"op": "set_table", "table": 0, "style": "Strikin"})


def test_paragraphs_look_like_others(tmp_path: Path) -> None:
    """Settings and the first run's look are taken over, but no section and no tracked change."""
    model = (
        "<w:p><w:pPr><w:pStyle w:val='Q'/><w:jc w:val='center'/><w:rPr><w:ins w:id='1'/><w:b/>"
        "</w:rPr><w:sectPr/><w:pPrChange w:id='2'><w:pPr/></w:pPrChange></w:pPr>"
        "<w:ins w:id='3'><w:r><w:rPr><w:b/><w:rPrChange w:id='4'><w:rPr/></w:rPrChange></w:rPr>"
        "<w:t>model</w:t></w:r></w:ins></w:p>"
    )
    path = document(tmp_path, model + para("other"))
    edit(
        path,
        {"op": "append_paragraph", "text": "same", "like": 1},
        {"op": "insert_paragraph", "at": 2, "text": "left", "like": 1, "alignment": "left"},
        {"op": "format_paragraphs", "from": 3, "like": 1},
    )

    body = body_of(out(path))
    assert shown(body) == ["model", "left", "other", "same"]
    found = opened(path).paragraphs
    assert [each.style.name for each in found] == ["Quote"] * 4
    assert [str(each.alignment) for each in found] == [
        "CENTER (1)", "LEFT (0)", "CENTER (1)", "CENTER (1)",
    ]  # fmt: skip
    assert all(each.runs[0].bold for each in found[1:])
    for name in ("ins", "sectPr", "pPrChange", "rPrChange"):
        assert sum(1 for _ in body.iter(f"{W}{name}")) == (2 if name == "ins" else 1), name
    with pytest.raises(ValidationFailed, match="there is no paragraph 9"):
        edit(path, {"op": "append_paragraph", "like": 9})
    edit(path, {"op": "set_paragraphs", "paragraphs": [{"text": "new", "like": 1}]})
    assert opened(path).paragraphs[0].runs[0].bold


def test_paragraphs_get_a_look(tmp_path: Path) -> None:
    """What is there keeps its text and its other formatting; text boxes are not meant."""
    box = f"<w:r><w:pict><v:shape><v:textbox><w:txbxContent>{para('box')}</w:txbxContent>"
    box += "</v:textbox></v:shape></w:pict></w:r>"
    run = "<w:r><w:rPr><w:i/></w:rPr><w:t>text</w:t></w:r>"
    path = document(tmp_path, f"<w:p><w:pPr><w:keepNext/></w:pPr>{run}{box}</w:p>{para('b')}")
    edit(path, {"op": "format_paragraphs", "from": 1, "count": 2, "bold": True, "space_after": 6,
                "highlight_color": "yellow", "style": "Quote"})  # fmt: skip

    first, second = opened(path).paragraphs
    assert (first.runs[0].bold, first.runs[0].italic) == (True, True)
    assert first.paragraph_format.keep_with_next
    assert [each.paragraph_format.space_after.pt for each in (first, second)] == [6, 6]
    inner = next(body_of(out(path)).iter(f"{W}txbxContent"))
    assert next(inner.iter(f"{W}b"), None) is None
    edit(out(path), {"op": "format_paragraphs", "from": 2, "highlight_color": "none"},
         to=tmp_path / "out2.docx")  # fmt: skip
    assert len(list(body_of(tmp_path / "out2.docx").iter(f"{W}highlight"))) == 3

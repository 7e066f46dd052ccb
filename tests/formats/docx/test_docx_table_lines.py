"""Rows and columns of tables put in and taken out, cells merged and split: merges stay whole."""

from pathlib import Path
from typing import Any

import docx
import pytest
from lxml import etree

from kbd.errors import ValidationFailed
from kbd.formats import CompareOptions, Source
from kbd_docx import DocxFormat
from made_documents import W, body_of, edit, made, para

FORMAT = DocxFormat()


def cell(text: str, settings: str = "", width: int = 1000) -> str:
    """A cell; its text is bold."""
    run = f"<w:r><w:rPr><w:b/></w:rPr><w:t>{text}</w:t></w:r>" if text else ""
    properties = f"<w:tcPr><w:tcW w:w='{width}' w:type='dxa'/>{settings}</w:tcPr>"
    return f"<w:tc>{properties}<w:p>{run}</w:p></w:tc>"


def row(*cells: str, settings: str = "") -> str:
    return f"<w:tr>{f'<w:trPr>{settings}</w:trPr>' if settings else ''}{''.join(cells)}</w:tr>"


def table(*rows: str, columns: int = 3) -> str:
    grid = "<w:gridCol w:w='1000'/>" * columns
    return f"<w:tbl><w:tblPr/><w:tblGrid>{grid}</w:tblGrid>{''.join(rows)}</w:tbl>"


def plain(count: int = 3) -> str:
    return table(*(row(*(cell(f"{r}{c}") for c in range(3))) for r in range(count)))


SPAN = "<w:gridSpan w:val='2'/>"
BEGIN, GO_ON = "<w:vMerge w:val='restart'/>", "<w:vMerge/>"
MERGED = table(
    row(cell("head", "<w:gridSpan w:val='3'/>"), settings="<w:tblHeader/>"),
    row(cell("tall", BEGIN), cell("a"), cell("b")),
    row(cell("", GO_ON), cell("c", SPAN)),
    row(cell("", GO_ON), cell("d"), cell("e")),
    row(cell("f"), cell("g"), cell("h")),
)


def grid(path: Path) -> list[list[str]]:
    """The rows of the first table: each cell's text, its columns (:2) and its merge (^ or v)."""
    found = []
    for line in next(body_of(path).iter(f"{W}tbl")).iter(f"{W}tr"):
        texts = []
        for each in line.iter(f"{W}tc"):
            span = each.find(f"{W}tcPr/{W}gridSpan")
            merge = each.find(f"{W}tcPr/{W}vMerge")
            text = "/".join("".join(map(str, p.itertext())) for p in each.iter(f"{W}p"))
            text += f":{span.get(f'{W}val')}" if span is not None else ""
            if merge is not None:
                text += "v" if merge.get(f"{W}val") == "restart" else "^"
            texts.append(text)
        found.append(texts)
    return found


def out(path: Path) -> Path:
    return path.with_name("out.docx")


def done(tmp_path: Path, body: str, *operations: dict[str, Any]) -> list[list[str]]:
    path = made(tmp_path / "a.docx", body + para("end"))
    edit(path, *({"table": 0, **each} for each in operations))
    docx.Document(str(out(path)))
    return grid(out(path))


def refused(tmp_path: Path, body: str, message: str, **operation: Any) -> None:
    path = made(tmp_path / "a.docx", body + para("end"))
    with pytest.raises(ValidationFailed, match=message):
        edit(path, {"table": 0, **operation})
    assert not out(path).exists()


def test_rows_are_put_in_and_look_like_a_neighbor(tmp_path: Path) -> None:
    """They stand where they should, with the look of the row above, or of the one that is named."""
    put = {"op": "insert_table_rows", "at": 1, "rows": [["x", None, 1.5], []]}
    found = done(tmp_path, plain(2), put)

    assert found == [["00", "01", "02"], ["x", "", "1.5"], ["", "", ""], ["10", "11", "12"]]
    new = list(body_of(tmp_path / "out.docx").iter(f"{W}tr"))[1]
    assert new.find(f"{W}tc/{W}p/{W}r/{W}rPr/{W}b") is not None
    assert done(tmp_path, plain(2), {**put, "at": 2})[-1] == ["", "", ""]
    refused(tmp_path, plain(2), "the last place is 2", **{**put, "at": 3})
    refused(tmp_path, plain(2), "there is no row 7", **{**put, "like": 7})
    refused(tmp_path, plain(2), "no cell of its own in col 3", op="insert_table_rows", at=0,
            rows=[[None, None, None, "x"]])  # fmt: skip


def test_rows_go_on_with_a_merge_that_they_come_into(tmp_path: Path) -> None:
    """Below a header row they look like the next one; a text for a covered cell is refused."""
    found = done(tmp_path, MERGED, {"op": "insert_table_rows", "at": 3, "rows": [[None, "x"]],
                                    "like": 3})  # fmt: skip
    assert found[3] == ["^", "x", ""]
    found = done(tmp_path, MERGED, {"op": "insert_table_rows", "at": 1, "rows": [["x", "y", "z"]]})
    assert found[1] == ["x", "y", "z"]
    body = body_of(tmp_path / "out.docx")
    assert len(list(body.iter(f"{W}tblHeader"))) == 1
    refused(tmp_path, MERGED, "no cell of its own in col 0", op="insert_table_rows", at=2,
            rows=[["x"]])  # fmt: skip
    refused(tmp_path, MERGED, "merged cell in col 0 goes over that place", at=2, like=0,
            op="insert_table_rows", rows=[[]])  # fmt: skip


def test_a_merge_whose_beginning_goes_begins_below(tmp_path: Path) -> None:
    """What the cell held moves down; rows in the middle of a merge just go."""
    found = done(tmp_path, MERGED, {"op": "delete_table_rows", "from": 1})
    assert found[1:3] == [["tallv", "c:2"], ["^", "d", "e"]]
    found = done(tmp_path, MERGED, {"op": "delete_table_rows", "from": 1, "count": 2})
    assert found[1:] == [["tall", "d", "e"], ["f", "g", "h"]]
    found = done(tmp_path, MERGED, {"op": "delete_table_rows", "from": 2, "count": 2})
    assert found[1:] == [["tallv", "a", "b"], ["f", "g", "h"]]
    refused(tmp_path, MERGED, "a table needs a row", op="delete_table_rows", count=5, **{"from": 0})
    refused(tmp_path, MERGED, "there is no row 5", op="delete_table_rows", count=2, **{"from": 4})


def test_columns_make_merged_cells_wider(tmp_path: Path) -> None:
    """A cell over the new column takes it in; the table stays within the text."""
    found = done(tmp_path, MERGED, {"op": "insert_table_columns", "at": 2,
                                    "columns": [[None, "x", None, "y", "z"]]})  # fmt: skip
    assert found == [["head:4"], ["tallv", "a", "x", "b"], ["^", "c:3"], ["^", "d", "y", "e"],
                     ["f", "g", "z", "h"]]  # fmt: skip
    refused(tmp_path, MERGED, "row 0 has no cell of its own", op="insert_table_columns", at=1,
            columns=[["x"]])  # fmt: skip
    refused(tmp_path, MERGED, "the last place is 3", op="insert_table_columns", at=4, columns=[[]])
    refused(tmp_path, plain(1), "a column has 2 texts", op="insert_table_columns", at=0,
            columns=[["a", "b"]])  # fmt: skip
    wide = plain(1).replace("1000", "3000")
    done(tmp_path, wide, {"op": "insert_table_columns", "at": 3, "columns": [[]]})
    widths = [int(each.get(f"{W}w", "0"))
              for each in body_of(tmp_path / "out.docx").iter(f"{W}gridCol")]  # fmt: skip
    assert len(widths) == 4
    assert sum(widths) <= 9026


def test_columns_that_go_make_merged_cells_narrower(tmp_path: Path) -> None:
    """A merged cell keeps what it holds while one of its columns stays."""
    found = done(tmp_path, MERGED, {"op": "delete_table_columns", "from": 1})
    assert found == [["head:2"], ["tallv", "b"], ["^", "c"], ["^", "e"], ["f", "h"]]
    refused(tmp_path, MERGED, "a table needs a column", op="delete_table_columns", count=3,
            **{"from": 0})  # fmt: skip
    short = table(row(cell("a"), cell("b")), row(cell("c")), columns=2)
    refused(tmp_path, short, "row 1 would be left without a cell", op="delete_table_columns",
            **{"from": 0})  # fmt: skip


def test_rows_that_begin_later_keep_their_places(tmp_path: Path) -> None:
    """Columns that a row leaves out are counted along."""
    later = table(
        row(cell("a"), cell("b"), cell("c")),
        row(cell("d"), settings="<w:gridBefore w:val='1'/><w:gridAfter w:val='1'/>"),
    )
    path = made(tmp_path / "a.docx", later + para("end"))
    for operation, before, after in (
        ({"op": "insert_table_columns", "at": 0, "columns": [[]]}, 2, 1),
        ({"op": "insert_table_columns", "at": 3, "columns": [[]]}, 1, 2),
        ({"op": "delete_table_columns", "from": 0}, None, 1),
        ({"op": "delete_table_columns", "from": 2}, 1, None),
    ):
        edit(path, {"table": 0, **operation})
        settings = list(body_of(out(path)).iter(f"{W}tr"))[1].find(f"{W}trPr")
        assert settings is not None
        for name, count in (("gridBefore", before), ("gridAfter", after)):
            found = settings.find(f"{W}{name}")
            assert (None if found is None else int(found.get(f"{W}val", ""))) == count


def test_cells_are_merged_and_split(tmp_path: Path) -> None:
    """Texts stand one below the other; splitting gives the grid back, all text in one cell."""
    merge = {"op": "merge_table_cells", "row": 0, "col": 0, "to_row": 1, "to_col": 1}
    assert done(tmp_path, plain(), merge) == [
        ["00/01/10/11:2v", "02"], [":2^", "12"], ["20", "21", "22"],
    ]  # fmt: skip
    split = {"op": "split_table_cell", "row": 0, "col": 0}
    assert done(tmp_path, plain(), merge, split)[:2] == [["00/01/10/11", "", "02"], ["", "", "12"]]
    one_row = {**merge, "to_row": 0}
    assert done(tmp_path, plain(), one_row)[0] == ["00/01:2", "02"]
    refused(tmp_path, plain(), "not a merged cell", **split)
    refused(tmp_path, plain(), "one cell already", **{**one_row, "to_col": 0})
    refused(tmp_path, plain(), "leaves the table", **{**merge, "to_col": 5})
    refused(tmp_path, MERGED, "cuts through a cell", op="merge_table_cells", row=1, col=0,
            to_row=2, to_col=1)  # fmt: skip
    refused(tmp_path, MERGED, "goes to row 3, beyond", op="merge_table_cells", row=1, col=0,
            to_row=2, to_col=2)  # fmt: skip


def test_the_review_names_lines(tmp_path: Path) -> None:
    """A row or a column is one change, also below a header that stood alone."""
    path = made(
        tmp_path / "a.docx", table(row(cell("Name"), cell("Sum"), cell("Note"))) + para("e")
    )
    new = [["one by one", 1, "a remark"], ["two by two", 2, "more of them"]]
    for operation, names in (
        ({"op": "insert_table_rows", "at": 1, "rows": new}, ["row added", "row added"]),
        ({"op": "insert_table_columns", "at": 3, "columns": [["New"]]}, ["column added"]),
    ):
        edit(path, {"table": 0, **operation})
        found = FORMAT.compare(
            Source(path, path.name), Source(out(path), out(path).name), CompareOptions()
        )
        assert [f"{each.what} {each.kind}" for each in found.changes] == names


def test_rows_in_content_controls(tmp_path: Path) -> None:
    """New rows stand outside of a control that ends there; an empty one goes; locks refuse."""

    def control(inner: str, lock: str = "") -> str:
        return f"<w:sdt><w:sdtPr>{lock}</w:sdtPr><w:sdtContent>{inner}</w:sdtContent></w:sdt>"

    one = row(cell("a"), cell("b"), cell("c"))
    body = table(one, control(row(cell("d"), cell("e"), cell("f"))))
    path = made(tmp_path / "a.docx", body + para("end"))
    edit(path, {"op": "insert_table_rows", "table": 0, "at": 2, "rows": [["x"]]})
    tags = [etree.QName(each).localname for each in next(body_of(out(path)).iter(f"{W}tbl"))]
    assert tags == ["tblPr", "tblGrid", "tr", "sdt", "tr"]
    applied = edit(path, {"op": "delete_table_rows", "table": 0, "from": 1})
    assert next(body_of(out(path)).iter(f"{W}sdt"), None) is None
    assert any("content control" in text for text in applied.warnings)
    locked = table(one, control(row(cell("d")), "<w:lock w:val='sdtLocked'/>"))
    refused(tmp_path, locked, "locked against being deleted", op="delete_table_rows", **{"from": 1})

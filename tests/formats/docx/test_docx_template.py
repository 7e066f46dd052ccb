"""Templates: placeholders filled wherever they stand, rows and paragraphs repeated."""

from pathlib import Path
from typing import Any

import pytest

from edited_documents import applied, mapped, picture
from kbd.errors import ValidationFailed
from made_documents import W, body_of, edit, made, para, part_of, shown
from settled_documents import content_of, tracked
from test_docx_tracking import run, table


def filling(values: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return the operation with values by name; those of a list are records."""
    lists = {name: value for name, value in values.items() if isinstance(value, list)}
    return {
        "op": "fill_template",
        "values": [
            {"name": name, "value": value} for name, value in values.items() if name not in lists
        ],
        "lists": [
            {
                "name": name,
                "columns": list(records[0] if records else "x"),
                "rows": [list(record.values()) for record in records],
            }
            for name, records in lists.items()
        ],
        **more,
    }


def fill(path: Path, values: dict[str, Any], **more: Any) -> list[str]:
    """Fill a template and return the paragraphs of the result."""
    edit(path, filling(values, **more))
    return shown(body_of(path.with_name("out.docx")))


def test_a_placeholder_is_filled_however_it_is_divided(tmp_path: Path) -> None:
    """Over runs, a link and another's tracked insertion, with blanks inside, and more than once."""
    inserted = f'<w:ins w:id="1" w:author="B">{run("{{ci")}</w:ins>'
    link = f'<w:hyperlink w:anchor="x">{run("ent }}, ")}</w:hyperlink>'
    path = made(
        tmp_path / "a.docx",
        f"<w:p>{run('Dear {{ cli', '<w:b/>')}{link}{inserted}{run('ty}}. {{client}}')}</w:p>",
    )

    assert fill(path, {"client": "ACME", "city": "Rome"}) == ["Dear ACME, Rome. ACME"]


def test_headers_and_boxes_are_filled(tmp_path: Path) -> None:
    """What stands around the body is filled, too."""
    path = made(tmp_path / "a.docx", para("{{x}}"), {"header1": para("No. {{x}}")})
    fill(path, {"x": 7})

    assert shown(part_of(tmp_path / "out.docx", "word/header1.xml")) == ["No. 7"]


def test_a_row_is_repeated_for_each_record(tmp_path: Path) -> None:
    """The row of a list is there once for each record, with its looks; others stay."""
    rows = (("Item", "Price"), ("{{items.name}}", "{{items.price}}"), ("Total", "{{total}}"))
    path = made(tmp_path / "a.docx", table(*rows) + para(""))
    items = [{"name": "A", "price": 3}, {"name": "B {{total}}", "price": 9.5}]

    assert fill(path, {"items": items, "total": 12.5}) == [
        "Item", "Price", "A", "3", "B {{total}}", "9.5", "Total", "12.5", "",
    ]  # fmt: skip


def test_neighboring_rows_of_a_list_are_repeated_together(tmp_path: Path) -> None:
    """Two rows of a record stay together."""
    path = made(tmp_path / "a.docx", table(("{{x.a}}",), ("{{x.b}}",), ("end",)) + para(""))

    assert fill(path, {"x": [{"a": 1, "b": 2}, {"a": 3, "b": 4}]}) == [
        "1",
        "2",
        "3",
        "4",
        "end",
        "",
    ]


def test_a_paragraph_is_repeated_for_each_record(tmp_path: Path) -> None:
    """Outside of tables a list is of paragraphs."""
    path = made(tmp_path / "a.docx", para("To do:") + para("{{todo.what}}") + para("end"))

    assert fill(path, {"todo": [{"what": "a"}, {"what": "b"}]}) == ["To do:", "a", "b", "end"]


def test_of_an_empty_list_nothing_is_left(tmp_path: Path) -> None:
    """Neither its row nor, where that is all, its table; what holds it stays sound."""
    body = table(("Item",), ("{{x.a}}",)) + para("between") + table(("{{x.b}}",))
    path = made(tmp_path / "a.docx", body)

    assert fill(path, {"x": []}) == ["Item", "between"]


def test_a_merge_field_is_filled(tmp_path: Path) -> None:
    """The result of a merge field is a placeholder; the same signs in text are quotation marks."""
    field = '<w:fldSimple w:instr=" MERGEFIELD Name ">' + run("«Name»") + "</w:fldSimple>"
    path = made(tmp_path / "a.docx", f"<w:p>{field}</w:p>{para('«Name»')}")

    assert fill(path, {"Name": "Ann"}) == ["Ann", "«Name»"]


def test_a_placeholder_without_a_value_is_refused(tmp_path: Path) -> None:
    """Nothing is left behind unless that is asked for; the near name is told."""
    path = made(tmp_path / "a.docx", para("{{clinet}} {{b}}"))
    values = {"client": 1, "b": 2}

    with pytest.raises(ValidationFailed, match=r"\{\{clinet\}\}; 'client' is near"):
        fill(path, values)
    assert not (tmp_path / "out.docx").exists()
    assert fill(path, values, missing="keep") == ["{{clinet}} 2"]
    assert fill(path, values, missing="blank") == [" 2"]


def test_a_document_without_placeholders_is_no_template(tmp_path: Path) -> None:
    """Asking for nothing is told, not done silently."""
    with pytest.raises(ValidationFailed, match="there is no placeholder"):
        fill(made(tmp_path / "a.docx", para("x")), {"a": 1})


def test_a_list_where_nothing_can_be_repeated_is_refused(tmp_path: Path) -> None:
    """A field of a list whose row repeats another list is not left standing."""
    path = made(tmp_path / "a.docx", table(("{{a.x}} {{b.y}}",)) + para(""))

    with pytest.raises(ValidationFailed, match=r"b\.y"):
        fill(path, {"a": [{"x": 1}], "b": [{"y": 2}]})


def test_filling_is_tracked(tmp_path: Path) -> None:
    """Rejecting gives the template back; accepting, what filling makes without tracking."""
    rows = table(("{{i.n}}", "x"), ("Total", "{{t}}"))
    path = made(tmp_path / "a.docx", para("Dear {{c}}") + rows + para("end"))
    operation = filling({"c": "A", "t": 3, "i": [{"n": 1}, {"n": 2}]})
    edit(path, *tracked(operation), to=tmp_path / "t.docx")
    edit(path, operation, to=tmp_path / "plain.docx")
    assert list(body_of(tmp_path / "t.docx").iter(f"{W}ins"))

    for settle, like in (("accept_changes", "plain.docx"), ("reject_changes", "a.docx")):
        edit(tmp_path / "t.docx", {"op": settle})
        assert content_of(tmp_path / "out.docx") == content_of(tmp_path / like)


def test_a_row_has_a_value_for_each_column(tmp_path: Path) -> None:
    """A value that would come under another column's name is refused."""
    path = made(tmp_path / "a.docx", para("{{i.a}} {{i.b}}"))
    uneven = [{"name": "i", "columns": ["a", "b"], "rows": [[1, 2], [3]]}]

    with pytest.raises(ValidationFailed, match="row 1 of i has 1 values for 2 columns"):
        edit(path, {"op": "fill_template", "lists": uneven})


LOGO = {"pictures": [{"name": "logo", "image": "logo"}]}


def test_a_picture_takes_the_place_of_its_paragraph(tmp_path: Path) -> None:
    """In the body as wide as the text at most, in a cell as that; in headers and text boxes."""
    cell = f'<w:tc><w:tcPr><w:tcW w:w="1656" w:type="dxa"/></w:tcPr>{para("{{logo}}")}</w:tc>'
    grid = f'<w:tbl><w:tblGrid><w:gridCol w:w="1656"/></w:tblGrid><w:tr>{cell}</w:tr></w:tbl>'
    body = para("{{logo}}") + grid + para("{{x}}")
    path = made(tmp_path / "a.docx", body, {"header1": para(" {{logo}}")})
    wide = picture(tmp_path / "p.png", (3000, 1500))
    applied(path, tmp_path / "out.docx", filling({"x": 1}, **LOGO), logo=wide)

    images = mapped(tmp_path / "out.docx")["images"]
    sizes = [(round(each["width"], 2), round(each["height"], 2)) for each in images]
    assert sizes[:2] == [(6.27, 3.13), (1.0, 0.5)]
    header = part_of(tmp_path / "out.docx", "word/header1.xml")
    assert len(list(header.iter(f"{W}drawing"))) == 1
    relations = part_of(tmp_path / "out.docx", "word/_rels/header1.xml.rels")
    assert [str(each.get("Type")).rpartition("/")[2] for each in relations] == ["image"]


@pytest.mark.parametrize(
    ("body", "parts"),
    [
        (para("see {{logo}}"), {}),
        (para("x"), {"footnotes": f'<w:footnote w:id="2">{para("{{logo}}")}</w:footnote>'}),
    ],
)
def test_a_picture_needs_its_place(tmp_path: Path, body: str, parts: dict[str, str]) -> None:
    """Within a longer text, or in a note, none is put."""
    path = made(tmp_path / "a.docx", body, parts)
    with pytest.raises(ValidationFailed, match=r"of its own|not in notes"):
        applied(path, tmp_path / "out.docx", filling({}, **LOGO), logo=picture(tmp_path / "p.png"))

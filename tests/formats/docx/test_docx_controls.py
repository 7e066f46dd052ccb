"""Content controls: listed by the map, filled in by tag, and the data that they show."""

import zipfile
from pathlib import Path
from typing import Any

import pytest

from edited_documents import differences, mapped, relocated
from kbd.errors import ValidationFailed
from made_documents import W, body_of, edit, made, para, part_of, shown

W14 = 'xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml"'
STORE = "{11111111-2222-3333-4444-555555555555}"
ITEMS = "".join(
    f'<w:listItem w:displayText="{shown}" w:value="{value}"/>'
    for shown, value in (("Low", "1"), ("High", "2"))
)


def control(tag: str, kind: str, content: str, more: str = "") -> str:
    settings = f'<w:sdtPr><w:tag w:val="{tag}"/>{more}{kind}</w:sdtPr>'
    return f"<w:sdt>{settings}<w:sdtContent>{content}</w:sdtContent></w:sdt>"


def run(text: str, look: str = "") -> str:
    return f"<w:r><w:rPr>{look}</w:rPr><w:t>{text}</w:t></w:r>"


BOX = (
    f'<w14:checkbox {W14}><w14:checked w14:val="0"/>'
    '<w14:checkedState w14:val="2612" w14:font="MS Gothic"/></w14:checkbox>'
)
DAY = '<w:date><w:dateFormat w:val="d MMMM yyyy"/><w:lid w:val="en-US"/></w:date>'


def form(path: Path) -> Path:
    """A form with controls of each kind."""
    choices = f"<w:dropDownList>{ITEMS}</w:dropDownList>"
    lock = '<w:lock w:val="contentLocked"/>'
    inline = [
        control("name", "<w:text/>", run("Click here"), "<w:showingPlcHdr/>"),
        control("risk", choices, run("Low", "<w:b/>")),
        control("agreed", BOX, run("☐")),
        control("day", DAY, run("never")),
    ]
    block = control("terms", "", para("old", '<w:jc w:val="center"/>') + para("more"))
    last = control("fixed", "<w:text/>", run("x"), lock)
    body = "".join(f"<w:p>{each}</w:p>" for each in inline) + block + f"<w:p>{last}</w:p>"
    return made(path, body)


def set_(**given: Any) -> dict[str, Any]:
    return {"op": "set_content_control", **given}


def test_each_kind_is_filled_in_and_listed(tmp_path: Path) -> None:
    """Texts keep their look, a placeholder's goes; several lines become paragraphs."""
    path, out = form(tmp_path / "a.docx"), tmp_path / "out.docx"
    edit(path, set_(tag="name", text="Ann"), set_(tag="risk", choice="high"),
         set_(tag="agreed", checked=True), set_(tag="day", text="2026-03-04"),
         set_(tag="terms", text="one\ntwo"))  # fmt: skip

    assert shown(body_of(out)) == ["Ann", "High", "☒", "4 March 2026", "one", "two", "x"]
    found = {each["tag"]: each for each in mapped(out)["content_controls"]}
    assert {tag: each["text"] for tag, each in found.items()} == {
        "name": "Ann", "risk": "High", "agreed": "checked", "day": "4 March 2026",
        "terms": "one\ntwo", "fixed": "x",
    }  # fmt: skip
    assert (found["risk"]["kind"], found["risk"]["items"]) == ("dropdown", ["Low", "High"])
    assert [found[tag]["paragraph"] for tag in ("name", "terms", "fixed")] == [1, 5, 7]
    assert body_of(out).find(f".//{W}showingPlcHdr") is None
    centered = [each.get(f"{W}val") for each in body_of(out).iter(f"{W}jc")]
    assert centered == ["center", "center"]
    carried = relocated(set_(tag="name", text="Bo"), path, out)
    assert carried.operations[0]["tag"] == "name"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"tag": "nam", "text": "x"}, "no content control has the tag 'nam'; is it 'name'?"),
        ({"title": "name", "text": "x"}, "no control of the document has a title"),
        ({"tag": "risk", "choice": "Medium"}, "has no item 'Medium'; its items are 'Low', 'High'"),
        ({"tag": "agreed", "text": "yes"}, "is a checkbox; give checked"),
        ({"tag": "fixed", "text": "y"}, "locked against being changed"),
        ({"tag": "name", "text": "x", "checked": True}, "one of text, checked and choice"),
    ],
)
def test_what_a_control_cannot_hold_is_refused(
    tmp_path: Path, given: dict[str, Any], message: str
) -> None:
    """The error tells the names near it, or the items that there are."""
    with pytest.raises(ValidationFailed, match=message):
        edit(form(tmp_path / "a.docx"), set_(**given))


def test_the_review_tells_the_control_that_was_filled_in(tmp_path: Path) -> None:
    """Its text, and nothing of the others."""
    body = f"<w:p>{control('note', '<w:text/>', run('the words as they were'))}</w:p>"
    path = made(tmp_path / "a.docx", body + para("another"))
    edit(path, set_(tag="note", text="the words as they are"))

    assert differences(path, tmp_path / "out.docx") == [("changed", "paragraph")]


def bound(path: Path, xpath: str) -> Path:
    """A document with a control that is bound to custom XML."""
    binding = (
        f'<w:dataBinding w:prefixMappings="xmlns:n=\'urn:n\'" w:xpath="{xpath}" '
        f'w:storeItemID="{STORE}"/>'
    )
    body = f"<w:p>{control('client', '<w:text/>', run('old'), binding)}</w:p>"
    plain = made(path.with_name("plain.docx"), body)
    properties = (
        f'<ds:datastoreItem ds:itemID="{STORE}" xmlns:ds="http://schemas.openxmlformats.org/'
        'officeDocument/2006/customXml"/>'
    )
    kinds = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    space = 'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"'
    with zipfile.ZipFile(plain) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "word/_rels/document.xml.rels":
                data = (
                    f'<Relationships {space}><Relationship Id="c1" Type="{kinds}/customXml" '
                    'Target="../customXml/item1.xml"/></Relationships>'
                ).encode()
            new.writestr(name, data)
        new.writestr("customXml/item1.xml", '<n:a xmlns:n="urn:n"><n:b>old</n:b></n:a>')
        new.writestr("customXml/itemProps1.xml", properties)
        new.writestr(
            "customXml/_rels/item1.xml.rels",
            f'<Relationships {space}><Relationship Id="p1" Type="{kinds}/customXmlProps" '
            'Target="itemProps1.xml"/></Relationships>',
        )
    return path


def test_data_that_a_control_shows_is_written_too(tmp_path: Path) -> None:
    """Else programs would show the old data again; where it is not found that is told."""
    out = tmp_path / "out.docx"
    found = edit(bound(tmp_path / "a.docx", "/n:a[1]/n:b[1]"), set_(tag="client", text="New & Co"))

    assert found.warnings == ()
    assert part_of(out, "customXml/item1.xml")[0].text == "New & Co"
    assert shown(body_of(out)) == ["New & Co"]
    lost = edit(bound(tmp_path / "b.docx", "/n:a[1]/n:c[1]"), set_(tag="client", text="x"))
    assert any("could not be changed" in warning for warning in lost.warnings)

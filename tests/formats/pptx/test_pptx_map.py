"""The map of a deck: what is on its slides, and what they point to."""

from pathlib import Path
from typing import Any

import msgspec

from kbd_pptx import PptxFormat
from kbd_pptx.reader.deck_map import MAX_TITLE_CHARS
from read_decks import PACKAGE, box, deck, frame, group, placeholder, relations, shape, slide_xml

FORMAT = PptxFormat()

PICTURE = (
    '<p:pic><p:nvPicPr><p:cNvPr id="4" name="Pic"/><p:cNvPicPr/><p:nvPr/></p:nvPicPr>'
    '<p:blipFill><a:blip r:embed="i"/></p:blipFill><p:spPr/></p:pic>'
)
FILM = PICTURE.replace("<p:nvPr/>", '<p:nvPr><a:videoFile r:link="v"/></p:nvPr>')
OLE = "http://schemas.openxmlformats.org/presentationml/2006/ole"


def mapped(*args: Any, **more: Any) -> dict[str, Any]:
    found = FORMAT.map(deck(*args, **more))
    assert msgspec.json.decode(msgspec.json.encode(found)) == found
    return found


def test_slides_are_listed_with_title_and_layout(tmp_path: Path) -> None:
    """A title is on one line; "" is an empty one, None none: then the first text is told."""
    broken = "<a:p><a:r><a:t>Two</a:t></a:r><a:br/><a:r><a:t> lines</a:t></a:r></a:p>"
    found = mapped(tmp_path, [
        slide_xml(placeholder("ctrTitle", broken)),
        slide_xml(placeholder("title", "<a:p/>"), shape("first words")),
        slide_xml(placeholder("", "by its layout", index=0)),
        slide_xml(placeholder("sldNum", "3"), shape("alone")),
        slide_xml(placeholder("title", "long " * 99), show="0"),
    ])  # fmt: skip

    assert found["slide_count"] == 5
    assert [each["index"] for each in found["slides"]] == [0, 1, 2, 3, 4]
    assert [each["title"] for each in found["slides"][:4]] == [
        "Two lines", "", "by its layout", None,
    ]  # fmt: skip
    assert [each.get("first_text") for each in found["slides"][:4]] == [
        None, "first words", None, "alone",
    ]  # fmt: skip
    assert len(found["slides"][4]["title"]) == MAX_TITLE_CHARS
    assert [each.get("hidden", False) for each in found["slides"]] == [False] * 4 + [True]
    assert {each["layout"] for each in found["slides"]} == {"Lay"}


def test_groups_are_looked_into(tmp_path: Path) -> None:
    """Pictures, tables and charts count inside of groups, groups themselves are no shapes."""
    inner = PICTURE + frame("drawingml/2006/table", "<a:tbl/>") + frame("drawingml/2006/chart", "")
    nested = group(group(inner, box(1, 1, 1, 1)), box(1, 1, 1, 1))
    found = mapped(tmp_path, [slide_xml(nested), slide_xml(shape("text"))])
    flags = ("has_images", "has_charts", "has_tables", "has_notes")

    assert [found["slides"][0][flag] for flag in flags] == [True, True, True, False]
    assert [found["slides"][1][flag] for flag in flags] == [False] * 4
    assert [each["shape_count"] for each in found["slides"]] == [3, 1]
    assert [each["char_count"] for each in found["slides"]] == [0, 4]


def test_what_else_is_on_a_slide_is_told(tmp_path: Path) -> None:
    """Films, diagrams, embedded objects, comments and notes; a film is no picture."""
    notes = slide_xml(placeholder("body", "Say this.", index=1)).replace("p:sld ", "p:notes ")
    found = mapped(
        tmp_path,
        [slide_xml(
            FILM, frame("drawingml/2006/diagram", ""),
            frame("x", "").replace("http://schemas.openxmlformats.org/x", OLE),
        )],
        named={0: relations(("n", "notesSlide", "../n.xml"), ("k", "comments", "../k.xml"))},
        parts={"ppt/n.xml": notes.replace("/p:sld>", "/p:notes>"), "ppt/k.xml": "<a/>"},
    )  # fmt: skip

    flags = {name for name, value in found["slides"][0].items() if value is True}

    assert flags == {
        "has_notes", "has_media", "has_smartart", "has_embedded_objects", "has_comments",
    }  # fmt: skip


def test_the_deck_is_described(tmp_path: Path) -> None:
    """Size, layouts and sections."""
    p14 = "http://schemas.microsoft.com/office/powerpoint/2010/main"
    sections = (
        f'<p:extLst><p:ext uri="x"><p14:sectionLst xmlns:p14="{p14}"><p14:section name="Start">'
        '<p14:sldIdLst><p14:sldId id="256"/></p14:sldIdLst></p14:section><p14:section name="End">'
        '<p14:sldIdLst><p14:sldId id="257"/><p14:sldId id="999"/></p14:sldIdLst></p14:section>'
        "</p14:sectionLst></p:ext></p:extLst>"
    )
    found = mapped(tmp_path, [slide_xml(), slide_xml()], more=sections)

    assert found["slide_size"] == {"width": 10.0, "height": 7.5}
    assert found["layouts"] == ["Lay"]
    # Of a single master the map has nothing to add.
    assert "masters" not in found
    assert found["sections"] == [{"name": "Start", "slides": [0]}, {"name": "End", "slides": [1]}]
    assert [each["section"] for each in found["slides"]] == ["Start", "End"]
    assert "warnings" not in found


def test_what_lies_outside_of_the_file_is_listed(tmp_path: Path) -> None:
    """Links, linked pictures and films, and workbooks behind charts, each with its slide."""
    outer = relations(
        ("h", "hyperlink", "https://example.org/"), ("v", "video", "file:///film.mp4"),
        is_external=True,
    )  # fmt: skip
    book = relations(("o", "oleObject", "file:///book.xlsx"), is_external=True)
    found = mapped(
        tmp_path,
        [slide_xml(), slide_xml(frame("drawingml/2006/chart", '<c:chart r:id="c"/>'))],
        named={1: outer + relations(("c", "chart", "../c.xml"))},
        parts={
            "ppt/c.xml": "<a/>",
            "ppt/_rels/c.xml.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/'
            f'package/2006/relationships">{book}</Relationships>',
        },
    )

    assert found["external_count"] == 3
    assert found["external"] == [
        {"slide_index": 1, "kind": "hyperlink", "target": "https://example.org/"},
        {"slide_index": 1, "kind": "video", "target": "file:///film.mp4"},
        {"slide_index": 1, "kind": "oleObject", "target": "file:///book.xlsx"},
    ]


def test_a_damaged_slide_costs_only_itself(tmp_path: Path) -> None:
    """It is listed as unreadable with the reason; the others are mapped."""
    found = mapped(
        tmp_path,
        [slide_xml(placeholder("title", "Good")), "<p:sld", slide_xml()],
        without=("ppt/slides/s2.xml",),
    )

    assert [each.get("unreadable", False) for each in found["slides"]] == [False, True, True]
    assert found["slides"][0]["title"] == "Good"
    assert "not valid XML" in found["warnings"][0]
    assert "missing" in found["warnings"][1]


def test_a_damaged_master_costs_only_itself(tmp_path: Path) -> None:
    """Layouts below it are read without it, whichever comes first, and it is told once."""
    layout = slide_xml(placeholder("title", "")).replace("p:sld ", "p:sldLayout ")
    layout = layout.replace("/p:sld>", "/p:sldLayout>").replace("<p:cSld>", '<p:cSld name="Two">')
    slides = [slide_xml(placeholder("title", "A")), slide_xml(placeholder("title", "B"))]
    links = (
        f'<Relationships xmlns="{PACKAGE}/relationships">'
        + relations(("l", "slideLayout", "../l2.xml"), ("m", "slideMaster", "masters/m.xml"))
        + "</Relationships>"
    )
    for second in (0, 1):
        parts = {
            "ppt/l2.xml": layout, "ppt/_rels/l2.xml.rels": links,
            f"ppt/slides/_rels/s{second}.xml.rels": links, "ppt/masters/m.xml": "<p:sldMaster",
        }  # fmt: skip
        found = mapped(tmp_path, slides, parts=parts)

        names = [each["layout"] for each in found["slides"]]
        assert names == (["Two", "Lay"] if second == 0 else ["Lay", "Two"])
        (told,) = found["warnings"]
        assert told.startswith("A master is not shown: ")


def test_facts_cost_little(tmp_path: Path) -> None:
    """The count of slides is told without their parts."""
    source = deck(tmp_path, ["<damaged", "<damaged"])

    assert FORMAT.info(source) == {"slide_count": 2}

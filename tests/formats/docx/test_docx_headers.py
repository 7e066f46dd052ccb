"""Headers, footers and pictures carried into other documents, where nothing else changes."""

from collections.abc import Sequence
from pathlib import Path

import docx
import pytest
from lxml import etree

from kbd.errors import ValidationFailed
from kbd.formats import AssetPick, Source
from kbd_docx.operations import AppendParagraph
from styled_documents import (
    FORMAT,
    W,
    brand,
    copy,
    names_in_order,
    part,
    parts_of,
    picture,
    plain,
    png,
    source,
    strictly,
    written,
)

R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_SECTION = "<w:sectPr>{}</w:sectPr>"
_SPREAD = (
    '<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> DD</w:instrText>'
    "</w:r><w:r><w:instrText>E cmd</w:instrText></w:r></w:p>"
)
"""A field that two runs are needed to read."""


@pytest.fixture
def marked(tmp_path: Path) -> Path:
    """A document with everything that can be copied."""
    return brand(tmp_path / "brand.docx")


def headers_footers(path: Path) -> list[dict[str, str]]:
    """Return, for each section, the text of each header and footer that it names."""
    rels = etree.fromstring(parts_of(path)["word/_rels/document.xml.rels"])
    targets = {each.get("Id"): each.get("Target", "") for each in rels}
    found = []
    for section in part(path, "document").iter(f"{W}sectPr"):
        named = {}
        for each in section:
            name = etree.QName(each).localname
            if name in ("headerReference", "footerReference"):
                inside = part(path, targets[each.get(f"{R}id")].removesuffix(".xml"))
                text = "".join(node.text or "" for node in inside.iter(f"{W}t"))
                named[f"{name[:6]} {each.get(f'{W}type')}"] = text
        found.append(named)
    return found


def with_header(path: Path, inside: str, relations: Sequence[tuple[str, str, str]] = ()) -> Path:
    """Write a document whose header holds some XML."""
    section = _SECTION.format('<w:headerReference w:type="default" r:id="rheader1"/>')
    parts: dict[str, str | bytes] = {"header1": inside, "media/p.png": png()}
    return written(path, f"<w:p/>{section}", parts, {"header1": list(relations)})


def headed(path: Path, more: str = "", title: str = "") -> Path:
    """Write a document of three sections; the first has a header, the others inherit it."""
    first = f'<w:headerReference w:type="default" r:id="rheader1"/>{more}{title}'
    body = "".join(
        f"<w:p><w:pPr>{_SECTION.format(inside)}</w:pPr></w:p>" for inside in (first, title)
    )
    parts: dict[str, str | bytes] = {"header1": "<w:p><w:r><w:t>Old</w:t></w:r></w:p>"}
    parts["header2"] = "<w:p><w:r><w:t>Old first</w:t></w:r></w:p>"
    return written(path, f"{body}<w:p/>{_SECTION.format(title)}", parts)


def test_a_header_with_a_logo(marked: Path, tmp_path: Path) -> None:
    """It comes with its picture, its link, its styles, and the document is otherwise the same."""
    into = plain(tmp_path / "into.docx", 2)
    made, found = copy(marked, into, "header:section0/default")

    assert headers_footers(made) == [{"header default": "acme.example"}] * 2
    assert found.changed == ("header:section0/default: set in all sections",)
    assert found.external == ("header:section0/default: hyperlink https://acme.example/",)
    old, new = parts_of(into), parts_of(made)
    assert {name for name in new if old.get(name) != new[name]} == {
        "[Content_Types].xml", "word/document.xml", "word/_rels/document.xml.rels",
        "word/header1.xml", "word/_rels/header1.xml.rels", "word/media/logo1.png",
        "word/styles.xml",
    }  # fmt: skip
    assert new["word/media/logo1.png"] == png("#204080")
    header = docx.Document(str(made)).sections[1].header
    assert header.paragraphs[0].style is not None
    assert header.paragraphs[0].style.name == "Brand Body"
    assert header.part.related_parts
    for name in ("word/document.xml", "word/styles.xml"):
        # All that there was is there in its order; only more is.
        there = iter(_lines(new[name]))
        assert all(line in there for line in _lines(old[name])), name


def _lines(data: bytes) -> list[str]:
    """Return the tags and texts of a part, without the namespaces that its root declares."""
    found = []
    for event, each in etree.iterwalk(etree.fromstring(data), events=("start", "end")):
        found.append(f"{event} {each.tag} {sorted(each.attrib.items())} {each.text}")
    return found[1:-1]


def test_it_looks_as_in_its_source(marked: Path, tmp_path: Path) -> None:
    """What the target's defaults make different is said in the header's own paragraphs."""
    path = with_header(tmp_path / "a.docx", "<w:p><w:r><w:t>Plain</w:t></w:r></w:p>")
    into = plain(tmp_path / "into.docx")
    made, _ = copy(path, into, "header:section0/default")
    run = next(part(made, "header1").iter(f"{W}r"))

    names = {etree.QName(each).localname: dict(each.attrib) for each in run[0]}
    assert names["b"] == {f"{W}val": "0"}
    assert names["rFonts"][f"{W}ascii"] == "Times New Roman"


def test_tracked_marks_stand_first(tmp_path: Path) -> None:
    """What says that a paragraph's end was inserted or moved stays before its look."""
    tracked = ("ins", "del", "moveFrom", "moveTo")
    inside = "".join(
        f'<w:p><w:pPr><w:rPr><w:{name} w:id="1" w:author="A"/></w:rPr></w:pPr></w:p>'
        for name in tracked
    )
    into = plain(tmp_path / "into.docx")
    made, _ = copy(with_header(tmp_path / "a.docx", inside), into, "header:section0/default")
    marks = list(part(made, "header1").iter(f"{W}rPr"))

    assert [names_in_order(each)[0] for each in marks] == list(tracked)
    assert all("b" in names_in_order(each) for each in marks)


def test_lines_keep_their_rule(marked: Path, tmp_path: Path) -> None:
    """A height of lines is said with its rule: LibreOffice cut off pictures where it was not."""
    made, _ = copy(marked, plain(tmp_path / "into.docx"), "header:section0/default")
    spacing = part(made, "styles").findall(f"{W}style")[1].find(f"{W}pPr/{W}spacing")

    assert spacing is not None
    assert (spacing.get(f"{W}line"), spacing.get(f"{W}lineRule")) == ("259", "auto")


def test_in_one_section(marked: Path, tmp_path: Path) -> None:
    """Set in one section, it leaves alone those after it, which inherited from that one."""
    into = headed(tmp_path / "into.docx")
    made, found = copy(marked, into, ("header:section0/default", "section:1"))

    assert headers_footers(made) == [
        {"header default": "Old"}, {"header default": "acme.example"}, {"header default": "Old"},
    ]  # fmt: skip
    assert found.changed == ("header:section0/default: set in section 1",)
    assert "word/header1.xml" in parts_of(made)


def test_in_one_section_where_none_had_any(marked: Path, tmp_path: Path) -> None:
    """A section after the one that gets a header shows none, as before."""
    into = plain(tmp_path / "into.docx", 3)
    made, _ = copy(marked, into, ("footer:section0/default", "section:0"))

    assert headers_footers(made) == [{"footer default": "Page "}, {"footer default": ""}, {}]


def test_in_all_sections(marked: Path, tmp_path: Path) -> None:
    """Set in all sections, it takes the place of what was there, which leaves the file."""
    into = headed(tmp_path / "into.docx")
    made, _ = copy(marked, into, "header:section0/default")

    assert headers_footers(made) == [{"header default": "acme.example"}] * 3
    assert "word/header1.xml" not in parts_of(made)
    assert b"header1.xml" not in parts_of(made)["[Content_Types].xml"]
    assert b"header1.xml" not in parts_of(made)["word/_rels/document.xml.rels"]
    assert "word/header2.xml" in parts_of(made), "nobody named it before, either"


def test_the_first_page(marked: Path, tmp_path: Path) -> None:
    """A first page's header is switched on; other first pages and its footer stay as they were."""
    into = headed(tmp_path / "into.docx")
    made, _ = copy(marked, into, "footer:section0/default", ("header:section0/first", "section:0"))

    assert headers_footers(made)[0] == {
        "header default": "Old", "header first": "First page", "footer default": "Page ",
        "footer first": "Page ",
    }  # fmt: skip
    assert headers_footers(made)[1] == {"footer default": "Page "}
    sections = list(part(made, "document").iter(f"{W}sectPr"))
    assert [each.find(f"{W}titlePg") is not None for each in sections] == [True, False, False]


def test_first_pages_that_inherit(marked: Path, tmp_path: Path) -> None:
    """A section whose first page shows what it inherits goes on to show that."""
    more = '<w:headerReference w:type="first" r:id="rheader2"/>'
    into = headed(tmp_path / "into.docx", more, "<w:titlePg/>")
    made, _ = copy(marked, into, ("header:section0/first", "section:0"))

    assert [each.get("header first") for each in headers_footers(made)] == [
        "First page",
        "Old first",
        None,
    ]


@pytest.mark.parametrize("between", ["", f"<w:p><w:pPr>{_SECTION.format('')}</w:pPr></w:p>"])
def test_first_pages_after_one_that_is_switched_on(
    marked: Path, tmp_path: Path, between: str
) -> None:
    """A first page that shows no header or footer gets none from the section that gets them."""
    footer = '<w:footerReference w:type="default" r:id="rfooter1"/>'
    last = _SECTION.format("<w:titlePg/>")
    body = f"<w:p><w:pPr>{_SECTION.format(footer)}</w:pPr></w:p>{between}{last}"
    parts: dict[str, str | bytes] = {"footer1": "<w:p><w:r><w:t>Foot</w:t></w:r></w:p>"}
    into = written(tmp_path / "into.docx", body, parts)
    made, _ = copy(marked, into, ("header:section0/first", "section:0"))

    assert headers_footers(made)[:2] == [
        {"header first": "First page", "footer default": "Foot", "footer first": "Foot"},
        {"header first": "", "footer first": ""},
    ]


def test_even_pages(tmp_path: Path) -> None:
    """Even pages are switched on, and those that had the others' header name it now."""
    section = _SECTION.format('<w:footerReference w:type="even" r:id="rfooter1"/>')
    inside = {"footer1": "<w:p><w:r><w:t>Even</w:t></w:r></w:p>"}
    path = written(tmp_path / "a.docx", f"<w:p/>{section}", inside)
    into = headed(tmp_path / "into.docx")
    made, _ = copy(path, into, "footer:section0/even")

    assert headers_footers(made)[0] == {
        "header default": "Old", "header even": "Old", "footer even": "Even",
    }  # fmt: skip
    assert part(made, "settings").find(f"{W}evenAndOddHeaders") is not None


def test_even_pages_that_were_not_shown(tmp_path: Path) -> None:
    """A header of even pages that no page showed is not shown by the switch, either."""
    section = _SECTION.format('<w:footerReference w:type="even" r:id="rfooter1"/>')
    inside = {"footer1": "<w:p><w:r><w:t>Even</w:t></w:r></w:p>"}
    path = written(tmp_path / "a.docx", f"<w:p/>{section}", inside)
    unused = _SECTION.format('<w:headerReference w:type="even" r:id="rheader2"/>')
    default = _SECTION.format('<w:headerReference w:type="default" r:id="rheader1"/>')
    parts: dict[str, str | bytes] = {
        f"header{n}": f"<w:p><w:r><w:t>{n}</w:t></w:r></w:p>" for n in (1, 2)
    }
    body = "".join(f"<w:p><w:pPr>{each}</w:pPr></w:p>" for each in (unused, default)) + unused
    into = written(tmp_path / "into.docx", f"<w:p/>{body}", parts)
    made, _ = copy(path, into, ("footer:section0/even", "section:0"))

    assert headers_footers(made) == [
        {"footer even": "Even"}, {"header default": "1", "header even": "1", "footer even": ""}, {},
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("inside", "words"),
    [
        ("<w:p><w:r><w:object/></w:r></w:p>", "an object of another program"),
        ('<w:p><w:r><w:control r:id="rX"/></w:r></w:p>', "an ActiveX control"),
        ('<w:altChunk r:id="rX"/>', "a document in the document"),
        ('<w:p><w:fldSimple w:instr=" DDEAUTO cmd x"/></w:p>', "DDEAUTO"),
        (_SPREAD, "DDE"),
        ('<w:p><w:fldSimple w:instr="link Excel.Sheet a"/></w:p>', "runs another program"),
        ('<w:p><w:r><w:t r:id="rX">x</w:t></w:r></w:p>', "the kind oleObject"),
        ('<w:p><w:r><w:t r:id="rNone">x</w:t></w:r></w:p>', "a part that is not there"),
    ],
)  # fmt: skip
def test_what_is_not_copied(tmp_path: Path, inside: str, words: str) -> None:
    """Objects and fields of other programs are refused, with what to do; nothing is written."""
    path = with_header(tmp_path / "a.docx", inside, [("rX", "oleObject", "media/p.png")])

    with pytest.raises(ValidationFailed, match=words):
        copy(path, None, "header:section0/default")
    assert not list(tmp_path.glob("out*"))


def test_what_fetches_is_told(tmp_path: Path) -> None:
    """Fields that fetch and pictures that are links are told as external."""
    inside = (
        '<w:p><w:fldSimple w:instr=" INCLUDEPICTURE &quot;http://far/a.png&quot; "/>'
        f"{picture('', link='rF')}</w:p>"
    )
    path = with_header(tmp_path / "a.docx", inside, [("rF", "image", "http://far/b.png")])
    _, found = copy(path, None, "header:section0/default")

    assert found.external == (
        'header:section0/default: field INCLUDEPICTURE "http://far/a.png"',
        "header:section0/default: image http://far/b.png",
    )


def test_what_is_replaced_does_not_reach_out_any_more(tmp_path: Path) -> None:
    """What an edit brought remains through others, and is gone with the header that had it."""
    inside = (
        '<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>INCLUDE'
        "</w:instrText></w:r><w:r><w:instrText>TEXT  far.docx</w:instrText></w:r><w:r>"
        f'<w:fldChar w:fldCharType="end"/></w:r>{picture("", link="rF")}</w:p>'
    )
    far = with_header(tmp_path / "a.docx", inside, [("rF", "image", "http://far/b.png")])
    first, found = copy(far, plain(tmp_path / "into.docx", 1), "header:section0/default")
    reached = (
        "header:section0/default: field INCLUDETEXT far.docx",
        "header:section0/default: image http://far/b.png",
    )
    assert (found.external, found.remaining) == (reached, ())

    more = tmp_path / "more.docx"
    known = Source(first, first.name, external=reached)
    appended = FORMAT.apply(known, (AppendParagraph("more"),), more)
    assert (appended.external, appended.remaining) == ((), reached)

    near = with_header(tmp_path / "b.docx", "<w:p><w:r><w:t>Near</w:t></w:r></w:p>")
    known = Source(more, more.name, external=reached)
    picks = (AssetPick("header:section0/default"),)
    replaced = FORMAT.copy_assets(source(near), known, picks, tmp_path / "last.docx")
    assert (replaced.external, replaced.remaining) == ((), ())


def test_what_leads_elsewhere_stays_behind(tmp_path: Path) -> None:
    """Bookmarks, comments and bindings to data lead nowhere in another document."""
    inside = (
        '<w:sdt><w:sdtPr><w:id w:val="5"/><w:dataBinding w:xpath="/a"/></w:sdtPr><w:sdtContent>'
        '<w:p><w:bookmarkStart w:id="0" w:name="b"/><w:r><w:t>Kept</w:t></w:r>'
        '<w:bookmarkEnd w:id="0"/></w:p></w:sdtContent></w:sdt>'
    )
    made, _ = copy(with_header(tmp_path / "a.docx", inside), None, "header:section0/default")
    names = {etree.QName(each).localname for each in part(made, "header1").iter()}

    assert headers_footers(made)[0]["header default"] == "Kept"
    assert not names & {"bookmarkStart", "bookmarkEnd", "dataBinding", "id"}


def test_a_picture_at_the_end(marked: Path, tmp_path: Path) -> None:
    """A picture comes with its size and words, before the last section's description."""
    into = plain(tmp_path / "into.docx", 2)
    made, found = copy(marked, into, "image:chart")
    body = list(part(made, "document")[0])

    assert [etree.QName(each).localname for each in body[-2:]] == ["p", "sectPr"]
    document = docx.Document(str(made))
    (shape,) = document.inline_shapes
    assert (shape.width, shape.height) == (1828800, 914400)
    (told,) = FORMAT.get_styles(source(made), None)["images"]
    assert (told["name"], told["alt_text"], told["type"]) == (
        "Chart", "Sales by year", "image/png",
    )  # fmt: skip
    assert found.changed == ("image:Chart: put at the end",)
    assert [each.text for each in document.paragraphs][:4] == [f"Line {n}" for n in range(1, 5)]


def test_a_picture_after_a_paragraph(marked: Path, tmp_path: Path) -> None:
    """With a target it is a paragraph of its own after that one; pictures are numbered anew."""
    into = plain(tmp_path / "into.docx")
    picks = [("image:Chart", "paragraph:2"), ("image:Logo", "paragraph:2")]
    made, _ = copy(marked, into, *picks)
    told = FORMAT.get_styles(source(made), None)["images"]

    assert [(each["name"], each["where"]) for each in told] == [
        ("Logo", "paragraph 3"), ("Chart", "paragraph 4"),
    ]  # fmt: skip
    ids = [each.get("id") for each in part(made, "document").iter("{*}docPr")]
    assert len(set(ids)) == 2


def test_pictures_are_kept_once(marked: Path, tmp_path: Path) -> None:
    """A picture that the target has already, or that came before, is not kept twice."""
    made, _ = copy(marked, plain(tmp_path / "into.docx"), "image:Chart", "image:Chart")
    again, _ = copy(marked, made, "image:Chart", "header:section0/default", "image:Logo")

    media = [name for name in parts_of(again) if "media" in name]
    assert media == ["word/media/chart1.png", "word/media/logo1.png"]
    assert len(docx.Document(str(again)).inline_shapes) == 4


def test_drawings_get_ids_that_no_part_has(tmp_path: Path) -> None:
    """Ids of drawings differ over the body, headers, footers and notes, whatever comes first."""
    section = _SECTION.format(
        '<w:headerReference w:type="default" r:id="rheader1"/>'
        '<w:footerReference w:type="default" r:id="rfooter1"/>'
    )
    shown = f"<w:p>{picture('rP')}</w:p>"
    link = ("rP", "image", "media/p.png")
    parts: dict[str, str | bytes] = {"header1": shown, "footer1": shown, "media/p.png": png()}
    rows = {name: [link] for name in ("document", "header1", "footer1", "footnotes")}
    path = written(tmp_path / "a.docx", f"{shown}{section}", parts, rows)
    old = _SECTION.format('<w:headerReference w:type="even" r:id="rheader1"/>')
    parts = {
        "header1": f"<w:p>{picture('rP', id_=7)}</w:p>", "media/p.png": png(),
        "footnotes": f'<w:footnote w:id="1"><w:p>{picture("rP", id_=9)}</w:p></w:footnote>',
    }  # fmt: skip
    into = written(tmp_path / "into.docx", f"<w:p/>{old}", parts, rows)
    made, _ = copy(path, into, "header:section0/default", "image:Logo", "footer:section0/default")

    drawn = [each.get("id", "") for name, data in parts_of(made).items() if name.endswith(".xml")
             for each in etree.fromstring(data).iter("{*}docPr")]  # fmt: skip
    assert sorted(drawn) == ["10", "11", "12", "7", "9"]


def test_older_and_floating_pictures(tmp_path: Path) -> None:
    """A picture of the older form gets the newer one; what floated is told to stand in a line."""
    body = (
        '<w:p><w:r><w:pict><v:shape id="s" style="position:absolute;width:1in;height:36pt">'
        '<v:imagedata r:id="rP" o:title="Sign"/></v:shape></w:pict></w:r></w:p>'
    )
    path = written(tmp_path / "a.docx", body, {"media/p.png": png()},
                   {"document": [("rP", "image", "media/p.png")]})  # fmt: skip
    made, found = copy(
        path, strictly(plain(tmp_path / "b.docx"), tmp_path / "c.docx"), "image:Sign"
    )
    (told,) = FORMAT.get_styles(source(made), None)["images"]

    assert (told["width"], told["height"], told["name"]) == (1.0, 0.5, "Sign")
    assert found.warnings == (
        "The image Sign stood beside the text; now it is a paragraph of its own.",
    )


@pytest.mark.parametrize(
    ("drawn", "words"),
    [
        (picture("", link="rF"), "only a link"),
        (picture("rP", size=(0, 0)), "does not tell its size"),
        (picture("rN"), "its picture is not there"),
    ],
)
def test_pictures_that_are_not_there(tmp_path: Path, drawn: str, words: str) -> None:
    """A picture that is only linked, has no size or no bytes is refused, and why."""
    rows = [
        ("rF", "image", "http://far/a.png"), ("rP", "image", "media/p.png"),
        ("rN", "image", "media/none.png"),
    ]  # fmt: skip
    path = written(tmp_path / "a.docx", f"<w:p>{drawn}</w:p>", {"media/p.png": png()},
                   {"document": rows})  # fmt: skip

    with pytest.raises(ValidationFailed, match=words):
        copy(path, None, "image:Logo")

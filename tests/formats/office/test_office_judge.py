"""The judge of edits is judged: it finds each kind of loss, and nothing where nothing is lost."""

import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as ET

import pytest
from lxml import etree

from office_judge import Appended, Difference, Edit, Replaced, Retitled, compare, faults
from office_packages import PNG, pack, rich_deck, rich_document

STORY, STYLES = "word/document.xml", "word/styles.xml"
STORY_RELS = "word/_rels/document.xml.rels"
SLIDE, DECK = "ppt/slides/slide1.xml", "ppt/presentation.xml"
SLIDE_RELS = "ppt/slides/_rels/slide1.xml.rels"
TYPES = "[Content_Types].xml"


class Loss(NamedTuple):
    """Something taken from a part, or changed in it, and the kind of difference that tells it."""

    kind: str
    part: str
    pattern: bytes
    text: bytes | None


OF_DOCUMENTS = [
    Loss("element lost", STORY, rb"<w:i/>", b""),
    Loss("attribute", STORY, rb'w:color w:val="FF0000"', b'w:color w:val="FE0000"'),
    Loss("element lost", STORY, rb"<w:rPr><w:i/></w:rPr>", b""),
    Loss("element lost", STORY, rb'<w:bookmarkStart w:id="0" w:name="top"/>', b""),
    Loss("attribute", STORY, rb'w:name="top"', b'w:name="Top"'),
    Loss("element lost", STORY, rb'<w:commentRangeEnd w:id="4"/>', b""),
    Loss("element lost", STORY, rb'<w:commentReference w:id="4"/>', b""),
    Loss("attribute", STORY, rb'Ignorable="w14 w15"', b'Ignorable="w14"'),
    Loss("attribute lost", STORY, rb'mc:Ignorable="w14 w15"', b""),
    Loss("attribute lost", STORY, rb' w14:paraId="1A2B3C4D"', b""),
    Loss("attribute lost", STORY, rb' w:rsidR="00AB12CD"', b""),
    Loss("attribute lost", STORY, rb' xml:space="preserve"(?=> good)', b""),
    Loss("text", STORY, rb"> good<", b">good<"),
    Loss("text", STORY, rb"very bad", b"very sad"),
    Loss("element lost", STORY, rb"<w:del .*?</w:del>", b""),
    Loss("element lost", STORY, rb"<w:ins .*?</w:ins>", b""),
    Loss("element lost", STORY, rb"<w:r><w:footnoteReference[^>]*></w:r>", b""),
    Loss("text", STORY, rb" PAGE ", b" PAGES "),
    Loss("element lost", STORY, rb"<w:tab/>", b""),
    Loss("element lost", STORY, rb"<w:br/>", b"<w:cr/>"),
    Loss("element lost", STORY, rb"<w:numPr>.*?</w:numPr>", b""),
    Loss("element lost", STORY, rb"<w:tcPr>.*?</w:tcPr>", b""),
    Loss("element lost", STORY, rb"<w:showingPlcHdr/>", b""),
    Loss("element lost", STORY, rb"<w:sdtPr>.*?</w:sdtPr>", b""),
    Loss("element lost", STORY, rb"<mc:Fallback>.*?</mc:Fallback>", b""),
    Loss("attribute", STORY, rb'Requires="wps"', b'Requires="w14"'),
    Loss("element lost", STORY, rb"<a:extLst>.*?</a:extLst>", b""),
    Loss("attribute lost", STORY, rb' descr="a dot"', b""),
    Loss("element lost", STORY, rb'<w:headerReference [^>]*"/>', b""),
    Loss("attribute", STORY, rb'w:w="11906"', b'w:w="11907"'),
    Loss("element lost", STORY, rb"<w:p>(?:(?!<w:p[> ]).)*?<w:numPr>.*?</w:p>", b""),
    Loss("text", "word/header1.xml", b"growers", b"traders"),
    Loss("part lost", "word/header1.xml", b"", None),
    Loss("part lost", "word/media/image1.png", b"", None),
    Loss("bytes", "word/media/image1.png", re.escape(PNG[40:50]), PNG[40:49] + b"?"),
    Loss("content type", TYPES, rb"<Override [^>]*header1.xml[^>]*>", b""),
    Loss("content type", TYPES, rb"image/png", b"image/x-png"),
    Loss("content type", TYPES, rb"document\.main\+xml", b"template.main+xml"),
    Loss("relation lost", STORY_RELS, rb'<Relationship Id="rId6"[^>]*>', b""),
    Loss("relation", STORY_RELS, rb"https://example.org/", b"https://example.com/"),
    Loss("relation", STORY_RELS, rb' TargetMode="External"', b""),
    Loss("relation", STORY_RELS, rb"relationships/customXml", b"relationships/customXML"),
    Loss("relation", STORY_RELS, rb'"rId5"(.*)media/image1.png', rb'"rId5"\1styles.xml'),
    Loss("fault", STORY_RELS, rb'Id="rId7"', b'Id="rId8"'),
    Loss("part lost", "customXml/item1.xml", b"", None),
    Loss("text", "customXml/item1.xml", b"autumn", b"spring"),
    Loss("element lost", STYLES, rb'<w:style w:type="table".*?</w:style>', b""),
    Loss("attribute", STYLES, rb'w:val="32"', b'w:val="33"'),
    Loss("text", "word/comments.xml", b"Is it", b"It is"),
    Loss("fault", STORY, rb"</w:document>", b"</w:documents>"),
    Loss("fault", STORY, rb"(<w:sectPr>.*</w:sectPr>)", rb"\1<w:p/>"),
    Loss("fault", STORY, rb"<w:p>(<w:r><w:t>apple trees</w:t></w:r>)</w:p>", b"<w:tbl/>"),
]

OF_DECKS = [
    Loss("attribute lost", SLIDE, rb' i="1"', b""),
    Loss("attribute lost", SLIDE, rb' lvl="1"', b""),
    Loss("element lost", SLIDE, rb"<a:br/>", b""),
    Loss("attribute", SLIDE, rb'type="slidenum"', b'type="datetime"'),
    Loss("element lost", SLIDE, rb"<a:fld [^>]*>(.*?)</a:fld>", rb"<a:r>\1</a:r>"),
    Loss("text", SLIDE, rb" was ", b"was"),
    Loss("attribute lost", SLIDE, rb' anchor="b"(?=/><a:lstStyle/><a:p><a:pPr l)', b""),
    Loss("element lost", SLIDE, rb"<a:lstStyle/>(?=<a:p><a:pPr l)", b""),
    Loss("element lost", SLIDE, rb"<p:pic>.*?</p:pic>", b""),
    Loss("attribute", SLIDE, rb'cx="99"', b'cx="98"'),
    Loss("element lost", SLIDE, rb"<p:transition [^>]*>", b""),
    Loss("element lost", SLIDE, rb"<a:tr .*?</a:tr>", b""),
    Loss("element lost", DECK, rb"<p:extLst>.*</p:extLst>", b""),
    Loss("attribute", DECK, rb'cx="9144000"', b'cx="9144001"'),
    Loss("element lost", DECK, rb'<p:sldId id="257"[^>]*>', b""),
    Loss("relation lost", SLIDE_RELS, rb'<Relationship Id="rId3"[^>]*>', b""),
    Loss("relation", SLIDE_RELS, rb"example.org", b"example.com"),
    Loss("part lost", "ppt/tags/tag1.xml", b"", None),
    Loss("attribute", "ppt/tags/tag1.xml", b'val="1"', b'val="2"'),
    Loss("attribute", "ppt/theme/theme1.xml", b"Plain", b"Bare"),
    Loss("attribute", "ppt/slideLayouts/slideLayout1.xml", b'"Title Only"', b'"Title"'),
    Loss("part lost", "ppt/media/image1.png", b"", None),
    Loss("content type", TYPES, rb"<Override [^>]*slide2.xml[^>]*>", b""),
    Loss("fault", DECK, rb'id="257"', b'id="256"'),
    Loss("fault", DECK, rb'id="257"', b'id="7"'),
    Loss("fault", SLIDE, rb'id="3" name', b'id="2" name'),
    Loss("fault", SLIDE_RELS, rb'<Relationship Id="rId1"[^>]*>', b""),
    Loss("fault", SLIDE, rb"<a:p>(?:(?!<a:p>).)*?Second.*?</a:p>", b"<a:p><a:r/><a:pPr/></a:p>"),
]


def changed(parts: Mapping[str, bytes], loss: Loss) -> dict[str, bytes]:
    """The parts with something replaced; with None for the text the part is gone."""
    assert loss.part in parts
    found = dict(parts)
    if loss.text is None:
        del found[loss.part]
        return found
    found[loss.part], count = re.subn(
        loss.pattern, loss.text, found[loss.part], count=1, flags=re.DOTALL
    )
    assert count, loss
    return found


def edited(parts: Mapping[str, bytes], part: str, old: bytes, new: bytes) -> dict[str, bytes]:
    """The parts after an edit by hand."""
    return changed(parts, Loss("", part, re.escape(old), new.replace(b"\\", b"\\\\")))


APPENDED = edited(
    rich_document(), STORY, b"<w:sectPr>", b"<w:p><w:r><w:t>At last</w:t></w:r></w:p><w:sectPr>"
)
RETITLED = edited(rich_deck(), SLIDE, b"Apple harvest", b"Pear harvest")


def judged(
    before: Mapping[str, bytes], after: Mapping[str, bytes], tmp: Path, edit: Edit | None
) -> list[Difference]:
    """What the judge finds."""
    return compare(pack(before, tmp / "before"), pack(after, tmp / "after"), edit)


def material(found: list[Difference]) -> list[Difference]:
    """What of it matters."""
    return [difference for difference in found if difference.material]


@pytest.mark.parametrize("loss", OF_DOCUMENTS, ids=lambda loss: f"{loss.kind} {loss.pattern[:30]}")
def test_each_loss_in_a_document_is_found(loss: Loss, tmp_path: Path) -> None:
    """What is taken from a document by hand is told by its kind, beside a rightful edit, too."""
    parts = rich_document()
    found = judged(parts, changed(parts, loss), tmp_path, None)
    assert loss.kind in {difference.kind for difference in material(found)}, found

    found = judged(parts, changed(APPENDED, loss), tmp_path, Appended("At last"))
    assert loss.kind in {difference.kind for difference in material(found)}, found


@pytest.mark.parametrize("loss", OF_DECKS, ids=lambda loss: f"{loss.kind} {loss.pattern[:30]}")
def test_each_loss_in_a_deck_is_found(loss: Loss, tmp_path: Path) -> None:
    """What is taken from a deck by hand is told by its kind, beside a rightful edit, too."""
    parts = rich_deck()
    found = judged(parts, changed(parts, loss), tmp_path, None)
    assert loss.kind in {difference.kind for difference in material(found)}, found

    found = judged(parts, changed(RETITLED, loss), tmp_path, Retitled(0, "Pear harvest of 2024"))
    assert loss.kind in {difference.kind for difference in material(found)}, found


def test_nothing_is_found_where_nothing_is_lost(tmp_path: Path) -> None:
    """A package differs from itself in nothing, has no fault, and rightful edits are no loss."""
    for parts in (rich_document(), rich_deck()):
        assert faults(pack(parts, tmp_path / "sound")) == []
        assert judged(parts, parts, tmp_path, None) == []

    assert judged(rich_document(), APPENDED, tmp_path, Appended("At last")) == []
    assert judged(rich_deck(), RETITLED, tmp_path, Retitled(0, "Pear harvest of 2024")) == []


def _rewritten(part: str, data: bytes) -> bytes:
    """The same XML with other prefixes or in another encoding, turned round and spaced."""
    if not part.endswith((".xml", ".rels")):
        return data
    root = etree.fromstring(data)
    for element in root.iter():
        attributes = list(element.attrib.items())
        element.attrib.clear()
        for name, value in reversed(attributes):
            element.set(name, value)
        if len(element) and not (element.text or "").strip():
            element.text = "\n   "
    if b"Ignorable" in data:
        return etree.tostring(root, encoding="unicode").encode("utf-16")
    # The library of Python makes prefixes of its own.
    return ET.tostring(ET.fromstring(etree.tostring(root)), "unicode").encode()


def test_how_it_is_written_is_no_loss(tmp_path: Path) -> None:
    """Prefixes, encodings, orders of attributes and of entries, blanks between change nothing."""
    for parts in (rich_document(), rich_deck()):
        other = {part: _rewritten(part, parts[part]) for part in reversed(parts)}
        assert other != parts

        found = judged(parts, other, tmp_path, None)

        assert {difference.kind for difference in found} == {"bytes"}
        assert material(found) == []


def test_a_part_that_is_renamed_is_the_same_part(tmp_path: Path) -> None:
    """A new name with the relation and type to it is no loss, but told."""
    parts = rich_deck()
    other = {name.replace("slide2.xml", "slide7.xml"): data for name, data in parts.items()}
    other = {name: data.replace(b"slide2.xml", b"slide7.xml") for name, data in other.items()}

    found = judged(parts, other, tmp_path, None)

    assert material(found) == []
    assert "part renamed" in {difference.kind for difference in found}


def _replaced_everywhere() -> dict[str, bytes]:
    parts = rich_document()
    for part in (STORY, "word/header1.xml", "word/footnotes.xml"):
        parts[part] = parts[part].replace(b"apple", b"pear")
    return parts


def test_a_word_is_replaced_everywhere_or_it_is_told(tmp_path: Path) -> None:
    """In the body, tables, text boxes with their doubles and notes; one that stayed is told."""
    edit = Replaced("apple", "pear")
    assert judged(rich_document(), _replaced_everywhere(), tmp_path, edit) == []
    assert edit.count == 4

    for part, keep in ((STORY, b"pear trees"), (STORY, b"The pear"), (STORY, b"an pear in"),
                       ("word/footnotes.xml", b"One pear")):  # fmt: skip
        parts = _replaced_everywhere()
        assert keep in parts[part]
        parts[part] = parts[part].replace(keep, keep.replace(b"pear", b"apple"), 1)
        found = material(judged(rich_document(), parts, tmp_path, Replaced("apple", "pear")))
        assert {difference.kind for difference in found} == {"not as meant"}, keep


def test_what_is_typed_into_a_control_fills_it_in(tmp_path: Path) -> None:
    """That it no more shows what is to be typed is no loss where that text was replaced."""
    parts = rich_document()
    typed = edited(parts, STORY, b"autumn", b"spring")
    filled = edited(typed, STORY, b"<w:showingPlcHdr/>", b"")
    other = edited(_replaced_everywhere(), STORY, b"<w:showingPlcHdr/>", b"")

    for after in (typed, filled):
        assert judged(parts, after, tmp_path, Replaced("autumn", "spring")) == []
    assert material(judged(parts, other, tmp_path, Replaced("apple", "pear")))


KEPT = b'<w:t xml:space="preserve">'
SPLIT = KEPT + b"The apple </w:t></w:r><w:r>" + KEPT + b"harvest was </w:t></w:r>"
LINED = b'<w:rPr><w:u w:val="single"/></w:rPr>'


@pytest.mark.parametrize(
    ("new", "is_right"),
    [
        # "apple harvest" becomes "crop": it may look as the first or the second word did.
        (KEPT + b"The crop</w:t></w:r><w:r>" + KEPT + b" was </w:t></w:r>", True),
        (KEPT + b"The </w:t></w:r><w:r>" + KEPT + b"crop was </w:t></w:r>", True),
        (KEPT + b"The crop was </w:t></w:r>", False),
        (KEPT + b"The crop</w:t></w:r><w:r>" + KEPT + b" is </w:t></w:r>", False),
        (b"<w:t>The </w:t></w:r><w:r>" + KEPT + b"crop was </w:t></w:r>", False),
        (KEPT + b'The crop</w:t></w:r><w:bookmarkEnd w:id="7"/><w:r>' + KEPT
         + b" was </w:t></w:r>", False),
        (KEPT + b"The </w:t></w:r><w:r>" + LINED + b"<w:t>crop</w:t></w:r><w:r>" + KEPT
         + b" was </w:t></w:r>", False),
    ],
)  # fmt: skip
def test_a_replaced_text_keeps_its_looks(new: bytes, is_right: bool, tmp_path: Path) -> None:
    """Over the border of two runs, too: what stays looks as it did, what comes as what went."""
    after = edited(rich_document(), STORY, SPLIT, new)

    found = judged(rich_document(), after, tmp_path, Replaced("apple harvest", "crop"))

    assert (material(found) == []) == is_right, found


def test_a_title_keeps_its_look(tmp_path: Path) -> None:
    """A title in another look or with another text is told; a link of what went may go."""
    parts = rich_deck()
    title = b"<a:t>Apple harvest</a:t>"
    rest = re.search(rb"<a:r><a:rPr lang=.en-US.><a:hlinkClick.*?</a:r>", parts[SLIDE])
    assert rest is not None
    whole = edited(edited(parts, SLIDE, rest[0], b""), SLIDE, title, b"<a:t>Pears</a:t>")
    assert judged(parts, whole, tmp_path, Retitled(0, "Pears")) == []

    unlinked = changed(whole, Loss("", SLIDE_RELS, rb'<Relationship Id="rId2"[^>]*>', b""))
    assert material(judged(parts, unlinked, tmp_path, Retitled(0, "Pears"))) == []

    for old, new, kind in (
        (b' sz="4400" b="1"', b' sz="4400"', "title's look"),
        (b' algn="ctr"', b"", "title's paragraph"),
        (b"Pears", b"Plums", "not as meant"),
    ):
        found = judged(parts, edited(whole, SLIDE, old, new), tmp_path, Retitled(0, "Pears"))
        assert kind in {difference.kind for difference in material(found)}, found


def test_what_was_meant_and_not_done_is_told(tmp_path: Path) -> None:
    """An edit that changed nothing, or appended another text or in another place, is told."""
    parts = rich_document()
    inner = b"<w:p><w:r><w:t>At last</w:t></w:r></w:p>"
    elsewhere = edited(parts, STORY, b"<w:body>", b"<w:body>" + inner)
    for after in (parts, elsewhere):
        assert material(judged(parts, after, tmp_path, Appended("At last")))
    assert material(judged(parts, APPENDED, tmp_path, Appended("At first")))
    assert material(judged(parts, parts, tmp_path, Replaced("apple", "pear")))
    assert material(judged(rich_deck(), rich_deck(), tmp_path, Retitled(0, "Pears")))


def test_the_judge_agrees_with_canonical_xml(tmp_path: Path) -> None:
    """Where canonical XML 2.0 sees a difference in a part that stayed, the judge does, too."""
    parts = rich_document()
    seen = 0
    for loss in OF_DOCUMENTS:
        after = changed(parts, loss)
        if loss.text is None or not loss.part.endswith(".xml") or loss.kind == "fault":
            continue
        forms = [
            etree.canonicalize(each[loss.part].decode(), rewrite_prefixes=True)
            for each in (parts, after)
        ]
        seen += forms[0] != forms[1]
        assert (forms[0] != forms[1]) <= bool(material(judged(parts, after, tmp_path, None)))
    assert seen > 30


def test_a_damaged_zip_is_a_fault(tmp_path: Path) -> None:
    """A file that is cut or has a wrong sum cannot be read, and that is told."""
    before = pack(rich_document(), tmp_path / "before")
    cut, flipped = tmp_path / "cut", tmp_path / "flipped"
    data = bytearray(before.read_bytes())
    cut.write_bytes(data[:-100])
    with zipfile.ZipFile(before) as archive:
        at = archive.getinfo("word/media/image1.png").header_offset
    data[at + 60] ^= 1
    flipped.write_bytes(data)

    for path in (cut, flipped):
        assert [found.kind for found in compare(before, path)] == ["fault"], path

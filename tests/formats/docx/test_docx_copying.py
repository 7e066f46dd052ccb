"""Styles and lists carried into other documents, where nothing else changes."""

from pathlib import Path

import docx
import pytest
from lxml import etree

from kbd.errors import ValidationFailed
from kbd.formats import AssetPick
from styled_documents import (
    FORMAT,
    W,
    brand,
    copy,
    names_in_order,
    part,
    parts_of,
    plain,
    source,
    strictly,
    style,
    styles_of,
    written,
)

_SCHEMA = {
    "pPr": (
        "pStyle keepNext keepLines pageBreakBefore framePr widowControl numPr suppressLineNumbers "
        "pBdr shd tabs suppressAutoHyphens spacing ind contextualSpacing mirrorIndents jc "
        "textAlignment outlineLvl rPr sectPr"
    ),
    "rPr": (
        "rStyle rFonts b bCs i iCs caps smallCaps strike dstrike outline shadow emboss imprint "
        "noProof snapToGrid vanish webHidden color spacing w kern position sz szCs highlight u "
        "effect bdr shd vertAlign rtl cs em lang ligatures"
    ),
    "style": "name basedOn next link uiPriority qFormat pPr rPr tblPr trPr tcPr tblStylePr",
    "lvl": "start numFmt lvlRestart pStyle isLgl suff lvlText lvlPicBulletId legacy lvlJc pPr rPr",
    "numbering": "numPicBullet abstractNum num numIdMacAtCleanup",
}
"""The order of elements, as the schema has it."""


@pytest.fixture
def marked(tmp_path: Path) -> Path:
    """A document with everything that can be copied."""
    return brand(tmp_path / "brand.docx")


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """A document of other defaults, with two sections."""
    return plain(tmp_path / "other.docx", 2)


def looks(path: Path, name: str) -> dict[str, object]:
    """Return how a style looks, without what names other things, or says that it is not so."""
    found = styles_of(path)[name]
    apart = ("id", "used", "list", "based_on", "next", "linked", "asset_id")
    return {key: value for key, value in found.items() if key not in apart and value is not False}


def changed_parts(before: Path, after: Path) -> set[str]:
    """Name the parts that differ; of the rest the bytes are the same."""
    old, new = parts_of(before), parts_of(after)
    return {name for name in old | new if old.get(name) != new.get(name)}


def ordered(root: etree._Element) -> None:
    """Check that elements stand in the order of the schema."""
    for name, words in _SCHEMA.items():
        ranks = {word: rank for rank, word in enumerate(words.split())}
        for element in root.iter(f"{W}{name}"):
            found = [ranks[each] for each in names_in_order(element) if each in ranks]
            assert found == sorted(found), etree.tostring(element)


def test_a_brand_heading(marked: Path, other: Path) -> None:
    """Conformance 124: a copied paragraph style is present in the target, and looks right."""
    made, found = copy(marked, other, "paragraph_style:BrandHeading")

    assert "Brand Heading" in {each.name for each in docx.Document(str(made)).styles}
    assert looks(made, "BrandHeading") == looks(marked, "BrandHeading")
    (told,) = found.changed
    assert told == (
        "paragraph_style:BrandHeading: added as Brand Heading, with Brand Base, Brand Body, "
        "Brand Heading Char; fonts: Georgia"
    )
    assert found.warnings == found.external == ()
    assert changed_parts(other, made) == {
        "[Content_Types].xml", "word/_rels/document.xml.rels", "word/numbering.xml",
        "word/styles.xml",
    }  # fmt: skip


def test_in_a_new_document(marked: Path) -> None:
    """A new document gets the source's theme; the style looks there as in the source."""
    made, _ = copy(marked, None, "paragraph_style:brand HEADING")

    assert looks(made, "BrandHeading") == looks(marked, "BrandHeading")
    fonts = part(made, "styles").xpath(
        "//*[@*[local-name()='styleId']='BrandHeading']//@*[local-name()='asciiTheme']"
    )
    assert fonts == ["majorHAnsi"]
    document = docx.Document(str(made))
    assert [each.text for each in document.paragraphs] == []
    assert document.core_properties.author == ""


@pytest.mark.parametrize(
    ("asset_id", "name"),
    [
        ("paragraph_style:BrandBody", "BrandBody"),
        ("character_style:Shout", "Shout"),
        ("table_style:Brand Grid", "BrandGrid"),
        ("numbering_style:Legal", "Legal"),
    ],
)
def test_styles_of_each_kind(marked: Path, other: Path, asset_id: str, name: str) -> None:
    """Styles of every kind come along in valid order, with plain values for the theme's."""
    made, _ = copy(marked, other, asset_id)

    assert looks(made, name) == looks(marked, name)
    root = part(made, "styles")
    ordered(root)
    assert not root.xpath("//@*[starts-with(local-name(), 'theme')]")


def test_what_is_new_in_a_style_is_passed_over(marked: Path, other: Path) -> None:
    """A property of a newer program stays, and older programs are told to pass over it."""
    made, _ = copy(marked, other, "character_style:Shout")
    root = part(made, "styles")
    space = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"

    assert [etree.QName(each).localname for each in root.iter("{*}ligatures")] == ["ligatures"]
    assert root.get(f"{space}Ignorable") == "w14"
    assert root.nsmap["w14"] == "http://schemas.microsoft.com/office/word/2010/wordml"


def test_a_style_of_the_same_name_is_replaced(marked: Path, tmp_path: Path) -> None:
    """The target's style of that name is replaced under its own id, so that its text follows."""
    sheet = style("N", name="Normal", more='w:default="1"')
    sheet += style("old", "<w:rPr><w:strike/></w:rPr>", name="brand body")
    sheet += style("Child", '<w:basedOn w:val="old"/>')
    body = '<w:p><w:pPr><w:pStyle w:val="old"/></w:pPr></w:p>'
    into = written(tmp_path / "into.docx", body, {"styles": sheet})
    made, found = copy(marked, into, "paragraph_style:BrandBody")

    assert styles_of(made)["BrandBody"]["id"] == "old"
    assert styles_of(made)["BrandBody"]["used"] == 1
    assert looks(made, "BrandBody") == looks(marked, "BrandBody")
    assert found.changed[0].startswith("paragraph_style:BrandBody: replaced brand body")
    assert found.warnings == (
        "Styles of the target that are based on brand body change with it: Child.",
    )
    assert changed_parts(into, made) == {"word/styles.xml"}


def test_the_default_style_is_replaced_if_it_is_picked(marked: Path, other: Path) -> None:
    """Normal comes only if it is asked for; then it stays the default, under the target's id."""
    made, _ = copy(marked, other, "paragraph_style:BrandBody")
    again, found = copy(marked, other, "paragraph_style:BrandBody", "paragraph_style:Normal")

    assert looks(made, "Normal") == looks(other, "Normal")
    assert looks(again, "Normal") == looks(marked, "Normal")
    assert looks(again, "BrandBody") == looks(marked, "BrandBody")
    default = styles_of(again)["Normal"]
    assert (default["id"], default["is_default"]) == ("a", True)
    assert found.changed[1].startswith("paragraph_style:Normal: replaced Normal")


def test_the_default_style_stays_the_default(other: Path, tmp_path: Path) -> None:
    """A Normal that is not the default of its own document is that of the target when it comes."""
    sheet = style("Normal", "<w:rPr><w:i/></w:rPr>")
    path = written(tmp_path / "a.docx", "<w:p/>", {"styles": sheet})
    made, _ = copy(path, other, "paragraph_style:Normal")

    default = styles_of(made)["Normal"]
    assert (default["id"], default["is_default"], default["italic"]) == ("a", True, True)


def test_an_id_that_means_another_style(marked: Path, tmp_path: Path) -> None:
    """A style whose id is another style's in the target gets an id of its own."""
    sheet = style("BrandBody", "<w:rPr><w:b/></w:rPr>", name="Quite Another")
    into = written(tmp_path / "into.docx", "<w:p/>", {"styles": sheet})
    made, _ = copy(marked, into, "paragraph_style:BrandHeading")
    found = styles_of(made)

    assert found["QuiteAnother"]["id"] == "BrandBody"
    assert found["BrandBody"]["id"] == "BrandBody1"
    assert found["BrandHeading"]["next"] == "BrandBody1"


def test_a_base_that_the_target_has_stays(marked: Path, tmp_path: Path) -> None:
    """The target's own base is not touched; what it makes different is said in the copied style."""
    sheet = style("BrandBase", '<w:pPr><w:pBdr><w:top w:val="single"/></w:pBdr></w:pPr><w:rPr>'
                  '<w:smallCaps/></w:rPr>', name="Brand Base")  # fmt: skip
    into = written(tmp_path / "into.docx", "<w:p/>", {"styles": sheet})
    made, _ = copy(marked, into, "paragraph_style:BrandHeading")

    assert looks(made, "BrandBase") == looks(into, "BrandBase")
    assert looks(made, "BrandHeading") == looks(marked, "BrandHeading")
    assert styles_of(made)["BrandHeading"]["based_on"] == "BrandBase"
    ordered(part(made, "styles"))


def test_tab_stops_stand_in_order(tmp_path: Path) -> None:
    """Tab stops are sorted by how far they are, in whichever unit each says it."""
    stops = '<w:pPr><w:tabs><w:tab w:val="left" w:pos="{}"/></w:tabs></w:pPr>'
    path = written(tmp_path / "a.docx", "<w:p/>", {
        "styles": style("B", stops.format("36pt"), name="Base")
        + style("S", f'<w:basedOn w:val="B"/>{stops.format("1in")}'),
    })  # fmt: skip
    into = written(
        tmp_path / "into.docx", "<w:p/>", {"styles": style("B", stops.format("5cm"), name="Base")}
    )
    made, _ = copy(path, into, "paragraph_style:S")
    root = part(made, "styles")

    assert [(each.get(f"{W}pos"), each.get(f"{W}val")) for each in root.iter(f"{W}tab")] == [
        ("5cm", "left"), ("36pt", "left"), ("1in", "left"), ("5cm", "clear"),
    ]  # fmt: skip


def test_lists_get_numbers_of_their_own(marked: Path, tmp_path: Path) -> None:
    """Numbers of lists do not collide, and levels name only the styles that came along."""
    numbering = (
        '<w:abstractNum w:abstractNumId="1"><w:nsid w:val="1A2B3C4D"/></w:abstractNum>'
        '<w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>'
        '<w:numIdMacAtCleanup w:val="1"/>'
    )
    body = '<w:p><w:pPr><w:numPr><w:numId w:val="2"/></w:numPr></w:pPr></w:p>'
    into = written(tmp_path / "into.docx", body, {"numbering": numbering})
    made, _ = copy(marked, into, "paragraph_style:BrandBase", ("list:7", "paragraph:1"))
    root = part(made, "numbering")

    assert [each.get(f"{W}abstractNumId") for each in root.iter(f"{W}abstractNum")] == ["1", "2"]
    assert len({each.get(f"{W}numId") for each in root.iter(f"{W}num")}) == 2
    assert len({each.get(f"{W}val") for each in root.iter(f"{W}nsid")}) == 2
    assert root.find(f".//{W}pStyle") is None
    ordered(root)
    (number,) = part(made, "document").iter(f"{W}numId")
    assert number.get(f"{W}val") == list(root.iter(f"{W}num"))[1].get(f"{W}numId")


def test_a_list_comes_once(marked: Path, other: Path) -> None:
    """Styles of one list copied in two calls are still of one list, and its levels name both."""
    first, _ = copy(marked, other, "paragraph_style:BrandHeading")
    again, _ = copy(marked, first, "paragraph_style:BrandHeading")
    root = part(again, "numbering")

    assert len(list(root.iter(f"{W}abstractNum"))) == len(list(root.iter(f"{W}num"))) == 1
    assert [each.get(f"{W}val") for each in root.iter(f"{W}pStyle")] == [
        "BrandHeading", "BrandBody",
    ]  # fmt: skip
    assert styles_of(again)["BrandHeading"]["list"]["id"] == "1"


def test_indents_of_a_list_hold(marked: Path, tmp_path: Path) -> None:
    """Where the target's base has indents, a numbered style says those that its list gives it."""
    sheet = style("n", '<w:pPr><w:ind w:left="2000"/></w:pPr>', name="Normal",
                  more='w:default="1"')  # fmt: skip
    into = written(tmp_path / "into.docx", "<w:p/>", {"styles": sheet})
    made, _ = copy(marked, into, "paragraph_style:BrandHeading")

    found = styles_of(made)["BrandHeading"]
    assert (found["indent_left"], styles_of(made)["BrandBody"]["indent_left"]) == (0.25, 0.5)


def test_styles_are_put_on(marked: Path, tmp_path: Path) -> None:
    """With a target a style or list is put on those paragraphs or tables, and on no others."""
    body = "<w:p/><w:p><w:pPr><w:jc w:val='right'/></w:pPr></w:p><w:p/><w:tbl><w:tr/></w:tbl><w:p/>"
    into = written(tmp_path / "into.docx", body)
    made, found = copy(
        marked,
        into,
        ("paragraph_style:BrandBody", "paragraph:2-3"),
        ("table_style:Grid", "table:0"),
    )
    root = part(made, "document")

    styles = [[each.get(f"{W}val") for each in paragraph.iter(f"{W}pStyle")]
              for paragraph in root.iter(f"{W}p")]  # fmt: skip
    assert styles == [[], ["BrandBody"], ["BrandBody"], []]
    assert [each.get(f"{W}val") for each in root.iter(f"{W}tblStyle")] == ["Grid"]
    assert names_in_order(next(root.iter(f"{W}tbl")))[0] == "tblPr"
    assert found.changed[0].endswith("put on paragraph 2-3")
    ordered(root)


@pytest.mark.parametrize(
    ("asset_id", "target", "words"),
    [
        ("paragraph_style:BrandHedding", None, "near it: paragraph_style:BrandHeading"),
        ("image:Chrt", None, "near it: image:Chart"),
        ("header:section9/default", None, "near it: header:section0/default"),
        ("footer:section0/even", None, "near it: footer:section0/default"),
        ("list:99", "paragraph:1", "the source has no list '99'"),
        ("page_setup:section3", None, "near it: page_setup:section0"),
        ("chart:Sales", None, "write kind:name"),
        ("list:7", None, "needs a target"),
        ("character_style:Shout", "paragraph:1", "takes no target"),
        ("character_style:DefaultParagraphFont", None, "every document has its own"),
        ("paragraph_style:BrandBody", "paragraph:99", "has no paragraph 99"),
        ("paragraph_style:BrandBody", "page:1", "write paragraph:1"),
        ("header:section0/default", "section:7", "has no section 7"),
        ("image:Chart", "paragraph:1-2", "no place"),
    ],
)
def test_what_is_not_there(
    marked: Path, other: Path, asset_id: str, target: str | None, words: str
) -> None:
    """An asset or place that is not there is refused with near matches; nothing is written."""
    out = marked.parent / "out.docx"
    picks = (AssetPick("character_style:Shout"), AssetPick(asset_id, target))

    with pytest.raises(ValidationFailed, match=words.replace("(", r"\(")):
        FORMAT.copy_assets(source(marked), source(other), picks, out)
    assert not out.exists()


@pytest.mark.parametrize("is_strict", [True, False])
def test_between_the_variants(marked: Path, other: Path, tmp_path: Path, is_strict: bool) -> None:
    """Looks go from one variant into the other, spelt as that one spells them."""
    strict_one = tmp_path / "strict.docx"
    path, into = (marked, strictly(other, strict_one)) if is_strict else (
        strictly(marked, strict_one), other,
    )  # fmt: skip
    made, _ = copy(
        path, into, "paragraph_style:BrandHeading", "table_style:Grid", "header:section0/default",
        "image:Chart",
    )  # fmt: skip

    assert looks(made, "BrandHeading") == looks(path, "BrandHeading")
    assert looks(made, "BrandBody") == looks(path, "BrandBody")
    for name, data in parts_of(made).items():
        if name.endswith((".xml", ".rels")):
            assert (b"http://purl.oclc.org/ooxml" in data) <= is_strict, name
    usual = b"http://schemas.openxmlformats.org/wordprocessingml"
    named = [name for name, data in parts_of(made).items() if usual in data]
    assert (named == []) == is_strict
    side = b"w:start=" if is_strict else b"w:left="
    assert side in parts_of(made)["word/styles.xml"]
    found = FORMAT.get_styles(source(made), None)
    assert [each["text"] for each in found["headers"]] == ["acme.example"]
    assert [each["name"] for each in found["images"]] == ["Chart", "Logo"]


def test_a_document_without_styles_gets_them(marked: Path, tmp_path: Path) -> None:
    """Parts that the target does not have are made, related and of their type."""
    into = written(tmp_path / "bare.docx", "<w:p/>")
    made, _ = copy(marked, into, "paragraph_style:BrandHeading")

    assert looks(made, "BrandHeading") == looks(marked, "BrandHeading")
    assert {each.name for each in docx.Document(str(made)).styles} >= {"Brand Heading"}


def test_the_theme_and_the_page(marked: Path, other: Path) -> None:
    """A theme takes the place of the target's; a page's set-up is set in all sections or in one."""
    made, found = copy(marked, other, "theme:theme", ("page_setup:section0", "section:1"))
    told = FORMAT.get_styles(source(made), None)

    assert told["theme"]["fonts"] == {"headings": "Georgia", "body": "Verdana"}
    assert [each["width"] for each in told["page_setups"]] == [8.5, 8.268]
    assert found.warnings == (
        "What follows the fonts and colours of the theme looks different now.",
    )

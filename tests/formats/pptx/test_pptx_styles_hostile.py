"""Decks whose looks are made to do harm: told and copied as far as they can be, cheaply."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from confined import Answer, Confined, confined, opened
from deck_judge import DeckFile
from kbd_pptx import PptxFormat
from styled_decks import brand_deck, rewritten

ACTIONS = ("get_styles", "copy_assets")
MAX_BYTES = 600 << 20
MAX_CPU_S = 12.0
"""A worker has 1.5 GiB and 30 s; what is measured beside other work must leave room."""

MASTER = "ppt/slideMasters/slideMaster1.xml"
MASTER_RELS = "ppt/slideMasters/_rels/slideMaster1.xml.rels"
LAYOUT = "ppt/slideLayouts/slideLayout1.xml"
SLIDE = "ppt/slides/slide1.xml"
THEME = "ppt/theme/theme1.xml"

Parts = dict[str, bytes]
Build = Callable[[Parts], Parts]


@pytest.fixture(scope="module")
def cell() -> Iterator[Confined]:
    """Where hostile files are opened."""
    with confined(PptxFormat, ACTIONS) as found:
        yield found


def told(cell: Confined, folder: Path, build: Build) -> dict[str, Answer]:
    """Look at a deck and copy from it, and see that it stayed within bounds."""
    path = brand_deck(folder / "brand.pptx")
    rewritten(path, path, build(dict(DeckFile(path).entries)))
    found = opened(cell, folder / "blob", path.read_bytes(), "brand.pptx")
    for action, answer in found.items():
        assert answer.peak_bytes <= MAX_BYTES, (action, answer.peak_bytes >> 20)
        assert answer.cpu_s <= MAX_CPU_S, (action, answer.cpu_s)
    return found


def put(part: str, old: bytes, new: bytes) -> Build:
    """Change the markup of a part in its first place."""

    def build(parts: Parts) -> Parts:
        assert old in parts[part]
        return {part: parts[part].replace(old, new, 1)}

    return build


def many_layouts(parts: Parts) -> Parts:
    """A thousand layouts, all of one name."""
    made: Parts = {}
    ids, links = [], []
    for count in range(1_000):
        made[f"ppt/slideLayouts/l{count}.xml"] = parts["ppt/slideLayouts/slideLayout7.xml"]
        made[f"ppt/slideLayouts/_rels/l{count}.xml.rels"] = parts[
            "ppt/slideLayouts/_rels/slideLayout7.xml.rels"
        ]
        ids.append(f'<p:sldLayoutId id="{3 * 10**9 + count}" r:id="l{count}"/>')
        links.append(
            f'<Relationship Id="l{count}" Type="http://schemas.openxmlformats.org/officeDocument/'
            f'2006/relationships/slideLayout" Target="../slideLayouts/l{count}.xml"/>'
        )
    made[MASTER] = parts[MASTER].replace(b"</p:sldLayoutIdLst>", _joined(ids, "p:sldLayoutIdLst"))
    made[MASTER_RELS] = parts[MASTER_RELS].replace(
        b"</Relationships>", _joined(links, "Relationships")
    )
    return made


def _joined(rows: list[str], name: str) -> bytes:
    return f"{''.join(rows)}</{name}>".encode()


def its_own_master(parts: Parts) -> Parts:
    """A master that is its own layout and theme."""
    links = parts[MASTER_RELS]
    for name in (b"../slideLayouts/slideLayout1.xml", b"../theme/theme1.xml"):
        links = links.replace(name, b"slideMaster1.xml")
    return {MASTER_RELS: links}


def crowded(count: int) -> Build:
    """A slide of many texts that look their own way, all of one name."""
    shape = (
        b'<p:sp><p:nvSpPr><p:cNvPr id="5" name="T"/><p:cNvSpPr/><p:nvPr><p:ph idx="1"/></p:nvPr>'
        b'</p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/><a:p><a:r><a:rPr sz="900"/><a:t>x</a:t></a:r>'
        b"</a:p></p:txBody></p:sp>"
    )
    return put(SLIDE, b"</p:spTree>", shape * count + b"</p:spTree>")


def pictured(count: int) -> Build:
    """A slide of many pictures that are not there."""
    shape = (
        b'<p:pic><p:nvPicPr><p:cNvPr id="9" name="N"/><p:cNvPicPr/><p:nvPr/></p:nvPicPr>'
        b'<p:blipFill><a:blip r:embed="rId999"/></p:blipFill><p:spPr/></p:pic>'
    )
    return put(SLIDE, b"</p:spTree>", shape * count + b"</p:spTree>")


STYLE = b"<p:bodyStyle>"
CHANGES = b'<a:schemeClr val="accent2">' + b'<a:lumMod val="99000"/>' * 40_000 + b"</a:schemeClr>"

READ: dict[str, tuple[Build, str]] = {
    "a thousand layouts of one name": (many_layouts, "layout:Blank#2"),
    "a master that is its own layout": (its_own_master, "assets"),
    "a style of forty thousand children": (
        put(MASTER, STYLE, STYLE + b"<a:x/>" * 40_000), "Verdana",
    ),
    "a level of forty thousand bullets": (
        put(MASTER, b'<a:buFont typeface="Arial"', b"<a:buNone/>" * 40_000
            + b'<a:buFont typeface="Arial"'), "Verdana",
    ),
    "a colour changed forty thousand times": (
        put(MASTER, b'<a:schemeClr val="accent2"/>', CHANGES), "Georgia",
    ),
    "thousands of texts": (crowded(4_000), "text_style:slide:0/T#2"),
    "thousands of pictures that are not there": (pictured(4_000), "without a picture"),
    "endless numbers": (
        put(MASTER, b'<a:schemeClr val="accent2"/>',
            b'<a:schemeClr val="accent2"><a:lumMod val="' + b"9" * 5000 + b'"/>'
            b'<a:tint val="1e999%"/><a:shade val="nan"/></a:schemeClr>'), "Georgia",
    ),
    "a name of a million characters": (
        put(LAYOUT, b'name="Brand Opening"', b'name="' + b"n" * 1_000_000 + b'"'), "nnnn",
    ),
    "a slide of a size without end": (
        put("ppt/presentation.xml", b'cx="9144000"', b'cx="' + b"9" * 5000 + b'"'), "slide_size",
    ),
    "sizes that are none": (
        put(MASTER, b'sz="4400"', b'sz="-1e400"'), '"font_size":18.0',
    ),
    "a picture that is none": (
        lambda parts: {name: b"\x89PNG\r\n\x1a\n" + b"\xff" * 500 for name in parts
                       if name.startswith("ppt/media/")}, '"type":"png"',
    ),
}  # fmt: skip


HEAVY = (
    "a thousand layouts of one name", "a colour changed forty thousand times",
    "thousands of texts", "thousands of pictures that are not there",
    "a level of forty thousand bullets", "a style of forty thousand children",
)  # fmt: skip


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.full if name in HEAVY else ()) for name in READ],
)
@pytest.mark.sampled(3)
def test_what_can_be_told_is(cell: Confined, tmp_path: Path, name: str) -> None:
    """It costs no more than it may, and the rest of the looks are there."""
    build, words = READ[name]

    found = told(cell, tmp_path, build)

    assert found["get_styles"].kind == "returned", found["get_styles"]
    assert words in found["get_styles"].text
    assert len(found["get_styles"].text) < 400_000


REFUSED: dict[str, tuple[Build, str]] = {
    "a master of a million elements": (
        put(MASTER, STYLE, STYLE + b"<a:x/>" * 1_000_000),
        "elements",
    ),
    "a master with entities": (
        put(MASTER, b"<p:sldMaster", b"<!DOCTYPE a [<!ENTITY b 'c'>]><p:sldMaster"),
        "document type",
    ),
    "a layout deeper than a parser goes": (
        put(LAYOUT, b"</p:spTree>", b"<p:grpSp>" * 9000 + b"</p:grpSp>" * 9000 + b"</p:spTree>"),
        "not valid XML",
    ),
    "a theme that is none": (lambda _: {THEME: b"<a:theme"}, "not valid XML"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_told_is_refused(cell: Confined, tmp_path: Path, name: str) -> None:
    """The reason is said, at little cost."""
    build, words = REFUSED[name]

    for answer in told(cell, tmp_path, build).values():
        assert answer.kind == "refused"
        assert words in answer.text

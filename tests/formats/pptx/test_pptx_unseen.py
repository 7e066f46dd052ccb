"""Text of a slide in the color of what is behind it is labeled; what is seen is not."""

from pathlib import Path

import pytest

from kbd.formats import Region
from kbd_pptx import PptxFormat
from read_decks import NAMES, box, deck, frame, slide_xml

FORMAT = PptxFormat()
SCHEME = (
    '<a:dk1><a:srgbClr val="101010"/></a:dk1><a:lt1><a:srgbClr val="FFFFFF"/></a:lt1>'
    '<a:dk2><a:srgbClr val="1F3864"/></a:dk2><a:lt2><a:srgbClr val="E7E6E6"/></a:lt2>'
)
THEME = (
    f'<a:theme {NAMES} name="L"><a:themeElements><a:clrScheme name="x">{SCHEME}</a:clrScheme>'
    '<a:fmtScheme><a:bgFillStyleLst><a:solidFill><a:schemeClr val="phClr"/></a:solidFill>'
    "<a:gradFill/></a:bgFillStyleLst></a:fmtScheme></a:themeElements></a:theme>"
)
USUAL = 'bg1="lt1" tx1="dk1" bg2="lt2" tx2="dk2"'
SWAPPED = 'bg1="dk1" tx1="lt1" bg2="dk2" tx2="lt2"'


def solid(color: str, inside: str = "") -> str:
    """A fill of one color, of RRGGBB or of the theme."""
    kind = "srgbClr" if len(color) == 6 else "schemeClr"
    return f'<a:solidFill><a:{kind} val="{color}">{inside}</a:{kind}></a:solidFill>'


def run(fill: str, text: str = "b") -> str:
    """A paragraph of one run in some color."""
    return f"<a:p><a:r><a:rPr>{fill}</a:rPr><a:t>{text}</a:t></a:r></a:p>"


def shape(
    inner: str = "",
    fill: str = "",
    at: tuple[float, float, float, float] = (1, 1, 3, 1),
    **more: str,
) -> str:
    """A shape with its fill and its text."""
    body = f"<p:txBody><a:bodyPr/>{more.get('styles', '')}{inner}</p:txBody>" if inner else ""
    return (
        '<p:sp><p:nvSpPr><p:cNvPr id="9" name="Box"/><p:cNvSpPr/><p:nvPr/></p:nvSpPr>'
        f"<p:spPr>{box(*at)}{fill}</p:spPr>{more.get('look', '')}{body}</p:sp>"
    )


def picture(at: tuple[float, float, float, float]) -> str:
    """A picture."""
    return (
        '<p:pic><p:nvPicPr><p:cNvPr id="8" name="P"/><p:cNvPicPr/><p:nvPr/></p:nvPicPr>'
        f"<p:blipFill/><p:spPr>{box(*at)}</p:spPr></p:pic>"
    )


def table(inner: str, cell: str = "", style: str = "") -> str:
    """A table of one cell."""
    return frame(
        "drawingml/2006/table",
        f"<a:tbl><a:tblPr>{style}</a:tblPr><a:tr><a:tc><a:txBody><a:bodyPr/>{inner}</a:txBody>"
        f"<a:tcPr>{cell}</a:tcPr></a:tc></a:tr></a:tbl>",
    )


WHITE, BLUE = solid("FFFFFF"), solid("1F3864")
STYLE_ID = "<a:tableStyleId>{0}</a:tableStyleId>"
LEVEL = f"<a:lstStyle><a:lvl1pPr><a:defRPr>{WHITE}</a:defRPr></a:lvl1pPr></a:lstStyle>"
PLAIN = "<a:p><a:r><a:t>b</a:t></a:r></a:p>"

HIDDEN = {
    "white": (shape(run(WHITE)),),
    "nearly white": (shape(run(solid("F8F8F8"))),),
    "the theme's background": (shape(run(solid("bg1"))),),
    "the theme's light": (shape(run(solid("lt1"))),),
    "ink made light": (shape(run(solid("tx1", '<a:lumMod val="0"/><a:lumOff val="100000"/>'))),),
    "in the color of its shape": (shape(run(BLUE), BLUE),),
    "in the theme's color of its shape": (shape(run(solid("tx2")), BLUE),),
    "by its shape's styles": (shape(PLAIN, styles=LEVEL),),
    "transparent": (shape(run(solid("000000", '<a:alpha val="0"/>')), BLUE),),
    "no fill": (shape(run("<a:noFill/>")),),
    "over a shape of its color": (shape("", BLUE), shape(run(BLUE))),
    "over a picture and a white shape": (
        picture((0, 0, 9, 7)), shape("", WHITE, (0, 0, 9, 7)), shape(run(WHITE)),
    ),
    "beside a dark shape": (shape("", BLUE, (5, 5, 1, 1)), shape(run(WHITE))),
    "in a plain table": (table(run(WHITE)),),
    "in a cell of its color": (table(run(BLUE), BLUE, STYLE_ID),),
}  # fmt: skip

SEEN = {
    "white on a dark shape": (shape(run(WHITE), BLUE),),
    "the theme's background on dark": (shape(run(solid("bg1")), solid("tx2")),),
    "white over a dark shape": (shape("", BLUE, (0, 0, 9, 7)), shape(run(WHITE))),
    "white over a part of one": (shape("", BLUE, (0, 0, 2, 7)), shape(run(WHITE))),
    "white over a picture": (picture((0, 0, 9, 7)), shape(run(WHITE))),
    "white on a gradient": (shape(run(WHITE), "<a:gradFill/>"),),
    "white on what the theme fills": (
        shape(run(WHITE), look='<p:style><a:fillRef idx="1"/></p:style>'),
    ),
    "white in a table of a style": (table(run(WHITE), style=STYLE_ID),),
    "white in a dark cell": (table(run(WHITE), BLUE),),
    "its own color before its shape's": (shape(run(BLUE), styles=LEVEL),),
    "an outline": (shape(run(f"<a:ln>{BLUE}</a:ln><a:noFill/>")),),
    "grey": (shape(run(solid("BFBFBF"))),),
    "half transparent": (shape(run(solid("000000", '<a:alpha val="50000"/>'))),),
    "what is inherited": (shape(PLAIN),),
}


def text_of(folder: Path, shapes: tuple[str, ...], mapping: str = USUAL, ground: str = "") -> str:
    """What is read of a slide of shapes."""
    bg = f"<p:bg>{ground}</p:bg>" if ground else ""
    master = (
        f"<p:sldMaster {NAMES}><p:cSld>{bg}<p:spTree/></p:cSld><p:clrMap {mapping}/></p:sldMaster>"
    )
    parts = {"ppt/t.xml": THEME, "ppt/masters/m.xml": master}
    return FORMAT.read(deck(folder, [slide_xml(*shapes)], parts=parts), Region(slide_index=0)).text


@pytest.mark.parametrize("which", HIDDEN)
@pytest.mark.sampled(3)
def test_what_nobody_sees_is_labeled(which: str, tmp_path: Path) -> None:
    """By its own color or its shape's, against fills, shapes below and the background."""
    assert "[hidden: b]" in text_of(tmp_path, HIDDEN[which])


@pytest.mark.parametrize("which", SEEN)
@pytest.mark.sampled(3)
def test_what_is_seen_is_not_labeled(which: str, tmp_path: Path) -> None:
    """White letters on something dark, and where what is behind cannot be told."""
    text = text_of(tmp_path, SEEN[which])
    assert "b" in text
    assert "hidden" not in text


def test_colors_are_as_the_master_maps_them(tmp_path: Path) -> None:
    """The same name is ink on one master and paper on another."""
    ground = '<p:bgRef idx="1001"><a:schemeClr val="bg1"/></p:bgRef>'
    paper, ink = (shape(run(solid("bg1"))),), (shape(run(solid("tx1"))),)
    for mapping in (USUAL, SWAPPED):
        assert "[hidden: b]" in text_of(tmp_path, paper, mapping, ground)
        assert "hidden" not in text_of(tmp_path, ink, mapping, ground)
    assert "hidden" not in text_of(tmp_path, (shape(run(WHITE)),), SWAPPED, ground)


def test_a_background_that_is_not_known_hides_nothing(tmp_path: Path) -> None:
    """A picture, a gradient, the theme's second background: letters are taken for seen."""
    white = (shape(run(WHITE)),)
    for ground in (
        "<p:bgPr><a:blipFill/></p:bgPr>", "<p:bgPr><a:gradFill/></p:bgPr>",
        '<p:bgRef idx="1002"><a:schemeClr val="bg1"/></p:bgRef>',
    ):  # fmt: skip
        assert "hidden" not in text_of(tmp_path, white, USUAL, ground)
    dark = f"<p:bgPr>{BLUE}</p:bgPr>"
    assert "hidden" not in text_of(tmp_path, white, USUAL, dark)
    assert "[hidden: b]" in text_of(tmp_path, (shape(run(BLUE)),), USUAL, dark)

"""Text of a slide in the color of what is behind it is labeled; what is seen is not."""

from pathlib import Path

import pytest

from kbd.formats import Region
from kbd_pptx import PptxFormat
from read_decks import (
    EMU,
    NAMES,
    PACKAGE,
    box,
    deck,
    frame,
    group,
    placeholder,
    relations,
    slide_xml,
)

FORMAT = PptxFormat()
SCHEME = (
    '<a:dk1><a:srgbClr val="101010"/></a:dk1><a:lt1><a:srgbClr val="FFFFFF"/></a:lt1>'
    '<a:dk2><a:srgbClr val="1F3864"/></a:dk2><a:lt2><a:srgbClr val="E7E6E6"/></a:lt2>'
)
THEME = (
    f'<a:theme {NAMES} name="L"><a:themeElements><a:clrScheme name="x">{SCHEME}</a:clrScheme>'
    '<a:fmtScheme><a:bgFillStyleLst><a:solidFill><a:schemeClr val="phClr"/></a:solidFill>'
    "<a:gradFill/></a:bgFillStyleLst><a:fillStyleLst><a:solidFill><a:schemeClr val='phClr'/>"
    "</a:solidFill></a:fillStyleLst></a:fmtScheme></a:themeElements></a:theme>"
)
USUAL = 'bg1="lt1" tx1="dk1" bg2="lt2" tx2="dk2"'
SWAPPED = 'bg1="dk1" tx1="lt1" bg2="dk2" tx2="lt2"'


def solid(color: str, inside: str = "") -> str:
    """A fill of one color, of RRGGBB or of the theme."""
    kind = "srgbClr" if len(color) == 6 else "schemeClr"
    return f'<a:solidFill><a:{kind} val="{color}">{inside}</a:{kind}></a:solidFill>'


def run(fill: str, text: str = "b", more: str = "") -> str:
    """A paragraph of one run in some color; `more` are attributes of its look."""
    return f"<a:p><a:r><a:rPr {more}>{fill}</a:rPr><a:t>{text}</a:t></a:r></a:p>"


def shape(
    inner: str = "",
    fill: str = "",
    at: tuple[float, float, float, float] = (1, 1, 3, 1),
    **more: str,
) -> str:
    """A shape with its fill and its text."""
    settings = more.get("settings", "<a:bodyPr/>")
    body = f"<p:txBody>{settings}{more.get('styles', '')}{inner}</p:txBody>" if inner else ""
    return (
        f"<p:sp {more.get('own', '')}><p:nvSpPr><p:cNvPr id='9' name='Box'/><p:cNvSpPr/>"
        f"<p:nvPr>{more.get('mark', '')}</p:nvPr></p:nvSpPr><p:spPr>{more.get('where', box(*at))}"
        f"{more.get('form', '')}{fill}</p:spPr>{more.get('look', '')}{body}</p:sp>"
    )


def picture(at: tuple[float, float, float, float]) -> str:
    """A picture."""
    return (
        '<p:pic><p:nvPicPr><p:cNvPr id="8" name="P"/><p:cNvPicPr/><p:nvPr/></p:nvPicPr>'
        f"<p:blipFill/><p:spPr>{box(*at)}</p:spPr></p:pic>"
    )


def table(inner: str, cell: str = "", style: str = "", first: str = "0") -> str:
    """A table of one cell; `first` tells whether its first row looks as such."""
    return frame(
        "drawingml/2006/table",
        f"<a:tbl><a:tblPr firstRow='{first}'>{style}</a:tblPr><a:tr><a:tc><a:txBody>"
        f"<a:bodyPr/>{inner}</a:txBody>"
        f"<a:tcPr>{cell}</a:tcPr></a:tc></a:tr></a:tbl>",
    )


def gradient(*colors: str) -> str:
    """A gradient of colors."""
    stops = "".join(f"<a:gs pos='0'>{solid(each)[13:-14]}</a:gs>" for each in colors)
    return f"<a:gradFill><a:gsLst>{stops}</a:gsLst></a:gradFill>"


def level(look: str) -> str:
    """What a list style says of its first level."""
    return f"<a:lvl1pPr><a:defRPr {look}</a:lvl1pPr>"


WHITE, BLUE = solid("FFFFFF"), solid("1F3864")
STYLE_ID = "<a:tableStyleId>{0}</a:tableStyleId>"
PLAIN_STYLE = "<a:tableStyleId>{2D5ABB26-0587-4C30-8999-92F81FD0307C}</a:tableStyleId>"
USUAL_STYLE = "<a:tableStyleId>{073A0DAA-6AF3-43AB-8588-CEC1D06C72B9}</a:tableStyleId>"
OWN_STYLE = "<a:tableStyleId>{OWN}</a:tableStyleId>"
LEVEL = f"<a:lstStyle>{level(f'>{WHITE}</a:defRPr>')}</a:lstStyle>"
PLAIN = "<a:p><a:r><a:t>b</a:t></a:r></a:p>"
WHOLE = (0, 0, 10, 7.5)
HALF = "<a:alpha val='50000'/>"
FORMULA = f"<a:p><a14:m><m:r><a:rPr>{WHITE}</a:rPr><m:t>b</m:t></m:r></a14:m></a:p>"
LINKED = run('<a:hlinkClick r:id="x"/>')
PATH = (
    '<a:custGeom><a:pathLst><a:path w="100" h="100"><a:moveTo><a:pt x="0" y="0"/></a:moveTo>'
    '<a:lnTo><a:pt x="{0}" y="{0}"/></a:lnTo></a:path></a:pathLst></a:custGeom>'
)
FRAME = '<a:prstGeom prst="frame"/>'

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
    "transparent step by step": (
        shape(run(solid("000000", '<a:alpha val="50000"/><a:alphaOff val="-50000"/>'))),
    ),
    "no fill": (shape(run("<a:noFill/>")),),
    "no fill and no outline": (shape(run("<a:ln><a:noFill/></a:ln><a:noFill/>")),),
    "an outline of no width": (shape(run(f"<a:ln w='1'>{BLUE}</a:ln>{WHITE}")),),
    "a gradient of white": (shape(run(gradient("FFFFFF", "FAFAFA"))),),
    "white by another name": (shape(run('<a:solidFill><a:prstClr val="snow"/></a:solidFill>')),),
    "white by its lightness": (
        shape(run('<a:solidFill><a:hslClr hue="0" sat="0" lum="100000"/></a:solidFill>')),
    ),
    "black turned round": (shape(run(solid("000000", "<a:inv/>"))),),
    "over a shape of its color": (shape("", BLUE), shape(run(BLUE))),
    "over a picture and a white shape": (
        picture((0, 0, 9, 7)), shape("", WHITE, (0, 0, 9, 7)), shape(run(WHITE)),
    ),
    "beside a dark shape": (shape("", BLUE, (5, 5, 1, 1)), shape(run(WHITE))),
    "beside a picture": (picture((5, 5, 1, 1)), shape(run(WHITE))),
    "white on a gradient of white": (shape(run(WHITE), gradient("FFFFFF", "FFFFFF")),),
    "in a plain table": (table(run(WHITE)),),
    "in a cell of its color": (table(run(BLUE), BLUE, STYLE_ID),),
    "in a table of a style that fills nothing": (table(run(WHITE), style=PLAIN_STYLE),),
    "in the color of a table's style": (table(run(BLUE), style=OWN_STYLE, first="1"),),
    "by a table's style on a white cell": (table(PLAIN, WHITE, OWN_STYLE, first="1"),),
    "by the font of its look": (
        shape(PLAIN, look="<p:style><a:fontRef idx='minor'><a:schemeClr val='lt1'/></a:fontRef>"
              "</p:style>"),
    ),
    "in the color of its group": (
        group(shape(run(BLUE), "<a:grpFill/>"), BLUE),
    ),
    "in the color of its background": (shape(run(WHITE), BLUE, own='useBgFill="1"'),),
    "a marker of its color": (shape(run(f"{BLUE}<a:highlight><a:srgbClr val='1F3864'/>"
                                        "</a:highlight>")),),
    "by its layout": (placeholder("body", "b", index=21),),
    "by its master": (placeholder("dt", "b"),),
    "by its master's style": (placeholder("title", "b"),),
    "in the color that its layout fills": (placeholder("body", run(BLUE), index=20),),
    "a formula": (shape(FORMULA),),
    "below a shape": (shape(PLAIN), shape("", BLUE, WHOLE)),
    "cells below a shape": (table(PLAIN), shape("", BLUE, WHOLE)),
    "cut off": (
        shape(PLAIN, at=(1, 1, 3, 0), settings='<a:bodyPr vertOverflow="clip"/>'),
    ),
    "letters on each other": (shape(run("", more='sz="1800" spc="-1800"')),),
}  # fmt: skip

MAYBE = {
    "white over a part of something dark": (shape("", BLUE, (0, 0, 2, 7)), shape(run(WHITE))),
    "white over a picture": (picture((0, 0, 9, 7)), shape(run(WHITE))),
    "white over a corner of a picture": (picture((0, 0, 1.1, 1.1)), shape(run(WHITE))),
    "white on a gradient": (shape(run(WHITE), gradient("FFFFFF", "1F3864")),),
    "white on a picture": (shape(run(WHITE), "<a:blipFill/>"),),
    "white on what the theme may fill": (
        shape(run(WHITE), look='<p:style><a:fillRef idx="9"/></p:style>'),
    ),
    "white in a table of an unknown style": (table(run(WHITE), style=STYLE_ID),),
    "white with an outline": (shape(run(f"<a:ln>{BLUE}</a:ln>{WHITE}")),),
    "white with a shadow": (
        shape(run(f"{WHITE}<a:effectLst><a:outerShdw/></a:effectLst>")),
    ),
    "white in a dark frame": (shape(run(WHITE), BLUE, form=FRAME),),
    "white over a dark frame": (shape("", BLUE, WHOLE, form=FRAME), shape(run(WHITE))),
    "white on a small path": (shape(run(WHITE), BLUE, form=PATH.format(5)),),
    "below a picture": (shape(PLAIN), picture(WHOLE)),
    "over a dark shape without a place": (shape("", BLUE, where=" "), shape(run(WHITE))),
    "cells over a dark shape without a place": (
        shape("", BLUE, where=" "), table(run(WHITE))),
}  # fmt: skip

SEEN = {
    "white on a dark shape": (shape(run(WHITE), BLUE),),
    "the theme's background on dark": (shape(run(solid("bg1")), solid("tx2")),),
    "white over a dark shape": (shape("", BLUE, (0, 0, 9, 7)), shape(run(WHITE))),
    "white over two halves": (
        shape("", BLUE, (0, 0, 2.5, 7)), shape("", BLUE, (2.5, 0, 3, 7)), shape(run(WHITE)),
    ),
    "white over a dark veil over a picture": (
        picture(WHOLE), shape("", solid("000000", HALF), WHOLE), shape(run(WHITE)),
    ),
    "white on a dark gradient": (shape(run(WHITE), gradient("1F3864", "000000")),),
    "white on a large path": (shape(run(WHITE), BLUE, form=PATH.format(95)),),
    "black over a picture": (picture((0, 0, 9, 7)), shape(run(solid("000000")))),
    "white on what the theme fills": (
        shape(run(WHITE), look='<p:style><a:fillRef idx="1"><a:schemeClr val="dk2"/></a:fillRef>'
              "</p:style>"),
    ),
    "white by the font of its look": (
        shape(PLAIN, BLUE, look="<p:style><a:fontRef idx='minor'><a:schemeClr val='lt1'/>"
              "</a:fontRef></p:style>"),
    ),
    "white in a dark cell": (table(run(WHITE), BLUE),),
    "white in the first row of the usual style": (table(run(WHITE), style=USUAL_STYLE, first="1"),),
    "white by a table's style": (table(PLAIN, style=OWN_STYLE, first="1"),),
    "its own color before its shape's": (shape(run(BLUE), styles=LEVEL),),
    "an outline": (shape(run(f"<a:ln>{BLUE}</a:ln><a:noFill/>")),),
    "grey": (shape(run(solid("BFBFBF"))),),
    "half transparent": (shape(run(solid("000000", HALF))),),
    "what is inherited": (shape(PLAIN),),
    "a link": (shape(LINKED),),
    "white under a marker": (shape(run(f"{WHITE}<a:highlight><a:srgbClr val='1F3864'/>"
                                       "</a:highlight>")),),
    "white in a dark group": (group(shape(run(WHITE), "<a:grpFill/>"), BLUE),),
    "white where its layout fills": (placeholder("body", run(WHITE), index=20),),
    "below a veil": (shape(PLAIN), shape("", solid("000000", HALF), WHOLE)),
    "below a part of a shape": (shape(PLAIN), shape("", BLUE, (0, 0, 2, 7))),
    "below a frame": (shape(PLAIN), shape("", BLUE, WHOLE, form=FRAME)),
    "over a shape": (shape("", BLUE, WHOLE), shape(run(WHITE))),
    "closer letters": (shape(run("", more='sz="1800" spc="-150"')),),
}  # fmt: skip

_LEVEL_WHITE = level(f">{WHITE}</a:defRPr>")
LAYOUT = (
    f"<p:sldLayout {NAMES}><p:cSld><p:spTree>"
    + placeholder("body", "-", index=20).replace("<p:spPr>", f"<p:spPr>{box(1, 1, 3, 1)}{BLUE}")
    + placeholder("body", "-", index=21).replace(
        "<a:bodyPr/>", f"<a:bodyPr/><a:lstStyle>{_LEVEL_WHITE}</a:lstStyle>")
    + placeholder("dt") + "</p:spTree></p:cSld></p:sldLayout>"
)  # fmt: skip
MASTER = (
    placeholder("title").replace("<p:spPr>", f"<p:spPr>{box(1, 1, 3, 1)}")
    + placeholder("dt").replace(
        "<a:bodyPr/>", f"<a:bodyPr/><a:lstStyle>{_LEVEL_WHITE}</a:lstStyle>")
)  # fmt: skip
TABLE_STYLES = (
    f'<a:tblStyleLst {NAMES}><a:tblStyle styleId="{{OWN}}"><a:wholeTbl><a:tcStyle/></a:wholeTbl>'
    '<a:firstRow><a:tcTxStyle><a:schemeClr val="lt1"/></a:tcTxStyle>'
    f"<a:tcStyle><a:fill>{BLUE}</a:fill></a:tcStyle></a:firstRow></a:tblStyle></a:tblStyleLst>"
)
MAIN = relations(
    ("m", "slideMaster", "masters/m.xml"), ("s0", "slide", "slides/s0.xml"),
    ("ts", "tableStyles", "ts.xml"),
)  # fmt: skip


def text_of(
    folder: Path, shapes: tuple[str, ...], mapping: str = USUAL, ground: str = "", **more: str
) -> str:
    """What is read of a slide of shapes; `more` are other parts, and what follows its shapes."""
    bg = f"<p:bg>{ground}</p:bg>" if ground else ""
    master = (
        f"<p:sldMaster {NAMES}><p:cSld>{bg}<p:spTree>{MASTER}{more.get('drawn', '')}</p:spTree>"
        f"</p:cSld><p:clrMap {mapping}/><p:txStyles><p:titleStyle>{_LEVEL_WHITE}</p:titleStyle>"
        "</p:txStyles></p:sldMaster>"
    )
    parts = {
        "ppt/t.xml": THEME, "ppt/masters/m.xml": master, "ppt/ts.xml": TABLE_STYLES,
        "ppt/l.xml": more.get("layout", LAYOUT), "ppt/_rels/presentation.xml.rels":
        f"<Relationships xmlns='{PACKAGE}/relationships'>{MAIN}</Relationships>",
    }  # fmt: skip
    slide = slide_xml(*shapes).replace("</p:cSld>", f"</p:cSld>{more.get('after', '')}")
    found = deck(folder, [slide], parts=parts, more=more.get("main", ""))
    return FORMAT.read(found, Region(slide_index=0)).text


@pytest.mark.parametrize("which", HIDDEN)
@pytest.mark.sampled(3)
def test_what_nobody_sees_is_labeled(which: str, tmp_path: Path) -> None:
    """By its own color or its shape's, against fills, shapes below and the background."""
    assert "[hidden: b]" in text_of(tmp_path, HIDDEN[which])


@pytest.mark.parametrize("which", MAYBE)
@pytest.mark.sampled(3)
def test_what_may_be_hidden_is_labeled_as_such(which: str, tmp_path: Path) -> None:
    """Where something lies between that is not looked into, or covers a part alone."""
    assert "[maybe hidden: b]" in text_of(tmp_path, MAYBE[which])


@pytest.mark.parametrize("which", SEEN)
@pytest.mark.sampled(3)
def test_what_is_seen_is_not_labeled(which: str, tmp_path: Path) -> None:
    """White letters on something dark, wherever that comes from."""
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


def test_a_background_that_is_not_known_may_hide(tmp_path: Path) -> None:
    """A picture, a gradient, the theme's second background: white may be hidden, black is not."""
    white, black = (shape(run(WHITE)),), (shape(run(solid("000000"))),)
    for ground in (
        "<p:bgPr><a:blipFill/></p:bgPr>", "<p:bgPr><a:gradFill/></p:bgPr>",
        '<p:bgRef idx="1002"><a:schemeClr val="bg1"/></p:bgRef>',
    ):  # fmt: skip
        assert "[maybe hidden: b]" in text_of(tmp_path, white, USUAL, ground)
        assert "hidden" not in text_of(tmp_path, black, USUAL, ground)
    dark = f"<p:bgPr>{BLUE}</p:bgPr>"
    assert "hidden" not in text_of(tmp_path, white, USUAL, dark)
    assert "[hidden: b]" in text_of(tmp_path, (shape(run(BLUE)),), USUAL, dark)


def test_what_the_master_draws_counts_where_it_is_shown(tmp_path: Path) -> None:
    """A dark shape of the master is behind white letters, unless the layout leaves it out."""
    dark, white = shape("", BLUE, WHOLE), (shape(run(WHITE)),)
    bare = LAYOUT.replace("<p:sldLayout ", '<p:sldLayout showMasterSp="0" ')
    assert "hidden" not in text_of(tmp_path, white, drawn=dark)
    assert "[hidden: b]" in text_of(tmp_path, white, drawn=dark, layout=bare)


def test_the_presentation_tells_of_text_that_nothing_else_tells_of(tmp_path: Path) -> None:
    """Colors and sizes of its default style; a size that shrinks to fit counts as shrunk."""
    style = f"<p:defaultTextStyle>{_LEVEL_WHITE}</p:defaultTextStyle>"
    assert "[hidden: b]" in text_of(tmp_path, (shape(PLAIN),), main=style)
    assert "hidden" not in text_of(tmp_path, (shape(PLAIN, BLUE),), main=style)
    small = f"<p:defaultTextStyle>{level('sz=' + repr('100') + '/>')}</p:defaultTextStyle>"
    assert "[tiny: b]" in text_of(tmp_path, (shape(PLAIN),), main=small)
    shrunk = '<a:bodyPr><a:normAutofit fontScale="5000"/></a:bodyPr>'
    assert "[tiny: b]" in text_of(tmp_path, (shape(PLAIN, settings=shrunk),))


def test_what_a_show_moves_may_be_covered(tmp_path: Path) -> None:
    """With animations a shape may lie over another one for a while only."""
    shapes = (shape(PLAIN), shape("", BLUE, WHOLE))
    assert "[maybe hidden: b]" in text_of(tmp_path, shapes, after="<p:timing/>")


def test_groups_hide_and_move_what_is_in_them(tmp_path: Path) -> None:
    """A hidden group, one that is turned or scaled out of the slide, one farther than anything."""
    inner = shape(PLAIN, at=(1, 1, 1, 1))
    hidden = group(inner, box(1, 1, 1, 1)).replace('name="Group"', 'name="Group" hidden="1"')
    assert "[hidden] b" in text_of(tmp_path, (hidden,))
    wide = (
        box(0, 3, 10, 1)
        .replace("</a:xfrm>", '<a:chOff x="{0}" y="{1}"/><a:chExt cx="{2}" cy="{3}"/></a:xfrm>')
        .format(0, 3 * EMU, 10 * EMU, EMU)
    )
    turned = wide.replace("<a:xfrm>", '<a:xfrm rot="5400000">')
    low = shape(PLAIN, at=(9, 3, 1, 1))
    assert "Outside of the slide:\nb" in text_of(tmp_path, (group(low, turned),))
    inside = shape(PLAIN, at=(4.5, 3, 1, 1))
    assert "Outside" not in text_of(tmp_path, (group(low, wide),))
    assert "Outside" not in text_of(tmp_path, (group(inside, turned),))
    far = '<a:xfrm><a:off x="27000000000000" y="0"/><a:ext cx="900000" cy="900000"/></a:xfrm>'
    assert "Outside of the slide:\nb" in text_of(tmp_path, (shape(PLAIN, where=far),))


def test_runs_that_touch_come_under_one_label(tmp_path: Path) -> None:
    """A sentence that is cut into runs is read as one."""
    cut = "<a:p>" + "".join(run(WHITE, each)[5:-6] for each in ("ab", "cd")) + "</a:p>"
    assert "[hidden: abcd]" in text_of(tmp_path, (shape(cut),))

"""Text of a document in the color of what is behind it, or too small, is labeled; other is not."""

from pathlib import Path
from zipfile import ZipFile

import pytest

from kbd.formats import Region, Source
from kbd_docx import DocxFormat
from made_documents import made

FORMAT = DocxFormat()
A = "http://schemas.openxmlformats.org/drawingml/2006/main"
SCHEME = (
    '<a:dk1><a:srgbClr val="101010"/></a:dk1><a:lt1><a:srgbClr val="FFFFFF"/></a:lt1>'
    '<a:dk2><a:srgbClr val="1F3864"/></a:dk2><a:lt2><a:srgbClr val="E7E6E6"/></a:lt2>'
)
WHITE = '<w:color w:val="FFFFFF"/>'
PAPER = '<w:color w:val="000000" w:themeColor="background1"/>'
DARK = '<w:shd w:val="clear" w:color="auto" w:fill="1F3864"/>'
BLUE = '<a:solidFill><a:srgbClr val="1F3864"/></a:solidFill>'
FIRST = '<w:tblLook w:val="0020"/>'
BEHIND = (
    '<w:p><w:r><w:pict><v:rect xmlns:v="urn:schemas-microsoft-com:vml" style="z-index:-5"/>'
    "</w:pict></w:r></w:p>"
)
FAR = 40_000_000
LIT = "<wps:style><a:fontRef idx='minor'><a:schemeClr val='lt1'/></a:fontRef></wps:style>"
FILLED = '<wps:style><a:fillRef idx="{0}"><a:schemeClr val="dk2"/></a:fillRef></wps:style>'


def p(look: str = "", settings: str = "", text: str = "b") -> str:
    """A paragraph of one run."""
    run = f"<w:r><w:rPr>{look}</w:rPr><w:t>{text}</w:t></w:r>"
    return f"<w:p><w:pPr>{settings}</w:pPr>{run}</w:p>"


def filled(fill: str) -> str:
    """What fills letters in newer programs."""
    space = "http://schemas.microsoft.com/office/word/2010/wordml"
    return f'<w:color w:val="000000"/><w14:textFill xmlns:w14="{space}">{fill}</w14:textFill>'


def table(inside: str, cell: str = "", own: str = "", row: str = "") -> str:
    """A table of one cell."""
    return (
        f"<w:tbl><w:tblPr>{own}</w:tblPr><w:tr><w:trPr>{row}</w:trPr><w:tc><w:tcPr>{cell}</w:tcPr>"
        f"{inside}</w:tc></w:tr></w:tbl>"
    )


def drawing(inside: str, more: str = "", **named: str) -> str:
    """A drawing beside the text; `more` stands before what is drawn."""
    size = named.get("size", 'cx="900000" cy="900000"')
    return (
        f"<w:p><w:r><w:drawing><wp:anchor {named.get('own', '')}>{more}<wp:extent {size}/>"
        f"<wp:docPr id='1' name='x' {named.get('marks', '')}/><a:graphic><a:graphicData>{inside}"
        "</a:graphicData></a:graphic></wp:anchor></w:drawing></w:r></w:p>"
    )


def shape(inside: str, fill: str = "", look: str = "", where: str = "") -> str:
    """A shape with a text box in it."""
    return (
        f"<wps:wsp><wps:spPr>{where}{fill}</wps:spPr>{look}<wps:txbx><w:txbxContent>{inside}"
        "</w:txbxContent></wps:txbx><wps:bodyPr/></wps:wsp>"
    )


def group(*shapes: str) -> str:
    """Shapes in one group."""
    space = "http://schemas.microsoft.com/office/word/2010/wordprocessingGroup"
    return f'<wpg:wgp xmlns:wpg="{space}"><wpg:grpSpPr/>{"".join(shapes)}</wpg:wgp>'


def at(x: int, y: int, width: int = 900_000, height: int = 900_000) -> str:
    """Where a shape of a group is."""
    return f'<a:xfrm><a:off x="{x}" y="{y}"/><a:ext cx="{width}" cy="{height}"/></a:xfrm>'


def away(way: str, offset: int, origin: str = "page") -> str:
    """How far something is anchored from somewhere."""
    return (
        f'<wp:position{way} relativeFrom="{origin}"><wp:posOffset>{offset}</wp:posOffset>'
        f"</wp:position{way}>"
    )


def vector(inside: str, style: str = "", own: str = "", fill: str = "") -> str:
    """A text box of VML."""
    return (
        f'<w:p><w:r><w:pict><v:shape style="{style}" {own}>{fill}<v:textbox><w:txbxContent>{inside}'
        "</w:txbxContent></v:textbox></v:shape></w:pict></w:r></w:p>"
    )


def solid(color: str) -> str:
    """A fill of one color, of RRGGBB or of the theme."""
    kind = "srgbClr" if len(color) == 6 else "schemeClr"
    return f'<a:solidFill><a:{kind} val="{color}"/></a:solidFill>'


def style(key: str, look: str = "", settings: str = "", kind: str = "paragraph") -> str:
    """A style."""
    return (
        f'<w:style w:type="{kind}" w:styleId="{key}"><w:name w:val="{key}"/>'
        f"<w:pPr>{settings}</w:pPr><w:rPr>{look}</w:rPr></w:style>"
    )


STYLES = (
    style("Pale", WHITE) + style("Head", WHITE, DARK) + style("Ghost", PAPER, kind="character")
    + style("Mite", '<w:sz w:val="2"/>') + style("Heir", "", "").replace(
        "<w:pPr>", '<w:basedOn w:val="Pale"/><w:pPr>')
    + '<w:style w:type="table" w:styleId="Grid"><w:name w:val="Grid"/></w:style>'
    + '<w:style w:type="table" w:styleId="Deep"><w:name w:val="Deep"/><w:tblStylePr '
    f'w:type="firstRow"><w:tcPr>{DARK}</w:tcPr></w:tblStylePr></w:style>'
    + '<w:style w:type="table" w:styleId="Pitch"><w:name w:val="Pitch"/><w:tblStylePr '
    f'w:type="firstRow"><w:rPr>{WHITE}</w:rPr><w:tcPr>{DARK}</w:tcPr></w:tblStylePr></w:style>'
    + style("Low", settings='<w:spacing w:line="1" w:lineRule="exact"/>')
    + style("Far", settings='<w:framePr w:x="-31000" w:w="500" w:hAnchor="page"/>')
    + style("Gone", "<w:vanish/>", kind="character")
    + '<w:style><w:name w:val="nameless"/><w:rPr><w:sz w:val="2"/></w:rPr></w:style>'
)  # fmt: skip


def named(key: str) -> str:
    """What names a paragraph's style."""
    return f'<w:pStyle w:val="{key}"/>'


def of_table(key: str) -> str:
    """What names a table's style."""
    return f'<w:tblStyle w:val="{key}"/>'


HIDDEN = {
    "nearly white": p('<w:color w:val="F3F3F3"/>'),
    "the theme's paper": p(PAPER),
    "the theme's paper, automatic": p('<w:color w:val="auto" w:themeColor="background1"/>'),
    "the theme's light": p('<w:color w:val="000000" w:themeColor="light1"/>'),
    "ink made paper": p('<w:color w:val="000000" w:themeColor="text1" w:themeTint="00"/>'),
    "in the color of its shading": p('<w:color w:val="1F3864"/>' + DARK),
    "in the theme's color of its shading": p(
        '<w:color w:val="FF0000" w:themeColor="text2"/>'
        '<w:shd w:val="clear" w:fill="FFFF00" w:themeFill="text2"/>'
    ),
    "in the color of its paragraph": p('<w:color w:val="1F3864"/>', DARK),
    "in the color of a marker": p('<w:color w:val="FFFF00"/><w:highlight w:val="yellow"/>'),
    "white under a white marker": p(WHITE + '<w:highlight w:val="white"/>'),
    "white on a solid white": p(WHITE + '<w:shd w:val="solid" w:color="FFFFFF" w:fill="000000"/>'),
    "by its paragraph's style": p("", named("Pale")),
    "by a style above": p("", named("Heir")),
    "by its own style": p('<w:rStyle w:val="Ghost"/>'),
    "tiny by a style": p("", named("Mite")),
    "white in a plain table": table(p(WHITE)),
    "white in a table of a plain style": table(p(WHITE), own=of_table("Grid")),
    "in the color of its cell": table(p('<w:color w:val="1F3864"/>'), DARK),
    "white in a white cell of a dark table": table(
        p(WHITE), '<w:shd w:val="clear" w:fill="FFFFFF"/>', of_table("Deep")
    ),
    "in the color of a table's style": table(
        p('<w:color w:val="1F3864"/>'), own=of_table("Deep") + FIRST
    ),
    "by a table's style on a white cell": table(
        p(), '<w:shd w:val="clear" w:fill="FFFFFF"/>', of_table("Pitch") + FIRST
    ),
    "white on dots of white": p(WHITE + '<w:shd w:val="pct5" w:color="FFFFFF" w:fill="FFFFFF"/>'),
    "a letter of a color as a number": p('<w:color w:val="&#70;FFFFF"/>'),
    "a size with a zero before": p('<w:sz w:val="02"/>'),
    "by its own style, not shown": p('<w:rStyle w:val="Gone"/>'),
    "as the end of a paragraph is": p("<w:specVanish/>"),
    "letters without a fill": p(filled("<w14:noFill/>")),
    "letters that let all through": p(
        filled(
            '<w14:solidFill><w14:srgbClr w14:val="000000"><w14:alpha w14:val="100000"/>'
            "</w14:srgbClr></w14:solidFill>"
        )
    ),
    "letters filled in white": p(
        filled('<w14:solidFill><w14:srgbClr w14:val="FFFFFF"/></w14:solidFill>')
    ),
    "letters filled in the theme's light": p(
        filled('<w14:solidFill><w14:schemeClr w14:val="bg1"/></w14:solidFill>')
    ),
    "narrow letters": p('<w:w w:val="1"/>'),
    "letters on each other": p('<w:spacing w:val="-300"/>'),
    "in a low line": p("", '<w:spacing w:line="1" w:lineRule="exact"/>'),
    "in a low line by a style": p("", named("Low")),
    "in a low row": table(p(), row='<w:trHeight w:val="1" w:hRule="exact"/>'),
    "in a low frame": p("", '<w:framePr w:w="500" w:h="1" w:hRule="exact"/>'),
    "in a frame beside the page": p("", '<w:framePr w:x="-2000" w:w="500" w:hAnchor="page"/>'),
    "in a frame of a style": p("", named("Far")),
    "in a table beside the page": table(p(), own='<w:tblpPr w:tblpX="31000"/>'),
    "in a box without a fill": drawing(shape(p(WHITE))),
    "in a white box": drawing(shape(p(WHITE), solid("FFFFFF"))),
    "in the color of its box": drawing(shape(p('<w:color w:val="1F3864"/>'), BLUE)),
    "by the look of a box": drawing(shape(p(), look=LIT)),
    "in a white box over a drawing": BEHIND + drawing(shape(p(WHITE), solid("FFFFFF"))),
    "in the color of the group's": drawing(
        group(
            shape("", BLUE, where=at(0, 0)), shape(p('<w:color w:val="1F3864"/>'), where=at(0, 0))
        )
    ),
    "in a box that is not shown": drawing(shape(p()), marks='hidden="1"'),
    "in a box beside the page": drawing(shape(p()), away("H", FAR)),
    "in a box before the page": drawing(shape(p()), away("H", -1_000_000)),
    "in a box below the page": drawing(shape(p()), away("V", FAR, "paragraph")),
    "in a box at a simple place": drawing(
        shape(p()), f'<wp:simplePos x="{FAR}" y="0"/>', own='simplePos="1"'
    ),
    "in a box far in its group": drawing(group(shape(p(), where=at(FAR, 0)))),
    "in a flat box": drawing(shape(p()), size='cx="900000" cy="1"'),
    "in a white box of VML": vector(p(WHITE)),
    "in the color of its box of VML": vector(
        p('<w:color w:val="1F3864"/>'), own="fillcolor='#1f3864'"
    ),
    "in an open box of VML": vector(p(WHITE), own="filled='f'"),
    "in a box of VML that is not shown": vector(p(), "visibility:hidden"),
    "in a box of VML beside the page": vector(p(), "position:absolute;margin-left:-9000pt"),
}

MAYBE = {
    "white before a drawing": BEHIND + p(WHITE),
    "white in a table before a drawing": BEHIND + table(p(WHITE)),
    "white in a box before a drawing": BEHIND + drawing(shape(p(WHITE))),
    "white in one box of two": drawing(shape(p(WHITE))) + drawing(shape(p())),
    "white on stripes": p(WHITE + '<w:shd w:val="diagStripe" w:color="000000" w:fill="FFFFFF"/>'),
    "white in a table that tells no parts": table(p(WHITE), own=of_table("Deep")),
    "white in a box of a gradient": drawing(shape(p(WHITE), "<a:gradFill/>")),
    "white in a box that the theme may fill": drawing(shape(p(WHITE), look=FILLED.format(9))),
    "white over a part of a group": drawing(
        group(shape("", BLUE, where=at(0, 0, 300_000)), shape(p(WHITE), where=at(0, 0)))
    ),
    "white in a box of VML with a picture": vector(p(WHITE), fill='<v:fill type="frame"/>'),
    "beside the margin": drawing(shape(p()), away("H", -2_000_000, "column")),
    "raised": p('<w:position w:val="2000"/>'),
    "indented by a page": p("", '<w:ind w:left="31000"/>'),
}

SEEN = {
    "white on dark": p(WHITE + DARK),
    "the theme's paper on dark": p(PAPER, DARK),
    "white by a style that shades": p("", named("Head")),
    "white in a dark cell": table(p(WHITE), DARK),
    "white in a cell of the theme's": table(
        p(PAPER), '<w:shd w:val="clear" w:fill="auto" w:themeFill="text2"/>'
    ),
    "white in a table of a dark style": table(p(WHITE), own=of_table("Deep") + FIRST),
    "white by a table's style": table(p(), own=of_table("Pitch") + FIRST),
    "white in a dark box": drawing(shape(p(WHITE), BLUE)),
    "white in a box of the theme's": drawing(shape(p(PAPER), solid("tx2"))),
    "white by the look of a dark box": drawing(shape(p(), BLUE, LIT)),
    "white in a box that the theme fills": drawing(shape(p(WHITE), look=FILLED.format(1))),
    "white over a dark shape of a group": drawing(
        group(shape("", BLUE, where=at(0, 0)), shape(p(WHITE), where=at(0, 0)))
    ),
    "white in a dark box of VML": vector(p(WHITE), own="fillcolor='#1f3864 [3215]'"),
    "a white run that holds a box": (
        f"<w:p><w:r><w:rPr>{WHITE}</w:rPr>" + drawing(shape(p()))[len("<w:p><w:r>") :]
    ),
    "in a box that is aligned": vector(
        p(), "position:absolute;margin-left:3258pt;mso-position-horizontal:right"
    ),
    "in a box in the margin": drawing(shape(p()), away("H", -500_000, "column")),
    "left out of the web": p("<w:webHidden/>"),
    "letters filled in black": p(
        filled('<w14:solidFill><w14:srgbClr w14:val="000000"/></w14:solidFill>')
    ),
    "narrower letters": p('<w:w w:val="80"/>'),
    "closer letters": p('<w:spacing w:val="-20"/>'),
    "in a low line that may grow": p("", '<w:spacing w:line="1" w:lineRule="atLeast"/>'),
    "in a frame": p("", '<w:framePr w:w="500" w:x="700" w:hAnchor="page"/>'),
    "a style in white in a dark cell": table(p("", named("Pale")), DARK),
    "its own color before its style's": p('<w:color w:val="C00000"/>', named("Pale")),
    "automatic on black": p('<w:shd w:val="clear" w:fill="000000"/>'),
    "white on dots": p(WHITE + '<w:shd w:val="pct50" w:color="000000" w:fill="FFFFFF"/>'),
    "grey": p('<w:color w:val="BFBFBF"/>'),
    "paper made grey": p('<w:color w:val="808080" w:themeColor="background1" w:themeShade="80"/>'),
    "plain": p(),
}


def text_of(folder: Path, body: str, **parts: str) -> str:
    """What is read of a document with some body."""
    theme = f'<a:theme xmlns:a="{A}"><a:themeElements><a:clrScheme name="x">{SCHEME}</a:clrScheme>'
    path = made(folder / "a.docx", p(text="a") + body, {"styles": STYLES, **parts})
    fills = f"<a:fmtScheme><a:fillStyleLst>{solid('phClr')}</a:fillStyleLst></a:fmtScheme>"
    with_theme(path, f"{theme}{fills}</a:themeElements></a:theme>")
    return FORMAT.read(Source(path, "a.docx"), Region()).text


def with_theme(path: Path, theme: str) -> None:
    """Add the part with a theme to a document."""
    relation = (
        '<Relationship Id="rtheme" Type="http://schemas.openxmlformats.org/officeDocument/2006/'
        'relationships/theme" Target="theme1.xml"/></Relationships>'
    )
    with ZipFile(path) as file:
        held = {name: file.read(name) for name in file.namelist()}
    name = "word/_rels/document.xml.rels"
    held[name] = held[name].replace(b"</Relationships>", relation.encode())
    held["word/theme1.xml"] = theme.encode()
    with ZipFile(path, "w") as file:
        for name, data in held.items():
            file.writestr(name, data)


@pytest.mark.parametrize("which", HIDDEN)
@pytest.mark.sampled(3)
def test_what_nobody_sees_is_labeled(which: str, tmp_path: Path) -> None:
    """By its own color, a style's or the theme's, against what is behind it."""
    assert "[hidden: b]" in text_of(tmp_path, HIDDEN[which])


@pytest.mark.parametrize("which", MAYBE)
@pytest.mark.sampled(3)
def test_what_may_be_hidden_is_labeled_as_such(which: str, tmp_path: Path) -> None:
    """Where a drawing may lie between, or where a text is depends on what is not looked into."""
    assert "[maybe hidden: b]" in text_of(tmp_path, MAYBE[which])


@pytest.mark.parametrize("which", SEEN)
@pytest.mark.sampled(3)
def test_what_is_seen_is_not_labeled(which: str, tmp_path: Path) -> None:
    """White letters in a dark header, above all."""
    text = text_of(tmp_path, SEEN[which])
    assert "b" in text
    assert "hidden" not in text


def test_the_names_of_colors_are_those_of_the_settings(tmp_path: Path) -> None:
    """A document may have its paper named otherwise."""
    swapped = '<w:clrSchemeMapping w:bg1="dark1" w:t1="light1"/>'
    ink = p('<w:color w:val="000000" w:themeColor="text1"/>')
    assert "[hidden: b]" in text_of(tmp_path, ink, settings=swapped)
    assert "hidden" not in text_of(tmp_path, p(PAPER), settings=swapped)


def test_pages_of_another_color_are_what_is_behind(tmp_path: Path) -> None:
    """If they are shown: white is seen there, and text of their color is not."""
    shown = "<w:displayBackgroundShape/>"
    dark = p('<w:color w:val="1F3864"/>')

    def read(body: str, **parts: str) -> str:
        path = made(tmp_path / "a.docx", p(text="a") + body, parts)
        with ZipFile(path) as file:
            held = {name: file.read(name) for name in file.namelist()}
        body_at = b"<w:body>"
        held["word/document.xml"] = held["word/document.xml"].replace(
            body_at, b'<w:background w:color="1F3864"/>' + body_at
        )
        with ZipFile(path, "w") as file:
            for name, data in held.items():
                file.writestr(name, data)
        return FORMAT.read(Source(path, "a.docx"), Region()).text

    assert "[hidden: b]" in read(dark, settings=shown)
    assert "hidden" not in read(p(WHITE), settings=shown)
    assert "hidden" not in read(dark)
    assert "[hidden: b]" in read(p(WHITE))


def test_a_drawing_of_a_header_lies_behind_all_pages(tmp_path: Path) -> None:
    """So white text may stand on it; the reading says what the label means."""
    read = FORMAT.read(
        Source(made(tmp_path / "a.docx", p(WHITE), {"header1": BEHIND}), "a.docx"), Region()
    )
    assert "[maybe hidden: b]" in read.text
    assert any("[maybe hidden: …]" in warning for warning in read.warnings)


def test_a_formula_in_the_color_of_the_page_is_labeled(tmp_path: Path) -> None:
    """A formula may hold any words."""
    formula = "<w:p><m:oMath><m:r>{}<m:t>b</m:t></m:r></m:oMath></w:p>"
    assert "[hidden: b]" in text_of(tmp_path, formula.format(f"<w:rPr>{WHITE}</w:rPr>"))
    assert "hidden" not in text_of(tmp_path, formula.format(""))


def test_text_that_the_defaults_leave_out_is_labeled(tmp_path: Path) -> None:
    """What is said of all text counts for styles that say nothing, and without any style."""
    usual = "<w:docDefaults><w:rPrDefault><w:rPr><w:vanish/></w:rPr></w:rPrDefault></w:docDefaults>"
    for styles in (usual, usual + style("Plain")):
        body = p("", named("Plain"))
        path = made(tmp_path / "a.docx", body, {"styles": styles})
        assert "[hidden: b]" in FORMAT.read(Source(path, "a.docx"), Region()).text


def test_what_a_file_holds_beside_does_not_take_the_label_off(tmp_path: Path) -> None:
    """A search in the bytes spares most documents a look at each run; it finds each of these."""
    for which, body in HIDDEN.items():
        if 'Style w:val="' not in body:
            assert "[hidden: b]" in text_of(tmp_path, body, styles=""), which


def test_no_spelling_of_a_file_takes_the_label_off(tmp_path: Path) -> None:
    """What a quick search in the bytes does not find is looked for run by run."""
    path = made(tmp_path / "a.docx", p('<w:color w:val="FFFFFF"/>'))
    with ZipFile(path) as file:
        held = {name: file.read(name) for name in file.namelist()}
    text = held["word/document.xml"].decode()
    for encoding in ("utf-8", "utf-16"):
        coded = f'<?xml version="1.0" encoding="{encoding}"?>{text}'.encode(encoding)
        with ZipFile(path, "w") as file:
            for name, data in {**held, "word/document.xml": coded}.items():
                file.writestr(name, data)
        assert "[hidden: b]" in FORMAT.read(Source(path, "a.docx"), Region()).text

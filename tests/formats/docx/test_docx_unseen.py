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


def p(look: str = "", settings: str = "", text: str = "b") -> str:
    """A paragraph of one run."""
    run = f"<w:r><w:rPr>{look}</w:rPr><w:t>{text}</w:t></w:r>"
    return f"<w:p><w:pPr>{settings}</w:pPr>{run}</w:p>"


def table(inside: str, cell: str = "", own: str = "") -> str:
    """A table of one cell."""
    return (
        f"<w:tbl><w:tblPr>{own}</w:tblPr><w:tr><w:tc><w:tcPr>{cell}</w:tcPr>{inside}</w:tc></w:tr>"
        "</w:tbl>"
    )


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
    + '<w:style><w:name w:val="nameless"/><w:rPr><w:sz w:val="2"/></w:rPr></w:style>'
)  # fmt: skip


def named(key: str) -> str:
    """What names a paragraph's style."""
    return f'<w:pStyle w:val="{key}"/>'


def of_table(key: str) -> str:
    """What names a table's style."""
    return f'<w:tblStyle w:val="{key}"/>'


HIDDEN = {
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
}

SEEN = {
    "white on dark": p(WHITE + DARK),
    "the theme's paper on dark": p(PAPER, DARK),
    "white by a style that shades": p("", named("Head")),
    "white in a dark cell": table(p(WHITE), DARK),
    "white in a cell of the theme's": table(
        p(PAPER), '<w:shd w:val="clear" w:fill="auto" w:themeFill="text2"/>'
    ),
    "white in a table of a dark style": table(p(WHITE), own=of_table("Deep")),
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
    with_theme(path, f"{theme}</a:themeElements></a:theme>")
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


def test_a_drawing_may_lie_behind_a_table(tmp_path: Path) -> None:
    """Calendars and forms are made so; text beside tables is compared with the page as ever."""
    drawn = '<v:rect xmlns:v="urn:schemas-microsoft-com:vml" style="z-index:-5"/>'
    shape = f"<w:p><w:r><w:pict>{drawn}</w:pict></w:r></w:p>"
    assert "hidden" not in text_of(tmp_path, shape + table(p(WHITE)))
    assert "[hidden: b]" in text_of(tmp_path, shape + p(WHITE))

"""OpenDocument presentations written by hand."""

import zipfile
from pathlib import Path

__all__ = [
    "box",
    "deck_content",
    "deck_file",
    "deck_styles",
    "flat_deck",
    "placeholder",
    "rich_deck_file",
    "slide",
]

_LINKS = 'xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dc="http://purl.org/dc/elements/1.1/"'
_SPACES = _LINKS + "".join(
    f' xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for prefix, name in (
        ("office", "office"), ("text", "text"), ("table", "table"), ("draw", "drawing"),
        ("style", "style"), ("svg", "svg-compatible"), ("meta", "meta"), ("manifest", "manifest"),
        ("presentation", "presentation"), ("chart", "chart"), ("fo", "xsl-fo-compatible"),
        ("script", "script"),
    )
)  # fmt: skip
_KIND = "application/vnd.oasis.opendocument.presentation"


def slide(shapes: str, name: str = "", *, style: str = "", more: str = "") -> str:
    """A slide; `more` are attributes."""
    named = f' draw:name="{name}"' if name else ""
    styled = f' draw:style-name="{style}"' if style else ""
    return f'<draw:page{named}{styled} draw:master-page-name="M1"{more}>{shapes}</draw:page>'


def placeholder(kind: str, text: str, *, more: str = "", at: str = "1in") -> str:
    """A placeholder with a paragraph; without a text it is empty, and asks for one."""
    empty = "" if text else ' presentation:placeholder="true"'
    body = f"<text:p>{text}</text:p>" if text else ""
    return (
        f'<draw:frame presentation:class="{kind}"{empty} svg:x="1in" svg:y="{at}" svg:width="8in" '
        f'svg:height="1in"{more}><draw:text-box>{body}</draw:text-box></draw:frame>'
    )


def box(name: str, content: str, *, more: str = "", at: str = "2in") -> str:
    """A box with paragraphs or something else in it."""
    return (
        f'<draw:frame draw:name="{name}" svg:x="1in" svg:y="{at}" svg:width="2in" '
        f'svg:height="1in"{more}>{content}</draw:frame>'
    )


def deck_content(slides: str, automatic: str = "") -> str:
    """The part of the contents, with automatic styles."""
    return (
        f"<office:document-content {_SPACES}><office:automatic-styles>{automatic}"
        f"</office:automatic-styles><office:body><office:presentation>{slides}"
        "</office:presentation></office:body></office:document-content>"
    )


def deck_styles(common: str = "", automatic: str = "", master: str = "") -> str:
    """The part of common styles and of masters: pages of 10 by 7.5 inches, a master M1."""
    return (
        f"<office:document-styles {_SPACES}><office:styles>{common}</office:styles>"
        '<office:automatic-styles><style:page-layout style:name="PL"><style:page-layout-properties '
        'fo:page-width="25.4cm" fo:page-height="19.05cm"/></style:page-layout>'
        f"{automatic}</office:automatic-styles><office:master-styles><style:master-page "
        'style:name="M1" style:display-name="Plain" style:page-layout-name="PL" '
        f'draw:style-name="Mdp1">{master}</style:master-page></office:master-styles>'
        "</office:document-styles>"
    )


def flat_deck(slides: str, prolog: str = "", automatic: str = "") -> bytes:
    """A deck in one file."""
    return (
        f'<?xml version="1.0"?>{prolog}<office:document {_SPACES} office:mimetype="{_KIND}">'
        f"<office:automatic-styles>{automatic}</office:automatic-styles>"
        f"<office:body><office:presentation>{slides}</office:presentation></office:body>"
        "</office:document>"
    ).encode()


def deck_file(
    path: Path, slides: str, *, automatic: str = "", kind: str = _KIND, manifest: str = "",
    parts: dict[str, str | bytes] | None = None, styles: str = "",
) -> Path:  # fmt: skip
    """Write a deck and return its path.

    Args:
        path: Where.
        slides: What it holds.
        automatic: Its automatic styles.
        kind: What it says that it is; "" to say nothing.
        manifest: More entries of the manifest.
        parts: Other parts by their names.
        styles: The part of common styles; the plain one if "".
    """
    whole: dict[str, str | bytes] = {
        "styles.xml": styles or deck_styles(), "content.xml": deck_content(slides, automatic),
        "META-INF/manifest.xml": f"<manifest:manifest {_SPACES}>{manifest}</manifest:manifest>",
    }  # fmt: skip
    whole |= parts or {}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        if kind:
            archive.writestr("mimetype", kind, zipfile.ZIP_STORED)
        for name, text in whole.items():
            archive.writestr(name, text)
    return path


_CHART = f"""<office:document-content {_SPACES}><office:body><office:chart>
<chart:chart chart:class="chart:bar"><chart:title><text:p>Sales</text:p></chart:title>
<table:table><table:table-header-rows><table:table-row><table:table-cell/><table:table-cell>
<text:p>Units</text:p></table:table-cell></table:table-row></table:table-header-rows>
<table:table-row><table:table-cell><text:p>May</text:p></table:table-cell><table:table-cell>
<text:p>7</text:p></table:table-cell></table:table-row></table:table></chart:chart></office:chart>
</office:body></office:document-content>"""
_NOTES = (
    '<presentation:notes><draw:page-thumbnail presentation:class="page"/>'
    '<draw:frame presentation:class="notes"><draw:text-box><text:p>say it slowly</text:p>'
    "</draw:text-box></draw:frame></presentation:notes>"
)
_TABLE = """<table:table><table:table-row><table:table-cell><text:p>Item</text:p>
</table:table-cell><table:table-cell><text:p>Price</text:p></table:table-cell></table:table-row>
<table:table-row><table:table-cell><text:p>Tea</text:p><text:p>green</text:p></table:table-cell>
<table:table-cell/></table:table-row></table:table>"""
_SLIDES = (
    slide(
        box("Logo", '<draw:image xlink:href="Pictures/1.png"/><svg:desc>a tree</svg:desc>')
        + placeholder(
            "outline",
            "one</text:p><text:list><text:list-item><text:p>two<text:s "
            'text:c="2"/>three</text:p></text:list-item></text:list><text:p>four',
        )
        + placeholder("title", "Where we stand", at="0.2in")
        + placeholder("subtitle", ""),
        "Opening",
        more=' presentation:use-footer-name="f1"',
        style="dp2",
    )
    + slide(
        placeholder("title", "Figures")
        + box("Prices", _TABLE)
        + box("Units", '<draw:object xlink:href="./Object 1"/><draw:image xlink:href="x"/>')
        + '<draw:g draw:name="Pair"><draw:rect draw:name="Left" svg:x="1in" svg:y="5in" '
        'svg:width="1in" svg:height="1in"><text:p>left</text:p></draw:rect><draw:line '
        'draw:name="Line" svg:x1="4in" svg:y1="6in" svg:x2="3in" svg:y2="5.5in"/></draw:g>'
        + box("Away", "<draw:text-box><text:p>beside</text:p></draw:text-box>", at="9in")
        + box(
            "Secret",
            "<draw:text-box><text:p>kept</text:p></draw:text-box>",
            more=' draw:display="none"',
        )
        + '<draw:frame draw:name="Turned" svg:width="2in" svg:height="1in" draw:transform="rotate '
        '(1.5707963267949) translate (3in 4in)"><draw:text-box><text:p><text:a '
        'xlink:href="https://a.example/">there</text:a></text:p></draw:text-box></draw:frame>'
        "<office:annotation><dc:creator>Ann</dc:creator><dc:date>2024-05-01T10:00:00</dc:date>"
        "<text:p>sure?</text:p></office:annotation>" + _NOTES,
        "Figures",
    )
    + slide("", style="dp1")
)
_DECLARED = '<presentation:footer-decl presentation:name="f1">Our firm</presentation:footer-decl>'
_AUTOMATIC = """<style:style style:name="dp1" style:family="drawing-page">
<style:drawing-page-properties presentation:visibility="hidden"/></style:style>
<style:style style:name="dp2" style:family="drawing-page"><style:drawing-page-properties
 presentation:display-footer="true"/></style:style>"""
_META = f"""<office:document-meta {_SPACES}><office:meta><dc:title>Report</dc:title></office:meta>
</office:document-meta>"""


def rich_deck_file(path: Path) -> Path:
    """Write a deck that holds a bit of everything, and return its path."""
    parts: dict[str, str | bytes] = {
        "Object 1/content.xml": _CHART, "Pictures/1.png": b"\x89PNG", "meta.xml": _META,
    }  # fmt: skip
    return deck_file(path, _DECLARED + _SLIDES, automatic=_AUTOMATIC, parts=parts)

"""OpenDocument texts written by hand."""

import zipfile
from pathlib import Path

__all__ = ["AUTOMATIC", "BODY", "content", "flat", "rich_text", "styles", "text_file"]

_LINKS = 'xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dc="http://purl.org/dc/elements/1.1/"'
_SPACES = _LINKS + "".join(
    f' xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for prefix, name in (
        ("office", "office"), ("text", "text"), ("table", "table"), ("draw", "drawing"),
        ("style", "style"), ("svg", "svg-compatible"), ("meta", "meta"), ("manifest", "manifest"),
    )
)  # fmt: skip
_KIND = "application/vnd.oasis.opendocument.text"


def content(body: str, automatic: str = "") -> str:
    """The part of the contents, with automatic styles."""
    return (
        f"<office:document-content {_SPACES}><office:automatic-styles>{automatic}"
        f"</office:automatic-styles><office:body><office:text>{body}</office:text></office:body>"
        "</office:document-content>"
    )


def styles(common: str = "", masters: str = "") -> str:
    """The part of common styles and of pages."""
    return (
        f"<office:document-styles {_SPACES}><office:styles>{common}</office:styles>"
        f"<office:master-styles>{masters}</office:master-styles></office:document-styles>"
    )


def flat(body: str, prolog: str = "") -> bytes:
    """A text in one file."""
    return (
        f'<?xml version="1.0"?>{prolog}<office:document {_SPACES} office:mimetype="{_KIND}">'
        f"<office:body><office:text>{body}</office:text></office:body></office:document>"
    ).encode()


def text_file(
    path: Path, body: str, *, automatic: str = "", kind: str = _KIND, manifest: str = "",
    **parts: str
) -> Path:  # fmt: skip
    """Write a text and return its path.

    Args:
        path: Where.
        body: What stands in it.
        automatic: Its automatic styles.
        kind: What it says that it is; "" to say nothing.
        manifest: More entries of the manifest.
        parts: Other parts: `styles`, `meta`.
    """
    whole = {"content.xml": content(body, automatic)}
    whole |= {f"{name}.xml": text for name, text in parts.items()}
    whole["META-INF/manifest.xml"] = f"<manifest:manifest {_SPACES}>{manifest}</manifest:manifest>"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        if kind:
            archive.writestr("mimetype", kind, zipfile.ZIP_STORED)
        for name, text in whole.items():
            archive.writestr(name, text)
    return path


BODY = """
<text:tracked-changes><text:changed-region><text:deletion><text:p>struck out</text:p>
</text:deletion></text:changed-region><text:changed-region><text:insertion/></text:changed-region>
</text:tracked-changes>
<text:p>Before all<text:change text:change-id="c1"/></text:p>
<text:h text:outline-level="1">First  part</text:h>
<text:p>One<text:s text:c="3"/>two<text:tab/>three<text:line-break/>four
   five <text:span text:style-name="T1">six</text:span> <text:a>link</text:a></text:p>
<text:list text:style-name="L1"><text:list-item><text:p>apples</text:p><text:list><text:list-item>
<text:p>green</text:p></text:list-item><text:list-item><text:p>red</text:p></text:list-item>
</text:list></text:list-item><text:list-item text:start-value="7"><text:p>pears</text:p>
<text:p>of two kinds</text:p></text:list-item></text:list>
<text:section text:name="S"><text:p>in a section</text:p></text:section>
<text:section text:name="H" text:display="none"><text:p>kept back</text:p></text:section>
<text:h text:outline-level="2">Table</text:h>
<table:table table:name="Prices"><table:table-header-rows><table:table-row><table:table-cell>
<text:p>Item</text:p></table:table-cell><table:table-cell><text:p>Price</text:p></table:table-cell>
</table:table-row></table:table-header-rows><table:table-row><table:table-cell><text:p>Tea</text:p>
<text:p>green</text:p></table:table-cell><table:table-cell table:number-columns-repeated="2">
<text:p>3</text:p></table:table-cell></table:table-row><table:table-row
 table:number-rows-repeated="3"><table:table-cell table:number-columns-repeated="3"/>
</table:table-row></table:table>
<text:p>After<text:note text:note-class="footnote"><text:note-citation>1</text:note-citation>
<text:note-body><text:p>as of May</text:p></text:note-body></text:note> it<office:annotation>
<dc:creator>Ann</dc:creator><text:p>sure?</text:p></office:annotation></text:p>
<text:h text:outline-level="1">Pictures</text:h>
<text:p><draw:frame draw:name="Graph"><draw:image xlink:href="Pictures/1.png"/>
<svg:title>short</svg:title><svg:desc>Sales by month</svg:desc></draw:frame><draw:frame>
<draw:text-box><text:p>boxed</text:p><text:p>twice</text:p></draw:text-box></draw:frame></text:p>
<draw:custom-shape><text:p>on a shape</text:p></draw:custom-shape>
<text:p>page <text:page-number>4</text:page-number><text:hidden-text text:is-hidden="true"
 text:string-value="secret"/></text:p>
"""
"""The body of a text that holds a bit of everything."""
AUTOMATIC = """
<style:style style:name="T1" style:family="text" style:parent-style-name="Base">
<style:text-properties/></style:style>
<text:list-style style:name="L1"><text:list-level-style-number text:level="1" style:num-format="1"
 style:num-suffix="."/><text:list-level-style-number text:level="2" style:num-format="a"
 text:display-levels="2"/></text:list-style>
"""
"""Its automatic styles."""
_COMMON = """
<style:style style:name="Base" style:family="text"><style:text-properties text:display="none"/>
</style:style>
"""
_MASTERS = """
<style:master-page style:name="Standard"><style:header><text:p>Our <text:title>firm</text:title>
</text:p></style:header><style:footer style:display="false"><text:p>never</text:p></style:footer>
<style:header-first><text:p>Cover</text:p></style:header-first></style:master-page>
"""
_META = """<office:document-meta
 xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:meta="urn:oasis:names:tc:opendocument:xmlns:meta:1.0"
 xmlns:dc="http://purl.org/dc/elements/1.1/"><office:meta><dc:title>Report</dc:title>
<meta:document-statistic meta:page-count="2" meta:word-count="99"/></office:meta>
</office:document-meta>"""


def rich_text(path: Path) -> Path:
    """Write a text that holds a bit of everything, and return its path."""
    common = styles(_COMMON, _MASTERS)
    return text_file(path, BODY, automatic=AUTOMATIC, styles=common, meta=_META)

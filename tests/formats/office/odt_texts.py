"""OpenDocument texts written by hand."""

import zipfile
from pathlib import Path

__all__ = ["content", "flat", "styles", "text_file"]

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

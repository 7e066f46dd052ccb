"""Documents made by hand for tests, so that no library decides what is in them, and their edits."""

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Union

import msgspec
from lxml import etree

from kbd.formats import Applied, Source
from kbd_docx import DocxFormat
from kbd_docx.operations import OPERATIONS

__all__ = ["W", "at", "body_of", "edit", "made", "operations", "para", "part_of", "shown"]

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
FORMAT = DocxFormat()

_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml"
_SPACES = " ".join(
    f'xmlns:{prefix}="{space}"'
    for prefix, space in {
        "w": W[1:-1],
        "r": _OFFICE,
        "mc": "http://schemas.openxmlformats.org/markup-compatibility/2006",
        "m": "http://schemas.openxmlformats.org/officeDocument/2006/math",
        "v": "urn:schemas-microsoft-com:vml",
        "wp": "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing",
        "a": "http://schemas.openxmlformats.org/drawingml/2006/main",
        "pic": "http://schemas.openxmlformats.org/drawingml/2006/picture",
        "wps": "http://schemas.microsoft.com/office/word/2010/wordprocessingShape",
    }.items()
)
_ROOTS = {
    "document": "document", "styles": "styles", "header": "hdr", "footer": "ftr",
    "footnotes": "footnotes", "endnotes": "endnotes", "comments": "comments",
    "settings": "settings", "numbering": "numbering",
}  # fmt: skip


def made(path: Path, body: str, parts: Mapping[str, str] | None = None) -> Path:
    """Write a document whose body holds some XML; return its path.

    `parts` are the insides of more parts by name ("header1", "footnotes", "settings"), each
    related to the main part by "r" and its name; one with a "." in its name is bytes of its own.
    """
    rels, types = [], []
    with zipfile.ZipFile(path, "w") as archive:
        insides = {"document": f"<w:body>{body}</w:body>", **(parts or {})}
        for name, inside in insides.items():
            kind = name.rstrip("0123456789")
            if "." in name:
                archive.writestr(f"word/{name}", inside)
                rels.append((f"r{name.partition('.')[0]}", "image", name))
                continue
            root = f"w:{_ROOTS[kind]}"
            archive.writestr(f"word/{name}.xml", f"<{root} {_SPACES}>{inside}</{root}>")
            full = "document.main" if kind == "document" else kind
            types.append(
                f'<Override PartName="/word/{name}.xml" ContentType="{_TYPE}.{full}+xml"/>'
            )
            if kind != "document":
                rels.append((f"r{name}", kind, f"{name}.xml"))
        archive.writestr("word/_rels/document.xml.rels", _relations(rels))
        archive.writestr("_rels/.rels", _relations([("r1", "officeDocument", "word/document.xml")]))
        archive.writestr("[Content_Types].xml", _types(types))
    return path


def para(text: str, properties: str = "") -> str:
    """Return a paragraph of one run."""
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def operations(*found: Mapping[str, Any]) -> tuple[msgspec.Struct, ...]:
    """Return operations as records."""
    vocabulary = Union[OPERATIONS]  # type: ignore[valid-type]  # noqa: UP007
    return tuple(msgspec.convert(list(found), list[vocabulary]))


def edit(path: Path | None, *found: Mapping[str, Any], to: Path | None = None) -> Applied:
    """Apply operations to a document, or to a new one; the result is `out.docx` beside it."""
    if to is None:
        assert path is not None
        to = path.with_name("out.docx")
    to.unlink(missing_ok=True)
    source = Source(path, path.name) if path is not None else None
    return FORMAT.apply(source, operations(*found), to)


def part_of(path: Path, name: str = "word/document.xml") -> etree._Element:
    """Return a part's root."""
    with zipfile.ZipFile(path) as archive:
        return etree.fromstring(archive.read(name))


def body_of(path: Path) -> etree._Element:
    """Return the body of a document."""
    return at(part_of(path), "body")


def at(element: etree._Element, path: str) -> etree._Element:
    """Return what a path of names leads to ("pPr/jc"), which must be there."""
    found = element.find("/".join(f"{W}{name}" for name in path.split("/")))
    assert found is not None, path
    return found


def shown(element: etree._Element) -> list[str]:
    """Return the text of each paragraph, those in tables and boxes, too; breaks as line ends."""
    signs = {f"{W}tab": "\t", f"{W}br": "\n"}
    return [
        "".join(
            (each.text or "") if each.tag == f"{W}t" else signs[str(each.tag)]
            for each in paragraph.iter(f"{W}t", *signs)
        )
        for paragraph in element.iter(f"{W}p")
    ]


def _relations(rels: list[tuple[str, str, str]]) -> str:
    rows = "".join(
        f'<Relationship Id="{id_}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for id_, kind, target in rels
    )
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{rows}</Relationships>'


def _types(rows: list[str]) -> str:
    defaults = "".join(
        f'<Default Extension="{suffix}" ContentType="{type_}"/>'
        for suffix, type_ in (
            ("rels", "application/vnd.openxmlformats-package.relationships+xml"),
            ("xml", "application/xml"),
            ("png", "image/png"),
        )
    )
    return f'<Types xmlns="{_PACKAGE}/content-types">{defaults}{"".join(rows)}</Types>'

"""The pictures of a document: in its body, its headers and its footers."""

import posixpath
import re
from collections.abc import Iterator

import msgspec
from lxml import etree

from kbd.opc.package import Relation
from kbd_docx.document import (
    EMU_PER_INCH,
    MC,
    PARAGRAPH,
    PIC,
    WP,
    A,
    DocxParts,
    O,
    R,
    V,
    W,
    blocks,
    vector_size,
)
from kbd_docx.styles.sections import headers_footers
from kbd_docx.styles.stylesheet import folded

__all__ = ["DocumentPicture", "pictures"]

_FALLBACK = f"{MC}Fallback"
_MAX_EMU = 100 * EMU_PER_INCH
"""Larger sizes are damaged ones; a page has at most 22 inches."""


class DocumentPicture(msgspec.Struct, frozen=True):
    """A picture.

    Args:
        name: Its name, which no other picture of the document has.
        owner: The part that shows it.
        relation: How that part names what it shows.
        element: What shows it: `pic:pic`, or `v:shape` of the older form.
        width: In English Metric Units, 0 if that is not told.
        height: Likewise.
        alt_text: What it shows, in words.
        where: "paragraph 3", "table 0", or the asset whose part it is.
        is_floating: Whether it has a place of its own, beside the text.
    """

    name: str
    owner: str
    relation: Relation
    element: etree._Element
    width: int
    height: int
    alt_text: str
    where: str
    is_floating: bool

    @property
    def is_linked(self) -> bool:
        """Whether the picture is linked, not embedded."""
        return self.relation.external


def pictures(document: DocxParts) -> Iterator[DocumentPicture]:
    """Yield the pictures of a document in order, those of headers and footers last.

    Where a picture has a newer and an older form, the newer one counts.
    """
    names: dict[str, int] = {}
    for part, where, block in _picture_blocks(document):
        relations = document.relations(part)
        for found in block.iter(f"{W}drawing", f"{W}pict"):
            if not relations or next(found.iterancestors(_FALLBACK), None) is not None:
                continue
            drawn = _drawing_pictures if found.tag == f"{W}drawing" else _vml_pictures
            for picture in drawn(found, part, where, relations):
                yield _uniquely_named(picture, names)


def _picture_blocks(document: DocxParts) -> Iterator[tuple[str, str, etree._Element]]:
    """Yield the blocks that may hold pictures: part, place in words, element."""
    body = document.root(document.main).find(f"{W}body")
    paragraph, table = 0, -1
    for block in blocks(body) if body is not None else ():
        if block.tag == PARAGRAPH:
            paragraph += 1
            yield document.main, f"paragraph {paragraph}", block
        else:
            table += 1
            yield document.main, f"table {table}", block
    seen = set()
    for header in headers_footers(document):
        if header.part not in seen:
            seen.add(header.part)
            where = f"{header.kind}:{header.name}"
            yield header.part, where, document.root(header.part)


def _drawing_pictures(
    drawing: etree._Element, part: str, where: str, relations: dict[str, Relation]
) -> Iterator[DocumentPicture]:
    """Yield the pictures of a drawing; there are several in a group."""
    found = [(each, _picture_relation(each, relations)) for each in drawing.iter(f"{PIC}pic")]
    named = drawing.find(f"./*/{WP}docPr")
    for element, relation in found:
        if relation is None:
            continue
        own = element.find(f"{PIC}nvPicPr/{PIC}cNvPr")
        size = element.find(f"{PIC}spPr/{A}xfrm/{A}ext")
        label = own
        # The frame's name and size are those of the drawing: in a group each picture has its own.
        if len(found) == 1 and named is not None:
            label = named
            whole = drawing.find(f"./*/{WP}extent")
            size = whole if whole is not None else size
        name, alt = "", ""
        if label is not None:
            name, alt = label.get("name", ""), label.get("descr", "")
        floats = drawing.find(f"./{WP}anchor") is not None
        size_emu = (_emu(size, "cx"), _emu(size, "cy"))
        yield DocumentPicture(name, part, relation, element, *size_emu, alt, where, floats)


def _vml_pictures(
    pict: etree._Element, part: str, where: str, relations: dict[str, Relation]
) -> Iterator[DocumentPicture]:
    """Yield the pictures of a drawing of the older form (VML)."""
    for data in pict.iter(f"{V}imagedata"):
        shape = data.getparent()
        relation = relations.get(data.get(f"{R}id", "") or data.get(f"{R}href", ""))
        if relation is None or relation.kind != "image" or shape is None:
            continue
        style = shape.get("style", "")
        width, height = (min(each, _MAX_EMU) for each in vector_size(shape))
        name = data.get(f"{O}title", "") or shape.get("id", "")
        floats = "position:absolute" in style.replace(" ", "")
        alt = shape.get("alt", "")
        yield DocumentPicture(name, part, relation, shape, width, height, alt, where, floats)


def _picture_relation(element: etree._Element, relations: dict[str, Relation]) -> Relation | None:
    """Return the relation to a picture's file: the embedded one, else the linked one."""
    blip = element.find(f"{PIC}blipFill/{A}blip")
    if blip is None:
        return None
    found = relations.get(blip.get(f"{R}embed", "")) or relations.get(blip.get(f"{R}link", ""))
    return found if found is not None and found.kind == "image" else None


def _uniquely_named(picture: DocumentPicture, names: dict[str, int]) -> DocumentPicture:
    """Return a picture under a name that no other one has; blanks and case do not count."""
    stem = " ".join(picture.name.split()) or posixpath.basename(picture.relation.target)[:80]
    stem = stem or "picture"
    name, number = stem, names.get(folded(stem), 0)
    while folded(name) in names:
        number += 1
        name = f"{stem} ({number})"
    # The next one of this name is tried with the next number first.
    names[folded(stem)] = max(1, number)
    names.setdefault(folded(name), 1)
    return msgspec.structs.replace(picture, name=name)


def _emu(size: etree._Element | None, key: str) -> int:
    text = size.get(key, "") if size is not None else ""
    return min(int(text), _MAX_EMU) if re.fullmatch(r"\d{1,12}", text, re.ASCII) else 0

"""What is drawn or embedded in paragraphs: pictures by their bytes, charts, text boxes, objects."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from lxml import etree

from kbd_docx.comparison.contents import InlineObject, ParagraphContent, look_of
from kbd_docx.comparison.digests import CONTROL_IDS, PartDigests, element_digest, new_hash
from kbd_docx.document import MC, PARAGRAPH, PIC, A, O, R, V, W
from kbd_docx.reader.contents import DocxPicture
from kbd_docx.reader.drawings import (
    Graphics,
    chart,
    drawn_picture,
    embedded_object,
    picture_label,
    vector_picture,
)

__all__ = ["DrawnReader"]

_CHARTS = (
    "{http://schemas.openxmlformats.org/drawingml/2006/chart}chart",
    "{http://schemas.microsoft.com/office/drawing/2014/chartex}chart",
)
_DIAGRAM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}relIds"
_BOX = f"{W}txbxContent"
_PARAGRAPHS = frozenset((PARAGRAPH, *CONTROL_IDS))
_LINK_FACTS = ("docLocation", "tgtFrame", "tooltip")
"""What a link says beside its address."""


class DrawnReader:
    """Reader of drawings, links and whatever else has relations, in one part.

    Args:
        parts: The parts of the package.
        part: The part that they are in.
    """

    def __init__(self, parts: PartDigests, part: str) -> None:
        self._parts = parts
        self._relations = parts.relations(part)
        self._graphics = Graphics(parts.package)

    def digest(self, element: etree._Element, without: frozenset[str] = frozenset()) -> bytes:
        """Return the digest of an element, with what its relations lead to."""
        return element_digest(element, self._relations, self._parts, without)

    def link(self, element: etree._Element) -> str:
        """Return the address that a hyperlink leads to."""
        relation = self._relations.get(element.get(f"{R}id", ""))
        anchor = element.get(f"{W}anchor", "")
        told = ("" if relation is None else relation.target) + (f"#{anchor}" if anchor else "")
        for name in _LINK_FACTS:
            if fact := element.get(f"{W}{name}"):
                told += f" ({name} {fact})"
        return told

    def item(
        self,
        element: etree._Element,
        at: int,
        read: Callable[[etree._Element], Iterable[ParagraphContent]],
    ) -> InlineObject:
        """Return what is drawn: a picture, chart, diagram, text box, object or shape.

        Args:
            element: The drawing.
            at: Behind how many characters it stands.
            read: Returns the paragraphs of a text box.
        """
        digest = self.digest(element)
        boxes = [each for each in element.iter(_BOX) if not _is_fallback(each, element)]
        if boxes:
            paragraphs = [content for box in boxes for content in read(box)]
            # Of what it says counts what was read: runs are divided anew by each program.
            frame_digest = self.digest(element, _PARAGRAPHS)
            digest = new_hash(frame_digest + b"".join(each.key for each in paragraphs)).digest()
            text = "\n".join(content.shown for content in paragraphs)
            return InlineObject("text box", at, f"[text box: {text}]", digest, (("text", text),))
        frame = next(iter(element), None)
        for found in element.iter(
            f"{PIC}pic", f"{V}imagedata", f"{O}OLEObject", *_CHARTS, _DIAGRAM
        ):
            told = self._picture(found, frame)
            if told is not None:
                picture, content = told
                label = picture_label(picture, content)
                return InlineObject(
                    picture.kind, at, label, digest, self._facts(picture, content, element)
                )
        shape = chart("shape", frame, None)
        label = picture_label(shape) if shape.alt_text else "[shape]"
        return InlineObject("shape", at, label, digest, self._facts(shape, "", element))

    def _picture(
        self, found: etree._Element, frame: etree._Element | None
    ) -> tuple[DocxPicture, str] | None:
        tag = found.tag
        if tag == f"{PIC}pic":
            return drawn_picture(found, frame, self._relations), ""
        if tag == f"{V}imagedata":
            around = found.getparent()
            owner = None if around is None else around.getparent()
            # The picture of an object is only what it looks like.
            program = None if owner is None else owner.find(f"{O}OLEObject")
            if program is not None:
                return embedded_object(program, self._relations), ""
            return vector_picture(found, self._relations), ""
        if tag == f"{O}OLEObject":
            return embedded_object(found, self._relations), ""
        kind, key = ("diagram", "dm") if tag == _DIAGRAM else ("chart", "id")
        relation = self._relations.get(found.get(f"{R}{key}", ""))
        return chart(kind, frame, relation), self._graphics.text(relation)

    def _facts(
        self, picture: DocxPicture, content: str, element: etree._Element
    ) -> tuple[tuple[str, Any], ...]:
        found: dict[str, Any] = {
            "alt_text": picture.alt_text,
            "name": picture.name,
            "file": picture.file,
            "width": picture.width,
            "height": picture.height,
            "content": content,
        }
        found["sha256"] = next(self._targets(element), "")
        return look_of({name: value for name, value in found.items() if value})

    def _targets(self, element: etree._Element) -> Iterator[str]:
        for each in element.iter(f"{A}blip", f"{V}imagedata"):
            for name, value in each.attrib.items():
                relation = self._relations.get(str(value)) if str(name).startswith(R) else None
                if relation is not None and not relation.external:
                    yield self._parts.target(relation).hex()


def _is_fallback(element: etree._Element, top: etree._Element) -> bool:
    """Whether an element stands in what is for older programs only, or in another box."""
    for around in element.iterancestors():
        if around is top:
            return False
        if around.tag in (f"{MC}Fallback", _BOX):
            return True
    return False

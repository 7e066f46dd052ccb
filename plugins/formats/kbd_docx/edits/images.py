"""Pictures of the workbench put into a document, in the line of text (ECMA-376, part 1, 20.4)."""

import re
from collections.abc import Iterator

from docx.opc.constants import RELATIONSHIP_TYPE as RT
from docx.opc.packuri import PackURI
from docx.opc.part import Part, XmlPart
from docx.oxml.parser import OxmlElement
from docx.shared import Inches, Length, Twips
from lxml import etree

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import Source
from kbd.office.pictures import MAX_PICTURE_BYTES, PictureFacts, picture_facts
from kbd_docx.document import PIC, VAL, WP, A, R, W
from kbd_docx.edits.builtin_styles import ensure_style
from kbd_docx.edits.document import DocumentEdit
from kbd_docx.edits.fields import field_runs
from kbd_docx.edits.texts import apply_variant, clean_text, text_nodes
from kbd_docx.edits.widths import text_width, twips
from kbd_docx.operations import AddDocumentImage
from kbd_docx.styles.properties import ensure_child

__all__ = ["add_image", "put_picture"]

_KINDS = {"PNG": "png", "JPEG": "jpeg", "GIF": "gif", "BMP": "bmp"}
"""Kinds of pictures that programs show."""

_DISTANCES = ("distT", "distB", "distL", "distR")
_STORIES = (RT.HEADER, RT.FOOTER, RT.FOOTNOTES, RT.ENDNOTES, RT.COMMENTS)
_NAMESPACES = {"wp": WP.strip("{}"), "a": A.strip("{}"), "pic": PIC.strip("{}"),
               "r": R.strip("{}"), "w": W.strip("{}")}  # fmt: skip
_MAX_SIDE = Inches(22)
"""Programs have no larger pages."""

_FIGURE = re.compile(r"\s*SEQ\s+Figure\b", re.IGNORECASE)


def add_image(edit: DocumentEdit, operation: AddDocumentImage) -> str:
    """Put in a picture as a paragraph, or at the end of one.

    Raises:
        ValidationFailed: It is no picture that programs show, or there is no such paragraph.
        FileReadFailed: It cannot be read.
    """
    inline = operation.paragraph is not None
    if inline and (operation.after is not None or operation.caption or operation.alignment):
        raise ValidationFailed("a picture in the line of a paragraph has no after, caption or "
                               "alignment; leave them or paragraph out")  # fmt: skip
    data, facts, name = _picture(edit, operation.image)
    after = operation.after if operation.paragraph is None else operation.paragraph
    size = _size(facts, operation, text_width(edit.body.element, after))
    relation = _relation(edit, edit.document.part, data, facts)
    run = _run(edit, relation, size, operation.alt_text, name)
    if operation.paragraph is not None:
        edit.body.paragraph(operation.paragraph).append(run)
        return f"paragraph {operation.paragraph}: picture {name}"
    made = OxmlElement("w:p")
    if operation.alignment is not None:
        ensure_child(ensure_child(made, "pPr"), "jc").set(VAL, operation.alignment)
    made.append(run)
    number = _insert(edit, after, made)
    words = f"paragraph {number}: picture {name}"
    if operation.caption is not None:
        ensure_child(ensure_child(made, "pPr"), "keepNext")
        _insert(edit, number, _caption(edit, operation.caption, operation.alignment))
        return f"{words}, with a caption below it"
    return words


def put_picture(edit: DocumentEdit, paragraph: etree._Element, image: str) -> None:
    """Put a picture at the end of a paragraph of any part, no wider than the text there.

    Args:
        edit: The document.
        paragraph: The paragraph.
        image: The picture, by its path.

    Raises:
        ValidationFailed: It is no picture that programs show, or no part that can have one.
        FileReadFailed: It cannot be read.
    """
    data, facts, name = _picture(edit, image)
    room = _room(edit, paragraph)
    share = min(1.0, room / facts.width)
    size = max(1, round(facts.width * share)), max(1, round(facts.height * share))
    relation = _relation(edit, _owner(edit, paragraph), data, facts)
    paragraph.append(_run(edit, relation, size, None, name))
    apply_variant(paragraph, is_strict=edit.is_strict)


def _owner(edit: DocumentEdit, paragraph: etree._Element) -> XmlPart:
    """Return the part that a paragraph is of, which names its pictures."""
    root = paragraph.getroottree().getroot()
    main: XmlPart = edit.document.part
    related = [each.target_part for each in main.rels.values() if not each.is_external]
    for part in (main, *related):
        if isinstance(part, XmlPart) and part.element is root:
            return part
    raise ValidationFailed("a picture can stand in the body, in headers and footers, not in notes")


_CELL_MARGINS_TWIPS = 216
"""Left and right of the text of a cell, where nothing else is said (ECMA-376, part 1, 17.4.42)."""


def _room(edit: DocumentEdit, paragraph: etree._Element) -> Length:
    """Return how wide the text is where a paragraph stands."""
    for cell in paragraph.iterancestors(f"{W}tc"):
        width = cell.find(f"{W}tcPr/{W}tcW")
        if width is not None and width.get(f"{W}type", "dxa") == "dxa" and twips(width, "w"):
            return Twips(max(1, twips(width, "w") - _CELL_MARGINS_TWIPS))
    blocks = edit.body.paragraphs
    place = next((at for at, each in enumerate(blocks) if each is paragraph), None)
    return text_width(edit.body.element, place)


def _picture(edit: DocumentEdit, image: str) -> tuple[bytes, PictureFacts, str]:
    source = edit.files.get(image)
    if source is None:
        raise ValidationFailed(f"the picture {image!r} was not given with the operations")
    data = _read(source)
    return data, picture_facts(data, source.name, _KINDS), source.name


def _insert(edit: DocumentEdit, after: int | None, paragraph: etree._Element) -> int:
    """Insert a paragraph behind another one and return its number."""
    apply_variant(paragraph, is_strict=edit.is_strict)
    number = len(edit.body.paragraphs) + 1 if after is None else after + 1
    if after:
        edit.body.paragraph(after)
    edit.body.insert(number, paragraph)
    edit.warn_if_in_field(paragraph)
    return number


def _read(source: Source) -> bytes:
    try:
        # One byte more than is taken tells that there is more.
        with source.path.open("rb") as file:
            return file.read(MAX_PICTURE_BYTES + 1)
    except OSError as error:
        raise FileReadFailed(f"{source.name} cannot be read: {error.strerror}") from error


def _size(facts: PictureFacts, operation: AddDocumentImage, room: Length) -> tuple[int, int]:
    """Return the width and height; without either as the picture has it, within the text."""
    width, height = operation.width, operation.height
    if width is not None and height is not None:
        found = int(Inches(width)), int(Inches(height))
    elif width is not None:
        found = int(Inches(width)), round(Inches(width) * facts.height / facts.width)
    elif height is not None:
        found = round(Inches(height) * facts.width / facts.height), int(Inches(height))
    else:
        share = min(1.0, room / facts.width)
        found = round(facts.width * share), round(facts.height * share)
    return tuple(min(max(side, 1), int(_MAX_SIDE)) for side in found)  # type: ignore[return-value]


def _relation(edit: DocumentEdit, owner: XmlPart, data: bytes, facts: PictureFacts) -> str:
    """Return the relation of a part to the part of a picture, which is made once in an edit."""
    part = edit.pictures.get(data)
    if part is None:
        package = edit.document.part.package
        taken = {str(each.partname).lower() for each in package.iter_parts()}
        number = 1
        while (name := f"/word/media/image{number}.{facts.suffix}").lower() in taken:
            number += 1
        part = edit.pictures[data] = Part(PackURI(name), facts.mime_type, data, package)
    return str(owner.relate_to(part, RT.IMAGE))


def _run(
    edit: DocumentEdit, relation: str, size: tuple[int, int], alt_text: str | None, file: str
) -> etree._Element:
    number = str(max(_drawing_ids(edit), default=0) + 1)
    extent = {"cx": str(size[0]), "cy": str(size[1])}
    label = {"id": number, "name": f"Picture {number}"}
    if alt_text:
        label["descr"] = clean_text(alt_text, edit.warnings.warn)
    run: etree._Element = OxmlElement("w:r")
    drawing = etree.SubElement(run, f"{W}drawing", nsmap=_NAMESPACES)
    inline = etree.SubElement(drawing, f"{WP}inline", dict.fromkeys(_DISTANCES, "0"))
    etree.SubElement(inline, f"{WP}extent", extent)
    etree.SubElement(inline, f"{WP}docPr", label)
    frame = etree.SubElement(inline, f"{WP}cNvGraphicFramePr")
    etree.SubElement(frame, f"{A}graphicFrameLocks", {"noChangeAspect": "1"})
    graphic = etree.SubElement(inline, f"{A}graphic")
    data = etree.SubElement(graphic, f"{A}graphicData", {"uri": PIC.strip("{}")})
    drawn = etree.SubElement(data, f"{PIC}pic")
    names = etree.SubElement(drawn, f"{PIC}nvPicPr")
    etree.SubElement(names, f"{PIC}cNvPr", {"id": "0", "name": clean_text(file, lambda _: None)})
    etree.SubElement(names, f"{PIC}cNvPicPr")
    fill = etree.SubElement(drawn, f"{PIC}blipFill")
    etree.SubElement(fill, f"{A}blip", {f"{R}embed": relation})
    etree.SubElement(etree.SubElement(fill, f"{A}stretch"), f"{A}fillRect")
    shape = etree.SubElement(drawn, f"{PIC}spPr")
    place = etree.SubElement(shape, f"{A}xfrm")
    etree.SubElement(place, f"{A}off", {"x": "0", "y": "0"})
    etree.SubElement(place, f"{A}ext", extent)
    etree.SubElement(etree.SubElement(shape, f"{A}prstGeom", {"prst": "rect"}), f"{A}avLst")
    return run


def _drawing_ids(edit: DocumentEdit) -> Iterator[int]:
    """Yield the ids of drawings, which are unique in a document."""
    roots = [edit.document.element]
    for relation in edit.document.part.rels.values():
        if relation.reltype in _STORIES and not relation.is_external:
            part = relation.target_part
            roots += [part.element] if isinstance(part, XmlPart) else []
    for root in roots:
        for each in root.iter(f"{WP}docPr"):
            if re.fullmatch(r"[0-9]{1,8}", each.get("id", "")):
                yield int(each.get("id", ""))


def _caption(edit: DocumentEdit, text: str, alignment: str | None) -> etree._Element:
    warn = edit.warnings.warn
    made: etree._Element = OxmlElement("w:p")
    settings = ensure_child(made, "pPr")
    ensure_child(settings, "pStyle").set(VAL, ensure_style(edit.styles, "caption", warn))
    if alignment is not None:
        ensure_child(settings, "jc").set(VAL, alignment)
    told = [each.text or "" for each in edit.document.element.iter(f"{W}instrText")]
    told += [each.get(f"{W}instr", "") for each in edit.document.element.iter(f"{W}fldSimple")]
    count = sum(1 for each in told if _FIGURE.match(each)) + 1
    word = etree.SubElement(made, f"{W}r")
    word.extend(text_nodes("Figure "))
    made.extend(field_runs(" SEQ Figure \\* ARABIC ", str(count)))
    rest = etree.SubElement(made, f"{W}r")
    rest.extend(text_nodes(f": {clean_text(text, warn)}"))
    edit.body.note_field()
    return made

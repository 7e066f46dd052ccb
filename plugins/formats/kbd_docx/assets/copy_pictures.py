"""Pictures copied, each into a paragraph of its own."""

from copy import deepcopy

from lxml import etree

from kbd.errors import ValidationFailed
from kbd.opc.element_names import local_name
from kbd_docx.assets.fragments import FragmentImporter
from kbd_docx.assets.target import DocumentPartCopier, DocxPlace, Target, missing_asset
from kbd_docx.document import PIC, WP, A, DocxParts, R, W
from kbd_docx.styles.pictures import DocumentPicture, pictures
from kbd_docx.styles.properties import remove_element
from kbd_docx.styles.stylesheet import folded
from kbd_docx.styles.theme import DocxTheme, resolve_drawing_theme

__all__ = ["PictureCopier"]

_MAIN = "http://schemas.openxmlformats.org/drawingml/2006/"
_NAMESPACES = {
    "w": W.strip("{}"),
    "r": R.strip("{}"),
    "wp": WP.strip("{}"),
    "a": A.strip("{}"),
    "pic": PIC.strip("{}"),
}


class PictureCopier:
    """Copies pictures of one document into another.

    Args:
        source: Where they are.
        target: Where they go.
        copier: Copies their files.
        fragments: Gives them free drawing ids.
        theme: The source's theme where it differs from the target's, else None.
    """

    def __init__(
        self,
        source: DocxParts,
        target: Target,
        copier: DocumentPartCopier,
        fragments: FragmentImporter,
        theme: DocxTheme | None,
    ) -> None:
        self._source, self._target, self._theme = source, target, theme
        self._copier, self._fragments = copier, fragments

    def copy(self, name: str, place: DocxPlace | None) -> str:
        """Copy a picture, and return in words what changed.

        Args:
            name: As get_styles lists it.
            place: After which paragraph it goes; None is the end.

        Raises:
            ValidationFailed: There is none of that name, or it cannot be copied.
        """
        picture = self._find(name)
        paragraph = self._paragraph(picture)
        body = self._target.body
        if place is None:
            sections = [each for each in body if each.tag == f"{W}sectPr"]
            if sections:
                # The schema has the last section's settings behind all blocks (ECMA-376, CT_Body).
                sections[-1].addprevious(paragraph)
            else:
                body.append(paragraph)
        else:
            self._target.paragraphs(place.first, place.first)[0].addnext(paragraph)
        if picture.is_floating:
            self._target.warnings.warn(
                f"The image {picture.name} stood beside the text; now it is a paragraph of its own."
            )
        where = "at the end" if place is None else f"after paragraph {place.first}"
        return f"image:{picture.name}: put {where}"

    def _find(self, name: str) -> DocumentPicture:
        known = list(pictures(self._source))
        for each in known:
            if folded(each.name) == folded(name):
                return each
        raise missing_asset("image", name, [each.name for each in known])

    def _paragraph(self, picture: DocumentPicture) -> etree._Element:
        """Return a paragraph with a picture in its line."""
        what = f"image:{picture.name}"
        self._copier.begin_asset(what)
        if picture.is_linked:
            raise ValidationFailed(
                f"{what} is only a link to a file; have it saved in the document first"
            )
        if not picture.width or not picture.height:
            raise ValidationFailed(f"{what} does not tell its size and cannot be copied")
        type_ = self._source.parts.content_type(picture.relation.target)
        if not type_.startswith("image/") or picture.relation.target not in self._source.parts:
            raise ValidationFailed(f"{what} is damaged: its picture is not there")
        extent = {"cx": str(picture.width), "cy": str(picture.height)}
        paragraph = etree.Element(f"{W}p", nsmap=_NAMESPACES)
        drawing = etree.SubElement(etree.SubElement(paragraph, f"{W}r"), f"{W}drawing")
        inline = etree.SubElement(drawing, f"{WP}inline", dict.fromkeys(_DISTANCES, "0"))
        etree.SubElement(inline, f"{WP}extent", extent)
        # The id is set by `number_drawings` below, when the paragraph is whole.
        label = {"id": "0", "name": picture.name}
        if picture.alt_text:
            label["descr"] = picture.alt_text
        etree.SubElement(inline, f"{WP}docPr", label)
        frame = etree.SubElement(inline, f"{WP}cNvGraphicFramePr")
        etree.SubElement(frame, f"{A}graphicFrameLocks", {"noChangeAspect": "1"})
        graphic = etree.SubElement(inline, f"{A}graphic")
        data = etree.SubElement(graphic, f"{A}graphicData", {"uri": f"{_MAIN}picture"})
        data.append(self._picture_element(picture, what))
        self._fragments.number_drawings(paragraph)
        return paragraph

    def _picture_element(self, picture: DocumentPicture, what: str) -> etree._Element:
        """Return the DrawingML element of a picture, with crop, frame and effects if it had them.

        What it links to when it is clicked stays behind.
        """
        if local_name(picture.element) == "pic":
            drawn = deepcopy(picture.element)
            # lxml copies the text behind an element with it.
            drawn.tail = None
            self._clean(drawn, picture, what)
        else:
            drawn = _plain_picture(picture)
            relation = self._copier.relate(self._target.main, picture.relation)
            for blip in drawn.iter(f"{A}blip"):
                blip.set(f"{R}embed", relation)
        # In a group it had its place in the group's coordinates; alone in a line it begins at 0.
        size = drawn.find(f"{PIC}spPr/{A}xfrm")
        for name, values in (
            ("off", {"x": "0", "y": "0"}),
            ("ext", {"cx": str(picture.width), "cy": str(picture.height)}),
        ):
            part = size.find(f"{A}{name}") if size is not None else None
            for key, value in values.items() if part is not None else ():
                if part is not None:
                    part.set(key, value)
        return drawn

    def _clean(self, drawn: etree._Element, picture: DocumentPicture, what: str) -> None:
        """Renew the relations of a copied picture, and remove links and extensions."""
        for click in list(drawn.iter(f"{A}hlinkClick", f"{A}hlinkHover")):
            remove_element(click)
        # The size of a picture is an `a:ext`, too, but has no uri. Extensions that name a relation
        # stay: the SVG of a picture hangs in one.
        for extension in list(drawn.iter(f"{A}ext")):
            if extension.get("uri") and not any(
                str(key).startswith(R) for each in extension.iter() for key in each.attrib
            ):
                remove_element(extension)
        for holder in list(drawn.iter(f"{A}extLst")):
            if not len(holder):
                remove_element(holder)
        if self._theme is not None:
            resolve_drawing_theme(drawn, self._theme)
        for each in drawn.iter():
            # The bytes come along: a link beside them would only have programs reach out.
            each.attrib.pop(f"{R}link", "")
            for key, value in each.attrib.items():
                if str(key).startswith(R):
                    relation = self._source.relations(picture.owner).get(str(value))
                    if relation is None or relation.external:
                        raise ValidationFailed(f"{what} names a picture that is not there")
                    each.set(key, self._copier.relate(self._target.main, relation))


_DISTANCES = ("distT", "distB", "distL", "distR")


def _plain_picture(picture: DocumentPicture) -> etree._Element:
    """Return a DrawingML picture with nothing but its size."""
    drawn = etree.Element(f"{PIC}pic", nsmap=_NAMESPACES)
    names = etree.SubElement(drawn, f"{PIC}nvPicPr")
    etree.SubElement(names, f"{PIC}cNvPr", {"id": "0", "name": picture.name})
    etree.SubElement(names, f"{PIC}cNvPicPr")
    fill = etree.SubElement(drawn, f"{PIC}blipFill")
    etree.SubElement(fill, f"{A}blip")
    etree.SubElement(etree.SubElement(fill, f"{A}stretch"), f"{A}fillRect")
    shape = etree.SubElement(drawn, f"{PIC}spPr")
    place = etree.SubElement(shape, f"{A}xfrm")
    etree.SubElement(place, f"{A}off")
    etree.SubElement(place, f"{A}ext")
    etree.SubElement(etree.SubElement(shape, f"{A}prstGeom", {"prst": "rect"}), f"{A}avLst")
    return drawn

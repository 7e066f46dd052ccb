"""Pictures and charts copied onto sheets of another workbook, with all their parts.

Anchors of drawings are copied with all that they hold, and moved to other cells.
"""

import re
from collections.abc import Iterator
from copy import deepcopy
from typing import Any, ClassVar

from lxml import etree

from kbd.errors import ValidationFailed
from kbd.office.assets import PartCopier
from kbd.opc.element_names import local_name, namespace_of
from kbd.opc.package import Package, Relation
from kbd.opc.rewriter import xml_bytes
from kbd.sheets.areas import MAX_COLUMN, MAX_ROW, Area
from kbd_xlsx.drawings.anchors import next_drawn_id
from kbd_xlsx.drawings.drawing_part import require_drawing
from kbd_xlsx.edits.book import BookEdit
from kbd_xlsx.parts.stylesheet import number_of
from kbd_xlsx.styles.drawings import (
    RELATION_SPACES,
    DrawnObject,
    drawing_of,
    drawn_objects,
    why_not_copied,
)
from kbd_xlsx.styles.theme import workbook_parts
from kbd_xlsx.workbook import SheetEntry, Workbook, find_sheet

__all__ = ["ObjectCopier", "WorkbookPartCopier", "copied_anchor", "like", "moved_anchor"]


class WorkbookPartCopier(PartCopier):
    """Copies parts between workbooks of the same variant.

    Attributes:
        goes_to: Where what is copied goes, and what it is ("Sheet1, chart Chart 1"); the theme if
            nothing is said.
    """

    kinds: ClassVar[frozenset[str]] = frozenset(
        (
            *("image", "chart", "chartEx", "chartStyle", "chartColorStyle", "chartUserShapes"),
            *("package", "themeOverride", "hyperlink", "theme"),
        )
    )
    media_suffixes: ClassVar[frozenset[str]] = frozenset(
        ("png", "jpg", "jpeg", "gif", "bmp", "tif", "tiff", "emf", "wmf", "svg", "wdp", "ico")
    )
    shares_media = False
    goes_to = "theme"

    def note_external(self, relation: Relation) -> None:
        """Note what is outside, but for a link, which only leads there when it is clicked."""
        if relation.kind != "hyperlink":
            self.warnings.note_external(f"{self.goes_to}: {relation.target}")


def copied_anchor(anchor: etree._Element) -> etree._Element:
    """Return a copy of an anchor that still declares every prefix that it uses.

    Prefixes are also used in values ("Requires"), which a plain copy does not see.
    """
    made = like(anchor, local_name(anchor))
    made.attrib.update(anchor.attrib)
    made.extend([deepcopy(child) for child in anchor])
    return made


def like(element: etree._Element, name: str) -> etree._Element:
    """Return an empty element that declares the prefixes of another one, in its namespace."""
    # The stubs do not know that the plain namespace's prefix is None.
    nsmap: Any = element.nsmap
    return etree.Element(f"{{{namespace_of(element.tag)}}}{name}", nsmap=nsmap)


def moved_anchor(anchor: etree._Element, picture: etree._Element, area: Area) -> etree._Element:
    """Return an anchor whose top left corner is at an area's, as large as before.

    A picture that is not to grow with the cells keeps its size in lengths, for the columns of
    another sheet are not as wide; so does what was not tied to cells.

    Args:
        anchor: The anchor, already a copy.
        picture: The picture or frame in it.
        area: Where it goes; only its first cell counts.

    Raises:
        ValidationFailed: It would go past the end of the sheet.
    """
    size = _size(anchor, picture)
    name = local_name(anchor)
    if name == "twoCellAnchor" and (anchor.get("editAs", "twoCell") == "twoCell" or size is None):
        return _shifted(anchor, area)
    if size is None:
        raise ValidationFailed("it has no size of its own and cannot be moved; copy it in place")
    if name == "oneCellAnchor":
        return _shifted(anchor, area)
    space = namespace_of(anchor.tag)
    made = like(anchor, "oneCellAnchor")
    start = etree.SubElement(made, f"{{{space}}}from")
    # Anchors count from 0, and the schema wants the four elements in this order.
    corner = {"col": area.left - 1, "colOff": 0, "row": area.top - 1, "rowOff": 0}
    for part, value in corner.items():
        etree.SubElement(start, f"{{{space}}}{part}").text = str(value)
    extent = etree.SubElement(made, f"{{{space}}}ext")
    extent.set("cx", str(size[0]))
    extent.set("cy", str(size[1]))
    places = ("from", "to", "pos", "ext")
    made.extend([child for child in anchor if local_name(child) not in places])
    return made


def _shifted(anchor: etree._Element, area: Area) -> etree._Element:
    """Move an anchor's corners by as many rows and columns each."""
    corners = [child for child in anchor if local_name(child) in ("from", "to")]
    # All are moved by as much as the first one, which must be the top left corner.
    if not corners or local_name(corners[0]) != "from":
        raise ValidationFailed("its place is damaged")
    for part, first, last in (("row", area.top, MAX_ROW), ("col", area.left, MAX_COLUMN)):
        elements = [corner.find(f"{{*}}{part}") for corner in corners]
        texts = ["" if element is None else (element.text or "").strip() for element in elements]
        if not all(text.isdecimal() and len(text) < 10 for text in texts):
            raise ValidationFailed("its place is damaged")
        numbers = [int(text) for text in texts]
        shift = first - 1 - numbers[0]
        if any(number + shift >= last for number in numbers):
            raise ValidationFailed("it would go past the end of the sheet")
        for element, number in zip(elements, numbers, strict=True):
            if element is not None:
                element.text = str(number + shift)
    for corner in corners:
        # With two corners the offsets are part of the size; one alone goes to its cell's corner.
        if local_name(corner) == "from" and len(corners) == 1:
            for offset in corner.iterchildren("{*}colOff", "{*}rowOff"):
                offset.text = "0"
    return anchor


def _size(anchor: etree._Element, picture: etree._Element) -> tuple[int, int] | None:
    """Return a picture's size in English Metric Units, None where its anchor has none."""
    extent = anchor.find("{*}ext")
    # A two-cell anchor has no size of its own, but the picture's properties may have one.
    if extent is None:
        extent = picture.find("./{*}spPr/{*}xfrm/{*}ext")
    if extent is None:
        return None
    size = number_of(extent, "cx"), number_of(extent, "cy")
    return size if all(size) else None


_ALONE = "only what stands alone can be copied"
_SHEET = re.compile(r"(?:'((?:[^']|'')+)'|([^\s!'(),:;&*/+\"-]+))!")


class ObjectCopier:
    """Copies pictures and charts.

    Args:
        source: The workbook that has them.
        workbook: The same, as it is read.
        book: The workbook that gets them.
    """

    def __init__(self, source: Package, workbook: Workbook, book: BookEdit) -> None:
        self._source, self._workbook, self._book = source, workbook, book
        self._copier = WorkbookPartCopier(source, book.rewriting, book.notices)

    def find(self, kind: str, name: str) -> tuple[SheetEntry, str, DrawnObject]:
        """Return an object with its sheet and the part of its drawing.

        Args:
            kind: "image" or "chart".
            name: As "Sheet1/Picture 1".

        Raises:
            ValidationFailed: There is none, or it cannot be copied.
        """
        known = []
        for sheet in self._workbook.sheets:
            part = drawing_of(self._source, sheet.part) if sheet.part else ""
            for drawn in drawn_objects(self._source.root(part)) if part else ():
                full = f"{sheet.name}/{drawn.name}"
                if drawn.kind != kind:
                    continue
                if full.casefold() == name.casefold():
                    reason = why_not_copied(drawn)
                    if reason:
                        raise ValidationFailed(f"there is {kind} {name!r}, {reason}; {_ALONE}")
                    return sheet, part, drawn
                known.append(full)
        there = f"; there are: {', '.join(known[:20])}" if known else ""
        raise ValidationFailed(f"the source has no {kind} {name!r}{there}")

    def copy(self, kind: str, name: str, sheet: str, area: Area | None) -> str:
        """Copy an object to a sheet and return where it is then.

        Args:
            kind: "image" or "chart".
            name: As "Sheet1/Picture 1".
            sheet: The title of the sheet that it goes to.
            area: The cell of its top left corner; None keeps its place.

        Raises:
            ValidationFailed: There is no such object, or it cannot be copied without a loss.
        """
        _, part, drawn = self.find(kind, name)
        self._check_variants()
        self._copier.begin_asset()
        self._copier.goes_to = f"{sheet}, {kind} {drawn.name}"
        try:
            covered = self._anchored(part, drawn, area, self._drawing(sheet, drawn), name)
        except ValidationFailed as error:
            raise ValidationFailed(
                f"the {kind} {name!r} cannot be copied: {error.message}"
            ) from error
        return f"{sheet}!{covered}" if covered else sheet

    def _check_variants(self) -> None:
        strict = self._book.rewriting.relation_types.startswith("http://purl.oclc.org")
        if strict != self._source.is_strict:
            raise ValidationFailed(
                "pictures and charts cannot be copied between a strict workbook and another one"
            )

    def _anchored(
        self, part: str, drawn: DrawnObject, area: Area | None, drawing: str, name: str
    ) -> str:
        """Append an object's anchor to a drawing and return the cells that it covers there."""
        root = self._book.rewriting.root(drawing)
        anchor = copied_anchor(drawn.anchor)
        pictures = [each for each in drawn_objects(_wrapped(anchor)) if each.kind == drawn.kind]
        if drawn.kind == "chart":
            self._check_chart(part, drawn, name)
        self._copier.relate_named([anchor], self._copier.relations(part), drawing)
        # A number stands for one object of a drawing, so the copies get new ones.
        number = next_drawn_id(root)
        for element in anchor.iter("{*}cNvPr"):
            element.set("id", str(number))
            number += 1
        # The macro stays behind, and its name must not call one of the other workbook's.
        if drawn.element.get("macro"):
            self._book.notices.warn(f"{drawn.kind} {name} ran a macro when clicked; it does not.")
            for element in anchor.iter("{*}pic", "{*}graphicFrame"):
                element.set("macro", "")
        if area is not None:
            anchor = moved_anchor(anchor, pictures[0].element, area)
        root.append(anchor)
        _check_prefixes(anchor)
        self._book.rewriting.put(drawing, xml_bytes(root))
        return drawn_objects(_wrapped(copied_anchor(anchor)))[0].range

    def _drawing(self, sheet: str, drawn: DrawnObject) -> str:
        """Return the part of a sheet's drawing, which is made if there is none."""
        root = drawn.anchor.getroottree().getroot()
        empty = like(root, local_name(root))
        empty.attrib.update(root.attrib)
        return require_drawing(self._book, sheet, xml_bytes(empty))

    def _check_chart(self, part: str, drawn: DrawnObject, name: str) -> None:
        """Refuse a chart that cannot live elsewhere; tell what it will show there."""
        relations = self._copier.relations(part)
        for element in drawn.element.iter("{*}chart"):
            for key, value in element.attrib.items():
                relation = relations.get(str(value))
                if not str(key).startswith(RELATION_SPACES) or relation is None:
                    continue
                root = self._source.root(relation.target)
                if root.find("{*}pivotSource") is not None:
                    raise ValidationFailed("it shows a pivot table, which stays behind")
                formulas = [each.text or "" for each in root.iter("{*}f")]
                self._check_formulas(formulas, name)

    def _check_formulas(self, formulas: list[str], name: str) -> None:
        for sheet in dict.fromkeys(sheet for text in formulas for sheet in _sheets(text)):
            if "[" in sheet:
                raise ValidationFailed(f"it takes its data from another workbook ({sheet[:60]})")
            found = self._book.find(sheet)
            if found is None:
                self._book.notices.warn(
                    f"Chart {name} takes its data from sheet {sheet}, which this workbook does "
                    "not have; it shows what it was saved with."
                )
            elif not self._is_same(sheet, found):
                self._book.notices.warn(
                    f"Chart {name} takes its data from sheet {found} of this workbook now, which "
                    "is not the same as in the source."
                )
        if any("_xlchart" in text for text in formulas):
            raise ValidationFailed("its data is in hidden names, which stay behind")

    def _is_same(self, sheet: str, title: str) -> bool:
        """Tell whether two sheets are of the same bytes, their shared texts among them."""
        try:
            old = find_sheet(self._workbook, sheet)
        except ValidationFailed:
            return False
        # Cells name shared texts by number, so equal sheets may still show other texts.
        return (self._source.read(old.part), self._texts(self._source)) == (
            self._book.rewriting.read(self._book.part(title)),
            self._texts(None),
        )

    def _texts(self, package: Package | None) -> bytes:
        """Return the shared texts of the source, or for None of the workbook that is changed."""
        if package is not None:
            part = workbook_parts(package).get("sharedStrings", "")
            return package.read(part) if part else b""
        rewriting = self._book.rewriting
        relations = rewriting.relations(self._book.main)
        part = next((each.target for each in relations if each.kind == "sharedStrings"), "")
        return rewriting.read(part) if part in rewriting else b""


def _wrapped(anchor: etree._Element) -> etree._Element:
    """Return an element that holds just an anchor."""
    root = etree.Element("drawing")
    root.append(anchor)
    return root


def _sheets(formula: str) -> Iterator[str]:
    """Yield the sheets that a formula names."""
    for found in _SHEET.finditer(formula):
        name = (found[1] or "").replace("''", "'") or found[2]
        if name != "[0]":
            yield name


def _check_prefixes(anchor: etree._Element) -> None:
    """Refuse what names a prefix that is not declared where it stands now."""
    for element in anchor.iter():
        wanted = element.get("Requires", "").split() if local_name(element) == "Choice" else ()
        if any(prefix not in element.nsmap for prefix in wanted):
            raise ValidationFailed("it uses a newer form of the format in an unusual way")

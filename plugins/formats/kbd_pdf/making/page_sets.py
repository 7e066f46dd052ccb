"""Pages taken over from one file into another, with what comes along and what cannot.

Text, pictures, links within the pages, entries of the table of contents that lead to them, and form
fields on them come along. What belongs to the whole file does not: it is named.
"""

from collections.abc import Sequence

from pypdf import PdfReader, PdfWriter
from pypdf.generic import NameObject

from kbd_pdf.form_fields import fields_of
from kbd_pdf.objects import dictionary
from kbd_pdf.structure import read_structure

__all__ = ["drop_signatures", "drop_xfa", "left_behind", "take_pages", "turn"]

_CATALOG_PARTS = {
    "/StructTreeRoot": "tags for screen readers",
    "/PageLabels": "page labels",
    "/OpenAction": "what it does when it is opened",
    "/AA": "what it does by itself",
    "/Collection": "the portfolio",
}
_NAMED_PARTS = {"/EmbeddedFiles": "attached files", "/JavaScript": "scripts of the whole file"}

MAX_NAMED = 5


def take_pages(
    writer: PdfWriter, reader: PdfReader, numbers: Sequence[int], name: str
) -> list[str]:
    """Add pages of a file, counted from 1, to another; return what should be known of it."""
    warnings = []
    known = {field.name for field in fields_of(dictionary(writer.root_object.get("/AcroForm")))}
    # A copy of each page that is asked for, in that order, with what leads from one to another.
    writer.append(reader, pages=[number - 1 for number in numbers], import_outline=True)
    form = dictionary(reader.root_object.get("/AcroForm"))
    if form:
        came = {field.name for field in fields_of(form)}
        if same := sorted(known & came - {""})[:MAX_NAMED]:
            warnings.append(
                f"Fields of {name} have names that are taken ({', '.join(same)}): programs show "
                "fields of one name with one value."
            )
    layers = dictionary(reader.root_object.get("/OCProperties"))
    if layers and "/OCProperties" not in writer.root_object:
        # Without them what is switched off would be shown. Those of a second file are named.
        writer.root_object[NameObject("/OCProperties")] = layers.clone(writer)
    elif layers:
        warnings.append(f"Layers of {name} that were switched off are shown now.")
    if left := left_behind(reader):
        warnings.append(f"Not taken over from {name}: {', '.join(left)}.")
    return warnings


def left_behind(reader: PdfReader) -> list[str]:
    """Return what of a whole file does not come along with its pages, in words."""
    root = reader.root_object
    found = [what for key, what in _CATALOG_PARTS.items() if key in root]
    names = dictionary(root.get("/Names"))
    found += [what for key, what in _NAMED_PARTS.items() if key in names]
    if read_structure(reader, with_pages=False).is_signed:
        found.append("signatures, which do not hold for other files")
    return found


def drop_signatures(writer: PdfWriter) -> None:
    """Take the values out of fields for signatures, and the flags that say that there are some."""
    form = dictionary(writer.root_object.get("/AcroForm"))
    if not form:
        return
    form.pop("/SigFlags", None)
    for field in fields_of(form):
        if field.kind == "signature":
            field.node.pop("/V", None)
            for widget in field.widgets:
                widget.pop("/AP", None)


def drop_xfa(writer: PdfWriter) -> bool:
    """Take the form of the kind XFA out, which has its own values; tell whether there was one."""
    form = dictionary(writer.root_object.get("/AcroForm"))
    return form.pop("/XFA", None) is not None


def turn(writer: PdfWriter, numbers: Sequence[int], degrees: int) -> None:
    """Turn pages, counted from 1, clockwise."""
    for number in numbers:
        writer.pages[number - 1].rotate(degrees)

"""The operations that make PDF files; a file that there is stays as it is."""

from typing import Annotated, Literal

import msgspec

from kbd.formats import FilePath

__all__ = [
    "OPERATIONS",
    "AddPages",
    "FieldValue",
    "FillForm",
    "KeepPages",
    "PdfOperation",
    "RotatePages",
]

MAX_FIELDS = 5000
"""Fields of one operation."""

Pages = Annotated[str, msgspec.Meta(description='Counted from 1: "1-5", "3", "2,7-9".')]
Degrees = Annotated[
    Literal[90, 180, 270], msgspec.Meta(description="Clockwise, added to how they are turned.")
]


class PdfOperation(
    msgspec.Struct,
    frozen=True,
    tag_field="op",
    forbid_unknown_fields=True,
    omit_defaults=True,
):
    """The base of all operations, told apart by `op`."""


class AddPages(PdfOperation, frozen=True, tag="add_pages"):
    """Add pages of a PDF file at the end, in the order of `pages`; all pages without it.

    Several of these merge files.
    """

    file: FilePath
    pages: Pages | None = None
    degrees: Degrees | None = None


class KeepPages(PdfOperation, frozen=True, tag="keep_pages"):
    """Keep only these pages of the new file, in this order."""

    pages: Pages


class RotatePages(PdfOperation, frozen=True, tag="rotate_pages"):
    """Turn pages of the new file."""

    degrees: Degrees
    pages: Pages | None = None


class FieldValue(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A field of a form and its value: text, true or false, an option, or several options."""

    name: Annotated[str, msgspec.Meta(description="As the map lists it.")]
    value: str | bool | int | float | list[str]


class FillForm(PdfOperation, frozen=True, tag="fill_form"):
    """Give fields of the form values; the others keep theirs."""

    fields: Annotated[tuple[FieldValue, ...], msgspec.Meta(min_length=1, max_length=MAX_FIELDS)]


OPERATIONS: tuple[type[PdfOperation], ...] = (AddPages, KeepPages, RotatePages, FillForm)

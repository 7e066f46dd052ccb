"""What is written on a page beside its text: notes of people, and the values of form fields."""

import ctypes
from collections.abc import Callable, Iterator
from typing import Any

import pypdfium2 as pdfium
from pypdfium2 import raw

from kbd_pdf.pages import clean, utf16

__all__ = ["notes_of"]

MOST_NOTES = 500
"""Notes and fields of a page that are looked at."""

MOST_CHARACTERS = 2000
"""Of one of them."""

_SILENT = (raw.FPDF_ANNOT_LINK, raw.FPDF_ANNOT_POPUP)
_HIDDEN = raw.FPDF_ANNOT_FLAG_HIDDEN | raw.FPDF_ANNOT_FLAG_NOVIEW
_TICKED = (raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON)

Fill = Callable[[Any, int], int]
"""Writes a text of UTF-16 into a buffer of some bytes, and returns how many it needs."""


def notes_of(document: pdfium.PdfDocument, page: pdfium.PdfPage) -> Iterator[str]:
    """Yield a line in brackets for each note and each form field with a value."""
    for place in range(min(raw.FPDFPage_GetAnnotCount(page), MOST_NOTES)):
        note = raw.FPDFPage_GetAnnot(page, place)
        if not note:
            continue
        try:
            kind = raw.FPDFAnnot_GetSubtype(note)
            if kind == raw.FPDF_ANNOT_WIDGET:
                told = _field(document.formenv, note)
            else:
                told = "" if kind in _SILENT else _remark(note)
            if told:
                hidden = "hidden " if raw.FPDFAnnot_GetFlags(note) & _HIDDEN else ""
                yield f"[{hidden}{told}]"
        finally:
            raw.FPDFPage_CloseAnnot(note)


def _field(forms: pdfium.PdfFormEnv | None, note: Any) -> str:
    if forms is None:
        return ""
    name = _text(lambda buffer, size: raw.FPDFAnnot_GetFormFieldName(forms, note, buffer, size))
    if raw.FPDFAnnot_GetFormFieldType(forms, note) in _TICKED:
        if not raw.FPDFAnnot_IsChecked(forms, note):
            return ""
        return f"form field {name}: ticked"
    value = _text(lambda buffer, size: raw.FPDFAnnot_GetFormFieldValue(forms, note, buffer, size))
    return f"form field {name}: {value}" if value else ""


def _remark(note: Any) -> str:
    words = _said(note, b"Contents")
    if not words:
        return ""
    author = _said(note, b"T")
    return f"note by {author}: {words}" if author else f"note: {words}"


def _said(note: Any, key: bytes) -> str:
    return _text(lambda buffer, size: raw.FPDFAnnot_GetStringValue(note, key, buffer, size))


def _text(fill: Fill) -> str:
    size = fill(None, 0)
    if size <= 2:
        return ""
    buffer = ctypes.create_string_buffer(size)
    fill(ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), size)
    text = clean(utf16(buffer)).strip()
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}…"

"""Forms of real files filled in, and pages taken out of real files, as other programs see them."""

import logging
import subprocess
from collections.abc import Iterator
from pathlib import Path
from shutil import which

import pypdfium2 as pdfium
import pytest
from pypdf import PdfReader

from kbd.errors import FileReadFailed, KbdError
from kbd.formats import Source
from kbd_pdf import PdfFormat
from kbd_pdf.documents import open_by_pypdf
from kbd_pdf.form_fields import FormField, fields_of
from kbd_pdf.making.operations import AddPages, FieldValue, FillForm
from kbd_pdf.objects import dictionary

PDF = PdfFormat()

pytestmark = [pytest.mark.corpora, pytest.mark.full]

_TEXT = "Zq 12 éx"
_FIT = 60
"""Points that a field is wide, at least, in which the text is surely seen."""


def fields_in(reader: PdfReader) -> list[FormField]:
    """The fields of a form."""
    return list(fields_of(dictionary(reader.root_object.get("/AcroForm"))))


def value_for(field: FormField) -> str | None:
    """A value that a field takes, None where it takes none."""
    options = field.options()
    if field.is_read_only:
        return None
    match field.kind:
        case "text":
            most = field.max_length()
            return _TEXT if most is None else _TEXT[:most]
        case "choice" | "checkbox" | "radio":
            return next((shown for _, shown in reversed(options) if shown), None)
        case _:
            return None


def seen_values(field: FormField) -> set[str]:
    """What a field holds, as it is stored and as people see it."""
    held = str(field.known.get("/V")).removeprefix("/")
    return {held, *(shown for stored, shown in field.options() if stored == held)}


def forms(corpora: Path) -> Iterator[tuple[Source, dict[str, str]]]:
    """Each file with fields to fill in, and a value for each of them."""
    for path in sorted((corpora / "pdf").glob("*.pdf")):
        source = Source(path, path.name)
        try:
            with open_by_pypdf(source) as reader:
                if reader.is_encrypted:
                    continue
                values = {field.name: value_for(field) for field in fields_in(reader)}
        except FileReadFailed:
            continue
        given = {name: value for name, value in values.items() if value is not None}
        if given:
            yield source, given


def test_real_forms_are_filled_and_read_back(corpora: Path, tmp_path: Path) -> None:
    """Each fillable real form has its values in the new file, read by pypdf, shown by poppler."""
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    filled = shown = 0
    for count, (source, values) in enumerate(forms(corpora)):
        target = tmp_path / f"{count}.pdf"
        operation = FillForm(tuple(FieldValue(name, value) for name, value in values.items()))
        PDF.apply(source, (operation,), target)
        reader = PdfReader(target)
        wrong = {
            field.name
            for field in fields_in(reader)
            if field.name in values and values[field.name] not in seen_values(field)
        }
        assert not wrong, f"{source.name}: {wrong}"
        filled += 1
        if which("pdftotext") and _TEXT in values.values():
            told = subprocess.run(["pdftotext", target, "-"], capture_output=True, check=True)
            shown += "Zq" in told.stdout.decode("utf-8", "replace")
    assert filled >= 28
    assert shown >= 18 or not which("pdftotext")


def drawn(path: Path, index: int) -> bytes:
    """A page as pdfium draws it, small."""
    with pdfium.PdfDocument(path) as document:
        page = document[index]
        width, height = page.get_size()
        picture = page.render(scale=200 / max(width, height, 1)).to_pil()
        page.close()
    return bytes(picture.convert("L").tobytes())


def test_real_pages_look_the_same_in_a_new_file(corpora: Path, tmp_path: Path) -> None:
    """The last page of each real file that pypdf reads is drawn alike when it is taken out."""
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    alike, other = 0, []
    for count, path in enumerate(sorted((corpora / "pdf").glob("*.pdf"))):
        if path.stat().st_size > 2_000_000:
            continue
        source, target = Source(path, path.name), tmp_path / f"{count}.pdf"
        try:
            pages = PDF.info(source)["page_count"]
            PDF.apply_with_files(None, (AddPages("a", str(pages)),), target, {"a": source})
        except KbdError:
            continue
        try:
            before = drawn(path, pages - 1)
        except pdfium.PdfiumError:
            continue
        if drawn(target, 0) == before:
            alike += 1
        else:
            other.append(path.name)
    assert alike > 250
    assert len(other) <= 4, other

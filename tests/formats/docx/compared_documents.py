"""A document for comparisons, what is done to it, and the comparison of files."""

import copy
import io
from functools import cache
from pathlib import Path

import docx
from docx.document import Document
from docx.shared import Inches
from PIL import Image

from kbd.formats import CompareOptions, Comparison, Source
from kbd_docx import DocxFormat

__all__ = ["SAID", "compared", "contract", "insert_row", "move", "picture", "source"]

FORMAT = DocxFormat()
SAID = "says something about item"


def picture(color: str) -> io.BytesIO:
    """Return a small picture."""
    found = io.BytesIO()
    Image.new("RGB", (20, 20), color).save(found, "PNG")
    found.seek(0)
    return found


@cache
def contract_bytes() -> bytes:
    """Return a document with sections, a table, a header, a picture and formatting."""
    document = docx.Document()
    document.add_heading("Pricing", 1)
    for index in range(8):
        document.add_paragraph(f"Paragraph number {index} {SAID} {index * 7}.")
    table = document.add_table(4, 3, style="Table Grid")
    for row in range(4):
        for column in range(3):
            table.cell(row, column).text = f"{341.60 + row * 10 + column:.2f}"
    document.add_heading("Terms", 1)
    paragraph = document.add_paragraph("We pay ")
    paragraph.add_run("within ").bold = True
    paragraph.add_run("30 days.")
    document.sections[0].header.paragraphs[0].text = "Acme Confidential"
    document.add_picture(picture("red"), width=Inches(1))
    found = io.BytesIO()
    document.save(found)
    return found.getvalue()


def contract(path: Path) -> Path:
    """Write that document, and return its path."""
    path.write_bytes(contract_bytes())
    return path


def source(path: Path | None) -> Source | None:
    """Return a file as a source."""
    return None if path is None else Source(path, path.name)


def compared(before: Path | None, after: Path | None) -> Comparison:
    """Compare two files."""
    return FORMAT.compare(source(before), source(after), CompareOptions())


def move(document: Document) -> None:
    """Move two paragraphs below the others."""
    paragraphs = document.paragraphs
    first, second = paragraphs[2]._p, paragraphs[3]._p
    paragraphs[8]._p.addnext(second)
    paragraphs[8]._p.addnext(first)


def insert_row(document: Document) -> None:
    """Put a row into the table."""
    table = document.tables[0]
    table.rows[1]._tr.addnext(copy.deepcopy(table.rows[1]._tr))
    for cell in table.rows[2].cells:
        cell.text = "new"

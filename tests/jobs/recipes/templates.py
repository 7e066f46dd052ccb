"""Templates that jobs fill in."""

import io

import docx
import openpyxl
import pptx
from pptx.util import Inches

__all__ = ["template_bytes"]


def template_bytes(file: str) -> bytes:
    """Return a template by its name."""
    made = io.BytesIO()
    match file:
        case "letter.docx":
            letter = docx.Document()
            letter.add_paragraph("Dear {{customer}},")
            letter.add_paragraph("your {{count}} orders come to {{total}}.")
            letter.save(made)
        case "list.docx":
            document = docx.Document()
            document.add_paragraph("Open orders: {{total}}")
            table = document.add_table(2, 2)
            table.cell(0, 0).text, table.cell(0, 1).text = "Region", "Revenue"
            table.cell(1, 0).text = "{{lines.Region}}"
            table.cell(1, 1).text = "{{lines.Revenue}}"
            document.save(made)
        case "review.pptx":
            deck = pptx.Presentation()
            slide = deck.slides.add_slide(deck.slide_layouts[6])
            box = slide.shapes.add_textbox(Inches(1), Inches(1), Inches(6), Inches(1))
            box.text_frame.text = "Stock: {{pieces}} pieces, worth {{worth}}"
            deck.save(made)
        case "form.xlsx":
            book = openpyxl.Workbook()
            sheet = book.active
            assert sheet is not None
            sheet.append(["Department", "Pay"])
            sheet.append(["{{rows.Department}}", "{{rows.Pay}}"])
            sheet.append(["All", "=SUM(B2:B2)"])
            book.save(made)
        case _:
            raise ValueError(file)
    return made.getvalue()

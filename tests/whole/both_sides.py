"""Workbooks, documents and decks that both sides of a rebase edit, each with what it holds.

What is there is kept beside, in memory, by what each row, paragraph or slide is, wherever it
stands; what came of it is read with the libraries that other programs use.
"""

from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import docx
import openpyxl
import pptx
from docx.document import Document
from openpyxl.worksheet.worksheet import Worksheet
from pptx.slide import Slide

__all__ = [
    "COLUMNS",
    "Paragraphs",
    "Sheet",
    "Slides",
    "cells_of",
    "change_paragraphs",
    "change_rows",
    "draft_edit",
    "drop_slide",
    "fill_slide",
    "make_paragraphs",
    "make_sheet",
    "make_slides",
    "paragraph_of",
    "read_deck",
    "read_document",
    "read_sheet",
    "write_deck",
    "write_document",
    "write_sheet",
]

WORDS = [
    "alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india",
    "juliett", "kilo", "lima", "mike", "november", "oscar", "papa", "quebec", "romeo",
    "sierra", "tango", "uniform", "victor", "whiskey", "xray", "yankee", "zulu",
]  # fmt: skip

COLUMNS = "ABCDE"

Row = dict[str, Any]
"""A row: its cells by their columns."""


class Sheet(NamedTuple):
    """Rows as they stand, each with its number in the base; 0 for one that somebody inserted."""

    rows: list[tuple[int, Row]]

    def at(self, number: int) -> int:
        """Return where a row of the base stands, from 1."""
        return 1 + [each for each, _ in self.rows].index(number)


def make_sheet(chance: Random) -> Sheet:
    """Return rows of texts and numbers, with gaps."""
    rows = []
    for number in range(1, 31):
        row = {
            column: f"{chance.choice(WORDS)} {number}{column}" if chance.random() < 0.6 else
            number * 100 + place
            for place, column in enumerate(COLUMNS) if place == 0 or chance.random() < 0.9
        }  # fmt: skip
        rows.append((number, row))
    return Sheet(rows)


def write_sheet(path: Path, sheet: Sheet) -> None:
    """Write a workbook with these rows, and a second sheet."""
    book = openpyxl.Workbook()
    data = book.create_sheet("Data")
    del book["Sheet"]
    for number, (_, row) in enumerate(sheet.rows, 1):
        for column, value in row.items():
            data[f"{column}{number}"] = value
    book.create_sheet("Other")["A1"] = "stays"
    book.save(path)


def read_sheet(path: Path) -> dict[str, Any]:
    """Return the cells of the first sheet by their addresses."""
    data = openpyxl.load_workbook(path)["Data"]
    return {cell.coordinate: cell.value for row in data for cell in row if cell.value is not None}


def cells_of(sheet: Sheet) -> dict[str, Any]:
    """Return the cells of rows by the addresses that they have as the rows stand."""
    return {
        f"{column}{number}": value
        for number, (_, row) in enumerate(sheet.rows, 1)
        for column, value in row.items()
        if value is not None
    }


def change_rows(
    chance: Random, path: Path, base: Sheet, cells: dict[tuple[int, str], Any]
) -> Sheet:
    """Change published/ with another program: cells, rows inserted, rows removed."""
    book = openpyxl.load_workbook(path)
    data = book["Data"]
    assert isinstance(data, Worksheet)
    rows = [(number, dict(row)) for number, row in base.rows]
    for (number, column), value in cells.items():
        data[f"{column}{number}"] = value
        rows[number - 1][1][column] = value
    touched = {number for number, _ in cells}
    for _ in range(chance.choice((0, 0, 1, 2))):
        at = chance.randrange(len(rows))
        data.insert_rows(at + 1)
        data[f"A{at + 1}"] = value = f"inserted {chance.random()}"
        rows.insert(at, (0, {"A": value}))
    if chance.random() < 0.3:
        at = chance.choice(
            [n for n, (number, _) in enumerate(rows) if number not in {*touched, 30}]
        )
        data.delete_rows(at + 1)
        del rows[at]
    book.save(path)
    return Sheet(rows)


Paragraphs = list[tuple[int, str]]
"""Texts as they stand, each with its number in the base; 0 for one that somebody inserted."""


def make_paragraphs(chance: Random) -> Paragraphs:
    """Return paragraphs, no two alike."""
    return [
        (
            number,
            f"{number}: {' '.join(chance.choices(WORDS, k=chance.randint(3, 12)))} end{number}.",
        )
        for number in range(1, 31)
    ]


def write_document(path: Path, paragraphs: Paragraphs) -> None:
    """Write a document with these paragraphs, and a table in their midst."""
    document = docx.Document()
    for number, text in paragraphs:
        document.add_paragraph(text, style="Heading 1" if number % 10 == 1 else None)
        if number == 15:
            table = document.add_table(3, 3)
            for row in range(3):
                for column in range(3):
                    table.cell(row, column).text = f"cell {row} {column}"
    document.save(str(path))


def read_document(path: Path) -> tuple[list[str], list[list[str]]]:
    """Return the texts of a document's paragraphs, and the cells of its table."""
    document = docx.Document(str(path))
    cells = [[cell.text for cell in row.cells] for row in document.tables[0].rows]
    return [each.text for each in document.paragraphs if each.text], cells


def change_paragraphs(
    chance: Random, path: Path, paragraphs: Paragraphs, places: list[int]
) -> None:
    """Change published/ with another program, and the list alike."""
    document = docx.Document(str(path))
    for number in places:
        at = [each for each, _ in paragraphs].index(number)
        found = paragraph_of(document, paragraphs[at][1])
        match chance.choice(("change", "insert", "delete")):
            case "change":
                found.add_run(f" theirs {number}")
                paragraphs[at] = number, f"{paragraphs[at][1]} theirs {number}"
            case "insert":
                found.insert_paragraph_before(f"theirs before {number}")
                paragraphs.insert(at, (0, f"theirs before {number}"))
            case _:
                found._p.getparent().remove(found._p)
                del paragraphs[at]
    document.tables[0].cell(2, 2).text = "theirs"
    document.save(str(path))


def paragraph_of(document: Document, text: str) -> Any:
    """Return the paragraph with a text."""
    return next(each for each in document.paragraphs if each.text == text)


def draft_edit(chance: Random, paragraphs: Paragraphs, number: int) -> dict[str, Any]:
    """Return an edit of the draft of a paragraph of the base, and change the list alike."""
    at = [each for each, _ in paragraphs].index(number)
    match chance.choice(("replace", "insert", "delete")):
        case "replace":
            paragraphs[at] = number, paragraphs[at][1].replace(f"end{number}.", f"OURS{number}.")
            return {"op": "replace_text", "search": f"end{number}.", "replace": f"OURS{number}."}
        case "insert":
            paragraphs.insert(at, (0, f"ours before {number}"))
            return {"op": "insert_paragraph", "at": number, "text": f"ours before {number}"}
        case _:
            del paragraphs[at]
            return {"op": "delete_paragraphs", "from": number}


Slides = list[tuple[int, str, str]]
"""Slides: their numbers in the base, titles and bodies."""


def make_slides(chance: Random) -> Slides:
    """Return slides, no two alike."""
    return [
        (number, f"Title {number}", f"{' '.join(chance.choices(WORDS, k=6))} {number}")
        for number in range(12)
    ]


def write_deck(path: Path, slides: Slides) -> None:
    """Write a deck with these slides."""
    deck = pptx.Presentation()
    for _, title, body in slides:
        fill_slide(deck.slides.add_slide(deck.slide_layouts[1]), title, body)
    deck.save(str(path))


def fill_slide(slide: Slide, title: str, body: str) -> None:
    """Write a slide's title and body."""
    for shape, text in zip(slide.placeholders, (title, body), strict=True):
        shape.text_frame.text = text


def read_deck(path: Path) -> list[tuple[str, str, str]]:
    """Return the title, the body and the notes of each slide."""
    found = []
    for slide in pptx.Presentation(str(path)).slides:
        shapes = {shape.placeholder_format.idx: shape for shape in slide.placeholders}
        texts = [shapes[n].text_frame.text if n in shapes else "" for n in (0, 1)]
        notes = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
        found.append((texts[0], texts[1], notes.text if notes is not None else ""))
    return found


def drop_slide(deck: Any, index: int) -> None:
    """Take a slide out."""
    ids = deck.slides._sldIdLst
    deck.part.drop_rel(ids[index].rId)
    ids.remove(ids[index])

"""Random edits of both sides, rebased: as if made one after the other, or the conflicts exactly.

What is expected is kept beside, in memory, by what each row, paragraph or slide is, wherever it
stands. What kbd made of it is read with the libraries that other programs use.
"""

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import docx
import openpyxl
import pptx
import pytest
from docx.document import Document
from openpyxl.worksheet.worksheet import Worksheet
from pptx.slide import Slide

from wired import Wired, wired

WORDS = [
    "alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india",
    "juliett", "kilo", "lima", "mike", "november", "oscar", "papa", "quebec", "romeo",
    "sierra", "tango", "uniform", "victor", "whiskey", "xray", "yankee", "zulu",
]  # fmt: skip


@pytest.fixture(scope="module")
def bench() -> Iterator[Wired]:
    """One daemon for all tests here; on which backend is nothing to what they promise."""
    with wired("trio", more={"KBD_LIMITS_FILE_BYTES": "10000000"}) as running:
        yield running


def _rebased(bench: Wired, wb: str) -> None:
    """Rebase and publish; nothing may be in the way."""
    done = bench.ask("DraftRebase", workbench_id=wb)
    assert done["conflicts"] == [], done["conflicts"]
    assert len(done["rebased"]) == 1
    bench.ask("DraftPublish", workbench_id=wb)


# Workbooks: a row is a list of cells; which row it is, is its place in the base.

COLUMNS = "ABCDE"
Row = dict[str, Any]


class Sheet(NamedTuple):
    """Rows as they stand, each with its number in the base; 0 for one that somebody inserted."""

    rows: list[tuple[int, Row]]

    def at(self, number: int) -> int:
        """Return where a row of the base stands, from 1."""
        return 1 + [each for each, _ in self.rows].index(number)


def _sheet(chance: Random) -> Sheet:
    rows = []
    for number in range(1, 31):
        row = {
            column: f"{chance.choice(WORDS)} {number}{column}" if chance.random() < 0.6 else
            number * 100 + place
            for place, column in enumerate(COLUMNS) if place == 0 or chance.random() < 0.9
        }  # fmt: skip
        rows.append((number, row))
    return Sheet(rows)


def _write_sheet(path: Path, sheet: Sheet) -> None:
    book = openpyxl.Workbook()
    data = book.create_sheet("Data")
    del book["Sheet"]
    for number, (_, row) in enumerate(sheet.rows, 1):
        for column, value in row.items():
            data[f"{column}{number}"] = value
    book.create_sheet("Other")["A1"] = "stays"
    book.save(path)


def _read_sheet(path: Path) -> dict[str, Any]:
    data = openpyxl.load_workbook(path)["Data"]
    return {cell.coordinate: cell.value for row in data for cell in row if cell.value is not None}


def _cells_of(sheet: Sheet) -> dict[str, Any]:
    return {
        f"{column}{number}": value
        for number, (_, row) in enumerate(sheet.rows, 1)
        for column, value in row.items()
        if value is not None
    }


def _their_rows(
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


def _edit(bench: Wired, wb: str, path: str, *operations: dict[str, Any]) -> None:
    method = {"xlsx": "XlsxApplyOps", "docx": "DocxApplyOps", "pptx": "PptxApplyOps"}
    kind = path.rpartition(".")[2]
    bench.ask(method[kind], workbench_id=wb, path=path, ops=list(operations))


@pytest.mark.sampled(6)
@pytest.mark.parametrize("seed", range(60))
def test_other_cells_of_a_workbook(bench: Wired, seed: int) -> None:
    """Values, new cells, cells below the table, ranges; rows that somebody inserted or removed."""
    chance = Random(f"cells {seed}")
    base = _sheet(chance)
    path = bench.file("a.xlsx")
    _write_sheet(path, base)
    wb = bench.daemon.workbench(path)
    published = bench.published(wb) / "a.xlsx"
    everywhere = [(number, column) for number in range(1, 31) for column in COLUMNS]
    chosen = chance.sample(everywhere, 30)
    theirs = _their_rows(chance, published, base, {
        at: chance.choice((f"theirs {at}", chance.randrange(10**6), None)) for at in chosen[:10]
    })  # fmt: skip
    standing = {number for number, _ in theirs.rows}
    mine: dict[tuple[int, str], Any] = {at: f"ours {at}" for at in chosen[10:] if at[0] in standing}
    mine[chance.choice(sorted(standing - {0})), "H"] = 3.5
    cut = chance.randrange(1, len(mine))
    below = 31 + chance.randrange(5)
    for part in (list(mine.items())[:cut], list(mine.items())[cut:]):
        settings = [{"cell": f"{column}{n}", "value": value} for (n, column), value in part]
        _edit(bench, wb, "a.xlsx", {"op": "set_cells", "sheet": "Data", "cells": settings})
    low = {"op": "set_range", "sheet": "Data", "start": f"B{below}", "values": [["low", 1.5]]}
    _edit(bench, wb, "a.xlsx", low)
    _rebased(bench, wb)

    for (number, column), value in mine.items():
        theirs.rows[theirs.at(number) - 1][1][column] = value
    wanted = _cells_of(theirs)
    at = below + len(theirs.rows) - len(base.rows)
    assert _read_sheet(published) == wanted | {f"B{at}": "low", f"C{at}": 1.5}
    assert openpyxl.load_workbook(published)["Other"]["A1"].value == "stays"


@pytest.mark.sampled(6)
@pytest.mark.parametrize("seed", range(60))
def test_the_same_cells_of_a_workbook(bench: Wired, seed: int) -> None:
    """The conflicts are the cells that both changed to something else, and only those."""
    chance = Random(f"same cells {seed}")
    base = _sheet(chance)
    path = bench.file("a.xlsx")
    _write_sheet(path, base)
    wb = bench.daemon.workbench(path)
    published = bench.published(wb) / "a.xlsx"
    everywhere = [(number, column) for number in range(1, 36) for column in COLUMNS]
    chosen = chance.sample(everywhere, 40)
    both, agreed = chosen[: chance.randint(1, 6)], chosen[6:10]
    mine = {at: f"ours {at}" for at in (*both, *chosen[10:20])}
    yours = {at: f"theirs {at}" for at in (*both, *chosen[20:])}
    same = {at: f"same {at}" for at in agreed}
    book = openpyxl.load_workbook(published)
    for (number, column), value in (yours | same).items():
        book["Data"][f"{column}{number}"] = value
    book.save(published)
    settings = [{"cell": f"{c}{n}", "value": value} for (n, c), value in (mine | same).items()]
    _edit(bench, wb, "a.xlsx", {"op": "set_cells", "sheet": "Data", "cells": settings})
    before = bench.ask("ReviewGetChangeSet", workbench_id=wb)
    conflicts = bench.ask("DraftRebase", workbench_id=wb)["conflicts"]

    assert {
        (each["place"]["title"], each["ours"], each["theirs"]) for each in conflicts
    } == {(f"Data!{column}{number}", mine[number, column], yours[number, column])
          for number, column in both}  # fmt: skip
    assert len(conflicts) == len(both)
    assert bench.ask("ReviewGetChangeSet", workbench_id=wb) == before


# Documents: a paragraph is its text; which one it is, its number in the base.

Paragraphs = list[tuple[int, str]]


def _paragraphs(chance: Random) -> Paragraphs:
    return [
        (
            number,
            f"{number}: {' '.join(chance.choices(WORDS, k=chance.randint(3, 12)))} end{number}.",
        )
        for number in range(1, 31)
    ]


def _write_document(path: Path, paragraphs: Paragraphs) -> None:
    document = docx.Document()
    for number, text in paragraphs:
        document.add_paragraph(text, style="Heading 1" if number % 10 == 1 else None)
        if number == 15:
            table = document.add_table(3, 3)
            for row in range(3):
                for column in range(3):
                    table.cell(row, column).text = f"cell {row} {column}"
    document.save(str(path))


def _read_document(path: Path) -> tuple[list[str], list[list[str]]]:
    document = docx.Document(str(path))
    cells = [[cell.text for cell in row.cells] for row in document.tables[0].rows]
    return [each.text for each in document.paragraphs if each.text], cells


def _their_paragraphs(
    chance: Random, path: Path, paragraphs: Paragraphs, places: list[int]
) -> None:
    """Change published/ with another program, and the list alike."""
    document = docx.Document(str(path))
    for number in places:
        at = [each for each, _ in paragraphs].index(number)
        found = _paragraph(document, paragraphs[at][1])
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


def _paragraph(document: Document, text: str) -> Any:
    return next(each for each in document.paragraphs if each.text == text)


def _our_paragraphs(chance: Random, paragraphs: Paragraphs, number: int) -> dict[str, Any]:
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


@pytest.mark.sampled(6)
@pytest.mark.parametrize("seed", range(60))
def test_other_paragraphs_of_a_document(bench: Wired, seed: int) -> None:
    """Texts replaced, paragraphs put in and taken out, cells of a table, on either side."""
    chance = Random(f"paragraphs {seed}")
    base = _paragraphs(chance)
    path = bench.file("a.docx")
    _write_document(path, base)
    wb = bench.daemon.workbench(path)
    published = bench.published(wb) / "a.docx"
    # Two apart, so that each gap is one side's.
    places = chance.sample(range(2, 30, 3), 9)
    wanted = list(base)
    _their_paragraphs(chance, published, wanted, places[:5])
    # From the last one on: none counts in another way by those before it.
    for number in sorted(places[5:], reverse=True):
        _edit(bench, wb, "a.docx", _our_paragraphs(chance, wanted, number))
    cell = {"op": "set_table_cells", "table": 0, "cells": [{"row": 0, "col": 1, "text": "ours"}]}
    _edit(bench, wb, "a.docx", cell)
    _rebased(bench, wb)

    texts, cells = _read_document(published)
    assert texts == [text for _, text in wanted]
    assert (cells[0][1], cells[2][2], cells[1]) == (
        "ours",
        "theirs",
        [f"cell 1 {n}" for n in range(3)],
    )


@pytest.mark.sampled(6)
@pytest.mark.parametrize("seed", range(30))
def test_the_same_paragraphs_of_a_document(bench: Wired, seed: int) -> None:
    """The conflicts are the paragraphs and cells that both changed, and only those."""
    chance = Random(f"same paragraphs {seed}")
    base = _paragraphs(chance)
    path = bench.file("a.docx")
    _write_document(path, base)
    wb = bench.daemon.workbench(path)
    published = bench.published(wb) / "a.docx"
    places = chance.sample(range(1, 31), 12)
    both = places[: chance.randint(1, 4)]
    document = docx.Document(str(published))
    for number in (*both, *places[4:8]):
        _paragraph(document, base[number - 1][1]).add_run(f" theirs {number}")
    document.tables[0].cell(0, 1).text = "theirs"
    document.save(str(published))
    edits = [
        {"op": "replace_text", "search": f"end{number}.", "replace": f"OURS{number}."}
        for number in (*both, *places[8:])
    ]
    cell = {"op": "set_table_cells", "table": 0, "cells": [{"row": 0, "col": 1, "text": "ours"}]}
    _edit(bench, wb, "a.docx", *edits, cell)
    conflicts = bench.ask("DraftRebase", workbench_id=wb)["conflicts"]

    assert {each["place"].get("paragraph") for each in conflicts} == {n - 1 for n in both} | {None}
    assert [
        (each["place"]["row"], each["place"]["column"], each["ours"], each["theirs"])
        for each in conflicts if "table" in each["place"]
    ] == [(0, 1, "ours", "theirs")]  # fmt: skip


# Decks: a slide is its title and the lines of its body; which one it is, its number in the base.

Slides = list[tuple[int, str, str]]


def _slides(chance: Random) -> Slides:
    return [
        (number, f"Title {number}", f"{' '.join(chance.choices(WORDS, k=6))} {number}")
        for number in range(12)
    ]


def _write_deck(path: Path, slides: Slides) -> None:
    deck = pptx.Presentation()
    for _, title, body in slides:
        _fill(deck.slides.add_slide(deck.slide_layouts[1]), title, body)
    deck.save(str(path))


def _fill(slide: Slide, title: str, body: str) -> None:
    for shape, text in zip(slide.placeholders, (title, body), strict=True):
        shape.text_frame.text = text


def _read_deck(path: Path) -> list[tuple[str, str, str]]:
    found = []
    for slide in pptx.Presentation(str(path)).slides:
        shapes = {shape.placeholder_format.idx: shape for shape in slide.placeholders}
        texts = [shapes[n].text_frame.text if n in shapes else "" for n in (0, 1)]
        notes = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
        found.append((texts[0], texts[1], notes.text if notes is not None else ""))
    return found


@pytest.mark.sampled(6)
@pytest.mark.parametrize("seed", range(60))
def test_other_slides_of_a_deck(bench: Wired, seed: int) -> None:
    """Texts, notes, slides put in and taken out, on either side."""
    chance = Random(f"slides {seed}")
    base = _slides(chance)
    path = bench.file("a.pptx")
    _write_deck(path, base)
    wb = bench.daemon.workbench(path)
    published = bench.published(wb) / "a.pptx"
    places = chance.sample(range(0, 12, 2), 6)
    wanted = [(number, (title, body, "")) for number, title, body in base]
    deck = pptx.Presentation(str(published))
    for number in sorted(places[:3], reverse=True):
        slide, at = (
            deck.slides[number],
            next(n for n, each in enumerate(wanted) if each[0] == number),
        )
        if chance.random() < 0.4:
            ids = deck.slides._sldIdLst
            deck.part.drop_rel(ids[number].rId)
            ids.remove(ids[number])
            del wanted[at]
        else:
            _fill(slide, f"Theirs {number}", base[number][2])
            wanted[at] = number, (f"Theirs {number}", base[number][2], "")
    deck.save(str(published))
    for number in sorted(places[3:], reverse=True):
        at = next(n for n, each in enumerate(wanted) if each[0] == number)
        title, body, notes = wanted[at][1]
        match chance.choice(("title", "notes", "bullets", "add", "delete")):
            case "title":
                edit: dict[str, Any] = {"op": "set_slide_text", "index": number, "title": "Ours"}
                wanted[at] = number, ("Ours", body, notes)
            case "notes":
                edit = {"op": "set_notes", "index": number, "text": "our notes"}
                wanted[at] = number, (title, body, "our notes")
            case "bullets":
                edit = {"op": "append_bullets", "index": number, "bullets": ["ours"]}
                wanted[at] = number, (title, f"{body}\nours", notes)
            case "add" if number and _stays(wanted, number - 1):
                edit = {
                    "op": "add_slide",
                    "index": number,
                    "title": f"New {number}",
                    "body": "ours",
                }
                wanted.insert(at, (-1, (f"New {number}", "ours", "")))
            case _:
                edit = {"op": "delete_slide", "index": number}
                del wanted[at]
        _edit(bench, wb, "a.pptx", edit)
    _rebased(bench, wb)

    assert _read_deck(published) == [each for _, each in wanted]


def _stays(wanted: list[tuple[int, Any]], number: int) -> bool:
    return any(each == number for each, _ in wanted)

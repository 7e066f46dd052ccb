"""Random edits of both sides, rebased: as if made one after the other, or the conflicts exactly.

What is expected is kept beside (`both_sides`). The same edits are also made one after the other, in
either order, without a rebase.
"""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import docx
import openpyxl
import pptx
import pytest

from whole.both_sides import (
    COLUMNS,
    Paragraphs,
    Sheet,
    cells_of,
    change_paragraphs,
    change_rows,
    draft_edit,
    drop_slide,
    fill_slide,
    make_paragraphs,
    make_sheet,
    make_slides,
    paragraph_of,
    read_deck,
    read_document,
    read_sheet,
    write_deck,
    write_document,
    write_sheet,
)
from wired import Wired, wired

pytestmark = [pytest.mark.full, pytest.mark.seeded(2)]


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


def _in_all_orders(
    bench: Wired,
    path: Path,
    mine: Callable[[str, bool], None],
    theirs: Callable[[Path], object],
    read: Callable[[Path], Any],
) -> None:
    """Make both sides' edits beside each other, and one after the other, either first.

    Args:
        bench: The daemon.
        path: The file.
        mine: Edits the draft of a workbench, on what the other side left or not.
        theirs: Edits the file at a path.
        read: Reads all that counts of a file.
    """
    rebased = bench.daemon.workbench(path)
    mine(rebased, False)
    theirs(bench.published(rebased) / path.name)
    _rebased(bench, rebased)
    first = bench.daemon.workbench(path)
    mine(first, False)
    bench.ask("DraftPublish", workbench_id=first)
    theirs(bench.published(first) / path.name)
    changed = bench.file(path.name)
    shutil.copyfile(path, changed)
    theirs(changed)
    last = bench.daemon.workbench(changed)
    mine(last, True)
    bench.ask("DraftPublish", workbench_id=last)
    found, *orders = (read(bench.published(wb) / path.name) for wb in (rebased, first, last))

    assert found not in (read(path), read(changed))
    assert orders == [found, found]


def _edit(bench: Wired, wb: str, path: str, *operations: dict[str, Any]) -> None:
    method = {"xlsx": "XlsxApplyOps", "docx": "DocxApplyOps", "pptx": "PptxApplyOps"}
    kind = path.rpartition(".")[2]
    bench.ask(method[kind], workbench_id=wb, path=path, ops=list(operations))


@pytest.mark.sampled(60)
def seeds(count: int) -> list[Any]:
    """Seeds of a test; most of them are of the soak tier, for each is a whole job."""
    some = count // 4
    rest = (pytest.param(seed, marks=pytest.mark.soak) for seed in range(some, count))
    return [*range(some), *rest]


@pytest.mark.parametrize("seed", seeds(60))
def test_other_cells_of_a_workbook(bench: Wired, seed: int) -> None:
    """Values, new cells, cells below the table, ranges; rows that somebody inserted or removed."""
    chance = Random(f"cells {seed}")
    base = make_sheet(chance)
    path = bench.file("a.xlsx")
    write_sheet(path, base)
    wb = bench.daemon.workbench(path)
    published = bench.published(wb) / "a.xlsx"
    everywhere = [(number, column) for number in range(1, 31) for column in COLUMNS]
    chosen = chance.sample(everywhere, 30)
    theirs = change_rows(chance, published, base, {
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
    wanted = cells_of(theirs)
    at = below + len(theirs.rows) - len(base.rows)
    assert read_sheet(published) == wanted | {f"B{at}": "low", f"C{at}": 1.5}
    assert openpyxl.load_workbook(published)["Other"]["A1"].value == "stays"


@pytest.mark.sampled(20)
@pytest.mark.parametrize("seed", seeds(20))
def test_cells_come_out_as_in_either_order(bench: Wired, seed: int) -> None:
    """What somebody did and then the draft, or the draft and then somebody, is what a rebase is."""
    chance = Random(f"orders of cells {seed}")
    base = make_sheet(chance)
    path = bench.file("a.xlsx")
    write_sheet(path, base)
    chosen = chance.sample([(n, column) for n in range(1, 31) for column in COLUMNS], 30)
    cells = {at: chance.choice((f"theirs {at}", 7, None)) for at in chosen[:10]}

    def theirs(at: Path) -> Sheet:
        return change_rows(Random(f"their rows {seed}"), at, base, cells)

    tried = bench.file("a.xlsx")
    shutil.copyfile(path, tried)
    after = theirs(tried)
    standing = {number for number, _ in after.rows}

    def mine(wb: str, is_last: bool) -> None:
        rows = after if is_last else base
        settings = [
            {"cell": f"{column}{rows.at(number)}", "value": f"ours {number}"}
            for number, column in chosen[10:] if number in standing
        ]  # fmt: skip
        _edit(bench, wb, "a.xlsx", {"op": "set_cells", "sheet": "Data", "cells": settings})

    _in_all_orders(bench, path, mine, theirs, read_sheet)


@pytest.mark.sampled(60)
@pytest.mark.parametrize("seed", seeds(60))
def test_the_same_cells_of_a_workbook(bench: Wired, seed: int) -> None:
    """The conflicts are the cells that both changed to something else, and only those."""
    chance = Random(f"same cells {seed}")
    base = make_sheet(chance)
    path = bench.file("a.xlsx")
    write_sheet(path, base)
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


@pytest.mark.sampled(60)
@pytest.mark.parametrize("seed", seeds(60))
def test_other_paragraphs_of_a_document(bench: Wired, seed: int) -> None:
    """Texts replaced, paragraphs put in and taken out, cells of a table, on either side."""
    chance = Random(f"paragraphs {seed}")
    base = make_paragraphs(chance)
    path = bench.file("a.docx")
    write_document(path, base)
    wb = bench.daemon.workbench(path)
    published = bench.published(wb) / "a.docx"
    # Two apart, so that each gap is one side's.
    places = chance.sample(range(2, 30, 3), 9)
    wanted = list(base)
    change_paragraphs(chance, published, wanted, places[:5])
    # From the last one on: none counts in another way by those before it.
    for number in sorted(places[5:], reverse=True):
        _edit(bench, wb, "a.docx", draft_edit(chance, wanted, number))
    cell = {"op": "set_table_cells", "table": 0, "cells": [{"row": 0, "col": 1, "text": "ours"}]}
    _edit(bench, wb, "a.docx", cell)
    _rebased(bench, wb)

    texts, cells = read_document(published)
    assert texts == [text for _, text in wanted]
    assert (cells[0][1], cells[2][2], cells[1]) == (
        "ours",
        "theirs",
        [f"cell 1 {n}" for n in range(3)],
    )


@pytest.mark.sampled(20)
@pytest.mark.parametrize("seed", seeds(20))
def test_paragraphs_come_out_as_in_either_order(bench: Wired, seed: int) -> None:
    """What somebody did and then the draft, or the draft and then somebody, is what a rebase is."""
    chance = Random(f"orders of paragraphs {seed}")
    base = make_paragraphs(chance)
    path = bench.file("a.docx")
    write_document(path, base)
    places = chance.sample(range(2, 30, 3), 9)
    added = [base]

    def theirs(at: Path) -> Paragraphs:
        # What it is changed to depends only on what each paragraph was.
        texts = list(added[-1])
        change_paragraphs(Random(f"their paragraphs {seed}"), at, texts, places[:5])
        return texts

    tried = bench.file("a.docx")
    shutil.copyfile(path, tried)
    after = theirs(tried)

    def mine(wb: str, is_last: bool) -> None:
        texts, own = list(after if is_last else base), Random(f"our paragraphs {seed}")
        for number in sorted(places[5:], reverse=True):
            at = [each for each, _ in texts].index(number) + 1
            edit = draft_edit(own, texts, number)
            _edit(bench, wb, "a.docx", edit | {key: at for key in ("at", "from") if key in edit})
        added.append(base if is_last else texts)

    _in_all_orders(bench, path, mine, theirs, read_document)


@pytest.mark.sampled(30)
@pytest.mark.parametrize("seed", seeds(30))
def test_the_same_paragraphs_of_a_document(bench: Wired, seed: int) -> None:
    """The conflicts are the paragraphs and cells that both changed, and only those."""
    chance = Random(f"same paragraphs {seed}")
    base = make_paragraphs(chance)
    path = bench.file("a.docx")
    write_document(path, base)
    wb = bench.daemon.workbench(path)
    published = bench.published(wb) / "a.docx"
    places = chance.sample(range(1, 31), 15)
    both, (removed, *agreed) = places[: chance.randint(1, 4)], places[12:]
    document = docx.Document(str(published))
    for number in (*both, *places[4:8]):
        paragraph_of(document, base[number - 1][1]).add_run(f" theirs {number}")
    for number in agreed:
        found = paragraph_of(document, base[number - 1][1])
        found.runs[0].text = found.text.replace(f"end{number}.", f"OURS{number}.")
    gone = paragraph_of(document, base[removed - 1][1])._p
    gone.getparent().remove(gone)
    document.tables[0].cell(0, 1).text = "theirs"
    document.save(str(published))
    edits = [
        {"op": "replace_text", "search": f"end{number}.", "replace": f"OURS{number}."}
        for number in (*both, *places[8:])
    ]  # Those that both changed, others, what somebody took away, what both made the same.
    cell = {"op": "set_table_cells", "table": 0, "cells": [{"row": 0, "col": 1, "text": "ours"}]}
    _edit(bench, wb, "a.docx", *edits, cell)
    conflicts = bench.ask("DraftRebase", workbench_id=wb)["conflicts"]

    assert {each["place"].get("paragraph") for each in conflicts} == {
        *(number - 1 for number in (*both, removed)), None,
    }  # fmt: skip
    assert len(conflicts) == len(both) + 2
    assert [
        (each["place"]["row"], each["place"]["column"], each["ours"], each["theirs"])
        for each in conflicts if "table" in each["place"]
    ] == [(0, 1, "ours", "theirs")]  # fmt: skip


@pytest.mark.sampled(60)
@pytest.mark.parametrize("seed", seeds(60))
def test_other_slides_of_a_deck(bench: Wired, seed: int) -> None:
    """Texts, notes, slides put in and taken out, on either side."""
    chance = Random(f"slides {seed}")
    base = make_slides(chance)
    path = bench.file("a.pptx")
    write_deck(path, base)
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
            drop_slide(deck, number)
            del wanted[at]
        else:
            fill_slide(slide, f"Theirs {number}", base[number][2])
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

    assert read_deck(published) == [each for _, each in wanted]


def _stays(wanted: list[tuple[int, Any]], number: int) -> bool:
    return any(each == number for each, _ in wanted)


@pytest.mark.sampled(20)
@pytest.mark.parametrize("seed", seeds(20))
def test_slides_come_out_as_in_either_order(bench: Wired, seed: int) -> None:
    """What somebody did and then the draft, or the draft and then somebody, is what a rebase is."""
    chance = Random(f"orders of slides {seed}")
    base = make_slides(chance)
    path = bench.file("a.pptx")
    write_deck(path, base)
    places = chance.sample(range(0, 12, 2), 6)
    gone = set(places[:1])

    def theirs(at: Path) -> None:
        deck = pptx.Presentation(str(at))
        titles = [slide.placeholders[0].text_frame.text for slide in deck.slides]
        for number in places[:3]:
            index = titles.index(f"Title {number}")
            fill_slide(deck.slides[index], f"Theirs {number}", base[number][2])
        for number in gone:
            drop_slide(deck, titles.index(f"Title {number}"))
        deck.save(str(at))

    def mine(wb: str, is_last: bool) -> None:
        own = Random(f"our slides {seed}")
        for number in sorted(places[3:], reverse=True):
            index = number - sum(each < number for each in gone) if is_last else number
            edit: dict[str, Any] = own.choice((
                {"op": "set_slide_text", "title": "Ours"},
                {"op": "set_notes", "text": "our notes"},
                {"op": "append_bullets", "bullets": ["ours"]},
                {"op": "delete_slide"},
            ))  # fmt: skip
            _edit(bench, wb, "a.pptx", edit | {"index": index})

    _in_all_orders(bench, path, mine, theirs, read_deck)


@pytest.mark.sampled(30)
@pytest.mark.parametrize("seed", seeds(30))
def test_the_same_slides_of_a_deck(bench: Wired, seed: int) -> None:
    """The conflicts are what both changed of a slide, or one side took away, and only those."""
    chance = Random(f"same slides {seed}")
    base = make_slides(chance)
    path = bench.file("a.pptx")
    write_deck(path, base)
    wb = bench.daemon.workbench(path)
    published = bench.published(wb) / "a.pptx"
    order = chance.sample(range(12), 12)
    both, agreed, (removed, noted), (mine, yours) = order[:3], order[3:5], order[5:7], order[7:9]
    both = both[: chance.randint(1, 3)]
    deck = pptx.Presentation(str(published))
    for number in (*both, yours):
        fill_slide(deck.slides[number], f"Theirs {number}", base[number][2])
    for number in agreed:
        fill_slide(deck.slides[number], f"Same {number}", base[number][2])
    # What one side changed and the other did not, of one slide: no conflict.
    fill_slide(deck.slides[mine], base[mine][1], f"{base[mine][2]} theirs")
    for number in (noted, yours):
        notes = deck.slides[number].notes_slide.notes_text_frame
        assert notes is not None
        notes.text = f"their notes {number}"
    drop_slide(deck, removed)
    deck.save(str(published))
    titles = {number: f"Ours {number}" for number in (*both, removed, mine)}
    titles |= {number: f"Same {number}" for number in agreed}
    edits = [{"op": "set_slide_text", "index": n, "title": text} for n, text in titles.items()]
    notes_edit = {"op": "set_notes", "index": noted, "text": "our notes"}
    _edit(bench, wb, "a.pptx", *edits, notes_edit)
    before = bench.ask("ReviewGetChangeSet", workbench_id=wb)
    conflicts = bench.ask("DraftRebase", workbench_id=wb)["conflicts"]

    found = {
        (each["place"]["slide"], each["place"].get("part"), each["ours"], each["theirs"])
        for each in conflicts
    }
    assert found == {
        *((number, None, f"Ours {number}", f"Theirs {number}") for number in both),
        (removed, None, f"Ours {removed}", None),
        (noted, "notes", "our notes", f"their notes {noted}"),
    }
    assert len(conflicts) == len(both) + 2
    assert bench.ask("ReviewGetChangeSet", workbench_id=wb) == before

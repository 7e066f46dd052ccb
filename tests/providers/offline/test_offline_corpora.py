"""The offline provider's jobs on files of other programs, checked by readers of other makers."""

import csv
import io
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import anyio
import docx
import openpyxl
import pytest
from openpyxl.workbook import Workbook as Book

from kbd_offline.names import slug
from providers.offline.playing import Outcome, Player

pytestmark = [
    pytest.mark.corpora,
    pytest.mark.full,
    # What openpyxl thinks of these files is not asked here.
    pytest.mark.filterwarnings("ignore::UserWarning"),
]

MAX_BYTES = 120_000
EVERY = 6
"""One in so many files of a kind, so that a run stays within minutes."""

PARTS = 3


def in_parts(test: Callable[..., None]) -> Callable[..., None]:
    """Make a test of each part of the files; the second tier has one, which its seed chooses."""
    parts = pytest.mark.parametrize(
        "part", [slice(part, None, PARTS) for part in range(PARTS)], ids=range(PARTS)
    )
    marked: Callable[..., None] = pytest.mark.seeded(PARTS)(parts(test))
    return marked


def some(corpora: Path, *patterns: str) -> list[Path]:
    """Return files of the corpora that are not large, spread over their names."""
    found = sorted(path for pattern in patterns for path in corpora.glob(pattern))
    return [path for path in found if 0 < path.stat().st_size < MAX_BYTES][::EVERY]


def play(root: Path, request: str, files: dict[str, bytes]) -> tuple[Player, Outcome]:
    """Run a request; whatever the files, it ends in an answer and no file is lost or changed."""
    player = Player(root, dict(files))
    outcome = anyio.run(player.run, request)
    assert outcome.summary
    return player, outcome


def is_done(outcome: Outcome) -> bool:
    """Tell whether a request was carried out rather than declined."""
    return "declined" not in outcome.ends


def text_rows(data: bytes) -> list[list[str]]:
    """Return the rows of a file that the provider wrote."""
    csv.field_size_limit(1 << 30)
    return list(csv.reader(io.StringIO(data.decode(), newline="")))


def opened(data: bytes, *, data_only: bool) -> Book | None:
    """Open a workbook, or return None where openpyxl cannot."""
    try:
        return openpyxl.load_workbook(io.BytesIO(data), data_only=data_only)
    except Exception:  # noqa: BLE001 - whatever another reader raises, it is no judge of this file
        return None


def books(corpora: Path) -> list[bytes]:
    """Return workbooks of many programs."""
    paths = some(corpora, "xlsx/*.xlsx", "spreadsheetbench/*/1_*_input.xlsx")
    return [path.read_bytes() for path in paths]


def texts_of(rows: Iterable[Iterable[object]]) -> set[str]:
    """Return the texts of rows that are nothing else: letters first, on one line."""
    found = {" ".join(v.split()) for row in rows for v in row if isinstance(v, str)}
    return {text for text in found if text[:1].isalpha() and text not in ("true", "false")}


@in_parts
def test_sheets_of_foreign_workbooks_to_text(corpora: Path, tmp_path: Path, part: slice) -> None:
    """A sheet's file has the texts that openpyxl finds on it, and no others."""
    checked = 0
    for number, data in enumerate(books(corpora)[part]):
        book = opened(data, data_only=True)
        if book is None:
            continue
        files = {"book.xlsx": data}
        player, outcome = play(tmp_path / str(number), "convert every sheet to csv", files)
        assert player.workbench.content("book.xlsx") == data
        for sheet in book.worksheets if is_done(outcome) else ():
            name = f"book-{slug(sheet.title)}.csv"
            if name not in player.workbench.files.names():
                continue
            header, *rows = text_rows(player.workbench.content(name)) or [[]]
            cells = texts_of(sheet.values)
            assert texts_of(rows) <= cells, (number, sheet.title)
            # What stands beside the table is not in the file, and that is told.
            if not any(said in outcome.summary for said in ("The table is", "left out")):
                lost = cells - texts_of([header, *rows])
                assert not {text for text in lost if len(text) > 1}, (number, sheet.title)
            checked += 1
    assert checked >= 6


@in_parts
def test_duplicates_of_foreign_tables(corpora: Path, tmp_path: Path, part: slice) -> None:
    """As many rows stay as Python finds to be different, and how many went is told."""
    checked, exact = 0, 0
    for number, path in enumerate(some(corpora, "csv/*.csv")[part]):
        data = path.read_bytes()
        player, outcome = play(tmp_path / str(number), "remove duplicate rows", {"t.csv": data})
        assert player.workbench.content("t.csv") == data
        if not is_done(outcome):
            continue
        again, _ = play(
            tmp_path / f"{number}-whole", "convert t.csv to csv as whole.csv", {"t.csv": data}
        )
        every = [tuple(row) for row in text_rows(again.workbench.content("whole.csv"))[1:]]
        left = [tuple(row) for row in text_rows(player.workbench.content(player.made))[1:]]
        # Rows without any value are all kept.
        blank = sum(not any(row) for row in every)
        different = len({row for row in every if any(row)}) + blank
        # 1.0 and 1.00 are one value to kbd, so that fewer may stay, never more.
        assert len(left) <= different <= len(every), path
        exact += len(left) == different
        if len(left) == len(every):
            assert "No row was there more than once" in outcome.summary, path
        else:
            gone = len(every) - len(left)
            assert f"{gone:,} row{'s were' if gone > 1 else ' was'} removed" in outcome.summary, (
                path
            )
        checked += 1
    assert checked >= 6
    assert exact >= checked * 0.9


@in_parts
def test_foreign_tables_merged_with_themselves(corpora: Path, tmp_path: Path, part: slice) -> None:
    """Two copies below each other are the rows of one, twice, each with its origin."""
    checked = 0
    for number, path in enumerate(some(corpora, "csv/*.csv")[part]):
        files = {"a.csv": path.read_bytes(), "b.csv": path.read_bytes()}
        request = "merge a.csv and b.csv with a source column"
        player, outcome = play(tmp_path / str(number), request, files)
        if not is_done(outcome):
            continue
        header, *rows = text_rows(player.workbench.content("merged.csv"))
        half = len(rows) // 2
        assert len(rows) == 2 * half
        assert header[-1].startswith("Source"), path
        assert [row[:-1] for row in rows[:half]] == [row[:-1] for row in rows[half:]], path
        assert {row[-1] for row in rows[:half]} <= {"a.csv"}
        assert {row[-1] for row in rows[half:]} <= {"b.csv"}
        checked += 1
    assert checked >= 6


def test_foreign_files_profiled(corpora: Path, tmp_path: Path) -> None:
    """A report on whatever there is, with each file's name; those that cannot be read are told."""
    paths = some(corpora, "csv/*.csv", "docx/*.docx", "pptx/*.pptx", "xlsx/*.xlsx")[::4]
    assert len(paths) >= 30
    for place in range(0, len(paths), 15):
        files = {path.name: path.read_bytes() for path in paths[place : place + 15]}
        player, outcome = play(tmp_path / str(place), "profile all files as report.docx", files)
        assert is_done(outcome), outcome.summary
        report = docx.Document(io.BytesIO(player.workbench.content("report.docx")))
        headings = [p.text for p in report.paragraphs if p.style and p.style.name == "Heading 1"]
        assert sorted(headings) == sorted(files)


def words_of(data: bytes) -> list[str]:
    """Return the texts of a document's paragraphs, as python-docx reads them."""
    return [paragraph.text for paragraph in docx.Document(io.BytesIO(data)).paragraphs]


@in_parts
def test_texts_replaced_in_foreign_documents(corpora: Path, tmp_path: Path, part: slice) -> None:
    """Paragraphs read as Python would have replaced them; a text that is not there changes none."""
    checked = 0
    for number, path in enumerate(some(corpora, "docx/*.docx")[part]):
        data = path.read_bytes()
        try:
            before = words_of(data)
        except Exception:  # noqa: BLE001 - as in `opened`
            continue
        request = 'replace "the" with "<THE>", ignoring case'
        player, outcome = play(tmp_path / str(number), request, {"d.docx": data})
        after = player.workbench.content("d.docx")
        if "was not found" in outcome.summary or not is_done(outcome):
            assert after == data, path
            continue
        expected = [re.sub("the", "<THE>", text, flags=re.IGNORECASE) for text in before]
        pairs = zip(expected, words_of(after), strict=True)
        differing = [pair for pair in pairs if len(set(pair)) > 1]
        # A hit across a hyperlink's end is one to python-docx only.
        assert len(differing) <= len(before) // 10, (path, differing[:3])
        checked += 1
    assert checked >= 3


@in_parts
def test_texts_replaced_in_foreign_workbooks(corpora: Path, tmp_path: Path, part: slice) -> None:
    """Texts of cells read as Python would have replaced them; all other cells are as before."""
    checked = 0
    for number, data in enumerate(books(corpora)[part]):
        book = opened(data, data_only=False)
        if book is None:
            continue
        request = 'replace "a" with "[A]" in book.xlsx'
        player, outcome = play(tmp_path / str(number), request, {"book.xlsx": data})
        after = player.workbench.content("book.xlsx")
        if not is_done(outcome) or "was not found" in outcome.summary:
            assert after == data, number
            continue
        new = opened(after, data_only=False)
        assert new is not None
        for sheet in book.worksheets:
            cells = (cell for row in sheet.iter_rows() for cell in row)
            # Formulas of ranges are objects of openpyxl, which has no way to compare them.
            for cell in (cell for cell in cells if cell.data_type != "f"):
                got = new[sheet.title][cell.coordinate].value
                assert str(got) == _expected(cell.value, cell.data_type), (number, cell.coordinate)
        checked += 1
    assert checked >= 3


def _expected(value: object, kind: str) -> str:
    """Return what a cell should hold after the replacement; only texts are touched."""
    return value.replace("a", "[A]") if isinstance(value, str) and kind == "s" else str(value)

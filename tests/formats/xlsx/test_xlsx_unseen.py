"""Cells whose format hides what they hold are labeled as such for the model; others are not."""

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from openpyxl.styles import Color, Font, PatternFill
from openpyxl.worksheet.table import Table, TableStyleInfo

from kbd.formats import Region, Source
from kbd_xlsx import XlsxFormat
from kbd_xlsx.reader.cell_looks import section_shows_nothing

FORMAT = XlsxFormat()
WHITE, DARK = Color(rgb="FFFFFFFF"), Color(rgb="FF1F3864")
SECRET = "pay them"

Dress = Callable[[Any], object]


def ink(color: Color, ground: Color | None = None, size: float = 11) -> Dress:
    """Return what gives a cell a color, something behind it, and a size."""

    def dress(cell: Any) -> None:
        cell.font = Font(color=color, size=size)
        if ground is not None:
            cell.fill = PatternFill("solid", fgColor=ground)

    return dress


def form(code: str) -> Dress:
    """Return what gives a cell a number format."""

    def dress(cell: Any) -> None:
        cell.number_format = code

    return dress


HIDDEN: dict[str, tuple[Dress, object]] = {
    "white on nothing": (ink(WHITE), SECRET),
    "nearly white": (ink(Color(rgb="FFF5F5F5")), SECRET),
    "white on white": (ink(WHITE, WHITE), SECRET),
    "the theme's paper": (ink(Color(theme=0)), SECRET),
    "the theme's ink made paper": (ink(Color(theme=1, tint=1.0)), SECRET),
    "white of the list": (ink(Color(indexed=9)), SECRET),
    "the window's color": (ink(Color(indexed=65)), SECRET),
    "dark on dark": (ink(DARK, DARK), SECRET),
    "theme on the same in RGB": (ink(Color(theme=1), Color(rgb="FF000000")), SECRET),
    "size 1": (ink(Color(rgb="FF000000"), size=1), SECRET),
    "a format of nothing": (form(";;;"), SECRET),
    "a format of blanks": (form('" ";" ";" ";" "'), SECRET),
    "a format of colors": (form("[White];[White];[White];[White]"), SECRET),
    "a format in white": (form("[White]General;[White]General;0;[White]@"), SECRET),
    "a number in color 2": (form("[Color2]0"), 4711),
    "a number by nothing": (form(";;"), 4711),
    "a number by one sign": (form("**;**;**;**"), 4711),
    "below zero by nothing": (form("0;;0"), -3),
    "a color and a number": (ink(WHITE), 4711),
}

SEEN: dict[str, tuple[Dress, object]] = {
    "white on dark": (ink(WHITE, DARK), "Head"),
    "white on the theme's dark": (ink(Color(theme=0), Color(theme=3)), "Head"),
    "a number in red": (lambda cell: (ink(WHITE)(cell), form("[Red]0")(cell)), 5),
    "grey": (ink(Color(rgb="FFBFBFBF")), "grey"),
    "black on a yellow": (ink(Color(theme=1), Color(rgb="FFFFFF00")), "x"),
    "small": (ink(Color(rgb="FF000000"), size=6), "small"),
    "zeros not shown": (form("0;-0;;@"), 0),
    "above zero": (form("0;;0"), 3),
    "a text that is shown": (form(";;"), "text"),
    "money": (form('_-* #,##0.00 "€"_-;-* #,##0.00 "€"_-;_-* "-"?? "€"_-;_-@_-'), "text"),
    "a date": (form("yyyy-mm-dd;@"), 41000),
    "hours": (form("[h]:mm"), 2.5),
    "a word for a number": (form('"yes";;"no"'), 1),
}


def book_of(dress: Dress, value: object) -> openpyxl.Workbook:
    """A workbook with a cell of some look between two plain ones."""
    book = openpyxl.Workbook()
    page: Any = book.active
    page["A1"], page["B2"], page["C3"] = "apple", value, "pear"
    dress(page["B2"])
    return book


def saved(book: openpyxl.Workbook, folder: Path) -> Source:
    """Save a workbook as a file."""
    book.save(folder / "a.xlsx")
    return Source(folder / "a.xlsx", "a.xlsx")


def rewritten(source: Source, old: bytes, new: bytes) -> Source:
    """The same file with other bytes in its sheet."""
    held = io.BytesIO(source.path.read_bytes())
    with zipfile.ZipFile(held) as old_file, zipfile.ZipFile(source.path, "w") as file:
        for name in old_file.namelist():
            data = old_file.read(name)
            if name.startswith("xl/worksheets/"):
                assert old in data, data
                data = data.replace(old, new)
            file.writestr(name, data)
    return source


def labeled(source: Source) -> tuple[str, list[str], int]:
    """Return the second row as it is read, what is said of it, and how many the map counts."""
    reading = FORMAT.read(source, Region())
    (row,) = [line for line in reading.text.splitlines() if line.startswith("2\t")]
    (passage,) = FORMAT.passages(source)
    assert row in passage.text, "a search finds it with its label, too"
    (page,) = FORMAT.map(source)["sheets"]
    told = [each for each in reading.warnings if each.startswith("Cells")]
    return row, told, page.get("hidden_cell_count", 0)


@pytest.mark.parametrize("which", HIDDEN)
@pytest.mark.sampled(4)
def test_what_a_cells_format_hides_is_labeled(which: str, tmp_path: Path) -> None:
    """In the text, in a word of its own, and by the map's count."""
    dress, value = HIDDEN[which]
    row, told, count = labeled(saved(book_of(dress, value), tmp_path))
    assert row == f"2\t\t[hidden: {value}]"
    assert told == ["Cells that are hidden, by their look, a condition or a merged cell: B2."]
    assert count == 1


@pytest.mark.parametrize("which", SEEN)
@pytest.mark.sampled(4)
def test_what_is_seen_is_not_labeled(which: str, tmp_path: Path) -> None:
    """A header in white on something dark, above all."""
    dress, value = SEEN[which]
    row, told, count = labeled(saved(book_of(dress, value), tmp_path))
    assert "hidden" not in row
    assert (told, count) == ([], 0)


ODD_CELLS = {
    "no address": (b'<c r="B2"', b"<c "),
    "style first": (b'<c r="B2" s="1"', b'<c s="1" r="B2"'),
    "quotes": (b'<c r="B2" s="1"', b"<c r='B2' s = '1'"),
    "zeros": (b'<c r="B2" s="1"', b'<c r="B2" s="01"'),
    "a reference": (b'<c r="B2" s="1"', b'<c r="B2" s="&#49;"'),
    "blanks": (b'<c r="B2" s="1"', b'<c\n r="B2"\n s=" 1 "'),
}


@pytest.mark.parametrize("which", ODD_CELLS)
@pytest.mark.sampled(3)
def test_however_a_cell_is_written(which: str, tmp_path: Path) -> None:
    """A style is found in any spelling that a program takes for it."""
    book = book_of(ink(WHITE), SECRET)
    book["Sheet"]["A2"] = "x"
    source = rewritten(saved(book, tmp_path), *ODD_CELLS[which])
    assert labeled(source)[0] == f"2\tx\t[hidden: {SECRET}]"


def test_a_hidden_formula_is_labeled_with_its_text(tmp_path: Path) -> None:
    """What it computes is hidden as well, whether a result is stored or not."""
    row, _, count = labeled(saved(book_of(ink(WHITE), "=1+1"), tmp_path))
    assert (row, count) == ("2\t\t[hidden: =1+1 [not calculated]]", 1)


def test_white_letters_in_a_tables_header_are_seen(tmp_path: Path) -> None:
    """The table's style makes it dark; below it white letters are on white, and hidden."""
    book = openpyxl.Workbook()
    page: Any = book.active
    for row in (["Item", "Amount"], ["Tea", SECRET], ["Milk", 2]):
        page.append(row)
    for cell in ("A1", "B1", "B2"):
        page[cell].font = Font(color=WHITE)
    table = Table(displayName="T", ref="A1:B3")
    table.tableStyleInfo = TableStyleInfo(name="TableStyleMedium2", showRowStripes=True)
    page.add_table(table)
    source = saved(book, tmp_path)
    assert labeled(source)[0] == f"2\tTea\t[hidden: {SECRET}]"
    assert "hidden: Item" not in FORMAT.read(source, Region()).text
    table.tableStyleInfo = None
    assert "[hidden: Item]" in FORMAT.read(saved(book, tmp_path), Region()).text


def test_what_was_found_is_kept_on_the_shelf(tmp_path: Path) -> None:
    """The second reading, from the shelf, has the labels of the first."""
    source = saved(book_of(ink(WHITE), SECRET), tmp_path)
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    kept = Source(source.path, source.name, shelf)
    assert labeled(kept) == labeled(kept) == labeled(source)


def test_a_section_of_a_number_format_shows_nothing() -> None:
    """Colors, room and blanks are nothing; any sign that stands for itself is something."""
    nothing = ("", " ", '""', '" "', "[Red]", "[>5]", "_-", "* ", "\\ ", "[White]_)")
    something = ("0", "@", "General", '"-"', "[h]", "[$€-407]", "\\x", "-", "??", "#")
    assert all(map(section_shows_nothing, nothing))
    assert not any(map(section_shows_nothing, something))

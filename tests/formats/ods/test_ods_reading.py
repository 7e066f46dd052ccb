"""Spreadsheets of OpenDocument as they are looked at: map, ranges, typed cells, what is hidden."""

from pathlib import Path

import pytest

from kbd.errors import ValidationFailed
from kbd.formats import Region, Source
from kbd.testing.formats import check_regions
from kbd_ods import OdsFormat
from ods_books import cell, ods_book, rich_book, row, table

FORMAT = OdsFormat()


def test_the_map_names_what_there_is(tmp_path: Path) -> None:
    """Sheets with their used ranges, islands, headers and chunks; a hidden sheet is called so."""
    path = rich_book(tmp_path / "a.ods")
    front, back = FORMAT.map(Source(path, path.name))["sheets"]
    assert front["used_range"] == {"min_row": 1, "max_row": 3, "min_col": 1, "max_col": 3}
    assert front["islands"][0]["headers"] == ["Day", "Item", "Sum"]
    assert front["chunks"] == [
        {"index": 0, "range": "A1:C3", "rows": 3, "headers": ["Day", "Item", "Sum"]}
    ]
    assert (front["has_formulas"], front["formula_count"]) == (True, 1)
    assert (back["name"], back["hidden"]) == ("Back", True)


def test_a_range_is_read_with_its_formulas(tmp_path: Path) -> None:
    """Formulas as people know them, with their stored results; the first sheet that is seen."""
    path = rich_book(tmp_path / "a.ods")
    source = Source(path, path.name)
    found = FORMAT.read(source, Region())
    assert found.text == (
        "Front!A1:C3\n\tA\tB\tC\n1\tDay\tItem\tSum\n2\t2024-01-31\tTea & cake\t4.5\n"
        "3\tTotal\t\t=SUM(C2:C2) [stored: 4.5]"
    )
    typed = FORMAT.cells(source, Region(sheet="front", range="A2:C3")).rows
    assert typed == (
        ({"date": "2024-01-31"}, "Tea & cake", 4.5),
        ("Total", None, {"formula": "=SUM(C2:C2)", "value": 4.5, "current": True}),
    )
    hidden = FORMAT.read(source, Region(range="Back!A1"))
    assert hidden.warnings == ("The sheet Back is hidden.",)
    check_regions(FORMAT, source, list(FORMAT.passages(source)))
    with pytest.raises(ValidationFailed, match="there are: Front, Back"):
        FORMAT.read(source, Region(sheet="None"))


def test_hidden_rows_and_columns_are_named(tmp_path: Path) -> None:
    """As in the readings of other workbooks; groups that are folded count as well."""
    group = (
        f'<table:table-row-group table:display="false">{row("c", 3) * 2}</table:table-row-group>'
    )
    rows = '<table:table-column table:number-columns-repeated="1"/>'
    rows += '<table:table-column table:visibility="collapse"/>'
    rows += row("a", 1) + row("b", 2, more='table:visibility="collapse"') + row("d", 1) + group
    path = ods_book(tmp_path / "a.ods", table(rows=rows))
    found = FORMAT.read(Source(path, path.name), Region())
    assert found.warnings == ("Rows that are hidden: 2, 4-5.", "Columns that are hidden: B.")
    assert FORMAT.map(Source(path, path.name))["sheets"][0]["hidden_row_count"] == 3


@pytest.mark.parametrize(
    ("formula", "shown"),
    [
        ("of:=SUM([.B2:.B6];[$'My Sheet'.$A$1])", "=SUM(B2:B6;'My Sheet'!$A$1)"),
        ('of:=IF([.A1]="[.B2]";NOW();0)', '=IF(A1="[.B2]";NOW();0)'),
        ("oooc:=[Other.C3]+1", "=Other!C3+1"),
    ],
)
def test_formulas_without_what_files_add(tmp_path: Path, formula: str, shown: str) -> None:
    """References lose their brackets and dots, but not within texts."""
    attribute = formula.replace('"', "&quot;")
    path = ods_book(tmp_path / "a.ods", table(cell(1, f'table:formula="{attribute}"')))
    text = FORMAT.read(Source(path, path.name), Region()).text
    worth = "stored then" if "NOW" in shown else "stored"
    assert text.endswith(f"1\t{shown} [{worth}: 1]")


def test_a_shelf_answers_as_the_file_does(tmp_path: Path) -> None:
    """What is kept of a file is used again; a damaged shelf is passed over."""
    path = rich_book(tmp_path / "a.ods")
    shelf = tmp_path / "shelf"
    first = FORMAT.read(Source(path, path.name), Region(range="A1:C3"))
    kept = Source(path, path.name, shelf=shelf)
    assert FORMAT.read(kept, Region(range="A1:C3")) == first
    (shelved,) = shelf.iterdir()
    path.write_bytes(b"gone")
    assert FORMAT.read(kept, Region(range="A1:C3")) == first
    shelved.write_bytes(b"damaged")
    rich_book(path)
    assert FORMAT.read(kept, Region(range="A1:C3")) == first


def test_blank_chunks_are_no_passages(tmp_path: Path) -> None:
    """A cell that somebody left in the last row makes one more passage, not twenty thousand."""
    gap = row(None, more='table:number-rows-repeated="1048574"')
    path = ods_book(tmp_path / "a.ods", table(rows=row("Item") + gap + row("stray")))
    places = [passage.place for passage in FORMAT.passages(Source(path, "a.ods"))]

    assert places == ["S!A1:A50", "S!A1048551:A1048576"]

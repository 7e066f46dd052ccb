"""Spreadsheets that say of themselves what cannot be: repeats without end, spans, blanks, depth."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from confined import Confined, confined
from kbd_ods import OdsFormat
from ods_books import cell, ods_book, row, table

MAX_BYTES = 300 << 20
HUGE = "1000000000"
MANY = "9" * 5_000


@pytest.fixture(scope="module")
def ward() -> Iterator[Confined]:
    """Where hostile spreadsheets are opened."""
    with confined(OdsFormat, ("all",)) as found:
        yield found


def tried(ward: Confined, path: Path) -> dict[str, str]:
    """Do all to a spreadsheet, and see that nothing went out of hand."""
    answer = ward.run(path, "a.ods", ("all",))["all"]
    assert answer.kind == "returned", answer
    assert answer.peak_bytes <= MAX_BYTES, answer
    found: dict[str, str] = json.loads(answer.text)
    return found


def repeats(columns: str = HUGE, rows: str = "1", value: str | float | None = "ab") -> str:
    """A row of cells that repeat."""
    return row(
        cell(value, f'table:number-columns-repeated="{columns}"'),
        more=f'table:number-rows-repeated="{rows}"',
    )


READ = {
    "blank cells without end": row("ab") + repeats(HUGE, HUGE, None),
    "blank rows of 5,000 digits": row("ab") + repeats("1", MANY, None),
    "a merge of 10^9 cells": row(
        cell("ab", f'table:number-columns-spanned="{HUGE}"', f'table:number-rows-spanned="{MANY}"')
    ),
    "hidden columns without end": (
        f'<table:table-column table:visibility="collapse" table:number-columns-repeated="{MANY}"/>'
        * 500
    )
    + row("ab"),
    "hidden rows without end": row("ab")
    + row(None, more=f'table:visibility="collapse" table:number-rows-repeated="{HUGE}"') * 100,
    "a million rows of one cell": repeats("1", "1048576"),
    "cells far apart": (row("ab", cell(None, 'table:number-columns-repeated="16000"'), "ab")) * 500,
    "sheets in cells": row(f"<table:table-cell>{table('x') * 1_000}</table:table-cell>", "ab"),
    "shapes in shapes": row(
        f"<table:table-cell>{'<draw:g>' * 200}{'</draw:g>' * 200}<text:p>ab</text:p>"
        "</table:table-cell>"
    ),
}  # fmt: skip
REFUSED = {
    "cells without end": repeats(),
    "rows and cells without end": repeats(HUGE, HUGE),
    "rows of 5,000 digits": repeats("1", MANY),
    "many wide rows": repeats("16000") * 300,
    "blanks without end": row(
        f'<table:table-cell><text:p>{f"""<text:s text:c="{HUGE}"/>""" * 60}</text:p>'
        "</table:table-cell>"
    ),
    "many blanks": row("<table:table-cell><text:p>" + '<text:s text:c="99999"/>' * 20_000
                       + "</text:p></table:table-cell>"),
    "formulas without end": row(
        cell(1, 'table:formula="of:=1"'), more='table:number-rows-repeated="1048576"'
    ),
    "levels": "<table:table-row-group>" * 2_000 + row("ab")
    + "</table:table-row-group>" * 2_000,
}  # fmt: skip


@pytest.mark.full
@pytest.mark.parametrize("which", READ)
def test_what_means_nothing_is_passed_over(which: str, ward: Confined, tmp_path: Path) -> None:
    """The values are read in little memory, whatever stands around them."""
    found = tried(ward, ods_book(tmp_path / "blob", table(rows=READ[which])))
    assert "ab" in found["read"], found


@pytest.mark.full
@pytest.mark.parametrize("which", REFUSED)
def test_what_cannot_be_held_is_refused(which: str, ward: Confined, tmp_path: Path) -> None:
    """Each time, before the memory is gone."""
    found = tried(ward, ods_book(tmp_path / "blob", table(rows=REFUSED[which])))
    assert all(found[did].startswith("refused: a.ods is") for did in ("info", "map", "read")), found


@pytest.mark.full
def test_ten_thousand_sheets_and_no_more(ward: Confined, tmp_path: Path) -> None:
    """A file of nothing but sheets ends somewhere."""
    found = tried(ward, ods_book(tmp_path / "blob", table("ab") * 10_001))
    assert "more than 10,000 sheets" in found["map"]

"""What an edit deletes is gone from the bytes of the result, or the answer says that it is not."""

import random
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Union

import msgspec
import openpyxl
import pytest
from openpyxl.chart import BarChart, Reference

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import Applied, CompareOptions, Placement, Source
from kbd_xlsx import XlsxFormat
from kbd_xlsx.operations import OPERATIONS
from kbd_xlsx.parts.shared_strings import string_uses, usual_uses
from leftover_texts import (
    MIN_LENGTH,
    CellTexts,
    book_texts,
    deleted_texts,
    found_in,
    left_behind,
    pack,
    share_texts,
    unpacked,
)
from real_workbooks import real_workbooks
from written_rows import write

FORMAT = XlsxFormat()
SAMPLED = 4
"""Of how many workbooks of the corpora one is edited."""


def edit(book: Path, *found: dict[str, Any], to: str = "out") -> Applied:
    vocabulary = Union[OPERATIONS]  # type: ignore[valid-type]  # noqa: UP007
    operations = tuple(msgspec.convert(list(found), list[vocabulary]))
    target = book.with_name(to).with_suffix(book.suffix)
    target.unlink(missing_ok=True)
    return FORMAT.apply(Source(book, book.name), operations, target)


def put(sheet: str, cell: str, value: object) -> dict[str, Any]:
    return {"op": "set_cells", "sheet": sheet, "cells": [{"cell": cell, "value": value}]}


def clear(sheet: str, area: str) -> dict[str, Any]:
    return {"op": "clear_range", "sheet": sheet, "range": area}


@pytest.fixture
def staff(tmp_path: Path) -> Path:
    """A workbook of another program: texts that cells share, two sheets, a chart, a filter."""
    book = openpyxl.Workbook()
    data = book.worksheets[0]
    data.title = "Data"
    for row in (["Name", "Pay"], ["Ada Byron", 1], ["Grace Hopper", 2], ["Ada Byron", 3]):
        data.append(row)
    chart = BarChart()
    chart.add_data(Reference(data, min_col=2, min_row=1, max_row=4), titles_from_data=True)
    chart.set_categories(Reference(data, min_col=1, min_row=2, max_row=4))
    data.add_chart(chart, "E2")
    other = book.create_sheet("Secret plans")
    other["A1"], other["A2"] = "Grace Hopper", "Only here"
    book.save(tmp_path / "staff.xlsx")
    share_texts(tmp_path / "staff.xlsx")
    return tmp_path / "staff.xlsx"


def parts_with(text: str, book: Path) -> list[str]:
    return found_in(text, unpacked(book.with_name("out.xlsx")))


def test_a_text_goes_with_its_last_cell(staff: Path) -> None:
    """A text stays while a cell of any sheet holds it, and is gone from all parts afterwards."""
    edit(staff, put("Data", "A2", "Nobody"), clear("Data", "A3"))
    assert parts_with("Ada Byron", staff)
    assert parts_with("Grace Hopper", staff)

    edit(staff, put("Data", "A2", "Nobody"), clear("Data", "A3:A4"))
    assert not parts_with("Ada Byron", staff)
    cells = openpyxl.load_workbook(staff.with_name("out.xlsx"))
    assert [row[0].value for row in cells["Data"].iter_rows()] == ["Name", "Nobody", None, None]
    assert [row[0].value for row in cells["Secret plans"].iter_rows()] == [
        "Grace Hopper",
        "Only here",
    ]


def test_a_second_edit_takes_what_the_first_one_left(staff: Path) -> None:
    """A file that was edited before is edited as well, with the count of uses as it is."""
    edit(staff, clear("Data", "A2"), to="first")
    edit(staff.with_name("first.xlsx"), clear("Data", "A4"))

    assert not parts_with("Ada Byron", staff)
    texts = unpacked(staff.with_name("out.xlsx"))["xl/sharedStrings.xml"]
    # Name, Pay and Grace Hopper on one sheet, two texts on the other.
    assert b'count="5"' in texts


def test_a_deleted_sheet_leaves_neither_its_texts_nor_its_title(staff: Path) -> None:
    """The list of titles in the properties is that of the sheets there are."""
    parts = unpacked(staff)
    space = "http://schemas.openxmlformats.org/officeDocument/2006"
    names = ("Data", "Secret plans", "Data!Print_Area", "'Secret plans'!Print_Area")
    heads = ("Worksheets", 2, "Named Ranges", 2)
    parts["docProps/app.xml"] = (
        f'<Properties xmlns="{space}/extended-properties" xmlns:vt="{space}/docPropsVTypes">'
        '<HeadingPairs><vt:vector size="4" baseType="variant">'
        + "".join(
            f"<vt:variant><vt:i4>{head}</vt:i4></vt:variant>"
            if isinstance(head, int)
            else f"<vt:variant><vt:lpstr>{head}</vt:lpstr></vt:variant>"
            for head in heads
        )
        + '</vt:vector></HeadingPairs><TitlesOfParts><vt:vector size="4" baseType="lpstr">'
        + "".join(f"<vt:lpstr>{name}</vt:lpstr>" for name in names)
        + "</vt:vector></TitlesOfParts></Properties>"
    ).encode()
    pack(staff, parts)

    result = edit(staff, {"op": "delete_sheet", "sheet": "Secret plans"})

    parts = unpacked(staff.with_name("out.xlsx"))
    assert [name for name, data in parts.items() if b"Secret plans" in data] == []
    assert [name for name, data in parts.items() if b"Only here" in data] == []
    assert b"Grace Hopper" in parts["xl/sharedStrings.xml"]
    properties = parts["docProps/app.xml"]
    assert b"<vt:lpstr>Data</vt:lpstr><vt:lpstr>Data!Print_Area</vt:lpstr>" in properties
    assert properties.count(b"<vt:i4>1</vt:i4>") == 2
    assert b'vector size="2" baseType="lpstr"' in properties
    assert result.warnings == ()


def test_lists_that_do_not_agree_are_left_out(staff: Path) -> None:
    """Titles that the headings do not count are no list to be kept: both are optional."""
    parts = unpacked(staff)
    space = "http://schemas.openxmlformats.org/officeDocument/2006"
    parts["docProps/app.xml"] = (
        f'<Properties xmlns="{space}/extended-properties" xmlns:vt="{space}/docPropsVTypes">'
        '<Company>Us</Company><TitlesOfParts><vt:vector size="9" baseType="lpstr">'
        "<vt:lpstr>Secret plans</vt:lpstr></vt:vector></TitlesOfParts></Properties>"
    ).encode()
    pack(staff, parts)

    edit(staff, {"op": "delete_sheet", "sheet": "Secret plans"})

    properties = unpacked(staff.with_name("out.xlsx"))["docProps/app.xml"]
    assert b"TitlesOfParts" not in properties
    assert b"<Company>Us</Company>" in properties


@pytest.mark.parametrize(
    "placement",
    [
        Placement("Data", "replace_sheet"),
        Placement("Data", "write_range", start_cell="A1", clear_target_range=True),
    ],
)
def test_rows_written_over_a_sheet_leave_none_of_its_texts(
    staff: Path, placement: Placement
) -> None:
    """A table that takes a sheet's place takes its texts out of the file as well."""
    write(staff, staff.with_name("out.xlsx"), [["Nobody", 1]], placement)

    assert not parts_with("Ada Byron", staff)
    assert parts_with("Grace Hopper", staff)


def test_points_that_a_chart_keeps_go_with_their_texts(staff: Path) -> None:
    """A chart's copy of a cell's text is taken out; its other points stay."""
    parts = unpacked(staff)
    chart = "xl/charts/chart1.xml"
    points = b"".join(
        b'<pt idx="%d"><v>%b</v></pt>' % each
        for each in enumerate((b"Ada Byron", b"Grace Hopper", b"Ada Byron"))
    )
    parts[chart] = parts[chart].replace(b"numRef><f>'Data'!$A$2", b"strRef><f>'Data'!$A$2")
    begin = parts[chart].index(b"<cat>")
    end = parts[chart].index(b"</cat>")
    parts[chart] = (
        parts[chart][:begin]
        + b"<cat><strRef><f>'Data'!$A$2:$A$4</f><strCache><ptCount val=\"3\"/>"
        + points
        + b"</strCache></strRef>"
        + parts[chart][end:]
    )
    pack(staff, parts)

    result = edit(staff, put("Data", "A2", "x"), put("Data", "A4", "y"))

    found = unpacked(staff.with_name("out.xlsx"))[chart]
    assert b"Ada Byron" not in found
    assert b'<pt idx="1"><v>Grace Hopper</v></pt>' in found
    assert result.warnings == ()


def test_copies_that_cannot_be_erased_are_named(staff: Path) -> None:
    """The data of a filter is the filter's own; the answer says that it tells the text."""
    parts = unpacked(staff)
    sheet = "xl/worksheets/sheet1.xml"
    wanted = (
        b'</sheetData><autoFilter ref="A1:B4"><filterColumn colId="0"><filters>'
        b'<filter val="Grace Hopper"/></filters></filterColumn></autoFilter>'
    )
    parts[sheet] = parts[sheet].replace(b"</sheetData>", wanted)
    pack(staff, parts)

    kept = edit(staff, clear("Data", "A3"))
    result = edit(staff, clear("Data", "A3"), clear("Secret plans", "A1"))

    assert kept.warnings == ()
    assert [sheet in warning for warning in result.warnings] == [True]


def test_a_text_that_was_moved_is_not_told_as_deleted(staff: Path) -> None:
    """A text that another cell holds in the end is no text that a copy would betray."""
    moved = edit(staff, clear("Data", "A2:A4"), put("Data", "D1", "Ada Byron"))

    assert moved.warnings == ()
    assert parts_with("Ada Byron", staff)


def test_unused_items_of_the_same_text_go_as_well(staff: Path) -> None:
    """An item that no cell used before tells the deleted text just as well."""
    parts = unpacked(staff)
    texts = "xl/sharedStrings.xml"
    twice = b"<si><t>Only here</t></si><si><t>Not asked for</t></si></sst>"
    parts[texts] = parts[texts].replace(b"</sst>", twice)
    pack(staff, parts)

    edit(staff, clear("Secret plans", "A2"))

    found = unpacked(staff.with_name("out.xlsx"))[texts]
    assert b"Only here" not in found
    assert b"Not asked for" in found


@pytest.mark.parametrize("turned", [False, True])
def test_the_review_tells_the_cells_alone(staff: Path, *, turned: bool) -> None:
    """Items that were made empty are no change, in either direction."""
    edit(staff, put("Data", "A2", "x"), clear("Data", "A4"))
    one, other = Source(staff, "a.xlsx"), Source(staff.with_name("out.xlsx"), "a.xlsx")

    before, after = (other, one) if turned else (one, other)
    found = FORMAT.compare(before, after, CompareOptions())

    assert [change.place.title for change in found.changes] == ["Data!A2", "Data!A4"]


@pytest.mark.parametrize(
    ("cells", "places"),
    [
        ('<c r="A1" t="s"><v>3</v></c><c r="B1"><v>4</v></c>', [3]),
        ("<c r='A1' t='s'><v>3</v></c>", [3]),
        ('<c r="A1" t = "s"><v>3</v></c>', [3]),
        ('<c r="A1" t="&#115;"><v>3</v></c>', [3]),
        ('<c r="A1" t="s"><f>B1</f><v>3</v></c>', [3]),
        ('<c r="A1" t="s"><v> 3 </v></c><c t="s"><v><![CDATA[5]]></v></c>', [3, 5]),
        ('<c r="A1" t="s"><v>&#51;</v></c><!-- <c t="s"><v>9</v></c> -->', [3]),
        ('<c r="A1" t="s"><v>12345678901</v></c><c r="B1" t="s"/>', []),
    ],
)
def test_uses_of_strings_are_found_however_they_are_written(cells: str, places: list[int]) -> None:
    """A string in use is never taken for an unused one: what is unusual is parsed."""
    data = f"<worksheet><sheetData><row>{cells}</row></sheetData></worksheet>".encode()

    assert string_uses(data, "S") == places
    assert usual_uses(data) in (None, places)


def _deletions(before: CellTexts, name: str) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield edits of a workbook: some texts overwritten and cleared, some sheets deleted."""
    held = [(t, cell, text) for t, cells in before.items() for cell, text in cells.items()]
    long = sorted({text for *_, text in held if len(text) >= MIN_LENGTH})
    chosen = set(random.Random(name).sample(long, min(8, len(long))))
    places = [(title, cell) for title, cell, text in held if text in chosen]
    if 0 < len(places) < 1000:
        yield (
            "",
            [put(*place, f"n{n}") if n % 2 else clear(*place) for n, place in enumerate(places)],
        )
    for title in sorted(before)[: 2 if len(before) > 1 else 0]:
        yield title, [{"op": "delete_sheet", "sheet": title}]


@pytest.mark.full
@pytest.mark.seeded(2)
@pytest.mark.corpora
@pytest.mark.parametrize("part", [0, 1])
def test_nothing_deleted_is_found_in_the_bytes(corpora: Path, tmp_path: Path, part: int) -> None:
    """Of real workbooks: a deleted text is in no part of the result that no warning names."""
    done, found = 0, []
    for path in real_workbooks(corpora)[part * SAMPLED :: 2 * SAMPLED]:
        book = tmp_path / f"book{path.suffix}"
        book.write_bytes(path.read_bytes())
        try:
            before = book_texts(unpacked(book))
        except (ValueError, LookupError, StopIteration, SyntaxError, zipfile.BadZipFile):
            continue
        for title, operations in _deletions(before, path.name):
            try:
                result = edit(book, *operations)
            except (ValidationFailed, FileReadFailed):
                continue
            parts = unpacked(book.with_name(f"out{path.suffix}"))
            gone = deleted_texts(before, parts, title)
            done += bool(gone)
            told = left_behind(gone, parts, result.warnings)
            found += [(path.name, title, *each) for each in told]

    assert found == []
    assert done > 50

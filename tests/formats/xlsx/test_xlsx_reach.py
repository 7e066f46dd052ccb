"""What a workbook reaches out to after an edit: of what came now, and of what came before."""

from pathlib import Path
from typing import Any, Union

import msgpack
import msgspec
import pytest

from drawn_books import drawn_book
from kbd.formats import Applied, AssetPick, Placement, Source
from kbd_xlsx import XlsxFormat
from kbd_xlsx.operations import OPERATIONS

FORMAT = XlsxFormat()
FETCHES = '=WEBSERVICE("http://x/a")'


class _Edited:
    """A workbook under edits, and what it reaches out to, as the draft keeps it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.path = folder, folder / "0.xlsx"
        self.external: tuple[str, ...] = ()
        self._count = 0

    def source(self) -> Source | None:
        return Source(self.path, "a.xlsx", external=self.external) if self._count else None

    def edit(self, *found: dict[str, Any]) -> Applied:
        vocabulary = Union[OPERATIONS]  # type: ignore[valid-type]  # noqa: UP007
        operations = tuple(msgspec.convert(list(found), list[vocabulary]))
        applied = FORMAT.apply(self.source(), operations, self.next())
        self.keep(applied.external, applied.remaining)
        return applied

    def next(self) -> Path:
        """Where the next version goes; after the call it is the current one."""
        return self.folder / f"{self._count + 1}.xlsx"

    def keep(self, external: tuple[str, ...], remaining: tuple[str, ...] | None) -> None:
        self.path = self.next()
        self._count += 1
        assert remaining is not None
        self.external = (*remaining, *external)


@pytest.fixture
def edited(tmp_path: Path) -> _Edited:
    """A workbook that is made by its first edit."""
    return _Edited(tmp_path)


def put(sheet: str, **values: Any) -> dict[str, Any]:
    """An operation that sets cells."""
    found = [{"cell": cell, "value": value} for cell, value in values.items()]
    return {"op": "set_cells", "sheet": sheet, "cells": found}


def places(texts: tuple[str, ...]) -> list[str]:
    """The cells that are told."""
    return [text.split(":")[0] for text in texts]


def test_what_is_overwritten_or_cleared_is_gone(edited: _Edited) -> None:
    """One by one; an edit of other cells changes nothing of it."""
    edited.edit(put("S", A1=FETCHES, A2=FETCHES, A3="='[b.xlsx]S'!A1", A4="plain"))
    assert places(edited.external) == ["S!A1", "S!A2", "S!A3"]
    edited.edit(put("S", B1="other", A4=2))
    assert places(edited.external) == ["S!A1", "S!A2", "S!A3"]
    edited.edit(put("S", A1="plain", B2=FETCHES))
    assert places(edited.external) == ["S!A2", "S!A3", "S!B2"]
    edited.edit({"op": "clear_range", "sheet": "S", "range": "A1:A9"})
    assert places(edited.external) == ["S!B2"]
    edited.edit(put("S", B2=FETCHES))
    assert places(edited.external) == ["S!B2", "S!B2"]
    edited.edit({"op": "ensure_sheet", "sheet": "T"})
    edited.edit({"op": "delete_sheet", "sheet": "S"})
    assert not edited.external


def test_what_one_call_writes_and_takes_out_is_not_told(edited: _Edited) -> None:
    """The file as it is counts, not the way to it."""
    applied = edited.edit(put("S", A1=FETCHES, A2=FETCHES), put("S", A1=1))

    assert places(applied.external) == ["S!A2"]


def test_the_uncounted_ones_are_gone_when_all_are(edited: _Edited) -> None:
    """Of many only the first are told: while any is left nobody knows that it is none of them."""
    column = [[FETCHES] for _ in range(30)]
    edited.edit({"op": "set_range", "sheet": "S", "start": "A1", "values": column})
    assert len(edited.external) == 21
    assert edited.external[-1] == "and 10 more"
    edited.edit({"op": "clear_range", "sheet": "S", "range": "A1:A20"})
    assert edited.external == ("and 10 more",)
    edited.edit({"op": "clear_range", "sheet": "S", "range": "A21:A30"})
    assert not edited.external


def test_rows_that_are_written_over_it_take_it_out(edited: _Edited) -> None:
    """A table that replaces a sheet, or a range of it; rows at its end do not."""
    edited.edit(put("S", A1="id", A2=1, B1="link", B2=FETCHES, D9=FETCHES))
    rows = edited.folder / "rows"
    table = [[["id", "integer"], ["link", "string"]], [2, "none"]]
    rows.write_bytes(b"".join(msgpack.packb(row) for row in table))

    def write(**placement: Any) -> None:
        where = Placement(sheet="S", **placement)
        written = FORMAT.write_table(edited.source(), rows, where, edited.next())
        edited.keep((), written.remaining)

    write(mode="append_rows")
    assert places(edited.external) == ["S!B2", "S!D9"]
    write(mode="write_range", start_cell="C8", clear_target_range=True)
    assert places(edited.external) == ["S!B2"]
    write(mode="replace_sheet")
    assert not edited.external


def test_a_picture_that_is_loaded_goes_with_its_sheet(edited: _Edited) -> None:
    """It remains through other edits, and is gone with the relation that nobody has."""
    drawn = edited.folder / "drawn.xlsx"
    drawn_book(drawn)
    edited.edit(put("S", A1=1))
    pick = AssetPick("image:Data/Linked", "S!A1")
    applied = FORMAT.copy_assets(Source(drawn, drawn.name), edited.source(), (pick,), edited.next())
    edited.keep(applied.external, applied.remaining)
    assert edited.external == ("S, image Linked: https://example.org/a.png",)
    edited.edit(put("S", A1=2), {"op": "ensure_sheet", "sheet": "T"})
    assert len(edited.external) == 1
    edited.edit({"op": "delete_sheet", "sheet": "S"})
    assert not edited.external

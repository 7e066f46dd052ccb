"""Cells of a sheet whose look may hide what they hold, collected from its rows.

Only the few formats of a workbook that do so are looked for, so that a sheet without such cells
costs one search. The style of a table is not in the cell's own format: white letters in a header
that it makes dark are seen; such areas are left out by who asks (`Features.filled_areas`).
"""

import re
from collections.abc import Mapping
from html import unescape

import msgspec

from kbd.sheets.areas import Area, column_number

__all__ = ["EVERY_LOOK", "OPEN_LOOK", "UnseenCells", "UnseenRun", "last_row_number"]

EVERY_LOOK = -1
"""The place of no look: cells that were not told apart are taken for unseen."""

OPEN_LOOK = -2
"""The place of a look that was not told apart: whether a condition hides a cell stays open."""

MAX_RUNS = 50_000
"""Runs of rows that are told apart; below them, everything counts as unseen, or may be."""

_ALL_COLUMNS = (1 << 16_384) - 1
_LAST_ROW = 1_048_576


class UnseenRun(msgspec.Struct, frozen=True, array_like=True):
    """Rows that follow each other whose cells in the same columns have the same look.

    Args:
        top: The first row.
        bottom: The last one.
        look: The place of their look; `EVERY_LOOK` or `OPEN_LOOK` past `MAX_RUNS`.
        columns: Their columns as bits, bit 0 for A, in little-endian bytes.
    """

    top: int
    bottom: int
    look: int
    columns: bytes

    def in_row(self, left: int, right: int) -> list[int]:
        """Return the numbers of its columns between two."""
        bits = int.from_bytes(self.columns, "little") >> (left - 1)
        bits &= (1 << (right - left + 1)) - 1
        found = []
        while bits:
            low = bits & -bits
            found.append(left + low.bit_length() - 1)
            bits ^= low
        return found


_TAG = re.compile(rb"<(?:[\w.-]+:)?(row|c)(?=[\s>/])([^>]*)>")
_PLACE = re.compile(rb"\br\s*=\s*[\"']\s*([A-Za-z]{0,3})(\d{1,7})\s*[\"']")
_STYLE = re.compile(rb"\bs\s*=\s*[\"']\s*([^\"']*?)\s*[\"']")
_ODD_STYLE = re.compile(rb"\ss\s*=\s*[\"'](?:0\d|\D)")
_ROW = re.compile(rb"<(?:[\w.-]+:)?row(?=[\s>/])([^>]*)>")


def last_row_number(data: bytes, before: int) -> int:
    """Return the number of the last of some whole rows; one without a number comes next.

    Args:
        data: The rows.
        before: The number of the row before them.
    """
    at = data.rfind(b"<row")
    last = _ROW.match(data, at) if at >= 0 else None
    place = _PLACE.search(last[1]) if last else None
    if place:
        return int(place[2])
    row = before
    for attributes in _ROW.findall(data):
        place = _PLACE.search(attributes)
        row = int(place[2]) if place else row + 1
    return row


class UnseenCells:
    """Collector of cells of some looks, from the rows of a sheet as they come.

    Args:
        styles: The places of the looks by the numbers of the cell formats that have them.
        within: Where cells are looked for, as conditions may hide them; everywhere without one.
    """

    def __init__(self, styles: Mapping[int, int], within: Area | None = None) -> None:
        self._styles = styles
        self._within = within
        self._rest = EVERY_LOOK if within is None else OPEN_LOOK
        self._by_text = {str(number).encode(): look for number, look in styles.items()}
        # Cells without a number have the first format: with it in question all are looked at.
        numbers = b"" if 0 in styles else b"|".join(self._by_text)
        self._wanted = re.compile(rb"\ss\s*=\s*[\"'](?:%s)[\"']" % (numbers or b"x"))
        self._runs: list[UnseenRun] = []
        self._row = 0
        self._open: dict[int, int] = {}
        self._last = 0

    def take(self, data: bytes, *, is_plain: bool = False) -> None:
        """Take whole rows; of plain ones it is known that the formats are written plainly."""
        if not self._styles:
            return
        is_searched = 0 not in self._styles and (is_plain or _ODD_STYLE.search(data) is None)
        if is_searched and self._wanted.search(data) is None:
            # Rows without numbers go on counting where the last row with one ended.
            self._last = last_row_number(data, self._last)
            return
        row, column = self._last, 0
        for kind, attributes in _TAG.findall(data):
            place = _PLACE.search(attributes)
            if kind == b"row":
                row, column = (int(place[2]) if place else row + 1), 0
                continue
            column = column_number(place[1].decode().upper()) if place and place[1] else column + 1
            if not attributes.endswith(b"/"):
                self._add(row, column, attributes)
        self._last = row

    def _add(self, row: int, column: int, attributes: bytes) -> None:
        found = _STYLE.search(attributes)
        text = found[1] if found else b"0"
        look = self._by_text.get(text)
        if look is None and not text.isdigit():
            text = unescape(text.decode("utf-8", "replace")).strip().encode()
        if look is None:
            look = self._styles.get(int(text)) if text.isdigit() and len(text) < 9 else None
        if look is None or not self._is_within(row, column):
            return
        if row != self._row:
            self._close()
            self._row = row
        self._open[look] = self._open.get(look, 0) | 1 << (column - 1)

    def _is_within(self, row: int, column: int) -> bool:
        area = self._within
        return area is None or (
            area.top <= row <= area.bottom and area.left <= column <= area.right
        )

    def _close(self) -> None:
        runs = self._runs
        packed = [
            (look, columns.to_bytes((columns.bit_length() + 7) // 8, "little"))
            for look, columns in sorted(self._open.items())
        ]
        if not packed:
            return
        latest = runs[-len(packed) :]
        is_same = [(run.look, run.columns) for run in latest] == packed
        if is_same and all(run.bottom == self._row - 1 for run in latest):
            runs[-len(packed) :] = [
                UnseenRun(run.top, self._row, run.look, run.columns) for run in latest
            ]
        elif len(runs) < MAX_RUNS:
            runs += [UnseenRun(self._row, self._row, look, columns) for look, columns in packed]
        elif runs[-1].look != self._rest:
            everywhere = _ALL_COLUMNS.to_bytes(2048, "little")
            runs.append(UnseenRun(self._row, _LAST_ROW, self._rest, everywhere))
        self._open = {}

    def runs(self) -> list[UnseenRun]:
        """Return what was found, from top to bottom as the file has it."""
        self._close()
        return self._runs

"""Formatting that a cell needs for what it holds; its own stays where it shows that as well."""

from collections.abc import Mapping
from typing import Any

from kbd_xlsx.edits.book import BookEdit
from kbd_xlsx.parts.cells import CellEdit, Content
from kbd_xlsx.parts.styletables import number_of
from kbd_xlsx.rows.row_types import HeldTypes

__all__ = ["RowFormatting"]

_BOLD: Mapping[str, Any] = {"font_bold": True}
_GENERAL = "General"


class RowFormatting:
    """Works out styles, each combination once.

    Args:
        book: The workbook that the styles are of.
    """

    def __init__(self, book: BookEdit) -> None:
        self._book = book
        self._formats: dict[str, Mapping[str, Any]] = {}
        self._indexes: dict[tuple[int, str, str, str], int] = {}
        self._codes: dict[tuple[int, str], str] = {}

    def edit(self, base: int, held: HeldTypes) -> CellEdit:
        """Return the edit of a cell that has, or would inherit, a style."""
        code = self._code(base, held)
        return CellEdit(held.content, (self._format(code),) if code else ())

    def name_edit(self, base: int, content: Content) -> CellEdit:
        """Return the edit of a header's cell: bold unless it has a look of its own."""
        return CellEdit(content, () if base else (_BOLD,))

    def index(self, base: int, held: HeldTypes) -> int:
        """Return the style index of a cell that would inherit one."""
        content = held.content
        key = base, content.kind, content.show, held.code
        known = self._indexes.get(key)
        if known is None:
            known = self._indexes[key] = self._book.restyle(base, self.edit(base, held))
        return known

    def bold(self, base: int) -> int:
        """Return the style index of a header's cell that would inherit one."""
        return self._book.styles.styled(base, _BOLD)

    def _code(self, base: int, held: HeldTypes) -> str:
        """Return the number format that a plain number needs, "" if its cell's will do."""
        if held.content.kind != "number" or held.content.show:
            # Dates get theirs from the workbook, text needs none.
            return ""
        if not base and not held.code:
            return ""
        key = base, held.code
        known = self._codes.get(key)
        if known is None:
            known = self._codes[key] = self._new_code(base, held.code)
        return known

    def _new_code(self, base: int, wanted: str) -> str:
        styles = self._book.styles
        if styles.is_date(base):
            # What was a date must not show a number as one.
            return wanted or _GENERAL
        is_general = not number_of(styles.tables.entry("cellXfs", base), "numFmtId")
        return wanted if is_general else ""

    def _format(self, code: str) -> Mapping[str, Any]:
        return self._formats.setdefault(code, {"number_format": code})

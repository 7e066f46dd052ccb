"""Formatting of cells, widths and conditional formats copied into another workbook.

Conditional formats entered into a sheet of another workbook.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lxml import etree

from kbd.errors import ValidationFailed
from kbd.opc.element_names import namespace_of
from kbd.opc.package import Package
from kbd.sheets.areas import Area
from kbd_xlsx.edits.book import BookEdit
from kbd_xlsx.parts.cells import CellEdit, Restyle
from kbd_xlsx.parts.sheet import SheetPart
from kbd_xlsx.parts.sheet_elements import with_element
from kbd_xlsx.parts.style_elements import translated
from kbd_xlsx.parts.stylesheet import MAIN, STRICT_MAIN, XlsxStyleSheet, number_of
from kbd_xlsx.styles.sheet_formatting import read_sheet_formatting
from kbd_xlsx.styles.theme import XlsxTheme, fix_colors, read_workbook_theme, workbook_parts
from kbd_xlsx.workbook import Workbook, find_sheet

__all__ = ["FormattingCopier", "RuleCopy"]

_PRIORITY = re.compile(rb"<(?:[\w.-]+:)?cfRule\s[^>]*?\bpriority=[\"'](\d{1,9})[\"']")


class RuleCopy:
    """Copier of conditional formats with the formatting that they give.

    Args:
        styles: Of the workbook that gets them.
        other: Of the one that has them.

    Attributes:
        count: How many rules were copied.
        reaching: Their formulas that refer to other sheets.
    """

    def __init__(self, styles: XlsxStyleSheet, other: XlsxStyleSheet) -> None:
        self.count = 0
        self.reaching: dict[str, None] = {}
        self._styles, self._other = styles, other

    def added(self, blocks: Sequence[etree._Element], data: bytes, title: str) -> bytes:
        """Return a sheet's part with copies of rules, which come after those that it has.

        Args:
            blocks: `conditionalFormatting` elements of the other workbook.
            data: The part.
            title: The sheet's title, for messages.

        Raises:
            ValidationFailed: The part cannot be changed safely.
        """
        after = max(map(int, _PRIORITY.findall(data)), default=0)

        def made(prefix: str) -> str:
            return "".join(self._copied(block, prefix, after) for block in blocks)

        return with_element(data, title, "conditionalFormatting", made)

    def _copied(self, block: etree._Element, prefix: str, after: int) -> str:
        space = STRICT_MAIN if self._styles.tables.is_strict else MAIN
        # The stubs do not know that the plain namespace's prefix is None.
        nsmap: Any = {prefix.rstrip(":") or None: space}
        made = translated(block, etree.Element(f"{{{space}}}worksheet", nsmap=nsmap))
        for rule in made.iterchildren("{*}cfRule"):
            self.count += 1
            # The lowest number goes first (ECMA-376 part 1, 18.3.1.10): the sheet's own rules stay
            # ahead.
            rule.set("priority", str(after + number_of(rule, "priority")))
            if rule.get("dxfId") is not None:
                rule.set("dxfId", str(self._style_of_rule(number_of(rule, "dxfId"))))
            for formula in rule.iterchildren("{*}formula"):
                if "!" in (formula.text or ""):
                    self.reaching.setdefault(formula.text or "")
        return etree.tostring(made, encoding="unicode", with_tail=False)

    def _style_of_rule(self, index: int) -> int:
        """Enter a differential format and return its position."""
        tables = self._styles.tables
        entries = self._other.tables.pool("dxfs").entries
        # A rule whose format is missing changes nothing; here its number could mean another one.
        if index >= len(entries):
            return tables.add("dxfs", etree.SubElement(etree.Element("none"), _named(tables.root)))
        made = translated(entries[index], tables.root)
        for entry in made.iterchildren("{*}numFmt"):
            # A number is each workbook's own; only the code means the same in both.
            entry.set("numFmtId", str(tables.number_format(entry.get("formatCode", "General"))))
        return tables.add("dxfs", made)


def _named(root: etree._Element) -> str:
    return f"{{{namespace_of(root.tag)}}}dxf"


MAX_CELLS = 100_000
"""Cells that one pick gives a look to."""

MAX_COLUMNS = 2_000
"""Columns that get a width one by one."""

Restyling = Callable[[int], int]
"""Gives the position of a cell format from the one that a cell has."""


class FormattingCopier:
    """Copier of cell styles, named styles, widths and conditional formats.

    Args:
        source: The workbook that has them.
        workbook: The same, as it is read.
        book: The workbook that gets them.
    """

    def __init__(self, source: Package, workbook: Workbook, book: BookEdit) -> None:
        self._source, self._workbook, self._book = source, workbook, book
        self._styles: XlsxStyleSheet | None = None
        self._sheets: dict[str, SheetPart] = {}
        # What is to change, in order, by the title of the sheet.
        self._placed: dict[str, list[tuple[Area, Restyling]]] = {}

    def cell_style(self, sheet: str, cell: Area) -> Restyling:
        """Adopt the look of a cell.

        Raises:
            ValidationFailed: There is no such sheet, or there are too many formats.
        """
        index = self._sheet(sheet).style_at(cell.top, cell.left)
        adopted = self._book.styles.adopt(self._source_styles(), index)
        return lambda _: adopted

    def named_style(self, name: str) -> Restyling:
        """Adopt a named style.

        Raises:
            ValidationFailed: There is no such style, or the target has one that looks different.
        """
        adopted = self._book.styles.adopt_name(self._source_styles(), name)
        return lambda _: adopted

    def number_format(self, code: str) -> Restyling:
        """Return what gives cells a number format."""
        return lambda base: self._book.styles.formatted(base, code)

    def place(self, title: str, area: Area, restyling: Restyling) -> None:
        """Give the cells of a range a look; it happens with `finish`.

        Raises:
            ValidationFailed: There are too many cells.
        """
        count = (area.bottom - area.top + 1) * (area.right - area.left + 1)
        if count > MAX_CELLS:
            raise ValidationFailed(
                f"{title}!{area} has {count:,} cells; a look is copied to {MAX_CELLS:,} at most"
            )
        self._placed.setdefault(title, []).append((area, restyling))

    def finish(self) -> None:
        """Write the placed styles into their sheets.

        Raises:
            ValidationFailed: A sheet cannot be changed safely, or there are too many formats.
        """
        # What is pending on a sheet is written first: later it would undo what is put here.
        self._book.flush()
        for title, placed in self._placed.items():
            part = self._book.part(title)
            sheet = SheetPart(self._book.rewriting.read(part), title)
            changes: dict[str, Restyling] = {}
            for count, (area, restyling) in enumerate(placed):
                changes[str(count)] = restyling
                # The sheet hands this back for each cell; here it only names the change.
                edit = CellEdit(styles=({"change": str(count)},))
                for row in range(area.top, area.bottom + 1):
                    for column in range(area.left, area.right + 1):
                        sheet.set(row, column, edit)
            self._book.rewriting.put(part, sheet.xml(_restyle(changes)))

    def column_widths(self, sheet: str, title: str) -> str:
        """Copy the widths of a sheet's columns and return which ones.

        Raises:
            ValidationFailed: There is no such sheet, it has no widths, or there are too many.
        """
        part = find_sheet(self._workbook, sheet).part
        spans = read_sheet_formatting(self._source, part).columns
        widths = [(span.first, span.last, span.width) for span in spans if span.width is not None]
        if not widths:
            raise ValidationFailed(f"sheet {sheet} has no widths of its own")
        if sum(last - first + 1 for first, last, _ in widths) > MAX_COLUMNS:
            # One width for all that remain is how programs write an unusual standard width.
            widths = [(first, min(last, MAX_COLUMNS), width) for first, last, width in widths]
            self._book.notices.warn(
                f"{title}: the widths of columns past the {MAX_COLUMNS:,}th were not copied."
            )
        target = self._book.sheet(title)
        for first, last, width in widths:
            for column in range(first, last + 1):
                target.set_width(column, width)
        return f"{title}: widths of {sum(max(0, b - a + 1) for a, b, _ in widths)} columns"

    def conditional_formats(self, sheet: str, title: str) -> str:
        """Copy the conditional formats of a sheet and return how many.

        Raises:
            ValidationFailed: There is no such sheet, it has none, or some that cannot be copied.
        """
        formatting = read_sheet_formatting(self._source, find_sheet(self._workbook, sheet).part)
        if not formatting.rules:
            raise ValidationFailed(f"sheet {sheet} has no conditional formats")
        if formatting.extended_rules:
            raise ValidationFailed(
                f"the conditional formats of {sheet} cannot be copied without a loss: some are "
                "of the extended kind (data bars, icons or rules over other sheets)"
            )
        if any(block.get("pivot") in ("1", "true") for block in formatting.rules):
            raise ValidationFailed(
                f"the conditional formats of {sheet} belong to a pivot table, which stays behind"
            )
        self._book.flush()
        part = self._book.part(title)
        rules = RuleCopy(self._book.styles, self._source_styles())
        self._book.rewriting.put(
            part, rules.added(formatting.rules, self._book.rewriting.read(part), title)
        )
        for formula in rules.reaching:
            self._book.notices.warn(
                f"{title}: a conditional format refers to other sheets or names: {formula[:100]}"
            )
        return f"{title}: {rules.count} conditional formats"

    def _sheet(self, name: str) -> SheetPart:
        """Return a sheet of the source."""
        found = find_sheet(self._workbook, name)
        if found.kind != "worksheet" or not found.part:
            raise ValidationFailed(f"sheet {found.name} of the source has no cells")
        known = self._sheets.get(found.part)
        if known is None:
            known = SheetPart(self._source.read(found.part), found.name)
            self._sheets[found.part] = known
        return known

    def _source_styles(self) -> XlsxStyleSheet:
        """Return the styles of the source, with colors that mean the same in the target."""
        if self._styles is None:
            parts = workbook_parts(self._source)
            root = self._source.root(parts["styles"]) if "styles" in parts else None
            self._styles = XlsxStyleSheet(root)
            old = read_workbook_theme(self._source, parts.get("theme", ""), root)
            fix_colors(self._styles.tables.root, old, self._palette())
        return self._styles

    def _palette(self) -> XlsxTheme:
        """Return the palette of the target."""
        rewriting, main = self._book.rewriting, self._book.main
        parts = {each.kind: each.target for each in rewriting.relations(main)}
        root = self._book.styles.tables.root
        return read_workbook_theme(rewriting, parts.get("theme", ""), root)


def _restyle(changes: Mapping[str, Restyling]) -> Restyle:
    def restyle(base: int, edit: CellEdit) -> int:
        for look in edit.styles:
            base = changes[look["change"]](base)
        return base

    return restyle

"""A workbook while it is edited: its sheets, its styles, its warnings, its saving.

Stored results that an edit made old are taken away, so that no reader shows them. Programs that
calculate do so when they open the file; those that do not show nothing there, which is the truth.
What an edit does not reach keeps its result.

Warnings name what an edit touches without being asked to and cannot bring up to date: pivot tables,
protection, links to the outside.
"""

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Self

import msgspec

from kbd.errors import ValidationFailed
from kbd.office.operations import EditWarnings, listed
from kbd.opc import identify
from kbd.opc.package import Package
from kbd.opc.rewriter import Rewriting
from kbd.sheets.areas import MAX_COLUMN, MAX_ROW, Area
from kbd_xlsx.calculation import DefinedName, TableArea
from kbd_xlsx.calculation.book import FormulaBook
from kbd_xlsx.calculation.stale import stale_results
from kbd_xlsx.edits.formula_names import FormulaNames
from kbd_xlsx.edits.leftovers import Leftovers
from kbd_xlsx.edits.pivot_sources import old_pivots
from kbd_xlsx.edits.results import PendingResults
from kbd_xlsx.parts.book import BookPart, SheetTab, TablePart
from kbd_xlsx.parts.cells import CellEdit
from kbd_xlsx.parts.markup import check_well_formed, plain, utf8
from kbd_xlsx.parts.sheet import SheetPart
from kbd_xlsx.parts.stylesheet import XlsxStyleSheet
from kbd_xlsx.workbook import FAMILY, SUFFIXES, is_early

__all__ = [
    "BookEdit",
    "WorkbookWarnings",
    "checked_sheet_name",
    "forget_results",
    "has_formulas",
    "is_protected",
    "lacks_results",
    "without_results",
]

_MAX_LISTED = 20
_WHOLE = Area(1, 1, MAX_ROW, MAX_COLUMN)
_PROTECTION = re.compile(rb"<(?:[\w.-]+:)?sheetProtection\s[^>]*\bsheet=[\"'](?:1|true)")


class WorkbookWarnings(EditWarnings):
    """Warnings of an edit of a workbook.

    Attributes:
        told: Those that people must know of, for figures came about so.
    """

    def __init__(self) -> None:
        super().__init__()
        self.told: list[str] = []
        self._gathered: dict[str, list[str]] = {}

    def tell(self, text: str) -> None:
        """Warn people, too, of how figures came about."""
        self.warn(text)
        self.told.append(text)

    def gather(self, what: str, place: str) -> None:
        """Note that the same is to be said of one more cell: "Written as text"."""
        self._gathered.setdefault(what, []).append(place)

    @property
    def texts(self) -> tuple[str, ...]:
        """The warnings so far; last come those of several cells, one of each kind."""
        notes = (
            f"{what}: {listed(places, _MAX_LISTED)}." for what, places in self._gathered.items()
        )
        return (*super().texts, *notes)


def is_protected(part: bytes) -> bool:
    """Tell whether a sheet's part asks programs to keep people from changing it."""
    return b"sheetProtection" in part and _PROTECTION.search(part) is not None


# Two patterns that begin with a literal cost a tenth of one that has both.
_FORMULA = re.compile(rb"<f[\s>/]")
_PREFIXED_FORMULA = re.compile(rb":f[\s>/]")


def has_formulas(part: bytes) -> bool:
    """Tell whether a sheet's part has formulas."""
    return _FORMULA.search(part) is not None or _PREFIXED_FORMULA.search(part) is not None


def without_results(part: bytes, title: str, areas: Sequence[Area]) -> bytes:
    """Return a sheet's part without the stored results of the formulas in some areas."""
    sheet = SheetPart(part, title)
    for area in areas:
        sheet.forget(area)
    return sheet.xml(_unchanged)


def _unchanged(base: int, _: object) -> int:
    return base


MAX_SHEET_NAME = 31
_FORBIDDEN_IN_NAMES = frozenset("[]:*?/\\")
_SPACE = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_STRICT_SPACE = "http://purl.oclc.org/ooxml/spreadsheetml/main"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_OTHER_SHEETS = {
    "chartsheet": "a chart",
    "dialogsheet": "a dialog",
    "xlMacrosheet": "of Excel 4 macros",
    "xlIntlMacrosheet": "of Excel 4 macros",
}
_FORMATS = {"date": "yyyy-mm-dd", "datetime": "yyyy-mm-dd hh:mm:ss", "time": "hh:mm:ss"}
"""Number formats of dates in cells that have none of their own."""


class _Worksheet(msgspec.Struct):
    """A sheet of the workbook; its part is read when it is needed."""

    tab: SheetTab
    part: str
    kind: str
    cells: SheetPart | None = None
    tables: list[TablePart] | None = None


class BookEdit:
    """Workbook that is edited: its changes are pending until it is saved.

    Made by `blank` or `opened`.

    Args:
        rewriting: The package.
        main: The name of the workbook part.

    Attributes:
        notices: What the reader of the result must know.
        is_new: Whether the workbook was made here.
        made: The titles of the sheets that were made here.
        formula_names: The names in formulas that were written.
        results: What changed, so that results are old.
    """

    def __init__(self, rewriting: Rewriting, main: str, *, is_new: bool) -> None:
        self.rewriting, self.main, self.is_new = rewriting, main, is_new
        self.book = BookPart(rewriting.root(main))
        self.notices = WorkbookWarnings()
        self.made: set[str] = set()
        self.formula_names = FormulaNames()
        self.last: list[Callable[[], None]] = []
        self._styles: XlsxStyleSheet | None = None
        self.results = PendingResults()
        relations = {relation.id: relation for relation in rewriting.relations(main)}
        self._sheets: list[_Worksheet] = []
        for tab in self.book.tabs:
            relation = relations.get(tab.relation_id)
            part = relation.target if relation and relation.target in rewriting else ""
            self._sheets.append(_Worksheet(tab, part, relation.kind if relation else ""))
        self._leftovers = Leftovers(rewriting, main, self._tab_parts())

    @classmethod
    def blank(cls, name: str) -> Self:
        """Return a workbook without sheets."""
        rewriting = Rewriting(None, name)
        rewriting.set_default_type(
            "rels", "application/vnd.openxmlformats-package.relationships+xml"
        )
        rewriting.set_default_type("xml", "application/xml")
        # Sheets with frozen panes name view 0 of the workbook, so there has to be one.
        book = f'{_HEAD}<workbook xmlns="{_SPACE}"><bookViews><workbookView/></bookViews><sheets/>'
        rewriting.relate("", "officeDocument", "xl/workbook.xml")
        rewriting.add("xl/workbook.xml", f"{book}</workbook>".encode(), f"{_TYPE}.sheet.main+xml")
        return cls(rewriting, "xl/workbook.xml", is_new=True)

    @classmethod
    def opened(cls, package: Package) -> Self:
        """Return a workbook that there is; the package must stay open.

        Raises:
            FileReadFailed: The package is no workbook.
            ValidationFailed: It is of a form from before the standard.
        """
        main = identify(package, FAMILY).part
        if is_early(package.root(main)):
            raise ValidationFailed(
                f"{package.name} is of a trial version of Excel before the standard, whose files "
                "can be read, but not changed; make a new workbook with what it holds"
            )
        book = cls(Rewriting(package), main, is_new=False)
        book.notices.warn_of_signature(book.rewriting.relations(""), "workbook")
        return book

    def fit(self, name: str) -> None:
        """Have the workbook be what its file's name promises.

        Raises:
            ValidationFailed: It has macros and the suffix promises none, or the reverse.
        """
        SUFFIXES.fit(self.rewriting, self.main, name)

    @property
    def titles(self) -> list[str]:
        """The titles of all sheets in order."""
        return [sheet.tab.title for sheet in self._sheets]

    @property
    def styles(self) -> XlsxStyleSheet:
        """The workbook's styles; made where there are none."""
        if self._styles is None:
            part = self._related("styles")
            root = self.rewriting.root(part) if part else None
            strict = self.rewriting.relation_types.startswith("http://purl.oclc.org")
            self._styles = XlsxStyleSheet(root, strict=strict)
        return self._styles

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings of the edit so far."""
        skipped = self._styles.warnings if self._styles is not None else {}
        return (*skipped, *self.notices.texts)

    def find(self, name: str) -> str | None:
        """Return the title of the sheet that a name means, without regard to case."""
        folded = name.casefold()
        return next((title for title in self.titles if title.casefold() == folded), None)

    def title(self, name: str) -> str:
        """Return the title of the sheet that a name means; raises ValidationFailed."""
        found = self.find(name)
        if found is not None:
            return found
        near = get_close_matches(name, self.titles, 3, 0.5)
        some = ", ".join(self.titles[:5]) + (", …" if len(self.titles) > 5 else "")
        hint = f" (near it: {', '.join(near)})" if near else f" (there are: {some})" if some else ""
        raise ValidationFailed(f"there is no sheet {name!r}{hint}; make it with ensure_sheet")

    def part(self, name: str) -> str:
        """Return the name of a sheet's part, "" if it is missing; raises ValidationFailed."""
        return self._sheet(name).part

    def sheet(self, name: str) -> SheetPart:
        """Return the cells of a sheet.

        Raises:
            ValidationFailed: There is no such sheet, it has no cells (a chart's), or its part
                cannot be changed without a loss.
        """
        found = self._sheet(name)
        if found.cells is None:
            if found.kind != "worksheet" or not found.part:
                raise ValidationFailed(
                    f"sheet {found.tab.title} has no cells to change: it is "
                    f"{_OTHER_SHEETS.get(found.kind, 'no worksheet')}"
                )
            data = self.rewriting.read(found.part)
            self._leftovers.keep(found.part, data)
            if is_protected(data):
                self.notices.warn(
                    f"Sheet {found.tab.title} is protected: a person would have to lift that "
                    "before making this change."
                )
            if not self.rewriting.is_changed(found.part):
                check_well_formed(data, found.tab.title)
            found.cells = SheetPart(data, found.tab.title)
        return found.cells

    def tables(self, name: str) -> list[TablePart]:
        """Return the tables of a sheet; raises ValidationFailed if there is no such sheet."""
        found = self._sheet(name)
        if found.tables is None:
            found.tables = [
                TablePart(relation.target, self.rewriting.root(relation.target))
                for relation in (self.rewriting.relations(found.part) if found.part else ())
                if relation.kind == "table" and relation.target in self.rewriting
            ]
        return found.tables

    def worksheets(self) -> list[tuple[str, str]]:
        """List the titles and parts of the sheets that have cells."""
        return [
            (sheet.tab.title, sheet.part)
            for sheet in self._sheets
            if sheet.kind == "worksheet" and sheet.part
        ]

    def ensure(self, name: str) -> bool:
        """Make a sheet if there is none of the name, and say whether it was made.

        Raises:
            ValidationFailed: No sheet can have that name.
        """
        if self.find(name) is not None:
            return False
        checked_sheet_name(name)
        if self.book.locks_structure:
            self.notices.warn("The workbook's structure is protected; a sheet was added anyway.")
        folder = posixpath.join(posixpath.dirname(self.main), "worksheets/sheet{}.xml")
        part = self.rewriting.free_name(folder)
        strict = self.rewriting.relation_types.startswith("http://purl.oclc.org")
        space = _STRICT_SPACE if strict else _SPACE
        rows = '<sheetFormatPr defaultRowHeight="15"/><sheetData/>'
        empty = f'{_HEAD}<worksheet xmlns="{space}">{rows}</worksheet>'
        self.rewriting.add(part, empty.encode(), f"{_TYPE}.worksheet+xml")
        self.book.add(name, self.rewriting.relate(self.main, "worksheet", part))
        self._sheets.append(_Worksheet(self.book.tabs[-1], part, "worksheet"))
        self.made.add(name)
        return True

    def follow_tabs(self) -> None:
        """Take over the list of sheets from the workbook part: renamed, moved, deleted ones.

        What is pending must be flushed before.
        """
        known: dict[tuple[int, str], list[_Worksheet]] = {}
        for sheet in self._sheets:
            known.setdefault((sheet.tab.sheet_id, sheet.tab.relation_id), []).append(sheet)
        former, self._sheets = self._sheets, []
        titles: dict[str, str] = {}
        for tab in self.book.tabs:
            sheet = known[tab.sheet_id, tab.relation_id].pop(0)
            titles[sheet.tab.title] = tab.title
            sheet.tab, sheet.cells = tab, None
            self._sheets.append(sheet)
        for gone in {sheet.tab.title for sheet in former} - titles.keys():
            self.results.forget_sheet(gone)
        self.results.rename(titles)
        for old, new in titles.items():
            self.formula_names.rename_sheet(old, new)
        self.made = {titles.get(old, old) for old in self.made}

    def restyle(self, base: int, edit: CellEdit) -> int:
        """Return the index of the style that a cell gets."""
        index, content = base, edit.content
        if content is not None and content.show:
            # A formula's look is guessed by its function, so a format that somebody chose stays.
            is_chosen = content.kind == "formula" and not self.styles.is_general(index)
            if not is_chosen and not self.styles.is_date(index):
                index = self.styles.formatted(index, _FORMATS[content.show])
        elif self._shows_as_date(index, edit):
            # The format stays, for nobody named it; but the number will not look like one.
            self.notices.warn(
                "A number was written into a cell that shows dates, and is shown as one; give it "
                "a number_format to have it shown as a number."
            )
        for look in edit.styles:
            index = self.styles.styled(index, look)
        return index

    def _shows_as_date(self, index: int, edit: CellEdit) -> bool:
        if edit.content is None or edit.content.kind != "number" or not index:
            return False
        return not any("number_format" in look for look in edit.styles) and self.styles.is_date(
            index
        )

    def save(self, target: Path, *, only_results: bool = False) -> None:
        """Write the workbook.

        Args:
            target: Where to.
            only_results: Whether no text but a result of a formula was taken from its sheets.

        Raises:
            ValidationFailed: It has no sheet, a formula names what there is not, or an edit cannot
                be done without a loss.
        """
        if not self._sheets:
            raise ValidationFailed("a workbook needs a sheet; begin with ensure_sheet")
        self.formula_names.check(
            self.titles,
            (name.name for name in self.book.names),
            lambda: [table.name for title in self.titles for table in self.tables(title)],
            has_macros=any(r.kind == "vbaProject" for r in self.rewriting.relations(self.main)),
        )
        self.flush()
        forget_results(self)
        takes_texts = not (only_results and self.results.are_kept)
        # What shows results of formulas, such as charts, is written when these are right.
        for write in self.last:
            write()
        # After the sheets: writing their cells is what adds formats.
        if (self._styles is not None and self._styles.is_changed) or self.is_new:
            self._write_styles()
        if self.book.is_changed:
            self.rewriting.put(self.main, self.book.xml())
        if takes_texts:
            self._leftovers.erase(self._tab_parts(), self.notices, only_results=only_results)
        self.rewriting.save(target)

    def flush(self) -> None:
        """Write the changed sheets and tables into their parts, so that what follows sees them.

        Both are read anew afterwards: what follows may put something into a part.
        """
        for sheet in self._sheets:
            # Both are read anew if they are needed: their places are those of the part before.
            cells, sheet.cells = sheet.cells, None
            tables, sheet.tables = sheet.tables, None
            for table in tables or ():
                if table.is_changed:
                    self.rewriting.put(table.part, table.xml())
            if cells is None or not cells.is_changed:
                continue
            self.results.add(sheet.tab.title, cells.changed_areas())
            if cells.removes_or_adds_formulas():
                self.results.formulas_differ = True
            self.rewriting.put(sheet.part, cells.xml(self.restyle))

    def formulas(self, parts: Mapping[str, bytes]) -> FormulaBook:
        """Return the formulas of sheets' parts, with the workbook's names and tables."""
        titles = self.titles
        names = [
            DefinedName(name.name, None if name.tab is None else titles[name.tab], name.text)
            for name in self.book.names
            if name.tab is None or name.tab < len(titles)
        ]
        tables = [
            TableArea(
                table.name, title, table.area, tuple(table.columns), table.header_rows,
                table.totals_rows,
            )
            for title in parts
            for table in self.tables(title)
        ]  # fmt: skip
        return FormulaBook(list(parts.items()), names, tables)

    def formula_texts(self) -> Iterator[str]:
        """Yield the texts with formulas, without pending ones: of sheets, of tables, of names."""
        for title, part in self.worksheets():
            # Rules and validations have formulas, too, which may name cells in a text.
            yield plain(utf8(self.rewriting.read(part), title))
        for sheet in self._sheets:
            for table in self.tables(sheet.tab.title):
                yield from table.formulas
        yield from (name.text for name in self.book.names)

    def drop_calculation_chain(self) -> None:
        """Drop the calculation chain, if there is one; programs make it anew.

        It lists the cells with formulas: one that names a cell without a formula is damage.
        """
        for relation in self.rewriting.relations(self.main):
            if relation.kind == "calcChain" and relation.target in self.rewriting:
                self.rewriting.drop(relation.target)
                self.rewriting.unrelate(self.main, relation.id)

    def _write_styles(self) -> None:
        part = self._related("styles")
        if part:
            self.rewriting.put(part, self.styles.xml())
            return
        part = posixpath.join(posixpath.dirname(self.main), "styles.xml")
        self.rewriting.add(part, self.styles.xml(), f"{_TYPE}.styles+xml")
        self.rewriting.relate(self.main, "styles", part)

    def _related(self, kind: str) -> str:
        relations = self.rewriting.relations(self.main)
        found = next((r.target for r in relations if r.kind == kind), "")
        return found if found in self.rewriting else ""

    def _tab_parts(self) -> list[tuple[SheetTab, str]]:
        """List the sheets with their parts, as the workbook part has them by now."""
        return list(zip(self.book.tabs, (sheet.part for sheet in self._sheets), strict=True))

    def _sheet(self, name: str) -> _Worksheet:
        return self._sheets[self.titles.index(self.title(name))]


def forget_results(book: BookEdit) -> None:
    """Take away the results that the written changes of a workbook made old."""
    # An edit may be saved twice, as for a summary; the second time only new changes count.
    changed, stale = book.results.take()
    if not changed:
        return
    parts = {title: book.rewriting.read(part) for title, part in book.worksheets()}
    # A pivot table keeps a copy of its data, which programs alone bring up to date.
    formulas = partial(book.formulas, parts)
    for source in old_pivots(book.rewriting, book.main, formulas, changed):
        book.notices.warn(
            f"A pivot table still shows {source} as it was, from a copy that the file keeps; "
            "refresh it."
        )
    if book.results.formulas_differ:
        book.drop_calculation_chain()
    # Without formulas nothing has to be calculated, and the workbook part stays unchanged.
    if not any(map(has_formulas, parts.values())):
        return
    book.book.ask_for_calculation()
    old: dict[str, list[Area]] = {}
    for title, areas in stale_results(formulas(), changed).items():
        if unknown := [area for area in areas if not book.results.are_known(title, area)]:
            old[title] = unknown
    for title, areas in stale.items():
        old.setdefault(title, []).extend(areas)
    book.results.renew(old)
    # Taken out as well: programs that do not calculate on opening would show old results.
    for title, areas in old.items():
        book.results.open.setdefault(title, []).extend(areas)
        book.rewriting.put(book.part(title), without_results(parts[title], title, areas))


# How formulas end, and what follows where there is no result. As above, literals come first.
_NO_RESULT = rb"\s*(?:</(?:[\w.-]+:)?c\s*>|<(?:[\w.-]+:)?v(?:\s[^<>]*)?(?:/>|></))"
_LACKING = tuple(
    re.compile(ends + _NO_RESULT) for ends in (rb"</f\s*>", rb"<f\s[^<>]*/>", rb":f(?:\s[^<>]*)?>")
)


def lacks_results(book: BookEdit) -> bool:
    """Tell whether formulas of a workbook's written sheets have no stored result."""
    parts = (book.rewriting.read(part) for _, part in book.worksheets())
    return any(has_formulas(part) and any(end.search(part) for end in _LACKING) for part in parts)


def checked_sheet_name(name: str) -> str:
    """Return a name that a sheet may have; raises ValidationFailed."""
    wrong = set(name) & _FORBIDDEN_IN_NAMES or any(not sign.isprintable() for sign in name)
    # Excel reserves the name History for its log of tracked changes.
    edge = name.startswith("'") or name.endswith("'") or name.casefold() == "history"
    if wrong or edge or not name.strip() or len(name) > MAX_SHEET_NAME:
        raise ValidationFailed(
            f"{name[:40]!r} cannot name a sheet: up to 31 characters, none of [ ] : * ? / \\, "
            "no apostrophe at an end"
        )
    return name

"""Assets copied into another workbook: styles, widths, pictures, charts, conditional formats.

Asset references of workbooks: kinds, and the places that assets go to.
"""

from contextlib import ExitStack
from pathlib import Path
from typing import Literal, assert_never, get_args

import msgspec

from kbd.errors import ValidationFailed
from kbd.formats import Applied, AssetPick, Source
from kbd.office.assets import AssetRef, parse_asset_ref
from kbd.opc.package import Package
from kbd.sheets.areas import Area, parse_area
from kbd_xlsx.assets.copy_formatting import FormattingCopier, Restyling
from kbd_xlsx.assets.copy_objects import ObjectCopier, WorkbookPartCopier
from kbd_xlsx.edits.book import BookEdit
from kbd_xlsx.edits.chart_points import keep_charts
from kbd_xlsx.edits.reach import reach_after
from kbd_xlsx.styles.theme import workbook_parts
from kbd_xlsx.workbook import SUFFIXES, find_sheet, read_workbook

__all__ = [
    "AssetKind",
    "WorkbookPlace",
    "XlsxAssetRef",
    "copy_assets",
    "parse_place",
    "parse_ref",
]

AssetKind = Literal[
    "cell_style",
    "named_style",
    "number_format",
    "column_widths",
    "conditional_formats",
    "image",
    "chart",
]
_NOWHERE = Area(1, 1, 0, 0)


class WorkbookPlace(msgspec.Struct, frozen=True):
    """A place in a workbook: a sheet, or a range on one; `sheet` "" is the sheet it came from."""

    sheet: str = ""
    area: Area | None = None


XlsxAssetRef = AssetRef[AssetKind, WorkbookPlace]
"""Something to be copied."""


def parse_ref(pick: AssetPick) -> XlsxAssetRef:
    """Parse what is to be copied; raises ValidationFailed."""
    return parse_asset_ref(pick, get_args(AssetKind), lambda _, text: parse_place(text))


def parse_place(text: str) -> WorkbookPlace:
    """Parse a sheet, a range, or both: "Sheet1", "B2:C4", "'My sheet'!B2".

    Raises:
        ValidationFailed: It is none of them.
    """
    sheet, mark, cells = text.strip().rpartition("!")
    if mark:
        return WorkbookPlace(_unquoted(sheet), _area(cells))
    try:
        return WorkbookPlace("", _area(cells))
    except ValidationFailed:
        # What is no range names a sheet.
        return WorkbookPlace(_unquoted(cells))


def _area(text: str) -> Area:
    # Whole rows and columns come out upside down within it, and are refused below.
    area = parse_area(text, _NOWHERE)
    if area.bottom < area.top or area.right < area.left:
        raise ValidationFailed(f"{text[:40]!r} is no range of cells; write it as B2 or B2:C9")
    return area


def _unquoted(text: str) -> str:
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    return text


def copy_assets(
    source: Source, into: Source | None, picks: tuple[AssetPick, ...], target: Path
) -> Applied:
    """Write the workbook that results from copying assets, all or nothing.

    Args:
        source: The workbook that has them.
        into: The workbook that gets them, None for a new one.
        picks: What to copy, in order.
        target: A path that does not exist yet.

    Raises:
        ValidationFailed: There is no such asset or place, or it cannot be copied without a loss.
        FileReadFailed: A file cannot be read.
    """
    wanted = [parse_ref(pick) for pick in picks]
    with ExitStack() as stack:
        package = stack.enter_context(Package(source))
        if into is None:
            SUFFIXES.type_of_new(target.name)
            book = BookEdit.blank(target.name)
            _copy_theme(package, book)
        else:
            book = BookEdit.opened(stack.enter_context(Package(into)))
            book.fit(target.name)
        copying = _Copying(package, book)
        changed = tuple(copying.copied(pick) for pick in wanted)
        copying.finish()
        keep_charts(book)
        book.save(target)
        reach = reach_after(book, into)
    return Applied(len(changed), changed, book.warnings, *reach)


def _copy_theme(package: Package, book: BookEdit) -> None:
    """Give a new workbook the theme of the source, which its styles take colors from."""
    theme = workbook_parts(package).get("theme")
    # A new workbook is never of the strict variant, whose theme has other namespaces.
    if theme and not package.is_strict:
        part = WorkbookPartCopier(package, book.rewriting, book.notices).copy(theme)
        book.rewriting.relate(book.main, "theme", part)


class _Copying:
    """Copies the picks of one call."""

    def __init__(self, package: Package, book: BookEdit) -> None:
        self._book = book
        self._workbook = read_workbook(package)
        self._formatting = FormattingCopier(package, self._workbook, book)
        self._objects = ObjectCopier(package, self._workbook, book)

    def copied(self, pick: XlsxAssetRef) -> str:
        """Copy one pick and return what changed."""
        match pick.kind:
            case "cell_style":
                return self._cell_style(pick)
            case "named_style":
                return self._placed(pick, self._formatting.named_style(pick.name))
            case "number_format":
                if pick.target is None or pick.target.area is None:
                    raise ValidationFailed(
                        f"{pick.asset_id} needs a target: the cells that get the number format"
                    )
                return self._placed(pick, self._formatting.number_format(pick.name))
            case "column_widths":
                sheet = self._source_sheet(pick.name)
                return self._formatting.column_widths(sheet, self._title(pick.target, sheet))
            case "conditional_formats":
                sheet = self._source_sheet(pick.name)
                return self._formatting.conditional_formats(sheet, self._title(pick.target, sheet))
            case "image" | "chart":
                found, _, _ = self._objects.find(pick.kind, pick.name)
                title = self._title(pick.target, found.name)
                area = pick.target.area if pick.target else None
                where = self._objects.copy(pick.kind, pick.name, title, area)
                return f"{where}: {pick.kind} {pick.name}"
            case other:
                assert_never(other)

    def finish(self) -> None:
        """Write what was gathered."""
        self._formatting.finish()

    def _cell_style(self, pick: XlsxAssetRef) -> str:
        place = parse_place(pick.name)
        if place.area is None:
            raise ValidationFailed(f"{pick.asset_id} names no cell; write cell_style:Sheet1!A1")
        sheet = self._source_sheet(place.sheet)
        target = WorkbookPlace(sheet, place.area)
        if pick.target is not None:
            target = WorkbookPlace(pick.target.sheet or sheet, pick.target.area or place.area)
        restyling = self._formatting.cell_style(sheet, place.area)
        title = self._title(target, sheet)
        return self._put(pick, title, target.area or place.area, restyling)

    def _placed(self, pick: XlsxAssetRef, restyling: Restyling) -> str:
        """Give the target's cells a look, if there is a target."""
        if pick.target is None or pick.target.area is None:
            # A new workbook needs a sheet even if no cell gets the look.
            self._title(pick.target, self._workbook.sheets[0].name)
            return pick.asset_id
        title = self._title(pick.target, self._workbook.sheets[0].name)
        return self._put(pick, title, pick.target.area, restyling)

    def _put(self, pick: XlsxAssetRef, title: str, area: Area, restyling: Restyling) -> str:
        self._formatting.place(title, area, restyling)
        return f"{title}!{area}: {pick.asset_id}"

    def _source_sheet(self, name: str) -> str:
        """Return the title of a sheet of the source; without a name the only one."""
        if not name and len(self._workbook.sheets) == 1:
            return self._workbook.sheets[0].name
        return find_sheet(self._workbook, name).name

    def _title(self, place: WorkbookPlace | None, sheet: str) -> str:
        """Return the title of the sheet that a pick goes to, which a new workbook gets."""
        name = place.sheet if place and place.sheet else sheet
        if self._book.is_new:
            self._book.ensure(name)
        return self._book.title(name)

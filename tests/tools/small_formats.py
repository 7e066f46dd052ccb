"""Small but real formats for tests of tools: lines of text, and workbooks kept as JSON."""

import csv
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import msgpack
import msgspec

from kbd.errors import ValidationFailed
from kbd.formats import (
    Applied,
    AssetPick,
    ChunkInfo,
    Column,
    Composed,
    Editable,
    FormatHandler,
    Mappable,
    Passage,
    Placement,
    Preview,
    Previewable,
    Readable,
    ReadAs,
    Reading,
    Region,
    Source,
    Styled,
    Table,
    Tabular,
    Written,
)

__all__ = ["AlbumFormat", "BookFormat", "LinesFormat", "StyledBook", "book", "styled"]


class LinesFormat(FormatHandler, Mappable, Readable):
    """Text by lines."""

    name = "lines"
    wire_name = "Lines"
    kind = "text"
    suffixes: ClassVar[Mapping[str, str]] = {".txt": "text/plain", ".md": "text/markdown"}
    guidance = "Read long files in pieces."
    coordinates: ClassVar[tuple[str, ...]] = ("line_start", "line_count")

    def info(self, source: Source) -> dict[str, Any]:
        """Return how many lines there are."""
        return {"line_count": len(source.path.read_text().splitlines())}

    def map(self, source: Source) -> dict[str, Any]:
        """Return how many lines there are."""
        return self.info(source)

    def read(self, source: Source, region: Region) -> Reading:
        """Return lines, or everything."""
        text = source.path.read_text()
        if region.line_start is None:
            return Reading(text)
        lines = text.splitlines(keepends=True)
        end = region.line_start - 1 + (region.line_count or 200)
        shown = lines[region.line_start - 1 : end]
        place = f"{region.line_start}-{region.line_start + len(shown) - 1}"
        return Reading("".join(shown), ChunkInfo(0, 1, end < len(lines), place))

    def passages(self, source: Source) -> Iterator[Passage]:
        """Yield the whole text."""
        yield Passage(source.path.read_text(), "whole", Region())


class AlbumFormat(LinesFormat, Composed, Previewable):
    """Lines, each of which is a picture, too."""

    name = "album"
    wire_name = "Album"
    kind = "album"
    suffixes: ClassVar[Mapping[str, str]] = {".album": "text/plain"}
    wire_reads: ClassVar[Mapping[str, tuple[str, ...]]] = {"GetLines": ("line_start",)}
    preview_unit = "Slide"

    def objects(self, source: Source, region: Region) -> Reading:
        """Return lines with a picture each."""
        reading = self.read(source, region)
        pictures = tuple({"alt_text": line} for line in reading.text.splitlines())
        return msgspec.structs.replace(reading, objects={"pictures": pictures})

    def preview(self, source: Source, index: int, edge_px: int) -> Preview:
        """Return the start of a PNG, as high as its line is long."""
        lines = source.path.read_text().splitlines()
        if index >= len(lines):
            raise ValidationFailed(f"there are {len(lines)} pictures")
        height = min(len(lines[index]), edge_px)
        return Preview(b"\x89PNG", "image/png", 1, height, len(lines))


class SetRows(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="op", tag="rows"):
    """Replace the rows of a sheet.

    This paragraph is for readers of the code, not for a model.
    """

    sheet: str
    rows: list[list[Any]]
    columns: list[str] = []


class Clear(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="op", tag="clear"):
    """Empty a sheet."""

    sheet: str


class BookFormat(FormatHandler, Mappable, Readable, Editable, Tabular):
    """A workbook as JSON: `{sheet: {columns: [[name, type], ...], rows: [[...], ...]}}`."""

    name = "book"
    wire_name = "Book"
    kind = "spreadsheet"
    suffixes: ClassVar[Mapping[str, str]] = {".book": "application/json"}
    guidance = "Name the sheet."
    coordinates: ClassVar[tuple[str, ...]] = ("sheet", "range")
    operations: ClassVar[tuple[type[msgspec.Struct], ...]] = (SetRows, Clear)

    def map(self, source: Source) -> dict[str, Any]:
        """Return the sheets and how far they are filled."""
        sheets = _load(source)
        return {"sheets": [{"name": n, "used_range": _range(s)} for n, s in sheets.items()]}

    def read(self, source: Source, region: Region) -> Reading:
        """Return everything."""
        return Reading(json.dumps(_load(source)))

    def passages(self, source: Source) -> Iterator[Passage]:
        """Yield everything."""
        yield Passage(json.dumps(_load(source)), "whole", Region())

    def apply(
        self, source: Source | None, operations: tuple[msgspec.Struct, ...], target: Path
    ) -> Applied:
        """Do what the operations say."""
        sheets = _load(source)
        changed = []
        for operation in operations:
            assert isinstance(operation, SetRows | Clear)
            if isinstance(operation, SetRows):
                columns = [[name, "string"] for name in operation.columns]
                sheets[operation.sheet] = {"columns": columns, "rows": operation.rows}
            elif operation.sheet in sheets:
                sheets[operation.sheet] = {"columns": [], "rows": []}
            else:
                raise ValidationFailed(f"there is no sheet {operation.sheet}")
            changed.append(operation.sheet)
        target.write_text(json.dumps(sheets))
        return Applied(len(operations), tuple(changed), ("looked at",))

    def read_table(self, source: Source, sheet: str | None, read_as: ReadAs, target: Path) -> Table:
        """Write a sheet in the plain form, its types known."""
        sheets = _load(source)
        if sheet is None and len(sheets) > 1:
            raise ValidationFailed(f"name one of the sheets {', '.join(sheets)}")
        name = sheet if sheet is not None else next(iter(sheets))
        if name not in sheets:
            raise ValidationFailed(f"there is no sheet {name}")
        found = sheets[name]
        with target.open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow([column for column, _ in found["columns"]])
            writer.writerows([_plain(value) for value in row] for row in found["rows"])
        typed = [{"name": column, "type": kind} for column, kind in found["columns"]]
        columns = msgspec.convert(typed, tuple[Column, ...])
        return Table(columns, len(found["rows"]), details={"sheet": name})

    def write_table(
        self, source: Source | None, rows: Path, placement: Placement, target: Path
    ) -> Written:
        """Replace or extend a sheet."""
        with rows.open("rb") as file:
            columns, *values = msgpack.Unpacker(file, raw=False)
        sheets = _load(source)
        before = sheets.get(placement.sheet, {"columns": [], "rows": []})
        kept = before["rows"] if placement.mode == "append_rows" else []
        warnings = ("the header was not repeated",) if kept else ()
        if placement.include_header and not kept:
            before = {**before, "columns": columns}
        sheets[placement.sheet] = {**before, "rows": [*kept, *values]}
        target.write_text(json.dumps(sheets))
        return Written(
            f"{placement.start_cell}:+{len(values)}", len(values), len(columns), warnings
        )


class StyledBook(BookFormat, Styled):
    """A workbook whose sheets have a style; one that names an address reaches out to it."""

    def get_styles(self, source: Source, sheet: str | None) -> dict[str, Any]:
        """Return the style of each sheet, or of one."""
        sheets = _load(source)
        if sheet is not None and sheet not in sheets:
            raise ValidationFailed(f"there is no sheet {sheet}")
        styles = {
            name: found["style"]
            for name, found in sheets.items()
            if "style" in found and sheet in (None, name)
        }
        assets = [{"asset_id": f"style:{name}", "kind": "style"} for name in styles]
        return {"styles": styles, "assets": assets}

    def copy_assets(
        self, source: Source, into: Source | None, picks: tuple[AssetPick, ...], target: Path
    ) -> Applied:
        """Give a sheet of the target, or the one of the same name, a sheet's style."""
        styles = self.get_styles(source, None)["styles"]
        sheets = _load(into)
        changed, external = [], []
        for pick in picks:
            kind, _, name = pick.asset_id.partition(":")
            if kind != "style" or name not in styles:
                raise ValidationFailed(f"there is no asset {pick.asset_id}")
            where = pick.target or name
            before = sheets.get(where, {"columns": [], "rows": []})
            sheets[where] = {**before, "style": styles[name]}
            changed.append(f"{pick.asset_id} -> {where}")
            if "//" in styles[name]:
                external.append(f"{where}: {styles[name]}")
        target.write_text(json.dumps(sheets))
        return Applied(len(picks), tuple(changed), external=tuple(external))


def styled(**styles: str) -> str:
    """Return the content of a workbook of empty sheets from `sheet="style"`."""
    return json.dumps({n: {"columns": [], "rows": [], "style": s} for n, s in styles.items()})


def book(**sheets: tuple[list[list[str]], list[list[Any]]]) -> str:
    """Return the content of a workbook from `sheet=([[name, type], ...], [[...], ...])`."""
    return json.dumps({n: {"columns": c, "rows": r} for n, (c, r) in sheets.items()})


def _load(source: Source | None) -> dict[str, Any]:
    return {} if source is None else dict(json.loads(source.path.read_text()))


def _plain(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value


def _range(sheet: Mapping[str, Any]) -> str:
    return f"A1:{len(sheet['rows'])}" if sheet["rows"] else ""

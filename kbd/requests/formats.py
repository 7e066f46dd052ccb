"""Requests about one file's contents: what the wire methods of formats are made of.

No method is called by these names. Each format's methods are records derived from these, under the
format's own names (`XlsxGetMap`), and join the others when the daemon starts.
"""

from typing import Annotated, Any, ClassVar, Literal

import msgspec

from kbd.requests.base import UNSET, Answer, Request, Unset, WorkbenchParam

__all__ = [
    "ApplyOps",
    "AssetParam",
    "ChunkPlace",
    "CopyAssets",
    "ExtractText",
    "FileWritten",
    "GetGrid",
    "GetInfo",
    "GetMap",
    "GetPreview",
    "GetStyles",
    "GetTables",
    "GetWords",
    "LayoutRead",
    "MergedCells",
    "PlacedTable",
    "PlacedWord",
    "PreviewGrid",
    "PreviewPicture",
    "ReadFileRequest",
    "ReadLayout",
    "ReadObjects",
    "ReadRegion",
    "RegionRead",
    "TablesFound",
    "TextExtracted",
    "TextPlace",
    "WordsFound",
]

_Path = Annotated[str, msgspec.Meta(min_length=1, max_length=4096)]
_Cursor = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]

MAX_OPERATIONS = 500
"""As many as a model may give in one call."""

MAX_CHARACTERS = 1024 * 1024
"""Of an answer's text; each takes six bytes of JSON at the most, and a message 10 MiB."""


class _FormatRequest(Request):
    """The root of the requests about a file's contents."""

    subject: ClassVar[str] = "file"

    workbench_id: WorkbenchParam


class ReadFileRequest(_FormatRequest):
    """Ask about a file.

    Args:
        path: Its name in the workbench.
        root: Which version; the draft's if one is open, else the published one.
    """

    path: _Path
    root: Literal["draft", "published"] | Unset = UNSET


class GetInfo(ReadFileRequest):
    """Ask for the few facts that cost little."""

    answer: ClassVar[type[Any]] = dict[str, Any]


class GetMap(ReadFileRequest):
    """Ask for the structure, without the contents."""

    answer: ClassVar[type[Any]] = dict[str, Any]


class GetStyles(ReadFileRequest):
    """Ask how a file looks, and what of it can be copied into another.

    Args:
        sheet: Of which sheet; of the whole file if absent.
    """

    answer: ClassVar[type[Any]] = dict[str, Any]

    sheet: str | Unset = UNSET


class ChunkPlace(msgspec.Struct, frozen=True, kw_only=True):
    """Where a reading stands in the whole: `range` is in the format's own coordinates."""

    chunk_index: int
    total_chunks: int
    has_more: bool
    range: str


class RegionRead(Answer):
    """The contents of a region.

    Args:
        text: As a reader would want it.
        warnings: What the reader must know.
        chunk_info: Where it stands.
        rows: Its cells as typed values, where the format has cells: null, number, boolean, text, or
            an object that says more of a date or a formula.
    """

    text: str
    warnings: tuple[str, ...]
    chunk_info: ChunkPlace | Unset = UNSET
    rows: tuple[tuple[Any, ...], ...] | Unset = UNSET


class ReadRegion(ReadFileRequest):
    """Read a region; of a large file without coordinates, its first chunk."""

    answer: ClassVar[type[Any]] = RegionRead


class ReadObjects(ReadFileRequest):
    """Read a region; of a large file without coordinates, its first chunk.

    The answer has `text`, `warnings`, `chunk_info` as of other readings, and lists of what stands
    in the region by kind (`tables`, `images`, `shapes`).
    """

    answer: ClassVar[type[Any]] = dict[str, Any]


class PlacedTable(msgspec.Struct, frozen=True, kw_only=True):
    """A table of a page.

    Args:
        page: The page, from 1.
        box: Left, top, right and bottom in points, from the top left corner of the page.
        rows: The texts of its cells; of a merged cell only the first has one.
        is_ruled: Whether lines part its rows and columns; else gaps do.
        merged: Its merged cells.
        goes_on: Whether it goes on with the last table of the page before.
    """

    page: int
    box: tuple[float, float, float, float]
    rows: tuple[tuple[str, ...], ...]
    is_ruled: bool
    merged: tuple["MergedCells", ...] = ()
    goes_on: bool = False


class PlacedWord(msgspec.Struct, frozen=True, kw_only=True):
    """A word, its page from 1, and its box as that of a table."""

    text: str
    page: int
    box: tuple[float, float, float, float]


class TablesFound(Answer):
    """The tables of a region.

    Args:
        tables: From top to bottom, page by page.
        warnings: What the reader must know.
        chunk_info: Where the region stands, if it is not the whole.
    """

    tables: tuple[PlacedTable, ...]
    warnings: tuple[str, ...]
    chunk_info: ChunkPlace | Unset = UNSET


class GetTables(ReadFileRequest):
    """Find the tables that are seen on pages; of a large file without coordinates, of its first."""

    answer: ClassVar[type[Any]] = TablesFound


class WordsFound(Answer):
    """The words of a region in the order of the file; the rest as of tables."""

    words: tuple[PlacedWord, ...]
    warnings: tuple[str, ...]
    chunk_info: ChunkPlace | Unset = UNSET


class GetWords(ReadFileRequest):
    """Ask for words with the boxes they stand in; of a large file, of its first pages."""

    answer: ClassVar[type[Any]] = WordsFound


class LayoutRead(Answer):
    """The text of a region as it stands on its pages; the rest as of tables."""

    text: str
    warnings: tuple[str, ...]
    chunk_info: ChunkPlace | Unset = UNSET


class ReadLayout(ReadFileRequest):
    """Read a region as it stands on its pages, columns kept apart by blanks."""

    answer: ClassVar[type[Any]] = LayoutRead


class PreviewPicture(Answer):
    """A page, slide or picture as people see it.

    Args:
        base64: The picture's bytes.
        mime_type: Its type.
        width: In pixels.
        height: In pixels.
        count: How many pages, slides or frames the file has.
        warnings: What differs from what people would see.
    """

    base64: str
    mime_type: str
    width: int
    height: int
    count: int
    warnings: tuple[str, ...]


class GetPreview(ReadFileRequest):
    """Ask for a picture of a page, slide or image.

    Args:
        edge_px: How many pixels its longer edge has at the most.
    """

    answer: ClassVar[type[Any]] = PreviewPicture

    edge_px: Annotated[int, msgspec.Meta(ge=16, le=4096)] = 1200


class MergedCells(msgspec.Struct, frozen=True, kw_only=True):
    """A merged range: its first cell, which has the value, and its size; counted from 1."""

    row: int
    column: int
    row_count: int
    column_count: int


class PreviewGrid(Answer):
    """Cells of a sheet as people see them.

    Args:
        sheet: The sheet.
        sheets: All sheets, in order.
        row_start: The first row, from 1.
        column_start: The first column, from 1.
        columns: What the columns are called.
        rows: Of each row its values as text; null for a blank cell, and for all of a merged range
            but its first one. Fewer than were asked for where the cells end, or where the answer
            is full.
        merged: The merged ranges that reach into these cells.
        total_rows: Rows up to the last one that holds anything.
        total_columns: Columns, likewise.
        warnings: What the reader must know: texts that were cut, results that are not stored.
    """

    sheet: str
    sheets: tuple[str, ...]
    row_start: int
    column_start: int
    columns: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]
    merged: tuple[MergedCells, ...]
    total_rows: int
    total_columns: int
    warnings: tuple[str, ...]


class GetGrid(ReadFileRequest):
    """Ask for a window of cells as people see them.

    Args:
        sheet: Which sheet; the first one if absent.
        row_start: Its first row.
        row_count: The most rows.
        column_start: Its first column.
        column_count: The most columns.
    """

    answer: ClassVar[type[Any]] = PreviewGrid

    sheet: str | Unset = UNSET
    row_start: Annotated[int, msgspec.Meta(ge=1, le=2**31 - 1)] = 1
    row_count: Annotated[int, msgspec.Meta(ge=1, le=500)] = 50
    column_start: Annotated[int, msgspec.Meta(ge=1, le=2**31 - 1)] = 1
    column_count: Annotated[int, msgspec.Meta(ge=1, le=200)] = 26


class TextPlace(msgspec.Struct, frozen=True, kw_only=True):
    """A place in the file, as people would name it, and the character where its text starts."""

    place: str
    start: int


class TextExtracted(Answer):
    """A part of all text.

    Args:
        text: The text.
        places: Where its pieces stand in the file.
        has_more: Whether there is more; then the next request gives the two cursors.
        passage_start: The passage to go on with.
        character_start: The character of that passage to go on with.
    """

    text: str
    places: tuple[TextPlace, ...]
    has_more: bool
    passage_start: int | Unset = UNSET
    character_start: int | Unset = UNSET


class ExtractText(ReadFileRequest):
    """Read all text, a part at a time; or that of a region, by its format's coordinates.

    Args:
        passage_start: The passage to begin with, as the answer before gave it.
        character_start: The character of that passage to begin with, likewise.
        limit: The most characters of the answer.
    """

    answer: ClassVar[type[Any]] = TextExtracted

    passage_start: _Cursor = 0
    character_start: _Cursor = 0
    limit: Annotated[int, msgspec.Meta(ge=1, le=MAX_CHARACTERS)] = 256 * 1024


class FileWritten(Answer, kw_only=True):
    """What was written into the draft.

    Args:
        ok: Always true; what fails is answered with an error.
        applied: How many operations: all of them, for a call is all or nothing.
        changed: What each changed.
        warnings: What was skipped, and what the file reaches out to now.
        results: What formulas came to that were written or made old, the first of them.
    """

    ok: Literal[True] = True
    applied: int
    changed: tuple[str, ...]
    warnings: tuple[str, ...]
    results: tuple[str, ...] | Unset = UNSET


class ApplyOps(_FormatRequest):
    """Change or make a file by operations, in order, all or nothing, into the draft.

    Args:
        path: Its name in the workbench.
        ops: The operations.
        create_new: Make a new file; the path must not exist yet.
        create_if_missing: Make the file if it is missing, else edit it.
        copy_from: Make the new file as a copy of this one first.
        root: Only the draft can be written.
    """

    answer: ClassVar[type[Any]] = FileWritten

    path: _Path
    ops: Annotated[tuple[dict[str, Any], ...], msgspec.Meta(max_length=MAX_OPERATIONS)]
    create_new: bool = False
    create_if_missing: bool = False
    copy_from: _Path | None = None
    root: Literal["draft"] = "draft"


class AssetParam(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An asset to copy, as the styles list it, and where it goes if that is not plain."""

    asset_id: Annotated[str, msgspec.Meta(min_length=1)]
    target: str | None = None


class CopyAssets(_FormatRequest):
    """Copy looks and media from one file into another, all or nothing, into the draft.

    Args:
        source_path: The file that has them.
        target_path: The file that gets them; made new if it does not exist.
        assets: Which: "kind:name" as the styles list them, or that with a target.
        root: Only the draft can be written; both files are seen as the draft has them.
    """

    answer: ClassVar[type[Any]] = FileWritten

    source_path: _Path
    target_path: _Path
    assets: Annotated[tuple[str | AssetParam, ...], msgspec.Meta(min_length=1, max_length=200)]
    root: Literal["draft"] = "draft"

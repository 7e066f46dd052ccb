"""Gathering of what a review's page shows: comparisons, cells around changes, and pictures.

All of it is bounded: so many changes of a file, so many windows of cells, so many pictures. What a
plugin cannot give is left out, for a page that lacks a picture is better than none.
"""

from collections.abc import Iterable, Iterator, Sequence

import anyio
import msgspec
from anyio import CancelScope, create_task_group

from kbd.core.audit.review_page.file_view import MAX_DRAWN, drawn_changes
from kbd.core.audit.review_page.grid_view import MAX_BLOCKS
from kbd.core.audit.review_page.neighborhood import (
    ColumnNames,
    find_blocks,
    find_windows,
    sheet_of,
    unit_axis,
    unit_number,
)
from kbd.core.audit.review_page.records import DraftReview, FileReview, PicturePair, SheetGrids
from kbd.core.plugins.catalog import Catalog
from kbd.core.plugins.format_calls import FormatCalls
from kbd.core.workbench.change_set import change_set, deletion_confirmations
from kbd.core.workbench.content_diff import DraftVersions, answer_diff, find_versions
from kbd.core.workbench.preview_answers import render_grid, render_picture
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.errors import KbdError, NotFound, ValidationFailed
from kbd.formats import Gridded, GridWindow, Previewable, Printable
from kbd.requests.base import Unset
from kbd.requests.drafts import ChangeRow
from kbd.requests.formats import PreviewGrid, PreviewPicture
from kbd.requests.reviews import ContentChange, ReviewGetDiff
from kbd.tools import FileRef

__all__ = ["MAX_PICTURES", "gather_file", "gather_review"]

MAX_PICTURES = 40
"""Pictures of one page, of all files together."""

MAX_PICTURE_BYTES = 24 * 1024 * 1024
"""Bytes of all of them together, as they stand in the page."""

PICTURES_S = 60.0
"""Seconds for all pictures of a page: where an office program prints them, each file takes some."""

EDGE_PX = 1000
"""The longer edge of a picture."""

GALLERY_PAGES = 8
"""Pages that are shown of a file whose changes name no pages."""

MAX_WINDOWS = 40
"""Windows of cells of one sheet."""

MAX_WINDOW_BYTES = 256 * 1024 * 1024
"""Bytes of a file that its windows may read over and over: of a large one there are few."""

HEAD_COLUMNS = 200
"""Columns of a table whose names are known."""


class _Room:
    """Room that is left for pictures."""

    def __init__(self) -> None:
        self.pictures, self.characters = MAX_PICTURES, MAX_PICTURE_BYTES
        self.deadline = anyio.current_time() + PICTURES_S

    def take(self, picture: PreviewPicture | None) -> bool:
        """Take room for a picture; False if there is none."""
        if picture is None:
            return True
        if not self.pictures or len(picture.base64) > self.characters:
            return False
        self.pictures -= 1
        self.characters -= len(picture.base64)
        return True


async def gather_review(
    workbench: OpenWorkbench, formats: FormatCalls, catalog: Catalog
) -> DraftReview:
    """Gather all that a draft's page shows.

    Raises:
        ValidationFailed: No draft is open.
    """
    if workbench.state.draft is None:
        msg = "draft not found: there is nothing to review"
        raise ValidationFailed(msg)
    changes = change_set(workbench, catalog)
    deletions = deletion_confirmations(workbench.state)
    room = _Room()
    files = [await _gather(workbench, formats, row, room) for row in changes.changes]
    return DraftReview(
        workbench_id=workbench.id,
        name=workbench.state.name,
        change_set=changes,
        deletions=deletions,
        files=tuple(files),
    )


async def gather_file(
    workbench: OpenWorkbench, formats: FormatCalls, catalog: Catalog, path: str
) -> FileReview:
    """Gather what is shown of one changed file.

    Raises:
        ValidationFailed: No draft is open.
        NotFound: The draft does not change such a file.
    """
    if workbench.state.draft is None:
        msg = "draft not found: there is nothing to review"
        raise ValidationFailed(msg)
    for row in change_set(workbench, catalog).changes:
        if path in (row.path, row.previous_path):
            return await _gather(workbench, formats, row, _Room())
    msg = f"the draft does not change a file {path!r}"
    raise NotFound(msg)


async def _gather(
    workbench: OpenWorkbench, formats: FormatCalls, row: ChangeRow, room: _Room
) -> FileReview:
    """Gather one file; what fails is told on the page."""
    request = ReviewGetDiff(workbench_id=workbench.id, path=row.path, limit=MAX_DRAWN)
    try:
        diff = await answer_diff(workbench, formats, request)
        versions = await find_versions(workbench, row.path)
    except KbdError as error:
        return FileReview(row=row, problem=f"The contents could not be compared: {error.message}")
    review = FileReview(row=row, diff=diff)
    if not diff.total:
        return review
    looks = _Looks(formats, versions, drawn_changes(review))
    grids = await looks.grids()
    pictures, left_out = await looks.pictures(room)
    return msgspec.structs.replace(
        review,
        grids=grids,
        pictures=pictures,
        pictures_left_out=left_out,
        notes=tuple(looks.notes),
    )


class _Looks:
    """Cells and pictures of one file in both versions.

    Args:
        formats: What shows them.
        versions: The file.
        changes: Its changes that are drawn.

    Attributes:
        notes: Why something could not be shown.
    """

    def __init__(
        self, formats: FormatCalls, versions: DraftVersions, changes: Sequence[ContentChange]
    ) -> None:
        self.notes: dict[str, None] = {}
        self._formats, self._versions, self._changes = formats, versions, changes
        self._handler = formats.for_name(versions.name)

    async def grids(self) -> tuple[SheetGrids, ...]:
        """Return the cells around the changes of each sheet."""
        if not isinstance(self._handler, Gridded):
            return ()
        by_sheet: dict[str, list[tuple[int, ContentChange]]] = {}
        for index, change in enumerate(self._changes):
            sheet = sheet_of(change.place)
            if sheet is not None:
                by_sheet.setdefault(sheet, []).append((index, change))
        return tuple([await self._sheet(sheet, own) for sheet, own in by_sheet.items()])

    async def _sheet(self, sheet: str, own: Sequence[tuple[int, ContentChange]]) -> SheetGrids:
        versions, earlier = self._versions, _earlier_name(sheet, self._changes)
        before = await self._windows(versions.before, [_head(earlier)])
        after = await self._windows(versions.after, [_head(sheet)])
        names = ColumnNames(_names(before, sheet), _names(after, sheet))
        blocks = find_blocks(own, names)[:MAX_BLOCKS]
        rows = [pair for block in blocks for pair in block.rows]
        columns = [pair for block in blocks for pair in block.columns]

        async def add_before() -> None:
            nonlocal before
            own_rows, own_columns = (
                (each.before for each in rows),
                (each.before for each in columns),
            )
            wanted = _wanted(earlier, own_rows, own_columns)
            before += await self._windows(versions.before, wanted)

        async def add_after() -> None:
            nonlocal after
            own_rows, own_columns = (each.after for each in rows), (each.after for each in columns)
            after += await self._windows(versions.after, _wanted(sheet, own_rows, own_columns))

        async with create_task_group() as tasks:
            if before:
                tasks.start_soon(add_before)
            if after:
                tasks.start_soon(add_after)
        return SheetGrids(sheet=sheet, before=before, after=after)

    async def _windows(
        self, file: FileRef | None, wanted: Sequence[GridWindow]
    ) -> tuple[PreviewGrid, ...]:
        """Return windows of a version, none where it has no such sheet or cannot be read."""
        if file is None:
            return ()
        most = min(MAX_WINDOWS, max(2, MAX_WINDOW_BYTES // max(1, file.size_bytes)))
        found: list[PreviewGrid] = []
        for window in wanted[:most]:
            try:
                found.append(render_grid(await self._formats.grid(file, window)))
            except ValidationFailed:
                break  # The sheet is new, or gone.
            except KbdError as error:
                self.notes[f"Cells around changes are left out: {error.message}"] = None
                break
        return tuple(found)

    async def pictures(self, room: _Room) -> tuple[tuple[PicturePair, ...], int]:
        """Return pictures of what changed, as there is room, and how many more there are.

        Of a file whose changes name no pages the first pages are shown, those that differ first.
        """
        handler = self._handler
        # The cells of a sheet say more than a picture of its pages, if they are shown.
        if not isinstance(handler, Previewable | Printable) or isinstance(handler, Gridded):
            return (), 0
        unit = handler.preview_unit.lower() or "picture"
        numbers = list(_numbers(unit, self._changes))
        named = bool(numbers)
        if not numbers:
            pages = GALLERY_PAGES if handler.preview_unit else 1
            numbers = [(number, number) for number in range(1, pages + 1)]
        pairs: list[PicturePair] = []
        for place, (before, after) in enumerate(numbers):
            pair = None
            with CancelScope(deadline=room.deadline) as scope:
                pair = await self._pair(unit, before, after)
            if scope.cancelled_caught:
                self.notes[f"Pictures are left out: they took longer than {PICTURES_S:.0f} s"] = (
                    None
                )
                return _in_order(pairs, named=named), len(numbers) - place if named else 0
            if pair is None:
                # No renderer, or no such page: the others would fail likewise.
                if not named or not pairs:
                    break
                continue
            if not (room.take(pair.before) and room.take(pair.after)):
                return _in_order(pairs, named=named), len(numbers) - place if named else 0
            pairs.append(pair)
        return _in_order(pairs, named=named), 0

    async def _pair(self, unit: str, before: int | None, after: int | None) -> PicturePair | None:
        """Return both pictures of a slide or page; None if there is neither."""
        found: dict[str, PreviewPicture | None] = {}

        async def take(side: str, file: FileRef | None, number: int | None) -> None:
            found[side] = await self._picture(file, number)

        # At once: where an office program prints them, each version takes seconds.
        async with create_task_group() as tasks:
            tasks.start_soon(take, "before", self._versions.before, before)
            tasks.start_soon(take, "after", self._versions.after, after)
        older, newer = found["before"], found["after"]
        if older is None and newer is None:
            return None
        return PicturePair(
            unit=unit,
            number=after or before or 1,
            before=older,
            after=newer,
            is_same=older is not None and newer is not None and older.base64 == newer.base64,
        )

    async def _picture(self, file: FileRef | None, number: int | None) -> PreviewPicture | None:
        if file is None or number is None:
            return None
        try:
            return render_picture(await self._formats.preview(file, number - 1, EDGE_PX))
        except ValidationFailed:
            return None  # There is no such page.
        except KbdError as error:
            self.notes[f"Pictures are left out: {error.message}"] = None
            return None


def _head(sheet: str) -> GridWindow:
    """Return the window of the first row, which also tells what there is."""
    return GridWindow(sheet or None, 1, 1, 1, HEAD_COLUMNS)


def _names(grids: tuple[PreviewGrid, ...], sheet: str) -> tuple[str, ...]:
    """Return the names of a table's columns; those of a sheet are letters, and in its places."""
    return grids[0].columns if grids and not sheet else ()


def _wanted(
    sheet: str, rows: Iterable[int | None], columns: Iterable[int | None]
) -> list[GridWindow]:
    """Return the windows that show these rows and columns of a version that has them."""
    own_rows = (number for number in rows if number is not None)
    own_columns = (number for number in columns if number is not None)
    return [GridWindow(sheet or None, *window) for window in find_windows(own_rows, own_columns)]


def _earlier_name(sheet: str, changes: Iterable[ContentChange]) -> str:
    """Return what a sheet was called in the version before."""
    for change in changes:
        place = change.place
        if change.what == "sheet" and change.kind != "added" and place.sheet == sheet:
            if not isinstance(change.moved_from, Unset) and change.moved_from.sheet:
                return str(change.moved_from.sheet)
            if isinstance(change.before, str) and change.kind == "changed":
                return change.before
    return sheet


def _in_order(pairs: list[PicturePair], *, named: bool) -> tuple[PicturePair, ...]:
    return tuple(pairs if named else sorted(pairs, key=lambda pair: pair.is_same))


def _numbers(
    unit: str, changes: Sequence[ContentChange]
) -> Iterator[tuple[int | None, int | None]]:
    """Yield the slides or pages with changes, from 1: in the version before, and after."""
    axis = unit_axis(changes, unit)
    seen: set[tuple[int | None, int | None]] = set()
    for change in changes:
        number = unit_number(change.place, unit)
        if not number:
            continue
        before: int | None = number
        after: int | None = number
        if change.kind == "removed":
            is_gone = number in axis.removed
            after = None if is_gone else axis.after_of(axis.common_before(number))
        elif number in axis.added:
            before = None
            if change.kind == "moved" and not isinstance(change.moved_from, Unset):
                before = unit_number(change.moved_from, unit) or None
        else:
            before = axis.before_of(axis.common_after(number))
        if (before, after) not in seen:
            seen.add((before, after))
            yield before, after
